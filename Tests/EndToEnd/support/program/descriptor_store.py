"""A service manager that keeps descriptors, as systemd's own: what a gate stores outlives its process (sd_notify(3),
sd_listen_fds(3), FileDescriptorStoreMax= of systemd.service(5)).

The gate is started by way of this file as a program, which takes what is stored from the manager's other socket, puts it
where a process expects it, says under which pid, and becomes the gate."""

import collections
import contextlib
import fcntl
import os
import pathlib
import select
import signal
import socket
import stat
import struct
import sys
import threading
import time

FIRST = 3  # SD_LISTEN_FDS_START
AT_ONCE = 200  # of the 253 that a message may carry
CREDENTIALS = struct.Struct("iII")
Stored = collections.namedtuple("Stored", "name descriptor identity polled")
Told = collections.namedtuple("Told", "pid fields at")


class DescriptorStore:
    """The manager of one service. What it heard is in `told`; what broke the protocol, or came from others, in `faults`."""

    def __init__(self, folder, limit=8192):
        self.limit, self.seed = limit, 0
        self.told, self.faults, self.dropped = [], [], 0
        self.main_pid = self.executed_at = self.gate = None
        self.stored, self._deaf = [], False
        self._lock = threading.RLock()
        self.notify_path, self.start_path = pathlib.Path(folder) / "notify", pathlib.Path(folder) / "start"
        self.notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.notify.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        self.notify.bind(str(self.notify_path))
        self.notify_path.chmod(0o666)
        self.starts = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.starts.bind(str(self.start_path))
        self.starts.listen(4)
        self._wake, self._woken = os.pipe2(os.O_CLOEXEC)
        self._poll = select.epoll()
        for descriptor in (self.notify.fileno(), self.starts.fileno(), self._wake):
            self._poll.register(descriptor, select.EPOLLIN)
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    # ---- what a process is started with

    @property
    def environment(self):
        return {"NOTIFY_SOCKET": str(self.notify_path), "FDSTORE": str(self.limit)}

    @property
    def prefix(self):
        """The command before the program's own."""
        return [sys.executable, "-I", "-S", str(pathlib.Path(__file__).resolve()), str(self.start_path)]

    # ---- a gate of the suite's

    def manage(self, gate):
        """Has this gate started with the store from now on."""
        self.gate = gate
        gate.environment |= self.environment
        gate.prefix = self.prefix
        return self

    def start(self, *arguments, within=30):
        """Starts the gate, and returns once it says that it serves: a kept listener takes connects before that."""
        from waiting import eventually  # not there for `become`

        self.gate.launch(*arguments)

        def ready():
            assert self.gate.running, f"ended with {self.gate.process.returncode}:\n{self.gate.log_tail()}"
            return self.ready_at() is not None

        eventually(ready, "the gate is ready", within)
        return self

    def kill(self):
        """kill -9, without another start."""
        self.gate.kill()

    def end(self, within=30):
        """SIGTERM, to the exit."""
        self.gate.signal(signal.SIGTERM)
        self.ended(within)

    def ended(self, within=30):
        """Until the gate has ended as it was told to."""
        status = self.gate.wait(within)
        assert status == 0, f"exit status {status}:\n{self.gate.log_tail()}"

    def kill_and_start(self):
        self.kill()
        return self.start()

    def restart(self, within=30):
        """SIGTERM, the exit, and the next: `systemctl restart`."""
        self.end(within)
        return self.start()

    def stop(self, within=30):
        """`systemctl stop`: SIGTERM, and the store is dropped with the process."""
        self.end(within)
        self.drop()

    # ---- what it holds

    def names(self):
        """Each name with how often it is there."""
        self._settle()
        with self._lock:
            return collections.Counter(entry.name for entry in self.stored)

    def legs(self):
        return sum(count for name, count in self.names().items() if name.startswith("s") and name != "slot")

    def slot_of(self, port):
        """The number of the slot whose leg has this port at its end; None if there is no such leg here."""
        self._settle()
        with self._lock:
            legs = [entry for entry in self.stored if entry.name.startswith("s") and entry.name != "slot"]
            return next((int(leg.name[1:], 36) for leg in legs if port_of(leg.descriptor) == port), None)

    def descriptor(self, name):
        """One stored descriptor, which stays the store's."""
        self._settle()
        with self._lock:
            return next(entry.descriptor for entry in self.stored if entry.name == name)

    def put(self, name, descriptor):
        """Stores a descriptor, which is the store's from now on, as if a process had."""
        with self._lock:
            self._add(name, descriptor, polled=False)

    def drop(self, name=None):
        """Forgets what has this name, or everything: the last close of what no process has."""
        self._settle()
        with self._lock:
            for entry in [entry for entry in self.stored if name in (None, entry.name)]:
                self._remove(entry)

    def ready_at(self):
        """When the running process said READY for the first time (CLOCK_MONOTONIC); None if it has not."""
        mine = (told for told in self.told if told.pid == self.gate.process.pid)
        return next((told.at for told in mine if "READY" in told.fields), None)

    # ---- bad days

    @contextlib.contextmanager
    def deaf(self):
        """Nothing is taken from the socket meanwhile, so that it fills."""
        with self._lock:
            self._deaf = True
            self._poll.modify(self.notify.fileno(), 0)
        try:
            yield
        finally:
            with self._lock:
                self._deaf = False
                self._poll.modify(self.notify.fileno(), select.EPOLLIN)

    def lose_socket(self):
        """Nobody is there any more to be told anything."""
        with self._lock:
            self._poll.unregister(self.notify.fileno())
            self.notify.close()
            self.notify_path.unlink()

    def finish(self):
        os.close(self._woken)
        self._thread.join(10)
        self.drop()
        for thing in (self.notify, self.starts, self._poll):
            thing.close()
        os.close(self._wake)

    # ---- the manager's thread

    def _serve(self):
        while True:
            self._poll.poll()
            with self._lock:
                # What is so now: by then a descriptor may have been removed, and its number be another one's.
                ready = [descriptor for descriptor, _ in self._poll.poll(0)]
                if self._wake in ready:
                    return
                for descriptor in ready:
                    if descriptor == self.starts.fileno():
                        self._start_one()
                    elif descriptor == self.notify.fileno():
                        self._hear_all()
                    else:  # polled, and hung up
                        for entry in [e for e in self.stored if e.descriptor == descriptor and e.polled]:
                            self._remove(entry)

    def _settle(self):
        """Everything that was said before this call is heard."""
        with self._lock:
            self._hear_all()

    def _hear_all(self):
        while not self._deaf and self.notify.fileno() >= 0 and self._hear():
            pass

    def _hear(self):
        room = socket.CMSG_SPACE(253 * 4) + socket.CMSG_SPACE(CREDENTIALS.size)
        flags = socket.MSG_DONTWAIT | socket.MSG_CMSG_CLOEXEC
        try:
            text, ancillary, _, _ = self.notify.recvmsg(8192, room, flags)
        except BlockingIOError:
            return False
        pid, descriptors = None, []
        for level, kind, data in ancillary:
            if level == socket.SOL_SOCKET and kind == socket.SCM_CREDENTIALS:
                pid = CREDENTIALS.unpack(data[: CREDENTIALS.size])[0]
            elif level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                descriptors += struct.unpack(f"{len(data) // 4}i", data[: len(data) // 4 * 4])
        fields = dict(line.split("=", 1) for line in text.decode().splitlines() if "=" in line)
        if pid == self.main_pid:  # NotifyAccess=main
            self.told.append(Told(pid, fields, time.monotonic()))
            descriptors = self._obey(fields, descriptors)
        else:
            self.faults.append(f"said by {pid}, who is not {self.main_pid}: {fields}")
        for descriptor in descriptors:
            os.close(descriptor)
        return True

    def _obey(self, fields, descriptors):
        """What is not kept of the descriptors."""
        name = fields.get("FDNAME", "stored")
        if not (0 < len(name) <= 255 and name.isascii() and name.isprintable() and ":" not in name):
            self.faults.append(f"no name for a descriptor: {name!r}")
        if fields.get("FDSTOREREMOVE") == "1":
            if "FDNAME" not in fields or "FDSTORE" in fields:
                self.faults.append(f"removed without a name, or stored as well: {fields}")
            for entry in [entry for entry in self.stored if entry.name == name]:
                self._remove(entry)
        if fields.get("FDSTORE") != "1":
            if descriptors and "BARRIER" not in fields:
                self.faults.append(f"descriptors that nobody wanted: {fields}")
            return descriptors
        if not descriptors:
            self.faults.append(f"nothing to store: {fields}")
        return [d for d in descriptors if not self._add(name, d, fields.get("FDPOLL") != "0")]

    def _add(self, name, descriptor, polled):
        """False when it stays the caller's: one too many, or there already."""
        seen = os.fstat(descriptor)
        identity = seen.st_dev, seen.st_ino
        if any(entry.identity == identity for entry in self.stored):
            return False
        if len(self.stored) >= self.limit:
            self.dropped += 1
            return False
        if polled:
            try:
                self._poll.register(descriptor, 0)  # EPOLLHUP and EPOLLERR come unasked
            except PermissionError:
                polled = False  # a file
        self.stored.append(Stored(name, descriptor, identity, polled))
        return True

    def _remove(self, entry):
        if entry.polled:
            self._poll.unregister(entry.descriptor)
        self.stored.remove(entry)
        os.close(entry.descriptor)

    def _start_one(self):
        """Hands all to the process that asks. What the one before had still said is heard first."""
        connection, _ = self.starts.accept()
        connection.settimeout(60)
        # One that is killed before it is the gate is no matter.
        with connection, contextlib.suppress(OSError, struct.error):
            self._hear_all()
            credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, CREDENTIALS.size)
            self.main_pid = CREDENTIALS.unpack(credentials)[0]
            # In an order that nobody has promised.
            self.seed += 1
            turn = self.seed % max(1, len(self.stored))
            row = (self.stored[turn:] + self.stored[:turn])[:: -1 if self.seed % 2 else 1]
            names = ":".join(entry.name for entry in row).encode()
            connection.sendall(struct.pack("II", len(row), len(names)) + names)
            for first in range(0, len(row), AT_ONCE):
                some = [entry.descriptor for entry in row[first : first + AT_ONCE]]
                socket.send_fds(connection, [b"+"], some)
                connection.recv(1)
            self.executed_at = struct.unpack("d", connection.recv(8, socket.MSG_WAITALL))[0]


def port_of(descriptor):
    """Of this end of a TCP connection; None for anything else."""
    if not stat.S_ISSOCK(os.fstat(descriptor).st_mode):
        return None
    with socket.socket(fileno=os.dup(descriptor)) as connection:
        return connection.getsockname()[1] if connection.family in (socket.AF_INET, socket.AF_INET6) else None


# ---- between the manager and the program


def become(path, command):
    """Takes the descriptors from the manager at `path`, and becomes `command`."""
    manager = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    manager.connect(path)
    count, length = struct.unpack("II", manager.recv(8, socket.MSG_WAITALL))
    names = manager.recv(length, socket.MSG_WAITALL).decode() if length else ""
    taken = []
    above = FIRST + count + 1
    while len(taken) < count:
        _, some, _, _ = socket.recv_fds(manager, 1, AT_ONCE, socket.MSG_CMSG_CLOEXEC)
        for descriptor in some:
            taken.append(fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, above))
            os.close(descriptor)
        manager.send(b"+")
    high = fcntl.fcntl(manager.fileno(), fcntl.F_DUPFD_CLOEXEC, above)
    manager.detach()
    for place, descriptor in enumerate(taken):
        os.dup2(descriptor, FIRST + place, inheritable=True)
    if count:
        os.environ |= {"LISTEN_PID": str(os.getpid()), "LISTEN_FDS": str(count), "LISTEN_FDNAMES": names}
    # Python ignores them, which would be inherited.
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_DFL)
    os.write(high, struct.pack("d", time.monotonic()))
    os.execvp(command[0], command)


if __name__ == "__main__":
    become(sys.argv[1], sys.argv[2:])
