# SPDX-License-Identifier: Apache-2.0
"""E-mails as a real relay gets them: recipients, contents, and the fate of a rejected one."""

import json
import pathlib
import re
import secrets
import struct
import time
from email.utils import parsedate_to_datetime

import pytest

from harness import TOP, Httpd, loaded, reference, wait_for
from mail_server import PASSWORD, USER, Relay
from payer import Checkout
from receiver import INSECURE, closed_port, instant

SENDER = "payments@shop.example"
RETRY_S = 5  # after each of the first three failed tries
AGAIN_S = 5.6  # one is due by then: a tenth may be added
DAY = 24 * 3600
HOST_MAX = 16  # tries to one host at a time
TEST = ("--mode", "test")
LISTED = ("--test-recipient", "@payer.example", "--test-recipient", "@bücher.example")
TEMPLATES = TOP / "share/mail"


def directives(relay, more=""):
    return f"PaymentsMailRelay {relay.url}\nPaymentsMailFrom {SENDER}\n{more}"


def address():
    return f"a{secrets.token_hex(5)}@payer.example"


class Post:
    """A fresh shop whose mails go to `relay`: receipts, and notices to the merchant."""

    def __init__(self, httpd, relay, receipts="on", merchant=True):
        self.httpd, self.relay, self.shop = httpd, relay, httpd.shop()
        self.merchant = f"owner-{self.shop.name}@shop.example" if merchant else None
        options = ("--merchant-address", self.merchant) if merchant else ()
        httpd.ctl("mail", "set", self.shop.name, "--receipts", receipts, *options, *LISTED)

    def pay(self, **fields):
        """A charge by a payer of its own: (reference, the payer's address)."""
        payer, ref = fields.pop("email", address()), fields.pop("reference", reference())
        answer = self.shop.charge(reference=ref, email=payer, **fields)
        assert answer.status == 200, answer
        return ref, payer

    def waiting(self, kind):
        """The one event that waits for "receipt" or "notice"; None."""
        found = [one for one in self.shop.events() if one["to"] == kind]
        assert len(found) <= 1
        return found[0] if found else None

    def all_told(self):
        """Returns once nothing waits: what a relay has taken is known to be taken a moment later."""
        wait_for(lambda: not self.shop.events(), "nothing to wait")

    def parked(self):
        """The one event that was given up, which the log reports."""
        self.httpd.expect_log("PAY00264")
        [found] = wait_for(lambda: self.shop.events("--parked"), "an event to be parked")
        return found

    def failed(self, kind, tries=1):
        """The same once so many tries have failed."""
        def found():
            one = self.waiting(kind)
            return one if one and one["tries"] >= tries else None
        return wait_for(found, f"{tries} failed tries of the {kind}")


@pytest.fixture(scope="module")
def world():
    """A relay that takes everything, and a server that writes by it."""
    with Relay() as relay:
        httpd = Httpd(mpm="event", extra=directives(relay))
        httpd.start()
        yield httpd, relay
        httpd.close()


@pytest.fixture
def post(world):
    """A new shop of the shared server; a loud log line that this test did not expect fails this test."""
    httpd, relay = world
    yield Post(httpd, relay)
    loud = httpd.unexpected()
    assert not loud, "unexpected in the error log:\n" + "\n".join(loud)


# --- who is written to, and what it says ---

def test_receipt(post):
    """The payer gets one message: envelope, headers, both parts."""
    begun = time.time()
    ref, payer = post.pay(amount=1234.5, currency="NGN", firstName="Ada", lastName="Obi")
    [mail] = post.relay.wait(payer)
    assert (mail.sender, mail.recipients) == (SENDER, [payer])
    assert mail.header("from") == f"{post.shop.name} <{SENDER}>"
    assert mail.header("to") == payer
    assert mail.header("reply-to") == post.merchant
    assert mail.header("subject") == f"[TEST] Receipt from {post.shop.name}: NGN 1234.50"
    assert re.fullmatch(r"<evt_[0-9a-f]{42}@shop\.example>", mail.header("message-id"))
    assert mail.header("auto-submitted") == "auto-generated"
    assert mail.header("x-payments-mode") == "test"
    assert mail.header("bcc") is None and mail.header("cc") is None
    when = parsedate_to_datetime(mail.header("date")).timestamp()
    assert begun - 1 <= when <= time.time() + 1
    for part in (mail.text, mail.html):
        for wanted in ("TEST MODE", "NGN 1234.50", ref, "Ada Obi", post.shop.name):
            assert wanted in part, (wanted, part)
        assert "(UTC)" in part
        assert "{{" not in part
    post.all_told()


