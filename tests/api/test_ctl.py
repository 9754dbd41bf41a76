# SPDX-License-Identifier: Apache-2.0
"""paymentsctl as a plain program: commands, errors, exit codes, JSON, files it leaves behind."""

import calendar
import json
import os
import pathlib
import pty
import re
import shutil
import stat
import subprocess
import tempfile
import time

import pytest

from ctl_program import (COMMANDS, EVENT, FAKE_KEY, KEY, NOBODY, TEST_CARD, TEST_MODE, TEST_SECRET, TIME, Ctl, as_lines,
                         record)
from harness import PAYMENTSCTL, wait_for
from raw_lmdb import Raw, change_schema

@pytest.fixture
def empty(tmp_path):
    """No store yet."""
    return Ctl(tmp_path / "store")


@pytest.fixture
def open_dir():
    """A directory that every user can get through."""
    path = pathlib.Path(tempfile.mkdtemp(prefix="ctl"))
    path.chmod(0o755)
    yield path
    shutil.rmtree(path)


# --- the command line ---

def help_commands(text):
    block = text.split("Commands:\n")[1].split("\n\n")[0]
    return {line[2:27].strip() for line in block.splitlines()}


def test_help_lists_every_command(empty):
    every = {f"{noun} {verb}".strip() for noun, verbs in COMMANDS.items() for verb in verbs}
    assert help_commands(empty.ok("--help", store=False)) == every
    assert help_commands(empty.ok("-h", store=False)) == every
    for noun, verbs in COMMANDS.items():
        if verbs != [""]:
            assert help_commands(empty.ok(noun, "--help", store=False)) == {f"{noun} {verb}" for verb in verbs}
        for verb in verbs:
            text = empty.ok(*f"{noun} {verb}".split(), "--help", store=False)
            assert f" {noun} {verb}" in text and "--json" in text and "--store" in text
    assert "--overlap DURATION" in empty.ok("key", "rotate", "--help", store=False)
    assert help_commands(empty.ok("webhook", "secret", "--help", store=False)) \
        == {"webhook secret show", "webhook secret rotate"}


@pytest.mark.parametrize("args", [
    pytest.param([], id="nothing"),
    pytest.param(["cheese"], id="unknown noun"),
    pytest.param(["account"], id="no verb"),
    pytest.param(["account", "melt"], id="unknown verb"),
    pytest.param(["webhook", "secret"], id="no second verb"),
    pytest.param(["webhook", "secret", "melt"], id="unknown second verb"),
    pytest.param(["webhook secret", "show"], id="two words in one"),
    pytest.param(["--cheese"], id="unknown option before the noun"),
    pytest.param(["account", "list", "--cheese"], id="unknown option"),
    pytest.param(["account", "list", "--mode", "test"], id="option of another command"),
    pytest.param(["account", "list", "--lim", "1"], id="shortened option"),
    pytest.param(["account", "show"], id="missing argument"),
    pytest.param(["account", "show", "shop", "again"], id="argument too many"),
    pytest.param(["account", "set", "shop"], id="nothing to set"),
    pytest.param(["key", "create", "shop", "--mode", "test"], id="missing option"),
    pytest.param(["key", "create", "shop", "--kind", "secret", "--mode"], id="option without value"),
    pytest.param(["account", "list", "--limit", "1", "--limit", "2"], id="option twice"),
    pytest.param(["key", "import", "shop", FAKE_KEY, *TEST_SECRET], id="key as an argument"),
    pytest.param(["account", "list", "-s", "lmdb:/elsewhere"], id="two stores"),
])
def test_wrong_command_line(ctl, args):
    said = ctl.refused(2, *args)
    assert "--help'" in said and FAKE_KEY not in said


def test_no_store_named(empty):
    assert "PAYMENTS_STORE" in empty.refused(2, "account", "list", store=False)


def test_store_from_the_environment(ctl, tmp_path):
    env = {"PAYMENTS_STORE": f"lmdb:{ctl.store}"}
    assert [row["name"] for row in ctl.json("account", "list", store=False, env=env)] == ["shop"]
    env = {"PAYMENTS_STORE": f"lmdb:{tmp_path}/none"}
    assert ctl.json("account", "list", env=env), "-s comes before the environment"


