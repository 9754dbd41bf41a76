# SPDX-License-Identifier: Apache-2.0
"""The dashboard for the tests: pages, users who sign in by Basic, and the calls of its pages."""

import base64
import hashlib
import json
import shutil
import subprocess

from harness import BUILD, ROOT

PATH = "/payments-dashboard"
USERS = ("olga", "oskar", "vera", "stranger")
PASSWORD = "right"
CONFIRM, NO_WAY = "C3", "C4"  # the change must be confirmed, which is not possible here
BESIDE = "PAY00680"  # the hosts of tests serve a document root in addition to the dashboard
PAGE = "<!doctype html><title>Payments</title>\n"
SCRIPT = "export const answer = 42;\n"


def location(rule, path=PATH):
    return f'<Location "{path}">\n{rule}\n</Location>\n'


def basic(user, password=PASSWORD):
    return {"Authorization": "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()}


def pages(httpd):
    """A directory of pages, next to files that must not be served."""
    root = httpd.root / "pages"
    (root / "assets").mkdir(parents=True)
    (root / "index.html").write_text(PAGE)
    (root / "assets/app.js").write_text(SCRIPT)
    (root / "assets/app.css").write_text("")
    (root / "assets/app.js~").write_text("old")
    (root / "assets/.hidden.js").write_text("hidden")
    (root / "assets/notes.txt").write_text("notes")
    (httpd.root / "outside.html").write_text("outside")
    httpd.expect_log(BESIDE, always=True)
    return f"PaymentsDashboardFiles {root}"


def sign_up(httpd, users):
    """Adds people who may sign in."""
    digest = base64.b64encode(hashlib.sha1(PASSWORD.encode()).digest()).decode()
    with open(httpd.root / "users", "a", encoding="ascii") as file:
        file.writelines(f"{user}:{{SHA}}{digest}\n" for user in users)


def auth(httpd):
    (httpd.root / "users").unlink(missing_ok=True)
    sign_up(httpd, USERS)
    return f"AuthType Basic\nAuthName site\nAuthBasicProvider file\nAuthUserFile {httpd.root}/users"


def settings(httpd, rule="Require valid-user", extra=""):
    """The configuration of a host with a dashboard."""
    return f"PaymentsDashboard {PATH}\n{pages(httpd)}\n{location(auth(httpd) + chr(10) + rule)}{extra}"


# The calls to an account that tests/bench/fill has filled: the pages, and the slowest searches.
FILLED_PAGES = [
    "overview", "charges", "charges?limit=200", "charges?state=failed", "charges?email=nobody@example.com",
    "charges?email=ada@example.com", "charges?currency=USD", "charges?reference=fill-000000007", "charges?to=2001-01-01",
    "charges/1", "refunds", "events", "events?standing=parked", "held",
]


def fill(httpd, shop, count, prefix="fill", first=0):
    """Adds that many decided charges, by running tests/bench/fill next to the server, as the store's owner."""
    program = httpd.root / "fill"
    shutil.copy(BUILD / "tests/bench/fill", program)
    program.chmod(0o755)
    info = httpd.store.stat()  # owned by root before the first start
    owner = {"user": info.st_uid, "group": info.st_gid, "extra_groups": []} if ROOT else {}
    done = subprocess.run([program, f"lmdb:{httpd.store}", shop.name, prefix, str(first), str(count)],
                          capture_output=True, text=True, check=True, **owner)
    assert int(done.stdout) == count


def walk(person, path, limit):
    """All items of a list, page by page."""
    after = ""
    while True:
        page = person.get(f"{path}{'&' if '?' in path else '?'}limit={limit}{after}").json
        yield from page["items"]
        if page["next"] is None:
            return
        after = "&after=" + page["next"]


def wants(answer):
    """The confirmation that a change needs, according to the answer; None if it needs none."""
    data = answer.json.get("data", {}) if answer.json else {}
    return data["errors"][0]["field"] if data.get("responseCode") == CONFIRM else None


def confirmed(body, **how):
    """The body of a change, with its confirmation."""
    body = body or {}
    return {**body, "confirm": {**body.get("confirm", {}), **how}}


class Person:
    """A person at a browser: signs in, and makes the calls of the dashboard's pages."""

    def __init__(self, httpd, user):
        self.httpd, self.user = httpd, user
        self.host = f"127.0.0.1:{httpd.port}"  # as http.client writes it in Host
        self.token = None

    def headers(self, **more):
        return {**basic(self.user), "Sec-Fetch-Site": "same-origin",
                **{name.replace("_", "-"): value for name, value in more.items()}}

    def get(self, path, method="GET", connection=None):
        return self.httpd.request(method, f"{PATH}/api/{path}", headers=self.headers(), connection=connection)

    def session(self):
        answer = self.get("session")
        assert answer.status == 200, answer
        self.token = answer.json["csrf"]
        return answer.json

    def post(self, path, body=None, headers=None, connection=None, password=PASSWORD):
        """Like the pages, repeats a change that must be confirmed with the password; None: does not repeat it."""
        answer = self.ask(path, body, headers, connection)
        if password is not None and answer.status == 403 and wants(answer) == "/confirm/password":
            return self.ask(path, confirmed(body, password=password), headers, connection)
        return answer

    def ask(self, path, body=None, headers=None, connection=None):
        """One request."""
        if self.token is None:
            self.session()
        sent = {**self.headers(), "Origin": f"http://{self.host}", "X-CSRF-Token": self.token,
                "Content-Type": "application/json"}
        sent.update(headers or {})
        sent = {name: value for name, value in sent.items() if value is not None}
        text = body if isinstance(body, (str, bytes)) else json.dumps({} if body is None else body)
        return self.httpd.request("POST", f"{PATH}/api/{path}", text, sent, connection)
