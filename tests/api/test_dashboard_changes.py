# SPDX-License-Identifier: Apache-2.0
"""Changes by the dashboard: the users who may make them, refusals, and the audit entry of each change."""

import functools
import json
import uuid

import pytest

from conftest import MPMS
from dashboard import Person, settings
from harness import SHOPS_AT_ONCE, Httpd, at_once, pairs_preload
from shares import ALIKE
from test_dashboard import Desk

pytestmark = ALIKE

HOOK = "https://127.0.0.1:1/hook"  # where nobody may be dialled


@pytest.fixture(scope="module", params=MPMS)
def running(request):
    httpd = Httpd(mpm=request.param, shops_at_once=SHOPS_AT_ONCE, env={"LD_PRELOAD": pairs_preload()})
    httpd.host_extra = settings(httpd)
    httpd.start()
    yield httpd
    httpd.close()


@pytest.fixture
def site(running):
    """Webhooks of these tests lead nowhere, and there is no mail relay."""
    running.expect_log("PAY00262|PAY00264|PAY00267")
    yield running
    loud = running.unexpected()
    assert not loud, "unexpected in the error log:\n" + "\n".join(loud)


@pytest.fixture
def desk(site):
    return Desk(site)


def asked(**fields):
    return {"requestId": str(uuid.uuid4()), **fields}


def of(desk, path):
    return f"accounts/{desk.name}/{path}"


def audit(desk):
    """What was changed since the account was made, newest first, as (what, subject)."""
    items = desk.viewer.get(of(desk, "audit")).json["items"]
    return [(one["what"], one["subject"]) for one in items if one["who"] != "root (uid 0)"
            and not one["from"].startswith("paymentsctl") and one["what"] != "refused"]


# Every change: its path, a body that is well, and the role that it needs.
CHANGES = [
    pytest.param("{test}/charges/{charge}/refund", asked(amount="1"), "operator", "refund create", id="refund"),
    pytest.param("{test}/charges/{pending}/resolve", {"outcome": "approved", "reason": "seen"}, "operator",
                 "charge resolve", id="resolve a charge"),
    pytest.param("{test}/events/{event}/retry", {}, "operator", "event retry", id="retry"),
    pytest.param("{test}/events/{event}/drop", {}, "operator", "event drop", id="drop"),
    pytest.param("{test}/webhook", {"url": HOOK + "/2"}, "owner", "webhook set", id="webhook"),
    pytest.param("{test}/webhook/secret", {}, "owner", "webhook secret rotate", id="webhook secret"),
    pytest.param("{test}/webhook/test", {}, "operator", "webhook test", id="webhook test"),
    pytest.param("{test}/mail", {"receipts": True}, "owner", "mail set", id="mail"),
    pytest.param("{test}/mail/test", {}, "operator", "mail test", id="mail test"),
    pytest.param("{test}/encryption-key", {}, "owner", "encryption-key create", id="encryption key"),
    pytest.param("{test}/links", {"title": "Shoes", "amount": "10", "currency": "NGN"}, "operator", "link create",
                 id="link"),
    pytest.param("{test}/links/{link}/disable", {}, "operator", "link disable", id="disable a link"),
    pytest.param("keys", {"kind": "secret", "mode": "test"}, "owner", "key create", id="key"),
    pytest.param("keys/{key}/rotate", {"overlap": "24h"}, "owner", "key rotate", id="rotate"),
    pytest.param("keys/{key}/revoke", {}, "owner", "key revoke", id="revoke"),
    pytest.param("team", {"user": "new", "role": "viewer"}, "owner", "account grant", id="grant"),
    pytest.param("team/revoke", {"user": "vera"}, "owner", "account revoke", id="revoke a grant"),
    pytest.param("account", {"currency": "usd"}, "owner", "account set", id="account"),
    pytest.param("mode", {"mode": "test"}, "owner", "account mode", id="mode"),
]


# What Test Mode can show: live charges are held in test_dashboard_held.py, and test_live_mode changes the mode.
IN_TEST_MODE = [row for row in CHANGES if row.values[-1] not in ("charge resolve", "account mode")]


