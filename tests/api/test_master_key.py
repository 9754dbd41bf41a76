# SPDX-License-Identifier: Apache-2.0
"""The master key and secrets under it: created once, read as root, never shown; faults never stop the server."""

import os
import pwd
import re
import struct

import pytest

from raw_lmdb import Raw
from receiver import INSECURE, Receiver

TEST = ("--mode", "test")
HEX = re.compile(r"[0-9a-f]{64}\n")
OTHER = "00112233445566778899aabbccddeeff" * 2 + "\n"
MADE = "PAY00351: "
WAITS = "PAY00261"  # said when the outbox comes to a webhook whose secret does not open
RELAY = "PaymentsMailRelay smtp://127.0.0.1:9 @LOGIN@\nPaymentsMailFrom shop@shop.example\n"
USER, PASSWORD = "shop@shop.example", "correct horse: battery\u00fc"


def write_private(path, text, mode=0o600):
    path.write_text(text)
    path.chmod(mode)
    return path


def row(httpd, table, key):
    """The bytes of a row as they are stored."""
    raw = Raw(httpd.store)
    raw.begin()
    try:
        return raw.get(table, key)
    finally:
        raw.commit()
        raw.close()


def delivery(httpd):
    return row(httpd, "meta", b"delivery")


def complaints(httpd, words):
    return [line for line in httpd.log_text().splitlines() if words in line and ":error]" in line]


@pytest.fixture
def key_of():
    return lambda httpd: httpd.root / "store.key"


# --- where it is ---

def test_made_once(server, key_of):
    """Beside the store, for its owner alone; the log says where, and repeats nothing of it; a reload leaves it."""
    httpd = server(mpm="event")
    key = key_of(httpd)
    text = key.read_text()
    assert HEX.fullmatch(text)
    assert key.stat().st_mode & 0o7777 == 0o600
    assert key.stat().st_uid == os.geteuid()
    [line] = [line for line in httpd.log_text().splitlines() if MADE in line]
    assert ":notice]" in line and str(key) in line and "No backup" in line and "PaymentsMasterKey file:/" in line
    httpd.graceful()
    httpd.stop()
    httpd.start()
    assert key.read_text() == text
    assert httpd.log_text().count(MADE) == 1
    assert text.strip() not in httpd.log_text()
    assert sorted(path.name for path in httpd.root.glob("store.key*")) == ["store.key"]


def test_elsewhere(server, key_of):
    """Where the directive says, in the main server for all hosts; a host's own comes before it."""
    httpd = server(mpm="event", start=False)
    (httpd.root / "keys").mkdir()
    inherited, own = httpd.root / "keys/one.key", httpd.root / "keys/two.key"
    httpd.extra = f"PaymentsMasterKey file:{inherited}\n"
    httpd.start()
    assert HEX.fullmatch(inherited.read_text())
    httpd.stop()
    httpd.host_extra = f"PaymentsMasterKey file:{own}\n"
    httpd.start()
    assert HEX.fullmatch(own.read_text())
    assert inherited.read_text() != own.read_text()
    assert not key_of(httpd).exists()


def test_moved(server, key_of):
    """As in docs/operations.md: secrets stored before open after the move."""
    httpd = server(mpm="event")
    shop = httpd.shop()
    secret = shop.webhook("https://shop.example/hook")
    (httpd.root / "keys").mkdir(mode=0o700)
    moved = httpd.root / "keys/master.key"
    key_of(httpd).rename(moved)
    httpd.extra = f"PaymentsMasterKey file:{moved}\n"
    httpd.write_config()
    httpd.graceful()
    assert not key_of(httpd).exists()
    assert httpd.ctl("webhook", "secret", "show", shop.name, *TEST, "--master-key", str(moved)).stdout.strip() == secret


def test_each_store_has_its_own(server, key_of):
    httpd = server(mpm="event", start=False)
    other = httpd.root / "other"
    httpd.extra = (f"<VirtualHost 127.0.0.1:@PORT@>\nServerName other.example\nPaymentsEngine On\n"
                   f"PaymentsStore lmdb:{other}\n</VirtualHost>\n")
    httpd.start()
    assert key_of(httpd).read_text() != (httpd.root / "other.key").read_text()


