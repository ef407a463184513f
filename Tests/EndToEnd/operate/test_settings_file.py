"""Which gate a command acts on where no settings file was named: that of the folder, else the installed one, else none."""

import json
import os
import subprocess

import pytest

from gate import BINARY, process_environment
from waiting import patience

UNREACHABLE, CONFIGURATION = 69, 78
NAMED = "no settings file was named: --config FILE"
KEY = "TQ9cOWQ9acHRlAMo09m4J5t18zfQuKsKtQ4ypNPJNog="
root = pytest.mark.skipif(os.geteuid() != 0, reason="only root mounts another /etc, and becomes another user")
# What the program finds in /etc, and in no other process.
INSTALLED = """
mount -t tmpfs none "$1"
mkdir "$1/upper" "$1/work"
mount -t overlay overlay -o "lowerdir=/etc,upperdir=$1/upper,workdir=$1/work" /etc
mkdir -p /etc/portcullis
cp "$2" /etc/portcullis/portcullis.env
cd "$3"
shift 3
exec "$@"
"""


def run(folder, *arguments, prefix=(), **environment):
    variables = process_environment({"PATH": os.environ["PATH"], **environment})
    words = [*map(str, prefix), str(BINARY), *arguments]
    return subprocess.run(
        words, cwd=folder, env=variables, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=patience(60)
    )


@pytest.fixture
def elsewhere(folder):
    """A folder where no gate works."""
    place = folder / "elsewhere"
    place.mkdir()
    return place


def settings(gate):
    """What the gate's environment says, as a file."""
    return "".join(f"{name}={value}\n" for name, value in gate.environment.items() if value is not None and name != "PATH")


def place_settings(gate, folder):
    (folder / "config").mkdir(exist_ok=True)
    (folder / "config" / "portcullis.env").write_text(settings(gate))


def test_the_folders_file_is_read_and_named(gates, backend, elsewhere, device):
    gate = gates(backend)
    gate.app.register(device)
    place_settings(gate, elsewhere)
    for words in (["stats"], ["keys", "list"], ["sessions", "list"], ["check", "--health"], ["config"]):
        done = run(elsewhere, *words)
        assert done.returncode == 0, (words, done.stderr)
        assert done.stderr.splitlines()[0] == "portcullis: settings file: config/portcullis.env", words
    assert device.key_id_b64 in run(elsewhere, "keys", "list").stdout
    # One that is named is not said again, by either name of the option.
    for option in ("--config", "-c"):
        named = run(elsewhere, "stats", option, "config/portcullis.env")
        assert named.returncode == 0 and named.stderr == "", named


def test_the_shells_environment_wins(gates, backend, elsewhere):
    gate = gates(backend)
    place_settings(gate, elsewhere)
    other = run(elsewhere, "stats", CONTROL_SOCKET="other.sock")
    assert other.returncode == UNREACHABLE and "other.sock: start it" in other.stderr, other


@root
def test_the_installed_gate_is_found_from_any_folder(gates, backend, folder, elsewhere, device):
    gate = gates(backend)
    gate.app.register(device)
    (folder / "installed.env").write_text(settings(gate))
    (folder / "mount").mkdir()
    prefix = ["unshare", "--mount", "sh", "-ec", INSTALLED, "sh", folder / "mount", folder / "installed.env", elsewhere]

    listed = run("/", "keys", "list", prefix=prefix)
    assert listed.returncode == 0 and device.key_id_b64 in listed.stdout, listed
    assert listed.stderr == "portcullis: settings file: /etc/portcullis/portcullis.env\n"
    revoked = run("/", "keys", "revoke", device.key_id_b64, prefix=prefix)
    assert revoked.returncode == 0 and "by the running gate" in revoked.stdout, revoked
    # Another gate is meant: the environment says where it is, or it works in this folder without a file.
    other = run("/", "stats", prefix=prefix, CONTROL_SOCKET=elsewhere / "other.sock")
    assert other.returncode == UNREACHABLE and "settings file" not in other.stderr, other
    (elsewhere / "config").mkdir()
    (elsewhere / "config" / "attested-keys.json").write_text("{}")
    own = run("/", "keys", "list", prefix=prefix)
    assert own.returncode == 0 and own.stdout == own.stderr == "", own


@root
def test_a_file_that_somebody_else_may_write_is_not_taken_unnamed(gates, backend, elsewhere):
    gate = gates(backend)
    place_settings(gate, elsewhere)
    file = elsewhere / "config" / "portcullis.env"
    os.chown(file, 54_321, 54_321)
    refused = run(elsewhere, "stats")
    assert refused.returncode == CONFIGURATION and "write --config config/portcullis.env" in refused.stderr, refused
    assert run(elsewhere, "stats", "--config", str(file)).returncode == 0
    gate.environment["ATTESTED_KEYS_PATH"] = str(gate.store_path)


