# SPDX-License-Identifier: Apache-2.0
"""Limits that are reached: a clear 503, nothing acknowledged lost, and work goes on once there is room."""

import re
import resource
import signal
import subprocess
import sys
import time

import pytest

import raw_lmdb
from conftest import size
from crowd import Good, all_are_stored, event_sizes
from harness import PAYMENTSCTL, ROOT, Httpd, reference, run_ctl, wait_for
from hosts import ask_other, is_503, other_host

ONE_CHILD = event_sizes(1, 8)


def is_refused(answer):
    assert answer.status == 503, answer
    assert answer.json["data"]["responseCode"] == "E2" and answer.json["status"] is False
    assert int(answer.header("retry-after")) > 0


def second_key(store):
    run_ctl(store, "account", "create", "second")
    key = run_ctl(store, "key", "create", "second", "--mode", "test", "--kind", "secret").stdout.strip()
    if ROOT:
        subprocess.run(["chown", "-R", "www-data:", str(store.parent)], check=True)
    return key


def limit(pid, what, soft):
    """Sets a soft limit ("nofile", "as") of a running child, as its user: root may lack the right for others'."""
    user = ["setpriv", "--reuid", "www-data", "--regid", "www-data", "--clear-groups"] if ROOT else []
    subprocess.run([*user, "prlimit", f"--pid={pid}", f"--{what}={soft}:"], check=True)


NO_MORE = 3  # of open files: what is open stays so, nothing is opened beside it


def test_too_many_open_files_when_a_store_is_opened(server):
    """A store that is mended while its process can open no file: 503, and later 200 in the same process."""
    httpd = server(start=False, threads=ONE_CHILD)
    httpd.expect_log("PAY00303|PAY00350|PAY00100|AH00484")
    hidden = httpd.root / "hidden/store"
    httpd.extra = other_host("second", hidden)
    httpd.start()
    shop = httpd.shop()
    kept = [(httpd.connect(), reference()) for _ in range(20)]
    for connection, ref in kept:
        assert shop.charge(reference=ref, connection=connection).status == 200
    hidden.parent.mkdir()
    key = second_key(hidden)
    [pid] = httpd.pids()
    before = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    limit(pid, "nofile", NO_MORE)
    unused = iter(kept[2:])  # a 503 ends its connection

    def refused():
        is_503(httpd, "second", key, next(unused)[0])
        time.sleep(0.2)
        return "Too many open files" in httpd.log_text()

    wait_for(refused, "the attempt that finds no file left")
    assert [shop.charge(connection=one).status for one, _ in kept[:2]] == [200] * 2, "the other store is affected"
    limit(pid, "nofile", before)
    wait_for(lambda: ask_other(httpd, "second", key)[0] == 200, "the store to be opened")
    assert httpd.pids() == [pid]
    for _, ref in kept:
        assert shop.charge(reference=ref).header("idempotent-replayed") == "true"
    print("PAYMENTS_FAULTS: not one file more: 503 for the store that was to be opened, 200 for the open one; "
          "200 for both in the same process later")


def test_too_many_open_files_when_clients_connect(server):
    """httpd ends a child that can accept nobody; fresh ones take over, and nothing is lost."""
    httpd = server(threads=event_sizes(4, 16).replace("StartServers 4", "StartServers 2"))
    httpd.expect_log(r"AH00484|AH10159|AH02179|AH03490")
    shops = [httpd.shop() for _ in range(4)]
    with Good(httpd, 16, shops) as good:
        good.wait_for_more(100)
        sick, new = httpd.pids(), []
        for pid in sick:
            limit(pid, "nofile", NO_MORE)
        while set(sick) & set(httpd.pids()):
            new.append(httpd.connect())
            new[-1].request("GET", "/nonce.txt")  # httpd takes a connection once there is data
            assert len(new) < 500, "the children that can accept nobody live on"
            time.sleep(0.02)
        good.wait_for_more(100)
        done = good.finish()
    assert [one.getresponse().status for one in new] == [200] * len(new)
    assert "AH02179" in httpd.log_text()
    all_are_stored(httpd, shops, done)
    print(f"PAYMENTS_FAULTS: {len(sick)} children without a file for the next client ended, {len(httpd.pids())} fresh "
          f"ones serve; {sum(map(len, done))} charges acknowledged, all stored")


MAP_LIMIT = 4 << 30


class Limited(Httpd):
    """A server whose processes may map so much; the limit can be raised from outside."""

    def command(self, *args):
        return ["prlimit", f"--as={MAP_LIMIT}:", *super().command(*args)]


