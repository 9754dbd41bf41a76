# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# ./dev test: stages that count passed and failed cases; report.sh reports the totals.

STAGES="lint scripts demo unit unit-plain valgrind tsan fuzz-replay faults api browser api-sanitize"

# ---- scripts

# check_selftest plants faults for the other scripts to find, which takes as long as all of them, and check_runner
# gives ./dev broken runs to judge: a whole run includes them only if a script changed, or a file in which the faults
# are planted.
stage_scripts() {
    stage scripts
    if [ "$WHOLE" -eq 1 ] && ! checks_changed; then
        # shellcheck disable=SC2046 # file names are words
        run_scripts "no check changed: ./dev faults has check_selftest and check_runner" \
            $(printf '%s\n' tests/check_*.sh | grep -vE 'selftest|runner')
    else
        run_scripts "" tests/check_*.sh
    fi
}

# The scripts with the programs they run, and the files in which check_selftest plants its faults.
CHECKED='^(dev$|tests/(check_|dev/|pages/|fuzz/replay\.sh$|faults/(timing|preload_boot)\.c$|unit/base/text/test_money\.c$)|docs/(directives\.md|messages\.md|openapi\.json|paymentsctl\.8)$|README\.md$|share/mail/test\.txt$'
CHECKED=$CHECKED'|conf/payments\.conf$|share/dashboard/(index\.html|assets/((dom|app|money)\.js|(parts|tokens)\.css))$'
CHECKED=$CHECKED'|mod_payments/(base/text/(money|id)\.[ch]|model/card\.c|httpd/conf/directives\.c|ctl/ctl\.h)$'
CHECKED=$CHECKED'|mod_payments/(service/service|store/store|acquirer/acquirer)\.h$)'

# Without a history they count as changed.
checks_changed() {
    history_of_tree rev-parse -q --verify HEAD >/dev/null 2>&1 || return 0
    lint_changed "$(lint_base)"
    grep -qE "$CHECKED" "$LINT_CHANGED"
}

run_scripts() { # NOTE FILE...
    local note=$1 log passed=0 failed=0
    shift
    printf '%s\n' "$@" | PAYMENTS_BUILD=$NORMAL xargs -P "$JOBS" -I '{}' bash -c '
        log=$2/$(basename "$1" .sh).log
        bash "$1" >"$log" 2>&1
        echo "exit status: $?" >>"$log"' - '{}' "$RESULTS/scripts"
    for log in "$RESULTS"/scripts/check_*.log; do
        if grep -qx 'exit status: 0' "$log"; then
            passed=$((passed + 1))
        else
            failed=$((failed + 1))
            say "$(basename "$log" .log) failed:"
            head -n 40 "$log"
        fi
    done
    count scripts "$passed" "$failed" "$note"
}

# ---- ./dev run, as a new developer types it

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
    PAYMENTS_RUN=$1 ./dev run --port "$2" | tee -a "$RESULTS/demo/log" | grep -F -- "$3"
}

demo_fails() { # DIRECTORY PORT WORDS: ./dev run fails and says why
    local said
    if said=$(PAYMENTS_RUN=$1 ./dev run --port "$2" 2>&1); then
        return 1
    fi
    grep -F -- "$3" <<<"$said"
}

