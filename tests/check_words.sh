#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Plain English for readers: the phrases below are not used in the documentation, in strings of the source, and in the dashboard,
# pages and mails, and in the comments of C files. The style is: subject, verb, present tense; if, returns, sets, logs, fails.
# With files as arguments, these only.
set -euo pipefail
cd "${PAYMENTS_TOP:-$(dirname "$0")/..}"

# An extended regular expression in lower case, a bar, what to write instead. A word stands between characters that are not letters: < and >.
# Doubtful phrases do not belong here: a hit must be a fault.
phrases() {
    cat <<'PHRASES'
<(tells|told)>|says, reports, logs, returns, prints, shows; a person is notified
<tells? (of|that)>|reports
<to be told>|to be reported
[^e] (is|are|was|were|be) none[.,;:)]|does not exist, is not one
<(is|are) none (of|that)>|is not one of
<what is (no|not|none|other|pending|due|kept|held|asked|said|sealed|delivered|refused|to be)>|a noun: pending payments, due events
<what was (begun|asked|stored|kept|told|said|done|put)>|a noun
<what (becomes|became) of>|the outcome, the result, the state of
<what (it|he|she|they|one) (is|are|was|were) told>|a noun
(^|[.:;] )who (has|is|sends|asks|wants|holds|gives|pays|presses|comes|takes|opens|writes|looks) [^?]*[.;]|a client that, anyone who, a payer who
<(as|for|than|but|and) who (has|is|sends|asks|wants|holds|gives|pays|comes)>|as a client that
<as the next>|like the next one
<all the same>|anyway, still
<but for>|except for
<anew>|again
<(mend|mends|mended|mending)>|fix, correct, repair
<such a one>|one of this kind
<as such>|as it is
<save (for|what|where|that)>|except
<by whom>|by which, name the actor
<so long as>|as long as
<wherefore|thereof|whereof|therein|thereby>|shorter words
[^e] is no (directory|file|link|number|url|key|key id|network|charge|refund|account|page|word|text|address|member|object|checkout|operation|call)>|is not a
<are no (calls?|keys?|files?|links?|operations?)>|are not
<there (is|are|was|were) none>|none exists, it has none, it does not exist
<has none such>|does not know it, does not have it
<given back>|refunded, returned
<(gives|give) back the money>|refunds
<put back from>|restored from
<in (the )?place of (it|them|that|those|401|a table)>|instead
<has to say>|must
<goes before>|takes precedence, has priority
<have (their|its) say>|count
<asked about (again|all)>|queried again
<(a|the) desk>|the dispatcher
<is looked (at|after|for) again>|is checked again
<lies on>|is on
<lay links>|put links
PHRASES
}

documents() { find README.md CHANGES docs/*.md docs/paymentsctl.8 2>/dev/null || true; }
texts() { find share/mail share/dashboard conf \( -name '*.html' -o -name '*.txt' -o -name '*.js' -o -name '*.conf' \) 2>/dev/null || true; }
sources() { find mod_payments -name '*.[ch]' 2>/dev/null || true; }

# Of files on stdin the C files whose comments are held to the list. Of tests, and of the example, no strings are read.
commented() {
    grep -E '\.[ch]$' || true
}

# "file:line:text", a paragraph in one line, without blocks of code and words in backticks.
paragraphs() {
    awk '
    function finish() { if (text != "") print file ":" first ":" text; text = "" }
    FNR == 1 { finish(); file = FILENAME; fenced = 0 }
    /^(```|~~~)/ { finish(); fenced = !fenced; next }
    fenced || /^(    |\t)/ || /^\.\\"/ { finish(); next }
    /^[ \t]*$/ || /^\.(TP|PP|IP|SS|SH)/ { finish(); next }
    /^ *([-*|#]|[0-9]+\.) ?/ { finish() }
    {
        line = $0
        gsub(/`[^`]*`/, "`", line)
        sub(/^\.[A-Z]+ /, "", line)
        if (text == "") first = FNR
        text = text (text == "" ? "" : " ") line
    }
    END { finish() }' "$@"
}

lines() { awk '/^ *(\/\/|\*|\/\*|import )/ { next } { print FILENAME ":" FNR ":" $0 }' "$@"; }

# "file:line:text" of C: each string, joined with those that follow it; or each comment.
strings() {
    awk -v comments="${1:-}" '
    function finish() { if (text != "") print file ":" first ":" text; text = "" }
    FNR == 1 { finish(); file = FILENAME; inside = 0 }
    {
        line = $0
        while (line != "") {
            if (inside) {
                at = index(line, "*/")
                part = at ? substr(line, 1, at - 1) : line
                line = at ? substr(line, at + 2) : ""
                sub(/^ *\*/, "", part)
                if (comments) text = text " " part
                if (at) { inside = 0; if (comments) finish() }
            } else if (match(line, /"([^"\\]|\\.)*"|\/\*|\/\//)) {
                before = substr(line, 1, RSTART - 1)
                token = substr(line, RSTART, RLENGTH)
                line = substr(line, RSTART + RLENGTH)
                if (!comments && before ~ /[^ \t\\]/ && before !~ /^ *(PAYLOGNO\([0-9]+\)|APR_[A-Z0-9_]+) *$/) finish()
                if (token == "/*") { inside = 1; if (comments) { finish(); first = FNR } }
                else if (token == "//") line = ""
                else if (!comments) {
                    if (text == "") first = FNR
                    text = text substr(token, 2, length(token) - 2)
                }
            } else {
                if (!comments && line ~ /[^ \t\\]/) finish()
                line = ""
            }
        }
    }
    END { finish() }' "${@:2}"
}

