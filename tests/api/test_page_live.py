# SPDX-License-Identifier: Apache-2.0
"""Live Mode's page sends the payer to the acquirer's, which is another mod_payments, and takes them back."""

import json
import urllib.parse
from concurrent.futures import ThreadPoolExecutor

import pytest

from exposition import OPEN, scrape
from harness import WAIT_S, beside, wait_for
from payer import Checkout, Page, Payer
from test_page import check_end
from test_ctl_live import HOUR, Later
from test_live_limits import instance
from test_page_link import ADA, Link
from upstream import live_reference
from upstream_proxy import Fault, Hold, closed_unanswered

SHOP_PAGE = "https://shop.example/done"
CARD = {"action": "card", "number": "4111111111111111", "expiry": "12/40", "csc": "123"}


@pytest.fixture
def shop(till):
    return till(host_extra="PaymentsRateLimit public off\n").live_shop


def at_acquirer(checkout, upstream):
    """The payer at the acquirer's page, as our page's answer says."""
    answer = checkout.get()
    assert (answer.status, answer.body) == (303, b"")
    where = urllib.parse.urlsplit(answer.header("location"))
    assert (where.scheme, where.path.rpartition("/")[0]) == ("https", "/payment/page")
    return Payer(upstream, where.path)


def back(payer):
    """The path at the shop's server that the acquirer's page leads to in the end."""
    where = urllib.parse.urlsplit(payer.page().refresh().removeprefix("5; url="))
    return f"{where.path}?{where.query}"


@pytest.mark.parametrize("card, kind, status, returned", [
    pytest.param("approved", "approved", "successful", "successful", id="approved"),
    pytest.param("declined", "declined", "failed", "failed", id="declined"),
])
def test_paid_at_the_acquirer(shop, upstream, card, kind, status, returned):
    checkout = Checkout(shop)
    payer = at_acquirer(checkout, upstream)
    assert payer.card(card).kind == kind
    path = back(payer)
    assert path.startswith(checkout.path + ".return?")
    answer = checkout.get(path)
    assert (answer.status, answer.header("location")) == (303, checkout.id + "?n=0")
    check_end(checkout.page(), checkout, kind, status, returned)
    assert "Test Mode" not in checkout.page().said()
    assert checkout.get().status == 200


def test_after_too_many_failures_nobody_is_led_there(till, upstream):
    shop = till(host_extra="PaymentsRateLimit public off\nPaymentsFailureLimit address 1/h\n").live_shop
    checkout, waits = Checkout(shop), Checkout(shop)
    payer = at_acquirer(checkout, upstream)
    assert at_acquirer(waits, upstream) and payer.card("declined").kind == "declined"
    assert checkout.get(back(payer)).status == 303
    answer = waits.get()
    assert answer.status == 429 and answer.header("location") is None and 0 < int(answer.header("retry-after")) <= 3600
    assert Page(answer, waits.path).heading == "Too many payments failed"


def test_no_card_is_taken_here(shop, upstream):
    """Whatever is sent is refused unread; it is neither stored nor logged."""
    checkout = Checkout(shop)
    answer = checkout.post(CARD)
    page = Page(answer, checkout.path)
    assert (page.status, page.forms()) == (403, {}) and "no card data" in page.heading
    assert Page(checkout.post({"action": "cancel"}), checkout.path).status == 403
    assert "PAY00593: refused unread: " in checkout.httpd.log_text()
    assert b"4111" not in answer.body and "4111111111111111" not in checkout.httpd.log_text()
    assert at_acquirer(checkout, upstream).card().kind == "approved"


def test_who_comes_back_without_having_paid_is_not_sent_round_in_circles(shop, upstream):
    checkout = Checkout(shop)
    page = checkout.page(checkout.path + ".return")
    assert (page.kind, page.refresh()) == ("pending", f"3; url={checkout.id}?n=1")
    links = [a["href"] for a in page.find("a")]
    assert links[0] == checkout.id + ".return" and links[1] == checkout.get().header("location")
    assert checkout.page(checkout.path + "?n=20").refresh() is None
    assert at_acquirer(checkout, upstream).card().kind == "approved"
    page = checkout.page(urllib.parse.urljoin(checkout.path, links[0]))
    assert (page.kind, checkout.status()) == ("approved", "successful")


