# SPDX-License-Identifier: Apache-2.0
"""Clients that send a byte a second or never read cost the good ones neither their rate nor a charge."""

import itertools
import json
import re
import select
import shutil
import statistics
import time

import pytest

from conftest import size
from crowd import LIST_PATH, Bad, Good, all_are_stored, connect, event_sizes, request
from harness import TOP, Httpd, wait_for
from raw_lmdb import busy_readers, pages_begun

GOOD = 32
SHOPS = 8
KEPT_PART = 0.7  # of the rate without the bad ones, at least
STATUS = "<Location /status>\nSetHandler server-status\n</Location>\n"
BIG = 4000       # records of 1 KiB: more than the sockets' buffers take
KINDS = [Bad.HEADER, Bad.BODY, Bad.READER]


def kinds(number):
    return list(itertools.islice(itertools.cycle(KINDS), number))


def import_refunds(shop, number):
    path = shop.httpd.root / "rows.json"
    row = {"amount": "5.00", "currency": "NGN", "domain": "test", "channel": "API", "merchantNote": None,
           "customerNote": "n" * 900, "status": "processed", "createdAt": "2026-01-01T00:00:00.000Z",
           "updatedAt": "2026-01-01T00:00:00.000Z"}
    with open(path, "w", encoding="utf-8") as out:
        for n in range(number):
            json.dump(dict(row, id=f"re_{n}", refundReference=f"rf_{n}", transactionReference=f"tx_{n}"), out)
            out.write("\n")
    shop.httpd.ctl("refund", "import", shop.name, "--mode", "test", str(path))


@pytest.fixture(scope="module", name="stock")
def stock_fixture():
    """A store that is made once: a shop with a big list of refunds, and shops for the good clients."""
    httpd = Httpd()
    big, shops = httpd.shop(), [httpd.shop() for _ in range(SHOPS)]
    import_refunds(big, BIG)
    for shop in shops:
        import_refunds(shop, 1)
    yield httpd.store, big, shops
    httpd.close()


def stocked(server, stock, **kwargs):
    """A server with a copy of that store, the shop with the big list, and the good ones."""
    httpd = server(start=False, **kwargs)
    # httpd says when it has no workers left, and the store that it is a copy.
    httpd.expect_log("AH00484|AH10159|AH03490|PAY00700")
    shutil.copytree(stock[0], httpd.store)
    httpd.start()
    return httpd, stock[1], stock[2]


def busy_workers(httpd):
    text = httpd.request("GET", "/status?auto").body.decode()
    return int(re.search(r"^BusyWorkers: (\d+)$", text, re.M).group(1))


def test_good_clients_keep_their_rate(server, stock):
    """With workers left for the good ones: rounds of without and with bad clients, one after the other."""
    children, threads, bad_ones = size((1, 96, 60), (5, 128, 500))
    httpd, big, shops = stocked(server, stock, threads=event_sizes(children, threads),
                                host_extra=STATUS + "RequestReadTimeout header=0 body=0\nTimeout 300")
    window, rounds, rounds_max = size(0.4, 3), size(2, 5), 12
    alone, beside = [], []
    with Good(httpd, GOOD, shops) as good:
        good.wait_for_more(200)
        alone.append(good.rate(window))
        for number in range(rounds_max):
            with Bad(httpd, kinds(bad_ones), big) as bad:
                wait_for(lambda: busy_workers(httpd) >= bad_ones, "the bad clients to hold a worker each")
                beside.append(good.rate(window))
                assert min(busy_workers(httpd) for _ in range(5)) >= bad_ones and bad.held == bad_ones
            wait_for(lambda: busy_workers(httpd) < bad_ones, "the bad clients to be gone")
            alone.append(good.rate(window))
            kept = statistics.median(2 * b / (before + after) for b, before, after in zip(beside, alone, alone[1:]))
            if number + 1 >= rounds and kept >= KEPT_PART:
                break
        done, refused = good.finish(), good.refused
    print(f"PAYMENTS_FAULTS: {bad_ones} bad clients on {children * threads} workers, {len(beside)} rounds: "
          f"{GOOD} good ones kept {kept:.2f} of their rate; {statistics.median(alone):.0f}/s without, "
          f"{statistics.median(beside):.0f}/s with, {alone[-1]:.0f}/s after; {refused} refusals")
    assert kept >= KEPT_PART, (alone, beside)
    all_are_stored(httpd, shops, done)


def configured(name):
    """The line of conf/payments.conf that gives this directive, as an administrator would copy it."""
    found = re.findall(rf"^#\s*({name} .*)$", (TOP / "conf/payments.conf").read_text(), re.M)
    assert len(found) == 1, f"{name} in conf/payments.conf: {found}"
    return found[0]


BACK_S = 10


