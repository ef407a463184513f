"""How an operator works in the console: by keyboard alone with the focus in sight, or by mouse without script."""

import contextlib

import pytest
from browser import Keyboard, Mouse


@pytest.fixture(
    params=[pytest.param("keyboard", marks=pytest.mark.long("each task a second time")), "without script"],
    scope="module",
)
def way(request):
    return request.param


@pytest.fixture
def hands(way, window, town):
    """Signed in, in a window that shows the overview."""
    with contextlib.ExitStack() as stack:
        if way == "without script":
            stack.enter_context(window.without_script())
        hands = (Keyboard if way == "keyboard" else Mouse)(window)
        town.console.sign_in(window, type(hands))
        yield hands
