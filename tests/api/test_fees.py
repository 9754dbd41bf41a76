# SPDX-License-Identifier: Apache-2.0
"""Fee rules of an account: the answers, and their effect on transactions, files and totals."""

import csv
import io
import json

import pytest

from ctl_program import Ctl
from harness import reference
from payer import Checkout
from shares import ALIKE

pytestmark = ALIKE

FEE, ORDER_FEE = "/api/v1/transaction-fee", "/payment/order/fee"
RULES = "NGN 1.5% + 100.00 max 2000.00; NGN bank_transfer 50.00; JPY 3.6%"
TEST_MODE = ["--mode", "test"]


def asked(shop, path=FEE, key=None, **body):
    return shop.call("POST", path, json.dumps(body), key=key or shop.secret)


@pytest.fixture(scope="module")
def ruled(shared):
    """A shop with rules, whose account currency is NGN."""
    shop = shared.shop()
    Ctl(shared.store).ok("account", "set", shop.name, "--fee", "NGN 1.5% + 100.00 max 2000.00",
                               "--fee", "NGN bank_transfer 50", "--fee", "JPY 3.6%")
    return shop


ASKED = {
    "a card": ({"amount": 1500.50, "currency": "NGN"}, "1500.50", "122.51", "NGN", "card"),
    "the account's currency": ({"amount": "1000"}, "1000.00", "115.00", "NGN", "card"),
    "null": ({"amount": "1000", "currency": None, "channel": None}, "1000.00", "115.00", "NGN", "card"),
    "at its most": ({"amount": 999999}, "999999.00", "2000.00", "NGN", "card"),
    "in lower case": ({"amount": 1000, "currency": "ngn"}, "1000.00", "115.00", "NGN", "card"),
    "no decimals": ({"amount": 125, "currency": "JPY"}, "125", "5", "JPY", "card"),
    "a transfer": ({"amount": 1000, "channel": "bank_transfer"}, "1000.00", "50.00", "NGN", "bank_transfer"),
    "C": ({"amount": 1000, "paymentoption": "C"}, "1000.00", "115.00", "NGN", "card"),
    "bank-transfer": ({"amount": 1000, "paymentOption": "Bank-Transfer"}, "1000.00", "50.00", "NGN", "bank_transfer"),
    "channel before the others": ({"amount": 1000, "channel": "card", "paymentOption": "transfer"}, "1000.00", "115.00", "NGN",
                                  "card"),
    "a transfer without a rule of its own": ({"amount": 1000, "currency": "JPY", "channel": "bank_transfer"}, "1000", "36", "JPY",
                                             "bank_transfer"),
    "a currency without a rule": ({"amount": 10, "currency": "USD"}, "10.00", "0.00", "USD", "card"),
    "more members": ({"amount": 1000, "transactionType": "payment", "country": "NG"}, "1000.00", "115.00", "NGN", "card"),
}


@pytest.mark.parametrize("name", ASKED)
@pytest.mark.parametrize("kind", ["secret", "public"])
def test_what_it_would_be(ruled, name, kind):
    """Digit by digit, because amounts are written with the decimals of their currency."""
    body, amount, fee, currency, channel = ASKED[name]
    answer = asked(ruled, key=getattr(ruled, kind), **body)
    assert answer.status == 200 and answer.body.decode() == (
        '{"status":true,"message":"Successful","data":{'
        f'"amount":{amount},"transactionFee":{fee},"fee":{fee},"currency":"{currency}","channel":"{channel}"}}}}')
    order = asked(ruled, ORDER_FEE, key=getattr(ruled, kind), **body)
    assert order.status == 200 and order.body.decode() == (
        '{"status":"success","status_code":"00","statusCode":"00","message":"Fee computed successfully","data":{'
        f'"amount":{amount},"fee":{fee},"currency":"{currency}","paymentType":"{channel}"}}}}')


@pytest.mark.parametrize("body, fields", [
    ({}, ["/amount"]), ({"amount": 0}, ["/amount"]), ({"amount": "1.234"}, ["/amount"]), ({"amount": "x"}, ["/amount"]),
    ({"amount": 1, "currency": "XXQ"}, ["/currency"]), ({"amount": 1, "currency": 5}, ["/currency"]),
    ({"amount": 1, "channel": "ussd"}, ["/channel"]), ({"amount": 1, "paymentOption": 7}, ["/paymentOption"]),
    ({"amount": 4111111111111111}, ["/amount"]), ({"currency": "", "channel": ""}, ["/currency", "/amount", "/channel"]),
], ids=str)
@pytest.mark.parametrize("path", [FEE, ORDER_FEE])
def test_bad_questions(ruled, path, body, fields):
    answer = asked(ruled, path, **body)
    assert answer.status == 400 and [one["field"] for one in answer.json["data"]["errors"]] == fields, answer


