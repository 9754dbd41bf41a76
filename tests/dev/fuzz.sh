# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# ./dev fuzz: libFuzzer over the targets of tests/fuzz, under ASan and UBSan.

FUZZ=$OUT/fuzz
FUZZ_SECONDS=60         # of one target, by default
FUZZ_JOBS=2             # targets at a time
FUZZ_MEMORY_MB=2048     # of one target
FUZZ_INPUT_SECONDS=30   # longest for one input
FUZZ_PROGRESS_SECONDS=15
FUZZ_FLAGS="-std=c11 -g -O1 -fno-omit-frame-pointer -fno-sanitize-recover=undefined"

fuzz_targets() {
    local source name
    for source in tests/fuzz/fuzz_*.c; do
        name=$(basename "$source" .c)
        [ "$name" = fuzz_main ] || echo "${name#fuzz_}"
    done
}

# The longest input: somewhat longer than the code under test accepts in production.
fuzz_length_max() {
    case $1 in
        money) echo 128 ;;
        path) echo 256 ;;
        accept | authorization) echo 512 ;;
        row) echo 4096 ;;
        body | fields) echo 8192 ;;
        *) echo 16384 ;;
    esac
}

# ---- building

fuzz_library() {
    mkdir -p "$FUZZ/tree"
    if [ ! -e "$FUZZ/tree/config.status" ] || [ configure -nt "$FUZZ/tree/config.status" ]; then
        quiet fuzz-configure.log "configure (fuzz)" in_dir "$FUZZ/tree" "$TOP/configure" CC=clang \
            CFLAGS=-fsanitize=fuzzer-no-link --enable-sanitizers --enable-werror || return 1
    fi
    quiet fuzz-make.log "build (fuzz)" make -C "$FUZZ/tree/mod_payments" -j"$JOBS" libpayments.a
}

fuzz_program() { # TARGET
    local flags libraries
    flags=$(pkg-config --cflags apr-1 apr-util-1 jansson | sed 's/-I */-isystem /g')
    libraries="$(pkg-config --libs lmdb 2>/dev/null || echo -llmdb) $(pkg-config --libs jansson \
        libcurl libcrypto apr-util-1 apr-1)"
    # shellcheck disable=SC2086 # flags and libraries are words
    quiet "fuzz-$1-build.log" "build of fuzz_$1" clang $FUZZ_FLAGS \
        -fsanitize=fuzzer,address,undefined -Imod_payments $flags "tests/fuzz/fuzz_$1.c" \
        "$FUZZ/tree/mod_payments/libpayments.a" $libraries -o "$FUZZ/bin/fuzz_$1"
}

# ---- running

fuzz_start() { # TARGET SECONDS
    local target=$1 seconds=$2 options=()
    rm -rf "${FUZZ:?}/artifacts/$target"
    mkdir -p "$FUZZ/corpus/$target" "$FUZZ/artifacts/$target" "$FUZZ/tmp"
    [ ! -e "tests/fuzz/$target.dict" ] || options+=("-dict=tests/fuzz/$target.dict")
    set -- "$FUZZ/corpus/$target" "tests/fuzz/corpus/$target"
    [ ! -d "tests/fuzz/found/$target" ] || set -- "$@" "tests/fuzz/found/$target"
    TMPDIR=$FUZZ/tmp UBSAN_OPTIONS=print_stacktrace=1 exec nice -n 10 "$FUZZ/bin/fuzz_$target" \
        -max_total_time="$seconds" -max_len="$(fuzz_length_max "$target")" \
        -rss_limit_mb=$FUZZ_MEMORY_MB -timeout=$FUZZ_INPUT_SECONDS \
        -report_slow_units=$FUZZ_INPUT_SECONDS -print_final_stats=1 \
        -artifact_prefix="$FUZZ/artifacts/$target/" "${options[@]}" "$@" \
        >"$LOGS/fuzz-$target.log" 2>&1
}

# The last number that a log shows for a name.
fuzz_number() { # TARGET NAME
    sed -nE "s/.*$2:? *([0-9]+).*/\1/p" "$LOGS/fuzz-$1.log" | tail -n 1
}

