"""The preloaded shim seen from a test: builds it, maps its control file, and says what shall go wrong."""

import errno
import mmap
import pathlib
import struct
import subprocess
import time

SOURCES = pathlib.Path(__file__).parent / "shim"
SIZE = 8192
# The offsets of `struct control` in shim/control.h.
FIELDS = {
    "realtime_offset": (0, "q"),
    "monotonic_offset": (8, "q"),
    "sync_hold": (16, "i"),
    "sync_error": (20, "i"),
    "nth": (24, "i"),
    "nth_error": (28, "i"),
    "sticky": (32, "i"),
    "torn": (36, "i"),
    "calls": (40, "i"),
    "syncs_waiting": (44, "i"),
    "syncs_done": (48, "i"),
    "failures": (52, "i"),
}
PATH_PART = 56
SURVIVORS = PATH_PART + 128
RESOURCES = SURVIVORS + 8 + 128 * 24
FIELDS |= {
    name: (RESOURCES + 4 * index, "i")
    for index, name in enumerate(
        [
            "thread_nth",
            "threads",
            "listen_hold",
            "listens_waiting",
            "resolve_hold",
            "resolve_error",
            "resolves",
            "resolves_waiting",
            "memory_nth",
            "memory_sticky",
            "memory_calls",
            "memory_least",
        ]
    )
}
RESOLVE_NAME = RESOURCES + 48
RESOLVE_ADDRESS = RESOLVE_NAME + 64
LEGS = RESOLVE_ADDRESS + 64
FIELDS |= {
    name: (LEGS + 4 * index, "i")
    for index, name in enumerate(
        ["leg_port", "leg_hold", "leg_nth", "leg_take", "leg_reads", "leg_writes", "legs_held"]
    )
}
# Aligned as the structure is.
CLOCKS = (LEGS + 7 * 4 + 7) // 8 * 8
FIELDS |= {"realtime_still": (CLOCKS, "q"), "monotonic_still": (CLOCKS + 8, "q")}
FIELDS |= {"space_hold": (CLOCKS + 16, "i"), "spaces_waiting": (CLOCKS + 20, "i")}
FIELDS |= {"listening_hold": (CLOCKS + 24, "i"), "listenings_waiting": (CLOCKS + 28, "i")}
# Where a call on the connection to the game is held (`enum leg_hold`).
BEFORE_READ, AFTER_READ, BEFORE_WRITE, AFTER_WRITE = 1, 2, 3, 4


def build(folder):
    """Compiles the shim into `folder`; its path."""
    library = pathlib.Path(folder) / "shim.so"
    command = ["gcc", "-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror", "-o", str(library)]
    command += ["-fno-builtin", f"-Wl,--version-script={SOURCES / 'versions.map'}"]
    sources = [str(path) for path in sorted(SOURCES.glob("*.c"))]
    subprocess.run([*command, *sources, "-ldl"], check=True, timeout=60)
    return library


