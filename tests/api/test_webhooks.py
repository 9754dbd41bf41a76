# SPDX-License-Identifier: Apache-2.0
"""A delivery: its request, its signatures, the answers that accept it, and the fate of a rejected one."""

import base64
import json
import os
import re
import shutil
import subprocess

import pytest

from conftest import Hook
from harness import BUILD, TOP, reference, wait_for
from receiver import INSECURE, Receiver, instant, plain_sign, sign


TEST = ("--mode", "test")
RETRY_S = 5.5  # a second try is due after five seconds and up to a tenth more
HERE = TOP / "tests/api"


@pytest.fixture
def timed(server, authority):
    """Makes Hooks of a server whose clocks are the test's."""
    httpd, made = server(clock=True, extra=INSECURE + f"PaymentsTrustedCA {authority.file}\n"), []

    def make(**options):
        made.append(Hook(httpd, **options))
        return made[-1]

    yield make
    for one in made:
        one.close()


def look(timed):
    """Returns once the server has looked for due events: one that was not due before has arrived."""
    witness = timed()
    witness.shop.charge()
    witness.receiver.wait_taken(1)


def node_modules(folder):
    """Where the public verifier is: in the build directory, where ./dev test puts it, or fetched here."""
    made = BUILD / "node"
    failed = made / "failed"
    assert not failed.exists(), failed.read_text()
    if not (made / "installed").exists():
        made = folder
        for name in ("package.json", "package-lock.json"):
            shutil.copy(HERE / name, made)
        subprocess.run(["npm", "ci", "--prefix", str(made), "--ignore-scripts", "--no-audit", "--no-fund"], check=True,
                       capture_output=True, timeout=120)
    return made / "node_modules"


def publicly(modules, deliveries):
    """What the public verifier says of each (secret, delivery, changes to its headers, body)."""
    asked = [{"secret": secret, "headers": {**dict(one.headers), **headers},
              "body": base64.b64encode(one.body if body is None else body).decode()}
             for secret, one, headers, body in deliveries]
    done = subprocess.run(["node", str(HERE / "verify.js")], input=json.dumps(asked), text=True, capture_output=True,
                          env={"PATH": os.environ["PATH"], "NODE_PATH": str(modules)}, timeout=60, check=True)
    return json.loads(done.stdout)


# --- the request ---

def test_request(hook):
    """One POST with the headers of the documentation and no others; its data is what verify answers."""
    shop = hook.shop
    shop.webhook(hook.receiver.url("/hook?shop=1&a=%20b"))
    ref = reference()
    shop.charge(reference=ref, firstName="Zoé", lastName="\U0001f600 \\\" \u00a0")
    [one] = hook.receiver.wait(path="/hook?shop=1&a=%20b")
    one.check(hook.secret)
    assert one.method == "POST"
    assert {name for name, _ in one.headers} == {
        "host", "accept", "user-agent", "content-type", "content-length",
        "webhook-id", "webhook-timestamp", "webhook-signature", "x-novac-signature"}
    assert one.header("user-agent") == "mod_payments"
    assert re.fullmatch(r"evt_[0-9a-f]{42}", one.id)
    assert one.header("x-novac-signature") == plain_sign(hook.secret, one.body)
    assert one.signatures() == [sign(hook.secret, one.id, one.timestamp, one.body)]
    assert list(one.json) == ["notify", "notifyType", "sequence", "data"]
    assert (one.what, one.json["sequence"]) == (("transaction", "successful"), 1)
    verified = shop.call("GET", f"/api/v1/transaction/{ref}/verify").json["data"]
    want = {name: value for name, value in verified.items() if name in one.json["data"]}
    assert json.dumps(one.json["data"]) == json.dumps(want), "verify says something else, or in another order"
    assert set(verified) - set(one.json["data"]) == {"refunds", "refundsComplete"}


