# SPDX-License-Identifier: Apache-2.0
"""Published clients of the deployed API: how each one writes a request, and when it considers an order paid.

The promise is that these clients work when only the base URL is changed. published_requests.py has their requests, and
test_published_clients.py replays them. All of it describes what the clients send and read, in our own words: no line
of any client is here.
"""

import dataclasses
import json
import re
import string
import urllib.parse

AMOUNT, CURRENCY, EMAIL = 1500, "NGN", "ada@shop.example"
MISSING = object()


def fill(value, words):
    """Replaces $names by the words of `words`; an unknown name is an error."""
    if isinstance(value, str):
        return string.Template(value).substitute(words)
    if isinstance(value, dict):
        return {name: fill(one, words) for name, one in value.items()}
    return value


def at(value, path):
    """The member at a path such as "data.card.type" or "0.id", MISSING if there is none; "" is the whole."""
    for name in path.split(".") if path else ():
        if isinstance(value, list) and name.isdigit() and int(name) < len(value):
            value = value[int(name)]
        elif isinstance(value, dict) and name in value:
            value = value[name]
        else:
            return MISSING
    return value


def word(value, path):
    """A string at that path, else ""."""
    found = at(value, path)
    return found if isinstance(found, str) else ""


def figure(value, path):
    """A number at that path, else 0."""
    found = at(value, path)
    return found if isinstance(found, (int, float)) and not isinstance(found, bool) else 0


# ---- expectations of clients about a member

def text(value):
    return isinstance(value, str)


def filled(value):
    return isinstance(value, str) and value != ""


def nullable_text(value):
    return value is None or isinstance(value, str)


def number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def whole(value):
    """A number that a decoder of integers takes."""
    return number(value) and value == int(value)


def flag(value):
    return isinstance(value, bool)


def array(value):
    return isinstance(value, list)


def filled_object(value):
    return isinstance(value, dict) and value != {}


def no_entries(value):
    return value == []


def page(value):
    """The address of a page that names the reference in its query, where mobile clients look for it."""
    return isinstance(value, str) and bool(urllib.parse.parse_qs(urllib.parse.urlsplit(value).query).get("reference"))


def decimal(value):
    """An amount of a refund record."""
    return isinstance(value, str) and re.fullmatch(r"\d+(\.\d+)?", value) is not None


def time(value):
    return isinstance(value, str) and re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", value) is not None


def not_offered(value):
    """A sentence that says where the replacement is documented."""
    return isinstance(value, str) and len(value) > 60 and "docs/" in value


def all_of(prefix, wants):
    return {f"{prefix}.{name}": want for name, want in wants.items()}


# ---- when a client delivers an order of AMOUNT and CURRENCY: by the HTTP answer alone

def equal(one, other):
    return abs(one - other) < 0.01


def goes_on(answer, amount_member):
    """A WooCommerce plugin, once no word has stopped it: any word and an amount that fits."""
    return (bool(word(answer.json, "data.status")) and word(answer.json, "data.currency") == CURRENCY
            and equal(figure(answer.json, f"data.{amount_member}"), AMOUNT))


def woo_older_return(answer):
    return (answer.status == 200 and word(answer.json, "data.status") not in ("pending", "failed")
            and goes_on(answer, "requested_amount"))


def woo_older_webhook(answer):
    """It records that a payment failed, and continues."""
    return answer.status == 200 and goes_on(answer, "requested_amount")


def woo_newer_return(answer):
    return (answer.status == 200 and word(answer.json, "data.status") not in ("pending", "failed")
            and goes_on(answer, "amount"))


def woo_newer_webhook(answer):
    return answer.status == 200 and word(answer.json, "data.status") == "successful" and goes_on(answer, "amount")


def strictly_successful(answer):
    """Of 200 alone, the word as it is."""
    return answer.status == 200 and word(answer.json, "data.status") == "successful"


def truthy_envelope(answer):
    """Whatever the HTTP status, the envelope's status and then the word."""
    return at(answer.json, "status") is True and word(answer.json, "data.status") == "successful"


def lowered(answer):
    """404 is pending, another error is thrown, then the word in any case."""
    return (answer.status == 200 and bool(at(answer.json, "status"))
            and word(answer.json, "data.status").lower() == "successful")


def android(answer):
    """Reads any 2xx whose envelope says true; after unknown words it asks again."""
    return (200 <= answer.status < 300 and at(answer.json, "status") is True
            and word(answer.json, "data.status").lower() == "successful")


def payment_status(answer):
    """As the documentation says: deliver on paymentStatus. A library has thrown at errors before."""
    return answer.status < 400 and word(answer.json, "data.paymentStatus") == "successful"


