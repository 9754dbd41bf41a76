# SPDX-License-Identifier: Apache-2.0
"""How often clients may call (docs/api.md, "Limits"): PaymentsRateLimit and PaymentsAuthFailureLimit."""

import contextlib
import http.client
import json
import time

import pytest

from conftest import MPMS
from harness import Httpd, at_once, charge_body, wait_for
from test_errors import check_envelope
from test_http2 import curl

LIST = "/api/v1/refund/2026-01-01/2026-01-02"
CHECKOUT = "/api/v1/checkout/none/verify"  # 404 for both kinds of key: it was served
CHARGE = "/api/v1/tokenized-card-charge"
OTHER = "other.example"
BAD = "pay_testsk_" + "x" * 48
PIDS = 'LogFormat "%P %{X-Number}i" pids\nCustomLog @ROOT@/pids.log pids\n'
TLS_PROXY = "PaymentsTrustedTLSProxy 127.0.0.1\n"  # a proxy on this machine, which ends TLS
REMOTE = "RemoteIPHeader X-Forwarded-For\nRemoteIPInternalProxy 127.0.0.1\n" + TLS_PROXY


@pytest.fixture(params=MPMS)
def mpm(request):
    return request.param


def bearer(key, *more):
    return [("Authorization", "Bearer " + key), *more]


def get(httpd, key, *more, path=CHECKOUT, connection=None):
    return httpd.request("GET", path, headers=bearer(key, *more) if key else list(more), connection=connection)


def check_refused(answer, longest):
    """429 in full: when to come back, and no challenge, for the key may well be good."""
    check_envelope(answer, 429, "L1")
    assert 1 <= int(answer.header("retry-after")) <= longest
    assert answer.header("www-authenticate") is None


def until_refused(call, status, most=2000):
    """How many answers `status` come before the first 429, the seconds they took, and the 429."""
    start = time.monotonic()
    for count in range(most):
        answer = call()
        if answer.status == 429:
            return count, time.monotonic() - start, answer
        assert answer.status == status, answer
    raise AssertionError(f"{most} calls and no 429")


@pytest.fixture
def spread(server):
    """Makes a server, and kept-alive connections that lie in at least two of its child processes."""
    opened = []

    def make(mpm, limits):
        httpd = server(start=False, mpm=mpm)
        httpd.host_extra = limits + "\n" + PIDS.replace("@ROOT@", str(httpd.root))
        httpd.start()
        log = httpd.root / "pids.log"

        def pids():
            lines = [line.split() for line in log.read_text().splitlines()]
            return {number: pid for pid, number in lines if number != "-"}

        while len(set(pids().values())) < 2:
            assert len(opened) < 100
            opened.append(httpd.connect())
            number = str(len(opened))
            assert httpd.request("GET", "/nonce.txt", headers=[("X-Number", number)],
                                 connection=opened[-1]).status == 200
            wait_for(lambda number=number: number in pids(), "the access log of the call")
        return httpd, list(opened)

    yield make
    for connection in opened:
        connection.close()


# ---- counts

def test_limit_of_a_key_over_all_children(mpm, spread):
    """The burst to the call, whichever child answers; another key of the same account has its own."""
    httpd, connections = spread(mpm, "PaymentsRateLimit 10/h burst=40")
    shop = httpd.shop()
    turns = [connections[0], connections[-1]]  # the last one made it two children
    answers = [get(httpd, shop.secret, path=LIST, connection=turns[n % 2]) for n in range(60)]
    assert [answer.status for answer in answers] == [200] * 40 + [429] * 20
    check_refused(answers[-1], 360)
    second = httpd.ctl("key", "create", shop.name, "--mode", "test", "--kind", "secret").stdout.strip()
    for key in (second, shop.live_secret, httpd.shop().secret):
        assert get(httpd, key, path=LIST).status == 200
    assert get(httpd, shop.secret, path=LIST).status == 429


