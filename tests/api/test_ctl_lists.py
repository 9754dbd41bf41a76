# SPDX-License-Identifier: Apache-2.0
"""The accountant's view: lists as CSV and JSON, and totals equal to a recount of the lists."""

import csv
import io
import json
import random
import re
import subprocess
import zoneinfo
from collections import defaultdict
from datetime import datetime, timedelta, timezone
from decimal import Decimal

import pytest

from ctl_program import TEST_MODE, Ctl, as_lines, record
from harness import PAYMENTSCTL, SANITIZE, TOP, reference, wait_for
from raw_lmdb import Raw

DIGITS = {"JPY": 0, "KWD": 3}
CHARGE_COLUMNS = ("id reference status amount currency refundedAmount refundsPendingAmount last4Digits email createdAt "
                  "updatedAt gatewayResponseCode gatewayResponseMessage authorizationCode keyId "
                  "paymentStatus transactionFee").split()
REFUND_COLUMNS = list(record(0))
TOTAL_COLUMNS = "period currency charged refunded net charges refunds failed transactionFees".split()
SCOPE = b"\0\0\0\1\0"  # the first account, Test Mode


def take_over(ctl, tmp_path, records):
    path = tmp_path / "records"
    path.write_text(as_lines(records), encoding="utf-8")
    return ctl.json("refund", "import", "shop", path, *TEST_MODE)


def listed(ctl, noun, account="shop", *args):
    """The list as CSV, cells by column; its form is RFC 4180's."""
    line = [PAYMENTSCTL, "-s", f"lmdb:{ctl.store}", *noun.split(), account, *TEST_MODE, "--format", "csv", *args]
    done = subprocess.run(line, capture_output=True, check=True, timeout=300)
    text = done.stdout.decode()
    assert text.endswith("\r\n") and not done.stderr
    header, *rows = csv.reader(io.StringIO(text, newline=""), strict=True)
    assert all(len(row) == len(header) for row in rows)
    return header, [dict(zip(header, row)) for row in rows]


def guarded(text):
    """As a text stands in a cell: nothing begins like a formula, at its start and after a semicolon."""
    return re.sub("(^|;)(?='|[ \xa0]*[=+\\-@\t\r\n'])", r"\1'", text or "")


def money(amount, currency):
    return f"{Decimal(amount):.{DIGITS.get(currency, 2)}f}"


def recount(ctl, account, zone, by, start=None, end=None):
    """The expected output of `totals`, computed from the lists alone."""
    periods = defaultdict(lambda: dict(charged=Decimal(0), refunded=Decimal(0), charges=0, refunds=0, failed=0, fees=Decimal(0)))

    def period(row):
        when = datetime.fromisoformat(row["createdAt"].replace("Z", "+00:00"))
        day = when.astimezone(zoneinfo.ZoneInfo(zone)).strftime("%Y-%m-%d")
        if (start and day < start) or (end and day > end):
            return None
        return periods[day[:10 if by == "day" else 7], row["currency"]]

    for row in ctl.json("charge", "list", account, *TEST_MODE):
        if row["status"] in ("successful", "reversed", "failed"):
            one = period(row)
            if one and row["status"] == "failed":
                one["failed"] += 1
            elif one:
                one["charges"] += 1
                one["charged"] += Decimal(str(row["amount"]))
                one["fees"] += Decimal(str(row["transactionFee"]))
    for row in ctl.json("refund", "list", account, *TEST_MODE):
        if row["status"] == "processed" and row["currency"]:
            one = period(row)
            if one:
                one["refunds"] += 1
                one["refunded"] += Decimal(row["amount"] or 0)
    return [{"period": name, "currency": currency, "charged": money(one["charged"], currency),
             "refunded": money(one["refunded"], currency), "net": money(one["charged"] - one["refunded"], currency),
             "charges": one["charges"], "refunds": one["refunds"], "failed": one["failed"],
             "transactionFees": money(one["fees"], currency)}
            for (name, currency), one in sorted(periods.items())]


