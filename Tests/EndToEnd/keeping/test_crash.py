"""kill -9: the character stays in the game, nothing typed is doubled, and what may be missing is said.

Where it matters at which call the gate dies, the shim holds that call, and the kill comes while it waits."""

import time

import pytest

from faults import AFTER_READ, AFTER_WRITE, BEFORE_READ, BEFORE_WRITE
from sessions import Refused, Wire
from telnet_game import (
    DO,
    ECHO,
    GMCP,
    IAC,
    NAWS,
    SB,
    SE,
    SEND,
    TIMING_MARK,
    TTYPE,
    WILL,
    command,
    gmcp,
    subnegotiation,
)
from waiting import LONG, eventually, patience


@pytest.fixture
def held(kept_evenings, fault):
    """An evening whose reads from the game and writes to it can be held."""
    return kept_evenings(**fault.environment)


def killed_at(evening, fault):
    """The kill, while a call is held."""
    eventually(lambda: fault.legs_held == 1, "a call held")
    evening.store.kill()
    fault.let_legs_go()
    fault.leg_takes(evening.game.port, None)
    evening._away(crashed=True)


# ---- the leg, and what is said


def test_the_character_stays_in_the_game(kept):
    player, seat = kept.seated()
    seat.say("before\r\n")
    player.until_text("before\r\n")
    player.line("one")
    seat.heard_lines(1)
    player.until_handled()
    kept.kill_and_start()
    session, gap = kept.back_after_a_kill(player)
    assert session["received"] == 1 and "doubt" not in session
    assert gap["next"] == 2 and gap["messages"] in (0, None)
    seat.say("after\r\n")
    player.until_text("after\r\n")
    player.line("two")
    assert seat.heard_lines(2) == ["one", "two"]
    assert player.all_text == b"before\r\nafter\r\n"
    assert kept.game.count == 1 and not seat.ended.is_set()
    player.until_handled()


def test_what_the_game_says_while_no_gate_is_there(kept):
    player, seat = kept.seated()
    kept.kill()
    for number in range(100):
        seat.say(f"line {number}\r\n")
    kept.store.start()
    kept.back_after_a_kill(player)
    player.until_text("line 99\r\n")
    assert player.all_text == "".join(f"line {number}\r\n" for number in range(100)).encode()


def test_an_idle_gate_loses_nothing_and_says_a_number(kept):
    """Nothing was under way: the gap has a number, and it is none."""
    player, seat = kept.seated()
    seat.say("all is quiet\r\n")
    player.until_text("all is quiet\r\n")
    player.acknowledge()
    player.line("x")
    seat.heard_lines(1)
    player.until_handled()
    kept.kill_and_start()
    _, gap = kept.back_after_a_kill(player)
    assert (gap["messages"], gap["next"]) == (0, 2)


def test_messages_that_the_app_never_got_are_counted(kept):
    player, seat = kept.seated(acks=False)
    for number in range(5):
        seat.say(f"line {number}\r\n")
        player.until_text(f"line {number}\r\n")
    total = player.received
    kept.kill_and_start()
    # As an app that had got none but the first.
    player.received = 1
    _, gap = kept.back_after_a_kill(player)
    assert gap["next"] == total + 1 and gap["messages"] in (total - 1, None)


def test_kills_in_a_row_before_anybody_comes_back(kept):
    player, seat = kept.seated()
    for number in range(4):
        kept.kill_and_start()
        seat.say(f"{number}\r\n")
        # Its first event is over: of that the gate would seem to have died.
        seat.tell(DO, TIMING_MARK)
        seat.heard("wont", TIMING_MARK, times=number + 1)
        kept.rested()
    kept.back_after_a_kill(player)
    player.line("still here")
    assert seat.heard_lines(1) == ["still here"]
    seat.say("the last\r\n")
    player.until_text("the last\r\n")


