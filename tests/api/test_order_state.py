# SPDX-License-Identifier: Apache-2.0
"""Orders: the key in api-key, the state of one, and operations that this server will not have."""

import json
import re
import urllib.parse

import pytest

from harness import TOP, order_body, reference
from payer import Payer
from shares import ALIKE

pytestmark = ALIKE

ORDERS = "/payment/order"
TYPE = ("Content-Type", "application/json")
ASK = {
    "verify": lambda ref: ("POST", f"{ORDERS}/verify", json.dumps({"reference": ref})),
    "status": lambda ref: ("POST", f"{ORDERS}/status", json.dumps({"reference": ref})),
    "get": lambda ref: ("GET", f"{ORDERS}/{ref}", None),
}


def send(shop, method, path, body, *headers):
    return shop.httpd.request(method, path, body, [*headers, *([TYPE] if body else [])])


def ask(shop, way, ref, key=None):
    return send(shop, *ASK[way](ref), ("api-key", key or shop.secret))


def order(shop, **fields):
    body = order_body(**fields)
    answer = send(shop, "POST", f"{ORDERS}/create", json.dumps(body), ("api-key", shop.public))
    assert answer.status == 200, answer
    return body["order"]["reference"], answer.json["data"]


# ---- the key

def keys(shop):
    """Of a request: its headers, and the status that they come to."""
    secret, other = shop.secret, shop.httpd.shop().secret
    return {
        "api-key": ([("api-key", secret)], 200),
        "in capitals": ([("API-KEY", secret)], 200),
        "with a scheme": ([("api-key", f"Bearer {secret}")], 200),
        "before Authorization": ([("Authorization", "Bearer MIICIjANBgkq"), ("api-key", secret)], 200),
        "before another account's": ([("Authorization", f"Bearer {other}"), ("api-key", secret)], 200),
        "Authorization alone": ([("Authorization", f"Bearer {secret}")], 200),
        "of another account": ([("api-key", other)], 404),
        "a bad one beside a good Authorization": ([("api-key", "pay_testsk_no"), ("Authorization", f"Bearer {secret}")], 401),
        "an empty one": ([("api-key", ""), ("Authorization", f"Bearer {secret}")], 401),
        "two": ([("api-key", secret), ("api-key", secret)], 401),
        "none": ([], 401),
        "a secret one in a browser": ([("api-key", secret), ("Origin", "https://shop.example")], 403),
    }


def test_key_of_orders(shop):
    ref, _ = order(shop)
    for name, (headers, status) in keys(shop).items():
        for way in ASK:
            answer = send(shop, *ASK[way](ref), *headers)
            assert answer.status == status, (name, way, answer)


def test_elsewhere_the_header_is_no_key(shop):
    ref, _ = order(shop)
    for path in (f"/api/v1/checkout/{ref}/verify", "/api/v1/openapi.json"):
        assert send(shop, "GET", path, None, ("api-key", shop.secret)).status == 401


def test_no_log_has_the_key(server):
    """Not even one that is configured to write the header."""
    httpd = server(start=False, extra='LogFormat "%{api-key}i %{Authorization}i %r" headers\n')
    httpd.extra += f"CustomLog {httpd.root}/headers.log headers\n"
    httpd.start()
    shop = httpd.shop()
    ref, _ = order(shop)
    httpd.expect_log("AH10244")
    for path in (f"{ORDERS}/{ref}", f"{ORDERS}/{ref}/x", "/api/v1/openapi.json", f"{ORDERS}/%zz"):
        send(shop, "GET", path, None, ("api-key", shop.secret))
    httpd.stop()
    told = (httpd.root / "headers.log").read_text()
    assert told.count("\n") >= 4 and shop.secret not in told and shop.public not in told
    assert shop.secret not in httpd.log_text()


# ---- its state

def test_every_member_is_there(shop):
    """That a decoder without optional members wants."""
    ref, data = order(shop, description="Shoes", amount=1000)
    assert set(data) >= {"order", "subsidiary", "customer", "payment", "otherPaymentOptions", "savedCards",
                         "subsidiaryOrderSummary", "checkout_url"}
    assert data["order"]["reference"] == ref and data["order"]["statusId"] == 1 and data["order"]["narration"] == "Shoes"
    pages = {data[name] for name in ("checkout_url", "checkoutUrl", "paymentUrl", "redirect_url", "paymentLink")}
    assert pages == {data["order"]["paymentLink"]} and pages.pop().endswith(f"?reference={ref}")
    assert set(data["customer"].values()) == {""} and data["payment"]["source"] == ""


def test_an_anonymous_client_learns_nothing_of_the_payer(shop):
    """By naming an order that was made with a secret key, with all that makes it the same request."""
    body = order_body()
    made = send(shop, "POST", f"{ORDERS}/create", json.dumps(body), ("api-key", shop.secret)).json["data"]
    assert (made["customer"]["email"], made["customer"]["mobile"]) == ("payer@shop.example", "+2348000000000")
    body["customer"] = {**body["customer"], "firstname": "X", "lastname": "Y", "mobile": ""}
    again = send(shop, "POST", f"{ORDERS}/create", json.dumps(body), ("api-key", shop.public))
    assert again.status == 200 and again.header("idempotent-replayed") == "true"
    assert set(again.json["data"]["customer"].values()) == {""} and "+234" not in again.body.decode()