def test_children_inherit_it(server, key_of):
    """A webhook is signed by a child, also when the file is out of reach by then."""
    httpd = server(mpm="event", extra=INSECURE)
    shop = httpd.shop()
    with Receiver() as receiver:
        secret = shop.webhook(receiver.url())
        key_of(httpd).unlink()
        shop.charge()
        [one] = receiver.wait(1)
        one.check(secret)
        assert not key_of(httpd).exists()


# --- files that are refused ---

def state(path):
    info = os.lstat(path)
    return info.st_ino, info.st_mode, info.st_uid, info.st_size, info.st_mtime_ns


def wide(key):
    write_private(key, OTHER, 0o640)


def linked(key):
    write_private(key.with_suffix(".target"), OTHER)
    key.symlink_to(key.with_suffix(".target"))


def strange(key):
    write_private(key, OTHER)
    os.chown(key, pwd.getpwnam("nobody").pw_uid, -1)


REFUSED = [
    pytest.param(wide, "is open to others (mode 0640)", id="readable by the group"),
    pytest.param(linked, "is a symbolic link", id="a symbolic link"),
    pytest.param(strange, "belongs to user", id="of another user", marks=pytest.mark.root),
    pytest.param(lambda key: write_private(key, ""), "is empty", id="empty"),
    pytest.param(lambda key: write_private(key, "hunter2\n"), "want 64 hex digits in line 1", id="no key"),
    pytest.param(lambda key: write_private(key, OTHER * 5), "want at most 4 lines", id="five keys"),
    pytest.param(lambda key: write_private(key, "a" * 5000), "is longer than 1023 bytes", id="long"),
    pytest.param(lambda key: key.mkdir(), "is not a regular file", id="a directory"),
    pytest.param(os.mkfifo, "is not a regular file", id="a pipe"),
]


@pytest.mark.parametrize("spoil, words", REFUSED)
def test_refused(server, key_of, spoil, words):
    """The server starts, charges continue, the log says what to do; the file stays unchanged and is not shown."""
    httpd = server(mpm="event", start=False)
    key = key_of(httpd)
    spoil(key)
    before = state(key)
    httpd.expect_log("PAY00350")
    httpd.start()
    [line] = complaints(httpd, "PAY00350")
    assert words in line and str(key) in line and "hunter2" not in line and OTHER.strip() not in line, line
    assert state(key) == before
    assert httpd.shop().charge().status == 200


def test_no_directory(server):
    """A key that cannot be created is reported, and created at a reload once possible."""
    httpd = server(mpm="event", start=False)
    folder = httpd.root / "keys"
    httpd.extra = f"PaymentsMasterKey file:{folder}/master.key\n"
    httpd.expect_log("PAY00350.*its directory cannot be opened")
    httpd.start()
    assert httpd.shop().charge().status == 200
    folder.mkdir()
    httpd.graceful()
    assert len(complaints(httpd, "PAY00350")) == 1
    assert HEX.fullmatch((folder / "master.key").read_text())


def test_directory_of_others(server):
    """Who may rename what is there could put a key of his own in its place."""
    httpd = server(mpm="event", start=False)
    folder = httpd.root / "keys"
    folder.mkdir()
    folder.chmod(0o777)
    httpd.extra = f"PaymentsMasterKey file:{folder}/master.key\n"
    httpd.expect_log("PAY00350.*others may write to its directory")
    httpd.start()
    assert complaints(httpd, "PAY00350")
    assert list(folder.iterdir()) == []


# --- secrets under another key ---

def test_another_key(server, key_of):
    """The log says which file lacks the key, for each start; with the file back all is well."""
    httpd = server(mpm="event")
    one, two = httpd.shop(), httpd.shop()
    one.webhook("https://shop.example/hook")
    secret = two.webhook("https://shop.example/hook")
    two.webhook("https://shop.example/hook", mode="live")
    key, text = key_of(httpd), key_of(httpd).read_text()
    write_private(key, OTHER)
    httpd.expect_log(f"PAY00353|{WAITS}")
    httpd.graceful()
    [line] = complaints(httpd, "PAY00353")
    assert str(key) in line and "3 webhook secrets are sealed" in line, line
    assert httpd.shop().charge().status == 200
    write_private(key, text)
    httpd.graceful()
    assert len(complaints(httpd, "PAY00353")) == 1
    assert two.webhook_secret() == secret


