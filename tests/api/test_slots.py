# SPDX-License-Identifier: Apache-2.0
"""Crowds of one shop on a server with as many workers as Debian gives it.

Test Mode refuses nobody; Live Mode what is more than half of all workers and cannot wait, and never another shop nor a
page of the site.
"""

import http.client
import json
import threading

import pytest

from exposition import OPEN, scrape
from harness import DEBIAN_CONNECTIONS, DEBIAN_SIZES, WAIT_S, charge_body, reference, wait_for
from upstream import CHARGE, EMAIL, LiveShop, live_reference, open_account
from upstream_proxy import Fault, Hold

CLIENTS = 64
CHARGES = 20            # of each in Test Mode
LIVE_CHARGES = 3        # and in Live Mode
UPSTREAM_S = 0.2
SLOTS_MAX = 75          # of 150 workers, those that may call: half
HELD_MAX = 112          # and those that call or wait: three quarters
# A machine that is busy with other things is no reason to refuse: it is as long as it takes.
PATIENT = "PaymentsSlotWait 20s\n"


class Crowd:
    """Clients at the same time, each in a thread; what they were answered is in `answers`."""

    def __init__(self, clients, run):
        self.answers = []
        self.failures = []
        self.threads = [threading.Thread(target=self.one, args=(run,)) for _ in range(clients)]
        for thread in self.threads:
            thread.start()

    def one(self, run):
        try:
            for answer in run():
                self.answers.append(answer)
        except Exception as failure:  # pylint: disable=broad-except
            self.failures.append(failure)

    def count(self, status):
        return sum(answer.status == status for answer in list(self.answers))

    def join(self):
        for thread in self.threads:
            thread.join(2 * WAIT_S)
        assert not self.failures, self.failures[:3]
        return self.answers


def on_one_connection(shop, count):
    """So many charges of a client that keeps its connection as long as the server does.

    While all workers of a child are busy event closes connections that rest, one on which a request is under way too.
    """
    connection, kept = shop.httpd.connect(), False
    for _ in range(count):
        ref = reference()
        try:
            answer = shop.charge(connection=connection, reference=ref)
        except (http.client.RemoteDisconnected, ConnectionError):
            assert kept, "a new connection was closed"
            connection.close()
            connection = shop.httpd.connect()
            answer = shop.charge(connection=connection, reference=ref)
        kept = True
        yield answer
    connection.close()


@pytest.mark.parametrize("mpm", ["event", "worker", "prefork"])
def test_test_mode_refuses_nobody(server, mpm):
    """64 clients of one account: what only waits for its commit takes no slot."""
    httpd = server(mpm=mpm, threads=DEBIAN_SIZES[mpm], extra=DEBIAN_CONNECTIONS, host_extra="PaymentsSlotWait 10ms")
    shop = httpd.shop()
    answers = Crowd(CLIENTS, lambda: on_one_connection(shop, CHARGES)).join()
    assert {answer.status for answer in answers} == {200}, [one for one in answers if one.status != 200][:3]
    stored = json.loads(httpd.ctl("charge", "list", shop.name, "--mode", "test", "--json").stdout)
    assert len(stored) == CLIENTS * CHARGES


@pytest.mark.parametrize("mpm", ["event", "worker", "prefork"])
def test_live_mode_fills_half_of_the_workers(till, proxy, mpm):
    """64 clients of one account, an acquirer that takes 200 ms: those that find their child's half full wait."""
    httpd = till(mpm=mpm, threads=DEBIAN_SIZES[mpm], extra=DEBIAN_CONNECTIONS, host_extra=PATIENT)
    shop = httpd.live_shop
    proxy.fail(Fault(after=UPSTREAM_S), "charge")
    answers = Crowd(CLIENTS, lambda: on_one_connection(shop, LIVE_CHARGES)).join()
    assert {answer.status for answer in answers} == {200}, [one for one in answers if one.status != 200][:3]
    assert len(proxy.of("charge")) == CLIENTS * LIVE_CHARGES and not proxy.repeated()


def test_slot_wait_is_over(till, proxy):
    """Who gets no slot in PaymentsSlotWait is 503 with Retry-After, and nothing was written."""
    httpd = till(threads="StartServers 1\nServerLimit 2\nThreadsPerChild 8\nThreadLimit 8\nMaxRequestWorkers 16\n"
                         "MinSpareThreads 1\nMaxSpareThreads 8", host_extra=f"PaymentsSlotWait 300ms\n{OPEN}")
    shop, hold, ref = httpd.live_shop, Hold(), live_reference()
    proxy.fail(Fault(hold=hold), "charge")
    crowd = Crowd(4, lambda: on_one_connection(shop, 1))
    wait_for(lambda: hold.waiting == 4, "half of the child's threads to hang")
    refused = shop.charge(reference=ref)
    assert refused.status == 503 and int(refused.header("retry-after")) > 0, refused
    assert refused.json["data"]["responseCode"] == "E2"
    assert shop.call("GET", f"/api/v1/checkout/{ref}/verify").status == 404, "something was written"
    assert len(proxy.of("charge")) == 4, "it was sent"
    assert shop.charge(key=shop.test_secret, token="tok_test_success").status == 200
    assert httpd.log_text().count("PAY00620: acquirer relay@") == 1
    metrics = scrape(httpd)
    assert metrics("payments_acquirer_refused_total", reason="slots") == 1
    assert metrics("payments_acquirer_refused_total", reason="in_flight") == 0
    hold.release()
    assert {answer.status for answer in crowd.join()} == {200}
    assert shop.charge(reference=ref).status == 200