def payroll(answer):
    """Payouts have `success` in place of `status`."""
    return answer.status == 200 and at(answer.json, "success") is True and bool(word(answer.json, "data.status"))


def order_woo(answer):
    charged = figure(answer.json, "data.totalAmountCharged") - figure(answer.json, "data.fee")
    return (answer.status == 200 and word(answer.json, "data.status") == "Successful"
            and word(answer.json, "data.currencyName") == CURRENCY and equal(charged, AMOUNT))


def order_any_word(answer):
    """The same plugin's webhook: any word and an amount."""
    return answer.status == 200 and goes_on(answer, "amount")


def order_express(answer):
    return answer.status < 400 and word(answer.json, "data.order.status") in ("Successful", "Paid")


def order_express_aes(answer):
    """Reads a word from `data`, or from the whole where there is no `data`."""
    found = word(answer.json, "data.status" if at(answer.json, "data") else "status")
    return answer.status < 400 and "SUCCESS" in found.upper()


def order_wallet(answer):
    """Takes the call's own status for the payment's, then requires the charged amount to reach the expected one."""
    known = ("successful", "completed", "paid", "success")
    said = (word(answer.json, "status") or word(answer.json, "data.orderSummary.status")).lower()
    charged = figure(answer.json, "data.orderSummary.totalChargedAmount")
    return answer.status < 400 and said in known and 0 < charged and charged >= AMOUNT - 1


def order_votes_first(answer):
    return answer.status < 400 and bool(at(answer.json, "status")) and word(answer.json, "data.status") == "successful"


def order_votes_later(answer):
    """Paid by number, by a good word, or by "00" with a word that it does not know to be bad."""
    if answer.status >= 400:
        return False
    said = (word(answer.json, "data.status") or word(answer.json, "data.order.status")
            or word(answer.json, "status")).lower()
    bad = ("failed", "declined", "cancelled", "canceled", "expired", "reversed", "pending", "unpaid")
    return (at(answer.json, "data.statusId") in (5, "5") or at(answer.json, "data.order.statusId") in (5, "5")
            or said in ("successful", "success", "paid", "approved", "completed", "settled")
            or (word(answer.json, "statusCode") == "00" and said not in bad))


def order_ios(answer):
    """A decoder without optional members, then the summary."""
    return answer.status < 400 and at(answer.json, "data.isFinalStatus") is True \
        and word(answer.json, "data.orderSummary.status") == "Successful"


def order_python(answer):
    """raise_for_status, then the status of the call or the order."""
    return answer.status < 400 and "success" in (word(answer.json, "data.status") or word(answer.json, "status")).lower()


# ---- how each language writes JSON

def js(body):
    return json.dumps(body, separators=(",", ":"), ensure_ascii=False)


def php(body):
    """Slashes and letters beyond ASCII are escaped."""
    return json.dumps(body, separators=(",", ":")).replace("/", "\\/")


def python(body):
    return json.dumps(body)


def gson(body):
    """Characters with a meaning in HTML are escaped."""
    made = json.dumps(body, separators=(",", ":"), ensure_ascii=False)
    for character in "=&<>'":
        made = made.replace(character, f"\\u{ord(character):04x}")
    return made


def swift(body):
    """Slashes are escaped, and members come in any order."""
    return json.dumps(dict(reversed(body.items())), separators=(",", ":"), ensure_ascii=False).replace("/", "\\/")


# ---- the clients

BEARER, BARE, COLON, API_KEY = (("Authorization", "Bearer $key"), ("Authorization", "$key"),
                                ("Authorization", "Bearer: $key"), ("api-key", "$key"))
WORDPRESS = {"User-Agent": "WordPress/6.6.2; https://shop.example", "Accept": "*/*",
             "Accept-Encoding": "deflate, gzip, br", "Connection": "close"}
FETCH = {"Accept": "*/*", "Accept-Language": "*", "Sec-Fetch-Mode": "cors", "User-Agent": "node",
         "Accept-Encoding": "gzip, deflate"}
AXIOS = {"Accept": "application/json, text/plain, */*", "User-Agent": "axios/1.7.7",
         "Accept-Encoding": "gzip, compress, deflate, br"}
PHP_CURL = {"Accept": "*/*"}
REQUESTS = {"User-Agent": "python-requests/2.32.3", "Accept-Encoding": "gzip, deflate", "Accept": "*/*",
            "Connection": "keep-alive"}
JSON = "application/json"


@dataclasses.dataclass(frozen=True)
class Client:
    setting: str  # its row of "What to set" in docs/clients.md
    headers: dict
    writes: object
    reference: str  # how it names a transaction; $n is a number of ten digits
    key: tuple = BEARER
    media: str = JSON  # of a body
    media_of_get: bool = False  # sends a media type without a body too


