# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# ./dev test and ./dev faults: stages that count what passed and what failed.

PASSED=0
FAILED=0
RESULTS=$OUT/results
STAGES="scripts demo unit unit-sanitize fuzz-replay api-root api-user api-sanitize valgrind"

# count NAME PASSED FAILED NOTE: a stage that ran nothing has failed.
count() {
    local passed=$2 failed=$3 note=$4
    if [ $((passed + failed)) -eq 0 ]; then
        failed=1
        note="nothing was run. $note"
    fi
    PASSED=$((PASSED + passed))
    FAILED=$((FAILED + failed))
    printf '%-14s %5d passed, %3d failed  %4d s  %s\n' "$1" "$passed" "$failed" \
        $((SECONDS - STAGE_START)) "$note"
}

stage() { # NAME
    STAGE_START=$SECONDS
    rm -rf "${RESULTS:?}/$1"
    mkdir -p "$RESULTS/$1"
}

# ---- scripts

stage_scripts() {
    local script name passed=0 failed=0
    stage scripts
    for script in tests/check_*.sh; do
        name=$(basename "$script" .sh)
        if PAYMENTS_BUILD=$NORMAL bash "$script" >"$RESULTS/scripts/$name.log" 2>&1; then
            passed=$((passed + 1))
        else
            failed=$((failed + 1))
            say "$name failed:"
            head -n 40 "$RESULTS/scripts/$name.log"
        fi
    done
    count scripts "$passed" "$failed" ""
}

# ---- ./dev run, as a newcomer types it

# expect NAME COMMAND...: one test.
expect() {
    local name=$1
    shift
    if "$@" >>"$RESULTS/demo/log" 2>&1; then
        DEMO_PASSED=$((DEMO_PASSED + 1))
    else
        DEMO_FAILED=$((DEMO_FAILED + 1))
        say "demo: $name failed; see $RESULTS/demo/log"
    fi
}

demo_says() { # DIRECTORY PORT WORDS: what ./dev run prints holds the words
    (cd "$1" && ./dev run --port "$2") | tee -a "$RESULTS/demo/log" | grep -F -- "$3"
}

demo_fails() { # DIRECTORY PORT WORDS: ./dev run fails and says why
    local said
    if said=$(cd "$1" && ./dev run --port "$2" 2>&1); then
        return 1
    fi
    grep -F -- "$3" <<<"$said"
}

