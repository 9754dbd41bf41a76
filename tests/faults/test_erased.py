# SPDX-License-Identifier: Apache-2.0
"""payer erase and account reset killed in the middle of a commit, beside a server that is charged, and run again."""

import pytest

from conftest import size
from ctl_program import TEST_MODE, Ctl
from stops import kill_at, stops_in
from test_ctl_erase import ADA, TRACES, Load, charges, traces

MANY = size(450, 4500)  # charges of the payer: 100 a commit
TIMES = size(3, 20)  # how often it is killed


@pytest.mark.parametrize("what", ["payer erase", "account reset"])
def test_killed_in_the_middle(server, tmp_path, what):
    httpd = server()
    stops = stops_in(httpd.root)
    shop = httpd.shop()
    ctl = Ctl(httpd.store)
    ctl.ok("token", "create", shop.name, *TEST_MODE, "--card", "5555555555554444", "--email", ADA["email"])
    charges(shop, "ada", MANY, ADA)
    shop.refund("ada-1", "3", customer_note="wrote to Ada")
    args = [*what.split(), shop.name, "--yes"] + (["--email", ADA["email"]] if what == "payer erase" else [*TEST_MODE])

    def left():
        return len(ctl.json("charge", "list", shop.name, *TEST_MODE, "--email", ADA["email"]))

    seen = {left()}
    with Load(shop) as load:
        for commit in range(1, TIMES + 1):
            assert kill_at(httpd.store, stops, args, 1 + commit % 2)
            assert ctl.ok("store", "check") == ""
            seen.add(left())
        done = ctl.run(*args)
        assert done.returncode in (0, 3), done.stderr  # a charge that is just being made is left
    assert len(seen) > 1 and 0 not in seen
    assert left() == 0 and ctl.ok("store", "check") == ""
    ctl.ok(*args)
    assert ctl.json("token", "list", shop.name, *TEST_MODE) == []
    assert traces(ctl, tmp_path, "copy") == []
    assert load.count > 0 and TRACES
