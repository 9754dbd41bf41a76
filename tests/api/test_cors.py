# SPDX-License-Identifier: Apache-2.0
"""PaymentsCORSOrigin, seen with the rules that a browser applies (Fetch, "HTTP-CORS protocol")."""

import http.client
import json
import subprocess

import pytest

from harness import WAIT_S, Httpd, Response, reference


SHOP = "https://shop.example"
LOCAL = "http://localhost:3000"
VERIFY = "/api/v1/checkout/{}/verify"
UNKNOWN = VERIFY.format("no-such-reference")
MORE_HOSTS = """
<VirtualHost 127.0.0.1:@PORT@>
ServerName other.example
PaymentsEngine On
PaymentsStore lmdb:{store}
PaymentsBasePath /shop
PaymentsCORSOrigin https://other.example
</VirtualHost>
<VirtualHost 127.0.0.1:@PORT@>
ServerName plain.example
PaymentsEngine On
PaymentsStore lmdb:{store}
</VirtualHost>
"""
# What a page may read of an answer without its being exposed.
SAFE_HEADERS = {"cache-control", "content-language", "content-length", "content-type", "expires", "last-modified",
                "pragma"}


class Blocked(Exception):
    """What fetch() throws: the page learns no more than that."""


class Page:
    """A page of `origin` in a browser that talks to virtual host `host`. "null" is an opaque origin."""

    def __init__(self, httpd, origin, host="localhost"):
        self.httpd, self.origin, self.host = httpd, origin, host

    def send(self, method, path, headers, body=None):
        conn = http.client.HTTPConnection("127.0.0.1", self.httpd.port, timeout=WAIT_S)
        try:
            conn.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            for name, value in [("Host", self.host), *headers]:
                conn.putheader(name, value)
            if body is not None:
                conn.putheader("Content-Length", str(len(body)))
            conn.endheaders(body)
            answer = conn.getresponse()
            return Response(answer.status, [(n.lower(), v) for n, v in answer.getheaders()], answer.read())
        finally:
            conn.close()

    @staticmethod
    def unsafe_names(headers):
        """CORS-unsafe request-header names: these need a preflight."""
        simple_types = {"application/x-www-form-urlencoded", "multipart/form-data", "text/plain"}
        names = set()
        for name, value in headers:
            name = name.lower()
            if name == "content-type" and value.split(";")[0].strip().lower() in simple_types:
                continue
            if name not in ("accept", "accept-language", "content-language"):
                names.add(name)
        return sorted(names)

    def cors_check(self, answer):
        """Equal byte for byte, one value, and not the wildcard: a payment API has no business with it."""
        allowed = [v for n, v in answer.headers if n == "access-control-allow-origin"]
        assert allowed != ["*"] and answer.header("access-control-allow-credentials") is None
        if allowed != [self.origin] or self.origin == "null":
            raise Blocked(f"Allow-Origin is {allowed}")

    def preflight(self, method, path, names=()):
        headers = [("Origin", self.origin), ("Access-Control-Request-Method", method), ("Accept", "*/*")]
        if names:
            headers.append(("Access-Control-Request-Headers", ",".join(names)))
        return self.send("OPTIONS", path, headers)

    def fetch(self, method, path, headers=(), body=None):
        """The answer as the page's script sees it, or Blocked."""
        names = self.unsafe_names(headers)
        if names or method not in ("GET", "HEAD", "POST"):
            answer = self.preflight(method, path, names)
            self.cors_check(answer)
            if not 200 <= answer.status <= 299:
                raise Blocked(f"the preflight is {answer.status}")
            listed = lambda name: [v.strip() for v in (answer.header(name) or "").split(",") if v.strip()]
            if method not in listed("access-control-allow-methods") and method not in ("GET", "HEAD", "POST"):
                raise Blocked(f"method {method}")
            allowed = {n.lower() for n in listed("access-control-allow-headers")}
            if not set(names) <= allowed:
                raise Blocked(f"headers {set(names) - allowed}")
        answer = self.send(method, path, [("Origin", self.origin), *headers], body)
        self.cors_check(answer)
        shown = {v.strip().lower() for v in (answer.header("access-control-expose-headers") or "").split(",")}
        return Response(answer.status, [(n, v) for n, v in answer.headers if n in SAFE_HEADERS | shown], answer.body)


def bearer(key):
    return [("Authorization", "Bearer " + key)]


def posts(key):
    return [*bearer(key), ("Content-Type", "application/json")]


def varies(answer):
    return "origin" in [v.strip().lower() for v in (answer.header("vary") or "").split(",")]


