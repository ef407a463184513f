"""The suite's store for descriptors: what a process of a few lines of Python stores is there for the next one."""

import json
import os
import signal
import socket
import subprocess
import sys

import pytest

from descriptor_store import DescriptorStore
from waiting import eventually

# Reads orders, and answers each: an independent speaker of sd_notify(3) and sd_listen_fds(3).
CHILD = """
import array, json, os, socket, sys

notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
notify.connect(os.environ["NOTIFY_SOCKET"])

def tell(text, *descriptors):
    rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))] if descriptors else []
    notify.sendmsg([text.encode()], rights)

names = os.environ.get("LISTEN_FDNAMES", "").split(":") if os.environ.get("LISTEN_FDS") else []
mine = os.environ.get("LISTEN_PID", str(os.getpid())) == str(os.getpid())
kept = {name: 3 + place for place, name in enumerate(names)}
extra = [int(d) for d in os.listdir("/proc/self/fd") if int(d) > 2 + len(names) and int(d) != notify.fileno()]
tell("READY=1\\nSTATUS=fine")
print(json.dumps({
    "names": names, "mine": mine, "store": os.environ["FDSTORE"], "pid": os.getpid(),
    "extra": [d for d in extra if os.path.exists(f"/proc/self/fd/{d}")],
}), flush=True)
made = []
for line in sys.stdin:
    order, *words = line.split()
    if order == "pair":
        one, other = socket.socketpair()
        made += [one, other]
        kept[words[0]] = other.fileno()
        tell(f"FDSTORE=1\\nFDNAME={words[0]}" + ("" if words[1:] == ["polled"] else "\\nFDPOLL=0"), one.fileno())
    elif order == "again":
        tell(f"FDSTORE=1\\nFDNAME={words[0]}\\nFDPOLL=0", kept[words[0]])
    elif order == "listen":
        server = socket.create_server(("127.0.0.1", 0))
        made.append(server)
        tell("FDSTORE=1\\nFDNAME=l0\\nFDPOLL=0", server.fileno())
        print(server.getsockname()[1], flush=True)
    elif order == "write":
        os.write(kept[words[0]], words[1].encode())
    elif order == "read":
        print(os.read(kept[words[0]], 100).decode(), flush=True)
    elif order == "accept":
        with socket.socket(fileno=os.dup(kept["l0"])) as server:
            server.accept()[0].sendall(b"welcome")
    elif order == "close":
        os.close(kept[words[0]])
    elif order == "remove":
        tell(f"FDSTOREREMOVE=1\\nFDNAME={words[0]}")
    elif order == "tell":
        tell(" ".join(words).replace("|", "\\n"))
"""


