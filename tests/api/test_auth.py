# SPDX-License-Identifier: Apache-2.0
"""Who may call what (docs/api.md, "Authentication")."""

import json
import time

import pytest

from conftest import MPMS
from harness import charge_body, wait_for


LIST = "/api/v1/refund/2026-01-01/2026-01-02"


def get(httpd, *values, path=LIST, more=()):
    return httpd.request("GET", path, headers=[("Authorization", v) for v in values] + list(more))


@pytest.mark.parametrize("form", [
    pytest.param("Bearer {}", id="bearer"),
    pytest.param("bearer {}", id="lower case"),
    pytest.param("BEARER   {}", id="upper case, blanks"),
    pytest.param("Bearer: {}", id="with a colon"),
    pytest.param("{}", id="the bare key"),
    pytest.param("  Bearer {}  ", id="blanks around"),
])
def test_header_forms(shop, form):
    assert get(shop.httpd, form.format(shop.secret)).status == 200


@pytest.mark.parametrize("form", [
    pytest.param("Basic {}", id="another scheme"),
    pytest.param("Bearer", id="no key"),
    pytest.param("Bearer {} x", id="inner blank"),
    pytest.param("Bearer {},x", id="comma"),
    pytest.param("Bearer {0}, Bearer {0}", id="two in one"),
    pytest.param("Bearer {}x", id="one character more"),
    pytest.param("Bearer x{}", id="one character before"),
    pytest.param("Bearer short_testsk_x", id="too short"),
    pytest.param("Bearer pay_testsk_" + "a" * 200, id="too long"),
    pytest.param("Bearer pay_testsk_" + "a" * 48, id="well-formed, unknown"),
    pytest.param("Bearer {}\t{}", id="tab inside"),
])
def test_refused_credentials(shop, form):
    answer = get(shop.httpd, form.format(shop.secret, shop.secret))
    assert answer.status == 401
    assert answer.header("www-authenticate") == 'Bearer realm="payments", error="invalid_token"'
    assert answer.json["data"]["responseCode"] == "B01"
    assert answer.json["message"] == "Invalid Merchant Authorization."


def test_no_credentials(shop):
    answer = get(shop.httpd)
    assert answer.status == 401
    assert answer.header("www-authenticate") == 'Bearer realm="payments"'
    assert answer.json["status"] is False


def test_two_authorization_headers(shop):
    value = "Bearer " + shop.secret
    assert get(shop.httpd, value, value).status == 401


def test_key_in_the_query_is_no_key(httpd, shop):
    httpd.expect_log("PAY00780")
    assert httpd.request("GET", f"{LIST}?key={shop.secret}").status == 401


@pytest.mark.parametrize("method, path, key, status", [
    pytest.param("GET", LIST, "secret", 200, id="list, secret"),
    pytest.param("GET", LIST, "public", 403, id="list, public"),
    pytest.param("GET", LIST, "live_secret", 200, id="list, live secret"),
    pytest.param("GET", LIST, "live_public", 403, id="list, live public"),
    pytest.param("POST", "/api/v1/tokenized-card-charge", "public", 403, id="charge, public"),
    pytest.param("GET", "/api/v1/refund/abc", "public", 403, id="single refund, public"),
    pytest.param("POST", "/api/v1/paymentlink/initiate", "secret", 400, id="link, secret"),
    pytest.param("POST", "/api/v1/paymentlink/initiate", "public", 400, id="link, public"),
    pytest.param("POST", "/payment/order/create", "secret", 400, id="order, secret"),
    pytest.param("POST", "/payment/order/create", "public", 400, id="order, public"),
    pytest.param("POST", "/api/v1/paymentlink/initiate", None, 401, id="link, no key"),
    pytest.param("POST", "/payment/order/create", None, 401, id="order, no key"),
    pytest.param("GET", "/api/v1/nothing", None, 401, id="unknown path, no key"),
    pytest.param("GET", "/api/v1/nothing", "secret", 404, id="unknown path, key"),
    pytest.param("GET", "/api/v1", None, 401, id="the root, no key"),
    pytest.param("DELETE", LIST, None, 401, id="wrong method, no key"),
    pytest.param("DELETE", LIST, "secret", 405, id="wrong method, key"),
    pytest.param("DELETE", LIST, "public", 405, id="the method is judged before the kind of key"),
])
def test_who_may(shop, method, path, key, status):
    headers = []
    body = None
    if method == "POST":
        body = json.dumps(charge_body())
        headers.append(("Content-Type", "application/json"))
    if key:
        headers.append(("Authorization", "Bearer " + getattr(shop, key)))
    answer = shop.httpd.request(method, path, body, headers)
    assert answer.status == status, answer
    code = {200: None, 400: "T1", 401: "B01", 403: "B02", 404: "N2", 405: "M1"}[status]
    if code:
        assert answer.json["data"]["responseCode"] == code
        assert answer.json["status"] is False
    if status == 403:
        assert 'error="insufficient_scope"' in answer.header("www-authenticate")
    if status == 405:
        assert "GET" in answer.header("allow")


