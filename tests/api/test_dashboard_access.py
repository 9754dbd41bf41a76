# SPDX-License-Identifier: Apache-2.0
"""PaymentsDashboard: whose path it is, who comes in, and what its pages and headers are."""

import hashlib
import http.client
import os
import re
import subprocess

import pytest

from dashboard import PAGE, PATH, SCRIPT, auth, basic, location, pages, settings
from conftest import MPMS
from harness import ROOT
from shares import ALIKE

pytestmark = ALIKE

REFUSED = "PAY00543"
HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src "
                               "'self'; font-src 'self'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'; "
                               "require-trusted-types-for 'script'; trusted-types 'none'",
    "x-frame-options": "DENY",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


def is_safe(answer):
    for name, value in HEADERS.items():
        assert answer.header(name) == value, (name, answer.headers)
    for name in "etag", "last-modified", "set-cookie", "access-control-allow-origin":
        assert answer.header(name) is None
    return True


@pytest.fixture(scope="module", params=MPMS)
def running(request):
    from harness import Httpd
    httpd = Httpd(mpm=request.param)
    httpd.host_extra = settings(httpd, extra="ErrorDocument 401 /nonce.txt\nErrorDocument 404 /nonce.txt\n"
                                             "ErrorDocument 403 https://elsewhere.example/\n")
    httpd.start()
    (httpd.docroot / ".htaccess").write_text("RewriteEngine On\nRewriteRule !nonce /nonce.txt [L]\n")
    yield httpd
    httpd.close()


@pytest.fixture
def site(running):
    yield running
    loud = running.unexpected()
    assert not loud, "unexpected in the error log:\n" + "\n".join(loud)


@pytest.mark.parametrize("path, body, kind", [
    pytest.param("/", PAGE, "text/html; charset=utf-8", id="the directory"),
    pytest.param("/index.html", PAGE, "text/html; charset=utf-8", id="its page"),
    pytest.param("/assets/app.js", SCRIPT, "text/javascript; charset=utf-8", id="script"),
    pytest.param("/assets/app.css", "", "text/css; charset=utf-8", id="an empty style"),
    pytest.param("//assets///app.js", SCRIPT, "text/javascript; charset=utf-8", id="doubled slashes"),
    pytest.param("/assets/%61pp.js", SCRIPT, "text/javascript; charset=utf-8", id="an encoded letter"),
    pytest.param("/x/../assets/app.js?v=1", SCRIPT, "text/javascript; charset=utf-8", id="dots and a query"),
])
@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_pages(site, method, path, body, kind):
    answer = site.request(method, PATH + path, headers=basic("vera"))
    assert answer.status == 200 and is_safe(answer)
    assert answer.header("content-type") == kind
    assert (answer.header("content-length") or "0") == str(len(body))  # httpd leaves a 0 out of a HEAD's answer
    assert answer.body.decode() == (body if method == "GET" else "")


@pytest.mark.parametrize("path", [
    "/assets", "/assets/", "/assets/app.js~", "/assets/.hidden.js", "/assets/notes.txt", "/assets/app.js/", "/app.js",
    "/assets/app.js%00", "/..%2f..%2foutside.html", "/assets/..%5c..%5coutside.html", "/%2e%2e/%2e%2e/outside.html",
    "/assets/%252e%252e/outside.html", "/outside.html", "/index.html/x", "/API/session", "/nonce.txt",
])
def test_what_is_no_page(site, path):
    site.expect_log("AH10244")
    answer = site.request("GET", PATH + path, headers=basic("vera"))
    assert answer.status in (400, 404), answer
    assert b"outside" not in answer.body and site.nonce.encode() not in answer.body


@pytest.mark.parametrize("path, status", [
    ("/api/x%2fy", 404), ("/api/%00", 404), ("/api/%zz", 400), ("/api/accounts%2Fshop", 404), ("/%61pi/x%2fy", 404),
    ("//api//x%2fy", 404), ("/x%2fy", 404), ("/%00", 404), ("/%zz", 400), ("%2f", 404),
])
def test_errors_before_the_url_is_decoded(site, path, status):
    """They are httpd's own, and are answered as all others: our headers, a sentence or JSON, not the site's documents."""
    site.expect_log("AH10244|AH00026")
    answer = site.request("GET", PATH + path)
    assert answer.status == status and is_safe(answer), answer
    assert len(answer.header("request-id") or "") > 9, answer.headers
    if "api" in path or "%61" in path:
        assert answer.header("content-type") == "application/json; charset=utf-8"
        assert answer.json["data"]["responseCode"] and answer.json["data"]["requestId"] == answer.header("request-id")
    else:
        assert answer.header("content-type") == "text/plain; charset=utf-8"
        assert len(answer.body) > 10 and b"<" not in answer.body


