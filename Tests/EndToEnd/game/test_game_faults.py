"""A game on its bad days: it stalls, stops, resets, pours; what a slow player then costs (docs/settings.md)."""

import contextlib
import hashlib
import os
import pathlib
import signal
import socket
import struct
import subprocess
import sys
import threading
import time

import pytest

from backend import echo
from kernel import buffer_bounds, cost_of_sessions, stop_acknowledging
from waiting import eventually, patience
from websocket import BINARY, CLOSE, PING, PONG, RawWebSocket, frame

KIB = 1024
# The contract: a slow reader costs less than this in all, kernel included.
BOUND = 512 * KIB
SLOW = 4
GIGABYTE = 1 << 30
TAKEN = 64 << 20


def pours_for_ever(written):
    """Writes as fast as the gate takes it, a gigabyte for each connection at most; `written` counts."""
    block = os.urandom(256 * KIB)

    def play(connection):
        sent = 0
        while sent < GIGABYTE:
            try:
                sent += connection.socket.send(block)
            except OSError:
                return
            written[connection] = sent

    return play


def is_still(read, seconds=0.5):
    """A condition: what `read` returns has not changed for so long."""
    seen = [(time.monotonic(), read())]

    def condition():
        now, value = time.monotonic(), read()
        if value != seen[-1][1]:
            seen.append((now, value))
        return now - seen[-1][0] >= seconds

    return condition


class Sipping(threading.Thread):
    """Reads one KiB a second from each of its clients."""

    def __init__(self, clients):
        super().__init__(daemon=True)
        self.clients, self.stopping = clients, threading.Event()

    def run(self):
        while not self.stopping.wait(1):
            for client in self.clients:
                with contextlib.suppress(OSError):
                    client.socket.recv(KIB)

    def stop(self):
        self.stopping.set()
        self.join(patience(60))


