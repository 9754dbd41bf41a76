# SPDX-License-Identifier: Apache-2.0
"""paymentsctl account grant, revoke and grants."""

import pytest

from ctl_program import NOBODY, TIME, with_accounts

HOST = ("--host", "pay.example.com")
OWNER = ("--role", "owner")


@pytest.fixture
def ctl(tmp_path):
    """A store with the accounts `shop` and `stall`."""
    return with_accounts(tmp_path / "store", "shop", "stall")


def grants(ctl, *args):
    return [(row["account"], row["host"], row["user"], row["role"]) for row in ctl.json("account", "grants", *args)]


def test_who_may_use_the_dashboard(ctl):
    assert grants(ctl) == []
    made = ctl.json("account", "grant", "stall", "ada", "--host", "Pay.Example.COM.:8443", "--role", "viewer")
    assert TIME.fullmatch(made.pop("grantedAt")) and TIME.fullmatch(made.pop("updatedAt"))
    assert made == {"account": "stall", "user": "ada", "host": "pay.example.com", "role": "viewer"}
    ctl.ok("account", "grant", "shop", "ada", *HOST, *OWNER)
    ctl.ok("account", "grant", "shop", "Åsa Ek", "--host", "[::1]:8080", "--role", "operator")
    assert grants(ctl) == [("shop", "::1", "Åsa Ek", "operator"), ("shop", "pay.example.com", "ada", "owner"),
                           ("stall", "pay.example.com", "ada", "viewer")]
    assert grants(ctl, "stall") == [("stall", "pay.example.com", "ada", "viewer")]
    assert len(grants(ctl, "--limit", "2")) == 2
    assert "HOST" in ctl.ok("account", "grants") and "Åsa Ek" in ctl.ok("account", "grants", "shop")


def test_another_role_replaces_the_first(ctl):
    for role in ("owner", "viewer", "viewer", "operator"):
        assert ctl.json("account", "grant", "shop", "ada", *HOST, "--role", role)["role"] == role
    assert grants(ctl) == [("shop", "pay.example.com", "ada", "operator")]


def test_taken_away(ctl):
    ctl.ok("account", "grant", "shop", "ada", *HOST, *OWNER)
    ctl.ok("account", "grant", "stall", "ada", *HOST, *OWNER)
    assert ctl.json("account", "revoke", "shop", "ada", "--host", "PAY.example.com")["role"] == "owner"
    assert grants(ctl) == [("stall", "pay.example.com", "ada", "owner")]
    assert "account grants shop" in ctl.refused(3, "account", "revoke", "shop", "ada", *HOST)
    for args in (("stall", "Ada", *HOST), ("stall", "ada", "--host", "example.com")):
        ctl.refused(3, "account", "revoke", *args)


@pytest.mark.parametrize("code, args", [
    pytest.param(6, ["grant", "shop", "ada", *HOST, "--role", "admin"], id="no such role"),
    pytest.param(6, ["grant", "shop", "ada", "--host", "https://pay.example.com", *OWNER], id="a URL for a host"),
    pytest.param(6, ["grant", "shop", "ada", "--host", "", *OWNER], id="no host"),
    pytest.param(6, ["grant", "shop", "", *HOST, *OWNER], id="no user"),
    pytest.param(6, ["grant", "shop", "a\nb", *HOST, *OWNER], id="a user of two lines"),
    pytest.param(5, ["grant", "shop", "u" * 256, *HOST, *OWNER], id="a user too long"),
    pytest.param(3, ["grant", "none", "ada", *HOST, *OWNER], id="no such account"),
    pytest.param(2, ["grant", "shop", "ada", *HOST], id="without a role"),
    pytest.param(2, ["grant", "shop", "ada", *OWNER], id="without a host"),
    pytest.param(2, ["grant", "shop", *HOST, *OWNER], id="without a user"),
    pytest.param(6, ["revoke", "shop", "ada", "--host", "a b"], id="revoke: no host"),
    pytest.param(5, ["revoke", "shop", "u" * 256, *HOST], id="revoke: a user too long"),
    pytest.param(3, ["revoke", "none", "ada", *HOST], id="revoke: no such account"),
    pytest.param(3, ["grants", "none"], id="grants: no such account"),
    pytest.param(6, ["grants", "--limit", "0"], id="grants: no such limit"),
])
def test_refusals(ctl, code, args):
    ctl.refused(code, "account", *args)
    assert grants(ctl) == []


def test_the_longest_names(ctl):
    user, host = "ü" * 127 + "u", "h" * 253
    ctl.ok("account", "grant", "shop", user, "--host", host, *OWNER)
    assert grants(ctl) == [("shop", host, user, "owner")]
    ctl.ok("account", "revoke", "shop", user, "--host", host)
    assert grants(ctl) == []


@pytest.mark.root
def test_who_may_not_write_the_store(ctl):
    ctl.user = NOBODY
    ctl.refused(1, "account", "grant", "shop", "ada", *HOST, *OWNER)
