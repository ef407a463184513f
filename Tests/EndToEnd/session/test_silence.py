"""A gate that falls silent while somebody types: the app is told within seconds, and comes back when it must."""

import signal
import time

import pytest

from package_app import PackageApp, authority


@pytest.fixture
def played(evenings, gates, pki, folder):
    """An evening, the app's package in it, and its seat in the game."""
    made, trusting = authority(gates)
    evening = evenings(**trusting)
    app = PackageApp(evening.gate.port, pki.server_ca, made, folder)
    yield evening, app
    evening.gate.signal(signal.SIGCONT)
    app.stop()


def told(app):
    return [event["on"] for event in app.all("answering")]


def silenced(evening, app):
    """The gate stops, and a line is typed; returns when that was, once the app has been told."""
    app.until_attached()
    seat = evening.game.seat()
    evening.gate.signal(signal.SIGSTOP)
    typed_at = time.monotonic()
    app.line("north")
    app.until(lambda: told(app) == [False], "word of the silence", within=8)
    # Two seconds of hearing nothing, and three for the answer to a ping.
    assert time.monotonic() - typed_at >= 4.9
    return seat


def test_a_short_silence_is_told_and_so_is_its_end(played):
    evening, app = played
    seat = silenced(evening, app)
    evening.gate.signal(signal.SIGCONT)
    app.until(lambda: told(app) == [False, True], "word of the answer")
    assert seat.heard_lines(1) == ["north"]
    assert len(app.all("attached")) == 1 and not app.all("waiting")


@pytest.mark.long("a silence of 17 seconds")
def test_a_long_silence_ends_the_connection_and_nothing_typed_is_lost(played):
    evening, app = played
    seat = silenced(evening, app)
    app.until(lambda: app.all("waiting"), "the end of the connection", within=20)
    assert app.all("waiting")[0]["why"] == "timeout"
    evening.gate.signal(signal.SIGCONT)
    app.until_attached(2)
    assert app.all("attached")[-1]["resumed"] is True and told(app) == [False, True]
    app.line("south")
    assert seat.heard_lines(2) == ["north", "south"]
    assert not app.all("inputDropped") and not app.all("doubt") and not app.all("gap")
