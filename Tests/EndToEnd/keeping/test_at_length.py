"""Players who type and read while their gate is killed and restarted, seeded: no leg closes, no command is doubled, and each
missing piece is announced by `gap` or `doubt`.

`make keeping KILLS=300 RESTARTS=300 PLAYERS=200` runs it at length; KEEPING_SEED takes a run up again. A seed fixes the
order of kills and restarts and what is said, not the time it takes. Two of three kills come while a read from the game or
a write to it is held by the shim, before it or behind it."""

import asyncio
import collections
import os
import random
import time
from types import SimpleNamespace

import pytest
from chronicle import Chronicle
from crowd import Crowd, Townsman
from descriptor_store import DescriptorStore
from faults import AFTER_READ, AFTER_WRITE, BEFORE_READ, BEFORE_WRITE
from waiting import eventually_async

KILLS, RESTARTS = (int(os.environ.get(name, "8")) for name in ("KILLS", "RESTARTS"))
PLAYERS = int(os.environ.get("PLAYERS", "20"))
SEED = os.environ.get("KEEPING_SEED", "20261122")
# As many words as wait for the manager (net.unix.max_dgram_qlen), who shares this process with all players.
AT_ONCE = 8
CALLS = {
    "before a read": BEFORE_READ,
    "behind a read": AFTER_READ,
    "before a write": BEFORE_WRITE,
    "behind a write": AFTER_WRITE,
}


class Ordeal:
    """What comes over the gate, and what it did."""

    def __init__(self, crowd, game, store, fault):
        self.crowd, self.game, self.store, self.fault = crowd, game, store, fault
        self.chance = random.Random(f"{SEED} ordeal")
        self.done = collections.Counter()
        self.outages = []

    async def go(self):
        row = ["kill"] * KILLS + ["restart"] * RESTARTS
        self.chance.shuffle(row)
        for what in row:
            await self._play()
            begun = time.monotonic()
            is_kill = what == "kill"
            await (self._kill() if is_kill else asyncio.to_thread(self.store.end))
            self.crowd.died(is_kill)
            self.done[what] += 1
            await asyncio.to_thread(self.store.start)
            self.outages.append(time.monotonic() - begun)
            self.crowd.check()

    async def _play(self):
        """Mostly until all are back and something was said; sometimes as soon as a few of them are."""
        everybody = len(self.crowd.players)
        wanted = everybody if self.chance.random() < 0.7 else self.chance.randrange(everybody)
        talk = self.crowd.messages + self.chance.randrange(2 * everybody)

        def is_enough():
            self.crowd.check()
            return self.crowd.back >= wanted and self.crowd.messages >= talk

        await eventually_async(is_enough, f"{wanted} players back", within=120)

    async def _kill(self):
        if self.chance.random() < 2 / 3:
            name = self.chance.choice(sorted(CALLS))
            self.fault.hold_leg(self.game.port, CALLS[name], self.chance.randrange(1, 8))
            try:
                await eventually_async(lambda: self.fault.legs_held, "a call held", within=2)
                self.done[name] += 1
            except AssertionError:
                pass  # nobody said anything: a kill like the others
        await asyncio.to_thread(self.store.kill)
        self.fault.let_legs_go()

    def leg_check(self):
        closed = [chair for chair in self.game.chairs if chair.has_ended]
        assert not closed and len(self.game.chairs) == len(self.crowd.players), "a leg has closed"


@pytest.mark.long("16 deaths and restarts with 20 players")
def test_the_character_stays_in_the_game(gates, new_device, folder, fault):
    """Checked against both ends' own records."""
    asyncio.run(evening(gates, new_device, folder, fault))


@pytest.mark.parametrize(
    ("messages", "piece", "told"),
    [
        pytest.param(None, b"Turn 11\x0212\x02The end.\r\n", b"\x0211\x02\x0212\x02The end.\r\n", id="an event, torn"),
        pytest.param(None, b"n 12The end.\r\n", b"\x0211\x02\x0212\x02The end.\r\n", id="the last event, torn"),
        pytest.param(None, b"rn 3\r\n4: a\r\n", b"\x023\x02\r\n4: a\r\n", id="an event before the end of a line"),
        pytest.param(3, b"4: a\r\n", b"3: a\r\n4: a\r\n", id="a line in a gap"),
    ],
)
def test_the_account_knows_what_a_crash_tears(messages, piece, told):
    assert scribe((0, b"1: a\r\n"), (messages, piece)).check_story(b"1: a\r\n" + told) >= 0


