# SPDX-License-Identifier: Apache-2.0
"""A store that is restored from a backup, or copied, while the acquirer knows more: nothing is refunded twice."""

import os
import re
import shutil
from datetime import datetime, timedelta, timezone

import pytest

from ctl_program import Ctl
from fixtures import close_all
from harness import TOP, wait_for
from payer import Checkout
from raw_lmdb import Raw
from receiver import ALLOW, Receiver
from test_ctl_live import Later
from test_docs_live import Shell
from test_page_live import at_acquirer
from upstream import Till, Upstream, live_reference
from upstream_proxy import Proxy, closed_unanswered, own

LIVE = ("--mode", "live")
PUT_BACK = "PAY00700"
HOUR = 3600


def day(days=0):
    return str((datetime.now(timezone.utc) + timedelta(days=days)).date())


def own_as(like, store):
    """Root's copy is given to the server's user."""
    owner = os.stat(like)
    for path in (store, *store.iterdir()):
        os.chown(path, owner.st_uid, owner.st_gid)


class Place:
    """A server of one live shop, its store, and copies of it."""

    def __init__(self, httpd, proxy):
        self.httpd, self.proxy, self.shop = httpd, proxy, httpd.live_shop
        self.ctl = Ctl(httpd.store)
        self.backup = httpd.root / "backup"

    def charged(self, **fields):
        ref = live_reference()
        assert self.shop.charge(reference=ref, **fields).status == 200
        return ref

    def stopped(self):
        self.httpd.stop()
        self.httpd.process = None

    def put_back(self, copy=None):
        """What a person does with a server that is stopped."""
        lost = self.httpd.root / f"lost-{live_reference()}"
        shutil.move(self.httpd.store, lost)
        shutil.move(copy or self.backup, self.httpd.store)
        own_as(lost, self.httpd.store)
        self.httpd.expect_log(PUT_BACK)

    def refund(self, ref, amount):
        return self.ctl.json("refund", "create", "shop", *LIVE, "--reference", ref, "--amount", amount)["refundReference"]

    def row(self, refund):
        return self.ctl.json("refund", "show", "shop", refund, *LIVE)

    def becomes(self, refund, status="processed"):
        return wait_for(lambda: (row := self.row(refund))["status"] == status and row, f"the refund to be {status}")

    def sync(self, start=-2, end=1):
        return self.ctl.json("refund", "sync", "shop", *LIVE, "--from", day(start), "--to", day(end))

    def brought(self):
        return {(row["account"], row["mode"], row["what"], row["which"])
                for row in self.ctl.json("store", "confirm")}

    def confirm(self, *options):
        return self.ctl.run("store", "confirm", "--yes", *options)

    def confirmed(self, *options):
        done = self.confirm(*options)
        assert done.returncode == 0 and "sent again" in done.stderr, done

    def well(self):
        done = self.ctl.run("store", "check")
        assert done.returncode == 0, done.stdout


@pytest.fixture
def place(till, proxy):
    return lambda **options: Place(till(**options), proxy)


def waiting(place, amount="4.00"):
    """A charge with a refund that waits, in the backup, and the server stopped."""
    ref = place.charged()
    place.stopped()
    refund = place.refund(ref, amount)
    place.ctl.ok("store", "backup", place.backup)
    return ref, refund


# --- refunds that wait ---

def test_sent_once(place, upstream):
    """The refund waits when the backup is made, is sent, and the backup put back: with no word, with Test Mode, with all."""
    here = place()
    ref, refund = waiting(here)
    here.httpd.start()
    tag = here.becomes(refund)["tag"]
    here.stopped()
    here.put_back()
    here.shop.mode("test")
    here.httpd.start()
    assert here.row(refund)["waiting"] is True
    here.shop.mode("live")
    here.sync()
    here.confirmed()
    assert here.becomes(refund)["tag"] == tag
    assert here.proxy.posts["refund", tag] == 1 and not here.proxy.repeated()
    assert here.shop.verify(ref)["refundedAmount"] == 4
    theirs = [row for row in upstream.rows("refund") if tag in (row["merchantNote"] or "")]
    assert [row["amount"] for row in theirs] == ["4.00"]
    here.well()