def test_others(ruled):
    """Another account has its own rules, and they are not shown without a key."""
    other = ruled.httpd.shop()
    assert asked(other, amount=1000).json["data"]["transactionFee"] == 0
    assert ruled.call("POST", FEE, "{}", key="pay_testsk_nobody").status == 401
    assert ruled.call("GET", FEE).status == 405
    assert asked(ruled, key=ruled.live_secret, amount=1000).json["data"]["transactionFee"] == 115


# ---- effects

def rows_of(ctl, *line):
    """Of a list as CSV."""
    return list(csv.DictReader(io.StringIO(ctl.ok(*line, "--format", "csv"), newline="")))


def test_life_of_a_fee(server):
    """Kept when the payment is approved, and never changed: in the transaction, its replay, files, reports and totals."""
    httpd = server()
    shop, ctl = httpd.shop(), Ctl(httpd.store)
    before = shop.charge(amount=1000, currency="NGN").json["data"]
    ctl.ok("account", "set", shop.name, "--fee", RULES)
    body = {"amount": 1000, "currency": "NGN", "reference": reference()}
    first = shop.charge(**body)
    declined = shop.charge(amount=1000, currency="NGN", token="tok_test_declined").json["data"]
    checkout = Checkout(shop, amount=1000)
    assert first.json["data"]["transactionFee"] == 115 and declined["transactionFee"] == before["transactionFee"] == 0
    assert checkout.state()["transactionFee"] == 0
    assert checkout.transfer().kind == "approved"
    ctl.ok("account", "set", shop.name, "--fee", "")
    assert ctl.json("account", "show", shop.name)["fees"] == ""
    shop.refund(body["reference"], "400")
    assert shop.charge(**body).body == first.body  # a replay
    kept = {before["reference"]: 0, body["reference"]: 115, declined["reference"]: 0, checkout.reference: 50}
    verified = {ref: shop.call("GET", f"/api/v1/transaction/{ref}/verify").json["data"]["transactionFee"] for ref in kept}
    assert verified == kept
    reported = shop.call("GET", "/api/v1/report/2000-01-01/2099-12-31").json
    assert {row["reference"]: row["transactionFee"] for row in reported} == kept
    listed = rows_of(ctl, "charge", "list", shop.name, *TEST_MODE)
    assert {row["reference"]: float(row["transactionFee"]) for row in listed} == kept
    (total,) = rows_of(ctl, "totals", shop.name, *TEST_MODE, "--by", "month")
    assert (total["charged"], total["net"], total["transactionFees"]) == ("3000.00", "2600.00", "165.00")
    assert ctl.json("totals", shop.name, *TEST_MODE, "--by", "day")[0]["transactionFees"] == "165.00"
    assert ctl.ok("store", "check") == ""


# ---- the command

@pytest.mark.parametrize("rules, kept", [
    (["ngn 1.50%+100 max 2000"], "NGN 1.5% + 100.00 max 2000.00"),
    (["NGN 1%", "NGN card 2%"], "NGN 1%; NGN card 2%"),
    (["NGN 1%; USD 2%", "EUR 3 "], "NGN 1%; USD 2%; EUR 3.00"),
    ([""], ""),
])
def test_rules_are_kept(tmp_path, rules, kept):
    ctl = Ctl(tmp_path / "store")
    line = [word for rule in rules for word in ("--fee", rule)]
    assert ctl.json("account", "create", "shop", *line)["fees"] == kept
    ctl.ok("account", "set", "shop", "--fee", "GHS 9%")
    ctl.ok("account", "set", "shop", "--currency", "USD")
    assert ctl.json("account", "show", "shop")["fees"] == "GHS 9%"  # fields that are not given stay
    assert ctl.json("account", "set", "shop", *line)["fees"] == kept
    shown = dict(row.split(None, 1) for row in ctl.ok("account", "show", "shop").splitlines() if row.startswith("fees"))
    assert shown == {"fees": kept or "none"}
    entries = [one for one in ctl.json("audit", "list", "shop") if one["what"] == "account set"]
    assert f"fees GHS 9% -> {kept}" in [one["detail"] for one in entries]


@pytest.mark.parametrize("rule, said", [
    ("1.5%", "want rules such as"), ("NGN 101%", "percentage from 0 to 100"), ("JPY 1.5", "no more decimals"),
    ("NGN 1% min 5 max 4", "min is above max"), ("NGN 1% NGN 2%", "two rules have the same currency"),
])
def test_rules_that_are_refused(tmp_path, rule, said):
    ctl = Ctl(tmp_path / "store")
    ctl.ok("account", "create", "shop")
    assert said in ctl.refused(6, "account", "set", "shop", "--fee", rule)
    assert ctl.json("account", "show", "shop")["fees"] == ""
