# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# ./dev lint, for all or only changed files, and the stage lint of ./dev test, which takes the changed files.

LINT_PARTS="format syntax cppcheck shell python words clang analyzer distcheck"
LINT_QUICK="format syntax cppcheck shell python words analyzer" # and distcheck when the build changed
LINT_FORMATTER="clang-format version 14" # other versions format differently
LINT_COMMITS=10 # that count as new if it is unknown what has landed

# ---- changed files

# Lets root read another user's tree.
history_of_tree() {
    git -c safe.directory='*' "$@"
}

# The base commit of changed files: PAYMENTS_LINT_BASE; else the point where this branch left its target branch; in a
# clone of the target branch itself, which has nothing to compare with, LINT_COMMITS ago. In a shorter history, such
# as a shallow clone's, all files are new.
lint_base() {
    local name base
    if [ -n "${PAYMENTS_LINT_BASE:-}" ]; then
        history_of_tree rev-parse --verify -q "$PAYMENTS_LINT_BASE^{commit}" || die "no such commit: $PAYMENTS_LINT_BASE"
        return
    fi
    for name in '@{upstream}' origin/HEAD origin/main main; do
        base=$(history_of_tree merge-base HEAD "$name" 2>/dev/null) || continue
        [ "$base" = "$(history_of_tree rev-parse HEAD)" ] || { echo "$base" && return; }
    done
    history_of_tree rev-parse --verify -q "HEAD~$LINT_COMMITS" || history_of_tree hash-object -t tree /dev/null
}

# lint_changed BASE: writes the names of files changed since, committed or not, to the file LINT_CHANGED.
lint_changed() {
    LINT_CHANGED=$OUT/lint-changed
    {
        history_of_tree diff --name-only --diff-filter=d "$1"
        history_of_tree ls-files --others --exclude-standard
    } | LC_ALL=C sort -u >"$LINT_CHANGED"
}

# Of the names on stdin, those to check.
due() {
    if [ -n "${LINT_CHANGED:-}" ]; then
        LC_ALL=C sort | LC_ALL=C comm -12 - "$LINT_CHANGED"
    else
        cat
    fi
}

# Of the .c files on stdin, those to compile: the changed ones, and the nearest that include a changed header.
due_units() {
    local headers
    if [ -n "${LINT_CHANGED:-}" ]; then
        mapfile -t headers < <(grep '\.h$' "$LINT_CHANGED")
        LC_ALL=C sort | LC_ALL=C comm -12 - <({ cat "$LINT_CHANGED" && tests_of includers "${headers[@]}"; } | LC_ALL=C sort -u)
    else
        cat
    fi
}

lint_build_changed() {
    grep -qE '(^|/)(Makefile\.am|configure\.ac|bootstrap)$|^m4/' "$LINT_CHANGED"
}

# ---- the parts

c_files() {
    find mod_payments tests/unit tests/bench tests/faults tests/fuzz -name '*.[ch]' | sort
}

lint_format() {
    { c_files; echo docs/example-connector.c; } | due | xargs -r clang-format --dry-run -Werror
}

# Without the headers of APR, which make it slow: the macros that it must understand are given. The two functions it
# warns of are called before other threads exist, and on a private handle.
lint_cppcheck() {
    find mod_payments -name '*.c' | due | xargs -r \
        cppcheck --quiet --error-exitcode=1 --std=c11 --inline-suppr --library=posix \
        --enable=warning,performance,portability --suppress=missingIncludeSystem \
        --suppress=getpwuidCalled --suppress=readdirCalled '-DAPR_STRINGIFY(n)=#n' \
        '-DAPR_INT64_T_FMT="ld"' '-DAPR_UINT64_T_FMT="lu"' '-DAPR_SIZE_T_FMT="lu"' \
        -j "$JOBS" -I mod_payments
}

