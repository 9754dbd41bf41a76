# SPDX-License-Identifier: Apache-2.0
"""Deliveries while children die and are replaced, with many events waiting, and beside receivers that do not answer."""

import contextlib
import os
import pathlib
import random
import re
import signal
import statistics
import time

import pytest

import dashboard
from conftest import size
from crowd import Good, event_sizes
from harness import KILLED, SANITIZE, reference, wait_for
from load import Load, seed
from receiver import INSECURE, Receiver, closed_port, in_order, instant
from virtual_clock import BOOT, WALL

# httpd makes but one child in the first second after one died, two in the next: enough to be without some.
CHILDREN = ("StartServers 8\nServerLimit 24\nThreadsPerChild 32\nThreadLimit 32\nMaxRequestWorkers 384\n"
            "MinSpareThreads 224\nMaxSpareThreads 384")
DIED = f"{KILLED}|AH00045|AH00046|AH00490|AH10291|AH03490|AH03290|PAY00267|PAY00263"
REFUNDS = 3  # of each transaction, beside its charge
CLIENTS = 4
FAIL_ONE_IN = 5
LEASE_S = 60
MINUTE, HOUR = 60, 3600
# Between the tries of an event, docs/notifications.md; from there on the last one.
WAITS = (5, 5, 5, MINUTE, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 6 * HOUR, 12 * HOUR)
TRY_FOR = 72 * HOUR
MEMORY_MAX = 64 << 20  # of a child's own, whatever waits
GOOD_S = 5  # within which a good receiver has its event, whatever the others do


def make_server(server, clock=False, **options):
    httpd = server(start=False, extra=INSECURE, clock=clock, **options)
    return httpd, httpd.clock


def fill(shop, prefix, count):
    """So many decided charges, by the store's own operations; each writes its event if there is a webhook."""
    dashboard.fill(shop.httpd, shop, count, prefix, first=1)


# --- children that die ---

class Story(Load):
    """Clients that charge and refund in parts, until there are so many transactions."""

    def __init__(self, shop, transactions, chance):
        super().__init__(shop, CLIENTS, chance)
        self.transactions = transactions

    def shop_once(self, client, chance):
        if self.count() >= self.transactions:
            self.halt.wait(0.1)
            return
        ref = reference()
        body = {"token": "tok_test_success", "amount": 1000, "email": "ada@example.com", "reference": ref}
        assert client.ask("/api/v1/tokenized-card-charge", body, ref).status == 200
        for number in range(1, REFUNDS + 1):
            answer = client.ask("/api/v1/partial-refund", {"reference": ref, "amount": number}, ref,
                                {"Idempotency-Key": f"{ref}-{number}"})
            if answer.json["status"] == "pending":
                return  # its child was killed before it was decided: reconciliation will, and that is told later
        self.charged[ref] = True


def deliverers(httpd, port):
    """The children that have a connection to a receiver."""
    inodes = set()
    for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]:
        fields = line.split()
        if fields[2].endswith(f":{port:04X}"):
            inodes.add(f"socket:[{fields[9]}]")
    found = []
    for pid in httpd.pids():
        with contextlib.suppress(OSError):
            if any(os.readlink(one) in inodes for one in pathlib.Path(f"/proc/{pid}/fd").iterdir()):
                found.append(pid)
    return found


def kill_deliverers(httpd, port):
    """SIGKILL to each child that delivers just now; how many there were."""
    killed = 0
    for pid in deliverers(httpd, port):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
            killed += 1
    return killed


