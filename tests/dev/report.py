# SPDX-License-Identifier: Apache-2.0
"""Summarises the results of a run in DIR: the slowest tests, and the longest waits of tests; and in the last line the
number of cases, and how often they ran.

A case is a unit test with its iteration or a test of pytest by its name, however many stages ran it; in stages that
leave no list of names each run is a case.
"""

import pathlib
import re
import sys

SLOWEST = 10
UNIT = re.compile(r"<id>(.*?)</id>\s*<iteration>(\d+)</iteration>")
DURATION = re.compile(r"<duration>(-?[\d.]+)</duration>")


def pytest_cases(stage):
    """Yields (name, seconds) of the tests that were not skipped."""
    if not (stage / "results.xml").exists():
        return []
    import xml.etree.ElementTree as tree  # pylint: disable=import-outside-toplevel # half of the time of a short run
    try:
        found = tree.parse(stage / "results.xml").getroot().iter("testcase")
    except (OSError, tree.ParseError):
        return []
    return [(f"{case.get('classname')}::{case.get('name')}", float(case.get("time")))
            for case in found if case.find("skipped") is None]


def unit_programs(stage):
    """(name, text of its results)."""
    return [(path.stem, path.read_text(errors="replace")) for path in stage.glob("test_*.xml")]


def unit_cases(stage):
    return [(program, *case) for program, text in unit_programs(stage) for case in UNIT.findall(text)]


def stages(results):
    return sorted(path for path in results.iterdir() if path.is_dir())


def cases(results):
    ran = {}
    for line in (results / "stages").read_text().splitlines():
        name, number = line.split()[:2]
        ran[name] = int(number)
    names, unnamed = set(), 0
    for name, number in ran.items():
        found = [name for name, _ in pytest_cases(results / name)] + unit_cases(results / name)
        names.update(found)
        unnamed += 0 if found else number
    return f"{len(names) + unnamed} cases in {sum(ran.values())} runs"


def table(title, rows):
    rows = sorted(rows, reverse=True)[:SLOWEST]
    return [title, *(f"  {seconds:6.1f} s  {what}" for seconds, what in rows), ""] if rows else []


def times(stage):
    programs = [(max(map(float, DURATION.findall(text)), default=0.0), name) for name, text in unit_programs(stage)]
    return [(seconds, f"{stage.name}: {name}") for seconds, name in
            [*((seconds, name) for name, seconds in pytest_cases(stage)), *programs]]


def waits(stage):
    """Lines that harness.wait_for wrote: seconds, the condition, the test."""
    try:
        lines = (stage / "waits").read_text(errors="replace").splitlines()
    except OSError:
        return []
    rows = [line.split("\t") for line in lines]
    return [(float(seconds), f"{stage.name}: {what} ({test})") for seconds, what, test in rows]


def slowest(results):
    return table("the slowest tests:", [row for stage in stages(results) for row in times(stage)]) \
        + table("the slowest waits:", [row for stage in stages(results) for row in waits(stage)])


directory = pathlib.Path(sys.argv[1])
for said in slowest(directory):
    print(said)
print(cases(directory))
