#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The built module exports payments_module and nothing else.
set -euo pipefail
top=$(cd "${PAYMENTS_TOP:-$(dirname "$0")/..}" && pwd)
module=${PAYMENTS_BUILD:-$top/build/normal}/mod_payments/.libs/mod_payments.so

[ -e "$module" ] || {
    echo "check_symbols: $module is not built"
    exit 1
}
read -ra nm <<<"${NM:-nm}" # libtool adds options to it
names=$("${nm[@]}" -D --defined-only "$module" | awk '{ print $NF }' | sort)
if [ "$names" != payments_module ]; then
    echo "check_symbols: want payments_module alone, got:"
    echo "$names" | head -n 20
    exit 1
fi
echo "check_symbols: payments_module alone"