def test_killed_and_reloaded_while_it_delivers(server):
    """Every event arrives, none before its predecessor was taken, and again with the same id only."""
    number, started = seed(), time.monotonic()
    chance = random.Random(number)
    transactions, disturbances = size(100, 2500), size(4, 30)
    httpd, clock = make_server(server, clock=True, threads=CHILDREN)
    httpd.expect_log(DIED)
    httpd.start()
    shop, killed, restarts = httpd.shop(), 0, 0
    with Receiver() as receiver:
        secret = shop.webhook(receiver.url())
        receiver.fail_one_in(FAIL_ONE_IN, number)
        with Story(shop, transactions, chance) as story:
            while story.count() < transactions or restarts < disturbances:
                assert not story.failures, story.failures[:3]
                seen = len(receiver.got)
                next_at = time.monotonic() + 1
                httpd.graceful()
                restarts += 1
                with contextlib.suppress(AssertionError):  # all may have been told for now
                    wait_for(lambda: len(receiver.got) > seen + 20, "deliveries by the new children", 2)
                killed += kill_deliverers(httpd, receiver.port)
                wait_for(lambda: time.monotonic() >= next_at, "the next second")
        assert killed, "no child was killed while it delivered"

        told = {ref: 1 + REFUNDS for ref in story.charged}
        set_at, seen, step, idle = time.monotonic(), 0, LEASE_S + 1, size(0.7, LEASE_S + 10)

        def all_taken():
            """Once nothing happens any more time passes, further and further: leases end, and then all is due.

            In the full run leases end by themselves before, and only what failed many times waits longer.
            """
            nonlocal set_at, seen, step
            if time.monotonic() - max(receiver.got[-1].at, set_at) > idle:
                step = LEASE_S + 1 if len(receiver.got) > seen else min(2 * step, 2 * HOUR)
                set_at, seen = time.monotonic(), len(receiver.got)
                clock.pass_seconds(step, WALL, BOOT)
            ids = {one.id for one in receiver.taken() if one.reference in told}
            return len(ids) >= sum(told.values()) and not shop.events("--limit", "1")

        wait_for(all_taken, "every event, and nothing to be left", size(120, 900))
        counts = in_order(receiver.got)
        assert {ref: counts[ref] for ref in told} == told
        assert set(counts) <= {one.reference for one in story.tries}, "of a transaction that nobody made"
        for one in receiver.got:
            one.check(secret, now=one.timestamp)
    events = sum(counts.values())
    print(f"PAYMENTS_FAULTS: {events} events of {len(counts)} transactions taken in order while {killed} delivering "
          f"children were killed and the server reloaded {restarts} times, {len(receiver.got)} tries, "
          f"{len(receiver.taken()) - events} taken twice, PAYMENTS_SEED={number}, {time.monotonic() - started:.0f} s")


def test_stop_and_start(server):
    """What a server that stops was sending is sent by the next one at once: it takes no lease along."""
    httpd, _ = make_server(server, threads=event_sizes(2, 16))
    httpd.start()
    shop = httpd.shop()
    with Receiver() as receiver:
        shop.webhook(receiver.url())
        fill_count = size(300, 3000)
        fill(shop, "r", fill_count)
        receiver.wait(50)
        httpd.stop()
        httpd.process = None
        at_stop = len(receiver.taken())
        httpd.start()
        wait_for(lambda: len({one.id for one in receiver.taken()}) >= fill_count, "every event", LEASE_S - 10)
        assert at_stop < fill_count, "it was done before it was stopped"
        in_order(receiver.got)


# --- the schedule ---

