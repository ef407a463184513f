"""`portcullis devices` and `keys revoke` at a gate with real pairings: what they show, what they change, how they end."""

import contextlib
import errno
import json
import os
import pwd
import socket
import sqlite3
import uuid

import pytest

import faults
from gate import BINARY, process_environment
from helps import listed
from orders import answered, order
from phones import ask
from terminal import Terminal
from waiting import eventually

USAGE, UNKNOWN, IO_ERROR, UNAVAILABLE, REFUSED, CONFIGURATION = 64, 65, 74, 69, 77, 78
APP = ("--app", "app.json", "--app-id", "ABCDEF12K4.org.example.mudproxy")


@pytest.fixture
def fault(shim, folder):
    return faults.Faults(shim, folder / "shim-control", path_part="devices.db")


@pytest.fixture
def home(development_home, fault):
    return development_home(**fault.environment)


def devices(home, *arguments):
    return home.gate.command("devices", *arguments)


def done(process):
    assert process.returncode == 0, process.stderr
    return process.stdout


def token(home, state):
    """Its token: asked for the first time that it is wanted, and the same one later."""
    file = home.gate.folder / f"{state}.token"
    if not file.exists():
        file.write_text(done(home.phone(state, "token")))
    return file.read_text().strip()


def lets_in(home, state):
    """Whether its token of before and its keys still hold."""
    home.gate.app.close()  # the gate may be another one by now
    reply = ask(home.gate, "GET", "/device/self", token=token(home, state))
    return reply.status == 200


def test_what_is_shown(home):
    device = home.pair("anna.json", "--name", "Anna's phone")["device_id"]
    other = home.pair("bert.json", subject="bert")["device_id"]
    lines = done(devices(home, "list")).splitlines()
    assert {line.split("  ")[0] for line in lines} == {device, other}
    assert [line for line in lines if "anna" in line and "active" in line and "Anna's phone" in line], lines
    assert [one["device_id"] for one in json.loads(done(devices(home, "list", "--subject", "bert", "--json")))] == [other]
    assert json.loads(done(devices(home, "list", "--state", "revoked", "--json"))) == []
    shown = json.loads(done(devices(home, "show", device, "--json")))
    assert (shown["subject"], shown["status"], shown["level"]) == ("anna", "active", "bare"), shown
    rows = dict(line.split(None, 1) for line in done(devices(home, "show", device)).splitlines())
    assert rows["subject"] == "anna" and rows["created_at"].endswith("Z"), rows


def test_what_is_changed(home):
    device = home.pair("anna.json")["device_id"]
    assert done(devices(home, "list")).splitlines()[0].endswith("  excepted_until=-")
    done(devices(home, "set", device, "--subject", "berta"))
    said = done(devices(home, "set", device, "--name", "Reception", "--until", "2099-12-31", "--reason", "custom ROM"))
    assert said == f"renamed {device}\nexcepted {device}  until 2100-01-01T00:00:00.000Z\n"
    shown = json.loads(done(devices(home, "show", device, "--json")))
    assert (shown["subject"], shown["device_name"]) == ("berta", "Reception"), shown
    assert shown["except"] == {"until": 4102444800, "reason": "custom ROM"}, shown
    assert "2100-01-01T00:00:00.000Z" in done(devices(home, "show", device))
    assert done(devices(home, "list")).splitlines()[0].endswith("  excepted_until=2100-01-01T00:00:00.000Z")
    lacks = ("--lacks", "presence", "--lacks", "play")
    changed = done(devices(home, "set", device, "--until", "2099-12-31", "--reason", "no BLE", *lacks, "--json"))
    shown = json.loads(done(devices(home, "show", device, "--json")))
    assert json.loads(changed) == shown
    assert shown["except"] == {"until": 4102444800, "reason": "no BLE", "lacks": ["play", "presence"]}, shown


