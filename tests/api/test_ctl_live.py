# SPDX-License-Identifier: Apache-2.0
"""paymentsctl in Live Mode: the switch, what a person decides, refunds that the server carries out, and history."""

import csv
import io
import json
import os
import pty
import re
import struct
import subprocess
from datetime import datetime, timezone

import pytest

from ctl_program import TEST_MODE, Ctl
from harness import PAYMENTSCTL, WAIT_S, beside, loaded, sanitizers, wait_for
from upstream import ACQUIRER_CUT, EMAIL, PARTIAL, live_reference
from upstream_proxy import Fault, Hold, closed_unanswered, own

LIVE_MODE = ("--mode", "live")
HOUR = 3600
QUERIES = ("query", "refund query", "list")
WHY = "ticket 4711: the bank's people say so " + "é" * 31  # as long as a reason may be
FAILED = ("--outcome", "failed", "--reason", WHY)
SUCCESSFUL = ("--outcome", "successful", "--reason", WHY)
PROCESSED = ("--outcome", "processed", "--reason", WHY)
SOME_RANGE = ("--from", "2026-01-01", "--to", "2026-01-02")


class Desk:
    """A shop whose Live Mode goes through the proxy, and paymentsctl on its store."""

    def __init__(self, httpd, proxy):
        self.httpd, self.shop, self.proxy = httpd, httpd.live_shop, proxy
        self.ctl = Ctl(httpd.store)
        httpd.expect_log(ACQUIRER_CUT)

    def charged(self, **fields):
        ref = live_reference()
        assert self.shop.charge(reference=ref, **fields).status == 200
        return ref

    def lost(self, fault=None, **fields):
        """A charge whose outcome is not known here, and nobody can tell."""
        self.proxy.fail(own(500, "out of order", "text/html"), *QUERIES)
        self.proxy.next("charge", fault or closed_unanswered())
        ref = live_reference()
        assert self.shop.charge(reference=ref, **fields).status == 202
        return ref

    def lost_refund(self, ref, amount="10.00", fault=None):
        self.proxy.fail(own(500, "out of order", "text/html"), *QUERIES)
        self.proxy.next("refund", fault or closed_unanswered())
        made = self.shop.partial(ref, amount).json
        assert made["status"] == "pending", made
        return made["refundReference"]

    def row(self, noun, ref):
        return self.ctl.json(noun, "show", "shop", ref, *LIVE_MODE)

    def resolve(self, noun, ref, *decision):
        return self.ctl.json(noun, "resolve", "shop", ref, *LIVE_MODE, *decision)

    def refuses(self, noun, ref, *decision, env=None):
        return self.ctl.refused(3, noun, "resolve", "shop", ref, *LIVE_MODE, *decision, env=env)

    def held(self, *options):
        return self.ctl.json("held", "list", *options)

    def restart(self):
        self.httpd.process = None
        self.httpd.start()

    def well(self):
        done = self.ctl.run("store", "check")
        assert done.returncode == 0, done.stdout


@pytest.fixture
def desk(till, proxy):
    """Makes a Desk; `options` are those of its server."""
    return lambda **options: Desk(till(**options), proxy)


def seconds_from_now(text):
    return (datetime.fromisoformat(text.replace("Z", "+00:00")) - datetime.now(timezone.utc)).total_seconds()


# --- the switch ---

def test_account_mode(ctl):
    """Going live says what it means and what to look after; going back says nothing."""
    done = ctl.run("account", "mode", "shop", "live", "--json")
    assert done.returncode == 0 and json.loads(done.stdout)["mode"] == "live"
    for word in ("shop", "money", "PaymentsAcquirer", "403"):
        assert word in done.stderr, word
    assert done.stderr.count("\n") == 1
    assert ctl.json("account", "show", "shop").items() >= json.loads(done.stdout).items()
    assert ctl.json("account", "mode", "shop", "live")["mode"] == "live", "again"
    done = ctl.run("account", "mode", "shop", "test")
    assert (done.returncode, done.stderr) == (0, "") and re.search("^shop +1 +test ", done.stdout, re.M)
    assert ctl.json("account", "show", "shop")["mode"] == "test"


