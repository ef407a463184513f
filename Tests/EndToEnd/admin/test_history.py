"""The overview's last day outlives the process (docs/console.md, "Console"): after a stop, after a kill, whatever is found
in its file's place."""

import errno

import pytest

import faults
from clients import Raw, head
from consoles import Console, Reader
from waiting import eventually


@pytest.fixture
def console(gates):
    return Console(gates)


@pytest.fixture
def reader(console):
    return Reader(console)


def path_of(gate):
    return gate.store_path.with_name(gate.store_path.name + ".history")


def refuse(gate, count):
    """So many requests that the overview counts."""
    for number in range(count):
        with Raw(gate) as client:
            assert client.send(head("GET", f"/nowhere/{number}")).reply().status == 426


def refusals(reader):
    """Of the last day."""
    return int(reader.json("/api/overview")["live"]["refusals-day"])


def starts(reader):
    return reader.json("/api/overview")["charts"]["chart-players"]["starts"]


def stays(reader, count):
    """The thread that reads the file is not waited for by a start."""
    eventually(lambda: refusals(reader) == count, f"{count} refusals in the last day")


def test_the_day_goes_on_after_a_stop(console, reader):
    gate = console.gate
    refuse(gate, 3)
    gate.stop()
    path = path_of(gate)
    assert path.stat().st_mode & 0o777 == 0o600 and path.stat().st_size < 2 << 20
    gate.start()
    stays(reader, 3)
    assert len(starts(reader)) >= 2
    refuse(gate, 2)
    gate.stop()
    gate.start()
    stays(reader, 5)
    assert gate.log_text().count("history_") == 0


def test_the_day_goes_on_after_a_kill(console, reader):
    gate = console.gate
    refuse(gate, 3)
    gate.stop()
    gate.start()
    stays(reader, 3)
    for _ in range(3):
        written = path_of(gate).stat().st_ino
        gate.kill()
        gate.start()
        # It has a start of its own, even if it were killed now.
        eventually(lambda before=written: path_of(gate).stat().st_ino != before, "the start is written")
    stays(reader, 3)
    assert len(starts(reader)) >= 2
    assert gate.log_text().count("history_") == 0


def test_there_is_none_without_the_listener(gates, backend):
    gate = gates(backend)
    gate.stop()
    assert not path_of(gate).exists()


@pytest.mark.parametrize("kind", ["cut", "changed", "empty", "version"])
def test_what_cannot_be_read_is_left_out(console, reader, kind):
    gate = console.gate
    refuse(gate, 3)
    gate.stop()
    path = path_of(gate)
    text = bytearray(path.read_bytes())
    text = {"cut": text[:1000], "changed": text[:300] + b"\xff" + text[301:], "empty": b"",
            "version": text[:8] + b"\x63" + text[9:]}[kind]  # fmt: skip
    path.write_bytes(text)
    gate.start()
    assert path.name in gate.event(event="history_unread", level="warning")["path"]
    assert refusals(reader) == 0
    refuse(gate, 2)
    gate.stop()
    gate.start()
    stays(reader, 2)


@pytest.mark.parametrize("kind", ["foreign", "link", "folder"])
def test_what_is_somebody_elses_stays(gates, folder, kind):
    path, target = folder / "attested-keys.json.history", folder / "target"
    target.write_text("mine\n")
    if kind == "foreign":
        path.write_text("mine\n")
    elif kind == "link":
        path.symlink_to(target)
    else:
        path.mkdir()
    console = Console(gates)
    reader = Reader(console)
    assert console.gate.event(event="history_not_kept", level="warning")["reason"]
    refuse(console.gate, 1)
    stays(reader, 1)
    console.gate.stop()
    assert target.read_text() == "mine\n"
    assert path.is_symlink() if kind == "link" else path.is_dir() if kind == "folder" else path.read_text() == "mine\n"


def test_a_full_disk_is_told_once_and_holds_up_nobody(gates, shim, folder):
    fault = faults.Faults(shim, folder / "shim-control", path_part="json.history")
    fault.fail_call(1, errno.ENOSPC, sticky=True)
    console = Console(gates, **fault.environment)
    gate = console.gate
    assert gate.event(event="history_unwritten", level="warning")["reason"]
    reader = Reader(console)
    refuse(gate, 2)
    stays(reader, 2)
    assert console.probe("/livez")[0] == 200
    fault.heal()
    gate.stop()
    assert gate.event(event="history_written")["path"].endswith(path_of(gate).name)
    assert len([event for event in gate.events() if event["event"] == "history_unwritten"]) == 1
    gate.start()
    stays(reader, 2)


def test_a_disk_that_hangs_holds_up_nobody(gates, shim, folder):
    fault = faults.Faults(shim, folder / "shim-control", path_part="json.history")
    fault.sync_hold = 1
    console = Console(gates, **fault.environment)
    reader = Reader(console)
    eventually(lambda: fault.syncs_waiting == 1, "the history waits for the disk")
    refuse(console.gate, 2)
    stays(reader, 2)
    assert console.probe("/livez")[0] == 200 and console.probe("/readyz")[1].startswith(("ok", "degraded"))
    assert reader.ask("/keys/export")[0] == 200
    fault.sync_hold = 0
    console.gate.stop()
