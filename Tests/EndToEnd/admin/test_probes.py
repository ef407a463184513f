"""Probes of the admin listener (docs/console.md, "Admin listener"): what each check sees, and who is sent elsewhere."""

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


def is_called(door):
    """Waits until the game has taken the gate's call; all checks then."""
    return eventually(lambda: (checks := door.checks())["game"] == ("ok", "") and checks, "a call to the game")


def test_a_gate_that_is_well(gates, backend, door):
    gates(backend, **door.settings)
    door.reads("/livez", 200, "ok\n")
    door.reads("/readyz", 200, "ok\n")
    is_called(door)
    # Behind a machine that has stood still nobody has looked of late.
    checks = eventually(lambda: (checks := door.checks())[""] == "ok" and checks, "a gate that is well")
    assert [*checks][1:] == CHECKS
    assert all(state == "ok" for state, _ in [*checks.values()][1:]), checks
    assert door.ask("/livez", "HEAD").text == ""
    posted = door.ask("/readyz", "POST")
    assert posted.status == 405 and posted.header("Allow") == "GET, HEAD"


def test_a_loop_that_hangs(gates, backend, door):
    """Both probes say so, and say it at once: the listener waits for nobody."""
    gate = gates(backend, WORKERS="2", **door.settings)
    gate.event(event="admin_listening")
    door.reads("/livez", 200)
    with StoppedThread(gate.process.pid, "loop-1"):
        door.reads("/livez", 503, "an event loop does not answer\n")
        assert door.ask("/readyz").status == 503
        eventually(lambda: door.checks()["loops"] == ("failed", "no answer from 1"), "the loop's number")
        assert door.ask("/metrics").status == 200
    door.reads("/livez", 200)
    door.reads("/readyz", 200)


def told(door, check, state, words):
    """Until the check says so; a look that was late has words of its own."""
    eventually(
        lambda: door.checks()[check][0] == state and door.checks()[check][1].startswith(words), f"{state}: {words}"
    )


def test_a_game_that_is_away(gates, door, folder):
    """No reason to send players elsewhere, unless the operator says so."""
    settings = folder / "gate.env"
    settings.write_text("READY_NEEDS=nothing\n")
    gate = gates("127.0.0.1:9", start=False, **door.settings).start("--config", str(settings))
    told(door, "game", "degraded", "it cannot be reached: connect")
    door.reads("/readyz", 200, "degraded: game\n")
    settings.write_text("READY_NEEDS=game\n")
    reload(gate)
    door.reads("/readyz", 503, "failed: game\n")
    door.reads("/livez", 200)


def test_a_game_that_comes_back(gates, door):
    """And goes again: it is called all the time, though no player comes."""
    port = free_port()
    gates(f"127.0.0.1:{port}", READY_NEEDS="game", **door.settings)
    door.becomes("game", "failed")
    with socket.create_server(("127.0.0.1", port)):
        assert door.becomes("game", "ok") == ""
        door.reads("/readyz", 200)
    door.becomes("game", "failed")


def test_the_metric_of_the_game_says_what_its_check_says(gates, door):
    """No player calls: the gate's own calls count."""

    def scraped(value):
        said = set(door.ask("/metrics").text.splitlines())
        return {f"portcullis_game_up {value}", f'portcullis_check_ok{{check="game"}} {value}'} <= said

    port = free_port()
    gates(f"127.0.0.1:{port}", READY_NEEDS="game", **door.settings)
    eventually(lambda: scraped(0), "a game that is away")
    with socket.create_server(("127.0.0.1", port)):
        eventually(lambda: scraped(1), "a game that is there")
    eventually(lambda: scraped(0), "a game that has gone")