def test_one_wait_for_slot_and_acquirer(till, proxy):
    """Above PaymentsAcquirerMaxInFlight it waits as well, in the same line, and is sent once there is room."""
    httpd = till(threads=DEBIAN_SIZES["event"], host_extra=f"PaymentsAcquirerMaxInFlight 2\n{PATIENT}{OPEN}")
    shop, hold = httpd.live_shop, Hold()
    proxy.fail(Fault(hold=hold), "charge")
    crowd = Crowd(8, lambda: on_one_connection(shop, 1))
    wait_for(lambda: scrape(httpd)("payments_slots_waiting") == 6 and hold.waiting == 2, "six to wait")
    assert scrape(httpd)("payments_slots_taken") == 2, "who waits for an acquirer keeps no slot"
    assert scrape(httpd)("payments_slots_max") == 75
    hold.release()
    assert {answer.status for answer in crowd.join()} == {200}
    assert len(proxy.of("charge")) == 8 and not proxy.repeated()


def second_shop(till, **options):
    """A server of two accounts, each with an acquirer of its own; the second one's host is called two."""
    httpd = till(start=False, **options)
    httpd.extra += f"""
<VirtualHost 127.0.0.1:@PORT@>
ServerName two
DocumentRoot {httpd.docroot}
PaymentsEngine On
PaymentsStore lmdb:{httpd.store}
PaymentsAccount two
PaymentsRefundSync off
{httpd.given}
{options["host_extra"]}
</VirtualHost>
"""
    two = LiveShop(httpd, "two", open_account(httpd.store, "two"))
    return httpd.start(), two


def charge_of_two(shop):
    """A charge at the second host."""
    connection = shop.httpd.connect()
    connection.request("POST", CHARGE, json.dumps(charge_body(token="acq_success", email=EMAIL)),
                       {"Host": "two", "Authorization": f"Bearer {shop.secret}", "Content-Type": "application/json"})
    answer = connection.getresponse()
    text = answer.read()
    connection.close()
    return answer.status, text


def test_second_shop_is_served(till, proxy):
    """One shop sends more than there is room for, without an end; each charge of another beside it is taken."""
    httpd, other = second_shop(till, threads=DEBIAN_SIZES["event"],
                               host_extra=f"PaymentsAcquirerMaxInFlight 4096\n{PATIENT}{OPEN}")
    shop, over = httpd.live_shop, threading.Event()
    proxy.fail(Fault(after=UPSTREAM_S), "charge")

    def flood():
        while not over.is_set():
            answer = shop.charge()
            yield answer
            if answer.status == 503:
                over.wait(int(answer.header("retry-after")))

    crowd = Crowd(HELD_MAX + 30, flood)
    try:
        wait_for(lambda: crowd.count(503) >= 10, "more than there is room for")
        for _ in range(10):
            status, text = charge_of_two(other)
            assert status == 200, text
    finally:
        over.set()
    answers = crowd.join()
    assert {answer.status for answer in answers} == {200, 503}
    for answer in answers:
        assert answer.status == 200 or int(answer.header("retry-after")) > 0


@pytest.mark.parametrize("mpm", ["event", "worker", "prefork"])
def test_pages_go_on(till, proxy, mpm):
    """However many clients an account has, and however long its acquirer takes: a quarter of all workers is left."""
    httpd = till(mpm=mpm, threads=DEBIAN_SIZES[mpm], parameters="timeout=60s",
                 host_extra=f"PaymentsAcquirerMaxInFlight 4096\nPaymentsSlotWait 60s\n{OPEN}")
    shop, hold = httpd.live_shop, Hold()
    proxy.fail(Fault(hold=hold), "charge")
    clients = HELD_MAX + 48
    crowd = Crowd(clients, lambda: [shop.charge()])

    def all_have_come():
        metrics = scrape(httpd)
        return (metrics("payments_slots_taken") == hold.waiting
                and crowd.count(503) + hold.waiting + metrics("payments_slots_waiting") == clients)

    try:
        wait_for(all_have_come, "all to hang, to wait or to be refused")
        for _ in range(20):
            assert httpd.request("GET", "/nonce.txt").status == 200
        assert shop.charge(key=shop.test_secret, token="tok_test_success").status == 200
        wait_for(all_have_come, "them to hang as before")
        assert crowd.count(200) == 0 and hold.waiting <= SLOTS_MAX
        assert clients - HELD_MAX <= crowd.count(503) < clients - hold.waiting
    finally:
        hold.release()
    answers = crowd.join()
    assert {answer.status for answer in answers} == {200, 503}
    assert len(proxy.of("charge")) == crowd.count(200) and not proxy.repeated()
