"""Sessions that outlive their connection: resumed, taken over, told again, let go; and those who should not get them."""

import itertools
import json
import secrets
import threading
import time

import pytest
from cryptography.x509.oid import ExtendedKeyUsageOID

from clients import UPGRADE, Raw, head
from cutting_proxy import CuttingProxy, Plan
from kernel import queued_bytes
from sessions import VERSION_1, Lost, Player, Refused, Wire
from telnet_game import (
    ECHO,
    GMCP,
    IAC,
    MSDP,
    MSSP,
    NEW_ENVIRON,
    WILL,
    command,
    flooding,
    gmcp,
    msdp,
    subnegotiation,
)
from waiting import LONG, eventually, patience
from websocket import TEXT


def state_of(seat):
    """What the game was told about the link, by GMCP."""
    told = [payload for payload in seat.subnegotiations(GMCP) if payload.startswith(b"Portcullis.Link ")]
    return [payload.partition(b" ")[2].replace(b" ", b"") for payload in told]


def detached(evening, times=1):
    eventually(
        lambda: sum(event.get("event") == "session_detached" for event in evening.gate.events()) >= times,
        f"{times} detached sessions",
    )


def asked(evening):
    """A loop that sleeps does not see a clock that jumps; one that is asked does."""
    assert evening.gate.command("sessions", "list").returncode == 0


# ---- coming back


@pytest.mark.quick
def test_what_came_in_the_meantime_is_there_and_nothing_twice(evening):
    player, seat = evening.seated()
    for number in range(5):
        seat.say(f"line {number}\r\n")
    player.until_text("line 4\r\n")
    player.line("before")
    seat.heard_lines(1)
    player.lose()
    detached(evening)
    for number in range(5, 50):
        seat.say(f"line {number}\r\n")
    session = player.connect()
    assert session["resumed"] and session["received"] == 1
    player.until_text("line 49\r\n")
    player.line("after")
    assert seat.heard_lines(2) == ["before", "after"]
    assert player.all_text == "".join(f"line {number}\r\n" for number in range(50)).encode()
    assert evening.game.count == 1 and not player.events("gap")


@pytest.mark.quick
def test_what_was_sent_and_never_handled_comes_again(evening):
    """Messages that the connection swallowed come again; the count says from where."""
    player, seat = evening.seated()
    proxy = CuttingProxy(evening.gate)
    try:
        player.through = proxy
        player.connect()
        seat.say("one\r\n")
        player.until_text("one\r\n")
        proxy.cut()
        with pytest.raises(Lost):
            for number in itertools.count():
                player.line(f"into the void {number}")
        seat.say("two\r\n")
        player.connect()
        player.line("the last")
        lines = seat.heard_lines(player.sent)
        assert lines == [f"into the void {number}" for number in range(player.sent - 1)] + ["the last"]
        player.until_text("two\r\n")
        assert player.all_text == b"one\r\ntwo\r\n"
    finally:
        proxy.stop()


def test_unacknowledged_messages_come_again_to_an_app_that_says_so(evening):
    """`received` decides: what the app has not counted comes again, also when the gate had sent it."""
    player, seat = evening.seated(acks=False)
    for number in range(10):
        seat.say(f"line {number}\r\n")
        player.until_text(f"line {number}\r\n")
    total = player.received
    player.lose()
    player.received, player.record = 0, []
    assert player.connect()["resumed"]
    player.until_text("line 9\r\n")
    assert player.all_text == "".join(f"line {number}\r\n" for number in range(10)).encode()
    assert player.received == total


def test_the_named_number_acknowledges_nothing(evening):
    player, seat = evening.seated(acks=False)
    seat.say("a\r\n")
    player.until_text("a\r\n")
    player.lose()
    # Comes back with the count, and is lost again before it said anything.
    wire = Wire(evening.gate, player.fields())
    assert b'"resumed":true' in wire.message(patience(LONG))[1].replace(b" ", b"")
    wire.lose()
    player.received, player.record = 0, []
    player.connect()
    player.until_text("a\r\n")


def test_the_answer_may_be_lost_again_and_again(evening):
    """The id that was named stays good until the first message on the new connection."""
    player, seat = evening.seated()
    seat.say("a\r\n")
    player.until_text("a\r\n")
    player.lose()
    for _ in range(5):
        wire = Wire(evening.gate, player.fields())
        message = wire.message(patience(LONG))
        assert b'"resumed":true' in message[1].replace(b" ", b"")
        wire.lose()
    seat.say("b\r\n")
    player.connect()
    player.until_text("b\r\n")
    assert player.all_text == b"a\r\nb\r\n"


def test_the_new_id_is_good_as_well_and_the_old_one_ends_with_the_first_message(evening):
    player, seat = evening.seated()
    old = player.id
    player.lose()
    player.connect()
    player.line("here")
    seat.heard_lines(1)
    assert player.id != old
    thief = evening.again(player)
    thief.id = old
    session = thief.connect()
    assert (session["resumed"], session["reason"]) == (False, "unknown")
    player.line("mine")
    assert seat.heard_lines(2) == ["here", "mine"]


@pytest.mark.quick
def test_a_count_above_what_was_sent_is_unknown_and_changes_nothing(evening):
    player, seat = evening.seated()
    seat.say("a\r\n")
    player.until_text("a\r\n")
    player.lose()
    true_count = player.received
    liar = evening.again(player)
    liar.received = true_count + 1000
    session = liar.connect()
    assert (session["resumed"], session["reason"]) == (False, "unknown")
    seat.say("b\r\n")
    assert player.connect()["resumed"]
    player.until_text("b\r\n")


