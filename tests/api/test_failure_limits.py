# SPDX-License-Identifier: Apache-2.0
"""Payments that fail are counted (docs/directives.md, PaymentsFailureLimit): who tries out cards comes to an end."""

import http.client
import itertools
import json
import urllib.parse

import pytest

from dashboard import Person, settings
from exposition import OPEN, scrape
from harness import any_name, charge_body, wait_for
from payer import CARDS, FORM, Page, Payer
from test_ctl_live import Later
from test_errors import check_envelope
from test_page_link import Link
from upstream import live_reference
from upstream_proxy import own, problem

OFF = "PaymentsRateLimit public off\n"
INITIATE = "/api/v1/initiate"
LIMITED = "payments_failure_limited_total"


class From(http.client.HTTPConnection):
    """Calls of `httpd` from another address of this machine."""

    def __init__(self, httpd, address):
        super().__init__("127.0.0.1", httpd.port, timeout=20, source_address=(address, 0))
        self.httpd = httpd

    def ask(self, method, path, body=None, **headers):
        return self.httpd.request(method, path, body, list(headers.items()), self)

    def form(self, path, **fields):
        return self.ask("POST", path, urllib.parse.urlencode(fields), **{"Content-Type": FORM})


def initiate(visitor, key, email, reference=None):
    """A checkout by a public key."""
    body = {"transactionReference": reference or any_name("try-"), "amount": 5, "currency": "NGN",
            "redirectUrl": "https://shop.example/done",
            "checkoutCustomerData": {"email": email, "firstName": "A", "lastName": "B"}}
    return visitor.ask("POST", INITIATE, json.dumps(body), **{"Authorization": f"Bearer {key}",
                                                             "Content-Type": "application/json"})


def page_of(answer):
    return urllib.parse.urlsplit(answer.json["data"]["paymentRedirectUrl"]).path


def check_refused(answer, longest):
    check_envelope(answer, 429, "L2")
    assert 1 <= int(answer.header("retry-after")) <= longest, answer


def try_card(visitor, key, email, number=CARDS["declined"]):
    """One card at a checkout of Test Mode; the status of what refused it, 200 where it was declined."""
    made = initiate(visitor, key, email)
    if made.status != 200:
        return made
    done = visitor.form(page_of(made), action="card", number=number, expiry="12/40", csc="123")
    if done.status == 303:
        return visitor.ask("GET", page_of(made))
    return done


def emails():
    return (f"payer{number}@example.com" for number in itertools.count())


def audit(httpd, shop):
    listed = httpd.ctl("audit", "list", shop.name, "--json").stdout
    return [(one["who"], one["subject"], one["detail"]) for one in json.loads(listed) if one["what"] == "failure limit"]


@pytest.fixture
def limited(server):
    """A server whose Test Mode has limits, with a dashboard."""
    def make(limits, start=True, **options):
        httpd = server(start=False, **options)
        httpd.host_extra = f"{OFF}{OPEN}\nPaymentsFailureLimit {limits}\n{settings(httpd)}"
        return httpd.start() if start else httpd

    return make


# ---- card testing: many cards, one at a time

def test_card_testing_from_one_address(limited):
    """It ends at the address's limit, whatever e-mail address is given; a payer elsewhere pays."""
    httpd = limited("card off, address 4/10min, account off")
    shop, names = httpd.shop(), emails()
    visitor = From(httpd, "127.1.0.1")
    answers = [try_card(visitor, shop.public, next(names)).status for _ in range(8)]
    assert answers == [200] * 4 + [429] * 4
    refused = initiate(visitor, shop.public, next(names))
    check_refused(refused, 600)
    assert scrape(httpd)(LIMITED, kind="address") == 5
    good = try_card(From(httpd, "127.1.0.2"), shop.public, "ada@example.com", CARDS["approved"])
    assert Page(good, "").kind == "approved"
    [(who, subject, detail)] = audit(httpd, shop)
    assert (who, subject) == ("mod_payments", "address") and "127.1.0.*" in detail and "4 failures" in detail
    assert len([line for line in httpd.log_text().splitlines() if "PAY00750" in line]) == 1
    assert shop.charge(**charge_body()).status == 200  # the shop's server has an address of its own


