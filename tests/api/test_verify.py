# SPDX-License-Identifier: Apache-2.0
"""The verify operations and void-transaction over HTTP (docs/api.md, "Verify")."""

import json

import pytest

from harness import first_status, reference, wait_for
from shares import ALIKE

pytestmark = ALIKE

MEMBERS = {
    "id", "transactionReference", "reference", "status", "paymentStatus", "amount", "chargedAmount",
    "transactionFee", "requested_amount", "refundedAmount", "refundsPendingAmount", "currency",
    "domain", "channel", "gatewayResponseCode", "gatewayResponseMessage", "authorizationCode",
    "authCode", "requestIp", "paymentDescriptor", "transactionType", "redirectUrl",
    "checkoutMetadata", "card", "customer", "transferDetail", "createdAt", "updatedAt", "refunds",
    "refundsComplete"}
CHECKOUT, TRANSACTION = "/api/v1/checkout/{}/verify", "/api/v1/transaction/{}/verify"
POST_VERIFY, POST_VOID = "/api/v1/transaction/verify", "/api/v1/void-transaction"
MESSAGE = "Transaction details retrieved successfully"
SECRETS = ("zelda", "Hyrule", "tok_test_success", "127.0.0.1", "CUS_", "rfd_")


def charged(shop, **fields):
    answer = shop.charge(amount=1000, email="zelda@example.com", firstName="Zelda", lastName="Hyrule", **fields)
    assert answer.status == first_status(**fields), answer
    return answer


def refunded(shop, ref, amount):
    answer = shop.call("POST", "/api/v1/partial-refund", {"reference": ref, "amount": amount})
    assert answer.status == 200, answer
    return answer.json["refundReference"]


def code_of(answer):
    return answer.status, answer.json["data"]["responseCode"]


@pytest.mark.parametrize("path", [CHECKOUT, TRANSACTION])
def test_secret_view(shop, path):
    made = charged(shop).json["data"]
    answer = shop.call("GET", path.format(made["reference"]))
    assert answer.status == 200, answer
    assert answer.header("content-type") == "application/json; charset=utf-8"
    assert answer.header("idempotent-replayed") is None
    body = answer.json
    assert list(body) == ["status", "message", "data", "log"]
    assert body["log"] == {"history": []}
    assert (body["status"], body["message"]) == (True, MESSAGE)
    data = body["data"]
    assert set(data) == MEMBERS
    assert {name: data[name] for name in made} == made
    assert (data["refunds"], data["refundsComplete"]) == ([], True)
    assert data["customer"]["email"] == "zelda@example.com"
    assert (data["customer"]["name"], data["card"]["token"]) == ("Zelda Hyrule", "tok_test_success")


def test_both_paths_and_the_post_answer_the_same_bytes(shop):
    ref = charged(shop).json["data"]["reference"]
    refunded(shop, ref, "1.10")
    bodies = {shop.call("GET", path.format(ref)).body for path in (CHECKOUT, TRANSACTION)}
    bodies.add(shop.call("POST", POST_VERIFY, {"transactionReference": ref}).body)
    assert len(bodies) == 1


def test_public_view(shop):
    ref = charged(shop).json["data"]["reference"]
    refunded(shop, ref, 100)
    answer = shop.call("GET", CHECKOUT.format(ref), key=shop.public)
    assert (answer.status, answer.json["message"]) == (200, MESSAGE)
    data = answer.json["data"]
    assert set(data) == MEMBERS
    for name in ("requestIp", "checkoutMetadata", "authCode", "authorizationCode"):
        assert data[name] == "", name
    assert data["customer"] == {"id": 0, "customerCode": "", "email": "", "name": ""}
    assert data["card"]["token"] == ""
    assert (data["refunds"], data["refundsComplete"]) == ([], False)
    for text in SECRETS:
        assert text not in answer.body.decode(), text
    secret = shop.call("GET", CHECKOUT.format(ref)).json["data"]
    for name in ("id", "reference", "status", "amount", "chargedAmount", "refundedAmount", "currency",
                 "gatewayResponseCode", "gatewayResponseMessage", "createdAt", "updatedAt", "domain"):
        assert data[name] == secret[name], name


