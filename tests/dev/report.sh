# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What a stage is held to, and what a run tells at its end.

RESULTS=$OUT/results
STAGES_TOLD=stages   # in RESULTS: a line of each: its name, how many cases it ran, passed and failed, its seconds
SUMMARY_TOLD=summary # in RESULTS: what the end of the run tells again

# The command that runs, whose stages PLAN knows, and whether it runs all of them.
COMMAND=
WHOLE=0

# How many seconds each stage of a whole `./dev test`, and the whole of it, takes on two cores that do nothing else,
# in a clone where nothing is built yet (nobody waits for the end of ./dev faults); and how many cases each has at
# least, for root and for an ordinary user, for whom root's are not. Lint is with distcheck here; without, it takes a
# minute. Scripts are with check_selftest and check_runner, which only a change of a script brings.
PLAN='
test   lint         180     5     5
test   scripts      280    10    10
test   demo          75    13    13
test   unit         320  8700  8700
test   unit-plain    80   520   520
test   valgrind      120   190   190
test   tsan         150   420   420
test   fuzz-replay   60   535   535
test   faults       320   118   106
test   api          150  1000   980
test   browser      300   127   127
test   api-sanitize 500  4900  4900
test   whole        600     -     -
faults property       -     1
faults unit           -  7900
faults api            -  6600
faults sanitize       -  4030
faults long           -     4
faults faults         -   105
faults tsan           -  6500
faults valgrind       -  6000
faults scripts        -    11
faults lint           -     8
faults clients        -    20
faults bench          -     1
faults bare           -     1'

OVER_PERCENT=150 # of its budget is too long
BUSY_PERCENT=20  # of the machine taken by others: nothing is said of how long a stage took

# The budgets' machine did the fixed work of yardstick.py in so many milliseconds of a processor, taken at the start
# of every stage, so with the other lanes beside it. On a slower one, or with a neighbour on the same core, budgets
# are longer by as much, at most by STRETCH_PERCENT_MAX.
YARDSTICK_MS=190
YARDSTICK_TOLD=pace # in RESULTS: what it took, one a line
STRETCH_PERCENT_MAX=200

budget() { # NAME
    awk -v run="$COMMAND" -v name="$1" '$1 == run && $2 == name && $3 != "-" { print $3 }' <<<"$PLAN"
}

least() { # NAME
    awk -v run="$COMMAND" -v name="$1" -v user="$(id -u)" \
        '$1 == run && $2 == name { print (user != 0 && NF > 4 ? $5 : $4) }' <<<"$PLAN"
}

# What all that was run from here has taken of the processors: on a machine that is busy with other
# things it says more than a clock. A lane counts its own.
cpu_seconds() {
    awk -v ticks="$(getconf CLK_TCK)" '{ print int(($16 + $17) / ticks) }' "/proc/${LANE:-$$}/stat"
}

# What everyone has taken of them, and what their host took away.
machine_seconds() {
    awk -v ticks="$(getconf CLK_TCK)" '$1 == "cpu" { print int(($2 + $3 + $4 + $7 + $8 + $9) / ticks) }' /proc/stat
}

machine_cores() {
    grep -c '^cpu[0-9]' /proc/stat
}

measure_pace() {
    [ "$WHOLE" -eq 0 ] || /usr/bin/python3 "$TOP/tests/dev/yardstick.py" >>"$RESULTS/$YARDSTICK_TOLD"
}

# stretch_percent: of a budget, what this machine is given.
stretch_percent() {
    awk -v quick="$YARDSTICK_MS" -v most="$STRETCH_PERCENT_MAX" '
        { sum += $1 }
        END {
            percent = NR ? int(100 * sum / NR / quick) : 100
            print (percent < 100 ? 100 : percent > most ? most : percent)
        }' "$RESULTS/$YARDSTICK_TOLD"
}

# others_percent SECONDS CPU: of the machine, what others had during a run that took so much. What it leaves to
# init to wait for, as servers that are killed do, counts as theirs.
others_percent() {
    local all=$(($(machine_seconds) - RUN_MACHINE))
    echo $((100 * (all > $2 ? all - $2 : 0) / (($1 > 0 ? $1 : 1) * $(machine_cores))))
}

# A part of the cases was asked for.
is_subset() {
    local name
    for name in PYTEST_ADDOPTS PAYMENTS_MPM CK_RUN_SUITE CK_RUN_CASE CK_INCLUDE_TAGS CK_EXCLUDE_TAGS ONLY LEFT_OUT TSAN_ONLY; do
        [ -z "${!name:-}" ] || return 0
    done
    return 1
}

# too_few NAME RAN: says so, and is true, when a stage has lost cases.
too_few() {
    local least
    least=$(least "$1")
    ! is_subset && [ "$2" -lt "${least:-0}" ] && echo "too few cases: $2 ran, and there are at least $least. "
}

