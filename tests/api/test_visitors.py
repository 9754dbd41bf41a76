# SPDX-License-Identifier: Apache-2.0
"""What everybody who has a public key or a page's address may do to the shop's own calls of its acquirer: nothing."""

import json

import pytest

from exposition import OPEN, scrape
from harness import WAIT_S, any_name, beside, wait_for
from payer import Checkout
from test_live_limits import instance
from upstream import live_reference
from upstream_proxy import Fault, Hold, own, problem

INITIATE = "/api/v1/initiate"
CHECKOUTS = "other"  # what the proxy calls requests for checkouts
FREE = "PaymentsRateLimit public off\nPaymentsRateLimit public-total off\n"


def initiate(shop, key):
    body = {"transactionReference": any_name("checkout-"), "amount": 1500, "currency": "NGN",
            "redirectUrl": "https://shop.example/done",
            "checkoutCustomerData": {"email": "ada@example.com", "firstName": "Ada", "lastName": "Obi"}}
    return shop.call("POST", INITIATE, body, key=key)


def standing(httpd, proxy):
    """Of the breaker for all calls, and of the one for visitors beside it."""
    metrics = scrape(httpd)

    def of(family):
        states = {state: metrics(family, breaker=state, **instance(proxy))
                  for state in ("closed", "open", "probing", "faulty")}
        assert sorted(states.values()) == [0, 0, 0, 1], states
        return max(states, key=states.get)

    return of("payments_acquirers"), of("payments_acquirers_visitors")


@pytest.mark.parametrize("fault, sent, state, line", [
    pytest.param(own(403, problem("B02", "Invalid Merchant Authorization.")), 1, "faulty", "PAY00742", id="403"),
    pytest.param(own(401, problem("B01", "Invalid Merchant Authorization.")), 1, "faulty", "PAY00742", id="401"),
    pytest.param(own(429, problem("L1", "Too many."), more="Retry-After: 30\r\n"), 1, "open", None, id="429"),
    pytest.param(own(500, "out of order", "text/html"), 10, "open", "PAY00740", id="no answers"),
])
def test_refused_checkouts_are_no_word_on_charges(till, proxy, fault, sent, state, line):
    """A public key makes its acquirer refuse: other visitors wait, calls with the secret key go on."""
    httpd = till(host_extra=f"{FREE}{OPEN}")
    httpd.expect_log("PAY00400|PAY00570|PAY00740|PAY00742")
    shop = httpd.live_shop
    public = shop.live_public
    proxy.fail(fault, CHECKOUTS)
    for _ in range(sent):
        assert initiate(shop, public).status == 200  # of a checkout that has failed, or that nobody can pay
    refused = initiate(shop, public)
    assert (refused.status, refused.json["data"]["responseCode"]) == (503, "E2")
    assert 1 <= int(refused.header("retry-after")) <= 60
    assert standing(httpd, proxy) == ("closed", state)
    assert len(proxy.of(CHECKOUTS)) == sent
    ref = live_reference()
    assert shop.charge(reference=ref).status == 200
    assert shop.partial(ref, "1.00").json["status"] == "processed"
    proxy.heal()
    assert initiate(shop, shop.secret).status == 200, "the shop's own checkout"
    assert line is None or line in httpd.log_text()
    assert "PAY00450" not in httpd.log_text() and "PAY00454" not in httpd.log_text()


def test_half_of_the_places(till, proxy):
    """Checkouts of a public key that hang take half of PaymentsAcquirerMaxInFlight, and no more."""
    httpd = till(host_extra=f"{FREE}PaymentsAcquirerMaxInFlight 4\nPaymentsSlotWait 50ms\n{OPEN}")
    shop, hold = httpd.live_shop, Hold()
    public = shop.live_public
    proxy.fail(Fault(hold=hold), CHECKOUTS)
    answers = [beside(lambda: initiate(shop, public)) for _ in range(2)]
    wait_for(lambda: hold.waiting == 2, "two checkouts to hang")
    refused = initiate(shop, public)
    assert (refused.status, refused.json["data"]["responseCode"]) == (503, "E2")
    for _ in range(3):
        assert shop.charge().status == 200
    hold.release()
    assert [answer.result(WAIT_S).status for answer in answers] == [200, 200]
    assert not proxy.repeated()


def test_half_of_the_slots(till, proxy):
    """Nor more than half of the slots of a child: its threads are left to calls with the secret key."""
    httpd = till(threads="StartServers 1\nServerLimit 1\nThreadsPerChild 16\nThreadLimit 16\nMaxRequestWorkers 16\n"
                         "MinSpareThreads 1\nMaxSpareThreads 16", host_extra=f"{FREE}PaymentsSlotWait 50ms\n{OPEN}")
    shop, hold = httpd.live_shop, Hold()
    public = shop.live_public
    proxy.fail(Fault(hold=hold), CHECKOUTS)
    answers = [beside(lambda: initiate(shop, public)) for _ in range(6)]
    wait_for(lambda: hold.waiting == 4 and sum(one.done() for one in answers) == 2, "four of six to hang")
    assert scrape(httpd)("payments_slots_taken") == 4
    for _ in range(3):
        assert shop.charge().status == 200
    hold.release()
    assert sorted(answer.result(WAIT_S).status for answer in answers) == [200] * 4 + [503] * 2


def test_payers_questions(till, upstream, proxy):
    """A payer who comes back makes us ask; where the answer is 429, payers wait and the shop does not."""
    httpd = till(host_extra=f"{FREE}{OPEN}")
    shop = httpd.live_shop
    checkout = Checkout(shop)
    proxy.fail(own(429, problem("L1", "Too many."), more="Retry-After: 30\r\n"), "query")
    assert checkout.page(checkout.path + ".return").kind == "pending"
    asked = len(proxy.of("query"))
    assert asked == 1 and standing(httpd, proxy) == ("closed", "open")
    assert checkout.page(checkout.path + ".return").kind == "pending"
    assert len(proxy.of("query")) == asked
    assert shop.charge().status == 200
    assert json.loads(upstream.ctl("charge", "list", "merchant", "--mode", "test", "--json").stdout)
