"""What a player sees: register, connect, play, and each way a session ends."""

import asyncio
import json
import socket
import struct
import time

import pytest

from backend import closes_first, echo, resets, says, sink
from clients import UPGRADE, Raw, curl, head
from waiting import LONG, eventually, eventually_async, patience
from websocket import TEXT, RawWebSocket, closed_with, connect, frame, played, until_prompt


@pytest.mark.quick
async def test_register_connect_play_close(gate, backend, device):
    issued = curl(gate, "/attest/challenge")
    assert issued.status == 200
    body = json.dumps(device.registration(issued.json["nonce"]))
    registered = curl(gate, "/attest/register", "-H", "Content-Type: application/json", "-d", body)
    assert (registered.status, registered.json) == (200, {"registered": True})
    nonce = curl(gate, "/attest/challenge").json["nonce"]
    async with connect(gate, device.headers(nonce)) as connection:
        assert await until_prompt(connection) == "Welcome, traveller.\r\n> "
        assert await played(connection, "look") == "You say: look\r\n> "
        await connection.send("quit\n")
        assert await closed_with(connection) == 1000
    assert backend.count == 1 and bytes(backend.connection().received) == b"look\nquit\n"
    assert gate.keys()[device.key_id_b64]["signCount"] == 1


async def test_a_key_connects_again_and_again_with_rising_counters(gate, device):
    gate.app.register(device)
    for counter in (1, 2, 7, 2**31, 2**32 - 1):
        async with connect(gate, device.headers(gate.app.nonce(), counter=counter)) as connection:
            assert (await until_prompt(connection)).endswith("> ")
        assert gate.keys()[device.key_id_b64]["signCount"] == counter


@pytest.mark.quick
def test_challenges_look_as_promised(gate):
    seen = set()
    for _ in range(20):
        before = time.time()
        reply = curl(gate, "/attest/challenge")
        assert reply.header("Content-Type") == "application/json; charset=utf-8"
        assert reply.header("Cache-Control") == "no-store"
        assert set(reply.json) == {"nonce", "expires"}
        nonce, expires = reply.json["nonce"], reply.json["expires"]
        assert len(nonce) == 64 and set(nonce) <= set("0123456789abcdef")
        # A minute from then, give or take a second for clocks that are set.
        assert before - 1 <= expires / 1000 - 60 <= time.time() + 1
        seen.add(nonce)
    assert len(seen) == 20


@pytest.fixture
def admitted(gates):
    """Headers for one upgrade of a fresh key at a gate before a given backend."""

    def make(backend, device, **changes):
        gate = gates(backend, **changes)
        gate.app.register(device)
        return gate, device.headers(gate.app.nonce())

    return make


@pytest.mark.quick
async def test_the_game_closing_first_is_1000(admitted, backends, device):
    gate, headers = admitted(backends(closes_first), device)
    connection = await connect(gate, headers)
    assert await connection.recv() == b"The server is going down.\r\n"
    assert await closed_with(connection) == 1000


@pytest.mark.quick
async def test_the_game_resetting_is_1011_with_a_reason(admitted, backends, device):
    gate, headers = admitted(backends(resets), device)
    connection = await connect(gate, headers)
    await connection.send(b"go")
    assert await closed_with(connection) == 1011
    assert connection.close_reason


@pytest.mark.parametrize("how", ["close frame", "tcp fin", "tcp reset"])
@pytest.mark.quick
def test_a_client_leaving_is_eof_for_the_game(admitted, backends, device, how):
    backend = backends(sink)
    gate, headers = admitted(backend, device)
    client = RawWebSocket(gate, headers)
    client.frame(TEXT, b"hello")
    eventually(lambda: backend.byte_count == 5, "hello at the game")
    if how == "close frame":
        client.frame(8, struct.pack(">H", 1000))
        assert client.until_close()[0] == 1000
    elif how == "tcp fin":
        client.close()
    else:
        client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        client.close()
    assert backend.connection().ended.wait(patience(LONG)), "the game never saw the end"
    assert bytes(backend.connection().received) == b"hello"


@pytest.mark.quick
async def test_payload_reaches_the_game_before_the_message_ends(admitted, backends, device):
    backend = backends(sink)
    gate, headers = admitted(backend, device)
    client = RawWebSocket(gate, headers)
    client.frame(TEXT, b"half ", fin=False)
    await eventually_async(lambda: backend.byte_count == 5, "the first fragment at the game")
    client.send(b"\x80\x84\0\0\0\0me")  # a final fragment of four bytes, two of them still to come
    await eventually_async(lambda: backend.byte_count == 7, "half of the second fragment at the game")
    client.send(b"ss")
    await eventually_async(lambda: backend.byte_count == 9, "the rest at the game")
    client.close()


