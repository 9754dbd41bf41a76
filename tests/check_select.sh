#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ./dev test of, changed and -k choose the right tests, and run what they chose.
set -euo pipefail
top=$(cd "${PAYMENTS_TOP:-$(dirname "$0")/..}" && pwd)
[ -x /usr/bin/python3 ] || {
    echo "check_select: /usr/bin/python3, which chooses tests, is not installed"
    exit 77 # automake: skipped
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PYTHONDONTWRITEBYTECODE=1
tree=$top
build=$work/none # contains no build
faults=0
count=0

fault() {
    echo "check_select: $*"
    faults=$((faults + 1))
}

chooser() { PAYMENTS_TOP=$tree /usr/bin/python3 "$top/tests/dev/tests_of.py" "$@"; }

# same WHAT WANT SAID
same() {
    count=$((count + 1))
    [ "$2" = "$3" ] || fault "$1: wants \"${2//$'\n'/, }\", not \"${3//$'\n'/, }\""
}

# plan FILES LINE...: the whole plan of these files. begins FILES LINE...: it begins with these lines. Both only ask;
# `answered` has one process answer everything, because half a second passes until it has read the tree.
plan() { ask 0 "$@"; }
begins() { ask $(($# - 1)) "$@"; }

QUESTIONS=() LENGTHS=() WANTED=() # the files; the number of lines to compare, 0: all; these lines
ask() { # LENGTH FILES LINE...
    LENGTHS+=("$1")
    QUESTIONS+=("$2")
    WANTED+=("$(printf '%s\n' "${@:3}")")
}

answered() {
    local i said
    for ((i = 0; i < ${#QUESTIONS[@]}; i++)); do
        said=
        while IFS= read -r line && [ "$line" != . ]; do
            said=$said${said:+$'\n'}$line
        done
        [ "${LENGTHS[i]}" -eq 0 ] || said=$(head -n "${LENGTHS[i]}" <<<"$said")
        same "${QUESTIONS[i]}" "${WANTED[i]}" "$said"
    done < <(printf '%s\n' "${QUESTIONS[@]}" | PAYMENTS_TOP=$tree PYTHONPATH=$top/tests/dev /usr/bin/python3 -c '
import pathlib, sys, tests_of
for line in sys.stdin:
    tests_of.print_of(pathlib.Path(sys.argv[1]), line.split())
    print(".")' "$build")
    QUESTIONS=() LENGTHS=() WANTED=()
}

# ---- the map

test_map() {
    local said
    count=$((count + 1))
    said=$(chooser check) || fault "tests_of.py check: $said"
}

# ---- the files of this tree

test_files() {
    begins mod_payments/store/payment/refund_open.c "unit test_store_refund"
    begins mod_payments/store/payment/idempotency.c "unit test_store_idempotency"
    begins mod_payments/model/charge.h "unit test_charge"
    begins mod_payments/base/shared/slots.c "unit test_slots"
    begins mod_payments/httpd/call/gate.c "unit test_gate"
    begins mod_payments/ctl/range.c "unit test_ctl_range"
    plan mod_payments/httpd/site/site_path.c "api test_health.py" "api test_claim.py"
    plan mod_payments/ctl/held_list.c "api test_ctl_live.py"
    plan tests/unit/base/text/test_money.c "unit test_money"
    begins tests/unit/breaker_fixture.h "unit test_breaker"
    plan tests/api/test_charge.py "api test_charge.py"
    plan tests/api/upstream_proxy.py "api test_upstream_proxy.py" "api test_live.py"
    begins tests/api/openid.py "api test_dashboard_openid.py"
    plan tests/faults/test_clock.py "faults test_clock.py"
    plan tests/faults/swap.py "faults test_root.py"
    plan tests/faults/preload_names.c "api test_webhook_targets.py"
    plan tests/faults/hosts.py "faults test_damaged.py" "faults test_instances.py" "left faults 1"
    plan tests/browser/pages.test.mjs "browser pages.test.mjs"
    plan share/dashboard/assets/confirm.js "script check_pages.sh" "browser confirm.test.mjs"
    plan share/mail/confirmation.txt "unit test_mail_templates" "api test_mail.py" "script check_words.sh"
    plan docs/openapi.json "api test_openapi.py" "api test_openapi_answers.py"
    plan docs/store.md "script check_links.sh" "script check_words.sh" "script check_sources.sh" "script check_install.sh"
    plan tests/check_man.sh "script check_man.sh" "script check_selftest.sh"
    plan tests/dev/demo.sh "stage demo"
    plan tests/dev/suite.sh "script check_runner.sh"
    plan tests/fuzz/corpus/money/whole "stage fuzz-replay"
    plan configure.ac "script check_hardening.sh"
    plan mod_payments/stray.txt "none mod_payments/stray.txt"
    # Two files that have the same test, and one without a test.
    plan "tests/dev/suite.sh tests/fuzz/fuzz.h stray tests/dev/bare.sh" "none stray" "script check_runner.sh" \
        "stage fuzz-replay"
    answered
    same "./dev test of" "none stray, script check_man.sh, script check_selftest.sh" \
        "$(chooser of "$build" tests/check_man.sh stray | paste -sd, | sed 's/,/, /g')"
}

# ---- questions that only a build answers, and faults of a map

# A file of the store that a file of httpd calls, whose program comes first, and one that only a program calls.
small_tree() {
    local file
    tree=$work/small
    build=$tree/build/normal
    mkdir -p "$tree"/{mod_payments/{store,httpd,ctl},tests/{dev,unit/store,api}} \
        "$build"/{mod_payments/{store,httpd,ctl},tests/unit/store}
    (
        cd "$tree"
        echo 'int pay_row(void) { return 1; }' >mod_payments/store/row.c
        echo 'int pay_row(void); int pay_door(void) { return pay_row(); }' >mod_payments/httpd/door.c
        echo 'int ctl_word(void) { return 1; }' >mod_payments/ctl/word.c
        echo 'int pay_stray(void) { return 1; }' >mod_payments/httpd/stray.c
        echo 'int pay_door(void);' >mod_payments/httpd/door.h
        echo 'int test_row(void) { return 1; }' >tests/unit/store/test_row.c
        printf '#include "httpd/door.h"\nint test_wall(void) { return pay_door(); }\n' >tests/unit/test_wall.c
        echo 'int ctl_word(void); int goods(void) { return ctl_word(); }' >tests/unit/goods.c
        echo 'int goods(void); int test_far(void) { return goods(); }' >tests/unit/test_far.c
        echo 'pass' >tests/api/test_case.py
        printf 'httpd/door*  test_case.py\nctl/*  test_case.py\n' >tests/dev/tests_of.map
        for file in tests/unit/*.c tests/unit/store/*.c; do
            "${CC:-cc}" -Imod_payments -c "$file" -o "$build/${file%.c}.o"
        done
        "${CC:-cc}" -c mod_payments/store/row.c -o "$build/mod_payments/store/libpayments_a-row.o"
        "${CC:-cc}" -c mod_payments/httpd/door.c -o "$build/mod_payments/httpd/libhttpd_a-door.o"
        "${CC:-cc}" -c mod_payments/httpd/stray.c -o "$build/mod_payments/httpd/libhttpd_a-stray.o"
        "${CC:-cc}" -c mod_payments/ctl/word.c -o "$build/mod_payments/ctl/word.o"
    )
}

test_symbols() {
    small_tree
    plan mod_payments/store/row.c "unit test_row" "unit test_wall"
    plan mod_payments/httpd/door.c "unit test_wall" "api test_case.py"
    plan mod_payments/ctl/word.c "api test_case.py"
    plan tests/unit/goods.c "unit test_far"
    answered
    # wrong LINE WORDS: with that line the map has the fault WORDS.
    count=$((count + 1))
    ! chooser check >"$work/said" || fault "a file of httpd without a test is not noticed"
    grep -qx 'mod_payments/httpd/stray.c: no test belongs to it: name one in tests/dev/tests_of.map' "$work/said" || fault "$(cat "$work/said")"
    echo 'httpd/stray*  test_case.py' >>"$tree/tests/dev/tests_of.map"
    same "a map without faults" "tests/dev/tests_of.map: 3 lines, 0 faults" "$(chooser check)"
    wrong 'httpd/door.c  test_case.py' "httpd/door.c: no file, or another line has it first"
    wrong 'httpd/door*  test_case.py' "httpd/door*: 2 lines have this pattern, and only the first counts"
    wrong 'httpd/gone*  test_case.py' "httpd/gone*: no file, or another line has it first"
    wrong 'tests/dev/*  test_gone.py' "tests/dev/*: test_gone.py: no such test"
    wrong 'tests/dev/*  stage/gone' "tests/dev/*: gone: no such test"
    wrong 'tests/dev/*' "tests/dev/*: no test"
    printf '#include "door.h"\n' >"$tree/mod_payments/httpd/hall.h"
    printf '#include "httpd/hall.h"\n' >"$tree/mod_payments/httpd/hall.c"
    same "what lint compiles for a header" "tests/unit/test_wall.c" "$(chooser includers mod_payments/httpd/door.h)"
    same "and for one that others bring along" "mod_payments/httpd/hall.c" \
        "$(chooser includers mod_payments/httpd/hall.h)"
    tree=$top build=$work/none
}

wrong() { # LINE WORDS
    local map=$tree/tests/dev/tests_of.map said
    cp "$map" "$work/map"
    echo "$1" >>"$map"
    count=$((count + 1))
    if said=$(chooser check); then
        fault "not noticed in the map: $1"
    fi
    grep -qFx -- "$2" <<<"$said" || fault "$1: does not say \"$2\": $said"
    cp "$work/map" "$map"
}

# ---- -k

# named EXPRESSION LINE...: the tests whose names match.
named() {
    local expression=$1
    shift
    same "-k $expression" "$(printf '%s\n' "$@")" "$(chooser words "$expression")"
}

# The programs of three tests; the last line is not the name of a test.
test_words() {
    tree=$work/words
    mkdir -p "$tree"/tests/{unit/{base,model},faults,browser}
    printf 'START_TEST(test_plus)\nSTART_TEST(test_minus)\n' >"$tree/tests/unit/base/test_money.c"
    printf 'START_TEST(test_plus)\nck_assert(minus);\n' >"$tree/tests/unit/model/test_days.c"
    printf 'def test_minus_at_night():\n    test_plus()\n' >"$tree/tests/faults/test_clock.py"
    printf "test('five minus two', async () => {\n" >"$tree/tests/browser/sums.test.mjs"
    named plus "unit test_days" "unit test_money"
    named MINUS "unit test_money" "faults test_clock.py" "browser sums.test.mjs"
    named 'minus and not (night or five)' "unit test_money"
    named 'money and plus or clock' "unit test_money" "faults test_clock.py"
    named 'plus and minus' ""
    named nothing ""
    count=$((count + 1))
    ! chooser words 'plus and (' 2>"$work/said" || fault "-k: an expression that ends too early is taken"
    grep -qF 'not an expression' "$work/said" || fault "-k: $(cat "$work/said")"
    tree=$top
}

# ---- running a plan

# in_tree COMMAND...: a function of ./dev in another tree, where functions that run tests only print which.
in_tree() {
    local status said
    set +e # before || a command would continue after a failure, unlike ./dev
    said=$(
        set -e
        # shellcheck source=dev
        . "$top/dev"
        TOP=$work/git
        OUT=$work/build LOGS=$work/build/log NORMAL=$work/build/normal
        cd "$TOP"
        select_ready() { :; }
        begin() { :; }
        summary() { :; }
        select_unit() { say "runs unit $*"; }
        select_scripts() { say "runs script $*"; }
        select_files() { say "runs $*"; }
        stage_browser() { say "runs browser $*"; }
        stage_demo() { say "runs demo"; }
        lint_of() { say "lints $*"; }
        tests_of() { sed 's/^/tests of /' <<<"${*:3}" >&2; cat "$work/plan"; }
        "$@" 2>&1
    )
    status=$?
    set -e
    printf '%s\nstatus %s\n' "$said" "$status"
}

commit() {
    git -C "$work/git" add -A
    git -C "$work/git" -c user.name=name -c user.email=mail@example.com commit -q --allow-empty -m "$1"
}

# tells NAME WANT COMMAND...
tells() {
    local name=$1 want=$2
    shift 2
    same "$name" "$want" "$(in_tree "$@")"
}

from_folder() { cd mod_payments/base/text && path_of "$1"; }

test_plan() {
    printf '%s\n' "stage demo" "browser a.test.mjs" "faults test_f.py" "api test_a.py" "api test_b.py" "script check_c.sh" \
        "unit test_one" "unit test_two" "left unit 12" >"$work/plan"
    mkdir -p "$work/git/mod_payments/base/text"
    tells "a plan" "further away, left to ./dev test: 12 of unit
unit: test_one test_two
runs unit test_one test_two
script: check_c.sh
runs script check_c.sh
api: test_a.py test_b.py
runs api test_a.py test_b.py
faults: test_f.py
runs faults test_f.py
browser: a.test.mjs
runs browser a.test.mjs
stage: demo
runs demo
status 0" run_plan_of "$work/plan"
    echo "none there.c" >"$work/plan"
    touch "$work/git/there.c" "$work/git/mod_payments/base/text/money.h"
    tells "a file without tests" "tests of there.c
dev: no test belongs to: there.c; tests/dev/tests_of.map is where one can be named
status 1" test_of there.c
    tells "a file that is not there" "dev: no such file: stray.c
status 1" test_of there.c stray.c
    tells "a file elsewhere" "dev: not in this tree: ../plan
status 1" test_of "$work/plan"
    tells "no file" "dev: test of: name the files whose tests are to be run
status 1" test_of
    tells "a whole path" "there.c
status 0" path_of "$work/git/there.c"
    tells "a path as in an #include" "mod_payments/base/text/money.h
status 0" path_of base/text/money.h
    tells "a path from a folder" "mod_payments/base/text/money.h
status 0" from_folder money.h
}

run_plan_of() { run_plan <"$1"; }

test_changed() {
    rm -rf "$work/git"
    git init -q "$work/git"
    echo one >"$work/git/one.c"
    echo two >"$work/git/two.c"
    commit first
    echo more >>"$work/git/one.c"
    commit second
    echo "unit test_one" >"$work/plan"
    tells "the last commit" "changed: one.c
tests of one.c
lints one.c
unit: test_one
runs unit test_one
status 0" test_changed_of
    echo new >"$work/git/new file.c"
    echo more >>"$work/git/two.c"
    tells "a new file and a changed one" "new file.c
two.c
status 0" changed_files
    git -C "$work/git" add -A
    tells "what is to be committed" "new file.c
two.c
status 0" changed_files
    rm "$work/git/two.c"
    tells "one that is gone" "new file.c
status 0" changed_files
    printf 'none new file.c\n' >"$work/plan"
    tells "a changed file without tests is linted" "changed: new file.c
tests of new file.c
new file.c: no test belongs to it
lints new file.c
status 0" test_changed_of
    git -C "$work/git" reset -q --hard
    git -C "$work/git" rm -q one.c
    tells "nothing but what is gone" "dev: no file is changed, here or in the last commit; those that are gone have no tests
status 1" test_changed_of
    tells "too many words" "dev: test changed takes no arguments
status 1" test_changed_of one.c
}

# This file has a function of that name; ./dev's replaces it.
test_changed_of() { test_changed "$@"; }

for part in map files symbols words plan; do
    "test_$part"
done
without=
if command -v git >/dev/null; then
    test_changed
else
    without=", without those of git, which is not installed"
fi
echo "check_select: $count cases, $faults faults$without"
[ "$faults" -eq 0 ] || exit 1
[ -z "$without" ] || exit 77