def test_notices(post):
    """The merchant is notified of successes, failures and refunds, in the order of the payment."""
    ref, payer = post.pay(amount=200, firstName="Ada", lastName="Obi")
    post.shop.refund(ref, "50", merchant_note="came broken", customer_note="We are sorry")
    lost, _ = post.pay(token="tok_test_declined")
    mails = post.relay.wait(post.merchant, 3)
    by = {mail.header("subject"): mail for mail in mails}
    assert set(by) == {f"[TEST] Payment received: NGN 200.00 ({ref})", f"[TEST] Refund made: NGN 50.00 ({ref})",
                       f"[TEST] Payment failed: NGN 1000.00 ({lost})"}
    order = [mail.header("subject") for mail in mails if ref in mail.header("subject")]
    assert "received" in order[0] and "Refund" in order[1]
    received = by[f"[TEST] Payment received: NGN 200.00 ({ref})"]
    assert payer in received.text and payer in received.html and "Ada Obi" in received.text
    assert received.header("reply-to") is None
    refunded = by[f"[TEST] Refund made: NGN 50.00 ({ref})"]
    assert "came broken" in refunded.text and "We are sorry" in refunded.html
    assert len({mail.header("message-id") for mail in mails}) == 3
    # The payer hears of what was paid and refunded, and nothing of the merchant's.
    receipts = post.relay.wait(payer, 2)
    assert [mail.header("subject") for mail in receipts] == [
        f"[TEST] Receipt from {post.shop.name}: NGN 200.00", f"[TEST] Refund from {post.shop.name}: NGN 50.00"]
    assert "We are sorry" in receipts[1].text
    assert not any("came broken" in mail.raw.decode() for mail in receipts)


def test_each_refund_is_told_once(post):
    """Two partial refunds make two receipts; that the payment is reversed by the second makes none of its own."""
    ref, payer = post.pay(amount=100)
    post.shop.refund(ref, "40")
    post.shop.refund(ref, "60")
    post.all_told()
    subjects = [mail.header("subject").split(": ")[1] for mail in post.relay.wait(payer, 3)]
    assert subjects == ["NGN 100.00", "NGN 40.00", "NGN 60.00"]
    assert len(post.relay.to(post.merchant)) == 3


def test_who_wants_mail(world):
    """Receipts on or off, notices with or without an address: each by itself, from the next event on."""
    httpd, relay = world
    silent, only_receipts = Post(httpd, relay, "off", merchant=False), Post(httpd, relay, "on", merchant=False)
    only_notices = Post(httpd, relay, "off")
    payers = [post.pay()[1] for post in (silent, only_receipts, only_notices)]
    [receipt] = relay.wait(payers[1])
    assert receipt.header("reply-to") is None
    relay.wait(only_notices.merchant)
    for post in (silent, only_receipts, only_notices):
        post.all_told()
    assert [len(relay.to(payer)) for payer in payers] == [0, 1, 0]
    httpd.ctl("mail", "set", silent.shop.name, "--receipts", "on")
    _, payer = silent.pay()
    relay.wait(payer)
    assert not relay.to(payers[0])


def test_test_message(post):
    """`mail test` writes to the merchant and prints the result."""
    done = post.httpd.ctl("mail", "test", post.shop.name, *TEST)
    [mail] = post.relay.wait(post.merchant)
    assert mail.header("subject") == f"[TEST] Test message of {post.shop.name}"
    assert mail.header("message-id")[1:].split("@")[0] in mail.text
    assert done.returncode == 0
    silent = Post(post.httpd, post.relay, merchant=False)
    done = post.httpd.ctl("mail", "test", silent.shop.name, *TEST, check=False)
    assert done.returncode != 0 and done.stderr


