# SPDX-License-Identifier: Apache-2.0
"""Calls of paymentsctl for the tests, and refund records to import."""

import json
import os
import re
import subprocess

from harness import PAYMENTSCTL, pairs_preload, run_ctl, setup_ctl

EVERY_CALL = bool(os.environ.get("PAYMENTS_EVERY_CALL"))
NOBODY = 65534
KEY = re.compile(r"pay_(test|live)(sk|pk)_[a-z0-9]{40,}")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
COMMANDS = {
    "account": ["create", "grant", "grants", "list", "mode", "reset", "revoke", "set", "show"],
    "audit": ["list"],
    "charge": ["list", "resolve", "show"],
    "encryption-key": ["renew", "show"],
    "event": ["deliver", "drop", "list", "retry", "show"],
    "held": ["list"],
    "key": ["create", "import", "list", "revoke", "rotate"],
    "link": ["create", "disable", "list", "show"],
    "mail": ["set", "show", "test"],
    "payer": ["erase"],
    "refund": ["create", "import", "link", "list", "resolve", "show", "sync"],
    "store": ["backup", "check", "confirm", "rotate-master-key", "stat", "upgrade"],
    "token": ["create", "list", "revoke"],
    "totals": [""],
    "webhook": ["secret rotate", "secret show", "set", "show", "test"],
}
WORDS = {word for noun, verbs in COMMANDS.items() for word in (noun, *" ".join(verbs).split())}
FAKE_KEY = "nc_testsk_" + "a1b2c3d4" * 5
EVENT = "evt_" + "01" + "0" * 40  # a well-formed id that no event has
TEST_MODE = ("--mode", "test")
TEST_SECRET = ("--mode", "test", "--kind", "secret")
TEST_CARD = ("--card", "5555555555554444", "--email", "Ada@Example.com")


CALLED = set()


def build_for(args):
    """If the tool has two builds, returns the one under test for a test's first call of a kind, else the quicker one.

    A kind is a command with its options: the unit tests under the sanitizers cover their values, and ./dev faults
    calls only the build under test.
    """
    if EVERY_CALL:
        return PAYMENTSCTL
    test = os.environ.get("PYTEST_CURRENT_TEST", "").partition("[")[0].partition(" ")[0]
    words = [str(arg) for arg in args]
    kind = (test, *(word for word in words[:3] if word in WORDS), *sorted(word for word in words if word.startswith("-")))
    if kind in CALLED:
        return setup_ctl(words)
    CALLED.add(kind)
    return PAYMENTSCTL


class Ctl:
    """The tool on a store. It makes quick pairs of RSA keys, unless a test asks for pairs like those of users."""

    def __init__(self, store, user=None, quick_pairs=True):
        self.store, self.user, self.quick_pairs = store, user, quick_pairs

    def run(self, *args, stdin="", store=True, env=None, stdout=subprocess.PIPE):
        line = [build_for(args)] + (["-s", f"lmdb:{self.store}"] if store else [])
        options = {"user": self.user, "group": self.user, "extra_groups": []} if self.user else {}
        clean = {name: value for name, value in os.environ.items() if name != "PAYMENTS_STORE"}
        if self.quick_pairs and args[:1] == ("encryption-key",):
            clean["LD_PRELOAD"] = pairs_preload(line[0])
        return subprocess.run(line + [str(arg) for arg in args], input=stdin, text=True, check=False,
                              stdout=stdout, stderr=subprocess.PIPE, timeout=300,
                              env={**clean, **(env or {})}, **options)

    def ok(self, *args, **kwargs):
        done = self.run(*args, **kwargs)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def json(self, *args, **kwargs):
        return json.loads(self.ok(*args, "--json", **kwargs))

    def refused(self, code, *args, **kwargs):
        """Expects one sentence on standard error, nothing on standard output; returns the sentence."""
        done = self.run(*args, **kwargs)
        assert done.returncode == code, (done.stdout, done.stderr)
        assert done.stdout == ""
        assert re.fullmatch(r"paymentsctl: [^\n]{10,}\n", done.stderr), done.stderr
        return done.stderr

    def key(self, *args):
        return self.ok("key", "create", *args).strip()


def with_accounts(store, *names):
    """The tool, and a store with these accounts, made like those of other tests."""
    for name in names:
        run_ctl(store, "account", "create", name)
    return Ctl(store)


def record(number, **fields):
    made = {"id": f"id-{number}", "refundReference": f"re-{number}", "amount": "500.00", "currency": "NGN",
            "domain": "test", "channel": "API", "merchantNote": None, "customerNote": "a \"}{\" \\ ,",
            "status": "processed", "transactionReference": f"tr-{number}",
            "createdAt": f"2026-01-{1 + number % 28:02}T10:00:00.000Z", "updatedAt": "2026-02-01T10:00:00.000Z"}
    made.update(fields)
    return made


def as_lines(records):
    return "\n".join(json.dumps(one) for one in records) + "\n"
