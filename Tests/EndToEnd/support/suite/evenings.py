"""An evening: one scripted telnet game, one gate before it, and its players; with or without a store for its descriptors."""

import contextlib
import signal

from kernel import queued_bytes, unsent
from sessions import Lost, Player
from waiting import eventually


class Evening:
    """One scripted telnet game, one gate before it, and players who speak portcullis.v1."""

    def __init__(self, gates, new_device, game, **changes):
        self.new_device, self.game = new_device, game
        # Nobody here types as slowly as a person.
        self.gate = gates(game, **{"INPUT_RATE": "100000/s", **changes})
        self.players = []

    def device(self):
        return self.gate.app.register(self.new_device())

    def player(self, device=None, connect=True, kind=Player, **options):
        """A player with a key of their own, or with `device`; False for none."""
        device = self.device() if device is None else device
        player = kind(self.gate, device or None, **options)
        self.players.append(player)
        if connect:
            player.connect()
        return player

    def seated(self, **options):
        """A player, and their seat in the game."""
        # Whose call the game has not taken yet would else be taken for this one's.
        self.game.settle()
        number = len(self.game.seats)
        return self.player(**options), self.game.seat(number)

    def again(self, player, **options):
        """The same player on another device of the same name: another `Player` that knows what this one knows."""
        other = Player(self.gate, player.device, **options)
        other.id, other.received, other.sent, other.handled = (
            player.id,
            player.received,
            player.sent,
            player.handled,
        )
        other.unhandled.extend(player.unhandled)
        self.players.append(other)
        return other

    def finish(self):
        for player in self.players:
            if player.wire:
                player.wire.close()


class KeptEvening(Evening):
    """An evening whose gate has a store for its descriptors: it is killed and restarted, and the players are still there."""

    def __init__(self, gates, new_device, game, store, **changes):
        def waiting(game, **environment):
            return gates(game, start=False, **environment)

        super().__init__(waiting, new_device, game, **changes)
        self.store = store.manage(self.gate)
        self.store.start()

    def seated(self, is_kept=True, **options):
        """A player, and their seat in the game; the store has the leg by then, as the player was told."""
        player, seat = super().seated(**options)
        assert player.sessions[-1]["kept"] is is_kept
        return player, seat

    def stored(self, seat):
        """Until the store has this leg, where nobody was told so."""
        eventually(lambda: self.store.slot_of(seat.port) is not None, "the leg in the store")

    def rested(self):
        """Until each loop has had a turn and says so. Of what a session without an app had to do before it is not killed then,
        which three times in a row would end it."""
        assert self.gate.command("sessions", "list").returncode == 0

    def taken_in(self, seat):
        """Until the gate has read all that this seat has said, and noted what it made of it."""
        eventually(
            lambda: not unsent(seat.connection.socket) and not queued_bytes("sport", "=", f":{seat.port}")[0],
            "all of it was read",
        )
        self.rested()

    def fill(self, player, seat, lines):
        """Types these until the game's socket, which nobody reads, takes no more: it has taken half of one."""
        self.game.attentive.clear()
        player.line("first")  # what is read before it stops to
        for line in lines:
            player.line(line)

        def is_full():
            player.drain(0.1)
            held = queued_bytes("sport", "=", f":{seat.port}")[0]
            # A whole turn in which nothing was taken: there is no write under way.
            self.rested()
            self.rested()
            return queued_bytes("sport", "=", f":{seat.port}")[0] == held > 0

        eventually(is_full, "a full socket", within=60)
        assert player.handled < player.sent, "the socket took everything"

    def kill(self):
        """kill -9, and nothing instead of it yet."""
        self.store.kill()
        self._away(crashed=True)

    def kill_and_start(self):
        self.kill()
        self.store.start()

    def restart(self):
        """As `systemctl restart`, with apps that answer: the gate would wait two seconds for those that do not."""
        self.gate.signal(signal.SIGTERM)
        self._away()
        self.store.ended()
        self.store.start()

    def stop(self):
        """As a service manager stops: the store is dropped."""
        self.store.stop()
        self._away()

    def _away(self, crashed=False):
        """What players had received without looking is theirs; then nobody is connected."""
        self.gate.app.close()
        for player in self.players:
            player.is_gate_killed |= crashed
            if player.wire and player.wire.socket.fileno() >= 0:
                with contextlib.suppress(Lost):
                    player.until_lost()

    def back(self, player, **options):
        """The player comes back to the session, which is told in its first message."""
        session = player.connect(**options)
        assert session["resumed"] is True and session["kept"] is True, session
        return session

    def back_after_a_kill(self, player, **options):
        """Likewise; there is always a gap, with or without a number."""
        gaps = len(player.events("gap"))
        session = self.back(player, **options)
        player.until(lambda: len(player.events("gap")) > gaps, "a gap after a kill")
        return session, player.events("gap")[-1]
