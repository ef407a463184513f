"""The flood's own programs in C: built by gcc, started on a core of their choice, looked at through /proc."""

import json
import os
import pathlib
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
FLAGS = ["-O2", "-Wall", "-Wextra", "-Werror", "-D_GNU_SOURCE"]
LIBRARIES = ["-lssl", "-lcrypto", "-lz"]


def build(folder):
    """Builds everything into `folder`."""
    for name in ("game", "players", "flood"):
        sources = [HERE / f"{name}.c", HERE / "peer.c"]
        subprocess.run(["gcc", *FLAGS, "-o", folder / name, *sources, *LIBRARIES], check=True)
    shim = ["-shared", "-fPIC", "-o", folder / "source.so", HERE / "source.c", "-ldl"]
    subprocess.run(["gcc", *FLAGS, *shim], check=True)


def on_core(core, at_once=False):
    """What a child does before it becomes the program: takes its core, and the right of way where it may."""

    def prepare():
        if core is not None:
            os.sched_setaffinity(0, {core})
        if at_once:
            try:
                os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
            except PermissionError:
                pass

    return prepare


class Program:
    """A child with pipes at both ends; ended by closing its input, or by its pid."""

    def __init__(self, *command, core=None, at_once=False, **options):
        self.process = subprocess.Popen(
            list(map(str, command)),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            preexec_fn=on_core(core, at_once),
            **options,
        )

    def line(self):
        """Its next line of output; an error when it ended instead."""
        text = self.process.stdout.readline()
        if not text:
            raise RuntimeError(f"{self.process.args[0]} ended with {self.process.wait()}")
        return text.strip()

    def go(self):
        self.process.stdin.write("go\n")
        self.process.stdin.flush()

    def finish(self):
        """Closes its input; its last line as JSON."""
        self.process.stdin.close()
        text = self.process.stdout.read()
        if self.process.wait(90):
            raise RuntimeError(f"{self.process.args[0]} ended with {self.process.returncode}")
        return json.loads(text.splitlines()[-1]) if text.strip() else {}

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            stream.close()


def busy_seconds(core):
    """What all processes together have used of a core; without interrupts, which belong to nobody."""
    for line in pathlib.Path("/proc/stat").read_text().splitlines():
        name, *ticks = line.split()
        if name == f"cpu{core}":
            return sum(map(int, ticks[:3])) / os.sysconf("SC_CLK_TCK")
    raise RuntimeError(f"there is no core {core}")


def cpu_seconds(process):
    """What a process has used of its core, in user mode and in the kernel."""
    fields = pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
