# SPDX-License-Identifier: Apache-2.0
"""Prints how many milliseconds of processor time a fixed piece of work takes here and now (tests/dev/report.sh)."""

import hashlib
import json
import time
import zlib

ROWS = 400
ROUNDS = 100


def work():
    """Text, numbers, allocation and loops in C, as in tests, in one process and without a system call."""
    rows = [{"id": n, "reference": f"ref-{n:08}", "amount": n * 7 / 100, "tags": [str(n)] * 5} for n in range(ROWS)]
    for _ in range(ROUNDS):
        text = json.dumps(rows, sort_keys=True)
        rows = sorted(json.loads(text), key=lambda row: hashlib.sha256(row["reference"].encode()).digest())
        zlib.compress(text.encode(), 6)


work()  # the first run also loads
start = time.process_time()
work()
print(round((time.process_time() - start) * 1000))
