# SPDX-License-Identifier: Apache-2.0
"""What the dashboard shows: every route by role, lists, details and exports, and all that is refused."""

import csv
import datetime
import io
import json
import pathlib
import re
import secrets

import pytest

from conftest import MPMS
from dashboard import PATH, Person, settings
from harness import SHOPS_AT_ONCE, Httpd, reference, run_ctl_lines, wait_for
from payer import Checkout
from raw_lmdb import Raw
from shares import ALIKE

pytestmark = ALIKE

TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
ROLES = ("viewer", "operator", "owner")
EVENT_MEMBERS = ["id", "endpoint", "notify", "notifyType", "reference", "chargeId", "sequence", "createdAt", "standing", "failures",
                 "firstTryAt", "dueAt", "parkedAt", "answeredAt", "status", "error", "answer"]


@pytest.fixture(scope="module", params=MPMS)
def running(request):
    httpd = Httpd(mpm=request.param, shops_at_once=SHOPS_AT_ONCE)
    httpd.host_extra = settings(httpd)
    httpd.start()
    yield httpd
    httpd.close()


@pytest.fixture
def site(running):
    """Webhooks of these tests lead nowhere."""
    running.expect_log("PAY00264|PAY00267")
    yield running
    loud = running.unexpected()
    assert not loud, "unexpected in the error log:\n" + "\n".join(loud)


def grant(httpd, account, user, role, host="localhost"):
    httpd.ctl("account", "grant", account, user, "--host", host, "--role", role)


class Desk:
    """An account, a fresh one where none is given, and the people who work for it."""

    def __init__(self, httpd, shop=None):
        self.shop = shop or httpd.shop()
        self.name = self.shop.name
        self.viewer, self.operator, self.owner = (Person(httpd, user) for user in ("vera", "oskar", "olga"))
        run_ctl_lines(httpd.store, [f"account grant {self.name} {person.user} --host localhost --role {role}"
                                    for person, role in zip((self.viewer, self.operator, self.owner), ROLES)])

    def scope(self, path, mode="test"):
        return f"accounts/{self.name}/{mode}/{path}"

    def get(self, path, person=None, mode="test"):
        answer = (person or self.viewer).get(self.scope(path, mode))
        assert answer.status == 200, answer
        return answer.json

    def pages(self, path, limit):
        """All items of a list, page by page."""
        items, after = [], ""
        while True:
            joint = "&" if "?" in path else "?"
            page = self.get(f"{path}{joint}limit={limit}{after}")
            assert len(page["items"]) <= limit
            items += page["items"]
            if page["next"] is None:
                return items
            after = "&after=" + page["next"]


@pytest.fixture
def desk(site):
    return Desk(site)


# --- session

def test_session(site, desk):
    other = site.shop()
    grant(site, other.name, "vera", "owner", host="elsewhere.example")
    session = desk.viewer.session()
    assert session["user"] == "vera" and session["host"] == "localhost"
    assert re.fullmatch(r"[0-9a-f]{64}", session["csrf"]) and session["version"]
    mine = [one for one in session["accounts"] if one["name"] == desk.name]
    assert mine == [{"name": desk.name, "role": "viewer", "mode": "test"}]
    assert other.name not in [one["name"] for one in session["accounts"]]
    assert Person(site, "stranger").session()["accounts"] == []


def test_tokens_are_a_users_own_and_outlive_a_reload(site):
    tokens = {user: Person(site, user).session()["csrf"] for user in ("vera", "oskar", "olga")}
    assert len(set(tokens.values())) == 3
    site.graceful()
    assert {user: Person(site, user).session()["csrf"] for user in tokens} == tokens


# --- roles: a viewer reads everything

READS = ["overview", "charges", "charges/1", "refunds", "export/charges.csv", "export/charges.json",
         "export/refunds.csv", "export/refunds.json", "events", "held", "blocked", "links", "webhook", "mail",
         "encryption-key"]
OF_BOTH_MODES = ["keys", "team", "account", "audit"]
TOP = pathlib.Path(__file__).resolve().parents[2]


def routes():
    """Method, path and role of each row of the table, its place as docs/dashboard.md writes it."""
    [text] = [one.read_text() for one in (TOP / "mod_payments/httpd").rglob("*.c") if "{SCOPE, " in one.read_text()]
    place = {"USER": "", "ACCOUNT": "A/", "SCOPE": "S/"}
    return [(method, place[at] + path, role.lower()) for at, path, method, role in re.findall(
        r'\{(USER|ACCOUNT|SCOPE), "([^"]+)", M_(GET|POST),\s+(VIEWER|OPERATOR|OWNER),', text)]


