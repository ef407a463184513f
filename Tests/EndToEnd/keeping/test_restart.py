"""SIGTERM with a store is a restart: apps are told to come back at once, and nothing is missing, whatever was under way."""

import json
import socket
import threading
import time

import pytest

from clients import Raw, head
from faults import BEFORE_READ
from kernel import queued_bytes
from sessions import Lost, Wire
from telnet_game import ECHO, GMCP, MSSP, NAWS, WILL, flooding, gmcp, subnegotiation
from waiting import LONG, eventually, patience


def settled(kept, player, **options):
    """Back after a restart: nothing is missing, and nothing is in doubt."""
    session = kept.back(player, **options)
    assert "doubt" not in session
    return session


# ---- what apps are told


def test_apps_are_told_to_come_back(kept):
    player, seat = kept.seated()
    kept.gate.signal(15)
    lost = player.until_lost()
    assert lost.code == 1012
    assert player.events("closing") == [{"type": "closing", "code": 1012, "reason": "restarting"}]
    assert not player.events("ended")
    assert kept.gate.wait() == 0
    kept.gate.app.close()
    assert not seat.ended.is_set()
    kept.store.start()
    settled(kept, player)
    player.line("still here")
    assert seat.heard_lines(1) == ["still here"]
    assert kept.game.count == 1
    # The manager is told of it, before and after.
    told = [told.fields for told in kept.store.told]
    assert any("STOPPING" in fields for fields in told) and sum("READY" in fields for fields in told) == 2


@pytest.mark.parametrize("players", [1, 40])
def test_all_are_told_within_a_second(kept_evenings, players):
    evening = kept_evenings(DRAIN_TIMEOUT="60s")
    seated = [evening.seated() for _ in range(players)]
    begun = time.monotonic()
    evening.store.end()
    # A second until all are told, and two in which those who do not answer are waited for: not all of DRAIN_TIMEOUT.
    assert time.monotonic() - begun < patience(25)
    for player, seat in seated:
        assert player.until_lost().code == 1012
        assert not seat.ended.is_set()


@pytest.mark.parametrize("timeout, spread", [("60s", 1), ("1s", 1 / 3)])
def test_the_last_is_told_within_a_second_and_a_third_of_the_time(kept_evenings, fault, timeout, spread):
    """By the gate's clock, which only the test moves: the first of ten is told at once, the last at nine tenths."""
    evening = kept_evenings(WORKERS="1", DRAIN_TIMEOUT=timeout, **fault.environment)
    seated = [evening.seated() for _ in range(10)]
    fault.stand_still()
    evening.gate.signal(15)
    ends = {}

    def told():
        for player in (player for player, _ in seated if player not in ends):
            try:
                player.drain(0.01)
            except Lost as lost:
                ends[player] = lost.code
        return len(ends)

    eventually(told, "the first is told")
    assert told() == 1
    fault.jump(spread * 0.91)
    eventually(lambda: told() == 10, "all are told")
    assert set(ends.values()) == {1012}
    fault.heal()
    assert evening.gate.wait() == 0
    evening.gate.app.close()
    assert not any(seat.ended.is_set() for _, seat in seated)


def test_raw_sessions_end(kept):
    player, seat = kept.seated()
    fields = [f"{n}: {v}" for n, v in kept.device().headers(kept.gate.app.nonce()).items()]
    wire = Wire(kept.gate, fields)
    raw = kept.game.seat(1)
    kept.gate.signal(15)
    with pytest.raises(Lost) as lost:
        while True:
            wire.message(patience(LONG))
    assert lost.value.code == 1001
    assert kept.gate.wait() == 0
    raw.gone()
    assert not seat.ended.is_set()
    assert set(kept.store.names()) >= {"slot"} and kept.store.legs() == 1


# ---- nothing is missing


def test_what_was_not_acknowledged_comes_again(kept):
    player, seat = kept.seated(acks=False)
    for number in range(10):
        seat.say(f"line {number}\r\n")
        player.until_text(f"line {number}\r\n")
    total = player.received
    kept.restart()
    player.received, player.record = 0, []
    settled(kept, player)
    player.until_text("line 9\r\n")
    assert player.all_text == "".join(f"line {number}\r\n" for number in range(10)).encode()
    assert player.received == total and not player.events("gap")


