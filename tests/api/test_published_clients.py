# SPDX-License-Identifier: Apache-2.0
"""The requests of published clients (published_requests.py), replayed: each client finds what it reads.

And none takes an order for paid that is not, by its own reading of what the server answers in each state.
"""

import base64
import datetime
import functools
import itertools
import json
import re
import secrets
import socket
import urllib.parse

import pytest

from harness import TOP, Httpd, Response, Shop, any_name, charge_body, order_body, run_ctl_lines, wait_for
from payer import Payer
from published_clients import AMOUNT, CLIENTS, CURRENCY, EMAIL, MISSING, at, fill
from published_requests import BELIEVES, EVENTS, ROWS
from receiver import INSECURE, Receiver

COUNTS = (130, 29, 6)  # requests, clients, and clients that read webhooks: so that none is lost
NEVER = "no-such-reference-0001"
JSON = "application/json"
# All that a checkout or an order can be; who delivers in the others gives goods away.
PAID = ("paid", "refunded in part")
STATES = (*PAID, "open", "asked for a code", "declined", "cancelled", "void", "refunded", "unknown", "key refused")
CHARGED = ("charge declined", "charge of no outcome")  # which are no orders
# docs/api.md, "States": no answer can fix it without breaking the webhook of the same plugin.
DELIVERS_AGAIN = {("WooCommerce plugin, newer: payer returns", "refunded")}


