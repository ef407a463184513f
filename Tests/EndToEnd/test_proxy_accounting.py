"""Who pays, when proxies speak for others: rates and counts by the real address, whichever way it is told; headers in
pieces, and those that never end."""

import contextlib
import ipaddress
import socket
import ssl

import pytest

from backend import echo, sink
from clients import UPGRADE, Raw, assert_refusal, head, tls_context
from test_proxies import SIGNATURE, first_bytes, ipv4, version_2
from waiting import eventually
from websocket import RawWebSocket

STRANGER, OTHER = "203.0.113.9", "203.0.113.10"
# The first two share a /64, as one subscriber's addresses do.
HOME, SAME_HOME, NEIGHBOUR = "2001:db8:1:2::7", "2001:db8:1:2:aaaa::8", "2001:db8:1:3::7"


def line(source, port=1234):
    family, here = ("TCP6", "::1") if ":" in source else ("TCP4", "127.0.0.1")
    return f"PROXY {family} {source} {here} {port} 8443\r\n".encode()


def ipv6(source, destination, source_port, destination_port):
    packed = ipaddress.ip_address(source).packed + ipaddress.ip_address(destination).packed
    return packed + source_port.to_bytes(2, "big") + destination_port.to_bytes(2, "big")


def forwarded(source):
    return f"X-Forwarded-For: {source}"


def get(client, target, *fields):
    return client.send(head("GET", target, *fields)).reply()


def upgrade(client, *fields):
    return client.send(head("GET", "/", *UPGRADE, *fields)).reply(head_only=True)


@pytest.fixture
def by_header(gates, backends):
    """A gate that expects a PROXY header from loopback."""
    game = backends(echo)

    def make(**changes):
        return gates(game, **{"LISTEN_PROXY_PROTOCOL": "true", "TRUSTED_PROXIES": "127.0.0.0/8", **changes})

    return make


@pytest.fixture
def by_field(gates, backends):
    """A gate that believes X-Forwarded-For from loopback."""
    game = backends(echo)

    def make(**changes):
        return gates(game, **{"TRUSTED_PROXIES": "127.0.0.0/8", **changes})

    return make


# ---- headers in pieces


def plain(gate):
    stream = socket.create_connection((gate.host, gate.port), timeout=10)
    stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return stream


