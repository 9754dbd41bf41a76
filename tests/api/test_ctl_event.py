# SPDX-License-Identifier: Apache-2.0
"""paymentsctl: events listed, retried, dropped and delivered without a server, test events, and who gets e-mails."""

import concurrent.futures
import csv
import io
import json
import os
import pathlib
import re
import signal
import subprocess
import time

import pytest

from ctl_program import EVENT, TEST_MODE, Ctl
from harness import PAYMENTSCTL, Httpd, reference, wait_for
from mail_server import Relay
from receiver import INSECURE, Receiver

LOOKS_S = 0.2  # in which a wait for an event looks several times
LIVE_MODE = ("--mode", "live")
MEMBERS = ["id", "notify", "notifyType", "to", "domain", "transaction", "sequence", "standing", "createdAt", "tries",
           "firstTryAt", "dueAt", "parkedAt", "answeredAt", "status", "error", "answer"]


class Desk:
    """A charge of 100.00 in a store whose server was stopped, and the receiver of its account's webhook."""

    def __init__(self, shop, ref, receiver):
        self.name, self.reference, self.receiver = shop.name, ref, receiver
        self.ctl = Ctl(shop.httpd.store)
        self.ctl.ok("webhook", "set", self.name, receiver.url(), *TEST_MODE)
        self.secret = self.ctl.ok("webhook", "secret", "show", self.name, *TEST_MODE).strip()

    def close(self):
        for one in reversed(self.events()):
            self.event("drop", one["id"])

    def refund(self, count):
        """So many refunds, and what is then to be delivered of them."""
        for number in range(count):
            self.ctl.ok("refund", "create", self.name, *TEST_MODE, "--reference", self.reference, "--amount", "1.00",
                        "--merchant-note", f"number {number}")
        return self.events()

    def events(self, *options):
        return self.ctl.json("event", "list", self.name, *TEST_MODE, *options)

    def deliver(self, text=None, **kwargs):
        done = self.ctl.run("event", "deliver", "--once", **kwargs)
        assert done.returncode == 0, done
        assert text is None or done.stdout == text, done
        return done

    def event(self, *args):
        return self.ctl.json("event", args[0], self.name, *args[1:], *TEST_MODE)

    def start(self, *args, env=None):
        """A command in the background."""
        return subprocess.Popen([PAYMENTSCTL, "-s", f"lmdb:{self.ctl.store}", *map(str, args)], env=env,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def charged(httpd):
    """An account and the reference of a charge of 100.00."""
    shop, ref = httpd.shop(), reference()
    assert shop.charge(reference=ref, amount="100.00").status == 200
    return shop, ref


@pytest.fixture(scope="module")
def stopped():
    """Charges of so many accounts in a store whose server delivered to loopback, and was stopped."""
    httpd = Httpd(mpm="event", extra=INSECURE)
    httpd.start()
    made = [charged(httpd) for _ in range(40)]
    httpd.stop()
    yield made
    httpd.close()


@pytest.fixture
def desk(stopped):
    with Receiver() as receiver:
        one = Desk(*stopped.pop(), receiver)
        yield one
        one.close()


# --- what waits ---

def test_list(desk):
    made = desk.refund(3)
    assert [list(one) for one in made] == [MEMBERS] * 3
    assert [(one["notify"], one["notifyType"], one["to"], one["domain"]) for one in made] \
        == [("refund", "processed", "webhook", "test")] * 3
    assert [(one["sequence"], one["standing"], one["tries"]) for one in made] \
        == [(1, "waiting", 0), (2, "behind", 0), (3, "behind", 0)]
    assert made[0]["dueAt"] and made[1]["dueAt"] is None and len({one["id"] for one in made}) == 3
    assert desk.events("--limit", 2) == made[:2]
    assert desk.events("--parked") == []
    assert desk.ctl.json("event", "list", desk.name, *LIVE_MODE) == []
    lines = desk.ctl.ok("event", "list", desk.name, *TEST_MODE).splitlines()
    assert lines[0].split()[:2] == ["ID", "EVENT"] and len(lines) == 4
    assert re.match(rf"{made[1]['id']} +refund processed +webhook +behind +0 +- +-$", lines[2])
    text = desk.ctl.ok("event", "list", desk.name, *TEST_MODE, "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert list(rows[0]) == MEMBERS
    assert rows == [{name: "" if value is None else str(value) for name, value in one.items()} for one in made]
    found = desk.ctl.json("store", "stat")
    assert (found["events"], found["parked"]) == (3, 0)
    assert re.search("^events not delivered +3$", desk.ctl.ok("store", "stat"), re.M)


def test_more_than_a_batch(server):
    """Batches of a thousand follow one another without a gap; what nobody can send waits, and is no failure."""
    httpd = server(mpm="event")
    httpd.expect_log("PAY00262")
    shop, ctl = httpd.shop(), Ctl(httpd.store)
    ctl.ok("mail", "set", shop.name, "--receipts", "on")

    def charge_some(count):
        connection = httpd.connect()
        return [shop.charge(connection=connection).status for _ in range(count)]

    with concurrent.futures.ThreadPoolExecutor() as shops:
        assert sum(shops.map(charge_some, [143] * 7), []) == [200] * 1001
    httpd.stop()
    made = ctl.json("event", "list", shop.name, *TEST_MODE)
    assert [(one["transaction"], one["to"], one["tries"]) for one in made] \
        == [(number, "receipt", 0) for number in range(1, 1002)]
    assert len({one["id"] for one in made}) == 1001
    assert ctl.json("event", "list", shop.name, *TEST_MODE, "--limit", 1001) == made
    ctl.ok("mail", "set", shop.name, "--receipts", "on")  # events that wait for it are checked again
    done = ctl.run("event", "deliver", "--once")
    assert (done.returncode, done.stdout) == (0, "0 delivered, 1001 waiting, 0 parked\n")
    assert "PaymentsMailRelay" in done.stderr


def test_show(desk):
    [made] = desk.refund(1)
    shown = desk.event("show", made["id"])
    assert list(shown) == [*MEMBERS, "reference", "refundReference", "body"]
    assert {name: shown[name] for name in MEMBERS} == made
    assert shown["reference"] == desk.reference
    assert shown["body"]["data"]["refundReference"] == shown["refundReference"]
    plain = desk.ctl.ok("event", "show", desk.name, made["id"], *TEST_MODE)
    desk.deliver("1 delivered, 0 waiting, 0 parked\n")
    [got] = desk.receiver.got
    assert got.check(desk.secret).id == made["id"]
    assert got.json == shown["body"] and list(got.json) == list(shown["body"])
    assert re.search(f"^body sent +{re.escape(got.body.decode())}$", plain, re.M), "the very bytes"
    assert "event list" in desk.ctl.refused(3, "event", "show", desk.name, made["id"], *TEST_MODE)


@pytest.mark.parametrize("verb", ["show", "retry", "drop"])
def test_no_such_event(desk, verb):
    [made] = desk.refund(1)
    forged = made["id"][:-1] + ("0" if made["id"][-1] != "0" else "1")
    for code, event, mode in ((3, EVENT, TEST_MODE), (3, forged, TEST_MODE), (3, made["id"], LIVE_MODE),
                              (6, "cheese", TEST_MODE), (6, made["id"][:-1], TEST_MODE), (6, "", TEST_MODE),
                              (6, made["id"].upper(), TEST_MODE), (5, made["id"] + "0", TEST_MODE)):
        desk.ctl.refused(code, "event", verb, desk.name, event, *mode)
    desk.ctl.refused(3, "event", verb, "none", made["id"], *TEST_MODE)
    assert desk.events() == [made]


@pytest.mark.parametrize("verb", ["retry", "drop"])
def test_one_or_all(desk, verb):
    assert "--all" in desk.ctl.refused(2, "event", verb, desk.name, *TEST_MODE)
    assert "--all" in desk.ctl.refused(2, "event", verb, desk.name, EVENT, *TEST_MODE, "--all")


def test_retry_and_drop_one(desk):
    """What failed is due again at once, in its turn; what is dropped lets the next go."""
    desk.receiver.default = 500
    desk.receiver.text = b"no \x1b[31msuch \xe2\x80\xaeorder\n"
    first, second, third = desk.refund(3)
    desk.deliver("0 delivered, 3 waiting, 0 parked\n")
    failed = desk.events()[0]
    assert (failed["tries"], failed["status"], failed["standing"]) == (1, 500, "waiting")
    assert failed["dueAt"] > first["dueAt"] and failed["answer"].startswith("no ")
    shown = desk.ctl.ok("event", "show", desk.name, first["id"], *TEST_MODE)
    assert "\x1b" not in shown and "\u202e" not in shown and "such ???order" in shown
    desk.deliver("0 delivered, 3 waiting, 0 parked\n")
    assert len(desk.receiver.got) == 1, "it was not due"
    assert "earlier" in desk.ctl.refused(3, "event", "retry", desk.name, second["id"], *TEST_MODE)
    again = desk.event("retry", first["id"])
    assert (again["id"], again["tries"], again["standing"]) == (first["id"], 0, "waiting")
    desk.deliver("0 delivered, 3 waiting, 0 parked\n")
    assert len(desk.receiver.got) == 2
    assert desk.event("drop", first["id"])["id"] == first["id"]
    assert [(one["id"], one["standing"]) for one in desk.events()] \
        == [(second["id"], "waiting"), (third["id"], "behind")]
    desk.receiver.default = 200
    desk.event("drop", third["id"])
    desk.deliver("1 delivered, 0 waiting, 0 parked\n")
    assert [one.id for one in desk.receiver.got] == [first["id"], first["id"], second["id"]]
    assert desk.ctl.run("store", "check").returncode == 0


def test_retry_and_drop_all(server):
    """--all takes what is parked, and nothing else."""
    with Relay() as relay, Receiver() as receiver:
        httpd = server(mpm="event", extra=INSECURE + f"PaymentsMailRelay {relay.url}\nPaymentsMailFrom a@b.example\n")
        shop, ref = charged(httpd)
        desk = Desk(shop, ref, receiver)
        desk.ctl.ok("mail", "set", desk.name, "--receipts", "on", "--test-recipient", "@shop.example")
        receiver.default = 500
        relay.refuse("RCPT", *["550 Nobody"] * 3)
        httpd.expect_log("PAY00264")
        for number in range(3):
            assert shop.charge(email=f"payer-{number}@shop.example").status == 200
        wait_for(lambda: len(desk.events("--parked")) == 3, "the refused receipts")
        httpd.stop()
        assert {one["status"] for one in desk.events("--parked")} == {550}
        assert len(desk.events()) == 6
        assert desk.ctl.json("store", "stat")["parked"] == 3
        assert desk.ctl.ok("event", "retry", desk.name, *TEST_MODE, "--all") == "3 retried\n"
        assert desk.ctl.ok("event", "retry", desk.name, *TEST_MODE, "--all") == "0 retried\n"
        relay.refuse("RCPT", "550 Nobody", "550 Nobody")
        desk.deliver()
        assert len(desk.events("--parked")) == 2 and len(relay.mails) == 1
        assert desk.event("drop", "--all") == {"dropped": 2}
        assert desk.events("--parked") == [] and len(desk.events()) == 3
        assert {one["to"] for one in desk.events()} == {"webhook"}
        assert desk.ctl.run("store", "check").returncode == 0


# --- delivered without a server ---

def test_deliver(desk):
    """Everything that is due, in order, and what comes while it runs; the second time nothing."""
    made = desk.refund(6)
    told = desk.deliver()
    assert (told.stdout, told.stderr) == ("6 delivered, 0 waiting, 0 parked\n", "")
    assert [one.id for one in desk.receiver.got] == [one["id"] for one in made]
    assert [one.check(desk.secret).json["sequence"] for one in desk.receiver.got] == [1, 2, 3, 4, 5, 6]
    assert desk.ctl.json("event", "deliver", "--once") == {"delivered": 0, "waiting": 0, "parked": 0}
    assert len(desk.receiver.got) == 6 and desk.ctl.json("store", "stat")["events"] == 0
    assert "--once" in desk.ctl.refused(2, "event", "deliver")


def test_deliver_by_several(desk):
    """Runs of cron that overlap deliver everything once and in order."""
    desk.refund(5)
    running = [desk.start("event", "deliver", "--once", "--json") for _ in range(4)]
    said = [one.communicate(timeout=60) for one in running]
    assert [one.returncode for one in running] == [0] * 4, said
    wait_for(lambda: desk.deliver() and not desk.events(), "all to be delivered")
    assert [one.json["sequence"] for one in desk.receiver.got] == [1, 2, 3, 4, 5]


def test_deliver_without_the_master_key(desk):
    """Nothing goes out unsigned, standard error says why, and nothing is postponed for processes that have the key."""
    key = pathlib.Path(f"{desk.ctl.store}.key")
    moved = key.with_name("moved.key")
    key.rename(moved)
    [made] = desk.refund(1)
    told = desk.ctl.refused(1, "event", "deliver", "--once")
    assert f"{key} cannot be opened: No such file" in told
    assert desk.receiver.got == [] and not key.exists()
    assert [one["id"] for one in desk.events()] == [made["id"]]
    assert desk.ctl.json("event", "deliver", "--once", "--master-key", moved)["delivered"] == 1
    assert desk.receiver.got[0].check(desk.secret).id == made["id"]
    moved.rename(key)


def test_deliver_interrupted(desk, server):
    """It ends before the receiver's 15 seconds are over, and what was on its way is not taken for delivered."""
    desk.receiver.default = "hang"
    [made] = desk.refund(1)
    timed = server(start=False, clock=True)
    timed.clock.stop()
    with desk.start("event", "deliver", "--once", env={**os.environ, **timed.environment()}) as running:
        desk.receiver.wait(1)
        running.send_signal(signal.SIGTERM)
        timed.clock.pass_seconds(12)
        said = running.communicate(timeout=60)
    assert (running.returncode, said[0]) == (4, "0 delivered, 1 waiting, 0 parked\n"), said
    assert [one["id"] for one in desk.events()] == [made["id"]]


# --- tests ---

def waiting_test(desk):
    return wait_for(lambda: [one for one in desk.events() if one["notify"] == "test_assess"], "the test event")[0]


@pytest.mark.parametrize("status, code, result", [(204, 0, "delivered"), (500, 3, "failed")])
def test_webhook_test(desk, status, code, result):
    """Its result is printed, whichever process delivers it; a refusal is printed with the receiver's answer."""
    desk.receiver.default, desk.receiver.text = status, b"what it says"
    with desk.start("webhook", "test", desk.name, *TEST_MODE, "--json") as running:
        waiting_test(desk)
        desk.deliver()
        said = running.communicate(timeout=60)
    told = json.loads(said[0])
    assert list(told) == ["id", "result", "answeredAt", "status", "error", "answer"]
    assert (running.returncode, told["result"], told["status"]) == (code, result, status)
    assert told["id"] == desk.receiver.got[0].check(desk.secret).id and told["answeredAt"]
    if code:
        why = "The receiver answered 500; 200 to 204 accept an event"
        assert said[1] == f"paymentsctl: the test was not accepted: {why}\n" and told["answer"] == "what it says"
        assert desk.events("--parked")[0]["id"] == told["id"]
    else:
        assert (said[1], told["error"], told["answer"]) == ("", "", "")
        assert desk.events() == []


def test_webhook_test_is_dropped(desk):
    with desk.start("webhook", "test", desk.name, *TEST_MODE) as running:
        desk.event("drop", waiting_test(desk)["id"])
        said = running.communicate(timeout=60)
    assert running.returncode == 4 and re.search("^result +dropped$", said[0], re.M) and "dropped" in said[1]
    assert desk.receiver.got == []


# --- e-mails ---

def mail_of(ctl):
    shown = ctl.json("mail", "show", "shop")
    assert list(shown) == ["account", "merchantAddress", "receipts", "testRecipients", "relay", "sender",
                           "deliveries"]
    return shown["merchantAddress"], shown["receipts"], {(one["kind"], one["mode"], one["enabled"])
                                                         for one in shown["deliveries"]}


def test_mail_set_and_show(ctl):
    """What is given is set in both modes, and the rest stays."""
    assert mail_of(ctl) == (None, False, set())
    ctl.ok("mail", "set", "shop", "--merchant-address", "off", "--receipts", "off")
    assert mail_of(ctl) == (None, False, set())
    told = ctl.json("mail", "set", "shop", "--merchant-address", " Till@SHOP.example ")
    assert (told["merchantAddress"], told["receipts"]) == ("Till@shop.example".lower(), False)
    notices = {("notice", "test", True), ("notice", "live", True)}
    assert mail_of(ctl) == (told["merchantAddress"], False, notices)
    ctl.ok("mail", "set", "shop", "--receipts", "on")
    receipts = {("receipt", "test", True), ("receipt", "live", True)}
    assert mail_of(ctl) == (told["merchantAddress"], True, notices | receipts)
    ctl.ok("mail", "set", "shop", "--receipts", "off", "--merchant-address", "other@shop.example")
    assert mail_of(ctl)[:2] == ("other@shop.example", False)
    off = ctl.ok("mail", "set", "shop", "--merchant-address", "off")
    assert re.search("^merchant address +-$", off, re.M) and re.search("^receipts +off$", off, re.M)
    assert mail_of(ctl)[0] is None
    assert not ctl.store.with_suffix(".key").exists()
    assert ctl.run("store", "check").returncode == 0


def test_recipients_of_test_mode(ctl):
    """The list is set as a whole, by an option that is given again, and shown; "" ends it."""
    def listed():
        return ctl.json("mail", "show", "shop")["testRecipients"]

    assert listed() == []
    ctl.ok("mail", "set", "shop", "--test-recipient", "Ada@SHOP.example", "--test-recipient", "@Test.example")
    assert listed() == ["ada@shop.example", "@test.example"]
    assert mail_of(ctl) == (None, False, {("receipt", "test", False)})
    ctl.ok("mail", "set", "shop", "--receipts", "on")
    assert listed() == ["ada@shop.example", "@test.example"]
    told = ctl.ok("mail", "set", "shop", *[f for n in range(16) for f in ("--test-recipient", f"a{n}@shop.example")])
    assert re.search("^test recipients +a0@shop.example a1@.* a15@shop.example$", told, re.M)
    assert len(listed()) == 16
    told = ctl.ok("mail", "set", "shop", "--test-recipient", "")
    assert listed() == [] and re.search("^test recipients +-$", told, re.M)
    assert ctl.run("store", "check").returncode == 0


@pytest.mark.parametrize("code, args", [
    (6, ["--test-recipient", "nobody"]), (6, ["--test-recipient", "@"]), (6, ["--test-recipient", "@*.example"]),
    (6, ["--test-recipient", "a@b.example\nBcc: c@d.example"]), (5, ["--test-recipient", "a" * 255]),
    (6, [f for n in range(17) for f in ("--test-recipient", f"a{n}@shop.example")]),
    (2, []), (6, ["--receipts", "yes"]), (6, ["--receipts", ""]), (6, ["--merchant-address", ""]),
    (6, ["--merchant-address", "a@shop.example, b@shop.example"]), (6, ["--merchant-address", "Till <a@shop.example>"]),
    (6, ["--merchant-address", "a@shop.example\nBcc: b@shop.example"]), (6, ["--merchant-address", "nobody"]),
    (5, ["--merchant-address", "a" * 242 + "@shop.example"]), (6, ["--receipts", "on", "--merchant-address", "x"]),
], ids=lambda value: " ".join(value)[:40] if isinstance(value, list) else None)
def test_mail_set_wrong(ctl, code, args):
    said = ctl.refused(code, "mail", "set", "shop", *args)
    assert "Bcc" not in said
    assert mail_of(ctl) == (None, False, set())


def test_mail_test_without_relay(ctl):
    """Nothing is sent, nor left behind, where nobody could send it."""
    assert "--merchant-address" in ctl.refused(3, "mail", "test", "shop", *TEST_MODE)
    ctl.ok("mail", "set", "shop", "--merchant-address", "till@shop.example")
    assert "PaymentsMailRelay" in ctl.refused(3, "mail", "test", "shop", *TEST_MODE)
    assert ctl.json("event", "list", "shop", *TEST_MODE) == []
    ctl.refused(3, "mail", "show", "none")
    ctl.refused(3, "mail", "set", "none", "--receipts", "on")


def test_mail_test(server):
    """The merchant gets it; a refusal of the relay is printed."""
    with Relay() as relay:
        httpd = server(mpm="event", extra=f"PaymentsMailRelay {relay.url}\nPaymentsMailFrom pay@shop.example\n")
        shop, ctl = httpd.shop(), Ctl(httpd.store)
        ctl.ok("mail", "set", shop.name, "--merchant-address", "till@shop.example")
        told = ctl.json("mail", "show", shop.name)
        assert (told["relay"], told["sender"]) == (relay.url, "pay@shop.example")
        assert re.search("^result +delivered$", ctl.ok("mail", "test", shop.name, *TEST_MODE), re.M)
        assert len(relay.wait("till@shop.example")) == 1
        httpd.expect_log("PAY00264")
        relay.refuse("RCPT", "550 Nobody here")
        done = ctl.run("mail", "test", shop.name, *TEST_MODE)
        assert done.returncode == 3 and re.search("^result +failed$", done.stdout, re.M)
        assert re.fullmatch(r"paymentsctl: .*550.*\n", done.stderr)
        shown = ctl.ok("mail", "show", shop.name)
        assert re.search(r"^notices, test mode +last answer The mail relay answered 550$", shown, re.M)
        assert re.search(r"^notices, live mode +nothing sent yet$", shown, re.M)


# --- nobody sends ---

def test_webhook_test_that_nobody_sends(server):
    """It waits so long and no longer, says so, and leaves the event to whoever delivers next."""
    httpd = server(mpm="event", extra=INSECURE, clock=True)
    shop, ref = charged(httpd)
    httpd.stop()
    clock = httpd.clock
    clock.stop()
    began = clock.now()
    with Receiver() as receiver:
        desk = Desk(shop, ref, receiver)
        with desk.start("webhook", "test", desk.name, *TEST_MODE, env={**os.environ, **httpd.environment()}) as running:
            wait_for(desk.events, "the event")
            clock.pass_seconds(19.999)
            time.sleep(LOOKS_S)
            assert running.poll() is None
            wait_for(lambda: running.poll() is not None or clock.pass_seconds(0.5), "the end of the wait")
            out, err = running.communicate()
        assert running.returncode == 4 and 20 <= clock.now() - began < 30
        assert "20 seconds" in err and "event deliver --once" in err
        assert re.search("^result +waiting$", out, re.M)
        desk.deliver("1 delivered, 0 waiting, 0 parked\n")
        assert [one.what for one in receiver.got] == [("test_assess", "test")]
