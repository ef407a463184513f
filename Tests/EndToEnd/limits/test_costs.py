"""What a message and an idle session cost, counted by a preloaded library: allocations, memory, system calls."""

import mmap
import pathlib
import struct
import subprocess

import pytest

import backend
from websocket import BINARY, RawWebSocket

SOURCE = pathlib.Path(__file__).parents[1] / "support" / "program" / "counting" / "counts.c"
# `struct counts` in counting/counts.h.
NAMES = (
    "own_allocations",
    "openssl_allocations",
    "live_blocks",
    "live_bytes",
    "receives",
    "sends",
    "waits",
)
MESSAGES = 500
# What timers may add beside the messages.
SLACK = MESSAGES // 20

pytestmark = [
    pytest.mark.alone("how often a loop wakes depends on what else runs"),
    pytest.mark.unsanitized("its allocator is not the C library's"),
]


class Counts:
    """The counters of one gate; `environment` is for it."""

    def __init__(self, library, path):
        path.write_bytes(bytes(4096))
        with open(path, "r+b") as file:
            self._map = mmap.mmap(file.fileno(), 4096)
        self.environment = {"LD_PRELOAD": str(library), "SHIM_COUNTS": str(path)}

    def read(self):
        return dict(zip(NAMES, struct.unpack_from(f"={len(NAMES)}q", self._map)))

    def during(self, work):
        """By how much each of them grows while `work` runs."""
        before = self.read()
        work()
        return {name: value - before[name] for name, value in self.read().items()}


@pytest.fixture
def counts(folder):
    library = folder / "counts.so"
    command = ["gcc", "-shared", "-fPIC", "-O1", "-fno-builtin", "-Wall", "-Wextra", "-Werror"]
    subprocess.run([*command, "-o", str(library), str(SOURCE), "-ldl"], check=True, timeout=60)
    return Counts(library, folder / "counts")


@pytest.fixture
def session(gates, backends, counts, device):
    """Opens sessions of one device at a gate whose calls are counted, in front of a game that echoes."""
    gate = gates(backends(backend.echo), WORKERS=1, MAX_SESSIONS_PER_KEY=1000, **counts.environment)
    gate.app.register(device)
    opened = []

    def open_session():
        opened.append(RawWebSocket(gate, device.headers(gate.app.nonce(), counter=len(opened) + 1)))
        return opened[-1]

    yield open_session
    for each in opened:
        each.close()


def round_trips(client, payload, count):
    for _ in range(count):
        client.frame(BINARY, payload)
        echoed = b""
        while len(echoed) < len(payload):
            echoed += client.read_frame()[2]
        assert echoed == payload


@pytest.mark.parametrize("size", [1, 64, 1000, 4000])
def test_a_message_allocates_nothing_and_takes_one_call_a_side(session, counts, size):
    client = session()
    payload = bytes(index % 251 for index in range(size))
    round_trips(client, payload, 50)
    spent = counts.during(lambda: round_trips(client, payload, MESSAGES))
    assert spent["own_allocations"] <= SLACK, spent
    # With SSL_MODE_RELEASE_BUFFERS it gives its buffers back whenever it waits, and asks for them again.
    assert spent["openssl_allocations"] <= 6 * MESSAGES + SLACK, spent
    assert abs(spent["live_blocks"]) <= SLACK, spent
    # From the player and from the game, to the game and to the player; each of the two wakes the loop once.
    assert spent["receives"] <= 2 * MESSAGES + SLACK, spent
    assert spent["sends"] <= 2 * MESSAGES + SLACK, spent
    assert spent["waits"] <= 2 * MESSAGES + SLACK, spent


def test_an_idle_session_keeps_few_blocks(session, counts):
    for _ in range(20):
        round_trips(session(), b"warm", 1)
    added = 100
    grown = counts.during(lambda: [round_trips(session(), b"idle", 1) for _ in range(added)])
    # 14.2 KiB of them are OpenSSL's own.
    assert grown["live_bytes"] / added < 15.5 * 1024, grown
    assert grown["live_blocks"] / added < 45, grown
