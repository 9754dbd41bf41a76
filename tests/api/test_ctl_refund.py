# SPDX-License-Identifier: Apache-2.0
"""paymentsctl: refunds imported, listed and made, and charges listed beside a running server."""

import json
import os
import pty
import re
import subprocess
import time

import pytest

from ctl_program import TEST_MODE, Ctl, as_lines, record
from harness import PAYMENTSCTL, reference


def by_time(records):
    return sorted(records, key=lambda one: one["createdAt"])


@pytest.mark.parametrize("form", [json.dumps, lambda records: json.dumps(records, indent=2), as_lines])
def test_import(ctl, tmp_path, form):
    records = [record(number) for number in range(40)]
    path = tmp_path / "refunds"
    path.write_text(form(records), encoding="utf-8")
    assert ctl.json("refund", "import", "shop", path, *TEST_MODE) == {"written": 40, "skipped": 0, "unlinked": 0}
    listed = ctl.json("refund", "list", "shop", *TEST_MODE)
    assert listed == by_time(records) and list(listed[0]) == list(records[0])
    assert ctl.ok("refund", "import", "shop", path, *TEST_MODE) == "0 written, 40 skipped\n"
    assert ctl.json("refund", "list", "shop", *TEST_MODE) == listed
    assert ctl.json("refund", "list", "shop", "--mode", "live") == []
    assert ctl.json("refund", "list", "shop", *TEST_MODE, "--limit", 7) == listed[:7]
    part = ctl.json("refund", "list", "shop", *TEST_MODE, "--from", "2026-01-03", "--to", "2026-01-04")
    assert part == [one for one in listed if "2026-01-03" <= one["createdAt"][:10] <= "2026-01-04"] and part
    rows = ctl.ok("refund", "list", "shop", *TEST_MODE).splitlines()
    assert rows[0].split()[:3] == ["REFUND", "CHARGE", "STATUS"] and len(rows) == 41
    assert "re-0 " in rows[1] and "500.00" in rows[1]
    assert ctl.run("store", "check").returncode == 0


@pytest.mark.parametrize("line, text", [
    pytest.param(3, '{"id": "x"', id="no JSON"),
    pytest.param(3, json.dumps(record(9, amount="1.234")), id="bad amount"),
    pytest.param(3, json.dumps(record(9, domain="live")), id="other mode"),
    pytest.param(3, json.dumps({"id": "x"}), id="members missing"),
    pytest.param(3, json.dumps(record(9, createdAt="2100-01-01T00:00:00Z")), id="in the future"),
    pytest.param(3, json.dumps(record(1, amount="7.00")), id="same id, other content"),
])
def test_import_names_the_line_at_fault(ctl, tmp_path, line, text):
    lines = [json.dumps(record(1)), json.dumps(record(2)), text, json.dumps(record(3))]
    path = tmp_path / "refunds"
    path.write_text("\n".join(lines), encoding="utf-8")
    assert f"line {line}" in ctl.refused(7, "refund", "import", "shop", path, *TEST_MODE)
    assert ctl.json("refund", "list", "shop", *TEST_MODE) == []
    assert ctl.run("store", "check").returncode == 0


def test_import_of_ten_thousand(ctl, tmp_path):
    records = [record(number) for number in range(10000)]
    path = tmp_path / "refunds"
    path.write_text(as_lines(records), encoding="utf-8")
    began = time.monotonic()
    assert ctl.json("refund", "import", "shop", path, *TEST_MODE) == {"written": 10000, "skipped": 0, "unlinked": 0}
    assert time.monotonic() - began < 60
    assert ctl.json("refund", "list", "shop", *TEST_MODE) == by_time(records)
    assert ctl.ok("refund", "list", "shop", *TEST_MODE, "--limit", 9999).count("\n") == 10000
    assert ctl.json("refund", "import", "shop", path, *TEST_MODE) == {"written": 0, "skipped": 10000, "unlinked": 0}
    assert ctl.json("store", "stat")["refunds"] == 10000