# --- rejected before anything is read ---

def decision(noun, ref="r", outcome="failed", reason="x"):
    return [noun, "resolve", "shop", ref, *TEST_MODE, "--outcome", outcome, "--reason", reason]


@pytest.mark.parametrize("code, args", [
    pytest.param(2, ["account", "mode", "shop"], id="no mode"),
    pytest.param(6, ["account", "mode", "shop", "Live"], id="no such mode"),
    pytest.param(3, ["account", "mode", "none", "live"], id="mode of no account"),
    pytest.param(2, ["account", "set", "shop", "--mode", "live"], id="mode is no setting"),
    pytest.param(2, ["charge", "resolve", "shop", "r", *TEST_MODE, "--outcome", "failed"], id="no reason"),
    pytest.param(2, ["charge", "resolve", "shop", "r", *TEST_MODE, "--reason", "x"], id="no outcome"),
    pytest.param(2, ["charge", "resolve", "shop", "r", "--outcome", "failed", "--reason", "x"], id="resolve: no mode"),
    pytest.param(3, decision("charge"), id="no such charge"),
    pytest.param(3, decision("refund"), id="no such refund"),
    pytest.param(6, decision("charge", "a/b"), id="no reference"),
    pytest.param(6, decision("refund", "a/b"), id="no refund's reference"),
    pytest.param(5, decision("charge", "r" * 101), id="long reference"),
    pytest.param(5, decision("refund", "r" * 101), id="long refund's reference"),
    pytest.param(6, decision("charge", outcome="processed"), id="a refund's outcome"),
    pytest.param(6, decision("refund", outcome="successful"), id="a charge's outcome"),
    pytest.param(6, decision("charge", outcome="pending"), id="no outcome at all"),
    pytest.param(6, decision("charge", reason=""), id="empty reason"),
    pytest.param(6, decision("refund", reason="   "), id="blank reason"),
    pytest.param(6, decision("charge", reason="two\nlines"), id="lines"),
    pytest.param(6, decision("charge", reason="\u009b31m"), id="a terminal's codes"),
    pytest.param(6, decision("refund", reason="card 4111 1111 1111 1111"), id="a card number"),
    pytest.param(5, decision("charge", reason="x" * 101), id="long reason"),
    pytest.param(5, decision("refund", reason=WHY + "x"), id="long reason, in bytes"),
    pytest.param(3, ["refund", "show", "shop", "r", *TEST_MODE], id="show no refund"),
    pytest.param(5, ["refund", "show", "shop", "r" * 101, *TEST_MODE], id="show a long one"),
    pytest.param(3, ["held", "list", "none"], id="held of no account"),
    pytest.param(6, ["held", "list", "--mode", "both"], id="held: no such mode"),
    pytest.param(6, ["held", "list", "--limit", "0"], id="held: no rows"),
    pytest.param(6, ["refund", "sync", "shop", *TEST_MODE, *SOME_RANGE], id="sync of Test Mode"),
    pytest.param(2, ["refund", "sync", "shop", *LIVE_MODE, "--from", "2026-01-01"], id="sync without an end"),
    pytest.param(3, ["refund", "sync", "none", *LIVE_MODE, *SOME_RANGE], id="sync of no account"),
    pytest.param(6, ["refund", "sync", "shop", *LIVE_MODE, "--from", "2026-02-30", "--to", "2026-03-01"],
                 id="sync: no such day"),
    pytest.param(6, ["refund", "sync", "shop", *LIVE_MODE, "--from", "2026-01-02", "--to", "2026-01-01"],
                 id="sync: reversed"),
    pytest.param(6, ["refund", "sync", "shop", *LIVE_MODE, "--from", "2010-01-01", "--to", "2020-01-09"],
                 id="sync: 3661 days"),
    pytest.param(6, ["refund", "sync", "shop", *LIVE_MODE, "--from", "1970-01-01", "--to", "1970-01-02"],
                 id="sync: before there were any"),
    pytest.param(6, ["refund", "sync", "shop", *LIVE_MODE, "--from", "2998-01-01", "--to", "2998-01-02"],
                 id="sync: ahead of now"),
    pytest.param(3, ["refund", "create", "shop", *LIVE_MODE, "--reference", "r"], id="live refund in Test Mode"),
])
def test_refused(ctl, code, args):
    said = ctl.refused(code, *args)
    assert "4111" not in said
    assert ctl.json("account", "show", "shop")["mode"] == "test"