@pytest.mark.parametrize("way", ASK)
def test_pending_and_paid(seller, way):
    ref, data = order(seller, amount="1000.50")
    answer = ask(seller, way, ref)
    assert answer.status == 200 and answer.json["status"] == "success", answer
    found = answer.json["data"]
    assert (found["status"], found["order"]["status"], found["orderSummary"]["status"]) == ("Pending",) * 3
    assert (found["totalAmountCharged"], found["orderSummary"]["totalChargedAmount"], found["orderAmount"]) == (0, 0, 1000.5)
    assert (found["isFinalStatus"], found["requeryNeeded"], found["customer"]["firstName"]) == (False, True, "Ada")
    assert Payer(seller.httpd, urllib.parse.urlsplit(data["paymentLink"]).path).card("approved").kind == "approved"
    found = ask(seller, way, ref).json["data"]
    assert (found["status"], found["statusId"], found["order"]["status"]) == ("Successful", 5, "Successful")
    assert (found["totalAmountCharged"], found["orderSummary"]["totalChargedAmount"]) == (1000.5, 1000.5)
    assert found["orderSummary"]["datePaymentConfirmed"] and found["currencyName"] == "NGN"
    public = ask(seller, way, ref, seller.public).json["data"]
    assert public["status"] == "Successful" and set(public["customer"].values()) == {""}
    assert seller.call("POST", "/api/v1/refund", {"reference": ref}).status == 200
    found = ask(seller, way, ref).json["data"]
    assert (found["status"], found["totalAmountCharged"]) == ("Failed", 0), "given back"


@pytest.mark.parametrize("way", ASK)
def test_unknown(shop, way):
    answer = ask(shop, way, "no-such-order")
    assert (answer.status, answer.json["data"]["responseCode"]) == (404, "N1"), answer


@pytest.mark.parametrize("body, field", [("{}", "/reference"), ('{"reference": 7}', "/reference"), ('{"data": "x"}', "/data")])
def test_bad_questions(shop, body, field):
    answer = send(shop, "POST", f"{ORDERS}/verify", body, ("api-key", shop.secret))
    assert answer.status == 400 and [one["field"] for one in answer.json["data"]["errors"]] == [field], answer


@pytest.mark.parametrize("method, path, status", [
    ("GET", ORDERS, 404), ("GET", ORDERS + "/", 404), ("POST", ORDERS + "/none/of/it", 404), ("GET", ORDERS + "//a//b", 404),
    ("DELETE", ORDERS + "/verify", 405), ("GET", ORDERS + "/verify", 405), ("POST", ORDERS + "/order-1", 405)])
def test_the_rest_below_is_ours_too(shop, method, path, status):
    body = "{}" if method == "POST" else None
    assert send(shop, method, path, body).status == 401, "without a key nobody learns which paths there are"
    answer = send(shop, method, path, body, ("api-key", shop.secret))
    assert answer.status == status and answer.json["status"] is False, answer


# ---- what this server will not have

REFUSED = [("POST", "/api/v1/direct-card-charge"), ("POST", "/api/v1/direct-card-charge-auth"),
           ("POST", "/api/v3/direct-card-charge-internal"), ("POST", "/api/v1/card-payment"),
           ("POST", "/api/v1/card/validate-otp"), ("POST", "/api/v1/encrypt-data"), ("POST", "/api/v1/decrypt-data"),
           ("POST", "/api/v1/threedschallenge"), ("GET", "/api/v1/threedschallenge"), ("POST", "/api/v1/bank-transfer"),
           ("POST", "/api/v1/ussd-payment"), ("POST", "/api/v1/transfers"), ("GET", "/api/v1/transfers/ref-1"),
           ("POST", "/api/v1/banks/account/verify"), ("GET", "/api/v1/balance/NGN"), ("POST", "/api/v1/virtual-account"),
           ("GET", "/api/v1/virtual-account/ref-1"), ("GET", "/api/v1/virtual-accounts/0000000000"),
           ("POST", "/api/v1/budpay-incoming-webhook"), ("POST", "/payment/order/pay"), ("GET", "/payment/order/pay"),
           ("POST", "/api/v3/direct-card-charge"), ("POST", "/api/v1//card-payment")]


@pytest.mark.parametrize("method, path", REFUSED)
def test_refused_operations(shop, method, path):
    """The answer names the replacement; a card number in the request is neither stored nor logged."""
    body = json.dumps({"cardNumber": "4111111111111111", "cvv": "123"}) if method == "POST" else None
    assert send(shop, method, path, body).status == 401
    answer = send(shop, method, path, body, ("Authorization", f"Bearer {shop.public}"))
    assert (answer.status, answer.json["data"]["responseCode"], answer.json["status"]) == (501, "I1", False), answer
    page, _, anchor = re.search(r"docs/([a-z-]+\.md)(#?)([a-z-]*)", answer.json["message"]).groups()
    text = (TOP / "docs" / page).read_text()
    assert not anchor or re.search(f"^### {anchor.replace('-', ' ')}$", text, re.M | re.I), "it leads to a heading"
    assert len(answer.json["message"]) > 60
    assert "4111" not in answer.body.decode() and "4111111111111111" not in shop.httpd.log_text()


@pytest.mark.parametrize("path", ["/api/v3", "/api/v3/", "/api/v3/tokenized-card-charge", "/api/v3/direct-card-chargex",
                                  "/api/v2/direct-card-charge"])
def test_the_site_keeps_other_versions(httpd, path):
    answer = httpd.request("GET", path)
    assert answer.header("request-id") is None and not (answer.header("content-type") or "").startswith("application/json")


def test_unknown_paths_stay_unknown(shop):
    answer = send(shop, "POST", f"/api/v1/direct-card-chargex/{reference()}", "{}", ("Authorization", f"Bearer {shop.secret}"))
    assert (answer.status, answer.json["data"]["responseCode"]) == (404, "N2")
