#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What configure asks of compiler and linker is in what was built: docs/operations.md, "What is built".
set -euo pipefail
top=$(cd "${PAYMENTS_TOP:-$(dirname "$0")/..}" && pwd)
build=${PAYMENTS_BUILD:-$top/build/normal}
module=$build/mod_payments/.libs/mod_payments.so
ctl=$build/mod_payments/paymentsctl
faults=0

fault() {
    printf 'check_hardening: %s\n' "$*"
    faults=$((faults + 1))
}

# has FILE OPTION PATTERN WHAT: readelf's words hold it.
has() {
    local words
    words=$(readelf -W "$2" "$1")
    grep -Eq "$3" <<<"$words" || fault "${1##*/}: $4"
}

for file in "$module" "$ctl"; do
    [ -e "$file" ] || {
        echo "check_hardening: $file is not built"
        exit 1
    }
    if readelf -Wd "$file" | grep -Eq 'NEEDED.*lib(asan|ubsan|tsan)'; then
        echo "check_hardening: built with sanitizers, which are no build to install"
        exit 77
    fi
    has "$file" -l '^ *GNU_RELRO ' "no segment that is read-only after relocation"
    has "$file" -d 'BIND_NOW|FLAGS_1.*NOW' "symbols are bound late, so relocations stay writable"
    has "$file" -l '^ *GNU_STACK .* RW ' "its stack can be run"
    has "$file" -s '__stack_chk_fail' "no canaries on the stack"
    if grep -q '^PAY_CPPFLAGS = .*FORTIFY_SOURCE' "$build/mod_payments/Makefile"; then
        has "$file" -s '_chk(@|$)' "none of libc's checked functions"
    fi
    if grep -Fqa "$top/" "$file"; then
        fault "${file##*/}: holds the path of the machine that built it"
    fi
done
has "$ctl" -d 'FLAGS_1.*PIE' "not position-independent: it runs as root at the same address each time"

[ "$faults" -eq 0 ] || exit 1
echo "check_hardening: module and paymentsctl as configure asks"
