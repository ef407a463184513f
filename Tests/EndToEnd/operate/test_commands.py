"""The other commands, against a running gate and without one: output for pipes, statuses of sysexits."""

import asyncio
import json
import pathlib
import re

import pytest

from backend import sink
from device import b64
from gate import ROOT
from waiting import eventually
from websocket import CLOSE, RawWebSocket, closed_with, connect, refusal, until_prompt

VECTORS = ROOT.parent / "shared" / "vectors"
DATA_ERROR, USAGE = 65, 64


@pytest.fixture
def commands(gates):
    """Commands of a gate that does not run."""
    return gates(start=False).command


@pytest.mark.quick
def test_version_and_help(commands):
    version = commands("--version")
    assert version.returncode == 0 and version.stdout.strip()
    for arguments in (
        [],
        ["serve"],
        ["check"],
        ["config"],
        ["keys"],
        ["keys", "revoke"],
        ["sessions"],
        ["stats"],
        ["verify"],
        ["dev-certs"],
        ["simulate"],
        ["demo"],
    ):
        shown = commands(*arguments, "--help")
        assert shown.returncode == 0 and "USAGE" in shown.stdout.upper(), arguments
        assert "\x1b" not in shown.stdout


@pytest.mark.quick
def test_nonsense_is_a_usage_error(commands):
    assert commands("levitate").returncode == USAGE
    assert commands("keys", "--sideways").returncode == USAGE


@pytest.mark.parametrize(
    ["typed", "meant"],
    [
        ("checks", "there is no command checks: did you mean portcullis check?"),
        ("statsu --config x.env", "there is no command statsu: did you mean portcullis status?"),
        ("session list", "there is no command session: did you mean portcullis sessions list?"),
        ("devices remov ID", "portcullis devices has no command remov: did you mean portcullis devices revoke?"),
        ("simulate phon enrol", "portcullis simulate has no command phon: did you mean portcullis simulate phone enroll?"),
        ("restore x.db", "there is no command restore: did you mean portcullis devices restore?"),
        ("explain risks x", "portcullis explain has no command risks: did you mean portcullis explain risk?"),
        ("levitate", "there is no command levitate: portcullis --help lists those that there are"),
    ],
)
@pytest.mark.quick
def test_a_command_that_does_not_exist_gets_the_nearest_one(commands, typed, meant):
    done = commands(*typed.split())
    assert (done.returncode, done.stdout, done.stderr) == (USAGE, "", f"portcullis: {meant}\n")
    # What is suggested exists.
    if "did you mean" in meant:
        suggested = meant.partition("did you mean portcullis ")[2].removesuffix("?").split()
        shown = commands(*suggested, "--help")
        assert shown.returncode == 0 and f"USAGE: portcullis {' '.join(suggested)} " in shown.stdout, shown.stdout


FORMER = {
    "undrain": "drain --off",
    "keys stats": "stats --keys",
    "pair": "devices pair",
    "approvals bars list": "approvals list --barred",
    "approvals bars lift": "approvals unbar",
    "pins show": "pins",
    "pins next": "pins --make-next",
    "policy check": "check --policy",
    "policy check --assurance": "check --assurance --policy",
    "risk check": "check --risk",
    "policy explain": "explain approval",
    "risk explain": "explain risk",
}


@pytest.mark.parametrize("former", FORMER)
@pytest.mark.quick
def test_a_former_name_leads_to_the_one_of_today(commands, former):
    now = FORMER[former]
    names = [word for word in now.split() if not word.startswith("--")]
    for words in ([*former.split(), "--help"], ["help", *former.split()]):
        shown = commands(*words)
        assert shown.returncode == 0 and f"USAGE: portcullis {' '.join(names)} " in shown.stdout, shown
        assert shown.stderr == f"portcullis: {former} is now: portcullis {now}\n"
    # What follows goes with it.
    old, new = commands(*former.split(), "--sideways"), commands(*now.split(), "--sideways")
    assert (old.returncode, old.stderr.partition("\n")[2]) == (new.returncode, new.stderr) and new.returncode == USAGE


