"""SIGHUP (SPEC §10): a hundred reloads under load, what they change, and what they leave alone.

A reload is confirmed in the log once every loop works by it: what comes after the line needs no wait.
"""

import collections
import hashlib
import json
import os
import shutil
import signal
import ssl
import threading

import pytest

from clients import UPGRADE, Raw, head, tls_context
from waiting import eventually, patience
from websocket import TEXT, RawWebSocket

RELOADS = 100
PLAYERS, VISITORS, NEWCOMERS = 8, 2, 2
# 12 KiB of head: more than the smaller of the two limits, less than the larger.
LARGE_REQUEST = head("GET", "/healthz", "X: " + "a" * 12_000)


class Reloadable:
    """A gate whose certificate, client authority and configuration file are its own to be replaced."""

    def __init__(self, gates, folder, pki, backend="echo:", **changes):
        self.folder, self.pki = folder, pki
        self.pairs = [(pki.server_certificate, pki.server_key), pki.issue_server("second")]
        self.authorities = [pki.client_ca, pki.server_ca]
        self.fingerprints = [fingerprint_of(certificate) for certificate, _ in self.pairs]
        self.lay_out(0, 0, HTTP_HEAD_MAX_BYTES="16KiB", LOG_LEVEL="info")
        self.gate = gates(
            backend,
            start=False,
            TLS_CERT_PATH=folder / "tls.pem",
            TLS_KEY_PATH=folder / "tls.key",
            ALLOW_MTLS_FALLBACK="true",
            MTLS_CLIENT_CA_PATH=folder / "clients.pem",
            **changes,
        ).start("--config", str(folder / "portcullis.env"))

    def put(self, name, content):
        """Replaces a file in one step, as an operator's tool does."""
        fresh = self.folder / (name + ".new")
        fresh.write_bytes(content)
        os.replace(fresh, self.folder / name)

    def lay_out(self, pair, authority, **settings):
        certificate, key = self.pairs[pair]
        self.put("tls.pem", certificate.read_bytes())
        self.put("tls.key", key.read_bytes())
        self.put("clients.pem", self.authorities[authority].read_bytes())
        self.put("portcullis.env", "".join(f"{n}={v}\n" for n, v in settings.items()).encode())

    def reload(self, expected="reloaded"):
        """SIGHUP, and the log line that answers it."""
        known = len(self.gate.events())
        self.gate.signal(signal.SIGHUP)

        def answer():
            for event in self.gate.events()[known:]:
                if event.get("event") in ("reloaded", "reload_failed"):
                    return event
            return None

        found = eventually(answer, f"the answer to SIGHUP:\n{self.gate.log_tail(5)}")
        assert found["event"] == expected, f"{found}\n{self.gate.log_tail(5)}"
        return self.gate.events()[known:]

    def shown(self):
        """Which of the two certificates a new handshake shows."""
        with Raw(self.gate) as client:
            shown = client.socket.getpeercert(binary_form=True)
        return self.fingerprints.index(hashlib.sha256(shown).hexdigest())

    def large_request(self):
        with Raw(self.gate) as client:
            return client.send(LARGE_REQUEST).reply().status

    def client_certificate(self):
        """The status of an upgrade with a certificate of the first authority, and no App Attest."""
        with Raw(self.gate, certificate=self.pki.good_client) as client:
            return client.send(head("GET", "/", *UPGRADE)).reply(head_only=True).status

    def connections(self):
        """How many the gate has, by its own count."""
        return json.loads(self.gate.command("stats", "--json").stdout)["now"]["connections"]


def fingerprint_of(path):
    return hashlib.sha256(ssl.PEM_cert_to_DER_cert(path.read_text())).hexdigest()


@pytest.fixture
def reloadable(gates, folder, pki):
    def make(**changes):
        return Reloadable(gates, folder, pki, **changes)

    return make


class Load:
    """Threads that each do one thing over and over; the first failure of any is the test's."""

    def __init__(self):
        self.counts = collections.Counter()
        self.failures, self.threads = [], []
        self.stopping = threading.Event()

    def start(self, name, work):
        def run():
            try:
                while not self.stopping.is_set():
                    work()
                    self.counts[name] += 1
            except Exception as error:
                self.failures.append(f"{name} after {self.counts[name]}: {error!r}")

        self.threads.append(threading.Thread(target=run))
        self.threads[-1].start()

    def goes_on(self):
        """Returns once everybody who is not among the players has succeeded again."""
        before = dict(self.counts)

        def moved():
            assert not self.failures, self.failures
            return all(self.counts[name] > before.get(name, 0) for name in ("visit", "admission", "echo"))

        eventually(moved, f"the load goes on, from {before}", 20)

    def stop(self):
        self.stopping.set()
        for thread in self.threads:
            thread.join(patience(20))
        assert not any(thread.is_alive() for thread in self.threads), "a client hangs"


@pytest.fixture
def load():
    made = Load()
    yield made
    made.stop()


