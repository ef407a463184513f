"""Each row of the strictness table: whole, byte by byte, and where nothing but the syntax is in the way."""

import collections
import contextlib
import json

import pytest

from backend import sink
from clients import Raw, assert_refusal, head
from strictness import read_rows
from waiting import eventually

ROWS = {row.name: row for row in read_rows()}
# The request behind each row's: answered, and counted by the gate, only where the connection lives on.
PROBE = head("GET", "/attest/challenge", "Connection: close").encode()
# Longer rows come in pieces of 1 KiB and only their ends byte by byte.
BYTEWISE_LIMIT, END = 10_000, 300
# No row is about time.
TIMEOUTS = {name: "600s" for name in ("HTTP_HEAD_TIMEOUT", "HTTP_BODY_TIMEOUT", "HTTP_IDLE_TIMEOUT")}
OWN_FILES = {"ATTESTED_KEYS_PATH": "open-keys.json", "CONTROL_SOCKET": "open.sock"}


@pytest.fixture(scope="module")
def backend(shared_backends):
    return shared_backends(sink)


@pytest.fixture(scope="module")
def gate(shared_gates, backend):
    return shared_gates(backend, **TIMEOUTS)


@pytest.fixture(scope="module")
def open_gate(shared_gates, backend):
    """Lets everybody in whose upgrade is one."""
    return shared_gates(backend, REQUIRE_APP_AUTH="false", **OWN_FILES, **TIMEOUTS)


@pytest.fixture(scope="module")
def tally():
    """How often each code came in the tests so far, and how many challenges."""
    return collections.Counter()


def pieces(data):
    """Each a TLS record and a write of its own, that the gate reads apart from the others."""
    chunked = max(0, len(data) - END) if len(data) > BYTEWISE_LIMIT else 0
    yield from (data[start : min(start + 1024, chunked)] for start in range(0, chunked, 1024))
    yield from (data[index : index + 1] for index in range(chunked, len(data)))


def send(client, writes):
    """The gate may have closed before the last one; what it answered is there all the same."""
    with contextlib.suppress(OSError):
        for data in writes:
            client.send(data)


def counted(reply, tally):
    if reply.code or b'"nonce"' in reply.body:
        tally[reply.code or "challenges"] += 1
    return reply


def assert_answers(client, expected, keeps, tally):
    """The answers, of which the last one says whether the connection goes on (RFC 9112 §9.6)."""
    for answer in expected:
        reply = counted(client.reply(head_only=not answer.has_body), tally)
        if answer.code and answer.has_body:
            assert_refusal(reply, answer.status, answer.code)
        else:
            assert (reply.status, reply.code or "") == (answer.status, answer.code)
        if answer.status == 405:
            assert reply.header("Allow") in ("GET", "POST")
        closes = "close" in (reply.header("Connection") or "")
        assert closes == (answer is expected[-1] and not keeps), reply.fields


def assert_end(client, row, tally):
    """The probe's answer if the connection lives, and not a byte behind it."""
    if row.keeps:
        assert len(counted(client.reply(), tally).json["nonce"]) == 64
    assert client.closed(), client.buffer


@pytest.mark.parametrize("name", ROWS)
def test_whole(gate, backend, tally, name):
    row = ROWS[name]
    with Raw(gate) as client:
        send(client, [row.data if row.is_upgrade else row.data + PROBE])
        assert_answers(client, row.expected, row.keeps, tally)
        if row.is_upgrade:
            send(client, [PROBE])
        assert_end(client, row, tally)
    assert backend.count == 0


@pytest.mark.parametrize("name", ROWS)
def test_byte_by_byte(gate, backend, tally, name):
    row = ROWS[name]
    with Raw(gate) as client:
        send(client, pieces(row.data + PROBE))
        assert_answers(client, row.expected_bytewise, row.keeps, tally)
        assert_end(client, row, tally)
    assert backend.count == 0


def test_every_answer_was_counted_once(gate, tally):
    """The gate's own counts agree: nothing behind a refusal was executed or refused in silence."""
    counts = json.loads(gate.command("stats", "--json").stdout)
    challenges = counts["sinceStart"]["challenges"]
    assert {**counts["refusals"], **({"challenges": challenges} if challenges else {})} == tally


@pytest.mark.parametrize("name", ROWS)
def test_whole_without_authentication(open_gate, backend, name):
    """The same where only the syntax is in the way; an upgrade that has it gets through to the game."""
    row, known = ROWS[name], backend.count
    with Raw(open_gate) as client:
        send(client, [row.data])
        if row.is_upgrade:
            assert client.reply().status == 101
            eventually(lambda: backend.count == known + 1, "the connection at the game")
        else:
            assert_answers(client, row.expected, row.keeps, collections.Counter())
            assert backend.count == known