def test_unsynced_asks_all_the_same(place):
    """Whoever confirms without a look: what waits is asked about by its tag, and not sent while nobody answers."""
    here = place()
    _, refund = waiting(here)
    here.httpd.start()
    here.becomes(refund)
    here.stopped()
    here.put_back()
    here.httpd.start()
    here.httpd.expect_log("PAY00400")
    here.proxy.fail(own(500, "out of order", "text/html"), "list")
    here.confirmed("--unsynced")
    asked = len(here.proxy.of("list"))
    here.proxy.wait("list", asked + 1)
    assert here.row(refund)["status"] == "pending" and not here.proxy.repeated()
    here.proxy.heal()
    here.becomes(refund)
    assert not here.proxy.repeated()


def test_test_mode(place):
    """While the account is in Test Mode, waiting payments are neither sent nor queried; pending ones are queried."""
    here = place()
    ref, lost = here.charged(), live_reference()
    here.httpd.expect_log("PAY00203|PAY00400")
    here.proxy.fail(own(500, "out of order", "text/html"), "query")
    here.proxy.next("charge", closed_unanswered())
    assert here.shop.charge(reference=lost).status == 202
    here.stopped()
    refund = here.refund(ref, "4.00")
    here.shop.mode("test")
    here.proxy.forget()
    here.proxy.fail(own(500, "out of order", "text/html"), "query")
    here.httpd.start()
    here.proxy.wait("query", 2)
    row = wait_for(lambda: (row := here.row(refund))["nextQuestionAt"] > row["createdAt"] and row, "it to be looked at")
    assert row["waiting"] is True and not here.proxy.of("refund") and not here.proxy.of("list")


def test_started_beside(till, proxy, upstream):
    """A copy beside the original, both at one acquirer: one of them sends, the other finds out."""
    first = Place(till(), proxy)
    ref, refund = waiting(first, "5.00")
    second = Place(till(start=False), proxy)
    shutil.rmtree(second.httpd.store)
    shutil.copytree(first.httpd.store, second.httpd.store, ignore=shutil.ignore_patterns("lock.mdb"))
    own_as(first.httpd.store, second.httpd.store)
    second.httpd.expect_log(PUT_BACK)
    second.httpd.start()
    first.httpd.start()
    first.becomes(refund)
    second.httpd.live_shop.secret = first.shop.secret
    said = second.shop.partial(ref, "1.00")
    assert said.status == 503 and int(said.header("Retry-After")) > 0 and "restored" in said.json["message"], said
    assert second.row(refund)["waiting"] is True
    assert ("shop", "live", "refund", refund) in second.brought()
    second.confirmed("--unsynced")
    second.becomes(refund)
    assert not proxy.repeated()
    assert second.shop.partial(ref, "1.00").json["status"] == "processed"
    assert first.shop.verify(ref)["refundedAmount"] == second.shop.verify(ref)["refundedAmount"] - 1 == 5


# --- held payments, and the end of the hold ---