def test_acks_above_what_was_sent_are_ignored(evening):
    player, seat = evening.seated(acks=False)
    seat.say("a\r\n")
    player.until_text("a\r\n")
    player.wire.post(TEXT, b'{"type":"ack","received":1000000}')
    player.line("after")
    seat.heard_lines(1)
    player.lose()
    player.received, player.record = 0, []
    assert player.connect()["resumed"]
    player.until_text("a\r\n")


def test_acknowledged_messages_are_forgotten(evening):
    player, seat = evening.seated(acks=False)
    seat.say("a\r\n")
    player.until_text("a\r\n")
    player.acknowledge()
    player.line("after")
    seat.heard_lines(1)
    player.lose()
    counted = player.received
    player.received, player.record = 0, []
    assert player.connect()["resumed"]
    (gap,) = [player.until_event("gap")]
    assert gap == {"type": "gap", "messages": counted, "next": counted + 1}


@pytest.mark.quick
def test_a_new_connection_takes_over_from_a_living_one(evening):
    player, seat = evening.seated()
    seat.say("a\r\n")
    player.until_text("a\r\n")
    newer = evening.again(player)
    session = newer.connect()
    assert session["resumed"]
    lost = player.until_lost()
    assert lost.code == 4001
    assert player.events("closing") == [{"type": "closing", "code": 4001, "reason": "taken_over"}]
    newer.line("it is me")
    assert seat.heard_lines(1) == ["it is me"]
    assert evening.game.count == 1


class Racing(Wire):
    """A connection whose upgrade is on its way."""

    def __init__(self, gate):
        Raw.__init__(self, gate)
        self.fragments = None

    def ask(self, fields):
        self.send(head("GET", "/", *UPGRADE, *fields))

    def session(self):
        """The first message, or None where the upgrade was refused."""
        if self.reply(head_only=True).status != 101:
            return None
        return json.loads(self.message(patience(LONG))[1])


def test_of_two_that_come_at_once_the_later_wins(evenings):
    """Their upgrades are under way together, on whatever loops; the one that was signed later has the session in the end."""
    evening = evenings(WORKERS="4", MAX_SESSIONS_PER_KEY="100")
    player, seat = evening.seated()
    for turn in range(20):
        earlier, later = Racing(evening.gate), Racing(evening.gate)
        asked = [player.fields(), player.fields()]
        earlier.ask(asked[0])
        later.ask(asked[1])
        session = later.session()
        assert session["resumed"], (turn, session)
        player.wire.close()
        player.wire = later
        player._took_up(session, True)
        player.line(f"turn {turn}")
        assert seat.heard_lines(turn + 1)[turn] == f"turn {turn}"
        # The earlier one had it for a moment, or came too late for it.
        told = earlier.session()
        if told and told["resumed"]:
            with pytest.raises(Lost) as lost:
                while earlier.message(patience(LONG)):
                    pass
            assert lost.value.code == 4001
        earlier.close()
    player.until_handled()


def test_messages_on_the_old_connection_are_read_no_more_once_the_new_one_is_told(evening):
    """What the old connection's loop had not read when it let go is not counted, and comes again."""
    player, seat = evening.seated()
    for turn in range(20):
        for number in range(5):
            player.line(f"{turn}.{number}")
        # Not read by anybody: the new connection may come before, between or behind these five.
        newer = evening.again(player)
        newer.connect()
        player.wire.close()
        player = newer
    player.line("end")
    wanted = [f"{turn}.{number}" for turn in range(20) for number in range(5)] + ["end"]
    assert seat.heard_lines(len(wanted)) == wanted


def test_it_goes_from_loop_to_loop(evenings):
    evening = evenings(WORKERS="4")
    player, seat = evening.seated()
    for turn in range(40):
        seat.say(f"{turn}\r\n")
        player.lose("reset" if turn % 2 else "fin")
        player.connect()
        player.line(str(turn))
    player.until_text("39\r\n")
    assert player.all_text == "".join(f"{turn}\r\n" for turn in range(40)).encode()
    assert seat.heard_lines(40) == [str(turn) for turn in range(40)]


@pytest.mark.parametrize("how", ["reset", "fin"])
def test_the_game_is_told(evening, how):
    player, seat = evening.seated()
    seat.tell(WILL, GMCP)
    seat.tell(253, NEW_ENVIRON)
    seat.heard("will", NEW_ENVIRON)
    seat.send(subnegotiation(NEW_ENVIRON, b"\x01\x00CLIENT_STATE"))
    eventually(
        lambda: b"\x00\x00CLIENT_STATE\x01attached" in seat.subnegotiations(NEW_ENVIRON),
        "CLIENT_STATE is attached",
    )
    player.lose(how)
    eventually(lambda: state_of(seat)[-1:] == [b'{"state":"detached"}'], "Portcullis.Link detached")
    eventually(
        lambda: b"\x02\x00CLIENT_STATE\x01detached" in seat.subnegotiations(NEW_ENVIRON), "INFO detached"
    )
    player.connect()
    eventually(lambda: state_of(seat)[-1:] == [b'{"state":"attached"}'], "Portcullis.Link attached")
    eventually(
        lambda: seat.subnegotiations(NEW_ENVIRON)[-1] == b"\x02\x00CLIENT_STATE\x01attached", "INFO attached"
    )


