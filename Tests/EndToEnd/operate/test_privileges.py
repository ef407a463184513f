"""Least privilege: whom a gate that was started as root becomes, and what the serving process cannot do any more."""

import contextlib
import os
import pathlib
import random
import re
import shutil
import signal
import socket
import subprocess

import pytest

from clients import connect_status
from gate import BECOMES_ANOTHER, BINARY, SANITIZER, process_environment
from serving_user import NOBODY, give, place_of_nobody, settings_of
from waiting import eventually

CONFIGURATION, UNAVAILABLE = 78, 69
root = pytest.mark.skipif(os.geteuid() != 0, reason="only the superuser can become somebody else")


@pytest.fixture
def place(pki, authority):
    """With folders for a gate that becomes nobody."""
    with place_of_nobody(pki) as made:
        for name in ("store", "receipts"):
            (made / name).mkdir(mode=0o700)
            give(made / name)
        yield made


def settings(place, **changes):
    return settings_of(place, RECEIPTS_PATH=place / "receipts", **changes)


def statuses(gate):
    """Of all its threads, once it serves: the lines of /proc/PID/task/*/status."""
    gate.event(event="listening")
    tasks = pathlib.Path(f"/proc/{gate.process.pid}/task").iterdir()
    lines = [(task / "status").read_text().splitlines() for task in tasks]
    return [{name: " ".join(rest.split()) for name, _, rest in (line.partition(":") for line in each)} for each in lines]


def privileged_port():
    while True:
        port = random.randint(600, 1023)
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


@root
def test_every_thread_is_nobody_without_capabilities(gates, backend, place, device):
    gate = gates(backend, port=privileged_port(), **settings(place))
    gate.app.register(device)
    assert connect_status(gate, device, 1) == 101
    named = {"loop-0", "store-commit", "control-0", "log"}
    # Each thread names itself.
    eventually(lambda: {one["Name"] for one in statuses(gate)} >= named, "all threads")
    threads = statuses(gate)
    assert len(threads) > 8
    groups = os.getgrouplist("nobody", NOBODY.pw_gid)
    for one in threads:
        assert one["Uid"] == " ".join([str(NOBODY.pw_uid)] * 4), one
        assert one["Gid"] == " ".join([str(NOBODY.pw_gid)] * 4), one
        assert sorted(map(int, one["Groups"].split())) == sorted(groups), one
        for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
            assert int(one[name], 16) == 0, one
        assert one["NoNewPrivs"] == "1", one
        assert one["Seccomp"] == ("0" if SANITIZER else "2"), one
    limits = pathlib.Path(f"/proc/{gate.process.pid}/limits").read_text()
    assert re.search(r"^Max core file size +0 +0 ", limits, re.M), limits


@root
def test_it_serves_reloads_and_stops_as_nobody(gates, backend, place, device):
    gate = gates(backend, **settings(place))
    gate.app.register(device)
    assert len(list((place / "receipts").glob("*/*.der"))) == 1
    gate.signal(signal.SIGHUP)
    gate.event(event="reloaded")
    assert gate.command("check", "--health").returncode == 0
    assert gate.command("keys", "revoke", device.key_id_b64).returncode == 0
    made = [path for folder in ("store", "receipts") for path in (place / folder).rglob("*")]
    assert made and {path.stat().st_uid for path in made} == {NOBODY.pw_uid}, made
    gate.app.close()
    gate.stop()
    assert not (place / "store" / "control.sock").exists()
    # Without a gate root edits the store, as nobody too.
    assert gate.command("keys", "prune", "--unused", "1d").returncode == 0
    assert {path.stat().st_uid for path in (place / "store").iterdir()} == {NOBODY.pw_uid}
    gate.start()


