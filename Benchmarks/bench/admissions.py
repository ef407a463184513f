"""Rows e, i and k: what an admission costs, registrations beside honest sessions, and how it scales."""

import json
import subprocess

from contestants import APP_ID, AdmissionFloor, Portcullis
from machine import CORES, Broken
from programs import Load
from traffic import Watched, beside, echo, opened, right_of_way, undisturbed

AT_ONCE = 16
# Of rows that take half a minute each time.
LONG_ROUNDS = 2


def fetched_challenges(setup, contestant, game, count, behind=False):
    """A load generator that holds challenges, and what each cost the gate."""
    load = Load(setup.programs, "admitted", contestant.port, contestant.keys, behind)
    return load, *fetch_challenges(contestant, game, load, count)


def fetch_challenges(contestant, game, load, count, command="challenges"):
    """Challenges for `load`: what each cost the gate, in µs."""
    watched = Watched(contestant, game)
    result = load.ask(f"{command} {count} {AT_ONCE}")
    watched.end()
    if result["done"] != count:
        raise Broken(f"{result['done']} of {count} challenges")
    return watched.processor_ns / 1000 / count, result


def admit(contestant, game, load, count, command="admissions", calls=None):
    """Admits `count` sessions, one after the other ends, with 16 under way; the cost of each, in µs. The game is called
    once for each, or so often as `calls` says."""
    load.ask(f"{command} {AT_ONCE}")
    watched = Watched(contestant, game)
    result = load.ask("")
    watched.end()
    called = watched.delta["accepted"]
    if result["done"] != count or called != (count if calls is None else calls):
        raise Broken(f"{result['done']} {command}, and the game was called {called} times")
    result["load_core_share"] = watched.core_share
    return watched.processor_ns / 1000 / count, result


def check_counters(contestant, expected):
    """After a clean stop: each admission has raised a counter, durably."""
    contestant.stop()
    records = json.loads(contestant.store.read_text())
    # Beside the keys stands what concerns all of them.
    raised = sum(record["signCount"] for record in records.values() if isinstance(record, dict))
    if raised != expected:
        raise Broken(f"{expected} admissions have raised counters by {raised}")


def portcullis_admissions(setup, samples, row, kind=Portcullis, **options):
    count = setup.lengths.admissions
    with setup.running(kind, **options) as (contestant, game):
        load, challenge, result = fetched_challenges(setup, contestant, game, count)
        with load:
            cost, details = admit(contestant, game, load, count)
        check_counters(contestant, count)
    samples.add(row, kind.name, cost, details)
    return challenge, result


def admission_row(setup, samples, rounds):
    """Row e, with the floor's calls in between."""
    for _ in range(rounds):
        for kind in setup.gates:
            challenge, details = portcullis_admissions(setup, samples, "e", kind)
            samples.add("e challenge", kind.name, challenge, details)
        count = setup.lengths.admissions
        with setup.running(AdmissionFloor) as (contestant, game):
            # The floor knows no challenges; these are made up, and signed all the same.
            with Load(setup.programs, "admitted", contestant.port, setup.folder) as load:
                load.ask(f"invented {count}")
                cost, details = admit(contestant, game, load, count)
                samples.add("e", AdmissionFloor.name, cost, details)


def registration_row(setup, samples, rounds):
    """Row i: 500 sessions at 5,000 messages a second, in turn beside registrations and alone."""
    for _ in range(min(rounds, LONG_ROUNDS)):
        for kind in setup.gates:
            beside_registrations(setup, samples, kind)


def beside_registrations(setup, samples, kind):
    lengths = setup.lengths
    with setup.running(kind) as (contestant, game):
        with opened(setup, contestant, game, lengths.latency_sessions) as load:
            # It shares a core with the honest players' load, which must not wait for it.
            poster, _, _ = fetched_challenges(setup, contestant, game, lengths.registrations, behind=True)
            with poster, right_of_way(load, game):
                make_bodies(setup, poster)
                poster.say(f"posts {setup.folder}/bodies {AT_ONCE}")
                quiet, busy, seconds = beside(lengths, contestant, game, load, poster)
                posted = registered(setup, poster, seconds)
        for result in quiet:
            samples.add("i quiet", kind.name, result["p99_us"], result)
        for result in busy:
            samples.add("i busy", kind.name, result["p99_us"], {**result, "registrations": posted})


def make_bodies(setup, poster):
    nonces, bodies = setup.folder / "nonces", setup.folder / "bodies"
    poster.ask(f"nonces {nonces}")
    command = [setup.tool, "bodies", setup.folder / "authority", APP_ID, nonces, bodies]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise Broken(f"registrations could not be made: {done.stdout}")


def registered(setup, poster, seconds, row="i", count=None):
    """What became of the registrations: the rest is waited for, and each must have been accepted. For so many seconds
    there must have been some."""
    count = count or setup.lengths.registrations
    result = poster.answer()
    if result["done"] != count:
        raise Broken(f"{result['done']} of {count} registrations")
    if result["seconds"] < seconds:
        print(f"row {row}: the registrations ended before the measure did")
    return result


def scaling_row(setup, samples, rounds):
    """Row k: many sessions against few, and two workers against one, these with both cores for both."""
    many = min(setup.lengths.many_sessions, (setup.descriptors - 256) // 2 - 100)
    for _ in range(min(rounds, LONG_ROUNDS)):
        for name, sessions in (("k few", 100), ("k many", many)):
            for kind in setup.gates:
                messages_over(setup, samples, name, kind, sessions)
        for name, workers in (("k one", 1), ("k two", 2)):
            for kind in setup.gates:
                portcullis_admissions(setup, samples, name, kind, cores=tuple(CORES), WORKERS=str(workers))


def messages_over(setup, samples, row, kind, sessions):
    lengths = setup.lengths
    rate = lengths.echo_rate // 2
    # Where no session can be detached, no descriptors are kept for it.
    with setup.running(kind, SESSION_RESUME_FOR="0") as (contestant, game):
        with opened(setup, contestant, game, sessions) as load:
            echo(contestant, game, load, lengths.warm_up, rate)
            result = undisturbed(setup, lambda: echo(contestant, game, load, lengths.seconds, rate))
            samples.add(row, kind.name, result["cpu_us"], {"sessions": sessions, **result})

