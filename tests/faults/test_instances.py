# SPDX-License-Identifier: Apache-2.0
"""A store that another PID namespace has open, or that lies where LMDB cannot keep it, is refused with a sentence."""

import contextlib
import os
import pathlib
import signal
import subprocess
import sys
import tempfile

import pytest

import fuse_stub
from conftest import size
from crowd import Good, all_are_stored, event_sizes
from harness import PAYMENTSCTL, Httpd, reference, run_ctl, wait_for
from hosts import is_503, other_host

NAMESPACE = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child", "--"]
FOREIGN = "is open in another PID namespace (container)"
ONE_CHILD = event_sizes(1, 64)


class Contained(Httpd):
    """A server in a PID namespace of its own, as in a container that shares the store's volume."""

    def command(self, *args):
        return [*NAMESPACE, *super().command(*args)]

    def stop(self):
        """unshare takes no notice of SIGTERM: it is for the httpd inside."""
        if self.process and self.process.poll() is None:
            for pid in self.pids():
                os.kill(pid, signal.SIGTERM)
            self.process.wait(20)


def restart(httpd):
    httpd.process = None
    return httpd.start()


def refused(shop, httpd):
    """What clients of `httpd` are told while another instance has the store."""
    is_503(httpd, "localhost", shop.secret)
    assert FOREIGN in httpd.log_text()


@pytest.mark.root
@pytest.mark.parametrize("first_kind, second_kind", size([(Httpd, Contained)], [(Httpd, Contained), (Contained, Httpd)]))
def test_two_instances_on_one_store(first_kind, second_kind):
    """The second is refused while the first is at work, which goes on; when it has ended, the second has the store."""
    with contextlib.ExitStack() as stack:
        first, second = first_kind(threads=ONE_CHILD), second_kind(threads=ONE_CHILD)
        for httpd in (first, second):
            httpd.expect_log("PAY00303|PAY00307|PAY00100|AH00484")
            stack.callback(httpd.close)
        first.start()
        beside = NAMESPACE if second_kind is Contained else []
        inside = ["nsenter", f"--target={first.pids()[0]}", "--pid", "--mount", "--"] if first_kind is Contained else []
        first.ctl = lambda *args, **kwargs: tool(inside, first.store, *args, **kwargs)
        shops = [first.shop() for _ in range(2)]
        second.store = first.store
        with Good(first, 8, shops) as good:
            good.wait_for_more(50)
            second.start()
            refused(shops[0], second)
            said = tool(beside, first.store, "account", "list", check=False)
            assert said.returncode != 0 and FOREIGN in said.stderr
            good.wait_for_more(200)
            done = good.finish()
            assert (good.refused, good.unanswered) == (0, 0), "the first instance was disturbed"
        ref = reference()
        assert shops[0].charge(reference=ref).status == 200
        all_are_stored(first, shops, done)

        first.stop()
        shops[0].httpd = second
        wait_for(lambda: shops[0].charge(reference=ref).status == 200, "the second instance to have the store")
        answer = shops[0].charge(reference=ref)
        assert answer.header("idempotent-replayed") == "true"
        restart(first)
        refused(shops[0], first)
        assert shops[0].charge().status == 200
        print(f"PAYMENTS_FAULTS: {sum(map(len, done))} charges of the first instance beside a refused one; then it was "
              "the other way round")


def tool(inside, store, *args, check=True):
    done = subprocess.run([*inside, PAYMENTSCTL, "-s", f"lmdb:{store}", *args], text=True, capture_output=True,
                          timeout=60, check=False)
    assert not check or done.returncode == 0, done.stderr
    return done


# --- file systems ---


def mount(*args):
    subprocess.run(["mount", *map(str, args)], check=True)


@contextlib.contextmanager
def file_systems():
    """Directories on a file system each: {name: path}."""
    top = pathlib.Path(tempfile.mkdtemp(prefix="mod_payments-"))
    top.chmod(0o755)
    mounted, children = [], []

    def place(name):
        path = top / name
        path.mkdir()
        mounted.append(path)
        return path

    try:
        layers = place("layers")  # a container's layer cannot be the upper one of another
        mount("-t", "tmpfs", "tmpfs", layers)
        for name in ("lower", "upper", "work"):
            (layers / name).mkdir()
        found = {"overlayfs": place("overlayfs"), "ramfs": place("ramfs"), "fuse": place("fuse")}
        mount("-t", "overlay", "overlay", "-o",
              f"lowerdir={layers}/lower,upperdir={layers}/upper,workdir={layers}/work", found["overlayfs"])
        mount("-t", "ramfs", "ramfs", found["ramfs"])
        children.append(subprocess.Popen([sys.executable, fuse_stub.__file__, str(found["fuse"])],
                                         stdout=subprocess.PIPE, text=True))
        assert children[0].stdout.readline().strip() == "mounted"
        yield found
    finally:
        for path in reversed(mounted):
            subprocess.run(["umount", "--lazy", str(path)], check=False, stderr=subprocess.DEVNULL)
        for child in children:
            child.kill()
            child.wait()
        for path in mounted:
            path.rmdir()
        for key in top.glob("*.key"):  # each store's, beside it
            key.unlink()
        top.rmdir()


SENTENCES = {
    "overlayfs": "is on overlayfs, a container's own layers: it would be lost with the container",
    "ramfs": "is on a file system of type 0x858458f6, which is not known to be local",
    "fuse": "is on a file system of type 0x65735546, which is not known to be local",
}


@pytest.mark.root
def test_file_systems_that_are_refused(server):
    """503 for the virtual hosts of such stores, a sentence for each, and all else goes on."""
    with file_systems() as places:
        stores = {name: place if name == "fuse" else place / "store" for name, place in places.items()}
        hosts = "".join(other_host(name, store) for name, store in stores.items())
        httpd = server(start=False, threads=ONE_CHILD, extra=hosts, env={"PAYMENTS_OVERLAYFS": ""})
        httpd.expect_log("PAY00303|PAY00100|AH00484")
        httpd.start()
        shop = httpd.shop()
        for name, sentence in SENTENCES.items():
            is_503(httpd, name, shop.secret)
            assert f"store {stores[name]} {sentence}" in httpd.log_text(), name
            said = run_ctl(stores[name], "account", "create", "shop", check=False, env={"PATH": os.environ["PATH"]})
            assert said.returncode != 0 and sentence in said.stderr, (name, said.stderr)
        assert shop.charge().status == 200
        run_ctl(stores["overlayfs"], "account", "create", "shop")  # where the environment says that it is a test
        httpd.stop()
        print(f"PAYMENTS_FAULTS: stores on {', '.join(SENTENCES)} refused, each with its sentence")