def documented():
    """The same of docs/dashboard.md, where a row may have a second path, or another end of its path."""
    for method, paths, role in re.findall(r"^\| (GET|POST) ([^|]+) \| (any|viewer|operator|owner) \|",
                                          (TOP / "docs/dashboard.md").read_text(), re.M):
        first, *others = re.sub(r"\b[A-Z]{2,}\b|\{\w+\}", "*", paths).split(", ")
        for path in [first, *(first[:first.rindex(one[0])] + one if one[0] in "./" else one for one in others)]:
            yield method, path, "viewer" if role == "any" else role


def test_every_route_is_documented_and_read_by_each_role():
    assert sorted(routes()) == sorted(documented())
    read = {path.partition("/")[2] for method, path, _ in routes() if method == "GET" and path != "session"}
    assert {re.sub(r"/1$", "/*", path) for path in READS + OF_BOTH_MODES} == read - {"events/*"}  # test_event_in_full


@pytest.mark.parametrize("path", READS + OF_BOTH_MODES)
def test_who_may_read(site, desk, path):
    desk.shop.charge()
    path = f"accounts/{desk.name}/{path}" if path in OF_BOTH_MODES else desk.scope(path)
    for person in desk.viewer, desk.operator, desk.owner:
        for method in "GET", "HEAD":
            answer = person.get(path, method)
            assert answer.status == 200, answer
            assert answer.header("cache-control") == "no-store"
            assert (method == "GET") == bool(answer.body)
    stranger = Person(site, "stranger").get(path)
    assert stranger.status == 404 and stranger.json["data"]["responseCode"] == "N2"
    assert stranger.json["message"] == Person(site, "vera").get("accounts/nothing/test/overview").json["message"]
    written = path.split("/")[-1] in ("links", "webhook", "mail", "encryption-key", "keys", "team", "account")
    assert written or desk.viewer.post(path).status == 405


@pytest.mark.parametrize("path", [
    "", "nothing", "session/x", "accounts", "accounts/", "accounts/{name}", "accounts/{name}/", "accounts/{name}/test",
    "accounts/{name}/test/", "accounts/{name}/prod/overview", "accounts/{name}/test/overview/x",
    "accounts/{name}/test/charges/", "accounts/{name}/test/charges/1/2/3", "accounts/../test/overview",
    "accounts/{upper}/test/overview", "accounts/%20/test/overview",
])
def test_paths_that_are_none(desk, path):
    answer = desk.viewer.get(path.format(name=desk.name, upper=desk.name.upper()))
    assert answer.status == 404 and answer.json["status"] is False


def test_a_grant_of_another_host_or_account_is_none(site, desk):
    other = site.shop()
    grant(site, other.name, "stranger", "owner", host="elsewhere.example")
    assert Person(site, "stranger").get(f"accounts/{other.name}/test/overview").status == 404
    assert desk.owner.get(f"accounts/{other.name}/test/overview").status == 404
    site.ctl("account", "revoke", desk.name, "vera", "--host", "localhost")
    assert desk.viewer.get(desk.scope("overview")).status == 404


def test_host_with_one_account(server):
    httpd = server(start=False)
    httpd.host_extra = settings(httpd, extra="PaymentsAccount one\n")
    httpd.start()
    httpd.expect_log("PAY00302")
    httpd.ctl("account", "create", "one")
    httpd.ctl("account", "create", "two")
    for name in "one", "two":
        grant(httpd, name, "vera", "owner")
    vera = Person(httpd, "vera")
    assert [one["name"] for one in vera.session()["accounts"]] == ["one"]
    assert vera.get("accounts/one/test/overview").status == 200
    assert vera.get("accounts/two/test/overview").status == 404


# --- who asks

def test_reads_of_other_sites_are_refused(site, desk):
    for value, want in [("cross-site", 403), ("same-site", 403), ("same-origin", 200), ("none", 200), (None, 200)]:
        headers = desk.viewer.headers()
        headers.pop("Sec-Fetch-Site")
        if value:
            headers["Sec-Fetch-Site"] = value
        answer = site.request("GET", f"{PATH}/api/session", headers=headers)
        assert answer.status == want, value
        assert want == 200 or answer.json["data"]["responseCode"] == "C2"


