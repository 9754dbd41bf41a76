# SPDX-License-Identifier: Apache-2.0
"""No request leads to a file of a store, a key or a secret, whatever link or .htaccess a tenant has made."""

import contextlib
import ctypes
import fcntl
import os
import re
import shutil
import subprocess
import threading

import pytest

from conftest import MPMS
from dashboard import basic
from harness import ROOT, STORE_GONE, WAIT_S, beside, wait_for

PAYER = b"payer@fence.example"  # stands in data.mdb, and must be in no answer
MODULES = ("actions", "autoindex", "dav", "dav_fs", "lua", "xsendfile")
ONE_CHILD = ("StartServers 1\nServerLimit 1\nThreadsPerChild 16\nThreadLimit 16\nMaxRequestWorkers 16\n"
             "MinSpareThreads 1\nMaxSpareThreads 16")
TENANT = "http://tenant.example"  # a host without payments, which is where tenants are


def configure(httpd, extra=""):
    """A tenant's host beside that of the payments; {root} and {store} stand for their directories."""
    extra = extra.replace("{root}", str(httpd.root)).replace("{store}", str(httpd.store))
    httpd.tenant = httpd.root / "tenant"
    httpd.tenant.mkdir()
    (httpd.root / "magic").write_text("0 string GIF image/gif\n")
    locks = httpd.root / "locks"
    locks.mkdir()
    locks.chmod(0o777)
    httpd.extra = f"DavLockDB {locks}/db\n"
    httpd.after = f"""
<VirtualHost *:@PORT@>
ServerName tenant.example
DocumentRoot {httpd.tenant}
<Directory {httpd.tenant}>
AllowOverride All
Require all granted
</Directory>
{extra}
</VirtualHost>
"""
    plain = httpd.config
    httpd.config = lambda: plain() + httpd.after.replace("*:@PORT@", f"{httpd.address}:{httpd.port}")


def begin(httpd, extra=""):
    configure(httpd, extra)
    httpd.start()
    httpd.fenced_shop = httpd.shop()
    assert httpd.fenced_shop.charge(email=PAYER.decode()).status == 200
    assert PAYER in (httpd.store / "data.mdb").read_bytes()
    (httpd.tenant / "plain.txt").write_text("plain")
    return httpd


@pytest.fixture
def fenced(server):
    """A running server with a tenant, whose host gets `extra`."""
    def make(extra="", mpm="event", modules=()):
        threads = None if mpm == "prefork" else ONE_CHILD
        return begin(server(start=False, mpm=mpm, threads=threads, modules=[*MODULES, *modules]), extra)

    return make


def ask(httpd, path, method="GET", **kwargs):
    return httpd.request(method, TENANT + path, **kwargs)


def assert_fenced(httpd, answer, name="data.mdb", status=403):
    """It was refused, the log says which file it was, and all else goes on."""
    assert answer.status == status, answer
    assert PAYER not in answer.body and len(answer.body) < 10000
    said = re.findall(r"\[payments:warn\].*PAY00660: (\S+) of PaymentsStore (\S+) was requested", httpd.log_text())
    path = httpd.root / "store.key" if name == "store.key" else httpd.store / name if name else httpd.store
    assert (str(path), f"lmdb:{httpd.store}") in said, said
    httpd.expect_log(f"PAY00660: {re.escape(str(path))} of")
    assert ask(httpd, "/plain.txt").body == b"plain"
    assert httpd.fenced_shop.charge().status == 200


# --- what a tenant can make in a document root ---

def symlink(httpd, target="data.mdb", name="pic.jpg"):
    (httpd.tenant / name).symlink_to(httpd.store / target)
    return f"/{name}"


def hard_link(httpd):
    os.link(httpd.store / "data.mdb", httpd.tenant / "pic.jpg")
    return "/pic.jpg"


def link_of_link(httpd):
    symlink(httpd)
    (httpd.tenant / "again").symlink_to("pic.jpg")
    return "/again"


def directory(httpd):
    (httpd.tenant / "all").symlink_to(httpd.store)
    return "/all/data.mdb"


def htaccess(text, path="/pic.jpg"):
    def make(httpd):
        symlink(httpd)
        (httpd.tenant / ".htaccess").write_text(text)
        return path
    return make


def below(text, path="/d/"):
    def make(httpd):
        (httpd.tenant / "d").mkdir()
        (httpd.tenant / "d/pic.jpg").symlink_to(httpd.store / "data.mdb")
        (httpd.tenant / "d/.htaccess").write_text(text)
        return path
    return make


