"""Compares docs/openapi.yaml with what a running gate answers, and says in a few lines what it found.

    openapi.py DIRECTORY            DIRECTORY is where install-openapi has put schemathesis
    openapi.py --replay DIRECTORY   also judges every answer that the end-to-end tests of devices get

Schemathesis makes requests out of the description, good and bad ones, and judges the answers: status, Content-Type,
fields and body as described, no fault of the gate's own, no undescribed method, and no way around a token. Exit status 1
when anything is not as described.
"""

import argparse
import collections
import json
import os
import pathlib
import shutil
import subprocess
import tempfile

from conformity import BINARY, Unfit, echo_gate, ended_by
from gate import free_port

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
CHECKS = (
    "not_a_server_error", "status_code_conformance", "content_type_conformance", "response_headers_conformance",
    "response_schema_conformance", "negative_data_rejection", "missing_required_header", "allow_header_conformance",
    "ignored_auth", "code_conformance",
)  # fmt: skip
SEED = 1
# Folders of end-to-end tests in which answers about devices are got.
REPLAYED = ("admission", "devices", "approvals", "codes", "android_phones", "http")
# There without devices, too; and at another port than the rest.
EVERYWHERE, ADMIN = ("/", "/healthz", "/attest/challenge", "/attest/register"), ("/livez", "/readyz", "/metrics")
POLICY = {
    "rules": [
        {"match": {"operation": "lend"}, "level": "bare", "lease": {"ttl_s": 3600, "uses": 100}},
        {"match": {"operation": "*"}, "level": "bare"},
    ]
}
# A gate with all that is described, which nobody's hurry is refused at. Paths are those of its own folder.
GATE = {
    "REQUIRE_APP_AUTH": "true",
    "BACKEND": "127.0.0.1:9",
    "APPATTEST_APP_IDS": "ABCDE12345.com.example.mud",
    "APPATTEST_ENVIRONMENT": "both",
    "APPATTEST_ROOT_CA_PATH": "certs/attestation-root.pem",
    "DEVICES_PATH": "devices.db",
    "PUBLIC_URL": "https://localhost:8443",
    "APPROVAL_POLICY": "certs/approvals.json",
    **{f"{name}_RATE": "100000/s" for name in ("CHALLENGE", "REGISTER", "DEVICE", "SERVICE")},
    "MAX_CONNECTIONS_PER_ADDRESS": "10000",
}


def prepare(certificates):
    (certificates / "approvals.json").write_text(json.dumps(POLICY))


def household(gate):
    """Tokens of a service and of a phone, and the names of things that are there."""
    from approvers import add_service, body, phone_of, request  # as they need what echo_gate has prepared
    from clients import App
    from phones import ask

    gate.pki = type("PKI", (), {"server_ca": gate.authority})
    gate.app = App(gate)
    service = add_service(gate, "mud", "approvals,pairings,devices.read,codes,presence")
    phone = phone_of(gate)
    lent = request(gate, service, "lend", lease={"ttl_s": 3000, "uses": 99})
    (item,) = phone.items()
    voted = phone.vote(item, code=lent.get("match_code", ""))
    assert voted.status == 200 and voted.json["state"] == "approved", voted
    lease = ask(gate, "GET", f"/approvals/{lent['id']}", token=service).json["lease"]["id"]
    open_ones = [request(gate, service, requester={"id": f"r{number}"})["id"] for number in range(3)]
    pairing = ask(gate, "POST", "/pair", {"subject": "anna"}, service).json["pairing_id"]
    words = [phone.id, phone.token, "anna", "lend", "promote", *body()["target"].values()]
    return service, phone, {"approval": [lent["id"], *open_ones], "lease": [lease], "pairing": [pairing], "words": words}


def settings(service, phone, things):
    """schemathesis.toml: whose tokens, and that names in requests are often of what is there."""
    lines = [
        f'[auth.openapi.device]\nbearer = "{phone.token}"',
        f'[auth.openapi.service]\nbearer = "{service}"',
        *(f"[dictionaries.{name}]\nvalues = {json.dumps(values)}" for name, values in things.items()),
        "[generation.dictionaries]\nstring = {dictionary = \"words\", probability = 0.2}",
        # What is wrong with a request is not looked for where no upgrade was asked for, or no such thing is there.
        "[checks.negative_data_rejection]",
        "expected-statuses = [400, 401, 403, 404, 405, 409, 410, 411, 413, 415, 426, 429]",
        "[parameters]",
        *(f'"path.{name}" = {{dictionary = "{name}", probability = 0.6}}' for name in things if name != "words"),
    ]
    return "\n".join(lines) + "\n"