def test_time_zone(world):
    """Times are the account's own."""
    httpd, relay = world
    name = "lagos-" + secrets.token_hex(4)
    httpd.ctl("account", "create", name, "--timezone", "Africa/Lagos")
    httpd.ctl("mail", "set", name, "--merchant-address", f"{name}@shop.example")
    httpd.ctl("mail", "test", name, *TEST)
    [mail] = relay.wait(f"{name}@shop.example")
    when = parsedate_to_datetime(mail.header("date")).timestamp()
    local = time.strftime("%Y-%m-%d %H:%M", time.gmtime(when + 3600))
    assert f"{local} (UTC+01:00)" in mail.text


# --- what a payer or a shop might slip in ---

NASTY = [
    ("markup", "<script>alert(1)</script>", "\"'&<b>"),
    ("beyond ASCII", "Zoë 💶", "Ọláńrewájú"),
    ("a template", "{{customer_email}}", "{{#mode_test}}"),
    ("encoded", "=?UTF-8?Q?Bcc=3A?=", "=0D=0ABcc: evil@payer.example"),
    ("a dot", ".", "."),
]


@pytest.mark.parametrize("first,last", [row[1:] for row in NASTY], ids=[row[0] for row in NASTY])
def test_values_are_only_values(post, first, last):
    """Names arrive as they are in the text and escaped in HTML; they add no header, recipient, tag or template."""
    _, payer = post.pay(firstName=first, lastName=last)
    for mail in (*post.relay.wait(payer), *post.relay.wait(post.merchant)):
        shown = f"{first} {last}"
        assert shown in mail.text
        escaped = shown.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        assert escaped.replace('"', "&quot;").replace("'", "&#39;") in mail.html
        assert "<script" not in mail.html
        assert sorted(name.lower() for name in mail.message.keys()) == sorted(
            ["from", "to", "subject", "date", "message-id", "auto-submitted", "x-payments-mode", "mime-version",
             "content-type"] + (["reply-to"] if mail.recipients == [payer] else []))


def test_line_breaks_do_not_come_through(post):
    """What would end a line is refused where it comes in, by API and tool."""
    for field in ("firstName", "lastName", "email", "reference"):
        for text in ("x\r\nBcc: evil@payer.example", "x\nRCPT TO:<evil@payer.example>", "x\r.\r"):
            answer = post.shop.charge(**{field: text})
            assert answer.status == 400, (field, answer)
    ref, _ = post.pay()
    done = post.httpd.ctl("refund", "create", post.shop.name, *TEST, "--reference", ref, "--customer-note",
                          "x\r\nBcc: evil@payer.example", check=False)
    assert done.returncode != 0
    done = post.httpd.ctl("mail", "set", post.shop.name, "--merchant-address", "a@b.example\r\nBcc: c@d.example",
                          check=False)
    assert done.returncode != 0


@pytest.mark.parametrize("payer", ["jürgen@payer.example", "ada@bücher.example"])
def test_address_beyond_ascii(post, payer):
    """Refused for good, with the reason; the merchant is still notified."""
    post.pay(email=payer)
    parked = post.parked()
    assert parked["to"] == "receipt"
    assert "non-ASCII" in parked["error"] and payer not in parked["error"]
    post.relay.wait(post.merchant)


# --- what an anonymous client with a public key of Test Mode can bring about ---

def test_nobody_is_written_to_who_is_not_listed(post):
    """Victims get nothing, which the events say; the merchant's own address gets its receipt, and the log one line."""
    victims = [f"victim{number}@victims.example" for number in range(3)]
    for victim in victims:
        checkout = Checkout(post.shop, key=post.shop.public, checkoutCustomerData={
            "email": victim, "firstName": "your account was charged USD 1,000,000.",
            "lastName": "To cancel open https://phish.example/cancel"})
        assert checkout.card().kind == "approved"
    post.pay(email=post.merchant)
    wait_for(lambda: [mail.header("subject") for mail in post.relay.to(post.merchant)
                      if "Receipt" in mail.header("subject")], "the merchant's receipt")
    parked = wait_for(lambda: len(found := post.shop.events("--parked")) == 3 and found, "the others to be given up")
    assert {one["to"] for one in parked} == {"receipt"}
    assert {one["tries"] for one in parked} == {0}
    assert all("listed addresses only" in one["error"] for one in parked)
    assert not any(post.relay.to(victim) for victim in victims)
    for mail in post.relay.wait(post.merchant, 5):
        assert "phish" not in mail.text + mail.html + mail.header("subject")
    assert post.httpd.log_text().count("PAY00770") == 1
    post.httpd.ctl("mail", "set", post.shop.name, "--test-recipient", victims[0].upper())
    [event] = [one for one in parked if one["transaction"] == 1]
    post.shop.event("retry", event["id"])
    [mail] = post.relay.wait(victims[0])
    assert "Hello" not in mail.text and "phish" not in mail.text + mail.html and "://" not in mail.text


