# SPDX-License-Identifier: Apache-2.0
"""What every benchmark reports with: paired rounds, medians, verdicts, tables, JSON and Markdown.

A figure here is the median of its rounds, its range the least and the greatest of them. The sides of
a comparison are run in turn, A B A B, and a ratio is taken within each pair: what else the machine
does at that moment meets both.

A figure of charges is measured twice: on servers sized for it, which is what is judged, and on the same
servers as Debian installs them.
"""

import datetime
import json
import os
import pathlib
import platform
import shutil
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile

# Private servers and their stores; /tmp is memory on many systems, where nothing is durable.
os.environ.setdefault("TMPDIR", "/var/tmp")
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "api"))
from harness import TOP, httpd_binary  # noqa: E402

ROUNDS = int(os.environ.get("BENCH_ROUNDS", "5"))
SECONDS = int(os.environ.get("BENCH_SECONDS", "5"))
OUT = pathlib.Path(os.environ.get("BENCH_OUT", TOP / "build/bench"))
ROUNDS_MIN = 5  # with fewer it was only a trial
BELOW, REACHED, AIM = "BELOW", "reached", "aim reached"
COLUMNS = ("measure", "this", "peer", "measured", "range", "as installed", "at least", "aim", "verdict")


class Wrong(Exception):
    """The numbers do not add up: the run measured something else than it claims."""


def check(holds, what):
    if not holds:
        raise Wrong(what)


def median(values):
    return statistics.median(list(values))


# --- paired rounds ---

class Side:
    """One side of a comparison: `run` does one round of it and returns a dict with `figure` in it."""

    def __init__(self, name, run, figure="rate"):
        self.name, self.run, self.figure = name, run, figure
        self.runs = []

    def figures(self, name=None):
        return [one[name or self.figure] for one in self.runs]

    def summary(self):
        values = self.figures()
        short = {"name": self.name, "median": median(values), "low": min(values), "high": max(values)}
        for name in ("p50", "p99"):
            if all(name in one for one in self.runs):
                short[name] = median(self.figures(name))
        return short


def rounds(*sides, count=None):
    """Runs the sides in turn, `count` times, and says how it goes."""
    count = count or ROUNDS
    for number in range(1, count + 1):
        said = []
        for side in sides:
            side.runs.append(side.run())
            said.append(f"{side.name} {show(side.runs[-1][side.figure])}/s")
            if "p99" in side.runs[-1]:
                said[-1] += f" (p99 {side.runs[-1]['p99']:.1f} ms)"
        if len(sides) == 2:
            said.append(f"ratio {sides[0].figures()[-1] / sides[1].figures()[-1]:.2f}")
        print(f"  round {number} of {count}: " + ", ".join(said), flush=True)


def ratios(ours, peer):
    return [a / b for a, b in zip(ours.figures(), peer.figures())]


def show(value):
    """A number for people: three digits that count."""
    if value is None:
        return "-"
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}" if abs(value) < 10 else f"{value:.1f}"


# --- one benchmark ---

class Bench:
    def __init__(self, name, title):
        self.name, self.title = name, title
        self.measures, self.notes, self.data = [], [], {}
        self.store = tempfile.gettempdir()
        print(f"{name}: {title}", flush=True)
        kind = file_system(self.store)
        check(kind not in ("tmpfs", "ramfs"), f"{self.store} is memory, where nothing is durable: set TMPDIR")

    def measure(self, what, values, unit="x", at_least=None, aim=None, at_most=False, sides=(), key=None,
                installed=()):
        """One line: the median of `values`, judged against what the project wants of it.

        `at_most`: less is better, and `at_least` is the most that is allowed. `key` names the line of
        the table of the project's aims that this is. `installed`: the values of the same on servers as
        Debian installs them; they are shown, not judged.
        """
        middle = median(values)
        worse = (lambda limit: middle > limit) if at_most else (lambda limit: middle < limit)
        verdict = None
        if at_least is not None:
            verdict = BELOW if worse(at_least) else REACHED if worse(aim) else AIM
        self.measures.append({
            "what": what, "key": key, "unit": unit, "measured": middle, "low": min(values), "high": max(values),
            "values": list(values), "at_most": at_most, "at_least": at_least, "aim": aim, "verdict": verdict,
            "sides": [side.summary() for side in sides],
            "installed": {"measured": median(installed), "low": min(installed), "high": max(installed),
                          "values": list(installed)} if installed else None})

    def compare(self, what, ours, peer, at_least=None, aim=None, key=None, installed=None):
        """`installed`: the two sides on servers as Debian installs them."""
        self.measure(what, ratios(ours, peer), "x", at_least, aim, sides=(ours, peer), key=key,
                     installed=ratios(*installed) if installed else ())
        for side in installed or ():
            lost = sum(one.get("closed", 0) for one in side.runs)
            self.note(f"As installed: {side_text([side.summary()], 0)}"
                      + (f"; httpd closed {lost} connections that were about to be used." if lost else "."))

    def note(self, text):
        if text not in self.notes:
            self.notes.append(text)

    def document(self):
        return {"name": self.name, "title": self.title,
                "when": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
                "settings": {"rounds": ROUNDS, "seconds": SECONDS, "trial": ROUNDS < ROUNDS_MIN},
                "machine": machine(self.store), "versions": versions(), "commit": commit(),
                "measures": self.measures, "notes": self.notes, "data": self.data}

    def finish(self):
        """Prints and writes what was measured; the exit status is 1 when something is below."""
        if ROUNDS < ROUNDS_MIN:
            self.note(f"A trial: {ROUNDS} rounds of {SECONDS} s say nothing of speed.")
        document = self.document()
        OUT.mkdir(parents=True, exist_ok=True)
        (OUT / f"{self.name}.json").write_text(json.dumps(document, indent=2) + "\n")
        (OUT / f"{self.name}.md").write_text(markdown(document))
        print(text_table(table(self.measures)))
        for note in self.notes:
            print("  " + note)
        print(f"  written to {OUT / self.name}.json and .md", flush=True)
        below = [one["what"] for one in self.measures if one["verdict"] == BELOW]
        for what in below:
            print(f"  BELOW what is wanted at least: {what}", flush=True)
        return 1 if below else 0