def test_acquirer_that_does_not_say_is_asked_again(shop, upstream, proxy):
    checkout = Checkout(shop)
    payer = at_acquirer(checkout, upstream)
    payer.card()
    checkout.httpd.expect_log("PAY00400")
    proxy.next("query", closed_unanswered())
    assert checkout.page(back(payer)).kind == "pending"
    assert wait_for(lambda: checkout.page(back(payer)).kind == "approved", "the acquirer's word")


def test_token_of_an_erased_payer_is_charged_no_more(shop, upstream, proxy):
    """It is the acquirer's own, which would charge it: that it was this payer's is all that is kept of it."""
    checkout = Checkout(shop)
    payer = at_acquirer(checkout, upstream)
    payer.card()
    assert checkout.page(back(payer)).kind == "approved"
    card = {"token": checkout.state()["card"]["token"], "email": "ada@example.com"}
    assert shop.charge(reference=live_reference(), **card).status == 200
    sent = len(proxy.of("charge"))
    shop.httpd.ctl("payer", "erase", shop.name, "--email", "ada@example.com", "--yes")
    refused = shop.charge(reference=live_reference(), **card)
    assert refused.status == 400 and [one["field"] for one in refused.json["data"]["errors"]] == ["/token"]
    assert len(proxy.of("charge")) == sent
    listed = shop.httpd.ctl("token", "list", shop.name, "--mode", "live", "--json").stdout
    assert card["token"] not in listed and json.loads(listed) == []


def test_questions_for_payers_take_the_places_of_calls(till, upstream, proxy):
    """Whoever has the address can ask as often as he likes: half of PaymentsAcquirerMaxInFlight at a time, never the rest."""
    httpd = till(host_extra=f"PaymentsRateLimit public off\nPaymentsAcquirerMaxInFlight 4\n{OPEN}")
    checkout, hold = Checkout(httpd.live_shop), Hold()
    payer = at_acquirer(checkout, upstream)
    assert payer.card().kind == "approved"
    path = back(payer)
    proxy.fail(Fault(hold=hold), "query")
    answers = [beside(lambda: checkout.get(path).status) for _ in range(2)]
    wait_for(lambda: hold.waiting == 2, "two questions to hang")
    assert scrape(httpd)("payments_acquirer_in_flight", **instance(proxy)) == 2
    assert checkout.page(path).kind == "pending"
    assert httpd.live_shop.charge(reference=live_reference()).status == 200
    assert hold.waiting == 2
    hold.release()
    assert [answer.result(WAIT_S) for answer in answers] == [303, 303]
    proxy.heal()
    assert checkout.page().kind == "approved"


@pytest.mark.parametrize("how", ["expired", "voided"])
def test_closed_while_the_payer_was_at_the_acquirer(till, upstream, proxy, how):
    """The page never denies a payment that may exist: it says what to do, and asks the acquirer again."""
    httpd = till(start=False, host_extra="PaymentsRateLimit public off\nPaymentsCheckoutLifetime 1h\n", **Later.options)
    clock = Later(httpd)
    checkout = Checkout(httpd.start().live_shop, redirect=SHOP_PAGE)
    payer = at_acquirer(checkout, upstream)
    if how == "expired":
        clock.put(HOUR + 60)
        checkout.wait("abandoned")
    else:
        void = checkout.shop.call("POST", "/api/v1/void-transaction", {"transactionReference": checkout.reference})
        assert void.status == 200
    def verified():
        return checkout.shop.call("POST", "/api/v1/transaction/verify", {"transactionReference": checkout.reference},
                                  headers=[("Idempotency-Key", "verify-1")]).json["data"]["paymentStatus"]

    assert verified() == {"expired": "abandoned", "voided": "void"}[how]
    page = checkout.page(checkout.path + ".return")  # the acquirer says that it is pending
    assert (page.kind, page.heading, page.refresh()) == ("pending", "This payment page is closed", None)
    assert "do not pay again" in page.said() and "Nothing was paid" not in page.said()
    assert [one["href"] for one in page.find("a")] == [
        checkout.id + ".return", f"{SHOP_PAGE}?reference={checkout.reference}&status=pending"]
    assert payer.card().kind == "approved"
    page = checkout.page(checkout.path + ".return")
    assert (page.kind, checkout.status(), verified()) == ("approved", "successful", "successful")


