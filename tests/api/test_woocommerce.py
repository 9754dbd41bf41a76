# SPDX-License-Identifier: Apache-2.0
"""The plugin of WooCommerce (share/woocommerce) in PHP's own server, on a stub of WordPress, against the real server."""

import contextlib
import http.client
import http.server
import json
import os
import re
import shutil
import subprocess
import tempfile
import threading
import time
import urllib.parse
from pathlib import Path

import pytest

from harness import TOP, Httpd, any_name, at_once, free_port, wait_for
from payer import Payer
from receiver import INSECURE, Receiver, closed_port, sign

PLUGIN = TOP / "share/woocommerce/mod-payments"
CLIENT = (TOP / "share/clients/Payments.php").read_text()
STUB = TOP / "tests/api/woocommerce_stub.php"
DECLARE = "declare(strict_types=1);\n"
SIGNED = ("webhook-id", "webhook-timestamp", "webhook-signature")
WORKERS = 4  # of PHP's server


def copy_plugin(folder):
    """As make install puts it together."""
    shutil.copytree(PLUGIN, folder)
    assert CLIENT.count(DECLARE) == 1
    (folder / "Payments.php").write_text(CLIENT.replace(DECLARE, DECLARE + "namespace ModPayments;\n"))


class Wordpress:
    """PHP's own server with the plugin; each shop has a folder of state."""

    def __init__(self):
        self.root = Path(tempfile.mkdtemp(prefix="mod_payments-woo-"))
        self.state, plugin = self.root / "state", self.root / "mod-payments"
        self.state.mkdir()
        copy_plugin(plugin)
        env = {"PATH": os.environ["PATH"], "WOO_STATE": str(self.state), "WOO_PLUGIN": str(plugin),
               "PHP_CLI_SERVER_WORKERS": str(WORKERS)}
        for _ in range(5):
            self.port = free_port()
            self.process = subprocess.Popen(
                ["php", "-d", "display_errors=1", "-S", f"127.0.0.1:{self.port}", STUB], env=env, stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL, stderr=open(self.root / "php.log", "wb"), start_new_session=True)
            wait_for(lambda: self.process.poll() is not None or self.answers(), "PHP's server to answer")
            if self.process.poll() is None:
                return
        raise AssertionError((self.root / "php.log").read_text())

    def answers(self):
        with contextlib.suppress(OSError, http.client.HTTPException):
            return self.request("GET", "/none/none")[0] == 200
        return False

    def request(self, method, path, body=None, headers=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, path, body, headers or {})
            answer = connection.getresponse()
            return answer.status, answer.getheader("Location"), answer.read().decode()
        finally:
            connection.close()

    def make_shop(self):
        """The first part of its paths."""
        name = any_name("woo-")
        (self.state / name).mkdir()
        return f"/{name}"

    def close(self):
        os.killpg(self.process.pid, 15)  # its workers too
        self.process.wait(60)
        errors = self.state / "errors"
        said = errors.read_text() if errors.exists() else ""
        shutil.rmtree(self.root)
        assert not said, said


@pytest.fixture(scope="module")
def wordpress():
    made = Wordpress()
    yield made
    made.close()


@pytest.fixture(scope="module")
def counter():
    """A running server with hosted pages that count nobody's requests."""
    httpd = Httpd(extra=INSECURE + "PaymentsRateLimit public off\n", shops_at_once=32).start()
    yield httpd
    httpd.close()


def verify(order, ref=None):
    return order.woo.shop.call("GET", f"/api/v1/checkout/{ref or order.reference}/verify").json["data"]