def test_limit_under_calls_at_once(mpm, server):
    """Eight clients at once get together exactly what one of them would."""
    httpd = server(mpm=mpm, host_extra="PaymentsRateLimit 10/h burst=60\nPaymentsAuthFailureLimit 10/h burst=50")
    key = httpd.shop().secret

    def client():
        with contextlib.closing(httpd.connect()) as connection:
            return [get(httpd, one, path=LIST, connection=connection).status for one in [key, BAD] * 10]

    answers = sum(at_once([client] * 8), [])
    assert {status: answers.count(status) for status in set(answers)} == {200: 60, 401: 50, 429: 160 - 60 - 50}


def test_retry_after_is_true(server):
    """A millisecond before it is over a call is refused, and then it is served."""
    httpd = server(host_extra="PaymentsRateLimit 30/min burst=1", clock=True)
    key, clock = httpd.shop().secret, httpd.clock
    clock.stop()
    for _ in range(3):
        assert get(httpd, key, path=LIST).status == 200
        answer = get(httpd, key, path=LIST)
        check_refused(answer, 2)
        clock.pass_seconds(int(answer.header("retry-after")) - 0.001)
        check_refused(get(httpd, key, path=LIST), 1)
        clock.pass_seconds(0.001)
    assert get(httpd, key, path=LIST).status == 200
    clock.pass_seconds(0.25)
    clock.pass_seconds(int(get(httpd, key, path=LIST).header("retry-after")))  # of 1.75 s
    assert get(httpd, key, path=LIST).status == 200


def test_defaults(mpm, server):
    """Public keys: 50 and five a second. Secret keys: any number. Keys that fail: 120 and one a second."""
    httpd = server(mpm=mpm)
    shop, connection = httpd.shop(), httpd.connect()
    count, seconds, answer = until_refused(lambda: get(httpd, shop.public, connection=connection), 404)
    assert 50 <= count <= 50 + 5 * seconds
    check_refused(answer, 1)
    assert get(httpd, shop.live_public, connection=connection).status == 404
    count, seconds, answer = until_refused(lambda: get(httpd, BAD, connection=connection), 401)
    assert 120 <= count <= 120 + seconds
    check_refused(answer, 1)
    assert {get(httpd, shop.secret, path=LIST, connection=connection).status for _ in range(150)} == {200}
    connection.close()


def test_only_keys_that_fail_count_as_failures(mpm, server):
    """After the limit keys that fail get 429, good ones from the same address are served, no key is still 401."""
    httpd = server(mpm=mpm, host_extra="PaymentsAuthFailureLimit 1/h burst=3\nPaymentsRateLimit public off")
    shop = httpd.shop()
    for _ in range(10):
        assert get(httpd, None).status == 401
        assert get(httpd, shop.secret, path=LIST).status == 200
        assert get(httpd, shop.public, path=LIST).status == 403
        assert get(httpd, shop.secret, path="/api/v1/nothing").status == 404
    revoked = shop.live_secret
    rows = json.loads(httpd.ctl("key", "list", shop.name, "--json").stdout)
    httpd.ctl("key", "revoke", next(row["id"] for row in rows if row["mode"] == "live"))
    assert get(httpd, revoked).status == 401
    assert get(httpd, BAD).status == 401
    assert httpd.request("GET", CHECKOUT, headers=bearer(shop.secret) + bearer(shop.secret)).status == 401
    for key in (revoked, BAD, "short", "other_testsk_" + "y" * 48):
        check_refused(get(httpd, key), 3600)
    check_refused(httpd.request("GET", CHECKOUT, headers=bearer(shop.secret) + bearer(shop.secret)), 3600)
    assert get(httpd, shop.secret, path=LIST).status == 200
    assert get(httpd, shop.public).status == 404
    answer = get(httpd, None)
    assert (answer.status, answer.header("www-authenticate")) == (401, 'Bearer realm="payments"')


def test_the_log_is_told_once(server):
    httpd = server(host_extra="PaymentsRateLimit 1/h burst=1\nPaymentsAuthFailureLimit 1/h burst=1")
    shop = httpd.shop()
    for _ in range(20):
        get(httpd, shop.secret, path=LIST)
        get(httpd, BAD)
    for number in ("PAY00342", "PAY00343"):
        lines = [line for line in httpd.log_text().splitlines() if number in line]
        assert len(lines) == 1 and "[payments:notice]" in lines[0]
        assert "[client 127.0.0.1:" in lines[0] and lines[0].endswith(": 1")
    key_id = json.loads(httpd.ctl("key", "list", shop.name, "--json").stdout)[0]["id"]
    assert f"key {key_id} exceeds PaymentsRateLimit secret" in httpd.log_text()
    assert shop.secret not in httpd.log_text() and BAD not in httpd.log_text()