def test_what_waits_for_a_detached_app_goes_over(kept):
    player, seat = kept.seated()
    seat.tell(WILL, GMCP)
    seat.heard("do", GMCP)
    player.lose()
    kept.gate.event(event="session_detached")
    for number in range(50):
        seat.say(f"line {number}\r\n")
        seat.prompt()
        seat.send(gmcp("Fight.Turn", number))
    seat.tell(253, 6)
    seat.heard("wont", 6)
    kept.restart()
    settled(kept, player)
    player.until(lambda: len(player.events("gmcp")) == 50, "all events")
    assert player.all_text == "".join(f"line {number}\r\n> " for number in range(50)).encode()
    assert [event["data"] for event in player.events("gmcp")] == list(range(50))
    assert len(player.events("prompt")) == 50 and not player.events("gap")


def test_a_game_that_pours_until_its_player_is_back(kept_evenings):
    """It waits once the buffer is full: whoever comes back soon misses nothing."""
    evening = kept_evenings(SESSION_BUFFER="16KiB")
    player, seat = evening.seated()
    # So that the buffer is neither empty nor full when more comes.
    seat.say("a" * 6_000 + "\r\n")
    player.until_text("a\r\n")
    player.lose()
    evening.gate.event(event="session_detached")
    player.received, player.record = 0, []
    evening.restart()
    threading.Thread(target=flooding, args=(seat, 4 << 20), daemon=True).start()
    eventually(lambda: queued_bytes("sport", "=", f":{evening.game.port}")[0] > 100_000, "a game that waits")
    settled(evening, player)
    player.until(lambda: len(player.all_text) >= 500_000, "what was poured", within=60)
    assert not player.events("gap") and b"x\r\n" + b"x" * 78 in player.all_text


def test_restarts_in_a_row_before_anybody_comes_back(kept):
    player, seat = kept.seated(acks=False)
    seat.say("unacknowledged\r\n")
    player.until_text("unacknowledged\r\n")
    player.received, player.record = 0, []
    for number in range(4):
        kept.restart()
        seat.say(f"{number}\r\n")
    settled(kept, player)
    player.until_text("3\r\n")
    assert player.all_text == b"unacknowledged\r\n0\r\n1\r\n2\r\n3\r\n"
    assert not player.events("gap") and kept.game.count == 1


def test_a_gap_that_was_there_before_is_still_there(kept_evenings):
    evening = kept_evenings(SESSION_BUFFER="16KiB")
    player, seat = evening.seated()
    player.lose()
    evening.gate.event(event="session_detached")
    flooding(seat, 200_000)
    seat.tell(253, 6)
    seat.heard("wont", 6)
    evening.restart()
    seat.say("the last\r\n")
    settled(evening, player)
    gap = player.until_event("gap")
    assert gap["messages"] > 0
    player.until_text("the last\r\n")
    assert player.all_text.endswith(b"x" * 78 + b"\r\nthe last\r\n")


def test_a_kill_and_then_a_restart_say_one_gap(kept):
    player, seat = kept.seated()
    seat.say("a\r\n")
    player.until_text("a\r\n")
    kept.kill_and_start()
    kept.restart()
    seat.say("b\r\n")
    session, gap = kept.back_after_a_kill(player)
    player.until_text("b\r\n")
    assert len(player.events("gap")) == 1 and player.all_text == b"a\r\nb\r\n"


def test_a_restart_and_then_a_kill(kept):
    """What was handed over and not yet fetched is lost by the kill, and said to be."""
    player, seat = kept.seated(acks=False)
    seat.say("a\r\n")
    player.until_text("a\r\n")
    total = player.received
    kept.restart()
    kept.kill_and_start()
    seat.say("b\r\n")
    player.received, player.record = 0, []
    session, gap = kept.back_after_a_kill(player)
    player.until_text("b\r\n")
    assert gap["messages"] in (None, total) and player.all_text == b"b\r\n"


