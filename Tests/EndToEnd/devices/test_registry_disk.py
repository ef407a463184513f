"""The registry's store under a disk that fails, kills and power cuts, and a clock that is set: what was answered holds."""

import contextlib
import errno
import json
import os
import random
import socket
import sqlite3
import threading

import pytest

import faults
from clients import Raw, assert_refusal, head
from handset import Handset, close_code, enter
from orders import answered, order
from waiting import LONG, eventually, patience

KILLS = int(os.environ.get("PORTCULLIS_KILLS", "8"))
IO_ERROR, BUSY, USAGE, UNKNOWN = 74, 75, 64, 65


@pytest.fixture
def fault(shim, folder):
    return faults.Faults(shim, folder / "shim-control", path_part="devices.db")


@pytest.fixture
def settings(folder):
    return {"DEVICES_PATH": folder / "devices.db", "PUBLIC_URL": "https://mud.example"}


@pytest.fixture
def gate(gates, backend, fault, settings):
    return gates(backend, **settings, **fault.environment)


def names(gate):
    return {service["name"] for service in order(gate, "services-list")}


def add(gate, name):
    return answered(gate, "services-add", name=name, scopes=["approvals"])


def test_it_is_private_and_stays_so(gate, folder):
    for name in ("devices.db", "devices.db-wal"):
        assert (folder / name).stat().st_mode & 0o777 == 0o600, name
    add(gate, "one")
    gate.stop()
    os.chmod(folder / "devices.db", 0o644)
    gate.start()
    assert (folder / "devices.db").stat().st_mode & 0o777 == 0o600 and names(gate) == {"one"}


@pytest.mark.unsanitized("the suite takes the sandbox off")
def test_what_the_sandbox_leaves_is_enough(gate, folder):
    """Writing, a copy, a log that is moved to the file, and a file that is opened anew, all behind the sandbox."""
    confined = gate.event(event="confined")
    assert confined["seccomp"] == "on", confined
    for number in range(50):
        assert add(gate, f"service-{number}").get("answer") == "registry"
    assert gate.command("devices", "backup", "copy.db").returncode == 0
    assert (folder / "copy.db").stat().st_mode & 0o777 == 0o600
    assert gate.command("devices", "backup", "copy.db").returncode in (UNKNOWN, USAGE)
    for name in ("", "."):
        assert gate.command("devices", "backup", name).returncode == USAGE, name
    # A folder that is not there.
    assert gate.command("devices", "backup", "a/b").returncode == IO_ERROR
    gate.stop()


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EIO, errno.EROFS], ids=errno.errorcode.get)
def test_a_disk_that_takes_nothing(gate, fault, backend, error):
    """No order is said to be done that is not, players go on, and it heals by itself."""
    assert add(gate, "before").get("answer") == "registry"
    fault.fail_call(1, error, sticky=True)
    refused = add(gate, "lost")
    assert refused["error"]["code"] == "not_written", refused
    assert gate.command("services", "add", "lost", "--scopes", "approvals").returncode == IO_ERROR
    assert gate.event(event="registry_unavailable")["reason"]
    assert "devices.db" in gate.event(event="sqlite", level="warning")["reason"]
    assert gate.app.nonce()
    fault.heal()

    def tried():
        fault.monotonic_offset += 31 * 10**9
        return add(gate, f"after-{fault.monotonic_offset}").get("answer") == "registry"

    eventually(tried, "the store is written again")
    gate.event(event="registry_available")
    found = names(gate)
    assert "before" in found and "lost" not in found, found
    assert order(gate, "audit-verify")["valid"] is True


@pytest.mark.parametrize("heals", [True, False], ids=["a disk that is well again", "a disk that fails on"])
def test_a_stop_does_not_forget_a_revocation(gate, fault, heals):
    """What holds in memory alone is tried once more; whoever stops the gate hears what is lost."""
    for name in ("one", "two"):
        assert add(gate, name).get("answer") == "registry"
    fault.fail_call(1, errno.EIO, sticky=True)
    refused = gate.command("services", "revoke", "one")
    assert refused.returncode == IO_ERROR and "tried again" in refused.stderr, refused
    if heals:
        fault.heal()
    gate.stop(expected=0 if heals else IO_ERROR)
    lost = [event["revokes"] for event in gate.events() if event.get("event") == "revocation_lost"]
    assert lost == ([] if heals else ["service one"]), gate.log_tail()
    fault.heal()
    gate.start()
    states = {service["name"]: service["state"] for service in order(gate, "services-list")}
    assert states.pop("one", "revoked") == ("revoked" if heals else "active") and states["two"] == "active"


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EACCES], ids=errno.errorcode.get)
def test_a_start_on_a_disk_that_takes_nothing(gates, backend, fault, settings, error):
    gate = gates(backend, start=False, **settings, **fault.environment)
    fault.fail_call(1, error, sticky=True)
    gate.launch()
    assert gate.wait() == IO_ERROR, gate.log_tail()
    assert "DEVICES_PATH" in gate.log_text()


def test_a_second_gate_on_the_same_store(gates, backend, gate, settings, folder):
    other = gates(
        backend, start=False, **settings,
        ATTESTED_KEYS_PATH=folder / "other.json", CONTROL_SOCKET=folder / "other.sock",
    )  # fmt: skip
    other.launch()
    assert other.wait() == BUSY and "DEVICES_PATH" in other.log_text()
    assert add(gate, "still").get("answer") == "registry"


