# SPDX-License-Identifier: Apache-2.0
"""Children killed and replaced under load: acknowledged is stored, and charged once at the acquirer."""

import os
import random
import signal
import time

import pytest

from conftest import FULL, size
from harness import KILLED, SANITIZE, wait_for
from load import DECIDED_S, TIMEOUT, Load, calls, counter, lost_answers, seed, undecided, verify

CHILDREN = {
    # Many, for httpd makes but one child in the first second after one died, two in the next. Half of what each can
    # serve, and an eighth of them all, is more than there are clients: none is refused for that.
    "event": "StartServers 8\nServerLimit 24\nThreadsPerChild 32\nThreadLimit 32\nMaxRequestWorkers 384\n"
             "MinSpareThreads 224\nMaxSpareThreads 384",
    "prefork": "StartServers 20\nServerLimit 128\nMinSpareServers 16\nMaxSpareServers 40\nMaxRequestWorkers 128",
}
CHILDREN["worker"] = CHILDREN["event"]
CLIENTS = 12
# Children and the process that prepares stores, ended by a signal; what a process that then slept did not send.
DIED = f"{KILLED}|AH00045|AH00046|AH00490|AH10291|AH03490|AH03290|PAY00202|PAY00211|PAY00313"


def kill_one(httpd, chance):
    """SIGKILL to one of the children; False when there is none, or it was about to end by itself."""
    pids = httpd.pids()
    if not pids:
        return False
    try:
        os.kill(chance.choice(pids), signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


def murder(httpd, load, chance, kills, restarts):
    """So many children killed, and so many graceful restarts between them, all while charges go on."""
    at = set(chance.sample(range(kills), restarts))
    for number in range(kills):
        load.wait_for_more(chance.randrange(1, 30))
        if number in at:
            httpd.graceful()
        wait_for(lambda: kill_one(httpd, chance), "a child to kill")
    load.wait_for_more(CLIENTS)
    statuses = {one.status for one in load.tries}
    assert statuses <= {None, 200, 202, 409}, f"a killed child is no reason to refuse others: {statuses}"


def tell(what, load, started, more=""):
    broken = sum(one.status is None for one in load.tries)
    refused = sum(one.status is not None and one.status >= 409 for one in load.tries)
    print(f"PAYMENTS_FAULTS: {what}: {len(load.charged)} charges and {len(load.refunded)} refunds acknowledged and "
          f"stored, {broken} connections broken, {refused} refused and sent again{more}, "
          f"{time.monotonic() - started:.0f} s")


@pytest.mark.parametrize("mpm, kills, restarts", [
    pytest.param("event", size(20, 1000), size(4, 100), id="event"),
    pytest.param("worker", size(10, 100), size(2, 10), id="worker"),
    pytest.param("prefork", size(10, 100), size(2, 10), id="prefork"),
])
def test_open_decide_resolve(server, mpm, kills, restarts):
    """With an acquirer outside the transaction: a child dies at any step, and the retry learns what became of it."""
    number, started = seed(), time.monotonic()
    chance = random.Random(number)
    httpd = server(mpm=mpm, extra=counter(delay=3), threads=CHILDREN[mpm], host_extra=TIMEOUT)
    httpd.expect_log(DIED)
    shop = httpd.shop()
    with Load(shop, CLIENTS, chance) as load:
        murder(httpd, load, chance, kills, restarts)
    left = len(undecided(shop))
    if FULL:
        wait_for(lambda: not undecided(shop), "reconciliation", DECIDED_S)
    verify(load, pending=not FULL, counted=True, chance=chance)
    asked = sum(calls(httpd).values())
    tell(f"{kills} kills and {restarts} restarts, {mpm}, PAYMENTS_SEED={number}", load, started,
         f", {asked} calls at the acquirer, {left} left pending by the dead")


def test_decided_before_it_is_written(server):
    """With the simulator itself a charge is decided in the transaction that inserts it: no kill leaves one pending."""
    kills, restarts = size(10, 1000), size(2, 100)
    number, started = seed(), time.monotonic()
    chance = random.Random(number)
    httpd = server(threads=CHILDREN["event"], host_extra=TIMEOUT)
    httpd.expect_log(DIED)
    shop = httpd.shop()
    with Load(shop, CLIENTS, chance) as load:
        murder(httpd, load, chance, kills, restarts)
    rows = verify(load, pending=True, chance=chance)
    assert not [row for row in rows.values() if row["status"] == "pending"]
    tell(f"{kills} kills and {restarts} restarts, one transaction, PAYMENTS_SEED={number}", load, started)


@pytest.mark.parametrize("mpm, restarts", [
    pytest.param("event", size(20, 100), id="event"),
    pytest.param("worker", size(4, 100), id="worker"),
    pytest.param("prefork", size(4, 100), id="prefork"),
])
def test_graceful_restarts_refuse_nobody(server, mpm, restarts):
    """Without a murder nothing that was done is left without its answer, and no answer is a refusal.

    A connection may be closed between two requests, when the next one is already on its way; that one was not read,
    and is done when it is sent again.
    """
    started = time.monotonic()
    httpd = server(mpm=mpm, extra=counter(delay=3))
    httpd.expect_log("AH00045|AH00046|AH00490|AH10291")
    shop = httpd.shop()
    with Load(shop, CLIENTS) as load:
        for _ in range(restarts):
            httpd.graceful()
            load.wait_for_more(10)
    tell(f"{restarts} restarts, {mpm}", load, started)
    assert {one.status for one in load.tries} <= {None, 200}, {one.status for one in load.tries}
    assert not lost_answers(load), f"{len(lost_answers(load))} answers were lost: {lost_answers(load)[:3]}"
    verify(load, counted=True)
    assert SANITIZE or len(load.charged) >= 10 * restarts


@pytest.mark.parametrize("mpm", ["event", "prefork"])
def test_stop_and_start(server, mpm):
    """A server that is stopped and started anew under load has kept everything."""
    httpd = server(mpm=mpm, extra=counter(delay=3), host_extra=TIMEOUT)
    httpd.expect_log("AH00045|AH00046")
    shop = httpd.shop()
    with Load(shop, CLIENTS) as load:
        load.wait_for_more(20)
        httpd.stop()
        httpd.process = None
        httpd.start()
        load.wait_for_more(20)
    verify(load, pending=True, counted=True)
