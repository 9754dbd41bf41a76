# SPDX-License-Identifier: Apache-2.0
"""Every error has the envelope of docs/api.md, "Errors", whoever raises it."""

import json
import time

import pytest

from harness import charge_body
from shares import ALIKE

pytestmark = ALIKE

CHARGE = "/api/v1/tokenized-card-charge"
LIST = "/api/v1/refund/2026-01-01/2026-01-02"


def check_envelope(answer, status, code=None, loose=False):
    assert answer.status == status, answer
    assert answer.header("content-type") == "application/json; charset=utf-8"
    assert answer.header("cache-control") == "no-store"
    assert answer.header("x-content-type-options") == "nosniff"
    body = answer.json
    assert set(body) == {"status", "message", "data"}
    assert body["status"] is False
    data = body["data"]
    assert {"responseCode", "responseMessage", "responseDescription", "requestId"} <= set(data)
    assert set(data) <= {"responseCode", "responseMessage", "responseDescription", "requestId", "errors"}
    assert body["message"] == data["responseMessage"] == data["responseDescription"] != ""
    if code:
        assert data["responseCode"] == code
    if not loose:
        assert answer.header("request-id") == data["requestId"] != ""


def test_successes_have_the_common_headers(shop):
    for answer in (shop.charge(), shop.refunds()):
        assert answer.header("cache-control") == "no-store"
        assert answer.header("x-content-type-options") == "nosniff"
        assert answer.header("vary") == "Accept"
        assert answer.header("request-id")
        assert not [n for n, _ in answer.headers if n.startswith("access-control")]


def test_request_ids_differ(shop):
    assert shop.refunds().header("request-id") != shop.refunds().header("request-id")


JSON = [("Content-Type", "application/json")]


@pytest.mark.parametrize("method, path, body, headers, status, code", [
    pytest.param("POST", CHARGE, "{", JSON, 400, "T1", id="not JSON"),
    pytest.param("POST", CHARGE, "[]", JSON, 400, "T1", id="an array"),
    pytest.param("POST", CHARGE, "{} x", JSON, 400, "T1", id="something behind"),
    pytest.param("POST", CHARGE, '{"a":1,"a":2}', JSON, 400, "T1", id="a member twice"),
    pytest.param("POST", CHARGE, '{"a":"\\u0000"}', JSON, 400, "T1", id="NUL"),
    pytest.param("POST", CHARGE, '{"a":"\\ud800"}', JSON, 400, "T1", id="lone surrogate"),
    pytest.param("POST", CHARGE, b'{"a":"\xff"}', JSON, 400, "T1", id="invalid UTF-8"),
    pytest.param("POST", CHARGE, b'{"a":"\x01"}', JSON, 400, "T1", id="control character"),
    pytest.param("POST", CHARGE, b'{"a\x00b":1}', JSON, 400, "T1", id="raw NUL"),
    pytest.param("POST", CHARGE, '{"a":' + "[" * 32 + "]" * 32 + "}", JSON, 400, "T1", id="33 levels"),
    pytest.param("POST", CHARGE, '{"a":' + "[" * 10000 + "]" * 10000 + "}", JSON, 400, "T1", id="10,000 levels"),
    pytest.param("POST", CHARGE, '{"a":00}', JSON, 400, "T1", id="00"),
    pytest.param("POST", CHARGE, "", JSON, 400, "400", id="empty body"),
    pytest.param("POST", CHARGE, "{}", [], 415, "U1", id="no Content-Type"),
    pytest.param("POST", CHARGE, "{}", [("Content-Type", "text/plain")], 415, "U1", id="text/plain"),
    pytest.param("POST", CHARGE, "{}", [("Content-Type", "application/x-www-form-urlencoded")], 415, "U1",
                 id="a form"),
    pytest.param("POST", CHARGE, "{}", [("Content-Type", "application/jsonx")], 415, "U1", id="jsonx"),
    pytest.param("GET", "/api/v1/refund/x/y", None, [], 400, "T1", id="dates"),
    pytest.param("GET", "/api/v1/refund/none", None, [], 404, "N1", id="unknown reference"),
    pytest.param("GET", "/api/v1/nothing", None, [], 404, "N2", id="unknown path"),
    pytest.param("GET", "/api/v1", None, [], 404, "N2", id="the root"),
    pytest.param("GET", CHARGE, None, [], 405, "M1", id="GET on POST"),
    pytest.param("POST", LIST, "{}", JSON, 405, "M1", id="POST on GET"),
    pytest.param("PUT", CHARGE, "{}", JSON, 405, "M1", id="PUT"),
    pytest.param("FROB", CHARGE, None, [], 405, "M1", id="an unknown method"),
    pytest.param("TRACE", LIST, None, [], 405, "M1", id="TRACE"),
    pytest.param("GET", LIST, None, [("Accept", "text/html")], 406, "A1", id="not acceptable"),
    pytest.param("POST", CHARGE, "x" * 65537, JSON, 413, "S1", id="too large"),
    pytest.param("POST", "/api/v1/paymentlink/initiate", "{}", JSON, 400, "T1", id="a link without anything"),
    pytest.param("POST", "/payment/order/create", "{}", JSON, 400, "T1", id="an empty order"),
    pytest.param("GET", "/payment/order/create", None, [], 405, "M1", id="GET on an order"),
])
def test_our_errors(shop, method, path, body, headers, status, code):
    answer = shop.httpd.request(method, path, body,
                                [("Authorization", "Bearer " + shop.secret), *headers])
    check_envelope(answer, status, code)
    if status == 405:
        want = "GET, HEAD, OPTIONS" if path == LIST else "POST, OPTIONS"
        assert answer.header("allow") == want


