# SPDX-License-Identifier: Apache-2.0
"""Distributes the tests among several processes of pytest-xdist, which is not needed otherwise.

Each process has its own servers. A share is a group of tests that one process runs in a row: the tests of a file, or
those of them for one MPM. Tests mostly wait, so there may be more processes than cores.
"""

import re

import pytest

# Files whose tests request many answers that one function makes; the other paths have their own files.
ALIKE = pytest.mark.any_mpm("what is answered here has no word about threads, processes or connections in its code")
MPM = re.compile(r"\[(event|worker|prefork)\b")


def mpm_of(nodeid):
    """The MPM that a test is for; None if the test chooses it itself."""
    mpm = MPM.search(nodeid)
    return mpm[1] if mpm else None


def share_of(nodeid):
    """The name of the share that a test is part of."""
    file = nodeid.partition("::")[0]
    mpm = mpm_of(nodeid)
    return f"{file} {mpm}" if mpm else file


def in_order(items):
    """Tests with a server of their own, which wait longest, come first: short shares at the end fill all processes."""
    return sorted(items, key=lambda item: bool(MPM.search(item.name)))


def scheduler(config, log):
    """The scheduler that distributes the shares."""
    from xdist.scheduler import LoadScopeScheduling  # pylint: disable=import-outside-toplevel

    class Shares(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            return share_of(nodeid)

        def remove_node(self, node):
            """A test that ended its process is not started again: it would end the next process, too."""
            ended = next(((unit, test) for unit in self.assigned_work[node].values()
                          for test, done in unit.items() if not done), None)
            if ended is None:
                return super().remove_node(node)
            unit, test = ended
            unit[test] = True
            super().remove_node(node)
            return test

    return Shares(config, log)
