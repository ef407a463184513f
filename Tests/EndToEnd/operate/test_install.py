"""`make install`: what goes where, and what systemd says of the unit."""

import re
import shutil
import signal
import subprocess

import pytest

from gate import BINARY, ROOT
from waiting import eventually, patience
from websocket import refusal

UNIT = "lib/systemd/system/portcullis.service"


def make(target, **variables):
    words = [f"{name}={value}" for name, value in {"BINARY": BINARY, **variables}.items()]
    done = subprocess.run(["make", "-C", ROOT, target, *words], capture_output=True, text=True, timeout=patience(300))
    assert done.returncode == 0, done.stdout + done.stderr


def files(folder):
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir()}


EXPECTED = {
    "usr/bin/portcullis": 0o755,
    "usr/bin/portcullis-dev": 0o755,
    f"usr/{UNIT}": 0o644,
    "usr/lib/systemd/system/portcullis-android-revocation.service": 0o644,
    "usr/lib/systemd/system/portcullis-android-revocation.timer": 0o644,
    "usr/lib/sysusers.d/portcullis.conf": 0o644,
    "usr/share/portcullis/certs/Apple_App_Attestation_Root_CA.pem": 0o644,
    "usr/share/portcullis/prometheus-alerts.yml": 0o644,
    "usr/share/portcullis/grafana-dashboard.json": 0o644,
    "usr/share/portcullis/sbom.cdx.json": 0o644,
    "usr/share/doc/portcullis/docs/metrics.md": 0o644,
    "usr/share/doc/portcullis/docs/errors.md": 0o644,
    "usr/share/portcullis-dev/sbom.cdx.json": 0o644,
    "etc/portcullis/portcullis.env.example": 0o644,
    "etc/portcullis/all-settings.env": 0o644,
    "usr/share/man/man1/portcullis.1": 0o644,
    "usr/share/man/man1/portcullis-keys-revoke.1": 0o644,
    "usr/share/man/man1/portcullis-simulate-bench.1": 0o644,
    "usr/share/bash-completion/completions/portcullis": 0o644,
    "usr/share/zsh/site-functions/_portcullis": 0o644,
    "usr/share/fish/vendor_completions.d/portcullis.fish": 0o644,
}


def test_a_staged_installation(folder):
    """DESTDIR is where the files go, and stands in none of them."""
    make("install", DESTDIR=folder, PREFIX="/usr")
    installed = files(folder)
    assert set(EXPECTED) <= installed
    assert all(name.startswith(("usr/", "etc/portcullis/")) for name in installed), installed
    for name, mode in EXPECTED.items():
        assert (folder / name).stat().st_mode & 0o777 == mode, name
    unit = (folder / "usr" / UNIT).read_text()
    assert "ExecStart=/usr/bin/portcullis serve --config /etc/portcullis/portcullis.env\n" in unit
    assert str(folder) not in unit and "/usr/local" not in unit
    version = subprocess.run([folder / "usr/bin/portcullis", "--version"], capture_output=True, text=True)
    assert version.returncode == 0 and re.fullmatch(r"\S*\d+\.\d+\.\d+\S*\n", version.stdout)


def test_the_gate_is_installed_without_what_it_is_tried_out_with(folder):
    """What the image has, and Debian's package of the gate."""
    make("install", DESTDIR=folder / "both", PREFIX="/usr")
    make("install-gate", DESTDIR=folder / "gate", PREFIX="/usr")
    made = re.search(r"make (\S+) DESTDIR=/install", (ROOT / "Dockerfile").read_text())
    assert made[1] == "install-gate"
    more = files(folder / "both") - files(folder / "gate")
    assert {"usr/bin/portcullis-dev", "usr/share/man/man1/portcullis-verify.1"} <= more
    pages = "usr/share/man/man1/portcullis-"
    development = (f"{pages}verify", f"{pages}dev.1", f"{pages}dev-certs", f"{pages}simulate", f"{pages}demo", "usr/bin/portcullis-dev", "usr/share/portcullis-dev/")
    assert all(name.startswith(development) for name in more), more
    assert files(folder / "gate") <= files(folder / "both")


def test_uninstalling_leaves_the_operators_files(folder):
    make("install", DESTDIR=folder)
    settings = folder / "etc/portcullis/portcullis.env"
    settings.write_text("BACKEND=127.0.0.1:4000\n")
    make("uninstall", DESTDIR=folder)
    assert files(folder) == {"etc/portcullis/portcullis.env"}


