# SPDX-License-Identifier: Apache-2.0
"""What one request costs: system calls, context switches, CPU time, heap calls; charges beside their peers."""

import os
import pathlib
import re
import struct
import subprocess

from bench import Bench, check, main, markdown_table, text_table
from harness import wait_for
from workload import (CHARGE_LUA, CLIENTS, LIBRARIES, LIST_PATH, SECONDS, Charges, import_history, noop_answer,
                      noop_server, run_name, serving, wrk)

NOOP_PATH = "/api/v0/tokenized-card-charge"
UNKNOWN_PATH = "/api/v1/transaction/order-that-nobody-made/verify"
LIST_RECORDS = 100
# The calls that are told of by name; the rest is in the sum.
NAMED = ("futex", "epoll_wait", "epoll_ctl", "read", "writev", "write", "pwrite64", "fdatasync", "newfstatat", "getpid")
TICK_S = 1 / os.sysconf("SC_CLK_TCK")
COLUMNS = ("a request of", "requests/s", "CPU us", "of it in the kernel", "context switches", "heap calls",
           "system calls", *NAMED)


class Counters:
    """What httpd's children have used so far."""

    def __init__(self, server):
        self.server = server
        self.pids = server.pids()

    def heap(self):
        return struct.unpack("Q", (self.server.root / "heap").read_bytes())[0]

    def cpu(self):
        """User and system time in seconds."""
        fields = [pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split() for pid in self.pids]
        return sum(int(one[11]) for one in fields) * TICK_S, sum(int(one[12]) for one in fields) * TICK_S

    def switches(self):
        total = 0
        for pid in self.pids:
            for status in pathlib.Path(f"/proc/{pid}/task").glob("*/status"):
                total += sum(int(n) for n in re.findall(r"ctxt_switches:\s+(\d+)", status.read_text()))
        return total

    def all(self):
        return self.heap(), *self.cpu(), self.switches()


def traced(server, ask):
    """System calls a request, by name, with all clients at work."""
    out = server.root / "strace"
    trace = subprocess.Popen(["strace", "-f", "-c", "-o", str(out), *(f"-p{pid}" for pid in server.pids())],
                             stderr=subprocess.PIPE, text=True)
    attached = 0
    while attached < len(server.pids()):
        line = trace.stderr.readline()
        check(line, "strace could not be attached: only root can, on many machines")
        attached += "attached" in line
    requests = ask()["requests"]
    trace.send_signal(2)
    trace.communicate()
    wait_for(out.exists, "strace's table")
    calls = {}
    for line in out.read_text().splitlines():
        words = line.split()
        if len(words) >= 5 and words[3].isdigit():
            calls[words[-1]] = int(words[3])
    calls.pop("total", None)
    check(calls, f"strace saw nothing: {out.read_text()}")
    return {name: count / requests for name, count in calls.items()}


def costs(server, name, ask):
    """One row of the table: first without anything that watches, then under strace."""
    counters = Counters(server)
    before = counters.all()
    result = ask()
    used = [after - old for after, old in zip(counters.all(), before)]
    heap, user, kernel, switches = (one / result["requests"] for one in used)
    calls = traced(server, ask)
    print(f"  {name}: {result['rate']:,.0f}/s", flush=True)
    return {"name": name, "rate": result["rate"], "cpu_us": (user + kernel) * 1e6,
            "kernel_part": kernel / (user + kernel), "switches": switches, "heap": heap, "calls": calls}


def row(cost):
    calls = cost["calls"]
    return (cost["name"], f"{cost['rate']:,.0f}", f"{cost['cpu_us']:.0f}", f"{cost['kernel_part']:.0%}",
            f"{cost['switches']:.1f}", f"{cost['heap']:.1f}", f"{sum(calls.values()):.1f}",
            *(f"{calls.get(name, 0):.2f}" for name in NAMED))


def watched_server():
    server = noop_server(NOOP_PATH)
    (server.root / "heap").write_bytes(bytes(8))
    (server.root / "heap").chmod(0o666)
    server.env = {"LD_PRELOAD": str(LIBRARIES / ".libs/preload_malloc.so"),
                  "BENCH_MALLOC_FILE": str(server.root / "heap")}
    return server


def run():
    bench = Bench("costs", "What one request costs")
    with serving(watched_server()) as server:
        charges = Charges(server)
        key = charges.shop.secret
        noop_answer(server, charges.sample().body)
        import_history(server, charges.shop, LIST_RECORDS)
        (server.docroot / "list.json").write_bytes(charges.shop.call("GET", LIST_PATH).body)
        asks = {
            "a charge": charges.run,
            "the no-op handler": lambda: wrk(server, NOOP_PATH, CLIENTS, key, CHARGE_LUA, run_name(), SECONDS),
            "verify, unknown (404)": lambda: wrk(server, UNKNOWN_PATH, key=key),
            f"a list of {LIST_RECORDS} refunds": lambda: wrk(server, LIST_PATH, key=key),
            "the same as a static file": lambda: wrk(server, "/list.json", key=key),
        }
        rows = [costs(server, name, ask) for name, ask in asks.items()]
    bench.data["rows"] = rows
    table = [COLUMNS, *map(row, rows)]
    print(text_table(table))
    bench.note(f"{CLIENTS} clients. System calls are counted by strace in a run of their own, which is slower; heap "
               "calls are malloc, calloc and realloc.")
    bench.note(markdown_table(table))
    return bench.finish()


if __name__ == "__main__":
    main(run)