@pytest.mark.quick
def test_the_game_is_told_of_another_address(evenings):
    evening = evenings(TRUSTED_PROXIES="127.0.0.1/32")
    player = evening.player(connect=False)
    player.connect(extra=["X-Forwarded-For: 203.0.113.9"])
    seat = evening.game.seat()
    seat.tell(253, NEW_ENVIRON)
    seat.send(subnegotiation(NEW_ENVIRON, b"\x01\x00IPADDRESS"))
    eventually(
        lambda: seat.subnegotiations(NEW_ENVIRON) == [b"\x00\x00IPADDRESS\x01203.0.113.9"], "its first address"
    )
    player.lose()
    eventually(
        lambda: seat.subnegotiations(NEW_ENVIRON)[-1] == b"\x02\x00CLIENT_STATE\x01detached", "INFO detached"
    )
    player.connect(extra=["X-Forwarded-For: 2001:db8::7"])
    eventually(
        lambda: seat.subnegotiations(NEW_ENVIRON)[-1]
        == b"\x02\x00IPADDRESS\x012001:db8::7\x00CLIENT_STATE\x01attached",
        f"INFO of both: {seat.subnegotiations(NEW_ENVIRON)}",
    )
    # From where it was: only what has changed.
    player.lose()
    eventually(lambda: seat.subnegotiations(NEW_ENVIRON)[-1].endswith(b"detached"), "INFO detached again")
    player.connect(extra=["X-Forwarded-For: 2001:db8::7"])
    eventually(
        lambda: seat.subnegotiations(NEW_ENVIRON)[-1] == b"\x02\x00CLIENT_STATE\x01attached", "INFO attached"
    )


def test_a_game_that_speaks_nothing_is_told_nothing(evening):
    player, seat = evening.seated()
    player.lose()
    detached(evening)
    player.connect()
    player.line("x")
    seat.heard_lines(1)
    assert seat.received == b"x\r\n"


# ---- an end while nobody was there


def test_the_end_of_the_game_waits_for_the_app(evening):
    player, seat = evening.seated()
    player.lose()
    detached(evening)
    seat.say("You die.\r\n")
    seat.close()
    session = player.connect()
    assert session["resumed"]
    assert player.until_lost().code == 1000
    assert player.story()[-2:] == [
        ("text", b"You die.\r\n"),
        ("event", {"type": "ended", "reason": "game_closed"}),
    ]


def test_an_end_that_was_acknowledged_is_forgotten(evenings, fault):
    evening = evenings(**fault.environment)
    # Or the gate may not wait for the answer to its Close.
    fault.stand_still()
    player, seat = evening.seated()
    player.lose()
    detached(evening)
    seat.say("You die.\r\n")
    seat.close()
    player.connect()
    player.until_event("ended")
    player.acknowledge()
    assert player.until_lost().code == 1000
    session = player.connect()
    assert (session["resumed"], session["reason"]) == (False, "unknown")


def test_an_end_that_was_never_acknowledged_is_told_again(evening):
    player, seat = evening.seated(acks=False)
    player.lose()
    detached(evening)
    seat.say("You die.\r\n")
    seat.close()
    for _ in range(3):
        known, player.record = player.received, []
        player.connect()
        assert player.until_lost().code == 1000
        assert player.ended == "game_closed" and player.all_text == b"You die.\r\n"
        player.received = known


@pytest.mark.quick
def test_detached_sessions_end_when_their_time_is_over(evenings, fault):
    evening = evenings(SESSION_RESUME_FOR="10m", **fault.environment)
    fault.stand_still()
    player, seat = evening.seated()
    player.lose()
    detached(evening)
    fault.jump(590)
    evening.gate.app.close()  # its kept-alive connection's time is over too
    other = evening.again(player)
    assert other.connect()["resumed"], "590 s are not over"
    other.lose()
    detached(evening, times=2)
    fault.jump(601)
    evening.gate.app.close()
    eventually(lambda: asked(evening) or seat.ended.is_set(), "the end")
    let_go = evening.gate.event(event="session_let_go")
    assert let_go
    assert other.connect()["resumed"] is False


def test_zero_turns_it_off(evenings):
    evening = evenings(SESSION_RESUME_FOR="0")
    player, seat = evening.seated()
    assert player.sessions[0]["resumeFor"] == 0
    player.lose()
    seat.gone()
    assert player.connect()["resumed"] is False


@pytest.mark.parametrize("subprotocol", ["terminal", "gmcp", "json"])
def test_other_subprotocols_end_with_their_connection(evening, subprotocol):
    device = evening.device()
    fields = [f"{name}: {value}" for name, value in device.headers(evening.gate.app.nonce()).items()]
    name = f"{subprotocol}.mudstandards.org"
    wire = Wire(evening.gate, [*fields, f"Sec-WebSocket-Protocol: {name}", "Portcullis-Resume: nonsense"])
    assert wire.subprotocol == name
    seat = evening.game.seat()
    wire.lose()
    seat.gone()


@pytest.mark.quick
def test_a_stop_ends_detached_sessions(evening):
    player, seat = evening.seated()
    player.lose()
    detached(evening)
    evening.gate.stop()
    seat.gone()


def test_a_revoked_key_ends_its_detached_sessions_before_the_command_returns(evening):
    player, seat = evening.seated()
    player.lose()
    detached(evening)
    assert evening.gate.command("keys", "revoke", player.device.key_id_b64).returncode == 0
    seat.gone()
    assert evening.gate.command("sessions", "list", "--json").stdout == ""