# Of "file:line:text" on stdin those with a phrase.
judge() {
    awk -v table="$1" '
    BEGIN {
        while ((getline line < table) > 0) {
            at = index(line, "|")
            # The last bar divides: an expression may have others.
            while (match(substr(line, at + 1), /\|/)) at += RSTART
            expression = substr(line, 1, at - 1)
            gsub(/</, "(^|[^a-z])", expression)
            gsub(/>/, "([^a-z]|$)", expression)
            count++
            phrase[count] = expression
            instead[count] = substr(line, at + 1)
        }
    }
    {
        place = $0
        sub(/^[^:]*:[0-9]+:/, "", place)
        text = tolower(place)
        gsub(/sealed anew/, "", text) # a detail of the audit, which is data
        place = substr($0, 1, length($0) - length(place))
        for (i = 1; i <= count; i++) {
            if (match(text, phrase[i])) {
                said = substr(text, RSTART, RLENGTH)
                gsub(/^[^a-z]+|[^a-z]+$/, "", said)
                print place " \"" said "\": write: " instead[i]
            }
        }
    }'
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
phrases >"$work/phrases"
if [ $# -gt 0 ]; then
    printf '%s\n' "$@" >"$work/files"
else
    { documents; texts; sources; } | sort >"$work/files"
fi
{ [ $# -gt 0 ] || find tests docs -name '*.[ch]' 2>/dev/null || true; cat "$work/files"; } | sort -u | commented >"$work/commented"
{
    mapfile -t some < <({ documents; [ $# -eq 0 ] || printf '%s\n' "$@"; } | grep -E '\.md$|^README|^CHANGES|\.8$' | sort -u | grep -Fx -f "$work/files")
    [ ${#some[@]} -eq 0 ] || paragraphs "${some[@]}"
    mapfile -t some < <(grep -E '^(share|conf)/.*\.(html|txt|js|conf)$' "$work/files")
    [ ${#some[@]} -eq 0 ] || lines "${some[@]}"
    mapfile -t some < <(grep -E '\.[ch]$' "$work/files")
    [ ${#some[@]} -eq 0 ] || strings "" "${some[@]}"
    mapfile -t some <"$work/commented"
    [ ${#some[@]} -eq 0 ] || strings comments "${some[@]}"
    # Of the OpenAPI document the texts for people.
    grep -Fxq docs/openapi.json "$work/files" || [ $# -eq 0 ] && [ -e docs/openapi.json ] &&
        grep -nE '"(description|summary|title)":' docs/openapi.json | sed 's/^/docs\/openapi.json:/'
} >"$work/texts" || true
[ -s "$work/texts" ] || [ $# -gt 0 ] || {
    echo "check_words: found nothing to check"
    exit 1
}
judge "$work/phrases" <"$work/texts" >"$work/found"
cat "$work/found"
echo "check_words: $(wc -l <"$work/files") files, $(wc -l <"$work/found") faults"
[ ! -s "$work/found" ]
