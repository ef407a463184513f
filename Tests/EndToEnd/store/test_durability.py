"""The store under a disk that delays and fails: no answer before its record is synced, none untrue."""

import errno
import json
import signal
import threading

import pytest

from clients import UPGRADE, Raw, assert_refusal, head
from waiting import eventually
from websocket import refusal

JSON = "Content-Type: application/json"
UNAVAILABLE = (503, "store_unavailable")
QUIET = 0.3  # seconds without a byte that count as silence
# A commit has three seconds: where its sync is held, the gate's clocks stand still.


@pytest.fixture
def gate(gates, backend, fault):
    return gates(backend, **fault.environment)


def send_registration(gate, device):
    body = json.dumps(device.registration(gate.app.nonce()))
    return Raw(gate).send(head("POST", "/attest/register", JSON, f"Content-Length: {len(body)}") + body)


def send_upgrade(gate, device):
    fields = [f"{name}: {value}" for name, value in device.headers(gate.app.nonce()).items()]
    return Raw(gate).send(head("GET", "/", *UPGRADE, *fields))


@pytest.mark.parametrize("send, status", [(send_registration, 200), (send_upgrade, 101)])
def test_no_answer_before_the_sync(gate, backend, fault, device, new_device, send, status):
    if send is send_upgrade:
        gate.app.register(device)
    fault.stand_still()
    fault.sync_hold = 1
    with send(gate, device) as client:
        eventually(lambda: fault.syncs_waiting, "the record's sync held")
        assert client.silent_for(QUIET)
        assert backend.count == 0
        fault.sync_hold = 0
        assert client.reply().status == status


def test_relaxed_durability_waits_for_nothing(gates, backend, fault, device):
    gate = gates(backend, KEYSTORE_DURABILITY="relaxed", **fault.environment)
    fault.stand_still()
    fault.sync_hold = 1
    with send_registration(gate, device) as client:
        assert client.reply().status == 200
    with send_upgrade(gate, device) as client:
        assert client.reply().status == 101
    fault.sync_hold = 0


def test_other_requests_do_not_wait_for_the_disk(gate, fault, device):
    fault.stand_still()
    fault.sync_hold = 1
    with send_registration(gate, device) as client:
        eventually(lambda: fault.syncs_waiting, "the record's sync held")
        for _ in range(20):
            assert gate.app.request("GET", "/healthz").status == 200
            assert gate.app.nonce()
        fault.sync_hold = 0
        assert client.reply().status == 200


def test_many_waiters_share_one_sync(gate, fault, new_device):
    """Group commit: what arrives while one sync is under way is written by the next, together."""
    fault.stand_still()
    fault.sync_hold = 1
    clients = [send_registration(gate, new_device())]
    eventually(lambda: fault.syncs_waiting, "the first sync held")
    before = fault.syncs_done
    clients += [send_registration(gate, new_device()) for _ in range(6)]
    assert all(client.silent_for(0.02) for client in clients)
    assert gate.keys() is not None  # readers are not disturbed
    fault.sync_hold = 0
    assert [client.reply().status for client in clients] == [200] * 7
    assert fault.syncs_done - before <= 7
    for client in clients:
        client.close()


def test_a_commit_has_three_seconds(gate, fault, device):
    fault.sync_hold = 1
    with send_registration(gate, device) as client:
        assert_refusal(client.reply(), *UNAVAILABLE)
    fault.sync_hold = 0
    eventually(
        lambda: gate.app.post(device.registration(gate.app.nonce())).status == 200, "recovery by itself"
    )


