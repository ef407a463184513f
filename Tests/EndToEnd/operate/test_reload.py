"""SIGHUP (docs/running.md, "Reloading"): what a reload changes, and what it leaves alone."""

import ssl

import pytest

from clients import UPGRADE, Raw, assert_refusal, head, tls_context
from reloading import BLAMED, DAMAGES, Reloadable, damage
from sessions import Player
from silence import late_listener
from telnet_game import TelnetGame
from waiting import eventually, patience
from websocket import TEXT, RawWebSocket


@pytest.fixture
def reloadable(gates, folder, pki, authority):
    def make(**changes):
        return Reloadable(gates, folder, pki, **changes)

    return make


@pytest.mark.parametrize("kind", DAMAGES)
def test_a_bad_reload_changes_nothing_at_all(reloadable, kind):
    """One wrong file: certificate, authority, limit and level all stay, and the log names the setting."""
    gate = reloadable()
    session = RawWebSocket(gate.gate, certificate=gate.pki.good_client)
    gate.lay_out(1, 1, HTTP_HEAD_MAX_BYTES="8KiB", LOG_LEVEL="error")
    damage(gate, kind)
    said = gate.reload("reload_failed")
    blames = [event["reason"] for event in said if event.get("event") == "reload_problem"]
    assert any(BLAMED[kind] in reason for reason in blames), blames
    # The number of an exit status tells nobody what to do.
    (failed,) = [event["reason"] for event in said if event.get("event") == "reload_failed"]
    assert failed.startswith(blames[0]), failed
    assert all(gate.shown() == 0 for _ in range(4))
    assert gate.large_request() == 200
    assert gate.client_certificate() == 101
    session.frame(TEXT, b"still here")
    assert session.read_frame()[2] == b"still here"
    session.close()


def test_the_log_level_follows(reloadable):
    gate = reloadable()

    def logged(level):
        gate.lay_out(0, 0, LOG_LEVEL=level)
        gate.reload()
        known = len(gate.gate.events())
        assert gate.client_certificate() == 101
        # The answer to the next reload is behind all that was logged before it.
        gate.reload()
        return [event.get("event") for event in gate.gate.events()[known:]]

    assert "admitted" in logged("info")
    assert "admitted" not in logged("notice")


def test_a_shorter_wait_is_also_for_who_waits_already(reloadable, new_device):
    game = TelnetGame()
    try:
        gate = reloadable(backend=game)
        # Who says at once who it is has nothing due for a long time.
        player = Player(gate.gate, gate.gate.app.register(new_device()), client={"name": "App"})
        assert player.connect()["resumeFor"] == 600
        player.lose()
        eventually(lambda: "session_detached" in words(gate.gate), "a detached session")
        gate.lay_out(0, 0, SESSION_RESUME_FOR="1s")
        gate.reload()
        eventually(lambda: "session_let_go" in words(gate.gate), "its end")
        assert not player.connect()["resumed"]
        player.close()
    finally:
        game.stop()


def words(gate):
    return [event.get("event") for event in gate.events()]


class Resuming:
    """A client that keeps its TLS session, as browsers and the system's TLS do."""

    def __init__(self, gate, version, certificate=None):
        self.gate, self.session = gate, None
        self.context = tls_context(gate, certificate, version)

    def upgrade(self):
        """The status of an upgrade, and whether the handshake was a resumption."""
        with RawSession(self.gate, self.context, self.session) as client:
            status = client.send(head("GET", "/", *UPGRADE)).reply(head_only=True).status
            # The ticket of TLS 1.3 comes behind the handshake, before the reply.
            self.session = client.socket.session
            return status, client.socket.session_reused


class RawSession(Raw):
    def __init__(self, gate, context, session):
        super().__init__(gate, tls=False)
        self.socket = context.wrap_socket(self.socket, server_hostname="localhost", session=session)


VERSIONS = [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3]


@pytest.mark.parametrize("version", VERSIONS)
def test_tickets_outlive_a_certificate_but_not_a_client_authority(reloadable, version):
    gate = reloadable(WORKERS=1, REQUIRE_APP_AUTH="false")
    client = Resuming(gate.gate, version)
    assert client.upgrade() == (101, False)
    assert client.upgrade() == (101, True)
    gate.lay_out(1, 0)
    gate.reload()
    assert gate.shown() == 1
    assert client.upgrade() == (101, True)
    gate.lay_out(0, 1)
    gate.reload()
    assert gate.shown() == 0
    assert client.upgrade() == (101, False)
    assert client.upgrade() == (101, True)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_verified_client_is_judged_anew_after_its_authority_went(reloadable, version):
    """Nothing that was kept from a handshake under the old authority lets the client in under the new one."""
    gate = reloadable(WORKERS=1)
    client = Resuming(gate.gate, version, certificate=gate.pki.good_client)
    assert client.upgrade() == (101, False)
    assert client.upgrade() == (101, False)
    gate.lay_out(1, 1)
    gate.reload()
    assert gate.shown() == 1
    assert client.upgrade() == (401, False)
    gate.lay_out(0, 0)
    gate.reload()
    assert gate.shown() == 0
    assert client.upgrade() == (101, False)


@pytest.mark.parametrize("goes", [False, True])
def test_an_upgrade_that_waits_for_the_game_while_its_authority_goes(reloadable, goes):
    """Once `reloaded` is said nobody is let in by a certificate of the old one, whenever it was judged."""
    with late_listener("127.0.0.1") as game:
        gate = reloadable(backend=f"127.0.0.1:{game.port}", WORKERS=1, BACKEND_CONNECT_TIMEOUT="600s")
        with Raw(gate.gate, certificate=gate.pki.good_client) as client:
            client.send(head("GET", "/", *UPGRADE))
            eventually(game.is_called, "the call to a game that is silent")
            gate.lay_out(0, 1 if goes else 0, LOG_LEVEL="info")
            gate.reload()
            game.answer()
            client.socket.settimeout(patience(60))
            reply = client.reply(head_only=not goes)
        if goes:
            assert_refusal(reply, 401, "assertion_required")
            assert gate.gate.event(event="client_certificate_refused")
        else:
            assert reply.status == 101


def test_old_certificates_leave_memory_with_their_last_session(reloadable):
    """Reloads in waves, with a session for each that then goes: the next wave uses that memory again."""
    gate = reloadable(WORKERS=1, REQUIRE_APP_AUTH="false", HTTP_IDLE_TIMEOUT="600s")
    resident = []
    for _ in range(5):
        sessions = []
        for number in range(50):
            gate.lay_out(number % 2, number % 2, LOG_LEVEL="notice")
            gate.reload()
            assert gate.shown() == number % 2
            sessions.append(Raw(gate.gate))
            assert sessions[-1].send(head("GET", "/healthz")).reply().status == 200
        for session in sessions:
            assert session.send(head("GET", "/healthz")).reply().status == 200
            session.close()
        eventually(lambda: gate.connections() == 0, "the connections gone")
        resident.append(gate.gate.resident_bytes())
    grown = resident[-1] - resident[1]
    # Three waves: a context that stayed costs 50 KiB, 150 times.
    assert grown < 1 << 20, f"{grown} bytes more: {resident}"
