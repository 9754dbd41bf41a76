#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A client of mod_payments in one file, for a POSIX shell with curl and openssl (docs/clients.md).
#
#   export PAYMENTS_URL=https://shop.example PAYMENTS_KEY=pay_testsk_...
#   payments.sh charge token=tok_... amount=1500.50 email=ada@example.com reference=order-1001-7f3a
#   payments.sh verify order-1001-7f3a
#   payments.sh refund reference=order-1001-7f3a [amount=10] [customer_note=...]     IDEMPOTENCY_KEY=... makes a retry safe
#   payments.sh refunds 2026-01-01 2026-01-31
#   payments.sh transactions [status=successful] [email=...] [cursor=...]
#   payments.sh checkout transactionReference=... amount=10 email=... firstName=... lastName=... [redirectUrl=...]
#   PAYMENTS_WEBHOOK_SECRET=whsec_... payments.sh webhook ID TIMESTAMP SIGNATURES <body
#
# Prints the answer. Exits with 0 if the call was answered, 1 if it was refused (the answer says why), 2 if there was no answer, 3
# if a webhook must not be trusted. A shop has the money if paymentStatus is "successful", and only then.
# No key is passed as an argument of a program, where other users of the machine could read it.
set -eu

# A string of JSON.
quoted() {
    printf '"%s"' "$(printf '%s' "$1" | sed 's/\\/\\\\/g; s/"/\\"/g; s/	/\\t/g' | awk 'NR > 1 { printf "\\n" } { printf "%s", $0 }')"
}

# NAME=VALUE...: the members of an object.
members() {
    comma=
    for pair in "$@"; do
        printf '%s%s:%s' "$comma" "$(quoted "${pair%%=*}")" "$(quoted "${pair#*=}")"
        comma=,
    done
}

# A part of a URL.
encoded() {
    printf '%s' "$1" | od -An -v -tx1 | tr -d ' \n' | sed 's/../%&/g'
}

# A line of curl's configuration: NAME, and a value of one line.
option() {
    printf '%s = "%s"\n' "$1" "$(printf '%s' "$2" | sed 's/\\/\\\\/g; s/"/\\"/g')"
}

# METHOD PATH [BODY]
call() {
    status=0
    said=$({
        option url "${PAYMENTS_URL%/}$2"
        option request "$1"
        option header "Authorization: Bearer $PAYMENTS_KEY"
        if [ $# -gt 2 ]; then
            option header 'Content-Type: application/json'
            option data-raw "$3"
        fi
        [ -z "${IDEMPOTENCY_KEY:-}" ] || option header "Idempotency-Key: $IDEMPOTENCY_KEY"
    } | curl --silent --show-error --max-time 60 --config - --write-out '\n%{http_code}') || exit 2
    printf '%s\n' "${said%
*}"
    case ${said##*
} in
        2??) ;;
        *) status=1 ;;
    esac
    return "$status"
}

# A byte of 64, as an escape of printf's: the key, in hexadecimal digits on standard input, combined with BYTE (RFC 2104).
padded() {
    awk -v byte="$1" '
        function value(digit) { return index("0123456789abcdef", digit) - 1 }
        function both(a, b,    sum, bit) {
            for (bit = 1; bit < 256; bit *= 2) {
                sum += bit * (int(a / bit) % 2 != int(b / bit) % 2)
            }
            return sum
        }
        { for (i = 0; i < 64; i++) {
            printf "\\%03o", both(i * 2 < length($0) ? 16 * value(substr($0, 2 * i + 1, 1)) + value(substr($0, 2 * i + 2, 1)) : 0, byte)
        } }'
}

# HMAC-SHA256 of standard input by the key of PAYMENTS_WEBHOOK_SECRET, in base64. openssl takes a key as an argument only.
signature() {
    hex=$(printf '%s' "${PAYMENTS_WEBHOOK_SECRET#whsec_}" | openssl base64 -d -A | od -An -v -tx1 | tr -d ' \n')
    inner=$(printf '%s\n' "$hex" | padded 54)
    outer=$(printf '%s\n' "$hex" | padded 92)
    # shellcheck disable=SC2059 # the text is made of escapes
    { printf "$outer" && { printf "$inner" && cat; } | openssl dgst -sha256 -binary; } | openssl dgst -sha256 -binary | openssl base64 -A
}

# ID TIMESTAMP SIGNATURES, the body on standard input: prints it if it can be trusted.
webhook() {
    case $2 in '' | *[!0-9]*) return 3 ;; esac
    age=$(($(date +%s) - $2))
    [ "$age" -le 300 ] && [ "$age" -ge -300 ] || return 3
    body=$(cat && echo x)
    body=${body%x}
    wanted=v1,$(printf '%s.%s.%s' "$1" "$2" "$body" | signature)
    for one in $3; do
        if [ "$one" = "$wanted" ]; then
            printf '%s' "$body"
            return 0
        fi
    done
    return 3
}

# Makes a query of NAME=VALUE...
query() {
    mark='?'
    for pair in "$@"; do
        printf '%s%s=%s' "$mark" "${pair%%=*}" "$(encoded "${pair#*=}")"
        mark='&'
    done
}

# NAME=VALUE...: the members of the payer go into an object of their own.
checkout_body() {
    payer='' rest=''
    for pair in "$@"; do
        case $pair in
            email=* | firstName=* | lastName=* | phoneNumber=*) payer=$payer${payer:+,}$(members "$pair") ;;
            *) rest=$rest$(members "$pair"), ;;
        esac
    done
    printf '{%s"checkoutCustomerData":{%s}}' "$rest" "$payer"
}

command=${1:-help}
[ $# -eq 0 ] || shift
case $command in
    charge) call POST /api/v1/tokenized-card-charge "{$(members "$@")}" ;;
    verify) call GET "/api/v1/checkout/$(encoded "$1")/verify" ;;
    refund)
        path=/api/v1/refund
        case " $* " in *' amount='*) path=/api/v1/partial-refund ;; esac
        call POST "$path" "{$(members "$@")}"
        ;;
    refunds) call GET "/api/v1/refund/$(encoded "$1")/$(encoded "$2")" ;;
    transactions) call GET "/api/v1/transaction$(query "$@")" ;;
    checkout) call POST /api/v1/initiate "$(checkout_body "$@")" ;;
    webhook) webhook "$@" ;;
    *) sed -n '3,17s/^# \{0,1\}//p' "$0" && exit 2 ;;
esac
