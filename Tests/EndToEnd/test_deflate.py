"""permessage-deflate (RFC 7692) on the wire: offers, messages both ways, what breaks it, and what it may cost."""

import os
import struct
import threading
import time
import zlib

import pytest

from backend import mud, pours, reads_after, says, sink
from waiting import eventually
from websocket import (
    BINARY,
    CLOSE,
    CONTINUATION,
    PING,
    PONG,
    TEXT,
    RawWebSocket,
    close_payload,
    connect,
    frame,
    played,
    until_prompt,
)

LIMIT = 65536
RSV1 = 4
TAIL = b"\x00\x00\xff\xff"
OFFER = "permessage-deflate; client_max_window_bits"
PLAIN = "permessage-deflate; server_no_context_takeover; client_no_context_takeover"
NO_AUTH = {"REQUIRE_APP_AUTH": "false"}


def deflate(data, bits=12, level=6):
    """A message as RFC 7692 §7.2.1 compresses it."""
    machine = zlib.compressobj(level, zlib.DEFLATED, -bits)
    packed = machine.compress(data) + machine.flush(zlib.Z_SYNC_FLUSH)
    return packed.removesuffix(TAIL)


def inflate(data, bits=15):
    return zlib.decompressobj(-bits).decompress(data + TAIL)


class DeflateSocket(RawWebSocket):
    """A connection that has agreed on compression and does it by hand."""

    def __init__(self, gate, offer=OFFER, **options):
        super().__init__(gate, {"Sec-WebSocket-Extensions": offer} if offer else {}, **options)
        self.answer = self.upgrade.header("Sec-WebSocket-Extensions")
        self.was_compressed = False

    def compressed(self, payload, opcode=BINARY, **options):
        return self.frame(opcode, deflate(payload), reserved=RSV1, **options)

    def read_frame(self):
        """Like the base class, but RSV1 is remembered in `was_compressed`."""
        first = self.take(1)[0]
        self.was_compressed = bool(first & 0x40)
        self.buffer = bytes([first & ~0x40]) + self.buffer
        return super().read_frame()

    def read_message(self, bits=15):
        """The next message of one frame, inflated: (opcode, payload)."""
        fin, opcode, payload = self.read_frame()
        assert fin
        return opcode, inflate(payload, bits) if self.was_compressed else payload


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


# ---- violations


