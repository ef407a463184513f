"""`portcullis supervise`: what becomes of its gate, of what that listens on, and of what others say to it."""

import contextlib
import json
import os
import pathlib
import re
import signal
import socket
import struct
import subprocess
import threading

import pytest

from clients import Raw, head
from evenings import Evening
from gate import BINARY
from serving_user import place_of_nobody, settings_of
from supervised import IS_ROOT, Supervised, as_nobody, make_store
from telnet_game import TelnetGame
from waiting import LONG, eventually, patience

USAGE, CONFIGURATION = 64, 78
SLOW_START = """
import os, sys
os.mkfifo("go")
open("started", "w").close()
open("go").close()
os.execv(REAL, ["portcullis", *sys.argv[1:]])
"""


@pytest.fixture
def place(pki, authority):
    with place_of_nobody(pki) as made:
        make_store(made)
        yield made


@pytest.fixture
def supervised(gates, backend, place):
    """Makes gates below a supervisor, which are not started; keywords change the environment."""

    def make(**changes):
        settings = settings_of(place, **{"RUN_AS": None, "WORKERS": 2, **changes})
        return Supervised(gates(backend, start=False, **settings), place)

    return make


def answered(gate):
    """A connection that is served."""
    with Raw(gate) as client:
        return client.send(head("GET", "/healthz")).reply().status


# ---- its life


@pytest.mark.skipif(not IS_ROOT, reason="nobody can be root here")
def test_never_as_root():
    done = subprocess.run(
        [BINARY, "supervise", "--", "serve"], capture_output=True, text=True, timeout=patience(30)
    )
    assert done.returncode == CONFIGURATION
    assert "root" in done.stderr and "--user" in done.stderr and "setpriv" in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [[], ["serve"], ["--", "demo"], ["--"], ["--descriptors", "0", "--", "serve"],
     ["--descriptors", "16385", "--", "serve"]],
)  # fmt: skip
def test_used_wrongly(arguments):
    done = subprocess.run(
        [BINARY, "supervise", *arguments], capture_output=True, text=True, timeout=patience(30)
    )
    assert done.returncode == USAGE, done.stderr


def test_the_gate_has_a_group_of_its_own(supervised):
    """A terminal's interrupt comes to the supervisor alone, who passes it on once."""
    it = supervised().start()
    assert os.getpgid(it.child) == it.child
    it.gate.signal(signal.SIGINT)
    assert it.gate.wait() == 0
    # A second one would have cut this short.
    said = [event.get("event") for event in it.gate.events()]
    assert said.count("sessions_handed_over") == 1 and said[-1] == "stopped"


def test_an_end_is_the_end(supervised):
    """SIGTERM is passed on; what was kept goes with the supervisor."""
    it = supervised().start()
    child = it.child
    it.gate.stop()
    assert not pathlib.Path(f"/proc/{child}").exists()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((it.gate.host, it.gate.port))


def test_an_end_before_the_gate_listens_comes_to_it_all_the_same(supervised):
    """It has no handler yet, and does not die of it: the signal waits."""
    it = supervised().start()
    it.replace(SLOW_START, "/usr/bin/python3")  # the shell would take signals
    it.place.chmod(0o777)
    it.gate.signal(signal.SIGUSR2)
    eventually(lambda: (it.place / "started").exists(), "the gate is started")
    it.gate.signal(signal.SIGTERM)
    (it.place / "go").write_text("")
    assert it.gate.wait() == 0
    assert sum(event.get("event") == "stopped" for event in it.gate.events()) == 2


@pytest.mark.parametrize("status", [0, 64, 65, 78])
def test_ends_that_are_final(supervised, status):
    it = supervised().start()
    it.replace(f"exit {status}")
    os.kill(it.child, signal.SIGKILL)
    assert it.gate.wait() == status


