"""The program under test: started with an environment in a folder of its own, watched, stopped by its pid."""

import collections
import contextlib
import json
import os
import pathlib
import random
import shlex
import signal
import socket
import subprocess

import turns
from waiting import LONG, eventually, patience

ROOT = pathlib.Path(__file__).resolve().parents[4]
BINARY = pathlib.Path(os.environ.get("PORTCULLIS_BIN", ROOT / ".build" / "release" / "portcullis")).resolve()
CRASH_WORDS = (
    "Fatal error",
    "Program crashed",
    "AddressSanitizer",
    "LeakSanitizer",
    "ThreadSanitizer",
    "stack smashing",
)
# What a build with a sanitizer needs, and no other (Makefile: test-asan, test-tsan).
OPTION_NAMES = ("ASAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS")
SANITIZER_OPTIONS = {name: os.environ[name] for name in OPTION_NAMES if name in os.environ}
SANITIZER = os.environ.get("PORTCULLIS_SANITIZER")
PRELOADED = os.environ.get("PORTCULLIS_PRELOAD")


# LeakSanitizer looks as a tracer, which it may not be of a process that has become somebody else.
BECOMES_ANOTHER = {"ASAN_OPTIONS": "detect_leaks=0"}


def process_environment(variables):
    """`variables` as the program gets them: texts, without those that are None, with what its build needs."""
    made = {name: str(value) for name, value in variables.items() if value is not None}
    if SANITIZER:
        # Its reports need calls and files that a gate does not.
        made.setdefault("PORTCULLIS_SANDBOX", "false")
    if SANITIZER == "address" and "RUN_AS" in made:
        made |= BECOMES_ANOTHER
    if PRELOADED:
        made["LD_PRELOAD"] = " ".join(filter(None, [made.get("LD_PRELOAD"), PRELOADED]))
    return SANITIZER_OPTIONS | made


# A port that was found free is not taken at once, and is free again between two processes. So each worker holds a claim on
# those it was given last, as no other run of the suite in this network may have them meanwhile.
GIVEN = collections.deque(maxlen=1000)


def claim(port):
    """A name that one process of this network has, and that goes with it; None where another one has it."""
    held = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    try:
        held.bind(f"\0portcullis-tests-port-{port}")
    except OSError:
        held.close()
        return None
    return held


