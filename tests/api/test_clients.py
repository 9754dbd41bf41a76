# SPDX-License-Identifier: Apache-2.0
"""Our own client libraries (share/clients), each in its own runtime, against the server."""

import base64
import hashlib
import hmac
import json
import os
import re
import subprocess
import time

import pytest

from harness import TOP, reference
from shares import ALIKE

pytestmark = ALIKE

CLIENTS = TOP / "share/clients"
# Each is given {"url", "key", "call": [name, arguments...]} and prints {"ok": ...} or {"error": [status, code, message]}.
DRIVERS = {
    "python": ["/usr/bin/python3", "-c", """
import json, sys
sys.path.insert(0, sys.argv[1])
import payments
asked = json.loads(sys.argv[2])
shop = payments.Payments(asked["url"], asked["key"])
name, *args = asked["call"]
try:
    if name == "webhook":
        said = payments.verify_webhook(*args)
    elif name == "isPaid":
        said = payments.is_paid(*args)
    elif name == "charge":
        said = shop.charge(**args[0])
    elif name == "refund":
        given = {{"idempotencyKey": "idempotency_key"}.get(k, k): v for k, v in args[0].items()}
        said = shop.refund(**given)
    elif name == "checkout":
        given = {{"firstName": "first_name", "lastName": "last_name"}.get(k, k): v for k, v in args[0].items()}
        said = shop.checkout(**given)
    elif name == "transactions":
        said = list(shop.transactions(**args[0]))
    else:
        said = getattr(shop, name)(*args)
    print(json.dumps({"ok": said}))
except payments.PaymentError as refusal:
    print(json.dumps({"error": [refusal.status, refusal.code, str(refusal), refusal.errors]}))
except (TypeError, ValueError) as wrong:
    print(json.dumps({"wrong": str(wrong)}))
except OSError as silence:
    print(json.dumps({"silence": str(silence)}))
"""],
    "node": ["node", "--input-type=module", "-e", """
const [folder, text] = process.argv.slice(1);
const { Payments, PaymentError, isPaid, verifyWebhook } = await import(folder + '/payments.mjs');
const asked = JSON.parse(text);
const shop = new Payments(asked.url, asked.key);
const [name, ...args] = asked.call;
try {
  let said;
  if (name === 'webhook') {
    said = await verifyWebhook(...args);
  } else if (name === 'isPaid') {
    said = isPaid(...args);
  } else if (name === 'transactions') {
    said = [];
    for await (const one of shop.transactions(...args)) said.push(one);
  } else {
    said = await shop[name](...args);
  }
  console.log(JSON.stringify({ ok: said }));
} catch (error) {
  console.log(JSON.stringify(error instanceof PaymentError ? { error: [error.status, error.code, error.message, error.errors] }
    : String(error).includes('fetch failed') ? { silence: String(error) } : { wrong: String(error) }));
}
"""],
    "php": ["php", "-r", """
require $argv[1] . '/Payments.php';
$asked = json_decode($argv[2], true);
$shop = new Payments($asked['url'], $asked['key']);
$name = array_shift($asked['call']);
$args = $asked['call'];
$take = function (array &$from, string $key) { $value = $from[$key] ?? null; unset($from[$key]); return $value; };
try {
    if ($name === 'webhook') {
        $said = Payments::verifyWebhook(...$args);
    } elseif ($name === 'isPaid') {
        $said = Payments::isPaid(...$args);
    } elseif ($name === 'charge') {
        $a = $args[0];
        $said = $shop->charge($take($a, 'token'), $take($a, 'amount'), $take($a, 'email'), $take($a, 'reference'), $a);
    } elseif ($name === 'refund') {
        $a = $args[0];
        $said = $shop->refund($take($a, 'reference'), $take($a, 'amount'), $take($a, 'idempotencyKey'), $a);
    } elseif ($name === 'checkout') {
        $a = $args[0];
        $said = $shop->checkout($take($a, 'reference'), $take($a, 'amount'), $take($a, 'email'), $take($a, 'firstName'),
            $take($a, 'lastName'), $a);
    } elseif ($name === 'transactions') {
        $said = iterator_to_array($shop->transactions(...$args), false);
    } else {
        $said = $shop->$name(...$args);
    }
    echo json_encode(['ok' => $said]);
} catch (PaymentException $refusal) {
    echo json_encode($refusal->getCode() ? ['error' => [$refusal->getCode(), $refusal->responseCode, $refusal->getMessage(),
        $refusal->errors]] : ['silence' => $refusal->getMessage()]);
} catch (TypeError | InvalidArgumentException | UnexpectedValueException $wrong) {
    echo json_encode(['wrong' => $wrong->getMessage()]);
}
"""],
}
SHELLS = {"sh": ["/bin/sh"], "bash": ["bash"]}
LIBRARIES = [*DRIVERS, *SHELLS]