fuzz_tell() { # TARGET...: prints their progress
    local target line
    for target in "$@"; do
        line=$(sed -nE 's|^#([0-9]+).* cov: ([0-9]+).* exec/s: ([0-9]+).*|\1 executions, \2 edges, \3 a second|p' \
            "$LOGS/fuzz-$target.log" 2>/dev/null | tail -n 1)
        say "$target: ${line:-starting}"
    done
}

# Waits until fewer than MOST of the jobs run, and reports on them from time to time.
fuzz_wait() { # MOST
    local told=$SECONDS
    while [ "$(jobs -rp | wc -l)" -ge "$1" ]; do
        sleep 1
        if [ $((SECONDS - told)) -ge $FUZZ_PROGRESS_SECONDS ]; then
            told=$SECONDS
            # shellcheck disable=SC2046 # names are words
            fuzz_tell $(fuzz_running)
        fi
    done
}

fuzz_running() {
    local target
    for target in "${!FUZZ_PIDS[@]}"; do
        ! kill -0 "${FUZZ_PIDS[$target]}" 2>/dev/null || echo "$target"
    done | sort
}

# ---- results

# Copies the findings to tests/fuzz/found, where the replay runs them; prints how many.
fuzz_keep() { # TARGET
    local file kept known count=0
    for file in "$FUZZ/artifacts/$1"/*-*; do
        [ -e "$file" ] || continue
        count=$((count + 1))
        known=
        for kept in "tests/fuzz/found/$1"/*; do
            ! cmp -s "$file" "$kept" || known=$kept
        done
        if [ -z "$known" ]; then
            mkdir -p "tests/fuzz/found/$1"
            known=tests/fuzz/found/$1/$(basename "$file" | cut -c 1-16)
            cp "$file" "$known"
        fi
        say "$1: found $known; see $LOGS/fuzz-$1.log" >&2
    done
    echo "$count"
}

fuzz_report() { # TARGET: prints a line of the table; status 1 unless it ran to its end without findings
    local found executions
    found=$(fuzz_keep "$1")
    executions=$(fuzz_number "$1" stat::number_of_executed_units)
    printf '%-14s %12s %9s %9s %9s %9s\n' "$1" "${executions:-0}" \
        "$(fuzz_number "$1" stat::average_exec_per_sec)" "$(fuzz_number "$1" cov)" \
        "$(fuzz_number "$1" corp)" "$found"
    if [ "$found" -eq 0 ] && { [ "${executions:-0}" -eq 0 ] || ! wait "${FUZZ_PIDS[$1]}"; }; then
        say "$1: did not run to its end; the last lines of $LOGS/fuzz-$1.log:" >&2
        tail -n 5 "$LOGS/fuzz-$1.log" >&2
        return 1
    fi
    [ "$found" -eq 0 ]
}

declare -A FUZZ_PIDS

dev_fuzz() {
    local seconds=$FUZZ_SECONDS targets target failed=0
    targets=$(fuzz_targets)
    case ${1:-} in
        '' | [0-9]*) ;;
        *)
            grep -Fx -- "$1" <<<"$targets" >/dev/null \
                || die "no such target: $1; there are: $(tr '\n' ' ' <<<"$targets")"
            targets=$1
            shift
            ;;
    esac
    [ $# -eq 0 ] || { seconds=$1 && shift; }
    [[ $seconds =~ ^[1-9][0-9]*$ && $# -eq 0 ]] || die "want: ./dev fuzz [TARGET] [SECONDS]"
    packages fuzz
    bootstrap_tree && fuzz_library || exit 1
    mkdir -p "$FUZZ/bin"
    for target in $targets; do
        fuzz_program "$target" || exit 1
    done
    # shellcheck disable=SC2064,SC2154
    trap 'kill "${FUZZ_PIDS[@]}" 2>/dev/null || true' EXIT
    for target in $targets; do
        fuzz_wait $FUZZ_JOBS
        fuzz_start "$target" "$seconds" &
        FUZZ_PIDS[$target]=$!
    done
    fuzz_wait 1
    trap - EXIT
    printf '%-14s %12s %9s %9s %9s %9s\n' target executions exec/s edges corpus findings
    for target in $targets; do
        fuzz_report "$target" || failed=1
    done
    rm -rf "${FUZZ:?}/tmp"
    return $failed
}
