# SPDX-License-Identifier: Apache-2.0
"""Generators make clients of docs/openapi.json that compile under `tsc --strict` and work against a running server.

Each program of this folder makes the same calls through the client of one generator, and prints what came back. The
controls break the document, one fault for each tool, and expect the tool or the compiler to refuse it.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess

import pytest

import openapi_document
from harness import Httpd, reference

HERE = pathlib.Path(__file__).resolve().parent
MODULES = pathlib.Path(os.environ["PAYMENTS_GENERATORS"]) / "node_modules"
DOCUMENT = openapi_document.Document()
OPERATIONS = sorted(DOCUMENT.operations)
SECONDS = 300  # longest for one command, on a machine that is busy
TYPESCRIPT = ("openapi_fetch", "hey_api", "orval")


@pytest.fixture(scope="module")
def shop():
    httpd = Httpd()
    httpd.start()
    yield httpd.shop()
    httpd.close()


@pytest.fixture(scope="module")
def served(shop):
    """The document as the server has it, for tools that read a file."""
    answer = shop.call("GET", "/api/v1/openapi.json")
    assert answer.status == 200
    return answer.body.decode()


class Work:
    """A folder with the document and the programs, in which tools are run as a developer runs them."""

    def __init__(self, folder, text):
        self.folder = folder
        for name in ("orval.config.cjs", "orval_call.ts", "spectral.yaml", "tsconfig.json", "world.ts",
                     "openapi_fetch.ts", "hey_api.ts", "orval.ts", "swagger_client.mjs"):
            shutil.copy(HERE / name, folder)
        (folder / "node_modules").symlink_to(MODULES)
        (folder / "openapi.json").write_text(text)

    def run(self, *command, **env):
        """A command of the installed packages; the CompletedProcess."""
        return subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=SECONDS, check=False,
                              env={"HOME": str(self.folder), "NO_COLOR": "1", "DO_NOT_TRACK": "1", "SCARF_ANALYTICS": "false",
                                   "PATH": f"{MODULES / '.bin'}:{os.environ['PATH']}", **env})

    def generate(self, program):
        return self.run(*{
            "openapi_fetch": ["openapi-typescript", "openapi.json", "-o", "openapi.d.ts"],
            "hey_api": ["openapi-ts", "-i", "openapi.json", "-o", "hey"],
            "orval": ["orval", "--config", "orval.config.cjs"]}[program])

    def compile(self, program):
        """tsc ignores tsconfig.json if the command line names files, so the file is added to it."""
        options = json.loads((HERE / "tsconfig.json").read_text())
        (self.folder / "tsconfig.json").write_text(json.dumps({**options, "files": [f"{program}.ts"]}))
        return self.run("tsc", "-p", ".")

    def client(self, program):
        """Generates and compiles; the first command that fails, or the last."""
        done = self.generate(program)
        return self.compile(program) if done.returncode == 0 else done

    def texts(self, *patterns):
        return {path.name: path.read_text() for pattern in patterns for path in sorted(self.folder.glob(pattern))}


@pytest.fixture
def work(tmp_path):
    """Makes one from the text of a document."""
    return lambda text: Work(tmp_path, text)


def said(done):
    return f"{' '.join(map(str, done.args))}: exit {done.returncode}\n{done.stdout}\n{done.stderr}"


def passed(done):
    assert done.returncode == 0, said(done)
    return done


def report_of(work, shop, command, ref):
    """Runs a program, compares what it names with the server's own records, and returns the rest of what it prints."""
    base = f"http://127.0.0.1:{shop.httpd.port}"
    done = passed(work.run("node", command, PAYMENTS_BASE=base, PAYMENTS_DOCUMENT=f"{base}/api/v1/openapi.json",
                           PAYMENTS_KEY=shop.secret, PAYMENTS_REFERENCE=ref))
    found = json.loads(done.stdout)
    refunds = [one["refundReference"] for one in shop.refunds().json]
    assert found["refunded"] in refunds and found.pop("refunds") == refunds
    assert [one["amount"] for one in shop.refunds().json if one["refundReference"] == found["refunded"]] == ["500.50"]
    assert ref in found.pop("transactions")
    assert "/payment/page/" in found.pop("page")
    assert shop.call("GET", f"/payment/order/{ref.replace('%', '%25')}-order").status == 200
    del found["refunded"]
    return found


def any_reference():
    """With characters that a path has to escape."""
    return f"{reference()}:100%25"


EXPECTED = {
    "charged": "successful", "pending": "pending", "verified": "successful", "amount": 1500.5, "order": "pending",
    "banks": ["000"],
    "invalid": {"code": "T1", "fields": ["/amount"]},
    "conflict": {"status": 409, "code": "D1"},
    "unknown": {"status": 404, "code": "N1", "message": "no record found for transaction with reference never"},
}


# ---- each generator

@pytest.mark.parametrize("program", TYPESCRIPT)
def test_client_compiles_and_works(work, shop, served, program):
    folder = work(served)
    passed(folder.client(program))
    assert report_of(folder, shop, f"out/{program}.js", any_reference()) == EXPECTED


