"""The preloaded shim does what it is told, seen from another program than the gate: Python itself."""

import contextlib
import errno
import json
import os
import socket
import subprocess
import sys

import pytest

from faults import AFTER_READ, AFTER_WRITE, BEFORE_READ, BEFORE_WRITE
from waiting import eventually

SCRIPT = """
import json, os, sys, time
path = sys.argv[1]
said = []
def attempt(name, call):
    try:
        result = call()
        said.append([name, result if isinstance(result, int) else 0, 0])
    except OSError as error:
        said.append([name, -1, error.errno])
file = os.open(path + '.tmp', os.O_RDWR | os.O_CREAT)
for _ in range(2):
    attempt('write', lambda: os.write(file, b'12345678'))
    attempt('sync', lambda: os.fdatasync(file))
attempt('rename', lambda: os.rename(path + '.tmp', path))
json.dump({'said': said, 'wall': time.time(), 'mono': time.monotonic()}, sys.stdout)
"""
POLLER = """
import select, sys
poll = select.poll()
poll.register(0)
print("begun", flush=True)
print(poll.poll(500))
"""


@pytest.fixture
def run(fault, folder):
    def go(name="attested-keys.json"):
        environment = {**os.environ, **fault.environment}
        command = [sys.executable, "-c", SCRIPT, str(folder / name)]
        return json.loads(subprocess.run(command, env=environment, check=True, capture_output=True).stdout)

    return go


def test_nothing_happens_without_an_order(run):
    assert [result for _, result, _ in run()["said"]] == [8, 0, 8, 0, 0]


# The calls are: create, write, sync, write, sync, rename. The create is outside `attempt`.
@pytest.mark.parametrize(
    "number, name", [(2, "write"), (3, "sync"), (4, "write"), (5, "sync"), (6, "rename")]
)
@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EIO])
def test_the_nth_call_fails(fault, run, number, name, error):
    fault.fail_call(number, error)
    said = run()["said"]
    assert said[number - 2] == [name, -1, error]
    assert sum(result < 0 for _, result, _ in said) == 1 == fault.failures


def test_a_torn_write_leaves_half(fault, run):
    fault.fail_call(2, errno.ENOSPC, sticky=True, torn=True)
    said = run()["said"]
    assert said[0] == ["write", 4, 0]
    assert all(error == errno.ENOSPC for _, _, error in said[1:])


def test_other_files_are_left_alone(fault, run):
    fault.fail_call(1, errno.EIO, sticky=True)
    fault.fail_syncs()
    assert all(result >= 0 for _, result, _ in run("other.json")["said"])


def test_clocks_move(fault, run):
    before = run()
    fault.jump(3600)
    after = run()
    assert 3600 <= after["wall"] - before["wall"] < 3660
    assert 3600 <= after["mono"] - before["mono"] < 3660


def test_clocks_stand_still(fault, run):
    fault.stand_still()
    before, now = run(), fault.now()
    assert run()["mono"] == before["mono"] and abs(before["wall"] - now) < 0.001
    fault.jump(61)
    after = run()
    assert abs(after["mono"] - before["mono"] - 61) < 0.001 and abs(after["wall"] - fault.now()) < 0.001
    fault.heal()
    fault.monotonic_offset = 0
    assert run()["mono"] > before["mono"]


def test_a_poll_waits_for_a_clock_that_stands_still(fault):
    fault.stand_still()
    command = [sys.executable, "-c", POLLER]
    with subprocess.Popen(
        command, env={**os.environ, **fault.environment}, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout.readline() == b"begun\n"
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.7)
        fault.jump(1)
        assert process.stdout.read() == b"[]\n"


def test_a_held_sync_waits(fault, folder):
    fault.sync_hold = 1
    command = [sys.executable, "-c", SCRIPT, str(folder / "attested-keys.json")]
    with subprocess.Popen(
        command, env={**os.environ, **fault.environment}, stdout=subprocess.PIPE
    ) as process:
        eventually(lambda: fault.syncs_waiting == 1, "a sync held")
        assert process.poll() is None and fault.syncs_done == 0
        fault.sync_hold = 0
        assert process.wait(60) == 0
    assert fault.syncs_done == 2


def test_a_question_for_what_is_left_waits(fault, folder):
    fault.space_hold = 1
    command = [sys.executable, "-c", "import os, sys; assert os.statvfs(sys.argv[1]).f_bsize > 0", str(folder)]
    with subprocess.Popen(command, env={**os.environ, **fault.environment}) as process:
        eventually(lambda: fault.spaces_waiting == 1, "a question held")
        assert process.poll() is None
        fault.space_hold = 0
        assert process.wait(60) == 0


TALKER = """
import socket, sys
with socket.create_connection(("127.0.0.1", int(sys.argv[1]))) as leg:
    for word in (b"one", b"two"):
        sent = 0
        while sent < 3:
            try:
                sent += leg.send(word[sent:])
            except BlockingIOError:
                pass
        assert leg.recv(2) == b"ok"
"""


def arrived(leg):
    """What is there already."""
    with contextlib.suppress(BlockingIOError):
        return leg.recv(100, socket.MSG_DONTWAIT)
    return b""


@pytest.mark.parametrize("where, heard", [
    (BEFORE_WRITE, b"one"), (AFTER_WRITE, b"onetwo"), (BEFORE_READ, b"onetwo"), (AFTER_READ, b"onetwo"),
])  # fmt: skip
def test_a_held_leg_waits_where_it_was_told_to(fault, where, heard):
    """At the second write or read of a connection to this port."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        fault.hold_leg(port, where, number=2)
        command = [sys.executable, "-c", TALKER, str(port)]
        with subprocess.Popen(command, env={**os.environ, **fault.environment}) as process:
            leg, _ = server.accept()
            with leg:
                leg.sendall(b"okok")
                eventually(lambda: fault.legs_held == 1, "a call held")
                said = bytearray()
                eventually(lambda: said.extend(arrived(leg)) or len(said) >= len(heard), f"{heard} from there")
                assert said == heard and arrived(leg) == b"" and process.poll() is None
                fault.let_legs_go()
                assert process.wait(60) == 0


def test_a_leg_takes_so_much_and_no_more(fault):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        fault.leg_takes(port, 4)
        command = [sys.executable, "-c", TALKER, str(port)]
        with subprocess.Popen(command, env={**os.environ, **fault.environment}) as process:
            leg, _ = server.accept()
            with leg:
                leg.sendall(b"okok")
                heard = bytearray()
                eventually(lambda: heard.extend(leg.recv(100)) or len(heard) == 4, "four bytes")
                eventually(lambda: fault.leg_writes > 50, "tries to write more")
                assert process.poll() is None
                fault.leg_takes(port, None)
                assert process.wait(60) == 0
                assert bytes(heard) + leg.makefile("rb").read() == b"onetwo"
