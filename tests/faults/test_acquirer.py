# SPDX-License-Identifier: Apache-2.0
"""Live Mode while the way to the acquirer breaks and children die: in the end both sides hold the same, once.

The acquirer is another mod_payments behind TLS; a proxy before it counts what is sent, and cuts, delays and falsifies.
"""

import collections
import concurrent.futures
import contextlib
import itertools
import json
import os
import random
import signal
import threading
import time

import pytest

from conftest import FULL, size
from harness import SANITIZE, wait_for
from load import PAUSE_S, RETRY_S, Client, Load, is_passing, seed
from raw_lmdb import dead_readers
from test_killed import CHILDREN, DIED
from test_live_faults import HTML, passed
from upstream import ACQUIRER_CUT, FETCH_CUT, PARTIAL, compare, live_reference
from upstream_proxy import Fault, Hold, own, problem

CHARGE = "/api/v1/tokenized-card-charge"
TIMEOUT_S = 2
LATE_AFTER_S = 6  # a delayed request arrives long before that
SETTINGS = f"PaymentsAcquirerLateAfter {LATE_AFTER_S}s\nPaymentsFailureLimit off\n"  # one payer, who is declined often
CLIENTS = 12
REQUEST_BYTES, ANSWER_BYTES = 800, 2000  # a little more than there are
TOOL = 25  # one refund of so many is made by paymentsctl
TOKENS = ("acq_success",) * 17 + ("acq_declined", "acq_insufficient", "acq_pending")
# Cut calls and lists, refunds that could not be sent or were claimed too late, ten failures in a row; and children that
# are killed.
LIVE_TROUBLE = f"{DIED}|AH00098|{ACQUIRER_CUT}|{FETCH_CUT}|PAY00212|PAY00427|PAY00428|PAY00454"
# Rows of processes that died are asked about once nobody can be at work on them: after 5, TIMEOUT_S and 30 s.
DECIDED_S = 37 + 2 * LATE_AFTER_S + (300 if SANITIZE else 120)
APART_S = 240  # as far as clocks may be apart before nobody believes an absence


class Trouble:
    """What happens to each exchange, drawn by the seed; counts what it did."""

    def __init__(self, chance):
        self.chance, self.done = chance, collections.Counter()

    def __call__(self, exchange):
        drawn = self.chance.random()
        if exchange.kind in ("charge", "refund"):
            return self.of_work(drawn)
        return self.of_question(drawn)

    def draw(self, name, fault):
        self.done[name] += 1
        return fault

    def of_work(self, drawn):
        chance, gently = self.chance, self.chance.random() < 0.5
        if drawn < 0.06:
            return self.draw("cut", Fault(request_bytes=chance.randrange(REQUEST_BYTES), gently=gently))
        if drawn < 0.14:
            return self.draw("cut", Fault(answer_bytes=chance.randrange(ANSWER_BYTES), gently=gently))
        if drawn < 0.16:
            return self.draw("own", own(500, HTML, "text/html"))
        if drawn < 0.17:
            return self.draw("own", own(200, HTML, "text/html"))
        if drawn < 0.173:
            return self.draw("own", own(429, problem("L1", "Too many requests."), more="Retry-After: 1\r\n"))
        if drawn < 0.185:
            return self.draw("delay", Fault(before=TIMEOUT_S + chance.random()))
        if drawn < 0.19:
            return self.draw("delay", Fault(after=TIMEOUT_S + chance.random()))
        if drawn < 0.25:
            return self.draw("delay", Fault(before=chance.random() / 5, after=chance.random() / 5))
        return None

    def of_question(self, drawn):
        if drawn < 0.05:
            return self.draw("cut", Fault(answer_bytes=self.chance.randrange(ANSWER_BYTES)))
        if drawn < 0.10:
            return self.draw("own", own(502, HTML, "text/html"))
        if drawn < 0.12:
            return self.draw("own", own(404, HTML, "text/html"))
        if drawn < 0.15:
            return self.draw("delay", Fault(before=self.chance.random() / 5))
        return None


class PatientClient(Client):
    """It comes again when it is told to, at the latest."""

    def ask(self, path, body, reference, headers=None):
        end = time.monotonic() + RETRY_S
        while True:
            answer = self.once(path, body, reference, headers)
            if answer and not is_passing(answer):
                return answer
            assert time.monotonic() < end, f"no answer in {RETRY_S} s: {answer}"
            time.sleep(PAUSE_S * 5 if answer else PAUSE_S)


