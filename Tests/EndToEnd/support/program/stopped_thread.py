"""One thread of the gate that hangs while the others go on."""

import ctypes
import ctypes.util
import os
import pathlib

import pytest

from waiting import eventually

PTRACE_DETACH, PTRACE_SEIZE, PTRACE_INTERRUPT = 17, 0x4206, 0x4207
WAIT_ALL = 0x40000000  # __WALL: threads, too


class StoppedThread:
    """One thread of a process, held by ptrace(2) while the others go on: a loop that hangs."""

    library = ctypes.CDLL(None, use_errno=True)
    library.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    library.ptrace.restype = ctypes.c_long

    def __init__(self, process, name):
        tasks = pathlib.Path(f"/proc/{process}/task")

        def found():
            threads = [int(t.name) for t in tasks.iterdir() if (t / "comm").read_text().strip() == name]
            if process in threads:
                return [process]
            return threads if len(threads) == 1 else None

        # A thread has its name once it runs, and until then that of who began it: the first one, whose name a sanitizer's
        # own thread keeps, is the process.
        (self.thread,) = eventually(found, f"the thread {name}, and no other of that name")

    def _call(self, request):
        if self.library.ptrace(request, self.thread, None, None) == -1:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))

    def __enter__(self):
        try:
            self._call(PTRACE_SEIZE)
        except PermissionError:
            pytest.skip("ptrace is not permitted here")
        self._call(PTRACE_INTERRUPT)
        os.waitpid(self.thread, WAIT_ALL)
        return self

    def __exit__(self, *_):
        self._call(PTRACE_DETACH)