def run_shell(shell, asked):
    """The same by the script, whose answers are the API's own."""
    name, *args = asked["call"]
    env = {"PATH": os.environ["PATH"], "PAYMENTS_URL": asked["url"], "PAYMENTS_KEY": asked["key"]}
    stdin, words = "", args
    if name == "webhook":
        env["PAYMENTS_WEBHOOK_SECRET"], headers, stdin = args
        words = [headers.get(f"webhook-{part}", "") for part in ("id", "timestamp", "signature")]
    elif args and isinstance(args[0], dict):
        given = dict(args[0])
        env["IDEMPOTENCY_KEY"] = given.pop("idempotencyKey", "")
        if name == "checkout":
            given["transactionReference"] = given.pop("reference")
        words = [f"{key}={value}" for key, value in given.items()]
    done = subprocess.run([*SHELLS[shell], CLIENTS / "payments.sh", name, *words], input=stdin, env=env, text=True,
                          capture_output=True, timeout=60, check=False)
    if done.returncode == 2:
        return {"silence": done.stderr}
    if done.returncode == 3:
        return {"wrong": "not to be believed"}
    said = json.loads(done.stdout)
    if done.returncode == 1:
        data = said["data"]
        return {"error": [{"T1": 400, "B01": 401, "D1": 409, "N1": 404, "R3": 409}[data["responseCode"]], data["responseCode"],
                          said["message"], data.get("errors", [])]}
    if name == "transactions":
        return {"ok": said["data"]["transactions"]}
    return {"ok": said["data"] if isinstance(said, dict) and "data" in said and name != "webhook" else said}


def run(library, url, key, *call):
    asked = {"url": url, "key": key, "call": call}
    if library in SHELLS:
        return run_shell(library, asked)
    done = subprocess.run([*DRIVERS[library], str(CLIENTS), json.dumps(asked)], capture_output=True, text=True, timeout=60,
                          check=False)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    return json.loads(done.stdout)


@pytest.fixture(params=LIBRARIES)
def client(request, shop):
    """Calls by one library, with the shop's secret key."""
    url = f"http://127.0.0.1:{shop.httpd.port}/"
    return lambda *call, key=None, at=url: run(request.param, at, key or shop.secret, *call)


def charge_of(ref, **more):
    return {"token": "tok_test_success", "amount": "1500.50", "email": "ada@shop.example", "reference": ref, **more}


def test_from_charge_to_refund(client, shop):
    ref = reference() + "%.x"
    charge = client("charge", charge_of(ref, firstName='A"d\\a\nö', lastName="Obi"))
    if "error" in charge:  # a newline is no part of a name
        assert charge["error"][1] == "T1" and charge["error"][3][0]["field"] == "/firstName"
    charge = client("charge", charge_of(ref, firstName='A"d\\aö', lastName="Obi"))["ok"]
    assert (charge["paymentStatus"], charge["amount"], charge["customer"]["name"]) == ("successful", 1500.5, 'A"d\\aö Obi')
    assert client("charge", charge_of(ref))["ok"] == charge, "repeated, it is charged once"
    assert client("charge", charge_of(ref, amount="2"))["error"][:2] == [409, "D1"]
    assert client("verify", ref)["ok"]["paymentStatus"] == "successful"
    part = {"reference": ref, "amount": "500.50", "idempotencyKey": reference(), "customer_note": "one & all"}
    first = client("refund", part)["ok"]
    assert (first["amount"], first["customerNote"], first["status"]) == ("500.50", "one & all", "processed")
    assert client("refund", part)["ok"] == first, "repeated, it is given back once"
    assert client("refund", {"reference": ref})["ok"]["amount"] == "1000.00"
    assert client("refund", {"reference": ref})["error"][:2] == [409, "R3"]
    listed = client("refunds", "2000-01-01", "2099-12-31T23:59:59+01:00")["ok"]
    assert [one["amount"] for one in listed if one["transactionReference"] == ref] == ["500.50", "1000.00"]
    assert [one["reference"] for one in client("transactions", {"status": "reversed"})["ok"]] == [ref]


def test_declined_is_not_paid(client):
    said = client("charge", charge_of(reference(), token="tok_test_declined"))["ok"]
    assert (said["paymentStatus"], said["status"]) == ("failed", "failed")


def test_checkout(client, shop):
    ref = "checkout-" + reference()
    asked = {"reference": ref, "amount": 10, "email": "ada@shop.example", "firstName": "Ada", "lastName": "Obi",
             "redirectUrl": "https://shop.example/done?a=1&b=2"}
    made = client("checkout", asked, key=shop.public)["ok"]
    assert made["transactionReference"] == ref and "/payment/page/" in made["paymentRedirectUrl"]
    assert client("verify", ref, key=shop.public)["ok"]["paymentStatus"] == "pending"


@pytest.mark.parametrize("call, status, code", [
    (["verify", "never"], 404, "N1"), (["charge", {"token": "", "amount": "1", "email": "x", "reference": "r"}], 400, "T1"),
    (["refunds", "2026-02-30", "2026-03-01"], 400, "T1")])
def test_refusals(client, call, status, code):
    assert client(*call)["error"][:2] == [status, code]


