# SPDX-License-Identifier: Apache-2.0
"""64 clients refund the same charge at once while children are killed: no cent too much, none lost."""

import functools
import http.client
import os
import random
import secrets
import signal
import threading
import time
from decimal import Decimal

import pytest

from harness import KILLED, WAIT_S, beside, reference


CLIENTS = 64
CHARGE = Decimal("20000.00")
WORKERS = {
    # In flight at once may be an eighth of MaxRequestWorkers (docs/operations.md).
    "event": "StartServers 2\nServerLimit 4\nThreadsPerChild 32\nThreadLimit 32\nMaxRequestWorkers 128\n"
             "MinSpareThreads 64\nMaxSpareThreads 128",
    "prefork": "StartServers 40\nMinSpareServers 20\nMaxSpareServers 80\nMaxRequestWorkers 100",
}


class Race:
    """One charge and its refunders; over when nothing is left, or a dead child's refund is in the way."""

    def __init__(self, shop, seed):
        self.shop, self.seed = shop, seed
        self.charge = reference()
        assert shop.charge(reference=self.charge, amount=str(CHARGE)).status == 200
        self.acknowledged = {}  # refundReference -> amount
        self.strange = []
        self.operations = 0
        self.lock = threading.Lock()
        self.blocked = threading.Event()  # a refund stays pending: its worker died

    def run(self, number):
        chance = random.Random(f"{self.seed} {number}")
        connection, most = None, 60000
        while True:
            amount = Decimal(chance.randint(1, most)).scaleb(-2)
            key = secrets.token_hex(16)
            while True:  # until this one refund was made or refused
                try:
                    connection = connection or self.shop.httpd.connect()
                    answer = self.shop.call("POST", "/api/v1/partial-refund",
                                            {"reference": self.charge, "amount": str(amount)},
                                            headers={"Idempotency-Key": key}, connection=connection)
                except (OSError, http.client.HTTPException):
                    connection = None  # the child died: the outcome is queried with the same key
                    time.sleep(chance.random() / 50)
                    continue
                with self.lock:
                    self.operations += 1
                code = answer.json["data"]["responseCode"] if answer.status != 200 else ""
                if answer.status == 503 or code == "D2" or (code == "R4" and not self.blocked.is_set()):
                    time.sleep(chance.random() / 10)
                    continue
                break
            if answer.status == 200:
                self.note(answer.json, amount)
            elif code == "R3" or (code == "R4" and self.blocked.is_set()):
                return
            elif code == "R2":
                most = max(1, most // 2)
            else:
                self.strange.append(answer)
                return

    def note(self, record, amount):
        with self.lock:
            assert record["refundReference"] not in self.acknowledged
            self.acknowledged[record["refundReference"]] = amount
        if Decimal(record["amount"]) != amount:
            self.strange.append(record)
        if record["status"] == "pending":
            self.blocked.set()

    def left(self):
        with self.lock:
            return CHARGE - sum(self.acknowledged.values())

    def wait_for_progress(self, part):
        """Until a part of the charge was refunded; False when that is no longer to be expected."""
        end = time.monotonic() + 60
        while self.left() > CHARGE * (1 - part):
            if self.blocked.is_set():
                return False
            assert time.monotonic() < end, f"no progress: {self.left()} left, {self.strange[:3]}"
            time.sleep(0.005)
        return True


def murder(httpd, chance):
    try:
        os.kill(chance.choice(httpd.pids()), signal.SIGKILL)
    except ProcessLookupError:
        return 0  # a child that was about to end by itself
    return 1


def one_round(httpd, shop, chance, kills_wanted):
    """Returns the race when all its clients are done, and how many children were killed."""
    race = Race(shop, chance.random())
    refunders = [beside(functools.partial(race.run, number)) for number in range(CLIENTS)]
    kills = 0
    for kill in range(kills_wanted):
        if race.wait_for_progress(Decimal(kill + 1) / (kills_wanted + 1)):
            kills += murder(httpd, chance)
    for one in refunders:
        one.result(2 * WAIT_S)
    return race, kills


def check(shop, races):
    """What was acknowledged is what is stored, and no charge gave more than it had."""
    stored = {}
    for record in shop.refunds().json:
        stored.setdefault(record["transactionReference"], {})[record["refundReference"]] = record
    for race in races:
        assert not race.strange, race.strange[:3]
        rows = stored.get(race.charge, {})
        assert {ref: Decimal(row["amount"]) for ref, row in rows.items()} == race.acknowledged
        held = sum(Decimal(row["amount"]) for row in rows.values() if row["status"] in ("pending", "processed"))
        assert held <= CHARGE
        seen = shop.call("GET", f"/api/v1/transaction/{race.charge}/verify").json["data"]
        assert Decimal(str(seen["refundedAmount"])) + Decimal(str(seen["refundsPendingAmount"])) == held
        if not race.blocked.is_set():
            assert held == CHARGE, "every client was told that nothing is left"
            assert seen["status"] == "reversed"
    done = shop.httpd.ctl("store", "check", check=False)
    assert (done.returncode, done.stdout) == (0, ""), done.stdout


def run(server, mpm, rounds, kills_a_round):
    httpd = server(mpm=mpm, threads=WORKERS[mpm])
    httpd.expect_log(KILLED)
    shop = httpd.shop()
    seed = int(os.environ.get("PAYMENTS_SEED", secrets.randbelow(1 << 32)))
    chance = random.Random(seed)
    races, kills = [], 0
    for _ in range(rounds):
        race, killed = one_round(httpd, shop, chance, kills_a_round)
        races.append(race)
        kills += killed
    check(shop, races)
    print(f"\nPAYMENTS_SEED={seed} {mpm}: {CLIENTS} clients, {len(races)} charges of {CHARGE}, "
          f"{sum(r.operations for r in races)} calls, {sum(len(r.acknowledged) for r in races)} refunds, "
          f"{kills} children killed, {sum(r.blocked.is_set() for r in races)} charges left to reconciliation, "
          f"{sum(CHARGE - r.left() for r in races)} refunded")
    assert kills >= rounds * kills_a_round // 4, "too few children were killed to prove anything"


@pytest.mark.parametrize("mpm", ["event", "prefork"])
def test_sixty_four_clients_refund_one_charge(server, mpm):
    run(server, mpm, rounds=4, kills_a_round=2)


@pytest.mark.faults
@pytest.mark.parametrize("mpm", ["event", "prefork"])
def test_sixty_four_clients_refund_many_charges(server, mpm):
    run(server, mpm, rounds=60, kills_a_round=3)
