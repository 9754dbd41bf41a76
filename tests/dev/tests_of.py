# SPDX-License-Identifier: Apache-2.0
"""Which tests belong to a file, nearest first.

`tests_of.py of BUILD FILE...` prints lines of KIND and NAME for ./dev test of: "unit test_money", "api test_x.py",
"faults test_x.py", "browser x.test.mjs", "script check_x.sh", "stage demo", then "left unit 12" for those that a bound
omits, and "none FILE". `words EXPRESSION` names the unit programs, and the files of tests/faults and
tests/browser, that pytest's -k would select; `includers HEADER...` names sources that include it, for lint;
`check` prints the faults of tests_of.map.
"""

import collections
import fnmatch
import functools
import os
import pathlib
import re
import subprocess
import sys

TOP = pathlib.Path(os.environ.get("PAYMENTS_TOP") or pathlib.Path(__file__).resolve().parents[2])
MAP = "tests/dev/tests_of.map"
FLOORS = ("base", "model", "store", "acquirer", "service", "httpd", "ctl")
TESTED_BY_UNIT = FLOORS[:5] # each file
LIBRARIES = ("libpayments_a-", "libhttpd_a-") # before the names of their objects; libctl's have no prefix
UNITS_MAX = 12  # programs of one file
APIS_MAX = 3  # files of tests/api of one file
FAULTS_MAX = 2  # of tests/faults
INCLUDERS_MAX = 6  # sources that lint compiles for a header
BOUNDS = {"unit": UNITS_MAX, "api": APIS_MAX, "faults": FAULTS_MAX}
STAGES = ("demo", "fuzz-replay", "browser")


@functools.lru_cache(None)
def words_of(name):
    """"mod_payments/store/payment/refund.c": refund, row."""
    return pathlib.PurePath(name).name.partition(".")[0].removeprefix("test_").split("_")


def is_about(program, words):
    """test_charge_rules: charge, rules; test_store_refund begins with the name of its folder: refund."""
    named = words_of(program)
    return named == words or (named[0] in folders_of(program) and named[1:] == words)


def alike(one, other):
    """The number of words with which both names begin."""
    return len(os.path.commonprefix([words_of(one), words_of(other)]))


# ---- the files of the tree

@functools.lru_cache(None)
def program_paths():
    """Maps each program to the path of its source."""
    return {path.stem: str(path.relative_to(TOP)) for path in sorted((TOP / "tests/unit").rglob("test_*.c"))}


@functools.lru_cache(None)
def programs():
    return sorted(program_paths())


@functools.lru_cache(None)
def folder_of(path):
    """Of mod_payments/store/payment/refund.c and tests/unit/store/payment/test_store_refund.c: store/payment."""
    folder = str(pathlib.PurePath(path).parent)
    return folder.removeprefix("mod_payments").removeprefix("tests/unit").strip("/.")


def folders_of(program):
    return pathlib.PurePath(folder_of(program_paths().get(program, ""))).parts


@functools.lru_cache(None)
def sources():
    """Maps the path of every C file, from the top of the tree, to its text."""
    return {str(path.relative_to(TOP)): path.read_text() for folder in ("mod_payments", "tests/unit")
            for path in sorted((TOP / folder).rglob("*.[ch]"))}


@functools.lru_cache(None)
def api_texts():
    return {path.name: path.read_text() for path in sorted((TOP / "tests/api").glob("test_*.py"))}


@functools.lru_cache(None)
def floor_of(path):
    parts = pathlib.PurePath(path).parts
    return parts[1] if len(parts) > 2 and parts[0] == "mod_payments" and parts[1] in FLOORS else None


# ---- the map

@functools.lru_cache(None)
def rows():
    """(pattern, kinds and names of tests) of each line."""
    found = []
    for line in (TOP / MAP).read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            pattern, *names = line.split()
            found.append((pattern, tuple(kind_of(name) for name in names)))
    return found


def kind_of(name):
    """"test_x.py" as ("api", "test_x.py")."""
    folder, _, base = name.rpartition("/")
    if folder:
        return folder, base
    ending = base.rpartition(".")[2]
    if ending == "c":
        return "unit", base.removesuffix(".c")
    return {"py": "api", "mjs": "browser", "sh": "script"}.get(ending, "unknown"), base