# --- charges that a person decides ---

def test_charge_is_decided_successful(desk):
    """It is reported like any outcome, with the reason in the record, and is final. A reason may have 100 bytes."""
    desk = desk()
    ref = desk.lost(amount="20.00")
    before = desk.row("charge", ref)
    assert (before["status"], before["held"], before["resolution"], before["late"]) == ("pending", None, "", None)
    assert re.fullmatch("[0-9a-f]{32}", before["acquirerReference"]) and before["acquirer"].startswith("relay@")
    assert before["nextQuestionAt"]
    shown = desk.resolve("charge", ref, *SUCCESSFUL)
    assert (shown["status"], shown["resolution"], shown["gatewayResponseMessage"], shown["nextQuestionAt"]) == (
        "successful", WHY, "Decided by the merchant.", None)
    assert desk.row("charge", ref) == shown
    assert re.search(f"^decided because +{WHY}$", desk.ctl.ok("charge", "show", "shop", ref, *LIVE_MODE), re.M)
    assert desk.shop.verify(ref)["status"] == "successful"
    again = desk.shop.charge(reference=ref, amount="20.00")
    assert again.status == 200 and again.json["data"]["gatewayResponseMessage"] == "Decided by the merchant.", again
    for told in (SUCCESSFUL, FAILED):
        assert "successful" in desk.refuses("charge", ref, *told)
    assert not desk.proxy.repeated()
    desk.proxy.heal()
    assert desk.shop.partial(ref, "5.00").json["status"] == "processed"
    desk.well()


def test_charge_is_decided_failed(desk):
    """The acquirer, which may have it anyway, is asked about it once more after six hours."""
    desk = desk()
    ref = desk.lost()
    shown = desk.resolve("charge", ref, *FAILED)
    assert (shown["status"], shown["resolution"]) == ("failed", WHY)
    assert 6 * HOUR - 120 < seconds_from_now(shown["nextQuestionAt"]) <= 6 * HOUR
    assert desk.shop.verify(ref)["status"] == "failed"
    for told in (SUCCESSFUL, FAILED):
        assert "failed" in desk.refuses("charge", ref, *told)
    desk.well()


def test_charge_that_is_being_worked_on(desk):
    """While its worker waits for the acquirer's answer that answer decides."""
    desk = desk()
    hold, ref = Hold(), live_reference()
    desk.proxy.next("charge", Fault(hold=hold))
    charge = beside(lambda: desk.shop.charge(reference=ref))
    wait_for(lambda: hold.waiting, "the charge to hang")
    said = desk.refuses("charge", ref, *FAILED)
    assert 1 <= int(re.search(r"again in (\d+) seconds", said)[1]) <= 26
    hold.release()
    answer = charge.result(WAIT_S)
    assert answer.status == 200 and answer.json["data"]["status"] == "successful"
    assert "successful" in desk.refuses("charge", ref, *FAILED)


def test_charge_that_another_machine_works_on(desk, tmp_path):
    """Nobody here can tell whether that process lives: its charge is left to it until 30 s after its deadline."""
    desk = desk()
    boot_id = tmp_path / "boot_id"
    boot_id.write_text("01234567-89ab-4cde-8f01-23456789abcd\n", encoding="ascii")
    elsewhere = {"LD_PRELOAD": " ".join([*sanitizers(), str(loaded("faults/preload_boot"))]),
                 "PAYMENTS_BOOT_ID": str(boot_id)}
    hold, ref = Hold(), live_reference()
    desk.proxy.next("charge", Fault(hold=hold))
    charge = beside(lambda: desk.shop.charge(reference=ref))
    wait_for(lambda: hold.waiting, "the charge to hang")
    said = desk.refuses("charge", ref, *FAILED, env=elsewhere)
    assert 27 <= int(re.search(r"again in (\d+) seconds", said)[1]) <= 56
    hold.release()
    answer = charge.result(WAIT_S)
    assert answer.status == 200 and answer.json["data"]["status"] == "successful"
    assert "successful" in desk.refuses("charge", ref, *FAILED, env=elsewhere)
    desk.well()