def test_map_larger_than_the_address_space(request):
    """A plain sentence and 503, for a map above the limit and for one that fits in with nothing beside it."""
    httpd = Limited(threads=ONE_CHILD, host_extra="PaymentsStoreSize 64M\nPaymentsStoreReserve 1M")
    request.addfinalizer(httpd.close)
    httpd.expect_log("PAY00303|PAY00307|PAY00100|AH00484")
    keys = {}
    for name, more in (("default", ""), ("below", f"PaymentsStoreSize {(MAP_LIMIT >> 20) - 1}M")):
        store = httpd.root / "other" / name
        store.parent.mkdir(exist_ok=True)
        keys[name] = second_key(store)
        httpd.extra += other_host(name, store, more)
    (httpd.docroot / "page.txt").write_text("the site")
    httpd.start()
    shop = httpd.shop()
    for name, key in keys.items():
        is_503(httpd, name, key)
        assert re.search(rf"other/{name}: PaymentsStoreSize is \d+ MiB, .*raise the limit", httpd.log_text())
    assert shop.charge().status == 200 and httpd.request("GET", "/page.txt").body == b"the site"
    [pid] = httpd.pids()
    limit(pid, "as", "unlimited")
    for name, key in keys.items():
        wait_for(lambda: ask_other(httpd, name, key)[0] == 200, "the store to be opened")
    assert httpd.pids() == [pid]
    print("PAYMENTS_FAULTS: RLIMIT_AS below two maps: 503 for both, 200 for a smaller store and for the site; "
          "200 for all in the same process when the limit was raised")


def test_tool_with_too_little_address_space(tmp_path):
    done = subprocess.run(["prlimit", f"--as={MAP_LIMIT}:", PAYMENTSCTL, "-s", f"lmdb:{tmp_path}/store", "account",
                           "create", "shop"], capture_output=True, text=True, check=False)
    assert done.returncode != 0 and "PaymentsStoreSize is 65536 MiB, but the process may map" in done.stderr


def fill_readers(store):
    child = subprocess.Popen([sys.executable, raw_lmdb.__file__, str(store), "readers"], stdout=subprocess.PIPE,
                             text=True)
    return child, int(child.stdout.readline())


def end_all(children, end):
    for child, _ in children:
        child.send_signal(end)
        child.wait()


def start_without_readers(httpd):
    """A fresh child has no slot until it reads: all are taken before, once that is faster than its watchdog."""
    def start():
        httpd.stop()
        httpd.start()
        children = [fill_readers(httpd.store) for _ in range(2)]
        if not {int(line[0]) for line in raw_lmdb.all_readers(httpd.store)} & set(httpd.pids()):
            return children
        end_all(children, signal.SIGKILL)
        return None

    return wait_for(start, "a child without a slot")


@pytest.mark.parametrize("end", size([signal.SIGKILL], [signal.SIGKILL, signal.SIGTERM]))
def test_reader_table_is_full(server, end):
    httpd = server(threads=ONE_CHILD)
    httpd.expect_log("PAY00102|AH00484")
    shop = httpd.shop()
    made = reference()
    assert shop.charge(reference=made).status == 200
    children = start_without_readers(httpd)
    try:
        taken = sum(count for _, count in children)
        assert taken > 100 and not children[1][1], "the first has left none to the second"
        pids = httpd.pids()
        refused = [reference() for _ in range(5)]
        for ref in refused:
            is_refused(shop.charge(reference=ref))
        is_refused(shop.refunds())
        assert "every slot of its reader table is taken" in httpd.log_text()
        assert httpd.request("GET", "/nonce.txt").status == 200
    finally:
        end_all(children, end)
    assert shop.charge(reference=made).header("idempotent-replayed") == "true"
    for ref in refused:
        answer = shop.charge(reference=ref)
        assert (answer.status, answer.header("idempotent-replayed")) == (200, None), "a 503 that charged"
    assert httpd.pids() == pids
    print(f"PAYMENTS_FAULTS: {taken} reader slots taken from outside: 503; 200 in the same process after their end")


@pytest.mark.parametrize("reserve", size(["0"], ["0", "1M"]))
def test_map_is_full_while_several_accounts_charge(server, reserve):
    """What is acknowledged stays; after a reload with a larger store the same clients go on."""
    httpd = server(host_extra=f"PaymentsStoreSize 2M\nPaymentsStoreReserve {reserve}")
    httpd.expect_log("PAY00105|PAY00107|PAY00111|PAY00112|AH00484|AH00045|AH00046")
    shops = [httpd.shop() for _ in range(4)]
    made = []

    def charge_is_refused():
        """A list that lasts keeps pages from writers: a store with no reserve may be full and have room again."""
        ref = reference()
        answer = shops[0].charge(reference=ref)
        if answer.status != 200:
            return answer
        made.append(ref)
        return None

    with Good(httpd, 8, shops) as good:
        wait_for(lambda: good.refused > 50, "the store to be full")
        full_at = good.answered
        assert re.search("PaymentsStoreSize|mapsize limit reached", httpd.log_text())
        assert all(shop.refunds().status == 200 for shop in shops), "reading goes on"
        is_refused(wait_for(charge_is_refused, "a charge to be refused"))
        httpd.host_extra = "PaymentsStoreSize 64M\nPaymentsStoreReserve 1M"
        httpd.write_config()
        httpd.graceful()
        good.wait_for_more(size(500, 5000))
        done = good.finish()
    done[0] += made
    all_are_stored(httpd, shops, done)
    print(f"PAYMENTS_FAULTS: full after {full_at} answers; {sum(map(len, done))} charges acknowledged in all, "
          "all stored")
