"""Back in one handshake: a session's own nonce in the place of a challenge, for that session and for nothing else."""

import secrets
import socket
import threading
import time
import types

import pytest

from clients import App
from cutting_proxy import CuttingProxy
from handset import Handset
from sessions import VERSION_1, Player, Refused, Wire
from waiting import LONG, eventually, patience

WAY = 0.1  # seconds, from the phone to the gate or back


def seated(evening, **options):
    player, seat = evening.seated(**options)
    player.by_next = True
    return player, seat


def detached(evening):
    eventually(lambda: evening.gate.event(event="session_detached"), "a detached session")


def refused(player, code="nonce_invalid"):
    with pytest.raises(Refused) as caught:
        player.connect()
    assert (caught.value.status, caught.value.code) == (401, code)


class Counting:
    """The connections that apps make to a gate, through a proxy that lets all pass."""

    def __init__(self, gate):
        self.proxy = CuttingProxy(gate, self.plan)
        self.connections = 0

    def plan(self):
        self.connections += 1


class Phone(Player):
    """It makes a connection for each request, as a phone does whose network has changed."""

    def fields(self, *arguments, **options):
        gate, app = self.gate, App(self.through)
        self.gate = types.SimpleNamespace(app=app)
        try:
            return super().fields(*arguments, **options)
        finally:
            app.close()
            self.gate = gate


# ---- coming back


@pytest.mark.quick
def test_one_handshake_brings_a_player_back(evening):
    counting = Counting(evening.gate)
    try:
        player, seat = evening.seated(kind=Phone, through=counting.proxy)
        for by_next, expected in ((False, 2), (True, 1)):
            player.by_next, counting.connections = by_next, 0
            player.lose()
            assert player.connect()["resumed"]
            assert counting.connections == expected
        player.line("back")
        assert seat.heard_lines(1) == ["back"]
        assert evening.game.count == 1
    finally:
        counting.proxy.stop()


