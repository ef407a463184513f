"""Rows b, c and d: what a message and a megabyte cost, and how much later a message comes."""

import contextlib
import os
import statistics
import time

import machine
from contestants import Portcullis, RelayFloor
from machine import LOAD_CORE, Broken
from programs import Game, Load

PAYLOAD = 64


class Watched:
    """What the server, the game and the load's core did between two moments."""

    def __init__(self, contestant, game):
        self.contestant, self.game = contestant, game
        self.processor = contestant.processor_ns() if contestant else 0
        self.counts = game.counts()
        self.core = machine.core_busy(LOAD_CORE)
        self.started = time.monotonic()

    def end(self):
        processor = self.contestant.processor_ns() if self.contestant else 0
        self.processor_ns = processor - self.processor
        counts = self.game.counts()
        self.delta = {name: counts[name] - self.counts[name] for name in counts}
        self.game_share = self.delta["processor_ns"] / 1e9 / (time.monotonic() - self.started)
        busy, total = machine.core_busy(LOAD_CORE)
        ticks = total - self.core[1]
        self.core_share = (busy - self.core[0]) / ticks if ticks else 0
        return self


def echo(contestant, game, load, seconds, rate, content="echo"):
    """One run of 64-byte echoes, with both sides' counts compared."""
    watched = Watched(contestant, game)
    result = load.ask(f"{content} {seconds} {rate}")
    watched.end()
    counts = {
        "sent by the load": result["sent"] * PAYLOAD,
        "received by the game": watched.delta["received"],
        "sent by the game": watched.delta["sent"],
        "received by the load": result["bytes"],
    }
    if len(set(counts.values())) != 1 or result["sent"] == 0:
        raise Broken(f"{contestant.name if contestant else 'direct'}: bytes that disagree: {counts}")
    result["cpu_us"] = watched.processor_ns / 1000 / result["sent"]
    result["load_core_share"] = watched.core_share
    result["game_share"] = watched.game_share
    result["rate"] = result["sent"] / result["seconds"]
    return result


def undisturbed(setup, run):
    """A run at a fixed rate in which the load itself was on time. One that was not, as something else had its
    core, is taken again, at most twice: its messages went out in clusters, which cost less and come later.
    Whoever is measured has no part in that, as the load waits for nobody."""
    for _ in range(setup.lengths.attempts):
        result = run()
        if result["late_share"] < 0.01:
            break
    result["disturbed"] = result["late_share"] >= 0.01
    return result


@contextlib.contextmanager
def right_of_way(*programs):
    """Where it is allowed, load and game run before all else on their core (`SCHED_FIFO`): of milliseconds that
    something else takes there, a kernel's thread for instance, one in a hundred would be the p99 of everybody."""
    with contextlib.suppress(PermissionError):
        for program in programs:
            os.sched_setscheduler(program.process.pid, os.SCHED_FIFO, os.sched_param(1))
    try:
        yield
    finally:
        for program in programs:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.sched_setscheduler(program.process.pid, os.SCHED_OTHER, os.sched_param(0))


def opened(setup, contestant, game, sessions, protocol=None, content="echo", first=0):
    """A load generator with open sessions, each of which has its connection to the game."""
    load = Load(setup.programs, protocol or contestant.protocol, contestant.port, contestant.keys, first=first)
    before = game.counts()["accepted"]
    load.ask(f"open {sessions} 32")
    # A session in TLS alone is open before its second leg is: one message each proves both.
    seconds = max(0.1, sessions / 5000)
    if content == "events":
        load.ask("agree")
    echo(contestant, game, load, seconds, sessions / seconds, content)
    connections = game.counts()["accepted"] - before
    if connections < sessions or connections > sessions and not contestant.asks_after_game:
        raise Broken(f"{contestant.name}: {sessions} sessions, but not as many connections to the game")
    return load


def echo_row(setup, samples, rounds):
    """Row b: 50 sessions, at a fixed rate and in a closed loop. Some contestants are a few in a hundred apart, less than a
    machine changes within a minute: short measures, and each contestant's turn comes often."""
    lengths = setup.lengths
    for _ in range(rounds * lengths.echo_turns):
        for kind in (RelayFloor, *setup.peers, Portcullis):
            with setup.running(kind) as (contestant, game), opened(setup, contestant, game, 50) as load:
                echo(contestant, game, load, lengths.warm_up, 0)
                seconds = lengths.seconds / lengths.echo_turns
                fixed = undisturbed(setup, lambda: echo(contestant, game, load, seconds, lengths.echo_rate))
                samples.add("b fixed", kind.name, fixed["cpu_us"], fixed)
                closed = echo(contestant, game, load, seconds, 0)
                samples.add("b closed", kind.name, closed["cpu_us"], closed)


