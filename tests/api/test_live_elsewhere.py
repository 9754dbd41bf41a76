# SPDX-License-Identifier: Apache-2.0
"""Refunds that were made at the acquirer: on its dashboard, or by another program. How the shop learns of them, and
what is learnt of those that are decided late.
"""

import csv
import io
import json
import re
import struct
from datetime import datetime

import pytest

from harness import loaded, wait_for
from receiver import ALLOW, Receiver
from upstream import PARTIAL, live_reference
from upstream_proxy import Fault, own
from virtual_clock import WALL

DAY = 86400


class Desk:
    """A shop whose Live Mode fetches refunds each second, and the receiver of its webhook."""

    def __init__(self, httpd, proxy, upstream, receiver):
        self.httpd, self.shop, self.proxy, self.upstream, self.receiver = (
            httpd, httpd.live_shop, proxy, upstream, receiver)
        self.shop.webhook(receiver.url(), mode="live")
        self.status = {}  # of refunds by the acquirer's reference, in place of what it says
        proxy.default = lambda exchange: Fault(edit=self.edit) if exchange.kind in ("list", "refund query") else None

    def edit(self, status, text):
        for one in text if isinstance(text, list) else [text]:
            if isinstance(one, dict) and one.get("refundReference") in self.status:
                one["status"] = self.status[one["refundReference"]]
        return status, text

    def charged(self, amount):
        """A charge of ours, and the acquirer's name of it."""
        ref = live_reference()
        assert self.shop.charge(reference=ref, amount=amount).json["data"]["paymentStatus"] == "successful"
        return ref, self.proxy.of("charge")[-1].name

    def given_back(self, name, amount, status=None):
        """A refund that a person makes there, with another status than it has, unless None."""
        if status:  # nobody fetches it before that is said
            self.status = Always(status)
        made = self.upstream.call("POST", PARTIAL, {"reference": name, "amount": amount}).json["refundReference"]
        if status:
            self.status = {made: status}
        return made

    def told(self, ref, count):
        """(notify, notifyType) of the events of a charge, once there are so many."""
        def events():
            got = [one for one in self.receiver.taken()
                   if ref in (one.reference, one.json["data"].get("transactionReference"))]
            return got if len(got) >= count else None
        return [one.what for one in wait_for(events, f"{count} events of {ref}")]

    def asked_again(self, made, clock):
        """A day passes for a pending refund, and it is asked about once more; what was answered is stored."""
        asked = len(self.proxy.of("refund query"))
        clock.pass_seconds(DAY, WALL)  # no time-out ends by it
        self.proxy.wait("refund query", asked + 1)

        def stored():
            return seconds_of(self.shop.refund_row(made)["nextQuestionAt"]) > clock.now() + 60

        wait_for(stored, "the answer to be stored")

    def rounds(self, count=2):
        """So many more fetches end."""
        self.proxy.wait("list", len(self.proxy.of("list")) + count + 1)


def test_history_without_an_amount_is_listed(desk, tmp_path):
    """A file says that it failed, without an amount; the acquirer says that it was refunded."""
    desk = desk()
    desk.httpd.expect_log("PAY00171|PAY00172|PAY00400|PAY00423|PAY00446")
    _, name = desk.charged("16.00")
    desk.proxy.fail(own(500, "out of order", "text/html"), "list")
    made = desk.given_back(name, 16)
    path = tmp_path / "refunds.jsonl"
    path.write_text(json.dumps({"id": "1", "refundReference": made, "status": "failed",
                                "createdAt": "2026-01-01T00:00:00.000Z"}) + "\n")
    desk.httpd.ctl("refund", "import", "shop", path, "--mode", "live")
    desk.proxy.heal()
    [row] = wait_for(desk.shop.rows_held, "it to be held")
    assert (row["kind"], row["reference"], row["why"]) == ("refund", made, "late")
    assert (row["amount"], row["currency"]) == (None, None)
    [line] = desk.httpd.ctl("held", "list").stdout.splitlines()[1:]
    assert line.split()[:7] == ["refund", made, "shop", "live", "-", "-", "late"], line
    [row] = csv.DictReader(io.StringIO(desk.httpd.ctl("held", "list", "--format", "csv").stdout))
    assert (row["reference"], row["amount"], row["currency"]) == (made, "", "")


def seconds_of(text):
    return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


class Always(dict):
    """One value for every key."""

    def __init__(self, value):
        super().__init__()
        self.value = value

    def __contains__(self, key):
        return True

    def __getitem__(self, key):
        return self.value


@pytest.fixture
def receiver(authority):
    made = Receiver(authority.context())
    yield made
    made.close()


@pytest.fixture
def desk(till, proxy, upstream, receiver, authority):
    def make(host_extra="", **options):
        httpd = till(sync="1s", extra=f"{ALLOW}PaymentsTrustedCA {authority.file}\n", host_extra=host_extra, **options)
        httpd.expect_log("PAY00442")  # of what other tests left in the upstream's books
        return Desk(httpd, proxy, upstream, receiver)

    return make