demo_answers() { # PORT STATUS: what an anonymous client gets there; 000: no connection
    [ "$(curl -s -o /dev/null -w '%{http_code}' "http://127.0.0.1:$1/api/v1/")" = "$2" ]
}

# The user whose name ./dev run prints sees charges of the last thirty days.
demo_dashboard() { # DIRECTORY PORT
    curl -sf -u "demo:$(cat "$1/keys/demo-password")" \
        "http://127.0.0.1:$2/payments-dashboard/api/accounts/demo/test/overview?tz=UTC" \
        | /usr/bin/python3 -c 'import json, sys
days = [day for one in json.load(sys.stdin)["chart"] if one["currency"] == "NGN" for day in one["days"]]
sys.exit(len(days) != 30 or sum(day["charges"] > 0 for day in days) < 25)'
}

# The remains of a run that was stopped while it created the sample data.
demo_cut_off() { # DIRECTORY
    mv "$1/public/filled" "$1/public/filling"
}

# With this tree's build, and its own directory: ./dev test bare begins without a build.
stage_demo() {
    local dir port
    DEMO_PASSED=0
    DEMO_FAILED=0
    stage demo
    dir=$(mktemp -d "${TMPDIR:-/tmp}/payments-demo-XXXXXXXX")
    port=$(/usr/bin/python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
    expect "the first run" demo_says "$dir" "$port" '"paymentStatus": "successful"'
    expect "the server is left running" demo_answers "$port" 401
    expect "the dashboard shows thirty days" demo_dashboard "$dir" "$port"
    expect "the second run" demo_says "$dir" "$port" '"status": "processed"'
    expect "it ends with the dashboard's address" \
        grep -qF -- "dashboard  http://127.0.0.1:$port/payments-dashboard/" "$RESULTS/demo/log"
    expect "and with who may sign in" grep -qE 'user demo, password [0-9a-f]{18}$' "$RESULTS/demo/log"
    expect "a run that is cut off" demo_cut_off "$dir"
    expect "the next one makes the sample data anew" demo_says "$dir" "$port" 'it is made anew'
    expect "the dashboard shows thirty days again" demo_dashboard "$dir" "$port"
    expect "no key is printed" bash -c '! grep -rqF -- "$(cat "$1/keys/demo-test-secret")" "$2"' \
        - "$dir" "$RESULTS/demo/log"
    expect "./dev stop" env PAYMENTS_RUN="$dir" ./dev stop
    expect "the port is free" demo_answers "$port" 000
    /usr/bin/python3 -m http.server --bind 127.0.0.1 "$port" >/dev/null 2>&1 &
    until_true "the port to be taken" demo_answers "$port" 404
    expect "a taken port" demo_fails "$dir" "$port" "name another"
    kill $!
    rm -rf "$dir"
    count demo "$DEMO_PASSED" "$DEMO_FAILED" "./dev run and ./dev stop"
}

# ---- unit tests

# A directory in memory if it has room; else the usual one for temporary files.
memory_dir() {
    local dir=/dev/shm free
    free=$(df -Pk "$dir" 2>/dev/null | awk 'NR == 2 { print $4 }') || true
    [ -w "$dir" ] && [ "${free:-0}" -ge 2097152 ] || dir=${TMPDIR:-/tmp}
    echo "$dir"
}

# Programs whose tests each need their own process: state left by one (pauses after faults, messages already logged,
# another user) would make the next one fail.
WANT_PROCESSES='test_dashboard_guard|test_keyring|test_lmdb|test_lmdb_batch|test_lmdb_commit|test_lmdb_space'
WANT_PROCESSES=$WANT_PROCESSES'|test_lmdb_use|test_metrics|test_outbox|test_outbox_finish|test_outbox_mail'
WANT_PROCESSES=$WANT_PROCESSES'|test_page_view|test_secret_file|test_shutdown'

# run_programs STAGE TREE JOBS WRAPPER...: the programs of TREE's unit_tests, or of some_tests if UNIT_BINARY says so,
# that stdin names, one result file each. With ONE_PROCESS=1 a program's tests share its process, except in the programs
# above and those with a test that ends its process: a fork costs a sanitizer or valgrind more than most tests.
run_programs() {
    local stage=$1 tree=$2 jobs=$3
    shift 3
    WANT_PROCESSES=$WANT_PROCESSES xargs -P "$jobs" -I '{}' bash -c '
        name=$1 log=$2/$1.log
        export CK_XML_LOG_FILE_NAME=$2/$1.xml
        shift 2
        if [ "${ONE_PROCESS:-0}" -eq 1 ] && [[ ! $name =~ ^($WANT_PROCESSES)$ ]] \
            && ! grep -qE "_raise_signal|_exit_test" "$(find tests/unit -name "$name.c")"; then
            export CK_FORK=no
        fi
        "$@" "$name" >"$log" 2>&1
        echo "exit status: $?" >>"$log"' - '{}' "$RESULTS/$stage" "$@" "$tree/tests/unit/${UNIT_BINARY:-unit_tests}"
}

# run_unit STAGE TREE JOBS WRAPPER...: every program of TREE except those that match the pattern LEFT_OUT; or only
# those that match ONLY.
run_unit() {
    local stage=$1 tree=$2 jobs=$3
    shift 3
    "$tree/tests/unit/${UNIT_BINARY:-unit_tests}" | sort | grep -P "^(${ONLY:-.*})\$" | grep -vP "^(${LEFT_OUT:-none})\$" \
        | run_programs "$stage" "$tree" "$jobs" "$@"
}

# count_unit STAGE NOTE: reads the totals that check prints; a program that ended abnormally without a failed test (a
# crash, a report of valgrind or a sanitizer) counts as one failure.
count_unit() {
    local log line checks bad passed=0 failed=0 programs=0
    for log in "$RESULTS/$1"/*.log; do
        [ -e "$log" ] || break
        programs=$((programs + 1))
        line=$(grep -o 'Checks: [0-9]*, Failures: [0-9]*, Errors: [0-9]*' "$log" | tail -n 1) || true
        read -r checks bad <<<"$(tr -dc '0-9 \n' <<<"$line" | awk '{ print $1 + 0, $2 + $3 }')"
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

# Under AddressSanitizer and UBSan, which find faults that make no test fail.
stage_unit() {
    stage unit
    if build_sanitize && build_unit "$SANITIZE"; then
        ONE_PROCESS=1 run_unit unit "$SANITIZE" "$JOBS" env PAYMENTS_SEQUENCES=200 \
            UBSAN_OPTIONS=print_stacktrace=1 timeout 600
    fi
    count_unit unit "ASan and UBSan"
}

# Users' builds differ in the effects of the optimizer, and in faults that appear only at speed: ciphers and
# comparison times, words that processes share, threads that wait for each other, commits, and random sequences, of
# which it runs more in the same time. ./dev faults runs all.
PLAIN='test_acquiring|test_breaker.*|test_challenge|test_crypto|test_failure_table|test_history_visit'
PLAIN=$PLAIN'|test_lmdb_batch|test_lmdb_commit|test_lmdb_use|test_lmdb_writer_lock|test_meter|test_property|test_rate'
PLAIN=$PLAIN'|test_rsa.*|test_secret_memory|test_shared_mutex|test_slots.*|test_transfer|test_worker'

# The programs of this stage and of valgrind's, in one binary.
build_plain() {
    programs_named "$PLAIN|$VALGRIND_HERE" | build_some "$NORMAL"
}

stage_unit-plain() {
    stage unit-plain
    if build_plain; then
        UNIT_BINARY=some_tests ONLY=$PLAIN run_unit unit-plain "$NORMAL" "$JOBS" env
    fi
    count_unit unit-plain "as users build it"
}

# ---- valgrind

# The programs of WANT_PROCESSES that take too long under valgrind: the sanitizers, which also find leaks, run them.
SLOW_PROCESSES='test_keyring|test_outbox|test_outbox_finish|test_outbox_mail|test_secret_file'
# Storms of threads and processes on words that they share: valgrind runs one thread at a time, so they never collide
# there. ThreadSanitizer and the sanitizers run them.
STORMS='test_breaker(_race)?|test_history_add|test_history_visit|test_rate|test_slots(_visitor)?'
# Thousands of rows, days or workers in code that other programs, which valgrind runs, use with a few: each takes it
# from 20 to 70 seconds. The sanitizers run them.
MANY_ROWS='test_lmdb_batch|test_store_check_total|test_store_refund_list|test_store_refund_repeat'
MANY_ROWS=$MANY_ROWS'|test_store_sweep|test_refund_import|test_timezone'
# Dozens and hundreds of connections, for each of which OpenSSL reads certificates: one minute and three. The
# sanitizers run them.
CERTIFICATES='test_transfer_tls|test_relay_exchange'
# RSA pairs, which take a second to generate and a minute under valgrind, and hundreds of their blocks. The sanitizers
# run them; test_rsa_padding, which marks for valgrind the data that must not decide a branch, stays.
PAIRS='test_encryption|test_rsa|test_rsa_make'
VALGRIND_NEVER="$SLOW_PROCESSES|$STORMS|$MANY_ROWS|$CERTIFICATES|$PAIRS"
# Only valgrind finds the use of uninitialised memory, and branches on secrets, which test_rsa_padding marks this way.
# ./dev test runs that test and the store's rows, whose bytes go to the disk; ./dev faults runs all others.
VALGRIND_HERE='test_rsa_padding|test_.*_row'

# run_valgrind STAGE ONLY: one process for each program, because a new one for each test would translate the same code
# again, which is six sevenths of the time. Errors set the program's exit status. The stores are in memory: the other
# stages test disks.
run_valgrind() {
    ONLY=$2 LEFT_OUT=$VALGRIND_NEVER ONE_PROCESS=1 run_unit "$1" "$NORMAL" "$JOBS" env TMPDIR="$(memory_dir)" \
        PAYMENTS_SEQUENCES=20 CK_TIMEOUT_MULTIPLIER=20 timeout 600 valgrind --quiet \
        --error-exitcode=99 --leak-check=full --show-leak-kinds=definite \
        --errors-for-leak-kinds=definite
}

stage_valgrind() {
    stage valgrind
    if build_plain; then
        UNIT_BINARY=some_tests run_valgrind valgrind "$VALGRIND_HERE"
    fi
    count_unit valgrind "what is left out, and why, stands in tests/dev/suite.sh"
}

# The fuzzers' seeds and findings, under the sanitizers, without a fuzzer.
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

# node_packages FOLDER DIR WHAT: downloads once the npm packages of tests/FOLDER, at the versions in its lock file, to
# DIR. If npm fails, the status is 1 and DIR/failed says why: the tests that need them fail with this text, and all
# others run.
node_packages() {
    local lock=tests/$1/package-lock.json
    cmp -s "$lock" "$2/installed" && return
    rm -rf "$2"
    mkdir -p "$2"
    cp "tests/$1/package.json" "$lock" "$2/"
    quiet "npm-$1.log" "installation of $3" \
        npm ci --prefix "$2" --ignore-scripts --no-audit --no-fund || {
        { echo "npm could not install $3:" && tail -n 30 "$LOGS/npm-$1.log"; } >"$2/failed"
        return 1
    }
    cp "$lock" "$2/installed"
}

# The files that the tests need, readable by any user: a checkout is often below a private home.
stage_copy() { # TREE
    local copy
    copy=$(mktemp -d "${TMPDIR:-/tmp}/payments-test-XXXXXXXX")
    mkdir -p "$copy/build/mod_payments/.libs" "$copy/tests"
    cp "$1/mod_payments/.libs/mod_payments.so" "$copy/build/mod_payments/.libs/"
    cp "$1/mod_payments/paymentsctl" "$copy/build/mod_payments/"
    cp -R tests/api tests/faults tests/bench tests/browser tests/generators "$copy/tests/"
    copy_loaded "$1" "$copy/build"
    [ "$1" = "$NORMAL" ] || copy_plain "$copy/build/plain"
    cp -R README.md conf docs share "$copy/"
    # The header for connectors, the texts that the manual repeats, and the tables of which every row has a test.
    mkdir -p "$copy"/mod_payments/{acquirer,model,service,httpd}
    cp mod_payments/service/change.c "$copy/mod_payments/service/"
    cp mod_payments/httpd/dashboard/routes.c "$copy/mod_payments/httpd/"
    cp mod_payments/acquirer/mod_payments.h "$copy/mod_payments/acquirer/"
    cp mod_payments/model/outcome.c "$copy/mod_payments/model/"
    cp -R "$NORMAL/node" "$copy/build/"
    [ ! -d "$NORMAL/browser" ] || cp -R "$NORMAL/browser" "$copy/build/"
    [ ! -d "$NORMAL/share" ] || cp -R "$NORMAL/share" "$copy/build/" # pages, as make assembled them
    mkdir "$copy/home" "$copy/tmp"
    chmod -R a+rX "$copy"
    chmod 1777 "$copy/home" "$copy/tmp"
    echo "$copy"
}

# The modules that tests load into a server, and the programs that they start, at the same paths.
copy_loaded() { # TREE BUILD
    local dir
    for dir in api faults bench; do
        mkdir -p "$2/tests/$dir/.libs"
        find "$1/tests/$dir" -maxdepth 1 -type f -perm -u+x -exec cp {} "$2/tests/$dir/" \; 2>/dev/null
        find "$1/tests/$dir/.libs" -name '*.so' -exec cp {} "$2/tests/$dir/.libs/" \; 2>/dev/null
    done
    true # a tree without them is complete for the other tests
}

# The tool as users build it, with which tests of a slower build set up and inspect.
copy_plain() { # DIRECTORY
    mkdir -p "$1"
    cp "$NORMAL/mod_payments/paymentsctl" "$NORMAL/tests/api/.libs/preload_lines.so" "$NORMAL/tests/api/silent_ctl" "$1/"
}

# Shows the progress of a run: each test, or every half minute the number of tests done.
progress() { # STAGE LOG
    local line told=$SECONDS begun=$SECONDS
    while IFS= read -r line; do
        printf '%s\n' "$line" >&3
        if [ -n "${PROGRESS:-}" ]; then
            [[ ! $line =~ (PASSED|FAILED|ERROR).*::|::.*(PASSED|FAILED|ERROR) ]] || say "$line"
        elif [[ $line =~ \[\ *([0-9]+)%\]$ ]] && [ $((SECONDS - told)) -ge 30 ]; then
            say "$1: ${BASH_REMATCH[1]} % of the tests after $((SECONDS - begun)) s"
            told=$SECONDS
        fi
    done 3>"$2"
}

# run_api STAGE FOLDER TREE PREFIX... -- PYTEST OPTIONS...: the tests of tests/FOLDER; PREFIX sets
# the user and environment.
run_api() {
    local stage=$1 folder=$2 tree=$3 copy prefix=()
    shift 3
    while [ "$1" != -- ]; do
        prefix+=("$1")
        shift
    done
    shift
    build_loaded "$tree" || return 0
    copy=$(stage_copy "$tree")
    run_pytest "$stage" "$folder" "$copy" "${prefix[@]}" -- "$@"
    rm -rf "$copy"
}

# rewrite_once FOLDER BUILD PYTEST OPTIONS...: pytest rewrites the assertions of each file before it runs it. This does
# it once, instead of in each of its processes.
rewrite_once() {
    (cd "$1" && umask 022 && env -u PYTHONDONTWRITEBYTECODE PAYMENTS_BUILD="$2" PAYMENTSCTL="$2/mod_payments/paymentsctl" \
        /usr/bin/python3 -m pytest -q -p no:cacheprovider --collect-only "${@:3}" -n 0 .) >"$LOGS/rewrite.log" 2>&1 || true # the run says why
}

# run_pytest STAGE FOLDER COPY PREFIX... -- PYTEST OPTIONS...: leaves no results if it did not reach its end.
run_pytest() {
    local stage=$1 folder=$2 copy=$3 prefix=()
    shift 3
    while [ "$1" != -- ]; do
        prefix+=("$1")
        shift
    done
    shift
    case " $* " in
        *" -n "*) rewrite_once "$copy/tests/$folder" "$copy/build" "$@" ;;
    esac
    (
        cd "$copy/tests/$folder" && umask 022 && "${prefix[@]}" env PAYMENTS_BUILD="$copy/build" \
            PAYMENTSCTL="$copy/build/mod_payments/paymentsctl" HOME="$copy/home" PAYMENTS_WAITS="$copy/tmp/waits" \
            PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 -m pytest -q -p no:cacheprovider \
            --junitxml="$copy/tmp/results.xml" --junitprefix="$folder" --durations=15 -rsP ${PROGRESS:+-vv} "$@" .
    ) 2>&1 | progress "$stage" "$RESULTS/$stage/pytest.log" || true
    cp "$copy/tmp/results.xml" "$copy/tmp/waits" "$RESULTS/$stage/" 2>/dev/null || true
}

# The contents of a file of results; tests/dev/junit.py lists the commands.
junit() { # WORD STAGE
    /usr/bin/python3 tests/dev/junit.py "$1" "$RESULTS/$2/results.xml"
}

count_api() { # STAGE NOTE
    local passed failed skipped
    read -r passed failed skipped <<<"$(junit counts "$1")"
    if [ "$failed" -gt 0 ]; then
        say "what failed; the whole is in $RESULTS/$1/pytest.log:"
        junit failures "$1"
        [ -s "$RESULTS/$1/results.xml" ] || tail -n 60 "$RESULTS/$1/pytest.log" # it did not get that far
    fi
    [ "$skipped" -eq 0 ] || set -- "$1" "$skipped skipped. $2"
    # The results of random tests and of injected faults.
    grep -hE '^PAYMENTS_(SEED=|FAULTS:)' "$RESULTS/$1/pytest.log" || true
    count "$1" "$passed" "$failed" "$2"
    if [ "$failed" -gt 0 ]; then
        tell "$(junit names "$1")"
    fi
}

ordinary_user() {
    echo setpriv --reuid "$(id -u nobody)" --regid "$(id -g nobody)" --clear-groups
}

# The tests of tests/api wait more than they compute: they run in twice as many processes as there are cores.
SHARED_OUT="-n $((JOBS * 2))"

# The number of tests of each mark that a run skipped; tests/api/conftest.py describes the marks.
left_out() { # STAGE
    grep '^left out: ' "$RESULTS/$1/pytest.log" || echo "left out: unknown"
}

# Tests that the sanitizers' run does not cover: other MPMs, actions that only root can do, time limits that it lifts;
# and one file in ten, for the build that users have. ./dev faults api runs all.
stage_api() {
    stage api
    # shellcheck disable=SC2086 # options are words
    run_api api api "$NORMAL" env -- --plain $SHARED_OUT
    count_api api "as $(id -un), as users build it. $(left_out api)"
}

# Runs every case of tests/api, on event.
stage_api-sanitize() {
    local user=()
    stage api-sanitize
    if build_sanitize && build_loaded "$NORMAL"; then # whose tool sets up tests
        [ "$(id -u)" -ne 0 ] || read -ra user <<<"$(ordinary_user)"
        # shellcheck disable=SC2086 # options are words
        run_api api-sanitize api "$SANITIZE" "${user[@]}" env PAYMENTS_SANITIZE=1 PAYMENTS_MPM=event -- \
            $SHARED_OUT
    fi
    count_api api-sanitize "as an ordinary user, ASan and UBSan, event. $(left_out api-sanitize)"
}

# ---- the commands

# The stages of a whole run are in lanes, which run in parallel: while one waits another computes. Four take longer
# than three, because they delay each other. Files that more than one lane needs are built first; files that a stage
# builds are for the later stages of its lane. Lint is in no lane: .ci/run runs it first, so does ./dev test changed.
LANES=("api unit-plain valgrind api-sanitize" "faults browser demo" "tsan unit fuzz-replay scripts")

lane() { # STAGE...
    local name
    # shellcheck disable=SC2034 # for report.sh
    LANE=$BASHPID
    for name in "$@"; do
        "stage_$name"
    done
}

# Each lane is a process group, which is interrupted as a whole, unlike a shell's other background children. A lane
# that ends early is a failure, whatever the cause.
run_lanes() {
    local lane pid
    LANE_GROUPS=()
    trap 'end_lanes INT; exit 130' INT
    trap 'end_lanes TERM; exit 143' TERM HUP
    set -m
    for lane in "${LANES[@]}"; do
        # shellcheck disable=SC2086 # names of stages are words
        lane $lane </dev/null &
        LANE_GROUPS+=($!)
    done
    set +m
    for pid in "${LANE_GROUPS[@]}"; do
        wait "$pid" || { stage lanes && count lanes 0 1 "one ended before its end"; }
    done
    trap - INT TERM HUP
}

end_lanes() { # SIGNAL
    local pid
    for pid in "${LANE_GROUPS[@]}"; do
        kill -"$1" -- "-$pid" 2>/dev/null || true
    done
    wait
}

dev_test() {
    local name
    case ${1:-} in
        bare) dev_bare "${@:2}"; return ;;
        of | changed) "test_$1" "${@:2}"; return ;;
        -k) test_words "${@:2}"; return ;;
    esac
    for name in "$@"; do
        case " $STAGES " in
            *" $name "*) ;;
            *) die "no such stage: $name; there are: $STAGES, and bare" ;;
        esac
    done
    packages test
    versions
    begin "test"
    build_normal
    node_packages api "$NORMAL/node" "what signatures are verified with" || true # its tests say so
    if [ $# -gt 0 ]; then
        lane "$@"
    else
        # shellcheck disable=SC2034 # for report.sh
        WHOLE=1
        build_loaded "$NORMAL" || true # its stages report it, as for the next
        { build_sanitize && build_unit "$SANITIZE"; } || true
        run_lanes
    fi
    summary
}
