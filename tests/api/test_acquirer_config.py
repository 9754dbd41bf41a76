# SPDX-License-Identifier: Apache-2.0
"""PaymentsAcquirer and its neighbours: each wrong configuration stops `httpd -t` with its message; secrets are read as
root and never repeated, and an unreadable one puts its acquirer out of service, never the server.
"""

import os
import re
import secrets
import stat

import pytest

from exposition import OPEN, scrape
from harness import Httpd, Shop, reference, wait_for
from upstream import ACQUIRER_CUT, PARTIAL, open_account
from upstream_proxy import closed_unanswered

URL = "https://127.0.0.1:9"
KEY = "key=file:/nowhere/relay.key"
RELAY = f"PaymentsAcquirer live relay {URL} {KEY}"
NAME = "1 to 64 of A-Z a-z 0-9 . _ : @ [ ] -, first a letter or digit"
FORM = ("PaymentsAcquirer: want live, a connector's name, its URL if it has one, and parameters as name=value; for "
        "example: live relay https://api.example.com key=file:/etc/apache2/payments/relay.key")
PARAMETERS = ("PaymentsAcquirer: want parameters as name=value after connector and URL, names of 1 to 32 of a-z 0-9 _ -, "
              "first a letter")
SECRET = ("PaymentsAcquirer: key= is a secret: want key=file:<absolute path of a file> or key=exec:<absolute path of a "
          "program>")
OUT = "PAY00380"
INFO = '<Location "/server-info">\nSetHandler server-info\nRequire local\n</Location>\n'
STATUS = '<Location "/server-status">\nSetHandler server-status\nRequire local\n</Location>\n'


def wrong_value(name, value, want):
    return (f"{name} {value}", f"{name}: want {want}, got '{value}'")


# Messages that reject a single directive.
WRONG = [
    *[(f"PaymentsAcquirer {words}", FORM) for words in
      ("live", "test relay", "LIVE relay", "relay live", "live Relay", "live _relay", f"live {'a' * 33}", "live re/lay")],
    ("PaymentsAcquirer", FORM),
    (f"{RELAY} name=", "PaymentsAcquirer: want name= of 1 to 1000 bytes"),
    (f"{RELAY} ca=/{'a' * 1000}", "PaymentsAcquirer: want ca= of 1 to 1000 bytes"),
    *[(f"{RELAY} {word}", PARAMETERS) for word in ("word", "=x", "Ca=/x", "1a=x", "c.a=x", f"{'a' * 33}=x", "-a=x")],
    *[(f"{RELAY} {word} {word}", f"PaymentsAcquirer: want {word.split('=')[0]}= once")
      for word in ("ca=/x", "timeout=5s", "name=one")],
    *[(f"{RELAY} timeout={time}", "PaymentsAcquirer: want timeout= of 1s to 60s")
      for time in ("0", "999ms", "61s", "-1", "soon", "1h")],
    *[(f"{RELAY} name={name}", f"PaymentsAcquirer: want name= of {NAME}")
      for name in ("a" * 65, "-a", "a/b", "a,b", ".a")],
    (f"PaymentsAcquirer live relay https://{'a' * 50}.{'a' * 8}.example {KEY}",
     f"PaymentsAcquirer: want name= too, of {NAME}: connector and host make none"),
    (f"{RELAY} " + " ".join(f"p{number}=x" for number in range(16)), "PaymentsAcquirer: want at most 16 parameters"),
    *[(f"PaymentsAcquirer live relay {url} {KEY}", f"PaymentsAcquirer: URL: {fault}") for url, fault in [
        ("https://shop:hidden@api.example.com", "want no user and no password in the URL"),
        ("https://", "want a host"),
        ("https://api.example.com:65536", "want a port from 1 to 65535"),
        (f"https://api.example.com/{'a' * 1000}", "want at most 1000 bytes")]],
    (f"PaymentsAcquirer live relay shop@api.example.com {KEY}",
     "PaymentsAcquirer: want a URL without user and password behind the connector, or a word without @ of at most 1000 "
     "bytes"),
    *[(f"PaymentsAcquirer live relay {URL} key={value}", SECRET)
      for value in ("hidden", "file:", "file:relay.key", "file:/", "file:/etc/keys/", "FILE:/x", "exec:", "exec:bin/key",
                    "exec:/", "env:KEY", "/etc/relay.key")],
    (f"{RELAY}\n{RELAY}",
     "PaymentsAcquirer: want another name than 'relay@127.0.0.1:9' for this one: payments keep the name of the "
     "acquirer that they went through (name=)"),
    (f"PaymentsAcquirer live relay https://api.example.com {KEY}\n"
     f"PaymentsAcquirer live relay https://API.example.com:443/ {KEY}",
     "PaymentsAcquirer: want another name than 'relay@api.example.com' for this one: payments keep the name of the "
     "acquirer that they went through (name=)"),
    ("\n".join(f"{RELAY} name=n{number}" for number in range(9)), "PaymentsAcquirer: want at most 8 in one place"),
    *[wrong_value("PaymentsAcquirerMaxInFlight", value, "1 to 4096") for value in ("0", "4097", "-1", "many", "64k")],
    *[wrong_value("PaymentsAcquirerLateAfter", value, "1s to 168h") for value in ("0", "999ms", "169h", "never")],
    *[wrong_value("PaymentsPendingAlert", value, "1s to 168h") for value in ("0", "604801", "off")],
    *[wrong_value("PaymentsLateApproval", value, "refund or hold") for value in ("keep", "Off")],
    *[wrong_value("PaymentsRefundSync", value, "1s to 24h, or off") for value in ("0", "25h", "86401", "On")],
]