def test_options_stand_anywhere(ctl):
    store = f"lmdb:{ctl.store}"
    for line in (["--json", "account", "list", "--store", store], ["account", "--json", "list", "-s", store],
                 [f"--store={store}", "account", "list", "--json"]):
        assert json.loads(ctl.ok(*line, store=False))[0]["name"] == "shop"
    assert ctl.json("key", "create", *TEST_SECRET, "shop")["kind"] == "secret"
    assert "shop" in ctl.ok("account", "show", "--", "shop")


@pytest.mark.parametrize("code, args", [
    (6, ["account", "create", "Shop"]), (6, ["account", "create", ""]), (5, ["account", "create", "a" * 65]),
    (6, ["account", "create", "b", "--currency", "XYZ1"]), (6, ["account", "create", "b", "--currency", "ZZZ"]),
    (6, ["account", "create", "b", "--timezone", "Moon/Crater"]),
    (6, ["account", "create", "b", "--timezone", "../../etc/passwd"]),
    (5, ["account", "create", "b", "--timezone", "a" * 64]),
    (6, ["account", "create", "b", "--key-prefix", "9a"]), (5, ["account", "create", "b", "--key-prefix", "a" * 17]),
    (6, ["account", "mode", "shop", "on"]), (6, ["account", "list", "--limit", "0"]),
    (6, ["account", "list", "--limit", "-1"]), (6, ["account", "list", "--limit", "1000000001"]),
    (6, ["account", "list", "--limit", "1x"]), (6, ["account", "show", "no such"]), (5, ["account", "show", "a" * 65]),
    (6, ["key", "create", "shop", "--mode", "prod", "--kind", "secret"]),
    (6, ["key", "create", "shop", "--mode", "test", "--kind", "master"]),
    (5, ["key", "revoke", "k" * 65]),
    (6, ["token", "create", "shop", *TEST_MODE, "--card", "4111111111111111", "--email", "a@b.example"]),
    (6, ["token", "create", "shop", *TEST_MODE, "--card", "5555555555554444", "--email", "nobody"]),
    (5, ["token", "create", "shop", *TEST_MODE, "--card", "5555555555554444", "--email", "a" * 250 + "@b.example"]),
    (6, ["token", "create", "shop", *TEST_MODE, *TEST_CARD, "--token", "tok_test_mine"]),
    (6, ["token", "create", "shop", *TEST_MODE, *TEST_CARD, "--token", "a b"]),
    (6, ["token", "create", "shop", *TEST_MODE, *TEST_CARD, "--token", "4111111111111111"]),
    (5, ["token", "create", "shop", *TEST_MODE, *TEST_CARD, "--token", "t" * 256]),
    (5, ["token", "revoke", "shop", "t" * 256, *TEST_MODE]),
    (6, ["token", "revoke", "shop", "tok_test_success", *TEST_MODE]),
    (6, ["charge", "show", "shop", "a/b", *TEST_MODE]), (5, ["charge", "show", "shop", "r" * 101, *TEST_MODE]),
    (5, ["refund", "create", "shop", *TEST_MODE, "--reference", "r" * 101]),
    (5, ["refund", "create", "shop", *TEST_MODE, "--reference", "r", "--customer-note", "n" * 1001]),
    (6, ["refund", "list", "shop", *TEST_MODE, "--from", "2026-02-30"]),
    (6, ["refund", "list", "shop", *TEST_MODE, "--to", "soon"]),
    (6, ["refund", "list", "shop", *TEST_MODE, "--from", "2026-02-02", "--to", "2026-02-01"]),
], ids=lambda value: " ".join(value)[:60] if isinstance(value, list) else None)
def test_values_of_wrong_form_and_length(ctl, code, args):
    said = ctl.refused(code, *args)
    assert "4111111111111111" not in said
    assert [row["name"] for row in ctl.json("account", "list")] == ["shop"]


