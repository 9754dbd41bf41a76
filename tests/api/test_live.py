# SPDX-License-Identifier: Apache-2.0
"""Live Mode through the relay: the upstream is another mod_payments, behind TLS and a proxy that reads what passes."""

import json
import re

import pytest

from exposition import OPEN
from harness import wait_for
from upstream import ACQUIRER_CUT, EMAIL, Till, live_reference
from upstream_proxy import TAG, Fault, Hold, Proxy, closed_unanswered, own

HEX = re.compile(r"[0-9a-f]{32}")
NOTE_MAX = 500


@pytest.fixture(scope="module")
def running(authority, upstream):
    """A server and the proxy behind it, for all tests that want no settings of their own."""
    with Proxy(authority, upstream.port) as proxy:
        with_metrics = Till(proxy.url, upstream.key, authority, host_extra=f"PaymentsFailureLimit off\n{OPEN}").start()
        yield with_metrics, proxy
        with_metrics.close()


@pytest.fixture
def live(running):
    """The same, nothing passed yet; a loud log line that this test did not expect fails this test."""
    httpd, proxy = running
    proxy.forget()
    yield running
    loud = httpd.unexpected()
    assert not loud, "unexpected in the error log:\n" + "\n".join(loud)


def decided(shop, ref, status):
    """Its transaction object, once reconciliation has decided it."""
    def ask():
        found = shop.verify(ref)
        assert found["status"] in ("pending", status), found
        return found if found["status"] == status else None

    return wait_for(ask, f"{ref} to be {status}")


def the_upstreams(upstream, proxy):
    """The upstream's row of the one charge that was sent."""
    (sent,) = proxy.of("charge")
    return upstream.charges()[sent.name]


# ---- charges

@pytest.mark.parametrize("token, status, code, first6", [
    pytest.param("acq_success", "successful", "00", "555555", id="approved"),
    pytest.param("acq_declined", "failed", "05", "123456", id="declined"),
    pytest.param("acq_insufficient", "failed", "51", "400000", id="insufficient funds"),
])
def test_charge(live, upstream, token, status, code, first6):
    """The upstream decides it; the answer is as in Test Mode, and is replayed byte for byte without asking again."""
    httpd, proxy = live
    shop = httpd.live_shop
    ref = live_reference()
    answer = shop.charge(reference=ref, token=token, amount="10.50", firstName="Ada", lastName="Lovelace")
    assert answer.status == 200, answer
    data = answer.json["data"]
    assert answer.json["status"] is (status == "successful")
    assert (data["reference"], data["paymentStatus"], data["domain"], data["amount"], data["currency"]) == (
        ref, status, "live", 10.5, "NGN")
    assert data["gatewayResponseCode"] == code and data["card"]["first6Digits"] == first6, data
    theirs = the_upstreams(upstream, proxy)
    assert (theirs["status"], theirs["amount"], theirs["currency"]) == (status, 10.5, "NGN")
    assert data["authorizationCode"] == theirs["authorizationCode"]
    assert data["gatewayResponseMessage"] == theirs["gatewayResponseMessage"]
    assert shop.verify(ref)["status"] == status
    again = shop.charge(reference=ref, token=token, amount=10.5, firstName="Ada", lastName="Lovelace")
    assert (again.status, again.body) == (200, answer.body)
    assert again.header("idempotent-replayed") == "true"
    assert shop.charge(reference=ref, token=token, amount=11).status == 409
    assert len(proxy.exchanges) == 1, proxy.exchanges


def test_upstream_learns_a_name_of_its_own(live):
    """32 hex digits that are the same for ever, and nothing of the shop's reference; and what the call must say."""
    httpd, proxy = live
    shop, ref = httpd.live_shop, live_reference()
    shop.charge(reference=ref)
    (sent,) = proxy.of("charge")
    assert HEX.fullmatch(sent.name)
    assert ref.encode() not in sent.request and b"shop" not in sent.request
    assert {name: sent.body[name] for name in ("token", "email", "currency")} == {
        "token": "acq_success", "email": EMAIL, "currency": "NGN"}
    assert float(sent.body["amount"]) == 1000
    assert sent.headers["content-type"].startswith("application/json") and "expect" not in sent.headers
    assert sent.headers["authorization"].startswith("Bearer ")
    shop.charge(reference=live_reference())
    assert len({one.name for one in proxy.of("charge")}) == 2


