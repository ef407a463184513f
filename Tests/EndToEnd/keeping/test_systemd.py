"""The real systemd keeps what the gate gives it, by the unit that is installed: restarts, kills, and stops."""

import contextlib
import shutil
import socket

import pytest

import real_systemd
from clients import Raw, head
from evenings import Evening
from gate import BINARY
from serving_user import place_of_nobody, settings_of
from supervised import make_store
from telnet_game import TelnetGame
from waiting import eventually

LISTENERS = 2


class ManagedEvening(Evening):
    def __init__(self, gates, new_device, game, place):
        def waiting(game, **environment):
            return gates(game, start=False, **environment)

        super().__init__(waiting, new_device, game, **settings_of(place, RUN_AS=None, WORKERS=LISTENERS))
        shutil.copy(BINARY, place / "portcullis")
        (place / "portcullis").chmod(0o755)
        self.systemd = real_systemd.UserManager(self.gate, place, place / "portcullis")

    def away(self, crashed=False):
        """What players had received without looking is theirs; then nobody is connected."""
        self.gate.app.close()
        for player in self.players:
            player.is_gate_killed |= crashed
            player.until_lost()


@pytest.fixture
def evening(gates, new_device, pki, authority):
    if reason := real_systemd.missing():
        pytest.skip(reason)
    with place_of_nobody(pki) as place:
        make_store(place)
        game = TelnetGame()
        made = ManagedEvening(gates, new_device, game, place)
        try:
            made.systemd("start", "portcullis.service")
            yield made
        finally:
            made.finish()
            made.systemd.finish()
            game.stop()


def test_players_outlive_restarts_and_kills(evening):
    """And nobody outlives a stop."""
    systemd = evening.systemd
    # Slots and luggage are there beside them.
    before = LISTENERS + 2
    eventually(lambda: systemd.stored == before, "what the gate gives at its start")
    player, seat = evening.seated()
    assert player.sessions[-1]["kept"] is True
    eventually(lambda: systemd.stored == before + 1, "the leg in the store")
    for count, restart in enumerate([True, False, True], 1):
        main = systemd.shows("MainPID")
        if restart:
            systemd("restart", "portcullis.service")
        else:
            systemd.kill("SIGKILL")
        eventually(
            lambda main=main: systemd.shows("MainPID") not in ("0", main) and systemd.shows("SubState") == "running",
            "another gate", 60,
        )  # fmt: skip
        evening.away(crashed=not restart)
        session = player.connect()
        assert session["resumed"] is True and session["kept"] is True, session
        player.line(f"still here {count}")
        assert seat.heard_lines(count)[-1] == f"still here {count}"
        eventually(lambda: systemd.stored == before + 1, "the leg is still there")
    assert evening.game.count == 1
    systemd("stop", "portcullis.service")
    seat.gone()
    eventually(lambda: systemd.stored == 0, "nothing is kept any more")
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((evening.gate.host, evening.gate.port))


def test_connects_wait_for_the_next_gate(evening):
    """RestartSec= is a second, in which nobody is refused."""
    gate = evening.gate
    main = evening.systemd.shows("MainPID")
    evening.systemd.kill("SIGKILL")
    # A machine that stands still for that second has another one already.
    eventually(lambda: evening.systemd.shows("MainPID") != main, "that gate is gone")
    with contextlib.ExitStack() as stack:
        waiting = [stack.enter_context(socket.create_connection((gate.host, gate.port))) for _ in range(10)]
        eventually(lambda: gate.log_text().count('"listening"') == 2, "the next gate", 60)
        for each in waiting:
            with Raw(gate, connected=each) as client:
                assert client.send(head("GET", "/healthz")).reply().status == 200
