"""The memory in which a gate keeps its sessions, as another program sees it: what the page of its words says
(docs/sessions.md), read and spoilt by a test while no gate runs."""

import os
import struct

WORD = struct.Struct("<Q")
MAGIC, VERSION, COUNT = 0, 1, 2
HEADER, SLOT = 512, 128  # words
OWNER, READS, WRITES, TRIALS = 0, 1, 2, 3
HOT, COLD = (8, 24), (40, 84)
KEPT, HANDED_OVER = 1, 2


class SlotFile:
    def __init__(self, descriptor):
        self.descriptor = descriptor

    def word(self, place):
        return WORD.unpack(os.pread(self.descriptor, 8, place * 8))[0]

    def write(self, place, value):
        os.pwrite(self.descriptor, WORD.pack(value), place * 8)

    def taken(self):
        """Indices of the slots that are somebody's."""
        owners = ((index, self.word(HEADER + index * SLOT) & 0xFF) for index in range(self.word(COUNT)))
        return [index for index, owner in owners if owner in (KEPT, HANDED_OVER)]

    def spoil(self, index, *words):
        """Another bit in each of these words of a slot."""
        for word in words:
            place = HEADER + index * SLOT + word
            self.write(place, self.word(place) ^ 1 << 40)
