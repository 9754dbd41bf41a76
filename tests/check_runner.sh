#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A run of ./dev test fails when it should: each case below gives the functions of tests/dev a failure, or a
# success, and checks the result of the run.
set -euo pipefail
top=$(cd "${PAYMENTS_TOP:-$(dirname "$0")/..}" && pwd)
[ -x /usr/bin/python3 ] || {
    echo "check_runner: /usr/bin/python3, which reads results, is not installed"
    exit 77 # automake: skipped
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
faults=0
count=0

# run_of CASE...: a run of only this case, with its own build directory.
run_of() (
    # shellcheck source=dev
    . "$top/dev"
    OUT=$work/build LOGS=$work/build/log NORMAL=$work/build/normal RESULTS=$work/build/results JOBS=1
    BARE_KEPT=$RESULTS STAGES="fine browser" LANES=("fine" "browser")
    rm -rf "$OUT"
    mkdir -p "$NORMAL"
    begin case
    "$@"
    summary
)

# expect STATUS WORDS CASE...: the run ends with this status, and its output contains each line of the words.
expect() {
    local want=$1 words=$2 said status line
    shift 2
    count=$((count + 1))
    set +e # before || a command would continue after a failure, unlike ./dev
    said=$(set -e && run_of "$@" 2>&1)
    status=$?
    set -e
    if [ "$status" -ne "$want" ]; then
        echo "check_runner: $*: status $status where $want is right"
    else
        while IFS= read -r line && [[ $said == *"$line"* ]]; do
            line=
        done <<<"$words"
        [ -n "$line" ] || return 0
        echo "check_runner: $*: does not say: $line"
    fi
    tail -n 12 <<<"$said"
    faults=$((faults + 1))
}

# ---- counts of a stage

# counted PASSED FAILED
counted() { stage fine && count fine "$1" "$2" ""; }
left_out_alone() { stage fine && leave_out fine "there is nothing to run it with"; }

test_counts() {
    expect 0 "3 passed, 0 failed" counted 3 0
    expect 1 "3 passed, 1 failed" counted 3 1
    expect 1 "nothing was run" counted 0 0
    expect 1 "left out: there is nothing" left_out_alone
}

# planned SECONDS OTHERS RAN: a stage planned with 100 s and 3 cases took SECONDS and ran RAN cases, while other
# programs used OTHERS seconds of two cores, in a run of the same length. PACE: milliseconds for work that takes 100
# elsewhere.
planned() {
    COMMAND="test" PLAN="test fine 100 ${LEAST:-3}" WHOLE=${ALL:-1} YARDSTICK_MS=100
    measure_pace() { echo "${PACE:-100}" >>"$RESULTS/$YARDSTICK_TOLD"; }
    machine_cores() { echo "${CORES:-2}"; }
    machine_seconds() { echo "$OTHERS"; }
    unset SECONDS && SECONDS=1000 # an ordinary variable from here on: no second passes in between
    stage fine
    STAGE_START=$((SECONDS - $1)) RUN_START=$STAGE_START OTHERS=$2 RUN_MACHINE=0
    count fine "$3" 0 ""
}

# The same for the whole run; and one more case for root, with the user id as argument.
whole_planned() { planned "$1" 0 3 && PLAN='test whole 100 -'; }
root_planned() {
    local uid=$1
    id() { echo "$uid"; }
    LEAST="4 3" planned 1 0 3
}

part_planned() { ALL=0 && planned "$@"; }
paced() { PACE=$1 && planned "${@:2}"; }
one_core_planned() { CORES=1 && planned "$@"; }
subset_planned() { export PYTEST_ADDOPTS="-k word" && planned "$@"; }

test_plan() {
    expect 0 "3 passed, 0 failed" planned 140 0 3
    expect 1 "fine took too long: 160 s are more than 150 % of its 100 s" planned 160 0 3
    expect 1 "fine took too long: 160 s are more than 150 % of its 100 s" planned 160 60 3
    expect 0 "which is not judged: the machine was busy, others had " planned 160 160 3
    expect 0 "not judged on one core" one_core_planned 160 0 3
    expect 0 "This machine needs 130 % of the budgets' time" paced 130 190 0 3
    expect 1 "fine took too long: 200 s are more than 195 % of its 100 s" paced 130 200 0 3
    expect 1 "fine took too long: 310 s are more than 300 % of its 100 s" paced 900 310 0 3
    expect 1 "fine took too long: 160 s are more than 150 % of its 100 s" paced 50 160 0 3
    expect 0 "3 passed, 0 failed" part_planned 160 0 3
    expect 0 "1 measurement" measured
    expect 0 "140 s of 100 in all" whole_planned 140
    expect 1 "whole took too long: 160 s are more than 150 % of its 100 s" whole_planned 160
    expect 1 "too few cases: 3 ran, and there are at least 4" root_planned 0
    expect 0 "3 passed, 0 failed" root_planned 1000
    expect 1 "too few cases: 2 ran, and there are at least 3" planned 1 0 2
    expect 1 "too few cases: 2 ran, and there are at least 3" planned 160 160 2
    expect 1 "too few cases: 2 ran, and there are at least 3" part_planned 1 0 2
    expect 0 "2 passed, 0 failed" subset_planned 1 0 2
    expect 1 "too few cases: 1 ran, and there are at least 2" whole_plan
    expect 0 "1 passed, 0 failed" stages_are_known
}

# The fixed work that shows how fast this machine is.
measured() {
    WHOLE=1 PLAN='' && counted 3 0
    say "$(grep -cxE '[0-9]+' "$RESULTS/$YARDSTICK_TOLD") measurement"
}

# A whole run in which a stage has lost a case.
whole_plan() {
    PLAN='test fine 100 2'
    whole_run
}

# told WORD: the help names it. is_planned RUN NAME: the plan contains it. For every stage and part.
told() { usage | tr -c 'a-z-' '\n' | grep -qx -- "$1" || say "./dev help does not name $1"; }
is_planned() { COMMAND=$1 && [ -n "$(least "$2")" ] || say "tests/dev/report.sh plans nothing for $2"; }

stages_are_known() {
    local name unknown
    # shellcheck source=dev
    unknown=$(. "$top/dev" && {
        for name in $STAGES; do
            told "$name" && is_planned "test" "$name"
        done
        for name in $FAULT_PARTS; do
            told "$name" && is_planned faults "$name"
        done
    }) && say "$unknown"
    counted 1 "$(grep -c . <<<"$unknown")"
}

# scripts STATUS: a check script that ends with this status.
scripts() {
    mkdir -p "$OUT/tests"
    echo "exit $1" >"$OUT/tests/check_case.sh"
    cd "$OUT" && stage_scripts
}

test_scripts() {
    expect 0 "1 passed, 0 failed" scripts 0
    expect 1 "check_case failed" scripts 1
    expect 1 "0 passed, 1 failed" scripts 77
}

# ---- unit programs

SUM='100%: Checks: 3, Failures: 0, Errors: 0'

# unit COMMANDS: a program made of them, next to one that passes.
unit() {
    local dir=$OUT/tree/tests/unit
    mkdir -p "$dir"
    printf '#!/bin/sh\ncase $1 in\n"") printf "test_case\\ntest_fine\\n" ;;\ntest_fine) echo "%s" ;;\n*)\n%s\n;;\nesac\n' \
        "$SUM" "$1" >"$dir/unit_tests"
    chmod +x "$dir/unit_tests"
    stage unit
    run_unit unit "$OUT/tree" 1 env
    count_unit unit ""
}

no_programs() {
    mkdir -p "$OUT/tree/tests/unit"
    printf '#!/bin/sh\n' >"$OUT/tree/tests/unit/unit_tests"
    chmod +x "$OUT/tree/tests/unit/unit_tests"
    stage unit
    run_unit unit "$OUT/tree" 1 env || true
    count_unit unit ""
}

test_unit() {
    expect 0 "6 passed, 0 failed" unit "echo '$SUM'"
    # shellcheck disable=SC2016 # the program's own process
    expect 1 "3 passed, 1 failed" unit 'kill -SEGV $$'
    # shellcheck disable=SC2016
    expect 1 "5 passed, 1 failed" unit "echo '$SUM'; "'kill -SEGV $$'
    expect 1 "5 passed, 1 failed" unit "echo '$SUM'; exit 99"
    expect 1 "5 passed, 1 failed" unit "echo '66%: Checks: 3, Failures: 1, Errors: 0'; exit 1"
    expect 1 "3 passed, 1 failed" unit 'exit 0'
    expect 1 "nothing was run" no_programs
}

# The results that check writes for each program: two stages run each.
twice() {
    unit "echo '$SUM'
        printf '<id>test_a</id>\\n<iteration>%s</iteration>\\n' 0 1 2 >\$CK_XML_LOG_FILE_NAME
        echo '<duration>7.5</duration>' >>\$CK_XML_LOG_FILE_NAME"
    stage unit-plain
    ONLY=test_case run_unit unit-plain "$OUT/tree" 1 env
    count_unit unit-plain ""
}

test_cases() {
    expect 0 "3 cases in 9 runs" twice
    expect 0 "7.5 s  unit: test_case" twice
    expect 0 "3 cases in 3 runs" counted 3 0
}

# ---- pytest

GOOD='def test_good(): pass'

# What tests import, with the code that Python and pytest made of it: pytest would take half a second for it each time.
prepare_folders() {
    local name build=$work/folders/build
    mkdir -p "$work/folders/tests"/{api,faults} "$build/log"
    find "$top/tests/api" -name '*.py' ! -name 'test_*' -exec cp {} "$work/folders/tests/api/" \;
    cp "$top/tests/faults/conftest.py" "$work/folders/tests/faults/"
    for name in api faults; do
        echo "$GOOD" >"$work/folders/tests/$name/test_good.py"
        # shellcheck source=/dev/null
        (. "$top/dev" && LOGS=$build/log && rewrite_once "$work/folders/tests/$name" "$build")
    done
}

# in_folder FOLDER TEXT OPTIONS...: a test file with this text, next to a test that passes, under the conftest.py
# of our own tests.
in_folder() {
    local folder=$1
    shift
    mkdir -p "$OUT/copy/tmp" "$OUT/copy/home"
    cp -a "$work/folders/tests" "$OUT/copy/"
    printf 'import os\n%s\n' "$1" >"$OUT/copy/tests/$folder/test_case.py"
    shift
    stage api
    run_pytest api "$folder" "$OUT/copy" env -- "$@"
    count_api api ""
}

api() { in_folder api "$@"; }

# A client's thread that finds a fault and reports it nowhere else.
THREAD='import threading
def client(): assert 1 == 2
def test_thread():
    thread = threading.Thread(target=client)
    thread.start()
    thread.join()'

# A fault while an object is destroyed.
UNRAISABLE='class Case:
    def __del__(self): assert 1 == 2
def test_unraisable(): Case()'

# A client's thread whose result is requested.
AT_ONCE='from harness import at_once
def other(): assert 1 == 2
def test_at_once():
    at_once([int, other])'

# results TEXT: the contents of the file of results.
results() {
    stage api
    echo "words of pytest" >"$RESULTS/api/pytest.log"
    [ -z "$1" ] || printf '%s' "$1" >"$RESULTS/api/results.xml"
    count_api api ""
}

test_results() {
    local suite='<testsuites><testsuite tests="2" failures="0" errors="0" skipped="0">'
    expect 0 "2 passed, 0 failed" results "$suite</testsuite></testsuites>"
    expect 1 "0 passed, 1 failed" results "$suite"
    expect 1 "0 passed, 1 failed" results ""
    expect 1 "nothing was run" results "${suite/2/0}</testsuite></testsuites>"
}

# Its tests run twice and wait: only waits longer than a second are listed; on a busy machine there are more of them.
api_twice() {
    api "def test_case():
    import sys, time
    sys.path.insert(0, '$top/tests/api')
    import harness
    end = time.monotonic() + 1.1
    harness.wait_for(lambda: time.monotonic() > end, 'the second to be over')"
    stage api-sanitize
    run_pytest api-sanitize api "$OUT/copy" env --
    count_api api-sanitize ""
}

test_api() {
    local folder
    prepare_folders
    expect 0 "2 passed, 0 failed" api 'def test_case(): pass'
    expect 0 "2 cases in 4 runs" api_twice
    expect 0 " s  api: the second to be over (test_case.py::test_case" api_twice
    for folder in api faults; do
        # Of a test that fails, one without its fixture, and three whose fault pytest does not see by itself.
        expect 1 "1 passed, 5 failed
failure of $folder.test_case::test_false
error of $folder.test_case::test_fixture
failure of $folder.test_case::test_thread
failure of $folder.test_case::test_unraisable
failure of $folder.test_case::test_at_once" in_folder "$folder" "def test_false(): assert False
def test_fixture(missing): pass
$THREAD
$UNRAISABLE
$AT_ONCE"
    done
    expect 1 "0 passed, 1 failed" api 'def test_case(: pass'
    # If a process of pytest-xdist dies, its test is lost; if pytest itself dies, all results are.
    expect 1 "1 passed, 1 failed" api 'def test_case(): os._exit(3)' -n 2
    expect 1 "0 passed, 1 failed" api 'def test_case(): os.kill(os.getpid(), 9)'
}

# ---- downloads

# Hides the machine's own tools: npm cannot reach its registry, and Chromium is a stub that nobody starts.
hide_tools() {
    mkdir -p "$OUT/bin"
    printf '#!/bin/sh\necho "npm ERR! code ENOTFOUND" >&2\nexit 1\n' >"$OUT/bin/npm"
    printf '#!/bin/sh\necho "Chromium 1.2.3"\n' >"$OUT/bin/chromium"
    chmod +x "$OUT/bin"/*
    PATH=$OUT/bin:$PATH
}

stage_fine() { counted 1 0; }

# whole_run STAGES...: dev_test without its installations and builds.
whole_run() {
    hide_tools
    packages() { :; }
    versions() { :; }
    build_normal() { :; }
    build_sanitize() { :; }
    build_unit() { :; }
    build_loaded() { :; }
    measure_pace() { echo 100 >>"$RESULTS/$YARDSTICK_TOLD"; }
    dev_test "$@"
}

# A lane of a whole run that is killed, and one that reports that it cannot continue.
killed_lane() {
    stage_browser() { kill -KILL "$BASHPID"; }
    whole_run
}

dying_lane() {
    stage_browser() { die "no such thing"; }
    whole_run
}

whole_and_well() {
    PLAN=
    stage_browser() { stage browser && count browser 2 0 ""; }
    whole_run
}

test_lanes() {
    expect 0 "3 passed, 0 failed" whole_and_well
    expect 1 "one ended before its end" killed_lane
    expect 1 "one ended before its end" dying_lane
}

# The message of the test of signatures in that case.
verifier() {
    whole_run fine
    PAYMENTS_BUILD=$NORMAL PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$top/tests/api /usr/bin/python3 -c '
import pathlib, test_webhooks
test_webhooks.node_modules(pathlib.Path("/nowhere"))'
}

no_chromium() {
    chromium_path() { return 1; }
    root_prefix() { return 1; }
    export PAYMENTS_NO_BROWSER=$1
    whole_run fine browser
}

no_generators() {
    hide_tools
    part_clients
}

test_fetched() {
    expect 0 "1 passed, 0 failed" whole_run fine
    expect 1 "npm could not install what drives Chromium" whole_run fine browser
    expect 1 "1 passed, 1 failed" whole_run browser fine
    expect 1 "npm could not install generators of clients" no_generators
    expect 1 "Chromium is not here and cannot be installed" no_chromium ""
    expect 0 "left out: PAYMENTS_NO_BROWSER is set" no_chromium 1
}

# ---- lint of changed files

# linted COMMITS BROKEN [LANDED]: a branch of COMMITS commits. Commit BROKEN adds a file that Python cannot parse; 0:
# the file is not committed. The first LANDED commits are on main.
linted() {
    local number
    LINT_QUICK="python"
    clang-format() { echo "$LINT_FORMATTER"; }
    git init -q -b work "$OUT/tree" && cd "$OUT/tree" && mkdir tests
    for number in $(seq "$1"); do
        [ "$number" -ne "$2" ] || { echo "def (" >tests/broken.py && git add .; }
        git -c user.name=name -c user.email=mail@example.com commit -q --allow-empty -m "number $number"
        [ "$number" -ne "${3:-0}" ] || git branch main
    done
    [ "$2" -ne 0 ] || echo "def (" >tests/broken.py
    stage_lint
}

linted_since() { export PAYMENTS_LINT_BASE=$1 && linted "${@:2}"; }
linted_nowhere() { mkdir -p "$OUT/tree" && cd "$OUT/tree" && GIT_CEILING_DIRECTORIES=$OUT stage_lint; }

# The files that are compiled after a header and a source changed.
compiled() {
    LINT_CHANGED=$OUT/changed
    printf '%s\n' docs/api.md mod_payments/a.h mod_payments/z.c >"$LINT_CHANGED"
    tests_of() { [ "$*" = "includers mod_payments/a.h" ] && printf '%s\n' mod_payments/b.c tests/unit/c.c; }
    say "compiles $(printf 'mod_payments/%s\n' b.c d.c z.c | due_units | tr '\n' ' ')of what changed"
    counted 1 0
}

# selftest FILE: says whether check_selftest runs after a change of that file.
selftest() {
    LINT_CHANGED=$OUT/changed
    echo "$1" >"$LINT_CHANGED"
    history_of_tree() { :; }
    lint_changed() { :; }
    ! checks_changed || say "$1: check_selftest"
    counted 1 0
}

test_lint() {
    local file
    expect 0 "compiles mod_payments/b.c mod_payments/z.c of what changed" compiled
    for file in dev tests/check_man.sh tests/dev/bare.sh tests/fuzz/replay.sh tests/pages/test_money.mjs \
        docs/directives.md share/dashboard/assets/dom.js mod_payments/base/text/money.c; do
        expect 0 "$file: check_selftest" selftest "$file"
    done
    expect 1 "0 passed, 1 failed" linted 14 14
    expect 1 "0 passed, 1 failed" linted 14 5
    expect 0 "0 files changed since" linted 14 4
    expect 1 "0 passed, 1 failed" linted 10 1
    expect 0 "0 files changed since" linted 14 13 13
    expect 1 "0 passed, 1 failed" linted 14 13 12
    expect 1 "0 passed, 1 failed" linted 14 2 1
    expect 1 "0 passed, 1 failed" linted 14 14 14
    expect 1 "0 passed, 1 failed" linted 14 0 14
    expect 1 "0 passed, 1 failed" linted_since HEAD~2 14 13 13
    expect 0 "0 files changed since" linted_since HEAD~1 14 13
    expect 1 "left out: there is no history" linted_nowhere
}

# ---- ./dev test bare

# bare STATUS TEXT: a part that printed TEXT.
bare() {
    stage part
    echo "$2" >"$RESULTS/part/log"
    bare_count part "$1" "$RESULTS/part/log" '^[0-9]+ passed, [0-9]+ failed$'
}

test_bare() {
    expect 0 "5 passed, 0 failed" bare 0 "5 passed, 0 failed"
    expect 1 "0 passed, 1 failed" bare 1 "5 passed, 0 failed"
    expect 1 "it did not get to its end" bare 0 "installing: gcc"
}

# ---- installed packages

# A machine without any of the packages, and without the rights or the tools to install them.
without_rights() {
    probe() { return 1; }
    root_prefix() { return 1; }
    packages fuzz
}

without_apt() {
    probe() { return 1; }
    root_prefix() { echo env; }
    command() { [ "$2" != apt-get ] && builtin command "$@"; }
    packages fuzz
}

# says_lines LINES COMMAND...: the command ends with status 1 and prints only these lines.
says_lines() {
    local want=$1 said status
    shift
    set +e
    said=$(set -e && "$@" 2>&1)
    status=$?
    set -e
    diff <(echo "$want") <(echo "$said") || status=0
    counted "$((status == 1))" "$((status != 1))"
}

# Each row of a set is a probe and a package for each of three systems.
tables_are_whole() {
    local set bad
    bad=$(for set in run test bench bench_php bench_costs bare fuzz; do
        "need_$set" | awk -v set="$set" 'NF != 4 { print "need_" set ": want four words: " $0 }'
    done)
    say "$bad"
    counted 1 "$(grep -c . <<<"$bad")"
}

# Debian's line of README.md names the packages that ./dev run would install, and Apache with its server.
readme_installs() {
    local name known bad=0
    known=$(need_run | awk '{ print $2 }')
    for name in $(sed -n '/^    apt-get install/,/^$/p' "$top/README.md" | sed 's/apt-get install//' | tr -d '\\'); do
        [ "$name" = apache2 ] || grep -qx -- "$name" <<<"$known" || { say "README.md: $name" && bad=1; }
    done
    counted 1 "$bad"
}

# Each ./dev COMMAND in it exists.
readme_commands() {
    local name bad=0
    for name in $(grep -oE '\./dev [a-z]+' "$top/README.md" | awk '{ print $2 }' | sort -u); do
        usage | grep -q "^\./dev $name" || { say "README.md: no such command: $name" && bad=1; }
    done
    counted 1 "$bad"
}

test_installs() {
    local lines debian fedora alpine
    debian="apache2-bin apache2-dev apache2-utils autoconf automake check clang curl faketime gcc libc6-dev libclang-rt-dev"
    debian="$debian libcurl4-openssl-dev libjansson-dev libjs-chart.js liblmdb-dev libssl-dev libtool make pkg-config python3"
    debian="$debian tzdata util-linux"
    fedora="autoconf automake check-devel clang compiler-rt curl gcc glibc-devel httpd httpd-devel httpd-tools jansson-devel"
    fedora="$fedora libcurl-devel libfaketime libtool lmdb-devel make mod_http2 openssl-devel pkgconf-pkg-config python3 tzdata"
    fedora="$fedora util-linux"
    alpine="apache2 apache2-dev apache2-http2 apache2-utils autoconf automake check-dev clang compiler-rt curl curl-dev gcc"
    alpine="$alpine jansson-dev libfaketime libtool lmdb-dev make musl-dev openssl-dev pkgconf python3 setpriv tzdata"
    lines="Missing here. As root, one of these lines installs it:
  Debian  apt-get update && apt-get install -y --no-install-recommends $debian
  Fedora  dnf install -y $fedora
  Alpine  apk add $alpine
dev: install these packages, then run this command again"
    expect 0 "1 passed, 0 failed" says_lines "$lines" without_rights
    expect 0 "1 passed, 0 failed" says_lines "$lines" without_apt
    expect 0 "1 passed, 0 failed" tables_are_whole
    expect 0 "1 passed, 0 failed" readme_installs
    expect 0 "1 passed, 0 failed" readme_commands
}

# ---- ./dev mutate

# mutable TEST: a tree of one function, which returns true below a bound, and one unit program that checks TEST.
mutable() {
    local tree=$OUT/mutate/tree build=$OUT/mutate/tree/build/normal
    mkdir -p "$tree"/{mod_payments/base,tests/{dev,unit/base}} "$build"/{mod_payments/base,tests/unit}
    touch "$tree/tests/dev/tests_of.map"
    printf 'int pay_case(int a)\n{\n    return a < 3;\n}\n' >"$tree/mod_payments/base/case.c"
    printf 'int pay_case(int a);\nint main(void)\n{\n    return !(%s);\n}\n' "$1" >"$tree/tests/unit/base/test_case.c"
    cat >"$build/mod_payments/Makefile" <<'END'
VPATH = ../../../mod_payments
libpayments.a: base/libpayments_a-case.o
	ar r $@ base/libpayments_a-case.o
base/libpayments_a-case.o: base/case.c
	$(CC) -MT $@ -MD -c -o $@ $(VPATH)/base/case.c
END
    cat >"$build/tests/Makefile" <<'END'
unit/unit_tests: unit/unit.o
	$(CC) -o unit/unit_tests unit/unit.o ../mod_payments/libpayments.a
unit/unit.o: ../../../tests/unit/base/test_case.c
	$(CC) -c -o $@ ../../../tests/unit/base/test_case.c
END
    make -s -C "$build/mod_payments" && make -s -C "$build/tests"
}

# judged TEST COMMAND WORDS...: the output of mutate.py for that tree.
judged() {
    mutable "$1"
    PAYMENTS_TOP=$OUT/mutate/tree MUTATE_COPIES='' PYTHONDONTWRITEBYTECODE=1 \
        /usr/bin/python3 "$top/tests/dev/mutate.py" "$2" "$OUT/mutate/tree" "$OUT/mutate" "${@:3}"
}

WEAK='pay_case(1)'
STRONG='pay_case(2) && !pay_case(3)'

mutants_of() { judged "$1" run 7 20 mod_payments/base/case.c && counted 1 0; }
mutants_again() { mutants_of "$WEAK" && judged "$STRONG" again "$OUT/mutate/7.jsonl" && counted 1 0; }

test_mutants() {
    expect 0 "+ return a <= 3;" mutants_of "$WEAK"
    expect 0 "base             4               1       0         3            0" mutants_of "$WEAK"
    expect 0 "base             4               4       0         0            0" mutants_of "$STRONG"
    expect 0 "base             4               4       0         0            0" mutants_again
    expect 1 "fails without a mutant too: unit test_case" mutants_of 0
}

for part in counts plan lanes scripts unit cases results fetched bare installs mutants; do
    "test_$part"
done
without=
if /usr/bin/python3 -c 'import pytest, xdist' 2>/dev/null; then
    test_api
    expect 1 "npm could not install what signatures are verified with" verifier
else
    without=", without those of pytest and xdist, which are not installed"
fi
if command -v git >/dev/null; then
    test_lint
else
    without="$without, without those of git, which is not installed"
fi
echo "check_runner: $count runs, $faults faults$without"
[ "$faults" -eq 0 ] || exit 1
[ -z "$without" ] || exit 77
