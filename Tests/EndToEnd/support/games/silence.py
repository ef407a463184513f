"""An address that answers nothing, as that of a host that is down: a listener whose queue is full."""

import contextlib
import socket
import subprocess
import threading


@contextlib.contextmanager
def silent_listener(host, port=0):
    """The kernel drops every further SYN; yields the port."""
    with late_listener(host, port) as late:
        yield late.port


@contextlib.contextmanager
def late_listener(host, port=0):
    """The same until it is told to answer."""
    with contextlib.ExitStack() as stack:
        full = stack.enter_context(socket.socket())
        full.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        full.bind((host, port))
        full.listen(0)
        fillers = set()
        for _ in range(4):
            filler = stack.enter_context(socket.socket())
            filler.setblocking(False)
            filler.connect_ex(full.getsockname())
            fillers.add(filler.getsockname()[1])
        late = LateListener(full, fillers)
        try:
            yield late
        finally:
            late.stop()


class LateListener:
    def __init__(self, listener, fillers):
        self.listener, self.fillers = listener, fillers
        self.port = listener.getsockname()[1]
        self.accepted, self.thread = [], None

    def is_called(self):
        """Whether somebody calls in vain who does not belong to the listener."""
        listed = subprocess.run(
            ["ss", "-tnH", "state", "syn-sent", "dport", "=", f":{self.port}"],
            capture_output=True,
            text=True,
            check=True,
        )
        return {int(line.split()[2].rpartition(":")[2]) for line in listed.stdout.splitlines()} - self.fillers

    def answer(self):
        """From now on whoever calls is taken up, those included that have called in vain so far: the kernel calls
        again after 1, 3, 7, 15, 31 seconds."""
        self.thread = threading.Thread(target=self.accept)
        self.thread.start()

    def accept(self):
        while True:
            try:
                self.accepted.append(self.listener.accept()[0])
            except OSError:
                return

    def stop(self):
        if self.thread:
            self.listener.shutdown(socket.SHUT_RDWR)
            self.thread.join()
        for caller in self.accepted:
            caller.close()
