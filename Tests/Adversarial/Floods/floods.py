"""`make floods`: ten honest sessions and a trickle of newcomers, while attacks saturate the gate.

The gate has one core and one loop; the game, the players and the attackers share the other one, where players
and game have the right of way. Players come from 127.2.0.0/16, attackers from 127.1.0.0/16. Prints a table in
Markdown; exit status 1 when an attack keeps the gate from one of its targets."""

import argparse
import contextlib
import dataclasses
import datetime
import json
import os
import pathlib
import platform
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = map(str, (HERE.parents[1] / "EndToEnd" / "support").iterdir())

from clients import App, Raw, head  # noqa: E402
from device import AttestationAuthority, Device  # noqa: E402
from gate import Gate  # noqa: E402
from pki import PKI, pem  # noqa: E402
from flood_programs import Program, build, busy_seconds, cpu_seconds  # noqa: E402

APP_ID = "ABCDEF12K4.org.example.mudproxy"
NEWCOMERS = 25
GATE_CORE, OTHER_CORE = 0, 1
SETTLING = 2.0
# The targets: a message's round trip, a loop's turn (microseconds), and newcomers against a quiet gate.
ROUND_TRIP, TURN, ADMITTED = 5000, 5000, 0.5
# Milliseconds that a challenge may take beside so many connections of one attack.
CHALLENGE = {1: 20, 6: 60}


@dataclasses.dataclass(frozen=True)
class Attack:
    """What `flood` is told, or slowhttptest; `unit` says what its rate counts."""

    name: str
    title: str
    options: tuple = ()
    unit: str = ""
    tool: str = "flood"
    gate: dict = dataclasses.field(default_factory=dict)
    # Whether a challenge beside a few connections is measured as well.
    delays_challenges: bool = False

    def by(self, connections):
        """The same by so many."""
        told = list(self.options)
        told[told.index("--connections") + 1] = connections
        return dataclasses.replace(self, options=tuple(told))

    def by_at_most(self, connections):
        return self.by(min(connections, self.options[self.options.index("--connections") + 1]))


def flood(name, title, unit, connections, *options, attack=None, delays_challenges=False, **gate):
    told = ("--attack", attack or name, "--connections", connections, *options)
    return Attack(name, title, told, unit, gate=gate, delays_challenges=delays_challenges)


def slow(name, title, *options):
    return Attack(name, title, options, tool="slowhttptest")


ATTACKS = (
    slow("slowloris", "slowhttptest, slow head", "-H", "-i", "5"),
    slow("slowpost", "slowhttptest, slow body", "-B", "-i", "5", "-s", "8192"),
    slow("slowread", "slowhttptest, slow read", "-X", "-w", "10", "-y", "20", "-n", "5", "-z", "5"),
    flood("connects", "connects, closed at once", "connects/s", 500),
    flood("handshakes", "TLS handshakes, left half way", "ServerHellos/s", 1000),
    flood("challenges", "challenges", "requests/s", 500),
    flood("proxied", "challenges of 10,000 addresses through a trusted proxy", "requests/s", 500,
          "--forwarded", 10000, attack="challenges", TRUSTED_PROXIES="127.1.0.0/16"),
    flood("pipelined", "requests, a socket full at a time", "× 16 KB/s", 50, attack="requests"),
    flood("updates", "KeyUpdates without a request's end", "KeyUpdates/s", 50, delays_challenges=True),
    flood("crumbs", "TLS records of one byte without a request's end", "records/s", 50, delays_challenges=True),
    flood("registers", "registrations with a bad chain", "registrations/s", 200),
    flood("forgeries", "upgrades with forged assertions", "upgrades/s", 500),
    flood("pings", "pings by 50 sessions", "× 16 KB/s", 50),
    flood("bytes", "1-byte frames by 50 sessions", "× 16 KB/s", 50),
    flood("fragments", "messages that never end, 50 sessions", "× 16 KB/s", 50),
    flood("bombs", "deflate bombs by 50 sessions", "× 16 KB/s", 50),
    flood("clients", "descriptions of the app (`client`) by 50 sessions", "× 16 KB/s", 50),
    flood("acks", "acknowledgements (`ack`) by 50 sessions", "× 16 KB/s", 50),
    flood("unknowns", "messages of an unknown type by 50 sessions", "× 16 KB/s", 50),
    flood("lines", "empty lines, far beyond `INPUT_RATE`, by 50 sessions", "× 16 KB/s", 50),
    flood("malformed", "malformed text, each by a session of its own", "sessions/s", 50),
    flood("resumes", "resumes in a loop by one key", "resumes/s", 1),
)


