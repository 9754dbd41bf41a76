# SPDX-License-Identifier: Apache-2.0
"""Checkouts by the API: how one is created and replayed, how it ends without its payer, and Live Mode's."""

import json
import re
import urllib.parse

import pytest

from harness import checkout_body, link_body, order_body, reference
from payer import Payer
from receiver import ALLOW, INSECURE, Receiver
from shares import ALIKE
from upstream import live_reference
from upstream_proxy import closed_unanswered, own, problem

pytestmark = ALIKE

INITIATE = "/api/v1/initiate"
LINK = "/api/v1/paymentlink/initiate"
ORDER = "/payment/order/create"
PAGE = re.compile(r"http://127\.0\.0\.1:\d+/payment/page/[a-z2-7]{32}\?reference=[!-~]+")


def initiate(shop, headers=None, key=None, **fields):
    return shop.call("POST", INITIATE, checkout_body(**fields), headers=headers, key=key)


def verify(shop, ref, key=None):
    return shop.call("GET", f"/api/v1/checkout/{ref}/verify", key=key).json["data"]


def check_unpaid(data, state):
    """In words and amounts that no shop takes for money."""
    assert (data["status"], data["paymentStatus"]) == ("failed", state)
    assert (data["requested_amount"], data["chargedAmount"]) == (0, 0) and data["amount"] > 0


def faults(answer):
    return [one["field"] for one in answer.json["data"]["errors"]]


# ---- what makes one

@pytest.mark.parametrize("kind", ["secret", "public"])
def test_initiate(shop, kind):
    ref = reference()
    answer = initiate(shop, key=getattr(shop, kind), transactionReference=ref, amount="1000.50", currency="ngn",
                      metaData={"cart": 7.10, "x": ["ö"]})
    assert answer.status == 200, answer
    data = answer.json["data"]
    assert list(data) == ["transactionReference", "amount", "statusCode", "statusMessage", "publicKey",
                          "paymentRedirectUrl"]
    assert answer.json["status"] is True and answer.json["message"] == "Transaction Initialized successfully"
    assert (data["transactionReference"], data["amount"], data["statusCode"]) == (ref, 1000.5, "01")
    assert data["publicKey"] == (shop.public if kind == "public" else "")
    assert PAGE.fullmatch(data["paymentRedirectUrl"])
    found = verify(shop, ref)
    assert (found["status"], found["amount"], found["currency"], found["channel"]) == ("pending", 1000.5, "NGN", "card")
    assert found["redirectUrl"] == "https://shop.example/done"
    assert json.loads(found["checkoutMetadata"]) == {"cart": 7.10, "x": ["ö"]}
    assert found["customer"]["name"] == "Ada Obi" and found["card"]["token"] == ""
    public = verify(shop, ref, shop.public)
    assert public["checkoutMetadata"] == "" and public["redirectUrl"] == "https://shop.example/done"


def test_order(shop):
    body = order_body(amount=10)
    answer = shop.call("POST", ORDER, body, key=shop.public)
    assert answer.status == 200, answer
    data = answer.json["data"]
    assert (answer.json["status"], answer.json["status_code"], answer.json["statusCode"], answer.json["message"]) == (
        "success", "00", "00", "Order created successfully")
    assert data["checkout_url"] == data["paymentLink"] and PAGE.fullmatch(data["paymentLink"])
    assert (data["order"]["reference"], data["order"]["amount"], data["order"]["status"]) == (
        body["order"]["reference"], 10, "pending")
    assert verify(shop, body["order"]["reference"])["status"] == "pending"


CUSTOMER = {"email": "payer@shop.example", "firstName": "Ada", "lastName": "Obi"}


