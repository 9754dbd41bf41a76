# SPDX-License-Identifier: Apache-2.0
"""A client of mod_payments in one file, for Python 3.9 and later, without other packages (docs/clients.md).

    from payments import Payments, is_paid
    shop = Payments("https://shop.example", "pay_testsk_...")
    charge = shop.charge(token="tok_...", amount="1500.50", email="ada@example.com", reference="order-1001-7f3a")
    if is_paid(charge): ...

Amounts are strings or Decimal or int, never float: 0.1 + 0.2 is no amount. A call that got no answer may be repeated
as it was: a charge is made once for its reference, a refund once for its idempotency_key.
"""

import base64
import decimal
import hashlib
import hmac
import json
import time
import urllib.error
import urllib.parse
import urllib.request


class PaymentError(Exception):
    """What the server refused. status is HTTP's, code the API's, errors names the fields at fault."""

    def __init__(self, status, body):
        data = body.get("data") if isinstance(body.get("data"), dict) else {}
        self.status, self.code = status, data.get("responseCode", "")
        self.errors, self.request_id = data.get("errors", []), data.get("requestId", "")
        super().__init__(body.get("message") or f"HTTP {status}")


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A key goes nowhere but to the address that was given."""

    def redirect_request(self, *args, **kwargs):
        return None


def is_paid(transaction):
    """Whether the shop has the money: by the one word that says so, whatever words come later."""
    return transaction.get("paymentStatus") == "successful"


def _amount(value):
    if isinstance(value, (str, int)) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, decimal.Decimal):
        return format(value, "f")
    raise TypeError("an amount is a str, an int or a Decimal")


class Payments:
    def __init__(self, base_url, key, timeout=60):
        self.base_url, self.key, self.timeout = base_url.rstrip("/"), key, timeout
        self._opener = urllib.request.build_opener(_NoRedirect)

    def call(self, method, path, body=None, idempotency_key=None):
        """The answer's JSON; raises PaymentError for a refusal, OSError where there was no answer."""
        headers = {"Authorization": f"Bearer {self.key}", "Accept": "application/json"}
        if body is not None:
            headers["Content-Type"] = "application/json"
        if idempotency_key is not None:
            headers["Idempotency-Key"] = idempotency_key
        request = urllib.request.Request(self.base_url + path, json.dumps(body).encode() if body is not None else None,
                                         headers, method=method)
        try:
            with self._opener.open(request, timeout=self.timeout) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as refusal:
            try:
                said = json.loads(refusal.read())
            except ValueError:
                said = {}
            raise PaymentError(refusal.code, said if isinstance(said, dict) else {}) from None

    def charge(self, token, amount, email, reference, **more):
        """The transaction, approved or declined: see is_paid. more: currency, firstName, lastName."""
        body = {"token": token, "amount": _amount(amount), "email": email, "reference": reference, **more}
        return self.call("POST", "/api/v1/tokenized-card-charge", body)["data"]

    def verify(self, reference):
        return self.call("GET", f"/api/v1/checkout/{urllib.parse.quote(reference, safe='')}/verify")["data"]

    def refund(self, reference, amount=None, idempotency_key=None, **notes):
        """The refund record: of amount, or of all that is left. notes: customer_note, merchant_note."""
        body = {"reference": reference, **notes}
        if amount is not None:
            body["amount"] = _amount(amount)
        path = "/api/v1/refund" if amount is None else "/api/v1/partial-refund"
        return self.call("POST", path, body, idempotency_key)

    def refunds(self, start, end):
        """The refund records of a range of days (yyyy-MM-dd) or times (RFC 3339), both ends in it."""
        return self.call("GET", f"/api/v1/refund/{urllib.parse.quote(start, safe='')}/{urllib.parse.quote(end, safe='')}")

    def transactions(self, **query):
        """Each transaction that the query wants (email, status, currency, from_, to), newest first."""
        query = {name.rstrip("_"): value for name, value in query.items()}
        while True:
            page = self.call("GET", f"/api/v1/transaction?{urllib.parse.urlencode(query)}")["data"]
            yield from page["transactions"]
            if page["cursor"] is None:
                return
            query["cursor"] = page["cursor"]

    def checkout(self, reference, amount, email, first_name, last_name, **more):
        """Where to send the payer is paymentRedirectUrl. more: currency, redirectUrl, metaData, checkoutCustomizationData."""
        body = {"transactionReference": reference, "amount": _amount(amount),
                "checkoutCustomerData": {"email": email, "firstName": first_name, "lastName": last_name}, **more}
        return self.call("POST", "/api/v1/initiate", body)["data"]


def verify_webhook(secret, headers, body, tolerance=300, now=None):
    """The event of a webhook, or ValueError: nothing of it is to be believed then.

    secret is "whsec_..."; headers a mapping with lower-case names; body the bytes as they came.
    """
    body = body.encode() if isinstance(body, str) else body
    stamp = headers.get("webhook-timestamp", "")
    if not stamp.isascii() or not stamp.isdigit() or abs((time.time() if now is None else now) - int(stamp)) > tolerance:
        raise ValueError("the webhook is too old, or of the future")
    signed = f"{headers.get('webhook-id', '')}.{stamp}.".encode() + body
    key = base64.b64decode(secret.removeprefix("whsec_"))
    wanted = "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    given = headers.get("webhook-signature", "").split(" ")
    if not any(hmac.compare_digest(wanted.encode(), one.encode()) for one in given):
        raise ValueError("no signature of the webhook is right")
    return json.loads(body)
