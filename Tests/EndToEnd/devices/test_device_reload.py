"""SIGHUP and the files of devices: policies are read anew, and whatever is wrong with one, all stays as it was."""

import json
import os
import socket
import ssl

import pytest

from clients import tls_context
from orders import ask
from reloading import reload
from waiting import LONG, patience


def rule(operation):
    return {"rules": [{"match": {"operation": operation}, "factors": ["operator"]}]}


@pytest.fixture
def files(folder):
    (folder / "policy.json").write_text(json.dumps(rule("host.*")))
    (folder / "policy.json").chmod(0o644)
    (folder / "gate.env").write_text("")
    return folder


@pytest.fixture
def gate(gates, backend, files, fault):
    # Who may confirm is somebody else than whoever runs the tests.
    gate = gates(
        backend, start=False,
        DEVICES_PATH=files / "devices.db", PUBLIC_URL="https://mud.example", APPROVAL_POLICY=files / "policy.json",
        APPROVALS_SOCKET=files / "approvals.sock", APPROVAL_OPERATORS="54321",
        **fault.environment,
    ).start("--config", str(files / "gate.env"))  # fmt: skip
    # Whoever asks at the socket has two seconds.
    fault.stand_still()
    return gate


def replace(path, text):
    fresh = path.with_suffix(".new")
    fresh.write_text(text)
    fresh.chmod(0o644)
    os.replace(fresh, path)


def asked(gate, operation):
    """None when it is granted a request, else the reason."""
    answer = ask(
        gate.environment["APPROVALS_SOCKET"],
        {
            "command": "registry", "verb": "approvals-request",
            "arguments": {"operation": operation, "target": {}, "text": "now"},
        },
    )  # fmt: skip
    return answer["error"]["message"] if "error" in answer else None


def test_a_policy_is_read_anew(gate, files):
    assert asked(gate, "host.a") is None and "policy_refused" in asked(gate, "mud.a")
    replace(files / "policy.json", json.dumps(rule("mud.*")))
    reload(gate)
    assert "policy_refused" in asked(gate, "host.c") and asked(gate, "mud.c") is None


@pytest.mark.parametrize(
    "text, words",
    [("{", ["APPROVAL_POLICY"]), ('{"rules": [], "colour": 1}', ["APPROVAL_POLICY", "colour"]), (None, ["APPROVAL_POLICY"])],
    ids=["damaged", "unknown member", "gone"],
)
def test_a_bad_policy_changes_nothing(gate, files, text, words):
    if text is None:
        (files / "policy.json").unlink()
    else:
        replace(files / "policy.json", text)
    # Nor does what else was changed.
    replace(files / "gate.env", "DEVICES_PER_SUBJECT=1\nTLS_MIN_VERSION=1.3\n")
    said = reload(gate, "reload_failed")
    told = [str(event) for event in said if event.get("event") == "reload_problem"]
    assert any(all(word in line for word in words) for line in told), said
    assert asked(gate, "host.a") is None and speaks(gate, ssl.TLSVersion.TLSv1_2)


def test_a_policy_that_others_may_write_is_not_taken(gate, files):
    replace(files / "policy.json", json.dumps(rule("*")))
    (files / "policy.json").chmod(0o666)
    reload(gate, "reload_failed")
    assert "policy_refused" in asked(gate, "mud.a")


def test_what_needs_a_restart_says_so(gate, files):
    replace(files / "gate.env", "GATE_DEVICES=app_attested\nDEVICE_RATE=5/s\nDEVICES_RETENTION=60d\n")
    said = [event for event in reload(gate) if event.get("event") == "reloaded"][0]
    assert said["needRestart"] == "GATE_DEVICES"
    assert set(said["changed"].split(",")) == {"DEVICE_RATE", "DEVICES_RETENTION"}


def speaks(gate, version):
    context = tls_context(gate, None, version)
    with socket.create_connection((gate.host, gate.port), timeout=patience(LONG)) as plain:
        try:
            with context.wrap_socket(plain, server_hostname="localhost") as secured:
                return secured.version() is not None
        except ssl.SSLError:
            return False


def test_the_oldest_version_of_tls(gate, files):
    """`TLS_MIN_VERSION`, whether there are devices or not."""
    assert speaks(gate, ssl.TLSVersion.TLSv1_2) and speaks(gate, ssl.TLSVersion.TLSv1_3)
    replace(files / "gate.env", "TLS_MIN_VERSION=1.3\n")
    reload(gate)
    assert not speaks(gate, ssl.TLSVersion.TLSv1_2) and speaks(gate, ssl.TLSVersion.TLSv1_3)
    replace(files / "gate.env", "")
    reload(gate)
    assert speaks(gate, ssl.TLSVersion.TLSv1_2)
