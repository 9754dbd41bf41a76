# SPDX-License-Identifier: Apache-2.0
"""Client certificates as the site's authentication: who they name comes in, and nobody by one that nobody verified."""

import http.client
import os
import ssl
import subprocess

import pytest

from dashboard import NO_WAY, PATH, Person, auth, basic, location, pages
from fixtures import close_all
from harness import WAIT_S
from test_dashboard import grant
from test_dashboard_access import REFUSED, is_safe
from upstream import Upstream


BY_NAME = "SSLUserName SSL_CLIENT_S_DN_CN"
OWN = ("vera", True)  # what anybody can make at home


class Site(Upstream):
    """An httpd that speaks TLS and asks for certificates as `verify` says. `certificate` is shown to it: name, and
    whether it is the person's own making; None: none is.
    """

    def __init__(self, authority, verify, block, **options):
        super().__init__(authority, **options)
        self.certificate = ("vera", False)
        self.host_extra += (f"SSLCACertificateFile {authority.file}\nSSLVerifyClient {verify}\n"
                            f"PaymentsDashboard {PATH}\n{pages(self)}\n{location(block.replace('{auth}', auth(self)))}")

    def connect(self, timeout=WAIT_S):
        context = ssl.create_default_context(cafile=self.authority.file)
        context.post_handshake_auth = True
        if self.certificate:
            context.load_cert_chain(*self.authority.person(*self.certificate))
        return http.client.HTTPSConnection("127.0.0.1", self.port, timeout=timeout, context=context)


class Holder(Person):
    """Somebody whose browser shows a certificate, or none, and who types no password."""

    def __init__(self, httpd, user, certificate=...):
        super().__init__(httpd, user)
        self.certificate = (user, False) if certificate is ... else certificate

    def headers(self, **more):
        sent = super().headers(**more)
        del sent["Authorization"]
        return sent

    def get(self, path, method="GET", connection=None):
        self.httpd.certificate = self.certificate
        return super().get(path, method, connection)

    def ask(self, path, body=None, headers=None, connection=None):
        self.httpd.certificate = self.certificate
        return super().ask(path, body, {"Origin": f"https://{self.host}", **(headers or {})}, connection)


@pytest.fixture
def site(authority):
    """Makes sites; each is stopped and checked at the end."""
    made = []

    def make(verify, block, **options):
        made.append(Site(authority, verify, block, **options))
        return made[-1].start()

    yield make
    close_all(made)


@pytest.mark.parametrize("verify, block", [
    pytest.param("require", BY_NAME, id="of the host"),
    pytest.param("require", BY_NAME + "\nRequire ssl-verify-client", id="of the host, and a rule"),
    pytest.param("optional", BY_NAME, id="of who has one"),
    pytest.param("optional_no_ca", BY_NAME, id="of who has any"),
    pytest.param("none", "SSLVerifyClient require\n" + BY_NAME, id="of the path"),
])
def test_who_comes_in(site, verify, block):
    httpd = site(verify, block)
    httpd.ctl("account", "create", "shoes")
    grant(httpd, "shoes", "vera", "owner")
    vera, other = Holder(httpd, "vera"), Holder(httpd, "stranger")
    assert vera.session()["user"] == "vera" and [one["name"] for one in vera.session()["accounts"]] == ["shoes"]
    assert vera.get("accounts/shoes/test/overview").status == 200
    made = vera.post("accounts/shoes/test/links", {"title": "Shoes", "amount": "10", "currency": "NGN"})
    assert made.status == 200, made
    (entry,) = [one for one in vera.get("accounts/shoes/audit").json["items"] if one["who"] == "vera"]
    assert entry["what"] == "link create"
    assert vera.post("accounts/shoes/team", {"user": "oskar", "role": "viewer"}).json["data"]["responseCode"] == NO_WAY
    assert vera.post("accounts/shoes/team", {}, {"X-CSRF-Token": None}).status == 403
    assert vera.post("accounts/shoes/team", {}, {"Origin": f"http://{vera.host}"}).status == 403, "another scheme's page"
    assert other.session()["user"] == "stranger" and other.session()["accounts"] == []
    assert other.get("accounts/shoes/test/overview").status == 404
    token = {"X-CSRF-Token": vera.token}
    assert other.post("accounts/shoes/team", {"user": "stranger", "role": "owner"}, token).status == 403


@pytest.mark.parametrize("verify, certificate", [
    pytest.param("require", None, id="none"), pytest.param("require", OWN, id="her own making"),
    pytest.param("optional", OWN, id="her own making, where one may have none"),
])
def test_handshakes_that_fail(site, verify, certificate):
    """Before a request is read: it is TLS that refuses."""
    httpd = site(verify, BY_NAME)
    httpd.expect_log("AH02039: Certificate Verification: Error .18.: self-signed certificate")
    with pytest.raises(OSError):
        Holder(httpd, "vera", certificate).get("session")


