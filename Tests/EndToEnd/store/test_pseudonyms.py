"""Pseudonyms: what the game is told of a device, the way back to its key, and the key that they are made with."""

import base64
import hmac
import json
import os
import stat
import subprocess
import uuid

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.x509.oid import ExtendedKeyUsageOID

import pki as certificates
from backend import sink
from clients import connect_status
from device import sha256
from handset import Handset
from phones import Key
from waiting import eventually
from websocket import RawWebSocket

CONFIGURATION, UNUSABLE = 78, 65
# Among the keys in versions before the file of its own.
OLD_NOTE = "pseudonymKeyMadeAt"


@pytest.fixture
def key_path(folder):
    return folder / "device-pseudonym.key"


def expected(key, kind, digest):
    return hmac.digest(key, kind + digest, "sha256")[:16]


def text(pseudonym):
    return base64.urlsafe_b64encode(pseudonym).decode().rstrip("=")


def told(backend, number):
    """The values of the PROXY header of the game's connection of that number."""

    def header():
        data = bytes(backend.connections[number].received) if backend.count > number else b""
        length = int.from_bytes(data[14:16], "big")
        return data if len(data) >= 16 + length > 16 else None

    data = eventually(header, "a PROXY header at the game")
    # Behind the addresses of two endpoints on IPv4.
    values, found = data[28 : 16 + int.from_bytes(data[14:16], "big")], {}
    while values:
        length = int.from_bytes(values[1:3], "big")
        found[values[0]], values = values[3 : 3 + length], values[3 + length :]
    return found


def note_path(gate):
    return gate.store_path.with_name(gate.store_path.name + ".pseudonym-key-made")


def note(gate):
    path = note_path(gate)
    return path.read_text().strip() if path.exists() else None


def remove_note(gate):
    note_path(gate).unlink()


# ---- to the game


def test_the_game_is_told_of_a_device(gates, backends, new_device, key_path):
    backend = backends(sink)
    gate = gates(backend, BACKEND_PROXY_PROTOCOL="v2")
    key = key_path.read_bytes()
    one, other = gate.app.register(new_device()), gate.app.register(new_device())
    for number, device in enumerate([one, other, one]):
        with RawWebSocket(gate, device.headers(gate.app.nonce())):
            assert told(backend, number) == {
                0xE0: device.key_id, 0xE1: expected(key, b"key", device.key_id),
            }  # fmt: skip
    # And again after a restart, by another gate of the same store.
    gate.app.close()
    gate.stop()
    gate.start()
    with RawWebSocket(gate, one.headers(gate.app.nonce())):
        assert told(backend, 3)[0xE1] == expected(key, b"key", one.key_id)


def test_a_device_has_one_by_its_id_and_no_key_identifier(gates, backends, new_device, folder, key_path):
    """One that comes in by a key of its own; new keys change nothing for the game."""
    backend = backends(sink)
    gate = gates(
        backend, BACKEND_PROXY_PROTOCOL="v2", DEVICES_PATH=folder / "devices.db", PUBLIC_URL="https://mud.example",
        DEVICE_APPROVAL="evidence", GATE_DEVICES="app_attested",
    )  # fmt: skip
    one, other = Handset(gate, new_device()), Handset(gate, new_device())
    for handset in (one, other):
        handset.enroll("att_obj")
    name = {0xE1: expected(key_path.read_bytes(), b"device", uuid.UUID(one.id).bytes)}
    with RawWebSocket(gate, one.headers()):
        assert told(backend, 0) == name
    key, approval = Key(), Key()
    reply = one.post("/device/rotate", one.rotation(key, approval, "assertion"))
    assert reply.status == 200, reply
    one.key, one.approval = key, approval
    with RawWebSocket(gate, one.headers()):
        assert told(backend, 1) == name
    with RawWebSocket(gate, other.headers()):
        assert told(backend, 2).keys() == {0xE1} and told(backend, 2) != name


