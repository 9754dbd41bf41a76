# SPDX-License-Identifier: Apache-2.0
"""An upstream behind TLS for the tests of the relay: relay_peer.py CERTIFICATE KEY.

Prints "port N". Then it is told by lines what to do, and answers each with one line that is a number. "clear" forgets all
answers and requests. "answer THEN PREFIX LENGTH", with so many bytes behind the line, is what requests are answered
whose path begins with PREFIX (the longest prefix counts). "release" answers what is held. "count" tells how many
requests came, "connections" on how many connections, "ends" how many of these it has closed. "request N" tells the
length of the Nth one, whose bytes follow. Ends with its input.

THEN is what follows an answer: keep (the next request), close, cut (closes without TLS's notice), hang; or hold: the
answer waits for "release", then as keep.
"""
import contextlib
import os
import socket
import ssl
import sys
import threading

LOCK = threading.Lock()
ANSWERS = {}
REQUESTS = []
CONNECTIONS = [0]
ENDS = [0]
RELEASED = threading.Event()


def request_of(tls):
    """A whole request; None where the connection ends first."""
    data = b""
    while b"\r\n\r\n" not in data:
        got = tls.recv(65536)
        if not got:
            return None
        data += got
    head, _, body = data.partition(b"\r\n\r\n")
    length = 0
    for line in head.split(b"\r\n")[1:]:
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)
    while len(body) < length:
        got = tls.recv(65536)
        if not got:
            return None
        body += got
    return head + b"\r\n\r\n" + body


def answer_to(request):
    """What follows, and the bytes."""
    path = request.split(b" ")[1]
    with LOCK:
        REQUESTS.append(request)
        prefixes = [prefix for prefix in ANSWERS if path.startswith(prefix)]
        return ANSWERS[max(prefixes, key=len)] if prefixes else ("close", b"")


def serve(connection, context):
    """One connection to its end."""
    with contextlib.suppress(OSError), context.wrap_socket(connection, server_side=True) as tls:
        with LOCK:
            CONNECTIONS[0] += 1
        while True:
            request = request_of(tls)
            if request is None:
                return
            then, text = answer_to(request)
            if then == "hold":
                RELEASED.wait()
            tls.sendall(text)
            if then == "hang":
                threading.Event().wait()
            if then not in ("keep", "hold"):
                if then == "close":
                    tls.settimeout(0)
                    with contextlib.suppress(OSError):  # the notice is sent; the client's is not waited for
                        tls.unwrap()
                with LOCK:
                    ENDS[0] += 1
                return


def accept(listener, context):
    """Connections, for ever."""
    while True:
        connection, _ = listener.accept()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        threading.Thread(target=serve, args=(connection, context), daemon=True).start()


def obey(words, told):
    """One order; the reply."""
    with LOCK:
        if words[0] == b"clear":
            ANSWERS.clear()
            REQUESTS.clear()
            CONNECTIONS[0] = ENDS[0] = 0
            RELEASED.clear()
        elif words[0] == b"release":
            RELEASED.set()
        elif words[0] == b"answer":
            ANSWERS[words[2]] = (words[1].decode(), told.read(int(words[3])))
        elif words[0] == b"count":
            return b"%d\n" % len(REQUESTS)
        elif words[0] == b"connections":
            return b"%d\n" % CONNECTIONS[0]
        elif words[0] == b"ends":
            return b"%d\n" % ENDS[0]
        elif words[0] == b"request":
            request = REQUESTS[int(words[1]) - 1]
            return b"%d\n" % len(request) + request
    return b"0\n"


def main():
    """Serves until its input ends."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[1], sys.argv[2])
    listener = socket.create_server(("127.0.0.1", 0), backlog=64)
    threading.Thread(target=accept, args=(listener, context), daemon=True).start()
    said, told = sys.stdout.buffer, sys.stdin.buffer
    said.write(b"port %d\n" % listener.getsockname()[1])
    said.flush()
    for line in told:
        said.write(obey(line.split(), told))
        said.flush()
    os._exit(0)


main()
