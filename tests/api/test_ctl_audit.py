# SPDX-License-Identifier: Apache-2.0
"""Every command that changes something leaves an entry in the audit; paymentsctl audit list."""

import csv
import io
import itertools
import json
import os
import pwd
import re

import pytest

from ctl_program import FAKE_KEY, TEST_CARD, TEST_MODE, TEST_SECRET, TIME, Ctl, record
from harness import Httpd, first_status, reference, wait_for
from mail_server import Relay

MARK = "leave an entry in the audit"
HOST = ("--host", "pay.example.com")
ME = f"{pwd.getpwuid(os.getuid()).pw_name} (uid {os.getuid()}"


def marked(ctl):
    """The commands whose own help says that they leave an entry."""
    lines = ctl.ok("--help", store=False).split("Commands:\n")[1].split("\n\n")[0].splitlines()
    names = [line[2:27].strip() for line in lines]
    assert len(names) > 40
    return {name for name in names if MARK in " ".join(ctl.ok(*name.split(), "--help", store=False).split())}


def entries(ctl, *args):
    return ctl.json("audit", "list", *args)


def newest(ctl, *args):
    return entries(ctl, *args, "--limit", "1")[0]


# --- each command that changes something ---

def test_every_marked_command_is_tried_here(ctl):
    assert marked(ctl) == set(RUNS) - {"encryption-key create"} | {"encryption-key show", "refund link"}, \
        "show makes a key where there is none; the last one's is seen in test_linking.py"


class Bench:
    """A store with accounts, keys and what the commands change."""

    secret = None  # what no entry may hold

    def __init__(self, httpd, tmp_path):
        self.httpd, self.shop, self.tmp = httpd, httpd.shop(), tmp_path
        self.ctl, self.name = Ctl(httpd.store), self.shop.name

    def run(self, *args, **kwargs):
        return self.ctl.ok(*args, **kwargs).strip()

    def key_id(self):
        return self.ctl.json("key", "create", self.name, *TEST_SECRET)["id"]

    def file(self, *records):
        path = self.tmp / "records.json"
        path.write_text(json.dumps(records))
        return path

    def charge(self, **fields):
        ref = reference()
        assert self.shop.charge(reference=ref, **fields).status == first_status(**fields)
        return ref

    def event(self):
        """The id of an event that cannot be delivered."""
        self.run("webhook", "set", self.name, "http://127.0.0.1:1/hook?secret=1", *TEST_MODE)
        self.run("refund", "create", self.name, *TEST_MODE, "--reference", self.charge(), "--amount", "1.00")
        return wait_for(lambda: self.ctl.json("event", "list", self.name, *TEST_MODE), "an event")[0]["id"]

    def decided(self):
        """A charge that a person decides before reconciliation does."""
        def decide():
            ref = self.charge(token="tok_test_timeout")
            done = self.ctl.run("charge", "resolve", self.name, ref, *TEST_MODE, "--outcome", "failed", "--reason", "no")
            return ref if done.returncode == 0 else None
        return wait_for(decide, "a decision before reconciliation's")

    def resolved_refund(self):
        self.run("refund", "import", self.name, self.file(record(1, status="pending")), *TEST_MODE)
        self.run("refund", "resolve", self.name, "re-1", *TEST_MODE, "--outcome", "processed", "--reason", "seen")

    def with_token(self, *more):
        token = self.run("token", "create", self.name, *TEST_MODE, *TEST_CARD)
        if more:
            self.run("token", "revoke", self.name, token, *TEST_MODE)
        return token


def account_create(bench):
    bench.name = f"{bench.name}-2"
    bench.run("account", "create", bench.name)


def account_mode(bench):
    bench.run("account", "mode", bench.name, "live")


def account_set(bench):
    bench.run("account", "set", bench.name, "--currency", "EUR", "--shop-name", "Ada's")


def account_grant(bench):
    bench.run("account", "grant", bench.name, "bob", *HOST, "--role", "owner")


def account_revoke(bench):
    account_grant(bench)
    bench.run("account", "revoke", bench.name, "bob", *HOST)


def key_create(bench):
    bench.secret = bench.run("key", "create", bench.name, *TEST_SECRET)


def key_import(bench):
    bench.secret = FAKE_KEY
    bench.run("key", "import", bench.name, *TEST_SECRET, stdin=FAKE_KEY + "\n")


