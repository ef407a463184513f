"""A game that many play at once, on one event loop: it talks unasked, and keeps what each player said and was told."""

import asyncio
import random
import socket

from telnet_game import GA, GMCP, IAC, WILL, Reading, command, gmcp

WORDS = ["north", "ünï", "🐉 roars", "日本", "", "x" * 200, "ÿ"]
LAST = "The end.\r\n"


class Chair(asyncio.Protocol):
    """One player's place. `told` is what the app is to be told: text, with marks for prompts and events in it."""

    def __init__(self, game):
        self.game, self.reading = game, Reading()
        self.told, self.turn, self.answered = bytearray(), 0, 0
        self.has_ended = False

    @property
    def lines(self):
        assert not self.reading.fault, self.reading.fault
        return [line[:-1].decode() for line in self.reading.lines]

    def connection_made(self, transport):
        self.transport = transport
        self.chance = random.Random(f"{self.game.seed} {len(self.game.chairs)}")
        # Only now: whoever speaks unasked would else speak to nobody, and stop.
        self.game.chairs.append(self)
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        transport.write(command(WILL, GMCP))

    def data_received(self, data):
        self.reading.feed(data)
        while self.answered < len(self.reading.lines):
            line = self.reading.lines[self.answered][:-1].decode("utf-8", "replace")
            self.answered += 1
            self.blow(f"you {line}")

    def connection_lost(self, error):
        self.has_ended = True

    def blow(self, why):
        """Some pieces of text and events, in order, cut anywhere."""
        wire = bytearray()
        for _ in range(self.chance.randrange(1, 4)):
            self.turn += 1
            kind = self.chance.random()
            if kind < 0.7:
                wire += self._say(f"{self.turn}: {why} {self.chance.choice(WORDS)}\r\n")
            elif kind < 0.85:
                wire += self._say(f"{self.turn}> ") + bytes([IAC, GA])
                self.told += PROMPT
            else:
                wire += gmcp("Fight.Turn", self.turn)
                self.told += event_mark(self.turn)
        while wire:
            count = self.chance.choice([1, 7, 60, 5000])
            self.transport.write(bytes(wire[:count]))
            del wire[:count]

    def _say(self, text):
        self.told += text.encode()
        return text.encode()

    def end(self):
        self.transport.write(self._say(LAST))


# How a prompt and an event stand among text, in the game's record and in the player's.
PROMPT = b"\x01"


def event_mark(number):
    return b"\x02%d\x02" % number


class Chronicle:
    """The game. `pace` is how often in a second it says something unasked, to anybody."""

    def __init__(self, seed, pace):
        self.seed, self.pace, self.chairs = seed, pace, []
        self.chance = random.Random(f"{seed} game")
        self.address = None

    async def start(self):
        self.server = await asyncio.get_running_loop().create_server(
            lambda: Chair(self), "127.0.0.1", 0, backlog=512
        )
        self.port = self.server.sockets[0].getsockname()[1]
        self.address = f"127.0.0.1:{self.port}"
        self.talking = asyncio.create_task(self._talk())
        return self

    async def _talk(self):
        while True:
            await asyncio.sleep(1 / self.pace)
            if self.chairs:
                self.chance.choice(self.chairs).blow("unasked")

    def hush(self):
        self.talking.cancel()

    def stop(self):
        self.hush()
        self.server.close()
        for chair in self.chairs:
            chair.transport.abort()
