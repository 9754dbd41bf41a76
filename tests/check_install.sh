#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Where make install puts the module, the tool, its manual, the documents with their pictures, and the
# dashboard, with the charting library if configure found one.
set -euo pipefail
top=$(cd "${PAYMENTS_TOP:-$(dirname "$0")/..}" && pwd)
build=${PAYMENTS_BUILD:-$top/build/normal}
[ -e "$build/config.status" ] || {
    echo "check_install: $build is not configured"
    exit 1
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
faults=0
count=0

fault() {
    echo "$1"
    faults=$((faults + 1))
}

# run WHAT COMMAND...: shows the end of the output if the command fails.
run() {
    local what=$1
    shift
    "$@" >"$work/log" 2>&1 || {
        fault "$what failed:"
        tail -n 20 "$work/log"
    }
}

# variable NAME: its value as set by configure and read by make.
variable() {
    make -s -C "$build" --no-print-directory -f Makefile -f - show <<<"show: ; @echo '\$($1)'"
}

# installed DIRECTORY: each file that stdin names is there, identical to the one in the sources.
installed() {
    local dir=$work/root/$1 file
    while IFS= read -r file; do
        count=$((count + 1))
        cmp -s "$top/$file" "$dir/${file##*/}" || fault "$file is not installed in ${dir#"$work/root"}"
    done
}

# made DIRECTORY/FILE: it exists and is not empty.
made() {
    count=$((count + 1))
    [ -s "$work/root/$1" ] || fault "$1 is not installed"
}

# files DIRECTORY: lists its files.
files() { (cd "$top" && find "$1" -maxdepth 1 -type f ! -name chart_library.js ! -path '*/woocommerce/*/Payments.php' ! -name '*.8'); }

check_all() {
    local data doc library
    run "make install" make -C "$build" install DESTDIR="$work/root"
    data=$(variable datadir)/mod_payments
    doc=$(variable docdir)
    library=$(variable CHART_LIBRARY)
    made "$(variable apache_moduledir)/mod_payments.so"
    made "$(variable sbindir)/paymentsctl"
    installed "$(variable apache_includedir)" <<<mod_payments/acquirer/mod_payments.h
    installed "$(variable mandir)/man8" <<<docs/paymentsctl.8
    installed "$doc" < <(printf '%s\n' README.md CHANGES && files docs)
    installed "$doc/images" < <(files docs/images)
    installed "$data/mail" < <(files share/mail)
    installed "$data/clients" < <(files share/clients)
    installed "$data/woocommerce/mod-payments" < <(files share/woocommerce/mod-payments)
    cmp -s "$top/share/clients/Payments.php" <(sed '/^namespace ModPayments;$/d' "$work/root/$data/woocommerce/mod-payments/Payments.php") \
        || fault "the plugin's Payments.php is not the client library with a namespace"
    installed "$data/dashboard" < <(files share/dashboard)
    installed "$data/dashboard/assets" < <(files share/dashboard/assets)
    count=$((count + 1))
    if [ -n "$library" ]; then
        cmp -s "$library" "$work/root/$data/dashboard/assets/chart_library.js" \
            || fault "the dashboard has not got $library"
    else
        made "$data/dashboard/assets/chart_library.js"
    fi
}

# Sources that configure accepts. It refuses sources that were configured in place; of these, a copy without
# the files that configure and make left there.
sources() {
    if [ ! -e "$top/config.status" ]; then
        echo "$top"
        return
    fi
    mkdir "$work/sources"
    (cd "$top" && tar -cf - --exclude=config.status --exclude=config.h --exclude=stamp-h1 --exclude=libtool \
        --exclude=Makefile --exclude=chart_library.js --exclude='*.o' --exclude='*.lo' --exclude=.libs \
        --exclude=.deps --exclude=./build --exclude=./.git --exclude=./tests/fuzz/corpus .) \
        | tar -xf - -C "$work/sources"
    echo "$work/sources"
}

# configured OPTION: runs configure in a directory of its own; its output is in the log. It is told what the build's
# configure found out about compiler and libraries, and asked for no files of dependencies: nothing is compiled there.
configured() {
    rm -rf "$work/build"
    mkdir "$work/build"
    [ -e "$work/cache" ] || sed -n '/^## Cache variables/,/^## Output variables/p' "$build/config.log" \
        | sed -n "/_cv_env_/d; /_cv_[A-Za-z0-9_]*='[^']*'\$/p" >"$work/cache"
    (cd "$work/build" && "$sources/configure" --cache-file="$work/cache" --disable-dependency-tracking "$1") >"$work/log" 2>&1
}

check_charts() {
    local asset=share/dashboard/assets/chart_library.js sources
    sources=$(sources)
    mkdir "$work/charts" "$work/other"
    echo '/*! * Chart.js v4.4.0 */' >"$work/charts/chart.min.js"
    echo '/*! * Chart.js v2.9.4 */' >"$work/other/chart.min.js"
    count=$((count + 3))
    configured "--with-charts=$work/charts" || fault "--with-charts=DIR is refused"
    run "the page's library" make -C "$work/build" "$asset"
    cmp -s "$work/charts/chart.min.js" "$work/build/$asset" || fault "--with-charts=DIR is not what is copied"
    configured --without-charts || fault "--without-charts is refused"
    run "the page's library" make -C "$work/build" "$asset"
    grep -qs 'the tables say the same' "$work/build/$asset" || fault "--without-charts copies a library"
    ! configured "--with-charts=$work/other" || fault "a Chart.js that is too old is taken"
    grep -q 'install libjs-chart.js' "$work/log" || fault "configure does not say which Chart.js it wants"
}

check_all
check_charts
echo "check_install: $count things, $faults faults"
[ "$faults" -eq 0 ]
