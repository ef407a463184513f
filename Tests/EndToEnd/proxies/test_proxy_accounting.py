"""Who pays, when proxies speak for others: rates and counts by the real address, whichever way it is told."""

import contextlib
import ssl

import pytest

from backend import echo
from clients import UPGRADE, Raw, assert_refusal, head
from proxying import HOME, NEIGHBOUR, OTHER, SAME_HOME, STRANGER, forwarded, get, line, upgrade
from waiting import eventually
from websocket import RawWebSocket


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
