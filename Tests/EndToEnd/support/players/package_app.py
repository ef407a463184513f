"""The app's package as a player: `portcullis simulate play`, which plays by lines of JSON."""

import contextlib
import json
import subprocess
import threading

from device import APP_ID
from gate import BINARY, process_environment
from waiting import eventually, patience


def authority(gates):
    """The test authority's folder, made by the program, and the settings of a gate that trusts it."""
    maker = gates(start=False)
    assert maker.command("dev-certs").returncode == 0
    folder = maker.folder / "certs" / "dev"
    return folder, {
        "APPATTEST_ROOT_CA_PATH": folder / "attestation-root.pem",
        "APPATTEST_ENVIRONMENT": "both",
    }


class PackageApp:
    """One process. `events` is everything it told, in order."""

    def __init__(self, port, trust, authority, folder, *arguments):
        self.events, self.changed = [], threading.Condition()
        command = [BINARY, "simulate", "play", "--url", f"wss://localhost:{port}/", "--ca", trust, "--app-id", APP_ID]
        command += ["--authority", authority, "--state", folder / "key.json", *arguments]
        self.process = subprocess.Popen(
            [str(word) for word in command],
            env=process_environment({}),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            with self.changed:
                self.events.append(json.loads(line))
                self.changed.notify_all()

    def do(self, what, **members):
        self.process.stdin.write(json.dumps({"do": what, **members}).encode() + b"\n")
        self.process.stdin.flush()

    def line(self, text):
        self.do("send", line=text)

    def all(self, kind):
        return [event for event in list(self.events) if event["event"] == kind]

    def until(self, condition, what, within=20):
        deadline = patience(within)
        with self.changed:
            arrived = self.changed.wait_for(lambda: condition() or self.process.poll() is not None, deadline)
        assert arrived and condition(), f"not within {within} s: {what}; the last: {self.events[-5:]}"

    def until_attached(self, count=1):
        self.until(lambda: len(self.all("attached")) >= count, f"{count} connection(s)", within=60)

    @property
    def text(self):
        return "".join(event["text"] for event in self.all("text"))

    @property
    def last_text(self):
        return next((event["text"] for event in reversed(self.events) if event["event"] == "text"), "")

    def story(self):
        """As `Player.story`: text joined, and the game's events."""
        told = []
        for event in list(self.events):
            kind = event["event"]
            if kind == "text":
                piece = event["text"].encode()
                if told and told[-1][0] == "text":
                    told[-1] = ("text", told[-1][1] + piece)
                else:
                    told.append(("text", piece))
            elif kind == "prompt":
                told.append(("event", {"type": "prompt"}))
            elif kind == "gmcp" and not event["again"]:
                told.append(
                    ("event", {"type": "gmcp", "package": event["package"], "data": json.loads(event["data"])})
                )
        return told

    def finish(self):
        """Its exit status, once the session has ended."""
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        status = self.process.wait(patience(20))
        eventually(lambda: self.events and self.events[-1]["event"] == "ended", "its last word")
        return status

    def stop(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            with contextlib.suppress(OSError):
                stream.close()