def test_five_an_hour_to_one_payer(server):
    """The sixth waits, whichever process would send it and whatever its detail is called; nobody else's does."""
    with Relay() as relay:
        httpd = server(mpm="event", start=False, extra=directives(relay), env={
            "LD_PRELOAD": loaded("faults/preload_clock"), "PAYMENTS_CLOCK_FILE": "{root}/clock"})
        clock = httpd.root / "clock"
        clock.write_bytes(struct.pack("=q", 0))
        clock.chmod(0o644)
        httpd.start()
        post = Post(httpd, relay)
        for number in range(3):
            post.pay(email="payer@payer.example")
            post.pay(email=f"payer+{number}@payer.example")
        _, other = post.pay()
        relay.wait(other)
        relay.wait(post.merchant, 7)
        wait_for(lambda: len(post.shop.events()) == 1, "all but one to be sent")
        waits = post.waiting("receipt")
        assert "5 receipts within an hour" in waits["error"] and waits["tries"] == 0
        httpd.stop()
        done = httpd.ctl("event", "deliver", "--once")
        assert done.stdout.startswith("0 delivered, 1 waiting"), done
        with clock.open("r+b") as out:
            out.write(struct.pack("=q", 3700 * 1_000_000))
        httpd.start()
        post.all_told()
        assert sum(len(relay.to(who)) for who in ["payer@payer.example"]
                   + [f"payer+{number}@payer.example" for number in range(3)]) == 6


# --- templates of a shop's own ---

def test_own_templates(server):
    """Files are read for each message; a fault delays it and is reported with its position; after a fix it is sent."""
    httpd = server(mpm="event", start=False)
    own = httpd.root / "mail"
    own.mkdir()
    for file in TEMPLATES.iterdir():
        (own / file.name).write_bytes(file.read_bytes())
    receipt = own / "receipt-successful.txt"
    receipt.write_text("Subject: Merci, {{customer_name}} – {{amount}} {{currency}}\n\nÀ bientôt, {{account}}.\n")
    with Relay() as relay:
        httpd.extra = directives(relay, f"PaymentsMailTemplates {own}\n")
        httpd.start()
        post = Post(httpd, relay, merchant=False)
        _, payer = post.pay(firstName="Zoë", lastName="O'Neil", amount=5)
        [mail] = relay.wait(payer)
        assert mail.header("subject") == "[TEST] Merci, Zoë O'Neil – 5.00 NGN"
        assert b"Subject: =?UTF-8?B?" in mail.raw
        assert mail.text.strip() == f"À bientôt, {post.shop.name}."
        assert "Zoë O&#39;Neil" in mail.html
        receipt.write_text("Subject: Oh\n\n\n{{nobody}}\n")
        _, payer = post.pay()
        waits = post.failed("receipt")
        assert waits["error"] == f"{receipt}: line 4: There is no {{{{nobody}}}} here."
        assert relay.to(payer) == []
        receipt.write_text("Subject: Mended\n\nYes.\n")
        post.shop.event("retry", waits["id"])
        [mail] = relay.wait(payer)
        assert mail.header("subject") == "[TEST] Mended"


def test_faults_are_told_at_the_start(server):
    """A template that is wrong does not stop a server: its log names file and line, and other messages go."""
    httpd = server(mpm="event", start=False)
    own = httpd.root / "mail"
    own.mkdir()
    for file in TEMPLATES.iterdir():
        (own / file.name).write_bytes(file.read_bytes())
    (own / "notice-failed.html").write_text("<p>\n{{nobody}}")
    with Relay() as relay:
        httpd.extra = directives(relay, f"PaymentsMailTemplates {own}\n")
        httpd.start()
        httpd.expect_log(rf"PAY00357: PaymentsMailTemplates: .*{own}/notice-failed\.html: line 2: ")
        assert "PAY00357" in httpd.log_text()
        post = Post(httpd, relay)
        _, payer = post.pay()
        relay.wait(payer)


# --- what a relay may do ---

