# SPDX-License-Identifier: Apache-2.0
"""What an upstream and the network before it can do to a charge or refund, each once, and how it ends.

Cuts at every byte, and processes that die meanwhile, are tests/faults/test_acquirer.py's.
"""

import collections
import socket

import pytest

from exposition import OPEN, scrape
from harness import checkout_body, wait_for
from receiver import closed_port
from test_live import decided
from test_live_limits import breaker
from upstream import ACQUIRER_CUT, NOT_RECEIVED, Till, live_reference
from upstream_proxy import Fault, Proxy, changed, closed_unanswered, own, problem


LATE_AFTER = "PaymentsAcquirerLateAfter 2s\n"
TIMEOUT_S = 1
TIMEOUT = f"timeout={TIMEOUT_S}s"
HTML = "<html><body>Service temporarily out of order</body></html>"


def instead(status, body, content_type="application/json"):
    """The upstream does its work, and its answer is replaced."""
    def edit(*_):
        return status, body, content_type

    return Fault(edit=edit)


# Of a charge and of a refund: not forwarded, the answer is the proxy's own.
NOT_DONE = {
    "500": own(500, HTML, "text/html"),
    "500 in the API's form": own(500, problem("E1", "Internal error.")),
    "502": own(502, HTML, "text/html"),
    "503 in the API's form": own(503, problem("E2", "Out of service."), more="Retry-After: 1\r\n"),
    "HTML with 200": own(200, HTML, "text/html"),
    "half of JSON": own(200, '{"status":true,"data":{'),
    "a list": own(200, "[]"),
    "a number": own(200, "1"),
    "null": own(200, "null"),
    "null data": own(200, {"status": True, "message": "Charge successful", "data": None}),
    "empty data": own(200, {"status": True, "message": "Charge successful", "data": {}}),
    "an empty body": own(200, b""),
    "204": Fault(answer=b"HTTP/1.1 204 No Content\r\n\r\n"),
    "a redirection": own(302, HTML, "text/html", more="Location: https://127.0.0.1:1/\r\n"),
    "404 of a web server": own(404, HTML, "text/html"),
    "409 that it is worked on": own(409, problem("D2", "In progress."), more="Retry-After: 1\r\n"),
    "no HTTP": Fault(answer=b"SSH-2.0-OpenSSH_9.2\r\n\r\n", answer_bytes=23),
    "a length of nonsense": Fault(answer=b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n", answer_bytes=40),
    "a huge header": own(200, b"", more=f"X-Long: {'x' * 400000}\r\n"),
    "a huge body": own(200, b" " * (2 << 20)),
    "deep JSON": own(200, "[" * 50000),
    "no answer at all": Fault(request_bytes=0),
    "a request cut in the middle": Fault(request_bytes=150),
}
# The upstream did its work.
DONE = {
    "500 afterwards": instead(500, HTML, "text/html"),
    "HTML with 200 afterwards": instead(200, HTML, "text/html"),
    "half of JSON afterwards": instead(200, '{"status":true,"data":{'),
    "null data afterwards": instead(200, {"status": True, "message": "Charge successful", "data": None}),
    "a duplicate reference": instead(409, problem("D1", "Duplicate reference.")),
    "worked on": instead(409, problem("D2", "In progress.")),
    "closed without an answer": closed_unanswered(),
    "closed in order without an answer": closed_unanswered(gently=True),
    "half of the answer": Fault(answer_bytes=300),
    "all but the last byte": Fault(edit=None, answer_bytes=-1),
    "an answer after the deadline": Fault(after=TIMEOUT_S + 1),
    "a request after the deadline": Fault(before=TIMEOUT_S + 0.5),
    "an answer that goes on and on": Fault(drip=0.01),
    "said to be pending": changed(status="pending", paymentStatus="pending"),
    "a status that there is not": changed(status="settled", paymentStatus="settled"),
    "no status": changed(status=None, paymentStatus=None),
    "another reference": changed(reference="0" * 32, transactionReference="0" * 32),
}
Told = collections.namedtuple("Told", "first row")


def fates(act, look, proxy, kind, clock):
    """The results of NOT_DONE and DONE: `act(name)` does it, `look(name)` returns the final outcome."""
    first = {}
    for name, fault in {**NOT_DONE, **DONE}.items():
        proxy.next(kind, fault)
        first[name] = act(name)
        proxy.next(kind, None)
        act(f"{name}, the next")
    return {name: Told(answer, later(clock, lambda name=name: look(name), f"the end of '{name}'"))
            for name, answer in first.items()}


APART_S = 240  # a difference of clocks that is not reported as an error


def later(clock, condition, what):
    """As wait_for, and between two looks a tenth of a second of the server's time passes, beside what passes anyway.

    The acquirer's clock goes as it does: within minutes of this one nobody minds, and by more it is not moved.
    """
    def look():
        value = condition()
        if not value and clock.by < APART_S:
            clock.pass_seconds(0.1)
        return value

    return wait_for(look, what)


@pytest.fixture(scope="module")
def module_till(authority, upstream):
    """One server for many tests, beside a proxy of its own."""
    with Proxy(authority, upstream.port) as proxy:
        one = Till(proxy.url, upstream.key, authority, parameters=TIMEOUT, host_extra=LATE_AFTER, clock=True)
        one.expect_log(f"{ACQUIRER_CUT}|PAY00453", always=True)
        one.start()
        yield one, proxy
        one.close()


@pytest.fixture(scope="module")
def charged(module_till):
    """The outcome of a charge under each fault."""
    httpd, proxy = module_till
    shop, names = httpd.live_shop, {}

    def act(name):
        names[name] = live_reference()
        return later(httpd.clock, lambda: passed(shop.charge(reference=names[name])), "the breaker to let it through")

    def look(name):
        row = shop.verify(names[name])
        return row if row["status"] != "pending" else None

    made = fates(act, look, proxy, "charge", httpd.clock)
    made["repeated"] = proxy.repeated()
    return made


@pytest.fixture(scope="module")
def refunded(module_till):
    """The outcome of a refund under each fault."""
    httpd, proxy = module_till
    shop, names = httpd.live_shop, {}

    def act(name):
        ref = live_reference()
        later(httpd.clock, lambda: shop.charge(reference=ref).status == 200, "a charge to refund")
        answer = later(httpd.clock, lambda: passed(shop.partial(ref, "10.00")), "the breaker to let it through")
        names[name] = answer.json["refundReference"]
        return answer

    def look(name):
        row = shop.call("GET", f"/api/v1/refund/{names[name]}").json
        return row if row["status"] != "pending" else None

    made = fates(act, look, proxy, "refund", httpd.clock)
    made["repeated"] = proxy.repeated()
    return made


def passed(answer):
    """The answer, unless it says that nothing was done."""
    return None if answer.status == 503 else answer


@pytest.mark.parametrize("name", NOT_DONE)
def test_charge_that_was_not_made(charged, name):
    """Pending, never a refusal or a success by half an answer; it fails once its absence is certain."""
    told = charged[name]
    assert told.first.status == 202 and told.first.json["data"]["paymentStatus"] == "pending", told
    assert (told.row["status"], told.row["gatewayResponseMessage"]) == ("failed", NOT_RECEIVED), told


@pytest.mark.parametrize("name", DONE)
def test_charge_that_was_made(charged, name):
    """The query for its outcome is answered, whatever was received before."""
    told = charged[name]
    assert told.first.status == 202 and told.first.json["data"]["paymentStatus"] == "pending", told
    assert told.row["status"] == "successful" and told.row["authorizationCode"], told


def test_no_charge_was_sent_twice(charged):
    assert charged["repeated"] == {}


@pytest.mark.parametrize("name", NOT_DONE)
def test_refund_that_was_not_made(refunded, name):
    told = refunded[name]
    assert told.first.status == 200 and told.first.json["status"] == "pending", told
    assert told.row["status"] == "failed", told


@pytest.mark.parametrize("name", DONE)
def test_refund_that_was_made(refunded, name):
    told = refunded[name]
    assert told.first.status == 200 and told.first.json["status"] == "pending", told
    assert told.row["status"] == "processed", told


def test_no_refund_was_sent_twice(refunded):
    assert refunded["repeated"] == {}


# ---- questions that are not answered

NO_ANSWERS = {
    "404 of a web server": own(404, HTML, "text/html"),
    "404 of another kind": own(404, problem("N2", "no such path")),
    "404 of another reference": own(404, problem("N1", "no record found for transaction with reference", "f" * 32)),
    "HTML with 200": own(200, HTML, "text/html"),
    "null data": own(200, {"status": True, "message": "", "data": None}),
    "500": own(500, HTML, "text/html"),
    "no answer": Fault(answer_bytes=0),
}
Asked = collections.namedtuple("Asked", "times row")


@pytest.fixture(scope="module")
def asked(authority, upstream):
    """The outcomes of charges that the upstream never received, for each answer to queries about them."""
    with Proxy(authority, upstream.port) as proxy:
        one = Till(proxy.url, upstream.key, authority, parameters=TIMEOUT, host_extra="PaymentsAcquirerLateAfter 1s\n",
                   clock=True)
        one.expect_log(ACQUIRER_CUT, always=True)
        one.start()
        shop, refs, names = one.live_shop, {}, {}

        def questions(name):
            return [each for each in proxy.of("query") if names[name] in each.line]

        def answer(exchange):
            if exchange.kind == "query":
                return next(NO_ANSWERS[name] for name, sent in names.items() if sent in exchange.line)
            return None

        for name in NO_ANSWERS:
            refs[name] = live_reference()
            proxy.next("charge", Fault(answer=b"-", answer_bytes=0))  # it came whole, and goes no further
            assert later(one.clock, lambda name=name: passed(shop.charge(reference=refs[name])), "no 503").status == 202
            names[name] = proxy.of("charge")[-1].name
            proxy.default = answer
        for name in NO_ANSWERS:
            later(one.clock, lambda name=name: len(questions(name)) >= 3, f"three questions, '{name}'")
        yield {name: Asked(len(questions(name)), shop.verify(refs[name])) for name in NO_ANSWERS}
        one.close()


@pytest.mark.parametrize("name", NO_ANSWERS)
def test_what_does_not_say_that_it_is_absent(asked, name):
    """Only the API's own 404 that names the reference does; anything else leaves the charge pending, however often."""
    assert asked[name].times >= 3 and asked[name].row["status"] == "pending", asked[name]


# ---- something else than was asked for

@pytest.mark.parametrize("fields", [
    pytest.param({"amount": 999.99}, id="another amount"),
    pytest.param({"currency": "USD"}, id="another currency"),
    pytest.param({"domain": "live"}, id="another mode"),
])
def test_held_for_a_person(till, proxy, fields):
    """It stays pending, is listed and logged, and a person decides it, with a reason that is kept."""
    httpd = till(host_extra=LATE_AFTER, clock=True)
    httpd.expect_log("PAY00453")
    shop, ref = httpd.live_shop, live_reference()
    proxy.fail(changed(**fields), "charge", "query")
    assert shop.charge(reference=ref).status == 202
    later(httpd.clock, lambda: len(proxy.of("query")) >= 2, "two questions")
    (held,) = shop.rows_held()
    assert (held["kind"], held["reference"], held["why"], held["status"]) == ("charge", ref, "different", "pending")
    assert shop.verify(ref)["status"] == "pending"
    assert any("alert" in line and "PAY00453" in line and ref in line for line in httpd.log_text().splitlines())
    httpd.ctl("charge", "resolve", "shop", ref, "--mode", "live", "--outcome", "successful", "--reason",
              "the acquirer confirmed it on the telephone")
    assert shop.verify(ref)["status"] == "successful" and not shop.rows_held()
    shown = httpd.ctl("charge", "show", "shop", ref, "--mode", "live").stdout
    assert "the acquirer confirmed it on the telephone" in shown
    assert not proxy.repeated()


def test_different_answer_that_the_question_puts_right(till, proxy):
    httpd = till()
    httpd.expect_log("PAY00453")
    shop, ref = httpd.live_shop, live_reference()
    proxy.next("charge", changed(amount=1.0))
    assert shop.charge(reference=ref).status == 202
    decided(shop, ref, "successful")
    assert not shop.rows_held()


def test_refund_held_for_a_person(till, proxy):
    """The upstream says that it gave back another amount."""
    httpd = till(host_extra=LATE_AFTER, clock=True)
    httpd.expect_log("PAY00453")
    shop, ref = httpd.live_shop, live_reference()
    shop.charge(reference=ref)
    proxy.fail(changed(amount="9.99"), "refund", "refund query", "list")
    made = shop.partial(ref, "10.00").json
    assert made["status"] == "pending", made
    later(httpd.clock, shop.rows_held, "it to be held")
    (held,) = shop.rows_held()
    assert (held["kind"], held["reference"], held["why"]) == ("refund", made["refundReference"], "different")
    assert shop.verify(ref)["refundedAmount"] == 0
    httpd.ctl("refund", "resolve", "shop", made["refundReference"], "--mode", "live", "--outcome", "processed",
              "--reason", "seen in the acquirer's books")
    assert shop.verify(ref)["refundedAmount"] == 10 and not shop.rows_held()
    assert not proxy.repeated()


def test_upstream_that_drops_notes(till, proxy):
    """Our tag is not in its list, so that a refund of the same charge and amount may be ours: a person decides."""
    httpd = till(host_extra=LATE_AFTER, clock=True)
    httpd.expect_log(f"{ACQUIRER_CUT}|PAY00422")
    shop, ref, clock = httpd.live_shop, live_reference(), httpd.clock
    shop.charge(reference=ref)
    proxy.fail(changed(merchantNote=None), "list")
    proxy.next("refund", closed_unanswered())
    made = shop.partial(ref, "10.00").json
    assert made["status"] == "pending", made
    (held,) = later(clock, shop.rows_held, "it to be held")
    assert (held["kind"], held["reference"], held["why"]) == ("refund", made["refundReference"], "different")
    asked = len(proxy.of("list"))
    later(clock, lambda: len(proxy.of("list")) >= asked + 3, "it to be looked for again and again")
    assert shop.refund_row(made["refundReference"])["status"] == "pending" and shop.verify(ref)["refundedAmount"] == 0
    httpd.ctl("refund", "resolve", "shop", made["refundReference"], "--mode", "live", "--outcome", "processed",
              "--reason", "seen in the acquirer's books")
    assert shop.verify(ref)["refundedAmount"] == 10 and not shop.rows_held()
    assert not proxy.repeated()


def test_pending_for_long(till, proxy):
    """It is raised to a person after PaymentsPendingAlert, is still queried, and a decision ends that."""
    httpd = till(host_extra=f"PaymentsPendingAlert 100s\n{OPEN}", clock=True)
    httpd.expect_log(f"{ACQUIRER_CUT}|PAY00421")
    shop, ref, clock = httpd.live_shop, live_reference(), httpd.clock
    proxy.fail(own(500, HTML, "text/html"), "query")
    proxy.next("charge", closed_unanswered())
    before = clock.now()
    assert shop.charge(reference=ref).status == 202
    asked = len(proxy.of("query"))
    clock.pass_seconds(90)
    proxy.wait("query", asked + 1)
    assert shop.rows_held() == []
    clock.pass_seconds(10)
    (held,) = later(clock, shop.rows_held, "it to be raised")
    assert clock.now() >= before + 100
    assert (held["why"], held["status"]) == ("overdue", "pending")
    wait_for(lambda: scrape(httpd)("payments_held", store="0") == 1, "the metric")
    proxy.heal()
    later(clock, lambda: shop.verify(ref)["status"] == "successful", "it to be asked about again")
    assert not shop.rows_held()
    wait_for(lambda: scrape(httpd)("payments_held", store="0") == 0, "the metric")


def test_acquirer_that_is_no_longer_configured(till, proxy):
    """What was sent through it stays pending and is raised to a person, until it is there again."""
    httpd = till(clock=True)
    httpd.expect_log(f"{ACQUIRER_CUT}|PAY00230")
    shop, ref = httpd.live_shop, live_reference()
    proxy.fail(own(500, HTML, "text/html"), "query")
    proxy.next("charge", closed_unanswered())
    assert shop.charge(reference=ref).status == 202
    httpd.stop()
    proxy.heal()
    there = httpd.host_extra
    httpd.host_extra = there.replace(httpd.given, httpd.given.strip() + " name=another\n")
    httpd.start()
    (held,) = later(httpd.clock, shop.rows_held, "it to be raised")
    assert (held["reference"], held["why"]) == (ref, "no-acquirer")
    assert shop.charge().status == 200 and shop.verify(ref)["status"] == "pending"
    httpd.stop()
    httpd.host_extra = there + httpd.given.strip() + " name=another\n"
    httpd.start()
    later(httpd.clock, lambda: shop.verify(ref)["status"] == "successful", "it to be asked about")
    assert not shop.rows_held() and not proxy.repeated()


# ---- keys and patience

@pytest.mark.parametrize("status, code", [(401, "B01"), (403, "B02")])
def test_refused_key(till, proxy, status, code):
    """That charge is pending; nothing more is sent, and said so in the log, until a question goes through."""
    httpd = till(host_extra=OPEN, clock=True)
    httpd.expect_log("PAY00450")
    shop, first, other = httpd.live_shop, live_reference(), live_reference()
    proxy.fail(own(status, problem(code, "Invalid Merchant Authorization.")))
    assert shop.charge(reference=first).status == 202
    refused = shop.charge(reference=other)
    assert refused.status == 503 and int(refused.header("retry-after")) > 0, refused
    assert shop.call("GET", f"/api/v1/checkout/{other}/verify").status == 404
    assert len(proxy.of("charge")) == 1
    metrics = scrape(httpd)
    assert metrics("payments_acquirer_refused_total", reason="credentials") == 1
    assert breaker(metrics, proxy) == "faulty"
    assert any("alert" in line and "refuses the key of account shop:" in line for line in httpd.log_text().splitlines())
    later(httpd.clock, lambda: len(proxy.of("query")) >= 2, "two questions")
    assert shop.verify(first)["status"] == "pending"
    proxy.heal()
    later(httpd.clock, lambda: shop.charge(reference=other).status == 200, "a question to go through")
    assert breaker(scrape(httpd), proxy) == "closed"
    assert not proxy.repeated()


@pytest.mark.parametrize("status, code", [(401, "B01"), (403, "B02")])
def test_key_refused_for_a_checkout(till, proxy, status, code):
    """Nothing is pending that could be asked about: one charge a minute is tried, and the first that goes through ends it."""
    httpd = till(host_extra=OPEN, clock=True)
    httpd.expect_log("PAY00400|PAY00450|PAY00570")
    shop, ref = httpd.live_shop, live_reference()
    httpd.clock.stop()
    proxy.next("other", own(status, problem(code, "Invalid Merchant Authorization.")))
    made = shop.call("POST", "/api/v1/initiate", checkout_body(), key=shop.secret)
    assert made.status == 200, made
    assert [row["status"] for row in shop.rows("charge")] == ["failed"] and breaker(scrape(httpd), proxy) == "faulty"
    refused = shop.charge(reference=ref)
    assert (refused.status, refused.header("retry-after")) == (503, "60"), refused
    httpd.clock.pass_seconds(59.9)
    assert shop.charge(reference=ref).status == 503 and not proxy.of("charge") and not proxy.of("query")
    httpd.clock.pass_seconds(0.1)
    assert shop.charge(reference=ref).status == 200
    assert breaker(scrape(httpd), proxy) == "closed" and not proxy.repeated()


def test_asked_for_patience(till, proxy):
    """Nothing more is sent for exactly as long as the upstream asks for."""
    httpd = till(clock=True)
    shop, first, other = httpd.live_shop, live_reference(), live_reference()
    httpd.clock.stop()
    proxy.next("charge", own(429, problem("L1", "Too many requests."), more="Retry-After: 3\r\n"))
    assert shop.charge(reference=first).status == 202
    refused = shop.charge(reference=other)
    assert (refused.status, refused.header("retry-after")) == (503, "3"), refused
    assert shop.call("GET", f"/api/v1/checkout/{other}/verify").status == 404
    httpd.clock.pass_seconds(2.999)
    assert shop.charge(reference=other).status == 503
    assert len(proxy.exchanges) == 1
    httpd.clock.pass_seconds(0.001)
    later(httpd.clock, lambda: shop.charge(reference=other).status == 200, "its patience to end")
    assert not proxy.repeated()


# ---- what provably was not sent

def is_not_sent(shop, ref):
    """503, and the reference is free again."""
    answer = shop.charge(reference=ref)
    assert answer.status == 503 and int(answer.header("retry-after")) > 0, answer
    assert answer.json["data"]["responseCode"] == "E2"
    assert shop.call("GET", f"/api/v1/checkout/{ref}/verify").status == 404
    return True


@pytest.mark.parametrize("certificate", [
    pytest.param(None, id="refused"),
    pytest.param("self-signed", id="self-signed"),
    pytest.param("expired", id="expired"),
    pytest.param("other name", id="a certificate of another name"),
])
def test_not_sent(till, proxy, certificate):
    """No connection, or none to whom it should be: 503, nothing stored, and the same reference is charged later."""
    httpd = till(parameters=TIMEOUT)
    httpd.expect_log("PAY00400|PAY00212")
    shop, ref, paid = httpd.live_shop, live_reference(), live_reference()
    assert shop.charge(reference=paid).status == 200
    proxy.refuse()
    if certificate:
        proxy.listen(certificate)
    assert is_not_sent(shop, ref)
    refund = shop.partial(paid, "1.00")
    assert refund.status == 200 and refund.json["status"] == "failed", refund
    proxy.refuse()
    proxy.listen()
    assert shop.charge(reference=ref).status == 200
    assert shop.partial(paid, "1.00").json["status"] == "processed"
    assert shop.verify(paid)["refundedAmount"] == 1 and len(proxy.of("refund")) == 1
    assert not proxy.repeated()


@pytest.mark.parametrize("name", ["nowhere.invalid", "mute"])
def test_nobody_there(upstream, authority, name):
    """A name that there is not, and one who takes connections and never says a word."""
    with socket.create_server(("127.0.0.1", 0), backlog=16) as mute:
        url = f"https://127.0.0.1:{mute.getsockname()[1]}" if name == "mute" else f"https://{name}:{closed_port()}"
        one = Till(url, upstream.key, authority, parameters=TIMEOUT)
        one.expect_log("PAY00400")
        try:
            one.start()
            assert is_not_sent(one.live_shop, live_reference())
        finally:
            one.close()