# --- charges

def test_charges_newest_first(desk):
    names = [{"firstName": "Ada"}, {"lastName": "Lovelace"}, {"firstName": "Ada", "lastName": "Lovelace"}]
    made = [desk.shop.charge(email=f"payer{n % 3}@example.com", amount=10 + n, **names[(n - 4) % 3]).json["data"]
            for n in range(7)]
    items = desk.get("charges")["items"]
    assert [one["id"] for one in items] == [one["id"] for one in reversed(made)]
    assert [one["name"] for one in items[:3]] == ["Ada Lovelace", "Lovelace", "Ada"]
    first = items[0]
    assert first["reference"] == made[-1]["reference"] and first["amount"] == "16.00" and first["currency"] == "NGN"
    assert first["status"] == "successful" and first["card"]["last4Digits"] == "4444" and first["held"] == ""
    assert first == {"id": made[-1]["id"], "reference": made[-1]["reference"], "createdAt": made[-1]["createdAt"],
                     "amount": "16.00", "currency": "NGN", "status": "successful", "paymentStatus": "successful",
                     "open": False, "email": "payer0@example.com", "name": "Ada Lovelace",
                     "card": {name: made[-1]["card"][name] for name in ("last4Digits", "issuer")},
                     "channel": "card", "refundedAmount": "0.00", "held": ""}
    assert first["card"]["issuer"] and TIME.fullmatch(first["createdAt"])
    for limit in 1, 2, 3, 7, 200:
        assert desk.pages("charges", limit) == items


@pytest.mark.parametrize("query, want", [
    ("reference=find-{mark}-2", [2]), ("reference=find-{mark}-9", []), ("email=Payer1@Example.com", [1, 4]),
    ("state=failed", [5]), ("state=failed,successful", [0, 1, 2, 3, 4, 5]), ("state=pending", []),
    ("currency=usd", [3]), ("currency=USD&state=failed", []), ("from=2000-01-01&to=2001-01-01", []),
    ("from=2000-01-01", [0, 1, 2, 3, 4, 5]), ("to=2000-01-01", []), ("reference=&email=", [0, 1, 2, 3, 4, 5]),
    ("email=payer1%2Bx@example.com", []),
])
def test_charges_are_found(desk, query, want):
    mark = secrets.token_hex(4)
    for n in range(6):
        desk.shop.charge(reference=f"find-{mark}-{n}", email=f"payer{n % 3}@example.com",
                         currency="USD" if n == 3 else "NGN", token="tok_test_declined" if n == 5 else "tok_test_success")
    items = desk.pages("charges?" + query.format(mark=mark), 2)
    assert sorted(int(one["reference"][-1]) for one in items) == want


@pytest.mark.parametrize("path, fields", [
    ("charges?limit=0", ["/limit"]), ("charges?limit=201", ["/limit"]), ("charges?limit=x", ["/limit"]),
    ("charges?after=x", ["/after"]), ("charges?after=1", ["/after"]), ("charges?after=1.", ["/after"]),
    ("charges?after=1.1.1", ["/after"]), ("charges?after=" + "9" * 19 + ".1", ["/after"]),
    ("charges?state=paid", ["/state"]), ("charges?email=nobody&currency=XXY", ["/email", "/currency"]),
    ("charges?reference=a%2Fb", ["/reference"]), ("charges?from=2026-02-30", ["/from"]),
    ("charges?to=yesterday", ["/to"]), ("charges?tz=Mars/Olympus", ["/tz"]), ("charges?tz=../../etc/passwd", ["/tz"]),
    ("charges?from=2026-01-02&to=2026-01-01", ["/to"]),
    ("charges?limit=1&limit=2", [""]), ("charges?x=%ff", [""]), ("charges?x=%00", [""]), ("charges?x=%zz", [""]),
    ("charges?" + "&".join(f"p{n}=1" for n in range(17)), [""]),
    ("refunds?after=x", ["/after"]), ("refunds?from=x", ["/from"]), ("overview?tz=x", ["/tz"]),
    ("events?standing=lost", ["/standing"]), ("events?after=evt_1", ["/after"]), ("held?after=1", ["/after"]),
    ("held?after=charge.", ["/after"]), ("links?after=a%20b", ["/after"]), ("links?after=" + "x" * 600, ["/after"]),
    ("links?limit=0", ["/limit"]), ("export/charges.csv?from=x", ["/from"]),
])
def test_queries_that_are_refused(desk, path, fields):
    answer = desk.viewer.get(desk.scope(path))
    assert answer.status == 400, answer
    assert [one["field"] for one in answer.json["data"]["errors"]] == fields


