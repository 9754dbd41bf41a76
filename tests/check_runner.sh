#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A run of ./dev test is red when it should be: each case below gives the functions of tests/dev
# something that went wrong, or well, and looks at what the run comes to.
set -euo pipefail
top=$(cd "${PAYMENTS_TOP:-$(dirname "$0")/..}" && pwd)
[ -x /usr/bin/python3 ] || {
    echo "check_runner: /usr/bin/python3, which reads results, is not installed"
    exit 77 # to automake: left out
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
faults=0
count=0

# run_of CASE...: a run that has only this to do, and its own build directory.
run_of() (
    # shellcheck source=dev
    . "$top/dev"
    OUT=$work/build LOGS=$work/build/log NORMAL=$work/build/normal RESULTS=$work/build/results JOBS=1
    BARE_KEPT=$RESULTS STAGES="fine browser"
    rm -rf "$OUT"
    mkdir -p "$NORMAL"
    "$@"
    summary "$SECONDS"
)

# expect STATUS WORDS CASE...: the run ends with this status, and the words are in what it says.
expect() {
    local want=$1 words=$2 said status
    shift 2
    count=$((count + 1))
    set +e # what || follows would go on after a failure, as ./dev does not
    said=$(set -e && run_of "$@" 2>&1)
    status=$?
    set -e
    if [ "$status" -ne "$want" ]; then
        echo "check_runner: $*: status $status where $want is right"
    elif ! grep -F -- "$words" <<<"$said" >/dev/null; then
        echo "check_runner: $*: does not say: $words"
    else
        return 0
    fi
    tail -n 12 <<<"$said"
    faults=$((faults + 1))
}

# ---- what a stage counts

# counted PASSED FAILED
counted() { stage fine && count fine "$1" "$2" ""; }
left_out_alone() { stage fine && leave_out fine "there is nothing to run it with"; }

test_counts() {
    expect 0 "3 passed, 0 failed" counted 3 0
    expect 1 "3 passed, 1 failed" counted 3 1
    expect 1 "nothing was run" counted 0 0
    expect 1 "left out: there is nothing" left_out_alone
}

# scripts STATUS: a check script that ends with it.
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

# unit COMMANDS: a program made of them, beside one that passes.
unit() {
    local dir=$OUT/tree/tests/unit
    mkdir -p "$dir"
    printf '#!/bin/sh\necho "%s"\n' "$SUM" >"$dir/test_fine"
    printf '#!/bin/sh\n%s\n' "$1" >"$dir/test_case"
    chmod +x "$dir"/test_*
    stage unit
    run_unit unit "$OUT/tree" 1 env
    count_unit unit ""
}

no_programs() {
    mkdir -p "$OUT/tree/tests/unit"
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

# ---- pytest

GOOD='def test_good(): pass'

# api TEXT OPTIONS...: a test file of this text, beside a test that passes.
api() {
    local dir=$OUT/copy/tests/api
    mkdir -p "$dir" "$OUT/copy/tmp" "$OUT/copy/home"
    printf '%s\n' "$GOOD" >"$dir/test_good.py"
    printf 'import os\n%s\n' "$1" >"$dir/test_case.py"
    shift
    stage api
    run_pytest api api "$OUT/copy" env -- "$@"
    count_api api ""
}

# results TEXT: what stands in the file of results.
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

test_api() {
    expect 0 "2 passed, 0 failed" api 'def test_case(): pass'
    expect 1 "1 passed, 1 failed" api 'def test_case(): assert False'
    expect 1 "1 failed" api 'def test_case(missing): pass'
    expect 1 "0 passed, 1 failed" api 'def test_case(: pass'
    # A process of pytest-xdist that dies takes its test along; pytest itself, all results.
    expect 1 "1 passed, 1 failed" api 'def test_case(): os._exit(3)' -n 2
    expect 1 "0 passed, 1 failed" api 'def test_case(): os.kill(os.getpid(), 9)'
}

# ---- what is fetched

# The machine's own are hidden: npm cannot reach its registry, a Chromium is there that nobody starts.
hide_tools() {
    mkdir -p "$OUT/bin"
    printf '#!/bin/sh\necho "npm ERR! code ENOTFOUND" >&2\nexit 1\n' >"$OUT/bin/npm"
    printf '#!/bin/sh\necho "Chromium 1.2.3"\n' >"$OUT/bin/chromium"
    chmod +x "$OUT/bin"/*
    PATH=$OUT/bin:$PATH
}

stage_fine() { counted 1 0; }

# whole_run STAGES...: dev_test without what it installs and builds.
whole_run() {
    hide_tools
    packages() { :; }
    versions() { :; }
    build_normal() { :; }
    dev_test "$@"
}

# What the test of signatures says then.
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

test_fetched() {
    expect 0 "1 passed, 0 failed" whole_run fine
    expect 1 "npm could not install what drives Chromium" whole_run fine browser
    expect 1 "1 passed, 1 failed" whole_run browser fine
    expect 1 "Chromium is not here and cannot be installed" no_chromium ""
    expect 0 "left out: PAYMENTS_NO_BROWSER is set" no_chromium 1
}

# ---- ./dev test bare

# bare STATUS TEXT: a part that said this.
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

for part in counts scripts unit results fetched bare; do
    "test_$part"
done
without=
if /usr/bin/python3 -c 'import pytest, xdist' 2>/dev/null; then
    test_api
    expect 1 "npm could not install what signatures are verified with" verifier
else
    without=", without those of pytest and xdist, which are not installed"
fi
echo "check_runner: $count runs, $faults faults$without"
[ "$faults" -eq 0 ] || exit 1
[ -z "$without" ] || exit 77
