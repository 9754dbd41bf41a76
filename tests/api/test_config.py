# SPDX-License-Identifier: Apache-2.0
"""Directives: wrong values stop `httpd -t` with a sentence; right ones leave no file behind."""

import os

import pytest


# What stands in the main server alone.
RIGHT_OF_SERVER = """PaymentsWebhookInsecure On
PaymentsWebhookAllow 127.0.0.1 10.0.0.0/8 ::1 fd00::/8
PaymentsTrustedCA /nowhere/ca.pem
PaymentsMailRelay smtp://mail.example:587 /nowhere/mail.login
PaymentsMailFrom shop@shop.example
PaymentsMailTemplates /nowhere/templates"""

WRONG_OF_SERVER = [
    ("PaymentsWebhookInsecure Perhaps", ["PaymentsWebhookInsecure: want On or Off, got 'Perhaps'"]),
    *[(f"PaymentsWebhookAllow 10.0.0.1 {network}", ["PaymentsWebhookAllow: want addresses or networks", f"'{network}'"])
      for network in ("nowhere", "10.0.0.0/33", "10.0.0", "::1/129", "10.0.0.1:443")],
    ('PaymentsWebhookAllow "10.0.0.1 10.0.0.2"', ["PaymentsWebhookAllow", "'10.0.0.1 10.0.0.2'"]),
    ("PaymentsWebhookAllow " + " ".join(f"10.0.0.{number}" for number in range(65)),
     ["PaymentsWebhookAllow: want at most 64 networks", "'10.0.0.64'"]),
    *[(f"PaymentsTrustedCA {path}", ["PaymentsTrustedCA: want the absolute path", f"'{path}'"])
      for path in ("relative", "/", "/" + "a" * 1000)],
    ("PaymentsMailTemplates relative", ["PaymentsMailTemplates: want the absolute path", "'relative'"]),
    *[(f"PaymentsMailRelay {url}", ["PaymentsMailRelay: want", "smtp://mail.example:587"])
      for url in ("mail.example", "https://mail.example", "smtp://", "smtp://mail.example:65536", "smtp://user@mail.example",
                  "smtp://mail.example/inbox", "smtp://mail.example?x", "smtp://mail.example//")],
    ("PaymentsMailRelay smtp://mail.example mail.login", ["PaymentsMailRelay: want the absolute path", "'mail.login'"]),
    ("PaymentsMailRelay smtp://mail.example", ["PaymentsMailRelay needs PaymentsMailFrom"]),
    *[(f'PaymentsMailFrom "{address}"', ["PaymentsMailFrom: want one e-mail address"])
      for address in ("shop", "a@shop.example,b@shop.example", "Shop <shop@shop.example>")],
    ('<Location "/">\nPaymentsTrustedCA /x\n</Location>', ["PaymentsTrustedCA"]),
]

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
    ("PaymentsSlotWait 9ms", ["PaymentsSlotWait", "10ms to 60s", "9ms"]),
    ("PaymentsSlotWait 61s", ["PaymentsSlotWait", "61s"]),
    ("PaymentsSlotWait soon", ["PaymentsSlotWait", "soon"]),
    ("PaymentsAccountQuota -1", ["PaymentsAccountQuota: want 0", "999999999", "'-1'"]),
    ("PaymentsAccountQuota 1000000000", ["PaymentsAccountQuota", "1000000000"]),
    ("PaymentsAccountQuota 1M", ["PaymentsAccountQuota", "1M"]),
    ("PaymentsCheckoutKeep 0", ["PaymentsCheckoutKeep: want 1s", "87600h", "'0'"]),
    ("PaymentsCheckoutKeep 30d", ["PaymentsCheckoutKeep", "'30d'"]),
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
    *[(f"PaymentsReturnHosts shop.example {host}", ["PaymentsReturnHosts: want", "shop.example:8443", f"'{host}'"])
      for host in ("*", "*.example", "https://shop.example", "shop.example/", "a@b.example", "shop.example:0")],
    ("PaymentsReturnHosts " + " ".join(f"s{number}.example" for number in range(33)),
     ["PaymentsReturnHosts: want at most 32", "'s32.example'"]),
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
    *[(f"{name} {path}", [name, f"'{path}'"]) for name in ("PaymentsHealth", "PaymentsMetrics")
      for path in ("well", "/", "/a/", "/a//b", "/a/../b", "/a?b", "/a%20b", "/" + "a" * 255)],
    *[(f"{name} {path}", [name, path, "API"]) for name in ("PaymentsHealth", "PaymentsMetrics")
      for path in ("/api/v1", "/api/v1/health", "/payment/order/create", "/payment/page/health")],
    ("PaymentsBasePath /shop\nPaymentsHealth /shop/api/v1/health", ["PaymentsHealth", "/shop/api/v1/health", "API"]),
    ("PaymentsBasePath /shop\nPaymentsMetrics /shop/api/v1/x", ["PaymentsMetrics", "/shop/api/v1/x", "API"]),
    ("PaymentsHealth /same\nPaymentsMetrics /same", ["PaymentsMetrics", "PaymentsHealth", "'/same'"]),
    *[(f"PaymentsMasterKey {value}", ["PaymentsMasterKey: want file:<absolute path"])
      for value in ("/etc/x.key", "file:", "file:x.key", "file:/", "file:/etc/keys/", "exec:/bin/x", "FILE:/x",
                    "file:/" + "a" * 1000)],
    ("PaymentsMasterKey file:/a file:/b", ["PaymentsMasterKey takes one argument"]),
    *[(f"PaymentsMasterKey file:@ROOT@/{path}", ["PaymentsMasterKey: want a file outside the store", path, "backup"])
      for path in ("store/master.key", "store")],
    *[(f"PaymentsMasterKey file:@ROOT@/{path}", ["PaymentsMasterKey: want a file outside every DocumentRoot", path])
      for path in ("htdocs/master.key", "htdocs/a/b")],
    *[(line, [line.split()[0], "<VirtualHost>"]) for line in RIGHT_OF_SERVER.splitlines()],
    ('<Location "/api/v1">\nPaymentsMasterKey file:/x\n</Location>', ["PaymentsMasterKey"]),
    ('<Location "/api/v1">\nRequire payments-key sekret\n</Location>', ["payments-key", "sekret"]),
    ('<Location "/api/v1">\nRequire payments-key\n</Location>', ["payments-key"]),
    ('<Location "/api/v1">\nPaymentsAccount x\n</Location>', ["PaymentsAccount"]),
    ('<Location "/api/v1">\nPaymentsHealth /x\n</Location>', ["PaymentsHealth"]),
    ('<Location "/x">\nPaymentsMetrics /x\n</Location>', ["PaymentsMetrics"]),
    ('<Location "/api/v1">\nPaymentsCORSOrigin https://shop.example\n</Location>', ["PaymentsCORSOrigin"]),
]


