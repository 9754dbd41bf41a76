# SPDX-License-Identifier: Apache-2.0
"""How long each page of the dashboard takes of an account with a million charges."""

import os
import sys
import time

from bench import TOP, Bench, check, main

sys.path.insert(0, str(TOP / "tests/api"))
from dashboard import FILLED_PAGES, Person, fill, settings  # noqa: E402
from workload import Server, serving  # noqa: E402

STORED = int(os.environ.get("BENCH_STORED", "1000000"))
TRIES = 20
PAGE_MS_MAX = 50


def take(person, path):
    """How long one page took, in ms."""
    began = time.monotonic()
    answer = person.get(path)
    check(answer.status == 200, f"{path} was answered {answer}")
    return (time.monotonic() - began) * 1000


def run():
    bench = Bench("dashboard", f"Pages of the dashboard, {STORED:,} charges stored")
    server = Server()
    server.modules += [name for name in ("auth_basic", "authn_file", "authn_core", "authz_user")
                       if name not in server.modules]
    server.host_extra = settings(server)
    with serving(server):
        shop = server.shop()
        server.ctl("account", "grant", shop.name, "vera", "--host", "localhost", "--role", "viewer")
        began = time.monotonic()
        fill(server, shop, STORED)
        print(f"  {STORED:,} charges filled in, {time.monotonic() - began:.0f} s", flush=True)
        person = Person(server, "vera")
        for page in FILLED_PAGES:
            times = [take(person, f"accounts/{shop.name}/test/{page}") for _ in range(TRIES)]
            bench.measure(page, times, "ms", PAGE_MS_MAX, PAGE_MS_MAX / 5, at_most=True)
    bench.note("One client; a search that finds nothing looks at a bounded number of rows and says where to go on.")
    return bench.finish()


if __name__ == "__main__":
    main(run)
