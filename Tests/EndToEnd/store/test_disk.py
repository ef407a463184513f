"""The disk under the store: full, read-only, slow beyond patience; nothing untrue is said (docs/key-store.md).

`test_durability.py` has each call of the store failing in turn; here is what lasts, and real file systems.
"""

import errno
import json
import resource
import signal
import subprocess

import pytest

from clients import UPGRADE, Raw, assert_refusal, head
from gate import BINARY as PROGRAM
from gate import process_environment
from test_durability import UNAVAILABLE, send_registration, send_upgrade
from waiting import eventually, patience
from websocket import BINARY, RawWebSocket

IO_ERROR, CONFIGURATION = 74, 78


def statistics(gate):
    """The store's part of `stats --json`."""
    shown = gate.command("stats", "--json")
    assert shown.returncode == 0, shown.stderr
    return json.loads(shown.stdout)["store"]


def registers(gate, device):
    return gate.app.post(device.registration(gate.app.nonce())).status == 200


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EROFS, errno.EIO], ids=errno.errorcode.get)
def test_a_disk_that_takes_nothing_any_more(gates, backend, fault, device, new_device, error):
    """Every call fails from now on: no acknowledgement, said in log and statistics; it heals by itself."""
    gate = gates(backend, **fault.environment)
    gate.app.register(device)
    player = RawWebSocket(gate, device.headers(gate.app.nonce()))
    assert player.read_frame()[2].startswith(b"Welcome")
    fault.fail_call(1, error, sticky=True)
    newcomer = new_device()
    assert_refusal(gate.app.post(newcomer.registration(gate.app.nonce())), *UNAVAILABLE)
    assert gate.event(event="store_unavailable", level="critical")["reason"]
    shown = statistics(gate)
    assert shown["service"] == "stalled" and shown["reason"], shown
    # Before anything is used up: the same challenge and counter are good later.
    fields = [f"{name}: {value}" for name, value in device.headers(gate.app.nonce()).items()]
    again = head("GET", "/", *UPGRADE, *fields)
    for _ in range(3):
        with Raw(gate) as client:
            assert_refusal(client.send(again).reply(), *UNAVAILABLE)
    player.frame(BINARY, b"look\n")
    assert b"look" in player.read_frame()[2]
    fault.heal()
    # The next attempt comes a second or more after the last.
    fault.monotonic_offset += 10 * 10**9
    gate.event(event="store_available")
    assert statistics(gate)["service"] == "accepting"
    gate.app.close()
    with Raw(gate) as client:
        assert client.send(again).reply(head_only=True).status == 101
    assert registers(gate, newcomer)
    player.close()
    gate.app.close()
    gate.stop()
    assert set(gate.keys()) == {device.key_id_b64, newcomer.key_id_b64}


def test_a_disk_that_does_not_answer(gates, backend, fault, device, new_device):
    """A sync that hangs: after 3 s it is said, newcomers are refused at once, and its answer ends that."""
    gate = gates(backend, **fault.environment)
    gate.app.register(device)
    fault.stand_still()
    fault.sync_hold = 1
    with send_registration(gate, new_device()) as client:
        eventually(lambda: fault.syncs_waiting, "a sync held")
        fault.monotonic_offset += 4 * 10**9
        said = gate.event(event="store_unavailable", level="critical")
        assert "not answered" in said["reason"], said
        assert gate.app.nonce()  # the loops look at the clock when they have something to do
        assert_refusal(client.reply(), *UNAVAILABLE)
    shown = statistics(gate)
    assert shown["service"] == "stalled" and "not answered" in shown["reason"], shown
    nonce = gate.app.nonce()
    fields = [f"{name}: {value}" for name, value in device.headers(nonce).items()]
    again = head("GET", "/", *UPGRADE, *fields)
    with Raw(gate) as client:
        # At once, and not after the 3 s of a commit: no time goes by.
        assert_refusal(client.send(again).reply(), *UNAVAILABLE)
    fault.sync_hold = 0
    gate.event(event="store_available")
    assert statistics(gate)["service"] == "accepting"
    with Raw(gate) as client:
        assert client.send(again).reply(head_only=True).status == 101


