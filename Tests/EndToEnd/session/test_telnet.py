"""Telnet as the gate speaks it to a scripted game: RFC 854, 855, 1143 and the options, seen from both ends at once."""

import json
import random
import re
import struct
import threading
import time
import zlib

import pytest

from documents import pages
from telnet_game import (
    AYT,
    CHARSET,
    DO,
    DONT,
    ECHO,
    EOR,
    EOR_MARK,
    GA,
    GMCP,
    IAC,
    LINEMODE,
    MCCP2,
    MSDP,
    MSSP,
    MXP,
    NAWS,
    NEW_ENVIRON,
    NOP,
    SB,
    SE,
    SGA,
    TIMING_MARK,
    TTYPE,
    WILL,
    WONT,
    command,
    gmcp,
    msdp,
    subnegotiation,
)
from waiting import eventually

ASKED = {WILL: ("do", "dont"), DO: ("will", "wont")}
AGREED = [(WILL, ECHO), (WILL, EOR), (WILL, MSDP), (WILL, MSSP), (WILL, GMCP), (WILL, CHARSET)]
AGREED += [(DO, TTYPE), (DO, NAWS), (DO, NEW_ENVIRON), (DO, CHARSET), (DO, GMCP), (DO, MSDP)]
REFUSED = [(WILL, SGA), (WILL, MCCP2), (WILL, 85), (WILL, MXP), (WILL, 0), (WILL, 200), (WILL, 255)]
REFUSED += [(DO, LINEMODE), (DO, TIMING_MARK), (DO, 87), (DO, ECHO), (DO, 0), (DO, 93), (DO, 254), (DO, 255)]
MTTS_DEFAULT = 2701


@pytest.mark.parametrize("verb, option", AGREED)
def test_what_is_agreed_to(evening, verb, option):
    _, seat = evening.seated()
    seat.tell(verb, option)
    seat.heard(ASKED[verb][0], option)


@pytest.mark.parametrize("verb, option", REFUSED)
def test_what_is_refused_each_time(evening, verb, option):
    _, seat = evening.seated()
    for times in (1, 2, 3):
        seat.tell(verb, option)
        seat.heard(ASKED[verb][1], option, times=times)
    assert seat.received == command({"dont": DONT, "wont": WONT}[ASKED[verb][1]], option) * 3


def test_nothing_is_said_unasked(evening):
    player, seat = evening.seated()
    seat.say("hello\r\n")
    player.until_text("hello\r\n")
    player.line("hello")
    seat.heard_lines(1)
    assert seat.received == b"hello\r\n"


@pytest.mark.parametrize("verb, option", [(WONT, ECHO), (WONT, GMCP), (DONT, NAWS), (DONT, 200), (WONT, 200)])
def test_what_is_off_stays_off_without_a_word(evening, verb, option):
    player, seat = evening.seated()
    seat.tell(verb, option)
    player.line("x")
    seat.heard_lines(1)
    assert seat.received == b"x\r\n"


def test_what_is_on_can_be_ended(evening):
    player, seat = evening.seated()
    for verb, option, back, answer in ((WILL, GMCP, WONT, "dont"), (DO, NAWS, DONT, "wont")):
        seat.tell(verb, option)
        seat.heard(ASKED[verb][0], option)
        seat.tell(back, option)
        seat.heard(answer, option)


def test_sga_by_setting(evenings):
    evening = evenings(GAME_SGA="true")
    _, seat = evening.seated()
    seat.tell(WILL, SGA)
    seat.heard("do", SGA)


def test_a_repeated_question_is_answered_again_four_times_a_minute_at_most(evening):
    player, seat = evening.seated()
    for _ in range(12):
        seat.tell(WILL, GMCP)
    seat.tell(DO, TIMING_MARK)
    seat.heard("wont", TIMING_MARK)
    # The first is the agreement.
    assert seat.said.count(("do", GMCP)) == 5


