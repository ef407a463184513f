"""What stops a start: wrong configuration, a taken port, a taken store; each with its status and a remedy."""

import json
import os
import re
import stat

import pytest
from cryptography.hazmat.primitives import serialization

from clients import connect_status, curl
from waiting import eventually
from websocket import refusal

CONFIG, UNAVAILABLE, TEMPORARY = 78, 69, 75


@pytest.fixture
def refused(gates):
    """Starts a gate that must give up with `status`; its output."""

    def run(status, *arguments, **changes):
        gate = gates(start=False, **changes).launch(*arguments)
        assert gate.wait() == status, gate.log_tail()
        return gate.log_text()

    return run


@pytest.mark.parametrize(
    "name, value",
    [
        ("REQUIRE_APP_AUTH", "yes"),
        ("REQUIRE_APP_AUTH", ""),
        ("ALLOW_MTLS_FALLBACK", "1"),
        ("WORKERS", "0"),
        ("WORKERS", "many"),
        ("LISTEN", "nowhere"),
        ("LISTEN", "127.0.0.1:70000"),
        ("BACKEND", "just-a-name"),
        ("BACKEND", "unix:"),
        ("TLS_HANDSHAKE_TIMEOUT", "10 parsecs"),
        ("TLS_HANDSHAKE_TIMEOUT", "-1s"),
        ("HTTP_HEAD_MAX_BYTES", "8KB"),
        ("CHALLENGE_RATE", "600"),
        ("WS_MESSAGE_TYPE", "json"),
        ("LOG_FORMAT", "xml"),
        ("LOG_LEVEL", "loud"),
        ("KEYSTORE_DURABILITY", "maybe"),
        ("APPATTEST_ENVIRONMENT", "staging"),
        ("BACKEND_PROXY_PROTOCOL", "v3"),
        ("APPATTEST_TEAM_ID", ""),
        ("TRUSTED_PROXIES", "10.0.0.0/99"),
    ],
)
def test_a_wrong_value_is_named_with_a_remedy(refused, name, value):
    text = refused(CONFIG, **{name: value})
    assert name in text
    if value:
        assert value in text


@pytest.mark.parametrize("name", ["TLS_CERT_PATH", "TLS_KEY_PATH", "APPATTEST_ROOT_CA_PATH"])
def test_a_missing_file_is_named(refused, name):
    text = refused(CONFIG, **{name: "/nowhere/at/all.pem"})
    assert name in text and "/nowhere/at/all.pem" in text


def test_a_missing_client_authority(refused):
    text = refused(CONFIG, ALLOW_MTLS_FALLBACK="true", MTLS_CLIENT_CA_PATH="/nowhere/ca.pem")
    assert "MTLS_CLIENT_CA_PATH" in text


def test_a_key_that_does_not_fit_the_certificate(refused, pki):
    _, other = pki.issue_server("other")
    assert "TLS_KEY_PATH" in refused(CONFIG, TLS_KEY_PATH=other)


def test_no_app_id(refused):
    text = refused(CONFIG, APPATTEST_TEAM_ID=None, APPATTEST_BUNDLE_ID=None)
    assert "APPATTEST_BUNDLE_ID" in text or "APPATTEST_APP_IDS" in text


def test_all_problems_at_once(refused):
    text = refused(
        CONFIG, WORKERS="zero", WS_MESSAGE_TYPE="json", LOG_LEVEL="loud", TLS_CERT_PATH="/nowhere.pem"
    )
    for name in ("WORKERS", "WS_MESSAGE_TYPE", "LOG_LEVEL", "TLS_CERT_PATH"):
        assert name in text


def production_gone_wrong(folder, pki):
    """Values, combinations, contents of files, and folders: each of another kind, and found by another part."""
    locked = folder / "locked"
    locked.mkdir(mode=0o500)
    return {
        "PORTCULLIS_ENV": "production",
        "APPATTEST_ROOT_CA_PATH": pki.attestation_root,
        "TLS_CERT_PATH": "/nowhere.pem",
        "WORKERS": "zero",
        "BACKEND": "just-a-name",
        "REQUIRE_APP_AUTH": "false",
        "RECEIPTS_PATH": locked,
        # Root may write everywhere, and nobody not.
        "RUN_AS": "nobody" if os.geteuid() == 0 else None,
    }