def test_pending_and_then_successful(live, upstream):
    httpd, proxy = live
    shop, ref = httpd.live_shop, live_reference()
    first = shop.charge(reference=ref, token="acq_pending")
    assert first.status == 202 and first.json["data"]["paymentStatus"] == "pending", first
    found = decided(shop, ref, "successful")
    assert found["gatewayResponseCode"] == "00"
    again = shop.charge(reference=ref, token="acq_pending")
    assert again.status == 200 and again.json["data"]["paymentStatus"] == "successful"
    assert len(proxy.of("charge")) == 1 and proxy.of("query")
    assert found["authorizationCode"] == the_upstreams(upstream, proxy)["authorizationCode"]


def test_lost_answer_is_asked_for(live, upstream):
    """The upstream charges and does not answer: the shop learns the truth, and nothing is charged twice."""
    httpd, proxy = live
    httpd.expect_log(ACQUIRER_CUT)
    shop, ref = httpd.live_shop, live_reference()
    proxy.next("charge", closed_unanswered())
    assert shop.charge(reference=ref).status == 202
    assert shop.charge(reference=ref).status in (202, 200)
    found = decided(shop, ref, "successful")
    assert list(proxy.posts.values()) == [1]
    assert found["authorizationCode"] == the_upstreams(upstream, proxy)["authorizationCode"]


@pytest.mark.parametrize("fields, field", [
    pytest.param({"token": "tok_test_success"}, "/token", id="a test token"),
    pytest.param({"token": "tok_test_nothing"}, "/token", id="what begins as one"),
    pytest.param({"token": "5555555555554444"}, "/token", id="a test card"),
    pytest.param({"email": "nobody"}, "/email", id="no e-mail"),
    pytest.param({"amount": 0}, "/amount", id="nothing"),
])
def test_refused_here(live, fields, field):
    """What is wrong in itself never reaches the upstream, and is not stored."""
    httpd, proxy = live
    shop, ref = httpd.live_shop, live_reference()
    answer = shop.charge(reference=ref, **fields)
    assert answer.status == 400, answer
    assert [one["field"] for one in answer.json["data"]["errors"]] == [field]
    assert shop.call("GET", f"/api/v1/checkout/{ref}/verify").status == 404
    assert not proxy.exchanges


@pytest.mark.parametrize("fields", [
    pytest.param({"token": "acq_nobody_has_this"}, id="a token that it does not know"),
    pytest.param({"email": "grace@example.com"}, id="a token of another payer"),
    pytest.param({"currency": "XYZ"}, id="a currency that there is not"),
])
def test_refused_by_the_upstream(live, upstream, fields):
    """A token that the store does not hold is passed on unjudged; what the upstream refuses is declined."""
    httpd, proxy = live
    shop, ref = httpd.live_shop, live_reference()
    answer = shop.charge(reference=ref, **fields)
    if answer.status == 400:  # what is judged here already
        assert not proxy.exchanges and "currency" in fields
        return
    assert answer.status == 200 and answer.json["status"] is False, answer
    assert answer.json["data"]["paymentStatus"] == "failed"
    (sent,) = proxy.of("charge")
    assert sent.status == 400 and sent.name not in upstream.charges()
    again = shop.charge(reference=ref, **fields)
    assert again.body == answer.body and again.header("idempotent-replayed") == "true"
    assert len(proxy.of("charge")) == 1


# ---- refunds

