"""simulate connect in a session of portcullis.v1: scripts and terminals, over connections that break. The gate here is
scripted.py's."""

import pathlib
import random
import signal
import stat
import subprocess

import pytest

from gate import BINARY, process_environment
from scripted import ScriptedGate
from terminal import Terminal
from waiting import eventually, patience

DATA_ERROR, UNAVAILABLE, REFUSED = 65, 69, 77


@pytest.fixture(scope="module")
def device_file(module_folder, shared_gates):
    """A software device's file. No gate of this page asks whether its key is registered."""
    gate = shared_gates(start=False)
    assert gate.command("dev-certs").returncode == 0
    # Nobody listens: the key is made, and stays unregistered.
    gate.command("simulate", "register", "--app-id", "ABCDEF12K4.org.example.mudproxy", "--url", "wss://localhost:9")
    path = module_folder / "certs" / "dev" / "device.json"
    assert path.exists()
    return path


@pytest.fixture
def scripted(pki):
    """Makes gates."""
    made = []

    def make(**options):
        made.append(ScriptedGate(pki.server_certificate, pki.server_key, **options))
        return made[-1]

    yield make
    for gate in made:
        gate.stop()


@pytest.fixture
def gate(scripted):
    return scripted()


@pytest.fixture
def command(pki, device_file):
    def make(gate, *arguments):
        fixed = ["--url", gate.url, "--ca", pki.server_ca, "--state", device_file, "--timeout", "60"]
        return [str(word) for word in [BINARY, "simulate", "connect", *fixed, *arguments]]

    return make