def test_input_that_the_game_has_not_taken_goes_over(kept_evenings):
    evening = kept_evenings(receive_buffer=4096)
    player, seat = evening.seated()
    lines = [f"{number:06} look at the door again, the one behind the curtain" for number in range(8_000)]
    evening.fill(player, seat, lines)
    evening.restart()
    settled(evening, player)
    evening.game.attentive.set()
    player.until_handled(within=60)
    assert seat.heard_lines(1 + len(lines)) == ["first", *lines]


def test_an_app_that_does_not_come_back_has_typed_all_the_same(kept_evenings, fault):
    """What was taken reaches the game without the app, as it has been told that it need not send it again."""
    evening = kept_evenings(**fault.environment)
    player, seat = evening.seated()
    fault.leg_takes(evening.game.port, 3)
    for number in range(5):
        player.line(f"line {number}")
    eventually(lambda: fault.leg_writes, "a try to write")
    # What was typed comes before the end.
    player.wire.socket.shutdown(socket.SHUT_WR)
    evening.gate.event(event="session_detached")
    evening.store.end()
    evening.gate.app.close()
    fault.leg_takes(evening.game.port, None)
    evening.store.start()
    assert seat.heard_lines(5) == [f"line {number}" for number in range(5)]
    session = settled(evening, player)
    assert session["received"] == 5
    player.until_handled()


EVENT = gmcp("Char.Vitals", {"hp": 1, "word": "\xff ü", "long": "x" * 5000})


@pytest.mark.parametrize("split", [1, 2, 3, 10, 4000, len(EVENT) - 2, len(EVENT) - 1])
def test_an_event_that_a_restart_cuts_is_whole(kept, split):
    player, seat = kept.seated()
    seat.tell(WILL, GMCP)
    seat.heard("do", GMCP)
    seat.say("before\r\n")
    seat.send(EVENT[:split])
    player.until_text("before\r\n")
    kept.taken_in(seat)
    kept.restart()
    seat.send(EVENT[split:])
    seat.say("after\r\n")
    settled(kept, player)
    player.until_text("after\r\n")
    (event,) = player.events("gmcp")
    assert event["data"] == {"hp": 1, "word": "\xff ü", "long": "x" * 5000}
    assert player.all_text == b"before\r\nafter\r\n" and not player.events("gap")


def test_an_event_that_many_restarts_cut_is_whole(kept):
    player, seat = kept.seated()
    seat.tell(WILL, GMCP)
    seat.heard("do", GMCP)
    pieces = [EVENT[place : place + 1100] for place in range(0, len(EVENT), 1100)]
    for piece in pieces:
        seat.send(piece)
        kept.taken_in(seat)
        kept.restart()
    settled(kept, player)
    assert player.until_event("gmcp")["data"]["hp"] == 1


@pytest.mark.parametrize(
    "charset, name", [("utf-8", "UTF-8"), ("gb18030", "GB18030"), ("euc-jp", "EUC-JP"), ("iso-8859-1", "ISO-8859-1")]
)
def test_a_character_that_a_restart_cuts_is_whole(kept_evenings, charset, name):
    evening = kept_evenings(charset=charset, GAME_CHARSET=name)
    player, seat = evening.seated()
    # Behind a byte 255 that is doubled, where the charset has one.
    letter = "ÿ" if charset == "iso-8859-1" else "日"
    wire = letter.encode(charset).replace(b"\xff", b"\xff\xff")
    for split in range(1, len(wire)):
        seat.say(f"line {split}: ")
        seat.send(wire[:split])
        player.until_text(f"line {split}: ")
        evening.taken_in(seat)
        evening.restart()
        seat.send(wire[split:])
        seat.say(f" and {split}\r\n")
        settled(evening, player)
        player.until_text(f" and {split}\r\n")
    expected = "".join(f"line {split}: {letter} and {split}\r\n" for split in range(1, len(wire)))
    assert player.all_text.decode() == expected


