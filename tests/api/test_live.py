# SPDX-License-Identifier: Apache-2.0
"""Live Mode through the relay: the upstream is another mod_payments, behind TLS and a proxy that reads what passes."""

import json
import re
import threading
import time

import pytest

from exposition import OPEN, counted, scrape
from harness import SANITIZE, wait_for
from upstream import EMAIL, Till, live_reference
from upstream_proxy import TAG, Fault, Hold, Proxy, closed_unanswered, own

HEX = re.compile(r"[0-9a-f]{32}")
NOTE_MAX = 500
UNKNOWN = "PAY00203|PAY00213|PAY00400"  # of a call whose outcome is unknown, and what the upstream did instead
ONE_CHILD = ("StartServers 1\nServerLimit 1\nThreadsPerChild {0}\nThreadLimit {0}\nMaxRequestWorkers {0}\n"
             "MinSpareThreads 1\nMaxSpareThreads {0}")


@pytest.fixture(scope="module")
def running(authority, upstream):
    """A server and the proxy behind it, for all tests that want no settings of their own."""
    with Proxy(authority, upstream.port) as proxy:
        with_metrics = Till(proxy.url, upstream.key, authority, host_extra=OPEN).start()
        yield with_metrics, proxy
        with_metrics.close()


@pytest.fixture
def live(running):
    """The same, nothing passed yet; a loud log line that this test did not expect fails this test."""
    httpd, proxy = running
    proxy.forget()
    yield running
    loud = httpd.unexpected()
    assert not loud, "unexpected in the error log:\n" + "\n".join(loud)


def decided(shop, ref, status):
    """Its transaction object, once reconciliation has decided it."""
    def ask():
        found = shop.verify(ref)
        assert found["status"] in ("pending", status), found
        return found if found["status"] == status else None

    return wait_for(ask, f"{ref} to be {status}")


def the_upstreams(upstream, proxy):
    """The upstream's row of the one charge that was sent."""
    (sent,) = proxy.of("charge")
    return upstream.charges()[sent.name]


def in_parallel(calls):
    """What each call returned; they are made at the same time."""
    answers = [None] * len(calls)

    def run(number):
        answers[number] = calls[number]()

    threads = [threading.Thread(target=run, args=(number,)) for number in range(len(calls))]
    for thread in threads:
        thread.start()
    return threads, answers


def instance(proxy):
    """What the acquirer is called in metrics and rows."""
    return {"store": "0", "acquirer": f"relay@127.0.0.1:{proxy.port}"}


def breaker(metrics, proxy):
    """"closed", "open", "probing" or "faulty": one of them."""
    states = {state: metrics("payments_acquirers", breaker=state, **instance(proxy))
              for state in ("closed", "open", "probing", "faulty")}
    assert sorted(states.values()) == [0, 0, 0, 1], states
    return max(states, key=states.get)


# ---- charges

@pytest.mark.parametrize("token, status, code, first6", [
    pytest.param("acq_success", "successful", "00", "555555", id="approved"),
    pytest.param("acq_declined", "failed", "05", "123456", id="declined"),
    pytest.param("acq_insufficient", "failed", "51", "400000", id="insufficient funds"),
])
def test_charge(live, upstream, token, status, code, first6):
    """It is decided by the upstream, told as Test Mode tells it, and told again byte for byte without asking."""
    httpd, proxy = live
    shop = httpd.live_shop
    ref = live_reference()
    answer = shop.charge(reference=ref, token=token, amount="10.50", firstName="Ada", lastName="Lovelace")
    assert answer.status == 200, answer
    data = answer.json["data"]
    assert answer.json["status"] is (status == "successful")
    assert (data["reference"], data["paymentStatus"], data["domain"], data["amount"], data["currency"]) == (
        ref, status, "live", 10.5, "NGN")
    assert data["gatewayResponseCode"] == code and data["card"]["first6Digits"] == first6, data
    theirs = the_upstreams(upstream, proxy)
    assert (theirs["status"], theirs["amount"], theirs["currency"]) == (status, 10.5, "NGN")
    assert data["authorizationCode"] == theirs["authorizationCode"]
    assert data["gatewayResponseMessage"] == theirs["gatewayResponseMessage"]
    assert shop.verify(ref)["status"] == status
    again = shop.charge(reference=ref, token=token, amount=10.5, firstName="Ada", lastName="Lovelace")
    assert (again.status, again.body) == (200, answer.body)
    assert again.header("idempotent-replayed") == "true"
    assert shop.charge(reference=ref, token=token, amount=11).status == 409
    assert len(proxy.exchanges) == 1, proxy.exchanges


