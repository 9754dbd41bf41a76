# SPDX-License-Identifier: Apache-2.0
"""Payments that wait for a person in Live Mode are decided on the dashboard, only once; users and outcomes."""

import functools

import pytest

from dashboard import settings
from harness import WAIT_S, at_once, beside, wait_for
from payer import Checkout
from test_ctl_live import HOUR, Desk as Books, Later, other_amount
from test_dashboard import Desk
from test_dashboard_changes import audit, may_change, of
from upstream import EMAIL, live_reference
from upstream_proxy import Fault, Hold, own


WHY = "ticket 4711"
# Why it is held, and the log lines about it: a payment that differs becomes overdue, too.
ALERTS = {"overdue": "PAY00421", "different": "PAY00421|PAY00422", "late": "PAY00423"}


@pytest.fixture
def open_desk(till, proxy):
    """Makes the desk of a shop in Live Mode, and its books beside it; `options` are those of its server."""
    def make(host_extra="PaymentsPendingAlert 2s", prepare=lambda httpd: None, **options):
        httpd = till(start=False, **options)
        httpd.host_extra += "\n".join(("", host_extra, settings(httpd)))
        prepare(httpd)
        httpd.start()
        return Desk(httpd, httpd.live_shop), Books(httpd, proxy)

    return make


def overdue_charge(books):
    books.lost(amount="20.00")


def overdue_refund(books):
    books.lost_refund(books.charged())


def different_charge(books):
    books.lost(amount="12.34")
    books.proxy.fail(Fault(edit=other_amount), "query")


def held(desk):
    return desk.get("held", mode="live")["items"]


def one_held(desk, why="overdue"):
    """The only one, once it is held, and where it is decided."""
    desk.shop.httpd.expect_log(ALERTS[why])
    (item,) = wait_for(lambda: held(desk), "it to be held")
    assert item["held"] == why
    if item["kind"] == "charge":  # and on its own page
        assert desk.get(f"charges/{item['id']}", mode="live")["held"]["sentence"] == item["sentence"]
    assert len(item["sentence"].split()) > 3
    assert list(item) == ["kind", "id", "chargeId", "reference", "amount", "currency", "createdAt", "status",
                          "paymentStatus", "held", "sentence"]
    row = as_listed(desk, item)
    assert (item["amount"], item["currency"], item["createdAt"]) == (row["amount"], row["currency"], row["createdAt"])
    return item, of(desk, f"live/{item['kind']}s/{item['id']}/resolve")


def test_held_ones_page_by_page(open_desk):
    desk, books = open_desk()
    overdue_refund(books)
    books.proxy.heal()
    overdue_charge(books)
    desk.shop.httpd.expect_log(ALERTS["overdue"])
    everything = wait_for(lambda: held(desk) if len(held(desk)) == 2 else None, "both to be held")
    assert sorted(one["kind"] for one in everything) == ["charge", "refund"]
    items, after = [], ""
    while after is not None:
        page = desk.get(f"held?limit=1{after}", mode="live")
        items += page["items"]
        after = page["next"] and "&after=" + page["next"]
    assert items == everything
    assert desk.get("held?limit=3", mode="live") == {"items": everything, "next": None}
    for after in "charge.x", "refund.", "refund.x", "charge", "x.1":
        answer = desk.viewer.get(desk.scope(f"held?after={after}", "live"))
        assert answer.status == 400 and answer.json["data"]["errors"][0]["field"] == "/after"


def decision(outcome):
    return {"outcome": outcome, "reason": WHY}


def as_listed(desk, item):
    """The held one as the pages of all charges or refunds show it."""
    (row,) = [one for one in desk.get(f"{item['kind']}s", mode="live")["items"]
              if item["id"] == (str(one["id"]) if item["kind"] == "charge" else one["refundReference"])]
    return row


@pytest.mark.parametrize("hold, why, outcome, status", [
    pytest.param(overdue_charge, "overdue", "approved", "successful", id="an overdue charge, approved"),
    pytest.param(overdue_charge, "overdue", "declined", "failed", id="an overdue charge, declined"),
    pytest.param(different_charge, "different", "declined", "failed", id="another amount there, declined"),
    pytest.param(overdue_refund, "overdue", "processed", "processed", id="an overdue refund, processed"),
    pytest.param(overdue_refund, "overdue", "failed", "failed", id="an overdue refund, failed"),
])
def test_held_one_is_decided(open_desk, hold, why, outcome, status):
    desk, books = open_desk()
    hold(books)
    item, path = one_held(desk, why)
    kind = item["kind"]
    assert item["status"] == "pending" and desk.get("overview", mode="live")["held"] == 1
    answer = may_change(desk, path, decision(outcome), "operator", f"{kind} resolve")
    assert answer.json[kind]["status"] == status == as_listed(desk, item)["status"]
    (entry,) = [one for one in desk.owner.get(of(desk, "audit")).json["items"] if one["what"] == f"{kind} resolve"]
    assert entry["subject"] == (item["reference"] if kind == "charge" else item["id"])
    assert entry["detail"] == f"live: {status}: {WHY}"
    assert held(desk) == [] and desk.get("overview", mode="live")["held"] == 0
    seen = desk.get(f"charges/{item['chargeId']}", mode="live")
    assert seen["held"] is None and seen["charge"]["status"] == (status if kind == "charge" else "successful")
    for again in ("approved", "declined") if kind == "charge" else ("processed", "failed"):
        answer = desk.operator.post(path, decision(again))
        assert answer.status == 409 and f"is {status}: it does not wait for a decision" in answer.json["message"]
    assert as_listed(desk, item)["status"] == status and len(audit(desk)) == 1
    books.well()


