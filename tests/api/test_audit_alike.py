# SPDX-License-Identifier: Apache-2.0
"""The dashboard and paymentsctl write equal audit entries for a change, except for the user and the origin."""

import json
import pathlib
import re

import pytest

from ctl_program import Ctl, record
from conftest import MPMS
from dashboard import settings
from harness import SHOPS_AT_ONCE, Httpd, pairs_preload, reference, wait_for
from shares import ALIKE
from test_ctl_audit import marked
from test_dashboard import Desk
from test_dashboard_changes import asked, of

pytestmark = ALIKE

TOP = pathlib.Path(__file__).resolve().parents[2]
HOOK = "https://127.0.0.1:1/hook?secret=1"  # an address to which nothing may connect
LOUD = "PAY00262|PAY00264|PAY00267"  # nothing that these tests send is accepted
TEST = ("--mode", "test")

# Changes that only one of them makes; every other change of the audit is in ALIKE_CHANGES.
ONLY_PAYMENTSCTL = {
    "ACCOUNT_CREATE", "ACCOUNT_RESET", "KEY_IMPORT", "TOKEN_CREATE", "TOKEN_REVOKE", "REFUND_IMPORT", "REFUND_LINK",
    "REFUND_SYNC", "PAYER_ERASE", "STORE_CONFIRM", "STORE_RESEAL",
}
ONLY_DASHBOARD = {"FAILURE_LIFT": "blocked/*/lift"}  # blocks are in the server's memory
NO_CHANGES = {"FAILURE_LIMIT", "EXPORT_CHARGES", "EXPORT_REFUNDS", "REFUSED"}


class Way:
    """A fresh account, and one change of it; `made` is the object of the change."""

    def __init__(self, desk, tmp):
        self.desk, self.name, self.shop, self.tmp = desk, desk.name, desk.shop, tmp
        self.made = None

    def ctl(self, *args, **kwargs):
        return self.shop.httpd.ctl(*[str(arg) for arg in args], **kwargs).stdout

    def entries(self):
        return json.loads(self.ctl("audit", "list", self.name, "--json"))

    def told(self):
        """The newest entry's words. Parts that differ by account and id are masked."""
        [entry] = [one for one in self.entries()[:1]]
        texts = [entry[name] for name in ("what", "subject", "detail")]
        for own in (self.name, self.made):
            texts = [text.replace(str(own), "OWN") if own else text for text in texts]
        return [re.sub(r"\b(key|evt|lnk|rfd)_\w+", r"\1_ID", re.sub(r"ref-\w+", "ref-ID", text)) for text in texts]


def nothing(_way):
    """The account is enough."""


def charged(way):
    way.made = reference()
    way.id = way.shop.charge(reference=way.made).json["data"]["id"]


def pending(way):
    """A charge of Test Mode that reconciliation has not decided yet."""
    way.made = reference()
    way.id = way.shop.charge(reference=way.made, token="tok_test_timeout").json["data"]["id"]


def imported(way):
    way.made = "re-1"
    path = way.tmp / f"{way.name}.json"
    path.write_text(json.dumps([record(1, status="pending")]))
    way.ctl("refund", "import", way.name, path, *TEST)


def keyed(way):
    way.made = json.loads(way.ctl("key", "list", way.name, "--json"))[0]["id"]


def granted(way):
    way.ctl("account", "grant", way.name, "new", "--host", "localhost", "--role", "viewer")


def live(way):
    way.ctl("account", "mode", way.name, "live")


def linked(way):
    way.ctl("link", "create", way.name, *TEST, "--reference", "shoes")


def hooked(way):
    way.shop.webhook(HOOK)


def mailed(way):
    way.ctl("mail", "set", way.name, "--merchant-address", "shop@example.com")


def waiting(way):
    """An event that cannot be delivered."""
    hooked(way)
    charged(way)
    way.made = wait_for(lambda: way.shop.events(), "an event")[0]["id"]


