"""Devices that come in by keys of their own (`GATE_DEVICES`), and what the game and its sessions are told of them."""

import json

import pytest

from clients import assert_refusal
from handset import Handset, close_code, enter, new_device_id, upgrade
from one_time_codes import Phone, Service
from phones import Key
from sessions import VERSION_1, Player, Wire
from waiting import LONG, patience


@pytest.fixture
def new_gate(gates, backend, folder):
    def make(**changes):
        settings = {
            "DEVICES_PATH": folder / "devices.db",
            "PUBLIC_URL": "https://mud.example",
            "DEVICE_APPROVAL": "evidence",
            "GATE_DEVICES": "app_attested",
            "MAX_SESSIONS_PER_KEY": "2",
        }
        return gates(backend, **{**settings, **changes})

    return make


@pytest.fixture
def gate(new_gate):
    return new_gate()


@pytest.fixture
def player(gate, new_device):
    handset = Handset(gate, new_device())
    handset.enroll("att_obj")
    return handset


def refuse(gate, fields, status, code):
    reply, client = upgrade(gate, fields)
    with client:
        reply.body = client.take(int(reply.header("Content-Length")))
    assert_refusal(reply, status, code)


def test_a_device_comes_in_by_its_own_key(gate, backend, player):
    with enter(gate, player.headers()):
        sessions = json.loads(gate.command("sessions", "list", "--json").stdout.splitlines()[0])
        assert sessions["credential"] == "device"
        gate.event(event="admitted", credential="device")


def test_what_is_refused(gate, player):
    nonce = player.nonce("device")
    enter(gate, player.headers(nonce)).close()
    refuse(gate, player.headers(nonce), 401, "nonce_invalid")
    refuse(gate, player.headers(player.nonce("attest")), 401, "nonce_invalid")
    refuse(gate, player.headers(signer=Key()), 401, "signature_rejected")
    fields = player.headers()
    refuse(gate, {**fields, "X-Device-Id": new_device_id()}, 401, "device_unknown")
    refuse(gate, {**player.headers(), "X-Device-Id": player.id.upper()}, 400, "bad_request")
    for name in fields:
        missing = player.headers()
        missing.pop(name)
        refuse(gate, missing, 400, "bad_request")
    both = player.headers() | player.device.headers(gate.app.nonce())
    refuse(gate, both, 400, "bad_request")


@pytest.mark.parametrize("purpose", ["token", "heartbeat"])
def test_what_was_signed_for_something_else(gate, player, purpose):
    nonce = player.nonce("device")
    signature = player.key.sign(player.auth(nonce, purpose))
    refuse(gate, {**player.headers(nonce), "X-Device-Signature": signature}, 401, "signature_rejected")


def test_who_waits_is_too_weak_or_revoked_stays_out(new_gate, new_device):
    gate = new_gate(DEVICE_APPROVAL="operator")
    pending, weak, revoked = Handset(gate, new_device()), Handset(gate), Handset(gate, new_device())
    pending.enroll("att_obj")
    weak.enroll()
    revoked.enroll("att_obj")
    for handset in (weak, revoked):
        assert gate.command("devices", "confirm", handset.id).returncode == 0
    enter(gate, revoked.headers()).close()
    assert gate.command("devices", "revoke", revoked.id).returncode == 0
    refuse(gate, pending.headers(), 403, "device_pending")
    refuse(gate, weak.headers(), 403, "level_too_low")
    refuse(gate, revoked.headers(), 403, "device_revoked")
    # Who cannot sign for it does not learn how it stands.
    refuse(gate, revoked.headers(signer=Key()), 401, "signature_rejected")


def test_it_is_off_where_nothing_is_said(new_gate, new_device):
    gate = new_gate(GATE_DEVICES=None)
    handset = Handset(gate, new_device())
    handset.enroll("att_obj")
    refuse(gate, handset.headers(), 401, "assertion_required")


def test_sessions_end_before_the_revocation_returns(gate, player, new_device):
    """Those by its own key and those by its App Attest key, which is revoked with it; another's stay."""
    other = Handset(gate, new_device())
    other.enroll("att_obj")
    by_device = enter(gate, player.headers())
    by_key = enter(gate, player.device.headers(gate.app.nonce()))
    stays = enter(gate, other.headers())
    assert gate.command("devices", "revoke", player.id).returncode == 0
    assert len(gate.command("sessions", "list", "--json").stdout.splitlines()) == 1
    assert [close_code(by_device), close_code(by_key)] == [1008, 1008]
    stays.close()
    assert gate.keys()[player.device.key_id_b64]["revokedAt"]
    refuse(gate, player.device.headers(gate.app.nonce()), 403, "key_revoked")


