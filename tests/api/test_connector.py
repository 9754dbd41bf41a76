# SPDX-License-Identifier: Apache-2.0
"""docs/example-connector.c is built as a module of its own against nothing of this project but mod_payments.h, loaded
beside it, and moves money at an acquirer of the tests that speaks its protocol.
"""

import http.client
import re
import shutil
import socketserver
import subprocess
import threading
import time

import pytest

from harness import TOP, WAIT_S, Httpd, beside, checkout_body, free_port, link_body, order_body, wait_for
from upstream import LiveShop, live_reference, open_account

SOURCE = TOP / "docs/example-connector.c"
HEADER = TOP / "mod_payments/acquirer/mod_payments.h"
WARNINGS = ["-std=c11", "-Wall", "-Wextra", "-Wshadow", "-Wvla", "-Werror"]
KEY = "example-key-4711"
UNKNOWN = "PAY00203|PAY00213"  # of a call whose outcome is unknown


# The slots that the table had later than its first version, and what makes a header without them.
LATER = ["refund_list", "checkout"]
FIRST_VERSION = [(re.compile(rf"    apr_status_t \(\*{slot}\)\([^;]*;\n"), "") for slot in LATER]
# The example with a table that ends where memory has something else, which would be called as a slot.
CUT_SHORT = [
    ("static const payments_acquirer_t connector = {\n",
     "static const struct {\n    payments_acquirer_t table;\n    char behind[64];\n} older = {.table = {\n"),
    ("    .refund_query = refund_query,\n};", '    .refund_query = refund_query,\n}, .behind = "' + 63 * "x" + '"};'),
    ("PAYMENTS_ACQUIRER_GROUP, connector.name,", "PAYMENTS_ACQUIRER_GROUP, older.table.name,"),
    ("                         &connector);", "                         &older.table);"),
]


def change(text, changes):
    """`text` with each (what, by what) changed: a string, or an expression, that is in it once."""
    for old, new in changes:
        text, count = re.subn(old if isinstance(old, re.Pattern) else re.escape(old), lambda _, new=new: new, text)
        assert count == 1, (old, count)
    return text


def build(folder, changes=(), header=()):
    """The module's path, built in `folder` as its first comment says, of its source and `header` with these changes."""
    (folder / "include").mkdir(parents=True)
    (folder / "include" / HEADER.name).write_text(change(HEADER.read_text(), header))
    text = change(SOURCE.read_text(), changes)
    (folder / SOURCE.name).write_text(text)
    tool = shutil.which("apxs") or shutil.which("apxs2")
    command = [tool, f"-I{folder}/include", "-c", *[f"-Wc,{flag}" for flag in WARNINGS], SOURCE.name]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / ".libs" / f"{SOURCE.stem}.so"


@pytest.fixture(scope="session")
def example(tmp_path_factory):
    return build(tmp_path_factory.mktemp("connector") / "built")


@pytest.fixture(scope="session")
def older(tmp_path_factory):
    """The example as it was built against the first mod_payments.h."""
    return build(tmp_path_factory.mktemp("older") / "built", CUT_SHORT, FIRST_VERSION)


class Acquirer:
    """Books of names, and a port that answers questions about them, one a connection.

    `next(verb, what)` sets the fate of the next question of that kind, where `what` is a line to answer, or
    "silence": nothing is answered until the asker has gone, "lost": it is carried out and not answered, or "dropped":
    neither.
    """

    def __init__(self):
        self.books, self.asked, self.faults = {}, [], {}
        self.port, self.server = free_port(), None

    def __enter__(self):
        acquirer = self

        class Handler(socketserver.StreamRequestHandler):
            def handle(self):
                line = self.rfile.readline().decode()
                if line.endswith("\n"):  # a question that came whole
                    answer = acquirer.answer(line.split())
                    if answer == "silence":
                        self.rfile.read()
                    elif answer:
                        self.wfile.write(answer.encode() + b"\n")

        class Server(socketserver.ThreadingTCPServer):
            allow_reuse_address, daemon_threads = True, True

        self.server = Server(("127.0.0.1", self.port), Handler)
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    def next(self, verb, what):
        self.faults.setdefault(verb, []).append(what)

    def of(self, verb):
        """The questions of this kind: their words without key and verb."""
        return [words for asked, *words in list(self.asked) if asked == verb]

    def answer(self, words):
        key, verb, name, amount, currency, *more = words
        assert key == KEY, words
        self.asked.append([verb, name, amount, currency, *more])
        fault = self.faults.get(verb, []).pop(0) if self.faults.get(verb) else None
        if fault == "dropped":
            return None
        if not verb.endswith("?") and fault in (None, "lost", "silence"):
            declined = more[0] == "acq_declined"
            assert name not in self.books, f"sent twice: {words}"
            self.books[name] = f"declined {name} {amount} {currency} 05 Do not honour" if declined else \
                f"approved {name} {amount} {currency} 00 Thank you"
        if fault == "lost":
            return None
        return fault.format(name=name) if fault else self.books.get(name, f"absent {name}")


