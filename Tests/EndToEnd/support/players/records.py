"""TLS records that no client would send, by records/records.c: made beforehand, sent in one go."""

import contextlib
import ctypes
import pathlib
import socket
import subprocess

from clients import UPGRADE, Reply, head

SOURCE = pathlib.Path(__file__).parent / "records" / "records.c"
TLS12, TLS13 = 0x0303, 0x0304
WHOLE = 16384


def build(folder):
    """Compiles the library into `folder`, and loads it."""
    path = pathlib.Path(folder) / "records.so"
    command = ["gcc", "-shared", "-fPIC", "-O2", "-Wall", "-Wextra", "-Werror", "-o", path, SOURCE, "-lssl", "-lcrypto"]
    subprocess.run(list(map(str, command)), check=True, timeout=60)
    library = ctypes.CDLL(str(path))
    client, size = ctypes.c_void_p, ctypes.c_size_t
    for name, result, arguments in (
        ("open", client, [ctypes.c_int, size]),
        ("close", None, [client]),
        ("handshake", ctypes.c_int, [client]),
        ("feed", None, [client, ctypes.c_char_p, size]),
        ("waiting", size, [client]),
        ("take", size, [client, ctypes.c_char_p, size]),
        ("read", ctypes.c_int, [client, ctypes.c_char_p, size]),
        ("write", ctypes.c_int, [client, ctypes.c_char_p, size, size]),
        ("update_keys", ctypes.c_int, [client, size, ctypes.c_int]),
        ("renegotiate", ctypes.c_int, [client]),
    ):
        function = getattr(library, f"records_{name}")
        function.restype, function.argtypes = result, arguments
    return library


def split(data):
    """The content types and lengths of records one behind the other (RFC 8446 §5.1)."""
    found, at = [], 0
    while at + 5 <= len(data):
        length = int.from_bytes(data[at + 3 : at + 5], "big")
        found.append((data[at], length))
        at += 5 + length
    return found


class Records:
    """A connection to the gate through its handshake; what it makes waits until it is sent."""

    def __init__(self, library, gate, version=TLS13, padding=0, receive_buffer=None):
        self.library = library
        self.client = library.records_open(version, padding)
        assert self.client
        self.socket = socket.socket()
        self.socket.settimeout(20)
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
            # The other kernel keeps what it sends by the size of segments: 200 KB with these, and 4 MB with loopback's.
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 536)
        self.socket.connect((gate.host, gate.port))
        self.ended = False
        while (step := library.records_handshake(self.client)) == 0:
            self.send()
            assert self.receive(), "closed in the handshake"
        assert step == 1, "no handshake"
        self.send()

    # ---- making

    def data(self, payload, size=WHOLE):
        """In records of `size` bytes."""
        assert self.library.records_write(self.client, payload, len(payload), size)
        return self

    def key_updates(self, count, requested=True):
        assert self.library.records_update_keys(self.client, count, requested)
        return self

    def renegotiation(self):
        assert self.library.records_renegotiate(self.client)
        return self

    def made(self):
        """What waits, as bytes; it is then the caller's to send."""
        room = self.library.records_waiting(self.client)
        buffer = ctypes.create_string_buffer(room + 1)
        count = self.library.records_take(self.client, buffer, room)
        return buffer.raw[:count]

    # ---- the wire

    def send(self):
        """All that was made; False when the gate has closed meanwhile."""
        return self.send_bytes(self.made())

    def send_bytes(self, data):
        try:
            self.socket.sendall(data)
        except ConnectionError:
            self.ended = True
        return not self.ended

    def receive(self):
        """Takes in what came; False at the end."""
        data = b""
        with contextlib.suppress(ConnectionError):
            data = self.socket.recv(65536)
        self.ended = self.ended or not data
        self.library.records_feed(self.client, data, len(data))
        return bool(data)

    def read(self):
        """The next plaintext; empty at the end."""
        buffer = ctypes.create_string_buffer(65536)
        while True:
            count = self.library.records_read(self.client, buffer, len(buffer))
            if count > 0:
                return buffer.raw[:count]
            if count < 0 or not self.receive():
                return b""

    def reply(self):
        """The next response, of which nothing may follow."""
        text = b""
        while b"\r\n\r\n" not in text:
            piece = self.read()
            assert piece, f"closed after {text!r}"
            text += piece
        top, _, body = text.partition(b"\r\n\r\n")
        reply = Reply(top.decode("ascii"), body)
        while reply.status >= 200 and len(reply.body) < int(reply.header("Content-Length")):
            reply.body += self.read()
        return reply

    def ask(self, path):
        self.data(head("GET", path).encode())
        assert self.send()
        return self.reply()

    def upgrade(self):
        self.data(head("GET", "/", *UPGRADE).encode())
        assert self.send()
        assert self.reply().status == 101
        return self

    def everything(self):
        """All that comes until the end, as it is on the wire."""
        received = b""
        with contextlib.suppress(ConnectionError):
            while data := self.socket.recv(65536):
                received += data
        return received

    def close(self):
        self.socket.close()
        self.library.records_close(self.client)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