class LiveLoad(Load):
    """Clients that charge and refund in Live Mode until there are so many; no two amounts are alike."""

    def __init__(self, shop, charges, refunds, chance):
        super().__init__(shop, CLIENTS, chance)
        self.want_charges, self.want_refunds = charges, refunds
        self.numbers, self.lock = itertools.count(10000), threading.Lock()

    def run(self, chance):
        client = PatientClient(self)
        while not self.done() and not self.halt.is_set() and not self.failures:
            try:
                self.shop_once(client, chance)
            except Exception as failure:  # pylint: disable=broad-except # it is the test that must fail
                self.failures.append(repr(failure))
        client.close()

    def done(self):
        return len(self.charged) >= self.want_charges and len(self.refunded) >= self.want_refunds

    def shop_once(self, client, chance):
        if chance.randrange(10) == 0:
            client.close()  # so that none stays with one child for good
        with self.lock:
            number = next(self.numbers)
        ref = live_reference()
        body = {"token": chance.choice(TOKENS), "amount": f"{number / 100:.2f}", "email": "ada@example.com",
                "reference": ref}
        self.asked[ref] = body
        answer = client.ask(CHARGE, body, ref)
        assert answer.status in (200, 202), answer
        self.charged[ref] = answer.json["data"]
        if answer.status == 200 and chance.randrange(10) == 0:
            again = client.ask(CHARGE, body, ref)
            assert again.body == answer.body and again.header("idempotent-replayed") == "true", (answer, again)
        wants = self.want_refunds / self.want_charges * 1.5
        if self.charged[ref]["paymentStatus"] == "successful" and chance.random() < wants:
            self.refund(client, ref, chance)

    def refund(self, client, ref, chance):
        """Two of different amounts, or one; at times by the tool."""
        if chance.randrange(TOOL) == 0:
            self.refunded[ref, "by the tool"] = self.shop.refund(ref, "0.75")
            return
        for amount in ("0.50", "0.25")[:chance.randrange(1, 3)]:
            body = {"reference": ref, "amount": amount}
            answer = client.ask(PARTIAL, body, ref, {"Idempotency-Key": f"refund-{ref}-{amount}"})
            assert answer.status == 200, answer
            self.refunded[ref, amount] = answer.json
            if answer.json["status"] == "pending":
                return  # another one meanwhile is refused, until it is decided


def nothing_pending(shop):
    return not [row for noun in ("charge", "refund") for row in shop.rows(noun) if row["status"] == "pending"]


def until_decided(httpd, proxy, shop):
    """Time passes for the shop's server until nothing is pending, once no delayed request is on its way any more."""
    delayed = [one for one in list(proxy.exchanges) if not one.ended]
    wait_for(lambda: all(one.ended for one in delayed), "what was delayed to arrive")

    wait_for(lambda: httpd.clock.pass_unless(nothing_pending(shop), 1 if httpd.clock.by < APART_S else 0),
             "nothing to be pending", DECIDED_S)


def kill_one(httpd, chance):
    with contextlib.suppress(ProcessLookupError, IndexError):
        os.kill(chance.choice(httpd.pids()), signal.SIGKILL)
        return 1
    return 0


def power_off(httpd):
    """SIGKILL to every process at once, and the server is started anew."""
    pids = [httpd.process.pid, *httpd.pids()]  # the parent first: it would replace the others
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    httpd.process.wait()
    httpd.start()


def verify_told(load, shop):
    """What was acknowledged is what it came to, and nothing is stored that nobody asked for."""
    rows = {row["reference"]: row for row in shop.rows("charge")}
    assert set(load.charged) <= set(rows) <= set(load.asked)
    for ref, told in load.charged.items():
        row = rows[ref]
        assert f"{row['amount']:.2f}" == load.asked[ref]["amount"], (load.asked[ref], row)
        if told["paymentStatus"] != "pending":
            now = "successful" if row["status"] == "reversed" else row["status"]
            assert (told["paymentStatus"], told["authorizationCode"], told["id"]) == (
                now, row["authorizationCode"], row["id"]), (told, row)
    listed = {row["refundReference"]: row for row in shop.rows("refund")}
    for told in load.refunded.values():
        row = listed[told["refundReference"]]
        assert told["status"] in ("pending", row["status"]) and told["amount"] == row["amount"], (told, row)
    return rows, listed


