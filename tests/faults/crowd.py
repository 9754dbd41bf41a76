# SPDX-License-Identifier: Apache-2.0
"""Crowds of clients, each in one process of its own: good ones that charge and list, bad ones that hold workers.

Everything is non-blocking sockets and one selector, so that hundreds of clients cost next to nothing.
"""

import ctypes
import itertools
import json
import multiprocessing
import selectors
import socket
import time

from harness import charge_body, reference, wait_for

FORK = multiprocessing.get_context("fork")
LIST_EVERY = 4        # of a good client's calls, one is a list
RETRY_S = 0.05        # after an answer that asks to come again
BYTE_EVERY_S = 1.0    # a bad client's pace
BODY_BYTES = 4000     # of the charge that a bad client never finishes
RECEIVE_BYTES = 4096  # of the socket buffer of a client that never reads
CHARGE_PATH = "/api/v1/tokenized-card-charge"
LIST_PATH = "/api/v1/refund/2000-01-01/2099-12-31"


def event_sizes(children, threads):
    return (f"StartServers {children}\nServerLimit {children}\nThreadLimit {threads}\nThreadsPerChild {threads}\n"
            f"MaxRequestWorkers {children * threads}\nMinSpareThreads 1\nMaxSpareThreads {children * threads}")


def request(method, path, key, body=None):
    head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {key}\r\n"
    if body is None:
        return (head + "\r\n").encode()
    return (head + f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}").encode()


def answer_of(data):
    """(status, length of the whole answer), or None while it is not complete."""
    end = data.find(b"\r\n\r\n")
    if end < 0:
        return None
    for line in data[:end].lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            whole = end + 4 + int(line[15:])
            return (int(data[9:12]), whole) if len(data) >= whole else None
    raise AssertionError(f"an answer without a length: {data[:300]!r}")


def connect(port, receive_bytes=None):
    sock = socket.socket()
    if receive_bytes:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
    sock.setblocking(False)
    sock.connect_ex(("127.0.0.1", port))
    return sock


def all_are_stored(httpd, shops, done):
    """What was acknowledged, references of each shop, is in the store, once, and the store is sound."""
    for shop, references in zip(shops, done):
        rows = json.loads(httpd.ctl("charge", "list", shop.name, "--mode", "test", "--json").stdout)
        state = {row["reference"]: row["status"] for row in rows}
        assert len(state) == len(rows), "a reference was charged twice"
        wrong = {ref: state.get(ref) for ref in references if state.get(ref) != "successful"}
        assert not wrong, f"acknowledged and not stored: {wrong}"
    checked = httpd.ctl("store", "check", check=False)
    assert (checked.returncode, checked.stdout) == (0, ""), checked.stdout


class Crowd:
    """A process of clients; a context manager that ends it."""

    COUNTS = ()  # names of what it counts, for both processes

    def __init__(self, port):
        self.port = port
        self.halt = FORK.Event()
        self.counts = FORK.Array(ctypes.c_int64, len(self.COUNTS), lock=False)
        self.here, there = FORK.Pipe()
        self.process = FORK.Process(target=self.body, args=(there,), daemon=True)

    def body(self, pipe):
        self.selector = selectors.DefaultSelector()
        pipe.send(self.run())

    def count(self, name, number=1):
        self.counts[self.COUNTS.index(name)] += number

    def __getattr__(self, name):
        """What it has counted, by its name."""
        if name in self.COUNTS:
            return self.counts[self.COUNTS.index(name)]
        raise AttributeError(name)

    def __enter__(self):
        self.process.start()
        return self

    def __exit__(self, *_):
        self.halt.set()
        self.process.join(0.2)
        if self.process.is_alive():
            self.process.terminate()
            self.process.join(20)


