"""What all rows share: programs, one certificate, the devices' keys, folders, the lengths of the measures."""

import contextlib
import dataclasses
import pathlib
import shutil
import subprocess
import sys
import tempfile

import machine
from contestants import APP_ID, PEERS, Earlier, Portcullis
from programs import Game


@dataclasses.dataclass
class Lengths:
    """How long and how much: for medians in a full run, for finding a broken measure in a smoke run."""

    rounds: int = 3
    # How often a run that something else has disturbed is taken at most.
    attempts: int = 3
    warm_up: float = 0.5
    seconds: float = 3.0
    idle_sessions: int = 5000
    bulk_bytes: int = 1 << 30
    latency_sessions: int = 500
    latency_rate: int = 5000
    # Of each measure of latencies; its percentiles are its own.
    latency_seconds: float = 1.0
    # The same of rows i, p and v, which have many of them.
    slice_seconds: float = 0.2
    echo_rate: int = 20000
    # Of each contestant in a round of row b, between which its seconds are divided.
    echo_turns: int = 3
    admissions: int = 6000
    registrations: int = 9000
    # Of row v in each of its turns: a gate takes some 130 a second.
    chains: int = 2000
    many_sessions: int = 9000
    # Of row p in each of its turns; a phone has five of them.
    decisions: int = 20_000
    store_keys: int = 1_000_000
    registry_rows: int = 1_000_000
    start_keys: int = 10_000
    starts: int = 10
    store_seconds: float = 150.0
    in_process_seconds: float = 2.0
    # Of raw bytes, text and events in a round of row m, between which its seconds are divided.
    message_turns: int = 6
    # Of each kind in a turn of row o.
    stays: int = 1000
    resume_turns: int = 4
    # As many as MAX_DETACHED, if the limit of descriptors allows them.
    returning: int = 10_000
    # As HOT_RESTART_MAX_SESSIONS is shipped.
    kept: int = 4096


FULL = Lengths()
SMOKE = Lengths(
    rounds=1,
    attempts=1,
    warm_up=0.1,
    seconds=0.4,
    idle_sessions=200,
    bulk_bytes=32 << 20,
    latency_sessions=50,
    latency_rate=1000,
    latency_seconds=0.1,
    slice_seconds=0.1,
    echo_rate=2000,
    echo_turns=1,
    admissions=200,
    registrations=1000,
    chains=200,
    many_sessions=400,
    decisions=2000,
    store_keys=20_000,
    registry_rows=30_000,
    start_keys=1000,
    starts=2,
    store_seconds=8.0,
    in_process_seconds=0.3,
    message_turns=1,
    stays=200,
    resume_turns=1,
    returning=300,
    kept=200,
)


class Setup:
    """Made once a run, in a folder in memory, as the journal of the admission row is to be on tmpfs."""

    def __init__(self, programs, portcullis, tool, lengths, disk, earlier=None, earlier_tool=None):
        self.programs, self.tool = programs, tool
        self.portcullis = self.installed(portcullis, "portcullis")
        # Beside this one lies the program that makes certificates.
        self.built = portcullis
        self.earlier = self.installed(earlier, "portcullis-earlier") if earlier else None
        # What is measured in process, by the contestant whose code it is.
        self.tools = {Portcullis: tool} | ({Earlier: earlier_tool} if earlier_tool else {})
        self.lengths = lengths
        # Where the key store's own measures write: a real disk.
        self.disk = disk
        self.descriptors = machine.raise_descriptor_limit()
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="portcullis-bench-", dir="/dev/shm"))
        wanted = (Earlier,) if earlier else PEERS
        self.peers = [peer for peer in wanted if earlier or peer.version() is not None]
        self.missing = [peer.name for peer in wanted if peer not in self.peers]
        # What is installed for others to read must be readable, whatever the caller's umask.
        self.folder.chmod(0o755)
        self.make_certificate()
        self.make_keys()

    @property
    def gates(self):
        """This build, and the other one if there is one, in turn."""
        return (Earlier, Portcullis) if self.earlier else (Portcullis,)

    def installed(self, program, name):
        """As `make install` leaves it."""
        stripped = self.programs / name
        subprocess.run(["strip", "-o", stripped, program], check=True)
        return stripped

    def make_certificate(self):
        key, certificate = self.folder / "server-key.pem", self.folder / "server.pem"
        request = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
        names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
        rest = ["-nodes", "-days", "2", "-keyout", key, "-out", certificate]
        subprocess.run([*request, *names, *rest], check=True, capture_output=True)
        (self.folder / "both.pem").write_text(certificate.read_text() + key.read_text())

    def make_keys(self):
        count = max(self.lengths.idle_sessions, self.lengths.many_sessions)
        subprocess.run([self.programs / "load", "keys", self.folder, str(count), APP_ID], check=True)
        authority = self.folder / "authority"
        made = [self.built, "dev-certs", "--directory", authority]
        subprocess.run(made, check=True, capture_output=True, cwd=self.folder)

    @contextlib.contextmanager
    def running(self, kind, game_listener="echo", **options):
        """A contestant and its game, started and stopped."""
        folder = pathlib.Path(tempfile.mkdtemp(prefix=f"{kind.name}-", dir=self.folder))
        if sys.stderr.isatty():
            print(f"\r\033[K{kind.name}", end="", file=sys.stderr, flush=True)
        try:
            with Game(self.programs) as game:
                port = game.ports[kind.game_prefix + game_listener]
                with kind(self, folder, port, **options) as contestant:
                    try:
                        yield contestant, game
                    except machine.Broken as broken:
                        raise machine.Broken(f"{kind.name}: {broken}\n{contestant.log_tail()}") from None
        finally:
            shutil.rmtree(folder, ignore_errors=True)
            if sys.stderr.isatty():
                print("\r\033[K", end="", file=sys.stderr, flush=True)

    def remove(self):
        shutil.rmtree(self.folder, ignore_errors=True)
