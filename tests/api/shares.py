# SPDX-License-Identifier: Apache-2.0
"""How the tests are shared out between several processes by pytest-xdist, which is not needed otherwise.

Each process has servers of its own. A share is what one process runs in a row: the tests of a file, or those of them
that one MPM has. Most of a test's time is waiting, so there may be more processes than cores.
"""

import re

import pytest

# Of files whose tests ask for many answers that one function makes; the ways there have files of their own.
ALIKE = pytest.mark.any_mpm("what is answered here has no word about threads, processes or connections in its code")
MPM = re.compile(r"\[(event|worker|prefork)\b")


def mpm_of(nodeid):
    """The MPM that a test is for, None: of the test's own choice."""
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
    """What hands the shares out."""
    from xdist.scheduler import LoadScopeScheduling  # pylint: disable=import-outside-toplevel

    class Shares(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            return share_of(nodeid)

        def remove_node(self, node):
            """A test that ended its process is not begun again, by which it would end the next one."""
            ended = next(((unit, test) for unit in self.assigned_work[node].values()
                          for test, done in unit.items() if not done), None)
            if ended is None:
                return super().remove_node(node)
            unit, test = ended
            unit[test] = True
            super().remove_node(node)
            return test

    return Shares(config, log)