# The name of each change as in service/change.h: the state before it, the dashboard's path and body, and
# paymentsctl's words. NAME is the account, MADE the object that the preparation made, ID the charge's number.
ALIKE_CHANGES = [
    ("ACCOUNT_SET", nothing, "account", {"currency": "usd", "timezone": "Africa/Lagos", "shop": {"name": "Ada's"}},
     ["account", "set", "NAME", "--currency", "usd", "--timezone", "Africa/Lagos", "--shop-name", "Ada's"]),
    ("ACCOUNT_TEST", live, "mode", {"mode": "test"}, ["account", "mode", "NAME", "test"]),
    ("ACCOUNT_GRANT", nothing, "team", {"user": "new", "role": "viewer"},
     ["account", "grant", "NAME", "new", "--host", "localhost", "--role", "viewer"]),
    ("ACCOUNT_REVOKE", granted, "team/revoke", {"user": "new"},
     ["account", "revoke", "NAME", "new", "--host", "localhost"]),
    ("KEY_CREATE", nothing, "keys", {"kind": "public", "mode": "live"},
     ["key", "create", "NAME", "--mode", "live", "--kind", "public"]),
    ("KEY_REVOKE", keyed, "keys/MADE/revoke", {}, ["key", "revoke", "MADE"]),
    ("KEY_ROTATE", keyed, "keys/MADE/rotate", {"overlap": "1h"}, ["key", "rotate", "MADE", "--overlap", "1h"]),
    ("CHARGE_RESOLVE", pending, "test/charges/ID/resolve", {"outcome": "declined", "reason": "seen"},
     ["charge", "resolve", "NAME", "MADE", *TEST, "--outcome", "failed", "--reason", "seen"]),
    ("CHARGE_RESOLVE", pending, "test/charges/ID/resolve", {"outcome": "approved", "reason": "seen"},
     ["charge", "resolve", "NAME", "MADE", *TEST, "--outcome", "successful", "--reason", "seen"]),
    ("REFUND_CREATE", charged, "test/charges/ID/refund", asked(amount="4"),
     ["refund", "create", "NAME", *TEST, "--reference", "MADE", "--amount", "4"]),
    ("REFUND_RESOLVE", imported, "test/refunds/MADE/resolve", {"outcome": "processed", "reason": "seen"},
     ["refund", "resolve", "NAME", "MADE", *TEST, "--outcome", "processed", "--reason", "seen"]),
    ("LINK_CREATE", nothing, "test/links", {"title": "Shoes", "amount": "10"},
     ["link", "create", "NAME", *TEST, "--title", "Shoes", "--amount", "10"]),
    ("LINK_DISABLE", linked, "test/links/shoes/disable", {}, ["link", "disable", "NAME", "shoes", *TEST]),
    ("WEBHOOK_SET", nothing, "test/webhook", {"url": HOOK}, ["webhook", "set", "NAME", HOOK, *TEST]),
    ("WEBHOOK_OFF", hooked, "test/webhook", {"url": None}, ["webhook", "set", "NAME", "off", *TEST]),
    ("WEBHOOK_RENEW", hooked, "test/webhook/secret", {"overlap": "1h"},
     ["webhook", "secret", "rotate", "NAME", *TEST, "--overlap", "1h"]),
    ("WEBHOOK_RENEW", hooked, "test/webhook/secret", {"overlap": "0s"},
     ["webhook", "secret", "rotate", "NAME", *TEST, "--overlap", "0s"]),
    ("WEBHOOK_TEST", hooked, "test/webhook/test", {}, ["webhook", "test", "NAME", *TEST]),
    ("EVENT_RETRY", waiting, "test/events/MADE/retry", {}, ["event", "retry", "NAME", "MADE", *TEST]),
    ("EVENT_DROP", waiting, "test/events/MADE/drop", {}, ["event", "drop", "NAME", "MADE", *TEST]),
    ("MAIL_SET", nothing, "test/mail", {"merchantAddress": "shop@example.com", "receipts": True},
     ["mail", "set", "NAME", "--merchant-address", "shop@example.com", "--receipts", "on"]),
    ("MAIL_SET", mailed, "test/mail", {"merchantAddress": None},
     ["mail", "set", "NAME", "--merchant-address", "off"]),
    ("MAIL_TEST", mailed, "test/mail/test", {}, ["mail", "test", "NAME", *TEST]),
    ("ENCRYPTION_CREATE", nothing, "test/encryption-key", {}, ["encryption-key", "show", "NAME", *TEST]),
    ("ENCRYPTION_RENEW", nothing, "test/encryption-key", {"renew": True}, ["encryption-key", "renew", "NAME", *TEST]),
]
LIVE_CHANGE = ("ACCOUNT_LIVE", "mode", "account mode")  # needs an acquirer: test_going_live


@pytest.fixture(scope="module", params=MPMS)
def running(request):
    """The server has a mail relay, where nobody answers."""
    httpd = Httpd(mpm=request.param, shops_at_once=SHOPS_AT_ONCE, env={"LD_PRELOAD": pairs_preload()},
                  extra="PaymentsMailRelay smtp://127.0.0.1:1\nPaymentsMailFrom pay@shop.example\n")
    httpd.host_extra = settings(httpd)
    httpd.expect_log(LOUD, always=True)
    httpd.start()
    yield httpd
    httpd.close()


