# SPDX-License-Identifier: Apache-2.0
"""The dashboard over HTTP/2, where mod_http2 runs the handler on its own threads: without TLS and with it."""

import csv
import io
import json
import subprocess

import pytest

from dashboard import PAGE, PASSWORD, PATH, SCRIPT, settings
from harness import SHOPS_AT_ONCE, Httpd
from test_dashboard import Desk
from test_dashboard_access import HEADERS
from test_dashboard_changes import asked, audit, of
from upstream import Upstream


@pytest.fixture(scope="module", params=["event", "worker", "event, TLS"])
def running(request, authority):
    mpm, _, tls = request.param.partition(", ")
    httpd = (Upstream(authority, mpm=mpm, host_extra="Protocols h2 http/1.1\n", shops_at_once=SHOPS_AT_ONCE) if tls
             else Httpd(mpm=mpm, shops_at_once=SHOPS_AT_ONCE))
    httpd.host_extra += settings(httpd)
    httpd.origin, httpd.ca = "https" if tls else "http", authority.file
    httpd.start()
    httpd.origin += f"://127.0.0.1:{httpd.port}"
    yield httpd
    httpd.close()


@pytest.fixture
def desk(running):
    yield Desk(running)
    loud = running.unexpected()
    assert not loud, "unexpected in the error log:\n" + "\n".join(loud)


class Answer:
    """What curl printed: headers, body and its last line."""

    def __init__(self, printed):
        head, _, rest = printed.partition(b"\r\n\r\n")
        self.body, _, last = rest.rpartition(b"\n")
        status, version = last.split()
        self.status, self.version = int(status), version.decode()
        self.headers = dict(line.split(": ", 1) for line in head.decode().splitlines()[1:])

    @property
    def json(self):
        return json.loads(self.body)


def curl(desk, path, *args, user="vera", body=None):
    httpd = desk.shop.httpd
    command = ["curl", "-sS", "-i", "--http2-prior-knowledge" if httpd.origin.startswith("http:") else "--http2",
               "--cacert", httpd.ca, "--max-time", "60", "-u", f"{user}:{PASSWORD}", "-w", "\n%{http_code} %{http_version}",
               "-H", "Expect:", *args]
    if body is not None:
        command += ["--data-binary", "@-"]
    done = subprocess.run([*command, httpd.origin + PATH + path], input=body, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    answer = Answer(done.stdout)
    assert answer.version == "2"
    return answer


def post(desk, path, body, user="oskar", **headers):
    """A call like those of the pages, except for `headers`."""
    given = {"Origin": desk.shop.httpd.origin, "Sec-Fetch-Site": "same-origin", "Content-Type": "application/json",
             "X-CSRF-Token": curl(desk, "/api/session", user=user).json["csrf"],
             **{name.replace("_", "-"): value for name, value in headers.items()}}
    lines = [part for name, value in given.items() if value for part in ("-H", f"{name}: {value}")]
    text = body if isinstance(body, bytes) else json.dumps(body).encode()
    return curl(desk, "/api/" + path, *lines, user=user, body=text)


@pytest.mark.parametrize("path, body", [("/", PAGE), ("/assets/app.js", SCRIPT), ("/assets/app.css", "")])
def test_pages(desk, path, body):
    answer = curl(desk, path)
    assert (answer.status, answer.body.decode()) == (200, body)
    assert HEADERS.items() <= answer.headers.items()


def test_calls(desk):
    charge = desk.shop.charge(amount=100).json["data"]
    session = curl(desk, "/api/session").json
    assert session["user"] == "vera" and desk.name in [one["name"] for one in session["accounts"]]
    (item,) = curl(desk, f"/api/accounts/{desk.name}/test/charges").json["items"]
    assert item["reference"] == charge["reference"]
    assert curl(desk, f"/api/accounts/{desk.name}/live/charges/1").status == 404
    refused = curl(desk, "/api/session", "-H", "Sec-Fetch-Site: cross-site")
    assert refused.status == 403 and refused.json["data"]["responseCode"] == "C2"
    assert HEADERS.items() <= refused.headers.items()


def test_change(desk):
    """By the right role, once for each requestId, and in the audit."""
    charge = desk.shop.charge(amount=100).json["data"]
    path, body = of(desk, f"test/charges/{charge['id']}/refund"), asked(amount="30.00")
    assert post(desk, path, body, user="vera").status == 403
    first, again = post(desk, path, body), post(desk, path, body)
    assert first.status == again.status == 200 and first.json == again.json
    assert first.json["refund"]["amount"] == "30.00"
    assert audit(desk) == [("refund create", first.json["refund"]["refundReference"])]


@pytest.mark.parametrize("headers, size, status, code", [
    pytest.param({"X_CSRF_Token": None}, 70_000, 403, "C1", id="no token, above the limit"),
    pytest.param({"X_CSRF_Token": "0" * 64}, 2, 403, "C1", id="a wrong token, small"),
    pytest.param({"Origin": "https://evil.example", "Sec_Fetch_Site": "cross-site"}, 900_000, 403, "C2",
                 id="another site, large"),
    pytest.param({"Origin": "https://evil.example"}, 2, 403, "C2", id="another origin, small"),
    pytest.param({"Origin": None, "Sec_Fetch_Site": None}, 70_000, 403, "C2", id="no sign at all, above the limit"),
    pytest.param({"Content_Type": "text/plain"}, 900_000, 415, None, id="a form's type, large"),
])
def test_changes_of_others_are_refused(desk, headers, size, status, code):
    """The answer arrives, however much of the body nobody read."""
    answer = post(desk, of(desk, "team"), b" " * size, user="olga", **headers)
    assert answer.status == status, answer.body
    assert code is None or answer.json["data"]["responseCode"] == code
    assert audit(desk) == []


def test_body_that_is_too_long(desk):
    answer = post(desk, of(desk, "team"), b" " * 70_000, user="olga")
    assert answer.status == 413 and answer.json["data"]["responseCode"] == "S1"


def test_exports(desk):
    made = [desk.shop.charge(amount=10 + number).json["data"]["reference"] for number in range(40)]
    as_json, as_csv = (curl(desk, f"/api/accounts/{desk.name}/test/export/charges.{form}") for form in ("json", "csv"))
    assert [row["reference"] for row in as_json.json] == made
    assert [row["reference"] for row in csv.DictReader(io.StringIO(as_csv.body.decode(), newline=""))] == made
    assert as_csv.headers["content-disposition"] == f'attachment; filename="charges-{desk.name}-test.csv"'


def test_nobody_comes_in_unknown(desk):
    desk.shop.httpd.expect_log("AH01617")
    answer = curl(desk, "/api/session", "-u", "vera:wrong")
    assert answer.status == 401 and HEADERS.items() <= answer.headers.items()
    assert curl(desk, "/assets/nothing.js").status == 404
