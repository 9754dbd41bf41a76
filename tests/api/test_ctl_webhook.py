# SPDX-License-Identifier: Apache-2.0
"""paymentsctl: webhooks, their secrets, and the master key that these are sealed under."""

import fcntl
import os
import pathlib
import re
import secrets
import shutil
import stat
import subprocess
import tempfile
import time

import pytest

from ctl_program import NOBODY, TEST_MODE, TIME, Ctl
from harness import PAYMENTSCTL, wait_for
from receiver import instant

URL = "https://shop.example/hooks?token=hidden"
LIVE_MODE = ("--mode", "live")
SECRET = re.compile(r"whsec_[A-Za-z0-9+/]{43}=")
HEX = re.compile(r"([0-9a-f]{64}\n)+")
MEMBERS = ["account", "mode", "url", "enabled", "secret", "oldSecretUntil", "failing", "failures", "failingSince",
           "dueAt", "answeredAt", "status", "error", "createdAt", "updatedAt"]


@pytest.fixture
def ctl(tmp_path):
    """A store with the account `shop`."""
    one = Ctl(tmp_path / "store")
    one.ok("account", "create", "shop")
    return one


@pytest.fixture
def key(ctl):
    """Where its master key lies."""
    return ctl.store.with_suffix(".key")


@pytest.fixture
def hooked(ctl):
    """The same with a webhook."""
    ctl.ok("webhook", "set", "shop", URL, *TEST_MODE)
    return ctl


def secret_of(ctl, account="shop", mode=TEST_MODE, more=()):
    return ctl.ok("webhook", "secret", "show", account, *mode, *more).removesuffix("\n")


def write_private(path, text):
    path.write_text(text)
    path.chmod(0o600)


def fresh_line():
    return secrets.token_hex(32) + "\n"


# --- set and show ---

def test_set_and_show(ctl, key):
    """The first one makes secret and master key and says so; later ones keep them."""
    done = ctl.run("webhook", "set", "shop", URL, *TEST_MODE)
    assert done.returncode == 0 and str(key) in done.stderr and done.stderr.count("\n") == 1
    assert HEX.fullmatch(key.read_text()) and stat.S_IMODE(key.stat().st_mode) == 0o600
    shown = ctl.json("webhook", "show", "shop", *TEST_MODE)
    assert list(shown) == MEMBERS
    assert (shown["account"], shown["mode"], shown["url"], shown["enabled"]) == ("shop", "test", URL, True)
    assert (shown["failing"], shown["failures"], shown["status"], shown["error"]) == (False, 0, 0, "")
    assert shown["oldSecretUntil"] is shown["answeredAt"] is shown["failingSince"] is None
    assert TIME.fullmatch(shown["createdAt"])
    secret = secret_of(ctl)
    assert SECRET.fullmatch(secret) and shown["secret"] == secret
    text = key.read_text()
    done = ctl.run("webhook", "set", "shop", "http://OTHER.example:8080/", *TEST_MODE)
    assert (done.returncode, done.stderr) == (0, "")
    assert re.search(r"^URL +http://other.example:8080/$", done.stdout, re.M)
    assert secret_of(ctl) == secret and key.read_text() == text
    assert ctl.json("webhook", "set", "shop", URL, *LIVE_MODE)["url"] == URL
    assert secret_of(ctl, mode=LIVE_MODE) != secret and key.read_text() == text
    assert ctl.json("webhook", "show", "shop", *TEST_MODE)["url"] == "http://other.example:8080/"
    assert ctl.run("store", "check").returncode == 0


def test_switched_off_and_on(hooked):
    secret = secret_of(hooked)
    off = hooked.json("webhook", "set", "shop", "off", *TEST_MODE)
    assert (off["enabled"], off["url"], off["secret"]) == (False, URL, secret)
    assert re.search(r"^switched +off$", hooked.ok("webhook", "show", "shop", *TEST_MODE), re.M)
    assert "switched off" in hooked.refused(3, "webhook", "test", "shop", *TEST_MODE)
    on = hooked.json("webhook", "set", "shop", URL, *TEST_MODE)
    assert (on["enabled"], on["url"], on["secret"]) == (True, URL, secret)