def cors_headers(answer):
    return {n: v for n, v in answer.headers if n.startswith("access-control-")}


@pytest.fixture(scope="module")
def running():
    one = Httpd(host_extra=f"PaymentsCORSOrigin {SHOP}\nPaymentsCORSOrigin {LOCAL} HTTPS://[::1]:8443")
    one.extra = MORE_HOSTS.format(store=one.store)
    one.start()
    yield one
    one.close()


@pytest.fixture
def httpd(running):
    yield running
    loud = running.unexpected()
    assert not loud, "unexpected in the error log:\n" + "\n".join(loud)


@pytest.fixture
def page(httpd):
    return Page(httpd, SHOP)


PUBLIC = [
    ("GET", UNKNOWN, 404),
    ("HEAD", UNKNOWN, 404),
    ("GET", "/api/v1/openapi.json", 200),
    ("POST", "/api/v1/initiate", 400),
    ("POST", "/api/v1/paymentlink/initiate", 400),
    ("POST", "/payment/order/create", 400),
]
SECRET = [
    ("POST", "/api/v1/tokenized-card-charge"),
    ("POST", "/api/v1/refund"),
    ("POST", "/api/v1/partial-refund"),
    ("GET", "/api/v1/refund/x"),
    ("GET", "/api/v1/refund/2026-01-01/2026-01-02"),
    ("GET", "/api/v1/transaction/x/verify"),
    ("POST", "/api/v1/transaction/verify"),
    ("POST", "/api/v1/void-transaction"),
]
NO_OPERATION = [
    ("GET", "/api/v1"),
    ("GET", "/api/v1/nothing"),
    ("POST", "/api/v1/checkout/a/b/verify"),
]


@pytest.mark.parametrize("origin", [SHOP, LOCAL, "https://[::1]:8443"])
def test_page_verifies_its_checkout(httpd, origin):
    shop = httpd.shop()
    ref = reference()
    assert shop.charge(reference=ref).status == 200
    answer = Page(httpd, origin).fetch("GET", VERIFY.format(ref), bearer(shop.public))
    assert answer.status == 200
    assert answer.json["data"]["reference"] == ref
    assert answer.header("request-id")
    assert answer.header("vary") is None, "the browser's own business"


@pytest.mark.parametrize("method, path, status", PUBLIC)
def test_public_operations(page, method, path, status):
    key = page.httpd.shop().public
    headers = [*posts(key), ("Idempotency-Key", "one"), ("Accept", "application/json")] if method == "POST" \
        else bearer(key)
    answer = page.fetch(method, path, headers, b"{}" if method == "POST" else None)
    assert answer.status == status
    assert answer.header("request-id")


@pytest.mark.parametrize("path, methods", [
    (UNKNOWN, "GET, HEAD"),
    ("/api/v1/openapi.json", "GET, HEAD"),
    ("/api/v1/initiate", "POST"),
    ("/payment/order/create", "POST"),
])
def test_preflight(page, path, methods):
    answer = page.preflight(methods.split(",")[0], path, ["authorization", "content-type"])
    assert answer.status == 204
    assert answer.body == b""
    assert cors_headers(answer) == {
        "access-control-allow-origin": SHOP,
        "access-control-allow-methods": methods,
        "access-control-allow-headers": "Authorization, api-key, Content-Type, Accept, Idempotency-Key",
        "access-control-max-age": "600",
    }
    vary = {v.strip().lower() for v in answer.header("vary").split(",")}
    assert {"origin", "access-control-request-method", "access-control-request-headers"} <= vary
    assert answer.header("cache-control") == "no-store"


@pytest.mark.parametrize("key", ["pay_testsk_" + "a" * 48, "no key at all"])
def test_preflight_does_not_look_at_keys(page, key):
    answer = page.send("OPTIONS", UNKNOWN, [("Origin", SHOP), ("Access-Control-Request-Method", "GET"), *bearer(key)])
    assert answer.status == 204


@pytest.mark.parametrize("header", ["x-requested-with", "cookie2", "if-match"])
def test_header_that_is_not_allowed(page, header):
    with pytest.raises(Blocked, match="headers"):
        page.fetch("GET", UNKNOWN, [*bearer(page.httpd.shop().public), (header, "x")])


@pytest.mark.parametrize("method, path", SECRET + NO_OPERATION)
def test_secret_operations_and_unknown_paths_have_no_cors(page, method, path):
    shop = page.httpd.shop()
    with pytest.raises(Blocked):
        page.fetch(method, path, bearer(shop.public), b"{}" if method == "POST" else None)
    preflight = page.preflight(method, path)
    assert preflight.status == 401
    actual = page.send(method, path, [("Origin", SHOP), *posts(shop.public)], b"{}" if method == "POST" else None)
    assert actual.status == (404 if (method, path) in NO_OPERATION else 403)
    for answer in preflight, actual:
        assert cors_headers(answer) == {}
        assert not varies(answer)


