"""`check`: each thing that an operator can get wrong is found, named, and given the right exit status."""

import contextlib
import os
import shutil
import subprocess

import pytest

from gate import BINARY
from waiting import patience

CONFIGURATION, UNAVAILABLE = 78, 69


@pytest.fixture
def check(gates, backend):
    """Runs `check` without a gate; returns the exit status and the findings as (grade, name, detail)."""

    def run(*arguments, **changes):
        gate = gates(backend, start=False)
        return parse(gate.command("check", *arguments, **changes))

    return run


def parse(done):
    assert not done.stderr, done.stderr
    return done.returncode, [tuple(line.split("  ", 2)) for line in done.stdout.splitlines()]


def found(findings, grade, name, *words):
    """Whether there is such a finding that has all the words."""
    return any(
        (g, n) == (grade, name) and all(str(word) in detail for word in words) for g, n, detail in findings
    )


def certificate(folder, name, days):
    """A self-signed certificate for so many days, and its key."""
    pem, key = folder / f"{name}.pem", folder / f"{name}-key.pem"
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    command += ["-keyout", key, "-out", pem, "-days", str(days), "-subj", "/CN=localhost"]
    subprocess.run([str(word) for word in command], check=True, capture_output=True)
    os.chmod(key, 0o600)
    # Whatever the umask of whoever runs the tests.
    os.chmod(pem, 0o644)
    return {"TLS_CERT_PATH": str(pem), "TLS_KEY_PATH": str(key)}


def test_all_is_well(check, folder):
    os.chmod(folder, 0o700)
    status, findings = check(**certificate(folder, "server", 90))
    assert status == 0 and not [one for one in findings if one[0] == "problem"], findings
    assert {name for _, name, _ in findings} >= {
        "clock", "configuration", "certificate", "key", "attestation_root", "store", "backend", "listen", "charset",
    }


def test_the_charset_of_the_game(check):
    assert found(check()[1], "ok", "charset", "UTF-8")
    assert found(check(GAME_CHARSET="cp1251")[1], "ok", "charset", "windows-1251")
    assert not any(name == "charset" for _, name, _ in check(SUBPROTOCOLS="none,binary")[1])
    status, findings = check(GAME_CHARSET="UTF-16")
    assert status == CONFIGURATION
    assert found(findings, "problem", "configuration", "GAME_CHARSET=UTF-16", "no charset", "KOI8-R")


def test_the_kernel_and_the_disk(check):
    """By name, with what the gate makes use of or does without; how long a sync takes."""
    _, findings = check()
    kernel = [(grade, detail) for grade, name, detail in findings if name == "kernel"]
    assert kernel and all(detail.startswith(f"Linux {os.uname().release}: ") for _, detail in kernel), findings
    if kernel[0][0] == "ok":
        assert len(kernel) == 1 and "Landlock" in kernel[0][1]
    else:
        words = ["Landlock", "seccomp", "6.12"]
        assert all(grade == "warning" and any(word in detail for word in words) for grade, detail in kernel), kernel
    assert any(name == "disk" and detail.startswith("a sync takes at most ") for _, name, detail in findings)


@pytest.mark.parametrize("days, grade", [(1, "warning"), (20, "warning"), (23, "ok"), (300, "ok")])
def test_a_certificate_that_ends_soon(check, folder, days, grade):
    status, findings = check(**certificate(folder, "server", days))
    assert status == 0 and found(findings, grade, "certificate", "CN=localhost")


@pytest.mark.parametrize("days, is_said", [(1, True), (20, True), (23, False)])
def test_a_key_that_paired_phones_have_to_hear_of(check, folder, days, is_said):
    """Some phones are not heard of for weeks."""
    devices = {"DEVICES_PATH": folder / "devices.db", "PUBLIC_URL": "https://mud.example"}
    server = certificate(folder, "server", days)
    status, findings = check(**server, **devices)
    assert status == 0 and found(findings, "warning", "pins", "TLS_NEXT_KEY_PATH") == is_said, findings
    # Where they hear of the next one already, or there are none, nothing is to be done.
    after = certificate(folder, "next", 300)
    assert not found(check(**server, **devices, TLS_NEXT_KEY_PATH=after["TLS_KEY_PATH"])[1], "warning", "pins")
    assert not found(check(**server)[1], "warning", "pins")


