# SPDX-License-Identifier: Apache-2.0
"""PaymentsMetrics: what is counted, in Prometheus's text form."""

import collections
import concurrent.futures
import re
import shutil
import subprocess
import threading

import pytest

import raw_lmdb
from exposition import METRICS, OPEN, counted, is_bare, parse, scrape
from harness import MODULE, STORE_NEVER_WAS, TOP, WAIT_S, loaded, reference, wait_for

CHARGE = "/api/v1/tokenized-card-charge"
LIST = "/api/v1/refund/2026-01-01/2026-01-02"

WRONG = [
    pytest.param("a 1", id="no newline at the end"),
    pytest.param("# HELP a x\n# TYPE a gauge\na 1\n\n", id="an empty line"),
    pytest.param("# TYPE a gauge\na 1\n", id="no HELP"),
    pytest.param("# HELP a x\n# TYPE a number\na 1\n", id="no such type"),
    pytest.param("# HELP a x\n# TYPE a gauge\nb 1\n", id="a sample of no family"),
    pytest.param("# HELP a x\n# TYPE a gauge\na 1\na 1\n", id="twice"),
    pytest.param("# HELP a x\n# TYPE a gauge\na{b=c} 1\n", id="no quotes"),
    pytest.param('# HELP a x\n# TYPE a gauge\na{b="c",} 1\n', id="a comma too many"),
    pytest.param('# HELP a x\n# TYPE a gauge\na{b="c\n', id="no end"),
    pytest.param("# HELP a x\n# TYPE a gauge\na 1,5\n", id="no number"),
    pytest.param("# HELP a x\n# TYPE a counter\na 1\n", id="a counter that is no total"),
    pytest.param('# HELP a x\n# TYPE a histogram\na_bucket{le="1"} 2\na_bucket{le="+Inf"} 1\na_sum 1\na_count 1\n',
                 id="buckets that fall"),
    pytest.param('# HELP a x\n# TYPE a histogram\na_bucket{le="+Inf"} 1\na_sum 1\na_count 2\n', id="two counts"),
    pytest.param('# HELP a x\n# TYPE a histogram\na_bucket{le="1"} 1\na_sum 1\na_count 1\n', id="no infinity"),
]


@pytest.mark.parametrize("text", WRONG)
def test_the_parser_sees_faults(text):
    with pytest.raises((AssertionError, KeyError, ValueError)):
        parse(text)


# ---- the page

def test_methods(server):
    httpd = server(host_extra=OPEN)
    whole = httpd.request("GET", METRICS)
    head = httpd.request("HEAD", METRICS)
    assert (head.status, head.body) == (200, b"")
    for name in "content-type", "cache-control":
        assert head.header(name) == whole.header(name)
    for method in "POST", "PUT", "DELETE", "OPTIONS", "BREW":
        answer = httpd.request(method, METRICS, "x" * 5000 if method == "POST" else None)
        assert answer.status == 405 and answer.header("allow") == "GET, HEAD" and is_bare(answer)


def test_connection_is_kept(server):
    httpd = server(host_extra=OPEN)
    connection = httpd.connect()
    for method, body, want in [("GET", None, 200), ("POST", "x" * 5000, 405), ("HEAD", None, 200), ("GET", None, 200)]:
        assert httpd.request(method, METRICS, body, connection=connection).status == want
    connection.close()


@pytest.mark.parametrize("extra", [
    pytest.param("RewriteEngine On\nRewriteRule !nonce /index.html [L]", id="RewriteRule"),
    pytest.param(f"Alias {METRICS} /tmp", id="Alias"),
    pytest.param("FallbackResource /index.html", id="FallbackResource"),
    pytest.param('<LocationMatch "^/(?!nonce)">\nSetHandler server-status\n</LocationMatch>', id="SetHandler"),
    pytest.param("PaymentsBasePath /shop\nErrorDocument 403 /index.html", id="another base path"),
])
def test_site_does_not_take_it(server, extra):
    httpd = server(host_extra=f"{OPEN}\n{extra}")
    (httpd.docroot / "index.html").write_text("the site")
    scrape(httpd)
    scrape(httpd, headers={"Range": "bytes=0-1", "If-None-Match": "*", "Accept": "image/png"})
    for path in METRICS + "/", METRICS + "x", METRICS + "/x", METRICS.upper():
        assert b"payments_up" not in httpd.request("GET", path).body


