# SPDX-License-Identifier: Apache-2.0
"""Servers of a test's own, and the size of a run: small in ./dev test, full in ./dev faults."""

import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "api"))

from fixtures import authority, proxy, server, till, upstream  # noqa: E402,F401
from harness import ROOT, loaded  # noqa: E402,F401

FULL = os.environ.get("PAYMENTS_FAULTS") == "full"
collect_ignore = [] if FULL else ["test_chaos.py"]  # by chance, and so for ./dev faults alone


def pytest_configure(config):
    config.addinivalue_line("markers", "root: what only root can do, part of the runs as root")


def pytest_collection_modifyitems(config, items):
    """What only root can do is for the runs as root."""
    kept = [item for item in items if ROOT or not item.get_closest_marker("root")]
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = kept


def size(small, full):
    """How many of what a test repeats."""
    return full if FULL else small
