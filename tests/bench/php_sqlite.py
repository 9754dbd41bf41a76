# SPDX-License-Identifier: Apache-2.0
"""Durable charges against the same insert in PHP: mod_php, PDO, SQLite (WAL, synchronous=FULL)."""

import glob
import json
import secrets
import shutil
import sqlite3

from bench import Bench, Side, check, main
from harness import ROOT, apxs
from workload import (CHARGE_LUA, CLIENTS, HERE, PREFORK_1024, SECONDS, WARM_UP_S, Charges, Server, all_good, run_name,
                      serving, twice, wrk)

SCHEMA = """
PRAGMA journal_mode=WAL;
CREATE TABLE charge (
    id INTEGER PRIMARY KEY, reference TEXT NOT NULL, request_digest TEXT NOT NULL, record TEXT NOT NULL);
CREATE TABLE charge_ref (reference TEXT PRIMARY KEY, charge INTEGER NOT NULL) WITHOUT ROWID;
"""


class Shop:
    """Charges through charge.php; each that was acknowledged must be in both tables."""

    def __init__(self):
        library = glob.glob(f"{apxs('LIBEXECDIR')}/libphp*.so")
        check(library, "mod_php is not installed")
        self.secret = secrets.token_hex(24)
        self.server = Server(PREFORK_1024, mpm="prefork", payments=False)
        folder = self.server.root / "sqlite"
        self.database = folder / "shop.db"
        self.server.extra += (f"LoadModule php_module {sorted(library)[-1]}\n<FilesMatch \\.php$>\nSetHandler "
                              f"application/x-httpd-php\n</FilesMatch>\nSetEnv BENCH_DATABASE {self.database}\n"
                              f"SetEnv BENCH_SECRET {self.secret}\nSetEnvIf Authorization (.*) HTTP_AUTHORIZATION=$1")
        shutil.copy(HERE / "charge.php", self.server.docroot)
        folder.mkdir()
        with sqlite3.connect(self.database) as db:
            db.executescript(SCHEMA)
        if ROOT:
            for path in (folder, *folder.iterdir()):
                shutil.chown(path, "www-data", "www-data")
        self.acknowledged = self.open_ended = 0

    def run(self, seconds=SECONDS):
        result = all_good("charge.php", wrk(self.server, "/charge.php", CLIENTS, self.secret, CHARGE_LUA, run_name(),
                                            seconds))
        self.acknowledged += result["requests"]
        self.open_ended += CLIENTS
        self.check()
        return result

    def check(self):
        db = sqlite3.connect(self.database, timeout=60)
        stored, = db.execute("SELECT COUNT(*) FROM charge JOIN charge_ref ON charge = id").fetchone()
        db.close()
        check(self.acknowledged <= stored <= self.acknowledged + self.open_ended,
              f"PHP acknowledged {self.acknowledged} charges, {stored} are in its database")

    def sample(self, charges):
        """One charge on each side: the answers are of about one size."""
        body = {"token": "tok_test_success", "amount": 1500.50, "email": "ada@example.com", "reference": "order-php"}
        answer = self.server.request("POST", "/charge.php", json.dumps(body),
                                     {"Authorization": f"Bearer {self.secret}"})
        check(answer.status == 200 and answer.json["data"]["reference"] == "order-php", f"PHP answered {answer}")
        self.acknowledged += 1
        return len(charges.sample().body), len(answer.body)


def run():
    bench = Bench("php_sqlite", "Durable charges against PHP with SQLite")
    shop = Shop()
    with serving(Server(), Server(PREFORK_1024, mpm="prefork"), shop.server) as (event, prefork, _):
        ours, alike = Charges(event), Charges(prefork)
        lengths = shop.sample(ours)
        sides, installed = twice((event, prefork, shop.server), lambda: (
            Side("event", ours.run), Side("prefork", alike.run), Side("PHP", shop.run)),
            lambda: [one.run(seconds=WARM_UP_S) for one in (ours, alike, shop)])
    bench.compare(f"durable charges/s, {CLIENTS} clients, event, against PHP and SQLite (prefork)", sides[0],
                  sides[2], 5, 10, key="php_sqlite", installed=(installed[0], installed[2]))
    bench.compare(f"durable charges/s, {CLIENTS} clients, prefork, against PHP and SQLite", sides[1], sides[2],
                  installed=(installed[1], installed[2]))
    bench.note("mod_php runs with prefork only. On prefork each charge is a commit of its own, as each of PHP's inserts "
               "is: what waits together is committed together within a process only. PHP keeps its connection to the "
               f"database, has its opcode cache, and answers {lengths[1]} bytes, the module {lengths[0]}.")
    return bench.finish()


if __name__ == "__main__":
    main(run)
