"""A game known by a name (docs/protocol.md): it moves, fails, or gets no answer at all; the shim is the resolver."""

import asyncio
import concurrent.futures
import contextlib
import signal
import subprocess

import pytest

from backend import Backend
from clients import UPGRADE, Raw, assert_refusal, head
from gate import free_port
from silence import silent_listener
from waiting import eventually, eventually_async
from websocket import BINARY, RawWebSocket, refusal

NAME = "game.test"
TRY_AGAIN, NOT_KNOWN = -3, -2  # EAI_AGAIN, EAI_NONAME of netdb.h
INTERVAL = 30
UNAVAILABLE = (503, "backend_unavailable")


def named_game(name):
    """Says its name, and answers with it."""

    def play(connection):
        connection.write(name)
        while connection.read():
            connection.write(name)

    return play


@pytest.fixture
def two_games(backends):
    """Two games on one port of two addresses."""
    first = backends(named_game(b"first"), port=free_port())
    second = backends(named_game(b"second"), host="127.0.0.2", port=first.port)
    return first, second


@pytest.fixture
def gate_for(gates, fault):
    def make(port, **changes):
        return gates(f"{NAME}:{port}", REQUIRE_APP_AUTH="false", **fault.environment, **changes)

    return make


def asked_again(fault):
    """The time of the next question comes, and it has been answered."""
    before = fault.resolves
    fault.jump(INTERVAL + 1)
    eventually(lambda: fault.resolves > before and not fault.resolves_waiting, "the name asked for again")


def greeting(gate):
    with RawWebSocket(gate) as client:
        return client.read_frame()[2]


def eventually_greets(gate, expected):
    """Refusals until the answer to the name has come count for nothing."""

    def greeted():
        with contextlib.suppress(AssertionError):
            return greeting(gate) == expected

    eventually(greeted, f"a session with {expected}")


def test_a_name_that_moves(gate_for, two_games, fault):
    """New sessions follow it, and those that are stay where they are."""
    fault.name_leads_to(NAME, "127.0.0.1")
    gate = gate_for(two_games[0].port)
    gate.event(event="listening")
    old = RawWebSocket(gate)
    assert old.read_frame()[2] == b"first"
    fault.name_leads_to(NAME, "127.0.0.2")
    assert greeting(gate) == b"first"
    asked_again(fault)
    eventually_greets(gate, b"second")
    old.frame(BINARY, b"?")
    assert answer(old) == b"first"
    old.close()


def answer(client):
    """The next message, pings aside: half a minute went by."""
    while True:
        _, opcode, payload = client.read_frame()
        if opcode == BINARY:
            return payload


@pytest.mark.parametrize("error", [TRY_AGAIN, NOT_KNOWN], ids=["try again", "not known"])
def test_a_name_that_fails_keeps_its_last_answer(gate_for, two_games, fault, error):
    fault.name_leads_to(NAME, "127.0.0.1")
    gate = gate_for(two_games[0].port)
    gate.event(event="listening")
    assert greeting(gate) == b"first"
    fault.resolve_error = error
    asked_again(fault)
    gate.event(event="backend_unresolved")
    for _ in range(3):
        assert greeting(gate) == b"first"
    asked_again(fault)
    said = [event for event in gate.events() if event.get("event") == "backend_unresolved"]
    assert len(said) == 1, "a failure that lasts is said once"
    fault.resolve_error = 0
    fault.name_leads_to(NAME, "127.0.0.2")
    asked_again(fault)
    eventually_greets(gate, b"second")


async def test_a_name_that_fails_at_the_start(gate_for, two_games, fault):
    """The gate starts all the same, refuses with 503, and finds the game when the name is there."""
    fault.name_leads_to(NAME, "127.0.0.1")
    fault.resolve_error = TRY_AGAIN
    gate = gate_for(two_games[0].port)
    gate.event(event="listening")
    gate.event(event="backend_unresolved")
    assert await refusal(gate) == UNAVAILABLE
    fault.resolve_error = 0
    asked_again(fault)
    eventually_greets(gate, b"first")


def calls_under_way(port):
    """To whom, and from which port."""
    listed = subprocess.run(
        ["ss", "-tnH", "state", "syn-sent", "dport", "=", f":{port}"], capture_output=True, text=True, check=True
    )
    return {(line.split()[3], line.split()[2]) for line in listed.stdout.splitlines()}


def calls(address, port, others):
    """A condition: somebody calls there who was not among `others`."""
    return lambda: any(called == f"{address}:{port}" for called, _ in calls_under_way(port) - others)


def pass_time(gate, fault, seconds):
    """For a gate with one loop, which looks at the clock when it has something to do."""
    fault.jump(seconds)
    with Raw(gate) as client:
        assert client.send(head("GET", "/healthz")).reply().status == 200


