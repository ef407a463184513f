"""A real Evennia game, as `Tests/Conformance/install-peers` installs it: made once, copied and started for each run."""

import fcntl
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
        self.is_new = False

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
            **({"NEIGHBOUR_IS_NEW": "true"} if self.is_new else {}),
        }

    def launch(self):
        """Both processes in the foreground, so that their pids are ours."""
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

    def start(self):
        """Returns once a player is welcomed."""
        self.launch()
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
    with open(PEERS / "lock", "w") as lock:
        # Another worker of the same run may be about to make it too.
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists():
            make_template(made)
    return made


def make_template(made):
    """Without the launcher, which is out of patience sooner than a machine that is busy."""
    with tempfile.TemporaryDirectory(dir=PEERS) as scratch:
        game = pathlib.Path(scratch) / "game"
        first = Neighbour(game)
        run(scratch, first.environment, "--init", "game")
        shutil.copytree(OVERLAY, game, dirs_exist_ok=True)
        run(game, first.environment, "migrate")
        # The superuser comes with the first command that looks for one.
        run(game, first.environment, "shell", "-c", "")
        first.is_new = True
        first.start()
        first.stop()
        game.rename(made)


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


if __name__ == "__main__" and not missing():
    # `make peers`, so that no test waits for it.
    template()