@root
def test_a_file_that_may_not_be_read_says_so(gates, elsewhere):
    place_settings(gates(start=False), elsewhere)
    elsewhere.chmod(0o755)
    file = elsewhere / "config" / "portcullis.env"
    file.chmod(0o600)
    for place in (elsewhere, *elsewhere.parents[:-2]):
        place.chmod(0o755)
    refused = run(elsewhere, "stats", prefix=["setpriv", "--reuid=54321", "--regid=54321", "--clear-groups"])
    assert refused.returncode == CONFIGURATION and "cannot be read" in refused.stderr, refused
    assert "run it as root" in refused.stderr and "--config FILE" in refused.stderr


def test_without_any_file_nothing_is_made_and_the_remedy_is_to_name_one(elsewhere):
    for has_folder in (False, True):
        if has_folder:
            (elsewhere / "config").mkdir()
        before = sorted(elsewhere.rglob("*"))
        for words in (["keys", "list"], ["keys", "revoke", KEY], ["keys", "show", KEY], ["keys", "prune", "--unused", "1d"]):
            refused = run(elsewhere, *words)
            assert refused.returncode == CONFIGURATION and refused.stdout == "", (words, refused)
            assert f"portcullis: {NAMED}; there is no key store at config/attested-keys.json in {elsewhere}" in refused.stderr
            assert "create" not in refused.stderr
        for words in (["stats"], ["sessions", "list"], ["drain"], ["check", "--health"]):
            refused = run(elsewhere, *words)
            assert refused.returncode == UNREACHABLE, (words, refused)
            assert f"portcullis: {NAMED}; no gate answers at config/portcullis.sock in {elsewhere}" in refused.stderr
        assert sorted(elsewhere.rglob("*")) == before, "something was made"


def test_keys_of_another_gate_are_not_put_into_a_store_that_nobody_has_named(elsewhere):
    (elsewhere / "config").mkdir()
    (elsewhere / "foreign.json").write_text("{}")
    refused = run(elsewhere, "keys", "import", "--from", "goldfinch", "--until", "30d", "foreign.json")
    assert refused.returncode == CONFIGURATION and NAMED in refused.stderr, refused
    assert list((elsewhere / "config").iterdir()) == []


def test_a_stated_store_that_is_not_there_is_not_made_to_change_it(gates, folder):
    gate = gates(start=False)
    assert gate.command("keys", "list").returncode == 0, "a gate before its first start has no keys"
    refused = gate.command("keys", "revoke", KEY)
    assert refused.returncode == CONFIGURATION and "there is no key store at" in refused.stderr, refused
    assert not list(folder.glob(f"{gate.store_path.name}*"))
    missing = gate.command("keys", "list", ATTESTED_KEYS_PATH=str(folder / "nowhere" / "keys.json"))
    assert missing.returncode == CONFIGURATION and "create it" not in missing.stderr, missing


def test_a_file_without_the_path_is_named_in_the_message(elsewhere):
    (elsewhere / "config").mkdir()
    (elsewhere / "config" / "portcullis.env").write_text("LOG_LEVEL=info\n")
    refused = run(elsewhere, "stats")
    assert refused.returncode == UNREACHABLE, refused
    assert "CONTROL_SOCKET is not set in config/portcullis.env; no gate answers at" in refused.stderr


def test_serve_reads_only_a_file_that_is_named_and_says_that_there_is_another(gates, backend, folder):
    """A gate that is started by its environment does not get other settings by a file that somebody leaves there."""
    (folder / "config").mkdir(exist_ok=True)
    (folder / "config" / "portcullis.env").write_text("LOG_LEVEL=error\nWORKERS=3\n")
    gate = gates(backend)
    warned = gate.event(event="configuration", code="settings_file_unread")
    assert "config/portcullis.env" in warned["reason"], warned
    shown = [json.loads(line) for line in gate.command("config", "--json").stdout.splitlines()]
    (workers,) = [one for one in shown if one["name"] == "WORKERS"]
    assert workers["source"] != "default"
    gate.stop()
    gate.environment.pop("WORKERS", None)
    gate.start("--config", "config/portcullis.env")
    assert [e for e in gate.events() if e.get("code") == "settings_file_unread"] == [warned]


@root
def test_who_may_not_open_the_socket_is_told_whose_it_is(gates, backend, folder, elsewhere):
    gate = gates(backend)
    for place in (elsewhere, *elsewhere.parents[:-2]):
        place.chmod(0o755)
    os.chown(gate.environment["CONTROL_SOCKET"], 1, 1)  # the user daemon
    prefix = ["setpriv", "--reuid=54321", "--regid=54321", "--clear-groups"]
    refused = run(elsewhere, "stats", prefix=prefix, CONTROL_SOCKET=gate.environment["CONTROL_SOCKET"])
    assert refused.returncode == 77, refused
    assert "Permission denied: run it as root or as the gate's user daemon" in refused.stderr, refused
    # The remedy is run: that user gets through, and the gate says that it is not he.
    own = run(elsewhere, "stats", CONTROL_SOCKET=gate.environment["CONTROL_SOCKET"])
    assert own.returncode == 0, own