@pytest.fixture
def acquirer():
    with Acquirer() as made:
        yield made


class Till(Httpd):
    """A server whose Live Mode goes through the example, which is loaded behind mod_payments or before it."""

    def __init__(self, module, url, parameters="timeout=1s", before=False, key=KEY, **options):
        super().__init__(mpm="event", **options)
        line = f"LoadModule example_module {module}"
        original = self.load_lines
        self.load_lines = lambda: f"{line}\n{original()}" if before else f"{original()}\n{line}"
        self.key_file = self.root / "example.key"
        self.key_file.touch(mode=0o600)
        self.key_file.write_text(key + "\n")
        self.host_extra = (f"PaymentsAccount shop\nPaymentsAcquirerLateAfter 1s\n"
                           f"PaymentsAcquirer live example {url} key=file:{self.key_file} {parameters}\n")
        self.live_shop = LiveShop(self, "shop", open_account(self.store, "shop"))


@pytest.fixture
def till(example, acquirer):
    made = []

    def make(start=True, url=None, module=example, **options):
        made.append(Till(module, url or f"127.0.0.1:{acquirer.port}", **options))
        return made[-1].start() if start else made[-1]

    yield make
    for one in made:
        one.close()


def decided(shop, ref, status):
    def ask():
        found = shop.verify(ref)
        assert found["status"] in ("pending", status), found
        return found if found["status"] == status else None

    return wait_for(ask, f"{ref} to be {status}")


# ---- that it works

@pytest.mark.parametrize("before", [pytest.param(False, id="loaded behind mod_payments"),
                                    pytest.param(True, id="loaded before mod_payments")])
def test_charges_and_refunds(till, acquirer, before):
    """The requests to the acquirer and its answers; a decline is final; all refunds are exact and have tags."""
    shop, ref, refused = till(before=before).live_shop, live_reference(), live_reference()
    answer = shop.charge(reference=ref, amount="10.50", currency="EUR")
    assert answer.status == 200, answer
    data = answer.json["data"]
    assert (data["paymentStatus"], data["domain"], data["amount"]) == ("successful", "live", 10.5)
    assert (data["gatewayResponseCode"], data["gatewayResponseMessage"]) == ("00", "Thank you")
    declined = shop.charge(reference=refused, token="acq_declined")
    assert declined.status == 200 and declined.json["status"] is False and declined.json["message"] == "Do not honour"
    for one, body in ((ref, {"amount": "10.50", "currency": "EUR"}), (refused, {"token": "acq_declined"})):
        assert shop.charge(reference=one, **body).header("idempotent-replayed") == "true"
    (name, *told), _ = acquirer.of("charge")
    assert re.fullmatch("[0-9a-f]{32}", name) and told == ["10.50", "EUR", "acq_success"]

    part = shop.partial(ref, "3.25", merchant_note="a broken cup").json
    rest = shop.call("POST", "/api/v1/refund", {"reference": ref}).json
    assert [(one["status"], one["amount"]) for one in (part, rest)] == [("processed", "3.25"), ("processed", "7.25")]
    assert shop.verify(ref)["status"] == "reversed"
    (tag, *told), (other, *more) = acquirer.of("refund")
    assert (told, more) == (["3.25", "EUR", name], ["7.25", "EUR", name])
    assert tag != other and all(re.fullmatch("[a-z0-9]{24}", one) for one in (tag, other))


