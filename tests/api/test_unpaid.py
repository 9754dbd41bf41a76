# SPDX-License-Identifier: Apache-2.0
"""Unpaid is never paid: what shop plugins make of each state, and open checkouts, which are not pending.

Two WooCommerce plugins are in use. Both ask verify, when the payer returns and when a webhook comes, and decide by a few
words; RETURN and WEBHOOK below are those decisions. Whatever a checkout or charge can be in here is put before them.
"""

import csv
import io
import urllib.parse

import pytest

from ctl_program import TEST_MODE, Ctl
from dashboard import Person, settings
from exposition import OPEN, scrape
from harness import TOP, any_name, wait_for
from payer import Checkout
from receiver import INSECURE, Receiver
from shares import ALIKE
from test_ctl_live import HOUR, Desk as Books, Later
from test_page_live import at_acquirer
from test_status import STATUS, auto
from upstream import EMAIL, live_reference
from upstream_proxy import own

pytestmark = ALIKE

GOES_ON = object()  # no word of the plugin's: what was verified is compared with the order
STATES = ("pending", "successful", "failed", "reversed", "void", "abandoned")
AMOUNT = 1500

# What each plugin does with a word of data.status, and which amount it compares when it goes on.
RETURN = {
    "older": ({"pending": "unpaid", "failed": "failed"}, "requested_amount"),
    "newer": ({"pending": "unpaid", "failed": "failed"}, "amount"),
}
WEBHOOK = {
    "older": ({}, "requested_amount"),  # it notes that a payment failed, and goes on
    "newer": ({"successful": GOES_ON, "pending": "on-hold", "cancelled": "cancelled", "abandoned": "failed",
               "failed": "failed", "reversed": "on-hold"}, "amount"),
}


def compare(data, member):
    if not data["status"]:
        return "unpaid"
    return "paid" if data["currency"] == "NGN" and abs(float(data[member]) - AMOUNT) < 0.01 else "on-hold"


def on_return(plugin, verified, query):
    """The state of a waiting order after its payer opens the return address with that query."""
    words, member = RETURN[plugin]
    word = verified["data"]["status"]
    if query.get("status") == "cancelled" and word in ("cancelled", "pending"):
        return "cancelled"
    if plugin == "older" and word == "failed":
        assert len(verified["log"]["history"]) == 0, "the reason that it shows"
    return words.get(word) or compare(verified["data"], member)


def on_webhook(plugin, verified, event):
    """The state of an order that waits, or that its staff cancelled, after the event arrives; it asks verify."""
    if event["notify"] != "transaction":
        return "unpaid"
    words, member = WEBHOOK[plugin]
    known = words.get(verified["data"]["status"], "on-hold" if words else GOES_ON)
    return compare(verified["data"], member) if known is GOES_ON else known


# (plugin, way): what it makes of each state of ours.
WANT = {
    ("older", "return"): {"pending": "unpaid", "successful": "paid", "failed": "failed", "reversed": "on-hold",
                          "void": "failed", "abandoned": "failed"},
    ("newer", "return"): {"pending": "unpaid", "successful": "paid", "failed": "failed", "reversed": "paid",
                          "void": "failed", "abandoned": "failed"},
    ("older", "webhook"): {"pending": "on-hold", "successful": "paid", "failed": "on-hold", "reversed": "on-hold",
                           "void": "on-hold", "abandoned": "on-hold"},
    ("newer", "webhook"): {"pending": "on-hold", "successful": "paid", "failed": "failed", "reversed": "on-hold",
                           "void": "failed", "abandoned": "failed"},
}


def test_what_is_wanted():
    """Only what is successful is paid; the one exception stands where shops look."""
    paid = {(*way, state) for way, outcomes in WANT.items() for state, outcome in outcomes.items() if outcome == "paid"}
    exception = ("newer", "return", "reversed")
    assert paid == {(*way, "successful") for way in WANT} | {exception}
    assert all(set(outcomes) == set(STATES) for outcomes in WANT.values())
    assert "**`reversed` and shop plugins.**" in (TOP / "docs/api.md").read_text()
    assert "[States](api.md#states)" in (TOP / "docs/checkout.md").read_text()