@pytest.fixture
def check_at(gates, backend, fault):
    """The same under a clock that is wrong by so many days."""

    def run(days, **changes):
        fault.realtime_offset = days * 86_400 * 10**9
        gate = gates(backend, start=False, **changes)
        environment = {**gate.environment, **fault.environment}
        return parse(
            subprocess.run(
                [str(BINARY), "check"], cwd=gate.folder, env=environment, capture_output=True, text=True,
                timeout=patience(60),
            )  # fmt: skip
        )

    return run


@pytest.mark.parametrize("days, word", [(-1, "not valid before"), (0, ""), (29, "expires in"), (31, "expired")])
def test_a_certificate_out_of_its_time(check_at, folder, days, word):
    issued = certificate(folder, "server", 30)
    status, findings = check_at(days, **issued)
    assert status == 0 and found(findings, "warning" if days else "ok", "certificate", word), findings
    if days:
        # File, subject, date, and what serves meanwhile.
        words = [f"TLS_CERT_PATH={issued['TLS_CERT_PATH']}", "CN=localhost", "Z"]
        assert found(findings, "warning", "certificate", *words), findings
    if days in (-1, 31):
        assert found(findings, "warning", "certificate", "the gate serves with it"), findings


@pytest.mark.parametrize("days", [-1, 31])
def test_a_gate_starts_with_a_certificate_out_of_its_time(gates, backend, folder, fault, days):
    """As `check` says: to refuse would take away those who play as well, at any restart."""
    fault.realtime_offset = days * 86_400 * 10**9
    gate = gates(backend, start=False, **certificate(folder, "server", 30))
    gate.environment.update(fault.environment)
    gate.launch()
    gate.event(event="listening")


def test_a_clock_before_this_version(check_at):
    status, findings = check_at(-20 * 365)
    assert status == 0 and found(findings, "warning", "clock", "set the clock")


def both(gates, backend, **changes):
    """What `check` and `serve` say of the same files: one status and one text."""
    gate = gates(backend, start=False, **changes)
    status, findings = parse(gate.command("check"))
    served = gate.command("serve")
    assert status == served.returncode == CONFIGURATION, (findings, served)
    told = [detail for grade, _, detail in findings if grade == "problem"]
    assert told and all(text in served.stderr for text in told), (told, served.stderr)
    return told


def test_a_key_of_another_certificate(gates, backend, folder):
    one, other = certificate(folder, "one", 90), certificate(folder, "other", 90)
    mixed = {**one, "TLS_KEY_PATH": other["TLS_KEY_PATH"]}
    (text,) = both(gates, backend, **mixed)
    assert f"TLS_KEY_PATH={other['TLS_KEY_PATH']}, TLS_CERT_PATH={one['TLS_CERT_PATH']}" in text
    assert "name the two files of one pair" in text


def test_a_certificate_and_its_key_swapped(gates, backend, folder):
    issued = certificate(folder, "server", 90)
    swapped = {"TLS_CERT_PATH": issued["TLS_KEY_PATH"], "TLS_KEY_PATH": issued["TLS_CERT_PATH"]}
    (text,) = both(gates, backend, **swapped)
    assert "seem to be swapped: exchange the two paths" in text and issued["TLS_KEY_PATH"] in text
    (text,) = both(gates, backend, **{**issued, "TLS_CERT_PATH": issued["TLS_KEY_PATH"]})
    assert "holds a private key and no certificate" in text
    (text,) = both(gates, backend, **{**issued, "TLS_KEY_PATH": issued["TLS_CERT_PATH"]})
    assert "holds a certificate and no private key" in text


