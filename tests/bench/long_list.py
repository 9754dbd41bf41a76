# SPDX-License-Identifier: Apache-2.0
"""A list of a million refunds: its first byte, and the child's memory while slow clients read it."""

import os
import socket
import time

from bench import ROUNDS, Bench, check, main
from harness import wait_for
from workload import LIST_PATH, Server, import_history, private_bytes, serving

RECORDS = int(os.environ.get("BENCH_RECORDS", "1000000"))
SLOW_CLIENTS = 8  # beside one alone
SLOW_S = int(os.environ.get("BENCH_SLOW_SECONDS", "5"))
READ_BYTES = 64 * 1024  # of each slow client, ten times a second
ASKED = 21
MIB = 2**20
NAME = b'"refundReference":'  # once in each record
FILE_PATH = "/list.json"
SIZES = ("StartServers 1\nServerLimit 1\nThreadsPerChild 64\nThreadLimit 64\nMaxRequestWorkers 64\n"
         "MinSpareThreads 1\nMaxSpareThreads 64")


def connect(server, shop, room=None, path=LIST_PATH):
    """A connection on which the list, or the file that has its bytes, was asked for."""
    sock = socket.socket()
    if room:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, room)
    sock.settimeout(20)
    sock.connect(("127.0.0.1", server.port))
    began = time.monotonic()
    sock.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {shop.secret}\r\n\r\n".encode())
    return sock, began


def first_byte_ms(server, shop):
    """From the request to the first byte of the body."""
    sock, began = connect(server, shop)
    with sock:
        got = b""
        while b"\r\n\r\n" not in got or got.endswith(b"\r\n\r\n"):
            part = sock.recv(4096)
            check(part, "the list ended before it began")
            got += part
        took = time.monotonic() - began
    check(got.startswith(b"HTTP/1.1 200 "), f"the list was answered {got[:100]!r}")
    return took * 1000


def whole_list(server, shop):
    """Reads it to its end into a static file; returns its bytes once the number of its records is right."""
    connection = server.connect(timeout=600)
    connection.request("GET", LIST_PATH, headers={"Authorization": f"Bearer {shop.secret}"})
    answer = connection.getresponse()
    total, count, tail = 0, 0, b""
    with open(server.docroot / FILE_PATH[1:], "wb") as file:
        while part := answer.read(MIB):
            file.write(part)
            total += len(part)
            count += (tail + part).count(NAME)
            tail = part[1 - len(NAME):]
    connection.close()
    check(count == RECORDS and tail.endswith(b"]"), f"a list of {RECORDS} records has {count}")
    return total


def slow_growth(server, shop, path, clients):
    """The most that a fresh child's memory grew while slow clients read, in MiB, and how much they read."""
    server.restart()
    child, = wait_for(lambda: (server.pids() if len(server.pids()) == 1 else None), "one child")
    before = private_bytes(child)
    socks = [connect(server, shop, READ_BYTES, path)[0] for _ in range(clients)]
    grown, read, end = [], [0] * clients, time.monotonic() + SLOW_S
    while time.monotonic() < end:
        for number, sock in enumerate(socks):
            part = sock.recv(READ_BYTES)
            check(part, "a slow client was cut off")
            check(read[number] or part.startswith(b"HTTP/1.1 200 "), f"a slow client was answered {part[:100]!r}")
            read[number] += len(part)
        grown.append((private_bytes(child) - before) / MIB)
        time.sleep(0.1)
    check(server.pids() == [child], "the child was replaced")
    for sock in socks:
        sock.close()
    return max(grown), sum(read)


def memory_round(server, shop, total):
    """The growth with one client, with several, and with as many that read the static file."""
    one, read = slow_growth(server, shop, LIST_PATH, 1)
    check(read < total / 2, "the slow client was at the list's end")
    several, _ = slow_growth(server, shop, LIST_PATH, SLOW_CLIENTS)
    static, _ = slow_growth(server, shop, FILE_PATH, SLOW_CLIENTS)
    return {"one": one, "several": several, "static": static, "read": read}


def run():
    bench = Bench("long_list", f"A list of {RECORDS:,} refunds")
    with serving(Server(SIZES)) as server:
        shop = server.shop()
        began = time.monotonic()
        import_history(server, shop, RECORDS)
        print(f"  {RECORDS:,} records imported in {time.monotonic() - began:.0f} s", flush=True)
        first_byte_ms(server, shop)
        first = [first_byte_ms(server, shop) for _ in range(ASKED)]
        began = time.monotonic()
        total = whole_list(server, shop)
        print(f"  {total / MIB:.0f} MiB in {time.monotonic() - began:.1f} s, {RECORDS:,} records in it", flush=True)
        grown = []
        for number in range(1, ROUNDS + 1):
            grown.append(memory_round(server, shop, total))
            print(f"  round {number} of {ROUNDS}: a child grew by {grown[-1]['one']:.2f} MiB for one slow client, by "
                  f"{grown[-1]['several']:.2f} for {SLOW_CLIENTS}; with a static file by {grown[-1]['static']:.2f}",
                  flush=True)
    bench.measure(f"first byte of {RECORDS:,} refunds", first, "ms", 5, 5, at_most=True, key="first_byte")
    bench.measure("private memory of the child while a slow client reads it", [one["one"] for one in grown], "MiB",
                  1, 1, at_most=True, key="long_list_memory")
    bench.measure(f"the same with {SLOW_CLIENTS} slow clients", [one["several"] for one in grown], "MiB", at_most=True)
    bench.measure(f"the same with {SLOW_CLIENTS} slow clients of a static file", [one["static"] for one in grown], "MiB",
                  at_most=True)
    bench.note(f"{ASKED} requests after each other for the first byte. The slow clients read {READ_BYTES // 1024} KiB "
               f"ten times a second for {SLOW_S} s: {grown[-1]['read'] / MIB:.0f} of {total / MIB:,.0f} MiB. The memory "
               "is the greatest growth of the private memory of a child that has just been started.")
    return bench.finish()


if __name__ == "__main__":
    main(run)
