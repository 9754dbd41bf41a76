# SPDX-License-Identifier: Apache-2.0
"""GET /api/v1/refund/{startDate}/{endDate} over HTTP (docs/api.md, "Refund list")."""

import json
import socket
import time

import pytest

from harness import at_once, reference, wait_for
from raw_lmdb import Raw, busy_readers


MEMBERS = ["id", "refundReference", "amount", "currency", "domain", "channel", "merchantNote",
           "customerNote", "status", "transactionReference", "createdAt", "updatedAt"]


def record(number, created, **more):
    row = {"id": f"re_{number}", "refundReference": f"rf_{number}", "amount": "5.00", "currency": "NGN",
           "domain": "test", "channel": "API", "merchantNote": None, "customerNote": None,
           "status": "processed", "transactionReference": f"tx_{number}", "createdAt": created,
           "updatedAt": created}
    row.update(more)
    return row


def load(shop, rows, tmp_path):
    path = tmp_path / "rows.json"
    path.write_text("\n".join(json.dumps(row) for row in rows) + "\n")
    shop.httpd.ctl("refund", "import", shop.name, "--mode", "test", str(path))


def ids(answer):
    assert answer.status == 200, answer
    return [row["id"] for row in answer.json]


def test_none(shop):
    answer = shop.refunds()
    assert (answer.status, answer.body) == (200, b"[]")
    assert answer.header("content-length") == "2"


def test_record_has_exactly_twelve_members_in_order(shop):
    ref = reference()
    shop.charge(reference=ref)
    made = shop.refund(ref, "12.5", customer_note="late \u2603", merchant_note='say "no"')
    answer = shop.refunds()
    assert answer.header("content-type") == "application/json; charset=utf-8"
    rows = answer.json
    assert [list(row) for row in rows] == [MEMBERS]
    assert rows[0] == made
    row = rows[0]
    assert row["id"] != row["refundReference"]
    assert (row["amount"], row["currency"], row["domain"], row["channel"]) == ("12.50", "NGN", "test", "cli")
    assert (row["status"], row["transactionReference"]) == ("processed", ref)
    assert (row["customerNote"], row["merchantNote"]) == ("late \u2603", 'say "no"')
    for value in row.values():
        assert value is None or isinstance(value, str)


def test_refund_that_the_acquirer_refuses_is_listed_as_failed(shop):
    ref = reference()
    shop.charge(reference=ref, token="tok_test_refund_fails")
    args = ["refund", "create", shop.name, "--mode", "test", "--reference", ref, "--amount", "5"]
    assert shop.httpd.ctl(*args, check=False).returncode == 3
    assert [row["status"] for row in shop.refunds().json] == ["failed"]


ROWS = [
    record(1, "2025-12-31T23:59:59.999Z"),
    record(2, "2026-01-01T00:00:00.000Z"),
    record(3, "2026-01-01T23:59:59.999Z"),
    record(4, "2026-01-02T00:00:00.000Z"),
    record(5, "2024-02-29T12:00:00.000Z"),
]


@pytest.mark.parametrize("start, end, want", [
    pytest.param("2026-01-01", "2026-01-01", ["re_2", "re_3"], id="one day, both ends inclusive"),
    pytest.param("2025-12-31", "2026-01-01", ["re_1", "re_2", "re_3"], id="two days"),
    pytest.param("2026-01-01", "2026-01-02", ["re_2", "re_3", "re_4"], id="the next day's first instant"),
    pytest.param("2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z", ["re_2"], id="one instant"),
    pytest.param("2026-01-01T00:00:00.001Z", "2026-01-01T23:59:59.999Z", ["re_3"], id="milliseconds"),
    pytest.param("2026-01-01T01:00:00+01:00", "2026-01-02T01:00:00+01:00", ["re_2", "re_3", "re_4"], id="offset"),
    pytest.param("2026-01-01T01%3A00%3A00%2B01%3A00", "2026-01-02", ["re_2", "re_3", "re_4"], id="percent-encoded"),
    pytest.param("2026-01-01t00:00:00z", "2026-01-01", ["re_2", "re_3"], id="lower case, mixed forms"),
    pytest.param("2024-02-29", "2024-02-29", ["re_5"], id="leap day"),
    pytest.param("2000-01-01", "2099-12-31", ["re_5", "re_1", "re_2", "re_3", "re_4"], id="all, by createdAt"),
    pytest.param("2027-01-01", "2027-12-31", [], id="none"),
    pytest.param("2026-01-02", "2026-01-01", 400, id="reversed"),
    pytest.param("2026-02-30", "2026-03-01", 400, id="no such day"),
    pytest.param("2025-02-29", "2025-03-01", 400, id="no leap year"),
    pytest.param("2026-13-01", "2027-01-01", 400, id="no such month"),
    pytest.param("2026-1-1", "2026-01-02", 400, id="short form"),
    pytest.param("01-01-2026", "2026-01-02", 400, id="other order"),
    pytest.param("20260101", "2026-01-02", 400, id="basic form"),
    pytest.param("2026-01-01T00:00:00", "2026-01-02", 400, id="no offset"),
    pytest.param("2026-01-01T25:00:00Z", "2026-01-02", 400, id="hour 25"),
    pytest.param("today", "2026-01-02", 400, id="a word"),
    pytest.param("2026-01-01%00", "2026-01-02", 404, id="NUL is Apache's own 404"),
    pytest.param("2026-01-01x", "2026-01-02", 400, id="something behind"),
])
def test_range(shop, tmp_path, start, end, want):
    load(shop, ROWS, tmp_path)
    answer = shop.refunds(start, end)
    if isinstance(want, int):
        assert answer.status == want, answer
        if want == 400:
            assert answer.json["data"]["responseCode"] == "T1"
            assert answer.json["data"]["errors"]
    else:
        assert ids(answer) == want