@pytest.mark.parametrize("headers", [{"Expect": "the-unexpected"}, {"X-Long": "x" * 9000}], ids=["417", "header"])
def test_errors_before_the_request_is_read(server, headers):
    httpd = server(start=False)
    httpd.host_extra = settings(httpd, extra="ErrorDocument 400 /nonce.txt\nErrorDocument 417 /nonce.txt\n")
    httpd.start()
    answer = httpd.request("GET", PATH + "/api/session", headers=headers)
    assert answer.status in (400, 417, 431) and is_safe(answer), answer
    assert answer.header("content-type") == "application/json; charset=utf-8" and answer.header("request-id")


def test_slashes_that_are_decoded(server):
    """What looks like ours before it is decoded, and is none after it, is the site's, its error document too."""
    httpd = server(start=False)
    httpd.host_extra = settings(httpd, extra="AllowEncodedSlashes On\nErrorDocument 404 /nonce.txt\n")
    httpd.start()
    answer = httpd.request("GET", PATH + "/x%2f..%2f..%2fnothing")
    assert answer.status == 404
    safe = answer.header("content-security-policy") is not None
    assert safe == (httpd.nonce.encode() not in answer.body), answer


def test_pages_have_no_validators_and_no_parts(site):
    """A browser gets the whole page again, whatever it has cached."""
    for headers in ({"Range": "bytes=0-3"}, {"If-None-Match": "*"}, {"If-Modified-Since": "Fri, 01 Jan 2038 00:00:00 GMT"},
                    {"If-Match": '"x"'}, {"Range": "bytes=0-3", "If-Range": '"x"'}):
        answer = site.request("GET", PATH + "/", headers={**basic("vera"), **headers})
        assert answer.status == 200 and answer.body.decode() == PAGE and is_safe(answer)


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "BREW"])
def test_pages_are_read_only(site, method):
    answer = site.request(method, PATH + "/", headers=basic("vera"))
    assert answer.status == 405 and is_safe(answer)
    assert answer.header("allow") == "GET, HEAD"


def test_the_directory_has_a_slash(site):
    answer = site.request("GET", PATH, headers=basic("vera"))
    assert answer.status == 308 and is_safe(answer)
    assert answer.header("location").endswith(PATH + "/")
    assert site.request("POST", PATH, headers=basic("vera")).status == 405


@pytest.mark.parametrize("path", [PATH + "x", PATH + ".html", "/payments", "/x" + PATH])
def test_the_rest_is_the_sites(site, path):
    assert site.request("GET", path).body.decode().strip() == site.nonce


@pytest.mark.parametrize("path", ["", "/", "/assets/app.js", "/nothing", "/api/session", "/api/nothing"])
@pytest.mark.parametrize("headers", [{}, basic("vera", "wrong"), basic("nobody"), {"Authorization": "Bearer x"}],
                         ids=["nothing", "wrong password", "unknown", "another scheme"])
def test_nobody_comes_in_unknown(site, path, headers):
    site.expect_log("AH01617|AH01618|AH01614")
    answer = site.request("GET", PATH + path, headers=headers)
    assert answer.status == 401 and is_safe(answer)
    assert answer.header("www-authenticate") == 'Basic realm="site"'
    assert site.nonce.encode() not in answer.body
    if path.startswith("/api/"):
        assert answer.json["status"] is False and answer.json["data"]["requestId"]
        assert answer.header("content-type") == "application/json; charset=utf-8"
    else:
        assert answer.body == b"Sign in to see this page.\n"
        assert answer.header("content-type") == "text/plain; charset=utf-8"


def test_a_key_of_the_api_is_no_user(site):
    shop = site.shop()
    site.expect_log("AH01614")
    assert shop.call("GET", PATH + "/").status == 401
    assert shop.call("GET", "/api/v1/refund/2026-01-01/2026-01-02").status == 200


