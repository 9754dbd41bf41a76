# SPDX-License-Identifier: Apache-2.0
"""Durable charges against a handler in the same httpd that answers the same bytes and does nothing."""

from bench import Bench, Side, main
from workload import (CHARGE_LUA, CLIENTS, WARM_UP_S, Charges, all_good, noop_answer, noop_server,
                      run_name, same_answer, serving, twice, wrk)

NOOP_PATH = "/api/v0/tokenized-card-charge"  # as long as the real one, and nobody's


def run():
    bench = Bench("noop", "Durable charges against a handler that does nothing")
    with serving(noop_server(NOOP_PATH)) as server:
        charges = Charges(server)
        real = charges.sample()
        noop_answer(server, real.body)
        same_answer(bench, real, charges.shop.call("POST", NOOP_PATH, {"reference": "order-1"}))

        def nothing(seconds=None):
            lua = (CLIENTS, charges.shop.secret, CHARGE_LUA, run_name())
            return all_good("no-op", wrk(server, NOOP_PATH, *lua, *([seconds] if seconds else [])))

        sides, installed = twice((server,), lambda: (Side("charges", charges.run), Side("no-op", nothing)),
                                 lambda: (charges.warm_up(), nothing(WARM_UP_S)))
    bench.compare(f"durable charges/s, {CLIENTS} clients, against a no-op handler", *sides, 0.45, 0.8, key="noop",
                  installed=installed)
    return bench.finish()


if __name__ == "__main__":
    main(run)
