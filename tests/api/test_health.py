# SPDX-License-Identifier: Apache-2.0
"""PaymentsHealth: 200 or 503 without a key, and nothing else."""

import os
import subprocess
import sys

import pytest

import raw_lmdb
from harness import ROOT, STORE_GONE, WAIT_S, run_ctl, wait_for

HEALTH = "/payments-health"
ON = f"PaymentsHealth {HEALTH}"
REOPEN_S = 3 * WAIT_S  # a store that is down is tried again after 1, 2, 4 ... 60 seconds
# What an answer may carry: ours is Cache-Control, the rest is httpd's own.
HEADERS = {"date", "server", "cache-control", "content-length", "connection", "keep-alive", "upgrade"}


def status(httpd, path=HEALTH):
    return httpd.request("GET", path).status


def is_bare(answer, more=()):
    assert answer.body == b""
    assert answer.header("cache-control") == "no-store"
    assert (answer.header("content-length") or "0") == "0"
    assert {name for name, _ in answer.headers} <= HEADERS | set(more), answer.headers
    return True


def test_well(server):
    httpd = server(host_extra=ON)
    for method in "GET", "HEAD":
        answer = httpd.request(method, HEALTH)
        assert answer.status == 200 and is_bare(answer)


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "PATCH", "BREW"])
def test_other_methods(server, method):
    httpd = server(host_extra=ON)
    answer = httpd.request(method, HEALTH, "x" * 5000 if method == "POST" else None)
    assert answer.status == 405
    assert answer.header("allow") == "GET, HEAD"
    assert is_bare(answer, ["allow"])


def test_connection_is_kept(server):
    httpd = server(host_extra=ON)
    connection = httpd.connect()
    for method, body, want in [("GET", None, 200), ("POST", "x" * 5000, 405), ("HEAD", None, 200), ("GET", None, 200)]:
        assert httpd.request(method, HEALTH, body, connection=connection).status == want
    connection.close()


@pytest.mark.parametrize("key", ["Bearer pay_testsk_" + "k" * 48, "nonsense", "Basic YTpi"])
def test_key_is_ignored_and_never_logged(server, key):
    httpd = server(host_extra=ON + '\nCustomLog ${ROOT}/headers.log "%{Authorization}i %U"',
                   extra="LogLevel payments:debug", start=False)
    httpd.host_extra = httpd.host_extra.replace("${ROOT}", str(httpd.root))
    httpd.start()
    answer = httpd.request("GET", HEALTH, headers={"Authorization": key})
    assert answer.status == 200 and is_bare(answer)
    log = httpd.root / "headers.log"
    wait_for(lambda: HEALTH in log.read_text(), "the access log")
    for text in log.read_text(), httpd.log_text(), "\n".join(httpd.access_lines()):
        assert key.split()[-1] not in text


def test_question_and_conditions_change_nothing(server):
    httpd = server(host_extra=ON)
    answer = httpd.request("GET", HEALTH + "?probe=1", headers={
        "Range": "bytes=0-1", "If-None-Match": "*", "Accept": "image/png", "Origin": "https://shop.example"})
    assert answer.status == 200 and is_bare(answer)


def test_no_tls_is_needed(server):
    """Load balancers ask over plain HTTP; nothing that is secret passes."""
    httpd = server(host_extra=ON + "\nPaymentsTrustedTLSProxy 127.0.0.1\nPaymentsRequireTLS On")
    plain = {"X-Forwarded-Proto": "http"}
    assert httpd.request("GET", "/api/v1/x", headers=plain).status == 403
    assert httpd.request("GET", HEALTH, headers=plain).status == 200


@pytest.mark.parametrize("extra", [
    pytest.param("RewriteEngine On\nRewriteRule !nonce /index.html [L]", id="RewriteRule"),
    pytest.param(f"Alias {HEALTH} /tmp", id="Alias"),
    pytest.param(f"Redirect {HEALTH} https://elsewhere.example/", id="Redirect"),
    pytest.param("FallbackResource /index.html", id="FallbackResource"),
    pytest.param('<LocationMatch "^/(?!nonce)">\nSetHandler server-status\n</LocationMatch>', id="SetHandler"),
    pytest.param("PaymentsBasePath /shop", id="another base path"),
    pytest.param("PaymentsAccount nobody", id="an account that does not exist"),
])
def test_site_does_not_take_it(server, extra):
    httpd = server(host_extra=ON + "\n" + extra)
    httpd.expect_log("PAY00302: PaymentsAccount nobody does not exist yet")
    (httpd.docroot / "index.html").write_text("the site")
    (httpd.docroot / ".htaccess").write_text("RewriteEngine On\nRewriteRule !nonce /index.html [L]\n")
    answer = httpd.request("GET", HEALTH)
    assert answer.status == 200 and is_bare(answer)


