# SPDX-License-Identifier: Apache-2.0
"""Every operation, media type and error of docs/openapi.json is provoked, and each answer is as the document says."""

import functools
import json
import re
import urllib.parse

import pytest

import openapi_document
from conftest import MPMS
from harness import (
    WAIT_S, Httpd, Response, at_once, beside, charge_body, checkout_body, first_status, link_body, loaded,
    order_body, reference, wait_for)


DOCUMENT = openapi_document.Document()
OPERATIONS = list(DOCUMENT.operations.values())
BROKEN = "broken.example"
LIMITED = "limited.example"
FAILING = "failing.example"
CLIENTS = 12  # that ask at once

# What the document names and nobody can bring about here: (operation, status, responseCode) to the reason.
UNPROVOKED = {
    **{(one.id, "500", "E1"): "the server does not fail on request" for one in OPERATIONS},
    **{(one, "409", "D2"): "Live Mode only, while its acquirer is asked for a page"
       for one in ("initiateTransaction", "initiatePaymentLink", "createOrder")},
    **{(one, "501", "I1"): "Live Mode only, where the acquirer has no pages"
       for one in ("initiateTransaction", "initiatePaymentLink", "createOrder")},
}
# What the web server refuses before it reads Accept: application/json only.
BEFORE_ACCEPT = {
    *((one.id, "default", "") for one in OPERATIONS),
    ("verifyTransaction", "404", "N2"),  # an encoded slash; an empty reference is the path of another operation
}


class World:
    """A server with a shop in it: a host that works, one whose store cannot be opened, one with a limit of calls, one with
    a limit of failures."""

    def __init__(self):
        self.httpd = Httpd(mpm=MPMS[0])
        self.httpd.extra = f"""
<VirtualHost 127.0.0.1:@PORT@>
ServerName {BROKEN}
PaymentsEngine On
PaymentsStore lmdb:{self.httpd.root}/missing/store
</VirtualHost>
<VirtualHost 127.0.0.1:@PORT@>
ServerName {LIMITED}
PaymentsEngine On
PaymentsStore lmdb:{self.httpd.store}
PaymentsRateLimit 1/h burst=1
</VirtualHost>
<VirtualHost 127.0.0.1:@PORT@>
ServerName {FAILING}
PaymentsEngine On
PaymentsStore lmdb:{self.httpd.store}
PaymentsFailureLimit card 1/h
</VirtualHost>
<IfModule mod_reqtimeout.c>
RequestReadTimeout header=20 body=1
</IfModule>
"""
        self.httpd.start()
        self.shop = self.httpd.shop()  # the store's first account, whose number is 1
        self.second = None

    def slow(self):
        """A server on the same store whose acquirer takes its time."""
        if not self.second:
            self.second = Httpd(mpm=MPMS[0], engine=False, without=["http2"])
            self.second.host_extra = f"PaymentsEngine On\nPaymentsStore lmdb:{self.httpd.store}"
            self.second.extra = (f"LoadModule acquirer_counter_module {loaded('faults/mod_acquirer_counter')}\n"
                                 f"CounterFile {self.second.root}/asked\nCounterDelay 1000")
            self.second.start()
        return self.second

    def asked(self):
        """How often that acquirer was asked."""
        path = self.second.root / "asked"
        return len(path.read_text().splitlines()) if path.exists() else 0

    def charged(self, **fields):
        body = charge_body(**fields)
        assert self.shop.charge(**body).status == first_status(**body)
        return body["reference"]

    def link(self, disabled=False):
        """A payment link for any amount."""
        ref = reference()
        self.httpd.ctl("link", "create", self.shop.name, "--mode", "test", "--reference", ref)
        if disabled:
            self.httpd.ctl("link", "disable", self.shop.name, ref, "--mode", "test")
        return ref

    def refunded(self, ref, **fields):
        answer = self.shop.call("POST", "/api/v1/partial-refund" if "amount" in fields else "/api/v1/refund",
                                {"reference": ref, **fields})
        assert answer.status == 200, answer
        return answer.json["refundReference"]


@pytest.fixture(scope="module")
def world():
    one = World()
    yield one
    if one.second:
        one.second.close()
    one.httpd.expect_log("PAY00100|PAY00303|PAY00350")  # of the store that cannot be opened
    one.httpd.close()


