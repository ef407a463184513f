"""A program that listens on every address of its host, in a network of its own where nobody else is: its doors are UNIX
sockets.

    unshare --map-root-user --net python3 alone.py door=/path/in:4000 exit=4001:/path/out -- program argument…

Whoever connects to the socket of a `door` is connected to that port of the program's; a connection of the program's to
the port of an `exit` goes on to that socket outside. Each gets its own connection, and each end is passed on."""

import contextlib
import fcntl
import os
import shutil
import socket
import struct
import subprocess
import sys
import threading
import time

SIOCSIFFLAGS, UP_AND_RUNNING = 0x8914, 0x41
# The program may not listen yet, or again.
LONG = 60


def missing(*programs):
    """Why a program cannot be run so; None when it can."""
    for program in programs:
        if not shutil.which(program):
            return f"{program} is not installed"
    tried = subprocess.run(["unshare", "--map-root-user", "--net", "true"], capture_output=True, text=True)
    return None if tried.returncode == 0 else f"no network of its own: {tried.stderr.strip()}"


def command(program, doors, exits=()):
    """The command that runs `program`; doors as (path, port), exits as (port, path)."""
    ways = [f"door={path}:{port}" for path, port in doors] + [f"exit={port}:{path}" for port, path in exits]
    return ["unshare", "--map-root-user", "--net", sys.executable, __file__, *ways, "--", *program]


def main(arguments):
    ways, program = arguments[: arguments.index("--")], arguments[arguments.index("--") + 1 :]
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", UP_AND_RUNNING))
    for way in ways:
        kind, _, rest = way.partition("=")
        first, _, second = rest.rpartition(":") if kind == "door" else rest.partition(":")
        listener = socket.socket(socket.AF_UNIX if kind == "door" else socket.AF_INET, socket.SOCK_STREAM)
        listener.bind(first if kind == "door" else ("127.0.0.1", int(first)))
        listener.listen(64)
        there = ("127.0.0.1", int(second)) if kind == "door" else second
        threading.Thread(target=serve, args=(listener, there), daemon=True).start()
    running = subprocess.Popen(program, stdin=subprocess.DEVNULL)
    # Whoever has started this holds the other end, and is gone when it ends.
    threading.Thread(target=lambda: (sys.stdin.read(), running.kill()), daemon=True).start()
    os._exit(running.wait() and 1)


def serve(listener, there):
    while True:
        near, _ = listener.accept()
        threading.Thread(target=join, args=(near, there), daemon=True).start()


def join(near, there):
    far = reach(there)
    backwards = threading.Thread(target=carry, args=(far, near), daemon=True)
    backwards.start()
    carry(near, far)
    backwards.join()
    near.close()
    far.close()


def reach(there):
    deadline = time.monotonic() + LONG
    while True:
        far = socket.socket(socket.AF_UNIX if isinstance(there, str) else socket.AF_INET, socket.SOCK_STREAM)
        try:
            far.connect(there)
            return far
        except OSError:
            far.close()
            if time.monotonic() > deadline:
                raise
            time.sleep(0.01)


def carry(source, target):
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
    with contextlib.suppress(OSError):
        target.shutdown(socket.SHUT_WR)


if __name__ == "__main__":
    main(sys.argv[1:])