def test_a_gigabyte_for_clients_that_read_a_kilobyte_a_second(gates, backends):
    """Memory of gate and kernel, both legs, is bounded for each session, and the game has to wait."""
    written = {}
    backend = backends(pours_for_ever(written))
    gate = gates(backend, REQUIRE_APP_AUTH="false")
    with RawWebSocket(gate):
        pass  # what the first session of all makes the gate allocate is not the slow ones'
    before = gate.resident_bytes()
    clients = [RawWebSocket(gate, receive_buffer=4 * KIB) for _ in range(SLOW)]
    eventually(lambda: backend.count == SLOW + 1, "every session at the game")
    connections = backend.connections[1:]
    eventually(lambda: all(written.get(c) for c in connections), "the game pours")
    sipping = Sipping(clients)
    sipping.start()
    worst = 0

    def watched():
        nonlocal worst
        cost = cost_of_sessions(gate, connections) + gate.resident_bytes() - before
        worst = max(worst, cost // SLOW)
        return is_held()

    is_held = is_still(lambda: sum(written.get(c, 0) for c in connections) >> 18, seconds=patience(1.5))
    eventually(watched, "the game held back", 60)
    sipping.stop()
    assert 0 < worst < BOUND, f"{worst} bytes for each slow session"
    assert max(written[c] for c in connections) < 16 << 20, "the gate has taken in what nobody read"
    for client in clients:
        client.close()


def test_a_client_that_takes_much_and_then_acknowledges_nothing(gates, backends):
    """The kernel's send buffer grows with what a peer has taken; a bound of ours ends that."""
    written, again = {}, threading.Event()
    pouring = pours_for_ever(written)

    def play(connection):
        connection.write(bytes(TAKEN))
        again.wait(600)
        pouring(connection)

    backend = backends(play)
    gate = gates(backend, REQUIRE_APP_AUTH="false", DRAIN_TIMEOUT="200ms")
    client = RawWebSocket(gate, receive_buffer=16 << 20)
    taken = 0
    while taken < TAKEN:
        taken += len(client.read_frame()[2])
    before = gate.resident_bytes()
    stop_acknowledging(client.socket)
    again.set()
    connection = backend.connection()
    eventually(lambda: written.get(connection), "more from the game")
    eventually(is_still(lambda: written.get(connection), seconds=patience(0.5)), "the game held back", 60)
    kernel, grown = cost_of_sessions(gate, [connection]), gate.resident_bytes() - before
    assert 0 < kernel + grown < BOUND, f"{kernel} bytes in the kernel and {grown} in the gate for one session"
    client.socket.close()


def test_who_comes_before_the_gate_is_ready_is_bounded_like_everybody(gates, backend, fault):
    """A connection has of its listener what was set when it was made, which is before it is accepted."""
    gate = gates(backend, start=False, REQUIRE_APP_AUTH="false", WORKERS=1, **fault.environment)
    fault.listening_hold = 1
    gate.launch()
    eventually(lambda: fault.listenings_waiting == 1, "the gate listens")
    with socket.create_connection((gate.host, gate.port)) as first:
        fault.listening_hold = 0
        gate.event(event="listening")
        with socket.create_connection((gate.host, gate.port)) as later:
            bounds = [buffer_bounds(gate.port, each.getsockname()[1]) for each in (first, later)]
    # The kernel doubles what is asked for.
    assert bounds == [(128 * KIB, 256 * KIB)] * 2, "to receive, and to send"


def test_a_player_who_pours_into_a_game_that_takes_nothing(gates, backends):
    """The other direction: the same bound, kernel included."""
    release = threading.Event()
    backend = backends(lambda connection: release.wait(600))
    gate = gates(backend, REQUIRE_APP_AUTH="false")
    clients = [RawWebSocket(gate) for _ in range(SLOW)]
    eventually(lambda: backend.count == SLOW, "every session at the game")
    before = gate.resident_bytes()
    pieces = frame(BINARY, os.urandom(32 * KIB)) * 256
    for client in clients:
        client.socket.settimeout(0.3)
        with contextlib.suppress(TimeoutError):
            while True:
                client.send(pieces)
    cost = (cost_of_sessions(gate, backend.connections) + gate.resident_bytes() - before) // SLOW
    assert 0 < cost < BOUND, f"{cost} bytes for each session"
    release.set()
    for client in clients:
        client.socket.close()


def test_a_game_that_accepts_and_stalls(gates, backends):
    """Its player is told that he is alive, and let go once his words go nowhere; others play on."""
    release = threading.Event()

    def stalls_for_some(connection):
        if connection.socket.recv(1, socket.MSG_PEEK) == b"S":
            release.wait(600)
        else:
            echo(connection)

    backend = backends(stalls_for_some, receive_buffer=8 * KIB)
    gate = gates(backend, REQUIRE_APP_AUTH="false", WRITE_STALL_TIMEOUT="1s", WORKERS=1)
    stalled, other = RawWebSocket(gate), RawWebSocket(gate)
    stalled.frame(BINARY, b"S")
    stalled.frame(PING, b"anybody?")
    assert stalled.read_frame()[1:] == (PONG, b"anybody?")
    # As long as it is let.
    pouring = threading.Thread(target=pour, args=(stalled,))
    pouring.start()
    for number in range(20):
        other.frame(BINARY, b"%d" % number)
        assert other.read_frame()[2] == b"%d" % number
    ended = gate.event(event="session_ended", within=60)
    assert ended["reason"] == "write_stalled", ended
    pouring.join(patience(60))
    other.frame(BINARY, b"still here")
    assert other.read_frame()[2] == b"still here"
    release.set()
    stalled.close()
    other.close()


def pour(client):
    with contextlib.suppress(OSError):
        while True:
            client.send(frame(BINARY, bytes(32 * KIB)))


@pytest.mark.parametrize("mode", ["binary", "text"])
def test_a_game_that_resets_in_the_middle_of_a_frame(gates, backends, mode):
    """Half of the player's frame and half of the game's character are out: 1011, all else delivered."""
    backend = backends(lambda connection: resets_after(connection, b"caf\xc3"))
    gate = gates(backend, REQUIRE_APP_AUTH="false", WS_MESSAGE_TYPE=mode)
    client = RawWebSocket(gate)
    received = client.read_frame()[2]
    assert received == (b"caf\xc3" if mode == "binary" else b"caf")
    half = frame(BINARY, b"x" * 5000)[:2500]
    client.send(half)
    assert client.until_close()[0] == 1011
    client.close()
    assert bytes(backend.connection().received).startswith(b"x")


def resets_after(connection, opening):
    connection.write(opening)
    connection.read()
    connection.reset()


GAME = """
import socket, sys, threading
listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
def play(stream):
    while data := stream.recv(65536):
        stream.sendall(data)
    stream.close()
while True:
    threading.Thread(target=play, args=(listener.accept()[0],), daemon=True).start()
"""


@pytest.fixture
def process_game():
    """An echoing game in a process of its own: the process and its port."""
    with subprocess.Popen([sys.executable, "-c", GAME], stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process, int(process.stdout.readline())
        finally:
            process.send_signal(signal.SIGCONT)
            process.kill()


def stopped(process):
    """All of its threads: each stops by itself, and one that sleeps in recv may still take what comes before it does."""
    threads = pathlib.Path(f"/proc/{process.pid}/task").glob("*/stat")
    return all(stat.read_text().rpartition(")")[2].split()[0] == "T" for stat in threads)


def test_a_game_that_is_stopped_and_goes_on(gates, process_game):
    """SIGSTOP: its kernel still takes connections and bytes. SIGCONT: everything arrives, in order."""
    process, port = process_game
    gate = gates(f"127.0.0.1:{port}", REQUIRE_APP_AUTH="false")
    first = RawWebSocket(gate)
    first.frame(BINARY, b"before")
    assert first.read_frame()[2] == b"before"
    process.send_signal(signal.SIGSTOP)
    eventually(lambda: stopped(process), "the game stopped")
    payload = os.urandom(512 * KIB)
    sender = threading.Thread(target=send_all, args=(first, payload))
    sender.start()
    second = RawWebSocket(gate)
    second.frame(BINARY, b"while stopped")
    second.frame(PING, b"?")
    assert second.read_frame()[1:] == (PONG, b"?")
    assert second.silent_for(0.2)
    assert gate.app.request("GET", "/healthz").status == 200
    process.send_signal(signal.SIGCONT)
    assert second.read_frame()[2] == b"while stopped"
    received = b""
    while len(received) < len(payload):
        received += first.read_frame()[2]
    sender.join(patience(60))
    assert hashlib.sha256(received).digest() == hashlib.sha256(payload).digest()
    first.close()
    second.close()


def send_all(client, payload):
    for at in range(0, len(payload), 16 * KIB):
        client.send(frame(BINARY, payload[at : at + 16 * KIB]))


def test_a_game_killed_while_stopped(gates, process_game):
    """What it had not read is lost with it: its players are told 1011, not 1000."""
    process, port = process_game
    gate = gates(f"127.0.0.1:{port}", REQUIRE_APP_AUTH="false")
    client = RawWebSocket(gate)
    client.frame(BINARY, b"before")
    assert client.read_frame()[2] == b"before"
    process.send_signal(signal.SIGSTOP)
    eventually(lambda: stopped(process), "the game stopped")
    client.frame(BINARY, b"never read")
    # The gate has handed it on once it has answered what came behind.
    client.frame(PING, b"")
    assert client.read_frame()[1] == PONG
    process.kill()
    _, opcode, payload = client.read_frame()
    assert (opcode, struct.unpack(">H", payload[:2])[0]) == (CLOSE, 1011)
    client.close()


def test_the_bound_is_judged_for_what_it_is():
    """The measure of the tests above sees a buffer that grows, or they could not fail."""
    listener = socket.create_server(("127.0.0.1", 0))
    near = socket.create_connection(listener.getsockname())
    far = listener.accept()[0]
    far.setblocking(False)
    with contextlib.suppress(BlockingIOError):
        while True:
            far.send(bytes(64 * KIB))

    class Peer:
        port = listener.getsockname()[1]

    assert cost_of_sessions(Peer, []) > BOUND
    for each in (near, far, listener):
        each.close()


# ---- a game that has closed its side


def ends_and_reads_on(connection):
    """Says goodbye, closes its sending side, and reads what still comes until the gate's end."""
    connection.write(b"Goodbye.")
    connection.close()
    while connection.read():
        pass


@pytest.mark.parametrize("subprotocol", [None, "json.mudstandards.org", "portcullis.v1"])
def test_it_does_not_wait_for_the_apps_close(gates, backends, fault, subprotocol):
    """The clock stands still: no deadline of the app's Close can be over."""
    fault.stand_still()
    backend = backends(ends_and_reads_on)
    gate = gates(backend, REQUIRE_APP_AUTH="false", **fault.environment)
    fields = {"Sec-WebSocket-Protocol": subprotocol} if subprotocol else {}
    with RawWebSocket(gate, fields) as client:
        eventually(lambda: backend.connection().ended.is_set(), "the gate's end at the game")
        # What comes now has no reader, and does not disturb the closing handshake.
        client.frame(BINARY, b"still here?")
        opcode = None
        while opcode != CLOSE:
            _, opcode, payload = client.read_frame()
        assert payload[:2] == (1000).to_bytes(2, "big")
        client.frame(CLOSE, payload[:2])
        assert client.closed()
    assert b"still here?" not in backend.connection().received


def test_it_gets_what_was_said_before(gates, backends, fault):
    """More than the kernel's buffers hold waits when the game closes its side; it takes all of it, then the gate's end."""
    fault.stand_still()
    ending = threading.Event()

    def play(connection):
        ending.wait(patience(60))
        connection.close()
        while connection.read():
            pass

    backend = backends(play, receive_buffer=4 * KIB)
    gate = gates(backend, REQUIRE_APP_AUTH="false", QUEUE_MAX_BYTES="16MiB", **fault.environment)
    sent = os.urandom(8192 * KIB)
    with RawWebSocket(gate) as client:
        for start in range(0, len(sent), 32 * KIB):
            client.frame(BINARY, sent[start : start + 32 * KIB])
        # A pong says that all before it was read.
        client.frame(PING, b"all")
        assert client.read_frame()[1:] == (PONG, b"all")
        ending.set()
        eventually(lambda: backend.connection().ended.is_set(), "the gate's end at the game")
        assert backend.connection().received == sent