def test_queries_at_their_limits(desk):
    assert desk.get("charges?limit=200")["items"] == []
    assert desk.get("charges?" + "&".join(f"p{n}=1" for n in range(16)))["items"] == []


def test_charge(desk):
    charge = desk.shop.charge(amount=100, customer=None).json["data"]
    desk.shop.refund(charge["reference"], "30", merchant_note="broken")
    seen = desk.get(f"charges/{charge['id']}")
    verified = desk.shop.call("GET", f"/api/v1/transaction/{charge['reference']}/verify").json["data"]
    assert seen["charge"] == {name: value for name, value in verified.items()
                              if name not in ("refunds", "refundsComplete")}
    assert seen["item"] == desk.get("charges")["items"][0]
    assert [one["amount"] for one in seen["refunds"]] == ["30.00"] and seen["refundsComplete"] is True
    assert seen["refundable"] == "70.00" and seen["held"] is None and seen["events"] == []
    assert seen["item"]["refundedAmount"] == "30.00"
    assert [one["text"] for one in seen["timeline"]] == [charge["reference"], "successful: Approved"] + [
        seen["refunds"][0]["refundReference"]] * 2
    assert [one["what"] for one in seen["timeline"]] == ["opened", "decided", "refund-opened", "refund-processed"]
    assert all(TIME.fullmatch(one["at"]) for one in seen["timeline"])


def test_charge_by_bank_transfer(desk):
    checkout = Checkout(desk.shop)
    assert checkout.transfer().kind == "approved"
    desk.shop.charge()
    assert [one["channel"] for one in desk.get("charges")["items"]] == ["card", "bank_transfer"]
    seen = desk.get(f"charges/{checkout.state()['id']}")
    assert seen["charge"]["channel"] == seen["item"]["channel"] == "bank_transfer"
    exported = desk.viewer.get(desk.scope("export/charges.json")).json
    assert {one["reference"]: one["channel"] for one in exported}[checkout.reference] == "bank_transfer"


@pytest.mark.parametrize("number", ["0", "2", "-1", "x", "1x", "9" * 18, "9" * 40])
def test_charges_that_are_none(desk, number):
    desk.shop.charge()
    assert desk.viewer.get(desk.scope(f"charges/{number}")).status == 404
    assert desk.viewer.get(desk.scope("charges/1", "live")).status == 404


MARKUP = "<script>alert(1)</script>\"'&"


def test_what_people_typed_stays_text(desk):
    charge = desk.shop.charge(firstName=MARKUP, lastName="<b>").json["data"]
    desk.shop.refund(charge["reference"], "1", customer_note=MARKUP)
    for path in "charges", f"charges/{charge['id']}", "refunds":
        answer = desk.viewer.get(desk.scope(path))
        assert answer.header("content-type") == "application/json; charset=utf-8"
        assert answer.header("x-content-type-options") == "nosniff"
    assert desk.get("charges")["items"][0]["name"] == MARKUP + " <b>"
    assert desk.get("refunds")["items"][0]["customerNote"] == MARKUP


# --- refunds, exports

def test_refunds_newest_first(desk):
    charge = desk.shop.charge(amount=100).json["data"]
    for n in range(1, 6):
        desk.shop.refund(charge["reference"], str(n))
    items = desk.get("refunds")["items"]
    assert [one["amount"] for one in items] == ["5.00", "4.00", "3.00", "2.00", "1.00"]
    assert [{**one, "chargeId": charge["id"]} for one in reversed(desk.shop.refunds().json)] == items
    for limit in 1, 2, 5, 6:
        assert desk.pages("refunds", limit) == items
    assert desk.get("refunds?to=2001-01-01")["items"] == []


def rows(answer):
    return list(csv.DictReader(io.StringIO(answer.body.decode(), newline="")))


