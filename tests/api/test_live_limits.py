# SPDX-License-Identifier: Apache-2.0
"""Live Mode under limits: calls in flight, the circuit breaker, an upstream that hangs, kept connections, metrics."""

import re
import time

import pytest

from exposition import OPEN, counted, scrape
from harness import CROWDED, SANITIZE, WAIT_S, beside, wait_for
from test_live import decided
from upstream import ACQUIRER_CUT, Till, live_reference
from upstream_proxy import Fault, Hold, closed_unanswered, own


ONE_CHILD = ("StartServers 1\nServerLimit 1\nThreadsPerChild {0}\nThreadLimit {0}\nMaxRequestWorkers {0}\n"
             "MinSpareThreads 1\nMaxSpareThreads {0}")


def instance(proxy):
    """What the acquirer is called in metrics and rows."""
    return {"store": "0", "acquirer": f"relay@127.0.0.1:{proxy.port}"}


def breaker(metrics, proxy):
    """"closed", "open", "probing" or "faulty": one of them."""
    states = {state: metrics("payments_acquirers", breaker=state, **instance(proxy))
              for state in ("closed", "open", "probing", "faulty")}
    assert sorted(states.values()) == [0, 0, 0, 1], states
    return max(states, key=states.get)


# ---- limits

def test_calls_in_flight_are_limited(till, proxy):
    """One more than PaymentsAcquirerMaxInFlight is 503 with Retry-After before anything is written."""
    httpd = till(host_extra=f"PaymentsAcquirerMaxInFlight 2\n{OPEN}")
    shop, hold, refs = httpd.live_shop, Hold(), [live_reference() for _ in range(3)]
    paid = live_reference()
    shop.charge(reference=paid)
    proxy.fail(Fault(hold=hold), "charge")
    charges = [beside(lambda ref=ref: shop.charge(reference=ref)) for ref in refs[:2]]
    wait_for(lambda: hold.waiting == 2, "two calls to hang")
    refused = shop.charge(reference=refs[2])
    assert refused.status == 503 and int(refused.header("retry-after")) > 0, refused
    assert refused.json["data"]["responseCode"] == "E2"
    assert shop.call("GET", f"/api/v1/checkout/{refs[2]}/verify").status == 404, "something was written"
    refused = shop.partial(paid, "1.00")
    assert refused.status == 503 and int(refused.header("retry-after")) > 0, refused
    assert shop.refunds().json == [], "something was written"
    metrics = scrape(httpd)
    assert metrics("payments_acquirer_refused_total", reason="in_flight") == 2
    assert metrics("payments_acquirer_in_flight", **instance(proxy)) == 2
    assert metrics("payments_acquirer_in_flight_max", **instance(proxy)) == 2
    hold.release()
    assert [one.result(WAIT_S).status for one in charges] == [200, 200]
    proxy.heal()
    assert shop.charge(reference=refs[2]).status == 200
    assert shop.partial(paid, "1.00").json["status"] == "processed"
    assert len(proxy.of("charge")) == 4 and not proxy.repeated()


def test_breaker(till, proxy):
    """Ten failures in a row open it: 503 before anything is written. A call that succeeds closes it."""
    httpd = till(host_extra=OPEN)
    httpd.expect_log(f"{ACQUIRER_CUT}|PAY00454")
    shop = httpd.live_shop
    proxy.fail(own(500, "out of order", "text/html"))
    pending, refused, ref = [], None, None
    while not refused:
        ref = live_reference()
        answer = shop.charge(reference=ref)
        assert answer.status in (202, 503), answer
        if answer.status == 202:
            pending.append(ref)
        else:
            refused = answer
        assert len(pending) <= 10
    # Questions about the first of them failed meanwhile, and counted too.
    assert len(proxy.exchanges) >= 10 and pending
    assert int(refused.header("retry-after")) >= 1
    assert shop.call("GET", f"/api/v1/checkout/{ref}/verify").status == 404, "something was written"
    metrics = scrape(httpd)
    assert metrics("payments_acquirer_refused_total", reason="breaker") >= 1
    assert breaker(metrics, proxy) in ("open", "probing")
    proxy.heal()
    wait_for(lambda: shop.charge(reference=ref).status == 200, "the breaker to let a probe through")
    for _ in range(20):
        assert shop.charge().status == 200
    assert breaker(scrape(httpd), proxy) == "closed"
    said = httpd.log_text()
    assert re.search(r":error\] .*PAY00454: acquirer relay@127.0.0.1:\d+ of account shop gave no answer 10 times", said)
    assert re.search(r":notice\] .*PAY00455: acquirer relay@127.0.0.1:\d+ of account shop answers again", said)
    for one in pending:
        assert shop.verify(one)["status"] == "pending", "absent for less than PaymentsAcquirerLateAfter"
    assert not proxy.repeated()


def latencies(calls, number):
    """Sorted seconds of so many calls."""
    times = []
    for _ in range(number):
        for call in calls:
            before = time.monotonic()
            answer = call()
            times.append(time.monotonic() - before)
            assert answer.status == 200, answer
    return sorted(times)


