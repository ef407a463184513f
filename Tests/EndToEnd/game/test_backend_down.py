"""A game that is not there: 503, never a socket accepted and dropped; what a refusal does not consume."""

import pytest

from backend import Backend, mud
from clients import UPGRADE, Raw, assert_refusal, curl, head
from gate import free_port
from websocket import connect, refusal, until_prompt

UNAVAILABLE = (503, "backend_unavailable")


@pytest.fixture
def port():
    return free_port()


def test_503_with_retry_after(gates, port, device):
    gate = gates(f"127.0.0.1:{port}")
    gate.app.register(device)
    with Raw(gate) as client:
        fields = [f"{name}: {value}" for name, value in device.headers(gate.app.nonce()).items()]
        assert_refusal(client.send(head("GET", "/", *UPGRADE, *fields)).reply(), *UNAVAILABLE)


def test_the_rest_of_the_gate_works_meanwhile(gates, port, device):
    gate = gates(f"127.0.0.1:{port}")
    gate.app.register(device)
    assert curl(gate, "/healthz").status == 200
    assert curl(gate, "/attest/challenge").status == 200


async def test_within_a_second_the_answer_comes_before_a_nonce_is_consumed(
    gates, port, device, fault, backends
):
    gate = gates(f"127.0.0.1:{port}", WORKERS=1, **fault.environment)
    gate.app.register(device)
    fault.stand_still()
    assert await refusal(gate, device.headers(gate.app.nonce())) == UNAVAILABLE
    kept = device.headers(gate.app.nonce())
    for _ in range(3):
        assert await refusal(gate, kept) == UNAVAILABLE
    backends(mud, port=port)
    fault.jump(2)
    async with connect(gate, kept) as connection:
        assert (await until_prompt(connection)).startswith("Welcome")


async def test_the_gate_finds_a_game_that_comes_back(gates, device, fault):
    backend = Backend(mud, port=free_port())
    gate = gates(backend, **fault.environment)
    gate.app.register(device)
    async with connect(gate, device.headers(gate.app.nonce())) as connection:
        await until_prompt(connection)
    backend.stop()
    assert await refusal(gate, device.headers(gate.app.nonce())) == UNAVAILABLE
    again = Backend(mud, port=int(backend.address.split(":")[1]))
    fault.jump(2)
    async with connect(gate, device.headers(gate.app.nonce())) as connection:
        await until_prompt(connection)
    again.stop()


async def test_a_unix_socket_that_is_not_there(gates, folder, device):
    gate = gates(f"unix:{folder}/nobody.sock")
    gate.app.register(device)
    assert await refusal(gate, device.headers(gate.app.nonce())) == UNAVAILABLE