# Faults that only the whole configuration shows; they are reported with the position of the virtual host.
WRONG_TOGETHER = [
    (RELAY, "PaymentsAcquirer needs PaymentsAccount: the money that it moves belongs to one account"),
    (f"PaymentsAccount shop\nPaymentsAcquirer live bank {URL}",
     "PaymentsAcquirer: want a connector that a loaded module has (relay), got 'bank'"),
    ("PaymentsAccount shop\nPaymentsAcquirer live simulator",
     "PaymentsAcquirer: the connector 'simulator' cannot be used in Live Mode: it decides by itself and moves no money; "
     "Test Mode needs no PaymentsAcquirer"),
    (f"PaymentsAccount shop\nPaymentsAcquirer live relay {URL} key=file:@ROOT@/htdocs/relay.key",
     "PaymentsAcquirer live relay: key=: want a file outside every DocumentRoot, got '@ROOT@/htdocs/relay.key', which "
     "DocumentRoot @ROOT@/htdocs serves"),
    (f"PaymentsAccount shop\nPaymentsAcquirer live relay {KEY}",
     "PaymentsAcquirer live relay: want the upstream's URL, https://HOST or https://HOST/PATH"),
    (f"PaymentsAccount shop\nPaymentsAcquirer live relay http://127.0.0.1:9 {KEY}",
     "PaymentsAcquirer live relay: the upstream's URL: want https as the scheme"),
    (f"PaymentsAccount shop\nPaymentsAcquirer live relay {URL}",
     "PaymentsAcquirer live relay: key: want a secret key of the upstream, as key=file:PATH or key=exec:PROGRAM"),
    (f"PaymentsAccount shop\n{RELAY} ca=ca.pem",
     "PaymentsAcquirer live relay: ca: want the absolute path of a file of certificates"),
    (f"PaymentsAccount shop\n{RELAY} password=file:/x",
     "PaymentsAcquirer live relay: password is not a parameter of the relay: there are key and ca"),
    # 16 parameters are not too many: the last of them is unknown to this connector only.
    (f"PaymentsAccount shop\n{RELAY} timeout=1s name=n " + " ".join(f"p{number}=x" for number in range(13)),
     "PaymentsAcquirer live relay: p0 is not a parameter of the relay: there are key and ca"),
]


def named(line):
    return re.sub(r"a{20,}", "aaa...", line.replace("\n", " "))[:90]


@pytest.mark.parametrize("line, sentence", [pytest.param(l, s, id=named(l)) for l, s in WRONG])
def test_wrong_line(server, line, sentence):
    done = server(start=False, mpm="event", host_extra=f"PaymentsAccount shop\n{line}").configtest()
    assert done.returncode != 0 and "Syntax OK" not in done.stderr
    assert sentence in done.stderr.splitlines(), done.stderr


@pytest.mark.parametrize("lines, sentence", [pytest.param(l, s, id=named(l)) for l, s in WRONG_TOGETHER])
def test_wrong_together(server, lines, sentence):
    httpd = server(start=False, mpm="event")
    lines, sentence = (text.replace("@ROOT@", str(httpd.root)) for text in (lines, sentence))
    httpd.host_extra = lines
    done = httpd.configtest()
    assert done.returncode != 0 and "Syntax OK" not in done.stderr
    assert f"PAY00300: {sentence} ({httpd.root}/httpd.conf:" in done.stderr, done.stderr


def host(httpd, name, lines, store=None, account=None):
    return (f"<VirtualHost 127.0.0.1:@PORT@>\nServerName {name}.example\nPaymentsEngine On\n"
            f"PaymentsStore lmdb:{store or httpd.store}\nPaymentsAccount {account or name}\n{lines}\n</VirtualHost>\n")