WAYS = [
    pytest.param(symlink, "", id="symbolic link"),
    pytest.param(hard_link, "", id="hard link"),
    pytest.param(link_of_link, "", id="link to a link"),
    pytest.param(directory, "", id="link to the directory"),
    pytest.param(htaccess("Options -SymLinksIfOwnerMatch +FollowSymLinks\n"),
                 "<Directory {root}/tenant>\nOptions SymLinksIfOwnerMatch\n</Directory>", id=".htaccess that follows"),
    pytest.param(htaccess("RewriteEngine On\nRewriteRule ^nice$ pic.jpg\n", "/nice"), "", id="rewritten by .htaccess"),
    pytest.param(htaccess("RewriteEngine On\nRewriteRule ^nice$ /pic.jpg [END]\n", "/nice"), "", id="rewritten, END"),
    pytest.param(htaccess("SetOutputFilter DEFLATE\n"), "", id="compressed"),
    pytest.param(htaccess("Options +Includes\nSetOutputFilter INCLUDES\n"), "", id="parsed for includes"),
    pytest.param(htaccess("SetHandler default-handler\nForceType image/jpeg\n"), "", id="another handler"),
    pytest.param(htaccess("Action leak /plain.txt virtual\n<Files pic.jpg>\nSetHandler leak\n</Files>\n"), "", id="an Action's program"),
    pytest.param(htaccess("<Files pic.jpg>\nRequire all granted\n</Files>\n"), "", id="access for all"),
    pytest.param(htaccess("", "/pic.jpg/more?x=y"), "", id="path behind the file"),
    pytest.param(below("DirectoryIndex pic.jpg\n"), "", id="index of a directory"),
    pytest.param(below("FallbackResource /d/pic.jpg\n", "/d/nothing"), "", id="fallback"),
    pytest.param(lambda httpd: "/alias", "Alias /alias {store}/data.mdb\n<Directory {store}>\nRequire all granted\n"
                 "</Directory>", id="Alias"),
    pytest.param(lambda httpd: "/alias/data.mdb", "AliasMatch ^/alias/(.*) {store}/$1\n<Directory {store}>\n"
                 "Require all granted\n</Directory>", id="AliasMatch"),
    pytest.param(lambda httpd: "/rewritten", "RewriteEngine On\nRewriteRule ^/rewritten$ {store}/data.mdb\n"
                 "<Directory {store}>\nRequire all granted\n</Directory>", id="rewritten by the host"),
]


@pytest.mark.parametrize("make, extra", WAYS)
def test_ways_to_the_store(fenced, make, extra):
    httpd = fenced(extra)
    path = make(httpd)
    assert_fenced(httpd, ask(httpd, path))


@pytest.mark.parametrize("mpm", MPMS)
def test_methods(fenced, mpm):
    """Not its size by HEAD, no part of it, on connections of HTTP/2 too; and the host of the payments is no other."""
    httpd = fenced(mpm=mpm)
    path = symlink(httpd)
    size = str((httpd.store / "data.mdb").stat().st_size)
    for method in "HEAD", "GET", "POST", "OPTIONS", "PROPFIND", "X-ANY":
        answer = ask(httpd, path, method)
        assert answer.status in (403, 405), (method, answer)
        assert answer.header("content-length") != size and answer.header("last-modified") is None
    assert_fenced(httpd, ask(httpd, path, headers={"Range": "bytes=0-99,4096-8191"}))
    if "http2" in httpd.modules:
        for name, want in ((path, "2 403"), ("/plain.txt", "2 200")):
            done = subprocess.run(["curl", "-sS", "--http2-prior-knowledge", "--max-time", "60", "-H", "Host: tenant.example",
                                   "-o", "/dev/null", "-w", "%{http_version} %{http_code}",
                                   f"http://127.0.0.1:{httpd.port}{name}"],
                                  capture_output=True, text=True, check=False)
            assert done.stdout == want, done
    (httpd.docroot / "pic.jpg").symlink_to(httpd.store / "data.mdb")
    assert_fenced(httpd, httpd.request("GET", "/pic.jpg"))


def test_lock_directory_and_key(fenced):
    httpd = fenced("<Directory {root}/tenant>\nOptions FollowSymLinks Indexes\n</Directory>")
    assert_fenced(httpd, ask(httpd, symlink(httpd, "lock.mdb", "lock")), "lock.mdb")
    (httpd.tenant / "all").symlink_to(httpd.store)
    assert_fenced(httpd, ask(httpd, "/all/"), "")
    assert (httpd.root / "store.key").exists()
    (httpd.tenant / "key").symlink_to(httpd.root / "store.key")
    assert_fenced(httpd, ask(httpd, "/key"), "store.key")
    listing = ask(httpd, "/")
    assert listing.status == 200 and b"plain.txt" in listing.body
    assert not re.search(rb'href="(lock|all|key)', listing.body), "a listing names none of them"