def test_charge_of_test_mode(server):
    """No acquirer outside knows of it: nobody is asked later. Where reconciliation is faster this is refused."""
    httpd = server(mpm="event")
    shop, ctl = httpd.shop(), Ctl(httpd.store)

    def decided():
        ref = live_reference()
        assert shop.charge(reference=ref, token="tok_test_timeout").status == 202
        done = ctl.run("charge", "resolve", shop.name, ref, *TEST_MODE, *FAILED, "--json")
        assert done.returncode == 0 or "successful" in done.stderr, done
        return json.loads(done.stdout) if done.returncode == 0 else None

    shown = wait_for(decided, "a decision before reconciliation's")
    assert (shown["status"], shown["resolution"], shown["nextQuestionAt"], shown["acquirerReference"]) == (
        "failed", WHY, None, "")
    assert ctl.run("store", "check").returncode == 0


# --- refunds that a person decides ---

@pytest.mark.parametrize("told, status, refunded", [
    pytest.param(PROCESSED, "processed", 10, id="processed"),
    pytest.param(FAILED, "failed", 0, id="failed"),
])
def test_refund_is_decided(desk, told, status, refunded):
    desk = desk()
    ref = desk.charged()
    refund = desk.lost_refund(ref)
    before = desk.row("refund", refund)
    assert (before["status"], before["waiting"], before["held"], before["resolution"]) == ("pending", False, None, "")
    (sent,) = desk.proxy.of("refund")
    assert before["tag"] == sent.name and before["transactionReference"] == ref
    shown = desk.resolve("refund", refund, *told)
    assert (shown["status"], shown["resolution"]) == (status, WHY)
    assert desk.row("refund", refund) == shown
    assert re.search(f"^decided because +{WHY}$", desk.ctl.ok("refund", "show", "shop", refund, *LIVE_MODE), re.M)
    if status == "failed":
        assert 6 * HOUR - 120 < seconds_from_now(shown["nextQuestionAt"]) <= 6 * HOUR
    else:
        assert shown["nextQuestionAt"] is None
    assert desk.shop.verify(ref)["refundedAmount"] == refunded
    for again in (PROCESSED, FAILED):
        assert status in desk.refuses("refund", refund, *again)
    desk.well()


def test_refund_that_is_being_worked_on(desk):
    desk = desk()
    ref, hold = desk.charged(), Hold()
    desk.proxy.next("refund", Fault(hold=hold))
    refund = beside(lambda: desk.shop.partial(ref, "1.00").json)
    wait_for(lambda: hold.waiting, "the refund to hang")
    (row,) = desk.shop.rows("refund")
    assert "again in" in desk.refuses("refund", row["refundReference"], *FAILED)
    hold.release()
    assert refund.result(WAIT_S)["status"] == "processed"


# --- refunds of Live Mode by the tool ---

def test_refund_is_carried_out_by_the_server(desk):
    desk = desk()
    ref = desk.charged()
    done = desk.ctl.run("refund", "create", "shop", *LIVE_MODE, "--reference", ref, "--amount", "2.50", "--json")
    made = json.loads(done.stdout)
    assert done.returncode == 0 and made["status"] == "pending" and len(made) == 12
    assert made["refundReference"] in done.stderr and "refund show" in done.stderr and "server" in done.stderr
    shown = wait_for(lambda: (row := desk.row("refund", made["refundReference"]))["status"] == "processed" and row,
                     "the server to carry it out")
    assert shown["waiting"] is False and shown["acquirerReference"]
    (sent,) = desk.proxy.of("refund")
    assert sent.name == shown["tag"] and float(sent.body["amount"]) == 2.5
    assert desk.shop.rows("refund")[0]["status"] == "processed"


@pytest.mark.parametrize("told, refunded", [pytest.param(PROCESSED, 3, id="processed"),
                                            pytest.param(FAILED, 0, id="failed")])