def test_lost(server, key_of):
    """As docs/operations.md says: a new key is made, new secrets are set, and the complaint is gone."""
    httpd = server(mpm="event")
    shop = httpd.shop()
    shop.webhook("https://shop.example/hook")
    key_of(httpd).unlink()
    httpd.expect_log(f"PAY00353|{WAITS}")
    httpd.graceful()
    [line] = complaints(httpd, "PAY00353")
    assert "1 webhook secret is sealed" in line, line
    assert httpd.log_text().count(MADE) == 2
    httpd.ctl("webhook", "secret", "rotate", shop.name, *TEST, "--overlap", "0")
    assert shop.webhook_secret().startswith("whsec_")
    httpd.graceful()
    assert len(complaints(httpd, "PAY00353")) == 1


def test_rotated(server, key_of):
    """After a rotation and a reload the server opens what is stored, and only the new key is left."""
    httpd = server(mpm="event")
    shop = httpd.shop()
    secret = shop.webhook("https://shop.example/hook")
    before = key_of(httpd).read_text()
    httpd.expect_log(WAITS)
    httpd.ctl("store", "rotate-master-key")
    assert HEX.fullmatch(key_of(httpd).read_text()) and key_of(httpd).read_text() != before
    httpd.graceful()
    assert shop.webhook_secret() == secret
    assert not complaints(httpd, "PAY00353")


def test_swapped_secrets(server):
    """A secret stored for one mode does not open for the other."""
    httpd = server(mpm="event")
    shop = httpd.shop()
    shop.webhook("https://shop.example/hook")
    shop.webhook("https://shop.example/hook", mode="live")
    test, live = (struct.pack(">IBB", 1, mode, 1) for mode in (0, 1))
    sealed = re.compile(rb"v1:[0-9a-f]{8}:[A-Za-z0-9+/]+=*")
    raw = Raw(httpd.store)
    raw.begin()
    was = raw.get("endpoint", test)
    now, count = sealed.subn(sealed.search(raw.get("endpoint", live)).group(), was)
    assert count == 1 and now != was and len(now) == len(was)
    raw.put("endpoint", test, now)
    raw.commit()
    raw.close()
    httpd.expect_log(f"PAY00354|{WAITS}")
    httpd.graceful()
    [line] = complaints(httpd, "PAY00354")
    assert "1 webhook secret is damaged" in line, line
    assert not complaints(httpd, "PAY00353")


# --- the mail relay's login ---

def relay(server, text=f"{USER}\n{PASSWORD}\n", mode=0o600, **kwargs):
    """A server, not yet started, with a login file of this text (None: there is none), and the file."""
    httpd = server(mpm="event", start=False, **kwargs)
    login = httpd.root / "mail.login"
    if text is not None:
        write_private(login, text, mode)
    httpd.extra = RELAY.replace("@LOGIN@", str(login))
    return httpd, login


def test_login_is_stored_sealed(server):
    """Not written again by a start that finds it unchanged; written when it, or the key, is another."""
    httpd, login = relay(server)
    httpd.start()
    first = delivery(httpd)
    assert b"smtp://127.0.0.1:9" in first and b"v1:" in first
    httpd.graceful()
    assert delivery(httpd) == first
    write_private(login, f"{USER}\n{PASSWORD}")  # its last line need not end
    httpd.graceful()
    assert delivery(httpd) == first
    write_private(login, f"{USER}\nanother\n")
    httpd.graceful()
    second = delivery(httpd)
    assert second != first
    httpd.ctl("store", "rotate-master-key")  # fails when the stored login does not open
    third = delivery(httpd)
    assert third != second
    httpd.graceful()
    assert delivery(httpd) == third
    httpd.stop()
    for path in [*httpd.store.iterdir(), httpd.error_log]:
        data = path.read_bytes()
        assert PASSWORD.encode() not in data and b"another" not in data, path


