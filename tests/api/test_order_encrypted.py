# SPDX-License-Identifier: Apache-2.0
"""Orders whose body is encrypted: what others' programs encrypt is taken, all else is refused in one way."""

import base64
import json
import os
import re
import subprocess

import pytest

from harness import order_body

ORDER = "/payment/order/create"
NODE = """
const crypto = require('crypto');
const [form, key, text] = process.argv.slice(1);
let pem = key;
if (form === 'xml') {  // as the published clients read it
  const xml = Buffer.from(key, 'base64').toString('utf8').split('!')[1];
  const part = name => Buffer.from(new RegExp(`<${name}>(.*?)</${name}>`).exec(xml)[1], 'base64').toString('base64url');
  pem = crypto.createPublicKey({format: 'jwk', key: {kty: 'RSA', n: part('Modulus'), e: part('Exponent')}});
}
process.stdout.write(crypto.publicEncrypt({key: pem, padding: crypto.constants.RSA_PKCS1_PADDING},
                                          Buffer.from(text)).toString('base64'));
"""


def key_of(shop, *options):
    return shop.httpd.ctl("encryption-key", "show", shop.name, "--mode", "test", *options).stdout


def by_openssl(shop, text, folder, *options):
    (folder / "key.pem").write_text(key_of(shop))
    done = subprocess.run(["openssl", "pkeyutl", "-encrypt", "-pubin", "-inkey", folder / "key.pem", *options],
                          input=text.encode(), capture_output=True, check=True, timeout=60)
    return base64.b64encode(done.stdout).decode()


def by_node(shop, text, form):
    key = key_of(shop, "--xml", "--base64").strip() if form == "xml" else key_of(shop)
    done = subprocess.run(["node", "-e", NODE, form, key, text], capture_output=True, check=True, timeout=60, text=True,
                          env={"PATH": os.environ["PATH"]})
    return done.stdout


def compact(body):
    return json.dumps(body, separators=(",", ":"))


@pytest.fixture
def encrypt(shop, tmp_path):
    return {
        "openssl": lambda text: by_openssl(shop, text, tmp_path),
        "node with PEM": lambda text: by_node(shop, text, "pem"),
        "node with the XML form": lambda text: by_node(shop, text, "xml"),
    }


@pytest.mark.parametrize("program", ["openssl", "node with PEM", "node with the XML form"])
def test_taken(shop, encrypt, program):
    """It is the order that the plain body would have made, and both are the same request."""
    body = order_body(amount="1500.50")
    answer = shop.call("POST", ORDER, {"data": encrypt[program](compact(body))}, key=shop.public)
    assert answer.status == 200, answer
    order = answer.json["data"]["order"]
    assert (order["reference"], order["amount"], order["status"]) == (body["order"]["reference"], 1500.5, "pending")
    plain = shop.call("POST", ORDER, body)
    assert plain.header("idempotent-replayed") == "true"
    assert plain.json["data"]["checkout_url"] == answer.json["data"]["checkout_url"]


def test_a_fault_inside_is_told(shop, encrypt):
    """Whoever encrypted it knows what is in it."""
    data = encrypt["openssl"](compact(order_body(amount="-1")))
    answer = shop.call("POST", ORDER, {"data": data})
    assert (answer.status, [one["field"] for one in answer.json["data"]["errors"]]) == (400, ["/order/amount"])


REFUSED = {
    "no base64": lambda good, shop, folder: "!" + good[1:],
    "too short": lambda good, shop, folder: good[:-4],
    "empty": lambda good, shop, folder: "",
    "one bit": lambda good, shop, folder: good[:100] + ("A" if good[100] != "A" else "B") + good[101:],
    "not below the modulus": lambda good, shop, folder: base64.b64encode(b"\xff" * 512).decode(),
    "zeros": lambda good, shop, folder: base64.b64encode(bytes(512)).decode(),
    "other padding": lambda good, shop, folder: by_openssl(shop, compact(order_body()), folder, "-pkeyopt",
                                                           "rsa_padding_mode:oaep"),
    "no JSON inside": lambda good, shop, folder: by_openssl(shop, "hello", folder),
    "no object inside": lambda good, shop, folder: by_openssl(shop, "[1]", folder),
    "of another account": lambda good, shop, folder: by_openssl(shop.httpd.shop(), compact(order_body()), folder),
}


@pytest.mark.parametrize("path", [ORDER])
def test_refused_in_one_way(shop, encrypt, tmp_path, path):
    """Every kind gets the same bytes, but for the request's id."""
    good = encrypt["openssl"](compact(order_body()))
    said = {}
    for name, spoil in REFUSED.items():
        answer = shop.call("POST", path, {"data": spoil(good, shop, tmp_path)})
        assert answer.status == 400, name
        said[name] = re.sub(rb'"requestId":"[^"]*"', b"", answer.body)
    assert len(set(said.values())) == 1, said
    assert b'"/data"' in said["one bit"]
    assert shop.call("POST", path, {"data": good}).status == 200


def test_data_beside_others_is_not_looked_at(shop):
    assert shop.call("POST", ORDER, {**order_body(), "data": "x"}).status == 200
