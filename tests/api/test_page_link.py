# SPDX-License-Identifier: Apache-2.0
"""The page of a payment link, and the whole circle: link, checkout, token, charge, refund, webhook."""

import json
import urllib.parse

import pytest

from harness import charge_body
from payer import Page, Payer, check_headers_of_redirect
from receiver import Receiver
from shares import ALIKE

pytestmark = ALIKE

MARKUP = "<b>\"'&"
ADA = {"email": "ada@example.com", "firstName": "Ada", "lastName": "Obi"}
OTHER_ORIGIN = "PAY00600: refused: the form of a payment link's page was sent from a page of another origin"


class Link(Payer):
    """A fresh link of `shop`, and a payer at its page."""

    def __init__(self, shop, *args, mode="test"):
        self.shop, self.mode = shop, mode
        made = json.loads(shop.httpd.ctl("link", "create", shop.name, "--mode", mode, *args, "--json").stdout)
        self.reference = made["reference"]
        super().__init__(shop.httpd, made["url"])

    def state(self):
        return json.loads(self.shop.httpd.ctl("link", "show", self.shop.name, self.reference, "--mode", self.mode,
                                              "--json").stdout)

    def disable(self):
        self.shop.httpd.ctl("link", "disable", self.shop.name, self.reference, "--mode", self.mode)

    def begin(self, **fields):
        """The payer at the page of an own checkout; a Page where there is none."""
        answer = self.post({**ADA, **fields})
        if answer.status != 303:
            return Page(answer, self.path)
        check_headers_of_redirect(answer)
        return Payer(self.httpd, urllib.parse.urljoin(self.path, answer.header("location")))


def names(page):
    return [one["name"] for one in page.find("input")]


def charges(shop):
    return json.loads(shop.httpd.ctl("charge", "list", shop.name, "--mode", "test", "--json").stdout)


def test_form(seller):
    page = Link(seller, "--amount", "1500", "--title", "Shoes", "--description", "One pair").page()
    assert (page.status, page.heading, page.refresh(), page.faults()) == (200, "Shoes", None, [])
    assert names(page) == ["email", "firstName", "lastName"]
    assert "NGN 1,500.00" in page.said() and "One pair" in page.said() and "Test Mode" in page.said()
    assert {one["for"] for one in page.find("label")} == {one["id"] for one in page.find("input")}
    tokens = [one["autocomplete"] for one in page.find("input")]
    assert tokens == ["email", "given-name", "family-name"]
    page = Link(seller).page()
    assert page.heading == f"Pay {seller.name}" and names(page) == ["amount", "email", "firstName", "lastName"]
    assert "Amount (NGN)" in page.said()


@pytest.fixture
def receiver(seller):
    """The events at the seller's webhook in Test Mode."""
    with Receiver() as here:
        here.secret = seller.webhook(here.url())
        yield here
        seller.webhook_off()


def test_the_whole_circle(seller, receiver):
    link = Link(seller, "--amount", "1500", "--once", "--redirect", "https://shop.example/thanks")
    payer = link.begin()
    assert payer.card().kind == "approved"
    assert (link.state()["paid"], link.state()["state"]) == (1, "used")
    [charge] = charges(seller)
    found = seller.call("GET", f"/api/v1/transaction/{charge['reference']}/verify").json["data"]
    assert (found["status"], found["redirectUrl"]) == ("successful", "https://shop.example/thanks")
    again = seller.charge(**charge_body(token=found["card"]["token"], email=ADA["email"], amount=20, reference="again"))
    assert again.json["data"]["status"] == "successful"
    refund = seller.call("POST", "/api/v1/refund", {"reference": charge["reference"]})
    assert (refund.status, refund.json["status"]) == (200, "processed")
    assert link.state()["state"] == "used"
    page = link.page()
    assert page.kind == "expired" and "paid already" in page.heading and not page.find("form")
    receiver.wait_taken(4)
    told = [(one.reference, *one.what) for one in receiver.got]
    assert [what for name, *what in told if name == charge["reference"]] == [
        ["transaction", "successful"], ["refund", "processed"], ["transaction", "reversed"]]
    assert [what for name, *what in told if name == "again"] == [["transaction", "successful"]]
    assert len(told) == 4 and all(one.check(receiver.secret) for one in receiver.got)


