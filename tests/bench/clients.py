# SPDX-License-Identifier: Apache-2.0
"""Durable charges a second for 1 to 256 clients; draws the curve."""

import plots
from bench import Bench, Side, main, median, rounds
from workload import EVENT_2048, Charges, Server, serving

COUNTS = (1, 2, 4, 8, 16, 32, 64, 128, 256)


def run():
    bench = Bench("clients", "Durable charges for 1 to 256 clients")
    with serving(Server(EVENT_2048)) as server:
        charges = Charges(server).warm_up()
        sides = [Side(f"{count} clients", lambda count=count: charges.run(clients=count)) for count in COUNTS]
        rounds(*sides)
    for side in sides:
        bench.measure(f"durable charges/s, {side.name}", side.figures(), "/s", sides=[side])
    bench.data["curve"] = [{"clients": count, "rate": median(side.figures()), "low": min(side.figures()),
                            "high": max(side.figures()), "p99": median(side.figures("p99"))}
                           for count, side in zip(COUNTS, sides)]
    bench.note("2 child processes of 1024 threads: 256 clients of one account want 2048 workers.")
    status = bench.finish()
    plots.draw("clients")
    return status


if __name__ == "__main__":
    main(run)