class SlowLine:
    """A line that takes `WAY` seconds each way; how long it takes says how many round trips were made."""

    def __init__(self, gate):
        self.gate, self.pki, self.host = gate, gate.pki, "127.0.0.1"
        self.listener = socket.create_server((self.host, 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            far = socket.create_connection((self.gate.host, self.gate.port))
            for source, sink in ((near, far), (far, near)):
                source.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                threading.Thread(target=self._carry, args=(source, sink), daemon=True).start()

    @staticmethod
    def _carry(source, sink):
        waiting, news = [], threading.Condition()

        def deliver():
            while True:
                with news:
                    news.wait_for(lambda: waiting)
                    due, data = waiting.pop(0)
                time.sleep(max(0, due - time.monotonic()))
                try:
                    sink.sendall(data) if data else sink.shutdown(socket.SHUT_WR)
                except OSError:
                    return
                if not data:
                    return

        threading.Thread(target=deliver, daemon=True).start()
        while True:
            try:
                data = source.recv(65536)
            except OSError:
                data = b""
            with news:
                waiting.append((time.monotonic() + WAY, data))
                news.notify()
            if not data:
                return

    def stop(self):
        self.listener.close()


@pytest.mark.alone(reason="it counts round trips by their time")
def test_three_round_trips_to_the_first_byte_of_play(evening):
    """Six by a challenge: two connections of a TCP handshake, one of TLS and a request each. The line begins to be slow
    behind the TCP handshake, which is a round trip of its own."""
    line = SlowLine(evening.gate)
    try:
        player, _ = evening.seated(kind=Phone, through=line)

        def round_trips(by_next):
            player.by_next = by_next
            player.lose()
            began = time.monotonic()
            assert player.connect()["resumed"]
            handshakes = 1 if by_next else 2
            return handshakes + (time.monotonic() - began) / (2 * WAY)

        # A machine that is busy makes it longer, and nothing makes it shorter.
        for by_next, expected in ((True, 3), (False, 6)):
            eventually(lambda: expected <= round_trips(by_next) < expected + 1, f"{expected} round trips")
    finally:
        line.stop()


@pytest.mark.quick
def test_again_and_again(evening):
    player, seat = seated(evening)
    for number in range(5):
        seat.say(f"{number}\r\n")
        player.until_text(f"{number}\r\n")
        player.lose()
        seat.say("away\r\n")
        assert player.connect()["resumed"]
        player.until_text("away\r\n" if number == 0 else f"{number}\r\naway\r\n")
    assert evening.game.count == 1 and not player.events("gap")


def test_it_takes_over_from_a_living_connection(evening):
    player, seat = seated(evening)
    old = player.wire
    other = evening.again(player)
    other.by_next, other.next = True, player.next
    assert other.connect()["resumed"]
    player.wire = old
    assert player.until_lost().code == 4001
    other.line("here")
    assert seat.heard_lines(1) == ["here"]


def test_the_answer_may_be_lost(evening):
    """The id that was named stays good until the app is heard, and so does its nonce."""
    player, seat = seated(evening)
    player.lose()
    detached(evening)
    for _ in range(3):
        wire = Wire(evening.gate, player.fields())
        assert b'"resumed":true' in wire.message(patience(LONG))[1].replace(b" ", b"")
        wire.lose()
    assert player.connect()["resumed"]
    player.line("back")
    assert seat.heard_lines(1) == ["back"]


def test_it_goes_from_loop_to_loop(evenings):
    evening = evenings(WORKERS="3")
    player, seat = seated(evening)
    for number in range(12):
        player.lose()
        assert player.connect()["resumed"]
        player.line(str(number))
        assert seat.heard_lines(number + 1)[-1] == str(number)


@pytest.mark.parametrize("end", ["kill", "restart"])
def test_it_outlives_the_process(kept, end):
    player, seat = seated(kept)
    seat.say("a\r\n")
    player.until_text("a\r\n")
    if end == "kill":
        kept.kill_and_start()
        kept.back_after_a_kill(player)
    else:
        kept.restart()
        assert player.connect()["resumed"]
    player.line("back")
    assert seat.heard_lines(1) == ["back"]
    assert kept.game.count == 1


# ---- who should get nothing


@pytest.mark.quick
def test_what_is_not_this_sessions_nonce(evening):
    """Damaged, another session's, of an id that is no good any more: nothing is told, and the session goes on."""
    player, seat = seated(evening)
    other, _ = seated(evening)
    old = (player.id, player.next)
    player.lose()
    assert player.connect()["resumed"]
    player.line("one")
    player.until_handled()
    good, attempt = player.next, evening.again(player)
    attempt.by_next = True
    damaged = good[:-1] + ("0" if good[-1] != "0" else "1")
    for nonce in (damaged, good[::-1], other.next, old[1], "0" * 64, secrets.token_hex(32), evening.gate.app.nonce()[::-1]):
        attempt.next = nonce
        refused(attempt)
    attempt.id, attempt.next = old
    refused(attempt)
    assert evening.gate.event(code="nonce_invalid", step="nonce_sessionless")
    player.line("two")
    assert seat.heard_lines(2) == ["one", "two"]
    assert not player.events("closing")
    eventually(lambda: evening.game.count == 2, "the second call to the game")


def test_another_key_gets_nothing_by_it(evening):
    owner, seat = seated(evening)
    thief = Player(evening.gate, evening.device())
    thief.by_next, thief.id, thief.next = True, owner.id, owner.next
    refused(thief)
    owner.line("still here")
    assert seat.heard_lines(1) == ["still here"]
    assert evening.game.count == 1 and not owner.events("closing")
    assert owner.connect()["resumed"]


def test_a_replay_is_stopped_by_the_counter(evening):
    player, _ = seated(evening)
    player.lose()
    detached(evening)
    fields = player.fields()
    Wire(evening.gate, fields).lose()
    with pytest.raises(Refused) as caught:
        Wire(evening.gate, fields)
    assert (caught.value.status, caught.value.code) == (401, "assertion_rejected")
    assert player.connect()["resumed"]


@pytest.mark.parametrize(
    "changes", ["without naming it", "under another subprotocol", "naming another"], ids=lambda what: what.replace(" ", "-")
)
def test_it_is_good_for_a_resume_alone(evening, changes):
    player, seat = seated(evening)
    other, _ = seated(evening)
    fields = player.fields()
    if changes == "without naming it":
        fields = [field for field in fields if not field.startswith("Portcullis-Resume")]
    elif changes == "under another subprotocol":
        fields = [field.replace(VERSION_1, "terminal.mudstandards.org") for field in fields]
    else:
        fields = [field.replace(player.id, other.id) for field in fields]
    with pytest.raises(Refused) as caught:
        Wire(evening.gate, fields)
    assert (caught.value.status, caught.value.code) == (401, "nonce_invalid")
    player.line("still here")
    assert seat.heard_lines(1) == ["still here"]
    eventually(lambda: evening.game.count == 2, "the second call to the game")


def test_a_session_that_is_over_begins_no_other(evening):
    """Nor does the game hear of it: the app asks for a challenge, and begins anew."""
    player, _ = seated(evening)
    player.close()
    eventually(lambda: not evening.gate.command("sessions", "list", "--json").stdout, "no session")
    refused(player)
    assert evening.game.count == 1
    player.by_next = False
    session = player.connect()
    assert (session["resumed"], session["reason"]) == (False, "unknown")
    eventually(lambda: evening.game.count == 2, "the second call to the game")


def test_a_session_whose_time_is_over(evenings, fault):
    evening = evenings(**fault.environment)
    player, _ = seated(evening)
    player.lose()
    detached(evening)
    fault.jump(601)
    eventually(lambda: not evening.gate.command("sessions", "list", "--json").stdout, "no session")
    refused(player)
    assert evening.game.count == 1


def test_a_revoked_key_has_none(evening):
    player, _ = seated(evening)
    player.lose()
    detached(evening)
    assert evening.gate.command("keys", "revoke", player.device.key_id_b64).returncode == 0
    with pytest.raises(Refused) as caught:
        player.connect()
    assert (caught.value.status, caught.value.code) == (403, "key_revoked")


# ---- by a device's own key, which has no counter


class Owner(Player):
    """Plays by a device's own key. `device` is its `Handset`."""

    def fields(self, resume=True, state=False, extra=()):
        device, self.device = self.device, None
        try:
            made = super().fields(resume, state, extra)
        finally:
            self.device = device
        is_next = self.by_next and resume and self.id
        return [*made, *(f"{name}: {value}" for name, value in device.headers(self.next if is_next else None).items())]


@pytest.fixture
def owned(evenings, new_device, folder):
    """An evening, and a player by a device's own key with its seat."""
    evening = evenings(
        DEVICES_PATH=folder / "devices.db",
        PUBLIC_URL="https://mud.example",
        DEVICE_APPROVAL="evidence",
        GATE_DEVICES="app_attested",
    )
    handset = Handset(evening.gate, new_device())
    handset.enroll("att_obj")
    player, seat = evening.seated(device=handset, kind=Owner)
    player.by_next = True
    return evening, player, seat


def test_a_device_comes_back_by_it(owned):
    evening, player, seat = owned
    for number in range(3):
        player.lose()
        assert player.connect()["resumed"]
        player.line(str(number))
        assert seat.heard_lines(number + 1)[-1] == str(number)
    assert evening.game.count == 1


def test_a_devices_upgrade_counts_once(owned):
    """Its signature has no counter: once the session has another id, nothing that was signed for the former one counts."""
    evening, player, seat = owned
    player.lose()
    fields = player.fields()
    wire = Wire(evening.gate, fields)
    assert b'"resumed":true' in wire.message(patience(LONG))[1].replace(b" ", b"")
    for _ in range(3):
        with pytest.raises(Refused) as caught:
            Wire(evening.gate, fields)
        assert (caught.value.status, caught.value.code) == (401, "nonce_invalid")
    # The connection that it has brought is there, and its answer may still be lost: then a challenge brings it back.
    wire.lose()
    refused(player)
    player.by_next = False
    assert player.connect()["resumed"]
    player.line("back")
    assert seat.heard_lines(1) == ["back"]
    assert evening.game.count == 1


def test_a_devices_nonce_is_its_own(owned, new_device):
    evening, player, seat = owned
    thief = Handset(evening.gate, new_device())
    thief.enroll("att_obj")
    other = Owner(evening.gate, thief)
    other.by_next, other.id, other.next = True, player.id, player.next
    refused(other)
    player.line("still here")
    assert seat.heard_lines(1) == ["still here"]
    assert not player.events("closing")
