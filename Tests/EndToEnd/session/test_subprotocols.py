"""Which subprotocol is chosen, and the dialects of mudstandards.org: what Evennia's own portal says in them is the measure."""

import base64
import json
import struct

import pytest

from sessions import Lost, Refused, Wire
from telnet_game import (
    CHARSET,
    ECHO,
    EOR,
    GA,
    GMCP,
    IAC,
    MSDP,
    MSSP,
    NAWS,
    TTYPE,
    WILL,
    ALMOST_JSON,
    MEANT,
    gmcp,
    subnegotiation,
)
from waiting import LONG, eventually, patience
from websocket import BINARY, TEXT, frame

TELNET, TERMINAL = "telnet.mudstandards.org", "terminal.mudstandards.org"
GMCP_DIALECT, JSON_DIALECT = "gmcp.mudstandards.org", "json.mudstandards.org"
ALL = ["binary", TELNET, TERMINAL, GMCP_DIALECT, JSON_DIALECT, "portcullis.v1"]
DIALECTS = [TERMINAL, GMCP_DIALECT, JSON_DIALECT]
# What Evennia sends at once, and some more: nothing of it may reach a player.
NEGOTIATION = b"".join(
    bytes([IAC, verb, option])
    for verb, option in [(253, 34), (251, 3), (253, NAWS), (253, TTYPE), (251, 86), (251, MSSP), (251, MSDP)]
    + [(251, GMCP), (251, 91), (251, ECHO), (251, EOR), (253, CHARSET), (253, 39), (251, 200), (253, 255)]
)


def connected(evening, *offers, extra=()):
    """One upgrade with these offers: the wire."""
    device = evening.device()
    fields = [f"{name}: {value}" for name, value in device.headers(evening.gate.app.nonce()).items()]
    if offers:
        fields.append("Sec-WebSocket-Protocol: " + ", ".join(offers))
    return Wire(evening.gate, [*fields, *extra])


def messages_until(wire, last, within=LONG):
    """Messages up to the one that is or ends with `last`."""
    found = []
    while True:
        message = wire.message(patience(within))
        assert message is not None, f"{last!r} did not come: {found}"
        found.append(message)
        if message[1].endswith(last):
            return found


def end_of(wire):
    """What the connection ended with, and the messages before it."""
    found = []
    while True:
        try:
            message = wire.message(patience(LONG))
        except Lost as lost:
            return lost, found
        assert message is not None, f"no end: {found}"
        found.append(message)


def text_of(messages):
    return b"".join(payload for opcode, payload in messages if opcode == BINARY)


# ---- the choice


@pytest.mark.parametrize(
    "allowed, offers, chosen",
    [
        (None, [], None),
        *[(None, [name], name) for name in ALL],
        (None, ["portcullis.v1", TERMINAL, "binary"], "portcullis.v1"),
        (None, ["binary", "portcullis.v1"], "binary"),
        (None, [JSON_DIALECT, GMCP_DIALECT], JSON_DIALECT),
        (None, ["chat", "superchat"], None),
        (None, ["chat", TERMINAL], TERMINAL),
        ("portcullis.v1,terminal.mudstandards.org", ["binary", TERMINAL, "portcullis.v1"], TERMINAL),
        ("portcullis.v1", [TELNET, "chat", "portcullis.v1"], "portcullis.v1"),
        ("none", [], None),
        ("none", ["chat"], None),
        ("none,binary", ["portcullis.v1", "binary"], "binary"),
    ],
)
def test_the_clients_order_among_what_is_allowed(evenings, allowed, offers, chosen):
    evening = evenings(SUBPROTOCOLS=allowed)
    assert connected(evening, *offers).subprotocol == chosen


@pytest.mark.parametrize(
    "allowed, offers",
    [
        ("portcullis.v1", []),
        ("portcullis.v1", ["chat"]),
        ("portcullis.v1", ["binary"]),
        ("portcullis.v1", [TERMINAL, TELNET]),
        ("none", ["portcullis.v1"]),
        ("none", ["chat", TERMINAL]),
        ("none,portcullis.v1", [GMCP_DIALECT]),
        ("binary", []),
    ],
)
def test_never_raw_by_surprise(evenings, allowed, offers):
    evening = evenings(SUBPROTOCOLS=allowed)
    with pytest.raises(Refused) as refused:
        connected(evening, *offers)
    assert (refused.value.status, refused.value.code) == (400, "bad_request")
    evening.game.settle()
    assert evening.game.count == 0