def test_public_verifier(hook, tmp_path):
    """The public package believes what is sent, and nothing that was changed."""
    shop = hook.shop
    ref = reference()
    shop.charge(reference=ref)
    hook.receiver.wait(1)
    shop.refund(ref, "10")
    hook.receiver.wait(2)
    hook.httpd.ctl("webhook", "test", shop.name, *TEST)
    old = hook.secret
    new = hook.httpd.ctl("webhook", "secret", "rotate", shop.name, *TEST, "--overlap", "1h").stdout.strip()
    hook.httpd.ctl("webhook", "test", shop.name, *TEST)
    got = hook.receiver.wait(4)
    charge, both = got[0], got[3]
    cases = [*[(old, one, {}, None, "good") for one in got],
             (new, both, {}, None, "good"),
             (new, charge, {}, None, "WebhookVerificationError"),
             (old, charge, {}, charge.body + b" ", "WebhookVerificationError"),
             (old, charge, {"webhook-id": got[1].id}, None, "WebhookVerificationError"),
             (old, charge, {"webhook-timestamp": str(charge.timestamp - 1)}, None, "WebhookVerificationError"),
             (old, charge, {"webhook-signature": "v1," + "A" * 44}, None, "WebhookVerificationError")]
    said = publicly(node_modules(tmp_path), [case[:4] for case in cases])
    assert said == [case[4] for case in cases]


def test_secret_is_rotated(timed):
    """Both sign while they overlap, the new one first; x-novac-signature is the old one's until then."""
    hook = timed()
    name, ctl, first = hook.shop.name, hook.httpd.ctl, hook.secret
    clock = hook.httpd.clock

    def signed():
        ctl("webhook", "test", name, *TEST)
        one = hook.receiver.got[-1]
        by = [secret for part in one.signatures() for secret in secrets
              if part == sign(secret, one.id, one.timestamp, one.body)]
        assert len(by) == len(one.signatures()), "a signature by none of the secrets"
        [plain] = [secret for secret in secrets if one.header("x-novac-signature") == plain_sign(secret, one.body)]
        return by, plain

    secrets = [first]
    assert signed() == ([first], first)
    second = ctl("webhook", "secret", "rotate", name, *TEST, "--overlap", "1h").stdout.strip()
    secrets.append(second)
    assert hook.shop.webhook_secret() == second and second != first
    assert signed() == ([second, first], first)
    third = ctl("webhook", "secret", "rotate", name, *TEST, "--overlap", "0").stdout.strip()
    secrets.append(third)
    assert signed() == ([third], third)
    clock.stop()
    fourth = ctl("webhook", "secret", "rotate", name, *TEST, "--overlap", "2s").stdout.strip()
    secrets.append(fourth)
    assert signed() == ([fourth, third], third)
    clock.pass_seconds(1.999)
    assert signed() == ([fourth, third], third)
    clock.pass_seconds(0.001)
    assert signed() == ([fourth], fourth)


def test_connections_are_kept(hook):
    """Deliveries one after the other share a connection."""
    for _ in range(3):
        hook.httpd.ctl("webhook", "test", hook.shop.name, *TEST)
    assert len(hook.receiver.got) == 3
    assert hook.receiver.connections == 1


# --- what is taken ---

@pytest.mark.parametrize("status", [200, 201, 202, 203, 204])
def test_taken(hook, status):
    hook.receiver.default = status
    said = hook.httpd.ctl("webhook", "test", hook.shop.name, *TEST)
    assert str(status) in said.stdout
    assert hook.shop.events() == []


def test_not_taken(hook):
    """Everything else is a failure, and a redirect is not followed; a test is tried once."""
    hook.httpd.expect_log("PAY00264")
    hook.receiver.headers.update({code: f"Location: {hook.receiver.url('/elsewhere')}\r\n"
                                  for code in (300, 301, 302, 303, 305, 307, 308)})
    statuses = (205, 206, 299, 300, 301, 302, 303, 304, 305, 307, 308, 400, 401, 404, 410, 429, 499, 500, 503)
    for number, status in enumerate(statuses):
        hook.receiver.default = status
        done = hook.httpd.ctl("webhook", "test", hook.shop.name, *TEST, check=False)
        assert done.returncode == 3 and str(status) in done.stdout + done.stderr, (status, done)
        [left] = hook.shop.events("--parked")
        assert (left["notify"], left["status"], left["tries"], left["standing"]) == ("test_assess", status, 1, "parked")
        assert len(hook.receiver.got) == number + 1, "it was tried again"
    assert {one.path for one in hook.receiver.got} == {"/hook"}
    assert len({one.id for one in hook.receiver.got}) == len(statuses)