def test_upstream_learns_a_name_of_its_own(live):
    """32 hex digits that are the same for ever, and nothing of the shop's reference; and what the call must say."""
    httpd, proxy = live
    shop, ref = httpd.live_shop, live_reference()
    shop.charge(reference=ref)
    (sent,) = proxy.of("charge")
    assert HEX.fullmatch(sent.name)
    assert ref.encode() not in sent.request and b"shop" not in sent.request
    assert {name: sent.body[name] for name in ("token", "email", "currency")} == {
        "token": "acq_success", "email": EMAIL, "currency": "NGN"}
    assert float(sent.body["amount"]) == 1000
    assert sent.headers["content-type"].startswith("application/json") and "expect" not in sent.headers
    assert sent.headers["authorization"].startswith("Bearer ")
    shop.charge(reference=live_reference())
    assert len({one.name for one in proxy.of("charge")}) == 2


def test_pending_and_then_successful(live, upstream):
    httpd, proxy = live
    shop, ref = httpd.live_shop, live_reference()
    first = shop.charge(reference=ref, token="acq_pending")
    assert first.status == 202 and first.json["data"]["paymentStatus"] == "pending", first
    found = decided(shop, ref, "successful")
    assert found["gatewayResponseCode"] == "00"
    again = shop.charge(reference=ref, token="acq_pending")
    assert again.status == 200 and again.json["data"]["paymentStatus"] == "successful"
    assert len(proxy.of("charge")) == 1 and proxy.of("query")
    assert found["authorizationCode"] == the_upstreams(upstream, proxy)["authorizationCode"]


def test_lost_answer_is_asked_for(live, upstream):
    """The upstream charges and does not answer: the shop learns the truth, and nothing is charged twice."""
    httpd, proxy = live
    httpd.expect_log(UNKNOWN)
    shop, ref = httpd.live_shop, live_reference()
    proxy.next("charge", closed_unanswered())
    assert shop.charge(reference=ref).status == 202
    assert shop.charge(reference=ref).status in (202, 200)
    found = decided(shop, ref, "successful")
    assert list(proxy.posts.values()) == [1]
    assert found["authorizationCode"] == the_upstreams(upstream, proxy)["authorizationCode"]


@pytest.mark.parametrize("fields, field", [
    pytest.param({"token": "tok_test_success"}, "/token", id="a test token"),
    pytest.param({"token": "tok_test_nothing"}, "/token", id="what begins as one"),
    pytest.param({"token": "5555555555554444"}, "/token", id="a test card"),
    pytest.param({"email": "nobody"}, "/email", id="no e-mail"),
    pytest.param({"amount": 0}, "/amount", id="nothing"),
])
def test_refused_here(live, fields, field):
    """What is wrong in itself never reaches the upstream, and is not stored."""
    httpd, proxy = live
    shop, ref = httpd.live_shop, live_reference()
    answer = shop.charge(reference=ref, **fields)
    assert answer.status == 400, answer
    assert [one["field"] for one in answer.json["data"]["errors"]] == [field]
    assert shop.call("GET", f"/api/v1/checkout/{ref}/verify").status == 404
    assert not proxy.exchanges


@pytest.mark.parametrize("fields", [
    pytest.param({"token": "acq_nobody_has_this"}, id="a token that it does not know"),
    pytest.param({"email": "grace@example.com"}, id="a token of another payer"),
    pytest.param({"currency": "XYZ"}, id="a currency that there is not"),
])
def test_refused_by_the_upstream(live, upstream, fields):
    """A token that the store does not hold is passed on unjudged; what the upstream refuses is declined."""
    httpd, proxy = live
    shop, ref = httpd.live_shop, live_reference()
    answer = shop.charge(reference=ref, **fields)
    if answer.status == 400:  # what is judged here already
        assert not proxy.exchanges and "currency" in fields
        return
    assert answer.status == 200 and answer.json["status"] is False, answer
    assert answer.json["data"]["paymentStatus"] == "failed"
    (sent,) = proxy.of("charge")
    assert sent.status == 400 and sent.name not in upstream.charges()
    again = shop.charge(reference=ref, **fields)
    assert again.body == answer.body and again.header("idempotent-replayed") == "true"
    assert len(proxy.of("charge")) == 1


# ---- refunds

