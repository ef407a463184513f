"""A slow side costs the gate a bounded amount of memory, loses no byte, and does not hurt its neighbours."""

import asyncio
import contextlib
import fcntl
import hashlib
import json
import os
import socket
import ssl
import struct
import threading
import time

import pytest

from backend import echo, pours, reads_after
from waiting import eventually, eventually_async, patience
from websocket import BINARY, PING, PONG, RawWebSocket, connect, frame

MEGABYTE = 1 << 20
SESSIONS = 16
# The contract: a slow reader costs less than 512 KiB in all; RSS also holds the connection itself.
BOUND = SESSIONS * 512 * 1024
# That its loop has turned can be seen; and nobody is given up for standing still in a test.
ONE_LOOP = {"REQUIRE_APP_AUTH": "false", "WORKERS": 1, "WRITE_STALL_TIMEOUT": "600s"}


def digest(data):
    return hashlib.sha256(data).hexdigest()


def read_all(client, count):
    pieces, total = [], 0
    while total < count:
        _, opcode, payload = client.read_frame()
        assert opcode == BINARY
        pieces.append(payload)
        total += len(payload)
    return b"".join(pieces)


def turn(gate):
    """A gate with one loop has served what it could since the last time."""
    assert gate.app.request("GET", "/healthz").status == 200


def queued_at_socket(connection):
    """Bytes the game has written that the gate's kernel has not taken, by TIOCOUTQ."""
    return unacknowledged(connection.socket)


def unacknowledged(stream):
    return struct.unpack("i", fcntl.ioctl(stream, 0x5411, bytes(4)))[0]


def test_a_game_that_pours_into_clients_that_do_not_read(gates, backends):
    payload = os.urandom(8 * MEGABYTE)
    start = threading.Event()
    backend = backends(pours(payload, start))
    gate = gates(backend, **ONE_LOOP)
    clients = [RawWebSocket(gate, receive_buffer=8192) for _ in range(SESSIONS)]
    before = gate.resident_bytes()
    start.set()
    eventually(lambda: backend.count == SESSIONS, "every session at the game")
    eventually(lambda: all(queued_at_socket(c) > 0 for c in backend.connections), "the game held back")
    steady = [gate.resident_bytes()]

    def settled():
        turn(gate)
        steady.append(gate.resident_bytes())
        return len(steady) > 40 and max(steady[-40:]) - min(steady[-40:]) < 65536

    eventually(settled, "memory that no longer grows")
    assert max(steady) - before < BOUND, f"{(max(steady) - before) // SESSIONS} bytes for each session"
    assert digest(read_all(clients[0], len(payload))) == digest(payload)
    for client in clients:
        client.close()


def test_clients_that_pour_into_a_game_that_does_not_read(gates, backends):
    start = threading.Event()
    backend = backends(reads_after(start), receive_buffer=8192)
    gate = gates(backend, **ONE_LOOP)
    payload = os.urandom(MEGABYTE)
    frames = b"".join(frame(BINARY, payload[at : at + 32768]) for at in range(0, MEGABYTE, 32768))
    clients = [RawWebSocket(gate) for _ in range(SESSIONS)]
    before = gate.resident_bytes()
    peak = [before]
    threads = [threading.Thread(target=client.send, args=(frames,)) for client in clients]
    for client in clients:
        client.socket.settimeout(patience(120))
    for thread in threads:
        thread.start()
    samples = []

    def settled():
        turn(gate)
        samples.append(gate.resident_bytes())
        peak.append(samples[-1])
        return len(samples) > 40 and max(samples[-40:]) - min(samples[-40:]) < 65536

    eventually(settled, "memory that no longer grows")
    assert max(peak) - before < BOUND, f"{(max(peak) - before) // SESSIONS} bytes for each session"
    start.set()
    for thread in threads:
        thread.join(patience(120))
    eventually(lambda: all(len(c.received) == MEGABYTE for c in backend.connections), "every byte at the game")
    assert {digest(bytes(c.received)) for c in backend.connections} == {digest(payload)}
    for client in clients:
        client.close()


def taken_of(gate, stream, source):
    """Starts sending `source` on `stream`; what the gate's kernel and its one loop have taken once nothing moves."""
    sent = [0]

    def pour():
        with contextlib.suppress(OSError, ValueError):
            for block in source:
                sent[0] += stream.send(block)

    def taken():
        return sent[0] - unacknowledged(stream)

    seen = []

    def settled():
        turn(gate)
        seen.append(taken())
        return len(seen) > 100 and max(seen[-100:]) == min(seen[-100:]) and unacknowledged(stream) > 0

    threading.Thread(target=pour, daemon=True).start()
    eventually(settled, "a sender that is held back", 60)
    return seen[-1]


