"""PROXY headers in pieces and those that never end, and the ones that the game gets."""

import contextlib
import hmac
import socket
import ssl

import pytest

from backend import echo, sink
from clients import Raw, head, tls_context
from proxying import HOME, STRANGER, forwarded, get, ipv6, line, upgrade
from test_proxies import SIGNATURE, first_bytes, ipv4, version_2
from waiting import LONG, eventually, patience
from websocket import RawWebSocket

pytestmark = pytest.mark.quick


@pytest.fixture
def by_header(gates, backends):
    """A gate that expects a PROXY header from loopback."""
    game = backends(echo)

    def make(**changes):
        trusted = {"LISTEN_PROXY_PROTOCOL": "true", "TRUSTED_PROXIES": "127.0.0.0/8"}
        return gates(game, **{**trusted, "TLS_HANDSHAKE_TIMEOUT": "10m", **changes})

    return make


# ---- headers in pieces


def plain(gate):
    stream = socket.create_connection((gate.host, gate.port), timeout=patience(60))
    stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return stream


WHOLE = {
    "version 1": line(STRANGER),
    "version 2": version_2(1, 0x11, ipv4(STRANGER, "127.0.0.1", 1234, 8443), b"\xea\x00\x03abc"),
    "4,096 bytes": version_2(1, 0x21, ipv6(HOME, "::1", 1, 2), b"\x20\x0f\xc9" + bytes(4041)),
}


@pytest.mark.parametrize("what", WHOLE)
def test_a_header_may_come_byte_by_byte(by_header, what):
    gate = by_header()
    with plain(gate) as stream:
        for byte in WHOLE[what]:
            stream.sendall(bytes([byte]))
        with tls_context(gate).wrap_socket(stream, server_hostname="localhost") as secured:
            secured.sendall(head("GET", "/attest/no").encode())
            assert secured.recv(65536).startswith(b"HTTP/1.1 404 ")
    source = gate.event(code="not_found")["source"]
    assert source.startswith(f"[{HOME}]:" if what == "4,096 bytes" else STRANGER + ":1234")


@pytest.mark.parametrize("what", WHOLE)
def test_the_hello_may_come_with_the_header(by_header, what):
    gate = by_header()
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = tls_context(gate).wrap_bio(incoming, outgoing, server_hostname="localhost")
    with pytest.raises(ssl.SSLWantReadError):
        client.do_handshake()
    with plain(gate) as stream:
        stream.sendall(WHOLE[what] + outgoing.read())
        while True:
            with contextlib.suppress(ssl.SSLWantReadError):
                client.do_handshake()
                break
            received = stream.recv(65536)
            assert received, "closed in the handshake"
            incoming.write(received)
        client.write(head("GET", "/healthz").encode())
        stream.sendall(outgoing.read())
        answer = b""
        while b'{"status":"ok"}' not in answer:
            with contextlib.suppress(ssl.SSLWantReadError):
                answer += client.read()
                continue
            received = stream.recv(65536)
            assert received, f"closed after {answer!r}"
            incoming.write(received)


def test_one_byte_too_many_is_closed_before_the_rest_comes(by_header):
    gate = by_header()
    with plain(gate) as stream:
        stream.sendall(SIGNATURE + b"\x21\x11" + (4081).to_bytes(2, "big"))
        with contextlib.suppress(ConnectionError):
            assert stream.recv(1) == b""
    gate.event(event="handshake_failed", step="proxy_header_too_long")


def test_a_header_has_the_time_of_the_handshake(by_header, fault):
    fault.stand_still()
    gate = by_header(TLS_HANDSHAKE_TIMEOUT="100s", WORKERS=1, **fault.environment)

    def look():
        """Its one loop has taken in what was sent before, and has looked at the clock."""
        with Raw(gate, before_tls=line(HOME)) as other:
            assert get(other, "/healthz").status == 200

    def is_closed_in_time(sent):
        with plain(gate) as stream:
            stream.sendall(sent)
            look()
            fault.jump(99)
            look()
            stream.settimeout(0.05)
            with pytest.raises(TimeoutError):
                stream.recv(1)
            fault.jump(2)
            look()
            stream.settimeout(patience(LONG))
            with contextlib.suppress(ConnectionError):
                assert stream.recv(1) == b""

    is_closed_in_time(line(STRANGER)[:20])
    gate.event(event="handshake_failed", step="proxy_header_timeout")
    is_closed_in_time(line(STRANGER))
    assert STRANGER in gate.event(event="handshake_failed", step="timeout")["source"]