@pytest.mark.parametrize("rest", [b"\r\0x", b"\r\n"])
def test_a_line_end_that_a_restart_cuts(kept, rest):
    player, seat = kept.seated()
    seat.send(b"before" + rest[:1])
    player.until_text("before")
    kept.taken_in(seat)
    kept.restart()
    seat.send(rest[1:] + b"after\r\n")
    settled(kept, player)
    player.until_text("after\r\n")
    assert player.all_text == b"before" + rest.replace(b"\0", b"") + b"after\r\n"


def test_a_line_of_the_app_that_a_restart_cuts(kept):
    """A `\\n` that comes in the next message belongs to the `\\r` before it, in the next process, too."""
    player, seat = kept.seated()
    player.send("one\r")
    seat.heard_lines(1)
    player.until_handled()
    kept.restart()
    settled(kept, player)
    player.send("\ntwo\r\n")
    assert seat.heard_lines(2) == ["one", "two"]


def test_the_state_again_is_there_to_be_asked_for(kept):
    player, seat = kept.seated()
    seat.tell(WILL, ECHO)
    seat.tell(WILL, GMCP)
    seat.tell(WILL, MSSP)
    seat.heard("do", MSSP)
    seat.send(gmcp("Char.Vitals", {"hp": 41}) + gmcp("Fight.Turn", 7) + gmcp("Char.Vitals", {"hp": 42}))
    seat.send(subnegotiation(MSSP, b"\x01NAME\x02Avalon"))
    player.until_event("mssp")
    player.acknowledge()
    kept.restart()
    session = settled(kept, player, state=True)
    assert (session["echo"], session["gmcp"]) == (True, True)
    player.until_event("echo", on=True, again=True)
    player.until_event("gmcp", package="Char.Vitals", data={"hp": 42}, again=True)
    player.until_event("mssp", data={"NAME": "Avalon"}, again=True)
    assert not [e for e in player.events("gmcp") if e["package"] == "Fight.Turn" and e.get("again")]


def test_what_was_agreed_with_the_game_stays_agreed(kept):
    player, seat = kept.seated(client={"name": "Lantern", "columns": 80, "rows": 24, "gmcp": ["Char 1"]})
    seat.tell(253, NAWS)
    seat.tell(WILL, GMCP)
    seat.heard("sub", NAWS, bytes([0, 80, 0, 24]))
    seat.heard("sub", GMCP, b'Core.Supports.Set ["Char 1"]')
    said = len(seat.said)
    kept.restart()
    settled(kept, player)
    player.event(type="client", columns=100, rows=30)
    seat.heard("sub", NAWS, bytes([0, 100, 0, 30]))
    player.line("x")
    seat.heard_lines(1)
    rest = [entry for entry in seat.said[said:] if entry[0] != "sub" or entry[1] != GMCP]
    assert rest == [("sub", NAWS, bytes([0, 100, 0, 30]))]