@pytest.mark.parametrize("dialect", [*DIALECTS, "portcullis.v1"])
def test_an_echo_is_no_game_that_telnet_could_be_spoken_with(gates, dialect):
    gate = gates("echo:", REQUIRE_APP_AUTH="false")
    with pytest.raises(Refused) as refused:
        Wire(gate, [f"Sec-WebSocket-Protocol: {dialect}"])
    assert (refused.value.status, refused.value.code) == (400, "bad_request")
    wire = Wire(gate, [f"Sec-WebSocket-Protocol: {dialect}, binary"])
    assert wire.subprotocol == "binary"
    wire.post(BINARY, b"back")
    assert wire.message(patience(LONG)) == (BINARY, b"back")
    # A gate that ends waits for whoever plays.
    wire.close()


@pytest.mark.parametrize("offers", [[], ["binary"], [TELNET]])
def test_raw_is_raw(evening, offers):
    wire = connected(evening, *offers)
    seat = evening.game.seat()
    seat.send(NEGOTIATION + b"text\r\n")
    assert text_of(messages_until(wire, b"text\r\n")) == NEGOTIATION + b"text\r\n"
    wire.post(BINARY, b"\xff\xfb\x18 no end")
    eventually(lambda: seat.received == b"\xff\xfb\x18 no end", "the very bytes")


# ---- what all dialects have in common


@pytest.mark.parametrize("dialect", DIALECTS)
def test_no_telnet_byte_reaches_the_player(evening, dialect):
    wire = connected(evening, dialect)
    seat = evening.game.seat()
    for piece in (NEGOTIATION, b"caf\xc3\xa9", bytes([IAC, GA]), b" \xff\xff ", NEGOTIATION, b"end\r\n"):
        seat.send(piece)
    messages = messages_until(wire, b"end\r\n")
    assert all(opcode == BINARY for opcode, _ in messages)
    # 255 is not UTF-8: one replacement character stands for it.
    assert text_of(messages) == "café \ufffd end\r\n".encode()


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    "sent, typed",
    [
        (b"look", b"look\r\n"),
        (b"look\n", b"look\r\n"),
        (b"look\r\n", b"look\r\n"),
        (b"look\r", b"look\r\n"),
        (b"a\nb", b"a\r\nb\r\n"),
        (b"", b"\r\n"),
        (b"\n", b"\r\n"),
        (b"a\0b", b"ab\r\n"),
        ("ünï".encode(), "ünï\r\n".encode()),
        (b"a\xffb", b"a?b\r\n"),
    ],
)
def test_an_input_message_without_a_line_end_gets_one(evening, dialect, sent, typed):
    wire = connected(evening, dialect)
    wire.post(BINARY, sent)
    wire.post(BINARY, b"mark")
    seat = evening.game.seat()
    eventually(lambda: seat.received == typed + b"mark\r\n", f"the input: {seat.received}")


@pytest.mark.parametrize("dialect", [*DIALECTS, "portcullis.v1"])
def test_messages_are_taken_whole_or_not_at_all(evening, dialect):
    wire = connected(evening, dialect)
    seat = evening.game.seat()
    wire.send(frame(BINARY, b"a whole ", fin=False))
    wire.send(frame(0, b"message\n"))
    eventually(lambda: seat.received == b"a whole message\r\n", f"the message: {seat.received}")
    wire.send(frame(BINARY, b"half a ", fin=False))
    wire.send(frame(0, b"message\n")[:-1])
    wire.lose("fin")
    if dialect == "portcullis.v1":
        evening.gate.event(event="session_detached")
    else:
        seat.gone()
    assert seat.received == b"a whole message\r\n"


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_ends_are_those_of_raw_sessions(evening, dialect):
    wire = connected(evening, dialect)
    seat = evening.game.seat()
    seat.say("Goodbye.\r\n")
    seat.close()
    lost, found = end_of(wire)
    assert lost.code == 1000
    assert text_of(found) == b"Goodbye.\r\n"


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_games_failure_is_1011(evening, dialect):
    wire = connected(evening, dialect)
    seat = evening.game.seat()
    wire.post(BINARY, b"x")
    seat.heard_lines(1)
    seat.reset()
    assert end_of(wire)[0].code == 1011