@pytest.mark.parametrize("limits", ["PaymentsRateLimit secret 1/h burst=1\nPaymentsRateLimit secret off",
                                    "PaymentsRateLimit OFF", ""])
def test_off(server, limits):
    httpd = server(host_extra=limits + "\nPaymentsRateLimit public off\nPaymentsAuthFailureLimit Off")
    shop, connection = httpd.shop(), httpd.connect()
    for key, status in ((shop.secret, 404), (shop.public, 404), (BAD, 401)):
        assert {get(httpd, key, connection=connection).status for _ in range(150)} == {status}
    connection.close()


# ---- addresses

@pytest.mark.parametrize("first, second, same", [
    pytest.param("192.0.2.1", "192.0.2.1", True, id="IPv4"),
    pytest.param("192.0.2.1", "192.0.2.2", False, id="another IPv4"),
    pytest.param("2001:db8:0:1::1", "2001:db8:0:1:ffff::2", True, id="one IPv6 /64"),
    pytest.param("2001:db8:0:1::1", "2001:db8:0:2::1", False, id="another IPv6 /64"),
    pytest.param("192.0.2.1", "::ffff:192.0.2.1", True, id="IPv4 in IPv6"),
])
def test_addresses_as_mod_remoteip_sees_them(server, first, second, same):
    httpd = server(modules=["remoteip"], extra=REMOTE, host_extra="PaymentsRateLimit public 1/h burst=2\n"
                   "PaymentsAuthFailureLimit 1/h burst=2")
    key = httpd.shop().public
    one, two = ("X-Forwarded-For", first), ("X-Forwarded-For", second)
    for key, status in ((key, 404), (BAD, 401)):
        assert [get(httpd, key, one).status for _ in range(3)] == [status, status, 429]
        assert get(httpd, key, two).status == (429 if same else status)


def test_an_address_is_not_taken_from_a_header_without_mod_remoteip(server):
    httpd = server(host_extra=TLS_PROXY + "PaymentsRateLimit public 1/h burst=2\nPaymentsAuthFailureLimit 1/h burst=2")
    key = httpd.shop().public
    for key, status in ((key, 404), (BAD, 401)):
        seen = [get(httpd, key, ("X-Forwarded-For", f"192.0.2.{n}")).status for n in range(3)]
        assert seen == [status, status, 429]


def test_addresses_of_a_socket_for_both_families(server):
    """`Listen PORT` as most servers have it: IPv4 clients come in IPv6 form there, and are not all one."""
    httpd = server(address="*", host_extra="PaymentsRateLimit public 1/h burst=2\nPaymentsAuthFailureLimit 1/h burst=2")
    public = httpd.shop().public
    for key, status in ((public, 404), (BAD, 401)):
        for client in ("127.0.0.2", "127.0.0.3"):
            connection = http.client.HTTPConnection("127.0.0.1", httpd.port, timeout=20, source_address=(client, 0))
            seen = [get(httpd, key, connection=connection).status for _ in range(3)]
            connection.close()
            assert seen == [status, status, 429], client


def test_secret_keys_count_at_all_addresses(server):
    httpd = server(modules=["remoteip"], extra=REMOTE, host_extra="PaymentsRateLimit 1/h burst=2")
    key = httpd.shop().secret
    seen = [get(httpd, key, ("X-Forwarded-For", f"192.0.2.{n}"), path=LIST).status for n in range(3)]
    assert seen == [200, 200, 429]


# ---- virtual hosts and lifetimes

def two_hosts(server, main="", host="", other="", **kwargs):
    httpd = server(start=False, host_extra=host, **kwargs)
    httpd.extra = f"""{main}
<VirtualHost 127.0.0.1:@PORT@>
ServerName {OTHER}
PaymentsEngine On
PaymentsStore lmdb:{httpd.store}
{other}
</VirtualHost>
"""
    return httpd.start()


