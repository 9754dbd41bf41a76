# SPDX-License-Identifier: Apache-2.0
"""Changes that no script of the dashboard's origin can make by itself: the password once more, or a code by e-mail."""

import base64
import concurrent.futures
import hashlib
import json
import re
import subprocess

import pytest

from conftest import MPMS
from dashboard import CONFIRM, NO_WAY, PATH, Person, basic, confirmed, location, pages, settings
from harness import Httpd, any_name, pairs_preload
from mail_server import Relay
from test_dashboard import grant
from test_dashboard_access import is_safe
from test_dashboard_certificates import BY_NAME, FAKE, Holder, site as secure  # noqa: F401 # pylint: disable=unused-import
from test_page_safe import memory_has

HOOK = "https://127.0.0.1:1/hook"
WRONG_IN_LOG = "AH01617"  # of mod_auth_basic: Password Mismatch
NOT_CONFIRMED = "PAY00684"
BY_PASSWORD = "dashboard localhost 127.0.0.1, confirmed by password"
UTF8 = "p\u00e4ss w\u00f6rd \U0001f511"


class Owner(Person):
    """Somebody new with a password of their own: wrong ones are counted."""

    def __init__(self, httpd, password=None, prefix="owner-"):
        super().__init__(httpd, any_name(prefix))
        self.password = any_name("password-") if password is None else password
        digest = base64.b64encode(hashlib.sha1(self.password.encode()).digest()).decode()
        with open(httpd.root / "users", "a", encoding="utf-8") as users:
            users.write(f"{self.user}:{{SHA}}{digest}\n")

    def headers(self, **more):
        return {**super().headers(**more), **basic(self.user, self.password)}


@pytest.fixture(scope="module", params=MPMS)
def running(request):
    httpd = Httpd(mpm=request.param, env={"LD_PRELOAD": pairs_preload()})
    httpd.host_extra = settings(httpd)
    httpd.start()
    yield httpd
    httpd.close()


@pytest.fixture
def site(running):
    running.expect_log("PAY00264|PAY00267")  # webhooks of these tests lead nowhere
    yield running
    loud = running.unexpected()
    assert not loud, "unexpected in the error log:\n" + "\n".join(loud)


class Shop:
    """A fresh account with something of everything, its owners, and what is known of it."""

    def __init__(self, httpd, users=("olga",)):
        self.httpd = httpd
        self.name = any_name("shop-")
        httpd.ctl("account", "create", self.name)
        for user in users:
            grant(httpd, self.name, user, "owner")
        for mode in "test", "live":
            httpd.ctl("key", "create", self.name, "--mode", mode, "--kind", "secret")
            httpd.ctl("webhook", "set", self.name, HOOK, "--mode", mode)

    def path(self, path):
        for mode in "test", "live":
            if f"{{{mode} key}}" in path:
                path = path.replace(f"{{{mode} key}}", self.key(mode))
        return f"accounts/{self.name}/{path}"

    def key(self, mode):
        [found] = [one["id"] for one in json.loads(self.httpd.ctl("key", "list", self.name, "--json").stdout)
                   if one["mode"] == mode]
        return found

    def known(self):
        """All that a change would change."""
        return [self.httpd.ctl(*command).stdout for command in [
            ("key", "list", self.name, "--json"), ("account", "grants", self.name, "--json"),
            ("account", "list", "--json"), ("mail", "show", self.name, "--json"),
            ("webhook", "secret", "show", self.name, "--mode", "test"),
            ("webhook", "secret", "show", self.name, "--mode", "live")]] + [json.dumps(self.entries("changes"))]

    def entries(self, kind):
        """The audit's: of what was refused, or of what was changed."""
        return [one for one in json.loads(self.httpd.ctl("audit", "list", self.name, "--json").stdout)
                if (one["what"] == "refused") == (kind == "refused")]

    def last(self):
        return json.loads(self.httpd.ctl("audit", "list", self.name, "--json").stdout)[0]


@pytest.fixture
def olga(site):
    return Owner(site)


@pytest.fixture
def shop(site, olga):
    return Shop(site, [olga.user])


