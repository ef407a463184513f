"""A few of the floods for a moment each: players play on, newcomers come in. For figures: `make floods`."""

import pathlib
import sys

import pytest

from websocket import PONG, RawWebSocket, frame

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "Adversarial" / "Floods"))

import floods  # noqa: E402

ATTACKS = {attack.name: attack for attack in floods.ATTACKS}


@pytest.fixture(scope="module")
def arena(module_folder):
    made = floods.Arena(module_folder, pinned=False, players=40, attackers=20)
    yield made
    made.close()


@pytest.mark.alone("nobody may be lost or refused, whatever the attackers do")
@pytest.mark.parametrize(
    "name",
    ["handshakes", "forgeries", "pipelined", "updates", "crumbs", "pings", "bytes"]
    + ["clients", "acks", "unknowns", "lines", "malformed", "resumes"],
)
def test_players_play_on(arena, name):
    """Most of these once kept the loop to themselves: one peer's bytes came faster than they were served."""
    few = ATTACKS[name].by_at_most(20)
    figures = floods.measure(arena, few, seconds=1, settling=0.3)
    assert figures.done > 0, "nobody attacked"
    assert figures.messages["done"] > 0 and figures.admissions["done"] > 0
    assert (figures.messages["lost"], figures.admissions["refused"]) == (0, 0)


def test_of_many_pings_the_last_is_answered(gates):
    """RFC 6455 §5.5.3: those before it need no answer of their own."""
    gate = gates("echo:", REQUIRE_APP_AUTH="false")
    with RawWebSocket(gate) as client:
        client.send(b"".join(frame(9, b"%d" % number) for number in range(2000)))
        answered = []
        while not answered or answered[-1] != b"1999":
            _, opcode, payload = client.read_frame()
            assert opcode == PONG
            answered.append(payload)
        assert answered[:10] == [b"%d" % number for number in range(10)]
        numbers = [int(payload) for payload in answered]
        assert numbers == sorted(set(numbers)) and len(numbers) < 2000
        client.frame(1, b"still here")
        assert client.read_frame()[2] == b"still here"