@pytest.mark.parametrize("main, host, other, first, second", [
    pytest.param("PaymentsRateLimit 1/h burst=3", "", "", 3, 0, id="inherited: they count together"),
    pytest.param("PaymentsRateLimit 1/h burst=3", "", "PaymentsRateLimit 1/h burst=2", 3, 2, id="one has its own"),
    pytest.param("PaymentsRateLimit 1/h burst=3", "", "PaymentsRateLimit 2/h burst=3", 3, 3, id="its own rate"),
    pytest.param("PaymentsRateLimit 1/h burst=3", "", "PaymentsRateLimit off", 3, 10, id="one has none"),
    pytest.param("", "PaymentsRateLimit 1/h burst=3", "", 3, 10, id="one has one"),
    pytest.param("", "PaymentsRateLimit 1/h burst=3", "PaymentsRateLimit secret 1/h burst=3", 3, 0, id="the same"),
    pytest.param("PaymentsRateLimit 1/h burst=3", "PaymentsRateLimit public 1/h burst=1", "", 3, 0,
                 id="the other kind's limit changes nothing"),
])
def test_limits_of_virtual_hosts(server, main, host, other, first, second):
    httpd = two_hosts(server, main, host, other)
    key = httpd.shop().secret
    for name, want in (("localhost", first), (OTHER, second)):
        seen = [get(httpd, key, path=f"http://{name}{LIST}").status for _ in range(10)]
        assert seen == [200] * want + [429] * (10 - want), name


def test_public_key_over_all_addresses(mpm, server):
    """Each address has its own limit, and all of them together have one; what one address has too many of is its own."""
    httpd = server(mpm=mpm, modules=["remoteip"], extra=REMOTE,
                   host_extra="PaymentsRateLimit public 1/h burst=2\n"
                              "PaymentsRateLimit public-total 1/h burst=5\n")
    shop = httpd.shop()

    def seen(number, key=shop.public, path=CHECKOUT):
        return get(httpd, key, ("X-Forwarded-For", f"192.0.2.{number}"), path=path).status

    assert [seen(1) for _ in range(6)] == [404, 404, 429, 429, 429, 429]
    assert [seen(number) for number in range(2, 8)] == [404, 404, 404, 429, 429, 429]
    assert "PaymentsRateLimit public-total" in httpd.log_text() and "PAY00743" in httpd.log_text()
    assert seen(9, shop.key("test", "public")) == 404, "another key"
    assert {seen(9, shop.secret, LIST) for _ in range(9)} == {200}, "the secret key"


@pytest.mark.parametrize("line, limit", [
    pytest.param("", 500, id="default"),
    pytest.param("PaymentsRateLimit public-total off\n", 700, id="off"),
])
def test_default_over_all_addresses(server, line, limit):
    """500 calls at once, and 50 a second."""
    httpd = server(host_extra="PaymentsRateLimit public off\n" + line)
    key = httpd.shop().public
    connection = httpd.connect()
    start = time.monotonic()
    served = sum(get(httpd, key, connection=connection).status == 404 for _ in range(700))
    least = min(700, limit)
    assert least <= served <= limit + 50 * (time.monotonic() - start) + 1


def test_public_limit_is_inherited_by_itself(server):
    """A host that sets the other kind's limit has the main server's for public keys, and counts together."""
    httpd = two_hosts(server, main="PaymentsRateLimit public 1/h burst=2", other="PaymentsRateLimit 1/h burst=9")
    key = httpd.shop().public
    assert [get(httpd, key).status for _ in range(2)] == [404, 404]
    assert get(httpd, key, path=f"http://{OTHER}{CHECKOUT}").status == 429


def test_host_has_its_own_public_limit(server):
    httpd = two_hosts(server, main="PaymentsRateLimit public 1/h burst=2", other="PaymentsRateLimit public off")
    key = httpd.shop().public
    assert [get(httpd, key).status for _ in range(3)] == [404, 404, 429]
    assert {get(httpd, key, path=f"http://{OTHER}{CHECKOUT}").status for _ in range(60)} == {404}


