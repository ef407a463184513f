"""The manual page and the completion scripts keep up with the program."""

import re
import shutil
import subprocess

import pytest

from gate import ROOT

PAGE = ROOT / "docs" / "portcullis.1"


@pytest.fixture
def run(gates):
    gate = gates(start=False)
    return lambda *arguments: gate.command(*arguments)


def listed(help_text):
    """The subcommands that a help names."""
    section = help_text.partition("SUBCOMMANDS:")[2].partition("See '")[0]
    return re.findall(r"^  ([a-z][a-z-]*)(?: |$)", section, re.MULTILINE)


def paths(run, *above):
    """Every command of the program, outermost first."""
    for name in listed(run(*above, "--help").stdout):
        yield (*above, name)
        yield from paths(run, *above, name)


def test_the_page_is_well_formed():
    if shutil.which("mandoc"):
        checked = subprocess.run(
            ["mandoc", "-T", "lint", "-W", "warning", str(PAGE)], capture_output=True, text=True
        )
    elif shutil.which("groff"):
        checked = subprocess.run(
            ["groff", "-mdoc", "-ww", "-Tascii", "-z", str(PAGE)], capture_output=True, text=True
        )
    else:
        pytest.skip("neither mandoc nor groff is installed")
    assert checked.returncode == 0 and not checked.stdout + checked.stderr, checked


def test_the_page_names_every_command(run):
    page = PAGE.read_text()
    commands = list(paths(run))
    assert ("keys", "prune") in commands and ("simulate", "bench") in commands
    for command in commands:
        heading = command[0] if len(command) == 1 else None
        if heading:
            assert re.search(rf"^\.Ss {heading}$", page, re.MULTILINE), command
        else:
            assert re.search(rf"^\.It Cm {' '.join(command)}( |$)", page, re.MULTILINE), command


def test_the_page_names_every_option(run):
    page = PAGE.read_text()
    for command in paths(run):
        for option in re.findall(r"^  (?:-\w, )?--([a-z-]+)", run(*command, "--help").stdout, re.MULTILINE):
            assert re.search(rf"Fl (\w , )?-{option}\b", page), (command, option)


def test_the_page_names_every_exit_status():
    page = PAGE.read_text().partition(".Sh EXIT STATUS")[2].partition(".Sh EXAMPLES")[0]
    source = (ROOT / "Sources" / "Program" / "portcullis" / "ExitStatus.swift").read_text()
    statuses = re.findall(r"^  case \w+ = (\d+)$", source, re.MULTILINE)
    assert len(statuses) >= 10
    for status in ["0", *statuses]:
        assert f".It {status}\n" in page, status


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(run, shell):
    done = run("--generate-completion-script", shell)
    assert done.returncode == 0 and "portcullis" in done.stdout and "dev-certs" in done.stdout
    if shutil.which(shell):
        checked = subprocess.run([shell, "-n"], input=done.stdout, capture_output=True, text=True)
        assert checked.returncode == 0, checked.stderr
