# SPDX-License-Identifier: Apache-2.0
"""Webhook deliveries to one loopback httpd over kept-alive connections."""

import os
import subprocess
import time

from bench import Bench, Side, check, main, rounds
from harness import ROOT, wait_for
from receiver import INSECURE, closed_port
from workload import LIBRARIES, Server, noop_server, run_name, serving

EVENTS = int(os.environ.get("BENCH_EVENTS", "20000"))  # of a round
HOOK = "/shop/hook"
MINUTES_MAX = 10


class Deliveries:
    """A shop whose events all wait, until its webhook is one that answers."""

    def __init__(self, server, receiver):
        self.server, self.receiver, self.shop = server, receiver, server.shop()
        self.point(closed_port())

    def point(self, port):
        self.server.ctl("webhook", "set", self.shop.name, f"http://127.0.0.1:{port}{HOOK}", "--mode", "test")

    def fill(self):
        """Decided charges, one event each, by the store's own operations as its owner."""
        owner = {"user": "www-data", "group": "www-data", "extra_groups": []} if ROOT else {}
        done = subprocess.run([LIBRARIES / "fill", f"lmdb:{self.server.store}", self.shop.name,
                               f"order-{run_name()}", "1", str(EVENTS)], capture_output=True, text=True, check=True,
                              **owner)
        check(int(done.stdout) == EVENTS, f"{done.stdout} of {EVENTS} charges were filled in")

    def waiting(self):
        return self.server.stat()["events"]

    def run(self):
        """Events that wait, delivered: the time from the receiver's being there to the last one's being gone."""
        self.fill()
        check(self.waiting() == EVENTS, "there are other events than those filled in")
        before = len(self.receiver.access_lines())
        began = time.monotonic()
        self.point(self.receiver.port)
        wait_for(lambda: not self.waiting(), "the last delivery", 60 * MINUTES_MAX)
        took = time.monotonic() - began
        self.point(closed_port())
        lines = self.receiver.access_lines()[before:]
        check(len(lines) == EVENTS, f"{EVENTS} events were delivered with {len(lines)} requests")
        check(all(" 200 " in line for line in lines), "the receiver refused some")
        return {"rate": EVENTS / took}


def run():
    bench = Bench("deliveries", "Webhook deliveries to one receiver on this machine")
    with serving(Server(extra=INSECURE), noop_server(HOOK)) as (server, receiver):
        server.expect_log("PAY00267")
        side = Side("webhooks", Deliveries(server, receiver).run)
        rounds(side)
    bench.measure("webhook deliveries/s, one receiver", side.figures(), "/s", 2000, 2000, sides=[side],
                  key="deliveries")
    bench.note(f"{EVENTS:,} events that waited, in each round; from the webhook's being set to the last one's being "
               "gone from the store. Plain HTTP over 16 kept-alive connections at most; the receiver is httpd with a "
               "handler that does nothing, on the same cores.")
    return bench.finish()


if __name__ == "__main__":
    main(run)
