"""`keys import` and `export`: keys of another gate come in for a while, and nothing else of its file does."""

import datetime
import hashlib
import json
import signal

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from backend import mud
from device import APP_ID, b64
from waiting import eventually
from websocket import connect, refusal, until_prompt

DATA_ERROR, USAGE, CONFIGURATION, IO_ERROR = 65, 64, 78, 74


def pem(key):
    return key.public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    ).decode()


def point(key):
    return key.public_bytes(serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint)


def entry(key, **members):
    """What that gate writes of a key."""
    return {"publicKey": pem(key), "signCount": 0, "registeredAt": "2026-02-17T00:00:00.000Z", **members}


def some_key():
    key = ec.generate_private_key(ec.SECP256R1()).public_key()
    return b64(hashlib.sha256(point(key)).digest()), key


def of_device(device, **members):
    return {device.key_id_b64: entry(device.key.public_key(), **members)}


def days(count):
    return (datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(days=count)).isoformat()


class Files:
    def __init__(self, gate):
        self.gate = gate

    def import_(self, keys, *options, until=None, text=None, **environment):
        path = self.gate.folder / "goldfinch.json"
        path.write_text(text if text is not None else json.dumps(keys, indent=2))
        return self.gate.command(
            "keys", "import", "--from", "goldfinch", str(path), "--until", until or days(30), *options, **environment
        )

    def imported(self, keys, *options, **more):
        done = self.import_(keys, *options, "--json", **more)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)


@pytest.fixture(params=["gate", "store"])
def files(request, gates, backend):
    """By the running gate, and by hand."""
    made = Files(gates(backend, start=request.param == "gate"))
    made.editor = request.param
    return made


async def test_an_imported_key_plays_and_is_shown_as_such(gates, backends, new_device):
    gate, device = gates(backends(mud)), new_device()
    device.counter = 41
    told = Files(gate).imported(of_device(device, signCount=41, lastUsedAt="2026-02-18T00:00:00Z"))
    assert (told["imported"], told["known"], told["leftOut"], told["by"]) == (1, 0, 0, "gate")
    async with connect(gate, device.headers(gate.app.nonce())) as connection:
        assert (await until_prompt(connection)).startswith("Welcome")
    # The counter goes on where that gate had it.
    device.counter = 30
    assert await refusal(gate, device.headers(gate.app.nonce())) == (401, "assertion_rejected")
    shown = gate.keys()[device.key_id_b64]
    assert (shown["importedFrom"], shown["signCount"], shown["appId"]) == ("goldfinch", 42, APP_ID)
    assert shown["goodUntil"] == told["goodUntil"] and "validationCategory" not in shown
    assert "imported from goldfinch until" in gate.command("keys", "list").stdout
    assert "goodUntil" in gate.command("keys", "show", device.key_id_b64[:8]).stdout
    gate.event(event="keys_imported", keys="1")


async def test_after_its_date_the_key_is_unknown_and_the_app_registers(gates, backends, new_device, fault):
    gate, device = gates(backends(mud), **fault.environment), new_device()
    Files(gate).imported(of_device(device), until="2h")
    fault.jump(2 * 3600 - 60)
    async with connect(gate, device.headers(gate.app.nonce())) as connection:
        await until_prompt(connection)
    fault.jump(120)
    gate.app.close()
    assert await refusal(gate, device.headers(gate.app.nonce())) == (401, "key_unknown")
    assert await refusal(gate, device.headers(gate.app.nonce())) == (401, "key_unknown")
    # Whatever it makes a new key of is its own; here it is the same one, with its counter.
    gate.app.register(device)
    async with connect(gate, device.headers(gate.app.nonce())) as connection:
        await until_prompt(connection)
    shown = gate.keys()[device.key_id_b64]
    assert "importedFrom" not in shown and shown["environment"] == "production"


@pytest.mark.parametrize("how", ["stop", "kill"])
async def test_it_is_kept_like_any_other(gates, backends, new_device, how):
    gate, device = gates(backends(mud)), new_device()
    keys = dict(some_key() for _ in range(1200))
    keys = {name: entry(key) for name, key in keys.items()} | of_device(device)
    assert Files(gate).imported(keys)["imported"] == 1201
    gate.app.close()
    gate.stop() if how == "stop" else gate.kill()
    gate.start()
    assert sum(key.get("importedFrom") == "goldfinch" for key in gate.keys().values()) == 1201
    async with connect(gate, device.headers(gate.app.nonce())) as connection:
        await until_prompt(connection)


