"""The gate's program without what it is tried out with, and `portcullis-dev`, which has that (docs/running.md,
"Development")."""

import shutil
import subprocess

import pytest

from gate import BINARY, process_environment
from helps import listed
from waiting import patience

DEVELOPMENT = BINARY.with_name("portcullis-dev")
COMMANDS = ("verify", "dev-certs", "simulate", "demo")
# Types that a fake phone and its authorities are made of: their names stay in a program without symbols, too.
SIMULATED = (b"SoftwareEnclave", b"DevelopmentCertificates", b"TestAttestationAuthority", b"TestPlayService", b"SimulatedPhone")
UNAVAILABLE, USAGE = 69, 64


def names_in(program):
    contents = program.read_bytes()
    return [name for name in SIMULATED if name in contents]


def test_what_is_looked_for_is_where_it_belongs():
    assert names_in(DEVELOPMENT) == list(SIMULATED)


def test_the_gate_has_nothing_of_a_simulated_device():
    assert names_in(BINARY) == []


@pytest.fixture
def alone(folder):
    """The gate's program where there is no other; what has its name elsewhere is another one."""
    (folder / "bin").mkdir()
    (folder / "elsewhere").mkdir()
    shutil.copy(BINARY, folder / "bin" / "portcullis")
    other = folder / "elsewhere" / "portcullis-dev"
    other.write_text("#!/bin/sh\necho another one\n")
    other.chmod(0o755)
    environment = process_environment({"PATH": f"{folder / 'elsewhere'}:/usr/bin:/bin"})

    def run(*words):
        return subprocess.run(
            [folder / "bin" / "portcullis", *words], cwd=folder / "elsewhere", env=environment,
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=patience(60),
        )  # fmt: skip

    run.folder = folder / "bin"
    return run


@pytest.mark.parametrize(
    "words",
    ["simulate", "simulate phone --help", "help simulate phone", "simulate bench --app-id x", "dev-certs --force", "verify file", "demo --console"],
)
def test_what_is_missing_is_named(alone, words):
    done = alone(*words.split())
    (name,) = [word for word in words.split()[:2] if word in COMMANDS]
    assert (done.returncode, done.stdout) == (UNAVAILABLE, "")
    assert done.stderr == (
        f"portcullis: {alone.folder}/portcullis-dev is not there, which has the command {name}: install Debian's package "
        "portcullis-dev, or build it by make release\n"
    )


def test_one_that_cannot_run_is_named(alone):
    (alone.folder / "portcullis-dev").write_text("no program")
    done = alone("simulate")
    assert done.returncode == 71 and "portcullis-dev cannot be executed: " in done.stderr, done
    assert "Permission denied" in done.stderr


def test_its_commands_are_listed_all_the_same(alone):
    shown = alone("--help")
    assert shown.returncode == 0 and set(COMMANDS) <= set(listed(shown.stdout))
    script = alone("--generate-completion-script", "bash")
    assert script.returncode == 0 and set(COMMANDS) <= set(script.stdout.replace("|", " ").split())
    assert alone("--version").returncode == 0


def test_a_list_of_revoked_keys_is_read_without_it(alone, folder):
    """The unit that fetches it belongs to the gate."""
    path = folder / "status.json"
    path.write_text('{"entries": {"abc123": {"status": "REVOKED", "reason": "KEY_COMPROMISE"}}}')
    done = alone("verify", "revocation-list", path)
    assert (done.returncode, done.stdout) == (0, f"{path}: 1 revoked keys\n"), done
    path.write_text("{")
    assert alone("verify", "revocation-list", path).returncode == 65
    for words in (("verify", "revocation-list", "--help"), ("help", "verify", "revocation-list")):
        shown = alone(*words)
        assert shown.returncode == 0 and "USAGE: portcullis verify revocation-list <file>" in shown.stdout, shown


def paths(*above):
    """Every command of that program, as it lists them."""
    shown = subprocess.run([DEVELOPMENT, *above, "--help"], env=process_environment({}), capture_output=True, text=True)
    for name in listed(shown.stdout):
        yield (*above, name)
        yield from paths(*above, name)


def test_the_gate_knows_their_names(alone):
    """What is typed amiss gets the nearest command of both programs."""
    commands = list(paths())
    assert {command[0] for command in commands} == set(COMMANDS) and ("simulate", "phone", "enroll") in commands
    # It is not listed.
    for first, *below in [*commands, ("simulate", "play")]:
        done = alone(f"{first[:-1]}x", *below)
        meant = " ".join(["portcullis", first, *below])
        assert done.returncode == USAGE and done.stderr.endswith(f"did you mean {meant}?\n"), done
