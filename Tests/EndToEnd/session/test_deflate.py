"""permessage-deflate (RFC 7692) on the wire: offers, and messages both ways."""

import itertools
import os
import threading
import zlib

import pytest

from backend import pours, says, sink
from deflating import BARE, NO_AUTH, OFFER, PLAIN, RSV1, TAIL, DeflateSocket, Window, deflate, inflate
from kernel import queued_bytes
from reloading import reload
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
        (BARE, PLAIN),
        ("permessage-deflate; client_no_context_takeover", PLAIN + "; client_no_context_takeover"),
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


# ---- a client that keeps its window


@pytest.mark.parametrize(("offer", "bits"), [(BARE, 15), (OFFER, 12), (BARE + "; client_max_window_bits=9", 9)])
def test_a_client_that_keeps_its_window_plays_on(echoing, offer, bits):
    """NSURLSession of iOS 15.0 to 15.3 offers the bare name and keeps its window, whatever it is asked for."""
    window = Window(bits)
    with DeflateSocket(echoing, offer) as client:
        # As far back as it may reach, and with each message in what came before.
        past = os.urandom((1 << bits) - 262)
        for message in (past, past[:300], b"look\n", b"look\n", b"", past[-300:], b"look\n" * 500, b"look\n"):
            packed = window.deflate(message)
            half = len(packed) // 2
            client.frame(BINARY, packed[:half], fin=False, reserved=RSV1).frame(CONTINUATION, packed[half:])
            assert client.read_message() == (BINARY, message)
        assert len(window.deflate(b"look\n" * 500)) < 40, "it does lean on what came before"


def test_messages_that_lean_on_one_another_in_one_read(echoing):
    window = Window()
    lines = [b"tell the tale of the troll again, %d times\n" % number for number in range(300)]
    with DeflateSocket(echoing, BARE) as client:
        client.send(b"".join(frame(BINARY, window.deflate(line), reserved=RSV1) for line in lines))
        assert [client.read_message() for _ in lines] == [(BINARY, line) for line in lines]


def test_windows_of_clients_are_their_own(echoing):
    """They take turns on the gate's one inflater, and with one that keeps none."""
    with DeflateSocket(echoing, BARE) as first, DeflateSocket(echoing, BARE) as second, DeflateSocket(echoing) as plain:
        windows = {first: Window(), second: Window()}
        for number in range(50):
            for client, name in ((first, b"Ada"), (second, b"Bob")):
                line = b"%s says something for the %dth time\n" % (name, number)
                client.frame(BINARY, windows[client].deflate(line), reserved=RSV1)
                assert client.read_message() == (BINARY, line)
            plain.compressed(b"round and round " * 40)
            assert plain.read_message() == (BINARY, b"round and round " * 40)


def test_without_room_for_a_window_a_client_plays_uncompressed(gates):
    """The rest plays as it did: nobody's window is taken away, and a client that keeps none needs no room."""
    gate = gates("echo:", WORKERS="1", WS_COMPRESSION_WINDOWS="36KiB", **NO_AUTH)
    frugal = BARE + "; client_no_context_takeover"
    with DeflateSocket(gate, BARE) as first, DeflateSocket(gate, OFFER) as second:
        assert (first.answer, second.answer) == (PLAIN, PLAIN + "; client_max_window_bits=12")
        for offer, answer in ((BARE, None), (OFFER, None), (f"{BARE}, {frugal}", PLAIN + "; client_no_context_takeover")):
            with DeflateSocket(gate, offer) as client:
                assert client.answer == answer
                client.frame(BINARY, b"look\n" * 40)
                assert client.read_message() == (BINARY, b"look\n" * 40)
                assert client.was_compressed == bool(answer)
        window = Window()
        for line in (b"north\n" * 20, b"north\n" * 21):
            first.frame(BINARY, window.deflate(line), reserved=RSV1)
            assert first.read_message() == (BINARY, line)

    def has_room():
        with DeflateSocket(gate, BARE) as client:
            return client.answer == PLAIN

    eventually(has_room, "the room of one that has left")


# ---- without


