# SPDX-License-Identifier: Apache-2.0
"""Patterns of the log lines that a test expects. Each names its lines, by number or by words."""

import functools
import re

LEVELS = ("warn", "error", "crit", "alert", "emerg")
# Lines that say nothing but where they come from, of every level, and with every number that either could have.
BARE = "\n".join([f"[payments:{level}] [pid 1:tid 1] PAY99999: " for level in LEVELS]
                 + [f"[core:{level}] [pid 1:tid 1] AH99999: " for level in LEVELS]
                 + [f"PAY{number:05}: " for number in range(1000)] + [f"AH{number:05}: " for number in range(11000)])
NUMBER = re.compile(r"(PAY|AH)(\d{5})")


@functools.lru_cache(maxsize=None)
def expectation(pattern):
    """`pattern` compiled; refused if it would forgive a line whose number it does not name in full."""
    compiled = re.compile(pattern)
    for found in compiled.finditer(BARE):
        start = BARE.rfind("\n", 0, found.start()) + 1
        number = NUMBER.search(BARE, start)
        if number[2] not in pattern:
            raise ValueError(f"{pattern!r} would forgive {number[0]}, whatever it says: "
                             "name each line by its number in full, or by its words")
    return compiled