@pytest.mark.parametrize("error", [errno.EIO, errno.ENOSPC, errno.EDQUOT])
async def test_a_failed_sync_is_503_and_heals_by_itself(gate, backend, fault, device, new_device, error):
    gate.app.register(device)
    fault.fail_syncs(error)
    assert_refusal(gate.app.post(new_device().registration(gate.app.nonce())), *UNAVAILABLE)
    assert await refusal(gate, device.headers(gate.app.nonce())) == UNAVAILABLE
    assert backend.count == 0
    fault.heal()

    def registered():
        return gate.app.post(new_device().registration(gate.app.nonce())).status == 200

    eventually(registered, "recovery by itself")
    assert await refusal(gate, device.headers(gate.app.nonce())) == (101, None)
    highest = device.counter
    gate.stop()
    assert gate.keys()[device.key_id_b64]["signCount"] == highest


def test_memory_is_not_rolled_back(gate, fault, device):
    """A counter whose sync failed stays used: the assertion that was refused cannot come again."""
    gate.app.register(device)
    fault.fail_syncs()
    with send_upgrade(gate, device) as client:
        assert_refusal(client.reply(), *UNAVAILABLE)
    fault.heal()

    def answer():
        fields = [f"{n}: {v}" for n, v in device.headers(gate.app.nonce(), counter=1).items()]
        with Raw(gate) as client:
            return client.send(head("GET", "/", *UPGRADE, *fields)).reply()

    eventually(lambda: answer().status == 401, "the used counter refused")


CALLS = 24


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EIO], ids=errno.errorcode.get)
@pytest.mark.parametrize("sticky", [False, True], ids=["once", "from then on"])
def test_each_of_the_first_store_calls_failing(gates, backend, fault, new_device, error, sticky):
    """Whatever call fails, nothing crashes and every answer of 200 or 101 is still true after a restart."""
    acknowledged = {}
    for number in range(1, CALLS + 1):
        fault.heal()
        fault.fail_call(number, error, sticky, torn=error == errno.ENOSPC)
        gate = gates(backend, start=False, **fault.environment).launch()
        if started(gate):
            for _ in range(2):
                register_and_connect(gate, new_device(), acknowledged)
            gate.app.close()
            gate.signal(signal.SIGTERM)
        gate.wait(60)  # any status, no signal
        fault.heal()
        if number % 4 == 0 or not gate.store_path.exists():
            check_acknowledged(gates(backend), acknowledged)
    assert len(acknowledged) > CALLS // 2 or sticky


def started(gate):
    """True once it listens, False when it gave up with an error of the store."""

    def settled():
        if not gate.running:
            return "ended"
        try:
            return gate._listens() and "listens"
        except AssertionError:
            return "ended"

    if eventually(settled, "a start or a refusal to start") == "listens":
        return True
    assert gate.process.returncode in (73, 74, 75, 78), gate.log_tail()
    return False


def register_and_connect(gate, device, acknowledged):
    """Tries both, and notes what was answered with 200 and 101."""
    reply = gate.app.post(device.registration(gate.app.nonce()))
    assert reply.status == 200 or (reply.status, reply.code) == UNAVAILABLE, reply
    if reply.status != 200:
        return
    acknowledged[device.key_id_b64] = 0
    with send_upgrade(gate, device) as client:
        reply = client.reply(head_only=True)
        assert reply.status == 101 or (reply.status, reply.code) == UNAVAILABLE, reply
        if reply.status == 101:
            acknowledged[device.key_id_b64] = device.counter


def check_acknowledged(gate, acknowledged):
    stored = gate.keys()
    for key, counter in acknowledged.items():
        assert key in stored, f"{key} was acknowledged and is gone"
        assert stored[key]["signCount"] >= counter
    gate.stop()
    assert gate.journal_bytes() == b""


def test_a_snapshot_never_waits_for_ever(gates, backend, fault, new_device):
    """Steady traffic does not starve the snapshot: the JSON file follows within seconds."""
    gate = gates(backend, **fault.environment)
    stop = threading.Event()

    def work():
        while not stop.is_set():
            gate.app.register(new_device())

    worker = threading.Thread(target=work)
    worker.start()
    try:
        eventually(
            lambda: gate.store_path.exists() and gate.store_path.stat().st_size > 1000, "a snapshot"
        )
    finally:
        stop.set()
        worker.join()
