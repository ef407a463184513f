"""How the console looks and what it leaves out: every page in light and dark, on a phone and on a desk, full and empty.

Light at the desk and dark on the phone; with CI, SHOTS or ALL_SCREENS the other two as well. With SHOTS=FOLDER each page is
photographed as it is judged (`make console-shots`)."""

import os
import pathlib
import re

import browser
import pytest
import yesterday
from browser import SCHEMES, WIDTHS, Mouse
from consoles import Reader
from waiting import eventually

SHOTS = os.environ.get("SHOTS")
SCREENS = [(1280, "light"), (320, "dark")]
if SHOTS or os.environ.get("CI") or os.environ.get("ALL_SCREENS"):
    SCREENS = [(width, scheme) for width in WIDTHS for scheme in SCHEMES]

pytestmark = pytest.mark.long("each page on each screen, judged by axe-core")


@pytest.fixture(scope="module")
def town(build_town):
    """With a day behind it."""
    return build_town(prepare=lambda keys: yesterday.write(keys.with_name(keys.name + ".history")))


# The name of a picture, and where it is.
PAGES = {
    "overview": lambda town: "/",
    "hours": lambda town: "/hours",
    "sessions": lambda town: "/sessions",
    "session": lambda town: town.session(),
    "session-end": lambda town: town.session() + "/end",
    "search": lambda town: "/search?find=203.0.113.24",
    "search-person": lambda town: "/search?find=ben",
    "search-none": lambda town: "/search?find=zzzz",
    "keys": lambda town: "/keys",
    "keys-none": lambda town: "/keys?text=zzzzzzzz",
    "keys-wrong": lambda town: "/keys?since=yesterday",
    "key": lambda town: town.key(),
    "key-revoke": lambda town: town.key() + "/revoke",
    "devices": lambda town: "/devices",
    "device": lambda town: town.device(town.phones[0]),
    "pair": lambda town: "/devices/pair",
    "device-confirm": lambda town: town.device(town.pair("Hanna").device) + "/confirm",
    "device-revoke": lambda town: town.device(town.phones[0]) + "/revoke",
    "approvals": lambda town: "/approvals",
    "approval": lambda town: town.approval("operator"),
    "refusals": lambda town: "/refusals",
    "audit": lambda town: "/audit",
    "audit-verified": lambda town: "/audit?verify=1",
    "configuration": lambda town: "/configuration",
    "drain": lambda town: "/drain",
    "drain-end": lambda town: "/drain/end",
    "not-found": lambda town: "/sessions/999999",
}
EMPTY = ["/", "/sessions", "/keys", "/refusals", "/configuration", "/drain"]
# The audit has who signs in, on any day but that.
UNVISITED = {"devices": "/devices", "approvals": "/approvals", "audit": "/audit?day=2001-01-01"}


def judge(window, name):
    """The page that is shown, on every screen."""
    found = []
    for width, scheme in SCREENS:
        window.screen(width, scheme)
        where = f"{name}, {width} px, {scheme}"
        if SHOTS:
            folder = pathlib.Path(SHOTS)
            folder.mkdir(parents=True, exist_ok=True)
            window.picture(folder / f"{name}-{width}-{scheme}.png")
        found += [f"{where}: {text}" for text in window.violations()]
        found += [f"{where}: sideways: {text}" for text in window.sideways()]
        found += [f"{where}: broken: {text}" for text in window.broken_words()]
    window.screen()
    return found


needs_axe = pytest.mark.skipif(not browser.AXE.exists(), reason="axe-core is not installed: make axe")


@needs_axe
def test_a_full_console(window, town):
    town.console.sign_in(window)
    window.complaints()
    found = []
    for name, path in PAGES.items():
        town.console.open(window, path(town))
        found += judge(window, name)
        if name != "not-found":
            found += [f"{name}: {text}" for text in window.complaints()]
    assert not found, "\n".join(found)


