"""`APPROVALS_SOCKET`: who may open it, who it takes them for, and what it does not do for anybody."""

import base64
import json
import os
import pathlib
import pwd
import re
import select
import shutil
import socket
import stat
import subprocess
import tempfile

import pytest

from gate import BINARY, process_environment
from handset import Handset
from orders import ask, ask_as, read_line
from terminal import Terminal
from waiting import LONG, eventually, patience

root = pytest.mark.skipif(os.geteuid() != 0, reason="only the superuser can become others")
# Numbers without an account.
ALICE, BOB, MALLORY, GROUP = 54_321, 54_322, 54_323, 54_400
LIST = {"command": "registry", "verb": "approvals-list", "arguments": {}}


@pytest.fixture
def place():
    """A folder that everybody may enter."""
    made = pathlib.Path(tempfile.mkdtemp(prefix="approvals-", dir="/tmp"))
    made.chmod(0o711)
    yield made
    shutil.rmtree(made)


@pytest.fixture
def gate(gates, backend, folder, place, fault):
    policy = folder / "policy.json"
    policy.write_text(
        json.dumps(
            {
                "rules": [
                    {"match": {"operation": "host.*"}, "factors": ["operator"]},
                    {"match": {"operation": "door.*"}, "level": "bare", "match_digits": 0},
                ]
            }
        )
    )
    policy.chmod(0o644)
    gate = gates(
        backend,
        DEVICES_PATH=folder / "devices.db", PUBLIC_URL="https://mud.example", APPROVAL_POLICY=policy,
        APPROVALS_SOCKET=place / "approvals.sock", SOCKET_GROUP=GROUP, APPROVAL_OPERATORS=f"{ALICE},{BOB}",
        **fault.environment,
    )  # fmt: skip
    # Whoever is slow has two seconds.
    fault.stand_still()
    return gate


def path(gate):
    return gate.environment["APPROVALS_SOCKET"]


def order(verb, **arguments):
    return {"command": "registry", "verb": verb, "arguments": arguments}


def error(answer):
    return answer.get("error", {}).get("code")


def test_its_mode_and_its_end(gate, fault):
    status = os.stat(path(gate))
    assert stat.S_ISSOCK(status.st_mode) and stat.S_IMODE(status.st_mode) == 0o660
    assert status.st_gid == GROUP
    fault.heal()
    gate.stop()
    assert not os.path.exists(path(gate))


@root
def test_the_group_may_ask_and_others_may_not(gate):
    assert ask_as(ALICE, GROUP, path(gate), LIST)["answer"] == "registry"
    assert ask_as(MALLORY, MALLORY, path(gate), LIST) is None


@root
def test_nobody_who_looks_like_everybody(gate):
    """The number that stands for users of another namespace."""
    assert error(ask_as(65_534, GROUP, path(gate), LIST)) == "not_permitted"


@pytest.mark.parametrize(
    "request_",
    [
        {"command": "health"}, {"command": "keys-prune", "unusedSeconds": 0}, {"command": "sessions-list"},
        order("devices-list"), order("services-add", name="x", scopes=["approvals"]),
        order("audit-export"), order("pair-open"), order("devices-backup", name="x"),
    ],
    ids=lambda request: request.get("verb", request["command"]),
)  # fmt: skip
def test_it_does_nothing_else(gate, request_):
    assert error(ask(path(gate), request_)) == "not_permitted"


def test_what_is_asked_for_is_bounded(gate):
    long = order("approvals-request", operation="host.x", target={}, text="x" * 70_000)
    assert error(ask(path(gate), long)) == "too_large"
    assert error(ask(path(gate), order("approvals-request", operation="host.x"))) == "wrong_arguments"
    assert error(ask(path(gate), order("approvals-list", user=0))) == "wrong_arguments"
    assert error(ask(path(gate), {"command": "registry"})) == "bad_request"
    assert error(ask(path(gate), order("no-such-verb"))) == "unknown_command"


def test_one_user_does_not_keep_others_out(gate, fault):
    """Of the threads of the socket, one user has two; whoever says nothing is gone after two seconds."""
    silent = [socket.socket(socket.AF_UNIX) for _ in range(3)]
    for client in silent:
        client.settimeout(patience(LONG))
        client.connect(str(path(gate)))
    # The threads have taken them in any order.
    (third,), _, _ = select.select(silent, [], [], patience(LONG))
    assert error(json.loads(read_line(third))) == "busy"
    others = [client for client in silent if client is not third]

    def answered():
        fault.jump(2.1)
        return len(select.select(others, [], [], 0)[0]) == 2

    eventually(answered, "the end of those who say nothing")
    assert [error(json.loads(read_line(client))) for client in others] == ["timeout"] * 2
    for client in silent:
        client.close()
    eventually(lambda: ask(path(gate), LIST).get("answer") == "registry", "served again")


