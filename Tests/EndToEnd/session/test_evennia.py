"""Behind the gate a game that nobody here wrote: Evennia, through portcullis.v1 and each dialect of mudstandards.org.

Its own web portal speaks the dialects too, and is asked what they look like. Skipped where `make peers` found no Evennia.
"""

import asyncio
import json
import re

import pytest
import websockets

from neighbour import ADMINISTRATOR, PASSWORD, WELCOME
from sessions import Player, Wire
from waiting import eventually, patience
from websocket import BINARY, TEXT

DIALECTS = ["terminal", "gmcp", "json"]
WELCOMED = "will re-show this screen"
IN_LIMBO = "play the demo game."
# To `whence`; a portal that was late knows nothing of the window.
ANSWERED = re.compile(rb"from \S+ by .* of \(.*\)")
COLOURS = re.compile(rb"\x1b\[[0-9;]*m")
CLIENT = {"name": "PocketMUD", "version": "2.1", "columns": 101, "rows": 37, "gmcp": ["Char 1"]}


@pytest.fixture
def gate(gates, evennia):
    return gates(evennia, TRUSTED_PROXIES="127.0.0.1/32")


@pytest.fixture
def player(gate, new_device):
    made = Player(gate, gate.app.register(new_device()), client=CLIENT)
    made.connect(extra=["X-Forwarded-For: 203.0.113.9"])
    yield made
    made.wire.close()


def entered(player):
    player.until_text(WELCOMED, within=60)
    player.line(f"connect {ADMINISTRATOR} {PASSWORD}")
    player.until_text(IN_LIMBO, within=60)


def plain(data):
    return COLOURS.sub(b"", data)


def test_a_login_with_the_password_hidden(player):
    player.until_text(WELCOMED, within=60)
    player.line(f"enter {ADMINISTRATOR}")
    player.until_event("echo", on=True, within=60)
    player.until_text("Password:", within=60)
    player.line(PASSWORD)
    player.until_event("echo", on=False, within=60)
    player.until_text(IN_LIMBO, within=60)
    kinds = [event["on"] for event in player.events("echo")]
    assert kinds == [True, False]
    place = player.all_text
    assert WELCOME in plain(place) and PASSWORD.encode() not in place


def test_no_telnet_byte_reaches_the_player(player):
    entered(player)
    player.line("look")
    player.line("quit")
    player.until_lost(within=60)
    assert player.ended == "game_closed"
    # Nothing below a blank but line ends, tabs and the escape of colours; nothing that was no UTF-8.
    assert not re.search(rb"[\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f]", player.all_text)
    assert b"\xef\xbf\xbd" not in player.all_text


def test_gmcp_goes_both_ways(player):
    entered(player)
    assert player.until_event("gmcp", package="Logged.In") == {"type": "gmcp", "package": "Logged.In"}
    player.line("vitals")
    assert player.until_event("gmcp", package="Char.Vitals")["data"] == {"hp": 17, "name": "Zoë"}
    player.event(type="gmcp", package="Core.Echo", data="over here")
    player.until_text("Echo returns: ['over here'], {}", within=60)


def test_msdp_goes_both_ways(player):
    entered(player)
    player.event(type="msdp", data={"LIST": "COMMANDS"})

    def listed():
        return next(
            (event["data"]["commands"] for event in player.events("msdp") if "commands" in event["data"]),
            None,
        )

    player.until(listed, "the list of commands", within=60)
    assert "echo" in listed()


def test_the_game_knows_who_is_there(gate, new_device):
    """The real address by NEW-ENVIRON, the client by TTYPE, the window by NAWS."""
    wanted = b"from 203.0.113.9 by POCKETMUD in XTERM-256COLOR of ({0: 101}, {0: 37})"
    device = gate.app.register(new_device())

    def told():
        # Its portal gives a client two seconds, by its own clock, and tells its server nothing of what it hears later: on a
        # machine that has much else to do a login may have to be repeated.
        player = Player(gate, device, client=CLIENT)
        player.connect(extra=["X-Forwarded-For: 203.0.113.9"])
        entered(player)
        player.line("whence")
        player.until(lambda: ANSWERED.search(player.all_text), "an answer", within=60)
        player.line("quit")
        player.until_lost(within=60)
        return wanted in player.all_text

    eventually(told, f"{wanted}", within=60)


def test_the_game_is_listed(player):
    event = player.until_event("mssp", within=60)
    assert event["data"]["NAME"] == "The Neighbour" and event["data"]["CODEBASE"] == "Evennia"


def test_the_character_stays_in_the_game(player):
    entered(player)
    player.lose()
    player.connect(extra=["X-Forwarded-For: 198.51.100.7"])
    assert player.sessions[-1]["resumed"]
    player.line("vitals")
    player.until_text("You feel fine.", within=60)
    # One login, and nobody was thrown out of the game in between.
    player.line("who")
    player.until_text("One unique account logged in.", within=60)
    assert plain(player.all_text).count(b"You become admin.") == 1


def test_prompts_come_as_such_where_the_game_says_go_ahead(player):
    """Evennia whose SGA is refused marks each of its messages; what is asked as a prompt carries no line end."""
    entered(player)
    player.line("ask")
    player.until_text("What now? ", within=60)