def test_refunds(live, upstream):
    """Partial and full ones are partial ones upstream, exact, with a tag behind the note that only it sees."""
    httpd, proxy = live
    shop, ref = httpd.live_shop, live_reference()
    assert shop.charge(reference=ref, amount="100.00").status == 200
    part = shop.partial(ref, "30.25", merchant_note="a broken cup", customer_note="sorry")
    assert part.status == 200, part
    assert {name: part.json[name] for name in ("amount", "status", "domain", "merchantNote", "customerNote")} == {
        "amount": "30.25", "status": "processed", "domain": "live", "merchantNote": "a broken cup",
        "customerNote": "sorry"}
    assert shop.verify(ref)["refundedAmount"] == 30.25
    rest = shop.call("POST", "/api/v1/refund", {"reference": ref})
    assert (rest.status, rest.json["amount"], rest.json["status"]) == (200, "69.75", "processed"), rest
    assert shop.verify(ref)["status"] == "reversed"
    assert shop.call("POST", "/api/v1/refund", {"reference": ref}).status == 409

    (charged,) = proxy.of("charge")
    sent = proxy.of("refund")
    assert [float(one.body["amount"]) for one in sent] == [30.25, 69.75]
    assert {one.body["reference"] for one in sent} == {charged.name}
    assert all(TAG.search(one.body["merchant_note"]) for one in sent) and len({one.name for one in sent}) == 2
    assert sent[0].body["merchant_note"] == f"a broken cup [payments:{sent[0].name}]"
    assert sent[0].body["customer_note"] == "sorry"
    assert the_upstreams(upstream, proxy)["status"] == "reversed"
    listed = [row for row in shop.refunds().json if row["transactionReference"] == ref]
    assert [row["refundReference"] for row in listed] == [part.json["refundReference"], rest.json["refundReference"]]
    assert listed[0]["merchantNote"] == "a broken cup" and listed[1]["merchantNote"] is None
    assert shop.call("GET", f"/api/v1/refund/{listed[0]['refundReference']}").json == listed[0]
    assert shop.refunds(key=shop.test_secret).json == []
    theirs = [row for row in upstream.rows("refund") if row["transactionReference"] == charged.name]
    assert [row["amount"] for row in theirs] == ["30.25", "69.75"]


def test_note_is_cut_for_the_tag(live):
    """The upstream takes 500 characters: the tag is always whole, and our own note stays as it was given."""
    httpd, proxy = live
    shop, ref, note = httpd.live_shop, live_reference(), "é" * NOTE_MAX
    shop.charge(reference=ref)
    answer = shop.partial(ref, "1.00", merchant_note=note)
    assert answer.status == 200 and answer.json["status"] == "processed", answer
    assert answer.json["merchantNote"] == note
    told = proxy.of("refund")[0].body["merchant_note"]
    assert len(told) <= NOTE_MAX and TAG.search(told) and told.startswith("é" * 400)


def test_refund_is_repeated_by_its_key(live):
    httpd, proxy = live
    shop, ref = httpd.live_shop, live_reference()
    shop.charge(reference=ref)
    key = {"Idempotency-Key": "once"}
    first = shop.partial(ref, "5.00", headers=key)
    again = shop.partial(ref, "5.00", headers=key)
    assert (again.status, again.body) == (first.status, first.body) == (200, first.body)
    assert again.header("idempotent-replayed") == "true"
    assert len(proxy.of("refund")) == 1


def test_lost_refund_is_found_by_its_tag(live, upstream):
    httpd, proxy = live
    httpd.expect_log(ACQUIRER_CUT)
    shop, ref = httpd.live_shop, live_reference()
    shop.charge(reference=ref)
    shop.partial(ref, "7.00")  # another one of the same amount, which is not to be taken for it
    proxy.next("refund", closed_unanswered())
    lost = shop.partial(ref, "7.00", merchant_note="the second").json
    assert lost["status"] == "pending", lost
    assert shop.partial(ref, "1.00").status == 409, "another one while it is at the acquirer"
    path = f"/api/v1/refund/{lost['refundReference']}"
    wait_for(lambda: shop.call("GET", path).json["status"] == "processed", "the refund to be found")
    assert not proxy.repeated() and len(proxy.of("refund")) == 2
    assert shop.verify(ref)["refundedAmount"] == 14
    tags = {row["merchantNote"] for row in upstream.rows("refund")}
    assert {f"the second [payments:{proxy.of('refund')[1].name}]"} <= tags


