# SPDX-License-Identifier: Apache-2.0
"""Clients that charge and refund without pause until each request has its answer, and what must be true afterwards."""

import collections
import decimal
import http.client
import json
import os
import random
import secrets
import threading
import time

from conftest import loaded
from harness import WAIT_S, wait_for
from raw_lmdb import dead_readers

PAUSE_S = 0.02  # before a request is sent again
RETRY_S = 3 * WAIT_S  # within which each request must have its answer
REFUNDS = 10  # one charge of so many is refunded at once
DECLINES = 10
REPLAYS = 10
RECONNECTS = 10
TIMEOUT = "PaymentsAcquirerTimeout 1s"
# Rows of processes that died are asked about once nobody can be at work on them: after 5, 1 (TIMEOUT) and 30 s.
DECIDED_S = 36 + 2 * WAIT_S
COUNTER = 'LoadModule acquirer_counter_module {module}\nCounterFile counter\nCounterDelay {delay}\n'

# One request that was sent: when, for how long, what was answered (None: nothing), to which path, for which reference;
# `replayed`: with what was answered before.
Try = collections.namedtuple("Try", "at took status path reference retry_after replayed")


def seed():
    """The seed of this run; print it."""
    return int(os.environ.get("PAYMENTS_SEED", secrets.randbelow(1 << 32)))


def counter(delay=0):
    """Configuration that makes every charge go to an acquirer outside the transaction, which counts it."""
    return COUNTER.format(module=loaded("faults/mod_acquirer_counter"), delay=delay)


def calls(httpd):
    """What the acquirer was asked to do, as a Counter of (verb, reference)."""
    return collections.Counter(tuple(line.split()) for line in (httpd.root / "counter").read_text().splitlines())


class Load:
    """`clients` threads, each with one connection that it keeps; use it as a context."""

    def __init__(self, shop, clients=8, chance=None):
        self.shop, self.httpd = shop, shop.httpd
        self.charged, self.refunded = {}, {}  # by reference: what was acknowledged
        self.asked, self.asked_refunds = {}, {}
        self.tries, self.failures = [], []
        self.halt = threading.Event()
        start = (chance or random.Random(seed())).randrange(1 << 32)
        self.threads = [threading.Thread(target=self.run, args=(random.Random(start + n),), daemon=True)
                        for n in range(clients)]

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, kind, *_):
        self.halt.set()
        for thread in self.threads:
            thread.join(RETRY_S + WAIT_S)
        assert not any(thread.is_alive() for thread in self.threads)
        assert kind or not self.failures, self.failures[:3]

    def run(self, chance):
        client = Client(self)
        while not self.halt.is_set() and not self.failures:
            try:
                self.shop_once(client, chance)
            except Exception as failure:  # pylint: disable=broad-except # it is the test that must fail
                self.failures.append(repr(failure))
        client.close()

    def shop_once(self, client, chance):
        """One charge; at times the same again, or a refund of it."""
        if chance.randrange(RECONNECTS) == 0:
            client.close()  # so that none stays with one child for good
        reference = f"ref-{chance.randrange(1 << 64):016x}"
        token = "tok_test_declined" if chance.randrange(DECLINES) == 0 else "tok_test_success"
        body = {"token": token, "amount": chance.randrange(100, 100000000) / 100, "email": "ada@example.com",
                "reference": reference}
        self.asked[reference] = body
        answer = client.ask("/api/v1/tokenized-card-charge", body, reference)
        self.charged[reference] = answer.json["data"]
        assert answer.status in (200, 202), answer
        if answer.status == 200 and chance.randrange(REPLAYS) == 0:
            again = client.ask("/api/v1/tokenized-card-charge", body, reference)
            assert again.body == answer.body and again.header("idempotent-replayed") == "true", (answer, again)
        if answer.json["data"]["paymentStatus"] == "successful" and chance.randrange(REFUNDS) == 0:
            body = {"reference": reference, "amount": "0.50"}
            self.asked_refunds[reference] = body
            answer = client.ask("/api/v1/partial-refund", body, reference, {"Idempotency-Key": "refund-" + reference})
            assert answer.status == 200, answer
            self.refunded[reference] = answer.json

    def count(self):
        return len(self.charged)

    def wait_for_more(self, number):
        want = self.count() + number
        wait_for(lambda: self.failures or self.count() >= want, f"{number} more charges", RETRY_S)
        assert not self.failures, self.failures[:3]


class Client:
    """One connection, opened again when it breaks. A request goes on until its answer is final."""

    def __init__(self, load):
        self.load, self.connection = load, None

    def close(self):
        if self.connection:
            self.connection.close()
        self.connection = None

    def ask(self, path, body, reference, headers=None):
        end = time.monotonic() + RETRY_S
        while True:
            answer = self.once(path, body, reference, headers)
            if answer and not is_passing(answer):
                return answer
            assert time.monotonic() < end, f"no answer in {RETRY_S} s: {answer}"
            time.sleep(PAUSE_S)

    def once(self, path, body, reference, headers):
        """The answer, or None when the connection broke."""
        at, answer = time.monotonic(), None
        try:
            self.connection = self.connection or self.load.httpd.connect()
            answer = self.load.shop.call("POST", path, body, headers=headers, connection=self.connection)
        except (OSError, http.client.HTTPException):
            self.close()
        self.load.tries.append(Try(at, time.monotonic() - at, answer.status if answer else None, path,
                                   reference, answer.header("retry-after") if answer else None,
                                   bool(answer) and answer.header("idempotent-replayed") == "true"))
        return answer


def is_passing(answer):
    """The same request may get another answer later: what a client is told to send again."""
    if answer.status == 409:
        return answer.json["data"]["responseCode"] in ("D2", "R4")
    return answer.status == 408 or answer.status >= 500


