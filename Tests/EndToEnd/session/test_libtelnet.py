"""Telnet by libtelnet, which MUDs and their clients are made with: its chat server is the game, and its proxy stands in
front of one, where it takes apart all that the gate says and says it again. Skipped without Debian's libtelnet-utils."""

import re
import subprocess
import threading
import zlib

import pytest

import alone
from sessions import Player
from telnet_game import (
    CHARSET,
    DO,
    ECHO,
    EOR,
    EOR_MARK,
    GA,
    GMCP,
    IAC,
    IS,
    MCCP2,
    MSDP,
    MSSP,
    MXP,
    NAWS,
    NEW_ENVIRON,
    SEND,
    SGA,
    TTYPE,
    WILL,
    WONT,
    TelnetGame,
    command,
    gmcp,
    msdp,
    subnegotiation,
)
from waiting import eventually, patience

COMPRESSION = ["off", "mccp2"]
PORT, BACK = 4000, 4001


class Program:
    """One of libtelnet's, and what it prints."""

    def __init__(self, words, doors, exits=()):
        self.told = []
        self.process = subprocess.Popen(
            alone.command(["stdbuf", "-oL", *words], doors, exits),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )
        threading.Thread(target=self._read, daemon=True).start()
        eventually(lambda: any("LISTENING" in line for line in list(self.told)), f"{words[0]} to listen: {self.told}")

    def _read(self):
        for line in self.process.stdout:
            self.told.append(line.rstrip("\n"))

    def stop(self):
        self.process.stdin.close()
        self.process.wait(patience(20))


@pytest.fixture
def programs(folder):
    if reason := alone.missing("stdbuf", "telnet-chatd", "telnet-proxy"):
        pytest.skip(reason)
    made = []

    def make(*arguments):
        made.append(Program(*arguments))
        return made[-1]

    yield make
    for program in made:
        program.stop()


# ---- the chat server


@pytest.fixture
def chat(programs, gates, new_device, folder):
    """A gate in front of the chat server, and whoever comes in by a name."""
    players = []

    def make(compression):
        programs(["telnet-chatd", str(PORT)], [(folder / "chat", PORT)])
        gate = gates(f"unix:{folder}/chat", GAME_COMPRESSION=compression)

        def enter(name):
            player = Player(gate, gate.app.register(new_device()))
            players.append(player)
            player.connect()
            player.until_text("Enter name: ")
            player.line(name)
            player.until_text(f"Welcome, {name}!\r\n")
            return player

        return enter

    yield make
    for player in players:
        player.wire.close()


@pytest.mark.parametrize("compression", COMPRESSION)
def test_two_players_chat(chat, compression):
    enter = chat(compression)
    zoe, ann = enter("Zoë"), enter("Ann 🐉")
    zoe.line("hello ünï 🐉")
    for player in (zoe, ann):
        player.until_text("Zoë: hello ünï 🐉\r\n")
    ann.line("x" * 200)
    for player in (zoe, ann):
        player.until_text("Ann 🐉: " + "x" * 200 + "\r\n")
    zoe.line("quit")
    zoe.until_lost()
    assert zoe.ended == "game_closed"
    ann.until_text("Zoë: ** HAS QUIT **\r\n")


@pytest.mark.parametrize("compression", COMPRESSION)
def test_cuts_change_nothing(chat, compression):
    """A compressed stream goes with its session from loop to loop, and on while nobody listens."""
    enter = chat(compression)
    zoe, ann = enter("Zoe"), enter("Ann")
    for number in range(10):
        ann.line(f"line {number}")
        ann.lose()
        zoe.line(f"while you were away {number}")
        ann.connect()
        assert ann.sessions[-1]["resumed"]
    for player in (zoe, ann):
        player.until(lambda player=player: player.all_text.count(b"\n") == 21, "all that was said")
        said = player.all_text.decode()
        for number in range(10):
            assert said.count(f"Ann: line {number}\r\n") == 1
            assert said.count(f"Zoe: while you were away {number}\r\n") == 1
        assert not player.events("gap")


# ---- the proxy

LINE = re.compile(r"\x1b\[\d+m")


@pytest.fixture
def judged(programs, gates, new_device, folder):
    """A player, their seat in a game, and the proxy between gate and game that takes both apart."""
    made = []

    def make(**changes):
        game = TelnetGame(path=folder / "game")
        made.append(game)
        proxy = programs(
            ["telnet-proxy", "127.0.0.1", str(BACK), str(PORT)],
            [(folder / "proxy", PORT)],
            [(BACK, folder / "game")],
        )
        gate = gates(f"unix:{folder}/proxy", **changes)
        client = {"name": "PocketMUD", "version": "2.1", "columns": 255, "rows": 24, "gmcp": ["Char 1"]}
        player = Player(gate, gate.app.register(new_device()), client=client)
        player.connect()
        made.append(player)
        return player, game.seat(), proxy

    yield make
    for thing in made:
        thing.stop() if isinstance(thing, TelnetGame) else thing.wire.close()