class Stage:
    """A shop with a key prefix that clients expect, and what their requests are about."""

    def __init__(self, httpd):
        self.httpd, name = httpd, any_name("shop-")
        self.numbers = itertools.count(1764100000)
        self.link = any_name("link-")
        made = run_ctl_lines(httpd.store, [
            f"account create {name} --key-prefix nc", f"key create {name} --mode test --kind secret",
            f"key create {name} --mode test --kind public", f"link create {name} --mode test --reference {self.link}",
            f"account set {name} --return-host shop.example --return-host give.example"])
        self.shop = Shop(httpd, name, made[1]["key"])
        self.shop.public = made[2]["key"]
        assert self.shop.secret.startswith("nc_testsk_") and self.shop.public.startswith("nc_testpk_")

    # ---- what is there before a request

    def reference(self, client):
        return fill(CLIENTS[client].reference, {"n": str(next(self.numbers))})

    def call(self, path, body):
        answer = self.shop.call("POST", path, body)
        assert answer.status == 200, answer
        return answer.json

    def payer(self, ref, orders):
        """At the page of a new checkout or order."""
        if orders:
            body = order_body(reference=ref, amount=AMOUNT, currency=CURRENCY, customer={"email": EMAIL})
            address = self.call("/payment/order/create", body)["data"]["paymentLink"]
        else:
            body = {"transactionReference": ref, "amount": AMOUNT, "currency": CURRENCY,
                    "checkoutCustomerData": {"email": EMAIL, "firstName": "Ada", "lastName": "Obi"}}
            address = self.call("/api/v1/initiate", body)["data"]["paymentRedirectUrl"]
        return Payer(self.httpd, urllib.parse.urlsplit(address).path)

    def bring(self, ref, state, orders):
        """Makes a checkout or an order, and brings it into that state."""
        payer = self.payer(ref, orders)
        if state in (*PAID, "refunded"):
            assert payer.card().kind == "approved"
        elif state == "declined":
            assert payer.card("declined").kind == "declined"
        elif state == "asked for a code":
            assert "code" in payer.card("code").forms()
        elif state == "cancelled":
            assert payer.cancel().kind == "cancelled"
        elif state == "void":
            self.call("/api/v1/void-transaction", {"transactionReference": ref})
        else:
            assert state == "open", state
        if state == "refunded":
            self.call("/api/v1/refund", {"reference": ref})
        elif state == "refunded in part":
            self.call("/api/v1/partial-refund", {"reference": ref, "amount": "1"})

    def charge(self, ref, token="tok_test_success"):
        answer = self.shop.call("POST", "/api/v1/tokenized-card-charge", charge_body(
            reference=ref, amount=AMOUNT, currency=CURRENCY, email=EMAIL, token=token))
        assert answer.status in (200, 202), answer

    def prepare(self, row):
        """What the request is about: its names for $ref and the like."""
        words = {"ref": self.reference(row.client)}
        if row.before == "charged":
            self.charge(words["ref"])
        elif row.before == "refunded in part":
            self.charge(words["ref"])
            words["refund"] = self.call("/api/v1/partial-refund", {"reference": words["ref"], "amount": "1"})["refundReference"]
        elif row.before == "saved card":
            first = any_name("first-payment-")
            self.bring(first, "paid", False)
            words["token"] = self.shop.call("GET", f"/api/v1/checkout/{first}/verify").json["data"]["card"]["token"]
        elif row.before not in ("", "link"):
            self.bring(words["ref"], row.before, row.client.startswith("orders: "))
        return words

    @functools.cache
    def in_state(self, state, orders):
        """The reference of a transaction in that state, which requests that only read may share."""
        if state in ("unknown", "key refused"):
            return NEVER if state == "unknown" else self.in_state("paid", orders)
        ref = any_name("read-only-")
        if state in CHARGED:
            self.charge(ref, {"charge declined": "tok_test_declined", "charge of no outcome": "tok_test_error"}[state])
        else:
            self.bring(ref, state, orders)
        return ref

    # ---- a request

    @functools.cached_property
    def modulus_and_exponent(self):
        """Of the encryption key, as clients are given it."""
        shown = self.httpd.ctl("encryption-key", "show", self.shop.name, "--mode", "test", "--xml", "--base64").stdout
        tail = base64.b64decode(shown).decode().partition("!")[2]
        return [int.from_bytes(base64.b64decode(re.search(f"<{name}>(.*)</{name}>", tail)[1]), "big")
                for name in ("Modulus", "Exponent")]

    def encrypted(self, plain):
        """RSAES-PKCS1-v1_5 in base64."""
        modulus, exponent = self.modulus_and_exponent
        size = (modulus.bit_length() + 7) // 8
        padding = bytes(1 + secrets.randbelow(255) for _ in range(size - 3 - len(plain)))
        block = b"\0\2" + padding + b"\0" + plain
        return base64.b64encode(pow(int.from_bytes(block, "big"), exponent, modulus).to_bytes(size, "big")).decode()

    def send(self, row, words, secret=None, public=None):
        """As the client does; its words and the Response."""
        client, today = CLIENTS[row.client], datetime.datetime.now(datetime.timezone.utc).date()
        words = {"secret": secret or self.shop.secret, "public": public or self.shop.public, "link": self.link, "never": NEVER,
                 "today": str(today), "week": str(today - datetime.timedelta(days=6)),
                 "encoded": urllib.parse.quote(words["ref"], safe="!*'()"), **words}
        words["key"] = words[row.key]
        body = row.body
        if isinstance(body, dict):
            body = client.writes(fill(body, words))
        if row.encrypted:
            body = client.writes({"data": self.encrypted(body.encode())})
        headers = {**client.headers, client.key[0]: client.key[1]}
        if body is not None or client.media_of_get:
            headers["Content-Type"] = client.media
        headers = {name: fill(value, words) for name, value in {**headers, **row.headers}.items() if value is not None}
        ask = self.after_100 if "Expect" in headers else self.httpd.request
        return words, ask(row.method, fill(row.path, words), body, headers)

    def after_100(self, method, path, body, headers):
        """The body follows once the server wants it, as libcurl does."""
        connection = self.httpd.connect()
        connection.putrequest(method, path, skip_accept_encoding=True)
        for name, value in {**headers, "Content-Length": str(len(body.encode()))}.items():
            connection.putheader(name, value)
        connection.endheaders()
        if connection.sock.recv(12, socket.MSG_PEEK | socket.MSG_WAITALL) == b"HTTP/1.1 100":
            connection.send(body.encode())
        answer = connection.getresponse()
        got = answer.read()
        connection.close()
        return Response(answer.status, [(name.lower(), value) for name, value in answer.getheaders()], got)


@pytest.fixture(scope="module")
def stage():
    httpd = Httpd(extra=INSECURE + "PaymentsRateLimit public off\n")
    yield Stage(httpd.start())
    httpd.close()