@root
def test_who_asks_does_not_confirm_and_who_confirms_is_an_operator(gate):
    asked = ask_as(ALICE, GROUP, path(gate), order("approvals-request", operation="host.reboot", target={}, text="now"))
    id = asked["result"]["id"]
    # Who neither asked nor is an operator does not even see it.
    assert error(ask_as(MALLORY, GROUP, path(gate), order("approvals-approve", id=id))) == "unknown_object"
    assert ask_as(MALLORY, GROUP, path(gate), LIST)["result"] == []
    assert error(ask_as(ALICE, GROUP, path(gate), order("approvals-approve", id=id))) == "not_allowed"
    approved = ask_as(BOB, GROUP, path(gate), order("approvals-approve", id=id))
    assert approved["result"]["state"] == "approved", approved
    assert error(ask_as(BOB, GROUP, path(gate), order("approvals-approve", id=id))) == "not_allowed"
    # It stands in the audit with the user whom the kernel named.
    done = gate.command("audit", "list", "--json")
    assert done.returncode == 0, done.stderr
    assert any(row.get("uid") == BOB for row in json.loads(done.stdout)), done.stdout


@root
def test_nobody_approves_on_his_phone_what_he_has_asked_for(gate):
    """The phone is that of whoever has his account's name; by its number the account is looked up behind the sandbox."""
    (own, other) = (pwd.getpwnam(name) for name in ("daemon", "games"))
    phone = Handset(gate)
    phone.enroll()
    assert gate.command("devices", "confirm", phone.id, "--subject", own.pw_name).returncode == 0
    door = order("approvals-request", operation="door.open", target={}, text="now", subject=own.pw_name)
    refused = ask_as(own.pw_uid, GROUP, path(gate), door)
    assert error(refused) == "not_allowed" and "no_device" in refused["error"]["message"], refused
    asked = ask_as(other.pw_uid, GROUP, path(gate), door)
    assert asked["answer"] == "registry", asked
    # Whoever is asked sees who has asked.
    (item,) = phone.get("/approvals", phone.token).json["items"]
    summary = json.loads(base64.urlsafe_b64decode(item["summary"] + "=="))
    assert summary["requester"] == {"id": f"uid:{other.pw_uid}", "name": other.pw_name}
    # A number without an account is nobody's name.
    assert ask_as(ALICE, GROUP, path(gate), door)["answer"] == "registry"


@root
def test_an_operator_does_not_confirm_what_he_has_a_service_ask_for(gate):
    token = gate.command("services", "add", "web", "--scopes", "approvals").stdout.strip()
    request = {"operation": "host.reboot", "target": {}, "text": "now", "requester": {"id": f"uid:{ALICE}"}}
    asked = Handset(gate).post("/approvals", request, token)
    assert asked.status == 201, asked
    approve = order("approvals-approve", id=asked.json["id"])
    assert error(ask_as(ALICE, GROUP, path(gate), approve)) == "not_allowed"
    assert ask_as(BOB, GROUP, path(gate), approve)["result"]["state"] == "approved"


@root
def test_operators_see_and_lift_bars_and_those_who_ask_do_not(gate):
    lift = order("bars-lift", service="mud", requester="ops", subject="anna")
    for verb in (order("bars-list"), lift):
        assert error(ask_as(MALLORY, GROUP, path(gate), verb)) == "not_allowed"
    assert ask_as(BOB, GROUP, path(gate), order("bars-list"))["result"] == []
    assert error(ask_as(BOB, GROUP, path(gate), lift)) == "unknown_object"


def facts(text):
    """Names and values below each other; names have single blanks in them."""
    return dict(re.split(r"  +", line, maxsplit=1) for line in text.splitlines())


ASKED = order("approvals-request", operation="host.reboot", target={"host": "a b"}, text="the disk is full")
EXPECTED = {
    "operation": "host.reboot", "target host": '"a b"', "text": '"the disk is full"', "requester": "uid:54321",
    "service": "host", "policy factors": "operator", "state": "pending",
}  # fmt: skip


