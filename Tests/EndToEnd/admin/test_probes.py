"""Probes of the admin listener (docs/operating.md, "Admin listener"): what each check sees, and who is sent elsewhere."""

import contextlib
import errno
import os
import resource
import signal
import socket

import pytest

import faults
from admin_door import CHECKS, AdminDoor
from backend import sink
from gate import free_port
from orders import answered
from reloading import reload
from stopped_thread import StoppedThread
from waiting import eventually
from websocket import CLOSE, RawWebSocket


@pytest.fixture
def door():
    return AdminDoor()


def test_a_gate_that_is_well(gates, backend, door):
    gates(backend, **door.settings)
    assert door.ask("/livez").text == "ok\n" and door.ask("/readyz").text == "ok\n"
    door.becomes("game", "ok")
    checks = door.checks()
    assert [*checks][1:] == CHECKS and checks[""] == "ok"
    assert all(state == "ok" for state, _ in [*checks.values()][1:]), checks
    assert door.ask("/livez", "HEAD").text == ""
    posted = door.ask("/readyz", "POST")
    assert posted.status == 405 and posted.header("Allow") == "GET, HEAD"


def test_a_loop_that_hangs(gates, backend, door):
    """Both probes say so, and say it at once: the listener waits for nobody."""
    gate = gates(backend, WORKERS="2", **door.settings)
    assert door.ask("/livez").status == 200
    with StoppedThread(gate.process.pid, "loop-1"):
        assert door.reads("/livez", 503, within=15).text == "an event loop does not answer\n"
        assert door.ask("/readyz").status == 503
        assert door.checks()["loops"] == ("failed", "no answer from 1")
        assert door.ask("/metrics").status == 200
    door.reads("/livez", 200)
    door.reads("/readyz", 200)


def test_a_game_that_is_away(gates, door, folder):
    """No reason to send players elsewhere, unless the operator says so."""
    settings = folder / "gate.env"
    settings.write_text("READY_NEEDS=nothing\n")
    gate = gates("127.0.0.1:9", start=False, **door.settings).start("--config", str(settings))
    assert door.becomes("game", "degraded").startswith("it cannot be reached: connect")
    answer = door.ask("/readyz")
    assert answer.status == 200 and answer.text == "degraded: game\n"
    settings.write_text("READY_NEEDS=game\n")
    reload(gate)
    assert door.reads("/readyz", 503).text == "failed: game\n"
    assert door.ask("/livez").status == 200


def test_a_game_that_comes_back(gates, door):
    """And goes again: it is called all the time, though no player comes."""
    port = free_port()
    gates(f"127.0.0.1:{port}", READY_NEEDS="game", **door.settings)
    door.becomes("game", "failed")
    with socket.create_server(("127.0.0.1", port)):
        assert door.becomes("game", "ok", within=15) == ""
        assert door.ask("/readyz").status == 200
    door.becomes("game", "failed", within=15)


def test_a_gate_that_drains(gates, backends, door):
    gate = gates(backends(sink), REQUIRE_APP_AUTH="false", DRAIN_TIMEOUT="60s", **door.settings)
    client = RawWebSocket(gate)
    assert door.ask("/readyz").status == 200
    gate.signal(signal.SIGTERM)
    assert client.read_frame()[1] == CLOSE
    assert door.ask("/readyz").text == "failed: draining\n" and door.ask("/readyz").status == 503
    # It lives: nobody is to end it before its players have left.
    assert door.ask("/livez").status == 200
    gate.signal(signal.SIGTERM)
    gate.wait()
    client.close()


def test_a_gate_that_is_drained_and_undrained(gates, backend, door):
    gate = gates(backend, **door.settings)
    assert gate.command("drain").returncode == 0
    assert door.ask("/readyz").text == "failed: draining\n"
    assert gate.command("undrain").returncode == 0
    assert door.ask("/readyz").status == 200


def test_a_key_store_that_cannot_be_written(gates, backend, door, fault, new_device):
    gate = gates(backend, **door.settings, **fault.environment)
    gate.app.register(new_device())
    assert door.ask("/readyz").status == 200
    fault.fail_call(1, errno.ENOSPC, sticky=True)
    assert gate.app.post(new_device().registration(gate.app.nonce())).status == 503
    assert "cannot be written" in door.becomes("key_store", "failed")
    assert door.ask("/readyz").status == 503 and door.ask("/livez").status == 200
    fault.heal()
    fault.monotonic_offset += 10 * 10**9
    door.becomes("key_store", "ok", within=15)


def test_a_registry_that_cannot_be_written(gates, backend, door, shim, folder):
    fault = faults.Faults(shim, folder / "shim-control", path_part="devices.db")
    gate = gates(
        backend, DEVICES_PATH=folder / "devices.db", PUBLIC_URL="https://mud.example", **door.settings,
        **fault.environment,
    )  # fmt: skip
    assert door.checks()["registry"] == ("ok", "")
    fault.fail_call(1, errno.EIO, sticky=True)
    answered(gate, "services-add", name="one", scopes=["approvals"])
    assert door.becomes("registry", "failed")
    assert door.ask("/readyz").status == 503
    fault.heal()
    fault.monotonic_offset += 31 * 10**9
    door.becomes("registry", "ok", within=15)


def test_a_certificate_that_has_ended(gates, backend, door, fault):
    """An alert, and no reason to send players elsewhere: the next gate may have the same one."""
    gates(backend, **door.settings, **fault.environment)
    assert door.checks()["certificate"][0] == "ok"
    fault.realtime_offset += 5000 * 86_400 * 10**9
    assert "has ended" in door.becomes("certificate", "degraded")
    assert door.ask("/readyz").status == 200


@pytest.mark.skipif(os.geteuid() != 0, reason="only the superuser can take descriptors away from another process")
def test_doors_without_descriptors(gates, backend, door):
    """A gate that cannot accept anybody sends them elsewhere, over connections that it has."""
    gate = gates(backend, **door.settings)
    client = door.client()
    client.request("GET", "/readyz")
    assert client.getresponse().read() == b"ok\n"
    limits = resource.prlimit(gate.process.pid, resource.RLIMIT_NOFILE)
    resource.prlimit(gate.process.pid, resource.RLIMIT_NOFILE, (8, limits[1]))

    def failed():
        with contextlib.suppress(OSError):
            socket.create_connection((gate.host, gate.port), timeout=1).close()
        client.request("GET", "/readyz")
        return client.getresponse().read() == b"failed: listening\n"

    eventually(failed, "a door that is shut")
    resource.prlimit(gate.process.pid, resource.RLIMIT_NOFILE, limits)
    client.close()
    door.reads("/readyz", 200)