def test_progress_is_for_terminals(ctl, tmp_path):
    path = tmp_path / "refunds"
    path.write_text(as_lines(record(number) for number in range(3000)), encoding="utf-8")
    assert ctl.run("refund", "import", "shop", path, *TEST_MODE).stderr == ""
    terminal, inner = pty.openpty()
    done = subprocess.run([PAYMENTSCTL, "-s", f"lmdb:{ctl.store}", "refund", "import", "shop", path, *TEST_MODE],
                          stdout=subprocess.PIPE, stderr=inner, text=True, timeout=60, check=True)
    os.close(inner)
    shown = os.read(terminal, 65536).decode()
    os.close(terminal)
    assert done.stdout == "0 written, 3000 skipped\n" and "reading 1000 records" in shown
    assert re.search(r"writing \d+ of 3000 records", shown)


# --- beside a running server ---

def test_charges_and_refunds_beside_a_server(server):
    httpd = server()
    shop = httpd.shop()
    ctl = Ctl(httpd.store)
    refs = [reference() for _ in range(3)]
    tokens = ("tok_test_success", "tok_test_declined", "tok_test_refund_fails")
    answers = [shop.charge(reference=ref, token=token, amount=10).json for ref, token in zip(refs, tokens)]
    rows = ctl.json("charge", "list", shop.name, *TEST_MODE)
    assert [(row["id"], row["reference"], row["status"]) for row in rows] == [
        (1, refs[0], "successful"), (2, refs[1], "failed"), (3, refs[2], "successful")]
    assert set(rows[0]) <= set(answers[0]["data"]) and rows[0]["customer"]["email"] == "ada@example.com"
    assert ctl.json("charge", "list", shop.name, *TEST_MODE, "--limit", 2) == rows[:2]
    shown = ctl.json("charge", "show", shop.name, refs[1], *TEST_MODE)
    assert {name: shown[name] for name in rows[1]} == rows[1] and shown["acquirer"] == "simulator"
    assert re.search(r"^status +failed$", ctl.ok("charge", "show", shop.name, refs[1], *TEST_MODE), re.M)
    assert refs[2] in ctl.ok("charge", "list", shop.name, *TEST_MODE).splitlines()[3]

    create = ["refund", "create", shop.name, *TEST_MODE, "--reference"]
    first = ctl.json(*create, refs[0], "--amount", "2.50", "--customer-note", "sorry", "--merchant-note", "broken")
    assert (first["amount"], first["status"], first["channel"], first["domain"]) == ("2.50", "processed", "cli", "test")
    assert (first["customerNote"], first["merchantNote"], len(first)) == ("sorry", "broken", 12)
    for args in (["--amount", "2.50", "--customer-note", "sorry", "--merchant-note", "broken"], ["--amount", "7.51"]):
        ctl.refused(3, *create, refs[0], *args)
    ctl.refused(3, *create, refs[1])
    for args in (["--amount", "0"], ["--amount", "1.234"], ["--customer-note", "4111111111111111"]):
        assert args[0] in ctl.refused(6, *create, refs[0], *args)
    assert "7.50" in ctl.ok(*create, refs[0])
    ctl.refused(3, *create, refs[0])
    failed = ctl.run(*create, refs[2], "--json")
    assert failed.returncode == 3 and json.loads(failed.stdout)["status"] == "failed"
    assert failed.stderr.startswith("paymentsctl: ")
    listed = ctl.json("refund", "list", shop.name, *TEST_MODE)
    assert len(listed) == 3 and listed[0] == first
    shown = ctl.json("refund", "show", shop.name, first["refundReference"], *TEST_MODE)
    details = dict(re.split("  +", line, maxsplit=1) for line in ctl.ok(
        "refund", "show", shop.name, first["refundReference"], *TEST_MODE).splitlines() if "  " in line)
    assert (details["amount"], details["currency"], details["status"]) == (shown["amount"], shown["currency"], shown["status"])
    assert {name: shown[name] for name in first} == first
    assert (shown["held"], shown["waiting"], shown["tag"], shown["nextQuestionAt"]) == (None, False, "", None)
    assert ctl.json("charge", "show", shop.name, refs[0], *TEST_MODE)["status"] == "reversed"
    assert ctl.run("store", "check").returncode == 0
