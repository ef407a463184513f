"""Time that passes, made by moving the clocks the gate reads: nonces expire, restarts void them."""

import pytest

from clients import assert_refusal
from websocket import refusal

NONCE_INVALID = (401, "nonce_invalid")


@pytest.fixture
def gate(gates, backend, fault):
    return gates(backend, **fault.environment)


async def test_a_nonce_is_good_for_a_minute(gate, fault, device):
    gate.app.register(device)
    nonce = gate.app.nonce()
    gate.app.close()
    fault.jump(57)
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


async def test_a_restart_voids_every_nonce(gate, device):
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