def test_hold(place, upstream):
    """Charges go on, refunds are 503 before they are written; the list, the refusal, and one entry in the audit."""
    here = place()
    ref = here.charged()
    revoked = here.ctl.json("key", "create", "shop", *LIVE, "--kind", "secret")["id"]
    here.ctl.ok("token", "create", "shop", "--mode", "test", "--card", "5555555555554444", "--email", "a@example.com")
    here.ctl.ok("account", "grant", "shop", "ada", "--host", "pay.example.com", "--role", "owner")
    here.ctl.ok("store", "backup", here.backup)
    here.ctl.ok("key", "revoke", revoked)
    here.stopped()
    here.put_back()
    here.httpd.start()
    said = here.shop.partial(ref, "4.00", headers={"Idempotency-Key": "k-1"})
    assert said.status == 503 and said.json["data"]["responseCode"] == "E2" and said.header("Retry-After"), said
    assert here.shop.rows("refund") == [] and not here.proxy.of("refund")
    later = here.charged(amount="20.00")
    assert here.shop.verify(later)["status"] == "successful"
    brought = here.brought()
    assert ("shop", "live", "key", revoked) in brought
    assert ("shop", "test", "tokens", "1") in brought
    assert ("shop", None, "grant", "ada on pay.example.com") in brought
    assert ("shop", "live", "sync", "not fetched since") in brought
    assert [line for line in here.httpd.log_text().splitlines() if PUT_BACK in line and "1 tokens" in line], "told once"
    done = here.confirm()
    assert done.returncode == 3 and re.search(r"refund sync shop --mode live --from \d", done.stderr), done
    command = re.search(r"'paymentsctl (refund sync .*?)'", done.stderr)[1].split()
    here.ctl.ok(*command)
    assert ("shop", "live", "sync", "fetched since") in here.brought()
    here.confirmed()
    assert "nothing to confirm" in here.confirm().stderr
    assert here.shop.partial(ref, "4.00", headers={"Idempotency-Key": "k-1"}).json["status"] == "processed"
    entries = here.ctl.json("audit", "list")
    assert [row["what"] for row in entries].count("store confirm") == 1
    here.stopped()
    here.httpd.start()
    assert here.shop.partial(ref, "1.00").json["status"] == "processed", "it is no copy any more"
    here.well()


def test_damaged_where_it_is_listed(place):
    """A row that says how far refunds were fetched, and cannot be read: no list that looks whole, and no confirmation."""
    here = place()
    here.charged()
    here.ctl.ok("store", "backup", here.backup)
    here.stopped()
    here.put_back()
    with Raw(here.httpd.store) as raw:
        raw.begin()
        raw.put("meta", b"history/" + raw.get("account_name", b"shop") + b"\x01", b"\xff")
        raw.commit()
    own_as(here.httpd.store / "data.mdb", here.httpd.store)
    for options in ([], ["--yes"]):
        done = here.ctl.run("store", "confirm", *options)
        assert done.returncode == 7 and done.stderr, (options, done)


def test_in_test_mode_when_it_is_confirmed(place):
    """An account that leaves Live Mode for that time and comes back has the same to fetch, and can."""
    here = place()
    ref = here.charged()
    here.ctl.ok("store", "backup", here.backup)
    key = {"Idempotency-Key": "order-4-refund"}
    assert here.shop.partial(ref, "4.00", headers=key).json["status"] == "processed"
    here.stopped()
    here.put_back()
    here.httpd.start()
    here.shop.mode("test")
    assert ("shop", "live", "sync", "not fetched since") in here.brought()
    done = here.confirm()
    assert done.returncode == 3 and "account shop" in done.stderr, done
    here.sync()
    here.confirmed()
    here.shop.mode("live")
    said = here.shop.partial(ref, "4.00", headers=key)
    assert said.status == 409 and said.json["data"]["responseCode"] == "R5", said


def test_options(place):
    done = Ctl(place(start=False).httpd.store).run("store", "confirm", "--unsynced")
    assert done.returncode == 2 and "--yes" in done.stderr


def test_backup_of_a_clock_that_was_ahead(till, proxy):
    """Its times all lie ahead of the restore; a sync that was asked for since counts, one from before it does not."""
    httpd = till(start=False, sync="10s", **Later.options)
    clock = Later(httpd)
    clock.put(20 * HOUR)  # certificates of the tests end after a day
    httpd.expect_log("PAY00710")
    here = Place(httpd.start(), proxy)
    here.charged()
    wait_for(lambda: proxy.of("list"), "a round")
    here.ctl.ok("store", "backup", here.backup)
    here.stopped()
    clock.put(0)
    here.put_back()
    httpd.start()
    assert here.confirm().returncode == 3
    here.sync(-8)
    here.confirmed()


def test_rounds_count(till, proxy):
    """The server's own round, begun since, is as good as refund sync."""
    httpd = till(start=False, sync="10s", **Later.options)
    clock = Later(httpd)
    here = Place(httpd.start(), proxy)
    here.charged()
    wait_for(lambda: proxy.of("list"), "a round")
    here.ctl.ok("store", "backup", here.backup)
    here.stopped()
    here.put_back()
    clock.put(20)  # the next one is due
    httpd.start()
    wait_for(lambda: ("shop", "live", "sync", "fetched since") in here.brought(), "the next round")
    here.confirmed()


