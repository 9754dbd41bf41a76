# SPDX-License-Identifier: Apache-2.0
"""paymentsctl encryption-key: the pair that orders are encrypted with, as clients are given it."""

import base64
import os
import re
import shutil
import subprocess

import pytest

from ctl_program import TEST_MODE, TIME, Ctl
from harness import PAYMENTSCTL, pairs_preload

LIVE_MODE = ("--mode", "live")
SHOW = ("encryption-key", "show", "shop")
RENEW = ("encryption-key", "renew", "shop")
XML = re.compile(r"4096!<RSAKeyValue><Modulus>([A-Za-z0-9+/=]{684})</Modulus><Exponent>AQAB</Exponent></RSAKeyValue>\n")
PEM = re.compile(r"-----BEGIN PUBLIC KEY-----\n([A-Za-z0-9+/=]+\n)+-----END PUBLIC KEY-----\n")


@pytest.fixture(scope="module")
def pairs(tmp_path_factory):
    """A store in which the shop has a pair of each mode, each seconds of work: to be copied."""
    one = Ctl(tmp_path_factory.mktemp("pairs") / "store", quick_pairs=False)
    one.ok("account", "create", "shop")
    for mode in (TEST_MODE, LIVE_MODE):
        one.ok(*SHOW, *mode)
    return one.store


@pytest.fixture
def keyed(pairs, tmp_path):
    shutil.copytree(pairs, tmp_path / "store")
    shutil.copy(pairs.with_suffix(".key"), tmp_path)
    return Ctl(tmp_path / "store")


