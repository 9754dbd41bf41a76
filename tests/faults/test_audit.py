# SPDX-License-Identifier: Apache-2.0
"""Who makes a change dies at any moment: it stands with its entry in the audit, or neither of them does."""

import itertools
import os
import signal
import subprocess
import time

import pytest

from conftest import loaded, size
from ctl_program import TEST_CARD, TEST_MODE, TEST_SECRET, Ctl
from dashboard import Person, settings
from harness import KILLED, PAYMENTSCTL, WAIT_S, beside, wait_for
from stops import is_stopped, kill_at, stops_in

HOST = ("--host", "localhost")
MOMENTS = size(25, 400)  # of each command's run
TURNS = size(1, 20)
DIED = f"{KILLED}|PAY00313"


def command(*words):
    return [str(word) for word in words]


# What changes something, for the n-th time, and what shows what it changes.
COMMANDS = {
    "account create": (lambda n: command("account", "create", f"new-{n}"), ("account", "list")),
    "account grant": (lambda n: command("account", "grant", "shop", f"user-{n}", *HOST, "--role", "viewer"),
                      ("account", "grants", "shop")),
    "account set": (lambda n: command("account", "set", "shop", "--shop-name", f"Shop {n}"), ("account", "show", "shop")),
    "key create": (lambda n: command("key", "create", "shop", *TEST_SECRET), ("key", "list", "shop")),
    "token create": (lambda n: command("token", "create", "shop", *TEST_MODE, *TEST_CARD),
                     ("token", "list", "shop", *TEST_MODE)),
    "link create": (lambda n: command("link", "create", "shop", *TEST_MODE), ("link", "list", "shop", *TEST_MODE)),
    "webhook set": (lambda n: command("webhook", "set", "shop", f"https://shop.example/{n}", *TEST_MODE),
                    ("webhook", "show", "shop", *TEST_MODE)),
    "webhook secret rotate": (lambda n: command("webhook", "secret", "rotate", "shop", *TEST_MODE),
                              ("webhook", "secret", "show", "shop", *TEST_MODE)),
    "mail set": (lambda n: command("mail", "set", "shop", "--merchant-address", f"till-{n}@shop.example"),
                 ("mail", "show", "shop")),
}
# Those whose entries name what they made: the first column that tells it.
NAMED = {"account grant": "user", "key create": "id", "link create": "reference"}


@pytest.fixture(scope="module")
def ctl(tmp_path_factory):
    one = Ctl(tmp_path_factory.mktemp("audited") / "store")
    one.ok("account", "create", "shop")
    one.ok("webhook", "set", "shop", "https://shop.example/first", *TEST_MODE)
    one.ok("mail", "set", "shop", "--merchant-address", "till@shop.example")
    return one


def entries(ctl, what):
    return [one["subject"] for one in ctl.json("audit", "list") if one["what"] == what]


@pytest.mark.parametrize("what", COMMANDS)
def test_killed_in_each_commit(ctl, tmp_path, what):
    """Before the first commit is written, before the second, and so on until there is none left."""
    args, show = COMMANDS[what]
    stops = stops_in(tmp_path)

    def look():
        return ctl.json(*show), len(entries(ctl, what))

    before = look()
    for commit in itertools.count(1):
        killed = kill_at(ctl.store, stops, args(commit), commit)
        after = look()
        assert after[1] - before[1] == (after[0] != before[0]), f"killed in commit {commit}: {before}, {after}"
        if not killed:
            break
        before = after
    assert commit > 1 and after[0] != before[0]
    assert ctl.ok("store", "check") == ""


@pytest.mark.parametrize("what", NAMED)
def test_killed_at_any_moment(tmp_path, what):
    """Moments from the start of the command to half as long again as it takes."""
    ctl = Ctl(tmp_path / "store")
    ctl.ok("account", "create", "shop")
    args, show = COMMANDS[what]
    line = [PAYMENTSCTL, "-s", f"lmdb:{ctl.store}"]
    started = time.monotonic()
    for number in range(3):
        subprocess.run([*line, *args(number)], check=True, capture_output=True)
    takes = (time.monotonic() - started) / 3
    numbers = itertools.count(3)
    for stretch in (1.5, 3, 6):  # a machine that has slowed down meanwhile kills all of them before their change
        for moment in range(MOMENTS):
            with subprocess.Popen([*line, *args(next(numbers))], stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL) as one:
                time.sleep(takes * stretch * moment / MOMENTS)  # the moment is what is tried
                one.kill()
        made = [row[NAMED[what]] for row in ctl.json(*show)]
        if len(made) > 3:
            break
    assert sorted(made) == sorted(entries(ctl, what))
    assert 3 < len(made) < next(numbers), "they were killed, some before and some after the change"
    assert ctl.ok("store", "check") == ""


# --- the dashboard ---

CALLS = {
    "key create": ("keys", lambda n: {"kind": "secret", "mode": "test"}),
    "link create": ("test/links", lambda n: {"title": f"Shoes {n}", "amount": "10", "currency": "NGN"}),
    "account grant": ("team", lambda n: {"user": f"user-{n[0]}-{n[1]}", "role": "viewer"}),
}


@pytest.fixture
def desk(server):
    """A server whose first process to commit stops while the file `stop/now` is there, and an owner."""
    httpd = server(start=False, threads="StartServers 2\nServerLimit 4\nThreadsPerChild 16\nMaxRequestWorkers 64",
                   env={"LD_PRELOAD": loaded("faults/preload_stop"), "PAYMENTS_STOP_FILE": "{root}/stop/now"})
    httpd.host_extra = settings(httpd)
    stops_in(httpd.root)
    httpd.expect_log(DIED)
    httpd.start()
    shop = httpd.shop()
    httpd.ctl("account", "grant", shop.name, "olga", *HOST, "--role", "owner")
    return httpd, shop.name, Person(httpd, "olga")


def kill_child(httpd, commit, call):
    """Kills the child that makes the call in the commit of that number; 0: the call was answered with 200 before."""
    def run():
        try:
            return call().status
        except OSError:
            return None

    def stopped():
        return next((pid for pid in httpd.pids() if is_stopped(pid)), None)

    stop, called, pid = httpd.root / "stop/now", None, None
    for number in range(commit):
        stop.touch()
        if pid:
            os.kill(pid, signal.SIGCONT)
        else:
            called = beside(run)
        wait_for(lambda: called.done() or (not stop.exists() and stopped()), f"commit {number + 1}")
        if called.done():
            stop.unlink(missing_ok=True)
            assert called.result() == 200
            return 0
        pid = stopped()
    os.kill(pid, signal.SIGKILL)
    assert called.result(WAIT_S) is None
    return 1


@pytest.mark.parametrize("what", CALLS)
def test_killed_child_of_the_dashboard(desk, what):
    httpd, name, person = desk
    ctl = Ctl(httpd.store)
    path, body = CALLS[what]
    show = [name if word == "shop" else word for word in COMMANDS[what][1]]
    person.session()

    def agreed():
        made = [row[NAMED[what]] for row in ctl.json(*show)]
        assert sorted(made) == sorted(one["subject"] for one in ctl.json("audit", "list", name) if one["what"] == what)
        return len(made)

    for turn in range(TURNS):
        before = agreed()
        for commit in itertools.count(1):
            killed = kill_child(httpd, commit, lambda: person.post(f"accounts/{name}/{path}", body((turn, commit))))
            after = agreed()
            if not killed:
                break
        assert commit > 1 and after > before
    assert ctl.ok("store", "check") == ""