@pytest.mark.quick
def test_former_names_do_the_same(gates, backend, device, folder):
    gate = gates(backend)
    gate.app.register(device)
    counts = [json.loads(gate.command(*words, "--json").stdout) for words in (["keys", "stats"], ["stats", "--keys"])]
    # The gate may write a snapshot in between.
    old, new = ({name: count for name, count in one.items() if "Bytes" not in name} for one in counts)
    assert old == new and old["keys"] == 1, counts
    for former, now in (("pins show", "pins"), ("undrain", "drain --off")):
        old, new = gate.command(*former.split()), gate.command(*now.split())
        assert (old.returncode, old.stdout) == (new.returncode, new.stdout) == (0, old.stdout) and old.stdout, old
    (folder / "classes.json").write_text("{")
    for words in (["policy", "check", "--assurance"], ["policy", "check"], ["risk", "check"]):
        assert gate.command(*words, "classes.json").returncode == 78, words
    (folder / "policy.json").write_text(json.dumps({"rules": [{"match": {"operation": "x"}, "factors": ["operator"]}]}))
    assert gate.command("policy", "check", "policy.json").stdout == "ok  policy.json  1 rules, no DEFAULT\n"
    ended = gate.command("drain", "--end")
    assert (ended.returncode, ended.stdout) == (0, "sessions ended: 0\n")
    assert ended.stderr == "portcullis: drain --end is now: portcullis sessions end --all\n"


def test_arguments_of_a_command_that_stands_for_none_are_no_commands(commands):
    assert commands("verify", "no-such-file").stderr.startswith("portcullis: no-such-file: ")


@pytest.mark.quick
def test_remove_is_another_word_for_revoke(gates, backend, new_device):
    gate = gates(backend)
    device = gate.app.register(new_device())
    done = gate.command("keys", "remove", device.key_id_b64)
    assert done.returncode == 0 and done.stdout.startswith("revoked "), done
    assert gate.keys()[device.key_id_b64]["revokedAt"]
    for group in ("admin", "devices", "services"):
        assert f"portcullis {group} revoke " in gate.command(group, "remove", "--help").stdout


@pytest.mark.quick
def test_config_shows_values_and_where_they_came_from(commands):
    shown = commands("config", MAX_SESSIONS_PER_KEY="3")
    assert shown.returncode == 0, shown.stderr
    lines = shown.stdout.splitlines()
    sessions = next(line for line in lines if "MAX_SESSIONS_PER_KEY" in line)
    assert "3" in sessions and "environment" in sessions
    assert "default" in next(line for line in lines if "DRAIN_TIMEOUT" in line)
    assert len([line for line in lines if "_" in line]) > 35


@pytest.mark.quick
def test_config_reports_errors(commands):
    """What holds is shown, and what is wrong as a comment in its place; an unknown name sends people here."""
    shown = commands("config", WORKERS="zero", PORTCULLIS_COLOUR="hunter2")
    lines = shown.stdout.splitlines()
    assert shown.returncode == 78 and "2 problems" in shown.stderr, shown
    assert lines[0].startswith("# PORTCULLIS_COLOUR (environment) is not a setting"), lines
    assert any(line.startswith("# WORKERS=zero (environment) is ") for line in lines), lines
    assert any(line.startswith("BACKEND=") for line in lines) and "hunter2" not in shown.stdout, lines


@pytest.mark.quick
def test_check(gates, backend):
    gate = gates(backend, start=False)
    checked = gate.command("check")
    assert checked.returncode == 0, checked.stdout + checked.stderr
    backend.stop()
    assert gate.command("check").returncode != 0
    assert gate.command("check", TLS_CERT_PATH="/nowhere.pem").returncode == 78


@pytest.mark.quick
def test_check_health(gates, backend):
    gate = gates(backend, start=False)
    assert gate.command("check", "--health").returncode != 0
    gate.start()
    assert gate.command("check", "--health").returncode == 0


@pytest.mark.quick
def test_keys_list_show_stats(gates, backend, new_device):
    gate = gates(backend)
    devices = [gate.app.register(new_device()) for _ in range(3)]
    assert set(gate.keys()) == {device.key_id_b64 for device in devices}
    listed = gate.command("keys", "list")
    assert listed.returncode == 0 and "\x1b" not in listed.stdout
    shown = gate.command("keys", "show", devices[0].key_id_b64, "--json")
    assert shown.returncode == 0
    assert json.loads(shown.stdout)["signCount"] == 0
    stats = gate.command("stats", "--keys", "--json")
    assert stats.returncode == 0 and 3 in json.loads(stats.stdout).values()


