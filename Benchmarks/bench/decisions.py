"""Row p: what phones' decisions cost a gate with devices, how soon they are answered, and the players beside them."""

import contextlib
import json
import os
import shutil
import statistics
import subprocess
import time

from admissions import LONG_ROUNDS
from contestants import Portcullis
from machine import Broken
from programs import Load
from traffic import Watched, beside, opened, right_of_way

AT_ONCE = 64
# Of the service's requests: as many of one service may wait.
ASKED_AT_ONCE = 32
OPEN_FOR_PHONE = 2
# What the target for latency is about: half of the target for the rate.
RATE = 2000
PUBLIC_URL = "https://localhost"
POLICY = {"rules": [{"match": {"operation": "promote"}, "factors": ["device"], "ttl_s": 300}]}
# One service asks for all, and phones decide faster than persons do.
UNLIMITED = "1000000/s"


class Deciding(Portcullis):
    """A gate with devices, which lie on the disk."""

    def __init__(self, setup, folder, game_port):
        self.database = setup.disk / "decisions"
        self.policy = folder / "approvals.json"
        # Its phones were made, not paired: none of them was told of the server's key.
        super().__init__(
            setup, folder, game_port, PINS_FORCE="true", DEVICES_PATH=str(self.database / "devices.db"), PUBLIC_URL=PUBLIC_URL,
            APPROVAL_POLICY=str(self.policy), SERVICE_RATE=UNLIMITED, DEVICE_RATE=UNLIMITED,
            SERVICE_STORE_PER_DAY="1048576MiB",
        )

    @property
    def phones(self):
        return self.folder / "phones"

    def command(self):
        self.policy.write_text(json.dumps(POLICY))
        shutil.rmtree(self.database, ignore_errors=True)
        self.database.mkdir(parents=True)
        # Their tokens are good for ten minutes.
        count = self.setup.lengths.decisions // OPEN_FOR_PHONE
        made = [self.setup.tool, "phones", self.database, str(count), PUBLIC_URL, self.phones]
        done = subprocess.run(made, capture_output=True, text=True)
        if done.returncode != 0:
            raise Broken(f"phones could not be made: {done.stdout}{done.stderr}")
        return super().command()

    def stop(self):
        super().stop()
        shutil.rmtree(self.database, ignore_errors=True)


def sync_ms(folder):
    """What a sync of a page of a log takes here, the median."""
    path, times = folder / "sync", []
    descriptor = os.open(path, os.O_CREAT | os.O_WRONLY, 0o600)
    try:
        os.write(descriptor, bytes(1 << 20))
        os.fsync(descriptor)
        for number in range(200):
            os.pwrite(descriptor, os.urandom(4096), number * 4096)
            started = time.monotonic()
            os.fdatasync(descriptor)
            times.append((time.monotonic() - started) * 1000)
    finally:
        os.close(descriptor)
        path.unlink()
    return statistics.median(times)


def counted(contestant, game, load, line, count):
    """What the load says of `count` requests; each one's cost for the gate in µs, and how many there were a second."""
    watched = Watched(contestant, game)
    result = load.ask(line)
    watched.end()
    if result["done"] != count:
        raise Broken(f"{result['done']} of {count}: {line}")
    result["cpu_us"] = watched.processor_ns / 1000 / count
    result["rate"] = count / result["seconds"]
    result["load_core_share"] = watched.core_share
    return result


def ask(contestant, game, load, count):
    return counted(contestant, game, load, f"asks {count} {ASKED_AT_ONCE}", count)


def decide(contestant, game, load, count, rate=0):
    return counted(contestant, game, load, f"decisions {AT_ONCE} {rate}", count)


def decision_row(setup, samples, rounds):
    """Row p: as fast as it goes, then at half of the rate that is asked for, then beside players in turn."""
    lengths = setup.lengths
    count = lengths.decisions
    for _ in range(min(rounds, LONG_ROUNDS)):
        with setup.running(Deciding) as (contestant, game), contextlib.ExitStack() as stack:
            sync = sync_ms(contestant.database)
            with Load(setup.programs, "tls", contestant.port) as phones:
                phones.ask(f"phones {contestant.phones}")
                asked = ask(contestant, game, phones, count)
                samples.add("p ask", Portcullis.name, asked["cpu_us"], asked)
                fast = decide(contestant, game, phones, count)
                samples.add("p rate", Portcullis.name, fast["rate"], {**fast, "sync_ms": sync})
                samples.add("p cpu", Portcullis.name, fast["cpu_us"] / 1000)
                ask(contestant, game, phones, count)
                half = decide(contestant, game, phones, count, RATE)
                samples.add("p p99", Portcullis.name, half["p99_us"] / 1000, {**half, "sync_ms": sync})
            players = stack.enter_context(opened(setup, contestant, game, lengths.latency_sessions))
            # It shares a core with the players' load, which must not wait for it.
            phones = stack.enter_context(Load(setup.programs, "tls", contestant.port, behind=True))
            phones.ask(f"phones {contestant.phones}")
            ask(contestant, game, phones, count)
            with right_of_way(players, game):
                phones.say(f"decisions {AT_ONCE} {RATE}")
                quiet, busy, seconds = beside(lengths, contestant, game, players, phones)
                decided = phones.answer()
            if decided["done"] != count:
                raise Broken(f"{decided['done']} of {count} decisions")
            if decided["seconds"] < seconds:
                print("row p: the decisions ended before the measure did")
            for result in quiet:
                samples.add("p quiet", Portcullis.name, result["p99_us"], result)
            for result in busy:
                samples.add("p busy", Portcullis.name, result["p99_us"], {**result, "decisions": decided})