# ---- the two sides


class Arena:
    """Certificates, keys, the game, and a store in which all keys are registered."""

    def __init__(self, folder, pinned=True, players=200, attackers=50):
        self.folder, self.programs = folder, folder
        self.gate_core, self.other_core = (GATE_CORE, OTHER_CORE) if pinned else (None, None)
        self.pinned = pinned
        build(folder)
        self.pki = PKI(folder)
        authority = AttestationAuthority()
        self.root = self.pki.write("attestation-root.pem", authority.root_pem())
        self.counter = 0
        self.game = Program(folder / "game", core=self.other_core, at_once=pinned)
        self.game_port = int(self.game.line())
        self.register(authority, (("players", players), ("attackers", attackers)))
        self.write_bad_registration()

    def gate(self, **changes):
        """A gate with the limits as they come."""
        made = Gate(
            self.folder,
            {
                "BACKEND": f"127.0.0.1:{self.game_port}",
                "TLS_CERT_PATH": self.pki.server_certificate,
                "TLS_KEY_PATH": self.pki.server_key,
                "APPATTEST_APP_IDS": APP_ID,
                "APPATTEST_ROOT_CA_PATH": self.root,
                "ATTESTED_KEYS_PATH": self.folder / "attested-keys.json",
                "CONTROL_SOCKET": self.folder / "control.sock",
                "WORKERS": 1,
                **changes,
            },
        )
        made.start()
        if self.pinned:
            for task in pathlib.Path(f"/proc/{made.process.pid}/task").iterdir():
                os.sched_setaffinity(int(task.name), {self.gate_core})
        return made

    def register(self, authority, sides):
        """All keys, through a gate that lets one address register so many."""
        gate = self.gate(REGISTER_RATE="10000/s", CHALLENGE_RATE="10000/s")
        gate.pki = self.pki
        app = App(gate)
        for side, count in sides:
            lines = []
            for index in range(count):
                device = app.register(Device(authority, APP_ID))
                path = self.pki.write(f"{side}-{index}.key", pem(device.key))
                lines.append(f"{device.key_id_b64} {path}\n")
            self.pki.write(f"{side}.txt", "".join(lines).encode())
        app.close()
        gate.stop()

    def write_bad_registration(self):
        """Well made in all, but of an authority that only looks like the pinned one."""
        device = Device(AttestationAuthority(), APP_ID)
        document = device.registration("0" * 64) | {"clientData": "NONCE"}
        self.pki.write("body.json", json.dumps(document).encode())

    def next_counter(self):
        """Above all counters that were used so far."""
        self.counter += 100_000
        return self.counter

    def players(self, gate, seconds):
        return Program(
            self.programs / "players", "--port", gate.port, "--app", APP_ID, "--seconds", seconds,
            "--admissions", NEWCOMERS, "--devices", self.folder / "players.txt",
            "--counter", self.next_counter(), core=self.other_core, at_once=self.pinned,
        )

    def attackers(self, attack, gate, seconds):
        if attack.tool == "flood":
            return Program(
                self.programs / "flood", *attack.options, "--port", gate.port, "--app", APP_ID,
                "--body", self.folder / "body.json", "--devices", self.folder / "attackers.txt",
                "--counter", self.next_counter(), core=self.other_core,
            )
        return Program(
            "slowhttptest", "-c", 2000, "-r", 1000, "-l", int(seconds) + 10, "-u",
            f"https://127.0.0.1:{gate.port}/attest/register", *attack.options, core=self.other_core,
            env={**os.environ, "LD_PRELOAD": str(self.programs / "source.so")}, stderr=subprocess.DEVNULL,
        )

    def close(self):
        self.game.kill()