def test_a_game_that_answers_everything_loops_with_nobody(evenings):
    """WILL for each DO and back: with a mute game strict clients stay mute, with this one careless ones never end."""

    def parrot(seat):
        seat.tell(WILL, GMCP)

    evening = evenings(greet=parrot)
    player, seat = evening.seated()
    opposite = {"do": WILL, "will": DO, "dont": WONT, "wont": DONT}
    answered = 0
    deadline = time.monotonic() + 1.5
    while time.monotonic() < deadline:
        for entry in seat.said[answered:]:
            answered += 1
            if entry[0] in opposite:
                seat.tell(opposite[entry[0]], entry[1])
        player.receive(0.02)
    assert answered < 30, seat.said
    player.line("still here")
    seat.heard_lines(1)


def test_a_game_that_asks_for_ever_is_refused_slowly_and_nobody_is_harmed(evening):
    player, seat = evening.seated()
    other, other_seat = evening.seated()
    begun = time.monotonic()
    seat.send(command(DO, 200) * 400 + b"behind it\r\n")
    other.line("hello")
    other_seat.heard_lines(1)
    player.until_text("behind it\r\n", within=60)
    spent = time.monotonic() - begun
    # The game has been told all of it before the player was, but reads for itself.
    eventually(lambda: seat.said.count(("wont", 200)) >= 400, "a refusal for each")
    refusals = seat.said.count(("wont", 200))
    assert refusals == 400
    assert refusals <= 64 * (spent + 1) + 64, f"{refusals} refusals in {spent} s"


def test_commands_without_a_meaning_here_have_no_effect(evening):
    player, seat = evening.seated()
    for verb in (NOP, 242, 243, 244, 245, AYT, 247, 248):
        seat.send(b"a" + bytes([IAC, verb]))
    seat.say("\r\n")
    player.until_text("\r\n")
    assert player.story() == [("text", b"a" * 8 + b"\r\n")]
    player.line("x")
    seat.heard_lines(1)
    assert seat.received == b"x\r\n"


# ---- text


@pytest.mark.parametrize(
    "sent, shown",
    [
        (b"a\r\nb", b"a\r\nb"),
        (b"a\r\0b", b"a\rb"),
        (b"\xff\xff", "\ufffd".encode()),
        (b"\x1b[1mbold\x1b[0m", b"\x1b[1mbold\x1b[0m"),
        ("日本語 🐉".encode(), "日本語 🐉".encode()),
        (b"\xe6\x97", "\ufffd".encode()),
        (b"\xc0\x80", "\ufffd\ufffd".encode()),
    ],
)
def test_text_however_it_is_cut(evening, sent, shown):
    for cut in range(len(sent) + 1):
        player, seat = evening.seated()
        seat.send(sent[:cut])
        # The first part has been read when this is answered.
        (
            seat.tell(DO, TIMING_MARK)
            if cut and IAC not in sent and max(sent) < 128 and b"\r" not in sent
            else None
        )
        seat.send(sent[cut:])
        seat.send(b"." + bytes([IAC, GA]))
        player.until_event("prompt")
        assert player.all_text == shown + b"."
        player.close()


def test_characters_wait_for_their_rest(evening):
    player, seat = evening.seated()
    whole = "日é🐉"
    for byte in whole.encode():
        seat.send(bytes([byte]))
    player.until_text(whole)
    assert player.all_text == whole.encode()


def test_an_incomplete_character_ends_with_a_prompt_or_an_event(evening):
    player, seat = evening.seated()
    seat.send(b"caf\xc3" + bytes([IAC, GA]) + b"\xa9\r\n")
    player.until_text("\r\n")
    assert player.story() == [
        ("text", "caf\ufffd".encode()),
        ("event", {"type": "prompt"}),
        ("text", "\ufffd\r\n".encode()),
    ]


@pytest.mark.parametrize("mark", [GA, EOR_MARK])
def test_prompts(evening, mark):
    player, seat = evening.seated()
    if mark == EOR_MARK:
        seat.tell(WILL, EOR)
        seat.heard("do", EOR)
    for number in range(3):
        seat.say(f"line {number}\r\n")
        seat.prompt(f"{number}> ", mark)
    player.until(lambda: len(player.events("prompt")) == 3, "three prompts")
    expected = []
    for number in range(3):
        expected += [("text", f"line {number}\r\n{number}> ".encode()), ("event", {"type": "prompt"})]
    assert player.story() == expected


