# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# ./dev lint.

c_files() {
    find mod_payments tests/unit tests/bench tests/faults tests/fuzz -name '*.[ch]' | sort
}

lint_format() {
    { c_files; echo docs/example-connector.c; } | xargs clang-format --dry-run -Werror
}

# Without the headers of APR, which make it slow: the macros that it must understand are given. The
# two functions it warns of are called where no other thread is, and on a handle of one's own.
lint_cppcheck() {
    # shellcheck disable=SC2046 # file names are words
    cppcheck --quiet --error-exitcode=1 --std=c11 --inline-suppr --library=posix \
        --enable=warning,performance,portability --suppress=missingIncludeSystem \
        --suppress=getpwuidCalled --suppress=readdirCalled '-DAPR_STRINGIFY(n)=#n' \
        '-DAPR_INT64_T_FMT="ld"' '-DAPR_UINT64_T_FMT="lu"' '-DAPR_SIZE_T_FMT="lu"' \
        -j "$JOBS" -I mod_payments $(find mod_payments -name '*.c')
}

lint_shell() {
    shellcheck -x -S warning dev bootstrap .ci/run tests/*.sh tests/dev/*.sh tests/fuzz/*.sh
}

lint_python() {
    /usr/bin/python3 - <<'PY'
import ast, pathlib
for path in sorted(pathlib.Path("tests").rglob("*.py")):
    ast.parse(path.read_text(), str(path))
PY
}

lint_clang() {
    mkdir -p "$OUT/clang"
    [ "$OUT/clang/config.status" -nt configure ] \
        || in_dir "$OUT/clang" "$TOP/configure" CC=clang --enable-werror || return 1
    make -C "$OUT/clang" -j"$JOBS" all && make -C "$OUT/clang/tests" -j"$JOBS" check TESTS=
}

# gcc's own analyzer; its warnings are for reading, so it has the last word only on errors.
lint_analyzer() {
    mkdir -p "$OUT/analyzer"
    [ "$OUT/analyzer/config.status" -nt configure ] \
        || in_dir "$OUT/analyzer" "$TOP/configure" CC=gcc CFLAGS='-O1 -g -fanalyzer' || return 1
    make -C "$OUT/analyzer" clean && make -C "$OUT/analyzer" -j"$JOBS" all
}

lint_distcheck() {
    make -C "$NORMAL" distcheck
}

dev_lint() {
    local name failed=0
    packages lint
    build_normal
    [ $# -gt 0 ] || set -- format cppcheck shell python clang analyzer distcheck
    for name in "$@"; do
        declare -F "lint_$name" >/dev/null || die "no such part of lint: $name"
        if quiet "lint-$name.log" "$name" "lint_$name"; then
            say "$name: clean"
        else
            failed=1
        fi
    done
    say "the analyzer's warnings, if any, are in $LOGS/lint-analyzer.log"
    return $failed
}