@pytest.mark.parametrize("end", ["exit 69", "exit 70", "kill -9 $$"])
def test_deaths_are_followed_by_longer_and_longer_waits(supervised, end):
    it = supervised().start()
    it.replace(end)
    os.kill(it.child, signal.SIGKILL)
    eventually(lambda: "in 0.8 s" in it.gate.log_text(), "the fourth death", 60)
    waits = re.findall(r"it is started again in ([\d.]+) s", it.gate.log_text())
    assert waits[:4] == ["0.1", "0.2", "0.4", "0.8"]
    it.replace('exec "$REAL" "$@"')
    it.served(2)
    assert answered(it.gate) == 200


def test_an_end_while_there_is_no_gate(supervised):
    it = supervised().start()
    it.take_away()
    os.kill(it.child, signal.SIGKILL)
    eventually(lambda: "cannot start" in it.gate.log_text(), "the program is missed")
    it.gate.signal(signal.SIGTERM)
    assert it.gate.wait() == 0


def test_the_gate_does_not_outlive_its_supervisor(supervised):
    """Nobody would keep anything for it, or start it again."""
    it = supervised().start()
    child = it.child
    it.gate.process.kill()
    it.gate.process.wait()
    eventually(lambda: not pathlib.Path(f"/proc/{child}").exists(), "the gate ends as well")
    assert it.gate.event(event="stopped")


def test_reload_is_passed_on(supervised):
    it = supervised().start()
    child = it.child
    it.gate.signal(signal.SIGHUP)
    it.gate.event(event="reloaded")
    assert it.child == child


# ---- restarts


def test_a_restart_takes_the_program_that_is_there(supervised):
    it = supervised().start()
    supervisor, child = it.gate.process.pid, it.child
    it.replace('echo "a newer program" >&2; exec "$REAL" "$@"')
    it.gate.signal(signal.SIGUSR2)
    it.another(child)
    it.served(2)
    assert it.gate.process.pid == supervisor and it.gate.running
    assert "a newer program" in it.gate.log_text() and "is started again in" not in it.gate.log_text()
    assert answered(it.gate) == 200


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGUSR2])
def test_who_connects_between_two_gates_is_served_by_the_next(supervised, how):
    """Not one is refused or cut off, however long it takes."""
    it = supervised().start()
    it.take_away()
    if how == signal.SIGKILL:
        os.kill(it.child, how)
    else:
        it.gate.signal(how)
    eventually(lambda: "cannot start" in it.gate.log_text(), "there is no gate")
    # Each try to start it has a number for a moment.
    eventually(lambda: it.child is None, "nobody is there")
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.create_connection((it.gate.host, it.gate.port))) for _ in range(20)]
        eventually(lambda: it.child is None, "nobody was there")
        assert it.listens() == 1
        it.put_back()
        it.served(2)
        for waiting in sockets:
            with Raw(it.gate, connected=waiting) as client:
                assert client.send(head("GET", "/healthz")).reply().status == 200


def test_players_stay(gates, new_device, place):
    """Over restarts and kills, on the connection to the game that they had; and not over the parent's end."""

    def unstarted(game, **environment):
        return gates(game, start=False, **environment)

    with contextlib.ExitStack() as stack:
        game = TelnetGame()
        stack.callback(game.stop)
        evening = Evening(unstarted, new_device, game, **settings_of(place, RUN_AS=None))
        stack.callback(evening.finish)
        it = Supervised(evening.gate, place).start()
        before = it.kept_by_itself()
        player, seat = evening.seated()
        for count, how in enumerate([signal.SIGUSR2, signal.SIGKILL, signal.SIGUSR2], 1):
            eventually(lambda: it.kept() == before + 1, "the leg is kept")
            if how == signal.SIGUSR2:
                it.gate.signal(how)
            else:
                os.kill(it.child, how)
            it.served(count + 1)
            evening.gate.app.close()
            player.is_gate_killed |= how == signal.SIGKILL
            player.until_lost()
            session = player.connect()
            assert session["resumed"] is True and session["kept"] is True, session
            player.line(f"still here {count}")
            assert seat.heard_lines(count)[-1] == f"still here {count}"
        assert game.count == 1 and not seat.ended.is_set()
        it.gate.stop()
        seat.gone()