class Good(Crowd):
    """Clients that charge and list on kept connections; what gets no answer is asked again, by its reference.

    They count answers of 200, refusals, and connections that ended before the answer.
    """

    COUNTS = ("answered", "refused", "unanswered")

    def __init__(self, httpd, clients, shops):
        self.keys = [shop.secret for shop in shops]
        self.clients = clients
        super().__init__(httpd.port)

    def rate(self, seconds):
        """Answers a second, over as long a time."""
        before, started = self.answered, time.monotonic()
        time.sleep(seconds)
        return (self.answered - before) / (time.monotonic() - started)

    def wait_for_more(self, answers):
        want = self.answered + answers
        wait_for(lambda: self.answered >= want, f"{answers} more answers")

    def finish(self):
        """Stops; returns what was acknowledged, the references of each shop."""
        self.halt.set()
        assert self.here.poll(30), "the good clients do not end"
        return self.here.recv()

    def run(self):
        self.done = [[] for _ in self.keys]
        self.later = []
        for number in range(self.clients):
            self.open({"shop": number % len(self.keys), "calls": itertools.count(number), "reference": None})
        while not self.halt.is_set():
            for entry, events in self.selector.select(0.02):
                self.serve(entry.data, events)
            now = time.monotonic()
            while self.later and self.later[0][0] <= now:
                _, client, sock = self.later.pop(0)
                if sock is client["sock"]:  # else it has asked already, on its new connection
                    self.ask(client)
        return self.done

    def open(self, client):
        client["sock"], client["got"], client["waits"] = connect(self.port), b"", False
        self.selector.register(client["sock"], selectors.EVENT_WRITE, client)

    def reopen(self, client):
        self.selector.unregister(client["sock"])
        client["sock"].close()
        self.count("unanswered", client["waits"])
        self.open(client)

    def ask(self, client):
        key = self.keys[client["shop"]]
        if "data" not in client:
            if next(client["calls"]) % LIST_EVERY == 0:
                client["data"] = request("GET", LIST_PATH, key)
            else:
                client["reference"] = reference()
                body = json.dumps(charge_body(reference=client["reference"]))
                client["data"] = request("POST", CHARGE_PATH, key, body)
        client["waits"] = True
        try:
            client["sock"].send(client["data"])
        except OSError:
            self.reopen(client)

    def serve(self, client, events):
        if events & selectors.EVENT_WRITE:  # the connection is made, or it was refused
            self.selector.modify(client["sock"], selectors.EVENT_READ, client)
            self.ask(client)
            return
        try:
            part = client["sock"].recv(65536)
        except OSError:
            part = b""
        if not part:
            self.reopen(client)
            return
        client["got"] += part
        found = answer_of(client["got"])
        if not found:
            return
        answer, client["got"] = client["got"][:found[1]], client["got"][found[1]:]
        client["waits"] = False
        if found[0] == 200:
            self.count("answered")
            if client["reference"]:
                assert client["reference"].encode() in answer, "the answer to another request"
                self.done[client["shop"]].append(client["reference"])
            client["reference"] = None
            del client["data"]
            self.ask(client)
            return
        self.count("refused")
        assert found[0] in (202, 408, 409, 503), answer
        self.later.append((time.monotonic() + RETRY_S, client, client["sock"]))


class Bad(Crowd):
    """Clients that hold a worker each: a byte a second of a header or of a body, or an answer that is never read.

    They count those that are connected and hold on, and those that the server ended.
    """

    HEADER, BODY, READER = "header", "body", "reader"
    COUNTS = ("held", "ended")

    def __init__(self, httpd, kinds, shop):
        """`kinds`: one for each client."""
        self.kinds, self.key = list(kinds), shop.secret
        super().__init__(httpd.port)

    def first(self, kind):
        if kind == self.READER:
            return request("GET", LIST_PATH, self.key)
        if kind == self.HEADER:
            return f"GET {LIST_PATH} HTTP/1.1\r\nHost: localhost\r\nX-Slow: ".encode()
        begun = request("POST", CHARGE_PATH, self.key, " " * BODY_BYTES)
        return begun[:-BODY_BYTES]

    def run(self):
        self.slow, self.readers = set(), []
        for kind in self.kinds:
            sock = connect(self.port, RECEIVE_BYTES if kind == self.READER else None)
            self.selector.register(sock, selectors.EVENT_WRITE, kind)
        next_byte = time.monotonic() + BYTE_EVERY_S
        while not self.halt.is_set():
            for entry, events in self.selector.select(0.05):
                if events & selectors.EVENT_WRITE:
                    self.begin(entry.fileobj, entry.data)
                else:
                    self.end(entry.fileobj)  # an answer before its time, or the end
            if time.monotonic() >= next_byte:
                next_byte += BYTE_EVERY_S
                for sock in list(self.slow):
                    self.drip(sock)

    def begin(self, sock, kind):
        self.selector.unregister(sock)
        sock.send(self.first(kind))
        if kind == self.READER:
            self.readers.append(sock)  # kept open, and never looked at again
        else:
            self.slow.add(sock)
            self.selector.register(sock, selectors.EVENT_READ)
        self.count("held")

    def drip(self, sock):
        try:
            sock.send(b"a")
        except OSError:
            self.end(sock)

    def end(self, sock):
        self.slow.remove(sock)
        self.selector.unregister(sock)
        sock.close()
        self.count("held", -1)
        self.count("ended")
