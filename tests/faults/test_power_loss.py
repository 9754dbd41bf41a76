# SPDX-License-Identifier: Apache-2.0
"""The power fails at every sync and between them: what was answered is in the store that is found.

A real server works under a library that records every write and sync of its store. From that record faults/reopen
makes what a disk may hold after a cut and opens it with the product's own store.
"""

import functools
import json
import random
import re
import secrets
import shutil
import struct
import subprocess

import pytest

from conftest import loaded, size
from harness import BUILD, Httpd, at_once, charge_body
from load import counter, seed

REOPEN = str(BUILD / "tests/faults/reopen")
SEED = seed()
CLIENTS = 8
REQUESTS = size(96, 1200)
CUTS = size(150, 2400)
TOKENS = ["tok_test_success"] * 7 + ["tok_test_declined", "tok_test_timeout", "tok_test_refund_fails"]
MARK = 6  # RECORD_MARK of record.h


class Recorded:
    """A server whose store's writes are recorded from before its start, and what it answered."""

    def __init__(self, extra=""):
        self.httpd = Httpd(extra=extra, env={
            "LD_PRELOAD": loaded("faults/preload_record"), "PAYMENTS_RECORD": "{root}/record",
            "PAYMENTS_PRELOAD_FILE": "{root}/store/data.mdb", "PAYMENTS_PRELOAD_CALLS": "{root}/counter"})
        self.record = self.httpd.root / "record"
        self.record.touch()
        self.record.chmod(0o666)
        self.base = "-"
        self.requests = []  # (body of a charge, its answer)
        self.answered = 0

    def mark(self, text):
        """What a client was told, behind all that it rests on."""
        data = text.encode()
        with open(self.record, "ab", buffering=0) as file:
            file.write(struct.pack("=IIQQ", MARK, 0, 0, len(data)) + data)
        self.answered += 1

    def told(self, answer, noun, name, minor):
        assert answer.status in (200, 202), answer
        data = answer.json["data"] if noun == "charge" else answer.json
        self.mark(f"{noun} {data[name]} {data['status']} {minor}")
        return data

    def client(self, shop, rng, count):
        """Charges, and some of them refunded in part, one request after the other."""
        connection = self.httpd.connect()
        paid = []
        for _ in range(count):
            if paid and rng.random() < 0.3:
                fields = {"reference": rng.choice(paid), "amount": rng.randint(1, 9)}
                answer = shop.call("POST", "/api/v1/partial-refund", fields, connection=connection,
                                   headers={"Idempotency-Key": secrets.token_hex(8)})
                self.told(answer, "refund", "refundReference", fields["amount"] * 100)
                continue
            body = charge_body(token=rng.choice(TOKENS), amount=rng.randint(1000, 99999))
            answer = shop.call("POST", "/api/v1/tokenized-card-charge", body, connection=connection)
            data = self.told(answer, "charge", "reference", body["amount"] * 100)
            self.requests.append((body, answer))
            if data["status"] == "successful" and body["token"] == "tok_test_success":
                paid.append(data["reference"])
        connection.close()

    def load(self, shop):
        at_once([functools.partial(self.client, shop, random.Random(SEED + number), REQUESTS // CLIENTS)
                 for number in range(CLIENTS)])


@pytest.fixture(scope="module", params=[pytest.param("", id="decided-inside"), pytest.param(counter(), id="asked")])
def worked(request):
    """A record of charges and refunds by several clients and two children.

    Decided inside the transaction that opens them, or by an acquirer that is asked between two.
    """
    one = Recorded(request.param)
    one.httpd.expect_log("PAY00231: .* out of service")  # the watchdog was at work when the server ended
    shop = one.shop = one.httpd.shop()
    one.base = one.httpd.root / "base.mdb"
    shutil.copy(one.httpd.store / "data.mdb", one.base)
    one.httpd.start()
    one.load(shop)
    one.httpd.stop()
    yield one
    one.httpd.close()


class Found:
    """What faults/reopen said of the cuts."""

    def __init__(self, directory, record, base="-", account="-", cuts=CUTS, lie="none", seed=SEED):
        self.directory = directory
        done = subprocess.run([REOPEN, record, base, directory, account, str(seed), str(cuts), lie], text=True,
                              capture_output=True, timeout=1800, check=False)
        self.lines = done.stdout.splitlines()
        assert done.returncode == 0, f"{done.stderr}\n{self.lines[-20:]}"
        words = self.lines.pop().split()
        for name, value in zip(words[::2], words[1::2]):
            setattr(self, name, int(value))

    def has(self, pattern):
        return any(re.search(pattern, line) for line in self.lines)


def test_every_cut_holds_what_was_answered(worked, tmp_path):
    found = Found(tmp_path, worked.record, worked.base, worked.shop.name)
    assert not found.faulty, f"PAYMENTS_SEED={SEED}\n" + "\n".join(found.lines[:40])
    calls = worked.httpd.root / "counter"
    asked = len(calls.read_text().splitlines()) if calls.exists() else 0
    assert worked.answered == REQUESTS
    assert found.marks == worked.answered + asked
    assert found.cuts >= max(CUTS, 2 * found.syncs)
    assert found.open >= found.cuts // 4, "few cuts had writes on their way"
    missed_nothing(worked, tmp_path)
    print(f"PAYMENTS_FAULTS: power cut {found.cuts} times ({found.open} with writes on their way) at {found.syncs} "
          f"syncs of {worked.answered} answered charges and refunds, {asked} of them asked of an acquirer; nothing "
          f"lost (PAYMENTS_SEED={SEED})")
    carry_on(worked, tmp_path / "middle.mdb")


def missed_nothing(recorded, directory):
    """The record, played to its end, is the file."""
    assert (directory / "last.mdb").read_bytes() == (recorded.httpd.store / "data.mdb").read_bytes()


def carry_on(worked, image):
    """A server starts with what a cut left; each client sends all its requests again, and none is charged twice."""
    httpd = Httpd()
    httpd.store.mkdir(mode=0o700)
    shutil.copy(image, httpd.store / "data.mdb")
    httpd.expect_log("PAY00700")  # the image is laid into a file of its own, as a copy is
    httpd.start()
    try:
        connection = httpd.connect()
        for body, before in worked.requests:
            answer = httpd.request("POST", "/api/v1/tokenized-card-charge", json.dumps(body), connection=connection,
                                   headers={"Authorization": f"Bearer {worked.shop.secret}",
                                            "Content-Type": "application/json"})
            # What was on its way to the acquirer when the power failed stays pending until the watchdog asks.
            assert answer.status in (200, 202), (body, answer)
            assert 202 in (before.status, answer.status) or \
                answer.json["data"]["status"] == before.json["data"]["status"], (before, answer)
        connection.close()
        listed = json.loads(httpd.ctl("charge", "list", worked.shop.name, "--mode", "test", "--json").stdout)
        assert sorted(row["reference"] for row in listed) == sorted(body["reference"] for body, _ in worked.requests)
        assert httpd.ctl("store", "check").stdout == ""
    finally:
        httpd.close()


@pytest.mark.parametrize("lie, sign", [
    pytest.param("all", r"charge \S+ \w+ \d+: is lost|charge \S+: is unknown", id="nothing-lands"),
    pytest.param("syncs", "it does not open|store check|died|cannot be read|is lost", id="only-the-header-lands"),
])
def test_disk_that_lies_is_noticed(worked, tmp_path, lie, sign):
    """The cuts can fail: of a disk whose syncs do nothing they tell what is lost."""
    found = Found(tmp_path, worked.record, worked.base, worked.shop.name, cuts=20, lie=lie)
    assert found.faulty > found.cuts // 4, found.lines
    assert found.has(sign), found.lines


def test_power_fails_while_a_store_is_made(tmp_path):
    """The first start: whatever of a new store has landed, it is opened or made by the next start."""
    one = Recorded()
    one.httpd.start()
    one.httpd.stop()
    found = Found(tmp_path, one.record, cuts=size(40, 400))
    missed_nothing(one, tmp_path)
    one.httpd.close()
    assert not found.faulty, f"PAYMENTS_SEED={SEED}\n" + "\n".join(found.lines[:40])
    assert found.open >= found.cuts // 4
    print(f"PAYMENTS_FAULTS: power cut {found.cuts} times while a store was made (PAYMENTS_SEED={SEED})")