@pytest.mark.parametrize("code, args", [
    pytest.param(3, ["account", "create", "shop"], id="account taken"),
    pytest.param(3, ["account", "show", "none"], id="no such account"),
    pytest.param(3, ["account", "set", "none", "--currency", "EUR"], id="set no such account"),
    pytest.param(3, ["key", "create", "none", *TEST_SECRET], id="key of no account"),
    pytest.param(3, ["key", "list", "none"], id="keys of no account"),
    pytest.param(3, ["key", "revoke", "key_none"], id="revoke no key"),
    pytest.param(3, ["key", "rotate", "key_none"], id="rotate no key"),
    pytest.param(3, ["token", "list", "none", *TEST_MODE], id="tokens of no account"),
    pytest.param(3, ["token", "revoke", "shop", "tok_none", *TEST_MODE], id="revoke no token"),
    pytest.param(3, ["token", "create", "shop", "--mode", "live", *TEST_CARD], id="live token"),
    pytest.param(3, ["charge", "list", "none", *TEST_MODE], id="charges of no account"),
    pytest.param(3, ["charge", "show", "shop", "none", *TEST_MODE], id="no such charge"),
    pytest.param(3, ["refund", "list", "none", *TEST_MODE], id="refunds of no account"),
    pytest.param(3, ["refund", "create", "shop", *TEST_MODE, "--reference", "none"], id="refund of no charge"),
    pytest.param(3, ["refund", "create", "shop", "--mode", "live", "--reference", "r"], id="refund of Live Mode in Test Mode"),
    pytest.param(1, ["refund", "import", "shop", "/nonexistent", *TEST_MODE], id="no such file"),
    pytest.param(1, ["store", "backup", "/nonexistent/dir"], id="backup nowhere"),
])
def test_what_cannot_be_done(ctl, code, args):
    ctl.refused(code, *args)


@pytest.mark.parametrize("args", [
    ["account", "list"], ["account", "show", "shop"], ["account", "set", "shop", "--currency", "EUR"],
    ["account", "mode", "shop", "live"], ["held", "list"], ["refund", "show", "shop", "r", *TEST_MODE],
    ["key", "create", "shop", *TEST_SECRET], ["key", "import", "shop", *TEST_SECRET], ["key", "list", "shop"],
    ["key", "revoke", "key_1"], ["key", "rotate", "key_1"], ["token", "create", "shop", *TEST_MODE, *TEST_CARD],
    ["token", "list", "shop", *TEST_MODE], ["token", "revoke", "shop", "tok_1", *TEST_MODE],
    ["charge", "list", "shop", *TEST_MODE], ["charge", "show", "shop", "r", *TEST_MODE],
    ["refund", "create", "shop", *TEST_MODE, "--reference", "r"], ["refund", "list", "shop", *TEST_MODE],
    ["refund", "import", "shop", "/dev/null", *TEST_MODE], ["store", "check"], ["store", "stat"],
    ["store", "backup", "/nonexistent"], ["store", "upgrade"], ["store", "upgrade", "--dry-run"],
    ["store", "rotate-master-key"], ["webhook", "set", "shop", "https://shop.example/", *TEST_MODE],
    ["webhook", "show", "shop", *TEST_MODE], ["webhook", "test", "shop", *TEST_MODE],
    ["webhook", "secret", "show", "shop", *TEST_MODE], ["webhook", "secret", "rotate", "shop", *TEST_MODE],
    ["event", "list", "shop", *TEST_MODE], ["event", "show", "shop", EVENT, *TEST_MODE],
    ["event", "retry", "shop", EVENT, *TEST_MODE], ["event", "drop", "shop", "--all", *TEST_MODE],
    ["event", "deliver", "--once"], ["mail", "set", "shop", "--receipts", "on"], ["mail", "show", "shop"],
    ["mail", "test", "shop", *TEST_MODE],
], ids=" ".join)
@pytest.mark.parametrize("there", ["no directory", "empty directory"])
def test_only_account_create_makes_a_store(empty, there, args):
    if there == "empty directory":
        empty.store.mkdir(0o700)
    assert "account create" in empty.refused(1, *args)
    assert not empty.store.exists() or list(empty.store.iterdir()) == []
    assert not empty.store.with_suffix(".key").exists()


@pytest.mark.parametrize("store, code", [
    ("lmdb", 6), ("lmdb:", 6), ("sqlite:/x", 6), ("lmdb:relative/path", 6), ("lmdb:/dev/null", 1),
    ("lmdb:/dev/null/x", 1), ("lmdb:/nonexistent/store", 1)])
def test_store_that_is_none(empty, store, code):
    empty.refused(code, "account", "create", "shop", "-s", store, store=False)


def test_why_there_is_no_store(empty):
    def said(store, *args):
        return empty.refused(1, *args, "-s", f"lmdb:{store}", store=False)

    for args in (["account", "create", "shop"], ["account", "list"]):
        assert "cannot look at /dev/null/x: Not a directory" in said("/dev/null/x", *args)
        assert "/dev/null is not a directory" in said("/dev/null", *args)
    assert "cannot create /nonexistent/store: No such file" in said("/nonexistent/store", "account", "create", "shop")
    assert "there is no store in /nonexistent/store" in said("/nonexistent/store", "account", "list")


