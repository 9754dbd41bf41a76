# SPDX-License-Identifier: Apache-2.0
"""All that can happen to a server of Live Mode, by chance and at once: in the end both sides hold the same, once.

Clients charge and refund while connections are cut and falsified, processes die, the clock is set, backups are put
back and copies are started beside the original. The acquirer is another mod_payments behind a proxy that counts.
"""

import collections
import contextlib
import json
import os
import random
import re
import shutil
import threading
import time
from datetime import datetime, timedelta, timezone

import pytest

from conftest import size
from harness import SANITIZE, STORE_GONE, wait_for
from load import RETRY_S, is_passing, seed
from raw_lmdb import dead_readers
from test_acquirer import (CHARGE, LATE_AFTER_S, LIVE_TROUBLE, SETTINGS, TIMEOUT_S, TOKENS, PatientClient,
                           Trouble, kill_one, nothing_pending, power_off)
from test_clock_live import DAY, HOUR, YEAR, make_far
from test_killed import CHILDREN
from upstream import PARTIAL, Till, compare, live_reference
from upstream_proxy import Proxy

MODE = ("--mode", "live")
REFUND = "/api/v1/refund"
CLIENTS = 3
PAUSE_S = 0.15  # of a client between two charges, at most
BUSY_S = 3  # that a refund waits for another one
MOVE_S = 1  # between two moves, at most
STEPS = (2 * HOUR, -2 * HOUR, 3 * DAY, -3 * DAY, YEAR, -YEAR)
THEIR_STEPS = STEPS[:4]  # a year of theirs is in test_clock_live: who restores a backup would wait for it
NIGHT = 26 * HOUR  # what waits by a clock that was ahead waits no longer
GIVEN = ("successful", "reversed")
REFUSED = ("R1", "R2", "R3", "R4", "R5")
# Besides: stores that are replaced, by copies too; clocks that are set, so that refunds are dated ahead and not taken yet
# (PAY00442); what is decided late, or waits for a person.
TROUBLE = (f"{LIVE_TROUBLE}|{STORE_GONE}|PAY00150|PAY00160|PAY00171|PAY00172|PAY00201|PAY00210|PAY00231|PAY00234"
           "|PAY00421|PAY00422|PAY00423|PAY00426|PAY00442|PAY00445|PAY00451|PAY00700|PAY00710")
DECIDED_S = 37 + 2 * LATE_AFTER_S + (300 if SANITIZE else 120)


class Client(PatientClient):
    """It gives a refund up where another one stays pending, which may wait for a clock.

    As long as a restored store is held it waits: that is for a person, and no fault of the server.
    """

    def ask(self, path, body, reference, headers=None):
        end, given_up = time.monotonic() + RETRY_S, time.monotonic() + BUSY_S
        while True:
            answer = self.once(path, body, reference, headers)
            if answer and (not is_passing(answer) or time.monotonic() > given_up and code_of(answer) == "R4"):
                return answer
            if answer and is_held(answer):
                end = time.monotonic() + RETRY_S
            assert time.monotonic() < end, f"no answer in {RETRY_S} s: {answer}"
            time.sleep(PAUSE_S)


def is_held(answer):
    return answer.status == 503 and b"restored" in answer.body


def code_of(answer):
    return answer.json["data"]["responseCode"] if answer.status == 409 else None


class Payer(threading.Thread):
    """Charges and gives back, until told to halt; asks again until it is answered."""

    def __init__(self, chaos, chance):
        super().__init__(daemon=True)
        self.chaos, self.chance, self.client = chaos, chance, Client(chaos)

    def run(self):
        while not self.chaos.halt.wait(self.chance.random() * PAUSE_S) and not self.chaos.failures:
            try:
                self.shop_once()
            except Exception as failure:  # pylint: disable=broad-except # it is the test that must fail
                self.chaos.failures.append(repr(failure))
        self.client.close()

    def shop_once(self):
        if self.chance.randrange(10) == 0:
            self.client.close()  # so that none stays with one child for good
        ref = self.chaos.new_reference(self.chance)
        answer = self.charge(ref)
        if answer.json["data"]["paymentStatus"] != "successful":
            return
        for amount in self.chance.choice(((), ("0.50",), ("0.50", "0.25"), (None,), ("0.50", None), ("0.25",))):
            self.give_back(ref, amount)

    def charge(self, ref):
        answer = self.client.ask(CHARGE, self.chaos.asked[ref], ref)
        assert answer.status in (200, 202), answer
        self.chaos.told[ref] = answer.json["data"]
        return answer

    def give_back(self, ref, amount):
        """A part, or all that is left; the store may have been put back since it was charged."""
        path, body = (PARTIAL, {"reference": ref, "amount": amount}) if amount else (REFUND, {"reference": ref})
        key = {"Idempotency-Key": f"refund-{ref}-{amount}"}
        answer = self.client.ask(path, body, ref, key)
        while answer.status == 404:
            self.charge(ref)
            answer = self.client.ask(path, body, ref, key)
        if answer.status == 200:
            self.chaos.given[ref, amount] = answer.json
        else:
            assert code_of(answer) in REFUSED, answer
            self.chaos.done[code_of(answer)] += 1


