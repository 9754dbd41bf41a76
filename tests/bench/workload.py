# SPDX-License-Identifier: Apache-2.0
"""What benchmarks drive: private servers as in production, wrk, charges, refunds of history, memory."""

import contextlib
import datetime
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

from bench import SECONDS, check, rounds
from harness import BUILD, DEBIAN_CONNECTIONS, DEBIAN_SIZES, Httpd, wait_for

HERE = pathlib.Path(__file__).resolve().parent
CLIENTS = int(os.environ.get("BENCH_CLIENTS", "64"))
CHARGE_PATH = "/api/v1/tokenized-card-charge"
CHARGE_LUA = HERE / "charge.lua"
LIBRARIES = BUILD / "tests/bench"
# Beside what Debian enables by itself, only what the module needs (watchdog); no status page, for
# its counting costs every request something, and nothing that waits for a protocol of its own.
WITHOUT = ("status", "info", "http2", "include", "negotiation", "rewrite", "headers")
# What Debian's package apache2 enables by itself and a private server would do without, and its own sizes.
INSTALLED_MODULES = ("access_compat", "autoindex", "filter", "negotiation", "status")
# Two children with many threads: what waits for the disk in one of them is committed together.
EVENT_512 = ("StartServers 2\nServerLimit 2\nThreadsPerChild 256\nThreadLimit 256\nMaxRequestWorkers 512\n"
             "MinSpareThreads 1\nMaxSpareThreads 512")
EVENT_2048 = ("StartServers 2\nServerLimit 2\nThreadsPerChild 1024\nThreadLimit 1024\nMaxRequestWorkers 2048\n"
              "MinSpareThreads 1\nMaxSpareThreads 2048")
PREFORK_1024 = ("StartServers 96\nServerLimit 1024\nMaxRequestWorkers 1024\nMinSpareServers 1\n"
                "MaxSpareServers 1024\nMaxConnectionsPerChild 0")
WARM_UP_S = 1
SETTLE_S = 0.1  # what a run left under way is written in this time, or is seen in the next look
WRK_TIMEOUT_S = 60  # no answer is given up before this: a slow peer is measured, not cut off
PRIVATE = re.compile(r"Private_(?:Clean|Dirty):\s+(\d+) kB")


# --- servers ---

class Server(Httpd):
    """An httpd as in production: the log level of its manual, no .htaccess, nothing loaded to watch it."""

    def __init__(self, sizes=EVENT_512, mpm="event", extra="", engine=True, payments=True, directives=""):
        without = WITHOUT if payments else (*WITHOUT, "payments", "watchdog")
        super().__init__(mpm=mpm, threads=sizes, engine=engine and payments, without=without, host_extra=directives)
        self.installed = False
        self.extra = f"LogLevel warn\n<Directory {self.docroot}>\nAllowOverride None\n</Directory>\n{extra}"

    def restart(self):
        self.stop()
        return self.start()

    def install(self):
        """The same server and store as Debian would run them: its workers, connections and modules."""
        self.installed = True
        self.threads = DEBIAN_SIZES[self.mpm]
        self.modules += [name for name in INSTALLED_MODULES if name not in self.modules]
        self.extra += f"\n{DEBIAN_CONNECTIONS}\n"
        return self.restart()

    def stat(self):
        """The store's counts of rows."""
        return json.loads(self.ctl("store", "stat", "--json").stdout)


@contextlib.contextmanager
def serving(*servers):
    """Starts the servers; at the end each is stopped, and must have logged nothing that is loud."""
    try:
        for one in servers:
            one.start()
        yield servers[0] if len(servers) == 1 else servers
        for one in servers:
            one.close()
    except BaseException:
        for line in (line for one in servers for line in one.unexpected()[-5:]):
            print("  " + line, file=sys.stderr)
        raise
    finally:
        for one in servers:
            one.stop()
            shutil.rmtree(one.root, ignore_errors=True)  # millions of charges, perhaps


# --- load ---

SIZES = {"B": 1, "KB": 2**10, "MB": 2**20, "GB": 2**30, "TB": 2**40}
UNITS_MS = {"us": 0.001, "ms": 1, "s": 1000, "m": 60000, "h": 3600000}


def milliseconds(text):
    number, unit = re.fullmatch(r"([\d.]+)(us|ms|s|m|h)", text).groups()
    return float(number) * UNITS_MS[unit]