def test_schedule_and_parking(server):
    """An event that nobody takes is tried at the documentation's times for 3 days, then parked, and released by hand.

    The clock is set to each of the times; what comes behind the event waits for it.
    """

    def tried(times):
        rows = shop.events()
        return rows if rows[0]["tries"] == times else None

    httpd, clock = make_server(server, clock=True, threads=event_sizes(1, 16))
    httpd.expect_log("PAY00150|PAY00264|PAY00267")
    httpd.start()
    shop, ref = httpd.shop(), reference()
    with Receiver() as receiver:
        shop.webhook(receiver.url())
        receiver.default = 503
        shop.charge(reference=ref)
        shop.refund(ref, "10")
        tries, first = 0, None
        while True:
            tries += 1
            event, behind = wait_for(lambda: tried(tries), f"try {tries}")
            assert (behind["standing"], behind["tries"]) == ("behind", 0)
            at = instant(event["answeredAt"])
            first = first or at
            if event["standing"] == "parked":
                break
            gap, due = WAITS[min(tries, len(WAITS)) - 1], instant(event["dueAt"])
            last = instant(event["firstTryAt"]) + TRY_FOR
            assert due == pytest.approx(last, abs=0.01) or gap - 0.01 <= due - at <= 1.1 * gap + 0.01, (tries, event)
            assert due <= last + 0.01
            # A webhook that counts as failing has times of its own, which may be later.
            clock.set(max(due, instant(shop.webhook_state()["dueAt"])) - time.time() + 0.01)
        assert TRY_FOR - 1 <= at - first <= TRY_FOR + 1.1 * WAITS[-1]
        assert tries in (14, 15, 16), tries
        assert len({one.id for one in receiver.got}) == 1 and len(receiver.got) == tries
        assert [one["id"] for one in shop.events("--parked")] == [event["id"]]
        clock.set(clock.by + 24 * HOUR)
        shop.charge(reference=ref + "-2")
        wait_for(lambda: len(shop.events()) == 3 and shop.events()[-1]["tries"], "another transaction to be tried")
        assert [one for one in receiver.got if one.reference == ref][tries:] == [], "a parked one was tried"
        receiver.default = 200
        shop.event("retry", event["id"])
        wait_for(lambda: clock.pass_unless(not shop.events()), "all to be taken")
    assert in_order(receiver.got) == {ref: 2, ref + "-2": 1}
    print(f"PAYMENTS_FAULTS: an event that nobody took: {tries} tries in 72 hours, then parked, then released")


def test_failing_endpoint_is_probed(server):
    """Five failures in a row, and one event at a time is tried; when it is taken all the others follow at once."""
    httpd, clock = make_server(server, clock=True, threads=event_sizes(1, 16))
    httpd.expect_log("PAY00150|PAY00267")
    httpd.start()
    shop, waiting = httpd.shop(), size(60, 2000)
    with Receiver() as receiver:
        shop.webhook(receiver.url())
        receiver.default = 500
        fill(shop, "r", waiting)
        wait_for(lambda: shop.webhook_state()["failing"], "it to count as failing")
        at_first = len(receiver.got)
        assert at_first <= 32, "it was tried on and on"
        for probe in range(1, 4):
            count = len(receiver.got)
            clock.set(clock.by + 6)
            receiver.wait(count + 1)
            wait_for(lambda: instant(shop.webhook_state()["dueAt"]) > clock.now(), "the probe's result")
            assert len(receiver.got) == count + 1, f"more than one probe, {probe}"
        receiver.default = 200
        clock.set(clock.by + 70)
        wait_for(lambda: len({one.id for one in receiver.taken()}) == waiting, "all of them", 60)
        assert not shop.webhook_state()["failing"]
    print(f"PAYMENTS_FAULTS: {waiting} events waited for a receiver that failed; {at_first} tries until it counted as "
          "failing, 3 probes, then all of them")


# --- many that wait ---

def anonymous(pid):
    """Bytes of memory that are a process's own."""
    text = pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text()
    return int(re.search(r"^Anonymous:\s+(\d+) kB", text, re.M)[1]) << 10


def start_s(httpd):
    began = time.monotonic()
    httpd.start()
    return time.monotonic() - began