class Ask:
    """Calls one operation with one Accept header."""

    def __init__(self, world, operation, accept):
        self.world, self.operation, self.accept = world, operation, accept
        self.key = world.shop.secret

    def __call__(self, body=None, key=None, headers=(), host="", path=None, media="application/json", **segments):
        path = path or re.sub(r"{(\w+)}", lambda m: urllib.parse.quote(segments[m[1]], safe=""), self.operation.path)
        pairs = [("Accept", self.accept), *headers]
        if key != "":
            pairs.append(("Authorization", "Bearer " + (key or self.key)))
        if body is not None and media:
            pairs.append(("Content-Type", media))
        text = json.dumps(body) if isinstance(body, (dict, list)) else body
        return self.world.httpd.request(self.operation.method, host + path, text, pairs)

    def anything(self, **kwargs):
        """A call that is well formed, of an operation that may well refuse it."""
        if self.operation.method == "POST":
            kwargs = {"body": {}, **kwargs}
        return self(**{**dict.fromkeys(re.findall(r"{(\w+)}", self.operation.path), "2026-01-01"), **kwargs})


def until(code, begin):
    """Rounds of calls at once until one is answered `code`; begin() makes the call of a round, which gets a number."""
    def seen():
        call = begin()
        answers = at_once([functools.partial(call, number) for number in range(CLIENTS)])
        return next((a for a in answers if a.status == 409 and a.json["data"]["responseCode"] == code), None)
    return wait_for(seen, f"an answer {code}")


def forbidden(ask):
    """A public key where only secret ones may call, else a secret key out of a browser."""
    if ask.operation.public:
        return ask.anything(headers=[("Origin", "https://shop.example")])
    return ask.anything(key=ask.world.shop.public)


def bad_framing(ask):
    return ask.anything(body=b"zz\r\n\r\n", media=None, headers=[("Transfer-Encoding", "chunked")])


def keyed(ask, first, second):
    """The second body's answer, under the Idempotency-Key that the first one took."""
    headers = [("Idempotency-Key", reference())]
    assert ask(first, headers=headers).status == 200
    return ask(second, headers=headers)


def charge_in_flight(ask):
    """Asked again while another server on the same store waits for its acquirer."""
    body = charge_body()
    other, before = ask.world.slow(), ask.world.asked()
    slow = beside(lambda: other.request("POST", ask.operation.path, json.dumps(body), {
        "Authorization": "Bearer " + ask.key, "Content-Type": "application/json"}))
    wait_for(lambda: ask.world.asked() > before, "the acquirer to be asked")
    answer = ask(body)
    assert slow.result(WAIT_S).status == 200
    return answer


def refund_in_flight(ask, **fields):
    def begin():
        body, headers = {"reference": ask.world.charged(), **fields}, [("Idempotency-Key", reference())]
        return lambda number: ask(body, headers=headers)
    return until("D2", begin)


def refund_beside_another(ask):
    def begin():
        ref = ask.world.charged()
        if ask.operation.id == "createRefund":
            return lambda number: ask({"reference": ref}, headers=[("Idempotency-Key", reference())])
        return lambda number: ask({"reference": ref, "amount": number + 1})
    return until("R4", begin)


def checkout(world):
    """The reference of one that is still to be paid."""
    body = checkout_body()
    assert world.shop.call("POST", "/api/v1/initiate", body).status == 200
    return body["transactionReference"]


def voided(ask, headers=()):
    """The body that voided a checkout, and the answer."""
    body = {"transactionReference": checkout(ask.world)}
    return body, ask(body, headers=headers)


def voided_another(ask):
    headers = [("Idempotency-Key", reference())]
    voided(ask, headers)
    return ask({"transactionReference": ask.world.charged()}, headers=headers)


def repeated(ask):
    body = {"reference": ask.world.charged(), "amount": 1}
    first = ask.world.refunded(**{"ref": body["reference"], "amount": 1})
    answer = ask(body)
    assert first in answer.json["message"]
    return answer


def full(world):
    ref = world.charged()
    world.refunded(ref)
    return ref


def too_often(ask):
    """The second call of an hour, if it is not a later one by now."""
    ask.anything(host=f"http://{LIMITED}")
    return ask.anything(host=f"http://{LIMITED}")


