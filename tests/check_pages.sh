#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The dashboard's pages and the payment page's style sheet: no text becomes markup, nothing is loaded from
# other sites, every module exists, and code that needs no browser passes tests/pages. With names as arguments,
# only these parts.
set -euo pipefail
cd "${PAYMENTS_TOP:-$(dirname "$0")/..}"

LINES_MAX=400
CSS_LINES_MAX=600
COLUMNS_MAX=100
PARTS="markup modules form tokens node"
PAGES=share/dashboard
# make builds it from the library that configure found; it is not ours.
LIBRARY=chart_library.js
# Code that turns a text into markup, script or styles. The policy allows `\.style` and `cssText`, but
# appearance belongs in the style sheets.
MARKUP='innerHTML|outerHTML|insertAdjacentHTML|setHTML|document\.write|DOMParser|createContextualFragment'
SCRIPT='\beval\b|\bnew Function\b|\bsetTimeout\([^(]*["`'"'"']|javascript:|importScripts|<script'
STYLE='\.style\b|cssText|<style|setAttribute\(.style'
# A page's scripts and styles are files, it has no inline handlers, and all addresses are its own.
INLINE='<style|[[:space:]]style=|[[:space:]]on[a-z]+=|<script>|<script[^>]*>[^<]|<base'
# Hosts that a page may contain: of a namespace and of an example.
HOSTS='www\.w3\.org|shop\.example'

modules() { find "$PAGES/assets" -name '*.js' ! -name "$LIBRARY" | sort; }
sheets() { find "$PAGES/assets" share/checkout -name '*.css' | sort; }
pages() { find "$PAGES" -name '*.html' | sort; }

faults=0
fault() {
    echo "$1"
    faults=$((faults + 1))
}

# faults_of WORDS: each line of stdin is a fault.
faults_of() {
    local line
    while IFS= read -r line; do
        fault "$line: $1"
    done
}

found=$({ modules; sheets; pages; } 2>/dev/null | wc -l) || true
[ -e "$PAGES/index.html" ] && [ -e "$PAGES/assets/app.js" ] && [ "$(sheets | wc -l)" -gt 1 ] || {
    echo "check_pages: found nothing to check"
    exit 1
}

part_markup() {
    faults_of "makes markup, script or styles" < <(modules | xargs grep -nE "$MARKUP|$SCRIPT|$STYLE")
    faults_of "inline script or style" < <(pages | xargs grep -niE "$INLINE")
    faults_of "names another host" < <({ modules; sheets; pages; } \
        | xargs grep -noE 'https?://[A-Za-z0-9.-]+' | grep -vE "//($HOSTS)\$")
    faults_of "fetches something" < <(sheets | xargs grep -nE '@import|url\(')
}

part_modules() {
    local file name
    while IFS=: read -r file name; do
        [ -e "$PAGES/assets/$name" ] || [ "$name" = "$LIBRARY" ] \
            || fault "$file: imports $name, which is not there"
    done < <(modules | xargs grep -oE "(from|import\() ?'\./[a-z0-9_.]+'" | sed -E "s,:.*\./,:,; s,'\$,,")
    while IFS= read -r name; do
        [ -e "$PAGES/assets/$name.js" ] || fault "router.js: $name.js is not there"
    done < <(grep -oE "'page_[a-z_]+'" "$PAGES/assets/router.js" | tr -d "'")
    while IFS= read -r name; do
        [ -e "$PAGES/$name" ] || fault "index.html: $name is not there"
    done < <(grep -oE '"assets/[^"]+"' "$PAGES/index.html" | tr -d '"')
}

part_form() {
    local file
    while IFS= read -r file; do
        head -n 1 "$file" | grep -q 'SPDX-License-Identifier: Apache-2.0' || fault "$file: no licence"
    done < <(modules; sheets)
    faults_of "form" < <({ modules; sheets; pages; } | xargs awk -v max="$COLUMNS_MAX" '
        length($0) > max { printf "%s:%d: more than %d columns\n", FILENAME, FNR, max }
        /\t/ { printf "%s:%d: a tab\n", FILENAME, FNR }
        /[ \r]$/ { printf "%s:%d: white space at the end\n", FILENAME, FNR }')
    faults_of "too long" < <(modules | xargs awk -v max="$LINES_MAX" 'FNR == max + 1 { print FILENAME }')
    faults_of "too long" < <(sheets | xargs awk -v max="$CSS_LINES_MAX" 'FNR == max + 1 { print FILENAME }')
}

# Only tokens.css defines colours and sizes, and every name that a sheet uses is defined there.
part_tokens() {
    local tokens=$PAGES/assets/tokens.css
    faults_of "belongs into tokens.css" < <(sheets | grep -vxF "$tokens" | xargs grep -nE '^ *--[a-z0-9-]+:')
    faults_of "not in tokens.css" < <(
        comm -23 <(sheets | xargs grep -hoE 'var\(--[a-z0-9-]+' | cut -d'(' -f2 | sort -u) \
            <(grep -oE '^ +--[a-z0-9-]+' "$tokens" | tr -d ' ' | sort -u)
    )
}

# Node treats the files of a directory as modules if its package.json says so.
part_node() {
    local work
    work=$(mktemp -d)
    # shellcheck disable=SC2064 # this directory, not what the name holds later
    trap "rm -rf '$work'" EXIT
    cp -R "$PAGES/assets" "$work/assets"
    chmod -R u+w "$work"
    echo '{"type": "module"}' >"$work/assets/package.json"
    # One process names the modules that cannot be parsed; node says more about each of them.
    # shellcheck disable=SC2046 # file names are words
    while IFS= read -r file; do
        node --check "$work/assets/$(basename "$file")" >"$work/log" 2>&1 || true
        fault "$file: $(head -n 5 "$work/log")"
    done < <(node --no-warnings --experimental-vm-modules -e '
        for (const file of process.argv.slice(1)) {
            try {
                new vm.SourceTextModule(fs.readFileSync(file, "utf8"));
            } catch {
                console.log(file);
            }
        }' $(modules) 2>&1)
    PAGES=$work/assets/ node --test --test-reporter=tap tests/pages/test_*.mjs >"$work/log" 2>&1 || {
        grep -vE '^ *(#|ok|---|\.\.\.|duration_ms|type:)' "$work/log" | head -n 60
        fault "tests/pages: failed"
    }
    passed=$(sed -nE 's/^# pass ([0-9]+)$/\1/p' "$work/log")
    [ "${passed:-0}" -gt 0 ] || fault "tests/pages: ran nothing"
}

passed=0
# shellcheck disable=SC2086 # names of parts are words
[ $# -gt 0 ] || set -- $PARTS
for part in "$@"; do
    if [ "$part" = node ] && ! command -v node >/dev/null; then
        [ "$faults" -gt 0 ] || {
            echo "check_pages: $found files, but node, which runs tests/pages, is not installed"
            exit 77 # to automake: left out
        }
    else
        "part_$part"
    fi
done
echo "check_pages: $found files, $passed tests, $faults faults"
[ "$faults" -eq 0 ]
