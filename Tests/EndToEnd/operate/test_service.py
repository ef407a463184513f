"""What the service manager hears: sd_notify(3) by the socket protocol, and signs of life that mean something."""

import os
import signal
import socket
import struct
import time

import pytest

from clients import Raw, head
from stopped_thread import StoppedThread
from waiting import LONG, eventually, patience
from websocket import RawWebSocket


SO_TIMESTAMPNS = 35  # asm-generic/socket.h


class Manager:
    """The socket of a service manager."""

    def __init__(self, name):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(name.replace("@", "\0", 1) if name.startswith("@") else name)
        self.socket.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        self.environment = {"NOTIFY_SOCKET": name}
        self.sent_at = None  # when the last message that was heard has been sent, however long it then lay there

    def hear(self, within=patience(LONG)):
        """The next message as a dictionary; None when none comes."""
        self.socket.settimeout(within)
        try:
            message, ((_, _, stamp),), _, _ = self.socket.recvmsg(4096, 256)
        except TimeoutError:
            return None
        seconds, nanoseconds = struct.unpack("qq", stamp)
        self.sent_at = seconds + nanoseconds / 1e9
        return dict(line.split("=", 1) for line in message.decode().split("\n"))

    def hear_until(self, name, within=patience(LONG)):
        """The first message with `name`, and those before it."""
        heard = []
        deadline = time.monotonic() + within
        while (left := deadline - time.monotonic()) > 0:
            message = self.hear(left)
            if message and name in message:
                return message, heard
            heard.append(message)
        raise AssertionError(f"no {name} within {within} s, but {heard}")

    def hear_nothing_for(self, seconds, but=0):
        """What is on its way is thrown away first; of what was decided before, so many may still come."""
        while self.hear(0.001):
            pass
        for _ in range(but):
            if self.hear(seconds) is None:
                return
        message = self.hear(seconds)
        assert message is None, message


@pytest.fixture(params=["path", "abstract"])
def manager(request, folder):
    made = Manager(str(folder / "notify") if request.param == "path" else f"@{folder.name}-notify")
    yield made
    made.socket.close()


def test_ready_means_listening_and_stopping_means_draining(gates, backend, manager):
    gate = gates(backend, start=False, **manager.environment).launch()
    ready = manager.hear()
    assert ready["READY"] == "1" and gate.address in ready["STATUS"]
    with Raw(gate) as client:  # at once: no second try
        assert client.send(head("GET", "/healthz")).reply().status == 200
    gate.signal(signal.SIGTERM)
    stopping = manager.hear()
    assert stopping["STOPPING"] == "1" and "WATCHDOG" not in stopping
    assert gate.wait() == 0
    assert manager.hear(0.01) is None


def test_a_gate_that_cannot_start_is_never_ready(gates, backend, folder):
    manager = Manager(str(folder / "notify"))
    first = gates(backend)
    second = gates(backend, port=first.port, start=False, ATTESTED_KEYS_PATH=folder / "other.json",
                   CONTROL_SOCKET=folder / "other.sock", **manager.environment)  # fmt: skip
    assert second.launch().wait() == 69
    assert manager.hear(0.01) is None


def test_the_status_counts_sessions(gates, folder):
    manager = Manager(str(folder / "notify"))
    gate = gates("echo:", REQUIRE_APP_AUTH="false", **manager.environment)
    assert manager.hear()["STATUS"].endswith(", 0 sessions")
    client = RawWebSocket(gate)
    gate.signal(signal.SIGHUP)
    assert manager.hear_until("READY")[0]["STATUS"].endswith(", 1 session")
    client.close()


@pytest.mark.parametrize("good", [True, False])
def test_a_reload_is_told_before_and_after(gates, backend, folder, manager, good):
    """Also a refused one: the gate goes on as it was, so it is ready."""
    path = folder / "portcullis.env"
    path.write_text("")
    gate = gates(backend, start=False, **manager.environment).start("--config", str(path))
    assert "READY" in manager.hear()
    path.write_text("LOG_LEVEL=notice\n" if good else "LOG_LEVEL=banana\n")
    before = time.monotonic_ns() // 1000
    gate.signal(signal.SIGHUP)
    reloading, ready = manager.hear(), manager.hear()
    assert reloading["RELOADING"] == "1"
    assert before <= int(reloading["MONOTONIC_USEC"]) <= time.monotonic_ns() // 1000
    assert ready["READY"] == "1"
    gate.event(event="reloaded" if good else "reload_failed")