def drive(tools, gate, folder, examples):
    """Runs schemathesis at both ports; whether it found nothing."""
    service, phone, things = household(gate)
    (folder / "schemathesis.toml").write_text(settings(service, phone, things))
    public = ["--url", f"https://localhost:{gate.port}", "--tls-verify", gate.authority, "--exclude-tag", "admin"]
    # Refusals there are a line of text, without a code.
    checks = [check for check in CHECKS if check != "code_conformance"]
    admin = ["--url", f"http://{gate.environment['ADMIN_LISTEN']}", "--include-tag", "admin"]
    runs = [run(tools, folder, examples, [*public, "--checks", ",".join(CHECKS)]),
            run(tools, folder, examples, [*admin, "--checks", ",".join(checks)])]  # fmt: skip
    return all(runs)


def run(tools, folder, examples, options):
    words = [
        tools / "bin" / "schemathesis", "--config-file", folder / "schemathesis.toml", "run", ROOT / "docs/openapi.yaml",
        *options, "--seed", str(SEED), "--max-examples", str(examples),
        "--phases", "coverage,fuzzing", "--no-shrink", "--warnings", "off", "--request-timeout", "30",
        "--generation-database", "none", "--continue-on-failure",
    ]  # fmt: skip
    environment = {**os.environ, "SCHEMATHESIS_HOOKS": "openapi_checks", "PYTHONPATH": str(HERE), "NO_COLOR": "1"}
    return subprocess.run(words, cwd=folder, env=environment).returncode == 0


def replay(python, folder):
    """Runs the end-to-end tests with their exchanges recorded, and judges those; whether all was as described."""
    record = folder / "exchanges.jsonl"
    environment = {**os.environ, "PORTCULLIS_EXCHANGES": str(record), "PORTCULLIS_BIN": str(BINARY)}
    suite = [f"Tests/EndToEnd/{name}" for name in REPLAYED]
    words = [python, "-m", "pytest", "-q", "-n", "2", "--dist", "loadfile", *suite]
    done = subprocess.run(words, cwd=ROOT, env=environment)
    if done.returncode != 0 or not record.exists():
        raise Unfit("the end-to-end tests did not pass, whose answers were to be judged")
    return judge(record)


def judge(record):
    import description

    seen, wrong = collections.defaultdict(set), collections.Counter()
    total = 0
    for line in record.read_text().splitlines():
        exchange = json.loads(line)
        method, path = exchange["method"].lower(), description.path_of(exchange["path"])
        if path is None or method not in description.document()["paths"][path]:
            continue
        if path in EVERYWHERE or exchange["fields"].get("portcullis-error") != "upgrade_required":
            total += 1
        else:
            continue  # of a gate without devices, where it is any path of the game's
        seen[path, method].add((exchange["status"], exchange["fields"].get("portcullis-error")))
        try:
            body = json.loads(exchange["body"])
        except json.JSONDecodeError:
            body = None  # which is as described nowhere
        for complaint in description.complaints(path, method, exchange["status"], exchange["fields"], body):
            wrong[f"{method.upper()} {path}: {complaint}"] += 1
    for complaint, count in wrong.most_common():
        print(f"  FAILURE: {complaint} ({count} times)")
    never = [f"{method.upper()} {path}" for path, method in description.operations()
             if path not in (*ADMIN, "/") and not any(status < 300 for status, _ in seen[path, method])]  # fmt: skip
    for operation in never:
        print(f"  FAILURE: {operation} has never succeeded, so that nothing is known of its answer")
    codes = {code for found in seen.values() for _, code in found if code}
    print(f"docs/openapi.yaml: {total} recorded answers judged, {len(codes)} codes among them, {sum(wrong.values())} wrong")
    return not wrong and not never


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--replay", action="store_true")
    parser.add_argument("--examples", type=int, default=20, help="requests for each operation and kind")
    parser.add_argument("directory", type=pathlib.Path)
    options = parser.parse_args()
    tools = options.directory.resolve() / "openapi"
    if not (tools / "bin" / "schemathesis").exists():
        raise Unfit(f"schemathesis is not in {tools}: Tests/Conformance/install-openapi puts it there")
    folder = pathlib.Path(tempfile.mkdtemp(prefix="openapi-"))
    try:
        admin = f"127.0.0.1:{free_port()}"
        with echo_gate(prepare=prepare, ADMIN_LISTEN=admin, **GATE) as gate:
            good = drive(tools, gate, folder, options.examples)
        if options.replay:
            good = replay(os.environ.get("PYTHON", "/usr/bin/python3"), folder) and good
    finally:
        shutil.rmtree(folder)
    return 0 if good else 1


if __name__ == "__main__":
    ended_by(main)
