#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every relative link of README.md and docs/*.md leads to a file of the tree, and to a heading if it names one.
# Every page of docs is linked from docs/index.md, and a page that begins with "On this page" leads to each of its headings there.
set -euo pipefail
cd "${PAYMENTS_TOP:-$(dirname "$0")/..}"

index=docs/index.md

# The anchors of a page, as GitHub makes them: lower case, no punctuation, hyphens for blanks, -1, -2 ... for repetitions.
anchors() {
    awk '
    /^(```|~~~)/ { fenced = !fenced }
    !fenced && /^#+ / {
        text = tolower($0)
        sub(/^#+ +/, "", text)
        gsub(/\]\([^)]*\)/, "", text)
        gsub(/[^a-z0-9 _-]/, "", text)
        gsub(/ /, "-", text)
        print seen[text]++ ? text "-" (seen[text] - 1) : text
    }' "$1"
}

# "line target" of each link and picture of a page, except in code and except addresses of other sites.
links() {
    awk '
    /^(```|~~~)/ { fenced = !fenced; next }
    fenced || /^    / { next }
    {
        line = $0
        gsub(/`[^`]*`/, "", line)
        while (match(line, /\]\([^() ]+\)/)) {
            target = substr(line, RSTART + 2, RLENGTH - 3)
            line = substr(line, RSTART + RLENGTH)
            if (target !~ /^[a-z]+:/) print FNR, target
        }
    }' "$1"
}

# Headings of the second level that the page's list of them, if it has one, does not lead to.
unlisted() {
    local listed headings
    listed=$(sed -n '/^On this page:/,/^$/p' "$1" | grep -oE '\(#[^)]+\)' | tr -d '(#)') || return 0
    headings=$(grep -E '^## ' "$1" | sed 's/^##/#/')
    anchors <(echo "$headings") | paste -d '|' - <(echo "$headings") | while IFS='|' read -r anchor heading; do
        grep -qxF -- "$anchor" <<<"$listed" || echo "${heading#\# }"
    done
}

faults=0
count=0
fault() {
    echo "$*"
    faults=$((faults + 1))
}

declare -A known seen indexed # "PAGE#ANCHOR"; pages whose anchors are known; pages that the index links
anchor_is_known() { # PAGE ANCHOR
    local anchor
    [ -n "${seen[$1]:-}" ] || while IFS= read -r anchor; do
        known["$1#$anchor"]=1
    done < <(anchors "$1")
    seen[$1]=1
    [ -n "${known["$1#$2"]:-}" ]
}

for page in README.md docs/*.md; do
    [ -e "$page" ] || continue
    while read -r line target; do
        count=$((count + 1))
        [ "$page" != "$index" ] || indexed[$target]=1
        file=${target%%#*}
        anchor=
        [ "$file" = "$target" ] || anchor=${target#*#}
        path=$page
        if [ -n "$file" ]; then
            path=$file
            [ "$page" = "${page##*/}" ] || path=${page%/*}/$file
        fi
        if [ ! -e "$path" ]; then
            fault "$page:$line: $target: there is no such file"
        elif [ -n "$anchor" ]; then
            anchor_is_known "$path" "$anchor" || fault "$page:$line: $target: there is no such heading"
        fi
    done < <(links "$page")
done
for page in README.md docs/*.md; do
    [ -e "$page" ] || continue
    while read -r heading; do
        fault "$page: \"On this page\" does not lead to the heading $heading"
    done < <(unlisted "$page")
done
for page in docs/*.md; do
    [ "$page" = "$index" ] || [ -n "${indexed[${page#docs/}]:-}" ] || fault "$page: not linked from $index"
done
# The rules of docs/store.md are named by their numbers.
rules=$(sed -nE 's/^([0-9]+)\. \*\*.*/\1/p' docs/store.md)
[ "$rules" = "$(seq "$(wc -l <<<"$rules")")" ] || fault "docs/store.md: the rules are not numbered 1, 2, 3 and so on: ${rules//$'\n'/ }"
while IFS=: read -r file rule; do
    grep -qx "$rule" <<<"$rules" || fault "$file: docs/store.md has no rule $rule"
done < <(grep -roE 'store\.md\)?, rule [0-9]+' mod_payments docs | sed 's/:.* /:/')
[ "$count" -gt 0 ] || fault "check_links: found no link"
echo "check_links: $count links, $faults faults"
[ "$faults" -eq 0 ]
