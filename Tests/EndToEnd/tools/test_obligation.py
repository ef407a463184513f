"""What was not tried is red in CI: the suite's rule for skipped tests, in a pytest of its own."""

import os
import pathlib
import subprocess
import sys

import pytest

SUITE = pathlib.Path(__file__).resolve().parents[1] / "support" / "suite"
TESTS = """
import pytest

@pytest.fixture
def game():
    pytest.skip("Evennia is not installed: make peers")

@pytest.mark.skipif(True, reason="only the superuser can look")
def test_a_mark(): pass

def test_a_call(): pytest.skip("mounting is not permitted here")

def test_a_fixture(game): pass

@pytest.mark.parametrize("case", [])
def test_nothing_to_try(case): pass

@pytest.mark.xfail
def test_known(): assert False

def test_that_runs(): pass
"""


def run(folder, text, **environment):
    path = folder / "test_it.py"
    path.write_text(text)
    kept = {name: value for name, value in os.environ.items() if name not in ("CI", "CI_CANNOT")}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-rA", "-p", "obligation", "-p", "no:cacheprovider", str(path)],
        env={**kept, "PYTHONPATH": str(SUITE), **environment}, cwd=folder, capture_output=True, text=True,
    )  # fmt: skip
    return done.returncode, done.stdout


@pytest.mark.parametrize(
    "environment, failed",
    [
        ({}, 0),
        ({"CI": ""}, 0),
        ({"CI": "true"}, 4),
        ({"CI": "true", "CI_CANNOT": "superuser,Evennia"}, 2),
        ({"CI": "true", "CI_CANNOT": "super,Even"}, 4),
        ({"CI": "true", "CI_CANNOT": "superuser,Evennia,mounting,empty"}, 0),
    ],
    ids=str,
)
def test_a_skipped_test_has_failed(folder, environment, failed):
    status, said = run(folder, TESTS, **environment)
    assert status == (1 if failed else 0), said
    assert sum(line.startswith(("FAILED ", "ERROR ")) for line in said.splitlines()) == failed, said
    assert ("4 skipped" in said) == (not failed), said


def test_a_skipped_file_has_failed(folder):
    text = 'import pytest\npytest.skip("nothing here", allow_module_level=True)\n'
    assert run(folder, text)[0] == 5  # nothing was collected
    status, said = run(folder, text, CI="true")
    assert status not in (0, 5) and "not to be skipped in CI: Skipped: nothing here" in said, said
