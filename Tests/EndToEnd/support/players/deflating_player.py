"""An app that speaks portcullis.v1 and agrees on permessage-deflate (RFC 7692) on some of its connections, as a seed says:
there what it sends is compressed or not, whole or in fragments, with pings between, on half of them with its context kept."""

from deflating import OFFER, RSV1, Window, deflate, inflate
from sessions import Lost, Player, Wire
from waiting import LONG, patience
from websocket import BINARY, CONTINUATION, PING, TEXT, frame


class DeflatingWire(Wire):
    """One connection that has agreed."""

    def __init__(self, gate, fields, source, **options):
        self.source = source
        self.is_packed = False  # the message that comes
        self.window = Window(bits=12) if source.random() < 0.5 else None
        super().__init__(gate, fields, **options)

    def _frame(self):
        self._receive(1)
        # The mark is taken off before the frame is whole, which may take more than one call.
        if self.buffer[0] & 0x40:
            assert self.buffer[0] & 0x0F in (TEXT, BINARY), "the mark stands on the first frame of a message alone"
            self.is_packed = True
            self.buffer = bytes([self.buffer[0] & ~0x40]) + self.buffer[1:]
        return super()._frame()

    def message(self, within):
        found = super().message(within)
        if found is None or not self.is_packed:
            return found
        self.is_packed = False
        opcode, payload = found
        return opcode, inflate(payload)

    def post(self, opcode, payload=b""):
        if opcode not in (TEXT, BINARY) or self.source.random() < 0.2:
            return super().post(opcode, payload)
        if self.window:
            packed = self.window.deflate(payload)
        else:
            packed = deflate(payload, level=self.source.choice([0, 1, 6, 9]))
        ends = sorted(self.source.randrange(len(packed) + 1) for _ in range(self.source.choice([0, 0, 1, 2])))
        pieces = [packed[start:end] for start, end in zip([0, *ends], [*ends, len(packed)])]
        frames = b""
        for number, piece in enumerate(pieces):
            if number and self.source.random() < 0.3:
                frames += frame(PING, b"between")
            is_last = number == len(pieces) - 1
            frames += frame(CONTINUATION if number else opcode, piece, fin=is_last, reserved=0 if number else RSV1)
        self.socket.settimeout(patience(LONG))
        try:
            self.send(frames)
        except OSError as error:
            raise Lost(reason=str(error)) from None


class DeflatingPlayer(Player):
    """Half of its connections offer compression."""

    def __init__(self, *arguments, source, **options):
        super().__init__(*arguments, **options)
        self.source = source
        self.is_offering = False
        self.deflated = 0  # connections

    def fields(self, resume=True, state=False, extra=()):
        self.is_offering = self.source.random() < 0.5
        offer = [f"Sec-WebSocket-Extensions: {OFFER}"] if self.is_offering else []
        return super().fields(resume, state, [*extra, *offer])

    def wired(self, fields):
        if not self.is_offering:
            return super().wired(fields)
        wire = DeflatingWire(self.through, fields, self.source, certificate=self.certificate)
        assert wire.extensions and wire.extensions.startswith("permessage-deflate"), wire.extensions
        self.deflated += 1
        return wire
