# SPDX-License-Identifier: Apache-2.0
"""docs/operations.md, "Shared hosting": what the log says of neighbours, and its recipes, run as printed."""

import http.client
import json
import os
import pathlib
import re
import shutil
import ssl
import subprocess
import tempfile

import pytest

from dashboard import basic
from harness import MODULE, ROOT, TOP, Httpd, Response, charge_body, checkout_body, free_port, run_ctl, wait_for

[PAGE] = re.findall(r"^## Shared hosting\n(.*?)(?=^## |\Z)", (TOP / "docs/operations.md").read_text(), re.S | re.M)
SITE = "pay.shop.example"
USER = "nobody"  # in the place of the recipe's payments: any that is not the server's


def block(first):
    """The page's one block whose first line has these words."""
    [found] = [text for text in re.findall(r"^```\w+\n(.*?)^```$", PAGE, re.S | re.M) if first in text.splitlines()[0]]
    return found


# --- the log at start ---

SCRIPTS = {"mod_lua": "lua", "mod_cgi": "cgi", "mod_cgid": "cgid"}


def said(httpd, number):
    return [line for line in httpd.log_text().splitlines() if number in line]


@pytest.mark.parametrize("name, module", SCRIPTS.items())
def test_neighbours_are_named(server, name, module):
    httpd = server(start=False, modules=[module])
    if module == "cgid":
        httpd.extra = f"ScriptSock {httpd.root}/cgisock\n"
    httpd.extra += "<VirtualHost *:1>\nPaymentsEngine On\nPaymentsStore lmdb:@STORE@\n</VirtualHost>\n".replace(
        "@STORE@", str(httpd.store))
    tested = httpd.configtest()
    assert tested.returncode == 0 and "PAY00661" not in tested.stderr + httpd.log_text()
    httpd.start()
    [line] = said(httpd, "PAY00661")
    assert f"PAY00661: {name} is loaded in a server with a payments store" in line and "[payments:notice]" in line
    assert ("SuexecUserGroup" in line) == name.startswith("mod_cgi")
    httpd.graceful()
    assert len(said(httpd, "PAY00661")) == 2, "each start says so once"
    assert not said(httpd, "PAY00662")


def test_neighbours_of_no_store(server):
    httpd = server(engine=False, modules=["lua", "cgi"], extra="CoreDumpDirectory /tmp\n")
    assert not said(httpd, "PAY0066")


def test_neighbours_that_run_no_scripts(server):
    httpd = server(modules=["proxy", "proxy_fcgi", "proxy_http"])
    assert not said(httpd, "PAY0066")


def test_core_dumps_are_warned_of(server):
    httpd = server(start=False)
    httpd.extra = f"CoreDumpDirectory {httpd.root}\n"
    httpd.expect_log("PAY00662")
    assert httpd.configtest().returncode == 0
    assert not said(httpd, "PAY00662")
    httpd.start()
    [line] = said(httpd, "PAY00662")
    assert "[payments:warn]" in line and "opens the memory of child processes" in line


# --- AllowOverride ---

@pytest.mark.plain("only root can make a link to another user's file")
def test_advised_override_refuses_links(server):
    """The printed line takes what sites need, and refuses a tenant's FollowSymLinks; AllowOverride All does not."""
    lines = set(re.findall(r"^ *AllowOverride (?!None|All).*$", PAGE, re.M))
    [advised] = {line.strip() for line in lines}
    httpd = server(start=False, modules=["autoindex"])
    outside = httpd.root / "outside.txt"
    outside.write_text("outside")
    if ROOT:
        os.chown(outside, 4711, 4711)
    for name in "advised", "all":
        (httpd.docroot / name).mkdir()
        (httpd.docroot / name / "link.txt").symlink_to(outside)
    (httpd.docroot / "advised/plain.txt").write_text("plain")
    httpd.extra = "".join(f"<Directory {httpd.docroot}/{name}>\nOptions SymLinksIfOwnerMatch\n{rule}\n</Directory>\n"
                          for name, rule in (("advised", advised), ("all", "AllowOverride All")))
    httpd.start()
    if ROOT:
        httpd.expect_log("AH00032|AH00037")
        assert httpd.request("GET", "/advised/link.txt").status == 403
    allowed = "Options +Indexes +MultiViews\nRewriteEngine On\nRewriteRule ^nice$ plain.txt\nRequire all granted\n"
    (httpd.docroot / "advised/.htaccess").write_text(allowed)
    assert httpd.request("GET", "/advised/nice").body == b"plain"
    assert b"plain.txt" in httpd.request("GET", "/advised/").body
    for text in "Options +FollowSymLinks\n", "Options FollowSymLinks\n", "Options -SymLinksIfOwnerMatch +FollowSymLinks\n", "Options All\n":
        (httpd.docroot / "all/.htaccess").write_text(text)
        if text != "Options +FollowSymLinks\n":  # which leaves SymLinksIfOwnerMatch as it is
            assert httpd.request("GET", "/all/link.txt").body == b"outside"
        (httpd.docroot / "advised/.htaccess").write_text(text)
        httpd.expect_log(r"\[core:alert\].* (FollowSymLinks|SymLinksIfOwnerMatch|All) not allowed here")
        assert httpd.request("GET", "/advised/link.txt").status == 500, text
    assert "Option FollowSymLinks not allowed here" in httpd.log_text()


