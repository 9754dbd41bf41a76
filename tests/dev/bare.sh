# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# ./dev test bare: the commands of README.md, on a Debian 12 with only its base. Each machine is a directory in
# build/bare, and its processes have their own namespaces: when they end, or this script is killed, all of their
# processes and mounts disappear, and no others. The network is this machine's.

BARE=$OUT/bare
BARE_KEPT=$BARE/kept # logs and results of the machines, which are removed
BARE_DEBS=$BARE/debs # packages that were fetched before
BARE_SUITE=bookworm
BARE_MIRROR=http://deb.debian.org/debian # if this machine's apt names no mirror of that suite
BARE_PARTS="run test make-check"
BARE_TREE=root/mod_payments # in a private home, as a checkout often is

# The namespace that runs now; killing it ends everything in it.
BARE_RUNNING=

# bare_inside COMMAND...: a command of machine.sh. env restores the signals that a background job would ignore.
bare_inside() {
    local status=0
    env --default-signal=INT,QUIT setpriv --pdeathsig KILL \
        unshare --mount --pid --ipc --fork --kill-child=KILL --propagation private \
        bash "$TOP/tests/dev/machine.sh" "$@" </dev/null 9>&- &
    BARE_RUNNING=$!
    wait "$BARE_RUNNING" || status=$?
    BARE_RUNNING=
    return "$status"
}

bare_end() {
    if [ -n "$BARE_RUNNING" ]; then
        kill -KILL "$BARE_RUNNING" 2>/dev/null || true
        wait "$BARE_RUNNING" 2>/dev/null || true
        say "stopped"
    fi
    bare_remove newcomer
    bare_remove builder
}

# No mount of a machine is visible from here; if one is, it is left alone.
bare_remove() { # NAME
    rm -rf --one-file-system "${BARE:?}/$1" "$BARE/$1.settings"
}

# ---- settings that the machines take from this one: the sources of packages, and the way to them

# The addresses of SUITE and its updates in this machine's apt, as `deb` lines.
bare_sources() {
    local uri release component line found=
    while IFS='|' read -r uri release component; do
        case $uri:$release:$component in
            http*:"$BARE_SUITE":main | http*:"$BARE_SUITE"-updates:main | http*:"$BARE_SUITE"-security:main)
                line="deb $uri $release main"
                case $found in *"$line"*) continue ;; esac
                found+="$line"$'\n'
                ;;
        esac
    done < <(apt-get indextargets --format '$(REPO_URI)|$(RELEASE)|$(COMPONENT)' 'Created-By: Packages' 2>/dev/null)
    case $found in
        *" $BARE_SUITE main"*) ;;
        *) found="deb $BARE_MIRROR $BARE_SUITE main"$'\n' ;;
    esac
    printf '%s' "$found"
}

# Proxies, and how strictly dates are checked; nobody is there to answer questions.
bare_apt() {
    apt-config dump 2>/dev/null | grep -E '^Acquire::(https?::|Check-|Retries)' || true
    echo 'APT::Get::Assume-Yes "true";'
}

bare_npmrc() {
    local file
    for file in "$(npm config get globalconfig 2>/dev/null)" "${HOME:-/root}/.npmrc"; do
        [ ! -f "$file" ] || sed -e '$a\' "$file"
    done
}

bare_environment() {
    local name
    for name in http_proxy https_proxy HTTP_PROXY HTTPS_PROXY no_proxy NO_PROXY PAYMENTS_NO_BROWSER; do
        [ -z "${!name:-}" ] || printf '%s=%s\n' "$name" "${!name}"
    done
}

