#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Includes go downward only: base 0, model 1, store and acquirer 2, service 3, httpd and ctl 4; each
# foreign library is seen by the files alone that stand at its border. Within store/, LMDB is called in store/lmdb
# alone, and the seam and the engine, which write bytes whatever they stand for, see
# no noun: no audit, account, charge, refund, event or scope.
set -euo pipefail
cd "${PAYMENTS_TOP:-$(dirname "$0")/..}/mod_payments"

find . -name '*.[ch]' | sed 's,^\./,,' | sort | awk '
function floor_of(dir) { return (dir in floors) ? floors[dir] : -1 }
function fault(text) { printf "%s:%d: %s\n", file, line, text; faults++ }

# Which files may include this header; "" when anyone may.
function border_of(header) {
    if (header ~ /^jansson/) return "^base/text/json\\.c$"
    if (header ~ /^openssl\//) return "^base/crypto/(crypto|rsa)\\.c$"
    if (header ~ /^curl\//) return "^base/net/(url|transfer)[a-z_]*\\.c$"
    if (header ~ /^lmdb\.h$/) return "^store/(lmdb/|(rows|keys|row)\\.h$)"
    if (header ~ httpd) return "^httpd/"
    return ""
}

# The seam (rows*, keys, row) and the engine.
function is_engine(path) {
    return path ~ /^store\/(lmdb\/|(rows|rows_scan|rows_turn|keys|row)\.[ch]$)/
}

# What they must not see: models, but for the scope, which leads every key, and the nouns.
function is_noun(header) {
    if (header ~ /^model\//) return !(file ~ /^store\/keys\./ && header == "model/account.h")
    return header ~ /^store\/[a-z]+\// && header !~ /^store\/lmdb\//
}

function judge(text,    header, dir, border, quoted) {
    quoted = text ~ /^"/
    header = substr(text, 2, length(text) - 2)
    border = border_of(header)
    if (border != "" && file !~ border) fault(header " is not for this file")
    if (!quoted) return
    if (header !~ /\//) { fault("\"" header "\" has no folder"); return }
    dir = header
    sub(/\/.*/, "", dir)
    if (floor_of(dir) < 0) { fault("\"" header "\" is on no floor"); return }
    if (dir != own && floor_of(dir) >= floor_of(own)) fault(own " must not see " dir " (\"" header "\")")
    if (own == "store" && is_engine(file) && is_noun(header))
        fault("the engine of the store must see no noun (\"" header "\")")
}

BEGIN {
    floors["base"] = 0; floors["model"] = 1; floors["store"] = 2; floors["acquirer"] = 2
    floors["service"] = 3; floors["httpd"] = 4; floors["ctl"] = 4
    httpd = "^(httpd|http_[a-z]+|ap_[a-z_]+|util_[a-z]+|mod_[a-z_]+|unixd|scoreboard|mpm_common)\\.h$"
}
{
    file = $0; line = 0; files++
    own = file
    if (own !~ /\//) { fault("a source file lies on no floor"); next }
    sub(/\/.*/, "", own)
    if (floor_of(own) < 0) { fault("a source file lies on no floor"); next }
    while ((getline text < file) > 0) {
        line++
        if (own == "store" && file !~ /^store\/lmdb\// && text ~ /(^|[^a-z_])mdb_[a-z0-9_]+\(/)
            fault("LMDB is called in store/lmdb alone")
        if (match(text, /^[ \t]*#[ \t]*include[ \t]*["<][^">]*[">]/)) {
            sub(/^[ \t]*#[ \t]*include[ \t]*/, "", text)
            match(text, /^["<][^">]*[">]/)
            judge(substr(text, 1, RLENGTH))
            includes++
        }
    }
    close(file)
}
END {
    if (!files || !includes) { print "check_layers: found nothing to check"; exit 1 }
    printf "check_layers: %d files, %d includes, %d faults\n", files, includes, faults
    exit faults > 0
}'