def test_acquirer(till, upstream, proxy):
    """Every fault at once, children killed at any step, reloads, and in full all processes killed together."""
    charges, refunds, kills, restarts = size(300, 5000), size(120, 2000), size(6, 100), size(1, 10)
    number, started = seed(), time.monotonic()
    chance = random.Random(number)
    print(f"PAYMENTS_SEED={number}")
    last = upstream.last()
    # Refunds are fetched meanwhile too, those that are at the acquirer just now among them.
    httpd = till(threads=CHILDREN["event"], parameters=f"timeout={TIMEOUT_S}s", host_extra=SETTINGS, sync="2s",
                 clock=True)
    httpd.expect_log(LIVE_TROUBLE)
    shop, killed, restart_at = httpd.live_shop, 0, set(chance.sample(range(1, kills + 1), restarts))
    trouble = proxy.default = Trouble(random.Random(chance.randrange(1 << 32)))
    with LiveLoad(shop, charges, refunds, chance) as load:
        for step in range(1, kills + 1):
            wait_for(lambda step=step: load.failures or load.count() >= charges * step // (kills + 1),
                     "more charges", RETRY_S)
            killed += kill_one(httpd, chance)
            if step in restart_at:
                httpd.graceful()
            if FULL and step % 25 == 0:  # what a dead reconciliation had taken is asked about a minute later
                power_off(httpd)
        wait_for(lambda: load.failures or load.done(), "all charges and refunds", size(120, 1800))
    assert not load.failures, load.failures[:3]
    left = sum(row["status"] == "pending" for noun in ("charge", "refund") for row in shop.rows(noun))
    proxy.heal()
    until_decided(httpd, proxy, shop)
    differences = compare(shop, upstream, last)
    rows, listed = verify_told(load, shop)
    took = time.monotonic() - started
    done = trouble.done
    print(f"PAYMENTS_FAULTS: {len(rows)} charges, {len(listed)} refunds, {done['cut']} cuts, {done['delay']} delays, "
          f"{done['own']} false answers, {killed} kills, {restarts} reloads, {left} left pending, "
          f"{len(proxy.of('query'))} questions, differences: {len(differences)}, PAYMENTS_SEED={number}, {took:.0f} s")
    assert not differences, differences[:5]
    assert not proxy.repeated(), proxy.repeated()
    assert all(name for _, name in proxy.posts), "a refund without a tag"
    assert not shop.rows_held()
    assert len(rows) >= charges and len(listed) >= refunds and killed >= kills - 1
    wait_for(lambda: not dead_readers(httpd.store), "readers of dead processes to be cleared")
    done = httpd.ctl("store", "check", check=False)
    assert (done.returncode, done.stdout) == (0, ""), done.stdout


def cut_everywhere(exchange, stride, start):
    """Faults that end the connection at each `stride`th byte of request and answer, in order and with no word."""
    return [*(Fault(request_bytes=k, gently=k % 2 == 1) for k in range(start, len(exchange.request) + 1, stride)),
            *(Fault(answer_bytes=k, gently=k % 2 == 1) for k in range(start, len(exchange.answer) + 1, stride))]


