# SPDX-License-Identifier: Apache-2.0
"""A charge that is opened and decided in one transaction against one that is opened and then resolved."""

from bench import Bench, Side, main
from workload import BUILD, CLIENTS, Charges, Server, serving, twice


def two_transactions():
    """A server whose acquirer is the simulator behind one that is asked as a real one is."""
    server = Server()
    server.extra += (f"LoadModule acquirer_counter_module {BUILD}/tests/faults/.libs/mod_acquirer_counter.so\n"
                     "CounterFile /dev/null\n")
    return server


def run():
    bench = Bench("one_transaction", "A charge in one transaction against two")
    with serving(Server(), two_transactions()) as (one, two):
        ours, peer = Charges(one), Charges(two)
        sides, installed = twice((one, two), lambda: (Side("one", ours.run), Side("two", peer.run)),
                                 lambda: (ours.warm_up(), peer.warm_up()))
    bench.compare(f"durable charges/s, {CLIENTS} clients, one transaction against two", *sides, installed=installed)
    bench.note("Only the simulator may decide before the charge is written: it leaves no trace.")
    return bench.finish()


if __name__ == "__main__":
    main(run)