def test_exactly_the_path(server):
    httpd = server(host_extra="PaymentsHealth /a/well.php")
    (httpd.docroot / "a").mkdir()
    (httpd.docroot / "a/other").write_text("the site")
    assert status(httpd, "/a/well.php") == 200
    assert httpd.request("GET", "/a/other").body == b"the site"
    for path in "/a/well.php/", "/a/well.phpx", "/a", "/a/well.php/x", "/A/well.php", HEALTH:
        assert status(httpd, path) != 200, path


def test_other_host_has_its_own(server):
    """Not inherited, and without the engine the path is the site's."""
    httpd = server(start=False, extra=ON + "\nPaymentsEngine On\nPaymentsStore lmdb:{store}")
    httpd.extra = httpd.extra.format(store=httpd.store)
    httpd.start()
    assert status(httpd) == 404
    (httpd.docroot / HEALTH.strip("/")).write_text("the site's")
    assert httpd.request("GET", HEALTH).body == b"the site's"


def test_engine_off(server):
    httpd = server(engine=False, host_extra=ON)
    (httpd.docroot / HEALTH.strip("/")).write_text("the site's")
    assert httpd.request("GET", HEALTH).body == b"the site's"


@pytest.mark.parametrize("rule, want", [("Require all denied", 403), ("Require ip 192.0.2.1", 403),
                                        ("Require ip 127.0.0.1", 200)])
def test_rules_of_the_administrator(server, rule, want):
    httpd = server(host_extra=ON + f'\nErrorDocument 403 "a page"\nErrorDocument 405 /index.html\n'
                                   f'<Location "{HEALTH}">\n{rule}\n</Location>')
    httpd.expect_log("AH01630")
    answer = httpd.request("GET", HEALTH)
    assert answer.status == want and is_bare(answer)


@pytest.mark.parametrize("block, want", [
    pytest.param("", 401, id="the whole site asks for a password"),
    pytest.param(f'<Location "{HEALTH}">\nRequire all granted\n</Location>', 200, id="but not here"),
])
def test_site_that_protects_everything(server, block, want):
    httpd = server(start=False)
    httpd.host_extra = (f'{ON}\n<Location "/">\nAuthType Basic\nAuthName site\nAuthUserFile {httpd.root}/users\n'
                        f'Require valid-user\n</Location>\n<Location "/nonce.txt">\nRequire all granted\n</Location>\n'
                        f'{block}')
    (httpd.root / "users").write_text("")
    httpd.start()
    answer = httpd.request("GET", HEALTH)
    assert answer.status == want and is_bare(answer, ["www-authenticate"])


def test_store_without_room_can_still_be_read(server):
    httpd = server(host_extra=ON + "\nPaymentsStoreSize 8M\nPaymentsStoreReserve 1M")
    shop = httpd.shop()
    httpd.host_extra = ON + "\nPaymentsStoreSize 8M\nPaymentsStoreReserve 8191K"
    httpd.write_config()
    httpd.graceful()
    httpd.expect_log("PAY00105")
    assert shop.charge().status == 503
    assert shop.refunds().status == 200
    assert status(httpd) == 200


def test_included_pages_do_not_reach_it(server):
    httpd = server(host_extra=ON + "\n<Directory />\nOptions +Includes\n</Directory>\nAddType text/html .shtml\n"
                                   "AddOutputFilter INCLUDES .shtml")
    httpd.expect_log(r"\[include:error\].* unable to include ")
    (httpd.docroot / "page.shtml").write_text(f'[<!--#include virtual="{HEALTH}" -->]')
    assert b"error" in httpd.request("GET", "/page.shtml").body


def test_store_taken_away_and_brought_back(server):
    httpd = server(host_extra=ON + "\nErrorDocument 503 /index.html")
    (httpd.docroot / "index.html").write_text("the site")
    shop = httpd.shop()
    assert status(httpd) == 200
    httpd.expect_log(STORE_GONE)
    away = httpd.root / "away"
    httpd.store.rename(away)
    # Each process notices by itself, at the first question.
    for _ in range(10):
        answer = httpd.request("GET", HEALTH)
        assert answer.status == 503 and is_bare(answer)
        assert httpd.request("HEAD", HEALTH).status == 503
    assert not httpd.store.exists(), "a question made a store"
    away.rename(httpd.store)
    wait_for(lambda: status(httpd) == 200, "the store to be opened again", REOPEN_S)
    wait_for(lambda: {shop.refunds().status for _ in range(10)} == {200}, "every process to be well", REOPEN_S)