def complaints(proxy):
    """What it found to be no telnet, of either side."""
    return [line for line in list(proxy.told) if re.search(r"(CLIENT|SERVER) (WARNING|ERROR)", LINE.sub("", line))]


@pytest.mark.parametrize("compression", COMPRESSION)
def test_all_that_is_said_passes_another_telnet(judged, compression):
    player, seat, proxy = judged(GAME_COMPRESSION=compression)
    for option in (ECHO, EOR, CHARSET, MSDP, MSSP, GMCP):
        seat.tell(WILL, option)
        seat.heard("do", option)
    for option in (TTYPE, NAWS, NEW_ENVIRON):
        seat.tell(DO, option)
        seat.heard("will", option)
    for option in (SGA, MXP, 0, 200, 255):
        seat.tell(WILL, option)
        seat.heard("dont", option)
        seat.tell(DO, option)
        seat.heard("wont", option)
    assert seat.subnegotiations(NAWS) == [b"\x00\xff\x00\x18"]
    if compression == "mccp2":
        seat.tell(WILL, MCCP2)
        seat.heard("do", MCCP2)
        eventually(lambda: any("CLIENT IAC DO 86" in LINE.sub("", line) for line in list(proxy.told)), "DO COMPRESS2")
    for number, word in enumerate([b"PocketMUD", b"XTERM-256COLOR", b"MTTS 2701", b"MTTS 2701"], 1):
        seat.send(subnegotiation(TTYPE, bytes([SEND])))
        eventually(lambda: len(seat.subnegotiations(TTYPE)) >= number, "a name of the terminal")
        assert seat.subnegotiations(TTYPE)[number - 1] == bytes([IS]) + word
    seat.send(subnegotiation(NEW_ENVIRON, bytes([SEND])))
    eventually(lambda: seat.subnegotiations(NEW_ENVIRON), "what NEW-ENVIRON says")
    assert b"\x00CLIENT_NAME\x01PocketMUD" in seat.subnegotiations(NEW_ENVIRON)[0]
    seat.say("Welcome, Zoë 🐉.\r\n")
    seat.send(gmcp("Char.Vitals", {"hp": 100}) + msdp("ROOM", {"EXITS": ["n", "s"]}))
    seat.prompt("> ", EOR_MARK)
    player.until_event("prompt")
    player.until_text("Welcome, Zoë 🐉.\r\n> ")
    assert player.until_event("gmcp", package="Char.Vitals")["data"] == {"hp": 100}
    assert player.until_event("msdp")["data"] == {"ROOM": {"EXITS": ["n", "s"]}}
    player.line("say ünï 🐉")
    player.event(type="gmcp", package="Char.Skills", data={"group": "Ünarmed"})
    player.event(type="msdp", data={"REPORT": ["HEALTH"]})
    assert seat.heard_lines(1) == ["say ünï 🐉"]
    eventually(lambda: 'Char.Skills {"group":"Ünarmed"}'.encode() in seat.subnegotiations(GMCP), "GMCP of the app's")
    eventually(lambda: seat.subnegotiations(MSDP), "MSDP of the app's")
    seat.tell(WONT, ECHO)
    seat.heard("dont", ECHO)
    assert complaints(proxy) == []


def test_bytes_that_telnet_doubles(judged):
    """Both ways, in a charset where they are letters."""
    player, seat, proxy = judged(GAME_CHARSET="windows-1251")
    seat.game.charset = "windows-1251"
    for number in range(20):
        seat.say("я" * number + "\r\n")
        player.line("я" * number)
    player.until_text("я" * 19 + "\r\n")
    assert seat.heard_lines(20) == ["я" * number for number in range(20)]
    assert complaints(proxy) == []


def test_a_game_that_compresses(judged):
    """The proxy inflates what the game says and compresses it anew, by a zlib stream of its own."""
    player, seat, proxy = judged(GAME_COMPRESSION="mccp2")
    seat.tell(WILL, MCCP2)
    seat.heard("do", MCCP2)
    stream = zlib.compressobj()

    def squeezed(data):
        return stream.compress(data) + stream.flush(zlib.Z_SYNC_FLUSH)

    seat.send(b"plain\r\n" + subnegotiation(MCCP2) + squeezed(b"inside\r\n" + command(WILL, ECHO)))
    seat.heard("do", ECHO)
    player.until_text("plain\r\ninside\r\n")
    text = b"".join(b"%d bottles of beer on the wall\r\n" % number for number in range(2000))
    seat.send(squeezed(text + bytes([IAC, GA])))
    player.until_event("prompt")
    assert player.all_text == b"plain\r\ninside\r\n" + text
    assert complaints(proxy) == []