def key_revoke(bench):
    bench.run("key", "revoke", bench.key_id())


def key_rotate(bench):
    bench.secret = bench.run("key", "rotate", bench.key_id(), "--overlap", "1h")


def token_create(bench):
    bench.secret = bench.with_token()


def token_revoke(bench):
    bench.secret = bench.with_token("revoked")


def refund_create(bench):
    bench.run("refund", "create", bench.name, *TEST_MODE, "--reference", bench.charge(), "--amount", "4")


def refund_import(bench):
    bench.run("refund", "import", bench.name, bench.file(record(1), record(2)), *TEST_MODE)


def refund_sync(bench):
    bench.run("refund", "sync", bench.name, "--mode", "live", "--from", "2026-01-01", "--to", "2026-01-02", "--no-wait")


def webhook_set(bench):
    bench.secret = "hook?"
    bench.run("webhook", "set", bench.name, "https://shop.example/hook?secret=1", *TEST_MODE)


def webhook_secret_rotate(bench):
    webhook_set(bench)
    bench.secret = bench.run("webhook", "secret", "rotate", bench.name, *TEST_MODE)


def webhook_test(bench):
    bench.run("webhook", "set", bench.name, "http://127.0.0.1:1/", *TEST_MODE)
    assert bench.ctl.run("webhook", "test", bench.name, *TEST_MODE).returncode in (3, 4)


def event_retry(bench):
    bench.run("event", "retry", bench.name, bench.event(), *TEST_MODE)


def event_drop(bench):
    bench.run("event", "drop", bench.name, bench.event(), *TEST_MODE)


def mail_set(bench):
    bench.secret = "till@"
    bench.run("mail", "set", bench.name, "--merchant-address", "till@shop.example", "--receipts", "on")


def mail_test(bench):
    mail_set(bench)
    bench.run("mail", "test", bench.name, *TEST_MODE)


def encryption_key_show(bench):
    """Which makes the key where there is none."""
    bench.run("encryption-key", "show", bench.name, *TEST_MODE)


def encryption_key_renew(bench):
    bench.run("encryption-key", "renew", bench.name, *TEST_MODE)


def rotate_master_key(bench):
    """In a store of its own, for a server would have to be reloaded."""
    bench.ctl = Ctl(bench.tmp / "store")
    bench.run("account", "create", bench.name)
    webhook_set(bench)
    bench.run("store", "rotate-master-key")
    bench.name = None


def store_confirm(bench):
    """In a copy, which was put back as a store of its own."""
    bench.run("store", "backup", str(bench.tmp / "copy"))
    bench.ctl, bench.name = Ctl(bench.tmp / "copy"), None
    bench.run("store", "confirm", "--yes", "--unsynced")


def link_create(bench):
    bench.run("link", "create", bench.name, *TEST_MODE, "--reference", "shoes", "--amount", "10", "--currency", "NGN")


def link_disable(bench):
    link_create(bench)
    bench.run("link", "disable", bench.name, "shoes", *TEST_MODE)


def payer_erase(bench):
    bench.charge()
    bench.run("payer", "erase", bench.name, "--email", "ada@example.com", "--yes")


def account_reset(bench):
    bench.charge()
    bench.run("account", "reset", bench.name, *TEST_MODE, "--yes")


