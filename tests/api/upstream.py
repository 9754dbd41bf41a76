# SPDX-License-Identifier: Apache-2.0
"""Two servers with money between them: an upstream, which is mod_payments in Test Mode behind TLS, and shops whose
Live Mode goes through it, via a proxy of the tests.
"""

import functools
import http.client
import json
import ssl

from harness import WAIT_S, Httpd, Shop, any_name, run_ctl, run_ctl_lines

EMAIL = "ada@example.com"
# The upstream's own tokens: its test tokens do not exist in Live Mode. Their cards decide the outcome.
TOKENS = {
    "acq_success": "5555555555554444",
    "acq_declined": "1234567898765432",
    "acq_insufficient": "4000000000009995",
    "acq_pending": "4000000000000119",  # no answer for now, successful later
}
# A shop's server's log lines about a failed call: how it failed, and that its charge or refund has an unknown outcome.
ACQUIRER_CUT = "PAY00400|PAY00203|PAY00213"
FETCH_CUT = "PAY00446|PAY00731"  # and of lists of refunds that could not be fetched
CHARGE = "/api/v1/tokenized-card-charge"
PARTIAL = "/api/v1/partial-refund"


class Upstream(Httpd):
    """An httpd that speaks TLS with a certificate of `authority`; its account is called merchant."""

    def __init__(self, authority, host_extra="", **options):
        super().__init__(modules=["socache_shmcb", "ssl"], **options)
        self.authority = authority
        authority.context("good")  # makes its files
        self.extra += f"\nSSLSessionCache shmcb:{self.root}/sessions(512000)\n"
        self.host_extra = (f"SSLEngine On\nSSLCertificateFile {authority.folder}/good.pem\n"
                           f"SSLCertificateKeyFile {authority.folder}/good.key\n{host_extra}")
        run_ctl(self.store, "account", "create", "merchant")

    def connect(self, timeout=WAIT_S):
        context = ssl.create_default_context(cafile=self.authority.file)
        return http.client.HTTPSConnection("127.0.0.1", self.port, timeout=timeout, context=context)

    @functools.cached_property
    def key(self):
        """The secret key that shops pay with."""
        return self.ctl("key", "create", "merchant", "--mode", "test", "--kind", "secret").stdout.strip()

    def make_tokens(self):
        for token, card in TOKENS.items():
            self.ctl("token", "create", "merchant", "--mode", "test", "--card", card, "--email", EMAIL,
                     "--token", token)

    def call(self, method, path, body=None):
        """A call of its API by the merchant, bypassing every shop and proxy."""
        headers = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"}
        return self.request(method, path, None if body is None else json.dumps(body), headers)

    def rows(self, noun):
        """All its charges or refunds."""
        return json.loads(self.ctl(noun, "list", "merchant", "--mode", "test", "--json").stdout)

    def charges(self, after=0):
        """Its charges by reference, after the one with this id."""
        return {row["reference"]: row for row in self.rows("charge") if row["id"] > after}

    def last(self):
        """The id of its last charge: a test's charges come after it."""
        return max((row["id"] for row in self.rows("charge")), default=0)


def open_account(store, name, live=True):
    """Creates an account, by default in Live Mode; returns a secret key of its Live Mode."""
    mode = [f"account mode {name} live"] if live else []
    key = f"key create {name} --mode live --kind secret"
    return run_ctl_lines(store, [f"account create {name}", *mode, key])[-1]["key"]


class LiveShop(Shop):
    """The account `name` of `httpd`, whose calls use Live Mode by default."""

    def __init__(self, httpd, name, secret):
        super().__init__(httpd, name, secret)
        self.live_secret = secret

    @functools.cached_property
    def test_secret(self):
        return self.key("test", "secret")

    def charge(self, connection=None, key=None, headers=None, **fields):
        return super().charge(connection, key, headers, **{"token": "acq_success", "email": EMAIL, **fields})

    def partial(self, ref, amount, headers=None, **fields):
        return self.call("POST", PARTIAL, {"reference": ref, "amount": amount, **fields}, headers=headers)

    def refund(self, reference, amount=None, **options):
        """By the tool."""
        more = [part for name, value in options.items() for part in ("--" + name.replace("_", "-"), value)]
        more += ["--amount", amount] if amount is not None else []
        return json.loads(self.httpd.ctl("refund", "create", self.name, "--mode", "live", "--reference", reference,
                                         *more, "--json").stdout)

    def verify(self, ref):
        """The transaction object as it is now."""
        answer = self.call("GET", f"/api/v1/checkout/{ref}/verify")
        assert answer.status == 200, answer
        return answer.json["data"]

    def rows(self, noun, mode="live"):
        return json.loads(self.httpd.ctl(noun, "list", self.name, "--mode", mode, "--json").stdout)

    def rows_held(self):
        """Payments that wait for a person."""
        return json.loads(self.httpd.ctl("held", "list", self.name, "--json").stdout)

    def refund_row(self, reference):
        """Returns None if the refund does not exist."""
        done = self.httpd.ctl("refund", "show", self.name, reference, "--mode", "live", "--json", check=False)
        return json.loads(done.stdout) if done.returncode == 0 else None

    def mode(self, mode):
        self.httpd.ctl("account", "mode", self.name, mode)