def totals_agree(ctl, account="shop", zone="UTC", **span):
    """All forms of `totals` say what the lists come to; returns the rows by day."""
    args = [arg for name, value in span.items() if value for arg in ("--from" if name == "start" else "--to", value)]
    found = {}
    for by in ("day", "month"):
        line = ["totals", account, *TEST_MODE, "--by", by, *args]
        want = recount(ctl, account, zone, by, **span)
        found[by] = ctl.json(*line)
        assert found[by] == want
        assert json.loads(ctl.ok(*line, "--format", "json")) == want
        header, rows = listed(ctl, "totals", account, "--by", by, *args)
        assert header == TOTAL_COLUMNS
        assert rows == [{name: str(value) for name, value in row.items()} for row in want]
        table = ctl.ok(*line).splitlines()
        assert table[0].split() == [name.upper() for name in TOTAL_COLUMNS[:-1]] + ["FEES"]
        assert [row.split() for row in table[1:]] == [[str(value) for value in row.values()] for row in want]
    assert ctl.run("store", "check").stdout == ""
    return found["day"]


# --- CSV ---

NOTES = [None, "", "plain", "=HYPERLINK(\"http://x.example\",\"y\")", "+1", "-1", "@SUM(A1)", "a,b", "say \"no\"",
         "two\nlines", "\ttab", "\n=1", "'=1", "ünï — ₦ 😀", " =1", "x=1", "a;=1"]


def test_manual_names_the_columns_of_charges():
    page = " ".join((TOP / "docs/paymentsctl.8").read_text(encoding="utf-8").split())
    named = re.search(r"In CSV its columns are (id, .*?)\. ", page)[1]
    assert re.split(", | and ", named) == CHARGE_COLUMNS


def test_refunds_as_csv(ctl, tmp_path):
    records = [record(number, merchantNote=note, customerNote=NOTES[-1 - number], channel="API" if note else None)
               for number, note in enumerate(NOTES)]
    records.append(record(90, amount=None, currency=None, transactionReference=None, customerNote=None))
    records.append(record(91, amount=None, status="failed", customerNote=None))
    records.append(record(92, amount="7", currency="JPY", transactionReference="=1+1"))
    assert take_over(ctl, tmp_path, records)["written"] == len(records)
    rows = ctl.json("refund", "list", "shop", *TEST_MODE)
    header, cells = listed(ctl, "refund list")
    assert header == REFUND_COLUMNS and len(rows) == len(records)
    assert cells == [{name: guarded(value) for name, value in row.items()} for row in rows]
    assert sum(cell[0] == "'" for row in cells for cell in row.values() if cell) == 2 * 7 + 2 + 1
    assert json.loads(ctl.ok("refund", "list", "shop", *TEST_MODE, "--format", "json")) == rows
    assert listed(ctl, "refund list", "shop", "--limit", "3")[1] == cells[:3]
    assert listed(ctl, "refund list", "shop", "--to", "1999-12-31") == (REFUND_COLUMNS, [])


def test_charges_as_csv(server):
    httpd = server()
    shop = httpd.shop()
    ctl = Ctl(httpd.store)
    refs = ["=1+1", "-x", "@me", "+1", "a\"b,c", "plain", reference()]
    for number, ref in enumerate(refs):
        shop.charge(reference=ref, amount=10 + number, currency=["NGN", "JPY", "KWD"][number % 3],
                    token="tok_test_declined" if ref == "plain" else "tok_test_success")
    shop.refund("a\"b,c", "3")
    rows = ctl.json("charge", "list", shop.name, *TEST_MODE)
    assert [row["reference"] for row in rows] == refs
    header, cells = listed(ctl, "charge list", shop.name)
    assert header == CHARGE_COLUMNS
    for row, cell in zip(rows, cells, strict=True):
        currency = row["currency"]
        for name in ("createdAt", "updatedAt", "status", "currency", "gatewayResponseCode", "gatewayResponseMessage",
                     "paymentStatus"):
            assert cell[name] == (row[name] or "")
        for name in ("amount", "refundedAmount", "refundsPendingAmount", "transactionFee"):
            assert cell[name] == money(str(row[name]), currency)
        assert cell["id"] == str(row["id"]) and cell["reference"] == guarded(row["reference"])
        assert cell["email"] == "ada@example.com" and len(cell["last4Digits"]) == 4 and cell["keyId"].startswith("key_")
    assert [cell["reference"][0] for cell in cells[:5]] == ["'"] * 4 + ["a"]
    assert (cells[4]["currency"], cells[4]["refundedAmount"]) == ("JPY", "3")
    # Both ends of a range are in.
    at = [row["createdAt"] for row in rows]
    part = ctl.json("charge", "list", shop.name, *TEST_MODE, "--from", at[1], "--to", at[3])
    assert part == [row for row in rows if at[1] <= row["createdAt"] <= at[3]] and part
    assert listed(ctl, "charge list", shop.name, "--from", at[1], "--to", at[3])[1] == [
        cell for cell in cells if at[1] <= cell["createdAt"] <= at[3]]
    day = at[0][:10], at[-1][:10]
    assert ctl.json("charge", "list", shop.name, *TEST_MODE, "--from", day[0], "--to", day[1]) == rows
    before = (datetime.fromisoformat(day[0]) - timedelta(days=1)).strftime("%Y-%m-%d")
    assert ctl.json("charge", "list", shop.name, *TEST_MODE, "--to", before) == []
    totals_agree(ctl, shop.name)