@functools.lru_cache(None)
def row_of(path):
    """The first line whose pattern the path matches: its pattern and its tests."""
    short = path.removeprefix("mod_payments/") if floor_of(path) else path
    return next(((pattern, tests) for pattern, tests in rows() if fnmatch.fnmatchcase(short, pattern)), (None, ()))


def in_map(path):
    return list(row_of(path)[1])


# ---- names

@functools.lru_cache(None)
def subjects():
    """Maps each program to the header that it includes first, which is its subject."""
    first = ((program, re.search(r'^#include "(.*)"', (TOP / path).read_text(), re.M))
             for program, path in program_paths().items())
    return {program: found[1] for program, found in first if found}


def own_programs(path):
    """store/payment/charge.c has test_store_charge_row in the same folder, or that of a name it begins with, or
    that of the folder. In httpd and ctl few files have one."""
    if floor_of(path) not in TESTED_BY_UNIT:
        header = path.removeprefix("mod_payments/")[:-1] + "h"
        return [program for program in programs() if subjects().get(program) == header]
    near = [program for program, at in program_paths().items() if folder_of(at) == folder_of(path)]
    words = words_of(path)
    for length in range(len(words), 0, -1):
        found = [program for program in near if is_about(program, words[:length])]
        if found:
            return found[:1]
    return [program for program in near if program == "test_" + pathlib.PurePath(folder_of(path)).name]


# ---- symbols

def objects(build):
    """Yields (path of the source, path of the object) of all parts of unit_tests."""
    for path in sorted((build / "tests/unit").rglob("*.o")):
        yield str(path.relative_to(build).with_suffix(".c")), path
    for path in sorted((build / "mod_payments").rglob("*.o")):
        name = path.stem
        for library in LIBRARIES:
            name = name.removeprefix(library)
        yield f"{path.parent.relative_to(build)}/{name}.c", path


@functools.lru_cache(None)
def symbols(build):
    """Maps each source to the symbols that its object defines for others, and those that it needs from them."""
    defines, wants = collections.defaultdict(set), collections.defaultdict(set)
    known = dict((str(path), source) for source, path in objects(build))
    if known:
        said = subprocess.run(["nm", "-A", "-P", "-g", *known], capture_output=True, text=True, check=True).stdout
        for line in said.splitlines():
            where, name, kind = line.split()[:3]
            (wants if kind == "U" else defines)[known[where.removesuffix(":")]].add(name)
    return defines, wants


def users(path, build):
    """Maps each source whose object needs symbols of that file to their number."""
    defines, wants = symbols(build)
    return {source: len(wanted & defines[path]) for source, wanted in list(wants.items())
            if source != path and wanted & defines.get(path, set())}


def unit_programs(path, build):
    """All sources that may be affected by a change of that source, nearest first."""
    own = own_programs(path)
    found = {}  # program: its sort key

    def add(program, distance, weight):
        rank = (distance, -alike(path, program), -weight, program)
        found[program] = min(found.get(program, rank), rank)

    for program in own:
        add(program, 0, 0)
    for program in programs():
        if any(program.startswith(name + "_") for name in own):
            add(program, 1, 0)
    for source, weight in users(path, build).items():
        if pathlib.PurePath(source).stem in programs():
            add(pathlib.PurePath(source).stem, 1, weight)
        for program in own_programs(source):
            add(program, 2 if floor_of(source) in TESTED_BY_UNIT else 3, weight)
    return sorted(found, key=found.get)


# ---- includes

@functools.lru_cache(None)
def included():
    """Maps each name in an #include to the sources that contain it."""
    found = collections.defaultdict(list)
    for source, text in sources().items():
        for name in set(re.findall(r'^#include "(?:\./)?(.*)"', text, re.M)):
            found[name].append(source)
    return found


def includers(path):
    """Sources that include that header directly, those with a similar name first."""
    name = path.removeprefix("mod_payments/") if floor_of(path) else pathlib.PurePath(path).name
    return sorted(included()[name], key=lambda source: (-alike(path, source), source))


def print_includers(paths):
    """Sources that compile these headers: INCLUDERS_MAX of each, its own source first, those of tests last."""
    for path in paths:
        near = [path]
        for used in near:  # it grows
            near += [user for user in includers(used) if user not in near] if used.endswith(".h") else []
        units = [user for user in near if user.endswith(".c")]
        for user in sorted(units, key=lambda user: user.startswith("tests/"))[:INCLUDERS_MAX]:
            print(user)