def test_refunds(live, upstream):
    """Partial and full ones are partial ones upstream, exact, with a tag behind the note that only it sees."""
    httpd, proxy = live
    shop, ref = httpd.live_shop, live_reference()
    assert shop.charge(reference=ref, amount="100.00").status == 200
    part = shop.partial(ref, "30.25", merchant_note="a broken cup", customer_note="sorry")
    assert part.status == 200, part
    assert {name: part.json[name] for name in ("amount", "status", "domain", "merchantNote", "customerNote")} == {
        "amount": "30.25", "status": "processed", "domain": "live", "merchantNote": "a broken cup",
        "customerNote": "sorry"}
    assert shop.verify(ref)["refundedAmount"] == 30.25
    rest = shop.call("POST", "/api/v1/refund", {"reference": ref})
    assert (rest.status, rest.json["amount"], rest.json["status"]) == (200, "69.75", "processed"), rest
    assert shop.verify(ref)["status"] == "reversed"
    assert shop.call("POST", "/api/v1/refund", {"reference": ref}).status == 409

    (charged,) = proxy.of("charge")
    sent = proxy.of("refund")
    assert [float(one.body["amount"]) for one in sent] == [30.25, 69.75]
    assert {one.body["reference"] for one in sent} == {charged.name}
    assert all(TAG.search(one.body["merchant_note"]) for one in sent) and len({one.name for one in sent}) == 2
    assert sent[0].body["merchant_note"] == f"a broken cup [payments:{sent[0].name}]"
    assert sent[0].body["customer_note"] == "sorry"
    assert the_upstreams(upstream, proxy)["status"] == "reversed"
    listed = [row for row in shop.refunds().json if row["transactionReference"] == ref]
    assert [row["refundReference"] for row in listed] == [part.json["refundReference"], rest.json["refundReference"]]
    assert listed[0]["merchantNote"] == "a broken cup" and listed[1]["merchantNote"] is None
    assert shop.call("GET", f"/api/v1/refund/{listed[0]['refundReference']}").json == listed[0]
    assert shop.refunds(key=shop.test_secret).json == []
    theirs = [row for row in upstream.rows("refund") if row["transactionReference"] == charged.name]
    assert [row["amount"] for row in theirs] == ["30.25", "69.75"]


def test_note_is_cut_for_the_tag(live):
    """The upstream takes 500 characters: the tag is always whole, and our own note stays as it was given."""
    httpd, proxy = live
    shop, ref, note = httpd.live_shop, live_reference(), "é" * NOTE_MAX
    shop.charge(reference=ref)
    answer = shop.partial(ref, "1.00", merchant_note=note)
    assert answer.status == 200 and answer.json["status"] == "processed", answer
    assert answer.json["merchantNote"] == note
    told = proxy.of("refund")[0].body["merchant_note"]
    assert len(told) <= NOTE_MAX and TAG.search(told) and told.startswith("é" * 400)


def test_refund_is_repeated_by_its_key(live):
    httpd, proxy = live
    shop, ref = httpd.live_shop, live_reference()
    shop.charge(reference=ref)
    key = {"Idempotency-Key": "once"}
    first = shop.partial(ref, "5.00", headers=key)
    again = shop.partial(ref, "5.00", headers=key)
    assert (again.status, again.body) == (first.status, first.body) == (200, first.body)
    assert again.header("idempotent-replayed") == "true"
    assert len(proxy.of("refund")) == 1


def test_lost_refund_is_found_by_its_tag(live, upstream):
    httpd, proxy = live
    httpd.expect_log(UNKNOWN)
    shop, ref = httpd.live_shop, live_reference()
    shop.charge(reference=ref)
    shop.partial(ref, "7.00")  # another one of the same amount, which is not to be taken for it
    proxy.next("refund", closed_unanswered())
    lost = shop.partial(ref, "7.00", merchant_note="the second").json
    assert lost["status"] == "pending", lost
    assert shop.partial(ref, "1.00").status == 409, "another one while it is at the acquirer"
    path = f"/api/v1/refund/{lost['refundReference']}"
    wait_for(lambda: shop.call("GET", path).json["status"] == "processed", "the refund to be found")
    assert not proxy.repeated() and len(proxy.of("refund")) == 2
    assert shop.verify(ref)["refundedAmount"] == 14
    tags = {row["merchantNote"] for row in upstream.rows("refund")}
    assert {f"the second [payments:{proxy.of('refund')[1].name}]"} <= tags