class Order:
    """One of a shop's in WooCommerce."""

    def __init__(self, woo, number, total="1500.50", **fields):
        self.woo, self.id = woo, number
        woo.do("order", id=number, order={
            "id": number, "order_number": f"N{number}", "order_key": f"wc_order_{any_name('')}", "status": "pending",
            "total": total, "currency": "NGN", "billing_email": "ada@shop.example", "billing_first_name": "Ada",
            "billing_last_name": "Obi", "transaction_id": "", "date_paid": None, "completions": 0, "refunds": [], "meta": [],
            "notes": [], **fields})

    def __getattr__(self, name):
        return self.woo.option(f"stub_order_{self.id}")[name]

    def change(self, **fields):
        self.woo.do("change", id=self.id, fields=fields)

    def pay(self):
        """At the hosted page, to which the plugin has sent the browser."""
        said = self.woo.do("pay", id=self.id)
        assert said["result"] == "success", self.woo.notices()
        self.page = urllib.parse.urlsplit(said["redirect"])
        assert self.page.port == self.woo.shop.httpd.port, "there is no page to pay at"
        return Payer(self.woo.shop.httpd, self.page.path)

    @property
    def references(self):
        return [value for key, value in self.meta if key == "_mod_payments_reference"]

    @property
    def reference(self):
        return self.references[-1]

    def said(self):
        return "\n".join(self.notes)

    def back(self, **changed):
        """The path that the payment page leads to; a field that is None is left out."""
        url = urllib.parse.urlsplit(verify(self)["redirectUrl"])
        fields = {**dict(urllib.parse.parse_qsl(url.query)), "reference": self.reference, "status": "successful", **changed}
        return f"{url.path}?" + urllib.parse.urlencode({k: v for k, v in fields.items() if v is not None})

    def come_back(self, **changed):
        """Where the browser is sent: received, pay, or nowhere."""
        status, location, _ = self.woo.wordpress.request("GET", self.back(**changed))
        assert status == 302
        return location.removeprefix(f"http://127.0.0.1:{self.woo.wordpress.port}{self.woo.root}/")

    def paid(self):
        """Paid and come back, as most are."""
        self.pay().card()
        assert self.come_back() == f"received/{self.id}" and (self.status, self.completions) == ("processing", 1), self.said()
        return self

    def refund(self, amount, reason=""):
        return self.woo.do("refund", id=self.id, amount=amount, reason=reason)

    def snapshot(self):
        return self.woo.option(f"stub_order_{self.id}")


class Woo:
    """A shop with the plugin: an account of the payment server and a folder of WordPress."""

    def __init__(self, wordpress, httpd):
        self.wordpress, self.shop, self.orders = wordpress, httpd.shop(), 0
        self.root = wordpress.make_shop()
        self.hook_url = f"http://127.0.0.1:{wordpress.port}{self.root}/?wc-api=mod_payments_webhook"
        self.receiver = None
        self.url = f"http://127.0.0.1:{httpd.port}"
        self.fields = {"enabled": "1", "title": "Card", "description": "", "base_url": self.url,
                       "secret_key": self.shop.secret, "webhook_secret": ""}
        self.settings()

    def do(self, call, **arguments):
        status, _, text = self.wordpress.request("POST", f"{self.root}/do", json.dumps({"call": call, **arguments}))
        assert status == 200, text
        return json.loads(text)

    def option(self, name):
        return self.do("load", name=name)

    def settings(self, **fields):
        self.fields.update(fields)
        return self.do("settings", fields=self.fields)

    def order(self, *args, **fields):
        self.orders += 1
        return Order(self, self.orders, *args, **fields)

    def notices(self):
        """Messages to payer and admin since the last call."""
        told = self.option("stub_notices")
        self.do("store", name="stub_notices", value=[])
        return told

    def hear(self):
        """The payment server's webhooks come to WordPress."""
        self.settings(webhook_secret=self.shop.webhook(self.hook_url))

    def listen(self):
        """They come to a receiver, which the test relays from."""
        self.receiver = Receiver()
        self.settings(webhook_secret=self.shop.webhook(self.receiver.url()))

    def deliver(self, body, headers):
        return self.wordpress.request("POST", f"{self.root}/?wc-api=mod_payments_webhook", body, headers)[0]

    def relay(self, delivery, body=None, **changed):
        headers = {name: delivery.header(name) for name in SIGNED} | {k.replace("_", "-"): v for k, v in changed.items()}
        return self.deliver(delivery.body if body is None else body, {k: v for k, v in headers.items() if v is not None})

    def close(self):
        if self.receiver:
            self.receiver.close()
        if self.fields["webhook_secret"]:
            self.shop.webhook_off()
        told = json.dumps([self.option("stub_log"), self.option("stub_notices"),
                           *(self.option(f"stub_order_{number}") for number in range(1, self.orders + 1))])
        for secret in (self.shop.secret, self.fields["webhook_secret"]):
            assert not secret or secret not in told, told