def of_header(path, build):
    """The tests of the source of the same name, else of the header; then those of each source that includes it."""
    source, users = path[:-1] + "c", includers(path)
    tests = of_source(source, build) if source in sources() else []
    if not tests:
        users += [user for header in users if header.endswith(".h") for user in includers(header)]
    for user in users:
        if user.startswith("tests/"):
            tests += of_test_source(user, build)
        elif floor_of(path) in TESTED_BY_UNIT:
            tests += [("unit", program) for program in own_programs(user)]
        else:
            tests += in_map(user)
    return tests


def of_source(path, build):
    return [("unit", program) for program in unit_programs(path, build)] + in_map(path)


def of_test_source(path, build):
    """A program itself; for a file that programs share, those that include, call or start it, directly or not."""
    near, found = [path], []
    for used in near:  # it grows
        name = pathlib.PurePath(used).name
        if pathlib.PurePath(used).stem in programs():
            found.append(("unit", pathlib.PurePath(used).stem))
        elif used.endswith(".h"):
            near += [user for user in includers(used) if user not in near]
        elif used.endswith(".c"):
            near += [user for user in sorted(users(used, build)) if user not in near and user.startswith("tests/unit/")]
        else:
            near += [user for user, text in sources().items() if name in text and user not in near]
    return found


# ---- any file

def of_api_support(path):
    """Tests whose files import it, directly or not: conftest.py imports shares.py, so all tests do."""
    name = pathlib.PurePath(path).stem
    line = re.compile(rf"^(from|import) {re.escape(name)}\b", re.M)
    found = [("api", file) for file, text in api_texts().items() if line.search(text)]
    if not found and path.endswith((".py", ".js")):
        found = [("api", file) for file, text in api_texts().items() if name in text] \
            or [("api", "test_charge.py"), ("api", "test_ctl.py")]
    return sorted(found, key=lambda test: len(api_texts()[test[1]]))


@functools.lru_cache(None)
def loading_texts():
    """Maps the path of each file that may load something into a server to its text."""
    return {str(path.relative_to(TOP)): path.read_text() for folder in ("faults", "api", "bench")
            for path in sorted((TOP / "tests" / folder).glob("*.*")) if path.suffix in (".py", ".c", ".h")}


def loaders(path):
    """Files of its folder that import, include or start that file, and any file that loads what it is built into."""
    folder, name = pathlib.PurePath(path).parent, re.escape(pathlib.PurePath(path).stem)
    near = re.compile(rf"""^(from|import) {name}\b|["'/]{name}\.py["']""" if path.endswith(".py")
                      else rf'^#include "{name}\.h"', re.M)
    built = re.compile(rf"""/{name}(\.so)?["']""" if path.endswith(".c") else "$^")
    return [user for user, text in loading_texts().items()
            if user != path and (pathlib.PurePath(user).parent == folder and near.search(text) or built.search(text))]


def of_loaded(path):
    """Tests that use that file, then those that use its users in its folder."""
    near, found = [path], []
    for used in near:  # it grows
        for user in loaders(used):
            folder, name = pathlib.PurePath(user).parts[1:]
            if name.startswith("test_"):
                found.append((folder, name))
            elif folder == pathlib.PurePath(path).parts[1] and user not in near:
                near.append(user)
    return found


def of_tests_folder(path, build):
    folder, name = pathlib.PurePath(path).parts[1:3] if path.count("/") > 1 else ("", pathlib.PurePath(path).name)
    if folder == "unit":
        return of_test_source(path, build)
    if folder in ("api", "faults") and name.startswith("test_"):
        return [(folder, name)]
    if folder == "browser" and name.endswith(".test.mjs"):
        return [("browser", name)]
    if not folder and name.startswith("check_"):
        return [("script", name)] + ([("script", "check_selftest.sh")] if name != "check_selftest.sh" else [])
    found = in_map(path)
    if not found and folder == "api":
        return of_api_support(path)
    return found or (of_loaded(path) if folder in ("faults", "bench") else [])


def tests_of(path, build):
    """Every test that belongs to a file, as (kind, name), nearest first, without repetition."""
    if path.startswith("tests/"):
        found = of_tests_folder(path, build)
    elif floor_of(path) and path.endswith(".h"):
        found = in_map(path) + of_header(path, build)
    elif floor_of(path) and path.endswith(".c"):
        found = of_source(path, build)
    else:
        found = in_map(path)
    return list(dict.fromkeys(found))


