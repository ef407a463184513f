"""A device is revoked or forgotten while its store fails or hangs: all that is its own is out at once, by whatever it came in."""

import errno
import json
import threading

import pytest

import faults
from clients import assert_refusal
from handset import Handset, close_code, enter, upgrade
from waiting import eventually

IO_ERROR = 74


@pytest.fixture
def fault(shim, folder):
    return faults.Faults(shim, folder / "shim-control", path_part="devices.db")


@pytest.fixture(params=["app_attested", None], ids=["with GATE_DEVICES", "without"])
def gate(request, gates, backend, folder, fault):
    return gates(
        backend,
        DEVICES_PATH=folder / "devices.db",
        PUBLIC_URL="https://mud.example",
        DEVICE_RATE="10000/s",
        GATE_DEVICES=request.param,
        **fault.environment,
    )


class Phone(Handset):
    """One that is its subject's, and plays by each key that the gate lets in."""

    def __init__(self, gate, device, subject):
        super().__init__(gate, device)
        self.enroll("att_obj")
        assert gate.command("devices", "confirm", self.id, "--subject", subject).returncode == 0
        self.sessions = [enter(gate, fields) for fields in self.proofs()]

    def proofs(self):
        yield self.device.headers(self.gate.app.nonce())
        if self.gate.environment.get("GATE_DEVICES"):
            yield self.headers()

    def assert_stays(self):
        for fields in self.proofs():
            enter(self.gate, fields).close()
        for session in self.sessions:
            session.close()

    def assert_out(self):
        """Its sessions have ended, and neither key opens another."""
        for session in self.sessions:
            assert close_code(session) == 1008
            session.close()
        for fields in self.proofs():
            reply, client = upgrade(self.gate, fields)
            with client:
                assert reply.status in (401, 403, 503), reply
        reply, client = upgrade(self.gate, self.device.headers(self.gate.app.nonce()))
        with client:
            reply.body = client.take(int(reply.header("Content-Length")))
            assert_refusal(reply, 403, "key_revoked")


ORDERS = {
    "revoke": lambda phone: ("revoke", phone.id),
    "forget": lambda phone: ("forget", phone.id),
    "forget --subject": lambda phone: ("forget", "--subject", "anna"),
}


@pytest.fixture(params=ORDERS.values(), ids=ORDERS.keys())
def order(request):
    return request.param


@pytest.fixture
def phones(gate, new_device):
    """Anna's, and another's."""
    return Phone(gate, new_device(), "anna"), Phone(gate, new_device(), "bert")


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EIO], ids=errno.errorcode.get)
@pytest.mark.long("each order, each error, each state")
def test_a_revocation_that_cannot_be_written_holds_all_the_same(gate, fault, phones, order, error):
    phone, other = phones
    fault.fail_call(1, error, sticky=True)
    # Before it, so that nobody looks into the store for this order.
    assert gate.command("services", "add", "none", "--scopes", "approvals").returncode == IO_ERROR
    refused = gate.command("devices", *order(phone))
    assert refused.returncode == IO_ERROR and "holds in the running gate" in refused.stderr, refused
    phone.assert_out()
    other.assert_stays()
    fault.heal()

    def written():
        fault.monotonic_offset += 31 * 10**9
        return gate.command("devices", *order(phone)).returncode != IO_ERROR

    eventually(written, "the revocation is written")
    gate.app.close()
    gate.kill()
    gate.start()
    phone.sessions = []
    phone.assert_out()
    assert phone.ask_token().status in (401, 403)


@pytest.mark.long("each order waits for a disk that hangs")
def test_a_revocation_beside_a_disk_that_hangs_holds_at_once(gate, fault, phones, order):
    phone, other = phones
    fault.sync_hold = 1
    commands = [
        threading.Thread(target=lambda: gate.command("devices", "rename", other.id, "Bert's")),
        threading.Thread(target=lambda: gate.command("devices", *order(phone))),
    ]
    commands[0].start()
    eventually(lambda: fault.syncs_waiting, "the registry waits for its disk")
    commands[1].start()
    phone.assert_out()
    other.assert_stays()
    fault.sync_hold = 0
    for command in commands:
        command.join()
    shown = gate.command("devices", "list", "--json")
    states = {device["device_id"]: device["status"] for device in json.loads(shown.stdout)}
    assert states.pop(phone.id, "revoked") == "revoked" and states == {other.id: "active"}
