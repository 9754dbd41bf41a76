# SPDX-License-Identifier: Apache-2.0
"""Restarts and murdered children under load: nothing acknowledged is lost, nothing charged twice."""

import http.client
import json
import os
import pwd
import random
import signal
import threading
import time

import pytest

from harness import ROOT, charge_body, reference, wait_for


class Load:
    """Clients that charge without pause; a broken connection is retried with the same reference."""

    def __init__(self, shop, clients=8):
        self.shop = shop
        self.acknowledged, self.refused = {}, []
        self.lock = threading.Lock()
        self.halt = threading.Event()
        self.threads = [threading.Thread(target=self.run, daemon=True) for _ in range(clients)]

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.halt.set()
        for thread in self.threads:
            thread.join(60)
        assert not any(thread.is_alive() for thread in self.threads)

    def run(self):
        connection = None
        while not self.halt.is_set():
            body = charge_body(reference=reference())
            for _ in range(100):
                try:
                    connection = connection or self.shop.httpd.connect()
                    answer = self.shop.charge(connection=connection, **body)
                except (OSError, http.client.HTTPException):
                    connection = None
                    time.sleep(0.01)  # the listener of a stopped server refuses at once
                    continue
                with self.lock:
                    if answer.status == 200:
                        self.acknowledged[body["reference"]] = answer.json["data"]
                    elif answer.status in (202, 409):
                        pass  # the first try is known; its outcome is learned later
                    else:
                        self.refused.append(answer)
                break

    def count(self):
        with self.lock:
            return len(self.acknowledged)

    def wait_for_more(self, number):
        end, want = time.monotonic() + 60, self.count() + number
        while self.count() < want:
            assert time.monotonic() < end, f"no progress: {self.refused[:3]}"
            time.sleep(0.01)


def stored(shop):
    rows = json.loads(shop.httpd.ctl("charge", "list", shop.name, "--mode", "test", "--json").stdout)
    assert len({row["reference"] for row in rows}) == len(rows)
    assert [row["id"] for row in rows] == list(range(1, len(rows) + 1)), "ids have gaps or repeat"
    return {row["reference"]: row for row in rows}


def verify(shop, load):
    rows = stored(shop)
    for ref, data in load.acknowledged.items():
        assert rows[ref]["status"] == data["status"]
        assert rows[ref]["authorizationCode"] == data["authorizationCode"]
        assert rows[ref]["amount"] == data["amount"]
    done = shop.httpd.ctl("store", "check", check=False)
    assert (done.returncode, done.stdout) == (0, ""), done.stdout


@pytest.mark.parametrize("mpm", ["event", "worker", "prefork"])
def test_graceful_restarts_under_load(server, mpm):
    httpd = server(mpm=mpm)
    httpd.expect_log("AH00045|AH00046|AH00490|AH10291")
    shop = httpd.shop()
    with Load(shop) as load:
        for _ in range(20):
            httpd.graceful()
            load.wait_for_more(10)
    assert not load.refused, load.refused[:3]
    verify(shop, load)


@pytest.mark.parametrize("mpm", ["event", "worker", "prefork"])
def test_children_killed_under_load(server, mpm):
    httpd = server(mpm=mpm)
    httpd.expect_log("AH00052|AH00051|PAY")
    shop = httpd.shop()
    chance = random.Random(7)
    with Load(shop) as load:
        for _ in range(10):
            load.wait_for_more(20)
            try:
                os.kill(chance.choice(httpd.pids()), signal.SIGKILL)
            except ProcessLookupError:
                continue  # a child that was about to end by itself
    assert not load.refused, load.refused[:3]
    verify(shop, load)


@pytest.mark.parametrize("mpm", ["event", "prefork"])
def test_stop_and_start_keep_everything(server, mpm):
    httpd = server(mpm=mpm)
    httpd.expect_log("AH00045|AH00046")
    shop = httpd.shop()
    with Load(shop, 4) as load:
        load.wait_for_more(20)
        httpd.stop()
        httpd.process = None
        httpd.start()
        load.wait_for_more(20)
    verify(shop, load)


def test_pending_charge_of_a_killed_child_is_decided(server):
    """Children die all the time; what they left pending is taken up by the watchdog of another."""
    httpd = server(host_extra="PaymentsAcquirerTimeout 1s")
    httpd.expect_log("AH00052|AH00051|PAY")
    shop = httpd.shop()
    answers = [shop.charge(token="tok_test_timeout", reference=f"r{n}") for n in range(5)]
    assert {a.status for a in answers} == {202}
    for pid in httpd.pids():
        os.kill(pid, signal.SIGKILL)
    wait_for(lambda: all(row["status"] == "successful" for row in stored(shop).values()), "reconciliation", 60)


def test_store_is_left_by_a_stopped_server(server):
    httpd = server()
    shop = httpd.shop()
    shop.charge()
    httpd.stop()
    assert len(stored(shop)) == 1


def test_files_belong_to_the_servers_user(server):
    httpd = server()
    httpd.shop().charge()
    uid = pwd.getpwnam("www-data").pw_uid if ROOT else os.geteuid()
    for path in (httpd.store, httpd.store / "data.mdb", httpd.store / "lock.mdb"):
        info = path.stat()
        assert info.st_uid == uid
        assert info.st_mode & 0o077 == 0


def test_flood_is_refused_not_lost(server):
    """More charges at once than may be in flight: 503 with Retry-After before anything is written."""
    httpd = server(threads="StartServers 1\nServerLimit 1\nThreadsPerChild 64\nMaxRequestWorkers 64\n"
                           "MinSpareThreads 1\nMaxSpareThreads 64")
    httpd.expect_log("AH00484|AH10159|PAY")
    shop = httpd.shop()
    answers = []

    def one():
        answers.append(shop.charge())

    threads = [threading.Thread(target=one) for _ in range(64)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {a.status for a in answers} <= {200, 503}
    for answer in answers:
        if answer.status == 503:
            assert int(answer.header("retry-after")) > 0
    assert len(stored(shop)) == sum(a.status == 200 for a in answers)