@pytest.fixture
def woo(wordpress, counter):
    made = Woo(wordpress, counter)
    yield made
    made.close()
    loud = counter.unexpected()
    assert not loud, "unexpected in the error log:\n" + "\n".join(loud)


class Between:
    """What stands between plugin and server: answers are lost, or are those of `canned`, {part of a path: (status, text)}."""

    def __init__(self, woo, canned=None):
        self.woo, self.passed = woo, []
        between = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def handle_call(self):
                body = self.rfile.read(int(self.headers["Content-Length"] or 0))
                self.close_connection = True
                for part, (status, text) in (canned or {}).items():
                    if part in self.path:
                        self.send_response(status)
                        self.end_headers()
                        self.wfile.write(text.encode())
                        return
                headers = [(k, v) for k, v in self.headers.items() if k.lower() not in ("host", "connection")]
                answer = woo.shop.httpd.request(self.command, self.path, body, headers)
                assert answer.status == 200, answer
                between.passed.append(self.path)

            do_GET = do_POST = handle_call

            def log_message(self, *_):
                pass

        self.server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    def __enter__(self):
        self.thread.start()
        self.woo.settings(base_url=f"http://127.0.0.1:{self.server.server_port}")
        return self

    def __exit__(self, *_):
        self.woo.settings(base_url=self.woo.url)
        self.server.shutdown()
        self.thread.join(60)
        self.server.server_close()


# ---- paying

def test_paid(woo):
    order = woo.order()
    page = order.pay().card()
    assert order.status == "pending", "the browser has not come back, and there is no webhook"
    assert re.fullmatch(rf"wc-{order.id}-[0-9a-f]{{16}}", order.reference) and order.reference in order.said()
    back = urllib.parse.unquote(page.refresh().partition("url=")[2])
    assert back.startswith(f"http://127.0.0.1:{woo.wordpress.port}{woo.root}/?wc-api=mod_payments&")
    data = verify(order)
    assert (data["amount"], data["currency"], data["checkoutMetadata"]) == (1500.5, "NGN", '{"order":"N%d"}' % order.id)
    assert data["customer"]["name"] == "Ada Obi" and data["customer"]["email"] == "ada@shop.example"
    assert order.come_back() == f"received/{order.id}"
    assert (order.status, order.completions, order.transaction_id) == ("processing", 1, order.reference)
    assert f"1500.5 NGN paid, reference {order.reference} (test)." in order.notes
    before = order.snapshot()
    assert order.come_back() == f"received/{order.id}" and order.snapshot() == before, "a second return changes nothing"


def test_names_that_are_empty(woo):
    order = woo.order(billing_first_name=" ", billing_last_name="")
    order.paid()


@pytest.mark.parametrize("status", ["successful", "failed", None])
def test_not_paid_yet(woo, status):
    """Anybody can open that address: the order waits, whatever it says."""
    order = woo.order()
    order.pay()
    assert order.come_back(status=status) == f"received/{order.id}"
    assert (order.status, order.completions) == ("on-hold", 0) and "being processed" in order.said()


def test_declined_and_paid_again(woo):
    order = woo.order()
    order.pay().card("declined")
    assert order.come_back(status="successful") == f"pay/{order.id}"
    assert (order.status, order.completions) == ("failed", 0) and f"Payment {order.reference}: failed." in order.said()
    assert woo.notices() == [["error", "The payment was not made. You can try again."]]
    first = order.reference
    order.paid()
    assert order.reference != first and order.transaction_id == order.reference
    before = order.snapshot()
    assert order.come_back(reference=first) == f"pay/{order.id}"
    assert order.snapshot() == before, "the earlier failure is told once, and changes nothing"