def test_secrets_of_directives(server):
    """What directives name by file: is judged by device and inode as the parent has found it, whoever may read it."""
    httpd = server(start=False, threads=ONE_CHILD, modules=MODULES)
    secrets = httpd.root / "secrets"
    secrets.mkdir()
    for name, text in (("relay.key", "sk_live_abcdefgh"), ("mail", "user\npassword\n")):
        (secrets / name).write_text(text)
        (secrets / name).chmod(0o600)
    httpd.host_extra = ("PaymentsAccount shop\nPaymentsRefundSync off\n"
                        f"PaymentsAcquirer live relay https://127.0.0.1:9 key=file:{secrets}/relay.key\n")
    configure(httpd)
    httpd.extra += (f"PaymentsMailRelay smtp://127.0.0.1:9 {secrets}/mail\nPaymentsMailFrom a@shop.example\n")
    httpd.expect_log("PAY00302|PAY00383")
    httpd.start()
    for name in "relay.key", "mail":
        os.link(secrets / name, httpd.tenant / name)
        secrets.chmod(0o700)  # a child that runs as another user cannot look there
        answer = ask(httpd, f"/{name}")
        assert answer.status == 403 and b"sk_live" not in answer.body and b"password" not in answer.body
        httpd.expect_log(f"PAY00660: {secrets}/{name} of")
        assert f"PAY00660: {secrets}/{name} of" in httpd.log_text()


def test_included(fenced):
    """mod_include, by path and by file, shows neither content nor size; the rest of the page is there."""
    httpd = fenced("<Directory {root}/tenant>\nOptions FollowSymLinks Includes\nAddOutputFilter INCLUDES .shtml\n</Directory>")
    path = symlink(httpd)
    for number, directive in enumerate([f'include virtual="{path}"', 'include file="pic.jpg"', 'fsize file="pic.jpg"',
                                        f'flastmod virtual="{path}"']):
        (httpd.tenant / f"{number}.shtml").write_text(f"before <!--#{directive} --> behind")
        httpd.expect_log(r"\[include:error\].* unable to include |AH02670|AH01339")
        answer = ask(httpd, f"/{number}.shtml")
        assert re.fullmatch(rb"before \[an error occurred[^]]*\] behind", answer.body), answer
        assert_fenced(httpd, answer, status=200)


@pytest.mark.parametrize("path, status", [("/missing", 404), ("/private", 403)])
def test_error_document(fenced, path, status):
    httpd = fenced("<Location /private>\nRequire all denied\n</Location>")
    symlink(httpd)
    (httpd.tenant / ".htaccess").write_text("ErrorDocument 404 /pic.jpg\nErrorDocument 403 /pic.jpg\n")
    httpd.expect_log("AH01630")
    assert_fenced(httpd, ask(httpd, path), status=status)


@pytest.mark.parametrize("path", ["/pic", "/map.var"])
def test_negotiated(fenced, path):
    httpd = fenced("<Directory {root}/tenant>\nOptions FollowSymLinks MultiViews\nAddType image/jpeg .jpg\n"
                   "AddHandler type-map .var\n</Directory>")
    symlink(httpd)
    (httpd.tenant / "map.var").write_text("URI: map\n\nURI: pic.jpg\nContent-type: image/jpeg\n")
    httpd.expect_log("AH00687|AH00690")  # no variant is left
    answer = ask(httpd, path)
    assert answer.status in (403, 404, 406)
    assert_fenced(httpd, answer, status=answer.status)


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "COPY", "MOVE", "PROPPATCH", "LOCK"])
def test_dav(fenced, method):
    """What writes through a link, or makes a copy that is another file, is refused as reading is."""
    httpd = fenced("<Directory {root}/tenant>\nDav On\n</Directory>")
    httpd.tenant.chmod(0o777)
    path = symlink(httpd)
    before = (httpd.store / "data.mdb").stat().st_ino
    answer = ask(httpd, path, method, body=b"x" * 100, headers={
        "Destination": f"http://tenant.example:{httpd.port}/copy", "Content-Type": "text/xml"})
    assert not (httpd.tenant / "copy").exists() and (httpd.tenant / "pic.jpg").is_symlink()
    assert (httpd.store / "data.mdb").stat().st_ino == before
    assert_fenced(httpd, answer)