def test_return_is_for_reading_only(shop):
    checkout = Checkout(shop)
    answer = checkout.post(CARD, path=checkout.path + ".return")
    assert (answer.status, answer.header("allow")) == (405, "GET, HEAD")
    assert Page(checkout.get(checkout.path + ".returned"), checkout.path).status == 404


def test_a_payment_link_leads_there_through_a_page(shop, upstream):
    """No redirect follows the form: browsers hold it to the form-action of the page that it was sent from."""
    link = Link(shop, "--amount", "1500", "--once", mode="live")
    assert "Test Mode" not in link.page().said()
    onward = Page(link.post(ADA), link.path)
    assert (onward.status, onward.find("form")) == (200, [])
    [way] = [one["href"] for one in onward.find("a")]
    assert onward.refresh() == "0; url=" + way
    checkout = Payer(link.httpd, urllib.parse.urljoin(link.path, way))
    payer = at_acquirer(checkout, upstream)
    assert payer.card().kind == "approved"
    assert checkout.page(back(payer)).kind == "approved"
    assert link.state()["state"] == "used"


def test_a_payment_link_that_is_pressed_twice(shop, proxy):
    """The second press comes while the acquirer is being asked for the page that the first one leads to."""
    link, hold = Link(shop, "--amount", "1500", "--once", mode="live"), Hold()
    proxy.next("other", Fault(hold=hold))
    with ThreadPoolExecutor() as pool:
        first = pool.submit(link.post, ADA)
        wait_for(lambda: hold.waiting == 1, "the acquirer to be asked")
        answer = link.post(ADA)
        hold.release()
        page = Page(answer, link.path)
        assert (page.status, answer.header("retry-after")) == (409, "1")
        assert "is being started" in page.heading and "load this page again" in page.said()
        assert first.result().status == 200
    assert Page(link.post(ADA), link.path).refresh() == Page(first.result(), link.path).refresh()


def test_a_once_link_whose_page_was_lost(shop, proxy):
    """Nobody has the page that the acquirer may have made, and yet it may be paid: the link waits until a person says no."""
    link = Link(shop, "--amount", "1500", "--once", mode="live")
    link.httpd.expect_log("PAY00400|PAY00570")
    proxy.next("other", closed_unanswered())
    assert link.post(ADA).status == 200  # to a page that says that it failed
    [lost] = [row for row in shop.rows("charge") if row["status"] == "failed"]
    bob = {**ADA, "email": "bob@example.com"}
    assert link.post(bob).status == 409
    link.httpd.ctl("charge", "resolve", shop.name, lost["reference"], "--mode", "live", "--outcome", "failed",
                   "--reason", "nobody has that page")
    assert link.post(bob).status == 200
    assert link.post(ADA).status == 409
    assert link.httpd.ctl("store", "check").returncode == 0


def test_a_once_link_whose_lost_page_was_paid(till, upstream, proxy):
    """It is found at the next question and waits for a person; until then nobody else pays this link."""
    httpd = till(host_extra="PaymentsRateLimit public off\nPaymentsLateApproval hold\n", clock=True)
    httpd.expect_log("PAY00400|PAY00423|PAY00570|PAY00710|PAY00171")
    shop = httpd.live_shop
    link = Link(shop, "--amount", "1500", "--once", mode="live")
    bob, eve = ({**ADA, "email": email} for email in ("bob@example.com", "eve@example.com"))
    proxy.next("other", closed_unanswered())
    assert link.post(ADA).status == 200
    [lost] = [row for row in shop.rows("charge") if row["status"] == "failed"]
    assert link.post(bob).status == 409
    page = upstream.call("POST", "/api/v1/initiate", proxy.of("other")[-1].body)  # that was made, and nobody got
    paid = Payer(upstream, urllib.parse.urlsplit(page.json["data"]["paymentRedirectUrl"]).path)
    assert paid.card().kind == "approved"
    httpd.clock.pass_seconds(6 * HOUR + 60)
    [held] = wait_for(shop.rows_held, "it to be found")
    assert (held["reference"], held["why"], held["status"]) == (lost["reference"], "late", "failed")
    assert link.post(eve).status == 409
    httpd.ctl("charge", "resolve", shop.name, lost["reference"], "--mode", "live", "--outcome", "failed", "--reason",
              "given back at the acquirer")
    assert link.post(eve).status == 200 and link.post(bob).status == 409
    assert httpd.ctl("store", "check").returncode == 0
