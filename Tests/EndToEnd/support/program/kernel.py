"""What the kernel holds for the gate's connections, and a peer that stops acknowledging what it holds."""

import ctypes
import fcntl
import re
import socket
import struct
import subprocess
import termios

SO_ATTACH_FILTER = 26
# BPF_RET with the constant 0: of each segment nothing is kept (linux/filter.h).
KEEP_NOTHING = struct.pack("HBBI", 0x06, 0, 0, 0)


def stop_acknowledging(stream):
    """From now on nothing reaches this end or is acknowledged: the other end has to keep what it sends."""
    program = ctypes.create_string_buffer(KEEP_NOTHING)
    header = struct.pack("@HP", 1, ctypes.addressof(program))
    stream.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, header)


def socket_memory(*filters):
    """For each of the connections that `ss` finds by `filters` what its skmem says: r, rb, w, tb and others."""
    listed = subprocess.run(
        ["ss", "-tmnH", "state", "established", *filters], capture_output=True, text=True, check=True
    ).stdout
    return [
        {name: int(bytes) for name, bytes in re.findall(r"([a-z]+)(\d+)", found)}
        for found in re.findall(r"skmem:\((.*?)\)", listed)
    ]


def queued_bytes(*filters):
    """Kernel memory charged to the connections that `ss` finds by `filters`, and their count."""
    found = socket_memory(*filters)
    return sum(memory["r"] + memory["w"] for memory in found), len(found)


def buffer_bounds(port, peer):
    """What the connection of these two ports may keep at its first end: to receive, and to send."""
    (memory,) = socket_memory("sport", "=", f":{port}", "and", "dport", "=", f":{peer}")
    return memory["rb"], memory["tb"]


def unsent(stream):
    """Bytes that the other end has not acknowledged (SIOCOUTQ)."""
    return struct.unpack("i", fcntl.ioctl(stream, termios.TIOCOUTQ, bytes(4)))[0]


def cost_of_sessions(gate, backend_connections):
    """Kernel memory of the gate's ends of all its sessions: those to the players, and those to the game."""
    clients, count = queued_bytes("sport", "=", f":{gate.port}")
    # The port alone would not do: the kernel gives it to others as well who call somebody else.
    ends = [(c.socket.getpeername()[1], c.socket.getsockname()[1]) for c in backend_connections]
    games = sum(queued_bytes("sport", "=", f":{gates}", "and", "dport", "=", f":{games}")[0] for gates, games in ends)
    assert count >= len(ends), f"ss shows {count} connections of {len(ends)} players"
    return clients + games
