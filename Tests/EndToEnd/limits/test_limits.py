"""Limits at their edges: rates, connections, sessions of a key, pending peers, the registration pool."""

import asyncio
import contextlib
import json
import os

import pytest

from clients import UPGRADE, Raw, assert_refusal, head, replies_to_all_at_once
from waiting import eventually
from websocket import RawWebSocket, closed_with, connect, played, refusal, until_prompt

JSON = "Content-Type: application/json"


@pytest.mark.quick
def test_challenge_rate(gates, backend, fault):
    fault.stand_still()
    gate = gates(backend, CHALLENGE_RATE="3/m", **fault.environment)
    replies = [gate.app.request("GET", "/attest/challenge") for _ in range(5)]
    assert [reply.status for reply in replies] == [200, 200, 200, 429, 429]
    assert_refusal(replies[3], 429, "rate_limited")


@pytest.mark.quick
def test_challenge_rate_refills(gates, backend, fault):
    fault.stand_still()
    gate = gates(backend, CHALLENGE_RATE="3/m", **fault.environment)
    for _ in range(2):
        statuses = [gate.app.request("GET", "/attest/challenge").status for _ in range(4)]
        assert statuses == [200, 200, 200, 429]
        fault.jump(61)
        gate.app.close()


@pytest.mark.quick
def test_register_rate_consumes_nothing(gates, backend, device, new_device, fault):
    fault.stand_still()
    gate = gates(backend, REGISTER_RATE="2/m", **fault.environment)
    for _ in range(2):
        gate.app.register(new_device())
    document = device.registration(gate.app.nonce())
    assert_refusal(gate.app.post(document), 429, "rate_limited")
    fault.jump(31)
    gate.app.close()
    assert gate.app.post(document).status == 200


@pytest.mark.quick
def test_handshake_rate(gates, backend, fault):
    """Twenty seconds' worth at once, then connections are closed."""
    fault.stand_still()
    gate = gates(backend, HANDSHAKE_RATE="1/m", start=False, **fault.environment).launch()

    def finished():
        with contextlib.suppress(OSError), Raw(gate) as client:
            return client.send(head("GET", "/healthz")).reply().status == 200
        return False

    eventually(finished, "the one handshake of the burst")
    assert not finished()


@pytest.mark.quick
def test_max_keys(gates, backend, new_device):
    """A full store refuses newcomers and throws nobody out; a known key may register again."""
    gate = gates(backend, KEYSTORE_MAX_KEYS=2)
    known = [gate.app.register(new_device()) for _ in range(2)]
    assert_refusal(gate.app.post(new_device().registration(gate.app.nonce())), 503, "store_unavailable")
    gate.app.register(known[0])
    assert set(gate.keys()) == {device.key_id_b64 for device in known}


@pytest.mark.quick
def test_connections_per_address(gates, backend):
    gate = gates(backend, MAX_CONNECTIONS_PER_ADDRESS=3)
    held = []

    def fill():
        """The probe of the start may still be counted for a moment."""
        client = Raw(gate)
        if client.send(head("GET", "/healthz")).reply().status == 200:
            held.append(client)
        else:
            client.close()
        return len(held) == 3

    eventually(fill, "three connections")
    with Raw(gate) as fourth:
        assert_refusal(fourth.send(head("GET", "/healthz")).reply(), 429, "rate_limited")
    held.pop().close()

    def admitted():
        with Raw(gate) as again:
            return again.send(head("GET", "/healthz")).reply().status == 200

    eventually(admitted, "a place for another connection")
    for client in held:
        client.close()


@pytest.mark.quick
def test_the_oldest_pending_gives_way(gates, backend):
    gate = gates(backend, MAX_PENDING=4, MAX_CONNECTIONS_PER_ADDRESS=1000, WORKERS=1)
    oldest = Raw(gate)
    assert oldest.send(head("GET", "/healthz")).reply().status == 200
    others = [Raw(gate) for _ in range(6)]
    assert others[-1].send(head("GET", "/healthz")).reply().status == 200
    assert oldest.closed()
    for client in others:
        client.close()


@pytest.mark.quick
def test_admitted_sessions_are_not_pending(gates):
    gate = gates(
        "echo:", REQUIRE_APP_AUTH="false", MAX_PENDING=2, MAX_CONNECTIONS_PER_ADDRESS=1000, WORKERS=1
    )
    sessions = [RawWebSocket(gate) for _ in range(8)]
    for session in sessions:
        session.frame(1, b"still here")
        assert session.read_frame()[2] == b"still here"
        session.close()


