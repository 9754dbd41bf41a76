# SPDX-License-Identifier: Apache-2.0
"""A charge that is opened and decided in one transaction against one that is opened and then resolved."""

from bench import Bench, Side, main, rounds
from workload import BUILD, CLIENTS, Charges, Server, serving


def two_transactions():
    """A server whose acquirer is the simulator behind one that is asked as a real one is."""
    server = Server()
    server.extra += (f"LoadModule acquirer_counter_module {BUILD}/tests/faults/.libs/mod_acquirer_counter.so\n"
                     "CounterFile /dev/null\n")
    return server


def run():
    bench = Bench("one_transaction", "A charge in one transaction against two")
    with serving(Server(), two_transactions()) as (one, two):
        ours, peer = Side("one", Charges(one).warm_up().run), Side("two", Charges(two).warm_up().run)
        rounds(ours, peer)
    bench.compare(f"durable charges/s, {CLIENTS} clients, one transaction against two", ours, peer)
    bench.note("Only the simulator may decide before the charge is written: it leaves no trace.")
    return bench.finish()


if __name__ == "__main__":
    main(run)