def main(run):
    """Runs a benchmark; 0: all is reached, 1: something is below, 2: it could not be measured."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(2))  # what was started is stopped
    try:
        sys.exit(run())
    except (Wrong, AssertionError, subprocess.SubprocessError, OSError) as wrong:
        print(f"  not measured: {wrong}", file=sys.stderr, flush=True)
        if isinstance(wrong, subprocess.CalledProcessError):
            print(f"  {wrong.stderr}", file=sys.stderr, flush=True)
        sys.exit(2)


# --- tables ---

def amount(value, unit):
    if value is None:
        return "-"
    return show(value) + (unit if unit == "x" else f" {unit}" if unit else "")


def side_text(sides, at):
    if len(sides) <= at:
        return "-"
    side = sides[at]
    text = f"{side['name']}: {show(side['median'])} ({show(side['low'])}-{show(side['high'])})"
    return text + (f", p99 {show(side['p99'])} ms" if "p99" in side else "")


def installed_text(one):
    """The figure on servers as Debian installs them."""
    own = one.get("installed")
    return f"{amount(own['measured'], one['unit'])} ({show(own['low'])}-{show(own['high'])})" if own else "-"


def table(measures):
    rows = [COLUMNS]
    for one in measures:
        unit, word = one["unit"], "<= " if one["at_most"] else ""
        rows.append((one["what"], side_text(one["sides"], 0), side_text(one["sides"], 1),
                     amount(one["measured"], unit), f"{show(one['low'])}-{show(one['high'])}", installed_text(one),
                     word + amount(one["at_least"], unit) if one["at_least"] is not None else "-",
                     word + amount(one["aim"], unit) if one["aim"] is not None else "-",
                     one["verdict"] or "-"))
    return rows


def text_table(rows):
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join("  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows)


def markdown_table(rows):
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([lines[0], "|" + "---|" * len(rows[0]), *lines[1:]]) + "\n"


def place_text(document):
    """On what it was measured; the same for all that one build measured on one machine."""
    box, names = document["machine"], document["versions"]
    return (f"{box['cpu']}, {box['cores']} cores, {box['memory_gib']} GiB, Linux {box['kernel']}, store on "
            f"{box['store_file_system']}; " + ", ".join(f"{name} {text}" for name, text in names.items() if text)
            + f"; commit {document['commit']}; {document['settings']['rounds']} rounds of "
            f"{document['settings']['seconds']} s.")


def markdown(document):
    notes = "".join(f"\n{note}\n" for note in document["notes"])
    return (f"### {document['title']}\n\n{markdown_table(table(document['measures']))}{notes}\n"
            f"{place_text(document)} {document['when']}\n")


# --- where it was measured ---

def said(*command):
    """What a command prints, or "" where it cannot be run."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    except OSError:
        return ""
    return (done.stdout + done.stderr).strip()


def file_system(path):
    """The kind of file system that holds `path`, by the longest mount point above it."""
    best, kind = "", "unknown"
    real = os.path.realpath(path)
    for line in pathlib.Path("/proc/self/mounts").read_text().splitlines():
        point, name = line.split()[1:3]
        point = point.replace("\\040", " ")
        if len(point) >= len(best) and (real + "/").startswith(point.rstrip("/") + "/"):
            best, kind = point, name
    return kind


def machine(store):
    cpu = [line.split(":", 1)[1].strip() for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines()
           if line.startswith("model name")]
    return {"cpu": cpu[0] if cpu else platform.machine(), "cores": len(os.sched_getaffinity(0)),
            "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
            "kernel": platform.release(), "store_file_system": file_system(store)}


def word_after(text, mark):
    """The word behind `mark`, without what is stuck to its end."""
    rest = text.partition(mark)[2].split()
    return rest[0].strip("(),;") if rest else ""


def versions():
    httpd = said(httpd_binary(), "-V")
    return {"httpd": word_after(httpd, "Apache/"), "APR": word_after(httpd, "APR "),
            "LMDB": said("pkg-config", "--modversion", "lmdb"), "wrk": word_after(said("wrk", "-v"), "wrk "),
            "PHP": word_after(said("php", "-v"), "PHP ") if shutil.which("php") else "",
            "SQLite": sqlite3.sqlite_version}


def commit():
    git = ["git", "-C", str(TOP)]
    name = said(*git, "rev-parse", "--short=12", "HEAD")
    if not name or " " in name:
        return "unknown"
    return name + (" with changes" if said(*git, "status", "--porcelain") else "")
