# SPDX-License-Identifier: Apache-2.0
"""docs/openapi.json is sound, is served as it is, and has the operations of the server, no more and no less."""

import json
import re
import urllib.parse

import jsonschema
import pytest

import openapi_document
from conftest import MPMS
from harness import MODULE, Httpd, charge_body

DOCUMENT = openapi_document.Document()
OPERATIONS = list(DOCUMENT.operations.values())


def test_version_and_identity():
    assert DOCUMENT.tree["openapi"] == "3.1.0"
    assert DOCUMENT.tree["jsonSchemaDialect"] == jsonschema.Draft202012Validator.META_SCHEMA["$id"]
    assert DOCUMENT.tree["info"]["license"]["identifier"] == "Apache-2.0"


def test_every_reference_leads_somewhere_and_every_component_is_used():
    used = {node["$ref"] for _, node in DOCUMENT.walk() if isinstance(node, dict) and "$ref" in node}
    for pointer in used:
        DOCUMENT.at(pointer)
    components = DOCUMENT.tree["components"]
    parts = {f"#/components/{kind}/{name}" for kind in components if kind != "securitySchemes"
             for name in components[kind]}
    assert parts == used


def schemas():
    """Every schema of the document by its pointer."""
    for pointer, node in DOCUMENT.walk():
        if isinstance(node, dict) and not pointer.endswith("/properties") \
                and (pointer.endswith("/schema") or re.fullmatch("#/components/schemas/[A-Za-z0-9]+", pointer)):
            yield pointer, node


def test_every_schema_is_one():
    found = list(schemas())
    assert len(found) > 50
    for _, schema in found:
        jsonschema.Draft202012Validator.check_schema(schema)


def examples():
    for pointer, node in DOCUMENT.walk():
        if isinstance(node, dict) and "schema" in node and "examples" in node:
            for name, example in node["examples"].items():
                yield pytest.param(node["schema"], example["value"],
                                   id=re.sub(r".*/(responses|requestBody)/", "", pointer.replace("~1", "/")) + " " + name)


@pytest.mark.parametrize("schema, value", examples())
def test_every_example_is_of_its_schema(schema, value):
    assert not DOCUMENT.faults(schema, value)


def closed_objects(value):
    """Every object within, and its copy with one member more."""
    if isinstance(value, dict):
        yield {**value, "unheard-of": ""}
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in pairs:
        for other in closed_objects(part):
            copy = dict(value) if isinstance(value, dict) else list(value)
            copy[key] = other
            yield copy


@pytest.mark.parametrize("operation", OPERATIONS, ids=repr)
def test_answers_have_the_members_of_their_schemas_only(operation):
    """A schema that lets anything pass proves nothing: no object of an answer takes one member more."""
    tried = 0
    for status, response in operation.responses.items():
        content = response["content"]["application/json"]
        for example in content.get("examples", {}).values():
            for other in closed_objects(example["value"]):
                assert DOCUMENT.faults(content["schema"], other), (status, other)
                tried += 1
    assert tried > 5


@pytest.mark.parametrize("operation", OPERATIONS, ids=repr)
def test_operation_is_whole(operation):
    node = operation.node
    assert node["summary"] and node["description"]
    assert set(node["tags"]) <= {tag["name"] for tag in DOCUMENT.tree["tags"]}
    either = [{"secretKey": []}, {"publicKey": []}]
    with_header = [*either, {"orderKey": []}] if operation.path.startswith("/payment/order/") else either
    assert node["security"] in ([{"secretKey": []}], with_header)
    in_path = [p["name"] for p in operation.parameters if p["in"] == "path"]
    assert in_path == re.findall(r"{(\w+)}", operation.path)
    assert all(p["required"] for p in operation.parameters if p["in"] == "path")
    assert (operation.method == "POST") == ("Idempotency-Key" in {p["name"] for p in operation.parameters})
    if operation.method == "POST":
        assert set(operation.body["content"]) == {"application/json", "text/json", "application/*+json"}
    assert {"400", "401", "403", "406", "429", "500", "503", "default"} <= set(operation.responses)
    for status, response in operation.responses.items():
        media = {"application/json"} if status == "406" else {"application/json", "text/json", "text/plain"}
        assert set(response["content"]) == media
        assert {"Request-Id", "Cache-Control", "X-Content-Type-Options", "Vary"} <= set(response["headers"])
        assert len({json.dumps(content["schema"]) for content in response["content"].values()}) == 1


