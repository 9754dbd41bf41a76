# SPDX-License-Identifier: Apache-2.0
"""Durable charges a second, and what the server does without them, on a private event httpd.

Load generator and server share the machine: compare the ratios, not the numbers of two machines.
"""

import json
import os
import pathlib
import re
import secrets
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "api"))
from harness import Httpd  # noqa: E402

SECONDS = int(os.environ.get("BENCH_SECONDS", "10"))
CLIENTS = int(os.environ.get("BENCH_CLIENTS", "64"))
# An account may fill an eighth of all workers with charges: 64 clients want 512 workers.
SIZES = "StartServers 2\nServerLimit 2\nThreadsPerChild 256\nThreadLimit 256\nMaxRequestWorkers 512"
LUA = pathlib.Path(__file__).with_name("charge.lua")


def wrk(httpd, path, *args, key=""):
    """Requests a second, p50 and p99 in ms, requests, and answers of 400 and above."""
    done = subprocess.run(["wrk", "-t2", f"-c{CLIENTS}", f"-d{SECONDS}s", "--latency", *args[:2],
                           f"http://127.0.0.1:{httpd.port}{path}", *args[2:]],
                          capture_output=True, text=True, check=True,
                          env={**os.environ, "BENCH_KEY": key})
    out = done.stdout
    bad = re.search(r"Non-2xx or 3xx responses: (\d+)", out)
    return {"rate": float(re.search(r"Requests/sec:\s+([\d.]+)", out)[1]),
            "p50": milliseconds(re.search(r"(?m)^\s+50%\s+(\S+)", out)[1]),
            "p99": milliseconds(re.search(r"(?m)^\s+99%\s+(\S+)", out)[1]),
            "requests": int(re.search(r"(\d+) requests in", out)[1]),
            "bad": int(bad[1]) if bad else 0}


def milliseconds(text):
    number, unit = re.fullmatch(r"([\d.]+)(us|ms|s|m)", text).groups()
    return float(number) * {"us": 0.001, "ms": 1, "s": 1000, "m": 60000}[unit]


def report(name, result, note=""):
    print(f"{name:34} {result['rate']:9.0f} /s  p50 {result['p50']:7.2f} ms  p99 {result['p99']:7.2f} ms  {note}",
          flush=True)


def main():
    httpd = Httpd(threads=SIZES)
    try:
        httpd.start()
        shop = httpd.shop(live=False)
        static = wrk(httpd, "/nonce.txt")
        report("static file", static)
        unknown = wrk(httpd, "/api/v1/nothing", "-H", f"Authorization: Bearer {shop.secret}")
        report("unknown path, key judged (404)", unknown, f"{unknown['rate'] / static['rate']:.2f} of static")
        charges = wrk(httpd, "/api/v1/tokenized-card-charge", "-s", str(LUA), "--", secrets.token_hex(4),
                      key=shop.secret)
        report("charges, durable", charges, f"{charges['rate'] / static['rate']:.2f} of static, {charges['bad']} refused")
        stored = len(json.loads(httpd.ctl("charge", "list", shop.name, "--mode", "test", "--json").stdout))
        answered = charges["requests"] - charges["bad"]
        print(f"charges answered {answered}, in the store {stored}")
        if unknown["bad"] != unknown["requests"] or stored < answered or answered == 0:
            sys.exit("the numbers do not add up: this run measured something else")
    finally:
        httpd.stop()
    httpd.close()


main()