def failed_too_often(ask, body):
    """Of a payer whose payment has just failed."""
    failing = "failing@example.com"
    paid = Ask(ask.world, DOCUMENT.operations["createCharge"], "application/json")
    paid(charge_body(token="tok_test_declined", email=failing), host=f"http://{FAILING}")
    return ask(re.sub(r'("email": )"[^"]*"', rf'\1"{failing}"', json.dumps(body)), host=f"http://{FAILING}")


def expectation(ask):
    return ask.anything(headers=[("Expect", "wonders")])


EVERYWHERE = {
    ("401", "B01"): lambda ask: ask.anything(key=""),
    ("403", "B02"): forbidden,
    ("406", "A1"): lambda ask: Ask(ask.world, ask.operation, "text/html").anything(),
    ("429", "L1"): too_often,
    ("503", "E2"): lambda ask: ask.anything(host=f"http://{BROKEN}"),
    ("default", ""): expectation,
}
EVERY_GET = {("400", "T1"): bad_framing}
EVERY_POST = {
    ("400", "T1"): lambda ask: ask("[]"),
    ("400", "400"): lambda ask: ask(""),
    ("413", "S1"): lambda ask: ask("x" * 65537),
    ("415", "U1"): lambda ask: ask("{}", media="text/plain"),
}
UNKNOWN_SEGMENT = {
    ("404", "N1"): lambda ask: ask.anything(reference="never", refundReference="never"),
    ("404", "N2"): lambda ask: ask(path=re.sub(r"{\w+}", "", ask.operation.path)),
}
VERIFIED = {("200", ""): lambda ask: ask(reference=ask.world.charged()), **UNKNOWN_SEGMENT}


ORDER_ASKED = {("200", ""): lambda ask: ask({"reference": ask.world.charged()}),
               ("404", "N1"): lambda ask: ask({"reference": "never"})}


def again(ask, body):
    """The same reference for another amount."""
    assert ask(body).status == 200
    inner = body.get("order", body)
    inner["amount"] = 2
    return ask(body)


