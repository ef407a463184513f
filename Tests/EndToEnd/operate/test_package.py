"""`make deb`: the package as Debian's tools see it, and what dpkg does with it on a machine of its own."""

import os
import pathlib
import re
import shutil
import subprocess

import pytest

import package_root
from gate import BINARY, ROOT, SANITIZER
from waiting import eventually

pytestmark = pytest.mark.long("packages are made, judged by lintian, and installed in an overlay of this machine")

# Time is for the tests; the package that is deployed is compressed as dpkg does it.
FAST = {"DPKG_DEB_COMPRESSOR_LEVEL": "1"}
SETTINGS = "/etc/portcullis/portcullis.env"
STATE = "/var/lib/portcullis"


def made(folder, program=BINARY, **options):
    environment = {**os.environ, **FAST, **options.pop("environment", {})}
    return subprocess.run(
        [ROOT / "scripts" / "deb", program, folder],
        env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options,
    )  # fmt: skip


@pytest.fixture(scope="module")
def every_package(module_folder):
    """The gate's package and the one for development, and both once more, built anew and newer."""
    for tool in ("dpkg-deb", "dpkg-shlibdeps", "dpkg-parsechangelog"):
        if not shutil.which(tool):
            pytest.skip(f"{tool} is not installed (Debian's package dpkg-dev)")
    if SANITIZER or "libswift" in subprocess.check_output(["ldd", BINARY], text=True):
        pytest.skip("this program is not the one that is deployed: Swift's libraries belong to no package")
    first, second = made(module_folder), made(module_folder, environment={"REBUILD": "1"})
    assert first.returncode == 0 and second.returncode == 0, first.stderr + second.stderr
    lines = first.stdout.splitlines() + second.stdout.splitlines()
    assert len(lines) == 4, lines
    return [module_folder / line.rpartition("/")[2] for line in lines]


@pytest.fixture(scope="module")
def packages(every_package):
    """The gate's package, and one that was built anew and is newer."""
    return every_package[::2]


@pytest.fixture(scope="module")
def development(every_package):
    """The same of what a gate is tried out with."""
    return every_package[1::2]


@pytest.fixture
def machine(packages, folder):
    if reason := package_root.missing():
        pytest.skip(reason)
    there = package_root.PackageRoot(folder, packages[0].parent)
    yield there
    there.close()


def field(package, name):
    return subprocess.check_output(["dpkg-deb", "--field", package, name], text=True).strip()


# ---- the package itself


def test_lintian_finds_nothing(every_package):
    if not shutil.which("lintian"):
        pytest.skip("lintian is not installed")
    done = subprocess.run(
        ["lintian", "--allow-root", "--fail-on", "error,warning", *every_package[:2]], capture_output=True, text=True
    )
    said = [line for line in done.stdout.splitlines() if not line.startswith("N:")]
    assert done.returncode == 0 and not said, done.stdout + done.stderr


def test_what_it_says_of_itself(packages):
    version = subprocess.check_output([BINARY, "--version"], text=True).strip()
    assert field(packages[0], "Version").rpartition("-")[0] == version
    assert field(packages[1], "Version") == field(packages[0], "Version") + "+b1"
    depends = field(packages[0], "Depends")
    # By dpkg-shlibdeps, so that a library that the program no longer needs is not asked for.
    for library in ("libc6", "libcbor0.8", "libmaxminddb0", "libqrencode4", "libseccomp2", "libsqlite3-0", "libssl3"):
        assert re.search(rf"\b{re.escape(library)} \(>= ", depends), library
    listed = subprocess.check_output(["dpkg-deb", "--contents", packages[0]], text=True)
    names = {line.split()[5].removeprefix(".") for line in listed.splitlines()}
    assert {
        "/usr/bin/portcullis", "/usr/lib/systemd/system/portcullis.service", "/usr/lib/sysusers.d/portcullis.conf",
        "/usr/lib/tmpfiles.d/portcullis.conf", SETTINGS, "/usr/share/man/man1/portcullis-keys-revoke.1.gz",
        "/usr/share/bash-completion/completions/portcullis", "/usr/share/zsh/vendor-completions/_portcullis",
        "/usr/share/fish/vendor_completions.d/portcullis.fish",
        "/usr/share/doc/portcullis/examples/portcullis.env.example",
        "/usr/share/doc/portcullis/examples/all-settings.env", "/usr/share/doc/portcullis/docs/metrics.md",
        "/usr/share/portcullis/sbom.cdx.json",
    } <= names  # fmt: skip
    assert not any(name.startswith((STATE, "/usr/local")) for name in names)
    assert all(line.split()[1] == "root/root" for line in listed.splitlines())