@pytest.mark.parametrize("media", [
    "application/json", "application/json; charset=utf-8", "APPLICATION/JSON", "text/json",
    "application/vnd.api+json", 'application/json;charset="UTF-8"'])
def test_media_types_of_requests(shop, media):
    answer = shop.charge(headers={"Content-Type": media})
    assert answer.status == 200, answer


def test_thirty_two_levels_are_read(shop):
    body = json.dumps(charge_body())[:-1] + ',"x":' + "[" * 31 + "]" * 31 + "}"
    assert shop.call("POST", CHARGE, body).status == 200


@pytest.mark.parametrize("value", ["bytes=0-9", "bytes=99999-"])
def test_range_hides_no_charge(shop, value):
    answer = shop.charge(headers={"Range": value})
    assert answer.status == 200
    assert answer.json["data"]["paymentStatus"] == "successful"
    ref = answer.json["data"]["reference"]
    made = shop.refund(ref, "1")
    single = shop.call("GET", "/api/v1/refund/" + made["refundReference"], headers={"Range": value})
    assert (single.status, single.json) == (200, made)


@pytest.mark.parametrize("encoding, status", [("gzip", 415), ("br", 415), ("identity", 200)])
def test_content_encoding(shop, encoding, status):
    assert shop.charge(headers={"Content-Encoding": encoding}).status == status


APACHE = [
    ("400 no host", "GET {list} HTTP/1.1\r\n\r\n", 400),
    ("400 bad header", "GET {list} HTTP/1.1\r\nHost: x\r\nbad header\r\n\r\n", 400),
    ("400 bad length", "POST {charge} HTTP/1.1\r\nHost: x\r\n{auth}Content-Length: x\r\n\r\n", 400),
    ("400 two lengths", "POST {charge} HTTP/1.1\r\nHost: x\r\n{auth}Content-Length: 1\r\nContent-Length: 2\r\n\r\n", 400),
    ("400 bad chunk", "POST {charge} HTTP/1.1\r\nHost: x\r\n{auth}Content-Type: application/json\r\n"
                      "Transfer-Encoding: chunked\r\n\r\nzz\r\n", 400),
    ("404 encoded slash", "GET /api/v1/a%2Fb HTTP/1.1\r\nHost: x\r\n{auth}\r\n", 404),
    ("404 NUL", "GET /api/v1/refund/a%00b HTTP/1.1\r\nHost: x\r\n{auth}\r\n", 404),
    ("417", "POST {charge} HTTP/1.1\r\nHost: x\r\n{auth}Expect: x\r\nContent-Length: 0\r\n\r\n", 417),
    ("501 transfer coding", "POST {charge} HTTP/1.1\r\nHost: x\r\n{auth}Content-Type: application/json\r\n"
                            "Transfer-Encoding: gzip\r\n\r\n", None),
]
DOCUMENTS = "\n".join(f"ErrorDocument {code} /index.html" for code in (400, 401, 404, 405, 413, 415, 500, 503)) \
    + "\nErrorDocument 403 https://elsewhere.example/\nErrorDocument 406 /index.html\nErrorDocument 501 words"


