"""The program's own desktop and phone beside each other: by pipes, as the page of devices has it, and what comes between."""

import json
import os
import subprocess

import pytest
from gate import BINARY, process_environment
from waiting import patience

NOBODY, UNUSABLE, REFUSED = 1, 65, 77


@pytest.fixture
def home(development_home, fault):
    """Whoever is near has ten seconds to say so: by clocks that the test moves."""
    household = development_home(**fault.environment)
    fault.stand_still()
    return household


@pytest.fixture
def reception(home):
    added = home.gate.command("services", "add", "reception", "--scopes", "presence")
    assert added.returncode == 0, added.stderr
    (home.gate.folder / "reception.token").write_text(added.stdout)
    return added.stdout.strip()


class Ends:
    """A desktop and a phone, and whoever carries lines from one to the other."""

    def __init__(self, home, fault, state="anna.json"):
        self.device = json.loads((home.gate.folder / state).read_text())["device_id"]
        self.desktop = home.start(
            *("simulate", "desktop", "--url", f"https://localhost:{home.gate.port}"),
            *("--ca", "certs/dev/ca.pem", "--token", "reception.token", "--device", self.device),
            **fault.environment,
        )
        self.phone = home.start(*home.PHONE, "--state", state, "presence")

    def question(self):
        return self.desktop.line()

    def answer(self, question=None):
        self.phone.type(question or self.question())
        return self.phone.line()

    def end(self):
        self.phone.process.stdin.close()
        assert self.phone.wait() == 0, self.phone.complaints


@pytest.fixture
def ends(home, reception, fault):
    home.pair("anna.json")
    return Ends(home, fault)


def events(home):
    rows = json.loads(home.gate.command("audit", "list", "--json").stdout)
    return [row["event"] for row in rows]


def test_a_phone_that_is_near(home, ends):
    question = json.loads(ends.question())
    assert set(question) == {"nonce", "desktop_id", "expires_at"}
    answer = ends.answer()
    assert set(json.loads(answer)) == {"device_id", "nonce", "signed_at", "signature"}
    assert json.loads(answer)["device_id"] == ends.device
    ends.desktop.type(answer)
    assert ends.desktop.wait() == 0, ends.desktop.complaints
    assert "near, for the next" in ends.desktop.complaints
    assert events(home).count("presence_proved") == 1
    # The phone goes on for the next desktop, and ends with its input.
    assert ends.phone.process.poll() is None
    ends.end()


def test_by_a_pipe(home, reception, fault):
    home.pair("anna.json")
    device = home.standing("anna.json")["device_id"]
    (home.gate.folder / "both.sh").write_text(
        "mkfifo answers\n"
        f'"$1" simulate desktop --url https://localhost:{home.gate.port} --ca certs/dev/ca.pem \\\n'
        f"  --token reception.token --device {device} 0<>answers |\n"
        '  "$1" simulate phone --state anna.json presence > answers\n'
    )
    done = subprocess.run(
        ["sh", "-e", "both.sh", str(BINARY)],
        cwd=home.gate.folder,
        env=process_environment({**os.environ, **fault.environment}),
        capture_output=True,
        text=True,
        timeout=patience(60),
    )
    assert done.returncode == 0 and "near, for the next" in done.stderr, done
    assert events(home).count("presence_proved") == 1


def test_lines_of_somebody_elses(home, ends, fault):
    """What was answered to another question, or by another phone, is not taken to the gate."""
    other = Ends(home, fault)
    foreign = other.answer()
    ends.desktop.type("nonsense")
    ends.desktop.type(foreign)
    ends.desktop.says("not the phone's answer")
    ends.desktop.type(ends.answer())
    assert ends.desktop.wait() == 0, ends.desktop.complaints
    other.desktop.type(foreign)
    assert other.desktop.wait() == 0


def test_a_phone_that_was_revoked(home, ends, fault):
    answer = ends.answer()
    assert home.gate.command("devices", "revoke", ends.device).returncode == 0
    ends.desktop.type(answer)
    assert ends.desktop.wait() == REFUSED and "presence_rejected" in ends.desktop.complaints
    again = Ends(home, fault)
    assert again.desktop.wait() == REFUSED and "presence_rejected" in again.desktop.complaints


def test_nobody_answers(home, ends):
    ends.question()
    ends.desktop.process.stdin.close()
    assert ends.desktop.wait() == NOBODY
    assert "no phone has answered" in ends.desktop.complaints


def test_what_is_no_question(home, ends, fault):
    ends.phone.type("who are you?")
    ends.phone.says("not what a desktop asks")
    ends.phone.process.stdin.close()
    assert ends.phone.wait() == UNUSABLE
    (home.gate.folder / "reception.token").write_text("two words\n")
    assert Ends(home, fault).desktop.wait() == UNUSABLE
