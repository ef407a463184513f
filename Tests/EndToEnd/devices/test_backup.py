"""`devices backup` beside a running gate and `devices restore` without one, and what a restored store no longer holds open."""

import contextlib
import errno
import hashlib
import json
import os
import pathlib
import re
import sqlite3
import subprocess
import time

import pytest

import faults
from gate import BINARY, process_environment
from orders import answered, order
from phones import ask

ROOT = pathlib.Path(__file__).parents[3]
USAGE, UNKNOWN, CANNOT_CREATE, IO_ERROR, BUSY, CONFIGURATION = 64, 65, 73, 74, 75, 78


@pytest.fixture
def gate(gates, backend, folder):
    return gates(backend, DEVICES_PATH=folder / "devices.db", PUBLIC_URL="https://mud.example")


def add(gate, name):
    return order(gate, "services-add", name=name, scopes=["approvals"])


def names(gate):
    return {service["name"] for service in order(gate, "services-list") if service["state"] == "active"}


def backup(gate, name="copy.db"):
    done = gate.command("devices", "backup", name)
    assert done.returncode == 0, done.stderr


def test_there_and_back(gate, folder):
    add(gate, "one")
    opened = order(gate, "pair-open", name="phone")
    backup(gate)
    assert (folder / "copy.db").stat().st_mode & 0o777 == 0o600
    add(gate, "two")
    order(gate, "services-revoke", name="one")
    gate.stop()
    done = gate.command("devices", "restore", "copy.db", "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["active_devices"] == 0 and report["replaced"].endswith("devices.db.replaced"), report
    gate.start()
    # As it was, what was revoked since then included: the command says so.
    assert names(gate) == {"one"}
    answer = answered(gate, "pair-status", pairing_id=opened["pairing_id"])
    assert "error" in answer or answer["result"]["status"] == "refused", answer
    events = [row["event"] for row in json.loads(gate.command("audit", "list", "--json").stdout)]
    assert events.count("restored") == 1 and "backed_up" in events, events
    assert order(gate, "audit-verify")["valid"] is True
    gate.stop()
    gate.start()
    events = [row["event"] for row in json.loads(gate.command("audit", "list", "--json").stdout)]
    assert events.count("restored") == 1, "ended once, and not at each start"


def test_whatever_fails_a_store_is_there(gates, backend, folder, shim):
    """As if the command had been killed there: the copy takes the store's place in one step, or not at all."""
    fault = faults.Faults(shim, folder / "shim-control", path_part="devices.db")
    gate = gates(backend, DEVICES_PATH=folder / "devices.db", PUBLIC_URL="https://mud.example", **fault.environment)
    add(gate, "one")
    backup(gate)
    add(gate, "two")
    gate.stop()
    before = (folder / "devices.db").read_bytes()

    def stored():
        with contextlib.closing(sqlite3.connect(folder / "devices.db")) as store:
            return {name for (name,) in store.execute("SELECT name FROM services")}

    ends = set()
    for number in range(1, 200):
        fault.fail_call(number, errno.EIO, sticky=True)
        # With the shim, which commands do without otherwise.
        done = subprocess.run(
            [str(BINARY), "devices", "restore", "copy.db"],
            cwd=gate.folder, env=process_environment(gate.environment), capture_output=True, text=True, timeout=60,
        )  # fmt: skip
        fault.heal()
        assert stored() == ({"one"} if done.returncode == 0 else {"one", "two"}), (number, done)
        ends.add(done.returncode)
        if done.returncode == 0:
            break
        (folder / "devices.db").write_bytes(before)
    assert ends > {0} and fault.calls < number, ends


def test_a_clock_that_ran_ahead_is_left_behind_with_a_copy_from_before(gates, backend, folder, fault):
    """By nothing else: a restart remembers the highest time."""
    gate = gates(backend, DEVICES_PATH=folder / "devices.db", PUBLIC_URL="https://mud.example", **fault.environment)

    def last(event):
        rows = json.loads(gate.command("audit", "list", "--json").stdout)
        return [row["at"] for row in rows if row["event"] == event][-1] - time.time()

    backup(gate)
    two_days = 2 * 86_400
    fault.realtime_offset = two_days * 10**9
    add(gate, "one")
    gate.stop()
    fault.realtime_offset = 0
    gate.start()
    add(gate, "two")
    assert last("service_added") > two_days - 3600
    gate.stop()
    assert gate.command("devices", "restore", "copy.db").returncode == 0
    gate.start()
    assert abs(last("restored")) < 3600


def test_its_words(gate):
    backup(gate)
    gate.stop()
    done = gate.command("devices", "restore", "copy.db")
    assert done.returncode == 0 and "revoke again" in done.stdout, done


def test_not_while_a_gate_runs(gate, folder):
    backup(gate)
    before = (folder / "devices.db").stat().st_ino
    done = gate.command("devices", "restore", "copy.db")
    assert done.returncode == BUSY and not (folder / "devices.db.replaced").exists(), done
    assert done.stderr == (
        f"portcullis: the gate is running (process {gate.process.pid}): stop it first (systemctl stop portcullis)\n"
    )
    assert (folder / "devices.db").stat().st_ino == before and names(gate) == set()
    # Under another CONTROL_SOCKET it does not answer, and the remedy is to name its settings.
    done = gate.command("devices", "restore", "copy.db", CONTROL_SOCKET=folder / "other.sock")
    assert done.returncode == BUSY and "run this command with the gate's --config" in done.stderr, done
    # Nor a gate that has the store under other settings.
    done = gate.command(
        "devices", "restore", "copy.db",
        ATTESTED_KEYS_PATH=folder / "other.json", CONTROL_SOCKET=folder / "other.sock",
    )  # fmt: skip
    assert done.returncode == BUSY and "stop the gate" in done.stderr, done
    add(gate, "still")


@pytest.mark.parametrize("kind", ["missing", "empty", "noise", "cut", "foreign", "damaged"])
def test_what_is_no_backup_changes_nothing(gate, folder, kind):
    add(gate, "one")
    for number in range(40):
        add(gate, f"filler-{number}")
    backup(gate)
    gate.stop()
    copy = folder / "copy.db"
    bytes_ = copy.read_bytes()
    if kind == "missing":
        copy.unlink()
    elif kind == "foreign":
        copy.unlink()
        with sqlite3.connect(copy) as other:
            other.execute("CREATE TABLE t (x)")
    elif kind == "damaged":
        copy.write_bytes(bytes_[:8192] + os.urandom(8192) + bytes_[16384:])
    else:
        copy.write_bytes({"empty": b"", "noise": os.urandom(20_000), "cut": bytes_[: len(bytes_) // 2]}[kind])
    done = gate.command("devices", "restore", "copy.db")
    assert done.returncode == UNKNOWN and "copy.db" in done.stderr, done
    left = {path.name for path in folder.iterdir() if "devices.db" in path.name}
    assert not {name for name in left if "restoring" in name or "replaced" in name}, left
    gate.start()
    assert "one" in names(gate)


def test_without_devices(gates, backend, folder):
    gate = gates(backend, start=False)
    assert gate.command("devices", "restore", "copy.db").returncode == CONFIGURATION


def test_a_name_that_is_taken(gate, folder):
    (folder / "notes").write_text("mine")
    assert gate.command("devices", "backup", "notes").returncode == USAGE
    assert (folder / "notes").read_text() == "mine"


def test_a_path_outside_of_what_the_gate_may_write(gate, folder):
    """The command carries it there; nothing of it stays beside the store."""
    add(gate, "one")
    elsewhere = folder / "safe"
    elsewhere.mkdir()
    copy = elsewhere / "devices.db"
    old = os.umask(0)
    try:
        done = gate.command("devices", "backup", str(copy))
    finally:
        os.umask(old)
    assert done.returncode == 0 and str(copy) in done.stdout, done
    assert copy.stat().st_mode & 0o777 == 0o600 and os.listdir(elsewhere) == ["devices.db"]
    assert not [path for path in folder.iterdir() if "backup" in path.name or "handover" in path.name]
    before = copy.read_bytes()
    assert gate.command("devices", "backup", str(copy)).returncode == USAGE
    assert copy.read_bytes() == before
    done = gate.command("devices", "backup", str(folder / "none" / "devices.db"))
    assert done.returncode == IO_ERROR and "none" in done.stderr, done
    # One that was killed between the two has left its file.
    (folder / "devices-backup.handover").write_bytes(b"of before")
    done = gate.command("devices", "backup", "./safe/again.db")
    assert done.returncode == 0 and (elsewhere / "again.db").read_bytes().startswith(b"SQLite format 3"), done
    add(gate, "two")
    gate.stop()
    assert gate.command("devices", "restore", str(copy)).returncode == 0
    gate.start()
    assert names(gate) == {"one"}


def test_a_token_goes_into_a_file_only_when_there_is_one(gate, folder):
    file = folder / "mud.token"
    command = ("services", "add", "mud", "--scopes", "approvals", "--token-file", "mud.token")

    def is_good():
        with_token = ask(gate, "GET", "/approvals/00000000-0000-0000-0000-000000000000", token=file.read_text().strip())
        return with_token.status == 404

    done = gate.command(*command)
    assert done.returncode == 0 and file.read_text().strip() not in done.stdout and is_good(), done
    assert file.stat().st_mode & 0o777 == 0o600
    first = file.read_text()
    done = gate.command(*command)
    assert done.returncode == CANNOT_CREATE and "mud.token" in done.stderr, done
    # Whatever else the gate refuses: no file, and none that was there is another one.
    done = gate.command(*command[:-1], "other.token")
    assert done.returncode == USAGE and not (folder / "other.token").exists(), done
    assert gate.command("services", "rotate", "nobody", "--token-file", "mud.token").returncode == UNKNOWN
    assert file.read_text() == first and is_good()
    done = gate.command("services", "rotate", "mud", "--token-file", "mud.token", "--json")
    assert done.returncode == 0 and "token" not in json.loads(done.stdout), done
    assert file.read_text() != first and is_good() and file.stat().st_mode & 0o777 == 0o600
    # Nowhere to put it: nothing is rotated.
    kept = file.read_text()
    done = gate.command("services", "rotate", "mud", "--token-file", "none/mud.token")
    assert done.returncode == CANNOT_CREATE and file.read_text() == kept and is_good(), done
    assert not [path for path in folder.iterdir() if path.name.endswith(".new")]


def test_the_audit_from_one_log_to_the_next(gate, folder):
    """`audit export` follows from hash to hash without the gate, and a head of its log finds what was cut off."""
    add(gate, "one")
    backup(gate)
    add(gate, "two")
    gate.stop()
    log = folder / "audit.log"
    log.write_text(gate.log_text())
    gate.start()
    assert gate.command("audit", "verify", "--head", str(log)).returncode == 0
    rows = [json.loads(line) for line in gate.command("audit", "export").stdout.splitlines()]
    assert follows(rows) and [row["seq"] for row in rows] == list(range(1, len(rows) + 1))
    later = gate.command("audit", "export", "--after", str(rows[0]["seq"])).stdout.splitlines()
    assert [json.loads(line) for line in later][: len(rows) - 1] == rows[1:]
    gate.stop()
    # The store of before: its chain is whole, and yet not the one that the head was signed over.
    assert gate.command("devices", "restore", "copy.db").returncode == 0
    gate.start()
    assert gate.command("audit", "verify").returncode == 0
    done = gate.command("audit", "verify", "--head", str(log), "--json")
    assert done.returncode == UNKNOWN and json.loads(done.stdout)["valid"] is False, done
    assert gate.command("audit", "verify", "--head", str(folder / "none")).returncode == IO_ERROR
    (folder / "empty.log").write_text("nothing\n")
    assert gate.command("audit", "verify", "--head", str(folder / "empty.log")).returncode == UNKNOWN
    # A log of which only the beginning would be read; the last head counts.
    with open(log, "ab") as file:
        file.truncate((64 << 20) + 1)
    done = gate.command("audit", "verify", "--head", str(log))
    assert done.returncode == UNKNOWN and "tail" in done.stderr, done


def follows(rows):
    previous = bytes(32)
    for row in rows:
        digest = (
            bytes.fromhex(row["digest"]) if "digest" in row
            else hashlib.sha256(bytes.fromhex(row["salt"]) + row["text"].encode()).digest()
        )  # fmt: skip
        previous = hashlib.sha256(previous + digest).digest()
        if previous.hex() != row["hash"]:
            return False
    return True


def test_the_row_that_the_page_shows_follows_by_the_code_that_it_shows():
    page = (ROOT / "docs" / "devices-operating.md").read_text()
    blocks = re.findall(r"^```(json|python)\n(.*?)^```", page, re.M | re.S)
    (row,) = [json.loads(text) for kind, text in blocks if kind == "json" and '"salt"' in text]
    (code,) = [text for kind, text in blocks if kind == "python" and "def follows" in text]
    names = {"sha256": hashlib.sha256}
    exec(code, names)
    assert names["follows"]([row]) and follows([row]) and json.loads(row["text"])["at"] == row["at"]
    assert not names["follows"]([row | {"text": row["text"].replace("mud", "dum")}])
    erased = {"seq": 1, "hash": row["hash"],
              "digest": hashlib.sha256(bytes.fromhex(row["salt"]) + row["text"].encode()).hexdigest()}  # fmt: skip
    assert names["follows"]([erased])


def test_an_export_and_a_head_need_no_gate(gate, folder):
    for name in ("one", "two", "three"):
        add(gate, name)
    gate.stop()
    (folder / "audit.log").write_text(gate.log_text())
    gate.start()
    gate.command("devices", "forget", "--subject", "nobody")
    export = folder / "audit.jsonl"
    export.write_text(gate.command("audit", "export").stdout)
    pruned = gate.command("audit", "prune", "--before", "2099-12-31")
    assert pruned.returncode == 0, pruned
    rest = folder / "rest.jsonl"
    rest.write_text(gate.command("audit", "export").stdout)
    gate.stop()

    def verify(path, *more):
        done = gate.command("audit", "verify", "--export", path, "--json", *more)
        report = json.loads(done.stdout)
        assert done.returncode == (0 if report["valid"] else UNKNOWN), done
        return report

    lines = export.read_text().splitlines()
    head = ("--head", "audit.log")
    report = verify("audit.jsonl", *head)
    assert report["valid"] and report["rows"] == len(lines) and report["kid"], report
    assert report["hash"] == json.loads(lines[-1])["hash"]
    # What was thrown away is named by a row that comes later; the head is older than what is left.
    assert verify("rest.jsonl")["valid"] is True
    assert verify("rest.jsonl", *head)["fault"] == "head_before_beginning"

    def broken(change, *more):
        rows = [json.loads(line) for line in lines]
        change(rows)
        (folder / "broken.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        return verify("broken.jsonl", *more).get("fault")

    assert broken(lambda rows: None, *head) is None
    assert broken(lambda rows: rows[1].update(text=rows[1]["text"] + " ")) == "hash"
    assert broken(lambda rows: rows.pop(2)) == "sequence"
    assert broken(lambda rows: rows.pop(0)) == "beginning_unnamed"
    assert broken(lambda rows: rows.__setitem__(slice(2, None), [])) is None
    assert broken(lambda rows: rows.__setitem__(slice(2, None), []), *head) == "head_beyond_end"
    line = next(line for line in gate.log_text().splitlines() if "audit_head" in line)
    seq = line.split("seq=")[1].split()[0] if "seq=" in line else None
    if seq:
        (folder / "forged.log").write_text(line.replace(f"seq={seq}", "seq=1") + "\n")
    else:
        (folder / "forged.log").write_text(json.dumps(json.loads(line) | {"seq": 1}) + "\n")
    assert verify("audit.jsonl", "--head", "forged.log")["fault"] == "head_signature"
    (folder / "no.jsonl").write_text("nothing\n")
    assert gate.command("audit", "verify", "--export", "no.jsonl").returncode == UNKNOWN
    assert gate.command("audit", "verify", "--export", "missing.jsonl").returncode == IO_ERROR