# ---- one measurement


@dataclasses.dataclass
class Figures:
    messages: dict
    admissions: dict
    seconds: float
    gate_share: float
    flood_share: float
    turn_p99: int
    resident: int
    # Of the gate's core, by programs that are none of ours: with much of that the figures mean little.
    others_share: float
    done: float = 0
    # Milliseconds by the number of connections.
    challenges: dict = dataclasses.field(default_factory=dict)

    @property
    def admissions_rate(self):
        return self.admissions["done"] / self.seconds


def turns(gate):
    """Loop turns so far, by the microseconds of their bucket."""
    answer = gate.command("stats", "--json")
    assert answer.returncode == 0, answer.stderr
    return {limit: count for loop in json.loads(answer.stdout)["turns"] for limit, count in loop["buckets"]}


def percentile_of_difference(before, after, percent):
    counts = sorted((limit, count - before.get(limit, 0)) for limit, count in after.items())
    rank = sum(count for _, count in counts) * percent / 100
    for limit, count in counts:
        rank -= count
        if rank <= 0:
            return limit
    return 0


def measure(arena, attack, seconds, settling=SETTLING):
    """The players' figures while `attack` goes on; none for a quiet gate."""
    gate = arena.gate(**(attack.gate if attack else {}))
    hostile, players = None, arena.players(gate, seconds)
    try:
        assert players.line() == "ready"
        if attack:
            hostile = arena.attackers(attack, gate, seconds)
            time.sleep(settling)
        return observe(gate, players, hostile, seconds)
    finally:
        for program in filter(None, (players, hostile)):
            program.kill()
        gate.kill() if sys.exc_info()[0] else gate.stop()


def observe(gate, players, hostile, seconds):
    before, processes = turns(gate), [gate.process.pid, *([hostile.process.pid] if hostile else [])]
    start, used = time.monotonic(), [cpu_seconds(process) for process in processes]
    busy = busy_seconds(GATE_CORE)
    players.go()
    said = json.loads(players.line())
    elapsed = time.monotonic() - start
    shares = [(cpu_seconds(process) - cpu) / elapsed for process, cpu in zip(processes, used, strict=True)]
    others = (busy_seconds(GATE_CORE) - busy) / elapsed - shares[0]
    figures = Figures(
        said["messages"], said["admissions"], seconds, shares[0], shares[1] if hostile else 0,
        percentile_of_difference(before, turns(gate), 99), gate.resident_bytes(),
        max(0, others),
    )
    if hostile and hostile.process.args[0] != "slowhttptest":
        report = hostile.finish()
        figures.done = report["done"] / report["seconds"]
    return figures


@contextlib.contextmanager
def right_of_way():
    """As players and game have it; where that is not allowed, as everybody."""
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    except PermissionError:
        yield
        return
    try:
        yield
    finally:
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))


def slow_challenge(arena, attack, seconds, settling=SETTLING):
    """Milliseconds until a newcomer has its challenge while `attack` goes on: the slowest but one, as a machine may
    hiccup."""
    gate = arena.gate(CHALLENGE_RATE="10000/s", **attack.gate)
    gate.pki = arena.pki
    hostile, taken = arena.attackers(attack, gate, seconds), []
    try:
        time.sleep(settling)
        with right_of_way(), Raw(gate) as newcomer:
            end = time.monotonic() + seconds
            while len(taken) < 20 or time.monotonic() < end:
                start = time.monotonic()
                reply = newcomer.send(head("GET", "/attest/challenge")).reply()
                taken.append(1000 * (time.monotonic() - start))
                assert reply.status == 200, reply
                time.sleep(0.005)
    finally:
        hostile.kill()
        gate.kill() if sys.exc_info()[0] else gate.stop()
    return sorted(taken)[-2]


