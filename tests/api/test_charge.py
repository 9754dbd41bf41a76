# SPDX-License-Identifier: Apache-2.0
"""POST /api/v1/tokenized-card-charge over HTTP (docs/api.md, "Charges")."""

import json

import pytest

from harness import at_once, charge_body, reference, wait_for
from shares import ALIKE

TRANSACTION_MEMBERS = {
    "id", "transactionReference", "reference", "status", "paymentStatus", "amount", "chargedAmount",
    "transactionFee", "requested_amount", "refundedAmount", "refundsPendingAmount", "currency",
    "domain", "channel", "gatewayResponseCode", "gatewayResponseMessage", "authorizationCode",
    "authCode", "requestIp", "paymentDescriptor", "transactionType", "redirectUrl",
    "checkoutMetadata", "card", "customer", "transferDetail", "createdAt", "updatedAt"}


def test_approved(shop):
    ref = reference()
    answer = shop.charge(reference=ref, amount=1500.5, firstName="Ada", lastName="Obi")
    assert answer.status == 200
    assert answer.header("content-type") == "application/json; charset=utf-8"
    body = answer.json
    assert (body["status"], body["message"]) == (True, "Charge successful")
    data = body["data"]
    assert set(data) == TRANSACTION_MEMBERS
    assert data["reference"] == data["transactionReference"] == ref
    assert data["status"] == data["paymentStatus"] == "successful"
    assert data["gatewayResponseCode"] == "00"
    assert data["authCode"] == data["authorizationCode"] != ""
    assert (data["amount"], data["currency"], data["domain"], data["channel"]) == (1500.5, "NGN", "test", "card")
    assert data["id"] == 1
    assert data["customer"]["email"] == "ada@example.com"
    assert data["customer"]["name"] == "Ada Obi"
    assert data["requestIp"] == "127.0.0.1"
    assert data["refundedAmount"] == 0
    assert '"amount":1500.50,' in answer.body.decode()


@pytest.mark.parametrize("token, code", [
    pytest.param("tok_test_declined", "05", id="declined"),
    pytest.param("tok_test_insufficient_funds", "51", id="insufficient funds"),
    pytest.param("tok_test_expired_card", "54", id="expired card"),
])
def test_declined(shop, token, code):
    answer = shop.charge(token=token)
    assert answer.status == 200
    assert answer.json["status"] is False
    data = answer.json["data"]
    assert (data["paymentStatus"], data["gatewayResponseCode"]) == ("failed", code)
    assert answer.json["message"] == data["gatewayResponseMessage"] != ""


@pytest.mark.parametrize("token, becomes", [
    pytest.param("tok_test_timeout", "successful", id="no answer, later successful"),
    pytest.param("tok_test_error", "failed", id="an error, later failed"),
])
def test_pending_is_reconciled_by_the_watchdog(shop, token, becomes):
    body = charge_body(token=token)
    answer = shop.charge(**body)
    assert answer.status == 202
    assert (answer.json["status"], answer.json["message"]) == (True, "Charge pending")
    assert answer.json["data"]["paymentStatus"] == "pending"
    decided = wait_for(lambda: (lambda a: a if a.status == 200 else None)(shop.charge(**body)),
                       "reconciliation")
    assert decided.json["data"]["paymentStatus"] == becomes
    assert decided.header("idempotent-replayed") == "true"


@ALIKE
@pytest.mark.parametrize("amount, currency, written", [
    pytest.param("19.99", "NGN", "19.99", id="numeric string"),
    pytest.param("1.234", "KWD", "1.234", id="three decimals"),
    pytest.param("999999999999.99", "NGN", "999999999999.99", id="the largest"),
    pytest.param(5, "eur", "5.00", id="lower-case currency"),
])
def test_amount_is_exact(shop, amount, currency, written):
    answer = shop.charge(amount=amount, currency=currency)
    assert answer.status == 200
    assert f'"amount":{written},' in answer.body.decode()
    assert answer.json["data"]["currency"] == currency.upper()


@ALIKE
@pytest.mark.parametrize("literal, status", [
    pytest.param("0.1e1", 200, id="exponent"),
    pytest.param("999999999999.99", 200, id="the largest"),
    pytest.param("999999999999.991", 400, id="a third decimal on the largest"),
    pytest.param("10.000000000000000000001", 400, id="a decimal no double would show"),
    pytest.param("1e400", 400, id="beyond a double"),
    pytest.param("0", 400, id="nought"),
    pytest.param("00", 400, id="two noughts are no number"),
    pytest.param("true", 400, id="boolean"),
    pytest.param("\"1,000\"", 400, id="grouped"),
])
def test_amount_literal(shop, literal, status):
    ref = reference()
    body = ('{"token":"tok_test_success","email":"a@example.com","reference":"%s","amount":%s}'
            % (ref, literal))
    answer = shop.call("POST", "/api/v1/tokenized-card-charge", body)
    assert answer.status == status, answer
    if status == 400:
        assert answer.json["data"]["responseCode"] == "T1"
        assert shop.charge(reference=ref).status == 200, "the refused request kept the reference"