def test_an_app_that_takes_nothing_holds_nobody_up(kept_evenings):
    """Its socket is full when the restart comes; it gets all of it later."""
    kept = kept_evenings(DRAIN_TIMEOUT="60s")
    player, seat = kept.seated()
    other, other_seat = kept.seated()
    threading.Thread(target=flooding, args=(seat, 1024 * 1024), daemon=True).start()
    # The gate reads no further, and so the game cannot write any more.
    eventually(lambda: queued_bytes("sport", "=", f":{kept.game.port}")[0] > 100_000, "a full socket")
    begun = time.monotonic()
    kept.store.end()
    assert time.monotonic() - begun < patience(25)
    kept._away()
    kept.store.start()
    settled(kept, player)
    seat_text = b"x" * 78 + b"\r\n"
    player.until(lambda: len(player.all_text) >= 1_000_000, "all of it", within=60)
    whole = seat_text * (len(player.all_text) // 80 + 1)
    assert whole.startswith(player.all_text) and not player.events("gap")
    settled(kept, other)


def test_a_restart_under_way_when_the_kill_comes(kept):
    """As crashed as any: what the slots say counts."""
    players = [kept.seated() for _ in range(10)]
    for player, seat in players:
        seat.say("a\r\n")
        player.until_text("a\r\n")
    kept.gate.signal(15)
    kept.store.kill()
    kept._away(crashed=True)
    kept.store.start()
    for player, seat in players:
        kept.back(player)
        player.line("still here")
        seat.say("b\r\n")
        player.until_text("b\r\n")
        assert seat.heard_lines(1) == ["still here"]
        assert player.all_text == b"a\r\nb\r\n" or player.events("gap")


# ---- time, and the port


def test_resume_for_counts_over_restarts(kept_evenings, fault):
    evening = kept_evenings(SESSION_RESUME_FOR="1000s", **fault.environment)
    player, seat = evening.seated()
    player.lose()
    evening.gate.event(event="session_detached")
    fault.jump(600)
    evening.restart()
    fault.jump(300)
    settled(evening, player)
    player.lose()
    eventually(lambda: evening.gate.log_text().count("session_detached") == 2, "two losses")
    fault.jump(600)
    evening.restart()
    fault.jump(600)
    # A loop that sleeps does not see a clock that jumps; one that is asked does.
    eventually(lambda: evening.rested() or seat.ended.is_set(), "the end")
    assert player.connect()["resumed"] is False


def test_nobody_who_connects_meanwhile_is_refused(kept):
    """Connects wait in the backlog of a listener that stays; a request is answered by the next process."""
    kept.seated()
    kept.store.end()
    kept.gate.app.close()
    waiting = [socket.create_connection((kept.gate.host, kept.gate.port), timeout=LONG) for _ in range(20)]
    kept.store.start()
    for connection in waiting:
        connection.close()
    with Raw(kept.gate) as client:
        assert client.send(head("GET", "/healthz")).reply().status == 200
    assert sum(count for name, count in kept.store.names().items() if name.startswith("l")) >= 1


def test_connects_all_the_time(kept):
    """Six restarts and kills: no connect is refused, not even between two processes, and each process answers."""
    stop, answers, refused = threading.Event(), [], []

    def knock():
        while not stop.is_set():
            try:
                with Raw(kept.gate) as client:
                    client.send(head("GET", "/healthz"))
                    answers.append(client.reply().status)
            except ConnectionRefusedError as error:
                refused.append(error)
            except (OSError, AssertionError):
                pass  # a process that ended had it

    thread = threading.Thread(target=knock, daemon=True)
    thread.start()
    for number in range(6):
        known = len(answers)
        kept.restart() if number % 2 else kept.kill_and_start()
        eventually(lambda: len(answers) > known + 1, "answers of the next process")
    stop.set()
    thread.join(patience(60))
    # Who was let in before the restart began is told to come back.
    assert 200 in answers and set(answers) <= {200, 503} and not refused


def test_another_port_and_other_loops(kept_evenings):
    """Fewer loops share more listeners, more loops make their own; what LISTEN no longer names is closed."""
    evening = kept_evenings(WORKERS="3")
    players = [evening.seated() for _ in range(6)]
    for workers in ("1", "4", "2"):
        evening.gate.environment["WORKERS"] = workers
        evening.restart()
        for player, seat in players:
            settled(evening, player)
        for _ in range(20):
            with Raw(evening.gate) as client:
                assert client.send(head("GET", "/healthz")).reply().status == 200
    old = evening.gate.port
    from gate import free_port

    evening.store.end()
    evening._away()
    evening.gate.port = free_port()
    evening.gate.environment["LISTEN"] = evening.gate.address
    evening.store.start()
    for player, seat in players:
        settled(evening, player)

    def is_closed():
        try:
            socket.create_connection((evening.gate.host, old), timeout=LONG).close()
        except ConnectionRefusedError:
            return True

    eventually(is_closed, "the old port is closed")


def test_upgrades_that_come_too_late_are_sent_elsewhere(kept):
    """A connection that was there before the restart gets 503, or is gone; a new session is not begun for it."""
    player, seat = kept.seated()
    device = kept.device()
    headers = [f"{n}: {v}" for n, v in device.headers(kept.gate.app.nonce()).items()]
    late = Raw(kept.gate)
    kept.gate.signal(15)
    try:
        from clients import UPGRADE

        late.send(head("GET", "/", *UPGRADE, "Sec-WebSocket-Protocol: portcullis.v1", *headers))
        status = late.reply(head_only=True).status
    except (OSError, AssertionError):
        status = None
    assert status in (None, 503, 101)
    assert kept.gate.wait() == 0
    kept.gate.app.close()
    kept.store.start()
    settled(kept, player)


def test_a_read_under_way_when_the_restart_comes(kept_evenings, fault):
    evening = kept_evenings(WORKERS="1", **fault.environment)
    player, seat = evening.seated()
    fault.hold_leg(evening.game.port, BEFORE_READ)
    seat.say("a\r\n")
    eventually(lambda: fault.legs_held == 1, "a call held")
    evening.gate.signal(15)
    fault.let_legs_go()
    assert evening.gate.wait() == 0
    evening._away()
    evening.store.start()
    settled(evening, player)
    player.until_text("a\r\n")
    assert player.all_text == b"a\r\n" and not player.events("gap")


# ---- the operator


def test_a_service_that_is_stopped_ends_its_sessions(kept):
    player, seat = kept.seated()
    kept.stop()
    seat.gone()
    assert not kept.store.names()
    kept.store.start()
    assert player.connect()["resumed"] is False


def test_drain_end_ends_all_and_empties_the_store(kept):
    players = [kept.seated() for _ in range(3)]
    players[2][0].lose()
    kept.gate.event(event="session_detached")
    done = kept.gate.command("sessions", "end", "--all")
    assert done.returncode == 0, done.stderr
    assert not kept.store.names()
    for player, seat in players:
        seat.gone()
    for player, _ in players[:2]:
        player.until_lost()
        assert player.ended is not None
    kept.store.end()
    kept.gate.app.close()
    kept.store.start()
    assert players[0][0].connect()["resumed"] is False


def test_drain_end_does_not_say_that_a_deaf_manager_has_let_go(kept):
    """The sessions have ended all the same, and whoever asks again later is told when the store is empty."""
    player, seat = kept.seated()
    with kept.store.deaf():
        refused = kept.gate.command("sessions", "end", "--all")
        assert refused.returncode == 75 and "has not said that it released them" in refused.stderr, refused.stderr
        seat.gone()
        player.until_lost()
        assert player.ended == "shutdown"
        assert kept.store.legs() == 1
    done = kept.gate.command("sessions", "end", "--all")
    assert done.returncode == 0, done.stderr
    assert not kept.store.names()


def reloads(gate):
    return sum(event.get("event") == "reloaded" for event in gate.events())


def test_reloads_between_restarts(kept):
    player, seat = kept.seated()
    for number in range(3):
        kept.gate.signal(1)
        eventually(lambda: reloads(kept.gate) > number, "another reload")
        kept.restart()
        settled(kept, player)
        player.line(str(number))
    assert seat.heard_lines(3) == ["0", "1", "2"]


def test_without_a_store_a_stop_is_a_stop(evening):
    player, seat = evening.seated()
    assert player.sessions[-1]["kept"] is False
    evening.gate.signal(15)
    assert player.until_lost().code == 1000
    assert player.ended == "shutdown"
    seat.gone()


def test_turned_off_nothing_is_kept(kept_evenings):
    evening = kept_evenings(HOT_RESTART="off")
    player, seat = evening.seated(is_kept=False)
    assert evening.store.legs() == 0
    evening.gate.signal(15)
    player.until_lost()
    assert player.ended == "shutdown"
    seat.gone()


def test_turned_off_with_sessions_of_the_process_before(kept):
    """What nobody will take up is ended, and does not stay in the store for ever."""
    player, seat = kept.seated()
    kept.store.end()
    kept._away()
    kept.gate.environment["HOT_RESTART"] = "off"
    kept.store.start()
    seat.gone()
    eventually(lambda: kept.store.legs() == 0, "no leg in the store")
    assert player.connect()["resumed"] is False


def test_what_the_log_says(kept):
    player, seat = kept.seated()
    kept.restart()
    kept.kill_and_start()
    text = kept.gate.log_text()
    assert player.id not in text
    for event in kept.gate.events():
        assert "id" not in event or player.id not in json.dumps(event)