def test_charges_are_found(server):
    httpd = server()
    shop, other = httpd.shop(), httpd.shop()
    ctl = Ctl(httpd.store)
    emails = ["ada@example.com", "grace@example.com", "Ada@Example.COM"]
    for number in range(12):
        for one in (shop, other):
            one.charge(reference=f"order-{number}", email=emails[number % 3],
                       token="tok_test_declined" if number % 4 == 0 else "tok_test_success")

    def found(*args):
        return [int(row["reference"].split("-")[1])
                for row in ctl.json("charge", "list", shop.name, *TEST_MODE, *args)]

    assert found("--email", "ADA@example.com") == [11, 9, 8, 6, 5, 3, 2, 0]
    assert found("--email", " grace@example.com ") == [10, 7, 4, 1]
    assert found("--email", "grace@example.com", "--limit", "2") == [10, 7]
    assert found("--email", "grace@example.com", "--state", "failed") == [4]
    assert found("--state", "failed") == [8, 4, 0]
    assert found("--state", "pending") == found("--email", "nobody@example.com") == []
    at = ctl.json("charge", "show", shop.name, "order-8", *TEST_MODE)["createdAt"]
    assert found("--email", "ada@example.com", "--to", at) == [8, 6, 5, 3, 2, 0]
    assert found("--state", "failed", "--from", at) == [8]
    cells = listed(ctl, "charge list", shop.name, "--email", "grace@example.com")[1]
    assert [cell["reference"] for cell in cells] == ["order-10", "order-7", "order-4", "order-1"]
    ctl.ok("store", "check")


@pytest.mark.parametrize("code, args", [
    (6, ["charge", "list", "shop", *TEST_MODE, "--email", "ada"]),
    (6, ["charge", "list", "shop", *TEST_MODE, "--email", ""]),
    (5, ["charge", "list", "shop", *TEST_MODE, "--email", "a" * 300]),
    (6, ["charge", "list", "shop", *TEST_MODE, "--state", "paid"]),
    (6, ["charge", "list", "shop", *TEST_MODE, "--format", "xml"]),
    (6, ["charge", "list", "shop", *TEST_MODE, "--format", ""]),
    (6, ["charge", "list", "shop", *TEST_MODE, "--from", "2026-02-30"]),
    (6, ["charge", "list", "shop", *TEST_MODE, "--from", "2026-02-02", "--to", "2026-02-01"]),
    (2, ["charge", "list", "shop", *TEST_MODE, "--format", "csv", "--json"]),
    (2, ["charge", "show", "shop", "x", *TEST_MODE, "--format", "csv"]),
    (2, ["totals", "shop", *TEST_MODE]), (2, ["totals", *TEST_MODE, "--by", "day"]),
    (2, ["totals", "shop", "--by", "day"]), (2, ["totals", "show", "shop", *TEST_MODE, "--by", "day"]),
    (6, ["totals", "shop", *TEST_MODE, "--by", "week"]),
    (6, ["totals", "shop", *TEST_MODE, "--by", "day", "--from", "2026-02-30"]),
    (6, ["totals", "shop", *TEST_MODE, "--by", "day", "--to", "2026-02-01T00:00:00Z"]),
    (6, ["totals", "shop", *TEST_MODE, "--by", "day", "--from", "2026-02-02", "--to", "2026-02-01"]),
    (6, ["totals", "shop", "--mode", "both", "--by", "day"]),
    (3, ["totals", "nobody", *TEST_MODE, "--by", "day"]),
], ids=lambda value: " ".join(value)[:70] if isinstance(value, list) else None)
def test_wrong_lines(ctl, code, args):
    ctl.refused(code, *args)