@pytest.mark.quick
def test_max_connections(gates, backend):
    gate = gates(backend, MAX_CONNECTIONS=4, MAX_CONNECTIONS_PER_ADDRESS=1000, WORKERS=1)
    held = []

    def fill():
        """The probe of the start may still be counted for a moment."""
        with contextlib.suppress(OSError):
            held.append(Raw(gate))
        return len(held) == 4

    eventually(fill, "four connections")
    for client in held:
        assert client.send(head("GET", "/healthz")).reply().status == 200
    with contextlib.suppress(ConnectionError), Raw(gate, tls=False) as fifth:
        assert fifth.closed()
    assert held[0].send(head("GET", "/healthz")).reply().status == 200
    for client in held:
        client.close()


@pytest.mark.quick
async def test_sessions_of_one_key(gates, backend, device, new_device):
    gate = gates(backend, MAX_SESSIONS_PER_KEY=2)
    gate.app.register(device)
    bystander_device = gate.app.register(new_device())
    bystander = await connect(gate, bystander_device.headers(gate.app.nonce()))
    sessions = []
    for _ in range(4):
        sessions.append(await connect(gate, device.headers(gate.app.nonce())))
        await until_prompt(sessions[-1])
    assert [await closed_with(session) for session in sessions[:2]] == [1008, 1008]
    for session in [*sessions[2:], bystander]:
        await (await session.ping())
        await session.close()


@pytest.mark.quick
async def test_a_refused_newcomer_displaces_nobody(gates, backend, device):
    gate = gates(backend, MAX_SESSIONS_PER_KEY=1)
    gate.app.register(device)
    async with connect(gate, device.headers(gate.app.nonce())) as session:
        await until_prompt(session)
        replayed = device.headers(gate.app.nonce(), counter=1)
        assert await refusal(gate, replayed) == (401, "assertion_rejected")
        backend.stop_listening()
        assert await refusal(gate, device.headers(gate.app.nonce())) == (503, "backend_unavailable")
        assert await played(session, "still here") == "You say: still here\r\n> "


def test_a_full_pool_of_registrations_is_overloaded(gates, backend, new_device):
    """At most two running and eight waiting for an address; what is turned away consumes nothing."""
    gate = gates(backend, WORKERS=1, MAX_CONNECTIONS_PER_ADDRESS=1000, HTTP_BODY_TIMEOUT="600s")
    requests = []
    for _ in range(60):
        body = json.dumps(new_device().registration(gate.app.nonce()))
        requests.append(
            (Raw(gate), head("POST", "/attest/register", JSON, f"Content-Length: {len(body)}") + body)
        )
    replies = replies_to_all_at_once(gate, requests)
    overloaded = [reply for reply in replies if reply.status != 200]
    assert overloaded and len(overloaded) < 60
    for reply in overloaded:
        assert_refusal(reply, 503, "overloaded")
    for (client, request), reply in zip(requests, replies, strict=True):
        if reply.status == 503:
            assert client.send(request).reply().status == 200
        client.close()
    assert len(gate.keys()) == 60


@pytest.mark.parametrize(
    "name, request_text", [("HTTP_HEAD_MAX_BYTES", head("GET", "/healthz", "X: " + "a" * 2000))]
)
@pytest.mark.quick
def test_a_smaller_head(gates, backend, name, request_text):
    gate = gates(backend, **{name: "1KiB"})
    with Raw(gate) as client:
        assert_refusal(client.send(request_text).reply(), 431, "headers_too_large")


@pytest.mark.quick
async def test_larger_messages_by_configuration(gates):
    gate = gates("echo:", REQUIRE_APP_AUTH="false", WS_MAX_FRAME_BYTES="1MiB", WS_MAX_MESSAGE_BYTES="1MiB")
    message = os.urandom(1 << 20)
    # Noise grows a little when it is deflated, and the frame would be over the limit.
    async with connect(gate, compression=None) as connection:
        await connection.send(message)
        assert await connection.recv() == message


@pytest.mark.quick
async def test_a_storm_of_unauthorised_upgrades_is_answered_and_forgotten(gates, backend):
    gate = gates(backend, MAX_CONNECTIONS_PER_ADDRESS=10_000)
    outcomes = []
    for _ in range(5):
        outcomes += await asyncio.gather(*(refusal(gate) for _ in range(40)))
    assert outcomes == [(401, "assertion_required")] * 200
    assert backend.count == 0
    with Raw(gate) as client:
        assert client.send(head("GET", "/", *UPGRADE)).reply().status == 401
