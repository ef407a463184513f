"""portcullis.v1 on one connection: the first message, what counts and what is acknowledged, and how a session ends.

docs/sessions.md is the page; telnet has test_telnet.py, and what outlives a connection has test_resuming.py.
"""

import json
import signal
import struct

import pytest

from clients import UPGRADE, Raw, head
from sessions import ACK_BYTES, ACK_MESSAGES, ACK_SECONDS, VERSION_1, Refused, base64url
from telnet_game import ECHO, GMCP, IAC, MSDP, NAWS, WILL, WONT, ALMOST_JSON, MEANT, gmcp, subnegotiation
from waiting import eventually, eventually_async
from websocket import BINARY, CLOSE, TEXT, close_payload, connect, frame

HELLO = "Welcome, traveller.\r\n"


def greets(seat):
    seat.say(HELLO)


def answers(seat, line):
    """What a game does: a line for a line; `quit` ends it."""
    if line == "quit":
        seat.say("Goodbye.\r\n")
        seat.close()
    else:
        seat.say(f"You say: {line}\r\n")


# ---- the first message


@pytest.mark.quick
def test_the_first_message_says_what_the_session_is(evening):
    player = evening.player(connect=False)
    session = player.connect()
    assert {name: value for name, value in session.items() if name not in ("id", "next")} == {
        "type": "session",
        "resumed": False,
        "received": 0,
        "resumeFor": 600,
        "maxMessage": 65536,
        "kept": session["kept"],
        "echo": False,
        "gmcp": False,
        "msdp": False,
    }
    assert evening.game.seat().received == b""


def test_its_numbers_are_those_of_the_configuration(evenings):
    evening = evenings(WS_MAX_MESSAGE_BYTES="8KiB", WS_MAX_FRAME_BYTES="8KiB", SESSION_RESUME_FOR="2m")
    session = evening.player().sessions[0]
    assert (session["maxMessage"], session["resumeFor"]) == (8192, 120)


def test_every_session_has_another_id(evening):
    seen = {evening.player().id for _ in range(20)}
    assert len(seen) == 20


@pytest.mark.quick
def test_a_conversation(evenings):
    evening = evenings(greets, answers)
    player = evening.player()
    player.until_text(HELLO)
    player.line("look")
    player.until_text("You say: look\r\n")
    player.line("ünï")
    player.until_text("You say: ünï\r\n")
    assert evening.game.seat().received == "look\r\nünï\r\n".encode()


def test_text_is_binary_whatever_raw_sessions_get(evenings):
    evening = evenings(greets, WS_MESSAGE_TYPE="text")
    evening.player().until_text(HELLO)  # the client refuses text in TEXT


@pytest.mark.quick
def test_input_goes_as_it_was_typed(evening):
    player, seat = evening.seated()
    for piece in ("no", "rth", "\n", "a\r", "\nb\n\nc\r\n", "", "d\x00e\n"):
        player.send(piece)
    eventually(lambda: seat.received == b"north\r\na\r\nb\r\n\r\nc\r\nde\r\n", f"the input: {seat.received}")


# ---- counting


@pytest.mark.quick
def test_thirty_two_messages_are_acknowledged(timeless):
    player, _ = timeless.seated()
    for number in range(ACK_MESSAGES):
        player.line(str(number))
    player.until_handled()


