"""One line for each decision, in either format, with its step, and never a secret."""

import json
import re

import pytest

from clients import UPGRADE, Raw, head
from device import sha256
from gate import parse_line
from waiting import eventually
from websocket import connect, played, refusal, until_prompt


def decisions(gate, code):
    return [event for event in gate.events() if event.get("code") == code]


async def test_each_refusal_has_a_line(gates, backend, device):
    gate = gates(backend)
    gate.app.register(device)
    nonce = gate.app.nonce()
    attempts = [
        ({}, "assertion_required"),
        ({"X-App-Assert-Nonce": nonce}, "bad_request"),
        (device.headers("ab" * 32), "nonce_invalid"),
        (device.headers(gate.app.nonce(), key_id=bytes(32)), "key_unknown"),
        (device.headers(gate.app.nonce(), signed=lambda data, digest: digest), "assertion_rejected"),
        (device.headers(gate.app.nonce(), counter=0), "assertion_rejected"),
    ]
    for headers, code in attempts:
        before = len(decisions(gate, code))
        assert (await refusal(gate, headers))[1] == code
        eventually(lambda: len(decisions(gate, code)) > before, f"a line for {code}:\n{gate.log_tail(5)}")
        line = decisions(gate, code)[-1]
        assert line["result"] and line["step"] and "127.0.0.1" in str(line)
        if len(headers) == 3 and code in ("key_unknown", "assertion_rejected"):
            assert line["keyId"] == headers["X-App-Assert-KeyId"][:8]
    signature, counter = decisions(gate, "assertion_rejected")[-2:]
    assert signature["step"] != counter["step"]


async def test_admissions_have_a_line(gates, backend, device):
    gate = gates(backend)
    gate.app.register(device)
    async with connect(gate, device.headers(gate.app.nonce())) as connection:
        await until_prompt(connection)
    gate.event(event="session_ended", keyId=device.key_id_b64[:8])
    said = [event for event in gate.events() if event.get("keyId") == device.key_id_b64[:8]]
    assert [event["event"] for event in said] == ["registered", "admitted", "session_ended"]
    assert all(event["result"] == "accepted" for event in said[:2])


@pytest.mark.parametrize("form", ["json", "text"])
async def test_secrets_stay_out(gates, backend, device, form):
    gate = gates(backend, LOG_FORMAT=form, LOG_LEVEL="debug")
    secrets = []

    def ticket(**choices):
        nonce = gate.app.nonce()
        headers = device.headers(nonce, **choices)
        secrets.extend([nonce, headers["X-App-Assert-Data"], device.key_id_b64, device.key_id.hex()])
        secrets.append(sha256(bytes.fromhex(nonce)).hex())
        return headers

    document = device.registration(gate.app.nonce())
    assert gate.app.post(document).status == 200
    secrets.extend([document["clientData"], document["attestation"]])
    async with connect(gate, ticket()) as connection:
        await until_prompt(connection)
        await played(connection, "my password is swordfish")
    secrets.append("swordfish")
    await refusal(gate, ticket(counter=1))
    await refusal(gate, ticket(signed=lambda data, digest: digest))
    with Raw(gate) as client:  # a body that is not understood may hold a secret as well
        body = json.dumps(document)[:-1]
        fields = ["Content-Type: application/json", f"Content-Length: {len(body)}"]
        assert client.send(head("POST", "/attest/register", *fields) + body).reply().status == 400
    gate.app.close()
    gate.stop()
    text = gate.log_text().lower()
    for secret in secrets:
        assert secret.lower() not in text
        if len(secret) > 64:
            assert secret[:40].lower() not in text


@pytest.mark.parametrize("form", ["json", "text"])
async def test_every_line_is_of_its_format(gates, backend, device, form):
    gate = gates(backend, LOG_FORMAT=form)
    await refusal(gate)
    gate.app.register(device)
    gate.app.close()
    gate.stop()
    lines = gate.log_text().splitlines()
    assert lines
    for line in lines:
        event = json.loads(line) if form == "json" else parse_line(line)
        assert {"time", "level", "event"} <= set(event), line
        assert re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", event["time"])


@pytest.mark.parametrize("form", ["json", "text"])
def test_a_peer_cannot_forge_or_break_a_line(gates, backend, form):
    gate = gates(backend, LOG_FORMAT=form, LOG_LEVEL="debug", ALLOWED_ORIGINS="https://a.example")
    evil = '/mud" event=admitted result=\\allowed\x7f'
    for field in ('Origin: x" result=allowed level=error', "Origin: " + "a" * 1000, 'User-Agent: \t;="\\'):
        with Raw(gate) as client:
            client.send(head("GET", "/", *UPGRADE, field)).reply()
    with Raw(gate) as client:
        client.send(head("GET", evil)).reply()
    gate.stop()
    text = gate.log_text()
    assert "a" * 200 not in text  # cut at 128 bytes
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", text)
    for line in text.splitlines():
        if form == "json":
            json.loads(line)
        assert parse_line(line).get("result") != "allowed"


def test_a_flood_of_refusals_is_counted_not_written(gates, backend, fault):
    gate = gates(backend, **fault.environment)
    # All in one second, however slow the machine is.
    fault.stand_still()
    with Raw(gate) as client:
        for number in range(3000):
            if number % 7 == 0 and number:
                client.close()
                client = Raw(gate)
            client.send(head("GET", "/attest/no")).reply()
    fault.heal()
    gate.stop()
    lines = [event for event in gate.events() if event.get("code") == "not_found"]
    assert len(lines) < 100, "each refusal of a flood has a line"
    assert gate.log_path.stat().st_size < 1 << 20