def test_no_telnet_byte_reaches_the_player_whatever_comes(evening):
    """Random telnet, sound and broken: the player sees printable text and events, and the session lives."""
    for seed in range(20):
        source = random.Random(seed)
        player, seat = evening.seated()
        shown = bytearray()
        for _ in range(200):
            kind = source.random()
            if kind < 0.5:
                text = bytes(source.randrange(32, 127) for _ in range(source.randrange(1, 30)))
                shown += text
                seat.send(text)
            elif kind < 0.7:
                seat.send(bytes([IAC, source.choice([WILL, WONT, DO, DONT]), source.randrange(256)]))
            elif kind < 0.9:
                payload = bytes(source.randrange(255) for _ in range(source.randrange(20)))
                option = source.choice([TTYPE, NAWS, NEW_ENVIRON, CHARSET, MSDP, MSSP, GMCP, 0, 99])
                seat.send(bytes([IAC, SB, option]) + payload + bytes([IAC, SE]))
            else:
                seat.send(bytes([IAC, source.choice([NOP, AYT, 242, 243, 246, GA, EOR_MARK])]))
        seat.send(b"the end\r\n")
        player.until_text("the end\r\n", within=60)
        # U+FFFD may stand for what a charset agreed on in between could not read.
        assert player.all_text == bytes(shown) + b"the end\r\n", f"seed {seed}"
        player.line("still here")
        eventually(lambda seat=seat: seat.reading.data.endswith(b"still here\r\n"), "input")
        player.close()


def test_a_subnegotiation_that_is_broken_off_is_handled_as_a_command(evening):
    player, seat = evening.seated()
    seat.tell(WILL, GMCP)
    seat.heard("do", GMCP)
    seat.send(bytes([IAC, SB, GMCP]) + b"Char.Vitals {" + bytes([IAC, DO, TIMING_MARK]) + b"text\r\n")
    seat.heard("wont", TIMING_MARK)
    player.until_text("text\r\n")
    assert player.all_text == b"text\r\n" and not player.events("gmcp")


def test_a_subnegotiation_too_long_is_dropped(evening):
    player, seat = evening.seated()
    seat.tell(WILL, GMCP)
    seat.heard("do", GMCP)
    seat.send(gmcp("Char.Big", "x" * 70_000) + gmcp("Char.Small", 1) + b"text\r\n")
    player.until_text("text\r\n")
    assert [event["package"] for event in player.events("gmcp")] == ["Char.Small"]


@pytest.mark.parametrize(
    "sent, step",
    [
        (gmcp("Char.Big", "x" * 70_000), "subnegotiation_too_long"),
        # As JSON each of these bytes takes six.
        (subnegotiation(GMCP, b"Char.Big " + b"\x01" * 50_000), "event_too_large"),
        (bytes([IAC, SB, GMCP]) + b"Char.Vitals {" + bytes([IAC, NOP]), "subnegotiation_interrupted"),
        (subnegotiation(GMCP), "subnegotiation_malformed"),
        (subnegotiation(MSDP, b"no variable"), "subnegotiation_malformed"),
    ],
    ids=["too_long", "too_large", "interrupted", "without_a_name", "against_its_grammar"],
)
def test_what_of_the_games_is_left_out_is_logged_and_counted(evening, sent, step):
    player, seat = evening.seated()
    for option in (GMCP, MSDP):
        seat.tell(WILL, option)
        seat.heard("do", option)
    seat.send(sent + b"text\r\n")
    player.until_text("text\r\n")
    assert evening.gate.event(event="message_left_out")["step"] == step
    shown = evening.gate.command("stats", "--json")
    assert json.loads(shown.stdout)["sinceStart"]["messagesLeftOut"] == 1
    assert not player.events()


def test_255_in_input_is_doubled(evenings):
    """In windows-1251 я is byte 255."""
    evening = evenings(charset="windows-1251", GAME_CHARSET="windows-1251")
    player, seat = evening.seated()
    player.line("я устал")
    eventually(lambda: seat.received == b"\xff\xff \xf3\xf1\xf2\xe0\xeb\r\n", f"the input: {seat.received}")
    seat.say("я тоже\r\n")
    player.until_text("я тоже\r\n")