OWN = {
    "createCharge": {
        ("200", ""): lambda ask: ask(charge_body(firstName="Ada")),
        ("202", ""): lambda ask: ask(charge_body(token="tok_test_timeout")),
        ("409", "D1"): lambda ask: ask(charge_body(reference=ask.world.charged(), amount=2)),
        ("409", "D2"): charge_in_flight,
        ("429", "L2"): lambda ask: failed_too_often(ask, charge_body()),
    },
    "createRefund": {
        ("200", ""): lambda ask: ask({"reference": ask.world.charged()}),
        ("404", "N1"): lambda ask: ask({"reference": "never"}),
        ("409", "D1"): lambda ask: keyed(ask, {"reference": ask.world.charged()}, {"reference": ask.world.charged()}),
        ("409", "D2"): refund_in_flight,
        ("409", "R1"): lambda ask: ask({"reference": ask.world.charged(token="tok_test_declined")}),
        ("409", "R3"): lambda ask: ask({"reference": full(ask.world)}),
        ("409", "R4"): refund_beside_another,
    },
    "createPartialRefund": {
        ("200", ""): lambda ask: ask({"reference": ask.world.charged(), "amount": "0.01", "merchant_note": "a part"}),
        ("404", "N1"): lambda ask: ask({"reference": "never", "amount": 1}),
        ("409", "D1"): lambda ask: (lambda ref: keyed(ask, {"reference": ref, "amount": 1},
                                                      {"reference": ref, "amount": 2}))(ask.world.charged()),
        ("409", "D2"): lambda ask: refund_in_flight(ask, amount=1),
        ("409", "R1"): lambda ask: ask({"reference": ask.world.charged(token="tok_test_declined"), "amount": 1}),
        ("409", "R2"): lambda ask: ask({"reference": ask.world.charged(), "amount": "1000.01"}),
        ("409", "R3"): lambda ask: ask({"reference": full(ask.world), "amount": 1}),
        ("409", "R4"): refund_beside_another,
        ("409", "R5"): repeated,
    },
    "getRefund": {
        ("200", ""): lambda ask: ask(refundReference=ask.world.refunded(ask.world.charged())),
        **UNKNOWN_SEGMENT,
    },
    "listRefunds": {
        ("200", ""): lambda ask: ask.world.refunded(ask.world.charged()) and ask(startDate="2000-01-01",
                                                                                 endDate="2099-12-31"),
        ("400", "T1"): lambda ask: ask(startDate="2026-02-30", endDate="2026-03-01T00:00:00Z"),
        ("404", "N2"): lambda ask: ask(path="/api/v1/refund/2026-01-01/"),
    },
    "verifyCheckout": VERIFIED,
    "verifyTransaction": {**VERIFIED, ("404", "N2"): lambda ask: ask.anything(reference="a/b")},
    "verifyTransactionAmount": {
        ("200", ""): lambda ask: ask({"transactionReference": ask.world.charged(), "amount": "1000.00",
                                      "transactionType": "card"}),
        ("404", "N1"): lambda ask: ask({"transactionReference": "never"}),
        ("409", "V1"): lambda ask: ask({"transactionReference": ask.world.charged(), "amount": 999.99}),
    },
    "voidTransaction": {
        ("200", ""): lambda ask: voided(ask)[1],
        ("404", "N1"): lambda ask: ask({"transactionReference": "never"}),
        ("409", "D1"): voided_another,
        ("409", "V2"): lambda ask: ask({"transactionReference": ask.world.charged()}),
    },
    "initiatePaymentLink": {
        ("200", ""): lambda ask: ask(link_body(ask.world.link())),
        ("404", "N1"): lambda ask: ask(link_body("never")),
        ("409", "D1"): lambda ask: (lambda link: keyed(ask, link_body(link), link_body(link, amount=2)))(ask.world.link()),
        ("409", "V2"): lambda ask: ask(link_body(ask.world.link(disabled=True))),
        ("429", "L2"): lambda ask: failed_too_often(ask, link_body(ask.world.link())),
    },
    "initiateTransaction": {
        ("200", ""): lambda ask: ask(checkout_body(metaData={"cart": 7})),
        ("409", "D1"): lambda ask: again(ask, checkout_body()),
        ("429", "L2"): lambda ask: failed_too_often(ask, checkout_body()),
    },
    "createOrder": {
        ("200", ""): lambda ask: ask(order_body()),
        ("409", "D1"): lambda ask: again(ask, order_body()),
        ("429", "L2"): lambda ask: failed_too_often(ask, order_body()),
    },
    "verifyOrder": ORDER_ASKED,
    "getOrderStatus": ORDER_ASKED,
    "getOrder": VERIFIED,
    "readOrderStatus": VERIFIED,
    "getOrderFee": {("200", ""): lambda ask: ask({"amount": 10, "paymentoption": "C"})},
    "getTransactionFee": {("200", ""): lambda ask: ask({"amount": 10, "channel": "bank_transfer"})},
    "showCheckout": VERIFIED,
    "listTransactions": {("200", ""): lambda ask: ask.world.charged() and ask(),
                         ("400", "T1"): lambda ask: ask(path="/api/v1/transaction?limit=0")},
    "reportTransactions": {
        ("200", ""): lambda ask: ask.world.charged() and ask(startDate="2000-01-01", endDate="2099-12-31"),
        ("400", "T1"): lambda ask: ask(startDate="2026-02-30", endDate="2026-03-01T00:00:00Z"),
        ("404", "N2"): lambda ask: ask(path="/api/v1/report/2026-01-01/"),
    },
    "listUssdBanks": {("200", ""): lambda ask: ask()},
    "listBanks": {("200", ""): lambda ask: ask(country="NG"), ("404", "N2"): lambda ask: ask(path="/api/v1/banks/")},
    "listVirtualAccountBanks": {("200", ""): lambda ask: ask()},
    "getDescription": {("200", ""): lambda ask: ask()},
}


def provokers(operation):
    every = EVERY_GET if operation.method == "GET" else EVERY_POST
    return {**EVERYWHERE, **every, **OWN.get(operation.id, {})}


def cases():
    """All as JSON, and in the other media types, which one function chooses, a case of each status."""
    seen = set()
    for operation in OPERATIONS:
        for status, code, media in operation.documented():
            what = (operation.id, status, code)
            if what in UNPROVOKED or (what in BEFORE_ACCEPT and media != "application/json"):
                continue
            if media != "application/json" and (status, media) in seen:
                continue
            seen.add((status, media))
            yield pytest.param(operation, status, code, media, id=f"{operation.id} {status} {code} {media}")


def test_what_nobody_provokes_is_listed():
    documented = {(o.id, status, code) for o in OPERATIONS for status, code, _ in o.documented()}
    provoked = {(o.id, *what) for o in OPERATIONS for what in provokers(o)}
    assert set(OWN) == set(DOCUMENT.operations)
    assert provoked | set(UNPROVOKED) == documented
    assert not provoked & set(UNPROVOKED)