def test_a_session_without_its_app_is_kept_too(kept):
    player, seat = kept.seated()
    seat.say("a\r\n")
    player.until_text("a\r\n")
    player.lose()
    kept.gate.event(event="session_detached")
    seat.say("b\r\n")
    kept.kill_and_start()
    seat.say("c\r\n")
    session, gap = kept.back_after_a_kill(player)
    player.until_text("c\r\n")
    # b was read or not: it is there, or it is in the gap.
    assert player.all_text == b"a\r\nb\r\nc\r\n" or (
        player.all_text == b"a\r\nc\r\n" and gap["messages"] in (1, None)
    )


def test_both_ids_are_kept_while_the_answer_may_be_lost(kept):
    player, seat = kept.seated()
    named = player.id
    player.lose()
    kept.gate.event(event="session_detached")
    # Its answer gets lost: nothing is said on the new connection.
    wire = Wire(kept.gate, player.fields())
    assert b'"resumed":true' in wire.message(patience(LONG))[1].replace(b" ", b"")
    wire.lose()
    kept.kill_and_start()
    assert player.id == named
    kept.back_after_a_kill(player)
    player.line("still here")
    assert seat.heard_lines(1) == ["still here"]


def test_several_players_and_loops(kept_evenings):
    evening = kept_evenings(WORKERS="3")
    players = [evening.seated() for _ in range(12)]
    for round_ in range(3):
        evening.kill_and_start()
        for number, (player, seat) in enumerate(players):
            evening.back_after_a_kill(player)
            player.line(f"{number} {round_}")
            seat.say(f"{number} {round_}\r\n")
        for number, (player, seat) in enumerate(players):
            player.until_text(f"{number} {round_}\r\n")
            assert seat.heard_lines(round_ + 1)[-1] == f"{number} {round_}"
    assert evening.game.count == 12


# ---- at which call


def test_killed_before_a_write_the_message_is_in_doubt(held, fault):
    """It never reaches the game, as nobody can know that, and it is not sent again: missing, and said."""
    player, seat = held.seated()
    player.line("one")
    seat.heard_lines(1)
    player.until_handled()
    fault.hold_leg(held.game.port, BEFORE_WRITE)
    player.line("two")
    killed_at(held, fault)
    held.store.start()
    session, _ = held.back_after_a_kill(player)
    assert (session["received"], session["doubt"]) == (2, 1)
    player.line("three")
    assert seat.heard_lines(2) == ["one", "three"]
    player.until_handled()


def test_killed_behind_a_write_the_message_is_in_doubt_and_not_doubled(held, fault):
    player, seat = held.seated()
    fault.hold_leg(held.game.port, AFTER_WRITE)
    player.line("one")
    seat.heard_lines(1)
    killed_at(held, fault)
    held.store.start()
    session, _ = held.back_after_a_kill(player)
    assert (session["received"], session["doubt"]) == (1, 1)
    player.line("two")
    assert seat.heard_lines(2) == ["one", "two"]


def test_a_doubt_is_said_once(held, fault):
    player, seat = held.seated()
    fault.hold_leg(held.game.port, AFTER_WRITE)
    player.line("one")
    seat.heard_lines(1)
    killed_at(held, fault)
    held.store.start()
    session, _ = held.back_after_a_kill(player)
    assert session["doubt"] == 1
    # Once the app has spoken, it has had the answer.
    player.line("two")
    seat.heard_lines(2)
    player.lose()
    held.gate.event(event="session_detached")
    assert "doubt" not in held.back(player)
    held.kill_and_start()
    session, _ = held.back_after_a_kill(player)
    assert "doubt" not in session and session["received"] == 2


def test_a_doubt_that_nobody_heard_of_outlives_the_next_kill(held, fault):
    player, seat = held.seated()
    fault.hold_leg(held.game.port, BEFORE_WRITE)
    player.line("one")
    killed_at(held, fault)
    held.store.start()
    held.kill_and_start()
    session, _ = held.back_after_a_kill(player)
    assert (session["received"], session["doubt"]) == (1, 1)


def test_killed_before_a_read_the_text_is_still_there(held, fault):
    player, seat = held.seated()
    fault.hold_leg(held.game.port, BEFORE_READ)
    seat.say("a\r\n")
    killed_at(held, fault)
    held.store.start()
    _, gap = held.back_after_a_kill(player)
    assert gap["messages"] in (0, None) and gap["next"] == 1
    player.until_text("a\r\n")


