# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# ./dev mutate: checks whether the tests notice small changes of the source. It works on a copy of the tree.

MUTATE=$OUT/mutate
MUTANTS=20

# Every file of this tree that git does not ignore; without git, all files of a tarball.
files_of_tree() {
    git ls-files -z --cached --others --exclude-standard 2>/dev/null \
        || find . -type f ! -path './build/*' -printf '%P\0'
}

# in_copy FUNCTION...: runs a function of the copy's own ./dev.
in_copy() {
    (cd "$MUTATE/tree" && bash -c '. ./dev && "$@"' - "$@")
}

mutate_tools() {
    packages test
    build_normal
    build_unit "$NORMAL" || exit 1
    node_packages api "$NORMAL/node" "what signatures are verified with" || true # its tests fail then
}

# Prints a directory for each mutant that is tested in parallel.
mutate_copies() {
    local number copy
    for ((number = 0; number < JOBS; number++)); do
        copy=$(stage_copy "$NORMAL")
        rm -f "$copy/build/tests/api/silent_ctl" # the tool linked with the mutant handles every call
        echo "$copy"
    done
}

mutate_run() { # COMMAND WORDS...
    local copies command=$1 status=0
    shift
    mkdir -p "$MUTATE/tree"
    exec {MUTATE_LOCK}>"$MUTATE/lock"
    flock -n "$MUTATE_LOCK" || die "another ./dev mutate is at work in $MUTATE"
    files_of_tree | /usr/bin/python3 tests/dev/mutate.py copy "$TOP" "$MUTATE/tree"
    in_copy mutate_tools
    copies=$(in_copy mutate_copies)
    # shellcheck disable=SC2064 # these
    trap "rm -rf ${copies//$'\n'/ }" EXIT
    MUTATE_COPIES=$copies MUTATE_TMPDIR=$(memory_dir) PAYMENTS_TOP=$MUTATE/tree PYTHONDONTWRITEBYTECODE=1 JOBS=$JOBS \
        /usr/bin/python3 tests/dev/mutate.py "$command" "$MUTATE/tree" "$MUTATE" "$@" || status=$?
    return "$status"
}

dev_mutate() {
    local chosen=() paths=() files path list='' number=$MUTANTS
    while [ $# -gt 0 ]; do
        case $1 in
            --again)
                [ -f "${2:-}" ] || die "mutate --again wants a file of results"
                list=$(realpath "$2")
                shift
                ;;
            all) chosen+=(mod_payments) ;;
            *[!0-9]*) chosen+=("$1") ;;
            *) number=$1 ;;
        esac
        shift
    done
    if [ -n "$list" ]; then
        mutate_run again "$list"
        return
    fi
    [ "${#chosen[@]}" -gt 0 ] || mapfile -t chosen < <(changed_files)
    for path in "${chosen[@]}"; do
        path=$(path_of "$path")
        [ -e "$path" ] || die "no such file: $path"
        paths+=("$path")
    done
    files=$(find "${paths[@]}" -name '*.c' | grep -E '^mod_payments/[a-z]+/([a-z0-9_]+/)*[a-z0-9_]+\.c$' | sort -u) || true
    [ -n "$files" ] || die "mutate: none of these is a C source of mod_payments: ${chosen[*]}"
    # shellcheck disable=SC2086 # file names are words
    mutate_run run "${PAYMENTS_SEED:-$RANDOM$RANDOM}" "$number" $files
}