def test_a_slow_disk_is_only_slow(gates, backend, fault, device):
    """Answers wait for it, and nothing is said."""
    gate = gates(backend, **fault.environment)
    gate.app.register(device)
    # Slow, and not slower than the 3 s after which it does not answer, however slow the machine is.
    fault.stand_still()
    for _ in range(3):
        fault.sync_hold = 1
        with send_upgrade(gate, device) as client:
            eventually(lambda: fault.syncs_waiting, "a sync held")
            assert client.silent_for(0.3)
            fault.sync_hold = 0
            assert client.reply(head_only=True).status == 101
    assert not [event for event in gate.events() if event.get("event") == "store_unavailable"]


@pytest.mark.parametrize("error", [errno.EROFS, errno.ENOSPC, errno.EACCES], ids=errno.errorcode.get)
def test_a_start_on_a_disk_that_takes_nothing(gates, backend, fault, error):
    """Refused with the name of the file, the reason, and the status for input and output."""
    gate = gates(backend, start=False, **fault.environment)
    fault.fail_call(1, error, sticky=True)
    gate.launch()
    assert gate.wait() == IO_ERROR, gate.log_tail()
    text = gate.log_text()
    assert "ATTESTED_KEYS_PATH" in text and "attested-keys.json" in text


def test_a_limit_on_the_size_of_files(gates, backend, device, new_device):
    """`LimitFSIZE=` of a unit is a full disk, and not the end of all sessions by SIGXFSZ."""
    gate = gates(backend)
    gate.app.register(device)
    player = RawWebSocket(gate, device.headers(gate.app.nonce()))
    assert player.read_frame()[2].startswith(b"Welcome")
    # Not of the log either, which is a file here: it goes silent meanwhile.
    before = resource.prlimit(gate.process.pid, resource.RLIMIT_FSIZE, (len(gate.journal_bytes()), resource.RLIM_INFINITY))
    newcomer = new_device()
    assert_refusal(gate.app.post(newcomer.registration(gate.app.nonce())), *UNAVAILABLE)
    shown = statistics(gate)
    assert shown["service"] == "stalled" and "File too large" in shown["reason"], shown
    player.frame(BINARY, b"look\n")
    assert b"look" in player.read_frame()[2]
    resource.prlimit(gate.process.pid, resource.RLIMIT_FSIZE, before)
    eventually(lambda: registers(gate, newcomer), "a registration")
    player.close()
    gate.app.close()
    gate.stop()
    assert set(gate.keys()) == {device.key_id_b64, newcomer.key_id_b64}


@pytest.mark.parametrize("number", [signal.SIGXFSZ, signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM])
def test_a_signal_that_is_no_order_ends_nothing(gates, backend, device, number):
    gate = gates(backend)
    gate.app.register(device)
    player = RawWebSocket(gate, device.headers(gate.app.nonce()))
    assert player.read_frame()[2].startswith(b"Welcome")
    gate.signal(number)
    player.frame(BINARY, b"look\n")
    assert b"look" in player.read_frame()[2]
    player.close()
    gate.app.close()
    gate.stop()


def test_commands_end_with_the_same_status(gates, backend, device):
    """A store that cannot be opened is 74 for `serve` and for `keys` alike."""
    gate = gates(backend)
    gate.app.register(device)
    gate.app.close()
    gate.stop()
    lock = gate.store_path.with_name(gate.store_path.name + ".lock")
    lock.unlink(missing_ok=True)
    lock.mkdir()  # which even root cannot open as a file
    done = gate.command("keys", "revoke", device.key_id_b64)
    assert (done.returncode, str(lock) in done.stderr) == (IO_ERROR, True), done.stderr
    gate.launch()
    assert gate.wait() == IO_ERROR
    lock.rmdir()


