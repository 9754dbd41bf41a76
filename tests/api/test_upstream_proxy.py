# SPDX-License-Identifier: Apache-2.0
"""The proxy of the Live Mode tests injects the planned faults and no others: else those tests would show nothing."""

import http.client
import json
import ssl

import pytest

from harness import charge_body, wait_for
from upstream import CHARGE, EMAIL, live_reference
from upstream_proxy import Fault, Hold, changed, closed_unanswered, own

LIST = "/api/v1/refund/2026-01-01/2026-01-02"


class Caller:
    """One connection to the proxy, as the upstream's merchant."""

    def __init__(self, proxy, upstream):
        self.upstream = upstream
        context = ssl.create_default_context(cafile=proxy.authority.file)
        self.connection = http.client.HTTPSConnection("127.0.0.1", proxy.port, timeout=20, context=context)

    def send(self, method, path, body=None):
        headers = {"Authorization": f"Bearer {self.upstream.key}", "Content-Type": "application/json"}
        self.connection.request(method, path, None if body is None else json.dumps(body), headers)

    def ask(self, method, path, body=None):
        try:
            self.send(method, path, body)
            answer = self.connection.getresponse()
            return answer.status, answer.read()
        except (http.client.HTTPException, OSError):
            self.connection.close()  # the next call makes a new one
            raise

    def charge(self, ref):
        return self.ask("POST", CHARGE, charge_body(token="acq_success", email=EMAIL, reference=ref))


@pytest.fixture
def caller(proxy, upstream):
    made = Caller(proxy, upstream)
    yield made
    made.connection.close()


def test_passes_on(caller, upstream, proxy):
    """Everything, on one connection; it is counted by kind and name."""
    refs = [live_reference() for _ in range(3)]
    for ref in refs:
        assert caller.charge(ref)[0] == 200
    assert caller.ask("GET", LIST) == (200, b"[]")  # which comes in chunks
    assert caller.ask("GET", f"/api/v1/checkout/{refs[0]}/verify")[0] == 200
    assert caller.ask("GET", "/api/v1/refund/none")[0] == 404
    assert [one.kind for one in proxy.exchanges] == ["charge"] * 3 + ["list", "query", "refund query"]
    assert proxy.posts == {("charge", ref): 1 for ref in refs} and proxy.connections == 1
    assert set(refs) <= set(upstream.charges()) and not proxy.repeated()
    caller.charge(refs[0])
    assert proxy.repeated() == {("charge", refs[0]): 2}


@pytest.mark.parametrize("fault, done", [
    pytest.param(Fault(request_bytes=0), False, id="nothing of the request"),
    pytest.param(Fault(request_bytes=60, gently=True), False, id="some of the head"),
    pytest.param(Fault(request_bytes=300), False, id="some of the body"),
    pytest.param(Fault(request_bytes=100000), True, id="all of the request"),
    pytest.param(closed_unanswered(), True, id="nothing of the answer"),
    pytest.param(Fault(answer_bytes=400, gently=True), True, id="some of the answer"),
    pytest.param(Fault(answer_bytes=-1), True, id="all but one byte"),
])
def test_cuts(caller, upstream, proxy, fault, done):
    ref = live_reference()
    proxy.next("charge", fault)
    with pytest.raises((http.client.HTTPException, OSError)):
        caller.charge(ref)
    if done:
        wait_for(lambda: ref in upstream.charges(), "the charge")
        assert proxy.posts == {("charge", ref): 1}
    else:
        wait_for(lambda: proxy.exchanges[0].ended, "the end")
        assert ref not in upstream.charges() and not proxy.posts
    assert caller.charge(live_reference())[0] == 200


def test_answers_by_itself(caller, upstream, proxy):
    ref = live_reference()
    proxy.next("charge", own(200, "<html>", "text/html"), own(429, {}, more="Retry-After: 2\r\n"))
    assert caller.charge(ref) == (200, b"<html>")
    assert caller.charge(ref) == (429, b"{}")
    assert ref not in upstream.charges()


def test_falsifies(caller, upstream, proxy):
    ref = live_reference()
    proxy.next("charge", changed(amount=1.5))
    status, body = caller.charge(ref)
    assert status == 200 and json.loads(body)["data"]["amount"] == 1.5
    assert upstream.charges()[ref]["amount"] == 1000


def test_holds(upstream, proxy):
    """One waits, others pass; a client that went away is still charged, late."""
    hold, ref, other = Hold(), live_reference(), live_reference()
    proxy.next("charge", Fault(hold=hold))
    gone = Caller(proxy, upstream)
    gone.send("POST", CHARGE, charge_body(token="acq_success", email=EMAIL, reference=ref))
    wait_for(lambda: hold.waiting == 1, "it to be held")
    gone.connection.close()
    assert Caller(proxy, upstream).charge(other)[0] == 200
    assert ref not in upstream.charges()
    hold.release()
    wait_for(lambda: ref in upstream.charges(), "the late charge")


def test_comes_and_goes(caller, upstream, proxy):
    assert caller.ask("GET", LIST)[0] == 200
    proxy.refuse()
    with pytest.raises((http.client.HTTPException, OSError)):
        caller.ask("GET", LIST)
    with pytest.raises(ConnectionRefusedError):
        caller.ask("GET", LIST)
    for certificate in "self-signed", "expired", "other name":
        proxy.listen(certificate)
        with pytest.raises(ssl.SSLCertVerificationError):
            caller.ask("GET", LIST)
        proxy.refuse()
    proxy.listen()
    assert caller.ask("GET", LIST)[0] == 200 and upstream.port != proxy.port