def test_a_list_that_cannot_be_finished(ctl, tmp_path):
    records = [record(number, createdAt=f"2025-01-01T{number // 60:02}:{number % 60:02}:00.000Z")
               for number in range(1200)]
    take_over(ctl, tmp_path, records)
    raw = Raw(ctl.store)
    raw.begin()
    micro = int(datetime(2025, 1, 1, 19, tzinfo=timezone.utc).timestamp()) * 10**6
    bad = SCOPE + (micro ^ 1 << 63).to_bytes(8, "big")
    raw.put("refund", bad + (1).to_bytes(8, "big"), b"\xff")
    raw.put("total", bad + b"NGN" + bytes(4), b"\xff")
    raw.put("charge_by_time", bad + (1).to_bytes(8, "big"), b"")
    raw.commit()
    raw.close()
    for line in (["refund", "list", "shop"], ["charge", "list", "shop"], ["totals", "shop", "--by", "day"]):
        for form in ([], ["--format", "csv"], ["--format", "json"]):
            done = ctl.run(*line, *TEST_MODE, *form)
            assert done.returncode == 7 and "paymentsctl: " in done.stderr and not done.stdout.endswith("]\n")
    assert ctl.json("refund", "list", "shop", *TEST_MODE, "--to", "2025-01-01T18:58:59Z") == records[:1139]


@pytest.mark.parametrize("line", [["refund", "list"], ["totals", "--by", "day"]], ids=" ".join)
def test_output_that_is_not_taken(ctl, tmp_path, line):
    take_over(ctl, tmp_path, [record(number) for number in range(3000)])
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = ctl.run(*line, "shop", *TEST_MODE, "--format", "csv", stdout=full)
    assert done.returncode == 1 and "standard output" in done.stderr


# --- totals ---

def edges(day):
    """Of a day's first instant (UTC): just before it and itself."""
    at = datetime.fromisoformat(day)
    return [when.isoformat(timespec="milliseconds") + "Z" for when in (at - timedelta(milliseconds=1), at)]


@pytest.mark.parametrize("zone, starts", [
    pytest.param("UTC", {"2025-03-30": "2025-03-30T00:00", "2025-03-31": "2025-03-31T00:00"}, id="UTC"),
    pytest.param("Europe/Berlin", {"2025-03-30": "2025-03-29T23:00", "2025-03-31": "2025-03-30T22:00"}, id="23 hours"),
    pytest.param("Europe/Berlin", {"2025-10-26": "2025-10-25T22:00", "2025-10-27": "2025-10-26T23:00"}, id="25 hours"),
    pytest.param("Asia/Kathmandu", {"2025-06-01": "2025-05-31T18:15", "2025-06-02": "2025-06-01T18:15"}, id="+05:45"),
    pytest.param("America/St_Johns", {"2025-03-09": "2025-03-09T03:30", "2025-03-10": "2025-03-10T02:30"}, id="-0330"),
    pytest.param("Africa/Cairo", {"2025-04-25": "2025-04-24T22:00", "2025-04-26": "2025-04-25T21:00"}, id="midnight"),
    pytest.param("Pacific/Apia", {"2011-12-30": "2011-12-30T10:00", "2011-12-31": "2011-12-30T10:00"}, id="no day"),
    pytest.param("Pacific/Kiritimati", {"2025-01-01": "2024-12-31T10:00", "2025-01-02": "2025-01-01T10:00"}, id="+14"),
])
def test_days_of_the_account(ctl, tmp_path, zone, starts):
    ctl.ok("account", "set", "shop", "--timezone", zone)
    instants = sorted({at for start in starts.values() for at in edges(start)})
    take_over(ctl, tmp_path, [record(number, createdAt=at, updatedAt=at, amount=f"{10 ** number}.00")
                              for number, at in enumerate(instants)])
    rows = totals_agree(ctl, zone=zone)
    first, second = starts
    sums = {row["period"]: row["refunded"] for row in rows}
    if len(instants) == 2:  # a day that is left out has no row
        assert list(sums.values()) == ["1.00", "10.00"] and first not in sums and sums[second] == "10.00"
    else:
        assert list(sums.values()) == ["1.00", "110.00", "1000.00"]
        assert (sums[first], sums[second]) == ("110.00", "1000.00")
        assert [row["period"] for row in totals_agree(ctl, zone=zone, start=first, end=first)] == [first]
    assert totals_agree(ctl, zone=zone, end="1999-12-31") == []
    assert all(row["net"] == "-" + row["refunded"] and row["charges"] == 0 for row in rows)


