"""An app that speaks portcullis.v1, one player's whole evening over any number of connections.

Written from docs/sessions.md alone, to the letter and with nothing left out; what the gate says beyond it is a failure.
All is synchronous: nothing is read or sent but by the test's own calls, so that a test decides the order."""

import base64
import collections
import contextlib
import json
import re
import socket
import struct
import time

from clients import UPGRADE, Raw, head
from waiting import LONG, patience
from websocket import BINARY, CLOSE, CONTINUATION, PING, PONG, TEXT, close_payload, frame

VERSION_1 = "portcullis.v1"
UNCOUNTED_FROM_GATE = {"session", "ack", "gap", "closing", "approvals", "otp"}
UNCOUNTED_FROM_APP = {"ack", "client", "leave"}
ENDED_REASONS = {
    "game_closed",
    "game_failed",
    "revoked",
    "replaced",
    "closed_by_operator",
    "expired",
    "let_go",
    "shutdown",
}
ACK_MESSAGES, ACK_BYTES, ACK_SECONDS = 32, 16 * 1024, 5
IDENTIFIER = re.compile(r"[A-Za-z0-9_-]{22}")
NONCE = re.compile(r"[0-9a-f]{64}")
SESSION_MEMBERS = {
    "id": str,
    "next": str,
    "resumed": bool,
    "received": int,
    "resumeFor": int,
    "maxMessage": int,
    "kept": bool,
    "echo": bool,
    "gmcp": bool,
    "msdp": bool,
}


class Lost(Exception):
    """The connection is gone: a Close with this code, or none at all."""

    def __init__(self, code=None, reason=""):
        super().__init__(f"Close {code} {reason}" if code else f"no Close: {reason}")
        self.code, self.reason = code, reason


class Refused(Exception):
    """The upgrade was answered by something else than 101."""

    def __init__(self, reply):
        super().__init__(repr(reply))
        self.status, self.code = reply.status, reply.code


class Wire(Raw):
    """One upgraded connection: whole messages out, fragments and pings as they fall."""

    def __init__(self, gate, fields, path="/", **options):
        self.fragments = None
        try:
            super().__init__(gate, **options)
            self.send(head("GET", path, *UPGRADE, *fields))
            reply = self.reply(head_only=True)
        except (OSError, AssertionError) as error:
            raise Lost(reason=str(error)) from None
        if reply.status != 101:
            raise Refused(reply)
        self.subprotocol = reply.header("Sec-WebSocket-Protocol")
        self.extensions = reply.header("Sec-WebSocket-Extensions")

    def _receive(self, count):
        """At least `count` bytes in the buffer, or the end; times out without losing anything."""
        while len(self.buffer) < count:
            try:
                data = self.socket.recv(65536)
            except TimeoutError:
                raise
            except OSError as error:
                raise Lost(reason=str(error)) from None
            if not data:
                raise Lost(reason="closed")
            self.buffer += data

    def _frame(self):
        self._receive(2)
        first, second = self.buffer[0], self.buffer[1]
        assert not second & 0x80 and not first & 0x70, "masked, or a reserved bit is set"
        length, header = second & 0x7F, 2
        if length == 126:
            self._receive(4)
            (length,), header = struct.unpack(">H", self.buffer[2:4]), 4
        elif length == 127:
            self._receive(10)
            (length,), header = struct.unpack(">Q", self.buffer[2:10]), 10
        self._receive(header + length)
        payload = self.buffer[header : header + length]
        self.buffer = self.buffer[header + length :]
        return bool(first & 0x80), first & 0x0F, payload

    def message(self, within):
        """The next message as (opcode, payload); None when none comes in time, Lost at the end."""
        deadline = time.monotonic() + within
        while True:
            self.socket.settimeout(max(0.001, deadline - time.monotonic()))
            try:
                final, opcode, payload = self._frame()
            except TimeoutError:
                return None
            if opcode == PING:
                self.post(PONG, payload)
            elif opcode == CLOSE:
                code = struct.unpack(">H", payload[:2])[0] if payload else 1005
                with contextlib.suppress(Lost):
                    self.post(CLOSE, payload[:2])
                self.socket.close()
                raise Lost(code, payload[2:].decode())
            elif opcode != PONG:
                if opcode == CONTINUATION:
                    self.fragments[1].append(payload)
                else:
                    assert self.fragments is None, "a message within a message"
                    self.fragments = opcode, [payload]
                if final:
                    opcode, pieces = self.fragments
                    self.fragments = None
                    return opcode, b"".join(pieces)

    def post(self, opcode, payload=b""):
        """One whole frame, sent with a deadline of its own."""
        self.socket.settimeout(patience(LONG))
        try:
            self.send(frame(opcode, payload))
        except OSError as error:
            raise Lost(reason=str(error)) from None

    def lose(self, how="reset"):
        """As networks lose connections: without a word (`reset`), or with a FIN and no Close (`fin`)."""
        if how == "reset":
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()


