# SPDX-License-Identifier: Apache-2.0
"""The clocks of a server, moved and stopped by the test."""

import mmap
import struct
import time

HAND = struct.Struct("=qq")  # of one clock, in microseconds: ahead of the real one by; where it stands, or 0
WALL, MONOTONIC, BOOT = range(3)
REAL = (time.CLOCK_REALTIME, time.CLOCK_MONOTONIC, time.CLOCK_BOOTTIME)


class Clock:
    """CLOCK_REALTIME, CLOCK_MONOTONIC and CLOCK_BOOTTIME of what is started with `env`.

    Httpd(clock=True).clock is that of a server, and of what its ctl() runs. They go as the real ones until a test says
    otherwise, which holds at once in every process:

        clock.stop()             each stands at what it shows, and no time-out, lease or pause of the product ends
        clock.pass_seconds(4.9)  what was due within that is done; each clock goes on, or stands, so much later
        clock.set(-3600)         the wall clock alone, as an administrator or NTP sets it
        clock.go_on()            they go again, from where they stand

    What waits until a time wakes within 20 ms of real time once the clock shows it (tests/faults/preload_clock.c);
    mod_watchdog runs the product's duties every 100 ms of real time, and each of them only if it is due by its clock.
    Sleeps of httpd itself, and its waits for sockets by epoll, take real time. Httpd.stop() lets the clocks go.
    """

    def __init__(self, path, preload):
        self.path = path
        self.env = {"LD_PRELOAD": str(preload), "PAYMENTS_CLOCK_FILE": str(path)}
        self.hands = [(0, 0) for _ in REAL]
        path.write_bytes(bytes(HAND.size * len(REAL)))
        path.chmod(0o644)

    def write(self, hands):
        self.hands = hands
        with open(self.path, "r+b") as out, mmap.mmap(out.fileno(), 0) as memory:
            for place, hand in enumerate(hands):
                HAND.pack_into(memory, place * HAND.size, *hand)

    @staticmethod
    def real_us(which):
        return time.clock_gettime_ns(REAL[which]) // 1000

    def now_us(self, which):
        ahead, stands = self.hands[which]
        return stands or self.real_us(which) + ahead

    @property
    def by(self):
        """How many seconds the wall clock, while it goes, is ahead of the real one."""
        return self.hands[WALL][0] / 1e6

    def now(self):
        """What the wall clock shows, as time.time()."""
        return self.now_us(WALL) / 1e6

    def stop(self):
        self.write([(ahead, self.now_us(which)) for which, (ahead, _) in enumerate(self.hands)])

    def go_on(self):
        """First where it goes on from, and then that it goes: a reader in between finds it standing."""
        self.write([(self.now_us(which) - self.real_us(which) if stands else ahead, stands)
                    for which, (ahead, stands) in enumerate(self.hands)])
        self.write([(ahead, 0) for ahead, _ in self.hands])

    def pass_seconds(self, seconds, *clocks):
        """Of all clocks, or of those that are named (WALL, MONOTONIC, BOOT)."""
        by = round(seconds * 1_000_000)
        self.write([self.later(hand, by) if which in (clocks or range(len(REAL))) else hand
                    for which, hand in enumerate(self.hands)])

    def pass_unless(self, come, seconds=1):
        """For conditions of wait_for: whether it has come to what they wait for; else time passes.

        The monotonic clock is left alone: time-outs of what is on its way go by it.
        """
        if not come:
            self.pass_seconds(seconds, WALL, BOOT)
        return come

    @staticmethod
    def later(hand, by):
        ahead, stands = hand
        return (ahead, stands + by) if stands else (ahead + by, 0)

    def set(self, seconds):
        """The wall clock is the real one and as many seconds."""
        ahead = round(seconds * 1_000_000)
        stands = self.real_us(WALL) + ahead if self.hands[WALL][1] else 0
        self.write([(ahead, stands), *self.hands[1:]])
