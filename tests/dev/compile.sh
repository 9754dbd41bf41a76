# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# From a checkout to a module.

# A Makefile.am is not among them: each tree's own make handles its changes, in seconds.
inputs_newer_than() {
    [ -n "$(find configure.ac m4/pay_flags.m4 bootstrap -newer "$1")" ]
}

bootstrap_tree() {
    if [ ! -e configure ] || [ ! -e Makefile.in ] || inputs_newer_than configure; then
        quiet bootstrap.log "bootstrap" ./bootstrap
    fi
}

# The shell of configure, libtool and make's recipes: with a small one, such as Debian's, a build takes a third less.
export CONFIG_SHELL=/bin/sh

# tree DIR TARGET OPTIONS...: configures DIR if necessary, and builds the module's TARGET.
tree() {
    local dir=$1 target=$2 name=${1##*/}
    shift 2
    [ ! -e "$TOP/config.status" ] || die "this tree was configured in place: run 'make distclean' first"
    mkdir -p "$dir"
    if [ ! -e "$dir/config.status" ] || [ configure -nt "$dir/config.status" ]; then
        quiet "$name-configure.log" "configure ($name)" in_dir "$dir" "$TOP/configure" "$@" || return 1
    fi
    quiet "$name-make.log" "build ($name)" make -C "$dir/mod_payments" -j"$JOBS" "$target"
}

in_dir() (
    cd "$1" && shift && "$@"
)

build_normal() {
    bootstrap_tree && tree "$NORMAL" all || exit 1
}

# The flags of trees that only tools use: a compiler that optimizes as in users' builds takes nearly twice as long.
TOOL_FLAGS='-O1 -g1'

# Status 1 if it cannot be built: the other tests continue.
build_sanitize() {
    bootstrap_tree && tree "$SANITIZE" all --enable-sanitizers --enable-werror CFLAGS="$TOOL_FLAGS"
}

# The library and the programs that tsan_programs names under ThreadSanitizer, without the module.
build_tsan() {
    bootstrap_tree && tree "$TSAN" libpayments.a --enable-thread-sanitizer --enable-werror CFLAGS="$TOOL_FLAGS" || return 1
    tsan_programs | build_some "$TSAN" top_libs=
}

# build_unit TREE: builds everything that `make check` runs, without running it.
build_unit() {
    quiet "${1##*/}-unit.log" "build of the unit tests (${1##*/})" make -C "$1/tests" -j"$JOBS" check \
        TESTS=
}

# build_some TREE VARIABLES...: builds unit/some_tests from the unit programs that stdin names.
build_some() {
    local tree=$1 some list=$1/tests/unit/some_tests.list
    shift
    some=$(tr '\n' ' ')
    [ "$(cat "$list" 2>/dev/null)" = "$some" ] || rm -f "$tree/tests/unit/some_tests"
    quiet "${tree##*/}-some.log" "build of some unit tests (${tree##*/})" make -C "$tree/tests" -j"$JOBS" \
        SOME="$some" "$@" unit/some_tests && echo "$some" >"$list"
}

# programs_named PATTERN: of the unit programs.
programs_named() {
    find tests/unit -name 'test_*.c' | sed 's,.*/,,; s,\.c$,,' | grep -xP "$1" | sort
}

# build_loaded TREE: builds the other files that tests of the running server need.
build_loaded() {
    quiet "${1##*/}-loaded.log" "build of what servers load (${1##*/})" make -C "$1/tests" -j"$JOBS" loaded
}

dev_build() {
    [ $# -eq 0 ] || die "build takes no arguments"
    packages run
    build_normal
    say "module:      $NORMAL/mod_payments/.libs/mod_payments.so"
    say "paymentsctl: $NORMAL/mod_payments/paymentsctl"
}