def test_cancelled(woo):
    order = woo.order()
    order.pay().cancel()
    assert order.come_back() == f"pay/{order.id}" and order.status == "failed" and "abandoned" in order.said()


def test_left_and_begun_again(woo):
    """Nobody can pay at the page that was left."""
    order = woo.order()
    left = order.pay()
    first = order.reference
    page = order.pay()
    assert left.page().forms() == {} and order.reference != first and order.status == "pending"
    assert order.come_back(reference=first) == f"pay/{order.id}"
    assert order.status == "pending" and f"Payment {first}: void." in order.notes, "the end of an earlier attempt ends nothing else"
    page.card()
    assert order.come_back() == f"received/{order.id}" and order.completions == 1


def test_begun_again_when_it_is_paid(woo):
    """The browser was closed after paying, and there is no webhook: no second page."""
    order = woo.order()
    order.pay().card()
    said = woo.do("pay", id=order.id)
    assert said["redirect"].endswith(f"/received/{order.id}") and (order.status, order.completions) == ("processing", 1)
    assert len(order.references) == 1


def test_begun_again_while_it_is_processed(woo):
    order = woo.order()
    order.pay()
    with Between(woo, {"void": (409, '{"data":{"responseCode":"V2"}}'),
                       "verify": (200, json.dumps({"data": verify(order) | {"paymentStatus": "pending"}}))}):
        assert woo.do("pay", id=order.id) == {"result": "failure"}
    assert woo.notices() == [["error", "Your payment is being processed. Please do not pay again."]]
    assert len(order.references) == 1 and order.status == "pending"


@pytest.mark.parametrize("total, held", [("1500.51", True), ("1500.5", False), ("1500.49", False), ("2000", True)])
def test_total_changed(woo, total, held):
    order = woo.order("1500.50")
    order.pay().card()
    order.change(total=total)
    assert order.come_back() == f"received/{order.id}"
    assert (order.status, order.completions) == (("on-hold", 0) if held else ("processing", 1))
    assert (f"The order is now {total} NGN." in order.said()) is held
    before = order.snapshot()
    order.come_back()
    assert order.snapshot() == before
    assert order.refund("1") is True, "a person can give it back"


@pytest.mark.parametrize("paid, total, held", [("0.30", "0.3", False), ("999999999999.99", "999999999999.99", False),
                                               ("999999999999.98", "999999999999.99", True)])
def test_amounts_are_exact(woo, paid, total, held):
    order = woo.order(paid)
    order.pay().card()
    order.change(total=total)
    order.come_back()
    assert order.status == ("on-hold" if held else "processing"), order.said()


def test_currency_changed(woo):
    order = woo.order()
    order.pay().card()
    order.change(currency="JPY", total="1500")
    order.come_back()
    assert (order.status, order.completions) == ("on-hold", 0) and "1500 JPY" in order.said()


def test_another_orders_reference(woo):
    """Cheap goods paid, dear ones asked for."""
    cheap, dear = woo.order("1.00").paid(), woo.order("1.00")
    dear.pay()
    assert dear.come_back(reference=cheap.reference) == f"pay/{dear.id}"
    assert (dear.status, dear.completions) == ("pending", 0)
    assert woo.notices() == [["error", "This payment does not belong to the order."]]


@pytest.mark.parametrize("change", [{"key": "wc_order_guess"}, {"key": None}, {"order_id": "77"}, {"order_id": None}])
def test_who_does_not_know_the_order(woo, change):
    order = woo.order()
    order.pay().card()
    assert order.come_back(**change) == "" and order.status == "pending"
    assert woo.notices() == [["error", "This order is unknown."]]


@pytest.mark.parametrize("state", ["cancelled", "trash"])
def test_cancelled_meanwhile(woo, state):
    order = woo.order()
    order.pay().card()
    order.change(status=state)
    order.come_back()
    assert (order.status, order.completions, order.transaction_id) == ("on-hold", 0, order.reference)
    assert f'The order was "{state}" meanwhile.' in order.said()
    order.change(status="cancelled")
    before = order.snapshot()
    order.come_back()
    assert order.snapshot() == before, "what a person decided stays"