@pytest.mark.parametrize("token, status, message_status", [
    pytest.param("tok_test_declined", "failed", "05", id="failed"),
    pytest.param("tok_test_expired_card", "failed", "54", id="expired card"),
    pytest.param("tok_test_success", "successful", "00", id="successful"),
])
def test_states(shop, token, status, message_status):
    ref = charged(shop, token=token).json["data"]["reference"]
    answer = shop.call("GET", TRANSACTION.format(ref))
    data = answer.json["data"]
    assert answer.json["status"] is True  # the look-up succeeded, whatever became of the charge
    assert (data["status"], data["paymentStatus"], data["gatewayResponseCode"]) == (status, status, message_status)
    assert data["chargedAmount"] == (1000 if status == "successful" else 0)


def test_pending_is_seen_and_then_what_it_became(shop):
    ref = charged(shop, token="tok_test_timeout").json["data"]["reference"]
    seen = []

    def successful():
        data = shop.call("GET", TRANSACTION.format(ref)).json["data"]
        seen.append(data["status"])
        return data if data["status"] != "pending" else None
    data = wait_for(successful, "reconciliation")
    assert data["status"] == "successful" and set(seen) <= {"pending", "successful"}
    assert data["updatedAt"] > data["createdAt"]


def test_what_reconciliation_needs(shop):
    """Each refund shows at once: amount, reference, time."""
    made = charged(shop).json["data"]
    ref, references = made["reference"], []
    last = made["updatedAt"]
    for number in range(1, 4):
        references.append(refunded(shop, ref, number))
        data = shop.call("GET", TRANSACTION.format(ref)).json["data"]
        assert data["refunds"] == references and data["refundsComplete"] is True
        assert data["refundedAmount"] == number * (number + 1) / 2
        assert data["createdAt"] == made["createdAt"]
        assert data["updatedAt"] >= last
        last = data["updatedAt"]
        single = shop.call("GET", "/api/v1/refund/" + references[-1]).json
        assert single["transactionReference"] == ref
    assert '"refundedAmount":6.00,' in shop.call("GET", TRANSACTION.format(ref)).body.decode()


def test_a_hundred_references_are_shown(shop):
    ref = charged(shop).json["data"]["reference"]
    connection = shop.httpd.connect()
    made = []
    for number in range(1, 102):
        answer = shop.call("POST", "/api/v1/partial-refund", {"reference": ref, "amount": str(number / 100)},
                           connection=connection)
        assert answer.status == 200, answer
        made.append(answer.json["refundReference"])
        if number >= 100:
            data = shop.call("GET", TRANSACTION.format(ref), connection=connection).json["data"]
            assert data["refunds"] == made[:100]
            assert data["refundsComplete"] is (number == 100)
    connection.close()


# --- who may, before what there is ---

@pytest.mark.parametrize("method, path, body, key, want", [
    pytest.param("GET", CHECKOUT, None, "public", 404, id="checkout, public"),
    pytest.param("GET", CHECKOUT, None, "live_public", 404, id="checkout, live public: no test data"),
    pytest.param("GET", CHECKOUT, None, "live_secret", 404, id="checkout, live secret: no test data"),
    pytest.param("GET", CHECKOUT, None, None, 401, id="checkout, no key"),
    pytest.param("GET", TRANSACTION, None, "secret", 404, id="transaction, secret"),
    pytest.param("GET", TRANSACTION, None, "public", 403, id="transaction, public"),
    pytest.param("GET", TRANSACTION, None, "live_secret", 404, id="transaction, live secret"),
    pytest.param("GET", TRANSACTION, None, None, 401, id="transaction, no key"),
    pytest.param("POST", POST_VERIFY, "transactionReference", "secret", 404, id="POST verify, secret"),
    pytest.param("POST", POST_VERIFY, "transactionReference", "live_secret", 404, id="POST verify, live secret"),
    pytest.param("POST", POST_VERIFY, "transactionReference", "public", 403, id="POST verify, public"),
    pytest.param("POST", POST_VERIFY, "transactionReference", None, 401, id="POST verify, no key"),
    pytest.param("POST", POST_VOID, "transactionReference", "secret", 404, id="void, secret"),
    pytest.param("POST", POST_VOID, "transactionReference", "public", 403, id="void, public"),
    pytest.param("POST", POST_VOID, "transactionReference", None, 401, id="void, no key"),
])
def test_who_may_is_decided_before_the_look_up(shop, method, path, body, key, want):
    """401 and 403 are the same whether the transaction exists or not."""
    known = charged(shop).json["data"]["reference"]
    answers = []
    for ref in (known, reference()):
        headers = [("Authorization", "Bearer " + getattr(shop, key))] if key else []
        text = json.dumps({body: ref}) if body else None
        if body:
            headers.append(("Content-Type", "application/json"))
        answers.append(shop.httpd.request(method, path.format(ref), text, headers))
    unknown = answers[1]
    assert code_of(unknown) == (want, {401: "B01", 403: "B02", 404: "N1"}[want])
    if want == 404:
        assert unknown.json["message"] == f"no record found for transaction with reference {ref}"
    else:
        assert [a.status for a in answers] == [want] * 2
        strip = lambda a: {k: v for k, v in a.json["data"].items() if k != "requestId"}
        assert strip(answers[0]) == strip(answers[1])


