# SPDX-License-Identifier: Apache-2.0
"""Private memory of an idle child with and without the module, after start and after 10,000 requests."""

from bench import ROUNDS, Bench, Side, main
from harness import wait_for
from workload import (CHARGE_LUA, LIBRARIES, Charges, Server, all_good, private_bytes, pss_bytes, run_name, serving,
                      wrk)

REQUESTS = 10000
CHILDREN = 2
CLIENTS = 16  # an eighth of the workers
SIZES = (f"StartServers {CHILDREN}\nServerLimit {CHILDREN}\nThreadsPerChild 64\nThreadLimit 64\n"
         "MaxRequestWorkers 128\nMinSpareThreads 1\nMaxSpareThreads 128")
MIB = 2**20


def children(server):
    """Both have started when the parent has said so and there are as many as there are to be."""
    return wait_for(lambda: (server.pids() if len(server.pids()) == CHILDREN else None), "the children")


def means(server):
    pids = children(server)
    return {name: sum(map(read, pids)) / len(pids) / MIB
            for name, read in (("private", private_bytes), ("pss", pss_bytes))}


def plain_server():
    """Apache without the module, which answers the same requests with something."""
    server = Server(SIZES, payments=False)
    answer = server.root / "answer"
    answer.write_bytes(b"{}")
    server.extra += (f"LoadModule bench_noop_module {LIBRARIES}/.libs/mod_bench_noop.so\n<Location /noop>\n"
                     f"SetHandler bench-noop\nBenchNoopAnswer {answer}\n</Location>")
    return server


def load(server, charges):
    """At least REQUESTS requests."""
    done = 0
    while done < REQUESTS:
        if charges:
            done += charges.run(seconds=1)["requests"]
        else:
            done += all_good("no-op", wrk(server, "/noop", CLIENTS, "none", CHARGE_LUA, run_name(), 1))["requests"]


def once(with_module):
    with serving(Server(SIZES) if with_module else plain_server()) as server:
        charges = Charges(server, CLIENTS) if with_module else None
        server.restart()  # idle means that it has done nothing yet, not even for this test
        idle = means(server)
        load(server, charges)
        after = means(server)
    return {**idle, **{name + "_after": value for name, value in after.items()}}


def run():
    bench = Bench("memory", "Memory of an idle child, with the module and without")
    ours, peer = Side("with", lambda: once(True)), Side("without", lambda: once(False))
    for number in range(1, ROUNDS + 1):
        for side in (ours, peer):
            side.runs.append(side.run())
        print(f"  round {number} of {ROUNDS}: with {ours.runs[-1]['private']:.2f} MiB, without "
              f"{peer.runs[-1]['private']:.2f} MiB; after {REQUESTS:,} requests "
              f"{ours.runs[-1]['private_after']:.2f} and {peer.runs[-1]['private_after']:.2f}", flush=True)
    for figure, what, key in (("private", "after start", "memory"),
                              ("private_after", f"after {REQUESTS:,} requests", "memory_after"),
                              ("pss", "PSS after start", None),
                              ("pss_after", f"PSS after {REQUESTS:,} requests", None)):
        ours.figure = peer.figure = figure
        more = [a - b for a, b in zip(ours.figures(), peer.figures())]
        limits = (2, 1) if key else (None, None)
        bench.measure(f"idle child over one without the module, {what}", more, "MiB", *limits, at_most=True,
                      sides=(ours, peer), key=key)
    bench.note(f"The mean of {CHILDREN} idle children of 64 threads (event), {CLIENTS} clients before. Private memory: "
               "what a child shares with no other process, without the pages of the store's file, which are the "
               "kernel's cache. PSS counts those too. Without the module the same requests went to a no-op handler.")
    return bench.finish()


if __name__ == "__main__":
    main(run)
