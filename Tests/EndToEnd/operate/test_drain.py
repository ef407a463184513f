"""`drain` and `drain --off`: who plays plays on and may come back, nobody else comes in, and it can be taken back."""

import json
import signal
import subprocess

import pytest

from backend import sink
from clients import UPGRADE, Raw, assert_refusal, curl, head
from gate import BINARY, process_environment
from sessions import Refused
from silence import late_listener
from waiting import eventually, patience
from websocket import RawWebSocket

DATA_ERROR, TEMPORARY, UNAVAILABLE, USAGE = 65, 75, 69, 64


def order(gate, *arguments, expected=0):
    done = gate.command(*arguments, "--json")
    assert done.returncode == expected, (done.returncode, done.stderr)
    return json.loads(done.stdout) if done.stdout else done.stderr


def is_shut(gate):
    """Whether the gate says from outside that it drains."""
    reply = curl(gate, "/healthz")
    if reply.status != 200:
        assert_refusal(reply, 503, "shutting_down")
    return reply.status == 503


def test_who_plays_plays_on_and_comes_back_and_nobody_else_comes_in(evening):
    player, seat = evening.seated()
    other = evening.player(connect=False)
    assert order(evening.gate, "drain") == {"sessions": 1, "detached": 0}
    assert is_shut(evening.gate)

    # A new player is told when to come back, and the connection is closed: the next one may meet another gate.
    fields = other.fields()
    with Raw(evening.gate) as client:
        reply = client.send(head("GET", "/", *UPGRADE, *fields)).reply()
        assert_refusal(reply, 503, "shutting_down")
        assert reply.header("Retry-After") == "10" and reply.header("Connection") == "close"
        assert client.closed()

    seat.say("still here\r\n")
    player.until_text("still here\r\n")
    player.line("so am I")
    assert seat.heard_lines(1) == ["so am I"]
    player.lose()
    evening.gate.event(event="session_detached")
    assert order(evening.gate, "drain") == {"sessions": 0, "detached": 1}
    assert player.connect()["resumed"]
    player.line("back again")
    assert seat.heard_lines(2)[-1] == "back again" and evening.game.count == 1

    # What was refused has used up nothing: the same challenge is good once the drain is taken back.
    assert order(evening.gate, "drain", "--off") == {"wasDraining": True}
    assert not is_shut(evening.gate)
    with Raw(evening.gate) as client:
        assert client.send(head("GET", "/", *UPGRADE, *fields)).reply(head_only=True).status == 101
    assert order(evening.gate, "drain", "--off") == {"wasDraining": False}
    assert evening.gate.event(event="drain_begun")["sessions"] in (1, "1")
    evening.gate.event(event="drain_ended")


def test_nothing_but_a_session_of_ones_own_opens_a_gate_that_drains(evening):
    """Another's session, one that is over, one that never was: none of them begins a new stay."""
    owner, _ = evening.seated()
    guesser, liar, late = (evening.player(connect=False) for _ in range(3))
    gone, _ = evening.seated()
    order(evening.gate, "drain")
    # The id of somebody else's session, with a credential that is good.
    guesser.id = owner.id
    with pytest.raises(Refused) as refused:
        guesser.connect()
    assert (refused.value.status, refused.value.code) == (503, "shutting_down")
    # An id that nobody has.
    liar.id = "A" * 22
    with pytest.raises(Refused) as refused:
        liar.connect()
    assert (refused.value.status, refused.value.code) == (503, "shutting_down")
    # A count that the session never reached.
    gone.received += 1000
    with pytest.raises(Refused) as refused:
        evening.again(gone).connect()
    assert (refused.value.status, refused.value.code) == (503, "shutting_down")
    with pytest.raises(Refused):
        late.connect()
    assert evening.game.count == 2
    owner.line("alive")
    owner.until_handled()


def test_challenges_and_registrations_go_on(gates, backends, new_device):
    """A resume needs a challenge, and who registers now plays as soon as somebody takes the drain back."""
    gate = gates(backends(sink))
    order(gate, "drain")
    device = gate.app.register(new_device())
    fields = [f"{name}: {value}" for name, value in device.headers(gate.app.nonce()).items()]
    with Raw(gate) as client:
        assert_refusal(client.send(head("GET", "/", *UPGRADE, *fields)).reply(), 503, "shutting_down")
    order(gate, "drain", "--off")
    with Raw(gate) as client:
        assert client.send(head("GET", "/", *UPGRADE, *fields)).reply(head_only=True).status == 101