# What is done, and what the newest entry then says of it: subject and detail.
RUNS = {
    "account create": (account_create, r".+-2", ""),
    "account mode": (account_mode, r".+", "test -> live"),
    "account set": (account_set, r".+", "currency NGN -> EUR, shop name"),
    "account grant": (account_grant, "bob", "pay.example.com: none -> owner"),
    "account revoke": (account_revoke, "bob", "pay.example.com: owner -> none"),
    "key create": (key_create, "key_.+", "test secret"),
    "key import": (key_import, "key_.+", "test secret"),
    "key revoke": (key_revoke, "key_.+", "test secret"),
    "key rotate": (key_rotate, "key_.+", "test secret, now key_.+"),
    "token create": (token_create, r"card \.\.\.4444", "test"),
    "token revoke": (token_revoke, r"card \.\.\.4444", "test"),
    "charge resolve": (Bench.decided, "ref-.+", "test: failed: no"),
    "refund create": (refund_create, ".+", "test: 4.00 NGN of ref-.+"),
    "refund import": (refund_import, "records.json", "test: 2 records"),
    "refund resolve": (Bench.resolved_refund, "re-1", "test: processed: seen"),
    "refund sync": (refund_sync, "2026-01-01 to 2026-01-02", "live"),
    "webhook set": (webhook_set, "webhook", "test: https://shop.example:443"),
    "webhook secret rotate": (webhook_secret_rotate, "webhook secret", "test: the old one signs as well for a while"),
    "webhook test": (webhook_test, "webhook", "test"),
    "event retry": (event_retry, "evt_.+", "test"),
    "encryption-key create": (encryption_key_show, "encryption key", "test"),
    "encryption-key renew": (encryption_key_renew, "encryption key", "test"),
    "event drop": (event_drop, "evt_.+", "test"),
    "mail set": (mail_set, "mail", "merchant address set, receipts on"),
    "mail test": (mail_test, "mail", "test"),
    "link create": (link_create, "shoes", "test"),
    "link disable": (link_disable, "shoes", "test"),
    "payer erase": (payer_erase, "", "both modes"),
    "account reset": (account_reset, "", "test"),
    "store confirm": (store_confirm, "", "unsynced"),
    "store rotate-master-key": (rotate_master_key, "master key", r"\d+ sealed anew"),
}


@pytest.fixture(scope="module")
def relayed():
    """A server that can send e-mails."""
    with Relay() as relay:
        httpd = Httpd(mpm="event", extra=f"PaymentsMailRelay {relay.url}\nPaymentsMailFrom pay@shop.example\n").start()
        yield httpd
        httpd.close()


@pytest.mark.parametrize("name", RUNS)
def test_change_leaves_an_entry(relayed, tmp_path, name):
    run, subject, detail = RUNS[name]
    bench = Bench(relayed, tmp_path)
    run(bench)
    entry = newest(bench.ctl, bench.name) if bench.name else entries(bench.ctl)[0]
    assert (entry["what"], entry["account"]) == (name, bench.name)
    assert re.fullmatch(subject, entry["subject"]) and re.fullmatch(detail, entry["detail"]), entry
    assert TIME.fullmatch(entry["at"]) and entry["who"].startswith(ME) and entry["from"].startswith("paymentsctl")
    if bench.secret:
        assert bench.secret not in bench.run("audit", "list", "--json")
    assert bench.run("store", "check") == ""


def test_each_parked_event_has_an_entry(server):
    """--all is as many changes as there are events."""
    with Relay() as relay:
        httpd = server(mpm="event", extra=f"PaymentsMailRelay {relay.url}\nPaymentsMailFrom a@b.example\n")
        httpd.expect_log("PAY00264")
        shop, ctl = httpd.shop(), Ctl(httpd.store)
        relay.refuse("RCPT", *["550 Nobody here"] * 3)
        ctl.ok("mail", "set", shop.name, "--receipts", "on", "--test-recipient", "@example.com")
        for _ in range(3):
            assert shop.charge(reference=reference()).status == 200
        parked = wait_for(lambda: len(ids := [one["id"] for one in ctl.json(
            "event", "list", shop.name, *TEST_MODE, "--parked")]) == 3 and ids, "the refused receipts")
        before = len(entries(ctl, shop.name))
        assert ctl.json("event", "drop", shop.name, "--all", *TEST_MODE) == {"dropped": 3}
        told = entries(ctl, shop.name)[:3]
        assert {one["subject"] for one in told} == set(parked) and {one["what"] for one in told} == {"event drop"}
        assert len(entries(ctl, shop.name)) == before + 3


# --- what leaves none ---