def test_schema_of_another_version(server):
    httpd = server(host_extra=ON)
    httpd.expect_log("PAY00110")
    httpd.shop()
    assert status(httpd) == 200
    raw_lmdb.change_schema(httpd.store, 99)
    assert status(httpd) == 503
    assert httpd.request("POST", HEALTH).status == 405
    raw_lmdb.change_schema(httpd.store, 1)
    assert status(httpd) == 200


@pytest.mark.plain("root's server has a user of its own")
def test_place_that_may_not_be_entered(server):
    """Down from the start; well again once the directory above is opened, without a restart."""
    httpd = server(start=False)
    httpd.expect_log("PAY00303")
    httpd.expect_log("PAY00350")  # the master key lies there too
    closed = httpd.root / "closed"
    closed.mkdir(mode=0o700)
    if not ROOT:
        closed.chmod(0o000)
    httpd.extra = f"""
<VirtualHost 127.0.0.1:@PORT@>
ServerName closed.example
PaymentsEngine On
PaymentsStore lmdb:{closed}/store
{ON}
</VirtualHost>
"""
    httpd.start()

    def ask():
        said = httpd.raw(f"GET {HEALTH} HTTP/1.1\r\nHost: closed.example\r\nConnection: close\r\n\r\n".encode())
        assert said.partition(b"\r\n\r\n")[2] == b""
        return int(said.split(b" ")[1])

    assert ask() == 503
    closed.chmod(0o755)
    run_ctl(closed / "store", "account", "create", "late")
    if ROOT:
        subprocess.run(["chown", "-R", "www-data:", str(closed / "store")], check=True)
    wait_for(lambda: ask() == 200, "the store to be opened", REOPEN_S)


def test_questions_fill_no_log(server):
    """A load balancer asks every second for as long as it lasts."""
    httpd = server(host_extra=ON)
    httpd.expect_log("PAY00110")
    httpd.shop()
    raw_lmdb.change_schema(httpd.store, 99)
    connection = httpd.connect()
    for _ in range(200):
        assert httpd.request("GET", HEALTH, connection=connection).status == 503
    connection.close()
    lines = [line for line in httpd.log_text().splitlines() if "PAY00110: store " in line]
    children = len(httpd.pids())
    assert 1 <= len(lines) <= 3 * children, lines
    assert "PAY00320" not in httpd.log_text()


def test_writer_that_is_stopped(server):
    """Another process sits on the store's write lock: nothing can be started here until it goes on."""
    httpd = server(host_extra=ON + "\nPaymentsCommitWait 200ms",
                   threads="StartServers 1\nServerLimit 1\nThreadsPerChild 32\nThreadLimit 32\nMaxRequestWorkers 32\n"
                           "MinSpareThreads 1\nMaxSpareThreads 32")
    httpd.expect_log("PAY00109")
    shop = httpd.shop()
    child = subprocess.Popen([sys.executable, raw_lmdb.__file__, str(httpd.store)], stdout=subprocess.PIPE, text=True)
    connection = httpd.connect()
    try:
        assert child.stdout.readline().strip() == "held"
        # Its answer comes when the lock is free; that somebody waits is what the next questions find.
        body = ('{"token":"tok_test_success","amount":1,"email":"a@example.com","reference":"stuck-1"}')
        connection.request("POST", "/api/v1/tokenized-card-charge", body,
                           {"Authorization": "Bearer " + shop.secret, "Content-Type": "application/json"})
        wait_for(lambda: status(httpd) == 503, "the stall to be seen")
    finally:
        child.kill()
        child.wait()
    assert connection.getresponse().status in (200, 503)
    connection.close()
    wait_for(lambda: status(httpd) == 200, "the store to be written again")


def test_access_log_can_leave_it_out(server):
    """As docs/directives.md says."""
    httpd = server(start=False, host_extra=ON)
    httpd.host_extra += (f'\nSetEnvIf Request_URI "^{HEALTH}$" payments_health\n'
                         f'CustomLog {httpd.root}/most.log "%U" env=!payments_health')
    httpd.start()
    log = httpd.root / "most.log"
    assert status(httpd) == 200
    httpd.request("GET", "/nonce.txt?after")
    wait_for(lambda: log.exists() and "/nonce.txt" in log.read_text(), "the access log")
    assert HEALTH not in log.read_text()
    assert os.path.getsize(log) > 0