def test_refund_that_the_upstream_refuses(live, upstream):
    """Somebody gave the money back upstream: 200 with status failed, and nothing is taken off here."""
    httpd, proxy = live
    shop, ref = httpd.live_shop, live_reference()
    shop.charge(reference=ref)
    (charged,) = proxy.of("charge")
    upstream.ctl("refund", "create", "merchant", "--mode", "test", "--reference", charged.name)
    answer = shop.partial(ref, "5.00")
    assert answer.status == 200 and answer.json["status"] == "failed", answer
    assert shop.verify(ref)["refundedAmount"] == 0


def test_refund_by_the_tool_is_carried_out_by_the_server(live):
    """paymentsctl holds no key of the acquirer: it writes the refund, and the server sends it, once."""
    httpd, proxy = live
    shop, ref = httpd.live_shop, live_reference()
    shop.charge(reference=ref)
    made = json.loads(httpd.ctl("refund", "create", "shop", "--mode", "live", "--reference", ref, "--amount", "12.00",
                                "--merchant-note", "by hand", "--json").stdout)
    assert made["status"] == "pending" and made["channel"] == "cli", made
    path = f"/api/v1/refund/{made['refundReference']}"
    wait_for(lambda: shop.call("GET", path).json["status"] == "processed", "the server to carry it out")
    (sent,) = proxy.of("refund")
    assert sent.body["merchant_note"] == f"by hand [payments:{sent.name}]"
    assert shop.verify(ref)["refundedAmount"] == 12


def test_refund_by_the_tool_while_the_server_is_stopped(till, proxy):
    httpd = till()
    shop, ref = httpd.live_shop, live_reference()
    shop.charge(reference=ref)
    httpd.stop()
    httpd.ctl("refund", "create", "shop", "--mode", "live", "--reference", ref)
    assert not proxy.of("refund")
    httpd.process = None
    httpd.start()
    wait_for(lambda: shop.verify(ref)["status"] == "reversed", "the refund")
    assert len(proxy.of("refund")) == 1


# ---- modes

def test_no_live_acquirer(till):
    httpd = till(acquirer=False)
    shop, ref = httpd.live_shop, live_reference()
    answer = shop.charge(reference=ref)
    assert answer.status == 403 and "acquirer" in answer.json["message"].lower(), answer
    assert shop.call("GET", f"/api/v1/checkout/{ref}/verify").status == 404
    assert shop.refunds().json == []
    assert shop.charge(key=shop.test_secret, token="tok_test_success").status == 200


def test_mode_switch(till, proxy):
    """While the account is in Test Mode a live key starts nothing; what was made before is told and replayed."""
    httpd = till(live=False)
    shop, ref = httpd.live_shop, live_reference()
    answer = shop.charge(reference=ref)
    assert answer.status == 403 and answer.json["data"]["responseCode"] == "B02", answer
    shop.mode("live")
    first = shop.charge(reference=ref)
    assert first.status == 200, first
    assert shop.charge(key=shop.test_secret, token="tok_test_success").status == 200
    shop.mode("test")
    assert shop.charge().status == 403
    assert shop.partial(ref, "1.00").status == 403
    again = shop.charge(reference=ref)
    assert again.body == first.body and again.header("idempotent-replayed") == "true"
    assert shop.verify(ref)["status"] == "successful" and shop.refunds().status == 200
    assert shop.charge(key=shop.test_secret, token="tok_test_success").status == 200
    assert len(proxy.exchanges) == 1


def test_modes_do_not_meet(live):
    """One reference in both modes is two charges; neither key sees the other's."""
    httpd, proxy = live
    shop, ref = httpd.live_shop, live_reference()
    live = shop.charge(reference=ref)
    test = shop.charge(reference=ref, key=shop.test_secret, token="tok_test_success")
    assert (live.status, test.status) == (200, 200)
    assert (live.json["data"]["domain"], test.json["data"]["domain"]) == ("live", "test")
    assert test.header("idempotent-replayed") is None
    assert len(proxy.of("charge")) == 1
    other = live_reference()
    shop.charge(reference=other)
    assert shop.call("GET", f"/api/v1/checkout/{other}/verify", key=shop.test_secret).status == 404


def test_public_key_charges_nothing(live):
    httpd, proxy = live
    shop = httpd.live_shop
    assert shop.charge(key=shop.live_public).status == 403
    assert not proxy.exchanges


# ---- secrets

