# SPDX-License-Identifier: Apache-2.0
"""Requests that a proxy on this machine passes on: their connection is from loopback, but the client is another."""

import base64

import pytest

from dashboard import PATH, basic, settings
from exposition import METRICS, ON
from harness import Httpd
from test_errors import check_envelope
from test_metrics_access import location, users

LIST = "/api/v1/refund/2026-01-01/2026-01-02"
NO_TLS = "PAY00311: refused: PaymentsRequireTLS is On and this call came without TLS"
FORWARDED = [
    pytest.param({"X-Forwarded-For": "203.0.113.9"}, id="X-Forwarded-For"),
    pytest.param({"X-Forwarded-Proto": "http"}, id="X-Forwarded-Proto"),
    pytest.param({"x-forwarded-proto": "https"}, id="a scheme that nobody is trusted to say"),
    pytest.param({"X-Forwarded-Host": "pay.example"}, id="X-Forwarded-Host"),
    pytest.param({"X-FORWARDED-ANYTHING": "1"}, id="X-Forwarded-Anything"),
    pytest.param({"Forwarded": "for=203.0.113.9"}, id="Forwarded"),
    pytest.param({"Via": "1.1 proxy"}, id="Via"),
    pytest.param({"X-Real-IP": "203.0.113.9"}, id="X-Real-IP"),
]


@pytest.fixture(scope="module")
def plain():
    httpd = Httpd(mpm="event")
    httpd.host_extra = settings(httpd)
    httpd.start()
    yield httpd
    httpd.close()


@pytest.mark.parametrize("headers", FORWARDED)
def test_loopback_that_is_none(plain, headers):
    """No call, no page, no password without TLS."""
    shop = plain.shop()
    assert shop.refunds().status == 200
    told = plain.log_text().count(NO_TLS)
    check_envelope(shop.refunds(headers=headers), 403, "B02")
    assert plain.log_text().count(NO_TLS) == told + 1
    assert plain.request("GET", PATH + "/", headers=basic("vera")).status == 200
    answer = plain.request("GET", PATH + "/", headers={**basic("vera"), **headers})
    assert answer.status == 403 and answer.header("www-authenticate") is None


@pytest.mark.parametrize("extra, headers, status", [
    pytest.param("PaymentsTrustedTLSProxy 127.0.0.1", {"X-Forwarded-For": "203.0.113.9", "X-Forwarded-Proto": "https"}, 200,
                 id="its proxy has TLS"),
    pytest.param("PaymentsTrustedTLSProxy 127.0.0.1", {"X-Forwarded-For": "203.0.113.9", "X-Forwarded-Proto": "http"}, 403,
                 id="its proxy has none"),
    pytest.param("PaymentsTrustedTLSProxy 127.0.0.1", {"X-Forwarded-For": "203.0.113.9"}, 200, id="its proxy is named"),
    pytest.param("PaymentsTrustedTLSProxy 127.0.0.2", {"X-Forwarded-For": "203.0.113.9"}, 403, id="another one is"),
    pytest.param("PaymentsRequireTLS Off", {"X-Forwarded-For": "203.0.113.9", "Via": "1.1 proxy"}, 200, id="not asked for"),
])
def test_named_proxy(server, extra, headers, status):
    assert server(host_extra=extra).shop().refunds(headers=headers).status == status


@pytest.mark.parametrize("extra, status", [("", 403), ("PaymentsTrustedTLSProxy 127.0.0.1\n", 200)])
def test_remoteip_takes_its_header_away(server, extra, status):
    httpd = server(modules=["remoteip"], host_extra="RemoteIPHeader X-Client\nRemoteIPInternalProxy 127.0.0.1\n" + extra)
    shop = httpd.shop()
    assert shop.refunds().status == 200
    assert shop.refunds(headers={"X-Client": "203.0.113.9"}).status == status


# What mod_proxy says of the request it adds behind all rules, so that no .htaccess takes it away.
TENANT = "RewriteEngine On\nRewriteRule ^(m|k)$ http://127.0.0.1:{port}{path} [P]\nRequestHeader unset X-Forwarded-For\n"


@pytest.fixture
def tenants(server):
    """A server whose tenant's .htaccess passes requests on to the server itself."""
    httpd = server(modules=["proxy", "proxy_http"], host_extra=f'{ON}\n<Location "{METRICS}">\nRequire local\n</Location>')

    def passes(path):
        (httpd.docroot / ".htaccess").write_text(TENANT.format(port=httpd.port, path=path))
        return httpd

    return passes


def test_metrics_for_a_tenants_visitors(tenants):
    """`Require local` lets the server itself in, and a rewrite rule makes it ask for anybody."""
    httpd = tenants(METRICS)
    httpd.expect_log("PAY00744")
    assert httpd.request("GET", METRICS).status == 200
    answer = httpd.request("GET", "/m")
    assert answer.status == 403 and b"payments_" not in answer.body
    assert "PaymentsMetrics" in httpd.log_text() and "PAY00744" in httpd.log_text()
    assert httpd.request("GET", METRICS).status == 200


def test_metrics_passed_on_by_this_machine(server):
    httpd = server(host_extra=f'{ON}\n<Location "{METRICS}">\nRequire local\n</Location>')
    httpd.expect_log("PAY00744")
    for name in "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Server", "Via", "Forwarded":
        assert httpd.request("GET", METRICS, headers={name: "127.0.0.1"}).status == 403, name
    assert httpd.request("GET", METRICS, headers={"X-Real-IP": "127.0.0.1"}).status == 200


def test_metrics_passed_on_with_a_password(server):
    """Whoever has the password is let in, whichever way he came."""
    httpd = server(start=False)
    httpd.host_extra = f"{ON}\n" + location(users(httpd) + "\nRequire valid-user")
    httpd.start()
    given = {"Authorization": "Basic " + base64.b64encode(b"ada:right").decode()}
    assert httpd.request("GET", METRICS, headers={"X-Forwarded-For": "127.0.0.1", **given}).status == 200
    assert httpd.request("GET", METRICS, headers={"X-Forwarded-For": "127.0.0.1"}).status == 401


def test_key_for_a_tenants_visitors(tenants):
    """Nor is a key taken without TLS that came so."""
    httpd = tenants(LIST)
    shop = httpd.shop()
    assert shop.refunds().status == 200
    answer = httpd.request("GET", "/k", headers={"Authorization": f"Bearer {shop.secret}"})
    check_envelope(answer, 403, "B02")
