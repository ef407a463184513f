"""Slow and silent peers: each phase has its deadline, and drops of data do not prolong it."""

import contextlib
import socket
import threading
import time

import pytest

from backend import sink
from clients import UPGRADE, Raw, assert_refusal, head
from waiting import patience
from websocket import PING, RawWebSocket, closed_with, connect, until_prompt

SHORT = 0.4  # seconds
BOUNDS = (0.3, 3.0)  # the earliest and latest end that a deadline of SHORT may cause


@pytest.fixture(scope="module")
def gate(shared_gates, shared_backends):
    return shared_gates(
        shared_backends(),
        TLS_HANDSHAKE_TIMEOUT="400ms",
        HTTP_HEAD_TIMEOUT="400ms",
        HTTP_BODY_TIMEOUT="400ms",
        HTTP_IDLE_TIMEOUT="400ms",
    )


def drip(client, data):
    """Sends `data` a byte at a time, as slowly as its reading times out, until the gate answers or closes."""
    client.socket.settimeout(0.02)
    with contextlib.suppress(OSError):
        for byte in data:
            client.socket.sendall(bytes([byte]))
            try:
                if not client._more():
                    break
            except TimeoutError:
                continue
            break
    client.socket.settimeout(10)


@contextlib.contextmanager
def lasting(low, high):
    start = time.monotonic()
    yield
    assert low <= time.monotonic() - start <= high


def test_a_silent_handshake(gate):
    with lasting(*BOUNDS), Raw(gate, tls=False) as client:
        assert client.closed()


def test_a_dripping_handshake(gate):
    hello = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(500)
    with lasting(*BOUNDS), Raw(gate, tls=False) as client:
        drip(client, hello)
        assert client.closed() or client.buffer.startswith(b"\x15")  # an alert first is fine


def test_no_tls_at_all(gate):
    with Raw(gate, tls=False) as client:
        client.send(head("GET", "/healthz"))
        with contextlib.suppress(OSError):
            while client._more():
                pass
        assert b"HTTP/1.1 200" not in client.buffer


def test_a_head_begun_and_left(gate):
    with lasting(*BOUNDS), Raw(gate) as client:
        client.send("GET /healthz HTTP/1.1\r\nHost: loc")
        assert_refusal(client.reply(), 408, "request_timeout")
        assert client.closed()


def test_a_dripping_head(gate):
    with lasting(*BOUNDS), Raw(gate) as client:
        drip(client, head("GET", "/healthz", "X: " + "a" * 2000).encode())
        assert_refusal(client.reply(), 408, "request_timeout")
        assert client.closed()


def test_a_body_begun_and_left(gate):
    with lasting(*BOUNDS), Raw(gate) as client:
        client.send(
            head("POST", "/attest/register", "Content-Type: application/json", "Content-Length: 50") + "{"
        )
        assert_refusal(client.reply(), 408, "request_timeout")
        assert client.closed()


def test_a_dripping_body(gate):
    with lasting(*BOUNDS), Raw(gate) as client:
        client.send(
            head("POST", "/attest/register", "Content-Type: application/json", "Content-Length: 5000")
        )
        drip(client, b"{" + b" " * 4000)
        assert_refusal(client.reply(), 408, "request_timeout")
        assert client.closed()


def test_a_dripping_body_of_a_refused_request(gate):
    """It is read past for HTTP_BODY_TIMEOUT in all, and no byte of it buys more."""
    with lasting(*BOUNDS), Raw(gate) as client:
        client.send(head("POST", "/attest/nothing", "Content-Length: 5000"))
        assert_refusal(client.reply(), 404, "not_found")
        drip(client, b" " * 200)
        assert client.closed()


def test_an_idle_connection_is_closed_without_a_word(gate):
    with Raw(gate) as client:
        assert client.send(head("GET", "/healthz")).reply().status == 200
        with lasting(*BOUNDS):
            assert client.closed()


def test_a_piece_of_a_record_does_not_prolong_an_idle_connection(gate):
    with Raw(gate) as client:
        assert client.send(head("GET", "/healthz")).reply().status == 200
        client.socket = socket.socket(fileno=client.socket.detach())  # below TLS
        with lasting(*BOUNDS), contextlib.suppress(ConnectionError):
            drip(client, b"\x17\x03\x03\x40\x00" + bytes(1000))
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
def playing(gates, backends, device):
    """An admitted session of a raw client, at a gate with the given limits."""

    def make(play=sink, receive_buffer=None, **limits):
        backend = backends(play)
        gate = gates(backend, **limits)
        gate.app.register(device)
        return RawWebSocket(gate, device.headers(gate.app.nonce()), receive_buffer=receive_buffer), backend

    return make


def test_the_gate_pings_and_a_mute_client_is_closed(playing):
    client, backend = playing(PING_INTERVAL="100ms", PONG_TIMEOUT="500ms")
    with lasting(0.3, 4):
        assert client.read_frame()[1] == PING
        assert backend.connection().ended.wait(5)


async def test_a_client_that_answers_pings_stays(gates, backend, device):
    gate = gates(backend, PING_INTERVAL="50ms", PONG_TIMEOUT="400ms")
    gate.app.register(device)
    async with connect(gate, device.headers(gate.app.nonce())) as connection:
        await until_prompt(connection)
        start = time.monotonic()
        while time.monotonic() - start < 1.2:  # three pong timeouts of play
            await connection.send("look\n")
            await until_prompt(connection)
            await (await connection.ping())
        await connection.send("quit\n")
        assert await closed_with(connection) == 1000


def test_a_client_that_never_reads_is_closed(playing):
    """WRITE_STALL_TIMEOUT: the game pours, the client takes nothing."""

    def pour(connection):
        while connection.write(bytes(65536)):
            pass
        connection.ended.set()

    client, backend = playing(pour, receive_buffer=4096, WRITE_STALL_TIMEOUT="500ms")
    assert backend.connection().ended.wait(10), "the session was never given up"
    client.close()


def test_a_game_that_does_not_answer_the_connect(gates, device):
    """A listener with a full queue lets the connect hang: BACKEND_CONNECT_TIMEOUT."""
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        hanging = []
        for _ in range(4):  # fills the queue; the kernel then drops further SYNs
            filler = socket.socket()
            filler.setblocking(False)
            filler.connect_ex(full.getsockname())
            hanging.append(filler)
        gate = gates(f"127.0.0.1:{full.getsockname()[1]}", BACKEND_CONNECT_TIMEOUT="400ms")
        gate.app.register(device)
        with lasting(0.3, 4), Raw(gate) as client:
            fields = [f"{name}: {value}" for name, value in device.headers(gate.app.nonce()).items()]
            client.send(head("GET", "/", *UPGRADE, *fields))
            assert_refusal(client.reply(), 503, "backend_unavailable")
        for filler in hanging:
            filler.close()