class Case:
    """A transaction of a shop, and all answers and events that the shop gets about it."""

    def __init__(self, shop, ref, checkout=None, public=None):
        self.shop, self.ref, self.checkout = shop, ref, checkout
        self.public = public or shop.public

    def verified(self):
        """By every way there is; with a public key all that is said of the payment is the same."""
        routes = [self.shop.call("GET", f"/api/v1/{noun}/{self.ref}/verify") for noun in ("checkout", "transaction")]
        routes += [self.shop.call("POST", "/api/v1/transaction/verify", {"transactionReference": self.ref})]
        assert {one.status for one in routes} == {200} and len({one.body for one in routes}) == 1
        public = self.shop.call("GET", f"/api/v1/checkout/{self.ref}/verify", key=self.public)
        told = routes[0].json
        assert list(told) == ["status", "message", "data", "log"] and told["log"] == {"history": []}
        for name in ("status", "paymentStatus", "amount", "requested_amount", "chargedAmount"):
            assert public.json["data"][name] == told["data"][name]
        assert public.json["log"] == told["log"]
        check_words(told["data"])
        return told


def check_words(data):
    """One of four words, and no amount but `amount` where no money was taken."""
    state = data["paymentStatus"]
    assert data["status"] == {"void": "failed", "abandoned": "failed"}.get(state, state)
    assert data["amount"] == AMOUNT
    assert data["chargedAmount"] == (AMOUNT if state in ("successful", "reversed") else 0)
    assert data["requested_amount"] == (AMOUNT if state == "successful" else 0)


def play(case, state, told):
    """Each plugin on each way; `told`: the bodies of the webhooks of it."""
    verified = case.verified()
    assert verified["data"]["paymentStatus"] == state
    queries = [{}, *({"status": word} for word in ("successful", "failed", "cancelled", "pending", "paid"))]
    if case.checkout:
        address = case.checkout.page().refresh()
        if address:
            query = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(address.partition("url=")[2]).query))
            assert query["reference"] == case.ref
            queries.append(query)
    for plugin in RETURN:
        for query in queries:
            cancelled = query.get("status") == "cancelled" and state == "pending"
            want = "cancelled" if cancelled else WANT[plugin, "return"][state]
            assert on_return(plugin, verified, query) == want, (plugin, state, query)
        # An event of what it is now comes too, whether or not one was written: anybody may send that.
        for event in [*told, {"notify": "transaction", "data": verified["data"]}]:
            want = WANT[plugin, "webhook"][state] if event["notify"] == "transaction" else "unpaid"
            assert on_webhook(plugin, verified, event) == want, (plugin, state, event)
            if event["notify"] == "transaction":
                believed(plugin, event)


def believed(plugin, event):
    """By a plugin that does not ask verify: the event is of a state that may be over."""
    then = {"data": event["data"], "log": {"history": []}}
    state = event["data"]["paymentStatus"]
    check_words(event["data"])
    assert on_return(plugin, then, {}) == WANT[plugin, "return"][state]
    assert on_webhook(plugin, then, event) == WANT[plugin, "webhook"][state]


# ---- Test Mode

def new(shop):
    checkout = Checkout(shop, reference=any_name("WOO_203_"), amount=AMOUNT)
    return Case(shop, checkout.reference, checkout)


def opened(shop):
    return new(shop)


def asked_for_a_code(shop):
    case = new(shop)
    assert case.checkout.card("code").forms() == {"code": ["code"], "cancel": []}
    return case


def paid(shop):
    case = new(shop)
    assert case.checkout.card().kind == "approved"
    return case


def paid_by_transfer(shop):
    case = new(shop)
    assert case.checkout.transfer().kind == "approved"
    return case


def declined(shop):
    case = new(shop)
    assert case.checkout.card("declined").kind == "declined"
    return case


def cancelled(shop):
    case = new(shop)
    assert case.checkout.cancel().kind == "cancelled"
    return case


def cancelled_before_the_code(shop):
    case = asked_for_a_code(shop)
    assert case.checkout.cancel().kind == "cancelled"
    return case


def voided(shop):
    case = new(shop)
    body = {"transactionReference": case.ref}
    first, again = (shop.call("POST", "/api/v1/void-transaction", body, headers={"Idempotency-Key": case.ref})
                    for _ in range(2))
    assert (first.status, again.body, again.header("idempotent-replayed")) == (200, first.body, "true")
    assert first.json["data"]["paymentStatus"] == "void"
    check_words(first.json["data"])
    return case


def partly_refunded(shop):
    case = paid(shop)
    shop.refund(case.ref, "1")
    return case


def refunded(shop):
    case = paid(shop)
    shop.refund(case.ref)
    return case


def charged(shop, token="tok_test_success", status=200):
    ref = any_name("WOO_204_")
    first, again = (shop.charge(reference=ref, amount=AMOUNT, token=token) for _ in range(2))
    assert first.status == status and again.body == first.body, "its replay"
    check_words(first.json["data"])
    return Case(shop, ref)