def test_a_chain_in_the_wrong_order(gates, backend, folder, pki):
    issued = certificate(folder, "server", 90)
    chain = folder / "chain.pem"
    chain.write_bytes(pki.attestation_root.read_bytes() + open(issued["TLS_CERT_PATH"], "rb").read())
    (text,) = both(gates, backend, **{**issued, "TLS_CERT_PATH": str(chain)})
    assert f'TLS_CERT_PATH={chain} begins with "' in text and ", an authority" in text
    assert text.endswith('put "CN=localhost" first'), text


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o644, 0o666])
def test_a_private_key_open_to_others(check, folder, mode):
    issued = certificate(folder, "server", 90)
    os.chmod(issued["TLS_KEY_PATH"], mode)
    status, findings = check(**issued)
    grade, word = ("ok", "the gate's group's") if mode == 0o640 else ("warning", "chmod 600")
    assert status == 0 and found(findings, grade, "key", f"0{mode:o}", word), findings


@pytest.mark.skipif(os.geteuid() != 0, reason="giving files away takes the superuser")
@pytest.mark.parametrize(
    "owner, group, mode, remedy",
    [
        ("root", "nogroup", 0o640, None),
        ("root", "nogroup", 0o644, "chmod 640 "),
        ("root", "daemon", 0o640, "chown nobody "),
        ("root", "root", 0o644, "chown nobody "),
        ("nobody", "nogroup", 0o644, "chmod 600 "),
    ],
)
def test_a_remedy_does_not_shut_the_gate_out(check, folder, owner, group, mode, remedy):
    """A key as packages have it is right; and what is wrong is put right by what is said, which leaves the gate its key."""
    os.chmod(folder, 0o755)
    os.chown(folder, 65534, -1)
    issued = certificate(folder, "server", 90)
    key = issued["TLS_KEY_PATH"]
    shutil.chown(key, owner, group)
    os.chmod(key, mode)
    told = [detail for grade, name, detail in check("--user", "nobody", **issued)[1] if (grade, name) == ("warning", "key")]
    if remedy is None:
        assert not told, told
        return
    assert len(told) == 1 and remedy in told[0], told
    subprocess.run(told[0][told[0].index(remedy) :], shell=True, check=True)
    _, findings = check("--user", "nobody", **issued)
    assert found(findings, "ok", "key", key) and not any("may not read" in detail and key in detail for *_, detail in findings)


@pytest.mark.parametrize("mode, grade", [(0o700, "ok"), (0o755, "ok"), (0o775, "warning"), (0o707, "warning")])
def test_a_folder_that_others_may_write_to(check, folder, mode, grade):
    os.chmod(folder, mode)
    status, findings = check()
    assert status == 0 and found(findings, grade, "store", folder, f"0{mode:o}")


def test_a_control_socket_folder_that_others_may_write_to(check, folder):
    (folder / "run").mkdir()
    os.chmod(folder / "run", 0o777)
    _, findings = check(CONTROL_SOCKET=str(folder / "run" / "c.sock"))
    assert found(findings, "warning", "control_socket", "chmod go-w")


def test_a_store_open_to_others(check, folder):
    store = folder / "attested-keys.json"
    store.write_text("{}\n")
    os.chmod(store, 0o644)
    status, findings = check()
    assert status == 0 and found(findings, "warning", "store", "0644", "chmod 600")


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting takes the superuser")
def test_a_full_disk(gates, backend, folder):
    """`serve` cannot start on it, and both say what to do."""
    disk = folder / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(disk)]
    if subprocess.run(mount, capture_output=True).returncode != 0:
        pytest.skip("mounting is not permitted here")
    try:
        with contextlib.suppress(OSError), open(disk / "filler", "wb", buffering=0) as filler:
            while filler.write(bytes(4096)):
                pass
        gate = gates(backend, start=False, ATTESTED_KEYS_PATH=disk / "keys.json")
        status, findings = parse(gate.command("check"))
        remedy = f"make room on the file system of {disk}, which has 0 bytes free"
        assert found(findings, "problem", "disk", "ATTESTED_KEYS_PATH=", "No space left", remedy), findings
        served = gate.command("serve")
        assert status == served.returncode == 74 and remedy in served.stderr, served
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_a_game_whose_host_is_no_name(gates):
    status, findings = parse(gates("no-such-host.invalid:4000", start=False).command("check"))
    assert status == UNAVAILABLE
    assert found(findings, "problem", "backend", "BACKEND=no-such-host.invalid:4000", "correct the host's name"), findings