def test_card_testing_from_many_addresses(limited):
    """The limit of each card ends it, whoever gives the card; a payer with another card pays."""
    httpd = limited("card 5/10min, address 4/10min, account 200/h")
    shop, names = httpd.shop(), emails()
    answers = [try_card(From(httpd, f"127.2.{number // 250}.{number % 250 + 1}"), shop.public, next(names),
                        CARDS["declined" if number % 2 else "poor"]).status for number in range(30)]
    assert answers == [200] * 10 + [429] * 20
    assert scrape(httpd)(LIMITED, kind="card") == 20
    good = try_card(From(httpd, "127.2.9.1"), shop.public, "ada@example.com", CARDS["approved"])
    assert Page(good, "").kind == "approved"


def test_card_testing_in_live_mode(till, upstream, proxy):
    """From 500 addresses with 500 e-mail addresses through a public key: nothing more reaches the acquirer from there,
    and a payer elsewhere is served.
    """
    httpd = till(host_extra=f"{OFF}{OPEN}\nPaymentsFailureLimit account 6/h\n")
    shop, names = httpd.live_shop, emails()
    public = shop.key("live", "public")
    statuses = []
    for number in range(500):
        visitor = From(httpd, f"127.3.{number // 250}.{number % 250 + 1}")
        made = initiate(visitor, public, next(names))
        statuses.append(made.status)
        if made.status == 200:
            path = page_of(made)
            where = urllib.parse.urlsplit(visitor.ask("GET", path).header("location"))
            payer = Payer(upstream, where.path)
            assert payer.card("declined").kind == "declined"
            returned = urllib.parse.urlsplit(payer.page().refresh().removeprefix("5; url="))
            assert visitor.ask("GET", f"{returned.path}?{returned.query}").status == 303
        else:
            check_refused(made, 3600)
        visitor.close()
    # One more from each network that is new, of which there are two.
    assert statuses == [200] * 6 + [429] * 244 + [200] + [429] * 249
    assert len([one for one in proxy.exchanges if one.line.startswith(f"POST {INITIATE} ")]) == 7
    assert scrape(httpd)(LIMITED, kind="account") == 493
    assert "PAY00751: a payment of account number 1 is refused by PaymentsFailureLimit account" in httpd.log_text()
    visitor = From(httpd, "127.9.0.1")
    path = page_of(initiate(visitor, public, "good@example.com"))
    payer = Payer(upstream, urllib.parse.urlsplit(visitor.ask("GET", path).header("location")).path)
    assert payer.card().kind == "approved"
    returned = urllib.parse.urlsplit(payer.page().refresh().removeprefix("5; url="))
    assert visitor.ask("GET", f"{returned.path}?{returned.query}").status == 303
    assert Page(visitor.ask("GET", path), path).kind == "approved"
    # New networks that go on to fail end it for all visitors.
    for number in range(3):
        visitor = From(httpd, f"127.10.{number}.1")
        made = initiate(visitor, public, next(names))
        if number < 2:
            payer = Payer(upstream, urllib.parse.urlsplit(visitor.ask("GET", page_of(made)).header("location")).path)
            assert payer.card("declined").kind == "declined"
            returned = urllib.parse.urlsplit(payer.page().refresh().removeprefix("5; url="))
            assert visitor.ask("GET", f"{returned.path}?{returned.query}").status == 303
    check_refused(made, 3600)
    sent = len(proxy.exchanges)
    # The shop's own server charges, refunds and asks as before.
    ref = live_reference()
    assert shop.charge(reference=ref).status == 200
    assert shop.partial(ref, "1.00").status == 200 and shop.verify(ref)["status"] == "successful"
    assert len(proxy.exchanges) > sent


