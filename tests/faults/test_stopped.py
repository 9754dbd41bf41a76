# SPDX-License-Identifier: Apache-2.0
"""A process stopped in the middle of its write transaction, with the store's lock in its hands.

The others refuse new writes in time and then at once, all else goes on, and nothing is lost when it goes on or dies.
"""

import collections
import os
import random
import re
import signal
import subprocess
import time

import pytest

from children import WHO, connections_to_all
from conftest import FULL, loaded, size
from harness import KILLED, PAYMENTSCTL, WAIT_S, at_once, beside, reference, wait_for
from load import DECIDED_S, TIMEOUT, Load, counter, seed, undecided, verify
from stops import is_stopped, stops_in

IN_TIME_S = 3.0  # a refusal of a write that waited for PaymentsCommitWait, 2 s, on a busy machine
AT_ONCE_S = 1.5  # of one that did not
READ_S = 3.0
STALL_S = 3.5  # at least; after 5 s what was opened before it is too late to be sent
CLIENTS = 12
CHILDREN = 3
HEALTH = "/payments-health"
# An eighth of all threads is more than there are clients: none is refused for being one too many.
THREADS = ("StartServers 3\nServerLimit 3\nThreadsPerChild 64\nThreadLimit 64\nMaxRequestWorkers 192\n"
           "MinSpareThreads 160\nMaxSpareThreads 192")
# A child that is killed while it commits; who waited for it in vain, and what it could not store for that; and a process
# that slept before it was to send something.
DIED = f"{KILLED}|PAY00109|PAY00201|PAY00202|PAY00210|PAY00211|PAY00313"
ENDS = [signal.SIGCONT, signal.SIGKILL]


def arm(httpd):
    """From now on the first process to commit stops itself."""
    (httpd.root / "stop" / "now").touch()


def make_server(server, more=""):
    httpd = server(start=False, threads=THREADS, extra=f"{WHO}PaymentsCommitWait 2s\n{more}",
                   host_extra=f"PaymentsHealth {HEALTH}\n{TIMEOUT}",
                   env={"LD_PRELOAD": loaded("faults/preload_stop"), "PAYMENTS_STOP_FILE": "{root}/stop/now"})
    stops_in(httpd.root)
    (httpd.docroot / "page.txt").write_text("the site")
    httpd.expect_log(DIED)
    return httpd.start()


def stopped_child(httpd):
    found = [pid for pid in httpd.pids() if is_stopped(pid)]
    return found[0] if found else None


class Probe:
    """A connection: whichever child took it is the one that answers."""

    def __init__(self, httpd, shop, known, connection):
        self.httpd, self.shop, self.known = httpd, shop, known
        self.connection = connection

    def reads(self):
        """Lists, verify and files go on."""
        for call in (lambda: self.shop.refunds(connection=self.connection),
                     lambda: self.shop.call("GET", f"/api/v1/checkout/{self.known}/verify",
                                            connection=self.connection),
                     lambda: self.httpd.request("GET", "/page.txt", connection=self.connection)):
            started = time.monotonic()
            answer = call()
            assert answer.status == 200 and time.monotonic() - started < READ_S, answer

    def health(self):
        return self.httpd.request("GET", HEALTH, connection=self.connection).status

    def write(self, limit_s):
        """A new charge is refused within so many seconds; how many it were."""
        started = time.monotonic()
        answer = self.shop.charge(connection=self.connection)
        took = time.monotonic() - started
        assert answer.status == 503 and answer.json["data"]["responseCode"] == "E2", answer
        assert int(answer.header("retry-after")) > 0, answer
        assert took < limit_s, f"refused after {took:.2f} s"
        return took


def probes_of_all(httpd, shop, known):
    """A connection to each of the children, by pid."""
    found = {pid: Probe(httpd, shop, known, connection) for pid, connection in connections_to_all(httpd).items()}
    assert len(found) == CHILDREN
    return found


def stall(probes, stall_s=STALL_S):
    """What the children must do while the lock is held; returns what refusals took, first and later."""
    end = time.monotonic() + stall_s
    first = at_once([lambda p=p: p.write(IN_TIME_S) for p in probes])
    wait_for(lambda: {p.health() for p in probes} == {503}, "every child to say that it cannot write", IN_TIME_S)
    later = []
    while time.monotonic() < end or not later:
        later += at_once([lambda p=p: p.write(AT_ONCE_S) for p in probes])
        at_once([p.reads for p in probes])
        assert {p.health() for p in probes} == {503}
    return max(first), max(later)


def recovered(load):
    """All clients charge again, every child says that it is well, and nobody is refused any more."""
    load.wait_for_more(5 * CLIENTS)
    wait_for(lambda: all(load.httpd.request("GET", HEALTH, connection=one).status == 200
                         for one in connections_to_all(load.httpd).values()), "every child to be well")
    well = time.monotonic()
    load.wait_for_more(5 * CLIENTS)
    assert {one.status for one in load.tries if one.at > well} <= {200, 202, 409}


def check_tries(load, began, ended, hung_max):
    """The load's own requests of that time: refused in time, but for those that the stopped process has."""
    during = [one for one in load.tries if began < one.at < ended]
    late = [one for one in load.tries if one.at < ended - IN_TIME_S and one.at + one.took > ended]
    assert len(late) <= hung_max, late
    refused = [one for one in during if one.at + one.took < ended and not one.replayed]  # what is known is read
    # 409: what was opened before the stall and could not be resolved counts as being worked on for a while.
    assert {one.status for one in refused} <= {503, 409}, collections.Counter(one.status for one in refused)
    assert all(one.took < IN_TIME_S and int(one.retry_after) > 0 for one in refused)
    return len(refused)