# too_long SECONDS: the stages that took longer than they should, and the whole that took so many, one a line, which
# only a whole run tells.
too_long() {
    local name seconds budget stretch
    [ "$WHOLE" -eq 1 ] || return 0
    stretch=$(stretch_percent)
    while read -r name _ _ _ seconds; do
        budget=$(budget "$name")
        [ $((100 * 100 * seconds)) -le $((OVER_PERCENT * stretch * ${budget:-seconds})) ] \
            || echo "$name took too long: $seconds s are more than $((OVER_PERCENT * stretch / 100)) % of its $budget s"
    done < <(cat "$RESULTS/$STAGES_TOLD" && echo "whole - - - $1")
}

# judge_times SECONDS CPU: of the whole run, which must have had the machine to itself to be judged. Each stage that
# took too long is a failure.
judge_times() {
    local slow others
    slow=$(too_long "$1")
    others=$(others_percent "$1" "$2")
    if [ -z "$slow" ]; then
        return
    elif [ "$(machine_cores)" -lt 2 ]; then
        slow="$(sed 's/$/, which is not judged on one core/' <<<"$slow")"
    elif [ "$others" -gt "$BUSY_PERCENT" ]; then
        slow="$(sed "s/\$/, which is not judged: the machine was busy, others had $others % of it/" <<<"$slow")"
    else
        FAILED=$((FAILED + $(wc -l <<<"$slow")))
    fi
    say "$slow"
}

# tell LINE: now, and at the end.
tell() {
    printf '%s\n' "$1" >>"$RESULTS/$SUMMARY_TOLD"
    say "$1"
}

# count NAME PASSED FAILED NOTE: a stage that ran nothing has failed, and so has one that lost cases.
count() {
    local budget said passed=$2 failed=$3 note=$4 ran=$(($2 + $3)) seconds=$((SECONDS - STAGE_START))
    if [ "$ran" -eq 0 ]; then
        failed=1
        note="nothing was run. $note"
    elif [ "$failed" -eq 0 ] && said=$(too_few "$1" "$ran"); then
        failed=1
        note=$said$note
    fi
    echo "$1 $ran $passed $failed $seconds" >>"$RESULTS/$STAGES_TOLD"
    budget=$(budget "$1")
    tell "$(printf '%-14s %5d passed, %3d failed  %4d s%s, %4d s of CPU  %s' "$1" "$passed" "$failed" \
        "$seconds" "${budget:+ of $budget}" $(($(cpu_seconds) - STAGE_CPU)) "$note")"
}

# leave_out NAME WHY: a stage that cannot be run here counts for nothing, and says so at the end too.
leave_out() {
    tell "$(printf '%-14s left out: %s' "$1" "$2")"
}

# begin COMMAND: a run of stages or parts.
begin() {
    COMMAND=$1
    RUN_START=$SECONDS
    RUN_MACHINE=$(machine_seconds)
    rm -rf "$RESULTS"
    mkdir -p "$RESULTS"
    touch "$RESULTS/$STAGES_TOLD" "$RESULTS/$SUMMARY_TOLD" "$RESULTS/$YARDSTICK_TOLD"
}

# sum_of FIELD: over the stages.
sum_of() {
    awk -v field="$1" '{ sum += $field } END { print sum + 0 }' "$RESULTS/$STAGES_TOLD"
}

# summary: what ends a command of stages; its status says whether all passed.
summary() {
    local passed budget="" seconds=$((SECONDS - RUN_START)) cpu stretch
    cpu=$(cpu_seconds)
    passed=$(sum_of 3)
    FAILED=$(sum_of 4)
    say ""
    /usr/bin/python3 "$TOP/tests/dev/report.py" slowest "$RESULTS"
    cat "$RESULTS/$SUMMARY_TOLD"
    judge_times "$seconds" "$cpu"
    stretch=$(stretch_percent)
    [ "$stretch" -eq 100 ] || say "This machine needs $stretch % of the budgets' time for a fixed piece of work: budgets are longer by as much."
    [ "$WHOLE" -eq 0 ] || budget=$(budget whole)
    say "$seconds s${budget:+ of $budget} in all, $cpu s of CPU"
    /usr/bin/python3 "$TOP/tests/dev/report.py" cases "$RESULTS"
    say "$passed passed, $FAILED failed"
    [ "$FAILED" -eq 0 ] && [ "$passed" -gt 0 ]
}

stage() { # NAME
    STAGE_START=$SECONDS
    STAGE_CPU=$(cpu_seconds)
    rm -rf "${RESULTS:?}/$1"
    mkdir -p "$RESULTS/$1"
    measure_pace
}