def test_secrets_are_shown_nowhere(till, upstream, proxy):
    """Not in logs at their loudest, not by mod_info, not in the process's environment or command line."""
    httpd = till(extra="<Location /server-info>\nSetHandler server-info\n</Location>\nLogLevel payments:trace8")
    httpd.expect_log(UNKNOWN)
    shop, ref = httpd.live_shop, live_reference()
    assert shop.charge(reference=ref, lastName="Lovelace-King").status == 200
    proxy.next("charge", own(500, "no"), own(200, "<html>"))
    for _ in range(2):
        assert shop.charge(lastName="Lovelace-King").status == 202
    shop.partial(ref, "1.00", merchant_note="a private note")
    shown = httpd.request("GET", "/server-info").body.decode()
    assert "PaymentsAcquirer" in shown
    places = {"mod_info": shown, "error log": httpd.log_text(), "access log": "\n".join(httpd.access_lines()),
              "settings": json.dumps(json.loads(httpd.ctl("account", "show", "shop", "--json").stdout))}
    for pid in (httpd.process.pid, *httpd.pids()):
        for name in "environ", "cmdline":
            with open(f"/proc/{pid}/{name}", "rb") as text:
                places[f"{pid}'s {name}"] = text.read().decode("latin-1")
    for place, text in places.items():
        for secret in (upstream.key, shop.secret, "acq_success", EMAIL, "Lovelace-King", "a private note"):
            assert secret not in text, f"{secret} in {place}"


# ---- limits

def test_calls_in_flight_are_limited(till, proxy):
    """One more than PaymentsAcquirerMaxInFlight is 503 with Retry-After before anything is written."""
    httpd = till(host_extra=f"PaymentsAcquirerMaxInFlight 2\n{OPEN}")
    shop, hold, refs = httpd.live_shop, Hold(), [live_reference() for _ in range(3)]
    proxy.fail(Fault(hold=hold), "charge")
    threads, answers = in_parallel([lambda ref=ref: shop.charge(reference=ref) for ref in refs[:2]])
    wait_for(lambda: hold.waiting == 2, "two calls to hang")
    refused = shop.charge(reference=refs[2])
    assert refused.status == 503 and int(refused.header("retry-after")) > 0, refused
    assert refused.json["data"]["responseCode"] == "E2"
    assert shop.call("GET", f"/api/v1/checkout/{refs[2]}/verify").status == 404, "something was written"
    metrics = scrape(httpd)
    assert metrics("payments_acquirer_refused_total", reason="in_flight") == 1
    assert metrics("payments_acquirer_in_flight", **instance(proxy)) == 2
    assert metrics("payments_acquirer_in_flight_max", **instance(proxy)) == 2
    hold.release()
    for thread in threads:
        thread.join(20)
    assert [answer.status for answer in answers] == [200, 200]
    proxy.heal()
    assert shop.charge(reference=refs[2]).status == 200
    assert len(proxy.of("charge")) == 3 and not proxy.repeated()


def test_breaker(till, proxy):
    """Ten failures in a row open it: 503 before anything is written. A call that succeeds closes it."""
    httpd = till(host_extra=OPEN)
    httpd.expect_log("PAY")
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


def test_stuck_upstream_slows_nothing_else(till, proxy):
    """As many calls as may hang do: refund lists, verify and Test Mode answer as before."""
    httpd = till(parameters="timeout=20s")
    httpd.expect_log(UNKNOWN)
    shop, hold = httpd.live_shop, Hold()
    ref = live_reference()
    shop.charge(reference=ref)
    others = [shop.refunds,
              lambda: shop.call("GET", f"/api/v1/checkout/{ref}/verify"),
              lambda: shop.charge(key=shop.test_secret, token="tok_test_success"),
              lambda: shop.refunds(key=shop.test_secret)]
    free = latencies(others, 100)
    proxy.fail(Fault(hold=hold))
    threads, answers = in_parallel([shop.charge for _ in range(100)])
    wait_for(lambda: hold.waiting + sum(one is not None for one in answers) >= 100, "all to hang or be refused")
    hung = hold.waiting
    assert hung >= 16, [answer for answer in answers if answer][:3]
    stuck = latencies(others, 100)
    assert hold.waiting >= hung, "they no longer hang"
    hold.release()
    proxy.heal()
    for thread in threads:
        thread.join(30)
    assert {answer.status for answer in answers} <= {200, 503}
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
    httpd.expect_log(UNKNOWN)
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
    for reason in "in_flight", "breaker", "credentials":
        assert metrics("payments_acquirer_refused_total", reason=reason) == 0
