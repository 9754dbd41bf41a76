# SPDX-License-Identifier: Apache-2.0
"""One store is damaged beside a running server: it is left alone, and everything else goes on."""

import json
import os
import pathlib
import re
import signal
import struct
import threading

import pytest

from harness import KILLED, run_ctl, wait_for
from hosts import ask_other, other_host

PAGE = 4096
# Of a meta page: the size of the map, the root of the table of tables, the last page in use.
META_MAP, META_ROOT, META_LAST = 32, 128, 136
MAP_BYTES = 1 << 30  # of these tests' stores: pages past the end of the file are within it
SIZE = "PaymentsStoreSize 1G\nPaymentsStoreReserve 0\n"
DEATH = re.compile(r"AH0005[12]: child pid \d+ exit signal")
LEFT_ALONE = "PAY00650"
USED_AGAIN = "PAY00652"
PLAIN = "\n<VirtualHost 127.0.0.1:@PORT@>\nServerName plain.example\n</VirtualHost>\n"
# Most of them have the store open, and are asked nothing for a while.
MANY = "StartServers 8\nMinSpareServers 8\nMaxSpareServers 20\nMaxRequestWorkers 64"
ENOUGH = 100  # answers of each of the others, before it counts that none was missing


def overwrite(data):
    """In place: tables begin at a page past the end of the file, as root/bad pages of an attacker do."""
    with open(data, "r+b", buffering=0) as file:
        for meta in 0, PAGE:
            last = MAP_BYTES // PAGE - 1
            for at, value in (META_ROOT, last - 10), (META_LAST, last):
                os.pwrite(file.fileno(), struct.pack("<Q", value), meta + at)


def truncate(data):
    os.truncate(data, 2 * PAGE)


def empty(data):
    os.truncate(data, 0)


