"""A real systemd in namespaces of its own: the manager of one user, which keeps descriptors as the system's does.

It runs the service's unit, without what a user's manager may not do: namespaces, capabilities and users of a service."""

import contextlib
import os
import pathlib
import secrets
import shutil
import subprocess

from gate import ROOT, process_environment
from serving_user import NOBODY, give
from waiting import eventually, patience

SYSTEMD = pathlib.Path("/lib/systemd/systemd")
# A group of processes of its own, which is all that it sees of those; the processes likewise.
OUTER = """
mount -t cgroup2 none "$1/cgroup"
mkdir "$1/cgroup/$2"
chown -R "$3" "$1/cgroup/$2"
echo $$ >"$1/cgroup/$2/cgroup.procs"
exec unshare --cgroup --pid --fork --kill-child --mount-proc sh -ec "$4" sh "$1" "$2" "$3"
"""
INNER = """
mount -t cgroup2 none /sys/fs/cgroup
mount -t tmpfs -o mode=755 tmpfs /run
mkdir -p /run/systemd/system /run/user
install -d -o "$3" -m 700 /run/user/$3
export XDG_RUNTIME_DIR=/run/user/$3 HOME="$1" SYSTEMD_UNIT_PATH="$1/units"
setpriv --reuid "$3" --regid "$3" --clear-groups /lib/systemd/systemd --user --unit=tests.target &
wait
"""
FORGET = 'mount -t cgroup2 none "$1/cgroup"; find "$1/cgroup/$2" -depth -type d -exec rmdir {} +'
UNIT_KEYS = (
    "Type", "NotifyAccess", "FileDescriptorStoreMax", "WatchdogSec", "Restart", "RestartSec",
    "RestartPreventExitStatus", "TimeoutStopSec", "ExecReload", "LimitNOFILE", "UMask",
)  # fmt: skip


def missing():
    """Why there can be none here; None if there can."""
    if not SYSTEMD.exists() or not shutil.which("systemctl"):
        return "systemd is not installed"
    if os.geteuid() != 0:
        return "only root makes namespaces for systemd"
    wanted = ["unshare", "--mount", "--pid", "--cgroup", "--fork", "sh", "-c", "mount -t cgroup2 none /sys/fs/cgroup"]
    tried = subprocess.run(wanted, capture_output=True, text=True)
    return f"no namespaces for systemd: {tried.stderr.strip()}" if tried.returncode else None


class UserManager:
    """`gate` has not been started: its process is the manager's from now on."""

    def __init__(self, gate, place, program):
        self.gate, self.place, self.name = gate, place, f"portcullis-tests-{secrets.token_hex(4)}"
        gate.log_path = place / "gate.log"
        gate.log_path.touch()
        (place / "units").mkdir()
        (place / "cgroup").mkdir()
        (place / "manager.log").touch()
        give(gate.log_path)
        (place / "units/tests.target").write_text("[Unit]\nDescription=nothing\n")
        (place / "units/portcullis.service").write_text(self._unit(program))
        with open(place / "manager.log", "ab") as log:
            self.process = subprocess.Popen(
                ["unshare", "--mount", "sh", "-ec", OUTER, "sh", place, self.name, str(NOBODY.pw_uid), INNER],
                # Its own environment is that of its services.
                env={"PATH": os.environ["PATH"]}, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            )  # fmt: skip
        eventually(self._is_up, f"systemd is up: {(place / 'manager.log').read_text()}", 60)

    def _unit(self, program):
        stated = (ROOT / "config/portcullis.service").read_text().splitlines()
        service = [line for line in stated if line.partition("=")[0] in UNIT_KEYS]
        service += [line for line in stated if line.startswith("Environment=FDSTORE=")]
        variables = process_environment(self.gate.environment)
        service += [f'Environment="{name}={value}"' for name, value in variables.items()]
        service += [
            f"ExecStart={program} serve",
            f"WorkingDirectory={self.place}",
            *(f"Standard{stream}=append:{self.gate.log_path}" for stream in ("Output", "Error")),
        ]
        head = [line for line in stated if line.startswith("StartLimit")]
        return "\n".join(["[Unit]", "DefaultDependencies=no", *head, "[Service]", *service]) + "\n"

    def _is_up(self):
        assert self.process.poll() is None, (self.place / "manager.log").read_text()
        return self._run("is-active", "tests.target").stdout == "active\n"

    def _run(self, *words):
        (inner,) = self._first_processes() or [None]
        if inner is None:
            return subprocess.CompletedProcess(words, 1, "", "not there yet")
        user = str(NOBODY.pw_uid)
        return subprocess.run(
            ["nsenter", "--target", inner, "--mount", "--pid", "--cgroup", "setpriv", "--reuid", user, "--regid", user,
             "--clear-groups", "env", f"XDG_RUNTIME_DIR=/run/user/{user}", "systemctl", "--user", *words],
            capture_output=True, text=True, timeout=patience(60),
        )  # fmt: skip

    def _first_processes(self):
        """The first process of its namespace, by the number that it has outside."""
        with contextlib.suppress(OSError):
            pid = self.process.pid
            return pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[:1]

    def __call__(self, *words):
        """systemctl, which has to succeed; what it says."""
        done = self._run(*words)
        assert done.returncode == 0, f"{words}: {done.stderr}\n{self.gate.log_tail()}"
        return done.stdout.strip()

    def shows(self, name):
        return self("show", "--value", "-p", name, "portcullis.service")

    @property
    def stored(self):
        """How many descriptors it keeps."""
        return int(self.shows("NFileDescriptorStore"))

    def kill(self, signal):
        """A signal to the gate alone."""
        self("kill", "--kill-who=main", f"--signal={signal}", "portcullis.service")

    def finish(self):
        self._run("stop", "portcullis.service")
        self.process.kill()
        self.process.wait()
        words = ["unshare", "--mount", "sh", "-c", FORGET, "sh", self.place, self.name]
        eventually(lambda: subprocess.run(words, capture_output=True).returncode == 0, "its processes are gone")
