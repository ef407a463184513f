"""A program in a terminal of its own, whose keys a test presses and whose screen it reads."""

import contextlib
import fcntl
import os
import pty
import struct
import subprocess
import termios
import threading

from waiting import LONG, eventually, patience

LOCAL = 3  # the place of c_lflag in what tcgetattr returns


class Terminal:
    def __init__(self, command, columns=80, rows=24, **options):
        self.master, self.slave = pty.openpty()
        self.resize(columns, rows)
        self.before = termios.tcgetattr(self.slave)
        self._shown = b""
        self._reader = threading.Thread(target=self._read, daemon=True)
        self.process = subprocess.Popen(
            command,
            stdin=self.slave,
            stdout=self.slave,
            stderr=self.slave,
            start_new_session=True,
            # So that keys become signals for this program.
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
            **options,
        )
        self._reader.start()

    def _read(self):
        with contextlib.suppress(OSError):
            while chunk := os.read(self.master, 4096):
                self._shown += chunk

    @property
    def shown(self):
        return self._shown.decode(errors="replace")

    def until(self, text, within=LONG):
        eventually(lambda: text in self.shown, f"{text!r} in the terminal, which has {self.shown!r}", within)

    def press(self, keys):
        os.write(self.master, keys.encode())

    def resize(self, columns, rows):
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    @property
    def settings(self):
        return termios.tcgetattr(self.slave)

    @property
    def takes_keys(self):
        """Whether the program reads keys instead of lines."""
        return not self.settings[LOCAL] & termios.ICANON

    def wait(self, within=60):
        """The exit status, with the terminal as it was before."""
        status = self.process.wait(patience(within))
        assert self.settings == self.before, "the terminal is not as it was"
        return status

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self.slave)
        # Once nobody has the other end, the reader gets what was written, and then its end.
        self._reader.join(patience(LONG))
        os.close(self.master)