@needs_axe
def test_forms_that_were_not_accepted_and_a_gate_that_drains(window, town):
    """Pages that are only there after something was done."""
    town.console.sign_in(window)
    hands = Mouse(window)
    pairing = town.pair("Ida")
    town.console.open(window, town.device(pairing.device) + "/confirm")
    hands.fill("Six digits", f"{(int(pairing.digits) + 1) % 1_000_000:06d}")
    hands.press("Confirm the device")
    found = judge(window, "device-confirm-wrong")
    town.console.open(window, town.key() + "/revoke")
    hands.fill("Why", "\u202e\u0007")
    hands.press("Revoke the key")
    assert "This did not work" in window.text
    found += judge(window, "key-revoke-wrong")
    town.console.open(window, "/devices/pair")
    hands.fill("Subject", "jana")
    hands.press("Show the code")
    found += judge(window, "pairing")
    code = window.run("return document.querySelector('summary + code').textContent")
    town.household.scan(town.gate.folder / "jana.json", code, "--name", "Jana’s phone").line()
    eventually(lambda: "shows six digits" in window.text, "the page says so by itself")
    found += judge(window, "pairing-revealed")
    hands.press("Give the pairing up")
    town.console.open(window, "/drain")
    hands.press("Begin to drain")
    found += judge(window, "drain-draining")
    hands.follow("Overview")
    found += judge(window, "overview-draining")
    hands.follow("Drain")
    hands.press("Take new players again")
    assert not found, "\n".join(found)


@needs_axe
def test_an_empty_console(window, empty):
    empty.sign_in(window)
    found = []
    for path in EMPTY:
        empty.open(window, path)
        found += judge(window, f"empty-{path.strip('/') or 'overview'}")
        found += [f"{path}: {text}" for text in window.complaints()]
    assert not found, "\n".join(found)


@needs_axe
def test_a_console_with_no_device(window, unvisited):
    unvisited.sign_in(window)
    found = []
    for name, path in UNVISITED.items():
        unvisited.open(window, path)
        assert not window.every("tbody tr a"), path
        found += judge(window, f"empty-{name}")
        found += [f"{path}: {text}" for text in window.complaints()]
    assert not found, "\n".join(found)


@needs_axe
def test_the_door(window, empty):
    """Before somebody has signed in, and with a link that is none."""
    found = []
    for name, path in {"sign-in": "/sign-in", "sign-in-ended": "/sign-in/" + "A" * 43}.items():
        empty.open(window, path)
        found += judge(window, name)
    window.open(empty.link())
    found += judge(window, "sign-in-button")
    assert not found, "\n".join(found)


def test_the_day_before_is_a_line(window, town, empty):
    """Behind today, over a restart as well; where none is known nothing is drawn."""
    town.console.sign_in(window)
    lines = [path.get_attribute("d") for path in window.every(".chart path.before")]
    assert len(lines) == 5 and all(lines)
    assert "The thin line is the day before." in window.text
    drawing = window.one("svg[data-chart=chart-players]")
    assert "the day before at this time" in drawing.get_attribute("aria-label")
    window.run(
        """const box = arguments[0].getBoundingClientRect();
      arguments[0].dispatchEvent(new PointerEvent('pointermove', {clientX: box.right - 60, clientY: box.top + 9}))""",
        drawing,
    )
    read = window.run("return [...document.querySelector('figure.chart').querySelectorAll('.note')].at(-1).textContent")
    today, before = re.fullmatch(r"\d\d:\d\d: (\d+) · the day before (\d+)", read).groups()
    assert int(before) < int(today)
    charts = Reader(town.console).json("/api/overview")["charts"]
    assert all(chart["before"] for name, chart in charts.items() if name != "strip")
    empty.sign_in(window)
    assert [path.get_attribute("d") for path in window.every(".chart path.before")] == [""] * 5
    assert "day before" not in window.text