def test_lost_answers_are_asked_for(till, acquirer):
    """No answer by the time-out, none at all, half of one: 202, asked about, and nothing is sent a second time."""
    httpd = till()
    httpd.expect_log(f"{UNKNOWN}|PAY00453")
    shop = httpd.live_shop
    refs = {}
    for what in ("silence", "lost", "approved {name} 1000.00", "approved {name} " + "x" * 600):
        refs[what] = live_reference()
        acquirer.next("charge", what)
        began = time.monotonic()
        answer = shop.charge(reference=refs[what])
        assert answer.status == 202 and answer.json["data"]["paymentStatus"] == "pending", answer
        if what == "silence":
            assert 0.4 < time.monotonic() - began < 20
    for what, ref in refs.items():
        found = decided(shop, ref, "successful" if what in ("silence", "lost") else "failed")
    assert found["gatewayResponseMessage"] == "The charge was not received by the acquirer."
    ref = live_reference()
    shop.charge(reference=ref)
    acquirer.next("refund", "lost")
    lost = shop.partial(ref, "7.00").json
    assert lost["status"] == "pending", lost
    path = f"/api/v1/refund/{lost['refundReference']}"
    wait_for(lambda: shop.call("GET", path).json["status"] == "processed", "the refund to be found")
    assert len(acquirer.of("refund")) == 1 and len(acquirer.of("charge")) == 5


def test_pending_until_the_acquirer_decides(till, acquirer):
    shop, ref = till().live_shop, live_reference()
    acquirer.next("charge", "pending {name} 1000.00 NGN 09 Wait")
    acquirer.next("charge?", "pending {name} 1000.00 NGN 09 Wait")
    assert shop.charge(reference=ref).status == 202
    (name, *_), = acquirer.of("charge")
    acquirer.books[name] = f"declined {name} 1000.00 NGN 51 Not enough"
    assert decided(shop, ref, "failed")["gatewayResponseMessage"] == "Not enough"
    assert len(acquirer.of("charge?")) == 2


def test_absence_is_believed_twice_and_by_name(till, acquirer):
    """The charge was lost on its way: only the acquirer's own word of it makes it fail, another name's never."""
    httpd = till()
    httpd.expect_log(UNKNOWN)
    shop, ref = httpd.live_shop, live_reference()
    acquirer.next("charge", "dropped")
    acquirer.next("charge?", "absent " + "0" * 32)
    assert shop.charge(reference=ref).status == 202
    assert decided(shop, ref, "failed")["gatewayResponseMessage"] == "The charge was not received by the acquirer."
    assert len(acquirer.of("charge?")) >= 3


def test_nothing_was_sent(till, acquirer):
    """Nobody listens: 503, and the reference is free; the same request goes through when somebody does."""
    httpd = till()
    httpd.expect_log("PAY00202|PAY00204|PAY00211|PAY00212")
    shop, ref = httpd.live_shop, live_reference()
    acquirer.__exit__()
    answer = shop.charge(reference=ref)
    assert answer.status == 503 and answer.header("retry-after"), answer
    assert shop.call("GET", f"/api/v1/checkout/{ref}/verify").status == 404
    acquirer.__enter__()
    assert shop.charge(reference=ref).status == 200
    assert len(acquirer.of("charge")) == 1


def test_older_connector(till, older, acquirer):
    """Built against the first mod_payments.h it moves money; slots that came later count as absent, whatever is there."""
    httpd = till(module=older)
    shop, ref = httpd.live_shop, live_reference()
    assert shop.charge(reference=ref, amount="10.50").json["data"]["paymentStatus"] == "successful"
    assert shop.partial(ref, "3.25").json["status"] == "processed"
    acquirer.next("refund", "lost")
    httpd.expect_log(UNKNOWN)
    pending = shop.call("POST", "/api/v1/refund", {"reference": ref}).json
    wait_for(lambda: shop.call("GET", f"/api/v1/refund/{pending['refundReference']}").json["status"] == "processed",
             "the refund to be found")
    answer = shop.call("POST", "/api/v1/initiate", checkout_body(transactionReference=live_reference()))
    assert (answer.status, answer.json["data"]["responseCode"]) == (501, "I1"), answer


