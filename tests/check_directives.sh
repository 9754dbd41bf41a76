#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The source (rows such as WAIT("PaymentsSlotWait", ...)), docs/directives.md and conf/payments.conf have
# the same directives, and each is fully documented.
set -euo pipefail
cd "${PAYMENTS_TOP:-$(dirname "$0")/..}"

in_source() {
    cat mod_payments/httpd/conf/*.c | tr '\n' ' ' \
        | grep -oE '[A-Z][A-Z0-9_]*\([[:space:]]*"Payments[A-Za-z]+",' | sed 's/.*"\(.*\)",/\1/' | sort
}

in_manual() {
    sed -n 's/^## \(Payments[A-Za-z]*\)$/\1/p' docs/directives.md | sort
}

in_example() {
    grep -oE '^[[:space:]]*#?[[:space:]]*Payments[A-Za-z]+' conf/payments.conf \
        | grep -oE 'Payments[A-Za-z]+' | sort -u
}

# Headings of the manual whose table lacks a row.
incomplete() {
    awk '
    function finish(    row) {
        for (row in want) if (name != "" && !(row in have)) print name ": its table in docs/directives.md has no row " row
        split("", have)
    }
    BEGIN { want["Description"]; want["Syntax"]; want["Default"]; want["Context"]; want["Module"] }
    /^## / { finish(); name = ($2 ~ /^Payments/) ? $2 : "" }
    /^\| \*\*[A-Za-z]+:\*\* \|/ { row = $2; gsub(/[*:]/, "", row); have[row] = 1 }
    /^\| \*\*Syntax:\*\* \|/ && name != "" && index($0, "`" name " ") == 0 { print name ": the syntax names another directive" }
    END { finish() }' docs/directives.md
}

source_names=$(in_source)
[ -n "$source_names" ] || {
    echo "check_directives: found no directive in mod_payments/httpd/conf"
    exit 1
}
faults=0
twice=$(uniq -d <<<"$source_names")
# both_have LIST WHAT: the source and the list have the same directives.
both_have() {
    local name
    while read -r name; do
        echo "$name: mod_payments/httpd/conf has it, but $2"
        faults=1
    done < <(comm -23 <(sort -u <<<"$source_names") <("in_$1"))
    while read -r name; do
        echo "$name: no directive in mod_payments/httpd/conf has this name, which the $1 has"
        faults=1
    done < <(comm -13 <(sort -u <<<"$source_names") <("in_$1"))
}
both_have manual "docs/directives.md has no section \"## NAME\" for it"
both_have example "conf/payments.conf has no line for it, such as \"#NAME its default\""
if [ -n "$twice$(incomplete)" ]; then
    [ -z "$twice" ] || sed 's/$/: two rows of mod_payments\/httpd\/conf have this name/' <<<"$twice"
    incomplete
    faults=1
fi
echo "check_directives: $(wc -l <<<"$source_names") directives"
exit $faults
