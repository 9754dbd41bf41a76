# SPDX-License-Identifier: Apache-2.0
"""Fixtures: one server for each MPM that most tests share, and servers of a test's own."""

import os

import pytest

from fixtures import authority, proxy, server, till, upstream  # noqa: F401
from harness import ROOT, Httpd
from receiver import INSECURE, Receiver

MPMS = os.environ.get("PAYMENTS_MPM", "event,worker,prefork").split(",")


def pytest_configure(config):
    config.addinivalue_line("markers", "faults: long runs, part of ./dev faults only")
    config.addinivalue_line("markers", "root: what only root can do, part of the runs as root")


def pytest_collection_modifyitems(config, items):
    """Long runs are for ./dev faults, and what only root can do for the runs as root."""
    left_out = set() if config.getoption("markexpr", "") else {"faults"}
    if not ROOT:
        left_out.add("root")
    kept = [item for item in items if not left_out & {mark.name for mark in item.iter_markers()}]
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = kept


@pytest.fixture(scope="session", params=MPMS)
def shared(request):
    """A running server, one for each MPM; tests that share it keep to accounts of their own."""
    httpd = Httpd(mpm=request.param)
    httpd.start()
    yield httpd
    httpd.close()


@pytest.fixture
def httpd(shared):
    """The shared server; a loud log line that this test did not expect fails this test."""
    yield shared
    loud = shared.unexpected()
    assert not loud, "unexpected in the error log:\n" + "\n".join(loud)


@pytest.fixture
def shop(httpd):
    return httpd.shop()


@pytest.fixture(scope="session")
def telling(authority):
    """A running server that delivers to receivers of the tests, on one MPM: it is the same on all."""
    httpd = Httpd(mpm="event", extra=INSECURE + f"PaymentsTrustedCA {authority.file}\n")
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
        """What came, once there is so much, each signed by the secret."""
        return [one.check(self.secret) for one in self.receiver.wait(count)]

    def told(self, count):
        """(notify, notifyType, sequence) of so many events that were taken, in the order in which they came."""
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
