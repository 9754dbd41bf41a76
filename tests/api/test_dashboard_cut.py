# SPDX-License-Identifier: Apache-2.0
"""Long answers that end in the middle, because the client leaves, the store fails or a process is killed.

A client sees of each that it is not whole, no read transaction is left of it, and the server goes on.
"""

import contextlib
import csv
import http.client
import io
import itertools
import json
import os
import signal
import socket
import struct
import subprocess

import pytest

from dashboard import PATH, Person, basic, fill, location, settings, sign_up
from harness import KILLED, STORE_GONE, Httpd, run_ctl_lines, wait_for
from raw_lmdb import Raw, busy_readers, dead_readers
from test_dashboard import grant
from test_refund_list import load, record


THREADS = 8
ONE_CHILD = (f"StartServers 1\nServerLimit 1\nThreadsPerChild {THREADS}\nThreadLimit {THREADS}\n"
             f"MaxRequestWorkers {THREADS}\nMinSpareThreads 1\nMaxSpareThreads {THREADS}")
SMALL = 1 << 16  # of the buffers between server and client, which else would take half of an answer
CHARGES, REFUNDS = 20_000, 8_000
EXPORTS = ["charges.csv", "charges.json", "refunds.csv", "refunds.json"]
READERS = [f"reader-{number}" for number in range(20)]  # who take turns: each may export 30 times in a row
reader = itertools.cycle(READERS)


@pytest.fixture(scope="module")
def stocked(tmp_path_factory):
    """A server of one process, and a shop there whose exports are longer than what buffers hold."""
    httpd = Httpd(mpm="event", threads=ONE_CHILD, extra=f"SendBufferSize {SMALL}\n")
    httpd.host_extra = settings(httpd)
    sign_up(httpd, READERS)
    httpd.start()
    shop = httpd.shop()
    run_ctl_lines(httpd.store, [f"account grant {shop.name} {user} --host localhost --role viewer"
                                for user in ["vera", *READERS]])
    fill(httpd, shop, CHARGES)
    load(shop, [record(n, "2026-01-01T00:00:00.000Z", customerNote="n" * 400) for n in range(REFUNDS)],
         tmp_path_factory.mktemp("rows"))
    yield shop
    httpd.close()


@pytest.fixture
def shop(stocked):
    """The same; a loud log line that this test did not expect fails this test."""
    yield stocked
    loud = stocked.httpd.unexpected()
    assert not loud, "unexpected in the error log:\n" + "\n".join(loud)


def request_of(shop, name, user=None):
    """The request and its user; "refunds" is the list of the API."""
    if name == "refunds":
        return "/api/v1/refund/2000-01-01/2099-12-31", {"Authorization": f"Bearer {shop.secret}"}
    return f"{PATH}/api/accounts/{shop.name}/test/export/{name}", basic(user or next(reader))


class Begun:
    """An answer whose first bytes have come, and of which no more is read for now."""

    def __init__(self, shop, name):
        path, headers = request_of(shop, name)
        self.sock = socket.socket()
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SMALL)
        self.sock.settimeout(60)
        self.sock.connect(("127.0.0.1", shop.httpd.port))
        lines = [f"GET {path} HTTP/1.1", f"Host: 127.0.0.1:{shop.httpd.port}", *(": ".join(one) for one in headers.items())]
        self.sock.sendall("\r\n".join([*lines, "", ""]).encode())
        self.answer = http.client.HTTPResponse(self.sock, method="GET")
        self.answer.begin()
        assert self.answer.status == 200 and self.answer.chunked
        self.first = self.answer.read(100)

    def rest(self):
        return self.first + self.answer.read()

    def is_cut(self):
        """The rest comes, and its end does not."""
        with pytest.raises((http.client.IncompleteRead, ConnectionResetError)):
            self.answer.read()
        self.sock.close()
        return True

    def leave(self, at_once):
        """`at_once`: by a reset."""
        if at_once:
            self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.answer.close()
        self.sock.close()


def count(name, body):
    """Rows of a whole answer."""
    if name.endswith(".csv"):
        return sum(1 for _ in csv.reader(io.StringIO(body.decode(), newline=""))) - 1
    return len(json.loads(body))


def stored(shop, name):
    if name.startswith("refunds"):
        return REFUNDS
    return Person(shop.httpd, "vera").get(f"accounts/{shop.name}/test/charges?limit=1").json["items"][0]["id"]


def is_well(shop, name):
    """The same is answered whole, and nothing is left of what was cut."""
    path, headers = request_of(shop, name)
    answer = shop.httpd.request("GET", path, headers=headers)
    assert count(name, answer.body) == stored(shop, name) >= min(CHARGES, REFUNDS)
    wait_for(lambda: not busy_readers(shop.httpd.store), "the read transactions to end")
    return True


def slots(shop):
    raw = Raw(shop.httpd.store)
    try:
        return len(raw.readers())
    finally:
        raw.close()


@pytest.mark.parametrize("name", EXPORTS)
def test_client_that_waits(shop, name):
    """It holds no transaction meanwhile, and has the whole in the end."""
    begun = Begun(shop, name)
    wait_for(lambda: not busy_readers(shop.httpd.store), "the read transactions to end")
    assert count(name, begun.rest()) == stored(shop, name)
    begun.leave(at_once=False)


