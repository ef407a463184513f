"""Each kind of failure by a cause of its own, as `simulate connect` and `simulate play` print it: the kind comes first."""

import json
import os
import re
import shutil
import socket
import ssl
import subprocess
import threading

import pytest

from device import APP_ID
from gate import BINARY, process_environment
from scripted import ScriptedGate
from waiting import patience

DATA_ERROR, UNAVAILABLE, REFUSED = 65, 69, 77


@pytest.fixture(scope="module")
def certificates(module_folder, shared_gates):
    """The folder of `dev-certs`, with a software device that is registered nowhere."""
    gate = shared_gates(start=False)
    assert gate.command("dev-certs").returncode == 0
    gate.command("simulate", "register", "--app-id", APP_ID, "--url", "wss://localhost:9")
    return module_folder / "certs" / "dev"


@pytest.fixture
def connect(pki, certificates):
    """Runs `simulate connect` to its end: what it said on standard error, and its exit status."""

    def run(url, *arguments, trust=("--ca", None), within="10", before=()):
        trust = ["--ca", pki.server_ca] if trust == ("--ca", None) else list(trust)
        state = ["--state", certificates / "device.json"]
        command = [*before, BINARY, "simulate", "connect", "--url", url, *trust, *state, "--timeout", within, *arguments]
        done = subprocess.run(
            [str(word) for word in command],
            env=process_environment({"TERM": "xterm"}),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=patience(60),
        )
        return done.stderr, done.returncode

    return run


@pytest.fixture
def scripted(pki):
    gate = ScriptedGate(pki.server_certificate, pki.server_key)
    yield gate
    gate.stop()


@pytest.fixture
def listener():
    """Serves one connection after another by a function of a test's."""
    made = []

    def start(serve):
        server = socket.create_server(("127.0.0.1", 0))
        made.append(server)

        def accept():
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                with connection:
                    serve(connection)

        threading.Thread(target=accept, daemon=True).start()
        return f"wss://localhost:{server.getsockname()[1]}/"

    yield start
    for server in made:
        server.shutdown(socket.SHUT_RDWR)
        server.close()


def kind(messages):
    """The first word that was printed."""
    return re.match(r"portcullis: (\w+)", messages)[1]


def closed_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def test_nobody_listens(connect):
    messages, status = connect(f"wss://localhost:{closed_port()}/")
    assert kind(messages) == "unreachable" and "refused" in messages and status == UNAVAILABLE


def test_the_host_is_unknown(connect):
    messages, status = connect("wss://gate.invalid:8443/")
    assert kind(messages) == "unreachable" and "gate.invalid" in messages and status == UNAVAILABLE


def test_there_is_no_network(connect):
    """In a network of its own, where even the loopback is down."""
    alone = ["unshare", "--user", "--map-root-user", "--net"]
    if not shutil.which("unshare") or subprocess.run([*alone, "true"], capture_output=True).returncode:
        pytest.skip("no network of its own is to be had here")
    messages, status = connect("wss://127.0.0.1:8443/", before=alone)
    assert kind(messages) == "offline" and status == UNAVAILABLE


def test_nothing_is_answered(connect, listener):
    stop = threading.Event()
    try:
        messages, status = connect(listener(lambda connection: stop.wait(patience(30))), within="1")
    finally:
        stop.set()
    assert kind(messages) == "timeout" and status == UNAVAILABLE


def test_the_certificate_is_somebody_elses(connect, scripted):
    messages, status = connect(scripted.url, trust=())
    assert kind(messages) == "untrusted" and "--ca" in messages and status == UNAVAILABLE


def test_the_pin_is_another_one(connect, scripted):
    messages, status = connect(scripted.url, trust=("--pin", "ab" * 32))
    assert kind(messages) == "pinMismatch" and "--pin" in messages and status == UNAVAILABLE
    assert not scripted.attempts and not scripted.nonces


def test_something_else_answers(connect, listener, pki):
    """A network's login page."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pki.server_certificate, pki.server_key)
    page = b"<html>Welcome to our network</html>"

    def serve(connection):
        with context.wrap_socket(connection, server_side=True) as stream:
            stream.recv(4096)
            stream.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(page), page))

    messages, status = connect(listener(serve))
    assert kind(messages) == "interference" and status == DATA_ERROR


@pytest.mark.parametrize(
    ("code", "status", "exit_status"),
    [("rate_limited", 429, UNAVAILABLE), ("backend_unavailable", 503, UNAVAILABLE), ("key_revoked", 403, REFUSED)],
)
def test_the_gate_refuses(connect, scripted, code, status, exit_status):
    scripted.refusals = [(status, code, [("Portcullis-Trace", "00ab")])]
    messages, ended = connect(scripted.url)
    assert messages.startswith(f"portcullis: refused {status} {code}") and "(trace 00ab)" in messages
    assert ended == exit_status


def test_what_a_later_version_saved(connect, scripted, module_folder):
    session = module_folder / "session.json"
    name = f"localhost:{scripted.port}/session/main"
    saved = json.dumps({name: json.dumps({"v": 2})})
    session.write_text(saved)
    messages, status = connect(scripted.url, "--session", session)
    assert kind(messages) == "storage" and status == DATA_ERROR
    assert session.read_text() == saved and not scripted.attempts


def test_no_authority_attests_the_key(scripted, pki, folder):
    """As where App Attest finds each key lost: one more is made, and no third."""
    command = [BINARY, "simulate", "play", "--url", scripted.url, "--ca", pki.server_ca, "--app-id", APP_ID]
    command += ["--authority", folder / "nothing", "--state", folder / "key.json"]
    # Its end would be the end of the session.
    commands, writer = os.pipe()
    try:
        done = subprocess.run(
            command,
            env=process_environment({}),
            stdin=commands,
            capture_output=True,
            text=True,
            timeout=patience(60),
        )
    finally:
        os.close(commands)
        os.close(writer)
    assert kind(done.stderr) == "attestation" and "DCError 3" in done.stderr
    assert done.returncode == DATA_ERROR and not scripted.attempts


def test_the_gate_breaks_the_protocol(connect, scripted):
    scripted.says_first = "hello"
    messages, status = connect(scripted.url)
    assert kind(messages) == "protocol" and "no greeting" in messages and status == DATA_ERROR