def parse(said):
    head, _, body = said.partition(b"\r\n\r\n")
    lines = head.decode().split("\r\n")
    return int(lines[0].split()[1]), {l.split(":", 1)[0].lower(): l.split(":", 1)[1].strip() for l in lines[1:]}, body


ELSEWHERE = "\n".join(f"ErrorDocument {code} https://elsewhere.example/{code}"
                      for code in (400, 401, 403, 404, 405, 408, 413, 415, 417, 501))


@pytest.fixture(scope="module", params=["plain", "ErrorDocument", "ErrorDocument elsewhere"])
def served(request):
    from harness import Httpd
    extra = {"plain": "", "ErrorDocument": DOCUMENTS, "ErrorDocument elsewhere": ELSEWHERE}[request.param]
    httpd = Httpd(host_extra=extra)
    httpd.host_extra += f'\nLogFormat "%{{Authorization}}i" keys\nCustomLog {httpd.root}/keys.log keys'
    (httpd.docroot / "index.html").write_text("<h1>a site's own page</h1>")
    httpd.start()
    shop = httpd.shop()
    yield shop
    httpd.close()


@pytest.mark.parametrize("text, status", [pytest.param(t, s, id=n) for n, t, s in APACHE])
def test_errors_that_apache_raises(served, text, status):
    said = served.httpd.raw(text.format(list=LIST, charge=CHARGE,
                                        auth=f"Authorization: Bearer {served.secret}\r\n"
                                             "Connection: close\r\n").encode(), shutdown=True)
    got, headers, body = parse(said)
    if status is None:
        assert got >= 400
    else:
        assert got == status, said
    assert headers["content-type"].startswith("application/json"), said
    assert "location" not in headers
    keys = served.httpd.root / "keys.log"
    assert not keys.exists() or served.secret not in keys.read_text()
    if headers.get("transfer-encoding") == "chunked":
        body = b"".join(body.split(b"\r\n")[1::2])
    parsed = json.loads(body)
    assert parsed["status"] is False
    assert parsed["data"]["requestId"]
    assert parsed["data"]["responseMessage"] == parsed["message"]


@pytest.mark.parametrize("method, path, key, status", [
    pytest.param("GET", LIST, None, 401, id="401"),
    pytest.param("GET", LIST, "public", 403, id="403"),
    pytest.param("GET", "/api/v1/none", "secret", 404, id="404"),
    pytest.param("PUT", LIST, "secret", 405, id="405"),
    pytest.param("POST", "/api/v1/paymentlink/initiate", "secret", 400, id="400"),
])
def test_error_documents_of_the_site_are_not_ours(served, method, path, key, status):
    headers = [("Authorization", "Bearer " + getattr(served, key))] if key else []
    body = "{}" if method in ("POST", "PUT") else None
    check_envelope(served.httpd.request(method, path, body, headers + JSON), status)


def test_the_site_keeps_its_own_error_documents(served):
    answer = served.httpd.request("GET", "/nothing-here")
    assert answer.status in (404, 302)
    assert not (answer.header("content-type") or "").startswith("application/json")


def test_denied_by_the_administrators_rule(server):
    httpd = server(host_extra='<Location "/api/v1">\nRequire all denied\n</Location>')
    httpd.expect_log("AH01630")
    shop = httpd.shop()
    check_envelope(shop.refunds(), 403)


def test_header_that_is_too_long(server):
    httpd = server()
    said = httpd.raw(f"GET {LIST} HTTP/1.1\r\nHost: x\r\nX: {'y' * 9000}\r\n\r\n".encode(), shutdown=True)
    status, headers, _ = parse(said)
    assert status in (400, 431)
    assert headers["content-type"].startswith("application/json")


def test_an_encoded_path_of_the_sites_own_keeps_its_document(server):
    httpd = server(host_extra="AllowEncodedSlashes On\nErrorDocument 404 /own.html")
    (httpd.docroot / "own.html").write_text("the site's own page")
    said = httpd.raw(b"GET /api/v1/..%2f..%2fnothing HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    status, headers, body = parse(said)
    assert (status, body) == (404, b"the site's own page")


def test_anonymous_client_with_half_a_body_is_not_waited_for(httpd):
    started = time.monotonic()
    said = httpd.raw(f"POST {CHARGE} HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nx".encode())
    assert parse(said)[0] == 401
    assert time.monotonic() - started < 15, "the Timeout of all servers here ended it"
