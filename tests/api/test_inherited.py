# SPDX-License-Identifier: Apache-2.0
"""No program that the server starts has a descriptor of ours, whoever it runs as.

Each way in which httpd starts programs starts one that lists what it has open, while the process that starts it has the
store open, waits for a receiver's answer, and has libcurl at work. httpd itself leaves nothing open but the standard
three, so that a list with anything else in it is a failure.
"""

import collections
import contextlib
import json
import os
import pathlib
import signal
import subprocess

import pytest

from harness import STORE_GONE, Httpd, httpd_binary, reference, wait_for
from receiver import INSECURE, Receiver

LIST = """#!/usr/bin/python3
import json, os, sys
fds = {}
for fd in os.listdir("/proc/self/fd"):
    try:
        fds[fd] = os.readlink("/proc/self/fd/" + fd)
    except OSError:
        pass  # the listing's own
out = json.dumps({"parent": os.getppid(), "uid": os.getuid(),
                  "fds": {fd: target for fd, target in fds.items() if int(fd) > 2}})
"""
# One process that does it all: what answers requests, and the watchdogs.
ALONE = {"prefork": "StartServers 1\nMinSpareServers 1\nMaxSpareServers 1\nServerLimit 1\nMaxRequestWorkers 1",
         "event": "StartServers 1\nServerLimit 1\nThreadsPerChild 8\nThreadLimit 8\nMaxRequestWorkers 8\n"
                  "MinSpareThreads 1\nMaxSpareThreads 8"}


def program(path, text):
    """A program that lists what it has open as `out`, and does `text`."""
    path.parent.mkdir(exist_ok=True)
    path.write_text(LIST + text)
    path.chmod(0o755)
    return path


def cgi(path):
    return program(path, 'print("Content-Type: application/json\\n\\n" + out)\n')


def serving(folder, url="/list/"):
    return (f"ScriptAlias {url} {folder}/\n<Directory {folder}>\nOptions ExecCGI\nRequire all granted\n</Directory>\n")


def kinds(pid):
    """What a process has open: how many of a store's files, connections, and the like."""
    names = []
    for fd in os.listdir(f"/proc/{pid}/fd"):
        with contextlib.suppress(OSError):
            names.append(os.readlink(f"/proc/{pid}/fd/{fd}"))
    return collections.Counter(os.path.basename(name) if name.startswith("/") else name.split(":")[0] for name in names)


@contextlib.contextmanager
def busy(httpd):
    """The one child has the store open, and a webhook under way."""
    httpd.expect_log("AH00161")  # its one place is taken, as is meant
    with Receiver() as receiver:
        receiver.default = "hang"
        shop = httpd.shop()
        shop.webhook(receiver.url())
        assert shop.charge(reference=reference()).status == 200
        receiver.wait(1)
        child, = httpd.pids()
        has = kinds(child)
        assert has["data.mdb"] == 2 and has["lock.mdb"] >= 1, has
        yield child


def listed(response, child=None):
    assert response.status == 200, response
    said = response.json
    assert child is None or said["parent"] == child, "the program was started by another process"
    assert said["fds"] == {}
    return said


def test_cgi(server):
    """mod_cgi under prefork: the process that has the store open forks."""
    httpd = server(start=False, mpm="prefork", modules=["cgi"], extra=INSECURE, threads=ALONE["prefork"])
    cgi(httpd.root / "programs/cgi")
    httpd.host_extra = serving(httpd.root / "programs")
    httpd.start()
    with busy(httpd) as child:
        for _ in range(3):
            listed(httpd.request("GET", "/list/cgi"), child)


def test_cgi_of_any_child(server):
    """Whichever child it is that answers, and also once a request has opened the store again."""
    httpd = server(start=False, mpm="prefork", modules=["cgi"])
    cgi(httpd.root / "programs/cgi")
    httpd.host_extra = serving(httpd.root / "programs")
    httpd.start()
    parents = set()
    wait_for(lambda: parents.add(listed(httpd.request("GET", "/list/cgi"))["parent"]) or len(parents) > 1, "two children")
    httpd.expect_log(STORE_GONE)  # the store is replaced while it is open, and gone
    shop, aside = httpd.shop(), httpd.root / "aside"
    httpd.store.rename(aside)
    wait_for(lambda: shop.charge().status != 200, "the store to be missed")
    aside.rename(httpd.store)
    wait_for(lambda: shop.charge().status == 200, "the store to be opened again")
    for _ in range(8):
        listed(httpd.request("GET", "/list/cgi"))


