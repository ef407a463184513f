"""Waits for conditions, each with a deadline and a message: the suite has no other kind of wait."""

import asyncio
import os
import time

STEP = 0.005
# What is waited for comes at once, but for a machine that stands still: patience costs nothing where a test passes.
LONG = 20.0
# How much slower the program is than the release's, as its build says: sanitizers take their time.
SLOWNESS = float(os.environ.get("PORTCULLIS_SLOWNESS", "1"))


def patience(seconds):
    """How long to wait for what takes the release `seconds` at most."""
    return seconds * SLOWNESS


def eventually(condition, what, within=LONG):
    """The first truthy value of `condition()`, or a failure that says `what` did not happen."""
    deadline = time.monotonic() + patience(within)
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {within} s: {what}")
        time.sleep(STEP)


async def eventually_async(condition, what, within=LONG):
    """`eventually` for a test that has coroutines to keep running meanwhile."""
    deadline = time.monotonic() + patience(within)
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {within} s: {what}")
        await asyncio.sleep(STEP)
