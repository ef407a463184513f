"""The bench's own programs as child processes: the load generator and the game."""

import contextlib
import json
import os
import signal
import subprocess

from machine import GATE_CORE, LOAD_CORE, Broken


def pinned(cores, behind=False):
    """What a child does before it becomes the program: takes its cores, `behind` all others that want them."""

    def prepare():
        os.sched_setaffinity(0, cores)
        if behind:
            os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))

    return prepare


class Program:
    """A child that is told things on its standard input, and answers each with one JSON line."""

    def __init__(self, arguments, cores=(LOAD_CORE,), behind=False):
        self.name = os.path.basename(arguments[0])
        self.process = subprocess.Popen(
            [str(argument) for argument in arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            preexec_fn=pinned(cores, behind),
        )

    def say(self, line):
        try:
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            raise Broken(f"{self.name} has ended with {self.process.wait()}") from None

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            raise Broken(f"{self.name} has ended with {self.process.wait()}")
        return json.loads(line)

    def ask(self, line):
        self.say(line)
        return self.answer()

    @contextlib.contextmanager
    def paused(self):
        """It stands still."""
        self.process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self.process.send_signal(signal.SIGCONT)

    def stop(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


class Game(Program):
    """The game server; `ports` by what it does there."""

    def __init__(self, programs):
        super().__init__([programs / "game"])
        self.ports = self.answer()

    def counts(self):
        return self.ask("")


class Load(Program):
    """The load generator, speaking one protocol to one port, with its keys from number `first` on."""

    def __init__(self, programs, protocol, port, keys=None, behind=False, first=0):
        super().__init__([programs / "load", protocol, port, *([keys, first] if keys else [])], behind=behind)


GATE_CORES = (GATE_CORE,)
