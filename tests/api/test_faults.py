# SPDX-License-Identifier: Apache-2.0
"""Long runs, part of ./dev faults only."""

import json
import secrets
import threading
import time

import pytest

from harness import SANITIZE, WAIT_S, beside
from test_refund_list import record

pytestmark = pytest.mark.faults


def write_records(path, count):
    with open(path, "w") as out:
        for number in range(count):
            day, hour = 1 + number % 28, number % 24
            out.write(json.dumps(record(secrets.token_hex(10), f"2026-01-{day:02d}T{hour:02d}:00:00.000Z")) + "\n")


def test_a_million_refunds_are_imported_in_a_minute(server, tmp_path):
    httpd = server()
    shop = httpd.shop()
    write_records(tmp_path / "records", 1_000_000)
    started = time.monotonic()
    httpd.ctl("refund", "import", shop.name, "--mode", "test", str(tmp_path / "records"))
    took = time.monotonic() - started
    print(f"1,000,000 refunds in {took:.1f} s")
    assert SANITIZE or took < 60
    assert shop.refunds().body.count(b'"refundReference"') == 1_000_000


def test_charges_go_on_during_an_import(server, tmp_path):
    httpd = server()
    shop = httpd.shop()
    write_records(tmp_path / "records", 200_000)
    times, halt = [], threading.Event()

    def client():
        connection = httpd.connect()
        while not halt.is_set():
            before = time.monotonic()
            assert shop.charge(connection=connection).status == 200
            times.append(time.monotonic() - before)

    clients = [beside(client) for _ in range(8)]
    httpd.ctl("refund", "import", shop.name, "--mode", "test", str(tmp_path / "records"))
    halt.set()
    for one in clients:
        one.result(WAIT_S)
    p99 = sorted(times)[len(times) * 99 // 100]
    print(f"{len(times)} charges during the import, p99 {p99 * 1000:.1f} ms")
    assert len(times) > 1000
    assert SANITIZE or p99 < 0.05
