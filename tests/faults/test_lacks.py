# SPDX-License-Identifier: Apache-2.0
"""A system that has nothing left for the server at its start: it says what that takes away, and serves the rest."""

import contextlib
import http.client
import re
import subprocess

import pytest

from conftest import ROOT, loaded
from dashboard import settings
from exposition import OPEN, scrape
from harness import KILLED, wait_for
from test_damaged import SIZE, overwrite
from upstream import live_reference

# What the log says, by what the process that reads the configuration does not get.
MEMORY = {
    "PAY00304": "each child process limits its Live Mode calls by itself",
    "PAY00308": "the child processes open the stores by themselves",
    "PAY00312": "a process that is stopped blocks the others",
    "PAY00340": "each child process counts PaymentsRateLimit and PaymentsAuthFailureLimit by itself",
    "PAY00370": "nothing is counted",
    "PAY00382": "each child process counts its calls and their failures by itself",
    "PAY00651": "each process that opens it dies",
    "PAY00683": "no codes to confirm changes are sent until the next start",
    "PAY00754": "PaymentsFailureLimit limits nothing",
}
RANDOM = {
    "PAY00350": "no random bytes for a master key",
    "PAY00341": "clients can find out which of them share a place in the tables of limits",
    "PAY00542": "the dashboard refuses every change until the next start",
    "PAY00683": "no codes to confirm changes are sent until the next start",
    "PAY00754": "PaymentsFailureLimit limits nothing",
}
DUTIES = {"PAY00306": "pending payments may stay pending, notifications unsent"}
CURL = {"PAY00361": "notifications cannot be sent"}
NAMES = {"PAY00010": "resolves names one at a time: a slow name server delays every delivery"}
PROCESSES = {"PAY00309": "The stores could not be prepared"}
# The same of its children.
POOLS = {
    "PAY00360": "notifications cannot be sent now; the next try is in a minute",
    "PAY00384": "pending payments cannot be reconciled now; the next try is in a minute",
}
MUTEXES = {"PAY00305": "this process answers 503"}
RIGHTS = {"PAY00640": "could not give up root's rights, and opens no store with them"}


@pytest.fixture
def lacking(till):
    """Makes servers that lack something, with a dashboard, and expects that they say all of it."""
    def make(what, said, extra=""):
        httpd = till(start=False, env={"LD_PRELOAD": loaded("faults/preload_lacks"), "PAYMENTS_LACKS": what})
        httpd.host_extra += f"{OPEN}\n{settings(httpd)}{extra}"
        if ROOT:  # a child cannot take over what root made
            subprocess.run(["chown", "-R", "www-data:", str(httpd.store)], check=True)
        httpd.expect_log("|".join(said))
        httpd.start()
        for number, words in said.items():
            wait_for(lambda: re.search(f"{number}: .*{words}", httpd.log_text()), number)  # noqa: B023
        return httpd

    return make


def pays(httpd):
    """In Test Mode and in Live Mode, and a key that is not known is refused."""
    shop = httpd.live_shop
    assert shop.charge(reference=live_reference()).status == 200
    assert shop.charge(key=shop.test_secret, token="tok_test_success").status == 200
    assert shop.refunds(key="pay_testsk_" + "a" * 48).status == 401
    return True


def test_memory(lacking, proxy):
    """What processes would share each has of its own: stores are made by the children, metrics tell what those say."""
    httpd = lacking("memory", MEMORY)
    assert pays(httpd)
    metrics = scrape(httpd)
    assert metrics("payments_up", store="0") == 1
    assert not metrics.all_requests(), "they are counted"
    assert not proxy.repeated()


def test_random_numbers(lacking):
    httpd = lacking("random", RANDOM)
    assert pays(httpd)


def test_duties_of_the_watchdog(lacking):
    """None of them is taken: it is said of each."""
    httpd = lacking("watchdog", DUTIES)
    assert pays(httpd)
    duties = set(re.findall(r"PAY00306: Watchdog _payments_(\w+)_ could not be started", httpd.log_text()))
    assert duties == {"reconcile", "history", "housekeep", "expire", "usage", "outbox"}


def test_curl(lacking):
    httpd = lacking("curl", CURL)
    assert httpd.live_shop.charge(key=httpd.live_shop.test_secret, token="tok_test_success").status == 200


def test_lookups_beside_other_work(lacking):
    assert pays(lacking("names", NAMES))


def test_pools(lacking):
    """What the watchdog does waits, and no acquirer can be asked; Test Mode goes on."""
    httpd = lacking("pools", POOLS)
    shop = httpd.live_shop
    httpd.expect_log("PAY00400")
    assert shop.charge(key=shop.test_secret, token="tok_test_success").status == 200
    assert shop.charge(reference=live_reference()).status == 503


def test_mutexes(lacking):
    """Without them no process uses the store: its host answers 503."""
    httpd = lacking("mutexes", MUTEXES)
    assert httpd.live_shop.charge(reference=live_reference()).status == 503


@pytest.mark.root
def test_rights(lacking):
    """Whoever cannot tell that it is not root any more opens no store: that is left to the children."""
    assert pays(lacking("rights", RIGHTS))


def test_processes(lacking):
    """Without one to check a damaged store with it is left alone, and that is tried again."""
    httpd = lacking("processes", PROCESSES, SIZE)
    shop = httpd.live_shop
    assert pays(httpd)
    httpd.expect_log(f"PAY00650|PAY00653|PAY00100|{KILLED}")
    overwrite(httpd.store / "data.mdb")

    def is_told():
        with contextlib.suppress(OSError, http.client.HTTPException):  # of a process that dies of it
            shop.charge(reference=live_reference())
        return "PAY00653: " in httpd.log_text()

    wait_for(is_told, "the log to say that there is no process")
    assert shop.refunds().status == 503