def files(root):
    return sorted(os.path.join(d, f) for d, _, fs in os.walk(root) for f in fs) \
        + sorted(d for d, _, _ in os.walk(root))


def refused(httpd, words):
    done = httpd.configtest()
    assert done.returncode != 0
    for word in words:
        assert word in done.stderr, done.stderr
    assert "Syntax OK" not in done.stderr


@pytest.mark.parametrize("line, words", [pytest.param(l, w, id=l.replace("\n", " ")) for l, w in WRONG])
def test_wrong_value(server, line, words):
    httpd = server(start=False)
    httpd.host_extra = line.replace("@ROOT@", str(httpd.root))
    refused(httpd, words)


@pytest.mark.parametrize("line, words", [pytest.param(l, w, id=l.replace("\n", " ")[:80]) for l, w in WRONG_OF_SERVER])
def test_wrong_value_of_server(server, line, words):
    refused(server(start=False, extra=line + "\n"), words)


@pytest.mark.parametrize("line", [
    "PaymentsMasterKey 00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff",
    "PaymentsMailRelay smtp://shop:00112233@mail.example",
])
def test_secret_by_mistake_is_not_repeated(server, line):
    done = server(start=False, extra=line + "\n").configtest()
    assert done.returncode != 0 and line.split()[0] in done.stderr
    assert "00112233" not in done.stderr


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
PaymentsSlotWait 60s
PaymentsCommitBatch 1
PaymentsAccountQuota 999999999
PaymentsCheckoutKeep 720h
PaymentsRefundMaxDays 7
PaymentsAcquirerTimeout 60s
PaymentsRefundRepeatWindow 24h
PaymentsMasterKey file:/nowhere/master.key
PaymentsHealth /api/v1/health
PaymentsMetrics /api/v1/metrics
PaymentsCORSOrigin https://shop.example HTTPS://Shop.Example https://shop.example:80 http://127.0.0.1:8080
PaymentsCORSOrigin http://localhost https://[::1]:8443 https://xn--bcher-kva.example https://a_b.example:65535
PaymentsReturnHosts Shop.Example *.shop.example localhost:3000 [::1]:8443 xn--bcher-kva.example"""


def test_right_values_leave_no_file(server):
    httpd = server(start=False, host_extra=RIGHT, extra=RIGHT_OF_SERVER + "\n")
    httpd.port = 1
    httpd.write_config()
    before = files(httpd.root)
    done = httpd.configtest()
    assert done.returncode == 0, done.stderr
    assert "Syntax OK" in done.stderr
    assert files(httpd.root) == before


def test_limits_themselves_are_right(server):
    origins = [f"https://s{number}.example" for number in range(31)] + ["https://" + "a" * 245 + ".example:8443"]
    networks = " ".join(f"10.0.0.{number}" for number in range(64))
    done = server(start=False, extra=f"PaymentsWebhookAllow {networks}\nPaymentsTrustedCA /{'a' * 999}\n"
                                     "PaymentsMailRelay SMTPS://Mail.example:65535/\nPaymentsMailFrom a@b.example\n"
                                     "PaymentsWebhookInsecure off\n",
                  host_extra="PaymentsCORSOrigin " + " ".join(origins)
                  + "\nPaymentsHealth /" + "a" * 254 + "\nPaymentsMetrics /" + "b" * 254
                  + "\nPaymentsRefundRepeatWindow 86400"
                  "\nPaymentsCommitBatch 256\nPaymentsAccountQuota 0").configtest()
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("line", ["PaymentsStoreSize 1G", "PaymentsStoreReserve 1M", "PaymentsCommitWait 1s",
                                  "PaymentsCommitBatch 1", "PaymentsAccountQuota 10", "PaymentsCheckoutKeep off", "PaymentsMasterKey file:/x.key"])
def test_hosts_of_one_store_agree(server, line):
    httpd = server(start=False)
    other = (f"<VirtualHost 127.0.0.1:@PORT@>\nServerName other.example\nPaymentsEngine On\n"
             f"PaymentsStore lmdb:{httpd.store}\n%s\n</VirtualHost>")
    httpd.extra = other % ""
    assert httpd.configtest().returncode == 0
    httpd.extra = other % f"PaymentsMasterKey file:{httpd.store}.key"  # where it is without the line
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
    httpd.expect_log("PAY00302: PaymentsAccount acme does not exist yet")
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
    httpd = server(start=False, clock=True, host_extra="PaymentsRefundRepeatWindow 2s")
    httpd.clock.stop()
    first, second, again = refund_twice(httpd.start())
    assert [first.status, second.status] == [200, 409]
    httpd.clock.pass_seconds(2)
    assert again().status == 409
    httpd.clock.pass_seconds(0.001)
    third = again()
    assert third.status == 200 and third.json["refundReference"] != first.json["refundReference"]


def test_account_that_does_not_exist_yet(server):
    httpd = server(host_extra="PaymentsAccount later")
    httpd.expect_log("PAY00302: PaymentsAccount later does not exist yet")
    assert "PAY00302: PaymentsAccount later does not exist yet" in httpd.log_text()
    assert httpd.request("GET", "/api/v1/refund/2026-01-01/2026-01-02").status == 401
    assert httpd.shop("later").refunds().status == 200


def test_two_hosts_one_store(server):
    httpd = server(start=False, host_extra="PaymentsAccount one")
    httpd.expect_log("PAY00302: PaymentsAccount (one|two) does not exist yet")
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
