"""`make soak MINUTES=20`: two thousand sessions come and go; memory, descriptors, journal, queues stay flat.

Exit status 1 when a measure's mean over the last quarter is more than 2 % off the first quarter's, or when
anything happened to a player that should not have."""

import argparse
import asyncio
import datetime
import os
import pathlib
import platform
import shutil
import signal
import sys
import tempfile
import time

sys.path[:0] = map(str, (pathlib.Path(__file__).resolve().parents[2] / "EndToEnd" / "support").iterdir())

from churn import Churn  # noqa: E402
from clients import App, tls_context  # noqa: E402
from device import AttestationAuthority, Device  # noqa: E402
from gate import BINARY, Gate, process_environment  # noqa: E402
from measures import (  # noqa: E402
    Samples,
    add_statistics,
    descriptors,
    journal_bytes,
    resident_kibibytes,
    table,
)
from pki import PKI  # noqa: E402

APP_ID = "ABCDEF12K4.org.example.mudproxy"
# How often, in seconds; every session is replaced each SESSIONS / ADMISSIONS seconds, the oldest first.
ADMISSIONS, REFUSALS, MESSAGES = 1 / 25, 1 / 5, 1 / 100
REVOCATION, RELOAD = 10, 15
# How often every session is replaced before anything is measured.
TURNOVERS = 5
# Out of step with the paces above, so that what these do is not always seen at the same moment.
SAMPLE, JOURNAL_SAMPLE, STATISTICS = 1, 0.0487, 4.867


class SoakGate(Gate):
    """The gate, and what it takes to start another command of it from a coroutine."""

    def command_line(self, *arguments):
        return [str(BINARY), *arguments]

    def command_environment(self):
        return process_environment(self.environment)


async def echo_server():
    """The game: returns what it gets."""

    async def play(reader, writer):
        try:
            while data := await reader.read(4096):
                writer.write(data)
        except OSError:
            pass
        finally:
            writer.close()

    return await asyncio.start_server(play, "127.0.0.1", 0, backlog=512)


def make_gate(folder, pki, game_port):
    return SoakGate(
        folder,
        {
            "BACKEND": f"127.0.0.1:{game_port}",
            "TLS_CERT_PATH": pki.server_certificate,
            "TLS_KEY_PATH": pki.server_key,
            "APPATTEST_APP_IDS": APP_ID,
            "APPATTEST_ROOT_CA_PATH": pki.attestation_root,
            "ATTESTED_KEYS_PATH": folder / "attested-keys.json",
            "CONTROL_SOCKET": folder / "control.sock",
            "WORKERS": 2,
            # The population registers from one address.
            "REGISTER_RATE": "10000/s",
            "CHALLENGE_RATE": "10000/s",
        },
    ).start()


def register(gate, pki, authority, count):
    """So many devices whose keys the gate knows; one connection, as the gate's verifying takes longest."""
    gate.pki = pki
    app = App(gate)
    devices = [app.register(Device(authority, APP_ID)) for _ in range(count)]
    app.close()
    return devices


async def every(seconds, action):
    """Starts `action` at a steady pace, however long each takes."""
    due = time.monotonic()
    while True:
        action()
        due += seconds
        await asyncio.sleep(max(0, due - time.monotonic()))


