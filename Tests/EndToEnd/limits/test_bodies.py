"""Bodies that are announced, begun, and never end, from few and from many addresses; and bodies in chunks.

Nothing is reserved by an announcement, and who stands still makes room: a registration, a phone's *deny* and a service's
request pass within two seconds.
"""

import contextlib
import json
import socket
import time

import pytest

from approvers import Approver, add_service, approval_settings
from clients import Raw, assert_refusal, head, tls_context
from phones import ask
from waiting import eventually, patience

JSON = "Content-Type: application/json"
WHOLE = 65_536
POLICY = {"rules": [{"match": {"operation": "promote"}, "level": "bare"}]}
# No rate does the work.
PATIENT = {
    "HTTP_BODY_TIMEOUT": "600s",
    "HANDSHAKE_RATE": "1000/s",
    "REGISTER_RATE": "100000/m",
    "CHALLENGE_RATE": "100000/m",
}


@pytest.fixture
def attackers(gates):
    stack = contextlib.ExitStack()

    def make(gate, count, addresses, framing=f"Content-Length: {WHOLE}", body=b""):
        """So many connections, each with a head and the beginning of a body, from so many addresses."""
        context = tls_context(gate)
        made = []
        for number in range(count):
            source = number % addresses
            plain = stack.enter_context(socket.socket())
            plain.bind((f"127.0.{1 + source // 250}.{1 + source % 250}", 0))
            plain.settimeout(patience(60))
            plain.connect((gate.host, gate.port))
            wrapped = stack.enter_context(context.wrap_socket(plain, server_hostname="localhost"))
            wrapped.sendall(head("POST", "/attest/register", JSON, framing).encode() + body)
            wrapped.setblocking(False)
            made.append(wrapped)
        return made

    with stack:
        yield make


def answer(peer):
    """What came for an attacker so far; empty while nothing did."""
    try:
        return peer.recv(65536)
    except OSError:
        return b""


def dropped(crowd, count):
    """The answers of the connections without room, once `count` of them have one."""
    told = {}

    def all_have_heard():
        told.update({peer: data for peer in crowd if peer not in told and (data := answer(peer))})
        return len(told) == count

    eventually(all_have_heard, f"{count} bodies make room", 60)
    return told


ATTACKS = {
    # 256 × 64 KiB are what all bodies together may take.
    "8 addresses announce": (256, 8, {}),
    "64 addresses announce": (1024, 64, {}),
    "64 addresses announce chunks": (1024, 64, {"framing": "Transfer-Encoding: chunked", "body": b"ffff\r\n"}),
    # 12 MiB of three steps each are what anybody's bodies may take; the last ones have somebody make room.
    "1024 addresses send a part": (1030, 1024, {"body": bytes(12_288)}),
    "64 addresses send all but a byte": (256, 64, {"body": bytes(WHOLE - 1)}),
}


@pytest.mark.alone("two seconds are measured beside a thousand connections")
@pytest.mark.parametrize("attack", ATTACKS)
def test_others_pass(gates, folder, device, attackers, attack):
    gate = gates(**approval_settings(folder, POLICY, **PATIENT))
    token = add_service(gate)
    phone = Approver(gate)
    phone.enroll()
    done = gate.command("devices", "confirm", phone.id, "--subject", "anna")
    assert done.returncode == 0, done.stderr
    request = {
        "operation": "promote",
        "target": {"player": "gandalf"},
        "text": "Gandalf becomes a wizard.",
        "subject": "anna",
        "requester": {"id": "saruman"},
    }
    asked = ask(gate, "POST", "/approvals", request, token).json
    (item,) = phone.ask("GET", "/approvals", token=phone.token).json["items"]
    vote = phone.decision(item, "deny")
    registration = device.registration(gate.app.nonce())
    gate.app.close()

    count, addresses, options = ATTACKS[attack]
    crowd = attackers(gate, count, addresses, **options)
    if "send" in attack:
        gate.event(within=60, code="overloaded", step="bodies_in_flight")

    def passes(status, *arguments):
        begun = time.monotonic()
        reply = phone.ask(*arguments)
        taken = time.monotonic() - begun
        gate.app.close()
        assert (reply.status, taken < patience(2)) == (status, True), (reply, taken)
        return reply.json

    assert passes(200, "POST", "/attest/register", registration) == {"registered": True}
    decided = passes(200, "POST", f"/approvals/{asked['id']}/decision", vote, phone.token)
    assert decided["state"] == "denied"
    passes(201, "POST", "/approvals", request | {"requester": {"id": "radagast"}}, token)
    # What an announcement alone costs, nobody had to pay for.
    if "send" not in attack:
        assert not any(answer(peer) for peer in crowd)


