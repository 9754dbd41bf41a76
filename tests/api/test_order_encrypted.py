# SPDX-License-Identifier: Apache-2.0
"""Bodies that are encrypted: what others' programs encrypt is taken, all else is refused in one way."""

import base64
import json
import os
import re
import subprocess

import pytest

from harness import checkout_body, link_body, order_body, reference
from shares import ALIKE

pytestmark = ALIKE

ORDER = "/payment/order/create"
LINK = "/api/v1/paymentlink/initiate"
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


def key_of(shop, *options, mode="test"):
    return shop.httpd.ctl("encryption-key", "show", shop.name, "--mode", mode, *options).stdout


def by_openssl(shop, text, folder, *options, mode="test"):
    (folder / "key.pem").write_text(key_of(shop, mode=mode))
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


@pytest.fixture(scope="session")
def keyed(shared):
    """A shop of this file's own: the pair of a new one takes seconds to make."""
    return shared.shop()


@pytest.fixture
def shop(httpd, keyed):  # pylint: disable=unused-argument # httpd looks at the log
    return keyed


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


def test_question(shop, encrypt):
    """The state of an order is requested in the same way."""
    body = order_body()
    assert shop.call("POST", ORDER, body).status == 200
    data = encrypt["openssl"](compact({"reference": body["order"]["reference"]}))
    for path in ("verify", "status"):
        answer = shop.call("POST", f"/payment/order/{path}", {"data": data}, key=shop.public)
        assert answer.status == 200 and answer.json["data"]["orderReference"] == body["order"]["reference"], answer


@pytest.fixture
def bodies(shop):
    """A fresh plain body of each operation; the link's is for one payer, who gets the same page again."""
    link = reference()
    shop.httpd.ctl("link", "create", shop.name, "--mode", "test", "--reference", link, "--amount", "1000", "--once")
    return {ORDER: order_body(), LINK: link_body(link)}


@pytest.mark.parametrize("program", ["openssl", "node with PEM", "node with the XML form"])
def test_taken_of_a_link(shop, encrypt, bodies, program):
    body = bodies[LINK]
    answer = shop.call("POST", LINK, {"data": encrypt[program](compact(body))}, key=shop.public)
    assert answer.status == 200, answer
    data = answer.json["data"]
    assert (data["amount"], data["statusCode"], data["publicKey"]) == (1000, "01", shop.public)
    plain = shop.call("POST", LINK, body, key=shop.public)
    assert plain.header("idempotent-replayed") == "true" and plain.body == answer.body


@pytest.mark.parametrize("path, inner, field", [
    pytest.param(ORDER, order_body(amount="-1"), "/order/amount", id="order"),
    pytest.param(LINK, link_body("x", amount="-1"), "/amount", id="link"),
])
def test_a_fault_inside_is_told(shop, encrypt, path, inner, field):
    """Whoever encrypted it knows what is in it."""
    answer = shop.call("POST", path, {"data": encrypt["openssl"](compact(inner))})
    assert (answer.status, [one["field"] for one in answer.json["data"]["errors"]]) == (400, [field])


def test_initiate_takes_a_plain_body_only(shop, encrypt):
    body = checkout_body()
    answer = shop.call("POST", "/api/v1/initiate", {"data": encrypt["openssl"](compact(body))})
    assert answer.status == 400 and "/transactionReference" in [one["field"] for one in answer.json["data"]["errors"]]


REFUSED = {
    "no base64": lambda good, shop, folder: "!" + good[1:],
    "too short": lambda good, shop, folder: good[:-4],
    "two blocks": lambda good, shop, folder: base64.b64encode(base64.b64decode(good) * 2).decode(),
    "a line's end in it": lambda good, shop, folder: good[:76] + "\n" + good[76:],
    "empty": lambda good, shop, folder: "",
    "one bit": lambda good, shop, folder: good[:100] + ("A" if good[100] != "A" else "B") + good[101:],
    "not below the modulus": lambda good, shop, folder: base64.b64encode(b"\xff" * 512).decode(),
    "zeros": lambda good, shop, folder: base64.b64encode(bytes(512)).decode(),
    "other padding": lambda good, shop, folder: by_openssl(shop, compact(order_body()), folder, "-pkeyopt",
                                                           "rsa_padding_mode:oaep"),
    "no JSON inside": lambda good, shop, folder: by_openssl(shop, "hello", folder),
    "no object inside": lambda good, shop, folder: by_openssl(shop, "[1]", folder),
    "of another account": lambda good, shop, folder: by_openssl(shop.httpd.shop(), compact(order_body()), folder),
    "of the other mode": lambda good, shop, folder: by_openssl(shop, compact(order_body()), folder, mode="live"),
}


@pytest.mark.parametrize("path", [ORDER, LINK])
def test_refused_in_one_way(shop, encrypt, bodies, tmp_path, path):
    """Every kind gets the same bytes, except for the request's id."""
    good = encrypt["openssl"](compact(bodies[path]))
    said = {}
    for name, spoil in REFUSED.items():
        answer = shop.call("POST", path, {"data": spoil(good, shop, tmp_path)})
        assert answer.status == 400, name
        said[name] = re.sub(rb'"requestId":"[^"]*"', b"", answer.body)
    assert len(set(said.values())) == 1, said
    assert b'"/data"' in said["one bit"] and b'"responseCode":"T1"' in said["one bit"]
    assert shop.call("POST", path, {"data": good}).status == 200


def test_account_without_a_key(httpd):
    """Nothing can have been encrypted for it: the answer is that of any other, and the log says what makes a key."""
    shop = httpd.shop()
    said = re.compile(r"PAY00502: an encrypted order of account \d+ in test mode was refused: the account has no encryption key yet; "
                      "paymentsctl encryption-key show creates it")
    told = len(said.findall(shop.httpd.log_text()))
    answer = shop.call("POST", ORDER, {"data": "AAAA"})
    assert (answer.status, [one["field"] for one in answer.json["data"]["errors"]]) == (400, ["/data"])
    assert len(said.findall(shop.httpd.log_text())) == told + 1


@pytest.mark.parametrize("path", [ORDER, LINK])
def test_data_beside_others_is_not_looked_at(shop, bodies, path):
    assert shop.call("POST", path, {**bodies[path], "data": "x"}).status == 200


@pytest.mark.parametrize("data", [5, None, True, {}, ["x"]])
def test_data_that_is_no_string_is_no_encrypted_body(shop, data):
    answer = shop.call("POST", ORDER, {"data": data})
    assert (answer.status, [one["field"] for one in answer.json["data"]["errors"]]) == (400, ["/customer", "/order"])
