# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# ./dev bench: one script of tests/bench for each measure.

# The slow ones are last.
BENCHES="noop group_commit latency unknown memory deliveries dashboard php_sqlite refund_list clients long_list stored"
# These run only if named: they explain figures and have no least value.
EXPLAINING="costs one_transaction"

bench_script() { # NAME ARGUMENTS...
    local name=$1
    shift
    PAYMENTS_BUILD=$NORMAL PAYMENTSCTL=$NORMAL/mod_payments/paymentsctl PYTHONDONTWRITEBYTECODE=1 \
        /usr/bin/python3 "tests/bench/$name.py" "$@"
}

# The first sentence of each script says what it measures.
bench_list() {
    local name
    for name in $BENCHES $EXPLAINING; do
        printf '%-16s %s\n' "$name" "$(sed -n '2s/^"""\(.*\)"""$/\1/p' "tests/bench/$name.py")"
    done
    printf '%-16s %s\n' plots "draws build/bench/*.svg again; with --docs copies them to docs/" \
        summary "the table of all measures, from what was measured last"
}

bench_known() { # NAME
    case " $BENCHES $EXPLAINING " in
        *" $1 "*) ;;
        *) die "no such benchmark: $1; ./dev bench list names them" ;;
    esac
}

# bench_run NAME...: runs each, whatever the result of the others.
bench_run() {
    local name status failed=() below=()
    for name in "$@"; do
        status=0
        bench_script "$name" || status=$?
        case $status in
            0) ;;
            1) below+=("$name") ;;
            *) failed+=("$name") ;;
        esac
    done
    bench_script summary || failed+=(summary)
    [ ${#below[@]} -eq 0 ] || say "below what is wanted at least: ${below[*]}"
    [ ${#failed[@]} -eq 0 ] || say "not measured: ${failed[*]}"
    [ $((${#below[@]} + ${#failed[@]})) -eq 0 ]
}

dev_bench() {
    local name
    case ${1:-} in
        list)
            bench_list
            return
            ;;
        plots | summary)
            packages bench
            bench_script "$@"
            return
            ;;
    esac
    # shellcheck disable=SC2086 # names are words
    [ $# -gt 0 ] || set -- $BENCHES
    for name in "$@"; do
        bench_known "$name"
    done
    packages bench
    case " $* " in
        *" php_sqlite "*) packages bench_php ;;
    esac
    case " $* " in
        *" costs "*) packages bench_costs ;;
    esac
    build_normal
    quiet bench-make.log "build of what the benchmarks load" make -C "$NORMAL/tests" -j"$JOBS" \
        bench/fill bench/mod_bench_noop.la bench/preload_malloc.la \
        faults/mod_acquirer_counter.la || exit 1
    bench_run "$@"
}