@pytest.mark.parametrize("lines", [
    pytest.param(f"PaymentsAcquirer live relay {URL} key=file:/nowhere/other.key", id="another key"),
    pytest.param(f"PaymentsAcquirer live relay {URL} key=exec:/nowhere/relay.key", id="a program for a file"),
    pytest.param(f"PaymentsAcquirer live relay {URL}/path {KEY}", id="another URL"),
    pytest.param(f"{RELAY} ca=/nowhere/ca.pem", id="one parameter more"),
    pytest.param(f"{RELAY} timeout=19s", id="its own time-out"),
    pytest.param(f"{RELAY}\nPaymentsAcquirerTimeout 19s", id="the host's time-out"),
    pytest.param(f"{RELAY}\nPaymentsAcquirerMaxInFlight 63", id="other calls at once"),
    pytest.param(f"PaymentsAcquirer live relay https://other.example {KEY} name=relay@127.0.0.1:9", id="by name="),
])
def test_hosts_of_one_account_agree(server, lines):
    """The same acquirer of an account is one; with another account, store or name it is another acquirer."""
    httpd = server(start=False, mpm="event", host_extra=f"PaymentsAccount shop\n{RELAY}")
    httpd.extra = host(httpd, "two", lines, account="shop")
    done = httpd.configtest()
    assert done.returncode != 0
    assert ("PAY00300: PaymentsAcquirer: want one URL, one set of parameters, one time-out and one "
            "PaymentsAcquirerMaxInFlight for 'relay@127.0.0.1:9' in all virtual hosts of PaymentsAccount shop, or another "
            "name= (") in done.stderr, done.stderr
    for text in (host(httpd, "two", lines), host(httpd, "two", lines, store=httpd.root / "other", account="shop"),
                 host(httpd, "two", f"PaymentsAcquirer live relay {URL}/path {KEY} name=two", account="shop"),
                 host(httpd, "two", f"{RELAY} timeout=20s", account="shop")):
        httpd.extra = text
        done = httpd.configtest()
        assert done.returncode == 0, done.stderr


def program(path, text):
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o700)
    return path


RIGHT = """PaymentsAccount shop
PaymentsAcquirer live relay https://api.example.com:8443/base key=exec:@ROOT@/key.sh ca=/nowhere/ca.pem timeout=60s
PaymentsAcquirer live relay https://[::1]:8443 key=file:/nowhere/relay.key timeout=1000ms
PaymentsAcquirer live relay https://api.example.com key=file:/nowhere/relay.key name=@NAME@
PaymentsAcquirer live relay https://api.example.com key=file:/nowhere/relay.key name=n4
PaymentsAcquirer live relay https://api.example.com key=file:/nowhere/relay.key name=n5
PaymentsAcquirer live relay https://api.example.com key=file:/nowhere/relay.key name=n6
PaymentsAcquirer live relay https://api.example.com key=file:/nowhere/relay.key name=n7
PaymentsAcquirer live relay https://api.example.com key=file:/nowhere/relay.key name=n8
PaymentsAcquirerMaxInFlight 4096
PaymentsAcquirerLateAfter 168h
PaymentsLateApproval Refund
PaymentsPendingAlert 168h
PaymentsRefundSync 24h""".replace("@NAME@", "n" * 64)
LEAST = """PaymentsAcquirerMaxInFlight 1
PaymentsAcquirerLateAfter 1s
PaymentsLateApproval HOLD
PaymentsPendingAlert 1000ms
PaymentsRefundSync OFF"""


def test_configtest_reads_no_secret(server):
    """The limits themselves are valid; no file is required, no program runs, nothing is left behind."""
    httpd = server(start=False, mpm="event")
    program(httpd.root / "key.sh", f"touch {httpd.root}/ran; echo x")
    for lines in RIGHT, LEAST:
        httpd.host_extra = lines.replace("@ROOT@", str(httpd.root))
        httpd.configtest()  # writes httpd.conf itself
        before = sorted(httpd.root.rglob("*"))
        done = httpd.configtest()
        assert done.returncode == 0, done.stderr
        assert sorted(httpd.root.rglob("*")) == before


# ---- secrets in the wrong place, or in the right one

HIDDEN = "pay_livesk_hidden0123456789abcdef"


