# SPDX-License-Identifier: Apache-2.0
"""Passwords of the dashboard's users cannot be tried without limit."""

from dashboard import PATH, Person, basic, settings
from test_dashboard_access import is_safe

WRONG_IN_LOG = "AH01617"  # of mod_auth_basic: Password Mismatch


def test_sign_ins_that_fail(server):
    """PaymentsAuthFailureLimit, before the password is judged; what comes without one is a browser's first request. A
    burst is as long as what a browser asks at a time, at the least.
    """
    httpd = server(start=False, extra="PaymentsAuthFailureLimit 1/h burst=5\n")
    httpd.host_extra = settings(httpd)
    httpd.start()
    olga = Person(httpd, "olga")
    for _ in range(120):
        assert olga.get("session").status == 200
        assert httpd.request("GET", PATH + "/").status == 401
    httpd.expect_log(WRONG_IN_LOG + "|AH01618")
    for user, path in (("olga", "/"), ("olga", "/api/session"), ("nobody", "/"), ("olga", "/assets/app.js")) * 25:
        assert httpd.request("GET", PATH + path, headers=basic(user, "wrong")).status == 401
    for word in "wrong", "right":
        for path in "/", "/api/session":
            answer = httpd.request("GET", PATH + path, headers=basic("olga", word))
            assert answer.status == 429 and is_safe(answer), answer
            assert 600 <= int(answer.header("retry-after")) <= 864, "a hundred of them are there again within a day"
            assert b"Too many sign-ins" in answer.body
    assert httpd.log_text().count("PAY00681") == 1 and httpd.log_text().count(WRONG_IN_LOG) == 75
    assert httpd.request("GET", PATH + "/").status == 401
    assert httpd.request("GET", "/nonce.txt").status == 200
    assert httpd.request("POST", "/api/v1/tokenized-card-charge", "{}", {"Authorization": "Bearer x"}).status == 401, \
        "keys of the API are counted apart"


def test_sign_ins_that_fail_under_satisfy_any(server):
    httpd = server(start=False, extra="PaymentsAuthFailureLimit 1/h burst=3\n", modules=["access_compat"])
    httpd.host_extra = settings(httpd, "Require valid-user\nOrder deny,allow\nDeny from all\nSatisfy Any")
    httpd.start()
    httpd.expect_log(WRONG_IN_LOG + "|AH01797")
    got = [httpd.request("GET", PATH + "/", headers=basic("olga", "wrong")).status for _ in range(102)]
    assert set(got[:100]) == {401} and 429 in got[100:]


def test_no_limit_on_sign_ins(server):
    httpd = server(start=False, extra="PaymentsAuthFailureLimit off\n")
    httpd.host_extra = settings(httpd)
    httpd.start()
    httpd.expect_log(WRONG_IN_LOG)
    assert {httpd.request("GET", PATH + "/", headers=basic("olga", "wrong")).status for _ in range(150)} == {401}