@pytest.mark.parametrize("at_once", [True, False], ids=["by a reset", "in order"])
@pytest.mark.parametrize("name", EXPORTS)
def test_client_that_leaves(shop, name, at_once):
    """More of them than there are threads: each is free again, and so are the slots of readers."""
    pids = shop.httpd.pids()
    for _ in range(3):
        begun = [Begun(shop, name) for _ in range(THREADS - 1)]
        for one in begun:
            one.leave(at_once)
    assert is_well(shop, name)
    assert shop.httpd.pids() == pids and slots(shop) <= THREADS + 4  # those of the process's own threads


def store_fails(shop):
    """Makes it unreadable from now on; returns a function that repairs it."""
    httpd = shop.httpd
    aside = httpd.root / "aside"
    httpd.store.rename(aside)
    httpd.store.write_text("")  # so that no empty store is made in its place
    wait_for(lambda: shop.charge().status == 503, "the server to notice")
    httpd.expect_log("PAY00544: an export was cut short: |PAY00330: a refund list was cut short: ")
    httpd.expect_log(STORE_GONE)

    def mend():
        httpd.store.unlink()
        aside.rename(httpd.store)
        httpd.graceful()  # the process itself would wait ever longer with each of these tests
        wait_for(lambda: shop.charge().status == 200, "the store to be opened again")

    return mend


def cuts(shop):
    said = shop.httpd.log_text()
    return said.count("PAY00544: an export was cut short: ") + said.count("PAY00330: a refund list was cut short: ")


@pytest.mark.parametrize("name", EXPORTS + ["refunds"])
def test_store_that_fails(shop, name):
    before = cuts(shop)
    begun = Begun(shop, name)
    mend = store_fails(shop)
    try:
        assert begun.is_cut() and cuts(shop) == before + 1
    finally:
        mend()
    assert is_well(shop, name)


@contextlib.contextmanager
def begun_over_http2(shop):
    """curl, which has received the first bytes of the longest export; its exit status shows a reset stream."""
    path, _ = request_of(shop, "charges.json")
    with subprocess.Popen(["curl", "-sS", "--http2-prior-knowledge", "--max-time", "60", "-u", "vera:right",
                           f"http://127.0.0.1:{shop.httpd.port}{path}"], stdout=subprocess.PIPE) as curl:
        assert curl.stdout.read(100).startswith(b'[{"id":1,')
        yield curl


def test_client_that_leaves_over_http2(shop):
    pids = shop.httpd.pids()
    for _ in range(THREADS):
        with begun_over_http2(shop) as curl:
            curl.kill()
    assert is_well(shop, "charges.json") and shop.httpd.pids() == pids


def test_store_that_fails_over_http2(shop):
    """There are no chunks: the stream is reset."""
    before = cuts(shop)
    with begun_over_http2(shop) as curl:
        mend = store_fails(shop)
        try:
            curl.stdout.read()
            assert curl.wait(60) in (18, 92) and cuts(shop) == before + 1
        finally:
            mend()
    assert is_well(shop, "charges.json")


@pytest.mark.parametrize("name", EXPORTS + ["refunds"])
def test_process_that_is_killed(shop, name):
    httpd = shop.httpd
    begun = Begun(shop, name)
    (pid,) = httpd.pids()
    httpd.expect_log(KILLED)
    os.kill(pid, signal.SIGKILL)
    assert begun.is_cut()
    wait_for(lambda: pid not in httpd.pids() and httpd.answers(), "another process")
    assert is_well(shop, name)
    wait_for(lambda: not dead_readers(httpd.store), "the dead process's slots to be cleared")


def test_filter_that_fails(server):
    """Another module gives up, though nobody has left: what it let pass is not the whole."""
    httpd = server(start=False, modules=["substitute"])
    rule = 'SetOutputFilter SUBSTITUTE\nSubstitute "s/x/x/n"\nSubstituteMaxLineLength 300'
    httpd.host_extra = settings(httpd, extra=location(rule))
    httpd.start()
    shop = httpd.shop()
    grant(httpd, shop.name, "vera", "viewer")
    path, headers = request_of(shop, "charges.csv", "vera")
    for _ in range(60):
        assert shop.charge().status == 200
    assert count("charges.csv", httpd.request("GET", path, headers=headers).body) == 60
    assert shop.charge(reference="n" * 100, email="n" * 60 + "@" + "n" * 60 + ".example").status == 200
    httpd.expect_log("PAY00544: an export was cut short: |AH01328: Line too long")
    with pytest.raises(http.client.IncompleteRead):
        httpd.request("GET", path, headers=headers)


def test_record_that_cannot_be_read_back(shop):
    """A refund whose record has no state that is known is not left out of a table that looks whole."""
    scope = (1).to_bytes(4, "big") + bytes([0])
    with Raw(shop.httpd.store) as raw:
        raw.begin()
        key = raw.get("refund_ref", scope + record(REFUNDS // 2, "")["refundReference"].encode())
        row = raw.get("refund", key)
        assert row.count(b'"status":"processed"') == 1
        raw.put("refund", key, row.replace(b'"processed"', b'"processee"'))
        raw.commit()
    shop.httpd.expect_log("PAY00544: an export was cut short: a stored row does not decode; ")
    before = cuts(shop)
    assert Begun(shop, "refunds.csv").is_cut()
    assert cuts(shop) == before + 1
    with Raw(shop.httpd.store) as raw:
        raw.begin()
        raw.put("refund", key, row)
        raw.commit()
    assert is_well(shop, "refunds.csv")