def test_other_accounts_see_nothing(httpd, shop):
    ref = charged(shop).json["data"]["reference"]
    other = httpd.shop()
    for answer in (other.call("GET", CHECKOUT.format(ref)), other.call("GET", CHECKOUT.format(ref), key=other.public),
                   other.call("GET", TRANSACTION.format(ref)), other.call("GET", "/api/v1/refund/" + ref),
                   other.call("POST", POST_VERIFY, {"transactionReference": ref}),
                   other.call("POST", POST_VOID, {"transactionReference": ref})):
        assert code_of(answer) == (404, "N1")


def test_a_refund_reference_is_no_transaction(shop):
    made = refunded(shop, charged(shop).json["data"]["reference"], 1)
    assert code_of(shop.call("GET", TRANSACTION.format(made))) == (404, "N1")


# --- POST verify ---

@pytest.mark.parametrize("literal", ["1000", "1000.00", '"1000"', '"1000.0"', "1e3", '"1000.000"', "null"])
def test_amount_that_is_the_transactions(shop, literal):
    ref = charged(shop).json["data"]["reference"]
    answer = shop.call("POST", POST_VERIFY, '{"transactionReference":"%s","amount":%s}' % (ref, literal))
    assert (answer.status, answer.json["message"]) == (200, MESSAGE), answer


@pytest.mark.parametrize("literal, want", [
    pytest.param("999.99", (409, "V1"), id="less"), pytest.param("1000.01", (409, "V1"), id="more"),
    pytest.param('"1"', (409, "V1"), id="a string"),
    pytest.param("1000.001", (400, "T1"), id="too many decimals"), pytest.param("0", (400, "T1"), id="nought"),
    pytest.param("-1000", (400, "T1"), id="negative"), pytest.param('"x"', (400, "T1"), id="no number"),
    pytest.param("true", (400, "T1"), id="boolean"), pytest.param("1000000000000", (400, "T1"), id="too large"),
])
def test_amount_that_differs(shop, literal, want):
    ref = charged(shop).json["data"]["reference"]
    answer = shop.call("POST", POST_VERIFY, '{"transactionReference":"%s","amount":%s}' % (ref, literal))
    assert code_of(answer) == want, answer
    assert [fault["field"] for fault in answer.json["data"]["errors"]] == ["/amount"]
    assert "1000.00" not in answer.body.decode(), "what the amount is must not be told"


def test_transaction_type(shop):
    ref = charged(shop).json["data"]["reference"]
    for kind in ("card", "anything", "t" * 100, "", None):
        answer = shop.call("POST", POST_VERIFY, {"transactionReference": ref, "transactionType": kind})
        assert (answer.status, answer.json["data"]["transactionType"]) == (200, ""), answer
    for kind in ("t" * 101, 5, ["card"], "5555555555554444"):
        answer = shop.call("POST", POST_VERIFY, {"transactionReference": ref, "transactionType": kind, "amount": 0})
        assert code_of(answer) == (400, "T1")
        assert {fault["field"] for fault in answer.json["data"]["errors"]} == {"/transactionType", "/amount"}


def test_verify_reads_the_same_after_a_refund(shop):
    ref = charged(shop).json["data"]["reference"]
    refunded(shop, ref, 400)
    answer = shop.call("POST", POST_VERIFY, {"transactionReference": ref, "amount": 1000})
    assert (answer.status, answer.json["data"]["refundedAmount"]) == (200, 400)
    assert code_of(shop.call("POST", POST_VERIFY, {"transactionReference": ref, "amount": 600})) == (409, "V1")


