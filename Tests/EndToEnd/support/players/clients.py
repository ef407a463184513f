"""Clients of the HTTP side: curl, openssl s_client, Python's http.client, and bytes by hand over ssl."""

import http.client
import json
import os
import re
import signal
import socket
import ssl
import subprocess
import threading

from waiting import LONG, patience

# Where every answer is written that an app gets, a line each, for whoever compares them with their description.
EXCHANGES = os.environ.get("PORTCULLIS_EXCHANGES")


def record(method, path, response, body):
    fields = {name.lower(): value for name, value in response.getheaders()}
    exchange = {"method": method, "path": path, "status": response.status, "fields": fields}
    line = json.dumps({**exchange, "body": body.decode(errors="replace")})
    # In one piece, as several workers write at once.
    with open(EXCHANGES, "ab", buffering=0) as file:
        file.write(line.encode() + b"\n")


class Reply:
    """A response: status, header fields (lower-case names, values in order), body."""

    def __init__(self, head, body=b""):
        lines = head.split("\r\n")
        version, status, self.reason = (lines[0] + " ").split(" ", 2)
        assert version == "HTTP/1.1", lines[0]
        self.status = int(status)
        self.fields = {}
        for line in lines[1:]:
            name, _, value = line.partition(":")
            self.fields.setdefault(name.lower(), []).append(value.strip())
        self.body = body

    def header(self, name):
        values = self.fields.get(name.lower(), [])
        assert len(values) <= 1, f"{name} is there {len(values)} times"
        return values[0] if values else None

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def code(self):
        return self.header("Portcullis-Error")

    def __repr__(self):
        return f"<{self.status} {self.code or ''} {self.body[:200]!r}>"


def assert_refusal(reply, status, code):
    """The whole shape of a refusal, as docs/protocol.md, "Answers" draws it."""
    assert (reply.status, reply.code) == (status, code), reply
    assert reply.header("Content-Type") == "application/json; charset=utf-8"
    assert reply.header("Cache-Control") == "no-store"
    error = reply.json["error"]
    assert set(reply.json) == {"error"} and {"code", "message"} <= set(error) <= {"code", "message", "step", "field"}
    assert error["code"] == code
    assert re.fullmatch(r"[^\n]{3,200}", error["message"]), error["message"]
    if status in (429, 503):
        assert int(reply.header("Retry-After")) >= 1
    if status == 405:
        assert reply.header("Allow")
    if status == 426:
        assert reply.header("Sec-WebSocket-Version") == "13"


def curl(gate, path, *arguments, stdin=None):
    """One request by curl; the last response it got."""
    host = f"[{gate.host}]" if ":" in gate.host else gate.host
    command = ["curl", "-sS", "-i", "--http1.1", "--max-time", "60", "--cacert", str(gate.pki.server_ca)]
    command += [
        "--resolve",
        f"localhost:{gate.port}:{host}",
        *arguments,
        f"https://localhost:{gate.port}{path}",
    ]
    done = subprocess.run(command, input=stdin, capture_output=True, timeout=patience(70))
    assert done.returncode == 0, f"curl ended with {done.returncode}: {done.stderr.decode()}"
    output = done.stdout
    while True:
        head, _, rest = output.partition(b"\r\n\r\n")
        reply = Reply(head.decode("ascii"), rest)
        if reply.status >= 200:
            return reply
        output = rest


def s_client(gate, *arguments, stdin=b"", within=60):
    """What `openssl s_client` prints on both streams."""
    command = ["openssl", "s_client", "-connect", f"{gate.host}:{gate.port}", "-servername", "localhost"]
    command += ["-CAfile", str(gate.pki.server_ca), *map(str, arguments)]
    done = subprocess.run(
        command, input=stdin, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=patience(within)
    )
    return done.stdout.decode(errors="replace")


def tls_context(gate, certificate=None, version=None):
    context = ssl.create_default_context(cafile=str(gate.pki.server_ca))
    if certificate:
        context.load_cert_chain(*map(str, certificate))
    if version:
        context.minimum_version = context.maximum_version = version
    return context