def test_killed_behind_a_read_the_gap_has_no_number(held, fault):
    player, seat = held.seated()
    fault.hold_leg(held.game.port, AFTER_READ)
    seat.say("a\r\n")
    killed_at(held, fault)
    held.store.start()
    _, gap = held.back_after_a_kill(player)
    assert gap["messages"] is None
    seat.say("b\r\n")
    player.until_text("b\r\n")
    assert player.all_text == b"b\r\n"


# ---- what waits for the game


def test_what_the_game_did_not_take_is_sent_again_and_not_doubled(held, fault):
    """Messages that were only queued are none of the handled ones."""
    player, seat = held.seated()
    player.line("taken")
    seat.heard_lines(1)
    player.until_handled()
    fault.leg_takes(held.game.port, 0)
    for number in range(20):
        player.line(f"queued {number}")
    eventually(lambda: fault.leg_writes, "a try to write")
    player.drain()
    held.kill()
    fault.leg_takes(held.game.port, None)
    held.store.start()
    session, _ = held.back_after_a_kill(player)
    # Up to one write may have been under way.
    doubt = session.get("doubt", 0)
    assert session["received"] == 1 + doubt
    lines = seat.heard_lines(21 - doubt)
    assert lines == ["taken"] + [f"queued {number}" for number in range(doubt, 20)]
    player.until_handled()


def test_a_message_that_was_half_taken_goes_on_where_it_stopped(kept_evenings):
    """Its first bytes are at the game for good: the rest follows, from the slot."""
    evening = kept_evenings(receive_buffer=4096)
    player, seat = evening.seated()
    lines = [f"{number:06} look at the door again, the one behind the curtain" for number in range(8_000)]
    evening.fill(player, seat, lines)
    evening.kill_and_start()
    session, _ = evening.back_after_a_kill(player)
    assert "doubt" not in session
    evening.game.attentive.set()
    player.until_handled(within=60)
    assert seat.heard_lines(1 + len(lines)) == ["first", *lines]


def test_a_long_message_that_was_half_taken_is_never_glued_to_another(kept_evenings):
    """The slot has no room for its rest. The session ends, or the game gets the whole of it; a mixture it does not get."""
    evening = kept_evenings(receive_buffer=4096)
    player, seat = evening.seated()
    lines = [f"{number:06} {'x' * 9000}" for number in range(80)]
    evening.fill(player, seat, lines)
    evening.kill_and_start()
    session = player.connect()
    evening.game.attentive.set()
    player.line("look")
    if session["resumed"]:
        assert seat.heard_lines(2 + len(lines)) == ["first", *lines, "look"]
    else:
        seat.gone()
        assert evening.game.seat(1).heard_lines(1) == ["look"]
        assert seat.lines == ["first", *lines][: len(seat.lines)]


def test_killed_while_the_rest_of_a_message_is_written(held, fault):
    """The kernel knows how much of it the game has: the rest follows, once, and nothing is in doubt."""
    player, seat = held.seated()
    fault.leg_takes(held.game.port, 4)
    fault.hold_leg(held.game.port, BEFORE_WRITE, number=2)
    player.line("open door")
    eventually(lambda: seat.received == b"open", "half of a message")
    eventually(lambda: fault.legs_held == 1, "a call held")
    fault.leg_takes(held.game.port, None)
    killed_at(held, fault)
    held.store.start()
    session, _ = held.back_after_a_kill(player)
    assert session["received"] == 1 and "doubt" not in session
    player.line("look")
    assert seat.heard_lines(2) == ["open door", "look"]
    player.until_handled()


def test_killed_behind_half_a_message_nothing_is_glued_to_it(held, fault):
    """Its rest was noted nowhere: the session ends, and what is typed next is another session's."""
    player, seat = held.seated()
    player.line("one")
    seat.heard_lines(1)
    player.until_handled()
    fault.leg_takes(held.game.port, 4)
    fault.hold_leg(held.game.port, AFTER_WRITE)
    player.line("open door")
    eventually(lambda: seat.received.endswith(b"open"), "half of a message")
    killed_at(held, fault)
    held.store.start()
    assert player.connect()["resumed"] is False
    player.line("look")
    seat.gone()
    assert seat.received == b"one\r\nopen"
    assert held.game.seat(1).heard_lines(1) == ["look"]