def test_decline_that_reconciliation_learns_of_counts(till, upstream):
    """Whoever tries out cards does not come back from the acquirer's page."""
    httpd = till(start=False, host_extra=f"{OFF}{OPEN}\nPaymentsFailureLimit address 1/h\n", **Later.options)
    clock = Later(httpd)
    shop, visitor = httpd.start().live_shop, From(httpd, "127.4.0.1")
    public = shop.key("live", "public")
    made = initiate(visitor, public, "a@example.com")
    payer = Payer(upstream, urllib.parse.urlsplit(visitor.ask("GET", page_of(made)).header("location")).path)
    waits = initiate(visitor, public, "c@example.com")
    assert payer.card("declined").kind == "declined"
    clock.put(40)
    wait_for(lambda: "PAY00750" in httpd.log_text(), "reconciliation to learn of it")
    check_refused(initiate(visitor, public, "b@example.com"), 3600)
    # A checkout that was made before does not lead on to the acquirer's page either.
    page = Page(visitor.ask("GET", page_of(waits)), "")
    assert (page.status, page.heading) == (429, "Too many payments failed") and page.answer.header("retry-after")
    assert initiate(From(httpd, "127.4.0.2"), public, "b@example.com").status == 200


# ---- what is counted

def charge(shop, token, email="ada@example.com", **more):
    return shop.charge(**charge_body(token=token, email=email, **more))


def test_tokens_of_the_shop(limited):
    """By token and e-mail address, not by address: the shop's server has one. Unknown tokens count; replays do not."""
    httpd = limited("card 3/10min, address 1/10min, account off")
    shop, names = httpd.shop(), emails()
    first = any_name("first-")
    for number in range(3):
        ref = first if number == 0 else any_name("next-")
        assert charge(shop, "tok_test_declined", next(names), reference=ref).status == 200
    check_refused(charge(shop, "tok_test_declined", next(names)), 600)
    known = charge(shop, "tok_test_declined", "payer0@example.com", reference=first)
    assert known.status == 200 and known.header("idempotent-replayed") == "true", known.headers
    for _ in range(3):
        assert charge(shop, "tok_unknown_" + any_name(""), "mallory@example.com").status == 400
    check_refused(charge(shop, "tok_test_success", "Mallory@Example.com"), 600)
    assert charge(shop, "tok_test_success").status == 200
    assert [subject for _, subject, _ in audit(httpd, shop)] == ["card", "card"]
    assert "mallory" not in httpd.log_text().lower() and "mallory" not in json.dumps(audit(httpd, shop))


def test_one_time_codes(limited):
    httpd = limited("card off, address 3/10min")
    shop, names, visitor = httpd.shop(), emails(), From(httpd, "127.5.0.1")
    for _ in range(3):
        path = page_of(initiate(visitor, shop.public, next(names)))
        assert visitor.form(path, action="card", number=CARDS["code"], expiry="12/40", csc="123").status == 303
        assert visitor.form(path, action="code", code="000000").status == 303
    # One whose code is asked for already, and one that its shop's server made.
    path = page_of(json_of(shop, next(names)))
    page = Page(visitor.form(path, action="card", number=CARDS["approved"], expiry="12/40", csc="123"), path)
    assert (page.status, page.heading) == (429, "Too many payments failed")
    assert visitor.form(path, action="transfer", bankCode="000", accountNumber="0000000000").status == 429
    assert visitor.form(path, action="cancel").status == 303


def json_of(shop, email):
    return initiate(From(shop.httpd, "127.0.0.1"), shop.secret, email)