def beating(manager, **changes):
    return {**manager.environment, "WATCHDOG_USEC": "200000", **changes}


def test_signs_of_life_come_at_half_the_interval(gates, backend, manager):
    gate = gates(backend, **beating(manager))
    assert "READY" in manager.hear()
    times = [manager.sent_at]
    for _ in range(6):
        assert manager.hear()["WATCHDOG"] == "1"
        times.append(manager.sent_at)
    # The first one comes at once, so six take five halves. A machine that stands still is late with one or another.
    assert 0.45 < times[-1] - times[0]
    assert min(later - earlier for earlier, later in zip(times[1:], times[2:])) < 0.5
    gate.signal(signal.SIGHUP)
    _, before = manager.hear_until("RELOADING")
    assert all("WATCHDOG" in message for message in before)
    manager.hear_until("WATCHDOG")


def test_another_process_is_watched(gates, backend, manager):
    gates(backend, **beating(manager, WATCHDOG_PID="1"))
    assert "READY" in manager.hear()
    manager.hear_nothing_for(0.5)


@pytest.mark.parametrize("thread", ["loop-0", "loop-1", "portcullis"])
def test_a_thread_that_hangs_ends_the_signs_of_life(gates, backend, folder, thread):
    """Every loop counts, and the thread that hears SIGTERM, whose name is the program's."""
    manager = Manager(str(folder / "notify"))
    gate = gates(backend, WORKERS="2", **beating(manager))
    number = thread.removeprefix("loop-")
    for _ in range(10):
        manager.hear_until("WATCHDOG")
        known = len(gate.events())

        def said():
            lines = [event for event in gate.events()[known:] if event.get("event") == "loops_silent"]
            return next((line for line in lines if number in line["loops"].split(",")), None)

        with StoppedThread(gate.process.pid, thread):
            # Ten times as long as they need; all may have answered just before.
            manager.hear_nothing_for(1, but=1)
            if thread == "portcullis":
                break
            line = eventually(said, f"a line about {thread}")
        assert line["level"] == "error"
        # The other one may just have been slow, and is named with it.
        if line["loops"] == number:
            break
    else:
        raise AssertionError(f"never {thread} alone: {line}")
    manager.hear_until("WATCHDOG")


def test_a_manager_that_is_gone_is_mentioned_once(gates, backend, folder):
    gate = gates(backend, NOTIFY_SOCKET=folder / "nobody", WATCHDOG_USEC="20000")
    gate.event(event="service_manager", level="warning")
    gate.signal(signal.SIGHUP)
    gate.event(event="reloaded")
    assert gate.app.request("GET", "/healthz").status == 200
    assert sum(event.get("event") == "service_manager" for event in gate.events()) == 1


@pytest.mark.parametrize("name, value", [("NOTIFY_SOCKET", "vsock:2:1"), ("WATCHDOG_USEC", "soon")])
def test_nonsense_is_mentioned_and_harmless(gates, backend, name, value):
    gate = gates(backend, **{name: value})
    assert value in gate.event(event="service_manager")["reason"]


def test_the_managers_variables_are_no_slips_of_the_finger(gates, backend, folder):
    """What systemd sets for every service looks like none of the settings."""
    manager = Manager(str(folder / "notify"))
    gate = gates(
        backend,
        **beating(manager),
        WATCHDOG_PID="1",
        INVOCATION_ID="0123456789abcdef0123456789abcdef",
        JOURNAL_STREAM="8:1",
        STATE_DIRECTORY="/var/lib/portcullis:/var/lib/portcullis/config",
        SYSTEMD_EXEC_PID="1",
        LISTEN_FDS="0",
        LISTEN_PID="1",
        LOGNAME="portcullis",
        SHELL="/usr/sbin/nologin",
    )
    assert "READY" in manager.hear()
    eventually(lambda: any(event.get("event") == "listening" for event in gate.events()), "listening")
    names = ["NOTIFY_SOCKET", "WATCHDOG", "STATE_DIRECTORY", "LISTEN_", "LOGNAME", "JOURNAL", "INVOCATION"]
    warnings = [str(event) for event in gate.events() if event.get("event") == "configuration"]
    assert not [name for name in names if name in str(warnings)]