class Child:
    def __init__(self, store):
        self.process = subprocess.Popen(
            [*store.prefix, sys.executable, "-I", "-S", "-c", CHILD],
            env={"PATH": os.environ["PATH"], **store.environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.found = json.loads(self.process.stdout.readline())

    def say(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return self

    def ask(self, line):
        self.say(line)
        return self.process.stdout.readline().strip()

    def end(self, number=signal.SIGKILL):
        self.process.send_signal(number)
        self.process.wait(60)
        self.process.stdin.close()
        self.process.stdout.close()


@pytest.fixture
def store(folder):
    made = DescriptorStore(folder, limit=300)
    yield made
    made.finish()


@pytest.fixture
def children(store):
    made = []

    def start():
        made.append(Child(store))
        return made[-1]

    yield start
    for child in made:
        if child.process.poll() is None:
            child.end()
    assert not store.faults


def test_what_a_killed_process_stored_is_the_next_ones(store, children):
    first = children()
    assert first.found == {
        "names": [],
        "mine": True,
        "store": "300",
        "pid": first.process.pid,
        "extra": [],
    }
    for name in ("s000", "s001"):
        first.say(f"pair {name}").say(f"write {name} from-{name}")
    # Its answer is behind what was asked for before.
    port = int(first.ask("listen"))
    eventually(lambda: store.names() == {"l0": 1, "s000": 1, "s001": 1}, "three descriptors")
    first.end()
    # Nobody is there to accept it, and yet it is no refusal.
    with socket.create_connection(("127.0.0.1", port)) as waiting:
        second = children()
        assert sorted(second.found["names"]) == ["l0", "s000", "s001"]
        assert second.found["mine"] and second.found["extra"] == []
        assert second.ask("read s001") == "from-s001" and second.ask("read s000") == "from-s000"
        second.say("accept")
        assert waiting.recv(100) == b"welcome"
    assert store.executed_at is not None
    assert store.names()  # which hears first what was said
    assert [told.fields for told in store.told if told.pid == second.found["pid"]] == [
        {"READY": "1", "STATUS": "fine"}
    ]


def test_signals_are_as_a_manager_leaves_them(store):
    """Python ignores some for itself."""
    command = [*store.prefix, "grep", "SigIgn", "/proc/self/status"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    # Two belong to the C library, which lets nobody have them.
    assert int(done.stdout.split()[1], 16) & ~(0b11 << 31) == 0


def test_the_order_of_descriptors_is_nobodys_promise(store, children):
    first = children()
    for number in range(8):
        first.say(f"pair s{number:03}")
    eventually(lambda: store.legs() == 8, "eight descriptors")
    first.end()
    orders = set()
    for _ in range(4):
        child = children()
        orders.add(tuple(child.found["names"]))
        child.end()
    assert len(orders) > 1


def test_removed_by_name_and_dropped_by_the_limit(store, children):
    child = children()
    for number in range(301):
        child.say(f"pair s{number:03}")
    eventually(lambda: store.dropped == 1, "one too many")
    assert store.legs() == 300
    child.say("remove s007").say("remove none").say("pair late")
    eventually(lambda: store.names()["late"] == 1, "room for another one")
    assert store.names()["s007"] == 0
    child.end()
    # More than one message may carry.
    assert len(children().found["names"]) == 300


def test_the_same_socket_is_stored_once(store, children):
    first = children().say("pair s000")
    eventually(lambda: store.legs() == 1, "a descriptor")
    first.end()
    second = children().say("again s000").say("tell WATCHDOG=1")
    eventually(lambda: any("WATCHDOG" in told.fields for told in store.told), "the word behind it")
    assert store.names() == {"s000": 1} and second.found["names"] == ["s000"]


def test_a_polled_descriptor_goes_when_its_other_end_does(store, children):
    child = children().say("pair a polled").say("pair b")
    eventually(lambda: store.names() == {"a": 1, "b": 1}, "two descriptors")
    child.say("close a").say("close b").say("tell WATCHDOG=1")
    eventually(lambda: store.names() == {"b": 1}, "the polled one is gone")


def test_a_dropped_store_is_the_last_close(store, children):
    child = children().say("pair s000")
    eventually(lambda: store.legs() == 1, "a descriptor")
    mine = os.dup(store.descriptor("s000"))
    child.end()
    store.drop()
    assert not store.names()
    with socket.socket(fileno=mine):
        assert children().found["names"] == []


def test_deaf_and_gone(store, children):
    child = children()
    with store.deaf():
        child.say("tell STATUS=one")
        assert child.ask("listen")
        assert not any(told.fields.get("STATUS") == "one" for told in store.told) and not store.names()
    eventually(lambda: store.names() == {"l0": 1}, "heard after all")
    store.lose_socket()
    child.say("tell STATUS=two")
    assert child.process.wait(60) == 1  # sendmsg fails


@pytest.mark.parametrize(
    "message", ["FDSTORE=1|FDNAME=a:b", "FDSTORE=1|FDNAME=x", "FDSTOREREMOVE=1", "FDSTORE=1|FDNAME="]
)
def test_what_breaks_the_protocol_is_noticed(store, children, message):
    children().say(f"tell {message}")
    eventually(lambda: store.faults, "a fault")
    store.faults.clear()


def test_others_are_not_heard(store, children):
    child = children()
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as stranger:
        stranger.sendto(b"FDSTOREREMOVE=1\nFDNAME=s000", str(store.notify_path))
    eventually(lambda: store.faults, "a fault")
    assert not any("FDSTOREREMOVE" in told.fields for told in store.told)
    store.faults.clear()
    child.end()