def test_input_that_came_and_was_not_taken(kept):
    """Sent into the kill: what the gate never counted comes again from the app."""
    player, seat = kept.seated()
    player.line("one")
    seat.heard_lines(1)
    kept.store.kill()
    for number in range(5):
        player.sent += 1
        player.unhandled.append((player.sent, 2, f"into the void {number}\n".encode()))
    kept._away(crashed=True)
    kept.store.start()
    kept.back_after_a_kill(player)
    assert seat.heard_lines(6) == ["one"] + [f"into the void {number}" for number in range(5)]


# ---- in the midst of something


EVENT = gmcp("Char.Vitals", {"hp": 1, "word": "\xff ü"})


@pytest.mark.parametrize("split", [1, 2, 3, 10, len(EVENT) - 2, len(EVENT) - 1])
def test_a_subnegotiation_that_a_kill_cuts_is_dropped(kept, split):
    """Its end comes to the next process, and none of it is taken for text."""
    player, seat = kept.seated()
    seat.tell(WILL, GMCP)
    seat.heard("do", GMCP)
    seat.say("before\r\n")
    seat.send(EVENT[:split])
    player.until_text("before\r\n")
    kept.taken_in(seat)
    kept.kill_and_start()
    seat.send(EVENT[split:])
    seat.say("after\r\n")
    session, gap = kept.back_after_a_kill(player)
    assert session["gmcp"] is True
    player.until_text("after\r\n")
    assert player.all_text == b"before\r\nafter\r\n"
    told = [event for event in player.events("gmcp") if not event.get("again")]
    # Whole, or missing and said to be.
    if told:
        assert [event["data"] for event in told] == [{"hp": 1, "word": "\xff ü"}]
    else:
        assert gap["messages"] != 0


@pytest.mark.parametrize("rest", [command(WILL, ECHO), bytes([IAC, IAC]), bytes([IAC, 241])])
@pytest.mark.parametrize("split", [1, 2])
def test_a_command_that_a_kill_cuts(kept_evenings, rest, split):
    evening = kept_evenings(charset="iso-8859-1", GAME_CHARSET="ISO-8859-1")
    player, seat = evening.seated()
    seat.say("before ")
    seat.send(rest[:split])
    player.until_text("before ")
    evening.taken_in(seat)
    evening.kill_and_start()
    seat.send(rest[split:])
    seat.say("after\r\n")
    evening.back_after_a_kill(player)
    player.until_text("after\r\n")
    letter = "\xff" if rest[1] == IAC else ""
    assert player.all_text.decode() == f"before {letter}after\r\n"
    if rest[1] == WILL:
        player.until_event("echo", on=True)
        seat.heard("do", ECHO)


@pytest.mark.parametrize(
    "charset, name", [("utf-8", "UTF-8"), ("gb18030", "GB18030"), ("shift_jis", "Shift_JIS"), ("euc-jp", "EUC-JP")]
)
def test_a_character_that_a_kill_cuts_is_whole(kept_evenings, charset, name):
    evening = kept_evenings(charset=charset, GAME_CHARSET=name)
    player, seat = evening.seated()
    letter = "日".encode(charset)
    for split in range(1, len(letter)):
        text = f"line {split}: "
        seat.say(text)
        seat.send(letter[:split])
        player.until_text(text)
        evening.taken_in(seat)
        evening.kill_and_start()
        seat.send(letter[split:])
        seat.say(f" and {split}\r\n")
        evening.back_after_a_kill(player)
        player.until_text(f" and {split}\r\n")
    expected = "".join(f"line {split}: 日 and {split}\r\n" for split in range(1, len(letter)))
    assert player.all_text.decode() == expected


