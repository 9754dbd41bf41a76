# SPDX-License-Identifier: Apache-2.0
"""What a server, its children and their user leave behind."""

import json
import os
import pwd
import signal

import pytest

from harness import KILLED, ROOT, loaded, wait_for
from receiver import INSECURE, Receiver


def stored(shop):
    rows = json.loads(shop.httpd.ctl("charge", "list", shop.name, "--mode", "test", "--json").stdout)
    assert len({row["reference"] for row in rows}) == len(rows)
    assert [row["id"] for row in rows] == list(range(1, len(rows) + 1)), "ids have gaps or repeat"
    return {row["reference"]: row for row in rows}


def test_pending_charge_of_a_killed_child_is_decided(server):
    """Children die all the time; what they left pending is taken up by the watchdog of another."""
    httpd = server(host_extra="PaymentsAcquirerTimeout 1s")
    httpd.expect_log(KILLED)
    shop = httpd.shop()
    answers = [shop.charge(token="tok_test_timeout", reference=f"r{n}") for n in range(5)]
    assert {a.status for a in answers} == {202}
    for pid in httpd.pids():
        os.kill(pid, signal.SIGKILL)
    wait_for(lambda: all(row["status"] == "successful" for row in stored(shop).values()), "reconciliation", 60)


def test_nothing_is_taken_down_beside_the_end_of_a_child(server):
    """The thread that delivers leaves libcurl alone once its process ends, however long that takes (preload_exit.c)."""
    httpd = server(extra=INSECURE, env={"LD_PRELOAD": loaded("faults/preload_exit"), "PAYMENTS_LATE": "{root}/late"})
    httpd.root.chmod(0o777)  # its children write there
    with Receiver() as receiver:
        shop = httpd.shop()
        shop.webhook(receiver.url())
        shop.charge()
        receiver.wait(1)
        wait_for(lambda: not shop.events(), "the delivery to be stored")
        httpd.stop()
    assert not (httpd.root / "late").exists()


def test_store_is_left_by_a_stopped_server(server):
    httpd = server()
    shop = httpd.shop()
    shop.charge()
    httpd.stop()
    assert len(stored(shop)) == 1


@pytest.mark.plain("root's server has a user of its own")
def test_files_belong_to_the_servers_user(server):
    httpd = server()
    httpd.shop().charge()
    uid = pwd.getpwnam("www-data").pw_uid if ROOT else os.geteuid()
    for path in (httpd.store, httpd.store / "data.mdb", httpd.store / "lock.mdb"):
        info = path.stat()
        assert info.st_uid == uid
        assert info.st_mode & 0o077 == 0
