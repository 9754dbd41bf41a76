#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# docs/messages.md describes every log line, in the order of the numbers, with the level and the text of the source.
# An entry is a heading and three paragraphs: level and text, meaning, and remedy.
set -euo pipefail
cd "${PAYMENTS_TOP:-$(dirname "$0")/..}"

page=docs/messages.md

# "number|level|text" of each PAYLOGNO in mod_payments. Three dots stand for a value. The level is that of LogLevel,
# or "-" if the source computes it.
in_source() {
    find mod_payments -name '*.c' | sort | xargs -r awk '
    function levels(call,    found, all, name) {
        while (match(call, /(PAY_LOG|APLOG)_(EMERG|ALERT|CRIT|ERR|WARNING|NOTICE|INFO|DEBUG)/)) {
            name = tolower(substr(call, RSTART, RLENGTH))
            sub(/^(pay_log|aplog)_/, "", name)
            name = (name == "err") ? "error" : (name == "warning") ? "warn" : name
            if (!(name in found)) all = all (all == "" ? "" : " or ") name
            found[name]
            call = substr(call, RSTART + RLENGTH)
        }
        return all == "" ? "-" : all
    }
    # The string at the start of `rest`, up to the end of its last literal or macro.
    function text_of(rest,    text, c, name) {
        while (1) {
            sub(/^[ \t]+/, "", rest)
            c = substr(rest, 1, 1)
            if (c == "\"") {
                rest = substr(rest, 2)
                while ((c = substr(rest, 1, 1)) != "\"" && rest != "") {
                    if (c == "\\") { rest = substr(rest, 2); c = substr(rest, 1, 1) }
                    text = text c
                    rest = substr(rest, 2)
                }
                rest = substr(rest, 2)
            } else if (match(rest, /^[A-Z][A-Z0-9_]*/)) {
                text = text "\001"
                rest = substr(rest, RLENGTH + 1)
            } else {
                break
            }
        }
        gsub(/%\001|\001/, "...", text)
        gsub(/%[-+ #0-9.]*[hlz]*[a-zA-Z]/, "...", text)
        gsub(/%%/, "%", text)
        return text
    }
    # The lines of a file, joined.
    function judge(rest,    before, number, call) {
        before = ""
        while (match(rest, /PAYLOGNO\([0-9][0-9][0-9][0-9][0-9]\)/)) {
            number = substr(rest, RSTART + 9, 5)
            before = before substr(rest, 1, RSTART - 1)
            rest = substr(rest, RSTART + RLENGTH)
            # The call that contains it: the last one that begins before it.
            call = before
            while (match(call, /(pay_log|ap_log_[a-z]?error)\(/)) call = substr(call, RSTART + RLENGTH)
            print number "|" levels(call) "|" text_of(rest)
        }
    }
    FNR == 1 { judge(file); file = "" }
    { file = file $0 " " }
    END { judge(file) }' | LC_ALL=C sort
}

# The same from the page. A level that the source computes is compared as "-".
in_page() {
    awk '
    /^## PAY[0-9][0-9][0-9][0-9][0-9]$/ { number = substr($2, 4); next }
    number != "" && /^`[a-z ]+` / {
        level = $0; sub(/^`/, "", level); sub(/`.*/, "", level)
        text = $0; sub(/^`[a-z ]+` /, "", text)
        print number "|" level "|" text
        number = ""
    }' "$page"
}

# Incomplete entries, and entries out of order.
incomplete() {
    awk '
    function finish() {
        if (name == "") return
        if (!meaning) print name ": no sentence says what it means"
        if (!todo) print name ": no sentence says what to do"
    }
    /^## / {
        finish()
        name = ($2 ~ /^PAY[0-9]/) ? $2 : ""
        level = meaning = todo = 0
        if (name != "" && name <= last) print name ": after " last
        if (name != "") last = name
        next
    }
    name == "" || /^$/ { next }
    !level { level = 1; next }
    /^\*\*To do:\*\* ./ { todo = 1; next }
    !todo { meaning = 1 }
    END { finish() }' "$page"
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
in_source >"$work/source"
[ -s "$work/source" ] || {
    echo "check_messages: found no line of the log in mod_payments"
    exit 1
}
in_page >"$work/all"
awk -F'|' -v OFS='|' 'NR == FNR { computed[$1] = ($2 == "-"); next } computed[$1] { $2 = "-" } { print }' \
    "$work/source" "$work/all" | LC_ALL=C sort >"$work/page"
faults=0
diff "$work/source" "$work/page" >"$work/diff" || {
    echo "check_messages: the source (<) and $page (>) differ"
    cat "$work/diff"
    faults=1
}
incomplete >"$work/incomplete"
[ ! -s "$work/incomplete" ] || {
    cat "$work/incomplete"
    faults=1
}
echo "check_messages: $(wc -l <"$work/source") messages"
[ "$faults" -eq 0 ]