# --- recipes for tenants' code ---

@pytest.mark.parametrize("first, modules", [
    pytest.param("mod_proxy_fcgi", ["proxy", "proxy_fcgi"], id="PHP-FPM"),
    pytest.param("mod_suexec", ["suexec", "cgid"], id="suexec"),
])
def test_recipes_are_taken(server, first, modules):
    httpd = server(start=False, modules=modules)
    httpd.port = free_port()
    text = block(first).replace("/srv/tenant", str(httpd.root)).replace("/var/www/tenant", str(httpd.root))
    httpd.extra = text.replace("*:80>", f"127.0.0.1:{httpd.port}>").replace("Group tenant tenant", "Group www-data www-data")
    tested = httpd.configtest()
    if "suEXEC is disabled" in tested.stderr:  # its program is not installed here, or not for this user
        assert "SuexecUserGroup configured, but" in tested.stderr
        httpd.extra = re.sub(r"^ *SuexecUserGroup .*\n", "", httpd.extra, flags=re.M)
        tested = httpd.configtest()
    assert tested.returncode == 0, tested.stderr


# --- two servers ---

class Back:
    """The second httpd: the page's two blocks, with places and user of this test, and started as the page says."""

    def __init__(self, folder):
        self.folder, self.port, self.process = folder, free_port(), None
        self.log = folder / "log/error.log"
        for name in "etc/payments", "run", "log", "lib":
            (folder / name).mkdir(parents=True)
        (folder / "etc/payments").chmod(0o700)
        (folder / "etc/httpd.conf").write_text(self.put(block("httpd.conf")))
        (folder / "etc/pay.conf").write_text(self.put(block("pay.conf of the server for payments")))
        password = subprocess.run(["openssl", "passwd", "-apr1", "right"], capture_output=True, text=True, check=True)
        (folder / "etc/users").write_text(f"ada:{password.stdout}")
        self.store = folder / "lib/store"

    def put(self, text):
        names = {"/etc/httpd-payments": "etc", "/run/httpd-payments": "run", "/var/log/httpd-payments": "log",
                 "/var/lib/httpd-payments": "lib"}
        for old, new in names.items():
            text = text.replace(old, str(self.folder / new))
        text = text.replace("/usr/lib/apache2/modules/mod_payments.so", str(MODULE)).replace("127.0.0.1:8081", f"127.0.0.1:{self.port}")
        for name in re.findall(r"LoadModule \w+ /usr/lib/apache2/modules/(mod_\w+)\.so", text):
            if f"{name}.c" in Httpd.builtin():
                text = re.sub(rf"LoadModule \w+ \S+/{name}\.so\n", "", text)
        group = subprocess.run(["id", "-gn", USER], capture_output=True, text=True, check=True).stdout.strip()
        return (text.replace("User payments", f"User {USER}").replace("Group payments", f"Group {group}") if ROOT
                else re.sub(r"(User|Group) payments\n", "", text))

    def start(self, httpd):
        environment = httpd.environment()
        self.process = subprocess.Popen([httpd.command()[0], "-f", str(self.folder / "etc/httpd.conf"), "-DFOREGROUND"],
                                        env=environment, stdin=subprocess.DEVNULL, start_new_session=True)
        wait_for(lambda: self.process.poll() is not None
                 or (self.log.exists() and "resuming normal operations" in self.log.read_text()), "the second server")
        assert self.process.poll() is None, self.log.exists() and self.log.read_text()

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.terminate()
            self.process.wait(60)


class Front(Httpd):
    """The tenants' server, with the page's virtual host; people call it by TLS."""

    def __init__(self, authority, back, **options):
        super().__init__(modules=["socache_shmcb", "ssl", "proxy", "proxy_http"], engine=False, **options)
        self.context = authority.context  # makes the certificate's files
        self.context("good")
        self.tls, self.authority = free_port(), authority
        text = block("pay.conf of the server in front").replace("127.0.0.1:8081", f"127.0.0.1:{back.port}")
        text = text.replace("*:443", f"127.0.0.1:{self.tls}")
        text = text.replace("/etc/ssl/certs/pay.shop.example.pem", str(authority.folder / "good.pem"))
        text = text.replace("/etc/ssl/private/pay.shop.example.key", str(authority.folder / "good.key"))
        self.extra = f"Listen 127.0.0.1:{self.tls}\n{text}"

    def call(self, method, path, body=None, headers=()):
        context = ssl.create_default_context(cafile=self.authority.file)
        context.check_hostname = False  # the certificate of the tests is localhost's
        connection = http.client.HTTPSConnection("127.0.0.1", self.tls, context=context, timeout=60)
        try:
            data = None if body is None else json.dumps(body)
            kind = {} if body is None else {"Content-Type": "application/json"}
            connection.request(method, path, data, {"Host": SITE, **kind, **dict(headers)})
            answer = connection.getresponse()
            return Response(answer.status, [(name.lower(), value) for name, value in answer.getheaders()], answer.read())
        finally:
            connection.close()