def test_waiting_refund_is_taken_back(desk, told, refunded):
    """A decision about what was not sent yet: it never is."""
    desk = desk()
    ref = desk.charged()
    desk.httpd.stop()
    made = desk.ctl.json("refund", "create", "shop", *LIVE_MODE, "--reference", ref, "--amount", "3.00")
    refund = made["refundReference"]
    assert desk.row("refund", refund)["waiting"] is True
    assert re.search("^sent to the acquirer +not yet$", desk.ctl.ok("refund", "show", "shop", refund, *LIVE_MODE), re.M)
    shown = desk.resolve("refund", refund, *told)
    assert (shown["status"], shown["waiting"], shown["nextQuestionAt"]) == (told[1], False, None)
    desk.restart()
    later = desk.ctl.json("refund", "create", "shop", *LIVE_MODE, "--reference", ref, "--amount", "4.00")
    wait_for(lambda: desk.row("refund", later["refundReference"])["status"] == "processed", "the next one to be sent")
    (sent,) = desk.proxy.of("refund")
    assert float(sent.body["amount"]) == 4 and desk.shop.verify(ref)["refundedAmount"] == 4 + refunded
    desk.well()


# --- what waits for a person ---

def other_amount(status, text):
    text["data"].update(amount=77, requested_amount=77, chargedAmount=77)
    return status, text


def test_held_list(desk):
    """Of charges and refunds, with why and since when, in each form; what is decided leaves it."""
    desk = desk(host_extra="PaymentsPendingAlert 2s")
    desk.httpd.expect_log("PAY00421|PAY00422|PAY00453")  # held payments are logged loudly
    assert desk.held() == [] and desk.ctl.ok("held", "list").startswith("KIND ")
    ref = desk.charged()
    different = desk.lost(amount="12.34")
    desk.proxy.fail(Fault(edit=other_amount), "query")
    wait_for(lambda: [row for row in desk.held() if row["why"] == "different"], "the other amount to be noticed")
    overdue, refund = desk.lost(amount="20.00"), desk.lost_refund(ref)
    rows = wait_for(lambda: len(found := desk.held()) == 3 and found, "three to be held")
    assert [(row["kind"], row["reference"], row["why"]) for row in rows] == [
        ("charge", different, "different"), ("charge", overdue, "overdue"), ("refund", refund, "overdue")]
    charge, row = desk.row("charge", overdue), desk.row("refund", refund)
    assert rows[1] == {
        "kind": "charge", "reference": overdue, "account": "shop", "mode": "live", "status": "pending",
        "amount": "20.00", "currency": "NGN", "why": "overdue", "since": charge["createdAt"],
        "acquirer": charge["acquirer"], "acquirerReference": charge["acquirerReference"],
        "transactionReference": overdue, "paymentStatus": "pending"}
    assert rows[2]["transactionReference"] == ref and rows[2]["since"] == row["createdAt"]
    assert charge["held"] == row["held"] == "overdue" and rows[2]["amount"] == "10.00"
    assert re.search("^waits for a person +overdue: .*PaymentsPendingAlert$",
                     desk.ctl.ok("charge", "show", "shop", overdue, *LIVE_MODE), re.M)
    assert "waits for a person  different: " in desk.ctl.ok("charge", "show", "shop", different, *LIVE_MODE)
    assert desk.ctl.json("store", "stat")["held"] == 3

    lines = desk.ctl.ok("held", "list").splitlines()
    assert lines[0].split() == ["KIND", "REFERENCE", "ACCOUNT", "MODE", "AMOUNT", "CURRENCY", "WHY", "SINCE"]
    assert lines[2].split() == ["charge", overdue, "shop", "live", "20.00", "NGN", "overdue", charge["createdAt"]]
    table = list(csv.DictReader(io.StringIO(desk.ctl.ok("held", "list", "--format", "csv"))))
    assert table == rows
    desk.ctl.ok("account", "create", "another")
    assert desk.held("shop") == desk.held(*LIVE_MODE) == desk.held("shop", *LIVE_MODE) == rows
    assert desk.held("another") == desk.held("shop", *TEST_MODE) == desk.held(*TEST_MODE) == []
    assert desk.held("--limit", 2) == rows[:2]

    desk.resolve("refund", refund, *FAILED)
    desk.resolve("charge", different, *FAILED)
    assert desk.held() == rows[1:2]
    desk.proxy.heal()
    wait_for(lambda: desk.held() == [], "the acquirer to decide the last one")
    assert desk.shop.verify(overdue)["status"] == "successful" and desk.row("charge", overdue)["resolution"] == ""
    desk.well()


