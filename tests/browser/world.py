#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a browser needs around it: a private server with a dashboard, its store, a receiver of webhooks, a mail relay.

The tests of this folder start it and speak with it by lines of JSON: {"do": a method of World, "with": its arguments}
in, {"is": its answer} or {"failed": why} out. It ends, and tells what was wrong in the server's log, with its input.
"""

import base64
import datetime
import hashlib
import json
import mmap
import os
import pathlib
import random
import struct
import sys
import time
import traceback

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "api"))

from harness import BUILD, Httpd, charge_body, loaded, wait_for  # noqa: E402
from mail_server import Relay  # noqa: E402
from receiver import INSECURE, Receiver  # noqa: E402

PATH = "/payments-dashboard"
PAGES = BUILD / "share/dashboard"  # as make put it together, with the library of its charts
PASSWORD = "right"
PAYERS = (("Ada Obi", "ada@example.com"), ("Bayo Ade", "bayo@example.com"), ("Chidi Eze", "chidi@example.org"),
          ("Dele Musa", "dele@example.net"), ("Efe Okoro", "efe@example.com"))
CALLS = ("start", "expect", "ctl", "account", "grant", "call", "charge", "charges", "clock", "sample", "receiver", "answer", "got",
         "refused", "taken", "told", "events", "settled", "mails", "loud")


class World:
    def __init__(self):
        self.httpd = self.relay = None
        self.receivers = []
        self.keys = {}

    # --- the server ---
    def start(self, users, extra="", at=None, modules=()):
        """`users` may sign in with PASSWORD; `extra` is configuration, in which @KEY@ stands for the file of a key.

        `at`: what the server's clock begins with, else it is the real one.
        """
        self.relay = Relay()
        env = {}
        if at:
            env = {"LD_PRELOAD": loaded("faults/preload_clock"), "PAYMENTS_CLOCK_FILE": "{root}/clock"}
        self.httpd = Httpd(env=env, modules=modules, extra=f"{INSECURE}PaymentsMailRelay {self.relay.url}\n"
                           "PaymentsMailFrom payments@shop.example\n")
        if at:
            (self.httpd.root / "clock").write_bytes(struct.pack("=q", 0))
            (self.httpd.root / "clock").chmod(0o644)
            self.clock(at)
        digest = base64.b64encode(hashlib.sha1(PASSWORD.encode()).digest()).decode()
        (self.httpd.root / "users").write_text("".join(f"{user}:{{SHA}}{digest}\n" for user in users))
        self.httpd.host_extra = f"""
