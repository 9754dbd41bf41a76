# SPDX-License-Identifier: Apache-2.0
"""The module's part of mod_status's page, for people and for programs."""

import html.parser
import re

import pytest

import raw_lmdb
from harness import STORE_NEVER_WAS, first_status, wait_for

STATUS = '<Location "/server-status">\nSetHandler server-status\nRequire local\n</Location>'
CHARGES = [f"PaymentsCharges{mode}{outcome}" for mode in ("Test", "Live")
           for outcome in ("Successful", "Failed", "Pending")]
STORE = ["Up", "Damaged", "OutboxWaiting", "OutboxParked", "OutboxOverdueSeconds", "Pending", "CheckoutsOpen", "Held", "Readers",
         "ReadersMax", "MapUsedBytes", "MapBytes"]


def auto(httpd):
    """{name: value} of the lines that are ours."""
    answer = httpd.request("GET", "/server-status?auto")
    assert answer.status == 200
    lines = [line for line in answer.body.decode().splitlines() if line.startswith("Payments")]
    values = {}
    for line in lines:
        assert re.fullmatch(r"Payments[A-Za-z0-9]+: [0-9]+", line), line
        name, value = line.split(": ")
        assert name not in values, line
        values[name] = int(value)
    return values


def page(httpd):
    """Our part of the page, its tags balanced."""
    answer = httpd.request("GET", "/server-status")
    assert answer.status == 200
    text = answer.body.decode()
    start = text.find("<h2>Payments</h2>")
    if start < 0:
        assert "ayments" not in text.partition("<body>")[2].partition("<table")[0]
        return None
    part = text[start:text.index("</table>", start) + len("</table>")]
    Balance().judge(part)
    return part


class Balance(html.parser.HTMLParser):
    """Each tag is closed in its turn."""

    def judge(self, text):
        self.open = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_both_forms(server):
    httpd = server(host_extra=STATUS)
    values = auto(httpd)
    assert list(values) == CHARGES + [f"PaymentsStore0{name}" for name in STORE]
    assert [values[name] for name in CHARGES] == [0] * 6
    shop = httpd.shop()
    for token in "tok_test_success", "tok_test_success", "tok_test_declined", "tok_test_timeout":
        assert shop.charge(token=token).status == first_status(token)
    wait_for(lambda: auto(httpd)["PaymentsChargesTestSuccessful"] == 3, "reconciliation")
    values = auto(httpd)
    assert [values[name] for name in CHARGES] == [3, 1, 1, 0, 0, 0]
    assert values["PaymentsStore0Up"] == 1
    assert values["PaymentsStore0OutboxWaiting"] == values["PaymentsStore0OutboxParked"] == 0
    assert 1 <= values["PaymentsStore0Readers"] <= values["PaymentsStore0ReadersMax"]
    assert 0 < values["PaymentsStore0MapUsedBytes"] < values["PaymentsStore0MapBytes"] == 64 << 30
    text = page(httpd)
    for part in ("<dd>test, successful: 3</dd>", "<dd>test, failed: 1</dd>", "<dd>test, pending at first: 1</dd>",
                 "<dd>live, successful: 0</dd>", "<td>up</td>", " of 65536 MiB</td>"):
        assert part in text, text
    for secret in shop.name, shop.secret, str(httpd.root):
        assert secret not in text


def test_a_store_that_is_down(server):
    httpd = server(host_extra=STATUS)
    httpd.expect_log("PAY00110")
    assert httpd.shop().charge().status == 200
    raw_lmdb.change_schema(httpd.store, 99)
    assert auto(httpd)["PaymentsStore0Up"] == 0
    assert "<td>down</td>" in page(httpd)


def test_a_store_that_never_was(server):
    """It is reported in one line, without details."""
    httpd = server(start=False, engine=False, host_extra=STATUS)
    httpd.expect_log(STORE_NEVER_WAS)
    httpd.host_extra += f"\nPaymentsEngine On\nPaymentsStore lmdb:{httpd.root}/missing/store"
    httpd.start()
    values = auto(httpd)
    assert list(values) == CHARGES + ["PaymentsStore0Up", "PaymentsStore0Damaged"]
    assert values["PaymentsStore0Up"] == values["PaymentsStore0Damaged"] == 0
    assert "<td>down</td>" in page(httpd)


def test_two_stores(server):
    httpd = server(start=False, host_extra=STATUS)
    httpd.extra = (f"<VirtualHost 127.0.0.1:@PORT@>\nServerName other.example\nPaymentsEngine On\n"
                   f"PaymentsStore lmdb:{httpd.root}/other\n</VirtualHost>")
    httpd.start()
    assert {name[13] for name in auto(httpd) if name.startswith("PaymentsStore")} == {"0", "1"}
    assert page(httpd).count("<td>up</td>") == 2


@pytest.mark.parametrize("mpm", ["event", "prefork"])
def test_loaded_without_engine(server, mpm):
    """mod_status's page is as if the module were not there."""
    httpd = server(mpm=mpm, engine=False, host_extra=STATUS)
    assert auto(httpd) == {}
    assert page(httpd) is None
    httpd.graceful()
    assert auto(httpd) == {}


def test_without_mod_status(server):
    """The hook is optional: nothing asks for it."""
    httpd = server(without=["status"])
    assert httpd.shop().charge().status == 200
    assert httpd.request("GET", "/server-status").status == 404


def test_counts_outlive_a_graceful_restart(server):
    httpd = server(host_extra=STATUS)
    shop = httpd.shop()
    assert shop.charge().status == 200
    for _ in range(2):
        httpd.graceful()
        assert auto(httpd)["PaymentsChargesTestSuccessful"] == 1
        wait_for(lambda: auto(httpd)["PaymentsStore0Up"] == 1, "a child of the new generation")