def test_bad_key(client):
    assert client("verify", "x", key="pay_testsk_" + "a" * 48)["error"][:2] == [401, "B01"]


def test_no_answer(client):
    assert "silence" in client("verify", "x", at="http://127.0.0.1:9")


def test_php_in_a_namespace():
    """The plugin of WooCommerce has it in one: no class of PHP's own is looked for there."""
    text = (CLIENTS / "Payments.php").read_text().partition("declare(strict_types=1);\n")[2]
    done = subprocess.run(["php", "-r", "namespace Shop;\n" + text + """
        foreach ([fn () => Payments::verifyWebhook('', [], ''), fn () => (new Payments('', ''))->charge('', 0.5, '', ''),
                  fn () => (new Payments('http://127.0.0.1:9', ''))->verify('x')] as $call) {
            try { $call(); } catch (\\Throwable $failure) { echo get_class($failure), ' '; }
        }
        echo (new \\ReflectionMethod(Payments::class, 'transactions'))->getReturnType();"""], capture_output=True, text=True,
                          timeout=60, check=False)
    assert (done.stdout, done.stderr) == (
        "UnexpectedValueException InvalidArgumentException Shop\\PaymentException Generator", "")


@pytest.mark.parametrize("library", DRIVERS)
def test_amounts_and_words(shop, library):
    """A float is no amount, and only one word is paid."""
    url = f"http://127.0.0.1:{shop.httpd.port}"
    assert "wrong" in run(library, url, shop.secret, "charge", charge_of(reference(), amount=0.30000000000000004))
    for word, paid in (("successful", True), ("pending", False), ("abandoned", False), ("", False), ("paid", False)):
        assert run(library, url, shop.secret, "isPaid", {"paymentStatus": word, "status": "successful"})["ok"] is paid
    assert run(library, url, shop.secret, "isPaid", {})["ok"] is False


@pytest.mark.parametrize("library", DRIVERS)
def test_a_key_is_not_sent_elsewhere(shop, upstream, library):
    """A redirection is no way to learn it."""
    httpd = shop.httpd
    (httpd.docroot / "moved").mkdir(exist_ok=True)
    (httpd.docroot / "moved/.htaccess").write_text(f"Redirect 302 /moved http://127.0.0.1:{httpd.port}/api-elsewhere\n")
    said = run(library, f"http://127.0.0.1:{httpd.port}/moved", shop.secret, "verify", "x")
    assert "ok" not in said
    assert "api-elsewhere" not in (httpd.root / "access.log").read_text()


# ---- webhooks

SECRET = "whsec_" + base64.b64encode(bytes(range(32))).decode()
BODY = '{"notify":"transaction","notifyType":"successful","data":{"amount":1500.50,"name":"ö"}}'


def signed(body=BODY, secret=SECRET, at=0, more=""):
    stamp = str(int(time.time()) + at)
    digest = hmac.new(base64.b64decode(secret[6:]), f"evt_1.{stamp}.{body}".encode(), hashlib.sha256).digest()
    return {"webhook-id": "evt_1", "webhook-timestamp": stamp,
            "webhook-signature": f"{more}v1,{base64.b64encode(digest).decode()}"}


OTHER = "whsec_" + base64.b64encode(bytes(32)).decode()
WEBHOOKS = {
    "good": (signed, BODY, True),
    "while the secret is changed": (lambda: signed(more=signed(secret=OTHER)["webhook-signature"] + " "), BODY, True),
    "another body": (signed, BODY.replace("1500", "9500"), False),
    "written anew": (signed, BODY.replace("1500.50", "1500.5"), False),
    "another secret": (lambda: signed(secret=OTHER), BODY, False),
    "too old": (lambda: signed(at=-400), BODY, False),
    "of the future": (lambda: signed(at=400), BODY, False),
    "no signature": (lambda: {**signed(), "webhook-signature": ""}, BODY, False),
    "no headers": (dict, BODY, False),
    "a time that is none": (lambda: {**signed(), "webhook-timestamp": "-1e9"}, BODY, False),
    "another version": (lambda: {**signed(), "webhook-signature": signed()["webhook-signature"].replace("v1", "v2")}, BODY, False),
}


@pytest.mark.parametrize("name", WEBHOOKS)
def test_webhooks(client, name):
    headers, body, good = WEBHOOKS[name]
    said = client("webhook", SECRET, headers(), body)
    assert said == {"ok": json.loads(BODY)} if good else "wrong" in said, said


# ---- the files

@pytest.mark.parametrize("name", ["payments.py", "payments.mjs", "Payments.php", "payments.sh"])
def test_paths_are_those_of_the_document(name):
    """What a library calls is in docs/openapi.json, with that method."""
    tree = json.loads((TOP / "docs/openapi.json").read_text())
    known = {re.sub(r"/?\{\w+\}.*", "", path) for path in tree["paths"]}
    text = (CLIENTS / name).read_text()
    called = set(re.findall(r"/api/v1/[a-z/-]*[a-z]", text))
    assert len(called) >= 5 and called <= known, called - known