def test_what_the_other_one_has(packages, development):
    """What a gate is tried out with, and nothing that the gate's package has."""
    assert development[0].name.startswith("portcullis-dev_")
    for gate, other in zip(packages, development, strict=True):
        assert f"portcullis (= {field(gate, 'Version')})" in field(other, "Depends").split(", ")
        assert field(other, "Version") == field(gate, "Version")

    def contents(package):
        listed = subprocess.check_output(["dpkg-deb", "--contents", package], text=True).splitlines()
        return {line.split()[5].removeprefix(".") for line in listed if not line.startswith("d")}

    own = contents(development[0])
    assert {
        "/usr/bin/portcullis-dev", "/usr/share/man/man1/portcullis-simulate-phone.1.gz",
        "/usr/share/portcullis-dev/sbom.cdx.json", "/usr/share/doc/portcullis-dev",
    } <= own  # fmt: skip
    assert not own & contents(packages[0])


def test_the_same_program_makes_the_same_package(packages, development, folder):
    """Whoever builds it, when and where: other folder, time zone, language and mask for new files."""
    again = made(folder, cwd="/", umask=0o077, environment={"TZ": "Asia/Tokyo", "LC_ALL": "C.UTF-8"})
    assert again.returncode == 0, again.stderr
    for package in (packages[0], development[0]):
        assert (folder / package.name).read_bytes() == package.read_bytes()
    other = made(folder, environment={"SOURCE_DATE_EPOCH": "1700000000"})
    assert other.returncode == 0, other.stderr
    contents = subprocess.check_output(
        ["dpkg-deb", "--contents", folder / packages[0].name], text=True, env={**os.environ, "TZ": "UTC"}
    )
    assert {tuple(line.split()[3:5]) for line in contents.splitlines()} == {("2023-11-14", "22:13")}


def test_a_changelog_of_another_version_makes_no_package(packages, folder):
    other = folder / "other"
    other.write_text("#!/bin/sh\necho 9.9.9\n")
    other.chmod(0o755)
    refused = made(folder, program=other)
    assert refused.returncode == 1 and "the program says 9.9.9" in refused.stderr
    assert not list(folder.glob("*.deb"))


# ---- what dpkg does with it


@pytest.mark.parametrize("has_systemd", [True, False], ids=["systemd-idle", "no-systemd"])
def test_installed_upgraded_removed_and_purged(machine, packages, has_systemd):
    first, second = (f"/mnt/{package.name}" for package in packages)
    if not has_systemd:
        machine.forget_systemd()

    machine.run("dpkg", "--install", first)
    assert machine.run("dpkg", "--verify", "portcullis") == ""
    assert machine.run("dpkg-query", "--show", "--showformat=${db:Status-Abbrev}", "portcullis") == "ii "
    for folder in (STATE, f"{STATE}/config"):
        assert machine.run("stat", "--format=%U %G %a", folder) == "portcullis portcullis 700\n"
    *_, home, shell = machine.run("getent", "passwd", "portcullis").strip().split(":")
    assert (home, shell) == (STATE, "/usr/sbin/nologin")
    assert int(machine.run("id", "--user", "portcullis")) < 1000, "no user of the system"

    # Nothing runs, nothing is enabled.
    assert machine.processes() == set()
    links = ["find", "/etc/systemd", "-name", "portcullis*"]
    assert machine.run(*links) == ""

    # The program is there, as its user, and says what is missing from the settings.
    assert re.fullmatch(r"\d+\.\d+\.\d+\n", machine.run("portcullis", "--version"))
    check = ["setpriv", "--reuid=portcullis", "--regid=portcullis", "--clear-groups", "portcullis", "check"]
    missing = machine.run(*check, "--config", SETTINGS, expected=78)
    assert "TLS_CERT_PATH" in missing and "APPATTEST_APP_IDS" in missing
    # The gate itself finds its folder; a gate has run, and the operator has settings.
    machine.run("sh", "-c", f"echo BACKEND=127.0.0.1:4000 >>{SETTINGS}")
    machine.run("sh", "-c", f"echo '{{}}' >{STATE}/config/attested-keys.json && touch /etc/portcullis/privkey.pem")

    # What the operator has written stays, without a question.
    machine.run("dpkg", "--install", second)
    assert machine.run("dpkg-query", "--show", "--showformat=${Version}", "portcullis").endswith("+b1")
    assert "BACKEND=127.0.0.1:4000" in machine.run("cat", SETTINGS)
    assert machine.run("cat", f"{STATE}/config/attested-keys.json") == "{}\n"
    assert machine.run(*links) == "" and machine.processes() == set()

    machine.run("dpkg", "--remove", "portcullis")
    machine.run("sh", "-c", "command -v portcullis", expected=127)
    assert "BACKEND" in machine.run("cat", SETTINGS)

    said = machine.run("dpkg", "--purge", "portcullis")
    assert f"{STATE} is left as it is" in said and "the user portcullis" in said
    assert machine.run("cat", f"{STATE}/config/attested-keys.json") == "{}\n"
    machine.run("test", "!", "-e", SETTINGS)
    machine.run("test", "-e", "/etc/portcullis/privkey.pem")
    left = machine.run("find", "/usr", "/lib/systemd", "/etc", "-name", "portcullis*").split()
    assert left == ["/etc/portcullis"], left
    # And once more, over what is left.
    machine.run("dpkg", "--install", second)
    assert machine.run("cat", f"{STATE}/config/attested-keys.json") == "{}\n"