def print_of(build, paths):
    """The bounds are for each file; a test of several files is named once."""
    chosen, left = {}, set()
    for path in paths:
        number = collections.Counter()
        tests = tests_of(path, build)
        for test in tests:
            number[test[0]] += 1
            if number[test[0]] <= BOUNDS.get(test[0], len(tests)):
                chosen[test] = True
            else:
                left.add(test)
        if not tests:
            print("none", path)
    for kind, name in chosen:
        print(kind, name)
    for kind, number in sorted(collections.Counter(kind for kind, name in left - set(chosen)).items()):
        print("left", kind, number)


# ---- words

def selects(expression, name):
    """pytest's -k: words, `and`, `or`, `not` and parentheses; a word matches a part of the name."""
    tokens = re.findall(r"[()]|[^\s()]+", expression)
    said = [token if token in ("and", "or", "not", "(", ")") else str(token.lower() in name.lower()) for token in tokens]
    try:
        return bool(eval(" ".join(said), {"__builtins__": {}}))  # pylint: disable=eval-used # words of ours alone
    except SyntaxError:
        sys.exit(f"tests_of.py: {expression}: not an expression of words, and, or, not")


NAMES = {"unit": ("test_*.c", r"^START_TEST\((\w+)\)"), "faults": ("test_*.py", r"^def (test_\w+)"),
         "browser": ("*.test.mjs", r"""^\s*test\((["'`].*["'`])""")}


def print_words(expression):
    for kind, (pattern, line) in NAMES.items():
        for path in sorted((TOP / "tests" / kind).rglob(pattern), key=lambda path: path.name):
            names = re.findall(line, path.read_text(), re.M)
            if any(selects(expression, f"{path.name} {name}") for name in names):
                print(kind, path.stem if kind == "unit" else path.name)


# ---- checking the map

def exists(kind, name):
    if kind == "stage":
        return name in STAGES
    if kind == "unit":
        return name in programs()
    return (TOP / ("tests" if kind == "script" else f"tests/{kind}") / name).is_file()


def files():
    """Files that people write, by their path from the top; files of a build next to them have other endings."""
    for folder in ("mod_payments", "docs", "conf", "share", "tests", "m4", ".ci"):
        yield from (str(path.relative_to(TOP)) for path in sorted((TOP / folder).rglob("*"))
                    if path.is_file() and path.suffix not in (".o", ".lo", ".la", ".in", ".pyc", ".log", ".trs", ".Po", ".Plo"))
    yield from (path.name for path in TOP.iterdir() if path.is_file())


def is_written(path):
    """Returns whether a test must belong to it. Only a build shows which programs call shared files."""
    suffixes = (".c", ".h", ".py", ".sh", ".mjs", ".js", ".css", ".html", ".md", ".json", ".lua", ".php")
    return path.endswith(suffixes) and "/" in path and "/." not in path \
        and not (path.startswith("tests/unit/") and pathlib.PurePath(path).stem not in programs())


def faults_of_map():
    paths = list(files())
    used = {row_of(path)[0] for path in paths}
    for pattern, number in collections.Counter(pattern for pattern, _ in rows()).items():
        if number > 1:
            yield f"{pattern}: {number} lines have this pattern, and only the first counts"
    for pattern, tests in rows():
        if pattern not in used:
            yield f"{pattern}: no file, or another line has it first"
        if not tests:
            yield f"{pattern}: no test"
        for kind, name in tests:
            if not exists(kind, name):
                yield f"{pattern}: {name}: no such test"
    for path in paths:
        if is_written(path) and not tests_of(path, TOP / "no build"):
            yield f"{path}: no test belongs to it: name one in {MAP}"


def check():
    faults = list(faults_of_map())
    for fault in faults:
        print(fault)
    print(f"{MAP}: {len(rows())} lines, {len(faults)} faults")
    return 1 if faults or not rows() else 0


def main():
    command, *words = sys.argv[1:]
    if command == "of":
        print_of(pathlib.Path(words[0]).resolve(), words[1:])
    elif command == "words":
        print_words(words[0])
    elif command == "includers":
        print_includers(words)
    elif command == "check":
        return check()
    return 0


if __name__ == "__main__":
    sys.exit(main())
