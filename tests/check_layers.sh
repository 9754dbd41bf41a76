#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Includes go downward only. FOLDERS lists every folder, floor by floor, the lowest first: a file sees its own folder
# and those before it in its own floor's line and in the floors below; store and acquirer do not see each other, nor do
# httpd and ctl. Two files, a noun and its parts, may include each other; three files may not form a circle. Only the
# files at the border of a foreign library include it; LMDB (MDB_*, mdb_*) is named in store/lmdb and by the inline
# functions of the seam (store/rows_lmdb.h) alone. The seam and the engine, which write bytes regardless of their
# meaning, see no model.
# httpd and ctl do not name units of work of the store that write: a unit reads if its name ends with a verb of reading
# (`reads` below), and then it must not commit.
# With --edges it prints which folder sees which, and by how many includes.
set -euo pipefail
cd "${PAYMENTS_TOP:-$(dirname "$0")/..}/mod_payments"

# NUMBER OF THE FLOOR, then its folders, each of which sees those before it.
FOLDERS='
0 base base/crypto base/text base/shared base/net
1 model
2 store store/lmdb store/record store/account store/event store/payment store/outbox store/erase store/check store/life
2 acquirer acquirer/relay
3 service service/account service/charge service/reconcile service/checkout service/refund service/outbox service/history
4 httpd/path httpd/conf httpd/call httpd/page httpd/api httpd/dashboard httpd/process httpd/site httpd
4 ctl'

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# FILE LINE HEADER of each include, the header in its quotes or brackets.
find . -name '*.[ch]' | sed 's,^\./,,' | sort >"$work/files"
xargs -r -a "$work/files" grep -nE '^[ \t]*#[ \t]*include[ \t]*["<]' /dev/null \
    | sed -E 's/^([^:]*):([0-9]*):[ \t]*#[ \t]*include[ \t]*(["<][^">]*[">]).*/\1 \2 \3/' >"$work/includes" || true

