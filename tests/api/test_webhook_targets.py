# SPDX-License-Identifier: Apache-2.0
"""Where a webhook may go: whoever may set one reaches by it nothing that only the server reaches.

Names resolve as a test says, and no connection leaves this machine (tests/faults/preload_names.c).
"""

import pytest

from harness import loaded, wait_for
from receiver import INSECURE, Receiver, closed_port


NAMES = {
    # Of names of several answers each lookup gets the next one, the last one from there on.
    "loopback.test": "127.0.0.1",
    "loopback6.test": "::1",
    "mapped.test": "::ffff:127.0.0.1",
    "private.test": "10.1.2.3",
    "both.test": "198.51.100.7,127.0.0.1",
    "public.test": "93.184.215.14",
    "public-and-loopback.test": "93.184.215.14,127.0.0.1",
    "opens.test": "93.184.215.14 127.0.0.1",
    "closes.test": "127.0.0.1 93.184.215.14",
}
FORBIDDEN = "address is not permitted"
PUBLIC = "93.184.215.14"


class World:
    """A server, what its deliverer has dialled, and a shop for each target."""

    def __init__(self, server, extra, **env):
        self.httpd = server(start=False, extra=extra, env={
            "LD_PRELOAD": loaded("faults/preload_names"), "PAYMENTS_NAMES": "{root}/names",
            "PAYMENTS_DIALLED": "{root}/dialled", **env})
        (self.httpd.root / "names").write_text("".join(f"{name} {answers}\n" for name, answers in NAMES.items()))
        self.log = self.httpd.root / "dialled"
        self.log.touch()
        self.log.chmod(0o666)
        self.httpd.start()

    def dialled(self):
        return self.log.read_text().split()

    def point(self, url, mode="test"):
        """A new shop whose webhook is `url`, with one event."""
        shop = self.httpd.shop()
        self.httpd.ctl("webhook", "set", shop.name, url, "--mode", mode)
        shop.charge()
        return shop

    def outcome(self, shop, tries=1):
        """The event as it stands after so many tries."""
        return wait_for(lambda: next((one for one in shop.events() if one["tries"] >= tries), None), "a try")


@pytest.fixture
def world(server):
    return lambda extra="PaymentsWebhookInsecure On", **env: World(server, extra, **env)


def test_addresses_that_are_not_public(world):
    """However it is written and whatever it resolves to, an address that is not public is never dialled."""
    here = world()
    with Receiver() as receiver:
        port = receiver.port
        hosts = """
            127.0.0.1 localhost LOCALHOST 127.1 2130706433 0x7f000001 0177.0.0.1 127.255.255.254 0.0.0.0 0
            [::1] [::] [::ffff:127.0.0.1] [::ffff:7f00:1] [64:ff9b::7f00:1] [2002:7f00:1::] [fe80::1] [fc00::1]
            [ff02::1] 169.254.169.254 169.254.0.1 0xa9fea9fe 10.0.0.1 172.16.0.1 172.31.255.255 192.168.1.1 100.64.0.1
            192.0.0.1 192.0.2.1 198.18.0.1 198.51.100.1 203.0.113.1 224.0.0.1 240.0.0.1 255.255.255.255
            loopback.test loopback6.test mapped.test private.test both.test
        """.split()
        shops = {host: here.point(f"http://{host}:{port}/hook") for host in hosts}
        said = {host: here.outcome(shop) for host, shop in shops.items()}
        wrong = {host: one["error"] for host, one in said.items() if FORBIDDEN not in one["error"]}
        assert not wrong, wrong
        assert all(one["status"] == 0 for one in said.values())
        assert receiver.connections == 0 and here.dialled() == []


@pytest.mark.parametrize("name", ["opens.test", "closes.test"])
def test_a_name_that_changes_between_lookups(world, name):
    """Public at one lookup and loopback at the next, or the reverse: what is judged is what is dialled."""
    here = world()
    with Receiver() as receiver:
        shop = here.point(f"http://{name}:{receiver.port}/hook")
        for _ in range(3):
            one = here.outcome(shop)
            shop.event("retry", one["id"])
            wait_for(lambda: shop.events()[0]["answeredAt"] != one["answeredAt"], "the next try")
        assert receiver.connections == 0
        assert set(here.dialled()) <= {PUBLIC}
        assert bool(here.dialled()) == (name == "opens.test"), "it was looked up again after it was judged"