def test_many_events_waiting_at_start(server):
    """The server starts as fast as with none, its memory is bounded, charges go on, and they are told in time."""
    waiting, told = size(5000, 1_000_000), size(5000, 100_000)
    empty, _ = make_server(server, threads=event_sizes(2, 16))
    alone = start_s(empty)
    httpd, _ = make_server(server, threads=event_sizes(2, 16))
    shop = httpd.shop()
    with Receiver() as receiver:
        shop.webhook(receiver.url())
        fill(shop, "r", waiting)
        took = start_s(httpd)
        assert took < alone + 2, "a start waits for the events"
        began, slowest = time.monotonic(), 0.0
        other = httpd.shop()
        connection = httpd.connect()
        while len(receiver.got) < told:
            at = time.monotonic()
            assert other.charge(connection=connection).status == 200
            slowest = max(slowest, time.monotonic() - at)
            assert time.monotonic() - began < 600, f"{len(receiver.got)} of {told} in 10 minutes"
        rate = len(receiver.got) / (time.monotonic() - began)
        most = max(anonymous(pid) for pid in httpd.pids())
        assert SANITIZE or most < MEMORY_MAX, f"{most >> 20} MiB"
        assert slowest < 5
        assert len({one.id for one in receiver.got}) == len(receiver.got), "one was sent twice"
        connection.close()
        shop.webhook_off()
    print(f"PAYMENTS_FAULTS: {waiting} events waiting at start: {took:.2f} s (with none {alone:.2f} s), {rate:.0f} "
          f"deliveries a second, {most >> 20} MiB at most, slowest charge meanwhile {slowest * 1000:.0f} ms")


@pytest.mark.full
def test_waiting_events_do_not_slow_charges(server):
    """Charges a second beside so many events that wait for a dead receiver, and without: a tenth apart at most."""
    waiting, rounds, seconds = 100_000, 7, 5
    sides = {}
    for name in ("waiting", "none"):
        httpd, _ = make_server(server, threads=event_sizes(2, 128))
        httpd.expect_log("PAY00267")
        shop = httpd.shop()
        if name == "waiting":
            httpd.ctl("webhook", "set", shop.name, f"http://127.0.0.1:{closed_port()}/hook", "--mode", "test")
        fill(shop, "r", waiting)
        httpd.start()
        sides[name] = [httpd, [httpd.shop() for _ in range(4)], []]
    for _ in range(rounds):
        for httpd, shops, rates in sides.values():
            with Good(httpd, 16, shops) as good:
                good.wait_for_more(50)
                rates.append(good.rate(seconds))
                good.finish()
    ratios = [mine / other for mine, other in zip(sides["waiting"][2], sides["none"][2])]
    ratio = statistics.median(ratios)
    beside, without = (statistics.median(sides[name][2]) for name in ("waiting", "none"))
    print(f"PAYMENTS_FAULTS: {beside:.0f} answers a second beside {waiting} waiting events, {without:.0f} without: "
          f"{ratio:.2f} ({min(ratios):.2f}-{max(ratios):.2f})")
    assert ratio > 0.9, ratios


# --- receivers that do not answer ---

def test_dead_and_slow_receivers_hold_back_nobody(server):
    """Many accounts whose receivers never answer, each with events that wait; a good one has its own in time."""
    bad, events, charges = size(12, 100), size(20, 50), size(10, 60)
    httpd, _ = make_server(server, threads=event_sizes(2, 32))
    httpd.expect_log("PAY00267")
    httpd.start()
    with contextlib.ExitStack() as stack:
        for number in range(bad):
            receiver = stack.enter_context(Receiver(mute=number % 3 == 0))
            receiver.default = "hang"
            shop = httpd.shop()
            port = closed_port() if number % 3 == 2 else receiver.port
            httpd.ctl("webhook", "set", shop.name, f"http://127.0.0.1:{port}/hook", "--mode", "test")
            fill(shop, "r", events)
        good, shop, slowest = stack.enter_context(Receiver()), httpd.shop(), 0.0
        shop.webhook(good.url())
        for number in range(1, charges + 1):
            at = time.monotonic()
            assert shop.charge().status == 200
            good.wait_taken(number, seconds=GOOD_S)
            slowest = max(slowest, time.monotonic() - at)
        httpd.stop()  # before the ports of the dead are another's
    print(f"PAYMENTS_FAULTS: {bad} receivers that do not answer, {events} events each: another's {charges} came within "
          f"{slowest:.2f} s")
