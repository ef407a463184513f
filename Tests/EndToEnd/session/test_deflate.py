"""permessage-deflate (RFC 7692) on the wire: offers, and messages both ways."""

import os
import threading
import zlib

import pytest

from backend import pours, says, sink
from deflating import NO_AUTH, OFFER, PLAIN, RSV1, TAIL, DeflateSocket, deflate, inflate
from kernel import queued_bytes
from waiting import eventually
from websocket import BINARY, CONTINUATION, PING, PONG, TEXT, connect, frame, played, until_prompt

LIMIT = 65536


@pytest.fixture(scope="module")
def echoing(shared_gates):
    return shared_gates("echo:", **NO_AUTH)


@pytest.fixture
def client(echoing):
    with DeflateSocket(echoing) as opened:
        yield opened


# ---- negotiation


@pytest.mark.parametrize(
    ("offer", "answer"),
    [
        (None, None),
        ("x-webkit-deflate-frame", None),
        ("permessage-deflate", PLAIN),
        (OFFER, PLAIN + "; client_max_window_bits=12"),
        ("permessage-deflate; client_max_window_bits=10", PLAIN + "; client_max_window_bits=10"),
        ("permessage-deflate; server_max_window_bits=9", PLAIN + "; server_max_window_bits=9"),
        ("permessage-deflate; server_max_window_bits=8", None),
        ("permessage-deflate; server_max_window_bits=8, permessage-deflate", PLAIN),
        ("permessage-deflate; unknown, foo, " + OFFER, PLAIN + "; client_max_window_bits=12"),
        ("permessage-deflate; client_max_window_bits; client_max_window_bits", None),
    ],
)
def test_offers(echoing, offer, answer):
    with DeflateSocket(echoing, offer) as client:
        assert client.answer == answer
        message = b"round and round " * 40
        if answer:
            client.compressed(message)
        else:
            client.frame(BINARY, message)
        assert client.read_message() == (BINARY, message)
        assert client.was_compressed == bool(answer)


def test_a_malformed_extension_list_is_a_bad_request(echoing):
    with pytest.raises(AssertionError, match="400"):
        DeflateSocket(echoing, "permessage-deflate;;")


@pytest.mark.parametrize("bits", range(9, 16))
def test_the_server_keeps_to_the_window_it_was_given(echoing, bits):
    with DeflateSocket(echoing, f"permessage-deflate; server_max_window_bits={bits}") as client:
        # Repeats itself at every distance.
        message = b"".join(os.urandom(size) * 3 for size in (100, 400, 900, 1900, 3900, 7900)) + b" " * 20_000
        client.compressed(message)
        assert client.read_message(bits) == (BINARY, message)
        assert client.was_compressed


# ---- the same messages, by a client that others wrote


