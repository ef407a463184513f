"""Those who are measured: how each is started, what it is spoken to in, and where it finds the game."""

import contextlib
import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import time

import machine
from machine import Broken
from programs import GATE_CORES, pinned

HERE = pathlib.Path(__file__).resolve().parent.parent
APP_ID = "BENCHMARKS.com.example.mud"


def free_port():
    """A port nobody has, below those that the kernel hands to outgoing connections."""
    while True:
        port = random.randint(15_000, 32_000)
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


class Contestant:
    """A server process, started in a folder of its own on the gate's core."""

    name = ""
    protocol = "tls"
    # Which of the game's listeners it is pointed to: with this prefix.
    game_prefix = ""
    package = None
    # Whether it connects to the game by itself, to see whether it is there.
    asks_after_game = False
    # The most sessions it is asked to hold.
    sessions = 1_000_000

    def __init__(self, setup, folder, game_port, cores=GATE_CORES, **options):
        self.setup, self.folder, self.game_port = setup, folder, game_port
        self.cores, self.options = cores, options
        self.port = free_port()
        self.log_path = folder / "log"
        self.process = None

    # ---- what each one says

    def command(self):
        raise NotImplementedError

    def environment(self):
        return {}

    @property
    def keys(self):
        """The folder with the load generator's keys, for those that want them."""
        return None

    @classmethod
    def version(cls):
        return machine.package_version(cls.package) if cls.package else None

    # ---- life

    def start(self):
        for name in ("server.pem", "server-key.pem", "both.pem"):
            shutil.copy(self.setup.folder / name, self.folder / name)
        command = [str(word) for word in self.command()]
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(
                command,
                cwd=self.folder,
                env={"PATH": os.environ["PATH"], **self.environment()},
                stdin=subprocess.DEVNULL,
                stdout=self.standard_output(log),
                stderr=log,
                preexec_fn=pinned(self.cores),
            )
        self.wait_until_listening()
        return self

    def standard_output(self, log):
        return log

    def wait_until_listening(self):
        deadline = time.monotonic() + 20
        while True:
            if self.process.poll() is not None:
                raise Broken(f"{self.name} ended with {self.process.returncode}:\n{self.log_tail()}")
            with contextlib.suppress(ConnectionRefusedError):
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                return
            if time.monotonic() > deadline:
                raise Broken(f"{self.name} does not listen:\n{self.log_tail()}")
            time.sleep(0.0005)

    def log_tail(self):
        return "\n".join(self.log_path.read_text(errors="replace").splitlines()[-10:])

    @property
    def pids(self):
        return machine.family(self.process.pid)

    def processor_ns(self):
        return machine.processor_ns(self.pids)

    def stop(self):
        if self.process is None:
            return
        pids = self.pids if self.process.poll() is None else []
        self.process.send_signal(signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(15)
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait()

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.stop()


class Floor(Contestant):
    """One of the floor programs, which print the port they have taken."""

    program = ""

    def command(self):
        return [self.setup.programs / self.program, "server.pem", "server-key.pem", *self.more()]

    def more(self):
        return [self.game_port]

    def standard_output(self, log):
        return subprocess.PIPE

    def wait_until_listening(self):
        line = self.process.stdout.readline()
        if not line.strip().isdigit():
            raise Broken(f"{self.name} ended:\n{self.log_tail()}")
        self.port = int(line)
        self.process.stdout.close()


class RelayFloor(Floor):
    name, program = "floor", "floor-relay"


class IdleFloor(Floor):
    name, program = "floor", "floor-idle"

    def more(self):
        return []


class AdmissionFloor(Floor):
    name, program = "floor", "floor-admission"

    def more(self):
        return [self.game_port, self.folder / "journal"]


class HAProxy(Contestant):
    name, package = "haproxy", "haproxy"

    def command(self):
        # It keeps two descriptors a session, and a few for itself.
        sessions = min(20_000, (self.setup.descriptors - 300) // 2)
        template = (HERE / "peers" / "haproxy.cfg").read_text()
        path = self.folder / "haproxy.cfg"
        path.write_text(
            template.format(sessions=sessions, port=self.port, folder=self.folder, game=self.game_port)
        )
        return ["/usr/sbin/haproxy", "-q", "-db", "-f", path]


class Nginx(Contestant):
    name, package, protocol, game_prefix = "nginx", "nginx", "websocket", "websocket_"

    def command(self):
        template = (HERE / "peers" / "nginx.conf").read_text()
        path = self.folder / "nginx.conf"
        path.write_text(
            template.format(
                descriptors=self.setup.descriptors, port=self.port, folder=self.folder, game=self.game_port
            )
        )
        return ["/usr/sbin/nginx", "-e", "stderr", "-c", path]


class Node(Contestant):
    name, package, protocol = "node", "node-ws", "websocket"

    def command(self):
        bridge = HERE / "peers" / "bridge.js"
        return ["node", bridge, "server.pem", "server-key.pem", self.port, self.game_port]

    def environment(self):
        return {"NODE_PATH": "/usr/share/nodejs"}

    @classmethod
    def version(cls):
        ws = super().version()
        return f"{machine.first_line('node', '--version')}, ws {ws}" if ws else None


class Websockify(Contestant):
    """It forks for each session."""

    name, package, protocol = "websockify", "websockify", "websocket"
    sessions = 100

    def command(self):
        addresses = [f"127.0.0.1:{self.port}", f"127.0.0.1:{self.game_port}"]
        return ["websockify", "--ssl-only", "--cert", "server.pem", "--key", "server-key.pem", *addresses]


class Portcullis(Contestant):
    """The release binary with its defaults, one loop for its one core; only the attested app is let in."""

    name, protocol = "portcullis", "admitted"

    def command(self):
        if not self.store.exists():
            shutil.copy(self.setup.folder / "attested-keys.json", self.store)
        return [self.setup.portcullis, "serve"]

    @property
    def store(self):
        return self.folder / "attested-keys.json"

    @property
    def keys(self):
        return self.setup.folder

    def environment(self):
        made = {
            "LISTEN": f"127.0.0.1:{self.port}",
            "BACKEND": f"127.0.0.1:{self.game_port}",
            "TLS_CERT_PATH": "server.pem",
            "TLS_KEY_PATH": "server-key.pem",
            "APPATTEST_APP_IDS": APP_ID,
            "APPATTEST_ROOT_CA_PATH": str(self.setup.folder / "authority" / "attestation-root.pem"),
            "ATTESTED_KEYS_PATH": str(self.store),
            "CONTROL_SOCKET": str(self.folder / "control.sock"),
            "LOG_LEVEL": "info",
            "WORKERS": "1",
        }
        made.update(self.options)
        return {name: value for name, value in made.items() if value is not None}


class Earlier(Portcullis):
    """Another build of it, such as the one before a change."""

    name = "earlier"

    def command(self):
        return [self.setup.earlier, *super().command()[1:]]


PEERS = (HAProxy, Nginx, Node, Websockify)
