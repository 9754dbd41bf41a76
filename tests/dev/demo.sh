# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# ./dev run and ./dev stop: a private Apache with an account to try.

RUN=${PAYMENTS_RUN:-$OUT/run} # tests use another one
PIDFILE=$RUN/httpd.pid
KEYS=$RUN/keys
ACCOUNT=demo
PERSON=demo          # the user of the dashboard
WAIT_SECONDS=30

# ---- the server

# The server's user if this runs as root: httpd refuses to serve as root.
server_user() {
    local user
    for user in www-data apache nobody daemon; do
        if id "$user" >/dev/null 2>&1; then
            echo "$user"
            return
        fi
    done
    die "there is no user www-data, apache, nobody or daemon for the server to run as"
}

reachable_by() { # USER DIRECTORY
    setpriv --reuid "$(id -u "$1")" --regid "$(id -g "$1")" --clear-groups test -x "$2"
}

# Points $RUN/public at a directory that the server's user can reach; it contains the store, and the dashboard is
# the only part of it that is served.
public_dir() {
    local dir
    if [ -d "$RUN/public" ]; then
        return
    fi
    rm -f "$RUN/public"
    if [ "$(id -u)" -eq 0 ] && ! reachable_by "$(server_user)" "$RUN"; then
        dir=$(mktemp -d /var/tmp/mod_payments-XXXXXXXX)
        chmod 711 "$dir"
        ln -s "$dir" "$RUN/public"
    else
        mkdir "$RUN/public"
        chmod 711 "$RUN/public"
    fi
}

# The loadable ones of these modules; the others are built into httpd.
load_lines() {
    local name libexec
    libexec=$(apxs -q LIBEXECDIR)
    for name in "$@"; do
        if [ -e "$libexec/mod_$name.so" ]; then
            echo "LoadModule ${name}_module $libexec/mod_$name.so"
        fi
    done
}

write_config() { # PORT NONCE
    cat <<CONF
ServerRoot "$RUN"
ServerName localhost
Listen 127.0.0.1:$1
PidFile "$PIDFILE"
DefaultRuntimeDir "$RUN"
Mutex file:$RUN default
$(load_lines mpm_event unixd log_config authn_core authz_core authn_file authz_user auth_basic reqtimeout watchdog http2)
LoadModule payments_module "$NORMAL/mod_payments/.libs/mod_payments.so"
$([ "$(id -u)" -ne 0 ] || printf 'User %s\nGroup %s\n' "$(server_user)" "$(id -gn "$(server_user)")")
StartServers 2
ServerLimit 2
ThreadsPerChild 64
MaxRequestWorkers 128
ErrorLog "$RUN/error.log"
LogLevel warn payments:info
LogFormat "%h %u %t \"%r\" %>s %B %{PAYMENTS_REFERENCE}e %{PAYMENTS_ACCOUNT}e %{PAYMENTS_MODE}e %{PAYMENTS_KEY_ID}e" payments
CustomLog "$RUN/access.log" payments
RequestReadTimeout header=20-40,MinRate=500 body=20,MinRate=500
Protocols h2c http/1.1
DocumentRoot "$PUBLIC/empty"
<Location "/nonce.txt">
    ErrorDocument 404 "$2"
</Location>
<VirtualHost 127.0.0.1:$1>
    PaymentsEngine On
    PaymentsStore lmdb:$PUBLIC/store
    PaymentsDashboard /payments-dashboard
    PaymentsDashboardFiles "$PUBLIC/dashboard"
    <Location "/payments-dashboard">
        AuthType Basic
        AuthName "The dashboard of this demo"
        AuthUserFile "$PUBLIC/users"
        Require valid-user
    </Location>
</VirtualHost>
CONF
}

# ---- starting and stopping

running() { # true if the pid file names our server
    local pid
    pid=$(cat "$PIDFILE" 2>/dev/null) || return 1
    [ -n "$pid" ] && tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null | grep -F -- "-f $RUN/httpd.conf" \
        >/dev/null
}

