# SPDX-License-Identifier: Apache-2.0
"""The dashboard's host serves nothing beside it, or the log warns at each start."""

import pytest

from dashboard import BESIDE, PATH, basic, settings


def beside(server, root, extra=""):
    httpd = server(start=False)
    httpd.extra = extra.replace("@ROOT@", str(httpd.root))
    httpd.host_extra = settings(httpd) + root.replace("@ROOT@", str(httpd.root))
    httpd.always_expected.clear()
    (httpd.root / "empty").mkdir()
    if root:
        httpd.answers = lambda: serves_pages(httpd)
    return httpd


def serves_pages(httpd):
    try:
        return httpd.request("GET", PATH + "/", headers=basic("vera")).status == 200
    except OSError:
        return False


def test_content_beside_the_dashboard(server):
    """One line a start, with the host, the directory and what to do; none from -t."""
    httpd = beside(server, "")
    assert BESIDE not in httpd.configtest().stderr + httpd.log_text()
    httpd.start()
    for starts in 1, 2:
        httpd.expect_log(BESIDE)
        said = [line for line in httpd.log_text().splitlines() if BESIDE in line]
        assert len(said) == starts, said
        httpd.graceful()
    assert f"PaymentsDashboard {PATH}: the host localhost also serves DocumentRoot {httpd.docroot}" in said[0]
    assert "Give the dashboard a virtual host and a host name of its own" in said[0]
    httpd.expect_log(BESIDE)


@pytest.mark.parametrize("root", ["@ROOT@/empty", "@ROOT@/absent"])
def test_nothing_beside_the_dashboard(server, root):
    """What other hosts serve does not matter."""
    httpd = beside(server, f"DocumentRoot {root}\n")
    httpd.expect_log("AH00112")  # httpd's own, of a DocumentRoot that is absent
    httpd.start()
    assert BESIDE not in httpd.log_text()


def test_inherited_content(server):
    """Without a DocumentRoot of its own the host serves the main server's."""
    other = "<VirtualHost 127.0.0.1:@PORT@>\nServerName second.example\nPaymentsEngine On\nPaymentsStore lmdb:@ROOT@/store\n" \
            f"PaymentsDashboard {PATH}\nPaymentsDashboardFiles @ROOT@/pages\n</VirtualHost>\n"
    httpd = beside(server, "DocumentRoot @ROOT@/empty\n", other)
    httpd.start()
    httpd.expect_log(BESIDE)
    [line] = [line for line in httpd.log_text().splitlines() if BESIDE in line]
    assert "the host second.example" in line