class Raw:
    """A TLS connection on which a test writes what no client would."""

    def __init__(
        self, gate, certificate=None, version=None, tls=True, receive_buffer=None, before_tls=b"", connected=None
    ):
        family = socket.AF_INET6 if ":" in gate.host else socket.AF_INET
        plain = connected or socket.socket(family)
        plain.settimeout(patience(LONG))
        if receive_buffer:
            plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        if not connected:
            plain.connect((gate.host, gate.port))
        if before_tls:
            plain.sendall(before_tls)
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        context = tls_context(gate, certificate, version) if tls else None
        self.socket = context.wrap_socket(plain, server_hostname="localhost") if tls else plain
        self.buffer = b""

    def send(self, data):
        self.socket.sendall(data.encode("latin-1") if isinstance(data, str) else data)
        return self

    def _more(self):
        data = self.socket.recv(65536)
        self.buffer += data
        return bool(data)

    def take(self, count):
        """Exactly `count` bytes."""
        while len(self.buffer) < count:
            assert self._more(), f"closed after {self.buffer!r}"
        taken, self.buffer = self.buffer[:count], self.buffer[count:]
        return taken

    def reply(self, head_only=False):
        """The next response."""
        while b"\r\n\r\n" not in self.buffer:
            assert self._more(), f"closed after {self.buffer!r}"
        head, _, self.buffer = self.buffer.partition(b"\r\n\r\n")
        reply = Reply(head.decode("ascii"))
        if reply.status >= 200 and not head_only:
            reply.body = self.take(int(reply.header("Content-Length")))
        return reply

    def silent_for(self, seconds):
        """True when nothing at all arrives for so long."""
        if self.buffer:
            return False
        self.socket.settimeout(seconds)
        try:
            self._more()
            return False
        except TimeoutError:
            return True
        finally:
            self.socket.settimeout(patience(LONG))

    def closed(self):
        """True when the gate ends the connection without another byte."""
        try:
            return not self.buffer and not self._more()
        except ConnectionError:
            return True

    def close(self):
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def replies_to_all_at_once(gate, requests):
    """Of pairs of a client and a whole request: all of them are there when the gate looks."""
    for client, request in requests:
        client.send(request[:-1])
    gate.signal(signal.SIGSTOP)
    for client, request in requests:
        client.send(request[-1])
    gate.signal(signal.SIGCONT)
    return [client.reply() for client, _ in requests]


def head(method="GET", target="/", *fields, host="localhost", version="HTTP/1.1"):
    """A request head as text."""
    lines = [f"{method} {target} {version}"]
    if host is not None:
        lines.append(f"Host: {host}")
    return "\r\n".join([*lines, *fields, "", ""])


UPGRADE = (
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
)


def connect_status(gate, device, counter):
    """The status of an upgrade with this counter."""
    fields = [f"{name}: {value}" for name, value in device.headers(gate.app.nonce(), counter=counter).items()]
    with Raw(gate) as client:
        return client.send(head("GET", "/", *UPGRADE, *fields)).reply(head_only=True).status


class App:
    """The app's own HTTP calls, over kept-alive connections (one for each thread) of Python's http.client."""

    def __init__(self, gate):
        self.gate = gate
        self._local = threading.local()

    def request(self, method, path, body=None, headers=None):
        connection = getattr(self._local, "connection", None)
        if connection is None:
            # Who asks for 25 s is answered behind them.
            connection = http.client.HTTPSConnection(
                self.gate.host, self.gate.port, timeout=patience(25 + LONG), context=tls_context(self.gate)
            )
            self._local.connection = connection
        try:
            connection.request(method, path, body, headers or {})
            response = connection.getresponse()
            body = response.read()
        except (OSError, http.client.HTTPException):
            self.close()
            raise
        fields = "\r\n".join(f"{name}: {value}" for name, value in response.getheaders())
        if EXCHANGES:
            record(method, path, response, body)
        return Reply(f"HTTP/1.1 {response.status} {response.reason}\r\n{fields}", body)

    def close(self):
        if connection := getattr(self._local, "connection", None):
            connection.close()
            self._local.connection = None

    def nonce(self):
        reply = self.request("GET", "/attest/challenge")
        assert reply.status == 200, reply
        return reply.json["nonce"]

    def post(self, document):
        body = document if isinstance(document, (bytes, str)) else json.dumps(document)
        return self.request("POST", "/attest/register", body, {"Content-Type": "application/json"})

    def register(self, device, **changes):
        """Registers `device`, and insists that it is accepted."""
        reply = self.post(device.registration(self.nonce(), **changes))
        assert reply.status == 200 and reply.json == {"registered": True}, reply
        return device