@pytest.mark.parametrize("running", [True, False])
def test_an_unknown_key_is_a_data_error(gates, backend, new_device, running):
    gate = gates(backend)
    gate.app.register(new_device())
    gate.app.close()
    if not running:
        gate.stop()
    for command in ("show", "revoke"):
        done = gate.command("keys", command, new_device().key_id_b64)
        assert done.returncode == DATA_ERROR, (command, done)
        assert done.stderr.strip() and not done.stdout.strip()


async def test_revoking_without_a_server(gates, backend, device):
    gate = gates(backend)
    gate.app.register(device)
    gate.app.close()
    gate.stop()
    assert gate.command("keys", "revoke", device.key_id_b64).returncode == 0
    assert gate.keys()[device.key_id_b64]["revokedAt"]
    gate.start()
    assert await refusal(gate, device.headers(gate.app.nonce())) == (403, "key_revoked")


@pytest.mark.parametrize("running", [True, False])
def test_a_revocation_has_a_reason(gates, backend, new_device, running):
    gate = gates(backend)
    revoked, plain = gate.app.register(new_device()), gate.app.register(new_device())
    gate.app.close()
    if not running:
        gate.stop()
    reason = 'lost <b>"on the train"</b> – \u03b1'
    for words in ("", "  ", "a\nb", "a\u202eb", "a\x1b[2J", "x" * 257):
        assert gate.command("keys", "revoke", revoked.key_id_b64, "--reason", words).returncode == USAGE
    assert "revokedAt" not in gate.keys()[revoked.key_id_b64]
    for words in (reason, "another"):
        assert gate.command("keys", "revoke", revoked.key_id_b64, "--reason", words).returncode == 0
    assert gate.command("keys", "revoke", plain.key_id_b64).returncode == 0
    assert gate.keys()[revoked.key_id_b64]["revokedReason"] == reason
    assert "revokedReason" not in gate.keys()[plain.key_id_b64]
    shown = gate.command("keys", "show", revoked.key_id_b64)
    assert r'\"on the train\"' in shown.stdout, shown
    if running:
        # Nothing of it is lost without a clean stop.
        gate.kill()
        gate.start()
        assert gate.keys()[revoked.key_id_b64]["revokedReason"] == reason


def test_prune_keeps_revoked_and_used_keys(gates, backend, new_device, fault):
    gate = gates(backend, **fault.environment)
    old, revoked = gate.app.register(new_device()), gate.app.register(new_device())
    assert gate.command("keys", "revoke", revoked.key_id_b64).returncode == 0
    fault.jump(200 * 86400)
    gate.app.close()
    pruned = gate.command("keys", "prune", "--unused", "180d")
    assert pruned.returncode == 0, pruned.stderr
    assert set(gate.keys()) == {revoked.key_id_b64} and old.key_id_b64 not in gate.keys()


async def test_sessions_and_stats(gates, backend, device):
    gate = gates(backend)
    gate.app.register(device)
    async with connect(gate, device.headers(gate.app.nonce())) as connection:
        await until_prompt(connection)
        await refusal(gate)
        listed = gate.command("sessions", "list", "--json")
        assert listed.returncode == 0 and device.key_id_b64[:8] in listed.stdout
        stats = gate.command("stats", "--json")
        assert stats.returncode == 0 and "assertion_required" in stats.stdout
        # Text and JSON have the same numbers.
        whole = json.loads(stats.stdout)
        text = dict(line.split(None, 1) for line in gate.command("stats").stdout.splitlines())
        names = {*whole["now"], *whole["sinceStart"]} | {f"refused.{name}" for name in whole["refusals"]}
        names |= {f"store.{name}" for name in whole["store"]}
        assert len(whole["now"]) == 11 and names <= set(text), names - set(text)


async def test_closing_a_session(gates, backend, device):
    gate = gates(backend)
    gate.app.register(device)
    connection = await connect(gate, device.headers(gate.app.nonce()))
    await until_prompt(connection)
    closed = await asyncio.to_thread(gate.command, "sessions", "close", "--json", device.key_id_b64)
    assert closed.returncode == 0, closed.stderr
    assert json.loads(closed.stdout) == {"sessionsEnded": 1, "sessionsLeft": 0}
    assert await closed_with(connection) == 1008
    assert await refusal(gate, device.headers(gate.app.nonce())) == (101, None)  # it may come back
    eventually(lambda: gate.command("sessions", "list").stdout == "", "the end of that one")
    for session in ("99", device.key_id_b64, "0-dead"):
        refused = gate.command("sessions", "close", session)
        assert refused.returncode == DATA_ERROR and f" {session}: sessions list shows all" in refused.stderr, refused