LIVE_KEY = {"kind": "secret", "mode": "live"}
# Changes that must be confirmed, and how they are described to the person.
CONFIRMED = [
    pytest.param("keys", LIVE_KEY, "create a live secret key of {}", id="live secret key"),
    pytest.param("keys/{live key}/rotate", {"overlap": "1h"}, "create a live secret key of {}", id="rotated live key"),
    pytest.param("team", {"user": "eve", "role": "viewer"}, "grant the role viewer for {} to eve", id="viewer"),
    pytest.param("team", {"user": "eve", "role": "owner"}, "grant the role owner for {} to eve", id="owner"),
    pytest.param("test/webhook", {"url": HOOK + "/2"}, "send the test webhooks of {} to " + HOOK + "/2", id="webhook"),
    pytest.param("live/webhook", {"url": HOOK + "/2"}, "send the live webhooks of {} to " + HOOK + "/2",
                 id="live webhook"),
    pytest.param("live/webhook/secret", {}, "create a new secret of the live webhooks of {}", id="webhook secret"),
    pytest.param("test/mail", {"merchantAddress": "eve@example.com"}, "send the notices of {} to eve@example.com",
                 id="merchant's address"),
]
# What need not be.
UNCONFIRMED = [
    pytest.param("keys", {"kind": "secret", "mode": "test"}, id="test key"),
    pytest.param("keys", {"kind": "public", "mode": "live"}, id="public key"),
    pytest.param("keys/{test key}/rotate", {}, id="rotated test key"),
    pytest.param("keys/{live key}/revoke", {}, id="revoked key"),
    pytest.param("team/revoke", {"user": "oskar"}, id="revoked grant"),
    pytest.param("live/webhook", {"url": None}, id="webhook off"),
    pytest.param("live/webhook", {"url": ""}, id="webhook off, empty"),
    pytest.param("test/mail", {"merchantAddress": "shop@example.com", "receipts": True}, id="receipts"),
    pytest.param("test/mail", {"merchantAddress": None}, id="no merchant's address"),
    pytest.param("account", {"currency": "USD"}, id="account"),
    pytest.param("mode", {"mode": "test"}, id="Test Mode"),
    pytest.param("live/encryption-key", {}, id="encryption key"),
]


def asks(answer, field="/confirm/password"):
    """The change was refused, and only for want of its confirmation."""
    assert answer.status == 403 and is_safe(answer), answer
    data = answer.json["data"]
    assert data["responseCode"] == CONFIRM and [one["field"] for one in data["errors"]] == [field]
    return answer.json["message"]


# ---- the password

@pytest.mark.parametrize("path, body, told", CONFIRMED)
def test_the_password_is_asked_for(site, shop, olga, path, body, told):
    """Without it, with a wrong one and with another owner's nothing changes; with it, this once."""
    path = shop.path(path)
    other = Owner(site)
    grant(site, shop.name, other.user, "owner")
    known = shop.known()
    assert told.format(shop.name) in asks(olga.ask(path, body))
    site.expect_log(WRONG_IN_LOG)
    for word in "wrong", other.password, olga.password.upper():
        answer = olga.ask(path, confirmed(body, password=word))
        assert "wrong" in asks(answer)
        assert answer.json["data"]["errors"][0]["reason"] == "is not your password"
    assert shop.known() == known
    answer = olga.ask(path, confirmed(body, password=olga.password))
    assert answer.status == 200, answer
    entry = shop.last()
    assert (entry["who"], entry["from"]) == (olga.user, BY_PASSWORD)
    known = shop.known()
    asks(olga.ask(shop.path("keys"), LIVE_KEY))
    asks(olga.ask(shop.path("team"), {"user": "mallory", "role": "owner"}))
    assert shop.known() == known, "it was for one change"


@pytest.mark.parametrize("path, body", UNCONFIRMED)
def test_what_is_not_asked(site, shop, olga, path, body):
    grant(site, shop.name, "oskar", "viewer")
    site.ctl("mail", "set", shop.name, "--merchant-address", "shop@example.com")
    answer = olga.ask(shop.path(path), body)
    assert answer.status == 200, answer
    assert "confirmed" not in shop.last()["from"]


