"""docs/openapi.yaml as it judges an answer: its status, its code, its fields, its body."""

import functools
import pathlib
import re

import jsonschema_rs
import yaml

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "openapi.yaml"
METHODS = ("get", "post", "delete")


@functools.cache
def document():
    return yaml.safe_load(PAGE.read_text())


def resolved(node):
    """What a reference leads to, with what stands beside it."""
    while "$ref" in node:
        target = document()
        for part in node["$ref"].removeprefix("#/").split("/"):
            target = target[part.replace("~1", "/").replace("~0", "~")]
        node = {**target, **{name: value for name, value in node.items() if name != "$ref"}}
    return node


@functools.cache
def patterns():
    return [(re.compile(re.sub(r"\{\w+\}", "[^/]+", re.escape(path).replace(r"\{", "{").replace(r"\}", "}"))), path)
            for path in document()["paths"]]  # fmt: skip


def path_of(target):
    """The described path that a request's is one of; None where there is none."""
    target = target.partition("?")[0]
    exact = [path for path in document()["paths"] if path == target]
    return (exact or [path for pattern, path in patterns() if pattern.fullmatch(target)] or [None])[0]


def operations():
    for path, item in document()["paths"].items():
        for method in METHODS:
            if method in item:
                yield path, method


def codes(response):
    """Those that a refusal's description lists."""
    return set(re.findall(r"[a-z][a-z_]+", resolved(response)["description"]))


def response_for(path, method, status):
    """What is said of a status, and whether it is said of this operation by itself; None where nothing is."""
    responses = document()["paths"][path][method]["responses"]
    for name in (str(status), f"{str(status)[0]}XX"):
        if name in responses:
            return resolved(responses[name])
    return None


def codes_of(path, method, status):
    """All that a refusal with this status may have: what the operation says, and what reading HTTP adds."""
    responses = document()["paths"][path][method]["responses"]
    names = [name for name in (str(status), f"{str(status)[0]}XX") if name in responses]
    return set().union(*(codes(responses[name]) for name in names))


@functools.cache
def validator(path, method, name):
    responses = document()["paths"][path][method]["responses"]
    schema = resolved(responses[name])["content"]["application/json"]["schema"]
    return jsonschema_rs.Draft202012Validator({**schema, "components": document()["components"]})


def complaints(path, method, status, fields, body):
    """What an answer does that the description does not say. `fields` have lower-case names; `body` is JSON or None."""
    said = response_for(path, method, status)
    if said is None:
        return [f"{status} is not described"]
    found = []
    if status >= 400 and fields.get("portcullis-error") not in codes_of(path, method, status):
        found.append(f"{status} with the code {fields.get('portcullis-error')}")
    for name, header in said.get("headers", {}).items():
        header = resolved(header)
        value = fields.get(name.lower())
        if value is None:
            if header.get("required"):
                found.append(f"{status} without {name}")
        elif not jsonschema_rs.is_valid(resolved(header["schema"]), value):
            found.append(f"{status} with {name}: {value}")
    if "content" in said:
        if fields.get("content-type") != "application/json; charset=utf-8":
            found.append(f"{status} with Content-Type: {fields.get('content-type')}")
        name = str(status) if str(status) in document()["paths"][path][method]["responses"] else f"{str(status)[0]}XX"
        for error in validator(path, method, name).iter_errors(body):
            found.append(f"{status} with a body that is not as described: {error.message}")
        if status >= 400 and body and body.get("error", {}).get("code") != fields.get("portcullis-error"):
            found.append(f"{status} whose field and body name different codes")
    return found
