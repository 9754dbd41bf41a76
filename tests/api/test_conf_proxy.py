# SPDX-License-Identifier: Apache-2.0
"""ProxyPass with mapping=encoded comes ahead of whatever claims a URL: over our paths it would get the keys."""

import pytest

MODULES = ["proxy", "proxy_http"]
PATHS = "PaymentsDashboard /payments-dashboard\nPaymentsMetrics /payments-metrics\nPaymentsHealth /payments-health\n"
AWAY = "http://127.0.0.1:1/away"


@pytest.mark.parametrize("line, path", [
    pytest.param(f"ProxyPass /api {AWAY} mapping=encoded", "/api/v1/refund/R", id="the API"),
    pytest.param(f"ProxyPass / {AWAY}/ mapping=encoded", "/api/v1/refund/R", id="everything"),
    pytest.param(f"ProxyPass /api {AWAY} mapping=servlet", "/api/v1/refund/R", id="servlet"),
    pytest.param(f"ProxyPassMatch ^/api/(.*)$ {AWAY}/$1 mapping=encoded", "/api/v1/refund/R", id="a pattern"),
    pytest.param(f'<Location "/api">\nProxyPass {AWAY} mapping=encoded\n</Location>', "/api/v1/refund/R", id="Location"),
    pytest.param(f"ProxyPass /payment {AWAY} mapping=encoded", "/payment/order/create", id="orders"),
    pytest.param(f"ProxyPass /payment/page {AWAY} mapping=encoded", "/payment/page/P", id="hosted pages"),
    pytest.param(f"ProxyPass /payments-dashboard {AWAY} mapping=encoded", "/payments-dashboard/", id="the dashboard"),
    pytest.param(f"ProxyPass /payments-metrics {AWAY} mapping=encoded", "/payments-metrics", id="metrics"),
    pytest.param(f"ProxyPass /payments-health {AWAY} mapping=encoded", "/payments-health", id="health"),
    pytest.param(f"PaymentsBasePath /shop\nProxyPass /shop {AWAY} mapping=encoded", "/shop/api/v1/refund/R", id="a base path"),
])
def test_refused(server, line, path):
    check_refused(server(start=False, modules=MODULES, host_extra=PATHS + line), path)


def check_refused(httpd, path):
    done = httpd.configtest()
    assert done.returncode != 0 and "Syntax OK" not in done.stderr, done.stderr
    for words in ("ProxyPass: want no mapping=encoded", " in localhost ", f"passes {path} to {AWAY}", "httpd.conf:"):
        assert words in done.stderr, (words, done.stderr)


def test_said_in_the_main_server(server):
    """Its lines are the host's, too."""
    line = f"ProxyPass /api {AWAY} mapping=encoded\n"
    check_refused(server(start=False, modules=MODULES, extra=line), "/api/v1/refund/R")


@pytest.mark.parametrize("line", [
    pytest.param(f"ProxyPass /api {AWAY}", id="decoded: it comes behind us"),
    pytest.param(f"ProxyPass /shop {AWAY} mapping=encoded", id="elsewhere"),
    pytest.param(f"ProxyPass /apis {AWAY} mapping=encoded", id="a longer name"),
    pytest.param(f"ProxyPass /api !\nProxyPass /payment !\nProxyPass /payments-dashboard !\nProxyPass /payments-metrics !\n"
                 f"ProxyPass /payments-health !\nProxyPass /x {AWAY} mapping=encoded", id="with exceptions"),
    pytest.param("", id="none"),
])
def test_allowed(server, line):
    done = server(start=False, modules=MODULES, host_extra=PATHS + line).configtest()
    assert done.returncode == 0 and "Syntax OK" in done.stderr, done.stderr


def test_host_without_payments(server):
    """What a host of somebody else's does with such paths is its own."""
    httpd = server(start=False, modules=MODULES, extra="<VirtualHost 127.0.0.1:@PORT@>\nServerName other\n"
                                                       f"ProxyPass /api {AWAY} mapping=encoded\n</VirtualHost>\n")
    done = httpd.configtest()
    assert done.returncode == 0, done.stderr


CLAIMED = [
    ("/api/v1/refund/2026-01-01/2026-01-02", 200),
    ("/api/v1/initiate/x", 404),  # ours, unknown
    ("//api/v1/initiate/x", 404),
    ("/%61pi/v1/initiate/x", 404),
]


def test_claimed_ahead_of_it(server):
    """A path that the check does not cover is claimed anyway."""
    httpd = server(modules=MODULES, host_extra=f"ProxyPass /api/v1/initiate {AWAY} mapping=encoded\n"
                                               f"ProxyPass /away {AWAY} mapping=encoded\n")
    shop = httpd.shop()
    for path, status in CLAIMED:
        assert httpd.request("GET", path, headers={"Authorization": f"Bearer {shop.secret}"}).status == status, path
    httpd.expect_log("AH00957|AH01114")
    assert httpd.request("GET", "/away/x").status == 503, "the site's own"
