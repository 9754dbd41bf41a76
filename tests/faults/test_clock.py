# SPDX-License-Identifier: Apache-2.0
"""The wall clock is set while charges go on: order, uniqueness and every rule of money hold."""

import random
import re
import time
from datetime import datetime, timedelta

import pytest

from conftest import size
from harness import reference, wait_for
from load import Load, charges, counter, seed, verify

CLIENTS = 8
HOUR = 3600
RAISED_S = 2.0  # a record's time is raised to the last one's if that is at most so far ahead
BLINK_S = 0.02  # between a look at the clock here and its being set there
PAUSE_MAX_S = 10.0  # of any request, on a busy machine
STEP = re.compile(r"PAY00150: account \d+ test: the clock is (\d+) ms behind the time of the last record")


def make_server(server, more=""):
    httpd = server(start=False, extra=more, clock=True)
    httpd.expect_log("PAY00150")
    return httpd.start(), httpd.clock


def instant(text):
    return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def check_times(rows, phases):
    """In the order in which they were committed: each row's time is the clock's, or raised to the one before it.

    Returns by how much the clock was behind the row before, where that was too far to be raised.
    """
    last, steps = 0.0, []
    for row in rows:
        at = instant(row["createdAt"])
        if at < last:
            assert last - at > RAISED_S, f"not raised to the time of the row before: {row}"
            steps.append(last - at)
        assert any(begin - BLINK_S < at < end + RAISED_S for begin, end in phases), f"no clock ever showed this: {row}"
        last = at
    return steps


def check_lists(shop, load):
    """Every refund is listed once, by time and then as committed, and the lists of ranges add up to the whole."""
    listed = shop.refunds().json
    assert [row["createdAt"] for row in listed] == sorted(row["createdAt"] for row in listed)
    assert len({row["id"] for row in listed}) == len(listed)
    assert {row["transactionReference"] for row in listed} == set(load.refunded)
    cuts = sorted({row["createdAt"] for row in listed})
    middle = cuts[len(cuts) // 2]
    before = (datetime.fromisoformat(middle.replace("Z", "+00:00")) - timedelta(milliseconds=1)).isoformat(
        timespec="milliseconds").replace("+00:00", "Z")
    parts = shop.refunds("2000-01-01", before).json + shop.refunds(middle, "2099-12-31").json
    assert parts == listed
    return len(listed)


@pytest.mark.parametrize("acquirer", ["simulator", "counter"])
def test_clock_is_set_while_charging(server, acquirer):
    """An hour back and ahead while clients charge: order and uniqueness hold, and so does the pace."""
    httpd, clock = make_server(server, counter() if acquirer == "counter" else "")
    shop = httpd.shop()
    number = seed()
    chance = random.Random(number)
    phases, paces, want = [], [], size(100, 500)
    # A second and a half is made good by raising; an hour is believed.
    by = [0, -HOUR, -HOUR - 1.5, -HOUR, HOUR, 0] + [chance.randrange(-6, 7) * HOUR / 2 for _ in range(size(0, 60))]
    begun = time.time()
    with Load(shop, CLIENTS, chance) as load:
        for seconds in by:
            begin, started = time.time() + seconds if phases else begun, time.monotonic()
            clock.set(seconds)
            load.wait_for_more(want)
            paces.append(want / (time.monotonic() - started))
            phases.append((begin, time.time() + seconds))
    rows = sorted(verify(load, counted=acquirer == "counter").values(), key=lambda row: row["id"])
    steps = check_times(rows, phases)
    logged = [int(ms) for ms in STEP.findall(httpd.log_text())]
    assert len(logged) >= len(steps) >= sum(after < before - 3 for before, after in zip(by, by[1:])), (logged, steps)
    # 408: mod_reqtimeout, which reads the wall clock, when that is set while a request is being read.
    assert not {one.status for one in load.tries} - {None, 200, 408}, "a clock that is set is no reason to refuse"
    assert max(one.took for one in load.tries) < PAUSE_MAX_S
    listed = check_lists(shop, load)
    print(f"PAYMENTS_FAULTS: the clock set {len(by)} times, {acquirer}, PAYMENTS_SEED={number}: {len(rows)} charges, "
          f"{listed} refunds, {len(steps)} rows earlier than the one before them, {min(paces):.0f} to "
          f"{max(paces):.0f} charges/s")


def test_pending_charges_are_settled(server):
    """Reconciliation finds what is pending by the wall clock: what was made by the new time, and later what was not."""
    httpd, clock = make_server(server)
    shop = httpd.shop()

    def pend(count):
        answers = [shop.charge(token="tok_test_timeout", reference=reference()) for _ in range(count)]
        assert {answer.status for answer in answers} == {202}
        return {answer.json["data"]["reference"] for answer in answers}

    def settled(names):
        rows = charges(shop)
        return all(rows[name]["status"] == "successful" for name in names)

    old = pend(5)
    clock.set(-HOUR)
    new = pend(5)
    wait_for(lambda: settled(new), "what was made by the new time to be settled")
    clock.set(HOUR)
    newest = pend(5)
    wait_for(lambda: settled(old | new | newest), "all to be settled")