def test_checkouts_need_pages(till, acquirer):
    """The example has none: each way to begin one says so, the acquirer hears nothing, and the reference is free."""
    shop = till().live_shop
    shop.httpd.ctl("link", "create", "shop", "--mode", "live", "--reference", "shoes")
    ref = live_reference()
    for path, body in (("/api/v1/initiate", checkout_body(transactionReference=ref)),
                       ("/api/v1/paymentlink/initiate", link_body("shoes")),
                       ("/payment/order/create", order_body(reference=ref))):
        answer = shop.call("POST", path, body)
        assert (answer.status, answer.json["data"]["responseCode"]) == (501, "I1"), answer
        assert answer.json["message"] == "The acquirer of this service has no payment pages."
    assert shop.call("GET", f"/api/v1/checkout/{ref}/verify").status == 404
    assert acquirer.asked == []
    assert shop.charge(reference=ref).status == 200


def test_key_refused_and_patience(till, acquirer):
    """Trouble says nothing of the charge: 202; the next ones are 503 until a question is answered, or for so long."""
    httpd = till()
    httpd.expect_log(f"{UNKNOWN}|PAY00450")
    shop, ref = httpd.live_shop, live_reference()
    acquirer.next("charge", "refused")
    acquirer.next("charge?", "refused")
    assert shop.charge(reference=ref).status == 202
    assert shop.charge(reference=live_reference()).status == 503
    decided(shop, ref, "failed")
    wait_for(lambda: shop.charge(reference=live_reference()).status == 200, "charges to go on")
    acquirer.next("charge", "busy 2")
    assert shop.charge(reference=live_reference()).status == 202
    answer = shop.charge(reference=live_reference())
    assert answer.status == 503 and 1 <= int(answer.header("retry-after")) <= 2, answer
    wait_for(lambda: shop.charge(reference=live_reference()).status == 200, "charges to go on")


def test_something_else_under_our_name(till, acquirer):
    """It waits for a person, who decides it."""
    httpd = till()
    httpd.expect_log("PAY00422|PAY00453")
    shop, ref = httpd.live_shop, live_reference()
    acquirer.next("charge", "approved {name} 1.00 NGN 00 Thank you")
    assert shop.charge(reference=ref).status == 202
    (name, *_), = acquirer.of("charge")
    acquirer.books[name] = f"approved {name} 1.00 NGN 00 Thank you"
    (held,) = wait_for(shop.rows_held, "it to be held")
    assert (held["reference"], held["why"]) == (ref, "different"), held
    httpd.ctl("charge", "resolve", "shop", ref, "--mode", "live", "--outcome", "failed", "--reason", "ticket 4711")
    assert shop.verify(ref)["status"] == "failed" and not shop.rows_held()


def test_process_ends_while_it_waits(till, acquirer):
    """stop() ends the call long before its time-out; after the start it is asked for the outcome of the charge."""
    httpd = till(parameters="timeout=60s")
    httpd.expect_log(UNKNOWN)
    shop, ref = httpd.live_shop, live_reference()
    acquirer.next("charge", "silence")

    def charge():
        try:
            return shop.charge(reference=ref).status
        except (OSError, http.client.HTTPException):
            return None  # its process was gone first

    charging = beside(charge)
    wait_for(lambda: acquirer.of("charge"), "the charge to be sent")
    began = time.monotonic()
    httpd.stop()
    assert time.monotonic() - began < 30
    assert charging.result(WAIT_S) in (None, 202)
    httpd.start()
    assert shop.verify(ref)["status"] in ("pending", "successful")
    (name, *_), = acquirer.of("charge")
    assert acquirer.books[name].startswith("approved")


# ---- rejected configurations