def test_a_script_of_the_same_origin(site, shop, olga):
    """As it was done: it reads the session, and the browser adds what the person has signed in with."""
    headers = {**basic(olga.user, olga.password), "Sec-Fetch-Site": "same-origin"}
    token = site.request("GET", f"{PATH}/api/session", headers=headers).json["csrf"]
    known = shop.known()
    guesses = [None, {}, {"password": ""}, {"password": None}, {"password": 5}, {"password": ["x"]},
               {"password": {"x": "y"}}, [], "x", True, {"code": "ABCDEFGH"}, {"account": shop.name},
               {"Password": olga.password}]
    for guess in guesses:
        answer = site.request("POST", f"{PATH}/api/{shop.path('keys')}", json.dumps(
            {"kind": "secret", "mode": "live", "confirm": guess}), {
                **headers, "Origin": f"http://127.0.0.1:{site.port}", "X-CSRF-Token": token,
                "Content-Type": "application/json"})
        assert "secret" not in answer.json
        asks(answer)
    assert shop.known() == known


@pytest.mark.parametrize("prefix, password", [
    pytest.param("owner-", "it:has:colons:", id="colons"), pytest.param("j\u00f6rg-", UTF8, id="UTF-8"),
    pytest.param("owner-", "  two words ", id="blanks"), pytest.param("two words-", "x" * 1024, id="the longest"),
])
def test_any_password(site, prefix, password):
    """Byte for byte, as it is used to sign in."""
    one = Owner(site, password, prefix)
    shop = Shop(site, [one.user])
    body = LIVE_KEY
    site.expect_log(WRONG_IN_LOG)
    asks(one.ask(shop.path("keys"), confirmed(body, password=one.password[:-1])))
    assert one.ask(shop.path("keys"), confirmed(body, password=one.password)).status == 200
    assert shop.last()["who"] == one.user


def test_a_password_that_is_too_long(site):
    one = Owner(site, "x" * 1025)
    shop = Shop(site, [one.user])
    asks(one.ask(shop.path("keys"), confirmed(LIVE_KEY, password=one.password)))


def test_what_is_known_of_it_afterwards(site, shop, olga):
    """The site's own line for a wrong one, ours beside it, no line for a right one, and the password nowhere."""
    body = LIVE_KEY
    wrong = any_name("wrong-")
    site.expect_log(WRONG_IN_LOG)
    before = len(site.log_text())
    assert olga.ask(shop.path("keys"), confirmed(body, password=olga.password)).status == 200
    [line] = site.log_text()[before:].strip().splitlines()
    assert "PAY00220: key" in line, "and nothing of the password that nobody has, which was asked beside it"
    before = len(site.log_text())
    asks(olga.ask(shop.path("keys"), confirmed(body, password=wrong)))
    said = site.log_text()[before:].strip().splitlines()
    assert len(said) == 2 and WRONG_IN_LOG in said[0] and f"user {olga.user}" in said[0]
    assert f"{NOT_CONFIRMED}: PaymentsDashboard: user {olga.user} could not confirm to create a live secret key of {shop.name}: " \
           "the password is wrong" in said[1]
    [entry] = shop.entries("refused")
    assert (entry["who"], entry["detail"]) == (olga.user, "the password was wrong")
    everywhere = site.log_text() + "\n".join(site.access_lines()) + "".join(shop.known())
    for word in wrong, olga.password:
        assert word not in everywhere
        assert all(word.encode() not in file.read_bytes() for file in site.store.iterdir())


@pytest.mark.root
def test_what_is_left_in_memory(server):
    """A password beside a change that needs none is ours alone: whatever the site's modules keep of others is theirs."""
    httpd = server(start=False, without=["http2"])
    shop, (olga,) = crowd(httpd, ("olga",))
    kept, typed = any_name("kept-"), any_name("typed-")
    for _ in range(8):
        answer = olga.ask(shop.path("test/links"), {"title": kept, "amount": "1", "currency": "NGN",
                                                    "confirm": {"password": typed}})
        assert answer.status == 200, answer
    assert any(memory_has(pid, kept.encode()) for pid in httpd.pids()), "it is seen where it is"
    assert not any(memory_has(pid, typed.encode()) for pid in httpd.pids())


