# SPDX-License-Identifier: Apache-2.0
"""Durable charges a second for 1 to 256 clients; draws the curve."""

import plots
from bench import Bench, Side, main, median
from workload import EVENT_2048, Charges, Server, serving, twice

COUNTS = (1, 2, 4, 8, 16, 32, 64, 128, 256)


def run():
    bench = Bench("clients", "Durable charges for 1 to 256 clients")
    with serving(Server(EVENT_2048)) as server:
        charges = Charges(server)
        sides, installed = twice((server,), lambda: [
            Side(f"{count} clients", lambda count=count: charges.run(clients=count)) for count in COUNTS],
            charges.warm_up)
    for side, own in zip(sides, installed):
        bench.measure(f"durable charges/s, {side.name}", side.figures(), "/s", sides=[side], installed=own.figures())
    bench.data["curve"] = [{"clients": count, "rate": median(side.figures()), "low": min(side.figures()),
                            "high": max(side.figures()), "p99": median(side.figures("p99"))}
                           for count, side in zip(COUNTS, sides)]
    bench.note("2 child processes of 1024 threads; as installed, 6 of 25, so that above 150 clients some wait for one.")
    status = bench.finish()
    plots.draw("clients")
    return status


if __name__ == "__main__":
    main(run)