def test_paid_elsewhere_meanwhile(woo):
    order = woo.order()
    order.pay().card()
    order.change(status="completed", date_paid="2026-01-01T00:00:00Z")
    order.come_back()
    assert (order.status, order.completions) == ("completed", 0) and "has been paid before" in order.said()
    before = order.snapshot()
    order.come_back()
    assert order.snapshot() == before, "told once"


def test_delivered_meanwhile_and_not_paid(woo):
    order = woo.order()
    order.pay().cancel()
    order.change(status="completed")
    order.come_back()
    assert order.status == "completed" and "abandoned" in order.said()


@pytest.mark.parametrize("state, then, gone", [("pending", "processing", {}), ("cancelled", "on-hold", {}),
                                               ("pending", "processing", {"transaction_id": ""})])
def test_ended_in_the_middle(woo, state, then, gone):
    """A process that ends before it has noted that all is done: the next one changes nothing that is."""
    order = woo.order()
    order.pay().card()
    order.change(status=state)
    order.come_back()
    assert order.status == then
    whole = order.snapshot()
    order.change(meta=[row for row in order.meta if row[0] != "_mod_payments_told"], **gone)
    order.come_back()
    assert {**order.snapshot(), "meta": 0} == {**whole, "meta": 0, **gone}


def test_many_at_once(woo):
    """Returns and webhooks come at the same time: completed once."""
    order = woo.order()
    order.pay().card()
    assert set(at_once([order.come_back] * WORKERS)) == {f"received/{order.id}"}
    assert (order.status, order.completions) == ("processing", 1)


def test_no_page(woo):
    """The server refuses: the payer gets a message, the order stays, nothing is thrown."""
    order = woo.order("10.001")  # NGN has two decimals
    assert woo.do("pay", id=order.id) == {"result": "failure"} and order.status == "pending"
    assert "could not be opened" in woo.notices()[0][1] and "T1" not in order.said()
    assert "HTTP 400" in "".join(woo.option("stub_log"))
    order.change(total="10.01")
    order.paid()


@pytest.mark.parametrize("fields", [{"statusCode": "02"}, {"paymentRedirectUrl": ""}, {"paymentRedirectUrl": "javascript:alert(1)"}])
def test_page_that_was_not_opened(woo, fields):
    """As in Live Mode, when the acquirer opens none."""
    order = woo.order()
    data = {"statusCode": "01", "paymentRedirectUrl": "https://pay.shop.example/payment/page/x", **fields}
    with Between(woo, {"initiate": (200, json.dumps({"data": data}))}):
        assert woo.do("pay", id=order.id) == {"result": "failure"}
    order.paid()


def test_server_is_down(woo):
    order, paid = woo.order(), woo.order().paid()
    order.pay().card()
    woo.settings(base_url=f"http://127.0.0.1:{closed_port()}")
    back = order.back()
    assert woo.do("pay", id=order.id) == {"result": "failure"}
    assert "could not be opened" in woo.notices()[0][1]
    assert woo.wordpress.request("GET", back)[0] == 302
    assert "please do not pay again" in woo.notices()[0][1]
    assert (order.status, order.completions) == ("pending", 0)
    assert "Repeat it" in paid.refund("1")["error"] and paid.refunds == []
    woo.settings(base_url=woo.url)
    assert order.come_back() == f"received/{order.id}" and order.status == "processing"


@pytest.mark.parametrize("answer", [
    lambda order, other: {"data": verify(other)}, lambda *_: {}, lambda *_: {"data": None},
    lambda order, _: {"data": verify(order) | {"chargedAmount": None}},
    lambda order, _: {"data": {"transactionReference": order.reference, "paymentStatus": "successful"}}])
