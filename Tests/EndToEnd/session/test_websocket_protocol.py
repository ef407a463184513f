"""RFC 6455 on the wire: frames a good client sends, and the close code for each that it must not."""

import os

import pytest

from backend import echo, sink
from waiting import LONG, eventually, patience
from websocket import BINARY, CLOSE, CONTINUATION, PING, PONG, TEXT, RawWebSocket, close_payload, frame

LIMIT = 65536


@pytest.fixture(scope="module")
def echoing(shared_gates):
    """A gate whose game is the built-in echo: messages come back with type and boundaries."""
    return shared_gates("echo:", REQUIRE_APP_AUTH="false")


@pytest.fixture
def client(echoing):
    with RawWebSocket(echoing) as opened:
        yield opened


def test_messages_of_every_length_form(client):
    for length in (0, 1, 125, 126, 127, 65535, LIMIT):
        payload = os.urandom(length)
        client.frame(BINARY, payload)
        assert client.read_frame() == (True, BINARY, payload)


def test_a_frame_byte_by_byte(client):
    for byte in frame(TEXT, "ünï ✓".encode()):
        client.send(bytes([byte]))
    assert client.read_frame() == (True, TEXT, "ünï ✓".encode())


def test_control_frames_between_fragments(client):
    client.frame(TEXT, b"a", fin=False).frame(PING, b"hi").frame(CONTINUATION, b"b", fin=False)
    client.frame(PONG, b"unasked").frame(CONTINUATION, b"c")
    frames = [client.read_frame()]
    message = b""
    while True:
        fin, opcode, payload = frames[-1]
        if opcode != PONG:
            message += payload
        if fin and opcode != PONG:
            break
        frames.append(client.read_frame())
    assert message == b"abc"
    assert (True, PONG, b"hi") in frames


@pytest.mark.parametrize("length", [0, 1, 125])
def test_pings_are_answered_with_their_payload(client, length):
    payload = os.urandom(length)
    client.frame(PING, payload)
    assert client.read_frame() == (True, PONG, payload)


def test_code_points_may_be_split_over_fragments(client):
    euro = "€".encode()
    client.frame(TEXT, euro[:1], fin=False).frame(CONTINUATION, euro[1:2], fin=False).frame(
        CONTINUATION, euro[2:]
    )
    message = b""
    fin = False
    while not fin:
        fin, _, payload = client.read_frame()
        message += payload
    assert message == euro


def test_a_very_long_message_in_tiny_fragments(client):
    """Fragments are bounded by bytes, not by a small count."""
    pieces = [frame(BINARY, b"x", fin=False)] + [frame(CONTINUATION, b"x", fin=False)] * 20_000
    client.send(b"".join(pieces) + frame(CONTINUATION, b"x"))
    total, fin = 0, False
    while not fin:
        fin, _, payload = client.read_frame()
        total += len(payload)
    assert total == 20_002


@pytest.mark.parametrize("code, answer", [(1000, 1000), (1001, 1001), (3000, 3000), (4999, 4999)])
def test_a_close_is_answered(client, code, answer):
    client.frame(CLOSE, close_payload(code, "bye"))
    assert client.until_close()[0] in (answer, 1000)
    assert client.closed()


def test_an_empty_close_is_answered(client):
    client.frame(CLOSE)
    fin, opcode, payload = client.read_frame()
    assert (fin, opcode) == (True, CLOSE) and payload in (b"", close_payload(1000))
    assert client.closed()