def may_change(desk, path, body, role, what):
    """A lower role, and nobody's, is refused and changes nothing; the right one changes and is in the audit."""
    refused = [desk.viewer] + ([desk.operator] if role == "owner" else [])
    for person in refused:
        answer = person.post(path, body)
        assert answer.status == 403 and f"the role {role}" in answer.json["message"]
    assert Person(desk.shop.httpd, "stranger").post(path, body).status == 404
    assert audit(desk) == []
    entries = [one for one in desk.owner.get(of(desk, "audit")).json["items"] if one["what"] == "refused"]
    assert [(one["who"], one["subject"], one["detail"]) for one in reversed(entries)] == \
        [(person.user, f"/api/{path}", "the role does not allow it") for person in refused]
    person = desk.owner if role == "owner" else desk.operator
    answer = person.post(path, body)
    assert answer.status == 200, answer
    entries = desk.owner.get(of(desk, "audit")).json["items"]
    made = [one for one in entries if one["from"].startswith("dashboard localhost 127.0.0.1")
            and one["what"] != "refused"]
    assert [(one["who"], one["what"]) for one in made] == [(person.user, what)] and entries[0] == made[0]
    return answer


def prepare(desk):
    """What the paths of CHANGES name."""
    desk.shop.webhook(HOOK)
    desk.shop.httpd.ctl("mail", "set", desk.name, "--merchant-address", "shop@example.com")
    charge = desk.shop.charge(amount=100).json["data"]["id"]
    event = desk.get("events")["items"][0]["id"]
    key = desk.viewer.get(of(desk, "keys")).json["items"][0]["id"]
    desk.shop.httpd.ctl("link", "create", desk.name, "--mode", "test", "--reference", "shoes")
    return {"test": "test", "charge": charge, "event": event, "key": key, "link": "shoes"}


@pytest.mark.parametrize("path, body, role, what", IN_TEST_MODE)
def test_who_may_change(desk, path, body, role, what):
    may_change(desk, of(desk, path.format(**prepare(desk))), body, role, what)


@pytest.mark.parametrize("path, body, role, what", CHANGES)
def test_every_change_wants_the_token(desk, path, body, role, what):
    path = of(desk, path.format(test="test", charge=1, pending=1, event="x", key="x", link="x"))
    answer = desk.owner.post(path, body, {"X-CSRF-Token": None})
    assert (answer.status, answer.json["data"]["responseCode"]) == (403, "C1"), answer
    assert audit(desk) == []


