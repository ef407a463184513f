"""The commands in the documents do what the pages say, page by page, in front of a game (docs/developing.md).

Only ports, addresses and keys are not those of the page: many of these tests may run on one machine.
"""

import os
import re
import signal
import socket
import subprocess

import pytest

from backend import mud
from documents import blocks, pages
from gate import BINARY, CRASH_WORDS, free_port, process_environment
from helps import listed
from waiting import eventually, patience

PAGES = {name: text for name, text in pages().items() if name == "README.md" or name.startswith("docs/")}
RUN = ("sh", "console")
# A page that goes on, in the same folder and at the same gate, where another one ends.
GOES_ON = {"docs/codes.md": "docs/approvals.md"}
# The key of the pages' examples.
EXAMPLE_KEY = "TQ9cOWQ9acHRlAMo09m4J5t18zfQuKsKtQ4ypNPJNog="
VARIABLE = [
    (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", "<time>"),
    (r"[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT", "<date>"),
    (r'"nonce":"[0-9a-f]{64}","expires":\d{13}', "<challenge>"),
    (r"[A-Za-z0-9+/]{43}=", "<key>"),
    (r"127\.0\.0\.1:\d+", "<address>"),
    (r"^\d+(?=  (?:attached|detached)  )", "<session>"),
    (r"(?<=  )\d+-[0-9a-f]+(?=  )", "<connection>"),
    (r"(?<=  )\d+(?=  )", "<number>"),
    (r"\bup \d+s\b", "up <seconds>"),
]


def constant(output):
    """The output without what is different each time."""
    for pattern, word in VARIABLE:
        output = re.sub(pattern, word, output, flags=re.MULTILINE)
    return output.replace("\r\n", "\n").rstrip()


def transcript(text):
    """Commands, each with what it prints."""
    commands = []
    for line in text.splitlines():
        if line.startswith("$ "):
            commands.append((line[2:], []))
        elif commands[-1][0].endswith("\\") and not commands[-1][1]:
            commands[-1] = (commands[-1][0] + "\n" + line, [])
        else:
            commands[-1][1].append(line)
    return [(command, "\n".join(output)) for command, output in commands]


class Terminal:
    """A folder with the program in PATH and a game beside it; `serve` goes on while the next commands are run."""

    def __init__(self, folder, backend):
        assert BINARY.exists(), f"{BINARY} is not there: build it, or name it by PORTCULLIS_BIN"
        self.folder, self.port = folder, free_port()
        self.key = None
        self.running = []
        for name in ("config", "home", "bin"):
            (folder / name).mkdir()
        # Clients find the gate where the page has it; here it is on a port of its own.
        program = folder / "bin" / "portcullis"
        program.write_text(
            '#!/bin/sh\ncase "$1 $2" in\n'
            # A phone knows from its code where the gate is.
            f'  "simulate phone") exec {BINARY} "$@" ;;\n'
            f'  "simulate "*) exec {BINARY} "$@" --url wss://localhost:{self.port}/ ;;\n'
            f'  *) exec {BINARY} "$@" ;;\nesac\n'
        )
        program.chmod(0o755)
        self.environment = process_environment(
            {
                "PATH": f"{folder / 'bin'}:{os.environ['PATH']}",
                "HOME": folder / "home",
                "LISTEN": f"127.0.0.1:{self.port}",
                "BACKEND": backend.address,
            }
        )

    def told(self, command):
        """The command as it is run here."""
        command = command.replace("https://localhost:8443", f"https://localhost:{self.port}")
        if self.key:
            command = command.replace(EXAMPLE_KEY, self.key).replace(EXAMPLE_KEY[:8], self.key[:8])
        return command

    def run(self, command):
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", self.told(command)],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=patience(120),
        )
        assert done.returncode == 0, f"{command}\nended with {done.returncode}:\n{done.stdout}{done.stderr}"
        return done.stdout

    def start(self, command, **options):
        """What goes on beside the commands that follow; the gate, until it listens."""
        log = open(self.folder / f"log-{len(self.running)}", "wb")
        with log:
            self.running.append(
                subprocess.Popen(
                    ["bash", "-c", f"exec {command}"],
                    cwd=self.folder,
                    env=self.environment,
                    stdout=log,
                    stderr=log,
                    **options,
                )
            )
        return self.running[-1]

    def listens(self):
        assert self.running[-1].poll() is None, (self.folder / "log-0").read_text()
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def play(self, block):
        """Runs a block; what it prints has to be what the page shows."""
        if block.fence == "console":
            for command, output in transcript(block.text):
                assert constant(self.run(command)) == constant(output), command
            return
        lines = []
        for line in [*block.text.splitlines(), ""]:
            if line.startswith("portcullis serve"):
                self.run("\n".join(lines))
                lines = []
                self.start(line, stdin=subprocess.DEVNULL)
                eventually(self.listens, "listening")
            else:
                lines.append(line)
        if any(lines):
            self.run("\n".join(lines))

    def play_on(self):
        """A player who stays; the pages' examples speak of his key."""
        player = self.start("portcullis simulate connect --ca certs/dev/ca.pem", stdin=subprocess.PIPE)
        eventually(lambda: "assertion" in self.run("portcullis sessions list"), "a session")
        self.key = self.run("portcullis keys list").split()[0]
        return player

    def finish(self):
        for process in reversed(self.running):
            if process.stdin:
                process.stdin.close()
            if process.poll() is None and process is not self.running[0]:
                process.wait(patience(60))
        if self.running:
            self.running[0].send_signal(signal.SIGTERM)
            status = self.running[0].wait(patience(60))
            log = (self.folder / "log-0").read_text(errors="replace")
            assert status == 0 and not any(word in log for word in CRASH_WORDS), (status, log)


