# SPDX-License-Identifier: Apache-2.0
"""payer erase and account reset beside a server that is charged (tests/faults kills them in the middle)."""

import contextlib
import functools
import json
import pathlib
import re
import threading

import pytest

from ctl_program import TEST_MODE, Ctl
from harness import WAIT_S, at_once, beside

ADA = {"email": "Ada.Lovelace@payer.example", "firstName": "Ada-Augusta", "lastName": "Lovelace-King"}
GRACE = {"email": "grace.hopper@payer.example", "firstName": "Grace-Brewster", "lastName": "Hopper-Murray"}
TRACES = [b"ada.lovelace@payer.example", b"Ada-Augusta", b"Lovelace-King", b"wrote to Ada"]
THREADS = 8
MANY = 250  # charges of a payer: more than one transaction does


def charges(shop, prefix, count, payer):
    """Some threads, each over a connection of its own."""
    def work(first):
        with contextlib.closing(shop.httpd.connect()) as connection:
            for number in range(first, count, THREADS):
                answer = shop.charge(connection, reference=f"{prefix}-{number}", **payer)
                assert answer.status == 200, answer

    at_once([functools.partial(work, first) for first in range(THREADS)])


class Load:
    """Charges of another payer, one after the other, for as long as the block runs."""

    def __init__(self, shop):
        self.shop, self.count, self.stop = shop, 0, threading.Event()

    def work(self):
        with contextlib.closing(self.shop.httpd.connect()) as connection:
            while not self.stop.is_set():
                answer = self.shop.charge(connection, reference=f"load-{self.count}", **GRACE)
                self.count += 1
                assert answer.status == 200, answer

    def __enter__(self):
        self.working = beside(self.work)
        return self

    def __exit__(self, *_):
        self.stop.set()
        self.working.result(WAIT_S)
        assert self.count > 0


def verify(shop):
    return shop.call("POST", "/api/v1/transaction/verify", {"transactionReference": "ada-2"},
                     headers=[("Idempotency-Key", "verify-ada-2")])


def traces(ctl, tmp_path, name):
    """Which traces of the payer a backup has, byte by byte."""
    ctl.ok("store", "backup", tmp_path / name)
    data = pathlib.Path(tmp_path / name / "data.mdb").read_bytes()
    return [one for one in TRACES if one in data]


def test_payer_is_erased(server, tmp_path):
    httpd = server()
    shop, other = httpd.shop(), httpd.shop()
    ctl = Ctl(httpd.store)
    token = ctl.json("token", "create", shop.name, *TEST_MODE, "--card", "5555555555554444", "--email",
                     ADA["email"])["token"]
    charges(shop, "ada", MANY, ADA)
    charges(other, "ada", 3, ADA)
    assert shop.charge(reference="by-token", token=token, **ADA).status == 200
    shop.refund("ada-1", "3", customer_note="wrote to Ada", merchant_note="wrote to Ada")
    kept = verify(shop)
    assert kept.status == 200 and b"Ada-Augusta" in kept.body and verify(shop).body == kept.body
    first = shop.charge(reference="ada-1", **ADA)
    assert first.header("Idempotent-Replayed") == "true"
    assert traces(ctl, tmp_path, "before") == TRACES

    def left():
        return len(ctl.json("charge", "list", shop.name, *TEST_MODE, "--email", ADA["email"]))

    erase = ["payer", "erase", shop.name, "--email", ADA["email"].upper(), "--yes"]
    with Load(shop):
        done = ctl.json(*erase)
    assert [one["mode"] for one in done] == ["test", "live"]
    assert done[0]["left"] == 0 and done[0]["charges"] == MANY + 1 and not any(list(done[1].values())[1:])
    assert left() == 0 and ctl.ok("store", "check") == ""
    assert ctl.json("token", "list", shop.name, *TEST_MODE) == []
    assert shop.charge(reference="by-token-2", token=token, **ADA).status == 400

    # The answer is the first one except for the payer, and nothing is charged again.
    again = shop.charge(reference="ada-1", **ADA)
    assert again.status == 200 and again.header("Idempotent-Replayed") == "true"
    was, now = first.json["data"], again.json["data"]
    assert now["customer"] == {"id": 0, "customerCode": "", "email": "", "name": ""}
    assert now["card"] == {**was["card"], "token": ""}
    assert {**now, "customer": 0, "card": 0, "requestIp": 0} == {**was, "customer": 0, "card": 0, "requestIp": 0}
    assert shop.charge(reference="ada-1", amount=7, **ADA).status == 409
    refund, = [one for one in shop.refunds().json if one["transactionReference"] == "ada-1"]
    assert refund["customerNote"] is None and refund["merchantNote"] is None and refund["amount"] == "3.00"

    answer = verify(shop)  # its idempotency record is gone
    assert answer.status == 200 and answer.header("Idempotent-Replayed") is None
    assert answer.json["data"]["customer"]["name"] == "" and verify(shop).body == answer.body

    # The audit says that it was done, and not to whom.
    entry = ctl.json("audit", "list", shop.name)[0]
    assert entry["what"] == "payer erase" and "payer.example" not in json.dumps(entry)

    # Nobody else lost anything; once the other shop did it too, no byte is left in a backup.
    assert len(ctl.json("charge", "list", other.name, *TEST_MODE, "--email", ADA["email"])) == 3
    assert traces(ctl, tmp_path, "between") == TRACES[:3]
    ctl.ok("payer", "erase", other.name, "--email", ADA["email"], "--mode", "test", "--yes")
    assert traces(ctl, tmp_path, "after") == []
    assert not any(list(ctl.json(*erase)[0].values())[1:])


