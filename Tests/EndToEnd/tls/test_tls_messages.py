"""TLS messages that bring no data: bounded, answered within bounds, nobody else's time, and in the end an end."""

import contextlib
import json
import socket
import threading
import time

import pytest

import records
from backend import echo, sink
from clients import Raw, head
from kernel import queued_bytes
from records import TLS12, TLS13, Records
from waiting import LONG, eventually, patience
from websocket import BINARY, frame

# What OpenSSL's replies to a gate that stops at 32 messages come to, and a ticket.
REPLIES = 4096
# Milliseconds that another client's challenge may take, by how many pour; it was up to 600 with one, and 1,900 with six. What
# the gate works between is a tenth of it at most, also on a machine that is three times as busy as it can be.
ANOTHERS_CHALLENGE = {1: 20, 6: 60}


@pytest.fixture(scope="session")
def library(pki):
    return records.build(pki.folder)


@pytest.fixture(scope="module")
def gate(shared_gates, shared_backends):
    return shared_gates(shared_backends(echo), WORKERS=1, REQUIRE_APP_AUTH="false")


def refused(gate):
    return json.loads(gate.command("stats", "--json").stdout)["sinceStart"]["tlsRefused"]


def ended(gate, known, step):
    """Waits for the log line that ends a connection."""
    eventually(
        lambda: [e for e in gate.events()[known:] if e.get("event") == "tls_refused" and e["step"] == step],
        f"a line with {step}; the log ends:\n{gate.log_tail(4)}",
    )


STAGES = {
    "before a request": lambda client: client,
    "between requests": lambda client: client.ask("/healthz") and client,
    "in a session": lambda client: client.upgrade(),
}


@pytest.mark.parametrize("stage", STAGES)
def test_messages_without_data_are_an_end(gate, library, stage):
    known, before = len(gate.events()), refused(gate)
    with Records(library, gate) as client:
        STAGES[stage](client)
        client.key_updates(2000).send()
        received = client.everything()
        assert len(received) < REPLIES, "the replies have no bound"
    ended(gate, known, "tls_messages_without_data")
    assert refused(gate) == before + 1


def test_padding_is_ciphertext_without_data(gate, library):
    known = len(gate.events())
    with Records(library, gate, padding=records.WHOLE) as client:
        client.key_updates(20, requested=False).send()
        client.everything()
    ended(gate, known, "tls_ciphertext_without_data")


@pytest.mark.parametrize("stage", STAGES)
def test_an_attempt_to_renegotiate_is_an_end(gate, library, stage):
    known = len(gate.events())
    with Records(library, gate, version=TLS12) as client:
        STAGES[stage](client)
        client.renegotiation().send()
        # The alert that says why, and close_notify.
        assert [content for content, _ in records.split(client.everything())][-2:] == [21, 21]
    ended(gate, known, "tls_renegotiation")


@pytest.fixture
def unanswering():
    """An address whose kernel takes no more connections: calling it takes as long as one lets it."""
    with socket.socket() as listener, contextlib.ExitStack() as held:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        for _ in range(2):
            caller = held.enter_context(socket.socket())
            caller.setblocking(False)
            caller.connect_ex(listener.getsockname())
        yield f"127.0.0.1:{listener.getsockname()[1]}"


@pytest.mark.parametrize("stage", ["connecting", "lingering"])
def test_messages_while_nothing_is_awaited(gates, library, stage, unanswering):
    """Before 101 they are an end as ever; once the last answer is out they are read past, undecrypted."""
    gate = gates(unanswering, WORKERS=1, REQUIRE_APP_AUTH="false", BACKEND_CONNECT_TIMEOUT="10m")
    with Records(library, gate) as client:
        if stage == "connecting":
            client.data(head("GET", "/", *records.UPGRADE).encode()).send()
        else:
            client.data(head("GET", "/healthz", "Connection: close").encode()).send()
        client.key_updates(2000).send()
        assert len(client.everything()) < REPLIES
        if stage == "connecting":
            ended(gate, 0, "tls_messages_without_data")


@pytest.mark.parametrize("updates, size", [(1, 4000), (30, 1)])
def test_messages_between_data_go_on(gate, library, updates, size):
    """However many in the end: a KeyUpdate now and then, or as many as there may be between two bytes."""
    message = frame(BINARY, bytes(300), masked=True)
    with Records(library, gate) as client:
        client.upgrade()
        for _ in range(40):
            for at in range(0, len(message), size):
                client.data(message[at : at + size]).key_updates(updates)
                if size == 1 and at > 20:
                    break
            client.data(message[at + size :] if size == 1 else b"")
            assert client.send()
            echoed = b""
            while len(echoed) < 4 + 300:
                piece = client.read()
                assert piece, "the session was ended"
                echoed += piece