def test_secret_is_printed_on_purpose_only(ctl):
    said = ctl.run("webhook", "set", "shop", URL, *TEST_MODE)
    secret = secret_of(ctl)
    for text in (said.stdout + said.stderr, ctl.ok("webhook", "show", "shop", *TEST_MODE),
                 (ctl.store / "data.mdb").read_bytes().decode("latin-1")):
        assert secret.removeprefix("whsec_") not in text and "whsec_" not in text


@pytest.mark.parametrize("code, url", [
    pytest.param(6, "", id="nothing"),
    pytest.param(6, "Off", id="no word"),
    pytest.param(6, "shop.example/hook", id="no scheme"),
    pytest.param(6, "ftp://shop.example/", id="another scheme"),
    pytest.param(6, "https://user:hidden@shop.example/", id="with a login"),
    pytest.param(6, "https:///hook", id="no host"),
    pytest.param(5, "https://shop.example/" + "a" * 980, id="one byte too long"),
])
def test_wrong_url(ctl, key, code, url):
    said = ctl.refused(code, "webhook", "set", "shop", url, *TEST_MODE)
    assert "hidden" not in said and "URL" in said
    ctl.refused(3, "webhook", "show", "shop", *TEST_MODE)
    assert not key.exists()


def test_longest_url(ctl):
    url = "https://shop.example/" + "a" * 979
    assert ctl.json("webhook", "set", "shop", url, *TEST_MODE)["url"] == url


@pytest.mark.parametrize("args", [
    ["show"], ["test"], ["secret", "show"], ["secret", "rotate"], ["set", "off"],
], ids=" ".join)
def test_no_webhook(ctl, key, args):
    words = ["secret", args[1]] if args[0] == "secret" else args[:1]
    more = args[1:] if args[0] == "set" else []
    assert "webhook set" in ctl.refused(3, "webhook", *words, "shop", *more, *TEST_MODE)
    assert "account list" in ctl.refused(3, "webhook", *words, "none", *more, *TEST_MODE)
    assert not key.exists()


# --- a new secret ---

@pytest.mark.parametrize("overlap, seconds", [
    ((), 86400), (("--overlap", "90s"), 90), (("--overlap", "366d"), 366 * 86400), (("--overlap", "0"), 0),
    (("--overlap", "0h"), 0)], ids=str)
def test_rotate(hooked, overlap, seconds):
    first = secret_of(hooked)
    began = time.time()
    second = hooked.ok("webhook", "secret", "rotate", "shop", *TEST_MODE, *overlap).removesuffix("\n")
    assert SECRET.fullmatch(second) and second != first
    told = hooked.json("webhook", "secret", "show", "shop", *TEST_MODE)
    assert list(told) == ["secret", "oldSecret", "oldSecretUntil"] and told["secret"] == second
    shown = hooked.json("webhook", "show", "shop", *TEST_MODE)
    assert (shown["secret"], shown["oldSecretUntil"]) == (second, told["oldSecretUntil"])
    if seconds:
        assert told["oldSecret"] == first
        assert -0.01 <= instant(told["oldSecretUntil"]) - began - seconds < 60
    else:
        assert told["oldSecret"] is told["oldSecretUntil"] is None
    third = hooked.json("webhook", "secret", "rotate", "shop", *TEST_MODE)
    assert third["oldSecret"] == second != third["secret"], "the last but one does not sign any more"


@pytest.mark.parametrize("overlap", ["367d", "1", "-1s", "", "soon"])
def test_rotate_with_a_wrong_overlap(hooked, overlap):
    secret = secret_of(hooked)
    assert "--overlap" in hooked.refused(6, "webhook", "secret", "rotate", "shop", *TEST_MODE, "--overlap", overlap)
    assert secret_of(hooked) == secret


# --- the master key ---

