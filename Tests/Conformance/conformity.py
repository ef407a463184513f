"""What the programs of this folder share: a gate as an operator would start it, and words for failures."""

import contextlib
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path[:0] = map(str, (pathlib.Path(__file__).resolve().parents[1] / "EndToEnd" / "support").iterdir())

from gate import BINARY, Gate  # noqa: E402 (it is found by the line before)

__all__ = ["BINARY", "Unfit", "echo_gate", "ended_by"]


class Unfit(Exception):
    """The tool could not be run, so that nothing is known."""


@contextlib.contextmanager
def echo_gate(prepare=None, **changes):
    """The program in front of its own echo, with certificates of its own `dev-certs`; it has to end cleanly.
    `prepare` is given the folder of the certificates before it starts."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="gate-"))
    try:
        if not BINARY.exists():
            raise Unfit(f"{BINARY} is not there: build it, or name it by PORTCULLIS_BIN")
        made = subprocess.run([BINARY, "dev-certs", "--directory", folder / "certs"], capture_output=True)
        if made.returncode != 0:
            raise Unfit(f"dev-certs ended with {made.returncode}: {made.stderr.decode()}")
        if prepare:
            prepare(folder / "certs")
        environment = {
            "PORTCULLIS_ENV": "development",
            "BACKEND": "echo:",
            "REQUIRE_APP_AUTH": "false",
            "TLS_CERT_PATH": folder / "certs" / "server.pem",
            "TLS_KEY_PATH": folder / "certs" / "server-key.pem",
            "ATTESTED_KEYS_PATH": folder / "attested-keys.json",
            "CONTROL_SOCKET": folder / "control.sock",
            "HANDSHAKE_RATE": "10000/s",
            "LOG_FORMAT": "json",
            **changes,
        }
        gate = Gate(folder, environment).start()
        gate.authority = folder / "certs" / "ca.pem"
        try:
            yield gate
        finally:
            gate.stop()
    finally:
        shutil.rmtree(folder)


def ended_by(main):
    """Runs `main`; its number is the exit status, and a tool that could not be run is said in one line."""
    try:
        sys.exit(main())
    except Unfit as error:
        sys.exit(f"error: {error}")