@pytest.mark.parametrize("fields, at", [
    pytest.param({"transactionReference": "x" * 15}, "/transactionReference", id="reference of 15"),
    pytest.param({"transactionReference": "x" * 51}, "/transactionReference", id="reference of 51"),
    pytest.param({"transactionReference": "x" * 16 + "/"}, "/transactionReference", id="reference with a slash"),
    pytest.param({"amount": 0}, "/amount", id="amount 0"),
    pytest.param({"amount": "10.505"}, "/amount", id="too many decimals"),
    pytest.param({"amount": None}, "/amount", id="no amount"),
    pytest.param({"currency": ""}, "/currency", id="an empty currency"),
    pytest.param({"currency": "XXQ"}, "/currency", id="no such currency"),
    pytest.param({"checkoutCustomerData": None}, "/checkoutCustomerData", id="no payer"),
    pytest.param({"checkoutCustomerData": {**CUSTOMER, "email": "x"}}, "/checkoutCustomerData/email", id="e-mail"),
    pytest.param({"checkoutCustomerData": {**CUSTOMER, "firstName": ""}}, "/checkoutCustomerData/firstName", id="name"),
    pytest.param({"checkoutCustomerData": {**CUSTOMER, "lastName": "4111 1111 1111 1111"}},
                 "/checkoutCustomerData/lastName", id="a card number for a name"),
    pytest.param({"checkoutCustomerData": {**CUSTOMER, "firstName": "Ada 4111 1111 1111 1111 Obi"}},
                 "/checkoutCustomerData/firstName", id="a card number inside a name"),
    pytest.param({"checkoutCustomerData": {**CUSTOMER, "phoneNumber": "+4111111111111111"}},
                 "/checkoutCustomerData/phoneNumber", id="a card number for a phone"),
    pytest.param({"redirectUrl": "https://shop.example/done?order=7&card=4111-1111-1111-1111"}, "/redirectUrl",
                 id="a card number in the URL's query"),
    pytest.param({"metaData": {"note": "card 4111 1111 1111 1111, thanks"}}, "/metaData",
                 id="a card number inside metadata"),
    pytest.param({"checkoutCustomerData": {**CUSTOMER, "lastName": "O\u202ebi"}}, "/checkoutCustomerData/lastName",
                 id="a name turned round"),
    pytest.param({"checkoutCustomerData": {**CUSTOMER, "firstName": "A\u200bda"}}, "/checkoutCustomerData/firstName",
                 id="a space of no width in a name"),
    pytest.param({"checkoutCustomizationData": {"paymentDescription": "pay \u2066evil\u2069"}},
                 "/checkoutCustomizationData/paymentDescription", id="a description turned round"),
    pytest.param({"checkoutCustomerData": {**CUSTOMER, "phoneNumber": "1" * 33}},
                 "/checkoutCustomerData/phoneNumber", id="phone of 33"),
    pytest.param({"redirectUrl": "/done"}, "/redirectUrl", id="relative URL"),
    pytest.param({"redirectUrl": "javascript:alert(1)"}, "/redirectUrl", id="a script for a URL"),
    pytest.param({"redirectUrl": "https://a:b@shop.example/"}, "/redirectUrl", id="a password in the URL"),
    pytest.param({"redirectUrl": "https://shop.example/" + "x" * 980}, "/redirectUrl", id="URL of 1,001"),
    pytest.param({"metaData": {"x": "y" * 1993}}, "/metaData", id="metadata of 2,001"),
    pytest.param({"metaData": ["x"]}, "/metaData", id="metadata that is an array"),
    pytest.param({"metaData": {"note": "4111111111111111"}}, "/metaData", id="a card number in metadata"),
    pytest.param({"checkoutCustomizationData": {"checkoutModalTitle": "x" * 256}},
                 "/checkoutCustomizationData/checkoutModalTitle", id="title of 256"),
    pytest.param({"checkoutCustomizationData": "x"}, "/checkoutCustomizationData", id="texts that are no object"),
])
def test_refused(shop, fields, at):
    answer = initiate(shop, **fields)
    assert (answer.status, faults(answer)) == (400, [at]), answer


@pytest.mark.parametrize("fields", [
    pytest.param({"transactionReference": "x" * 16}, id="reference of 16"),
    pytest.param({"transactionReference": "y" * 50}, id="reference of 50"),
    pytest.param({"redirectUrl": "https://shop.example/" + "x" * 979}, id="URL of 1,000"),
    pytest.param({"metaData": {"x": "y" * 1991}}, id="metadata of 2,000"),
    pytest.param({"metaData": "a string"}, id="metadata that is a string"),
    pytest.param({"redirectUrl": None, "metaData": None, "checkoutCustomizationData": None}, id="nothing more"),
])
def test_taken(shop, fields):
    assert initiate(shop, **fields).status == 200


