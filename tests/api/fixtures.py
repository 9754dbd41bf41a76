# SPDX-License-Identifier: Apache-2.0
"""Fixtures that the tests of more than one folder use."""

import pytest

from harness import Httpd


@pytest.fixture
def server():
    """Makes servers with a configuration of their own; all are stopped and checked at the end."""
    made = []

    def make(start=True, **kwargs):
        one = Httpd(**kwargs)
        made.append(one)
        return one.start() if start else one

    yield make
    failures = []
    for one in made:
        try:
            one.close()
        except AssertionError as failure:
            failures.append(str(failure))
    assert not failures, "\n".join(failures)