def test_its_compression_is_understood_where_it_is_wanted(gates, evennia, new_device):
    gate = gates(evennia, GAME_COMPRESSION="mccp2")
    player = Player(gate, gate.app.register(new_device()), client=CLIENT)
    player.connect()
    entered(player)
    player.line("vitals")
    assert player.until_event("gmcp", package="Char.Vitals")["data"] == {"hp": 17, "name": "Zoë"}
    player.lose()
    player.connect()
    player.line("look")
    player.until(lambda: player.all_text.count(IN_LIMBO.encode()) == 2, "another look around", within=60)
    player.wire.close()


# ---- the dialects, with Evennia's own portal as the measure


class Dialect:
    """One connection that speaks a dialect, to the gate or to Evennia's own portal: what came, and what it means."""

    def __init__(self, name):
        self.name = name
        self.text, self.gmcp = b"", []

    def take(self, is_text, payload):
        if not is_text:
            payload.decode()
            self.text += payload
            return
        assert self.name != "terminal", "terminal has no TEXT"
        if self.name == "json":
            envelope = json.loads(payload)
            if envelope["proto"] == "gmcp":
                self.gmcp.append(
                    (envelope["id"], json.loads(envelope["data"]) if envelope.get("data") else None)
                )
        else:
            package, _, data = payload.decode().partition(" ")
            self.gmcp.append((package, json.loads(data) if data else None))

    def message(self, package, data):
        """A GMCP message as this dialect's clients send it."""
        if self.name == "json":
            return json.dumps({"proto": "gmcp", "id": package, "data": json.dumps(data)})
        return f"{package} {json.dumps(data)}"


SCRIPT = [
    (f"connect {ADMINISTRATOR} {PASSWORD}", IN_LIMBO),
    ("vitals", "You feel fine."),
    ("look", IN_LIMBO),
]


def dialled(gate, device, name, extra=()):
    """A connection to the gate, what has come over it, and what waits until a text has."""
    fields = [f"{key}: {value}" for key, value in device.headers(gate.app.nonce()).items()]
    wire = Wire(gate, [*fields, f"Sec-WebSocket-Protocol: {name}.mudstandards.org", *extra])
    dialect = Dialect(name)

    def until(text, since=0):
        while text.encode() not in dialect.text[since:]:
            message = wire.message(patience(60))
            assert message is not None, f"{text!r} did not come: {dialect.text[-300:]}"
            dialect.take(message[0] == TEXT, message[1])

    return wire, dialect, until


def through_the_gate(gate, device, name):
    wire, dialect, until = dialled(gate, device, name)
    until(WELCOMED)
    for line, answer in SCRIPT:
        since = len(dialect.text)
        wire.post(BINARY, line.encode())  # as Evennia's clients do: no line end
        until(answer, since)
    if name != "terminal":
        since = len(dialect.text)
        wire.post(TEXT, dialect.message("Core.Echo", ["over", "here"]).encode())
        until("Echo returns: ['over', 'here'], {}", since)
    wire.close()
    return dialect


async def by_its_own_portal(evennia, name):
    dialect = Dialect(name)
    address = f"ws://127.0.0.1:{evennia.websocket_port}/"
    async with websockets.connect(address, subprotocols=[f"{name}.mudstandards.org"]) as connection:

        async def until(text, since):
            while text.encode() not in dialect.text[since:]:
                message = await asyncio.wait_for(connection.recv(), patience(60))
                is_text = isinstance(message, str)
                # One message of the game is one message here, without a line end.
                dialect.take(is_text, message.encode() if is_text else message + b"\n")

        await until(WELCOMED, 0)
        for line, answer in SCRIPT:
            since = len(dialect.text)
            await connection.send(line.encode())
            await until(answer, since)
        if name != "terminal":
            since = len(dialect.text)
            await connection.send(dialect.message("Core.Echo", ["over", "here"]))
            await until("Echo returns: ['over', 'here'], {}", since)
    return dialect


def words(text):
    """What a player reads: without colours, line ends and the time of day."""
    return re.sub(rb"\[MudInfo\][^\n]*|\s+", b" ", plain(text)).split()


@pytest.mark.parametrize("name", DIALECTS)
def test_a_dialect_reads_as_evennias_own_portal_writes_it(gate, evennia, new_device, name):
    device = gate.app.register(new_device())
    ours = through_the_gate(gate, device, name)
    theirs = asyncio.run(by_its_own_portal(evennia, name))
    assert words(ours.text) == words(theirs.text)
    if name != "terminal":
        assert ("Char.Vitals", {"hp": 17, "name": "Zoë"}) in ours.gmcp
        assert ("Logged.In", None) in ours.gmcp
        assert [entry for entry in ours.gmcp if entry[0] != "Core.Supports.Get"] == [
            entry for entry in theirs.gmcp if entry[0] != "Core.Supports.Get"
        ]
    assert not re.search(rb"[\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f]", ours.text)


@pytest.mark.parametrize("name", DIALECTS)
def test_the_game_knows_the_address_behind_a_dialect(gate, evennia, new_device, name):
    device = gate.app.register(new_device())

    def told():
        # In time for its portal or not, as above.
        wire, dialect, until = dialled(gate, device, name, ["X-Forwarded-For: 203.0.113.9"])
        until(WELCOMED)
        wire.post(BINARY, f"connect {ADMINISTRATOR} {PASSWORD}".encode())
        until(IN_LIMBO)
        since = len(dialect.text)
        wire.post(BINARY, b"whence")
        until(" of (", since)
        wire.close()
        return b"from 203.0.113.9 by" in dialect.text

    eventually(told, "the player's address at the game", within=60)