def test_a_name_of_two_addresses(world):
    """The public one is tried, the other one never, though the public one fails."""
    here = world()
    with Receiver() as receiver:
        one = here.outcome(here.point(f"http://public-and-loopback.test:{receiver.port}/hook"))
        assert one["status"] == 0 and one["error"]
        assert receiver.connections == 0
        assert set(here.dialled()) == {PUBLIC}


def test_allow_opens_what_it_names_and_no_more(world):
    """One address of loopback, and a network: their neighbours stay closed."""
    here = world("PaymentsWebhookInsecure On\nPaymentsWebhookAllow 127.0.0.2 10.1.2.0/24")
    with Receiver() as receiver:
        for url in (f"http://127.0.0.1:{receiver.port}/hook", "http://10.1.3.1/", "http://[::1]/", "http://127.0.0.3/"):
            assert FORBIDDEN in here.outcome(here.point(url))["error"], url
        assert here.dialled() == []
        assert FORBIDDEN not in here.outcome(here.point("http://private.test/"))["error"]
        assert here.dialled() == ["10.1.2.3"]
        one = here.outcome(here.point(f"http://127.0.0.2:{closed_port()}/hook"))
        assert "refused" in one["error"]


@pytest.mark.parametrize("extra, sent", [
    pytest.param("", False, id="as it is"),
    pytest.param("PaymentsWebhookInsecure Off", False, id="off"),
    pytest.param("PaymentsWebhookInsecure On", True, id="on, for Test Mode only"),
])
def test_http(server, extra, sent):
    """Without https nothing is sent, but in Test Mode where the server's administrator allows it."""
    httpd = server(extra=f"PaymentsWebhookAllow 127.0.0.0/8\n{extra}")
    httpd.expect_log("PAY00264")
    with Receiver() as receiver:
        shop = httpd.shop()
        shop.webhook(receiver.url("/test"), "test")
        done = httpd.ctl("webhook", "test", shop.name, "--mode", "test", check=False)
        assert (done.returncode == 0) == sent, done
        assert len(receiver.at("/test")) == sent
        if not sent:
            assert "https" in shop.events("--parked", mode="test")[0]["error"]
        assert bool(receiver.connections) == sent
        done = httpd.ctl("webhook", "set", shop.name, receiver.url("/live"), "--mode", "live", check=False)
        assert done.returncode != 0 and "must be https: nothing of Live Mode is sent without TLS" in done.stderr
        assert httpd.ctl("webhook", "show", shop.name, "--mode", "live", check=False).returncode != 0


@pytest.fixture(scope="module")
def bare(telling):
    """A shop that has no webhook."""
    return telling.shop()


@pytest.mark.parametrize("url", [
    "", "shop.example/hook", "//shop.example/hook", "https://", "https:///hook", "https://:443/hook",
    "https://user@shop.example/", "https://user:password@shop.example/", "https://:password@shop.example/",
    "ftp://shop.example/", "file:///etc/passwd", "gopher://shop.example/", "dict://127.0.0.1:11211/stat",
    "smtp://127.0.0.1/", "ldap://127.0.0.1/", "javascript:alert(1)", "unix:///run/x.sock",
    "https://shop.example:0x50/", "https://shop.example:65536/", "https://shop.example:-1/", "https://shop.example/a b",
    "https://shop.example/\nHost: x", "https://shop.example/\r\nX: y", "https://[::1/",
    "http://%31%32%37.0.0.1/", "https://①②⑦.0.0.1/", "https://shop.example/é", "https://" + "a" * 1000 + "/",
], ids=lambda url: url[:40] if url.isascii() and url.isprintable() else repr(url)[:40])
def test_urls_that_the_tool_refuses(bare, url):
    """No host, credentials, other schemes, broken forms: one sentence that repeats no secret, and nothing is kept."""
    done = bare.httpd.ctl("webhook", "set", bare.name, url, "--mode", "test", check=False)
    assert done.returncode in (5, 6), done
    assert done.stdout == "" and done.stderr.startswith("paymentsctl: ")
    assert ":password" not in done.stderr
    assert bare.httpd.ctl("webhook", "show", bare.name, "--mode", "test", check=False).returncode == 3