NAMED = ("APPATTEST_ROOT_CA_PATH", "TLS_CERT_PATH", "WORKERS", "BACKEND", "REQUIRE_APP_AUTH", "RECEIPTS_PATH")


def test_a_production_gone_wrong_is_told_in_one_run(refused, folder, pki, authority):
    lines = refused(CONFIG, **production_gone_wrong(folder, pki)).splitlines()
    for name in NAMED:
        assert sum(f"{name}=" in line for line in lines) == 1, f"{name}: {lines}"
    assert any("is not Apple's root" in line for line in lines)


def test_contents_are_told_beside_values(refused, folder, pki):
    """A pair that is none, a client CA that is none and a wrong number: three problems, one run."""
    _, other = pki.issue_server("other")
    nothing = folder / "empty.pem"
    nothing.write_text("nothing")
    text = refused(
        CONFIG, TLS_KEY_PATH=other, ALLOW_MTLS_FALLBACK="true", MTLS_CLIENT_CA_PATH=nothing, WORKERS="zero"
    )
    for name in ("TLS_KEY_PATH", "MTLS_CLIENT_CA_PATH", "WORKERS"):
        assert f"{name}=" in text


@pytest.mark.parametrize("certificate", ["missing", "garbage"])
def test_a_key_that_is_none_is_told_beside_the_certificate(refused, gates, folder, certificate):
    """Neither hides the other, at the start as with `check`."""
    nothing = folder / "garbage.pem"
    nothing.write_text("nothing")
    paths = {"TLS_CERT_PATH": nothing if certificate == "garbage" else "/nowhere.pem", "TLS_KEY_PATH": nothing}
    text = refused(CONFIG, **paths)
    for name in paths:
        assert f"{name}=" in text, name
    checked = gates(start=False, **paths).command("check")
    assert checked.returncode == CONFIG
    problems = [line.split("  ", 2)[1:] for line in checked.stdout.splitlines() if line.startswith("problem")]
    assert len([text for name, text in problems if name == "certificate" or "TLS_CERT_PATH" in text]) == 1
    assert ["key", True] in [[name, "the private key cannot be read" in text] for name, text in problems]


def test_check_tells_all_of_it_as_well(gates, folder, pki):
    gate = gates(start=False, **production_gone_wrong(folder, pki))
    checked = gate.command("check")
    assert checked.returncode == CONFIG
    problems = [line for line in checked.stdout.splitlines() if line.startswith("problem")]
    for name in NAMED:
        # The names of settings, but for what is looked at by itself.
        assert any({"APPATTEST_ROOT_CA_PATH": "not Apple's"}.get(name, name) in line for line in problems), name


@pytest.mark.parametrize("name", ["APPATTEST_TEAMID", "PORTCULLIS_MODE", "KEYSTORE_SIZE", "MTLS_CA"])
def test_unknown_names_of_our_own_are_fatal(refused, name):
    assert name in refused(CONFIG, **{name: "x"})


def test_an_unknown_name_in_the_file_is_fatal(refused, folder):
    path = folder / "gate.env"
    path.write_text("# a comment\nWORKERS=1\nFAVOURITE_COLOUR=blue\n")
    assert "FAVOURITE_COLOUR" in refused(CONFIG, "--config", str(path))


def test_a_near_miss_is_warned_of(gates, backend):
    gate = gates(backend, LISTENN="127.0.0.1:1")
    eventually(lambda: "LISTENN" in gate.log_text(), "a word about it")


def test_the_environment_wins_over_the_file(gates, backend, folder):
    path = folder / "gate.env"
    path.write_text("LISTEN=127.0.0.1:1\nMAX_SESSIONS_PER_KEY=7\n")
    gate = gates(backend, start=False).start("--config", str(path))
    assert curl(gate, "/healthz").status == 200


@pytest.mark.parametrize(
    "changes",
    [
        {"REQUIRE_APP_AUTH": "false", "APPATTEST_ROOT_CA_PATH": None},
        {"BACKEND": "echo:", "APPATTEST_ROOT_CA_PATH": None},
        {},
    ],
    ids=["REQUIRE_APP_AUTH", "BACKEND", "APPATTEST_ROOT_CA_PATH"],
)
@pytest.mark.parametrize("how", ["PORTCULLIS_ENV", "NODE_ENV"])
def test_production_refuses_what_is_relaxed(refused, request, changes, how):
    text = refused(CONFIG, **{how: "PRODUCTION"}, **changes)
    assert request.node.callspec.id.split("-")[1] in text