class Chaos:
    """A shop, its acquirer, and what happens to them."""

    def __init__(self, till, upstream, proxy, chance):
        self.httpd, self.shop, self.upstream, self.proxy, self.chance = till, till.live_shop, upstream, proxy, chance
        self.last = upstream.last()
        self.clocks = till.clock, upstream.clock
        self.asked, self.told, self.given = {}, {}, {}  # charges; what was answered of them, and of refunds
        self.tries, self.failures, self.decided, self.by_tool = [], [], set(), set()
        self.halt, self.lock, self.number = threading.Event(), threading.Lock(), 10000
        self.dated = 0, 0  # how far back and ahead the acquirer may have dated what it made
        self.done = collections.Counter()
        self.backups, self.held, self.others = [], False, []
        self.payers = [Payer(self, random.Random(chance.randrange(1 << 32))) for _ in range(CLIENTS)]

    def new_reference(self, chance):
        """Of a charge that has an amount of its own."""
        ref = live_reference()
        with self.lock:
            self.number += 1
            self.asked[ref] = {"token": chance.choice(TOKENS), "amount": f"{self.number / 100:.2f}",
                               "email": "ada@example.com", "reference": ref}
        return ref

    def ctl(self, *args, **options):
        """On the same machine: its clock is the server's."""
        return self.httpd.ctl(*args, **options)

    # --- moves ---
    def kill(self):
        kill_one(self.httpd, self.chance)

    def power(self):
        power_off(self.httpd)

    def graceful(self):
        self.httpd.graceful()

    def hang_up(self):
        self.proxy.hang_up()

    def refuse(self):
        self.proxy.refuse()
        self.halt.wait(self.chance.random())
        self.proxy.listen()

    def clock(self):
        self.clocks[0].set(self.chance.choice(STEPS) + self.chance.randrange(-600, 600))

    def their_clock(self):
        """The acquirer dates what it makes meanwhile by it, and dates stay."""
        by = self.chance.choice(THEIR_STEPS) + self.chance.randrange(-600, 600)
        self.dated = min(self.dated[0], by), max(self.dated[1], by)
        self.clocks[1].set(by)

    def clock_right(self):
        self.clocks[0].set(0)

    def their_clock_right(self):
        self.clocks[1].set(0)

    def wait_for_dates(self, more=0):
        """Time goes by on both sides until nothing that the acquirer has is dated ahead: before, it is not taken."""
        for clock in self.clocks:
            clock.set(max(self.dated[1] + 600 if self.dated[1] else 0, more))

    def tool(self):
        """A refund that waits until the server sends it."""
        refs = [ref for ref, told in list(self.told.items())
                if told["paymentStatus"] == "successful" and ref not in self.by_tool]
        if refs:
            ref = self.chance.choice(refs[-30:])
            self.by_tool.add(ref)  # another one of this amount would be meant
            self.ctl("refund", "create", "shop", *MODE, "--reference", ref, "--amount", "0.75", check=False)

    def sync(self):
        """Of the days of both clocks; while answers are falsified it may have to be asked for again.

        A clock that is behind is set right first, or what is dated ahead of it is not taken; and so is one that is far
        away, as a year is fetched in many pieces. Where the acquirer's was wrong, that takes as long as it was ahead.
        """
        if self.dated != (0, 0):
            self.wait_for_dates()
        elif self.clocks[0].by < 0 or self.clocks[0].by > 4 * DAY:
            self.clock_right()
        now = datetime.now(timezone.utc)
        days = [str((now + timedelta(seconds=by, days=more)).date())
                for by in (0, self.clocks[0].by, *self.dated) for more in (-2, 1)]
        command = ("refund", "sync", "shop", *MODE, "--from", min(days), "--to", max(days))
        return wait_for(lambda: self.ctl(*command, check=False).returncode == 0, "the refunds to be fetched", RETRY_S)

    def confirm(self):
        """As the tool says."""
        if not self.held:
            return
        self.sync()
        done = self.ctl("store", "confirm", "--yes", check=False)
        if done.returncode == 3:
            self.wait_for_dates()  # what the acquirer has of later than now was not taken
            command = re.search(r"'paymentsctl (refund sync .*?)'", done.stderr)[1].split()
            with self.quiet():
                self.ctl(*command)
            done = self.ctl("store", "confirm", "--yes", check=False)
        assert done.returncode == 0 and "sent again" in done.stderr, done
        self.held = False

    @contextlib.contextmanager
    def quiet(self):
        """While a year is fetched, in a hundred pieces: each that fails is asked for again 10 s later, or later still."""
        trouble, self.proxy.default = self.proxy.default, lambda exchange: None
        try:
            yield
        finally:
            self.proxy.default = trouble

    def backup(self):
        path = self.httpd.root / f"backup-{len(self.backups)}"
        self.ctl("store", "backup", path)
        self.backups.append(path)

    def own_as_server(self, path):
        owner = os.stat(self.httpd.store)
        for one in (path, *path.iterdir()):
            os.chown(one, owner.st_uid, owner.st_gid)

    def put_back(self):
        """One of the last backups, moved into place or over the file; what was on its way has arrived by then."""
        if self.chance.randrange(2):
            self.httpd.stop()
        else:
            power_off(self.httpd)
            self.httpd.stop()
        wait_for(lambda: all(one.ended for one in list(self.proxy.exchanges)), "what is on its way to arrive")
        copy = self.chance.choice(self.backups[-3:])
        if self.chance.randrange(2):
            shutil.copy(copy / "data.mdb", self.httpd.store / "data.mdb")
        else:
            fresh = self.httpd.root / "fresh"
            shutil.copytree(copy, fresh)
            self.own_as_server(fresh)
            shutil.move(self.httpd.store, self.httpd.root / f"lost-{live_reference()}")
            shutil.move(fresh, self.httpd.store)
        self.httpd.start()
        self.held = True

    def beside(self, make):
        """A copy serves for a while, and gives nothing back."""
        copy = self.httpd.root / f"beside-{live_reference()}"
        self.ctl("store", "backup", copy)
        self.own_as_server(copy)
        other = make()
        shutil.rmtree(other.store)
        shutil.move(copy, other.store)
        other.clock.write(self.httpd.clock.hands)
        other.start()
        other.live_shop.secret = self.shop.secret
        payer = Payer(self, self.chance)
        payer.client.load = Beside(other.live_shop)
        ref = self.new_reference(self.chance)
        told = payer.charge(ref).json["data"]
        if told["paymentStatus"] == "successful":
            said = other.live_shop.partial(ref, "0.33")
            assert is_held(said), said
        payer.client.close()
        other.stop()
        self.others.append(other)

    # --- the end ---
    def end(self):
        """The clocks are right, the faults and the clients end."""
        self.halt.set()
        self.clock_right()
        self.their_clock_right()
        self.proxy.heal()
        self.confirm()
        for payer in self.payers:
            payer.join(2 * RETRY_S)
        assert not self.failures, self.failures[:3]

    def send_again(self):
        """Every charge: what is not here any more comes back as the acquirer has it."""
        payer = Payer(self, self.chance)
        for ref in self.asked:
            payer.charge(ref)
        payer.client.close()

    def settle(self):
        """A night goes by on both sides; a person decides what the acquirer has under another time."""
        self.wait_for_dates(self.dated[1] + NIGHT)

        def done():
            for row in self.shop.rows_held():
                if row["why"] == "different":
                    self.decide(row["kind"], row["reference"])
            return nothing_pending(self.shop)

        wait_for(done, "nothing to be pending", DECIDED_S)

    def decide(self, noun, name):
        """By what the acquirer's books say."""
        shown = json.loads(self.ctl(noun, "show", "shop", name, *MODE, "--json").stdout)
        if noun == "charge":
            there = self.upstream.charges(self.last).get(shown["acquirerReference"])
            waits = there and there["status"] == "pending"
            outcome = "successful" if there and there["status"] in GIVEN else "failed"
        else:
            there = [row for row in self.upstream.rows("refund") if shown["tag"] in (row["merchantNote"] or "")]
            waits = there and there[0]["status"] == "pending"
            outcome = "processed" if there and there[0]["status"] == "processed" else "failed"
        if waits:
            return  # for the acquirer
        self.decided.add(name)
        self.ctl(noun, "resolve", "shop", name, *MODE, "--outcome", outcome, "--reason", "seen there")

    def differences(self):
        """A person does not know the acquirer's code of authorization."""
        return [one for one in compare(self.shop, self.upstream, self.last)
                if not (one.startswith("authorizationCode differ") and any(name in one for name in self.decided))]

    def check_told(self):
        """What was acknowledged is there, and what was given back is given back there."""
        theirs = self.upstream.charges(self.last)
        rows = {row["reference"]: row for row in self.shop.rows("charge")}
        assert set(rows) == set(self.asked)
        for ref, told in self.told.items():
            assert told["id"] and f"{rows[ref]['amount']:.2f}" == self.asked[ref]["amount"], (told, rows[ref])
        names = {f"{row['amount']:.2f}": row["reference"] for row in theirs.values()}
        given = {(row["transactionReference"], row["amount"]) for row in self.upstream.rows("refund")
                 if row["status"] == "processed"}
        for (ref, _), told in self.given.items():
            if told["status"] == "processed":
                assert (names[self.asked[ref]["amount"]], told["amount"]) in given, told

    def check_totals(self):
        """The sums here are those of the acquirer's rows."""
        rows = json.loads(self.ctl("totals", "shop", *MODE, "--by", "month", "--json").stdout)
        theirs = self.upstream.charges(self.last).values()
        paid = [row for row in theirs if row["status"] in GIVEN]
        assert sum(row["charges"] for row in rows) == len(paid)
        assert round(sum(float(row["charged"]) for row in rows), 2) == round(sum(row["amount"] for row in paid), 2)
        assert (round(sum(float(row["refunded"]) for row in rows), 2)
                == round(sum(row["refundedAmount"] for row in paid), 2))

    def check_sent(self):
        """No refund twice, and all with tags; a charge only where the store did not know that it was."""
        copies = 1 + self.done["put_back"] + self.done["beside"]
        assert not {what: times for what, times in self.proxy.posts.items()
                    if times > (1 if what[0] == "refund" else copies)}
        assert all(name for _, name in self.proxy.posts), "a refund without a tag"