def words(text, way):
    for name, value in (("NAME", way.name), ("MADE", way.made), ("ID", getattr(way, "id", ""))):
        text = re.sub(rf"\b{name}\b", str(value), text)
    return text


def by_dashboard(way, path, body):
    answer = way.desk.owner.post(of(way.desk, words(path, way)), body)
    assert answer.status == 200, answer


def by_paymentsctl(way, command):
    """A test that nobody sends is reported by an exit status, and still leaves its entry."""
    done = Ctl(way.shop.httpd.store).run(*[words(word, way) for word in command])
    assert done.returncode == 0 or command[1] == "test" and done.returncode in (3, 4), done.stderr


def made_by(change, running, tmp_path, prepare):
    """The output of the change. A change that reconciliation was quicker to decide is repeated."""
    for _ in range(10):
        way = Way(Desk(running), tmp_path)
        prepare(way)
        before = len(way.entries())
        try:
            change(way)
        except AssertionError:
            if prepare is not pending:
                raise
            continue
        assert len(way.entries()) == before + 1
        return way.told(), way.entries()[0]
    raise AssertionError("reconciliation was always quicker")


@pytest.mark.parametrize("name, prepare, path, body, command", [
    pytest.param(*row, id=f"{row[0]}-{number}") for number, row in enumerate(ALIKE_CHANGES)])
def test_both_tell_the_same(running, tmp_path, name, prepare, path, body, command):
    here, entry = made_by(lambda way: by_dashboard(way, path, body), running, tmp_path, prepare)
    there, other = made_by(lambda way: by_paymentsctl(way, command), running, tmp_path, prepare)
    assert here == there and here[0] == names()[name]
    assert entry["from"].startswith("dashboard localhost") and other["from"].startswith("paymentsctl")
    assert entry["who"] == "olga" and "(uid " in other["who"]
    for one in entry, other:
        assert "secret=1" not in json.dumps(one) and "shop@example.com" not in json.dumps(one)


def test_going_live(till):
    httpd = till(live=False, start=False)
    httpd.host_extra += "\n" + settings(httpd)
    httpd.start()
    way = Way(Desk(httpd, httpd.live_shop), None)
    answer = way.desk.owner.post(of(way.desk, "mode"), {"mode": "live", "confirm": {"account": way.name}})
    assert answer.status == 200, answer
    here = way.told()
    way.ctl("account", "mode", way.name, "test")
    way.ctl("account", "mode", way.name, "live")
    assert here == way.told() == ["account mode", "OWN", "test -> live"]


# --- every change that can be made in only one way is named here

def source(floor, words_in_it):
    """The only file of a floor that contains these words, in any of its folders."""
    files = (path.read_text(encoding="utf-8") for path in (TOP / "mod_payments" / floor).glob("**/*.c"))
    found = [text for text in files if words_in_it in text]
    assert len(found) == 1, words_in_it
    return found[0]


def names():
    """The words of each change, as defined in the service."""
    found = dict(re.findall(r'\[PAY_CHANGE_(\w+)\] = \{"([^"]+)"', source("service", "[PAY_CHANGE_ACCOUNT_CREATE] =")))
    assert len(found) > 30
    return found


def test_each_change_is_tried_both_ways():
    alike = {row[0] for row in ALIKE_CHANGES} | {LIVE_CHANGE[0]}
    parts = [alike, ONLY_PAYMENTSCTL, set(ONLY_DASHBOARD), NO_CHANGES]
    assert set().union(*parts) == set(names()) and sum(len(part) for part in parts) == len(names())


def test_each_route_is_tried():
    """Every change that the dashboard offers is one of those above."""
    routes = set(re.findall(r'"([^"]+)", M_POST', source("httpd", "M_POST, OWNER, pay_dashboard_mode_set")))
    tried = {re.sub(r"\b(MADE|ID|shoes)\b", "*", re.sub("^test/", "", row[2])) for row in ALIKE_CHANGES}
    assert len(routes) > 15 and routes == tried | {LIVE_CHANGE[1]} | set(ONLY_DASHBOARD.values())


def command_of(row):
    """The words of a row's command."""
    return " ".join(row[4][:3] if row[4][1] == "secret" else row[4][:2])


def test_each_command_is_tried(tmp_path):
    """So is every command that leaves an entry."""
    only = {names()[name] for name in ONLY_PAYMENTSCTL}
    assert marked(Ctl(tmp_path / "store")) == {command_of(row) for row in ALIKE_CHANGES} | only | {LIVE_CHANGE[2]}
