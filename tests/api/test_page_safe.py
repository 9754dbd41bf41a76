# SPDX-License-Identifier: Apache-2.0
"""What the hosted page refuses, and what it gives away: nothing (docs/checkout.md, "Safety", "Logs")."""

import re
import secrets
import subprocess

import pytest

from harness import TOP, wait_for
from payer import FORM, Checkout, Page, check_headers
from shares import ALIKE
from test_errors import check_envelope

pytestmark = ALIKE

NONE = "/payment/page/" + "a" * 32
REAL = "4111111111111111"
CARD = "action=card&number=5555555555554444&expiry=12/40&csc=123"
MARKUP = "<b>\"'&amp;<script>alert(1)</script>"


def page_of(answer, status):
    """An error's page, in words for a payer, without a shop's and without JSON."""
    page = Page(answer, "/payment/page/x")
    assert (page.status, page.forms(), page.kind) == (status, {}, "expired"), page.text
    assert page.heading and answer.header("request-id") in page.said()
    return page


@pytest.mark.parametrize("path", [
    pytest.param(NONE, id="no such page"),
    pytest.param(NONE + ".return", id="nor to return to"),
    pytest.param("/payment/page/x", id="not of the form"),
    pytest.param("/payment/page/" + "A" * 32, id="upper case"),
    pytest.param("/payment/page/" + "a" * 33, id="a character more"),
    pytest.param("/payment/page/" + "a" * 1000, id="a thousand"),
    pytest.param("/payment/page/checkout.css.return", id="of the style sheet"),
    pytest.param("/payment/page/%3Cscript%3E", id="markup"),
    pytest.param("/payment/page/a%2Fb", id="an encoded slash"),
    pytest.param("/payment/page/a%00", id="NUL"),
])
def test_unknown_pages(seller, path):
    page = page_of(seller.httpd.request("GET", path), 404)
    assert "no such payment page" in page.heading


def test_two_segments_are_the_sites(seller):
    assert seller.httpd.request("GET", NONE + "/x").header("content-security-policy") is None
    assert seller.httpd.request("GET", "/payment/page/").header("content-security-policy") is None


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "FROB"])
def test_methods(checkout, method):
    answer = checkout.httpd.request(method, checkout.path)
    page_of(answer, 405)
    assert answer.header("allow") == "GET, HEAD, POST"


@pytest.mark.parametrize("body, headers, status", [
    pytest.param("", [("Content-Type", FORM)], 400, id="nothing"),
    pytest.param("action=", [("Content-Type", FORM)], 400, id="no action"),
    pytest.param("action=pay", [("Content-Type", FORM)], 400, id="another action"),
    pytest.param(CARD + "&csc=123", [("Content-Type", FORM)], 400, id="a field twice"),
    pytest.param(CARD + "&x=%00", [("Content-Type", FORM)], 400, id="NUL"),
    pytest.param(CARD + "&x=%zz", [("Content-Type", FORM)], 400, id="a broken percent sign"),
    pytest.param(CARD + "&x=%ff", [("Content-Type", FORM)], 400, id="not UTF-8"),
    pytest.param(CARD + "&x=%1b", [("Content-Type", FORM)], 400, id="a control character"),
    pytest.param(CARD + "".join(f"&x{n}=" for n in range(12)), [("Content-Type", FORM)], 303, id="16 fields"),
    pytest.param(CARD + "".join(f"&x{n}=" for n in range(13)), [("Content-Type", FORM)], 400, id="17 fields"),
    pytest.param(CARD + "&x=" + "x" * (4096 - len(CARD) - 3), [("Content-Type", FORM)], 303, id="4096 bytes"),
    pytest.param(CARD + "&x=" + "x" * (4097 - len(CARD) - 3), [("Content-Type", FORM)], 413, id="a byte more"),
    pytest.param(CARD + "x" * 300_000, [("Content-Type", FORM)], 413, id="a lot more"),
    pytest.param(CARD, [], 415, id="no media type"),
    pytest.param(CARD, [("Content-Type", "text/plain")], 415, id="text"),
    pytest.param(CARD, [("Content-Type", FORM + "x")], 415, id="a longer type"),
    pytest.param(CARD, [("Content-Type", FORM + "; charset=UTF-8")], 303, id="with a charset"),
    pytest.param(CARD, [("Content-Type", FORM), ("Content-Encoding", "gzip")], 415, id="encoded"),
])
def test_bodies(checkout, body, headers, status):
    answer = checkout.httpd.request("POST", checkout.path, body, headers)
    if status == 303:
        assert (answer.status, answer.header("location"), checkout.status()) == (303, checkout.id, "successful")
        return
    page_of(answer, status)
    assert checkout.status() == "pending" and checkout.card().kind == "approved"