@root
@pytest.mark.parametrize("what", ["mem", "environ", "fd"])
def test_its_own_user_cannot_look_into_it(gates, backend, place, what):
    gate = gates(backend, **settings(place))
    path = f"/proc/{gate.process.pid}/{what}"
    script = f"import os; os.listdir({path!r}) if {what == 'fd'} else open({path!r}).read(1)"
    done = subprocess.run(
        ["/usr/bin/python3", "-c", script], user=NOBODY.pw_uid, group=NOBODY.pw_gid, extra_groups=[],
        cwd="/", capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 1 and "PermissionError" in done.stderr, done.stderr


@root
def test_a_key_that_only_root_reads_is_told_before_a_reload_fails(gates, backend, place):
    os.chown(place / "key.pem", 0, 0)
    gate = gates(backend, **settings(place))
    said = gate.event(event="unreadable_for_reload", level="warning")["reason"]
    assert "nobody" in said and f"TLS_KEY_PATH={place}/key.pem" in said and "may not read" in said
    checked = gate.command("check")
    assert checked.returncode == CONFIGURATION
    assert re.search(r"^problem  user  nobody \(65534\) may not read \S+/key.pem", checked.stdout, re.M)
    gate.signal(signal.SIGHUP)
    gate.event(event="reload_failed")
    assert gate.app.request("GET", "/healthz").status == 200
    os.chown(place / "key.pem", NOBODY.pw_uid, 0)
    assert gate.command("check").returncode == 0
    gate.signal(signal.SIGHUP)
    gate.event(event="reloaded")


@root
@pytest.mark.parametrize(
    "name",
    [
        "store", "receipts", "store/attested-keys.json", "store/attested-keys.json.lock",
        "store/device-pseudonym.key",
    ],
)  # fmt: skip
def test_what_is_not_nobodys_stops_the_start(gates, place, name):
    path = place / name
    if not path.exists():
        path.write_text("{}\n")
        path.chmod(0o600)
    os.chown(path, 0, 0)
    gate = gates(start=False, **settings(place)).launch()
    assert gate.wait() == CONFIGURATION
    text = gate.log_text()
    assert "RUN_AS: nobody (65534) may not" in text and str(path) in text
    assert f"chown {NOBODY.pw_uid}:{NOBODY.pw_gid}" in text
    assert "may not" in gate.command("check").stdout


def production_of_nobody_gone_wrong(place, **changes):
    """Contents, and what is not his: each is found by another part."""
    os.chown(place / "receipts", 0, 0)
    for name, content in [("device-pseudonym.key", "short"), ("admin-tokens.json", "[]")]:
        (place / "store" / name).write_text(content)
        (place / "store" / name).chmod(0o600)
        give(place / "store" / name)
    production = {"PORTCULLIS_ENV": "production", "ADMIN_LISTEN": f"unix:{place}/store/admin.sock", **changes}
    return settings(place, **production)


WRONG = ("APPATTEST_ROOT_CA_PATH", "RECEIPTS_PATH", "DEVICE_PSEUDONYM_KEY_PATH", "ADMIN_TOKENS_PATH")


@root
@pytest.mark.parametrize("workers", ["1", "zero"])
@pytest.mark.parametrize("user", ["nobody", None, "no-such-user", "nobody:", "54321"])
def test_all_that_is_wrong_is_told_whoever_is_to_serve(gates, place, user, workers):
    """Whose name is missing or refused would most likely be that of the key store's owner."""
    changes = production_of_nobody_gone_wrong(place, RUN_AS=user, WORKERS=workers)
    gate = gates(start=False, **changes, **BECOMES_ANOTHER).launch()
    assert gate.wait() == CONFIGURATION
    lines = gate.log_text().splitlines()
    for name in WRONG + (("WORKERS",) if workers == "zero" else ()):
        assert sum(f"{name}=" in line for line in lines) == 1, f"{name}: {lines}"
    assert any("RUN_AS" in line and "RECEIPTS_PATH=" not in line for line in lines) == (user != "nobody"), lines
    assert any(f"chown {NOBODY.pw_uid}:" in line and str(place / "receipts") in line for line in lines), lines


@root
@pytest.mark.parametrize("user", [None, "daemon"])
def test_all_that_is_wrong_is_told_whoever_has_started(gates, place, user):
    """He looks for himself, or for whom he cannot become, as far as he sees."""
    changes = production_of_nobody_gone_wrong(place, RUN_AS=user, CONTROL_SOCKET=place / "control.sock")
    gate = gates(start=False, **changes)
    assert as_nobody(gate, place).wait() == CONFIGURATION
    lines = gate.log_text().splitlines()
    for name in WRONG + ("CONTROL_SOCKET",):
        # The folder of receipts is looked at with the settings, by whoever can look into it.
        assert any(f"{name}=" in line for line in lines), f"{name}: {lines}"
    assert any("only root can become somebody else" in line for line in lines) == (user is not None)
    assert any(line.startswith("portcullis: RUN_AS: daemon") for line in lines) == (user is not None)


@root
def test_tokens_are_told_beside_operators(gates, place):
    gate = gates(start=False, **production_of_nobody_gone_wrong(place, ADMIN_OPERATORS="no body")).launch()
    assert gate.wait() == CONFIGURATION
    assert "ADMIN_OPERATORS=" in gate.log_text() and "ADMIN_TOKENS_PATH=" in gate.log_text()


@root
def test_a_link_that_nobody_put_there_is_not_followed_by_root(gates, place):
    """Root would empty the file behind the lock's name, and write a number into it."""
    secret = place / "secret"
    secret.write_text("precious")
    secret.chmod(0o600)
    (place / "store" / "attested-keys.json.lock").symlink_to(secret)
    gate = gates(start=False, **settings(place)).launch()
    assert gate.wait() != 0
    assert secret.read_text() == "precious"


@root
@pytest.mark.parametrize("variable", ["PORTCULLIS_ENV", "NODE_ENV"])
def test_production_stays_root_only_when_told(gates, backend, variable):
    production = {variable: "production", "APPATTEST_ROOT_CA_PATH": None}
    refused = gates(start=False, **production, RUN_AS=None).launch()
    assert refused.wait() == CONFIGURATION
    assert "RUN_AS is not set" in refused.log_text() and "RUN_AS=portcullis" in refused.log_text()
    gate = gates(backend, **production, RUN_AS="root")
    assert gate.event(event="running_as_root", level="warning")["reason"] == "RUN_AS=root"
    assert all(one["Uid"] == "0 0 0 0" and one["NoNewPrivs"] == "1" for one in statuses(gate))
    assert {int(one["CapEff"], 16) for one in statuses(gate)} == {1 << 1 | 1 << 3}


@root
def test_outside_production_root_is_warned_of(gates, backend):
    gate = gates(backend, RUN_AS=None)
    reason = gate.event(event="running_as_root", level="warning")["reason"]
    assert reason == "running as root: set RUN_AS=USER; production refuses to start like this"


@pytest.mark.parametrize("value", ["no-such-user", "root:no-such-group", "54321", "4294967295:1"])
def test_nobody_of_that_name(gates, value):
    gate = gates(start=False, RUN_AS=value).launch()
    assert gate.wait() == CONFIGURATION and "RUN_AS" in gate.log_text()
    checked = gate.command("check")
    assert checked.returncode == CONFIGURATION and "problem  user  RUN_AS" in checked.stdout


@pytest.mark.parametrize("value", ["", ":", "nobody:", ":nogroup", "a:b:c", "no body"])
def test_a_value_that_is_no_user(gates, value):
    gate = gates(start=False, RUN_AS=value).launch()
    assert gate.wait() == CONFIGURATION
    assert re.search(r"RUN_AS=.*write a user, or user:group", gate.log_text())


def as_nobody(gate, place):
    """Starts `serve` as nobody."""
    program = place / "portcullis"
    shutil.copyfile(BINARY, program)
    program.chmod(0o755)
    with open(gate.log_path, "ab") as log:
        gate.process = subprocess.Popen(
            [str(program), "serve"], env=process_environment(gate.environment), cwd=place / "store",
            user=NOBODY.pw_uid, group=NOBODY.pw_gid, extra_groups=[],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log,
        )  # fmt: skip
    return gate


@root
def test_only_root_can_become_another(gates, place):
    gate = gates(start=False, **settings(place, RUN_AS="root"))
    assert as_nobody(gate, place).wait() == CONFIGURATION
    assert "only root can become somebody else" in gate.log_text()


@root
@pytest.mark.parametrize("run_as", [None, "nobody", str(NOBODY.pw_uid)])
def test_who_is_already_nobody_serves(gates, place, run_as):
    """As a service manager and an image start it."""
    gate = gates(start=False, **settings(place, RUN_AS=run_as, PORTCULLIS_ENV="production", APPATTEST_ROOT_CA_PATH=None))
    as_nobody(gate, place)
    assert {one["NoNewPrivs"] for one in statuses(gate)} == {"1"}
    assert {one["Seccomp"] for one in statuses(gate)} == {"0" if SANITIZER else "2"}
    gate.stop()


@pytest.mark.unsanitized("the suite takes the sandbox off")
@pytest.mark.parametrize("value, mode", [("true", "2"), ("false", "0")])
def test_one_variable_takes_the_sandbox_off(gates, backend, value, mode):
    gate = gates(backend, PORTCULLIS_SANDBOX=value)
    assert {one["Seccomp"] for one in statuses(gate)} == {mode}
    assert gate.event(event="confined")["seccomp"] == ("on" if value == "true" else "off")


def test_the_control_socket_comes_before_the_ports(gates, backend, folder):
    """A start that fails at the port has already replaced the stale socket, and takes its own away again."""
    stale = folder / "stale.sock"
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(stale))
    with socket.create_server(("127.0.0.1", 0)) as taken:
        gate = gates(start=False, port=taken.getsockname()[1], CONTROL_SOCKET=stale).launch()
        assert gate.wait() == UNAVAILABLE and "LISTEN" in gate.log_text()
    assert not stale.exists()


