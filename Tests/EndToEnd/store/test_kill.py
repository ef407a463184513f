"""kill -9 in the middle of work, and power cuts: nothing acknowledged is lost, and no counter goes back.

A kill leaves what the kernel has; a power cut, played by the shim, leaves of each file only what was synced.
`make faults` does it 300 times each.
"""

import http.client
import os
import random
import threading

import pytest

from clients import UPGRADE, Raw, connect_status, head
from waiting import eventually, patience

WORKERS = 3
KILLS = int(os.environ.get("PORTCULLIS_KILLS", "50"))
POWER_CUTS = int(os.environ.get("PORTCULLIS_POWER_CUTS", "20"))
NEW_KEYS = 2  # each worker, each round; then it connects with them until the kill


class Player(threading.Thread):
    """Registers keys and connects with them, and remembers what the gate acknowledged, until it is gone."""

    def __init__(self, gate, devices, old):
        super().__init__(daemon=True)
        self.gate, self.devices, self.old = gate, devices, old
        self.registered, self.counters = [], {}
        self.answers = 0
        self.failure = None

    def run(self):
        try:
            for device in self.devices:
                reply = self.gate.app.post(device.registration(self.gate.app.nonce()))
                assert reply.status == 200, reply
                self.registered.append(device)
                self.answers += 1
            while True:
                for device in [*self.registered, *self.old]:
                    self.play(device)
        except (OSError, http.client.HTTPException):
            pass  # the gate is gone
        except AssertionError as failure:
            self.failure = None if "closed after" in str(failure) else failure
        finally:
            self.gate.app.close()

    def play(self, device):
        fields = [f"{name}: {value}" for name, value in device.headers(self.gate.app.nonce()).items()]
        with Raw(self.gate) as client:
            reply = client.send(head("GET", "/", *UPGRADE, *fields)).reply(head_only=True)
            assert reply.status == 101, reply
            self.counters[device] = device.counter
            self.answers += 1


def worked(players, enough):
    """A condition: so many answers came in, and none of them was wrong."""

    def condition():
        for player in players:
            assert player.failure is None, player.failure
        return sum(player.answers for player in players) >= enough

    return condition


@pytest.mark.parametrize(
    "rounds, power_cut", [(KILLS, False), (POWER_CUTS, True)], ids=["kill -9", "power cut"]
)
@pytest.mark.long("70 ends of a gate under load")
def test_nothing_acknowledged_is_lost(gates, backend, new_device, fault, rounds, power_cut):
    chance = random.Random(20260217)
    acknowledged = {}  # device → the highest counter that was answered 101
    gate = gates(backend, MAX_SESSIONS_PER_KEY=1000, **(fault.environment if power_cut else {}))
    for number in range(rounds):
        old = chance.sample(sorted(acknowledged, key=lambda d: d.key_id), min(6, len(acknowledged)))
        players = [
            Player(gate, [new_device() for _ in range(NEW_KEYS)], old[worker::WORKERS])
            for worker in range(WORKERS)
        ]
        for player in players:
            player.start()
        eventually(worked(players, chance.randint(1, 40)), f"some work in round {number}", 60)
        gate.kill()
        gate.app.close()
        if power_cut:
            fault.cut_power(gate.folder, "attested-keys.json*", chance)
        for player in players:
            player.join(patience(60))
            assert not player.is_alive() and player.failure is None, player.failure
            acknowledged.update({device: 0 for device in player.registered})
            acknowledged.update(player.counters)
        gate.start()
        known = sorted(acknowledged, key=lambda d: d.key_id)
        check(gate, acknowledged, chance.sample(known, min(2, len(known))))
    gate.app.close()
    gate.stop()
    assert gate.journal_bytes() == b""
    check_counters(gate, acknowledged)


def check_counters(gate, acknowledged):
    stored = gate.keys()
    for device, counter in acknowledged.items():
        assert device.key_id_b64 in stored, "an acknowledged key is gone"
        assert stored[device.key_id_b64]["signCount"] >= counter, "a counter went back"


def check(gate, acknowledged, sample):
    """By the list, and by the wire: the old counter is refused, the next one accepted."""
    check_counters(gate, acknowledged)
    for device in sample:
        if acknowledged[device]:
            assert connect_status(gate, device, acknowledged[device]) == 401
        device.counter += 1  # above everything that was ever sent, acknowledged or not
        assert connect_status(gate, device, device.counter) == 101
        acknowledged[device] = device.counter
