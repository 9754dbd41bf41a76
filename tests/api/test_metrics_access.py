# SPDX-License-Identifier: Apache-2.0
"""PaymentsMetrics: who may read it. Whoever configures nothing is refused, though httpd would let everybody in."""

import base64
import hashlib

import pytest

from exposition import METRICS, ON, is_bare, parse

REFUSED = "PAY00371"


def users(httpd):
    digest = base64.b64encode(hashlib.sha1(b"right").digest()).decode()
    (httpd.root / "users").write_text(f"ada:{{SHA}}{digest}\n")
    return f"AuthType Basic\nAuthName site\nAuthUserFile {httpd.root}/users"


def location(rule, path=METRICS):
    return f'<Location "{path}">\n{rule}\n</Location>\n'


# Each with whether the real client, on loopback, gets in; those that say nothing are refused though httpd grants.
RULES = [
    pytest.param("", 403, True, id="nothing"),
    pytest.param(location("Require all granted"), 403, True, id="all granted"),
    pytest.param(location("Require all granted", "/"), 403, True, id="all granted for the whole site"),
    pytest.param(location("Require method GET HEAD POST"), 403, True, id="a rule that lets everybody in"),
    pytest.param(location("Require expr \"%{HTTPS} == 'off'\""), 403, True, id="what every connection is"),
    pytest.param(location("<RequireAny>\nRequire local\nRequire all granted\n</RequireAny>"), 403, True, id="any"),
    pytest.param(location("<RequireAll>\nRequire all granted\nRequire not ip 192.0.2.0/24\n</RequireAll>"), 403, True,
                 id="all but somebody"),
    pytest.param(location("Require ip 0.0.0.0/1 128.0.0.0/1"), 403, True, id="every address"),
    pytest.param(location("Require local") + location("Require all granted"), 403, True, id="a later rule opens"),
    pytest.param(location("Require local", "/elsewhere"), 403, True, id="another path"),
    pytest.param('<Directory "/">\nRequire local\n</Directory>', 403, True, id="Directory does not count"),
    pytest.param(f'<If "%{{REQUEST_URI}} == \'{METRICS}\'">\nRequire all granted\n</If>', 403, True, id="If opens"),
    pytest.param(location("AuthType Basic\nAuthName x"), 500, False, id="AuthType alone, which httpd itself refuses"),
    pytest.param(location("Require all denied"), 403, False, id="all denied"),
    pytest.param(location("Require ip 192.0.2.1"), 403, False, id="somebody else's address"),
    pytest.param(location("Require ip 192.0.2.1\nRequire host elsewhere.example"), 403, False, id="somebody's name"),
    pytest.param(location("Require local"), 200, False, id="local"),
    pytest.param(location("Require ip 127.0.0.1"), 200, False, id="address"),
    pytest.param(location("Require ip 127.0.0.0/8 192.0.2.0/24"), 200, False, id="networks"),
    pytest.param(location("Require forward-dns localhost"), 200, False, id="a name's address"),
    pytest.param(location("Require local", "/"), 200, False, id="the whole site"),
    pytest.param('<LocationMatch "^/payments-">\nRequire local\n</LocationMatch>', 200, False, id="a pattern"),
    pytest.param(f'<If "%{{REQUEST_URI}} == \'{METRICS}\'">\nRequire local\n</If>', 200, False, id="If"),
    pytest.param(location("Require expr \"-R '127.0.0.0/8'\""), 200, False, id="an expression"),
    pytest.param(location("<RequireAll>\nRequire local\nRequire method GET\n</RequireAll>"), 200, False, id="all of"),
    pytest.param(location("Require all granted", "/") + location("Require local"), 200, False, id="AuthMerging Off"),
    pytest.param(location("Require local", "/") + location("AuthMerging And\nRequire all granted"), 200, False,
                 id="AuthMerging And"),
    pytest.param(location("Require local", "/") + location("AuthMerging Or\nRequire all granted"), 403, True,
                 id="AuthMerging Or"),
]


@pytest.mark.parametrize("rules, want, is_open", RULES)
def test_who_is_let_in(server, rules, want, is_open):
    """Refused wherever anybody would be let in; the log then says what to write."""
    # The rule of the page that identifies a server must not depend on the rule under test.
    httpd = server(host_extra=f"{ON}\n{rules}\n" + location("Require all granted", "/nonce.txt"))
    for line in REFUSED, "AH01630", "AH01627":
        httpd.expect_log(line)
    answer = httpd.request("GET", METRICS)
    assert answer.status == want, answer
    log = httpd.log_text()
    assert (REFUSED in log) == is_open
    assert not is_open or f'<Location "{METRICS}">' in log
    if want == 200:
        parse(answer.body.decode())
        assert "AH01630" not in log, "a denial that nobody was given is told"
    else:
        assert is_bare(answer)