CHARSETS = {
    "UTF-8": "Zoë → 日本語 🐉",
    "US-ASCII": "plain text",
    "ISO-8859-1": "Zoë fährt",
    "ISO-8859-2": "żółć",
    "ISO-8859-3": "ĉĝĥĵŝŭ",
    "ISO-8859-4": "āčēģīķļ",
    "ISO-8859-5": "привет",
    "ISO-8859-6": "مرحبا",
    "ISO-8859-7": "γειά",
    "ISO-8859-8": "שלום",
    "ISO-8859-9": "ğüşiöç",
    "ISO-8859-10": "þðąĸŋ",
    "ISO-8859-11": "สวัสดี",
    "ISO-8859-13": "ąčęėįšųūž",
    "ISO-8859-14": "ŵŷẁḃ",
    "ISO-8859-15": "10 € œuvre",
    "ISO-8859-16": "șț",
    "windows-1250": "žluťoučký",
    "windows-1251": "я привет",
    "windows-1252": "“quoted”",
    "windows-1253": "γειά",
    "windows-1254": "ğüş",
    "windows-1255": "שלום",
    "windows-1256": "مرحبا",
    "windows-1257": "ąčę",
    "KOI8-R": "Привет ЪЯ",
    "KOI8-U": "їжак",
    "CP437": "╔═╗ é",
    "CP850": "ÀÇ",
    "CP866": "Привет ░",
    "GBK": "你好世界",
    "GB18030": "你好 🐉",
    "Big5": "你好",
    "EUC-JP": "こんにちは",
    "EUC-KR": "안녕하세요",
    "Shift_JIS": "こんにちは",
}


def documented_charsets():
    """Those of docs/settings.md, "The game's charset", with its ranges written out."""
    section = pages()["docs/settings.md"].partition("## The game's charset\n")[2].partition("\n## ")[0]
    listed = re.search(r"It knows (.*?),? by these names", " ".join(section.split()))[1]
    found, stem = [], ""
    for phrase in re.split(", | and ", listed):
        first, _, last = phrase.partition(" to -")
        if not last:
            found.append(first)
            continue
        name, _, start = first.rpartition("-")
        stem = name or stem
        found += [f"{stem}-{number}" for number in range(int(start), int(last) + 1)]
    return found


def test_each_charset_that_is_documented_is_tried():
    assert sorted(documented_charsets()) == sorted(CHARSETS)
    assert len(CHARSETS) == 36


@pytest.mark.parametrize("charset", CHARSETS)
def test_a_game_in_each_charset(evenings, charset):
    """With the sandbox raised, however the bytes are cut, both ways."""
    words = CHARSETS[charset]
    evening = evenings(charset=charset, GAME_CHARSET=charset)
    player, seat = evening.seated()
    for byte in f"{words}\r\n".encode(charset):
        seat.send(b"\xff\xff" if byte == 255 else bytes([byte]))
    player.until_text(f"{words}\r\n")
    assert player.all_text == f"{words}\r\n".encode()
    player.line(words)
    assert seat.heard_lines(1) == [words]
    player.line("no such character: \U0001f409\U0001f409" if charset not in ("UTF-8", "GB18030") else "??")
    assert seat.heard_lines(2)[1].endswith("??")


# ---- options


def asked(seat, option, payload=b"\x01"):
    """SB option SEND …, and the answer."""
    before = len(seat.subnegotiations(option))
    seat.send(subnegotiation(option, payload))
    eventually(lambda: len(seat.subnegotiations(option)) > before, f"an answer to SEND of {option}")
    return seat.subnegotiations(option)[before]


@pytest.mark.parametrize(
    "client, answers",
    [
        (None, [b"PORTCULLIS", b"XTERM-256COLOR", b"MTTS 2701", b"MTTS 2701"]),
        (
            {"name": "PocketMUD", "features": ["truecolor", "screen_reader"]},
            [b"PocketMUD", b"XTERM-TRUECOLOR", b"MTTS 3021", b"MTTS 3021"],
        ),
        (
            {"name": "PocketMUD", "terminal": "VT220"},
            [b"PocketMUD", b"VT220", b"MTTS 2701", b"MTTS 2701"],
        ),
    ],
)
def test_terminal_type_and_mtts(evening, client, answers):
    player, seat = evening.seated(client=client)
    seat.tell(DO, TTYPE)
    seat.heard("will", TTYPE)
    heard = [asked(seat, TTYPE) for _ in answers]
    assert [answer[:1] for answer in heard] == [b"\0"] * len(answers)
    assert [answer[1:].upper() for answer in heard] == [answer.upper() for answer in answers]
    assert player.wire


