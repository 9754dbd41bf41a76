# SPDX-License-Identifier: Apache-2.0
"""PaymentsRequireTLS and PaymentsTrustedTLSProxy, with clients that are not on loopback.

The server and its clients live in a network namespace of their own, whose loopback interface has
the addresses 192.0.2.1 and 192.0.2.2 besides; nothing of it can be reached from outside.
"""

import subprocess

import pytest

from harness import ROOT, WAIT_S, run_ctl

LIST = "/api/v1/refund/2026-01-01/2026-01-02"
UNSHARE = ["unshare", "--net"] if ROOT else ["unshare", "--user", "--map-current-user", "--keep-caps", "--net"]
INSIDE = r"""
set -eu
url=$1 from=$2 key=$3
shift 3
ip link set lo up
ip addr add 192.0.2.1/32 dev lo
ip addr add 192.0.2.2/32 dev lo
env LD_PRELOAD="$PRELOAD" "$HTTPD" -d "$ROOT" -f "$ROOT/httpd.conf" -DFOREGROUND &
pid=$!
trap 'kill $pid; wait $pid || true' EXIT
curl -sk -o /dev/null --retry 200 --retry-delay 0 --retry-all-errors --retry-max-time 20 "$url/nonce.txt"
curl -sk -i --interface "$from" -H "Authorization: Bearer $key" "$@" "$url$LIST"
"""


@pytest.fixture
def ask(server):
    """Calls the list from address `source` of a server at `address`; returns status and text."""

    def call(source, extra, headers, address="192.0.2.1", key=None, scheme="http", modules=(), expect=None):
        httpd = server(start=False, address=address, host_extra=extra, modules=modules)
        httpd.port = 8443
        if expect:
            httpd.expect_log(expect)
        httpd.write_config()
        run_ctl(httpd.store, "account", "create", "shop")
        made = run_ctl(httpd.store, "key", "create", "shop", "--mode", "test", "--kind", "secret").stdout.strip()
        env = httpd.environment()
        preload = env.pop("LD_PRELOAD", "")  # a sanitizer's, for httpd alone
        env = {**env, "PRELOAD": preload, "HTTPD": httpd.command()[0], "ROOT": str(httpd.root), "LIST": LIST}
        lines = [part for header in headers for part in ("-H", header)]
        done = subprocess.run([*UNSHARE, "sh", "-c", INSIDE, "sh", f"{scheme}://{address}:8443", source,
                               key or made, *lines], capture_output=True, text=True, env=env,
                              timeout=3 * WAIT_S, check=False)
        assert done.stdout.startswith("HTTP/"), done.stderr + httpd.log_text()
        return int(done.stdout.split()[1]), done.stdout

    return call


@pytest.mark.parametrize("source, extra, headers, status", [
    pytest.param("192.0.2.2", "", [], 403, id="no TLS"),
    pytest.param("192.0.2.2", "PaymentsRequireTLS Off", [], 200, id="switched off"),
    pytest.param("192.0.2.2", "", ["X-Forwarded-Proto: https"], 403, id="nobody is trusted"),
    pytest.param("192.0.2.2", "", ["X-Forwarded-For: 127.0.0.1"], 403, id="a header is no address"),
    pytest.param("192.0.2.2", "PaymentsTrustedTLSProxy 192.0.2.2", ["X-Forwarded-Proto: https"], 200,
                 id="a trusted proxy's https"),
    pytest.param("192.0.2.2", "PaymentsTrustedTLSProxy 192.0.2.2", ["X-Forwarded-Proto: http"], 403,
                 id="a trusted proxy's http"),
    pytest.param("192.0.2.2", "PaymentsTrustedTLSProxy 192.0.2.2", [], 403, id="a trusted proxy that says nothing"),
    pytest.param("192.0.2.2", "PaymentsTrustedTLSProxy 192.0.2.0/24", ["X-Forwarded-Proto: https"], 200,
                 id="a trusted network"),
    pytest.param("192.0.2.2", "PaymentsTrustedTLSProxy 198.51.100.1 192.0.2.2", ["X-Forwarded-Proto: https"], 200,
                 id="the second of two"),
    pytest.param("192.0.2.2", "PaymentsTrustedTLSProxy 198.51.100.1", ["X-Forwarded-Proto: https"], 403,
                 id="another proxy"),
])
def test_without_tls(ask, source, extra, headers, status):
    got, text = ask(source, extra, headers)
    assert got == status, text
    if status == 403:
        assert '"responseCode":"B02"' in text and "insufficient_scope" in text


def test_trusted_proxy_on_loopback_tells_of_plain_http(server):
    httpd = server(host_extra="PaymentsTrustedTLSProxy 127.0.0.1")
    shop = httpd.shop()
    assert shop.refunds().status == 200
    assert shop.refunds(headers={"X-Forwarded-Proto": "https"}).status == 200
    assert shop.refunds(headers={"X-Forwarded-Proto": "http"}).status == 403


def test_mod_remoteip_does_not_move_the_connection(ask):
    """The client's claim to be on loopback, which mod_remoteip believes, does not count for us."""
    extra = "RemoteIPHeader X-Client\nRemoteIPInternalProxy 192.0.2.2"
    assert ask("192.0.2.2", extra, ["X-Client: 127.0.0.1"], modules=["remoteip"])[0] == 403


def test_tls_is_judged_before_the_key(ask):
    assert ask("192.0.2.2", "", [], key="pay_testsk_" + "a" * 48)[0] == 403


def test_with_tls(ask, tmp_path):
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost", "-days", "2",
                    "-keyout", str(tmp_path / "key.pem"), "-out", str(tmp_path / "cert.pem")],
                   check=True, capture_output=True)
    extra = (f"SSLEngine On\nSSLCertificateFile {tmp_path}/cert.pem\n"
             f"SSLCertificateKeyFile {tmp_path}/key.pem")
    status, text = ask("192.0.2.2", extra, [], scheme="https", modules=["socache_shmcb", "ssl"], expect="AH01873|AH01906")
    assert status == 200, text