def test_development_comes_and_goes_beside_the_gate(machine, packages, development):
    machine.run("dpkg", "--install", f"/mnt/{packages[0].name}")
    lacking = machine.run("portcullis", "dev-certs", expected=69)
    assert "/usr/bin/portcullis-dev is not there" in lacking and "Debian's package portcullis-dev" in lacking
    machine.run("dpkg", "--install", f"/mnt/{development[0].name}")
    assert machine.run("dpkg", "--verify", "portcullis", "portcullis-dev") == ""
    machine.run("portcullis", "dev-certs", "--directory", "/tmp/certs")
    machine.run("test", "-s", "/tmp/certs/server.pem")
    # Both of one version, or the second not at all.
    machine.run("dpkg", "--install", *(f"/mnt/{package[1].name}" for package in (packages, development)))
    assert "portcullis-dev" in machine.run("dpkg", "--remove", "portcullis", expected=1)
    machine.run("dpkg", "--purge", "portcullis-dev")
    assert machine.run("find", "/usr", "-name", "portcullis-dev", "-o", "-name", "portcullis-simulate*") == ""
    machine.run("portcullis", "dev-certs", expected=69)
    assert re.fullmatch(r"\d+\.\d+\.\d+\n", machine.run("portcullis", "--version"))


def test_what_systemd_is_told(machine, packages):
    first, second = (f"/mnt/{package.name}" for package in packages)
    machine.pretend_systemd(active=True)
    installed = machine.run("dpkg", "--install", first)
    reload = "--system daemon-reload"
    assert machine.told_systemd() == [reload] and "restart" not in installed

    # Those who play go on playing, and the operator is told.
    upgraded = machine.run("dpkg", "--install", second)
    assert "'systemctl restart portcullis' takes this one" in upgraded
    told = machine.told_systemd()
    assert set(told) == {reload, "--quiet is-active portcullis.service"}

    machine.run("dpkg", "--remove", "portcullis")
    stopped, *rest = machine.told_systemd()
    assert stopped.startswith("stop portcullis.service ") and set(rest) == {reload}


def test_a_purge_disables_what_was_enabled(machine, packages):
    if not shutil.which("systemctl"):
        pytest.skip("systemctl is not installed")
    machine.run("dpkg", "--install", f"/mnt/{packages[0].name}")
    # In a root where systemd does not run it makes the link all the same.
    machine.run("systemctl", "enable", "portcullis.service")
    link = "/etc/systemd/system/multi-user.target.wants/portcullis.service"
    machine.run("test", "-L", link)
    machine.run("dpkg", "--install", f"/mnt/{packages[1].name}")
    machine.run("test", "-L", link)
    machine.run("dpkg", "--purge", "portcullis")
    machine.run("test", "!", "-L", link)


# ---- its scripts by themselves, where no root of its own can be made


