# SPDX-License-Identifier: Apache-2.0
"""Receivers of webhooks: HTTP and HTTPS servers that record requests and answer as a test chooses.

A receiver has its own thread and event loop. The answer to each request is the one set for its path, which may be
changed at any time: a status, one of STAGES, a list of these that is used up, or a function.
"""

import asyncio
import base64
import collections
import datetime
import functools
import hashlib
import hmac
import json
import pathlib
import random
import shutil
import socket
import ssl
import subprocess
import tempfile
import threading
import time

from harness import wait_for

# For a server whose webhooks are receivers of this file.
ALLOW = "PaymentsWebhookAllow 127.0.0.0/8 ::1\n"
INSECURE = ALLOW + "PaymentsWebhookInsecure On\n"
HUGE_BYTES = 100 << 20
SLOW_BYTE_S = 1.0
# Possible answers other than a status.
STAGES = ("hang", "hang in the header", "byte a second", "huge", "close", "close in the header", "close in the body")
CLOSED = []  # the sockets of ports where nobody listens


# --- certificates ---

class Authority:
    """A certificate authority of the test run, made by openssl(1); all may read `file`, its certificate."""

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="mod_payments-ca-"))
        self.folder.chmod(0o755)
        self.file = self.folder / "ca.pem"
        self.openssl("req", *self.key("ca"), "-subj", "/CN=Authority of the tests", "-out", "ca.csr",
                     "-addext", "basicConstraints=critical,CA:TRUE")
        self.sign("ca", "20200101000000Z", "20490101000000Z", "-selfsign")  # regardless of a server's clock

    def openssl(self, *args):
        subprocess.run(["openssl", *args], cwd=self.folder, capture_output=True, check=True)

    def sign(self, name, begin, end, *by):
        (self.folder / "ca.txt").write_text("")
        (self.folder / "ca.cnf").write_text(
            "[ca]\ndefault_ca=a\n[a]\ndatabase=ca.txt\nnew_certs_dir=.\nrand_serial=yes\ndefault_md=sha256\n"
            "policy=p\ncopy_extensions=copy\nunique_subject=no\n[p]\ncommonName=supplied\n")
        self.openssl("ca", "-batch", "-config", "ca.cnf", *by, "-keyfile", "ca.key", "-notext",
                     "-in", f"{name}.csr", "-startdate", begin, "-enddate", end, "-out", f"{name}.pem")

    @staticmethod
    def key(name):
        return ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", f"{name}.key")

    @functools.lru_cache(maxsize=None)
    def context(self, kind="good"):
        """An SSL context with a certificate for localhost and 127.0.0.1, or with one that nobody should trust."""
        names = "DNS:elsewhere.example" if kind == "other name" else "DNS:localhost,DNS:rebind.test,IP:127.0.0.1,IP:::1"
        subject = ("-subj", "/CN=receiver", "-addext", f"subjectAltName={names}")
        if kind == "self-signed":
            self.openssl("req", "-x509", *self.key(kind), *subject, "-days", "2", "-out", f"{kind}.pem")
        else:
            begin, end = "20200101000000Z", "20200102000000Z" if kind == "expired" else "20490101000000Z"
            self.openssl("req", *self.key(kind), *subject, "-out", f"{kind}.csr")
            self.sign(kind, begin, end, "-cert", "ca.pem")
        made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        made.load_cert_chain(self.folder / f"{kind}.pem", self.folder / f"{kind}.key")
        return made

    @functools.lru_cache(maxsize=None)
    def person(self, name, own=False):
        """Files of certificate and key of a person of this name; `own`: self-signed."""
        file, subject = f"person-{name}-{own}", ("-subj", f"/CN={name}")
        if own:
            self.openssl("req", "-x509", *self.key(file), *subject, "-days", "2", "-out", f"{file}.pem")
        else:
            self.openssl("req", *self.key(file), *subject, "-out", f"{file}.csr")
            self.openssl("x509", "-req", "-in", f"{file}.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-set_serial",
                         str(random.getrandbits(64)), "-days", "2", "-out", f"{file}.pem")
        return self.folder / f"{file}.pem", self.folder / f"{file}.key"

    def close(self):
        shutil.rmtree(self.folder, ignore_errors=True)


# --- signatures: our own reading of Standard Webhooks 1.0, in addition to the public verifier of test_webhooks.py ---

def sign(secret, delivery_id, timestamp, body):
    """webhook-signature's one part under `secret`."""
    key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    signed = f"{delivery_id}.{timestamp}.".encode() + body
    return "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()


def plain_sign(secret, body):
    """x-novac-signature under `secret`."""
    return hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


# --- received requests ---