def test_link(limited):
    """A link that is tried out from many addresses is closed for a while; other links are not."""
    httpd = limited("card off, address off, link 3/1h, account off")
    shop, names = httpd.shop(), emails()
    link, other = Link(shop, "--amount", "5"), Link(shop, "--amount", "5")

    def begin(number, at):
        visitor = From(httpd, f"127.6.0.{number + 1}")
        made = visitor.form(at.path, email=next(names), firstName="A", lastName="B")
        if made.status == 303:
            path = urllib.parse.urljoin(at.path, made.header("location"))
            visitor.form(path, action="card", number=CARDS["declined"], expiry="12/40", csc="123")
        return made.status

    assert [begin(number, link) for number in range(5)] == [303] * 3 + [429] * 2
    assert begin(9, other) == 303
    [(_, subject, detail)] = audit(httpd, shop)
    assert subject == "link" and link.reference in detail


def test_account_above_its_limit(limited):
    """What failed a short while ago waits, of visitors and of the shop's server; and all visitors, once more of them fail."""
    httpd = limited("card 100/10min, account 3/10min")
    shop, other, names = httpd.shop(), httpd.shop(), emails()
    for _ in range(3):
        assert charge(shop, "tok_test_declined", next(names)).status == 200
    check_refused(initiate(From(httpd, "127.7.0.1"), shop.public, "payer1@example.com"), 600)
    for number, card in enumerate(("declined", "poor")):  # half of the limit, from networks where nobody failed
        visitor = From(httpd, f"127.7.{number}.1")
        assert try_card(visitor, shop.public, next(names), CARDS[card]).status == 200
        check_refused(initiate(From(httpd, f"127.7.{number}.2"), shop.public, "ada@example.com"), 600)
    check_refused(initiate(From(httpd, "127.7.9.1"), shop.public, "ada@example.com"), 600)
    check_refused(charge(shop, "tok_test_declined", "new@example.com"), 600)
    check_refused(charge(shop, "tok_test_success", "payer0@example.com"), 600)
    ref = any_name("good-")
    assert charge(shop, "tok_test_success", reference=ref).status == 200
    assert shop.call("POST", "/api/v1/refund", {"reference": ref}).status == 200
    assert json_of(shop, "ada@example.com").status == 200
    # Another account, and the other mode of this one, count for themselves.
    assert initiate(From(httpd, "127.7.0.1"), other.public, "ada@example.com").status == 200


def test_malfunction_is_nobodys_failure(limited):
    httpd = limited("card 1/10min")
    shop = httpd.shop()
    for _ in range(3):
        answer = charge(shop, "tok_test_error")
        assert answer.status == 202, answer


# ---- lifted, restarted, off

def test_block_is_lifted_on_the_dashboard(limited):
    httpd = limited("card 2/10min, account off")
    shop = httpd.shop()
    for user, role in (("oskar", "operator"), ("vera", "viewer")):
        httpd.ctl("account", "grant", shop.name, user, "--role", role, "--host", "localhost")
    oskar, vera = Person(httpd, "oskar"), Person(httpd, "vera")
    path = f"accounts/{shop.name}/test/blocked"
    assert oskar.get(path).json == {"items": [], "next": None}
    for _ in range(2):
        charge(shop, "tok_test_declined", "bob@example.com")
    check_refused(charge(shop, "tok_test_success", "bob@example.com"), 600)
    items = vera.get(path).json["items"]
    assert sorted(one["hint"] for one in items) == ["e-mail b*", "token *ined"]
    assert {one["kind"] for one in items} == {"card"}
    assert oskar.get(f"accounts/{shop.name}/live/blocked").json["items"] == []
    assert oskar.get(f"accounts/{shop.name}/test/overview").json["blocked"] == 2
    [mail] = [one for one in items if one["hint"] == "e-mail b*"]
    assert vera.post(f"{path}/{mail['id']}/lift").status == 403
    check_refused(charge(shop, "tok_test_success", "bob@example.com"), 600)
    lifted = oskar.post(f"{path}/{mail['id']}/lift")
    assert (lifted.status, lifted.json["lifted"]["hint"]) == (200, "e-mail b*")
    assert charge(shop, "tok_test_success", "bob@example.com").status == 200
    assert oskar.post(f"{path}/{mail['id']}/lift").status == 404
    other = httpd.shop()
    httpd.ctl("account", "grant", other.name, "oskar", "--role", "operator", "--host", "localhost")
    [token] = oskar.get(path).json["items"]
    for wrong in (token["id"].upper(), "card-", "nothing", "account-" + token["id"].partition("-")[2]):
        assert oskar.post(f"{path}/{wrong}/lift").status == 404, wrong
    assert oskar.post(f"accounts/{other.name}/test/blocked/{token['id']}/lift").status == 404
    check_refused(charge(shop, "tok_test_declined"), 600)
    [entry] = [one for one in json.loads(httpd.ctl("audit", "list", shop.name, "--json").stdout)
               if one["what"] == "failure limit lift"]
    assert (entry["who"], entry["subject"], entry["detail"]) == ("oskar", "card", "test: e-mail b*")