@root
@pytest.mark.unsanitized("its memory has a map of its own")
def test_the_keys_text_is_not_in_memory(gates, backend, pki):
    gate = gates(backend)
    gate.signal(signal.SIGHUP)
    gate.event(event="reloaded")
    lines = pathlib.Path(pki.server_key).read_text().splitlines()
    # The path is no secret: it shows that this finds what is there.
    assert str(pki.server_key).encode() in memory_of(gate.process.pid)
    secret = [line.encode() for line in lines if "-----" not in line]
    assert secret

    def is_wiped():
        memory = memory_of(gate.process.pid)
        return not any(line in memory for line in secret)

    # The line in the log is written a moment before the file's text goes.
    eventually(is_wiped, "no line of the key in memory")


def memory_of(process):
    """All that is writable in it."""
    parts = []
    with open(f"/proc/{process}/maps") as maps, open(f"/proc/{process}/mem", "rb", buffering=0) as memory:
        for line in maps:
            span, modes = line.split()[:2]
            if "w" in modes:
                first, last = (int(number, 16) for number in span.split("-"))
                memory.seek(first)
                with contextlib.suppress(OSError):
                    parts.append(memory.read(last - first))
    return b"\0".join(parts)


@root
@pytest.mark.unsanitized("it has its options from there")
def test_without_proc_it_is_still_asked_to_serve(gates):
    """Swift reads the command line from there: without it serve printed an overview and ended well."""
    gate = gates(start=False, WORKERS="none")
    hidden = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs none /proc && exec "$@"', "sh"]
    done = subprocess.run(
        [*hidden, str(BINARY), "serve"], env=process_environment(gate.environment), capture_output=True, text=True
    )
    if "unshare" in done.stderr or "mount:" in done.stderr:
        pytest.skip("mounting is not permitted here")
    assert done.returncode == CONFIGURATION and "WORKERS=none" in done.stderr, done