def test_secret_key_from_a_browser(shop):
    answer = get(shop.httpd, "Bearer " + shop.secret, more=[("Origin", "https://shop.example")])
    assert answer.status == 403
    assert answer.json["data"]["responseCode"] == "B02"


def test_no_cors_header_without_the_directive(shop):
    answer = shop.httpd.request("OPTIONS", LIST, headers=[
        ("Origin", "https://shop.example"), ("Access-Control-Request-Method", "POST")])
    assert answer.status == 401
    assert not [n for n, _ in answer.headers if n.startswith("access-control")]


def test_options_after_the_key(shop):
    answer = shop.call("OPTIONS", LIST)
    assert answer.status == 204
    assert answer.header("allow") == "GET, HEAD, OPTIONS"


def test_only_digests_are_stored(shop):
    shop.charge()
    data = (shop.httpd.store / "data.mdb").read_bytes()
    for key in (shop.secret, shop.public, shop.live_secret, shop.live_public):
        assert key.encode() not in data


def test_revocation_is_seen_at_once_by_every_process(shop):
    httpd = shop.httpd
    key = httpd.ctl("key", "create", shop.name, "--mode", "test", "--kind", "secret").stdout.strip()
    rows = json.loads(httpd.ctl("key", "list", shop.name, "--json").stdout)
    newest = max(rows, key=lambda row: row["createdAt"] + row["id"] if row["kind"] == "secret"
                 and row["mode"] == "test" else "")
    candidates = [r for r in rows if r["kind"] == "secret" and r["mode"] == "test"]
    assert newest in candidates and len(candidates) == 2
    connections = [httpd.connect() for _ in range(16)]
    headers = [("Authorization", "Bearer " + key)]
    assert {httpd.request("GET", LIST, headers=headers, connection=c).status for c in connections} == {200}
    for row in candidates:
        httpd.ctl("key", "revoke", row["id"])
    assert {httpd.request("GET", LIST, headers=headers, connection=c).status for c in connections} == {401}
    for connection in connections:
        connection.close()


def test_rotation_with_overlap(shop):
    assert shop.public  # made now
    rows = json.loads(shop.httpd.ctl("key", "list", shop.name, "--json").stdout)
    old = next(r for r in rows if r["kind"] == "secret" and r["mode"] == "test")
    new = shop.httpd.ctl("key", "rotate", old["id"], "--overlap", "24h").stdout.strip()
    assert get(shop.httpd, "Bearer " + new).status == 200
    assert get(shop.httpd, "Bearer " + shop.secret).status == 200
    public = next(r for r in rows if r["kind"] == "public" and r["mode"] == "test")
    shop.httpd.ctl("key", "rotate", public["id"])
    path = "/api/v1/paymentlink/initiate"
    assert shop.call("POST", path, {}, key=shop.public).status == 401


def test_imported_key_of_the_deployed_api(shop):
    key = "nc_testsk_" + "0a1b2c3d4e" * 3
    shop.httpd.ctl("key", "import", shop.name, "--mode", "test", "--kind", "secret", stdin=key + "\n")
    assert get(shop.httpd, "Bearer " + key).status == 200


@pytest.mark.parametrize("mpm", MPMS)
def test_last_use_is_kept_to_the_minute(mpm, server):
    """Of calls in two minutes each, written within a round of the watchdog."""
    httpd = server(mpm=mpm, clock=True)
    shop, clock = httpd.shop(), httpd.clock
    clock.stop()
    for _ in range(2):
        clock.pass_seconds(60)
        assert shop.refunds().status == 200
        minute = time.strftime("%Y-%m-%dT%H:%M:00.000Z", time.gmtime(clock.now()))

        def used():
            clock.pass_seconds(10)
            return [row["lastUsedAt"] for row in json.loads(httpd.ctl("key", "list", shop.name, "--json").stdout)]

        wait_for(lambda: used() == [minute], "the watchdog to write lastUsedAt")  # noqa: B023


def test_one_accounts_key_on_anothers_host(server):
    httpd = server(host_extra="PaymentsAccount alpha")
    httpd.expect_log("PAY00302: PaymentsAccount alpha does not exist yet")
    other = httpd.shop("beta")
    assert get(httpd, "Bearer " + other.secret).status == 401
    alpha = httpd.shop("alpha")
    assert get(httpd, "Bearer " + alpha.secret).status == 200
    assert get(httpd, "Bearer " + other.secret).status == 401


