"""A revoked device takes its App Attest key along, in another store: also where that one cannot be written just then."""

import errno

import pytest

from clients import UPGRADE, Raw, assert_refusal, connect_status, head
from handset import Handset

IO_ERROR = 74


@pytest.fixture
def new_gate(gates, backend, folder, fault):
    def make():
        return gates(
            backend,
            DEVICES_PATH=folder / "devices.db",
            PUBLIC_URL="https://mud.example",
            DEVICE_RATE="10000/s",
            DEVICE_APPROVAL="evidence",
            **fault.environment,
        )

    return make


@pytest.fixture
def gate(new_gate):
    return new_gate()


@pytest.fixture
def handset(gate, new_device):
    handset = Handset(gate, new_device())
    assert handset.enroll("att_obj")["status"] == "active"
    return handset


def assert_revoked(gate, device):
    """By the App Attest key, as players come in who have no device."""
    fields = [f"{name}: {value}" for name, value in device.headers(gate.app.nonce()).items()]
    with Raw(gate) as client:
        assert_refusal(client.send(head("GET", "/", *UPGRADE, *fields)).reply(), 403, "key_revoked")


def start_anew(gate):
    gate.app.close()
    gate.start()


def test_a_key_that_cannot_be_written_is_told(gate, fault, handset):
    assert connect_status(gate, handset.device, 7) == 101
    fault.fail_call(1, errno.ENOSPC, sticky=True)
    refused = gate.command("devices", "revoke", handset.id)
    assert refused.returncode == IO_ERROR, refused
    assert "cannot be written" in refused.stderr and "App Attest key" in refused.stderr
    fault.heal()
    fault.monotonic_offset += 31 * 10**9
    gate.event(event="store_available")
    assert_revoked(gate, handset.device)
    assert gate.command("devices", "revoke", handset.id).returncode == 0


def test_a_key_that_could_not_be_written_is_revoked_by_the_next_start(gate, fault, handset):
    fault.fail_call(1, errno.EIO, sticky=True)
    assert gate.command("devices", "revoke", handset.id).returncode == IO_ERROR
    gate.kill()
    fault.heal()
    start_anew(gate)
    assert_revoked(gate, handset.device)
    # Now it is written: a start without devices knows it, too.
    gate.stop()
    for name in ("DEVICES_PATH", "PUBLIC_URL", "DEVICE_RATE", "DEVICE_APPROVAL"):
        del gate.environment[name]
    start_anew(gate)
    assert_revoked(gate, handset.device)


@pytest.mark.parametrize("by_subject", [False, True], ids=["by its id", "by its subject"])
@pytest.mark.parametrize("is_revoked", [False, True], ids=["active", "revoked before"])
def test_a_device_is_not_forgotten_before_its_key_is_written(gate, fault, handset, by_subject, is_revoked):
    assert gate.command("devices", "assign", handset.id, "anna").returncode == 0
    fault.fail_call(1, errno.EIO, sticky=True)
    if is_revoked:
        assert gate.command("devices", "revoke", handset.id).returncode == IO_ERROR
    forget = ("devices", "forget", *(("--subject", "anna") if by_subject else (handset.id,)))
    refused = gate.command(*forget)
    assert refused.returncode == IO_ERROR and "nothing is forgotten" in refused.stderr, refused
    gate.kill()
    fault.heal()
    start_anew(gate)
    assert_revoked(gate, handset.device)
    assert gate.command(*forget).returncode == 0
    assert gate.command("devices", "show", handset.id).returncode == 65
    gate.kill()
    start_anew(gate)
    assert_revoked(gate, handset.device)