@pytest.mark.parametrize("operation, status, code, media", cases())
def test_documented_answer(world, operation, status, code, media):
    """Each answer that the document names can be had, and is as it says."""
    answer = provokers(operation)[status, code](Ask(world, operation, media))
    if status == "default":
        assert str(answer.status) not in operation.responses
        assert answer.json["data"]["responseCode"] == str(answer.status)
    else:
        assert str(answer.status) == status, answer
    if status >= "400" and code:
        assert answer.json["data"]["responseCode"] == code
    assert not operation.judge(answer, media, status)


@pytest.mark.parametrize("kind", ["secret", "public"])
@pytest.mark.parametrize("operation", OPERATIONS, ids=repr)
def test_kind_of_key(world, operation, kind):
    ask = Ask(world, operation, "text/plain")
    call = OWN[operation.id]["200", ""]
    if kind == "public":
        ask.key = world.shop.public
    answer = call(ask) if kind == "secret" or operation.id != "voidTransaction" else ask.anything()
    assert (answer.status == 403) == (kind == "public" and not operation.public), answer
    assert not operation.judge(answer, "text/plain")


@pytest.mark.parametrize("media", ["application/json", "text/json", "text/plain"])
@pytest.mark.parametrize("fields", [{"token": "tok_test_declined"}, {"token": "tok_test_success", "currency": "JPY"}],
                         ids=["declined", "without decimals"])
def test_other_charges(world, media, fields):
    operation = DOCUMENT.operations["createCharge"]
    answer = Ask(world, operation, media)(charge_body(**fields))
    assert answer.status == 200
    assert not operation.judge(answer, media)


@pytest.mark.parametrize("operation", ["createCharge", "createRefund", "createPartialRefund"])
def test_live_key_in_test_mode(world, operation):
    operation = DOCUMENT.operations[operation]
    answer = Ask(world, operation, "text/json")({**charge_body(), "amount": 1}, key=world.shop.live_secret)
    assert answer.status == 403
    assert not operation.judge(answer, "text/json")


def test_request_that_never_comes_whole(world):
    operation = DOCUMENT.operations["createCharge"]
    said = world.httpd.raw((f"POST {operation.path} HTTP/1.1\r\nHost: localhost\r\nAccept: text/plain\r\nConnection: close\r\n"
                            f"Authorization: Bearer {world.shop.secret}\r\nContent-Type: application/json\r\n"
                            "Content-Length: 10\r\n\r\n{").encode())
    head, _, body = said.partition(b"\r\n\r\n")
    lines = [line.split(": ", 1) for line in head.decode().split("\r\n")[1:]]
    answer = Response(int(head.split()[1]), [(n.lower(), v) for n, v in lines], body)
    assert answer.status == 408
    assert not operation.judge(answer, "text/plain", "default")


REPLAYED = [o for o in OPERATIONS if "Idempotent-Replayed" in o.responses.get("200", {}).get("headers", {})]


@pytest.mark.parametrize("operation", REPLAYED, ids=repr)
def test_replay(world, operation):
    ask, headers = Ask(world, operation, "text/plain"), [("Idempotency-Key", reference())]
    ref = world.charged()
    body = {"createCharge": charge_body(), "createRefund": {"reference": ref},
            "createPartialRefund": {"reference": ref, "amount": 1},
            "initiateTransaction": checkout_body(), "createOrder": order_body(),
            "initiatePaymentLink": link_body(world.link())}.get(operation.id)
    if operation.id == "voidTransaction":
        body, first = voided(ask, headers)
    else:
        first = ask(body, headers=headers)
    again = ask(body, headers=headers)
    assert (first.status, first.header("idempotent-replayed")) == (200, None)
    assert (again.status, again.header("idempotent-replayed")) == (200, "true")
    assert again.body == first.body
    assert not operation.judge(again, "text/plain")