# One of each rule: all that the rules say stands in the tables of unit/model/test_charge_request.c, test_form.c,
# test_email.c and test_money.c.
FIELD_CASES = [
    ("token missing", {"token": ...}, "/token"),
    ("token unknown", {"token": "tok_unknown"}, "/token"),
    ("token reserved but not there", {"token": "tok_test_nothing"}, "/token"),
    ("token a card number", {"token": "5555555555554444"}, "/token"),
    ("amount missing", {"amount": ...}, "/amount"),
    ("amount three decimals", {"amount": 1.005}, "/amount"),
    ("amount yen with decimals", {"amount": "1.5", "currency": "JPY"}, "/amount"),
    ("email missing", {"email": ...}, "/email"),
    ("email with a line break", {"email": "a@example.com\nBcc: b@example.com"}, "/email"),
    ("reference missing", {"reference": ...}, "/reference"),
    ("reference slash", {"reference": "a/b"}, "/reference"),
    ("reference a card number", {"reference": "4000000000009995"}, "/reference"),
    ("currency unknown", {"currency": "ABC"}, "/currency"),
    ("firstName a number", {"firstName": 5}, "/firstName"),
    ("lastName a card number", {"lastName": "5555 5555 5555 4444"}, "/lastName"),
    ("firstName a card number in it", {"firstName": "card 5555555555554444 of Ada"}, "/firstName"),
    ("lastName turned round", {"lastName": "O\u202ebi"}, "/lastName"),
    ("firstName a joiner of no width", {"firstName": "A\u2060da"}, "/firstName"),
]


@ALIKE
@pytest.mark.parametrize("fields, pointer", [pytest.param(f, p, id=n) for n, f, p in FIELD_CASES])
def test_field_at_fault(shop, fields, pointer):
    body = {"token": "tok_test_success", "amount": 10, "email": "a@example.com", "reference": reference()}
    body.update(fields)
    body = {k: v for k, v in body.items() if v is not ...}
    answer = shop.call("POST", "/api/v1/tokenized-card-charge", body)
    assert answer.status == 400, answer
    data = answer.json["data"]
    assert data["responseCode"] == "T1"
    assert answer.json["message"] == data["responseMessage"] == data["responseDescription"] \
        == "Invalid request parameter."
    assert [e["field"] for e in data["errors"]] == [pointer]
    assert "5555" not in answer.body.decode()


def test_all_fields_at_fault_are_named_at_once(shop):
    answer = shop.call("POST", "/api/v1/tokenized-card-charge", {"amount": "x", "currency": "??"})
    assert {e["field"] for e in answer.json["data"]["errors"]} \
        >= {"/token", "/amount", "/email", "/reference", "/currency"}


@pytest.mark.parametrize("fields", [
    pytest.param({"reference": "1718000000000"}, id="a 13-digit time"),
    pytest.param({"reference": "a%2Fb..c"}, id="percent and dots"),
    pytest.param({"reference": "!~"}, id="the ends of the range"),
    pytest.param({"reference": "r" * 100}, id="100 characters"),
    pytest.param({"firstName": None, "lastName": None, "currency": None}, id="nulls"),
    pytest.param({"firstName": "Zoë", "lastName": "O'Neil \u4e2d"}, id="names in UTF-8"),
    pytest.param({"unknown": {"x": [1, 2]}}, id="unknown properties"),
    pytest.param({"firstName": "x" * 100}, id="a name of 100 bytes"),
])
def test_accepted(shop, fields):
    answer = shop.charge(**fields)
    assert answer.status == 200, answer


def test_replay_is_byte_for_byte_and_for_ever(shop):
    body = charge_body()
    first = shop.charge(**body)
    assert first.header("idempotent-replayed") is None
    shop.refund(body["reference"], "100")
    shop.refund(body["reference"])
    again = shop.charge(**body)
    assert again.status == 200
    assert again.header("idempotent-replayed") == "true"
    assert again.body == first.body


@pytest.mark.parametrize("fields, status", [
    pytest.param({"amount": "1000.00"}, 200, id="the same amount written otherwise"),
    pytest.param({"email": "ADA@Example.COM"}, 200, id="the same e-mail in capitals"),
    pytest.param({"currency": "ngn"}, 200, id="the default currency by name"),
    pytest.param({"firstName": "Other"}, 200, id="a name is not part of the request's identity"),
    pytest.param({"amount": 1000.01}, 409, id="another amount"),
    pytest.param({"email": "eve@example.com"}, 409, id="another e-mail"),
    pytest.param({"currency": "USD"}, 409, id="another currency"),
    pytest.param({"token": "tok_test_declined"}, 409, id="another token"),
    pytest.param({"token": "tok_gone"}, 409, id="a known reference is judged before its token"),
])
def test_same_reference(shop, fields, status):
    body = charge_body()
    first = shop.charge(**body)
    again = shop.charge(**{**body, **fields})
    assert again.status == status
    if status == 200:
        assert again.body == first.body
    else:
        assert again.json["data"]["responseCode"] == "D1"


