"""The settings of devices: what is refused before a port is bound, all at once, and what `check` says of it."""

import json
import os
import shutil
import subprocess

import pytest

from admin_clients import admin_settings
from gate import BINARY, process_environment
from waiting import patience

CONFIGURATION = 78
POLICY = {"rules": [{"match": {"operation": "mud.promote"}, "factors": ["device"]}]}


@pytest.fixture
def policy(folder):
    path = folder / "policy.json"
    path.write_text(json.dumps(POLICY))
    path.chmod(0o644)
    return path


def devices(folder, **changes):
    return {"DEVICES_PATH": folder / "devices.db", "PUBLIC_URL": "https://mud.example", **changes}


def refused(gates, backend, **changes):
    """What `serve` says, one line a problem."""
    gate = gates(backend, start=False)
    done = gate.command("serve", **changes)
    assert done.returncode == CONFIGURATION, (done.returncode, done.stderr)
    return done.stderr.splitlines()


def has(lines, *words):
    return any(all(str(word) in line for word in words) for line in lines)


@pytest.mark.parametrize(
    "name, value, word",
    [
        ("PUBLIC_URL", "http://mud.example", "https URL"),
        ("PUBLIC_URL", "https://mud.example/path", "host and a port"),
        ("GATE_DEVICES", "bare", "refused in production"),
        ("DEVICES_RETENTION", "1h", "out of range"),
        ("DEVICE_RATE", "60", "no rate"),
        ("TLS_MIN_VERSION", "1.1", "none of the choices"),
        ("APPROVALS_GROUP", "mud", "without APPROVALS_SOCKET"),
        ("APPROVAL_POLICY", "missing.json", "does not exist"),
        ("TLS_NEXT_KEY_PATH", "missing.pem", "does not exist"),
        ("TLS_NEXT_KEY_PATH", "missing.pem", "run portcullis pins --make-next with the same settings"),
    ],
)
def test_a_wrong_value_is_named_with_its_remedy(gates, backend, folder, name, value, word):
    word = "not a rate" if word == "no rate" else word
    lines = refused(gates, backend, **devices(folder, **{"PORTCULLIS_ENV": "production", name: value}))
    assert has(lines, f"{name}={value}", word), lines


def test_devices_need_a_public_url(gates, backend, folder):
    assert has(refused(gates, backend, DEVICES_PATH=folder / "devices.db"), "PUBLIC_URL", "is not set", "set it to")


def test_without_devices_what_needs_them_is_refused(gates, backend, folder, policy):
    lines = refused(gates, backend, APPROVAL_POLICY=policy, GATE_DEVICES="app_attested", APPROVALS_SOCKET="a.sock")
    for name in ("APPROVAL_POLICY", "GATE_DEVICES", "APPROVALS_SOCKET"):
        assert has(lines, name, "set DEVICES_PATH as well"), lines


def test_all_problems_are_told_at_once(gates, backend, folder, policy):
    policy.write_text('{"rules": [{"match": {"operation": "x"}, "quorum": 0, "colour": "red"}]}')
    key = folder / "next.pem"
    key.write_text("no key")
    lines = refused(
        gates, backend,
        **devices(
            folder, APPROVAL_POLICY=policy, TLS_NEXT_KEY_PATH=key, APPROVALS_SOCKET=folder / "a.sock",
            APPROVAL_OPERATORS="root,no-such-user", APPROVALS_GROUP="no-such-group",
        ),
    )  # fmt: skip
    assert has(lines, "APPROVAL_POLICY", "quorum") and has(lines, "APPROVAL_POLICY", "colour"), lines
    assert has(lines, "TLS_NEXT_KEY_PATH", key) and has(lines, "APPROVAL_OPERATORS", "no-such-user"), lines
    assert has(lines, "APPROVALS_GROUP", "no-such-group"), lines
    # Also beside a value that is wrong.
    lines = refused(gates, backend, **devices(folder, APPROVAL_POLICY=policy, WORKERS="x"))
    assert has(lines, "WORKERS=x") and has(lines, "colour"), lines
    assert not (folder / "devices.db").exists()


