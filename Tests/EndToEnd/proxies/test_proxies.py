"""Addresses through proxies: PROXY v1 and v2 on both legs, X-Forwarded-For from those that are trusted."""

import contextlib
import ipaddress
import struct

import pytest

from backend import sink
from clients import UPGRADE, Raw, assert_refusal, head
from waiting import eventually
from websocket import RawWebSocket

SIGNATURE = b"\r\n\r\n\0\r\nQUIT\n"
STRANGER = "203.0.113.9"


def version_2(command, family, addresses, tlvs=b""):
    return (
        SIGNATURE
        + bytes([0x20 | command, family])
        + struct.pack(">H", len(addresses + tlvs))
        + addresses
        + tlvs
    )


def ipv4(source, destination, source_port, destination_port):
    packed = ipaddress.ip_address(source).packed + ipaddress.ip_address(destination).packed
    return packed + struct.pack(">HH", source_port, destination_port)


def tlvs(block):
    found = {}
    while block:
        kind, length = struct.unpack(">BH", block[:3])
        found[kind], block = block[3 : 3 + length], block[3 + length :]
    return found


def first_header(backend):
    """What has come to the game once the whole of its version 2 header has, and that one's length."""
    length = int.from_bytes(first_bytes(backend, 16)[14:16], "big")
    return first_bytes(backend, 16 + length), length


def first_bytes(backend, count):
    eventually(lambda: backend.byte_count >= count, f"{count} bytes at the game")
    return bytes(backend.connection().received)


@pytest.mark.parametrize("by_key", [True, False])
def test_version_2_to_the_game_names_the_key(gates, backends, device, by_key):
    backend = backends(sink)
    gate = gates(backend, BACKEND_PROXY_PROTOCOL="v2", REQUIRE_APP_AUTH=str(by_key).lower())
    headers = {}
    if by_key:
        gate.app.register(device)
        headers = device.headers(gate.app.nonce())
    with RawWebSocket(gate, headers) as client:
        local = client.socket.getsockname()
        data, length = first_header(backend)
        assert data[:12] == SIGNATURE and data[12:14] == b"\x21\x11"
        assert data[16:28] == ipv4(local[0], "127.0.0.1", local[1], gate.port)
        found = tlvs(data[28 : 16 + length])
        assert found.get(0xE0) == (device.key_id if by_key else None)
        client.frame(2, b"play")
        eventually(lambda: first_bytes(backend, 28)[16 + length :] == b"play", "the payload after the header")


def test_version_1_to_the_game(gates, backends):
    backend = backends(sink)
    gate = gates(backend, BACKEND_PROXY_PROTOCOL="v1", REQUIRE_APP_AUTH="false")
    with RawWebSocket(gate) as client:
        port = client.socket.getsockname()[1]
        expected = f"PROXY TCP4 127.0.0.1 127.0.0.1 {port} {gate.port}\r\n".encode()
        assert first_bytes(backend, len(expected)) == expected


def test_a_refused_peer_causes_no_proxy_header(gates, backend):
    gate = gates(backend, BACKEND_PROXY_PROTOCOL="v2")
    with Raw(gate) as client:
        assert client.send(head("GET", "/", *UPGRADE)).reply().status == 401
    assert backend.count == 0


GOOD = {
    "version 1": f"PROXY TCP4 {STRANGER} 127.0.0.1 1234 8443\r\n".encode(),
    "version 2": version_2(1, 0x11, ipv4(STRANGER, "127.0.0.1", 1234, 8443)),
    "version 2 with TLVs": version_2(1, 0x11, ipv4(STRANGER, "127.0.0.1", 1, 2), b"\x04\0\x03abc"),
}


@pytest.fixture
def behind(gates, backend):
    """A gate that expects a PROXY header from loopback."""

    def make(**changes):
        changes = {"LISTEN_PROXY_PROTOCOL": "true", "TRUSTED_PROXIES": "127.0.0.0/8", **changes}
        return gates(backend, **changes)

    return make


