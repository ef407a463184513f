"""Rows a, j and l: memory of idle sessions, the way to the first connection, and size."""

import pathlib
import shutil
import subprocess
import tempfile
import time

import machine
from contestants import APP_ID, Earlier, IdleFloor, Portcullis
from machine import Broken
from programs import Load
from traffic import opened


def settled(contestant):
    """Resident memory once a quarter of a second changes it by less than 64 KiB, or after five seconds."""
    last = machine.resident_bytes(contestant.pids)
    for _ in range(20):
        time.sleep(0.25)
        now = machine.resident_bytes(contestant.pids)
        if abs(now - last) < 65536:
            return now
        last = now
    return last


def idle_row(setup, samples, rounds):
    """Row a: what each of 5,000 sessions keeps, after one message of each has gone round."""
    for _ in range(min(rounds, 2)):
        for kind in (IdleFloor, *setup.peers, Portcullis):
            sessions = min(setup.lengths.idle_sessions, kind.sessions)
            with setup.running(kind) as (contestant, game):
                before = settled(contestant)
                if kind is IdleFloor:
                    load = Load(setup.programs, "tls", contestant.port)
                    load.ask(f"open {sessions} 32")
                else:
                    load = opened(setup, contestant, game, sessions)
                with load:
                    after = settled(contestant)
                    if kind is not IdleFloor and game.counts()["open"] < sessions:
                        raise Broken(f"{kind.name}: sessions have ended")
                    kept = (after - before) / sessions
                    details = {"sessions": sessions, "before": before, "after": after}
                    samples.add("a", kind.name, kept / 1024, details)


def start_row(setup, samples, rounds):
    """Row j: from the start of the process to the first accepted connection, with 10,000 keys; of a gate that has run before,
    as the first start writes what the others find."""
    stores = {}
    for kind in setup.gates:
        stores[kind] = pathlib.Path(tempfile.mkdtemp(prefix="keys-", dir=setup.folder))
        made = [setup.programs / "load", "keys", stores[kind], str(setup.lengths.start_keys), APP_ID]
        subprocess.run(made, check=True)
        with setup.running(variant(StartedWith, kind), keys=str(stores[kind])) as (contestant, _):
            contestant.stop()
            copy_files(contestant.store.parent, stores[kind])
    for _ in range(setup.lengths.starts):
        for kind in setup.gates:
            with setup.running(variant(StartedWith, kind), keys=str(stores[kind])) as (contestant, _):
                samples.add("j", kind.name, contestant.seconds * 1000)


def copy_files(source, target):
    for path in source.iterdir():
        if path.is_file():
            shutil.copy(path, target / path.name)


def variant(part, kind):
    """That contestant with another start."""
    return type(part.__name__, (part, kind), {})


class StartedWith:
    """A gate with a key store of its own, which tells how long it took to listen."""

    def __init__(self, setup, folder, game_port, keys):
        super().__init__(setup, folder, game_port)
        self.made_keys = pathlib.Path(keys)

    def command(self):
        copy_files(self.made_keys, self.folder)
        return super().command()

    def start(self):
        started = time.monotonic()
        super().start()
        self.seconds = time.monotonic() - started
        return self


def size_row(setup, samples, rounds):
    """Row l: the binary as it is installed, and its memory when it has begun to listen, all as shipped."""
    for kind in setup.gates:
        program = setup.earlier if kind is Earlier else setup.portcullis
        samples.add("l binary", kind.name, program.stat().st_size / 1e6)
    for _ in range(rounds):
        for kind in setup.gates:
            with setup.running(variant(Fresh, kind), WORKERS=None) as (contestant, _):
                samples.add("l memory", kind.name, settled(contestant) / 1e6)


class Fresh:
    """A gate without a key."""

    def command(self):
        command = super().command()
        self.store.unlink()
        return command
