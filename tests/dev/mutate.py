# SPDX-License-Identifier: Apache-2.0
"""Finds changes of the source that the tests do not notice: ./dev mutate.

`mutate.py copy TOP TREE` copies the files that stdin names, each ended by NUL, from TOP to TREE.
`mutate.py run TREE OUT SEED COUNT FILE...` judges COUNT random mutants of the files; `again TREE OUT LIST` judges those
of a file of results. TREE is built in build/normal. JOBS mutants are judged at once, each in one of the
directories that MUTATE_COPIES names, in which tests/api can run; without them only unit programs run.
"""

import collections
import concurrent.futures
import functools
import json
import os
import pathlib
import queue
import re
import select
import shlex
import shutil
import signal
import statistics
import subprocess
import sys
import threading
import time

import mutants
import tests_of

UNIT_LIMIT = (15, 5) # seconds, and a multiple of the time that a program takes without a mutant
FILE_LIMIT = 600 # of a file of tests/api or tests/faults
CASE_LIMIT = 120 # of one test there
SILENCE = 90 # pytest prints something at the end of each test
BOUNDED = ("prlimit", f"--data={4 << 30}") # of each process: a change can cause a loop that allocates for ever
GRACE = 15 # seconds in which pytest stops its servers
NO_MUTANT = ("does not compile", "same object")
NOT_COUNTED = NO_MUTANT + ("no such line", "not judged")
LIBTOOL_ALONE = {"-o": 2, "-rpath": 2, "-export-symbols-regex": 2, "-module": 1, "-avoid-version": 1, "-fPIE": 1}


# ---- the copy

def copy(top, tree):
    """Writes only what differs, so that make rebuilds only that."""
    listed = tree.parent / "copied"
    names = [name for name in sys.stdin.read().split("\0") if name and (top / name).is_file()]
    for name in set(listed.read_text().splitlines() if listed.exists() else []) - set(names):
        (tree / name).unlink(missing_ok=True)
    for name in names:
        if not (tree / name).is_file() or (tree / name).read_bytes() != (top / name).read_bytes():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(top / name, tree / name)
        shutil.copymode(top / name, tree / name)
    listed.write_text("\n".join(names) + "\n")


# ---- compiling and linking one object again