def test_mtts_without_utf8(evenings):
    evening = evenings(GAME_CHARSET="ISO-8859-1")
    _, seat = evening.seated(client={})
    seat.tell(DO, TTYPE)
    heard = [asked(seat, TTYPE) for _ in range(3)]
    assert heard[2] == b"\0MTTS %d" % (MTTS_DEFAULT - 4)


@pytest.mark.parametrize("name", ["", "x" * 41, "bad\u0007name", "naïve", "new\nline"])
def test_names_that_are_none(evening, name):
    player, seat = evening.seated()
    player.event(type="client", name=name)
    seat.tell(DO, TTYPE)
    assert asked(seat, TTYPE) == b"\0PORTCULLIS"


def test_the_terminals_name_waits_half_a_second_for_the_app(timeless):
    player, seat = timeless.seated()
    seat.tell(DO, TTYPE)
    player.event(type="client", name="PocketMUD")
    assert asked(seat, TTYPE) == b"\0PocketMUD"


def test_text_does_not_wait_for_the_app(timeless):
    player, seat = timeless.seated()
    seat.send(command(DO, TTYPE) + subnegotiation(TTYPE, b"\x01") + b"hello\r\n")
    player.until_text("hello\r\n")


def test_window_size_now_and_later(evening):
    player, seat = evening.seated(client={"columns": 80, "rows": 24})
    seat.tell(DO, NAWS)
    eventually(lambda: seat.subnegotiations(NAWS) == [struct.pack(">HH", 80, 24)], "the size")
    for columns, rows in ((255, 255), (100, 40), (65535, 1)):
        player.event(type="client", columns=columns, rows=rows)
        wanted = struct.pack(">HH", columns, rows)
        eventually(lambda wanted=wanted: seat.subnegotiations(NAWS)[-1] == wanted, f"NAWS {columns}")
    assert b"\xff\xff" in seat.received
    told = len(seat.subnegotiations(NAWS))
    player.event(type="client", columns=65535, rows=1)
    player.line("x")
    seat.heard_lines(1)
    assert len(seat.subnegotiations(NAWS)) == told, "what did not change is not said again"


def test_no_size_is_said_where_none_is_known(evening):
    player, seat = evening.seated(client={})
    seat.tell(DO, NAWS)
    seat.heard("will", NAWS)
    player.line("x")
    seat.heard_lines(1)
    assert seat.subnegotiations(NAWS) == []


def environment(seat, *names):
    """What NEW-ENVIRON answers to SEND of `names` (b"\\0" or b"\\3" before each), in pieces of (kind and name, value)."""
    answer = asked(seat, NEW_ENVIRON, b"\x01" + b"".join(names))
    assert answer[:1] == b"\0"
    found, rest = [], answer[1:]
    while rest:
        ends = [rest.find(mark, 1) for mark in (b"\0", b"\3") if rest.find(mark, 1) > 0]
        end = min(ends, default=len(rest))
        name, valued, value = rest[:end].partition(b"\1")
        found.append((name, value if valued else None))
        rest = rest[end:]
    return found


def test_the_environment(evening):
    client = {"name": "PocketMUD", "version": "2.1", "terminal": "ANSI"}
    player, seat = evening.seated(client=client)
    seat.tell(DO, NEW_ENVIRON)
    seat.heard("will", NEW_ENVIRON)
    names = [
        b"\0MTTS",
        b"\0CLIENT_NAME",
        b"\0IPADDRESS",
        b"\0NOBODY",
        b"\0CLIENT_VERSION",
        b"\0TERMINAL_TYPE",
    ]
    names += [b"\0CHARSET", b"\0CLIENT_STATE", b"\3IPADDRESS", b"\0PORTCULLIS_DEVICE"]
    assert environment(seat, *names) == [
        (b"\0MTTS", b"2701"),
        (b"\0CLIENT_NAME", b"PocketMUD"),
        (b"\0IPADDRESS", b"127.0.0.1"),
        (b"\0NOBODY", None),
        (b"\0CLIENT_VERSION", b"2.1"),
        (b"\0TERMINAL_TYPE", b"ANSI"),
        (b"\0CHARSET", b"UTF-8"),
        (b"\0CLIENT_STATE", b"attached"),
        (b"\3IPADDRESS", None),
        (b"\0PORTCULLIS_DEVICE", None),
    ]
    assert player.wire


