"""permessage-deflate (RFC 7692) done by hand, for tests that have to get it wrong."""

import zlib

from websocket import BINARY, RawWebSocket

RSV1 = 4
TAIL = b"\x00\x00\xff\xff"
OFFER = "permessage-deflate; client_max_window_bits"
# What Apple's stack and OkHttp offer.
BARE = "permessage-deflate"
PLAIN = "permessage-deflate; server_no_context_takeover"
NO_AUTH = {"REQUIRE_APP_AUTH": "false"}


def deflate(data, bits=12, level=6):
    """A message as RFC 7692 §7.2.1 compresses it."""
    machine = zlib.compressobj(level, zlib.DEFLATED, -bits)
    packed = machine.compress(data) + machine.flush(zlib.Z_SYNC_FLUSH)
    return packed.removesuffix(TAIL)


def inflate(data, bits=15):
    return zlib.decompressobj(-bits).decompress(data + TAIL)


class Window:
    """A compressor that keeps its context from message to message, as RFC 7692 §7.2.1 lets it."""

    def __init__(self, bits=15, level=9):
        self.machine = zlib.compressobj(level, zlib.DEFLATED, -bits)

    def deflate(self, data):
        return (self.machine.compress(data) + self.machine.flush(zlib.Z_SYNC_FLUSH)).removesuffix(TAIL)


class DeflateSocket(RawWebSocket):
    """A connection that has agreed on compression and does it by hand."""

    def __init__(self, gate, offer=OFFER, fields=None, **options):
        offered = {"Sec-WebSocket-Extensions": offer} if offer else {}
        super().__init__(gate, offered | (fields or {}), **options)
        self.answer = self.upgrade.header("Sec-WebSocket-Extensions")
        self.was_compressed = False

    def compressed(self, payload, opcode=BINARY, **options):
        return self.frame(opcode, deflate(payload), reserved=RSV1, **options)

    def read_frame(self):
        """Like the base class, but RSV1 is remembered in `was_compressed`."""
        first = self.take(1)[0]
        self.was_compressed = bool(first & 0x40)
        self.buffer = bytes([first & ~0x40]) + self.buffer
        return super().read_frame()

    def read_message(self, bits=15):
        """The next message of one frame, inflated: (opcode, payload)."""
        fin, opcode, payload = self.read_frame()
        assert fin
        return opcode, inflate(payload, bits) if self.was_compressed else payload