def test_fewer_descriptors_than_listeners(supervised):
    """What is not kept is bound anew, and that it is not kept is said."""
    it = supervised(WORKERS=3).start("--descriptors", "2")
    eventually(lambda: "cannot be kept" in it.gate.log_text(), "it is said")
    assert it.kept() <= 2
    os.kill(it.child, signal.SIGKILL)
    it.served(2)
    assert answered(it.gate) == 200


def test_what_the_supervisor_was_left_is_not_the_gates(supervised):
    reading, writing = os.pipe()
    it = supervised().start(pass_fds=[writing])
    os.close(writing)
    with open(reading, "rb") as pipe:
        assert pipe.read() == b""


@pytest.mark.unsanitized("its memory is the sanitizer's")
def test_it_is_small(supervised):
    it = supervised().start()
    rollup = pathlib.Path(f"/proc/{it.gate.process.pid}/smaps_rollup").read_text()
    private = sum(int(kib) for kib in re.findall(r"^Private_\w+: +(\d+) kB", rollup, re.M))
    assert private < 6 * 1024, rollup


@pytest.mark.skipif(not IS_ROOT, reason="only root can be somebody else")
def test_its_own_user_cannot_look_into_it(supervised):
    """What it keeps are connections of players, in the clear."""
    it = supervised().start()
    looked = subprocess.run(["ls", f"/proc/{it.gate.process.pid}/fd"], capture_output=True, text=True, **as_nobody())
    assert looked.returncode != 0 and "Permission denied" in looked.stderr


# ---- what it hears


def test_others_are_not_heard(supervised):
    """Attack: somebody else on the machine gives it a listener, takes the gate's away, and says that all is well."""
    it = supervised().start()
    kept = it.kept_by_itself()
    mine, theirs = socket.socketpair()
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
        sender.connect(it.notify_socket())
        for text in [b"FDSTOREREMOVE=1\nFDNAME=l0", b"FDSTOREREMOVE=1\nFDNAME=l1", b"x" * 9000, b""]:
            sender.send(text)
        for text in [b"FDSTORE=1\nFDNAME=l9\nFDPOLL=0", b"FDSTORE=1\nFDNAME=l0\nFDPOLL=0"]:
            socket.send_fds(sender, [text], [theirs.fileno()] * 2)
    theirs.close()
    mine.settimeout(patience(LONG))
    # Behind which all of it was heard.
    assert mine.recv(1) == b"", "what they sent is closed"
    assert it.kept() == kept
    os.kill(it.child, signal.SIGKILL)
    it.served(2)
    assert answered(it.gate) == 200
    assert not [event for event in it.gate.events() if event.get("event") == "stored_descriptor_unknown"]


STRANGER = """
import os, socket, sys
name = sys.argv[1].replace("@", chr(0), 1)
beside = [os.open("/dev/null", os.O_RDONLY)] * int(sys.argv[2])
sender = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
sender.connect(name)
print("ready", flush=True)
while True:
    try:
        socket.send_fds(sender, [b"FDSTORE=1" + bytes([10]) + b"FDNAME=l0"], beside)
        for _ in range(9):
            sender.send(b"WATCHDOG=1")
    except OSError:
        # The kernel lets nobody have more on the way than he may have open.
        pass
"""


@pytest.mark.parametrize("beside", [1, 253])
def test_a_flood_of_others_holds_nothing_up(supervised, beside):
    """Attack: descriptors without end. What the gate says is heard, signals are obeyed, and nothing piles up."""
    it = supervised().start()
    kept = it.kept_by_itself()
    command = ["/usr/bin/python3", "-c", STRANGER, it.notify_socket().replace(b"\0", b"@").decode(), str(beside)]
    floods = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(2)]
    try:
        for flood in floods:
            assert flood.stdout.readline() == b"ready\n"
        for number in (2, 3):
            os.kill(it.gate.process.pid, signal.SIGUSR2)
            it.served(number)
        os.kill(it.child, signal.SIGKILL)
        it.served(4)
        assert answered(it.gate) == 200
        assert it.kept() == kept
        eventually(lambda: threads_of(it.gate.process.pid) <= 8, "threads that have ended")
        it.gate.process.send_signal(signal.SIGTERM)
        assert it.gate.process.wait(patience(30)) == 0
    finally:
        for flood in floods:
            flood.kill()
            flood.wait()