def test_an_operator_closes_a_detached_session(evening):
    player, seat = evening.seated()
    player.lose()
    detached(evening)
    (line,) = evening.gate.command("sessions", "list", "--json").stdout.splitlines()
    entry = json.loads(line)
    assert entry["state"] == "detached"
    assert evening.gate.command("sessions", "close", str(entry["session"])).returncode == 0
    seat.gone()
    # An ended session keeps its last words until its time is over.
    assert player.connect()["resumed"]
    assert player.until_lost().code == 1000 and player.ended == "closed_by_operator"


# ---- gaps, and state again


def overflow(evening, player, seat, amount=300_000):
    """The game says more than is kept while nobody is there."""
    player.lose()
    detached(evening)
    flooding(seat, amount)
    seat.say("the last line\r\n")
    # The gate has read all of it when the game is answered behind it.
    seat.tell(253, 6)
    seat.heard("wont", 6)


def with_state(player, seat):
    """Back, with all of the state again: it comes before what the game says now."""
    player.connect(state=True)
    seat.say("behind it\r\n")
    player.until_text("behind it\r\n")


@pytest.mark.quick
def test_what_is_not_kept_is_a_gap_with_numbers_that_hold(evening):
    player, seat = evening.seated()
    seat.say("first\r\n")
    player.until_text("first\r\n")
    overflow(evening, player, seat)
    session = player.connect()
    assert session["resumed"]
    player.until_text("the last line\r\n")
    (gap,) = player.events("gap")
    assert gap["messages"] > 0 and gap["next"] == gap["messages"] + 2, "the first one had been counted"
    assert player.record[1] == ("event", gap), "the gap comes before what is left"
    kept = len(player.all_text) - len(b"first\r\n")
    assert 32 * 1024 < kept <= 64 * 1024 + len(b"the last line\r\n"), kept
    # The count goes on behind it: another loss now is none.
    player.acknowledge()
    player.lose()
    seat.say("and on\r\n")
    player.connect()
    player.until_text("and on\r\n")
    assert len(player.events("gap")) == 1


def test_state_is_told_again_behind_a_gap(evenings):
    evening = evenings()
    player, seat = evening.seated()
    for option in (ECHO, GMCP, MSDP, MSSP):
        seat.tell(WILL, option)
    seat.heard("do", GMCP)
    seat.send(gmcp("Char.Vitals", {"hp": 1}))
    seat.send(gmcp("Char.Vitals", {"hp": 2}))
    seat.send(gmcp("room.info", {"name": "Limbo"}))
    seat.send(gmcp("Comm.Channel", {"text": "not state"}))
    seat.send(gmcp("Group", {"not": "below Group"}))
    seat.send(msdp("HEALTH", "90"))
    seat.send(msdp("HEALTH", "91"))
    seat.send(subnegotiation(MSSP, b"\x01NAME\x02Neighbour"))
    player.until_event("mssp")
    player.acknowledge()
    overflow(evening, player, seat)
    before = len(player.record)
    player.connect()
    player.until_text("the last line\r\n")
    fresh = [event for what, event in player.record[before:] if what == "event"]
    assert fresh[0]["type"] == "gap"
    again = [event for event in fresh if event.get("again") is True]
    assert {"type": "echo", "on": True, "again": True} in again
    assert [event["data"] for event in again if event.get("package") == "Char.Vitals"] == [{"hp": 2}]
    assert [event["data"] for event in again if event.get("package") == "room.info"] == [{"name": "Limbo"}]
    assert [event["data"] for event in again if event["type"] == "msdp"] == [{"HEALTH": "91"}]
    assert [event["data"] for event in again if event["type"] == "mssp"] == [{"NAME": "Neighbour"}]
    packages = {event["package"] for event in again if event["type"] == "gmcp"}
    assert packages == {"Char.Vitals", "room.info"}


def test_state_is_told_again_on_demand_and_counts_for_nothing(evening):
    player, seat = evening.seated()
    seat.tell(WILL, GMCP)
    seat.heard("do", GMCP)
    seat.send(gmcp("Char.Vitals", {"hp": 5}))
    player.until_event("gmcp")
    count = player.received
    player.lose()
    player.connect(state=True)
    event = player.until_event("gmcp", again=True)
    assert event["data"] == {"hp": 5}
    assert player.events("echo") == [{"type": "echo", "on": False, "again": True}]
    assert player.received == count and not player.events("gap")
    seat.say("x\r\n")
    player.until_text("x\r\n")
    player.lose()
    assert player.connect()["resumed"]
    seat.say("y\r\n")
    player.until_text("y\r\n")
    assert player.all_text == b"x\r\ny\r\n"


def test_which_packages_are_told_again_is_a_setting(evenings):
    evening = evenings(GMCP_AGAIN="Comm.Channel")
    player, seat = evening.seated()
    seat.tell(WILL, GMCP)
    seat.heard("do", GMCP)
    seat.send(gmcp("Char.Vitals", 1) + gmcp("Comm.Channel", 2))
    player.until_event("gmcp", package="Comm.Channel")
    player.lose()
    with_state(player, seat)
    assert [event["package"] for event in player.events("gmcp") if event.get("again")] == ["Comm.Channel"]


def test_state_is_forgotten_when_gmcp_is_agreed_anew(evening):
    player, seat = evening.seated()
    seat.tell(WILL, GMCP)
    seat.heard("do", GMCP)
    seat.send(gmcp("Char.Vitals", {"hp": 5}))
    player.until_event("gmcp")
    seat.tell(252, GMCP)
    seat.heard("dont", GMCP)
    seat.tell(WILL, GMCP)
    seat.heard("do", GMCP, times=2)
    player.lose()
    with_state(player, seat)
    assert not [event for event in player.events("gmcp") if event.get("again")]


