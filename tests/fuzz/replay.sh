#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs every fuzz target, or those named, over its seeds (corpus) and over what was found once
# (found): no case may end the process. PAYMENTS_BUILD says where the programs were built.
set -euo pipefail
cd "${PAYMENTS_TOP:-$(dirname "$0")/../..}"
programs=${PAYMENTS_BUILD:-build/sanitize}/tests/fuzz

export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}
passed=0
failed=0
log=$(mktemp)
trap 'rm -f "$log"' EXIT

fault() { # TEXT
    echo "$1"
    failed=$((failed + 1))
}

# True when the program ran over all of the files and said so.
replay() { # PROGRAM FILE...
    local program=$1
    shift
    "$program" "$@" >"$log" 2>&1 && grep -Fx "replayed $#" "$log" >/dev/null
}

replay_target() { # TARGET
    local program=$programs/fuzz_$1 file files=()
    for file in tests/fuzz/corpus/"$1"/* tests/fuzz/found/"$1"/*; do
        [ ! -f "$file" ] || files+=("$file")
    done
    if [ ! -x "$program" ]; then
        fault "$program: is not built"
    elif [ ! -d "tests/fuzz/corpus/$1" ] || [ ${#files[@]} -eq 0 ]; then
        fault "tests/fuzz/corpus/$1: found no case to replay"
    elif replay "$program" "${files[@]}"; then
        passed=$((passed + ${#files[@]}))
    else
        replay_each "$program" "${files[@]}"
    fi
}

# One by one, to tell which of them it is.
replay_each() { # PROGRAM FILE...
    local program=$1 file before=$failed
    shift
    for file in "$@"; do
        if replay "$program" "$file"; then
            passed=$((passed + 1))
        else
            fault "$program failed over $file:"
            grep -v '^tests/fuzz/' "$log" | head -n 12 || true
        fi
    done
    [ "$failed" -gt "$before" ] || fault "$program: failed over all cases together only"
}

if [ $# -eq 0 ]; then
    for source in tests/fuzz/fuzz_*.c; do
        name=$(basename "$source" .c)
        [ "$name" = fuzz_main ] || set -- "$@" "${name#fuzz_}"
    done
fi
[ $# -gt 0 ] || fault "found no target"
for target in "$@"; do
    replay_target "$target"
done
echo "replay: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
