# SPDX-License-Identifier: Apache-2.0
"""A process of the server's user that waits for the store's lock file to be opened, and lays links in the place of both
files at that moment: who opens them by their names next is led to what the links name.

swap.py STORE LOCK_TARGET DATA_TARGET, until SIGTERM; then it puts the files back, and says how often it laid the links.
Each step between the event and the links is one that a file may be opened in: there is none that can be left out.
"""

import ctypes
import os
import signal
import sys
import time

IN_OPEN, RENAME_EXCHANGE, AT_FDCWD = 0x20, 2, -100
HELD_S = 0.004  # how long the links stay: the time of an opening, which fails with them
LOCK, DATA = b"lock.mdb", b"data.mdb"
libc = ctypes.CDLL(None, use_errno=True)
renameat2 = libc.renameat2


class Stop(Exception):
    """SIGTERM has come, and the files lie under their names."""


class State:
    waits = stopped = False


def stop(*_):
    State.stopped = True
    if State.waits:
        raise Stop


def lay_while_opened(watch):
    """Until stopped; how often the links were laid."""
    laid = 0
    while True:
        try:
            State.waits = True
            if State.stopped:
                break
            events = os.read(watch, 65536)
            State.waits = False
        except Stop:
            break
        if LOCK not in events:
            continue
        renameat2(AT_FDCWD, LOCK, AT_FDCWD, b".lock.mdb", RENAME_EXCHANGE)
        renameat2(AT_FDCWD, DATA, AT_FDCWD, b".data.mdb", RENAME_EXCHANGE)
        time.sleep(HELD_S)
        renameat2(AT_FDCWD, LOCK, AT_FDCWD, b".lock.mdb", RENAME_EXCHANGE)
        renameat2(AT_FDCWD, DATA, AT_FDCWD, b".data.mdb", RENAME_EXCHANGE)
        laid += 1
    return laid


def main(store, lock_target, data_target):
    os.chdir(store)
    os.symlink(lock_target, ".lock.mdb")
    os.symlink(data_target, ".data.mdb")
    watch = libc.inotify_init1(0)
    if watch < 0 or libc.inotify_add_watch(watch, b".", IN_OPEN) < 0:
        raise OSError(ctypes.get_errno(), "inotify")
    signal.signal(signal.SIGTERM, stop)
    print("ready", flush=True)
    laid = lay_while_opened(watch)
    os.unlink(".lock.mdb")
    os.unlink(".data.mdb")
    print(laid, flush=True)


main(*sys.argv[1:])
