# SPDX-License-Identifier: Apache-2.0
"""A disk that is full or fails: 503 in the API's own words, nothing acknowledged is lost, and it goes on by itself.

A library preloaded into the real server makes writes and syncs of the store fail while a test says so (fail.h); root
fills real file systems too. Clients send each request again until it has its answer.
"""

import contextlib
import ctypes
import errno
import json
import mmap
import os
import random
import re
import subprocess

import pytest

from children import WHO, connections_to_all
from conftest import FULL, loaded, size
from dashboard import Person, settings
from harness import WAIT_S, beside, charge_body, wait_for
from load import Load, calls, counter, seed, undecided, verify

SHORT = -1  # FAIL_SHORT
REFUSED = size(5, 60)  # answers of 503 to see before the disk is mended
CHARGES = size(20, 200)  # before and after
ROUNDS = size(1, 3)
INSIDE = pytest.param("", id="decided-inside")  # in the transaction that opens a charge
ASKED = pytest.param(counter(), id="asked")  # an acquirer is called between two transactions
ACQUIRERS = size([INSIDE], [INSIDE, ASKED])


class Fail(ctypes.Structure):
    """fail_t of fail.h."""

    _fields_ = [(name, ctypes.c_int) for name in
                ("data", "sync", "header", "restore", "data_failed", "sync_failed", "header_failed", "restore_failed")]


class Disk:
    """The disk of one server's store, which fails in the ways that are set."""

    def __init__(self, httpd):
        path = httpd.root / "fail"
        path.write_bytes(bytes(ctypes.sizeof(Fail)))
        path.chmod(0o666)
        with open(path, "r+b") as file:
            self.fail = Fail.from_buffer(mmap.mmap(file.fileno(), ctypes.sizeof(Fail)))

    def set(self, **kinds):
        for name in "data", "sync", "header", "restore":
            setattr(self.fail, name, kinds.get(name, 0))

    def failed(self, kind):
        return getattr(self.fail, kind + "_failed")


def with_disk(server, more=None, **kwargs):
    """`more(httpd)` is what its host has in its configuration beside that."""
    httpd = server(start=False, env={"LD_PRELOAD": loaded("faults/preload_fail"), "PAYMENTS_FAIL": "{root}/fail",
                                     "PAYMENTS_PRELOAD_FILE": "{root}/store/data.mdb"}, **kwargs)
    disk = Disk(httpd)
    httpd.host_extra += more(httpd) if more else ""
    return httpd.start(), disk


def is_out_of_service(answer):
    assert (answer.status, answer.json["data"]["responseCode"]) == (503, "E2"), answer
    assert int(answer.header("retry-after")) > 0
    return True


def reads_go_on(shop, paid, connection=None):
    """What was stored is still told: by verify, by lists, and to who sends the same charge again."""
    answers = [shop.call("GET", f"/api/v1/checkout/{paid['reference']}/verify", connection=connection),
               shop.refunds(connection=connection), shop.charge(connection=connection, **paid)]
    if 503 in [answer.status for answer in answers]:
        return False
    assert [answer.status for answer in answers] == [200, 200, 200], answers
    assert answers[-1].header("idempotent-replayed") == "true"
    return True


def all_read(shop, paid):
    """A child that found the header spoiled opens the store anew after a while, each for itself."""
    wait_for(lambda: all(reads_go_on(shop, paid, one) for one in connections_to_all(shop.httpd).values()),
             "every child to tell what was stored")


def asked(load):
    """A charge of the test's own, beside those of the load."""
    body = charge_body()
    load.asked[body["reference"]] = body
    return body


def refused_one(load):
    """The answer to a charge of the test's own, if it was refused."""
    body = asked(load)
    answer = load.shop.charge(**body)
    if answer.status in (200, 202):
        load.charged[body["reference"]] = answer.json["data"]
    return answer if answer.status == 503 else None


def refusals(load):
    return sum(1 for one in load.tries if one.status == 503)


def went_on(load, shop, before):
    """Every request that was refused has its answer since; the server never ended."""
    load.wait_for_more(CHARGES)
    assert set(shop.httpd.pids()) == before, "a child ended"
    refused = [one for one in load.tries if one.status == 503]
    assert all(int(one.retry_after) > 0 for one in refused)