def test_all_faults_at_once(shop):
    answer = shop.call("POST", ORDER, {"customer": {"email": "x"}, "order": {"amount": -1}, "payment": 1})
    assert set(faults(answer)) == {"/customer/firstname", "/customer/lastname", "/customer/email", "/order/reference",
                                   "/order/amount", "/payment"}


@pytest.mark.parametrize("currency", [{"currency": None}, {}], ids=["null", "absent"])
def test_default_currency(shop, currency):
    """The account's, and one request with the one that names it; a link's own where there is a link."""
    body = checkout_body()
    del body["currency"]
    first = shop.call("POST", INITIATE, {**body, **currency})
    assert first.status == 200, first
    assert verify(shop, body["transactionReference"])["currency"] == "NGN"
    again = shop.call("POST", INITIATE, {**body, "currency": "ngn"})
    assert again.header("idempotent-replayed") == "true" and again.body == first.body
    shop.httpd.ctl("account", "set", shop.name, "--currency", "KWD")
    again = shop.call("POST", INITIATE, {**body, **currency})
    assert again.header("idempotent-replayed") == "true" and again.body == first.body, "the default is another one now"
    link = reference()
    shop.httpd.ctl("link", "create", shop.name, "--mode", "test", "--reference", link, "--currency", "JPY")
    asked = link_body(link, amount=100)
    del asked["currency"]
    answer = shop.call("POST", LINK, {**asked, **currency})
    assert answer.status == 200, answer
    assert verify(shop, answer.json["data"]["transactionReference"])["currency"] == "JPY"
    assert faults(shop.call("POST", LINK, {**asked, **currency, "amount": 1.5})) == ["/amount"]


@pytest.mark.parametrize("text, shown", [("é" * 255, "é" * 199 + "…"), ("é" * 200, "é" * 200)], ids=["cut", "whole"])
def test_long_texts(shop, text, shown):
    """255 characters are taken, whatever their bytes, and the page shows what it has room for."""
    answer = initiate(shop, checkoutCustomizationData={"paymentDescription": text, "checkoutModalTitle": text},
                      checkoutCustomerData={**CUSTOMER, "firstName": "é" * 100})
    assert answer.status == 200, answer
    page = Payer(shop.httpd, urllib.parse.urlsplit(answer.json["data"]["paymentRedirectUrl"]).path).page()
    assert page.heading == shown and shown in page.of("p")


# ---- replays

def test_again(shop):
    body = checkout_body()
    first = shop.call("POST", INITIATE, body)
    again = shop.call("POST", INITIATE, {**body, "metaData": {"other": 1}})
    assert again.header("idempotent-replayed") == "true" and again.body == first.body
    other = shop.call("POST", INITIATE, {**body, "amount": 1})
    assert (other.status, other.json["data"]["responseCode"]) == (409, "D1")
    charged = shop.charge(reference=body["transactionReference"])
    assert (charged.status, charged.json["data"]["responseCode"]) == (409, "D1")


def test_idempotency_key(shop):
    headers = {"Idempotency-Key": "k-1"}
    body = checkout_body()
    first = shop.call("POST", INITIATE, body, headers=headers)
    again = shop.call("POST", INITIATE, body, headers=headers)
    assert again.body == first.body
    assert initiate(shop, headers=headers).status == 409
    order = shop.call("POST", ORDER, order_body(), headers=headers)
    assert order.status == 200, "the key of another operation"


def test_url_of_the_page(server):
    httpd = server(host_extra="PaymentsCheckoutURL https://pay.shop.example/\nPaymentsBasePath /shop")
    shop = httpd.shop()
    answer = shop.call("POST", "/shop" + INITIATE, checkout_body())
    assert answer.json["data"]["paymentRedirectUrl"].startswith("https://pay.shop.example/shop/payment/page/")


# ---- how it ends without its payer

def test_void(shop):
    ref = reference()
    initiate(shop, transactionReference=ref)
    answer = shop.call("POST", "/api/v1/void-transaction", {"transactionReference": ref})
    assert answer.status == 200
    check_unpaid(answer.json["data"], "void")
    check_unpaid(verify(shop, ref), "void")
    again = shop.call("POST", "/api/v1/void-transaction", {"transactionReference": ref})
    assert again.json["data"]["responseCode"] == "V2"