def test_answers_that_make_no_sense(woo, answer):
    """Of another server, say: the order waits for one that does."""
    order, other = woo.order(), woo.order("9999").paid()
    order.pay().card()
    back = order.back()
    with Between(woo, {"verify": (200, json.dumps(answer(order, other)))}):
        assert woo.wordpress.request("GET", back)[0] == 302
    assert (order.status, order.completions) == ("pending", 0)
    assert order.come_back() == f"received/{order.id}" and order.status == "processing"


@pytest.mark.parametrize("word", ["paid", "", "Successful", "pending"])
def test_words_that_are_not_known(woo, word):
    order = woo.order()
    order.pay().card()
    back = order.back()
    with Between(woo, {"verify": (200, json.dumps({"data": verify(order) | {"paymentStatus": word}}))}):
        assert woo.wordpress.request("GET", back)[0] == 302
    assert (order.status, order.completions) == ("on-hold", 0)


def test_first_answer_is_lost(woo):
    """The page of the lost answer is closed, and a fresh one opened."""
    order = woo.order()
    with Between(woo) as losing:
        assert woo.do("pay", id=order.id) == {"result": "failure"}
        assert losing.passed == ["/api/v1/initiate"]
    order.paid()
    assert len(order.references) == 2
    assert verify(order, order.references[0])["paymentStatus"] == "void"


# ---- webhooks

def test_told_by_the_server(woo):
    """Whoever pays and closes the window; whoever is declined; whoever cancels."""
    woo.hear()
    paid, declined, cancelled = (woo.order() for _ in range(3))
    paid.pay().card()
    declined.pay().card("declined")
    cancelled.pay().cancel()
    wait_for(lambda: paid.status == "processing", "the order to be paid")
    wait_for(lambda: declined.status == cancelled.status == "failed", "the others to be failed")
    wait_for(lambda: woo.shop.events() == [], "each event to be taken")  # notes are written after the state
    assert (paid.completions, declined.completions, cancelled.completions) == (1, 0, 0)
    assert paid.transaction_id == paid.reference and "abandoned" in cancelled.said()
    assert woo.shop.webhook_state()["status"] == 200


def test_replay(woo):
    woo.listen()
    order = woo.order()
    order.pay().card()
    event = woo.receiver.wait()[0]
    assert woo.relay(event) == 200 and (order.status, order.completions) == ("processing", 1)
    for state in ("processing", "completed", "refunded", "cancelled"):
        order.change(status=state)
        before = order.snapshot()
        assert woo.relay(event) == 200 and order.snapshot() == before
    assert order.come_back() == f"received/{order.id}" and order.completions == 1


def refuse(woo, event, **changed):
    assert woo.relay(event, **changed) == 401


def test_signatures(woo):
    woo.listen()
    order = woo.order()
    order.pay().card()
    event = woo.receiver.wait()[0]
    secret, now = woo.fields["webhook_secret"], int(time.time())
    refuse(woo, event, webhook_signature=sign("whsec_" + "A" * 44, event.id, str(event.timestamp), event.body))
    refuse(woo, event, webhook_signature=None)
    refuse(woo, event, webhook_id="evt_other")
    refuse(woo, event, body=event.body.replace(b"1500.50", b"1500.5"))
    refuse(woo, event, body=b"")
    for moment in (now - 400, now + 400):
        refuse(woo, event, webhook_timestamp=str(moment), webhook_signature=sign(secret, event.id, str(moment), event.body))
    woo.settings(webhook_secret="")
    for key in ("", "whsec_"):  # what everybody can sign with
        refuse(woo, event, webhook_signature=sign(key, event.id, str(event.timestamp), event.body))
    assert (order.status, order.completions) == ("pending", 0)
    assert woo.wordpress.request("GET", f"{woo.root}/?wc-api=mod_payments_webhook")[0] == 405
    woo.settings(webhook_secret=secret)
    assert woo.relay(event) == 200 and order.status == "processing"


def signed(woo, event):
    """That event, as the server would send it."""
    body, stamp = json.dumps(event).encode(), str(int(time.time()))
    return woo.deliver(body, {"webhook-id": "evt_1", "webhook-timestamp": stamp,
                              "webhook-signature": sign(woo.fields["webhook_secret"], "evt_1", stamp, body)})