@pytest.mark.parametrize("old, new, sentence", [
    pytest.param(".abi = PAYMENTS_ACQUIRER_ABI", ".abi = PAYMENTS_ACQUIRER_ABI + 1",
                 "it is built for version 2 of this interface, not for 1", id="another version"),
    pytest.param(".struct_size = sizeof(payments_acquirer_t)",
                 ".struct_size = sizeof(payments_acquirer_t) - 3 * sizeof(void *)",
                 "its table of functions is too short: build it again with this mod_payments.h", id="a short table"),
    pytest.param("    .charge_query = charge_query,\n", "",
                 "it lacks check, open, charge, charge_query, refund or refund_query", id="no charge_query"),
    pytest.param(".flags = PAYMENTS_OWN_TOKENS,", ".flags = PAYMENTS_PURE,",
                 "it decides by itself and moves no money; Test Mode needs no PaymentsAcquirer",
                 id="a second simulator"),
])
def test_unfit_connector(server, tmp_path, old, new, sentence):
    """`httpd -t` says why, in a sentence; the server does not start."""
    flags = [("#include <httpd.h>\n", "#pragma GCC diagnostic ignored \"-Wunused-function\"\n#include <httpd.h>\n")]
    module = build(tmp_path / "built", [(old, new), *flags])
    httpd = server(start=False, mpm="event", extra=f"LoadModule example_module {module}",
                   host_extra="PaymentsAccount shop\nPaymentsAcquirer live example 127.0.0.1:9 key=file:/nowhere/key")
    done = httpd.configtest()
    assert done.returncode != 0 and "Syntax OK" not in done.stderr
    said = f"PaymentsAcquirer: the connector 'example' cannot be used in Live Mode: {sentence}"
    assert said in done.stderr, done.stderr


@pytest.mark.parametrize("words, sentence", [
    pytest.param("127.0.0.1:9 key=file:/nowhere/key", None, id="all is well, and nothing is read"),
    pytest.param("key=file:/nowhere/key", "want HOST:PORT", id="no address"),
    pytest.param("127.0.0.1 key=file:/nowhere/key", "want HOST:PORT", id="no port"),
    pytest.param("127.0.0.1:9", "want key=file:PATH or key=exec:PROGRAM, and no other parameter", id="no key"),
    pytest.param("127.0.0.1:9 key=file:/nowhere/key colour=red",
                 "want key=file:PATH or key=exec:PROGRAM, and no other parameter", id="an unknown parameter"),
])
def test_its_own_check(server, example, words, sentence):
    httpd = server(start=False, mpm="event", extra=f"LoadModule example_module {example}",
                   host_extra=f"PaymentsAccount shop\nPaymentsAcquirer live example {words}")
    done = httpd.configtest()
    assert ("Syntax OK" in done.stderr) == (sentence is None), done.stderr
    assert sentence is None or f"PaymentsAcquirer live example: {sentence} (" in done.stderr, done.stderr


def test_plain_secret(server, example):
    """What the connector calls a secret is never written into the configuration."""
    httpd = server(start=False, mpm="event", extra=f"LoadModule example_module {example}",
                   host_extra=f"PaymentsAccount shop\nPaymentsAcquirer live example 127.0.0.1:9 key={KEY}")
    said = httpd.configtest().stderr
    assert "key= is a secret: want key=file:<absolute path of a file>" in said and KEY not in said


def test_refund_while_it_cannot_start(till, acquirer):
    """Neither is a refund taken whose charge went through it: 503, nothing written; started again it is carried out."""
    httpd = till(parameters="timeout=1s name=bank")
    shop, ref = httpd.live_shop, live_reference()
    assert shop.charge(reference=ref).json["data"]["paymentStatus"] == "successful"
    httpd.expect_log("PAY00383")
    good = httpd.host_extra
    httpd.host_extra = good.replace(f"127.0.0.1:{acquirer.port}", "no..where:9100")
    httpd.stop()
    httpd.start()
    refused = shop.call("POST", "/api/v1/refund", {"reference": ref})
    assert refused.status == 503 and int(refused.header("retry-after")) >= 1, refused
    assert shop.verify(ref)["refundsPendingAmount"] == 0
    httpd.host_extra = good
    httpd.stop()
    httpd.start()
    assert shop.call("POST", "/api/v1/refund", {"reference": ref}).json["status"] == "processed"


def test_address_that_is_not_found(till):
    """open() fails: the server starts, one line says why, and charges are 503 before anything is written."""
    httpd = till(url="no..where:9100")
    httpd.expect_log("PAY00383")
    shop, ref = httpd.live_shop, live_reference()
    assert shop.charge(reference=ref).status == 503
    assert "PAY00383: PaymentsAcquirer example@no..where:9100 of account shop is out of service" in httpd.log_text()
    assert httpd.log_text().count("PAY00383") == 1
    assert ": the address of no..where is not found" in httpd.log_text()
    assert shop.call("GET", f"/api/v1/checkout/{ref}/verify").status == 404
    assert shop.charge(key=shop.test_secret, token="tok_test_success").status == 200
