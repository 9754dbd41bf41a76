# SPDX-License-Identifier: Apache-2.0
"""Whether the tests notice small changes of the source: ./dev mutate.

`mutate.py copy TOP TREE` brings the files that stdin names, each ended by NUL, from TOP into the copy TREE.
`mutate.py run TREE OUT SEED COUNT FILE...` judges that many random mutants of the files; `again TREE OUT LIST` those
of a file of results. TREE is built in build/normal. JOBS mutants are judged at once, each with one of the
directories that MUTATE_COPIES names, in which tests/api can run; without these, by unit programs alone.
"""

import collections
import concurrent.futures
import functools
import json
import os
import pathlib
import queue
import re
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

UNIT_LIMIT = (15, 5) # seconds, and so many times what it takes without a mutant
API_LIMIT = (60, 3)
GRACE = 15 # seconds in which pytest takes its servers down
NOT_COUNTED = ("does not compile", "same object", "no such line")
LIBTOOL_ALONE = {"-o": 2, "-rpath": 2, "-export-symbols-regex": 2, "-module": 1, "-avoid-version": 1, "-fPIE": 1}


# ---- the copy

def copy(top, tree):
    """Only what differs is written, so that make builds only that anew."""
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


# ---- compiling and linking one object anew

class Workshop:
    """A built tree: its own commands, with one object exchanged."""

    def __init__(self, tree, out):
        self.tree, self.build, self.out = tree, tree / "build/normal", out
        self.lock = threading.Lock()

    def said_by_make(self, folder, changed, target, word):
        """The command by which make would make the target after that change."""
        said = subprocess.run(["make", "-n", "V=1", "-W", changed, target], cwd=self.build / folder,
                              capture_output=True, text=True, check=False).stdout.replace("\\\n", " ")
        found = [line for line in said.splitlines() if word in line]
        if not found:
            sys.exit(f"mutate: make does not say how {target} is made in {self.build / folder}")
        return found[-1].rpartition("; ")[2] if word != " -MT " else found[-1]

    @functools.lru_cache(None)
    def object_of(self, source):
        """As make knows it: base/libpayments_la-pay_money.lo."""
        _, floor, name = source.split("/")
        stem = name.removesuffix(".c")
        for path in sorted((self.build / "mod_payments" / floor).glob("*.?o")) \
                + sorted((self.build / "mod_payments" / floor).glob("*.o")):
            if path.stem in (stem, f"libpayments_la-{stem}", f"libhttpd_la-{stem}", f"mod_payments_la-{stem}"):
                return f"{floor}/{path.name}"
        sys.exit(f"mutate: {source} has no object in {self.build}")

    @functools.lru_cache(None)
    def compiler(self, source):
        words = self.said_by_make("mod_payments", source.partition("/")[2], self.object_of(source), " -MT ")
        flags = shlex.split(words.partition(" -MT ")[0])
        if "--mode=compile" in flags:
            flags = flags[flags.index("--mode=compile") + 1:] + ["-fPIC", "-DPIC"]
        return flags + ["-g0", "-w", f"-I{(self.tree / source).parent}"]

    def compile(self, source, text, target):
        """Its status. Each object is compiled of a file of one name, and takes its source for the real one."""
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

    def of_library(self, folder, word):
        """An archive of libtool's as the linker knows it, with what it wants itself."""
        path = self.build / folder / word
        wants = re.search(r"^dependency_libs='(.*)'$", path.read_text(), re.M)
        return [str(path.parent / ".libs" / (path.stem + ".a"))] + [
            re.sub(r".*/lib(.*)\.la$", r"-l\1", want) for want in shlex.split(wants[1] if wants else "")]

    def link(self, folder, changed, target, mutant, to, also=()):
        """`mutant`: (the object as make knows it, the object's path). It stands ahead of the archive that has
        its original, which is then not taken out; an object that make names itself is exchanged."""
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
            elif word.endswith((".a", ".la")) or word.startswith("-l"):
                late += self.of_library(folder, word) if word.endswith(".la") else [word]
            elif index:
                made.append(word)
        if str(mutant[1]) not in made:
            made.append(str(mutant[1]))
        subprocess.run([words[0], *made, *late, *also, "-o", str(to)], cwd=self.build / folder, check=True,
                       capture_output=True)

    def link_unit(self, mutant, to):
        self.link("tests", "unit/unit.o", "unit/unit_tests", mutant, to)

    def link_served(self, source, mutant, copied):
        """What tests/api have of it: the module, the tool, or both."""
        floor = source.split("/")[1]
        if floor != "ctl":
            self.link("mod_payments", "httpd/mod_payments_la-mod_payments.lo", "mod_payments.la", mutant,
                      copied / "build/mod_payments/.libs/mod_payments.so", ["-shared", "-fPIC"])
        if floor != "httpd":
            self.link("mod_payments", "ctl/paymentsctl.o", "paymentsctl", mutant, copied / "build/mod_payments/paymentsctl")