def start_playing(load, reloadable):
    """Sessions that echo from the first reload to the last; they are never opened again."""
    for number in range(PLAYERS):
        session = RawWebSocket(reloadable.gate, certificate=reloadable.pki.good_client)
        sent = f"player {number} ".encode() * 20

        def echo(session=session, sent=sent):
            session.frame(TEXT, sent)
            received = b""
            while len(received) < len(sent):
                received += session.read_frame()[2]
            assert received == sent

        load.start("echo", echo)


def start_visiting(load, reloadable):
    """Full handshakes; what they show must be one of the two certificates."""

    def visit():
        with Raw(reloadable.gate) as client:
            shown = client.socket.getpeercert(binary_form=True)
            assert hashlib.sha256(shown).hexdigest() in reloadable.fingerprints
            assert client.send(head("GET", "/healthz")).reply().status == 200

    for _ in range(VISITORS):
        load.start("visit", visit)


def start_coming(load, reloadable, new_device):
    """Apps that are admitted by App Attest, echo once and leave."""
    for _ in range(NEWCOMERS):
        device = reloadable.gate.app.register(new_device())

        def come(device=device):
            session = RawWebSocket(reloadable.gate, device.headers(reloadable.gate.app.nonce()))
            session.frame(TEXT, b"hello")
            assert session.read_frame()[2] == b"hello"
            session.close()

        load.start("admission", come)


# What is broken, and the name that the log has to blame.
BLAMED = {
    "garbage certificate": "TLS_CERT_PATH",
    "other key": "TLS_KEY_PATH",
    "missing authority": "MTLS_CLIENT_CA_PATH",
    "bad value": "HTTP_HEAD_MAX_BYTES",
    "unknown name": "HTTP_HEAD_MAXIMUM",
}
DAMAGES = tuple(BLAMED)