def all_cut(proxy, kind, faults, act):
    """`act(number)` of several clients until each fault has happened, a good call behind each; the answers."""
    proxy.next(kind, *itertools.chain.from_iterable((fault, None) for fault in faults))
    numbers, answers = itertools.count(), {}

    def run():
        while proxy.plan[kind]:
            number = next(numbers)
            answers[number] = act(number)

    with concurrent.futures.ThreadPoolExecutor(CLIENTS // 2) as pool:
        for one in [pool.submit(run) for _ in range(CLIENTS // 2)]:
            one.result()
    assert len(answers) >= 2 * len(faults)
    return answers


@pytest.mark.parametrize("kind", ["charge", "refund"])
def test_cut_at_every_byte(till, upstream, proxy, kind):
    """Of request and answer, in order and with no word; small, at every tenth, from a random one on."""
    number, started, last = seed(), time.monotonic(), upstream.last()
    httpd = till(threads=CHILDREN["event"], parameters=f"timeout={TIMEOUT_S}s",
                 host_extra="PaymentsAcquirerLateAfter 2s\n", clock=True)
    httpd.expect_log(ACQUIRER_CUT)
    shop, sent = httpd.live_shop, {}

    def charge(number):
        sent.setdefault(number, live_reference())
        amount = f"{(1000000 + number) / 100:.2f}"
        return wait_for(lambda: passed(shop.charge(reference=sent[number], amount=amount)), "no 503")

    def refund(number):
        wait_for(lambda: charge(number).status == 200, "a charge to be paid, also where its answer came late")
        return wait_for(lambda: passed(shop.partial(sent[number], "12.34")), "no 503")

    act = charge if kind == "charge" else refund
    act(900000)
    stride = size(10, 1)
    faults = cut_everywhere(proxy.of(kind)[-1], stride, number % stride)
    answers = all_cut(proxy, kind, faults, act)
    assert {answer.status for answer in answers.values()} <= {200, 202}
    until_decided(httpd, proxy, shop)
    differences = compare(shop, upstream, last)
    print(f"PAYMENTS_FAULTS: a {kind} cut at {len(faults)} bytes, differences: {len(differences)}, "
          f"PAYMENTS_SEED={number}, {time.monotonic() - started:.0f} s")
    assert not differences, differences[:5]
    assert not proxy.repeated()
    rows = {row["reference" if kind == "charge" else "refundReference"]: row for row in shop.rows(kind)}
    for answer in answers.values():
        told = answer.json if kind == "refund" else answer.json["data"]
        row = rows[told["reference" if kind == "charge" else "refundReference"]]
        assert told["status"] in ("pending", row["status"]), (told, row)
    assert len(faults) >= 700 // stride


@pytest.mark.parametrize("approval", ["hold", "refund"])
def test_late_approval(till, upstream, proxy, approval):
    """The call arrives after the charge failed here for its absence: its state stays, and the money is seen to."""
    httpd = till(start=False, parameters="timeout=1s",
                 host_extra=f"PaymentsAcquirerLateAfter 1s\nPaymentsLateApproval {approval}\n", clock=True)
    clock, hold, ref = httpd.clock, Hold(), live_reference()
    httpd.expect_log(f"{ACQUIRER_CUT}|PAY00171|PAY00423|PAY00710")
    httpd.start()
    shop = httpd.live_shop
    proxy.next("charge", Fault(hold=hold))
    assert shop.charge(reference=ref).status == 202
    wait_for(lambda: shop.verify(ref)["status"] == "failed", "it to fail for its absence", 60)
    first = shop.charge(reference=ref)
    assert first.status == 200 and first.json["status"] is False
    name = proxy.of("charge")[0].name
    hold.release()
    wait_for(lambda: name in upstream.charges(), "it to arrive late")
    clock.set(6 * 3600 + 60)

    def shown():
        row = json.loads(httpd.ctl("charge", "show", "shop", ref, "--mode", "live", "--json").stdout)
        return row if row["late"] in ("found", "refunded") else None

    row = wait_for(shown, "the late question", 60)
    assert row["status"] == "failed" and row["contradiction"], row
    assert [line for line in httpd.log_text().splitlines() if "payments:alert" in line], "no alert"
    if approval == "hold":
        (held,) = shop.rows_held()
        assert (held["reference"], held["why"], held["status"]) == (ref, "late", "failed")
        assert upstream.charges()[name]["status"] == "successful" and not proxy.of("refund")
        httpd.ctl("charge", "resolve", "shop", ref, "--mode", "live", "--outcome", "failed", "--reason",
                  "given back by hand")
    else:
        assert upstream.charges()[name]["status"] == "reversed"
        assert f"PAY00424: the late approval of charge {ref} was refunded" in httpd.log_text()
        assert proxy.posts[("refund", row["lateTag"])] == 1 and len(proxy.of("refund")) == 1
    assert not shop.rows_held()
    again = shop.charge(reference=ref)
    assert again.body == first.body and again.header("idempotent-replayed") == "true"
    assert shop.verify(ref)["status"] == "failed" and not proxy.repeated()
