"""What sessions cost that nobody is attached to, while their games pour into them: memory of the gate and of the kernel.

`make detached DETACHED=10000` has as many as MAX_DETACHED; a few hundred otherwise. The figures are printed.
"""

import itertools
import json
import os
import resource
import selectors
import socket
import threading

import pytest

from kernel import queued_bytes, unsent
from sessions import Player, Wire
from waiting import eventually

COUNT = int(os.environ.get("DETACHED", "400"))
KIB, MIB = 1024, 1024 * 1024
# For each session, beside what is kept for it: itself, its place in tables.
SESSION_BYTES = 3 * KIB
LINE = b"y" * 62 + b"\r\n"
POUR = 80 * KIB // len(LINE)
DEVICES = 20  # with up to a thousand sessions each


class Pourer:
    """One thread that is the game of them all: says nothing until it is told to pour, and reads what it gets."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
        self.address = "127.0.0.1:%d" % self.listener.getsockname()[1]
        self.port = self.listener.getsockname()[1]
        self.players = []
        self.left = {}
        self.selector = selectors.DefaultSelector()
        self.selector.register(self.listener, selectors.EVENT_READ)
        self.stopping = False
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self):
        while not self.stopping:
            for key, events in self.selector.select(0.05):
                if key.fileobj is self.listener:
                    player, _ = self.listener.accept()
                    player.setblocking(False)
                    self.players.append(player)
                    self.selector.register(player, selectors.EVENT_READ)
                else:
                    self._serve(key.fileobj, events)

    def _serve(self, player, events):
        try:
            if events & selectors.EVENT_READ and not player.recv(65536):
                raise ConnectionError
            if events & selectors.EVENT_WRITE:
                rest = self.left[player]
                sent = player.send(rest[:65536])
                self.left[player] = rest[sent:]
                if sent == len(rest):
                    self.selector.modify(player, selectors.EVENT_READ)
        except BlockingIOError:
            pass
        except OSError:
            self.left[player] = b""
            self.selector.unregister(player)

    def pour(self):
        for player in self.players:
            self.left[player] = memoryview(LINE * POUR)
            self.selector.modify(player, selectors.EVENT_READ | selectors.EVENT_WRITE)

    def has_poured(self):
        """Everything is written, and nothing of it waits in this end's sockets."""
        return not any(len(rest) for rest in self.left.values()) and not any(map(unsent, self.players))

    def stop(self):
        self.stopping = True
        self.thread.join(5)
        for player in [*self.players, self.listener]:
            player.close()


@pytest.fixture
def descriptors():
    """Enough of them for the games here and the gate."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = COUNT * 4 + 2000
    if wanted > before[0]:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, max(wanted, before[1])))
        except (ValueError, PermissionError):
            pytest.skip(f"{wanted} descriptors are needed, and {before[1]} are allowed")
    yield
    if wanted > before[0]:
        resource.setrlimit(resource.RLIMIT_NOFILE, (before[0], max(wanted, before[1])))


@pytest.fixture
def pourer():
    game = Pourer()
    yield game
    game.stop()


def states(gate):
    listed = gate.command("sessions", "list", "--json", within=60)
    assert listed.returncode == 0, listed.stderr
    return [json.loads(line)["state"] for line in listed.stdout.splitlines()]


def detached(gate):
    return json.loads(gate.command("stats", "--json").stdout)["now"]["detached"]


def test_detached_sessions_stay_within_their_bounds(descriptors, pourer, gates, new_device):
    total = max(8 * MIB, min(256 * MIB, COUNT * 26 * KIB))
    gate = gates(
        pourer,
        SESSION_BUFFER="64KiB",
        SESSION_BUFFERS_TOTAL=f"{total // KIB}KiB",
        MAX_DETACHED=str(COUNT),
        MAX_SESSIONS_PER_KEY="1000",
        MAX_CONNECTIONS_PER_ADDRESS=str(COUNT * 2),
        MAX_PENDING=str(COUNT * 2),
        LOG_LEVEL="warning",
    )
    devices = [gate.app.register(new_device()) for _ in range(DEVICES)]
    players = []

    def arrive(number):
        player = Player(gate, devices[number % DEVICES])
        player.connect()
        player.lose()
        players.append(player)

    def memory_with(count):
        for number in range(len(players), count):
            arrive(number)
        eventually(lambda: detached(gate) == count, f"{count} detached sessions", within=120)
        return gate.resident_bytes()

    # What comes and goes with connections is there once the first quarter has come: the others add sessions. One of them may
    # be that for which a table or the allocator's heap grows, but not each.
    part = COUNT // 4
    steps = [memory_with(part * number) for number in (1, 2, 3)] + [memory_with(COUNT)]
    idle, waiting = steps[0], steps[-1]
    least = min(after - before for before, after in itertools.pairwise(steps))
    eventually(lambda: len(pourer.players) == COUNT, "the game has taken all calls")
    pourer.pour()
    eventually(pourer.has_poured, "every game has said what it has to say", within=120 + COUNT * 0.05)

    def held_by_the_kernel():
        return queued_bytes("dport", "=", f":{pourer.port}")[0]

    # The gate goes on reading whoever is away, whatever becomes of it.
    bound = COUNT * 4 * KIB + MIB
    eventually(lambda: held_by_the_kernel() <= bound, "the gate has read all of it", within=120 + COUNT * 0.05)
    kernel = held_by_the_kernel()
    full = gate.resident_bytes()
    print(
        f"{COUNT} detached: {(waiting - idle) / (COUNT - part):.0f} bytes each; after {POUR * len(LINE) // KIB} KiB each"
        f" {(full - waiting) / MIB:.1f} MiB more, of {total / MIB:.0f} MiB allowed; kernel {kernel / MIB:.1f} MiB"
    )
    # Nobody was let go for it, and nobody's game was held up.
    assert states(gate).count("detached") == COUNT
    slack = 6 * MIB
    assert least <= part * SESSION_BYTES
    assert full - waiting <= total + COUNT * KIB + slack
    assert kernel <= bound
    for player in players[:: max(1, COUNT // 10)]:
        session = player.connect()
        assert session["resumed"], session
        player.until(lambda player=player: player.all_text.endswith(LINE[-2:]), "the last of it")
        player.close()


def test_who_tries_ids_of_others_gets_sessions_of_its_own(pourer, gates, new_device):
    """A foreign key that tries ids gets a new session each time; nothing is let go for it but its own."""
    gate = gates(pourer, MAX_DETACHED="50", MAX_SESSIONS_PER_KEY="3")
    owner = Player(gate, gate.app.register(new_device()))
    owner.connect()
    owner.lose()
    stranger = gate.app.register(new_device())
    for number in range(30):
        guess = Player(gate, stranger)
        guess.id = owner.id if number % 3 == 0 else "%021dA" % number
        session = guess.connect()
        assert (session["resumed"], session["reason"]) == (False, "unknown")
        guess.lose()
    assert owner.connect()["resumed"]
    assert isinstance(owner.wire, Wire)
    owner.close()
    eventually(lambda: len(states(gate)) <= 3, "three of the stranger's at most")