@pytest.mark.plain("the sanitizers' build is asked half as often")
@pytest.mark.parametrize("zone", ["Europe/Berlin", "Asia/Kathmandu", "America/Havana"])
def test_totals_equal_a_recount(server, tmp_path, zone):
    """Charges, refunds and history at random in three currencies, recounted after each step."""
    seed = random.randrange(1 << 32)
    print("seed", seed)
    draw = random.Random(seed)
    httpd = server()
    shop = httpd.shop()
    ctl = Ctl(httpd.store)
    ctl.ok("account", "set", shop.name, "--timezone", zone)
    live = []
    for step in range(4 if SANITIZE else 8):
        for _ in range(6):
            currency = draw.choice(["NGN", "JPY", "KWD"])
            token = draw.choice(["tok_test_success"] * 3 + ["tok_test_declined", "tok_test_refund_fails"])
            ref = reference()
            shop.charge(reference=ref, currency=currency, amount=draw.randrange(1, 10**6), token=token)
            if token != "tok_test_declined":
                live.append(ref)
        for ref in draw.sample(live, min(3, len(live))):
            part = draw.choice([[], ["--amount", "1"]])
            ctl.run("refund", "create", shop.name, *TEST_MODE, "--reference", ref, *part)
        records = []
        for number in range(300):
            when = datetime(2025, 3, 29, tzinfo=timezone.utc) + timedelta(milliseconds=draw.randrange(300 * 86400000))
            at = when.isoformat(timespec="milliseconds").replace("+00:00", "Z")
            currency = draw.choice(["NGN", "JPY", "KWD", "EUR", None])
            amount = Decimal(draw.randrange(1, 10**9)) / 10**DIGITS.get(currency, 2)
            records.append(record(step * 1000 + number, createdAt=at, updatedAt=at, currency=currency,
                                  amount=money(amount, currency) if currency else None,
                                  status=draw.choice(["processed", "processed", "failed", "pending"]),
                                  transactionReference=draw.choice([None, "gone", "tr-x"])))
        path = tmp_path / "records"
        path.write_text(as_lines(records), encoding="utf-8")
        ctl.ok("refund", "import", shop.name, path, *TEST_MODE)
        totals_agree(ctl, shop.name, zone)
    days = totals_agree(ctl, shop.name, zone, start="2025-04-10", end="2025-06-20")
    assert days and days[0]["period"] >= "2025-04-10" and days[-1]["period"] <= "2025-06-20"
    assert {row["currency"] for row in days} == {"NGN", "JPY", "KWD", "EUR"}
    assert ctl.json("totals", shop.name, "--mode", "live", "--by", "month") == []


def test_more_than_any_number(ctl, tmp_path):
    """The sum of the largest amounts is exact in all forms."""
    take_over(ctl, tmp_path, [record(number, amount="999999999999.99", createdAt="2025-01-01T00:00:00.000Z",
                                     updatedAt="2025-01-01T00:00:00.000Z") for number in range(1001)])
    assert totals_agree(ctl)[0]["refunded"] == "1000999999999989.99"


def test_imports_that_fail(ctl, tmp_path):
    """One that is aborted counts nothing; one that is killed neither, before and after the next one."""
    take_over(ctl, tmp_path, [record(number) for number in range(40)])
    before = totals_agree(ctl)
    path = tmp_path / "conflict"
    records = [record(number) for number in range(100, 2100)] + [record(7, amount="1.00")]
    path.write_text(as_lines(records), encoding="utf-8")
    assert "line 2001" in ctl.refused(7, "refund", "import", "shop", path, *TEST_MODE)
    assert totals_agree(ctl) == before and before
    path.write_text(as_lines([record(number) for number in range(3000, 43000)]), encoding="utf-8")
    running = subprocess.Popen([PAYMENTSCTL, "-s", f"lmdb:{ctl.store}", "refund", "import", "shop", path, *TEST_MODE],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    wait_for(lambda: ctl.json("store", "stat")["refunds"] > 1000, "rows of the import")
    running.kill()
    assert running.wait(timeout=60) < 0, "it was over before it could be killed"
    running.communicate()
    assert ctl.json("store", "stat")["refunds"] > 1000 and totals_agree(ctl) == before
    assert take_over(ctl, tmp_path, [record(number) for number in range(100, 140)])["written"] == 40
    assert ctl.json("store", "stat")["refunds"] == 80
    assert totals_agree(ctl) != before