def test_a_header_cut_off_is_closed_at_once(by_header):
    gate = by_header()
    with plain(gate) as stream:
        stream.sendall(line(STRANGER)[:20])
        stream.shutdown(socket.SHUT_WR)
        with contextlib.suppress(ConnectionError):
            assert stream.recv(1) == b""
    gate.event(event="handshake_failed", step="proxy_header_cut")


def test_unix_and_unknown_use_the_sockets_address(by_header):
    gate = by_header()
    for index, header in enumerate(
        [b"PROXY UNKNOWN\r\n", version_2(1, 0x31, b"/" * 216), version_2(1, 0, b"")]
    ):
        with Raw(gate, before_tls=header) as client:
            assert get(client, f"/attest/{index}").status == 404
            port = client.socket.getsockname()[1]
            eventually(
                lambda: any(event.get("source") == f"127.0.0.1:{port}" for event in gate.events()),
                "the socket's address",
            )


# ---- to the game


@pytest.mark.parametrize("version", ["v1", "v2"])
def test_families_are_mixed_as_mapped_and_unknown_ports_are_0(gates, backends, version):
    backend = backends(sink)
    gate = gates(
        backend, BACKEND_PROXY_PROTOCOL=version, TRUSTED_PROXIES="127.0.0.0/8", REQUIRE_APP_AUTH="false"
    )
    with Raw(gate) as client:
        assert upgrade(client, forwarded(HOME)).status == 101
        if version == "v1":
            expected = f"PROXY TCP6 {HOME} ::ffff:127.0.0.1 0 {gate.port}\r\n".encode()
        else:
            expected = version_2(1, 0x21, ipv6(HOME, "::ffff:127.0.0.1", 0, gate.port))
        assert first_bytes(backend, len(expected)) == expected


@pytest.mark.parametrize("version", ["v1", "v2"])
def test_the_address_called_is_the_one_in_the_header(gates, backends, version):
    backend = backends(sink)
    gate = gates(
        backend,
        BACKEND_PROXY_PROTOCOL=version,
        LISTEN_PROXY_PROTOCOL="true",
        TRUSTED_PROXIES="127.0.0.0/8",
        REQUIRE_APP_AUTH="false",
    )
    header = b"PROXY TCP4 203.0.113.9 198.51.100.1 1234 443\r\n"
    with RawWebSocket(gate, before_tls=header):
        binary = version_2(1, 0x11, ipv4(STRANGER, "198.51.100.1", 1234, 443))
        expected = header if version == "v1" else binary
        assert first_bytes(backend, len(expected)) == expected


def test_a_game_behind_a_unix_socket_is_told_too(gates, backends, device, folder):
    backend = backends(sink, path=folder / "game.sock")
    gate = gates(backend, BACKEND_PROXY_PROTOCOL="v2")
    gate.app.register(device)
    with RawWebSocket(gate, device.headers(gate.app.nonce())) as client:
        local = client.socket.getsockname()
        secret = (folder / "device-pseudonym.key").read_bytes()
        pseudonym = hmac.digest(secret, b"key" + device.key_id, "sha256")[:16]
        values = b"\xe0\x00\x20" + device.key_id + b"\xe1\x00\x10" + pseudonym
        expected = version_2(1, 0x11, ipv4(local[0], "127.0.0.1", local[1], gate.port), values)
        assert first_bytes(backend, len(expected)) == expected


def test_the_header_leaves_before_the_game_speaks(gates, backends):
    """A game that waits for the header before it says anything gets it without a byte of the player's."""

    def polite(connection):
        while not connection.received.endswith(b"\r\n"):
            if not connection.read():
                return
        connection.write(b"Welcome.\r\n")
        while connection.read():
            pass

    gate = gates(backends(polite), BACKEND_PROXY_PROTOCOL="v1", REQUIRE_APP_AUTH="false")
    with RawWebSocket(gate) as client:
        assert client.read_frame()[2] == b"Welcome.\r\n"