demo_answers() { # PORT STATUS: what a stranger gets there; 000: no connection
    [ "$(curl -s -o /dev/null -w '%{http_code}' "http://127.0.0.1:$1/api/v1/")" = "$2" ]
}

stage_demo() {
    local dir port
    DEMO_PASSED=0
    DEMO_FAILED=0
    stage demo
    dir=$(mktemp -d "${TMPDIR:-/tmp}/payments-demo-XXXXXXXX")
    chmod 755 "$dir"
    tar -cf - --exclude=./build --exclude=./.git . | tar -xf - -C "$dir"
    port=$(/usr/bin/python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
    expect "the first run" demo_says "$dir" "$port" '"paymentStatus": "successful"'
    expect "the server is left running" demo_answers "$port" 401
    expect "the second run" demo_says "$dir" "$port" '"status": "processed"'
    expect "no key is printed" bash -c '! grep -rqF -- "$(cat "$1/build/run/keys/demo-test-secret")" "$2"' \
        - "$dir" "$RESULTS/demo/log"
    expect "./dev stop" bash -c 'cd "$1" && ./dev stop' - "$dir"
    expect "the port is free" demo_answers "$port" 000
    /usr/bin/python3 -m http.server --bind 127.0.0.1 "$port" >/dev/null 2>&1 &
    until_true "the port to be taken" demo_answers "$port" 404
    expect "a taken port" demo_fails "$dir" "$port" "name another"
    kill $!
    rm -rf "$dir"
    count demo "$DEMO_PASSED" "$DEMO_FAILED" "./dev run and ./dev stop"
}

# ---- unit tests

# run_unit STAGE TREE JOBS WRAPPER...: every program of TREE, one result file each.
run_unit() {
    local stage=$1 tree=$2 jobs=$3
    shift 3
    find "$tree/tests/unit" -type f -name 'test_*' -perm -u+x ! -name '*.o' | sort \
        | xargs -P "$jobs" -I '{}' bash -c '
            program=$1 log=$2/$(basename "$1").log
            shift 2
            "$@" "$program" >"$log" 2>&1
            echo "exit status: $?" >>"$log"' - '{}' "$RESULTS/$stage" "$@"
}

# count_unit STAGE NOTE: reads the sums that check prints; a program that ended badly without a
# failed test of its own (a crash, valgrind's or a sanitizer's word) counts as one failure.
count_unit() {
    local log line checks bad passed=0 failed=0 programs=0
    for log in "$RESULTS/$1"/*.log; do
        [ -e "$log" ] || break
        programs=$((programs + 1))
        line=$(grep -o 'Checks: [0-9]*, Failures: [0-9]*, Errors: [0-9]*' "$log" | tail -n 1) || true
        read -r checks bad <<<"$(tr -dc '0-9 ' <<<"$line" | awk '{ print $1 + 0, $2 + $3 }')"
        if [ "$bad" -eq 0 ] && { [ "$checks" -eq 0 ] || ! grep -qx 'exit status: 0' "$log"; }; then
            bad=1
            checks=$((checks > 0 ? checks : 1))
        fi
        failed=$((failed + bad))
        passed=$((passed + checks - bad))
        if [ "$bad" -gt 0 ]; then
            say "$log:"
            head -n 40 "$log"
        fi
    done
    grep -hs ' sequences from PAYMENTS_SEED=' "$RESULTS/$1"/test_property.log || true
    count "$1" "$passed" "$failed" "$programs programs. $2"
}

# build_unit TREE: the programs of `make check` without running them.
build_unit() {
    quiet "${1##*/}-unit.log" "build of the unit tests (${1##*/})" make -C "$1/tests" -j"$JOBS" check \
        TESTS=
}

stage_unit() {
    stage unit
    if build_unit "$NORMAL"; then
        run_unit unit "$NORMAL" "$JOBS" env
    fi
    count_unit unit ""
}

# valgrind takes minutes of one core, the other stages leave much of theirs: it begins first, in the
# background, and is judged last.
valgrind_begin() {
    stage valgrind
    VALGRIND_START=$STAGE_START
    build_unit "$NORMAL" || return 0
    set -m # a process group of its own, so that it can be ended with all it started
    # Each test is a process of its own, which valgrind follows: its word becomes that test's exit
    # status, and check counts the test as failed.
    run_unit valgrind "$NORMAL" 1 env CK_TIMEOUT_MULTIPLIER=20 PAYMENTS_SEQUENCES=20 valgrind --quiet --error-exitcode=99 \
        --leak-check=full --show-leak-kinds=definite --errors-for-leak-kinds=definite &
    VALGRIND_PID=$!
    set +m
    trap 'kill -- "-$VALGRIND_PID" 2>/dev/null || true' EXIT
}

stage_valgrind() {
    [ -z "${VALGRIND_PID:-}" ] || wait "$VALGRIND_PID" || true
    trap - EXIT
    STAGE_START=$VALGRIND_START
    count_unit valgrind "beside the others"
}

stage_unit-sanitize() {
    stage unit-sanitize
    if build_sanitize && build_unit "$SANITIZE"; then
        run_unit unit-sanitize "$SANITIZE" "$JOBS" env UBSAN_OPTIONS=print_stacktrace=1 \
            PAYMENTS_SEQUENCES=200
    fi
    count_unit unit-sanitize ""
}

# The fuzzers' seeds and found cases, under the sanitizers, without a fuzzer.
stage_fuzz-replay() {
    local log=$RESULTS/fuzz-replay/log passed=0 failed=0
    stage fuzz-replay
    if build_sanitize && build_unit "$SANITIZE"; then
        PAYMENTS_TOP=$TOP PAYMENTS_BUILD=$SANITIZE bash tests/fuzz/replay.sh >"$log" 2>&1 || true
        read -r passed failed <<<"$(sed -nE 's/^replay: ([0-9]+) passed, ([0-9]+) failed$/\1 \2/p' "$log")"
        [ "${failed:-0}" -eq 0 ] || head -n 60 "$log"
    fi
    count fuzz-replay "${passed:-0}" "${failed:-0}" "cases of tests/fuzz"
}

# ---- tests of the running server

# What the tests need, where any user can read it: a checkout is often below a private home.
stage_copy() { # TREE
    local copy
    copy=$(mktemp -d "${TMPDIR:-/tmp}/payments-test-XXXXXXXX")
    mkdir -p "$copy/build/mod_payments/.libs" "$copy/tests"
    cp "$1/mod_payments/.libs/mod_payments.so" "$copy/build/mod_payments/.libs/"
    cp "$1/mod_payments/paymentsctl" "$copy/build/mod_payments/"
    cp -R tests/api "$copy/tests/"
    cp -R conf docs "$copy/"
    mkdir "$copy/home" "$copy/tmp"
    chmod -R a+rX "$copy"
    chmod 1777 "$copy/home" "$copy/tmp"
    echo "$copy"
}

# run_api STAGE TREE PREFIX... -- PYTEST OPTIONS...: PREFIX sets the user and environment.
run_api() {
    local stage=$1 tree=$2 copy prefix=()
    shift 2
    while [ "$1" != -- ]; do
        prefix+=("$1")
        shift
    done
    shift
    copy=$(stage_copy "$tree")
    (
        cd "$copy/tests/api" && umask 022 && "${prefix[@]}" env PAYMENTS_BUILD="$copy/build" \
            PAYMENTSCTL="$copy/build/mod_payments/paymentsctl" HOME="$copy/home" \
            PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 -m pytest -q -p no:cacheprovider \
            --junitxml="$copy/tmp/results.xml" --durations=15 -rsP "$@" .
    ) >"$RESULTS/$stage/pytest.log" 2>&1 || true
    cp "$copy/tmp/results.xml" "$RESULTS/$stage/results.xml" 2>/dev/null || true
    rm -rf "$copy"
}

# Passed, failed and skipped of a junit file; "0 1 0" when there is none.
junit_counts() {
    /usr/bin/python3 - "$1" <<'PY'
import sys, xml.etree.ElementTree as tree
try:
    suites = list(tree.parse(sys.argv[1]).getroot().iter("testsuite"))
except (OSError, tree.ParseError):
    print("0 1 0")
    sys.exit()
def total(name):
    return sum(int(suite.get(name)) for suite in suites)
bad = total("failures") + total("errors")
print(max(0, total("tests") - bad - total("skipped")), bad, total("skipped"))
PY
}

count_api() { # STAGE NOTE
    local passed failed skipped
    read -r passed failed skipped <<<"$(junit_counts "$RESULTS/$1/results.xml")"
    if [ "$failed" -gt 0 ]; then
        say "the end of $RESULTS/$1/pytest.log:"
        tail -n 60 "$RESULTS/$1/pytest.log"
    fi
    [ "$skipped" -eq 0 ] || set -- "$1" "$skipped skipped. $2"
    grep -h '^PAYMENTS_SEED=' "$RESULTS/$1/pytest.log" || true # what the random ones did
    count "$1" "$passed" "$failed" "$2"
}

ordinary_user() {
    echo setpriv --reuid "$(id -u nobody)" --regid "$(id -g nobody)" --clear-groups
}

stage_api-root() {
    stage api-root
    if [ "$(id -u)" -ne 0 ]; then
        say "api-root       left out: this is not root"
        return
    fi
    run_api api-root "$NORMAL" env --
    count_api api-root "as root"
}

stage_api-user() {
    stage api-user
    if [ "$(id -u)" -eq 0 ]; then
        # What differs for another user does not differ by MPM: root's run has all three.
        # shellcheck disable=SC2046 # the prefix is words
        run_api api-user "$NORMAL" $(ordinary_user) env PAYMENTS_MPM=event --
    else
        run_api api-user "$NORMAL" env --
    fi
    count_api api-user "as an ordinary user"
}

stage_api-sanitize() {
    stage api-sanitize
    if build_sanitize; then
        run_api api-sanitize "$SANITIZE" env PAYMENTS_SANITIZE=1 PAYMENTS_MPM=event --
    fi
    count_api api-sanitize "ASan and UBSan, event"
}

# ---- the commands

dev_test() {
    local name start=$SECONDS
    # shellcheck disable=SC2086 # names of stages are words
    [ $# -gt 0 ] || set -- $STAGES
    for name in "$@"; do
        case " $STAGES " in
            *" $name "*) ;;
            *) die "no such stage: $name; there are: $STAGES" ;;
        esac
    done
    packages test
    build_normal
    rm -rf "$RESULTS"
    case " $* " in
        *" valgrind "*) valgrind_begin ;;
    esac
    for name in "$@"; do
        "stage_$name"
    done
    say "$((SECONDS - start)) s in all"
    say "$PASSED passed, $FAILED failed"
    [ "$FAILED" -eq 0 ]
}

dev_faults() {
    [ $# -eq 0 ] || die "faults takes no arguments"
    packages test
    build_normal
    stage faults
    build_unit "$NORMAL" || die "the unit tests do not build"
    say "10,000 random sequences against a model"
    PAYMENTS_SEQUENCES=10000 "$NORMAL/tests/unit/test_property" | tee "$RESULTS/faults/property.log"
    count faults-property "$(grep -c '^100%' "$RESULTS/faults/property.log")" \
        "$(grep -vc '^100%' <(grep '^[0-9]*%' "$RESULTS/faults/property.log"))" "long runs"
    run_api faults "$NORMAL" env -- -m faults
    count_api faults "long runs"
    say "$PASSED passed, $FAILED failed"
    [ "$FAILED" -eq 0 ]
}