def test_state_again_is_bounded(evening):
    player, seat = evening.seated()
    seat.tell(WILL, GMCP)
    seat.heard("do", GMCP)
    for number in range(100):
        seat.send(gmcp(f"Char.Thing{number}", "x" * 400))
    player.until_event("gmcp", package="Char.Thing99")
    player.lose()
    with_state(player, seat)
    again = [event for event in player.events("gmcp") if event.get("again")]
    # The newest 32, of which each takes less than 512 bytes.
    assert [event["package"] for event in again] == [f"Char.Thing{number}" for number in range(68, 100)]


def test_state_again_is_bounded_in_bytes(evening):
    player, seat = evening.seated()
    seat.tell(WILL, GMCP)
    seat.heard("do", GMCP)
    for number in range(10):
        seat.send(gmcp(f"Char.Thing{number}", "x" * 4000))
    player.until_event("gmcp", package="Char.Thing9")
    player.lose()
    with_state(player, seat)
    again = [event for event in player.events("gmcp") if event.get("again")]
    # A fifth one would be too much, with what each costs beside.
    assert [event["package"] for event in again] == [f"Char.Thing{number}" for number in range(6, 10)]


def test_a_message_larger_than_the_buffer(evenings):
    """It is sent while somebody is there, and a gap while nobody is."""
    evening = evenings(SESSION_BUFFER="16KiB", SESSION_BUFFERS_TOTAL="16MiB")
    player, seat = evening.seated()
    seat.tell(WILL, GMCP)
    seat.heard("do", GMCP)
    seat.send(gmcp("Big.One", "x" * 40_000))
    assert len(player.until_event("gmcp", package="Big.One")["data"]) == 40_000
    player.acknowledge()
    player.lose()
    detached(evening)
    seat.send(gmcp("Big.Two", "x" * 40_000))
    seat.say("small\r\n")
    seat.tell(253, 6)
    seat.heard("wont", 6)
    player.connect()
    player.until_text("small\r\n")
    assert [gap["messages"] for gap in player.events("gap")] == [1]
    assert not [event for event in player.events("gmcp") if event["package"] == "Big.Two"]


# ---- those who should not get in


RESUME = "Portcullis-Resume: "
GOOD_ID = "A" * 22
BAD_RESUME_HEADERS = [
    [RESUME],
    [RESUME + GOOD_ID],
    [RESUME + f"{GOOD_ID};received="],
    [RESUME + f"{GOOD_ID};received=-1"],
    [RESUME + f"{GOOD_ID};received=+1"],
    [RESUME + f"{GOOD_ID};received=1e3"],
    [RESUME + f"{GOOD_ID};received=0x1"],
    [RESUME + f"{GOOD_ID};received=" + "9" * 40],
    [RESUME + f"{GOOD_ID};received=9007199254740993"],
    [RESUME + f"{GOOD_ID[:-1]};received=1"],
    [RESUME + f"{GOOD_ID}A;received=1"],
    [RESUME + f"{GOOD_ID[:-1]}+;received=1"],
    [RESUME + f"{GOOD_ID};received=1;received=1"],
    [RESUME + f"{GOOD_ID};received=1;state;state"],
    [RESUME + f"{GOOD_ID};received=1;other"],
    [RESUME + f"{GOOD_ID};received=1,{GOOD_ID};received=1"],
    [RESUME + f"{GOOD_ID};state;received=1"],
    [RESUME + f"{GOOD_ID};received=1", RESUME + f"{GOOD_ID};received=1"],
    [RESUME + GOOD_ID * 200 + ";received=1"],
]


@pytest.mark.parametrize("extra", BAD_RESUME_HEADERS)
def test_bad_resume_headers_are_400(evening, extra):
    player = evening.player(connect=False)
    with pytest.raises(Refused) as refused:
        player.connect(extra=extra)
    assert (refused.value.status, refused.value.code) == (400, "bad_request")
    assert evening.game.count == 0


@pytest.mark.quick
def test_another_key_gets_nothing_and_changes_nothing(evening):
    owner, seat = evening.seated()
    seat.say("a\r\n")
    owner.until_text("a\r\n")
    owner.lose()
    detached(evening)
    seat.say("secret\r\n")
    for received in (0, 1, owner.received):
        thief = Player(evening.gate, evening.device())
        thief.id, thief.received = owner.id, received
        session = thief.connect()
        assert (session["resumed"], session["reason"]) == (False, "unknown")
        thief.line("I am the thief")
        thief.drain()
        assert thief.all_text == b""
        thief.close()
    assert owner.connect()["resumed"]
    owner.until_text("secret\r\n")
    owner.line("I am the owner")
    assert seat.heard_lines(1) == ["I am the owner"]


def test_another_key_does_not_take_over_either(evening):
    owner, seat = evening.seated()
    thief = Player(evening.gate, evening.device())
    thief.id = owner.id
    assert thief.connect()["resumed"] is False
    owner.line("still here")
    assert seat.heard_lines(1) == ["still here"]
    assert not owner.events("closing")
    thief.close()


