# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# ./dev test of, changed and -k: a few tests instead of all. tests/dev/tests_of.py chooses them.

# selected KIND: the names of that kind in the plan on stdin.
selected() {
    sed -n "s/^$1 //p"
}

tests_of() { # COMMAND WORDS...
    PAYMENTS_TOP=$TOP PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 tests/dev/tests_of.py "$@"
}

# A tree that was tested before has its packages: if one is missing now, the build or the run reports it.
select_ready() {
    if [ ! -x "$NORMAL/tests/unit/unit_tests" ]; then
        packages test
        build_normal
        node_packages api "$NORMAL/node" "what signatures are verified with" || true # its tests say so
        build_unit "$NORMAL" || true # built again with the chosen tests, which report why it fails
    fi
}

# The libraries and the binary of all unit programs, without the other programs that `make check` links.
select_build_unit() {
    bootstrap_tree && tree "$NORMAL" libraries \
        && quiet normal-unit.log "build of the unit tests (normal)" make -C "$NORMAL/tests" -j"$JOBS" unit/unit_tests
}

select_unit() { # PROGRAM...
    stage unit
    if select_build_unit; then
        printf '%s\n' "$@" | run_programs unit "$NORMAL" "$JOBS" env TMPDIR="$(memory_dir)"
    fi
    count_unit unit "as users build it"
}

select_scripts() { # SCRIPT...
    stage scripts
    run_scripts "" "${@/#/tests/}"
}

# select_pytest STAGE FOLDER ENVIRONMENT... -- PYTEST OPTIONS...
select_pytest() {
    local stage=$1 folder=$2 prefix=() copy
    shift 2
    while [ "$1" != -- ]; do
        prefix+=("$1")
        shift
    done
    shift
    build_normal
    build_loaded "$NORMAL" || return 0
    copy=$(stage_copy "$NORMAL")
    run_pytest "$stage" "$folder" "$copy" env "${prefix[@]}" -- "$@"
    rm -rf "$copy"
}

# On one MPM; ./dev test runs the others.
select_files() { # FOLDER FILE...
    local folder=$1 shared=$SHARED_OUT
    shift
    [ "$folder" = api ] || shared=
    stage "$folder"
    # shellcheck disable=SC2086 # options are words
    select_pytest "$folder" "$folder" PAYMENTS_MPM=event -- $shared -o python_files="$*"
    count_api "$folder" "on event, $*"
}

# run_plan: runs the tests of the plan on stdin, the quickest first.
run_plan() {
    local plan names kind name
    plan=$(cat)
    sed -nE 's/^left ([a-z]+) ([0-9]+)$/further away, left to .\/dev test: \2 of \1/p' <<<"$plan"
    for kind in unit script api faults browser stage; do
        mapfile -t names < <(selected "$kind" <<<"$plan")
        [ "${#names[@]}" -gt 0 ] || continue
        say "$kind: ${names[*]}"
        case $kind in
            unit) select_unit "${names[@]}" ;;
            script) select_scripts "${names[@]}" ;;
            api | faults) select_files "$kind" "${names[@]}" ;;
            browser) stage_browser "${names[@]}" ;;
            stage) for name in "${names[@]}"; do "stage_$name"; done ;;
        esac
    done
}

# Paths as in git, from any directory in which ./dev was called, or as named in an #include.
path_of() { # FILE
    local file
    file=$(realpath -m --relative-to="$TOP" "$1")
    if [ ! -e "$file" ] && [ -e "mod_payments/$1" ]; then
        file=mod_payments/$1
    fi
    echo "$file"
}

test_of() { # FILE...
    local files=() file plan
    [ $# -gt 0 ] || die "test of: name the files whose tests are to be run"
    for file in "$@"; do
        file=$(path_of "$file")
        [[ $file != ../* ]] || die "not in this tree: $file"
        [ -f "$file" ] || die "no such file: $file"
        files+=("$file")
    done
    select_ready
    plan=$(tests_of of "$NORMAL" "${files[@]}")
    file=$(selected none <<<"$plan")
    [ -z "$file" ] || die "no test belongs to: $file; tests/dev/tests_of.map is where one can be named"
    begin selected
    run_plan <<<"$plan"
    summary
}

# Files that no longer exist have no tests.
changed_files() {
    local since=HEAD
    if [ -z "$(git status --porcelain)" ]; then
        since=HEAD~1
    fi
    { git diff --name-only --diff-filter=d "$since" && git ls-files --others --exclude-standard; } | sort -u
}

test_changed() {
    local files plan
    [ $# -eq 0 ] || die "test changed takes no arguments"
    mapfile -t files < <(changed_files)
    [ "${#files[@]}" -gt 0 ] || die "no file is changed, here or in the last commit; those that are gone have no tests"
    say "changed: ${files[*]}"
    select_ready
    begin selected
    plan=$(tests_of of "$NORMAL" "${files[@]}")
    selected none <<<"$plan" | sed 's/$/: no test belongs to it/'
    lint_of "${files[@]}"
    run_plan <<<"$plan"
    summary
}

# ./dev test -k: pytest's expression applied to unit programs and tests/api. Tests of tests/faults and tests/browser,
# which take a minute each, are only listed.
test_words() { # EXPRESSION
    local plan names
    if [ $# -ne 1 ] || [ -z "$1" ]; then
        die "test -k wants one expression, as pytest's -k: words, and, or, not"
    fi
    plan=$(tests_of words "$1")
    mapfile -t names < <(selected unit <<<"$plan")
    select_ready
    begin selected
    if [ "${#names[@]}" -gt 0 ]; then
        say "unit: ${names[*]}"
        select_unit "${names[@]}"
    fi
    words_api "$1" "${#names[@]}"
    sed -nE 's,^(faults|browser) (.*),also has such a name: ./dev test of tests/\1/\2,p' <<<"$plan"
    summary
}

# Only pytest knows which tests of tests/api have matching names; without any, no server is started.
words_api() { # EXPRESSION UNIT_PROGRAMS
    local found files shared=$SHARED_OUT status=0
    stage api
    found=$(words_files "$1") || status=$?
    mapfile -t files < <(sed -nE 's/^(test_[a-z0-9_]+\.py)::.*/\1/p' <<<"$found" | sort -u)
    case $status in
        0)
            [ "${#files[@]}" -gt 1 ] || shared=
            # shellcheck disable=SC2086 # options are words
            select_pytest api api -- $shared -k "$1" -o python_files="${files[*]}"
            count_api api "${files[*]}"
            ;;
        5) # pytest's status for no tests
            [ "$2" -eq 0 ] || return 0
            count api 0 0 "No test has such a name."
            ;;
        *)
            tail -n 30 <<<"$found"
            count api 0 1 "pytest did not find out which tests have such names"
            ;;
    esac
}

words_files() { # EXPRESSION
    cd tests/api && PAYMENTS_BUILD=$NORMAL PAYMENTSCTL=$NORMAL/mod_payments/paymentsctl \
        PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 -m pytest -q -p no:cacheprovider --collect-only -k "$1" 2>&1
}