PaymentsDashboard {PATH}
PaymentsDashboardFiles {PAGES}
<Location "{PATH}">
AuthType Basic
AuthName payments
AuthBasicProvider file
AuthUserFile {self.httpd.root}/users
Require valid-user
</Location>
{extra.replace("@KEY@", str(self.httpd.root / "acquirer.key"))}
"""
        with open(self.httpd.root / "acquirer.key", "w", encoding="utf-8",
                  opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
            file.write("pay_livesk_" + "k" * 48 + "\n")
        (self.httpd.docroot / "favicon.ico").write_bytes(b"")  # browsers ask for it by themselves
        self.expect("PAY00680", always=True)  # pages of the tests lie beside the dashboard
        self.httpd.start()
        return {"origin": f"http://127.0.0.1:{self.httpd.port}", "path": PATH, "password": PASSWORD,
                "docroot": str(self.httpd.docroot)}

    def expect(self, pattern, always=False):
        """The log may say so until `loud` is asked next, or always."""
        self.httpd.expect_log(pattern, always=always)

    def loud(self):
        """Lines of the error log since the last call that nobody expected."""
        return self.httpd.unexpected()

    def clock(self, at):
        """Sets the server's clock to a time in RFC 3339."""
        offset = datetime.datetime.fromisoformat(at.replace("Z", "+00:00")).timestamp() - time.time()
        with open(self.httpd.root / "clock", "r+b") as out, mmap.mmap(out.fileno(), 8) as memory:
            memory[:] = struct.pack("=q", int(offset * 1_000_000))

    # --- the store ---
    def ctl(self, *args):
        env = {**self.httpd.environment()} if self.httpd.env else None
        return self.httpd.ctl(*args, env=env).stdout

    def account(self, name, grants=None):
        """A new account, what its users may, and its secret test key."""
        self.ctl("account", "create", name)
        for user, role in (grants or {}).items():
            self.grant(name, user, role)
        self.keys[name] = self.ctl("key", "create", name, "--mode", "test", "--kind", "secret").strip()
        return self.keys[name]

    def grant(self, name, user, role):
        self.ctl("account", "grant", name, user, "--host", "localhost", "--role", role)

    # --- calls of the API ---
    def call(self, account, method, path, body=None):
        headers = {"Authorization": f"Bearer {self.keys[account]}", "Content-Type": "application/json"}
        answer = self.httpd.request(method, path, None if body is None else json.dumps(body), headers)
        return {"status": answer.status, "body": answer.json}

    def charge(self, account, fields=None):
        answer = self.call(account, "POST", "/api/v1/tokenized-card-charge", charge_body(**(fields or {})))
        assert answer["status"] in (200, 202), answer
        return answer["body"]["data"]

    def charges(self, account, rows):
        return [self.charge(account, fields)["reference"] for fields in rows]

    def sample(self, account, to, days=30):
        """So many days of charges and refunds, the same each time; the clock goes on to `to` with them."""
        chance, number = random.Random(days), 1001
        end = datetime.datetime.fromisoformat(to.replace("Z", "+00:00"))
        for day in range(days, -1, -1):
            morning = end - datetime.timedelta(days=day, hours=3)
            for minute in sorted(chance.sample(range(150), chance.randint(2, 6))):
                self.clock((morning + datetime.timedelta(minutes=minute)).isoformat())
                name, email = chance.choice(PAYERS)
                first, last = name.split()
                token = chance.choices(["tok_test_success", "tok_test_declined", "tok_test_insufficient_funds"],
                                       [16, 1, 1])[0]
                currency, amount = chance.choices([("NGN", chance.randrange(500, 60000, 50)),
                                                   ("EUR", chance.randrange(5, 120))], [5, 1])[0]
                paid = self.charge(account, {"reference": f"order-{number}", "token": token, "amount": amount,
                                             "currency": currency, "email": email, "firstName": first,
                                             "lastName": last})
                if paid["status"] == "successful" and chance.random() < 0.08:
                    self.call(account, "POST", "/api/v1/partial-refund",
                              {"reference": f"order-{number}", "amount": amount // 5 + 1,
                               "customer_note": "One item was missing"})
                number += 1
        self.clock(to)

    # --- what the server sends ---
    def receiver(self):
        self.receivers.append(Receiver())
        return {"number": len(self.receivers) - 1, "url": self.receivers[-1].url()}

    def answer(self, number, status):
        self.receivers[number].default = status

    def got(self, number, count=1):
        """The deliveries, once so many were taken."""
        return [{"id": one.id, "body": one.json, "answer": one.answer}
                for one in self.receivers[number].wait(count)]

    def refused(self, number, reference):
        """Returns once something of a charge came and was not taken."""
        here = self.receivers[number]
        wait_for(lambda: any(one.reference == reference and not one.taken for one in list(here.got)), "a refusal")

    def taken(self, number, reference):
        here = self.receivers[number]
        wait_for(lambda: any(one.reference == reference and one.taken for one in list(here.got)), "a delivery")

    def told(self, number, reference, count):
        """What was told of a charge, once it is so much."""
        here = self.receivers[number]

        def found():
            return [one.json for one in list(here.got) if one.taken and one.reference == reference]
        wait_for(lambda: len(found()) >= count, f"{count} events of {reference}")
        return found()

    def settled(self, account):
        """Returns once nothing waits to be told."""
        wait_for(lambda: not json.loads(self.ctl("event", "list", account, "--mode", "test", "--json")), "all to be told")

    def mails(self, recipient, count=1):
        return [{"subject": mail.header("subject"), "text": mail.text} for mail in self.relay.wait(recipient, count)]

    def events(self, account, standing):
        """The account's events that stand so, once there are any."""
        return wait_for(lambda: [event for event in json.loads(self.ctl("event", "list", account, "--mode", "test",
                                                                        "--json")) if event["standing"] == standing],
                        f"an event {standing}")

    # --- the end ---
    def close(self):
        """What the log or a sanitizer said that no test expected."""
        try:
            if self.httpd:
                self.httpd.close()
        except AssertionError as failure:
            return str(failure)
        finally:
            for one in self.receivers:
                one.close()
            if self.relay:
                self.relay.close()
        return None


def say(answer):
    print(json.dumps(answer), flush=True)


def main():
    world = World()
    for line in sys.stdin:
        asked = json.loads(line)
        try:
            assert asked["do"] in CALLS, asked["do"]
            say({"is": getattr(world, asked["do"])(*asked["with"])})
        except Exception:  # pylint: disable=broad-except # the test that asked fails with it
            say({"failed": traceback.format_exc()})
    wrong = world.close()
    say({"failed": wrong} if wrong else {"is": None})


if __name__ == "__main__":
    main()
