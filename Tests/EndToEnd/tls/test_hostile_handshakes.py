"""What a peer costs the gate before TLS is agreed on: a buffer with an end, a deadline, and others nothing."""

import contextlib
import json
import os
import pathlib
import random
import ssl
import struct
import time

import pytest

from clients import Raw, head
from faults import Faults
from waiting import eventually, patience

HANDSHAKE, ALERT, CHANGE_CIPHER_SPEC, DATA = 22, 21, 20, 23
# Seconds: before and after the gate's deadline of 0.8.
EARLIEST, LATEST = 0.7, 0.9
CROWD = 200
# The longest message that is taken, with its header.
LONGEST = 16_384
# OpenSSL keeps such a message in one buffer and the record it came in in another.
PEER_BYTES = 64 * 1024


@pytest.fixture(scope="module")
def fault(shim, module_folder):
    return Faults(shim, module_folder / "shim-control")


@pytest.fixture(scope="module")
def gate(shared_gates, shared_backends, fault):
    """Its deadline comes when a test moves the clocks: what ends before has not waited for it."""
    gate = shared_gates(shared_backends(), WORKERS=1, TLS_HANDSHAKE_TIMEOUT="800ms", **fault.environment)
    fault.stand_still()
    yield gate
    fault.heal()


def record(content, payload, length=None):
    """One TLS record (RFC 8446 §5.1); `length` lies about its size."""
    return struct.pack(">BHH", content, 0x0301, len(payload) if length is None else length) + payload


def records(payload, size):
    """Handshake bytes in records of `size`."""
    return b"".join(record(HANDSHAKE, payload[at : at + size]) for at in range(0, len(payload), size))


def client_hello(version=None):
    """A good one, as Python's ssl makes it, without its record's header."""
    context = ssl.create_default_context()
    if version:
        context.minimum_version = context.maximum_version = version
    output = ssl.MemoryBIO()
    client = context.wrap_bio(ssl.MemoryBIO(), output, server_hostname="localhost")
    with pytest.raises(ssl.SSLWantReadError):
        client.do_handshake()
    return output.read()[5:]


def grown_hello(size):
    """A good ClientHello that an unknown extension (its number is RFC 8701's) makes `size` bytes long."""
    hello = client_hello()[4:]
    at = 34 + 1 + hello[34]  # version, random, session
    at += 2 + int.from_bytes(hello[at : at + 2], "big")  # suites
    at += 1 + hello[at]  # compression
    extensions = hello[at + 2 :]
    room = size - 4 - at - 2 - len(extensions) - 4
    # In front: pre-shared keys, if there are any, have to stay the last (RFC 8446 §4.2.11).
    extensions = struct.pack(">HH", 0x7A7A, room) + bytes(room) + extensions
    body = hello[:at] + struct.pack(">H", len(extensions)) + extensions
    return b"\x01" + len(body).to_bytes(3, "big") + body


def hello_with_keys(count):
    """A good ClientHello of TLS 1.3 that offers so many pre-shared keys, none of which anybody has (RFC 8446 §4.2.11)."""
    hello = client_hello(ssl.TLSVersion.TLSv1_3)[4:]
    at = 34 + 1 + hello[34]
    at += 2 + int.from_bytes(hello[at : at + 2], "big")
    at += 1 + hello[at]
    identities = struct.pack(">HBI", 1, 7, 0) * count
    binders = b"\x20" + bytes(32)
    keys = struct.pack(">H", len(identities)) + identities + struct.pack(">H", len(binders)) + binders
    extensions = hello[at + 2 :] + struct.pack(">HH", 41, len(keys)) + keys
    body = hello[:at] + struct.pack(">H", len(extensions)) + extensions
    return b"\x01" + len(body).to_bytes(3, "big") + body


def first_record(client):
    """The content type of what the gate answers, None when it closes without a word."""
    with contextlib.suppress(ConnectionError):
        while len(client.buffer) < 5 and client._more():
            pass
    return client.buffer[0] if client.buffer else None


def send(client, data):
    """As much as the gate takes before it closes."""
    with contextlib.suppress(ConnectionError):
        client.send(data)


def drained(client):
    """Reads to the end, whatever comes; a reset is one."""
    with contextlib.suppress(ConnectionError):
        while client._more():
            pass