def decided_in_the_end(load):
    """What could not be decided while the disk failed is decided once the acquirer was asked again."""
    if FULL:
        wait_for(lambda: not undecided(load.shop), "the watchdog to ask about what is pending", 180)
    return verify(load, pending=not FULL, counted="counter" in load.httpd.extra)


COMMIT = "PAY00112"  # a commit failed: whether it was done is unknown
HEADER = "PAY00101"  # a write to the header failed: closed and opened again
FULL_DISK = "PAY00108"  # the disk is full, where the system says so
OUTCOME = "PAY00201|PAY00210"  # an outcome could not be stored
# A charge whose process may still be at work on it is in flight for 5 s and this.
TIMEOUT = "PaymentsAcquirerTimeout 1s\n"


@pytest.mark.parametrize("extra", ACQUIRERS)
@pytest.mark.parametrize("kinds, log", [
    pytest.param({"data": errno.ENOSPC}, COMMIT, id="full"),
    pytest.param({"data": SHORT}, COMMIT, id="full-within-a-write"),
    pytest.param({"data": errno.EIO}, COMMIT, id="data"),
    pytest.param({"sync": errno.EIO}, COMMIT, id="sync"),
    pytest.param({"header": errno.EIO}, HEADER, id="header"),
    pytest.param({"header": errno.EIO, "restore": errno.EIO}, HEADER, id="header-that-landed"),
])
def test_disk_that_fails_for_a_while(server, kinds, log, extra):
    httpd, disk = with_disk(server, extra=extra + TIMEOUT + WHO)
    httpd.expect_log(f"{COMMIT}|{HEADER}|{OUTCOME}|PAY00100|PAY00103")
    if kinds.get("data") in (errno.ENOSPC, SHORT):
        httpd.expect_log(FULL_DISK)
    shop = httpd.shop()
    children = set(httpd.pids())
    with Load(shop, chance=random.Random(seed())) as load:
        paid = asked(load)
        load.charged[paid["reference"]] = shop.charge(**paid).json["data"]
        for _ in range(ROUNDS):
            load.wait_for_more(CHARGES)
            refused, failed = refusals(load), disk.failed(next(iter(kinds)))
            disk.set(**kinds)
            wait_for(lambda: refusals(load) >= refused + REFUSED, "requests to be refused")  # noqa: B023
            assert disk.failed(next(iter(kinds))) > failed
            if "header" not in kinds:  # else it is closed now and then, and nothing is read
                is_out_of_service(shop.charge(**asked(load)))
                assert reads_go_on(shop, paid)
            disk.set()
            went_on(load, shop, children)
            all_read(shop, paid)
    assert log in httpd.log_text()
    rows = decided_in_the_end(load)
    pending = sum(1 for row in rows.values() if row["status"] == "pending")
    print(f"PAYMENTS_FAULTS: disk failed {ROUNDS} times ({', '.join(kinds)}): {load.count()} charges answered, "
          f"{refusals(load)} requests refused, {len(rows)} stored, {pending} of them undecided")


def test_outcome_that_cannot_be_stored(server):
    """The acquirer was called, then the disk failed: 202, and 409 D2 or 202 until it is asked again; never twice."""
    httpd, disk = with_disk(server, extra=counter(delay=500) + TIMEOUT)
    httpd.expect_log(f"{COMMIT}|{OUTCOME}")
    shop = httpd.shop()
    body = charge_body()
    charging = beside(lambda: shop.charge(**body))
    wait_for(lambda: calls(httpd)["charge", body["reference"]], "the acquirer to be called")
    disk.set(data=errno.EIO)
    answer = charging.result(WAIT_S)
    assert answer.status == 202 and answer.json["data"]["status"] == "pending", answer
    is_out_of_service(shop.charge())
    again = shop.charge(**body)
    assert again.status == 202 or (again.status, again.json["data"]["responseCode"]) == (409, "D2"), again
    disk.set()
    assert shop.charge().status == 200
    if FULL:
        wait_for(lambda: shop.charge(**body).status == 200, "the watchdog to ask the acquirer", 120)
    assert calls(httpd)["charge", body["reference"]] == 1