def size(text):
    number, unit = re.fullmatch(r"([\d.]+)([KMGT]?B)", text).groups()
    return float(number) * SIZES[unit]


def closed(server, out):
    """Connections that wrk found closed. A child of Debian's event whose 25 workers are all busy closes those that
    rest, one on which the next request is on its way too; a server that is sized for its clients closes none.
    """
    errors = re.search(r"Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)", out)
    if not errors:
        return 0
    connect, read, write, timeout = map(int, errors.groups())
    check(server.installed and connect == timeout == 0, f"wrk: connections failed: {out}")
    return read + write


def wrk(server, path, clients=CLIENTS, key=None, lua=None, run="", seconds=SECONDS):
    """One run: requests a second, p50 and p99 in ms, requests, bytes, and answers of 400 and above."""
    command = ["wrk", f"-t{min(2, clients)}", f"-c{clients}", f"-d{seconds}s", f"--timeout={WRK_TIMEOUT_S}s",
               "--latency"]
    if lua:
        command += ["-s", str(lua)]
    elif key:
        command += ["-H", f"Authorization: Bearer {key}"]
    command += [f"http://127.0.0.1:{server.port}{path}", *(["--", run] if lua else [])]
    out = subprocess.run(command, capture_output=True, text=True, check=True,
                         env={**os.environ, "BENCH_KEY": key or ""}).stdout
    bad = re.search(r"Non-2xx or 3xx responses: (\d+)", out)
    count, read = re.search(r"(\d+) requests in \S+, (\S+) read", out).groups()
    check(int(count) > 0, f"wrk on {path}: no request was answered in {seconds} s")
    return {"rate": float(re.search(r"Requests/sec:\s+([\d.]+)", out)[1]),
            "p50": milliseconds(re.search(r"(?m)^\s+50%\s+(\S+)", out)[1]),
            "p99": milliseconds(re.search(r"(?m)^\s+99%\s+(\S+)", out)[1]),
            "requests": int(count), "bytes": size(read), "bad": int(bad[1]) if bad else 0,
            "closed": closed(server, out)}


def all_good(path, result):
    check(result["bad"] == 0, f"{path}: {result['bad']} of {result['requests']} answers were refusals")
    return result


def run_name():
    """Part of a run's references; of a later run a later name, as references of shops come in series."""
    return f"{time.time_ns() // 1000000:x}"


class Charges:
    """Charges through one server, whose store must hold every one that was acknowledged."""

    def __init__(self, server, clients=CLIENTS):
        self.server, self.clients = server, clients
        self.shop = server.shop()
        self.before = server.stat()["charges"]
        self.acknowledged = 0
        self.open_ended = 0  # that were under way when a run ended may be stored or not

    def sample(self):
        """One charge as a run makes them; its Response."""
        self.acknowledged += 1
        answer = self.shop.charge(amount=1500.50, reference=f"order-{run_name()}-0-{0:09d}")
        check(answer.status == 200, f"a charge was answered {answer}")
        return answer

    def run(self, seconds=SECONDS, clients=None):
        clients = clients or self.clients
        result = wrk(self.server, CHARGE_PATH, clients, self.shop.secret, CHARGE_LUA, run_name(), seconds)
        self.acknowledged += all_good("charges", result)["requests"]
        self.open_ended += clients
        self.check()
        return result

    def check(self):
        """Every acknowledged charge is in the store and decided, and none that nobody asked for."""
        stored = self.settled() - self.before
        check(self.acknowledged <= stored <= self.acknowledged + self.open_ended,
              f"{self.acknowledged} charges were acknowledged, {stored} are in the store")

    def settled(self):
        """The number of charges once the last run's are all decided and no more come."""
        seen = [None]

        def same():
            now = self.server.stat()
            seen.append(now["charges"] if now["pending"] == 0 else None)
            time.sleep(SETTLE_S)
            return seen[-1] is not None and seen[-1] == seen[-2]

        wait_for(same, "the last charges to be decided")
        return seen[-1]

    def filled(self, count):
        """Another put `count` charges into the store."""
        self.before += count

    def warm_up(self):
        self.run(seconds=WARM_UP_S)
        return self


def twice(servers, make_sides, warm_up):
    """The sides of a comparison on servers sized for it, and again on the same as Debian installs them."""
    sized = make_sides()
    warm_up()
    rounds(*sized)
    for server in servers:
        server.install()
    installed = make_sides()
    warm_up()
    print("  as installed:", flush=True)
    rounds(*installed)
    return sized, installed


