# SPDX-License-Identifier: Apache-2.0
"""The same over HTTP/2 (prior knowledge, curl), where mod_http2 runs the handler on its own threads."""

import json
import subprocess

import pytest

from harness import charge_body, reference

CHARGE = "/api/v1/tokenized-card-charge"


@pytest.fixture(params=["event", "worker"])
def shop(server, request):
    return server(mpm=request.param).shop()


def curl(shop, path, *args, body=None, key=None):
    command = ["curl", "-sS", "--http2-prior-knowledge", "--max-time", "60", "-o", "-",
               "-w", "\n%{http_code} %{content_type}", *args]
    if key:
        command += ["-H", f"Authorization: Bearer {key}"]
    if body is not None:
        command += ["-H", "Content-Type: application/json", "--data-binary", "@-"]
    command.append(f"http://127.0.0.1:{shop.httpd.port}{path}")
    done = subprocess.run(command, input=body, capture_output=True, text=True, check=False)
    text, _, last = done.stdout.rpartition("\n")
    status, _, media = last.partition(" ")
    return int(status), media, text, done.stderr


def test_charge_and_list(shop):
    ref = reference()
    status, media, text, _ = curl(shop, CHARGE, body=json.dumps(charge_body(reference=ref)), key=shop.secret)
    assert (status, media) == (200, "application/json; charset=utf-8")
    assert json.loads(text)["data"]["reference"] == ref
    assert curl(shop, "/api/v1/refund/2026-01-01/2026-01-02", key=shop.secret)[2] == "[]"


def test_idempotency_key(shop):
    shop.charge(reference="one", amount=10)
    body = json.dumps({"reference": "one", "amount": 1})
    refund = lambda *keys: curl(shop, "/api/v1/partial-refund", "-i",
                                *[word for key in keys for word in ("-H", f"Idempotency-Key: {key}")],
                                body=body, key=shop.secret)
    (status, _, first, _), (_, _, again, _) = refund("k"), refund('"k"')
    assert status == 200 and "idempotent-replayed" not in first.lower()
    assert "idempotent-replayed: true" in again.lower()
    assert first.splitlines()[-1] == again.splitlines()[-1]
    for keys in (("k", "k"), ('"k"', '"l"')):
        status, _, text, _ = refund(*keys)
        assert (status, json.loads(text.splitlines()[-1])["data"]["errors"][0]["field"]) == (400, "Idempotency-Key")


@pytest.mark.parametrize("size", [100, 70_000, 900_000], ids=["small", "above the limit", "large"])
@pytest.mark.parametrize("key, path, status", [
    pytest.param(None, CHARGE, 401, id="401"),
    pytest.param("public", CHARGE, 403, id="403"),
    pytest.param("secret", "/api/v1/none", 404, id="404"),
    pytest.param("secret", "/api/v1/refund/2026-01-01/2026-01-02", 405, id="405"),
])
def test_errors_with_an_unread_body_arrive(shop, key, path, status, size):
    got, media, text, err = curl(shop, path, "-H", "Expect:", body="x" * size, key=key and getattr(shop, key))
    assert got == status, err
    assert media == "application/json; charset=utf-8"
    assert json.loads(text)["status"] is False


def test_too_large_arrives(shop):
    got, _, text, err = curl(shop, CHARGE, "-H", "Expect:", body="x" * 200_000, key=shop.secret)
    assert got == 413, err
    assert json.loads(text)["data"]["responseCode"] == "S1"


def test_error_of_apaches_own_arrives(server):
    httpd = server(host_extra='<Location "/api/v1">\nRequire all denied\n</Location>')
    httpd.expect_log("AH01630")
    shop = httpd.shop()
    got, media, text, err = curl(shop, CHARGE, "-H", "Expect:", body="x" * 100_000, key=shop.secret)
    assert got == 403, err
    assert json.loads(text)["status"] is False
