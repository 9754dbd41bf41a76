# SPDX-License-Identifier: Apache-2.0
"""The disk fails while the acquirer is asked: what it answered cannot be stored, and the log says what becomes of it."""

import contextlib
import errno
import urllib.parse
from concurrent.futures import ThreadPoolExecutor

import pytest

from harness import checkout_body, wait_for
from payer import Checkout, Payer
from test_disk import COMMIT, with_disk
from test_page_live import at_acquirer, back
from upstream import ACQUIRER_CUT, live_reference
from upstream_proxy import Fault, Hold, own

INITIATE = "/api/v1/initiate"
VERIFY = "/api/v1/checkout/{}/verify"


@pytest.fixture
def live(till):
    """A shop in Live Mode whose store's disk can fail, and that disk."""
    httpd, disk = with_disk(till, parameters="timeout=3s", host_extra="PaymentsRateLimit public off\n"
                            "PaymentsCheckoutLifetime 2s\n")
    httpd.expect_log(COMMIT)
    yield httpd.live_shop, disk
    assert httpd.ctl("store", "check", check=False).stdout == ""


@contextlib.contextmanager
def failing(disk):
    disk.set(data=errno.EIO)
    try:
        yield
    finally:
        disk.set()


def says(shop, number, words):
    shop.httpd.expect_log(number)
    wait_for(lambda: f"{number}: {words}" in shop.httpd.log_text(), f"the line {number}")


def meanwhile(disk, hold, call):
    """What `call` answers when the disk fails between the request to the acquirer and its answer."""
    with ThreadPoolExecutor() as pool:
        answer = pool.submit(call)
        wait_for(lambda: hold.waiting == 1, "the acquirer to be asked")
        with failing(disk):
            hold.release()
            return answer.result()


def word(shop, ref):
    return shop.call("GET", VERIFY.format(ref)).json["data"]["paymentStatus"]


@contextlib.contextmanager
def mute(proxy):
    """One who takes connections where the acquirer was, and never says a word: nothing is sent there."""
    proxy.refuse()
    with proxy.bound(proxy.port) as sock:
        sock.listen(16)
        yield sock
    proxy.listen()


def in_vain(disk, sock, call):
    """What `call` answers when nobody takes the request, and the disk fails after a place was made for it."""
    with ThreadPoolExecutor() as pool:
        answer = pool.submit(call)
        taken, _ = sock.accept()
        with taken, failing(disk):
            return answer.result()


def test_charge_that_cannot_be_taken_back(live, proxy):
    """It stays pending until the acquirer says that it never came."""
    shop, disk = live
    shop.httpd.expect_log(ACQUIRER_CUT)
    ref = live_reference()
    with mute(proxy) as sock:
        answer = in_vain(disk, sock, lambda: shop.charge(reference=ref))
    assert answer.status == 202 and answer.json["data"]["status"] == "pending", answer
    says(shop, "PAY00200", f"charge {ref} was not sent, but could not be withdrawn")
    assert not proxy.of("charge")


def test_checkout_that_cannot_be_taken_back(live, proxy):
    shop, disk = live
    shop.httpd.expect_log(ACQUIRER_CUT)
    body = checkout_body(transactionReference=live_reference())
    with mute(proxy) as sock:
        answer = in_vain(disk, sock, lambda: shop.call("POST", INITIATE, body))
    assert (answer.status, answer.json["data"]["responseCode"]) == (503, "E2"), answer
    says(shop, "PAY00571", f"checkout {body['transactionReference']} was not sent, but could not be withdrawn")
    assert word(shop, body["transactionReference"]) == "pending"


@pytest.mark.parametrize("fault, number, words", [
    pytest.param(own(500, "out of order", "text/html"), "PAY00572", "checkout {} has no page, and this could not be stored",
                 id="there is none"),
    pytest.param(Fault(), "PAY00573", "the page of checkout {} could not be stored", id="its address"),
])
def test_page_that_is_not_kept(live, proxy, fault, number, words):
    """Nobody is sent to a page that is not in the store: its payer is told to come back later."""
    shop, disk = live
    shop.httpd.expect_log("PAY00400|PAY00570")
    fault.hold = Hold()
    body = checkout_body(transactionReference=live_reference())
    proxy.next("other", fault)
    answer = meanwhile(disk, fault.hold, lambda: shop.call("POST", INITIATE, body))
    assert answer.status == 200, answer
    says(shop, number, words.format(body["transactionReference"]))
    page = Payer(shop.httpd, urllib.parse.urlsplit(answer.json["data"]["paymentRedirectUrl"]).path).page()
    assert page.status == 503 and int(page.answer.header("retry-after")) > 0, page.said()
    assert f"PAY00591: the acquirer has no page for charge {body['transactionReference']} of shop" in shop.httpd.log_text()
    assert word(shop, body["transactionReference"]) == "pending"


def test_payment_that_the_payer_comes_back_from(live, proxy, upstream):
    """He is told that it is pending, and approved once the acquirer has been asked again."""
    shop, disk = live
    checkout, hold = Checkout(shop), Hold()
    payer = at_acquirer(checkout, upstream)
    assert payer.card().kind == "approved"
    path = back(payer)
    proxy.next("query", Fault(hold=hold))
    assert meanwhile(disk, hold, lambda: checkout.get(path)).status == 303
    says(shop, "PAY00574", f"the outcome of checkout {checkout.reference} could not be stored")
    assert checkout.page(path).kind == "approved", "the acquirer is asked again"


@pytest.mark.parametrize("paid, number, words", [
    pytest.param(False, "PAY00575", "checkout {} was abandoned, but this could not be stored", id="not paid"),
    pytest.param(True, "PAY00577", "the outcome of checkout {} could not be stored", id="paid"),
])
def test_end_of_its_time(live, proxy, upstream, paid, number, words):
    """Of the last question before it would be abandoned nothing is told, for nothing is stored."""
    shop, disk = live
    hold = Hold()
    proxy.next("query", Fault(hold=hold))
    checkout = Checkout(shop)
    if paid:
        assert at_acquirer(checkout, upstream).card().kind == "approved"
    wait_for(lambda: hold.waiting == 1, "its time to be over")
    with failing(disk):
        hold.release()
        says(shop, number, words.format(checkout.reference))
    assert checkout.status() == "pending"