def test_settings_that_cannot_be_stored(server):
    """A reload while the disk fails: what the store knew holds, and the log says of which directives."""
    httpd, disk = with_disk(server)
    shop = httpd.shop()
    httpd.extra, httpd.host_extra = "PaymentsWebhookInsecure On\n", "PaymentsDefaultCurrency EUR\n"
    httpd.write_config()
    httpd.expect_log(f"{COMMIT}|PAY00301|PAY00356")
    disk.set(data=errno.EIO)
    httpd.graceful()
    disk.set()
    for words in ("PAY00301: PaymentsStore .*: the defaults of new accounts could not be stored: ",
                  "PAY00356: PaymentsStore .*: the directives about notifications could not be stored"):
        assert re.search(words, httpd.log_text()), words
    assert json.loads(httpd.ctl("account", "show", httpd.shop().name, "--json").stdout)["currency"] == "NGN"
    assert shop.charge().status == 200


def test_refusal_that_cannot_be_entered(server):
    """A change is refused whether the audit takes the entry or not; the log tells what the audit does not."""
    httpd, disk = with_disk(server, more=settings)
    name = httpd.shop().name
    httpd.ctl("account", "grant", name, "vera", "--host", "localhost", "--role", "viewer")
    httpd.expect_log(f"{COMMIT}|PAY00781")
    disk.set(data=errno.EIO)
    answer = Person(httpd, "vera").post(f"accounts/{name}/keys", {"kind": "public", "mode": "test"})
    disk.set()
    assert answer.status == 403, answer
    assert "PAY00781: a refused change could not be written to the audit: " in httpd.log_text()
    entered = json.loads(httpd.ctl("audit", "list", name, "--json").stdout)
    assert "refused" not in [one["what"] for one in entered]


DISK_MIB = 320  # paymentsctl makes no account below its reserve of 256 MiB


@contextlib.contextmanager
def mounted(directory, kind, mib):
    """A small file system of its own."""
    directory.mkdir()
    if kind == "ext4":
        image = directory.with_suffix(".img")
        image.write_bytes(b"")
        os.truncate(image, mib << 20)
        subprocess.run(["mkfs.ext4", "-q", "-m", "0", image], check=True)
        subprocess.run(["mount", "-o", "loop", image, directory], check=True)
    else:
        subprocess.run(["mount", "-t", kind, "-o", f"size={mib}m", "none", directory], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", directory], check=True)


def fill(directory):
    """Takes all that is left; returns the file to remove."""
    ballast = directory / "ballast"
    with open(ballast, "wb") as file:
        for step in 64 << 20, 1 << 20, 4096:
            with contextlib.suppress(OSError):
                while True:
                    os.posix_fallocate(file.fileno(), os.fstat(file.fileno()).st_size, step)
    return ballast


LAST_BYTE = "0", f"{COMMIT}|{FULL_DISK}"
RESERVE = "1M", "PAY00106"


@pytest.mark.root
@pytest.mark.parametrize("kind, reserve, log", size(
    [("tmpfs", *LAST_BYTE), ("ext4", *RESERVE)],
    [("tmpfs", *LAST_BYTE), ("tmpfs", *RESERVE), ("ext4", *LAST_BYTE), ("ext4", *RESERVE)]))
def test_disk_that_is_really_full(server, kind, reserve, log):
    httpd = server(start=False, extra=size("", counter()) + TIMEOUT, host_extra=f"PaymentsStoreReserve {reserve}")
    httpd.expect_log(f"{COMMIT}|{OUTCOME}|PAY00106|PAY00108")
    disk = httpd.root / "disk"
    httpd.store = disk / "store"
    with mounted(disk, kind, DISK_MIB):
        httpd.start()
        try:
            shop = httpd.shop()
            children = set(httpd.pids())
            with Load(shop, chance=random.Random(seed())) as load:
                paid = asked(load)
                load.charged[paid["reference"]] = shop.charge(**paid).json["data"]
                load.wait_for_more(CHARGES)
                refused = refusals(load)
                ballast = fill(disk)
                wait_for(lambda: re.search(log, httpd.log_text()), "the log to say what is full")
                wait_for(lambda: refusals(load) >= refused + REFUSED, "requests to be refused")
                # Pages of the file that are free again are written all the same while there are some.
                refusal = wait_for(lambda: refused_one(load), "a charge to be refused")
                is_out_of_service(refusal)
                assert reads_go_on(shop, paid)
                ballast.unlink()
                went_on(load, shop, children)
            rows = decided_in_the_end(load)
            print(f"PAYMENTS_FAULTS: {kind} was full: {load.count()} charges answered, {refusals(load)} requests "
                  f"refused, {len(rows)} stored")
        finally:
            httpd.stop()