def as_bob(gate, *arguments):
    return ["setpriv", f"--reuid={BOB}", f"--regid={GROUP}", "--clear-groups", str(BINARY), "approvals", *arguments]


@pytest.fixture
def bobs_environment(gate, place):
    """What an operator needs of the settings."""
    return process_environment({"PATH": os.environ["PATH"], "DEVICES_PATH": gate.environment["DEVICES_PATH"],
                                "PUBLIC_URL": gate.environment["PUBLIC_URL"], "CONTROL_SOCKET": place / "none.sock",
                                "APPROVALS_SOCKET": path(gate)})  # fmt: skip


@root
def test_who_confirms_at_the_prompt_sees_what_first(gate, place, bobs_environment):
    id = ask_as(ALICE, GROUP, path(gate), ASKED)["result"]["id"]
    shown = subprocess.run(as_bob(gate, "show", id), cwd=place, env=bobs_environment, capture_output=True, text=True)
    assert shown.returncode == 0, shown.stderr
    assert EXPECTED.items() <= facts(shown.stdout).items(), shown.stdout
    # What is to be done stands first, and not among what the gate keeps beside it.
    assert shown.stdout.startswith("operation"), shown.stdout
    # A script has decided; it says the same, and then what came of it.
    done = subprocess.run(as_bob(gate, "approve", id), cwd=place, env=bobs_environment, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True)  # fmt: skip
    *before, last = done.stdout.splitlines()
    assert done.returncode == 0 and last == f"{id}  approved", done
    assert EXPECTED.items() <= facts("\n".join(before)).items()


@root
@pytest.mark.parametrize("options", [(), ("--json",)], ids=["text", "json"])
def test_at_a_terminal_approve_asks(gate, place, bobs_environment, options):
    id = ask_as(ALICE, GROUP, path(gate), ASKED)["result"]["id"]

    def state():
        return ask_as(BOB, GROUP, path(gate), order("approvals-show", id=id))["result"]["state"]

    for answer, status, then in (("", 1, "pending"), ("n", 1, "pending"), ("yes", 0, "approved")):
        terminal = Terminal(as_bob(gate, "approve", id, *options), columns=120, cwd=place, env=bobs_environment)
        try:
            terminal.until("approve this request? [y/N] ")
            assert EXPECTED.items() <= facts(terminal.shown.rpartition("approve this")[0].replace("\r", "")).items()
            assert state() == "pending", "decided before the answer"
            terminal.press(answer + "\n")
            assert terminal.wait() == status, terminal.shown
        finally:
            terminal.close()
        assert state() == then, answer


@root
def test_the_approvals_socket_names_its_users_in_the_log(gate):
    id = ask_as(ALICE, GROUP, path(gate), ASKED)["result"]["id"]
    assert error(ask_as(ALICE, GROUP, path(gate), order("approvals-approve", id=id))) == "not_allowed"
    ask_as(BOB, GROUP, path(gate), order("approvals-approve", id=id))
    refused = gate.event(event="operator_action", action="approvals-approve", uid=str(ALICE))
    assert (refused["result"], refused["reason"], refused["about"]) == ("refused", "not_allowed", id), refused
    done = gate.event(event="operator_action", action="approvals-approve", uid=str(BOB))
    assert (done["result"], done["actor"]) == ("done", f'"user {BOB}"'), done


@root
def test_the_commands(gate):
    done = gate.command("approvals", "request", "--operation", "host.reboot", "--target", "host=a", "--text", "now")
    assert done.returncode == 0, done.stderr
    id = done.stdout.strip()
    (line,) = gate.command("approvals", "list").stdout.splitlines()
    assert line.startswith(f"{id}  pending  host.reboot  host  uid:0  ") and line.endswith("  host=a  now"), line
    (row,) = json.loads(gate.command("approvals", "list", "--json").stdout)
    assert (row["target"], row["text"]) == ({"host": "a"}, "now"), row
    shown = json.loads(gate.command("approvals", "show", id, "--json").stdout)
    assert shown["id"] == id and shown["state"] == "pending", shown
    assert gate.command("approvals", "approve", id).returncode == 65  # root asked, and is no operator
    assert gate.command("approvals", "cancel", id).returncode == 0
    assert gate.command("approvals", "cancel", id).returncode == 65
    assert gate.command("approvals", "show", "00000000-0000-4000-8000-000000000000").returncode == 65
    assert gate.command("approvals", "show", "x").returncode == 64
    assert gate.command("approvals", "list", "--barred", "--json").stdout.strip() == "[]"