# --- refunds that a client repeats ---

def test_repeated_after_the_restore(place, upstream):
    """Its key is gone with the row; what was fetched since says that it was made."""
    here = place()
    ref = here.charged()
    here.ctl.ok("store", "backup", here.backup)
    key = {"Idempotency-Key": "order-1-refund"}
    made = here.shop.partial(ref, "4.00", headers=key)
    assert made.json["status"] == "processed"
    here.stopped()
    here.put_back()
    here.httpd.start()
    here.sync()
    here.confirmed()
    (fetched,) = [row for row in here.shop.rows("refund") if row["transactionReference"] == ref]
    for headers in (key, {"Idempotency-Key": "another"}, {}):
        said = here.shop.partial(ref, "4.00", headers=headers)
        assert (said.status, said.json["data"]["responseCode"]) == (409, "R5"), said
        assert fetched["refundReference"] in said.json["message"]
    assert here.shop.partial(ref, "1.00", headers=key).json["status"] == "processed", "nothing is kept of a refusal"
    meant = here.refund(ref, "4.00")
    here.becomes(meant)
    assert here.shop.verify(ref)["refundedAmount"] == 9
    here.well()


def test_repeated_while_the_clock_is_wrong(till, proxy):
    """A day since the restore is over when it is, and not when a clock says so."""
    httpd = till(start=False, **Later.options)
    clock = Later(httpd)
    here = Place(httpd.start(), proxy)
    ref = here.charged()
    here.ctl.ok("store", "backup", here.backup)
    key = {"Idempotency-Key": "order-2-refund"}
    assert here.shop.partial(ref, "4.00", headers=key).json["status"] == "processed"
    here.stopped()
    here.put_back()
    httpd.expect_log("PAY00150")
    httpd.start()
    here.sync()
    here.confirmed()
    for by in (0, 25 * HOUR, 365 * 24 * HOUR, -365 * 24 * HOUR):
        clock.put(by)
        said = here.shop.partial(ref, "4.00", headers=key)
        assert said.status == 409 and said.json["data"]["responseCode"] == "R5", (by, said)
    assert not proxy.repeated() and len(proxy.of("refund")) == 1


def test_repeated_after_a_weekend(till, proxy):
    """The day counts from when a refund can be asked for again: until the store is confirmed each is answered with 503."""
    httpd = till(start=False, clock=True)
    here = Place(httpd.start(), proxy)
    ref = here.charged()
    here.ctl.ok("store", "backup", here.backup)
    key = {"Idempotency-Key": "order-3-refund"}
    assert here.shop.partial(ref, "4.00", headers=key).json["status"] == "processed"
    here.stopped()
    here.put_back()
    httpd.start()
    httpd.expect_log("PAY00710")  # certificates of the tests end after a day: what is fetched is fetched before that
    here.sync()
    httpd.clock.pass_seconds(60 * HOUR)
    assert here.shop.partial(ref, "4.00", headers=key).status == 503
    assert httpd.ctl("store", "confirm", "--yes").returncode == 0
    httpd.clock.pass_seconds(23 * HOUR)
    said = here.shop.partial(ref, "4.00", headers=key)
    assert said.status == 409 and said.json["data"]["responseCode"] == "R5", said
    assert not proxy.repeated() and len(proxy.of("refund")) == 1


# --- what the acquirer has from before ---