# The files that machine.sh copies into a machine; other users must not see a proxy's name or password.
bare_settings() { # DIRECTORY
    (
        umask 077
        mkdir -p "$1/certificates"
        bare_sources >"$1/sources.list"
        bare_apt >"$1/apt.conf"
        bare_npmrc >"$1/npmrc"
        bare_environment >"$1/environment"
        # Certificate authorities that this machine trusts besides Debian's: a proxy may have one.
        cp /usr/local/share/ca-certificates/*.crt "$1/certificates/" 2>/dev/null || true
    )
}

# ---- machines and parts

# bare_machine NAME: a fresh one, with a clone of HEAD.
bare_machine() {
    local name=$1 root=$BARE/$1 mirror
    bare_remove "$name"
    mkdir -p "$root" "$BARE_DEBS/partial"
    bare_settings "$root.settings"
    mirror=$(sed -nE "s/^deb ([^ ]+) $BARE_SUITE main\$/\\1/p" "$root.settings/sources.list" | head -n 1)
    say "$name: a machine with the base of Debian ($BARE_SUITE) from $mirror, about a minute"
    quiet "bare-$name.log" "$name: the base system" \
        bare_inside make "$root" "$BARE_SUITE" "$mirror" "$BARE_DEBS" || return 1
    # git requires explicit consent to run as root in another user's tree.
    quiet "bare-clone.log" "$name: a clone of HEAD" \
        git -c safe.directory='*' clone --no-hardlinks -c advice.detachedHead=false "$TOP" "$root/$BARE_TREE"
}

# bare_do NAME COMMAND [WHAT]: in the clone on machine NAME.
bare_do() {
    say "$1: ${3:-$2}"
    bare_inside run "$BARE/$1" "$BARE_DEBS" "/$BARE_TREE" "$2"
}

bare_keep() { # NAME FILES...: of its tree
    local name=$1 tree=$BARE/$1/$BARE_TREE file
    shift
    mkdir -p "$BARE_KEPT/$name"
    for file in "$@"; do
        [ ! -e "$tree/$file" ] || cp -R "$tree/$file" "$BARE_KEPT/$name/"
    done
}

# bare_count PART STATUS LOG PATTERN: the last matching line of LOG is the part's own summary.
bare_count() {
    local said
    said=$(grep -E "$4" "$3" | tail -n 1) || true
    if [ "$2" -eq 0 ] && [ -n "$said" ]; then
        count "$1" 1 0 "$said"
    else
        count "$1" 0 1 "${said:-it did not get to its end}; see $BARE_KEPT"
    fi
}

# bare_part PART MACHINE COMMAND PATTERN [WHAT]: shows and keeps the output.
bare_part() {
    local log=$RESULTS/$1/log tee status=0
    stage "$1"
    mkfifo "$log.pipe"
    tee "$log" <"$log.pipe" &
    tee=$!
    bare_do "$2" "$3" "${5:-}" >"$log.pipe" 2>&1 || status=$?
    wait "$tee"
    rm "$log.pipe"
    bare_count "$1" "$status" "$log" "$4"
}

# The default port of ./dev run; it may be in use in this machine's network.
bare_run_command() {
    local port=8080
    until port_free "$port" >/dev/null; do
        port=$((port + 1))
    done
    if [ "$port" -eq 8080 ]; then
        echo "./dev run && ./dev stop"
    else
        echo "./dev run --port $port && ./dev stop"
    fi
}

bare_newcomer() {
    [ -d "$BARE/newcomer" ] || bare_machine newcomer || die "no machine could be made"
}

bare_run() {
    bare_newcomer
    bare_part run newcomer "$(bare_run_command)" '^stopped$'
}

bare_test() { # [STAGE]
    bare_newcomer
    bare_part "${1:-test}" newcomer "./dev test ${1:-}" '^[0-9]+ passed, [0-9]+ failed$'
    bare_keep newcomer build/log build/results
}

# The counts of automake, and the skipped tests with the missing tools.
BARE_COUNTED='sed -nE "/^(SKIP: |FAIL: |left out: |check_.* not installed)/p" tests/test-suite.log
sed -nE "s/^# (TOTAL|PASS|SKIP|FAIL|ERROR): +/\1 /p" tests/test-suite.log | paste -sd,'

# README's lines for Debian as printed there, with the library that `make check` requires.
bare_readme() {
    echo "set -e; trap '$BARE_COUNTED' EXIT; apt-get update"
    echo "$(sed -n '/^    apt-get install /,/[^\\]$/p' README.md) check"
    sed -n '/^    \.\/bootstrap$/,/^$/p' README.md
}

bare_make_check() {
    bare_machine builder || die "no machine could be made"
    bare_part make-check builder "$(bare_readme)" '^TOTAL [0-9]+,' "README's apt-get install, then bootstrap to make install"
    bare_keep builder config.log tests/test-suite.log
    bare_remove builder
}

# ---- the command

# bare_cannot: prints why it cannot run here, and returns true.
bare_cannot() {
    local mirror
    if [ "$(id -u)" -ne 0 ]; then
        echo "it wants root, for it mounts file systems"
        return
    fi
    mirror=$(bare_sources | sed -nE "s/^deb ([^ ]+) $BARE_SUITE main\$/\\1/p" | head -n 1)
    ! curl -sfL --max-time 30 -o /dev/null "${mirror%/}/dists/$BARE_SUITE/Release" \
        && echo "$mirror, where Debian's packages come from, does not answer"
}

bare_prepare() {
    [ "$(id -u)" -eq 0 ] || die "bare wants root, for it mounts file systems: sudo ./dev test bare"
    packages bare
    mkdir -p "$BARE"
    exec 9>"$BARE/lock"
    flock -n 9 || die "another ./dev test bare is at work in this tree"
    [ -z "$(git -c safe.directory='*' status --porcelain)" ] \
        || say "What is not committed here is not in the clone of HEAD, and is not tested."
    trap bare_end EXIT
    trap 'exit 129' HUP
    trap 'exit 130' INT
    trap 'exit 143' TERM
    RESULTS=$BARE_KEPT
    begin bare
    bare_remove newcomer
}

dev_bare() {
    local name
    # shellcheck disable=SC2086 # names of parts are words
    [ $# -gt 0 ] || set -- $BARE_PARTS
    for name in "$@"; do
        case " $BARE_PARTS $STAGES " in
            *" $name "*) ;;
            *) die "no such part: $name; there are: $BARE_PARTS, and the stages of ./dev test: $STAGES" ;;
        esac
    done
    bare_prepare
    for name in "$@"; do
        case $name in
            run) bare_run ;;
            test) bare_test ;;
            make-check) bare_make_check ;;
            *) bare_test "$name" ;;
        esac
    done
    summary
}
