# SPDX-License-Identifier: Apache-2.0
"""Whatever is pressed at the same instant, twice, in two windows: a checkout is paid once (docs/checkout.md)."""

import contextlib
import functools
import json

import pytest

from harness import at_once, wait_for
from payer import FORM, Checkout
from receiver import Receiver

AT_ONCE = 12
ROUNDS = 5
CARD = "action=card&number={}&expiry=12/40&csc=123"
GOOD = CARD.format("5555555555554444")


def burst(checkout, bodies):
    """All of these at once, on sockets of their own that are open before; the statuses."""
    def one(connection, body):
        return checkout.httpd.request("POST", checkout.path, body, [("Content-Type", FORM)], connection).status

    with contextlib.ExitStack() as stack:
        connections = [stack.enter_context(contextlib.closing(checkout.httpd.connected())) for _ in bodies]
        return at_once([functools.partial(one, *pair) for pair in zip(connections, bodies)])


def tokens(shop):
    return json.loads(shop.httpd.ctl("token", "list", shop.name, "--mode", "test", "--json").stdout)


@pytest.mark.parametrize("bodies", [
    pytest.param([GOOD] * AT_ONCE, id="a double click"),
    pytest.param([GOOD, "action=transfer&bankCode=000&accountNumber=0000000000"] * (AT_ONCE // 2), id="two windows"),
    pytest.param([GOOD, CARD.format("1234567898765432")] * (AT_ONCE // 2), id="two cards"),
    pytest.param([GOOD, "action=cancel"] * (AT_ONCE // 2), id="paid and cancelled"),
    pytest.param([GOOD, CARD.format("4000000000003220")] * (AT_ONCE // 2), id="a card with a code"),
])
def test_paid_once(seller, bodies):
    """One decision, one notification, and at most one token; every answer leads to the same page."""
    with Receiver() as receiver:
        seller.webhook(receiver.url())
        for rounds in range(1, ROUNDS + 1):
            checkout = Checkout(seller)
            before = len(tokens(seller))
            assert set(burst(checkout, bodies)) == {303}
            state = checkout.state()
            if state["status"] == "pending":  # the card with a code was first
                assert checkout.page().forms() == {"code": ["code"], "cancel": []}
                assert set(burst(checkout, ["action=code&code=123456", "action=code&code=1"] * (AT_ONCE // 2))) == {303}
                state = checkout.state()
            assert state["paymentStatus"] in ("successful", "failed", "abandoned")
            paid_by_card = state["status"] == "successful" and state["channel"] == "card"
            assert len(tokens(seller)) - before == int(paid_by_card)
            assert checkout.card().status == 200 and checkout.state() == state
            told = receiver.wait(rounds)
            assert len(told) == rounds and (told[-1].reference, told[-1].json["notifyType"]) == (
                checkout.reference, state["paymentStatus"])
        wait_for(lambda: seller.events() == [], "all events to be delivered")
        assert len(receiver.wait(ROUNDS)) == ROUNDS
