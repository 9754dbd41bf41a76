# SPDX-License-Identifier: Apache-2.0
"""Clocks are set in Live Mode, ours and the acquirer's: in the end both sides hold the same, once.

Answers are lost and requests never arrive, and meanwhile the one clock or the other is wrong by hours, days and a year.
"""

import itertools
import time

import pytest

from harness import SANITIZE, charge_body, wait_for
from receiver import INSECURE, Receiver
from upstream import ACQUIRER_CUT, FETCH_CUT, NOT_RECEIVED, Till, Upstream, compare, live_reference
from upstream_proxy import Fault, Proxy, closed_unanswered

HOUR, DAY = 3600, 24 * 3600
YEAR = 365 * DAY
LATE_AFTER_S = 2
SOON_S = 60 if SANITIZE else 30
STEPS = (2 * HOUR, -2 * HOUR, 3 * DAY, -3 * DAY, -YEAR, YEAR)


class Scene:
    """A shop and its acquirer, the clock of each, and what the shop made."""

    def __init__(self, till, upstream, proxy, after):
        self.till, self.upstream, self.proxy, self.shop = till, upstream, proxy, till.live_shop
        self.after = after  # the id of the upstream's last charge before
        self.clocks = {"ours": till.clock, "theirs": upstream.clock}
        self.amounts = itertools.count(10000)
        self.decided = []  # by a person
        self.gone = []  # references of charges and refunds whose requests never arrived

    def charge(self, fault=None):
        """Charges another amount; `fault` is planned for it."""
        if fault:
            self.proxy.plan["charge"].append(fault)
        answer = self.shop.charge(amount=f"{next(self.amounts) / 100:.2f}", reference=live_reference())
        assert answer.status == (202 if fault else 200), answer
        return answer.json["data"]["reference"]

    def refund(self, of, fault, amount="0.50"):
        self.proxy.plan["refund"].append(fault)
        answer = self.shop.partial(of, amount)
        assert (answer.status, answer.json["status"]) == (200, "pending"), answer
        return answer.json["refundReference"]

    def make(self, charges):
        """Lost answers, and requests that never arrive; of charges and of partial refunds."""
        first, second = charges
        self.charge(closed_unanswered())
        self.gone.append(self.charge(Fault(request_bytes=10)))
        self.charge()  # so that nobody takes it for one that is out of order
        self.refund(first, closed_unanswered())
        self.gone.append(self.refund(second, Fault(request_bytes=10)))
        self.charge()

    def make_known(self, ref):
        """One more refund whose answer is lost, so that something is asked about soon."""
        self.refund(ref, closed_unanswered())

    def rows(self):
        return self.shop.rows("charge") + self.shop.rows("refund")

    def check_none_failed(self):
        """Nothing is told failed while a clock is wrong."""
        failed = [row for row in self.rows() if row["status"] == "failed"]
        assert not failed, failed

    def questions(self):
        return sum(one.kind in ("query", "list") for one in list(self.proxy.exchanges))

    def wait_for_questions(self, count):
        before = self.questions()
        wait_for(lambda: self.questions() >= before + count, f"{count} questions")

    def settle(self, passing=True):
        """All is decided within seconds, which are made to pass; what the acquirer has under another time a person
        decides.
        """
        def done():
            for row in self.shop.rows_held():
                if row["why"] == "different":
                    self.decide(row["kind"], row["reference"])
            decided = not [row for row in self.rows() if row["status"] == "pending"]
            for clock in self.clocks.values() if passing else ():
                clock.pass_unless(decided)
            return decided

        wait_for(done, "all to be decided")
        wrong = [one for one in compare(self.shop, self.upstream, self.after) if not self.is_decided(one)]
        assert wrong == []
        rows = {row.get("refundReference") or row["reference"]: row for row in self.rows()}
        failed = {name for name, row in rows.items() if row["status"] == "failed"}
        assert failed == set(self.gone), (failed, self.gone)
        for name in self.gone:
            assert rows[name].get("gatewayResponseMessage", NOT_RECEIVED) == NOT_RECEIVED
        assert set(self.proxy.posts.values()) == {1}, "something was sent twice"

    def is_decided(self, sentence):
        """A person does not know the acquirer's code of authorization."""
        return sentence.startswith("authorizationCode differ") and any(name in sentence for name in self.decided)

    def decide(self, noun, name):
        """By a person, who finds in the acquirer's books what was done at another time; a question may have found it
        since it was listed.
        """
        assert name not in self.gone, f"{noun} {name} is held, and never arrived"
        outcome = "successful" if noun == "charge" else "processed"
        done = self.till.ctl(noun, "resolve", "shop", name, "--mode", "live", "--outcome", outcome, "--reason", "seen there",
                             check=False)
        if done.returncode == 0:
            self.decided.append(name)
        else:
            assert f"{noun} {name} is {outcome}: it does not wait for a decision" in done.stderr, done.stderr


