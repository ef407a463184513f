"""The game behind the gate: a threaded TCP server that plays, stalls, closes or resets as a test wants it."""

import contextlib
import socket
import struct
import threading

from waiting import eventually


class Connection:
    """One accepted connection, and all that came over it."""

    def __init__(self, stream):
        self.socket = stream
        self.received = bytearray()
        self.ended = threading.Event()  # the gate's end was seen: EOF or reset

    def read(self, count=65536):
        try:
            data = self.socket.recv(count)
        except OSError:
            data = b""
        if data:
            self.received += data
        else:
            self.ended.set()
        return data

    def write(self, data):
        with contextlib.suppress(OSError):
            self.socket.sendall(data)
            return True
        return False

    def close(self):
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_WR)

    def reset(self):
        """Closes with an RST instead of a FIN."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()


class Backend:
    """Listens on loopback; `play(connection)` runs on a thread of its own for each connection."""

    def __init__(self, play, host="127.0.0.1", port=0, receive_buffer=None, path=None):
        family = socket.AF_UNIX if path else socket.AF_INET6 if ":" in host else socket.AF_INET
        self.listener = socket.socket(family, socket.SOCK_STREAM)
        if receive_buffer:
            self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        if not path:
            self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.listener.bind(str(path) if path else (host, port))
        self.listener.listen(512)
        self.address = f"unix:{path}" if path else f"{host}:{self.listener.getsockname()[1]}"
        self.play = play
        self.connections = []
        self._knocks = set()
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                stream, peer = self.listener.accept()
            except OSError:
                return
            if peer in self._knocks:
                self._knocks.remove(peer)
                stream.close()
                continue
            connection = Connection(stream)
            self.connections.append(connection)
            self.took(connection)
            threading.Thread(target=self._run, args=(connection,), daemon=True).start()

    def took(self, connection):
        """Called for each connection in the order in which they came."""

    def _run(self, connection):
        try:
            self.play(connection)
        finally:
            with contextlib.suppress(OSError):
                connection.socket.close()

    def settle(self):
        """Returns when all who have called until now are there: they are taken in the order of their coming."""
        with socket.socket(self.listener.family) as knock:
            knock.bind((self.listener.getsockname()[0], 0))
            name = knock.getsockname()
            self._knocks.add(name)
            knock.connect(self.listener.getsockname())
            eventually(lambda: name not in self._knocks, "the game has taken all calls")

    @property
    def port(self):
        return self.listener.getsockname()[1]

    @property
    def count(self):
        return len(self.connections)

    def connection(self):
        """The first connection, once it is there."""
        eventually(lambda: self.connections, "a connection at the game")
        return self.connections[0]

    @property
    def byte_count(self):
        return sum(len(connection.received) for connection in self.connections)

    def stop_listening(self):
        with contextlib.suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()

    def stop(self):
        self.stop_listening()
        for connection in self.connections:
            with contextlib.suppress(OSError):
                connection.socket.shutdown(socket.SHUT_RDWR)


# ---- ways to play


def echo(connection):
    while data := connection.read():
        connection.write(data)


def mud(connection):
    """Greets, answers each line, and says goodbye to `quit`."""
    connection.write(b"Welcome, traveller.\r\n> ")
    pending = b""
    while data := connection.read():
        pending += data
        while b"\n" in pending:
            line, _, pending = pending.partition(b"\n")
            if line.strip() == b"quit":
                connection.write(b"Goodbye.\r\n")
                return
            connection.write(b"You say: " + line.strip() + b"\r\n> ")


def sink(connection):
    while connection.read():
        pass


def closes_first(connection):
    connection.write(b"The server is going down.\r\n")


def resets(connection):
    connection.read()
    connection.reset()


def says(*pieces):
    """Writes each piece when the one before it has been answered by one byte, then waits for the end."""

    def play(connection):
        for piece in pieces:
            connection.write(piece)
            if not connection.read(1):
                return
        while connection.read():
            pass

    return play


def pours(data, start):
    """Waits for `start`, writes `data` as fast as the gate takes it, then waits for the end."""

    def play(connection):
        start.wait(30)
        connection.write(data)
        while connection.read():
            pass

    return play


def reads_after(start):
    """Reads nothing before `start`, everything after it."""

    def play(connection):
        start.wait(30)
        while connection.read():
            pass

    return play
