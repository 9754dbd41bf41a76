# SPDX-License-Identifier: Apache-2.0
"""Durable charges with 5 million stored, references in series, against an empty store; draws the curve."""

import os
import shutil
import subprocess
import time

import plots
from bench import Bench, Side, check, main, median, rounds
from harness import ROOT
from workload import CLIENTS, LIBRARIES, Charges, Server, serving

STORED = int(os.environ.get("BENCH_STORED", "5000000"))
STEPS = (0, 0.1, 0.2, 0.4, 1)  # of STORED
STEP_RUNS = 3
BYTES_A_CHARGE = 2000  # room that is wanted on the disk, with what a run adds


class Filler:
    """tests/bench/fill beside the server, as the store's owner."""

    def __init__(self, server, charges):
        self.server, self.charges, self.next = server, charges, 0
        self.program = server.root / "fill"
        shutil.copy(LIBRARIES / "fill", self.program)
        self.program.chmod(0o755)

    def fill(self, total):
        """Until the store has `total` charges, those that were charged by requests among them."""
        more, began = total - self.server.stat()["charges"], time.monotonic()
        if more <= 0:
            return
        owner = {"user": "www-data", "group": "www-data", "extra_groups": []} if ROOT else {}
        done = subprocess.run([self.program, f"lmdb:{self.server.store}", self.charges.shop.name, "order-0",
                               str(self.next), str(more)], capture_output=True, text=True, check=True, **owner)
        check(int(done.stdout) == more, f"{done.stdout} of {more} charges were filled in")
        took = time.monotonic() - began
        print(f"  {more:,} charges filled in, {took:.0f} s, {more / took:,.0f}/s", flush=True)
        self.next += more
        self.charges.filled(more)
        self.charges.check()


def empty_run(installed=False):
    """One run on a store made for it."""
    with serving(Server()) as server:
        if installed:
            server.install()
        return Charges(server).warm_up().run()


def run():
    bench = Bench("stored", f"Durable charges with {STORED:,} stored")
    free = shutil.disk_usage(bench.store).free
    check(free > STORED * BYTES_A_CHARGE, f"{bench.store} has {free:,} bytes free, {STORED:,} charges want "
          f"{STORED * BYTES_A_CHARGE:,}: set TMPDIR, or BENCH_STORED to fewer")
    with serving(Server()) as server:
        charges = Charges(server)
        filler = Filler(server, charges)
        curve = bench.data["curve"] = []
        for part in STEPS:
            filler.fill(int(STORED * part))
            stored = server.stat()["charges"]
            step = Side(f"{stored:,} stored", charges.run)
            rounds(step, count=STEP_RUNS)
            curve.append({"stored": stored, "rate": median(step.figures()), "low": min(step.figures()),
                          "high": max(step.figures())})
            bench.measure(f"durable charges/s, {CLIENTS} clients, {step.name}", step.figures(), "/s", sides=[step])
        full, empty = Side(f"{STORED:,} stored", charges.run), Side("empty", empty_run)
        rounds(full, empty)
        server.install()
        charges.warm_up()
        print("  as installed:", flush=True)
        installed = Side(full.name, charges.run), Side("empty", lambda: empty_run(True))
        rounds(*installed)
        size = server.stat()["fileBytes"]
    bench.compare(f"durable charges/s with {STORED:,} stored, against an empty store", full, empty, 0.8, 1.0,
                  key="stored", installed=installed)
    bench.note(f"References in series; the store's file grew to {size / 2**30:.2f} GiB. The empty store is a new one "
               "in each round, and both sides were warmed up for a second.")
    status = bench.finish()
    plots.draw("stored")
    return status


if __name__ == "__main__":
    main(run)