def test_who_may_not_is_not_asked(site, shop, olga):
    """The role is judged first, and what is wrong with the change itself."""
    oskar = Owner(site)
    grant(site, shop.name, oskar.user, "operator")
    answer = oskar.ask(shop.path("keys"), confirmed(LIVE_KEY, password=oskar.password))
    assert answer.status == 403 and "the role owner" in answer.json["message"]
    for path, body in ("test/webhook", {"url": "ftp://x"}), ("team", {"user": "", "role": "x"}), ("keys", {}):
        answer = olga.ask(shop.path(path), body)
        assert answer.status == 400, answer


def test_going_live(till):
    httpd = till(live=False, start=False)
    httpd.host_extra += "\n" + settings(httpd)
    httpd.start()
    grant(httpd, "shop", "olga", "owner")
    olga = Person(httpd, "olga")
    body = {"mode": "live", "confirm": {"account": "shop"}}
    assert "switch shop to Live Mode" in asks(olga.ask("accounts/shop/mode", body))
    httpd.expect_log(WRONG_IN_LOG)
    asks(olga.ask("accounts/shop/mode", confirmed(body, password="wrong")))
    assert olga.get("accounts/shop/account").json["mode"] == "test"
    answer = olga.ask("accounts/shop/mode", confirmed({"mode": "live"}, password="right"))
    assert [one["field"] for one in answer.json["data"]["errors"]] == ["/confirm/account"], "that as well"
    assert olga.ask("accounts/shop/mode", confirmed(body, password="right")).json["mode"] == "live"
    assert olga.get("accounts/shop/audit").json["items"][0]["from"] == BY_PASSWORD


def test_over_http2(site, shop, olga):
    if "http2" in site.without:
        return  # prefork has none
    olga.session()
    args = [word for name, value in {**olga.headers(), "Origin": f"http://{olga.host}", "X-CSRF-Token": olga.token,
                                     "Content-Type": "application/json"}.items() for word in ("-H", f"{name}: {value}")]
    url = f"http://{olga.host}{PATH}/api/{shop.path('keys')}"

    def post(**how):
        text = json.dumps(confirmed(LIVE_KEY, **how))
        done = subprocess.run(["curl", "-sS", "--http2-prior-knowledge", "-w", "\n%{http_code} %{http_version}", *args,
                               "--data-binary", "@-", url], input=text, capture_output=True, text=True, check=True)
        body, _, last = done.stdout.rpartition("\n")
        return last, json.loads(body)

    site.expect_log(WRONG_IN_LOG)
    assert post()[0] == "403 2" and post(password="wrong")[0] == "403 2"
    last, body = post(password=olga.password)
    assert last == "200 2" and body["secret"]


# ---- how often

def crowd(httpd, owners):
    """A server whose users all have the password `right`, and an account of theirs."""
    httpd.host_extra = settings(httpd)
    httpd.start()
    shop = Shop(httpd, owners)
    return shop, [Person(httpd, user) for user in owners]


def test_five_wrong_ones(server):
    """Of one user and host, over all processes; then not even the right one is looked at. Right ones do not count."""
    httpd = server(start=False)
    shop, (olga, oskar) = crowd(httpd, ("olga", "oskar"))
    for _ in range(8):
        assert olga.ask(shop.path("keys"), confirmed(LIVE_KEY, password="right")).status == 200
    httpd.expect_log(WRONG_IN_LOG)
    for _ in range(5):
        asks(olga.ask(shop.path("keys"), confirmed(LIVE_KEY, password="wrong")))
    known = shop.known()
    for word in "wrong", "right":
        answer = olga.ask(shop.path("keys"), confirmed(LIVE_KEY, password=word))
        assert answer.status == 429 and is_safe(answer), answer
        assert 290 <= int(answer.header("retry-after")) <= 300
        assert f"Try again in {answer.header('retry-after')} seconds. Nothing was changed." in answer.json["message"]
    assert shop.known() == known
    assert httpd.log_text().count(WRONG_IN_LOG) == 5 and httpd.log_text().count("PAY00682") == 1
    assert olga.get("session").status == 200, "whoever is signed in goes on"
    assert olga.ask(shop.path("keys"), {"kind": "secret", "mode": "test"}).status == 200
    assert oskar.ask(shop.path("keys"), confirmed(LIVE_KEY, password="right")).status == 200, "others too"


