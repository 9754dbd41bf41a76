# SPDX-License-Identifier: Apache-2.0
"""Root opens nothing by its name that the server's user owns, and gives away nothing but what is its own.

The server's user stands for whoever runs as it: a PHP script, a CGI. It owns the stores' directories, so that it can
put anything in the place of their files at any moment.
"""

import contextlib
import os
import pathlib
import pwd
import re
import signal
import subprocess

import pytest

from conftest import size
from harness import Httpd, reference, run_ctl, wait_for

SWAP = pathlib.Path(__file__).with_name("swap.py")
RELOADS = size(20, 200)
TEXT = b"root:x:0:0:root:/root:/bin/bash\n" * 200
pytestmark = pytest.mark.root


def www_data():
    user = pwd.getpwnam("www-data")
    return user.pw_uid, user.pw_gid


def owner(path):
    info = os.lstat(path)
    return info.st_uid, info.st_gid


def answers(httpd, shop):
    wait_for(lambda: shop.charge().status == 200, "the store to serve again", 90)


# --- links ---

@contextlib.contextmanager
def swapping(store, *targets):
    """What lays links, as the server's user; gives a list that holds in the end how often it did."""
    with open(SWAP, "rb") as script:
        text = script.read().decode()
    laid = []
    with subprocess.Popen(["setpriv", "--reuid=www-data", "--regid=www-data", "--clear-groups", "/usr/bin/python3", "-c",
                           text, str(store), *map(str, targets)],
                          stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "ready\n"
        try:
            yield laid
        finally:
            process.send_signal(signal.SIGTERM)
        laid.append(int(process.stdout.read()))


def test_links_in_the_place_of_its_files(server):
    """In the moment between the look at a file and its opening there is a link to root's file, or to none."""
    httpd = server()
    shop = httpd.shop()
    roots = httpd.root / "roots"
    roots.mkdir()
    (roots / "passwd").write_bytes(TEXT)
    (roots / "shadow").write_bytes(TEXT)
    (roots / "shadow").chmod(0o600)
    targets = [("passwd", "shadow"), ("none", "shadow"), ("shadow", "passwd"), ("passwd", "none")]
    before = {path: os.lstat(path) for path in roots.iterdir()}
    # The store is out of service again and again, which its owner can always have.
    httpd.expect_log("PAY00100|PAY00301|PAY00303|PAY00307|PAY00352|PAY00356|PAY00504")
    laid = 0
    for first in range(len(targets)):
        with swapping(httpd.store, *(roots / name for name in targets[first])) as count:
            for _ in range(RELOADS // len(targets)):
                httpd.graceful()
        laid += count[0]
        assert {path.name for path in roots.iterdir()} == {"passwd", "shadow"}, "root made a file that a link named"
        for path, info in before.items():
            assert path.read_bytes() == TEXT, "root wrote to a file that a link named"
            assert os.lstat(path)[:7] == info[:7], "root changed a file that a link named"  # but for times
    assert laid >= RELOADS, "the links were hardly ever there"
    answers(httpd, shop)


# --- what is opened ---

class Traced(Httpd):
    """A server each process of which strace(1) follows; `trace` names the beginnings of its files."""

    def command(self, *args):
        calls = "open,openat,openat2,creat,setuid,setgid,setgroups,setresuid,fork,vfork,clone,clone3"
        return ["strace", "-D", "-f", "-ff", "--seccomp-bpf", "-y", "-q", "-s", "4096", "-e", f"trace={calls}", "-o",
                str(self.root / "trace"), *super().command(*args)]

    def lines(self, pid):
        return (self.root / f"trace.{pid}").read_text(errors="replace").splitlines()

    def stop(self):
        super().stop()
        wait_for(lambda: all(path.read_bytes().rstrip().endswith(b"+++") for path in self.root.glob("trace.*")),
                 "strace to tell of every process's end")


def opened(httpd, pid, uid):
    """[(uid, path)] of what the process, of that user, and those that it started opened or tried to."""
    found, calls = [], []
    for line in httpd.lines(pid):
        call = re.match(r"(\w+)\((.*)\) += (-?\d+)(.*)", line)
        if not call:
            continue
        name, words, result, said = call.groups()
        calls.append(name)
        if name in ("setuid", "setresuid") and result == "0":
            assert {"setgid", "setgroups"} <= set(calls), "it keeps groups of root's"
            uid = int(re.match(r"\d+", words)[0])
        elif name in ("fork", "vfork", "clone", "clone3") and int(result) > 0:
            found += opened(httpd, result, uid)
        elif name.startswith(("open", "creat")):
            folder = re.match(r"(?:AT_FDCWD|\d+)<(.*?)>", words)
            path = re.search(r'"(.*?)"', words)[1]
            found.append((uid, os.path.normpath(os.path.join(folder[1] if folder else "/", path))))
            if "<" in said:
                found.append((uid, said.partition("<")[2].rpartition(">")[0]))  # whatever link led there
    return found


def test_root_opens_no_file_of_a_store():
    """At the start that makes the store, at that of one which is there, and at graceful reloads."""
    httpd = Traced()
    try:
        older = httpd.root / "older"
        run_ctl(older, "account", "create", "old")  # as root's, which the start hands over
        httpd.expect_log("PAY00302")
        httpd.extra = f"""<VirtualHost 127.0.0.1:@PORT@>
ServerName older.example
PaymentsEngine On
PaymentsStore lmdb:{older}
</VirtualHost>
"""
        httpd.start()
        shop = httpd.shop()
        for _ in range(2):
            httpd.graceful()
            assert shop.charge(reference=reference()).status == 200
        assert owner(older) == owner(older / "data.mdb") == owner(httpd.store) == www_data()
        main = httpd.process.pid
        httpd.stop()
        found = opened(httpd, main, 0)
        for store in (older, httpd.store):
            inside = [(uid, path) for uid, path in found if path.startswith(f"{store}/")]
            assert {uid for uid, _ in inside} == {www_data()[0]}
            assert {"data.mdb", "lock.mdb"} <= {os.path.basename(path) for _, path in inside}
    finally:
        httpd.close()


# --- whose it is ---

@pytest.mark.parametrize("maker", ["mkdir", "paymentsctl"])
def test_what_root_has_made_is_handed_over(server, maker):
    """A directory or a store of root's in a directory of root's becomes the server's user's, as it always did."""
    httpd = server(start=False)
    if maker == "mkdir":
        httpd.store.mkdir(mode=0o755)
    else:
        httpd.ctl("account", "create", "early")
        assert owner(httpd.store / "data.mdb") == (0, 0)
    httpd.start()
    assert httpd.shop().charge().status == 200
    assert {owner(path) for path in (httpd.store, *httpd.store.iterdir())} == {www_data()}


def test_roots_file_in_a_directory_of_the_servers_user(server):
    """It may be anybody's file that was moved there: it stays root's, and the log says what to do."""
    httpd = server()
    shop = httpd.shop()
    for name in ("data.mdb", "lock.mdb"):
        os.chown(httpd.store / name, 0, 0)
    httpd.expect_log("PAY00303")
    httpd.stop()
    httpd.start()
    said = httpd.log_text()
    assert f"PAY00303: PaymentsStore lmdb:{httpd.store} cannot be used" in said
    assert f"(chown -R USER: {httpd.store})" in said
    assert {owner(path) for path in httpd.store.iterdir()} == {(0, 0)}
    assert shop.charge().status == 503
    subprocess.run(["chown", "-R", "www-data:", str(httpd.store)], check=True)
    answers(httpd, shop)


def test_a_directory_that_the_servers_user_can_move(server):
    """Where it can put links on the way to the store, root makes nothing: it makes the store itself."""
    httpd = server(start=False)
    theirs, roots = httpd.root / "theirs", httpd.root / "roots"
    for folder in (theirs, roots):
        folder.mkdir(mode=0o755)
    os.chown(theirs, *www_data())
    (theirs / "link").symlink_to(roots)
    httpd.store = theirs / "store"
    httpd.extra = f"""<VirtualHost 127.0.0.1:@PORT@>
ServerName link.example
PaymentsEngine On
PaymentsStore lmdb:{theirs}/link/store
</VirtualHost>
"""
    httpd.expect_log(f"(PAY00303|PAY00307).* lmdb:{theirs}/link/store")
    httpd.expect_log("PAY00350.*link/store|PAY00302|PAY00100.*link/store")
    httpd.start()
    assert httpd.shop().charge().status == 200
    assert owner(httpd.store) == www_data()
    assert not (roots / "store").exists(), "root made a directory where a link led it"
    assert "create it with mode 0700 for the server's user" in httpd.log_text()
