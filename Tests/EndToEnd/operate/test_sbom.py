"""`scripts/sbom`: what is in the program, against what the linker and dpkg say of it."""

import hashlib
import json
import os
import re
import shutil
import subprocess

import pytest

from gate import BINARY, ROOT


def sbom(program=BINARY, **environment):
    kept = {name: value for name, value in os.environ.items() if name != "SOURCE_DATE_EPOCH"}
    return subprocess.run(
        [ROOT / "scripts" / "sbom", program], capture_output=True, text=True, cwd="/", env={**kept, **environment}
    )


@pytest.fixture(scope="module")
def listed():
    done = sbom()
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def values(part, name):
    return [each["value"] for each in part.get("properties", []) if each["name"] == f"portcullis:{name}"]


def test_it_is_of_this_program(listed):
    assert (listed["bomFormat"], listed["specVersion"], listed["version"]) == ("CycloneDX", "1.5", 1)
    own = listed["metadata"]["component"]
    assert own["version"] == subprocess.check_output([BINARY, "--version"], text=True).strip()
    assert own["hashes"] == [{"alg": "SHA-256", "content": hashlib.sha256(BINARY.read_bytes()).hexdigest()}]
    assert any("clang version" in value for value in values(own, "built-with"))


def test_every_library_is_there_with_its_package(listed):
    """Whatever the program loads, no more and no less, and as dpkg has it."""
    dynamic = subprocess.check_output(["readelf", "--dynamic", BINARY], text=True)
    needed = re.findall(r"Shared library: \[(.+)\]", dynamic)
    parts = [part for part in listed["components"] if not part["bom-ref"].startswith("pkg:swift/")]
    named = [name for part in parts for name in values(part, "soname") or [part["name"]]]
    assert sorted(named) == sorted(needed) and "libssl.so.3" in needed
    if shutil.which("dpkg-query"):
        (ssl,) = [part for part in parts if "libssl.so.3" in values(part, "soname")]
        version = subprocess.check_output(["dpkg-query", "--show", "--showformat=${Version}", ssl["name"]], text=True)
        assert ssl["version"] == version and ssl["purl"].startswith("pkg:deb/debian/libssl3@")


def test_every_swift_package_is_there_and_has_one_version(listed):
    manifest = (ROOT / "Package.swift").read_text()
    pins = dict(re.findall(r'\.package\(url: "https://github\.com/([^"]+)", exact: "([\d.]+)"\)', manifest))
    assert len(pins) == manifest.count(".package(") == 2
    references = [part["bom-ref"] for part in listed["components"]]
    there = {name for name in references if name.startswith("pkg:swift/")}
    assert there == {f"pkg:swift/github.com/{name}@{version}" for name, version in pins.items()}


def test_references_lead_somewhere(listed):
    own = listed["metadata"]["component"]["bom-ref"]
    parts = [part["bom-ref"] for part in listed["components"]]
    assert len({own, *parts}) == len(parts) + 1
    edges = {edge["ref"]: edge["dependsOn"] for edge in listed["dependencies"]}
    assert set(edges) == {own, *parts} and edges[own] == parts


def test_the_same_program_makes_the_same_list(listed, folder):
    assert json.loads(sbom(TZ="Asia/Tokyo", LC_ALL="C.UTF-8").stdout) == listed
    dated = json.loads(sbom(SOURCE_DATE_EPOCH="1700000000").stdout)
    assert dated["metadata"]["timestamp"] == "2023-11-14T22:13:20Z" and "timestamp" not in listed["metadata"]
    # Another program has another number.
    other = folder / "portcullis"
    shutil.copy(BINARY, other)
    with open(other, "ab") as more:
        more.write(b"\0")
    assert json.loads(sbom(other).stdout)["serialNumber"] != listed["serialNumber"]


def test_what_is_no_program_has_no_list(folder):
    (folder / "text").write_text("no program\n")
    done = sbom(folder / "text")
    assert done.returncode != 0 and not done.stdout