class Later:
    """A server whose clock can be put forward while it runs."""

    options = {"env": {"LD_PRELOAD": loaded("faults/preload_clock"), "PAYMENTS_CLOCK_FILE": "{root}/clock"}}

    def __init__(self, httpd):
        self.httpd, self.path = httpd, httpd.root / "clock"
        self.put(0)
        self.path.chmod(0o644)

    def put(self, seconds):
        """If it is off by more than minutes it differs from the acquirer's, and the log reports it."""
        self.httpd.expect_log("PAY00710")
        if self.path.exists():
            with self.path.open("r+b") as out:
                out.write(struct.pack("=q", seconds * 1_000_000))
        else:
            self.path.write_bytes(struct.pack("=q", seconds * 1_000_000))


def test_late_approvals(till, proxy, upstream):
    """A charge that failed here for absence but happened there stays failed, and a person closes the case."""
    httpd = till(start=False, host_extra="PaymentsAcquirerLateAfter 1s", **Later.options)
    clock = Later(httpd)
    desk = Desk(httpd.start(), proxy)
    httpd.expect_log("PAY00171|PAY00172|PAY00423")  # an alert each
    ref = desk.charged(amount="30.00")
    (charged,) = proxy.of("charge")
    proxy.next("charge", own(500, "lost", "text/html"))  # neither of the two ever comes to the upstream
    proxy.next("refund", own(500, "lost", "text/html"))
    late = live_reference()
    assert desk.shop.charge(reference=late, amount="21.00").status == 202
    refund = desk.shop.partial(ref, "7.00").json["refundReference"]
    for noun, one in (("charge", late), ("refund", refund)):
        wait_for(lambda noun=noun, one=one: desk.row(noun, one)["status"] == "failed", f"the {noun} to fail")
    for line in f"PAY00232: charge {late} is failed", f"PAY00235: refund {refund} is failed":
        assert f"{line} after " in httpd.log_text()
    assert desk.held() == []

    # Somebody else brings them there, as a slow network would.
    name, tag = desk.row("charge", late)["acquirerReference"], desk.row("refund", refund)["tag"]
    assert upstream.call("POST", "/api/v1/tokenized-card-charge", {
        "token": "acq_success", "amount": 21, "email": EMAIL, "reference": name}).status == 200
    assert upstream.call("POST", PARTIAL, {"reference": charged.name, "amount": 7,
                                           "merchant_note": f"[payments:{tag}]"}).status == 200
    clock.put(6 * HOUR + 60)
    rows = wait_for(lambda: len(found := desk.held()) == 2 and found, "both to be held")
    assert [(row["kind"], row["reference"], row["status"], row["why"]) for row in rows] == [
        ("charge", late, "failed", "late"), ("refund", refund, "failed", "late")]
    shown = desk.row("charge", late)
    assert shown["late"] == "found" and shown["contradiction"]
    for noun, one, good in (("charge", late, SUCCESSFUL), ("refund", refund, PROCESSED)):
        said = desk.refuses(noun, one, *good)
        assert "close the case as failed" in said and "--outcome failed" in said
        shown = desk.resolve(noun, one, *FAILED)
        assert (shown["status"], shown["held"], shown["resolution"], shown["nextQuestionAt"]) == (
            "failed", None, WHY, None)
        assert "failed" in desk.refuses(noun, one, *FAILED), "it is closed"
    assert desk.held() == [] and desk.shop.verify(late)["status"] == "failed"
    desk.well()