def test_master_key_elsewhere(ctl, key, tmp_path):
    """Commands find it by --master-key; without it nothing is sealed under a second one."""
    elsewhere = tmp_path / "elsewhere.key"
    there = ("--master-key", elsewhere)
    assert str(elsewhere) in ctl.run("webhook", "set", "shop", URL, *TEST_MODE, *there).stderr
    secret = secret_of(ctl, more=there)
    assert ctl.json("webhook", "show", "shop", *TEST_MODE, *there)["secret"] == secret
    assert ctl.json("webhook", "show", "shop", *TEST_MODE)["secret"] is None
    for verb in ("show", "rotate"):
        assert str(key) in ctl.refused(1, "webhook", "secret", verb, "shop", *TEST_MODE)
    assert "--master-key" in ctl.refused(1, "webhook", "set", "shop", URL, *LIVE_MODE)
    ctl.refused(3, "webhook", "show", "shop", *LIVE_MODE)
    ctl.ok("webhook", "set", "shop", "https://shop.example/other", *TEST_MODE)
    assert str(key) in ctl.refused(1, "store", "rotate-master-key")
    assert not key.exists() and secret_of(ctl, more=there) == secret


@pytest.mark.parametrize("fault, code", [
    pytest.param(lambda path: path.chmod(0o644), 1, id="others may read it"),
    pytest.param(lambda path: write_private(path, "cheese\n"), 7, id="no key"),
    pytest.param(lambda path: write_private(path, ""), 7, id="empty"),
    pytest.param(lambda path: write_private(path, "".join(fresh_line() for _ in range(5))), 7, id="a line too many"),
    pytest.param(lambda path: write_private(path, fresh_line()), 7, id="another key"),
    pytest.param(lambda path: (path.unlink(), path.mkdir()), 1, id="a directory"),
    pytest.param(lambda path: (path.rename(f"{path}.real"), path.symlink_to(f"{path}.real")), 1, id="a symbolic link"),
    pytest.param(pathlib.Path.unlink, 1, id="not there"),
])
def test_master_key_at_fault(hooked, key, fault, code):
    """What needs no secret works, and nothing is changed by what does."""
    fault(key)
    for args in (["secret", "show"], ["secret", "rotate"]):
        said = hooked.refused(code, "webhook", *args, "shop", *TEST_MODE)
        assert str(key) in said
    hooked.refused(code, "store", "rotate-master-key")
    shown = hooked.json("webhook", "show", "shop", *TEST_MODE)
    assert (shown["url"], shown["secret"], shown["oldSecretUntil"]) == (URL, None, None)
    assert hooked.json("webhook", "set", "shop", "off", *TEST_MODE)["enabled"] is False


def test_a_secret_that_does_not_open_is_replaced(hooked, key):
    write_private(key, fresh_line())
    hooked.refused(7, "webhook", "secret", "rotate", "shop", *TEST_MODE)
    secret = hooked.ok("webhook", "secret", "rotate", "shop", *TEST_MODE, "--overlap", "0").strip()
    assert secret_of(hooked) == secret


def test_first_ones_at_once(ctl, key):
    """However many make the master key at once, there is one, and every secret opens."""
    names = [f"shop-{number}" for number in range(8)]
    for name in names:
        ctl.ok("account", "create", name)
    line = [PAYMENTSCTL, "-s", f"lmdb:{ctl.store}", "webhook", "set"]
    running = [subprocess.Popen([*line, name, URL, *TEST_MODE], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                text=True) for name in names]
    said = [one.communicate(timeout=60) for one in running]
    assert [one.returncode for one in running] == [0] * 8, said
    assert sum(str(key) in one[1] for one in said) == 1
    assert len({secret_of(ctl, name) for name in names}) == 8


def test_writers_of_secrets_wait_for_each_other(hooked):
    secret = secret_of(hooked)
    held = os.open(hooked.store, os.O_RDONLY)
    fcntl.flock(held, fcntl.LOCK_EX)
    line = [PAYMENTSCTL, "-s", f"lmdb:{hooked.store}", "webhook", "secret", "rotate", "shop", *TEST_MODE]
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True) as running:
        status = pathlib.Path(f"/proc/{running.pid}/status")  # of its own, only this is for everybody to read
        wait_for(lambda: int(re.search(r"^voluntary_ctxt_switches:\s*(\d+)", status.read_text(), re.M)[1]) > 20,
                 "it to look at the lock again and again")
        assert secret_of(hooked) == secret, "who only reads does not wait"
        assert running.poll() is None
        os.close(held)
        new = running.communicate(timeout=60)[0].strip()
    assert running.returncode == 0 and secret_of(hooked) == new != secret