class Faults:
    """One control file. Attributes named in `FIELDS` read and write through to the running program."""

    def __init__(self, library, path, path_part="attested-keys"):
        path = pathlib.Path(path)
        path.write_bytes(bytes(SIZE))
        with open(path, "r+b") as file:
            object.__setattr__(self, "_map", mmap.mmap(file.fileno(), SIZE))
        # Numbers go through these: one store each. `struct.pack_into` writes zeros first, and a clock that is read
        # just then goes back.
        object.__setattr__(self, "_numbers", {kind: memoryview(self._map).cast(kind) for kind in "iq"})
        object.__setattr__(self, "environment", {"LD_PRELOAD": str(library), "SHIM_CONTROL": str(path)})
        encoded = path_part.encode()
        self._map[PATH_PART : PATH_PART + len(encoded)] = encoded

    def __getattr__(self, name):
        if name not in FIELDS:
            raise AttributeError(name)
        offset, kind = FIELDS[name]
        return self._numbers[kind][offset // struct.calcsize(kind)]

    def __setattr__(self, name, value):
        offset, kind = FIELDS[name]
        self._numbers[kind][offset // struct.calcsize(kind)] = value

    def name_leads_to(self, name, address):
        """From now on `name` is resolved to `address` (or several, with commas), whatever the system's resolver says."""
        self._map[RESOLVE_ADDRESS : RESOLVE_ADDRESS + 64] = address.encode().ljust(64, b"\0")
        self._map[RESOLVE_NAME : RESOLVE_NAME + 64] = name.encode().ljust(64, b"\0")

    def jump(self, seconds):
        """Both clocks move forward by `seconds`."""
        self.monotonic_offset += int(seconds * 1e9)
        self.realtime_offset += int(seconds * 1e9)

    def stand_still(self):
        """From now on both clocks only move by `jump`: however long the test takes, nothing becomes late."""
        clocks = time.CLOCK_REALTIME, time.CLOCK_MONOTONIC
        moments = 0, 0
        # A moment that is to come when all is set, so that neither goes back.
        while any(moment < time.clock_gettime_ns(clock) for clock, moment in zip(clocks, moments)):
            moments = [time.clock_gettime_ns(clock) + 1_000_000 for clock in clocks]
            self.realtime_still, self.monotonic_still = moments

    def now(self):
        """The program's wall clock, in seconds."""
        return ((self.realtime_still or time.clock_gettime_ns(time.CLOCK_REALTIME)) + self.realtime_offset) / 1e9

    def fail_call(self, number, error, sticky=False, torn=False):
        """The `number`-th call from now on that concerns the store fails with `error`."""
        self.nth = 0
        self.calls = 0
        self.nth_error, self.sticky, self.torn = error, int(sticky), int(torn)
        self.nth = number

    def hold_leg(self, port, where, number=1):
        """The `number`-th call of its kind from now on, and all behind it, wait on connections to the game at `port`."""
        self.leg_hold = self.leg_reads = self.leg_writes = self.legs_held = 0
        self.leg_port, self.leg_nth = port, number
        self.leg_hold = where

    def let_legs_go(self):
        """Also those that a killed process held."""
        self.leg_hold = self.legs_held = 0

    def leg_takes(self, port, count):
        """The connections to the game at `port` take `count` more bytes; None for as many as come."""
        self.leg_take = 0 if count is None else count + 1
        self.leg_port = port

    def fail_syncs(self, error=errno.EIO):
        self.sync_error = error

    def cut_power(self, folder, pattern, chance):
        """What a power cut may leave of the files after a kill: the synced bytes, with a part of the rest or
        zeros for it, and no file whose directory was not synced since it was made."""
        (count,) = struct.unpack_from("=q", self._map, SURVIVORS)
        entries = [
            struct.unpack_from("=Qqq", self._map, SURVIVORS + 8 + 24 * index) for index in range(count)
        ]
        survivors = {inode: (size, named) for inode, size, named in entries}
        struct.pack_into("=q", self._map, SURVIVORS, 0)  # what is left is on the disk
        for path in sorted(pathlib.Path(folder).glob(pattern)):
            status = path.stat()
            size, named = survivors.get(status.st_ino, (status.st_size, True))
            if not named:
                path.unlink()
                continue
            unsynced = status.st_size - size
            kept = chance.randint(0, max(unsynced, 0))
            with open(path, "r+b") as file:
                file.truncate(size + kept)
                if chance.random() < 0.3:
                    file.seek(size)
                    file.write(bytes(kept))

    def heal(self):
        """Nothing goes wrong any more."""
        self.nth = self.sync_error = self.sync_hold = self.space_hold = 0
        self.realtime_still = self.monotonic_still = 0
        self.thread_nth = self.listen_hold = self.listening_hold = self.resolve_hold = self.resolve_error = 0
        self.memory_nth = self.memory_least = 0
        self.leg_port = self.leg_hold = self.leg_take = self.legs_held = 0