# ---- afterwards

def charges(shop):
    rows = json.loads(shop.httpd.ctl("charge", "list", shop.name, "--mode", "test", "--json").stdout)
    ids = {row["id"] for row in rows}
    assert len(ids) == len(rows), "ids repeat"
    # A process that slept between a charge and the acquirer takes the charge back, which says so.
    withdrawn = shop.httpd.log_text().count("PAY00202")
    assert len(rows) <= max(ids, default=0) <= len(rows) + withdrawn, f"ids have gaps, and {withdrawn} were taken back"
    assert len({row["reference"] for row in rows}) == len(rows), "a reference is stored twice"
    return {row["reference"]: row for row in rows}


def refunds(shop):
    rows = json.loads(shop.httpd.ctl("refund", "list", shop.name, "--mode", "test", "--json").stdout)
    for name in "id", "refundReference", "transactionReference":
        assert len({row[name] for row in rows}) == len(rows), f"{name} is listed twice"
    return {row["transactionReference"]: row for row in rows}


def verify_charges(load, rows, pending):
    """Each acknowledged charge is stored as it was acknowledged, and nothing that nobody asked for."""
    assert set(load.charged) <= set(rows), "acknowledged charges are not stored"
    assert set(rows) <= set(load.asked), "charges are stored that nobody asked for"
    for reference, row in rows.items():
        told = load.charged.get(reference)
        assert decimal.Decimal(str(row["amount"])) == decimal.Decimal(str(load.asked[reference]["amount"])), row
        if row["status"] == "pending":
            assert pending, f"pending: {row}"
            assert told is None or told["paymentStatus"] == "pending", (told, row)
            continue
        declined = load.asked[reference]["token"] == "tok_test_declined"
        assert row["status"] == ("failed" if declined else "successful"), row
        if told and told["paymentStatus"] != "pending":
            for name in "id", "amount", "authorizationCode", "createdAt":
                assert row[name] == told[name], (name, told, row)
            assert row["status"] == told["paymentStatus"], (told, row)


def verify_refunds(load, listed, pending):
    assert set(load.refunded) <= set(listed), "acknowledged refunds are not listed"
    assert set(listed) <= set(load.asked_refunds), "refunds are listed that nobody asked for"
    log = load.httpd.log_text()
    for reference, row in listed.items():
        assert row["amount"] == "0.50", row
        if row["status"] == "failed":  # only if its process slept before it asked the acquirer
            assert f"refund {row['refundReference']} was opened too late to be sent" in log, row
        else:
            assert row["status"] == "processed" or pending and row["status"] == "pending", row
        told = load.refunded.get(reference)
        if told:
            assert all(row[name] == told[name] for name in row if name not in ("status", "updatedAt")), (told, row)
            assert told["status"] in ("pending", row["status"]), (told, row)


def verify_calls(httpd, rows, listed):
    """Each charge and each refund was at the acquirer once at most, and only what is stored ever was."""
    asked = calls(httpd)
    names = {row["refundReference"]: row for row in listed.values()}
    for (verb, name), times in asked.items():
        assert times == 1 or verb.endswith("-query"), f"{verb} of {name}: {times} times"
        assert name in (rows if verb.startswith("charge") else names), f"{verb} of {name}, which is not stored"
    for reference, row in rows.items():
        at_acquirer = ("charge", reference) in asked or ("charge-query", reference) in asked
        assert at_acquirer or row["status"] == "pending", f"decided without the acquirer: {row}"


def lost_answers(load):
    """Requests whose first answer is a repetition: what was decided before was sent on a connection that broke."""
    first = {}
    for one in load.tries:
        if one.status is not None:
            first.setdefault((one.path, one.reference), one)
    return [one for one in first.values() if one.replayed]


def verify_order(load, rows):
    """A charge that was asked for after another one was acknowledged has the higher id: ids are commit order."""
    sent, known = {}, {}
    for one in load.tries:
        sent.setdefault(one.reference, one.at)
        if one.status in (200, 202):
            known.setdefault(one.reference, one.at + one.took)
    ended = sorted((at, rows[ref]["id"]) for ref, at in known.items())
    highest = place = 0
    for ref in sorted(known, key=sent.get):
        while place < len(ended) and ended[place][0] < sent[ref]:
            highest = max(highest, ended[place][1])
            place += 1
        assert rows[ref]["id"] > highest, f"{rows[ref]} was committed after one with id {highest} was acknowledged"


def verify_api(load, rows, chance):
    """What the server itself says agrees: of some charges, and of the list of refunds."""
    for reference in chance.sample(sorted(load.charged), min(50, len(load.charged))):
        answer = load.shop.call("GET", f"/api/v1/checkout/{reference}/verify")
        assert answer.status == 200 and answer.json["data"]["status"] == rows[reference]["status"], answer
    assert {row["transactionReference"] for row in load.shop.refunds().json} >= set(load.refunded)


def verify(load, pending=False, counted=False, chance=None):
    """Compares all that was acknowledged with the store. `pending`: charges of dead processes may be undecided."""
    shop = load.shop
    wait_for(lambda: not dead_readers(shop.httpd.store), "readers of dead processes to be cleared")
    rows, listed = charges(shop), refunds(shop)
    verify_charges(load, rows, pending)
    verify_refunds(load, listed, pending)
    verify_order(load, rows)
    verify_api(load, rows, chance or random.Random(0))
    if counted:
        verify_calls(shop.httpd, rows, listed)
    done = shop.httpd.ctl("store", "check", check=False)
    assert (done.returncode, done.stdout) == (0, ""), done.stdout
    return rows


def undecided(shop):
    return [row for row in charges(shop).values() if row["status"] == "pending"] + [
        row for row in refunds(shop).values() if row["status"] == "pending"]