def test_a_certificate_keeps_its_name_when_it_is_renewed(gates, backends, pki, key_path):
    backend = backends(sink)
    gate = gates(
        backend, BACKEND_PROXY_PROTOCOL="v2", ALLOW_MTLS_FALLBACK="true", MTLS_CLIENT_CA_PATH=pki.client_ca
    )
    authority, (first, key) = pki.client_authority, pki.client_authority.issue("a", ExtendedKeyUsageOID.CLIENT_AUTH)
    usage = (x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CLIENT_AUTH]), False)
    renewed = certificates.build(certificates.name("b"), key, authority.subject, authority.key, [usage])
    spki = key.public_key().public_bytes(
        serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    for number, certificate in enumerate([first, renewed]):
        with RawWebSocket(gate, certificate=pki.pair(f"pseudonym-{number}", (certificate, key))):
            assert told(backend, number) == {0xE1: expected(key_path.read_bytes(), b"cert", sha256(spki))}
    other = pki.pair("pseudonym-other", authority.issue("a", ExtendedKeyUsageOID.CLIENT_AUTH))
    with RawWebSocket(gate, certificate=other):
        assert told(backend, 2).keys() == {0xE1} and told(backend, 2) != told(backend, 0)


def test_nobody_without_a_credential_has_a_name(gates, backends):
    backend = backends(sink)
    gate = gates(backend, BACKEND_PROXY_PROTOCOL="v2", REQUIRE_APP_AUTH="false")
    with RawWebSocket(gate) as client:
        client.frame(2, b"play")
        eventually(lambda: backend.byte_count == 28 + 4, "a header without values, and the payload")


# ---- back to the key


def test_a_key_is_found_by_its_name(gates, backend, new_device, key_path):
    gate = gates(backend)
    devices = [gate.app.register(new_device()) for _ in range(3)]
    key = key_path.read_bytes()
    for device in devices:
        name = text(expected(key, b"key", device.key_id))
        found = gate.command("keys", "find", "--pseudonym", name)
        assert found.returncode == 0 and found.stdout.split()[0] == device.key_id_b64
        listed = gate.command("keys", "list").stdout.splitlines()
        assert found.stdout.splitlines() == [line for line in listed if line.startswith(device.key_id_b64)]
        found = gate.command("keys", "find", "--json", f"--pseudonym={name}")
        assert json.loads(found.stdout) == gate.keys()[device.key_id_b64]
        assert gate.keys()[device.key_id_b64]["pseudonym"] == name
        assert name in gate.command("keys", "show", device.key_id_b64).stdout
    # Without a gate as well, and for a key that is revoked.
    assert gate.command("keys", "revoke", devices[0].key_id_b64).returncode == 0
    gate.app.close()
    gate.stop()
    found = gate.command("keys", "find", "--pseudonym", text(expected(key, b"key", devices[0].key_id)))
    assert found.returncode == 0 and "revoked" in found.stdout


def test_names_that_nobody_has(gates, backend, device, key_path):
    gate = gates(backend)
    gate.app.register(device)
    # One of them begins with a hyphen.
    for nobody in (text(bytes(16)), text(b"\xf8" + bytes(15))):
        found = gate.command("keys", "find", "--pseudonym", nobody)
        assert (found.returncode, found.stdout) == (UNUSABLE, "") and nobody in found.stderr
    for wrong in ("", "abc", text(bytes(15)), text(bytes(17)), device.key_id_b64):
        assert gate.command("keys", "find", "--pseudonym", wrong).returncode == 64, wrong
    # Keys are shown by whoever may not read the key of pseudonyms, or has none.
    key_path.rename(key_path.with_suffix(".away"))
    assert "pseudonym" not in gate.keys()[device.key_id_b64]
    assert "pseudonym" not in gate.command("keys", "show", device.key_id_b64).stdout
    found = gate.command("keys", "find", "--pseudonym", text(bytes(16)))
    assert found.returncode == CONFIGURATION and str(key_path) in found.stderr
    key_path.with_suffix(".away").rename(key_path)


# ---- the key


def test_it_is_made_once(gates, backend, key_path):
    gate = gates(backend)
    made = key_path.stat()
    assert made.st_size == 32 and stat.S_IMODE(made.st_mode) == 0o600 and made.st_nlink == 1
    key, since = key_path.read_bytes(), note(gate)
    assert since and gate.event(event="pseudonym_key_made")["file"] == str(key_path)
    gate.stop()
    gate.start()
    assert key_path.read_bytes() == key and note(gate) == since
    assert sum(event.get("event") == "pseudonym_key_made" for event in gate.events()) == 1
    assert sorted(path.name for path in gate.folder.glob("device-*")) == [key_path.name]


def test_a_key_of_ones_own(gates, backend, folder, key_path):
    """What is there is taken, be it made by hand or by another gate, and through a link as other secrets are."""
    (folder / "secret").write_bytes(bytes(range(32)))
    (folder / "link.key").symlink_to("secret")
    gate = gates(backend, DEVICE_PSEUDONYM_KEY_PATH=folder / "link.key")
    assert note(gate) and not key_path.exists()
    assert (folder / "secret").read_bytes() == bytes(range(32))


def test_a_lost_key_stops_the_start(gates, backend, device, key_path):
    """Another one, made in silence, would void every ban that a game keeps by name."""
    gate = gates(backend)
    gate.app.register(device)
    gate.app.close()
    gate.stop()
    key_path.unlink()
    before = gate.store_path.read_bytes()
    gate.launch()
    assert gate.wait() == CONFIGURATION
    said = [line for line in gate.log_text().splitlines() if "DEVICE_PSEUDONYM_KEY_PATH" in line]
    assert len(said) == 1 and str(key_path) in said[0] and "backup" in said[0] and "head -c 32" in said[0]
    assert not key_path.exists() and gate.store_path.read_bytes() == before
    checked = gate.command("check")
    assert checked.returncode == CONFIGURATION
    assert any(line.startswith("problem  pseudonym_key  ") for line in checked.stdout.splitlines())
    # The remedy, as it was told.
    subprocess.run(said[0][said[0].index("(umask") :], shell=True, check=True)
    assert stat.S_IMODE(key_path.stat().st_mode) == 0o600
    gate.start()
    assert gate.command("check").returncode == 0
    assert connect_status(gate, device, 1) == 101


def test_the_note_of_an_older_version_moves(gates, backend, device, key_path):
    """Readers of the key file find keys in it and nothing else; the note says the same as before."""
    gate = gates(backend)
    gate.app.register(device)
    gate.app.close()
    gate.stop()
    remove_note(gate)
    keys = json.loads(gate.store_path.read_text())
    assert keys and all("publicKey" in record for record in keys.values())
    gate.store_path.write_text(json.dumps({OLD_NOTE: "2026-02-17T00:00:00.000Z", **keys}))
    gate.start()
    assert note(gate) == "2026-02-17T00:00:00.000Z"
    assert OLD_NOTE not in gate.store_path.read_text()
    gate.stop()
    assert json.loads(gate.store_path.read_text()).keys() == keys.keys()
    key_path.unlink()
    gate.launch()
    assert gate.wait() == CONFIGURATION and "2026-02-17T00:00:00" in gate.log_text()


@pytest.mark.parametrize("content", [b"", bytes(31), bytes(33), b"x" * 44, bytes(5000)], ids=len)
def test_what_is_no_key(gates, backend, key_path, content):
    key_path.write_bytes(content)
    gate = gates(backend, start=False).launch()
    assert gate.wait() == CONFIGURATION
    assert f"DEVICE_PSEUDONYM_KEY_PATH={key_path}" in gate.log_text() and "32 bytes" in gate.log_text()
    assert key_path.read_bytes() == content
    assert "problem  pseudonym_key  " in gate.command("check").stdout


@pytest.mark.parametrize(
    "kind, words",
    [("link to nothing", "symbolic link"), ("folder", "name a file"), ("no folder", "create"), ("pipe", "name a file")],
)
def test_places_where_no_key_can_be(gates, backend, folder, kind, words):
    path = folder / "elsewhere" / "key" if kind == "no folder" else folder / "key"
    if kind == "link to nothing":
        path.symlink_to("nowhere")
    elif kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    # Told beside what else is wrong.
    other = {} if kind == "link to nothing" else {"WORKERS": "zero"}
    gate = gates(backend, start=False, DEVICE_PSEUDONYM_KEY_PATH=path, **other).launch()
    assert gate.wait() == CONFIGURATION
    said = [line for line in gate.log_text().splitlines() if f"DEVICE_PSEUDONYM_KEY_PATH={path}" in line]
    assert len(said) == 1 and words in said[0]
    assert not other or "WORKERS=zero" in gate.log_text()


def test_a_key_that_others_may_read(gates, backend, key_path):
    gate = gates(backend)
    lines = gate.command("check").stdout.splitlines()
    assert any(line.startswith("ok  pseudonym_key  ") for line in lines), lines
    # The gate's group is no other user.
    key_path.chmod(0o640)
    lines = gate.command("check").stdout.splitlines()
    assert any(line.startswith("ok  pseudonym_key  ") for line in lines), lines
    key_path.chmod(0o644)
    checked = gate.command("check")
    assert checked.returncode == 0
    assert any(
        line.startswith("warning  pseudonym_key  ") and "chmod 600" in line for line in checked.stdout.splitlines()
    )


def test_check_makes_none(gates, backend, key_path):
    gate = gates(backend, start=False)
    checked = gate.command("check")
    assert any(line.startswith("ok  pseudonym_key  none yet") for line in checked.stdout.splitlines())
    assert not key_path.exists()


def test_a_kill_in_the_first_start(gates, backend, key_path):
    """Key first, then the note: never is there a note without the key, and a key that was made stays."""
    gate = gates(backend, start=False)
    for number in range(10):
        before = key_path.read_bytes() if key_path.exists() else None
        gate.launch()
        eventually(key_path.exists, "the key")
        gate.kill()
        key = key_path.read_bytes()
        assert len(key) == 32 and before in (None, key)
        if note(gate):
            # As a kill a moment earlier leaves it; and every other time from the beginning.
            remove_note(gate)
        if number % 2:
            key_path.unlink()
    gate.start()
    key = key_path.read_bytes()
    assert note(gate) and len(key) == 32