def test_swagger_client_calls_operations_by_their_ids(work, shop, served):
    """It reads the document from the running server, and resolves the relative base URL itself."""
    found = report_of(work(served), shop, "swagger_client.mjs", any_reference())
    assert found.pop("operations") == OPERATIONS
    assert found == EXPECTED


# ---- the names that they give

def test_openapi_typescript_has_a_type_for_everything(work, served):
    folder = work(served)
    passed(folder.generate("openapi_fetch"))
    text = folder.texts("openapi.d.ts")["openapi.d.ts"]
    assert sorted(re.findall(r"^    (\w+): \{$", text.partition("export interface operations {")[2], re.M)) == OPERATIONS
    assert "@enum {unknown}" not in text
    assert not re.findall(r"^.*: any\b.*$", text, re.M)


def test_hey_api_has_a_function_for_each_operation_and_plain_names(work, served):
    folder = work(served)
    passed(folder.generate("hey_api"))
    sdk, types = folder.texts("hey/sdk.gen.ts", "hey/types.gen.ts").values()
    assert sorted(re.findall(r"^export const (\w+) = ", sdk, re.M)) == OPERATIONS
    names = re.findall(r"^export type (\w+) ", types, re.M)
    assert set(DOCUMENT.tree["components"]["schemas"]) <= set(names)
    assert not [name for name in names if name.startswith("_") or name[-1].isdigit()]


def test_orval_has_a_function_for_each_operation_and_plain_names(work, served):
    folder = work(served)
    passed(folder.generate("orval"))
    assert sorted(re.findall(r"^export const (\w+) = async ", folder.texts("orval/client.ts")["client.ts"], re.M)) == OPERATIONS
    names = re.findall(r"^export (?:interface|type) (\w+) ", "\n".join(folder.texts("orval/model/*.ts").values()), re.M)
    assert set(DOCUMENT.tree["components"]["schemas"]) <= set(names)
    assert len(names) == len(set(names))
    assert not [name for name in names if re.search(r"Property$|AllOf|OneOf|[0-9]$|^Error$", name)]


def lint(folder):
    return folder.run("spectral", "lint", "--ruleset", "spectral.yaml", "--fail-severity", "hint", "openapi.json")


def test_spectral_finds_nothing(work, served):
    passed(lint(work(served)))


# ---- controls

def broken(text, *changes):
    """The document with each (old, new) changed, once."""
    for old, new in changes:
        assert text.count(old) == 1, (text.count(old), old)
        text = text.replace(old, new)
    return text


@pytest.mark.parametrize("program", TYPESCRIPT)
def test_control_a_member_that_is_gone(work, served, program):
    """The compiler refuses the program."""
    tree = json.loads(served)
    del tree["components"]["schemas"]["TransactionMembers"]["properties"]["paymentStatus"]
    done = work(json.dumps(tree)).client(program)
    assert done.returncode != 0 and "paymentStatus" in done.stdout, said(done)


@pytest.mark.parametrize("program", TYPESCRIPT)
def test_control_a_reference_that_leads_nowhere(work, served, program):
    done = work(served.replace('"ErrorData": {', '"ErrorDatum": {')).client(program)
    assert done.returncode != 0, said(done)


def test_control_two_names_that_are_one(work, served):
    """In TypeScript status_code and statusCode get one name: inline they made orval's client fail to compile."""
    tree = json.loads(served)
    for name in ("status_code", "statusCode"):
        tree["components"]["schemas"]["OrderEnvelope"]["properties"][name] = {"type": "string", "enum": ["00", "02"]}
    done = work(json.dumps(tree)).client("orval")
    assert done.returncode != 0 and "OrderEnvelopeStatusCode" in done.stdout, said(done)


def test_control_another_operation_id(work, shop, served):
    """swagger-client, which is given the document in a file of its own here, has no such operation."""
    text = broken(served, ('"operationId": "createCharge"', '"operationId": "makeCharge"'))
    folder = work(text.replace('"url": "../.."', f'"url": "http://127.0.0.1:{shop.httpd.port}"'))
    program = (folder.folder / "swagger_client.mjs").read_text()
    program = 'import {readFileSync} from "node:fs";\n' + broken(
        program, ("    url,\n", '    spec: JSON.parse(readFileSync("openapi.json", "utf-8")),\n'))
    (folder.folder / "swagger_client.mjs").write_text(program)
    done = folder.run("node", "swagger_client.mjs", PAYMENTS_KEY=shop.secret, PAYMENTS_REFERENCE=reference())
    assert done.returncode != 0 and "Operation createCharge not found" in done.stderr, said(done)


@pytest.mark.parametrize("old, new, rule", [
    ('"items": {"$ref": "#/components/schemas/Bank"}', '"description": "Banks."', "array-items"),
    ('"operationId": "createCharge",\n', "", "operation-operationId"),
    ('    "contact": {"name": "The operator of this server"},\n', "", "info-contact"),
    ('"operationId": "createRefund"', '"operationId": "createCharge"', "operation-operationId-unique"),
], ids=["array without items", "no operationId", "no contact", "an operationId twice"])
def test_control_spectral(work, served, old, new, rule):
    done = lint(work(broken(served, (old, new))))
    assert done.returncode != 0 and rule in done.stdout, said(done)
