# SPDX-License-Identifier: Apache-2.0
"""Refunds of the acquirer's books find their charges, whichever is here first.

A store is put back, and the acquirer knows charges and refunds that it does not. `refund sync` brings the refunds back,
and the shop sends its charges again. After both, in either order, the books here are the acquirer's.
"""

import json
import shutil

import pytest

import raw_lmdb
from fixtures import close_all
from harness import run_ctl, wait_for
from upstream import EMAIL, PARTIAL, Till, compare, live_reference
from upstream_proxy import Fault, Proxy, http_answer

MODE = ("--mode", "live")
REPLAYED = "idempotent-replayed"

REST = None
# name: what was refunded before the store was restored; the state of the charge then
CASES = {
    "whole": ((REST,), "reversed"),
    "part": ((4,), "successful"),
    "parts that make it whole": ((7, REST), "reversed"),
    "nothing": ((), "successful"),
}
ORDERS = ("charges first", "sync first")


class Lost:
    """What happened after the copy of the store was made: a charge for each case and order."""

    def __init__(self, till, upstream, proxy):
        self.till, self.shop, self.upstream, self.proxy = till, till.live_shop, upstream, proxy
        self.after = upstream.last()
        self.refs = {}
        self.amounts = {}
        for number, (order, name) in enumerate((order, name) for order in ORDERS for name in CASES):
            self.refs[order, name] = ref = live_reference()
            self.amounts[ref] = 20 + number  # all of them differ, to be distinguishable
            assert self.charge(ref).json["data"]["status"] == "successful"
            for amount in CASES[name][0]:
                path, fields = (PARTIAL, {"amount": amount}) if amount else ("/api/v1/refund", {})
                made = self.shop.call("POST", path, {"reference": ref, **fields})
                assert made.json["status"] == "processed", made

    def charge(self, ref):
        return self.shop.charge(reference=ref, amount=self.amounts[ref])

    def there(self, ref):
        """The charge in the acquirer's books."""
        (row,) = [row for row in self.upstream.charges(self.after).values() if row["amount"] == self.amounts[ref]]
        return row

    def sync(self):
        created = [row["createdAt"] for row in self.upstream.rows("refund")]
        return self.till.ctl("refund", "sync", "shop", *MODE, "--from", min(created), "--to", max(created))

    def unlinked(self, *options):
        rows = json.loads(self.till.ctl("refund", "link", "shop", *MODE, *options, "--json").stdout)
        return rows

    def check(self):
        assert self.till.ctl("store", "check").returncode == 0


def put_back(httpd, make):
    """The store as it was before make() was called, and a person has confirmed that."""
    httpd.expect_log("PAY00700")
    httpd.stop()
    copy = httpd.root / "copy"
    shutil.copytree(httpd.store, copy)
    httpd.start()
    made = make()
    httpd.stop()
    shutil.rmtree(httpd.store)
    copy.rename(httpd.store)
    httpd.start()
    httpd.ctl("store", "confirm", "--yes", "--unsynced")
    return made


@pytest.fixture(scope="module")
def running(authority, upstream):
    """The upstream's other shops have refunds, too: those are listed here without a charge."""
    with Proxy(authority, upstream.port) as proxy:
        httpd = Till(proxy.url, upstream.key, authority).start()
        assert httpd.live_shop.secret
        yield httpd, proxy
        close_all([httpd])


@pytest.fixture(scope="module")
def lost(running, upstream):
    """After the first order's charges, the sync, and the second order's charges; the answers by reference."""
    httpd, proxy = running
    made = put_back(httpd, lambda: Lost(httpd, upstream, proxy))
    made.answers, made.before_sync = {}, {}
    proxy.forget()
    for (order, name), ref in made.refs.items():
        if order == "charges first":
            made.answers[ref] = made.charge(ref)
            made.before_sync[name] = made.shop.verify(ref)
    made.queries = len(proxy.of("query"))
    made.sync()
    made.waiting = made.unlinked()
    for (order, name), ref in made.refs.items():
        if order == "sync first":
            made.answers[ref] = made.charge(ref)
    return made


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("order", ORDERS)
def test_either_order(lost, order, name):
    ref, status = lost.refs[order, name], CASES[name][1]
    answer, now = lost.answers[ref], lost.shop.verify(ref)
    assert answer.status == 200
    assert (answer.json["data"]["status"], answer.json["data"]["paymentStatus"]) == (status, status), answer
    assert (answer.json["status"], answer.json["message"]) == (status == "successful", f"Charge {status}")
    assert (now["status"], now["refundedAmount"]) == (status, lost.there(ref)["refundedAmount"])
    again = lost.charge(ref)
    assert (again.body, again.header(REPLAYED)) == (answer.body, "true")


