"""Everything that an operator does in the console, by keyboard alone with the focus in sight, and by mouse without script."""

import contextlib
import json
import re

import pytest
from consoles import OPERATOR
from sessions import Lost
from waiting import eventually


@pytest.fixture(scope="module")
def town(way, build_town):
    """One for each way, as what was done is done; with another operator, for whom a request of one's own is."""
    return build_town(APPROVAL_OPERATORS=f"{OPERATOR},daemon")


@pytest.fixture
def operator(hands):
    return hands


def done(window, sentence):
    assert sentence in window.text, window.text


def test_signing_in_and_out(operator, window, town):
    assert window.heading == "Overview"
    link = town.console.link()
    window.open(link)
    assert window.heading == "Sign in"
    operator.press("Sign in")
    operator.press("Sign out")
    assert window.heading == "You are signed out"
    town.console.open(window, "/sessions")
    assert window.heading == "Sign in" and "portcullis admin link" in window.text
    window.open(link)
    with contextlib.suppress(AssertionError):
        operator.press("Sign in")
    assert window.heading == "This link does not work"


def test_every_page_is_in_the_menu(operator, window):
    for name in ("Sessions", "Keys", "Devices", "Approvals", "Refusals", "Audit", "Configuration", "Drain", "Overview"):
        operator.follow(name)
        assert window.heading == name
        assert window.one("nav [aria-current=page]").text == name


def test_a_session_is_found_and_ended(operator, window, town):
    player = town.players[4]
    operator.follow("Sessions")
    operator.fill("Who or from where", "198.51.100.62")
    operator.press("Filter")
    assert len(window.every("tbody tr")) == 1
    operator.follow(town.keys[4].key_id_b64[:8] + "…")
    operator.follow("End this session…")
    operator.press("End the session")
    done(window, "The session has been ended.")
    with pytest.raises(Lost):
        player.until(lambda: False, "the end")
    assert player.ended == "closed_by_operator"


def test_a_key_is_found_and_revoked_with_a_reason(operator, window, town):
    device = town.keys[3]
    operator.follow("Keys")
    operator.fill("Key or pseudonym", device.key_id_b64[:10])
    operator.press("Filter")
    operator.follow(device.key_id_b64[:8] + "…")
    operator.follow("Revoke this key…")
    operator.fill("Why", "sold <b>the phone</b>")
    operator.press("Revoke the key")
    done(window, "The key has been revoked")
    town.console.open(window, town.key(device))
    assert "sold <b>the phone</b>" in window.text
    entry = town.gate.keys()[device.key_id_b64]
    assert entry["revokedAt"] and entry["revokedReason"] == "sold <b>the phone</b>"


def listed(window):
    """The rows of a table, without how long ago something was, which goes on while a test looks."""
    return [re.sub(r"\b(now|\d+ \w+ ago)\b", "", row.text) for row in window.every("tbody tr")]


def test_a_list_goes_on(operator, window, town):
    operator.follow("Keys")
    first = listed(window)
    assert len(first) == 50
    operator.follow("Next page")
    rest = listed(window)
    assert 1 <= len(rest) < 50 and not set(first) & set(rest)
    operator.follow("First page")
    assert listed(window) == first


def test_a_device_is_confirmed_by_its_digits(operator, window, town):
    phone = town.pair("Hanna")
    operator.follow("Devices")
    operator.follow("Hanna’s phone")
    wrong = f"{(int(phone.digits) + 1) % 1_000_000:06d}"
    operator.fill("Six digits", wrong)
    operator.press("Confirm the device")
    done(window, "This did not work")
    operator.fill("Six digits", phone.digits)
    operator.press("Confirm the device")
    done(window, "The device is confirmed.")
    assert phone.process.wait() == 0


def test_a_device_without_digits_is_confirmed_and_one_revoked(operator, window, town):
    operator.follow("Devices")
    operator.follow("Emil’s phone")
    operator.follow("Confirm this device…")
    operator.fill("Subject", "emil")
    operator.press("Confirm the device")
    done(window, "The device is confirmed.")
    operator.follow("Devices")
    operator.follow("Carla’s phone")
    operator.follow("Revoke this device…")
    operator.press("Revoke the device")
    done(window, "The device has been revoked")
    states = {device["device_id"]: device["status"] for device in town.household.devices()}
    assert states[town.waiting.id] == "active" and states[town.phones[2].id] == "revoked"