@pytest.mark.parametrize("values, last", [
    pytest.param(["Bearer @OTHER@", "Basic YWRhOmxvdmVsYWNl"], 429, id="another account's, another scheme"),
    pytest.param(["Bearer", "Bearer a b"], 429, id="malformed"),
    pytest.param(["", "  "], 401, id="empty: no key was given"),
])
def test_what_counts_as_a_failure(server, values, last):
    httpd = server(host_extra="PaymentsAuthFailureLimit 1/h burst=2\nPaymentsAccount shop")
    httpd.expect_log("PAY00302: PaymentsAccount shop does not exist yet")
    other = httpd.shop("other").secret

    def status(value):
        return httpd.request("GET", LIST, headers=[("Authorization", value.replace("@OTHER@", other))]).status

    assert [status(value) for value in values] == [401, 401]
    assert status(values[0]) == last
    assert get(httpd, httpd.shop("shop").secret, path=LIST).status == 200


def test_failures_at_virtual_hosts(server):
    httpd = two_hosts(server, main="PaymentsAuthFailureLimit 1/h burst=2", other="PaymentsAuthFailureLimit off")
    assert [get(httpd, BAD).status for _ in range(4)] == [401, 401, 429, 429]
    assert {get(httpd, BAD, path=f"http://{OTHER}{CHECKOUT}").status for _ in range(10)} == {401}


def test_a_reload_begins_anew(mpm, server):
    httpd = server(mpm=mpm, host_extra="PaymentsRateLimit 1/h burst=2")
    key = httpd.shop().secret
    assert [get(httpd, key, path=LIST).status for _ in range(3)] == [200, 200, 429]
    httpd.graceful()
    wait_for(lambda: get(httpd, key, path=LIST).status == 200, "a child of the new generation")


# ---- in the order of judgement

LIMITED = ("PaymentsRateLimit 1/h burst=1\nPaymentsRateLimit public 1/h burst=1\n"
           "PaymentsCORSOrigin https://shop.example\nPaymentsHealth /well\n")
JSON = ("Content-Type", "application/json")
BEFORE = [
    pytest.param("GET", LIST, None, [], None, 401, id="no key"),
    pytest.param("GET", LIST, BAD, [], None, 401, id="unknown key"),
    pytest.param("GET", "/api/v1/nothing", "secret", [], None, 404, id="path"),
    pytest.param("DELETE", LIST, "secret", [], None, 405, id="method"),
    pytest.param("OPTIONS", LIST, "secret", [], None, 204, id="OPTIONS"),
    pytest.param("GET", LIST, "public", [], None, 403, id="kind of key"),
    pytest.param("GET", LIST, "secret", [("Origin", "https://shop.example")], None, 403, id="secret key in a browser"),
    pytest.param("OPTIONS", CHECKOUT, None, [("Origin", "https://shop.example"),
                                             ("Access-Control-Request-Method", "GET")], None, 204, id="preflight"),
    pytest.param("GET", "/well", None, [], None, 200, id="health"),
]
BEHIND = [
    pytest.param("GET", LIST, "secret", [("Accept", "text/html")], None, 406, id="Accept"),
    pytest.param("POST", CHARGE, "secret", [], "{}", 415, id="media type"),
    pytest.param("POST", CHARGE, "secret", [JSON], "x" * 70000, 413, id="size"),
    pytest.param("POST", CHARGE, "secret", [JSON], "{", 400, id="form"),
    pytest.param("POST", CHARGE, "secret", [JSON, ("Idempotency-Key", "")], "{}", 400, id="Idempotency-Key"),
    pytest.param("GET", "/api/v1/refund/x/y", "secret", [], None, 400, id="dates"),
    pytest.param("GET", CHECKOUT, "public", [], None, 404, id="the store"),
    pytest.param("POST", CHARGE, "live_secret", [JSON], json.dumps(charge_body()), 403, id="mode"),
]


def ask(shop, method, path, key, headers, body):
    pairs = bearer(getattr(shop, key, key)) if key else []
    return shop.httpd.request(method, path, body, pairs + headers)


