#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Includes go downward only: base 0, model 1, store and acquirer 2, service 3, httpd and ctl 4; each
# foreign library is seen by the files alone that stand at its border. Within store/, LMDB is called in store/lmdb
# alone, and the engine (store/lmdb, and the files listed below), which writes bytes whatever they stand for, sees
# no noun: no audit, account, charge, refund, event or scope.
set -euo pipefail
cd "${PAYMENTS_TOP:-$(dirname "$0")/..}/mod_payments"

find . -name '*.[ch]' | sed 's,^\./,,' | sort | awk '
function floor_of(dir) { return (dir in floors) ? floors[dir] : -1 }
function fault(text) { printf "%s:%d: %s\n", file, line, text; faults++ }

# Which files may include this header; "" when anyone may.
function border_of(header) {
    if (header ~ /^jansson/) return "^base/pay_json\\.c$"
    if (header ~ /^openssl\//) return "^base/pay_(crypto|rsa)\\.c$"
    if (header ~ /^curl\//) return "^base/pay_(url|transfer)[a-z_]*\\.c$"
    if (header ~ /^lmdb\.h$/) return "^store/(lmdb/|pay_rows\\.h$|pay_lmdb_(keys|row)\\.h$)"
    if (header ~ httpd) return "^httpd/"
    return ""
}

function is_engine(path) {
    return path ~ /^store\/lmdb\// || part_of(path) in engine
}

# In store/ the name that the engine list has for a file.
function part_of(path) {
    sub(/^store\//, "", path)
    sub(/\.[ch]$/, "", path)
    return path
}

# What a file of the engine must not see: what is neither the engine nor the interface of the store, and models,
# but for the scope, which leads every key.
function is_noun(header) {
    if (header ~ /^model\//) return !(part_of(file) == "pay_lmdb_keys" && header == "model/pay_account.h")
    return header ~ /^store\// && header !~ /^store\/pay_store[a-z_]*\.h$/ && !is_engine(header)
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
    split("pay_lmdb_index pay_lmdb_keys pay_lmdb_row pay_lmdb_time pay_lmdb_walk pay_rows pay_rows_scan pay_rows_turn", names, " ")
    for (i in names) engine[names[i]]
    httpd = "^(httpd|http_[a-z]+|ap_[a-z_]+|util_[a-z]+|mod_[a-z_]+|unixd|scoreboard|mpm_common)\\.h$"
}
{
    file = $0; line = 0; files++
    own = file
    if (own !~ /\//) { fault("a source file lies on no floor"); next }
    sub(/\/.*/, "", own)
    if (floor_of(own) < 0) { fault("a source file lies on no floor"); next }
    if (own == "store") seen[part_of(file)]
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
    line = 0
    for (name in engine) {
        file = "store/" name
        if (!(name in seen)) fault("the engine has no such file")
    }
    printf "check_layers: %d files, %d includes, %d faults\n", files, includes, faults
    exit faults > 0
}'