def test_twice_changes_nothing(files):
    keys = {name: entry(key, signCount=5) for name, key in (some_key() for _ in range(3))}
    before = files.gate.keys() if files.gate.running else {}
    told = files.imported(keys, "--dry-run")
    assert (told["wouldImport"], told["known"]) == (3, 0) and "by" not in told
    assert (files.gate.keys() if files.gate.running else {}) == before
    assert files.imported(keys)["by"] == files.editor
    first = files.gate.keys()
    more = {name: {**key, "signCount": 900} for name, key in keys.items()}
    told = files.imported(more | {name: entry(key) for name, key in [some_key()]}, "--app-id", APP_ID, until="80d")
    assert (told["imported"], told["known"]) == (1, 3)
    second = files.gate.keys()
    assert {name: second[name] for name in first} == first
    (new,) = set(second) - set(first)
    assert second[new]["appId"] == APP_ID and "appId" not in next(iter(first.values()))


def test_a_key_that_is_here_stays_as_it_is(gates, backends, new_device):
    gate = gates(backends(mud))
    registered, revoked = gate.app.register(new_device()), gate.app.register(new_device())
    assert gate.command("keys", "revoke", revoked.key_id_b64).returncode == 0
    before = gate.keys()
    told = Files(gate).imported(of_device(registered, signCount=9) | of_device(revoked, signCount=9))
    assert (told["imported"], told["known"]) == (0, 2) and gate.keys() == before


