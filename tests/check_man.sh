#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# `paymentsctl --help` and paymentsctl(8) have the same commands and options, and the page has no faults.
set -eu
export LC_ALL=C.UTF-8

top=${PAYMENTS_TOP:-$(cd "$(dirname "$0")/.." && pwd)}
ctl=${PAYMENTSCTL:-${PAYMENTS_BUILD:-$top/build}/mod_payments/paymentsctl}
page=$top/docs/paymentsctl.8
failed=0

fail() {
    echo "check_man: $*" >&2
    failed=1
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# A name is one to three words; on the page its arguments are upper case or in brackets.
words='\([a-z-]*\( [a-z-][a-z-]*\)*\)'
sed 's/\\-/-/g' "$page" >"$work/plain"
"$ctl" --help | sed -n "/^Commands:/,/^\$/s/^  $words  .*/\\1/p" | sort >"$work/help"
sed -n "s/^\.SS $words.*/\\1/p" "$work/plain" | sort >"$work/page"
for list in help page; do
    [ -s "$work/$list" ] || fail "no command was found in the $list"
done
diff "$work/help" "$work/page" >"$work/diff" || fail "commands of --help (<) and of $page (>):
$(cat "$work/diff")"

# The section OPTIONS has the options of every command.
common='--help --json --master-key --store'
options=0

# among WORD LIST
among() {
    case " $2 " in
    *" $1 "*) return 0 ;;
    esac
    return 1
}

# "NAME OPTION" of what the page says about every command.
awk '
    /^\.SS / {
        name = $2
        for (i = 3; i <= NF && $i ~ /^[a-z]/; i++) name = name " " $i
        next
    }
    /^\.SH / { name = "" }
    name != "" {
        while (match($0, /--[a-z-]*[a-z]/)) {
            print name, substr($0, RSTART, RLENGTH)
            $0 = substr($0, RSTART + RLENGTH)
        }
    }' "$work/plain" | sort -u >"$work/all"

while read -r name; do
    # shellcheck disable=SC2086 # the words of a name are arguments
    "$ctl" $name --help >"$work/text" || fail "$name --help fails"
    has=$(sed -n '/^Options:/,$s/^  .. \(--[a-z-]*\).*/\1/p' "$work/text" | tr '\n' ' ')
    told=$(sed -n "s/^$name \(--[a-z-]*\)\$/\1/p" "$work/all" | tr '\n' ' ')
    for option in $common; do
        among "$option" "$has" || fail "$name does not know $option"
    done
    for option in $has; do
        ! among "$option" "$common" || continue
        options=$((options + 1))
        among "$option" "$told" || fail "$name: $page does not tell $option"
    done
    for option in $told; do
        among "$option" "$has" || fail "$name: there is no $option"
    done
done <"$work/help"
[ "$options" -gt 0 ] || fail "no option was found"

if command -v groff >/dev/null; then
    groff -man -Tutf8 -ww -z "$page" 2>"$work/warnings" || fail "groff fails"
    [ ! -s "$work/warnings" ] || fail "$(cat "$work/warnings")"
fi
if command -v mandoc >/dev/null; then
    mandoc -Tlint -W warning "$page" >"$work/warnings" 2>&1 || fail "$(cat "$work/warnings")"
fi

[ "$failed" -eq 0 ] || exit 1
echo "check_man: $(wc -l <"$work/help") commands and $options options agree"