PROTOCOL_ERRORS = {
    "not masked": frame(TEXT, b"x", masked=False),
    "first reserved bit": frame(TEXT, b"x", reserved=4),
    "second reserved bit": frame(TEXT, b"x", reserved=2),
    "third reserved bit": frame(TEXT, b"x", reserved=1),
    "opcode 3": frame(3, b"x"),
    "opcode 7": frame(7, b"x"),
    "opcode 11": frame(11, b"x"),
    "continuation of nothing": frame(CONTINUATION, b"x"),
    "a new message inside another": frame(TEXT, b"a", fin=False) + frame(TEXT, b"b"),
    "ping of 126 bytes": frame(PING, bytes(126)),
    "fragmented ping": frame(PING, b"x", fin=False),
    "fragmented close": frame(CLOSE, close_payload(1000), fin=False),
    "close of one byte": frame(CLOSE, b"\x03"),
    "close code 0": frame(CLOSE, close_payload(0)),
    "close code 999": frame(CLOSE, close_payload(999)),
    "close code 1004": frame(CLOSE, close_payload(1004)),
    "close code 1005": frame(CLOSE, close_payload(1005)),
    "close code 1006": frame(CLOSE, close_payload(1006)),
    "close code 1015": frame(CLOSE, close_payload(1015)),
    "close code 1016": frame(CLOSE, close_payload(1016)),
    "close code 2999": frame(CLOSE, close_payload(2999)),
    "close code 5000": frame(CLOSE, close_payload(5000)),
    "length not in its shortest form": b"\x82\xfe\x00\x05" + bytes(4) + b"short",
    "64-bit length not in its shortest form": b"\x82\xff" + (5).to_bytes(8, "big") + bytes(4) + b"short",
    "64-bit length with the top bit": b"\x82\xff\x80" + bytes(7) + bytes(4),
}


@pytest.mark.parametrize("what", PROTOCOL_ERRORS)
def test_protocol_errors_are_1002(client, what):
    client.send(PROTOCOL_ERRORS[what])
    assert client.until_close()[0] == 1002
    assert client.closed()


INVALID_TEXT = {
    "a lone byte": frame(TEXT, b"\xff"),
    "overlong": frame(TEXT, b"\xc0\xaf"),
    "surrogate": frame(TEXT, b"\xed\xa0\x80"),
    "beyond the last code point": frame(TEXT, b"\xf4\x90\x80\x80"),
    "unfinished": frame(TEXT, b"\xe2\x82"),
    "broken by the next fragment": frame(TEXT, b"\xe2", fin=False) + frame(CONTINUATION, b"x"),
    "a close reason": frame(CLOSE, close_payload(1000) + b"\xff"),
}


@pytest.mark.parametrize("what", INVALID_TEXT)
def test_invalid_text_is_1007(client, what):
    client.send(INVALID_TEXT[what])
    assert client.until_close()[0] == 1007


def test_invalid_text_is_answered_at_the_byte_that_proves_it(client):
    client.send(frame(TEXT, b"ok \xff", length=100)[: 6 + 4])
    assert client.until_close()[0] == 1007


@pytest.mark.parametrize("opcode", [TEXT, BINARY])
def test_a_frame_too_big_is_1009_by_its_header_alone(client, opcode):
    client.frame(opcode, b"", length=LIMIT + 1)
    assert client.until_close()[0] == 1009


def test_a_message_too_big_is_1009(client):
    client.frame(BINARY, bytes(LIMIT), fin=False).frame(CONTINUATION, b"x")
    assert client.until_close()[0] == 1009


def test_frames_before_a_violation_are_delivered(gates, backends):
    backend = backends(sink)
    gate = gates(backend, REQUIRE_APP_AUTH="false")
    with RawWebSocket(gate) as client:
        client.send(frame(TEXT, b"said before ") + frame(BINARY, b"the fall") + frame(3, b"never"))
        assert client.until_close()[0] == 1002
    assert backend.connection().ended.wait(patience(LONG))
    assert bytes(backend.connection().received) == b"said before the fall"


def test_at_most_one_pong_is_pending(gates, backends):
    """Ten thousand pings of a client that does not read cost the gate one pong, not ten thousand."""
    gate = gates(backends(echo), REQUIRE_APP_AUTH="false")
    with RawWebSocket(gate, receive_buffer=4096) as client:
        before = gate.resident_bytes()
        client.send(frame(PING, bytes(125)) * 10_000)
        client.frame(TEXT, b"after the pings")
        pongs = 0
        while (received := client.read_frame())[1] == PONG:
            pongs += 1
        assert received[2] == b"after the pings" and 1 <= pongs <= 10_000
        eventually(lambda: gate.resident_bytes() - before < 2 << 20, "memory as it was")