def test_bodies_have_a_bound_and_the_rest_is_told(gates, backend, attackers):
    """12 MiB for anybody's, 2 MiB of them for an address; one that has to make room hears so."""
    gate = gates(backend, **PATIENT)
    before = gate.resident_bytes()
    crowd = attackers(gate, 512, 16, body=bytes(WHOLE - 1))
    kept = 12 * 2**20 // WHOLE
    told = dropped(crowd, 512 - kept)
    for data in told.values():
        assert data.startswith(b"HTTP/1.1 503 ") and b"Portcullis-Error: overloaded\r\n" in data
        assert b"Retry-After: 1\r\n" in data and b"Connection: close\r\n" in data
    # Beside the bodies, TLS has its part of each connection.
    assert gate.resident_bytes() - before < 64 << 20
    # Whoever was there and is whole now is served.
    (first, *_) = [peer for peer in crowd if peer not in told]
    first.setblocking(True)
    first.sendall(b" ")
    assert first.recv(65536).startswith(b"HTTP/1.1 400 ")


def test_an_address_has_a_share(gates, backend, attackers):
    """Two of 34 make room: any two, as two loops read them; BodyPoolTests say which one it is where the order is known."""
    gate = gates(backend, **PATIENT)
    with Raw(gate) as other:
        other.send(head("POST", "/attest/register", JSON, f"Content-Length: {WHOLE}")).send(bytes(WHOLE - 1))
        crowd = attackers(gate, 34, 1, body=bytes(WHOLE - 1))
        told = dropped(crowd, 2)
        for data in told.values():
            assert data.startswith(b"HTTP/1.1 503 ") and b"Portcullis-Error: overloaded\r\n" in data
        for peer in crowd:
            if peer not in told:
                peer.setblocking(True)
                peer.sendall(b" ")
                assert peer.recv(65536).startswith(b"HTTP/1.1 400 ")
        assert_refusal(other.send(b" ").reply(), 400, "bad_request")


# ---- chunks


def chunked(*pieces):
    return b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in [*pieces, b""])


def test_a_registration_in_chunks(gates, backend, new_device):
    """However they are cut, and with the next request behind them; RFC 9112 §7.1."""
    gate = gates(backend)
    opening = head("POST", "/attest/register", JSON, "Transfer-Encoding: chunked").encode()
    with Raw(gate) as client:
        for size in (1, 100, 1 << 20):
            body = json.dumps(new_device().registration(gate.app.nonce())).encode()
            pieces = [body[start : start + size] for start in range(0, len(body), size)]
            client.send(opening + chunked(*pieces) + head("GET", "/healthz").encode())
            assert client.reply().json == {"registered": True}
            assert client.reply().json == {"status": "ok"}
        body = json.dumps(new_device().registration(gate.app.nonce())).encode()
        for byte in opening + chunked(body[:50], body[50:]):
            client.send(bytes([byte]))
        assert client.reply().json == {"registered": True}


@pytest.mark.parametrize("size, status", [(65_535, 400), (65_536, 400), (65_537, 413)])
def test_chunks_have_the_bodys_limit(gates, backend, size, status):
    gate = gates(backend)
    opening = head("POST", "/attest/register", JSON, "Transfer-Encoding: chunked").encode()
    with Raw(gate) as client:
        client.send(opening + chunked(bytes(60_000), bytes(size - 60_000)))
        assert_refusal(client.reply(), status, "bad_request" if status == 400 else "content_too_large")
    if status == 413:
        gate.event(step="chunked_length")


def test_a_body_in_chunks_that_nobody_wants(gates, backend):
    """It is not read: the connection ends with the answer."""
    gate = gates(backend)
    refused = [
        (head("POST", "/attest/register", "Transfer-Encoding: chunked"), 415),
        (head("POST", "/attest/none", "Transfer-Encoding: chunked"), 404),
        (head("POST", "/healthz", "Transfer-Encoding: chunked"), 405),
    ]
    for opening, status in refused:
        with Raw(gate) as client:
            client.send(opening + "2\r\n{}\r\n0\r\n\r\n" + head("GET", "/healthz"))
            reply = client.reply()
            assert (reply.status, reply.header("Connection")) == (status, "close")
            assert client.closed()


def test_leave_is_given_to_send_chunks(gates, backend, device):
    gate = gates(backend)
    body = json.dumps(device.registration(gate.app.nonce())).encode()
    with Raw(gate) as client:
        client.send(head("POST", "/attest/register", JSON, "Transfer-Encoding: chunked", "Expect: 100-continue"))
        assert client.reply().status == 100
        client.send(chunked(body))
        assert client.reply().json == {"registered": True}