def test_exports(desk):
    """Both forms hold what the store holds, and what paymentsctl prints of it."""
    for n in range(12):
        charge = desk.shop.charge(amount=50 + n, reference="=cmd-" + reference() if n == 3 else reference())
        assert charge.status == 200
        desk.shop.refund(charge.json["data"]["reference"], "5", customer_note="=1+1, \"quoted\"")
    for noun in "charge", "refund":
        told = desk.shop.httpd.ctl(noun, "list", desk.name, "--mode", "test", "--format", "csv").stdout
        answer = desk.viewer.get(desk.scope(f"export/{noun}s.csv"))
        assert answer.header("content-type") == "text/csv; charset=utf-8"
        assert answer.header("content-disposition") == f'attachment; filename="{noun}s-{desk.name}-test.csv"'
        assert answer.body.decode().splitlines() == told.splitlines() and len(rows(answer)) == 12
        as_json = desk.viewer.get(desk.scope(f"export/{noun}s.json"))
        assert as_json.header("content-disposition").endswith('-test.json"')
        listed = json.loads(desk.shop.httpd.ctl(noun, "list", desk.name, "--mode", "test", "--json").stdout)
        assert as_json.json == listed
    assert [one["customerNote"] for one in rows(desk.viewer.get(desk.scope("export/refunds.csv")))] \
        == ["'=1+1, \"quoted\""] * 12
    assert desk.viewer.get(desk.scope("export/charges.json?to=2001-01-01")).json == []
    assert rows(desk.viewer.get(desk.scope("export/refunds.csv?to=2001-01-01"))) == []


# --- overview, held, events

def test_overview_of_nothing(desk):
    seen = desk.get("overview?tz=Africa/Lagos")
    assert seen == {"timezone": "Africa/Lagos", "today": [], "days30": [], "chart": [], "pending": 0, "openCheckouts": 0,
                    "held": 0, "blocked": 0, "openWebhooks": 0, "parkedWebhooks": 0, "hasKeys": True,
                    "hasCharges": False, "hasWebhook": False}
    assert desk.get("overview", mode="live")["hasKeys"] is False
    assert desk.get("overview")["timezone"] == "UTC"


def zone_within_a_day():
    """A time zone whose day does not end while a test runs, and its date."""
    hours = {"Pacific/Kiritimati": 14, "Asia/Dubai": 4}
    here = {zone: datetime.datetime.now(datetime.timezone(datetime.timedelta(hours=ahead)))
            for zone, ahead in hours.items()}
    zone = next(zone for zone, now in here.items() if now.hour != 23)
    return zone, here[zone].date()


def test_overview(desk):
    zone, today = zone_within_a_day()
    for amount in 10, 20, 30:
        kept = desk.shop.charge(amount=amount).json["data"]["reference"]
    desk.shop.charge(token="tok_test_declined")
    desk.shop.charge(amount=7, currency="USD")
    desk.shop.charge(token="tok_test_timeout")
    desk.shop.refund(kept, "4")
    desk.shop.webhook("https://127.0.0.1:1/hook")
    desk.shop.charge(amount=1, currency="USD")
    seen = desk.get(f"overview?tz={zone}")
    naira = {"currency": "NGN", "charges": 3, "volume": "60.00", "failed": 1, "successRate": 0.75, "refunds": 1,
             "refundVolume": "4.00"}
    dollar = {"currency": "USD", "charges": 2, "volume": "8.00", "failed": 0, "successRate": 1, "refunds": 0,
              "refundVolume": "0.00"}
    assert seen["today"] == seen["days30"] == [naira, dollar]
    assert [one["currency"] for one in seen["chart"]] == ["NGN", "USD"]
    days = seen["chart"][0]["days"]
    assert len(days) == 30
    assert [one["date"] for one in days] == [str(today - datetime.timedelta(days=29 - n)) for n in range(30)]
    assert days[-1] == {"date": str(today), "volume": "60.00", "charges": 3, "failed": 1, "refunds": 1,
                        "refundVolume": "4.00"}
    assert all(one["charges"] == 0 and one["volume"] == "0.00" for one in days[:-1])
    assert seen["hasCharges"] and seen["hasWebhook"] and seen["hasKeys"]
    assert seen["openWebhooks"] == 1 and seen["parkedWebhooks"] == 0


