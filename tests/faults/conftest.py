# SPDX-License-Identifier: Apache-2.0
"""Servers of a test's own, and the size of a run: small in ./dev test, full in ./dev faults."""

import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "api"))

from fixtures import authority, fail_unseen_failures, proxy, server, till, upstream  # noqa: E402,F401
from harness import ROOT, loaded  # noqa: E402,F401

FULL = os.environ.get("PAYMENTS_FAULTS") == "full"
collect_ignore = [] if FULL else ["test_chaos.py"]  # by chance, and so for ./dev faults alone


def pytest_configure(config):
    fail_unseen_failures(config)
    for line in ("root: what only root can do, part of the runs as root", "any_mpm(reason): of modules of tests/api",
                 "full: what a small run cannot tell from chance, part of ./dev faults only"):
        config.addinivalue_line("markers", line)


def pytest_collection_modifyitems(config, items):
    """What only root can do is for the runs as root, and what needs its full size for ./dev faults."""
    gone = {name for name, is_here in (("root", ROOT), ("full", FULL)) if not is_here}
    kept = [item for item in items if not gone & {mark.name for mark in item.iter_markers()}]
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = kept


def size(small, full):
    """How many of what a test repeats."""
    return full if FULL else small