def test_charge_whose_question_is_answered_later(authority):
    """A charge that was lost and is sent again is older at the acquirer than here: it is still ours."""
    upstream = Upstream(authority, clock=True).start()
    servers = [upstream]
    try:
        upstream.make_tokens()
        with Proxy(authority, upstream.port) as proxy:
            servers.append(Till(proxy.url, upstream.key, authority, clock=True).start())
            here = Place(servers[-1], proxy)
            here.ctl.ok("store", "backup", here.backup)
            ref = here.charged()
            here.stopped()
            here.put_back()
            for server in servers:
                server.clock.pass_seconds(600)
            here.httpd.start()
            here.httpd.expect_log("PAY00203|PAY00400|PAY00710")  # the proxy has a clock of its own
            proxy.next("query", own(500, "out of order", "text/html"))
            assert here.shop.charge(reference=ref).status == 202
            wait_for(lambda: here.shop.verify(ref)["status"] == "successful", "the charge to be found")
            assert here.ctl.json("held", "list") == [] and len(upstream.rows("charge")) == 1
    finally:
        close_all(reversed(servers))


def test_checkout_that_was_paid(place, upstream):
    """Its page differs after the restore, and the acquirer refuses it: it is asked for the outcome of the first."""
    here = place()
    here.ctl.ok("store", "backup", here.backup)
    first = Checkout(here.shop)
    assert at_acquirer(first, upstream).card("approved").kind == "approved"
    here.stopped()
    here.put_back()
    here.httpd.start()
    again = Checkout(here.shop, reference=first.reference)
    assert again.status() == "successful" and again.state()["card"]["last4Digits"]
    here.well()


# --- events for receivers ---

def test_events(till, proxy, authority):
    """Ids and numbers of the second history are new; events not yet sent at the time of the copy arrive unchanged."""
    with Receiver(authority.context("good")) as receiver:
        httpd = till(extra=f"{ALLOW}PaymentsTrustedCA {authority.file}\n")
        here = Place(httpd, proxy)
        here.shop.webhook(receiver.url(), mode="live")
        here.shop.webhook(receiver.url("/test"))
        ref = here.charged()
        here.shop.partial(ref, "1.00")
        receiver.wait_taken(2)
        wait_for(lambda: not here.shop.events(mode="live"), "the store to know that both were taken")
        here.ctl.ok("store", "backup", here.backup)
        assert here.shop.partial(ref, "4.00").json["status"] == "processed"
        receiver.wait_taken(3)
        here.stopped()
        here.put_back()
        httpd.start()
        here.charged(amount="3.00")
        assert here.shop.charge(key=here.shop.test_secret, token="tok_test_success").status == 200
        receiver.wait_taken(1, "/test")
        assert len(receiver.at("/hook")) == 3 and len(here.shop.events(mode="live")) == 1, "that of Live Mode waits"
        here.confirmed("--unsynced")
        assert here.shop.partial(ref, "2.00").json["status"] == "processed"
        told = receiver.wait_taken(5)
        assert len({one.id for one in told}) == len(told) == 5
        refunds = [one.json for one in told if one.what[0] == "refund"]
        assert [(one["data"]["amount"], one["sequence"]) for one in refunds[:2]] == [("1.00", 2), ("4.00", 3)]
        assert refunds[2]["data"]["amount"] == "2.00" and refunds[2]["sequence"] > 4096


# --- the page ---

def test_drill(till, proxy, tmp_path):
    """docs/operations.md, "Restoring a backup", line by line."""
    page = (TOP / "docs/operations.md").read_text()
    [text] = re.findall(r"^## Restoring a backup\n(.*?)^## ", page, re.S | re.M)
    [block] = re.findall(r"^```sh\n(.*?)^```$", text, re.S | re.M)
    here = Place(till(), proxy)
    ref, refund = waiting(here)
    here.httpd.start()
    here.becomes(refund)
    here.httpd.expect_log(PUT_BACK)
    shell = Shell(here.httpd, tmp_path, {"/var/lib/apache2/payments/shop": str(here.httpd.store),
                                         "/var/backups/payments": str(here.backup)})
    lines = block.splitlines()
    assert lines[0].startswith("export ") and len(lines) == 10
    said = {}
    for line in lines[1:]:
        if line == "apachectl stop":
            here.stopped()
        elif line == "apachectl start":
            here.httpd.start()
        else:
            said[line] = shell.run(lines[0] + "\n" + line)
    assert refund in said["paymentsctl store confirm"]
    assert here.becomes(refund) and not proxy.repeated()
    assert here.shop.verify(ref)["refundedAmount"] == 4
    here.well()
