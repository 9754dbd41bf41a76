# SPDX-License-Identifier: Apache-2.0
"""Prints the contents of a junit file. `counts FILE`: passed, failed, skipped ("0 1 0" if the file does not exist);
`names FILE`: a line for each of the first failures; `failures FILE`: all failures, with the end of their output."""

import sys
import xml.etree.ElementTree as tree

LINES_MAX = 40  # of one test
TESTS_MAX = 10  # named at the end of a run, and printed in full


def suites(path):
    return list(tree.parse(path).getroot().iter("testsuite"))


def counts(path):
    try:
        found = suites(path)
    except (OSError, tree.ParseError):
        return ["0 1 0"]

    def total(name):
        return sum(int(suite.get(name)) for suite in found)

    bad = total("failures") + total("errors")
    return [f"{max(0, total('tests') - bad - total('skipped'))} {bad} {total('skipped')}"]


def bad_tests(path):
    """Returns (name, the fault); an error is a fault in the fixtures of a test."""
    try:
        found = suites(path)
    except (OSError, tree.ParseError) as error:
        return [(f"{path}: {error}", "")]
    return [(f"{kind.tag} of {case.get('classname')}::{case.get('name')}", kind.text or kind.get("message") or "")
            for suite in found for case in suite.iter("testcase") for kind in case
            if kind.tag in ("failure", "error")]


def names(path):
    return [f"    {name}" for name, _ in bad_tests(path)[:TESTS_MAX]]


def failures(path):
    for number, (name, said) in enumerate(bad_tests(path)):
        yield f"{name}:"
        lines = said.splitlines() if number < TESTS_MAX else []
        yield from lines[-LINES_MAX:]


for line in {"counts": counts, "names": names, "failures": failures}[sys.argv[1]](sys.argv[2]):
    print(line)