def test_the_device_has_a_name_that_lasts_and_is_not_its_key(evening):
    device = evening.device()
    seen = []
    for owner in (device, device, evening.device()):
        player, seat = evening.seated(device=owner)
        seat.tell(DO, NEW_ENVIRON)
        ((_, value),) = environment(seat, b"\3PORTCULLIS_DEVICE")
        seen.append(value)
        player.close()
    assert seen[0] == seen[1] != seen[2]
    assert len(seen[0]) == 22 and seen[0].decode() not in device.key_id_b64
    found = evening.gate.command("keys", "find", "--pseudonym", seen[0].decode())
    assert found.returncode == 0 and device.key_id_b64 in found.stdout


def test_the_address_behind_a_proxy_is_the_real_one(evenings):
    evening = evenings(TRUSTED_PROXIES="127.0.0.1/32")
    player = evening.player(connect=False)
    player.connect(extra=["X-Forwarded-For: 203.0.113.9"])
    seat = evening.game.seat()
    seat.tell(DO, NEW_ENVIRON)
    assert environment(seat, b"\0IPADDRESS") == [(b"\0IPADDRESS", b"203.0.113.9")]


@pytest.mark.parametrize(
    "offer, answer",
    [
        (b"\x01;UTF-8", b"\x02UTF-8"),
        (b"\x01;ISO-8859-1;UTF-8", b"\x02UTF-8"),
        (b"\x01 KOI8-R ISO-8859-1", b"\x02KOI8-R"),
        (b"\x01;X-NOBODY;utf-8", b"\x02utf-8"),
        (b"\x01;X-NOBODY", b"\x03"),
        (b"\x01", b"\x03"),
    ],
)
def test_charset_negotiation(evening, offer, answer):
    _, seat = evening.seated()
    seat.tell(WILL, CHARSET)
    seat.heard("do", CHARSET)
    assert asked(seat, CHARSET, offer).upper() == answer.upper()


def test_the_decoder_follows_the_charset_agreed_on(evening):
    player, seat = evening.seated()
    seat.say("Zoë\r\n")
    seat.tell(WILL, CHARSET)
    asked(seat, CHARSET, b"\x01;ISO-8859-1")
    seat.send("Zoë\r\n".encode("latin-1"))
    player.until(lambda: player.all_text.count(b"\n") == 2, "two lines")
    assert player.all_text == "Zoë\r\nZoë\r\n".encode()
    player.line("Zoë")
    eventually(lambda: seat.reading.data.endswith("Zoë\r\n".encode("latin-1")), "input in ISO-8859-1")


@pytest.mark.parametrize("ask", [WILL, DO])
def test_gmcp_hello_and_supports(evening, ask):
    client = {"name": "PocketMUD", "version": "2.1", "gmcp": ["Char 1", "Room 1"]}
    player, seat = evening.seated(client=client)
    seat.tell(ask, GMCP)
    eventually(lambda: len(seat.subnegotiations(GMCP)) >= 2, "Core.Hello and Core.Supports.Set")
    told = [payload.partition(b" ") for payload in seat.subnegotiations(GMCP)]
    assert [name for name, _, _ in told] == [b"Core.Hello", b"Core.Supports.Set"]
    assert json.loads(told[0][2]) == {"client": "PocketMUD", "version": "2.1"}
    assert json.loads(told[1][2]) == ["Char 1", "Room 1"]
    player.event(type="client", gmcp=["Char 1"])
    eventually(lambda: len(seat.subnegotiations(GMCP)) == 3, "the changed list")
    assert json.loads(seat.subnegotiations(GMCP)[2].partition(b" ")[2]) == ["Char 1"]