def test_told_like_ours(desk):
    """A part, then the rest: the shop learns of each, and of the reversal once."""
    desk = desk()
    ref, name = desk.charged("12.00")
    desk.given_back(name, 5)
    assert desk.told(ref, 2) == [("transaction", "successful"), ("refund", "processed")]
    # one or more: of what other tests left in the upstream's books
    assert re.search("PAY00443: account shop: [1-9][0-9]* refunds that were made elsewhere were added", desk.httpd.log_text())
    assert desk.shop.verify(ref)["refundedAmount"] == 5
    desk.given_back(name, 7)
    want = [("transaction", "successful"), ("refund", "processed"), ("refund", "processed"), ("transaction", "reversed")]
    assert desk.told(ref, 4) == want
    assert desk.shop.verify(ref)["status"] == "reversed"
    desk.rounds()
    assert desk.told(ref, 4) == want
    assert desk.httpd.ctl("store", "check").returncode == 0


def test_pending_waits_for_a_person(desk):
    """It is asked about by its own name, held when it takes too long, and decided by a person whom the shop believes."""
    desk = desk(host_extra="PaymentsPendingAlert 1s\nPaymentsAcquirerLateAfter 1s\n")
    desk.httpd.expect_log("PAY00421")
    ref, name = desk.charged("13.00")
    made = desk.given_back(name, 13, "pending")
    [row] = wait_for(lambda: [one for one in desk.shop.rows_held() if one["reference"] == made], "it to be held")
    assert (row["status"], row["why"]) == ("pending", "overdue")
    assert desk.shop.verify(ref)["status"] == "successful"
    assert {one.line.split(" ")[1] for one in desk.proxy.of("refund query")} == {f"/api/v1/refund/{made}"}
    said = desk.httpd.ctl("refund", "resolve", "shop", made, "--mode", "live", "--outcome", "processed", "--reason", "ticket 9")
    assert said.returncode == 0
    assert desk.told(ref, 3) == [("transaction", "successful"), ("refund", "processed"), ("transaction", "reversed")]
    assert desk.shop.rows_held() == []
    assert desk.httpd.ctl("store", "check").returncode == 0


def test_decided_after_a_week(desk):
    """Pending there until day 8, and queried the whole time: the acquirer decides it, not a person."""
    desk = desk(clock=True)
    clock = desk.httpd.clock
    desk.httpd.expect_log("PAY00421|PAY00710")  # it is held meanwhile, and the clocks differ
    ref, name = desk.charged("15.00")
    made = desk.given_back(name, 15, "pending")
    wait_for(lambda: desk.shop.refund_row(made), "it to be fetched")
    for _ in range(8):
        desk.asked_again(made, clock)
    assert [(row["reference"], row["why"]) for row in desk.shop.rows_held()] == [(made, "overdue")]
    assert desk.shop.verify(ref)["status"] == "successful"
    desk.status = {}
    clock.pass_seconds(DAY, WALL)
    assert desk.told(ref, 3) == [("transaction", "successful"), ("refund", "processed"), ("transaction", "reversed")]
    assert desk.shop.refund_row(made)["status"] == "processed" and desk.shop.verify(ref)["status"] == "reversed"
    assert desk.shop.rows_held() == []
    assert desk.httpd.ctl("store", "check").returncode == 0


def put(clock, seconds):
    with clock.open("r+b") as out:
        out.write(struct.pack("=q", seconds * 1_000_000))


def test_taken_back_after_a_week(desk, tmp_path):
    """A refund of ours that the acquirer takes back when its rounds have long passed it."""
    clock = tmp_path / "clock"
    clock.write_bytes(struct.pack("=q", 0))
    for folder in (tmp_path, tmp_path.parent, tmp_path.parent.parent):
        folder.chmod(0o755)
    clock.chmod(0o644)
    desk = desk(env={"LD_PRELOAD": loaded("faults/preload_clock"), "PAYMENTS_CLOCK_FILE": str(clock)})
    ref, _ = desk.charged("14.00")
    ours = desk.shop.partial(ref, "14.00").json
    assert ours["status"] == "processed"
    shown = desk.httpd.ctl("refund", "show", "shop", ours["refundReference"], "--mode", "live")
    [theirs] = [row["refundReference"] for row in desk.upstream.rows("refund") if row["refundReference"] in shown.stdout]
    put(clock, 8 * DAY)
    desk.rounds(8)  # they pass it, and go on with the last days only
    desk.status = {theirs: "failed"}
    put(clock, 9 * DAY + 60)
    desk.httpd.expect_log("PAY00160|PAY00710")  # it says so, and that the clocks differ
    assert desk.told(ref, 5) == [("transaction", "successful"), ("refund", "processed"), ("transaction", "reversed"),
                                 ("refund", "failed"), ("transaction", "successful")]
    assert desk.shop.verify(ref)["status"] == "successful"
