# SPDX-License-Identifier: Apache-2.0
"""The receivers printed in docs/notifications.md: on requests good and bad, and behind a real server."""

import http.client
import json
import os
import pathlib
import re
import secrets
import shutil
import subprocess
import time

import pytest

from harness import ROOT, free_port, wait_for
from receiver import INSECURE, sign

PAGE = (pathlib.Path(__file__).resolve().parents[2] / "docs/notifications.md").read_text()
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo="


def block(language):
    """The page's one block of a language."""
    [found] = re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.S | re.M)
    return found


class Php:
    """php's own web server with the receiver as its only page."""

    def __init__(self, folder, _server):
        self.state = folder / "state"
        self.state.mkdir()
        (folder / "hook.php").write_text(block("php"))
        self.port = free_port()
        self.folder, self.process = folder, None

    def start(self, secret):
        env = {"PATH": os.environ["PATH"], "WEBHOOK_SECRET": secret, "WEBHOOK_STATE": str(self.state)}
        self.process = subprocess.Popen(["php", "-d", "display_errors=0", "-S", f"127.0.0.1:{self.port}",
                                         str(self.folder / "hook.php")],
                                        env=env, stderr=open(self.folder / "log", "wb"))
        wait_for(lambda: "started" in (self.folder / "log").read_text(), "php to listen")

    def worked_on(self):
        """The events that were taken in, in their order."""
        log = self.state / "events.log"
        return [line.split() for line in log.read_text().splitlines()] if log.exists() else []

    def stop(self):
        if self.process:
            self.process.terminate()
            self.process.wait()


class Shell:
    """httpd and mod_cgid with the receiver as a CGI script."""

    def __init__(self, folder, server):
        self.httpd = server(start=False, engine=False, without=["payments"], modules=["cgid"])
        self.state = self.httpd.root / "state"
        self.state.mkdir()
        self.state.chmod(0o777 if ROOT else 0o700)
        script = self.httpd.root / "hook"
        script.write_text(block("sh"))
        script.chmod(0o755)
        root = self.httpd.root
        self.httpd.extra = f"ScriptSock {root}/cgid.sock"
        self.httpd.host_extra = (f"ScriptAlias /hook {root}/hook\n<Files hook>\nRequire all granted\n</Files>\n"
                                 f"SetEnv WEBHOOK_SECRET_FILE {root}/secret\nSetEnv WEBHOOK_STATE {self.state}\n")
        self.port = self.httpd.start().port

    def start(self, secret):
        (self.httpd.root / "secret").write_text(secret + "\n")

    def worked_on(self):
        found = [(one.stat().st_mtime_ns, one.stem, json.loads(one.read_text())) for one in self.state.glob("*.json")]
        return [[name, told["notify"], told["notifyType"]] for _, name, told in sorted(found, key=lambda one: one[:2])]

    def stop(self):
        wait_for(lambda: not list(self.state.glob(".work*")), "its work to be cleaned up")


@pytest.fixture(params=[Php, Shell])
def page(request, tmp_path, server):
    """A receiver of the page, not yet started."""
    made = request.param(tmp_path, server)
    yield made
    made.stop()


def event(sequence=1, ref="order-1"):
    return json.dumps({"notify": "transaction", "notifyType": "successful", "sequence": sequence,
                       "data": {"transactionReference": ref, "amount": 10.5, "name": "Ada \\u00e9 é"}}).encode()