@pytest.fixture
def script(command):
    """Starts it with pipes."""
    made = []

    def start(gate, *arguments):
        made.append(
            subprocess.Popen(
                command(gate, *arguments),
                env=process_environment({"TERM": "xterm"}),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
        )
        made[-1].gate = gate
        return made[-1]

    yield start
    for process in made:
        if process.poll() is None:
            process.kill()
            process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            stream.close()


@pytest.fixture
def terminal(command):
    """Starts it in a terminal, and returns that once a session has begun."""
    made = []

    def start(gate, *arguments, **options):
        environment = process_environment({"TERM": "xterm-256color", "COLORTERM": "truecolor"})
        made.append(Terminal(command(gate, *arguments), env=environment, **options))
        gate.begun()
        eventually(lambda: made[-1].takes_keys, "keys instead of lines")
        return made[-1]

    yield start
    for each in made:
        each.close()


def finish(process, text=b""):
    """Output, messages and exit status, once the gate has taken all that the process sent: it answers a Close before it
    has gone through the messages in front of it."""
    output, messages = process.communicate(text, timeout=patience(60))
    eventually(lambda: process.gate.carried == 0, "the end of its connections")
    return output, messages.decode(), process.returncode


# ---- scripts


def test_lines_go_in_and_text_comes_out(gate, script):
    player = script(gate)
    session = gate.begun()
    gate.say("Wëlcome.\r\n> ".encode())
    gate.say({"type": "prompt"})
    gate.tell({"type": "later", "again": True})
    # What has not been shown by the end of the input is lost.
    shown = "Wëlcome.\r\n> ".encode()
    assert player.stdout.read(len(shown)) == shown
    assert finish(player, b"look\nsay h\xc3\xa9\nquit") == (b"", "", 0)
    assert session.taken == [b"look\n", "say hé\n".encode(), b"quit"]
    assert gate.attempts[0].client["name"] == "Portcullis" and "columns" not in gate.attempts[0].client


@pytest.mark.parametrize(
    "reason, status",
    [("game_closed", 0), ("game_failed", UNAVAILABLE), ("revoked", REFUSED), ("let_go", UNAVAILABLE), ("new", UNAVAILABLE)],
)
def test_how_a_session_ends(gate, script, reason, status):
    player = script(gate, "--wait")
    session = gate.begun()
    gate.say(b"Farewell.\r\n")
    gate.say({"type": "ended", "reason": reason})
    # A Close behind it may be answered before that is sent, which then nobody misses.
    eventually(lambda: session.acknowledged == 2, "the end is acknowledged")
    gate.close(1000)
    output, messages, code = finish(player)
    assert (output, code) == (b"Farewell.\r\n", status)
    assert (reason in messages) == (status != 0)


@pytest.mark.parametrize("code, status", [(1008, REFUSED), (4001, UNAVAILABLE)])
def test_closes_that_are_not_come_back_from(gate, script, code, status):
    player = script(gate, "--wait")
    gate.begun()
    gate.close(code)
    assert finish(player)[2] == status
    assert len(gate.attempts) == 1


def test_a_script_loses_nothing(gate, script):
    """A connection breaks at every seventh message on average: all lines arrive once, and all text is shown once."""
    chance = random.Random(12)
    gate.ready_to_cut = lambda: chance.random() < 0.15
    player = script(gate, "--wait")
    session = gate.begun()
    lines = [f"line {number}\n".encode() for number in range(30)]
    player.stdin.write(b"".join(lines))
    player.stdin.flush()
    texts = [f"text {number}\r\n".encode() for number in range(30)]
    for text in texts:
        gate.say(text)
    eventually(lambda: session.text() == b"".join(lines), "all lines", within=120)
    gate.ready_to_cut = None
    eventually(lambda: session.acknowledged == 30, "all texts", within=120)
    gate.end("game_closed")
    output, _, status = finish(player)
    assert status == 0 and output == b"".join(texts)
    assert session.taken == lines
    assert len(gate.sessions) == 1 and len(gate.attempts) > 3
    nonces = [attempt.nonce for attempt in gate.attempts]
    assert all(nonces) and len(set(nonces)) == len(nonces)
    assert gate.attempts[0].resume is None and all(attempt.resume for attempt in gate.attempts[1:])


def test_another_start_comes_back(gate, script, tmp_path):
    """Killed, and started again: the session goes on behind what was acknowledged, and how things stand is asked for."""
    saved = tmp_path / "session.json"
    player = script(gate, "--session", saved)
    session = gate.begun()
    player.stdin.write(b"a secret\n")
    player.stdin.flush()
    gate.say(b"one")
    eventually(lambda: session.acknowledged == 1 and session.taken == [b"a secret\n"], "both messages")
    player.kill()
    player.wait()
    assert stat.S_IMODE(saved.stat().st_mode) == 0o600 and "secret" not in saved.read_text()
    eventually(lambda: session.connection is None, "the end of the connection")
    gate.say(b"two")
    again = script(gate, "--session", saved)
    eventually(lambda: session.acknowledged == 2, "the rest")
    assert gate.attempts[-1].resume.endswith(";received=1;state")
    again.stdin.write(b"quit\n")
    again.stdin.flush()
    eventually(lambda: session.taken == [b"a secret\n", b"quit\n"], "what was typed since")
    gate.end("game_closed")
    assert finish(again) == (b"two", "portcullis: back in the game\n", 0)
    # What is over is not asked for again.
    last = script(gate, "--session", saved)
    gate.begun(2)
    assert gate.attempts[-1].resume is None
    assert finish(last)[2] == 0


@pytest.mark.parametrize("text", ["", "{}", "[1", '{"gate":"localhost:%d","session":"x","received":-1,"handled":0}'])
def test_what_is_remembered_and_unreadable_is_nothing(gate, script, tmp_path, text):
    saved = tmp_path / "session.json"
    saved.write_text(text.replace("%d", str(gate.port)))
    player = script(gate, "--session", saved)
    gate.begun()
    assert gate.attempts[0].resume is None
    assert finish(player)[2] == 0


def test_what_is_remembered_of_another_gate_is_not_told(gate, script, tmp_path):
    saved = tmp_path / "session.json"
    saved.write_text('{"gate":"other.example:443","session":"AAECAwQFBgcICQoLDA0ODw","received":3,"handled":0}')
    player = script(gate, "--session", saved)
    gate.begun()
    assert gate.attempts[0].resume is None
    assert finish(player)[2] == 0


def test_the_end_of_a_script_waits_for_its_lines(gate, script):
    """The input ends while there is no connection."""
    player = script(gate)
    session = gate.begun()
    gate.refusals = [(503, "overloaded", [("Retry-After", "1")])]
    gate.cut()
    assert finish(player, b"one\ntwo\nthree\n")[2] == 0
    assert session.taken == [b"one\n", b"two\n", b"three\n"] and len(gate.attempts) == 3


def test_a_script_does_not_go_on_in_another_session(gate, script):
    player = script(gate, "--wait")
    gate.begun()
    player.stdin.write(b"one\n")
    player.stdin.flush()
    eventually(lambda: gate.session.taken, "the line")
    gate.forget()
    gate.cut()
    _, messages, status = finish(player)
    assert status == UNAVAILABLE and "the session is gone" in messages
    assert gate.session.taken == []


def test_it_waits_as_long_as_the_gate_says(gate, script):
    player = script(gate, "--wait")
    gate.begun()
    gate.refusals = [(503, "shutting_down", [("Retry-After", "2")]), (401, "nonce_invalid", [])]
    gate.cut()
    eventually(lambda: gate.session.connection, "the way back", within=60)
    first, refused, stale, last = gate.attempts
    assert stale.at - refused.at >= 2 and last.resume == refused.resume
    gate.end("game_closed")
    assert finish(player)[2] == 0


def test_a_refusal_that_is_final(gate, script):
    player = script(gate, "--wait")
    gate.begun()
    gate.refusals = [(403, "key_revoked", [])]
    gate.cut()
    _, messages, status = finish(player)
    assert status == REFUSED and "key_revoked" in messages


def test_the_first_connection_is_not_tried_twice(gate, script):
    gate.refusals = [(429, "rate_limited", [("Retry-After", "7")])]
    _, messages, status = finish(script(gate))
    assert status == UNAVAILABLE and "try again in 7 s" in messages
    assert len(gate.attempts) == 1


def test_a_gate_that_does_not_speak_it(scripted, script):
    _, messages, status = finish(script(scripted(subprotocols=[])), b"look\n")
    assert status == DATA_ERROR and "--raw" in messages


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_the_session_in_order(gate, script, number):
    player = script(gate, "--wait")
    session = gate.begun()
    connection = session.connection
    player.send_signal(number)
    assert finish(player)[2] == 128 + number
    eventually(lambda: connection.close_code == 1000, "the Close")


def test_long_lines_are_cut_between_characters(gate, script):
    text = "a" + "é" * 40_000
    assert finish(script(gate), text.encode())[2] == 0
    assert gate.session.text() == text.encode()
    assert all(message.decode() for message in gate.session.taken) and len(gate.session.taken) > 4


# ---- terminals


def test_a_terminal_plays(gate, terminal):
    player = terminal(gate, columns=100, rows=30)
    session = gate.session
    said = gate.attempts[0].client
    assert (said["columns"], said["rows"], said["terminal"]) == (100, 30, "XTERM-256COLOR")
    assert said["features"] == ["truecolor"]
    gate.say(b"Hello.\r\n> ")
    gate.say({"type": "prompt"})
    player.until("> ")
    player.press("lok\x7fok\n")
    eventually(lambda: session.taken == [b"look\n"], "the line")
    player.resize(120, 40)
    eventually(lambda: session.clients, "the new size")
    assert (session.clients[-1]["columns"], session.clients[-1]["rows"]) == (120, 40)
    player.press("\x04")
    assert player.wait() == 0


def test_what_is_typed_stays_whole(gate, terminal):
    player = terminal(gate)
    gate.say(b"> ")
    gate.say({"type": "prompt"})
    player.until("> ")
    player.press("nor")
    player.until("nor")
    gate.say(b"A crow caws.\r\n> ")
    eventually(lambda: player.shown.partition("caws.")[2].endswith("\n> nor"), "what is typed, again")
    player.press("th\n")
    eventually(lambda: gate.session.taken == [b"north\n"], "the line")


def test_passwords_are_hidden(gate, terminal):
    player = terminal(gate)
    gate.say(b"Password: ")
    gate.say({"type": "echo", "on": True})
    gate.say(b"(hidden) ")
    player.until("(hidden)")
    player.press("secret\n")
    eventually(lambda: gate.session.taken == [b"secret\n"], "the line")
    gate.say({"type": "echo", "on": False})
    gate.say(b"Welcome.\r\n")
    player.until("Welcome.")
    player.press("look\n")
    player.until("look")
    assert "secret" not in player.shown


def test_a_terminal_comes_back_by_itself(gate, terminal):
    player = terminal(gate)
    gate.cut()
    player.until("the connection is lost")
    player.press("north\n")
    gate.say(b"You were hit.\r\n")
    player.until("back in the game", within=60)
    player.until("You were hit.")
    eventually(lambda: gate.session.taken == [b"north\n"], "the line")
    gate.forget()
    gate.cut()
    player.until("a new one begins", within=60)
    assert len(gate.sessions) == 2


@pytest.mark.parametrize(
    "number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT], ids=lambda number: number.name
)
def test_signals_leave_the_terminal_as_it_was(gate, terminal, number):
    player = terminal(gate)
    player.process.send_signal(number)
    assert player.wait() == 128 + number


def test_control_c_leaves_the_terminal_as_it_was(gate, terminal):
    player = terminal(gate)
    player.press("\x03")
    assert player.wait() == 128 + signal.SIGINT


def test_refusals_leave_the_terminal_as_it_was(gate, terminal):
    player = terminal(gate)
    gate.end("revoked")
    player.until("revoked")
    assert player.wait() == REFUSED


def is_stopped(process):
    threads = pathlib.Path(f"/proc/{process}/task").glob("*/stat")
    return all(stat.read_text().rpartition(")")[2].split()[0] == "T" for stat in threads)


def test_control_z_stops_and_comes_back(gate, terminal):
    player = terminal(gate)
    gate.say(b"> ")
    player.until("> ")
    player.press("nor")
    player.until("nor")
    player.press("\x1a")
    eventually(lambda: not player.takes_keys, "the terminal as it was")
    assert player.settings == player.before
    # One that comes before it has stopped is lost.
    eventually(lambda: is_stopped(player.process.pid), "the program stopped")
    player.process.send_signal(signal.SIGCONT)
    eventually(lambda: player.takes_keys, "keys again")
    player.press("th\n")
    eventually(lambda: gate.session.taken == [b"north\n"], "the line")
