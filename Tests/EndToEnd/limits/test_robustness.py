"""Nonsense at every layer, from a fixed seed: the gate neither falls nor leaks, and serves the next peer."""

import contextlib
import os
import pathlib
import random
import signal
import socket
import struct

import pytest

from backend import echo
from clients import UPGRADE, Raw, head
from waiting import eventually
from websocket import BINARY, RawWebSocket, frame

ROUNDS = 150
WORDS = [
    "GET",
    "POST",
    "/",
    "/attest/register",
    "HTTP/1.1",
    "Host",
    "Content-Length",
    "Upgrade",
    ":",
    " ",
    "\r\n",
    "0",
]


@pytest.fixture
def open_gate(gates, backends):
    return gates(
        backends(echo),
        REQUIRE_APP_AUTH="false",
        MAX_CONNECTIONS_PER_ADDRESS=10_000,
    )


def descriptors(gate):
    try:
        return len(os.listdir(f"/proc/{gate.process.pid}/fd"))
    except PermissionError:
        pytest.skip("only the superuser can look into a gate that is not dumpable")


def end_of(client):
    """Reads whatever still comes, within the client's own timeout."""
    with contextlib.suppress(OSError):
        while client._more():
            pass


def random_bytes_before_tls(gate, chance):
    with Raw(gate, tls=False) as client:
        client.send(chance.randbytes(chance.randint(1, 600)))


def a_record_header_and_random_bytes(gate, chance):
    with Raw(gate, tls=False) as client:
        length = chance.randint(1, 400)
        client.send(b"\x16\x03\x01" + struct.pack(">H", length) + chance.randbytes(length))


def random_words_as_a_request(gate, chance):
    with Raw(gate) as client:
        client.send("".join(chance.choices(WORDS, k=chance.randint(1, 60))) + "\r\n\r\n")
        client.socket.settimeout(0.4)
        end_of(client)


def a_request_with_one_byte_changed(gate, chance):
    request = bytearray(head("GET", "/", *UPGRADE, "Origin: https://a.example").encode())
    request[chance.randrange(len(request))] = chance.randrange(256)
    with Raw(gate) as client:
        client.send(bytes(request))
        if chance.random() < 0.5:
            client.socket.settimeout(0.4)
            end_of(client)


def random_frames(gate, chance):
    with RawWebSocket(gate) as client:
        pieces = bytearray(
            b"".join(frame(chance.choice([0, 1, 2, 8, 9, 10]), chance.randbytes(40)) for _ in range(5))
        )
        pieces[chance.randrange(len(pieces))] ^= 1 << chance.randrange(8)
        with contextlib.suppress(OSError):
            client.send(bytes(pieces))


def a_session_reset_in_the_middle(gate, chance):
    client = RawWebSocket(gate)
    client.send(frame(BINARY, bytes(30_000))[: chance.randint(1, 30_000)])
    client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    client.close()


@pytest.mark.parametrize(
    "nonsense",
    [
        random_bytes_before_tls,
        a_record_header_and_random_bytes,
        random_words_as_a_request,
        a_request_with_one_byte_changed,
        random_frames,
        a_session_reset_in_the_middle,
    ],
    ids=lambda function: function.__name__,
)
def test_nonsense_is_survived_and_leaves_nothing_behind(open_gate, nonsense):
    chance = random.Random(nonsense.__name__)
    with Raw(open_gate) as client:
        assert client.send(head("GET", "/healthz", "Connection: close")).reply().status == 200
    eventually(lambda: descriptors(open_gate) > 0, "descriptors")
    for _ in range(10):
        nonsense(open_gate, chance)
    eventually(lambda: idle(open_gate), "the connections gone")
    before, memory = descriptors(open_gate), open_gate.resident_bytes()
    for _ in range(ROUNDS):
        nonsense(open_gate, chance)
    eventually(lambda: descriptors(open_gate) <= before, f"no more than {before} descriptors")
    assert open_gate.resident_bytes() - memory < 8 << 20
    with RawWebSocket(open_gate) as client:
        client.frame(BINARY, b"still serving")
        assert client.read_frame()[2] == b"still serving"


def idle(gate):
    """No connection of the gate's is left in the kernel's tables."""
    established = pathlib.Path("/proc/net/tcp").read_text()
    local = f"0100007F:{gate.port:04X}"
    rows = [line.split() for line in established.splitlines()[1:]]
    return not any(row[1] == local and row[3] in ("01", "08") for row in rows)


def test_the_backend_leg_is_released_as_well(open_gate):
    before = None
    for _ in range(3):
        clients = [RawWebSocket(open_gate) for _ in range(30)]
        for client in clients:
            client.close()
        eventually(lambda: idle(open_gate), "the sessions gone")
        if before is None:
            before = descriptors(open_gate)
    eventually(lambda: descriptors(open_gate) <= before, f"no more than {before} descriptors")


def test_reloads_under_load_drop_nobody(open_gate):
    with RawWebSocket(open_gate) as client:
        for number in range(60):
            open_gate.signal(signal.SIGHUP)
            client.frame(BINARY, b"%d" % number)
            assert client.read_frame()[2] == b"%d" % number
            with Raw(open_gate) as other:
                assert other.send(head("GET", "/healthz")).reply().status == 200