@pytest.fixture(scope="module")
def limited():
    """A server whose keys may each call once an hour."""
    httpd = Httpd(mpm=MPMS[0], host_extra=LIMITED).start()
    yield httpd
    httpd.close()


@pytest.mark.parametrize("method, path, key, headers, body, status", BEFORE)
def test_what_is_judged_before_is_not_counted(limited, method, path, key, headers, body, status):
    shop = limited.shop()
    for _ in range(3):
        assert ask(shop, method, path, key, headers, body).status == status
    assert get(limited, shop.secret, path=LIST).status == 200
    assert get(limited, shop.public).status == 404
    for one in (shop.secret, shop.public):
        check_refused(get(limited, one), 3600)
    assert ask(shop, method, path, key, headers, body).status == status


@pytest.mark.parametrize("method, path, key, headers, body, status", BEHIND)
def test_what_is_judged_behind(limited, method, path, key, headers, body, status):
    """The call within the limit is answered with the fault, and counts; the next ones are 429."""
    shop = limited.shop()
    assert ask(shop, method, path, key, headers, body).status == status
    for _ in range(2):
        check_refused(ask(shop, method, path, key, headers, body), 3600)


def test_a_page_may_read_when_to_come_back(limited):
    key, origin = limited.shop().public, ("Origin", "https://shop.example")
    assert get(limited, key, origin).status == 404
    answer = get(limited, key, origin)
    check_refused(answer, 3600)
    assert answer.header("access-control-allow-origin") == "https://shop.example"
    assert "Retry-After" in answer.header("access-control-expose-headers")


def test_nothing_is_charged(server):
    """A charge that is answered 429 leaves no trace; the same request is charged later as if it were new."""
    httpd = two_hosts(server, host="PaymentsRateLimit 1/h burst=1", other="PaymentsRateLimit off")
    shop, body = httpd.shop(), charge_body()
    assert shop.charge().status == 200
    check_refused(shop.charge(**body), 3600)
    path = f"http://{OTHER}/api/v1/transaction/{body['reference']}/verify"
    assert shop.call("GET", path).json["data"]["responseCode"] == "N1"
    answer = shop.call("POST", f"http://{OTHER}{CHARGE}", body)
    assert (answer.status, answer.header("idempotent-replayed")) == (200, None)
    assert shop.charge(**body).status == 429  # a replay is a call as well


# ---- other ways in

@pytest.mark.parametrize("over", [one for one in MPMS if one != "prefork"])
def test_http2(server, over):
    """The same counts, and the answer arrives though a body was not read."""
    httpd = server(mpm=over, host_extra="PaymentsRateLimit 1/h burst=2\nPaymentsAuthFailureLimit 1/h burst=2")
    shop = httpd.shop()
    assert [curl(shop, LIST, key=shop.secret)[0] for _ in range(3)] == [200, 200, 429]
    assert [curl(shop, LIST, key=BAD)[0] for _ in range(3)] == [401, 401, 429]
    for key in (shop.secret, BAD):
        status, _, text, err = curl(shop, CHARGE, "-i", "-H", "Expect:", body="x" * 70000, key=key)
        assert status == 429, err
        assert "retry-after: " in text.lower()
        assert json.loads(text.splitlines()[-1])["data"]["responseCode"] == "L1"
    assert get(httpd, BAD).status == 429  # one count for both protocols


@pytest.mark.parametrize("auth", ["", "AuthType Payments\n"], ids=["no AuthType", "AuthType"])
def test_behind_a_rule_of_the_administrators(mpm, server, auth):
    """Where httpd asks for a user the key is judged before the handler; a site's ErrorDocument does not show."""
    httpd = server(mpm=mpm, host_extra="PaymentsAuthFailureLimit 1/h burst=2\nPaymentsRateLimit 1/h burst=2\n"
                   "ErrorDocument 429 /nonce.txt\n"
                   f'<Location "/api/v1">\n{auth}Require payments-key secret\n</Location>\n')
    httpd.expect_log("AH01630|AH01631")
    shop = httpd.shop()
    for key, status in ((shop.secret, 200), (BAD, 401)):
        assert [get(httpd, key, path=LIST).status for _ in range(2)] == [status, status]
        check_refused(get(httpd, key, path=LIST), 3600)
        head = httpd.request("HEAD", LIST, headers=bearer(key))
        assert (head.status, head.body) == (429, b"") and head.header("retry-after")