def test_overview_that_cannot_be_read(desk):
    """A damaged total behind one that is well: the answer is an error, and comes."""
    desk.shop.charge()
    number = json.loads(desk.shop.httpd.ctl("account", "show", desk.name, "--json").stdout)["number"]
    now = int(datetime.datetime.now().timestamp() * 10**6)
    key = number.to_bytes(4, "big") + b"\0" + (now ^ 1 << 63).to_bytes(8, "big") + b"NGN" + bytes(4)
    desk.shop.httpd.expect_log("PAY00104: table total")
    seen = []
    for change in (lambda raw: raw.put("total", key, b"\xff")), (lambda raw: raw.delete("total", key)):
        with Raw(desk.shop.httpd.store) as raw:
            raw.begin()
            change(raw)
            raw.commit()
        seen.append(desk.viewer.get(desk.scope("overview")).status)
    assert seen == [500, 200]


def test_days_begin_at_midnight(desk, tmp_path):
    """What was made at the first instant of a day, and at the last, is that day's."""
    day = datetime.datetime.now(datetime.timezone.utc).date() - datetime.timedelta(days=2)
    times = {"first": f"{day}T00:00:00.000Z", "last": f"{day}T23:59:59.999Z"}
    rows = [{"id": f"re_{name}", "refundReference": f"rf_{name}", "transactionReference": "tx", "amount": "5.00",
             "currency": "NGN", "domain": "test", "status": "processed", "createdAt": at, "updatedAt": at}
            for name, at in times.items()]
    (tmp_path / "rows").write_text("\n".join(map(json.dumps, rows)))
    desk.shop.httpd.ctl("refund", "import", desk.name, "--mode", "test", str(tmp_path / "rows"))
    days = desk.get("overview?tz=UTC")["chart"][0]["days"]
    assert {one["date"]: one["refundVolume"] for one in days if one["refunds"]} == {str(day): "10.00"}


def test_events(desk):
    desk.shop.webhook("https://127.0.0.1:1/hook")  # where nobody may be dialled
    made = [desk.shop.charge().json["data"]["reference"] for _ in range(3)]
    desk.shop.refund(made[0], "1")
    items = desk.get("events")["items"]
    assert [(one["reference"], one["notify"], one["sequence"]) for one in items] == [
        (made[0], "transaction", 1), (made[0], "refund", 2), (made[1], "transaction", 1), (made[2], "transaction", 1)]
    assert {one["endpoint"] for one in items} == {"webhook"}
    for limit in 1, 2, 3, 4:
        assert [one["id"] for one in desk.pages("events", limit)] == [one["id"] for one in items]
    assert [one["reference"] for one in desk.get("events?standing=behind")["items"]] == [made[0]]
    assert desk.get("events?standing=parked")["items"] == []
    one = desk.get(f"events/{items[1]['id']}")
    assert list(one) == EVENT_MEMBERS + ["body"] and [list(item) for item in items] == [EVENT_MEMBERS] * 4
    assert (one["notifyType"], one["chargeId"], one["standing"]) == ("processed", items[0]["chargeId"], "behind")
    assert TIME.fullmatch(one["createdAt"]) and (one["failures"], one["firstTryAt"], one["dueAt"]) == (0, None, None)
    body = json.loads(one["body"])
    assert one["notify"] == body["notify"] == "refund" and body["data"]["transactionReference"] == made[0]
    charge = desk.get("charges")["items"][-1]
    assert [event["id"] for event in desk.get(f"charges/{charge['id']}")["events"]] == [items[0]["id"], items[1]["id"]]
    assert desk.viewer.get(desk.scope("events/evt_" + "01" + "0" * 40)).status == 404
    assert desk.viewer.get(desk.scope("events/x")).status == 404
    desk.shop.webhook_off()


def test_event_that_is_tried(desk):
    desk.shop.webhook("https://127.0.0.1:1/hook")
    desk.shop.charge()
    tried = lambda: [one for one in desk.get("events")["items"] if one["failures"]]
    (one,) = wait_for(tried, "a try")
    assert all(TIME.fullmatch(one[name]) for name in ("firstTryAt", "dueAt", "answeredAt"))
    assert one["firstTryAt"] <= one["answeredAt"] < one["dueAt"] and one["parkedAt"] is None
    assert (one["standing"], one["failures"], one["status"], one["answer"]) == ("waiting", 1, 0, "") and one["error"]
    webhook = desk.get("webhook")
    assert (webhook["failures"], webhook["failing"], webhook["error"]) == (1, False, one["error"])
    assert (webhook["answeredAt"], webhook["failingSince"]) == (one["answeredAt"], None)
    assert TIME.fullmatch(webhook["dueAt"])
    desk.shop.webhook_off()


def test_nothing_is_held(desk):
    assert desk.get("held") == {"items": [], "next": None}