class Beside:
    """What a client needs to know of a copy."""

    def __init__(self, shop):
        self.shop, self.httpd, self.tries = shop, shop.httpd, []


@pytest.fixture(scope="module")
def far(authority):
    made = make_far(authority)
    yield made
    made.close()


@pytest.fixture
def make_till(authority, far):
    """Servers of one shop, at one acquirer, and the proxy between."""
    made = []
    with Proxy(authority, far.port) as proxy:
        def make():
            one = Till(proxy.url, far.key, authority, clock=True, threads=CHILDREN["event"], sync="2s",
                       parameters=f"timeout={TIMEOUT_S}s", host_extra=SETTINGS)
            one.expect_log(TROUBLE, always=True)
            made.append(one)
            return one

        yield make, proxy
        for one in made:
            one.close()


MOVES = (*("kill",) * 3, *("clock",) * 4, *("their_clock",) * 2, *("tool",) * 3, *("backup",) * 2, *("put_back",) * 2,
         "clock_right", "their_clock_right", "power",
         "graceful", "hang_up", "refuse", "sync", "beside")


def test_chaos(make_till, far):
    number, started = seed(), time.monotonic()
    print(f"PAYMENTS_SEED={number}")
    chance = random.Random(number)
    make, proxy = make_till
    httpd = make()
    chaos = Chaos(httpd, far, proxy, chance)
    httpd.start()
    assert httpd.live_shop.secret
    trouble = proxy.default = Trouble(random.Random(chance.randrange(1 << 32)))
    for payer in chaos.payers:
        payer.start()
    wait_for(lambda: len(chaos.told) > 5, "some charges")
    chaos.backup()
    for _ in range(size(1, 15)):
        for move in chance.sample(MOVES, len(MOVES)):
            print(f"{time.monotonic() - started:.1f} {move}")
            getattr(chaos, move)(*([make] if move == "beside" else []))
            chaos.done[move] += 1
            chaos.halt.wait(chance.random() * MOVE_S)
            if chance.randrange(2):
                chaos.confirm()
            assert not chaos.failures, chaos.failures[:3]
    chaos.end()
    chaos.send_again()
    chaos.settle()
    chaos.sync()
    differences = chaos.differences()
    print(f"PAYMENTS_FAULTS: {len(chaos.asked)} charges, {len(chaos.given)} refunds, {dict(chaos.done)}, "
          f"{dict(trouble.done)}, differences: {len(differences)}, PAYMENTS_SEED={number}, "
          f"{time.monotonic() - started:.0f} s")
    print(*differences, sep="\n")
    assert not differences
    chaos.check_told()
    chaos.check_totals()
    chaos.check_sent()
    assert not chaos.shop.rows_held()
    wait_for(lambda: not dead_readers(httpd.store), "readers of dead processes to be cleared")
    done = httpd.ctl("store", "check", check=False)
    assert (done.returncode, done.stdout) == (0, ""), done.stdout