@pytest.mark.parametrize("text, kept", [
    pytest.param(b"x" * 1024, "x" * 1024, id="just as much as is kept"),
    pytest.param(b"x" * 1025 + b"y", "x" * 1024, id="more than is kept"),
    pytest.param("€".encode() * 342, "€" * 341 + "?", id="cut within a character"),
    pytest.param(b"no such \"order\"\n", None, id="lines and quotes"),
    pytest.param(b"\xff\xfe\x1b[31m red\x00", None, id="no text at all"),
])
def test_answer_is_kept(hook, text, kept):
    """The start of the receiver's body helps who has to find out why; whatever it is, it is shown as text."""
    hook.receiver.default, hook.receiver.text = 400, text
    hook.shop.charge()
    hook.wait()
    [left] = wait_for(lambda: [one for one in hook.shop.events() if one["status"] == 400], "the answer to be kept")
    shown = json.loads(hook.shop.event("show", left["id"], "--json").stdout)
    assert shown["answer"] == left["answer"]
    if kept:
        assert left["answer"] == kept
    else:
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f]", left["answer"]) and left["answer"]
    assert "\x1b" not in hook.shop.event("show", left["id"]).stdout
    hook.shop.event("drop", left["id"])


# --- what was not taken ---

def test_tried_again_with_the_same_bytes(timed):
    """Id and body stay, timestamp and signature are new; it is due 5 s later, up to a tenth more, and sent then."""
    hook = timed()
    clock = hook.httpd.clock
    hook.receiver.answers["/hook"] = [500]
    hook.shop.charge()
    hook.wait(1)
    [left] = wait_for(lambda: [one for one in hook.shop.events() if one["tries"] == 1], "the failure to be stored")
    assert (left["status"], left["standing"], left["to"]) == (500, "waiting", "webhook")
    assert "500" in left["error"]
    due = instant(left["dueAt"])
    assert 5 <= due - instant(left["answeredAt"]) <= RETRY_S + 0.01
    assert f"PAY00266: event {left['id']} for " in hook.httpd.log_text()
    clock.stop()
    clock.pass_seconds(due - clock.now() - 0.001)
    look(timed)
    assert len(hook.receiver.got) == 1, "it was sent before it was due"
    clock.pass_seconds(0.002)  # what is shown is cut to milliseconds
    first, second = hook.receiver.wait(2)
    first.check(hook.secret)
    second.check(hook.secret, clock.now())
    assert left["id"] == first.id == second.id
    assert first.body == second.body
    assert second.timestamp == int(clock.now()) >= first.timestamp + 5
    assert first.signatures() != second.signatures()
    wait_for(lambda: not hook.shop.events(), "it to be gone")
    state = hook.shop.webhook_state()
    assert (state["status"], state["error"]) == (200, "")


def test_retry_and_drop(hook):
    """retry is due at once; what is behind cannot be retried, and is due when what is before it is dropped."""
    shop, receiver = hook.shop, hook.receiver
    ref = reference()
    receiver.default = 500
    shop.charge(reference=ref)
    shop.refund(ref, "10")
    first = hook.wait(1)[0]

    def tried():
        events = shop.events()
        return events if len(events) == 2 and events[0]["tries"] == 1 else None

    before, behind = wait_for(tried, "both, and the first to be tried")
    assert [before["standing"], behind["standing"]] == ["waiting", "behind"]
    assert (before["id"], behind["sequence"]) == (first.id, 2)
    assert shop.event("retry", behind["id"], check=False).returncode == 3
    count = len(receiver.got)
    shop.event("retry", before["id"])
    again = hook.wait(count + 1)[-1]
    assert again.id == first.id and again.at - first.at < 5, "it was not due at once"
    receiver.default = lambda delivery: 500 if delivery.id == first.id else 200
    shop.event("drop", before["id"])
    [taken] = receiver.wait_taken(1)
    assert taken.id == behind["id"]
    wait_for(lambda: not shop.events(), "nothing to be left")
    for verb in ("show", "retry", "drop"):
        assert shop.event(verb, before["id"], check=False).returncode == 3, "it is gone"


def test_off_and_on(timed):
    """Off: no new events, and waiting ones wait. On: waiting events are sent at once."""
    hook = timed()
    clock = hook.httpd.clock
    shop, receiver = hook.shop, hook.receiver
    receiver.default = 500
    shop.charge()
    hook.wait(1)
    [left] = wait_for(lambda: [one for one in shop.events() if one["tries"] == 1], "the failure to be stored")
    shop.webhook_off()
    seen = len(receiver.got)
    shop.charge()
    receiver.default = 200
    assert [one["id"] for one in shop.events()] == [left["id"]]
    clock.pass_seconds(RETRY_S + 1)
    assert clock.now() > instant(left["dueAt"])
    look(timed)
    assert len(receiver.got) == seen, "it was sent to a webhook that is off"
    assert shop.webhook(receiver.url()) == hook.secret, "the secret stays"
    assert receiver.wait_taken(1)[0].id == left["id"]
    shop.charge()
    assert len({one.id for one in receiver.wait_taken(2)}) == 2