def test_greylisted(server):
    """451 for a recipient is tried again after five seconds, with the same message."""
    payer = address()
    with Relay() as relay:
        httpd = server(mpm="event", extra=directives(relay), clock=True)
        post, clock = Post(httpd, relay), httpd.clock
        relay.refuse("RCPT", "451 4.7.1 Greylisted, try again later", recipient=payer)
        begun = clock.now()
        post.pay(email=payer)
        waits = post.failed("receipt")
        assert (waits["status"], waits["standing"], waits["tries"]) == (451, "waiting", 1)
        assert "451" in waits["error"] and payer not in waits["error"]
        due = instant(waits["dueAt"])
        assert due - begun >= RETRY_S
        clock.stop()
        clock.pass_seconds(due - clock.now() - 0.001)
        _, other = post.pay()
        relay.wait(other)
        assert relay.to(payer) == [], "it was sent before it was due"
        clock.pass_seconds(0.002)  # what is shown is cut to milliseconds
        [mail] = relay.wait(payer)
        assert mail.header("message-id")[1:].split("@")[0] == waits["id"]
        assert relay.refusals("RCPT", payer) == ["451 4.7.1 Greylisted, try again later"]
        post.all_told()


@pytest.mark.parametrize("verb,answer", [("RCPT", "550 5.1.1 No such user"), ("DATA", "554 5.7.1 Not wanted")])
def test_refused_for_good(post, verb, answer):
    """5xx parks at once; what belongs to others goes on, and a retry sends it when the relay has changed its mind."""
    payer = address()
    post.relay.refuse(verb, answer, recipient=payer)
    post.pay(email=payer)
    parked = post.parked()
    assert (parked["to"], parked["status"], parked["tries"]) == ("receipt", int(answer[:3]), 1)
    assert payer not in json.dumps(parked["error"])
    post.relay.wait(post.merchant)
    _, other = post.pay()
    post.relay.wait(other)
    assert post.relay.to(payer) == []
    post.shop.event("retry", parked["id"])
    post.relay.wait(payer)
    post.all_told()


def test_relay_is_away(server):
    """Refused connections lose nothing: what waited arrives once the relay is back, each message once."""
    with Relay() as relay:
        httpd = server(mpm="event", extra=directives(relay), clock=True)
        post = Post(httpd, relay)
        relay.shut()
        _, payer = post.pay()
        for kind in ("receipt", "notice"):
            waits = post.failed(kind)
            assert (waits["status"], waits["standing"]) == (0, "waiting") and waits["error"]
        relay.open()
        httpd.clock.pass_seconds(AGAIN_S)
        relay.wait(payer)
        relay.wait(post.merchant)
        post.all_told()
        assert len(relay.mails) == 2


def secret_file(folder, *lines):
    path = folder / "login"
    path.write_text("\n".join(lines) + "\n")
    path.chmod(0o600)
    return path


@pytest.mark.filterwarnings("ignore:Requiring AUTH while not requiring TLS")  # it has TLS before SMTP begins
@pytest.mark.parametrize("wrapped", [False, True], ids=["starttls", "smtps"])
def test_login(server, authority, tmp_path, wrapped):
    """A relay that wants TLS and a login gets both, by the tests' own authority; the password stays out of the logs."""
    with Relay(authority.context(), login=True, wrapped=wrapped) as relay:
        login = secret_file(tmp_path, USER, PASSWORD)
        httpd = server(mpm="event", extra=f"PaymentsMailRelay {relay.url} {login}\nPaymentsMailFrom {SENDER}\n"
                                          f"PaymentsTrustedCA {authority.file}\n")
        post = Post(httpd, relay)
        _, payer = post.pay()
        [mail] = relay.wait(payer)
        assert (mail.tls, mail.user) == (True, USER)
        assert relay.logins and all(tls and fits for _, tls, fits in relay.logins)
        assert PASSWORD not in httpd.log_text()
        assert PASSWORD.encode() not in (httpd.store / "data.mdb").read_bytes()


def failing(server, relay, extra):
    """The receipt of a shop whose relay does not take it, after one try."""
    post = Post(server(mpm="event", extra=extra), relay, merchant=False)
    post.pay()
    return post.failed("receipt")


