# SPDX-License-Identifier: Apache-2.0
"""What no request does: the server takes out Idempotency-Keys whose time is over."""

import struct
import time

from harness import wait_for
from raw_lmdb import Raw

ENTRIES = 450  # more than two of the watchdog's steps
ROUNDS_S = 40  # one round every 10 seconds, the first one after the server has come up
SIGN_BIT = 1 << 63


def entry(number):
    """Of kept_due: its time was over long ago, and what it stands for is gone."""
    scope, kind_and_operation = struct.pack(">IB", 1, 0), bytes([0, 4])
    return struct.pack(">Q", SIGN_BIT + number) + scope + kind_and_operation + bytes(31) + bytes([number % 256])


def has(directory, key):
    raw = Raw(directory)
    raw.begin()
    try:
        raw.get("kept_due", key)
        return True
    except OSError:
        return False
    finally:
        raw.commit()
        raw.close()


def test_keys_expire(server):
    httpd = server()
    later = struct.pack(">Q", SIGN_BIT + int((time.time() + 3600) * 1e6)) + entry(0)[8:]
    raw = Raw(httpd.store)
    raw.begin()
    for number in range(1, ENTRIES + 1):
        raw.put("kept_due", entry(number), b"")
    raw.put("kept_due", later, b"")
    raw.commit()
    raw.close()
    assert has(httpd.store, entry(ENTRIES))
    wait_for(lambda: not has(httpd.store, entry(ENTRIES)), "the last key to expire", ROUNDS_S)
    assert not has(httpd.store, entry(1))
    assert has(httpd.store, later)