lint_shell() {
    printf '%s\n' dev bootstrap .ci/run tests/*.sh tests/dev/*.sh tests/fuzz/*.sh share/clients/*.sh | due \
        | xargs -r -P "$JOBS" -n 1 shellcheck -x -S warning
}

lint_python() {
    { find tests -name '*.py' && find share -name '*.py' 2>/dev/null || true; } | due | xargs -r /usr/bin/python3 -c '
import ast, pathlib, sys
for path in sys.argv[1:]:
    ast.parse(pathlib.Path(path).read_text(), path)'
}

# The phrases of tests/check_words.sh, in texts for people.
lint_words() {
    { printf '%s\n' README.md CHANGES docs/openapi.json docs/paymentsctl.8 docs/*.md; find mod_payments -name '*.[ch]'
        find share/mail share/dashboard conf -type f; } | due | xargs -r tests/check_words.sh
}

# As in tests/Makefile.am and mod_payments/Makefile.am; each lists the flags of its own files.
# shellcheck disable=SC2016 # make's variables
LINT_FLAGS='$(DEFS) $(DEFAULT_INCLUDES) $(AM_CPPFLAGS) $(HTTPD_CPPFLAGS) $(AM_CFLAGS) $(CRYPTO_CFLAGS) $(CURL_CFLAGS)'

# lint_compile COMPILER...: compiles the files on stdin for warnings only, with the flags of build/normal.
lint_compile() {
    local files folder flags status=0
    files=$(cat)
    for folder in mod_payments tests; do
        flags=$(make -s --no-print-directory -C "$NORMAL/$folder" lint-flags --eval "lint-flags: ; @echo $LINT_FLAGS" \
            | tail -n 1) || return 1 # the last line: make may have to remake the Makefile first
        # shellcheck disable=SC2086 # flags are words
        { grep "^$folder/" <<<"$files" || true; } | sed "s,^,$TOP/," \
            | in_dir "$NORMAL/$folder" xargs -r -P "$JOBS" -n 1 "$@" $flags || status=1
    done
    return "$status"
}

# Warnings of another compiler, treated as errors.
lint_syntax() {
    c_files | grep '\.c$' | due_units | lint_compile clang -O1 -fsyntax-only -Werror -Wno-unknown-warning-option \
        -Qunused-arguments
}

lint_clang() {
    mkdir -p "$OUT/clang"
    [ "$OUT/clang/config.status" -nt configure ] \
        || in_dir "$OUT/clang" "$TOP/configure" CC=clang --enable-werror || return 1
    make -C "$OUT/clang" -j"$JOBS" all && make -C "$OUT/clang/tests" -j"$JOBS" check TESTS=
}

# gcc's own analyzer; only errors fail, its warnings are for reading.
lint_analyzer() {
    find mod_payments -name '*.c' | due_units | lint_compile gcc -O1 -fanalyzer -S -o /dev/null
}

# For changed files it checks that the archive contains everything to build and test; ./dev lint also runs the tests.
lint_distcheck() {
    make -C "$NORMAL" -j"$JOBS" distcheck ${LINT_CHANGED:+TESTS= DISTCHECK_CONFIGURE_FLAGS=CFLAGS=-O0}
}

# ---- the commands

# lint_parts NAME...: counts clean and failed parts in LINT_CLEAN and LINT_FAILED.
lint_parts() {
    local name
    LINT_CLEAN=0
    LINT_FAILED=0
    for name in "$@"; do
        declare -F "lint_$name" >/dev/null || die "no such part of lint: $name"
        if quiet "lint-$name.log" "$name" "lint_$name"; then
            say "$name: clean"
            LINT_CLEAN=$((LINT_CLEAN + 1))
        else
            LINT_FAILED=$((LINT_FAILED + 1))
        fi
    done
}

lint_analyzed() {
    say "the analyzer's warnings, if any, are in $LOGS/lint-analyzer.log"
}

dev_lint() {
    if [ "${1:-}" = changed ]; then
        [ $# -eq 1 ] || die "changed takes no parts"
        dev_test lint
        return
    fi
    packages test
    build_normal
    # shellcheck disable=SC2086 # names of parts are words
    [ $# -gt 0 ] || set -- $LINT_PARTS
    lint_parts "$@"
    lint_analyzed
    [ "$LINT_FAILED" -eq 0 ]
}

# lint_of FILE...: the quick parts, for these files only.
lint_of() {
    stage lint
    LINT_CHANGED=$OUT/lint-changed
    printf '%s\n' "$@" | LC_ALL=C sort -u >"$LINT_CHANGED"
    lint_parts format syntax shell python words
    count lint "$LINT_CLEAN" "$LINT_FAILED" "of what is changed"
    LINT_CHANGED=
}

stage_lint() {
    local base parts=$LINT_QUICK
    stage lint
    history_of_tree rev-parse -q --verify HEAD >/dev/null 2>&1 || {
        leave_out lint "there is no history here that tells what changed; ./dev lint looks at everything"
        return
    }
    base=$(lint_base)
    lint_changed "$base"
    ! lint_build_changed || parts="$parts distcheck"
    [[ $(clang-format --version) == *"$LINT_FORMATTER"* ]] || {
        say "format: left out, for this is no $LINT_FORMATTER"
        parts=${parts/format/}
    }
    # shellcheck disable=SC2086 # names of parts are words
    lint_parts $parts
    lint_analyzed
    count lint "$LINT_CLEAN" "$LINT_FAILED" "$(wc -l <"$LINT_CHANGED") files changed since ${base:0:7}"
    LINT_CHANGED=
}