def test_not_of_this_shop(woo):
    woo.listen()
    order = woo.order()
    order.pay().card()
    before = order.snapshot()
    for reference in ("order-1001", order.reference[:-1] + "x", f"wc-{order.id}-{'0' * 16}", f"wc-77-{'0' * 16}", ""):
        assert signed(woo, {"notify": "transaction", "notifyType": "successful", "data": {"transactionReference": reference}}) == 200
    assert signed(woo, {"notify": "test_assess", "notifyType": "test", "data": {"domain": "test"}}) == 200
    assert order.snapshot() == before
    assert "wc-77-" in "".join(woo.option("stub_log")), "money of an order that is not there is in the log"


def test_the_server_says_what_is_paid(woo):
    """Not the body, even with its signature."""
    woo.listen()
    order = woo.order()
    order.pay()
    data = {"transactionReference": order.reference, "paymentStatus": "successful", "chargedAmount": 9999, "currency": "NGN"}
    assert signed(woo, {"notify": "transaction", "notifyType": "successful", "data": data}) == 200
    assert (order.status, order.completions) == ("pending", 0)


def test_not_handled_is_sent_again(woo):
    woo.listen()
    order = woo.order(fails=True)
    order.pay().card()
    event = woo.receiver.wait()[0]
    assert woo.relay(event) == 503, "WooCommerce could not complete it"
    woo.settings(base_url=f"http://127.0.0.1:{closed_port()}")
    order.change(fails=False)
    assert woo.relay(event) == 503, "the server could not be asked"
    assert order.status == "pending"
    woo.settings(base_url=woo.url)
    assert woo.relay(event) == 200 and (order.status, order.completions) == ("processing", 1)


def test_paid_after_all(woo):
    """Money that comes for an attempt that had ended, as it can in Live Mode."""
    woo.listen()
    order = woo.order()
    order.pay().card("declined")
    assert woo.relay(woo.receiver.wait()[0]) == 200 and order.status == "failed"
    answer = verify(order) | {"paymentStatus": "successful", "chargedAmount": 1500.50}
    with Between(woo, {"verify": (200, json.dumps({"data": answer}))}):
        assert woo.relay(woo.receiver.got[0]) == 200
    assert (order.status, order.completions) == ("processing", 1)


# ---- refunds

def made(order):
    """The amounts of its refunds at the server."""
    return [one["amount"] for one in order.woo.shop.refunds().json if one["transactionReference"] == order.reference]


def test_refunds(woo):
    order = woo.order("10.00").paid()
    assert order.refund("4.00", "one item\ncame\u202e broken" + "x" * 600) is True
    assert order.refund("4.00") is True, "the same again is meant: it had an answer"
    assert "error" in order.refund("4.00") and made(order) == order.refunds == ["4.00", "4.00"], "more than is left"
    assert order.refund("2.00") is True
    assert made(order) == ["4.00", "4.00", "2.00"] and order.refunds == ["4.00", "4.00", "2.00"]
    assert "error" in order.refund("0.01") and len(order.refunds) == 3
    notes = [note for note in order.notes if re.fullmatch(r"Refund of [\d.]+ NGN, rfd_\w+: processed\.", note)]
    assert len(notes) == 3
    note = woo.shop.refunds().json[0]["merchantNote"]
    assert note.startswith("one item came broken") and len(note) == 500


def test_refund_in_full_and_its_webhooks(woo):
    woo.hear()
    order = woo.order("10.00").paid()
    assert order.refund("10.00") is True and made(order) == ["10.00"]
    order.change(status="refunded")
    before = order.snapshot()
    wait_for(lambda: woo.shop.events() == [], "each event to be taken")
    assert order.snapshot() == before, "what was told when it was made is not told again"


def test_refund_made_on_the_server(woo):
    woo.hear()
    order = woo.order("10.00").paid()
    woo.shop.refund(order.reference, "1.00")
    wait_for(lambda: "Refund of 1.00 NGN" in order.said(), "the note")
    assert order.status == "processing" and order.refunds == []


