# SPDX-License-Identifier: Apache-2.0
"""The URL is ours before a site's rewriting, aliases and .htaccess; all else stays the site's."""

import json

import pytest

from harness import MODULE, charge_body, reference

LIST = "/api/v1/refund/2026-01-01/2026-01-02"
WORDPRESS = """
# BEGIN WordPress
<IfModule mod_rewrite.c>
RewriteEngine On
RewriteRule .* - [E=HTTP_AUTHORIZATION:%{HTTP:Authorization}]
RewriteBase /
RewriteRule ^index\\.html$ - [L]
RewriteCond %{REQUEST_FILENAME} !-f
RewriteCond %{REQUEST_FILENAME} !-d
RewriteRule . /index.html [L]
</IfModule>
# END WordPress
"""


def ours(httpd):
    shop = httpd.shop()
    assert httpd.request("GET", LIST).status == 401
    assert shop.refunds().body == b"[]"
    answer = shop.charge()
    assert answer.status == 200
    assert answer.json["data"]["paymentStatus"] == "successful"
    assert shop.call("GET", "/api/v1/x.php").status == 404
    return shop


@pytest.mark.parametrize("extra", [
    pytest.param("RewriteEngine On\nRewriteRule !nonce /index.html [L]", id="RewriteRule"),
    pytest.param("RewriteEngine On\nRewriteRule ^/api/(.*) /index.html [PT,L]", id="RewriteRule of our path"),
    pytest.param("Alias /api /tmp", id="Alias"),
    pytest.param("Redirect /api https://elsewhere.example/", id="Redirect"),
    pytest.param("FallbackResource /index.html", id="FallbackResource"),
    pytest.param("AddHandler server-status .php", id="AddHandler"),
    pytest.param('<LocationMatch "^/(?!nonce)">\nSetHandler server-status\n</LocationMatch>', id="SetHandler"),
    pytest.param("DirectorySlash On\nDirectoryIndex index.html", id="DirectorySlash"),
])
def test_site_configuration_does_not_take_our_calls(server, extra):
    httpd = server(host_extra=extra)
    (httpd.docroot / "index.html").write_text("the site")
    ours(httpd)


def test_wordpress_htaccess_does_not_take_our_calls(server):
    httpd = server()
    (httpd.docroot / ".htaccess").write_text(WORDPRESS)
    (httpd.docroot / "index.html").write_text("wordpress")
    assert httpd.request("GET", "/any/post").body == b"wordpress"
    ours(httpd)
    assert httpd.request("GET", "/api/v2/x").body == b"wordpress"


def test_directory_of_the_same_name(server):
    httpd = server()
    (httpd.docroot / "api/v1").mkdir(parents=True)
    (httpd.docroot / "api/v1/file.txt").write_text("file")
    ours(httpd)
    assert httpd.request("GET", "/api/v1/file.txt").status == 401


@pytest.mark.parametrize("path", ["/", "/api", "/api/", "/api/v1x", "/api/v2", "/api/v2/refund/a/b", "/api/v10/x",
                                  "/payment", "/payment/orders", "/payment/orderx/create", "/payment/page",
                                  "/xapi/v1/x", "/Api/v1/x"])
def test_all_else_belongs_to_the_site(httpd, path):
    answer = httpd.request("GET", path)
    assert answer.status in (200, 403, 404)
    assert not (answer.header("content-type") or "").startswith("application/json")
    assert answer.header("request-id") is None


def test_hosted_pages_are_claimed(httpd):
    answer = httpd.request("GET", "/payment/page/abc")
    assert answer.status == 404
    assert answer.header("content-type") == "text/html; charset=utf-8"


@pytest.mark.parametrize("base", ["/shop", "/shop/", "/a/b"])
def test_base_path(server, base):
    httpd = server(host_extra=f"PaymentsBasePath {base}")
    shop = httpd.shop()
    at = base.rstrip("/")
    assert shop.call("GET", at + LIST).status == 200
    assert shop.call("POST", at + "/payment/order/create", {}).status == 400
    assert shop.call("GET", LIST).header("content-type") != "application/json; charset=utf-8"


def test_engine_is_not_inherited(server):
    """Another virtual host of the server, and the main server's setting, serve nothing."""
    httpd = server(start=False, engine=False, extra="PaymentsEngine On\nPaymentsStore lmdb:{root}/store")
    httpd.extra = httpd.extra.format(root=httpd.root)
    httpd.start()
    answer = httpd.request("GET", LIST)
    assert answer.status == 404
    assert not (answer.header("content-type") or "").startswith("application/json")


def test_loaded_but_unconfigured_does_nothing(server):
    httpd = server(engine=False)
    assert httpd.request("GET", LIST).status == 404
    assert httpd.request("GET", "/payment/order/create").status == 404
    assert not httpd.store.exists()
    assert MODULE.exists()


def test_subrequests_never_charge(server):
    """mod_include's virtual include of our path, and an internal redirect, reach no operation."""
    httpd = server(host_extra='<Directory "/">\nOptions +Includes\n</Directory>\nAddType text/html .shtml\n'
                              "AddOutputFilter INCLUDES .shtml\nErrorDocument 410 " + LIST
                              + "\nRedirect gone /gone")
    httpd.expect_log(r"\[include:error\].* unable to include ")
    (httpd.docroot / "page.shtml").write_text(
        f'<!--#include virtual="{LIST}" -->|<!--#include virtual="/api/v1/tokenized-card-charge" -->')
    shop = httpd.shop()
    headers = [("Authorization", "Bearer " + shop.secret), ("Content-Type", "application/json")]
    ref = reference()
    answer = httpd.request("GET", "/page.shtml", headers=headers)
    assert b"refundReference" not in answer.body
    httpd.request("POST", "/gone", json.dumps(charge_body(reference=ref)), headers)
    rows = json.loads(httpd.ctl("charge", "list", shop.name, "--mode", "test", "--json").stdout)
    assert rows == []


def test_internal_redirect_to_what_the_site_closed_is_answered_by_us(server):
    """A site's own documents for errors count on its own URLs, and not on those of ours that they lead to."""
    httpd = server(host_extra='ErrorDocument 403 https://elsewhere.example/\nErrorDocument 404 /own.html\n'
                              '<Location "/api/v1/closed">\nRequire all denied\n</Location>')
    httpd.expect_log("AH01630")
    (httpd.docroot / "own.html").write_text("the site's own")
    (httpd.docroot / ".htaccess").write_text("RewriteEngine On\nRewriteRule ^lost$ /api/v1/closed [L]\n")
    assert httpd.request("GET", "/none").body == b"the site's own"
    for path in "/lost", "/api/v1/closed":
        answer = httpd.request("GET", path)
        assert answer.status == 403 and answer.header("content-type") == "application/json; charset=utf-8", answer


def test_internal_redirect_into_a_charge(server):
    """mod_rewrite's per-directory rules redirect a site's URL to ours: it is not a call of ours."""
    httpd = server()
    (httpd.docroot / ".htaccess").write_text(
        "RewriteEngine On\nRewriteRule ^buy$ /api/v1/tokenized-card-charge [L]\n")
    shop = httpd.shop()
    shop.call("POST", "/buy", charge_body())
    rows = json.loads(httpd.ctl("charge", "list", shop.name, "--mode", "test", "--json").stdout)
    assert rows == []
