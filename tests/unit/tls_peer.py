# SPDX-License-Identifier: Apache-2.0
"""A TLS server for test_transfer_tls: tls_peer.py MODE CERTIFICATE KEY [new|old].

MODE is https, smtps, starttls, cut or cut-noticed. The last two send none of their answer to the first request, a byte
to the second and so on, and close: without TLS's own notice of it, or with. Prints "port N", then a line for each thing
that a client did: "request", "login USER PASSWORD", "mail tls" or "mail plain". Ends with its input. "old" is TLS 1.1.
"""
import base64
import contextlib
import itertools
import os
import socket
import ssl
import sys
import threading
import warnings


CUT_ANSWER = b'HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n{"a":1}'
LENGTHS = itertools.count()


def say(text):
    """One line at once, for the test that waits for it."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def https(connection, context):
    """Answers each request of a connection with 204."""
    with context.wrap_socket(connection, server_side=True) as tls:
        data = b""
        while True:
            got = tls.recv(65536)
            if not got:
                return
            data += got
            if data.endswith(b'{"a":1}'):
                say("request")
                tls.sendall(b"HTTP/1.1 204 No Content\r\n\r\n")
                data = b""


def cut(connection, context, noticed):
    """Answers one request with a byte more than the one before it."""
    with context.wrap_socket(connection, server_side=True) as tls:
        data = b""
        while not data.endswith(b'{"a":1}'):
            got = tls.recv(65536)
            if not got:
                return
            data += got
        tls.sendall(CUT_ANSWER[: next(LENGTHS)])
        say("request")
        if noticed:
            with contextlib.suppress(OSError):  # the client need not wait for the end of this
                tls.unwrap()


def smtp(connection, context, at_once):
    """One session, with a login once it is encrypted."""
    if at_once:
        connection = context.wrap_socket(connection, server_side=True)
    encrypted = at_once
    lines = connection.makefile("rb")
    connection.sendall(b"220 peer\r\n")
    while True:
        line = lines.readline()
        word = line[:4].upper()
        if not line or word == b"QUIT":
            connection.close()
            return
        if word == b"EHLO":
            connection.sendall(b"250-peer\r\n250 AUTH PLAIN\r\n" if encrypted else b"250-peer\r\n250 STARTTLS\r\n")
        elif word == b"STAR":
            connection.sendall(b"220 go on\r\n")
            connection = context.wrap_socket(connection, server_side=True)
            lines = connection.makefile("rb")
            encrypted = True
        elif word == b"AUTH":
            connection.sendall(b"334 \r\n")
            _, user, password = base64.b64decode(lines.readline()).decode().split("\0")
            say(f"login {user} {password}")
            right = password == "secret"
            connection.sendall(b"235 welcome\r\n" if right else b"535 5.7.8 wrong\r\n")
        elif word == b"DATA":
            connection.sendall(b"354 go on\r\n")
            while lines.readline() != b".\r\n":
                pass
            say("mail tls" if encrypted else "mail plain")
            connection.sendall(b"250 queued\r\n")
        else:
            connection.sendall(b"250 fine\r\n")


def serve(mode, connection, context):
    """One connection to its end, however it comes."""
    try:
        if mode == "https":
            https(connection, context)
        elif mode in ("cut", "cut-noticed"):
            cut(connection, context, mode == "cut-noticed")
        else:
            smtp(connection, context, mode == "smtps")
    except OSError as error:
        with contextlib.suppress(OSError):  # the test may have ended
            say(f"failed {type(error).__name__}")
    finally:
        connection.close()


def main(mode, certificate, key, versions="new"):
    """Serves until it is told to end."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    if versions == "old":
        warnings.simplefilter("ignore")  # of versions that nobody should use
        context.set_ciphers("ALL:@SECLEVEL=0")
        context.minimum_version = ssl.TLSVersion.TLSv1
        context.maximum_version = ssl.TLSVersion.TLSv1_1
    context.load_cert_chain(certificate, key)
    listener = socket.create_server(("127.0.0.1", 0))
    threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
    say(f"port {listener.getsockname()[1]}")
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=serve, args=(mode, connection, context), daemon=True).start()


if __name__ == "__main__":
    main(*sys.argv[1:])
