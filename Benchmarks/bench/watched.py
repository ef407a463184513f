"""Row w: rows a, b and d once more, while somebody scrapes the gate ten times a second and has its console open."""

import contextlib
import json
import pathlib
import subprocess
import sys

from contestants import Portcullis, free_port
from machine import Broken
from memory import settled
from programs import Program
from traffic import LATENCY_MEASURES, echo, latencies, opened, right_of_way, undisturbed


class Observed(Portcullis):
    """A gate with an admin listener."""

    name = "watched"
    # For `/readyz`, while nobody plays.
    asks_after_game = True

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.admin_port = free_port()

    def environment(self):
        return {**super().environment(), "ADMIN_LISTEN": f"127.0.0.1:{self.admin_port}"}

    def token(self):
        """Of somebody who may read."""
        command = [self.setup.portcullis, "admin", "token", "--name", "bench", "--expires", "1d", "--scopes", "read"]
        done = subprocess.run(command, cwd=self.folder, env=self.environment(), capture_output=True, text=True)
        if done.returncode != 0:
            raise Broken(f"no token: {done.stderr}")
        return done.stdout.split()[-1]


class Observer(Program):
    """`observer.py` as a child, on the load's core."""

    def __init__(self, contestant):
        script = pathlib.Path(__file__).with_name("observer.py")
        super().__init__([sys.executable, script, contestant.admin_port, contestant.token()])
        self.seen = []

    @contextlib.contextmanager
    def looking(self):
        self.say("begin")
        yield
        seen = self.ask("end")
        # A second in which it did not get to look says nothing.
        if seen["scrapes"] < 0.8 * seen["due"] or not seen["asked"]:
            raise Broken(f"it was not looked at as often as it is said: {json.dumps(seen)}")
        self.seen.append(seen)


def turns(observer, count):
    """In turn what is measured while nobody looks, and while somebody does, so that what drifts, drifts for both."""
    for _ in range(count):
        yield "quiet", contextlib.nullcontext()
        yield "watched", observer.looking()


def watched_row(setup, samples, rounds):
    for _ in range(min(rounds, 2)):
        weigh(setup, samples)
    for _ in range(rounds):
        send(setup, samples)
        delay(setup, samples)


def weigh(setup, samples):
    """Memory of a session, of a gate as shipped and of one that is looked at."""
    sessions = setup.lengths.idle_sessions
    for kind in (Portcullis, Observed):
        with setup.running(kind) as (contestant, game), contextlib.ExitStack() as stack:
            before = settled(contestant)
            stack.enter_context(opened(setup, contestant, game, sessions))
            details = {"sessions": sessions, "before": before}
            if kind is Observed:
                observer = stack.enter_context(Observer(contestant))
                with observer.looking():
                    details["after"] = settled(contestant)
                details["seen"] = observer.seen[-1]
            else:
                details["after"] = settled(contestant)
            kept = (details["after"] - before) / sessions / 1024
            samples.add("w memory", "watched" if kind is Observed else "quiet", kept, details)


def send(setup, samples):
    """50 sessions, at a fixed rate and in a closed loop."""
    lengths = setup.lengths
    with setup.running(Observed) as (contestant, game), contextlib.ExitStack() as stack:
        load = stack.enter_context(opened(setup, contestant, game, 50))
        observer = stack.enter_context(Observer(contestant))
        echo(contestant, game, load, lengths.warm_up, 0)
        seconds = lengths.seconds / lengths.echo_turns
        for name, looking in turns(observer, lengths.echo_turns):
            with looking:
                fixed = undisturbed(setup, lambda: echo(contestant, game, load, seconds, lengths.echo_rate))
                closed = echo(contestant, game, load, seconds, 0)
            seen = {"seen": observer.seen[-1]} if name == "watched" else {}
            samples.add("w fixed", name, fixed["cpu_us"], {**fixed, **seen})
            samples.add("w closed", name, closed["cpu_us"], closed)


def delay(setup, samples):
    """500 sessions, 5,000 messages a second in all."""
    lengths = setup.lengths
    with setup.running(Observed) as (contestant, game), contextlib.ExitStack() as stack:
        load = stack.enter_context(opened(setup, contestant, game, lengths.latency_sessions))
        observer = stack.enter_context(Observer(contestant))
        with right_of_way(load, game):
            for name, looking in turns(observer, LATENCY_MEASURES):
                with looking:
                    result = latencies(lengths, contestant, game, load, 1)[0]
                seen = {"seen": observer.seen[-1]} if name == "watched" else {}
                for percentile in ("p50", "p99"):
                    samples.add(f"w {percentile}", name, result[f"{percentile}_us"], {**result, **seen})
