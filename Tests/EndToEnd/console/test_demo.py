"""`portcullis demo --console`: the story ends with a console that can be looked at, until Enter, Ctrl-C or the end of input."""

import re
import signal
import subprocess

import pytest
from browser import Mouse
from gate import BINARY, process_environment
from waiting import eventually, patience

ADDRESS = re.compile(r"  (http://127\.0\.0\.1:\d+/sign-in/\S+)")


class Demo:
    def __init__(self, folder):
        self.log = folder / "demo.log"
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                [BINARY, "demo", "--console"], cwd=folder, stdin=subprocess.PIPE, stdout=log, stderr=log,
                env=process_environment({"PATH": "/usr/bin:/bin", "TMPDIR": str(folder)}),
            )  # fmt: skip

    def address(self):
        def find():
            assert self.process.poll() is None, self.log.read_text()
            return ADDRESS.search(self.log.read_text())

        return eventually(find, "the address of the console", within=120)[1]

    def status(self):
        return self.process.wait(patience(60))


@pytest.fixture
def demo(folder):
    made = Demo(folder)
    yield made
    if made.process.poll() is None:
        made.process.kill()
    made.process.wait()
    made.process.stdin.close()


def test_there_is_something_to_look_at(demo, window):
    window.open(demo.address())
    hands = Mouse(window)
    hands.press("Sign in")
    eventually(lambda: "Waits for you: 1 request, 1 phone" in window.text, "what waits is said")
    hands.follow("Sessions")
    assert len(window.every("tbody tr")) == 2 and "Anna's phone" in window.text
    hands.follow("Approvals")
    assert "promote" in window.text and "Bob asks to restart the game" in window.text
    hands.follow("Refusals")
    assert "key_revoked" in window.text
    digits = re.search(r"Carla's phone shows ([\d ]+):", demo.log.read_text())[1]
    hands.follow("Devices")
    hands.follow("Carla's phone")
    hands.fill("Six digits", digits)
    hands.press("Confirm the device")
    assert "The device is confirmed." in window.text
    demo.process.stdin.write(b"\n")
    demo.process.stdin.flush()
    assert demo.status() == 0, demo.log.read_text()
    assert "Every step did as it should." in demo.log.read_text()


@pytest.mark.parametrize("end", ["end of input", "interrupt"])
def test_it_ends_without_a_visitor_too(demo, folder, end):
    demo.address()
    if end == "interrupt":
        demo.process.send_signal(signal.SIGINT)
    else:
        demo.process.stdin.close()
    assert demo.status() == 0, demo.log.read_text()
    assert not list(folder.glob("portcullis-demo-*"))
