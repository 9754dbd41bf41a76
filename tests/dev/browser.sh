# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The stage browser of ./dev test: the pages that people see, in Chromium, as people use them.

SHOTS=$OUT/browser # pictures of pages, for a person to look at

chromium_path() {
    command -v chromium || command -v chromium-browser
}

# Installs Chromium where possible, with the fonts for the pages.
get_chromium() {
    local prefix
    chromium_path >/dev/null && return
    command -v apt-get >/dev/null && prefix=$(root_prefix) || return 1
    say "installing: chromium"
    quiet chromium.log "installation" apt_install "$prefix" chromium fonts-dejavu-core || true
    chromium_path >/dev/null
}

# The number in a line "# pass 12" of node's summary; 0 without a summary.
tap_count() { # LOG WORD
    local number
    number=$(sed -nE "s/^# $2 ([0-9]+)\$/\\1/p" "$1" 2>/dev/null | tail -n 1) || true
    echo "${number:-0}"
}

# run_browser STAGE ENVIRONMENT... -- FILES: node's own runner, one file after the other; each has its own server
# and browser.
run_browser() {
    local stage=$1 copy env=()
    shift
    while [ "$1" != -- ]; do
        env+=("$1")
        shift
    done
    shift
    build_pages && copy=$(stage_copy "$NORMAL") || return 1
    (
        cd "$copy/tests/browser" && umask 022 && env TMPDIR="$copy/tmp" PAYMENTS_BUILD="$copy/build" \
            PAYMENTSCTL="$copy/build/mod_payments/paymentsctl" HOME="$copy/home" \
            PAYMENTS_CHROMIUM="$(chromium_path)" PYTHONDONTWRITEBYTECODE=1 "${env[@]}" \
            timeout "$BROWSER_SECONDS_MAX" node --test --test-concurrency=1 --test-reporter=tap "$@"
    ) 2>&1 | browser_progress "$stage" "$RESULTS/$stage/tap.log" || true
    rm -rf "$copy"
}

BROWSER_SECONDS_MAX=1800

# The dashboard's pages as installed, with the charting library.
build_pages() {
    quiet pages.log "the dashboard's pages" make -C "$NORMAL" all-am
}

# Prints every half minute how many tests are done; a failed test at once.
browser_progress() { # STAGE LOG
    local line done=0 told=$SECONDS begun=$SECONDS
    while IFS= read -r line; do
        printf '%s\n' "$line" >&3
        [[ $line =~ ^\ *(not\ )?ok\  ]] || continue
        done=$((done + 1))
        [[ ! $line =~ ^\ *not\ ok ]] || say "$1: $line"
        if [ $((SECONDS - told)) -ge 30 ]; then
            say "$1: $done tests after $((SECONDS - begun)) s"
            told=$SECONDS
        fi
    done 3>"$2"
}

stage_browser() { # [FILE...]
    local log=$RESULTS/browser/tap.log passed failed
    stage browser
    if [ -n "${PAYMENTS_NO_BROWSER:-}" ]; then
        leave_out browser "PAYMENTS_NO_BROWSER is set; no page was looked at"
        return
    fi
    get_chromium || {
        count browser 0 1 "Chromium is not here and cannot be installed; PAYMENTS_NO_BROWSER=1 leaves this stage out"
        return
    }
    node_packages browser "$NORMAL/browser" "what drives Chromium" || {
        count browser 0 1 "npm could not install what drives Chromium; see $LOGS/npm-browser.log"
        return
    }
    rm -rf "$SHOTS"
    mkdir -p "$SHOTS"
    if build_loaded "$NORMAL"; then
        run_browser browser PAYMENTS_SHOTS="$SHOTS" -- "$@"
    fi
    passed=$(tap_count "$log" pass)
    failed=$(($(tap_count "$log" fail) + $(tap_count "$log" cancelled)))
    if [ "$failed" -gt 0 ]; then
        say "the failures in $log:"
        grep -E -A 25 '^ *not ok ' "$log" | head -n 120
    fi
    count browser "$passed" "$failed" \
        "Chromium $(version_of "Chromium " "$(chromium_path)" --version), $(tap_count "$log" skipped) skipped; pictures in ${SHOTS#"$TOP/"}"
}

# ./dev pictures: the same account at the same time, so that only real changes look different.
dev_pictures() {
    [ $# -eq 0 ] || die "pictures takes no arguments"
    packages test
    build_normal
    get_chromium || die "Chromium is not here and cannot be installed"
    node_packages api "$NORMAL/node" "what signatures are verified with" || exit 1
    node_packages browser "$NORMAL/browser" "what drives Chromium" || exit 1
    build_loaded "$NORMAL" && build_pages || exit 1
    mkdir -p "$TOP/docs/images"
    PAYMENTS_BUILD=$NORMAL PAYMENTSCTL=$NORMAL/mod_payments/paymentsctl PAYMENTS_CHROMIUM=$(chromium_path) \
        PAYMENTS_SHOTS=$TOP/docs/images PYTHONDONTWRITEBYTECODE=1 node tests/browser/pictures.mjs
}
