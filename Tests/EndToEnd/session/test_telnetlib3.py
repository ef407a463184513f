"""Behind the gate a game by telnetlib3, and before it a client by telnetlib3: it keeps to the RFCs in its own way.

Skipped where `make peers` found none.
"""

import contextlib
import json
import pathlib
import socket
import subprocess
import threading

import pytest

import neighbour
import sessions
from gate import free_port
from sessions import Lost, Player, Wire
from waiting import LONG, eventually, patience
from websocket import BINARY

CLIENT = {"name": "PocketMUD", "version": "2.1", "columns": 101, "rows": 37}


class Game:
    """The process, and what it prints."""

    def __init__(self, encoding):
        self.port = free_port()
        self.address = f"127.0.0.1:{self.port}"
        self.told = []
        script = neighbour.OVERLAY.parent / "telnetlib3_game.py"
        self.process = subprocess.Popen(
            [neighbour.PYTHON, "-W", "ignore", script, str(self.port), encoding],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
        )
        threading.Thread(target=self._read, daemon=True).start()
        self.heard("listening")

    def _read(self):
        for line in self.process.stdout:
            self.told.append(json.loads(line))

    def heard(self, name, within=60):
        """The first thing it told under this name."""

        def find():
            return [entry[name] for entry in self.told if name in entry]

        eventually(find, f"{name} from the game; it told {self.told}", within)
        return find()[0]

    def last(self, name, count):
        """What it told under this name when it did so for the last of so many times."""

        def find():
            return [entry[name] for entry in self.told if name in entry]

        eventually(lambda: len(find()) >= count, f"{name} {count} times from the game; it told {self.told}", 60)
        return find()[-1]

    def stop(self):
        self.process.terminate()
        self.process.wait(patience(LONG))