def test_wrong_password(server, authority, tmp_path):
    """The administrator must fix it: the message waits."""
    with Relay(authority.context(), login=True) as relay:
        login = secret_file(tmp_path, USER, "wrong")
        waits = failing(server, relay, f"PaymentsMailRelay {relay.url} {login}\nPaymentsMailFrom {SENDER}\n"
                                       f"PaymentsTrustedCA {authority.file}\n")
        assert (waits["standing"], waits["parkedAt"]) == ("waiting", None)
        assert [fits for _, _, fits in relay.logins[:1]] == [False]
        assert relay.mails == []


@pytest.mark.parametrize("kind", ["no TLS", "self-signed", "other name", "expired"])
def test_login_only_to_the_relay_itself(server, authority, tmp_path, kind):
    """Without TLS, or with a certificate nobody should believe, neither login nor message leaves."""
    with Relay(None if kind == "no TLS" else authority.context(kind)) as relay:
        login = secret_file(tmp_path, USER, PASSWORD)
        waits = failing(server, relay, f"PaymentsMailRelay {relay.url} {login}\nPaymentsMailFrom {SENDER}\n"
                                       f"PaymentsTrustedCA {authority.file}\n")
        assert (waits["standing"], waits["status"]) == ("waiting", 0)
        assert relay.connections and relay.asked == [] and relay.logins == [] and relay.mails == []


def test_tls_where_it_is_offered(server, authority):
    """Without a login TLS is used when the relay has it."""
    with Relay(authority.context()) as relay:
        httpd = server(mpm="event", extra=directives(relay, f"PaymentsTrustedCA {authority.file}\n"))
        post = Post(httpd, relay, merchant=False)
        _, payer = post.pay()
        [mail] = relay.wait(payer)
        assert mail.tls


# --- who delivers ---

def test_from_cron(server):
    """With no server running, `event deliver --once` sends all that is due, however many shops share the relay.

    It ends when nothing is due, and says nothing of addresses. It needs no master key where no secret is stored.
    """
    with Relay() as relay:
        httpd = server(mpm="event", extra=directives(relay))
        relay.shut()
        posts = [Post(httpd, relay) for _ in range(HOST_MAX // 2 + 1)]
        payers = [post.pay(firstName="Ada")[1] for post in posts]
        waits = [(post, post.failed(kind)["id"]) for post in posts for kind in ("receipt", "notice")]
        httpd.stop()
        relay.open()
        for post, event in waits:
            post.shop.event("retry", event)
        pathlib.Path(f"{httpd.store}.key").unlink()
        done = httpd.ctl("event", "deliver", "--once")
        assert done.stdout.startswith(f"{len(waits)} delivered, 0 waiting"), done
        assert all(len(relay.to(who)) == 1 for who in payers + [post.merchant for post in posts])
        assert "Ada" in relay.wait(payers[0])[0].text
        assert posts[0].shop.events() == []
        assert not any(payer in done.stdout + done.stderr + httpd.log_text() for payer in payers)


def test_event_of_the_webhook_is_given_up(server):
    """After three days the merchant is notified which, why, and what to do; the command in the message works."""
    with Relay() as relay:
        httpd = server(mpm="event", start=False, extra=directives(relay) + INSECURE, env={
            "LD_PRELOAD": loaded("faults/preload_clock"), "PAYMENTS_CLOCK_FILE": "{root}/clock"})
        clock = httpd.root / "clock"
        clock.write_bytes(struct.pack("=q", 0))
        clock.chmod(0o644)
        httpd.start()
        post = Post(httpd, relay, receipts="off")
        port = closed_port()
        post.shop.webhook(f"http://localhost:{port}/hook")
        ref, _ = post.pay()
        waits = post.failed("webhook")
        with clock.open("r+b") as out:
            out.write(struct.pack("=q", 4 * DAY * 1_000_000))
        mails = relay.wait(post.merchant, 2)
        assert mails[1].header("subject") == f"[TEST] A webhook event of {post.shop.name} was given up"
        parked = post.parked()
        assert parked["id"] == waits["id"]
        for part in (mails[1].text, mails[1].html):
            for wanted in (waits["id"], ref, "transaction successful", parked["error"]):
                assert wanted in part, wanted
        [command] = re.findall(r"^ +paymentsctl (event retry .*)$", mails[1].text, re.M)
        httpd.ctl(*command.split())
        assert post.shop.events("--parked") == []
