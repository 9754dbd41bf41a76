# SPDX-License-Identifier: Apache-2.0
"""Bodies of any framing, size and speed; nothing is charged before the last byte."""

import json
import socket
import time

import pytest

from harness import WAIT_S, charge_body, reference


CHARGE = "/api/v1/tokenized-card-charge"


def padded(size, ref):
    body = json.dumps(charge_body(reference=ref))
    return body[:-1] + ',"pad":"' + "x" * (size - len(body) - 9) + '"}'


def head(shop, *lines):
    return "\r\n".join([f"POST {CHARGE} HTTP/1.1", "Host: localhost", "Connection: close",
                        f"Authorization: Bearer {shop.secret}", "Content-Type: application/json",
                        *lines, "", ""]).encode()


def chunked(data, size=1000):
    parts = [data[i:i + size] for i in range(0, len(data), size)]
    return b"".join(b"%x\r\n%s\r\n" % (len(p), p) for p in parts) + b"0\r\n\r\n"


def status_of(said):
    return int(said.split(b" ")[1])


@pytest.mark.parametrize("framing", ["length", "chunked", "chunked, one byte each"])
@pytest.mark.parametrize("size, status", [(65535, 200), (65536, 200), (65537, 413)],
                         ids=["below", "at the limit", "one above"])
def test_limit(shop, framing, size, status):
    ref = reference()
    body = padded(size, ref).encode()
    assert len(body) == size
    if framing == "length":
        said = shop.httpd.raw(head(shop, f"Content-Length: {size}") + body)
    else:
        said = shop.httpd.raw(head(shop, "Transfer-Encoding: chunked")
                              + chunked(body, 1000 if framing == "chunked" else 1))
    assert status_of(said) == status
    if status == 413:
        assert b'"responseCode":"S1"' in said
        assert shop.charge(reference=ref).header("idempotent-replayed") is None


def test_a_limit_of_the_sites_own_is_kept(server):
    httpd = server(host_extra="LimitRequestBody 300")
    shop = httpd.shop()
    httpd.expect_log("AH01588|AH02592|AH01587")
    assert shop.charge().status == 200
    assert shop.call("POST", CHARGE, padded(301, reference())).status == 413


def test_max_body_directive(server):
    httpd = server(host_extra="PaymentsMaxBody 1K")
    shop = httpd.shop()
    assert shop.call("POST", CHARGE, padded(1024, reference())).status == 200
    assert shop.call("POST", CHARGE, padded(1025, reference())).status == 413


def test_short_body_charges_nothing(shop):
    ref = reference()
    body = json.dumps(charge_body(reference=ref)).encode()
    said = shop.httpd.raw(head(shop, f"Content-Length: {len(body) + 1}") + body, shutdown=True)
    assert status_of(said) == 400
    assert shop.charge(reference=ref).header("idempotent-replayed") is None


def test_cut_chunks_charge_nothing(shop):
    ref = reference()
    body = json.dumps(charge_body(reference=ref)).encode()
    shop.httpd.raw(head(shop, "Transfer-Encoding: chunked") + b"%x\r\n%s\r\n" % (len(body), body),
                   shutdown=True)
    assert shop.charge(reference=ref).header("idempotent-replayed") is None


def test_trailers_are_fine(shop):
    body = json.dumps(charge_body()).encode()
    said = shop.httpd.raw(head(shop, "Transfer-Encoding: chunked")
                          + b"%x\r\n%s\r\n0\r\nX-Trailer: 1\r\n\r\n" % (len(body), body))
    assert status_of(said) == 200


def test_expect_continue(shop):
    body = json.dumps(charge_body()).encode()
    with socket.create_connection(("127.0.0.1", shop.httpd.port), timeout=WAIT_S) as sock:
        sock.sendall(head(shop, f"Content-Length: {len(body)}", "Expect: 100-continue"))
        assert sock.recv(1024).startswith(b"HTTP/1.1 100")
        sock.sendall(body)
        said = b""
        while part := sock.recv(65536):
            said += part
    assert status_of(said) == 200


def test_expect_continue_is_not_given_to_anonymous_clients(shop):
    said = shop.httpd.raw(f"POST {CHARGE} HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\nExpect: 100-continue\r\n"
                          "Connection: close\r\n\r\n".encode(), shutdown=True)
    assert status_of(said) == 401


def test_slow_body(shop):
    """Byte by byte, with the connection otherwise idle: still one charge."""
    body = json.dumps(charge_body()).encode()
    with socket.create_connection(("127.0.0.1", shop.httpd.port), timeout=WAIT_S) as sock:
        sock.sendall(head(shop, f"Content-Length: {len(body)}"))
        for byte in body:
            sock.sendall(bytes([byte]))
        said = b""
        while part := sock.recv(65536):
            said += part
    assert status_of(said) == 200


def test_body_that_never_comes_is_a_408(server):
    httpd = server(extra="<IfModule mod_reqtimeout.c>\nRequestReadTimeout header=10 body=1\n</IfModule>")
    shop = httpd.shop()
    ref = reference()
    started = time.monotonic()
    said = httpd.raw(head(shop, "Content-Length: 100") + b'{"reference":"' + ref.encode())
    assert time.monotonic() - started < 20, "the Timeout of all servers here ended it"
    assert status_of(said) == 408
    assert b'"responseCode":"408"' in said
    assert shop.charge(reference=ref).header("idempotent-replayed") is None


def test_connection_is_kept_alive_after_success_and_error(shop):
    connection = shop.httpd.connect()
    for _ in range(3):
        assert shop.charge(connection=connection).status == 200
        assert shop.call("POST", CHARGE, "{", connection=connection).status == 400
        assert shop.call("POST", CHARGE, "{}", key="pay_testsk_" + "a" * 48, connection=connection).status == 401
        assert shop.refunds(connection=connection).status == 200
    connection.close()


def test_get_with_a_body(shop):
    assert shop.call("GET", "/api/v1/refund/2026-01-01/2026-01-02", "ignored").status == 200


def test_pipelined_requests(shop):
    bodies = [json.dumps(charge_body()).encode() for _ in range(3)]
    data = b"".join(head(shop, f"Content-Length: {len(b)}").replace(b"Connection: close\r\n", b"") + b
                    for b in bodies[:-1])
    data += head(shop, f"Content-Length: {len(bodies[-1])}") + bodies[-1]
    said = shop.httpd.raw(data)
    assert said.count(b"HTTP/1.1 200") == 3