@pytest.mark.parametrize("words", [
    f"live relay {URL} key={HIDDEN}", f"live relay {URL} {HIDDEN}", f"live relay https://shop:{HIDDEN}@127.0.0.1 {KEY}",
    f"live relay {HIDDEN}@127.0.0.1 {KEY}", f"live {HIDDEN} {URL} {KEY}", f"{HIDDEN} relay {URL} {KEY}",
    f"live relay {URL} key=file:{HIDDEN}", f"live relay {URL} {KEY} timeout={HIDDEN}",
    f"live relay {URL} {KEY} name=/{HIDDEN}", f"live relay {URL} {KEY} ca={HIDDEN}", f"live relay {URL} {KEY} {HIDDEN}=x",
    f"live relay {HIDDEN} {KEY}",
])
@pytest.mark.parametrize("options", [(), ("-DDUMP_CONFIG",)], ids=str)
def test_misplaced_secret_is_not_repeated(server, words, options):
    """Neither the message that rejects it repeats it, nor -DDUMP_CONFIG, which shows valid directives as written."""
    httpd = server(start=False, mpm="event", host_extra=f"PaymentsAccount shop\nPaymentsAcquirer {words}")
    done = httpd.configtest(*options)
    assert done.returncode != 0 and "PaymentsAcquirer" in done.stderr
    assert HIDDEN not in done.stderr + done.stdout, done.stderr
    assert "hidden" not in done.stderr + done.stdout


def secret_file(path, text, mode=0o600):
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    path.chmod(mode)
    return path


class NamedShop(Shop):
    """An account of Live Mode whose virtual host is called as it is."""

    def __init__(self, httpd, name):
        super().__init__(httpd, name, open_account(httpd.store, name))

    def call(self, method, path, body=None, **options):
        return super().call(method, f"http://{self.name}.example:{self.httpd.port}{path}", body, **options)


def page(httpd, path):
    answer = httpd.request("GET", path)
    assert answer.status == 200, answer
    return answer.body.decode()


@pytest.mark.parametrize("by", ["file", "exec"])
def test_secret_is_used_and_never_told(server, authority, upstream, by):
    """Money is asked for with it; the log, mod_info, -DDUMP_CONFIG, -t, mod_status and the metrics have only its path."""
    httpd = server(start=False, mpm="event")
    path = httpd.root / ("relay.key" if by == "file" else "relay.sh")
    if by == "file":
        secret_file(path, upstream.key + "\n")
    else:
        program(path, f"echo {upstream.key}\necho a second line")
    httpd.host_extra = (f"PaymentsAccount shop\nPaymentsAcquirer live relay https://127.0.0.1:{upstream.port} "
                        f"key={by}:{path} ca={authority.file}\n{OPEN}\n{INFO}{STATUS}LogLevel trace8\n")
    shop = NamedShop(httpd, "shop")
    httpd.expect_log("PAY00381")
    httpd.start()
    answer = Shop.call(shop, "POST", "/api/v1/tokenized-card-charge",
                       {"token": "acq_success", "amount": 10, "email": "ada@example.com", "reference": reference()})
    assert (answer.status, answer.json["data"]["paymentStatus"]) == (200, "successful"), answer
    told = [page(httpd, "/server-info"), page(httpd, "/server-info?config"), page(httpd, "/server-status"),
            page(httpd, "/server-status?auto"), page(httpd, "/payments-metrics")]
    dumped = httpd.configtest("-DDUMP_CONFIG")
    assert dumped.returncode == 0 and f"key={by}:{path}" in dumped.stdout
    assert f"key={by}:{path}" in told[0]
    assert "relay@127.0.0.1" in told[2] and "relay@127.0.0.1" in told[4]
    told += [dumped.stdout, dumped.stderr, httpd.log_text(), (httpd.root / "access.log").read_text()]
    [warning] = [line for line in httpd.log_text().splitlines() if "PAY00381" in line]
    assert f"relay@127.0.0.1:{upstream.port} of account shop: key= is a key of Test Mode: NO MONEY MOVES" in warning
    body = upstream.key.rsplit("_", 1)[1]
    assert len(body) >= 40 and not [text for text in told if body in text or body[:20] in text]


def mask(httpd, name, value):
    """A secret made from `value`: bytes for a file, (bytes, mode), a program's text, or a function."""
    path = httpd.root / "keys" / name
    if callable(value):
        value(path)
    elif isinstance(value, str):
        program(path, value)
    elif isinstance(value, tuple):
        secret_file(path, *value)
    else:
        secret_file(path, value)
    return path


GOOD = b"pay_livesk_" + b"0" * 40
KEPT = "the secret of PaymentsAcquirer @PATH@ "
FORMLESS = ("the secret of PaymentsAcquirer from @PATH@ is not of 1 to 4096 bytes in one line, without control "
            "characters")
