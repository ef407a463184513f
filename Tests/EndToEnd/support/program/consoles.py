"""A gate whose admin listener is open, and the way in for whoever runs it."""

import json
import os
import pwd
import urllib.request

from browser import Mouse
from gate import free_port
from waiting import patience

OPERATOR = pwd.getpwuid(os.geteuid()).pw_name


class Console:
    """Makes the gate by `gates`; keywords change its environment."""

    def __init__(self, gates, backend=None, **changes):
        self.admin_port = free_port()
        self.gate = gates(backend, **{"ADMIN_LISTEN": f"127.0.0.1:{self.admin_port}", **changes})

    @property
    def origin(self):
        return f"http://127.0.0.1:{self.admin_port}"

    def at(self, path):
        return self.origin + path

    def link(self):
        """A one-time address."""
        done = self.gate.command("admin", "link")
        assert done.returncode == 0, done.stderr
        return done.stdout.split()[-1]

    def token(self, scopes, name="test"):
        done = self.gate.command("admin", "token", "--name", name, "--expires", "1d", "--scopes", scopes)
        assert done.returncode == 0, done.stderr
        return done.stdout.split()[-1]

    def sign_in(self, window, hands=Mouse):
        """The browser's window is the overview afterwards."""
        window.open(self.link())
        hands(window).press("Sign in")

    def open(self, window, path):
        window.open(self.at(path))

    def probe(self, path):
        """Status and text of what anybody may ask."""
        try:
            with urllib.request.urlopen(self.at(path), timeout=patience(60)) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()


class Reader:
    """A program with a token that may read."""

    def __init__(self, console):
        self.console, self.token = console, console.token("read", name="reader")

    def ask(self, path, **fields):
        """Status, fields and body."""
        request = urllib.request.Request(
            self.console.at(path), headers={"Authorization": f"Bearer {self.token}", **fields}
        )
        try:
            with urllib.request.urlopen(request, timeout=patience(60)) as answer:
                return answer.status, answer.headers, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, error.headers, error.read()

    def json(self, path):
        status, _, body = self.ask(path)
        assert status == 200, (status, body[:300])
        return json.loads(body)