class Player:
    """The app's side of one session, and its own account of everything in order.

    It comes back by the session's own nonce where `by_next` is set, and by a challenge else.

    `record` has what came, as ("text", bytes) or ("event", object), counted or not, but for `session`, `ack`.
    """

    def __init__(self, gate, device=None, client=None, through=None, acks=True, certificate=None):
        self.gate, self.device, self.client = gate, device, client
        self.through = through or gate  # whose port is connected to
        self.acks, self.certificate = acks, certificate
        self.by_next = False
        self.is_gate_killed = False
        self.wire = None
        self.sessions = []  # the `session` messages, in order
        self.record, self.counts, self.ended = [], [], None
        self._begin()

    def _begin(self):
        self.id = self.next = None
        self.received = self.acknowledged = self._bytes_since = 0
        self._first_unacknowledged = None
        self.sent = self.handled = 0
        self.unhandled = collections.deque()  # (number, opcode, payload)

    # ---- connections

    def fields(self, resume=True, state=False, extra=()):
        made = [f"Sec-WebSocket-Protocol: {VERSION_1}"]
        if self.device:
            is_next = self.by_next and resume and self.id
            headers = self.device.headers(self.next if is_next else self.gate.app.nonce())
            made += [f"{name}: {value}" for name, value in headers.items()]
        if self.client is not None:
            made.append(f"Portcullis-Client: {base64url(json.dumps(self.client).encode())}")
        if resume and self.id:
            suffix = ";state" if state else ""
            made.append(f"Portcullis-Resume: {self.id};received={self.received}{suffix}")
        return [*made, *extra]

    def connect(self, resume=True, state=False, extra=(), within=LONG):
        """A connection up to its `session` message, which is returned; raises Lost and Refused."""
        if self.wire:
            self.wire.close()
        self.wire = None
        fields = self.fields(resume, state, extra)
        asked = resume and self.id is not None
        self.wire = self.wired(fields)
        assert self.wire.subprotocol == VERSION_1
        message = self.wire.message(patience(within))
        assert message is not None, "no session message"
        opcode, payload = message
        assert opcode == TEXT, f"the first message is no TEXT: {payload[:80]!r}"
        session = json.loads(payload)
        self._took_up(session, asked)
        return session

    def wired(self, fields):
        return Wire(self.through, fields, certificate=self.certificate)

    def _took_up(self, session, asked):
        assert session["type"] == "session", session
        for name, kind in SESSION_MEMBERS.items():
            assert type(session[name]) is kind, f"{name} in {session}"
        assert IDENTIFIER.fullmatch(session["id"]), session["id"]
        assert NONCE.fullmatch(session["next"]), session["next"]
        assert all(session["next"] != earlier["next"] for earlier in self.sessions), "the same nonce twice"
        self.sessions.append(session)
        if session["resumed"]:
            assert asked, "resumed what nobody asked for"
            assert session["id"] != self.id, "a resumed session needs a new id"
            assert "reason" not in session, session
            taken = session["received"]
            assert self.handled <= taken <= self.sent, (self.handled, taken, self.sent)
        else:
            assert session.get("reason") == ("unknown" if asked else None), session
            assert session["received"] == 0, session
            self._begin()
            taken = 0
        self.id, self.next = session["id"], session["next"]
        # At once, so that the id that was named before can go.
        if asked and session["resumed"]:
            self.acknowledge()
        for number, opcode, payload in list(self.unhandled):
            if number > taken:
                self.wire.post(opcode, payload)

    def lose(self, how="reset"):
        self.wire.lose(how)

    def leave(self):
        """Stays in the game without us; the gate closes with 4000."""
        self._post_uncounted({"type": "leave"})

    def close(self, code=1000):
        """Our own Close, then the gate's answer to it."""
        self.wire.post(CLOSE, close_payload(code) if code else b"")
        return self.until_lost()

    # ---- sending

    def send(self, text):
        """Input, as typed."""
        self._post_counted(BINARY, text.encode() if isinstance(text, str) else text)

    def line(self, text):
        self.send(text + "\n")

    def event(self, **message):
        payload = json.dumps(message, ensure_ascii=False).encode()
        if message.get("type") in UNCOUNTED_FROM_APP:
            self.wire.post(TEXT, payload)
        else:
            self._post_counted(TEXT, payload)

    def text(self, payload):
        """A TEXT message as it stands, which counts."""
        self._post_counted(TEXT, payload if isinstance(payload, bytes) else payload.encode())

    def acknowledge(self):
        self._post_uncounted({"type": "ack", "received": self.received})
        self.acknowledged, self._bytes_since, self._first_unacknowledged = self.received, 0, None

    def _post_counted(self, opcode, payload):
        """Kept before it is sent: what happens in between loses nothing."""
        self.sent += 1
        self.unhandled.append((self.sent, opcode, payload))
        self.wire.post(opcode, payload)

    def _post_uncounted(self, message):
        self.wire.post(TEXT, json.dumps(message).encode())

    # ---- receiving

    def receive(self, within=0.05):
        """Handles one message: bytes of text, or the event; None when none comes in time."""
        if self._acknowledgement_is_due():
            # What cannot be sent any more: the reason is still to be read.
            with contextlib.suppress(Lost):
                self.acknowledge()
        message = self.wire.message(within)
        if message is None:
            return None
        opcode, payload = message
        if opcode == BINARY:
            payload.decode()  # whole characters only
            assert payload, "an empty text"
            self._count(len(payload), "text")
            self.record.append(("text", payload))
            return payload
        event = json.loads(payload)
        assert isinstance(event, dict) and isinstance(event["type"], str), event
        self._handle(event, len(payload))
        return event

    def _handle(self, event, size):
        kind = event["type"]
        assert kind != "session", "a second session message"
        if kind == "ack":
            received = event["received"]
            assert self.handled <= received <= self.sent, (self.handled, received, self.sent)
            self.handled = received
            while self.unhandled and self.unhandled[0][0] <= received:
                self.unhandled.popleft()
            return
        self.record.append(("event", event))
        if kind == "gap":
            # Behind a kill there is always one, as nobody knows more than what was numbered.
            least = self.received + (0 if self.is_gate_killed or event["messages"] is None else 1)
            assert event["next"] > least, event
            if event["messages"] is not None:
                assert event["messages"] == event["next"] - 1 - self.received, (event, self.received)
            self.received = event["next"] - 1
        elif kind == "ended":
            assert event["reason"] in ENDED_REASONS, event
            self.ended = event["reason"]
        elif kind == "closing":
            assert isinstance(event["code"], int) and isinstance(event["reason"], str), event
        if kind not in UNCOUNTED_FROM_GATE and event.get("again") is not True:
            self._count(size, kind)

    def _count(self, size, kind):
        self.received += 1
        self.counts.append((self.received, kind))
        self._bytes_since += size
        if self._first_unacknowledged is None:
            self._first_unacknowledged = time.monotonic()

    def _acknowledgement_is_due(self):
        return self.acks and (
            self.received - self.acknowledged >= ACK_MESSAGES
            or self._bytes_since >= ACK_BYTES
            or (
                self._first_unacknowledged is not None
                and time.monotonic() - self._first_unacknowledged >= ACK_SECONDS / 2
            )
        )

    # ---- waiting

    def until(self, condition, what, within=LONG):
        """Receives until `condition()` holds."""
        deadline = time.monotonic() + patience(within)
        while not condition():
            assert time.monotonic() < deadline, f"not within {within} s: {what}; the last: {self.record[-5:]}"
            self.receive(0.05)

    def until_text(self, text, within=LONG):
        """Receives until the text since the beginning ends with, or has, `text`."""
        wanted = text.encode() if isinstance(text, str) else text
        self.until(lambda: wanted in self.all_text, f"{wanted!r}", within)

    def until_event(self, kind, within=LONG, **members):
        """The first event of this kind with these members, received already or still to come."""

        def find():
            return next((event for event in self.events(kind) if members.items() <= event.items()), None)

        self.until(lambda: find() is not None, f"{kind} {members}", within)
        return find()

    def until_handled(self, within=LONG):
        """Until the gate has acknowledged everything sent."""
        self.until(lambda: self.handled == self.sent, f"an ack for {self.sent}, have {self.handled}", within)

    def until_lost(self, within=LONG):
        """Receives to the end: what the connection ended with."""
        deadline = time.monotonic() + patience(within)
        while True:
            assert time.monotonic() < deadline, f"not closed within {within} s; the last: {self.record[-5:]}"
            try:
                self.receive(0.05)
            except Lost as lost:
                return lost

    def drain(self, seconds=0.2):
        """Receives until nothing comes for so long."""
        while self.receive(seconds) is not None:
            pass

    # ---- the account

    @property
    def all_text(self):
        return b"".join(payload for kind, payload in self.record if kind == "text")

    def events(self, kind=None):
        return [event for what, event in self.record if what == "event" and kind in (None, event["type"])]

    def story(self):
        """What came in order, without `closing`, and with neighbouring texts joined: how they were cut into messages is
        nobody's promise."""
        told = []
        for what, value in self.record:
            if what == "event" and value["type"] == "closing":
                continue
            if what == "text" and told and told[-1][0] == "text":
                told[-1] = ("text", told[-1][1] + value)
            else:
                told.append((what, value))
        return told


def base64url(data):
    return base64.urlsafe_b64encode(data).decode().rstrip("=")