WOO, GIVE, TS, ZAPIER_APP, SDK, ORDERS, PLAIN = (
    "WooCommerce plugins", "GiveWP donations", "TypeScript and Next.js shops", "Zapier", "Android SDK",
    "clients of orders", "plain HTTP, generated clients")
CLIENTS = {
    "WooCommerce plugin, older": Client(WOO, WORDPRESS, php, "WOO_203_$n", media_of_get=True),
    "WooCommerce plugin, newer": Client(WOO, WORDPRESS, php, "WOO_204_$n", media_of_get=True),
    "GiveWP donations": Client(GIVE, WORDPRESS, php, "GIVE-12-$n", media_of_get=True),
    "WordPress payment form": Client(PLAIN, WORDPRESS, php, "WP_novac_674a1b2c3d4e5.$n", media_of_get=True),
    "TypeScript shop": Client(TS, FETCH, js, "order_$n-ab12cd"),
    "Next.js shop": Client(TS, FETCH, js, "ORD-${n}123"),
    "Zapier app": Client(ZAPIER_APP, {"User-Agent": "Zapier", "Accept": "*/*", "Accept-Encoding": "gzip,deflate"}, js,
                         "zap:$n+1@shop"),
    "Android SDK": Client(SDK, {"User-Agent": "okhttp/4.12.0", "Accept-Encoding": "gzip", "Connection": "Keep-Alive"},
                          gson, "7f1d0c1a-0000-4000-8000-00$n", media="application/json; charset=UTF-8", media_of_get=True),
    "point of sale": Client(PLAIN, {"User-Agent": "okhttp/4.12.0", "Accept-Encoding": "gzip"}, js, "TROO-POS-$n",
                            media="application/json; charset=utf-8"),
    "payroll in PHP": Client(PLAIN, {"Accept": "application/json"}, php, "HRSUITE-PAYOUT-7-$n"),
    "documented sample, curl": Client(PLAIN, {"User-Agent": "curl/7.88.1", "Accept": "*/*"}, js, "docs-sample-$n", key=BARE),
    "documented sample, PHP": Client(PLAIN, PHP_CURL, php, "docs-php-$n"),
    "documented sample, Go": Client(PLAIN, {"User-Agent": "Go-http-client/1.1", "Accept-Encoding": "gzip"}, js,
                                    "docs-golang-$n"),
    "documented sample, Python": Client(PLAIN, REQUESTS, python, "docs-python-$n"),
    "key with a colon": Client(PLAIN, AXIOS, js, "colon-client-$n", key=COLON),
    "generated client, fetch": Client(PLAIN, {**FETCH, "Accept": "application/json"}, js, "generated-$n"),
    "generated client, axios": Client(PLAIN, AXIOS, js, "generated-ax-$n"),
    "generated client, swagger-client": Client(PLAIN, {"Accept": "application/json, application/yaml, */*"}, js,
                                               "generated-sw-$n"),
    "generated client, .NET": Client(PLAIN, {"Accept": "text/plain"}, js, "generated-cs-$n",
                                     media="text/json; charset=utf-8"),
    "orders: WooCommerce plugin": Client(ORDERS, WORDPRESS, js, "WOO_205_$n", key=API_KEY),
    "orders: iOS SDK": Client(ORDERS, {"User-Agent": "Shop/1 CFNetwork/1494.0.7 Darwin/23.4.0", "Accept": "*/*",
                                       "Accept-Language": "en-GB,en;q=0.9", "Accept-Encoding": "gzip, deflate, br",
                                       "Authorization": "Bearer NDA5NiE8UlNBS2V5VmFsdWU+PE1vZHVsdXM+AQAB"},
                              swift, "IOS-$n", key=API_KEY),
    "orders: Python service": Client(ORDERS, REQUESTS, python, "deposit-$n", key=API_KEY, media_of_get=True),
    "orders: deposits, node-forge": Client(ORDERS, {**FETCH, "Accept": "application/json"}, js, "dep_$n", key=API_KEY),
    "orders: wallet, Next.js": Client(ORDERS, FETCH, js, "TXP-$n", key=API_KEY),
    "orders: Express shop": Client(ORDERS, AXIOS, js, "FSI-${n}123", key=API_KEY),
    "orders: Express shop, AES": Client(ORDERS, AXIOS, js, "FSI-${n}456", key=API_KEY),
    "orders: voting site, first": Client(ORDERS, FETCH, js, "VOTE-$n", key=API_KEY),
    "orders: voting site, later": Client(ORDERS, FETCH, js, "VOTE-${n}-b", key=API_KEY),
    "orders: food shop": Client(ORDERS, FETCH, js, "TP_${n}123_1a2b3c4d", key=API_KEY),
}
