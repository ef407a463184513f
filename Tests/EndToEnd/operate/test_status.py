"""`portcullis status`, and what other commands show a person at a terminal: columns, short keys, times in words, colour."""

import json
import re

import pytest

from backend import mud
from gate import BINARY, process_environment
from handset import Handset
from terminal import Terminal
from websocket import connect, refusal, until_prompt

UNAVAILABLE = 69
ESCAPE = re.compile(r"\x1b\[\d+m")


def at_terminal(gate, *arguments, status=0, columns=120, **environment):
    """What a command shows at a terminal, with its colours."""
    variables = {"TERM": "xterm", **gate.environment, **environment}
    for name in ("LD_PRELOAD", "SHIM_CONTROL"):
        variables.pop(name, None)
    terminal = Terminal(
        [str(BINARY), *arguments], columns=columns, cwd=gate.folder, env=process_environment(variables)
    )
    try:
        assert terminal.wait() == status, terminal.shown
    finally:
        terminal.close()
    return terminal.shown.replace("\r\n", "\n")


def columns(shown):
    """A table as rows of texts, its heading first."""
    return [re.split(r" {2,}", line.strip()) for line in ESCAPE.sub("", shown).splitlines()]


async def test_status_says_whether_all_is_well(gates, backend, device):
    gate = gates(backend)
    gate.app.register(device)
    assert gate.command("status").stdout.splitlines()[-1] == "  none"
    async with connect(gate, device.headers(gate.app.nonce())) as connection:
        await until_prompt(connection)
        assert (await refusal(gate))[1] == "assertion_required"
        done = gate.command("status")
        assert done.returncode == 0 and "\x1b" not in done.stdout, done
        lines = done.stdout.splitlines()
        assert re.fullmatch(r"ok  version \S+  up \d+ s  process \d+", lines[0]), lines
        assert "  1 connected" in lines and "  nothing: the gate has no devices" in lines, lines
        assert re.match(r"  assertion_required +\S+ +1  (now|\d+ s ago)$", lines[-1]), lines
        shown = json.loads(gate.command("status", "--json").stdout)
        assert (shown["status"], shown["sessions"], shown["detached"]) == ("ok", 1, 0), shown
        assert shown["approvals"] is None and shown["devices"] is None, shown
        (last,) = shown["refusals"]
        assert (last["code"], last["count"]) == ("assertion_required", 1) and last["lastAt"].endswith("Z"), shown


def test_status_ends_as_a_check_of_health_does(gates, backend):
    gate = gates(backend, start=False)
    assert gate.command("status").returncode == UNAVAILABLE
    gate.start()
    assert gate.command("status").returncode == 0
    assert gate.command("drain").returncode == 0
    drained = gate.command("status")
    assert drained.returncode == gate.command("check", "--health").returncode == UNAVAILABLE
    assert drained.stdout.startswith("draining  version ") and "New players are refused." in drained.stdout
    assert json.loads(gate.command("status", "--json").stdout)["status"] == "draining"


@pytest.fixture
def waiting(gates, backend, folder):
    """A gate with a phone and a request that wait for the operator."""
    policy = folder / "policy.json"
    policy.write_text(json.dumps({"rules": [{"match": {"operation": "host.*"}, "factors": ["operator"]}]}))
    gate = gates(
        backend, DEVICES_PATH=folder / "devices.db", PUBLIC_URL="https://mud.example", APPROVAL_POLICY=policy,
        APPROVALS_SOCKET=folder / "approvals.sock",
        # Another user than the one who asks.
        APPROVAL_OPERATORS=54_321,
    )  # fmt: skip
    gate.device = Handset(gate).enroll()["device_id"]
    asked = gate.command(
        "approvals", "request", "--operation", "host.reboot", "--target", "host=a b", "--text", "the disk is full"
    )
    assert asked.returncode == 0, asked.stderr
    gate.asked = asked.stdout.strip()
    return gate