@pytest.mark.parametrize(
    ("code", "frames"),
    [
        # Garbage, and data that stops within a block.
        (1007, frame(BINARY, b"\xff" * 20, reserved=RSV1)),
        (1007, frame(BINARY, deflate(os.urandom(500))[:-200], reserved=RSV1)),
        # The second message of RFC 7692 §7.2.3.2 leans on the first.
        (
            1007,
            frame(BINARY, bytes.fromhex("f248cdc9c90700"), reserved=RSV1)
            + frame(BINARY, bytes.fromhex("f200110000"), reserved=RSV1),
        ),
        # Text that is none, and text that is not complete.
        (1007, frame(TEXT, deflate(b"ab\xffcd"), reserved=RSV1)),
        (1007, frame(TEXT, deflate("€".encode()[:2]), reserved=RSV1)),
        # RSV1 where it must not be, RSV2, RSV3.
        (
            1002,
            frame(BINARY, b"\x00", fin=False, reserved=RSV1) + frame(CONTINUATION, b"\x00", reserved=RSV1),
        ),
        (1002, frame(PING, b"", reserved=RSV1)),
        (1002, frame(CLOSE, close_payload(1000), reserved=RSV1)),
        (1002, frame(BINARY, b"\x00", reserved=2)),
        (1002, frame(BINARY, b"\x00", reserved=RSV1 | 1)),
        # More than a message may have once inflated, and more than a frame of it can need on the wire.
        (1009, frame(BINARY, deflate(bytes(LIMIT + 1)), reserved=RSV1)),
        (1009, frame(BINARY, b"", length=LIMIT + LIMIT // 16 + 65, reserved=RSV1)),
    ],
)
def test_violations(client, code, frames):
    client.send(frames)
    assert client.until_close()[0] == code
    assert client.closed()


def test_a_message_at_the_limit(client):
    """What does not compress is longer on the wire than the limit, and is still within it."""
    for message in (bytes(LIMIT), os.urandom(LIMIT)):
        client.compressed(message)
        assert client.read_message() == (BINARY, message)


def test_rsv1_without_agreement(echoing):
    with RawWebSocket(echoing) as client:
        client.frame(BINARY, deflate(b"hello"), reserved=RSV1)
        assert client.until_close()[0] == 1002


def test_a_bad_message_is_answered_before_its_end(client):
    """`fin` never comes."""
    client.compressed(b"ab\xffcd", TEXT, fin=False)
    assert client.until_close()[0] == 1007


def test_a_bomb_costs_what_a_message_may_cost(gates, backends):
    backend = backends(sink)
    gate = gates(backend, WS_MAX_FRAME_BYTES="1MiB", **NO_AUTH)
    packed = deflate(bytes(64 << 20), level=9)
    assert len(packed) < LIMIT + LIMIT // 16
    before = gate.resident_bytes()
    for _ in range(8):
        with DeflateSocket(gate) as client:
            client.frame(BINARY, packed, reserved=RSV1)
            assert client.until_close()[0] == 1009
    eventually(lambda: backend.byte_count == 8 * LIMIT, "what came before the limit at the game")
    assert gate.resident_bytes() - before < 2 << 20


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
    gate = gates(backends(pours(data, start)), **NO_AUTH)
    with DeflateSocket(gate, receive_buffer=8192) as client:
        start.set()
        time.sleep(0.3)
        received, wire = bytearray(), 0
        while len(received) < len(data):
            _, opcode, payload = client.read_frame()
            assert opcode == BINARY
            wire += len(payload)
            received += inflate(payload) if client.was_compressed else payload
        assert bytes(received) == data
        assert wire < len(data) / 2


# ---- a slow game


def slow_game(gates, backends):
    start = threading.Event()
    backend = backends(reads_after(start), receive_buffer=4096)
    return gates(backend, **NO_AUTH), backend, start


def test_few_bytes_that_inflate_to_many_wait_within_bounds(gates, backends):
    """32 MiB in 500 messages of some 80 bytes: one read holds them all, the gate must not inflate them all."""
    gate, backend, start = slow_game(gates, backends)
    with DeflateSocket(gate) as client:
        client.frame(BINARY, b"hello")
        eventually(lambda: backend.count == 1, "the game's connection")
        before = gate.resident_bytes()
        message = frame(BINARY, deflate(bytes(LIMIT)), reserved=RSV1)
        client.send(message * 500)
        client.frame(CLOSE, close_payload(1000))
        time.sleep(0.5)
        assert gate.resident_bytes() - before < 1 << 20
        start.set()
        # Nothing is lost, and the close behind it all is heard.
        eventually(lambda: backend.byte_count == 5 + 500 * LIMIT, "all of it at the game", 15)
        assert client.until_close()[0] == 1000


def test_a_player_who_leaves_is_heard_out(gates, backends):
    gate, backend, start = slow_game(gates, backends)
    client = DeflateSocket(gate)
    client.send(frame(BINARY, deflate(bytes(LIMIT)), reserved=RSV1) * 100)
    client.close()
    eventually(lambda: backend.count == 1, "the game's connection")
    start.set()
    eventually(lambda: backend.byte_count == 100 * LIMIT, "all of it at the game", 15)
    assert backend.connection().ended.wait(5)


def test_one_who_inflates_does_not_hold_up_the_others(gates, backends):
    """Blocks without content are the dearest input: the neighbour's line must still come back soon."""
    machine = zlib.compressobj(wbits=-12, strategy=zlib.Z_HUFFMAN_ONLY)
    block = machine.compress(b"ab") + machine.flush(zlib.Z_FULL_FLUSH)
    gate = gates(
        backends(mud), WORKERS="1", WS_MAX_FRAME_BYTES="1MiB", WS_MAX_MESSAGE_BYTES="1MiB", **NO_AUTH
    )
    stop = threading.Event()

    def busy():
        with DeflateSocket(gate) as client:
            message = frame(BINARY, (block * 9000).removesuffix(TAIL), reserved=RSV1)
            while not stop.is_set():
                client.send(message)

    thread = threading.Thread(target=busy)
    thread.start()
    try:
        with RawWebSocket(gate) as neighbour:
            neighbour.read_frame()
            slowest = 0
            for _ in range(50):
                sent = time.monotonic()
                neighbour.frame(BINARY, b"look\n")
                while not neighbour.read_frame()[2].endswith(b"> "):
                    pass
                slowest = max(slowest, time.monotonic() - sent)
    finally:
        stop.set()
        thread.join()
    assert slowest < 0.5


# ---- memory


def test_idle_sessions_hold_no_zlib_state(gates, backends):
    """An inflater takes 11 KiB and a compressor 256: sessions that have used both differ little from the others."""
    sessions = 100
    sizes = []
    for offer in (None, OFFER):
        backend = backends(sink)
        gate = gates(backend, **NO_AUTH)
        warm = [DeflateSocket(gate, offer) for _ in range(20)]
        before = gate.resident_bytes()
        clients = [DeflateSocket(gate, offer) for _ in range(sessions)]
        for client in warm + clients:
            if offer:
                client.compressed(b"look\n" * 20)
            else:
                client.frame(BINARY, b"look\n" * 20)
        eventually(lambda: backend.byte_count == 100 * (sessions + 20), "all lines at the game")
        sizes.append((gate.resident_bytes() - before) / sessions)
        for client in warm + clients:
            client.close()
        gate.stop()
    assert sizes[1] - sizes[0] < 2048, sizes