@pytest.fixture
def open_dir():
    """A directory that every user can get through."""
    path = pathlib.Path(tempfile.mkdtemp(prefix="ctl"))
    path.chmod(0o755)
    yield path
    shutil.rmtree(path)


@pytest.mark.root
def test_root_keeps_the_master_key(open_dir):
    """Made by root it is root's, and the store stays its owner's, who gets on without secrets."""
    store = open_dir / "store"
    store.mkdir(0o700)
    os.chown(store, NOBODY, NOBODY)
    root, owner = Ctl(store), Ctl(store, NOBODY)
    owner.ok("account", "create", "shop")
    root.ok("webhook", "set", "shop", URL, *TEST_MODE)
    secret = secret_of(root)
    key = open_dir / "store.key"
    assert (key.stat().st_uid, stat.S_IMODE(key.stat().st_mode)) == (0, 0o600)
    assert {one.stat().st_uid for one in (store, *store.iterdir())} == {NOBODY}
    assert owner.json("webhook", "show", "shop", *TEST_MODE)["secret"] is None
    assert str(key) in owner.refused(1, "webhook", "secret", "show", "shop", *TEST_MODE)
    assert owner.json("webhook", "set", "shop", "https://new.example/", *TEST_MODE)["url"] == "https://new.example/"
    assert str(key) in owner.refused(1, "webhook", "set", "shop", URL, *LIVE_MODE)
    assert str(key) in owner.refused(1, "store", "rotate-master-key")
    root.ok("store", "rotate-master-key")
    assert (key.stat().st_uid, stat.S_IMODE(key.stat().st_mode)) == (0, 0o600)
    assert {one.stat().st_uid for one in (store, *store.iterdir())} == {NOBODY}
    assert secret_of(root) == secret
    assert "belongs to" in Ctl(store, NOBODY - 1).refused(1, "webhook", "set", "shop", URL, *TEST_MODE)


@pytest.mark.root
def test_owner_makes_the_master_key(open_dir):
    """Made by the store's owner it is the owner's, and root reads it too."""
    os.chown(open_dir, NOBODY, NOBODY)
    owner, root = Ctl(open_dir / "store", NOBODY), Ctl(open_dir / "store")
    owner.ok("account", "create", "shop")
    owner.ok("webhook", "set", "shop", URL, *TEST_MODE)
    assert (open_dir / "store.key").stat().st_uid == NOBODY
    assert secret_of(root) == secret_of(owner)


# --- another master key ---

def many(ctl, count):
    """Secrets of so many webhooks by account, some with an old one that signs too."""
    known = {}
    for number in range(count):
        name = f"shop-{number}"
        ctl.ok("account", "create", name)
        ctl.ok("webhook", "set", name, URL, *TEST_MODE)
        if number % 3 == 0:
            ctl.ok("webhook", "secret", "rotate", name, *TEST_MODE)
        known[name] = ctl.json("webhook", "secret", "show", name, *TEST_MODE)
    assert len({one["secret"] for one in known.values()}) == count
    return known


def told(ctl, names):
    return {name: ctl.json("webhook", "secret", "show", name, *TEST_MODE) for name in names}


def test_rotate_master_key(ctl, key, tmp_path):
    """Secrets stay, the old key is gone, and opens nothing but the backup that was made before."""
    known = many(ctl, 5)
    old, backup = tmp_path / "backup.key", tmp_path / "backup"
    shutil.copy(key, old)
    ctl.ok("store", "backup", backup)
    done = ctl.run("store", "rotate-master-key")
    assert (done.returncode, done.stdout) == (0, "7 sealed anew\n") and "Reload the server" in done.stderr
    assert HEX.fullmatch(key.read_text()).group(1) == key.read_text() != old.read_text()
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert told(ctl, known) == known
    ctl.refused(7, "webhook", "secret", "show", "shop-1", *TEST_MODE, "--master-key", old)
    assert told(Ctl(backup), known) == known
    again = ctl.json("store", "rotate-master-key")
    assert again == {"masterKey": str(key), "resealed": 7} and told(ctl, known) == known
    assert ctl.run("store", "check").returncode == 0


