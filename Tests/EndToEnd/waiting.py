"""Waits for conditions, each with a deadline and a message: the suite has no other kind of wait."""

import asyncio
import time

STEP = 0.005


def eventually(condition, what, within=5.0):
    """The first truthy value of `condition()`, or a failure that says `what` did not happen."""
    deadline = time.monotonic() + within
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {within} s: {what}")
        time.sleep(STEP)


async def eventually_async(condition, what, within=5.0):
    """`eventually` for a test that has coroutines to keep running meanwhile."""
    deadline = time.monotonic() + within
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {within} s: {what}")
        await asyncio.sleep(STEP)
