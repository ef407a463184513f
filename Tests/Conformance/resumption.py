"""Measures what a full and what a resumed TLS handshake cost the gate: the processor time of its process.

    resumption.py [--handshakes N]

Each handshake is followed by one small request and its answer, which cost the same either way. The client
is Python's ssl, which is the slower side. Exit status 1 when a resumption that was asked for was none, or
saves nothing.
"""

import argparse
import pathlib
import socket
import ssl
import statistics
import time

from conformity import echo_gate, ended_by

REQUEST = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
VERSIONS = {"TLS 1.2": ssl.TLSVersion.TLSv1_2, "TLS 1.3": ssl.TLSVersion.TLSv1_3}
ROUNDS = 5


def processor_time(gate):
    """Nanoseconds that the gate's threads have run so far."""
    threads = pathlib.Path(f"/proc/{gate.process.pid}/task").iterdir()
    return sum(int((thread / "schedstat").read_text().split()[0]) for thread in threads)


def visit(gate, context, session=None):
    """One connection: handshake, request, answer. Its session, and whether it was a resumption."""
    with socket.create_connection((gate.host, gate.port), timeout=10) as plain:
        # As apps do: or the request would wait for the acknowledgement of the client's Finished.
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with context.wrap_socket(plain, server_hostname="localhost", session=session) as client:
            client.sendall(REQUEST)
            while client.recv(4096):
                pass
            return client.session, client.session_reused


def microseconds(gate, context, count, session):
    """What one visit costs the gate, and how many of them were resumptions."""
    before, resumed = processor_time(gate), 0
    for _ in range(count):
        resumed += visit(gate, context, session)[1]
    return (processor_time(gate) - before) / count / 1000, resumed


def measure(gate, name, version, count):
    """A line for this version; whether all was as it should be."""
    context = ssl.create_default_context(cafile=gate.authority)
    context.minimum_version = context.maximum_version = version
    session, _ = visit(gate, context)
    costs = {"full": [], "resumed": []}
    is_good = True
    # By turns, so that whatever else the machine does falls on both.
    for _ in range(ROUNDS):
        for kind, offered, expected in (("full", None, 0), ("resumed", session, count)):
            cost, resumed = microseconds(gate, context, count, offered)
            costs[kind].append(cost)
            is_good = is_good and resumed == expected
    full, resumed = (statistics.median(costs[kind]) for kind in ("full", "resumed"))
    note = "" if is_good else "  FAILURE: a handshake was not of the kind that was asked for"
    print(f"{name}: full {full:.0f} µs, resumed {resumed:.0f} µs, {1 - resumed / full:.0%} less{note}")
    return is_good and resumed < full


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--handshakes", type=int, default=400, help="of each kind in each of five rounds")
    count = parser.parse_args().handshakes
    start = time.monotonic()
    with echo_gate(WORKERS=1, LOG_LEVEL="notice") as gate:
        print(f"processor time of the gate for a connection with one request, median of {ROUNDS} × {count}:")
        results = [measure(gate, name, version, count) for name, version in VERSIONS.items()]
    print(f"in {time.monotonic() - start:.0f} s")
    return 0 if all(results) else 1


if __name__ == "__main__":
    ended_by(main)