def test_refund_of_another_order(woo):
    """The server says whose it is."""
    woo.listen()
    order, other = woo.order("10.00").paid(), woo.order("10.00").paid()
    refund = woo.shop.refund(other.reference, "1.00")["refundReference"]
    before = order.snapshot()
    data = {"transactionReference": order.reference, "refundReference": refund}
    assert signed(woo, {"notify": "refund", "notifyType": "processed", "data": data}) == 503
    assert order.snapshot() == before


@pytest.mark.parametrize("amount", ["0", "11.00", "1.001"])
def test_refund_refused(woo, amount):
    order = woo.order("10.00").paid()
    said = order.refund(amount)["error"]
    assert said and "not known" not in said and order.refunds == [] and made(order) == []
    assert order.refund("10.00") is True, "a refusal keeps nothing back"


def test_refund_of_what_was_not_paid(woo):
    order = woo.order("10.00")
    order.pay()
    assert order.refund("1.00") == {"error": "The order was not paid here."}


def test_refund_whose_answer_is_lost(woo):
    order = woo.order("10.00").paid()
    with Between(woo) as losing:
        assert "It is not known whether" in order.refund("4.00", "broken")["error"]
        assert losing.passed == ["/api/v1/partial-refund"]
    assert made(order) == ["4.00"] and order.refunds == []
    with Between(woo, {"refund": (200, "{}")}):
        assert "It is not known whether" in order.refund("4.00")["error"]
    woo.settings(secret_key="pay_testsk_" + "a" * 48)
    assert "It is not known whether" in order.refund("4.00")["error"], "a refusal of something else proves nothing"
    woo.settings(secret_key=woo.shop.secret)
    assert "Repeat that one first" in order.refund("5.00")["error"]
    assert order.refund("4.00", "another reason") is True
    assert made(order) == ["4.00"] and order.refunds == ["4.00"], "it was made once"
    assert order.refund("4.00") is True and made(order) == ["4.00", "4.00"]


def test_refund_that_fails(woo):
    """The acquirer refuses: nothing is listed, and the next try is a new refund."""
    order = woo.order("10.00").paid()
    order.change(meta=[["_mod_payments_paid_by", (charge := any_name("charge-"))]])
    assert woo.shop.charge(token="tok_test_refund_fails", amount=10, reference=charge).status == 200
    for count in (1, 2):
        assert "refused" in order.refund("1.00")["error"] and order.refunds == []
        assert order.said().count("The payer has not received this money") == count


# ---- settings

@pytest.mark.parametrize("key, bad, good", [
    ("base_url", "http://shop.example", "https://shop.example/pay"), ("base_url", "ftp://127.0.0.1", "http://127.0.0.1:8080"),
    ("secret_key", "pay_testpk_" + "a" * 48, "nc_livesk_" + "a" * 48), ("secret_key", "secret", ""),
    ("webhook_secret", "whsec_", "whsec_" + "A" * 43 + "="), ("webhook_secret", "hook", "")])
def test_settings(woo, key, bad, good):
    before = woo.settings()[key]
    assert woo.settings(**{key: bad})[key] == before
    assert [kind for kind, _ in woo.notices()] == ["admin"]
    assert woo.settings(**{key: good + " "})[key] == good and woo.notices() == []
    woo.settings(**{key: before})


def test_about(woo):
    about = woo.do("about")
    assert about["refunds"] and about["available"]
    assert about["declared"] == {"custom_order_tables": True, "cart_checkout_blocks": False}
    assert {name for name, field in about["fields"].items() if field["type"] == "password"} == {"secret_key", "webhook_secret"}
    assert woo.hook_url in about["fields"]["webhook_secret"]["description"]
    for fields in ({"secret_key": ""}, {"base_url": ""}, {"enabled": ""}):
        kept = dict(woo.fields)
        woo.settings(**fields)
        assert not woo.do("about")["available"], "a payment method that cannot work is not offered"
        woo.settings(**kept)