SILENT = "the program @PATH@ for its secret of PaymentsAcquirer wrote no line: is it there, and may root run it?"
PROGRAM = "the program for the secret of PaymentsAcquirer @PATH@"
PRINTS = "echo " + GOOD.decode()
UNREADABLE = {
    "missing": (lambda path: None, "file", KEPT + "cannot be opened: No such file or directory"),
    "open": ((GOOD, 0o644), "file", KEPT + "is open to others (mode 0644)"),
    "group": ((GOOD, 0o640), "file", KEPT + "is open to others (mode 0640)"),
    "linked": (lambda path: path.symlink_to("/etc/hostname"), "file", KEPT + "is a symbolic link"),
    "folder": (lambda path: path.mkdir(0o700), "file", KEPT + "is not a regular file"),
    "fifo": (lambda path: os.mkfifo(path, 0o600), "file", KEPT + "is not a regular file"),
    "empty": (b"", "file", FORMLESS),
    "newline": (b"\n", "file", FORMLESS),
    "lines": (GOOD + b"\n" + GOOD, "file", FORMLESS),
    "control": (GOOD + b"\x01\n", "file", FORMLESS),
    "nul": (GOOD + b"\0" + GOOD, "file", FORMLESS),
    "delete": (GOOD + b"\x7f", "file", FORMLESS),
    "long": (b"a" * 4097, "file", FORMLESS),
    "longer": (b"a" * 5000, "file", KEPT + "is longer than 4097 bytes"),
    "no-program": (lambda path: None, "exec", PROGRAM + " cannot be opened: No such file or directory"),
    "program-of-group": (lambda path: os.chmod(program(path, PRINTS), 0o775), "exec",
                         PROGRAM + " may be changed by others (mode 0775): remove that permission (chmod go-w)"),
    "program-of-all": (lambda path: os.chmod(program(path, PRINTS), 0o757), "exec",
                       PROGRAM + " may be changed by others (mode 0757)"),
    "program-folder": (lambda path: path.mkdir(0o700), "exec", PROGRAM + " is not a regular file"),
    "not-run": ((b"#!/bin/sh\necho x\n", 0o600), "exec", SILENT),
    "silent": ("exit 0", "exec", SILENT),
    "waits": ("read line || true", "exec", "the program @PATH@ for its secret of PaymentsAcquirer wrote no line within 10 s"),
    "long-line": ("head -c 4097 /dev/zero | tr '\\0' a", "exec", FORMLESS),
    "long-lines": ("head -c 5000 /dev/zero | tr '\\0' a", "exec",
                   "the program @PATH@ for its secret of PaymentsAcquirer wrote more than 4096 bytes"),
}
# Parsed without error, and rejected by the connector in each child: still logged only once.
UNFIT = (b"a" * 4096 + b"\n", "file", "key: want a secret key, PREFIX_livesk_")


@pytest.fixture(scope="module")
def damaged():
    """A server with a virtual host for each of UNREADABLE, one whose connector refuses the key, and a sound one."""
    httpd = Httpd(mpm="event")
    (httpd.root / "keys").mkdir(0o700)
    cases = {**UNREADABLE, "unfit": UNFIT, "sound": (GOOD + b"\n", "file", None)}
    shops = {}
    for name, (value, by, _) in cases.items():
        path = mask(httpd, name, value)
        httpd.extra += host(httpd, name, f"PaymentsAcquirer live relay {URL} key={by}:{path}")
        shops[name] = NamedShop(httpd, name)
    httpd.extra = "PaymentsRefundSync off\n" + httpd.extra
    httpd.host_extra = OPEN
    httpd.expect_log(f"{OUT}|PAY00383")
    httpd.start()
    yield httpd, shops
    httpd.expect_log("PAY00203|PAY00400")  # what is sent to nobody
    httpd.close()


def lines_about(httpd, name):
    return [line for line in httpd.log_text().splitlines() if f" of account {name} " in line]


@pytest.mark.parametrize("name", list(UNREADABLE))
def test_unreadable_secret(damaged, name):
    """The server runs; the log reports the file and its fault at level error; live charges are 503, and nothing is
    written for them; Test Mode works.
    """
    httpd, shops = damaged
    path = httpd.root / "keys" / name
    [line] = [line for line in lines_about(httpd, name) if OUT in line]
    assert ":error]" in line
    assert f"PaymentsAcquirer relay@127.0.0.1:9 of account {name} is out of service" in line
    assert "key=: " + UNREADABLE[name][2].replace("@PATH@", str(path)) in line
    refused_by(shops[name])


def refused_by(shop):
    answer = shop.charge(token="acq_success")
    assert (answer.status, answer.json["data"]["responseCode"]) == (503, "E2"), answer
    assert answer.json["message"] == "The card acquirer is unavailable at the moment."
    assert int(answer.header("retry-after")) >= 1
    assert shop.httpd.ctl("charge", "list", shop.name, "--mode", "live", "--json").stdout.strip() == "[]"
    test_key = shop.key("test", "secret")
    assert shop.charge(key=test_key).json["data"]["paymentStatus"] == "successful"