@pytest.mark.parametrize("what", GOOD)
def test_a_header_gives_the_real_address(behind, what):
    gate = behind()
    with Raw(gate, before_tls=GOOD[what]) as client:
        assert client.send(head("GET", "/attest/no", "X-Forwarded-For: 192.0.2.1")).reply().status == 404
    line = gate.event(code="not_found")
    assert STRANGER in str(line) and "192.0.2.1" not in str(line)


def test_local_uses_the_sockets_address(behind):
    gate = behind()
    with Raw(gate, before_tls=version_2(0, 0, b"")) as client:
        assert client.send(head("GET", "/attest/no")).reply().status == 404
    assert "127.0.0.1" in str(gate.event(code="not_found"))


BAD = {
    "none": b"",
    "another word": b"PROXI TCP4 1.2.3.4 1.2.3.4 1 1\r\n",
    "bad address": b"PROXY TCP4 1.2.3.400 1.2.3.4 1 1\r\n",
    "no end": b"PROXY TCP4 " + b"1" * 120,
    "too long": version_2(1, 0x11, ipv4(STRANGER, "127.0.0.1", 1, 2), b"\x04\x10\x04" + bytes(4100)),
    "version 3": SIGNATURE + b"\x31\x11\x00\x0c" + bytes(12),
}


@pytest.mark.parametrize("what", BAD)
def test_a_bad_header_is_closed(behind, what):
    gate = behind()
    hello = b"\x16\x03\x01\x00\x05\x01\x00\x00\x01\x00"
    with Raw(gate, tls=False, before_tls=BAD[what] + hello) as client:
        assert client.closed()


def test_peers_that_are_not_trusted_are_closed(behind):
    gate = behind(TRUSTED_PROXIES="10.0.0.0/8")
    # The reset may come before the header is written.
    with contextlib.suppress(ConnectionError), Raw(gate, tls=False, before_tls=GOOD["version 1"]) as client:
        assert client.closed()
    line = gate.event(event="turned_away")
    assert line["step"] == "untrusted_peer"


def test_a_list_is_needed(behind, gates):
    gate = gates(start=False, LISTEN_PROXY_PROTOCOL="true").launch()
    assert gate.wait() == 78
    assert "TRUSTED_PROXIES" in gate.log_text()


@pytest.mark.parametrize(
    "fields, source",
    [
        ([f"X-Forwarded-For: {STRANGER}"], STRANGER),
        ([f"X-Forwarded-For: 192.0.2.1, {STRANGER}"], STRANGER),
        (["X-Forwarded-For: 192.0.2.1", f"X-Forwarded-For: {STRANGER}, 127.0.0.5"], STRANGER),
        (["X-Forwarded-For: 2001:db8::7"], "2001:db8::7"),
        ([], "127.0.0.1"),
    ],
)
def test_forwarded_for_is_believed_from_the_right(gates, backend, fields, source):
    gate = gates(backend, TRUSTED_PROXIES="127.0.0.0/8")
    with Raw(gate) as client:
        assert client.send(head("GET", "/attest/no", *fields)).reply().status == 404
    assert source in str(gate.event(code="not_found"))


@pytest.mark.parametrize("value", ["nonsense", "1.2.3.4, ,5.6.7.8", "1.2.3.400", ""])
def test_a_malformed_hop_is_a_bad_request(gates, backend, value):
    gate = gates(backend, TRUSTED_PROXIES="127.0.0.0/8")
    with Raw(gate) as client:
        reply = client.send(head("GET", "/attest/challenge", "X-Forwarded-For: " + value)).reply()
        assert_refusal(reply, 400, "bad_request")


def test_forwarded_for_of_strangers_is_ignored(gates, backend):
    gate = gates(backend, TRUSTED_PROXIES="10.0.0.0/8")
    with Raw(gate) as client:
        assert client.send(head("GET", "/attest/no", f"X-Forwarded-For: {STRANGER}")).reply().status == 404
    line = str(gate.event(code="not_found"))
    assert "127.0.0.1" in line and STRANGER not in line