# ---- a file system of its own


@pytest.fixture
def disk(folder):
    """A file system of 256 KiB, where the kernel lets us mount one."""
    path = folder / "disk"
    path.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=256k", "portcullis-test", str(path)]
    if subprocess.run(command, capture_output=True).returncode != 0:
        pytest.skip("file systems may not be mounted here")
    yield path
    subprocess.run(["umount", str(path)], check=True)


def fill(path):
    """Takes all that is left."""
    with open(path / "filler", "wb", buffering=0) as filler:
        for size in (4096, 1):
            try:
                while True:
                    filler.write(bytes(size))
            except OSError as error:
                assert error.errno == errno.ENOSPC


def test_a_full_file_system(disk, gates, backend, fault, new_device):
    gate = gates(backend, ATTESTED_KEYS_PATH=disk / "attested-keys.json", **fault.environment)
    known = [gate.app.register(new_device()) for _ in range(5)]
    fill(disk)
    refused = None
    for _ in range(40):  # what is left of the journal's last page still takes some
        device = new_device()
        if not registers(gate, device):
            refused = device
            break
        known.append(device)
    assert refused, "a full disk took forty keys"
    gate.event(event="store_unavailable")
    assert statistics(gate)["service"] == "stalled"
    (disk / "filler").unlink()
    fault.monotonic_offset += 10 * 10**9
    gate.event(event="store_available")
    gate.app.close()
    assert registers(gate, refused)
    gate.app.close()
    gate.kill()
    gate.start()
    assert {device.key_id_b64 for device in [*known, refused]} <= set(gate.keys())
    gate.stop()


def test_a_file_system_that_came_back_read_only(disk, gates, backend, new_device):
    """As after an error of the disk: reading goes on, a start is refused with the reason, and succeeds later.

    The kernel keeps a file system writable under an open file; for that the shim answers EROFS, above."""
    gate = gates(backend, ATTESTED_KEYS_PATH=disk / "attested-keys.json")
    known = [gate.app.register(new_device()) for _ in range(3)]
    gate.app.close()
    gate.kill()
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
    gate.launch()
    assert gate.wait() in (IO_ERROR, CONFIGURATION), gate.log_tail()
    assert "attested-keys.json" in gate.log_text() and "written" in gate.log_text()
    assert {device.key_id_b64 for device in known} <= set(gate.keys())  # reading goes on
    subprocess.run(["mount", "-o", "remount,rw", str(disk)], check=True)
    gate.log_path.unlink()
    gate.start()
    assert registers(gate, new_device())


# ---- what `check` says


def checked(gate, fault, seconds):
    """The line about the disk, where each sync takes so long. Time stands still but for that."""
    fault.stand_still()
    fault.sync_hold = 1
    command = [str(PROGRAM), "check"]
    with subprocess.Popen(
        command, cwd=gate.folder, env=process_environment(gate.environment), stdout=subprocess.PIPE, text=True
    ) as check:
        eventually(lambda: fault.syncs_waiting == 1, "the first sync waits")
        fault.jump(seconds)
        fault.sync_hold = 0
        said = check.communicate(timeout=patience(60))[0]
    [line] = [line for line in said.splitlines() if "a sync takes at most" in line]
    return line


@pytest.mark.parametrize("seconds, grade", [(0.1, "ok"), (0.101, "warning"), (2.5, "warning")])
def test_check_warns_of_syncs_that_players_notice(gates, fault, seconds, grade):
    gate = gates(start=False, **fault.environment)
    line = checked(gate, fault, seconds)
    assert line.startswith(grade) and f"at most {seconds * 1000:.0f} ms (of 5)" in line, line
    assert ("ATTESTED_KEYS_PATH on a faster disk" in line) == (grade == "warning")
