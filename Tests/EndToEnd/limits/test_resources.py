"""What the system gives runs out: descriptors, threads, memory. Who plays is not dropped, no fact lost."""

import contextlib
import itertools
import os
import resource
import signal
import socket
import time

import pytest

from backend import echo
from clients import UPGRADE, Raw, head
from waiting import eventually, patience
from websocket import BINARY, RawWebSocket

MIB = 1 << 20
NO_THREAD = {69, 71, 74}  # sysexits: unavailable, an error of the system, of input and output
unsanitized = pytest.mark.unsanitized("its own memory and its own malloc are not those of the program")


def plays(client, word=b"still here"):
    client.frame(BINARY, word)
    return client.read_frame()[2] == word


def processor_time(gate):
    """Seconds the gate has used, over all its threads."""
    fields = open(f"/proc/{gate.process.pid}/stat").read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


# ---- descriptors


def leave_descriptors(gate, count):
    """So many more may be opened from now on: the limit is on their numbers, of which there may be gaps."""
    gate.event(event="listening")  # what the start needs is open
    gate.event(event="handshake_failed")  # the suite's look at the port is over
    used = set(map(int, os.listdir(f"/proc/{gate.process.pid}/fd")))
    free = itertools.filterfalse(used.__contains__, itertools.count())
    set_descriptor_limit(gate, next(itertools.islice(free, count, None)))


def set_descriptor_limit(gate, count):
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.prlimit(gate.process.pid, resource.RLIMIT_NOFILE, (count, hard))


def crowd(gate, count):
    """So many connections that say nothing."""
    made = []
    for _ in range(count):
        made.append(socket.create_connection((gate.host, gate.port)))
    return made


@pytest.fixture
def open_gate(gates, backends):
    def make(**changes):
        return gates(
            backends(echo),
            REQUIRE_APP_AUTH="false",
            MAX_CONNECTIONS_PER_ADDRESS=100_000,
            TLS_HANDSHAKE_TIMEOUT="10m",
            # Nor does a ping break a silence.
            PING_INTERVAL="10m",
            PONG_TIMEOUT="20m",
            **changes,
        )

    return make


def test_no_descriptor_left(open_gate):
    """Players play on, newcomers wait or are cut off, nothing spins; with room again all is as before."""
    gate = open_gate()
    player = RawWebSocket(gate)
    leave_descriptors(gate, 20)
    attackers = crowd(gate, 60)
    gate.event(event="accept_paused")
    assert all(plays(player, b"turn %d" % turn) for turn in range(100))
    began, used = time.monotonic(), processor_time(gate)
    assert player.silent_for(1)
    spent = (processor_time(gate) - used) / (time.monotonic() - began)
    assert spent < patience(0.3), f"{spent} s of processor time in a second of waiting"
    for attacker in attackers:
        attacker.close()

    def comes_in():
        with contextlib.suppress(OSError), Raw(gate) as client:
            return client.send(head("GET", "/healthz")).reply().status == 200

    eventually(comes_in, "room for newcomers")
    assert plays(player)
    player.close()


def test_the_last_descriptor_is_not_the_games(open_gate):
    """Room for the player and none for his game: 503 before anything is promised, and no socket left over."""
    gate = open_gate(WORKERS=1)
    player = RawWebSocket(gate)
    client = Raw(gate)
    leave_descriptors(gate, 0)
    reply = client.send(head("GET", "/", *UPGRADE)).reply()
    assert (reply.status, reply.code) == (503, "backend_unavailable")
    assert plays(player)
    set_descriptor_limit(gate, 1024)
    client.close()

    def admitted():
        with contextlib.suppress(OSError), Raw(gate) as again:
            return again.send(head("GET", "/", *UPGRADE)).reply(head_only=True).status == 101

    eventually(admitted, "a game for a newcomer")
    player.close()