def test_refund_that_the_upstream_refuses(live, upstream):
    """Somebody gave the money back upstream: 200 with status failed, and nothing is taken off here."""
    httpd, proxy = live
    shop, ref = httpd.live_shop, live_reference()
    shop.charge(reference=ref)
    (charged,) = proxy.of("charge")
    upstream.ctl("refund", "create", "merchant", "--mode", "test", "--reference", charged.name)
    answer = shop.partial(ref, "5.00")
    assert answer.status == 200 and answer.json["status"] == "failed", answer
    assert shop.verify(ref)["refundedAmount"] == 0


def test_refund_by_the_tool_is_carried_out_by_the_server(live):
    """paymentsctl holds no key of the acquirer: it writes the refund, and the server sends it, once."""
    httpd, proxy = live
    shop, ref = httpd.live_shop, live_reference()
    shop.charge(reference=ref)
    made = json.loads(httpd.ctl("refund", "create", "shop", "--mode", "live", "--reference", ref, "--amount", "12.00",
                                "--merchant-note", "by hand", "--json").stdout)
    assert made["status"] == "pending" and made["channel"] == "cli", made
    path = f"/api/v1/refund/{made['refundReference']}"
    wait_for(lambda: shop.call("GET", path).json["status"] == "processed", "the server to carry it out")
    (sent,) = proxy.of("refund")
    assert sent.body["merchant_note"] == f"by hand [payments:{sent.name}]"
    assert shop.verify(ref)["refundedAmount"] == 12


def test_refund_by_the_tool_while_the_server_is_stopped(till, proxy):
    httpd = till()
    shop, ref = httpd.live_shop, live_reference()
    shop.charge(reference=ref)
    httpd.stop()
    httpd.ctl("refund", "create", "shop", "--mode", "live", "--reference", ref)
    assert not proxy.of("refund")
    httpd.process = None
    httpd.start()
    wait_for(lambda: shop.verify(ref)["status"] == "reversed", "the refund")
    assert len(proxy.of("refund")) == 1


# ---- modes

def test_no_live_acquirer(till):
    httpd = till(acquirer=False)
    shop, ref = httpd.live_shop, live_reference()
    answer = shop.charge(reference=ref)
    assert answer.status == 403 and "acquirer" in answer.json["message"].lower(), answer
    assert shop.call("GET", f"/api/v1/checkout/{ref}/verify").status == 404
    assert shop.refunds().json == []
    assert shop.charge(key=shop.test_secret, token="tok_test_success").status == 200


def test_mode_switch(till, proxy):
    """While the account is in Test Mode a live key starts nothing; earlier transactions are shown and replayed."""
    httpd = till(live=False)
    shop, ref = httpd.live_shop, live_reference()
    answer = shop.charge(reference=ref)
    assert answer.status == 403 and answer.json["data"]["responseCode"] == "B02", answer
    assert "PAY00244: account shop is in Test Mode: its live keys start nothing" in httpd.log_text()
    shop.mode("live")
    first = shop.charge(reference=ref)
    assert first.status == 200, first
    assert shop.charge(key=shop.test_secret, token="tok_test_success").status == 200
    shop.mode("test")
    assert shop.charge().status == 403
    assert shop.partial(ref, "1.00").status == 403
    again = shop.charge(reference=ref)
    assert again.body == first.body and again.header("idempotent-replayed") == "true"
    assert shop.verify(ref)["status"] == "successful" and shop.refunds().status == 200
    assert shop.charge(key=shop.test_secret, token="tok_test_success").status == 200
    assert len(proxy.exchanges) == 1


def test_modes_do_not_meet(live):
    """One reference in both modes is two charges; neither key sees the other's."""
    httpd, proxy = live
    shop, ref = httpd.live_shop, live_reference()
    live = shop.charge(reference=ref)
    test = shop.charge(reference=ref, key=shop.test_secret, token="tok_test_success")
    assert (live.status, test.status) == (200, 200)
    assert (live.json["data"]["domain"], test.json["data"]["domain"]) == ("live", "test")
    assert test.header("idempotent-replayed") is None
    assert len(proxy.of("charge")) == 1
    other = live_reference()
    shop.charge(reference=other)
    assert shop.call("GET", f"/api/v1/checkout/{other}/verify", key=shop.test_secret).status == 404