def test_a_start_while_another_program_reads_the_store(gate, settings):
    """`sqlite3 devices.db`, left open in a transaction: a sentence that says so, and a start once it has gone."""
    gate.stop()
    reader = sqlite3.connect(settings["DEVICES_PATH"], isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM sqlite_master").fetchone()
    gate.launch()
    assert gate.wait() == BUSY and "DEVICES_PATH" in gate.log_text()
    reader.close()
    gate.start()


class Operator(threading.Thread):
    """Adds and revokes services, and remembers what was answered, until the gate is gone."""

    def __init__(self, gate, tag):
        super().__init__(daemon=True)
        self.gate, self.tag = gate, tag
        self.added, self.revoked, self.failure = set(), set(), None

    def run(self):
        with contextlib.suppress(OSError):
            for number in range(10_000):
                name = f"{self.tag}-{number}"
                answer = add(self.gate, name)
                if "error" in answer:
                    self.failure = None if answer["error"]["code"] in ("shutting_down",) else answer
                    return
                self.added.add(name)
                if number % 3 == 0:
                    order(self.gate, "services-revoke", name=name)
                    self.revoked.add(name)


@pytest.mark.parametrize("torn", [False, True], ids=["kill -9", "torn tail"])
def test_what_was_answered_holds(gate, folder, torn):
    chance = random.Random(20261122)
    added, revoked = set(), set()
    for round_ in range(KILLS):
        operators = [Operator(gate, f"r{round_}o{number}") for number in range(3)]
        for operator in operators:
            operator.start()
        enough = chance.randint(1, 12)
        eventually(lambda: sum(len(one.added) for one in operators) >= enough, "some answers")
        gate.kill()
        for operator in operators:
            operator.join()
            assert operator.failure is None, operator.failure
            added |= operator.added
            revoked |= operator.revoked
        if torn:
            tear(folder, chance)
        gate.start()
        services = {one["name"]: one for one in order(gate, "services-list")}
        assert added <= services.keys() | revoked, added - services.keys()
        for name in revoked & services.keys():
            assert services[name]["state"] == "revoked", services[name]
        verified = order(gate, "audit-verify")
        assert verified["valid"] is True, verified


def tear(folder, chance):
    """The log's end, written and perhaps not synced, may be garbage: of what was answered nothing lies there."""
    log = folder / "devices.db-wal"
    if log.exists():
        with open(log, "ab") as file:
            file.write(chance.randbytes(chance.randint(1, 5000)))


def test_a_clock_set_back_an_hour_while_it_runs(gate, fault):
    """A pairing ends when it would have, as the registry's time goes on."""
    opened = order(gate, "pair-open", name="phone")
    fault.realtime_offset = -3600 * 10**9
    assert order(gate, "pair-status", pairing_id=opened["pairing_id"])["status"] == "open"
    fault.monotonic_offset = 301 * 10**9
    answer = answered(gate, "pair-status", pairing_id=opened["pairing_id"])
    assert "error" in answer or answer["result"]["status"] == "refused", answer


def test_a_clock_set_forward_ends_what_is_open(gate, fault):
    opened = order(gate, "pair-open", name="phone")
    fault.realtime_offset = 3600 * 10**9
    answer = answered(gate, "pair-status", pairing_id=opened["pairing_id"])
    assert "error" in answer or answer["result"]["status"] == "refused", answer


def test_a_start_with_the_clock_an_hour_behind(gate, fault):
    opened = order(gate, "pair-open", name="phone")
    add(gate, "one")
    gate.stop()
    fault.realtime_offset = -3600 * 10**9
    gate.start()
    assert float(gate.event(event="clock_behind")["seconds"]) > 3500
    answer = answered(gate, "pair-status", pairing_id=opened["pairing_id"])
    assert "error" in answer or answer["result"]["status"] == "refused", answer
    assert names(gate) == {"one"}
    rows = json.loads(gate.command("audit", "list", "--json").stdout)
    assert rows == sorted(rows, key=lambda row: row["at"]), "the registry's time went back"


def test_a_full_queue_refuses_all_but_revocations(gates, backend, fault, settings, new_device):
    """Beside a disk that hangs: 64 of one address wait, 1,024 in all. What is revoked is out, and what waited is answered."""
    # One loop, so that requests come to the queue in their order.
    gate = gates(backend, HANDSHAKE_RATE="100000/s", WORKERS="1", **settings, **fault.environment)
    handset = Handset(gate, new_device())
    handset.enroll("att_obj")
    session = enter(gate, handset.device.headers(gate.app.nonce()))
    gate.app.close()
    fault.stand_still()
    fault.sync_hold = 1
    commands = [threading.Thread(target=order, args=(gate, "devices-rename"), kwargs={"id": handset.id, "name": "x"})]
    commands[0].start()
    eventually(lambda: fault.syncs_waiting, "the registry waits for its disk")

    def ask(address, number):
        plain = socket.socket()
        plain.settimeout(patience(LONG))
        plain.bind((f"127.0.0.{address}", 0))
        plain.connect((gate.host, gate.port))
        return Raw(gate, connected=plain).send(
            head("GET", "/device/self", f"Authorization: Bearer a.b.{address}-{number}")
        )

    waiting = [ask(2, number) for number in range(64)]
    assert_refusal(ask(2, 64).reply(), 503, "overloaded")
    waiting += [ask(address, number) for address in range(3, 18) for number in range(64)]
    assert_refusal(ask(18, 0).reply(), 503, "overloaded")
    commands.append(threading.Thread(target=order, args=(gate, "devices-revoke"), kwargs={"id": handset.id}))
    commands[1].start()
    assert close_code(session) == 1008
    fault.sync_hold = 0
    for command in commands:
        command.join()
    for client in waiting:
        with client:
            assert_refusal(client.reply(), 401, "token_rejected")
    assert order(gate, "devices-show", id=handset.id)["status"] == "revoked"