def free_port(host="127.0.0.1"):
    """A port nobody has or was given lately, below those that the kernel hands to outgoing connections in the meantime.

    Each worker has ports of its own.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    while True:
        port = random.randrange(15_000 + turns.NUMBER, 32_000, turns.WORKERS)
        held = claim(port)
        if held is None:
            continue
        with socket.socket(family) as probe, contextlib.suppress(OSError):
            probe.bind((host, port))
            GIVEN.append(held)
            return port
        held.close()


class Gate:
    """One server process, and the commands that share its environment."""

    def __init__(self, folder, environment, host="127.0.0.1", port=None):
        assert BINARY.exists(), f"{BINARY} is not there: build it, or name it by PORTCULLIS_BIN"
        self.folder = pathlib.Path(folder)
        self.host = host
        self.port = port or free_port(host)
        self.log_path = self.folder / f"gate-{self.port}.log"
        self.environment = {"PATH": os.environ["PATH"], "LISTEN": self.address, **environment}
        self.process = None
        self.prefix = []  # a command that starts the program in its own place
        self._events, self._read = [], 0

    @property
    def address(self):
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def store_path(self):
        return pathlib.Path(self.environment["ATTESTED_KEYS_PATH"])

    # ---- life

    def launch(self, *arguments):
        """Starts `serve` without waiting for anything."""
        assert self.process is None or self.process.poll() is not None
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(
                [*self.prefix, str(BINARY), "serve", *arguments],
                cwd=self.folder,
                env=process_environment(self.environment),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        return self

    def start(self, *arguments):
        """Starts `serve` and returns once it listens."""
        self.launch(*arguments)
        eventually(self._listens, f"listening on {self.address}")
        return self

    def _listens(self):
        assert self.process.poll() is None, f"ended with {self.process.returncode}:\n{self.log_tail()}"
        try:
            socket.create_connection((self.host, self.port), timeout=LONG).close()
            return True
        except ConnectionRefusedError:
            return False
        except ConnectionResetError:
            return True  # taken, and turned away at once

    @property
    def running(self):
        return self.process is not None and self.process.poll() is None

    def signal(self, number):
        self.process.send_signal(number)

    def wait(self, within=60):
        """The exit status; a crash fails the test with the end of the log."""
        try:
            status = self.process.wait(patience(within))
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise AssertionError(f"did not end within {within} s:\n{self.log_tail()}") from None
        self.assert_no_crash(status)
        return status

    def stop(self, expected=0):
        """A clean stop."""
        self.signal(signal.SIGTERM)
        status = self.wait()
        assert status == expected, f"exit status {status}:\n{self.log_tail()}"

    def kill(self):
        """What a power cut leaves: no handler runs."""
        self.process.kill()
        self.process.wait()

    def assert_no_crash(self, status):
        text = self.log_text()
        assert status >= 0 or status == -signal.SIGKILL, f"ended by signal {-status}:\n{self.log_tail()}"
        for word in CRASH_WORDS:
            assert word not in text, f"{word} in the log:\n{self.log_tail()}"

    # ---- what it says

    def log_text(self):
        return self.log_path.read_text(errors="backslashreplace") if self.log_path.exists() else ""

    def log_tail(self, lines=30):
        return "\n".join(self.log_text().splitlines()[-lines:])

    def events(self):
        """The log so far, one dictionary a line; JSON or logfmt, whichever the line is in."""
        with open(self.log_path, "rb") as log:
            log.seek(self._read)
            chunk = log.read()
        whole = chunk[: chunk.rfind(b"\n") + 1]
        self._read += len(whole)
        for line in whole.decode(errors="backslashreplace").splitlines():
            self._events.append(parse_line(line))
        return self._events

    def event(self, within=LONG, **fields):
        """The first event that has all of `fields`."""

        def find():
            for event in self.events():
                if all(event.get(name) == value for name, value in fields.items()):
                    return event
            return None

        return eventually(find, f"a log line with {fields}; the log ends:\n{self.log_tail(8)}", within)

    def resident_bytes(self):
        """The memory it holds, without the pages of the program's own file: these come when their code first runs, 64 KB at
        a time. With a sanitizer always 0, as most of that is the sanitizer's."""
        if SANITIZER:
            return 0
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return sum(int(status.partition(f"{part}:")[2].split()[0]) * 1024 for part in ("RssAnon", "RssShmem"))

    # ---- the command line

    def command(self, *arguments, stdin="", within=60, **environment):
        """Runs another command of the program in the same environment."""
        variables = {**self.environment, **environment}
        for name in ("LD_PRELOAD", "SHIM_CONTROL"):
            variables.pop(name, None)
        done = subprocess.run(
            [str(BINARY), *arguments],
            cwd=self.folder,
            env=process_environment(variables),
            input=stdin,
            capture_output=True,
            text=True,
            timeout=patience(within),
        )
        for word in CRASH_WORDS:
            assert word not in done.stderr, f"{word} from {arguments}:\n{done.stderr}"
        return done

    def keys(self):
        """`keys list --json`, by key id."""
        listed = self.command("keys", "list", "--json")
        assert listed.returncode == 0, listed.stderr
        entries = [json.loads(line) for line in listed.stdout.splitlines()]
        return {entry["keyId"]: entry for entry in entries}

    def journal_bytes(self):
        """The journals' bytes after their first line."""
        segments = sorted(self.folder.glob(self.store_path.name + ".journal.*"))
        return b"".join(path.read_bytes().partition(b"\n")[2] for path in segments)


def parse_line(line):
    """A log line as a dictionary of texts and numbers; a line in neither format is {'text': line}."""
    try:
        parsed = json.loads(line)
        return parsed if isinstance(parsed, dict) else {"text": line}
    except json.JSONDecodeError:
        pass
    try:
        words = shlex.split(line)
    except ValueError:
        return {"text": line}
    pairs = [word.partition("=") for word in words]
    return {name: value for name, _, value in pairs} if all(pair[1] for pair in pairs) else {"text": line}
