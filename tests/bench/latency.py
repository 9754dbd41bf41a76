# SPDX-License-Identifier: Apache-2.0
"""How long a durable charge takes with 64 clients that charge as fast as they are answered."""

from bench import Bench, Side, main
from workload import CLIENTS, Charges, Server, serving, twice


def run():
    bench = Bench("latency", "How long a durable charge takes")
    with serving(Server()) as server:
        charges = Charges(server)
        (side,), (installed,) = twice((server,), lambda: (Side("charges", charges.run),), charges.warm_up)
    bench.measure(f"p99 of a durable charge, {CLIENTS} clients", side.figures("p99"), "ms", 15, 8, at_most=True,
                  sides=[side], key="latency", installed=installed.figures("p99"))
    bench.measure(f"p50 of a durable charge, {CLIENTS} clients", side.figures("p50"), "ms", at_most=True, sides=[side],
                  installed=installed.figures("p50"))
    bench.note("Every client sends its next charge when it has its answer: the server is always full.")
    return bench.finish()


if __name__ == "__main__":
    main(run)