def test_the_image_is_built_with_all_that_is_installed():
    """What the recipe copies from the sources is let into the Dockerfile's first stage."""
    recipe = re.search(r"^install-gate:.*?\n\n", (ROOT / "Makefile").read_text(), re.M | re.S)[0]
    copied = set(re.findall(r"\b(?:certs|config|docs|scripts)/[\w.-]+", recipe))
    assert "config/portcullis.service" in copied and "scripts/man-pages" in copied
    let_in = [line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")]
    missing = [name for name in copied if not any(name == entry or name.startswith(f"{entry}/") for entry in let_in)]
    assert not missing


@pytest.fixture
def installed_unit(folder):
    if not shutil.which("systemd-analyze"):
        pytest.skip("systemd-analyze is not there (Debian's package systemd)")
    # Without DESTDIR, so that the paths in the unit exist.
    make("install", PREFIX=folder / "usr", SYSCONFDIR=folder / "etc/portcullis")
    return folder / "usr" / UNIT


def analyze(*words):
    command = ["systemd-analyze", "--no-pager", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=patience(120))


def test_systemd_has_nothing_to_say_against_the_unit(installed_unit):
    done = analyze("verify", installed_unit)
    said = [line for line in done.stderr.splitlines() if "portcullis" in line]
    assert done.returncode == 0 and not said, done.stderr


def test_the_stated_security_score_is_true(installed_unit):
    done = analyze("security", "--offline=true", "--threshold=15", installed_unit)
    assert done.returncode == 0, done.stdout + done.stderr
    score = re.search(r"exposure level for portcullis.service: (\d+\.\d+) (\w+)", done.stdout)
    assert score, done.stdout
    stated = re.search(r"gives it (\d+\.\d+) \(\"(\w+)\"\)", installed_unit.read_text())
    version = analyze("--version").stdout.split()[1]
    # Later versions judge more options.
    if version == "252":
        assert stated.groups() == score.groups()
        assert f"`systemd-analyze security` gives {stated[1]}" in (ROOT / "docs/install.md").read_text()


def test_the_unit_waits_longer_than_the_gate_drains(folder):
    unit = (ROOT / "config/portcullis.service").read_text()
    example = (ROOT / "config/all-settings.env").read_text()
    drain = int(re.search(r"DRAIN_TIMEOUT=(\d+)s", example)[1])
    assert int(re.search(r"^TimeoutStopSec=(\d+)$", unit, re.M)[1]) > drain + 5


def allowed_calls():
    """What `SystemCallFilter=` lets through, by the sets of the systemd that is here."""
    sets, members = {}, None
    for line in analyze("syscall-filter").stdout.splitlines():
        if line.startswith("@"):
            members = sets.setdefault(line.strip(), [])
        elif line.startswith(" ") and not line.lstrip().startswith("#"):
            members.append(line.strip())

    def calls(name):
        if not name.startswith("@"):
            return {name}
        return set().union(*map(calls, sets[name]))

    # systemd.exec(5): the first line makes it a list of what is allowed, and @default is always on it.
    allowed = set()
    unit = (ROOT / "config/portcullis.service").read_text()
    for line in re.findall(r"^SystemCallFilter=(.*)$", unit, re.M):
        for name in line.removeprefix("~").split():
            allowed = allowed - calls(name) if line.startswith("~") else allowed | calls(name)
    return allowed | calls("@default")


@pytest.mark.unsanitized("its runtime makes calls of its own, and looks for leaks by being the tracer")
async def test_the_gate_needs_no_call_that_the_unit_forbids(gates, backend, device, folder, monkeypatch):
    for tool, package in (("systemd-analyze", "systemd"), ("strace", "strace")):
        if not shutil.which(tool):
            pytest.skip(f"{tool} is not there (Debian's package {package})")
    traced = folder / "traced"
    # -D: the gate keeps the number of the process that was started.
    traced.write_text(f'#!/bin/sh\nexec strace -D -f -qq -e signal=none -o {folder}/calls {BINARY} "$@"\n')
    traced.chmod(0o755)
    monkeypatch.setattr("gate.BINARY", traced)
    gate = gates(backend)
    gate.app.register(device)
    assert await refusal(gate, device.headers(gate.app.nonce())) == (101, None)
    gate.signal(signal.SIGHUP)
    gate.event(event="reloaded")
    gate.app.close()
    gate.stop()

    def calls():
        return re.findall(r"^\d+ +(\w+)\(", (folder / "calls").read_text(errors="replace"), re.M)

    # The one who writes them down is not waited for by the gate's end.
    eventually(lambda: "exit_group" in calls(), "the last call of all")
    used = set(calls())
    assert {"accept4", "setpriority", "fdatasync"} <= used
    # The service is not started as root and has no capabilities to give up.
    only_for_root = {"capset"}
    assert used - allowed_calls() - only_for_root == set()
