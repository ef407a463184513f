"""A gate with devices that root starts: its store and its socket are the serving user's, and he reads the policies again."""

import json
import os
import signal

import pytest

from gate import BECOMES_ANOTHER
from orders import ask_as, order
from serving_user import NOBODY, give, place_of_nobody, settings_of

CONFIGURATION, UNAVAILABLE = 78, 69
pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only the superuser can become somebody else")


@pytest.fixture
def place(pki, authority):
    """His store is one that others may enter, as programs of the host ask at a socket there."""
    with place_of_nobody(pki) as made:
        (made / "store").mkdir(mode=0o711)
        (made / "policy.json").write_text(json.dumps({"rules": [{"match": {"operation": "host.*"}}]}))
        (made / "policy.json").chmod(0o600)
        give(made / "store", made / "policy.json")
        yield made


def settings(place, **changes):
    store = place / "store"
    own = {"DEVICES_PATH": store / "devices.db", "APPROVALS_SOCKET": store / "approvals.sock"}
    own |= {"PUBLIC_URL": "https://mud.example", "APPROVAL_POLICY": place / "policy.json"}
    return settings_of(place, **own | changes)


def test_all_is_the_serving_users(gates, backend, place):
    gate = gates(backend, **settings(place))
    order(gate, "services-add", name="one", scopes=["approvals"])
    for name in ("devices.db", "devices.db-wal", "devices.db.reserve", "approvals.sock"):
        status = (place / "store" / name).stat()
        assert (status.st_uid, status.st_gid) == (NOBODY.pw_uid, NOBODY.pw_gid), name
        assert status.st_mode & 0o007 == 0, name
    # A member of the gate's own group, where no other is set.
    listed = {"command": "registry", "verb": "approvals-list", "arguments": {}}
    assert ask_as(54_321, NOBODY.pw_gid, gate.environment["APPROVALS_SOCKET"], listed)["answer"] == "registry"
    gate.signal(signal.SIGHUP)
    gate.event(event="reloaded")
    gate.stop()
    # By root, who does it as that user.
    assert gate.command("devices", "restore", "none").returncode == 65
    assert (place / "store" / "devices.db").stat().st_uid == NOBODY.pw_uid
    gate.start()


def test_a_copy_that_root_puts_back_is_the_folders_owners(gates, backend, place):
    """Where RUN_AS names nobody, as below a service manager. Links that the owner has put there lead root nowhere."""
    gate = gates(backend, **settings(place))
    order(gate, "services-add", name="one", scopes=["approvals"])
    assert gate.command("devices", "backup", "copy.db").returncode == 0
    gate.stop()
    store, victim = place / "store", place / "victim"
    victim.write_text("precious")
    victim.chmod(0o600)
    links = ["devices.db.restoring", "devices.db.restoring-wal", "devices.db.replaced"]
    for name in links:
        (store / name).symlink_to(victim)
    before = gate.environment.pop("RUN_AS")
    # Only root can read it: not what is copied into a folder of others.
    secret = place / "secret.db"
    secret.write_bytes((store / "copy.db").read_bytes())
    secret.chmod(0o600)
    refused = gate.command("devices", "restore", str(secret), **BECOMES_ANOTHER)
    assert refused.returncode == 65 and "a copy that he may read" in refused.stderr, refused
    done = gate.command("devices", "restore", str(store / "copy.db"), **BECOMES_ANOTHER)
    assert done.returncode == 0, done.stderr
    for path in store.iterdir():
        status = path.lstat()
        assert (status.st_uid, status.st_gid) == (NOBODY.pw_uid, NOBODY.pw_gid), path
    assert (store / "devices.db").stat().st_mode & 0o777 == 0o600
    assert victim.read_text() == "precious" and victim.stat().st_uid == 0
    gate.environment["RUN_AS"] = before
    gate.start()
    assert [service["name"] for service in order(gate, "services-list")] == ["one"]


def test_a_group_that_the_user_is_not_in(gates, backend, place):
    gate = gates(backend, start=False, **settings(place, SOCKET_GROUP="daemon"))
    gate.launch()
    assert gate.wait() == UNAVAILABLE and "add the gate's user to the group" in gate.log_text(), gate.log_tail()
    assert not (place / "store" / "approvals.sock").exists()


def test_what_he_may_not_write_to_is_named(gates, backend, place):
    (place / "other").mkdir(mode=0o755)
    for name in ("DEVICES_PATH", "APPROVALS_SOCKET"):
        gate = gates(backend, start=False, **settings(place, **{name: place / "other" / "x"}))
        gate.launch()
        assert gate.wait() == CONFIGURATION and f"{name}={place}/other" in gate.log_text(), gate.log_tail()
        done = gate.command("check")
        assert done.returncode == CONFIGURATION and f"{name}={place}/other" in done.stdout, done.stdout
