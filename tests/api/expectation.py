# SPDX-License-Identifier: Apache-2.0
"""Patterns of the log lines that a test expects. Each names its lines by their numbers; words alone are for lines that
other modules log without a number, after the name of the module: r"\\[include:error\\].* unable to include"."""

import functools
import re

LEVELS = ("warn", "error", "crit", "alert", "emerg")
# Lines that contain only their origin, of every level, and with every number that they could have.
BARE = "\n".join([f"[payments:{level}] [pid 1:tid 1] PAY99999: " for level in LEVELS]
                 + [f"[core:{level}] [pid 1:tid 1] AH99999: " for level in LEVELS]
                 + [f"PAY{number:05}: " for number in range(1000)] + [f"AH{number:05}: " for number in range(11000)])
NUMBER = re.compile(r"(PAY|AH)(\d{5})")
OF_OTHERS = re.compile(r"\\\[(?!payments)[a-z0-9_]+:(" + "|".join(LEVELS) + r")\\\]")


def alternatives(pattern):
    """The parts between its bars, except for bars in parentheses and brackets."""
    return re.split(r"\|(?![^()]*\))(?![^\[\]]*\])", pattern)


@functools.lru_cache(maxsize=None)
def expectation(pattern):
    """Compiles `pattern`; rejects it if it names no number, or could match a line without naming its full number."""
    compiled = re.compile(pattern)
    for one in alternatives(pattern):
        if not NUMBER.search(one) and not OF_OTHERS.search(one):
            raise ValueError(f"{one!r} names no line by its number, so that it would forgive any line with these words")
    for found in compiled.finditer(BARE):
        start = BARE.rfind("\n", 0, found.start()) + 1
        number = NUMBER.search(BARE, start)
        if number[2] not in pattern:
            raise ValueError(f"{pattern!r} would forgive {number[0]}, whatever it says: "
                             "name each line by its number in full, or by its words")
    return compiled
