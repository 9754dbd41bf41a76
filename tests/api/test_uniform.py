# SPDX-License-Identifier: Apache-2.0
"""Negotiation, headers, envelope and errors are the same on every operation: they come from one place."""

import collections
import json

import pytest

from harness import charge_body, checkout_body, link_body, order_body, reference
from shares import ALIKE
from test_errors import check_envelope

pytestmark = ALIKE

Operation = collections.namedtuple("Operation", "method path public body status")
JSON = ("Content-Type", "application/json")
# What httpd adds, and what belongs to one answer or one operation.
OWN = {"date", "server", "connection", "keep-alive", "request-id", "content-length", "allow", "upgrade"}

OPERATIONS = {
    "charge": Operation("POST", "/api/v1/tokenized-card-charge", False, lambda ref: charge_body(reference=ref), 200),
    "refund": Operation("POST", "/api/v1/refund", False, lambda ref: {"reference": ref}, 404),
    "partial refund": Operation("POST", "/api/v1/partial-refund", False, lambda ref: {"reference": ref, "amount": 1},
                                404),
    "single refund": Operation("GET", "/api/v1/refund/rf_none", False, None, 404),
    "refund list": Operation("GET", "/api/v1/refund/2026-01-01/2026-01-02", False, None, 200),
    "verify checkout": Operation("GET", "/api/v1/checkout/none/verify", True, None, 404),
    "verify transaction": Operation("GET", "/api/v1/transaction/none/verify", False, None, 404),
    "POST verify": Operation("POST", "/api/v1/transaction/verify", False, lambda ref: {"transactionReference": ref},
                             404),
    "void": Operation("POST", "/api/v1/void-transaction", False, lambda ref: {"transactionReference": ref}, 404),
    "payment link": Operation("POST", "/api/v1/paymentlink/initiate", True, lambda ref: link_body(ref), 404),
    "initiate": Operation("POST", "/api/v1/initiate", True, lambda ref: checkout_body(transactionReference=ref), 200),
    "order": Operation("POST", "/payment/order/create", True, lambda ref: order_body(reference=ref), 200),
    "openapi": Operation("GET", "/api/v1/openapi.json", True, None, 200),
}
POSTS = {name: one for name, one in OPERATIONS.items() if one.method == "POST"}
GETS = {name: one for name, one in OPERATIONS.items() if one.method == "GET"}
SECRETS = {name: one for name, one in OPERATIONS.items() if not one.public}


def send(shop, one, method=None, path=None, body=..., key="secret", headers=(), media=JSON):
    """The expected operation, except for the given members."""
    pairs = list(headers)
    if key:
        pairs.append(("Authorization", "Bearer " + getattr(shop, key)))
    if body is ...:
        body = json.dumps(one.body(reference())) if one.body else None
    if media and body is not None:
        pairs.append(media)
    return shop.httpd.request(method or one.method, path or one.path, body, pairs)


ACCEPT = [("Accept", "text/html, image/*")]
FAULTS = [
    pytest.param(OPERATIONS, {"key": None}, 401, "B01", id="no key"),
    pytest.param(OPERATIONS, {"key": None, "headers": [("Authorization", "Bearer pay_testsk_" + "x" * 48)]}, 401, "B01",
                 id="unknown key"),
    pytest.param(SECRETS, {"key": "public"}, 403, "B02", id="public key"),
    pytest.param(OPERATIONS, {"headers": [("Origin", "https://shop.example")]}, 403, "B02", id="secret key in a browser"),
    pytest.param(OPERATIONS, {"method": "DELETE"}, 405, "M1", id="wrong method"),
    pytest.param(OPERATIONS, {"method": "BREW"}, 405, "M1", id="unknown method"),
    pytest.param(OPERATIONS, {"headers": ACCEPT}, 406, "A1", id="nothing acceptable"),
    pytest.param(OPERATIONS, {"headers": [("Accept", "application/json;q=0, text/*;q=0")]}, 406, "A1", id="refused"),
    pytest.param(POSTS, {"media": ("Content-Type", "text/plain")}, 415, "U1", id="wrong media type"),
    pytest.param(POSTS, {"media": None}, 415, "U1", id="no media type"),
    pytest.param(POSTS, {"headers": [("Content-Encoding", "gzip")]}, 415, "U1", id="content encoding"),
    pytest.param(POSTS, {"body": "{}" + " " * 65536}, 413, "S1", id="too large"),
    pytest.param(POSTS, {"body": ""}, 400, "400", id="empty"),
    pytest.param(POSTS, {"body": "{"}, 400, "T1", id="malformed"),
    pytest.param(POSTS, {"body": "[]"}, 400, "T1", id="an array"),
    pytest.param(POSTS, {"body": '{"a":1,"a":1}'}, 400, "T1", id="a member twice"),
    pytest.param(POSTS, {"body": '{"a":' + "[" * 32 + "]" * 32 + "}"}, 400, "T1", id="too deep"),
    pytest.param(POSTS, {"body": b'{"a":"\xff"}'}, 400, "T1", id="no UTF-8"),
    pytest.param(POSTS, {"headers": [("Idempotency-Key", "")]}, 400, "T1", id="malformed Idempotency-Key"),
]