def test_former_commands_do_the_same(home):
    device = home.pair("anna.json")["device_id"]
    until = ("--until", "2099-12-31", "--reason", "custom ROM")
    for arguments, said, now in (
        (("assign", device, "berta"), "assigned", "--subject NAME"),
        (("rename", device, "Reception"), "renamed", "--name NAME"),
        (("except", device, *until), "excepted", "--until WHEN --reason TEXT"),
    ):
        changed = devices(home, *arguments)
        assert done(changed).split()[:2] == [said, device]
        assert changed.stderr == f"portcullis: devices {arguments[0]} is now: portcullis devices set ID {now}\n"
    shown = json.loads(done(devices(home, "show", device, "--json")))
    assert (shown["subject"], shown["device_name"], shown["except"]["reason"]) == ("berta", "Reception", "custom ROM")
    # No help names them, and nothing to set is said.
    assert not {"assign", "rename", "except"} & set(listed(done(devices(home, "--help"))))
    for arguments in ((), ("--until", "1d"), ("--reason", "x"), ("--name", "x", "--lacks", "play")):
        assert devices(home, "set", device, *arguments).returncode == USAGE, arguments


@pytest.mark.parametrize(
    "arguments",
    [
        ("show",), ("confirm",), ("revoke",), ("forget",), ("assign", "anna"), ("rename", "x"),
        ("except", "--until", "1d", "--reason", "x"),
    ],
    ids=lambda arguments: arguments[0],
)  # fmt: skip
def test_how_commands_end(home, arguments):
    verb, *rest = arguments
    assert devices(home, verb, str(uuid.uuid4()), *rest).returncode == UNKNOWN
    assert devices(home, verb, "no-id", *rest).returncode == USAGE
    if verb in ("assign", "rename"):
        device = home.pair("anna.json")["device_id"]
        # Characters that turn a line around, and nothing at all.
        for wrong in ("\u202egnihton", ""):
            assert devices(home, verb, device, wrong).returncode == USAGE, wrong


@pytest.mark.parametrize(
    ["arguments", "refusal"],
    [
        ("devices show no-id", "devices show: ID no-id is not allowed: write an id as devices list shows it"),
        ("devices assign {id} \u202ex", 'devices set: --subject "\\u202ex" is not allowed: write 1 to 128 bytes on one line'),
        ("devices rename {id} \u202ex", 'devices set: --name "\\u202ex" is not allowed: write 1 to 128 bytes on one line'),
        ("devices except {id} --until 1d --reason \x1b[2J", "devices set: --reason "),
        ("services add mud --scopes approvls,codes",
         "services add: --scopes approvls,codes is not allowed: write one or more of approvals, codes, presence, pairings, "
         "devices.read, with commas between"),
        ("services add host --scopes codes", "services add: NAME host is not allowed: write 1 to 64 letters, digits and . _ -"),
        ("approvals show x", "approvals show: ID x is not allowed: write an id as approvals list shows it"),
        ("devices pair --subject \u202ex", 'devices pair: --subject "\\u202ex" is not allowed: write 1 to 128 bytes'),
    ],
    ids=lambda text: text.split(" --")[0],
)  # fmt: skip
def test_what_is_refused_names_command_option_value_and_what_is_allowed(home, arguments, refusal):
    device = home.pair("anna.json")["device_id"] if "{id}" in arguments else ""
    refused = home.gate.command(*arguments.format(id=device).split(" "))
    assert refused.returncode == USAGE and f"portcullis: {refusal}" in refused.stderr, refused
    assert "no good" not in refused.stderr and "\x1b" not in refused.stderr


