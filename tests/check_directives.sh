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
        for (row in want) if (name != "" && !(row in have)) print name ": no row " row
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
for list in manual example; do
    if ! diff <(echo "$source_names") <("in_$list"); then
        echo "check_directives: the source (<) and the $list (>) differ"
        faults=1
    fi
done
if [ -n "$twice$(incomplete)" ]; then
    echo "$twice"
    incomplete
    faults=1
fi
echo "check_directives: $(wc -l <<<"$source_names") directives"
exit $faults