def test_status_names_what_waits(waiting):
    lines = waiting.command("status").stdout.splitlines()
    (request,) = [line for line in lines if waiting.asked in line]
    (phone,) = [line for line in lines if waiting.device in line]
    assert "host.reboot" in request and re.search(r"in \d+ (s|min|h)$", request), lines
    assert re.search(r"(now|\d+ s ago)$", phone), lines
    shown = json.loads(waiting.command("status", "--json").stdout)
    assert [one["id"] for one in shown["approvals"]] == [waiting.asked]
    assert [one["device_id"] for one in shown["devices"]] == [waiting.device]
    # What is decided waits no more.
    assert waiting.command("devices", "confirm", waiting.device).returncode == 0
    assert waiting.command("approvals", "cancel", waiting.asked).returncode == 0
    assert "  nothing" in waiting.command("status").stdout.splitlines()


def test_requests_are_readable_at_a_terminal(waiting):
    shown = ESCAPE.sub("", at_terminal(waiting, "approvals", "list"))
    first, what, why, who = shown.splitlines()
    assert re.fullmatch(rf"{waiting.asked}  pending  ends in \d+ (s|min|h)", first), shown
    assert what == '  host.reboot  host="a b"' and why == '  "the disk is full"' and who.startswith("  asked by "), shown
    facts = at_terminal(waiting, "approvals", "show", waiting.asked)
    assert re.search(r"^expires_at +20\S+Z, in \d+ (s|min|h)$", facts, re.MULTILINE), facts
    # A script goes on as before.
    assert re.search(r"^expires_at +20\S+Z$", waiting.command("approvals", "show", waiting.asked).stdout, re.MULTILINE)
    fields = waiting.command("approvals", "list").stdout.split("  ")
    assert fields[0] == waiting.asked and fields[6].endswith("Z"), fields
    devices = columns(at_terminal(waiting, "devices", "list", columns=200))
    assert devices[0][:2] == ["DEVICE ID", "STATUS"] and devices[1][:2] == [waiting.device, "pending"], devices


async def test_tables_at_a_terminal(gates, backend, device):
    gate = gates(backend)
    gate.app.register(device)
    async with connect(gate, device.headers(gate.app.nonce())) as connection:
        await until_prompt(connection)
        heading, key = columns(at_terminal(gate, "keys", "list"))
        assert heading[:3] == ["KEY", "REGISTERED", "LAST USED"] and key[0] == device.key_id_b64[:8], key
        assert re.fullmatch(r"now|\d+ s ago", key[1]), key
        # What is shown of a key names it.
        assert gate.command("keys", "show", key[0]).returncode == 0
        heading, session = columns(at_terminal(gate, "sessions", "list"))
        assert heading[:2] == ["SESSION", "STATE"] and session[-1] == device.key_id_b64[:8], session
        assert session[1] == "attached" and re.fullmatch(r"\d+ B", session[5]), session
        shown = ESCAPE.sub("", at_terminal(gate, "stats"))
        headings = [line for line in shown.splitlines() if line and not line.startswith(" ")]
        assert headings[:3] == ["Gate", "Now", "Since the start"], shown
        assert re.search(r"^  sessions +1  players' sessions", shown, re.MULTILINE), shown
        # For a pipe everything is as it was.
        assert gate.command("keys", "list").stdout.startswith(f"{device.key_id_b64}  20")
        assert gate.command("stats").stdout.startswith("status ")


def test_colour_is_for_those_who_want_it(gates, backend):
    gate = gates(backend)
    assert "\x1b[32mok\x1b[0m" in at_terminal(gate, "status")
    for environment in ({"NO_COLOR": "1"}, {"TERM": "dumb"}, {"TERM": None}):
        assert "\x1b" not in at_terminal(gate, "status", **environment), environment
    assert "\x1b[32mok" in at_terminal(gate, "status", NO_COLOR="")


def test_check_ends_with_what_matters(gates, backends):
    backend = backends(mud)
    gate = gates(backend, start=False)
    lines = ESCAPE.sub("", at_terminal(gate, "check", columns=300)).splitlines()
    assert lines[0].split() == ["RESULT", "CHECK", "FOUND"] and lines[-1].startswith("ready: no problem"), lines
    grades = [line.split()[0] for line in lines[1:-2]]
    assert grades == sorted(grades, key=["ok", "warning", "problem"].index), grades
    plain = gate.command("check").stdout
    assert not re.search("^(RESULT|ready)", plain, re.MULTILINE), plain
    backend.stop()
    lines = ESCAPE.sub("", at_terminal(gate, "check", columns=300, status=UNAVAILABLE)).splitlines()
    assert lines[-1].startswith("not ready: 1 problem") and lines[-3].startswith("problem "), lines
