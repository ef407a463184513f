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


def queued_bytes(*filters):
    """Kernel memory charged to the connections that `ss` finds by `filters` (skmem), and their count."""
    listed = subprocess.run(
        ["ss", "-tmnH", "state", "established", *filters], capture_output=True, text=True, check=True
    ).stdout
    found = re.findall(r"skmem:\(r(\d+),rb\d+,t(\d+),tb\d+,f(\d+),w(\d+),", listed)
    return sum(int(received) + int(written) for received, _, _, written in found), len(found)


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