def test_engine_off(server):
    httpd = server(engine=False, host_extra=OPEN)
    (httpd.docroot / METRICS.strip("/")).write_text("the site's")
    assert httpd.request("GET", METRICS).body == b"the site's"


def test_included_pages_do_not_reach_it(server):
    httpd = server(host_extra=OPEN + "\n<Directory />\nOptions +Includes\n</Directory>\nAddType text/html .shtml\n"
                                     "AddOutputFilter INCLUDES .shtml")
    httpd.expect_log(r"\[include:error\].* unable to include ")
    (httpd.docroot / "page.shtml").write_text(f'[<!--#include virtual="{METRICS}" -->]')
    assert b"error" in httpd.request("GET", "/page.shtml").body


def test_names_no_customer(server):
    """Nobody learns an account, a key, a reference or a path from it."""
    httpd = server(host_extra=OPEN)
    shop = httpd.shop()
    ref = reference()
    assert shop.charge(reference=ref).status == 200
    text = httpd.request("GET", METRICS).body.decode()
    for secret in shop.name, shop.secret, ref, str(httpd.root), "ada@example.com":
        assert secret not in text


# ---- what is counted

def test_a_fresh_server(server):
    metrics = scrape(server(host_extra=OPEN))
    assert metrics.all_requests() == {}
    for mode in "test", "live":
        for outcome in "successful", "failed", "pending":
            assert metrics.charges(outcome, mode) == 0
    for channel in "webhook", "mail":
        for result in "delivered", "failed", "parked":
            assert metrics("payments_deliveries_total", channel=channel, result=result) == 0
    for name in "acquirer", "delivery":
        assert metrics(f"payments_{name}_seconds_count") == 0
    assert metrics("payments_up", store="0") == 1
    for standing in "waiting", "parked":
        assert metrics("payments_outbox_events", store="0", standing=standing) == 0
    assert metrics("payments_outbox_overdue_seconds", store="0") == 0
    assert metrics("payments_pending", store="0") == metrics("payments_checkouts_open", store="0") == 0
    assert 1 <= metrics("payments_store_readers", store="0") <= metrics("payments_store_readers_max", store="0")
    assert metrics("payments_store_map_bytes", store="0") == 64 << 30
    assert 0 < metrics("payments_store_map_used_bytes", store="0") <= metrics("payments_store_file_bytes", store="0")
    assert metrics("payments_store_disk_free_bytes", store="0") > 0


