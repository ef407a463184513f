"""Gates that want the same store or port, all in the same moment: one gets it, the others say why."""

import pytest

from clients import curl
from waiting import eventually

RIVALS = 4
UNAVAILABLE, TEMPORARY = 69, 75


def settled(rivals, winners):
    """A condition: all but so many have ended."""
    return lambda: sum(rival.running for rival in rivals) <= winners


@pytest.fixture
def rivals(gates, backend, folder):
    """Gates that do not run yet, each with what is not contested of its own."""

    def make(own_stores, port=None, **changes):
        made = []
        for number in range(RIVALS):
            own = {"CONTROL_SOCKET": folder / f"control{number}.sock"}
            if own_stores:
                own["ATTESTED_KEYS_PATH"] = folder / f"keys{number}.json"
            gate = gates(backend, port=port, start=False, **own, **changes)
            gate.log_path = folder / f"rival{number}.log"
            made.append(gate)
        return made

    return make


def test_one_store(rivals, device):
    """The lock is taken by one; the others name it and end with 75. What it has been told is in its store."""
    gates = rivals(own_stores=False)
    for gate in gates:
        gate.launch()
    eventually(settled(gates, 1), "all but one ended")
    (winner,) = [gate for gate in gates if gate.running]
    eventually(winner._listens, "the winner listens")
    for loser in gates:
        if loser is not winner:
            assert loser.wait() == TEMPORARY, loser.log_tail()
            # Whoever came in the moment in which the lock was taken has found nobody's number in it.
            assert loser.launch().wait() == TEMPORARY, loser.log_tail()
            assert str(winner.process.pid) in loser.log_text(), loser.log_tail()
    winner.app.register(device)
    assert device.key_id_b64 in winner.keys()


def test_one_store_of_devices(rivals, folder):
    """Each has a store of keys of its own; the file of devices is one's, and the others may come again."""
    shared = {"DEVICES_PATH": folder / "devices.db", "PUBLIC_URL": "https://mud.example"}
    gates = rivals(own_stores=True, **shared)
    winner = gates[0].launch()
    eventually(winner._listens, "the winner listens")
    for loser in gates[1:]:
        loser.launch()
        assert loser.wait() == TEMPORARY, loser.log_tail()
        assert "DEVICES_PATH" in loser.log_text() and "in use" in loser.log_text(), loser.log_tail()
    added = winner.command("services", "add", "mud", "--scopes", "codes")
    assert added.returncode == 0, added.stderr
    winner.stop()
    gates[1].start()
    assert "mud" in gates[1].command("services", "list").stdout


def test_one_port(rivals, gates, fault):
    """All come as far as to listen before any does: one may, though listeners of one gate share a port."""
    port = gates(start=False).port
    contenders = rivals(own_stores=True, port=port, WORKERS=2, **fault.environment)
    fault.listen_hold = 1
    for gate in contenders:
        gate.launch()
    eventually(lambda: fault.listens_waiting == RIVALS, "everybody at the same door")
    fault.listen_hold = 0
    eventually(settled(contenders, 1), "all but one ended")
    (winner,) = [gate for gate in contenders if gate.running]
    for loser in contenders:
        if loser is not winner:
            assert loser.wait() == UNAVAILABLE, loser.log_tail()
            assert f"127.0.0.1:{port}" in loser.log_text() and "LISTEN" in loser.log_text()
    eventually(winner._listens, "the winner listens")
    for _ in range(20):
        assert curl(winner, "/healthz").status == 200


def test_a_port_again_and_again(gates, backend, rivals):
    """Restarts that overlap: a gate that comes beside another is refused, and later gets the port at once."""
    first = gates(backend)
    for _ in range(3):
        second = rivals(own_stores=True, port=first.port)[0].launch()
        assert second.wait() == UNAVAILABLE
        first.stop()
        first.start()
        assert curl(first, "/healthz").status == 200
