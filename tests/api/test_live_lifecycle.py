# SPDX-License-Identifier: Apache-2.0
"""A server that stops or restarts while an acquirer lets it wait: it does not wait as long, and no client is cut off
that need not be. httpd warns of a child that does not end within three seconds; such a line fails a test.
"""

import http.client
import threading
import time

import pytest

from harness import SANITIZE, WAIT_S, beside, wait_for
from upstream import ACQUIRER_CUT, FETCH_CUT, live_reference
from upstream_proxy import Fault, Hold

CUT = f"{ACQUIRER_CUT}|{FETCH_CUT}"
STOP_S = 10 if SANITIZE else 4


class Client(threading.Thread):
    """One charge, and what came back: an answer, or None where the connection ended."""

    def __init__(self, shop, **fields):
        super().__init__()
        self.shop, self.fields, self.answer = shop, fields, None
        self.start()

    def run(self):
        try:
            self.answer = self.shop.charge(**self.fields)
        except (OSError, http.client.HTTPException):
            pass


def stopped(httpd):
    """Seconds that the end of the server took."""
    began = time.monotonic()
    httpd.stop()
    return time.monotonic() - began


@pytest.fixture
def hold():
    made = Hold()
    yield made
    made.release()


@pytest.mark.plain("the sanitizers' build is given more time")
@pytest.mark.parametrize("mpm", ["event", "worker", "prefork"])
def test_stop_while_a_charge_hangs(till, proxy, hold, mpm):
    """httpd ends the client's connection; the call comes back at once, as unknown, and the row stays pending."""
    httpd = till(start=False, parameters="timeout=60s")
    httpd.mpm = mpm
    if mpm == "prefork":
        httpd.modules.remove("http2")
    httpd.start()
    httpd.expect_log(CUT)
    ref = live_reference()
    proxy.fail(Fault(hold=hold))
    client = Client(httpd.live_shop, reference=ref)
    wait_for(lambda: hold.waiting == 1, "the charge to hang")
    assert stopped(httpd) < STOP_S
    client.join(10)
    assert not client.is_alive() and (client.answer is None or client.answer.status == 202)
    [row] = httpd.live_shop.rows("charge")
    assert (row["reference"], row["status"]) == (ref, "pending")


def test_graceful_restart_while_a_charge_hangs(till, proxy, hold):
    """The old process waits for the acquirer, because its client does; the new one charges meanwhile."""
    httpd = till()
    ref = live_reference()
    proxy.next("charge", Fault(hold=hold))
    client = Client(httpd.live_shop, reference=ref)
    wait_for(lambda: hold.waiting == 1, "the charge to hang")
    httpd.graceful()
    assert httpd.live_shop.charge().status == 200
    hold.release()
    client.join(10)
    assert (client.answer.status, client.answer.json["data"]["paymentStatus"]) == (200, "successful")


@pytest.mark.plain("the sanitizers' build is given more time")
def test_stop_while_a_refund_of_the_tool_hangs(till, proxy, hold):
    """The server sends it by a thread of its own, which no client waits for."""
    httpd = till(parameters="timeout=60s")
    httpd.expect_log(CUT)
    shop, ref = httpd.live_shop, live_reference()
    assert shop.charge(reference=ref).status == 200
    proxy.fail(Fault(hold=hold))
    made = shop.refund(ref)
    wait_for(lambda: hold.waiting >= 1, "the refund to hang")
    assert stopped(httpd) < STOP_S
    [row] = [row for row in shop.rows("refund") if row["refundReference"] == made["refundReference"]]
    assert row["status"] == "pending"


@pytest.mark.plain("the sanitizers' build is given more time")
@pytest.mark.parametrize("end", ["stop", "graceful"])
def test_end_while_a_fetch_of_refunds_hangs(till, proxy, hold, end):
    """Nobody waits for the history of refunds: a stop cuts its call short, a restart leaves it to the old process."""
    httpd = till(start=False, parameters="timeout=3s", host_extra="PaymentsRefundSync 1s\n")
    proxy.next("list", Fault(hold=hold))
    httpd.start()
    httpd.expect_log(CUT)
    wait_for(lambda: hold.waiting >= 1, "the fetch to hang")
    if end == "graceful":
        httpd.graceful()
        assert httpd.live_shop.charge().status == 200
        hold.release()
    assert stopped(httpd) < STOP_S


def test_many_restarts(till, proxy):
    """Graceful restarts while charges come in: none is refused, none is lost."""
    httpd = till()
    shop, refs = httpd.live_shop, [live_reference() for _ in range(40)]
    done = threading.Event()

    def charge():
        try:
            return {ref: shop.charge(reference=ref).status for ref in refs}
        finally:
            done.set()

    charging = beside(charge)
    restarts = 0
    while not done.is_set() and restarts < 20:
        httpd.graceful()
        restarts += 1
    assert charging.result(WAIT_S) == {ref: 200 for ref in refs} and restarts >= 2
    assert sorted(row["reference"] for row in shop.rows("charge")) == sorted(refs)
    assert len(proxy.of("charge")) == len(refs)
