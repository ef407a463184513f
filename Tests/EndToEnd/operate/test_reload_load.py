"""SIGHUP (docs/operating.md) while players play and others come: a hundred reloads, and a storm of signals.

A reload is confirmed in the log once every loop works by it, so what comes after the line needs no waiting for.
"""

import collections
import hashlib
import os
import signal
import threading

import pytest

from clients import Raw, head
from reloading import BLAMED, DAMAGES, Reloadable, damage
from waiting import eventually, patience
from websocket import TEXT, RawWebSocket

RELOADS = 100
PLAYERS, VISITORS, NEWCOMERS = 8, 2, 2
# Nobody fails for want of time.
PATIENT = {"TLS_HANDSHAKE_TIMEOUT": "300s", "HTTP_HEAD_TIMEOUT": "300s"}


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

        eventually(moved, f"the load goes on, from {before}", 60)

    def stop(self):
        self.stopping.set()
        for thread in self.threads:
            thread.join(patience(60))
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


def test_a_hundred_reloads_under_load(reloadable, new_device, load):
    """No session dropped, no handshake failing, no admission refused; each reload is true for newcomers."""
    gate = reloadable(**PATIENT)
    start_playing(load, gate)
    start_visiting(load, gate)
    start_coming(load, gate, new_device)
    load.goes_on()
    # The suite's own look at the port, at the start.
    gate.gate.event(event="handshake_failed")
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


def reloads(gate):
    return [event for event in gate.gate.events() if event.get("event") == "reloaded"]


def test_a_storm_of_signals(reloadable, new_device, load):
    """Thousands of SIGHUPs as fast as they can be sent: they melt into fewer reloads, and nothing else happens."""
    gate = reloadable(**PATIENT)
    start_playing(load, gate)
    start_visiting(load, gate)
    start_coming(load, gate, new_device)
    load.goes_on()
    before = len(os.listdir(f"/proc/{gate.gate.process.pid}/fd"))
    gate.gate.event(event="handshake_failed")
    known = len(gate.gate.events())
    for number in range(10):
        gate.lay_out(number % 2, 0, HTTP_HEAD_MAX_BYTES="16KiB", LOG_LEVEL="info")
        done = len(reloads(gate))
        for _ in range(300):
            gate.gate.signal(signal.SIGHUP)
        load.goes_on()
        eventually(lambda done=done: len(reloads(gate)) > done, "a reload for this storm")
    gate.lay_out(1, 1, HTTP_HEAD_MAX_BYTES="8KiB", LOG_LEVEL="info")
    gate.gate.signal(signal.SIGHUP)
    eventually(lambda: gate.shown() == 1 and gate.large_request() == 431, "the last reload of all")
    assert gate.client_certificate() == 401
    load.stop()
    assert not load.failures, load.failures
    events = gate.gate.events()[known:]
    assert 10 <= len(reloads(gate)) <= 3001
    # A file that is being replaced beside its pair is no pair: such a reload fails and says so.
    failed = [event for event in events if event.get("event") == "reload_failed"]
    assert len(failed) <= len(reloads(gate))
    assert not [event for event in events if event.get("event") == "handshake_failed"]
    eventually(
        lambda: len(os.listdir(f"/proc/{gate.gate.process.pid}/fd")) <= before + 4, "no descriptor left over"
    )