def post(page, body, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", page.port, timeout=20)
    pairs = {name.replace("_", "-"): value for name, value in headers.items() if value is not None}
    connection.request("POST", "/hook", body, {"Content-Type": "application/json", **pairs})
    answer = connection.getresponse()
    text = answer.read()
    connection.close()
    return answer.status, text


def send(page, body=None, name=None, at=0, secret=SECRET, change=None, more=""):
    """Signs and posts an event, with what is changed behind the signature's back."""
    body, name = event() if body is None else body, name or "evt_" + secrets.token_hex(21)
    stamp = str(int(time.time()) + at)
    headers = {"webhook_id": name, "webhook_timestamp": stamp,
               "webhook_signature": more + sign(secret, name, stamp, body)}
    headers.update(change or {})
    return post(page, headers.pop("body", body), **headers)[0]


def test_what_they_take_and_refuse(page):
    page.start(SECRET)
    other = "whsec_" + "QUJD" * 10 + "QUI="
    for what, options in {
            "another secret": {"secret": other},
            "another body": {"change": {"body": event(7)}},
            "another id": {"change": {"webhook_id": "evt_" + "0" * 42}},
            "another time": {"change": {"webhook_timestamp": str(int(time.time()) - 7)}},
            "no signature": {"change": {"webhook_signature": None}},
            "an empty signature": {"change": {"webhook_signature": ""}},
            "a signature of no version": {"change": {"webhook_signature": sign(SECRET, "a", "1", b"")[3:]}},
            "too old": {"at": -310},
            "from the future": {"at": 310},
    }.items():
        assert send(page, **options) == 401, what
    for name, options in {"no id": {"webhook_id": None}, "no time": {"webhook_timestamp": None},
                          "a time of letters": {"webhook_timestamp": "1x"}}.items():
        assert send(page, change=options) in (400, 401), name
    for name in ("../evt_1", "evt_1/2", "a b"):  # signed, so only by someone who has the secret
        assert send(page, name=name) in (204, 400), name
    before = len(page.worked_on())
    taken = {"fresh": {}, "5 minutes old, nearly": {"at": -290}, "signed by two": {"more": "v1,AAAA "}}
    for number, (what, options) in enumerate(taken.items()):
        assert send(page, event(ref=f"order-{number + 2}"), **options) == 204, what
    assert len(page.worked_on()) == before + len(taken)


def test_a_duplicate_is_worked_on_once(page):
    page.start(SECRET)
    for _ in range(3):
        assert send(page, name="evt_" + "a" * 42) == 204
    assert [one[0] for one in page.worked_on()] == ["evt_" + "a" * 42]


def test_php_ignores_lower_numbers(tmp_path, server):
    page = Php(tmp_path, server)
    try:
        page.start(SECRET)
        for number in (1, 2, 1, 4, 3, 4):
            assert send(page, event(number), name=f"evt_{number}") == 204
        assert send(page, event(1, "another"), name="evt_another") == 204
        assert [one[0] for one in page.worked_on()] == ["evt_1", "evt_2", "evt_4", "evt_another"]
    finally:
        page.stop()


def test_shell_keeps_no_key_on_a_command_line():
    """Other users see commands: key and secret are expanded only in what the shell does by itself."""
    for line in block("sh").splitlines():
        if re.search(r"\$\{?(secret|key|rest|byte)\b", line):
            builtin = ("key=$(printf ", "rest=$key$(printf ", "[ ", "while [ ", "byte=", 'printf ')
            assert line.strip().startswith(builtin), line
    assert shutil.which("openssl") and "jq" not in block("sh")


def test_behind_a_real_server(page, server):
    """Charge, partial refund and test event arrive, each verified by the page's receiver and taken at the first try."""
    httpd = server(extra=INSECURE)
    shop = httpd.shop()
    shop.webhook(f"http://127.0.0.1:{page.port}/hook")
    page.start(shop.webhook_secret())
    ref = "order-1001"
    assert shop.charge(reference=ref).status == 200
    shop.refund(ref, "10")
    both = [["transaction", "successful"], ["refund", "processed"]]
    wait_for(lambda: [one[1:] for one in page.worked_on()] == both, "both events")
    httpd.ctl("webhook", "test", shop.name, "--mode", "test")
    assert page.worked_on()[-1][1:] == ["test_assess", "test"]
    assert shop.events() == []
