# SPDX-License-Identifier: Apache-2.0
"""paymentsctl link create, list, show and disable."""

import re

import pytest

from ctl_program import TIME, Ctl

TEST = ("--mode", "test")


@pytest.fixture
def ctl(tmp_path):
    """A store with the account `shop`, whose time zone is an hour ahead."""
    one = Ctl(tmp_path / "store")
    one.ok("account", "create", "shop", "--timezone", "Africa/Lagos")
    return one


def test_a_link(ctl):
    made = ctl.json("link", "create", "shop", *TEST, "--reference", "shop-1", "--amount", "12.5", "--currency", "usd",
                    "--title", "Shoes", "--description", "One pair", "--once", "--expires", "2099-12-31",
                    "--redirect", "https://shop.example/done", "--site", "https://pay.example/")
    assert TIME.fullmatch(made["createdAt"])
    assert re.fullmatch("https://pay.example/payment/page/[a-z2-7]{32}", made["url"])
    assert made == {"reference": "shop-1", "title": "Shoes", "description": "One pair", "amount": 12.5, "currency": "USD",
                    "reusable": False, "expiresAt": "2099-12-31T22:59:59.999Z", "disabledAt": None,
                    "createdAt": made["createdAt"], "paid": 0, "url": made["url"], "state": "active"}
    bare = ctl.json("link", "show", "shop", "shop-1", *TEST)
    assert bare == {**made, "url": made["url"].removeprefix("https://pay.example")}
    text = ctl.ok("link", "show", "shop", "shop-1", *TEST)
    assert "12.50" in text and "one payer, once" in text and re.search("^currency +USD$", text, re.M)
    ctl.ok("store", "check")


def test_a_link_without_anything(ctl):
    made = ctl.json("link", "create", "shop", *TEST)
    assert re.fullmatch("lnk_[a-z2-7]{26}", made["reference"])
    assert (made["amount"], made["currency"], made["reusable"], made["expiresAt"]) == (None, "NGN", True, None)
    assert "open" in ctl.ok("link", "show", "shop", made["reference"], *TEST)


def test_lists(ctl):
    for name in ("b", "a", "c"):
        ctl.ok("link", "create", "shop", *TEST, "--reference", name, "--title", "=1+1")
    ctl.ok("link", "create", "shop", "--mode", "live", "--reference", "d")
    assert [row["reference"] for row in ctl.json("link", "list", "shop", *TEST)] == ["a", "b", "c"]
    assert [row["reference"] for row in ctl.json("link", "list", "shop", *TEST, "--limit", "2")] == ["a", "b"]
    assert [row["reference"] for row in ctl.json("link", "list", "shop", "--mode", "live")] == ["d"]
    lines = ctl.ok("link", "list", "shop", *TEST, "--format", "csv", "--site", "http://h").splitlines()
    assert lines[0].split(",")[:4] == ["reference", "title", "description", "amount"]
    assert lines[1].startswith("a,'=1+1,,,NGN,true,") and "http://h/payment/page/" in lines[1]
    assert ctl.ok("link", "list", "shop", *TEST).splitlines()[0].split()[:3] == ["REFERENCE", "STATE", "AMOUNT"]


def test_the_longest_references(ctl):
    """What ends a batch of the list is known whole: nothing comes twice."""
    names = ["a" * 49 + end for end in "bc"]
    for name in names:
        ctl.ok("link", "create", "shop", *TEST, "--reference", name)
    assert [row["reference"] for row in ctl.json("link", "list", "shop", *TEST, "--limit", "9")] == names


def test_disabled_for_good(ctl):
    ctl.ok("link", "create", "shop", *TEST, "--reference", "shop-1")
    first = ctl.json("link", "disable", "shop", "shop-1", *TEST)
    assert first["state"] == "disabled" and TIME.fullmatch(first["disabledAt"])
    assert ctl.json("link", "disable", "shop", "shop-1", *TEST) == first
    told = [(row["what"], row["subject"], row["detail"]) for row in ctl.json("audit", "list", "shop")]
    assert told[:2] == [("link disable", "shop-1", "test"), ("link create", "shop-1", "test")]


@pytest.mark.parametrize("code, args, told", [
    pytest.param(3, ["create", "shop", *TEST, "--reference", "shop-1"], "already", id="a reference twice"),
    pytest.param(3, ["show", "shop", "none", *TEST], "link list", id="no such link"),
    pytest.param(3, ["show", "shop", "a/b", *TEST], "link list", id="no reference"),
    pytest.param(3, ["disable", "shop", "shop-1", "--mode", "live"], "link list", id="another mode's"),
    pytest.param(3, ["create", "nobody", *TEST], "nobody", id="no such account"),
    pytest.param(6, ["create", "shop", *TEST, "--reference", "a" * 51], "--reference", id="a long reference"),
    pytest.param(6, ["create", "shop", *TEST, "--amount", "1.234"], "--amount", id="an amount"),
    pytest.param(6, ["create", "shop", *TEST, "--amount", "1", "--currency", "XYZ"], "--currency", id="a currency"),
    pytest.param(6, ["create", "shop", *TEST, "--title", "4111 1111 1111 1111"], "--title", id="a card number"),
    pytest.param(5, ["create", "shop", *TEST, "--title", "a" * 256], "--title", id="a long title"),
    pytest.param(6, ["create", "shop", *TEST, "--expires", "tomorrow"], "--expires", id="no date"),
    pytest.param(6, ["create", "shop", *TEST, "--expires", "2020-01-01"], "--expires", id="a date that is over"),
    pytest.param(6, ["create", "shop", *TEST, "--redirect", "javascript:alert(1)"], "--redirect", id="no web address"),
    pytest.param(6, ["create", "shop", *TEST, "--site", "shop.example"], "--site", id="no address of a server"),
    pytest.param(6, ["list", "shop", *TEST, "--site", "https://h/?a"], "--site", id="an address with a query"),
    pytest.param(2, ["create", "shop"], "--mode", id="no mode"),
])
def test_refused(ctl, code, args, told):
    ctl.ok("link", "create", "shop", *TEST, "--reference", "shop-1")
    before = ctl.json("link", "list", "shop", *TEST)
    assert told in ctl.refused(code, "link", *args)
    assert ctl.json("link", "list", "shop", *TEST) == before