@pytest.mark.parametrize(
    "payload, event",
    [
        (b'Char.Vitals {"hp":1}', {"package": "Char.Vitals", "data": {"hp": 1}}),
        (b"Core.Goodbye", {"package": "Core.Goodbye"}),
        (b"Core.Goodbye ", {"package": "Core.Goodbye"}),
        (b"Core.Ping null", {"package": "Core.Ping", "data": None}),
        (b'Room.Name "Caf\xc3\xa9"', {"package": "Room.Name", "data": "Café"}),
        (b"Room.Name plain words", {"package": "Room.Name", "data": "plain words"}),
        (b"Room.Exits [1, 2", {"package": "Room.Exits", "data": "[1, 2"}),
    ],
)
def test_gmcp_events(evening, payload, event):
    player, seat = evening.seated()
    seat.tell(WILL, GMCP)
    seat.heard("do", GMCP)
    seat.send(subnegotiation(GMCP, payload))
    assert player.until_event("gmcp") == {"type": "gmcp", **event}


def test_gmcp_is_always_utf8(evenings):
    evening = evenings(charset="ISO-8859-1", GAME_CHARSET="ISO-8859-1")
    player, seat = evening.seated()
    seat.tell(WILL, GMCP)
    seat.heard("do", GMCP)
    seat.send(gmcp("Char.Name", "Zoë"))
    assert player.until_event("gmcp")["data"] == "Zoë"
    player.event(type="gmcp", package="Char.Name", data="Zoë")
    eventually(lambda: 'Char.Name "Zoë"'.encode() in seat.subnegotiations(GMCP), "GMCP in UTF-8")


@pytest.mark.parametrize(
    "sent, data",
    [
        (b"\x01HEALTH\x0290", {"HEALTH": "90"}),
        (b"\x01A\x02b\x01C\x02", {"A": "b", "C": ""}),
        (b"\x01A\x021\x022\x023", {"A": ["1", "2", "3"]}),
        (b"\x01A\x02\x05\x021\x022\x06", {"A": ["1", "2"]}),
        (b"\x01A\x02\x03\x01B\x02\x05\x02x\x06\x01C\x02y\x04", {"A": {"B": ["x"], "C": "y"}}),
    ],
)
def test_msdp_events(evening, sent, data):
    player, seat = evening.seated()
    seat.tell(WILL, MSDP)
    seat.heard("do", MSDP)
    seat.send(subnegotiation(MSDP, sent))
    assert player.until_event("msdp") == {"type": "msdp", "data": data}


def test_msdp_to_the_game(evening):
    player, seat = evening.seated()
    seat.tell(WILL, MSDP)
    seat.heard("do", MSDP)
    player.event(type="msdp", data={"LIST": "COMMANDS"})
    player.event(type="msdp", data={"REPORT": ["HEALTH", "MANA"], "SET": {"A": "b"}})
    player.line("x")
    seat.heard_lines(1)
    assert seat.subnegotiations(MSDP) == [
        b"\x01LIST\x02COMMANDS",
        b"\x01REPORT\x02\x05\x02HEALTH\x02MANA\x06\x01SET\x02\x03\x01A\x02b\x04",
    ]


def test_msdp_too_deep_is_no_event(evening):
    player, seat = evening.seated()
    seat.tell(WILL, MSDP)
    seat.heard("do", MSDP)
    value = "x"
    for _ in range(9):
        value = {"A": value}
    seat.send(msdp("DEEP", value) + msdp("FLAT", "y") + b"end\r\n")
    player.until_text("end\r\n")
    assert [event["data"] for event in player.events("msdp")] == [{"FLAT": "y"}]


def test_mssp(evening):
    player, seat = evening.seated()
    seat.tell(WILL, MSSP)
    seat.heard("do", MSSP)
    seat.send(subnegotiation(MSSP, b"\x01NAME\x02The Neighbour\x01PORT\x024000\x024001\x01IP\x02"))
    event = player.until_event("mssp")
    assert event["data"] == {"NAME": "The Neighbour", "PORT": ["4000", "4001"], "IP": ""}


def compressed_seat(evenings, **changes):
    evening = evenings(GAME_COMPRESSION="mccp2", **changes)
    player, seat = evening.seated()
    seat.tell(WILL, MCCP2)
    seat.heard("do", MCCP2)
    return player, seat, zlib.compressobj()