@pytest.mark.parametrize(("operation", "button", "sentence"), [
    ("shutdown", "Confirm", "Your confirmation has been given."),
    ("wipe", "Refuse", "The request has been refused."),
])  # fmt: skip
def test_an_operator_gives_a_word(operator, window, town, operation, button, sentence):
    if operation == "wipe":
        # Of one service two wait for a phone at most.
        assert town.gate.command("approvals", "cancel", town.approvals["both"]["id"]).returncode == 0
    town.ask(operation, "Grima")
    operator.follow("Approvals")
    operator.follow(operation)
    name = window.address.rpartition("/")[2]
    operator.press(button)
    done(window, sentence)
    listed = town.gate.command("approvals", "list", "--json")
    states = {item["id"]: item["state"] for item in json.loads(listed.stdout)}
    assert states[name] == ("approved" if button == "Confirm" else "denied")


def test_a_request_of_ones_own_takes_somebody_else(operator, window, town):
    """There is no button, and a form of another request that is sent there is refused."""
    text = "The game restarts at once."
    made = town.gate.command("approvals", "request", "--operation", "shutdown", "--text", text, "--json")
    assert made.returncode == 0, made.stderr
    name, other = json.loads(made.stdout)["id"], town.ask("shutdown", "Alatar")["id"]
    town.console.open(window, f"/approvals/{name}")
    assert "You asked for it yourself" in window.text and not window.every(f"form[action='/approvals/{name}/confirm']")
    town.console.open(window, f"/approvals/{other}")
    window.run(
        "document.querySelector(`form[action='/approvals/${arguments[0]}/confirm']`).action = arguments[1]",
        other, f"/approvals/{name}/confirm",
    )  # fmt: skip
    operator.press("Confirm")
    done(window, "This did not work")
    listed = json.loads(town.gate.command("approvals", "list", "--json").stdout)
    states = {item["id"]: item["state"] for item in listed}
    assert (states[name], states[other]) == ("pending", "pending")
    for request in (name, other):
        assert town.gate.command("approvals", "cancel", request).returncode == 0


def test_refusals_are_told_with_what_to_do(operator, window):
    operator.follow("Refusals")
    operator.fill("Code", "nonce_invalid")
    operator.press("Filter")
    codes = {code.text for code in window.every("table[data-table=refusals] tbody td:nth-child(2)")}
    assert codes == {"nonce_invalid"}


def test_the_audit_is_searched_verified_and_taken_home(operator, window, town):
    operator.follow("Audit")
    operator.fill("Event", "device enrolled")
    operator.press("Filter")
    assert {cell.text for cell in window.every("tbody th")} == {"device enrolled"}
    operator.fill("Event", "approval asked")
    operator.press("Filter")
    by = {cell.text for cell in window.every("tbody td:nth-child(3)")}
    # An operator has asked as well, in other tests of this town.
    assert "service mud" in by and by <= {"service mud", "root"} and "service id" not in window.text
    operator.follow("Verify the chain")
    done(window, "The chain holds")
    for path in window.downloads.iterdir():
        path.unlink()
    operator.touch("link", "Export all rows (JSON lines)")

    def whole():
        # It is renamed when it has come.
        with contextlib.suppress(FileNotFoundError):
            paths = list(window.downloads.iterdir())
            is_whole = len(paths) == 1 and paths[0].suffix != ".crdownload" and paths[0].read_text().endswith("\n")
            return paths[0] if is_whole else None

    path = eventually(whole, "the export")
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert len(rows) >= 20 and window.heading == "Audit"


def test_the_configuration_is_read_again(operator, window, town):
    operator.follow("Configuration")
    assert "APPROVAL_OPERATORS" in window.text
    operator.press("Reload")
    done(window, "read again")
    town.gate.event(event="reloaded")


def test_the_gate_is_drained_and_opened_again(operator, window, town):
    operator.follow("Drain")
    operator.press("Begin to drain")
    done(window, "it takes no new players")
    assert town.console.probe("/readyz")[0] == 503
    operator.press("Take new players again")
    done(window, "takes new players again")
    eventually(lambda: town.console.probe("/readyz")[0] == 200, "it is ready")


def test_z_all_sessions_end(operator, window, town):
    """The last of this file: nobody is there afterwards."""
    operator.follow("Drain")
    operator.follow("End all sessions…")
    operator.press("End all sessions")
    done(window, "All sessions have been ended.")
    with pytest.raises(Lost):
        town.players[0].until(lambda: False, "the end")