# --- void ---

@pytest.mark.parametrize("token", [
    pytest.param("tok_test_success", id="successful"), pytest.param("tok_test_declined", id="failed"),
    pytest.param("tok_test_error", id="a pending charge of a token is no checkout")])
def test_charges_of_tokens_cannot_be_voided(shop, token):
    ref = charged(shop, token=token).json["data"]["reference"]
    listed = lambda: shop.httpd.ctl("charge", "show", shop.name, ref, "--mode", "test", "--json").stdout
    state = json.loads(listed())["status"]
    answer = shop.call("POST", POST_VOID, {"transactionReference": ref})
    assert code_of(answer) == (409, "V2")
    assert json.loads(listed())["status"] in (state, "failed")


# --- the access log ---

def test_access_log_names_the_reference(shop):
    ref = charged(shop).json["data"]["reference"]
    made = refunded(shop, ref, 1)
    shop.call("GET", TRANSACTION.format(ref))
    shop.call("POST", POST_VERIFY, {"transactionReference": ref, "amount": 1})
    shop.call("POST", POST_VOID, {"transactionReference": ref})
    shop.call("GET", "/api/v1/refund/" + made)
    for name, line in ((ref, "GET " + TRANSACTION.format(ref)), (ref, "POST " + POST_VERIFY),
                       (ref, "POST " + POST_VOID), (made, "GET /api/v1/refund/" + made)):
        wait_for(lambda name=name, line=line: [said for said in shop.httpd.access_lines()
                                               if f" {name} {shop.name} test " in said and line + " HTTP" in said],
                 line)


# --- methods ---

@pytest.mark.parametrize("path, key", [
    (CHECKOUT, "secret"), (CHECKOUT, "public"), (TRANSACTION, "secret")])
def test_head(shop, path, key):
    ref = charged(shop).json["data"]["reference"]
    key = getattr(shop, key)
    got, head = (shop.call(method, path.format(ref), key=key) for method in ("GET", "HEAD"))
    assert (head.status, head.body) == (200, b"")
    assert head.header("content-length") == got.header("content-length") == str(len(got.body))
    assert shop.call("HEAD", path.format(reference()), key=key).status == 404


@pytest.mark.parametrize("path, allow", [
    ("/api/v1/checkout/x/verify", "GET, HEAD, OPTIONS"),
    ("/api/v1/transaction/x/verify", "GET, HEAD, OPTIONS"),
    ("/api/v1/transaction/verify/verify", "GET, HEAD, OPTIONS"),
    ("/api/v1/transaction/verify", "POST, OPTIONS"),
    ("/api/v1/void-transaction", "POST, OPTIONS"),
    ("/api/v1/refund", "POST, OPTIONS"),
    ("/api/v1/partial-refund", "POST, OPTIONS"),
    ("/api/v1/refund/verify", "GET, HEAD, OPTIONS"),
    ("/api/v1/refund/a/b", "GET, HEAD, OPTIONS"),
])
def test_methods_of_paths_that_look_alike(shop, path, allow):
    options = shop.call("OPTIONS", path)
    assert (options.status, options.header("allow"), options.body) == (204, allow, b"")
    for method in ("GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "FROB"):
        answer = shop.call(method, path, {} if method == "POST" else None)
        if method in allow.split(", "):
            assert answer.status in (400, 404), (method, answer)
        else:
            assert answer.status == 405, (method, answer)
            assert answer.header("allow") == allow


@pytest.mark.parametrize("path", [
    "/api/v1/checkout/verify", "/api/v1/checkout//verify", "/api/v1/checkout/x", "/api/v1/checkout/x/verify/",
    "/api/v1/checkout/x/verify/y", "/api/v1/checkout/x/Verify", "/api/v1/transaction/x", "/api/v1/transaction/",
    "/api/v1/transaction/x/y/verify", "/api/v1/refund/a/b/c", "/api/v1/refund/", "/api/v1/partial-refund/x",
    "/api/v1/void-transaction/x", "/api/v1/Refund", "/api/v1/refunds"])
def test_paths_that_are_none(shop, path):
    for method in ("GET", "POST", "OPTIONS"):
        answer = shop.call(method, path, {} if method == "POST" else None)
        assert code_of(answer) == (404, "N2"), (method, answer)
