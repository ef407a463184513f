"""How many steps an operator needs for what is done most: a step is a link that is followed or a form that is sent, without
script by mouse and by keyboard alone."""

import pytest
from clients import UPGRADE
from consoles import OPERATOR
from test_tasks import done
from town import fields
from waiting import eventually


class Counted:
    """Hands whose steps are counted."""

    def __init__(self, hands):
        self.hands, self.steps = hands, 0

    def follow(self, name):
        self.steps += 1
        self.hands.follow(name)

    def press(self, name):
        self.steps += 1
        self.hands.press(name)

    def fill(self, name, text):
        self.hands.fill(name, text)


@pytest.fixture(scope="module")
def town(way, build_town):
    return build_town(APPROVAL_OPERATORS=OPERATOR)


@pytest.fixture
def operator(hands):
    """On the overview; nothing is counted yet."""
    return Counted(hands)


def test_what_waits_for_me(operator, window, town):
    def waits():
        town.console.open(window, "/")
        return "Waits for you: 2 requests, 2 phones" in window.text

    eventually(waits, "the overview says what waits")
    assert "The game restarts in ten minutes." in window.text and "Frida’s phone" in window.text
    assert operator.steps == 0
    # On every page its number, also where nothing else of it is.
    town.console.open(window, "/drain")
    menu = window.one("nav.menu").text
    assert "Devices\n2" in menu and "Approvals\n2" in menu
    town.console.open(window, "/")
    operator.follow("shutdown")
    assert "The game restarts in ten minutes." in window.text and "Confirm" in window.text


def test_tonights_load(operator, window):
    text = window.one(".charts").text
    assert "Players" in text and "most 1" in text and operator.steps == 0
    # Something stands on the clock, and the page says on whose.
    assert window.run("return document.querySelectorAll('.hours text').length") >= 4
    assert "Hours are" in window.text
    assert "Collecting since" in window.text


def test_who_plays(operator, window, town):
    operator.follow("Sessions")
    rows = [row.text for row in window.every("table[data-table=sessions] tbody tr")]
    assert operator.steps == 1 and len(rows) >= 10
    assert any("Ben’s phone" in row and "203.0.113.24" in row for row in rows)


def test_one_session_is_ended(operator, window, town):
    operator.follow("Sessions")
    before = operator.steps
    name = window.one("table[data-table=sessions] tbody th").text.split("\n")[0]
    operator.follow("End…")
    assert name in window.text
    operator.press("End the session")
    done(window, "The session has been ended.")
    assert operator.steps - before == 2


@pytest.mark.parametrize("person", ["emil", "Emil’s phone", "a key"])
def test_why_somebody_does_not_get_in(operator, window, town, person):
    """By the phone's name, by the key's beginning: what was refused, and what to do."""
    if person == "a key":
        name, code, advice = town.keys[-1].key_id_b64[:8], "key_revoked", "the key is revoked, and its phone still tries"
    else:
        if person == "emil":
            # Whose phone it is, an operator has said; it waits to be confirmed.
            person = "Emil"
        town.refused(403, "/", *UPGRADE, *fields(town.waiting.headers()))
        name, code, advice = person, "device_pending", "The phone waits to be confirmed"
    operator.fill("Find a player, key, phone or address", name)
    operator.press("Find")
    assert window.heading == "Search" and operator.steps <= 2
    rows = [row.text for row in window.every("table[data-table=refusals] tbody tr")]
    assert rows and all(code in row and advice in row for row in rows), rows


def test_refusals_of_one_key_device_or_address(operator, window, town):
    stranger = town.new_device()
    town.refused(401, "/", *UPGRADE, *fields(stranger.headers(town.gate.app.nonce())), "X-Forwarded-For: 192.0.2.201")
    for text in (stranger.key_id_b64[:12], "192.0.2.201"):
        town.console.open(window, "/refusals")
        operator.fill("Who or from where", text)
        operator.press("Filter")
        (row,) = window.every("table[data-table=refusals] tbody tr")
        assert "key_unknown" in row.text
        # There is no such key to look at.
        assert stranger.key_id_b64[:8] in row.text and not window.every("table[data-table=refusals] tbody a")
    town.console.open(window, town.key(town.keys[-1]))
    (row,) = window.every("table[data-table=refusals] tbody tr")
    assert "key_revoked" in row.text


def test_a_phone_is_paired(operator, window, town, way):
    operator.follow("Devices")
    before = operator.steps
    operator.follow("Pair a phone…")
    operator.fill("Subject", "greta")
    operator.fill("Name", "Greta’s new phone")
    operator.press("Show the code")
    code = window.run("return document.querySelector('summary + code').textContent")
    assert window.every("svg[role=img]")
    state = town.gate.folder / f"greta, {way}.json"
    phone = town.household.scan(state, code, "--name", "Greta")
    digits = phone.line()
    operator.fill("Six digits", digits)
    # The phone has shown its digits; the gate may not have them yet.
    address = window.address
    eventually(lambda: window.open(address) or "shows six digits" in window.text, "the gate has them too")
    wrong = f"{(int(digits) + 1) % 1_000_000:06d}"
    operator.fill("Six digits", wrong)
    operator.hands.press("Pair the phone")
    done(window, "These are not the digits")
    operator.fill("Six digits", digits)
    operator.press("Pair the phone")
    done(window, "The device is confirmed.")
    assert window.heading == "Greta’s new phone" and "greta" in window.text
    assert phone.wait() == 0
    assert operator.steps - before == 3


def test_a_pairing_is_given_up(operator, window, town):
    operator.follow("Devices")
    operator.follow("Pair a phone…")
    operator.fill("Subject", "x" * 200)
    operator.press("Show the code")
    code = window.run("return document.querySelector('summary + code')?.textContent")
    assert code or "This did not work" in window.text
    town.console.open(window, "/devices/pair")
    operator.press("Show the code")
    address = window.address
    operator.press("Give the pairing up")
    done(window, "its code lets nobody in")
    window.open(address)
    assert "The pairing is over" in window.text and not window.every("svg[role=img]")


def test_z_the_gate_is_drained_for_an_upgrade(operator, window, town):
    operator.follow("Drain")
    operator.press("Begin to drain")
    done(window, "it takes no new players")
    assert operator.steps == 2
    operator.press("Take new players again")