@pytest.mark.parametrize("dialect", DIALECTS)
def test_messages_over_the_limit_are_1009(evenings, dialect):
    evening = evenings(WS_MAX_MESSAGE_BYTES="4KiB", WS_MAX_FRAME_BYTES="4KiB")
    wire = connected(evening, dialect)
    wire.send(frame(BINARY, b"x" * 3000, fin=False))
    wire.send(frame(0, b"x" * 3000))
    assert end_of(wire)[0].code == 1009
    seat = evening.game.seat()
    seat.gone()
    assert seat.received == b""


# ---- terminal


def test_terminal_takes_text_as_input_too(evening):
    wire = connected(evening, TERMINAL)
    wire.post(TEXT, '{"type":"no JSON here"} ünï'.encode())
    assert evening.game.seat().heard_lines(1) == ['{"type":"no JSON here"} ünï']


@pytest.mark.parametrize("option", [GMCP, MSDP, MSSP])
def test_terminal_refuses_what_it_cannot_show(evening, option):
    wire = connected(evening, TERMINAL)
    seat = evening.game.seat()
    seat.tell(WILL, option)
    seat.heard("dont", option)
    wire.close()


# ---- gmcp


def greeted(evening, dialect, hello=True):
    """A session in which GMCP is agreed."""
    wire = connected(evening, dialect)
    seat = evening.game.seat()
    seat.tell(WILL, GMCP)
    seat.heard("do", GMCP)
    return wire, seat


def test_gmcp_is_text_both_ways(timeless):
    wire, seat = greeted(timeless, GMCP_DIALECT)
    wire.post(TEXT, b'Core.Hello {"client":"Mudlet","version":"4"}')
    seat.send(b"before " + gmcp("Char.Vitals", {"hp": 17}) + b"after " + gmcp("Logged.In") + b"end\r\n")
    messages = messages_until(wire, b"end\r\n")
    texts = [payload.decode() for opcode, payload in messages if opcode == TEXT]
    assert [text.partition(" ")[0] for text in texts] == ["Char.Vitals", "Logged.In"]
    assert json.loads(texts[0].partition(" ")[2]) == {"hp": 17}
    assert texts[1] == "Logged.In", "without data there is no blank"
    order = [payload if opcode == BINARY else b"*" for opcode, payload in messages]
    assert b"".join(order) == b"before *after *end\r\n"
    wire.post(TEXT, b'Core.Echo "hi"')
    wire.post(TEXT, b"Core.Ping")
    wire.post(BINARY, b"look")
    seat.heard_lines(1)
    assert seat.subnegotiations(GMCP) == [
        b'Core.Hello {"client":"Mudlet","version":"4"}',
        b'Core.Echo "hi"',
        b"Core.Ping",
    ]


def test_gmcp_the_gate_says_hello_for_an_app_that_does_not(evening):
    _, seat = greeted(evening, GMCP_DIALECT)
    eventually(lambda: seat.subnegotiations(GMCP), "Core.Hello within half a second")
    first = seat.subnegotiations(GMCP)[0]
    assert first.startswith(b"Core.Hello ") and json.loads(first[11:])["client"]


def test_gmcp_other_events_are_not_told(evening):
    wire, seat = greeted(evening, GMCP_DIALECT)
    seat.tell(WILL, ECHO)
    seat.tell(WILL, MSDP)
    seat.send(subnegotiation(MSDP, b"\x01A\x02b") + b"prompt> " + bytes([IAC, GA]) + b"end\r\n")
    messages = messages_until(wire, b"end\r\n")
    assert all(opcode == BINARY for opcode, _ in messages)
    assert text_of(messages) == b"prompt> end\r\n"


@pytest.mark.parametrize("text", ["1Wrong.Name {}", "", " ", "Wrong/Name", "Näme", "x" * 65])
def test_gmcp_unfit_messages_do_no_harm(timeless, text):
    wire, seat = greeted(timeless, GMCP_DIALECT)
    wire.post(TEXT, b"Core.Hello {}")
    wire.post(TEXT, text.encode())
    wire.post(BINARY, b"after")
    assert seat.heard_lines(1) == ["after"]
    assert [payload.partition(b" ")[0] for payload in seat.subnegotiations(GMCP)] == [b"Core.Hello"]


