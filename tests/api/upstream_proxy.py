# SPDX-License-Identifier: Apache-2.0
"""A TLS proxy between a shop's server and its upstream that reads and counts the traffic, and injects faults.

It has its own thread and event loop. A fault is chosen for each request when its first line has arrived: the next one
planned for its kind, else `default`. Random choices follow from the seed of the test that makes them.
"""

import asyncio
import collections
import dataclasses
import json
import re
import socket
import ssl
import threading
from email.utils import formatdate

from harness import wait_for

TAG = re.compile(r"\[payments:([a-z0-9]{24})\]$")
KINDS = (
    ("charge", re.compile(r"POST /api/v1/tokenized-card-charge ")),
    ("refund", re.compile(r"POST /api/v1/partial-refund ")),
    ("query", re.compile(r"(GET /api/v1/(checkout|transaction)/[^/ ]+/verify|POST /api/v1/transaction/verify) ")),
    ("list", re.compile(r"GET /api/v1/refund/[^/ ]+/[^/ ]+ ")),
    ("refund query", re.compile(r"GET /api/v1/refund/[^/ ]+ ")),
)
MESSAGE_MAX = 64 << 20
HELD_S = 0.005  # between two checks of held exchanges


class Broken(Exception):
    """The other side closed before its message was whole."""


# --- faults of an exchange ---

class Hold:
    """Exchanges that reach it wait until it is released; `waiting` counts them."""

    def __init__(self):
        self.waiting = 0
        self.event = threading.Event()

    def release(self):
        self.event.set()

    async def wait(self):
        self.waiting += 1
        while not self.event.is_set():
            await asyncio.sleep(HELD_S)
        self.waiting -= 1


@dataclasses.dataclass
class Fault:
    """What happens to one exchange.

    request_bytes: this many bytes of the request reach the upstream, then both connections end; the whole request if it
    is shorter, and the proxy does not wait for the answer. answer_bytes: this many bytes of the answer come back before
    they end. `gently`: TLS and TCP are closed in order; else the connection just ends. before, after: seconds that the
    request, the answer waits; drip: seconds between two bytes of it. hold: before, hold_answer: after the upstream did
    its work. answer: the answer given instead of the upstream's, which is not asked, or a function that makes it then.
    edit: a function that takes status and JSON of the upstream's answer and returns others.
    """
    request_bytes: int = None
    answer_bytes: int = None
    gently: bool = False
    before: float = 0
    after: float = 0
    drip: float = 0
    hold: Hold = None
    hold_answer: Hold = None
    answer: object = None
    edit: object = None


def http_answer(status, body=b"", content_type="application/json; charset=utf-8", more=""):
    """An answer byte for byte; `body` other than text and bytes is made JSON."""
    if isinstance(body, str):
        body = body.encode()
    elif not isinstance(body, bytes):
        body = json.dumps(body, separators=(",", ":")).encode()
    head = (f"HTTP/1.1 {status} Answer\r\nDate: {formatdate(usegmt=True)}\r\nContent-Type: {content_type}\r\n{more}"
            f"Content-Length: {len(body)}\r\n\r\n")
    return head.encode() + body


def own(status, body=b"", content_type="application/json; charset=utf-8", more="", **options):
    """The proxy answers itself, with the current time as Date."""
    return Fault(answer=lambda: http_answer(status, body, content_type, more), **options)


def problem(code, message, reference=None):
    """The API's own envelope of an error."""
    if reference is not None:
        message = f"{message} {reference}"
    return {"status": False, "message": message,
            "data": {"responseCode": code, "responseMessage": message, "responseDescription": message,
                     "requestId": "0" * 20}}


def changed(**fields):
    """The upstream does its work, and these members of its answer's data, or of bare records, are replaced."""
    def edit(status, text):
        inner = text["data"] if isinstance(text, dict) and isinstance(text.get("data"), dict) else text
        for one in inner if isinstance(inner, list) else [inner]:
            one.update(fields)
        return status, text

    return Fault(edit=edit)


def closed_unanswered(gently=False):
    """The upstream does its work, but its answer is lost."""
    return Fault(answer_bytes=0, gently=gently)


# --- recorded exchanges ---

class Exchange:
    """One request and its answer, as far as they arrived."""

    def __init__(self, connection, kind, line):
        self.connection, self.kind, self.line = connection, kind, line
        self.request, self.answer = b"", b""
        self.fault = None
        self.forwarded = False  # the whole request reached the upstream
        self.ended = False

    @property
    def body(self):
        return json.loads(self.request.partition(b"\r\n\r\n")[2])

    @property
    def headers(self):
        head = self.request.partition(b"\r\n\r\n")[0].decode("latin-1")
        return {name.lower(): value.strip() for name, _, value in
                (line.partition(":") for line in head.split("\r\n")[1:])}

    @property
    def name(self):
        """The reference of a charge, the tag of a refund; None for another kind of request, or without one."""
        if self.kind == "charge":
            return self.body["reference"]
        found = TAG.search(self.body.get("merchant_note") or "") if self.kind == "refund" else None
        return found[1] if found else None

    @property
    def status(self):
        return int(self.answer.split(b" ", 2)[1]) if self.answer else None

    def __repr__(self):
        return f"<{self.connection}: {self.line} -> {self.answer[:60]!r} {self.fault}>"