def test_lua(server):
    """mod_lua's io.popen under event: another thread of a process at work starts a program."""
    httpd = server(start=False, mpm="event", modules=["lua"], extra=INSECURE, threads=ALONE["event"])
    path = program(httpd.root / "programs/list", "print(out)\n")
    script = httpd.root / "programs/list.lua"
    script.write_text(f"""function handle(r)
    r.content_type = "application/json"
    local pipe = io.popen("exec {path}")
    r:puts(pipe:read("*a"))
    pipe:close()
    return apache2.OK
end
""")
    httpd.host_extra = f"LuaMapHandler /list/lua {script} handle\n"
    httpd.start()
    with busy(httpd) as child:
        for _ in range(3):
            listed(httpd.request("GET", "/list/lua"), child)


def said_in(path, count):
    """The lists that programs have added to a file, once there are so many."""
    wait_for(lambda: path.exists() and path.read_text().count("\n") >= count, f"{count} lists in {path}")
    return [json.loads(line) for line in path.read_text().splitlines()]


def log_program(httpd):
    """Its path, and the file that it adds its list to."""
    out = httpd.root / "listed.txt"
    return program(httpd.root / "programs/log",
                   f'open("{out}", "a").write(out[:-1] + ", \\"pid\\": %d}}\\n" % os.getpid())\n'
                   "sys.stdin.buffer.read()\n"), out


@pytest.mark.parametrize("mpm", ["event", "prefork"])
def test_piped_log(server, mpm):
    """The parent starts it before there are children, at each restart, and again when it has died."""
    httpd = server(start=False, mpm=mpm)
    path, out = log_program(httpd)
    httpd.extra = f'CustomLog "|{path}" common\n'
    httpd.start()
    assert httpd.shop().charge().status == 200
    count = len(said_in(out, 1))
    httpd.graceful()
    said = said_in(out, count + 1)
    httpd.expect_log("AH00106|AH00104")  # it failed unexpectedly, and is started again
    httpd.expect_log("AH00167|AH00488")  # httpd does not know the ones of before the restart any more
    for one in said:
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            if str(path) in pathlib.Path(f"/proc/{one['pid']}/cmdline").read_text():
                os.kill(one["pid"], signal.SIGKILL)
    for one in said_in(out, len(said) + 1):
        assert one["fds"] == {}, one


def test_program_of_a_secret(server):
    """The parent runs it at start and at each restart."""
    httpd = server(start=False, mpm="event")
    out = httpd.root / "listed.txt"
    path = program(httpd.root / "programs/key",
                   f'open("{out}", "a").write(out + "\\n")\nprint("pay_livesk_" + "0" * 40)\n')
    httpd.host_extra = (f"PaymentsAccount shop\nPaymentsRefundSync off\n"
                        f"PaymentsAcquirer live relay https://127.0.0.1:9 key=exec:{path}\n")
    httpd.expect_log("PAY00302")  # the account does not exist yet
    httpd.start()
    httpd.graceful()
    for one in said_in(out, 2):
        assert one["fds"] == {}, one


# --- suexec: it lets nothing run that is not below a directory which it was built with ---

def suexec():
    """(its program, its document root, its log) as httpd and it were built."""
    said = subprocess.run([httpd_binary(), "-V"], capture_output=True, text=True, check=False).stdout
    binary = said.split('SUEXEC_BIN="')[1].split('"')[0]
    said = subprocess.run([binary, "-V"], capture_output=True, text=True, check=True).stderr
    return binary, *(pathlib.Path(said.split(f'{name}="')[1].split('"')[0]) for name in ("AP_DOC_ROOT", "AP_LOG_EXEC"))


class Caged(Httpd):
    """A server in a mount namespace of its own, whose /var is a directory of the test's."""

    def command(self, *args):
        inside = 'mount --bind "$0" /var && exec "$@"'
        return ["unshare", "--mount", "sh", "-c", inside, str(self.root / "var"), *super().command(*args)]


@pytest.mark.root
def test_suexec():
    """A tenant's CGI as the tenant's own user: what keeps tenants apart where one server serves them all."""
    _, docroot, log = suexec()
    assert docroot.is_relative_to("/var") and log.is_relative_to("/var")
    httpd = Caged(mpm="prefork", modules=["suexec", "cgi"], extra=INSECURE, threads=ALONE["prefork"])
    try:
        outside = httpd.root / docroot.relative_to("/") / "tenant"
        outside.mkdir(parents=True)
        (httpd.root / log.relative_to("/")).parent.mkdir(parents=True)
        cgi(outside / "cgi")
        for path in (outside, outside / "cgi"):
            os.chown(path, 65534, 65534)
        httpd.host_extra = serving(docroot / "tenant") + "SuexecUserGroup nobody nogroup\n"
        httpd.start()
        with busy(httpd) as child:
            said = listed(httpd.request("GET", "/list/cgi"), child)
            assert said["uid"] == 65534
    finally:
        httpd.close()