# ---- memory


def test_replies_to_a_session_that_reads_nothing_are_bounded(gates, backends, library):
    """A session that takes nothing costs less than 512 KiB (docs/settings.md), whatever it sends."""
    gate = gates(backends(sink), WORKERS=1, REQUIRE_APP_AUTH="false")
    count, body = 2, frame(BINARY, bytes(1))
    clients = [Records(library, gate, receive_buffer=4096).upgrade() for _ in range(count)]
    floods = []
    for client in clients:
        client.socket.settimeout(None)
        for _ in range(2000):  # 1.6 MB; without a bound, as much again in answers would wait for who reads nothing
            client.data(body).key_updates(30)
        floods.append(client.made())
    before = gate.resident_bytes()
    threads = [
        threading.Thread(target=client.send_bytes, args=(flood,), daemon=True)
        for client, flood in zip(clients, floods, strict=True)
    ]
    for thread in threads:
        thread.start()
    samples = []

    def settled():
        samples.append(gate.resident_bytes())
        return len(samples) > 200 and max(samples[-200:]) - min(samples[-200:]) < 65536

    eventually(settled, "memory that no longer grows", 60)
    cost = queued_bytes("sport", "=", f":{gate.port}")[0] + (max(samples) - before if before else 0)
    assert cost < count * 512 * 1024, f"{cost // count} bytes each"
    for client in clients:
        client.socket.shutdown(2)
    for thread in threads:
        thread.join(patience(LONG))
    for client in clients:
        client.close()


def test_who_takes_no_answer_wins_no_time_by_sending(gates, library, fault):
    """What arrives meanwhile is not read, so it is no progress."""
    gate = gates("echo:", WORKERS=1, WRITE_STALL_TIMEOUT="1s", **fault.environment)
    fault.stand_still()
    with Records(library, gate, receive_buffer=4096) as client:
        client.data(head("GET", "/healthz").encode() * 2000)
        assert client.send()
        fault.heal()
        drops = iter(client.data(bytes(16000)).made())

        def closed():
            return not client.send_bytes(bytes([next(drops)]))

        eventually(closed, "the end, in spite of a byte now and then")


# ---- others' time


class Pouring:
    """Connections that send what was made for them as fast as it is taken, until they are through or ended."""

    def __init__(self, clients, floods):
        self.clients = clients
        self.threads = [
            threading.Thread(target=client.send_bytes, args=(flood,), daemon=True)
            for client, flood in zip(clients, floods, strict=True)
        ]

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    @property
    def goes_on(self):
        return any(thread.is_alive() for thread in self.threads)

    def __exit__(self, *_):
        for client in self.clients:
            with contextlib.suppress(OSError):
                client.socket.shutdown(2)
        for thread in self.threads:
            thread.join(patience(LONG))
        for client in self.clients:
            client.close()


def processor_time(process):
    """What it has used so far, in seconds: clock_getcpuclockid(3), of all its threads."""
    return time.clock_gettime(~process.pid << 3 | 2)


def slow_challenge(gate, pouring):
    """Milliseconds that the gate works until another client has its challenge, while the others pour: all but once, as a
    machine may hiccup. One that stands still, or has no processor for the gate, works on nothing."""
    taken = []
    with Raw(gate) as honest:
        with pouring:
            deadline = time.monotonic() + patience(2)
            while len(taken) < 20 or (pouring.goes_on and len(taken) < 200 and time.monotonic() < deadline):
                start, worked = time.monotonic(), processor_time(gate.process)
                assert honest.send(head("GET", "/attest/challenge")).reply().status == 200
                worked = processor_time(gate.process) - worked
                taken.append(1000 * min(worked, time.monotonic() - start))
    return sorted(taken)[-2]


def header_with_messages(client):
    """A request that does not end, a byte at a time, with as many messages in between as there may be."""
    client.data(head("GET", "/healthz").encode()[:-2] + b"X: ")
    for _ in range(1200):
        client.data(b"x").key_updates(31)


KINDS = {
    "messages alone": lambda client: client.key_updates(40_000),
    "messages and bytes": header_with_messages,
    "records of one byte": lambda client: client.data(
        head("POST", "/attest/register", "Content-Length: 65536", "Content-Type: application/json").encode()
        + bytes(65536),
        size=1,
    ),
}


@pytest.mark.alone("it measures how long somebody waits")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("count", [1, 6])
def test_nobody_else_waits_for_them(gate, library, kind, count):
    clients = [Records(library, gate, version=TLS13) for _ in range(count)]
    for client in clients:
        KINDS[kind](client)
    floods = [client.made() for client in clients]
    assert slow_challenge(gate, Pouring(clients, floods)) < patience(ANOTHERS_CHALLENGE[count])