def test_many_at_once(server):
    """As many guesses at a time as there are threads: five are looked at."""
    httpd = server(start=False)
    shop, (olga,) = crowd(httpd, ("olga",))
    olga.session()
    httpd.expect_log(WRONG_IN_LOG)
    with concurrent.futures.ThreadPoolExecutor(24) as pool:
        done = list(pool.map(lambda number: olga.ask(shop.path("keys"), confirmed(LIVE_KEY, password=f"guess {number}")).status,
                             range(96)))
    assert (done.count(403), done.count(429)) == (5, 91)
    assert httpd.log_text().count(WRONG_IN_LOG) == 5


# ---- where no password is asked for

def test_any_password_passes_is_none(server):
    """mod_authn_anon takes every password: one more of them says nothing."""
    httpd = server(start=False, modules=["authn_anon"])
    httpd.host_extra = f"PaymentsDashboard {PATH}\n{pages(httpd)}\n" + location(
        "AuthType Basic\nAuthName x\nAuthBasicProvider anon\nAnonymous olga\nAnonymous_MustGiveEmail Off\nRequire valid-user")
    httpd.start()
    shop = Shop(httpd)
    known = shop.known()
    olga = Person(httpd, "olga")
    answer = olga.ask(shop.path("keys"), confirmed(LIVE_KEY, password="right"))
    assert answer.status == 403 and answer.json["data"]["responseCode"] == NO_WAY, answer
    assert shop.known() == known


def test_another_who_signs_in(server):
    """A page behind another user's password, from which the cookie or the header of a third comes, is that third's."""
    httpd = server(start=False)
    shop, (olga, oskar) = crowd(httpd, ("olga", "oskar"))
    httpd.ctl("account", "revoke", shop.name, "oskar", "--host", "localhost")
    answer = oskar.ask(shop.path("keys"), confirmed(LIVE_KEY, password="right"))
    assert answer.status == 404, answer
    assert olga.ask(shop.path("keys"), confirmed(LIVE_KEY, password="right")).status == 200


WITHOUT = [
    pytest.param("keys", LIVE_KEY, "paymentsctl key create {} --mode live --kind secret", id="live secret key"),
    pytest.param("team", {"user": "eve; rm -rf /", "role": "owner"},
                 "paymentsctl account grant {} USER --host localhost --role owner", id="grant"),
    pytest.param("live/webhook", {"url": HOOK}, "paymentsctl webhook set {} URL --mode live", id="webhook"),
    pytest.param("live/webhook/secret", {}, "paymentsctl webhook secret rotate {} --mode live", id="webhook secret"),
    pytest.param("test/mail", {"merchantAddress": "eve@example.com"}, "paymentsctl mail set {} --merchant-address ADDRESS",
                 id="merchant's address"),
]


@pytest.fixture
def relay():
    with Relay() as one:
        yield one


@pytest.fixture
def certified(secure, relay):  # noqa: F811 # pylint: disable=redefined-outer-name
    """A site that knows people by their certificates, with a mail relay; makes accounts of Olga's and Vera's there."""
    httpd = secure("require", BY_NAME, extra=f"PaymentsMailRelay {relay.url}\nPaymentsMailFrom payments@shop.example\n")
    made = []

    def make(address=True):
        shop = Shop(httpd, ("olga", "vera"))
        shop.address = f"owner-{shop.name}@shop.example"
        if address:
            httpd.ctl("mail", "set", shop.name, "--merchant-address", shop.address)
        made.append(shop)
        return shop

    httpd.expect_log("PAY00264|PAY00267")
    httpd.make = make
    return httpd


def code_of(mail):
    """The code in a mail, which its HTML has as well."""
    [code] = re.findall(r"\b[2-9A-HJ-NP-Z]{4}-[2-9A-HJ-NP-Z]{4}\b", mail.text)
    assert code in mail.html and code not in mail.header("subject")
    return code


def sent(relay, shop, count):
    return code_of(relay.wait(shop.address, count)[count - 1].check())