@pytest.mark.parametrize(
    ["verb", "question", "then"],
    [
        (("set", "--subject", "berta"), "assign this device to berta? [y/N] ", {"subject": "berta"}),
        (("set", "--until", "2099-12-31", "--reason", "custom ROM", "--lacks", "play"),
         "let this device pass until 2100-01-01T00:00:00.000Z without play? [y/N] ", {}),
        (("forget",), "forget this device for good? [y/N] ", None),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)  # fmt: skip
def test_at_a_terminal_the_device_is_shown_before_it_is_decided_on(home, verb, question, then):
    device = home.pair("anna.json", "--name", "Anna's phone")["device_id"]
    word, *rest = verb
    before = json.loads(done(devices(home, "show", device, "--json")))
    for answer, status in (("n", 1), ("y", 0)):
        terminal = Terminal(
            [str(BINARY), "devices", word, device, *rest], columns=150, cwd=home.gate.folder,
            env=process_environment(home.gate.environment))  # fmt: skip
        try:
            terminal.until(question)
            facts = terminal.shown.rpartition(question)[0]
            assert "Anna's phone" in facts and "subject      anna" in facts and "level" in facts, terminal.shown
            terminal.press(answer + "\n")
            assert terminal.wait() == status, terminal.shown
        finally:
            terminal.close()
        shown = devices(home, "show", device, "--json")
        if status == 1:
            unmoved = json.loads(done(shown))
            assert {**unmoved, "seen_at": 0} == {**before, "seen_at": 0}
        elif then is None:
            assert shown.returncode == UNKNOWN
        else:
            assert then.items() <= json.loads(done(shown)).items()


def test_every_change_by_the_control_socket_names_its_user(home):
    """In the log and in the audit; and what only looks is in neither."""
    gate = home.gate
    home.pair("anna.json", *APP)
    (key,) = gate.keys()
    (gate.folder / "foreign.json").write_text("{}")
    changes = [
        (("keys", "revoke", key, "--reason", "lost"), "key_revoked", {"key_id": key, "reason": "lost"}),
        (("keys", "prune", "--unused", "180d"), "keys_pruned", {"count": 0, "unused_seconds": 180 * 86_400}),
        (("keys", "import", "--from", "goldfinch", "--until", "30d", "foreign.json"), "keys_imported", {"count": 0}),
        (("drain",), "drain_begun", {}), (("drain", "--off"), "drain_ended", {}), (("sessions", "end", "--all"), "all_sessions_ended", {}),
    ]  # fmt: skip
    for words, event, members in changes:
        done(gate.command(*words))
        logged = gate.event(event="operator_action", action=event)
        assert (logged["result"], logged["uid"]) == ("done", str(os.geteuid())), logged
        assert logged["actor"] == pwd.getpwuid(os.geteuid()).pw_name
        rows = [row for row in json.loads(done(gate.command("audit", "list", "--json"))) if row["event"] == event]
        assert len(rows) == 1 and members.items() <= rows[0].items(), (event, rows)
        assert rows[0]["uid"] == os.geteuid() and rows[0]["pid"] > 0, rows
    # Refused: it stands in the log, and nothing was done that the audit could tell of.
    assert gate.command("sessions", "close", "99").returncode == UNKNOWN
    refused = gate.event(event="operator_action", action="session_ended")
    assert (refused["result"], refused["reason"], refused["about"]) == ("refused", "unknown_session", "99"), refused
    logged = len([one for one in gate.events() if one.get("event") == "operator_action"])
    for words in ("stats", "keys list", "sessions list", "devices list", "services list", "approvals list", "audit verify"):
        done(gate.command(*words.split()))
    done(gate.command("services", "add", "web", "--scopes", "codes"))
    assert gate.event(event="operator_action", action="services-add")["about"] == "web"
    assert len([one for one in gate.events() if one.get("event") == "operator_action"]) == logged + 1
    assert "session_ended" not in gate.command("audit", "list").stdout


def test_the_name_of_who_is_forgotten_is_in_no_line_of_the_log(home):
    home.pair("anna.json", subject="zebedee-4711")
    done(devices(home, "forget", "--subject", "zebedee-4711"))
    assert home.gate.event(event="operator_action", action="devices-forget")["result"] == "done"
    assert "zebedee" not in home.gate.log_text()


def test_a_revoked_device_is_out_at_once_and_stays_out(home):
    device = home.pair("anna.json")["device_id"]
    assert lets_in(home, "anna.json")
    done(devices(home, "revoke", device))
    home.gate.kill()
    home.gate.start()
    assert not lets_in(home, "anna.json")
    assert home.phone("anna.json", "self").returncode == REFUSED
    assert json.loads(done(devices(home, "show", device, "--json")))["status"] == "revoked"
    # Nothing makes it active again.
    assert devices(home, "confirm", device).returncode == UNKNOWN


def test_who_is_forgotten_is_nowhere_in_the_store(home, folder):
    name, subject = "Annas Telefon 4711", "anna-katharina-4712"
    device = home.pair("anna.json", "--name", name, subject=subject)["device_id"]
    assert lets_in(home, "anna.json")
    done(devices(home, "forget", "--subject", subject))
    assert devices(home, "show", device).returncode == UNKNOWN and not lets_in(home, "anna.json")
    assert json.loads(done(home.gate.command("audit", "verify", "--json")))["valid"] is True
    assert_nowhere(folder, name, subject)
    home.gate.kill()
    assert_nowhere(folder, name, subject)
    home.gate.start()
    home.gate.stop()
    assert_nowhere(folder, name, subject)


def assert_nowhere(folder, *texts):
    """In no file of the gate's folder, whatever it is for. What phones and games write there is theirs."""
    stores = [path for path in folder.rglob("*") if path.is_file() and path.name.startswith(("devices", "attested"))]
    assert folder / "devices.db" in stores
    for path in stores:
        bytes_ = path.read_bytes()
        for text in texts:
            assert text.encode() not in bytes_, (path, text)


@pytest.mark.long("each call of the store fails in turn")
def test_whatever_fails_nothing_is_forgotten_by_word_alone(gates, backend, folder, fault):
    """Each call to the disk fails once, the emptying of the log among them: 0 is said where the name is gone, and else 74."""
    gate = gates(backend, DEVICES_PATH=folder / "devices.db", PUBLIC_URL="https://mud.example", **fault.environment)
    ends = []
    for number in range(1, 100):
        name = f"zebedee-{number}-of-many"
        eventually(lambda name=name: answered(gate, "pair-open", subject=name).get("result"), "a store")
        assert name.encode() in (folder / "devices.db-wal").read_bytes()
        fault.fail_call(number, errno.EIO)
        forgotten = gate.command("devices", "forget", "--subject", name)
        calls = fault.calls
        fault.heal()
        fault.monotonic_offset += 31 * 10**9  # it is tried again now
        ends.append(forgotten.returncode)
        if forgotten.returncode == 0:
            assert_nowhere(folder, name)
        else:
            assert forgotten.returncode == IO_ERROR, forgotten
            again = eventually(
                lambda name=name: gate.command("devices", "forget", "--subject", name).returncode == 0, "a store")
            assert again
            assert_nowhere(folder, name)
        if calls < number:
            break
    assert ends[-1] == 0 and IO_ERROR in ends and len(ends) > 5, ends


def test_a_revoked_app_attest_key_leaves_its_device_bare(home):
    assert home.pair("anna.json", *APP)["level"] == "app_attested"
    assert lets_in(home, "anna.json")
    (key,) = home.gate.keys()
    done(home.gate.command("keys", "revoke", key))
    # Its token has ended with what it said.
    assert not lets_in(home, "anna.json")
    assert home.standing("anna.json")["level"] == "bare"


def test_the_same_without_a_gate(home):
    assert home.pair("anna.json", *APP)["level"] == "app_attested"
    (key,) = home.gate.keys()
    home.gate.stop()
    done(home.gate.command("keys", "revoke", key))
    home.gate.start()
    assert home.devices()[0]["level"] == "bare"


def test_what_only_the_key_store_was_told_a_start_makes_up_for(home, fault):
    """The key is revoked, and the disk under the devices' store takes nothing; then the gate is gone."""
    device = home.pair("anna.json", *APP)["device_id"]
    assert lets_in(home, "anna.json")
    (key,) = home.gate.keys()
    fault.fail_call(1, errno.EIO, sticky=True)
    refused = home.gate.command("keys", "revoke", key)
    assert refused.returncode == IO_ERROR and "not what it vouched for" in refused.stderr, refused
    home.gate.kill()
    fault.heal()
    home.gate.start()
    assert home.gate.event(event="revoked_keys_ended")["devices"] == "1"
    # Its token has ended with what it said.
    assert not lets_in(home, "anna.json")
    assert json.loads(done(devices(home, "show", device, "--json")))["level"] == "bare"
    home.gate.stop()
    home.gate.start()
    ended = [event for event in home.gate.events() if event.get("event") == "revoked_keys_ended"]
    assert len(ended) == 1, "once, and not at each start"


def test_a_phone_in_its_pairing_is_not_confirmed_by_its_name(home):
    operator = home.operator("--subject", "anna")
    phone = home.scan("anna.json", operator.code.uri())
    digits = phone.line()
    (device,) = json.loads(done(devices(home, "list", "--state", "pending", "--json")))
    refused = devices(home, "confirm", device["device_id"], "--subject", "mallory")
    assert refused.returncode == UNKNOWN and "six digits" in refused.stderr, refused
    operator.says("type the six digits")
    operator.type(digits)
    assert operator.wait() == 0, operator.complaints
    assert phone.wait() == 0 and home.standing("anna.json")["status"] == "active"
    assert json.loads(done(devices(home, "list", "--json")))[0]["subject"] == "anna"


def test_without_a_gate_nothing_is_thrown_away_early(gates, backend, folder, device):
    """What is kept for a year is there after forty days, whichever process looks after it."""
    gate = gates(
        backend,
        DEVICES_PATH=folder / "devices.db",
        PUBLIC_URL="https://mud.example",
        DEVICES_RETENTION="365d",
    )
    gate.app.register(device)
    opened = order(gate, "pair-open", name="phone")
    order(gate, "pair-burn", pairing_id=opened["pairing_id"])
    gate.stop()

    def stored(statement):
        with contextlib.closing(sqlite3.connect(folder / "devices.db")) as store, store:
            return store.execute(statement).fetchall()

    stored(f"UPDATE pairings SET ended_at = ended_at - {40 * 86_400_000}")
    done(gate.command("keys", "revoke", device.key_id_b64))
    assert stored("SELECT count(*) FROM pairings") == [(1,)]


def test_a_key_that_phones_do_not_know_is_not_served(home, folder, pki):
    """Refused at the start and at a reload; published before, or insisted on, it serves."""
    home.pair("anna.json")
    gate = home.gate
    mine = {name: gate.environment[name] for name in ("TLS_CERT_PATH", "TLS_KEY_PATH")}
    foreign = dict(zip(mine, pki.issue_server("foreign")))
    (folder / "gate.env").write_text("")
    gate.stop()
    gate.environment |= foreign
    gate.launch()
    assert gate.wait() == CONFIGURATION and "PINS_FORCE" in gate.log_text(), gate.log_tail()
    gate.environment |= mine | {"TLS_NEXT_KEY_PATH": str(foreign["TLS_KEY_PATH"])}
    gate.start()
    # Now it is published.
    gate.stop()
    gate.environment |= foreign
    gate.environment.pop("TLS_NEXT_KEY_PATH")
    gate.start()
    gate.stop()
    # Back to the first, which is published no more.
    gate.environment |= mine
    gate.launch()
    assert gate.wait() == CONFIGURATION
    gate.environment["PINS_FORCE"] = "true"
    gate.start()


def test_a_start_that_comes_to_nothing_publishes_no_key(home, pki):
    """Somebody else has the port: no phone has heard of the next key, and so it is none that may be served."""
    home.pair("anna.json")
    gate = home.gate
    foreign = dict(zip(("TLS_CERT_PATH", "TLS_KEY_PATH"), pki.issue_server("foreign")))
    gate.stop()
    mine = {name: gate.environment[name] for name in foreign}
    gate.environment["TLS_NEXT_KEY_PATH"] = str(foreign["TLS_KEY_PATH"])
    with socket.socket() as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        other.bind((gate.host, gate.port))
        other.listen()
        gate.launch()
        assert gate.wait() == UNAVAILABLE, gate.log_tail()
    gate.environment.pop("TLS_NEXT_KEY_PATH")
    gate.environment |= foreign
    gate.launch()
    assert gate.wait() == CONFIGURATION and "PINS_FORCE" in gate.log_text(), gate.log_tail()
    # A start that serves has.
    gate.environment |= mine | {"TLS_NEXT_KEY_PATH": str(foreign["TLS_KEY_PATH"])}
    gate.start()
    gate.stop()
    gate.environment.pop("TLS_NEXT_KEY_PATH")
    gate.environment |= foreign
    gate.start()
