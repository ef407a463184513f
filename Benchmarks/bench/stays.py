"""Rows m, n and o: portcullis.v1 beside raw sessions of the same process: messages, memory, coming back."""

import contextlib

from admissions import AT_ONCE, admit, check_counters, fetch_challenges
from contestants import Portcullis
from machine import CORES, Broken
from memory import settled
from programs import Load
from traffic import Watched, echo, opened, undisturbed

# The load is to be the bound, not the rate at which people type.
INPUT_RATE = "1000000/s"
# Protocol of the load, and what goes through its sessions.
MESSAGES = {
    "raw": ("admitted", "lines"),
    "text": ("resumable", "lines"),
    "event": ("resumable", "events"),
}
SESSIONS = 50
# So many apps are on their way back at once.
HERD = 1000
# All of them come from few addresses here, and a fast machine brings more of them in a second than an address may have.
HERD_RATE = "1000000/s"


def most_detached(setup, wanted):
    """A quarter of the descriptors at most are for sessions without a connection."""
    return min(wanted, (setup.descriptors - 256) // 4)


def message_row(setup, samples, rounds):
    """Row m: row b's load, each kind in turn through one process; other sessions are idle meanwhile."""
    lengths = setup.lengths
    seconds = lengths.seconds / lengths.message_turns
    for _ in range(rounds):
        with setup.running(Portcullis, INPUT_RATE=INPUT_RATE) as (contestant, game), contextlib.ExitStack() as stack:
            loads = {
                # Each has devices of its own.
                name: stack.enter_context(opened(setup, contestant, game, SESSIONS, *spoken, first=index * SESSIONS))
                for index, (name, spoken) in enumerate(MESSAGES.items())
            }
            for turn in range(lengths.message_turns + 1):
                for name, (_, content) in MESSAGES.items():
                    load = loads[name]
                    if turn == 0:
                        echo(contestant, game, load, lengths.warm_up, 0, content)
                        continue
                    fixed = undisturbed(
                        setup, lambda: echo(contestant, game, load, seconds, lengths.echo_rate, content)
                    )
                    samples.add("m fixed", name, fixed["cpu_us"], fixed)
                    closed = echo(contestant, game, load, seconds, 0, content)
                    samples.add("m closed", name, closed["cpu_us"], closed)


def memory_row(setup, samples, rounds):
    """Row n: what an idle session keeps, raw, in portcullis.v1, and when nobody is attached to it. All is
    acknowledged, so that no message is kept."""
    for _ in range(min(rounds, 2)):
        for name in ("raw", "text"):
            sessions = setup.lengths.idle_sessions
            with setup.running(Portcullis) as (contestant, game):
                before = settled(contestant)
                protocol, content = MESSAGES[name]
                with opened(setup, contestant, game, sessions, protocol, content) as load:
                    load.ask("acknowledge")
                    kept = (settled(contestant) - before) / sessions
                    if game.counts()["open"] < sessions:
                        raise Broken("sessions have ended")
                    samples.add("n", "raw" if name == "raw" else "attached", kept / 1024, {"sessions": sessions})
        with setup.running(Portcullis) as (contestant, game):
            # What the first connections need in all is not the later stays'.
            with Load(setup.programs, "resumable", contestant.port, contestant.keys) as load:
                stays = most_detached(setup, setup.lengths.idle_sessions)
                load.ask(f"detach {stays // 10} {AT_ONCE}")
                before = settled(contestant)
                load.ask(f"detach {stays} {AT_ONCE}")
                kept = (settled(contestant) - before) / (stays - stays // 10)
                if game.counts()["open"] != stays:
                    raise Broken("stays have ended")
                samples.add("n", "detached", kept / 1024, {"stays": stays})


def resume_row(setup, samples, rounds):
    """Row o: raw admissions and resumes of one process in turn, and all apps on their way back at once."""
    for _ in range(rounds):
        with setup.running(Portcullis, HANDSHAKE_RATE=HERD_RATE) as (contestant, game):
            measure_resumes(setup, samples, contestant, game)
        with setup.running(Portcullis, cores=tuple(CORES), WORKERS="2", HANDSHAKE_RATE=HERD_RATE) as (contestant, game):
            measure_herd(setup, samples, contestant, game)


def measure_resumes(setup, samples, contestant, game):
    count = most_detached(setup, setup.lengths.stays)
    raised = 0
    with Load(setup.programs, "resumable", contestant.port, contestant.keys) as load:

        def measure(name, protocol, command, calls, asks="challenges"):
            nonlocal raised
            load.ask(f"speak {protocol}")
            asked = 0
            if asks:
                asked, _ = fetch_challenges(contestant, game, load, count, asks)
            cost, details = admit(contestant, game, load, count, command, calls)
            # A phone that comes back makes a connection for its challenge: what that costs is a part of its way.
            samples.add("o", name, cost + (asked if asks == "visits" else 0), details)
            raised += count

        measure("admission", "resumable", "admissions", count)
        load.ask(f"detach {count} {AT_ONCE}")
        raised += count
        for _ in range(setup.lengths.resume_turns):
            measure("raw", "admitted", "admissions", count)
            measure("resume", "resumable", "resumes", 0)
            measure("by challenge", "resumable", "resumes", 0, "visits")
            measure("by its nonce", "resumable", f"returns {count}", 0, None)
    check_counters(contestant, raised)


def measure_herd(setup, samples, contestant, game):
    count = most_detached(setup, setup.lengths.returning)
    with Load(setup.programs, "resumable", contestant.port, contestant.keys) as load:
        load.ask(f"detach {count} {AT_ONCE}")
        watched = Watched(contestant, game)
        result = load.ask(f"open {count} {min(count, HERD)}")
        watched.end()
        if watched.delta["accepted"] > 0 or game.counts()["open"] != count:
            raise Broken(f"of {count} stays some were not resumed")
        result["cpu_us"] = watched.processor_ns / 1000 / count
        samples.add("o back", Portcullis.name, result["seconds"] * 10_000 / count, result)