def test_late_different(till, proxy, upstream):
    """What failed here for absence and is there with another amount waits for a person, who can close the case."""
    httpd = till(start=False, host_extra="PaymentsAcquirerLateAfter 1s", **Later.options)
    clock = Later(httpd)
    desk = Desk(httpd.start(), proxy)
    httpd.expect_log("PAY00422")
    proxy.next("charge", own(500, "lost", "text/html"))
    ref = live_reference()
    assert desk.shop.charge(reference=ref, amount="21.00").status == 202
    wait_for(lambda: desk.row("charge", ref)["status"] == "failed", "the charge to fail")
    assert upstream.call("POST", "/api/v1/tokenized-card-charge", {
        "token": "acq_success", "amount": 22, "email": EMAIL,
        "reference": desk.row("charge", ref)["acquirerReference"]}).status == 200
    clock.put(6 * HOUR + 60)
    rows = wait_for(desk.held, "it to be held")
    assert [(row["reference"], row["status"], row["why"]) for row in rows] == [(ref, "failed", "different")]
    said = desk.refuses("charge", ref, *SUCCESSFUL)
    assert "close the case as failed" in said and "--outcome failed" in said
    shown = desk.resolve("charge", ref, *FAILED)
    assert (shown["status"], shown["held"], shown["resolution"], shown["nextQuestionAt"]) == ("failed", None, WHY, None)
    assert desk.held() == []
    desk.well()


# --- refunds made elsewhere ---

def sync(desk, *options):
    return desk.ctl.json("refund", "sync", "shop", *LIVE_MODE, *options)


def start_sync(desk, *options, stderr=subprocess.PIPE):
    command = [PAYMENTSCTL, "-s", f"lmdb:{desk.ctl.store}", "refund", "sync", "shop", *LIVE_MODE, *options]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=stderr, text=True)


def refunded_elsewhere(desk, upstream, amount=8):
    """Options that name the time of a refund that the merchant made at the acquirer."""
    (charged,) = desk.proxy.of("charge")
    made = upstream.call("POST", PARTIAL, {"reference": charged.name, "amount": amount}).json
    return "--from", made["createdAt"], "--to", made["createdAt"]


def test_longest_range(ctl):
    asked = ctl.json("refund", "sync", "shop", *LIVE_MODE, "--from", "2010-01-01", "--to", "2020-01-08", "--no-wait")
    assert (asked["from"], asked["to"]) == ("2010-01-01T00:00:00.000Z", "2020-01-08T23:59:59.999Z")
    assert asked["done"] is False


def test_refund_sync(desk, upstream):
    """The server fetches refunds that the merchant made elsewhere; the tool prints how many; again, none is new."""
    desk = desk(host_extra="PaymentsRefundSync off")
    ref = desk.charged(amount="50.00")
    since = refunded_elsewhere(desk, upstream)
    assert desk.ctl.ok("refund", "sync", "shop", *LIVE_MODE, *since) == "1 seen, 1 new, 0 changed\n"
    assert desk.shop.verify(ref)["refundedAmount"] == 8
    assert [row["amount"] for row in desk.shop.rows("refund")] == ["8.00"]
    again = sync(desk, *since)
    assert again == {"from": since[1], "to": since[3], "done": True, "seen": 1, "new": 0, "changed": 0, "refused": 0}
    desk.well()


def test_refund_sync_ends_now(desk):
    """What is ahead of now is not asked for: the acquirer would refuse it for ever."""
    desk = desk(host_extra="PaymentsRefundSync off")
    before = datetime.now(timezone.utc)
    done = sync(desk, "--from", before.strftime("%Y-%m-%d"), "--to", "2998-01-01")
    assert done["done"] and before.isoformat()[:19] <= done["to"] <= datetime.now(timezone.utc).isoformat(), done
    desk.well()


def test_refund_sync_of_what_cannot_be_kept(desk, upstream):
    """A refund that is known with another amount: it is counted, and the exit status says that it was not kept."""
    desk = desk(host_extra="PaymentsRefundSync off")
    desk.httpd.expect_log("PAY00442")
    ref = desk.charged(amount="50.00")
    since = refunded_elsewhere(desk, upstream)
    sync(desk, *since)
    desk.proxy.fail(changed_records(amount="9.00"), "list")
    done = desk.ctl.run("refund", "sync", "shop", *LIVE_MODE, *since)
    assert (done.returncode, done.stdout) == (1, "1 seen, 0 new, 0 changed, 1 refused\n")
    assert re.fullmatch(r"paymentsctl: .*server's log.*\n", done.stderr)
    assert desk.shop.verify(ref)["refundedAmount"] == 8


