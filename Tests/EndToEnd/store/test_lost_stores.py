"""Stores that were there and are gone: a start that made new ones would forget every key and every revocation in silence."""

import subprocess

import pytest

from clients import connect_status

CONFIGURATION = 78


def played(gates, backend, device, folder, **changes):
    """A gate that has served a device, and stopped."""
    gate = gates(backend, **changes)
    gate.app.register(device)
    gate.app.close()
    gate.stop()
    return gate


def refused(gate, setting):
    """What the start says of it, once; nothing is made by it."""
    before = sorted(path.name for path in gate.store_path.parent.iterdir() if not path.name.startswith("gate"))
    gate.launch()
    assert gate.wait() == CONFIGURATION, gate.log_tail()
    after = sorted(path.name for path in gate.store_path.parent.iterdir() if not path.name.startswith("gate"))
    assert before == after
    said = [line for line in gate.log_text().splitlines() if setting in line and "does not exist" in line]
    assert len(said) == 1 and "restore it" in said[0], gate.log_text()
    return said[0]


def remedy(said):
    """The way to begin anew, as it was told."""
    subprocess.run(said[said.index("install -m 600") :], shell=True, check=True)


@pytest.mark.quick
def test_a_lost_key_store_stops_the_start(gates, backend, device, folder):
    gate = played(gates, backend, device, folder)
    copy = gate.store_path.read_bytes()
    gate.store_path.unlink()
    said = refused(gate, "ATTESTED_KEYS_PATH")
    assert f"{gate.store_path}.made" in said
    checked = gate.command("check")
    assert checked.returncode == CONFIGURATION
    assert any(line.startswith("problem  store  ") and "restore it" in line for line in checked.stdout.splitlines())
    # Nor do commands take it for an empty one.
    for command in [("keys", "list"), ("keys", "revoke", device.key_id_b64)]:
        done = gate.command(*command)
        assert done.returncode == CONFIGURATION and "restore it" in done.stderr, done
    assert not gate.store_path.exists()
    # A backup is all that it takes.
    gate.store_path.write_bytes(copy)
    gate.start()
    assert connect_status(gate, device, 1) == 101


@pytest.mark.quick
def test_the_way_to_begin_anew(gates, backend, device, folder):
    gate = played(gates, backend, device, folder)
    gate.store_path.unlink()
    remedy(refused(gate, "ATTESTED_KEYS_PATH"))
    gate.start()
    assert connect_status(gate, device, 1) == 401
    gate.app.register(device)
    assert connect_status(gate, device, 1) == 101
    gate.app.close()


def test_a_key_store_of_an_older_version(gates, backend, device, folder):
    """No mark: its lock and the key for pseudonyms show that it was there. A store that is there is marked from now on."""
    gate = played(gates, backend, device, folder)
    mark = gate.store_path.with_name(gate.store_path.name + ".made")
    mark.unlink()
    gate.start()
    gate.stop()
    assert mark.exists()
    mark.unlink()
    gate.store_path.unlink()
    assert "device-pseudonym.key" in refused(gate, "ATTESTED_KEYS_PATH")


@pytest.mark.parametrize("has_mark", [True, False])
def test_a_restored_backup_is_taken(gates, backend, device, folder, has_mark):
    """On another host, with all that lay beside it or alone."""
    old = played(gates, backend, device, folder)
    place = folder / "other"
    place.mkdir()
    names = [old.store_path.name, "device-pseudonym.key"] + [f"{old.store_path.name}.made"] * has_mark
    for name in names:
        (place / name).write_bytes((folder / name).read_bytes())
    gate = gates(backend, ATTESTED_KEYS_PATH=place / old.store_path.name, CONTROL_SOCKET=place / "control.sock")
    assert connect_status(gate, device, 1) == 101


def test_a_lost_devices_store_stops_the_start(gates, backend, device, folder):
    path = folder / "devices.db"
    gate = played(gates, backend, device, folder, DEVICES_PATH=path, PUBLIC_URL="https://mud.example")
    kept = path.read_bytes()
    path.unlink()
    said = refused(gate, "DEVICES_PATH")
    checked = gate.command("check")
    assert checked.returncode == CONFIGURATION
    assert any(line.startswith("problem  devices  ") and "restore it" in line for line in checked.stdout.splitlines())
    # A revocation by hand would end no device.
    done = gate.command("keys", "revoke", device.key_id_b64)
    assert done.returncode == CONFIGURATION and "restore it" in done.stderr, done
    path.write_bytes(kept)
    gate.start()
    gate.stop()
    path.unlink()
    remedy(said)
    gate.start()
    assert path.stat().st_size > 0