def check_read(told, reads, words):
    """Each member that the client reads is there, and is what it expects."""
    for path, want in reads.items():
        found = at(told, path)
        assert found is not MISSING, f"{path} is missing: {told}"
        if callable(want):
            assert want(found), f"{path}: {found!r} is not {want.__name__}"
        else:
            want = fill(want, words)
            assert found == want and isinstance(found, bool) == isinstance(want, bool), f"{path}: {found!r} is not {want!r}"


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_replayed(stage, row):
    words, answer = stage.send(row, stage.prepare(row))
    assert answer.status == row.status, answer
    media = CLIENTS[row.client].headers.get("Accept") if answer.status < 400 else None
    assert answer.header("content-type") == f"{media if media == 'text/plain' else JSON}; charset=utf-8"
    check_read(answer.json, row.reads, words)
    if row.rule:
        assert row.rule(answer) is row.delivers, answer


MAKES = [row for row in ROWS if row.status == 200 and (row.charges or row.path.endswith(("v1/initiate", "/order/create")))]


@pytest.mark.parametrize("row", MAKES, ids=lambda row: row.name)
def test_sent_again(stage, row):
    """A client whose answer was lost reads the same in the second."""
    words = stage.prepare(row)
    first, second = (stage.send(row, words)[1] for _ in range(2))
    assert (first.status, second.status, second.header("idempotent-replayed")) == (200, 200, "true"), second
    check_read(second.json, row.reads, stage.send(row, words)[0])
    assert row.charges or at(second.json, "data.amount") == at(first.json, "data.amount")


def way_back(row):
    """Where the client wants its payer to return, None where it says nothing."""
    body = row.body if isinstance(row.body, dict) else {}
    return body.get("redirectUrl") or body.get("payment", {}).get("RedirectUrl")


@pytest.mark.parametrize("row", [row for row in MAKES if way_back(row)], ids=lambda row: row.name)
@pytest.mark.parametrize("outcome", ["successful", "cancelled"])
def test_payer_returns(stage, row, outcome):
    """With `reference` and `status` in the query, as documented, beside what the client had there."""
    words, answer = stage.send(row, stage.prepare(row))
    address = answer.json["data"].get("paymentRedirectUrl") or answer.json["data"]["checkout_url"]
    payer = Payer(stage.httpd, address.partition(f":{stage.httpd.port}")[2])  # with its query, as a payer opens it
    assert payer.page().status == 200
    payer.path = payer.path.partition("?")[0]
    assert (payer.card() if outcome == "successful" else payer.cancel()).status == 200
    back = urllib.parse.urlsplit(payer.page().refresh().partition("url=")[2])
    wanted = urllib.parse.urlsplit(fill(way_back(row), words))
    assert back[:3] == wanted[:3]
    assert dict(urllib.parse.parse_qsl(back.query)) == {**dict(urllib.parse.parse_qsl(wanted.query)), "reference": words["ref"],
                                                        "status": outcome}


# ---- unpaid is never paid

DECIDES = [row for row in ROWS if row.rule and row.before == "paid"]
CHARGES = [row for row in ROWS if row.rule and row.charges and row.status == 200 and row.before == ""]


@pytest.mark.parametrize("row", DECIDES, ids=lambda row: row.name)
def test_only_paid_is_paid(stage, row):
    """In every state, by the client's own reading of the answer to the question that it asks."""
    orders, wrong = row.client.startswith("orders: "), {}
    for state in STATES if orders else (*STATES, *CHARGED):
        keys = {kind: f"nc_test{kind[0]}k_{'a' * 48}" for kind in ("secret", "public")} if state == "key refused" else {}
        _, answer = stage.send(row, {"ref": stage.in_state(state, orders)}, **keys)
        assert isinstance(answer.json, dict), "a client crashes on anything else"
        want = (state in PAID and not row.blind) or (row.name, state) in DELIVERS_AGAIN
        if row.rule(answer) is not want:
            wrong[state] = answer
    assert not wrong


@pytest.mark.parametrize("token, status", [
    ("tok_test_success", 200), ("tok_test_declined", 200), ("tok_test_insufficient_funds", 200), ("tok_test_expired_card", 200),
    ("tok_test_error", 202), ("tok_test_timeout", 202)])
@pytest.mark.parametrize("row", CHARGES, ids=lambda row: row.name)
def test_only_approved_is_paid(stage, row, token, status):
    changed = type(row)(**{**vars(row), "body": {**row.body, "token": token}})
    words = {"ref": stage.reference(row.client)}
    answer = stage.send(changed, words)[1]
    assert answer.status == status and isinstance(answer.json["data"], dict), answer
    assert row.rule(answer) is (token == "tok_test_success")
    again = stage.send(changed, words)[1]  # its answer was lost
    assert row.rule(again) is (token == "tok_test_success") or token == "tok_test_timeout", "which is decided in the end"


