# SPDX-License-Identifier: Apache-2.0
"""docs/openapi.json for the tests: its operations and answers."""

import json
import re

import jsonschema

from harness import TOP

TEXT = (TOP / "docs/openapi.json").read_bytes()
METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")
FORMATS = jsonschema.FormatChecker()


@FORMATS.checks("date-time")
def is_date_time(value):
    """The library checks date-times only if another package is installed."""
    return not isinstance(value, str) or bool(re.fullmatch(
        r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?(Z|[+-]\d\d:\d\d)", value))


@FORMATS.checks("json-pointer")
def is_json_pointer(value):
    return not isinstance(value, str) or bool(re.fullmatch(r"(/([^/~]|~[01])*)*", value))


class Document:
    def __init__(self, text=TEXT):
        self.tree = json.loads(text, object_pairs_hook=one_of_each)
        self.operations = {}
        for path, item in self.tree["paths"].items():
            for method in METHODS:
                if method in item:
                    one = Operation(self, path, method.upper(), item[method])
                    assert one.id not in self.operations, f"operationId {one.id} twice"
                    self.operations[one.id] = one

    def resolve(self, node):
        while "$ref" in node:
            node = self.at(node["$ref"])
        return node

    def at(self, pointer):
        assert pointer.startswith("#/"), pointer
        node = self.tree
        for part in pointer[2:].split("/"):
            node = node[part.replace("~1", "/").replace("~0", "~")]
        return node

    def validator(self, schema):
        """The schema alone, with the targets of its references."""
        whole = {**schema, "components": self.tree["components"]}
        return jsonschema.Draft202012Validator(whole, format_checker=FORMATS)

    def faults(self, schema, value):
        return [f"{'/'.join(map(str, e.absolute_path))}: {e.message}" for e in self.validator(schema).iter_errors(value)]

    def walk(self):
        """Every (pointer, node) of the document."""
        todo = [("#", self.tree)]
        while todo:
            pointer, node = todo.pop()
            yield pointer, node
            pairs = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
            todo += [(f"{pointer}/{str(k).replace('~', '~0').replace('/', '~1')}", v) for k, v in pairs]

    def methods(self):
        """For each path of the document, with * for its variable parts, its methods."""
        return {re.sub(r"{\w+}", "*", path): sorted(m.upper() for m in METHODS if m in item)
                for path, item in self.tree["paths"].items()}


class Operation:
    def __init__(self, document, path, method, node):
        self.document, self.path, self.method, self.node = document, path, method, node
        self.id = node["operationId"]
        self.parameters = [document.resolve(p) for p in node.get("parameters", [])]
        self.responses = {status: document.resolve(r) for status, r in node["responses"].items()}
        self.body = node.get("requestBody")
        self.public = {"publicKey": []} in node["security"]

    def __repr__(self):
        return self.id

    def codes(self, status):
        """The responseCodes of an error; one empty code for a success and for errors of the web server."""
        if status == "default" or status < "400":
            return [""]
        schema = self.document.resolve(next(iter(self.responses[status]["content"].values()))["schema"])
        return [code for one in schema.get("oneOf", [schema])
                for code in self.document.resolve(one)["properties"]["data"]["properties"]["responseCode"]["enum"]]

    def documented(self):
        """All its possible answers: (status, responseCode, media type)."""
        return [(status, code, media) for status, response in self.responses.items()
                for code in self.codes(status) for media in response["content"]]

    def judge(self, answer, accept, status=None):
        """Differences between the answer and the document, in both directions."""
        return judge(self.document, self.responses[status or str(answer.status)], answer, accept)


def one_of_each(pairs):
    names = [name for name, _ in pairs]
    assert len(names) == len(set(names)), f"a member twice among {names}"
    return dict(pairs)


def judge(document, response, answer, accept):
    """Faults of an answer by one response object of the document."""
    faults = []
    if answer.header("content-type") != f"{accept}; charset=utf-8":
        faults.append(f"content-type: {answer.header('content-type')}")
    if accept not in response["content"]:
        return faults + [f"{accept} is not documented"]
    for name, ref in response["headers"].items():
        header, value = document.resolve(ref), answer.header(name)
        if value is None and header.get("required"):
            faults.append(f"{name}: missing")
        if value is not None:
            faults += [f"{name}: {fault}" for fault in document.faults(header["schema"], value)]
    known = {name.lower() for one in all_responses(document) for name in one["headers"]}
    documented = {name.lower() for name in response["headers"]}
    faults += [f"{name}: not documented" for name, _ in answer.headers if name in known - documented]
    try:
        body = json.loads(answer.body, object_pairs_hook=one_of_each)
    except (ValueError, AssertionError) as fault:
        return faults + [f"body: {fault}"]
    faults += document.faults(response["content"][accept]["schema"], body)
    if answer.status >= 400:
        faults += judge_error(body, answer)
    return faults


def judge_error(body, answer):
    """Rules of the envelope that JSON Schema cannot express."""
    data = body["data"]
    faults = []
    if not body["message"] == data["responseMessage"] == data["responseDescription"]:
        faults.append("the message is not the same everywhere")
    if data["requestId"] != answer.header("request-id"):
        faults.append("requestId is not Request-Id")
    needs = {"Retry-After": answer.status in (429, 503) or data["responseCode"] in ("D2", "R4"),
             "Allow": answer.status == 405}
    faults += [f"{name}: {answer.header(name)} with {answer.status} {data['responseCode']}"
               for name, needed in needs.items() if needed != (answer.header(name) is not None)]
    return faults


def all_responses(document):
    inline = [r for one in document.operations.values() for r in one.responses.values()]
    return inline + list(document.tree["components"]["responses"].values())