JSON = ("Content-Type", "application/json")
CALLS = [  # name, call(shop), operation, status
    ("no key", lambda s: s.httpd.request("GET", LIST), "none", 401),
    ("no such path", lambda s: s.call("GET", "/api/v1/nothing"), "none", 404),
    ("wrong method", lambda s: s.call("DELETE", LIST), "none", 405),
    ("OPTIONS", lambda s: s.call("OPTIONS", LIST), "none", 204),
    ("an encoded slash", lambda s: s.call("GET", "/api/v1/refund/a%2fb"), "none", 404),
    ("an error of httpd's", lambda s: s.call("GET", LIST, headers={"Expect": "tea"}), "none", 417),
    ("list", lambda s: s.call("GET", LIST), "refund-list", 200),
    ("list, HEAD", lambda s: s.call("HEAD", LIST), "refund-list", 200),
    ("list, dates", lambda s: s.call("GET", "/api/v1/refund/x/y"), "refund-list", 400),
    ("list, kind of key", lambda s: s.call("GET", LIST, key=s.public), "refund-list", 403),
    ("list, Accept", lambda s: s.call("GET", LIST, headers={"Accept": "text/html"}), "refund-list", 406),
    ("one refund", lambda s: s.call("GET", "/api/v1/refund/rfd_x"), "refund-get", 404),
    ("verify", lambda s: s.call("GET", "/api/v1/checkout/x/verify", key=s.public), "checkout-verify", 404),
    ("verify, secret", lambda s: s.call("GET", "/api/v1/transaction/x/verify"), "transaction-verify", 404),
    ("verify amount", lambda s: s.call("POST", "/api/v1/transaction/verify", "{}"), "transaction-verify-amount", 400),
    ("charge, empty", lambda s: s.call("POST", CHARGE, "{}"), "tokenized-card-charge", 400),
    ("charge, form", lambda s: s.call("POST", CHARGE, "{"), "tokenized-card-charge", 400),
    ("charge, too large", lambda s: s.call("POST", CHARGE, "x" * 70000), "tokenized-card-charge", 413),
    ("charge, media type", lambda s: s.call("POST", CHARGE, "x", headers=[("Content-Type", "text/css")]),
     "tokenized-card-charge", 415),
    ("charge", lambda s: s.charge(), "tokenized-card-charge", 200),
    ("charge, pending", lambda s: s.charge(token="tok_test_timeout"), "tokenized-card-charge", 202),
    ("refund", lambda s: s.call("POST", "/api/v1/refund", "{}"), "refund", 400),
    ("partial refund", lambda s: s.call("POST", "/api/v1/partial-refund", "{}"), "partial-refund", 400),
    ("void", lambda s: s.call("POST", "/api/v1/void-transaction", "{}"), "void-transaction", 400),
    ("link", lambda s: s.call("POST", "/api/v1/paymentlink/initiate", "{}"), "paymentlink-initiate", 400),
    ("checkout", lambda s: s.call("POST", "/api/v1/initiate", "{}"), "initiate", 400),
    ("order", lambda s: s.call("POST", "/payment/order/create", "{}"), "order-create", 400),
    ("description", lambda s: s.call("GET", "/api/v1/openapi.json"), "openapi", 200),
]


def test_requests(server):
    """Every answer of the API is counted once, under its operation and status, whichever child gave it."""
    httpd = server(host_extra=OPEN, mpm="event")
    shop = httpd.shop()
    want = collections.Counter()
    for name, call, operation, status in CALLS:
        for _ in range(3):
            assert call(shop).status == status, name
            want[("payments_requests_total",
                  frozenset({"operation": operation, "status": str(status)}.items()))] += 1
    metrics = counted(httpd, lambda m: sum(m.all_requests().values()) >= sum(want.values()))
    assert metrics.all_requests() == want
    assert len(httpd.pids()) > 1


def test_requests_that_fail_early(server):
    """Counted too where httpd itself refuses, with the site's ErrorDocument or a redirect to one."""
    httpd = server(host_extra=OPEN + "\nErrorDocument 400 /index.html\nErrorDocument 417 https://elsewhere.example/")
    httpd.expect_log("AH10244")
    head = "Host: localhost\r\nConnection: close\r\n".encode()
    for line, status in [(b"GET /api/v1/%zz HTTP/1.1\r\n" + head + b"\r\n", b"400"),
                         (b"GET /api/v1/x HTTP/1.1\r\n" + head + b"Expect: tea\r\n\r\n", b"417"),
                         (b"GET /api/v1/x HTTP/1.1\r\n" + head + b"A: " + b"x" * 9000 + b"\r\n\r\n", b"400")]:
        assert httpd.raw(line).split(b" ")[1] == status
    metrics = counted(httpd, lambda m: sum(m.all_requests().values()) >= 3)
    assert (metrics.requests("none", 400), metrics.requests("none", 417)) == (2, 1)
    assert sum(metrics.all_requests().values()) == 3