@pytest.mark.parametrize("name", CASES)
def test_known_before_the_refunds_are(lost, name):
    """The acquirer is asked for the outcome of each charge that it had before, once each."""
    ref = lost.refs["charges first", name]
    then = lost.before_sync[name]
    assert (then["status"], then["refundedAmount"]) == (CASES[name][1], lost.there(ref)["refundedAmount"])
    assert lost.queries == len(CASES)


def test_books_are_equal(lost, upstream):
    assert compare(lost.shop, upstream, lost.after) == []
    assert not {row["charge"] for row in lost.unlinked()} - {None}
    lost.check()


def test_refunds_wait_for_their_charges(lost):
    """They are listed by the acquirer's name of the charge, and not any more once it is here."""
    shown = {lost.there(lost.refs["sync first", name])["reference"] for name in CASES}
    waiting = [row for row in lost.waiting if row["acquirerCharge"] in shown]
    assert len(waiting) == sum(len(given) for given, _ in CASES.values())
    assert {row["verdict"] for row in waiting} == {"charge not known here"}
    left = {row["acquirerCharge"] for row in lost.unlinked()}
    assert not left & shown


@pytest.mark.parametrize("order", ORDERS)
def test_the_rest_is_refunded(lost, order):
    """No more than the rest."""
    ref = lost.refs[order, "part"]
    rest = lost.amounts[ref] - 4
    above = lost.shop.partial(ref, rest + 1)
    assert (above.status, above.json["data"]["responseCode"]) == (409, "R2"), above
    done = lost.shop.call("POST", "/api/v1/refund", {"reference": ref})
    assert (done.status, done.json["status"], float(done.json["amount"])) == (200, "processed", rest), done
    assert lost.shop.verify(ref)["status"] == "reversed"
    assert lost.there(ref)["refundedAmount"] == lost.amounts[ref]
    lost.check()


def test_rest_before_the_refunds_are_known(running, upstream):
    """A charge is sent again, the rest of it is refunded, and only then the first refund becomes known."""
    httpd, proxy = running
    shop, ref = httpd.live_shop, live_reference()

    def make():
        shop.charge(reference=ref, amount=31)
        shop.partial(ref, 9)
        return upstream.last()

    last = put_back(httpd, make)
    assert shop.charge(reference=ref, amount=31).json["data"]["status"] == "successful"
    assert shop.partial(ref, 23).json["data"]["responseCode"] == "R2"
    assert float(shop.call("POST", "/api/v1/refund", {"reference": ref}).json["amount"]) == 22
    assert (shop.verify(ref)["status"], shop.verify(ref)["refundedAmount"]) == ("reversed", 31)
    theirs = [row for row in upstream.rows("refund") if row["amount"] == "9.00"]
    httpd.ctl("refund", "sync", "shop", *MODE, "--from", theirs[-1]["createdAt"], "--to", theirs[-1]["createdAt"])
    assert (shop.verify(ref)["status"], shop.verify(ref)["refundedAmount"]) == ("reversed", 31)
    assert upstream.charges(last - 1).popitem()[1]["refundedAmount"] == 31
    httpd.ctl("store", "check")