class Delivery:
    """One request: its contents, its connection, its time (monotonic and wall clock), and the answer."""

    def __init__(self, connection, method, path, headers, body):
        self.connection, self.method, self.path, self.headers, self.body = connection, method, path, headers, body
        self.at, self.wall = time.monotonic(), time.time()
        self.answer = None

    def header(self, name):
        """The value of a header; the header must not appear twice."""
        found = [value for key, value in self.headers if key == name]
        assert len(found) <= 1, f"{name} stands there {len(found)} times"
        return found[0] if found else None

    @property
    def id(self):
        return self.header("webhook-id")

    @property
    def timestamp(self):
        return int(self.header("webhook-timestamp"))

    @functools.cached_property
    def json(self):
        return json.loads(self.body)

    @property
    def what(self):
        """("transaction", "successful")"""
        return self.json["notify"], self.json["notifyType"]

    @property
    def reference(self):
        data = self.json["data"]
        return data.get("reference") or data.get("transactionReference")

    @property
    def taken(self):
        return self.answer in (200, 201, 202, 203, 204)

    def signatures(self):
        return self.header("webhook-signature").split(" ")

    def check(self, secret, now=None):
        """Checks every signature with `secret`, and that the timestamp is the moment of sending."""
        want = sign(secret, self.id, self.header("webhook-timestamp"), self.body)
        assert any(hmac.compare_digest(want, one) for one in self.signatures()), (want, self.signatures())
        assert abs((now or self.wall) - self.timestamp) < 20
        assert self.header("content-type") == "application/json"
        return self

    def __repr__(self):
        return f"<{self.path} {self.id} {self.body[:160]!r} -> {self.answer}>"


# --- the server ---