# --- messages of HTTP/1.1 ---

def field(head, name):
    found = re.search(rb"\r\n" + name + rb":[ \t]*([^\r\n]*?)[ \t]*\r\n", head + b"\r\n", re.I)
    return found[1] if found else None


async def more(reader, data):
    part = await reader.read(65536)
    if not part or len(data) > MESSAGE_MAX:
        raise Broken(data)
    return data + part


async def read_until(reader, data, mark, start=0):
    """Reads on after `data` until `mark`; returns the bytes and the end of the mark."""
    while (place := data.find(mark, start)) < 0:
        data = await more(reader, data)
    return data, place + len(mark)


async def read_chunks(reader, data, place):
    while True:
        data, end = await read_until(reader, data, b"\r\n", place)
        size = int(data[place:end].split(b";")[0], 16)
        while len(data) < end + size + 2:
            data = await more(reader, data)
        place = end + size + 2
        if size == 0:
            return data, place


async def read_message(reader, data, is_answer):
    """Returns (the message, the bytes after it); `data` are bytes that were read before."""
    data, end = await read_until(reader, data, b"\r\n\r\n")
    head = data[:end]
    if (field(head, b"transfer-encoding") or b"").lower() == b"chunked":
        data, end = await read_chunks(reader, data, end)
    elif field(head, b"content-length") is not None:
        end += int(field(head, b"content-length"))
        while len(data) < end:
            data = await more(reader, data)
    elif is_answer and int(head.split(b" ", 2)[1]) not in (204, 304):
        try:
            while True:
                data = await more(reader, data)
        except Broken:
            return data, b""
    return data[:end], data[end:]


# --- the proxy ---

