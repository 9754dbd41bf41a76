# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The budgets of stages, and the report at the end of a run.

RESULTS=$OUT/results
STAGES_TOLD=stages   # in RESULTS: a line per stage: name, number of cases run, passed and failed, seconds
SUMMARY_TOLD=summary # in RESULTS: lines that the end of the run repeats

# The running command, whose stages are in PLAN, and whether it runs all of them.
COMMAND=
WHOLE=0

# The seconds that each stage of a whole `./dev test`, and the whole run, take on two otherwise idle cores, in a clone
# where nothing is built yet (nobody waits for the end of ./dev faults); and the least number of cases of each, for
# root and for an ordinary user, who cannot run root's. Lint includes distcheck here; without it, it takes a minute.
# Scripts include check_selftest and check_runner, which run only if a script changed.
PLAN='
test   lint         180     5     5
test   scripts      200    10    10
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

OVER_PERCENT=150 # of its budget: longer is too long
BUSY_PERCENT=20  # of the machine used by others: the time of a stage is not judged

# The machine of these budgets did the fixed work of yardstick.py in this many milliseconds of processor time, measured
# at the start of every stage, so with the other lanes running. On a slower machine, or with a neighbour on the same
# core, budgets are longer by the same factor, up to STRETCH_PERCENT_MAX.
YARDSTICK_MS=190
YARDSTICK_TOLD=pace # in RESULTS: its times, one per line
STRETCH_PERCENT_MAX=200

budget() { # NAME
    awk -v run="$COMMAND" -v name="$1" '$1 == run && $2 == name && $3 != "-" { print $3 }' <<<"$PLAN"
}

least() { # NAME
    awk -v run="$COMMAND" -v name="$1" -v user="$(id -u)" \
        '$1 == run && $2 == name { print (user != 0 && NF > 4 ? $5 : $4) }' <<<"$PLAN"
}

CLOCK_TICKS=$(getconf CLK_TCK 2>/dev/null || echo 100)

# Processor time of all processes started from here: on a busy machine it says more than a clock. A lane counts its
# own processes.
cpu_seconds() {
    awk -v ticks="$CLOCK_TICKS" '{ print int(($16 + $17) / ticks) }' "/proc/${LANE:-$$}/stat"
}

# Processor time of all processes, and the time that the host took away.
machine_seconds() {
    awk -v ticks="$CLOCK_TICKS" '$1 == "cpu" { print int(($2 + $3 + $4 + $7 + $8 + $9) / ticks) }' /proc/stat
}

machine_cores() {
    grep -c '^cpu[0-9]' /proc/stat
}

measure_pace() {
    [ "$WHOLE" -eq 0 ] || /usr/bin/python3 "$TOP/tests/dev/yardstick.py" >>"$RESULTS/$YARDSTICK_TOLD"
}

# stretch_percent: the percentage of a budget that this machine may use.
stretch_percent() {
    awk -v quick="$YARDSTICK_MS" -v most="$STRETCH_PERCENT_MAX" '
        { sum += $1 }
        END {
            percent = NR ? int(100 * sum / NR / quick) : 100
            print (percent < 100 ? 100 : percent > most ? most : percent)
        }' "$RESULTS/$YARDSTICK_TOLD"
}

# others_percent SECONDS CPU: the share of the machine that other processes used during a run with these times.
# Orphans that init reaps, such as those of killed servers, count as others.
others_percent() {
    local all=$(($(machine_seconds) - RUN_MACHINE))
    echo $((100 * (all > $2 ? all - $2 : 0) / (($1 > 0 ? $1 : 1) * $(machine_cores))))
}

# True if only some of the cases were requested.
is_subset() {
    local name
    for name in PYTEST_ADDOPTS PAYMENTS_MPM CK_RUN_SUITE CK_RUN_CASE CK_INCLUDE_TAGS CK_EXCLUDE_TAGS ONLY LEFT_OUT TSAN_ONLY; do
        [ -z "${!name:-}" ] || return 0
    done
    return 1
}

# too_few NAME RAN: if a stage has lost cases, prints this and returns true.
too_few() {
    local least
    least=$(least "$1")
    ! is_subset && [ "$2" -lt "${least:-0}" ] && echo "too few cases: $2 ran, and there are at least $least. "
}

# too_long SECONDS: prints the stages that exceeded their budgets, and the whole run if its SECONDS did, one per line;
# only in a whole run.
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

# judge_times SECONDS CPU: of the whole run, which is judged only if it had the machine to itself. Each stage that took
# too long is a failure.
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

# tell LINE: prints it now and at the end.
tell() {
    printf '%s\n' "$1" >>"$RESULTS/$SUMMARY_TOLD"
    say "$1"
}

# count NAME PASSED FAILED NOTE: a stage that ran no cases or lost some has failed.
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

# leave_out NAME WHY: a stage that cannot run here is not counted, which is also reported at the end.
leave_out() {
    tell "$(printf '%-14s left out: %s' "$1" "$2")"
}

# begin COMMAND: starts a run of stages or parts.
begin() {
    COMMAND=$1
    RUN_START=$SECONDS
    RUN_MACHINE=$(machine_seconds)
    rm -rf "$RESULTS"
    mkdir -p "$RESULTS"
    touch "$RESULTS/$STAGES_TOLD" "$RESULTS/$SUMMARY_TOLD" "$RESULTS/$YARDSTICK_TOLD"
}

# sum_of FIELD: the sum over all stages.
sum_of() {
    awk -v field="$1" '{ sum += $field } END { print sum + 0 }' "$RESULTS/$STAGES_TOLD"
}

# summary: ends a command of stages; its status says whether all passed.
summary() {
    local passed budget="" seconds=$((SECONDS - RUN_START)) cpu stretch said
    cpu=$(cpu_seconds)
    passed=$(sum_of 3)
    FAILED=$(sum_of 4)
    say ""
    said=$(/usr/bin/python3 "$TOP/tests/dev/report.py" "$RESULTS")
    [[ $said != *$'\n'* ]] || say "${said%$'\n'*}"
    cat "$RESULTS/$SUMMARY_TOLD"
    judge_times "$seconds" "$cpu"
    stretch=$(stretch_percent)
    [ "$stretch" -eq 100 ] || say "This machine needs $stretch % of the budgets' time for a fixed piece of work: budgets are longer by as much."
    [ "$WHOLE" -eq 0 ] || budget=$(budget whole)
    say "$seconds s${budget:+ of $budget} in all, $cpu s of CPU"
    say "${said##*$'\n'}"
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
