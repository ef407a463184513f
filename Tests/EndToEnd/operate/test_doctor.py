"""`doctor`: what a client sees of a gate, what of it is wrong, and servers that would have it wait or read for ever."""

import contextlib
import email.utils
import json
import socket
import ssl
import subprocess
import threading
import time
import warnings

import pytest

from backend import sink
from clients import Raw, head
from faults import Faults
from gate import BINARY, free_port, process_environment
from pki import DAY, now
from telnet_game import GMCP, IAC, WILL, command
from waiting import patience

OK, STRICT, UNAVAILABLE, USAGE = 0, 1, 69, 64


@pytest.fixture
def examine(shim, folder):
    """`doctor`, as a process that has ended. Its patience, of some seconds for each answer, has no end unless `is_patient`
    says so: a machine that stands still is no finding."""
    clock = Faults(shim, folder / "doctor-control")

    def run(gate, *arguments, is_patient=True, names=None):
        for name, addresses in (names or {}).items():
            clock.name_leads_to(name, addresses)
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

    def run(gate, *options, url=None, **circumstances):
        url = url or f"wss://localhost:{gate.port}"
        done = examine(gate, url, "--ca", gate.pki.server_ca, "--json", *options, **circumstances)
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
    assert "drain --off" in found["health"]["mend"]


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


def test_one_of_two_addresses_is_dead(gate, doctor):
    found, status = doctor(gate, names={"localhost": "127.0.0.2,127.0.0.1"})
    assert (grades(found), status) == ({"reach": "warning"}, OK), found
    assert found["reach"]["found"].startswith(f"127.0.0.2:{gate.port}")
    assert "although another address answers" in found["reach"]["why"]
    # The one that answers is looked at.
    assert found["upgrade"]["grade"] == "ok"


def test_a_certificate_of_another_name(gate, doctor):
    found, status = doctor(gate, url=f"wss://mud.example:{gate.port}", names={"mud.example": "127.0.0.1"})
    assert (grades(found), status) == ({"certificate": "problem"}, UNAVAILABLE), found
    assert "get a certificate for mud.example" in found["certificate"]["mend"]


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


# ---- other servers


class Server:
    """A TLS server that answers each connection by `answer(stream)`, over and over; `pair` are other files of a certificate
    and its key, `configure` is called with the context."""

    def __init__(self, pki, answer, pair=None, configure=None):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*(pair or (pki.server_certificate, pki.server_key)))
        if configure:
            configure(context)
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


@pytest.fixture
def serve(pki):
    made = []

    def start(*arguments, **options):
        made.append(Server(pki, *arguments, **options))
        return f"wss://127.0.0.1:{made[-1].port}"

    yield start
    for server in made:
        server.stop()


def said(status, code=None, body=b"{}"):
    """An answer as the gate's are."""
    error = f"Portcullis-Error: {code}\r\n" if code else ""
    fields = f"Date: {email.utils.formatdate(usegmt=True)}\r\n{error}Content-Length: {len(body)}\r\n"
    return f"HTTP/1.1 {status} -\r\n{fields}\r\n".encode() + body


def like_a_gate(**changes):
    """Answers as a gate that is well, but for these: status and code."""
    answers = {"healthz": (200,), "challenge": (200, None, json.dumps({"nonce": "0" * 64}).encode()),
               "upgrade": (401, "assertion_required"), **changes}  # fmt: skip
    paths = {b"/healthz": "healthz", b"/attest/challenge": "challenge"}

    def answer(stream):
        rest = b""
        while chunk := stream.recv(4096):
            rest += chunk
            while b"\r\n\r\n" in rest:
                request, _, rest = rest.partition(b"\r\n\r\n")
                stream.sendall(said(*answers[paths.get(request.split(b" ")[1], "upgrade")]))

    return answer


def test_a_server_like_a_gate(gate, doctor, serve):
    found, status = doctor(gate, "--strict", url=serve(like_a_gate()))
    assert (grades(found), status) == ({}, OK), found


