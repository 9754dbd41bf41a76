#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The options that configure passes to compiler and linker took effect: docs/operations.md, "What is built".
set -euo pipefail
top=$(cd "${PAYMENTS_TOP:-$(dirname "$0")/..}" && pwd)
build=${PAYMENTS_BUILD:-$top/build/normal}
module=$build/mod_payments/.libs/mod_payments.so
ctl=$build/mod_payments/paymentsctl
faults=0
fortify=
commands=

fault() {
    printf 'check_hardening: %s\n' "$*"
    faults=$((faults + 1))
}

# has FILE OPTION PATTERN WHAT: the output of readelf matches PATTERN.
has() {
    local words
    words=$(readelf -W "$2" "$1")
    grep -Eq "$3" <<<"$words" || fault "${1##*/}: $4"
}

# said CHECK: prints the result of a check of configure; nothing if it did not run.
said() {
    awk -v check="$1" 'index($0, check) { asked = 1 }
        asked && sub(/.*: result: /, "") { print; exit }' "$build/config.log" 2>/dev/null || :
}

# The commands that recompile one file of each part of the tree and link it. Compilers have their own defaults, so a
# binary does not show which level or which -pie was requested.
commands() {
    local source
    source=$(sed -n 's/^srcdir = //p' "$build/mod_payments/Makefile")
    [ "$source" = . ] && source= || source=$source/
    MAKEFLAGS='' make -n V=1 -C "$build/mod_payments" all-am -W "${source}ctl/account.c" \
        -W "${source}base/text/money.c" -W "${source}httpd/call/rates.c"
}

# asked WORDS PATTERN WHAT: each command that contains WORDS contains the option that configure found.
asked() {
    local lines
    lines=$(grep -e "$1" <<<"$commands" || :)
    if [ -z "$lines" ]; then
        fault "no command has $1"
    elif grep -Evq -e "$2" <<<"$lines"; then
        fault "$3"
    fi
}

for file in "$module" "$ctl"; do
    [ -e "$file" ] || {
        echo "check_hardening: $file is not built"
        exit 1
    }
done
fortify=$(said 'for the _FORTIFY_SOURCE to add')
commands=$(commands)
for file in "$module" "$ctl"; do
    if readelf -Wd "$file" | grep -Eq 'NEEDED.*lib(asan|ubsan|tsan)'; then
        echo "check_hardening: built with sanitizers, which are no build to install"
        exit 77
    fi
    has "$file" -l '^ *GNU_RELRO ' "no segment that is read-only after relocation"
    has "$file" -d 'BIND_NOW|FLAGS_1.*NOW' "symbols are bound late, so relocations stay writable"
    has "$file" -l '^ *GNU_STACK .* RW ' "its stack can be run"
    has "$file" -s '__stack_chk_fail' "no canaries on the stack"
    if [[ $fortify == [0-9] ]]; then
        has "$file" -s '_chk(@|$)' "none of libc's checked functions"
    fi
    if grep -Fqa "$top/" "$file"; then
        fault "${file##*/}: holds the path of the machine that built it"
    fi
done
if [[ $fortify == [0-9] ]]; then
    asked ' -c ' "-D_FORTIFY_SOURCE=$fortify( |\$)" "a file is compiled without -D_FORTIFY_SOURCE=$fortify, which configure chose"
fi
if [ "$(said 'takes -fPIE')" = yes ]; then
    asked ' -c ' ' -fPIE ' "a file is compiled without -fPIE, which configure found"
fi
if [ "$(said 'whether the linker takes -pie')" = yes ]; then
    asked '-o paymentsctl' ' -pie ' "paymentsctl is linked without -pie, which configure found"
fi
has "$ctl" -d 'FLAGS_1.*PIE' "not position-independent: it runs as root at the same address each time"

[ "$faults" -eq 0 ] || exit 1
echo "check_hardening: module and paymentsctl as configure asks"
