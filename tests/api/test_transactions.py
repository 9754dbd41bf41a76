# SPDX-License-Identifier: Apache-2.0
"""Lists of transactions, one with its page, and banks."""

import datetime
import urllib.parse

import pytest

from harness import checkout_body, link_body, reference
from shares import ALIKE

pytestmark = ALIKE

LIST = "/api/v1/transaction"
ALWAYS = "/api/v1/report/2000-01-01/2099-12-31"


def ask(shop, key=None, **query):
    return shop.call("GET", f"{LIST}?{urllib.parse.urlencode(query)}", key=key)


def found(shop, **query):
    answer = ask(shop, **query)
    assert answer.status == 200 and answer.json["status"] is True, answer
    return answer.json["data"]["transactions"], answer.json["data"]["cursor"]


def names(rows):
    return [row["reference"] for row in rows]


@pytest.fixture
def history(shop):
    """Of one shop: charges of each state, oldest first, by what they are."""
    made = {"paid": shop.charge().json["data"]["reference"],
            "declined": shop.charge(token="tok_test_declined").json["data"]["reference"],
            "given back": shop.charge().json["data"]["reference"],
            "of another": shop.charge(email="bob@shop.example", currency="KWD", amount="1.500").json["data"]["reference"]}
    assert shop.call("POST", "/api/v1/refund", {"reference": made["given back"]}).status == 200
    for name in ("open", "void"):
        made[name] = reference()
        assert shop.call("POST", "/api/v1/initiate", checkout_body(transactionReference=made[name])).status == 200
    assert shop.call("POST", "/api/v1/void-transaction", {"transactionReference": made["void"]}).status == 200
    return made


@pytest.mark.parametrize("query, wanted", [
    ({}, "void, open, of another, given back, declined, paid"),
    ({"status": "pending"}, "open"), ({"status": "successful"}, "of another, paid"), ({"status": "failed"}, "void, declined"),
    ({"status": "reversed"}, "given back"), ({"status": "void"}, "void"), ({"status": "abandoned"}, ""),
    ({"email": "BOB@shop.example"}, "of another"), ({"email": "nobody@shop.example"}, ""),
    ({"currency": "kwd"}, "of another"), ({"currency": "JPY"}, ""),
    ({"from": "2000-01-01", "to": "2099-12-31", "status": "successful", "currency": "NGN"}, "paid"),
    ({"to": "2000-01-01"}, ""), ({"from": "2099-01-01"}, ""), ({"unknown": "x", "status": "void"}, "void"),
])
def test_search(shop, history, query, wanted):
    rows, cursor = found(shop, **query)
    assert names(rows) == [history[name] for name in wanted.split(", ") if name] and cursor is None


@pytest.mark.parametrize("limit", [1, 2, 5])
def test_page_by_page(shop, history, limit):
    """Each once, in order, whatever is made in between."""
    seen, cursor = [], ""
    for _ in range(20):
        rows, cursor = found(shop, limit=limit, **({"cursor": cursor} if cursor else {}))
        assert len(rows) <= limit
        seen += names(rows)
        shop.charge()
        if cursor is None:
            break
    assert seen == list(reversed(list(history.values())))


@pytest.mark.parametrize("query, field", [
    ({"limit": "0"}, "/limit"), ({"limit": "201"}, "/limit"), ({"limit": "x"}, "/limit"), ({"email": "x"}, "/email"),
    ({"status": "paid"}, "/status"), ({"currency": "XXQ"}, "/currency"), ({"from": "2026-02-30"}, "/from"),
    ({"from": "2026-01-02", "to": "2026-01-01"}, "/to"), ({"tz": "Mars/Olympus"}, "/tz"), ({"cursor": "x"}, "/cursor"), ({"cursor": "1.2.3"}, "/cursor"),
])
def test_bad_questions(shop, query, field):
    answer = ask(shop, **query)
    assert answer.status == 400 and [one["field"] for one in answer.json["data"]["errors"]] == [field], answer


def test_questions_that_are_no_query(shop):
    for query in ("limit=1&limit=2", "email=%ff", "&".join(f"a{i}=1" for i in range(17))):
        assert shop.call("GET", f"{LIST}?{query}").status == 400, query


def test_others_see_nothing(shop, history):
    assert found(shop.httpd.shop()) == ([], None)
    assert ask(shop, key=shop.public).status == 403 and ask(shop, key=shop.live_secret).json["data"]["transactions"] == []
    assert shop.call("GET", ALWAYS, key=shop.public).status == 403 and shop.call("GET", ALWAYS, key=shop.live_secret).json == []


