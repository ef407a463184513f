"""Row r: what it costs to keep sessions over the gate's processes, and how soon all is well again behind a restart."""

import contextlib
import pathlib
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time

from contestants import Portcullis
from machine import CORES, Broken
from stays import HERD, HERD_RATE, INPUT_RATE, SESSIONS, most_detached
from traffic import echo, opened, undisturbed

# The tests have a store for descriptors.
SUPPORT = pathlib.Path(__file__).resolve().parents[2] / "Tests" / "EndToEnd" / "support"
sys.path.append(str(SUPPORT / "program"))
from descriptor_store import DescriptorStore  # noqa: E402

PATIENCE = 20


class Kept(Portcullis):
    """The same, started by a service manager that keeps its descriptors."""

    def __init__(self, setup, folder, game_port, **options):
        super().__init__(setup, folder, game_port, **options)
        self.manager = DescriptorStore(folder, limit=16_384)
        self.manager.gate = self

    def command(self):
        return [*self.manager.prefix, *super().command()]

    def environment(self):
        return {**super().environment(), **self.manager.environment}

    def wait_until_listening(self):
        """A listener that is kept takes connects before anybody serves."""
        wait(lambda: self.manager.ready_at() or self.process.poll() is not None, "ready")
        super().wait_until_listening()

    def wait_for_legs(self, count):
        wait(lambda: self.manager.legs() == count, f"{count} legs in the store")

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            status = self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            raise Broken(f"the gate has not ended after {PATIENCE} s") from None
        if status:
            raise Broken(f"the gate ended with {status}")

    def stop(self):
        super().stop()
        self.manager.finish()
        if self.manager.faults:
            raise Broken(f"{self.manager.faults}")


def wait(condition, what):
    deadline = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > deadline:
            raise Broken(f"not within {PATIENCE} s: {what}")
        time.sleep(0.001)


def keeping_row(setup, samples, rounds):
    for number in range(rounds):
        measure_messages(setup, samples, kept_come_first=number % 2 == 0)
    for _ in range(rounds):
        measure_restart(setup, samples)


def measure_messages(setup, samples, kept_come_first):
    """Row m's text through one process in turn: over sessions that have a slot, and over as many that do not."""
    lengths = setup.lengths
    seconds = lengths.seconds / lengths.message_turns
    # Who is cut off is not waited for: a slot of theirs is for somebody else.
    options = {"INPUT_RATE": INPUT_RATE, "HOT_RESTART_MAX_SESSIONS": str(SESSIONS), "SESSION_RESUME_FOR": "1s"}
    with (
        setup.running(Kept, **options) as (contestant, game),
        contextlib.ExitStack() as stack,
    ):

        def fifty(first):
            return opened(setup, contestant, game, SESSIONS, "resumable", "lines", first=first)

        first = fifty(0)
        contestant.wait_for_legs(SESSIONS)
        loads = {"kept": first, "alone": stack.enter_context(fifty(SESSIONS))}
        if not kept_come_first:
            # As those that came first are gone, there is room for others.
            first.ask("close")
            first.stop()
            contestant.wait_for_legs(0)
            loads["kept"] = fifty(2 * SESSIONS)
        stack.enter_context(loads["kept"])
        contestant.wait_for_legs(SESSIONS)
        for turn in range(lengths.message_turns + 1):
            for name, load in loads.items():
                if turn == 0:
                    echo(contestant, game, load, lengths.warm_up, 0, "lines")
                    continue
                fixed = undisturbed(setup, lambda: echo(contestant, game, load, seconds, lengths.echo_rate, "lines"))
                samples.add("r fixed", name, fixed["cpu_us"], fixed)
                closed = echo(contestant, game, load, seconds, 0, "lines")
                samples.add("r closed", name, closed["cpu_us"], closed)


class Visitor(threading.Thread):
    """Asks for /healthz again and again, each time over a connection of its own."""

    def __init__(self, contestant):
        super().__init__(daemon=True)
        self.port, self.is_over = contestant.port, False
        self.answers, self.refusals = [], 0
        self.tls = ssl.create_default_context()
        self.tls.check_hostname, self.tls.verify_mode = False, ssl.CERT_NONE

    def run(self):
        while not self.is_over:
            try:
                with socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE) as plain:
                    with self.tls.wrap_socket(plain) as stream:
                        stream.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                        if stream.recv(100).startswith(b"HTTP/1.1 200"):
                            self.answers.append(time.monotonic())
            except ConnectionRefusedError:
                self.refusals += 1
            except OSError:
                pass  # a process that ended had it

    def end(self):
        self.is_over = True
        self.join(PATIENCE)


def measure_restart(setup, samples):
    """All sessions are attached; SIGTERM, the next process, and all apps are on their way back at once. What is measured
    begins with its exec."""
    count = most_detached(setup, setup.lengths.kept)
    options = {"cores": tuple(CORES), "WORKERS": "2", "HANDSHAKE_RATE": HERD_RATE}
    with setup.running(Kept, **options) as (contestant, game):
        with opened(setup, contestant, game, count, "resumable", "lines") as load:
            contestant.wait_for_legs(count)
            load.ask("acknowledge")
            called = game.counts()["accepted"]
            visitor = Visitor(contestant)
            visitor.start()
            wait(lambda: visitor.answers, "an answer")
            begun = time.monotonic()
            contestant.end()
            ended = time.monotonic()
            contestant.start()
            executed = contestant.manager.executed_at
            wait(lambda: visitor.answers[-1] > executed, "an answer of the next process")
            serving = next(moment for moment in visitor.answers if moment > executed)
            visitor.end()
            load.ask("cut")
            result = load.ask(f"open {count} {min(count, HERD)}")
            back = time.monotonic() - executed
            echo(contestant, game, load, 1, count, "lines")
            counts = game.counts()
            if counts["accepted"] != called or counts["open"] != count:
                raise Broken(f"of {count} sessions some did not stay")
            if visitor.refusals:
                raise Broken(f"{visitor.refusals} connects were refused")
            details = {"sessions": count, "ending": ended - begun, "ready": contestant.manager.ready_at() - executed}
            samples.add("r serving", Portcullis.name, serving - executed, details)
            samples.add("r outage", Portcullis.name, serving - begun, details)
            samples.add("r back", Portcullis.name, back, {**result, "sessions": count})