@pytest.mark.parametrize("rule, modules", [
    pytest.param(None, [], id="no block"),
    pytest.param("Require all granted", [], id="everybody"),
    pytest.param("{auth}\nRequire all granted", [], id="a password that nobody needs"),
    pytest.param("{auth}\nRequire valid-user\nRequire local", [], id="a password or the address"),
    pytest.param("{auth}\nRequire valid-user\nOrder allow,deny\nAllow from all\nSatisfy Any", ["access_compat"],
                 id="Satisfy Any"),
    pytest.param("AuthType Payments\nRequire payments-key secret", [], id="an API key"),
    pytest.param("AuthType Basic\nAuthName x\nAuthBasicProvider anon\nAnonymous nobody\nAnonymous_NoUserID On\n"
                 "Anonymous_MustGiveEmail Off\nRequire valid-user", ["authn_anon"], id="a name that is empty"),
])
def test_without_a_user_it_is_closed(server, rule, modules):
    httpd = server(start=False, modules=modules)
    block = "" if rule is None else location(rule.replace("{auth}", auth(httpd)))
    httpd.host_extra = f"PaymentsDashboard {PATH}\n{pages(httpd)}\n{block}"
    httpd.start()
    httpd.expect_log(REFUSED)
    headers = basic("")
    if rule and "Payments" in rule:
        headers = {"Authorization": "Bearer " + httpd.shop().secret}
    for path in "/", "/assets/app.js", "/api/session":
        answer = httpd.request("GET", PATH + path, headers=headers)
        assert answer.status == 403 and is_safe(answer)
        assert b"error log" in answer.body
    said = [line for line in httpd.log_text().splitlines() if REFUSED in line]
    assert 1 <= len(said) <= len(httpd.pids()), "once for each process"
    assert f'<Location "{PATH}"> AuthType Basic' in said[0]


def test_digest(server):
    """Digest authentication names a user as well as Basic does."""
    httpd = server(start=False, modules=("auth_digest",))
    digest = hashlib.md5(b"vera:site:right").hexdigest()
    (httpd.root / "digests").write_text(f"vera:site:{digest}\n")
    httpd.host_extra = (f"PaymentsDashboard {PATH}\n{pages(httpd)}\n" + location(
        f"AuthType Digest\nAuthName site\nAuthUserFile {httpd.root}/digests\nRequire valid-user"))
    httpd.start()
    url = f"http://127.0.0.1:{httpd.port}{PATH}/api/session"
    for password, status in (("right", "200"), ("wrong", "401")):
        done = subprocess.run(["curl", "-s", "-w", " %{http_code}", "--digest", "-u", f"vera:{password}", url],
                              capture_output=True, text=True, check=True)
        body, _, got = done.stdout.rpartition(" ")
        assert got == status and ('"user":"vera"' in body.replace(" ", "")) == (status == "200")
    httpd.expect_log("AH01794: user vera: password mismatch")


def test_the_sites_error_documents_come_back_elsewhere(site):
    (site.docroot / ".htaccess").unlink()
    assert site.request("GET", "/missing").body.decode().strip() == site.nonce
    (site.docroot / ".htaccess").write_text("RewriteEngine On\nRewriteRule !nonce /nonce.txt [L]\n")


def test_no_page_of_the_sites_brings_it_along(server):
    """Neither a subrequest nor a redirect inside the server reaches it."""
    httpd = server(start=False)
    httpd.host_extra = settings(httpd, extra=f"ErrorDocument 404 {PATH}/index.html\n")
    (httpd.docroot / "inc.shtml").write_text(f'[<!--#include virtual="{PATH}/index.html" -->]')
    (httpd.docroot / ".htaccess").write_text("Options +Includes\nAddOutputFilter INCLUDES .shtml\n")
    httpd.start()
    httpd.expect_log(r"\[include:error\].* unable to include |AH01374")
    got = httpd.request("GET", "/inc.shtml", headers=basic("vera"))
    assert PAGE.encode() not in got.body
    got = httpd.request("GET", "/missing", headers=basic("vera"))
    assert got.status in (403, 404) and PAGE.encode() not in got.body


def test_tls_is_required_ahead_of_the_password(server):
    """On loopback, which counts as secure, the header of a trusted proxy says that it came without."""
    httpd = server(start=False)
    httpd.host_extra = settings(httpd, extra="PaymentsTrustedTLSProxy 127.0.0.1\n")
    httpd.start()
    for headers in {}, basic("vera"):
        answer = httpd.request("GET", PATH + "/", headers={**headers, "X-Forwarded-Proto": "http"})
        assert answer.status == 403 and answer.header("www-authenticate") is None and is_safe(answer)
    assert httpd.request("GET", PATH + "/", headers={**basic("vera"), "X-Forwarded-Proto": "https"}).status == 200


def test_pages_that_are_missing(server):
    httpd = server(start=False)
    httpd.host_extra = settings(httpd, extra="PaymentsDashboardFiles /nonexistent/dashboard\n")
    httpd.start()
    httpd.expect_log("PAY00664")
    answer = httpd.request("GET", PATH + "/", headers=basic("vera"))
    assert answer.status == 503 and b"not installed" in answer.body
    assert httpd.log_text().count("PAY00664") == 1
    assert ("PAY00664: PaymentsDashboard has no pages: the directory /nonexistent/dashboard: /nonexistent cannot be opened: "
            "No such file or directory. Install mod_payments again") in httpd.log_text()