@pytest.mark.quick
async def test_the_game_comes_as_binary_by_default(admitted, backends, device):
    gate, headers = admitted(backends(echo), device)
    async with connect(gate, headers) as connection:
        await connection.send("text in")
        assert await connection.recv() == b"text in"


@pytest.mark.quick
async def test_text_mode_joins_code_points_and_replaces_what_is_none(admitted, backends, device):
    backend = backends(says(b"caf\xc3", b"\xa9!", b"\xff\xfe.", b"\xf0\x9f\x98", b"\x80"))
    gate, headers = admitted(backend, device, WS_MESSAGE_TYPE="text")
    async with connect(gate, headers) as connection:
        text = ""
        for expected in ("caf", "café!", "café!\ufffd\ufffd.", None, "café!\ufffd\ufffd.😀"):
            if expected is not None:
                while text != expected:
                    assert expected.startswith(text)
                    piece = await connection.recv()
                    assert isinstance(piece, str)
                    text += piece
            await connection.send("n")


@pytest.mark.quick
async def test_the_echo_backend_keeps_types_and_boundaries(gates, device):
    gate = gates("echo:")
    gate.app.register(device)
    async with connect(gate, device.headers(gate.app.nonce()), compression=None) as connection:
        for message in ("text", b"binary", "", b"", "ünï", bytes(range(256)) * 100):
            await connection.send(message)
            assert await connection.recv() == message
        await connection.send(["one ", "message ", "in fragments"])
        assert await connection.recv() == "one message in fragments"


@pytest.mark.parametrize(
    "offered, chosen",
    [(["binary"], "binary"), (["x", "telnet.mudstandards.org"], "telnet.mudstandards.org"), (["chat"], None)],
)
@pytest.mark.quick
async def test_subprotocols(gate, device, offered, chosen):
    gate.app.register(device)
    async with connect(gate, device.headers(gate.app.nonce()), subprotocols=offered) as connection:
        assert connection.subprotocol == chosen


@pytest.mark.quick
async def test_any_path_but_attest_is_the_game(gate, device):
    gate.app.register(device)
    async with connect(gate, device.headers(gate.app.nonce()), path="/mud/play?x=1") as connection:
        assert (await until_prompt(connection)).startswith("Welcome")


@pytest.mark.quick
async def test_compression_offers_do_no_harm(gate, device):
    gate.app.register(device)
    async with connect(gate, device.headers(gate.app.nonce()), compression="deflate") as connection:
        await until_prompt(connection)
        assert await played(connection, "x" * 5000) == "You say: " + "x" * 5000 + "\r\n> "


async def test_one_hundred_sessions_play_at_once(gates, backend, new_device):
    gate = gates(backend)
    # Not from the loop that is to go on with handshakes meanwhile.
    devices = [gate.app.register(new_device()) for _ in range(100)]

    async def play(number):
        headers = await asyncio.to_thread(lambda: devices[number].headers(gate.app.nonce()))
        async with connect(gate, headers) as connection:
            await until_prompt(connection)
            for turn in range(3):
                line = f"player {number} turn {turn}"
                assert await played(connection, line) == f"You say: {line}\r\n> "

    await asyncio.gather(*(play(number) for number in range(100)))
    assert backend.count == 100


@pytest.mark.quick
async def test_a_game_on_a_unix_socket(admitted, backends, folder, device):
    backend = backends(path=folder / "mud.sock")
    gate, headers = admitted(backend, device)
    async with connect(gate, headers) as connection:
        assert (await until_prompt(connection)).startswith("Welcome")


@pytest.mark.quick
async def test_ipv6_listener(gates, backend, device):
    gate = gates(backend, host="::1")
    gate.app.register(device)
    async with connect(gate, device.headers(gate.app.nonce())) as connection:
        assert (await until_prompt(connection)).startswith("Welcome")
    assert curl(gate, "/healthz").json == {"status": "ok"}


@pytest.mark.quick
async def test_bytes_sent_with_the_upgrade_are_an_error(gate, backend, device):
    gate.app.register(device)
    fields = [f"{name}: {value}" for name, value in device.headers(gate.app.nonce()).items()]
    with Raw(gate) as client:
        client.send(head("GET", "/", *UPGRADE, *fields).encode() + frame(TEXT, b"early"))
        reply = client.reply()
        assert (reply.status, reply.code) == (400, "bad_request")
        assert client.closed()
    assert backend.byte_count == 0
