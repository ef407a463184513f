"""The most expensive messages that an app can send, small on the wire and large once they are inflated, beside a player
who types.

What they cost to a microsecond is measured by `make adversarial`. Here 200 of them at once are compared with a single one, so
that the bounds hold for any build on any machine; served in one turn they would take 200 times as long."""

import json
import time

import pytest

import backend
from deflating import PLAIN, RSV1, DeflateSocket, deflate
from websocket import BINARY, TEXT, RawWebSocket, frame

LIMIT = 64 * 1024
SESSIONS = 200
# What else may run on the machine meanwhile, in seconds.
DISTURBANCE = 0.25
# In messages that come alone: a turn has what is served at once and one message; who types waits for a share of the crowd.
TURN, WAIT = 5, 30
SETTINGS = {
    "REQUIRE_APP_AUTH": "false",
    "WORKERS": 1,
    "MAX_CONNECTIONS_PER_ADDRESS": 1000,
    "HANDSHAKE_RATE": "10000/s",
}


class DeflatingApp(DeflateSocket):
    """One that speaks portcullis.v1."""

    def __init__(self, gate):
        RawWebSocket.__init__(
            self, gate, {"Sec-WebSocket-Extensions": PLAIN, "Sec-WebSocket-Protocol": "portcullis.v1"}
        )


def filled(prefix, unit, suffix):
    """As many units as 64 KiB take; `%d` in one is its number."""
    parts, size, number = [prefix], len(prefix) + len(suffix), 0
    while True:
        part = unit.replace(b"%d", b"%d" % number)
        if size + len(part) > LIMIT:
            return b"".join([*parts, suffix])
        parts.append(part)
        size += len(part)
        number += 1


ACK = b'{"type":"ack","received":0,'
MESSAGES = {
    "escaped_names": filled(ACK, rb'"\n":1,', b'"z":1}'),
    "distinct_names": filled(ACK + b'"x":{', b'"%d":1,', b'"":1}}'),
    "msdp": filled(b'{"type":"msdp","data":{"x":[', b'{"a":1},', b"0]}}"),
}


@pytest.fixture
def sessions(gates, backends):
    """A gate before a game that echoes, and what opens sessions there."""
    gate = gates(backends(backend.echo), **SETTINGS)
    opened = []

    def open_session(kind=RawWebSocket, *arguments):
        opened.append(kind(gate, *arguments))
        return opened[-1]

    open_session.gate = gate
    yield open_session
    for session in opened:
        session.close()


def longest_turn(gate):
    (turns,) = json.loads(gate.command("stats", "--json").stdout)["turns"]
    return turns["maximumMicroseconds"] / 1e6


class Typist:
    """A raw session whose lines come back."""

    def __init__(self, sessions):
        self.session = sessions()

    def round_trip(self):
        begin = time.monotonic()
        self.session.frame(BINARY, b"look\n")
        heard = b""
        while not heard.endswith(b"look\n"):
            heard += self.session.read_frame()[2]
        return time.monotonic() - begin


def compare(sessions, crowd, packed):
    """One message beside a line that is typed, some times, and then one of everybody at once."""
    typist = Typist(sessions)
    alone = []
    for session in crowd[:3]:
        session.send(packed)
        alone.append(typist.round_trip())
    for session in crowd:
        session.send(packed)
    assert max(typist.round_trip() for _ in range(20)) < DISTURBANCE + WAIT * max(alone)
    assert longest_turn(sessions.gate) < DISTURBANCE + TURN * max(alone)


@pytest.mark.parametrize("kind", sorted(MESSAGES))
def test_all_at_once_take_no_long_turn(sessions, kind):
    """200 sessions, a few KB in all: a turn serves what its time allows, and who types is not behind all of them."""
    message = MESSAGES[kind]
    packed = frame(TEXT, deflate(message, level=9), reserved=RSV1)
    assert len(packed) < (300 if kind != "distinct_names" else 30_000)
    compare(sessions, [sessions(DeflatingApp) for _ in range(SESSIONS)], packed)
