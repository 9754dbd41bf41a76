# SPDX-License-Identifier: Apache-2.0
"""docs/live-mode.md: its commands and directives, run as printed against a second instance."""

import os
import re
import shlex
import subprocess

from harness import PAYMENTSCTL, TOP, httpd_binary, wait_for
from upstream import ACQUIRER_CUT, Till
from upstream_proxy import closed_unanswered

PAGE = (TOP / "docs/live-mode.md").read_text()
HOST, KEYS, SITE = "https://api.example.com", "/etc/apache2/payments", "https://pay.shop.example"


def section(title):
    [text] = re.findall(rf"^## {title}\n(.*?)(?=^## |\Z)", PAGE, re.S | re.M)
    return text


def blocks(title, language):
    return re.findall(rf"^```{language}\n(.*?)^```$", section(title), re.S | re.M)


class Shell:
    """bash in which the page's names stand for those of this test; apachectl and paymentsctl are ours."""

    def __init__(self, httpd, folder, names=()):
        self.names = {KEYS: str(httpd.root / "payments"), SITE: f"http://127.0.0.1:{httpd.port}", **dict(names)}
        self.env = {**httpd.environment(), "STORE": str(httpd.store), "HOME": str(folder),
                    "PATH": f"{folder}/bin:" + os.environ["PATH"]}
        (folder / "bin").mkdir()
        # A sanitizer's library that httpd wants before all others is not for bash and curl, which hangs with it.
        preload = self.env.pop("LD_PRELOAD", "")
        httpd_t = shlex.join(["env", f"LD_PRELOAD={preload}", httpd_binary(), "-d", str(httpd.root), "-f",
                              str(httpd.root / "httpd.conf"), "-t"])
        self.tool(folder, "apachectl",
                  f'case $1 in configtest) {httpd_t} ;; graceful) kill -USR1 "$(cat {httpd.root}/httpd.pid)" ;; esac')
        self.tool(folder, "paymentsctl", f'exec {shlex.quote(PAYMENTSCTL)} "$@"')

    @staticmethod
    def tool(folder, name, text):
        path = folder / "bin" / name
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)

    def put(self, text):
        for old, new in self.names.items():
            text = text.replace(old, new)
        return text

    def run(self, text, stdin="", want=0):
        done = subprocess.run(["bash", "-ec", self.put(text)], env=self.env, input=stdin, capture_output=True,
                              text=True, timeout=120, check=False)
        assert done.returncode == want, f"{text}\n{done.stdout}{done.stderr}"
        return done.stdout + (done.stderr if want else "")


def test_going_live(authority, upstream, tmp_path):
    """A server without Live Mode, the page's lines in their order, a charge and its refund at the upstream."""
    url = f"https://127.0.0.1:{upstream.port}"
    with_key, start, charge = blocks("Going live", "sh")
    [directives] = blocks("Going live", "apache")
    httpd = Till(url, upstream.key, authority, acquirer=False, live=False)
    httpd.host_extra = ""
    httpd.start()
    try:
        shell = Shell(httpd, tmp_path, {HOST: url, "YOUR-TOKEN": "acq_success"})
        shell.run(with_key, stdin=upstream.key + "\n")
        key = httpd.root / "payments/relay.key"
        assert (key.stat().st_mode & 0o777, key.parent.stat().st_mode & 0o777) == (0o600, 0o700)
        # As printed, except for the authority that signed the upstream of the tests.
        httpd.host_extra = shell.put(directives).rstrip("\n") + f" ca={authority.file}\n"
        httpd.write_config()
        before = httpd.log_text().count("resuming normal operations")
        shell.run(start)
        wait_for(lambda: httpd.log_text().count("resuming normal operations") > before, "the graceful restart")
        assert (tmp_path / "shop-live-secret").stat().st_mode & 0o777 == 0o600
        said = shell.run(charge)
        assert '"message":"Charge successful"' in said and '"status":"processed"' in said, said
        rows = httpd.live_shop.rows("charge")
        assert [(row["reference"], row["status"], row["domain"]) for row in rows] == [("live-1", "reversed", "live")]
        assert httpd.live_shop.rows_held() == []
        theirs = [row for row in upstream.charges().values() if row["amount"] == 100 and row["status"] == "reversed"]
        assert theirs, "the upstream gave it back"
    finally:
        httpd.close()


