"""Upgrades of one key that wait for their `101`: whose place they take, who takes theirs, whose commit counts."""

import contextlib
import errno
import json
import subprocess

import pytest

from backend import Backend, mud
from clients import UPGRADE, Raw, assert_refusal, head
from gate import free_port
from silence import silent_listener
from waiting import eventually, eventually_async
from websocket import closed_with, connect, played, until_prompt

NAME = "game.test"
SUPERSEDED = (409, "superseded")


def send_upgrade(gate, device, client=None):
    fields = [f"{name}: {value}" for name, value in device.headers(gate.app.nonce()).items()]
    return (client or Raw(gate)).send(head("GET", "/", *UPGRADE, *fields))


def upgrade_that_waits(gate, device, fault):
    """One whose counter waits for a disk that is held, behind those of the ones before it."""

    def waiting():
        store = json.loads(gate.command("stats", "--json").stdout)["store"]
        return fault.syncs_waiting, store["waitingBytes"]

    before = waiting()
    client = send_upgrade(gate, device)
    eventually(lambda: waiting() > before, "a counter on its way to the disk")
    return client


@pytest.fixture
def known(gates, backends, fault, device):
    """Makes a gate that lets a registered device have so many sessions, with a disk that can be held."""
    fault.stand_still()  # as nothing waits for a disk for ever

    def make(limit):
        gate = gates(backends(mud), MAX_SESSIONS_PER_KEY=limit, **fault.environment)
        gate.app.register(device)
        return gate

    return make


def test_the_oldest_that_waits_gives_way(known, fault, device):
    gate = known(1)
    fault.sync_hold = 1
    with upgrade_that_waits(gate, device, fault) as first, upgrade_that_waits(gate, device, fault) as second:
        assert_refusal(first.reply(), *SUPERSEDED)
        assert second.silent_for(0.1)
        fault.sync_hold = 0
        assert second.reply().status == 101


def test_as_many_wait_as_may_play(known, fault, device):
    gate = known(3)
    fault.sync_hold = 1
    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(upgrade_that_waits(gate, device, fault)) for _ in range(3)]
        assert all(client.silent_for(0.05) for client in clients)
        fault.sync_hold = 0
        assert [client.reply().status for client in clients] == [101] * 3


def test_a_late_commit_does_not_admit_the_next_upgrade(known, fault, device):
    """A refused upgrade's connection is used again: the fate of its counter is not that of the next one's."""
    gate = known(1)
    fault.sync_hold = 1
    with upgrade_that_waits(gate, device, fault) as client:
        with send_upgrade(gate, device) as other:
            assert_refusal(client.reply(), *SUPERSEDED)
            send_upgrade(gate, device, client)
            assert_refusal(other.reply(), *SUPERSEDED)
            # The held sync succeeds, and whatever is written after it fails.
            fault.fail_call(2, errno.EIO, sticky=True)
            fault.sync_hold = 0
            assert_refusal(client.reply(), 503, "store_unavailable")


@pytest.fixture
def two_ways(gates, fault, device):
    """A gate whose game is at a good address or at a silent one, as its name says."""
    with contextlib.ExitStack() as stack:
        port = free_port()
        game = Backend(mud, host="127.0.0.2", port=port)
        stack.callback(game.stop)
        stack.enter_context(silent_listener("127.0.0.3", port))
        fault.name_leads_to(NAME, "127.0.0.2")
        gate = gates(
            f"{NAME}:{port}", MAX_SESSIONS_PER_KEY=2, BACKEND_CONNECT_TIMEOUT="1000s", **fault.environment
        )
        gate.event(event="listening")
        gate.app.register(device)

        def lead_to(address):
            fault.name_leads_to(NAME, address)
            before = fault.resolves
            fault.jump(31)
            gate.app.close()  # which has been idle for too long
            eventually(
                lambda: fault.resolves > before and not fault.resolves_waiting, "the name asked for again"
            )

        def calls():
            """How many connections to the silent address are being opened."""
            command = ["ss", "-tnH", "state", "syn-sent", "dst", f"127.0.0.3:{port}"]
            listed = subprocess.run(command, capture_output=True, text=True, check=True)
            return len(listed.stdout.splitlines())

        yield gate, lead_to, calls


async def test_who_waits_takes_nobodys_place(two_ways, device):
    """Of two sessions, one gives way to the newcomer that was admitted, none to the one that still waits."""
    gate, lead_to, calls = two_ways
    sessions = [await connect(gate, device.headers(gate.app.nonce())) for _ in range(2)]
    for session in sessions:
        await until_prompt(session)
    held = calls()
    lead_to("127.0.0.3")
    with send_upgrade(gate, device) as waiting:
        await eventually_async(lambda: calls() > held, "the call to a game that is silent")
        lead_to("127.0.0.2")
        newcomer = await connect(gate, device.headers(gate.app.nonce()))
        await until_prompt(newcomer)
        assert await closed_with(sessions[0]) == 1008
        assert await played(sessions[1], "still here") == "You say: still here\r\n> "
        assert waiting.silent_for(0.05)
        assert gate.command("keys", "revoke", device.key_id_b64).returncode == 0
        assert_refusal(waiting.reply(), 403, "key_revoked")
        assert [await closed_with(session) for session in (sessions[1], newcomer)] == [1008, 1008]


async def test_an_upgrade_that_fails_costs_nobody_a_session(known, fault, device):
    gate = known(1)
    async with connect(gate, device.headers(gate.app.nonce())) as session:
        await until_prompt(session)
        fault.sync_hold = 1
        with upgrade_that_waits(gate, device, fault) as waiting, send_upgrade(gate, device) as newer:
            assert_refusal(waiting.reply(), *SUPERSEDED)
            assert await played(session, "still here") == "You say: still here\r\n> "
            fault.fail_syncs()
            fault.sync_hold = 0
            assert_refusal(newer.reply(), 503, "store_unavailable")
        assert await played(session, "and still") == "You say: and still\r\n> "
