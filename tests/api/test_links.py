# SPDX-License-Identifier: Apache-2.0
"""Payment links: made by paymentsctl, paid through POST /api/v1/paymentlink/initiate."""

import concurrent.futures
import datetime
import json
import urllib.parse

import pytest

from harness import link_body, reference
from payer import Payer
from shares import ALIKE

pytestmark = ALIKE

INITIATE = "/api/v1/paymentlink/initiate"
PAYERS = 16


def make(shop, *args, mode="test"):
    return json.loads(shop.httpd.ctl("link", "create", shop.name, "--mode", mode, "--reference", reference(), *args,
                                     "--json").stdout)


def shown(shop, link):
    return json.loads(shop.httpd.ctl("link", "show", shop.name, link["reference"], "--mode", "test", "--json").stdout)


def payer(email, **more):
    return {"checkoutCustomerData": {"email": email, "firstName": "Ada", "lastName": "Obi", **more}}


def begin(shop, link, email="ada@shop.example", **fields):
    return shop.call("POST", INITIATE, link_body(link["reference"], **{**payer(email), **fields}))


def checkout_of(shop, answer):
    """The stored data of the checkout in an answer."""
    assert answer.status == 200, answer
    ref = answer.json["data"]["transactionReference"]
    return shop.call("GET", f"/api/v1/transaction/{ref}/verify").json["data"]


def code_of(answer):
    return answer.status, answer.json["data"]["responseCode"]


def test_a_checkout_of_a_link(shop):
    link = make(shop, "--amount", "1000", "--redirect", "https://shop.example/thanks")
    for key in (shop.secret, shop.public):
        answer = shop.call("POST", INITIATE, link_body(link["reference"], redirectUrl=None, metaData={"cart": 7}), key=key)
        assert answer.status == 200 and answer.json["status"] is True, answer
        data = answer.json["data"]
        assert data["transactionReference"].startswith("link_") and data["amount"] == 1000
        assert data["statusCode"] == "01" and "/payment/page/" in data["paymentRedirectUrl"]
        stored = checkout_of(shop, answer)
        assert stored["status"] == "pending" and stored["redirectUrl"] == "https://shop.example/thanks"
        assert json.loads(stored["checkoutMetadata"]) == {"cart": 7}
    other = begin(shop, link, redirectUrl="https://shop.example/other")
    assert checkout_of(shop, other)["redirectUrl"] == "https://shop.example/other"


@pytest.mark.parametrize("args, fields, fault", [
    pytest.param(["--amount", "10"], {"amount": 10.01}, "/amount", id="another amount"),
    pytest.param(["--amount", "10"], {"amount": 10, "currency": "USD"}, "/currency", id="another currency"),
    pytest.param([], {"amount": 10, "currency": "USD"}, "/currency", id="an open link in another currency"),
    pytest.param([], {"amount": 0}, "/amount", id="an open link, nothing"),
    pytest.param([], {"paymentLinkReference": "a" * 51}, "/paymentLinkReference", id="a long reference"),
    pytest.param([], {"paymentLinkReference": None}, "/paymentLinkReference", id="no reference"),
    pytest.param([], payer("nobody"), "/checkoutCustomerData/email", id="no e-mail"),
])
def test_wrong_fields(shop, args, fields, fault):
    answer = begin(shop, make(shop, *args), **fields)
    assert code_of(answer) == (400, "T1")
    assert [one["field"] for one in answer.json["data"]["errors"]] == [fault]


@pytest.mark.parametrize("amount", [1, "0.01", 999999.99])
def test_an_open_link_takes_any_amount(shop, amount):
    assert begin(shop, make(shop), amount=amount).json["data"]["amount"] == float(amount)


def test_unknown_links(shop):
    live = make(shop, mode="live")
    for ref in ("never", live["reference"]):
        answer = shop.call("POST", INITIATE, link_body(ref))
        assert code_of(answer) == (404, "N1")
        assert answer.json["message"] == f"no record found for transaction with reference {ref}"


def test_links_that_are_closed(shop):
    link = make(shop)
    shop.httpd.ctl("link", "disable", shop.name, link["reference"], "--mode", "test")
    answer = begin(shop, link)
    assert code_of(answer) == (409, "V2") and "disabled" in answer.json["message"]
    assert shown(shop, link)["state"] == "disabled"


def test_a_link_that_expires(server):
    """While it has time it is paid as any; then no checkout is made from it, and those that were begun can be paid."""
    httpd = server(clock=True)
    shop, clock = httpd.shop(), httpd.clock
    clock.stop()
    ends = datetime.datetime.fromtimestamp(int(clock.now()) + 3600, datetime.timezone.utc)
    link = make(shop, "--expires", ends.isoformat(timespec="milliseconds"))
    clock.pass_seconds(ends.timestamp() - clock.now() - 0.001)
    begun = begin(shop, link)
    assert begun.status == 200 and shown(shop, link)["state"] == "active"
    clock.pass_seconds(0.001)
    answer = begin(shop, link)
    assert code_of(answer) == (409, "V2") and "expired" in answer.json["message"]
    assert shown(shop, link)["state"] == "expired"
    path = urllib.parse.urlsplit(begun.json["data"]["paymentRedirectUrl"]).path
    assert Payer(shop.httpd, path).card().kind == "approved"


def test_a_retry_with_an_idempotency_key(shop):
    link = make(shop)
    headers = [("Idempotency-Key", reference())]
    first, second = (shop.call("POST", INITIATE, link_body(link["reference"]), headers=headers) for _ in range(2))
    assert first.status == 200 and second.body == first.body
    assert second.header("idempotent-replayed") == "true" and not first.header("idempotent-replayed")
    third = shop.call("POST", INITIATE, link_body(link["reference"]))
    assert third.json["data"]["transactionReference"] != first.json["data"]["transactionReference"]


def test_a_link_for_one_payer(shop):
    link = make(shop, "--once", "--amount", "1000")
    first = begin(shop, link)
    again = begin(shop, link, "ADA@shop.example", redirectUrl="https://shop.example/other")
    assert again.header("idempotent-replayed") == "true" and again.body == first.body
    other = begin(shop, link, "bob@shop.example")
    assert code_of(other) == (409, "V2") and "another payer" in other.json["message"]
    assert shown(shop, link)["state"] == "active"  # nobody has paid yet
    ref = first.json["data"]["transactionReference"]
    assert shop.call("POST", "/api/v1/void-transaction", {"transactionReference": ref}).status == 200
    assert begin(shop, link, "bob@shop.example").status == 200
    assert begin(shop, link).status == 409


def test_many_begin_at_once(shop):
    """Of a link for one payer one of them gets a page."""
    link = make(shop, "--once", "--amount", "1000")
    with concurrent.futures.ThreadPoolExecutor(PAYERS) as pool:
        answers = list(pool.map(lambda n: begin(shop, link, f"payer{n}@shop.example"), range(PAYERS)))
    assert sorted(answer.status for answer in answers) == [200] + [409] * (PAYERS - 1)
