"""An address that answers nothing, as that of a host that is down: a listener whose queue is full."""

import contextlib
import socket


@contextlib.contextmanager
def silent_listener(host, port=0):
    """The kernel drops every further SYN; yields the port."""
    with contextlib.ExitStack() as stack:
        full = stack.enter_context(socket.socket())
        full.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        full.bind((host, port))
        full.listen(0)
        for _ in range(4):
            filler = stack.enter_context(socket.socket())
            filler.setblocking(False)
            filler.connect_ex(full.getsockname())
        yield full.getsockname()[1]