def test_a_start_outside_production_lists_what_is_relaxed(gates):
    gate = gates("echo:", REQUIRE_APP_AUTH="false")
    # All of it is said before.
    gate.event(event="listening")
    text = gate.log_text()
    for name in ("REQUIRE_APP_AUTH", "BACKEND", "APPATTEST_ROOT_CA_PATH"):
        assert name in text


def test_a_self_signed_certificate_outside_production(gates, backend):
    gate = gates(backend, TLS_CERT_PATH=None, TLS_KEY_PATH=None)
    gate.event(event="listening")
    assert re.search(r"([0-9A-Fa-f]{2}:?){32}", gate.log_text()), gate.log_tail()
    assert curl(gate, "/healthz", "-k").status == 200


def test_a_second_gate_on_one_store_names_the_first(gates, backend):
    first = gates(backend)
    second = gates(backend, start=False).launch()
    assert second.wait() == TEMPORARY
    assert str(first.process.pid) in second.log_text()
    assert curl(first, "/healthz").status == 200


def test_a_second_gate_on_one_port_names_the_address(gates, backend, folder):
    first = gates(backend)
    other = {"ATTESTED_KEYS_PATH": folder / "other.json", "CONTROL_SOCKET": folder / "other.sock"}
    second = gates(backend, port=first.port, start=False, **other).launch()
    assert second.wait() == UNAVAILABLE
    assert f"127.0.0.1:{first.port}" in second.log_text() and "LISTEN" in second.log_text()
    assert curl(first, "/healthz").status == 200


def test_the_store_is_private(gates, backend, device):
    gate = gates(backend)
    gate.app.register(device)
    gate.app.close()
    gate.stop()
    for path in gate.folder.glob("attested-keys.json*"):
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path


def test_a_file_of_the_older_design_loads(gates, backend, device):
    gate = gates(backend, start=False)
    public = device.key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    record = {
        "publicKey": public.decode(),
        "signCount": 12,
        "registeredAt": "2026-02-17T00:00:00.000Z",
        "note": "kept",
    }
    gate.store_path.write_text(json.dumps({device.key_id_b64: record}, indent=2))
    gate.start()
    assert gate.keys()[device.key_id_b64]["signCount"] == 12
    assert connect_status(gate, device, 12) == 401
    assert connect_status(gate, device, 13) == 101
    gate.app.close()
    gate.stop()
    rewritten = json.loads(gate.store_path.read_text())[device.key_id_b64]
    assert rewritten["signCount"] == 13 and rewritten["note"] == "kept"
    assert rewritten["appId"] == "ABCDEF12K4.org.example.mudproxy"


@pytest.mark.parametrize("app_id", ["", "*", "org.example.mudproxy", "ABCDEF12K4.org.example.mudproxy "])
async def test_an_app_id_that_is_none_is_not_any_app(gates, backend, device, app_id):
    """The record stays as it is but admits nobody, until its device registers again."""
    gate = gates(backend)
    gate.app.register(device)
    gate.app.close()
    gate.stop()
    records = json.loads(gate.store_path.read_text())
    records[device.key_id_b64]["appId"] = app_id
    gate.store_path.write_text(json.dumps(records))
    done = gate.command("check")
    assert done.returncode == 0 and "appId that is no App ID" in done.stdout + done.stderr
    gate.start()
    gate.event(event="keys_with_malformed_app_id")
    assert await refusal(gate, device.headers(gate.app.nonce())) == (401, "key_unknown")
    assert gate.keys()[device.key_id_b64]["appId"] == app_id
    gate.app.register(device)
    assert await refusal(gate, device.headers(gate.app.nonce())) == (101, None)


def test_a_damaged_store_is_refused_with_its_name(gates, backend, folder):
    (folder / "attested-keys.json").write_text('{"AAAA')
    gate = gates(backend, start=False).launch()
    assert gate.wait() != 0
    assert "attested-keys.json" in gate.log_text()
    assert (folder / "attested-keys.json").read_text() == '{"AAAA'