def test_without_descriptors_the_store_goes_on_and_a_reload_fails(gates, backend, fault, device, new_device):
    """Facts are still acknowledged: their file is open. What needs a new one says so, and is made up for."""
    gate = gates(backend, **fault.environment)
    gate.app.register(device)
    leave_descriptors(gate, 0)
    gate.app.register(new_device())
    gate.signal(signal.SIGHUP)
    gate.event(event="reload_failed")
    fault.monotonic_offset += 2 * 10**9
    gate.event(event="snapshot_failed")
    gate.app.register(new_device())
    set_descriptor_limit(gate, 1024)
    fault.monotonic_offset += 10 * 10**9
    eventually(lambda: gate.store_path.exists(), "a snapshot")
    gate.app.close()
    gate.stop()
    assert len(gate.keys()) == 3
    assert gate.journal_bytes() == b""


def test_a_small_limit_at_the_start(gates, backend):
    """`ulimit -n 300`: fewer connections, with a warning; what the limit leaves is served."""
    gate = gates(backend, start=False)
    gate.prefix = ["prlimit", "--nofile=300:"]
    gate.start()
    warned = gate.event(event="configuration", code="connections_reduced")
    assert "16" in warned["reason"] and "300" in warned["reason"]
    assert gate.app.request("GET", "/healthz").status == 200


@pytest.mark.parametrize("count", [8, 12, 16, 20, 24])
def test_no_descriptor_for_the_start_itself(gates, backend, count):
    """Refused with a message and a status, or started; never half of it."""
    gate = gates(backend, start=False, MAX_CONNECTIONS=4)
    gate.prefix = ["prlimit", f"--nofile={count}:"]
    ends_or_serves(gate.launch())


def ends_or_serves(gate):
    """A start that succeeded, or ended with a message and a status of its own."""

    def settled():
        if not gate.running:
            return "ended"
        return "serves" if any(e.get("event") == "listening" for e in gate.events()) else None

    how = eventually(settled, f"a start or an end:\n{gate.log_tail()}")
    if how == "serves":
        gate.stop()
    else:
        assert gate.wait() in NO_THREAD | {78}, f"{gate.process.returncode}:\n{gate.log_tail()}"
        assert "portcullis: " in gate.log_text()
    return how


# ---- threads


@pytest.mark.unsanitized("the sanitizer has threads of its own")
def test_each_thread_that_cannot_start(gates, backend, fault):
    """Whichever it is, the start ends at once with a message, and nothing of it keeps running."""
    gate = gates(backend, WORKERS=3, **fault.environment)
    gate.event(event="listening")
    total = fault.threads
    gate.stop()
    assert total >= 10, "log, two of the store, two of the pool, three loops, housekeeper, control"
    for number in range(1, total + 1):
        fault.threads, fault.thread_nth = 0, number
        gate = gates(backend, start=False, WORKERS=3, **fault.environment).launch()
        assert ends_or_serves(gate) == "ended", f"thread {number} of {total}"
        assert "pthread_create" in gate.log_text(), gate.log_tail()
    fault.heal()
    assert gates(backend, WORKERS=3).app.request("GET", "/healthz").status == 200


# ---- memory


# MemoryReserve.bytes
RESERVE = 4 * MIB


def data_bytes(gate):
    """What RLIMIT_DATA counts: private memory that can be written."""
    for line in open(f"/proc/{gate.process.pid}/status"):
        if line.startswith("VmData:"):
            return int(line.split()[1]) * 1024
    raise AssertionError("no VmData")


def limit_memory(gate, more, kind=resource.RLIMIT_DATA):
    limit = resource.RLIM_INFINITY if more is None else data_bytes(gate) + more
    resource.prlimit(gate.process.pid, kind, (limit, resource.RLIM_INFINITY))