def test_a_game_that_goes_away_while_the_disk_hangs(gates, door, fault):
    """Whoever asks the disk waits for it, and nobody waits for him; what he last saw is no news any more."""
    with socket.create_server(("127.0.0.1", free_port())) as game:
        gates(
            f"127.0.0.1:{game.getsockname()[1]}", READY_NEEDS="game", **door.settings, **fault.environment
        )
        is_called(door)
        fault.space_hold = 1
        eventually(lambda: fault.spaces_waiting, "a disk that hangs")
    told(door, "game", "failed", "it cannot be reached: connect")
    door.reads("/readyz", 503)
    assert door.becomes("disk", "degraded").startswith("it has not answered for ")
    fault.space_hold = 0
    door.becomes("disk", "ok")
    assert door.checks()["game"][0] == "failed"


def test_a_gate_that_drains(gates, backends, door, fault):
    fault.stand_still()  # so that it goes on draining
    gate = gates(
        backends(sink), REQUIRE_APP_AUTH="false", DRAIN_TIMEOUT="60s", **door.settings, **fault.environment
    )
    client = RawWebSocket(gate)
    door.reads("/readyz", 200)
    gate.event(event="admin_listening")
    gate.signal(signal.SIGTERM)
    assert client.read_frame()[1] == CLOSE
    door.reads("/readyz", 503, "failed: draining\n")
    # It lives: nobody is to end it before its players have left.
    assert door.ask("/livez").status == 200
    gate.signal(signal.SIGTERM)
    gate.wait()
    client.close()


def test_a_gate_that_is_drained_and_undrained(gates, backend, door):
    gate = gates(backend, **door.settings)
    assert gate.command("drain").returncode == 0
    door.reads("/readyz", 503, "failed: draining\n")
    assert gate.command("drain", "--off").returncode == 0
    door.reads("/readyz", 200)


def test_a_key_store_that_cannot_be_written(gates, backend, door, fault, new_device):
    gate = gates(backend, **door.settings, **fault.environment)
    gate.app.register(new_device())
    door.reads("/readyz", 200)
    fault.fail_call(1, errno.ENOSPC, sticky=True)
    assert gate.app.post(new_device().registration(gate.app.nonce())).status == 503
    assert "cannot be written" in door.becomes("key_store", "failed")
    assert door.ask("/readyz").status == 503
    door.reads("/livez", 200)
    fault.heal()
    fault.monotonic_offset += 10 * 10**9
    door.becomes("key_store", "ok")


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
    door.becomes("registry", "ok")


def test_a_certificate_that_has_ended(gates, backend, door, fault):
    """An alert, and no reason to send players elsewhere: the next gate may have the same one."""
    gates(backend, **door.settings, **fault.environment)
    assert door.checks()["certificate"][0] == "ok"
    fault.realtime_offset += 5000 * 86_400 * 10**9
    assert "has ended" in door.becomes("certificate", "degraded")
    door.reads("/readyz", 200)


@pytest.mark.skipif(os.geteuid() != 0, reason="only the superuser can take descriptors away from another process")
def test_doors_without_descriptors(gates, backend, door):
    """A gate that cannot accept anybody sends them elsewhere, over connections that it has."""
    gate = gates(backend, **door.settings)
    # Before that it is still opening sockets of its own, and a start without descriptors fails.
    gate.event(event="admin_listening")
    is_called(door)
    client = door.client()

    def answer():
        client.request("GET", "/readyz")
        return client.getresponse().read()

    eventually(lambda: answer() == b"ok\n", "a gate that is well")
    limits = resource.prlimit(gate.process.pid, resource.RLIMIT_NOFILE)
    resource.prlimit(gate.process.pid, resource.RLIMIT_NOFILE, (8, limits[1]))

    def failed():
        with contextlib.suppress(OSError):
            socket.create_connection((gate.host, gate.port), timeout=1).close()
        return answer() == b"failed: listening\n"

    eventually(failed, "a door that is shut")
    resource.prlimit(gate.process.pid, resource.RLIMIT_NOFILE, limits)
    client.close()
    door.reads("/readyz", 200)
