# SPDX-License-Identifier: Apache-2.0
"""A secret key in a URL: it opens nothing, no log has it, and the answer says to revoke it (docs/api.md)."""

from harness import wait_for

LIST = "/api/v1/refund/2026-01-01/2026-01-02"
HINT = "Invalid Merchant Authorization. The URL holds a secret key"

WAYS = {
    "in the query": LIST + "?key={key}",
    "among others": LIST + "?a=b&token=x:{key}&c=d",
    "percent-encoded": LIST + "?key={encoded}",
    "its underscores encoded": LIST + "?key={underscores}",
    "in the path": "/api/v1/{key}/refund",
    "percent-encoded in the path": "/api/v1/refund/{encoded}",
    "in both, behind two slashes": "//api/v1/{key}?key={key}",
}


def filled(way, key):
    return way.format(key=key, encoded="".join(f"%{ord(letter):02x}" for letter in key),
                      underscores=key.replace("_", "%5F"))


def test_it_is_hidden_and_told(server):
    """%r, %U and %q of the access log, mod_status and the error log: none has the key, only its id."""
    httpd = server(mpm="event", extra='LogFormat "%r|%U|%q|%>s" open\nCustomLog ${ROOT}/open.log open\n'
                                      "LogLevel payments:trace8\nExtendedStatus On\n", env={"ROOT": "{root}"},
                   host_extra="<Location /server-status>\nSetHandler server-status\n</Location>\n")
    httpd.expect_log("PAY00780")
    shop = httpd.shop()
    for name, way in WAYS.items():
        answer = httpd.request("GET", filled(way, shop.secret))
        assert (name, answer.status) == (name, 401)
        assert answer.json["message"].startswith(HINT), name
        assert answer.header("www-authenticate") == 'Bearer realm="payments"'
        assert shop.secret not in answer.body.decode()
        told = [line for line in httpd.log_text().splitlines() if "PAY00780" in line]
        assert told and f"account {shop.name} was sent in a URL" in told[-1] and "paymentsctl key revoke key_" in told[-1]
        assert len(told) == list(WAYS).index(name) + 1
    shown = httpd.request("GET", "/server-status").body.decode()
    lines = wait_for(lambda: len((httpd.root / "open.log").read_text().splitlines()) > len(WAYS) and
                     (httpd.root / "open.log").read_text(), "the lines of the log")
    secret_part = shop.secret.rpartition("_")[2]
    encoded_part = filled("{encoded}", secret_part)
    for text in (lines, shown, httpd.log_text()):
        assert secret_part not in text and encoded_part not in text
    assert f"GET {LIST}?- HTTP/1.1|{LIST}|?-|401" in lines
    assert "GET /- HTTP/1.1|/-||401" in lines


def test_the_same_words_without_a_log_line_for_no_key_of_ours(shop):
    """No oracle: a guesser gets the same answer as an unlucky owner, and nothing is logged."""
    guess = shop.secret[:-6] + "aaaaaa"
    before = shop.httpd.log_text()
    answer = shop.httpd.request("GET", f"{LIST}?key={guess}")
    assert (answer.status, answer.json["message"].startswith(HINT)) == (401, True)
    assert "PAY00780" not in shop.httpd.log_text()[len(before):]


def test_a_good_key_beside_it_is_served(shop):
    """A query means nothing to the API; the key in it is still masked."""
    answer = shop.httpd.request("GET", f"{LIST}?key={shop.secret}", headers=[("Authorization", "Bearer " + shop.secret)])
    assert (answer.status, answer.json) == (200, [])


def test_public_keys_and_other_words_stay(shop):
    for word in (shop.public, "pay_testsk_short", "x" * 60):
        answer = shop.httpd.request("GET", f"{LIST}?key={word}")
        assert (answer.status, answer.json["message"]) == (401, "Invalid Merchant Authorization.")