@pytest.mark.quick
def test_guessed_ids_are_unknown(evening):
    owner, seat = evening.seated()
    owner.lose()
    detached(evening)
    guesser = evening.again(owner)
    last = "A" if owner.id[-1] != "A" else "Q"
    for guess in (owner.id[:-1] + last, owner.id.swapcase(), "A" * 22, secrets.token_urlsafe(16)):
        guesser.id = guess
        if guess[-1] in "AQgw":
            assert guesser.connect()["resumed"] is False
        else:
            # 22 characters that are not 16 bytes in base64url are bad syntax.
            with pytest.raises(Refused) as refused:
                guesser.connect()
            assert refused.value.status == 400
    assert owner.connect()["resumed"]
    assert not seat.ended.is_set()


def test_resuming_needs_a_fresh_assertion_like_any_upgrade(evening):
    owner, seat = evening.seated()
    owner.lose()
    detached(evening)
    resume = f"Portcullis-Resume: {owner.id};received=0"
    with pytest.raises(Refused) as refused:
        Wire(evening.gate, [f"Sec-WebSocket-Protocol: {VERSION_1}", resume])
    assert refused.value.status == 401
    fields = owner.fields()
    wire = Wire(evening.gate, fields)
    wire.lose()
    with pytest.raises(Refused) as refused:
        Wire(evening.gate, fields)  # the same assertion once more
    assert refused.value.status == 401
    assert owner.connect()["resumed"]
    assert not seat.ended.is_set()