def test_question_that_is_not_answered(running):
    """The acquirer says that it has approved the charge before, and then no more: that is no outcome yet."""
    httpd, proxy = running
    shop, ref = httpd.live_shop, live_reference()

    def make():
        shop.charge(reference=ref, amount=41)
        shop.partial(ref, 41)

    put_back(httpd, make)
    httpd.expect_log("PAY00203|PAY00400")
    proxy.next("query", Fault(answer=http_answer(500, "{}")))
    answer = shop.charge(reference=ref, amount=41)
    assert (answer.status, answer.json["data"]["paymentStatus"]) == (202, "pending"), answer
    wait_for(lambda: shop.verify(ref)["status"] == "reversed", "the charge to be found")


# ---- a store of an earlier version

LATER_FIELDS, LATER_BYTES = 1, 2  # at the end of a refund's row: a text; what is behind it is empty, and left out
HEAD = 15  # bytes of a refund's row, then two of its fields
LIVE = (1).to_bytes(4, "big") + b"\1"  # the scope of the only account's Live Mode


def make_older(store, refund, name):
    """The row of a refund without a charge as earlier versions wrote it: its record alone has the acquirer's name."""
    with raw_lmdb.Raw(store) as raw:
        raw.begin()
        key = raw.get("refund_ref", LIVE + refund.encode())
        row = bytearray(raw.get("refund", key))
        end = HEAD + int.from_bytes(row[13:15], "big")
        del row[end - LATER_BYTES - len(name):end]
        row[13:15] = (end - HEAD - LATER_BYTES - len(name)).to_bytes(2, "big")
        row[HEAD + 1] -= LATER_FIELDS
        raw.put("refund", key, bytes(row))
        raw.delete("acquirer", LIVE + b"\4" + name.encode() + b"\0" + key[-8:])
        raw.commit()


def test_mended_by_the_tool(running, upstream):
    """Refunds left by an earlier version are listed, linked on command, and have an entry in the audit."""
    httpd, _ = running
    shop, ref = httpd.live_shop, live_reference()

    def make():
        shop.charge(reference=ref, amount=71)
        return shop.partial(ref, 71).json

    given = put_back(httpd, make)
    theirs = upstream.rows("refund")[-1]
    httpd.ctl("refund", "sync", "shop", *MODE, "--from", theirs["createdAt"], "--to", theirs["createdAt"])
    httpd.stop()
    make_older(httpd.store, theirs["refundReference"], theirs["transactionReference"])
    httpd.start()
    assert shop.charge(reference=ref, amount=71).json["data"]["status"] == "reversed", "the acquirer knows"
    path = f"/api/v1/refund/{theirs['refundReference']}"
    assert shop.call("GET", path).json["transactionReference"] == theirs["transactionReference"]

    def listed(*options):
        rows = json.loads(httpd.ctl("refund", "link", "shop", *MODE, *options, "--json").stdout)
        return [row for row in rows if row["refundReference"] == theirs["refundReference"]]

    (row,) = listed()
    assert (row["charge"], row["verdict"], row["acquirerCharge"]) == (ref, "can be linked", theirs["transactionReference"])
    assert "--yes" in httpd.ctl("refund", "link", "shop", *MODE).stderr
    assert listed() == [row]
    done = httpd.ctl("refund", "link", "shop", *MODE, "--yes", "--json")
    assert theirs["refundReference"] in done.stdout and "--yes" not in done.stderr, "it was done"
    assert listed() == []
    assert shop.call("GET", path).json["transactionReference"] == ref
    assert (shop.verify(ref)["status"], shop.verify(ref)["refundedAmount"]) == ("reversed", 71)
    entries = [entry for entry in json.loads(httpd.ctl("audit", "list", "--json").stdout)
               if entry["what"] == "refund link"]
    assert [entry["subject"] for entry in entries if ref in entry["detail"]] == [theirs["refundReference"]]
    assert given["status"] == "processed"
    httpd.ctl("store", "check")


# ---- records from elsewhere