WHOLE = {
    "version 1": line(STRANGER),
    "version 2": version_2(1, 0x11, ipv4(STRANGER, "127.0.0.1", 1234, 8443), b"\xea\x00\x03abc"),
    "536 bytes": version_2(1, 0x21, ipv6(HOME, "::1", 1, 2), b"\xea\x01\xe1" + bytes(481)),
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
    assert source.startswith(f"[{HOME}]:" if what == "536 bytes" else STRANGER + ":1234")


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
        stream.sendall(SIGNATURE + b"\x21\x11" + (521).to_bytes(2, "big"))
        with contextlib.suppress(ConnectionError):
            assert stream.recv(1) == b""
    gate.event(event="handshake_failed", step="proxy_header_too_long")


def test_a_header_has_the_time_of_the_handshake(by_header):
    gate = by_header(TLS_HANDSHAKE_TIMEOUT="300ms")
    with plain(gate) as stream:
        stream.sendall(line(STRANGER)[:20])
        with contextlib.suppress(ConnectionError):
            assert stream.recv(1) == b""
    gate.event(event="handshake_failed", step="proxy_header_timeout")
    with plain(gate) as stream:
        stream.sendall(line(STRANGER))
        with contextlib.suppress(ConnectionError):
            assert stream.recv(1) == b""
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


# ---- PROXY headers: one client a connection


def test_connections_count_for_the_address_in_the_header(by_header):
    gate = by_header(MAX_CONNECTIONS_PER_ADDRESS="2")
    with contextlib.ExitStack() as stack:

        def connect(source):
            return stack.enter_context(Raw(gate, before_tls=line(source)))

        first, second = connect(HOME), connect(SAME_HOME)
        assert get(first, "/healthz").status == get(second, "/healthz").status == 200
        assert_refusal(get(connect(HOME), "/healthz"), 429, "rate_limited")
        for source in (NEIGHBOUR, STRANGER, "::ffff:" + OTHER):
            assert get(connect(source), "/healthz").status == 200
        # The mapped address was the IPv4 one.
        assert get(connect(OTHER), "/healthz").status == 200
        assert_refusal(get(connect(OTHER), "/healthz"), 429, "rate_limited")
        first.close()
        second.close()

        def is_free_again():
            with Raw(gate, before_tls=line(HOME)) as client:
                return get(client, "/healthz").status == 200

        eventually(is_free_again, "a place for the address")


def test_handshakes_are_rated_by_the_address_in_the_header(by_header):
    gate = by_header(HANDSHAKE_RATE="1/m")

    def is_served(source):
        try:
            with Raw(gate, before_tls=line(source)) as client:
                return get(client, "/healthz").status == 200
        except (ssl.SSLError, OSError):
            return False

    served = 0
    while is_served(HOME):
        served += 1
        assert served < 100, "never refused"
    assert served > 0
    assert not is_served(SAME_HOME)
    assert is_served(NEIGHBOUR) and is_served(STRANGER)
    assert HOME in gate.event(event="turned_away", step="handshake_rate")["source"]


def test_challenges_are_rated_by_the_address_in_the_header(by_header):
    gate = by_header(CHALLENGE_RATE="1/m")

    def status(source):
        with Raw(gate, before_tls=line(source)) as client:
            return get(client, "/attest/challenge").status

    eventually(lambda: status(HOME) == 429, "the rate's end")
    assert status(SAME_HOME) == 429
    assert status(NEIGHBOUR) == 200


def test_a_session_keeps_the_address_in_the_header(by_header):
    gate = by_header(REQUIRE_APP_AUTH="false")
    with RawWebSocket(gate, before_tls=line(STRANGER)) as client:
        client.frame(2, b"hello")
        assert client.read_frame()[2] == b"hello"
        assert gate.event(event="admitted")["source"] == f"{STRANGER}:1234"
        listed = gate.command("sessions", "list", "--json")
        assert listed.returncode == 0 and f"{STRANGER}:1234" in listed.stdout
    assert gate.event(event="session_ended")["source"] == f"{STRANGER}:1234"


# ---- X-Forwarded-For: many clients a connection


def test_requests_on_one_connection_are_rated_each_by_its_client(by_field):
    gate = by_field(CHALLENGE_RATE="1/m")
    with Raw(gate) as client:

        def status(*fields):
            return get(client, "/attest/challenge", *fields).status

        assert status(forwarded(HOME)) == 200
        assert status(forwarded(HOME)) == 429
        assert status(forwarded(SAME_HOME)) == 429
        assert status(forwarded(NEIGHBOUR)) == 200
        assert status(forwarded(STRANGER)) == 200
        # Without the field it is the proxy itself.
        assert status() == 200
        assert status() == 429
        assert status(forwarded(OTHER)) == 200


def test_registrations_on_one_connection_are_rated_each_by_its_client(by_field):
    gate = by_field(REGISTER_RATE="1/m")

    def status(client, source):
        fields = ("Content-Type: application/json", "Content-Length: 2", forwarded(source))
        return client.send(head("POST", "/attest/register", *fields) + "{}").reply().status

    with Raw(gate) as client:
        assert [status(client, source) for source in (HOME, SAME_HOME, NEIGHBOUR)] == [400, 429, 400]


def test_sessions_count_for_the_client_and_idle_connections_for_nobody(by_field):
    gate = by_field(MAX_CONNECTIONS_PER_ADDRESS="2", REQUIRE_APP_AUTH="false")
    with contextlib.ExitStack() as stack:

        def connect():
            return stack.enter_context(Raw(gate))

        # The proxy's own connections, though all of them carried this client's requests.
        for _ in range(5):
            assert get(connect(), "/attest/challenge", forwarded(HOME)).status in (200, 404)
        sessions = [connect(), connect()]
        for session in sessions:
            assert upgrade(session, forwarded(HOME)).status == 101
        late = connect()
        assert_refusal(get(late, "/", *UPGRADE, forwarded(SAME_HOME)), 429, "rate_limited")
        assert get(late, "/healthz", forwarded(HOME)).status == 200
        # The same connection may bring somebody else.
        assert upgrade(late, forwarded(NEIGHBOUR)).status == 101
        sessions[0].close()

        def has_place():
            with Raw(gate) as client:
                return upgrade(client, forwarded(SAME_HOME)).status == 101

        eventually(has_place, "a place for the address")
    assert gate.event(event="admitted", source=NEIGHBOUR)


def test_refused_upgrades_keep_no_place(by_field):
    gate = by_field(
        MAX_CONNECTIONS_PER_ADDRESS="1", REQUIRE_APP_AUTH="false", ALLOWED_ORIGINS="https://good.example"
    )
    for _ in range(3):
        with Raw(gate) as client:
            assert upgrade(client, forwarded(HOME), "Origin: https://bad.example").status == 403
    with Raw(gate) as client:
        assert upgrade(client, forwarded(HOME)).status == 101


def test_upgrades_without_a_game_keep_no_place(by_field):
    gate = by_field(MAX_CONNECTIONS_PER_ADDRESS="1", REQUIRE_APP_AUTH="false", BACKEND="127.0.0.1:9")
    with Raw(gate) as client:
        for _ in range(4):
            assert get(client, "/", *UPGRADE, forwarded(HOME)).code == "backend_unavailable"


def test_a_field_names_only_its_own_request(by_field):
    gate = by_field()
    with Raw(gate) as client:
        assert get(client, "/attest/first", forwarded(STRANGER)).status == 404
        assert gate.event(code="not_found", source=STRANGER)
        assert get(client, "/attest/second").status == 404
        port = client.socket.getsockname()[1]
        assert gate.event(code="not_found", source=f"127.0.0.1:{port}")


def test_a_hop_may_have_a_port(by_field):
    gate = by_field()
    with Raw(gate) as client:
        assert get(client, "/attest/no", forwarded(f"[{HOME}]:4660, 127.0.0.9")).status == 404
    assert gate.event(code="not_found", source=f"[{HOME}]:4660")


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
        key = b"\xe0\x00\x20" + device.key_id
        expected = version_2(1, 0x11, ipv4(local[0], "127.0.0.1", local[1], gate.port), key)
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