def test_key_the_connector_refuses(damaged):
    """Each child detects it; one logs it, without any part of the key; charges are 503 and leave no row."""
    httpd, shops = damaged
    [line] = lines_about(httpd, "unfit")
    assert "PAY00383" in line and ":error]" in line and UNFIT[2] in line and "aaaaaaaa" not in line
    refused_by(shops["unfit"])


def test_neighbour_of_the_damaged(damaged):
    """An acquirer with a valid key is in service, next to twenty that are not; nobody listens at its address."""
    httpd, shops = damaged
    assert lines_about(httpd, "sound") == []
    httpd.expect_log("PAY00203|PAY00400")
    assert shops["sound"].charge(token="acq_success").status == 503
    counts = gauges(httpd, "payments_acquirers", "breaker")
    assert counts["faulty"] == len(UNREADABLE) + 1  # and the one that is unfit
    assert sum(counts.values()) == len(UNREADABLE) + 2


def test_mended_secret(server, authority, upstream):
    """After the file is fixed a graceful restart brings the acquirer back, and takes it away again."""
    httpd = server(start=False, mpm="event")
    path = secret_file(httpd.root / "relay.key", upstream.key, 0o644)
    httpd.extra = host(httpd, "shop", f"PaymentsAcquirer live relay https://127.0.0.1:{upstream.port} key=file:{path} "
                                      f"ca={authority.file}")
    shop = NamedShop(httpd, "shop")
    httpd.expect_log(f"{OUT}|PAY00381")
    httpd.start()
    for mode, status in [(None, 503), (0o600, 200), (0o644, 503)]:
        if mode:
            path.chmod(mode)
            httpd.graceful()
        wait_for(lambda: shop.charge(token="acq_success").status == status, f"an answer {status}")
    assert stat.S_IMODE(path.stat().st_mode) == 0o644


# ---- what stands where

def gauges(httpd, family, by, **labels):
    """{value of the label `by`: value of the sample} of those samples that have `labels`."""
    found = {}
    for (name, pairs), value in scrape(httpd).samples.items():
        if name == family and labels.items() <= dict(pairs).items():
            assert dict(pairs)[by] not in found
            found[dict(pairs)[by]] = value
    return found


def test_inheritance(server, authority, upstream):
    """The main server's acquirer serves each host with its own account; a host that names an acquirer inherits none."""
    httpd = server(start=False, mpm="event")
    path = secret_file(httpd.root / "relay.key", upstream.key)
    reached = f"PaymentsAcquirer live relay https://127.0.0.1:{upstream.port} key=file:{path} ca={authority.file}"
    httpd.extra = (f"{reached}\nPaymentsAcquirerMaxInFlight 7\n" + host(httpd, "one", "") + host(httpd, "two", "")
                   + host(httpd, "three", f"PaymentsAcquirer live relay {URL} key=file:{path}\nPaymentsRefundSync off\n"))
    httpd.host_extra = f"PaymentsAccount four\n{OPEN}"
    shops = [NamedShop(httpd, name) for name in ("one", "two", "three")]
    httpd.expect_log("PAY00381|PAY00203|PAY00400|PAY00302|PAY00385")
    httpd.start()
    assert [shop.charge(token="acq_success").status for shop in shops] == [200, 200, 503]
    most = gauges(httpd, "payments_acquirer_in_flight_max", "acquirer")
    assert most == {f"relay@127.0.0.1:{upstream.port}": 21, "relay@127.0.0.1:9": 7}
    assert gauges(httpd, "payments_acquirer_in_flight", "acquirer") == {name: 0 for name in most}


def test_acquirer_of_another_account(server, authority, upstream):
    """If the main server names the account, its acquirer moves the money of that account only."""
    httpd = server(start=False, mpm="event")
    path = secret_file(httpd.root / "relay.key", upstream.key)
    httpd.extra = (f"PaymentsAccount one\nPaymentsAcquirer live relay https://127.0.0.1:{upstream.port} key=file:{path} "
                   f"ca={authority.file}\n" + host(httpd, "one", "") + host(httpd, "two", ""))
    httpd.host_extra = f"PaymentsAccount three\n{OPEN}"
    shops = [NamedShop(httpd, name) for name in ("one", "two")]
    httpd.expect_log("PAY00381|PAY00302")
    httpd.start()
    assert [shop.charge(token="acq_success").status for shop in shops] == [200, 403]
    assert gauges(httpd, "payments_acquirers", "acquirer", breaker="closed") == {f"relay@127.0.0.1:{upstream.port}": 1}


