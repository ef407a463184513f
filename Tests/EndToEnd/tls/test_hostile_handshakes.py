"""What a peer costs the gate before TLS is agreed on: a buffer with an end, a deadline, and others nothing."""

import contextlib
import json
import os
import pathlib
import random
import ssl
import struct

import pytest

from clients import Raw, head
from faults import Faults
from waiting import eventually

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


def rebuilt(suites=b"", version=None, **extensions):
    """A good ClientHello with suites in front of its own, and extensions, named `e` and their number, in place of its own
    or beside them. Pre-shared keys have to stay the last (RFC 8446 §4.2.11)."""
    hello = client_hello(version)[4:]
    at = 34 + 1 + hello[34]  # version, random, session
    own = hello[at + 2 : at + 2 + int.from_bytes(hello[at : at + 2], "big")]
    behind = at + 2 + len(own)
    listed = behind + 1 + hello[behind]  # compression
    contents, rest = {}, hello[listed + 2 :]
    while rest:
        number, length = struct.unpack(">HH", rest[:4])
        contents[number], rest = rest[4 : 4 + length], rest[4 + length :]
    contents |= {int(name[1:]): content for name, content in extensions.items()}
    packed = b"".join(
        struct.pack(">HH", number, len(contents[number])) + contents[number]
        for number in sorted(contents, key=lambda number: number == KEYS)
    )
    suites += own
    body = hello[:at] + struct.pack(">H", len(suites)) + suites + hello[behind:listed]
    body += struct.pack(">H", len(packed)) + packed
    return b"\x01" + len(body).to_bytes(3, "big") + body


# Numbers of nobody's (RFC 8701), of pre-shared keys and of a group.
GREASE, KEYS, X25519 = 0x7A7A, 41, 29


def grown_hello(size):
    """A good ClientHello that an unknown extension makes `size` bytes long."""
    return rebuilt(**{f"e{GREASE}": bytes(size - len(rebuilt(**{f"e{GREASE}": b""})))})


def numbers(bytes_in_all, first, last):
    """A list of 16-bit numbers that nobody knows, but for the last of them."""
    count = (bytes_in_all - 2) // 2
    return struct.pack(f">{count + 1}H", 2 * count, *range(first, first + count - 1), last)


def framed(content):
    return struct.pack(">H", len(content)) + content


def with_shares(count):
    """As many key shares, of which OpenSSL seeks each in all groups; the last one is good."""
    hello = client_hello(ssl.TLSVersion.TLSv1_3)
    at = hello.index(struct.pack(">HH", X25519, 32))
    others = struct.pack(">HHB", GREASE, 1, 0) * (count - 1)
    groups = framed(struct.pack(">HH", GREASE, X25519))
    return {"e10": groups, "e51": framed(others + hello[at : at + 36])}


def with_keys(count):
    """As many pre-shared keys, none of which anybody has (RFC 8446 §4.2.11), each a ticket for its looks."""
    identities = struct.pack(">H80sI", 80, bytes(80), 0) * count
    return {"e41": framed(identities) + framed(b"\x20" + bytes(32))}


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


def memory(gate, name):
    """What /proc says: VmRSS for now, VmHWM for the most that it ever held."""
    status = pathlib.Path(f"/proc/{gate.process.pid}/status").read_text()
    return int(status.partition(f"{name}:")[2].split()[0]) * 1024


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


# What OpenSSL keeps an object of for each entry, or seeks in another list: as much as may be, and what is too much.
LISTED = {
    "suites": lambda more: {"suites": bytes.fromhex("c02f") * (512 + more - own_suites())},
    "groups": lambda more: {"e10": numbers(512 + 2 * more, 0x4000, X25519)},
    "algorithms": lambda more: {"e13": numbers(512 + 2 * more, 0x4000, 0x0403)},
    "certificates' algorithms": lambda more: {"e50": numbers(512 + 2 * more, 0x4000, 0x0403)},
    "protocols": lambda more: {"e16": framed(b"\x01x" * 250 + b"\x08http/1.1" + b"\x01x" * more)},
    "authorities": lambda more: {"e47": framed(framed(b"\x30\x00") * (31 + more))},
    "responders": lambda more: {"e5": b"\x01" + framed(framed(bytes.fromhex("a2020400")) * (20 + more)) + framed(b"")},
    "key shares": lambda more: with_shares(8 + more),
    "keys": lambda more: with_keys(8 + more),
}