@pytest.mark.parametrize("operations, fault, status, code", FAULTS)
def test_one_fault_has_one_answer(shop, operations, fault, status, code):
    seen = {}
    for name, one in operations.items():
        answer = send(shop, one, **fault)
        check_envelope(answer, status, code)
        if status == 405:
            assert answer.header("allow") == ("POST, OPTIONS" if one.method == "POST" else "GET, HEAD, OPTIONS")
        headers = sorted((n, v) for n, v in answer.headers if n not in OWN)
        body = answer.json
        body["data"]["requestId"] = None
        seen[name] = json.dumps([body, headers])
    assert len(set(seen.values())) == 1, seen
    first = next(iter(seen.values()))
    assert (status in (401, 403)) == ('"www-authenticate"' in first)


# From the first judgement to the last: a request has all faults at first, and loses one after the other.
ORDER = [
    ("key", {"key": None, "method": "DELETE", "headers": ACCEPT + [("Idempotency-Key", "")],
             "media": ("Content-Type", "text/plain"), "body": "{" + " " * 65536}, 401),
    ("method", {"key": "public"}, 405),
    ("kind of key", {"method": "POST"}, 403),
    ("Accept", {"key": "secret"}, 406),
    ("media type", {"headers": [("Idempotency-Key", "")]}, 415),
    ("size", {"media": JSON}, 413),
    ("form as JSON", {"body": "{"}, 400),
    ("Idempotency-Key", {"body": "{}"}, 400),
]


@pytest.mark.parametrize("name", POSTS)
def test_order_of_judgement(shop, name):
    one, request = POSTS[name], {}
    for step, change, status in ORDER:
        request.update(change)
        if step == "kind of key" and one.public:
            continue
        answer = send(shop, one, **request)
        assert answer.status == status, (step, answer)
        if status == 400:
            fields = [fault["field"] for fault in answer.json["data"]["errors"]]
            assert fields == (["Idempotency-Key"] if step == "Idempotency-Key" else [""]), step
    assert shop.refunds().body == b"[]"


@pytest.mark.parametrize("name", OPERATIONS)
def test_answers_have_the_common_headers(shop, name):
    answer = send(shop, OPERATIONS[name])
    assert answer.status == OPERATIONS[name].status, answer
    assert answer.header("cache-control") == "no-store"
    assert answer.header("x-content-type-options") == "nosniff"
    assert answer.header("vary") == "Accept"
    assert answer.header("content-type") == "application/json; charset=utf-8"
    assert answer.header("request-id")
    assert not [n for n, _ in answer.headers if n.startswith("access-control")]
    if answer.status >= 400:
        check_envelope(answer, answer.status)


@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize("accept, media", [
    ("application/json", "application/json"), ("text/json", "text/json"), ("text/plain", "text/plain"),
    ("*/*", "application/json"), ("text/*", "text/json"), ("text/html, text/plain;q=0.5", "text/plain"),
    ("text/plain;q=0.2, text/json;q=0.3", "text/json"), ("", "application/json")])
def test_media_type_of_the_answer(shop, name, accept, media):
    """Success or error of the operation: the same text in each media type."""
    one = OPERATIONS[name]
    ref = reference()
    body = json.dumps(one.body(ref)) if one.body else None
    plain = send(shop, one, body=body)
    answer = send(shop, one, body=body, headers=[("Accept", accept)])
    assert answer.status == plain.status == one.status
    assert answer.header("content-type") == media + "; charset=utf-8"
    if one.status < 400:
        assert answer.body == plain.body
    else:
        check = lambda a: {**a.json["data"], "requestId": None}
        assert check(answer) == check(plain)


@pytest.mark.parametrize("name", GETS)
def test_head_is_get_without_its_body(shop, name):
    got, head = (send(shop, GETS[name], method=method) for method in ("GET", "HEAD"))
    assert (head.status, head.body) == (got.status, b"")
    unlike = {"date", "request-id"}
    assert [(n, v) for n, v in head.headers if n not in unlike] == [(n, v) for n, v in got.headers if n not in unlike]


@pytest.mark.parametrize("name", OPERATIONS)
def test_options(shop, name):
    one = OPERATIONS[name]
    answer = send(shop, one, method="OPTIONS", body=None)
    assert (answer.status, answer.body) == (204, b"")
    assert answer.header("allow") == ("POST, OPTIONS" if one.method == "POST" else "GET, HEAD, OPTIONS")
    assert send(shop, one, method="OPTIONS", body=None, key=None).status == 401


@pytest.mark.parametrize("name", OPERATIONS)
def test_slashes_and_queries(shop, name):
    one = OPERATIONS[name]
    assert send(shop, one, path=one.path.replace("/", "//")).status == one.status
    assert send(shop, one, path=one.path + "?key=value&token=x").status == one.status
    if one.path.startswith("/api/v1/"):  # what is below the order's path belongs to the site
        check_envelope(send(shop, one, path=one.path + "/"), 404, "N2")


@pytest.mark.parametrize("name", [name for name, one in OPERATIONS.items() if one.public])
def test_public_keys_may_call_what_the_table_says(shop, name):
    assert send(shop, OPERATIONS[name], key="public").status == OPERATIONS[name].status
