"""A game that compresses what it says (MCCP 2), from a moment on that a seed draws, and perhaps not any more from another."""

import zlib

from telnet_game import MCCP2, WILL, subnegotiation


class Compression:
    """What one game sends to one player; a half of them never compress."""

    def __init__(self, seat, source):
        self.seat, self.source = seat, source
        self.stream = None
        self.begun = 0
        self.is_offered = source.random() < 0.5
        if self.is_offered:
            seat.tell(WILL, MCCP2)

    def wire(self, data):
        """How `data` lies on the wire, behind all that was made before: whole commands, whole subnegotiations."""
        begin = b""
        if self.stream is None and self.is_offered and self.source.random() < 0.2 and self._is_agreed:
            begin = subnegotiation(MCCP2)
            self.stream = zlib.compressobj(self.source.choice([1, 6, 9]))
            self.begun += 1
        if self.stream is None:
            return data
        packed = begin + self.stream.compress(data)
        if self.source.random() < 0.1:
            packed += self.stream.flush()
            self.stream = None
            return packed
        return packed + self.stream.flush(zlib.Z_SYNC_FLUSH)

    @property
    def _is_agreed(self):
        return ("do", MCCP2) in self.seat.said
