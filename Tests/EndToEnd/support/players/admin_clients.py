"""The console as a browser, a program and an attacker see it: plain requests, with whatever fields they choose."""

import http.client
import json
import re
import socket
import urllib.parse

from gate import free_port
from waiting import patience

FORM = "application/x-www-form-urlencoded"


def admin_settings(folder, **changes):
    """For `gates`: a console on loopback."""
    return {"ADMIN_LISTEN": f"127.0.0.1:{free_port()}", **changes}


class Answer:
    def __init__(self, response):
        self.status = response.status
        self.fields = response.headers
        self.body = response.read()

    def __repr__(self):
        return f"{self.status} {dict(self.fields)} {self.body[:300]!r}"

    @property
    def text(self):
        return self.body.decode()

    @property
    def is_signed_out(self):
        """A browser is led to where it says how to sign in."""
        return self.status == 303 and self.fields["Location"] == "/sign-in"


class Console:
    """What listens at a gate's ADMIN_LISTEN; each request on a connection of its own."""

    def __init__(self, gate):
        self.gate = gate
        self.authority = gate.environment["ADMIN_LISTEN"]
        host, _, port = self.authority.rpartition(":")
        self.host, self.port = host.strip("[]"), int(port)

    def connection(self):
        return http.client.HTTPConnection(self.host, self.port, timeout=patience(60))

    def ask(self, method, path, body=None, **fields):
        """Fields are named with `_` for `-`; one that is None is left out."""
        headers = {name.replace("_", "-"): value for name, value in fields.items()}
        connection = self.connection()
        try:
            connection.putrequest(method, path, skip_host="Host" in headers, skip_accept_encoding=True)
            if isinstance(body, dict):
                body = urllib.parse.urlencode(body)
                headers.setdefault("Content-Type", FORM)
            if method == "POST":
                headers.setdefault("Content-Length", str(len(body or "")))
            for name, value in headers.items():
                if value is not None:
                    connection.putheader(name, value)
            connection.endheaders((body or "").encode() or None)
            return Answer(connection.getresponse())
        finally:
            connection.close()

    def get(self, path, **fields):
        return self.ask("GET", path, **fields)

    def post(self, path, form=None, **fields):
        return self.ask("POST", path, form or {}, **fields)

    # ---- operators

    def link(self, *options, **environment):
        """The path of a new one, as its address was printed."""
        done = self.gate.command("admin", "link", *options, **environment)
        assert done.returncode == 0, done.stderr
        (address,) = done.stdout.splitlines()
        parsed = urllib.parse.urlsplit(address)
        assert re.fullmatch(r"/sign-in/[\w-]{43}", parsed.path), address
        return parsed.path

    def sign_in(self):
        path = self.link()
        return Browser(self, self.post(path, Origin=f"http://{self.authority}"))

    def token(self, name, scopes="read", expires="90d"):
        done = self.gate.command("admin", "token", "--name", name, "--scopes", scopes, "--expires", expires)
        assert done.returncode == 0, done.stderr
        (token,) = done.stdout.splitlines()
        assert re.fullmatch(r"portcullis_[\w-]{43}", token), token
        return token

    def listed(self):
        done = self.gate.command("admin", "list", "--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)


class Browser:
    """One that has signed in."""

    def __init__(self, console, answer):
        assert answer.status == 303 and answer.fields["Location"].startswith("/"), answer
        self.console = console
        self.setting = answer.fields["Set-Cookie"]
        self.cookie = self.setting.partition(";")[0]
        self.origin = f"http://{console.authority}"

    def get(self, path="/", **fields):
        return self.console.get(path, **{"Cookie": self.cookie, **fields})

    @property
    def form_token(self):
        found = re.search(r'name="token"[^>]*value="([\w-]{43})"', self.get().text)
        assert found, self.get()
        return found[1]

    def send(self, path, token="", form=None, **fields):
        """A change with this token, as a page of the console sends it unless `fields` say otherwise."""
        fields = {"Cookie": self.cookie, "Origin": self.origin, "Sec_Fetch_Site": "same-origin", **fields}
        return self.console.post(path, {"token": token, **(form or {})}, **fields)


def raw(console, *lines, body=b""):
    """A socket on which this much of a request has been sent."""
    peer = socket.create_connection((console.host, console.port), timeout=patience(60))
    peer.sendall(("\r\n".join(lines) + "\r\n\r\n").encode() + body)
    return peer


def answer_on(peer):
    response = http.client.HTTPResponse(peer)
    response.begin()
    return Answer(response)