@pytest.mark.parametrize("text, mode, words", [
    pytest.param(None, 0o600, "cannot be opened", id="missing"),
    pytest.param(f"{USER}\n{PASSWORD}\n", 0o640, "is open to others", id="readable by the group"),
    pytest.param("", 0o600, "want two lines", id="empty"),
    pytest.param(f"{USER}\n", 0o600, "want two lines", id="one line"),
    pytest.param(f"{USER}:{PASSWORD}\n", 0o600, "want two lines", id="one line with a colon"),
    pytest.param(f"\n{PASSWORD}\n", 0o600, "want two lines", id="no user"),
    pytest.param(f"{USER}\n\n", 0o600, "want two lines", id="no password"),
    pytest.param(f"{USER}\n{PASSWORD}\n\n", 0o600, "want two lines", id="three lines"),
    pytest.param(f"{USER}\r\n{PASSWORD}\r\n", 0o600, "want two lines", id="carriage returns"),
    pytest.param("u" * 256 + "\npw\n", 0o600, "want two lines", id="a user too long"),
    pytest.param("u\n" + "p" * 256 + "\n", 0o600, "want two lines", id="a password too long"),
    pytest.param("u\n" + "p" * 600, 0o600, "is longer than 512 bytes", id="a file too long"),
])
def test_login_refused(server, text, mode, words):
    """E-mails wait: the store has no relay; everything else about deliveries is there."""
    httpd, login = relay(server, text, mode)
    httpd.extra += "PaymentsWebhookAllow 10.1.2.3\n"
    httpd.expect_log("PAY00355")
    httpd.start()
    [line] = complaints(httpd, "PAY00355")
    assert words in line and str(login) in line and PASSWORD not in line, line
    assert b"smtp:" not in delivery(httpd) and b"10.1.2.3" in delivery(httpd)
    write_private(login, f"{USER}\n{PASSWORD}")
    httpd.graceful()
    assert b"smtp:" in delivery(httpd) and b"v1:" in delivery(httpd)


def test_longest_login(server):
    httpd, _ = relay(server, "u" * 255 + "\n" + "p" * 255 + "\n")
    httpd.start()
    assert b"smtp:" in delivery(httpd)


def test_login_without_key(server, key_of):
    httpd, _ = relay(server)
    write_private(key_of(httpd), "")
    httpd.expect_log("PAY00350|PAY00355")
    httpd.start()
    assert len(complaints(httpd, "there is no master key to seal its login under")) == 1
    assert b"smtp:" not in delivery(httpd)


# --- how to deliver ---

def test_directives_reach_the_store(server):
    """At a start, and at a reload that changes them; taken away they are gone. Templates are looked at by then."""
    httpd = server(mpm="event", start=False,
                   extra="PaymentsWebhookInsecure On\nPaymentsWebhookAllow 10.1.2.3 fd00::/8\n"
                         "PaymentsWebhookAllow 192.0.2.1\nPaymentsTrustedCA /etc/ca.pem\n"
                         "PaymentsMailRelay smtps://Mail.example\nPaymentsMailFrom Shop@Shop.EXAMPLE\n"
                         "PaymentsMailTemplates /nowhere/templates\n")
    httpd.expect_log("PAY00357")
    httpd.start()
    [line] = complaints(httpd, "PAY00357")
    assert "/nowhere/templates" in line, line
    stored = delivery(httpd)
    for text in (b"10.1.2.3 fd00::/8 192.0.2.1", b"/etc/ca.pem", b"smtps://mail.example:465", b"shop@shop.example",
                 b"/nowhere/templates"):
        assert text in stored, stored
    httpd.extra = ""
    httpd.write_config()
    httpd.graceful()
    assert delivery(httpd) != stored
    assert b"/nowhere" not in delivery(httpd) and b"/etc" not in delivery(httpd) and b"10.1.2.3" not in delivery(httpd)