@pytest.mark.parametrize("path, body, command", WITHOUT)
@pytest.mark.parametrize("lacks", ["no merchant's address", "no mail relay"])
def test_without_a_way(secure, path, body, command, lacks):  # noqa: F811 # pylint: disable=redefined-outer-name
    """The answer says which command does it, without a word of the client's in it; nothing changes."""
    httpd = secure("require", BY_NAME)
    shop = Shop(httpd)
    if lacks == "no mail relay":
        httpd.ctl("mail", "set", shop.name, "--merchant-address", "shop@example.com")
    httpd.expect_log("PAY00264|PAY00267")
    known = shop.known()
    for how in {}, {"password": "right"}, {"code": "ABCDEFGH"}:
        answer = Holder(httpd, "olga").ask(shop.path(path), confirmed(body, **how))
        assert answer.status == 403 and is_safe(answer), answer
        assert answer.json["data"]["responseCode"] == NO_WAY
        assert answer.json["message"].endswith(command.format(shop.name)) and lacks in answer.json["message"]
    assert shop.known() == known


@pytest.mark.parametrize("path, body, told", CONFIRMED)
def test_a_code_is_sent(certified, relay, path, body, told):
    """It names the change in plain words, and lets this one happen, once."""
    shop = certified.make()
    olga, path = Holder(certified, "olga"), shop.path(path)
    known = shop.known()
    assert f"sent to {shop.address}" in asks(olga.ask(path, body), "/confirm/code")
    code = sent(relay, shop, 1)
    mail = relay.wait(shop.address)[0]
    assert told.format(shop.name) in re.sub(r"\s+", " ", mail.text) and "olga" in mail.text and "localhost" in mail.text
    assert mail.header("subject") == f"Confirm a change of {shop.name}"
    for typed in "ABCD-2345", "", "x":
        answer = olga.ask(path, confirmed(body, code=typed)) if typed else olga.ask(path, confirmed(body, password="right"))
        asks(answer, "/confirm/code")
    assert shop.known() == known
    answer = olga.ask(path, confirmed(body, code=code.lower().replace("-", " ")))
    assert answer.status == 200, answer
    assert shop.last()["from"] == "dashboard localhost 127.0.0.1, confirmed by a code"
    known = shop.known()
    again = olga.ask(path, confirmed({**body, "merchantAddress": "other@example.com"} if "mail" in path else body, code=code))
    assert again.status in (403, 409) and shop.known() == known, "it is used up"
    everywhere = certified.log_text() + "".join(certified.access_lines())
    assert code not in everywhere and code.replace("-", "") not in everywhere
    assert all(code.encode() not in file.read_bytes() and code.replace("-", "").encode() not in file.read_bytes()
               for file in certified.store.iterdir())


@pytest.mark.parametrize("other, path, body", [
    pytest.param("olga", "team", {"user": "eve", "role": "owner"}, id="another role"),
    pytest.param("olga", "team", {"user": "mallory", "role": "viewer"}, id="another user"),
    pytest.param("olga", "keys", LIVE_KEY, id="another change"),
    pytest.param("vera", "team", {"user": "eve", "role": "viewer"}, id="another owner"),
])
def test_a_code_is_for_one_change(certified, relay, other, path, body):
    shop = certified.make()
    asks(Holder(certified, "olga").ask(shop.path("team"), {"user": "eve", "role": "viewer"}), "/confirm/code")
    code = sent(relay, shop, 1)
    known = shop.known()
    asks(Holder(certified, other).ask(shop.path(path), confirmed(body, code=code)), "/confirm/code")
    assert shop.known() == known
    body = {"role": "viewer", "user": "eve"}  # in another order, which says the same
    assert Holder(certified, "olga").ask(shop.path("team"), confirmed(body, code=code)).status == 200


def test_a_code_is_for_one_account(certified, relay):
    shop, other = certified.make(), certified.make()
    asks(Holder(certified, "olga").ask(shop.path("keys"), LIVE_KEY), "/confirm/code")
    code = sent(relay, shop, 1)
    known = other.known()
    asks(Holder(certified, "olga").ask(other.path("keys"), confirmed(LIVE_KEY, code=code)), "/confirm/code")
    assert other.known() == known