class Proxy:
    """It listens with a certificate of `authority`, and passes on to https://127.0.0.1:`upstream_port`."""

    def __init__(self, authority, upstream_port):
        self.authority, self.upstream_port = authority, upstream_port
        self.toward = ssl.create_default_context(cafile=authority.file)
        self.exchanges = []
        self.connections = 0  # that were made, TLS and all
        self.posts = collections.Counter()  # (kind, reference or tag) of each POST that arrived whole
        self.plan = collections.defaultdict(collections.deque)
        self.default = lambda exchange: None
        self.writers = set()
        self.server = None
        # Bound and never listening: the port stays ours while nobody can connect to it.
        self.place = self.bound(0)
        self.port = self.place.getsockname()[1]
        self.url = f"https://127.0.0.1:{self.port}"
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()
        self.listen()

    @staticmethod
    def bound(port):
        made = socket.socket()
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(("127.0.0.1", port))
        return made

    # --- commands of tests ---
    def run(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(20)

    def listen(self, certificate="good"):
        """Accepts connections, with a certificate of this kind (receiver.Authority)."""
        sock = self.bound(self.port)
        sock.listen(512)
        sock.setblocking(False)
        self.server = self.run(asyncio.start_server(self.serve, sock=sock, ssl=self.authority.context(certificate)))

    def refuse(self):
        """From now on connections are refused, and open ones end."""
        async def end():
            self.server.close()
            self.drop()

        self.run(end())

    def hang_up(self):
        """Ends every open connection."""
        async def end():
            self.drop()

        self.run(end())

    def drop(self):
        for writer in list(self.writers):
            writer.transport.abort()

    def next(self, kind, *faults):
        """Plans these faults for the next requests of this kind, one each; None: no fault."""
        self.plan[kind].extend(faults)

    def fail(self, fault, *kinds):
        """From now on all requests of these kinds (none named: of all kinds) have this fault, until heal()."""
        self.default = lambda exchange: fault if not kinds or exchange.kind in kinds else None

    def heal(self):
        self.default = lambda exchange: None
        self.plan.clear()

    def forget(self):
        """Forgets all recorded exchanges."""
        self.heal()
        self.exchanges, self.connections, self.posts = [], 0, collections.Counter()

    # --- queries of tests ---
    def of(self, kind):
        return [one for one in list(self.exchanges) if one.kind == kind]

    def wait(self, kind, count=1):
        """The exchanges of this kind, once that many have arrived."""
        wait_for(lambda: len(self.of(kind)) >= count, f"{count} of {kind}")
        return self.of(kind)

    def repeated(self):
        """The requests that were sent more than once."""
        return {what: times for what, times in self.posts.items() if times > 1}

    # --- its work ---
    async def serve(self, reader, writer):
        self.connections += 1
        number, data = self.connections, b""
        self.writers.add(writer)
        try:
            while True:
                data = await self.exchange(reader, writer, number, data)
        except (Broken, OSError, asyncio.CancelledError):
            pass
        finally:
            self.writers.discard(writer)
            writer.close()

    async def exchange(self, reader, writer, number, data):
        """One request and its answer; returns the bytes after the request."""
        data, end = await read_until(reader, data, b"\r\n")
        line = data[:end - 2].decode("latin-1")
        made = Exchange(number, next((kind for kind, form in KINDS if form.match(line)), "other"), line)
        planned = self.plan[made.kind]
        made.fault = planned.popleft() if planned else self.default(made)
        fault = made.fault or Fault()
        self.exchanges.append(made)
        try:
            return await self.pass_on(made, fault, reader, writer, data)
        finally:
            made.ended = True

    async def pass_on(self, made, fault, reader, writer, data):
        if fault.request_bytes is not None:
            data = await self.cut_request(made, fault, reader, data)
            self.end(writer, fault)
        made.request, data = await read_message(reader, data, False)
        self.count(made)
        await self.pause(fault.hold, fault.before)
        made.answer = (fault.answer() if callable(fault.answer) else fault.answer) or await self.ask(made)
        if fault.edit:
            made.answer = self.edited(made.answer, fault.edit)
        await self.pause(fault.hold_answer, fault.after)
        if fault.answer_bytes is not None:
            writer.write(made.answer[:fault.answer_bytes])
            self.end(writer, fault)
        await self.write(writer, made.answer, fault.drip)
        return data

    @staticmethod
    async def write(writer, answer, drip):
        for place in range(0, len(answer) if drip else 1):
            writer.write(answer[place:place + 1] if drip else answer)
            await writer.drain()
            await asyncio.sleep(drip)
            if writer.is_closing():
                raise Broken(b"")

    async def cut_request(self, made, fault, reader, data):
        """Passes the first bytes on as soon as they arrive, and waits for nothing."""
        try:
            if len(data) < fault.request_bytes:
                made.request, data = await self.read_at_most(reader, data, fault.request_bytes)
            else:
                made.request, data = data[:fault.request_bytes], data[fault.request_bytes:]
            await self.tell(made)
        except OSError:
            pass  # it closed before a request was complete, as it may
        return data

    @staticmethod
    async def read_at_most(reader, data, size):
        """This many bytes, or the whole message if it is shorter."""
        while len(data) < size:
            end = data.find(b"\r\n\r\n")
            length = field(data[:end + 4], b"content-length") if end >= 0 else None
            if end >= 0 and len(data) >= end + 4 + int(length or 0):
                break
            data = await more(reader, data)
        return data[:size], data[size:]

    async def tell(self, made):
        """Passes on a partial request, waits until the upstream has seen its end, and reads no answer."""
        _, writer = await self.connect()
        try:
            writer.write(made.request)
            await writer.drain()
            if self.is_whole(made.request):
                self.count(made)
        finally:
            writer.close()

    @staticmethod
    def is_whole(request):
        head, mark, body = request.partition(b"\r\n\r\n")
        return bool(mark) and len(body) >= int(field(head + b"\r\n", b"content-length") or 0)

    def count(self, made):
        made.forwarded = True
        if made.kind in ("charge", "refund"):
            self.posts[(made.kind, made.name)] += 1

    async def pause(self, hold, seconds):
        if hold:
            await hold.wait()
        if seconds:
            await asyncio.sleep(seconds)

    async def connect(self):
        return await asyncio.open_connection("127.0.0.1", self.upstream_port, ssl=self.toward,
                                             server_hostname="127.0.0.1")

    async def ask(self, made):
        """The upstream's answer, on a separate connection: nothing is ever sent again."""
        reader, writer = await self.connect()
        try:
            writer.write(made.request)
            return (await read_message(reader, b"", True))[0]
        finally:
            writer.close()

    @staticmethod
    def edited(answer, edit):
        status = int(answer.split(b" ", 2)[1])
        return http_answer(*edit(status, json.loads(answer.partition(b"\r\n\r\n")[2])))

    @staticmethod
    def end(writer, fault):
        """Ends the connection: in order, or abruptly; or, if bytes are unread, with a reset."""
        if not fault.gently:
            writer.transport.abort()
        raise Broken(b"")

    # --- its end ---
    def close(self):
        self.refuse()
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(20)
        while others := asyncio.all_tasks(self.loop):  # a connection whose handshake just ended brings another one
            for one in others:
                one.cancel()
            self.loop.run_until_complete(asyncio.gather(*others, return_exceptions=True))
        self.loop.close()
        self.place.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