@unsanitized
@pytest.mark.parametrize("more", [3 * MIB, 6 * MIB, 12 * MIB], ids=["3 MiB", "6 MiB", "12 MiB"])
def test_no_memory_for_newcomers(open_gate, more):
    """RLIMIT_DATA on the running gate: newcomers are turned away before all is gone, players play on."""
    gate = open_gate(MAX_PENDING=100_000)
    players = [RawWebSocket(gate) for _ in range(3)]
    assert all(plays(player) for player in players)
    limit_memory(gate, more)
    attackers = []
    with contextlib.suppress(OSError):
        while len(attackers) < 3000:
            attackers.append(Raw(gate))
    # The reserve is for those who are in: a loop that has done nothing yet may need some of it too.
    assert (len(attackers) > 20) == (more > RESERVE), f"{len(attackers)} came in"
    waiting = crowd(gate, 200)
    paused = gate.event(event="accept_paused")
    assert "memory" in paused["reason"], paused
    for number in range(100):
        for player in players:
            assert plays(player, b"%d" % number * 1000)
    for each in [*attackers, *waiting]:
        each.close()
    limit_memory(gate, None)

    def comes_in():
        with contextlib.suppress(OSError), Raw(gate) as client:
            return client.send(head("GET", "/healthz")).reply().status == 200

    eventually(comes_in, "newcomers again")
    assert all(plays(player) for player in players)
    for player in players:
        player.close()


@unsanitized
def test_no_memory_for_a_request(gates, backend, device):
    """Who is connected already and asks for more than he has is told so: 503, and nothing is used up."""
    gate = gates(backend, WORKERS=1)
    gate.app.register(device)
    nonce = gate.app.nonce()
    client, other = Raw(gate), Raw(gate)
    for each in (client, other):
        assert each.send(head("GET", "/healthz")).reply().status == 200
    limit_memory(gate, 0)
    # That there was enough is good for a millisecond.
    eventually(lambda: other.send(head("GET", "/healthz")).reply().status == 503, "the shortage")
    fields = [f"{name}: {value}" for name, value in device.headers(nonce).items()]
    request = head("GET", "/", *UPGRADE, *fields)
    reply = client.send(request).reply()
    assert (reply.status, reply.code) == (503, "overloaded")
    limit_memory(gate, None)
    with Raw(gate) as again:
        assert again.send(request).reply(head_only=True).status == 101
    client.close()
    other.close()


@unsanitized
def test_openssl_gets_no_memory_for_a_handshake(open_gate, fault, new_device):
    """Each allocation of a handshake and a first request fails in turn: one connection ends, and no other."""
    gate = open_gate(WORKERS=1, **fault.environment)
    # The threads of registrations, which are behind the others, have OpenSSL's part of their start behind them.
    gate.app.register(new_device())
    gate.app.close()
    player = RawWebSocket(gate)
    assert plays(player)

    def attempt():
        with contextlib.suppress(OSError, AssertionError), Raw(gate) as client:
            return client.send(head("GET", "/healthz")).reply().status
        return None

    assert attempt() == 200
    fault.memory_nth = 1 << 30
    assert attempt() == 200
    total = fault.memory_calls
    assert total > 20, f"OpenSSL asked {total} times"
    refused = 0
    for number in range(1, total + 1, 1 + total // 150):
        fault.memory_nth, fault.memory_calls = 0, 0
        fault.memory_nth = number
        status = attempt()
        assert status in (200, None), f"allocation {number}: {status}"
        refused += status is None
        assert gate.running, f"allocation {number} of {total}:\n{gate.log_tail()}"
    fault.heal()
    assert refused > 10
    assert attempt() == 200 and plays(player)
    player.close()


@unsanitized
def test_memory_that_runs_out_altogether_ends_the_gate_and_loses_nothing(gates, backend, fault, new_device):
    """A program whose own allocation fails ends: no answer after that, and none before it untrue."""
    # What would look into the crash in a debug build would get no memory either.
    gate = gates(backend, SWIFT_BACKTRACE="enable=no", **fault.environment)
    devices = [gate.app.register(new_device()) for _ in range(5)]
    for device in devices:
        with RawWebSocket(gate, device.headers(gate.app.nonce())):
            pass
    gate.app.close()
    fault.memory_least = 1
    with contextlib.suppress(OSError, AssertionError), Raw(gate) as client:
        client.send(head("GET", "/healthz")).reply()
    status = gate.process.wait(patience(60))
    assert status in (-signal.SIGILL, -signal.SIGTRAP, -signal.SIGABRT, -signal.SIGSEGV), status
    gate.log_path.unlink()  # its end was what was asked for
    fault.heal()
    gate.process = None
    gate.start()
    stored = gate.keys()
    assert {key: entry["signCount"] for key, entry in stored.items()} == {d.key_id_b64: 1 for d in devices}
