# SPDX-License-Identifier: Apache-2.0
"""Directives: wrong values stop `httpd -t` with a sentence; right ones leave no file behind."""

import os

import pytest

from harness import wait_for

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
    ("PaymentsAccountQuota -1", ["PaymentsAccountQuota: want 0", "999999999", "'-1'"]),
    ("PaymentsAccountQuota 1000000000", ["PaymentsAccountQuota", "1000000000"]),
    ("PaymentsAccountQuota 1M", ["PaymentsAccountQuota", "1M"]),
    ("PaymentsCommitBatch 0", ["PaymentsCommitBatch", "1 to 256", "'0'"]),
    ("PaymentsCommitBatch 257", ["PaymentsCommitBatch", "257"]),
    ("PaymentsCommitBatch all", ["PaymentsCommitBatch", "all"]),
    ("PaymentsRefundMaxDays -1", ["PaymentsRefundMaxDays", "-1"]),
    ("PaymentsRefundMaxDays x", ["PaymentsRefundMaxDays", "x"]),
    ("PaymentsAcquirerTimeout 61s", ["PaymentsAcquirerTimeout", "61s"]),
    ("PaymentsAcquirerTimeout 0", ["PaymentsAcquirerTimeout", "0"]),
    ("PaymentsRefundRepeatWindow 25h", ["PaymentsRefundRepeatWindow", "24h", "25h"]),
    ("PaymentsRefundRepeatWindow 86401", ["PaymentsRefundRepeatWindow", "86401"]),
    ("PaymentsRefundRepeatWindow -1", ["PaymentsRefundRepeatWindow", "-1"]),
    ("PaymentsRefundRepeatWindow on", ["PaymentsRefundRepeatWindow", "off", "on"]),
    ("PaymentsCORSOrigin https://b\u00fccher.example", ["PaymentsCORSOrigin", "xn--", "cher.example'"]),
    *[(f"PaymentsCORSOrigin https://shop.example {origin}", ["PaymentsCORSOrigin", "https://shop.example", f"'{origin}'"])
      for origin in ("*", "null", "shop.example", "https://", "https://shop.example/", "https://shop.example/a",
                     "https://*.example", "https://shop.example:443", "http://shop.example:80", "https://shop.example:",
                     "https://shop.example:0", "https://shop.example:65536", "https://shop.example:08443",
                     "https://a..example", "https://.example", "https://-a.example", "https://shop.example:8443x",
                     "https://user@shop.example", "https://shop.example?x", "https://shop.example,", "ftp://shop.example",
                     "https://[::1", "https://[::0:1]", "https://[1.2.3.4]",
                     "https://" + "a" * 254)],
    ("PaymentsCORSOrigin " + " ".join(f"https://s{number}.example" for number in range(33)),
     ["PaymentsCORSOrigin", "at most 32", "https://s32.example"]),
    *[(f"PaymentsHealth {path}", ["PaymentsHealth", f"'{path}'"])
      for path in ("well", "/", "/a/", "/a//b", "/a/../b", "/a?b", "/a%20b", "/" + "a" * 255)],
    *[(f"PaymentsHealth {path}", ["PaymentsHealth", path, "API"])
      for path in ("/api/v1", "/api/v1/health", "/payment/order/create", "/payment/page/health")],
    ("PaymentsBasePath /shop\nPaymentsHealth /shop/api/v1/health", ["PaymentsHealth", "/shop/api/v1/health", "API"]),
    ('<Location "/api/v1">\nRequire payments-key sekret\n</Location>', ["payments-key", "sekret"]),
    ('<Location "/api/v1">\nRequire payments-key\n</Location>', ["payments-key"]),
    ('<Location "/api/v1">\nPaymentsAccount x\n</Location>', ["PaymentsAccount"]),
    ('<Location "/api/v1">\nPaymentsHealth /x\n</Location>', ["PaymentsHealth"]),
    ('<Location "/api/v1">\nPaymentsCORSOrigin https://shop.example\n</Location>', ["PaymentsCORSOrigin"]),
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
PaymentsCommitBatch 1
PaymentsAccountQuota 999999999
PaymentsRefundMaxDays 7
PaymentsAcquirerTimeout 60s
PaymentsRefundRepeatWindow 24h
PaymentsHealth /api/v1/health
PaymentsCORSOrigin https://shop.example HTTPS://Shop.Example https://shop.example:80 http://127.0.0.1:8080
PaymentsCORSOrigin http://localhost https://[::1]:8443 https://xn--bcher-kva.example https://a_b.example:65535"""