def test_store_that_is_no_environment(ctl):
    (ctl.store / "data.mdb").write_bytes(b"cheese" * 5000)
    for args in (["account", "list"], ["account", "create", "other"]):
        assert ctl.run(*args).returncode in (1, 7)
        assert ctl.run(*args).stderr.startswith("paymentsctl: ")


def test_store_of_another_version(ctl):
    change_schema(ctl.store, 99)
    assert "version" in ctl.refused(7, "account", "list")
    assert "version" in ctl.refused(7, "account", "create", "b")


# --- accounts ---

def settings(account):
    return tuple(account[name] for name in ("keyPrefix", "currency", "timezone", "mode"))


def test_account_create_and_set(empty):
    made = empty.json("account", "create", "shop")
    assert list(made) == ["name", "number", "mode", "keyPrefix", "currency", "timezone", "shop", "returnHosts",
                          "fees", "createdAt", "updatedAt"]
    assert (made["name"], made["number"], made["mode"]) == ("shop", 1, "test")
    assert settings(made) == ("pay", "NGN", "UTC", "test")
    assert TIME.fullmatch(made["createdAt"])
    other = empty.json("account", "create", "b-2", "--key-prefix", "nc", "--currency", "eur",
                       "--timezone", "Africa/Lagos")
    assert (other["number"], *settings(other)) == (2, "nc", "EUR", "Africa/Lagos", "test")
    empty.ok("account", "mode", "b-2", "live")
    changed = empty.json("account", "set", "b-2", "--timezone", "UTC")
    assert settings(changed) == ("nc", "EUR", "UTC", "live")
    shown = empty.json("account", "show", "b-2")
    assert {name: shown[name] for name in changed} == changed
    assert set(shown) - set(changed) == {"rows", "unpaidOfVisitors", "quota"} and shown["quota"] == 0
    assert [one["name"] for one in empty.json("account", "list")] == ["b-2", "shop"]
    assert empty.json("account", "list", "--limit", 1) == [changed]
    lines = empty.ok("account", "list").splitlines()
    assert lines[0].split()[:2] == ["NAME", "NUMBER"] and lines[1].startswith("b-2 ") and len(lines) == 3
    assert lines[1].index("live") == lines[2].index("test") == lines[0].index("MODE")
    assert empty.key("b-2", *TEST_SECRET).startswith("nc_testsk_")


@pytest.mark.parametrize("option, value, member", [
    ("--key-prefix", "nc", "keyPrefix"), ("--currency", "EUR", "currency"), ("--timezone", "Africa/Lagos", "timezone"),
    ("--shop-name", "Ada's", "shop"), ("--shop-logo", "/logo.png", "shop"), ("--shop-text", "Thanks", "shop"),
    ("--return-host", "a.example", "returnHosts"), ("--fee", "NGN 1.5%", "fees")])
def test_one_setting_alone(ctl, option, value, member):
    before = ctl.json("account", "show", "shop")
    after = ctl.json("account", "set", "shop", option, value)
    changed = {name for name in after if after[name] != before[name]}
    assert changed - {"updatedAt"} == {member} and value in json.dumps(after[member])
    made = ctl.json("account", "create", "other", option, value)
    assert made[member] == after[member]


def test_account_shows_itself_to_payers(empty):
    shop = {"name": "Ada's <Books> & Co", "logo": "/logo.png", "text": "Thank you.\nCome again."}
    options = [part for name, value in shop.items() for part in (f"--shop-{name}", value)]
    assert empty.json("account", "create", "plain")["shop"] == {"name": "", "logo": "", "text": ""}
    assert empty.json("account", "create", "shop", *options)["shop"] == shop
    assert empty.json("account", "set", "shop", "--shop-text", "")["shop"] == {**shop, "text": ""}
    assert empty.json("account", "set", "plain", *options)["shop"] == shop
    assert settings(empty.json("account", "show", "plain")) == ("pay", "NGN", "UTC", "test")