def test_a_damaged_store(check, folder):
    (folder / "attested-keys.json").write_text('{"AAAA": {')
    status, findings = check()
    assert status == CONFIGURATION and found(findings, "problem", "store", "damaged at byte")


@pytest.mark.skipif(os.geteuid() != 0, reason="only the superuser can look for others without --user")
def test_files_that_the_gates_user_does_not_get_at(check, folder):
    os.chmod(folder, 0o755)
    issued = certificate(folder, "server", 90)
    issued["RUN_AS"] = None
    status, findings = check("--user", "nobody", **issued)
    assert status == CONFIGURATION
    assert found(findings, "problem", "user", "nobody", "may not read", issued["TLS_KEY_PATH"])
    assert found(findings, "problem", "user", "may not write to", folder)
    os.chown(issued["TLS_KEY_PATH"], 65534, -1)
    os.chown(folder, 65534, -1)
    os.chmod(folder, 0o700)
    # Now the folder's owner is whom it is about, unless another is named.
    _, findings = check(**issued, APPATTEST_ROOT_CA_PATH=None)
    assert found(findings, "ok", "user", "nobody", "gets at all files"), findings
    status, findings = check("--user", "daemon", **issued, APPATTEST_ROOT_CA_PATH=None)
    assert status == CONFIGURATION and found(findings, "problem", "user", "may not enter", folder)


def test_a_user_that_does_not_exist(gates):
    done = gates(start=False).command("check", "--user", "no-such-user")
    assert done.returncode == 64 and "no-such-user" in done.stderr


def test_a_running_gate_has_what_it_needs(gate, folder):
    status, findings = parse(gate.command("check"))
    assert status == 0 and found(findings, "ok", "store", f"process {gate.process.pid}")
    assert found(findings, "ok", "listen", "while a gate is running")


def test_a_gate_on_another_control_socket(gate, folder):
    """It has the store locked: keys could not be edited, and a second gate would not start."""
    status, findings = parse(gate.command("check", CONTROL_SOCKET=str(folder / "other.sock")))
    assert status == UNAVAILABLE
    assert found(findings, "problem", "store", f"process {gate.process.pid}", "CONTROL_SOCKET")


def test_a_lock_that_a_dead_gate_left_behind(gate, folder):
    gate.kill()
    status, findings = parse(gate.command("check"))
    assert status == 0 and not found(findings, "problem", "store")


def test_a_lock_that_is_a_link(gates, backend, folder):
    victim, lock = folder / "victim", folder / "attested-keys.json.lock"
    victim.write_text("precious\n")
    lock.symlink_to(victim)
    gate = gates(backend, start=False)
    status, findings = parse(gate.command("check"))
    assert status == CONFIGURATION and found(findings, "problem", "store", "symbolic link", str(lock))
    gate.launch()
    assert gate.wait() == CONFIGURATION, gate.log_tail()
    assert "symbolic link" in gate.log_text() and victim.read_text() == "precious\n"


def test_the_game_is_not_there(gates):
    status, findings = parse(gates("127.0.0.1:9", start=False).command("check"))
    assert status == UNAVAILABLE and found(findings, "problem", "backend", "start the game")


def test_configuration_counts_more_than_the_game(gates, folder):
    (folder / "attested-keys.json").write_text("[]")
    status, findings = parse(gates("127.0.0.1:9", start=False).command("check"))
    assert status == CONFIGURATION and found(findings, "problem", "backend")


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting takes the superuser")
def test_a_store_that_is_a_mount_of_its_own(gates, backend, folder):
    store, source = folder / "attested-keys.json", folder / "source.json"
    for path in (store, source):
        path.write_text("{}\n")
    if subprocess.run(["mount", "--bind", str(source), str(store)], capture_output=True).returncode != 0:
        pytest.skip("mounting is not permitted here")
    try:
        status, findings = parse(gates(backend, start=False).command("check"))
    finally:
        subprocess.run(["umount", str(store)], check=True)
    assert status == CONFIGURATION and found(findings, "problem", "store", "mount of its own")