def tell(what, load, first, later, refused):
    print(f"PAYMENTS_FAULTS: {what}: first refusals after {first:.2f} s, later ones after {later * 1000:.0f} ms at "
          f"most, {refused} of the load's requests refused, {len(load.charged)} charges acknowledged and stored")


@pytest.fixture
def paid(server):
    """Makes a server with a charge that was paid before anything stalls."""
    def make(more=""):
        httpd = make_server(server, more)
        shop, known = httpd.shop(), reference()
        assert shop.charge(reference=known).status == 200
        load = Load(shop, CLIENTS)
        load.asked[known] = {"token": "tok_test_success", "amount": 1000}
        return httpd, shop, known, load

    return make


@pytest.mark.parametrize("acquirer, end", [
    pytest.param(acquirer, end, id=f"{acquirer}-{end.name}") for acquirer, end in
    [("counter", ENDS[0]), ("simulator", ENDS[1])] + ([("counter", ENDS[1]), ("simulator", ENDS[0])] if FULL else [])])
def test_stopped_child(paid, acquirer, end):
    """A child stops with the lock in its hands. The others refuse; it goes on or dies, and nothing is lost."""
    httpd, shop, known, load = paid(counter() if acquirer == "counter" else "")
    with load:
        for _ in range(size(1, 5)):
            load.wait_for_more(50)
            probes = probes_of_all(httpd, shop, known)
            arm(httpd)
            pid = wait_for(lambda: stopped_child(httpd), "a child to stop")
            began = time.monotonic()
            del probes[pid]
            first, later = stall(probes.values(), STALL_S if FULL or end == signal.SIGCONT else 0)
            ended = time.monotonic()
            os.kill(pid, end)
            recovered(load)
            refused = check_tries(load, began, ended, CLIENTS)
    if FULL:
        wait_for(lambda: not undecided(shop), "reconciliation", DECIDED_S)
    verify(load, pending=not FULL, counted=acquirer == "counter")
    tell(f"a child stopped with the lock, then {end.name}, {acquirer}", load, first, later, refused)


@pytest.mark.parametrize("end", ENDS if FULL else ENDS[:1], ids=lambda end: end.name)
def test_stopped_paymentsctl(paid, end):
    """A program that takes no turns with the children: one request at most waits on, all others are refused."""
    httpd, shop, known, load = paid()
    with load:
        load.wait_for_more(50)
        probes = probes_of_all(httpd, shop, known)
        (httpd.root / "stop" / "ctl").touch()
        ctl = subprocess.Popen([PAYMENTSCTL, "-s", f"lmdb:{httpd.store}", "key", "create", shop.name, "--mode", "test",
                                "--kind", "public"], stdout=subprocess.PIPE, text=True,
                               env={**httpd.environment(), "PAYMENTS_STOP_FILE": f"{httpd.root}/stop/ctl"})
        try:
            wait_for(lambda: is_stopped(ctl.pid), "paymentsctl to stop")
            began = time.monotonic()
            first, later = stall(probes.values())
            ended = time.monotonic()
        finally:
            ctl.send_signal(end)
        key = ctl.communicate(timeout=WAIT_S)[0].strip()
        recovered(load)
        refused = check_tries(load, began, ended, 1)
    if end == signal.SIGCONT:
        assert ctl.returncode == 0
        assert shop.call("GET", f"/api/v1/checkout/{known}/verify", key=key).status == 200, "its own work was done"
    verify(load, pending=not FULL)
    tell(f"paymentsctl stopped with the lock, then {end.name}", load, first, later, refused)


def test_stopped_anywhere(paid):
    """Children stop wherever they are, for up to three seconds, and go on: nothing is lost or made twice."""
    stops, number = size(5, 60), seed()
    chance = random.Random(number)
    httpd, _, _, load = paid(counter())
    with load:
        for _ in range(stops):
            load.wait_for_more(chance.randrange(1, 30))
            pid = chance.choice(httpd.pids())
            os.kill(pid, signal.SIGSTOP)
            time.sleep(chance.random() * size(0.5, 3))
            os.kill(pid, signal.SIGCONT)
        load.wait_for_more(CLIENTS)
    if FULL:
        wait_for(lambda: not undecided(load.shop), "reconciliation", DECIDED_S)
    verify(load, pending=not FULL, counted=True, chance=chance)
    refused = sum(one.status == 503 for one in load.tries)
    print(f"PAYMENTS_FAULTS: {stops} stops of children, PAYMENTS_SEED={number}: {refused} requests refused, "
          f"{len(load.charged)} charges and {len(load.refunded)} refunds acknowledged and stored")


def test_process_that_prepares_the_stores_is_killed(server):
    """The parent says so and starts all the same; the children make the store usable themselves."""
    httpd = make_server(server)
    shop = httpd.shop()
    httpd.host_extra += "\nPaymentsDefaultCurrency EUR"  # what is to be written at the reload
    httpd.write_config()
    arm(httpd)
    reload = beside(httpd.graceful)
    os.kill(wait_for(lambda: stopped_child(httpd), "the process to stop"), signal.SIGKILL)
    reload.result(WAIT_S)
    assert re.search(r"PAY00313.*signal 9", httpd.log_text())
    assert shop.charge().status == 200