def charge_declined(shop):
    return charged(shop, "tok_test_declined")


# How it came about, its state, and the number of its webhooks.
MADE = [
    (opened, "pending", 0), (asked_for_a_code, "pending", 0), (paid, "successful", 1), (paid_by_transfer, "successful", 1),
    (declined, "failed", 1), (cancelled, "abandoned", 1), (cancelled_before_the_code, "abandoned", 1),
    (voided, "void", 0), (partly_refunded, "successful", 2), (refunded, "reversed", 3), (charged, "successful", 1),
    (charge_declined, "failed", 1),
]


@pytest.fixture(scope="module")
def told():
    with Receiver() as receiver:
        yield receiver


def events_of(receiver, ref, count):
    """The bodies of the webhooks of a transaction, once there are so many."""
    def found():
        bodies = [one.json for one in receiver.at("/hook")]
        return [body for body in bodies if ref in (body["data"].get("reference"), body["data"].get("transactionReference"))]

    wait_for(lambda: len(found()) >= count, f"{count} events of {ref}")
    assert len(found()) == count
    return found()


@pytest.mark.parametrize("make, state, count", [pytest.param(*row, id=row[0].__name__) for row in MADE])
def test_test_mode(seller, told, make, state, count):
    seller.webhook(told.url())
    case = make(seller)
    play(case, state, events_of(told, case.ref, count))
    seller.webhook_off()


def test_time_is_over(server, told):
    httpd = server(extra=INSECURE, host_extra="PaymentsCheckoutLifetime 1s")
    shop = httpd.shop()
    shop.webhook(told.url())
    case = new(shop)
    [event] = events_of(told, case.ref, 1)
    assert event["notifyType"] == "abandoned"
    play(case, "abandoned", [event])
    shop.webhook_off()


def test_made_while_the_clock_was_ahead(server):
    """It does not stay open until the day that the clock showed."""
    httpd = server(clock=True, host_extra="PaymentsCheckoutLifetime 1h")
    httpd.clock.set(365 * 24 * HOUR)
    checkout = new(httpd.shop()).checkout
    httpd.clock.set(0)
    checkout.wait("abandoned")


def test_lists_say_both_words(server):
    """Programs read what verify says; people read the exact word."""
    httpd = server(start=False)
    httpd.host_extra = settings(httpd)
    httpd.start()
    shop, ctl = httpd.shop(), Ctl(httpd.store)
    httpd.ctl("account", "grant", shop.name, "vera", "--host", "localhost", "--role", "viewer")
    vera = Person(httpd, "vera")
    refs = {voided(shop).ref: "void", cancelled(shop).ref: "abandoned"}
    for row in ctl.json("charge", "list", shop.name, *TEST_MODE):
        check_words(row)
        assert row["paymentStatus"] == refs[row["reference"]]
    for row in csv.DictReader(io.StringIO(ctl.ok("charge", "list", shop.name, *TEST_MODE, "--format", "csv"))):
        assert (row["status"], row["paymentStatus"]) == ("failed", refs[row["reference"]])
    lines = ctl.ok("charge", "list", shop.name, *TEST_MODE).splitlines()[1:]
    assert {line.split()[1]: line.split()[2] for line in lines} == refs
    scope = f"accounts/{shop.name}/test/"
    for item in vera.get(scope + "charges").json["items"]:
        assert (item["status"], item["paymentStatus"], item["open"]) == ("failed", refs[item["reference"]], False)
        seen = vera.get(scope + f"charges/{item['id']}").json
        check_words(seen["charge"])
        assert seen["item"] == item
    for row in vera.get(scope + "export/charges.json").json:
        check_words(row)


# ---- Live Mode