@pytest.mark.plain("the sanitizers' build is given more time")
def test_stuck_upstream_slows_nothing_else(till, proxy):
    """As many calls as may hang do: refund lists, verify and Test Mode answer as before."""
    httpd = till(parameters="timeout=20s")
    httpd.expect_log(f"{ACQUIRER_CUT}|{CROWDED}")
    shop, hold = httpd.live_shop, Hold()
    ref = live_reference()
    shop.charge(reference=ref)
    others = [shop.refunds,
              lambda: shop.call("GET", f"/api/v1/checkout/{ref}/verify"),
              lambda: shop.charge(key=shop.test_secret, token="tok_test_success"),
              lambda: shop.refunds(key=shop.test_secret)]
    free = latencies(others, 100)
    proxy.fail(Fault(hold=hold))
    charges = [beside(shop.charge) for _ in range(100)]
    wait_for(lambda: hold.waiting + sum(one.done() for one in charges) >= 100, "all to hang or be refused")
    hung = hold.waiting
    assert hung >= 16, [one.result() for one in charges if one.done()][:3]
    stuck = latencies(others, 100)
    assert hold.waiting >= hung, "they no longer hang"
    hold.release()
    proxy.heal()
    assert {one.result(WAIT_S).status for one in charges} <= {200, 503}
    p99_free, p99 = (one[len(one) * 99 // 100] for one in (free, stuck))
    print(f"{hung} calls hang: p99 {p99 * 1000:.1f} ms, before {p99_free * 1000:.1f} ms")
    assert SANITIZE or p99 < max(0.1, 3 * p99_free)


def test_connections_are_kept(till, proxy):
    """Each thread keeps its connection to the upstream: many calls, few connections, TLS agreed on for each once."""
    httpd = till(threads=ONE_CHILD.format(4), host_extra=OPEN)
    shop, connection = httpd.live_shop, httpd.connect()
    for number in range(30):
        ref = live_reference()
        assert shop.charge(reference=ref, connection=connection).status == 200
        if number % 3 == 0:
            assert shop.partial(ref, "1.00").status == 200
    assert proxy.connections <= 4, proxy.connections
    metrics = counted(httpd, lambda metrics: metrics("payments_acquirer_seconds_count") == 40)
    assert metrics("payments_acquirer_first_byte_seconds_count") == 40
    assert metrics("payments_acquirer_tls_seconds_count") == proxy.connections
    assert metrics("payments_acquirer_connect_seconds_count") <= proxy.connections
    connection.close()


def test_kept_connection_that_died(till, proxy):
    """The upstream closed it meanwhile: no call is lost, none is made twice."""
    httpd = till(threads=ONE_CHILD.format(4))
    shop = httpd.live_shop
    for _ in range(5):
        assert shop.charge().status == 200
        proxy.hang_up()
    assert proxy.connections == 5 and not proxy.repeated()


# ---- metrics

@pytest.mark.parametrize("name, labels", [
    ("payments_acquirer_refused_total", {"reason": "in_flight"}),
    ("payments_acquirer_refused_total", {"reason": "breaker"}),
    ("payments_acquirer_refused_total", {"reason": "credentials"}),
    ("payments_acquirer_refused_total", {"reason": "slots"}),
    ("payments_acquirer_unknown_total", {}),
    ("payments_acquirer_not_sent_total", {}),
    ("payments_acquirer_queries_total", {}),
    ("payments_acquirer_connect_seconds_count", {}),
    ("payments_acquirer_tls_seconds_count", {}),
    ("payments_acquirer_first_byte_seconds_count", {}),
    ("payments_acquirer_seconds_count", {}),
])
def test_metrics_are_there_from_the_start(live_metrics, name, labels):
    assert live_metrics(name, **labels) == 0


@pytest.fixture(scope="module")
def live_metrics(authority, upstream):
    one = Till("https://127.0.0.1:9", upstream.key, authority, host_extra=OPEN).start()
    yield scrape(one)
    one.close()


def test_metrics_count(till, proxy):
    httpd = till(host_extra=OPEN)
    httpd.expect_log(ACQUIRER_CUT)
    shop, lost = httpd.live_shop, live_reference()
    shop.charge()
    shop.charge(token="acq_declined")
    proxy.next("charge", closed_unanswered())
    shop.charge(reference=lost)
    decided(shop, lost, "successful")
    metrics = counted(httpd, lambda metrics: metrics.charges("successful", "live") == 2)
    assert breaker(metrics, proxy) == "closed" and metrics("payments_acquirer_in_flight", **instance(proxy)) == 0
    assert metrics.charges("failed", "live") == 1 and metrics.charges("pending", "live") == 1
    assert metrics("payments_acquirer_unknown_total") >= 1 and metrics("payments_acquirer_queries_total") >= 1
    for reason in "in_flight", "breaker", "credentials", "slots":
        assert metrics("payments_acquirer_refused_total", reason=reason) == 0