def test_both_ends_at_fault_are_named(shop):
    answer = shop.refunds("x", "y")
    assert [e["field"] for e in answer.json["data"]["errors"]] == ["/startDate", "/endDate"]


@pytest.mark.parametrize("zone, want", [
    pytest.param("Africa/Lagos", ["re_1", "re_2"], id="one hour east"),
    pytest.param("America/New_York", ["re_2", "re_3", "re_4"], id="five hours west"),
    pytest.param("UTC", ["re_2", "re_3"], id="UTC"),
])
def test_bare_dates_are_days_of_the_accounts_zone(shop, tmp_path, zone, want):
    shop.httpd.ctl("account", "set", shop.name, "--timezone", zone)
    load(shop, [record(1, "2025-12-31T23:00:00.000Z"), record(2, "2026-01-01T22:59:59.999Z"),
                record(3, "2026-01-01T23:00:00.000Z"), record(4, "2026-01-02T04:59:59.999Z"),
                record(5, "2026-01-02T05:00:00.000Z")], tmp_path)
    assert ids(shop.refunds("2026-01-01", "2026-01-01")) == want


def test_same_instant_keeps_the_order_of_commit(shop, tmp_path):
    load(shop, [record(n, "2026-01-01T00:00:00.000Z") for n in (3, 1, 2)], tmp_path)
    assert ids(shop.refunds()) == ["re_3", "re_1", "re_2"]


def test_modes_and_accounts_are_apart(httpd, tmp_path):
    one, two = httpd.shop(), httpd.shop()
    load(one, [record(1, "2026-01-01T00:00:00.000Z")], tmp_path)
    assert ids(one.refunds()) == ["re_1"]
    assert ids(two.refunds()) == []
    assert ids(one.refunds(key=one.live_secret)) == []


@pytest.mark.parametrize("accept, media", [
    pytest.param(None, "application/json", id="no header"),
    pytest.param("*/*", "application/json", id="anything"),
    pytest.param("application/*", "application/json", id="a range"),
    pytest.param("text/*", "text/json", id="text range"),
    pytest.param("text/json", "text/json", id="text/json"),
    pytest.param("text/plain", "text/plain", id="text/plain"),
    pytest.param("TEXT/PLAIN", "text/plain", id="upper case"),
    pytest.param("text/html, text/plain;q=0.5, application/json;q=0.1", "text/plain", id="weights"),
    pytest.param("text/plain;q=0, */*;q=0.1", "application/json", id="one refused"),
    pytest.param("application/json;q=0.5, text/json;q=0.5", "application/json", id="a tie"),
    pytest.param("application/json;q=0, text/json", "text/json", id="the default refused"),
    pytest.param("text/html", 406, id="nothing we have"),
    pytest.param("*/*;q=0", 406, id="all refused"),
    pytest.param("application/json;q=0", 406, id="only the default, refused"),
    pytest.param("application/xml, image/*", 406, id="other ranges"),
])
def test_negotiation(shop, accept, media):
    headers = {} if accept is None else {"Accept": accept}
    answer = shop.refunds(headers=headers)
    assert answer.header("vary") == "Accept"
    if media == 406:
        assert answer.status == 406
        assert answer.json["data"]["responseCode"] == "A1"
        assert answer.header("content-type").startswith("application/json")
    else:
        assert answer.status == 200
        assert answer.header("content-type") == f"{media}; charset=utf-8"
        assert answer.body == b"[]"