class Soak:
    def __init__(self, folder, sessions, minutes):
        self.folder, self.sessions, self.minutes = folder, sessions, minutes
        self.pki = PKI(folder)
        first = self.pki.server_certificate, self.pki.server_key
        self.certificates = [first, self.pki.issue_server("second")]
        self.served = [self.pki.write(name, b"") for name in ("served.pem", "served.key")]
        self.reloads = 0
        self.samples = None

    async def prepare(self):
        """Game, gate, keys, and all sessions open."""
        authority = AttestationAuthority()
        self.pki.attestation_root = self.pki.write("attestation-root.pem", authority.root_pem())
        self.serve_certificate()
        self.pki.server_certificate, self.pki.server_key = self.served
        self.game = await echo_server()
        self.gate = make_gate(self.folder, self.pki, self.game.sockets[0].getsockname()[1])
        # While sessions are moved about, ten keys of the population have none.
        spares = int((self.minutes * 60 + TURNOVERS * self.sessions * ADMISSIONS) / REVOCATION) + 2
        count = self.sessions + 10 + spares
        devices = await asyncio.to_thread(register, self.gate, self.pki, authority, count)
        say(f"{count} keys registered")
        self.churn = Churn(self.gate, tls_context(self.gate), devices[spares:], devices[:spares])
        for _ in range(self.sessions):
            await self.churn.admit()
        say(f"{self.sessions} sessions open")

    def serve_certificate(self):
        """Puts the one or the other certificate where the gate reads it."""
        for target, source in zip(self.served, self.certificates[self.reloads % 2], strict=True):
            target.write_bytes(pathlib.Path(source).read_bytes())

    def reload(self):
        self.reloads += 1
        self.serve_certificate()
        self.gate.signal(signal.SIGHUP)

    # ---- running

    async def run(self):
        churn = self.churn
        paces = [
            every(ADMISSIONS, lambda: churn.spawn(churn.replace())),
            every(REFUSALS, lambda: churn.spawn(churn.cheat())),
            every(MESSAGES, lambda: churn.spawn(churn.talk())),
            every(REVOCATION, lambda: churn.spawn(churn.revoke())),
            every(RELOAD, self.reload),
        ]
        background = [asyncio.create_task(pace) for pace in paces]
        # Caches fill and the allocator settles, so that what the first quarter shows is what goes on.
        await asyncio.sleep(TURNOVERS * self.sessions * ADMISSIONS)
        say("measuring")
        self.samples = Samples()
        process = self.gate.process.pid
        background += [
            asyncio.create_task(every(SAMPLE, lambda: self.sample(process))),
            asyncio.create_task(every(JOURNAL_SAMPLE, self.sample_journal)),
            asyncio.create_task(every(STATISTICS, lambda: churn.spawn(self.ask()))),
        ]
        await self.measure(background)
        for task in background:
            task.cancel()
        await asyncio.gather(*background, *churn.tasks, return_exceptions=True)

    async def measure(self, background):
        """To the end; a pace that breaks is a problem at once."""
        done, _ = await asyncio.wait(
            background, timeout=self.minutes * 60, return_when=asyncio.FIRST_EXCEPTION
        )
        self.churn.problems += [repr(task.exception()) for task in done]

    def sample(self, process):
        self.samples.add("resident memory", resident_kibibytes(process))
        self.samples.add("descriptors", descriptors(process))

    def sample_journal(self):
        self.samples.add("journal", journal_bytes(self.gate.store_path))

    async def ask(self):
        command = await asyncio.create_subprocess_exec(
            *self.gate.command_line("stats", "--json"),
            env=self.gate.command_environment(),
            stdout=asyncio.subprocess.PIPE,
        )
        text, _ = await command.communicate()
        if command.returncode:
            raise RuntimeError(f"stats ended with {command.returncode}")
        self.statistics = add_statistics(self.samples, text)

    async def finish(self):
        for _, session in self.churn.playing:
            await session.drop()
        self.game.close()
        await asyncio.to_thread(self.gate.stop)

    # ---- the verdict

    def report(self):
        """Prints the figures; True when all is well."""
        rows = list(self.samples.rows(self.minutes * 60))
        counts = ", ".join(f"{count:,} {name}" for name, count in sorted(self.churn.counts.items()))
        when = datetime.datetime.now(datetime.timezone.utc).date()
        print(f"{when}, {platform.machine()}, {os.cpu_count()} cores, {self.minutes:g} minutes: ", end="")
        print(f"{counts}, {self.reloads} reloads\n\n{table(rows)}\n")
        for measure, _, drift, is_flat in rows:
            if not is_flat:
                print(f"not flat: {measure.name}, by {100 * drift:.2f} %")
        for problem in self.churn.problems[:20]:
            print(f"problem: {problem}")
        return not self.churn.problems and all(is_flat for *_, is_flat in rows)


def say(text):
    print(f"soak: {text}", file=sys.stderr, flush=True)


async def soak(folder, options):
    run = Soak(folder, options.sessions, options.minutes)
    await run.prepare()
    try:
        await run.run()
    finally:
        await run.finish()
    return run.report()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=20, help="measured time, after the warm-up")
    parser.add_argument("--sessions", type=int, default=2000)
    options = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="soak-"))
    try:
        is_well = asyncio.run(soak(folder, options))
    finally:
        shutil.rmtree(folder)
    return 0 if is_well else 1


if __name__ == "__main__":
    sys.exit(main())