def test_gmcp_that_is_no_json_is_a_string(timeless):
    wire, seat = greeted(timeless, GMCP_DIALECT)
    wire.post(TEXT, b"Core.Hello {}")
    wire.post(TEXT, b"Core.Echo {not json")
    wire.post(BINARY, b"after")
    assert seat.heard_lines(1) == ["after"]
    assert seat.subnegotiations(GMCP) == [b"Core.Hello {}", b'Core.Echo "{not json"']


@pytest.mark.parametrize("dialect", [GMCP_DIALECT, JSON_DIALECT])
def test_almost_json_of_a_game_is_json_to_the_app(timeless, dialect):
    wire, seat = greeted(timeless, dialect)
    seat.send(ALMOST_JSON + b"end\r\n")
    (text,) = [payload for opcode, payload in messages_until(wire, b"end\r\n") if opcode == TEXT]
    data = text.partition(b" ")[2] if dialect == GMCP_DIALECT else json.loads(text)["data"]
    assert json.loads(data) == MEANT


# ---- json


def envelope(**members):
    return json.dumps(members).encode()


def test_json_is_an_envelope_both_ways(timeless):
    wire, seat = greeted(timeless, JSON_DIALECT)
    wire.post(TEXT, envelope(proto="gmcp", id="Core.Hello", data='{"client":"x"}'))
    seat.send(gmcp("Char.Vitals", {"hp": 17, "name": "Zoë"}) + gmcp("Logged.In") + b"end\r\n")
    texts = [json.loads(payload) for opcode, payload in messages_until(wire, b"end\r\n") if opcode == TEXT]
    assert [(text["proto"], text["id"]) for text in texts] == [("gmcp", "Char.Vitals"), ("gmcp", "Logged.In")]
    assert json.loads(texts[0]["data"]) == {"hp": 17, "name": "Zoë"}, "data is JSON as a string"
    # Where there is none, Evennia's own portal says "".
    assert texts[1].get("data", "") == ""
    wire.post(TEXT, envelope(proto="gmcp", id="Core.Echo", data='"hi"'))
    wire.post(TEXT, envelope(proto="gmcp", id="Core.Echo", data={"a": [1, None]}))
    wire.post(TEXT, envelope(proto="gmcp", id="Core.Ping"))
    wire.post(TEXT, envelope(proto="gmcp", id="Core.Pong", data=""))
    wire.post(TEXT, envelope(proto="text", id="", data="look"))
    wire.post(BINARY, b"north")
    assert seat.heard_lines(2) == ["look", "north"]
    told = [payload.partition(b" ") for payload in seat.subnegotiations(GMCP)]
    assert [name for name, _, _ in told] == [
        b"Core.Hello",
        b"Core.Echo",
        b"Core.Echo",
        b"Core.Ping",
        b"Core.Pong",
    ]
    assert [json.loads(data) for _, _, data in told[1:3]] == ["hi", {"a": [1, None]}]
    assert [data for _, _, data in told[3:]] == [b"", b""]


def test_json_tells_the_windows_size(evening):
    wire, seat = greeted(evening, JSON_DIALECT)
    seat.tell(253, NAWS)
    seat.heard("will", NAWS)
    for columns, rows in ((80, 24), (255, 65535)):
        size = base64.b64encode(struct.pack(">HH", columns, rows)).decode()
        wire.post(TEXT, envelope(proto="telnet_31", id="", data=size))
        eventually(
            lambda wanted=struct.pack(">HH", columns, rows): seat.subnegotiations(NAWS)[-1:] == [wanted],
            f"NAWS {columns} {rows}: {seat.subnegotiations(NAWS)}",
        )


@pytest.mark.parametrize(
    "text",
    [
        b"not json",
        b"[]",
        b"{}",
        b'{"proto":7}',
        b'{"proto":"nope","id":"","data":""}',
        b'{"proto":"gmcp"}',
        b'{"proto":"gmcp","id":"1 wrong","data":""}',
        b'{"proto":"telnet_31","data":"AAAA"}',
        b'{"proto":"telnet_31","data":"not base64"}',
        b'{"proto":"text"}',
    ],
)
def test_json_unfit_messages_do_no_harm(evening, text):
    wire, seat = greeted(evening, JSON_DIALECT)
    wire.post(TEXT, text)
    wire.post(BINARY, b"after")
    lines = seat.heard_lines(1)
    assert lines[-1] == "after" and set(lines) <= {"", "after"}