# ---- one test

def end_all_of(words):
    """Kills the processes that have these words in their environment: what a run of ours left behind."""
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if words.encode() in (entry / "environ").read_bytes():
                os.kill(int(entry.name), signal.SIGKILL)
        except OSError:
            pass # it has ended, or is another user's


def run_limited(command, limit, interrupt=False, **options):
    """(status, what it said); status None: it was still at work after `limit` seconds."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                          stdin=subprocess.DEVNULL, start_new_session=True, **options) as process:
        try:
            said = process.communicate(timeout=limit)[0]
            return process.returncode, said
        except subprocess.TimeoutExpired:
            if interrupt:
                os.killpg(process.pid, signal.SIGINT)
                try:
                    process.communicate(timeout=GRACE)
                except subprocess.TimeoutExpired:
                    pass
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            return None, process.communicate()[0]


class Bench:
    """Where one mutant at a time is tried."""

    def __init__(self, workshop, number, copied):
        self.workshop, self.copied = workshop, copied
        self.dir = workshop.out / f"bench-{number}"
        self.dir.mkdir(parents=True, exist_ok=True)
        self.program = self.dir / "unit_tests"
        self.environment = dict(os.environ, PYTHONDONTWRITEBYTECODE="1", PAYMENTS_MPM="event")

    def run_unit(self, name, limit, program=None):
        """(passed, what failed or how)."""
        status, said = run_limited([str(program or self.program), name], limit, cwd=self.workshop.tree,
                                   env=dict(self.environment, TMPDIR=os.environ.get("MUTATE_TMPDIR", "/tmp")))
        failed = re.findall(r"^[^\s:]+:\d+:[FE]:[^:]*:([^:]*:\d+)", said, re.M)
        return status == 0, "time limit" if status is None else failed[0] if failed else f"status {status}"

    def run_api(self, names, limit):
        command = ["/usr/bin/python3", "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-rfE", "--tb=line", "-n", "2",
                   *names]
        build = self.copied / "build"
        environment = dict(self.environment, PAYMENTS_BUILD=str(build), HOME=str(self.copied / "home"),
                           PAYMENTSCTL=str(build / "mod_payments/paymentsctl"))
        status, said = run_limited(command, limit, interrupt=True, cwd=self.copied / "tests/api", env=environment)
        if status is None:
            end_all_of(f"PAYMENTS_BUILD={build}")
            return False, "time limit"
        failed = re.findall(r"^(?:FAILED|ERROR) (.*?)(?: - .*)?$", said, re.M)
        return status == 0, failed[0] if failed else f"status {status}: {said[-300:]}"


# ---- the judgement

class Judge:
    def __init__(self, workshop, copies):
        self.workshop = workshop
        self.benches = queue.Queue()
        for number in range(len(copies) or int(os.environ.get("JOBS", "1"))):
            self.benches.put(Bench(workshop, number, copies[number] if copies else None))
        self.lock = threading.Lock()
        self.known = {} # test: (lock, [passed, seconds])

    def seconds_without(self, bench, kind, name):
        """What it takes on the unmutated source, where it is run once; None: it fails there too."""
        with self.lock:
            lock, known = self.known.setdefault((kind, name), (threading.Lock(), []))
        with lock:
            if not known:
                begun = time.monotonic()
                if kind == "unit":
                    passed, what = bench.run_unit(name, 600, self.workshop.build / "tests/unit/unit_tests")
                else:
                    for part in ("mod_payments/.libs/mod_payments.so", "mod_payments/paymentsctl"):
                        shutil.copy(self.workshop.build / part, bench.copied / "build" / part)
                    passed, what = bench.run_api([name], 900)
                known += [passed, time.monotonic() - begun]
                if not passed:
                    print(f"{kind} {name} fails without a mutant too, and judges none: {what}", flush=True)
            return known[1] if known[0] else None

    def red(self):
        return sorted(test for test, (_, known) in self.known.items() if known and not known[0])

    def tests(self, source, bench):
        found = tests_of.tests_of(source, self.workshop.build)
        number = collections.Counter()
        for kind in ("unit", "api") if bench.copied else ("unit",):
            for name in (name for of, name in found if of == kind):
                number[kind] += 1
                if number[kind] <= tests_of.BOUNDS[kind]:
                    yield kind, name

    def fails(self, bench, kind, name, seconds):
        """What fails with the mutant, or None. What passes when it is run again has not failed for the mutant."""
        least, times = UNIT_LIMIT if kind == "unit" else API_LIMIT
        limit = least + times * seconds
        if kind == "unit":
            passed, what = bench.run_unit(name, limit)
            return None if passed else what
        passed, what = bench.run_api([name], limit)
        if not passed and "::" in what and bench.run_api([what], limit)[0]:
            return None
        return None if passed else what

    def judge(self, record):
        bench = self.benches.get()
        begun = spent = 0
        try:
            mutant = (self.workshop.object_of(record["file"]), self.workshop.out / "objects" / f"{record['id']}.o")
            has_program = False
            record["verdict"] = "survived"
            for kind, name in self.tests(record["file"], bench):
                seconds = self.seconds_without(bench, kind, name)
                if seconds is None:
                    continue
                begun = time.monotonic()
                if kind == "api":
                    self.workshop.link_served(record["file"], mutant, bench.copied)
                elif not has_program:
                    self.workshop.link_unit(mutant, bench.program)
                    has_program = True
                record["tried"] = record.get("tried", []) + [f"{kind} {name}"]
                what = self.fails(bench, kind, name, seconds)
                spent += time.monotonic() - begun
                if what is not None:
                    record.update(verdict=f"killed by {kind}", by=name, what=what)
                    break
            record["seconds"] = round(spent, 2)
        finally:
            self.benches.put(bench)
        return record


# ---- the mutants

def text_of(workshop, source):
    return (workshop.tree / source).read_text()


def made(workshop, record, text):
    """The record of a mutant whose text this is, with its verdict if it is not one to be judged."""
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
    """So many random mutants that are to be judged, and those met on the way that are not."""
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
    """The mutants of a file of results, wherever their lines stand now."""
    batch = []
    for line in path.read_text().splitlines():
        old = json.loads(line)
        if old.get("verdict") in NOT_COUNTED:
            continue
        record = {key: old[key] for key in ("id", "floor", "file", "line", "kind", "before", "after")}
        text = text_of(workshop, old["file"]) if (workshop.tree / old["file"]).is_file() else None
        begin = old["line"] # of the first of its lines
        batch.append((record, text and mutants.apply(text, begin, old["before"], old["after"])))
    return list(pool.map(lambda one: made(workshop, *one), batch))


# ---- the report

def changed_line(record):
    """One line for the two that differ."""
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
            by = f" {record['by']} ({record['what']})" if "by" in record else ""
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
    return 0 if count and not judge.red() else 1


if __name__ == "__main__":
    sys.exit(main())