def test_import_counts_by_the_acquirers_names(running, upstream, tmp_path):
    """The merchant used the acquirer before: what was refunded there is of other charges, whatever they are called."""
    httpd, proxy = running
    shop, ref = httpd.live_shop, live_reference()
    assert upstream.call("POST", "/api/v1/tokenized-card-charge",
                         {"token": "acq_success", "amount": 250, "email": EMAIL, "reference": ref}).status == 200
    theirs = upstream.call("POST", "/api/v1/refund", {"reference": ref}).json
    ours = shop.charge(reference=ref, amount=51)
    assert ours.json["data"]["status"] == "successful"
    file = tmp_path / "refunds.json"
    file.write_text(json.dumps([{**theirs, "domain": "live"}]))
    done = httpd.ctl("refund", "import", "shop", str(file), *MODE)
    assert done.stdout == "1 written, 0 skipped\n"
    assert "1 of them" in done.stderr and "refund link" in done.stderr
    assert httpd.ctl("refund", "import", "shop", str(file), *MODE).stdout == "0 written, 1 skipped\n"
    assert shop.verify(ref)["refundedAmount"] == 0
    shown = shop.call("GET", f"/api/v1/refund/{theirs['refundReference']}").json
    assert shown["transactionReference"] is None
    (row,) = [row for row in json.loads(httpd.ctl("refund", "link", "shop", *MODE, "--json").stdout)
              if row["refundReference"] == theirs["refundReference"]]
    assert (row["acquirerCharge"], row["charge"], row["amount"]) == (ref, None, "250.00")
    whole = shop.call("POST", "/api/v1/refund", {"reference": ref})
    assert (whole.status, whole.json["amount"]) == (200, "51.00"), whole
    assert shop.verify(ref)["status"] == "reversed"
    httpd.ctl("store", "check")


def test_import_before_the_charge(running, upstream, tmp_path):
    """The same when the record comes first: the shop does not take it for one of its new charge."""
    httpd, _ = running
    shop, ref = httpd.live_shop, live_reference()
    upstream.call("POST", "/api/v1/tokenized-card-charge",
                  {"token": "acq_success", "amount": 251, "email": EMAIL, "reference": ref})
    theirs = upstream.call("POST", "/api/v1/refund", {"reference": ref}).json
    file = tmp_path / "refunds.json"
    file.write_text(json.dumps([{**theirs, "domain": "live"}]))
    imported = json.loads(httpd.ctl("refund", "import", "shop", str(file), *MODE, "--json").stdout)
    assert imported == {"written": 1, "skipped": 0, "unlinked": 1}
    path = f"/api/v1/refund/{theirs['refundReference']}"
    assert shop.call("GET", path).json["transactionReference"] == ref, "nobody's, so far"
    assert shop.charge(reference=ref, amount=52).json["data"]["refundedAmount"] == 0
    assert shop.call("GET", path).json["transactionReference"] is None
    assert shop.verify(ref)["refundedAmount"] == 0
    httpd.ctl("store", "check")


def test_link_is_for_live_mode(running):
    httpd, _ = running
    done = run_ctl(httpd.store, "refund", "link", "shop", "--mode", "test", check=False)
    assert done.returncode == 6 and "want live" in done.stderr


# ---- a payer who is erased

@pytest.mark.parametrize("mode", ["live", "test"])
def test_erased_refund_is_not_repeated(running, mode):
    """A client whose answer was lost sends its partial refund again, while the payer was erased meanwhile."""
    httpd, _ = running
    shop, ref = httpd.live_shop, live_reference()
    key = shop.secret if mode == "live" else shop.test_secret
    token = "acq_success" if mode == "live" else "tok_test_success"
    fields = {"reference": ref, "amount": 5, "merchant_note": "a broken cup"}
    assert shop.charge(reference=ref, amount=60, key=key, token=token).json["data"]["status"] == "successful"
    first = shop.call("POST", PARTIAL, fields, key=key)
    assert first.status == 200, first
    httpd.ctl("payer", "erase", "shop", "--email", EMAIL, "--mode", mode, "--yes")
    again = shop.call("POST", PARTIAL, fields, key=key)
    assert (again.status, again.json["data"]["responseCode"]) == (409, "R5"), again
    assert first.json["refundReference"] in again.json["message"], again
    assert shop.call("POST", PARTIAL, {**fields, "merchant_note": "another"}, key=key).status == 200
    httpd.ctl("store", "check")