# ---- webhooks

@pytest.fixture(scope="module")
def told(stage):
    """By state: a reference in that state, and the events of its transaction."""
    counts, other = {"paid": 1, "declined": 1, "cancelled": 1, "refunded": 2}, Stage(stage.httpd)
    with Receiver() as receiver:
        other.shop.webhook(receiver.url())
        refs = {state: other.in_state(state, False) for state in counts}

        def found(ref):
            events = {one.json["sequence"]: one.json for one in receiver.at("/hook")
                      if one.json["notify"] == "transaction" and one.json["data"]["reference"] == ref}
            return [events[sequence] for sequence in sorted(events)]

        for state, ref in refs.items():
            wait_for(lambda ref=ref, count=counts[state]: len(found(ref)) >= count, f"the events of what is {state}")
        other.shop.webhook_off()
        yield {state: (ref, found(ref)) for state, ref in refs.items()}


@pytest.mark.parametrize("client", EVENTS)
def test_webhooks(told, client):
    for state, (ref, events) in told.items():
        for event in events:
            check_read(event, EVENTS[client], {"ref": ref})
        types = [event["notifyType"] for event in events]
        assert types == {"paid": ["successful"], "declined": ["failed"], "cancelled": ["abandoned"],
                         "refunded": ["successful", "reversed"]}[state]
        if client in BELIEVES:
            assert [BELIEVES[client](event) for event in events] == [one == "successful" for one in types]


# ---- nothing is left out

def test_none_is_lost():
    assert (len(ROWS), len(CLIENTS), len(EVENTS)) == COUNTS
    assert len({row.name for row in ROWS}) == len(ROWS), "two rows of one name"
    assert {row.client for row in ROWS} == set(CLIENTS)
    deciding = {row.client for row in ROWS if row.rule}
    assert len({row.rule for row in ROWS if row.rule}) >= 15 and len(deciding) >= 20
    for row in ROWS:
        assert (row.status >= 400) == bool(row.because), f"{row.name}: an error has a reason"
        assert row.reads, f"{row.name}: nobody sends a request and reads nothing"
        assert not row.blind or row.rule


def section(title):
    return (TOP / "docs/clients.md").read_text().partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def cells(title):
    """The first cells of the rows of the section's table."""
    rows = re.findall(r"^\| (.+?) \|", section(title), re.M)
    assert len(rows) > 2
    return rows[1:]  # without its head


def test_each_kind_of_client():
    """Of those that docs/clients.md says what to set in."""
    brought = [cell for cell in cells("What to set") if "vendor's own script" not in cell]
    assert {client.setting for client in CLIENTS.values()} == set(brought)


def test_each_operation():
    """Of the deployed API, as docs/clients.md lists them."""
    asked = {re.sub("/+", "/", row.path.partition("?")[0]) for row in ROWS}
    seen = 0
    for cell in cells("The operations"):
        paths = [word for word in re.split(r"[ ,]+", cell) if word.startswith("/")]
        for path in paths:
            whole_path = path if path.startswith(("/api/", "/payment/")) else paths[0].rpartition("/")[0] + path
            pattern = re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(whole_path))
            seen += 1
            assert any(re.fullmatch(pattern, one) for one in asked), f"{whole_path}: no row"
    assert seen >= 38


def test_each_operation_of_the_document():
    """Every operation that the deployed API has too; one list and the document itself are our own."""
    own = {"/api/v1/transaction", "/api/v1/openapi.json"}
    asked = {(row.method, re.sub("/+", "/", row.path.partition("?")[0])) for row in ROWS}
    for path, methods in json.loads((TOP / "docs/openapi.json").read_text())["paths"].items():
        if path in own:
            continue
        pattern = re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(path))
        for method in {"get", "post"} & set(methods):
            assert any(method.upper() == one and re.fullmatch(pattern, where) for one, where in asked), (method, path)


def test_docs_have_the_counts():
    said = " ".join(section("How this promise is kept").split())
    assert f"{COUNTS[0]} requests of {COUNTS[1]} clients" in said and f"each webhook as {COUNTS[2]} of them do" in said
    assert "tests/api/published_requests.py" in said
    for name, _ in DELIVERS_AGAIN:
        assert name.partition(",")[0] in said
