"""`portcullis pair` at a terminal and in a script, against a control socket that says what a test wants."""

import os
import signal
import subprocess
import time

import pytest
import qr_screen
from gate import BINARY, process_environment
from screen import Screen
from scripted_control import Refused, ScriptedControl
from terminal import Terminal
from waiting import LONG, eventually, patience

PAIRING = "7f6d2a5e-9d3c-4a63-8d2b-0f4b1f6f0a11"
URI = (
    "PORTCULLIS:/1/P5WSUXU5HRFGHDJLB5FR63YKCE/AAAQEAYEAUDAOCAJBIFQYDIOB4"
    "/AAEBAGBAFAYDQQCIKBMGA2DQPCAIREEYUCULBOGAZDINRYHI6D4A/GATE.EXAMPLE.COM:8443"
)
DIGITS = "042137"


class Pairing:
    """What the gate knows: a phone comes when a test lets it, and three wrong digits end it."""

    def __init__(self):
        self.stage, self.wrong, self.name = "open", 0, "Anna's phone"
        self.platform, self.uri, self.level, self.uv = "ios", URI, "bare", "app"

    def open(self, arguments):
        return {"pairing_id": PAIRING, "uri": self.uri, "expires_at": int(time.time()) + 300}

    def status(self, arguments):
        assert arguments["pairing_id"] == PAIRING
        known = {}
        if self.stage != "open":
            known = {"device_name": self.name, "platform": self.platform, "level": self.level, "uv": self.uv}
        return {"status": self.stage, "expires_at": int(time.time()) + 300, **known}

    def confirm(self, arguments):
        assert arguments["pairing_id"] == PAIRING
        if arguments["sas"] == DIGITS:
            self.stage = "active"
            return {}
        self.wrong += 1
        if self.wrong == 3:
            self.stage = "refused"
        return Refused("not_allowed", "these are not the digits that the phone shows")

    def burn(self, arguments):
        self.stage = "refused"
        return {}


@pytest.fixture
def pairing():
    return Pairing()


@pytest.fixture
def control(tmp_path, pairing):
    answers = {f"pair-{verb}": getattr(pairing, verb) for verb in ("open", "status", "confirm", "burn")}
    server = ScriptedControl(tmp_path / "control.sock", answers)
    yield server
    server.close()


def environment(tmp_path):
    return process_environment(
        {"PATH": os.environ["PATH"], "CONTROL_SOCKET": tmp_path / "control.sock", "TERM": "xterm"}
    )


@pytest.fixture
def at_terminal(tmp_path, control):
    """Starts the command in a terminal of so many columns."""
    opened = []

    def start(*arguments, columns=100, rows=50):
        terminal = Terminal(
            [str(BINARY), "devices", "pair", *arguments],
            columns=columns,
            rows=rows,
            cwd=tmp_path,
            env=environment(tmp_path),
        )
        opened.append(terminal)
        return terminal

    yield start
    for terminal in opened:
        terminal.close()