def connections(gate):
    return json.loads(gate.command("stats", "--json").stdout)["now"]["connections"]


def descriptors(gate):
    return len(os.listdir(f"/proc/{gate.process.pid}/fd"))


def most_resident_bytes(gate):
    """The most memory that it ever held."""
    status = pathlib.Path(f"/proc/{gate.process.pid}/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) * 1024


def failures(gate, known):
    """The steps of the handshakes that failed since `known` events were there."""
    return [event["step"] for event in gate.events()[known:] if event.get("event") == "handshake_failed"]


def refusals_of_tls(gate, known):
    """Without those of peers that have just gone: one of an earlier test may be told of late."""
    return [step for step in failures(gate, known) if step != "the peer closed"]


# ---- refused at the first byte that proves it

HELLO = client_hello()
REFUSED = {
    "no TLS at all": head("GET", "/healthz").encode(),
    "SSL 2": b"\x80\x2e\x01\x00\x02\x00\x15\x00\x00\x00\x10" + bytes(37),
    "a record of 65,535 bytes": record(HANDSHAKE, b"\x01", length=0xFFFF),
    "a record one byte longer than any may be": record(HANDSHAKE, HELLO + bytes(16385 - len(HELLO))),
    "a message of 16 MiB": records(b"\x01\xff\xff\xff" + bytes(100), 16384),
    "another message first": records(b"\x14\x00\x00\x0c" + bytes(12), 16384),
    "data first": record(DATA, b"GET / HTTP/1.1\r\n"),
    "an alert first": record(ALERT, b"\x02\x28"),
    "an unknown type": record(77, bytes(40)),
    "empty records": record(HANDSHAKE, b"") * 40,
    "an alert in the middle": record(HANDSHAKE, HELLO[:50]) + record(ALERT, b"\x01\x00") * 10,
    "two messages mixed": record(HANDSHAKE, HELLO[:50]) + record(DATA, bytes(50)),
    "lengths that overlap": records(HELLO[:38] + b"\xff" * (len(HELLO) - 38), 16384),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_what_is_no_handshake_ends_at_once(gate, kind):
    known = len(gate.events())
    with Raw(gate, tls=False) as client:
        send(client, REFUSED[kind])
        assert first_record(client) in (ALERT, None)
        drained(client)
    steps = eventually(lambda: failures(gate, known), "a line in the log")
    assert "timeout" not in steps


# ---- slow ones: closed by the deadline

UNFINISHED = {
    "nothing": b"",
    "half a header": b"\x16\x03\x01",
    "half a record": record(HANDSHAKE, HELLO[:40], length=16384),
    "half a message": record(HANDSHAKE, HELLO[:40]),
    "all but one byte of the longest hello": records(grown_hello(LONGEST), 16384)[:-1],
    "all but one byte, in records of one": records(HELLO, 1)[:-1],
    "all but one byte of 8 KiB, in records of one": records(grown_hello(8192), 1)[:-1],
    "a good hello, and nothing more": records(HELLO, 16384),
}


def test_who_stalls_is_closed_by_the_deadline(gate, fault):
    """All of them at once, so that the deadline comes once."""
    gate.app.close()
    eventually(lambda: connections(gate) == 0, "the gate alone")
    known = len(gate.events())
    clients = {kind: Raw(gate, tls=False) for kind in UNFINISHED}
    sources = {f"{gate.host}:{client.socket.getsockname()[1]}" for client in clients.values()}
    for kind, client in clients.items():
        send(client, UNFINISHED[kind])
    eventually(lambda: connections(gate) == len(clients), "all of them there")
    fault.jump(EARLIEST)
    with Raw(gate) as honest:
        assert honest.send(head("GET", "/healthz")).reply().status == 200
        assert connections(gate) == len(clients) + 1, "closed before the deadline"
    fault.jump(LATEST - EARLIEST)
    for client in clients.values():
        drained(client)
        client.close()
    eventually(lambda: len(failures(gate, known)) >= len(clients), "a line in the log for each")
    timed_out = {
        event["source"] for event in gate.events()[known:] if event.get("step") == "timeout"
    }
    assert timed_out == sources


# ---- large and in crumbs, but good

@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_a_hello_in_crumbs_is_a_hello(gate, version):
    with Raw(gate, tls=False) as client:
        send(client, records(client_hello(version), 1))
        assert first_record(client) == HANDSHAKE


@pytest.mark.parametrize(
    "size, answer",
    [(LONGEST, HANDSHAKE), (LONGEST + 1, ALERT), (65_536, ALERT), (131_396, ALERT), (200_000, ALERT)],
)
def test_how_long_a_hello_may_be(gate, size, answer):
    """Judged by its header, before OpenSSL takes memory for it."""
    known = len(gate.events())
    claimed = b"\x01" + (size - 4).to_bytes(3, "big") + bytes(40)
    message = grown_hello(size) if size <= LONGEST else claimed
    with Raw(gate, tls=False) as client:
        send(client, records(message, 16384))
        assert first_record(client) == answer
        if answer == ALERT:
            drained(client)
            steps = eventually(lambda: refusals_of_tls(gate, known), "a line in the log")
            assert steps == ["tls_message_too_long"]


def processor_time(process):
    """What it has used so far, in seconds: clock_getcpuclockid(3), of all its threads."""
    return time.clock_gettime(~process.pid << 3 | 2)


@pytest.mark.parametrize("count, answer", [(2000, HANDSHAKE), (3000, ALERT)])
def test_how_many_keys_a_hello_may_offer(gate, count, answer):
    """As many as 16 KiB hold, which are looked at in no time; more are refused by the message's length."""
    hello, known = hello_with_keys(count), len(gate.events())
    assert (len(hello) <= LONGEST) == (answer == HANDSHAKE)
    rounds, before = 3, processor_time(gate.process)
    for _ in range(rounds):
        with Raw(gate, tls=False) as client:
            send(client, records(hello, 16384))
            assert first_record(client) == answer
            if answer == ALERT:
                drained(client)
    # A handshake's first step is below a millisecond; a machine in a hurry and a sanitizer have their part.
    assert (processor_time(gate.process) - before) / rounds < patience(0.1)
    if answer == ALERT:
        eventually(lambda: refusals_of_tls(gate, known) == ["tls_message_too_long"] * rounds, "a line in the log for each")


def test_a_hello_in_too_many_crumbs_ends_at_once(gate):
    """The longest one in records of one byte is 98 KiB on the wire."""
    known = len(gate.events())
    with Raw(gate, tls=False) as client:
        send(client, records(grown_hello(LONGEST), 1))
        drained(client)
    steps = eventually(lambda: refusals_of_tls(gate, known), "a line in the log")
    assert steps == ["tls_ciphertext_without_data"]


def test_a_crowd_that_stalls_costs_what_it_may(gate, fault):
    """200 peers hold the longest hello less a byte each: bounded, given back, and nobody else waits for them."""
    unfinished = records(grown_hello(LONGEST), 16384)[:-1]
    gate.app.close()
    eventually(lambda: connections(gate) == 0, "the gate alone")
    before, resident = descriptors(gate), gate.resident_bytes()
    most = []
    for _ in range(2):
        crowd = [Raw(gate, tls=False) for _ in range(CROWD)]
        for client in crowd:
            send(client, unfinished)
        with Raw(gate) as honest:
            assert honest.send(head("GET", "/healthz")).reply().status == 200
        eventually(lambda: connections(gate) == CROWD, "all of them there")
        fault.jump(LATEST)
        for client in crowd:
            drained(client)
            client.close()
        eventually(lambda: connections(gate) == 0, "all of them closed")
        eventually(lambda: descriptors(gate) <= before, "the descriptors given back")
        most.append(most_resident_bytes(gate))
    if resident:  # not judged with a sanitizer
        assert most[0] - resident < CROWD * PEER_BYTES, f"{(most[0] - resident) // CROWD} bytes a peer"
        assert most[1] - most[0] < CROWD * PEER_BYTES // 4, "what the first crowd took was not given back"


def test_random_bytes_end_at_once(gate):
    chance = random.Random(20261121)
    before = descriptors(gate)
    for round_number in range(60):
        with Raw(gate, tls=False) as client:
            noise = chance.randbytes(chance.choice([1, 5, 50, 500, 5000]))
            # Half of them begin like a record, so that what follows is looked at.
            send(client, noise if round_number % 2 else record(HANDSHAKE, noise))
            client.socket.shutdown(1)  # nothing more comes
            drained(client)
    eventually(lambda: descriptors(gate) <= before, "the descriptors given back")