def test_what_was_agreed_with_the_game_stays_agreed(kept):
    player, seat = kept.seated(client={"name": "Lantern", "version": "2.1", "columns": 80, "rows": 24})
    seat.tell(WILL, ECHO)
    seat.tell(WILL, GMCP)
    seat.tell(DO, NAWS)
    seat.tell(DO, TTYPE)
    player.until_event("echo", on=True)
    seat.heard("sub", NAWS, bytes([0, 80, 0, 24]))
    seat.heard("will", TTYPE)
    said = len(seat.said)
    kept.kill_and_start()
    session, _ = kept.back_after_a_kill(player)
    assert session["echo"] is True and session["gmcp"] is True
    # State again: the app is told once more that input is to be hidden.
    player.until_event("echo", on=True, again=True)
    seat.send(subnegotiation(TTYPE, bytes([SEND])))
    seat.heard("sub", TTYPE, b"\0Lantern")
    player.event(type="client", columns=100, rows=30)
    seat.heard("sub", NAWS, bytes([0, 100, 0, 30]))
    player.event(type="gmcp", package="Char.Login", data={"name": "Zoë"})
    seat.heard("sub", GMCP, 'Char.Login {"name":"Zoë"}'.encode())
    # And nothing of it is negotiated anew.
    assert not [entry for entry in seat.said[said:] if entry[0] in ("do", "will", "dont", "wont")]
    seat.tell(252, ECHO)
    player.until_event("echo", on=False)


def test_the_games_charset_is_the_one_that_was_agreed(kept_evenings):
    evening = kept_evenings(charset="utf-8", GAME_CHARSET="windows-1251")
    player, seat = evening.seated()
    seat.tell(WILL, 42)
    seat.heard("do", 42)
    seat.send(subnegotiation(42, b"\x01;UTF-8"))
    eventually(lambda: seat.subnegotiations(42), "an answer to CHARSET REQUEST")
    evening.rested()
    evening.kill_and_start()
    evening.back_after_a_kill(player)
    seat.say("я日\r\n")
    player.until_text("я日\r\n")
    player.line("я日")
    assert seat.heard_lines(1) == ["я日"]


@pytest.mark.parametrize("where", [BEFORE_WRITE, AFTER_WRITE])
def test_killed_at_an_answer_both_sides_know_the_charset(kept_evenings, fault, where):
    """A game asks once. It hears the answer once, whichever process says it, and is read and spoken to by it."""
    evening = kept_evenings(charset="utf-8", GAME_CHARSET="windows-1251", **fault.environment)
    player, seat = evening.seated()
    seat.tell(WILL, 42)
    seat.heard("do", 42)
    player.line("x")
    seat.heard_lines(1)
    player.until_handled()
    fault.hold_leg(evening.game.port, where)
    seat.send(subnegotiation(42, b"\x01;UTF-8"))
    killed_at(evening, fault)
    evening.store.start()
    session, _ = evening.back_after_a_kill(player)
    assert "doubt" not in session
    seat.heard("sub", 42, b"\x02UTF-8")
    seat.say("я日\r\n")
    player.until_text("я日\r\n")
    player.line("я日")
    assert seat.heard_lines(2)[1] == "я日"
    assert len(seat.subnegotiations(42)) == 1


# ---- who else


def test_the_time_to_come_back_goes_on_over_kills(kept_evenings, fault):
    evening = kept_evenings(SESSION_RESUME_FOR="100s", **fault.environment)
    away, seat = evening.seated()
    away.lose()
    evening.gate.event(event="session_detached")
    fault.jump(60)
    evening.kill_and_start()
    assert not seat.ended.is_set()
    fault.jump(60)
    # A loop that sleeps does not see a clock that jumps; one that is asked does.
    eventually(lambda: evening.rested() or seat.ended.is_set(), "the end")
    assert away.connect()["resumed"] is False


def test_the_time_of_those_who_were_there_begins_with_the_start(kept_evenings, fault):
    evening = kept_evenings(SESSION_RESUME_FOR="100s", PING_INTERVAL="1h", PONG_TIMEOUT="2h", **fault.environment)
    player, seat = evening.seated()
    fault.jump(300)
    player.line("x")
    seat.heard_lines(1)
    evening.kill_and_start()
    fault.jump(60)
    evening.back_after_a_kill(player)
    evening.kill_and_start()
    fault.jump(130)
    eventually(lambda: evening.rested() or seat.ended.is_set(), "the end")