def test_abandoned(server):
    """When its time is over its shop is notified, and verify returns the same."""
    httpd = server(extra=INSECURE, host_extra="PaymentsCheckoutLifetime 1s")
    shop = httpd.shop()
    receiver = Receiver()
    try:
        secret = shop.webhook(receiver.url())
        ref = reference()
        initiate(shop, transactionReference=ref)
        [told] = receiver.wait(1)
        told.check(secret)
        assert told.what == ("transaction", "abandoned")
        assert told.json["data"]["reference"] == ref
        check_unpaid(told.json["data"], "abandoned")
        check_unpaid(verify(shop, ref), "abandoned")
    finally:
        shop.webhook_off()
        receiver.close()
    assert httpd.ctl("store", "check").returncode == 0


# ---- Live Mode

@pytest.fixture
def live(till):
    return till().live_shop


def test_live(live, upstream):
    """The acquirer opens a page, under a name that is not the shop's reference; a retry opens no other."""
    ref = live_reference()
    after = upstream.last()
    answer = initiate(live, transactionReference=ref)
    assert answer.status == 200 and answer.json["data"]["statusCode"] == "01", answer
    (theirs,) = upstream.charges(after).values()
    assert (theirs["status"], theirs["amount"], theirs["currency"]) == ("pending", 1000, "NGN")
    assert theirs["reference"] != ref
    assert verify(live, ref)["domain"] == "live"
    again = initiate(live, transactionReference=ref)
    assert again.body == answer.body and len(upstream.charges(after)) == 1


@pytest.mark.parametrize("path, body, member", [
    pytest.param(LINK, link_body("link-1"), "paymentRedirectUrl", id="link"),
    pytest.param(ORDER, order_body(), "checkout_url", id="order"),
])
def test_live_by_other_operations(live, upstream, path, body, member):
    """Theirs lead to the acquirer's page as well."""
    live.httpd.ctl("link", "create", live.name, "--mode", "live", "--reference", "link-1")
    after, headers = upstream.last(), {"Idempotency-Key": reference()}
    answer = live.call("POST", path, body, headers=headers)
    assert answer.status == 200, answer
    page = Payer(live.httpd, urllib.parse.urlsplit(answer.json["data"][member]).path).get()
    assert page.status == 303 and page.header("location").startswith("https://")
    assert live.call("POST", path, body, headers=headers).body == answer.body
    (theirs,) = upstream.charges(after).values()
    assert (theirs["status"], theirs["amount"], theirs["currency"]) == ("pending", 1000, "NGN")


UNOPENED = "The acquirer opened no payment page. Try again under another reference."
SAYS_NO = {"status": False, "message": UNOPENED, "data": {"statusCode": "02", "paymentRedirectUrl": ""}}
# The log line about an answer that is not a word of the acquirer's: an unknown page may be open.
UNKNOWN = r"PAY00400|PAY00570"


@pytest.mark.parametrize("fault, loud", [
    pytest.param(own(200, SAYS_NO), None, id="its own acquirer opens none"),
    pytest.param(own(400, problem("T1", "Invalid request parameter.")), "PAY00400", id="it refuses the request"),
    pytest.param(own(501, problem("I1", "There are no pages.")), "PAY00400", id="it has no pages"),
    pytest.param(own(409, problem("D1", "The reference is another's.")), UNKNOWN, id="it knows the reference"),
    pytest.param(own(500, problem("E1", "out of order")), UNKNOWN, id="it is out of order"),
    pytest.param(own(502, "<html>", "text/html"), UNKNOWN, id="a proxy's error"),
    pytest.param(closed_unanswered(), UNKNOWN, id="no answer"),
])
def test_live_without_a_page(live, proxy, fault, loud):
    """Nobody can pay it: it has failed, replays say so, and the acquirer is never asked for it twice."""
    if loud:
        live.httpd.expect_log(loud)
    body, headers = checkout_body(), {"Idempotency-Key": reference()}
    proxy.next("other", fault)
    answer = live.call("POST", INITIATE, body, headers=headers)
    assert (answer.status, answer.json["status"], answer.json["message"]) == (200, False, UNOPENED), answer
    data = answer.json["data"]
    assert (data["statusCode"], data["statusMessage"]) == ("02", UNOPENED)
    assert data["transactionReference"] == body["transactionReference"]
    found = verify(live, body["transactionReference"])
    assert (found["status"], found["domain"], found["gatewayResponseMessage"]) == ("failed", "live", UNOPENED)
    for again in (live.call("POST", INITIATE, body, headers=headers), live.call("POST", INITIATE, body)):
        assert again.body == answer.body and again.header("idempotent-replayed") == "true"
    assert len(proxy.of("other")) == 1
    page = Payer(live.httpd, urllib.parse.urlsplit(data["paymentRedirectUrl"]).path).page()
    assert (page.status, page.kind, page.forms()) == (200, "declined", {})