def test_an_open_amount(seller):
    link = Link(seller)
    payer = link.begin(amount=" 12.5 ")
    assert "NGN 12.50" in payer.page().said()
    assert payer.cancel().kind == "cancelled"
    assert link.state()["paid"] == 0


def test_the_amount_of_a_fixed_link_is_not_the_payers(seller):
    assert "NGN 1,500.00" in Link(seller, "--amount", "1500").begin(amount="1").page().said()


@pytest.mark.parametrize("fields, faults", [
    pytest.param({"amount": ""}, ["amount"], id="no amount"),
    pytest.param({"amount": "0"}, ["amount"], id="nothing"),
    pytest.param({"amount": "1.234"}, ["amount"], id="decimals"),
    pytest.param({"email": "nobody"}, ["email"], id="no e-mail"),
    pytest.param({"firstName": "", "lastName": ""}, ["firstName", "lastName"], id="no name"),
    pytest.param({"firstName": "5555555555554444"}, ["firstName"], id="a card number"),
    pytest.param({"lastName": "a" * 101}, ["lastName"], id="a long name"),
    pytest.param({"lastName": "Obi 5555-5555-5555-4444"}, ["lastName"], id="a card number in a name"),
    pytest.param({"firstName": "A\u202eda"}, ["firstName"], id="a name turned round"),
])
def test_faults(seller, fields, faults):
    page = Link(seller).begin(**{"amount": "10", **fields})
    assert (page.status, page.faults()) == (400, faults)
    kept = {one["name"]: one["value"] for one in page.find("input")}
    assert kept == {**{"amount": "10"}, **ADA, **{name: "" for name in faults}}
    assert "5555555555554444" not in page.text
    assert charges(seller) == []


def test_markup_in_every_field(seller):
    link = Link(seller, "--title", MARKUP + "t", "--description", MARKUP + "d")
    assert link.page().heading == MARKUP + "t" and MARKUP + "d" in link.page().said()
    page = link.begin(amount="x", firstName=MARKUP, lastName=MARKUP)
    assert {one["name"]: one["value"] for one in page.find("input")}["firstName"] == MARKUP
    assert "<b>" not in page.text


def test_links_that_are_closed(seller):
    link = Link(seller, "--amount", "1500")
    begun = link.begin()
    link.disable()
    page = link.page()
    assert (page.status, page.kind) == (200, "expired") and "closed" in page.heading and not page.find("form")
    answer = link.begin()
    assert answer.status == 409 and "disabled" in answer.said()
    assert begun.card().kind == "approved"  # who has begun may finish


def test_one_payer_at_a_time(seller):
    link = Link(seller, "--amount", "1500", "--once")
    first = link.begin()
    assert link.begin().path == first.path
    answer = link.begin(email="bob@example.com")
    assert answer.status == 409 and "another payer" in answer.said()
    first.cancel()
    assert link.begin(email="bob@example.com").card().kind == "approved"
    assert link.begin().status == 409
    assert link.state()["paid"] == 1


@pytest.mark.parametrize("headers, status", [
    pytest.param([("Origin", "https://elsewhere.example")], 403, id="another origin"),
    pytest.param([("Sec-Fetch-Site", "cross-site")], 403, id="another site"),
    pytest.param([], 303, id="no word of it"),
])
def test_only_our_own_pages_send_forms(seller, headers, status):
    link = Link(seller, "--amount", "1500")
    told = link.httpd.log_text().count(OTHER_ORIGIN)
    assert link.post(ADA, headers).status == status
    assert link.httpd.log_text().count(OTHER_ORIGIN) == told + (status == 403)
    assert len(charges(seller)) == (status == 303)


def test_methods_and_names(seller):
    link = Link(seller)
    assert link.get(method="DELETE").status == 405
    assert link.get(link.path + ".return").status == 404
    assert link.get(method="HEAD").status == 200 and link.get(method="HEAD").body == b""
    assert link.post("firstName=%ff&lastName=b&amount=1&email=a@b.example").status == 400
    assert link.post("email=a&email=b").status == 400
