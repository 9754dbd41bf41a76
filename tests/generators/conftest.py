# SPDX-License-Identifier: Apache-2.0
"""Servers of the tests, from tests/api, for what generators make of docs/openapi.json."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "api"))

from fixtures import fail_unseen_failures  # noqa: E402


def pytest_configure(config):
    fail_unseen_failures(config)