def test_when_a_person_must_decide(till, proxy, tmp_path):
    """The list looks as printed and knows these reasons; each command does what the page says of it."""
    text = "".join(blocks("When a person must decide", "sh")).replace("\\\n", " ")
    commands = [line for line in text.splitlines() if not line.startswith("#")]
    listing, show, decisions, late = commands[0], commands[1:3], commands[3:7], commands[7]
    assert len(commands) == 8
    httpd = till(host_extra="PaymentsPendingAlert 1s\n")
    httpd.expect_log(f"{ACQUIRER_CUT}|PAY00421")
    shop = httpd.live_shop
    for ref in ("order-1", "order-2"):
        assert shop.charge(reference=ref).status == 200
    proxy.fail(closed_unanswered())
    for ref in ("order-7", "order-8"):
        assert shop.charge(reference=ref).status == 202
    refunds = [shop.partial(ref, "10.00").json for ref in ("order-1", "order-2")]
    assert [one["status"] for one in refunds] == ["pending", "pending"]
    wait_for(lambda: len(shop.rows_held()) == 4, "all of them to be held")
    httpd.stop()  # what the upstream says meanwhile would end this

    printed = re.findall(r"rfd_\w+", "\n".join(decisions))
    shell = Shell(httpd, tmp_path, dict(zip(printed, (one["refundReference"] for one in refunds))))
    said = shell.run(listing).splitlines()
    title, example = blocks("When a person must decide", "text")[0].splitlines()
    assert said[0].split() == title.split()
    want = [*example.split()[:4], "1000.00", "NGN", "overdue"]
    assert len(said) == 5 and any(line.split()[:7] == want for line in said[1:]), said
    assert [found.start() for found in re.finditer(r"\S+", example)] == [found.start()
                                                                         for found in re.finditer(r"\S+", title)]
    assert "overdue" in shell.run(show[0]) and "overdue" in shell.run(show[1])
    for command in decisions:
        shell.run(command)
    assert shop.rows_held() == []
    assert "order-9" in shell.run(late, want=3), "the command is well, but there is no such charge"
    rows = {row["reference"]: row["status"] for row in shop.rows("charge")}
    assert (rows["order-7"], rows["order-8"]) == ("successful", "failed")
    done = {row["refundReference"]: row["status"] for row in shop.rows("refund")}
    assert [done[one["refundReference"]] for one in refunds] == ["processed", "failed"]


def test_reasons():
    """The page explains each reason that there is, and no other."""
    names = re.findall(r'\[PAY_HELD_\w+\] = "([\w-]+)"', (TOP / "mod_payments/model/outcome.c").read_text())
    told = re.findall(r"^\| (\S+) \|", section("When a person must decide"), re.M)
    assert len(names) == 4 and told == ["why", *names]


def test_another_acquirer(till, proxy):
    """The two lines are taken in this order: what went through the second is refunded there."""
    httpd = till()
    shop = httpd.live_shop
    shop.charge(reference="order-1")
    [lines] = blocks("Another key, another acquirer", "apache")
    new, old = lines.splitlines()
    (httpd.root / "payments").mkdir()
    for name in ("new", "relay"):
        (httpd.root / f"payments/{name}.key").write_text(httpd.key_file.read_text())
        (httpd.root / f"payments/{name}.key").chmod(0o600)
    names = {KEYS: str(httpd.root / "payments"), "https://new.example.com": proxy.url.replace("127.0.0.1", "localhost"),
             HOST: proxy.url}
    for name, value in names.items():
        new, old = new.replace(name, value), old.replace(name, value)
    httpd.host_extra = f"PaymentsAccount shop\nPaymentsRefundSync off\n{new}\n{old} ca={httpd_ca(httpd)}\n"
    httpd.write_config()
    httpd.graceful()
    assert shop.partial("order-1", "1.00").json["status"] == "processed"
    # The first one's certificate is of no authority that the system knows: nothing is sent there, nor to the second.
    httpd.expect_log("PAY00400")
    assert shop.charge(reference="order-2").status == 503
    assert len(proxy.of("charge")) == 1


def httpd_ca(httpd):
    """The file of authorities that its first configuration named."""
    return re.search(r" ca=(\S+)", httpd.given)[1]


def test_refund_sync(till, tmp_path):
    """The commands are taken as printed; the server answers the first."""
    httpd = till()
    [sync, link] = blocks("Refunds", "sh")
    shell = Shell(httpd, tmp_path)
    said = shell.run(sync)
    assert "seen" in said.lower(), said
    said = shell.run(link)
    assert "VERDICT" in said, said
