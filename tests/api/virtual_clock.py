# SPDX-License-Identifier: Apache-2.0
"""The clocks of a server, moved and stopped by the test."""

import mmap
import struct
import time

HAND = struct.Struct("=qq")  # of one clock, in microseconds: ahead of the real one by; where it stands, or 0
WALL, MONOTONIC, BOOT = range(3)
REAL = (time.CLOCK_REALTIME, time.CLOCK_MONOTONIC, time.CLOCK_BOOTTIME)


class Clock:
    """CLOCK_REALTIME, CLOCK_MONOTONIC and CLOCK_BOOTTIME of processes started with `env`.

    Httpd(clock=True).clock is that of a server, and of the processes of its ctl(). The clocks run like the real ones
    until a test changes them, which takes effect at once in every process:

        clock.stop()             each clock stops, and no time-out, lease or pause of the product ends
        clock.pass_seconds(4.9)  actions due within that time are done; each clock continues, or stands, that much later
        clock.set(-3600)         changes only the wall clock, like an administrator or NTP
        clock.go_on()            they run again, from their current time

    A wait until some time ends within 20 ms of real time once the clock shows it (tests/faults/preload_clock.c);
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
        """The time of the wall clock, like time.time()."""
        return self.now_us(WALL) / 1e6

    def stop(self):
        self.write([(ahead, self.now_us(which)) for which, (ahead, _) in enumerate(self.hands)])

    def go_on(self):
        """Writes first where it continues from, and then that it runs: a reader in between finds it stopped."""
        self.write([(self.now_us(which) - self.real_us(which) if stands else ahead, stands)
                    for which, (ahead, stands) in enumerate(self.hands)])
        self.write([(ahead, 0) for ahead, _ in self.hands])

    def pass_seconds(self, seconds, *clocks):
        """For all clocks, or the named ones (WALL, MONOTONIC, BOOT)."""
        by = round(seconds * 1_000_000)
        self.write([self.later(hand, by) if which in (clocks or range(len(REAL))) else hand
                    for which, hand in enumerate(self.hands)])

    def pass_unless(self, come, seconds=1):
        """For conditions of wait_for: returns whether the condition holds; if not, lets time pass.

        The monotonic clock is left alone: time-outs of operations in progress use it.
        """
        if not come:
            self.pass_seconds(seconds, WALL, BOOT)
        return come

    @staticmethod
    def later(hand, by):
        ahead, stands = hand
        return (ahead, stands + by) if stands else (ahead + by, 0)

    def set(self, seconds):
        """Sets the wall clock to the real time plus this many seconds."""
        ahead = round(seconds * 1_000_000)
        stands = self.real_us(WALL) + ahead if self.hands[WALL][1] else 0
        self.write([(ahead, stands), *self.hands[1:]])
