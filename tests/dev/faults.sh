# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The stages tsan and faults of ./dev test, in part, and ./dev faults, which runs them in full.

FAULT_PARTS="property unit api sanitize long faults tsan valgrind scripts lint clients bench bare"
# Subsets of the part faults, for developers who work on them, and a part that downloads packages.
FAULT_PARTS_NAMED="acquirer notifications timing wordpress"

# ---- ThreadSanitizer

# Programs with data that threads and processes share: only there it can find something. ./dev faults runs every
# program under it, in case one starts a thread indirectly.
TSAN_HERE="$STORMS|test_acquiring|test_challenge|test_clock|test_failure_table|test_key_usage|test_meter"
TSAN_HERE=$TSAN_HERE'|test_lmdb_batch|test_lmdb_commit|test_lmdb_reader|test_lmdb_writer_lock|test_reconcile_dispatcher|test_worker'

tsan_programs() {
    programs_named "${TSAN_ONLY:-$TSAN_HERE}"
}

# Strong address randomisation leaves an older ThreadSanitizer no room. A container may forbid turning it off; then
# the programs run with it.
without_aslr() {
    if setarch "$(uname -m)" -R true 2>/dev/null; then
        echo setarch "$(uname -m)" -R
    fi
}

# One process for each program: the process that it forks from has no thread of check's. liblmdb and APR are not
# instrumented, but have caused no false reports, so there is no list of suppressions. A process that a test ends
# while its threads run is not a leak.
run_tsan() { # STAGE
    # shellcheck disable=SC2046 # the prefix is words
    tsan_programs | UNIT_BINARY=some_tests ONE_PROCESS=1 run_programs "$1" "$TSAN" "$JOBS" $(without_aslr) env TMPDIR="$(memory_dir)" \
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
    if build_loaded "$NORMAL"; then
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
        PAYMENTS_SEQUENCES=10000 "$NORMAL/tests/unit/unit_tests" test_property 2>&1 | tee "$log" || true
    fi
    count property "$(grep -c '^100%' "$log")" \
        "$(grep -c '^[0-9]*%' <(grep -v '^100%' "$log"))" "10,000 sequences"
}

part_unit() {
    stage unit
    say "unit: every program as users build it"
    if build_unit "$NORMAL"; then
        run_unit unit "$NORMAL" "$JOBS" env
    fi
    count_unit unit "as users build it"
}

part_api() {
    stage api
    say "api: every case of tests/api as users build it, on every MPM"
    # shellcheck disable=SC2086 # options are words
    run_api api api "$NORMAL" env -- -m "not faults" $SHARED_OUT
    count_api api "every case on every MPM, as $(id -un)"
}

# Each call of the tool under the sanitizers; ./dev test runs only some of them so.
part_sanitize() {
    stage sanitize
    say "sanitize: every case of tests/api on event, each call of paymentsctl under the sanitizers"
    if build_sanitize && build_loaded "$NORMAL"; then
        # shellcheck disable=SC2086 # options are words
        run_api sanitize api "$SANITIZE" env PAYMENTS_SANITIZE=1 PAYMENTS_EVERY_CALL=1 PAYMENTS_MPM=event -- $SHARED_OUT
    fi
    count_api sanitize "as $(id -un), ASan and UBSan, event"
}

# One at a time: they measure.
part_long() {
    stage long
    say "long: the long runs of tests/api"
    PROGRESS=1 run_api long api "$NORMAL" env -- -m faults
    count_api long "long runs of tests/api"
}

part_faults() {
    stage faults
    say "faults: tests/faults in full"
    if build_loaded "$NORMAL"; then
        PROGRESS=1 run_api faults faults "$NORMAL" env PAYMENTS_MPM=event PAYMENTS_FAULTS=full --
    fi
    count_api faults "in full"
}

part_notifications() {
    stage notifications
    say "notifications: deliveries while processes die, in full"
    if build_loaded "$NORMAL"; then
        PROGRESS=1 run_api notifications faults "$NORMAL" env PAYMENTS_MPM=event PAYMENTS_FAULTS=full -- \
            -k test_notifications
    fi
    count_api notifications "in full"
}

part_acquirer() {
    stage acquirer
    say "acquirer: Live Mode with cut connections, dead processes, wrong clocks and restored stores, in full"
    if build_loaded "$NORMAL"; then
        PROGRESS=1 run_api acquirer faults "$NORMAL" env PAYMENTS_MPM=event PAYMENTS_FAULTS=full -- \
            -k "test_acquirer or test_clock_live or test_chaos"
    fi
    count_api acquirer "in full"
}