def test_a_page_of_the_sites_behind_keys(server):
    """AuthType Payments on a path that is not the API's: httpd's own page, with Retry-After."""
    httpd = server(host_extra="PaymentsAuthFailureLimit 1/h burst=2\nPaymentsRateLimit 1/h burst=1\n"
                   '<Location "/nonce.txt">\nAuthType Payments\nRequire payments-key secret\n</Location>\n'
                   '<Location "/free">\n</Location>', start=False)
    (httpd.docroot / "page.txt").write_text("for shops")
    httpd.host_extra = httpd.host_extra.replace("/nonce.txt", "/page.txt")
    httpd.start()
    shop = httpd.shop()
    assert [get(httpd, BAD, path="/page.txt").status for _ in range(2)] == [401, 401]
    answer = get(httpd, BAD, path="/page.txt")
    assert (answer.status, answer.header("www-authenticate")) == (429, None)
    assert 1 <= int(answer.header("retry-after")) <= 3600
    for _ in range(3):  # PaymentsRateLimit is for calls of the API
        assert get(httpd, shop.secret, path="/page.txt").body == b"for shops"


# ---- values

RATE, FAILURE = "PaymentsRateLimit", "PaymentsAuthFailureLimit"
VALUES = ["0/s", "100001/s", "-1/s", "1", "s", "/s", "1/", "1/d", "1/sec", "1 /s", "1.5/s", "1/s burst", "1/s burst=",
          "1/s burst=0", "1/s burst=1000001", "1/s burst=x", "1/s 5", "1/s burst=86401", "1/min burst=1441",
          "1/h burst=25", "7/h burst=168", "off burst=5"]


@pytest.mark.parametrize("line", [f"{name} {value}" for name in (RATE, FAILURE) for value in VALUES] + [
    f"{RATE} private 1/s", f"{RATE} public-total", f"{RATE} public-total 1/s 5", f"{RATE} secret", f"{RATE} public burst=5", f"{RATE} 1/s burst=2 x", f"{RATE} off off"])
def test_wrong_value(server, line):
    done = server(start=False, host_extra=line).configtest()
    name, value = line.split(" ", 1)
    assert done.returncode != 0
    for words in (f"{name}: want ", "1 to 100000/s", f"got '{value}'"):
        assert words in done.stderr, done.stderr


@pytest.mark.parametrize("line", [RATE, f"{RATE} a b c d", f"{FAILURE}", f"{FAILURE} a b c",
                                  f'<Location "/api/v1">\n{RATE} 1/s\n</Location>',
                                  f'<Location "/api/v1">\n{FAILURE} 1/s\n</Location>'])
def test_wrong_place_or_number_of_words(server, line):
    done = server(start=False, host_extra=line).configtest()
    assert done.returncode != 0
    assert (RATE if RATE in line else FAILURE) in done.stderr


def test_right_values(server):
    rates = ["1/s burst=1", "100000/s burst=1000000", "1/h burst=24", "1/min burst=1440", "1/s burst=86400", "7/h burst=167",
             "off", "100000/h", "100000/min"]
    lines = [f"{name} {rate}" for name in (RATE, f"{RATE} secret", f"{RATE} public", FAILURE) for rate in rates]
    done = server(start=False, host_extra="\n".join(lines)).configtest()
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("rate, burst", [("5/h", 10), ("1/min", 2), ("200/h", 400)])
def test_burst_unless_said_otherwise_is_twice_the_rate(server, rate, burst):
    httpd = server(host_extra=f"{RATE} {rate}")
    key, connection = httpd.shop().secret, httpd.connect()
    count, seconds, _ = until_refused(lambda: get(httpd, key, connection=connection), 404)
    assert burst <= count <= burst + seconds / 10
    connection.close()
