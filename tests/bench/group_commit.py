# SPDX-License-Identifier: Apache-2.0
"""Durable charges against the same build with a commit of its own for every piece of work."""

from bench import Bench, Side, main
from workload import CLIENTS, Charges, Server, serving, twice

ALONE = "PaymentsCommitBatch 1"


def run():
    bench = Bench("group_commit", "Group commit against one commit for each piece of work")
    with serving(Server(), Server(directives=ALONE)) as (together, alone):
        ours, peer = Charges(together), Charges(alone)
        sides, installed = twice((together, alone),
                                 lambda: (Side("in groups", ours.run), Side("one by one", peer.run)),
                                 lambda: (ours.warm_up(), peer.warm_up()))
    bench.compare(f"durable charges/s, {CLIENTS} clients, against one commit for each", *sides, 5, 8,
                  key="group_commit", installed=installed)
    bench.note(f"Two servers of one build, each with its own store; the peer has {ALONE}.")
    return bench.finish()


if __name__ == "__main__":
    main(run)
