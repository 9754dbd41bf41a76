# SPDX-License-Identifier: Apache-2.0
"""The changes that cause events, the order of events, and their contents."""

import json

import pytest

from ctl_program import record
from harness import reference, wait_for
from receiver import in_order


PAID = ("transaction", "successful", 1)
DECLINED = ("transaction", "failed", 1)


def verified(shop, ref, key=None):
    return shop.call("GET", f"/api/v1/transaction/{ref}/verify", key=key).json["data"]


@pytest.mark.parametrize("token, event, code", [
    pytest.param("tok_test_success", PAID, "00", id="approved"),
    pytest.param("tok_test_declined", DECLINED, "05", id="declined"),
    pytest.param("tok_test_insufficient_funds", DECLINED, "51", id="insufficient funds"),
    pytest.param("tok_test_expired_card", DECLINED, "54", id="expired card"),
    pytest.param("tok_test_refund_fails", PAID, "00", id="approved, refunds will fail"),
])
def test_charge_decided_at_once(hook, token, event, code):
    ref = reference()
    hook.shop.charge(reference=ref, token=token)
    assert hook.told(1) == [event]
    data = hook.receiver.got[0].json["data"]
    assert (data["reference"], data["gatewayResponseCode"], data["status"]) == (ref, code, event[1])
    assert data["paymentStatus"] == data["status"] and data["domain"] == "test"


@pytest.mark.parametrize("token, event", [
    pytest.param("tok_test_timeout", PAID, id="no answer, found successful"),
    pytest.param("tok_test_error", DECLINED, id="an error, found failed"),
])
def test_charge_decided_by_reconciliation(hook, token, event):
    """No event while it is pending; once it is decided, one event, and verify is not older than it."""
    ref, seen = reference(), []

    def answer(delivery):
        seen.append(verified(hook.shop, ref))
        return 200

    hook.receiver.answers["/hook"] = answer
    assert hook.shop.charge(reference=ref, token=token).status == 202
    assert hook.told(1) == [event]
    [one] = hook.wait()
    assert one.json["data"]["status"] == seen[0]["status"] == event[1]
    assert seen[0]["updatedAt"] >= one.json["data"]["updatedAt"]
    wait_for(lambda: not hook.shop.events(), "it to be gone")
    assert len(hook.receiver.got) == 1


def test_charge_that_is_approved_by_card(hook):
    """A token of a card that gives no answer: the same as the test token."""
    made = hook.httpd.ctl("token", "create", hook.shop.name, "--mode", "test", "--card", "4000000000000119",
                          "--email", "ada@example.com", "--json")
    assert hook.shop.charge(token=json.loads(made.stdout)["token"]).status == 202
    assert hook.told(1) == [PAID]


def test_refunds(hook):
    """Partial refunds, then the rest: refunds and the reversal cause events, numbered in order, each as it was then."""
    ref = reference()
    hook.shop.charge(reference=ref, amount=100)
    partial = "/api/v1/partial-refund"
    first = hook.shop.call("POST", partial, {"reference": ref, "amount": 30, "customer_note": "é"}).json
    second = hook.shop.call("POST", partial, {"reference": ref, "amount": "20.5"}).json
    last = hook.shop.call("POST", "/api/v1/refund", {"reference": ref}).json
    assert hook.told(5) == [PAID, ("refund", "processed", 2), ("refund", "processed", 3), ("refund", "processed", 4),
                            ("transaction", "reversed", 5)]
    got = [one.json["data"] for one in hook.wait(5)]
    for record_sent, refund in zip(got[1:4], (first, second, last)):
        assert json.dumps(record_sent) == json.dumps(refund), "not the record, or in another order"
    assert (got[0]["status"], got[0]["refundedAmount"]) == ("successful", 0), "not as it was then"
    assert (got[4]["status"], got[4]["refundedAmount"]) == ("reversed", 100)
    assert in_order(hook.receiver.got) == {ref: 5}


def test_full_refund(hook):
    ref = reference()
    hook.shop.charge(reference=ref)
    hook.shop.call("POST", "/api/v1/refund", {"reference": ref})
    assert hook.told(3) == [PAID, ("refund", "processed", 2), ("transaction", "reversed", 3)]


def test_refund_by_the_tool(hook):
    ref = reference()
    hook.shop.charge(reference=ref, amount=10)
    hook.shop.refund(ref)
    assert hook.told(3) == [PAID, ("refund", "processed", 2), ("transaction", "reversed", 3)]
    assert hook.receiver.got[1].json["data"]["channel"] == "cli"


def test_refund_that_fails(hook):
    """It causes an event, moves nothing, and the amount can still be refunded."""
    ref = reference()
    hook.shop.charge(reference=ref, token="tok_test_refund_fails", amount=100)
    answer = hook.shop.call("POST", "/api/v1/refund", {"reference": ref})
    assert answer.json["status"] == "failed"
    assert hook.told(2) == [PAID, ("refund", "failed", 2)]
    assert hook.receiver.got[1].json["data"] == answer.json


def test_state_is_never_older_than_the_event(hook):
    """Whoever asks on receiving an event finds at least what it says."""
    ref, order, seen = reference(), ["successful", "reversed"], []

    def answer(delivery):
        seen.append((delivery, verified(hook.shop, ref)))
        return 200

    hook.receiver.default = answer
    hook.shop.charge(reference=ref, amount=40)
    for _ in range(4):
        hook.shop.refund(ref, "10", merchant_note=reference())
    hook.told(6)
    assert len(seen) == 6
    for delivery, now in seen:
        data = delivery.json["data"]
        if delivery.json["notify"] == "transaction":
            assert order.index(now["status"]) >= order.index(data["status"])
            assert now["refundedAmount"] >= data["refundedAmount"]
        else:
            assert now["refundedAmount"] >= 10 * (delivery.json["sequence"] - 1)


