"""The manual pages and the completion scripts keep up with the program."""

import re
import shutil
import subprocess

import pytest

from gate import BINARY, ROOT
from helps import listed
from terminal import Terminal
from waiting import eventually

PAGE = ROOT / "docs" / "portcullis.1"
# What the program says of itself is the same each time: every command is asked once.
SAID = {}


@pytest.fixture
def run(gates):
    gate = gates(start=False)

    def command(*arguments):
        if arguments not in SAID:
            SAID[arguments] = gate.command(*arguments)
        return SAID[arguments]

    return command


def paths(run, *above):
    """Every command of the program, outermost first."""
    for name in listed(run(*above, "--help").stdout):
        yield (*above, name)
        yield from paths(run, *above, name)


def assert_well_formed(*pages):
    if shutil.which("mandoc"):
        words = ["mandoc", "-T", "lint", "-W", "warning"]
    elif shutil.which("groff"):
        words = ["groff", "-mdoc", "-ww", "-Tutf8", "-z"]
    else:
        pytest.skip("neither mandoc nor groff is installed")
    checked = subprocess.run([*words, *map(str, pages)], capture_output=True, text=True)
    assert checked.returncode == 0 and not checked.stdout + checked.stderr, checked


def test_the_page_is_well_formed():
    assert_well_formed(PAGE)


@pytest.fixture(scope="module")
def made_pages(module_folder):
    """The page of each command, as `make install` makes them."""
    subprocess.run([ROOT / "scripts" / "man-pages", BINARY, module_folder], check=True)
    return module_folder


def test_every_command_has_a_page(run, made_pages):
    expected = {"-".join(["portcullis", *command]): command for command in paths(run)}
    assert {page.stem for page in made_pages.iterdir()} == set(expected)
    for name, command in expected.items():
        page = (made_pages / f"{name}.1").read_text()
        assert f".Dt {name.upper()} 1\n" in page and f'\n.Nm "portcullis {" ".join(command)}"\n' in page, name
        # Whoever is on one page finds the ones above and below it.
        assert all(f".Xr {other} 1" in page for other in expected if other.rpartition("-")[0] == name), name
        shown = run(*command, "--help").stdout
        for option in re.findall(r"^  (?:-\w, )?--([a-z-]+)", shown, re.MULTILINE):
            if option not in ("help", "version"):
                assert re.search(rf"^\.It (Fl \w , )?Fl \\-{option}( |$)", page, re.MULTILINE), (name, option)


def test_the_made_pages_are_well_formed(made_pages):
    assert_well_formed(*sorted(made_pages.iterdir()))


def test_the_same_program_makes_the_same_pages(made_pages, folder):
    subprocess.run([ROOT / "scripts" / "man-pages", BINARY, folder], check=True)
    for page in made_pages.iterdir():
        assert page.read_bytes() == (folder / page.name).read_bytes(), page.name


def test_the_page_names_every_command(run):
    page = PAGE.read_text()
    commands = list(paths(run))
    # In groups that a help of ours must not lose.
    assert len({command[0] for command in commands}) >= 20
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
    source = (ROOT / "Sources" / "Operate" / "Prompt" / "ExitStatus.swift").read_text()
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


@pytest.mark.parametrize(
    ["typed", "completed"],
    [
        ("portcullis keys rev", "portcullis keys revoke "),
        ("portcullis dev-c", "portcullis dev-certs "),
        ("portcullis check --hea", "portcullis check --health "),
        ("portcullis simulate phone enroll --platform and", "--platform android "),
        ("portcullis check --config set", "--config settings.env "),
    ],
)
def test_bash_completes(run, folder, typed, completed):
    """In a real bash, by its Tab key."""
    script = folder / "portcullis"
    script.write_text(run("--generate-completion-script", "bash").stdout)
    (folder / "settings.env").touch()
    # No file of the user's or of the system's has a say.
    shell = Terminal(
        ["bash", "--norc", "--noprofile", "-i"],
        columns=200,
        cwd=folder,
        env={"HOME": str(folder), "PATH": "/usr/bin:/bin", "PS1": "ready> ", "TERM": "dumb", "INPUTRC": "/dev/null"},
    )
    try:
        shell.until("ready> ")
        shell.press("source ./portcullis && echo lo''aded\n")
        shell.until("loaded")
        shell.press(typed + "\t")
        shell.until(completed)
    finally:
        shell.close()


@pytest.mark.parametrize(
    ["typed", "completed"],
    [
        ("portcullis keys rev", "portcullis keys revoke "),
        ("portcullis dev-c", "portcullis dev-certs "),
        ("portcullis check --hea", "portcullis check --health "),
    ],
)
def test_zsh_completes(run, folder, typed, completed):
    """In a real zsh, by its Tab key, which finds the script where `make install` puts such."""
    if not shutil.which("zsh"):
        pytest.skip("zsh is not installed")
    (folder / "_portcullis").write_text(run("--generate-completion-script", "zsh").stdout)
    environment = {"HOME": str(folder), "PATH": "/usr/bin:/bin", "PS1": "ready> ", "TERM": "dumb"}
    shell = Terminal(["zsh", "-f", "-i"], columns=200, cwd=folder, env=environment)
    try:
        shell.until("ready> ")
        shell.press(f"fpath=({folder} $fpath); autoload -U compinit; compinit -u -D\n")
        # What is pressed before it reads keys is lost, and Tab is a tab while more keys wait.
        eventually(lambda: shell.shown.count("ready> ") == 2, "zsh to be ready again")
        shell.press(typed)
        shell.until(typed)
        shell.press("\t")
        shell.until(completed)
    finally:
        shell.close()


def test_fish_completes(run, folder):
    if not shutil.which("fish"):
        pytest.skip("fish is not installed")
    (folder / "bin").mkdir()
    (folder / "bin" / "portcullis").symlink_to(BINARY)
    script = folder / "portcullis.fish"
    script.write_text(run("--generate-completion-script", "fish").stdout)
    line = f"source {script}; complete --do-complete 'portcullis keys rev'"
    environment = {"HOME": str(folder), "PATH": f"{folder}/bin:/usr/bin:/bin"}
    done = subprocess.run(["fish", "-N", "-c", line], capture_output=True, text=True, env=environment)
    assert done.stdout.startswith("revoke\t"), done