@pytest.mark.parametrize("origin", [
    pytest.param("https://evil.example", id="foreign"),
    pytest.param("null", id="opaque"),
    pytest.param("http://shop.example", id="another scheme"),
    pytest.param(SHOP + ":8443", id="another port"),
    pytest.param(SHOP + ".evil.example", id="our name in front"),
    pytest.param("https://evil-shop.example", id="our name at the end"),
    pytest.param("https://www.shop.example", id="a name below ours"),
    pytest.param(SHOP + "/", id="with a slash"),
    pytest.param("HTTPS://SHOP.EXAMPLE", id="upper case"),
    pytest.param(SHOP + ", https://evil.example", id="two"),
    pytest.param("*", id="wildcard"),
    pytest.param("", id="empty"),
    pytest.param("https://other.example", id="another virtual host's"),
])
def test_foreign_origin(httpd, origin):
    page = Page(httpd, origin)
    shop = httpd.shop()
    ref = reference()
    shop.charge(reference=ref)
    with pytest.raises(Blocked):
        page.fetch("GET", VERIFY.format(ref), bearer(shop.public))
    preflight = page.preflight("GET", VERIFY.format(ref), ["authorization"])
    assert preflight.status == 401
    assert preflight.header("www-authenticate") == 'Bearer realm="payments"'
    actual = page.send("GET", VERIFY.format(ref), [("Origin", origin), *bearer(shop.public)])
    assert actual.status == 200, "CORS is the browser's rule, not a lock"
    for answer in preflight, actual:
        assert cors_headers(answer) == {}
        assert varies(answer)


def test_two_origin_headers(page):
    shop = page.httpd.shop()
    answer = page.send("GET", UNKNOWN, [("Origin", SHOP), ("Origin", SHOP), *bearer(shop.public)])
    assert answer.status == 404 and cors_headers(answer) == {}


@pytest.mark.parametrize("method, path", [
    ("POST", UNKNOWN), ("PUT", UNKNOWN), ("DELETE", UNKNOWN), ("get", UNKNOWN), ("OPTIONS", UNKNOWN), ("*", UNKNOWN),
    ("", UNKNOWN), ("GET, POST", UNKNOWN), ("GET", "/api/v1/initiate"), ("PATCH", "/payment/order/create"),
])
def test_preflight_for_another_method(page, method, path):
    answer = page.preflight(method, path)
    assert answer.status == 401
    assert cors_headers(answer) == {}
    assert varies(answer)


@pytest.mark.parametrize("headers", [
    pytest.param([("Origin", SHOP)], id="no method asked for"),
    pytest.param([("Access-Control-Request-Method", "GET")], id="no origin"),
    pytest.param([], id="neither"),
])
def test_options_that_is_no_preflight(page, headers):
    shop = page.httpd.shop()
    answer = page.send("OPTIONS", UNKNOWN, headers)
    assert answer.status == 401 and cors_headers(answer) == {}
    answer = page.send("OPTIONS", UNKNOWN, [*headers[:1], *bearer(shop.public)])
    assert answer.status == 204 and cors_headers(answer) == {}
    assert answer.header("allow") == "GET, HEAD, OPTIONS"


def test_secret_key_in_a_browser(page):
    """403; on a public operation the page may read why, on a secret one it learns nothing."""
    shop = page.httpd.shop()
    answer = page.fetch("GET", UNKNOWN, bearer(shop.secret))
    assert answer.status == 403
    assert answer.json["data"]["responseCode"] == "B02"
    with pytest.raises(Blocked):
        page.fetch("GET", "/api/v1/transaction/x/verify", bearer(shop.secret))
    answer = page.send("GET", "/api/v1/transaction/x/verify", [("Origin", SHOP), *bearer(shop.secret)])
    assert answer.status == 403 and cors_headers(answer) == {}


