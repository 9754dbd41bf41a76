# SPDX-License-Identifier: Apache-2.0
"""A payer's browser without script: it reads pages as HTML, fills in forms, follows links and 303."""

import html.parser
import http.client
import re
import urllib.parse

from harness import Response, any_name, wait_for

VOID = {"input", "meta", "link", "img", "br"}
CARDS = {"approved": "5555 5555 5555 4444", "declined": "1234567898765432", "poor": "4000000000009995",
         "expired": "4000000000000069", "silent": "4000000000000119", "code": "4000000000003220"}
FORM = "application/x-www-form-urlencoded"
CSP = ("default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; frame-ancestors 'none'; "
       "base-uri 'none'")


class Parser(html.parser.HTMLParser):
    """Tags must be balanced, attributes and ids unique; no scripts, no inline styles."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.tags, self.words, self.ids = [], [], [], set()
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attrs):
        names = [name for name, _ in attrs]
        assert len(set(names)) == len(names), (tag, attrs)
        assert tag not in ("script", "style", "iframe", "object", "base"), tag
        assert not [name for name in names if name.startswith("on") or name == "style"], attrs
        self.tags.append((tag, dict(attrs)))
        one = dict(attrs).get("id")
        assert one is None or one not in self.ids, one
        self.ids.add(one)
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, (tag, self.open)
        self.open.pop()

    def handle_data(self, data):
        if data.strip():
            self.words.append((self.open[-1] if self.open else None, data.strip()))


class Page:
    """One answer, read as a page."""

    def __init__(self, answer, url):
        self.answer, self.url, self.status = answer, url, answer.status
        assert answer.header("content-type") == "text/html; charset=utf-8", answer
        self.text = answer.body.decode()
        parser = Parser(self.text)
        self.tags, self.words, self.ids = parser.tags, parser.words, parser.ids
        check_headers(answer)
        assert self.find("html")[0]["lang"] == "en" and len(self.find("main")) == 1
        assert len(self.find("h1")) == 1, self.text

    def find(self, tag):
        return [attrs for name, attrs in self.tags if name == tag]

    def said(self):
        return " ".join(word for _, word in self.words)

    def of(self, tag):
        return " ".join(word for name, word in self.words if name == tag)

    @property
    def heading(self):
        return self.of("h1")

    @property
    def kind(self):
        """approved, declined, ... of a result; None for a form."""
        found = [attrs["class"].split()[1] for attrs in self.find("div") if attrs.get("class", "").startswith("result ")]
        return found[0] if found else None

    def forms(self):
        """{action: [names of its inputs]}, in the order of the page."""
        made, name = {}, None
        for tag, attrs in self.tags:
            if tag == "form":
                assert attrs["method"] == "post"
                name = None
            elif tag == "input" and attrs["name"] == "action":
                name = attrs["value"]
                made[name] = []
            elif tag == "input":
                made[name].append(attrs["name"])
        return made

    def faults(self):
        """The invalid inputs, each marked in all the ways that a browser can show."""
        told = []
        for attrs in self.find("input"):
            if "aria-invalid" in attrs:
                assert attrs["aria-invalid"] == "true" and attrs["name"] + "-error" in attrs["aria-describedby"].split()
                told.append(attrs["id"])
            for one in attrs.get("aria-describedby", "").split():
                assert one in self.ids, one
        links = [attrs["href"][1:] for attrs in self.find("a") if attrs["href"].startswith("#")]
        assert sorted(links) == sorted(told)
        alerts = [attrs for attrs in self.find("div") if attrs.get("role") == "alert"]
        assert len(alerts) == (1 if told else 0) and (not told or "autofocus" in alerts[0] and alerts[0]["tabindex"] == "-1")
        return sorted(told)

    def refresh(self):
        return self.answer.header("refresh")


def check_headers(answer):
    """The common parts of every page and every error page."""
    assert answer.header("cache-control") == "no-store"
    assert answer.header("content-security-policy") == CSP
    assert answer.header("x-frame-options") == "DENY"
    assert answer.header("x-content-type-options") == "nosniff"
    assert answer.header("referrer-policy") == "strict-origin"
    assert answer.header("cross-origin-opener-policy") == "same-origin"
    assert answer.header("x-robots-tag").startswith("noindex")
    assert answer.header("request-id")
    assert answer.header("www-authenticate") is None
    assert not [name for name, _ in answer.headers if name.startswith("access-control")]


class Payer:
    """At one page of a checkout."""

    def __init__(self, httpd, path):
        self.httpd, self.path = httpd, path

    def get(self, path=None, method="GET", headers=()):
        return self.httpd.request(method, path or self.path, None, list(headers))

    def page(self, path=None):
        """The page, after all redirections."""
        path = path or self.path
        answer = self.get(path)
        for _ in range(3):
            if answer.status != 303:
                break
            path = urllib.parse.urljoin(path, answer.header("location"))
            answer = self.get(path)
        return Page(answer, path)

    def post(self, fields, headers=(), path=None):
        body = fields if isinstance(fields, (str, bytes)) else urllib.parse.urlencode(fields)
        return self.httpd.request("POST", path or self.path, body, [("Content-Type", FORM), *headers])

    def send(self, action, **fields):
        """Submits like a browser: the answer is 303 to the page itself, or the form again."""
        answer = self.post({"action": action, **fields})
        if answer.status != 303:
            return Page(answer, self.path)
        assert answer.body == b"" and answer.header("location") == self.path.rpartition("/")[2]
        check_headers_of_redirect(answer)
        return self.page()

    def card(self, card="approved", expiry="12/40", csc="123"):
        return self.send("card", number=CARDS.get(card, card), expiry=expiry, csc=csc)

    def code(self, code="123456"):
        return self.send("code", code=code)

    def transfer(self, bank="000", account="0000000000"):
        return self.send("transfer", bankCode=bank, accountNumber=account)

    def cancel(self):
        return self.send("cancel")


def check_headers_of_redirect(answer):
    assert answer.header("cache-control") == "no-store"
    assert answer.header("referrer-policy") == "strict-origin"


class Checkout(Payer):
    """A fresh checkout of `shop`, and its payer."""

    def __init__(self, shop, key=None, redirect="https://shop.example/done", reference=None, amount=1500, currency="NGN",
                 **more):
        self.shop, self.reference = shop, reference or any_name("checkout-")
        body = {"transactionReference": self.reference, "amount": amount, "currency": currency,
                "checkoutCustomerData": {"email": "ada@example.com", "firstName": "Ada", "lastName": "Obi"}, **more}
        if redirect:
            body["redirectUrl"] = redirect
        answer = shop.call("POST", "/api/v1/initiate", body, key=key or shop.secret)
        assert answer.status == 200, answer
        self.url = answer.json["data"]["paymentRedirectUrl"]
        super().__init__(shop.httpd, urllib.parse.urlsplit(self.url).path)
        self.id = self.path.rpartition("/")[2]
        assert re.fullmatch("[a-z2-7]{32}", self.id)

    def state(self, key=None):
        answer = self.shop.call("GET", f"/api/v1/checkout/{self.reference}/verify", key=key or self.shop.secret)
        assert answer.status == 200, answer
        return answer.json["data"]

    def status(self):
        """The exact word."""
        return self.state()["paymentStatus"]

    def wait(self, status):
        wait_for(lambda: self.status() == status, f"{self.reference} to be {status}")
