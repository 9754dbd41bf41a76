#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every source, header, test and script of the tree is in a Makefile.am, so that it is built and distributed;
# and every name in these lists exists.
set -euo pipefail
cd "${PAYMENTS_TOP:-$(dirname "$0")/..}"

faults=0
seen=0
MADE_OTHERWISE=$'api/silent_ctl\nfuzz/corpus\nfuzz/found'

# The words of each Makefile.am: "MAKEFILE NAME".
declare -A listed
words_of() { tr -s ' \t\\' '\n' <"$1"; }
for makefile in mod_payments/Makefile.am tests/Makefile.am Makefile.am; do
    while IFS= read -r name; do
        listed["$makefile $name"]=1
    done < <(words_of "$makefile")
done

# want MAKEFILE NAME FILE: FILE may also be the only source of a program or a loaded library of tests with its name.
want() {
    local name
    seen=$((seen + 1))
    for name in "$2" "${2%.c}" "${2%.c}.la"; do
        [ -z "${listed["$1 $name"]:-}" ] || return 0
    done
    echo "$3: not in $1: add $2 to the list that has its neighbours"
    faults=$((faults + 1))
}

while read -r file; do
    case $file in
        mod_payments/*) want mod_payments/Makefile.am "${file#mod_payments/}" "$file" ;;
        tests/*) want tests/Makefile.am "${file#tests/}" "$file" ;;
        docs/* | conf/* | share/*) want Makefile.am "$file" "$file" ;;
    esac
done < <(find mod_payments tests docs conf share -type f \
    \( -name '*.[ch]' -o -name '*.sh' -o -name '*.py' -o -name '*.lua' -o -name '*.mjs' -o -name '*.php' -o -path 'docs/*' -o -path 'conf/*' -o -path 'share/*' \) \
    ! -path '*/__pycache__/*' ! -path '*/.*' | sort)

while read -r file; do
    if [ ! -e "$file" ]; then
        echo "$file: in a Makefile.am, not in the tree"
        faults=$((faults + 1))
    fi
done < <(
    words_of mod_payments/Makefile.am | grep -E '^[a-z]+/.*\.[ch]$' | sed 's,^,mod_payments/,'
    words_of tests/Makefile.am | grep -E '^[a-z/_]+\.(c|h|sh|py|lua|mjs|php)$' | sed 's,^,tests/,'
    words_of tests/Makefile.am | grep -E '^(api|bench|faults|fuzz)/[a-z_]+(\.la)?$' \
        | grep -vxF "$MADE_OTHERWISE" | sed -E 's,^(.*/[a-z_]+)(\.la)?$,tests/\1.c,'
)

# The top of the tree contains only these files: a test that writes to its working directory, and a commit of
# everything, have added files before.
TOP='.clang-format .editorconfig .gitignore CHANGES LICENSE Makefile.am README.md bootstrap configure.ac dev'
while IFS= read -r -d '' file; do
    case " $TOP " in
        *" $file "*) ;;
        *)
            echo "$file: does not belong in the top of the tree"
            faults=$((faults + 1))
            ;;
    esac
done < <(git ls-files -z 2>/dev/null | grep -zv /)

# Every table of the store is described.
while read -r table; do
    if ! grep -E '^\| [a-z_, ]+ \|' docs/store.md | cut -d'|' -f2 | grep -qw -- "$table"; then
        echo "$table: store/rows.h has this table, but the tables of docs/store.md have no row for it"
        faults=$((faults + 1))
    fi
done < <(sed -nE 's/^ +X\([A-Z_]+, "([a-z_]+)".*/\1/p' mod_payments/store/rows.h 2>/dev/null)

# make check runs them directly.
while read -r script; do
    if [ ! -x "$script" ]; then
        echo "$script: cannot be run; chmod +x it"
        faults=$((faults + 1))
    fi
done < <(ls dev bootstrap .ci/run tests/check_*.sh tests/fuzz/*.sh)

[ "$seen" -gt 0 ] || {
    echo "check_sources: found nothing to check"
    exit 1
}
echo "check_sources: $seen files, $faults faults"
[ "$faults" -eq 0 ]