@pytest.mark.parametrize("operation", [o for o in OPERATIONS if o.method == "GET"], ids=repr)
def test_media_types_and_head_of_get(world, operation):
    """The same bytes in each media type, and HEAD as GET without them."""
    ref = world.charged()
    segments = {"reference": ref, "refundReference": world.refunded(ref), "startDate": "2026-01-01T00:00:00Z",
                "endDate": "2026-01-02", "country": "NG"}
    answers = [Ask(world, operation, media)(**segments) for media in operation.responses["200"]["content"]]
    assert {answer.status for answer in answers} == {200}
    assert len({answer.body for answer in answers}) == 1
    path = operation.path.format(**segments)
    head = world.shop.call("HEAD", path)
    assert (head.status, head.body) == (200, b"")
    same = [n for n, _ in answers[0].headers if n not in ("request-id", "date")]
    assert {n: head.header(n) for n in same} == {n: answers[0].header(n) for n in same}


@pytest.mark.parametrize("operation", [o for o in OPERATIONS if o.method == "POST"], ids=repr)
def test_request_media_types(world, operation):
    def status(media):
        return Ask(world, operation, "application/json")("{}", media=media).status
    for media in operation.body["content"]:
        assert status(media.replace("*", "vnd.shop")) != 415
    for media in ("text/plain", "application/xml", "application/x-www-form-urlencoded", "*/*", None):
        assert status(media) == 415


@pytest.mark.parametrize("value", ["k", "k" * 255, '"' + "k" * 255 + '"', '"a, b"', '"a \\" b"'])
@pytest.mark.parametrize("operation", [o for o in OPERATIONS if o.method == "POST"], ids=repr)
def test_idempotency_key_that_is_one(world, operation, value):
    schema = next(p["schema"] for p in operation.parameters if p["in"] == "header")
    answer = Ask(world, operation, "text/json")({}, headers=[("Idempotency-Key", value)])
    assert not DOCUMENT.faults(schema, value)
    assert "Idempotency-Key" not in [e["field"] for e in answer.json["data"].get("errors", [])]


@pytest.mark.parametrize("value", ["", "k" * 256, '"' + "k" * 256 + '"', '""', '"a', '"a"b', "a\u00e9", '"a\\b"', "a, b"])
@pytest.mark.parametrize("operation", [o for o in OPERATIONS if o.method == "POST"], ids=repr)
def test_idempotency_key_that_is_none(world, operation, value):
    schema = next(p["schema"] for p in operation.parameters if p["in"] == "header")
    answer = Ask(world, operation, "text/json")({}, headers=[("Idempotency-Key", value)])
    assert DOCUMENT.faults(schema, value)
    assert answer.status == 400
    assert [e["field"] for e in answer.json["data"]["errors"]] == ["Idempotency-Key"]
    assert not operation.judge(answer, "text/json")


def bodies():
    """Each documented request body with one member gone, or of a type that it cannot have."""
    for operation in OPERATIONS:
        content = (operation.body or {"content": {"application/json": {}}})["content"]["application/json"]
        for name, example in content.get("examples", {}).items():
            for member in example["value"]:
                yield operation, f"{name} without {member}", example["value"], member, ...
                yield operation, f"{name} with a list as {member}", example["value"], member, []
                yield operation, f"{name} with a long {member}", example["value"], member, "x" * 3000


@pytest.mark.parametrize("operation, value, member, instead", [
    pytest.param(o, value, member, instead, id=f"{o} {name}") for o, name, value, member, instead in bodies()])
def test_document_and_server_refuse_the_same_bodies(world, operation, value, member, instead):
    body = {**value, member: instead}
    if instead is ...:
        del body[member]
    schema = operation.body["content"]["application/json"]["schema"]
    answer = Ask(world, operation, "application/json")(body)
    assert (answer.status == 400) == bool(DOCUMENT.faults(schema, body)), answer
    if answer.status == 400:
        assert [e["field"] for e in answer.json["data"]["errors"]] == ["/" + member]


def test_examples_of_requests_are_answered_as_documented(server):
    """In the order of the document, in a fresh store: each succeeds, except for the operations to come."""
    httpd = server()
    shop, seen = httpd.shop(), []
    for operation in OPERATIONS:
        content = (operation.body or {"content": {"application/json": {}}})["content"]["application/json"]
        for name, example in content.get("examples", {}).items():
            answer = shop.call("POST", operation.path, example["value"])
            assert not operation.judge(answer, "application/json"), (operation, name)
            seen.append((operation.id, name, answer.status))
    assert {id for id, _, status in seen if status == 200} == {
        "createCharge", "createRefund", "createPartialRefund", "verifyTransactionAmount"}
    assert {(id, status) for id, _, status in seen if status >= 400} <= {
        ("voidTransaction", 409), ("createRefund", 409), ("createPartialRefund", 409)}