def test_chunked_body(checkout):
    chunks = "".join(f"{len(part):x}\r\n{part}\r\n" for part in re.findall(".{1,7}", CARD)) + "0\r\n\r\n"
    answer = checkout.httpd.request("POST", checkout.path, chunks, [("Content-Type", FORM), ("Transfer-Encoding", "chunked")])
    assert (answer.status, checkout.status()) == (303, "successful")
    long = f"1001\r\n{'x' * 4097}\r\n0\r\n\r\n"
    page_of(checkout.httpd.request("POST", checkout.path, long, [("Content-Type", FORM), ("Transfer-Encoding", "chunked")]), 413)


# --- other origins ---

@pytest.mark.parametrize("headers, status", [
    pytest.param({}, 303, id="an old browser"),
    pytest.param({"Sec-Fetch-Site": "same-origin"}, 303, id="our own page"),
    pytest.param({"Sec-Fetch-Site": "same-origin", "Origin": "@"}, 303, id="and says so twice"),
    pytest.param({"Origin": "@"}, 303, id="our own origin"),
    pytest.param({"Sec-Fetch-Site": "cross-site"}, 403, id="another site"),
    pytest.param({"Sec-Fetch-Site": "same-site"}, 403, id="a sister"),
    pytest.param({"Sec-Fetch-Site": "none"}, 403, id="no page at all"),
    pytest.param({"Sec-Fetch-Site": ""}, 403, id="nothing said"),
    pytest.param({"Origin": "https://evil.example"}, 403, id="another origin"),
    pytest.param({"Origin": "null"}, 403, id="no origin"),
    pytest.param({"Origin": "@1"}, 403, id="another port"),
    pytest.param({"Sec-Fetch-Site": "cross-site", "Origin": "@"}, 403, id="a contradiction"),
    pytest.param({"Sec-Fetch-Site": "same-origin", "Origin": "https://evil.example"}, 403, id="the other way round"),
])
def test_only_our_own_pages_send_forms(checkout, headers, status):
    own, told = f"http://127.0.0.1:{checkout.httpd.port}", checkout.httpd.log_text().count("PAY00592")
    answer = checkout.post(CARD, [(name, value.replace("@", own)) for name, value in headers.items()])
    assert answer.status == status
    assert checkout.status() == ("successful" if status == 303 else "pending")
    if status == 403:
        page_of(answer, 403)
        assert checkout.httpd.log_text().count("PAY00592: refused: the form of a payment page was sent from a page of another") == told + 1


def test_told_origin_counts_behind_a_proxy_that_sends_another_host(server):
    httpd = server(host_extra="PaymentsCheckoutURL https://pay.example\nPaymentsRateLimit public off\n")
    for origin, status in (("https://pay.example", 303), ("https://pay.example:444", 403), ("https://other.example", 403)):
        checkout = Checkout(httpd.shop())
        assert checkout.url.startswith("https://pay.example/payment/page/")
        assert checkout.post(CARD, [("Origin", origin)]).status == status


def test_no_preflight_is_answered(server):
    httpd = server(host_extra="PaymentsCORSOrigin https://shop.example\n")
    checkout = Checkout(httpd.shop())
    answer = checkout.get(method="OPTIONS", headers=[("Origin", "https://shop.example"),
                                                     ("Access-Control-Request-Method", "POST")])
    page_of(answer, 405)


# --- what people gave ---

def test_markup_in_every_field(seller):
    seller.httpd.ctl("account", "set", seller.name, "--shop-name", MARKUP, "--shop-text", MARKUP + "\nsecond line")
    checkout = Checkout(seller, reference="ref<b>\"'&" + secrets.token_hex(8), checkoutCustomizationData={
        "logoUrl": "https://shop.example/\"'><script>", "paymentDescription": MARKUP + "d", "checkoutModalTitle": MARKUP + "t"})
    page = checkout.page()
    assert page.heading == MARKUP + "t" and MARKUP + "d" in page.said() and "second line" in page.said()
    assert MARKUP in page.of("span") and MARKUP in page.of("title") and not page.find("img")
    assert checkout.reference in checkout.card().said()
    assert "<b>" not in checkout.page().text and "<script" not in checkout.page().text