def test_accept_is_judged_before_a_charge_is_made(shop):
    ref = reference()
    assert shop.charge(reference=ref, headers={"Accept": "text/html"}).status == 406
    assert shop.charge(reference=ref).header("idempotent-replayed") is None


@pytest.mark.parametrize("headers", [
    pytest.param([], id="json"), pytest.param([("Accept", "text/plain")], id="plain")])
def test_head_has_the_headers_of_get(shop, tmp_path, headers):
    load(shop, ROWS, tmp_path)
    got, head = shop.refunds(headers=headers), shop.call(
        "HEAD", "/api/v1/refund/2000-01-01/2099-12-31", headers=headers)
    assert head.status == 200 and head.body == b""
    for name in ("content-type", "content-length", "cache-control", "vary", "x-content-type-options"):
        assert head.header(name) == got.header(name), name


@pytest.mark.parametrize("path, status", [
    pytest.param("/api/v1/refund/2026-01-01", 404, id="a missing segment is a refund's reference"),
    pytest.param("/api/v1/refund/2026-01-01/", 404, id="an empty one"),
    pytest.param("/api/v1/refund", 405, id="none: that is where refunds are made"),
    pytest.param("/api/v1/refund/2026-01-01/2026-01-02/x", 404, id="one too many"),
    pytest.param("/api/v1//refund///2026-01-01//2026-01-02", 200, id="doubled slashes"),
    pytest.param("//api/v1/refund/2026-01-01/2026-01-02", 200, id="a doubled first slash"),
    pytest.param("/x/../api/v1/refund/2026-01-01/2026-01-02", 200, id="dot segments"),
    pytest.param("/%61pi/v1/refund/2026-01-01/2026-01-02", 200, id="an encoded letter"),
    pytest.param("/api/v1/refund/2026-01-01/2026-01-02?page=2", 200, id="a query is ignored"),
    pytest.param("/api/v1/refund/2026-01-01%2F2026-01-02", 404, id="an encoded slash"),
])
def test_paths(shop, path, status):
    answer = shop.call("GET", path)
    assert answer.status == status, answer
    if status == 404:
        assert answer.json["data"]["responseCode"] in ("N1", "N2", "404")


def test_single_refund(shop):
    ref = reference()
    shop.charge(reference=ref)
    made = shop.refund(ref, "1")
    answer = shop.call("GET", "/api/v1/refund/" + made["refundReference"])
    assert (answer.status, answer.json) == (200, made)
    missing = shop.call("GET", "/api/v1/refund/nothing-here")
    assert missing.status == 404
    assert missing.json["message"] == "no record found for transaction with reference nothing-here"
    assert missing.json["data"]["responseCode"] == "N1"


def test_longest_range_can_be_limited(server):
    httpd = server(host_extra="PaymentsRefundMaxDays 7")
    shop = httpd.shop()
    assert shop.refunds("2026-01-01", "2026-01-08").status == 200
    answer = shop.refunds("2026-01-01", "2026-01-09")
    assert answer.status == 400
    assert answer.json["data"]["responseCode"] == "T1"


COUNT = 30000


def test_long_list_streams_in_order_within_bounded_memory(httpd, tmp_path):
    shop = httpd.shop()
    rows = [record(n, f"2026-01-{1 + n // 1500:02d}T{n % 24:02d}:00:00.000Z", customerNote="n" * 200)
            for n in range(COUNT)]
    load(shop, rows, tmp_path)
    want = [row["id"] for row in sorted(rows, key=lambda row: row["createdAt"])]
    private = lambda: {pid: memory(pid) for pid in httpd.pids()}
    shop.refunds("2026-01-01", "2026-01-01")
    before = private()
    answer = shop.refunds()
    after = private()
    assert ids(answer) == want
    assert answer.header("content-length") is None
    assert len(answer.body) > 10_000_000
    for pid in before.keys() & after.keys():
        assert after[pid] - before[pid] < 4 << 20, "a child grew with the list"


def memory(pid):
    """Private bytes of a process: what it does not share, the store's map aside."""
    total = 0
    with open(f"/proc/{pid}/smaps_rollup") as rollup:
        for line in rollup:
            if line.startswith(("Private_Dirty", "Anonymous")):
                total = max(total, int(line.split()[1]) * 1024)
    return total


