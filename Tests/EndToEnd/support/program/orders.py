"""Orders to the registry over a gate's sockets, as the commands give them, also as other users of the host."""

import contextlib
import json
import socket
import subprocess
import sys

from waiting import eventually, patience


def ask(path, request, within=20):
    """One request, one answer; again where it is told to, as the one before may not have left its thread yet."""

    def answer():
        found = ask_once(path, request, within)
        return None if found.get("error", {}).get("code") == "busy" else found

    return eventually(answer, "a thread for the request")


def ask_once(path, request, within):
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(patience(within))
        client.connect(str(path))
        # Who may not ask is told so before his request is read.
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            client.sendall(json.dumps(request).encode() + b"\n")
        return json.loads(read_line(client))


def read_line(client):
    received = b""
    while not received.endswith(b"\n"):
        piece = client.recv(65536)
        if not piece:
            raise ConnectionError(f"closed after {received!r}")
        received += piece
    return received


def order(gate, verb, **arguments):
    """The result of an order that is done; a refusal is an assertion."""
    answer = answered(gate, verb, **arguments)
    assert answer.get("answer") == "registry", answer
    return answer["result"]


def answered(gate, verb, **arguments):
    """The answer, whatever it is."""
    return ask(gate.environment["CONTROL_SOCKET"], {"command": "registry", "verb": verb, "arguments": arguments})


def ask_as(user, group, path, request):
    """The same in a process of another user; None when he may not even connect. Only for the superuser."""
    program = (
        "import sys; sys.path[:0] = sys.argv[1].split(':'); import json, orders\n"
        "try: print(json.dumps(orders.ask(sys.argv[2], json.loads(sys.argv[3]))))\n"
        "except PermissionError: print('null')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, ":".join(sys.path), str(path), json.dumps(request)],
        user=user, group=group, extra_groups=[], capture_output=True, text=True, timeout=patience(60),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
