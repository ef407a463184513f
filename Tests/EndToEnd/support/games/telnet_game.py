"""A scripted telnet game: what came over the wire in order, taken apart the slow and obvious way, and what it says.

Written from RFC 854, 855, 1143 and the pages of GMCP, MSDP and MTTS; no code of the gate or of another game.
"""

import json
import socket
import struct
import threading

from backend import Backend
from waiting import LONG, eventually, patience

IAC, DONT, DO, WONT, WILL, SB, GA, AYT, NOP, SE = 255, 254, 253, 252, 251, 250, 249, 246, 241, 240
EOR_MARK = 239
ECHO, SGA, TIMING_MARK, TTYPE, EOR, NAWS, LINEMODE, NEW_ENVIRON, CHARSET = 1, 3, 6, 24, 25, 31, 34, 39, 42
MSDP, MSSP, MCCP2, MXP, GMCP = 69, 70, 86, 91, 201
IS, SEND, INFO = 0, 1, 2


def command(verb, option):
    return bytes([IAC, verb, option])


def doubled(data):
    return data.replace(b"\xff", b"\xff\xff")


def subnegotiation(option, payload=b""):
    return bytes([IAC, SB, option]) + doubled(payload) + bytes([IAC, SE])


def gmcp(package, data=None):
    text = package if data is None else f"{package} {json.dumps(data, ensure_ascii=False)}"
    return subnegotiation(GMCP, text.encode())


# What large games send for JSON, and what was meant: a colour in a room's name, a byte of Latin-1, half of a pair.
ALMOST_JSON = subnegotiation(
    GMCP,
    b'room.info { "num": 28909, "name": "A Towering Waterfall\x1b[0m", "by": "Zo\xeb", "mark": "\\udcff" }',
)
MEANT = {"num": 28909, "name": "A Towering Waterfall\x1b[0m", "by": "Zo\ufffd", "mark": "\ufffd"}


def msdp(name, value):
    return subnegotiation(MSDP, b"\x01" + name.encode() + b"\x02" + msdp_value(value))


def msdp_value(value):
    if isinstance(value, dict):
        pairs = (b"\x01" + name.encode() + b"\x02" + msdp_value(item) for name, item in value.items())
        return b"\x03" + b"".join(pairs) + b"\x04"
    if isinstance(value, list):
        return b"\x05" + b"".join(b"\x02" + msdp_value(item) for item in value) + b"\x06"
    return value.encode()


class Reading:
    """Bytes of a telnet peer in order, as data and as what is said between."""

    def __init__(self):
        self.data = bytearray()  # without commands, IAC IAC as one byte
        self.said = []  # ("do", option), ("will", option), ("sub", option, payload), ("command", number)
        self.lines = []  # what was typed, whole lines of it, with their CR
        self.fault = None  # what no telnet client may send
        self._rest, self._lined = b"", 0

    def feed(self, chunk):
        waiting = self._rest + chunk
        while waiting:
            step = self._one(waiting)
            if not step:
                break
            waiting = waiting[step:]
        self._rest = waiting
        while (end := self.data.find(b"\n", self._lined)) >= 0:
            line = bytes(self.data[self._lined : end])
            if not line.endswith(b"\r"):
                self.fault = f"a line without CR LF: {line!r}"
            self.lines.append(line)
            self._lined = end + 1

    def _one(self, waiting):
        """How many bytes the first thing in `waiting` took; 0 when it is not whole."""
        mark = waiting.find(b"\xff")
        if mark != 0:
            end = len(waiting) if mark < 0 else mark
            self.data += waiting[:end]
            return end
        if len(waiting) < 2:
            return 0
        verb = waiting[1]
        if verb == IAC:
            self.data.append(IAC)
            return 2
        if verb in (DO, DONT, WILL, WONT):
            if len(waiting) < 3:
                return 0
            self.said.append(({DO: "do", DONT: "dont", WILL: "will", WONT: "wont"}[verb], waiting[2]))
            return 3
        if verb == SB:
            return self._subnegotiation(waiting)
        self.said.append(("command", verb))
        return 2

    def _subnegotiation(self, waiting):
        payload, position = bytearray(), 2
        while position < len(waiting):
            if waiting[position] != IAC:
                payload.append(waiting[position])
                position += 1
                continue
            if position + 1 == len(waiting):
                return 0
            follower = waiting[position + 1]
            if follower not in (IAC, SE):
                self.fault = f"IAC {follower} within a subnegotiation"
            position += 2
            if follower == SE:
                self.said.append(("sub", payload[0], bytes(payload[1:])))
                return position
            payload.append(IAC)
        return 0


