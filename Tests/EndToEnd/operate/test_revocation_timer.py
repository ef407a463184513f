"""The units that fetch the list of revoked Android attestation keys: what systemd says of them, and what they do."""

import http.server
import re
import resource
import shlex
import shutil
import ssl
import subprocess
import threading

import pytest

from gate import BINARY, ROOT

UNIT = ROOT / "config" / "portcullis-android-revocation.service"
TIMER = UNIT.with_suffix(".timer")
PROGRAM = "/usr/local/bin/portcullis"
LIMIT = 16 << 20
LIST = "https://android.googleapis.com/attestation/status"
OLD = '{"entries": {}}\n'
NEW = b'{"entries": {"6681152659205225093": {"status": "REVOKED", "reason": "KEY_COMPROMISE"}}}\n'


@pytest.mark.parametrize("unit", [UNIT, TIMER], ids=lambda path: path.suffix)
def test_systemd_has_nothing_to_say_against_them(unit, folder):
    if not shutil.which("systemd-analyze"):
        pytest.skip("systemd-analyze is not there (Debian's package systemd)")
    # The timer wants its service beside it.
    for path in (UNIT, TIMER):
        (folder / path.name).write_text(path.read_text().replace(PROGRAM, str(BINARY)))
    done = subprocess.run(
        ["systemd-analyze", "--no-pager", "verify", folder / unit.name], capture_output=True, text=True, timeout=120
    )
    said = [line for line in done.stderr.splitlines() if "portcullis" in line]
    assert done.returncode == 0 and not said, done.stderr


def test_the_timer_leaves_time_for_failures():
    """Of the seven days that the gate gives a list, a fetch that fails costs a few hours."""
    assert "OnCalendar=*-*-* 00/6:00:00" in TIMER.read_text() and "Persistent=true" in TIMER.read_text()


class Google:
    """Answers with what it is told to, over TLS."""

    def __init__(self, pki):
        answer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(answer.status)
                for field, value in answer.fields.items():
                    self.send_header(field, value)
                self.end_headers()
                self.wfile.write(answer.body)
                self.close_connection = True

            def log_message(self, *_):
                pass

        self.status, self.body, self.fields = 200, NEW, {}
        self.server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(pki.server_certificate, pki.server_key)
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def google(pki):
    google = Google(pki)
    google.authority = pki.server_ca
    yield google
    google.close()


def fetch(folder, google):
    """What systemd does with the unit: its commands one after the other, until one fails."""
    commands = re.findall(r"^ExecStart=(.*)$", UNIT.read_text().replace(PROGRAM, str(BINARY)), re.M)
    assert len(commands) == 4 and "\nLimitFSIZE=16M\n" in UNIT.read_text()
    for command in commands:
        words = shlex.split(command.replace(LIST, f"https://localhost:{google.server.server_port}/status"))
        if words[0].endswith("curl"):
            assert words[-1].startswith("https://localhost:")
            # A fetch that fails for now is tried again, which the test need not wait for.
            words += ["--cacert", google.authority, "--retry", "0"]
        done = subprocess.run(
            words, cwd=folder, capture_output=True, text=True, timeout=60,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (LIMIT, LIMIT)),
        )  # fmt: skip
        if done.returncode:
            return done.returncode
    return 0


def test_a_fetch_puts_the_new_list_in_the_place_of_the_old(folder, google):
    if not shutil.which("curl"):
        pytest.skip("curl is not there")
    (folder / "status.json").write_text(OLD)
    google.fields = {"Last-Modified": "Thu, 01 Jan 2015 00:00:00 GMT"}
    assert fetch(folder, google) == 0
    assert (folder / "status.json").read_bytes() == NEW
    # Its age is that of the fetch, and not what somebody has written into the answer.
    assert (folder / "status.json").stat().st_mtime > 1_700_000_000
    assert not (folder / "status.json.new").exists()


def test_a_list_of_the_largest_size_is_taken(folder, google):
    google.body = NEW.ljust(LIMIT)
    assert fetch(folder, google) == 0
    assert (folder / "status.json").stat().st_size == LIMIT


@pytest.mark.parametrize(
    "answer",
    [
        {"status": 404},
        {"status": 500},
        {"body": b"<html>Please sign in</html>"},
        {"body": b""},
        {"fields": {"Content-Length": str(len(NEW) + 1)}},
        {"fields": {"Content-Length": str(17 << 20)}},
        {"body": NEW.ljust(LIMIT + 1)},
        {"body": NEW[:-3]},
        {"body": b'<html>"entries"</html>'},
        {"body": b'{"entries": {"6681152659205225093": "REVOKED"}}'},
        {"body": b'{"entries": []}'},
        {"status": 302, "fields": {"Location": "http://localhost:1/"}},
    ],
    ids=[
        "missing", "failing", "another page", "nothing", "cut off", "too long", "endless", "cut off without a length",
        "a page with the word", "an entry of another shape", "entries of another shape", "not over TLS",
    ],  # fmt: skip
)
def test_a_fetch_that_fails_leaves_the_old_list(folder, google, answer):
    if not shutil.which("curl"):
        pytest.skip("curl is not there")
    (folder / "status.json").write_text(OLD)
    for name, value in answer.items():
        setattr(google, name, value)
    assert fetch(folder, google) != 0
    assert (folder / "status.json").read_text() == OLD
