"""A TCP proxy that cuts where a seed says: at any byte, in either direction, in any of the ways networks have.

Each connection follows a plan. What it forwarded and how it ended is noted, so that a run can be told and repeated.
"""

import contextlib
import dataclasses
import random
import select
import socket
import struct
import threading
import time

WAYS = ["reset", "close", "half", "swallow", "straggle", "freeze"]
UP, DOWN = 0, 1  # from the app to the gate, from the gate to the app


@dataclasses.dataclass(frozen=True)
class Plan:
    """What happens to one connection when `after` bytes have gone one `way`.

    reset     both sides get an RST
    close     both sides get a FIN, and what was read is forwarded before it
    half      this way ends with a FIN; the other goes on for `rest` seconds, then both are reset
    swallow   from there on this way's bytes are taken and thrown away for `rest` seconds, then both are reset:
              the sender believes them delivered
    straggle  what the app sends from there on is held back for `rest` seconds, the app's side is reset, and `late`
              seconds after that the gate gets it: perhaps behind what the app says on its next connection
    freeze    nothing moves for `rest` seconds; then the app's side is reset, and the gate learns it `late` s later
    """

    how: str = "reset"
    way: int = DOWN
    after: int = 0
    rest: float = 0.0
    late: float = 0.0
    crumbs: int = 0  # if not 0, forwards pieces of so many bytes at most
    delay: float = 0.0  # seconds before each piece

    @staticmethod
    def drawn(source):
        """A plan as the numbers fall: a quarter cut the handshake, the upgrade or the answer, the others the play."""
        way = source.choice([UP, DOWN])
        early = source.random() < 0.3
        # TLS and the upgrade: some 2 KiB up, and some 2 to 4 KiB down; what comes behind it is the session.
        after = source.randrange(1, 4500) if early else source.randrange(1500, 12000)
        return Plan(
            how=source.choices(WAYS, [25, 20, 10, 20, 15, 10])[0],
            way=way,
            after=after,
            rest=source.uniform(0, 0.03),
            late=source.choice([0, 0, source.uniform(0, 0.05)]),
            crumbs=source.choice([0, 0, 0, 1, 7, 100]),
            delay=source.choice([0, 0, 0, 0, source.uniform(0, 0.0005)]),
        )


class CuttingProxy:
    """Listens on loopback for one app; `plan()` is asked at each connection, and None lets it live."""

    def __init__(self, gate, plan=lambda: None):
        self.gate, self.plan = gate, plan
        self.host, self.pki = "127.0.0.1", gate.pki
        self.listener = socket.create_server((self.host, 0), backlog=16)
        self.port = self.listener.getsockname()[1]
        self.told = []  # (plan, bytes up, bytes down) of each connection, in the order they ended
        self.performed = []  # how each connection was cut that was, by its plan or by hand
        self.current = None
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                app, _ = self.listener.accept()
            except OSError:
                return
            link = Link(self, app, self.plan())
            self.current = link
            threading.Thread(target=link.run, daemon=True).start()

    @property
    def cuts(self):
        return sum(1 for plan, _, _ in self.told if plan)

    def cut(self, how="reset"):
        """Cuts the connection of now, wherever it is."""
        self.current.cut_now(how)

    def stop(self):
        with contextlib.suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        if self.current:
            self.current.cut_now("reset")


class Link:
    """One app's connection and the one to the gate that belongs to it."""

    def __init__(self, proxy, app, plan):
        self.proxy, self.plan = proxy, plan
        self.sides = [app, None]
        self.passed = [0, 0]
        self.open = [True, True]  # by way
        self.order = None
        self.wake, self.woken = socket.socketpair()

    def cut_now(self, how):
        self.order = how
        with contextlib.suppress(OSError):
            self.wake.send(b"!")

    def run(self):
        with contextlib.suppress(OSError):
            self.sides[1] = socket.create_connection(("127.0.0.1", self.proxy.gate.port), timeout=10)
            for side in self.sides:
                side.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._forward()
        self._end()
        self.proxy.told.append((self.plan, *self.passed))

    def _forward(self):
        while any(self.open):
            waiting = [self.sides[way] for way in (UP, DOWN) if self.open[way]]
            ready, _, _ = select.select([*waiting, self.woken], [], [])
            if self.woken in ready:
                return self._perform(self.order, None, b"")
            for way in (UP, DOWN):
                if self.open[way] and self.sides[way] in ready and self._pass(way):
                    return None
        return None

    def _pass(self, way):
        """Forwards one piece; True once the plan has been carried out."""
        plan = self.plan
        if plan and plan.delay:
            self._pause(plan.delay)
        data = self.sides[way].recv(plan.crumbs if plan and plan.crumbs else 65536)
        if not data:
            self.open[way] = False
            self.sides[1 - way].shutdown(socket.SHUT_WR)
            return False
        due = plan is not None and way == plan.way and self.passed[way] + len(data) >= plan.after
        behind = b""
        if due:
            count = plan.after - self.passed[way]
            data, behind = data[:count], data[count:]
        self.sides[1 - way].sendall(data)
        self.passed[way] += len(data)
        if due:
            self._perform(plan.how, way, behind)
        return due

    def _perform(self, how, way, behind):
        self.proxy.performed.append(how)
        if how in ("half", "swallow"):
            if how == "half":
                with contextlib.suppress(OSError):
                    self.sides[1 - way].shutdown(socket.SHUT_WR)
            self._go_on(1 - way, swallowing=way if how == "swallow" else None)
        elif how == "straggle":
            held = (behind if way == UP else b"") + self._held()
            reset(self.sides[0])
            self._pause(self.plan.late)
            with contextlib.suppress(OSError):
                self.sides[1].sendall(held)
                self.sides[1].shutdown(socket.SHUT_WR)
            return
        elif how == "freeze":
            self._pause(self.plan.rest)
            reset(self.sides[0])
            self._pause(self.plan.late)
        if how != "close":
            for side in self.sides:
                reset(side)

    def _held(self):
        """What the app sends within `rest` seconds."""
        held, deadline = b"", time.monotonic() + self.plan.rest
        app = self.sides[0]
        while (left := deadline - time.monotonic()) > 0 and select.select([app], [], [], left)[0]:
            try:
                data = app.recv(65536)
            except OSError:
                break
            if not data:
                break
            held += data
        return held

    def _pause(self, seconds):
        select.select([self.woken], [], [], seconds)

    def _go_on(self, way, swallowing):
        """For `rest` seconds one way goes on, and what comes the other way is thrown away."""
        deadline = time.monotonic() + self.plan.rest
        sides = [self.sides[way]] + ([self.sides[swallowing]] if swallowing is not None else [])
        with contextlib.suppress(OSError):
            while sides and (left := deadline - time.monotonic()) > 0:
                for side in select.select(sides, [], [], left)[0]:
                    data = side.recv(65536)
                    if not data:
                        sides.remove(side)
                    elif side is self.sides[way]:
                        self.sides[1 - way].sendall(data)
                        self.passed[way] += len(data)

    def _end(self):
        for side in [*self.sides, self.wake, self.woken]:
            if side:
                with contextlib.suppress(OSError):
                    side.close()


def reset(side):
    """Closes with an RST instead of a FIN."""
    with contextlib.suppress(OSError):
        side.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        side.close()


def plans(seed):
    """An endless row of plans, the same for the same seed."""
    source = random.Random(seed)
    while True:
        yield Plan.drawn(source)
