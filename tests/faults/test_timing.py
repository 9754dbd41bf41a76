# SPDX-License-Identifier: Apache-2.0
"""Encrypted orders that are refused take the same time, whatever is wrong with them.

The rule: each round opens one block of every kind in random order and ranks their times. If kinds do not differ, a
kind's sum of ranks over n rounds of k kinds has mean n(k+1)/2 and variance n(k*k-1)/12 (Friedman's test). A kind is out
when its sum is more than four deviations off, which happens by chance to one of the six in 2,600 runs; only a kind that is out again, on the same
side, in a second run of its own fails. The control adds 1 % to one kind (padding taken off twice more, as if noise were
made where it is needed) and must be out: a run that could not see that has shown nothing. So few rounds as ./dev test has
time for could not: there it is valgrind that sees whether a branch depends on a secret (unit/base/crypto/test_rsa_padding.c).
"""

import math
import os
import pathlib
import statistics
import subprocess

import pytest

from harness import BUILD

KINDS = ["type", "short padding", "no end", "number", "no JSON", "length"]
ROUNDS = 2000
OUT = 4.0
PROGRAM = pathlib.Path(BUILD) / "tests/faults/timing"
pytestmark = pytest.mark.full


def measured(directory, rounds, control):
    """The times of each round by kind; the program itself holds the answers against each other."""
    directory.mkdir(mode=0o700)
    done = subprocess.run([PROGRAM, directory, str(rounds), str(control)], capture_output=True, text=True, check=False,
                          env={**os.environ, "PAYMENTS_OVERLAYFS": "tests"})
    assert done.returncode == 0, done.stderr
    lines = [tuple(map(int, line.split())) for line in done.stdout.splitlines()]
    told = [dict(lines[at:at + len(KINDS)]) for at in range(0, len(lines), len(KINDS))]
    assert len(told) == rounds and all(sorted(one) == list(range(len(KINDS))) for one in told)
    return told


def deviations(rounds):
    """How far each kind's sum of ranks is off, in deviations; above 0: slower."""
    sums = [0.0] * len(KINDS)
    for one in rounds:
        for kind, time in one.items():
            sums[kind] += 1 + sum(other < time for other in one.values()) + 0.5 * (
                sum(other == time for other in one.values()) - 1)
    spread = math.sqrt(len(rounds) * (len(KINDS) ** 2 - 1) / 12)
    return [(value - len(rounds) * (len(KINDS) + 1) / 2) / spread for value in sums]


def medians(rounds):
    return [statistics.median(one[kind] for one in rounds) for kind in range(len(KINDS))]


def shown(rounds):
    return ", ".join(f"{name} {middle / 1000:.0f} us ({off:+.1f})"
                     for name, middle, off in zip(KINDS, medians(rounds), deviations(rounds)))


def test_refusals_take_the_same_time(tmp_path):
    first = measured(tmp_path / "first", ROUNDS, 0)
    middles = medians(first)
    assert max(middles) < 1.25 * min(middles), shown(first)
    print(f"PAYMENTS_FAULTS: {ROUNDS} rounds of refused orders: {shown(first)}")
    out = {kind: off for kind, off in enumerate(deviations(first)) if abs(off) > OUT}
    if not out:
        return
    again = measured(tmp_path / "again", ROUNDS, 0)
    print(f"PAYMENTS_FAULTS: once more: {shown(again)}")
    twice = [KINDS[kind] for kind, off in enumerate(deviations(again)) if abs(off) > OUT and out.get(kind, 0) * off > 0]
    assert not twice, shown(again)


def test_the_control_is_seen(tmp_path):
    """One percent more in one kind."""
    rounds = measured(tmp_path / "control", ROUNDS, 2)
    print(f"PAYMENTS_FAULTS: the control: {shown(rounds)}")
    assert deviations(rounds)[0] > OUT, shown(rounds)
