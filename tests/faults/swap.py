# SPDX-License-Identifier: Apache-2.0
"""A process of the server's user that waits for the store's lock file to be opened, and lays links in the place of both
files at that moment: who opens them by their names next is led to what the links name.

swap.py STORE LOCK_TARGET DATA_TARGET, until its standard input ends; then it puts the files back, and says how often
it laid the links.
"""

import ctypes
import os
import select
import struct
import sys

IN_OPEN, IN_NONBLOCK, RENAME_EXCHANGE, AT_FDCWD = 0x20, 0o4000, 2, -100
HELD_MS = 4  # how long the links stay: the time of an opening, with which they fail
FILES = ("lock.mdb", "data.mdb")
libc = ctypes.CDLL(None, use_errno=True)


def exchange(one, other):
    if libc.renameat2(AT_FDCWD, one.encode(), AT_FDCWD, other.encode(), RENAME_EXCHANGE) != 0:
        raise OSError(ctypes.get_errno(), f"renameat2 {one}")


def lock_was_opened(events):
    at = 0
    while at < len(events):
        _, _, _, size = struct.unpack_from("iIII", events, at)
        if events[at + 16:at + 16 + size].rstrip(b"\0") == b"lock.mdb":
            return True
        at += 16 + size
    return False


def main(store, *targets):
    os.chdir(store)
    for name, target in zip(FILES, targets):
        os.symlink(target, f".{name}")
    watch = libc.inotify_init1(IN_NONBLOCK)
    if watch < 0 or libc.inotify_add_watch(watch, b".", IN_OPEN) < 0:
        raise OSError(ctypes.get_errno(), "inotify")
    print("ready", flush=True)
    laid = 0
    while True:
        ready, _, _ = select.select([watch, sys.stdin], [], [])
        if sys.stdin in ready:
            break
        if not lock_was_opened(os.read(watch, 65536)):
            continue
        for name in FILES:
            exchange(name, f".{name}")
        laid += 1
        select.select([], [], [], HELD_MS / 1000)
        for name in FILES:
            exchange(name, f".{name}")
    for name in FILES:
        os.unlink(f".{name}")
    print(laid, flush=True)


main(*sys.argv[1:])
