# SPDX-License-Identifier: Apache-2.0
"""The hosted payment page of Test Mode (docs/checkout.md): what a payer sees and does, from the form to the shop."""

import urllib.parse

import pytest

from harness import TOP, wait_for
from payer import CARDS, Checkout, Page
from shares import ALIKE
from test_http2 import curl

pytestmark = ALIKE

CARD = "action=card&number=5555555555554444&expiry=12/40&csc=123"

BACK = "https://shop.example/done?reference={}&status={}"


def check_end(page, checkout, kind, status, returned):
    """A result: it says so in words, and leads back to the shop by a link and by itself."""
    back = BACK.format(checkout.reference, returned)
    assert (page.status, page.kind, page.forms()) == (200, kind, {})
    assert page.refresh() == "5; url=" + back
    assert [a["href"] for a in page.find("a")] == [back]
    assert f"Return to {checkout.shop.name}" in page.of("a")
    assert checkout.status() == status


def test_form(checkout):
    page = checkout.page()
    assert (page.status, page.kind, page.refresh(), page.faults()) == (200, None, None, [])
    assert page.forms() == {"card": ["number", "expiry", "csc"], "transfer": ["bankCode", "accountNumber"], "cancel": []}
    tokens = {one["name"]: one.get("autocomplete") for one in page.find("input")}
    assert (tokens["number"], tokens["expiry"], tokens["csc"]) == ("cc-number", "cc-exp", "cc-csc")
    assert all(one.get("inputmode") == "numeric" and "value" not in one
               for one in page.find("input") if one["type"] != "hidden")
    assert {one["for"] for one in page.find("label")} == {one["id"] for one in page.find("input") if "id" in one}
    assert page.heading == f"Pay {checkout.shop.name}" and "NGN 1,500.00" in page.said()
    assert page.of("title") == f"Pay NGN 1,500.00 \u2013 {checkout.shop.name}"
    assert all(form["action"] == checkout.id for form in page.find("form"))


def test_test_mode_is_unmistakable_and_tells_its_cards(checkout):
    page = checkout.page()
    assert page.find("header") == [{"class": "ribbon"}] and "Test Mode" in page.said()
    told = [word.replace(" ", "") for tag, word in page.words if tag == "code"]
    assert told == [card.replace(" ", "") for card in CARDS.values()]


@pytest.mark.parametrize("card, kind, status, returned, says", [
    pytest.param("approved", "approved", "successful", "successful", "approved", id="approved"),
    pytest.param("declined", "declined", "failed", "failed", "declined", id="declined"),
    pytest.param("poor", "declined", "failed", "failed", "nsufficient", id="insufficient funds"),
    pytest.param("expired", "declined", "failed", "failed", "xpired", id="an expired card"),
])
def test_card(checkout, card, kind, status, returned, says):
    page = checkout.card(card)
    check_end(page, checkout, kind, status, returned)
    assert says in page.said() and "NGN 1,500.00" in page.said() and checkout.reference in page.said()
    assert "ending in " + CARDS[card][-4:] in page.said()
    state = checkout.state()
    assert (state["channel"], state["card"]["last4Digits"]) == ("card", CARDS[card][-4:])
    assert bool(state["card"]["token"]) == (kind == "approved")


def test_card_without_an_answer_is_awaited(checkout):
    page = checkout.card("silent")
    assert (page.kind, page.forms(), page.refresh()) == ("pending", {}, f"3; url={checkout.id}?n=1")
    assert "do not pay again" in page.said()
    checkout.wait("successful")
    check_end(checkout.page(), checkout, "approved", "successful", "successful")


def waiting_page(seller, query):
    """The page, by a query, while it waits; a checkout whose answer was there before is not looked at."""
    for _ in range(10):
        checkout = Checkout(seller)
        checkout.card("silent")
        page = checkout.page(f"{checkout.path}?{query}")
        checkout.wait("successful")
        if page.kind == "pending":
            return checkout, page
    raise AssertionError("no page waited")


@pytest.mark.parametrize("turn", [1, 19])
def test_waiting_page_counts_its_turns(seller, turn):
    checkout, page = waiting_page(seller, f"n={turn}")
    assert page.refresh() == f"3; url={checkout.id}?n={turn + 1}"