def test_test_mode_is_emptied(server):
    httpd = server()
    shop, other = httpd.shop(), httpd.shop()
    ctl = Ctl(httpd.store)
    charges(shop, "ada", MANY, ADA)
    charges(other, "ada", 3, ADA)
    shop.refund("ada-1", "3")

    def left():
        return len([row for row in ctl.json("charge", "list", shop.name, *TEST_MODE) if "ada-" in row["reference"]])

    reset = ["account", "reset", shop.name, *TEST_MODE, "--yes"]
    with Load(shop) as load:
        done = ctl.run(*reset, "--json")
    assert done.returncode in (0, 3), done.stderr  # what was charged at that moment may be left
    assert left() == 0 and ctl.ok("store", "check") == ""
    late = ctl.json("charge", "list", shop.name, *TEST_MODE)
    assert all(row["reference"].startswith("load-") for row in late) and len(late) <= load.count
    # Numbers go on, keys work on, a reference is free again, and totals are those of the rest.
    answer = shop.charge(reference="ada-1", **ADA)
    assert answer.status == 200 and answer.header("Idempotent-Replayed") is None
    assert answer.json["data"]["id"] == MANY + load.count + 1
    assert json.loads(ctl.ok(*reset, "--json"))["left"] == 0
    assert ctl.json("charge", "list", shop.name, *TEST_MODE) == ctl.json("refund", "list", shop.name, *TEST_MODE) == []
    assert ctl.json("totals", shop.name, *TEST_MODE, "--by", "day") == []
    assert len(ctl.json("charge", "list", other.name, *TEST_MODE)) == 3
    assert ctl.ok("store", "check") == ""


@pytest.mark.parametrize("code, args, says", [
    (2, ["payer", "erase", "shop", "--email", "a@x.example"], "--yes is missing"),
    (2, ["payer", "erase", "shop", "--yes"], "--email is missing"),
    (6, ["payer", "erase", "shop", "--yes", "--email", "a"], "one e-mail address"),
    (6, ["payer", "erase", "shop", "--yes", "--email", "a@x.example", "--mode", "all"], "test, live or both"),
    (3, ["payer", "erase", "nobody", "--yes", "--email", "a@x.example"], "nobody"),
    (2, ["account", "reset", "shop", *TEST_MODE], "--yes is missing"),
    (2, ["account", "reset", "shop", "--yes"], "--mode is missing"),
    (3, ["account", "reset", "shop", "--mode", "live", "--yes"], "never emptied"),
    (6, ["account", "reset", "shop", "--mode", "both", "--yes"], "test or live"),
    (3, ["account", "reset", "nobody", *TEST_MODE, "--yes"], "nobody"),
], ids=lambda value: " ".join(value)[:70] if isinstance(value, list) else None)
def test_wrong_lines(ctl, code, args, says):
    assert says in ctl.refused(code, *args)


def test_pending_charges_are_left(server):
    httpd = server()
    shop = httpd.shop()
    ctl = Ctl(httpd.store)
    shop.charge(reference="paid", **ADA)
    shop.charge(reference="pending", token="tok_test_timeout", **ADA)
    assert ctl.json("charge", "show", shop.name, "pending", *TEST_MODE)["status"] == "pending"
    done = ctl.run("payer", "erase", shop.name, "--email", ADA["email"], "--yes", "--json")
    assert done.returncode == 3
    assert re.fullmatch(r"paymentsctl: 1 charges of this payer are pending [^\n]+\n", done.stderr)
    assert [(row["charges"], row["left"]) for row in json.loads(done.stdout)] == [(1, 1), (0, 0)]
    assert ctl.json("charge", "show", shop.name, "pending", *TEST_MODE)["customer"]["name"] == "Ada-Augusta Lovelace-King"
