# SPDX-License-Identifier: Apache-2.0
"""OpenID Connect as the site's authentication (mod_auth_openidc, a provider of the test's own)."""

import pytest

from dashboard import PAGE, PATH, Person, confirmed, location, pages, wants
from mail_server import Relay
from openid import Provider, sign_in
from test_dashboard import grant
from test_dashboard_confirm import code_of



@pytest.fixture
def provider():
    made = Provider()
    yield made
    made.close()


@pytest.fixture
def relay():
    with Relay() as one:
        yield one


@pytest.fixture
def site(server, provider, relay):
    httpd = server(start=False, modules=("auth_openidc",), extra=f"PaymentsMailRelay {relay.url}\n"
                   "PaymentsMailFrom payments@shop.example\n")
    httpd.host_extra = (f"{provider.settings()}PaymentsDashboard {PATH}\n{pages(httpd)}\n"
                        + location("AuthType openid-connect\nRequire valid-user"))
    yield httpd.start()
    httpd.expect_log(r"\[auth_openidc:warn\].* SHOULD be .https. for security reasons")


class Member(Person):
    """Somebody who signed in at the provider, and has the site's cookie since."""

    def __init__(self, httpd, provider, user):
        super().__init__(httpd, user)
        provider.user = user
        self.page, self.cookie = sign_in(f"http://{self.host}{PATH}/")

    def headers(self, **more):
        sent = {**super().headers(**more), "Cookie": self.cookie}
        del sent["Authorization"]
        return sent


def test_who_comes_in(site, provider, relay):
    """And who changes the team by the code that the merchant got."""
    site.ctl("account", "create", "shoes")
    site.ctl("mail", "set", "shoes", "--merchant-address", "owner@shop.example")
    grant(site, "shoes", "vera", "owner")
    vera, other = Member(site, provider, "vera"), Member(site, provider, "stranger")
    assert vera.page == PAGE
    assert vera.session()["user"] == "vera" and [one["name"] for one in vera.session()["accounts"]] == ["shoes"]
    body = {"user": "oskar", "role": "viewer"}
    assert wants(vera.ask("accounts/shoes/team", confirmed(body, password="right"))) == "/confirm/code"
    [mail] = relay.wait("owner@shop.example")
    made = vera.ask("accounts/shoes/team", confirmed(body, code=code_of(mail)))
    assert made.status == 200, made
    (entry,) = [one for one in vera.get("accounts/shoes/audit").json["items"] if one["who"] == "vera"]
    assert (entry["what"], entry["subject"]) == ("account grant", "oskar")
    assert vera.post("accounts/shoes/team", {}, {"X-CSRF-Token": None}).status == 403
    assert other.session()["user"] == "stranger" and other.session()["accounts"] == []
    assert other.get("accounts/shoes/test/overview").status == 404


@pytest.mark.parametrize("cookie", [
    pytest.param({}, id="no cookie"),
    pytest.param({"Cookie": "mod_auth_openidc_session=00000000"}, id="a cookie that nobody was given"),
])
def test_who_did_not_sign_in(site, provider, cookie):
    """A page sends its reader to the provider; what a script asks for is refused, and the page says why."""
    page = site.request("GET", PATH + "/", headers={"Accept": "text/html", **cookie})
    assert page.status == 302 and page.header("location").startswith(f"{provider.issuer}/authorize?"), page
    data = site.request("GET", PATH + "/api/session", headers={"Accept": "application/json", **cookie})
    assert (data.status, data.json["status"]) == (401, False) and "csrf" not in data.json["data"]