def bulk_row(setup, samples, rounds):
    """Row c: the game sends, in messages of 16 KiB, on four sessions."""
    sessions = 4
    each = setup.lengths.bulk_bytes // sessions
    for _ in range(rounds):
        for kind in (RelayFloor, *setup.peers, Portcullis):
            with setup.running(kind, "bulk") as (contestant, game):
                with Load(setup.programs, contestant.protocol, contestant.port, contestant.keys) as load:
                    load.ask(f"open {sessions} 4")
                    load.ask("bulk 1048576")
                    watched = Watched(contestant, game)
                    result = load.ask(f"bulk {each}")
                    watched.end()
                    if not result["bytes"] == watched.delta["sent"] == each * sessions:
                        raise Broken(f"{kind.name}: {result['bytes']} of {each * sessions} bytes came")
                    megabytes = result["bytes"] / 1e6
                    result["megabytes_per_second"] = megabytes / result["seconds"]
                    result["load_core_share"] = watched.core_share
                    samples.add("c", kind.name, watched.processor_ns / 1000 / megabytes, result)


def latencies(lengths, contestant, game, load, count):
    """Short measures one after the other, each with percentiles of its own: what else runs on the machine for a few
    milliseconds is not in most of them."""
    echo(contestant, game, load, lengths.warm_up, lengths.latency_rate)
    return [
        echo(contestant, game, load, lengths.latency_seconds, lengths.latency_rate) for _ in range(count)
    ]


# Of rows i, p and v, quiet and busy, in each of their rounds.
TURNS = 7
# Of each turn.
SLICES = 5


def beside(lengths, contestant, game, players, others):
    """The players' measures with `others` at work and with them paused, in turn, so that what drifts, drifts for both.

    Gives those alone, those beside, and for how many seconds the others must have had work."""
    started = time.monotonic()
    quiet, busy = [], []
    for _ in range(TURNS):
        busy += slices(lengths, contestant, game, players)
        seconds = time.monotonic() - started
        with others.paused():
            quiet += slices(lengths, contestant, game, players)
    return quiet, busy, seconds


def slices(lengths, contestant, game, players):
    """So short that most of them are whole, where a host takes its processors away for some tens of milliseconds in each
    second."""
    echo(contestant, game, players, lengths.warm_up / 2, lengths.latency_rate)
    return [echo(contestant, game, players, lengths.slice_seconds, lengths.latency_rate) for _ in range(SLICES)]


# Of row d, for each contestant in each round.
LATENCY_MEASURES = 5


def latency_row(setup, samples, rounds):
    """Row d: 500 sessions; the way without any gate is measured too, and taken off."""
    lengths = setup.lengths
    for _ in range(rounds):
        direct = direct_latencies(setup)
        for result in direct:
            samples.add("d direct p50", "direct", result["p50_us"], result)
            samples.add("d direct p99", "direct", result["p99_us"], result)
        kinds = [peer for peer in setup.peers if peer.sessions >= lengths.latency_sessions]
        for kind in (RelayFloor, *kinds, Portcullis):
            with setup.running(kind) as (contestant, game):
                with (
                    opened(setup, contestant, game, lengths.latency_sessions) as load,
                    right_of_way(load, game),
                ):
                    results = latencies(lengths, contestant, game, load, LATENCY_MEASURES)
            for percentile in ("p50", "p99"):
                without = statistics.median(result[f"{percentile}_us"] for result in direct)
                for result in results:
                    added = result[f"{percentile}_us"] - without
                    samples.add(f"d {percentile}", kind.name, added, result)


def direct_latencies(setup):
    with Game(setup.programs) as game, Load(setup.programs, "plain", game.ports["echo"]) as load:
        load.ask(f"open {setup.lengths.latency_sessions} 64")
        with right_of_way(load, game):
            return latencies(setup.lengths, None, game, load, LATENCY_MEASURES)