class Connection(asyncio.Protocol):
    """The part of HTTP/1.1 that senders of webhooks need, with keep-alive; requests may arrive in pieces."""

    def __init__(self, receiver, number):
        self.receiver, self.number = receiver, number
        self.data = b""
        self.transport = None
        self.busy = False

    def connection_made(self, transport):
        self.transport = transport
        self.receiver.open.add(self)
        if self.receiver.silent:
            transport.pause_reading()

    def connection_lost(self, exc):
        self.transport = None
        self.receiver.open.discard(self)

    def data_received(self, data):
        self.data += data
        if self.data.startswith(b"\x16"):  # TLS, where there is none
            self.transport.close()
            return
        self.serve()

    def serve(self):
        while not self.busy and self.transport:
            end = self.data.find(b"\r\n\r\n")
            if end < 0:
                return
            lines = self.data[:end].decode("latin-1").split("\r\n")
            parts = [line.partition(":") for line in lines[1:]]
            headers = [(name.strip().lower(), value.strip()) for name, _, value in parts]
            length = int(next((value for name, value in headers if name == "content-length"), 0))
            if len(self.data) < end + 4 + length:
                return
            body, self.data = self.data[end + 4:end + 4 + length], self.data[end + 4 + length:]
            method, path, _ = lines[0].split(" ")
            self.answer(Delivery(self.number, method, path, headers, body))

    def answer(self, delivery):
        delivery.answer = answer = self.receiver.choose(delivery)
        self.receiver.got.append(delivery)
        text = self.receiver.text
        if isinstance(answer, int):
            more = self.receiver.headers.get(answer, "")
            body = b"" if answer == 204 else text
            self.transport.write(f"HTTP/1.1 {answer} Status\r\n{more}"
                                 f"Content-Length: {len(body)}\r\n\r\n".encode() + body)
            return
        assert answer in STAGES, answer
        self.busy = True
        if answer == "hang in the header":
            self.transport.write(b"HTTP/1.1 200 OK\r\nContent-Le")
        elif answer == "byte a second":
            asyncio.ensure_future(self.drip(b"HTTP/1.1 200 OK\r\nContent-Length: 600\r\n\r\n" + b"x" * 600))
        elif answer == "huge":
            asyncio.ensure_future(self.flood())
        elif answer.startswith("close"):
            if answer == "close in the header":
                self.transport.write(b"HTTP/1.1 200 O")
            elif answer == "close in the body":
                self.transport.write(b"HTTP/1.1 200 OK\r\nContent-Length: 600\r\n\r\nx")
            self.transport.close()

    async def drip(self, data):
        for byte in data:
            if not self.transport:
                return
            self.transport.write(bytes([byte]))
            await asyncio.sleep(SLOW_BYTE_S)

    async def flood(self):
        """Sends as much of it as the sender reads; `receiver.flooded` is the number of bytes."""
        part = b"x" * 65536
        self.transport.write(f"HTTP/1.1 200 OK\r\nContent-Length: {HUGE_BYTES}\r\n\r\n".encode())
        for _ in range(HUGE_BYTES // len(part)):
            while self.transport and self.transport.get_write_buffer_size() > 0:
                await asyncio.sleep(0.002)
            if not self.transport or self.transport.is_closing():
                return
            self.transport.write(part)
            self.receiver.flooded += len(part)


class Receiver:
    """A receiver on a free port of 127.0.0.1; a context manager.

    `context`: an SSL context, None for plain HTTP. `silent`: it accepts, does TLS, and never reads a request.
    `mute`: it does not even accept, connections stay in its queue.
    """

    def __init__(self, context=None, silent=False, mute=False, host="localhost"):
        self.context, self.silent, self.mute, self.host = context, silent, mute, host
        self.got = []         # Deliveries, in the order of arrival
        self.open = set()
        self.connections = 0  # ever made
        self.answers = {}     # path -> answer
        self.default = 200
        self.text = b""       # body of answers that are a status
        self.headers = {301: "Location: /elsewhere\r\n"}
        self.flooded = 0
        self.socket = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.port = self.socket.getsockname()[1]
        self.loop = asyncio.new_event_loop()
        self.ready = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)
        if not mute:
            self.thread.start()
            self.ready.wait(20)

    def url(self, path="/hook"):
        return f"{'https' if self.context else 'http'}://{self.host}:{self.port}{path}"

    def run(self):
        asyncio.set_event_loop(self.loop)
        options = {"ssl": self.context, "ssl_handshake_timeout": 60} if self.context else {}
        self.loop.run_until_complete(self.loop.create_server(self.make, sock=self.socket, **options))
        self.loop.call_soon(self.ready.set)
        self.loop.set_exception_handler(lambda *_: None)  # some tests are about failing handshakes
        self.loop.run_forever()

    def make(self):
        self.connections += 1
        return Connection(self, self.connections)

    def choose(self, delivery):
        answer = self.answers.get(delivery.path, self.default)
        if isinstance(answer, list):
            answer = answer.pop(0) if answer else self.default
        return answer(delivery) if callable(answer) else answer

    def fail_one_in(self, number, seed):
        """From now on one request in that many, at random, is answered with a failure."""
        chance = random.Random(seed)
        self.default = lambda delivery: 500 if chance.randrange(number) == 0 else 200

    # --- queries of tests ---
    def at(self, path):
        return [one for one in list(self.got) if one.path == path]

    def wait(self, count=1, path="/hook", seconds=None):
        """The deliveries to `path`, once there are that many."""
        options = {"seconds": seconds} if seconds else {}
        wait_for(lambda: len(self.at(path)) >= count, f"{count} deliveries to {path}", **options)
        return self.at(path)

    def taken(self, path="/hook"):
        return [one for one in self.at(path) if one.taken]

    def wait_taken(self, count=1, path="/hook", seconds=None):
        options = {"seconds": seconds} if seconds else {}
        wait_for(lambda: len({one.id for one in self.taken(path)}) >= count, f"{count} events at {path}", **options)
        return self.taken(path)

    def waits(self):
        """The number of connections in the queue of a mute receiver, which never accepts one."""
        for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]:
            _, local, _, state, queues, *_ = line.split()
            if local.endswith(f":{self.port:04X}") and state == "0A":
                return int(queues.split(":")[1], 16)
        raise AssertionError("it does not listen")

    def hang_up(self):
        """Ends every open connection."""
        self.loop.call_soon_threadsafe(lambda: [one.transport.abort() for one in list(self.open) if one.transport])

    def close(self):
        if self.thread.is_alive():
            self.hang_up()
            self.loop.call_soon_threadsafe(self.loop.stop)
            self.thread.join(20)
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def in_order(deliveries):
    """No event of a transaction is sent before its predecessor was accepted, and again only with the same id and body.

    Returns how many events each transaction has.
    """
    taken, known = collections.Counter(), {}
    for one in deliveries:
        key, sequence = one.reference, one.json["sequence"]
        assert sequence <= taken[key] + 1, f"{key}: {sequence} was sent before {taken[key] + 1} was taken"
        assert known.setdefault((key, sequence), (one.id, one.body)) == (one.id, one.body), f"{key} {sequence} changed"
        if one.taken:
            taken[key] = max(taken[key], sequence)
    assert len({name for name, _ in known.values()}) == len(known), "two events have one id"
    return taken


def instant(text):
    """Seconds since 1970 of a time in JSON."""
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def closed_port():
    """A port of this machine where nobody listens or will listen: it stays bound while the tests run."""
    CLOSED.append(socket.socket())
    CLOSED[-1].bind(("", 0))
    return CLOSED[-1].getsockname()[1]
