"""A real Evennia game, as `Tests/Conformance/install-peers` installs it: made once, copied and started for each run."""

import contextlib
import hashlib
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile

from gate import ROOT, free_port
from waiting import eventually, patience

PEERS = pathlib.Path(os.environ.get("PORTCULLIS_PEERS", ROOT / ".build-conformance" / "peers")).resolve()
PYTHON = PEERS / "venv" / "bin" / "python"
OVERLAY = pathlib.Path(__file__).parent / "evennia_overlay"
ADMINISTRATOR, PASSWORD = "admin", "adm1nPassw0rd"
WELCOME = b"If you have an existing account"


def missing():
    """Why there is no such game here, or None."""
    return None if (PEERS / "venv" / "bin" / "evennia").exists() else "Evennia is not installed: make peers"


class Neighbour:
    """Portal and server of one game in a folder of its own, on ports of its own."""

    def __init__(self, folder):
        self.folder = folder
        self.telnet_port, *_, self.websocket_port, _ = self.ports = [free_port() for _ in range(5)]
        self.processes = []

    @property
    def address(self):
        return f"127.0.0.1:{self.telnet_port}"

    @property
    def environment(self):
        return {
            "PATH": f"{PYTHON.parent}:{os.environ['PATH']}",
            "HOME": str(self.folder),
            "LANG": "C.UTF-8",
            "PYTHONPATH": str(self.folder),
            "PYTHONDONTWRITEBYTECODE": "1",
            "DJANGO_SETTINGS_MODULE": "server.conf.settings",
            "NEIGHBOUR_PORTS": " ".join(map(str, self.ports)),
            "EVENNIA_SUPERUSER_USERNAME": ADMINISTRATOR,
            "EVENNIA_SUPERUSER_PASSWORD": PASSWORD,
            "EVENNIA_SUPERUSER_EMAIL": "admin@example.org",
        }

    def start(self):
        """Both processes in the foreground, so that their pids are ours; returns once a player is welcomed."""
        library = next(PEERS.glob("venv/lib/python3*/site-packages/evennia"))
        for part in ("server/portal/portal.py", "server/server.py"):
            name = pathlib.Path(part).stem
            with open(self.folder / f"{name}.out", "ab") as output:
                command = [PYTHON.parent / "twistd", "--nodaemon", f"--pidfile={name}.pid"]
                self.processes.append(
                    subprocess.Popen(
                        [*command, f"--python={library / part}"],
                        cwd=self.folder,
                        env=self.environment,
                        stdin=subprocess.DEVNULL,
                        stdout=output,
                        stderr=output,
                    )
                )
        try:
            eventually(self.welcomes, f"a welcome by Evennia in {self.folder}", within=90)
        except BaseException:
            self.stop()
            raise
        return self

    def said(self):
        return "".join(path.read_text(errors="replace")[-2000:] for path in self.folder.glob("*.out"))

    def welcomes(self):
        for process in self.processes:
            assert process.poll() is None, f"Evennia ended with {process.returncode}:\n{self.said()}"
        try:
            with socket.create_connection(("127.0.0.1", self.telnet_port), timeout=1) as player:
                seen = b""
                while WELCOME not in seen:
                    data = player.recv(65536)
                    if not data:
                        return False
                    seen += data
                return True
        except OSError:
            return False

    def stop(self):
        for process in reversed(self.processes):
            process.send_signal(signal.SIGTERM)
        for process in self.processes:
            try:
                process.wait(patience(10))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self.processes = []


def template():
    """The folder of a game that has been started once: made where it is missing or made of other files."""
    digest = hashlib.sha256()
    for path in sorted([*OVERLAY.rglob("*.py"), pathlib.Path(__file__)]):
        digest.update(path.read_bytes())
    made = PEERS / f"game-{digest.hexdigest()[:16]}"
    if not made.exists():
        with tempfile.TemporaryDirectory(dir=PEERS) as scratch:
            game = pathlib.Path(scratch) / "game"
            first = Neighbour(game)
            run(scratch, first.environment, "--init", "game")
            shutil.copytree(OVERLAY, game, dirs_exist_ok=True)
            run(game, first.environment, "migrate")
            # The first start makes the world, and begins anew by itself when that is done.
            log = game / "server" / "logs" / "server.log"
            try:
                run(game, first.environment, "start")
                eventually(
                    lambda: log.exists()
                    and b"Initial setup complete" in log.read_bytes()
                    and first.welcomes(),
                    "Evennia's first start",
                    within=90,
                )
            finally:
                end_daemons(game)
            game.rename(made)
    return made


def end_daemons(game):
    """What the game's own launcher has started, by the pids that it noted: the portal first, as it starts servers."""
    for name in ("portal", "server"):
        noted = game / "server" / f"{name}.pid"

        def gone():
            with contextlib.suppress(FileNotFoundError, ProcessLookupError, ValueError):
                os.kill(int(noted.read_text()), signal.SIGTERM)
                return False
            return True

        eventually(gone, f"the end of Evennia's {name}", within=30)


def run(folder, environment, *arguments):
    done = subprocess.run(
        [PYTHON.parent / "evennia", *arguments],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=patience(120),
    )
    assert done.returncode == 0, f"evennia {' '.join(arguments)}:\n{done.stdout}{done.stderr}"


def started():
    """A running game; stop it, and remove its folder."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="evennia-"))
    shutil.copytree(template(), folder, dirs_exist_ok=True)
    return Neighbour(folder).start()