def test_an_upgrade_that_waits_for_its_game_is_refused(gates):
    """It came before the drain, and its game answers after it: whoever waits for nobody would miss it."""
    with late_listener("127.0.0.1") as game:
        gate = gates(f"127.0.0.1:{game.port}", REQUIRE_APP_AUTH="false", BACKEND_CONNECT_TIMEOUT="600s")
        with Raw(gate) as client:
            client.send(head("GET", "/", *UPGRADE))
            eventually(game.is_called, "a call of the game")
            order(gate, "drain")
            game.answer()
            client.socket.settimeout(patience(60))
            assert_refusal(client.reply(), 503, "shutting_down")


def test_stats_health_and_the_service_manager_say_so(gates, backends):
    gate = gates(backends(sink), REQUIRE_APP_AUTH="false")
    order(gate, "drain")
    assert gate.command("check", "--health").returncode != 0
    assert order(gate, "stats")["status"] == "draining"
    order(gate, "drain", "--off")
    assert gate.command("check", "--health").returncode == 0
    assert order(gate, "stats")["status"] == "ok"


def test_a_reload_keeps_it_and_a_restart_ends_it(gates, backends):
    gate = gates(backends(sink), REQUIRE_APP_AUTH="false")
    order(gate, "drain")
    gate.signal(signal.SIGHUP)
    gate.event(event="reloaded")
    assert is_shut(gate)
    with Raw(gate) as client:
        assert_refusal(client.send(head("GET", "/", *UPGRADE)).reply(), 503, "shutting_down")
    gate.stop()
    gate.start()
    assert not is_shut(gate)


def test_a_stop_is_as_always(gates, backends):
    gate = gates(backends(sink), REQUIRE_APP_AUTH="false")
    client = RawWebSocket(gate)
    order(gate, "drain")
    gate.signal(signal.SIGTERM)
    assert client.until_close()[0] == 1001
    client.close()
    assert gate.wait() == 0


def test_what_is_ended_for_good_is_not_taken_back(gates, backends):
    gate = gates(backends(sink), REQUIRE_APP_AUTH="false")
    order(gate, "sessions", "end", "--all")
    assert "start it again" in order(gate, "drain", "--off", expected=DATA_ERROR)
    assert is_shut(gate)


# ---- --wait


def begin(gate, *arguments):
    return subprocess.Popen(
        [str(BINARY), *arguments],
        cwd=gate.folder,
        env=process_environment(gate.environment),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_waiting_ends_when_nobody_plays(evening):
    player, seat = evening.seated()
    waiting = begin(evening.gate, "drain", "--wait", "10m", "--json")
    eventually(lambda: is_shut(evening.gate), "a drain")
    # Who may come back is still here.
    player.lose()
    evening.gate.event(event="session_detached")
    assert player.connect()["resumed"]
    assert waiting.poll() is None
    seat.close()
    # The word that the stay is over may wait for longer than anybody wants to.
    player.acks = False
    player.until_lost()
    eventually(lambda: order(evening.gate, "stats")["now"]["concluded"] == 1, "a stay that is over")
    output, errors = waiting.communicate(timeout=60)
    assert waiting.returncode == 0, errors
    assert json.loads(output) == {"sessions": 0, "detached": 0}
    assert is_shut(evening.gate)


def test_waiting_ends_with_the_time_and_says_who_is_left(gates, backends):
    gate = gates(backends(sink), REQUIRE_APP_AUTH="false")
    client = RawWebSocket(gate)
    done = gate.command("drain", "--wait", "1s")
    assert done.returncode == TEMPORARY and "1 sessions are left" in done.stderr
    assert "sessions: 1" in done.stdout and is_shut(gate)
    client.close()


def test_waiting_does_not_drain_again_what_somebody_has_taken_back(gates, backends):
    gate = gates(backends(sink), REQUIRE_APP_AUTH="false")
    client = RawWebSocket(gate)
    waiting = begin(gate, "drain", "--wait", "10m")
    eventually(lambda: is_shut(gate), "a drain")
    order(gate, "drain", "--off")
    _, errors = waiting.communicate(timeout=60)
    assert waiting.returncode == TEMPORARY and "taken the drain back" in errors
    assert not is_shut(gate)
    client.close()


def test_usage_and_no_gate(gates):
    gate = gates(start=False)
    assert gate.command("drain", "--end", "--wait", "1m").returncode == USAGE
    assert gate.command("drain", "--off", "--wait", "1m").returncode == USAGE
    assert gate.command("sessions", "end").returncode == USAGE
    assert gate.command("drain", "--wait", "soon").returncode == USAGE
    assert gate.command("drain").returncode == UNAVAILABLE
    assert gate.command("drain", "--off").returncode == UNAVAILABLE
