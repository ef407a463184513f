"""Many players of portcullis.v1 on one event loop, who come back whatever becomes of the gate, and keep their own accounts.

Each counts as docs/sessions.md says, sends again from where `session` tells, and notes each `gap` and `doubt` at its place."""

import asyncio
import collections
import json
import random
import ssl

from chronicle import LAST, PROMPT, event_mark
from clients import UPGRADE, head
from websocket import BINARY, CLOSE, PING, PONG, TEXT, frame

# What a crowd of apps may be told beside 101; they come again.
BUSY = (429, 503)


class Visit(asyncio.Protocol):
    """One connection: a challenge, the upgrade, then messages, which go to the player."""

    def __init__(self, player):
        self.player, self.buffer, self.stage = player, bytearray(), "challenge"
        self.since = player.crowd.deaths
        self.gone = asyncio.get_running_loop().create_future()
        self.fragments = None

    def connection_made(self, transport):
        self.transport = transport
        self.write(head("GET", "/attest/challenge").encode())

    def write(self, data):
        self.transport.write(data)

    def post(self, opcode, payload):
        self.write(frame(opcode, payload))

    def connection_lost(self, error):
        self.player.lost(self)
        if not self.gone.done():
            self.gone.set_result(None)

    def data_received(self, data):
        self.buffer += data
        try:
            while self._step():
                pass
        except Exception as error:  # told where it is waited for
            self.player.fail(error)
            self.transport.abort()

    def _step(self):
        if self.stage != "open":
            return self._response()
        if len(self.buffer) < 2:
            return False
        first, length, start = self.buffer[0], self.buffer[1], 2
        if length >= 126:
            start = 4 if length == 126 else 10
            if len(self.buffer) < start:
                return False
            length = int.from_bytes(self.buffer[2:start], "big")
        if len(self.buffer) < start + length:
            return False
        payload = bytes(self.buffer[start : start + length])
        del self.buffer[: start + length]
        self._frame(first, payload)
        return True

    def _frame(self, first, payload):
        opcode = first & 0x0F
        if opcode == PING:
            self.post(PONG, payload)
        elif opcode == CLOSE:
            self.player.closed_with(int.from_bytes(payload[:2], "big"))
            self.post(CLOSE, payload[:2])
            self.transport.close()
        elif opcode != PONG:
            if opcode:
                self.fragments = opcode, bytearray()
            self.fragments[1].extend(payload)
            if first & 0x80:
                (opcode, whole), self.fragments = self.fragments, None
                self.player.take(self, opcode, bytes(whole))

    def _response(self):
        end = self.buffer.find(b"\r\n\r\n")
        if end < 0:
            return False
        lines = bytes(self.buffer[:end]).decode().split("\r\n")
        status = int(lines[0].split()[1])
        fields = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
        size = int(fields.get("content-length", 0))
        if len(self.buffer) < end + 4 + size:
            return False
        body = bytes(self.buffer[end + 4 : end + 4 + size])
        del self.buffer[: end + 4 + size]
        if status in BUSY:
            self.player.crowd.busy += 1
            self.transport.abort()
            return False
        if self.stage == "challenge":
            assert status == 200, lines
            self.stage = "upgrade"
            self.write(self.player.upgrade(json.loads(body)["nonce"]))
        else:
            assert status == 101, lines
            self.stage = "open"
        return True


