#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The house style, as far as a script can check it. With names as arguments, only these parts.
set -euo pipefail
cd "${PAYMENTS_TOP:-$(dirname "$0")/..}"

C_LINES_MAX=800
TEST_LINES_MAX=800
H_LINES_MAX=250
COLUMNS_MAX=100
FUNCTION_LINES_MAX=70
PARTS="sizes columns functions headers registered lognumbers provoked licence forbidden"

c_files() { find mod_payments tests -name '*.[ch]' ! -path '*/.*' | sort; }
sources() { find mod_payments -name '*.c' | sort; }
scripts() { find dev bootstrap .ci/run tests -type f \( -name '*.sh' -o -name '*.py' -o ! -name '*.*' \) \
    ! -path '*/.*/*' ! -perm /000 2>/dev/null; }

# ---- parts: each prints its faults, one per line

lines_above() { # MAX FILE...
    local max=$1
    shift
    [ $# -eq 0 ] || awk -v max="$max" 'FNR == max + 1 { print FILENAME ": more than " max " lines" }' "$@"
}

part_sizes() {
    local sources headers tests
    mapfile -t sources < <(find mod_payments -name '*.c')
    mapfile -t headers < <(find mod_payments tests -name '*.h')
    mapfile -t tests < <(find tests -name '*.c' -o -name '*.py' -o -name '*.sh')
    lines_above "$C_LINES_MAX" "${sources[@]}"
    lines_above "$H_LINES_MAX" "${headers[@]}"
    lines_above "$TEST_LINES_MAX" "${tests[@]}"
}

part_columns() {
    c_files | xargs awk -v max="$COLUMNS_MAX" '
        /\t/ { printf "%s:%d: a tab\n", FILENAME, FNR }
        /[ \t\r]$/ { printf "%s:%d: white space at the end\n", FILENAME, FNR }
        length($0) > max { printf "%s:%d: more than %d columns\n", FILENAME, FNR, max }'
}

# A function extends from the first line of its head to the closing brace in the first column.
part_functions() {
    c_files | xargs awk -v max="$FUNCTION_LINES_MAX" '
        FNR == 1 { head = 0; inside = 0 }
        !inside && /^[A-Za-z_]/ && !head { head = FNR; name = $0 }
        !inside && (/^$/ || /^[}#\/]/ || /;$/) { head = 0 }
        /^\{/ { inside = 1; if (!head) { head = FNR; name = $0 } }
        inside && /^\}/ {
            if (FNR - head + 1 > max) printf "%s:%d: %d lines: %s\n", FILENAME, head, FNR - head + 1, name
            inside = 0; head = 0
        }'
}

# The flags that configure would find.
compile_flags() {
    local apxs
    if [ -n "${PAYMENTS_CPPFLAGS:-}" ]; then
        echo "$PAYMENTS_CPPFLAGS"
        return
    fi
    apxs=$(command -v apxs || command -v apxs2)
    echo "$(pkg-config --cflags apr-1 apr-util-1 check) -I$("$apxs" -q INCLUDEDIR)"
}

# compile_alone FLAGS HEADER...: of each header only a file that includes it. One compiler compiles them all, because
# half of the time would pass in starting one for each.
compile_alone() {
    local flags=$1 header files=()
    shift
    for header in "$@"; do
        files+=("$COMPILED/${header//\//-}.c")
        printf '#include "%s"\ntypedef int not_empty;\n' "$header" >"${files[-1]}"
    done
    # shellcheck disable=SC2086
    ${CC:-cc} -std=c11 -Wall -Wextra -Werror -fsyntax-only -I. -Imod_payments $flags "${files[@]}"
}

# Those of a group with a fault are compiled one by one.
part_headers() {
    local flags headers header
    flags=$(compile_flags)
    COMPILED=$(mktemp -d)
    mapfile -t headers < <(find mod_payments tests/unit -name '*.h' | sort)
    [ ${#headers[@]} -eq 0 ] || compile_alone "$flags" "${headers[@]}" >/dev/null 2>&1 || for header in "${headers[@]}"; do
        compile_alone "$flags" "$header" 2>&1 || echo "$header: does not compile alone"
    done
    rm -rf "$COMPILED"
}

part_registered() {
    find tests/unit -name 'test_*.c' | sort | xargs awk '
        function finish(    test) {
            for (test in tests) if (!(test in known)) print file ": " test " is not registered"
            if (file != "" && !count) print file ": has no test"
            if (file != "" && !program) print file ": is no UNIT_PROGRAM, so that nobody runs it"
            split("", tests); split("", known); count = 0; program = 0
        }
        FNR == 1 { finish(); file = FILENAME; pending = "" }
        match($0, /^START_TEST\([A-Za-z0-9_]+\)/) { tests[substr($0, 12, RLENGTH - 12)]; count++ }
        /^UNIT_PROGRAM/ { program = 1 }
        { text = pending $0; pending = "" }
        text ~ /tcase_add_[a-z_]*test[a-z_]*\($/ || text ~ /tcase_add_[a-z_]*test[a-z_]*\([^,]*,$/ { pending = text; next }
        match(text, /tcase_add_[a-z_]*test[a-z_]*\([^,]*,[ \t]*[A-Za-z0-9_]+/) {
            name = substr(text, RSTART, RLENGTH); sub(/.*,[ \t]*/, "", name); known[name]
        }
        END { finish() }'
}

part_lognumbers() {
    local used
    used=$(sources | xargs grep -ohE 'PAYLOGNO\([0-9A-Za-z]*\)') || true
    grep -vE '^PAYLOGNO\([0-9]{5}\)$' <<<"$used" | sed 's/$/: want five digits/' | grep -v '^:' || true
    sort <<<"$used" | uniq -d | sed 's/$/: used twice/'
    sources | xargs grep -nE '(pay_log|ap_log_[a-z]?error)\(' -A 3 | awk '
        # A call has its number in its first lines; a call without a number is reported by its file.
        /(pay_log|ap_log_[a-z]?error)\(/ { if (open != "" && !found) print open ": no PAYLOGNO"; open = $1; found = 0 }
        /PAYLOGNO\(/ { found = 1 }
        /^--$/ { if (open != "" && !found) print open ": no PAYLOGNO"; open = "" }
        END { if (open != "" && !found) print open ": no PAYLOGNO" }' | grep -v 'base/log\.c\|call/httpd_log\.c' || true
}

# Log lines that tests expect, without those that may but need not appear: expectations of the harness, and the lists
# that they consist of.
said_of_lines() {
    find tests/unit tests/api tests/faults tests/browser -type f \
        \( -name '*.[ch]' -o -name '*.py' -o -name '*.mjs' \) ! -name test_expectation.py -print0 | sort -z | xargs -0 awk '
        FNR == 1 { list = 0 }
        !list && /^[A-Z_]*(TROUBLE|DIED|CUT|COMMIT|OUTCOME|GONE|NEVER_WAS|FULL_DISK|KILLED|UNKNOWN)[A-Z_]* = / {
            list = 1
            depth = 0
        }
        !list && !/expect_log\(|\.expect\(|.expect., .PAY/
        list { depth += gsub(/\(/, "") - gsub(/\)/, ""); list = depth > 0 || /\\$/ }'
}

# A test asserts the number of each log line.
part_provoked() {
    comm -23 <(sources | xargs grep -ohE 'PAYLOGNO\([0-9]{5}\)' | grep -oE '[0-9]{5}' | sort -u) \
        <(said_of_lines | grep -ohE 'PAY[0-9]{5}' | grep -oE '[0-9]{5}' | sort -u) \
        | sed 's/.*/PAY&: no test names it/'
}

part_licence() {
    { c_files; find tests share -name '*.py' -o -name '*.sh' -o -name '*.php' -o -name Makefile.am; ls dev bootstrap .ci/run \
        configure.ac Makefile.am mod_payments/Makefile.am m4/pay_flags.m4; } | xargs awk '
        function finish() { if (file != "" && !licensed) print file ": no licence line" }
        FNR == 1 { finish(); file = FILENAME; licensed = 0 }
        FNR <= 2 && index($0, "SPDX-License-Identifier: Apache-2.0") { licensed = 1 }
        FNR == 1 && file ~ /\.[ch]$/ && $0 != "/* SPDX-License-Identifier: Apache-2.0 */" {
            print file ": the first line is not the licence line"
        }
        FNR == 2 { nextfile }
        END { finish() }'
    find mod_payments tests \( -name '*.[ch]' -o -name '*.py' -o -name '*.sh' \) ! -path '*/.*' -empty | sed 's/$/: no licence line/'
}

part_forbidden() {
    c_files | xargs grep -nE \
        '(^|[^A-Za-z0-9_])(strcpy|strcat|sprintf|vsprintf|strtok|gets|gmtime|localtime|asctime|ctime|system|popen|alloca|tmpnam|mktemp)\(' \
        || true
    c_files | xargs grep -nwE 'TODO|FIXME|APLOGNO' || true
    c_files | xargs grep -niE 'not implemented|placeholder' || true
}

# ----

[ -n "$(c_files)" ] && [ -n "$(sources)" ] || {
    echo "check_style: found nothing to check"
    exit 1
}
faults=0
# shellcheck disable=SC2086 # names of parts are words
[ $# -gt 0 ] || set -- $PARTS
for part in "$@"; do
    found=$("part_$part" 2>&1) || {
        echo "check_style: the part $part could not be run"
        faults=$((faults + 1))
    }
    if [ -n "$found" ]; then
        echo "$found" | sed "s/^/$part: /"
        faults=$((faults + $(wc -l <<<"$found")))
    fi
done
echo "check_style: $(c_files | wc -l) files, $faults faults"
[ "$faults" -eq 0 ]