def test_rule_of_the_main_server(server):
    """<Location> sections of the main server hold for its virtual hosts, the directive does not."""
    httpd = server(host_extra=ON, extra=location("Require local"))
    assert httpd.request("GET", METRICS).status == 200
    httpd = server(host_extra=location("Require local"), extra=ON)
    assert httpd.request("GET", METRICS).status == 404


@pytest.mark.parametrize("headers, want", [
    pytest.param({}, 401, id="nothing"),
    pytest.param({"Authorization": "Basic " + base64.b64encode(b"ada:wrong").decode()}, 401, id="wrong"),
    pytest.param({"Authorization": "Basic " + base64.b64encode(b"ada:right").decode()}, 200, id="right"),
])
def test_password(server, headers, want):
    httpd = server(start=False)
    httpd.host_extra = ON + "\n" + location(users(httpd) + "\nRequire valid-user")
    httpd.start()
    httpd.expect_log("AH01617")
    answer = httpd.request("GET", METRICS, headers=headers)
    assert answer.status == want
    assert want == 200 or (is_bare(answer) and answer.header("www-authenticate").startswith("Basic"))


@pytest.mark.parametrize("rules, right, none", [
    pytest.param("Require valid-user\nRequire local", 200, 200, id="a password or the address"),
    pytest.param("Require valid-user\nRequire all granted", 403, 403, id="a password that nobody needs"),
    pytest.param("<RequireAll>\nRequire valid-user\nRequire ip 192.0.2.1\n</RequireAll>", 403, 403, id="both"),
])
def test_password_and_address(server, rules, right, none):
    httpd = server(start=False)
    httpd.host_extra = ON + "\n" + location(users(httpd) + "\n" + rules)
    httpd.start()
    httpd.expect_log(REFUSED)
    httpd.expect_log("AH01630")
    given = {"Authorization": "Basic " + base64.b64encode(b"ada:right").decode()}
    assert httpd.request("GET", METRICS, headers=given).status == right
    assert httpd.request("GET", METRICS).status == none


def test_satisfy_any_is_refused(server):
    """What Order and Allow let in, Require does not know."""
    httpd = server(start=False, modules=["access_compat"])
    httpd.host_extra = ON + "\n" + location(users(httpd) + "\nRequire valid-user\nOrder allow,deny\n"
                                            "Allow from all\nSatisfy Any")
    httpd.start()
    httpd.expect_log(REFUSED)
    assert httpd.request("GET", METRICS).status == 403


@pytest.mark.parametrize("rule", [
    pytest.param("SetEnvIf X-Token ^secret$ scraper\n" + location("Require env scraper"), id="env"),
    pytest.param(location("Require expr \"%{HTTP:X-Token} == 'secret'\""), id="expression"),
])
def test_secret_header(server, rule):
    httpd = server(host_extra=ON + "\n" + rule)
    httpd.expect_log("AH01630")
    assert httpd.request("GET", METRICS, headers={"X-Token": "secret"}).status == 200
    assert httpd.request("GET", METRICS).status == 403


def test_behind_a_proxy(server):
    """The address is the client's, as set by mod_remoteip."""
    httpd = server(modules=["remoteip"], host_extra="RemoteIPHeader X-Forwarded-For\nRemoteIPInternalProxy 127.0.0.1\n"
                                                    + ON + "\n" + location("Require ip 198.51.100.7"))
    httpd.expect_log("AH01630")
    assert httpd.request("GET", METRICS, headers={"X-Forwarded-For": "198.51.100.7"}).status == 200
    assert httpd.request("GET", METRICS, headers={"X-Forwarded-For": "198.51.100.8"}).status == 403
    assert httpd.request("GET", METRICS).status == 403
    assert REFUSED not in httpd.log_text()


def test_api_key_as_password(server):
    httpd = server(host_extra=ON + "\n" + location("AuthType Payments\nRequire payments-key secret"))
    shop = httpd.shop()
    assert shop.call("GET", METRICS).status == 200
    assert shop.call("GET", METRICS, key=shop.public).status in (401, 403)
    assert httpd.request("GET", METRICS).status == 401
    httpd.expect_log("AH01631")


def test_refusals_fill_no_log(server):
    httpd = server(host_extra=ON)
    httpd.expect_log(REFUSED)
    for _ in range(50):
        assert httpd.request("GET", METRICS).status == 403
    assert 1 <= httpd.log_text().count(REFUSED) <= len(httpd.pids())