@pytest.mark.parametrize("headers, status", [
    pytest.param({"X-CSRF-Token": None}, 403, id="no token"),
    pytest.param({"X-CSRF-Token": "0" * 64}, 403, id="a wrong token"),
    pytest.param({"X-CSRF-Token": "OTHER"}, 403, id="another user's token"),
    pytest.param({"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}, 403, id="another site"),
    pytest.param({"Origin": "https://evil.example"}, 403, id="another origin"),
    pytest.param({"Origin": "http://127.0.0.1"}, 403, id="another port of this host"),
    pytest.param({"Origin": "http://BEGINNING"}, 403, id="an origin that this host begins with"),
    pytest.param({"Sec-Fetch-Site": "same-site"}, 403, id="a neighbour"),
    pytest.param({"Sec-Fetch-Site": "none"}, 403, id="the address bar"),
    pytest.param({"Origin": None, "Sec-Fetch-Site": None}, 403, id="no sign at all"),
    pytest.param({"Origin": "null"}, 403, id="a sandbox"),
    pytest.param({"Content-Type": "text/plain"}, 415, id="a form's type"),
    pytest.param({"Content-Type": None}, 415, id="no type"),
    pytest.param({"Content-Type": "application/x-www-form-urlencoded"}, 415, id="a form"),
])
def test_changes_of_others_are_refused(desk, headers, status):
    """One function judges these for all changes."""
    said = {"OTHER": desk.viewer.session()["csrf"], "http://BEGINNING": f"http://{desk.owner.host[:-1]}"}
    answer = desk.owner.post(of(desk, "team"), {"user": "new", "role": "viewer"},
                             {name: said.get(value, value) for name, value in headers.items()})
    assert answer.status == status, answer
    code = "C1" if "X-CSRF-Token" in headers else "C2"
    assert status != 403 or answer.json["data"]["responseCode"] == code
    assert audit(desk) == []


def test_own_signs_are_enough(site, desk):
    """Origin alone, or Sec-Fetch-Site alone, says whose page it was; also with the scheme's own port."""
    for headers in {"Sec-Fetch-Site": None}, {"Origin": None}, {"Origin": f"https://{desk.owner.host}"}:
        assert desk.owner.post(of(desk, "mode"), {"mode": "test"}, headers).status == 200


@pytest.mark.parametrize("body, status, code", [
    pytest.param("", 400, "400", id="empty"), pytest.param("{", 400, "T1", id="cut"),
    pytest.param("[]", 400, "T1", id="no object"), pytest.param('{"user":1,"user":2}', 400, "T1", id="twice"),
    pytest.param(b'{"user":"\xff"}', 400, "T1", id="no UTF-8"),
    pytest.param('{"user":"' + "x" * 70000 + '"}', 413, "S1", id="too long"),
])
def test_bodies_that_are_refused(desk, body, status, code):
    answer = desk.owner.post(of(desk, "team"), body)
    assert answer.status == status and answer.json["data"]["responseCode"] == code


@pytest.mark.parametrize("path, body, fields", [
    ("test/charges/1/refund", {}, ["/requestId"]),
    ("test/charges/1/refund", asked(amount="x"), ["/amount"]),
    ("test/charges/1/refund", {"requestId": "a b"}, ["/requestId"]),
    ("test/charges/1/refund", {"requestId": "x" * 101}, ["/requestId"]),
    ("test/charges/1/refund", asked(customerNote=1, merchantNote="5555 5555 5555 4444"),
     ["/customerNote", "/merchantNote"]),
    ("test/charges/1/resolve", {}, ["/outcome", "/reason"]),
    ("test/charges/1/resolve", {"outcome": "paid", "reason": " "}, ["/outcome", "/reason"]),
    ("test/charges/1/resolve", {"outcome": "approved", "reason": "x" * 101}, ["/reason"]),
    ("test/charges/1/resolve", {"outcome": "approved", "reason": "x", "code": "123456789"}, ["/code"]),
    ("test/refunds/{refund}/resolve", {"outcome": "approved", "reason": ""}, ["/outcome", "/reason"]),
    ("test/webhook", {"url": "ftp://x.example/"}, ["/url"]),
    ("test/webhook", {"url": "https://x.example/" + "x" * 1000}, ["/url"]),
    ("test/webhook", {"url": 1}, ["/url"]), ("test/webhook", {}, ["/url"]),
    ("test/encryption-key", {"renew": "yes"}, ["/renew"]),
    ("test/webhook/secret", {"overlap": "1y"}, ["/overlap"]),
    ("test/mail", {"merchantAddress": "nobody", "receipts": "yes"}, ["/merchantAddress", "/receipts"]),
    ("keys", {}, ["/kind", "/mode"]), ("keys", {"kind": "master", "mode": "prod"}, ["/kind", "/mode"]),
    ("team", {}, ["/user", "/role"]), ("team", {"user": "a\u0001", "role": "admin"}, ["/user", "/role"]),
    ("team", {"user": "x" * 256, "role": "viewer"}, ["/user"]), ("team/revoke", {}, ["/user"]),
    ("account", {"currency": "XXY", "timezone": "Mars/Olympus"}, ["/currency", "/timezone"]),
    ("account", {"shop": []}, ["/shop"]), ("account", {"shop": {"name": "x" * 101}}, ["/shop/name"]),
    ("live/webhook", {"url": "http://127.0.0.1/hook"}, ["/url"]),
    ("mode", {}, ["/mode"]), ("mode", {"mode": "live"}, ["/confirm/account"]),
    ("mode", {"mode": "live", "confirm": "yes"}, ["/confirm/account"]),
    ("mode", {"mode": "live", "confirm": {"account": "yes"}}, ["/confirm/account"]),
])
def test_values_that_are_refused(desk, path, body, fields):
    refund = desk.shop.refund(desk.shop.charge().json["data"]["reference"], "1")["refundReference"]
    answer = desk.owner.post(of(desk, path.format(refund=refund)), body)
    assert answer.status == 400, answer
    assert [one["field"] for one in answer.json["data"]["errors"]] == fields
    assert audit(desk) == []


# --- refunds

def test_refund_whole_and_part(desk):
    charge = desk.shop.charge(amount=100).json["data"]
    path = of(desk, f"test/charges/{charge['id']}/refund")
    part = desk.operator.post(path, asked(amount="30.00", customerNote="sorry", merchantNote="broken"))
    assert part.status == 200, part
    record = part.json["refund"]
    assert record["amount"] == "30.00" and record["channel"] == "dashboard" and record["status"] == "processed"
    assert record["customerNote"] == "sorry" and record["merchantNote"] == "broken"
    rest = desk.operator.post(path, asked(amount=None))
    assert rest.json["refund"]["amount"] == "70.00"
    over = desk.operator.post(path, asked(amount="0.01"))
    assert over.status == 409 and over.json["data"]["responseCode"] in ("R1", "R3")
    assert desk.shop.refunds().json == [record, rest.json["refund"]]
    assert audit(desk) == [("refund create", one["refundReference"]) for one in (rest.json["refund"], record)]
    assert desk.get(f"charges/{charge['id']}")["refundable"] == "0.00"
    assert desk.operator.post(of(desk, "test/charges/99/refund"), asked()).status == 404
    assert desk.operator.post(of(desk, f"live/charges/{charge['id']}/refund"), asked()).status == 404


def test_a_second_click_is_the_same_refund(desk):
    charge = desk.shop.charge(amount=100).json["data"]
    path = of(desk, f"test/charges/{charge['id']}/refund")
    body = asked(amount="10")
    first, second = desk.operator.post(path, body), desk.operator.post(path, body)
    assert first.status == second.status == 200 and first.json == second.json
    other = desk.operator.post(path, {**body, "amount": "11"})
    assert other.status == 409 and other.json["data"]["responseCode"] == "D1"
    assert len(desk.shop.refunds().json) == 1 and len(audit(desk)) == 1


def test_no_race_refunds_too_much(desk):
    """People and programs refund one charge at once: never more than was paid, by whatever way."""
    charge = desk.shop.charge(amount=100).json["data"]
    path = of(desk, f"test/charges/{charge['id']}/refund")
    desk.operator.session()

    def person():
        return [desk.operator.post(path, asked(amount="9")).status for _ in range(6)]

    def program():
        return [desk.shop.call("POST", "/api/v1/partial-refund", {"reference": charge["reference"], "amount": 9},
                               headers={"Idempotency-Key": str(uuid.uuid4())}).status for _ in range(6)]

    done = sum(at_once([person, program] * 3), [])
    records = desk.shop.refunds().json
    assert set(done) <= {200, 409} and done.count(200) == len(records) <= 11
    total = sum(float(one["amount"]) for one in records)
    assert total <= 100
    seen = desk.get(f"charges/{charge['id']}")
    assert seen["charge"]["refundedAmount"] == total
    made = [one for one in records if one["channel"] == "dashboard"]
    assert len(audit(desk)) == len(made)
    desk.shop.httpd.ctl("store", "check")


def test_what_waits_for_no_decision(desk):
    charge = desk.shop.charge().json["data"]
    answer = desk.operator.post(of(desk, f"test/charges/{charge['id']}/resolve"),
                                {"outcome": "approved", "reason": "seen"})
    assert answer.status == 409 and "does not wait for a decision" in answer.json["message"]
    refund = desk.shop.refund(charge["reference"], "1")
    answer = desk.operator.post(of(desk, f"test/refunds/{refund['refundReference']}/resolve"),
                                {"outcome": "processed", "reason": "seen"})
    assert answer.status == 409 and "does not wait for a decision" in answer.json["message"]
    assert desk.operator.post(of(desk, "test/refunds/none/resolve"), {"outcome": "failed", "reason": "x"}).status == 404
    assert audit(desk) == []


# --- keys

def test_keys_are_shown_once(site, desk):
    made = desk.owner.post(of(desk, "keys"), {"kind": "secret", "mode": "test"})
    secret = made.json["secret"]
    assert made.header("cache-control") == "no-store"
    (listed, *_) = desk.viewer.get(of(desk, "keys")).json["items"]
    assert made.json["key"] == listed and listed["state"] == "valid"
    assert list(listed) == ["id", "kind", "mode", "createdAt", "lastUsedAt", "endsAt", "revokedAt", "state"]
    assert (listed["kind"], listed["mode"], listed["lastUsedAt"]) == ("secret", "test", None)
    assert listed["createdAt"].endswith("Z") and listed["endsAt"] is listed["revokedAt"] is None
    assert desk.shop.call("GET", "/api/v1/refund/2026-01-01/2026-01-02", key=secret).status == 200
    rotated = desk.owner.post(of(desk, f"keys/{made.json['key']['id']}/rotate"), {"overlap": "1h"})
    assert rotated.json["old"]["state"] == "ending" and rotated.json["key"]["state"] == "valid"
    for key in secret, rotated.json["secret"]:
        assert desk.shop.call("GET", "/api/v1/refund/2026-01-01/2026-01-02", key=key).status == 200
    again = desk.owner.post(of(desk, f"keys/{made.json['key']['id']}/rotate"), {"overlap": "1h"})
    assert again.status == 409
    revoked = desk.owner.post(of(desk, f"keys/{rotated.json['key']['id']}/revoke"))
    assert revoked.json["key"]["state"] == "revoked" and revoked.json["key"]["revokedAt"]
    assert desk.shop.call("GET", "/api/v1/refund/2026-01-01/2026-01-02", key=rotated.json["secret"]).status == 401
    for path in of(desk, "keys"), of(desk, "audit"), of(desk, "account"), "session":
        body = desk.owner.get(path).body.decode()
        assert secret not in body and rotated.json["secret"] not in body
    text = site.log_text() + "\n".join(site.access_lines())
    assert secret not in text and rotated.json["secret"] not in text


@pytest.mark.parametrize("body, state, end, other_end", [
    pytest.param({}, "revoked", "revokedAt", "endsAt", id="at once"),
    pytest.param({"overlap": "1h"}, "ending", "endsAt", "revokedAt", id="after an hour"),
])
def test_rotated_keys_are_shown_as_they_are_then(desk, body, state, end, other_end):
    made = desk.owner.post(of(desk, "keys"), {"kind": "public", "mode": "live"}).json["key"]
    seen = desk.owner.post(of(desk, f"keys/{made['id']}/rotate"), body).json
    listed = desk.viewer.get(of(desk, "keys")).json["items"]
    assert all(one in listed for one in (seen["old"], seen["key"]))
    assert seen["old"] == {**made, "state": state, end: seen["old"][end]}
    assert seen["old"][end] > made["createdAt"] and seen["old"][other_end] is None
    assert seen["secret"] and seen["key"]["id"] != made["id"] and seen["key"]["state"] == "valid"


def test_keys_of_other_accounts(site, desk):
    other = Desk(site)
    key = other.viewer.get(of(other, "keys")).json["items"][0]["id"]
    site.ctl("account", "revoke", other.name, "olga", "--host", "localhost")
    for verb in "rotate", "revoke":
        assert desk.owner.post(of(desk, f"keys/{key}/{verb}")).status == 404
    assert other.viewer.get(of(other, "keys")).json["items"][0]["state"] == "valid"


# --- notifications

def test_event_is_retried_then_dropped(desk):
    event = prepare(desk)["event"]
    path = of(desk, f"test/events/{event}")
    assert desk.operator.post(path + "/retry").json["event"]["id"] == event
    assert desk.operator.post(path + "/drop").json == {"dropped": True}
    assert desk.operator.post(path + "/drop").status == 404
    assert event not in [one["id"] for one in desk.get("events")["items"]]


# --- webhook, mail, encryption key

def test_webhook(desk):
    assert desk.get("webhook")["url"] is None and desk.get("webhook")["secretSet"] is False
    first = desk.owner.post(of(desk, "test/webhook"), {"url": HOOK}).json
    assert first["secret"].startswith("whsec_") and first["webhook"]["url"] == HOOK
    assert desk.shop.webhook_secret() == first["secret"]
    second = desk.owner.post(of(desk, "test/webhook"), {"url": HOOK + "/2"}).json
    assert "secret" not in second and second["webhook"]["url"] == HOOK + "/2"
    assert first["secret"] not in desk.viewer.get(desk.scope("webhook")).body.decode()
    renewed = desk.owner.post(of(desk, "test/webhook/secret"), {"overlap": "1h"}).json
    assert renewed["secret"] != first["secret"] and renewed["webhook"]["oldSecretUntil"]
    assert desk.shop.webhook_secret() == renewed["secret"]
    assert desk.operator.post(of(desk, "test/webhook/test")).json["event"]["notify"] == "test_assess"
    assert desk.get("events")["items"][0]["reference"] is None
    off = desk.owner.post(of(desk, "test/webhook"), {"url": None}).json["webhook"]
    assert off["enabled"] is False and off["url"] == HOOK + "/2"
    assert desk.operator.post(of(desk, "test/webhook/test")).status == 409
    assert desk.owner.post(of(desk, "live/webhook/secret")).status == 409
    assert desk.owner.post(of(desk, "test/webhook"), {"url": HOOK}).json["webhook"]["enabled"] is True
    empty = desk.owner.post(of(desk, "test/webhook"), {"url": ""}).json["webhook"]
    assert empty["enabled"] is False and empty["url"] == HOOK
    assert [what for what, _ in audit(desk)] == ["webhook set", "webhook set", "webhook set", "webhook test",
                                                 "webhook secret rotate", "webhook set", "webhook set"]
    entries = desk.viewer.get(of(desk, "audit")).json["items"]
    on, off = "test: https://127.0.0.1:1", "test: off"
    assert [one["detail"] for one in entries if one["what"] == "webhook set"] == [off, on, off, on, on]


def test_mail(desk):
    """For both modes at once, as paymentsctl mail set."""
    assert desk.get("mail") == {"merchantAddress": None, "receipts": False, "testRecipients": [], "relay": None,
                                "sender": None, "deliveries": []}
    assert desk.operator.post(of(desk, "test/mail/test")).status == 409
    seen = desk.owner.post(of(desk, "test/mail"), {"merchantAddress": "Shop@Example.com", "receipts": True}).json
    assert seen["merchantAddress"] == "shop@example.com" and seen["receipts"] is True
    assert [(one["kind"], one["mode"], one["enabled"], one["failing"]) for one in seen["deliveries"]] == [
        (kind, mode, True, False) for kind in ("notice", "receipt") for mode in ("test", "live")]
    assert desk.get("mail", mode="live") == desk.get("mail") == seen
    told = json.loads(desk.shop.httpd.ctl("mail", "show", desk.name, "--json").stdout)
    assert told.pop("account") == desk.name and told == seen
    assert desk.operator.post(of(desk, "test/mail/test")).json["event"]["endpoint"] == "notice"
    seen = desk.owner.post(of(desk, "live/mail"), {"merchantAddress": None}).json
    assert seen["merchantAddress"] is None and seen["receipts"] is True
    assert [what for what, _ in audit(desk)] == ["mail set", "mail test", "mail set"]


def test_two_who_save_mail_at_once(desk):
    """Whoever saves last has the word in both modes, on all of it."""
    desk.owner.session()
    wishes = {"merchantAddress": "shop@example.com", "receipts": True}, {"merchantAddress": None, "receipts": False}

    def save(wish):
        return desk.owner.post(of(desk, "test/mail"), wish).status

    for _ in range(30):
        assert at_once([functools.partial(save, wish) for wish in wishes]) == [200, 200]
        deliveries = desk.get("mail")["deliveries"]
        assert [(one["kind"], one["mode"]) for one in deliveries] == [
            (kind, mode) for kind in ("notice", "receipt") for mode in ("test", "live")]
        assert len({one["enabled"] for one in deliveries}) == 1, deliveries
    assert {what for what, _ in audit(desk)} == {"mail set"}


def test_encryption_key(desk):
    assert desk.get("encryption-key") == {"pem": None, "xml": None, "createdAt": None}
    made = desk.owner.post(of(desk, "test/encryption-key")).json
    assert made["pem"].startswith("-----BEGIN PUBLIC KEY-----") and "<RSAKeyValue>" in made["xml"]
    assert desk.owner.post(of(desk, "test/encryption-key")).json == made == desk.get("encryption-key")
    assert b"PRIVATE" not in desk.viewer.get(desk.scope("encryption-key")).body
    assert desk.get("encryption-key", mode="live")["pem"] is None
    assert len(audit(desk)) == 1


# --- team, account, mode, audit

def test_team(site, desk):
    seen = desk.owner.post(of(desk, "team"), {"user": "stranger", "role": "operator"}).json["grants"]
    assert {"user": "stranger", "host": "localhost", "role": "operator"}.items() <= [
        one for one in seen if one["user"] == "stranger"][0].items()
    assert [list(one) for one in seen] == [["user", "host", "role", "grantedAt"]] * 4
    assert all(one["grantedAt"].endswith("Z") for one in seen)
    assert Person(site, "stranger").get(desk.scope("overview")).status == 200
    assert desk.owner.post(of(desk, "team/revoke"), {"user": "stranger"}).status == 200
    assert Person(site, "stranger").get(desk.scope("overview")).status == 404
    assert desk.owner.post(of(desk, "team/revoke"), {"user": "stranger"}).status == 404
    for path, body in ("team/revoke", {"user": "olga"}), ("team", {"user": "olga", "role": "viewer"}):
        answer = desk.owner.post(of(desk, path), body)
        assert answer.status == 409 and "no owner" in answer.json["message"]
    assert desk.owner.get(of(desk, "team")).status == 200
    assert [what for what, _ in audit(desk)] == ["account revoke", "account grant"]


def test_account(desk):
    seen = desk.owner.post(of(desk, "account"), {"currency": "ghs", "timezone": "Africa/Accra",
                                                 "shop": {"name": "Ada's <shop>", "text": "Thanks"}}).json
    assert seen["currency"] == "GHS" and seen["timezone"] == "Africa/Accra"
    assert seen["shop"] == {"name": "Ada's <shop>", "logo": "", "text": "Thanks"}
    assert list(seen) == ["name", "mode", "currency", "timezone", "keyPrefix", "createdAt", "shop", "live"]
    assert (seen["name"], seen["mode"], seen["keyPrefix"]) == (desk.name, "test", "pay") and seen["createdAt"].endswith("Z")
    assert desk.owner.post(of(desk, "account"), {"shop": {"text": ""}}).json["shop"]["name"] == "Ada's <shop>"
    assert desk.viewer.get(of(desk, "account")).json["currency"] == "GHS"
    assert json.loads(desk.shop.httpd.ctl("account", "show", desk.name, "--json").stdout)["currency"] == "GHS"


def test_going_live_says_what_is_missing(desk):
    live = desk.viewer.get(of(desk, "account")).json["live"]
    assert live["ready"] is False
    essential = [one["what"] for one in live["missing"] if one["essential"]]
    assert len(essential) == 2 and "acquirer" in essential[0] and "secret key" in essential[1]
    assert all(one["how"] for one in live["missing"])
    answer = desk.owner.post(of(desk, "mode"), {"mode": "live", "confirm": {"account": desk.name}})
    assert answer.status == 409 and answer.json["data"]["responseCode"] == "G1"
    assert [one["reason"].startswith(what) for one, what in zip(answer.json["data"]["errors"], essential)] == [True] * 2
    assert desk.viewer.session()["accounts"] and desk.viewer.get(of(desk, "account")).json["mode"] == "test"
    assert audit(desk) == []


def test_audit_pages(desk):
    for n in range(5):
        desk.owner.post(of(desk, "team"), {"user": f"user-{n}", "role": "viewer"})
    everything = desk.viewer.get(of(desk, "audit")).json["items"]
    assert [one["subject"] for one in everything[:5]] == [f"user-{4 - n}" for n in range(5)]
    for limit in 1, 2, 5:
        items, after = [], ""
        while after is not None:
            page = desk.viewer.get(of(desk, f"audit?limit={limit}{after}")).json
            items += page["items"]
            after = page["next"] and "&after=" + page["next"]
        assert items == everything
    assert desk.viewer.get(of(desk, "audit?after=0")).status == 400


# --- Live Mode

def test_live_mode(till):
    """Going live, and a live refund by the page: at the acquirer of the host, as a call of the API."""
    httpd = till(live=False, start=False)
    httpd.host_extra += "\n" + settings(httpd)
    httpd.start()
    desk = Desk(httpd, httpd.live_shop)
    olga = desk.owner
    account = olga.get("accounts/shop/account").json
    assert account["live"]["ready"] is True, account  # the fixture's shop has a live key
    assert olga.post("accounts/shop/mode", {"mode": "live", "confirm": {"account": "Shop"}}).status == 400
    answer = may_change(desk, "accounts/shop/mode", {"mode": "live", "confirm": {"account": "shop"}}, "owner", "account mode")
    assert answer.json["mode"] == "live"
    assert olga.session()["accounts"][0]["mode"] == "live"
    made = httpd.live_shop.charge().json["data"]
    path = f"accounts/shop/live/charges/{made['id']}/refund"
    answer = olga.post(path, asked(amount="1"))
    assert answer.status == 200, answer
    assert answer.json["refund"]["status"] == "processed" and answer.json["refund"]["domain"] == "live"
    assert olga.post("accounts/shop/mode", {"mode": "test"}).json["mode"] == "test"
    answer = olga.post(path, asked(amount="1"))
    assert answer.status == 403 and "Live Mode is switched off" in answer.json["message"]


# ---- payment links

def test_link(desk):
    """It is made, listed page by page, leads to its page, and is disabled once and for all."""
    links = of(desk, "test/links")
    made = desk.operator.post(links, {"title": "Shoes", "description": "One pair", "amount": "1500.50", "currency": "ngn",
                                      "reusable": True, "expiresAt": "2099-01-01T00:00:00Z"}).json["link"]
    assert (made["title"], made["amount"], made["currency"], made["reusable"], made["state"], made["paid"]) == (
        "Shoes", 1500.5, "NGN", True, "active", 0)
    assert desk.shop.httpd.request("GET", "/" + made["url"].split("/", 3)[3]).status == 200
    opened = desk.operator.post(links, {"title": "Gift", "amount": None, "currency": "NGN"}).json["link"]
    assert (opened["amount"], opened["reusable"]) == (None, False)
    first = desk.viewer.get(links + "?limit=1").json
    second = desk.viewer.get(links + f"?limit=1&after={first['next']}").json
    assert {first["items"][0]["reference"], second["items"][0]["reference"]} == {made["reference"], opened["reference"]}
    assert desk.viewer.get(links + f"?limit=1&after={second['next']}").json == {"items": [], "next": None}
    disabled = desk.operator.post(f"{links}/{made['reference']}/disable", {}).json["link"]
    assert disabled["state"] == "disabled" and disabled["disabledAt"]
    assert desk.operator.post(f"{links}/nothing/disable", {}).status == 404


@pytest.mark.parametrize("fields, field", [
    pytest.param({"amount": "-1"}, "/amount", id="amount"),
    pytest.param({"amount": "10.505"}, "/amount", id="decimals"),
    pytest.param({"currency": "XXQ"}, "/currency", id="currency"),
    pytest.param({"expiresAt": "tomorrow"}, "/expiresAt", id="no time"),
    pytest.param({"expiresAt": "2020-01-01T00:00:00Z"}, "/expiresAt", id="a time that is over"),
    pytest.param({"redirectUrl": "javascript:alert(1)"}, "/redirectUrl", id="return URL"),
    pytest.param({"reference": "a b"}, "/reference", id="reference"),
    pytest.param({"reusable": "yes"}, "/reusable", id="reusable"),
])
def test_link_refused(desk, fields, field):
    answer = desk.operator.post(of(desk, "test/links"), {"title": "Shoes", "amount": "10", "currency": "NGN", **fields})
    assert (answer.status, [one["field"] for one in answer.json["data"]["errors"]]) == (400, [field])
    assert audit(desk) == []