def test_nothing_to_seal_anew(hooked, key):
    hooked.ok("webhook", "secret", "rotate", "shop", *TEST_MODE, "--overlap", "0")
    (hooked.store.parent / "empty").mkdir(0o700)
    empty = Ctl(hooked.store.parent / "empty/store")
    empty.ok("account", "create", "shop")
    shutil.copy(key, empty.store.with_suffix(".key"))
    assert empty.ok("store", "rotate-master-key") == "0 sealed anew\n"
    assert empty.store.with_suffix(".key").read_text() != key.read_text()


def test_rotate_master_key_goes_on(ctl, key):
    """From each state that a killed one can leave, a run ends with one key, a new one, and every secret as it was."""
    known = many(ctl, 4)
    states = {"nothing sealed under the new key": 1, "so often that the file is full": 3}
    for what, lines in states.items():
        write_private(key, "".join(fresh_line() for _ in range(lines)) + key.read_text())
        before = key.read_text()
        assert told(ctl, known) == known, what
        ctl.ok("store", "rotate-master-key")
        assert told(ctl, known) == known, what
        assert len(key.read_text().splitlines()) == 1 and key.read_text().strip() not in before, what
    write_private(key, fresh_line() + key.read_text())
    known["shop-1"] = ctl.json("webhook", "secret", "rotate", "shop-1", *TEST_MODE)  # both keys are in use
    before = key.read_text()
    assert told(ctl, known) == known
    ctl.ok("store", "rotate-master-key")
    assert told(ctl, known) == known
    assert len(key.read_text().splitlines()) == 1 and key.read_text().strip() not in before


def test_rotate_master_key_killed(ctl, key):
    """Killed at any point it loses nothing, and the next one ends it."""
    known = many(ctl, 24)
    line = [PAYMENTSCTL, "-s", f"lmdb:{ctl.store}", "store", "rotate-master-key"]
    began = time.monotonic()
    subprocess.run(line, check=True, capture_output=True)
    whole = time.monotonic() - began
    killed = left = 0
    for part in range(24):
        with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
            if part % 4 == 3:  # while secrets are sealed again, a small part of the time
                while running.poll() is None and len(key.read_text().splitlines()) < 2:
                    pass
                running.kill()
            try:
                running.communicate(timeout=whole * part / 24)
            except subprocess.TimeoutExpired:
                running.kill()
        killed += running.returncode < 0
        left += len(key.read_text().splitlines()) > 1
        some = list(known)[part % 3::8]
        assert told(ctl, some) == {name: known[name] for name in some}
    assert killed > 5 and left > 0, (killed, left)
    ctl.ok("store", "rotate-master-key")
    assert len(key.read_text().splitlines()) == 1 and told(ctl, known) == known
    assert ctl.run("store", "check").returncode == 0


def test_rotate_master_key_at_once(ctl, key):
    """Several at once come one after the other."""
    known = many(ctl, 4)
    line = [PAYMENTSCTL, "-s", f"lmdb:{ctl.store}", "store", "rotate-master-key"]
    running = [subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(4)]
    said = [one.communicate(timeout=60) for one in running]
    assert [one.returncode for one in running] == [0] * 4, said
    assert len(key.read_text().splitlines()) == 1 and told(ctl, known) == known


def test_rotate_master_key_stops_at_a_secret_that_does_not_open(hooked, key, tmp_path):
    """The old key stays: it may be the one that is needed."""
    other = tmp_path / "other.key"
    write_private(other, fresh_line())
    hooked.ok("account", "create", "other")
    hooked.ok("webhook", "set", "other", URL, *TEST_MODE, "--master-key", other)
    secret, before = secret_of(hooked), key.read_text()
    assert "account 2 in test mode" in hooked.refused(7, "store", "rotate-master-key")
    assert key.read_text() == before and secret_of(hooked) == secret
    hooked.ok("webhook", "secret", "rotate", "other", *TEST_MODE, "--overlap", "0")
    hooked.ok("store", "rotate-master-key")
    assert key.read_text() != before and secret_of(hooked) == secret
    assert hooked.json("webhook", "show", "other", *TEST_MODE)["secret"] == secret_of(hooked, "other")