ERRORS = [
    pytest.param("GET", UNKNOWN, [("Authorization", "Bearer pay_testpk_" + "a" * 48)], None, 401, id="unknown key"),
    pytest.param("GET", UNKNOWN, [], None, 401, id="no key, no preflight"),
    pytest.param("GET", UNKNOWN, [...], None, 404, id="unknown reference"),
    pytest.param("GET", UNKNOWN, [..., ("Accept", "image/png")], None, 406, id="nothing acceptable"),
    pytest.param("POST", "/api/v1/initiate", [...], b"{}", 415, id="no media type"),
    pytest.param("POST", "/api/v1/initiate", [..., ("Content-Type", "text/plain")], b"{}", 415, id="media type"),
    pytest.param("POST", "/api/v1/initiate", [..., ("Content-Type", "application/json")], b"{", 400, id="no JSON"),
    pytest.param("POST", "/api/v1/initiate", [..., ("Content-Type", "application/json")],
                 b'{"a":"' + b"x" * 70000 + b'"}', 413, id="too long"),
]


@pytest.mark.parametrize("method, path, headers, body, status", ERRORS)
def test_page_can_read_errors(page, method, path, headers, body, status):
    key = bearer(page.httpd.shop().public)
    answer = page.fetch(method, path, [pair for one in headers for pair in (key if one is ... else [one])], body)
    assert answer.status == status
    assert answer.json["data"]["requestId"] == answer.header("request-id")
    if status == 401:
        assert answer.header("www-authenticate").startswith("Bearer")


def test_replayed_header_is_exposed(page):
    answer = page.send("GET", UNKNOWN, [("Origin", SHOP)])
    assert answer.header("access-control-expose-headers") == \
        "Request-Id, Retry-After, Idempotent-Replayed, WWW-Authenticate"


def test_error_of_httpd_itself(page):
    """A body whose framing breaks is judged by httpd's own filter, not by an operation."""
    key = page.httpd.shop().public
    said = page.httpd.raw(f"POST /api/v1/initiate HTTP/1.1\r\nHost: localhost\r\nOrigin: {SHOP}\r\n"
                          f"Authorization: Bearer {key}\r\nContent-Type: application/json\r\n"
                          "Transfer-Encoding: chunked\r\n\r\nzz\r\n".encode())
    assert said.startswith(b"HTTP/1.1 400 ")
    assert f"\r\nAccess-Control-Allow-Origin: {SHOP}\r\n".encode() in said


@pytest.mark.parametrize("path, want", [
    (UNKNOWN, True), ("/api/v1/initiate", True), ("/api/v1//initiate", True), ("/api/v1/openapi.json", True),
    ("/api/v1/refund/x", False), ("/api/v1/nothing", False), ("/nonce.txt", False),
])
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE", "OPTIONS"])
def test_vary_without_an_origin(page, method, path, want):
    for headers in [], bearer(page.httpd.shop().public):
        answer = page.send(method, path, headers)
        assert varies(answer) == want, answer
        assert cors_headers(answer) == {}


@pytest.mark.parametrize("path", ["//api/v1/checkout/x/verify", "/api//v1/checkout//x/verify"])
def test_doubled_slashes(page, path):
    assert page.fetch("GET", path, bearer(page.httpd.shop().public)).status == 404


def test_hosts_of_one_store(httpd):
    """Each virtual host's directive counts there alone; nothing is inherited."""
    key = httpd.shop().public
    there = Page(httpd, "https://other.example", "other.example")
    assert there.fetch("GET", "/shop" + UNKNOWN, bearer(key)).status == 404
    for origin, host, base in [(SHOP, "other.example", "/shop"), (SHOP, "plain.example", ""),
                               ("https://other.example", "plain.example", "")]:
        page = Page(httpd, origin, host)
        with pytest.raises(Blocked):
            page.fetch("GET", base + UNKNOWN, bearer(key))
        answer = page.send("GET", base + UNKNOWN, [("Origin", origin), *bearer(key)])
        assert answer.status == 404 and cors_headers(answer) == {}
        assert varies(answer) == (host == "other.example")


@pytest.mark.parametrize("when", ["", "always "])
def test_headers_of_the_site_are_not_doubled(server, when):
    httpd = server(host_extra=f"PaymentsCORSOrigin {SHOP}\nHeader {when}set Access-Control-Allow-Origin *\n"
                              f"Header {when}set Access-Control-Allow-Credentials true\n"
                              f"Header {when}set Access-Control-Allow-Methods DELETE\n"
                              f"Header {when}set Vary X-Site")
    shop = httpd.shop()
    page = Page(httpd, SHOP)
    assert page.fetch("GET", UNKNOWN, bearer(shop.public)).status == 404
    assert page.fetch("GET", UNKNOWN).status == 401
    assert page.preflight("GET", UNKNOWN).header("access-control-allow-methods") == "GET, HEAD"
    assert varies(page.send("GET", UNKNOWN, [("Origin", SHOP)]))
    assert page.send("GET", "/nonce.txt", [("Origin", SHOP)]).header("access-control-allow-origin") == "*"


