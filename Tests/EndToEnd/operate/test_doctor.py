"""`doctor`: what a client sees of a gate, what of it is wrong, and servers that would have it wait or read for ever."""

import contextlib
import json
import socket
import ssl
import subprocess
import threading
import time

import pytest

from backend import sink
from clients import Raw, head
from faults import Faults
from gate import BINARY, free_port, process_environment
from telnet_game import GMCP, IAC, WILL, command
from waiting import patience

OK, STRICT, UNAVAILABLE, USAGE = 0, 1, 69, 64


@pytest.fixture
def examine(shim, folder):
    """`doctor`, as a process that has ended. Its patience, of some seconds for each answer, has no end unless `is_patient`
    says so: a machine that stands still is no finding."""
    clock = Faults(shim, folder / "doctor-control")

    def run(gate, *arguments, is_patient=True):
        clock.monotonic_still = time.monotonic_ns() if is_patient else 0
        environment = process_environment({**gate.environment, **clock.environment})
        return subprocess.run(
            [str(BINARY), "doctor", *map(str, arguments)], cwd=gate.folder, env=environment, capture_output=True,
            text=True, timeout=patience(120),
        )  # fmt: skip

    return run


@pytest.fixture
def doctor(examine):
    """The findings by what was looked at, and the status; a check that says several things has the gravest."""

    def run(gate, *options, url=None, is_patient=True):
        url = url or f"wss://localhost:{gate.port}"
        done = examine(gate, url, "--ca", gate.pki.server_ca, "--json", *options, is_patient=is_patient)
        report = json.loads(done.stdout)
        grades = {"ok": 0, "warning": 1, "problem": 2}
        found = {}
        for finding in report["findings"]:
            more = {"why", "mend"} if finding["grade"] != "ok" else set()
            assert set(finding) == {"grade", "check", "found"} | more
            before = found.get(finding["check"])
            if not before or grades[finding["grade"]] > grades[before["grade"]]:
                found[finding["check"]] = finding
        return found, done.returncode

    return run


def grades(found):
    return {name: finding["grade"] for name, finding in found.items() if finding["grade"] != "ok"}


@pytest.fixture
def gate(gates, backends):
    return gates(backends(sink))


def test_a_gate_that_is_well(gate, doctor, examine):
    found, status = doctor(gate, "--strict")
    # ::1 is one of localhost's addresses on some hosts, and nobody listens there.
    assert set(grades(found)) <= {"reach"} and status in (OK, STRICT), found
    assert {"dns", "reach", "certificate", "tls_versions", "clock", "health", "challenge", "upgrade"} <= set(found)
    assert found["tls_versions"]["found"] == "1.2 and 1.3, and none older"
    assert found["upgrade"]["found"].endswith("assertion_required")
    text = examine(gate, f"wss://127.0.0.1:{gate.port}", "--ca", gate.pki.server_ca).stdout
    assert "ok  upgrade  refused as it should be" in text and "mend" not in text


def test_a_certificate_that_nobody_vouches_for(gate, examine):
    done = examine(gate, f"wss://127.0.0.1:{gate.port}")
    assert done.returncode == UNAVAILABLE
    assert "problem  certificate" in done.stdout and "  why   apps refuse the connection" in done.stdout
    # The rest is looked at all the same.
    assert "ok  upgrade" in done.stdout


def test_a_gate_that_lets_anybody_in(gates, backends, doctor):
    found, status = doctor(gates(backends(sink), REQUIRE_APP_AUTH="false"))
    assert status == UNAVAILABLE and "REQUIRE_APP_AUTH" in found["upgrade"]["mend"]


def test_a_gate_that_drains(gate, doctor):
    assert gate.command("drain").returncode == 0
    found, status = doctor(gate)
    assert status == OK and grades(found).keys() >= {"health", "upgrade"}
    assert "undrain" in found["health"]["mend"]


def test_clocks_that_differ(gates, backends, fault, doctor):
    gate = gates(backends(sink), **fault.environment)
    fault.jump(30)
    found, status = doctor(gate)
    assert (found["clock"]["grade"], status) == ("warning", OK) and "ahead of" in found["clock"]["found"]
    assert doctor(gate, "--strict")[1] == STRICT
    fault.jump(600)
    found, status = doctor(gate)
    assert (found["clock"]["grade"], status) == ("problem", UNAVAILABLE)


def test_nobody_there(gate, doctor):
    found, status = doctor(gate, url=f"wss://127.0.0.1:{free_port()}")
    assert (found["reach"]["grade"], status) == ("problem", UNAVAILABLE) and "upgrade" not in found
    found, status = doctor(gate, url="wss://nobody.invalid")
    assert (found["dns"]["grade"], status) == ("problem", UNAVAILABLE)


def test_wrong_words(gate):
    assert gate.command("doctor", "ws://localhost").returncode == USAGE
    assert gate.command("doctor").returncode == USAGE