@pytest.mark.parametrize("round_", range(8))
def test_of_two_resumes_at_once_one_wins_and_nothing_is_lost(evenings, round_):
    evening = evenings(WORKERS="3")
    player, seat = evening.seated()
    seat.say("before\r\n")
    player.until_text("before\r\n")
    player.line("one")
    seat.heard_lines(1)
    player.lose()
    racers = [evening.again(player) for _ in range(4)]
    for racer in racers:
        racer.ready = racer.fields()
    start = threading.Barrier(len(racers))
    outcomes = []

    def race(racer):
        start.wait(patience(LONG))
        try:
            wire = Wire(evening.gate, racer.ready)
            message = wire.message(patience(LONG))
            outcomes.append((racer, wire, message))
        except (Lost, Refused) as error:
            outcomes.append((racer, None, error))

    threads = [threading.Thread(target=race, args=(racer,)) for racer in racers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(patience(60))
    # At least one of them was told that it resumed; any other was refused, taken over or is a session of its own.
    resumed = [
        wire
        for _, wire, told in outcomes
        if wire and told and b'"resumed":true' in told[1].replace(b" ", b"")
    ]
    assert resumed, outcomes
    for _, wire, _ in outcomes:
        if wire:
            wire.close()
    seat.say("after\r\n")
    session = player.connect()
    assert session["resumed"], session
    player.until_text("after\r\n")
    player.line("two")
    assert seat.heard_lines(2) == ["one", "two"]
    assert player.all_text == b"before\r\nafter\r\n"


def test_the_right_to_an_id_without_keys(evenings):
    """With REQUIRE_APP_AUTH=false the id alone is enough, and five wait for an address at most."""
    evening = evenings(REQUIRE_APP_AUTH="false")
    player, seat = evening.seated(device=False)
    player.lose()
    detached(evening)
    seat.say("hello\r\n")
    assert player.connect()["resumed"]
    player.until_text("hello\r\n")


def test_connects_and_drops_in_a_loop_without_a_key(evenings):
    evening = evenings(REQUIRE_APP_AUTH="false")
    players = []
    for number in range(40):
        player = evening.player(device=False)
        evening.game.seat(number)
        player.lose()
        # In this order, though they are on several loops.
        detached(evening, times=number + 1)
        players.append(player)
    for seat in evening.game.seats[:-5]:
        seat.gone()
    # Those that came last are still there.
    assert not any(seat.ended.is_set() for seat in evening.game.seats[-5:])
    assert all(player.connect()["resumed"] for player in players[-5:])


def test_detached_sessions_count_for_their_key(evenings):
    evening = evenings(MAX_SESSIONS_PER_KEY="2")
    device = evening.device()
    players = []
    for number in range(4):
        players.append(evening.player(device=device))
        evening.game.seat(number)
        players[-1].lose()
        detached(evening, times=number + 1)
    evening.game.seat(0).gone()
    evening.game.seat(1).gone()
    assert not evening.game.seat(2).ended.is_set() and not evening.game.seat(3).ended.is_set()
    assert players[3].connect()["resumed"] and players[2].connect()["resumed"]


def test_the_longest_detached_goes_first(evenings):
    evening = evenings(MAX_DETACHED="3")
    players = []
    for number in range(5):
        player, seat = evening.seated()
        player.lose()
        detached(evening, times=number + 1)
        players.append((player, seat))
    players[0][1].gone()
    players[1][1].gone()
    for player, seat in players[2:]:
        assert not seat.ended.is_set()
        assert player.connect()["resumed"]


def test_attached_sessions_do_not_give_way_to_detached_ones(evenings):
    evening = evenings(MAX_DETACHED="2")
    staying, seat = evening.seated()
    others = []
    for number in range(6):
        player, other = evening.seated()
        player.lose()
        detached(evening, times=number + 1)
        others.append(other)
    for other in others[:4]:
        other.gone()
    staying.line("still here")
    assert seat.heard_lines(1) == ["still here"]
    assert not any(other.ended.is_set() for other in (seat, *others[4:]))


def test_a_client_certificates_key_is_a_credential(evenings, pki):
    evening = evenings(ALLOW_MTLS_FALLBACK="true", MTLS_CLIENT_CA_PATH=pki.client_ca)
    owner, seat = evening.seated(device=False, certificate=pki.good_client)
    owner.lose()
    detached(evening)
    seat.say("hello\r\n")
    issued = pki.client_authority.issue("developer", ExtendedKeyUsageOID.CLIENT_AUTH)
    for thief in (
        evening.player(device=False, connect=False, certificate=pki.pair("client-thief", issued)),
        evening.player(connect=False),
    ):
        thief.id = owner.id
        assert thief.connect()["resumed"] is False
        thief.close()
    assert owner.connect()["resumed"]
    owner.until_text("hello\r\n")


def test_an_address_full_of_detached_sessions_is_not_locked_out(evenings):
    """They count for their address, and yet each may be come back to."""
    evening = evenings(MAX_CONNECTIONS_PER_ADDRESS="4")
    players = []
    for number in range(4):
        player, seat = evening.seated()
        player.lose()
        detached(evening, times=number + 1)
        players.append((player, seat))
    for number, (player, seat) in enumerate(reversed(players)):
        assert player.connect()["resumed"]
        player.line("back again")
        assert seat.heard_lines(1) == ["back again"]
        # The gate's own client has a connection as well.
        player.lose()
        detached(evening, times=5 + number)
    assert not any(seat.ended.is_set() for _, seat in players)


def test_the_log_says_how_long_and_how_much(timeless, fault):
    evening = timeless
    player, seat = evening.seated(acks=False)
    seat.say("one\r\n")
    player.until_text("one\r\n")
    player.acknowledge()
    player.line("heard")
    seat.heard_lines(1)
    player.lose()
    told = evening.gate.event(event="session_detached")
    counted = player.received
    fault.jump(3)
    # All that was acknowledged is gone for an app that knows nothing of it.
    player.received, player.record = 0, []
    assert player.connect()["resumed"]
    resumed = evening.gate.event(event="session_resumed")
    assert (int(resumed["waitedMs"]), int(resumed["gap"])) == (3000, counted), resumed
    assert resumed["session"] == told["session"]


@pytest.mark.parametrize("reason", ["expired", "let_go"])
def test_the_log_says_why_one_was_given_up(evenings, fault, reason):
    evening = evenings(SESSION_RESUME_FOR="30s", MAX_DETACHED="1", **fault.environment)
    fault.stand_still()
    player, seat = evening.seated()
    player.lose()
    told = evening.gate.event(event="session_detached")
    if reason == "expired":
        fault.jump(31)
    else:
        fault.jump(3)
        other, _ = evening.seated()
        other.lose()

    def is_gone():
        asked(evening)
        return seat.ended.is_set()

    eventually(is_gone, "the end at the game")
    given_up = evening.gate.event(event="session_let_go")
    assert (given_up["session"], given_up["reason"]) == (told["session"], reason)
    assert int(given_up["waitedMs"]) == (31_000 if reason == "expired" else 3_000), given_up


# ---- what it may cost


def test_an_app_that_answers_no_ping_is_detached(evenings, fault):
    evening = evenings(PING_INTERVAL="1m", PONG_TIMEOUT="2m", **fault.environment)
    player, seat = evening.seated()
    # Nothing is read meanwhile, and so no ping is answered.
    for _ in range(4):
        fault.jump(61)
        asked(evening)
    detached(evening)
    evening.gate.app.close()  # its kept-alive connection's time is over too
    seat.say("hello\r\n")
    assert player.connect()["resumed"]
    player.until_text("hello\r\n")
    assert not seat.ended.is_set()


def test_an_app_that_reads_nothing_is_detached(evenings):
    evening = evenings(WRITE_STALL_TIMEOUT="2s")
    player, seat = evening.seated()
    poured = threading.Thread(target=flooding, args=(seat, 32 * 1024 * 1024), daemon=True)
    poured.start()
    detached(evening)
    poured.join(patience(120))
    assert not poured.is_alive(), "the game was held up by somebody who is gone"
    assert player.connect()["resumed"]
    player.until_event("gap")
    player.line("still here")
    assert seat.heard_lines(1) == ["still here"]


def test_a_game_that_takes_nothing_is_failed(evenings, fault):
    evening = evenings(
        WRITE_STALL_TIMEOUT="1m", PING_INTERVAL="1h", PONG_TIMEOUT="2h", receive_buffer=4096, **fault.environment
    )
    player, seat = evening.seated()
    evening.game.attentive.clear()
    for _ in range(12):
        player.line("x" * 60_000)

    def ending():
        fault.jump(61)
        asked(evening)
        try:
            player.receive()
        except Lost as lost:
            return lost

    assert eventually(ending, "the end").code == 1000
    assert player.ended == "game_failed"
    # It has not read all that it was sent, so its end is a reset or an end behind that.
    evening.game.attentive.set()
    seat.gone()


def test_an_app_that_never_acknowledges(evenings):
    """A full buffer stops reading the game; without progress the app is detached, and the game goes on."""
    evening = evenings(WRITE_STALL_TIMEOUT="2s")
    player, seat = evening.seated(acks=False)
    poured = threading.Thread(target=flooding, args=(seat, 64 * 1024 * 1024), daemon=True)
    poured.start()
    # No Close: it takes nothing, as far as the gate can tell.
    assert player.until_lost(within=60).code is None
    # What is kept, and the read that filled it.
    assert 48 * 1024 < len(player.all_text) <= (64 + 16) * 1024
    told = evening.gate.event(event="session_detached")
    assert told["reason"] == "write_stalled", told
    # Nobody holds the game any more: it can say all it wants.
    poured.join(patience(120))
    assert not poured.is_alive()
    assert not seat.ended.is_set()
    player.received, player.record = 0, []
    assert player.connect()["resumed"]
    player.until_event("gap")


def test_games_that_pour_into_detached_sessions(evenings):
    """Their memory is SESSION_BUFFERS_TOTAL, with little beside it; what the kernel holds is counted too."""
    evening = evenings(SESSION_BUFFERS_TOTAL="2MiB", SESSION_BUFFER="64KiB", MAX_DETACHED="200")
    warm, seat = evening.seated()
    flooding(seat, 100_000)
    warm.drain()
    count = 100
    players = [evening.seated() for _ in range(count)]
    for player, _ in players:
        player.lose()
    detached(evening, times=count)
    before = evening.gate.resident_bytes()
    threads = [
        threading.Thread(target=flooding, args=(seat, 1024 * 1024), daemon=True) for _, seat in players
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(patience(120))
    assert not any(thread.is_alive() for thread in threads), "a detached session held up its game"
    for _, seat in players:
        seat.tell(253, 6)
    for _, seat in players:
        seat.heard("wont", 6, within=60)
    grown = evening.gate.resident_bytes() - before
    assert grown < 2 * 1024 * 1024 + count * 8 * 1024 + 4 * 1024 * 1024, f"{grown} bytes more"
    ports = [seat.connection.socket.getpeername()[1] for _, seat in players]
    kernel = sum(queued_bytes("sport", "=", f":{port}")[0] for port in ports)
    assert kernel < count * 8 * 1024, f"the kernel holds {kernel}"
    # Each of them can come back, with a gap.
    for player, _ in players[:10]:
        assert player.connect()["resumed"]
        player.until_event("gap")
        player.close()


def test_the_fullest_gives_way_first(evenings):
    """Over the total it is the fullest that loses, not the one with a line or two."""
    evening = evenings(SESSION_BUFFERS_TOTAL="256KiB", SESSION_BUFFER="64KiB")
    quiet, quiet_seat = evening.seated()
    quiet.lose()
    detached(evening)
    quiet_seat.say("a quiet line\r\n")
    for number in range(10):
        player, seat = evening.seated()
        player.lose()
        detached(evening, times=number + 2)
        flooding(seat, 60_000)
        seat.tell(253, 6)
        seat.heard("wont", 6)
    assert quiet.connect()["resumed"]
    quiet.until_text("a quiet line\r\n")
    assert not quiet.events("gap")


@pytest.mark.long("games pour for as long as it takes to fill what is kept")
def test_those_who_play_do_not_notice(evenings):
    """Others are detached and poured into: a player's lines are answered in between, and not behind all that."""

    def answer(seat, line):
        seat.say(f"You say: {line}\r\n")

    evening = evenings(answer=answer, SESSION_BUFFERS_TOTAL="1MiB")
    seats = []
    for number in range(20):
        player, seat = evening.seated()
        player.lose()
        seats.append(seat)
    detached(evening, times=20)
    poured = [0] * len(seats)

    def pour(number):
        while seats[number].connection.write(b"x" * 8190 + b"\r\n"):
            poured[number] += 1

    for number in range(len(seats)):
        threading.Thread(target=pour, args=(number,), daemon=True).start()
    player = evening.player()
    for turn in range(20):
        player.line(f"turn {turn}")
        player.until_text(f"You say: turn {turn}\r\n")
    # All the while each of them went on, as there is no end of it.
    before = poured[:]
    eventually(lambda: all(now > then for now, then in zip(poured, before)), "more of each")


def test_input_beyond_its_rate_waits(evenings):
    evening = evenings(INPUT_RATE="5/s")
    player, seat = evening.seated()
    begun = time.monotonic()
    for number in range(70):
        player.line(str(number))
    lines = seat.heard_lines(70, within=60)
    assert lines == [str(number) for number in range(70)]
    # Fifty in one go; the other twenty take four seconds.
    assert time.monotonic() - begun > 3


def test_resumed_through_a_proxy_with_its_answer_lost(evening):
    player, seat = evening.seated()
    seat.say("a\r\n")
    player.until_text("a\r\n")
    row = iter([Plan("swallow", 1, after, rest=0.2) for after in (100, 1500, 2500, 3000, 3500)])
    proxy = CuttingProxy(evening.gate, lambda: next(row, None))
    try:
        player.through = proxy
        player.lose()
        tries = 0
        while True:
            tries += 1
            seat.say(f"{tries}\r\n")
            try:
                player.connect()
                player.until_text(f"{tries}\r\n")
                break
            except (Lost, AssertionError) as error:
                assert tries < 10, error
        expected = "a\r\n" + "".join(f"{number}\r\n" for number in range(1, tries + 1))
        assert player.all_text == expected.encode()
        assert evening.game.count == 1
    finally:
        proxy.stop()


def test_the_greeting_of_a_resumed_session_is_not_said_to_raw_peers(evening):
    """A raw session with the header is a raw session: it is ignored there."""
    device = evening.device()
    fields = [f"{name}: {value}" for name, value in device.headers(evening.gate.app.nonce()).items()]
    with Raw(evening.gate):
        pass
    wire = Wire(evening.gate, [*fields, "Portcullis-Resume: nonsense", "Portcullis-Client: nonsense"])
    seat = evening.game.seat()
    seat.send(bytes([IAC, WILL, ECHO]))
    assert wire.message(patience(LONG)) == (2, command(WILL, ECHO))
    wire.close()
