"""Players of the soak: they come, talk, leave in several ways, and are refused when they cheat."""

import asyncio
import collections
import contextlib
import itertools
import json
import os
import struct

from clients import UPGRADE, head
from websocket import BINARY, CLOSE, PING, PONG, close_payload, frame

PATIENCE = 20


class Refused(Exception):
    """An upgrade that was answered with something else than 101."""

    def __init__(self, status, code):
        super().__init__(f"{status} {code}")
        self.status, self.code = status, code


class Session:
    """One connection to the gate, from its challenge to its end."""

    def __init__(self, gate, tls, source):
        self.gate, self.tls, self.source = gate, tls, source
        self.reader = self.writer = self.listener = None
        self.close_code = None
        self.expected, self.echoed = b"", asyncio.Event()

    async def request(self, text):
        """Sends a request; status, fields' text, and body of its answer."""
        self.writer.write(text.encode("latin-1"))
        answer = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        fields = dict(line.lower().split(": ", 1) for line in answer.split("\r\n")[1:] if ": " in line)
        body = await self.reader.readexactly(int(fields.get("content-length", 0)))
        return int(answer.split(" ", 2)[1]), fields, body

    async def connect(self):
        opening = asyncio.open_connection(
            self.gate.host,
            self.gate.port,
            ssl=self.tls,
            server_hostname="localhost",
            local_addr=(self.source, 0),
        )
        self.reader, self.writer = await asyncio.wait_for(opening, PATIENCE)

    async def nonce(self):
        status, fields, body = await self.request(head("GET", "/attest/challenge"))
        if status != 200:
            raise Refused(status, fields.get("portcullis-error"))
        return json.loads(body)["nonce"]

    async def upgrade(self, headers):
        """Returns with the session open, or raises `Refused`."""
        lines = [f"{name}: {value}" for name, value in headers.items()]
        status, fields, _ = await self.request(head("GET", "/", *UPGRADE, *lines))
        if status != 101:
            raise Refused(status, fields.get("portcullis-error"))
        self.listener = asyncio.create_task(self.listen())

    async def listen(self):
        """Answers pings, and checks that what comes back is what was sent, up to the end."""
        with contextlib.suppress(asyncio.IncompleteReadError, OSError):
            while True:
                opcode, payload = await self.read_frame()
                if opcode == PING:
                    self.writer.write(frame(PONG, payload))
                elif opcode == BINARY:
                    self.heard(payload)
                elif opcode == CLOSE:
                    (self.close_code,) = struct.unpack(">H", payload[:2])
                    self.writer.write(frame(CLOSE, payload))
                    return

    async def read_frame(self):
        first, length = await self.reader.readexactly(2)
        if length == 126:
            (length,) = struct.unpack(">H", await self.reader.readexactly(2))
        return first & 0x0F, await self.reader.readexactly(length)

    def heard(self, payload):
        assert self.expected.startswith(payload), "the echo is not what was sent"
        self.expected = self.expected[len(payload) :]
        if not self.expected:
            self.echoed.set()

    async def talk(self):
        """One message there and back."""
        self.expected = os.urandom(64)
        self.echoed.clear()
        self.writer.write(frame(BINARY, self.expected))
        await asyncio.wait_for(self.echoed.wait(), PATIENCE)

    async def leave(self, politely):
        """Ends the session by a closing handshake, or by a reset."""
        if politely:
            self.writer.write(frame(CLOSE, close_payload(1000)))
            await asyncio.wait_for(self.listener, PATIENCE)
        await self.drop()

    async def drop(self):
        if self.listener:
            self.listener.cancel()
        if self.writer:
            self.writer.transport.abort()

    @property
    def is_open(self):
        return self.listener is not None and not self.listener.done()


class Churn:
    """The sessions that are open, the keys that have none, and what has happened to all of them."""

    def __init__(self, gate, tls, devices, spares):
        self.gate, self.tls = gate, tls
        self.idle = collections.deque(devices)
        self.spares = collections.deque(spares)
        self.retired = collections.deque()
        self.playing = collections.deque()
        self.counts = collections.Counter()
        self.problems = []
        # So many that the limits for one address, left as they come, do not matter.
        self.sources = itertools.cycle(f"127.2.{low}.{high}" for low in range(5) for high in range(1, 51))
        self.tasks = set()

    # ---- bookkeeping

    def spawn(self, coroutine):
        """Runs beside the rest; what goes wrong there is a problem of the soak."""

        async def watched():
            try:
                await coroutine
            except asyncio.CancelledError:
                raise
            except BaseException as problem:
                self.problems.append(f"{coroutine.__name__}: {problem!r}")

        task = asyncio.create_task(watched())
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)
        return task

    # ---- what players do

    async def admit(self):
        """One player whose key has no session comes in."""
        device = self.idle.popleft()
        session = Session(self.gate, self.tls, next(self.sources))
        try:
            await session.connect()
            await session.upgrade(device.headers(await session.nonce()))
        except BaseException:
            await session.drop()
            raise
        self.counts["admissions"] += 1
        self.playing.append((device, session))

    async def replace(self):
        """The one who has played longest goes, now and then without a word, and another comes."""
        device, session = self.playing.popleft()
        if not session.is_open:
            self.problems.append(f"a session ended by itself, with {session.close_code}")
        self.counts["departures"] += 1
        await session.leave(politely=self.counts["departures"] % 3 != 0)
        self.idle.append(device)
        await self.admit()

    async def talk(self):
        device, session = self.playing[0]
        self.playing.rotate(-1)
        await session.talk()
        self.counts["messages"] += 1

    async def cheat(self):
        """One upgrade that must be refused, of each kind in turn."""
        session = Session(self.gate, self.tls, next(self.sources))
        self.counts["refusals"] += 1
        kind = self.counts["refusals"] % 4
        victim = self.retired[0] if kind == 0 and self.retired else self.idle[-1]
        try:
            await session.connect()
            nonce = await session.nonce()
            await session.upgrade(self.forged(kind, victim, nonce))
        except Refused as refused:
            expected = 403 if victim in self.retired else 401
            if refused.status != expected:
                self.problems.append(f"a cheat of kind {kind} got {refused}")
        else:
            self.problems.append(f"a cheat of kind {kind} was let in")
        finally:
            await session.drop()

    @staticmethod
    def forged(kind, device, nonce):
        """Of a revoked key, with a signature over something else, with a nonce of its own, with nothing at all."""
        if kind == 0:
            return device.headers(nonce)
        if kind == 1:
            return device.headers(nonce, counter=0xFFFFFF00, signed=lambda data, digest: os.urandom(32))
        if kind == 2:
            return device.headers(os.urandom(32).hex(), counter=0xFFFFFF00)
        return {}

    async def revoke(self):
        """An operator revokes the key of somebody who plays; a key that was set aside takes its place."""
        if not self.spares:
            return
        device, session = self.playing.popleft()
        self.retired.append(device)
        command = await asyncio.create_subprocess_exec(
            *self.gate.command_line("keys", "revoke", device.key_id_b64),
            env=self.gate.command_environment(),
            stdout=asyncio.subprocess.PIPE,
        )
        await command.communicate()
        await asyncio.wait_for(session.listener, PATIENCE)
        if command.returncode or session.close_code != 1008:
            self.problems.append(f"revoke: status {command.returncode}, close code {session.close_code}")
        await session.drop()
        self.counts["revocations"] += 1
        self.idle.append(self.spares.popleft())
        await self.admit()