def test_timeline_stays_as_it_was(open_desk):
    """What is refunded later moves nothing that happened before."""
    desk, books = open_desk()
    overdue_charge(books)
    item, path = one_held(desk)
    assert desk.operator.post(path, decision("approved")).status == 200
    timeline = lambda: desk.get(f"charges/{item['id']}", mode="live")["timeline"]
    before = timeline()
    assert [(one["what"], one["text"]) for one in before] == [
        ("opened", item["reference"]), ("decided", "successful: Decided by the merchant."), ("resolved", WHY)]
    books.proxy.heal()
    assert desk.shop.partial(item["reference"], "5.00").json["status"] == "processed"
    after = timeline()
    assert after[:3] == before and [one["what"] for one in after[3:]] == ["refund-opened", "refund-processed"]
    assert [one["at"] for one in after] == sorted(one["at"] for one in after)


def test_two_people_decide_at_once(open_desk):
    """One of them decides, the others get its outcome, and the audit has one entry."""
    desk, books = open_desk()
    overdue_charge(books)
    item, path = one_held(desk)
    desk.operator.session()

    def decide(outcome):
        return outcome, desk.operator.post(path, decision(outcome))

    answers = at_once([functools.partial(decide, outcome) for outcome in ("approved", "declined") * 4])
    assert sorted(answer.status for _, answer in answers) == [200] + [409] * 7
    (outcome,) = [outcome for outcome, answer in answers if answer.status == 200]
    status = {"approved": "successful", "declined": "failed"}[outcome]
    assert all(f"is {status}" in answer.json["message"] for _, answer in answers if answer.status == 409)
    assert as_listed(desk, item)["status"] == status and audit(desk) == [("charge resolve", item["reference"])]
    books.well()


def test_one_that_is_being_worked_on(open_desk):
    """While its acquirer may yet answer nobody decides."""
    desk, books = open_desk(host_extra="")
    hold = Hold()
    books.proxy.next("charge", Fault(hold=hold))
    charging = beside(desk.shop.charge)
    wait_for(lambda: hold.waiting, "the charge to hang")
    (charge,) = desk.get("charges", mode="live")["items"]
    path = of(desk, f"live/charges/{charge['id']}/resolve")
    answer = desk.operator.post(path, decision("declined"))
    assert answer.status == 409 and "is at its acquirer now" in answer.json["message"]
    assert 1 <= int(answer.header("retry-after")) <= 26 and audit(desk) == []
    hold.release()
    assert charging.result(WAIT_S).status == 200
    assert as_listed(desk, {"kind": "charge", "id": str(charge["id"])})["status"] == "successful"


def test_one_that_failed_here_only(open_desk, upstream):
    """The shop was notified of the failure, which stays; a person closes the case after the acquirer's side."""
    clocks = []
    desk, books = open_desk("PaymentsAcquirerLateAfter 1s", lambda httpd: clocks.append(Later(httpd)), **Later.options)
    books.proxy.next("charge", own(500, "lost", "text/html"))
    ref = live_reference()
    assert desk.shop.charge(reference=ref, amount="21.00").status == 202
    wait_for(lambda: books.row("charge", ref)["status"] == "failed", "the charge to fail")
    assert held(desk) == []
    assert upstream.call("POST", "/api/v1/tokenized-card-charge", {
        "token": "acq_success", "amount": 21, "email": EMAIL,
        "reference": books.row("charge", ref)["acquirerReference"]}).status == 200
    clocks[0].put(6 * HOUR + 60)
    desk.shop.httpd.expect_log("PAY00171: charge " + ref)
    item, path = one_held(desk, "late")
    assert (item["reference"], item["status"]) == (ref, "failed")
    answer = desk.operator.post(path, decision("approved"))
    assert answer.status == 409 and "stays failed" in answer.json["message"]
    assert len(held(desk)) == 1
    answer = may_change(desk, path, decision("declined"), "operator", "charge resolve")
    assert answer.json["charge"]["status"] == "failed" and held(desk) == []
    answer = desk.operator.post(path, decision("declined"))
    assert answer.status == 409 and "does not wait for a decision" in answer.json["message"]
    books.well()


@pytest.mark.parametrize("outcome, status", [("approved", "successful"), ("declined", "void")])
def test_closed_checkout(open_desk, outcome, status):
    """It was voided here, and the acquirer has something else under its name: a person says whether it was paid."""
    clocks = []
    desk, books = open_desk(prepare=lambda httpd: clocks.append(Later(httpd)), **Later.options)
    checkout = Checkout(desk.shop)
    assert desk.shop.call("POST", "/api/v1/void-transaction", {"transactionReference": checkout.reference}).status == 200
    books.proxy.fail(Fault(edit=other_amount), "query")
    assert held(desk) == []
    clocks[0].put(6 * HOUR + 60)
    item, path = one_held(desk, "different")
    assert (item["reference"], item["status"], item["paymentStatus"]) == (checkout.reference, "failed", "void")
    answer = may_change(desk, path, decision(outcome), "operator", "charge resolve")
    assert answer.json["charge"]["paymentStatus"] == status and held(desk) == []
    assert checkout.status() == status
    answer = desk.operator.post(path, decision(outcome))
    assert answer.status == 409 and "does not wait for a decision" in answer.json["message"]
    books.well()