def test_good_clients_are_back_within_ten_seconds(server, stock):
    """Bad clients take every worker; what conf/payments.conf says about time-outs ends them."""
    # A listener that counts kept connections with the busy workers would leave some bad clients outside.
    accepts = "\n<IfModule mpm_event_module>\nAsyncRequestWorkerFactor 64\n</IfModule>\n"
    sizes, bad_ones = size((event_sizes(1, 96) + accepts, 100), (accepts, 440))  # httpd's own defaults: 400 workers
    httpd, big, shops = stocked(server, stock, threads=sizes,
                                host_extra=configured("RequestReadTimeout") + "\n" + configured("Timeout"))
    with Good(httpd, GOOD, shops) as good:
        good.wait_for_more(200)
        before = statistics.median(good.rate(0.2) for _ in range(3))
        rates = []
        with Bad(httpd, kinds(bad_ones), big) as bad:
            wait_for(lambda: bad.held + bad.ended >= bad_ones, "the bad clients to be there")
            started = time.monotonic()
            while time.monotonic() < started + BACK_S:
                rates.append((good.rate(0.25), time.monotonic() - started))
                if min(rates)[0] < 0.1 * before and rates[-1][0] >= 0.9 * before:
                    break
            ended = bad.ended
        after = statistics.median(good.rate(0.2) for _ in range(3))
        done = good.finish()
    want = KEPT_PART * min(before, after)
    lowest = min(rates)
    back = [at for rate, at in rates if at > lowest[1] and rate >= want]
    print(f"PAYMENTS_FAULTS: {bad_ones} bad clients took every worker: {GOOD} good ones fell from {before:.0f}/s to "
          f"{lowest[0]:.0f}/s, and were back after {back[0] if back else -1:.1f} s; {after:.0f}/s afterwards")
    assert lowest[0] < 0.1 * before, f"the bad clients never took every worker: {rates}"
    assert back and back[0] <= BACK_S, (before, rates, after)
    assert ended > 0
    all_are_stored(httpd, shops, done)


WORKERS = 8
WRITE_TIMEOUT_S = 3
PAGE = 4096
GROWTH_MAX = 4000  # bytes a charge; a pinned reader keeps every page of every commit: 20 KiB and more


def open_reader(httpd, shop):
    """A client that has asked for the big list; its answer has begun, and is never read."""
    sock = connect(httpd.port, 4096)
    wait_for(lambda: select.select([], [sock], [], 0)[1], "the connection")
    sock.send(request("GET", LIST_PATH, shop.secret))
    wait_for(lambda: select.select([sock], [], [], 0)[0], "the answer to begin")
    return sock


def growth(httpd, shop):
    """Bytes that the store's pages grow by with each charge, one at a time, for a moment."""
    before, connection, number = pages_begun(httpd.store), httpd.connect(), 0
    end = time.monotonic() + 0.7
    while time.monotonic() < end:
        assert shop.charge(connection=connection).status == 200
        number += 1
    connection.close()
    return (pages_begun(httpd.store) - before) * PAGE / number


def test_a_list_that_is_never_read(server, stock):
    """It holds a worker until the write time-out and no read transaction: the file does not grow by it."""
    httpd, big, _ = stocked(server, stock, threads=event_sizes(1, WORKERS),
                            host_extra=STATUS + f"Timeout {WRITE_TIMEOUT_S}")
    shop = httpd.shop()
    without = growth(httpd, shop)
    hanging = [open_reader(httpd, big) for _ in range(WORKERS - 2)]
    wait_for(lambda: not busy_readers(httpd.store), "the read transactions to end")
    beside = growth(httpd, shop)
    assert busy_workers(httpd) >= len(hanging) and not busy_readers(httpd.store)
    readers = json.loads(httpd.ctl("store", "stat", "--json").stdout)["readers"]
    for sock in hanging:
        sock.close()
    wait_for(lambda: busy_workers(httpd) < 3, "the workers")

    begun = time.monotonic()
    hanging = [open_reader(httpd, big) for _ in range(WORKERS)]
    opened = time.monotonic()
    answered = shop.charge(connection=httpd.connect(60)).status
    free = time.monotonic()
    assert not busy_readers(httpd.store)
    print(f"PAYMENTS_FAULTS: {WORKERS - 2} lists that nobody read: the store grew {beside:.0f} B a charge, "
          f"{without:.0f} B without, {readers} reader slots; {WORKERS} workers that {WORKERS} of them held were free "
          f"after {free - begun:.1f} s of {WRITE_TIMEOUT_S} s")
    assert beside <= max(GROWTH_MAX, 2 * without), (beside, without)
    assert readers <= WORKERS + 2
    assert answered == 200 and begun + WRITE_TIMEOUT_S - 0.1 <= free <= opened + WRITE_TIMEOUT_S + 2
    for sock in hanging:
        sock.close()