@pytest.fixture
def terminal(folder, backends):
    made = Terminal(folder, backends(mud))
    yield made
    made.finish()


def story():
    """What README.md has run until a gate is there and a device has registered."""
    run = [block for block in blocks(PAGES["README.md"]) if block.fence in RUN]
    return run[:2]


def test_the_story_of_the_readme(terminal):
    first, second = story()
    assert "portcullis serve" in first.text and "simulate register" in second.text
    for block in [block for block in blocks(PAGES["README.md"]) if block.fence in RUN]:
        terminal.play(block)


def test_what_check_prints_is_what_the_page_shows(terminal):
    """The same names in the same order; what was found is this machine's."""
    first, _ = story()
    terminal.run(first.text.partition("portcullis check")[0])
    printed = terminal.run("portcullis check --config config/portcullis.env")
    shown = [block.text for block in blocks(PAGES["docs/install.md"]) if block.text.startswith("ok  clock  ")]
    assert len(shown) == 1
    names = [list(dict.fromkeys(line.split("  ")[1] for line in text.splitlines())) for text in (shown[0], printed)]
    assert names[0] == names[1]


@pytest.mark.parametrize(
    "page",
    [
        page
        for page, text in PAGES.items()
        if page != "README.md" and any(block.fence in RUN for block in blocks(text))
    ],
)
def test_a_page(terminal, page):
    shown = [block for name in (GOES_ON.get(page), page) if name for block in blocks(PAGES[name]) if block.fence in RUN]
    if not any("portcullis serve" in block.text for block in shown):
        for block in story():
            terminal.play(block)
        terminal.play_on()
    for block in shown:
        terminal.play(block)


def test_what_says_that_it_is_run_is_run():
    """Pages beside these are not played: what they show says so by its fence."""
    for page, text in pages().items():
        if page not in PAGES:
            assert not [block for block in blocks(text) if block.fence in RUN], page


def test_settings_that_are_shown_are_good(terminal):
    shown = [block for text in PAGES.values() for block in blocks(text) if block.fence == "env"]
    assert shown
    for block in shown:
        (terminal.folder / "shown.env").write_text(block.text)
        stated = dict(line.split("=", 1) for line in block.text.splitlines() if "=" in line)
        for path in [value for name, value in stated.items() if name.startswith("TLS_")]:
            (terminal.folder / path).parent.mkdir(exist_ok=True)
            (terminal.folder / path).touch()
        report = terminal.run("portcullis config --config shown.env")
        assert all(f"\n{name}=" in "\n" + report for name in stated)


def test_options_that_are_shown_exist(terminal):
    helps = {}

    def help_of(*commands):
        if commands not in helps:
            said = terminal.run(" ".join(["portcullis", *commands, "--help"]))
            # A command that may be left out: its options may stand where it would.
            implied = re.search(r"^  (\S+) \(default\)", said, re.MULTILINE)
            helps[commands] = said + (help_of(*commands, implied[1]) if implied else "")
        return helps[commands]

    seen = 0
    for page, text in pages().items():
        shown = "".join(block.text for block in blocks(text) if block.fence.startswith(("sh", "console")))
        for line in shown.replace("\\\n", " ").splitlines():
            for call in re.findall(r"(?:^|[ (])portcullis (.*?)(?=$|[|>;&#)])", line.removeprefix("$ ")):
                commands = []
                for word in call.removeprefix("portcullis ").split():
                    option = word.partition("=")[0]
                    if word in listed(help_of(*commands)):
                        commands.append(word)
                    # The last one is of every command, and its help does not speak of it.
                    elif option.startswith("--") and option != "--generate-completion-script":
                        assert re.search(rf"(?<![\w-]){option}\b", help_of(*commands)), (page, line, option)
                        seen += 1
    assert seen >= 10