def test_a_refund_record_is_the_twelve_members_in_order():
    record = DOCUMENT.at("#/components/schemas/RefundRecord")
    assert list(record["properties"]) == record["required"] == [
        "id", "refundReference", "amount", "currency", "domain", "channel", "merchantNote", "customerNote", "status",
        "transactionReference", "createdAt", "updatedAt"]


# ---- the server

@pytest.fixture(scope="module")
def shop():
    httpd = Httpd(mpm=MPMS[0])
    httpd.start()
    yield httpd.shop()
    httpd.close()


PAGES = {"/payment/page"}  # of payers: no operations


def server_routes(shop):
    """Patterns of the table that was built into the module, with the methods that the server names for each."""
    patterns = {m.decode() for m in re.findall(rb"(?<=\0)/(?:api/v1|payment)/[a-z0-9*/._-]*[a-z0-9*](?=\0)",
                                               MODULE.read_bytes())} - PAGES
    found = {}
    for pattern in patterns:
        answer = shop.call("OPTIONS", pattern.replace("*", "x"))
        if answer.status not in (404, 501):  # 501: named to say that it is not here
            assert (answer.status, answer.body) == (204, b"")
            found[pattern] = sorted(set(answer.header("allow").split(", ")) - {"HEAD", "OPTIONS"})
    return found


def test_document_and_server_have_the_same_operations(shop):
    assert server_routes(shop) == DOCUMENT.methods()


@pytest.mark.parametrize("media", ["application/json", "text/json", "text/plain"])
@pytest.mark.parametrize("path", DOCUMENT.tree["paths"])
def test_methods_that_a_path_has_not(shop, path, media):
    operations = [one for one in OPERATIONS if one.path == path]
    own = [one.method for one in operations]
    for method in {"GET", "POST", "PUT", "PATCH", "DELETE"} - set(own):
        answer = shop.call(method, re.sub(r"{\w+}", "x", path), headers={"Accept": media})
        assert answer.status == 405
        assert set(answer.header("allow").split(", ")) == {*own, "OPTIONS"} | ({"HEAD"} if "GET" in own else set())
        assert answer.json["data"]["responseCode"] == "M1"
        assert not operations[0].judge(answer, media, "default")


@pytest.mark.parametrize("kind", ["secret", "public", "live_secret", "live_public"])
def test_document_is_served_byte_for_byte(shop, kind):
    answer = shop.call("GET", "/api/v1/openapi.json", key=getattr(shop, kind))
    assert answer.status == 200
    assert answer.body == openapi_document.TEXT
    assert answer.header("content-length") == str(len(openapi_document.TEXT))


@pytest.mark.parametrize("base", ["", "/shop/pay"])
def test_relative_server_leads_to_the_operations(server, base):
    """As tools resolve it, with the slash at its end taken away or not."""
    httpd = server(host_extra=f"PaymentsBasePath {base}" if base else "")
    shop = httpd.shop()
    at = f"http://127.0.0.1:{httpd.port}{base}/api/v1/openapi.json"
    document = shop.call("GET", urllib.parse.urlsplit(at).path).json
    root = urllib.parse.urlsplit(urllib.parse.urljoin(at, document["servers"][0]["url"]))
    assert root.port == httpd.port
    for prefix in (root.path, root.path.rstrip("/")):
        answer = shop.call("POST", prefix + "/api/v1/tokenized-card-charge", charge_body())
        assert answer.status == 200, (prefix, answer)