awk -v folders="$FOLDERS" -v edges="$work/edges" '
function fault(text) { printf "%s:%d: %s\n", file, line, text; faults++ }
function folder_of(path) { return path ~ /\// ? substr(path, 1, match(path, /\/[^\/]*$/) - 1) : "" }

# The files that may include this header; "" if any file may.
function border_of(header) {
    if (header ~ /^jansson/) return "^base/text/json\\.c$"
    if (header ~ /^openssl\//) return "^base/crypto/(crypto|rsa)\\.c$"
    if (header ~ /^curl\//) return "^base/net/(url|transfer)[a-z_]*\\.c$"
    if (header ~ /^lmdb\.h$/) return "^store/(lmdb/|rows_lmdb\\.h$)"
    if (header ~ httpd) return "^httpd/"
    return ""
}

# Of the seam and the engine; keys begin with the scope.
function sees_model(header) {
    return header ~ /^model\// && file ~ /^store\/(lmdb\/|(rows[a-z_]*|bytes|keys|row)\.[ch]$)/ \
        && !(file ~ /^store\/keys\./ && header == "model/account.h")
}

function judge(text,    header, to, border) {
    header = substr(text, 2, length(text) - 2)
    border = border_of(header)
    if (border != "" && file !~ border) fault(header " is not for this file")
    if (text !~ /^"/) return
    if (header !~ /\//) { fault("\"" header "\" has no folder"); return }
    to = folder_of(header)
    if (!(to in floor)) { fault("\"" header "\" is in no folder of the list"); return }
    if (to == own) return
    count[own " " to]++
    if (floor[to] > floor[own] || (floor[to] == floor[own] && (row[to] != row[own] || place[to] > place[own])))
        fault(own " must not see " to " (\"" header "\")")
    if (sees_model(header)) fault("the engine of the store must see no model (\"" header "\")")
}

BEGIN {
    httpd = "^(httpd|http_[a-z]+|ap_[a-z_]+|util_[a-z]+|mod_[a-z_]+|unixd|scoreboard|mpm_common)\\.h$"
    rows = split(folders, lines, "\n")
    for (i = 1; i <= rows; i++) {
        names = split(lines[i], name, " ")
        for (j = 2; j <= names; j++) { floor[name[j]] = name[1]; row[name[j]] = i; place[name[j]] = j }
    }
}
FILENAME ~ /files$/ { file = $1; line = 0; files++; if (!(folder_of(file) in floor)) fault("is in no folder of the list"); next }
{ file = $1; line = $2; own = folder_of(file); if (own in floor) judge($3); includes++ }
END {
    for (edge in count) print edge, count[edge] > edges
    if (!files || !includes) { print "check_layers: found nothing to check"; exit 1 }
    printf "check_layers: %d files, %d includes, %d faults\n", files, includes, faults
    exit faults > 0
}' "$work/files" "$work/includes" || exit 1

# Names of files without their endings, so that a source and its header are one; a pair is not a circle.
awk '{ sub(/\.[a-z]*$/, "", $1); header = substr($3, 2, length($3) - 2); sub(/\.[a-z]*$/, "", header) }
    $3 ~ /^"/ && $1 != header { seen[$1 " " header] }
    END { for (edge in seen) { split(edge, at, " "); if (!((at[2] " " at[1]) in seen)) print edge } }' \
    "$work/includes" | tsort >/dev/null 2>"$work/circles" || {
    echo "files in a circle:"
    sed -n 's/^tsort: \(.*\/\)/    \1/p' "$work/circles"
    exit 1
}

# Outside of comments httpd and ctl name only units of work of the store that read, and operations on a whole store. In
# store/, a unit of work whose name says that it reads must not commit.
grep -E '^(httpd|ctl|store)/' "$work/files" | xargs -r awk '
function fault(text) { printf "%s:%d: %s\n", FILENAME, FNR, text; faults++ }
function may_name(name) {
    return name ~ /_t$/ || name ~ reads || name ~ /^pay_store_(mark|shared|host|hosts)_/ || (name in whole)
}
function judge_names(text,    name) {
    if (text ~ /^[ \t]*(\/?\*|\/\/)/) return
    while (match(text, /pay_store_[a-z0-9_]+/)) {
        name = substr(text, RSTART, RLENGTH)
        text = substr(text, RSTART + RLENGTH)
        if (!may_name(name)) fault(name " changes the store: use cases do, on the service floor")
    }
}
function judge_body(text) {
    if (match(text, /^[a-z].*[^a-z0-9_]pay_store_[a-z0-9_]+\(/) && text !~ /;$/) {
        match(text, /pay_store_[a-z0-9_]+/)
        work = substr(text, RSTART, RLENGTH)
    } else if (text ~ /^}/) {
        work = ""
    } else if (work ~ reads && text ~ /(^|[^a-z_])pay_rows_commit\(/) {
        fault(work " reads by its name, and commits")
    }
}
BEGIN {
    reads = "_(get|find|list|list_user|search|scan|page|count|account_rows|stat|synced|waiting)$"
    split("open ready probe prepare hand_over verify upgrade check backup housekeep deaths_watch url_fault paths status_text " \
          "options_default hosts", names, " ")
    for (i in names) whole["pay_store_" names[i]]
}
FNR == 1 { work = "" }
FILENAME ~ /^store\// { judge_body($0); next }
{ judge_names($0) }
END { exit faults > 0 }' || exit 1

named=$(xargs -r -a "$work/files" grep -nwE 'mdb_[a-z0-9_]+|MDB_[A-Za-z0-9_]+' /dev/null \
    | grep -vE '^store/(lmdb/|rows_lmdb\.h:)' || true)
if [ -n "$named" ]; then
    sed -E 's/^([^:]*:[0-9]*):.*/\1: LMDB is named in store\/lmdb alone/' <<<"$named"
    exit 1
fi

if [ "${1:-}" = --edges ]; then
    sort "$work/edges" | awk '{ printf "%-18s sees %-18s by %d\n", $1, $2, $3 }'
fi