def is_running(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


class Shops:
    """A server with the store that is to be damaged, another one, and a site without payments."""

    def __init__(self, server, mpm="event", **options):
        self.httpd = server(start=False, mpm=mpm, **options, host_extra=SIZE + "PaymentsHealth /health\nPaymentsMetrics /metrics\n"
                            "<Location /metrics>\nRequire ip 127.0.0.1\n</Location>")
        self.httpd.expect_log("PAY00650|PAY00652|PAY00303|PAY00100.*is empty|" + KILLED)
        self.other = self.httpd.root / "other"
        self.httpd.extra = other_host("other", self.other, SIZE) + PLAIN
        self.shop = None

    def start(self):
        self.httpd.start()
        run_ctl(self.other, "account", "create", "other")
        self.key = run_ctl(self.other, "key", "create", "other", "--mode", "test", "--kind", "secret").stdout.strip()
        self.shop = self.httpd.shop()
        self.charged = [self.charge_one() for _ in range(20)]
        self.data = self.httpd.store / "data.mdb"
        self.good = self.data.read_bytes()
        return self

    def charge_one(self):
        """The reference of a charge that was acknowledged."""
        answer = self.shop.charge()
        assert answer.status == 200, answer
        return answer.json["data"]["reference"]

    def put_back(self):
        """As `cp backup/data.mdb store/data.mdb` does: the same file. Its header comes last, so that nobody takes a half
        of it for the whole and dies of that.
        """
        with self.data.open("wb") as out:
            out.seek(2 * PAGE)
            out.write(self.good[2 * PAGE:])
            out.flush()
            out.seek(0)
            out.write(self.good[:2 * PAGE])

    def deaths(self):
        return len(DEATH.findall(self.httpd.log_text()))

    def deaths_of(self, children):
        """How many deaths, once the log names each of these children that no longer runs."""
        def logged():
            log = self.httpd.log_text()
            return all(is_running(pid) or f"child pid {pid} exit signal" in log for pid in children)
        wait_for(logged, "the log to name those that died")
        return self.deaths()

    def status(self):
        """Of the damaged store's host; None: the connection broke."""
        try:
            return self.shop.refunds().status
        except OSError:
            return None
        except Exception as broken:  # pylint: disable=broad-except # http.client has many names for it
            assert "IncompleteRead" in repr(broken) or "RemoteDisconnected" in repr(broken), broken
            return None

    def is_left_alone(self):
        """Ten calls one after another are refused as they should be."""
        return all(self.status() == 503 for _ in range(10)) and self.refused()

    def refused(self):
        answer = self.shop.charge()
        assert answer.status == 503 and answer.json["data"]["responseCode"] == "E2", answer
        assert int(answer.header("retry-after")) > 0
        return True

    def wait_until_used(self):
        wait_for(lambda: self.status() == 200, "the store to be used again", 120)
        for one in self.charged:
            answer = self.shop.call("GET", f"/api/v1/checkout/{one}/verify")
            assert (answer.status, answer.json["data"]["status"]) == (200, "successful"), one
        self.charge_one()
        assert self.httpd.log_text().count(USED_AGAIN) >= 1
        done = self.httpd.ctl("store", "check", check=False)
        assert (done.returncode, done.stdout) == (0, ""), done


class Beside:
    """Asks the other hosts without pause, each time on a connection of its own; use it as a context."""

    def __init__(self, shops):
        self.shops, self.halt, self.lock = shops, threading.Event(), threading.Lock()
        self.answered, self.missing = {"other": 0, "plain": 0}, []
        self.threads = [threading.Thread(target=self.run, args=one, daemon=True)
                        for one in (("other", self.other), ("plain", self.plain))]

    def other(self):
        return ask_other(self.shops.httpd, "other", self.shops.key)[0]

    def plain(self):
        said = self.shops.httpd.raw(b"GET /nonce.txt HTTP/1.1\r\nHost: plain.example\r\nConnection: close\r\n\r\n")
        return int(said.split(b" ")[1])

    def run(self, name, ask):
        while not self.halt.is_set():
            try:
                status = ask()
            except Exception as broken:  # pylint: disable=broad-except # any of them is an answer that is missing
                status = repr(broken)
            with self.lock:
                self.answered[name] += status == 200
                if status != 200:
                    self.missing.append((name, status))

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.halt.set()
        for thread in self.threads:
            thread.join()

    def forget(self):
        """What was missing until now."""
        with self.lock:
            missing, self.missing = self.missing, []
            self.answered = dict.fromkeys(self.answered, 0)
        return missing

    def wait_for_answers(self):
        wait_for(lambda: min(self.answered.values()) >= ENOUGH, "answers of the others", 120)
        assert not self.missing, self.missing[:5]


def gauge(httpd, name, store):
    text = httpd.request("GET", "/metrics").body.decode()
    return re.search(rf'^{name}{{store="{store}"}} (\d+)$', text, re.M).group(1)


@pytest.mark.parametrize("mpm, damage", [
    ("event", overwrite), ("worker", overwrite), ("prefork", overwrite), ("event", truncate), ("prefork", empty)])
def test_store_damaged_under_a_running_server(server, mpm, damage):
    shops = Shops(server, mpm).start()
    httpd = shops.httpd
    with Beside(shops) as beside:
        wait_for(lambda: min(beside.answered.values()) > 5, "answers of the others, not " + repr(beside.missing[:5]))
        children = httpd.pids()
        damage(shops.data)
        wait_for(shops.is_left_alone, "the store to be left alone")
        deaths = shops.deaths_of(children)
        assert 1 <= deaths <= len(children), (deaths, children)
        lost = beside.forget()
        assert len(lost) <= 2 * deaths, lost
        beside.wait_for_answers()
        assert httpd.request("GET", "/health").status == 503
        assert (gauge(httpd, "payments_up", 0), gauge(httpd, "payments_up", 1)) == ("0", "1")
        assert gauge(httpd, "payments_store_damaged", 0) == "1"
        assert gauge(httpd, "payments_store_damaged", 1) == "0"
        httpd.graceful()
        assert shops.refused()
        beside.forget()  # connections that the graceful restart closed
        beside.wait_for_answers()
        assert shops.deaths() == deaths, "children died of it again"
        said = [line for line in httpd.log_text().splitlines() if LEFT_ALONE in line]
        assert len(said) == 1 and str(httpd.store) in said[0] and "store check" in said[0], said
        shops.put_back()
        shops.wait_until_used()
        beside.wait_for_answers()
        assert shops.deaths() == deaths


@pytest.mark.parametrize("damage", [overwrite, truncate])
def test_store_damaged_before_the_start(server, damage):
    """No child dies of it, and a store that comes behind it is prepared."""
    shops = Shops(server).start()
    httpd = shops.httpd
    httpd.stop()
    damage(shops.data)
    late = httpd.root / "late"
    httpd.extra += other_host("late", late, SIZE)
    httpd.start()
    assert shops.is_left_alone()
    assert ask_other(httpd, "other", shops.key)[0] == 200
    assert (late / "data.mdb").exists()
    shops.put_back()
    shops.wait_until_used()
    assert shops.deaths() == 0
    assert httpd.log_text().count(LEFT_ALONE) == 1


def test_store_damaged_at_a_graceful_restart(server):
    """The new generation leaves it alone from the start."""
    shops = Shops(server).start()
    httpd = shops.httpd
    late = httpd.root / "late"
    httpd.extra += other_host("late", late, SIZE)
    httpd.write_config()
    children = httpd.pids()
    overwrite(shops.data)
    httpd.graceful()
    assert shops.is_left_alone()
    wait_for(lambda: not [pid for pid in children if is_running(pid)], "the former generation to end")
    assert (late / "data.mdb").exists()
    assert ask_other(httpd, "other", shops.key)[0] == 200
    deaths = shops.deaths()
    assert deaths <= len(children)
    httpd.graceful()
    assert shops.is_left_alone() and shops.deaths() == deaths
    shops.put_back()
    shops.wait_until_used()


def test_emptied_store_is_not_made_anew(server):
    """In a new store every reference could be charged once more."""
    shops = Shops(server).start()
    httpd = shops.httpd
    httpd.stop()
    empty(shops.data)
    httpd.start()
    assert shops.is_left_alone()
    assert f"{httpd.store}: data.mdb is empty" in httpd.log_text()
    assert ask_other(httpd, "other", shops.key)[0] == 200
    assert shops.data.stat().st_size == 0
    shops.put_back()
    wait_for(lambda: shops.status() == 200, "the store to be tried again")
    assert shops.deaths() == 0 and LEFT_ALONE not in httpd.log_text()


def inspectors(httpd):
    """The pids of the processes beside the children, which are the only ones that are nice."""
    return [pid for pid in httpd.pids() if niceness(pid) == 19]


def niceness(pid):
    try:
        return int(pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[16])
    except (FileNotFoundError, ProcessLookupError):
        return None


def test_inspector_is_nobody_of_importance(server):
    """It has the server's user and no socket of the site, is replaced if it is killed, and ends with the parent."""
    shops = Shops(server).start()
    httpd = shops.httpd
    children = httpd.pids()
    user = os.stat(httpd.store).st_uid
    overwrite(shops.data)
    first = wait_for(lambda: inspectors(httpd), "the inspector")
    assert len(first) == 1 and not set(first) & set(children)
    status = wait_for(lambda: re.search(r"\nUid:\t(.*)\n", pathlib.Path(f"/proc/{first[0]}/status").read_text()), "it")
    assert set(status.group(1).split()) == {str(user)}
    held = [os.readlink(f"/proc/{first[0]}/fd/{fd}") for fd in os.listdir(f"/proc/{first[0]}/fd")]
    assert not [one for one in held if one.startswith("socket:") or ".mdb" in one], held
    os.kill(first[0], signal.SIGKILL)
    second = wait_for(lambda: [pid for pid in inspectors(httpd) if pid not in first], "another inspector")
    httpd.graceful()
    third = wait_for(lambda: [pid for pid in inspectors(httpd) if pid not in first + second], "the next generation's")
    assert not is_running(second[0])
    httpd.stop()
    assert not is_running(third[0])


def test_inspector_does_not_outlive_a_killed_parent(server):
    shops = Shops(server).start()
    httpd = shops.httpd
    overwrite(shops.data)
    inspector = wait_for(lambda: inspectors(httpd), "the inspector")
    children = httpd.pids()
    httpd.signal(signal.SIGKILL)
    httpd.process.wait()
    wait_for(lambda: not is_running(inspector[0]), "the inspector to end")
    for pid in children:  # httpd's own children do not notice
        if is_running(pid):
            os.kill(pid, signal.SIGKILL)


def test_older_backup_put_in_place_beside_a_running_server(server):
    """No process goes on with what it had open, and with what lock.mdb says of the newer file."""
    shops = Shops(server, "prefork", threads=MANY).start()
    httpd = shops.httpd
    newer = [shops.charge_one() for _ in range(11)]
    overwrite(shops.data)
    wait_for(lambda: LEFT_ALONE in httpd.log_text(), "the store to be left alone")
    shops.put_back()
    shops.wait_until_used()
    for one in newer:
        assert shops.shop.call("GET", f"/api/v1/checkout/{one}/verify").status == 404, one
    after = [shops.charge_one() for _ in range(11)]
    httpd.stop()
    rows = {row["reference"] for row in json.loads(
        httpd.ctl("charge", "list", shops.shop.name, "--mode", "test", "--json").stdout)}
    assert set(shops.charged) | set(after) <= rows and not rows & set(newer)


def test_store_damaged_again_and_again(server):
    shops = Shops(server, "prefork").start()
    for times in 1, 2:
        before, children = shops.deaths(), len(shops.httpd.pids())
        overwrite(shops.data)
        wait_for(shops.is_left_alone, "the store to be left alone")
        assert shops.deaths() - before <= children
        assert shops.httpd.log_text().count(LEFT_ALONE) == times
        shops.put_back()
        shops.wait_until_used()
        shops.good = shops.data.read_bytes()


@pytest.mark.parametrize("damage", [overwrite, truncate])
@pytest.mark.parametrize("command", [["store", "check"], ["account", "list"], ["account", "create", "more"]])
def test_paymentsctl_says_why_it_cannot(tmp_path, damage, command):
    run_ctl(tmp_path / "store", "account", "create", "shop")
    damage(tmp_path / "store/data.mdb")
    done = run_ctl(tmp_path / "store", *command, check=False)
    assert done.returncode == 7, done
    assert "is damaged" in done.stderr and "restore a backup" in done.stderr, done
