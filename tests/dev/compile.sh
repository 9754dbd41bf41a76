# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# From a checkout to a module.

# A Makefile.am is not among them: each tree's own make follows what changed there, in seconds.
inputs_newer_than() {
    [ -n "$(find configure.ac m4/pay_flags.m4 bootstrap -newer "$1")" ]
}

bootstrap_tree() {
    if [ ! -e configure ] || [ ! -e Makefile.in ] || inputs_newer_than configure; then
        quiet bootstrap.log "bootstrap" ./bootstrap
    fi
}

# The shell of configure, libtool and make's recipes: where it is a small one, as Debian's, a build takes a third less.
export CONFIG_SHELL=/bin/sh

# tree DIR TARGET OPTIONS...: configures DIR when that is due, and builds the module's TARGET.
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

# The flags of trees that tools look at: a compiler that optimizes as users' does takes nearly twice as long.
TOOL_FLAGS='-O1 -g1'

# Status 1 when it cannot be built: the rest of the tests goes on.
build_sanitize() {
    bootstrap_tree && tree "$SANITIZE" all --enable-sanitizers --enable-werror CFLAGS="$TOOL_FLAGS"
}

# The library and the programs that tsan_programs names under ThreadSanitizer, without the module: make is told
# to leave the other programs out of the binary.
build_tsan() {
    local objects
    objects=$(tsan_programs | sed 's,.*,unit/&.o,' | tr '\n' ' ')$(shared_objects)
    bootstrap_tree && tree "$TSAN" libpayments.la --enable-thread-sanitizer --enable-werror CFLAGS="$TOOL_FLAGS" || return 1
    rm -f "$TSAN/tests/unit/unit_tests"
    quiet tsan-unit.log "build of the unit tests (tsan)" make -C "$TSAN/tests" -j"$JOBS" \
        unit_unit_tests_OBJECTS="$objects" top_libs= unit/unit_tests
}

# What every one of them is linked with.
shared_objects() {
    find tests/unit -name '*.c' ! -name 'test_*' | sed 's,^tests/,,; s,\.c$,.o,' | tr '\n' ' '
}

dev_build() {
    [ $# -eq 0 ] || die "build takes no arguments"
    packages run
    build_normal
    say "module:      $NORMAL/mod_payments/.libs/mod_payments.so"
    say "paymentsctl: $NORMAL/mod_payments/paymentsctl"
}