@pytest.mark.parametrize("rule, preflight, actual", [
    pytest.param("AuthType Payments\nRequire payments-key secret public", 204, 404, id="any key"),
    pytest.param("Require payments-key public", 204, 404, id="without AuthType"),
    pytest.param("Require payments-key test", 204, 404, id="a mode"),
    pytest.param("AuthType Payments\n<RequireAll>\nRequire ip 127.0.0.1\nRequire payments-key public\n</RequireAll>",
                 204, 404, id="with an address"),
    pytest.param("AuthType Payments\n<RequireAll>\nRequire ip 192.0.2.1\nRequire payments-key public\n</RequireAll>",
                 403, 403, id="another address"),
    pytest.param("AuthType Payments\nRequire payments-key secret", 401, 401, id="secret keys only"),
    pytest.param("Require all denied", 403, 403, id="closed"),
    pytest.param("AuthType Payments\nRequire valid-user", 401, 404, id="a rule that knows no preflight"),
])
def test_rules_of_the_administrator(server, rule, preflight, actual):
    """A preflight passes where a public key would; httpd's own refusals are readable too."""
    httpd = server(host_extra=f'PaymentsCORSOrigin {SHOP}\n<Location "/api/v1">\n{rule}\n</Location>')
    httpd.expect_log("AH01630|AH01631")
    shop = httpd.shop()
    page = Page(httpd, SHOP)
    assert page.preflight("GET", UNKNOWN).status == preflight
    answer = page.send("GET", UNKNOWN, [("Origin", SHOP), *bearer(shop.public)])
    assert answer.status == actual
    assert answer.header("access-control-allow-origin") == SHOP
    assert answer.json["status"] is False
    assert page.preflight("POST", "/api/v1/refund").status in (401, 403)


def test_preflight_of_a_sites_own_url(server):
    """A rule of the site leads it to ours inside the server: it is not a call of ours, so it gets no CORS headers."""
    httpd = server(host_extra=f"PaymentsCORSOrigin {SHOP}")
    (httpd.docroot / ".htaccess").write_text("RewriteEngine On\nRewriteRule ^buy$ /api/v1/initiate [L]\n")
    page = Page(httpd, SHOP)
    assert page.preflight("POST", "/api/v1/initiate", ["authorization"]).status == 204
    answer = page.preflight("POST", "/buy", ["authorization"])
    assert answer.status >= 400, answer
    assert not [name for name, _ in answer.headers if name.startswith("access-control-allow")], answer.headers


def test_tls_is_judged_for_preflights_too(server):
    httpd = server(host_extra=f"PaymentsCORSOrigin {SHOP}\nPaymentsTrustedTLSProxy 127.0.0.1")
    page = Page(httpd, SHOP)
    asks = [("Origin", SHOP), ("Access-Control-Request-Method", "GET")]
    answer = page.send("OPTIONS", UNKNOWN, [*asks, ("X-Forwarded-Proto", "http")])
    assert answer.status == 403
    assert answer.json["data"]["responseCode"] == "B02"
    assert page.send("OPTIONS", UNKNOWN, [*asks, ("X-Forwarded-Proto", "https")]).status == 204


@pytest.mark.parametrize("args, status", [
    pytest.param(["-X", "OPTIONS", "-H", "Access-Control-Request-Method: GET"], 204, id="preflight"),
    pytest.param([], 401, id="actual call"),
    pytest.param(["-H", "Expect:", "--data-binary", "x" * 100_000], 401, id="a body nobody reads"),
])
def test_over_http2(httpd, args, status):
    path = "/api/v1/initiate" if "Expect:" in args else UNKNOWN
    done = subprocess.run(["curl", "-sS", "-i", "--http2-prior-knowledge", "--max-time", "60", "-H", f"Origin: {SHOP}",
                           *args, f"http://localhost:{httpd.port}{path}"], capture_output=True, text=True, check=False)
    assert done.stdout.startswith(f"HTTP/2 {status}"), done.stderr
    assert done.stdout.lower().count(f"\naccess-control-allow-origin: {SHOP}\n") == 1


def test_without_the_directive(server):
    page = Page(server(), SHOP)
    key = page.httpd.shop().public
    assert page.preflight("GET", UNKNOWN).status == 401
    for answer in (page.preflight("GET", UNKNOWN), page.send("GET", UNKNOWN, [("Origin", SHOP), *bearer(key)])):
        assert cors_headers(answer) == {}
        assert not varies(answer)
    assert json.loads(answer.body)["data"]["responseCode"] == "N1"