def test_an_earlier_app_attest_key_goes_with_its_device(gate, player, new_device):
    """The app was installed again, and has another key: whoever still has the first one is out as well."""
    earlier, player.device = player.device, new_device()
    assert player.attest().status == 200
    sessions = [enter(gate, device.headers(gate.app.nonce())) for device in (earlier, player.device)]
    assert gate.command("devices", "revoke", player.id).returncode == 0
    for client, device in zip(sessions, (earlier, player.device)):
        assert close_code(client) == 1008
        refuse(gate, device.headers(gate.app.nonce()), 403, "key_revoked")


def test_both_keys_of_a_device_count_together(gate, player):
    first = enter(gate, player.device.headers(gate.app.nonce()))
    second = enter(gate, player.headers())
    third = enter(gate, player.headers())
    assert close_code(first) == 1008
    fourth = enter(gate, player.device.headers(gate.app.nonce()))
    assert close_code(second) == 1008
    for client in (third, fourth):
        client.close()


def test_a_start_knows_who_may_come_in(gate, player):
    gate.stop()
    gate.app.close()
    gate.start()
    enter(gate, player.headers()).close()


def test_new_keys_at_the_door(gate, player):
    old, key, approval = player.key, Key(), Key()
    reply = player.post("/device/rotate", player.rotation(key, approval, "assertion"))
    assert reply.status == 200, reply
    refuse(gate, player.headers(signer=old), 401, "signature_rejected")
    player.key, player.approval = key, approval
    enter(gate, player.headers()).close()


def test_the_phone_hears_of_requests_where_it_plays(new_gate, folder, new_device):
    """By either of its keys; and its game goes on being counted as before."""
    policy = {"rules": [{"match": {"operation": "promote"}}]}
    (folder / "approvals.json").write_text(json.dumps(policy))
    gate = new_gate(APPROVAL_POLICY=folder / "approvals.json", DEVICE_APPROVAL="operator")
    phone = Handset(gate, new_device())
    phone.enroll("att_obj")
    assert gate.command("devices", "confirm", phone.id, "--subject", "lena").returncode == 0
    token = gate.command("services", "add", "game", "--scopes", "approvals").stdout.strip()
    wires = [
        Wire(gate, [f"{name}: {value}" for name, value in fields.items()] + [f"Sec-WebSocket-Protocol: {VERSION_1}"])
        for fields in (phone.headers(), phone.device.headers(gate.app.nonce()))
    ]
    request = {
        "operation": "promote",
        "target": {"player": "anna"},
        "text": "Anna becomes a wizard",
        "subject": "lena",
        "requester": {"id": "otto"},
    }
    asked = phone.post("/approvals", request, token)
    assert asked.status == 201, asked
    for wire in wires:
        assert heard(wire, "approvals")["open"] == 1
    cancelled = phone.ask("DELETE", f"/approvals/{asked.json['id']}", token=token)
    assert cancelled.status == 200, cancelled
    for wire in wires:
        assert heard(wire, "approvals")["open"] == 0
        wire.close()


class ByDeviceKey:
    """A phone's own key as a `Player` wants one."""

    def __init__(self, phone):
        self.headers = lambda nonce: phone.headers()


def test_the_phone_hears_of_logins_where_it_plays(new_gate, new_device):
    """By either of its keys, and uncounted; a phone of somebody else's hears nothing."""
    gate = new_gate()
    phone, stranger = Phone(gate, new_device(), "lena"), Phone(gate, new_device(), "otto")
    players = [Player(gate, source) for source in (ByDeviceKey(phone), phone.device, ByDeviceKey(stranger))]
    for player in players:
        player.connect()
        player.until_text("Welcome, traveller.")
    service = Service(gate)
    service.challenged(subject="lena")
    for player in players[:2]:
        assert player.until_event("otp") == {"type": "otp"}
        # Counted by the gate, it would come again, or be missing.
        player.lose()
        assert player.connect()["resumed"]
        player.line("look")
        player.until_text("You say: look")
        assert not player.events("gap") and player.all_text.count(b"Welcome") == 1
    # The first that the stranger hears of is his own, although the other was there before.
    assert not players[2].events("otp")
    own = service.challenged("login-2", subject="otto")
    players[2].until_event("otp")
    assert [item["challenge_id"] for item in stranger.logins()["items"]] == [own]
    assert len(players[2].events("otp")) == 1
    for player in players:
        player.close()


def heard(wire, kind):
    """The next message of this type."""
    while True:
        opcode, payload = wire.message(within=patience(LONG))
        if opcode == 1 and (message := json.loads(payload))["type"] == kind:
            return message