class Townsman:
    """One player."""

    def __init__(self, crowd, number, device):
        self.crowd, self.number, self.device = crowd, number, device
        self.chance = random.Random(f"{crowd.seed} player {number}")
        self.id, self.visit, self.is_back = None, None, False
        self.received = self.acknowledged = 0
        self.sent = self.handled = 0
        self.typed, self.unhandled = [], collections.deque()
        self.doubted = set()
        # Everything that came, in pieces between which something may be missing: (messages that are, the piece).
        self.pieces = [(0, bytearray())]
        # Deaths of the gate that this session has been told of: no more than so many, at least so many.
        self.told_least = self.told_most = 0
        self.owes_gap, self.gap_next = False, None
        self.resumes, self.error = 0, None

    # ---- connections

    async def live(self):
        loop = asyncio.get_running_loop()
        while not self.error:
            try:
                _, visit = await loop.create_connection(
                    lambda: Visit(self),
                    self.crowd.gate.host,
                    self.crowd.gate.port,
                    ssl=self.crowd.tls,
                    server_hostname="localhost",
                )
                await visit.gone
            except ConnectionRefusedError as error:
                self.fail(error)  # the listener stays
            except OSError:
                self.crowd.broken += 1
            await asyncio.sleep(self.chance.uniform(0, 0.05))

    def upgrade(self, nonce):
        fields = [f"{name}: {value}" for name, value in self.device.headers(nonce).items()]
        if self.id:
            fields.append(f"Portcullis-Resume: {self.id};received={self.received}")
        return head("GET", "/", *UPGRADE, "Sec-WebSocket-Protocol: portcullis.v1", *fields).encode()

    def lost(self, visit):
        if self.visit is visit:
            self.visit, self.is_back = None, False

    def closed_with(self, code):
        assert code in (1012, 4001), code
        self.crowd.closes[code] += 1

    def fail(self, error):
        self.error = self.error or error

    # ---- what comes

    def take(self, visit, opcode, payload):
        if opcode == BINARY:
            self._count()
            self.pieces[-1][1].extend(payload)
        else:
            event = json.loads(payload)
            getattr(self, "_" + event["type"])(visit, event)
        self.crowd.messages += 1
        if self.received - self.acknowledged >= 32:
            self.acknowledge()

    def _session(self, visit, session):
        assert session["kept"] is True, session
        doubt = session.get("doubt", 0)
        if self.id is None:
            assert session["resumed"] is False and not doubt, session
        else:
            self._check_resumed(visit, session, doubt)
            self.resumes += 1
        self.id, self.visit = session["id"], visit
        if session["resumed"]:
            self.acknowledge()
        for number, payload in self.unhandled:
            if number > session["received"]:
                visit.post(BINARY, payload)
        self.is_back = not self.owes_gap

    def _check_resumed(self, visit, session, doubt):
        """Which process it is from is known between two counts of deaths: at the connect, and now."""
        assert session["resumed"] is True and session["id"] != self.id, (self.number, session)
        assert self.handled <= session["received"] <= self.sent, (self.handled, session, self.sent)
        kills = self.crowd.kills_between
        taken = session["received"]
        in_doubt = set(range(taken - doubt + 1, taken + 1))
        # It is said again to an app that has said nothing since.
        assert in_doubt <= self.doubted or kills(self.told_least, self.crowd.deaths), f"a doubt without a kill: {session}"
        self.doubted |= in_doubt
        self.owes_gap = kills(self.told_most, visit.since)
        if not self.owes_gap and not kills(self.told_least, self.crowd.deaths):
            self.told_least, self.told_most = visit.since, self.crowd.deaths

    def _gap(self, visit, event):
        # It is said again to an app that was sent nothing behind it.
        is_repeated = event["next"] == self.gap_next == self.received + 1
        assert is_repeated or self.crowd.kills_between(self.told_least, self.crowd.deaths), (
            f"a gap without a kill: {event}, received {self.received}, the last one {self.gap_next}"
        )
        messages, self.gap_next = event["messages"], event["next"]
        assert event["next"] > self.received and messages in (None, event["next"] - 1 - self.received), event
        self.crowd.gaps["null" if messages is None else "some" if messages else "none"] += 1
        if messages != 0:
            self.pieces.append((messages, bytearray()))
        self.received = event["next"] - 1
        self.told_least, self.told_most = visit.since, self.crowd.deaths
        self.owes_gap, self.is_back = False, True

    def _ack(self, visit, event):
        assert self.handled <= event["received"] <= self.sent, event
        self.handled = event["received"]
        while self.unhandled and self.unhandled[0][0] <= self.handled:
            self.unhandled.popleft()

    def _prompt(self, visit, event):
        self._count()
        self.pieces[-1][1].extend(PROMPT)

    def _gmcp(self, visit, event):
        if event.get("again"):
            return
        self._count()
        self.pieces[-1][1].extend(event_mark(event["data"]))

    def _echo(self, visit, event):
        assert event.get("again"), event

    def _closing(self, visit, event):
        assert event["code"] in (1012, 4001), event

    def _ended(self, visit, event):
        raise AssertionError(f"player {self.number}: {event}")

    def _count(self):
        # Behind a kill nothing comes before the gap.
        assert not self.owes_gap, f"player {self.number}: no gap after a kill"
        self.received += 1

    # ---- what goes

    def acknowledge(self):
        self.acknowledged = self.received
        if self.visit:
            self.visit.post(TEXT, json.dumps({"type": "ack", "received": self.received}).encode())

    def line(self, text):
        """Each line says whose it is and the number of its message."""
        self.sent += 1
        line = f"{self.number}:{self.sent} {text}"
        self.typed.append(line)
        payload = f"{line}\n".encode()
        self.unhandled.append((self.sent, payload))
        if self.visit:
            self.visit.post(BINARY, payload)

    # ---- the account

    def check_lines(self, lines):
        """What the game heard is what was typed, once and in order, but for what was in doubt."""
        expected = iter(enumerate(self.typed, 1))
        missing = 0
        for line in lines:
            for number, typed in expected:
                if typed == line:
                    break
                assert number in self.doubted, f"{typed!r} is missing or out of order, the game heard {line!r}"
                missing += 1
            else:
                raise AssertionError(f"the game heard {line!r}, which was not typed or twice")
        for number, typed in expected:
            assert number in self.doubted, f"{typed!r} is missing at the end"
            missing += 1
        return missing

    def check_story(self, told):
        """Each piece is a part of what the game told, in order; between two there was a gap."""
        place, bytes_missing = 0, 0
        for index, (messages, piece) in enumerate(self.pieces):
            if not piece:
                continue
            found = told.find(piece, place)
            if found < 0 and messages is None:
                # Telnet whose beginning was lost: the end of an event may be read as the beginning of a line.
                torn = (told.find(piece[cut:], place) for cut in range(1, _first_line(piece) + 1))
                cut, found = next(((cut, at) for cut, at in enumerate(torn, 1) if at >= 0), (0, -1))
                piece = piece[cut:]
            assert found >= 0, f"player {self.number}: never told {bytes(piece[:200])!r}, piece {index}"
            assert found == place or messages != 0, (
                f"player {self.number}: {found - place} bytes untold before piece {index} of {len(self.pieces)}, "
                f"{bytes(piece[:60])!r}: {bytes(told[place:found][:200])!r}"
            )
            bytes_missing += found - place
            place = found + len(piece)
        assert place == len(told), f"player {self.number}: the end is missing: {bytes(told[place:][:200])!r}"
        return bytes_missing