@pytest.mark.parametrize("sync, other, told", [
    pytest.param("10min", GOOD, True, id="one key"),
    pytest.param("10min", GOOD + b"1", False, id="two keys"),
    pytest.param("off", GOOD, False, id="one key, nothing fetched"),
])
def test_accounts_of_one_key(server, sync, other, told):
    """The upstream lists the refunds of a key, so that each account would count the other's: the start warns, neither
    fetches any, and a caller that requests them gets the reason.
    """
    httpd = server(start=False, mpm="event")
    paths = [secret_file(httpd.root / name, value) for name, value in (("one.key", GOOD), ("two.key", other))]
    httpd.extra = f"PaymentsRefundSync {sync}\n" + "".join(
        host(httpd, name, f"PaymentsAcquirer live relay {URL} key=file:{path}") for name, path in zip(("one", "two"), paths))
    httpd.expect_log("PAY00302|PAY00203|PAY00400" + ("|PAY00385" if told else ""))
    httpd.start()
    wanted = r"PAY00385: PaymentsAcquirer relay@127.0.0.1:9: accounts (one and two|two and one) use the same key"
    assert len(re.findall(wanted, httpd.log_text())) == told
    if other == GOOD:
        for name in ("one", "two"):
            httpd.ctl("account", "create", name)
            done = httpd.ctl("refund", "sync", name, "--mode", "live", "--from", "2026-01-01", "--to", "2026-01-02", check=False)
            assert done.returncode == 1
            assert "a key of its own" in done.stderr
        httpd.stop()
        assert "PAY00446" not in httpd.log_text()


def test_accounts_of_one_key_do_not_see_each_others_refunds(server, proxy, upstream):
    """Each knows its own; refunds made elsewhere are added to neither, by no watchdog and by no command."""
    httpd = server(start=False, mpm="event", clock=True)
    path = secret_file(httpd.root / "relay.key", upstream.key)
    httpd.extra = "PaymentsRefundSync 1s\n" + "".join(
        host(httpd, name, f"PaymentsAcquirer live relay {proxy.url} key=file:{path} "
                          f"ca={proxy.authority.file}") for name in ("one", "two"))
    httpd.expect_log("PAY00381|PAY00302|PAY00203|PAY00385|" + ACQUIRER_CUT)
    shops = [NamedShop(httpd, name) for name in ("one", "two")]
    httpd.start()
    refs, elsewhere = [], []
    for shop in shops:
        ref = reference()
        assert shop.charge(token="acq_success", reference=ref, amount=20).status == 200
        name = proxy.of("charge")[-1].name
        assert shop.call("POST", PARTIAL, {"reference": ref, "amount": 5}).json["status"] == "processed"
        elsewhere.append(upstream.call("POST", PARTIAL, {"reference": name, "amount": 3}).json["refundReference"])
        refs.append(ref)
    proxy.next("charge", closed_unanswered())
    waits = reference()
    assert shops[0].charge(token="acq_success", reference=waits, amount=21).status == 202
    for _ in range(3):  # the watchdogs have been through it
        httpd.clock.pass_seconds(60)
        wait_for(lambda: shops[0].call("GET", f"/api/v1/checkout/{waits}/verify").json["data"]["status"] == "successful",
                 "what is pending to be asked about")
    for shop, ref in zip(shops, refs):
        listed = shop.refunds().json
        assert [(one["transactionReference"], one["amount"]) for one in listed] == [(ref, "5.00")], listed
        assert shop.call("GET", f"/api/v1/checkout/{ref}/verify").json["data"]["refundedAmount"] == 5
        done = httpd.ctl("refund", "sync", shop.name, "--mode", "live", "--from", "2026-01-01", "--to", "2026-01-02",
                         check=False)
        assert done.returncode == 1 and "a key of its own" in done.stderr
        shown = httpd.ctl("refund", "list", shop.name, "--mode", "live", "--json").stdout
        assert not [one for one in elsewhere if one in shown]
    assert not proxy.of("list")
    assert httpd.ctl("store", "check").returncode == 0


def test_names_in_metrics_are_bounded(server):
    """33 names and more become 32 and "other": readers of the page need no customer's name."""
    httpd = server(start=False, mpm="event")
    path = secret_file(httpd.root / "relay.key", GOOD)
    lines = [f"PaymentsAcquirer live relay {URL} key=file:{path} name=n{number}" for number in range(40)]
    hosts = ["\n".join(lines[first:first + 8]) for first in range(0, 40, 8)]
    httpd.extra = "PaymentsRefundSync off\n" + "".join(host(httpd, f"shop{number}", text) for number, text in enumerate(hosts))
    httpd.host_extra = f"{OPEN}\n{STATUS}"
    httpd.expect_log("PAY00302")  # the accounts do not exist yet
    httpd.start()
    closed = gauges(httpd, "payments_acquirers", "acquirer", breaker="closed")
    assert closed.pop("other") == 8
    assert set(closed.values()) == {1} and len(closed) == 32
    text = page(httpd, "/server-status?auto")
    assert "PaymentsStore0Acquirer32Name: other\n" in text and "PaymentsStore0Acquirer32InFlightMax: 512\n" in text
    assert "Acquirer33" not in text