class Client:
    """telnetlib3 as a player: the process, and what it has read."""

    def __init__(self, port):
        self.text, self.has_ended = "", False
        script = pathlib.Path(sessions.__file__).parent / "telnetlib3_client.py"
        self.process = subprocess.Popen(
            [neighbour.PYTHON, "-W", "ignore", script, str(port), CLIENT["name"], "101", "37"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            text = json.loads(line)
            if text is None:
                self.has_ended = True
            else:
                self.text += text

    def line(self, text):
        self.process.stdin.write(text + "\n")
        self.process.stdin.flush()

    def until_text(self, text):
        eventually(lambda: text in self.text, f"{text!r}; it has read {self.text[-300:]!r}", within=60)

    def stop(self):
        self.process.kill()
        self.process.wait()


class Bridge:
    """A port for telnet clients: what comes there goes through a raw session of the gate's, and back, as it is."""

    def __init__(self, gate, fields):
        self.gate, self.fields = gate, fields
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.is_over = False
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self):
        caller, _ = self.listener.accept()
        with caller, Wire(self.gate, self.fields) as wire, contextlib.suppress(Lost, OSError):
            while not self.is_over:
                caller.settimeout(0.005)
                with contextlib.suppress(TimeoutError):
                    data = caller.recv(65536)
                    if not data:
                        return
                    wire.post(BINARY, data)
                message = wire.message(0.005)
                if message:
                    caller.settimeout(patience(LONG))
                    caller.sendall(message[1])

    def stop(self):
        self.is_over = True
        self.listener.close()


@pytest.fixture
def games():
    if reason := neighbour.missing():
        pytest.skip(reason)
    made = []

    def make(encoding="utf-8"):
        made.append(Game(encoding))
        return made[-1]

    yield make
    for game in made:
        game.stop()


@pytest.fixture
def play(games, gates, new_device):
    """A game, and a player who has been greeted by it."""
    players = []

    def make(encoding="utf-8", **changes):
        game = games(encoding)
        gate = gates(game, TRUSTED_PROXIES="127.0.0.1/32", **changes)
        player = Player(gate, gate.app.register(new_device()), client=CLIENT)
        players.append(player)
        player.connect(extra=["X-Forwarded-For: 203.0.113.9"])
        player.until_text("Welcome to telnetlib3, Zoë.\r\n", within=60)
        return game, player

    yield make
    for player in players:
        player.wire.close()


def test_a_conversation(play):
    game, player = play()
    player.line("hello ünï 🐉")
    assert game.heard("line") == "hello ünï 🐉"
    player.until_text("You say: hello ünï 🐉\r\n")
    player.line("quit")
    player.until_lost()
    assert player.ended == "game_closed"


def test_what_it_learns(play):
    game, player = play()

    # It asks for all there is by a VAR and a USERVAR without a name.
    wanted = {"cols": 101, "rows": 37, "IPADDRESS": "203.0.113.9", "CLIENT_NAME": "PocketMUD"}
    wanted |= {"ttype1": "PocketMUD", "ttype2": "XTERM-256COLOR", "ttype3": "MTTS 2701"}

    def has_learned():
        """It lets players in after a second and a half, whatever it has been told by then."""
        player.line("facts")
        facts = game.last("facts", player.sent)
        return wanted.items() <= facts.items() and len(facts["PORTCULLIS_DEVICE"] or "") == 22

    eventually(has_learned, f"{wanted}", within=60)


def test_gmcp_goes_both_ways(play):
    game, player = play()
    player.event(type="gmcp", package="Char.Skills", data={"group": "Ünarmed"})
    sent = ["Char.Skills", {"group": "Ünarmed"}]
    assert player.until_event("gmcp", package="Game.Echo", data=sent)
    eventually(lambda: {"gmcp": sent} in game.told, f"GMCP at the game: {game.told}")


def test_a_password_is_hidden(play):
    game, player = play()
    player.line("password")
    player.until_event("echo", on=True)
    player.line("s3cret")
    assert game.heard("password") == "s3cret"
    player.until_event("echo", on=False)
    assert b"s3cret" not in player.all_text


def test_the_charset_it_offers(play):
    """It offers UTF-8 first; with another charset of the game's own the two agree on UTF-8, and so it is."""
    game, player = play(GAME_CHARSET="ISO-8859-1")
    player.line("facts")
    if game.heard("facts")["charset"] == "UTF-8":
        player.line("Zoë 🐉")
        player.until_text("You say: Zoë 🐉\r\n")


def test_a_cut_changes_nothing(play):
    game, player = play()
    for number in range(10):
        player.line(f"line {number}")
        player.lose()
        player.connect()
        assert player.sessions[-1]["resumed"]
    player.until_text("You say: line 9\r\n")
    eventually(
        lambda: [entry["line"] for entry in game.told if "line" in entry]
        == [f"line {number}" for number in range(10)],
        f"ten lines once each: {game.told}",
    )


# ---- telnetlib3 as the client


@pytest.fixture
def call(gates, new_device):
    """A player by telnetlib3 whom the game has greeted: through a raw session of a gate, or without a gate."""
    made = []

    def make(game, by_gate):
        port = game.port
        if by_gate:
            gate = gates(game)
            device = gate.app.register(new_device())
            fields = [f"{name}: {value}" for name, value in device.headers(gate.app.nonce()).items()]
            made.append(Bridge(gate, fields))
            port = made[-1].port
        made.append(Client(port))
        made[-1].until_text("Welcome to telnetlib3, Zoë.\r\n")
        return made[-1]

    yield make
    for thing in reversed(made):
        thing.stop()


def learned(game, ask, wanted):
    """What the game knows of a client once it knows this much: it lets clients in whatever it was told by then."""
    asked = 0

    def facts():
        nonlocal asked
        asked += 1
        ask("facts")
        found = game.last("facts", asked)
        return found if wanted.items() <= found.items() else None

    return eventually(facts, f"{wanted}; the game told {game.told}", within=60)


@pytest.mark.parametrize("by_gate", [False, True], ids=["without_a_gate", "by_a_raw_session"])
def test_its_own_client_plays(games, call, by_gate):
    """All that its two ends say to each other, telnet and text, passes a raw session as it is."""
    game = games()
    client = call(game, by_gate)
    client.line("hello ünï 🐉")
    assert game.heard("line") == "hello ünï 🐉"
    client.until_text("You say: hello ünï 🐉\r\n")
    client.line("password")
    client.until_text("Password: ")
    client.line("s3cret")
    assert game.heard("password") == "s3cret"
    client.line("quit")
    eventually(lambda: client.has_ended, "the end", within=60)


def test_its_own_client_says_the_same_through_a_raw_session(games, call):
    wanted = {"cols": 101, "rows": 37, "charset": "UTF-8", "ttype1": CLIENT["name"], "ttype2": CLIENT["name"]}
    told = []
    for by_gate in (False, True):
        game = games()
        told.append(learned(game, call(game, by_gate).line, wanted))
    assert told[0] == told[1]


def test_the_gate_answers_as_its_own_client_does(games, call, play):
    """Of an app with the client's name and window a game learns what it learns of the client, by the same options."""
    game = games()
    wanted = {"cols": 101, "rows": 37, "ttype1": CLIENT["name"]}
    learned(game, call(game, False).line, wanted)
    game, player = play()
    learned(game, player.line, wanted)