def test_what_is_no_key_of_app_attest_is_left_out_and_told(files):
    good, key = some_key()
    other, alternate = some_key()
    foreign = ec.generate_private_key(ec.SECP384R1()).public_key()
    off_curve = pem(key).splitlines()
    off_curve[2] = off_curve[2][:-8] + "AAAAAAA="
    keys = {
        good: entry(key),
        # That gate was not sure which of two keys it was.
        other: entry(some_key()[1], alternatePublicKey=pem(alternate)),
        some_key()[0]: entry(some_key()[1]),
        "not base64 of 32 bytes": entry(some_key()[1]),
        some_key()[0]: entry(foreign),
        b64(bytes(32)): entry(key) | {"publicKey": "\n".join(off_curve)},
        b64(bytes(31) + b"\1"): entry(key) | {"publicKey": "-----BEGIN"},
    }
    done = files.import_(keys, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["imported"] == 2 and json.loads(done.stdout)["leftOut"] == 5
    assert set(files.gate.keys()) == {good, other}
    told = done.stderr.splitlines()
    assert len(told) == 5 and all(":" in line and "is left out: its" in line for line in told)
    # Six lines a key: the third begins in line 15 (one has a line more).
    assert "goldfinch.json:13:" in told[0] and "SHA-256" in told[0]
    assert sum("P-256" in line for line in told) == 3 and sum("no key id" in line for line in told) == 1


MEMBERS = '"signCount": 1, "registeredAt": "2026-02-17T00:00:00Z"'


@pytest.mark.parametrize(
    "text, place",
    [
        ("", "line 1, column 1"),
        ("[]", "line 1, column 1"),
        ('{"%s": {"publicKey": "x"', "line 1"),
        ("{\n%s\n}", "line 2, column 1"),
        ('{\n"%s": {"publicKey": "x", ' + MEMBERS + '}}\n{}', "line 3, column 1"),
        ('{\n"%s":\n {"publicKey": "x",\n  "revoked": true, ' + MEMBERS + "}}", "line 4, column 4"),
        ('{"%s": {"publicKey": "x", "signCount": -1, "registeredAt": "2026-02-17T00:00:00Z"}}', "signCount"),
        ('{"%s": {"publicKey": "x", "signCount": 4294967296, "registeredAt": "2026-02-17T00:00:00Z"}}', "signCount"),
        ('{"%s": {"publicKey": "x", "signCount": 1, "registeredAt": 1771286400}}', "line 1"),
        ('{"%s": {"publicKey": "x", "signCount": 1, "registeredAt": "yesterday"}}', "RFC 3339"),
        ('{"%s": {"publicKey": "x", "signCount": 1}}', "no registeredAt"),
        ('{"%s": {"signCount": 1, "registeredAt": "2026-02-17T00:00:00Z"}}', "no publicKey"),
        ('{"%s": {"publicKey": "x", "publicKey": "x", ' + MEMBERS + "}}", "twice"),
        ('{"%s": {"publicKey": ["x"], ' + MEMBERS + "}}", "line 1"),
    ],
)
def test_a_file_that_is_wrong_is_refused_whole_with_the_place(files, text, place):
    good, key = some_key()
    text = text.replace("%s", b64(bytes(32)))
    if text.startswith('{"'):
        text = "{" + json.dumps({good: entry(key)})[1:-1] + "," + text[1:]
    done = files.import_(None, text=text)
    assert done.returncode == DATA_ERROR and place in done.stderr and "nothing is imported" in done.stderr
    assert not files.gate.store_path.exists() or not files.gate.keys()


def test_a_key_twice(files):
    good, key = some_key()
    one = json.dumps(entry(key))
    urlsafe = good.replace("+", "-").replace("/", "_").rstrip("=")
    for name in (good, urlsafe):
        done = files.import_(None, text=f'{{"{good}": {one},\n"{name}": {one}}}')
        assert done.returncode == DATA_ERROR and "line 2" in done.stderr and "twice" in done.stderr


def test_when_a_key_was_last_used(files):
    """That gate has two words for it: the later one counts."""
    early, late = "2026-02-18T00:00:00.000Z", "2026-02-20T00:00:00.000Z"
    uses = [{"lastUsedAt": early, "lastAssertedAt": late}, {"lastUsedAt": late, "lastAssertedAt": early},
            {"lastAssertedAt": late}, {"lastUsedAt": late}, {}]  # fmt: skip
    keys = [(some_key(), use) for use in uses]
    files.imported({name: entry(key, **use) for (name, key), use in keys})
    kept = files.gate.keys()
    assert [kept[name].get("lastUsedAt") for (name, _), _ in keys] == [late] * 4 + [None]


def test_the_last_date_that_is_taken(files):
    """Ninety days, and not a second more."""
    (first, key), (second, other) = some_key(), some_key()
    assert files.import_({first: entry(key)}, until=f"{90 * 86_400 + 1}s").returncode == USAGE
    assert files.imported({second: entry(other)}, until=f"{90 * 86_400}s")["imported"] == 1
    assert set(files.gate.keys()) == {second}


@pytest.mark.parametrize("until", ["91d", "2020-01-01", "0s", "2199-01-01T00:00:00Z", "soon"])
def test_dates_that_are_refused(files, until):
    good, key = some_key()
    assert files.import_({good: entry(key)}, until=until).returncode == USAGE


def test_other_wrong_words(files):
    good, key = some_key()
    assert files.import_({good: entry(key)}, "--app-id", "ABCDE12345.com.example.other").returncode == USAGE
    path = str(files.gate.folder / "goldfinch.json")
    assert files.gate.command("keys", "import", "--from", "eagle", path, "--until", "3d").returncode == USAGE
    missing = files.gate.command("keys", "import", "--from", "goldfinch", path + "x", "--until", "3d")
    assert missing.returncode == IO_ERROR and "goldfinch.jsonx" in missing.stderr


def test_a_full_store(gates, backend):
    gate = gates(backend, KEYSTORE_MAX_KEYS="1000")
    done = Files(gate).import_({name: entry(key) for name, key in (some_key() for _ in range(1001))})
    assert done.returncode == DATA_ERROR and "KEYSTORE_MAX_KEYS" in done.stderr
    made = Files(gate)
    assert made.imported({name: entry(key) for name, key in (some_key() for _ in range(900))})["imported"] == 900
    done = made.import_({name: entry(key) for name, key in (some_key() for _ in range(200))})
    assert done.returncode == CONFIGURATION and "imported: 100" in done.stdout and "full" in done.stderr
    assert len(gate.keys()) == 1000


def test_what_is_exported_can_be_imported(gates, backends, new_device):
    gate = gates(backends(mud))
    kept, revoked = gate.app.register(new_device()), gate.app.register(new_device())
    assert gate.command("keys", "revoke", revoked.key_id_b64).returncode == 0
    done = gate.command("keys", "export")
    assert done.returncode == 0 and "1 keys are left out" in done.stderr
    exported = json.loads(done.stdout)
    assert set(exported) == {kept.key_id_b64}
    assert set(exported[kept.key_id_b64]) <= {"publicKey", "signCount", "registeredAt", "lastUsedAt"}
    assert exported[kept.key_id_b64]["publicKey"] == pem(kept.key.public_key())
    other = Files(gates(backends(mud), start=False, ATTESTED_KEYS_PATH=gate.folder / "other.json",
                        CONTROL_SOCKET=gate.folder / "other.sock"))
    assert other.imported(None, text=done.stdout)["imported"] == 1
    assert gates(start=False, ATTESTED_KEYS_PATH=gate.folder / "none.json").command("keys", "export").stdout == "{\n}\n"


def test_a_gate_that_cannot_write_says_so(gates, backend, fault):
    gate = gates(backend, **fault.environment)
    fault.fail_syncs()
    keys = {name: entry(key) for name, key in (some_key() for _ in range(3))}
    done = Files(gate).import_(keys)
    assert done.returncode == 75 and "cannot be written" in done.stderr
    fault.heal()
    eventually(lambda: Files(gate).import_(keys).returncode == 0, "a disk that writes again", 60)
    assert set(gate.keys()) == set(keys)
    gate.signal(signal.SIGTERM)
    gate.wait()