def test_refused_or_as_it_was(ctl):
    ctl.ok("account", "grant", "shop", "bob", *HOST, "--role", "owner")
    key = ctl.json("key", "create", "shop", *TEST_SECRET)["id"]
    ctl.ok("key", "revoke", key)
    shop = ctl.json("account", "show", "shop")
    settings = (["webhook", "set", "shop", "https://shop.example/hook", *TEST_MODE], ["mail", "set", "shop", "--receipts", "on"],
                ["webhook", "set", "shop", "off", *TEST_MODE], ["mail", "set", "shop", "--receipts", "off"])
    for line in settings:
        ctl.ok(*line)
        before = entries(ctl)
        assert ctl.ok(*line) and entries(ctl) == before
    before = entries(ctl)
    ctl.ok("account", "grant", "shop", "bob", *HOST, "--role", "owner")
    assert ctl.json("account", "mode", "shop", "test").items() <= shop.items()
    assert ctl.json("account", "set", "shop", "--currency", "NGN", "--shop-name", "").items() <= shop.items()
    ctl.ok("key", "revoke", key)
    ctl.refused(3, "key", "rotate", key)
    ctl.refused(3, "account", "create", "shop")
    ctl.refused(3, "account", "revoke", "shop", "eve", *HOST)
    ctl.refused(3, "charge", "resolve", "shop", "none", *TEST_MODE, "--outcome", "failed", "--reason", "x")
    for read in (["account", "list"], ["key", "list"], ["totals", "shop", *TEST_MODE, "--by", "day"], ["store", "stat"]):
        ctl.ok(*read)
    assert ctl.run("event", "deliver", "--once").returncode == 0
    assert entries(ctl) == before


# --- who, and from where ---

@pytest.mark.parametrize("env, who, where", [
    pytest.param({}, "", "", id="nothing is known"),
    pytest.param({"SUDO_USER": "ada"}, ", sudo by ada", "", id="by sudo"),
    pytest.param({"SUDO_USER": ""}, "", "", id="an empty name"),
    pytest.param({"SSH_CONNECTION": "192.0.2.7 50000 198.51.100.1 22"}, "", " 192.0.2.7", id="by SSH"),
    pytest.param({"SSH_CONNECTION": "a\x1bb " + "x" * 1000}, "", " a?b", id="what is no address"),
    pytest.param({"SSH_CONNECTION": "x" * 1000}, "", " " + "x" * 500, id="longer than an entry"),
])
def test_who_and_from_where(ctl, env, who, where):
    if os.getuid() != 0:
        who = ""  # only root's word is taken
    clean = {"SUDO_USER": "", "SSH_CONNECTION": ""}
    ctl.ok("account", "mode", "shop", "live", env={**clean, **env})
    entry = newest(ctl, "shop")
    assert (entry["who"], entry["from"]) == (f"{ME}{who})", f"paymentsctl{where}")


# --- the list ---

def test_list(ctl):
    assert [one["what"] for one in entries(ctl)] == ["account create"]
    ctl.ok("account", "create", "stall")
    for mode in ("live", "test", "live"):
        ctl.ok("account", "mode", "shop", mode)
    ctl.ok("account", "mode", "stall", "live")
    assert [one["detail"] for one in entries(ctl, "shop")] == ["test -> live", "live -> test", "test -> live", ""]
    assert [one["account"] for one in entries(ctl)] == ["shop"] * 4 + ["stall"] * 2
    assert len(entries(ctl, "--limit", "3")) == 3
    rows = list(csv.DictReader(io.StringIO(ctl.ok("audit", "list", "shop", "--format", "csv"))))
    assert [dict(row) for row in rows] == entries(ctl, "shop")
    assert list(entries(ctl, "shop")[0]) == ["account", "at", "who", "from", "what", "subject", "detail"]
    assert "account mode" in ctl.ok("audit", "list", "shop")


def test_range(ctl):
    first = newest(ctl, "shop")["at"]
    modes = itertools.cycle(["live", "test"])
    wait_for(lambda: ctl.json("account", "mode", "shop", next(modes))["updatedAt"] > first, "a later millisecond")
    later = newest(ctl, "shop")["at"]
    assert [one["at"] for one in entries(ctl, "shop", "--to", first)] == [first]
    assert first not in [one["at"] for one in entries(ctl, "shop", "--from", later)]
    assert entries(ctl, "--from", "2999-01-01") == entries(ctl, "--to", "2000-01-01") == []
    assert entries(ctl, "--from", first[:10], "--to", later[:10]) == entries(ctl)


@pytest.mark.parametrize("code, args", [
    (3, ["none"]), (6, ["No such"]), (6, ["--limit", "0"]), (6, ["--from", "soon"]), (2, ["shop", "again"]),
    (6, ["--from", "2026-02-01", "--to", "2026-01-01"]), (6, ["--format", "xml"]),
], ids=lambda value: " ".join(value) if isinstance(value, list) else None)
def test_list_wrong(ctl, code, args):
    ctl.refused(code, "audit", "list", *args)
