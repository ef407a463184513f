"""Slow and silent peers: each phase has its deadline, and drops of data do not prolong it."""

import contextlib
import fcntl
import json
import socket
import struct
import subprocess
import termios
import threading
import time

import pytest

import faults
from backend import sink
from clients import UPGRADE, Raw, assert_refusal, head
from silence import silent_listener
from waiting import LONG, eventually, patience
from websocket import PING, RawWebSocket, closed_with, connect, until_prompt

# Seconds of the gate's clock, which only the tests move; no setting is so long by itself.
DEADLINE, STEP = 100, 10


@pytest.fixture(scope="module")
def clock(shim, module_folder):
    made = faults.Faults(shim, module_folder / "shim-control")
    made.stand_still()
    yield made


@pytest.fixture(scope="module")
def gate(shared_gates, shared_backends, clock):
    names = ("TLS_HANDSHAKE_TIMEOUT", "HTTP_HEAD_TIMEOUT", "HTTP_BODY_TIMEOUT", "HTTP_IDLE_TIMEOUT")
    limits = {name: f"{DEADLINE}s" for name in names}
    yield shared_gates(shared_backends(), WORKERS=1, **limits, **clock.environment)
    clock.heal()


def look(gate):
    """Its one loop has taken in what was sent before, and has looked at the clock."""
    with Raw(gate) as other:
        assert other.send(head("GET", "/healthz")).reply().status == 200


def pass_by(gate, clock, seconds):
    look(gate)
    clock.jump(seconds)
    look(gate)