def test_live(till, proxy, upstream):
    """Unknown transactions, those queried after their time, and those found paid too late."""
    httpd = till(start=False, host_extra="PaymentsRateLimit public off\nPaymentsAcquirerLateAfter 1s\n"
                 f"PaymentsCheckoutLifetime 1h\n{OPEN}\n", **Later.options)
    clock = Later(httpd)
    books = Books(httpd.start(), proxy)
    httpd.expect_log("PAY00171|PAY00423")
    shop = books.shop

    def counts():
        metrics = scrape(httpd)
        return tuple(metrics(f"payments_{name}", store="0") for name in ("checkouts_open", "pending", "held"))

    checkout = Checkout(shop, reference=live_reference(), amount=AMOUNT)
    open_one = Case(shop, checkout.reference, public=shop.live_public)
    at_acquirer(checkout, upstream)
    play(open_one, "pending", [])
    assert counts() == (1, 0, 0), "at the acquirer's page it is open all the same"
    lost = Case(shop, books.lost(amount=AMOUNT), public=shop.live_public)
    play(lost, "pending", [])
    assert counts() == (1, 1, 0)
    proxy.heal()
    upstream_knows = wait_for(lambda: books.row("charge", lost.ref)["status"] != "pending", "the lost one to be known")
    assert upstream_knows and counts() == (1, 0, 0)
    proxy.next("charge", own(500, "lost", "text/html"))  # it never comes to the upstream
    late = Case(shop, live_reference(), public=shop.live_public)
    assert shop.charge(reference=late.ref, amount=AMOUNT).status == 202
    wait_for(lambda: books.row("charge", late.ref)["status"] == "failed", "it to fail for absence")
    play(late, "failed", [])
    name = books.row("charge", late.ref)["acquirerReference"]
    assert upstream.call("POST", "/api/v1/tokenized-card-charge", {
        "token": "acq_success", "amount": AMOUNT, "email": EMAIL, "reference": name}).status == 200
    clock.put(6 * HOUR + 60)
    wait_for(lambda: [row["reference"] for row in books.held()] == [late.ref], "it to be found there")
    play(late, "failed", [])
    checkout.wait("abandoned")
    play(open_one, "abandoned", [])
    assert counts() == (0, 0, 1), "it is asked about, and nobody was sent anything"
    books.well()


# ---- what is open is not pending

def test_open_is_not_pending(server):
    """Everywhere that people count."""
    httpd = server(start=False)
    httpd.host_extra = "\n".join((settings(httpd), STATUS, OPEN))
    httpd.start()
    shop, ctl = httpd.shop(), Ctl(httpd.store)
    httpd.ctl("account", "grant", shop.name, "vera", "--host", "localhost", "--role", "viewer")
    vera, scope = Person(httpd, "vera"), f"accounts/{shop.name}/test/"

    def counted():
        """(open, pending) as all of them say."""
        stat, metrics, status, seen = ctl.json("store", "stat"), scrape(httpd), auto(httpd), vera.get(scope + "overview").json
        told = {(stat["checkoutsOpen"], stat["pending"]), (seen["openCheckouts"], seen["pending"]),
                (status["PaymentsStore0CheckoutsOpen"], status["PaymentsStore0Pending"]),
                (metrics("payments_checkouts_open", store="0"), metrics("payments_pending", store="0"))}
        assert len(told) == 1, told
        return told.pop()

    def listed(word):
        refs = [row["reference"] for row in ctl.json("charge", "list", shop.name, *TEST_MODE, "--state", word)]
        items = vera.get(scope + f"charges?state={word}").json["items"]
        assert [item["reference"] for item in items] == refs
        assert all(item["paymentStatus"] == "pending" and item["open"] == (word == "open") for item in items)
        return set(refs)

    assert counted() == (0, 0)
    cases = [opened(shop), asked_for_a_code(shop), opened(shop), opened(shop)]
    assert counted() == (4, 0) and listed("open") == {case.ref for case in cases} and listed("pending") == set()
    table = ctl.ok("charge", "list", shop.name, *TEST_MODE).splitlines()[1:]
    assert [line.split()[2] for line in table] == ["open"] * 4
    assert "open" in ctl.ok("charge", "show", shop.name, cases[0].ref, *TEST_MODE).split()
    assert cases[0].checkout.card().kind == "approved" and cases[1].checkout.cancel().kind == "cancelled"
    assert shop.call("POST", "/api/v1/void-transaction", {"transactionReference": cases[2].ref}).status == 200
    assert counted() == (1, 0) and listed("open") == {cases[3].ref}
    assert ctl.refused(6, "charge", "list", shop.name, *TEST_MODE, "--state", "cancelled").count("open") == 1
    assert vera.get(scope + "charges?state=open,paid").status == 400
    # What the simulator has not answered counts as pending, for as long as it has not.
    seen = []

    def one_is_pending():
        assert shop.charge(token="tok_test_timeout").status == 202
        seen.append((scrape(httpd)("payments_pending", store="0"), scrape(httpd)("payments_checkouts_open", store="0")))
        return seen[-1][0] >= 1

    wait_for(one_is_pending, "a charge to be seen pending")
    assert {open_ones for _, open_ones in seen} == {1}
    wait_for(lambda: ctl.json("store", "stat")["pending"] == 0, "reconciliation")
    assert counted() == (1, 0)
    assert httpd.ctl("store", "check").returncode == 0