@pytest.mark.parametrize("subprotocol", [None, "portcullis.v1", "terminal.mudstandards.org"])
def test_an_app_declines_compression(gates, backends, subprotocol):
    """Apple's stack always offers it; a field of its own is what an app can add."""
    gate = gates(backends(sink), **NO_AUTH)
    chosen = {"Sec-WebSocket-Protocol": subprotocol} if subprotocol else {}
    with DeflateSocket(gate, BARE, chosen) as client:
        assert client.answer == PLAIN
    with DeflateSocket(gate, BARE, chosen | {"Portcullis-Compression": "off"}) as client:
        assert client.answer is None
        client.compressed(b"look\n")
        assert client.until_close()[0] == 1002


@pytest.mark.parametrize("subprotocol", [None, "portcullis.v1", "gmcp.mudstandards.org"])
def test_a_client_that_keeps_its_window_whatever_it_is_told(gates, backends, subprotocol):
    """As Apple's stack of iOS 15.0 to 15.3, which compresses with what it has said before where it was told not to. With
    its own word nothing is compressed, and of a thousand messages none is lost; without it the second ends the connection."""
    backend = backends(sink)
    gate = gates(backend, INPUT_RATE="100000/s", **NO_AUTH)
    chosen = {"Sec-WebSocket-Protocol": subprotocol} if subprotocol else {}
    lines = [b"say the same thing again, for the %dth time\n" % number for number in range(1000)]

    def say(client, count):
        window = Window()
        for line in lines[:count]:
            if client.answer:
                client.frame(BINARY, window.deflate(line), reserved=RSV1)
            else:
                client.frame(BINARY, line)

    with DeflateSocket(gate, BARE + "; client_no_context_takeover", chosen | {"Portcullis-Compression": "off"}) as client:
        assert client.answer is None
        say(client, 1000)
        heard = b"".join(lines) if not subprotocol else b"".join(lines).replace(b"\n", b"\r\n")
        eventually(lambda: heard in bytes(backend.connections[0].received), "a thousand lines at the game")
    with DeflateSocket(gate, BARE + "; client_no_context_takeover", chosen) as client:
        assert client.answer == PLAIN + "; client_no_context_takeover"
        say(client, 2)
        assert client.until_close()[0] == 1007


@pytest.mark.parametrize("value", ["", "on", "Off", "off, off", "off\r\nPortcullis-Compression: off"])
def test_a_bad_compression_header_is_400(echoing, value):
    with pytest.raises(AssertionError, match="400"):
        DeflateSocket(echoing, BARE, {"Portcullis-Compression": value})


def test_where_it_is_off_no_answer_has_the_extension(gates, backends):
    gate = gates(backends(sink), WS_COMPRESSION="off", **NO_AUTH)
    offers = [BARE, OFFER, f"foo, {BARE}; client_no_context_takeover"]
    subprotocols = [{}] + [{"Sec-WebSocket-Protocol": name} for name in ("portcullis.v1", "terminal.mudstandards.org")]
    for offer, chosen, word in itertools.product(offers, subprotocols, [{}, {"Portcullis-Compression": "off"}]):
        with DeflateSocket(gate, offer, chosen | word) as client:
            assert client.answer is None


def test_the_operator_turns_compression_off(gates, backends, tmp_path):
    """The answer to an offer is then none at all; who has agreed before keeps it to the end."""
    backend = backends(says(b"a story told twice. " * 20, b"a story told twice. " * 20))
    settings = tmp_path / "portcullis.env"
    settings.write_text("WS_COMPRESSION=on\n")
    gate = gates(backend, start=False, **NO_AUTH).start("--config", str(settings))
    with DeflateSocket(gate, BARE) as before:
        assert before.read_message()[1] and before.was_compressed
        settings.write_text("WS_COMPRESSION=off\n")
        reload(gate)
        with DeflateSocket(gate, BARE) as client:
            assert client.answer is None
            assert client.read_message() == (BINARY, b"a story told twice. " * 20)
            assert not client.was_compressed
        before.frame(BINARY, b".")
        assert before.read_message()[1] and before.was_compressed


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