def test_codes_that_are_guessed(certified, relay):
    """Five tries, whatever is typed; the sixth is refused although it is right, and another code is sent."""
    shop = certified.make()
    olga, path = Holder(certified, "olga"), shop.path("keys")
    asks(olga.ask(path, LIVE_KEY), "/confirm/code")
    code = sent(relay, shop, 1)
    for _ in range(5):
        answer = olga.ask(path, confirmed(LIVE_KEY, code="AAAA-AAAA"))
        assert answer.json["data"]["errors"][0]["reason"] == "is not the code that was sent"
    answer = olga.ask(path, confirmed(LIVE_KEY, code=code))
    asks(answer, "/confirm/code")
    assert "no longer valid" in answer.json["message"]
    assert certified.log_text().count(NOT_CONFIRMED) == 5
    asks(olga.ask(path, LIVE_KEY), "/confirm/code")
    other = sent(relay, shop, 2)
    assert other != code
    assert olga.ask(path, confirmed(LIVE_KEY, code=other)).status == 200


def test_codes_that_are_asked_for(certified, relay):
    """The same one again while it is young, five mails, then 429 and none."""
    shop = certified.make()
    olga, path = Holder(certified, "olga"), shop.path("keys")
    for _ in range(5):
        asks(olga.ask(path, LIVE_KEY), "/confirm/code")
    answer = olga.ask(path, LIVE_KEY)
    assert answer.status == 429 and 1 <= int(answer.header("retry-after")) <= 60
    assert "PAY00686: codes to confirm changes of the dashboard are requested too often" in certified.log_text()
    codes = {code_of(mail) for mail in relay.wait(shop.address, 5)}
    assert len(codes) == 1 and len(relay.wait(shop.address, 5)) == 5
    assert olga.ask(path, confirmed(LIVE_KEY, code=codes.pop())).status == 200


def test_the_merchants_address(certified, relay):
    """Whoever would change it first has to have the code that goes to the old one; switched off, no code goes anywhere."""
    shop = certified.make()
    olga, path = Holder(certified, "olga"), shop.path("live/mail")
    asks(olga.ask(path, {"merchantAddress": "eve@example.com"}), "/confirm/code")
    code = sent(relay, shop, 1)
    assert olga.ask(path, {"merchantAddress": None}).status == 200
    for body in {"merchantAddress": "eve@example.com"}, {"merchantAddress": shop.address}:
        answer = olga.ask(path, confirmed(body, code=code))
        assert answer.json["data"]["responseCode"] == NO_WAY
    assert olga.get(path).json["merchantAddress"] is None
    assert olga.ask(shop.path("keys"), LIVE_KEY).json["data"]["responseCode"] == NO_WAY


@pytest.mark.parametrize("refusal", ["closed", "refused"])
def test_a_relay_that_takes_no_mail(certified, relay, refusal):
    shop = certified.make()
    olga = Holder(certified, "olga")
    known = shop.known()
    if refusal == "closed":
        relay.shut()
    else:
        relay.refuse("RCPT", "550 no such box")
    answer = olga.ask(shop.path("keys"), LIVE_KEY)
    assert answer.status == 503 and f"paymentsctl key create {shop.name}" in answer.json["message"], answer
    said = certified.log_text()
    assert shop.known() == known and "PAY00685" in said and shop.address not in said
    assert "PAY00540: the dashboard answers 503 E2: " in said
    if refusal == "closed":
        relay.open()
    asks(olga.ask(shop.path("keys"), LIVE_KEY), "/confirm/code")
    assert olga.ask(shop.path("keys"), confirmed(LIVE_KEY, code=sent(relay, shop, 1))).status == 200


def test_certificates_that_stand_for_a_password(authority, secure):  # noqa: F811 # pylint: disable=redefined-outer-name
    """FakeBasicAuth puts its own in place of whatever was typed: that is no password."""
    users = authority.folder / "users"
    users.write_text("/CN=vera:xxj31ZMTZzkVA\n")  # which mod_ssl's manual says to write there: "password"
    httpd = secure("require", FAKE.format(users=users))
    shop = Shop(httpd, ["/CN=vera"])
    httpd.expect_log("PAY00264|PAY00267|AH02035")
    known = shop.known()
    for how in {}, {"password": "password"}, {"password": "anything"}:
        answer = Holder(httpd, "vera").ask(shop.path("keys"), confirmed(LIVE_KEY, **how))
        assert answer.status == 403 and answer.json["data"]["responseCode"] == NO_WAY, answer
    assert shop.known() == known
