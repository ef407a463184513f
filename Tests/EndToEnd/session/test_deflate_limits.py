"""What breaks permessage-deflate (RFC 7692), and what it may cost at most."""

import os
import threading
import time
import zlib

import pytest

from backend import mud, reads_after, sink
from deflating import BARE, NO_AUTH, OFFER, RSV1, TAIL, DeflateSocket, Window, deflate
from kernel import queued_bytes
from waiting import LONG, eventually, patience
from websocket import BINARY, CLOSE, CONTINUATION, PING, TEXT, RawWebSocket, close_payload, frame

LIMIT = 65536


@pytest.fixture(scope="module")
def echoing(shared_gates):
    return shared_gates("echo:", **NO_AUTH)


@pytest.fixture
def client(echoing):
    with DeflateSocket(echoing) as opened:
        yield opened


# ---- violations


@pytest.mark.parametrize(
    ("code", "frames"),
    [
        # Garbage, and data that stops within a block.
        (1007, frame(BINARY, b"\xff" * 20, reserved=RSV1)),
        (1007, frame(BINARY, deflate(os.urandom(500))[:-200], reserved=RSV1)),
        # The second message of RFC 7692 §7.2.3.2 without the first, which it leans on.
        (1007, frame(BINARY, bytes.fromhex("f200110000"), reserved=RSV1)),
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
    # The bytes are masked anew each time.
    ids=lambda value: "" if isinstance(value, bytes) else None,
)
def test_violations(client, code, frames):
    client.send(frames)
    assert client.until_close()[0] == code
    assert client.closed()


def test_who_offers_to_keep_no_context_is_held_to_it(echoing):
    with DeflateSocket(echoing, BARE + "; client_no_context_takeover") as client:
        window = Window()
        for line in (b"look\n" * 20, b"look\n" * 20):
            client.frame(BINARY, window.deflate(line), reserved=RSV1)
        assert client.until_close()[0] == 1007


def test_a_window_of_another_player_is_out_of_reach(echoing):
    """The gate's one inflater has just had it."""
    with DeflateSocket(echoing, BARE) as player, DeflateSocket(echoing, BARE) as other:
        window = Window()
        player.frame(BINARY, window.deflate(b"my secret, my secret"), reserved=RSV1)
        assert player.read_message()[1] == b"my secret, my secret"
        other.frame(BINARY, window.deflate(b"my secret, my secret"), reserved=RSV1)
        assert other.until_close()[0] == 1007


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
        # It has begun, the game takes no more, and whole turns have gone by.
        eventually(lambda: queued_bytes("dport", "=", f":{backend.port}")[0] > 0, "what waits for the game")
        for _ in range(3):
            assert gate.command("sessions", "list").returncode == 0
        assert gate.resident_bytes() - before < 1 << 20
        start.set()
        # Nothing is lost, and the close behind it all is heard.
        eventually(lambda: backend.byte_count == 5 + 500 * LIMIT, "all of it at the game", 60)
        assert client.until_close()[0] == 1000


def test_a_player_who_leaves_is_heard_out(gates, backends):
    gate, backend, start = slow_game(gates, backends)
    client = DeflateSocket(gate)
    client.send(frame(BINARY, deflate(bytes(LIMIT)), reserved=RSV1) * 100)
    client.close()
    eventually(lambda: backend.count == 1, "the game's connection")
    start.set()
    eventually(lambda: backend.byte_count == 100 * LIMIT, "all of it at the game", 60)
    assert backend.connection().ended.wait(patience(LONG))


@pytest.mark.alone("it measures how long somebody waits")
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
            waits = []
            for _ in range(50):
                sent = time.monotonic()
                neighbour.frame(BINARY, b"look\n")
                while not neighbour.read_frame()[2].endswith(b"> "):
                    pass
                waits.append(time.monotonic() - sent)
    finally:
        stop.set()
        thread.join()
    # Who is held up is so each time, and not only when the machine stands still.
    assert sorted(waits)[44] < 0.5, waits


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


def test_a_window_takes_what_was_sent_and_not_what_may_be(gates, backends):
    """Of clients that keep their context: a few KiB in an evening, and 32 KiB with what the allocator adds at the most."""
    sessions = 100
    for sent, allowed in ((2048, 5 << 10), (64 << 10, 44 << 10)):
        sizes = []
        for keeps in (False, True):
            backend = backends(sink)
            gate = gates(backend, WORKERS="1", **NO_AUTH)
            offer = BARE if keeps else BARE + "; client_no_context_takeover"
            warm = [DeflateSocket(gate, offer) for _ in range(20)]
            before = gate.resident_bytes()
            clients = [DeflateSocket(gate, offer) for _ in range(sessions)]
            for client in warm + clients:
                window = Window()
                for _ in range(sent // 1024):
                    line = os.urandom(1024)
                    client.frame(BINARY, window.deflate(line) if keeps else deflate(line), reserved=RSV1)
            eventually(lambda: backend.byte_count == sent * (sessions + 20), "all lines at the game")
            sizes.append((gate.resident_bytes() - before) / sessions)
            for client in warm + clients:
                client.close()
            gate.stop()
        print(f"{sent} bytes sent: {sizes[1] - sizes[0]:.0f} bytes a session")
        assert sizes[1] - sizes[0] < allowed, (sent, sizes)
