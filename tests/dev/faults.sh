# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The stages tsan and faults of ./dev test, small, and ./dev faults, which runs them in full.

FAULT_PARTS="property api faults tsan valgrind"
# Parts of faults, for those who work on them.
FAULT_PARTS_NAMED="acquirer notifications timing"

# ---- ThreadSanitizer

# The unit programs that start threads: all that it can say something about. In ./dev faults every
# program, for what starts a thread out of sight.
tsan_programs() {
    local pattern='pthread_create|apr_thread_create'
    [ "${TSAN_ALL:-0}" -eq 0 ] || pattern='START_TEST'
    grep -lE "$pattern" tests/unit/test_*.c | sed 's,.*/,,; s,\.c$,,' | sort
}

# A kernel that strews addresses far leaves an older ThreadSanitizer no room; a container may forbid
# to ask for less, and then it is tried as it is.
without_aslr() {
    if setarch "$(uname -m)" -R true 2>/dev/null; then
        echo setarch "$(uname -m)" -R
    fi
}

# One process for each program: what it forks from has no thread of check's. liblmdb and APR are
# not instrumented, and nothing of them has been reported falsely: there is no list of suppressions.
# A process that a test ends while its threads run is no leak.
run_tsan() { # STAGE
    # shellcheck disable=SC2046 # the prefix is words
    tsan_programs | sed "s,^,$TSAN/tests/unit/," \
        | ONE_PROCESS=1 run_programs "$1" "$JOBS" $(without_aslr) env TMPDIR="$(memory_dir)" \
            CK_TIMEOUT_MULTIPLIER=10 PAYMENTS_SEQUENCES="${TSAN_SEQUENCES:-20}" \
            TSAN_OPTIONS=exitcode=66:die_after_fork=0:report_thread_leaks=0 timeout 600
}

stage_tsan() {
    stage tsan
    if build_tsan; then
        run_tsan tsan
    fi
    count_unit tsan "ThreadSanitizer, programs with threads"
}

# ---- the tests of tests/faults

stage_faults() {
    stage faults
    if build_unit "$NORMAL"; then
        run_api faults faults "$NORMAL" env PAYMENTS_MPM=event --
    fi
    count_api faults "small; ./dev faults runs them in full"
}

# ---- ./dev faults

part_property() {
    local log=$RESULTS/property/log
    stage property
    say "property: 10,000 random sequences against a model"
    if build_unit "$NORMAL"; then
        PAYMENTS_SEQUENCES=10000 "$NORMAL/tests/unit/test_property" 2>&1 | tee "$log" || true
    fi
    count property "$(grep -c '^100%' "$log")" \
        "$(grep -c '^[0-9]*%' <(grep -v '^100%' "$log"))" "10,000 sequences"
}

part_api() {
    stage api
    say "api: the long runs of tests/api, and on every MPM what ./dev test asks on one"
    PROGRESS=1 run_api api api "$NORMAL" env -- -m "faults or any_mpm"
    count_api api "long runs, and every MPM"
}

part_faults() {
    stage faults
    say "faults: tests/faults in full"
    if build_unit "$NORMAL"; then
        PROGRESS=1 run_api faults faults "$NORMAL" env PAYMENTS_MPM=event PAYMENTS_FAULTS=full --
    fi
    count_api faults "in full"
}

part_notifications() {
    stage notifications
    say "notifications: deliveries while processes die, in full"
    if build_unit "$NORMAL"; then
        PROGRESS=1 run_api notifications faults "$NORMAL" env PAYMENTS_MPM=event PAYMENTS_FAULTS=full -- \
            -k test_notifications
    fi
    count_api notifications "in full"
}

part_acquirer() {
    stage acquirer
    say "acquirer: Live Mode with cut connections, dead processes, wrong clocks and restored stores, in full"
    if build_unit "$NORMAL"; then
        PROGRESS=1 run_api acquirer faults "$NORMAL" env PAYMENTS_MPM=event PAYMENTS_FAULTS=full -- \
            -k "test_acquirer or test_clock_live or test_chaos"
    fi
    count_api acquirer "in full"
}

part_timing() {
    stage timing
    say "timing: 12,000 encrypted orders that are refused, and a control, by the clock"
    if build_unit "$NORMAL"; then
        PROGRESS=1 run_api timing faults "$NORMAL" env PAYMENTS_MPM=event PAYMENTS_FAULTS=full -- \
            -k test_timing
    fi
    count_api timing "in full"
}

part_tsan() {
    stage tsan
    say "tsan: every unit program under ThreadSanitizer"
    export TSAN_ALL=1 TSAN_SEQUENCES=1000
    if build_tsan; then
        run_tsan tsan
    fi
    unset TSAN_ALL TSAN_SEQUENCES
    count_unit tsan "every program"
}

part_valgrind() {
    stage valgrind
    say "valgrind: the store's unit programs too"
    if build_unit "$NORMAL"; then
        run_valgrind valgrind "$VALGRIND_NEVER"
    fi
    count_unit valgrind "what is left out, and why, stands in tests/dev/suite.sh"
}

dev_faults() {
    local name start=$SECONDS
    # shellcheck disable=SC2086 # names of parts are words
    [ $# -gt 0 ] || set -- $FAULT_PARTS
    for name in "$@"; do
        case " $FAULT_PARTS $FAULT_PARTS_NAMED " in
            *" $name "*) ;;
            *) die "no such part: $name; there are: $FAULT_PARTS $FAULT_PARTS_NAMED" ;;
        esac
    done
    packages test
    versions
    build_normal
    node_packages api "$NORMAL/node" "what signatures are verified with" || true # its tests say so
    rm -rf "$RESULTS"
    for name in "$@"; do
        "part_$name"
    done
    summary "$start"
}
