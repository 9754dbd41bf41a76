# SPDX-License-Identifier: Apache-2.0
"""Directives: wrong values stop `httpd -t` with a sentence; right ones leave no file behind."""

import os

import pytest

WRONG = [
    ("PaymentsEngine Maybe", ["PaymentsEngine", "On"]),
    ("PaymentsStore /var/lib/x", ["PaymentsStore", "lmdb:", "/var/lib/x"]),
    ("PaymentsStore lmdb:relative", ["PaymentsStore", "lmdb:relative"]),
    ("PaymentsStore mysql:/x", ["PaymentsStore", "mysql:/x"]),
    ("PaymentsStoreSize 1K", ["PaymentsStoreSize", "1K"]),
    ("PaymentsStoreSize big", ["PaymentsStoreSize", "big"]),
    ("PaymentsStoreReserve -1", ["PaymentsStoreReserve", "-1"]),
    ("PaymentsAccount Shop!", ["PaymentsAccount", "Shop!"]),
    ("PaymentsBasePath shop", ["PaymentsBasePath", "shop"]),
    ("PaymentsBasePath /a/../b", ["PaymentsBasePath", "/a/../b"]),
    ("PaymentsKeyPrefix Pay_", ["PaymentsKeyPrefix", "Pay_"]),
    ("PaymentsDefaultCurrency NAI", ["PaymentsDefaultCurrency", "NAI"]),
    ("PaymentsCurrencies NGN XX", ["PaymentsCurrencies", "XX"]),
    ("PaymentsTimezone Mars/Base", ["PaymentsTimezone", "Mars/Base"]),
    ("PaymentsTimezone ../../etc/passwd", ["PaymentsTimezone", "../../etc/passwd"]),
    ("PaymentsMaxBody 0", ["PaymentsMaxBody", "0"]),
    ("PaymentsMaxBody 2G", ["PaymentsMaxBody", "2G"]),
    ("PaymentsRequireTLS Sometimes", ["PaymentsRequireTLS", "On"]),
    ("PaymentsTrustedTLSProxy nowhere", ["PaymentsTrustedTLSProxy", "nowhere"]),
    ("PaymentsCommitWait 0", ["PaymentsCommitWait", "0"]),
    ("PaymentsCommitWait 2h", ["PaymentsCommitWait", "2h"]),
    ("PaymentsRefundMaxDays -1", ["PaymentsRefundMaxDays", "-1"]),
    ("PaymentsRefundMaxDays x", ["PaymentsRefundMaxDays", "x"]),
    ("PaymentsAcquirerTimeout 61s", ["PaymentsAcquirerTimeout", "61s"]),
    ("PaymentsAcquirerTimeout 0", ["PaymentsAcquirerTimeout", "0"]),
    ('<Location "/api/v1">\nRequire payments-key sekret\n</Location>', ["payments-key", "sekret"]),
    ('<Location "/api/v1">\nRequire payments-key\n</Location>', ["payments-key"]),
    ('<Location "/api/v1">\nPaymentsAccount x\n</Location>', ["PaymentsAccount"]),
]


def files(root):
    return sorted(os.path.join(d, f) for d, _, fs in os.walk(root) for f in fs) \
        + sorted(d for d, _, _ in os.walk(root))


@pytest.mark.parametrize("line, words", [pytest.param(l, w, id=l.replace("\n", " ")) for l, w in WRONG])
def test_wrong_value(server, line, words):
    done = server(start=False, host_extra=line).configtest()
    assert done.returncode != 0
    for word in words:
        assert word in done.stderr, done.stderr
    assert "Syntax OK" not in done.stderr


RIGHT = """PaymentsStoreSize 1G
PaymentsStoreReserve 16M
PaymentsAccount shop-1
PaymentsBasePath /pay
PaymentsKeyPrefix acme
PaymentsDefaultCurrency eur
PaymentsCurrencies EUR USD
PaymentsTimezone Europe/Berlin
PaymentsMaxBody 128K
PaymentsRequireTLS Off
PaymentsTrustedTLSProxy 10.0.0.1 192.168.0.0/16 ::1
PaymentsCommitWait 500ms
PaymentsRefundMaxDays 7
PaymentsAcquirerTimeout 60s"""


def test_right_values_leave_no_file(server):
    httpd = server(start=False, host_extra=RIGHT)
    httpd.port = 1
    httpd.write_config()
    before = files(httpd.root)
    done = httpd.configtest()
    assert done.returncode == 0, done.stderr
    assert "Syntax OK" in done.stderr
    assert files(httpd.root) == before


def test_engine_without_store(server):
    done = server(start=False, engine=False, host_extra="PaymentsEngine On").configtest()
    assert done.returncode != 0
    assert "PaymentsStore" in done.stderr


def test_watchdog_missing(server):
    httpd = server(start=False, without=["watchdog"])
    if "mod_watchdog.c" in httpd.builtin():
        assert httpd.configtest().returncode == 0  # built into this httpd: it cannot be missing
        return
    done = httpd.configtest()
    assert done.returncode != 0
    assert "mod_watchdog" in done.stderr


def test_directives_are_the_defaults_of_a_new_account(server):
    httpd = server(host_extra="PaymentsAccount acme\nPaymentsKeyPrefix acme\nPaymentsDefaultCurrency EUR\n"
                              "PaymentsTimezone Europe/Berlin")
    httpd.expect_log("acme")
    shop = httpd.shop("acme")
    assert shop.secret.startswith("acme_testsk_")
    assert shop.charge().json["data"]["currency"] == "EUR"
    other = httpd.ctl("account", "create", "other", "--json").stdout
    assert '"currency":"NGN"' in other.replace(" ", "")


def test_currencies_may_be_restricted(server):
    httpd = server(host_extra="PaymentsCurrencies NGN USD")
    shop = httpd.shop()
    assert shop.charge(currency="USD").status == 200
    answer = shop.charge(currency="EUR")
    assert answer.status == 400
    assert [e["field"] for e in answer.json["data"]["errors"]] == ["/currency"]


def test_account_that_does_not_exist_yet(server):
    httpd = server(host_extra="PaymentsAccount later")
    httpd.expect_log(r"\[payments:warn\].*later")
    assert "later" in httpd.log_text()
    assert httpd.request("GET", "/api/v1/refund/2026-01-01/2026-01-02").status == 401
    assert httpd.shop("later").refunds().status == 200


def test_two_hosts_one_store(server):
    httpd = server(start=False, host_extra="PaymentsAccount one")
    httpd.expect_log(r"\[payments:warn\].*(one|two)")
    httpd.extra = f"""
<VirtualHost 127.0.0.1:@PORT@>
ServerName two.example
PaymentsEngine On
PaymentsStore lmdb:{httpd.store}
PaymentsAccount two
</VirtualHost>
"""
    httpd.start()
    one, two = httpd.shop("one"), httpd.shop("two")
    path = "/api/v1/refund/2026-01-01/2026-01-02"

    def status(key, host):
        said = httpd.raw(f"GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n"
                         f"Authorization: Bearer {key}\r\n\r\n".encode())
        return int(said.split(b" ")[1])

    assert status(two.secret, "two.example") == 200
    assert status(one.secret, "two.example") == 401
    assert status(one.secret, "localhost") == 200
    assert status(two.secret, "localhost") == 401