@pytest.mark.parametrize("amount, other", [
    pytest.param("1000", "1001", id="whole"),
    pytest.param("10.50", "10.51", id="decimals that the new default has not"),
])
def test_a_replay_outlives_the_default_currency(shop, amount, other):
    body = charge_body(amount=amount)
    first = shop.charge(**body)
    assert (first.status, first.json["data"]["currency"]) == (200, "NGN")
    shop.httpd.ctl("account", "set", shop.name, "--currency", "JPY")
    again = shop.charge(**body)
    assert (again.status, again.header("idempotent-replayed")) == (200, "true")
    assert again.body == first.body
    for fields in ({"amount": other}, {"currency": "JPY", "amount": "1000"}):
        answer = shop.charge(**{**body, **fields})
        assert (answer.status, answer.json["data"]["responseCode"]) == (409, "D1")
    assert shop.charge(amount="10.50").status == 400
    assert shop.charge().json["data"]["currency"] == "JPY"


def test_a_decline_is_final(shop):
    body = charge_body(token="tok_test_declined")
    assert shop.charge(**body).body == shop.charge(**body).body
    assert shop.charge(**{**body, "token": "tok_test_success"}).status == 409


def test_references_are_apart_by_account(httpd):
    one, two = httpd.shop(), httpd.shop()
    body = charge_body()
    assert one.charge(**body).json["data"]["id"] == 1
    answer = two.charge(**body)
    assert answer.status == 200
    assert answer.header("idempotent-replayed") is None


def test_identical_requests_at_once_charge_once(shop):
    body = charge_body()
    answers = at_once([lambda: shop.charge(**body)] * 12)
    assert {a.status for a in answers} <= {200, 409}
    for answer in answers:
        if answer.status == 409:
            assert answer.json["data"]["responseCode"] == "D2"
            assert answer.header("retry-after") == "1"
    assert sum(a.status == 200 and a.header("idempotent-replayed") is None for a in answers) == 1
    assert len({a.body for a in answers if a.status == 200}) == 1
    rows = json.loads(shop.httpd.ctl("charge", "list", shop.name, "--mode", "test", "--json").stdout)
    assert [row["reference"] for row in rows] == [body["reference"]]


def test_issued_token_belongs_to_its_payer(shop):
    def issue(card, *more):
        return shop.httpd.ctl("token", "create", shop.name, "--mode", "test", "--card", card,
                              "--email", "Ada@example.com", *more).stdout.strip()

    token = issue("5555555555554444")
    answer = shop.charge(token=token, email="ADA@example.com")
    assert answer.status == 200
    card = answer.json["data"]["card"]
    assert (card["first6Digits"], card["last4Digits"], card["token"]) == ("555555", "4444", token)
    refused = shop.charge(token=token, email="eve@example.com")
    assert refused.status == 400
    assert [e["field"] for e in refused.json["data"]["errors"]] == ["/email"]
    assert shop.charge(token=issue("1234567898765432")).json["data"]["paymentStatus"] == "failed"
    assert shop.charge(token=issue("4000000000009995")).json["data"]["gatewayResponseCode"] == "51"
    assert shop.charge(token=issue("4000000000000069")).json["data"]["gatewayResponseCode"] == "54"
    assert shop.charge(token=issue("4000000000000119")).status == 202
    assert shop.charge(token=issue("4000000000003220")).json["data"]["paymentStatus"] == "successful"
    shop.httpd.ctl("token", "revoke", shop.name, token, "--mode", "test")
    revoked = shop.charge(token=token)
    assert [e["field"] for e in revoked.json["data"]["errors"]] == ["/token"]


def test_live_key_of_an_account_in_test_mode(shop):
    answer = shop.charge(key=shop.live_secret)
    assert answer.status == 403
    assert answer.json["data"]["responseCode"] == "B02"
    assert answer.json["message"] == "Invalid Merchant Authorization for this operation."
    assert 'error="insufficient_scope"' in answer.header("www-authenticate")
    assert shop.refunds(key=shop.live_secret).json == []


def test_access_log_names_the_charge_and_no_secret(shop):
    ref = reference()
    shop.charge(reference=ref, email="hidden@example.com")
    line = wait_for(lambda: [l for l in shop.httpd.access_lines() if ref in l], "the access log")[0]
    fields = line.split()
    assert fields[3:6] == [ref, shop.name, "test"]
    assert fields[6].startswith("key_")
    for path in (shop.httpd.root / "access.log", shop.httpd.error_log):
        text = path.read_text()
        assert shop.secret not in text
        assert "hidden@example.com" not in text
        assert "tok_test_success" not in text