@pytest.mark.parametrize("subprotocol", [None, "terminal.mudstandards.org"])
def test_others_end_with_the_process(kept, subprotocol):
    player, seat = kept.seated()
    fields = [f"{n}: {v}" for n, v in kept.device().headers(kept.gate.app.nonce()).items()]
    if subprotocol:
        fields.append(f"Sec-WebSocket-Protocol: {subprotocol}")
    wire = Wire(kept.gate, fields)
    other = kept.game.seat(1)
    assert kept.store.legs() == 1
    kept.kill_and_start()
    other.gone()
    wire.close()
    kept.back_after_a_kill(player)
    assert not seat.ended.is_set()


def test_another_key_gets_nothing_after_a_kill_either(kept):
    owner, seat = kept.seated()
    kept.kill_and_start()
    thief = kept.player(connect=False)
    thief.id = owner.id
    assert thief.connect()["resumed"] is False
    thief.close()
    kept.back_after_a_kill(owner)
    owner.line("mine")
    assert seat.heard_lines(1) == ["mine"]


def test_a_session_that_ended_is_not_kept(kept):
    player, seat = kept.seated()
    other, other_seat = kept.seated()
    player.close()
    seat.gone()
    eventually(lambda: kept.store.legs() == 1, "one leg in the store")
    other_seat.close()
    other.until_lost()
    assert other.ended == "game_closed"
    eventually(lambda: kept.store.legs() == 0, "no leg in the store")
    kept.kill_and_start()
    assert player.connect()["resumed"] is False


def test_a_game_that_went_while_no_gate_was_there(kept):
    player, seat = kept.seated()
    kept.kill()
    seat.say("The server goes down NOW!\r\n")
    seat.close()
    kept.store.start()
    assert player.connect()["resumed"]
    player.until_lost()
    assert player.ended == "game_closed"
    assert player.all_text.endswith(b"The server goes down NOW!\r\n")
    eventually(lambda: kept.store.legs() == 0, "no leg in the store")


def test_numbers_of_sessions_outlive_the_process(kept):
    import json

    def listed():
        done = kept.gate.command("sessions", "list", "--json")
        assert done.returncode == 0, done.stderr
        return {entry["session"]: entry for entry in map(json.loads, done.stdout.splitlines())}

    player, seat = kept.seated()
    kept.seated()
    before = listed()
    kept.kill_and_start()
    after = listed()
    assert set(after) == set(before) and {entry["state"] for entry in after.values()} == {"detached"}
    kept.back_after_a_kill(player)
    kept.player()
    assert max(listed()) > max(before) and len(listed()) == 3


def test_a_kept_session_can_be_closed_by_the_operator(kept):
    import json

    player, seat = kept.seated()
    kept.kill_and_start()
    done = kept.gate.command("sessions", "list", "--json")
    number = json.loads(done.stdout)["session"]
    assert kept.gate.command("sessions", "close", str(number)).returncode == 0
    seat.gone()
    eventually(lambda: kept.store.legs() == 0, "no leg in the store")
    player.connect()
    player.until_lost()
    assert player.ended == "closed_by_operator"


def test_kills_while_apps_come_back(kept_evenings):
    """Kills at any moment of a resume: in the end each player is back, and each line is at the game once."""
    evening = kept_evenings(WORKERS="2")
    players = [evening.seated() for _ in range(6)]
    for round_ in range(10):
        evening.kill_and_start()
        begun = time.monotonic()
        for player, _ in players[: round_ % 6]:
            try:
                player.connect()
                player.line(f"round {round_}")
            except Refused as refused:
                assert refused.status in (429, 503)
        assert time.monotonic() - begun < patience(120)
    evening.kill_and_start()
    for player, seat in players:
        evening.back_after_a_kill(player)
        player.line("the last")
        lines = seat.heard_lines(1)
        eventually(lambda: seat.lines[-1] == "the last", "the last line")
        lines = seat.lines
        assert len(set(lines)) == len(lines), lines