def test_report(shop, history):
    """All of them, oldest first, as verify shows them."""
    rows = shop.call("GET", ALWAYS).json
    assert names(rows) == list(history.values()) and [row["id"] for row in rows] == list(range(1, 7))
    for row in rows:
        shown = shop.call("GET", f"/api/v1/checkout/{row['reference']}/verify").json["data"]
        assert {name: shown[name] for name in row} == row
    today = datetime.datetime.now(datetime.timezone.utc).date()
    assert len(shop.call("GET", f"/api/v1/report/{today}/{today + datetime.timedelta(days=1)}").json) == 6
    assert shop.call("GET", "/api/v1/report/0001-01-01/2000-01-01").json == []
    first = rows[0]["createdAt"]
    assert names(shop.call("GET", f"/api/v1/report/{first}/{first}").json)[0] == history["paid"]


def test_report_after_a_clock_that_was_ahead(server):
    """Transactions from then are still in the report: an accountant must find them."""
    httpd = server(clock=True)
    shop = httpd.shop()
    first = shop.charge().json["data"]["reference"]
    httpd.clock.set(3 * 86400)
    ahead = shop.charge().json["data"]["reference"]
    httpd.clock.set(0)
    httpd.expect_log("PAY00150")
    assert names(shop.call("GET", ALWAYS).json) == [first, ahead]
    last = shop.charge().json["data"]["reference"]
    assert sorted(names(shop.call("GET", ALWAYS).json)) == sorted([first, ahead, last])


def test_report_of_many(shop):
    """More than one batch: whole, and HEAD has no body."""
    made = [shop.charge().json["data"]["reference"] for _ in range(410)]
    answer = shop.call("GET", ALWAYS)
    assert names(answer.json) == made and answer.header("content-length") is None
    head = shop.call("HEAD", ALWAYS)
    assert head.status == 200 and head.body == b""


@pytest.mark.parametrize("path, field", [("2026-02-30/2026-03-01", "/startDate"), ("2026-01-02/2026-01-01", "/endDate"),
                                         ("0000-01-01/2026-01-01", "/startDate")])
def test_report_of_bad_dates(shop, path, field):
    answer = shop.call("GET", f"/api/v1/report/{path}")
    assert answer.status == 400 and [one["field"] for one in answer.json["data"]["errors"]] == [field], answer


# ---- one with its page

def test_shown(shop):
    made = shop.call("POST", "/api/v1/initiate", checkout_body()).json["data"]
    ref, page = made["transactionReference"], made["paymentRedirectUrl"]
    for key in (shop.secret, shop.public):
        shown = shop.call("GET", f"/api/v1/checkout/transaction/{ref}", key=key).json
        verified = shop.call("GET", f"/api/v1/checkout/{ref}/verify", key=key).json
        assert shown == {**verified, "data": {**verified["data"], "paymentRedirectUrl": page, "paymentMethod": "card"}}
    charged = shop.charge().json["data"]["reference"]
    assert shop.call("GET", f"/api/v1/checkout/transaction/{charged}").json["data"]["paymentRedirectUrl"] == ""
    unknown = shop.call("GET", "/api/v1/checkout/transaction/never")
    assert (unknown.status, unknown.json["data"]["responseCode"]) == (404, "N1")


def test_a_transaction_of_that_name(shop):
    """Requests that have always been verify's stay verify's."""
    shop.charge(reference="transaction")
    answer = shop.call("GET", "/api/v1/checkout/transaction/verify")
    assert answer.status == 200 and answer.json["data"]["reference"] == "transaction"
    assert "paymentMethod" not in answer.json["data"]


def test_page_of_a_link(shop):
    link = reference()
    shop.httpd.ctl("link", "create", shop.name, "--mode", "test", "--reference", link)
    made = shop.call("POST", "/api/v1/paymentlink/initiate", link_body(link)).json["data"]
    shown = shop.call("GET", f"/api/v1/checkout/transaction/{made['transactionReference']}").json["data"]
    assert shown["paymentRedirectUrl"] == made["paymentRedirectUrl"]


# ---- banks

@pytest.mark.parametrize("path", ["ussd-getbanks", "banks/NG", "banks/x", "virtual-accounts/bank-list"])
@pytest.mark.parametrize("kind, banks", [("secret", 1), ("public", 1), ("live_secret", 0), ("live_public", 0)])
def test_banks(shop, path, kind, banks):
    answer = shop.call("GET", f"/api/v1/{path}", key=getattr(shop, kind))
    assert answer.status == 200 and answer.json["status"] is True and answer.json["message"] == "Successful", answer
    test_bank = {"bank_name": "Test Bank", "bank_code": "000", "ussd_string": ""}
    assert answer.json["data"] == {"bankDetails": [test_bank] * banks}
    assert shop.httpd.request("GET", f"/api/v1/{path}").status == 401