# Exits with 0 if PORT of 127.0.0.1 is free; otherwise prints the reason on stdout.
port_free() {
    /usr/bin/python3 - "$1" <<'PY'
import socket, sys
sock = socket.socket()
sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
try:
    sock.bind(("127.0.0.1", int(sys.argv[1])))
except OSError as error:
    print(error.strerror)
    sys.exit(1)
PY
}

port_of_config() {
    sed -n 's/^Listen 127\.0\.0\.1://p' "$RUN/httpd.conf" 2>/dev/null
}

until_true() { # WHAT COMMAND...
    local what=$1 end=$((SECONDS + WAIT_SECONDS))
    shift
    until "$@"; do
        [ $SECONDS -lt $end ] || die "waited $WAIT_SECONDS s for $what"
        sleep 0.1
    done
}

gone() { ! kill -0 "$1" 2>/dev/null; }

stop_server() {
    local pid port
    pid=$(cat "$PIDFILE")
    port=$(port_of_config)
    kill -TERM "$pid" 2>/dev/null || die "cannot stop process $pid: it belongs to another user"
    until_true "Apache to end" gone "$pid"
    until_true "port $port to be free" port_free "$port" >/dev/null
    rm -f "$PIDFILE"
}

dev_stop() {
    [ $# -eq 0 ] || die "stop takes no arguments"
    if ! running; then
        say "no Apache of ./dev run is running"
        return
    fi
    stop_server
    say "stopped"
}

answers() { [ "$(curl -s -m 5 "$URL/nonce.txt" 2>/dev/null)" = "$1" ]; }

# start_server PORT [VARIABLE=VALUE...]: the variables are for httpd and its children.
start_server() {
    local httpd nonce port=$1
    shift
    httpd=$(httpd_binary) || die "apxs knows of no httpd"
    nonce=$(od -An -N8 -tx8 /dev/urandom | tr -d ' ')
    mkdir -p "$PUBLIC/empty"
    chmod 755 "$PUBLIC/empty"
    # A server started by root creates its store only if root owns every directory on the path to it.
    if [ "$(id -u)" -eq 0 ] && [ ! -e "$PUBLIC/store" ]; then
        mkdir -m 700 "$PUBLIC/store"
        chown "$(server_user):" "$PUBLIC/store"
    fi
    write_config "$port" "$nonce" >"$RUN/httpd.conf"
    if ! env "$@" "$httpd" -d "$RUN" -f "$RUN/httpd.conf" -k start >"$LOGS/start.log" 2>&1; then
        cat "$LOGS/start.log" >&2
        die "Apache did not start; $RUN/error.log may say more"
    fi
    # Another server may use the port on another address: only ours knows the nonce.
    until_true "Apache to answer (see $RUN/error.log)" answers "$nonce"
}

# ---- the account

ctl() { "$NORMAL/mod_payments/paymentsctl" -s "lmdb:$PUBLIC/store" "$@"; }

# A store of an earlier build is unusable: it is moved aside, and the server creates a new one.
replace_store() {
    if [ ! -e "$PUBLIC/store/data.mdb" ] || ctl store stat >"$LOGS/store.log" 2>&1; then
        return
    fi
    say "the demo's store cannot be used: $(tail -n 1 "$LOGS/store.log")"
    rm -rf "$PUBLIC/store.old"
    mv "$PUBLIC/store" "$PUBLIC/store.old"
    rm -f "$KEYS"/* "$PUBLIC/filled"
    say "it is now $PUBLIC/store.old"
}

make_account() {
    local mode kind
    if ! ctl account show "$ACCOUNT" >/dev/null 2>&1; then
        rm -f "$KEYS"/*
        ctl account create "$ACCOUNT" >/dev/null
    fi
    for mode in test live; do
        for kind in secret public; do
            [ -s "$KEYS/$ACCOUNT-$mode-$kind" ] || make_key "$mode" "$kind"
        done
    done
}

make_key() (
    umask 077
    ctl key create "$ACCOUNT" --mode "$1" --kind "$2" >"$KEYS/$ACCOUNT-$1-$2.new" 2>"$LOGS/key.log" \
        || die "no key could be made: $(cat "$LOGS/key.log")"
    mv "$KEYS/$ACCOUNT-$1-$2.new" "$KEYS/$ACCOUNT-$1-$2"
)

# ---- the dashboard: its pages, its user, and sample data

# The built pages, where the server's user can read them.
copy_pages() {
    quiet pages.log "the dashboard's pages" make -C "$NORMAL" all-local || exit 1
    rm -rf "$PUBLIC/dashboard"
    cp -R "$NORMAL/share/dashboard" "$PUBLIC/dashboard"
    chmod -R a+rX "$PUBLIC/dashboard"
}

# The password is generated once and stored next to the keys.
make_person() {
    [ -s "$KEYS/$PERSON-password" ] \
        || (umask 077 && od -An -N9 -tx1 /dev/urandom | tr -d ' \n' >"$KEYS/$PERSON-password")
    htpasswd -ciB "$PUBLIC/users" "$PERSON" <"$KEYS/$PERSON-password" 2>"$LOGS/person.log" \
        || die "no user could be made: $(cat "$LOGS/person.log")"
    chmod 644 "$PUBLIC/users"
}

let_in() {
    local host
    for host in localhost 127.0.0.1; do
        ctl account grant "$ACCOUNT" "$PERSON" --host "$host" --role owner >/dev/null
    done
}

# The path of libfaketime; nothing if it is not installed.
faketime_library() {
    local file
    for file in /usr/lib/*/faketime/libfaketimeMT.so.1 /usr/lib*/faketime/libfaketimeMT.so.1; do
        [ ! -e "$file" ] || { echo "$file" && return; }
    done
}

# Thirty days of a shop, created by the server itself while its clock is set back.
fill_store() { # PORT
    local library clock=$RUN/clock
    [ ! -e "$PUBLIC/filled" ] || return 0
    library=$(faketime_library)
    [ -n "$library" ] || {
        say "There is no sample data: libfaketime, which sets a program's clock back, is not installed."
        return 0
    }
    echo "-$((30 * 24 * 3600))" >"$clock"
    chmod 644 "$clock"
    start_server "$1" LD_PRELOAD="$library" FAKETIME_TIMESTAMP_FILE="$clock" FAKETIME_NO_CACHE=1 \
        FAKETIME_DONT_FAKE_MONOTONIC=1
    make_account
    if [ -e "$PUBLIC/filling" ]; then
        say "The sample data was cut off before its end: Test Mode is emptied, and it is made anew."
        ctl account reset "$ACCOUNT" --mode test --yes >/dev/null
    fi
    touch "$PUBLIC/filling"
    quiet sample.log "sample data" /usr/bin/python3 tests/dev/sample.py "$URL" \
        "$KEYS/$ACCOUNT-test-secret" "$clock" || exit 1
    stop_server
    mv "$PUBLIC/filling" "$PUBLIC/filled"
}

# ---- output

# Runs a line exactly as printed, so that every line shown is known to work.
show() { # TITLE LINE
    say
    say "# $1"
    say "$2"
    bash -c "$2" >"$RUN/answer" || {
        cat "$RUN/answer"
        die "this request failed"
    }
    /usr/bin/python3 tests/dev/pretty.py <"$RUN/answer"
}

# answer EXPRESSION: true if it holds for the last answer, `a`.
answer() {
    /usr/bin/python3 -c "import json, sys
a = json.load(open(sys.argv[1]))
sys.exit(not ($1))" "$RUN/answer"
}

bearer() { printf '%s' "-H \"Authorization: Bearer \$(cat '$KEYS/$ACCOUNT-test-secret')\""; }

demo() {
    local reference today body
    reference=demo-$(date -u +%Y%m%d%H%M%S)-$RANDOM
    today=$(date -u +%F)
    body="{\"token\": \"tok_test_success\", \"amount\": 1500.50, \"currency\": \"NGN\", \"email\": \"ada@example.com\", \"reference\": \"$reference\"}"

    show "Charge a card token" \
        "curl -sS $URL/api/v1/tokenized-card-charge $(bearer) -H 'Content-Type: application/json' -d '$body'"
    answer 'a["status"] is True and a["data"]["paymentStatus"] == "successful"' \
        || die "the charge was not successful"

    show "Refund part of it" \
        "curl -sS $URL/api/v1/partial-refund $(bearer) -H 'Content-Type: application/json' -d '{\"reference\": \"$reference\", \"amount\": 500.50, \"customer_note\": \"One item came broken.\"}'"
    answer 'a["status"] == "processed" and a["amount"] == "500.50"' || die "the refund was not made"

    show "Verify what became of it" \
        "curl -sS $URL/api/v1/transaction/$reference/verify $(bearer)"
    answer 'a["data"]["refundedAmount"] == 500.5' || die "the charge does not know of its refund"

    show "List the refunds of today" \
        "curl -sS $URL/api/v1/refund/$today/$(date -u +%F) $(bearer)"
    answer "any(r['transactionReference'] == '$reference' for r in a)" \
        || die "the refund is not in the list"

    body="{\"transactionReference\": \"page-$reference\", \"amount\": 2500, \"currency\": \"NGN\", \"checkoutCustomerData\": {\"email\": \"ada@example.com\", \"firstName\": \"Ada\", \"lastName\": \"Obi\"}}"
    show "Let a payer pay on a page of yours" \
        "curl -sS $URL/api/v1/initiate $(bearer) -H 'Content-Type: application/json' -d '$body'"
    answer 'a["status"] is True' || die "there is no page"
    PAGE=$(sed -n 's/.*"paymentRedirectUrl": *"\([^"]*\)".*/\1/p' "$RUN/answer")
    [ "$(curl -s -o /dev/null -w '%{http_code}' "$PAGE")" = 200 ] || die "the page does not answer"
}

closing() {
    say
    say "Apache is running on $URL; ./dev stop ends it."
    say "  dashboard  $URL/payments-dashboard/"
    say "           user $PERSON, password $(cat "$KEYS/$PERSON-password")"
    say "  payment page  $PAGE"
    say "           test cards stand on it; it can be paid for an hour"
    say "  account  $ACCOUNT"
    say "  keys     $KEYS/$ACCOUNT-{test,live}-{secret,public}"
    say "  logs     $RUN/error.log, $RUN/access.log"
    say "  store    $PUBLIC/store"
    [ "$PUBLIC" = "$RUN/public" ] || say "           (the server's user cannot reach $RUN)"
}

port_option() {
    PORT=8080
    while [ $# -gt 0 ]; do
        case $1 in
            --port)
                [ $# -ge 2 ] || die "--port wants a number"
                PORT=$2
                shift 2
                ;;
            --port=*)
                PORT=${1#--port=}
                shift
                ;;
            *) die "run knows only --port N, not '$1'" ;;
        esac
    done
    case $PORT in
        '' | *[!0-9]* | ??????*) die "--port wants a number from 1 to 65535, not '$PORT'" ;;
    esac
    if [ "$PORT" -lt 1 ] || [ "$PORT" -gt 65535 ]; then
        die "--port wants a number from 1 to 65535, not '$PORT'"
    fi
}

check_port() {
    local why
    if running && [ "$(port_of_config)" = "$PORT" ]; then
        return # our own server; it is restarted
    fi
    why=$(port_free "$PORT") \
        || die "port $PORT of 127.0.0.1 cannot be used ($why); name another: ./dev run --port N"
}

dev_run() {
    port_option "$@"
    packages run
    check_port
    build_normal
    mkdir -p "$KEYS" "$LOGS"
    [ -O "$RUN" ] || die "$RUN belongs to another user: remove it, or run this as that user"
    chmod 755 "$OUT" "$RUN" # the server's user needs to pass; the keys stay private
    chmod 700 "$KEYS"
    if running; then
        stop_server
    fi
    public_dir
    PUBLIC=$(readlink -f "$RUN/public")
    URL=http://127.0.0.1:$PORT
    replace_store
    copy_pages
    fill_store "$PORT"
    start_server "$PORT"
    say "Apache is started on $URL"
    make_account
    make_person
    let_in
    demo
    closing
}