def test_a_url_that_changes(hook):
    """What waits goes to where the webhook is now."""
    hook.receiver.answers["/hook"] = 500
    hook.shop.charge()
    [first] = hook.wait(1)
    hook.shop.webhook(hook.receiver.url("/new"))
    hook.shop.event("retry", first.id)
    [second] = hook.receiver.wait(1, path="/new")
    assert second.id == first.id and second.body == first.body
    wait_for(lambda: not hook.shop.events(), "it to be gone")


# --- receivers that do not answer as they should ---

def test_slow_and_broken_receivers_hold_back_nobody(timed, authority):
    """Each is given up by its time limit, with a sentence that says why; others' deliveries arrive meanwhile."""
    cases = {
        "never accepts": ({"context": authority.context(), "mute": True}, None, "No connection was made in time", 5),
        "never reads": ({"context": authority.context(), "silent": True}, None, "No complete answer", 15),
        "hang": ({}, "hang", "No complete answer", 15),
        "hang in the header": ({}, "hang in the header", "No complete answer", 15),
        "byte a second": ({}, "byte a second", "No complete answer", 15),
        "close": ({}, "close", "closed before an answer", 0),
        "close in the header": ({}, "close in the header", "", 0),
        "close in the body": ({}, "close in the body", "broke before the answer was complete", 0),
    }
    bad = {}
    for name, (options, answer, _, _) in cases.items():
        bad[name] = timed(**options)
        if answer:
            bad[name].receiver.default = answer
    huge, good = timed(), timed()
    good.httpd.expect_log("PAY00267")
    clock = good.httpd.clock
    huge.receiver.default = "huge"
    begun = {}
    for name, one in bad.items():
        begun[name] = clock.now()
        for _ in range(20 if name == "hang" else 1):
            one.shop.charge()
    huge.shop.charge()
    for number in range(1, 11):
        good.shop.charge()
        good.wait(number)
    for name in ("never reads", "hang", "hang in the header", "byte a second"):
        assert not [event for event in bad[name].shop.events() if event["tries"] > 0], \
            f"the good one waited until {name} was given up"
    assert 2 <= len(bad["hang"].receiver.open) <= 16, "more than 16 at one receiver"
    for name, (_, _, sentence, seconds) in sorted(cases.items(), key=lambda case: case[1][3]):
        one = bad[name]
        clock.pass_seconds(max(0, begun[name] + seconds - clock.now()))
        left = wait_for(lambda: [event for event in one.shop.events() if event["tries"] > 0], f"{name} to be given up")
        assert seconds - 1 <= instant(left[0]["answeredAt"]) - begun[name], name
        assert left[0]["status"] == 0 and sentence in left[0]["error"] and left[0]["error"], (name, left[0])
    huge.wait()
    wait_for(lambda: not huge.shop.events(), "a 200 with an endless body to count as taken")
    assert huge.receiver.flooded < 16 << 20, "the sender read on and on"


# --- without a server ---

@pytest.mark.parametrize("extra, taken", [
    pytest.param(INSECURE, True, id="allowed"),
    pytest.param("PaymentsWebhookInsecure On", False, id="an address that is not allowed"),
])
def test_deliver_once(server, extra, taken):
    """paymentsctl delivers by the rules that the server stored when it started, in order and signed the same way."""
    httpd = server(extra=extra)
    shop, ref = httpd.shop(), reference()
    shop.charge(reference=ref)
    httpd.stop()
    with Receiver() as receiver:
        secret = shop.webhook(receiver.url())
        for amount in ("1", "2", "3"):
            shop.refund(ref, amount)
        httpd.ctl("event", "deliver", "--once")
        assert len(receiver.got) == (3 if taken else 0)
        assert [one.json["sequence"] for one in receiver.got] == [1, 2, 3][:len(receiver.got)]
        for one in receiver.got:
            assert one.check(secret).what == ("refund", "processed")
        left = shop.events()
        assert [one["standing"] for one in left] == ([] if taken else ["waiting", "behind", "behind"])
        assert taken or "not permitted" in left[0]["error"]