REQUIRE = """
<Location "/api/v1">
{auth}
<RequireAny>
Require payments-key {words}
</RequireAny>
</Location>
"""


@pytest.mark.parametrize("auth", ["", "AuthType Payments\nAuthzSendForbiddenOnFailure On"],
                         ids=["no AuthType", "AuthType"])
@pytest.mark.parametrize("words, allowed", [
    ("secret", {"secret", "live_secret"}),
    ("test", {"secret"}),
    ("live", {"live_secret"}),
    ("secret public", {"secret", "live_secret"}),
    ("secret live", {"live_secret"}),
    ("public", set()),
])
def test_require_payments_key(server, auth, words, allowed):
    httpd = server(host_extra=REQUIRE.format(auth=auth, words=words))
    httpd.expect_log("AH01630|AH01631")
    shop = httpd.shop()
    for name in ("secret", "live_secret", "public", "live_public"):
        status = get(httpd, "Bearer " + getattr(shop, name)).status
        assert status == (200 if name in allowed else 403), (name, status)
    answer = get(httpd)
    assert answer.status == 401
    assert answer.json["data"]["responseCode"] == "B01"
    assert answer.header("www-authenticate") == 'Bearer realm="payments"'


def test_another_sites_basic_auth_and_its_override(server):
    basic = '<Location "/">\nAuthType Basic\nAuthName x\nAuthUserFile /dev/null\nRequire valid-user\n</Location>\n'
    closed = server(host_extra='<Location "/api">\n' + basic.split("\n", 1)[1])
    shop = closed.shop()
    closed.expect_log("AH01614")
    answer = get(closed, "Bearer " + shop.secret)
    assert answer.status == 401
    assert answer.json["data"]["responseCode"] == "B01"
    override = ('<Location "/api/v1">\nAuthType Payments\nRequire payments-key secret public\n</Location>\n')
    opened = server(host_extra='<Location "/api">\n' + basic.split("\n", 1)[1] + override)
    shop = opened.shop()
    assert get(opened, "Bearer " + shop.secret).status == 200


def test_key_rule_in_a_host_without_the_module(server):
    """The rule cannot be judged there: what it guards is closed, and the log says why."""
    httpd = server(engine=False, host_extra="<Location /guarded>\nAuthType Payments\nRequire payments-key secret\n</Location>")
    httpd.expect_log("PAY00310: AuthType Payments needs PaymentsEngine On in this virtual host: /guarded/page is closed")
    (httpd.docroot / "guarded").mkdir()
    (httpd.docroot / "guarded/page").write_text("guarded")
    answer = httpd.request("GET", "/guarded/page", headers={"Authorization": "Bearer pay_testsk_" + "a" * 48})
    assert answer.status == 500 and b"guarded" not in answer.body, answer
    assert "PAY00310" in httpd.log_text()


def test_logs_hold_no_secret_at_any_level(server):
    """Every kind of call at the most talkative level of the module, and then a search."""
    httpd = server(host_extra="LogLevel payments:trace8")
    shop = httpd.shop()
    token = httpd.ctl("token", "create", shop.name, "--mode", "test", "--card", "5555555555554444",
                      "--email", "payer@hidden.example").stdout.strip()
    wrong = "pay_testsk_" + "b" * 48
    shop.charge(token=token, email="payer@hidden.example", firstName="Hidden")
    shop.charge(token=token, email="other@hidden.example")
    shop.charge(token="tok_test_timeout", email="payer@hidden.example")
    shop.charge(token="5555555555554444", email="payer@hidden.example")
    shop.call("POST", "/api/v1/tokenized-card-charge", '{"email":"payer@hidden.example",')
    shop.charge(key=wrong)
    shop.charge(key=shop.public)
    shop.refunds()
    get(httpd, "Basic " + shop.secret)
    get(httpd, "Bearer " + shop.secret, "Bearer " + shop.secret)
    httpd.raw(f"GET {LIST} HTTP/1.1\r\nAuthorization: Bearer {shop.secret}\r\n\r\n".encode(), shutdown=True)
    lines = wait_for(lambda: len(httpd.access_lines()) >= 11 and httpd.access_lines(), "the access log of every call")
    text = httpd.log_text() + "\n".join(lines)
    for secret in (shop.secret, shop.public, wrong, token, "tok_test_timeout", "hidden.example", "Hidden",
                   "5555555555554444"):
        assert secret not in text