@pytest.fixture
def in_script(tmp_path, control):
    started = []

    def start(*arguments):
        process = subprocess.Popen(
            [str(BINARY), "devices", "pair", *arguments],
            cwd=tmp_path,
            env=environment(tmp_path),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        if process.poll() is None:
            process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            stream.close()


@pytest.mark.skipif(qr_screen.READER is None, reason="needs Debian's zbar-tools")
def test_the_code_on_the_screen_is_read_by_another_program(at_terminal, pairing, tmp_path):
    terminal = at_terminal()
    terminal.until("waiting for a phone")
    assert qr_screen.read(terminal.shown, tmp_path) == URI
    assert URI not in terminal.shown


def test_the_digits_from_the_phone_let_it_in(at_terminal, control, pairing):
    terminal = at_terminal("--subject", "anna", "--name", "Anna's second phone")
    terminal.until("waiting for a phone that scans the code 4:")
    pairing.stage = "phone"
    terminal.until('"Anna\'s phone" has scanned the code')
    pairing.stage = "revealed"
    terminal.until("(level bare, uv app): type the six digits")
    terminal.press(f"{DIGITS[:3]} {DIGITS[3:]}\n")
    terminal.until('"Anna\'s phone" is paired')
    assert terminal.wait() == 0
    assert control.asked[0] == ("pair-open", {"subject": "anna", "name": "Anna's second phone"})
    assert ("pair-confirm", {"pairing_id": PAIRING, "sas": DIGITS}) in control.asked


def test_time_is_counted_above_what_is_being_typed(at_terminal, pairing):
    pairing.stage = "revealed"
    terminal = at_terminal()
    terminal.until("type the six digits")
    terminal.press("0421")
    # Each second goes up a line, and back to where the cursor was.
    terminal.until("\x1b7\x1b[1A\r\x1b[K")
    assert not terminal.takes_keys
    terminal.press("37\n")
    assert terminal.wait() == 0


def test_three_wrong_ones_end_it(at_terminal, control, pairing):
    pairing.stage = "revealed"
    terminal = at_terminal()
    terminal.until("type the six digits")
    for wrong in ("000000", "111111", "222222"):
        terminal.press(wrong + "\n")
        eventually(lambda wrong=wrong: ("pair-confirm", {"pairing_id": PAIRING, "sas": wrong}) in control.asked, wrong)
    assert terminal.wait() == 1
    terminal.until("the pairing is over")
    assert terminal.shown.count("these are not the digits") == 3


def test_what_is_no_digits_counts_nothing(at_terminal, control, pairing):
    terminal = at_terminal()
    terminal.until("waiting for a phone")
    terminal.press(f"\n{DIGITS}\n")
    terminal.until("no phone has answered yet")
    pairing.stage = "revealed"
    terminal.until("type the six digits")
    terminal.press("\n  \n12345\n1234567\n12345x\n")
    eventually(lambda: terminal.shown.count("six digits, as the phone shows them") == 3, "three words about it")
    assert control.count("pair-confirm") == 0
    terminal.press(DIGITS + "\n")
    assert terminal.wait() == 0


def test_digits_that_are_typed_early_wait_for_the_phone(at_terminal, control, pairing):
    terminal = at_terminal()
    pairing.stage = "phone"
    terminal.until("has scanned the code")
    terminal.press(DIGITS + "\n")
    looks = control.count("pair-status")
    eventually(lambda: control.count("pair-status") > looks + 2, "looks at how it stands")
    assert control.count("pair-confirm") == 0
    pairing.stage = "revealed"
    assert terminal.wait() == 0


def test_control_c_burns_it(at_terminal, control, pairing):
    terminal = at_terminal()
    terminal.until("waiting for a phone")
    terminal.press("\x03")
    assert terminal.wait() == 128 + signal.SIGINT
    assert control.asked[-1] == ("pair-burn", {"pairing_id": PAIRING})


def uri(host):
    return URI.replace("GATE.EXAMPLE.COM:8443", host)


# Fifteen characters, and forty-four: 25 and 27 lines of the code that is read most easily.
HOSTS = ["10.0.0.123:8443", "GGGGATE.SOMEWHERE.IN.A.LONG.EXAMPLE.ORG:8443"]


@pytest.mark.skipif(qr_screen.READER is None, reason="needs Debian's zbar-tools")
@pytest.mark.parametrize("host", HOSTS, ids=[f"{len(host)} characters" for host in HOSTS])
def test_a_window_of_80_by_24_shows_all_of_the_code_and_what_stands_below_it(at_terminal, pairing, tmp_path, host):
    pairing.uri = uri(host)
    terminal = at_terminal(columns=80, rows=24)
    terminal.until("waiting for a phone that scans the code 4:")
    # The window as it is, also when the time has been written over.
    terminal.until("\x1b8" if len(host) > 20 else "\x1b7\x1b[1A")
    screen = Screen(terminal.shown, 80, 24)
    assert qr_screen.read(screen.code(), tmp_path) == pairing.uri
    assert "waiting for a phone that scans the code 4:" in "\n".join([line for line in screen.lines if line][-2:]), screen.lines


@pytest.mark.parametrize("name", ["x", "Anna's phone with a very long name, as long as such a name may be, and still more", "電話" * 20])
def test_what_is_typed_stays_on_a_line_that_it_shares(at_terminal, control, pairing, name):
    """With the longest words that there are for a phone's standing."""
    pairing.uri, pairing.name, pairing.level, pairing.uv = uri(HOSTS[1]), name, "hardware_attested", "hardware"
    terminal = at_terminal(columns=80, rows=24)
    terminal.until("waiting for a phone")
    pairing.stage = "revealed"
    terminal.until("(hardware_attested, uv hardware): type its six digits")
    terminal.press("0421")
    writes = terminal.shown.count("\x1b8")
    eventually(lambda: terminal.shown.count("\x1b8") > writes + 1, "the time, written over")
    line = Screen(terminal.shown[: terminal.shown.rindex("\x1b8") + 2], 80, 24).lines[-1]
    assert line.endswith(" > 0421") and "type its six digits 4:5" in line, line
    terminal.press("37\n")
    assert terminal.wait() == 0
    assert control.count("pair-confirm") == 1


@pytest.mark.parametrize(
    ["columns", "rows", "here"],
    [
        (40, 50, "this one has 40 columns and 50 rows"),
        (79, 22, "this one has 79 columns and 22 rows"),
        (0, 0, "this one does not say how large it is"),
    ],
)
def test_a_window_that_is_too_small_gets_the_text_and_which_one_would_do(at_terminal, pairing, columns, rows, here):
    terminal = at_terminal(columns=columns, rows=rows)
    terminal.until(f"portcullis: a window of 46 columns and 23 rows shows the code; {here}\r\n")
    terminal.until("waiting for a phone")
    assert URI in terminal.shown and "▀" not in terminal.shown


@pytest.mark.skipif(qr_screen.READER is None, reason="needs Debian's zbar-tools")
def test_the_window_that_is_named_does(at_terminal, pairing, tmp_path):
    terminal = at_terminal(columns=46, rows=23)
    terminal.until("waiting for a phone that scans the code")
    screen = Screen(terminal.shown, 46, 23)
    assert qr_screen.read(screen.code(), tmp_path) == URI


@pytest.mark.parametrize("stage", ["phone", "revealed"])
def test_a_phone_of_another_platform_than_was_asked_for_ends_it(at_terminal, control, pairing, stage):
    pairing.platform = "android"
    terminal = at_terminal("ios")
    terminal.until("waiting for a phone")
    pairing.stage = stage
    terminal.until("is of the platform android, and pair ios was asked for: the pairing is over")
    assert terminal.wait() == 1
    assert control.asked[-1] == ("pair-burn", {"pairing_id": PAIRING}) and control.count("pair-confirm") == 0


def test_a_phone_of_the_platform_that_was_asked_for_is_let_in(at_terminal, pairing):
    terminal = at_terminal("ios")
    pairing.stage = "revealed"
    terminal.until("type the six digits")
    terminal.press(DIGITS + "\n")
    assert terminal.wait() == 0


def test_a_platform_that_there_is_none_of_is_refused(in_script, control):
    process = in_script("windows")
    assert process.wait(patience(LONG)) == 64 and control.count("pair-open") == 0


def test_a_phones_name_cannot_pass_for_the_program(at_terminal, pairing):
    pairing.stage, pairing.name = "revealed", "x\x1b[2J\u202e is paired"
    terminal = at_terminal()
    terminal.until('"x\\u001b[2J\\u202e is paired" (level bare, uv app)')


def test_a_script_gets_the_text_and_types_lines(in_script, control, pairing):
    process = in_script("--subject", "anna")
    assert process.stdout.readline() == URI + "\n"
    process.stdin.write("\n")
    process.stdin.flush()
    pairing.stage = "revealed"
    eventually(lambda: control.count("pair-status") > 2, "a look at how it stands")
    process.stdin.write("999999\n\n" + DIGITS + "\n")
    process.stdin.flush()
    assert process.wait(patience(LONG)) == 0
    assert process.stdout.read() == ""
    assert 'Anna\'s phone" is paired' in process.stderr.read()


def test_a_script_that_ends_its_input_burns_it(in_script, control, pairing):
    process = in_script()
    assert process.stdout.readline() == URI + "\n"
    process.stdin.close()
    assert process.wait(patience(LONG)) == 1
    assert control.asked[-1] == ("pair-burn", {"pairing_id": PAIRING})


def test_a_pairing_that_is_gone_is_refused(in_script, control, pairing):
    process = in_script()
    assert process.stdout.readline() == URI + "\n"
    control.answers["pair-status"] = lambda arguments: Refused("unknown_object", "there is no such pairing")
    assert process.wait(patience(LONG)) == 1


def test_what_the_gate_refuses_is_said(in_script, control):
    control.answers["pair-open"] = lambda arguments: Refused("devices_off", "the running gate has no devices")
    process = in_script()
    assert process.wait(patience(LONG)) == 78
    assert "the running gate has no devices" in process.stderr.read()
