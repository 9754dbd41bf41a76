# SPDX-License-Identifier: Apache-2.0
"""Processes that are stopped in the middle of a commit by preload_stop, and then killed."""

import os
import pathlib
import signal
import subprocess

from conftest import loaded
from harness import PAYMENTSCTL, wait_for


def is_stopped(pid):
    try:
        status = pathlib.Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        return False
    return status.rpartition(")")[2].split()[0] == "T"


def stops_in(root):
    """The directory of the files whose removal stops who commits; the store's owner removes them."""
    stops = root / "stop"
    stops.mkdir()
    stops.chmod(0o777)
    return stops


def kill_at(store, stops, args, commit):
    """Kills paymentsctl in its commit of that number, with the store's lock in its hands; 0: it ended before."""
    stop = stops / "ctl"
    process = subprocess.Popen([PAYMENTSCTL, "-s", f"lmdb:{store}", *args], stdout=subprocess.DEVNULL,
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
