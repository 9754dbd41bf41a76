#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The other check scripts can fail: each fault below is planted in a copy of the tree, and the script that
# should find it must report it.
set -euo pipefail
top=$(cd "${PAYMENTS_TOP:-$(dirname "$0")/..}" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PAYMENTS_TOP=$work/tree
faults=0
count=0
left_out=() # cases that cannot run here, and why

# The fuzzers' cases are half of all files; only one script reads them.
mkdir "$work/whole"
(cd "$top" && tar -cf - --exclude=.libs --exclude=.deps --exclude='*.o' --exclude='*.lo' \
    --exclude=__pycache__ --exclude=tests/fuzz/corpus Makefile.am configure.ac bootstrap dev .ci CHANGES README.md conf docs m4 mod_payments \
    share tests) | tar -xf - -C "$work/whole"
chmod -R u+w "$work/whole"
state_of_whole() { (cd "$work/whole" && find . -type f -printf '%p %m %s %T@\n' | sort | sha256sum); }
state=$(state_of_whole)

# A tree of links, because a copy would take longer than most scripts: a file is copied before it is changed.
fresh() {
    rm -rf "$work/tree"
    cp -al "$work/whole" "$work/tree"
}

# own FILE: replaces the link by a copy.
own() {
    [ ! -e "$PAYMENTS_TOP/$1" ] || { cp -p "$PAYMENTS_TOP/$1" "$work/own" && mv "$work/own" "$PAYMENTS_TOP/$1"; }
}

# expect_failure WHAT WORDS SCRIPT ARGUMENTS...: the script must fail, and its report contain WORDS.
expect_failure() {
    note "$1" "$2"
    expect_all "${@:3}"
}

# note WHAT WORDS: one of several faults in this tree. expect_all SCRIPT ARGUMENTS...: the script must fail, and its
# report contain the words of each.
NOTED=() WORDS=()
note() {
    NOTED+=("$1")
    WORDS+=("$2")
}

expect_all() {
    local said i
    count=$((count + ${#NOTED[@]}))
    if said=$(bash "$top/tests/$1" "${@:2}" 2>&1); then
        printf '%s\n' "${NOTED[@]}" | sed "s,^,$1 did not notice: ,"
        faults=$((faults + ${#NOTED[@]}))
    else
        for ((i = 0; i < ${#NOTED[@]}; i++)); do
            [[ $said != *"${WORDS[i]}"* ]] || continue
            echo "$1 failed for another reason than: ${NOTED[i]}"
            head -n 5 <<<"$said"
            faults=$((faults + 1))
        done
    fi
    NOTED=() WORDS=()
}

# plant FILE TEXT: appends TEXT to FILE, which is created if it does not exist.
plant() {
    own "$1"
    printf '%b' "$2" >>"$PAYMENTS_TOP/$1"
}

repeat() { # COUNT TEXT
    local i
    for ((i = 0; i < $1; i++)); do printf '%s' "$2"; done
}

licence='/* SPDX-License-Identifier: Apache-2.0 */\n'
base=mod_payments/base

style() { # PART WHAT FILE TEXT WORDS
    fresh
    plant "$3" "$4"
    expect_failure "$2" "$5" check_style.sh "$1"
}

test_layers() {
    layer_of base/text/money.c '"model/account.h"' "an upward include"
    layer_of store/store.h '"acquirer/acquirer.h"' "a sideways include"
    layer_of ctl/ctl.h '"httpd/conf/conf.h"' "the tool sees httpd's floor"
    layer_of base/text/money.c '"id.h"' "an include without a folder"
    layer_of model/card.c '<jansson.h>' "jansson outside of its file"
    layer_of base/text/id.c '<openssl/rand.h>' "libcrypto outside of its file"
    layer_of service/service.h '<lmdb.h>' "LMDB outside of its files"
    layer_of service/service.h '<httpd.h>' "httpd below its floor"
    layer_of acquirer/acquirer.h '<http_log.h>' "another header of httpd below its floor"
    layer_of store/lmdb/commit.c '"store/record/audit.h"' "the commit queue sees the audit"
    layer_of store/lmdb/env.h '"model/epoch.h"' "the engine of the store sees a model"
    layer_of store/event/endpoint.c '"store/payment/charge.h"' "a folder sees one above it"
    layer_of base/text/csv.h '"base/text/html.h"' "files in a circle" base/text/html.h '"base/text/fields.h"' \
        base/text/fields.h '"base/text/csv.h"'
    writes_in httpd/dashboard/keys.c "    rv = pay_store_key_revoke(&key, store, id, 0, p);" "the dashboard changes the store"
    writes_in ctl/event.c "    change.op = pay_store_event_drop;" "the tool hands on what changes the store"
    writes_in httpd/dashboard/audit.c "    rv = pay_store_audited(&out, store, entry, p);" "the dashboard makes an entry by itself"
    fresh
    plant mod_payments/store/payment/idempotency.c "apr_status_t pay_store_idempotency_find(pay_store_t *store)\n{\n    return pay_rows_commit(store);\n}\n"
    expect_failure "a read that writes" "pay_store_idempotency_find reads by its name, and commits" check_layers.sh
    fresh
    plant mod_payments/store/payment/idempotency.c "    rc = mdb_get(txn->native, 2, &key, &row);\n"
    expect_failure "LMDB is called by a noun" "LMDB is named in store/lmdb alone" check_layers.sh
    fresh
    plant mod_payments/store/payment/idempotency.h "int pay_store_idempotency_last(MDB_val *row);\n"
    expect_failure "a noun has a type of LMDB" "LMDB is named in store/lmdb alone" check_layers.sh
    fresh
    plant mod_payments/store/rows.h "#include <lmdb.h>\n"
    expect_failure "the seam includes LMDB" "lmdb.h is not for this file" check_layers.sh
    rm -rf "$PAYMENTS_TOP"
    mkdir -p "$PAYMENTS_TOP/mod_payments"
    expect_failure "an empty tree" "nothing to check" check_layers.sh
}

writes_in() { # FILE LINE WHAT
    fresh
    plant "mod_payments/$1" "$2\n"
    expect_failure "$3" "$1" check_layers.sh
}

layer_of() { # FILE INCLUDE WHAT [FILE INCLUDE...]
    local file=$1 include=$2 what=$3
    fresh
    plant "mod_payments/$file" "#include $include\n"
    shift 3
    while [ $# -gt 0 ]; do
        plant "mod_payments/$1" "#include $2\n"
        shift 2
    done
    expect_failure "$what" "${file%.*}" check_layers.sh
}

test_sources() {
    fresh
    plant $base/pay_stray.c "$licence"
    expect_failure "a source that is not listed" pay_stray.c check_sources.sh
    fresh
    plant tests/unit/test_stray.c "$licence"
    expect_failure "a unit test that is not listed" test_stray.c check_sources.sh
    fresh
    rm "$PAYMENTS_TOP/$base/text/money.h"
    expect_failure "a listed file that is gone" "not in the tree" check_sources.sh
    fresh
    rm "$PAYMENTS_TOP/tests/faults/timing.c" "$PAYMENTS_TOP/tests/faults/preload_boot.c"
    note "a program whose source is gone" "timing.c: in a Makefile.am"
    note "a library whose source is gone" "preload_boot.c: in a Makefile.am"
    expect_all check_sources.sh
    fresh
    plant tests/faults/preload_stray.c "$licence"
    expect_failure "a library that is not listed" preload_stray.c check_sources.sh
    fresh
    sed -i 's/^| held |/| kept back |/' "$PAYMENTS_TOP/docs/store.md"
    expect_failure "a table of the store that is not described" "held: store/rows.h has this table" check_sources.sh
    fresh
    own tests/check_man.sh
    chmod -x "$PAYMENTS_TOP/tests/check_man.sh"
    expect_failure "a script that make cannot run" "check_man.sh: cannot be run" check_sources.sh
    fresh
    git -C "$PAYMENTS_TOP" init -q
    touch "$PAYMENTS_TOP/stray"
    git -C "$PAYMENTS_TOP" add stray
    expect_failure "a stray file in the top of the tree" "stray: does not belong" check_sources.sh
}

test_style() {
    style sizes "a long source" $base/pay_stray.c "$(repeat 801 '\n')" "more than 800 lines"
    style sizes "a long header" $base/pay_stray.h "$(repeat 251 '\n')" "more than 250 lines"
    style sizes "a long test" tests/unit/test_stray.c "$(repeat 801 '\n')" "more than 800 lines"
    style columns "a long line" $base/text/money.c "// $(repeat 98 x)\n" "more than 100 columns"
    style columns "a tab" $base/text/money.c "\t;\n" "a tab"
    style functions "a long function" $base/text/money.c "\nint stray(void)\n{\n$(repeat 68 ';\n')}\n" "71 lines: int stray"
    fresh
    find "$PAYMENTS_TOP" -name '*.h' ! -path "*/$base/text/id.h" -delete # the others compile, as check_style says
    plant $base/text/id.h "size_u stray(void);\n"
    expect_failure "a header that needs another" "does not compile alone" check_style.sh headers
    style registered "a test nobody runs" tests/unit/base/text/test_money.c "START_TEST(stray)\n{\n}\nEND_TEST\n" "stray is not registered"
    style registered "a file that nobody runs" tests/unit/test_stray.c "START_TEST(stray)\n{\n}\nEND_TEST\n" "is no UNIT_PROGRAM"
    style lognumbers "a number used twice" $base/text/money.c 'pay_log(1, 0, PAYLOGNO(00999) "a");\npay_log(1, 0, PAYLOGNO(00999) "b");\n' "used twice"
    style lognumbers "a number of four digits" $base/text/money.c 'pay_log(1, 0, PAYLOGNO(0999) "a");\n' "want five digits"
    style lognumbers "a line without a number" $base/text/money.c 'pay_log(1, 0,\n"a");\n' "no PAYLOGNO"
    style provoked "a line that no test names" $base/text/money.c 'pay_log(1, 0, PAYLOGNO(00999) "a");\n' "PAY00999: no test names it"
    fresh
    plant tests/api/test_stray.py 'STRAY_TROUBLE = ("PAY00998|"\n    "PAY00999")\nhttpd.expect_log("PAY00999")\n'
    plant $base/text/money.c 'pay_log(1, 0, PAYLOGNO(00999) "a");\n'
    expect_failure "a line that tests only forgive" "PAY00999: no test names it" check_style.sh provoked
    style licence "a source without a licence" $base/pay_stray.c "int a;\n" "no licence line"
    style forbidden "a forbidden function" $base/text/money.c "    sprintf(a, b);\n" "sprintf"
    style forbidden "an unfinished place" $base/text/money.c "/* TODO */\n" "TODO"
}

test_directives() {
    fresh
    plant mod_payments/httpd/conf/directives.c 'OWN(\n    "PaymentsStray", TAKE1)\n'
    expect_failure "a directive without manual" PaymentsStray check_directives.sh
    fresh
    plant docs/directives.md '## PaymentsStray\n'
    expect_failure "a manual entry without directive" PaymentsStray check_directives.sh
    fresh
    plant conf/payments.conf '#PaymentsStray On\n'
    expect_failure "an example without directive" PaymentsStray check_directives.sh
    fresh
    sed -i '0,/\*\*Default:\*\*/{/\*\*Default:\*\*/d}' "$PAYMENTS_TOP/docs/directives.md"
    expect_failure "a manual entry without Default" "has no row Default" check_directives.sh
}

test_links() {
    fresh
    plant README.md '\n[a page](docs/stray.md)\n'
    expect_failure "a link to a page that does not exist" "docs/stray.md: there is no such file" check_links.sh
    fresh
    plant README.md '\n[a heading](docs/api.md#stray)\n'
    expect_failure "a link to a heading that does not exist" "docs/api.md#stray: there is no such heading" check_links.sh
    fresh
    plant docs/stray.md '# Stray\n'
    expect_failure "a page that the index lacks" "docs/stray.md: not linked" check_links.sh
    fresh
    plant docs/store.md '\n7. **A rule twice**\n'
    expect_failure "a rule of the store with a number that is taken" "are not numbered" check_links.sh
    fresh
    plant docs/operations.md 'See [store.md](store.md), rule 99.\n'
    expect_failure "a rule of the store that does not exist" "docs/store.md has no rule 99" check_links.sh
    fresh
    plant docs/api.md '\n## A stray heading\n'
    expect_failure "a heading that the page's list lacks" "does not lead to the heading A stray heading" check_links.sh
}

# word FILE TEXT WHAT WORDS: all in one tree; the words are those of a fault in the file's last lines.
word() {
    plant "$1" "$2"
    note "$3" "$1:$(($(wc -l <"$PAYMENTS_TOP/$1") - ${5:-0})): $4"
}

test_words() {
    fresh
    word README.md '\nThe log tells the\nkey.\n' "a phrase in the documentation" '"tells": write: ' 1
    word docs/paymentsctl.8 '.PP\nWho has none is told.\n' "a phrase in the manual page" '"told": write: says'
    word $base/text/money.c 'char *a = "what is "\n"no number";\n' "a phrase in two parts of a string" '"what is no": write: ' 1
    word share/mail/test.txt 'All the same.\n' "a phrase in a mail" '"all the same": write: anyway'
    word docs/openapi.json '"description": "It is told."\n' "a phrase in the OpenAPI document" '"told": write: says'
    word $base/text/id.c '/* It is told. */\n' "a phrase in a comment" '"told": write: says'
    word tests/unit/base/text/test_money.c '/* It is told. */\n' "a phrase in a test's comment" '"told": write: says'
    expect_all check_words.sh
    rm -rf "$PAYMENTS_TOP"
    mkdir -p "$PAYMENTS_TOP"
    expect_failure "an empty tree" "nothing to check" check_words.sh
}

test_messages() {
    fresh
    plant $base/text/money.c 'pay_log(PAY_LOG_ERR, 0, PAYLOGNO(00999) "a");\n'
    expect_failure "a message that the page lacks" "< 00999|error|a" check_messages.sh
    fresh
    plant docs/messages.md '## PAY00999\n\n`error` a\n\nIt means b.\n\n**To do:** c.\n'
    expect_failure "an entry without a message" "> 00999|error|a" check_messages.sh
    fresh
    own docs/messages.md
    sed -i 's/^`emerg` store/`emerg` the store/' "$PAYMENTS_TOP/docs/messages.md"
    expect_failure "another text" "> 00101|emerg|the store" check_messages.sh
    fresh
    own docs/messages.md
    sed -i 's/^`emerg` store/`alert` store/' "$PAYMENTS_TOP/docs/messages.md"
    expect_failure "another level" "> 00101|alert|store" check_messages.sh
    fresh
    plant docs/messages.md '\n## PAY00001\n\n`error` a\n'
    note "an entry in the wrong place" "PAY00001: after PAY00792"
    note "an entry that does not say what to do" "PAY00001: no sentence says what to do"
    expect_all check_messages.sh
}

test_hardening() {
    local build=$work/build/mod_payments cc=${CC:-cc}
    mkdir -p "$build/.libs"
    printf 'configure:1: checking %s\nconfigure:2: result: %s\n' 'for the _FORTIFY_SOURCE to add' 3 \
        'whether cc takes -fPIE' yes 'whether the linker takes -pie' yes >"$work/build/config.log"
    printf 'srcdir = .\nall-am: ctl/account.c\n\t%s\n\t%s\n' \
        'cc -D_FORTIFY_SOURCE=2 -c x.c' 'libtool --mode=link cc -o paymentsctl x.o' >"$build/Makefile"
    mkdir -p "$build/ctl" && touch "$build/ctl/account.c"
    echo "const char *payments_module = \"$PAYMENTS_TOP/mod_payments\";" |
        "$cc" -shared -fPIC -fno-stack-protector -Wl,-z,norelro -Wl,-z,lazy -Wl,-z,execstack -x c - -o "$build/.libs/mod_payments.so"
    echo 'int main(void) { return 0; }' | "$cc" -no-pie -fno-pie -x c - -o "$build/paymentsctl"
    for fault in "segment that is read-only" "bound late" "stack can be run" "canaries" "checked functions" \
        "mod_payments.so: holds the path" "position-independent" "without -D_FORTIFY_SOURCE=3" "without -fPIE" \
        "linked without -pie"; do
        note "no hardening" "$fault"
    done
    PAYMENTS_BUILD=$work/build expect_all check_hardening.sh
    rm "$build/.libs/mod_payments.so"
    PAYMENTS_BUILD=$work/build expect_failure "no module" "is not built" check_hardening.sh
}

test_symbols() {
    local build=$work/build/mod_payments/.libs
    mkdir -p "$build"
    echo 'int payments_module; int stray;' | "${CC:-cc}" -shared -fPIC -x c - -o "$build/mod_payments.so"
    PAYMENTS_BUILD=$work/build expect_failure "a second symbol" stray check_symbols.sh
    rm "$build/mod_payments.so"
    PAYMENTS_BUILD=$work/build expect_failure "no module" "is not built" check_symbols.sh
}

test_man() {
    fresh
    [ -x "${PAYMENTS_BUILD:-$top/build/normal}/mod_payments/paymentsctl" ] || {
        left_out+=("check_man.sh: paymentsctl is not built")
        return
    }
    plant docs/paymentsctl.8 '.SS stray verb\n'
    PAYMENTS_BUILD=${PAYMENTS_BUILD:-$top/build/normal} \
        expect_failure "a command that does not exist" "stray verb" check_man.sh
}

page() { # PART WHAT FILE TEXT WORDS
    fresh
    plant "share/dashboard/$3" "$4"
    expect_failure "$2" "$5" check_pages.sh "$1"
}

test_pages() {
    page markup "a text that becomes markup" assets/dom.js 'node.innerHTML = text;\n' "dom.js:"
    page markup "an inline handler" index.html '<p onclick="go()">\n' "inline script"
    page markup "an inline script" index.html '<script type="module">go()</script>\n' "inline script"
    page markup "an inline style" index.html '<p style="color: red">\n' "inline script or style"
    page markup "a script from elsewhere" index.html '<script src="https://cdn.example/x.js"></script>\n' cdn.example
    page markup "a style sheet from elsewhere" assets/parts.css '@import "x.css";\n' "fetches something"
    page modules "a module that is not there" assets/app.js "import './stray.js';\nimport { a } from './stray.js';\n" stray.js
    page form "a long line" assets/app.js "// $(repeat 100 x)\n" "100 columns"
    page tokens "another colour" assets/parts.css ':root {\n  --accent: #0f6b51;\n}\n' "belongs into tokens.css"
    page tokens "a colour that is not there" assets/parts.css 'p {\n  color: var(--stray);\n}\n' "--stray: not in tokens.css"
    fresh
    rm -r "$PAYMENTS_TOP/share/dashboard"
    expect_failure "no pages" "nothing to check" check_pages.sh
}

test_pages_node() {
    command -v node >/dev/null || {
        left_out+=("check_pages.sh node: node is not installed")
        return
    }
    fresh
    plant share/dashboard/assets/app.js 'export const = 1;\n' # which tests/pages do not read
    note "a module that is none" "share/dashboard/assets/app.js: "
    sed -i 's/--soft: #54615a/--soft: #94a19a/' "$PAYMENTS_TOP/share/dashboard/assets/tokens.css"
    note "too little contrast" "light: soft on "
    note "a test that fails" "tests/pages: failed"
    expect_all check_pages.sh node
}

# Stand-ins for the fuzz targets: they fail on amounts without decimals.
test_replay() {
    local programs=$work/build/tests/fuzz name
    fresh
    cp -R "$top/tests/fuzz/corpus" "$PAYMENTS_TOP/tests/fuzz/"
    chmod -R u+w "$PAYMENTS_TOP/tests/fuzz/corpus"
    mkdir -p "$programs"
    for name in "$top"/tests/fuzz/fuzz_*.c; do
        name=$programs/$(basename "$name" .c)
        printf '#!/bin/sh\ncase " $* " in *"/money/whole "*) exit 134 ;; esac\necho "replayed $#"\n' >"$name"
        chmod +x "$name"
    done
    note "a case that fails" "money/whole"
    note "one failure among the others" ", 1 failed"
    PAYMENTS_BUILD=$work/build expect_all fuzz/replay.sh
    rm -rf "$PAYMENTS_TOP/tests/fuzz/corpus/path"
    PAYMENTS_BUILD=$work/build expect_failure "a target without cases" "corpus/path: found no case" \
        fuzz/replay.sh
    rm "$programs/fuzz_row"
    PAYMENTS_BUILD=$work/build expect_failure "a target that is not built" "fuzz_row: is not built" \
        fuzz/replay.sh
}

for part in layers sources style pages pages_node directives messages links words symbols hardening man replay; do
    "test_$part"
done
[ "$state" = "$(state_of_whole)" ] || {
    echo "check_selftest: a fault was planted through a link, into all trees after it: call own before"
    exit 1
}
echo "check_selftest: $count planted faults, $faults not seen"
[ "$faults" -eq 0 ] || exit 1
[ ${#left_out[@]} -eq 0 ] || {
    printf 'left out: %s\n' "${left_out[@]}"
    exit 77 # automake: skipped
}