def test_what_is_not_told(hook, tmp_path):
    """Replays, refusals, conflicts, voids, reading and imported history write no event."""
    shop, ref = hook.shop, reference()
    shop.charge(reference=ref, amount=100)
    partial = {"reference": ref, "amount": 10}
    assert shop.call("POST", "/api/v1/partial-refund", partial, headers={"Idempotency-Key": "k1"}).status == 200
    assert hook.told(2) == [PAID, ("refund", "processed", 2)]
    assert shop.charge(reference=ref, amount=100).header("idempotent-replayed") == "true"
    again = shop.call("POST", "/api/v1/partial-refund", partial, headers={"Idempotency-Key": "k1"})
    assert again.header("idempotent-replayed") == "true"
    assert shop.call("POST", "/api/v1/partial-refund", partial).status == 409
    assert shop.charge(reference=ref, amount=99).status == 409
    assert shop.call("POST", "/api/v1/partial-refund", {"reference": ref, "amount": 1000}).status == 409
    assert shop.charge(token="tok_test_none").status == 400
    assert shop.call("POST", "/api/v1/void-transaction", {"transactionReference": ref}).status == 409
    verified(shop, ref)
    shop.refunds()
    (tmp_path / "history").write_text(json.dumps(record(1, transactionReference=ref, amount="5.00")) + "\n")
    hook.httpd.ctl("refund", "import", shop.name, str(tmp_path / "history"), "--mode", "test")
    assert len(shop.refunds().json) == 2, "the import came through"
    shop.charge(reference=ref + "-last")
    hook.told(3)
    assert [one.reference for one in hook.receiver.got] == [ref, ref, ref + "-last"]
    assert shop.events() == []


def test_test_and_live_are_apart(hook):
    """A test event goes to the test webhook only, also where Live Mode has one; nothing starts in Live Mode here."""
    live = hook.receiver.url("/live").replace("http:", "https:")
    hook.shop.webhook(live, mode="live")
    assert hook.shop.webhook_secret("live") != hook.secret
    hook.shop.charge()
    assert hook.told(1) == [PAID]
    assert hook.shop.events(mode="live") == []
    assert hook.shop.webhook_state()["url"] != hook.shop.webhook_state("live")["url"]
    hook.shop.webhook_off("live")


def test_accounts_are_apart(hooks):
    one, other = hooks(), hooks()
    mine, theirs = reference(), reference()
    one.shop.charge(reference=mine)
    other.shop.charge(reference=theirs)
    assert [event.reference for event in one.wait()] == [mine]
    assert [event.reference for event in other.wait()] == [theirs]
    assert one.receiver.got[0].json["data"]["id"] == other.receiver.got[0].json["data"]["id"] == 1
    assert one.receiver.got[0].id != other.receiver.got[0].id, "two accounts' events share an id"


def test_no_webhook_no_events(telling, hook):
    """An account without one has no events; changes from before it was set cause none later."""
    shop, ref = telling.shop(), reference()
    shop.charge(reference=ref, amount=100)
    shop.refund(ref, "10")
    assert shop.events() == []
    secret = shop.webhook(hook.receiver.url("/later"))
    shop.refund(ref, "20")
    [one] = hook.receiver.wait(1, path="/later")
    assert one.check(secret).what == ("refund", "processed")
    shop.webhook_off()
    assert len(hook.receiver.at("/later")) == 1


def test_ids_and_bytes_are_stable(hook):
    """However often an event is tried, by retry too: one id, one body; and no two events share an id."""
    ref = reference()
    hook.receiver.default = 503
    hook.shop.charge(reference=ref, amount=100)
    for count in range(1, 4):
        hook.wait(count)
        [left] = wait_for(lambda: [one for one in hook.shop.events() if one["tries"] > 0], "the failure to be stored")
        hook.shop.event("retry", left["id"])
    hook.shop.refund(ref, "10")
    hook.receiver.default = 200
    hook.shop.event("retry", left["id"], check=False)  # its time may have come before
    hook.told(2)
    first = [one for one in hook.receiver.got if one.json["sequence"] == 1]
    assert len(first) >= 4
    assert len({one.id for one in first}) == len({one.body for one in first}) == 1
    assert len({one.id for one in hook.receiver.got}) == 2


def test_order_under_failures(hook):
    """An eighth of the events fail once: all arrive, and none before its predecessor was taken."""
    hook.httpd.expect_log("PAY00267")
    tried = set()

    def answer(delivery):
        first = delivery.id not in tried
        tried.add(delivery.id)
        return 500 if first and delivery.id[-1] in "01" else 200

    hook.receiver.default = answer
    refs = [reference() for _ in range(15)]
    for ref in refs:
        hook.shop.charge(reference=ref, amount=100)
        for amount in ("10", "20", "30"):
            hook.shop.call("POST", "/api/v1/partial-refund", {"reference": ref, "amount": amount})
    hook.receiver.wait_taken(4 * len(refs), seconds=90)
    assert in_order(hook.receiver.got) == {ref: 4 for ref in refs}
    for one in hook.receiver.got:
        one.check(hook.secret)
    wait_for(lambda: not hook.shop.events(), "nothing to be left")