def foreign(path):
    os.lchown(path, 33, -1)


# Other users who may change a program, or redirect its path: PATH is that of the directive.
PROGRAM_FAULTS = [
    pytest.param(lambda dir: (dir / "bin").chmod(0o777), "bin/key.sh",
                 "{dir}/bin may be changed by others (mode 0777): remove that permission (chmod go-w)", id="its directory"),
    pytest.param(lambda dir: dir.chmod(0o757), "bin/key.sh", "{dir} may be changed by others (mode 0757)",
                 id="a directory above"),
    pytest.param(lambda dir: dir.chmod(0o757), "link", "{dir} may be changed by others (mode 0757)",
                 id="the directory of a link to it"),
    pytest.param(lambda dir: (dir / "bin").chmod(0o777), "link", "{dir}/bin may be changed by others (mode 0777)",
                 id="its directory, by way of a link"),
    pytest.param(lambda dir: (dir / "bin").chmod(0o775), "bin/key.sh", "{dir}/bin may be changed by others (mode 0775)",
                 id="its directory, a group", marks=pytest.mark.root),
    pytest.param(lambda dir: foreign(dir / "bin/key.sh"), "bin/key.sh", "belongs to user 33: give it to root (chown root)",
                 id="it is the server's user's", marks=pytest.mark.root),
    pytest.param(lambda dir: foreign(dir / "bin"), "bin/key.sh", "{dir}/bin belongs to user 33: give it to root",
                 id="its directory is", marks=pytest.mark.root),
    pytest.param(lambda dir: (foreign(dir / "link"), dir.chmod(0o1777)), "link",
                 "is a symbolic link that others may change", id="a link to it is", marks=pytest.mark.root),
]


def program_server(server, change, path):
    httpd = server(start=False, mpm="event")
    folder = httpd.root / "programs"
    (folder / "bin").mkdir(parents=True)
    program(folder / "bin/key.sh", f"touch {httpd.root}/ran; {PRINTS}")
    (folder / "link").symlink_to("bin/key.sh")
    change(folder)
    httpd.extra = host(httpd, "shop", f"PaymentsRefundSync off\nPaymentsAcquirer live relay {URL} key=exec:{folder}/{path}")
    httpd.expect_log("PAY00302")
    return httpd, folder


@pytest.mark.parametrize("change, path, fault", PROGRAM_FAULTS)
def test_program_that_others_may_change(server, change, path, fault):
    """It is not run, its acquirer is out of service, and the server continues."""
    httpd, folder = program_server(server, change, path)
    httpd.expect_log(OUT)
    httpd.start()
    [line] = [line for line in httpd.log_text().splitlines() if OUT in line]
    assert f"{PROGRAM.replace('@PATH@', f'{folder}/{path}')}" in line and fault.format(dir=folder) in line
    assert not (httpd.root / "ran").exists()


@pytest.mark.parametrize("change, path", [
    pytest.param(lambda dir: None, "bin/key.sh", id="plain"),
    pytest.param(lambda dir: None, "link", id="a link"),
    pytest.param(lambda dir: dir.chmod(0o1777), "bin/key.sh", id="a sticky directory above"),
])
def test_program_that_nobody_else_may_change(server, change, path):
    httpd, _ = program_server(server, change, path)
    httpd.root.joinpath("ran").unlink(missing_ok=True)
    httpd.start()
    assert OUT not in httpd.log_text() and (httpd.root / "ran").exists()


def test_program_is_ended(server):
    """A program that continues after its line, or prints none, does not outlive the start."""
    httpd = server(start=False, mpm="event")
    mark = "sleep-" + secrets.token_hex(8)
    (httpd.root / mark).symlink_to("/bin/sleep")
    path = program(httpd.root / "key.sh", f"echo {GOOD.decode()}; exec {httpd.root}/{mark} 600")
    httpd.extra = host(httpd, "shop", f"PaymentsRefundSync off\nPaymentsAcquirer live relay {URL} key=exec:{path}")
    httpd.expect_log("PAY00302")
    httpd.start()
    assert OUT not in httpd.log_text()
    wait_for(lambda: not [pid for pid in os.listdir("/proc") if pid.isdigit() and mark in cmdline(pid)],
             "the program, which was killed, to be gone")


def cmdline(pid):
    try:
        with open(f"/proc/{pid}/cmdline", encoding="latin-1") as file:
            return file.read()
    except OSError:
        return ""