@pytest.mark.parametrize("query", ["n=20", "n=99"])
def test_waiting_page_at_its_last_turn_loads_itself_no_more(seller, query):
    _, page = waiting_page(seller, query)
    assert page.refresh() is None and "longer than usual" in page.said()


@pytest.mark.parametrize("query", ["n=", "n=1x", "n=-1", "n=100", "m=1", "n=1&n=2"])
def test_other_queries_mean_nothing(seller, checkout, query):
    assert checkout.page(f"{checkout.path}?{query}").forms()["card"]
    other, page = waiting_page(seller, query)
    assert page.refresh() == f"3; url={other.id}?n=1"


@pytest.mark.parametrize("code, kind, status, returned", [
    pytest.param("123456", "approved", "successful", "successful", id="right"),
    pytest.param("000000", "declined", "failed", "failed", id="wrong"),
])
def test_one_time_code(checkout, code, kind, status, returned):
    page = checkout.card("code")
    assert page.forms() == {"code": ["code"], "cancel": []} and checkout.status() == "pending"
    assert page.find("input")[1]["autocomplete"] == "one-time-code"
    assert checkout.page().text == page.text  # reload and back show the state as it is
    check_end(checkout.code(code), checkout, kind, status, returned)


def test_code_that_is_left_out(checkout):
    checkout.card("code")
    page = checkout.code("")
    assert (page.status, page.faults(), page.forms()) == (400, ["code"], {"code": ["code"], "cancel": []})
    assert "Not paid yet" in page.of("title")
    assert checkout.code().kind == "approved"


def test_bank_transfer(checkout):
    check_end(checkout.transfer(), checkout, "approved", "successful", "successful")
    assert "Bank transfer" in checkout.page().said()
    assert (checkout.state()["channel"], checkout.state()["card"]["token"]) == ("bank_transfer", "")


def test_cancel(checkout):
    check_end(checkout.cancel(), checkout, "cancelled", "abandoned", "cancelled")
    check_end(checkout.card(), checkout, "cancelled", "abandoned", "cancelled")


def test_cancel_at_the_code(checkout):
    checkout.card("code")
    check_end(checkout.cancel(), checkout, "cancelled", "abandoned", "cancelled")


def test_closed_by_the_shop(checkout):
    assert checkout.shop.call("POST", "/api/v1/void-transaction", {"transactionReference": checkout.reference}).status == 200
    check_end(checkout.page(), checkout, "cancelled", "void", "cancelled")
    assert "closed" in checkout.page().heading
    assert checkout.card().kind == "cancelled" and checkout.status() == "void"


def test_refunded(checkout):
    checkout.card()
    checkout.shop.refund(checkout.reference, "500")
    page = checkout.page()
    assert page.kind == "approved" and "Refunded NGN 500.00" in page.said()


def test_token_of_a_payment_charges_its_payer(checkout):
    checkout.card()
    token = checkout.state()["card"]["token"]
    charged = checkout.shop.charge(token=token, email="Ada@example.com")
    assert (charged.status, charged.json["data"]["paymentStatus"]) == (200, "successful")
    assert checkout.shop.charge(token=token, email="eve@example.com").status == 400


def test_without_redirect_url(seller):
    checkout = Checkout(seller, redirect=None)
    page = checkout.card()
    assert (page.kind, page.refresh(), page.find("a")) == ("approved", None, [])
    assert "close this page" in page.said()


def test_redirect_url_keeps_its_query(seller):
    checkout = Checkout(seller, redirect="https://shop.example/done?a=1&b=%3C")
    page = checkout.card()
    want = f"https://shop.example/done?a=1&b=%3C&reference={checkout.reference}&status=successful"
    assert page.refresh() == "5; url=" + want and page.find("a")[0]["href"] == want


def test_redirect_url_that_anybody_may_have_chosen_is_asked_about(seller):
    checkout = Checkout(seller, key=seller.public, redirect="https://elsewhere.example:8443/done?a=1#b")
    page = checkout.card()
    assert (page.kind, page.refresh(), page.of("a")) == ("approved", None, "Go back to elsewhere.example:8443")
    assert page.find("a")[0]["href"].startswith("https://elsewhere.example:8443/done?a=1")
    assert "The way back leads to elsewhere.example:8443." in page.said() and "in a few seconds" not in page.said()


def test_redirect_url_with_a_capital(seller):
    checkout = Checkout(seller, redirect="Https://shop.example/done")  # as telephones write it
    assert checkout.card().refresh().startswith("5; url=Https://shop.example/done?reference=")