def test_reload_forgets_nothing(limited):
    httpd = limited("card 2/10min")
    shop = httpd.shop()
    charge(shop, "tok_test_declined", "bob@example.com")
    httpd.graceful()
    charge(shop, "tok_test_declined", "bob@example.com")
    httpd.graceful()
    check_refused(charge(shop, "tok_test_success", "bob@example.com"), 600)


def test_block_ends_by_itself(limited):
    httpd = limited("card 1/1s")
    shop = httpd.shop()
    charge(shop, "tok_test_declined", "bob@example.com")
    check_refused(charge(shop, "tok_test_success", "bob@example.com"), 1)
    wait_for(lambda: charge(shop, "tok_test_success", "bob@example.com").status == 200, "the block to end")


def test_test_mode_has_no_limit_of_its_own(server):
    """Tests decline on purpose."""
    shop = server().shop()
    assert {charge(shop, "tok_test_declined").status for _ in range(25)} == {200}
    assert charge(shop, "tok_test_success").status == 200


@pytest.mark.parametrize("limits, left", [("off", 0), ("", 5)], ids=["off", "default"])
def test_limits_of_live_mode(till, proxy, limits, left):
    httpd = till(host_extra=f"PaymentsFailureLimit {limits}\n" if limits else "")
    shop = httpd.live_shop
    statuses = [shop.charge(token="acq_declined", reference=live_reference()).status for _ in range(7)]
    assert statuses == ([200] * 5 + [429] * 2 if left else [200] * 7)
    assert len(proxy.of("charge")) == (left or 7)


def test_upstream_that_refuses_one_payer_is_not_left_alone(till, upstream, proxy):
    """Its 429 L2 is about the payment, which is declined by it; others go through at once."""
    httpd = till()
    shop = httpd.live_shop
    proxy.next("charge", own(429, problem("L2", "Too many payments failed."), more="Retry-After: 600\r\n"))
    answer = shop.charge(reference=live_reference())
    assert answer.status == 200 and answer.json["data"]["status"] == "failed", answer
    assert shop.charge(reference=live_reference()).status == 200
    assert len(proxy.of("charge")) == 2


# ---- the directive

GOOD = ["off", "card 5/10min, address 20/10min, account 200/h", "card 5/10min link off", "card 1/s,account off",
        "card 5/24h"]
WRONG = ["", "card", "card 0/h", "card 5/25h", "card 5/10m", "mail 5/h", "card 5/h card 6/h", "off card 5/h"]


def test_directive(server):
    httpd = server(start=False, host_extra="".join(f"PaymentsFailureLimit {text}\n" for text in GOOD))
    assert httpd.configtest().returncode == 0


@pytest.mark.parametrize("text", WRONG)
def test_wrong_directive(server, text):
    done = server(start=False, host_extra=f"PaymentsFailureLimit {text}\n").configtest()
    assert done.returncode != 0 and "PaymentsFailureLimit: want off, or card" in done.stderr, done.stderr