@pytest.mark.parametrize("code, option, value", [
    pytest.param(6, "--shop-name", "a\nb", id="a name of two lines"),
    pytest.param(6, "--shop-name", "4111111111111111", id="a card number"),
    pytest.param(5, "--shop-name", "a" * 101, id="a name that is too long"),
    pytest.param(6, "--shop-logo", "javascript:alert(1)", id="a logo that is no picture"),
    pytest.param(6, "--shop-logo", "//elsewhere.example/a.png", id="a logo without a scheme"),
    pytest.param(6, "--shop-text", "a\tb", id="a control character"),
])
def test_what_no_payer_is_shown(empty, code, option, value):
    empty.ok("account", "create", "shop")
    assert option in empty.refused(code, "account", "set", "shop", option, value)
    assert empty.json("account", "show", "shop")["shop"] == {"name": "", "logo": "", "text": ""}


def test_wrong_account_makes_no_store(empty):
    empty.refused(6, "account", "create", "shop", "--currency", "ZZZ")
    assert not empty.store.exists()


# --- keys ---

def test_key_is_shown_once(ctl):
    seen = []
    for mode, kind, mark in (("test", "secret", "testsk"), ("test", "public", "testpk"), ("live", "secret", "livesk")):
        done = ctl.run("key", "create", "shop", "--mode", mode, "--kind", kind)
        key = done.stdout.removesuffix("\n")
        assert KEY.fullmatch(key) and f"_{mark}_" in key
        assert key not in done.stderr and "key_" in done.stderr
        seen.append(key)
    made = ctl.json("key", "create", "shop", *TEST_SECRET)
    assert list(made) == ["key", "id", "account", "mode", "kind", "createdAt", "lastUsedAt", "revokedAt"]
    assert ctl.run("key", "create", "shop", *TEST_SECRET, "--json").stderr == ""
    seen.append(made["key"])
    assert len(set(seen)) == 4
    files = (ctl.store / "data.mdb").read_bytes()
    for listed in (ctl.ok("key", "list", "shop"), ctl.ok("key", "list", "--json"), files.decode("latin-1")):
        for key in seen:
            assert key.split("_")[2] not in listed


def test_key_list(ctl):
    assert ctl.json("key", "list", "shop") == []
    assert ctl.ok("key", "list", "shop").splitlines()[0].split()[:2] == ["ID", "ACCOUNT"]
    ctl.ok("account", "create", "other")
    ids = [ctl.json("key", "create", name, *TEST_SECRET)["id"] for name in ("shop", "other", "shop")]
    rows = ctl.json("key", "list", "shop")
    assert [row["id"] for row in rows] == [ids[0], ids[2]]
    assert list(rows[0]) == ["id", "account", "mode", "kind", "createdAt", "lastUsedAt", "revokedAt"]
    assert (rows[0]["account"], rows[0]["lastUsedAt"], rows[0]["revokedAt"]) == ("shop", None, None)
    assert sorted(row["id"] for row in ctl.json("key", "list")) == sorted(ids)
    assert len(ctl.json("key", "list", "shop", "--limit", 1)) == 1


@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
def test_key_import(ctl, end):
    done = ctl.run("key", "import", "shop", *TEST_SECRET, stdin=FAKE_KEY + end)
    assert done.returncode == 0 and FAKE_KEY not in done.stdout + done.stderr
    row = ctl.json("key", "list", "shop")[0]
    assert done.stdout == row["id"] + "\n"
    assert FAKE_KEY not in ctl.refused(3, "key", "import", "shop", *TEST_SECRET, stdin=FAKE_KEY)
    longest = "nc_testsk_" + "a" * 118
    assert list(ctl.json("key", "import", "shop", *TEST_SECRET, stdin=longest + end))[0] == "id"


def test_key_typed_at_a_terminal(ctl):
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(PAYMENTSCTL, [PAYMENTSCTL, "-s", f"lmdb:{ctl.store}", "key", "import", "shop", *TEST_SECRET])
    shown = os.read(terminal, 100)
    assert shown.startswith(b"Key: ")
    os.write(terminal, FAKE_KEY.encode() + b"\n")
    try:
        while True:
            part = os.read(terminal, 1000)
            if not part:
                break
            shown += part
    except OSError:  # how Linux shows that the other end is closed
        pass
    os.close(terminal)
    assert os.waitpid(pid, 0)[1] == 0
    assert FAKE_KEY.encode() not in shown and ctl.json("key", "list")[0]["id"].encode() in shown


