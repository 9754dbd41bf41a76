# SPDX-License-Identifier: Apache-2.0
"""An authenticated 404 (verify of an unknown reference) against a handler that answers it at once."""

from bench import Bench, Side, check, main, rounds
from workload import CLIENTS, SECONDS, WARM_UP_S, noop_answer, noop_server, same_answer, serving, wrk

PATH = "/api/v1/transaction/order-that-nobody-made/verify"
NOOP_PATH = "/api/v0/transaction/order-that-nobody-made/verify"


def run():
    bench = Bench("unknown", "An authenticated 404 against a handler that does nothing")
    with serving(noop_server(NOOP_PATH, status=404)) as server:
        shop = server.shop()
        noop_answer(server, shop.call("GET", PATH).body)
        same_answer(bench, shop.call("GET", PATH), shop.call("GET", NOOP_PATH))

        def asked(path):
            def once(seconds=SECONDS):
                result = wrk(server, path, key=shop.secret, seconds=seconds)
                check(result["bad"] == result["requests"], f"{path}: not every answer was a 404")
                return result
            once(WARM_UP_S)
            return once

        ours, peer = Side("404", asked(PATH)), Side("no-op", asked(NOOP_PATH))
        rounds(ours, peer)
    bench.compare(f"authenticated 404/s, {CLIENTS} clients, against a no-op handler", ours, peer, 0.85, 0.95,
                  key="unknown")
    return bench.finish()


if __name__ == "__main__":
    main(run)