def from_the_game(gates, backends, setting):
    release = threading.Event()
    backend = backends(lambda connection: release.wait(patience(300)))
    gate = gates(backend, **ONE_LOOP, QUEUE_MAX_BYTES=setting)
    client = RawWebSocket(gate, receive_buffer=8192)
    taken = taken_of(gate, backend.connection().socket, [bytes(65536)] * 128)
    release.set()
    client.socket.close()
    gate.stop()
    return taken


def from_the_player(gates, backends, setting):
    release = threading.Event()
    backend = backends(lambda connection: release.wait(patience(300)), receive_buffer=8192)
    gate = gates(backend, **ONE_LOOP, QUEUE_MAX_BYTES=setting)
    client = RawWebSocket(gate)
    client.socket.settimeout(patience(300))
    taken = taken_of(gate, client.socket, [frame(BINARY, bytes(16000))] * 512)
    release.set()
    client.socket.close()
    gate.stop()
    return taken


@pytest.mark.parametrize("direction", [from_the_game, from_the_player])
def test_a_queue_fills_to_its_setting(gates, backends, direction):
    """What is taken for a side that reads nothing grows as QUEUE_MAX_BYTES does; the kernel's part is the same."""
    small, large = (direction(gates, backends, setting) for setting in ("256KiB", "1MiB"))
    assert 0.7 < (large - small) / (768 * 1024) < 1.3, f"{small} bytes with 256 KiB, {large} with 1 MiB"


async def test_one_megabyte_both_ways_with_websockets(gates, backends):
    gate = gates(backends(echo), REQUIRE_APP_AUTH="false")
    payload = os.urandom(MEGABYTE)
    async with connect(gate, max_queue=1, read_limit=4096, write_limit=4096) as connection:

        async def send():
            for at in range(0, MEGABYTE, 16384):
                await connection.send(payload[at : at + 16384])

        async def receive():
            received = b""
            while len(received) < MEGABYTE:
                received += await connection.recv()
            return received

        _, received = await asyncio.gather(send(), receive())
        assert digest(received) == digest(payload)


async def test_a_slow_neighbour_does_not_stop_the_others(gates, backends):
    start = threading.Event()
    start.set()
    pouring = pours(os.urandom(4 * MEGABYTE), start)

    def play(connection):
        kind = connection.socket.recv(1, socket.MSG_PEEK)
        (pouring if kind == b"P" else echo)(connection)

    backend = backends(play)
    gate = gates(backend, REQUIRE_APP_AUTH="false", WORKERS=1)
    slow = [RawWebSocket(gate, receive_buffer=4096).frame(BINARY, b"P") for _ in range(8)]
    await eventually_async(lambda: backend.count == 8, "eight slow sessions")
    async with connect(gate) as quick:
        for number in range(200):
            await quick.send(f"turn {number}")
            assert await quick.recv() == f"turn {number}".encode()
    for client in slow:
        client.close()


@pytest.mark.parametrize("pings", [1, 50])
def test_a_ping_amid_backpressure_does_not_freeze_the_game(gates, backends, pings):
    """The pong that waited behind the game's bytes goes out, and the game is read on."""
    start = threading.Event()
    payload = os.urandom(4 * MEGABYTE)
    backend = backends(pours(payload, start))
    gate = gates(backend, REQUIRE_APP_AUTH="false")
    client = RawWebSocket(gate, receive_buffer=8192)
    start.set()
    eventually(lambda: queued_at_socket(backend.connection()) > 0, "the game held back")
    client.send(frame(PING, b"are you there?") * pings)
    received, pongs = [], 0
    while sum(map(len, received)) < len(payload):
        _, opcode, data = client.read_frame()
        if opcode == PONG:
            pongs += 1
        else:
            received.append(data)
    assert digest(b"".join(received)) == digest(payload)
    while not pongs:
        pongs += client.read_frame()[1] == PONG
    client.close()


def test_a_blocked_player_whose_ping_is_due_wakes_nobody(gates, backends, fault):
    """The ping waits for what the player has to take first, and its loop sleeps meanwhile; then it comes."""
    start = threading.Event()
    start.set()
    payload = os.urandom(4 * MEGABYTE)
    backend = backends(pours(payload, start))
    gate = gates(backend, **ONE_LOOP, **fault.environment)
    client = RawWebSocket(gate, receive_buffer=8192)
    eventually(lambda: queued_at_socket(backend.connection()) > 0, "the game held back")
    fault.jump(40)
    assert gate.app.request("GET", "/healthz").status == 200  # the loop looks at its clock
    gate.app.close()

    def turns():
        return json.loads(gate.command("stats", "--json").stdout)["turns"][0]["count"]

    begin, first, looks = time.monotonic(), turns(), 1
    while looks < 4 or time.monotonic() - begin < 1:
        last, looks = turns(), looks + 1
    # A tick is 50 ms: it was woken at each of them.
    assert last - first < 10 * (time.monotonic() - begin)
    received, pings = 0, 0
    while received < len(payload) or not pings:
        _, opcode, data = client.read_frame()
        if opcode == PING:
            pings += 1
        else:
            received += len(data)
    client.close()


