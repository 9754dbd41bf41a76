# SPDX-License-Identifier: Apache-2.0
"""Fixtures for tests of more than one folder."""

import pytest

from harness import Httpd
from receiver import Authority
from upstream import Till, Upstream
from upstream_proxy import Proxy


def fail_unseen_failures(config):
    """An exception in a thread, or while an object is destroyed, fails its test as if the test had raised it."""
    for warning in ("PytestUnhandledThreadExceptionWarning", "PytestUnraisableExceptionWarning"):
        config.addinivalue_line("filterwarnings", f"error::pytest.{warning}")


def close_all(servers):
    failures = []
    for one in servers:
        try:
            one.close()
        except AssertionError as failure:
            failures.append(str(failure))
    assert not failures, "\n".join(failures)


@pytest.fixture
def server():
    """Makes servers with a configuration of their own; all are stopped and checked at the end."""
    made = []

    def make(start=True, **kwargs):
        one = Httpd(**kwargs)
        made.append(one)
        return one.start() if start else one

    yield make
    close_all(made)


@pytest.fixture(scope="session")
def authority():
    made = Authority()
    yield made
    made.close()


@pytest.fixture(scope="session")
def upstream(authority):
    """The upstream for Live Mode of the tests' shops; each test uses only its own charges."""
    made = Upstream(authority).start()
    made.make_tokens()
    yield made
    made.close()


@pytest.fixture
def proxy(authority, upstream):
    """All traffic between a shop's server and the upstream passes through it."""
    with Proxy(authority, upstream.port) as made:
        yield made


@pytest.fixture
def till(authority, upstream, proxy):
    """Makes servers whose Live Mode goes through the proxy; all are stopped and checked at the end."""
    made = []

    def make(start=True, **options):
        one = Till(proxy.url, upstream.key, authority, **options)
        made.append(one)
        return one.start() if start else one

    yield make
    close_all(made)