def test_sixteen_kibibytes_are_acknowledged(timeless):
    player, seat = timeless.seated()
    for _ in range(4):
        player.line("x" * (ACK_BYTES // 4))
    player.until(lambda: player.handled >= 3, "an ack for the bytes")
    seat.heard_lines(4)


def test_a_single_message_is_acknowledged_within_five_seconds(timeless, fault):
    player, seat = timeless.seated()
    player.line("look")
    seat.heard_lines(1)
    fault.jump(ACK_SECONDS)

    def is_handled():
        # A loop that sleeps does not see a clock that jumps; one that is asked does.
        listed(timeless.gate)
        player.receive(0.05)
        return player.handled == player.sent

    eventually(is_handled, "an ack")


def test_what_the_game_has_not_taken_is_not_acknowledged(evenings):
    evening = evenings(receive_buffer=4096)
    player, seat = evening.seated()
    player.line("first")
    player.until_handled()
    evening.game.attentive.clear()
    # More than what the sockets and the queue between gate and game hold.
    line = "x" * 60_000
    for _ in range(12):
        player.line(line)
    player.until(lambda: player.handled > 1, "an ack for what the game's socket took")
    player.drain(1)
    assert player.handled < player.sent
    evening.game.attentive.set()
    player.until_handled(within=60)
    assert seat.heard_lines(13) == ["first", *[line] * 12]


COUNTED = [
    '{"type":"gmcp","package":"Core.Ping"}',
    '{"type":"msdp","data":{"LIST":"COMMANDS"}}',
    '{"type":"something new","members":[1,2]}',
    '{"type":"gmcp","package":"1 wrong name"}',
    '{"type":"gmcp"}',
    '{"type":"gmcp","package":7}',
    '{"type":"msdp","data":"no object"}',
    '{"type":"msdp","data":{"A":"a\\u0001b"}}',
    '{"type":"session"}',
    '{"type":"ended"}',
]
UNCOUNTED = [
    '{"type":"ack","received":0}',
    '{"type":"ack","received":9000}',
    '{"type":"ack","received":-1}',
    '{"type":"ack","received":"many"}',
    '{"type":"ack"}',
    '{"type":"client"}',
    '{"type":"client","name":"PocketMUD","columns":80,"rows":24,"new member":{}}',
    '{"type":"client","name":7}',
    '{"type":"client","columns":"wide"}',
    '{"type":"client","terminal":"%s"}' % ("x" * 41),
]


@pytest.mark.parametrize("text", COUNTED)
@pytest.mark.quick
def test_what_counts(evening, text):
    player, seat = evening.seated()
    player.text(text)
    player.line("after")
    assert seat.heard_lines(1) == ["after"]
    player.lose()
    assert player.connect()["received"] == 2


@pytest.mark.parametrize("text", UNCOUNTED)
@pytest.mark.quick
def test_what_does_not_count_and_ends_nothing(evening, text):
    player, seat = evening.seated()
    player.wire.post(TEXT, text.encode())
    player.line("after")
    assert seat.heard_lines(1) == ["after"]
    player.lose()
    assert player.connect()["received"] == 1


LARGE = {"name": "x" * 40, "gmcp": ["y" * 40] * 12}  # 540 bytes of it would be kept
UNFIT = [
    ({"type": "gmcp"}, "gmcp_package"),
    ({"type": "gmcp", "package": "1 wrong name"}, "gmcp_package"),
    ({"type": "msdp", "data": "no object"}, "msdp_data"),
    ({"type": "msdp", "data": {}}, "msdp_data"),
    ({"type": "msdp", "data": {"A": "a\u0006b"}}, "msdp_data"),
    ({"type": "msdp", "data": {"A": [[[[[[[[["deep"]]]]]]]]]}}, "msdp_data"),
    ({"type": "ack"}, "ack_received"),
    ({"type": "client", "columns": "wide"}, "client_columns"),
    ({"type": "client", **LARGE}, "client_too_large"),
]


def left_out(gate, step):
    """What the gate says of one message that it has left out."""
    assert int(gate.event(event="message_left_out")["count"]) == 1
    assert [event["step"] for event in gate.events() if event.get("event") == "message_left_out"] == [step]
    shown = gate.command("stats", "--json")
    assert json.loads(shown.stdout)["sinceStart"]["messagesLeftOut"] == 1


@pytest.mark.parametrize("is_agreed", [False, True])
@pytest.mark.parametrize("message, step", UNFIT)
def test_what_is_left_out_is_logged_and_counted(evening, message, step, is_agreed):
    player, seat = evening.seated(client={})
    if is_agreed:
        for option in (GMCP, MSDP):
            seat.tell(WILL, option)
            seat.heard("do", option)
    player.wire.post(TEXT, json.dumps(message).encode())
    left_out(evening.gate, step)
    player.wire.post(BINARY, b"after\n")
    assert seat.heard_lines(1) == ["after"]
    assert seat.subnegotiations(MSDP) == []


@pytest.mark.parametrize("client, step", [(LARGE, "client_too_large"), ({"name": "Z\u00f6e"}, "client_name")])
def test_what_the_upgrade_says_and_is_left_out_is_logged(evening, client, step):
    """Of a new session, and of one that goes on."""
    player, seat = evening.seated(client=client)
    left_out(evening.gate, step)
    player.event(type="client", columns=100, rows=30)
    seat.tell(253, NAWS)
    eventually(lambda: seat.subnegotiations(NAWS) == [struct.pack(">HH", 100, 30)], "the size")
    player.lose()
    assert player.connect()["resumed"]
    eventually(
        lambda: [event["step"] for event in evening.gate.events() if event.get("event") == "message_left_out"]
        == [step] * 2,
        "a line of the second upgrade",
    )


MALFORMED = [
    "",
    "north",
    "[]",
    "7",
    '"text"',
    "null",
    "{",
    "{}",
    '{"type":"leave","type":"leave"}',
    '{"type":7}',
    '{"type":null}',
    '{"type":"ack","received":1}{}',
    '{"type":"gmcp","package":"A","data":' + "[" * 16 + "]" * 16 + "}",
]


@pytest.mark.parametrize("text", MALFORMED)
def test_malformed_text_counts_and_ends_the_connection_alone(evening, text):
    player, seat = evening.seated()
    player.line("before")
    player.text(text)
    lost = player.until_lost()
    assert lost.code == 4002
    assert player.events("closing")[-1]["code"] == 4002
    assert not seat.ended.is_set()
    told = evening.gate.event(event="session_detached")
    assert int(told["closeCode"]) == 4002 and told["reason"].startswith("message_"), told
    session = player.connect()
    assert session["resumed"] and session["received"] == 2
    player.line("after")
    assert seat.heard_lines(2) == ["before", "after"]


def test_depth_sixteen_is_deep_enough(evening):
    player, seat = evening.seated()
    seat.tell(WILL, GMCP)
    player.until(lambda: ("do", GMCP) in seat.said, "GMCP")
    # Fourteen lists in the object make fifteen levels.
    player.text('{"type":"gmcp","package":"Deep","data":' + "[" * 14 + "]" * 14 + "}")
    player.line("after")
    seat.heard_lines(1)
    assert b"Deep " + b"[" * 14 + b"]" * 14 in seat.subnegotiations(GMCP)


def test_text_that_is_not_utf8_is_1007_and_detaches(evening):
    player, seat = evening.seated()
    player._post_counted(TEXT, b'{"type":"\xff"}')
    assert player.until_lost().code == 1007
    assert not seat.ended.is_set()


def test_input_that_is_not_utf8_is_question_marks(evening):
    player, seat = evening.seated()
    player.send(b"a\xffb\n")
    player.send(b"caf\xc3")
    player.send(b"\xa9\n")
    assert seat.heard_lines(2) == ["a?b", "caf??"]


def test_a_message_is_taken_whole_or_not_at_all(evening):
    player, seat = evening.seated()
    wire = player.wire
    wire.send(frame(BINARY, b"half a ", fin=False))
    wire.post(9, b"a ping between")
    assert seat.received == b""
    wire.send(frame(0, b"message\n", fin=True))
    player.sent += 1
    assert seat.heard_lines(1) == ["half a message"]
    wire.send(frame(BINARY, b"never ", fin=False))
    wire.send(frame(0, b"whole", fin=True)[:-2])
    player.lose("fin")
    session = player.connect()
    assert session["received"] == 1
    player.line("next")
    assert seat.heard_lines(2) == ["half a message", "next"]


def test_a_message_too_large_is_1009_and_detaches(evenings):
    evening = evenings(WS_MAX_MESSAGE_BYTES="4KiB", WS_MAX_FRAME_BYTES="4KiB")
    player, seat = evening.seated()
    player.send("x" * 4096 + "")
    player.wire.post(BINARY, b"x" * 4097)
    lost = player.until_lost()
    assert lost.code == 1009 and player.events("closing")[-1]["code"] == 1009
    assert player.connect()["resumed"]
    eventually(lambda: seat.received == b"x" * 4096, "the message that fits")


def test_a_protocol_error_is_1002_and_detaches(evening):
    player, seat = evening.seated()
    player.wire.send(frame(BINARY, b"unmasked", masked=False))
    assert player.until_lost().code == 1002
    assert player.connect()["resumed"] and not seat.ended.is_set()


def test_an_event_in_fragments(evening):
    player, seat = evening.seated()
    seat.tell(WILL, GMCP)
    seat.heard("do", GMCP)
    payload = '{"type":"gmcp","package":"Char.Name","data":"Zoë"}'.encode()
    middle = payload.index("ë".encode()) + 1  # within the letter
    player.wire.send(frame(TEXT, payload[:5], fin=False))
    player.wire.send(frame(0, payload[5:middle], fin=False))
    player.wire.send(frame(0, payload[middle:]))
    eventually(lambda: 'Char.Name "Zoë"'.encode() in seat.subnegotiations(GMCP), "GMCP in one piece")


async def test_with_compression(evening, new_device):
    """By the websockets package, which compresses: nothing of the protocol changes."""
    gate = evening.gate
    device = gate.app.register(new_device())
    headers = device.headers(gate.app.nonce())
    async with connect(gate, headers, subprotocols=[VERSION_1], compression="deflate") as connection:
        session = json.loads(await connection.recv())
        assert connection.subprotocol == VERSION_1 and session["type"] == "session"
        seat = evening.game.seat()
        words = "the quick brown fox " * 2000
        seat.say(words)
        text = b""
        while len(text) < len(words):
            text += await connection.recv()
        assert text == words.encode()
        await connection.send(b"compressed " * 500 + b"\n")
        await eventually_async(lambda: seat.lines, "the input")
        assert seat.lines == ["compressed " * 500]


# ---- who the app is


def test_client_header_is_read_before_negotiation(evening):
    client = {"name": "PocketMUD", "version": "2.1", "columns": 100, "rows": 30}
    player, seat = evening.seated(client=client)
    seat.tell(253, 31)
    eventually(lambda: seat.subnegotiations(31), "the window's size at once")
    assert seat.subnegotiations(31) == [struct.pack(">HH", 100, 30)]


def client_header(text):
    return f"Portcullis-Client: {text}"


BAD_CLIENT_HEADERS = [
    [client_header("")],
    [client_header("not base64url!")],
    [client_header(base64url(b"{}") + "==")],
    [client_header(base64url(b"not json"))],
    [client_header(base64url(b"[]"))],
    [client_header(base64url(b"{}")), client_header(base64url(b"{}"))],
    [client_header(base64url(json.dumps({"name": "x", "filler": "y" * 1024}).encode()))],
]


@pytest.mark.parametrize("extra", BAD_CLIENT_HEADERS)
def test_bad_client_headers_are_400(evening, extra):
    player = evening.player(connect=False)
    with pytest.raises(Refused) as refused:
        player.connect(extra=extra)
    assert (refused.value.status, refused.value.code) == (400, "bad_request")
    evening.game.settle()
    assert evening.game.count == 0


# ---- how it ends


def test_the_apps_own_1000_ends_the_session(evening):
    player, seat = evening.seated()
    player.line("before")
    assert player.close(1000).code == 1000
    seat.gone()
    assert seat.lines == ["before"]
    session = player.connect()
    assert (session["resumed"], session["reason"]) == (False, "unknown")


@pytest.mark.parametrize("code", [1001, 1011, 3000, 4000, 4999, None])
def test_any_other_close_of_the_apps_detaches(evening, code):
    player, seat = evening.seated()
    player.close(code)
    assert player.connect()["resumed"]
    player.line("still here")
    assert seat.heard_lines(1) == ["still here"]
    assert evening.game.count == 1


def test_leave(evening):
    player, seat = evening.seated()
    player.line("before")
    player.leave()
    lost = player.until_lost()
    assert lost.code == 4000 and player.events("closing")[-1]["code"] == 4000
    assert not seat.ended.is_set()
    session = player.connect()
    assert session["resumed"] and session["received"] == 1


def test_a_1000_behind_leave_ends_nothing(evening):
    player, seat = evening.seated()
    player.leave()
    player.wire.post(CLOSE, close_payload(1000))
    player.until_lost()
    assert player.connect()["resumed"] and not seat.ended.is_set()


def test_the_game_closes(evenings):
    evening = evenings(greets, answers)
    player = evening.player()
    player.line("quit")
    assert player.until_lost().code == 1000
    assert player.ended == "game_closed"
    assert player.events("closing") == [{"type": "closing", "code": 1000, "reason": "ended"}]
    assert player.story()[-2:] == [
        ("text", f"{HELLO}Goodbye.\r\n".encode()),
        ("event", {"type": "ended", "reason": "game_closed"}),
    ]


def test_the_game_resets(evening):
    player, seat = evening.seated()
    player.line("look")
    seat.heard_lines(1)
    seat.reset()
    assert player.until_lost().code == 1000
    assert player.ended == "game_failed"


def test_an_incomplete_character_at_the_end_is_shown(evening):
    player, seat = evening.seated()
    seat.send("caf\xe9".encode("utf-8")[:-1])
    seat.close()
    player.until_lost()
    assert player.all_text == "caf\ufffd".encode() and player.ended == "game_closed"


def test_a_revoked_key_ends_it(evening):
    player, seat = evening.seated()
    done = evening.gate.command("keys", "revoke", player.device.key_id_b64)
    assert done.returncode == 0, done.stderr
    assert player.until_lost().code == 1000
    assert player.ended == "revoked"
    seat.gone()
    with pytest.raises(Refused) as refused:
        player.connect()
    assert (refused.value.status, refused.value.code) == (403, "key_revoked")


def test_a_newer_session_takes_the_place(evenings):
    evening = evenings(MAX_SESSIONS_PER_KEY="1")
    player, seat = evening.seated()
    evening.player(device=player.device)
    assert player.until_lost().code == 1000
    assert player.ended == "replaced"
    seat.gone()


def listed(gate):
    done = gate.command("sessions", "list", "--json")
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_an_operator_closes_it_by_its_number(evening):
    player, seat = evening.seated()
    other, _ = evening.seated()
    entries = listed(evening.gate)
    mine = next(entry for entry in entries if entry["keyId"] == player.device.key_id_b64)
    done = evening.gate.command("sessions", "close", str(mine["session"]))
    assert done.returncode == 0, done.stderr
    assert player.until_lost().code == 1000
    assert player.ended == "closed_by_operator"
    seat.gone()
    other.line("not I")
    assert evening.game.seat(1).heard_lines(1) == ["not I"]


def test_a_stop_ends_it(evening):
    player, seat = evening.seated()
    evening.gate.signal(signal.SIGTERM)
    assert player.until_lost().code == 1000
    assert player.ended == "shutdown"
    assert evening.gate.wait() == 0
    seat.gone()


def test_a_game_that_is_away_is_503_as_ever(gates, new_device):
    gate = gates("127.0.0.1:9")
    device = gate.app.register(new_device())
    fields = [f"{name}: {value}" for name, value in device.headers(gate.app.nonce()).items()]
    with Raw(gate) as client:
        client.send(head("GET", "/", *UPGRADE, f"Sec-WebSocket-Protocol: {VERSION_1}", *fields))
        assert client.reply().status == 503


def test_the_list_and_the_log(evening):
    player, seat = evening.seated()
    seat.say("hello\r\n")
    player.until_text("hello\r\n")
    (entry,) = listed(evening.gate)
    assert entry["state"] == "attached" and {"session", "since", "buffered"} <= entry.keys()
    number = entry["session"]
    player.lose()
    detached = evening.gate.event(event="session_detached")
    seat.say("in the meantime\r\n")

    def buffered():
        (now,) = listed(evening.gate)
        return now if now["state"] == "detached" and now["buffered"] > 0 else None

    entry = eventually(buffered, "a detached session that keeps something")
    assert entry["session"] == number
    ids = [player.id]
    player.connect()
    ids.append(player.id)
    resumed = evening.gate.event(event="session_resumed")
    assert {"waitedMs", "gap"} <= resumed.keys(), resumed
    (entry,) = listed(evening.gate)
    assert (entry["state"], entry["session"]) == ("attached", number)
    assert detached
    text = evening.gate.log_text()
    assert not [identifier for identifier in ids if identifier in text]
    assert "in the meantime" not in text


# ---- events


def test_echo_is_told_in_order(evening):
    player, seat = evening.seated()
    seat.send(b"Password: " + bytes([IAC, WILL, ECHO]))
    player.until_event("echo", on=True)
    player.line("secret")
    seat.heard_lines(1)
    seat.send(bytes([IAC, WONT, ECHO]) + b"Hello.\r\n")
    player.until_text("Hello.\r\n")
    assert player.story() == [
        ("text", b"Password: "),
        ("event", {"type": "echo", "on": True}),
        ("event", {"type": "echo", "on": False}),
        ("text", b"Hello.\r\n"),
    ]


def test_a_resumed_session_says_how_things_stand(evening):
    player, seat = evening.seated()
    seat.tell(WILL, ECHO)
    seat.tell(WILL, GMCP)
    player.until_event("echo", on=True)
    seat.heard("do", GMCP)
    player.lose()
    session = player.connect()
    assert (session["echo"], session["gmcp"], session["msdp"]) == (True, True, False)


def test_gmcp_goes_both_ways(evening):
    player, seat = evening.seated()
    seat.tell(WILL, GMCP)
    seat.heard("do", GMCP)
    seat.send(gmcp("Char.Vitals", {"hp": 17, "name": "Zoë"}))
    seat.send(gmcp("Core.Goodbye"))
    assert player.until_event("gmcp", package="Char.Vitals")["data"] == {"hp": 17, "name": "Zoë"}
    assert player.until_event("gmcp", package="Core.Goodbye") == {"type": "gmcp", "package": "Core.Goodbye"}
    player.event(type="gmcp", package="Core.Ping")
    player.event(type="gmcp", package="Char.Skills.Get", data={"group": "Ünarmed", "list": [1, 2.5, None]})
    player.line("after")
    seat.heard_lines(1)
    told = [payload.partition(b" ") for payload in seat.subnegotiations(GMCP)]
    assert (b"Core.Ping", b"", b"") in told
    skills = next(data for name, _, data in told if name == b"Char.Skills.Get")
    assert json.loads(skills) == {"group": "Ünarmed", "list": [1, 2.5, None]}


@pytest.mark.parametrize("charset", ["UTF-8", "windows-1251"])
def test_almost_json_of_a_game_is_an_object(evenings, charset):
    """GMCP is UTF-8 whatever charset the text has."""
    evening = evenings(GAME_CHARSET=charset)
    player, seat = evening.seated()
    seat.tell(WILL, GMCP)
    seat.heard("do", GMCP)
    seat.send(ALMOST_JSON + gmcp("Char.Name", {"name": "Zoë"}) + subnegotiation(GMCP, b"Char.Title \x1b[0m"))
    assert player.until_event("gmcp", package="room.info")["data"] == MEANT
    assert player.until_event("gmcp", package="Char.Name")["data"] == {"name": "Zoë"}
    assert player.until_event("gmcp", package="Char.Title")["data"] == "\x1b[0m"


def test_almost_json_of_an_app_is_malformed(evening):
    player, _ = evening.seated()
    player.text('{"type":"gmcp","package":"Core.X","data":"\x1b[0m"}')
    assert player.until_lost().code == 4002


def test_without_gmcp_agreed_nothing_of_it_goes_to_the_game(evening):
    player, seat = evening.seated()
    player.event(type="gmcp", package="Core.Ping")
    player.line("after")
    assert seat.heard_lines(1) == ["after"]
    assert seat.received == b"after\r\n"


def test_a_lost_connection_is_no_end(evening):
    _, seat = evening.seated()
    evening.players[0].lose()
    evening.gate.event(event="session_detached")
    assert not seat.ended.is_set()