def push(gate, client, payload):
    """Sends frames until the gate takes no more, which it has to do before their end."""
    data = b"".join(frame(BINARY, payload[at : at + 32768]) for at in range(0, len(payload), 32768))
    sent, tries = 0, 0
    client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 32768)
    client.socket.setblocking(False)

    def is_stuck():
        nonlocal sent, tries
        try:
            while sent < len(data):
                sent += client.socket.send(data[sent : sent + 16384])
                tries = 0
        except ssl.SSLWantWriteError:
            tries += 1
        turn(gate)
        return tries > 60

    eventually(is_stuck, "a gate that takes no more", 60)
    assert sent < len(data)


def reset(client):
    client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    client.socket.close()


def pours_and_reads_after(start):
    """Writes as fast as the gate takes it, and reads nothing before `start`."""

    def play(connection):
        threading.Thread(target=connection.write, args=(bytes(16 * MEGABYTE),), daemon=True).start()
        start.wait(60)
        while connection.read():
            pass

    return play


def test_what_a_player_sent_before_its_reset_is_for_the_game(gates, backends):
    """Neither side takes anything when the player is cut off: the game still gets all that the gate has taken."""
    start = threading.Event()
    backend = backends(pours_and_reads_after(start), receive_buffer=8192)
    gate = gates(backend, **ONE_LOOP)
    client = RawWebSocket(gate, receive_buffer=8192)
    eventually(lambda: queued_at_socket(backend.connection()) > 0, "the game held back")
    payload = os.urandom(4 * MEGABYTE)
    push(gate, client, payload)
    reset(client)
    taken = int(gate.event(event="session_ended", reason="player_vanished")["bytesFromPlayer"])
    start.set()
    assert backend.connection().ended.wait(patience(60))
    received = bytes(backend.connection().received)
    assert len(received) == taken
    assert digest(received) == digest(payload[:taken])


def test_a_reset_behind_a_game_that_never_reads_ends_in_time(gates, backends, fault):
    """What waits for the game is kept for as long as a stall may take, and no longer."""
    fault.stand_still()
    backend = backends(pours_and_reads_after(threading.Event()), receive_buffer=8192)
    gate = gates(backend, **ONE_LOOP, HTTP_IDLE_TIMEOUT="1h", **fault.environment)
    client = RawWebSocket(gate, receive_buffer=8192)
    eventually(lambda: queued_at_socket(backend.connection()) > 0, "the game held back")
    push(gate, client, os.urandom(4 * MEGABYTE))
    reset(client)
    gate.event(event="session_ended", reason="player_vanished")

    def connections():
        """But for the test's own."""
        turn(gate)
        return json.loads(gate.command("stats", "--json").stdout)["now"]["connections"] - 1

    assert connections() == 1
    fault.jump(590)
    assert connections() == 1
    fault.jump(20)
    eventually(lambda: connections() == 0, "the connection's end")


def test_a_reset_player_leaves_nothing_for_the_next_one(gates, backends, fault):
    """A ping that cannot be sent ends the session; its farewell must not go to who is pinged next in the turn."""
    start = threading.Event()

    def play(connection):
        if connection.socket.recv(1, socket.MSG_PEEK) == b"P":
            reads_after(start)(connection)
        else:
            echo(connection)

    backend = backends(play, receive_buffer=8192)
    gate = gates(backend, **ONE_LOOP, **fault.environment)
    client = RawWebSocket(gate)
    neighbours = [RawWebSocket(gate) for _ in range(3)]
    push(gate, client, b"P" * (2 * MEGABYTE))
    gate.app.close()
    reset(client)
    fault.jump(40)
    for neighbour in neighbours:
        neighbour.frame(BINARY, b"still here")
        assert {neighbour.read_frame()[1:] for _ in range(2)} == {(PING, b""), (BINARY, b"still here")}
    gate.event(event="session_ended", reason="player_vanished")
    start.set()
    for neighbour in neighbours:
        neighbour.close()


def test_a_client_that_is_gone_ends_a_blocked_game(gates, backends):
    """The end of one side is noticed even while the other direction is stopped."""
    start = threading.Event()
    start.set()
    backend = backends(pours(bytes(64 * MEGABYTE), start))
    gate = gates(backend, REQUIRE_APP_AUTH="false")
    client = RawWebSocket(gate, receive_buffer=4096)
    eventually(lambda: backend.count == 1, "the session at the game")
    client.close()
    assert backend.connection().ended.wait(patience(60))