@pytest.mark.parametrize("what, answer, grade, mend", [
    ("challenge", (404, "not_found"), "warning", "APPATTEST_TEAM_ID"),
    ("challenge", (429, "rate_limited"), "warning", "CHALLENGE_RATE"),
    ("challenge", (503, "overloaded"), "problem", "portcullis stats"),
    ("challenge", (200,), "problem", "stands in between"),
    ("upgrade", (426, "upgrade_required"), "problem", "speak HTTP/1.1 to the gate"),
    ("upgrade", (403, None), "problem", "pass upgrades and fields on"),
    ("upgrade", (503, "overloaded"), "problem", "docs/errors.md"),
    ("healthz", (502, None), "problem", "stands in between"),
])  # fmt: skip
def test_what_something_in_between_answers(gate, doctor, serve, what, answer, grade, mend):
    found, status = doctor(gate, url=serve(like_a_gate(**{what: answer})))
    check = "health" if what == "healthz" else what
    assert (grades(found), status) == ({check: grade}, OK if grade == "warning" else UNAVAILABLE), found
    assert mend in found[check]["mend"], found


def old_versions(context, version):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        context.minimum_version = ssl.TLSVersion.TLSv1
        if version == "1.1":
            context.options |= ssl.OP_NO_TLSv1
        elif version == "1.0":
            context.options |= ssl.OP_NO_TLSv1_1
    context.set_ciphers("ALL:@SECLEVEL=0")


@pytest.mark.parametrize("version", ["1.0", "1.1"])
def test_versions_that_nobody_should_speak(gate, doctor, serve, version):
    url = serve(like_a_gate(), configure=lambda context: old_versions(context, version))
    found, status = doctor(gate, url=url)
    assert (grades(found), status) == ({"tls_versions": "warning"}, OK), found
    assert found["tls_versions"]["found"] == f"TLS {version} is spoken too"
    assert "LISTEN_PROXY_PROTOCOL" in found["tls_versions"]["mend"]


@pytest.mark.parametrize("missing, grade, words", [
    ("1.3", "warning", "TLS 1.3 is not spoken"), ("1.2", "ok", "1.3 alone, and no phone needs another"),
])  # fmt: skip
def test_a_version_that_is_missing(gate, doctor, serve, missing, grade, words):
    def configure(context):
        if missing == "1.3":
            context.maximum_version = ssl.TLSVersion.TLSv1_2
        else:
            context.minimum_version = ssl.TLSVersion.TLSv1_3

    found, status = doctor(gate, url=serve(like_a_gate(), configure=configure))
    assert (found["tls_versions"]["grade"], found["tls_versions"]["found"], status) == (grade, words, OK)


@pytest.mark.parametrize("starts, ends, graded, words", [
    (-30, 20.5, {"certificate_end": "warning"}, "in 20 days"),
    (-30, -1, {"certificate_end": "problem", "certificate": "problem"}, "has ended at"),
    (1, 90, {"certificate": "problem"}, "in 89 days"),
])  # fmt: skip
def test_a_certificate_out_of_its_time(gate, doctor, serve, pki, starts, ends, graded, words):
    pair = pki.issue_server("ending", starts=now() + starts * DAY, ends=now() + ends * DAY)
    found, status = doctor(gate, url=serve(like_a_gate(), pair=pair))
    assert (grades(found), status) == (graded, UNAVAILABLE if "certificate" in graded else OK), found
    assert words in found["certificate_end"]["found"]
    for check in graded:
        mend = "renew it" if starts < 0 else "look at the clocks of this host and of the gate's"
        assert mend in found[check]["mend"], found


def test_a_certificate_sent_along_that_has_ended(gate, doctor, serve, pki):
    ended, _ = pki.issue_server("ended", starts=now() - 30 * DAY, ends=now() - DAY)
    chain = pki.write("chain.pem", pki.server_certificate.read_bytes() + ended.read_bytes())
    found, status = doctor(gate, url=serve(like_a_gate(), pair=(chain, pki.server_key)))
    assert (grades(found), status) == ({"certificate_end": "warning"}, OK), found
    assert "which is sent along, has ended" in found["certificate_end"]["found"]


# ---- servers that mean harm


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
def test_a_server_that_is_no_gate(gate, examine, serve, answer):
    done = examine(
        gate, serve(answer), "--ca", gate.pki.server_ca, "--json", is_patient=answer not in (drip, silence)
    )
    assert done.returncode == UNAVAILABLE, done.stdout
    assert "\x1b" not in done.stdout and "\u202e" not in done.stdout
    found = {finding["check"]: finding["grade"] for finding in json.loads(done.stdout)["findings"]}
    assert found["upgrade"] == "problem" and found["certificate"] == "ok"