def damage(reloadable, kind):
    if kind == "garbage certificate":
        reloadable.put("tls.pem", b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")
    elif kind == "other key":
        reloadable.put("tls.key", reloadable.pki.issue_server("mismatched")[1].read_bytes())
    elif kind == "missing authority":
        (reloadable.folder / "clients.pem").unlink()
    elif kind == "bad value":
        reloadable.put("portcullis.env", b"HTTP_HEAD_MAX_BYTES=banana\n")
    else:
        reloadable.put("portcullis.env", b"HTTP_HEAD_MAXIMUM=8KiB\n")


def test_a_hundred_reloads_under_load(reloadable, new_device, load):
    """No session dropped, no handshake failing, no admission refused; each reload is true for newcomers."""
    gate = reloadable()
    start_playing(load, gate)
    start_visiting(load, gate)
    start_coming(load, gate, new_device)
    load.goes_on()
    # The suite's own look at the port, at the start, was a failed handshake.
    known = len(gate.gate.events())
    for number in range(1, RELOADS + 1):
        pair, authority, small = number % 2, number // 2 % 2, number // 4 % 2
        settings = {"HTTP_HEAD_MAX_BYTES": "8KiB" if small else "16KiB", "LOG_LEVEL": "info"}
        gate.lay_out(pair, authority, **settings)
        gate.reload()
        assert gate.shown() == pair, f"certificate {pair} at reload {number}"
        if number % 10 == 0:
            kind = DAMAGES[number // 10 % len(DAMAGES)]
            damage(gate, kind)
            said = gate.reload("reload_failed")
            assert BLAMED[kind] in str(said), f"{kind}: {said}"
        load.goes_on()
        if number % 5 == 0:
            assert gate.large_request() == (431 if small else 200), f"limit at {number}"
            assert gate.client_certificate() == (401 if authority else 101), f"client CA at {number}"
    load.stop()
    assert not load.failures, load.failures
    assert load.counts["visit"] >= RELOADS and load.counts["admission"] >= RELOADS
    events = gate.gate.events()[known:]
    assert not [event for event in events if event.get("event") == "handshake_failed"]
    assert sum(event.get("event") == "reloaded" for event in events) == RELOADS
    assert gate.gate.running


@pytest.mark.parametrize("kind", DAMAGES)
def test_a_bad_reload_changes_nothing_at_all(reloadable, kind):
    """One wrong file: certificate, authority, limit and level all stay, and the log names the setting."""
    gate = reloadable()
    session = RawWebSocket(gate.gate, certificate=gate.pki.good_client)
    gate.lay_out(1, 1, HTTP_HEAD_MAX_BYTES="8KiB", LOG_LEVEL="error")
    damage(gate, kind)
    said = gate.reload("reload_failed")
    assert [event for event in said if event.get("event") == "reload_problem" and BLAMED[kind] in str(event)]
    assert all(gate.shown() == 0 for _ in range(4))
    assert gate.large_request() == 200
    assert gate.client_certificate() == 101
    session.frame(TEXT, b"still here")
    assert session.read_frame()[2] == b"still here"
    session.close()


def test_the_log_level_follows(reloadable):
    gate = reloadable()

    def logged(level):
        gate.lay_out(0, 0, LOG_LEVEL=level)
        gate.reload()
        known = len(gate.gate.events())
        assert gate.client_certificate() == 101
        # The answer to the next reload is behind all that was logged before it.
        gate.reload()
        return [event.get("event") for event in gate.gate.events()[known:]]

    assert "admitted" in logged("info")
    assert "admitted" not in logged("notice")


def test_a_storm_of_signals(reloadable, new_device, load):
    """Thousands of SIGHUPs as fast as can be: they melt into fewer reloads, and nothing else happens."""
    gate = reloadable()
    start_playing(load, gate)
    start_visiting(load, gate)
    start_coming(load, gate, new_device)
    load.goes_on()
    before = len(os.listdir(f"/proc/{gate.gate.process.pid}/fd"))
    known = len(gate.gate.events())
    for number in range(10):
        gate.lay_out(number % 2, 0, HTTP_HEAD_MAX_BYTES="16KiB", LOG_LEVEL="info")
        for _ in range(300):
            gate.gate.signal(signal.SIGHUP)
        load.goes_on()
    gate.lay_out(1, 1, HTTP_HEAD_MAX_BYTES="8KiB", LOG_LEVEL="info")
    gate.gate.signal(signal.SIGHUP)
    eventually(lambda: gate.shown() == 1 and gate.large_request() == 431, "the last reload of all", 10)
    assert gate.client_certificate() == 401
    load.stop()
    assert not load.failures, load.failures
    events = gate.gate.events()[known:]
    reloads = sum(event.get("event") == "reloaded" for event in events)
    assert 10 <= reloads <= 3001
    # A file that is being replaced beside its pair is no pair: such a reload fails and says so.
    failed = [event for event in events if event.get("event") == "reload_failed"]
    assert len(failed) <= reloads
    assert not [event for event in events if event.get("event") == "handshake_failed"]
    eventually(
        lambda: len(os.listdir(f"/proc/{gate.gate.process.pid}/fd")) <= before + 4, "no descriptor left over"
    )


class Resuming:
    """A client that keeps its TLS session, as browsers and the system's TLS do."""

    def __init__(self, gate, version, certificate=None):
        self.gate, self.session = gate, None
        self.context = tls_context(gate, certificate, version)

    def upgrade(self):
        """The status of an upgrade, and whether the handshake was a resumption."""
        with RawSession(self.gate, self.context, self.session) as client:
            status = client.send(head("GET", "/", *UPGRADE)).reply(head_only=True).status
            # The ticket of TLS 1.3 comes behind the handshake, before the reply.
            self.session = client.socket.session
            return status, client.socket.session_reused


class RawSession(Raw):
    def __init__(self, gate, context, session):
        super().__init__(gate, tls=False)
        self.socket = context.wrap_socket(self.socket, server_hostname="localhost", session=session)


VERSIONS = [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3]


@pytest.mark.parametrize("version", VERSIONS)
def test_tickets_outlive_a_certificate_but_not_a_client_authority(reloadable, version):
    gate = reloadable(WORKERS=1, REQUIRE_APP_AUTH="false")
    client = Resuming(gate.gate, version)
    assert client.upgrade() == (101, False)
    assert client.upgrade() == (101, True)
    gate.lay_out(1, 0)
    gate.reload()
    assert gate.shown() == 1
    assert client.upgrade() == (101, True)
    gate.lay_out(0, 1)
    gate.reload()
    assert gate.shown() == 0
    assert client.upgrade() == (101, False)
    assert client.upgrade() == (101, True)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_verified_client_is_judged_anew_after_its_authority_went(reloadable, version):
    """Nothing that was kept from a handshake under the old authority lets the client in under the new one."""
    gate = reloadable(WORKERS=1)
    client = Resuming(gate.gate, version, certificate=gate.pki.good_client)
    assert client.upgrade() == (101, False)
    assert client.upgrade() == (101, False)
    gate.lay_out(1, 1)
    gate.reload()
    assert gate.shown() == 1
    assert client.upgrade() == (401, False)
    gate.lay_out(0, 0)
    gate.reload()
    assert gate.shown() == 0
    assert client.upgrade() == (101, False)


def test_old_certificates_leave_memory_with_their_last_session(reloadable):
    """Reloads in waves, with a session for each that then goes: the next wave uses that memory again."""
    gate = reloadable(WORKERS=1, REQUIRE_APP_AUTH="false")
    resident = []
    for _ in range(5):
        sessions = []
        for number in range(50):
            gate.lay_out(number % 2, number % 2, LOG_LEVEL="notice")
            gate.reload()
            assert gate.shown() == number % 2
            sessions.append(Raw(gate.gate))
            assert sessions[-1].send(head("GET", "/healthz")).reply().status == 200
        for session in sessions:
            assert session.send(head("GET", "/healthz")).reply().status == 200
            session.close()
        eventually(lambda: gate.connections() == 0, "the connections gone")
        resident.append(gate.gate.resident_bytes())
    grown = resident[-1] - resident[1]
    # Three waves: a context that stayed costs 50 KiB, 150 times.
    assert grown < 1 << 20, f"{grown} bytes more: {resident}"

