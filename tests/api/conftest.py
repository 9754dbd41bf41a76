# SPDX-License-Identifier: Apache-2.0
"""Fixtures: one server for each MPM that most tests share, and servers of a test's own."""

import collections
import os
import zlib

import pytest

from ctl_program import with_accounts
from fixtures import authority, close_all, fail_unseen_failures, proxy, server, till, upstream  # noqa: F401
from harness import ROOT, SHOPS_AT_ONCE, Httpd
from payer import Checkout
from receiver import INSECURE, Receiver
from shares import in_order, mpm_of, scheduler

MPMS = os.environ.get("PAYMENTS_MPM", "event,worker,prefork").split(",")
FILES_PER_SAMPLE = 10  # of which --plain takes one, chosen by its name: the same every day


LEFT_OUT = pytest.StashKey()  # how many tests of each mark


def pytest_addoption(parser):
    parser.addoption("--plain", action="store_true",
                     help="leave out what the run under the sanitizers, as an ordinary user on event, has already shown")


def pytest_configure(config):
    config.stash[LEFT_OUT] = collections.Counter()
    fail_unseen_failures(config)
    for line in ("faults: long runs, part of ./dev faults only",
                 "root: what only root can do, part of the runs as root",
                 "plain(reason): what the sanitizers' run shows in part, part of --plain too",
                 "any_mpm(reason): what is the same on every MPM, part of ./dev faults for all but the first"):
        config.addinivalue_line("markers", line)


def is_shown_by_sanitizers(item):
    """It has passed there, and --plain runs one file in ten, root's tests and those with its mark anyway."""
    sample = zlib.crc32(item.path.name.encode()) % FILES_PER_SAMPLE == 0
    marks = {mark.name for mark in item.iter_markers()}
    return not sample and not marks & {"plain", "root"} and mpm_of(item.nodeid) in (None, "event")


@pytest.hookimpl(trylast=True)  # pytest itself groups the tests of an MPM
def pytest_collection_modifyitems(config, items):
    """./dev faults runs long tests and those that are the same on every MPM; runs as root include root's tests."""
    left_out = set() if config.getoption("markexpr", "") else {"faults", "any_mpm"}
    if not ROOT:
        left_out.add("root")
    kept, gone = [], []
    for item in items:
        marks = left_out & {mark.name for mark in item.iter_markers()}
        own = hasattr(item, "callspec") and "mpm" in item.callspec.params  # not chosen by a fixture
        if own or mpm_of(item.nodeid) in (None, MPMS[0]):
            marks.discard("any_mpm")
        if not marks and config.getoption("plain") and is_shown_by_sanitizers(item):
            marks = {"sanitized"}
        (gone if marks else kept).append(item)
        config.stash[LEFT_OUT].update(sorted(marks)[:1])
    config.hook.pytest_deselected(items=gone)
    items[:] = in_order(kept)


def pytest_terminal_summary(terminalreporter, config):
    """Prints how many tests of each mark were left out; ./dev test shows it with the passed tests."""
    counts = ", ".join(f"{number} {mark}" for mark, number in sorted(config.stash[LEFT_OUT].items()))
    terminalreporter.write_line(f"left out: {counts or 'none'}")


# --- with pytest-xdist: its processes collect the tests, and the process that starts them reports ---

@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    return scheduler(config, log)


def pytest_sessionfinish(session):
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["left_out"] = dict(session.config.stash[LEFT_OUT])


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    node.config.stash[LEFT_OUT] = getattr(node, "workeroutput", {}).get("left_out", {})


@pytest.fixture
def ctl(tmp_path):
    """The tool, and a store with the account `shop`, which no server has ever opened."""
    return with_accounts(tmp_path / "store", "shop")


@pytest.fixture(scope="session")
def fleet():
    """The servers that tests share, by their MPM: started on first use, stopped at the end."""
    servers = {}
    yield servers
    close_all(servers.values())


@pytest.fixture(scope="session", params=MPMS)
def shared(request, fleet):
    """A running server, one for each MPM; tests that share it use only their own accounts."""
    if request.param not in fleet:
        fleet[request.param] = Httpd(mpm=request.param, shops_at_once=SHOPS_AT_ONCE).start()
    return fleet[request.param]


@pytest.fixture
def httpd(shared):
    """The shared server; a loud log line that this test did not expect fails this test."""
    yield shared
    loud = shared.unexpected()
    assert not loud, "unexpected in the error log:\n" + "\n".join(loud)


@pytest.fixture(scope="session", params=MPMS)
def open_till(request):
    """A running server with hosted pages that count nobody's requests, because there is only one address."""
    httpd = Httpd(mpm=request.param, extra=INSECURE + "PaymentsRateLimit public off\n", shops_at_once=SHOPS_AT_ONCE)
    httpd.start()
    yield httpd
    httpd.close()


@pytest.fixture
def seller(open_till):
    """A fresh shop there; a loud log line that this test did not expect fails this test."""
    yield open_till.shop()
    loud = open_till.unexpected()
    assert not loud, "unexpected in the error log:\n" + "\n".join(loud)


@pytest.fixture
def checkout(seller):
    return Checkout(seller)


@pytest.fixture
def shop(httpd):
    return httpd.shop()


@pytest.fixture(scope="session")
def telling(authority):
    """A running server that delivers to receivers of the tests, on one MPM: deliveries are the same on all."""
    httpd = Httpd(mpm="event", extra=INSECURE + f"PaymentsTrustedCA {authority.file}\n", shops_at_once=SHOPS_AT_ONCE)
    httpd.start()
    yield httpd
    httpd.close()


class Hook:
    """A fresh shop of `httpd`, and the receiver of its webhook in Test Mode."""

    def __init__(self, httpd, context=None, **options):
        self.httpd, self.shop = httpd, httpd.shop()
        self.receiver = Receiver(context, **options)
        self.secret = self.shop.webhook(self.receiver.url())

    def wait(self, count=1):
        """Returns the requests once that many have arrived, each signed with the secret."""
        return [one.check(self.secret) for one in self.receiver.wait(count)]

    def told(self, count):
        """(notify, notifyType, sequence) of that many accepted events, in the order of arrival."""
        return [(*one.what, one.json["sequence"]) for one in self.receiver.wait_taken(count)]

    def close(self):
        self.shop.webhook_off()
        self.receiver.close()


@pytest.fixture
def hooks(telling):
    """Makes Hooks of the server `telling`; a loud log line that this test did not expect fails this test."""
    made = []

    def make(**options):
        made.append(Hook(telling, **options))
        return made[-1]

    yield make
    for one in made:
        one.close()
    loud = telling.unexpected()
    assert not loud, "unexpected in the error log:\n" + "\n".join(loud)


@pytest.fixture
def hook(hooks):
    return hooks()