def reach_the_deadline(gate, clock, client, drops=b""):
    """Nothing comes before it, and no byte that is sent meanwhile puts it off."""
    for step in range(DEADLINE // STEP - 1):
        client.send(drops[step : step + 1])
        pass_by(gate, clock, STEP)
    assert client.silent_for(0.02)
    pass_by(gate, clock, 2 * STEP)


def test_a_silent_handshake(gate, clock):
    with Raw(gate, tls=False) as client:
        reach_the_deadline(gate, clock, client)
        assert client.closed()


def test_a_dripping_handshake(gate, clock):
    hello = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(500)
    with Raw(gate, tls=False) as client:
        reach_the_deadline(gate, clock, client, hello)
        assert client.closed() or client.buffer.startswith(b"\x15")  # an alert first is fine


def test_no_tls_at_all(gate):
    with Raw(gate, tls=False) as client:
        client.send(head("GET", "/healthz"))
        with contextlib.suppress(OSError):
            while client._more():
                pass
        assert b"HTTP/1.1 200" not in client.buffer


def test_a_head_begun_and_left(gate, clock):
    with Raw(gate) as client:
        client.send("GET /healthz HTTP/1.1\r\nHost: loc")
        reach_the_deadline(gate, clock, client)
        assert_refusal(client.reply(), 408, "request_timeout")
        assert client.closed()


def test_a_dripping_head(gate, clock):
    with Raw(gate) as client:
        reach_the_deadline(gate, clock, client, head("GET", "/healthz").encode())
        assert_refusal(client.reply(), 408, "request_timeout")
        assert client.closed()


def post(path, length):
    return head("POST", path, "Content-Type: application/json", f"Content-Length: {length}")


def test_a_body_begun_and_left(gate, clock):
    with Raw(gate) as client:
        client.send(post("/attest/register", 50) + "{")
        reach_the_deadline(gate, clock, client)
        assert_refusal(client.reply(), 408, "request_timeout")
        assert client.closed()


def test_a_dripping_body(gate, clock):
    with Raw(gate) as client:
        client.send(post("/attest/register", 50))
        reach_the_deadline(gate, clock, client, b"{" + b" " * 40)
        assert_refusal(client.reply(), 408, "request_timeout")
        assert client.closed()


def test_a_dripping_body_of_a_refused_request(gate, clock):
    """It is read past for HTTP_BODY_TIMEOUT in all, and no byte of it buys more."""
    with Raw(gate) as client:
        client.send(post("/attest/nothing", 50))
        assert_refusal(client.reply(), 404, "not_found")
        reach_the_deadline(gate, clock, client, b" " * 40)
        assert client.closed()


def test_an_idle_connection_is_closed_without_a_word(gate, clock):
    with Raw(gate) as client:
        assert client.send(head("GET", "/healthz")).reply().status == 200
        reach_the_deadline(gate, clock, client)
        assert client.closed()


def test_a_piece_of_a_record_does_not_prolong_an_idle_connection(gate, clock):
    with Raw(gate) as client:
        assert client.send(head("GET", "/healthz")).reply().status == 200
        client.socket = socket.socket(fileno=client.socket.detach())  # below TLS
        client.socket.settimeout(patience(LONG))
        reach_the_deadline(gate, clock, client, b"\x17\x03\x03\x40\x00" + bytes(40))
        with contextlib.suppress(ConnectionError):
            while client._more():
                pass


def test_who_reads_many_answers_slowly_is_closed(gates, backend):
    """WRITE_STALL_TIMEOUT before the session: no byte that a slow reader takes of its answers buys it more time."""
    gate = gates(backend, WRITE_STALL_TIMEOUT="2s", WORKERS=1)
    requests = 20_000
    with Raw(gate, receive_buffer=2048) as client:
        client.socket.settimeout(patience(20))
        sender = threading.Thread(target=send_all, args=(client, head("GET", "/healthz").encode() * requests))
        sender.start()
        answers = 0
        with contextlib.suppress(OSError):
            while answers < requests / 4 and (data := client.socket.recv(1024)):
                answers += data.count(b"HTTP/1.1 200")
                # Slow enough to be always behind, and fast enough for the kernel to take more twice a second.
                time.sleep(0.01)
        # Which a connection that was reset has behind it.
        with contextlib.suppress(OSError):
            client.socket.shutdown(socket.SHUT_RDWR)
        sender.join()
    assert 0 < answers < requests / 4


def send_all(client, data):
    with contextlib.suppress(OSError):
        client.socket.sendall(data)


@pytest.fixture
def timed(gates, fault):
    """Makes gates with one loop and a clock that only the test moves."""
    fault.stand_still()

    def make(backend, **limits):
        return gates(backend, WORKERS=1, **limits, **fault.environment)

    return make


@pytest.fixture
def playing(timed, backends, device):
    """An admitted session of a raw client, at a gate with the given limits."""

    def make(play=sink, receive_buffer=None, **limits):
        backend = backends(play)
        gate = timed(backend, **limits)
        gate.app.register(device)
        client = RawWebSocket(gate, device.headers(gate.app.nonce()), receive_buffer=receive_buffer)
        return gate, client, backend.connection()

    return make


def sessions(gate):
    return json.loads(gate.command("stats", "--json").stdout)["now"]["sessions"]


def test_the_gate_pings_and_a_mute_client_is_closed(playing, fault):
    gate, client, game = playing(PING_INTERVAL=f"{DEADLINE}s", PONG_TIMEOUT=f"{3 * DEADLINE}s")
    reach_the_deadline(gate, fault, client)
    assert client.read_frame()[1] == PING
    pass_by(gate, fault, 2 * DEADLINE - 2 * STEP)
    assert sessions(gate) == 1
    pass_by(gate, fault, 2 * STEP)
    assert game.ended.wait(patience(LONG))


async def test_a_client_that_answers_pings_stays(timed, backend, device, fault):
    gate = timed(backend, PING_INTERVAL=f"{DEADLINE}s", PONG_TIMEOUT=f"{3 * DEADLINE}s")
    gate.app.register(device)
    async with connect(gate, device.headers(gate.app.nonce())) as connection:
        await until_prompt(connection)
        for _ in range(9):  # three pong timeouts of play
            pass_by(gate, fault, DEADLINE + 1)
            await connection.send("look\n")
            await until_prompt(connection)
            await (await connection.ping())
        await connection.send("quit\n")
        assert await closed_with(connection) == 1000


def test_a_client_that_never_reads_is_closed(playing, fault):
    """WRITE_STALL_TIMEOUT: the game pours, the client takes nothing."""

    def pour(connection):
        while connection.write(bytes(65536)):
            pass
        connection.ended.set()

    gate, client, game = playing(pour, receive_buffer=4096, WRITE_STALL_TIMEOUT=f"{DEADLINE}s")

    seen = []

    def is_held_back():
        look(gate)
        seen.append(struct.unpack("i", fcntl.ioctl(game.socket, termios.TIOCOUTQ, bytes(4)))[0])
        return len(seen) > 20 and len(set(seen[-20:])) == 1 and seen[-1] > 0

    eventually(is_held_back, "the game held back")
    pass_by(gate, fault, DEADLINE - STEP)
    assert sessions(gate) == 1
    pass_by(gate, fault, 2 * STEP)
    assert game.ended.wait(patience(LONG)), "the session was never given up"
    client.close()


def test_a_game_that_does_not_answer_the_connect(timed, device, fault):
    """A listener with a full queue lets the connect hang: BACKEND_CONNECT_TIMEOUT."""
    with silent_listener("127.0.0.1") as port:
        gate = timed(f"127.0.0.1:{port}", BACKEND_CONNECT_TIMEOUT=f"{DEADLINE}s")
        gate.app.register(device)
        with Raw(gate) as client:
            fields = [f"{name}: {value}" for name, value in device.headers(gate.app.nonce()).items()]
            called = calls(port)
            client.send(head("GET", "/", *UPGRADE, *fields))
            eventually(lambda: calls(port) > called, "the call to a game that is silent")
            reach_the_deadline(gate, fault, client)
            assert_refusal(client.reply(), 503, "backend_unavailable")


def calls(port):
    """How many connections to this port are being opened."""
    command = ["ss", "-tnH", "state", "syn-sent", "dst", f"127.0.0.1:{port}"]
    return len(subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines())
