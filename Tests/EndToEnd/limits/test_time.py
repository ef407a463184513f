"""Time that passes, made by moving the clocks the gate reads: nonces expire, restarts void them."""

import datetime

import pytest

from clients import Raw, assert_refusal, connect_status, head
from waiting import eventually
from websocket import PING, PONG, RawWebSocket, refusal

NONCE_INVALID = (401, "nonce_invalid")
HOUR = 3600


@pytest.fixture
def gate(gates, backend, fault):
    """Its clocks move by the tests' jumps alone."""
    fault.stand_still()
    return gates(backend, **fault.environment)


async def test_a_nonce_is_good_for_a_minute(gate, fault, device):
    gate.app.register(device)
    nonce = gate.app.nonce()
    gate.app.close()
    fault.jump(59)
    assert await refusal(gate, device.headers(nonce)) == (101, None)


async def test_a_nonce_expires_after_a_minute(gate, fault, device):
    gate.app.register(device)
    nonce = gate.app.nonce()
    gate.app.close()
    fault.jump(61)
    assert await refusal(gate, device.headers(nonce)) == NONCE_INVALID


async def test_only_monotonic_time_counts(gate, fault, device):
    """Setting the wall clock neither voids a nonce nor makes an old one good."""
    gate.app.register(device)
    fresh, old = gate.app.nonce(), gate.app.nonce()
    gate.app.close()
    fault.realtime_offset = 600 * 10**9
    assert await refusal(gate, device.headers(fresh)) == (101, None)
    fault.monotonic_offset = 61 * 10**9
    fault.realtime_offset = 0
    assert await refusal(gate, device.headers(old)) == NONCE_INVALID


def test_an_expired_nonce_does_not_register(gate, fault, device):
    nonce = gate.app.nonce()
    gate.app.close()
    fault.jump(61)
    assert_refusal(gate.app.post(device.registration(nonce)), *NONCE_INVALID)


async def test_a_consumed_nonce_stays_consumed(gate, fault, device):
    """Its bit is freed only once the nonce itself has expired."""
    gate.app.register(device)
    nonce = gate.app.nonce()
    assert await refusal(gate, device.headers(nonce)) == (101, None)
    gate.app.close()
    for _ in range(4):
        fault.jump(20)
        assert await refusal(gate, device.headers(nonce)) == NONCE_INVALID


async def test_a_restart_voids_every_nonce(gates, backend, device):
    gate = gates(backend)
    gate.app.register(device)
    nonce = gate.app.nonce()
    gate.app.close()
    gate.stop()
    gate.start()
    assert await refusal(gate, device.headers(nonce)) == NONCE_INVALID
    assert await refusal(gate, device.headers(gate.app.nonce())) == (101, None)


def test_an_expired_leaf_is_judged_by_the_clock(gate, fault, device):
    fault.jump(3 * 86400)
    gate.app.close()
    reply = gate.app.post(device.registration(gate.app.nonce()))
    assert_refusal(reply, 403, "attestation_rejected")


# ---- the wall clock is set, by an hour either way


def moment(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))


def set_wall_clock(fault, seconds):
    fault.realtime_offset += seconds * 10**9


@pytest.fixture(params=[HOUR, -HOUR], ids=["an hour on", "an hour back"])
def jump(request):
    return request.param


def test_sessions_and_connections_do_not_notice(gate, fault, device, jump):
    """No session ends, no idle connection is closed, nothing half sent times out."""
    gate.app.register(device)
    player = RawWebSocket(gate, device.headers(gate.app.nonce()))
    assert player.read_frame()[2].startswith(b"Welcome")
    idle, begun, shaking = Raw(gate), Raw(gate), Raw(gate, tls=False)
    assert idle.send(head("GET", "/healthz")).reply().status == 200
    begun.send("GET /healthz HTTP/1.1\r\n")
    shaking.send(b"\x16\x03\x01")
    for seconds in (jump, -jump, jump):
        set_wall_clock(fault, seconds)
        player.frame(PING, b"still here?")
        assert player.read_frame()[1:] == (PONG, b"still here?")
        assert gate.app.request("GET", "/healthz").status == 200
    assert idle.send(head("GET", "/healthz")).reply().status == 200
    assert begun.send("Host: localhost\r\n\r\n").reply().status == 200
    assert shaking.silent_for(0.05)
    assert not [e for e in gate.events() if e.get("event") in ("session_ended", "store_unavailable")]
    for client in (player, idle, begun, shaking):
        client.close()


def test_a_challenge_lives_its_minute(gate, fault, device, jump):
    gate.app.register(device)
    before, second = gate.app.nonce(), gate.app.nonce()
    set_wall_clock(fault, jump)
    assert connect_status(gate, device, 1) == 101
    fields = device.headers(before, counter=2)
    with RawWebSocket(gate, fields):
        pass
    gate.app.close()
    fault.monotonic_offset += 61 * 10**9
    with pytest.raises(AssertionError, match="401 nonce_invalid"):
        RawWebSocket(gate, device.headers(second, counter=3))


def test_keys_and_counters_do_not_go_by_the_clock(gate, fault, device, new_device, jump):
    """A counter rises whatever the time; registeredAt stays, and the last use does not go back."""
    gate.app.register(device)
    assert connect_status(gate, device, 1) == 101
    first = gate.keys()[device.key_id_b64]
    set_wall_clock(fault, jump)
    gate.app.register(device)
    assert connect_status(gate, device, 1) == 401
    assert connect_status(gate, device, 2) == 101
    later = gate.app.register(new_device())
    stored = gate.keys()
    assert stored[device.key_id_b64]["registeredAt"] == first["registeredAt"]
    assert stored[device.key_id_b64]["signCount"] == 2
    assert moment(stored[device.key_id_b64]["lastUsedAt"]) >= moment(first["lastUsedAt"])
    moved = moment(stored[later.key_id_b64]["registeredAt"]) - moment(first["registeredAt"])
    assert abs(moved.total_seconds() - jump) < 60, "a new key has the clock's time"


def test_the_journal_and_its_snapshots_go_on(gate, fault, new_device, jump):
    """A snapshot follows in its second, a kill between loses nothing, and the order is that of the facts and
    not of their times."""
    known = [gate.app.register(new_device())]
    set_wall_clock(fault, jump)
    known.append(gate.app.register(new_device()))
    fault.monotonic_offset += 2 * 10**9
    eventually(lambda: gate.store_path.exists(), "a snapshot")
    for counter in (1, 2):
        set_wall_clock(fault, -jump if counter == 1 else jump)
        assert connect_status(gate, known[0], counter) == 101
    gate.app.close()
    gate.kill()
    set_wall_clock(fault, -2 * jump)
    gate.start()
    stored = gate.keys()
    assert {key: stored[key]["signCount"] for key in stored} == {
        known[0].key_id_b64: 2,
        known[1].key_id_b64: 0,
    }
    assert connect_status(gate, known[0], 2) == 401
    assert connect_status(gate, known[0], 3) == 101