@pytest.mark.parametrize(
    ("pieces", "told"),
    [
        pytest.param([(0, b"1: a\r\n")], b"1: a\r\n2: a\r\n", id="the end is missing"),
        pytest.param([(0, b"2: a\r\n")], b"1: a\r\n2: a\r\n", id="no gap was told"),
        pytest.param([(None, b"2: a\r\n1: a\r\n")], b"1: a\r\n2: a\r\n", id="in another order"),
        pytest.param([(None, b"1: a\r\n2: \r\n")], b"1: a\r\n2: a\r\n", id="a later line is torn"),
        pytest.param([(2, b": a\r\n1: a\r\n")], b"1: a\r\n", id="a gap with a number tears nothing"),
    ],
)
def test_the_account_finds_what_is_wrong(pieces, told):
    with pytest.raises(AssertionError):
        scribe(*pieces).check_story(told)


def scribe(*pieces):
    """A player who has heard this."""
    player = Townsman(SimpleNamespace(seed=SEED), 0, device=None)
    player.pieces = [(messages, bytearray(piece)) for messages, piece in pieces]
    return player


async def evening(gates, new_device, folder, fault):
    begun = time.monotonic()
    game = await Chronicle(SEED, pace=PLAYERS).start()
    store = DescriptorStore(folder)
    gate = gates(
        game,
        start=False,
        INPUT_RATE="100000/s",
        WORKERS="2",
        DRAIN_TIMEOUT="1s",
        SESSION_BUFFER="1MiB",
        MAX_CONNECTIONS_PER_ADDRESS="100000",
        MAX_PENDING="100000",
        **fault.environment,
    )
    store.manage(gate)
    crowd = None
    try:
        await asyncio.to_thread(store.start)
        devices = await asyncio.to_thread(lambda: [gate.app.register(new_device()) for _ in range(PLAYERS)])
        crowd = Crowd(gate, SEED, devices)
        for first in range(0, PLAYERS, AT_ONCE):
            crowd.come(first, first + AT_ONCE)
            wanted = min(PLAYERS, first + AT_ONCE)
            await eventually_async(lambda: crowd.check() or crowd.back == wanted, "all players", within=60)
            await eventually_async(lambda: store.legs() == wanted, "all legs in the store", within=60)
        crowd.start_typing(pace=PLAYERS)
        ordeal = Ordeal(crowd, game, store, fault)
        await ordeal.go()
        await to_the_end(crowd, game)
        ordeal.leg_check()
        say(ordeal, crowd, account(crowd, game), time.monotonic() - begun)
    finally:
        if crowd:
            await crowd.stop()
        fault.heal()
        await asyncio.to_thread(gates.finish)
        store.finish()
        game.stop()
    assert not store.faults, store.faults


async def to_the_end(crowd, game):
    """Nobody types or talks any more, and all that is owed comes."""
    crowd.hush()
    game.hush()

    def is_quiet():
        crowd.check()
        return all(player.is_back and player.handled == player.sent for player in crowd.players)

    await eventually_async(is_quiet, "everything handled", within=120)
    for chair in game.chairs:
        chair.end()
    await eventually_async(lambda: crowd.check() or crowd.has_heard_all(), "the end", within=120)


def account(crowd, game):
    """Each player's own record beside that of their place at the game: lines and bytes that are missing."""
    lines = missing_lines = missing_bytes = 0
    for chair in game.chairs:
        player = crowd.players[int(chair.lines[0].partition(":")[0])]
        missing_lines += player.check_lines(chair.lines)
        missing_bytes += player.check_story(bytes(chair.told))
        lines += len(player.typed)
    return lines, missing_lines, missing_bytes


def say(ordeal, crowd, found, seconds):
    lines, missing_lines, missing_bytes = found
    doubted = sum(len(player.doubted) for player in crowd.players)
    outages = sorted(ordeal.outages) or [0]
    print(
        f"\n{PLAYERS} players, seed {SEED}, {seconds:.0f} s: {dict(ordeal.done)}, no leg closed;"
        f" {sum(p.resumes for p in crowd.players)} resumes, {lines} lines typed, none doubled,"
        f" {missing_lines} missing of {doubted} in doubt; gaps {dict(crowd.gaps)}, {missing_bytes} bytes missing"
        f" in them; {crowd.busy} told to come later, {crowd.broken} connections broken;"
        f" from the kill or signal to ready {outages[len(outages) // 2]:.2f} s, at most {outages[-1]:.2f} s"
    )