def _first_line(piece):
    """How long the first line is, its end with it."""
    return piece.find(b"\n") + 1 or len(piece)


class Crowd:
    """All players, and the deaths of the gate as the test tells them: `died(is_kill)`."""

    def __init__(self, gate, seed, devices):
        self.gate, self.seed = gate, seed
        self.tls = ssl.create_default_context(cafile=str(gate.pki.server_ca))
        self._kills = [0]  # of so many deaths so many were kills
        self.tasks = []
        self.messages = self.busy = self.broken = 0
        self.gaps, self.closes = collections.Counter(), collections.Counter()
        self.chance = random.Random(f"{seed} crowd")
        self.players = [Townsman(self, number, device) for number, device in enumerate(devices)]

    @property
    def deaths(self):
        return len(self._kills) - 1

    def died(self, is_kill):
        self._kills.append(self._kills[-1] + is_kill)

    def kills_between(self, first, last):
        return self._kills[last] > self._kills[first]

    def come(self, first, last):
        self.tasks += [asyncio.create_task(player.live()) for player in self.players[first:last]]

    def start_typing(self, pace):
        for player in self.players:
            player.line("I am here")
        self.tasks.append(asyncio.create_task(self._type(pace)))

    async def _type(self, pace):
        """So many lines in a second in all, sometimes several at once."""
        while True:
            await asyncio.sleep(1 / pace)
            player = self.chance.choice(self.players)
            if player.is_back:
                for _ in range(self.chance.choice([1, 1, 1, 5])):
                    player.line(self.chance.choice(["look", "say ünï", "get 🐉", "x" * 60]))

    def hush(self):
        self.tasks[-1].cancel()

    def check(self):
        for player in self.players:
            if player.error:
                raise AssertionError(f"player {player.number}") from player.error

    @property
    def back(self):
        return sum(player.is_back for player in self.players)

    def has_heard_all(self):
        return all(p.pieces[-1][1].endswith(LAST.encode()) and p.handled == p.sent for p in self.players)

    async def stop(self):
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)
        for player in self.players:
            if player.visit:
                player.visit.transport.abort()