class Workshop:
    """A built tree, whose make prints how to compile and link with one object replaced."""

    def __init__(self, tree, out):
        self.tree, self.build, self.out = tree, tree / "build/normal", out
        self.lock = threading.Lock()

    def said_by_make(self, folder, changed, target, word):
        """Returns the command that make would run for the target after that change."""
        said = subprocess.run(["make", "-n", "V=1", "-W", changed, target], cwd=self.build / folder,
                              capture_output=True, text=True, check=False).stdout.replace("\\\n", " ")
        found = [line for line in said.splitlines() if word in line]
        if not found:
            sys.exit(f"mutate: make does not say how {target} is made in {self.build / folder}")
        return found[-1].rpartition("; ")[2] if word != " -MT " else found[-1]

    @functools.lru_cache(None)
    def object_of(self, source):
        """Returns make's name: base/text/libpayments_a-money.o."""
        folder, _, name = source.removeprefix("mod_payments/").rpartition("/")
        stem = name.removesuffix(".c")
        for path in sorted((self.build / "mod_payments" / folder).glob("*o")):
            if path.stem in (stem, f"libpayments_a-{stem}", f"libhttpd_a-{stem}", f"mod_payments_la-{stem}"):
                return f"{folder}/{path.name}"
        sys.exit(f"mutate: {source} has no object in {self.build}")

    @functools.lru_cache(None)
    def compiler(self, source):
        words = self.said_by_make("mod_payments", source.partition("/")[2], self.object_of(source), " -MT ")
        # Where libtool is not called, the assignment of a shell variable precedes it.
        flags = shlex.split(words.partition(" -MT ")[0].rpartition("; ")[2])
        if "--mode=compile" in flags:
            flags = flags[flags.index("--mode=compile") + 1:] + ["-fPIC", "-DPIC"]
        return flags + ["-g0", "-w", f"-I{(self.tree / source).parent}"]

    def compile(self, source, text, target):
        """Returns the compiler's status. #line gives the object the file name and line numbers of the real source."""
        folder = target.with_suffix("")
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "source.c").write_text(f'#line 1 "{self.tree / source}"\n{text}')
        done = subprocess.run(self.compiler(source) + ["-c", "-o", str(target), str(folder / "source.c")],
                              cwd=self.build / "mod_payments", capture_output=True, check=False)
        shutil.rmtree(folder)
        return done.returncode

    @functools.lru_cache(None)
    def original(self, source):
        target = self.out / "objects" / (source.replace("/", "-") + ".o")
        if self.compile(source, (self.tree / source).read_text(), target) != 0:
            sys.exit(f"mutate: {source} does not compile")
        return target.read_bytes()

    @functools.lru_cache(None)
    def linker(self, folder, changed, target):
        return shlex.split(self.said_by_make(folder, changed, target, f" -o {target} "))

    def link(self, folder, changed, target, mutant, to, also=()):
        """`mutant` is (the object as make names it, the path of the mutated object). The mutated object precedes the
        archive, so that the linker does not extract the original; an object on make's own command line is replaced."""
        words = self.linker(folder, changed, target)
        words = words[words.index("--mode=link") + 1:] if "--mode=link" in words else words
        made, late, step = [], [], 0
        for index, word in enumerate(words):
            if step:
                step -= 1
            elif word in LIBTOOL_ALONE:
                step = LIBTOOL_ALONE[word] - 1
            elif word == mutant[0] and folder == "mod_payments":
                made.append(str(mutant[1]))
            elif word.endswith(".lo"):
                made.append(str(pathlib.PurePath(word).parent / ".libs" / (pathlib.PurePath(word).stem + ".o")))
            elif word.endswith(".a") or word.startswith("-l"):
                late.append(word)
            elif index:
                made.append(word)
        if str(mutant[1]) not in made:
            made.append(str(mutant[1]))
        subprocess.run([words[0], *made, *late, *also, "-o", str(to)], cwd=self.build / folder, check=True,
                       capture_output=True)

    def link_unit(self, mutant, to):
        self.link("tests", "unit/unit.o", "unit/unit_tests", mutant, to)

    def link_served(self, source, mutant, copied):
        """Links what tests/api run: the module, the tool, or both."""
        floor = source.split("/")[1]
        if floor != "ctl":
            self.link("mod_payments", "httpd/mod_payments_la-mod_payments.lo", "mod_payments.la", mutant,
                      copied / "build/mod_payments/.libs/mod_payments.so", ["-shared", "-fPIC"])
        if floor != "httpd":
            self.link("mod_payments", "ctl/paymentsctl.o", "paymentsctl", mutant, copied / "build/mod_payments/paymentsctl")


# ---- one test

def end_all_of(words):
    """Kills the processes with this in their environment: those that a test run of ours left behind."""
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if words.encode() in (entry / "environ").read_bytes().split(b"\0"):
                os.kill(int(entry.name), signal.SIGKILL)
        except OSError:
            pass # it has ended, or belongs to another user


def read_until(pipe, end, silence):
    """Returns (the output, True if it is complete): reading stops at `end`, or after `silence` seconds without output."""
    said, heard = [], time.monotonic()
    while True:
        wait = min(end, heard + silence) - time.monotonic()
        if wait <= 0 or not select.select([pipe], [], [], wait)[0]:
            return "".join(said), False
        data = os.read(pipe.fileno(), 65536)
        if not data:
            return "".join(said), True
        said.append(data.decode(errors="replace"))
        heard = time.monotonic()