def make_far(authority):
    """An acquirer whose clock can be set."""
    made = Upstream(authority, clock=True)
    made.expect_log("PAY00150", always=True)
    made.start()
    made.make_tokens()
    return made


@pytest.fixture(scope="module")
def far(authority):
    made = make_far(authority)
    yield made
    made.close()


@pytest.fixture
def scene(authority, far):
    after = far.last()
    with Proxy(authority, far.port) as proxy:
        till = Till(proxy.url, far.key, authority, clock=True,
                    extra=f"PaymentsAcquirerLateAfter {LATE_AFTER_S}s\n{INSECURE}")
        made = Scene(till, far, proxy, after)
        till.expect_log(f"{ACQUIRER_CUT}|{FETCH_CUT}|PAY00150|PAY00267|PAY00422|PAY00710", always=True)
        till.start()
        yield made
        for clock in made.clocks.values():
            clock.set(0)
        till.close()


@pytest.mark.parametrize("whose", ["ours", "theirs"])
def test_wrong_while_made(scene, whose):
    """The clock is right again before anybody asks: what is where nobody looks for it is not told failed."""
    steps = [by for by in STEPS if (whose, by) != ("ours", 2 * HOUR)]  # what is due in two hours is waited for
    charges = [scene.charge() for _ in range(2 * len(steps))]
    for number, by in enumerate(steps):
        scene.clocks[whose].set(by)
        scene.make(charges[2 * number:2 * number + 2])
        scene.clocks[whose].set(0)
    scene.settle()


@pytest.mark.parametrize("whose", ["ours", "theirs"])
def test_wrong_while_asked(scene, whose):
    """As long as a clock is wrong nothing is told failed, however often it is set and asked."""
    charges = [scene.charge() for _ in range(2 * len(STEPS))]
    for number, by in enumerate(STEPS):
        scene.make(charges[2 * number:2 * number + 2])
        scene.clocks[whose].set(by)
        scene.make_known(scene.charge())
        scene.wait_for_questions(1)
        scene.check_none_failed()
    scene.clocks[whose].set(0)
    scene.settle()
    log = scene.till.log_text()
    assert 1 <= log.count("PAY00710") <= 2 * len(STEPS) and log.count("PAY00711") >= 1, "told when it begins and ends"
    assert log.count("PAY00710") - log.count("PAY00711") in (0, 1)


def test_a_clock_that_was_ahead(scene):
    """Once it is right again pending payments and webhooks move on within seconds, and what waited is told."""
    with Receiver() as receiver:
        receiver.default = 500
        scene.shop.webhook(receiver.url())
        scene.clocks["ours"].set(YEAR)
        scene.make([scene.charge(), scene.charge()])
        answer = scene.shop.call("POST", "/api/v1/tokenized-card-charge", charge_body(), key=scene.shop.test_secret)
        assert answer.status == 200, answer
        receiver.wait()
        wait_for(lambda: scene.shop.events()[0]["tries"] == 1, "the failure to be stored")
        receiver.default = 200
        scene.clocks["ours"].set(0)
        started = time.monotonic()
        receiver.wait_taken()
        scene.settle(passing=False)
        assert time.monotonic() - started < SOON_S


def test_refund_repeated(scene):
    """Ten minutes are not over because the clock says so."""
    ref = scene.charge()
    assert scene.shop.partial(ref, "0.25").json["status"] == "processed"
    for by in (11 * 60, YEAR, -YEAR):
        scene.clocks["ours"].set(by)
        again = scene.shop.partial(ref, "0.25")
        assert (again.status, again.json["data"]["responseCode"]) == (409, "R5"), again
    scene.clocks["ours"].set(0)
    scene.settle()