def test_an_address_that_is_silent_does_not_hide_the_next(gate_for, backends, fault):
    """Each address has its share of BACKEND_CONNECT_TIMEOUT."""
    game = backends(named_game(b"second"), host="127.0.0.2", port=free_port())
    fault.name_leads_to(NAME, "127.0.0.1,127.0.0.2")
    with silent_listener("127.0.0.1", game.port), concurrent.futures.ThreadPoolExecutor() as pool:
        gate = gate_for(game.port, BACKEND_CONNECT_TIMEOUT="10s", WORKERS=1)
        gate.event(event="listening")
        fault.stand_still()
        others = calls_under_way(game.port)
        greeted = pool.submit(greeting, gate)
        eventually(calls("127.0.0.1", game.port, others), "a call of the first address")
        pass_time(gate, fault, 5.1)
        assert greeted.result() == b"second"
        gate.event(event="backend_failed", address=f"127.0.0.1:{game.port}", reason="timed out")
        # The next ones begin with the one that answered.
        for _ in range(3):
            assert greeting(gate) == b"second"
    assert len([line for line in gate.events() if line["event"] == "backend_failed"]) == 1


def test_addresses_that_are_all_silent_end_in_time(gate_for, fault):
    fault.name_leads_to(NAME, "127.0.0.1,127.0.0.2")
    with silent_listener("127.0.0.1", free_port()) as port, silent_listener("127.0.0.2", port):
        gate = gate_for(port, BACKEND_CONNECT_TIMEOUT="10s", WORKERS=1)
        gate.event(event="listening")
        fault.stand_still()
        others = calls_under_way(port)
        with Raw(gate) as client:
            client.send(head("GET", "/", *UPGRADE))
            eventually(calls("127.0.0.1", port, others), "a call of the first address")
            pass_time(gate, fault, 5.1)
            eventually(calls("127.0.0.2", port, others), "a call of the second address")
            pass_time(gate, fault, 5.1)
            assert_refusal(client.reply(), *UNAVAILABLE)
    gate.event(event="backend_failed", address=f"127.0.0.2:{port}")


async def test_a_game_that_is_silent_costs_one_nonce_a_second(gates, backends, fault, device):
    """A connect that ran out of time counts as a failed one: the next is refused before its nonce is consumed."""
    game = backends(named_game(b"second"), host="127.0.0.2", port=free_port())
    fault.name_leads_to(NAME, "127.0.0.1")
    with silent_listener("127.0.0.1", game.port):
        gate = gates(f"{NAME}:{game.port}", BACKEND_CONNECT_TIMEOUT="10s", WORKERS=1, **fault.environment)
        gate.event(event="listening")
        gate.app.register(device)
        fault.stand_still()
        first, kept = (device.headers(gate.app.nonce()) for _ in range(2))
        others = calls_under_way(game.port)
        refused = asyncio.create_task(refusal(gate, first))
        await eventually_async(calls("127.0.0.1", game.port, others), "a call of the game")
        pass_time(gate, fault, 10.1)
        assert await refused == UNAVAILABLE
        assert await refusal(gate, kept) == UNAVAILABLE
    fault.name_leads_to(NAME, "127.0.0.2")
    asked_again(fault)
    assert await refusal(gate, kept) == (101, None)


def test_a_resolver_that_does_not_answer_holds_nobody_up(gate_for, two_games, fault):
    """Sessions, newcomers, reloads and the end of the gate go on without it."""
    fault.name_leads_to(NAME, "127.0.0.1")
    gate = gate_for(two_games[0].port, DRAIN_TIMEOUT="300s")
    gate.event(event="listening")  # which comes after the first answer
    fault.resolve_hold = 1
    fault.jump(INTERVAL + 1)
    eventually(lambda: fault.resolves_waiting, "a question without an answer")
    assert greeting(gate) == b"first"
    gate.signal(signal.SIGHUP)
    gate.event(event="reloaded")
    gate.stop()


def test_a_resolver_that_does_not_answer_at_the_start(gate_for, backends, fault):
    """The gate listens without it after a while, and serves the game once it is known."""
    game = Backend(named_game(b"late"), port=free_port())
    fault.name_leads_to(NAME, "127.0.0.1")
    fault.resolve_hold = 1
    gate = gate_for(game.port, start=False).launch()
    eventually(lambda: fault.resolves_waiting == 1, "the first question")
    fault.monotonic_offset += 4 * 10**9
    eventually(gate._listens, "listening without an answer")
    assert gate.app.request("GET", "/healthz").status == 200
    assert gate.event(event="backend_unresolved")["reason"] == "no answer yet"
    fault.resolve_hold = 0
    eventually_greets(gate, b"late")
    game.stop()