def test_public_key_charges_nothing(live):
    httpd, proxy = live
    shop = httpd.live_shop
    assert shop.charge(key=shop.live_public).status == 403
    assert not proxy.exchanges


# ---- secrets

def test_secrets_are_shown_nowhere(till, upstream, proxy):
    """Not in logs at their loudest, not by mod_info, not in the process's environment or command line."""
    httpd = till(extra="<Location /server-info>\nSetHandler server-info\n</Location>\nLogLevel payments:trace8")
    httpd.expect_log(ACQUIRER_CUT)
    shop, ref = httpd.live_shop, live_reference()
    assert shop.charge(reference=ref, lastName="Lovelace-King").status == 200
    proxy.next("charge", own(500, "no"), own(200, "<html>"))
    for _ in range(2):
        assert shop.charge(lastName="Lovelace-King").status == 202
    shop.partial(ref, "1.00", merchant_note="a private note")
    shown = httpd.request("GET", "/server-info").body.decode()
    assert "PaymentsAcquirer" in shown
    places = {"mod_info": shown, "error log": httpd.log_text(), "access log": "\n".join(httpd.access_lines()),
              "settings": json.dumps(json.loads(httpd.ctl("account", "show", "shop", "--json").stdout))}
    for pid in (httpd.process.pid, *httpd.pids()):
        for name in "environ", "cmdline":
            with open(f"/proc/{pid}/{name}", "rb") as text:
                places[f"{pid}'s {name}"] = text.read().decode("latin-1")
    for place, text in places.items():
        for secret in (upstream.key, shop.secret, "acq_success", EMAIL, "Lovelace-King", "a private note"):
            assert secret not in text, f"{secret} in {place}"


def test_another_key_after_a_reload(till, upstream, proxy):
    """The file is read at each start and reload; a key that the upstream does not know stops the account's payments."""
    httpd = till()
    httpd.expect_log("PAY00450")  # it refuses the key
    shop = httpd.live_shop
    assert shop.charge().status == 200
    httpd.key_file.write_text("pay_testsk_" + "a" * 48)
    httpd.graceful()

    def refused():
        """A child of before may still serve, and what it charges under a reference stays charged."""
        ref = live_reference()
        return shop.charge(reference=ref).status == 202 and ref

    ref = wait_for(refused, "the other key")
    assert proxy.of("charge")[-1].status == 401
    assert shop.charge().status == 503
    httpd.key_file.write_text(upstream.key)
    httpd.graceful()
    wait_for(lambda: shop.charge().status == 200, "the first key again")
    assert shop.verify(ref)["status"] == "pending" and not proxy.repeated()


@pytest.mark.parametrize("stopping", ["stop", "graceful"])
def test_the_end_of_a_process_is_no_news(till, proxy, stopping):
    """A list, and a question, that are under way when it stops: not a word in the log, and both are asked again."""
    httpd = till(sync="1s")
    httpd.expect_log(ACQUIRER_CUT)
    shop, ref, hold = httpd.live_shop, live_reference(), Hold()
    proxy.fail(Fault(hold=hold), "list", "query")
    proxy.next("charge", closed_unanswered())
    assert shop.charge(reference=ref).status == 202
    wait_for(lambda: hold.waiting >= 2, "a list and a question")
    if stopping == "stop":
        httpd.stop()
        httpd.process = None
    else:
        httpd.graceful()
    proxy.heal()
    hold.release()
    if stopping == "stop":
        httpd.start()
    decided(shop, ref, "successful")
    lists = len(proxy.of("list"))
    wait_for(lambda: len(proxy.of("list")) > lists, "another list")


@pytest.mark.parametrize("mpm", ["worker", "prefork"])
def test_other_mpms(till, proxy, mpm):
    httpd = till(mpm=mpm)
    httpd.expect_log(ACQUIRER_CUT)
    shop, ref, lost = httpd.live_shop, live_reference(), live_reference()
    assert shop.charge(reference=ref).status == 200
    assert shop.partial(ref, "1.00").json["status"] == "processed"
    proxy.next("charge", closed_unanswered())
    assert shop.charge(reference=lost).status == 202
    decided(shop, lost, "successful")
    assert not proxy.repeated()