@pytest.mark.parametrize(
    "opening",
    [
        b"PROXY TCP4 192.0.2.1 192.0.2.2 4711 443\r\n",
        b"\r\n\r\n\x00\r\nQUIT\n\x21\x11\x00\x0c" + bytes(12),
    ],
)
def test_headers_in_the_wrong_place_are_counted(gate, opening, doctor):
    assert not grades(doctor(gate)[0]).keys() & {"proxy_header", "forwarded_for"}
    for _ in range(2):
        with pytest.raises((ssl.SSLError, OSError)):
            Raw(gate, before_tls=opening)
    with Raw(gate) as client:
        assert client.send(head("GET", "/healthz", "X-Forwarded-For: 192.0.2.9")).reply().status == 200
    # Rubbish of another kind is no such header.
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", gate.port)) as other:
        other.sendall(b"GET / HTTP/1.1\r\n\r\n")
        other.recv(100)
    found, status = doctor(gate)
    assert status == OK and "2 connections" in found["proxy_header"]["found"]
    assert "1 requests" in found["forwarded_for"]["found"] and "TRUSTED_PROXIES" in found["forwarded_for"]["mend"]


# ---- --game


def test_the_games_first_words(gates, backends, doctor):
    def play(connection):
        connection.write(command(WILL, GMCP) + bytes([IAC, 253, 39]) + b"\r\nWelcome to \xffe Shire!\r\n".replace(b"\xff", b"th"))

    found, _ = doctor(gates(backends(play)), "--game")
    assert "Welcome to the Shire!" in found["game"]["found"]
    assert "gmcp (201)" in found["telnet"]["found"] and "(39)" in found["telnet"]["found"]
    assert found["charset"]["grade"] == "ok"


def test_a_game_in_another_charset_and_one_that_is_silent(gates, backends, doctor):
    def latin(connection):
        connection.write("Grüße\r\n".encode("latin-1"))

    found, _ = doctor(gates(backends(latin)), "--game")
    assert found["charset"]["grade"] == "warning" and "GAME_CHARSET" in found["charset"]["mend"]
    # The game is looked at whether or not a gate runs.
    found, _ = doctor(gates(backends(sink), start=False), "--game", is_patient=False)
    assert found["game"]["grade"] == "warning"
    found, status = doctor(gates(f"127.0.0.1:{free_port()}", start=False), "--game")
    assert found["game"]["grade"] == "problem" and status == UNAVAILABLE


# ---- servers that mean harm


class Hostile:
    """A TLS server that answers each connection by `answer(stream)`, over and over."""

    def __init__(self, pki, answer):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(pki.server_certificate, pki.server_key)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.answer, self.context = answer, context
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        with contextlib.suppress(OSError):
            while True:
                connection = self.listener.accept()[0]
                threading.Thread(target=self._one, args=[connection], daemon=True).start()

    def _one(self, connection):
        with contextlib.suppress(OSError, ValueError), self.context.wrap_socket(connection, server_side=True) as stream:
            self.answer(stream)

    def stop(self):
        self.listener.close()


def drip(stream):
    """A head without an end, a byte a moment."""
    stream.recv(4096)
    stream.sendall(b"HTTP/1.1 200 OK\r\nX: ")
    while True:
        stream.sendall(b"x")
        time.sleep(0.2)


def flood(stream):
    stream.recv(4096)
    stream.sendall(b"HTTP/1.1 200 OK\r\nX: ")
    while True:
        stream.sendall(b"x" * 16_000)


def body(stream):
    stream.recv(4096)
    stream.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
    while True:
        stream.sendall(b"x" * 16_000)


def silence(stream):
    while stream.recv(4096):
        pass


def colours(stream):
    while stream.recv(4096):
        stream.sendall(b"HTTP/1.1 503 No\r\nPortcullis-Error: \x1b[31mred\xe2\x80\xae\r\nContent-Length: 0\r\n\r\n")


def plain_web(stream):
    while stream.recv(4096):
        stream.sendall(b"HTTP/1.1 200 OK\r\nDate: yesterday\r\nContent-Length: 2\r\n\r\nhi")


@pytest.mark.parametrize("answer", [drip, flood, body, silence, colours, plain_web])
def test_a_server_that_is_no_gate(gate, examine, pki, answer):
    server = Hostile(pki, answer)
    try:
        done = examine(
            gate, f"wss://127.0.0.1:{server.port}", "--ca", gate.pki.server_ca, "--json",
            is_patient=answer not in (drip, silence),
        )  # fmt: skip
    finally:
        server.stop()
    assert done.returncode == UNAVAILABLE, done.stdout
    assert "\x1b" not in done.stdout and "\u202e" not in done.stdout
    found = {finding["check"]: finding["grade"] for finding in json.loads(done.stdout)["findings"]}
    assert found["upgrade"] == "problem" and found["certificate"] == "ok"
