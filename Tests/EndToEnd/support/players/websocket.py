"""WebSocket clients: Python's `websockets` for good behaviour, frames by hand for bad."""

import contextlib
import os
import struct

import websockets

from clients import UPGRADE, Raw, head, tls_context
from waiting import LONG, patience

CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG = 0, 1, 2, 8, 9, 10


def connect(gate, headers=None, certificate=None, version=None, path="/", **options):
    """`websockets.connect` to the gate; use it with `async with` or `await`."""
    options.setdefault("ping_interval", None)
    options.setdefault("open_timeout", patience(60))
    options.setdefault("close_timeout", patience(LONG))
    options.setdefault("max_size", None)
    return websockets.connect(
        f"wss://localhost:{gate.port}{path}",
        host=gate.host,
        port=gate.port,
        ssl=tls_context(gate, certificate, version),
        extra_headers=headers or {},
        **options,
    )


async def refusal(gate, headers=None, **options):
    """Status and code of a refused upgrade, as a WebSocket client sees them."""
    try:
        connection = await connect(gate, headers, **options)
    except websockets.InvalidStatusCode as refused:
        return refused.status_code, refused.headers.get("Portcullis-Error")
    await connection.close()
    return 101, None


async def closed_with(connection):
    """Waits for the end of the connection: the close code the gate sent."""
    with contextlib.suppress(websockets.ConnectionClosed):
        while True:
            await connection.recv()
    return connection.close_code


async def played(connection, line):
    """Sends one line to the MUD and reads up to its next prompt."""
    await connection.send(line + "\n")
    return await until_prompt(connection)


async def until_prompt(connection):
    text = b""
    while not text.endswith(b"> "):
        piece = await connection.recv()
        text += piece.encode() if isinstance(piece, str) else piece
    return text.decode()


class RawWebSocket(Raw):
    """An upgraded connection whose frames a test writes itself."""

    def __init__(self, gate, headers=None, path="/", **options):
        super().__init__(gate, **options)
        fields = [f"{name}: {value}" for name, value in (headers or {}).items()]
        self.send(head("GET", path, *UPGRADE, *fields))
        self.upgrade = self.reply()
        assert self.upgrade.status == 101, self.upgrade
        assert self.upgrade.header("Sec-WebSocket-Accept") == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="

    def frame(self, opcode, payload=b"", fin=True, masked=True, reserved=0, length=None):
        """Sends one frame; `length` lies about the payload's size."""
        return self.send(frame(opcode, payload, fin, masked, reserved, length))

    def read_frame(self):
        """The next frame: (fin, opcode, payload)."""
        first, second = self.take(2)
        assert not second & 0x80, "a server must not mask"
        length = second & 0x7F
        if length == 126:
            (length,) = struct.unpack(">H", self.take(2))
        elif length == 127:
            (length,) = struct.unpack(">Q", self.take(8))
        assert not first & 0x70, "a reserved bit is set"
        return bool(first & 0x80), first & 0x0F, self.take(length)

    def until_close(self):
        """Reads on to the close frame: (code, reason)."""
        while True:
            _, opcode, payload = self.read_frame()
            if opcode == CLOSE:
                return struct.unpack(">H", payload[:2])[0], payload[2:].decode()


def frame(opcode, payload=b"", fin=True, masked=True, reserved=0, length=None):
    """One client frame as bytes."""
    length = len(payload) if length is None else length
    first = (0x80 if fin else 0) | reserved << 4 | opcode
    mask_bit = 0x80 if masked else 0
    if length < 126:
        encoded = bytes([first, mask_bit | length])
    elif length < 65536:
        encoded = bytes([first, mask_bit | 126]) + struct.pack(">H", length)
    else:
        encoded = bytes([first, mask_bit | 127]) + struct.pack(">Q", length)
    if not masked:
        return encoded + payload
    mask = os.urandom(4)
    repeated = mask * (len(payload) // 4 + 1)
    body = int.from_bytes(payload, "big") ^ int.from_bytes(repeated[: len(payload)], "big")
    return encoded + mask + body.to_bytes(len(payload), "big")


def close_payload(code, reason=""):
    return struct.pack(">H", code) + reason.encode()