def threads_of(pid):
    return len(os.listdir(f"/proc/{pid}/task"))


def test_a_descriptor_that_does_not_let_itself_be_closed(supervised):
    """Attack: its close(2) waits for ten minutes until somebody reads who never does (SO_LINGER). Nobody waits for that."""
    it = supervised().start()
    kept = it.kept_by_itself()
    with socket.socket() as listener, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
        listener.bind(("127.0.0.1", 0))
        listener.listen(64)
        sender.connect(it.notify_socket())
        # So that it is the last one who has them.
        it.gate.signal(signal.SIGSTOP)
        for _ in range(8):
            with socket.create_connection(listener.getsockname()) as lingering:
                lingering.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 600))
                lingering.setblocking(False)
                with contextlib.suppress(BlockingIOError):
                    while True:
                        lingering.send(bytes(65536))
                socket.send_fds(sender, [b"FDSTORE=1\nFDNAME=l0"], [lingering.fileno()])
        it.gate.signal(signal.SIGCONT)
        os.kill(it.child, signal.SIGKILL)
        it.served(2)
        assert answered(it.gate) == 200
        assert it.kept() == kept
        it.gate.process.send_signal(signal.SIGTERM)
        assert it.gate.process.wait(patience(30)) == 0


# ---- what it keeps, of a gate that says more than ours does

GATE = """
import json, os, select, socket, sys
names = os.environ["LISTEN_FDNAMES"].split(":")
assert os.environ["LISTEN_PID"] == str(os.getpid()) and int(os.environ["LISTEN_FDS"]) == len(names)
for number in range(3, 3 + len(names)):
    os.fstat(number)
with open("store/seen", "a") as seen:
    print(json.dumps(names), file=seen)
manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
manager.connect(os.environ["NOTIFY_SOCKET"].replace("@", chr(0), 1))
null = os.open("/dev/null", os.O_RDONLY)

def store(text, number=null):
    socket.send_fds(manager, [("FDSTORE=1" + chr(10) + text).encode()], [number])

def remove(name):
    manager.send(("FDSTOREREMOVE=1" + chr(10) + "FDNAME=" + name).encode())

def meet():
    reading, writing = os.pipe()
    socket.send_fds(manager, [b"BARRIER=1"], [writing])
    os.close(writing)
    return reading

def settle(reading=None):
    assert os.read(meet() if reading is None else reading, 1) == b""
"""


OURS = re.compile(r"l\d|slot|over")


def found(it, script):
    """The names that the second of two gates finds, of which the first does this and dies."""
    it.replace(GATE + script + "\nsettle()\nos._exit(70)", "/usr/bin/python3")
    os.kill(it.child, signal.SIGKILL)
    seen = it.place / "store/seen"
    eventually(lambda: seen.exists() and len(seen.read_text().splitlines()) >= 2, "two of them", 60)
    it.replace('exec "$REAL" "$@"')
    it.served(2)
    return json.loads(seen.read_text().splitlines()[1])


def kept_names(it, script):
    """Without those of the gate before."""
    return [name for name in found(it, script) if not OURS.fullmatch(name)]


def test_no_more_is_kept_than_may_be(supervised):
    """And the gate starts all the same with all of it, closes what it does not know, and has it removed."""
    it = supervised().start()
    before = it.kept_by_itself()
    script = 'for index in range(5000): store(f"FDNAME=n{index}")'
    names = found(it, f'{script}\nfor index in range({4352 - before}, 5000): remove(f"n{{index}}")')
    assert len(names) == 4352 and names[before:] == [f"n{index}" for index in range(4352 - before)]
    assert "cannot be kept: full" in it.gate.log_text()
    assert answered(it.gate) == 200
    eventually(lambda: it.kept() == before, "nothing but the gate's own is kept")


