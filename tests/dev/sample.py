# SPDX-License-Identifier: Apache-2.0
"""sample.py URL KEYFILE CLOCK: makes thirty days of charges and refunds in Test Mode, for the dashboard to show.

The server that it calls reads its wall clock through libfaketime, ahead by the seconds in the file CLOCK.
"""

import http.client
import json
import pathlib
import random
import sys
import urllib.parse

DAYS = 30
DAY = 24 * 3600
PAYERS = [("ada@example.com", "Ada", "Obi"), ("chidi@example.com", "Chidi", "Eze"), ("zoe@example.com", "Zoé", "Martin"),
          ("kofi@example.com", "Kofi", "Mensah"), ("lin@example.com", "Lin", "Wang")]
OUTCOMES = ["tok_test_success"] * 12 + ["tok_test_declined", "tok_test_insufficient_funds", "tok_test_expired_card"]


class Till:
    def __init__(self, url, key):
        self.connection = http.client.HTTPConnection(urllib.parse.urlsplit(url).netloc, timeout=30)
        self.headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}

    def call(self, path, body):
        self.connection.request("POST", path, json.dumps(body), self.headers)
        answer = self.connection.getresponse()
        said = json.loads(answer.read())
        if answer.status != 200:
            sys.exit(f"sample.py: {path} answered {answer.status}: {said['message']}")
        return said


def day_of(till, dice, number):
    """Makes a few charges, more of them as the shop becomes known, and some refunds."""
    for order in range(2 + number // 8 + dice.randrange(4)):
        email, first, last = dice.choice(PAYERS)
        reference = f"sample-{number:02}-{order}"
        currency, amount = ("USD", dice.randrange(900, 9000)) if dice.random() < 0.2 else ("NGN", dice.randrange(50000, 900000))
        made = till.call("/api/v1/tokenized-card-charge", {
            "token": dice.choice(OUTCOMES), "amount": amount / 100, "currency": currency, "email": email,
            "firstName": first, "lastName": last, "reference": reference})
        if made["status"] and dice.random() < 0.15:
            part = amount if dice.random() < 0.4 else amount // 3
            till.call("/api/v1/partial-refund", {"reference": reference, "amount": part / 100,
                                                 "customer_note": "It came too late."})


def main():
    url, key, clock = sys.argv[1], pathlib.Path(sys.argv[2]).read_text().strip(), pathlib.Path(sys.argv[3])
    dice = random.Random(1)
    till = Till(url, key)
    for number in range(DAYS):
        till.connection.close()  # for the server it has been idle for a day
        clock.write_text(f"-{(DAYS - 1 - number) * DAY + 600}\n")
        day_of(till, dice, number)


main()