def test_url_of_just_the_longest_length(telling):
    shop = telling.shop()
    url = "https://shop.example/" + "a" * (1000 - 21)
    assert shop.webhook(url)
    assert shop.httpd.ctl("webhook", "set", shop.name, url + "a", "--mode", "test", check=False).returncode == 5
    assert shop.webhook_state()["url"] == url
    shop.webhook_off()


def test_certificates(hooks, authority):
    """Only one for this name, in time, of a trusted authority is talked to; no request reaches the others."""
    sentences = {"expired": "expired", "other name": "for another host", "self-signed": "trusted authority"}
    for kind, sentence in sentences.items():
        bad = hooks(context=authority.context(kind))
        bad.shop.charge()
        one = wait_for(lambda: next((one for one in bad.shop.events() if one["tries"]), None), "a try")
        assert one["status"] == 0 and sentence in one["error"], (kind, one["error"])
        assert bad.receiver.got == []
        bad.shop.event("drop", one["id"])
    good = hooks(context=authority.context())
    good.shop.charge()
    assert good.wait()
    plain = hooks()  # no TLS where TLS is wanted
    plain.shop.webhook(plain.receiver.url().replace("http:", "https:"))
    plain.shop.charge()
    one = wait_for(lambda: next((one for one in plain.shop.events() if one["tries"]), None), "a try")
    assert one["status"] == 0 and plain.receiver.got == []
    plain.shop.event("drop", one["id"])


def test_only_the_systems_authorities_without_a_directive(server, authority):
    """The tests' authority is trusted by PaymentsTrustedCA, and by nothing else."""
    httpd = server(extra=INSECURE)
    with Receiver(authority.context()) as receiver:
        shop = httpd.shop()
        shop.webhook(receiver.url())
        shop.charge()
        one = wait_for(lambda: next((one for one in shop.events() if one["tries"]), None), "a try")
        assert "trusted" in one["error"] and receiver.got == []


def test_redirects_are_not_followed(hook):
    """Neither to another path nor to another host or scheme: what was signed for one address stays there."""
    with Receiver() as other:
        for target in (hook.receiver.url("/elsewhere"), other.url(), "file:///etc/passwd", "http://169.254.169.254/"):
            for status in (301, 302, 303, 307, 308):
                hook.receiver.headers[status] = f"Location: {target}\r\n"
                hook.receiver.answers["/hook"] = status
                hook.shop.charge()
        hook.wait(5)
        wait_for(lambda: any(one["tries"] for one in hook.shop.events()), "a failure to be stored")
        assert {one.path for one in hook.receiver.got} == {"/hook"} and other.connections == 0
    hook.httpd.expect_log("PAY00267")


def test_environment_names_no_proxy(world):
    """The deliverer ignores a proxy in the server's environment, and a .netrc."""
    with Receiver() as proxy:
        url = f"http://127.0.0.1:{proxy.port}"
        env = {name: url for one in ("http_proxy", "https_proxy", "all_proxy") for name in (one, one.upper())}
        here = world(INSECURE, **env, HOME="{root}")
        (here.httpd.root / ".netrc").write_text("default login ada password lovelace\n")
        (here.httpd.root / ".netrc").chmod(0o644)
        with Receiver() as receiver:
            here.point(receiver.url())
            [one] = receiver.wait(1)
            assert one.header("authorization") is None
            here.outcome(here.point("http://public.test/hook"))
        assert proxy.connections == 0
        assert set(here.dialled()) == {PUBLIC}


def test_nobody_listens(hook):
    """A refused connection is reported as refused, and retried."""
    port = closed_port()
    hook.shop.webhook(f"http://127.0.0.1:{port}/hook")
    hook.shop.charge()
    one = wait_for(lambda: next((one for one in hook.shop.events() if one["tries"]), None), "a try")
    assert (one["status"], one["standing"]) == (0, "waiting") and "refused" in one["error"]
    hook.shop.webhook(hook.receiver.url())
    hook.shop.event("retry", one["id"])
    assert hook.receiver.wait_taken(1)[0].id == one["id"]
