"""Several workers share one machine (pytest-xdist): a test that is marked `alone` runs while no other does, and the files
that take longest come first."""

import contextlib
import fcntl
import os
import pathlib

WORKER = os.environ.get("PYTEST_XDIST_WORKER", "gw0")
WORKERS = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
NUMBER = int(WORKER.removeprefix("gw"))

# Two files that are there anyway, to be locked: whoever waits for the hall stands in the door, so that nobody who comes
# later goes in before.
FOLDER = pathlib.Path(__file__).resolve().parents[2]
DOOR, HALL = FOLDER / "pytest.ini", FOLDER / "conftest.py"

# A file is one worker's: what begins last should not be what takes longest. In the order of a run with `--durations=0`.
LONGEST = (
    "test_tasks",
    "test_device_commands",
    "test_revocation_disk",
    "test_restart",
    "test_devices",
    "test_crash",
    "test_backup",
    "test_starts",
    "test_registry_disk",
    "test_looks",
    "test_resuming",
    "test_pairing",
    "test_live",
    "test_telnet",
    "test_package",
    "test_supervise",
    "test_strictness",
    "test_apple",
    "test_floods",
)


def place(path):
    """Of a file among the others: those that are not named keep their order after these."""
    return LONGEST.index(path.stem) if path.stem in LONGEST else len(LONGEST)


@contextlib.contextmanager
def turn(alone):
    """Holds while other workers' tests run, and none of theirs while it is `alone`."""
    with contextlib.ExitStack() as stack:
        if WORKERS > 1:
            hall = stack.enter_context(open(HALL))
            with open(DOOR) as door:
                fcntl.flock(door, fcntl.LOCK_EX)
                fcntl.flock(hall, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
        yield
