"""The admin listener of a gate, and peers that ask it."""

import http.client
import socket

from gate import free_port
from waiting import LONG, eventually, patience

CHECKS = ["listening", "draining", "loops", "key_store", "game", "certificate", "disk"]


class Answer:
    def __init__(self, response):
        self.status = response.status
        self.header = response.getheader
        self.text = response.read().decode()


class AdminDoor:
    """Of one gate: `settings` are for its environment, and `of` is called once it runs."""

    def __init__(self, host="127.0.0.1", context=None):
        self.host, self.port, self.context = host, free_port(host), context
        self.settings = {"ADMIN_LISTEN": f"[{host}]:{self.port}" if ":" in host else f"{host}:{self.port}"}

    def client(self, timeout=patience(60)):
        if self.context:
            return http.client.HTTPSConnection("localhost", self.port, context=self.context, timeout=timeout)
        return http.client.HTTPConnection(self.host, self.port, timeout=timeout)

    def ask(self, path, method="GET", body=None, headers=None):
        client = self.client()
        try:
            client.request(method, path, body, headers or {})
            return Answer(client.getresponse())
        finally:
            client.close()

    def raw(self):
        plain = socket.create_connection((self.host, self.port), timeout=patience(60))
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return plain

    def checks(self):
        """By name: the state, and what is said of it; under "" the last line."""
        lines = self.ask("/readyz?verbose").text.splitlines()
        found = {"": lines[-1]}
        for line in lines[:-1]:
            name, _, rest = line.partition("]")[2].partition(" ")
            state, _, detail = rest.partition(": ")
            found[name] = (state, detail)
        return found

    def becomes(self, name, state, within=LONG):
        """What is said of a check once it is in that state."""

        def found():
            checks = self.checks()
            return checks if checks.get(name, ("",))[0] == state else None

        return eventually(found, f"{name} to be {state}", within)[name][1]

    def reads(self, path, status, text=None, within=LONG):
        """The answer once it has this status and, where one is given, this text."""

        def found():
            answer = self.ask(path)
            return answer if answer.status == status and text in (None, answer.text) else None

        return eventually(found, f"{status} {text or ''} of {path}", within)