@pytest.mark.parametrize("account, request_logo, shown", [
    pytest.param("", None, None, id="none"),
    pytest.param("/a.png", None, "/a.png", id="the account's"),
    pytest.param("/a.png", "http://127.0.0.1:@/b.png?v=1", "/b.png?v=1", id="the request's"),
    pytest.param("http://127.0.0.1:@/c.png", None, "/c.png", id="a complete URL"),
    pytest.param("https://elsewhere.example/a.png", "https://elsewhere.example/b.png", None, id="elsewhere"),
    pytest.param("/a.png", "https://elsewhere.example/b.png", "/a.png", id="only one elsewhere"),
])
def test_logo_of_the_own_origin_only(seller, account, request_logo, shown):
    port = str(seller.httpd.port)
    seller.httpd.ctl("account", "set", seller.name, "--shop-logo", account.replace("@", port))
    more = {"checkoutCustomizationData": {"logoUrl": request_logo.replace("@", port)}} if request_logo else {}
    page = Checkout(seller, **more).page()
    assert [one["src"] for one in page.find("img")] == ([shown] if shown else [])
    assert all(one["referrerpolicy"] == "no-referrer" and one["alt"] == "" for one in page.find("img"))
    assert "elsewhere" not in page.text


# --- secrets ---

def files_with(folder, text):
    done = subprocess.run(["grep", "-r", "-l", "-a", "-F", text, str(folder)], capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    return done.stdout.split()


def test_real_card_is_neither_stored_nor_logged_nor_told(server):
    """The store's files, every log at its loudest, and each answer are searched for it."""
    httpd = server(extra="LogLevel payments:trace8\nPaymentsRateLimit public off\n")
    checkout = Checkout(httpd.shop())
    spelt = [REAL, "4111 1111 1111 1111", "4111-1111-1111-1111", REAL + "x"]
    bodies = [f"action=card&number={one.replace(' ', '+')}&expiry=12/40&csc=7531" for one in spelt]
    bodies += [f"action={action}&code={REAL}&bankCode={REAL}&accountNumber={REAL}" for action in ("code", "transfer", REAL)]
    bodies += [f"action=card&{REAL}={REAL}&number=%zz", f"action=card&number={REAL}" + "x" * 5000]
    for body in bodies:
        answer = checkout.post(body)
        assert answer.status in (303, 400, 413)
        assert b"1111" not in answer.body and b"7531" not in answer.body
        assert not [value for _, value in answer.headers if "1111" in value]
    checkout.card("code")
    checkout.code(REAL)
    assert checkout.status() == "failed"
    for text in (REAL, "4111 1111", "4111-1111", "7531&", REAL[:12]):
        assert not files_with(httpd.root, text)
    assert files_with(httpd.root, checkout.reference), "the search finds nothing at all"


SHADOW = 1 << 30  # no memory of the server's is so large; a sanitizer's notes about all memory are


def memory_has(pid, text):
    """1 when memory that the process can write to holds the text."""
    with open(f"/proc/{pid}/maps", encoding="ascii") as maps, open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
        for line in maps:
            where, rights = line.split()[:2]
            start, end = (int(part, 16) for part in where.split("-"))
            if rights.startswith("rw") and "[v" not in line and end - start < SHADOW:
                memory.seek(start)
                if text in memory.read(end - start):
                    return True
    return False


@pytest.mark.root
def test_no_card_is_left_in_memory(server):
    """Nor a code: no writable memory of the children contains the typed text, only the text sent beside it."""
    httpd = server(extra="PaymentsRateLimit public off\n", without=["http2"])
    checkout = Checkout(httpd.shop())
    connection = httpd.connect()
    for number, beside in ((REAL, "firstbeside"), ("5555-5555 55554444", "secondbeside")):
        body = f"action=card&number={number.replace(' ', '+')}&expiry=12/40&csc=7531"
        answer = httpd.request("POST", checkout.path, body, [("Content-Type", FORM), ("X-Beside", beside)], connection)
        assert answer.status == (400 if number == REAL else 303)
        assert any(memory_has(pid, beside.encode()) for pid in httpd.pids()), "the search finds nothing at all"
        for text in (number, number.replace(" ", "+"), "12/40", "csc=7531"):
            assert not [pid for pid in httpd.pids() if memory_has(pid, text.encode())], text
    connection.close()


def test_page_ids_stay_out_of_logs(server):
    """%r, %U, %q and Referer of the access log, and the error log: none has a page's id, all else is there."""
    httpd = server(extra='LogFormat "%r|%U|%q|%{Referer}i|%m|%>s|%{PAYMENTS_REFERENCE}e" open\n'
                         "CustomLog @ROOT@/open.log open\nLogLevel payments:trace8\nExtendedStatus On\n"
                         .replace("@ROOT@", "${ROOT}"), env={"ROOT": "{root}"},
                   host_extra="<Location /server-status>\nSetHandler server-status\n</Location>\n")
    checkout = Checkout(httpd.shop())
    referer = [("Referer", checkout.url)]
    checkout.get(headers=referer)
    checkout.get(checkout.path + "?n=1")
    checkout.get(checkout.path.replace("/page/", "//page/"))
    checkout.post("action=card", referer)
    checkout.post(CARD, referer)
    checkout.get(checkout.path + ".return")
    checkout.get(method="PUT")
    httpd.raw(f"GET {checkout.path} HTTP/1.1\r\nHost: localhost\r\nBad Header: x\r\n\r\n".encode())
    httpd.raw(f"GET {checkout.path}%2F HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
    httpd.raw(f"POST {checkout.path} HTTP/1.1\r\nHost: localhost\r\nExpect: wonders\r\n\r\n".encode())
    assert checkout.id not in httpd.request("GET", "/server-status").body.decode()
    lines = wait_for(lambda: len((httpd.root / "open.log").read_text().splitlines()) > 11 and
                     (httpd.root / "open.log").read_text(), "the lines of the log")
    assert files_with(httpd.root, checkout.id) == [str(path) for path in (httpd.root / "store/data.mdb",) if path.exists()]
    assert f"GET /payment/page/- HTTP/1.1|/payment/page/-||-|GET|200|{checkout.reference}" in lines
    assert f"POST /payment/page/- HTTP/1.1|/payment/page/-||-|POST|303|{checkout.reference}" in lines


def test_keys_are_neither_asked_for_nor_read(checkout):
    for key in (checkout.shop.secret, "pay_testsk_" + "x" * 48, "nonsense"):
        for _ in range(3):
            assert checkout.get(headers=[("Authorization", "Bearer " + key)]).status == 200
    assert "x" * 48 not in checkout.httpd.log_text()
    line = checkout.httpd.access_lines()[-1]
    assert f" {checkout.reference} {checkout.shop.name} test - " in line and checkout.id not in line


# --- the site around it ---

def test_site_configuration_does_not_take_pages(server):
    httpd = server(host_extra="ErrorDocument 404 /site.html\nErrorDocument 400 https://elsewhere.example/\n"
                              "ErrorDocument 405 'site'\nRewriteEngine On\nRewriteRule !nonce /site.html [L]\n"
                              "Alias /payment /tmp\nAddHandler server-status .return .css\nPaymentsBasePath /shop\n"
                              "PaymentsRateLimit public off\n")
    (httpd.docroot / "site.html").write_text("the site")
    shop = httpd.shop()
    answer = shop.call("POST", "/shop/api/v1/initiate", {
        "transactionReference": "checkout-of-this-site", "amount": 1, "currency": "NGN",
        "checkoutCustomerData": {"email": "a@example.com", "firstName": "A", "lastName": "B"}})
    path = answer.json["data"]["paymentRedirectUrl"].partition(str(httpd.port))[2]
    assert path.startswith("/shop/payment/page/")
    assert Page(httpd.request("GET", path), path).forms()
    assert httpd.request("POST", path, CARD, [("Content-Type", FORM)]).status == 303
    assert Page(httpd.request("GET", path), path).kind == "approved"
    assert httpd.request("GET", "/shop/payment/page/checkout.css").header("content-type") == "text/css; charset=utf-8"
    page_of(httpd.request("GET", "/shop" + NONE), 404)
    page_of(httpd.request("GET", "/shop/payment/page/a%2Fb"), 404)
    page_of(httpd.request("PUT", path), 405)
    raw = httpd.raw(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nBad Header: x\r\n\r\n".encode())
    assert b" 400 " in raw.splitlines()[0] and b"text/html; charset=utf-8" in raw and b"could not be read" in raw
    assert httpd.request("GET", NONE).body == b"the site"


def test_a_redirect_inside_the_server_never_pays(server):
    httpd = server(extra="PaymentsRateLimit public off\n")
    checkout = Checkout(httpd.shop())
    (httpd.docroot / ".htaccess").write_text(f"RewriteEngine On\nRewriteRule ^go$ {checkout.path} [L]\n")
    assert Page(httpd.request("GET", "/go"), "/go").forms()
    page_of(checkout.post(CARD, path="/go"), 404)
    assert checkout.status() == "pending"


def test_a_fence_of_the_sites_holds(server):
    httpd = server(host_extra='<Location "/payment/page">\nAuthType Basic\nAuthName staging\n'
                              "AuthUserFile ${ROOT}/users\nRequire valid-user\n</Location>\nPaymentsRateLimit public off\n",
                   env={"ROOT": "{root}"}, start=False)
    (httpd.root / "users").write_text("ada:{SHA}" + "W6ph5Mm5Pz8GgiULbPgzG37mj9g=" + "\n")  # "password"
    httpd.start()
    checkout = Checkout(httpd.shop())
    refused = checkout.get()
    assert (refused.status, refused.header("www-authenticate")) == (401, 'Basic realm="staging"')
    assert "sign-in" in refused.body.decode() and refused.header("content-type") == "text/html; charset=utf-8"
    assert checkout.get(headers=[("Authorization", "Basic YWRhOnBhc3N3b3Jk")]).status == 200


def test_require_without_an_auth_type_asks_for_no_key(server):
    httpd = server(host_extra='<Location "/payment/page">\nRequire ip 10.0.0.0/8\n</Location>\n')
    httpd.expect_log("AH01630|AH01797")
    checkout = Checkout(httpd.shop())
    page_of(checkout.get(), 403)


def test_require_that_wants_a_user_reads_no_key(server):
    """Nobody has said how to sign in: httpd's own 500, not a call's 401."""
    httpd = server(host_extra='<Location "/payment/page">\nRequire valid-user\n</Location>\n')
    httpd.expect_log("AH00027")
    checkout = Checkout(httpd.shop())
    page_of(checkout.get(headers=[("Authorization", "Bearer " + checkout.shop.secret)]), 500)


def test_encoded_slash_that_the_site_allows_is_the_sites(server):
    httpd = server(host_extra="AllowEncodedSlashes On\nErrorDocument 404 'the site'\n")
    answer = httpd.request("GET", "/payment/page/a%2Fb")
    assert (answer.status, answer.body) == (404, b"the site")


def test_another_accounts_host_has_no_such_page(server):
    httpd = server(host_extra="PaymentsRateLimit public off\n", extra="PaymentsCheckoutLifetime 1h\n")
    checkout = Checkout(httpd.shop())
    httpd.host_extra = "PaymentsAccount somebody-else\n"
    httpd.ctl("account", "create", "somebody-else")
    httpd.write_config()
    httpd.graceful()
    page_of(wait_for(lambda: (lambda one: one if one.status == 404 else None)(checkout.get()), "the other host"), 404)


def test_tls_is_required(server):
    httpd = server(address="127.0.0.1", host_extra="PaymentsRequireTLS On\nPaymentsTrustedTLSProxy 127.0.0.1\n"
                                                   "PaymentsRateLimit public off\n")
    checkout = Checkout(httpd.shop())
    assert checkout.get(headers=[("X-Forwarded-Proto", "https")]).status == 200
    page = page_of(checkout.get(headers=[("X-Forwarded-Proto", "http")]), 403)
    assert "https" in page.said()
    assert checkout.post(CARD, [("X-Forwarded-Proto", "http")]).status == 403 and checkout.status() == "pending"


def test_too_many_requests(server):
    httpd = server(host_extra="PaymentsRateLimit public 1/h burst=4\n")
    checkout = Checkout(httpd.shop())
    assert [checkout.get().status for _ in range(3)] == [200] * 3
    assert checkout.post("action=card").status == 400
    answer = checkout.post(CARD)
    page_of(answer, 429)
    assert int(answer.header("retry-after")) > 3000
    assert checkout.status() == "pending"
    assert checkout.get("/payment/page/checkout.css").status == 200
    assert httpd.request("GET", NONE).status == 429  # nor can ids be tried
    check_envelope(httpd.request("GET", "/api/v1/none"), 401)
    assert httpd.log_text().count("PAY00594") == 1


def test_a_store_that_is_out_of_service(server):
    httpd = server()
    checkout = Checkout(httpd.shop())
    httpd.stop()
    (httpd.store / "data.mdb").write_bytes(b"broken" * 1000)
    httpd.expect_log("PAY00100|PAY00303|PAY00350")  # of the store that cannot be opened
    httpd.start()
    answer = checkout.get()
    page = page_of(answer, 503)
    assert answer.header("retry-after") and "never taken twice" in page.said()
    assert "PAY00590: a payment page answers 503 E2: " in httpd.log_text()