part_timing() {
    stage timing
    say "timing: 12,000 encrypted orders that are refused, and a control, by the clock"
    if build_loaded "$NORMAL"; then
        PROGRESS=1 run_api timing faults "$NORMAL" env PAYMENTS_MPM=event PAYMENTS_FAULTS=full -- \
            -k test_timing
    fi
    count_api timing "in full"
}

# Unpacked, not installed: Debian's WordPress starts a server on port 80. Debian has no WooCommerce.
WORDPRESS_PACKAGES="wordpress wordpress-theme-twentytwentythree php-getid3 mariadb-server-core mariadb-client-core"
WORDPRESS_PACKAGES=$WORDPRESS_PACKAGES" libaio1 libnuma1 liburing2"

unpack_wordpress() {
    local dir=$OUT/wordpress deb want
    want="$WORDPRESS_PACKAGES $(php -r 'echo "php", PHP_MAJOR_VERSION, ".", PHP_MINOR_VERSION, "-mysql";')"
    [ "$(cat "$dir/packages" 2>/dev/null)" != "$want" ] || return 0
    rm -rf "$dir"
    mkdir -p "$dir/debs"
    # shellcheck disable=SC2086 # names of packages are words
    in_dir "$dir/debs" apt-get download $want || return 1
    for deb in "$dir"/debs/*.deb; do
        dpkg -x "$deb" "$dir" || return 1
    done
    echo "$want" >"$dir/packages"
}

part_wordpress() {
    stage wordpress
    say "wordpress: the WooCommerce plugin in Debian's WordPress, with a stub of WooCommerce"
    if quiet wordpress.log "WordPress and MariaDB" unpack_wordpress; then
        PROGRESS=1 run_api wordpress faults "$NORMAL" env PAYMENTS_MPM=event PAYMENTS_WORDPRESS="$OUT/wordpress" -- \
            -o python_files=wordpress.py
    fi
    count_api wordpress "with WP_DEBUG"
}

part_tsan() {
    stage tsan
    say "tsan: every unit program under ThreadSanitizer"
    export TSAN_ONLY=".*" TSAN_SEQUENCES=1000
    if build_tsan; then
        run_tsan tsan
    fi
    unset TSAN_ONLY TSAN_SEQUENCES
    count_unit tsan "every program"
}

part_valgrind() {
    stage valgrind
    say "valgrind: every unit program but those that take too long in it"
    if build_unit "$NORMAL"; then
        run_valgrind valgrind ".*"
    fi
    count_unit valgrind "what is left out, and why, stands in tests/dev/suite.sh"
}

part_scripts() {
    stage_scripts
}

# All parts of lint, for all files, with distcheck.
part_lint() {
    stage lint
    # shellcheck disable=SC2086 # names of parts are words
    lint_parts $LINT_PARTS
    count lint "$LINT_CLEAN" "$LINT_FAILED" "everything; what the analyzer warns of is in ${LOGS#"$TOP/"}/lint-analyzer.log"
}

# Client generators from npm, which read docs/openapi.json; the generated clients are compiled and used.
part_clients() {
    stage clients
    say "clients: what generators make of docs/openapi.json"
    node_packages generators "$NORMAL/generators" "generators of clients" || {
        count clients 0 1 "npm could not install generators of clients; see $LOGS/npm-generators.log"
        return
    }
    PROGRESS=1 run_api clients generators "$NORMAL" env PAYMENTS_GENERATORS="$NORMAL/generators" --
    count_api clients "node $(version_of "" node --version); tests/generators/package.json has the generators' versions"
}

# part_of NAME COMMAND...: a command of ./dev that reports its own success counts as one case, in its own process; its
# output is shown and kept.
part_of() {
    local name=$1 log=$RESULTS/$1/log
    shift
    stage "$name"
    if ./dev "$@" 2>&1 | tee "$log"; then
        count "$name" 1 0 "$(tail -n 1 "$log")"
    else
        count "$name" 0 1 "./dev $* failed; see ${log#"$TOP/"}"
    fi
}

# Each promised speed has a least value, below which the part fails.
part_bench() {
    say "bench: the speed of each thing that has a bound"
    part_of bench bench
}

part_bare() {
    local why
    if why=$(bare_cannot); then
        leave_out bare "$why"
    else
        say "bare: a fresh Debian 12, as README.md says"
        part_of bare test bare
    fi
}

dev_faults() {
    local name
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
    begin faults
    for name in "$@"; do
        "part_$name"
    done
    summary
}
