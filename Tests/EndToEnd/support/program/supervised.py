"""A gate below `portcullis supervise`, as whoever is not root, with a program that can be replaced."""

import contextlib
import os
import pathlib
import shutil
import subprocess

from gate import BINARY, process_environment
from serving_user import NOBODY, give
from waiting import LONG, eventually

IS_ROOT = os.geteuid() == 0


class Supervised:
    """`gate` is one of the suite's that has not been started: its process becomes the supervisor."""

    def __init__(self, gate, place):
        self.gate, self.place = gate, place
        self.program = place / "portcullis"
        shutil.copyfile(BINARY, self.program)
        self.program.chmod(0o755)

    def launch(self, *options, command=("serve",), prefix=(), **changes):
        """Without waiting for anything."""
        with open(self.gate.log_path, "ab") as log:
            self.gate.process = subprocess.Popen(
                [*prefix, str(self.program), "supervise", *options, "--", *command],
                cwd=self.place,
                env=process_environment(self.gate.environment),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                **(as_nobody() if IS_ROOT else {}),
                **changes,
            )
        return self

    def start(self, *options, **changes):
        """Returns when the gate says that it listens."""
        self.launch(*options, **changes)
        self.served(1)
        return self

    def served(self, count, within=60):
        """Until so many gates have said that they listen."""

        def has_come():
            assert self.gate.running, f"ended with {self.gate.process.returncode}:\n{self.gate.log_tail()}"
            return self.listens() >= count

        eventually(has_come, f"gate number {count} listens", within)

    def listens(self):
        return sum(event.get("event") == "listening" for event in self.gate.events())

    @property
    def child(self):
        """The gate's number; None while there is none."""
        pid = self.gate.process.pid
        with contextlib.suppress(OSError):
            children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
            return int(children[0]) if children else None

    def another(self, than, within=LONG):
        """The number of the next gate, behind that one."""
        eventually(lambda: self.child not in (None, than), "another gate", within)
        return self.child

    def notify_socket(self):
        """Where the supervisor hears, as the gate was told."""
        variables = pathlib.Path(f"/proc/{self.child}/environ").read_bytes().split(b"\0")
        name = next(each for each in variables if each.startswith(b"NOTIFY_SOCKET="))
        return name.partition(b"=")[2].replace(b"@", b"\0", 1)

    def kept(self):
        """How many descriptors the supervisor has for its gates: those with high numbers."""
        numbers = os.listdir(f"/proc/{self.gate.process.pid}/fd")
        return sum(int(number) >= 16 for number in numbers)

    def kept_by_itself(self):
        """The same once it has all that a gate gives it without players: a listener for each loop, slots and luggage."""

        def is_all():
            with contextlib.suppress(OSError):  # threads that have ended meanwhile
                tasks = pathlib.Path(f"/proc/{self.child}/task").glob("*/comm")
                loops = sum(name.read_text().startswith("loop-") for name in tasks)
                return loops > 0 and self.kept() == loops + 2

        eventually(is_all, "what the gate gives at its start")
        return self.kept()

    # ---- the program

    def take_away(self):
        self.program.rename(self.program.with_suffix(".away"))

    def put_back(self):
        self.program.with_suffix(".away").rename(self.program)

    def replace(self, script, interpreter="/bin/sh"):
        """By a script in which the variable `REAL` is the program itself. As a package manager does, by a rename."""
        real = self.program.with_suffix(".real")
        if not real.exists():
            os.link(self.program, real)
        new = self.program.with_suffix(".new")
        new.write_text(f"#!{interpreter}\nREAL='{real}'\n{script}\n")
        new.chmod(0o755)
        new.rename(self.program)


def as_nobody():
    """What has subprocess start a program as him."""
    return {"user": NOBODY.pw_uid, "group": NOBODY.pw_gid, "extra_groups": []}


def make_store(place):
    """The folder of the settings of `serving_user`."""
    (place / "store").mkdir(mode=0o700)
    if IS_ROOT:
        give(place / "store")