def linked(target):
    return lambda path, _: path.symlink_to(target)


def hard_linked(path, secret):
    os.link(secret, path)


def linked_to_secret(path, secret):
    path.symlink_to(secret)


def given_away(path, _):
    path.write_text("x")
    os.chown(path, 33, 33)


def open_to_all(path, _):
    path.write_text("x")
    path.chmod(0o666)


@pytest.mark.parametrize("make, words", [
    pytest.param(linked_to_secret, "is a symbolic link", id="a link to root's file"),
    pytest.param(linked("app.js"), "is a symbolic link", id="a link to its neighbour"),
    pytest.param(linked("../index.html"), "is a symbolic link", id="a link to a page elsewhere"),
    pytest.param(linked("nowhere.js"), "is a symbolic link", id="a link to nothing"),
    pytest.param(hard_linked, "has another name elsewhere (a hard link): put a copy of the file there", id="a hard link"),
    pytest.param(lambda path, _: path.mkdir(), "is not a regular file", id="a directory"),
    pytest.param(lambda path, _: os.mkfifo(path), "is not a regular file", id="a pipe"),
    pytest.param(open_to_all, "may be changed by others (mode 0666)", id="open to all"),
    pytest.param(given_away, "may be changed by user 33, as which the server runs (mode 0644)", id="the server's user's",
                 marks=pytest.mark.root),
])
def test_pages_that_are_links(server, make, words):
    """Anything but a regular file is left out and named in the log; the other pages are served."""
    httpd = server(start=False)
    httpd.host_extra = settings(httpd)
    secret = httpd.root / "secret.json"
    secret.write_text('{"secret": "of root"}')
    secret.chmod(0o600)
    page = httpd.root / "pages/assets/page.js"
    make(page, secret)
    httpd.expect_log("PAY00541")
    httpd.start()
    [line] = [line for line in httpd.log_text().splitlines() if "PAY00541" in line]
    assert f"{httpd.root}/pages/assets/page.js cannot be read as a page: it {words}" in line and ":error]" in line
    answer = httpd.request("GET", f"{PATH}/assets/page.js", headers=basic("vera"))
    assert answer.status == 404 and b"of root" not in answer.body
    assert httpd.request("GET", f"{PATH}/assets/app.js", headers=basic("vera")).status == 200
    assert httpd.request("GET", PATH + "/", headers=basic("vera")).status == 200


def test_assets_that_are_a_link(server):
    httpd = server(start=False)
    httpd.host_extra = settings(httpd)
    os.rename(httpd.root / "pages/assets", httpd.root / "elsewhere")
    (httpd.root / "pages/assets").symlink_to(httpd.root / "elsewhere")
    httpd.expect_log(f"PAY00541: PaymentsDashboard: {httpd.root}/pages/assets cannot be read as a page: it is not a directory")
    httpd.start()
    assert httpd.request("GET", f"{PATH}/assets/app.js", headers=basic("vera")).status == 404
    assert httpd.request("GET", PATH + "/", headers=basic("vera")).status == 200


@pytest.mark.parametrize("change, words", [
    pytest.param(lambda root: None, None, id="the administrator's"),
    pytest.param(lambda root: (root / "way").chmod(0o757), "/way may be changed by others (mode 0757)",
                 id="in a directory of all"),
    pytest.param(lambda root: (root / "pages").chmod(0o757), "/pages may be changed by others (mode 0757)",
                 id="to a directory of all"),
    pytest.param(lambda root: os.lchown(root / "way/link", 33, 33), "/way/link is a symbolic link that others may change",
                 id="of the server's user", marks=pytest.mark.root),
    pytest.param(lambda root: os.chown(root / "way", 33, 33), "/way may be changed by user 33, as which the server runs",
                 id="in a directory of the server's user", marks=pytest.mark.root),
    pytest.param(lambda root: os.chown(root / "way", 4711, 4711), "/way/link is a symbolic link that others may change",
                 id="in a directory of another user", marks=pytest.mark.root),
    pytest.param(lambda root: os.chown(root / "pages", 33, 33), "/pages may be changed by user 33, as which the server runs",
                 id="to a directory of the server's user", marks=pytest.mark.root),
])
def test_directory_of_pages_by_a_link(server, change, words):
    """It may be a link that nobody but the administrator can change."""
    httpd = server(start=False)
    (httpd.root / "way").mkdir()
    httpd.host_extra = settings(httpd).replace(f"{httpd.root}/pages", f"{httpd.root}/way/link")
    (httpd.root / "way/link").symlink_to("../pages")
    change(httpd.root)
    if words:
        httpd.expect_log(f"PAY00664: PaymentsDashboard has no pages: the directory {httpd.root}/way/link: "
                         f".*{re.escape(words)}|PAY00664.*{httpd.root}{re.escape(words)}")
    httpd.start()
    assert httpd.request("GET", PATH + "/", headers=basic("vera")).status == (503 if words else 200)
    assert ("PAY00664" in httpd.log_text()) == bool(words)