def test_http2(server):
    """Streams are requests: each is counted once, and the page is served to a stream as well."""
    httpd = server(host_extra=OPEN)
    for path, want in [(LIST, "401"), (LIST, "401"), ("/api/v1/nothing", "401"), (METRICS, "200")]:
        url = f"http://127.0.0.1:{httpd.port}{path}"
        done = subprocess.run(["curl", "-sS", "--http2-prior-knowledge", "-m", str(WAIT_S), "-w", "%{http_code}", "-o",
                               str(httpd.root / "page"), url], capture_output=True, text=True, check=True)
        assert done.stdout == want
    parse((httpd.root / "page").read_text())
    metrics = counted(httpd, lambda m: m.requests("none", 401) >= 3)
    assert sum(metrics.all_requests().values()) == 3


def test_site_is_not_counted(server):
    httpd = server(host_extra=OPEN + "\nPaymentsHealth /well")
    for path in "/nonce.txt", "/none", "/well", METRICS, "/api/v2/x", "/api/v1x":
        httpd.request("GET", path)
    assert httpd.request("GET", LIST).status == 401
    metrics = counted(httpd, lambda m: m.requests("none", 401) == 1)
    assert sum(metrics.all_requests().values()) == 1


def test_preflights_are_counted(server):
    httpd = server(host_extra=OPEN + "\nPaymentsCORSOrigin https://shop.example")
    preflight = {"Origin": "https://shop.example", "Access-Control-Request-Method": "GET"}
    assert httpd.request("OPTIONS", "/api/v1/checkout/x/verify", headers=preflight).status == 204
    counted(httpd, lambda m: m.requests("none", 204) == 1)


def test_charges(server):
    """Decisions, not answers: a replay is not a charge, and a pending charge counts once more when it is decided."""
    httpd = server(host_extra=OPEN)
    shop = httpd.shop()
    commits = scrape(httpd)("payments_commit_seconds_count")
    paid, lost = reference(), reference()
    for _ in range(3):
        assert shop.charge(reference=paid).status == 200
    for token in "tok_test_declined", "tok_test_expired_card":
        assert shop.charge(token=token).json["status"] is False
    assert shop.charge(reference=paid, amount=7).status == 409
    assert shop.charge(amount=-1).status == 400
    metrics = scrape(httpd)
    assert [metrics.charges(outcome) for outcome in ("successful", "failed", "pending")] == [1, 2, 0]
    assert shop.charge(reference=lost, token="tok_test_timeout").status == 202
    assert shop.charge(reference=lost, token="tok_test_timeout").status in (200, 202)  # it may be decided by now
    assert scrape(httpd).charges("pending") == 1
    metrics = counted(httpd, lambda m: m.charges("successful") == 2, "reconciliation")
    assert shop.charge(reference=lost, token="tok_test_timeout").status == 200
    metrics = scrape(httpd)
    assert [metrics.charges(outcome) for outcome in ("successful", "failed", "pending")] == [2, 2, 1]
    assert sum(metrics.charges(outcome, "live") for outcome in ("successful", "failed", "pending")) == 0
    assert metrics("payments_commit_seconds_count") >= commits + 5
    assert metrics("payments_commit_seconds_sum") > 0
    assert metrics("payments_acquirer_seconds_count") == 0, "the simulator leaves no process"


