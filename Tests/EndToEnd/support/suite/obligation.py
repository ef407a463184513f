"""In CI a test that was skipped has failed: a check that did not run shows nothing (Tests/README.md, "In CI").

`CI_CANNOT` names, with commas between them, what that machine is known to lack: words of the reasons of skipped tests.
"""

import os
import re

import pytest


def may_skip(reason, environment=os.environ):
    """Whether a test may be skipped for this reason."""
    if not environment.get("CI"):
        return True
    # The sanitizers' builds leave some tests to the others.
    words = [*filter(None, environment.get("CI_CANNOT", "").split(",")), "sanitizer"]
    return any(re.search(rf"\b{re.escape(word)}\b", reason) for word in words)


def _judge(report):
    if not report.skipped or hasattr(report, "wasxfail"):
        return
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    if not may_skip(reason):
        report.outcome = "failed"
        report.longrepr = f"not to be skipped in CI: {reason}\nCI_CANNOT may name what this machine lacks"


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport():
    outcome = yield
    _judge(outcome.get_result())


@pytest.hookimpl(hookwrapper=True)
def pytest_make_collect_report():
    outcome = yield
    _judge(outcome.get_result())