def test_head_of_a_long_list_sends_no_body(httpd, tmp_path):
    shop = httpd.shop()
    load(shop, [record(n, "2026-01-01T00:00:00.000Z") for n in range(2000)], tmp_path)
    answer = shop.call("HEAD", "/api/v1/refund/2000-01-01/2099-12-31")
    assert (answer.status, answer.body) == (200, b"")


def test_one_consistent_view(httpd, tmp_path):
    """A slow reader never sees what was refunded after its request began."""
    shop = httpd.shop()
    load(shop, [record(n, "2026-01-01T00:00:00.000Z", customerNote="n" * 900) for n in range(8000)], tmp_path)
    ref = reference()
    shop.charge(reference=ref)
    with socket.create_connection(("127.0.0.1", httpd.port), timeout=60) as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 16)
        sock.sendall(f"GET /api/v1/refund/2000-01-01/2099-12-31 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
                     f"Authorization: Bearer {shop.secret}\r\n\r\n".encode())
        body = sock.recv(1024)
        assert body.startswith(b"HTTP/1.1 200")
        late = shop.refund(ref, "1")
        load(shop, [record(9000, "2026-01-02T00:00:00.000Z")], tmp_path)
        while True:
            part = sock.recv(1 << 16)
            if not part:
                break
            body += part
    assert late["refundReference"].encode() not in body
    assert b"re_9000" not in body
    assert body.endswith(b"0\r\n\r\n")
    assert body.count(b'"refundReference"') == 8000
    assert ids(shop.refunds())[-2:] == ["re_9000", late["id"]]


def test_slow_readers_hold_no_transaction(httpd, tmp_path):
    shop = httpd.shop()
    load(shop, [record(n, "2026-01-01T00:00:00.000Z", customerNote="n" * 900) for n in range(8000)], tmp_path)
    socks = []
    for _ in range(4):
        sock = socket.create_connection(("127.0.0.1", httpd.port), timeout=60)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 16)
        sock.sendall(f"GET /api/v1/refund/2000-01-01/2099-12-31 HTTP/1.1\r\nHost: x\r\n"
                     f"Authorization: Bearer {shop.secret}\r\n\r\n".encode())
        assert sock.recv(512).startswith(b"HTTP/1.1 200")
        socks.append(sock)

    wait_for(lambda: not busy_readers(httpd.store), "all read transactions to end")
    for sock in socks:
        sock.close()


def test_time_zone_that_is_not_installed(server):
    """Days of a zone that this system does not know are no other zone's: 500, and the log says what is missing."""
    httpd = server()
    shop, other = httpd.shop(), httpd.shop()
    httpd.ctl("account", "set", shop.name, "--timezone", "Africa/Lagos")
    with Raw(httpd.store) as raw:
        raw.begin()
        number = raw.get("account_name", shop.name.encode())
        row = raw.get("account", number)
        assert row.count(b"Africa/Lagos") == 1
        raw.put("account", number, row.replace(b"Africa/Lagos", b"Africa/Nowhe"))
        raw.commit()
    httpd.expect_log("PAY00331")
    answer = shop.refunds()
    assert answer.status == 500 and answer.json["data"]["responseCode"] == "E1", answer
    assert f"PAY00331: time zone Africa/Nowhe of account {shop.name} cannot be read" in httpd.log_text()
    assert shop.call("GET", "/api/v1/transaction").status == shop.call("GET", "/api/v1/report/2026-01-01/2026-01-02").status == 500
    assert shop.call("GET", "/api/v1/transaction?tz=UTC").status == 200  # it does not matter there
    assert ids(other.refunds()) == []
    assert shop.charge().status == 200


def test_client_that_leaves_harms_nobody(httpd, tmp_path):
    shop = httpd.shop()
    load(shop, [record(n, "2026-01-01T00:00:00.000Z", customerNote="n" * 900) for n in range(8000)], tmp_path)
    for _ in range(10):
        with socket.create_connection(("127.0.0.1", httpd.port), timeout=60) as sock:
            sock.sendall(f"GET /api/v1/refund/2000-01-01/2099-12-31 HTTP/1.1\r\nHost: x\r\n"
                         f"Authorization: Bearer {shop.secret}\r\n\r\n".encode())
            sock.recv(512)
    started = time.monotonic()
    assert {answer.status for answer in at_once([shop.charge] * 8)} == {200}
    assert time.monotonic() - started < 20