def changed_records(**fields):
    return Fault(edit=lambda status, rows: (status, [{**row, **fields} for row in rows]))


def test_refund_sync_fails(till, proxy):
    """The tool prints the server's progress, and its failure once it gives up; it may be requested again."""
    httpd = till(start=False, host_extra="PaymentsRefundSync off", **Later.options)
    clock = Later(httpd)
    desk = Desk(httpd.start(), proxy)
    httpd.expect_log("PAY00445")
    httpd.expect_log("PAY00710")  # the clock is 5 minutes and more ahead
    proxy.fail(own(500, "out of order", "text/html"), "list")
    with start_sync(desk, *SOME_RANGE) as waiting:
        assert waiting.stderr.readline().startswith("The server says: The acquirer did not list its refunds: ")
        for tries in range(1, 5):
            proxy.wait("list", tries)
            clock.put(100 * tries)
        out, err = waiting.communicate(timeout=60)
    assert (waiting.returncode, out) == (1, "")
    assert re.fullmatch("paymentsctl: the server gave up after 0 refunds: The acquirer did not .*\n", err), err
    assert len(proxy.of("list")) == 5
    proxy.heal()
    assert sync(desk, *SOME_RANGE)["done"]
    assert "PAY00444: account shop: the requested refunds were fetched from acquirer relay@" in httpd.log_text()


def test_refund_sync_shows_progress(desk):
    """On a terminal, week by week: the second one is delayed until the first is printed."""
    desk = desk(host_extra="PaymentsRefundSync off")
    hold, (terminal, inner) = Hold(), pty.openpty()
    desk.proxy.default = lambda one: Fault(hold=hold) if one.line.split("/")[4] >= "2026-01-07" else None
    with start_sync(desk, "--from", "2026-01-01", "--to", "2026-01-20", stderr=inner) as waiting:
        os.close(inner)
        shown = ""
        while "refunds" not in shown:
            shown += os.read(terminal, 4096).decode()
        assert shown.startswith("\rfetched until 2026-01-08T00:00:00.000Z: 0 refunds"), shown
        hold.release()
        out, _ = waiting.communicate(timeout=60)
    os.close(terminal)
    assert (waiting.returncode, out) == (0, "0 seen, 0 new, 0 changed\n")


def test_refund_sync_without_a_server(desk):
    """The request persists; only one range at a time; a waiting tool prints what is missing, and keeps waiting."""
    desk = desk(host_extra="PaymentsRefundSync off")
    desk.httpd.stop()
    with start_sync(desk, *SOME_RANGE) as waiting:
        said = waiting.stderr.readline()  # after 15 seconds
        assert "No server" in said and "PaymentsAcquirer" in said and "waiting" in said
        assert waiting.poll() is None
        assert "2026-01-01T00:00:00.000Z" in desk.ctl.refused(3, "refund", "sync", "shop", *LIVE_MODE, *SOME_RANGE)
        desk.restart()
        out, err = waiting.communicate(timeout=60)
    assert (waiting.returncode, out, err) == (0, "0 seen, 0 new, 0 changed\n", "")
    desk.httpd.stop()
    assert sync(desk, *SOME_RANGE, "--no-wait") == {
        "from": "2026-01-01T00:00:00.000Z", "to": "2026-01-02T23:59:59.999Z", "done": False, "seen": 0, "new": 0,
        "changed": 0, "refused": 0}
    assert desk.ctl.refused(3, "refund", "sync", "shop", *LIVE_MODE, *SOME_RANGE, "--no-wait")
    desk.restart()
    wait_for(lambda: desk.proxy.of("list"), "the server to fetch it")
    done = wait_for(lambda: (one := desk.ctl.run("refund", "sync", "shop", *LIVE_MODE, *SOME_RANGE, "--no-wait"))
                    .returncode == 0 and one, "the range to be done")
    assert (done.stdout, done.stderr) == ("asked for\n", "")