def test_compression_is_refused_by_default_and_inflated_by_setting(evenings):
    player, seat, stream = compressed_seat(evenings)
    text = b"".join(b"line %d\r\n" % number for number in range(2000))
    plain = b"plain\r\n" + bytes([IAC, SB, MCCP2, IAC, SE])
    seat.send(plain + stream.compress(text) + stream.flush(zlib.Z_SYNC_FLUSH))
    player.until_text("line 1999\r\n")
    seat.send(stream.compress(gmcp("A.B")[:3] + command(DO, TIMING_MARK)) + stream.flush(zlib.Z_SYNC_FLUSH))
    player.line("input is not compressed")
    seat.heard_lines(1)
    assert player.all_text == b"plain\r\n" + text


def test_compression_may_end(evenings):
    player, seat, stream = compressed_seat(evenings)
    seat.send(
        bytes([IAC, SB, MCCP2, IAC, SE]) + stream.compress(b"inside\r\n") + stream.flush() + b"outside\r\n"
    )
    player.until_text("outside\r\n")
    assert player.all_text == b"inside\r\noutside\r\n"


def test_a_damaged_stream_ends_the_leg_and_says_so(evenings):
    player, seat, stream = compressed_seat(evenings)
    good = stream.compress(b"inside\r\n") + stream.flush(zlib.Z_SYNC_FLUSH)
    seat.send(bytes([IAC, SB, MCCP2, IAC, SE]) + good + b"\xff" * 64)
    assert player.until_lost().code == 1000
    assert player.ended == "game_failed"
    assert player.all_text == b"inside\r\n"
    seat.gone()
    told = player.gate.event(event="session_ended")
    assert (told["reason"], told["detail"]) == ("game_failed", "the compressed stream is damaged"), told


def test_a_bomb_is_played_out_in_order_and_costs_no_memory(evenings):
    player, seat, stream = compressed_seat(evenings)
    gate = player.gate
    before = gate.resident_bytes()
    # Numbered, so that what is left out or comes too early is seen.
    lines = b"".join(b"%06d" % number + b"x" * 1016 + b"\r\n" for number in range(64 * 1024))
    bomb = stream.compress(lines) + stream.flush(zlib.Z_SYNC_FLUSH)
    assert len(bomb) < len(lines) // 50
    # More than the kernel keeps for somebody who reads a piece at a time.
    sent = bytes([IAC, SB, MCCP2, IAC, SE]) + bomb
    threading.Thread(target=seat.send, args=(sent,), daemon=True).start()
    player.until(lambda: len(player.record) >= 50, "the first of it", within=60)
    assert lines.startswith(player.all_text) and len(player.all_text) > 256 * 1024
    assert gate.resident_bytes() - before < 8 * 1024 * 1024


def test_keepalive_by_setting(evenings):
    evening = evenings(GAME_KEEPALIVE="1s")
    player, seat = evening.seated()
    seat.heard("command", NOP)
    player.lose()
    evening.gate.event(event="session_detached")
    told = seat.said.count(("command", NOP))
    seat.heard("command", NOP, times=told + 1)


def test_seeded_conversations_are_the_same_on_both_ends(evening):
    """Text, prompts and GMCP in any order and cut anywhere: the app's account is the game's."""
    for seed in range(10):
        source = random.Random(seed)
        player, seat = evening.seated()
        seat.tell(WILL, GMCP)
        seat.heard("do", GMCP)
        story, wire = [], bytearray()
        for number in range(60):
            kind = source.random()
            if kind < 0.6:
                text = source.choice(["word ", "Zoë ", "日本 ", "🐉", "\r\n", "\x1b[31m"]) * source.randrange(
                    1, 9
                )
                if story and story[-1][0] == "text":
                    story[-1] = ("text", story[-1][1] + text.encode())
                else:
                    story.append(("text", text.encode()))
                wire += text.encode()
            elif kind < 0.8:
                story.append(("event", {"type": "prompt"}))
                wire += bytes([IAC, GA])
            else:
                story.append(("event", {"type": "gmcp", "package": "Seed.Number", "data": number}))
                wire += gmcp("Seed.Number", number)
        wire += bytes([IAC, GA])
        story.append(("event", {"type": "prompt"}))
        while wire:
            count = source.choice([1, 2, 3, 10, 100, 1000])
            seat.send(bytes(wire[:count]))
            del wire[:count]
        prompts = sum(what == ("event", {"type": "prompt"}) for what in story)
        player.until(lambda: len(player.events("prompt")) == prompts, "the whole conversation")
        assert player.story() == story, f"seed {seed}"
        player.close()
