# SPDX-License-Identifier: Apache-2.0
"""What no request does: the server takes out Idempotency-Keys whose time is over."""

import struct

from harness import wait_for
from raw_lmdb import Raw

ENTRIES = 450  # more than two of the watchdog's steps
ROUND_S = 10  # between two rounds, by the boot clock
HOUR, DAY = 3600, 24 * 3600
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


def put(httpd, *keys):
    raw = Raw(httpd.store)
    raw.begin()
    for key in keys:
        raw.put("kept_due", key, b"")
    raw.commit()
    raw.close()


def test_keys_expire(server):
    """One whose time is over goes in the next round, however many there are; one that has time left stays."""
    httpd = server(clock=True)
    httpd.expect_log("PAY00109")  # time passes for a round that waits for the writer lock, too
    clock = httpd.clock
    clock.stop()
    ends = clock.now() + DAY
    later = struct.pack(">Q", SIGN_BIT + round(ends * 1e6)) + entry(0)[8:]
    put(httpd, later, *(entry(number) for number in range(1, ENTRIES + 1)))
    assert has(httpd.store, entry(ENTRIES))

    def gone(key):
        """After one more round."""
        clock.pass_seconds(ROUND_S)
        return not has(httpd.store, key)

    wait_for(lambda: gone(entry(ENTRIES)), "the last key to expire")
    assert not has(httpd.store, entry(1))
    put(httpd, entry(1))
    clock.pass_seconds(ends - HOUR - clock.now())
    wait_for(lambda: gone(entry(1)), "another round")
    assert clock.now() < ends and has(httpd.store, later)
    clock.pass_seconds(ends - clock.now())
    wait_for(lambda: gone(later), "the key whose time has come")