def test_names(supervised):
    script = 'for name in ["a" * 255, "b" * 256, "c:d", "e" + chr(9), "", "f"]: store("FDNAME=" + name)\n'
    script += 'for name in ["b" * 256, "c:d", "e" + chr(9), ""]: remove(name)'
    assert kept_names(supervised().start(), script) == ["a" * 255, "f"]


def test_nothing_is_confirmed_while_something_is_refused(supervised):
    """A gate promises its player that the session is kept when a barrier ends: it must not end where a descriptor was refused.
    It ends when that is over."""
    script = (
        'store("FDNAME=a"); settle(); store("FDNAME=b:c"); first = meet(); second = meet()\n'
        'waiting = not select.select([first, second], [], [], 0.5)[0]\n'
        'store("FDNAME=waited" if waiting else "FDNAME=confirmed")\n'
        'remove("b:c"); settle(first); settle(second)'
    )
    assert kept_names(supervised().start(), script) == ["a", "waited"]


def test_the_later_of_one_name_is_kept_and_names_are_removed(supervised):
    script = 'store("FDNAME=a"); store("FDNAME=b"); store("FDNAME=a"); store("FDNAME=c"); remove("c")'
    assert kept_names(supervised().start(), script) == ["b", "a"]


def test_what_hangs_up_is_dropped_unless_it_is_not_to_be_watched(supervised):
    script = (
        "near, far = socket.socketpair(); far.close(); "
        'store("FDNAME=a", near.fileno()); store("FDNAME=b" + chr(10) + "FDPOLL=0", near.fileno())'
    )
    assert kept_names(supervised().start(), script) == ["b"]


class Manager:
    """The supervisor's own service manager, which hears whoever writes, at once: a queue that is full would lose words."""

    def __init__(self, path):
        self.path = path
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        self.socket.bind(str(path))
        path.chmod(0o777)
        self.heard, self.looked_at = [], 0
        threading.Thread(target=self._hear, daemon=True).start()

    def _hear(self):
        while True:
            text, ancillary, _, _ = self.socket.recvmsg(4096, 64)
            sender = int.from_bytes(ancillary[0][2][:4], "little")
            self.heard.append((sender, dict(line.split("=", 1) for line in text.decode().split("\n"))))

    def until(self, name):
        """The first new message that has `name`; all that was heard is in `heard`."""

        def find():
            while self.looked_at < len(self.heard):
                self.looked_at += 1
                if name in self.heard[self.looked_at - 1][1]:
                    return self.heard[self.looked_at - 1][1]
            return None

        return eventually(find, name, within=60)


def test_what_its_own_manager_hears(supervised, place):
    """Ready, well, and only at its own end stopping; and never of descriptors."""
    manager = Manager(place / "notify")
    it = supervised(NOTIFY_SOCKET=manager.path, WATCHDOG_USEC=200_000, FDSTORE=7)
    it.launch(prefix=["/bin/sh", "-c", 'WATCHDOG_PID=$$ exec "$@"', "sh"])
    assert it.gate.address in manager.until("READY")["STATUS"]
    manager.until("WATCHDOG")
    it.gate.signal(signal.SIGHUP)
    assert int(manager.until("RELOADING")["MONOTONIC_USEC"]) > 0
    manager.until("READY")
    child = it.child
    it.gate.signal(signal.SIGUSR2)
    it.another(child)
    manager.until("READY")
    os.kill(it.child, signal.SIGKILL)
    manager.until("READY")
    manager.until("WATCHDOG")
    assert not any("STOPPING" in fields for _, fields in manager.heard)
    it.gate.signal(signal.SIGTERM)
    manager.until("STOPPING")
    assert it.gate.wait() == 0
    assert {sender for sender, _ in manager.heard} == {it.gate.process.pid}
    assert not [fields for _, fields in manager.heard if any(name.startswith("FD") for name in fields)]


def test_a_manager_that_is_gone_is_no_matter(supervised, place):
    it = supervised(NOTIFY_SOCKET=place / "nobody").start()
    assert answered(it.gate) == 200
    os.kill(it.child, signal.SIGKILL)
    it.served(2)
