# SPDX-License-Identifier: Apache-2.0
"""payer erase and account reset killed in the middle of a commit, beside a server that is charged, and run again."""

import os
import pathlib
import signal
import subprocess

import pytest

from conftest import loaded, size
from ctl_program import TEST_MODE, Ctl
from harness import PAYMENTSCTL, wait_for
from test_ctl_erase import ADA, TRACES, Load, charges, traces

MANY = size(450, 4500)  # charges of the payer: 100 a commit
TIMES = size(3, 20)  # how often it is killed


def is_stopped(pid):
    return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"


def kill_at(httpd, args, commit):
    """Kills the command in its commit of that number, with the store's lock in its hands; 0: it ended before."""
    stop = httpd.root / "stop" / "ctl"
    process = subprocess.Popen([PAYMENTSCTL, "-s", f"lmdb:{httpd.store}", *args], stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE,
                               env={**os.environ, "LD_PRELOAD": loaded("faults/preload_stop"),
                                    "PAYMENTS_STOP_FILE": str(stop)})
    for _ in range(commit):
        stop.touch()
        process.send_signal(signal.SIGCONT)
        wait_for(lambda: process.poll() is not None or (not stop.exists() and is_stopped(process.pid)), "a commit")
        if process.returncode is not None:
            stop.unlink(missing_ok=True)
            print(process.returncode, process.stderr.read())
            return 0
    process.send_signal(signal.SIGKILL)
    process.communicate()
    return 1


@pytest.mark.parametrize("what", ["payer erase", "account reset"])
def test_killed_in_the_middle(server, tmp_path, what):
    httpd = server()
    (httpd.root / "stop").mkdir()
    (httpd.root / "stop").chmod(0o777)  # the store's owner removes the file in it
    shop = httpd.shop()
    ctl = Ctl(httpd.store)
    ctl.ok("token", "create", shop.name, *TEST_MODE, "--card", "5555555555554444", "--email", ADA["email"])
    charges(shop, "ada", MANY, ADA)
    shop.refund("ada-1", "3", customer_note="wrote to Ada")
    args = [*what.split(), shop.name, "--yes"] + (["--email", ADA["email"]] if what == "payer erase" else [*TEST_MODE])

    def left():
        return len(ctl.json("charge", "list", shop.name, *TEST_MODE, "--email", ADA["email"]))

    seen = {left()}
    with Load(shop) as load:
        for commit in range(1, TIMES + 1):
            assert kill_at(httpd, args, 1 + commit % 2)
            assert ctl.ok("store", "check") == ""
            seen.add(left())
        done = ctl.run(*args)
        assert done.returncode in (0, 3), done.stderr  # a charge that is just being made is left
    assert len(seen) > 1 and 0 not in seen
    assert left() == 0 and ctl.ok("store", "check") == ""
    ctl.ok(*args)
    assert ctl.json("token", "list", shop.name, *TEST_MODE) == []
    assert traces(ctl, tmp_path, "copy") == []
    assert load.count > 0 and TRACES