class Scripts:
    """The package's scripts among programs that only note how they were called, on a machine that systemd has booted."""

    NOTED = "systemctl deb-systemd-invoke deb-systemd-helper systemd-sysusers systemd-tmpfiles adduser install setpriv getent"

    def __init__(self, folder, active, booted=True):
        self.folder, self.record = folder, folder / "calls"
        self.booted = folder / "booted"
        self.program = folder / "portcullis"
        (folder / "bin").mkdir()
        if booted:
            self.booted.mkdir()
        for name in self.NOTED.split():
            program = folder / "bin" / name
            inactive = "case $* in *is-active*) exit 3 ;; esac\n" if not active else ""
            program.write_text(f'#!/bin/sh\necho "{name} $*" >>{self.record}\n{inactive}')
            program.chmod(0o755)

    def run(self, name, *arguments):
        """What a script has said, and the calls that could begin or end anything."""
        text = (ROOT / "packaging" / "debian" / name).read_text()
        assert "/run/systemd/system" in text
        script = self.folder / name
        script.write_text(text.replace("/run/systemd/system", str(self.booted)).replace("/usr/bin/portcullis", str(self.program)))
        self.record.write_text("")
        done = subprocess.run(
            ["/bin/sh", script, *arguments],
            env={"PATH": f"{self.folder / 'bin'}:/usr/bin:/bin"}, capture_output=True, text=True,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        calls = self.record.read_text().splitlines()
        quiet = ("systemd-", "deb-systemd-helper ", "getent ", "install ", "setpriv ", "adduser ")
        return done.stdout, [call for call in calls if not call.startswith(quiet)]


RELOAD, ASK = "systemctl --system daemon-reload", "systemctl --quiet is-active portcullis.service"


@pytest.mark.parametrize("active", [True, False])
def test_an_upgrade_restarts_nothing_and_says_so_where_a_gate_runs(folder, active):
    scripts = Scripts(folder, active)
    assert scripts.run("prerm", "upgrade", "0.1.0-2") == ("", [])
    said, calls = scripts.run("postinst", "configure", "0.1.0-1")
    assert calls == [RELOAD, ASK]
    assert ("still that of version 0.1.0-1; 'systemctl restart portcullis' takes this one" in said) is active


def test_a_first_installation_starts_nothing(folder):
    assert Scripts(folder, active=True).run("postinst", "configure", "") == ("", [RELOAD])


def test_a_removal_stops_the_gate(folder):
    scripts = Scripts(folder, active=True)
    said, (stop,) = scripts.run("prerm", "remove")
    assert said == "" and stop.startswith("deb-systemd-invoke stop portcullis.service ")
    assert scripts.run("postrm", "remove") == ("", [RELOAD])


@pytest.fixture
def unmanaged(folder):
    """A program where the package has its own, which runs with these arguments until the test ends."""
    started = []

    def start(*arguments):
        program = folder / "portcullis"
        if not program.exists():
            shutil.copy(shutil.which("dash"), program)
        # Its own gate is a child of the parent, as that of `supervise` is.
        script = f'"{program}" -c "read line" serve; :' if "supervise" in arguments else "read line"
        process = subprocess.Popen([program, "-c", script, *arguments], stdin=subprocess.PIPE)
        started.append(process)
        eventually(lambda: os.readlink(f"/proc/{process.pid}/exe") == str(program), "the program")
        return process.pid

    yield start
    for process in started:
        process.communicate()


@pytest.mark.parametrize("booted", [True, False], ids=["systemd", "no-systemd"])
def test_gates_that_systemd_does_not_manage_are_named(folder, unmanaged, booted):
    scripts = Scripts(folder, active=False, booted=booted)
    parent, alone = unmanaged("supervise", "--", "serve"), unmanaged("serve", "--config", "x.env")
    unmanaged("stats")
    eventually(lambda: pathlib.Path(f"/proc/{parent}/task/{parent}/children").read_text().strip(), "the parent's gate")
    told, _ = scripts.run("prerm", "remove")
    assert set(told.splitlines()) == {
        f"portcullis: a gate is running (pid {pid}) and goes on; 'kill {pid}' stops it." for pid in (parent, alone)
    }
    assert scripts.run("prerm", "upgrade", "0.1.0-2")[0] == ""
    # dpkg has put another program there.
    scripts.program.unlink()
    told, _ = scripts.run("postinst", "configure", "0.1.0-1")
    assert set(told.splitlines()) == {
        f"portcullis: a gate is running (pid {parent}), still that of version 0.1.0-1; 'kill -USR2 {parent}' takes this one.",
        f"portcullis: a gate is running (pid {alone}), still that of version 0.1.0-1; stop it by 'kill {alone}', and start "
        "it again.",
    }
    assert scripts.run("postinst", "configure", "")[0] == "", "a first installation finds none"