def test_acquirer_times(server):
    """Of an acquirer that is asked outside: charges, refunds and questions that reconciliation asks."""
    httpd = server(start=False, host_extra=OPEN)
    httpd.extra = (f"LoadModule acquirer_counter_module {loaded('faults/mod_acquirer_counter')}\n"
                   f"CounterFile {httpd.root}/calls\nCounterDelay 30")
    httpd.start()
    shop = httpd.shop()
    paid = reference()
    assert shop.charge(reference=paid).status == 200
    metrics = scrape(httpd)
    assert metrics("payments_acquirer_seconds_count") == 1
    assert metrics("payments_acquirer_seconds_bucket", le="0.025") == 0
    assert 0.03 <= metrics("payments_acquirer_seconds_sum") < WAIT_S
    assert shop.call("POST", "/api/v1/refund", {"reference": paid}).status == 200
    assert scrape(httpd)("payments_acquirer_seconds_count") == 2
    assert shop.charge(token="tok_test_timeout").status == 202
    metrics = counted(httpd, lambda m: m.charges("successful") == 2, "reconciliation")
    assert metrics("payments_acquirer_seconds_count") >= 4


def test_several_stores(server):
    """Distinguished by number, in the order of the configuration; two hosts of one store count as one."""
    httpd = server(start=False, host_extra=OPEN)
    host = ("<VirtualHost 127.0.0.1:@PORT@>\nServerName {0}.example\nPaymentsEngine On\nPaymentsStore lmdb:{1}\n{2}"
            "</VirtualHost>\n")
    httpd.extra = (host.format("first", httpd.root / "other", "PaymentsStoreSize 128M\nPaymentsStoreReserve 1M\n")
                   + host.format("second", httpd.store, ""))
    httpd.start()
    metrics = scrape(httpd)
    stores = {dict(labels).get("store") for _, labels in metrics.samples} - {None}
    assert stores == {"0", "1"}
    sizes = {metrics("payments_store_map_bytes", store=store) for store in stores}
    assert sizes == {128 << 20, 64 << 30}


def test_a_store_that_is_away(server):
    """It is down and reports nothing; the rest continues."""
    httpd = server(host_extra=OPEN)
    httpd.expect_log("PAY00110")
    shop = httpd.shop()
    assert shop.charge().status == 200
    raw_lmdb.change_schema(httpd.store, 99)
    metrics = scrape(httpd)
    assert metrics("payments_up", store="0") == 0
    assert metrics.charges("successful") == 1
    assert shop.charge().status == 503
    counted(httpd, lambda m: m.requests("tokenized-card-charge", 503) == 1)


def test_a_store_that_never_was(server):
    httpd = server(start=False, host_extra=OPEN, engine=False)
    httpd.expect_log(STORE_NEVER_WAS)
    httpd.host_extra += f"\nPaymentsEngine On\nPaymentsStore lmdb:{httpd.root}/missing/store"
    httpd.start()
    metrics = scrape(httpd)
    assert metrics("payments_up", store="0") == 0
    assert {name for name, labels in metrics.samples if dict(labels).get("store")} == {
        "payments_up", "payments_store_damaged"}


# ---- restarts

@pytest.mark.parametrize("mpm", ["event", "prefork"])
def test_counts_outlive_graceful_restarts(server, mpm):
    """Twice, under load: what clients were answered is what is counted, to the last one."""
    httpd = server(mpm=mpm, host_extra=OPEN)
    shop = httpd.shop()
    stop, got = threading.Event(), collections.Counter()

    def load():
        mine = collections.Counter()
        while not stop.is_set():
            try:
                mine[shop.charge().status] += 1
            except OSError:
                mine["lost"] += 1
        return mine

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        loads = [pool.submit(load) for _ in range(4)]
        seen = 0
        for _ in range(2):
            counted(httpd, lambda m: m.charges("successful") >= seen + 20, "some charges")
            seen = scrape(httpd).charges("successful")
            httpd.graceful()
            assert scrape(httpd).charges("successful") >= seen
        counted(httpd, lambda m: m.charges("successful") >= seen + 20, "some more charges")
        stop.set()
        for one in loads:
            got += one.result()
    metrics = counted(httpd, lambda m: m.requests("tokenized-card-charge", 200) >= got[200])
    assert got["lost"] == 0 and set(got) <= {200, "lost"}, got
    assert metrics.requests("tokenized-card-charge", 200) == got[200]
    assert metrics.charges("successful") == got[200]
    assert metrics("payments_commit_seconds_count") > 0