# --- files that httpd looked up as others, or never ---

def test_file_that_a_handler_opens(fenced):
    """A script of mod_lua hands on a file by its path: httpd knows it as an opened file only."""
    httpd = fenced("<Directory {root}/tenant>\nAddHandler lua-script .lua\n</Directory>")
    for name, path in (("leak", httpd.store / "data.mdb"), ("fine", httpd.tenant / "plain.txt")):
        (httpd.tenant / f"{name}.lua").write_text(f'function handle(r) r:sendfile("{path}") return apache2.OK end\n')
    assert ask(httpd, "/fine.lua").body == b"plain"
    assert_fenced(httpd, ask(httpd, "/leak.lua"))
    (httpd.tenant / ".htaccess").write_text("SetOutputFilter DEFLATE\n")
    answer = ask(httpd, "/leak.lua", headers={"Accept-Encoding": "gzip"})
    assert answer.status == 403 and len(answer.body) < 1000


def test_sendfile_header(fenced):
    """mod_xsendfile puts a file in place of an answer, behind the filters that the first look is ahead of."""
    httpd = fenced("XSendFile On\nXSendFilePath {store}\nXSendFilePath {root}/tenant")
    (httpd.tenant / "d").mkdir()
    (httpd.tenant / "e").mkdir()
    (httpd.tenant / "d/page").write_text("page")
    (httpd.tenant / "e/page").write_text("page")
    (httpd.tenant / "d/.htaccess").write_text(f"Header set X-SENDFILE {httpd.store}/data.mdb\n")
    (httpd.tenant / "e/.htaccess").write_text(f"Header set X-SENDFILE {httpd.tenant}/plain.txt\n")
    (httpd.tenant / "d/x.lua").write_text("")
    lua = 'function handle(r) r.headers_out["X-SENDFILE"] = "{}" r:puts("page") return apache2.OK end\n'
    (httpd.tenant / ".htaccess").write_text("AddHandler lua-script .lua\n")
    (httpd.tenant / "leak.lua").write_text(lua.format(httpd.store / "data.mdb"))
    (httpd.tenant / "fine.lua").write_text(lua.format(httpd.tenant / "plain.txt"))
    assert ask(httpd, "/fine.lua").body == b"plain"
    assert_fenced(httpd, ask(httpd, "/leak.lua"))


def exchange(one, two):
    """Swaps two names in one step: renameat2(RENAME_EXCHANGE)."""
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.renameat2(-100, os.fsencode(one), -100, os.fsencode(two), 2) == 0, os.strerror(ctypes.get_errno())


def test_link_that_changes_meanwhile(fenced):
    """Between httpd's look and its open a link becomes another: what was opened is what is judged."""
    httpd = fenced()
    path = symlink(httpd, name="x")
    (httpd.tenant / "y").symlink_to("plain.txt")
    ended = threading.Event()

    def swap():
        while not ended.is_set():
            exchange(httpd.tenant / "x", httpd.tenant / "y")

    swapping = beside(swap)
    try:
        with contextlib.closing(httpd.connect()) as connection:
            for _ in range(600):
                answer = ask(httpd, path, connection=connection)
                assert answer.status in (200, 403) and PAYER not in answer.body
                assert answer.status == 403 or answer.body in (b"plain", b""), len(answer.body)
    finally:
        ended.set()
        swapping.result(WAIT_S)
    httpd.expect_log("PAY00660")


# --- the table ---

@pytest.mark.plain("root's server has a user of its own")
def test_store_that_is_replaced(fenced):
    """A copy in the place of the store is known at its first request, and the one that was taken away is forgotten."""
    httpd = fenced()
    path = symlink(httpd)
    assert_fenced(httpd, ask(httpd, path))
    httpd.ctl("store", "backup", str(httpd.root / "copy"))
    if ROOT:
        for one in (httpd.root / "copy", *(httpd.root / "copy").iterdir()):
            shutil.chown(one, "www-data", "www-data")
    exchange(httpd.root / "copy", httpd.store)
    httpd.expect_log("PAY00114|PAY00700")  # it was replaced, by a copy
    answer = ask(httpd, path)
    assert answer.status == 403 and PAYER not in answer.body
    wait_for(lambda: httpd.fenced_shop.charge().status == 200, "the copy to be taken")
    assert_fenced(httpd, ask(httpd, path))
    shutil.rmtree(httpd.root / "copy")