class Till(Httpd):
    """A server of one account, shop, whose Live Mode goes through `url` with `key`; not started yet.

    The upstream serves other shops too, whose refunds would be fetched: they are only with `sync`.
    """

    def __init__(self, url, key, authority, parameters="", acquirer=True, live=True, sync="off", host_extra="",
                 **options):
        super().__init__(**options)
        self.key_file = self.root / "acquirer.key"
        self.key_file.touch(mode=0o600)
        self.key_file.write_text(key + "\n")
        self.given = (f"PaymentsAcquirer live relay {url} key=file:{self.key_file} ca={authority.file} {parameters}\n"
                      if acquirer else "")
        self.host_extra = f"PaymentsAccount shop\nPaymentsRefundSync {sync}\n{self.given}{host_extra}"
        self.live_shop = LiveShop(self, "shop", open_account(self.store, "shop", live))

    def unexpected(self):
        """The server logs at each start that a key of the upstream's Test Mode moves no money."""
        self.expect_log("PAY00381")
        return super().unexpected()

def live_reference():
    return any_name("shop-")


# --- the two systems compared ---

NOT_RECEIVED = "The charge was not received by the acquirer."
GIVEN = ("successful", "reversed")


def compare(shop, upstream, after=0):
    """Differences between the shop's books and the upstream's, as sentences; an empty list if there are none.

    The upstream's charges with an id above `after` are compared with all live ones of the shop. No two of them may
    have the same amount: it identifies a charge in both, whatever its names. The same holds for the refunds of one
    charge.
    """
    ours = {row["amount"]: row for row in shop.rows("charge")}
    theirs = {row["amount"]: row for row in upstream.charges(after).values()}
    found = []
    for amount in sorted({*ours, *theirs}):
        found += differ(ours.get(amount), theirs.get(amount))
    if len(theirs) != len(upstream.charges(after)):
        found.append("two charges of one amount upstream")
    if len(ours) != len(shop.rows("charge")):
        found.append("two charges of one amount here")
    return found + compare_refunds(shop, upstream, ours, theirs)


def differ(our, their):
    """Of one charge: each side's row, or None."""
    if their is None:
        if our["status"] == "failed" and our["gatewayResponseMessage"] == NOT_RECEIVED:
            return []
        return [f"unknown upstream: {our}"]
    if our is None:
        return [f"unknown here: {their}"]
    same = ("status", "currency", "refundedAmount", "authorizationCode")
    wrong = [name for name in same if our[name] != their[name]]
    return [f"{', '.join(wrong)} differ: {our} {their}"] if wrong else []


def compare_refunds(shop, upstream, ours, theirs):
    names = {row["reference"]: amount for amount, row in ours.items()}
    their_names = {row["reference"]: amount for amount, row in theirs.items()}
    here, there, found = {}, {}, []
    for row in shop.rows("refund"):
        key = (names.get(row["transactionReference"]), row["amount"])
        if key in here or row["transactionReference"] in their_names:
            found.append(f"listed twice here: {row} {here.get(key)}")
        if key[0] is not None:  # else it was fetched from the upstream, for a charge of another shop
            here[key] = row
    for row in upstream.rows("refund"):
        key = (their_names.get(row["transactionReference"]), row["amount"])
        if key[0] is None:
            continue  # of what another test charged
        if key in there:
            found.append(f"given back twice upstream: {row} {there[key]}")
        there[key] = row
    for key in {*here, *there}:
        our, their = (side[key]["status"] if key in side else None for side in (here, there))
        if our != their and not (our == "failed" and their is None):
            found.append(f"refund {key}: {our} here, {their} upstream")
    return found