# --- the peer that does nothing ---

def noop_server(path, status=200):
    """A server that answers at `path` the bytes of noop_answer(), whatever it is asked.

    A file is at that path: httpd looks for one, and where there is none it asks the file system once
    for each directory above it, which would slow the peer.
    """
    server = Server()
    file = server.docroot / path[1:]
    file.parent.mkdir(parents=True)
    file.touch()
    answer = server.root / "answer"
    answer.write_bytes(b"{}")
    server.extra += (f"LoadModule bench_noop_module {LIBRARIES}/.libs/mod_bench_noop.so\n<Location {path}>\n"
                     f"SetHandler bench-noop\nBenchNoopAnswer {answer}\nBenchNoopStatus {status}\n</Location>")
    return server


def noop_answer(server, body):
    """What it answers from now on; the file is read when httpd starts."""
    (server.root / "answer").write_bytes(body)
    server.restart()


def wire_size(answer):
    """Bytes of an answer's header fields and body; Date is as long in each."""
    return sum(len(name) + len(value) + 4 for name, value in answer.headers) + len(answer.body)


def without_id(answer):
    """A body without the one part that no two answers share."""
    own = answer.header("Request-Id")
    return re.sub(rb'"requestId":"[^"]*"', b"", answer.body).replace(own.encode() if own else b"", b"")


def same_answer(bench, ours, peer):
    """The peer answers the same status and body, with about as many bytes of header fields."""
    check(ours.status == peer.status, f"the answers are {ours.status} and {peer.status}")
    check(len(ours.body) == len(peer.body) and without_id(ours) == without_id(peer),
          f"the answers differ: {ours.body!r} {peer.body!r}")
    sizes = wire_size(ours), wire_size(peer)
    check(abs(sizes[0] - sizes[1]) <= 64, f"the answers are of {sizes[0]} and {sizes[1]} bytes")
    bench.note(f"The same body of {len(ours.body)} bytes on both sides; with header fields {sizes[0]} and "
               f"{sizes[1]} bytes.")


# --- refunds of history ---

FIRST_DAY = datetime.datetime(2026, 1, 1)
LIST_PATH = "/api/v1/refund/2026-01-01/2026-06-30"
HISTORY_MS = 180 * 86400 * 1000


def records(count):
    """Records as the deployed API gives them, spread over half a year, one object a line."""
    for number in range(count):
        created = FIRST_DAY + datetime.timedelta(milliseconds=number * HISTORY_MS // count)
        stamp = created.isoformat(timespec="milliseconds") + "Z"
        yield json.dumps({
            "id": f"rf_{number:016d}", "refundReference": f"REF-{number:012d}",
            "amount": f"{number % 90000 / 100 + 1:.2f}", "currency": "NGN", "domain": "test", "channel": "API",
            "merchantNote": "Customer returned the goods",
            "customerNote": "Refund for order %d" % number, "status": "processed",
            "transactionReference": f"order-{number:012d}", "createdAt": stamp, "updatedAt": stamp})


def import_history(server, shop, count):
    """Puts `count` refunds into the account's Test Mode."""
    path = server.root / "history"
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(line + "\n" for line in records(count))
    done = server.ctl("refund", "import", shop.name, str(path), "--mode", "test", "--json", timeout=3600)
    path.unlink()
    check(json.loads(done.stdout)["written"] == count, f"of {count} records were imported: {done.stdout}")


# --- memory ---

def private_bytes(pid):
    """Memory that is this process's alone: its private mappings, less what it shares with others.

    The store's file is mapped shared: its pages are the kernel's cache, and go when others need room.
    """
    total, private = 0, False
    with open(f"/proc/{pid}/smaps", encoding="ascii", errors="replace") as file:
        for line in file:
            head = re.match(r"[0-9a-f]+-[0-9a-f]+ (\S{4}) ", line)
            if head:
                private = head[1].endswith("p")
            elif private:
                found = PRIVATE.match(line)
                total += int(found[1]) * 1024 if found else 0
    return total


def pss_bytes(pid):
    """All that is mapped, what is shared divided by those who share it."""
    text = pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii")
    return int(re.search(r"(?m)^Pss:\s+(\d+) kB", text)[1]) * 1024