@pytest.mark.plain("only root can give files to another user")
def test_directory_of_pages_of_another_user(server):
    """A tree that belongs to the administrator's own account will do: neither the server's user nor all can change it."""
    httpd = server(start=False)
    httpd.host_extra = settings(httpd)
    if ROOT:
        for path in httpd.root / "pages", httpd.root / "pages/assets", *(httpd.root / "pages").rglob("*.*"):
            os.chown(path, 4711, 4711)
    httpd.start()
    assert httpd.request("GET", f"{PATH}/assets/app.js", headers=basic("vera")).status == 200


def test_pages_of_a_size_and_number(server):
    httpd = server(start=False)
    httpd.host_extra = settings(httpd)
    assets = httpd.root / "pages/assets"
    (assets / "large.js").write_text("x" * (2 << 20))
    (assets / "larger.js").write_text("x" * ((2 << 20) + 1))
    (assets / ("n" * 61 + ".js")).write_text("x")
    (assets / ("n" * 62 + ".js")).write_text("x")
    (assets / "directory.js").mkdir()
    httpd.start()
    httpd.expect_log("PAY00541: PaymentsDashboard: .*/(larger|directory).js")
    for name, want in [("large", 200), ("larger", 404), ("n" * 61, 200), ("n" * 62, 404), ("directory", 404)]:
        assert httpd.request("GET", f"{PATH}/assets/{name}.js", headers=basic("vera")).status == want, name
    for number in range(128):
        (assets / f"{number}.js").write_text("x")
    httpd.expect_log("No space left.*PAY00541")
    httpd.graceful()
    got = [httpd.request("GET", f"{PATH}/assets/{number}.js", headers=basic("vera")).status for number in range(128)]
    assert 0 < got.count(404) < 128


@pytest.mark.parametrize("lines, words", [
    pytest.param("PaymentsDashboard payments", "PaymentsDashboard: want a path", id="no path"),
    pytest.param("PaymentsDashboard /", "PaymentsDashboard: want a path", id="the whole site"),
    pytest.param("PaymentsDashboard /payments/", "PaymentsDashboard: want a path", id="a slash at its end"),
    pytest.param("PaymentsDashboard /api/v1/dashboard", "neither one of the API's", id="inside of the API"),
    pytest.param("PaymentsDashboard /api", "neither one of the API's", id="above the API"),
    pytest.param("PaymentsDashboard /payment", "neither one of the API's", id="above the hosted page"),
    pytest.param("PaymentsBasePath /shop\nPaymentsDashboard /shop", "neither one of the API's", id="the base path"),
    pytest.param("PaymentsDashboard /d\nPaymentsHealth /d/health", "PaymentsHealth: want a path outside", id="health"),
    pytest.param("PaymentsDashboard /d\nPaymentsMetrics /d", "PaymentsMetrics: want a path outside", id="metrics"),
    pytest.param("PaymentsDashboardFiles share", "PaymentsDashboardFiles: want an absolute path", id="files"),
])
def test_configurations_that_are_refused(server, lines, words):
    httpd = server(start=False, host_extra=lines)
    done = httpd.configtest()
    assert done.returncode != 0 and words in done.stderr + done.stdout + httpd.log_text()


def test_it_is_not_inherited(server):
    httpd = server(start=False)
    httpd.extra = settings(httpd)
    httpd.start()
    assert httpd.request("GET", PATH + "/nothing", headers=basic("vera")).status == 404
    assert httpd.request("GET", PATH + "/", headers=basic("vera")).body.decode() != PAGE


def test_kept_connections(site):
    conn = site.connect()
    for _ in range(3):
        assert site.request("GET", PATH + "/", headers=basic("vera"), connection=conn).status == 200
        assert site.request("POST", PATH + "/", "x" * 5000, headers=basic("vera"), connection=conn).status == 405
    assert isinstance(conn, http.client.HTTPConnection)
    conn.close()