class Seat:
    """One player's place in the game: what came from there and what was sent."""

    def __init__(self, game, connection):
        self.game, self.connection = game, connection
        self.reading = Reading()
        self.sent = bytearray()
        self.answered = 0
        self.is_reset = False
        self._lock = threading.Lock()

    def send(self, data):
        """Literal bytes, recorded in the order they leave."""
        with self._lock:
            self.sent += data
            return self.connection.write(data)

    def say(self, text):
        return self.send(doubled(text.encode(self.game.charset)))

    def prompt(self, text="> ", mark=GA):
        return self.send(doubled(text.encode(self.game.charset)) + bytes([IAC, mark]))

    def tell(self, verb, option):
        return self.send(command(verb, option))

    def close(self):
        self.connection.close()

    def reset(self):
        """An RST instead of a FIN. The thread that reads has to let go of the socket first, or nothing is sent at all."""
        self.is_reset = True
        self.connection.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.socket.shutdown(socket.SHUT_RD)

    @property
    def port(self):
        """Of the other end."""
        return self.connection.socket.getpeername()[1]

    @property
    def received(self):
        return bytes(self.connection.received)

    @property
    def ended(self):
        return self.connection.ended

    @property
    def said(self):
        assert not self.reading.fault, self.reading.fault
        return list(self.reading.said)

    @property
    def lines(self):
        """What was typed, without the lines' ends."""
        assert not self.reading.fault, self.reading.fault
        return [line[:-1].decode(self.game.charset) for line in list(self.reading.lines)]

    def subnegotiations(self, option):
        return [entry[2] for entry in self.said if entry[0] == "sub" and entry[1] == option]

    def heard(self, *entry, times=1, within=LONG):
        """Waits until this was said so many times."""
        eventually(
            lambda: self.said.count(entry) >= times, f"{entry} {times} times at the game: {self.said}", within
        )

    def heard_lines(self, count, within=LONG):
        eventually(lambda: len(self.lines) >= count, f"{count} lines at the game: {self.lines[-5:]}", within)
        return self.lines

    def gone(self, within=LONG):
        assert self.ended.wait(patience(within)), "the game never saw the end"


class TelnetGame(Backend):
    """`greet(seat)` when somebody comes, `answer(seat, line)` for each line typed."""

    def __init__(self, greet=None, answer=None, charset="utf-8", **options):
        self.greet, self.answer, self.charset = greet, answer, charset
        self.seats = []
        # Cleared, the game reads nothing more.
        self.attentive = threading.Event()
        self.attentive.set()
        super().__init__(self._serve, **options)

    def took(self, connection):
        connection.seat = Seat(self, connection)
        self.seats.append(connection.seat)

    def _serve(self, connection):
        seat = connection.seat
        if self.greet:
            self.greet(seat)
        while data := connection.read():
            seat.reading.feed(data)
            while self.answer and len(seat.reading.lines) > seat.answered:
                line = seat.reading.lines[seat.answered].rstrip(b"\r").decode(self.charset, "replace")
                seat.answered += 1
                self.answer(seat, line)
            self.attentive.wait()
        # What was closed from the other side is closed from here, as games do.
        if not seat.is_reset:
            connection.close()

    def stop(self):
        self.attentive.set()
        super().stop()

    def seat(self, number=0, within=LONG):
        """The player who came as number so and so."""
        eventually(lambda: len(self.seats) > number, f"player {number} at the game", within)
        return self.seats[number]


def flooding(seat, amount, line=b"x" * 78 + b"\r\n"):
    """So many bytes in lines as fast as they are taken; stops when nobody takes them any more."""
    piece = line * max(1, 8192 // len(line))
    for _ in range(max(1, amount // len(piece))):
        if not seat.connection.write(piece):
            return