@pytest.mark.parametrize("command", [("sessions", "close"), ("keys", "revoke")])
@pytest.mark.quick
def test_sessions_end_whatever_their_players_do(gates, backends, device, command):
    """Nobody answers a Close here, and one is amid another close: all are gone when the command returns."""
    backend = backends(sink)
    gate = gates(backend, WORKERS=2)
    gate.app.register(device)
    players = [RawWebSocket(gate, device.headers(gate.app.nonce()))]
    backend.connection().close()
    assert players[0].read_frame()[1] == CLOSE
    players += [RawWebSocket(gate, device.headers(gate.app.nonce())) for _ in range(2)]
    ended = gate.command(*command, device.key_id_b64)
    assert ended.returncode == 0, ended.stderr
    assert gate.command("sessions", "list", "--json").stdout == ""
    assert [player.until_close()[0] for player in players[1:]] == [1008, 1008]
    for player in players:
        player.close()


@pytest.mark.quick
def test_sessions_without_a_server(commands):
    done = commands("sessions", "list")
    assert done.returncode == 69 and done.stderr.strip()


@pytest.mark.parametrize("name", ["generated-attestation.jsonl", "generated-assertion.jsonl"])
@pytest.mark.quick
def test_verify_judges_the_vectors(commands, name):
    if not VECTORS.exists():
        pytest.skip(f"{VECTORS} is not there")
    path = VECTORS / name
    done = commands("verify", "--jsonl", str(path), within=120)
    verdicts = [json.loads(line) for line in done.stdout.splitlines()]
    cases = [json.loads(line) for line in path.read_text().splitlines()]
    assert [verdict["name"] for verdict in verdicts] == [case["name"] for case in cases]
    for case, verdict in zip(cases, verdicts, strict=True):
        if case["expect"]["result"] != "policy":
            assert verdict["result"] == case["expect"]["result"], (verdict, case["expect"])
    assert done.returncode == 0, done.stderr


def judged(gate, folder, case, **changes):
    """The verdict of `verify --jsonl` on one case, and the exit status."""
    path = folder / "cases.jsonl"
    path.write_text(json.dumps({**case, **changes}) + "\n")
    done = gate.command("verify", "--jsonl", str(path))
    return json.loads(done.stdout), done.returncode


def test_verify_judges_the_independent_device(gates, folder, authority, device):
    gate = gates(start=False)
    (folder / "root.pem").write_bytes(authority.root_pem())
    nonce = bytes(range(32))
    case = {
        "name": "independent",
        "kind": "attestation",
        "attestation_b64": b64(device.attestation(nonce.hex())),
        "key_id_b64": device.key_id_b64,
        "challenge_b64": b64(nonce),
        "team_id": "ABCDEF12K4",
        "bundle_id": "org.example.mudproxy",
        "environment": "production",
        "root": "root.pem",
        "expect": {"result": "accept"},
    }
    assert judged(gate, folder, case) == ({"name": "independent", "result": "accept"}, 0)
    verdict, status = judged(gate, folder, case, environment="development")
    assert verdict["result"] == "reject" and verdict["check"] and status == 1
    verdict, status = judged(gate, folder, case, root="apple")
    assert verdict["result"] == "reject" and status == 1


def test_demo(commands):
    done = commands("demo", within=60)
    assert done.returncode == 0, done.stdout + done.stderr
    # A login by plain telnet takes a code from the phone: once, and for that login.
    for told in (
        r"login anna: her phone signs, shows six digits, and she types them: \d{6}",
        r"the same code at another login: it was good once, for that one: refused",
        r"two logins in one breath: the code of the one lets nobody in by the other's name: refused",
    ):
        assert re.search(f"^  ✓ {told}$", done.stdout, re.MULTILINE), done.stdout
    assert "✗" not in done.stdout


@pytest.mark.quick
def test_the_control_socket_is_ours_alone(gates, backend):
    gate = gates(backend)
    path = pathlib.Path(gate.environment["CONTROL_SOCKET"])
    eventually(path.exists, "the socket")
    assert path.stat().st_mode & 0o077 == 0


def test_a_stale_control_socket_is_replaced(gates, backend):
    gate = gates(backend)
    gate.kill()
    gate.start()
    assert gate.command("check", "--health").returncode == 0