def test_live_key_while_the_account_is_in_test_mode(live, upstream):
    """No new checkout begins; existing ones are still replayed and verified."""
    live.httpd.ctl("link", "create", live.name, "--mode", "live", "--reference", "link-1")
    body = checkout_body()
    first = live.call("POST", INITIATE, body)
    assert first.json["data"]["statusCode"] == "01", first
    live.mode("test")
    after = upstream.last()
    for path, new in ((INITIATE, checkout_body()), (LINK, link_body("link-1")), (ORDER, order_body())):
        answer = live.call("POST", path, new)
        assert (answer.status, answer.json["data"]["responseCode"]) == (403, "B02"), path
    assert live.call("POST", INITIATE, body).body == first.body
    assert verify(live, body["transactionReference"])["status"] == "pending"
    assert not upstream.charges(after)


def test_live_order_without_a_page(live, proxy):
    body = order_body()
    proxy.next("other", own(200, SAYS_NO))
    answer = live.call("POST", ORDER, body)
    said = answer.json
    assert (answer.status, said["status"], said["status_code"], said["statusCode"], said["message"]) == (
        200, "failed", "02", "02", UNOPENED)
    assert (said["data"]["order"]["reference"], said["data"]["order"]["status"]) == (body["order"]["reference"], "failed")
    assert verify(live, body["order"]["reference"])["status"] == "failed"


def test_live_acquirer_that_is_down(live, proxy, upstream):
    """No byte of the request left: nothing was made, and the reference is free."""
    live.httpd.expect_log("PAY00400")
    body, after = checkout_body(transactionReference=live_reference()), upstream.last()
    proxy.refuse()
    answer = live.call("POST", INITIATE, body)
    assert (answer.status, answer.json["data"]["responseCode"]) == (503, "E2"), answer
    assert answer.header("retry-after")
    assert live.call("GET", f"/api/v1/checkout/{body['transactionReference']}/verify").status == 404
    proxy.listen()
    again = live.call("POST", INITIATE, body)
    assert (again.status, again.json["data"]["statusCode"], again.header("idempotent-replayed")) == (200, "01", None)
    assert len(upstream.charges(after)) == 1


def test_live_refused_checkouts_stop_no_charges(live, proxy):
    """As many as would have the acquirer left alone for a while: whoever holds the public key can ask for them."""
    live.httpd.expect_log("PAY00400")
    proxy.fail(own(400, problem("T1", "Invalid request parameter.")), "other")
    for _ in range(11):
        assert initiate(live).json["data"]["statusCode"] == "02"
    assert live.charge().json["data"]["status"] == "successful"


def test_live_abandoned(till, authority):
    """When its time is over, its shop is notified; the acquirer may still find a payment later."""
    shop = till(extra=f"{ALLOW}PaymentsTrustedCA {authority.file}\n",
                host_extra="PaymentsCheckoutLifetime 1s\n").live_shop
    with Receiver(authority.context()) as receiver:
        secret = shop.webhook(receiver.url(), mode="live")
        ref = live_reference()
        assert initiate(shop, transactionReference=ref).json["data"]["statusCode"] == "01"
        [told] = receiver.wait(1)
        told.check(secret)
        assert told.what == ("transaction", "abandoned")
        assert f"PAY00576: checkout {ref} was not paid in time: it is abandoned" in shop.httpd.log_text()
        data = told.json["data"]
        assert (data["reference"], data["domain"]) == (ref, "live")
        check_unpaid(data, "abandoned")
        check_unpaid(verify(shop, ref), "abandoned")
        shop.webhook_off("live")