def test_expired(server):
    httpd = server(extra="PaymentsCheckoutLifetime 1s\nPaymentsRateLimit public off\n")
    checkout = Checkout(httpd.shop())
    wait_for(lambda: checkout.page().kind == "expired", "the page to expire")
    page = checkout.card()
    assert (page.kind, page.forms()) == ("expired", {})
    checkout.wait("abandoned")
    check_end(checkout.page(), checkout, "expired", "abandoned", "cancelled")


@pytest.mark.parametrize("fields, faults", [
    pytest.param({}, ["csc", "expiry", "number"], id="nothing"),
    pytest.param({"number": "4111111111111111"}, ["number"], id="a real card"),
    pytest.param({"number": ""}, ["number"], id="no number"),
    pytest.param({"expiry": "01/20"}, ["expiry"], id="over"),
    pytest.param({"expiry": "1340"}, ["expiry"], id="month 13"),
    pytest.param({"csc": "12"}, ["csc"], id="a short code"),
    pytest.param({"number": "<b>", "expiry": "\"'><script>", "csc": "&"}, ["csc", "expiry", "number"], id="markup"),
])
def test_faults_of_a_card(checkout, fields, faults):
    given = {"number": CARDS["approved"], "expiry": "12/40", "csc": "7531", **fields} if fields else {}
    answer = checkout.post({"action": "card", **given})
    page = Page(answer, checkout.path)
    assert (page.status, page.faults()) == (400, faults)
    assert not [one for one in ("4111", "01/20", "1340", "7531", "<b>", "'>") if one in page.text]
    assert all("value" not in one for one in page.find("input") if one["type"] != "hidden")
    assert checkout.status() == "pending"
    assert checkout.card().kind == "approved"


def test_faults_of_a_transfer(checkout):
    page = checkout.transfer("001", "1")
    assert (page.status, page.faults()) == (400, ["accountNumber", "bankCode"])
    assert {"class": "choice", "open": None} in page.find("details")
    assert checkout.transfer().kind == "approved"


def test_what_was_sent_from_an_old_page_changes_nothing(checkout):
    checkout.card()
    for page in (checkout.card("declined"), checkout.card("4111111111111111"), checkout.code("1"), checkout.transfer("9"),
                 checkout.cancel()):
        assert page.kind == "approved"
    assert checkout.status() == "successful"


def test_head_is_get_without_a_body(checkout):
    head, got = checkout.get(method="HEAD"), checkout.get()
    assert (head.status, head.body) == (200, b"")
    assert head.header("content-length") == got.header("content-length") == str(len(got.body))
    assert head.header("content-security-policy") == got.header("content-security-policy")


def test_connection_is_kept(checkout):
    connection = checkout.httpd.connect()
    for _ in range(3):
        assert checkout.httpd.request("GET", checkout.path, connection=connection).status == 200
        assert checkout.httpd.request("POST", checkout.path, "action=card", connection=connection,
                                      headers=[("Content-Type", "application/x-www-form-urlencoded")]).status == 400
    connection.close()


def test_style_sheet(checkout):
    href = checkout.page().find("link")[0]["href"]
    path = urllib.parse.urljoin(checkout.path, href)
    answer = checkout.get(path)
    assert (answer.status, answer.header("content-type")) == (200, "text/css; charset=utf-8")
    assert answer.header("x-content-type-options") == "nosniff"
    assert int(answer.header("content-length")) == len(answer.body)
    assert answer.body == b"".join((TOP / "share" / name).read_bytes()
                                   for name in ("dashboard/assets/tokens.css", "checkout/checkout.css"))
    refused = checkout.post("", path=path)
    assert (refused.status, refused.header("allow")) == (405, "GET, HEAD")


@pytest.mark.parametrize("mpm", ["event", "worker"])  # mod_http2 works with threads
def test_over_http2(server, mpm):
    checkout = Checkout(server(mpm=mpm, extra="PaymentsRateLimit public off\n").shop())
    status, media, text, _ = curl(checkout.shop, checkout.path)
    assert (status, media, "<form" in text) == (200, "text/html; charset=utf-8", True)
    for body, want in (("action=card", 400), ("x" * 70_000, 413), (CARD, 303)):
        assert curl(checkout.shop, checkout.path, "-d", body)[0] == want
    assert checkout.status() == "successful"