# ---- what came of it


def problems(attack, figures, quiet):
    """The targets that were missed, in words."""
    limit = max(3 * quiet.messages["p99"], ROUND_TRIP)
    if figures.messages["p99"] > limit:
        yield f"round trip p99 {figures.messages['p99']} µs, above {limit}"
    if figures.messages["lost"]:
        yield f"{figures.messages['lost']} sessions dropped"
    if figures.admissions["refused"]:
        yield f"{figures.admissions['refused']} newcomers refused"
    if figures.admissions_rate < ADMITTED * quiet.admissions_rate:
        yield f"{figures.admissions_rate:.1f} admissions/s of {quiet.admissions_rate:.1f}"
    if figures.turn_p99 > TURN:
        yield f"turn p99 {figures.turn_p99} µs"
    for connections, taken in figures.challenges.items():
        if taken > CHALLENGE[connections]:
            yield f"a challenge beside {connections} took {taken:.1f} ms, above {CHALLENGE[connections]}"


def row(title, rate, figures):
    return (
        f"| {title} | {rate} | {figures.flood_share:.0%} | {figures.gate_share:.0%} "
        f"| {figures.messages['p50'] / 1000:.2f} / {figures.messages['p99'] / 1000:.2f} "
        f"| {figures.messages['lost']} / {figures.admissions['refused']} "
        f"| {figures.admissions_rate:.1f} ({figures.admissions['p50'] / 1000:.1f}) "
        f"| {figures.turn_p99 / 1000:.2f} | {figures.resident / (1 << 20):.0f} | {figures.others_share:.0%} "
        f"| {' / '.join(f'{taken:.1f}' for taken in figures.challenges.values())} |"
    )


HEADER = """\
| attack | rate | attackers' core | gate's core | round trip p50 / p99 (ms) | dropped / refused \
| admissions/s (p50, ms) | turn p99 (ms) | resident (MiB) | others on the gate's core \
| challenge beside 1 / 6 (ms) |
|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|"""


def run(arena, attacks, seconds):
    """Measures and prints; True when no target was missed."""
    quiet = measure(arena, None, seconds)
    when = datetime.datetime.now(datetime.timezone.utc).date()
    print(f"{when}, {platform.machine()}, {os.cpu_count()} cores, {seconds} s each\n\n{HEADER}")
    print(row("none", "", quiet), flush=True)
    missed = []
    for attack in attacks:
        figures = measure(arena, attack, seconds)
        if attack.delays_challenges:
            figures.challenges = {
                connections: slow_challenge(arena, attack.by(connections), seconds) for connections in CHALLENGE
            }
        rate = f"{figures.done:,.0f} {attack.unit}" if attack.unit else "2,000 connections"
        print(row(attack.title, rate, figures), flush=True)
        missed += [f"{attack.name}: {problem}" for problem in problems(attack, figures, quiet)]
    print()
    for problem in missed:
        print(f"missed: {problem}")
    return not missed


def main():
    names = [attack.name for attack in ATTACKS]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=int, default=8, help="of each measurement")
    parser.add_argument("attacks", nargs="*", metavar="ATTACK", help=f"all, or some of: {' '.join(names)}")
    options = parser.parse_args()
    unknown = set(options.attacks) - set(names)
    if unknown:
        parser.error(f"there is no attack {' '.join(unknown)}")
    if len(os.sched_getaffinity(0)) < 2:
        parser.error("two cores are needed: one for the gate, one for everybody else")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    folder = pathlib.Path(tempfile.mkdtemp(prefix="floods-"))
    arena = None
    try:
        arena = Arena(folder)
        os.sched_setaffinity(0, {OTHER_CORE})
        chosen = [attack for attack in ATTACKS if not options.attacks or attack.name in options.attacks]
        return 0 if run(arena, chosen, options.seconds) else 1
    finally:
        if arena:
            arena.close()
        shutil.rmtree(folder)


if __name__ == "__main__":
    sys.exit(main())