@pytest.fixture
def two(authority):
    folder = pathlib.Path(tempfile.mkdtemp(prefix="mod_payments-back-"))
    folder.chmod(0o755)  # the server's user must be able to reach its store
    back = Back(folder)
    front = Front(authority, back)
    front.expect_log("AH01909|AH01873")  # the certificate of the tests has other names, and there is no session cache
    try:
        front.start()
        back.start(front)
        yield front, back
    finally:
        back.stop()
        front.close()
        shutil.rmtree(folder)


@pytest.mark.plain("root's server has a user of its own")
def test_server_of_its_own(two):
    """A charge, a payment page and the dashboard through the front; nothing of it for those who are not asked in."""
    front, back = two
    run_ctl(back.store, "--master-key", str(back.folder / "etc/payments/master.key"), "account", "create", "shop")
    key = run_ctl(back.store, "key", "create", "shop", "--mode", "test", "--kind", "secret").stdout.strip()
    bearer = {"Authorization": f"Bearer {key}"}
    answer = front.call("POST", "/api/v1/tokenized-card-charge", charge_body(), bearer)
    assert answer.status == 200 and answer.json["data"]["paymentStatus"] == "successful", answer
    # What a client says of its own TLS and address is replaced, or behind what the front says.
    lies = {**bearer, "X-Forwarded-Proto": "http", "X-Forwarded-For": "198.51.100.7"}
    assert front.call("POST", "/api/v1/tokenized-card-charge", charge_body(), lies).status == 200
    assert "198.51.100.7" not in (back.folder / "log/access.log").read_text()
    # A hosted page has the name that browsers use.
    answer = front.call("POST", "/api/v1/initiate", checkout_body(), bearer)
    url = answer.json["data"]["paymentRedirectUrl"]
    assert url.startswith(f"https://{SITE}/payment/page/")
    assert front.call("GET", url.removeprefix(f"https://{SITE}")).status == 200
    # The dashboard: its host is the name, and its changes come from there.
    run_ctl(back.store, "account", "grant", "shop", "ada", "--host", SITE, "--role", "owner")
    assert front.call("GET", "/payments-dashboard/api/session").status == 401
    session = front.call("GET", "/payments-dashboard/api/session", headers=basic("ada")).json
    assert session["host"] == SITE and [one["name"] for one in session["accounts"]] == ["shop"]
    change = {**basic("ada"), "X-CSRF-Token": session["csrf"], "Origin": f"https://{SITE}", "Sec-Fetch-Site": "same-origin"}
    keys, body = "/payments-dashboard/api/accounts/shop/keys", {"mode": "test", "kind": "public"}
    answer = front.call("POST", keys, body, change)
    assert answer.status == 200, answer
    assert front.call("POST", keys, body, {**change, "Origin": "https://evil.example"}).status == 403
    # Around the front, from this machine: nothing without a key or a password; TLS is checked where a proxy reports it.
    direct = http.client.HTTPConnection("127.0.0.1", back.port, timeout=60)
    for path, headers, status in [("/api/v1/refund/2026-01-01/2026-01-02", {}, 401), ("/payments-dashboard/", {}, 401),
                                  ("/payments-metrics", {}, 403), ("/server-status", {}, 403),
                                  ("/api/v1/refund/2026-01-01/2026-01-02", {**bearer, "X-Forwarded-Proto": "http"}, 403),
                                  ("/api/v1/refund/2026-01-01/2026-01-02", bearer, 200)]:
        direct.request("GET", path, headers={"Host": SITE, **headers})
        got = direct.getresponse()
        assert (got.status, got.read() and None) == (status, None), path
    direct.close()
    assert not [line for line in back.log.read_text().splitlines()  # of the pages alone: this build is not installed
                if re.search(r":(warn|error|crit|alert|emerg)\]", line) and not re.search("AH01630|AH01882|PAY00664", line)]
    assert (back.folder / "etc/payments/master.key").stat().st_mode & 0o777 == 0o600


@pytest.mark.root
def test_server_of_its_own_keeps_the_store_from_others(two):
    """The tenants' server runs as another user, who can neither read nor write the store."""
    _, back = two
    for one in back.store / "data.mdb", back.store / "lock.mdb", back.store:
        assert one.owner() == USER and one.stat().st_mode & 0o077 == 0
    for tool in ["cat", "touch"]:
        done = subprocess.run([tool, back.store / "data.mdb"], capture_output=True, user="www-data", group="www-data",
                              extra_groups=[], check=False)
        assert done.returncode != 0 and b"ermission denied" in done.stderr