@pytest.mark.parametrize("text, code", [
    pytest.param("", 6, id="nothing"),
    pytest.param("cheese", 6, id="no key"),
    pytest.param("\n" + FAKE_KEY, 6, id="second line"),
    pytest.param(FAKE_KEY + "\n\n", 6, id="two line ends"),
    pytest.param(FAKE_KEY + "\n" + FAKE_KEY, 6, id="two keys"),
    pytest.param(FAKE_KEY + "\0", 6, id="NUL"),
    pytest.param(" " + FAKE_KEY, 6, id="blank"),
    pytest.param(FAKE_KEY.replace("test", "live"), 6, id="other mode"),
    pytest.param(FAKE_KEY.replace("sk", "pk"), 6, id="other kind"),
    pytest.param("nc_testsk_" + "a" * 119, 5, id="one too long"),
    pytest.param("nc_testsk_" + "a" * 119 + "\n", 5, id="one too long, and a line end"),
    pytest.param("nc_testsk_" + "a" * 5000, 5, id="far too long"),
    pytest.param("nc_testsk_" + "a" * 9, 6, id="one too short"),
])
def test_key_import_of_wrong_text(ctl, text, code):
    assert "aaaaaaaa" not in ctl.refused(code, "key", "import", "shop", *TEST_SECRET, stdin=text)
    assert ctl.json("key", "list") == []


@pytest.mark.parametrize("mode, kind, form", [
    ("test", "secret", "PREFIX_testsk_BODY"), ("test", "public", "PREFIX_testpk_BODY"),
    ("live", "secret", "PREFIX_livesk_BODY"), ("live", "public", "PREFIX_livepk_BODY")])
def test_key_import_tells_the_form(ctl, mode, kind, form):
    said = ctl.refused(6, "key", "import", "shop", "--mode", mode, "--kind", kind, stdin="cheese")
    assert form in said and f"must be a {mode} {kind} key" in said


def test_key_revoke(ctl):
    made = ctl.json("key", "create", "shop", *TEST_SECRET)
    said = ctl.refused(6, "key", "revoke", made["key"])
    assert made["key"] not in said
    revoked = ctl.json("key", "revoke", made["id"])
    assert TIME.fullmatch(revoked["revokedAt"]) and revoked["id"] == made["id"] and "key" not in revoked
    assert ctl.json("key", "revoke", made["id"]) == revoked, "an earlier revocation stands"
    ctl.refused(3, "key", "rotate", made["id"])
    assert made["id"] in ctl.ok("key", "revoke", made["id"])


def moment(text):
    return calendar.timegm(time.strptime(text[:19], "%Y-%m-%dT%H:%M:%S"))


@pytest.mark.parametrize("overlap, seconds", [
    (None, 0), ("0s", 0), ("90s", 90), ("30m", 1800), ("24h", 86400), ("7d", 604800), ("366d", 31622400)])
def test_key_rotate(ctl, overlap, seconds):
    old = ctl.json("key", "create", "shop", "--mode", "live", "--kind", "public")
    new = ctl.json("key", "rotate", old["id"], *(["--overlap", overlap] if overlap else []))
    rows = {row["id"]: row for row in ctl.json("key", "list", "shop")}
    assert new["key"] != old["key"] and (new["mode"], new["kind"], new["revokedAt"]) == ("live", "public", None)
    assert set(rows) == {old["id"], new["id"]}
    assert abs(moment(rows[old["id"]]["revokedAt"]) - time.time() - seconds) < 60
    done = ctl.run("key", "rotate", new["id"])
    assert KEY.fullmatch(done.stdout.strip()) and done.stdout.strip() not in done.stderr


@pytest.mark.parametrize("overlap", [
    "", "24", "h", "-1h", "1.5h", "1w", "24hh", " 1h", "367d", "31622401s", "9" * 30 + "s"])
def test_key_rotate_of_wrong_overlap(ctl, overlap):
    old = ctl.json("key", "create", "shop", *TEST_SECRET)
    ctl.refused(6, "key", "rotate", old["id"], "--overlap", overlap)
    assert ctl.json("key", "list")[0]["revokedAt"] is None