@pytest.mark.parametrize("verify, block, certificate, cause", [
    pytest.param("optional", BY_NAME, None, "nobody was authenticated", id="none"),
    pytest.param("require", "", ("vera", False), "nobody was authenticated", id="a certificate that names nobody"),
    pytest.param("optional", "{auth}\nRequire all granted\n" + BY_NAME, None, "nobody was authenticated",
                 id="none, and a password that nobody needs"),
    pytest.param("optional_no_ca", BY_NAME, OWN, "is not verified", id="her own making"),
    pytest.param("optional_no_ca", BY_NAME + "\nAuthType None", OWN, "is not verified", id="her own making, AuthType None"),
    pytest.param("optional_no_ca", "{auth}\nRequire all granted\n" + BY_NAME, OWN, "is not verified",
                 id="her own making, and a password that nobody needs"),
    pytest.param("optional_no_ca", "{auth}\nRequire valid-user\nRequire local\n" + BY_NAME, OWN, "is not verified",
                 id="her own making, and a password or the address"),
])
def test_who_stays_outside(site, verify, block, certificate, cause):
    """403, and the log says why and which block to add."""
    httpd = site(verify, block)
    httpd.ctl("account", "create", "shoes")
    grant(httpd, "shoes", "vera", "owner")
    httpd.expect_log(REFUSED + "|AH02227: Failed to set r->user")
    vera = Holder(httpd, "vera", certificate)
    for path in "session", "accounts/shoes/test/overview":
        answer = vera.get(path)
        assert answer.status == 403 and is_safe(answer) and cause in answer.json["message"]
    said = [line for line in httpd.log_text().splitlines() if REFUSED in line]
    assert said and all(cause in line and f'<Location "{PATH}"> AuthType Basic' in line for line in said)


FAKE = "SSLOptions +FakeBasicAuth\nAuthType Basic\nAuthName site\nAuthBasicProvider file\nAuthUserFile {users}\n" \
       "Require valid-user"
NAME = "/CN=vera"


def test_certificates_as_passwords(authority, site):
    """FakeBasicAuth: the user is the certificate's subject, if the site's file has it."""
    users = authority.folder / "users"
    users.write_text(f"{NAME}:xxj31ZMTZzkVA\n")  # which mod_ssl's manual says to write there: "password"
    httpd = site("optional", FAKE.format(users=users))
    httpd.expect_log("AH01618: user /CN=stranger not found|AH02035: Encountered FakeBasicAuth spoof")
    vera, other = Holder(httpd, "vera"), Holder(httpd, "stranger")
    httpd.ctl("account", "create", "shoes")
    grant(httpd, "shoes", NAME, "viewer")
    assert vera.session()["user"] == NAME
    assert vera.get("accounts/shoes/test/overview").status == 200
    for person in other, Holder(httpd, "vera", None):
        answer = person.get("session")
        assert answer.status == 401 and is_safe(answer)
    httpd.certificate = None  # and who types the name that a certificate would give
    assert httpd.request("GET", f"{PATH}/api/session", headers=basic(NAME, "password")).status == 403


def test_own_certificates_as_passwords(authority, site):
    """The same, where the site takes certificates of anybody's making: they name nobody here."""
    users = authority.folder / "users"
    users.write_text(f"{NAME}:xxj31ZMTZzkVA\n")
    httpd = site("optional_no_ca", FAKE.format(users=users))
    httpd.expect_log(REFUSED)
    answer = Holder(httpd, "vera", OWN).get("session")
    assert answer.status == 403 and "is not verified" in answer.json["message"]
    assert Holder(httpd, "vera").session()["user"] == NAME


@pytest.mark.parametrize("certificate, status", [
    pytest.param(("vera", False), 200, id="verified"), pytest.param(OWN, 403, id="her own making"),
    pytest.param(None, 403, id="none"),
])
def test_over_http2(authority, site, certificate, status):
    """There the request's connection is not that of the handshake."""
    httpd = site("optional_no_ca", BY_NAME, host_extra="Protocols h2 http/1.1\n")
    httpd.expect_log(REFUSED + "|AH02227: Failed to set r->user")
    shown = []
    if certificate:
        file, key = authority.person(*certificate)
        shown = ["--cert", file, "--key", key]
    done = subprocess.run(["curl", "-sS", "--http2", "--cacert", authority.file, "-o", os.devnull, "-w",
                           "%{http_code} %{http_version}", *shown, f"https://127.0.0.1:{httpd.port}{PATH}/api/session"],
                          capture_output=True, text=True, check=True)
    assert done.stdout == f"{status} 2"