def test_right_values_leave_no_file(server):
    httpd = server(start=False, host_extra=RIGHT)
    httpd.port = 1
    httpd.write_config()
    before = files(httpd.root)
    done = httpd.configtest()
    assert done.returncode == 0, done.stderr
    assert "Syntax OK" in done.stderr
    assert files(httpd.root) == before


def test_limits_themselves_are_right(server):
    origins = [f"https://s{number}.example" for number in range(31)] + ["https://" + "a" * 245 + ".example:8443"]
    done = server(start=False, host_extra="PaymentsCORSOrigin " + " ".join(origins)
                  + "\nPaymentsHealth /" + "a" * 254 + "\nPaymentsRefundRepeatWindow 86400"
                  "\nPaymentsCommitBatch 256\nPaymentsAccountQuota 0").configtest()
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("line", ["PaymentsStoreSize 1G", "PaymentsStoreReserve 1M", "PaymentsCommitWait 1s",
                                  "PaymentsCommitBatch 1", "PaymentsAccountQuota 10"])
def test_hosts_of_one_store_agree(server, line):
    httpd = server(start=False)
    other = (f"<VirtualHost 127.0.0.1:@PORT@>\nServerName other.example\nPaymentsEngine On\n"
             f"PaymentsStore lmdb:{httpd.store}\n%s\n</VirtualHost>")
    httpd.extra = other % ""
    assert httpd.configtest().returncode == 0
    httpd.extra = other % line
    done = httpd.configtest()
    assert done.returncode != 0
    assert line.split()[0] in done.stderr and "one value" in done.stderr, done.stderr


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


REFUND = "/api/v1/partial-refund"


def refund_twice(httpd):
    """The answers to the same partial refund of one charge, made twice, and a call that makes it again."""
    shop = httpd.shop()
    ref = shop.charge(amount=1000).json["data"]["reference"]
    again = lambda: shop.call("POST", REFUND, {"reference": ref, "amount": 100})
    return again(), again(), again


@pytest.mark.parametrize("extra", [
    pytest.param("", id="the default"),
    pytest.param("PaymentsRefundRepeatWindow 24h", id="the longest"),
    pytest.param("PaymentsRefundRepeatWindow 1min", id="one of the host's own"),
])
def test_repeated_refund_within_the_window(server, extra):
    first, second, _ = refund_twice(server(host_extra=extra))
    assert first.status == 200
    assert second.status == 409
    assert second.json["data"]["responseCode"] == "R5"
    assert first.json["refundReference"] in second.json["message"]


@pytest.mark.parametrize("window", ["0", "off", "Off"])
def test_repeat_window_switched_off(server, window):
    """In the main server, so that it is inherited."""
    first, second, _ = refund_twice(server(extra=f"PaymentsRefundRepeatWindow {window}"))
    assert [first.status, second.status] == [200, 200]
    assert first.json["refundReference"] != second.json["refundReference"]


def test_host_has_its_own_repeat_window(server):
    first, second, _ = refund_twice(server(extra="PaymentsRefundRepeatWindow off",
                                           host_extra="PaymentsRefundRepeatWindow 10min"))
    assert [first.status, second.status] == [200, 409]


def test_short_repeat_window_ends(server):
    first, second, again = refund_twice(server(host_extra="PaymentsRefundRepeatWindow 2s"))
    assert [first.status, second.status] == [200, 409]
    third = wait_for(lambda: next((a for a in [again()] if a.status == 200), None), "the window to end")
    assert third.json["refundReference"] != first.json["refundReference"]


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
