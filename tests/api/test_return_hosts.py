# SPDX-License-Identifier: Apache-2.0
"""Where payers go in the end (docs/checkout.md, "The way back"): a public key leads nobody astray."""

import json

import pytest

from harness import link_body, order_body, reference
from payer import Checkout, Payer
from shares import ALIKE
from test_page import check_end
from test_page_link import Link
from test_page_live import at_acquirer, back
from upstream import live_reference

pytestmark = ALIKE

PHISH = "https://phish.example/login?from=shop"
REASON = "must name a host that the shop has listed"


def check_asked(page, host, url):
    """A result that leads nowhere by itself, says where the link leads, and does not call it the shop's."""
    assert page.refresh() is None and "in a few seconds" not in page.said()
    [link] = page.find("a")
    assert link["href"].startswith(url) and link["rel"] == "noreferrer"
    assert page.of("a") == f"Go back to {host}"
    assert f"The way back leads to {host}." in page.said()


def faults(answer):
    return [(one["field"], one["reason"]) for one in answer.json["data"]["errors"]]


@pytest.mark.parametrize("how", ["approved", "declined", "cancelled"])
def test_a_public_keys_payer_is_asked(shop, how):
    checkout = Checkout(shop, key=shop.public, redirect=PHISH)
    page = checkout.cancel() if how == "cancelled" else checkout.card(how)
    assert page.kind == how
    check_asked(page, "phish.example", PHISH + "&reference=")


@pytest.mark.parametrize("url, host", [
    ("https://SHOP.Example:443/x", "shop.example"), ("https://shop.example:8443/x", "shop.example:8443"),
    ("https://xn--shp-tna.example./x", "xn--shp-tna.example"), ("http://localhost:3000/x", "localhost:3000"),
    ("https://[2001:db8::1]:8443/x", "[2001:db8::1]:8443"),
    ("https://" + ("a" * 50 + ".") * 4 + "example/x", ("a" * 50 + ".") * 4 + "example"),
    ("https://shop.example/" + "x" * 979, "shop.example"),
])
def test_what_the_payer_is_told(shop, url, host):
    check_asked(Checkout(shop, key=shop.public, redirect=url).card(), host, url)


def test_a_secret_keys_word_is_the_shops(shop):
    checkout = Checkout(shop)
    check_end(checkout.card(), checkout, "approved", "successful", "successful")


def test_a_links_own_is_the_shops(shop):
    """But one that a public key's request names instead is not; asked again it is what it was."""
    link = Link(shop, "--amount", "1500", "--currency", "NGN", "--redirect", "https://shop.example/thanks")
    page = link.begin().card()
    assert page.refresh().startswith("5; url=https://shop.example/thanks?reference=link_")
    for key, redirect, asks in ((shop.public, None, False), (shop.public, PHISH, True), (shop.secret, PHISH, False)):
        body = link_body(link.reference, amount=1500, redirectUrl=redirect)
        answer = shop.call("POST", "/api/v1/paymentlink/initiate", body, key=key)
        assert answer.status == 200, answer
        payer = Payer(shop.httpd, "/payment/page/" + answer.json["data"]["paymentRedirectUrl"].partition("?")[0].rpartition("/")[2])
        page = payer.card()
        assert (page.refresh() is None) == asks, (key, redirect)


def test_listed_by_the_account(shop):
    """The list is set as a whole and shown, holds at the next request, and leaves secret keys alone."""
    def listed(*hosts):
        options = [part for host in hosts for part in ("--return-host", host)]
        return json.loads(shop.httpd.ctl("account", "set", shop.name, *options, "--json").stdout)["returnHosts"]

    def ask(url, key=None):
        return shop.call("POST", "/api/v1/initiate", key=key or shop.public, body={
            "transactionReference": reference(), "amount": 10, "currency": "NGN", "redirectUrl": url,
            "checkoutCustomerData": {"email": "ada@example.com", "firstName": "Ada", "lastName": "Obi"}})

    before = Checkout(shop, key=shop.public, redirect=PHISH)
    assert listed("Shop.Example.", "*.shops.example", "localhost:3000") == [
        "shop.example", "*.shops.example", "localhost:3000"]
    for url in ("https://shop.example/", "https://SHOP.example:443/", "https://a.b.shops.example/x", "http://localhost:3000/"):
        assert ask(url).status == 200, url
    for url in (PHISH, "https://shop.example.phish.example/", "https://evilshop.example/", "https://shops.example/",
                "https://shop.example:8443/", "https://localhost/", "https://phish.example/?https://shop.example/"):
        answer = ask(url)
        assert (answer.status, answer.json["data"]["responseCode"]) == (400, "T1")
        assert faults(answer) == [("/redirectUrl", REASON)], url
        assert ask(url, shop.secret).status == 200
    assert ask("https://shop.example@phish.example/").status == 400
    assert ask("https://phish.example\\@shop.example/").status == 400
    body = order_body(payment={"RedirectUrl": PHISH})
    assert faults(shop.call("POST", "/payment/order/create", body, key=shop.public)) == [("/payment/RedirectUrl", REASON)]
    checkout = Checkout(shop, key=shop.public)
    check_end(checkout.card(), checkout, "approved", "successful", "successful")
    check_asked(before.card(), "phish.example", PHISH)  # it is judged when the checkout is made
    assert listed("") == [] and ask(PHISH).status == 200


@pytest.mark.parametrize("host", ["https://shop.example", "*", "*.example", "bücher.example", "a@b.example"])
def test_no_host(shop, host):
    done = shop.httpd.ctl("account", "set", shop.name, "--return-host", "shop.example", "--return-host", host, check=False)
    assert done.returncode == 6 and "--return-host: want" in done.stderr
    assert json.loads(shop.httpd.ctl("account", "show", shop.name, "--json").stdout)["returnHosts"] == []


def test_listed_by_the_server(server):
    """Beside what the account lists."""
    shop = server(host_extra="PaymentsReturnHosts shop.example *.shop.example\nPaymentsReturnHosts localhost:3000").shop()
    for url in ("https://shop.example/done", "https://www.shop.example/", "http://localhost:3000/"):
        assert Checkout(shop, key=shop.public, redirect=url).card().refresh().startswith("5; url=" + url)
    asked = {"key": shop.public, "redirect": PHISH}
    with pytest.raises(AssertionError, match=REASON):
        Checkout(shop, **asked)
    shop.httpd.ctl("account", "set", shop.name, "--return-host", "phish.example")
    assert Checkout(shop, **asked).card().refresh().startswith("5; url=" + PHISH)


def test_live_mode(till, upstream):
    """The way back through {id}.return is no other; a public key names https only."""
    shop = till(host_extra="PaymentsRateLimit public off\n").live_shop
    checkout = Checkout(shop, key=shop.live_public, redirect=PHISH, reference=live_reference())
    payer = at_acquirer(checkout, upstream)
    payer.card()
    answer = checkout.get(back(payer))
    assert (answer.status, answer.header("location")) == (303, checkout.id + "?n=0")
    page = checkout.page()
    assert page.kind == "approved"
    check_asked(page, "phish.example", PHISH)
    with pytest.raises(AssertionError, match="must be an https URL"):
        Checkout(shop, key=shop.live_public, redirect="http://shop.example/done")
    checkout = Checkout(shop, redirect="http://shop.example/done")
    assert at_acquirer(checkout, upstream).card().kind == "approved"