def own_suites():
    hello = client_hello(ssl.TLSVersion.TLSv1_3)[4:]
    return int.from_bytes(hello[35 + hello[34] :][:2], "big") // 2


@pytest.mark.parametrize("more", [0, 1])
@pytest.mark.parametrize("kind", LISTED)
def test_how_much_a_hello_may_list(gate, kind, more):
    """Refused before OpenSSL reads any of it: in 16 KiB some of these cost 730 KB, or sixteen handshakes' time."""
    known = len(gate.events())
    with Raw(gate, tls=False) as client:
        send(client, records(rebuilt(version=ssl.TLSVersion.TLSv1_3, **LISTED[kind](more)), 16384))
        if more:
            assert first_record(client) == ALERT
            drained(client)
            steps = eventually(lambda: refusals_of_tls(gate, known), "a line in the log")
            assert steps == ["tls_hello_too_dear"]
        else:
            # Not for its length, at least: OpenSSL may have its own mind of what nobody would send.
            assert first_record(client) == HANDSHAKE, refusals_of_tls(gate, known)


def test_the_second_hello_is_judged_as_well(gate):
    """Behind a HelloRetryRequest (RFC 8446 §4.1.4), with the same bounds."""
    known, one = len(gate.events()), ssl.TLSVersion.TLSv1_3
    with Raw(gate, tls=False) as client:
        send(client, records(rebuilt(version=one, e10=framed(struct.pack(">H", X25519)), e51=framed(b"")), 16384))
        assert first_record(client) == HANDSHAKE
        send(client, records(rebuilt(version=one, **LISTED["authorities"](1)), 16384))
        drained(client)
    steps = eventually(lambda: refusals_of_tls(gate, known), "a line in the log")
    assert steps == ["tls_hello_too_dear"]


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
    before, resident = descriptors(gate), memory(gate, "VmRSS")
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
        most.append(memory(gate, "VmHWM"))
    if gate.resident_bytes():  # not judged with a sanitizer
        assert most[0] - resident < CROWD * PEER_BYTES, f"{(most[0] - resident) // CROWD} bytes a peer"
        assert most[1] - most[0] < CROWD * PEER_BYTES // 4, "what the first crowd took was not given back"


def test_a_crowd_with_much_to_say_costs_what_it_may(gates, backend, fault):
    """200 peers whose hello has all lists at their longest, and who say nothing more; at a gate that has no memory left over
    from others."""
    gate = gates(backend, WORKERS=1, TLS_HANDSHAKE_TIMEOUT="800ms", **fault.environment)
    lists = LISTED["suites"](0) | LISTED["groups"](0) | LISTED["algorithms"](0) | LISTED["authorities"](0)
    hello = records(rebuilt(version=ssl.TLSVersion.TLSv1_3, **lists, **LISTED["responders"](0)), 16384)
    resident = gate.resident_bytes()
    crowd = [Raw(gate, tls=False) for _ in range(CROWD)]
    for client in crowd:
        send(client, hello)
    for client in crowd:
        assert first_record(client) == HANDSHAKE
    assert connections(gate) == CROWD
    held = gate.resident_bytes()
    fault.jump(LATEST)
    for client in crowd:
        drained(client)
        client.close()
    eventually(lambda: connections(gate) == 0, "all of them closed")
    if resident:  # not judged with a sanitizer
        assert held - resident < CROWD * PEER_BYTES, f"{(held - resident) // CROWD} bytes a peer"


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