async def test_messages_by_websockets(echoing):
    async with connect(echoing) as connection:
        assert [extension.name for extension in connection.extensions] == ["permessage-deflate"]
        for length in (0, 1, 63, 64, 125, 126, 1000, 16380, 16381, LIMIT):
            for message in (b"\x00" * length, os.urandom(length // 2), "x" * length, "ü" * (length // 2)):
                await connection.send(message)
                assert await connection.recv() == message
        await connection.send(["frag", "men", "", "ted" * 1000])
        assert await connection.recv() == "fragmented" + "ted" * 999


async def test_a_game_is_played(gates, backend):
    async with connect(gates(backend, **NO_AUTH)) as connection:
        await until_prompt(connection)
        line = "tell the tale of the troll again, " * 50
        assert "tell the tale" in await played(connection, line)
        assert bytes(backend.connection().received) == (line + "\n").encode()


async def test_text_mode(gates, backends):
    story = "Es war einmal ein Zwölfkämpfer. " * 2000
    start = threading.Event()
    gate = gates(backends(pours(story.encode(), start)), WS_MESSAGE_TYPE="text", **NO_AUTH)
    async with connect(gate) as connection:
        start.set()
        text = ""
        while len(text) < len(story):
            text += await connection.recv()
        assert text == story


# ---- from the player


def test_what_of_a_message_is_here_reaches_the_game(gates, backends):
    """Not at the message's end: the game has the first lines while the rest is not sent yet."""
    backend = backends(sink)
    with DeflateSocket(gates(backend, **NO_AUTH)) as client:
        machine = zlib.compressobj(wbits=-12)
        first = machine.compress(b"north\n") + machine.flush(zlib.Z_SYNC_FLUSH)
        rest = (machine.compress(b"south\n") + machine.flush(zlib.Z_SYNC_FLUSH)).removesuffix(TAIL)
        whole = frame(BINARY, first + rest, reserved=RSV1)
        client.send(whole[: -len(rest)])
        eventually(lambda: bytes(backend.connection().received) == b"north\n", "the first line at the game")
        client.send(whole[-len(rest) :])
        eventually(lambda: bytes(backend.connection().received) == b"north\nsouth\n", "the second line")


def test_a_message_byte_by_byte(client):
    message = "Grüße, ✓ ".encode() * 30
    for byte in frame(TEXT, deflate(message), reserved=RSV1):
        client.send(bytes([byte]))
    assert client.read_message() == (TEXT, message)


def test_fragments_with_pings_between(client):
    message = os.urandom(100) * 20
    packed = deflate(message)
    third = len(packed) // 3
    client.frame(BINARY, packed[:third], fin=False, reserved=RSV1).frame(PING, b"a")
    client.frame(CONTINUATION, packed[third : 2 * third], fin=False).frame(CONTINUATION, b"", fin=False)
    client.frame(PING, b"b").frame(CONTINUATION, packed[2 * third :])
    assert client.read_frame() == (True, PONG, b"a")
    assert client.read_frame() == (True, PONG, b"b")
    assert client.read_message() == (BINARY, message)


def test_compressed_and_plain_messages_in_turn(client):
    for _ in range(50):
        client.compressed(b"packed" * 20).frame(BINARY, b"plain")
    for _ in range(50):
        assert client.read_message() == (BINARY, b"packed" * 20)
        assert client.read_message() == (BINARY, b"plain")


@pytest.mark.parametrize(
    "payload",
    [
        bytes.fromhex("f248cdc9c90700"),
        bytes.fromhex("000500faff48656c6c6f00"),
        bytes.fromhex("f348cdc9c9070000"),
        bytes.fromhex("f248050000 00ffffcac9c90700"),
    ],
)
def test_the_examples_of_the_rfc(client, payload):
    """RFC 7692 §7.2.3: fixed codes, no compression, a last block, two blocks."""
    client.frame(TEXT, payload, reserved=RSV1)
    assert client.read_message() == (TEXT, b"Hello")


# ---- to the player


def test_what_is_compressed(gates, backends):
    """Not what is short, not what would grow; each message stands for itself."""
    pieces = [
        b"a" * 63,
        b"b" * 64,
        os.urandom(1000),
        b"a story told twice. " * 100,
        b"a story told twice. " * 100,
    ]
    gate = gates(backends(says(*pieces)), **NO_AUTH)
    with DeflateSocket(gate) as client:
        for piece, expected in zip(pieces, (False, True, False, True, True)):
            assert client.read_message() == (BINARY, piece)
            assert client.was_compressed == expected
            client.frame(BINARY, b".")


def test_a_flood_from_the_game_arrives_whole(gates, backends):
    data = b"".join(
        b"line %d of a long story, with numbers %d\r\n" % (i, i * i) for i in range(60_000)
    ) + os.urandom(100_000)
    start = threading.Event()
    backend = backends(pours(data, start))
    gate = gates(backend, **NO_AUTH)
    with DeflateSocket(gate, receive_buffer=8192) as client:
        start.set()
        # The gate reads no further for a player who takes nothing.
        eventually(lambda: queued_bytes("dport", "=", f":{backend.port}")[0] > 0, "a flood that waits")
        received, wire = bytearray(), 0
        while len(received) < len(data):
            _, opcode, payload = client.read_frame()
            assert opcode == BINARY
            wire += len(payload)
            received += inflate(payload) if client.was_compressed else payload
        assert bytes(received) == data
        assert wire < len(data) / 2