def test_a_restart_begins_anew(server):
    httpd = server(host_extra=OPEN)
    assert httpd.shop().charge().status == 200
    assert scrape(httpd).charges("successful") == 1
    httpd.stop()
    httpd.start()
    assert scrape(httpd).charges("successful") == 0


def test_engine_switched_off_and_on(server):
    """Counts wait in the parent; nothing is shown meanwhile."""
    httpd = server(host_extra=OPEN)
    assert httpd.shop().charge().status == 200
    text = httpd.write_config().read_text()
    for value, want in [(text.replace("PaymentsEngine On", "PaymentsEngine Off"), 404), (text, 200)]:
        (httpd.root / "httpd.conf").write_text(value)
        httpd.graceful()
        wait_for(lambda: httpd.request("GET", METRICS).status == want, "the new configuration")
    assert scrape(httpd).charges("successful") == 1


def test_another_build_after_a_graceful_restart(server):
    """One that numbers operations otherwise counts in memory of its own; going back finds the old counts."""
    httpd = server(start=False, without=["payments"], host_extra=OPEN)
    module = httpd.root / "mod_payments.so"
    shutil.copy(MODULE, module)
    other = httpd.root / "other.so"
    other.write_bytes(module.read_bytes().replace(b"refund-list\0", b"refund-lisT\0"))
    assert other.read_bytes() != module.read_bytes()
    httpd.extra = f"LoadModule payments_module {module}\nLogLevel payments:info"
    httpd.start()
    shop = httpd.shop()
    assert shop.call("GET", LIST).status == 200
    counted(httpd, lambda m: m.requests("refund-list", 200) == 1)
    shutil.copy(module, httpd.root / "first.so")
    other.rename(module)
    httpd.graceful()
    wait_for(lambda: scrape(httpd).all_requests() == {}, "the other build")
    assert shop.call("GET", LIST).status == 200
    counted(httpd, lambda m: m.requests("refund-lisT", 200) == 1)
    (httpd.root / "first.so").rename(module)
    httpd.graceful()
    counted(httpd, lambda m: m.requests("refund-list", 200) == 1)


# ---- the outbox

def test_outbox(server):
    """A webhook to a place that may not be dialled: what waits, for how long it is due, and what was tried."""
    httpd = server(host_extra=OPEN)
    httpd.expect_log("PAY00267")
    shop = httpd.shop()
    shop.webhook("https://127.0.0.1:9/")
    for _ in range(3):
        assert shop.charge().status == 200
    metrics = counted(httpd, lambda m: m("payments_deliveries_total", channel="webhook", result="failed") >= 1)
    assert metrics("payments_outbox_events", store="0", standing="waiting") == 3
    assert metrics("payments_outbox_events", store="0", standing="parked") == 0
    assert metrics("payments_deliveries_total", channel="webhook", result="delivered") == 0
    assert metrics("payments_delivery_seconds_count") >= 1
    for event in shop.events():
        shop.event("drop", event["id"])
    counted(httpd, lambda m: m("payments_outbox_events", store="0", standing="waiting") == 0)


# ---- what the manual says

def test_manual_names_every_family(server):
    """The table of docs/operations.md is what is served; its alerts ask for nothing else."""
    text = (TOP / "docs/operations.md").read_text()
    section = text[text.index("## Monitoring"):]
    section = section[:section.index("\n## ", 5)]
    served = set(re.findall(r"^# TYPE (\S+) ", server(host_extra=OPEN).request("GET", METRICS).body.decode(), re.M))
    rows = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `payments_")]
    assert set(re.findall(r"`(payments_[a-z_]+)`", " ".join(rows))) == served
    asked = set(re.findall(r"\bpayments_[a-z_]+", section[section.index("Useful alerts"):]))
    assert {re.sub("_bucket$", "", name) for name in asked} <= served
    assert len(asked) > 5
