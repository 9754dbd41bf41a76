#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Durable charges a second against a static file of the same server.
set -euo pipefail
exec /usr/bin/python3 "$(dirname "$0")/charges.py"