def test_store_that_is_made_later(fenced):
    """One that could not be opened at start, and one that was not there."""
    httpd = fenced()
    path = symlink(httpd)
    httpd.expect_log(f"{STORE_GONE}|AH00037")
    os.rename(httpd.store, httpd.root / "away")
    assert ask(httpd, path).status in (403, 404)
    os.rename(httpd.root / "away", httpd.store)
    answer = ask(httpd, path)
    assert answer.status == 403 and PAYER not in answer.body
    httpd.expect_log("PAY00660")
    assert ask(httpd, "/plain.txt").body == b"plain"


def test_flood_is_one_line(fenced):
    httpd = fenced()
    path = symlink(httpd)
    with contextlib.closing(httpd.connect()) as connection:
        for _ in range(300):
            assert ask(httpd, path, connection=connection).status == 403
    assert httpd.log_text().count("PAY00660") == 1, "a file and a minute, in the only child"
    lock = symlink(httpd, "lock.mdb", "lock")
    assert ask(httpd, lock).status == 403
    assert httpd.log_text().count("PAY00660") == 2
    httpd.expect_log("PAY00660")


def test_what_is_asked_for_stands_escaped_in_the_log(fenced):
    httpd = fenced()
    name = "pic\n[payments:crit] forged\x1b[2J"
    (httpd.tenant / name).symlink_to(httpd.store / "data.mdb")
    assert ask(httpd, "/pic%0A%5Bpayments%3Acrit%5D%20forged%1B%5B2J").status == 403
    [line] = [line for line in httpd.log_text().splitlines() if "PAY00660" in line]
    assert "forged" in line and "\x1b" not in line
    assert f"pic\\n[payments:crit] forged\\x1b[2J\" of host tenant.example leads there by way of {httpd.tenant}/pic" in line
    httpd.expect_log("PAY00660")


def test_without_stores_nothing_is_looked_at(server):
    """Where no host takes payments a file of any name is served, as before."""
    httpd = server(start=False, engine=False)
    (httpd.root / "store").mkdir()
    (httpd.root / "store/data.mdb").write_text("no store")
    (httpd.docroot / "pic.jpg").symlink_to(httpd.root / "store/data.mdb")
    httpd.start()
    assert httpd.request("GET", "/pic.jpg").body == b"no store"


# --- LMDB's locks, which a process loses when it closes any descriptor of the lock file ---

def is_locked(httpd, byte):
    """Whether somebody else's lock is on that byte, as an opener of the store would ask."""
    with open(httpd.store / "lock.mdb", "r+b") as file:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, byte)
        except OSError:
            return True
    return False


def by_handler(httpd):
    (httpd.tenant / "leak.lua").write_text(f'function handle(r) r:sendfile("{httpd.store}/lock.mdb") return apache2.OK end\n')
    (httpd.tenant / ".htaccess").write_text("AddHandler lua-script .lua\n")
    assert ask(httpd, "/leak.lua").status == 403
    httpd.expect_log("PAY00660")


def by_password_file(httpd):
    """What httpd reads as a file of passwords is no request's file: nobody is asked."""
    (httpd.tenant / ".htaccess").write_text(f"AuthType Basic\nAuthName x\nAuthUserFile {httpd.store}/lock.mdb\n"
                                            "Require valid-user\n")
    httpd.expect_log("AH01617|AH01618")
    assert ask(httpd, "/plain.txt", headers=basic("ada")).status == 401


@pytest.mark.parametrize("attack", [by_handler, by_password_file])
def test_locks_outlive_a_closed_descriptor(fenced, attack):
    """No opener takes the store for one that nobody uses, and the next calls make the process's slots safe again."""
    httpd = fenced()
    [pid] = httpd.pids()
    assert is_locked(httpd, 0) and is_locked(httpd, pid)
    attack(httpd)
    assert is_locked(httpd, 0)

    def is_claimed_by_a_charge():
        assert httpd.fenced_shop.charge().status == 200
        return is_locked(httpd, pid)

    wait_for(is_claimed_by_a_charge, "a charge to take the lock again")
    assert is_locked(httpd, 0)


def test_file_is_not_opened_for_its_type(fenced):
    """mod_mime_magic would open and close it before a handler is asked."""
    httpd = fenced("MimeMagicFile {root}/magic", modules=("mime_magic",))
    path = symlink(httpd, "lock.mdb", "lock")
    [pid] = httpd.pids()
    assert_fenced(httpd, ask(httpd, path), "lock.mdb")
    assert ask(httpd, path).status == 403
    assert is_locked(httpd, 0) and is_locked(httpd, pid)