def test_no_core_file_while_a_key_is_read(ctl):
    with subprocess.Popen([PAYMENTSCTL, "-s", f"lmdb:{ctl.store}", "key", "import", "shop", *TEST_SECRET],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        limits = pathlib.Path(f"/proc/{process.pid}/limits")
        wait_for(lambda: re.search(r"Max core file size +0 +0 ", limits.read_text()), "the core limit")
        process.communicate(FAKE_KEY)
        assert process.returncode == 0


def test_key_that_cannot_be_written_out(ctl):
    with open("/dev/full", "w", encoding="ascii") as full:
        done = ctl.run("key", "create", "shop", *TEST_SECRET, stdout=full)
    assert done.returncode == 1 and ctl.json("key", "list")[0]["id"] in done.stderr
    with open("/dev/full", "w", encoding="ascii") as full:
        assert ctl.run("account", "list", stdout=full).returncode == 1


# --- tokens ---

def test_tokens(ctl):
    token = ctl.ok("token", "create", "shop", *TEST_MODE, *TEST_CARD).removesuffix("\n")
    assert re.fullmatch(r"tok_[a-z0-9]{20,}", token)
    mine = ctl.json("token", "create", "shop", *TEST_MODE, "--card", "4000 0000 0000 9995",
                    "--email", "b@c.example", "--token", "mine")
    assert list(mine) == ["token", "mode", "email", "card", "createdAt", "revokedAt"]
    assert (mine["token"], mine["mode"], mine["email"]) == ("mine", "test", "b@c.example")
    assert (mine["card"]["first6Digits"], mine["card"]["last4Digits"]) == ("400000", "9995")
    ctl.refused(3, "token", "create", "shop", *TEST_MODE, *TEST_CARD, "--token", "mine")
    rows = ctl.json("token", "list", "shop", *TEST_MODE)
    assert {row["token"]: row["email"] for row in rows} == {token: "ada@example.com", "mine": "b@c.example"}
    assert len(ctl.json("token", "list", "shop", *TEST_MODE, "--limit", 1)) == 1
    assert ctl.json("token", "list", "shop", "--mode", "live") == []
    assert "9995" in ctl.ok("token", "list", "shop", *TEST_MODE)
    ctl.refused(3, "token", "revoke", "shop", "mine", "--mode", "live")
    assert TIME.fullmatch(ctl.json("token", "revoke", "shop", "mine", *TEST_MODE)["revokedAt"])


# --- the store ---

def test_stat(ctl):
    ctl.ok("key", "create", "shop", *TEST_SECRET)
    found = ctl.json("store", "stat")
    assert (found["accounts"], found["keys"], found["charges"], found["refunds"]) == (1, 1, 0, 0)
    assert (found["events"], found["parked"]) == (0, 0)
    assert 0 < found["usedBytes"] <= found["mapBytes"] and found["schemaVersion"] == 1
    assert all(isinstance(value, int) for value in found.values())
    assert re.search(r"^accounts +1$", ctl.ok("store", "stat"), re.M)


def test_check(ctl, tmp_path):
    path = tmp_path / "refunds"
    path.write_text(as_lines(record(number) for number in range(3)), encoding="utf-8")
    ctl.ok("refund", "import", "shop", path, *TEST_MODE)
    assert ctl.ok("store", "check") == "" and ctl.json("store", "check") == []
    raw = Raw(ctl.store)
    raw.begin()
    raw.put("account", (1).to_bytes(4, "big"), b"cheese")
    raw.put("refund_id", (1).to_bytes(4, "big") + b"\0id-1", b"\0" * 20)
    raw.commit()
    raw.close()
    done = ctl.run("store", "check")
    assert done.returncode == 1 and len(done.stdout.splitlines()) >= 2
    assert any("account" in line for line in done.stdout.splitlines())
    assert any("refund_id" in line for line in done.stdout.splitlines())
    in_json = ctl.run("store", "check", "--json")
    assert in_json.returncode == 1 and json.loads(in_json.stdout) == done.stdout.splitlines()
    failed = ctl.run("account", "list")
    assert failed.returncode == 7 and failed.stdout == ""
    assert all(line.startswith("paymentsctl: ") for line in failed.stderr.splitlines())


def test_backup(ctl, tmp_path):
    copy = tmp_path / "copy"
    assert ctl.json("store", "backup", copy) == {"backup": str(copy)}
    assert stat.S_IMODE(copy.stat().st_mode) == 0o700 and stat.S_IMODE((copy / "data.mdb").stat().st_mode) == 0o600
    assert Ctl(copy).json("account", "list") == ctl.json("account", "list")
    assert Ctl(copy).run("store", "check").returncode == 0
    ctl.ok("account", "create", "later")
    assert len(Ctl(copy).json("account", "list")) == 1
    assert "new directory" in ctl.refused(1, "store", "backup", copy)


def test_upgrade_of_a_current_store(ctl):
    assert ctl.ok("store", "upgrade", "--dry-run").strip()
    assert ctl.json("store", "upgrade")["dryRun"] is False
    assert ctl.json("account", "list")[0]["name"] == "shop"


# --- whose files ---

def owners(path):
    return {one.stat().st_uid for one in [path, *path.iterdir()]}


@pytest.mark.root
def test_root_without_rights_over_groups_keeps_its_own_store(ctl):
    """Containers often start root without CAP_SETGID; for a store of root's nothing has to be changed."""
    done = subprocess.run(["setpriv", "--bounding-set=-setgid", PAYMENTSCTL, "-s", f"lmdb:{ctl.store}", "account", "list"],
                          check=False, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "") and "shop" in done.stdout


@pytest.mark.root
def test_root_leaves_the_files_to_the_owner(open_dir):
    theirs = open_dir / "theirs"
    theirs.mkdir(0o700)
    os.chown(theirs, NOBODY, NOBODY)
    for store in (theirs, theirs / "below"):
        ctl = Ctl(store)
        if store != theirs:
            shutil.rmtree(theirs)
            theirs.mkdir(0o700)
            os.chown(theirs, NOBODY, NOBODY)
        ctl.ok("account", "create", "shop")
        assert owners(store) == {NOBODY}
        (store / "lock.mdb").unlink()
        ctl.ok("key", "create", "shop", *TEST_SECRET)
        assert owners(store) == {NOBODY}
        assert Ctl(store, NOBODY).json("account", "list")[0]["name"] == "shop"


@pytest.mark.root
def test_a_slash_behind_the_store_is_no_directory_more(open_dir):
    theirs = open_dir / "theirs"
    theirs.mkdir(0o700)
    os.chown(theirs, NOBODY, NOBODY)
    Ctl(f"{theirs}/below//").ok("account", "create", "shop")
    assert owners(theirs / "below") == {NOBODY}


@pytest.mark.root
def test_root_reads_and_writes_own_files_beside_a_foreign_store(open_dir):
    store = open_dir / "store"
    store.mkdir(0o700)
    os.chown(store, NOBODY, NOBODY)
    private = open_dir / "private"
    private.mkdir(0o700)
    (private / "refunds").write_text(as_lines([record(1)]), encoding="utf-8")
    ctl = Ctl(store)
    ctl.ok("account", "create", "shop")
    assert ctl.json("refund", "import", "shop", private / "refunds", *TEST_MODE)["written"] == 1
    ctl.ok("store", "backup", private / "copy")
    assert owners(private / "copy") == {0} and owners(store) == {NOBODY}


@pytest.mark.root
def test_roots_groups_are_back_for_its_own_files(open_dir):
    """Without the rights over all files, as in many containers, what root may write is a matter of its groups."""
    group = 54321
    store = open_dir / "store"
    store.mkdir(0o700)
    os.chown(store, NOBODY, NOBODY)
    shared = open_dir / "shared"
    shared.mkdir()
    os.chown(shared, NOBODY, group)
    shared.chmod(0o770)
    Ctl(store).ok("account", "create", "shop")
    done = subprocess.run(["setpriv", "--bounding-set=-dac_override,-dac_read_search", f"--groups={group}", PAYMENTSCTL,
                           "-s", f"lmdb:{store}", "store", "backup", shared / "copy"],
                          check=False, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "") and owners(shared / "copy") == {0}


@pytest.mark.root
def test_an_ordinary_user(open_dir):
    mine = open_dir / "mine"
    mine.mkdir(0o700)
    os.chown(mine, NOBODY, NOBODY)
    user = Ctl(mine / "store", NOBODY)
    user.ok("account", "create", "shop")
    assert KEY.fullmatch(user.key("shop", *TEST_SECRET)) and owners(mine / "store") == {NOBODY}
    root = Ctl(open_dir / "roots")
    root.ok("account", "create", "shop")
    assert owners(open_dir / "roots") == {0}
    assert "root" in Ctl(open_dir / "roots", NOBODY).refused(1, "account", "list")
    Ctl(open_dir / "new", NOBODY).refused(1, "account", "create", "shop")