@pytest.mark.parametrize("mode", [0o666, 0o664, 0o622])
def test_a_policy_that_others_may_write(gates, backend, folder, policy, mode):
    policy.chmod(mode)
    assert has(refused(gates, backend, **devices(folder, APPROVAL_POLICY=policy)), "decide who approves", "chmod go-w")


@pytest.fixture
def unshared():
    """A command in front of one that is to run in a user namespace, as PrivateUsers=yes makes one."""
    command = ["unshare", "--user", "--map-root-user"]
    if not shutil.which("unshare") or subprocess.run([*command, "true"], capture_output=True).returncode:
        pytest.skip("no user namespaces can be made here")
    return command


def test_the_socket_is_refused_where_users_are_hidden(gates, backend, folder, unshared):
    gate = gates(backend, start=False, **devices(folder, APPROVALS_SOCKET=folder / "a.sock"))
    done = subprocess.run(
        [*unshared, str(BINARY), "serve"], cwd=folder, env=process_environment(gate.environment),
        capture_output=True, text=True, timeout=patience(60),
    )  # fmt: skip
    assert done.returncode == CONFIGURATION and "PrivateUsers=no" in done.stderr, done.stderr


@pytest.mark.parametrize("name", ["APPROVAL_OPERATORS", "ADMIN_OPERATORS"])
def test_nobody_is_no_operator(gates, backend, folder, name):
    """The kernel gives this user's number to each user that it does not show."""
    lines = refused(
        gates, backend, **devices(folder, APPROVALS_SOCKET=folder / "a.sock", CONTROL_SOCKET=folder / "c.sock"),
        **admin_settings(folder), **{name: "nobody"},
    )  # fmt: skip
    assert has(lines, f"{name}: nobody", "may be anybody", "name another user"), lines


def test_check_says_what_is_set(gates, backend, folder, policy):
    os.chmod(folder, 0o700)
    gate = gates(backend, start=False, **devices(folder, APPROVAL_POLICY=policy, APPROVALS_SOCKET=folder / "a.sock"))
    done = gate.command("check")
    assert done.returncode == 0, done.stdout
    lines = done.stdout.splitlines()
    assert has(lines, "ok  policy", "1 rules") and has(lines, "ok  devices", "none yet"), lines
    assert has(lines, "ok  approvals", "0 operators"), lines
    (folder / "devices.db").write_text("")
    (folder / "devices.db").chmod(0o644)
    assert has(gate.command("check").stdout.splitlines(), "warning  devices", "chmod 600")
    policy.write_text("{")
    done = gate.command("check")
    assert done.returncode == CONFIGURATION and has(done.stdout.splitlines(), "problem  policy", "APPROVAL_POLICY")


def test_config_shows_them(gates, backend, folder):
    gate = gates(backend, start=False, **devices(folder))
    shown = gate.command("config").stdout
    assert f"DEVICES_PATH={folder}/devices.db  # environment" in shown
    assert "DEVICE_MIN_LEVEL=bare  # default" in shown and "# APPROVAL_POLICY is not set: no operation" in shown


@pytest.mark.parametrize(
    "arguments",
    [("devices", "list"), ("services", "list"), ("approvals", "list", "--barred")],
)
def test_commands_of_devices_at_a_gate_without_them(gate, arguments):
    done = gate.command(*arguments)
    assert done.returncode == CONFIGURATION and "set DEVICES_PATH" in done.stderr, done.stderr


def test_commands_without_a_gate(gates, backend, folder):
    gate = gates(backend, start=False, **devices(folder))
    assert gate.command("devices", "list").returncode == 69
    assert gate.command("approvals", "approve", "x").returncode == CONFIGURATION
    assert gate.command("approvals", "approve", "x", APPROVALS_SOCKET=folder / "a.sock").returncode == 69
    for wrong in [
        ("devices", "forget"), ("devices", "forget", "x", "--subject", "y"), ("devices", "list", "--state", "x"),
        ("devices", "except", "x", "--until", "soon", "--reason", "y"), ("services", "add", "x"),
        ("approvals", "request", "--operation", "x", "--target", "y", "--text", "z"),
    ]:  # fmt: skip
        assert gate.command(*wrong).returncode == 64, wrong