def openssl(*args, stdin):
    done = subprocess.run(["openssl", *args], input=stdin, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def modulus(pem):
    told = openssl("rsa", "-pubin", "-noout", "-modulus", stdin=pem.encode())
    return bytes.fromhex(told.decode().strip().removeprefix("Modulus="))


def test_show(ctl):
    """Created at the first call, which reports the master key; the same from then on, one for each mode."""
    ctl.quick_pairs = False
    first = ctl.run(*SHOW, *TEST_MODE)
    assert first.returncode == 0 and PEM.fullmatch(first.stdout), first
    assert str(ctl.store.with_suffix(".key")) in first.stderr
    again = ctl.run(*SHOW, *TEST_MODE)
    assert (again.stdout, again.stderr) == (first.stdout, "")
    live = ctl.ok(*SHOW, *LIVE_MODE)
    assert PEM.fullmatch(live) and live != first.stdout
    text = openssl("pkey", "-pubin", "-noout", "-text", stdin=first.stdout.encode()).decode()
    assert "(4096 bit)" in text and "65537 (0x10001)" in text
    assert ctl.run("store", "check").returncode == 0


def test_forms(keyed):
    """The XML form is the PEM's modulus; its base64 is what clients paste; JSON has all."""
    pem = keyed.ok(*SHOW, *TEST_MODE)
    xml = keyed.ok(*SHOW, *TEST_MODE, "--xml")
    encoded = keyed.ok(*SHOW, *TEST_MODE, "--xml", "--base64")
    assert base64.b64decode(XML.fullmatch(xml)[1], validate=True) == modulus(pem)
    assert encoded.count("\n") == 1
    assert base64.b64decode(encoded.strip(), validate=True).decode() == xml.strip()
    told = keyed.json(*SHOW, *TEST_MODE)
    assert TIME.fullmatch(told.pop("createdAt"))
    assert told == {"account": "shop", "mode": "test", "publicKey": pem, "xml": xml.strip(),
                    "xmlBase64": encoded.strip()}
    assert keyed.json(*SHOW, *LIVE_MODE)["mode"] == "live"


def test_clients_take_it(keyed, tmp_path):
    """openssl's command line and node:crypto encrypt with the PEM, and node with what clients paste."""
    pem = tmp_path / "public.pem"
    pem.write_text(keyed.ok(*SHOW, *TEST_MODE))
    order = b'{"order":{"amount":10}}'
    made = openssl("pkeyutl", "-encrypt", "-pubin", "-inkey", pem, "-pkeyopt", "rsa_padding_mode:pkcs1", stdin=order)
    assert len(made) == 512
    script = """
        const crypto = require("crypto"), fs = require("fs");
        const [pem, pasted] = process.argv.slice(1);
        const xml = Buffer.from(pasted, "base64").toString("utf8").split("!")[1];
        const part = (name) => Buffer.from(xml.match(new RegExp(`<${name}>([^<]+)</${name}>`))[1], "base64");
        const jwk = {kty: "RSA", n: part("Modulus").toString("base64url"), e: part("Exponent").toString("base64url")};
        const keys = [crypto.createPublicKey(fs.readFileSync(pem)), crypto.createPublicKey({key: jwk, format: "jwk"})];
        const der = keys.map((key) => key.export({type: "spki", format: "der"}).toString("hex"));
        const block = crypto.publicEncrypt({key: keys[0], padding: crypto.constants.RSA_PKCS1_PADDING}, Buffer.from("{}"));
        console.log(der[0] === der[1], block.length);
    """
    pasted = keyed.ok(*SHOW, *TEST_MODE, "--xml", "--base64").strip()
    said = subprocess.run(["node", "-e", script, pem, pasted], capture_output=True, text=True, check=False)
    assert said.stdout == "true 512\n", said


def test_private_half_stays(keyed):
    """Neither printed nor in the store's files as it is."""
    said = "".join(keyed.ok(*SHOW, *TEST_MODE, *form) for form in ((), ("--xml",), ("--json",)))
    said += keyed.ok(*RENEW, *TEST_MODE, "--json")
    assert "PRIVATE" not in said and "v1:" not in said
    stored = (keyed.store / "data.mdb").read_bytes()
    assert b"BEGIN PUBLIC KEY" in stored and b"PRIVATE" not in stored


def test_renew(keyed):
    first, live = keyed.ok(*SHOW, *TEST_MODE), keyed.ok(*SHOW, *LIVE_MODE)
    second = keyed.ok(*RENEW, *TEST_MODE)
    assert PEM.fullmatch(second) and second != first
    assert keyed.ok(*SHOW, *TEST_MODE) == second
    assert keyed.ok(*SHOW, *LIVE_MODE) == live
    keyed.ok("account", "create", "other")
    assert PEM.fullmatch(keyed.ok("encryption-key", "renew", "other", *TEST_MODE)), "the first one"


@pytest.mark.parametrize("code, args, words", [
    pytest.param(2, [*SHOW], "--mode", id="no mode"),
    pytest.param(6, [*SHOW, "--mode", "prod"], "test", id="no such mode"),
    pytest.param(2, [*SHOW, *TEST_MODE, "--base64"], "--xml", id="base64 of the PEM"),
    pytest.param(3, ["encryption-key", "show", "nobody", *TEST_MODE], "nobody", id="no such account"),
    pytest.param(3, ["encryption-key", "renew", "nobody", *TEST_MODE], "nobody", id="no such account to renew"),
])
def test_refused(ctl, code, args, words):
    assert words in ctl.refused(code, *args)
    assert not ctl.store.with_suffix(".key").exists(), "nothing was made"


def test_first_ones_at_once(ctl):
    line = [PAYMENTSCTL, "-s", f"lmdb:{ctl.store}", *SHOW, *TEST_MODE]
    env = {**os.environ, "LD_PRELOAD": pairs_preload(PAYMENTSCTL)}
    running = [subprocess.Popen(line, stdout=subprocess.PIPE, text=True, env=env) for _ in range(3)]
    said = [one.communicate(timeout=120)[0] for one in running]
    assert [one.returncode for one in running] == [0] * 3
    assert len(set(said)) == 1 and PEM.fullmatch(said[0])


def test_without_the_master_key(keyed, tmp_path):
    """To show one takes none; to make another does, and no second master key is made beside the lost one."""
    shown = keyed.ok(*SHOW, *TEST_MODE)
    keyed.store.with_suffix(".key").rename(tmp_path / "away.key")
    assert keyed.ok(*SHOW, *TEST_MODE) == shown
    keyed.ok("account", "create", "other")
    for command in ([*RENEW, *TEST_MODE], ["encryption-key", "show", "other", *LIVE_MODE],
                    ["webhook", "set", "shop", "https://shop.example/", *TEST_MODE]):
        assert "--master-key" in keyed.refused(1, *command)
    assert not keyed.store.with_suffix(".key").exists()
    assert keyed.ok(*RENEW, *TEST_MODE, "--master-key", tmp_path / "away.key") != shown


def test_rotate_master_key(keyed, tmp_path):
    """Private halves move to the new key; the old one opens them no more, so that a second change proves the first."""
    keyed.ok("account", "create", "other")
    keys = [("shop", TEST_MODE), ("shop", LIVE_MODE), ("other", TEST_MODE)]
    shown = [keyed.ok("encryption-key", "show", name, *mode) for name, mode in keys]
    old = tmp_path / "old.key"
    shutil.copy(keyed.store.with_suffix(".key"), old)
    assert keyed.ok("store", "rotate-master-key") == "3 sealed anew\n"
    assert keyed.store.with_suffix(".key").read_text() != old.read_text()
    assert "the encryption key of account" in keyed.refused(7, "store", "rotate-master-key", "--master-key", old)
    keyed.ok("webhook", "set", "shop", "https://shop.example/", *TEST_MODE)
    assert keyed.json("store", "rotate-master-key")["resealed"] == 4
    assert [keyed.ok("encryption-key", "show", name, *mode) for name, mode in keys] == shown
    assert keyed.run("store", "check").returncode == 0


def test_server_says_what_it_does_not_open(server):
    """With another master key the start says how many, and what to do."""
    httpd = server(mpm="event", start=False)
    httpd.start()
    shop = httpd.shop()
    httpd.ctl("encryption-key", "show", shop.name, *TEST_MODE)
    httpd.graceful()
    assert "PAY00505" not in httpd.log_text()
    httpd.stop()
    (httpd.root / "store.key").unlink()
    httpd.start()
    [line] = [line for line in httpd.log_text().splitlines() if "PAY00505: " in line]
    assert "does not open 1 of the encryption keys" in line and "encryption-key renew" in line
    httpd.expect_log("PAY00505")
