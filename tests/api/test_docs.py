# SPDX-License-Identifier: Apache-2.0
"""The examples of docs/api.md: each command is run as printed, and answers what is printed below it."""

import json
import pathlib
import re
import subprocess

import pytest

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"
EXAMPLE = re.compile(r"^```sh\n(?P<command>curl .*?)\n```\n(?:```(?:json|text)\n(?P<answer>.*?)```\n)?", re.S | re.M)
# Values that differ from run to run; their presence and type are still compared.
VOLATILE = {"id", "refundReference", "createdAt", "updatedAt", "authorizationCode", "authCode", "requestId",
            "customerCode", "refunds", "paymentRedirectUrl", "publicKey", "checkout_url", "checkoutUrl", "paymentUrl", "redirect_url",
            "paymentLink", "dateCreated"}


def examples(text):
    return [(one["command"], one["answer"]) for one in EXAMPLE.finditer(text)]


def settled(value, name=""):
    """The value with what is volatile replaced by its type."""
    if name in VOLATILE and value not in ("", [], None) or str(value).startswith("link_"):
        return f"<{type(value).__name__}>"
    if isinstance(value, dict):
        return {key: settled(inner, key) for key, inner in value.items()}
    if isinstance(value, list):
        return [settled(inner) for inner in value]
    return value


def run(command, httpd, shop):
    """The example's output, with our server in place of the one it names."""
    done = subprocess.run(["bash", "-c", command.replace("http://127.0.0.1:8080", f"http://127.0.0.1:{httpd.port}")],
                          env={"PATH": "/usr/bin:/bin", "SK": shop.secret, "PK": shop.public},
                          capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


def test_examples_of_the_api(server):
    httpd = server()
    shop = httpd.shop()
    httpd.ctl("link", "create", shop.name, "--mode", "test", "--reference", "link-1", "--amount", "10")
    text = (DOCS / "api.md").read_text()
    found = examples(text)
    for method, path in re.findall(r"^\| (GET|POST) (\S+) \|", text, re.M):
        pattern = re.sub(r"\\{\w+\\}", r"(?:[^/ ]+|\\$\(.*\))", re.escape(path)) + r'[" ]'
        assert any(re.search(pattern, command, re.S) and (method == "POST") == (" -d " in command)
                   for command, _ in found), f"no example of {method} {path}"
    for command, answer in found:
        said = run(command, httpd, shop).replace(f'"{shop.name}"', '"shop"')
        assert answer, f"no answer is printed for\n{command}"
        if answer.lstrip()[0] in "{[":
            got, want = json.loads(said), json.loads(answer)
            assert settled(got) == settled(want), command
            assert json.dumps(settled(got)) == json.dumps(settled(want)), f"another order of members: {command}"
        else:
            hide = lambda text: re.sub(r"rfd_\w+", "rfd_", text.replace("\r", "")).strip()
            assert hide(said) == hide(answer), command


def test_table_has_every_operation():
    """tests/api/test_openapi.py compares the document with the server."""
    rows = re.findall(r"^\| (GET|POST) (\S+) \| [a-z, ]+ \| ", (DOCS / "api.md").read_text(), re.M)
    paths = json.loads((DOCS / "openapi.json").read_text())["paths"]
    assert sorted(rows) == sorted((method.upper(), path) for path in paths for method in paths[path])


@pytest.mark.parametrize("row", [
    row for row in re.findall(r"^\| (GET|POST) (\S+) \| ([a-z, ]+) \| ", (DOCS / "api.md").read_text(), re.M)
], ids=lambda row: f"{row[0]} {row[1]}")
def test_table_of_operations(shop, row):
    """Each row's method and path are an operation, and its kinds of key are what the server lets in."""
    method, path, kinds = row
    path = re.sub(r"\{startDate\}/\{endDate\}", "2026-01-01/2026-01-02", path)
    path = re.sub(r"\{\w+\}", "none", path)
    for key, allowed in ((shop.secret, "secret" in kinds), (shop.public, "public" in kinds)):
        answer = shop.call(method, path, key=key, body={} if method == "POST" else None)
        code = answer.json["data"]["responseCode"] if answer.status >= 400 else ""
        assert code not in ("N2", "M1"), answer
        assert (code != "B02") == allowed, answer
    other = "POST" if method == "GET" else "GET"
    if path not in ("/api/v1/transaction/verify",):
        assert shop.call(other, path).status in (404, 405)