def run_limited(command, limit, silence=None, **options):
    """Returns (status, output). The status is None if the command ran for `limit` seconds or printed nothing for `silence`
    seconds; it is then interrupted, so that pytest can stop its servers, and killed."""
    with subprocess.Popen([*BOUNDED, *command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                          start_new_session=True, **options) as process:
        said, ended = read_until(process.stdout, time.monotonic() + limit, silence or limit)
        if ended:
            return process.wait(), said
        if silence:
            os.killpg(process.pid, signal.SIGINT)
            read_until(process.stdout, time.monotonic() + GRACE, GRACE)
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        return None, said


class Bench:
    """A place in which one mutant at a time is tested."""

    def __init__(self, workshop, number, copied):
        self.workshop, self.copied = workshop, copied
        self.dir = workshop.out / f"bench-{number}"
        self.dir.mkdir(parents=True, exist_ok=True)
        self.program = self.dir / "unit_tests"
        self.environment = dict(os.environ, PYTHONDONTWRITEBYTECODE="1", PAYMENTS_MPM="event")

    def run_unit(self, name, limit, program=None):
        """Returns (passed, the first test that failed, or the status)."""
        environment = dict(self.environment, MUTATE_BENCH=str(self.dir), TMPDIR=os.environ.get("MUTATE_TMPDIR", "/tmp"))
        status, said = run_limited([str(program or self.program), name], limit, cwd=self.workshop.tree, env=environment)
        if status is None:
            end_all_of(f"MUTATE_BENCH={self.dir}") # check gives each test a process group of its own
        failed = re.findall(r"^[^\s:]+:\d+:[FE]:[^:]*:([^:]*:\d+)", said, re.M)
        return status == 0, "time limit" if status is None else failed[0] if failed else f"status {status}"

    def run_served(self, folder, limit, *words):
        command = ["/usr/bin/python3", "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-rfE", "--tb=line", *words]
        build = self.copied / "build"
        environment = dict(self.environment, PAYMENTS_BUILD=str(build), HOME=str(self.copied / "home"),
                           PAYMENTSCTL=str(build / "mod_payments/paymentsctl"))
        status, said = run_limited(command, limit, SILENCE, cwd=self.copied / "tests" / folder, env=environment)
        end_all_of(f"HOME={self.copied / 'home'}") # servers too, each of which leads a process group of its own
        if status is None:
            return False, "time limit"
        failed = re.findall(r"^(?:FAILED|ERROR) (.*?)(?: - .*)?$", said, re.M)
        return status in (0, 5), failed[0] if failed else f"status {status}: {said[-300:]}" # 5: all were deselected


# ---- the verdict

class Judge:
    def __init__(self, workshop, copies):
        self.workshop = workshop
        self.benches = queue.Queue()
        for number in range(len(copies) or int(os.environ.get("JOBS", "1"))):
            self.benches.put(Bench(workshop, number, copies[number] if copies else None))
        self.lock = threading.Lock()
        self.known = {} # test: (lock, [passed, seconds])

    def without(self, kind, name, run):
        """Returns [passed, seconds] of a test on the unmutated source, on which it runs once."""
        with self.lock:
            lock, known = self.known.setdefault((kind, name), (threading.Lock(), []))
        with lock:
            if not known:
                begun = time.monotonic()
                passed, what = run()
                known += [passed, time.monotonic() - begun]
                if not passed:
                    print(f"{kind} {name} fails without a mutant too, and judges none: {what}", flush=True)
        return known

    def red(self):
        return sorted(test for test, (_, known) in self.known.items() if known and not known[0])

    def tests(self, source, bench):
        found = tests_of.tests_of(source, self.workshop.build)
        number = collections.Counter()
        for kind in ("unit", "api", "faults") if bench.copied else ("unit",):
            for name in (name for of, name in found if of == kind):
                number[kind] += 1
                if kind == "unit" or number[kind] <= tests_of.BOUNDS[kind]:
                    yield kind, name

    def failed_unit(self, bench, name):
        """Returns what fails with the mutant, or None."""
        passed, seconds = self.without("unit", name, lambda: bench.run_unit(
            name, 600, self.workshop.build / "tests/unit/unit_tests"))
        if not passed:
            return None
        passed, what = bench.run_unit(name, UNIT_LIMIT[0] + UNIT_LIMIT[1] * seconds)
        return None if passed else what

    def failed_served(self, bench, folder, name, mutant):
        """The same for a file of tests/api or tests/faults. A test that fails runs again, without the mutant and with it.
        If it fails without the mutant or passes with it, the mutant is not the reason: the rest of the file decides."""
        def unmutated(limit, *words):
            for part in ("mod_payments/.libs/mod_payments.so", "mod_payments/paymentsctl"):
                (bench.copied / "build" / part).unlink(missing_ok=True)
                shutil.copy(self.workshop.build / part, bench.copied / "build" / part)
            return bench.run_served(folder, limit, *words)

        def mutated(limit, *words):
            self.workshop.link_served(*mutant, bench.copied)
            return bench.run_served(folder, limit, *words)

        left_out = []
        while True:
            passed, what = mutated(FILE_LIMIT, "-n", "2", name, *left_out)
            if passed:
                return None
            is_case = "::" in what
            case, limit, words = (what, CASE_LIMIT, []) if is_case else (name, FILE_LIMIT, ["-n", "2"])
            if self.without(folder, case, lambda: unmutated(limit, *words, case))[0] and (
                    not is_case or not mutated(limit, case)[0]):
                return what
            if not is_case:
                return None
            left_out.append(f"--deselect={case}")

    def judge(self, record):
        bench = self.benches.get()
        begun = time.monotonic()
        mutant = (self.workshop.object_of(record["file"]), self.workshop.out / "objects" / f"{record['id']}.o")
        record.update(verdict="survived", tried=[])
        try:
            for kind, name in self.tests(record["file"], bench):
                if kind != "unit":
                    what = self.failed_served(bench, kind, name, (record["file"], mutant))
                else:
                    if not record["tried"]:
                        self.workshop.link_unit(mutant, bench.program)
                    what = self.failed_unit(bench, name)
                record["tried"].append(f"{kind} {name}")
                if what is not None:
                    record.update(verdict="killed by unit" if kind == "unit" else "killed by api", by=name, what=what)
                    break
        except (OSError, subprocess.SubprocessError) as error:
            said = getattr(error, "stderr", None) or b""
            record.update(verdict="not judged", what=f"{error} {said.decode(errors='replace')[-500:]}")
        finally:
            self.benches.put(bench)
        record["seconds"] = round(time.monotonic() - begun, 2)
        return record


# ---- the mutants

def text_of(workshop, source):
    return (workshop.tree / source).read_text()


def made(workshop, record, text):
    """Compiles the text. The record gets a verdict if there is nothing to test."""
    if text is None:
        record["verdict"] = "no such line"
        return record
    target = workshop.out / "objects" / f"{record['id']}.o"
    with workshop.lock:
        original = workshop.original(record["file"])
    if workshop.compile(record["file"], text, target) != 0:
        record["verdict"] = "does not compile"
    elif target.read_bytes() == original:
        record["verdict"] = "same object"
    return record


def drawn(workshop, pool, files, seed, count):
    """Returns records of random mutants until `count` of them can be tested; the others are included."""
    of_floors = collections.defaultdict(list)
    for file in files:
        of_floors[file.split("/")[1]] += mutants.sites(file, text_of(workshop, file))
    stream, number, records = mutants.draw(of_floors, seed), 0, []
    while number < count:
        batch = []
        for floor, site in stream:
            text = text_of(workshop, site.file)
            before, after = mutants.describe(text, site)
            record = {"id": len(records) + len(batch), "floor": floor, "file": site.file, "line": site.line, "kind": site.kind,
                      "before": before, "after": after}
            batch.append((record, text[:site.start] + site.becomes + text[site.end:]))
            if len(batch) == count - number:
                break
        if not batch:
            break
        records += pool.map(lambda one: made(workshop, *one), batch)
        number = sum("verdict" not in record for record in records)
    return records


def listed(workshop, pool, path):
    """Returns the mutants of a file of results, applied to the lines as they are now."""
    batch = []
    for line in path.read_text().splitlines():
        old = json.loads(line)
        if old.get("verdict") in NO_MUTANT:
            continue
        record = {key: old[key] for key in ("id", "floor", "file", "line", "kind", "before", "after")}
        text = text_of(workshop, old["file"]) if (workshop.tree / old["file"]).is_file() else ""
        batch.append((record, mutants.apply(text, old["line"], old["before"], old["after"])))
    return list(pool.map(lambda one: made(workshop, *one), batch))


# ---- the report

def changed_line(record):
    """Returns the lines that differ, before and after, each as one line."""
    before, after = ([" ".join(line.split()) for line in record[key].splitlines()] for key in ("before", "after"))
    pairs = [(old, new) for old, new in zip(before, after) if old != new] or [(" ".join(before), " ".join(after))]
    return " / ".join(old for old, _ in pairs), " / ".join(new for _, new in pairs)


def table(records):
    print(f"\n{'floor':<10} mutants  killed by unit  by API  survived  not counted")
    floors = [floor for floor in tests_of.FLOORS if any(record["floor"] == floor for record in records)]
    for floor in [*floors, "all"]:
        count = collections.Counter(record["verdict"] for record in records if floor in (record["floor"], "all"))
        beside = sum(count[verdict] for verdict in NOT_COUNTED)
        print(f"{floor:<10} {sum(count.values()) - beside:7} {count['killed by unit']:15} {count['killed by api']:7} "
              f"{count['survived']:9} {beside:12}")
    seconds = [record["seconds"] for record in records if "seconds" in record]
    if seconds:
        print(f"median {statistics.median(seconds):.1f} s to the verdict")


def report(records, judge):
    for record in records:
        if record["verdict"] == "survived":
            before, after = changed_line(record)
            untried = "" if record.get("tried") else " (no test was tried)"
            print(f"\nsurvived: {record['file']}:{record['line']}{untried}\n  - {before}\n  + {after}")
    table(records)
    for kind, name in judge.red():
        print(f"fails without a mutant too: {kind} {name}")


def judged(workshop, judge, pool, records, path):
    count = sum("verdict" not in record for record in records)
    done = 0
    with path.open("w") as file:
        for record in records:
            if "verdict" in record:
                file.write(json.dumps(record) + "\n")
        waiting = [pool.submit(judge.judge, record) for record in records if "verdict" not in record]
        for future in concurrent.futures.as_completed(waiting):
            record = future.result()
            done += 1
            by = " ".join(["", record.get("by", ""), f"({record['what']})"]) if "what" in record else ""
            print(f"{done}/{count} {record['file'].partition('/')[2]}:{record['line']} {record['kind']}: "
                  f"{record['verdict']}{by}, {record['seconds']:.1f} s", flush=True)
            file.write(json.dumps(record) + "\n")
            file.flush()
    shutil.rmtree(workshop.out / "objects")
    return count


def main():
    command, tree, out, *words = sys.argv[1:]
    if command == "copy":
        return copy(pathlib.Path(tree), pathlib.Path(out))
    workshop = Workshop(pathlib.Path(tree).resolve(), pathlib.Path(out).resolve())
    judge = Judge(workshop, [pathlib.Path(name) for name in os.environ.get("MUTATE_COPIES", "").split()])
    with concurrent.futures.ThreadPoolExecutor(judge.benches.qsize()) as pool:
        if command == "run":
            seed, count, *files = words
            print(f"PAYMENTS_SEED={seed}", flush=True)
            records = drawn(workshop, pool, files, seed, int(count))
            path = workshop.out / f"{seed}.jsonl"
        else:
            records = listed(workshop, pool, pathlib.Path(words[0]))
            path = workshop.out / "again.jsonl"
        count = judged(workshop, judge, pool, records, path)
    report(records, judge)
    print(f"each mutant with its verdict: {path}")
    return 0 if count and not judge.red() and all(record["verdict"] != "not judged" for record in records) else 1


if __name__ == "__main__":
    sys.exit(main())
