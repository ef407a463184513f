"""Whether a phone is near a desktop: both ends by hand, each status and code, and what somebody else can do with what
goes between them."""

import json
import re
import time
import uuid

import pytest
from approvers import add_service, approval_settings, body, phone_of
from clients import assert_refusal
from desktops import Desktop, answer_of
from faults import Faults
from phones import Key, ask

RULES = {"rules": [{"match": {"operation": "promote"}, "level": "bare", "presence": True, "match_digits": 0}]}


@pytest.fixture
def fault(shim, folder):
    return Faults(shim, folder / "shim-control", path_part="devices.db")


@pytest.fixture
def settings(folder):
    return approval_settings(folder, RULES, PRESENCE_RSSI_MIN="hall=-70")


@pytest.fixture
def gate(gates, settings, fault):
    gate = gates(**settings, **fault.environment)
    # Whoever is near has ten seconds to say so.
    fault.stand_still()
    return gate


@pytest.fixture
def phone(gate):
    return phone_of(gate)


@pytest.fixture
def desktop(gate):
    return Desktop(gate)


def vote(phone, asked):
    (item,) = [item for item in phone.items() if item["id"] == asked["id"]]
    return phone.vote(item)


def request(gate, token=None):
    reply = ask(gate, "POST", "/approvals", body(), token or add_service(gate))
    assert reply.status == 201, reply
    return reply.json


def test_a_vote_that_needs_the_phone_at_hand(gate, phone, desktop, fault):
    asked = request(gate)
    assert_refusal(vote(phone, asked), 403, "presence_required")
    challenge = desktop.challenge(phone)
    assert 9 < challenge["expires_at"] - fault.now() <= 11
    services = json.loads(gate.command("services", "list", "--json").stdout)
    assert challenge["desktop_id"] in [one["id"] for one in services if one["name"] == "reception"]
    assert_refusal(vote(phone, asked), 403, "presence_required")
    passed = desktop.verify(answer_of(phone, challenge))
    assert passed.status == 200 and set(passed.json) == {"result", "device_id", "expires_at"}, passed
    assert (passed.json["result"], passed.json["device_id"]) == ("pass", phone.id)
    assert 59 < passed.json["expires_at"] - fault.now() <= 61
    fault.jump(61)
    assert_refusal(vote(phone, asked), 403, "presence_required")
    assert desktop.verify(answer_of(phone, desktop.challenge(phone))).status == 200
    assert vote(phone, asked).json == {"state": "approved", "votes_needed": 0}


def test_nobody_has_to_be_near_to_say_no(gate, phone):
    asked = request(gate)
    (item,) = phone.items()
    assert phone.vote(item, "deny").json["state"] == "denied"
    assert item["id"] == asked["id"]


def test_a_nonce_is_good_once_for_two_and_for_ten_seconds(gate, phone, desktop, fault):
    challenge = desktop.challenge(phone)
    answer = answer_of(phone, challenge)
    cellar = Desktop(gate, "cellar")
    other = phone_of(gate, "bert")
    # Another desktop brings what it has heard, and another phone answers in its place.
    assert_refusal(cellar.verify(answer), 401, "nonce_invalid")
    assert_refusal(desktop.verify(answer, device_id=other.id), 401, "nonce_invalid")
    assert_refusal(desktop.verify(answer_of(other, challenge)), 401, "nonce_invalid")
    assert desktop.verify(answer).status == 200
    assert_refusal(desktop.verify(answer), 401, "nonce_invalid")

    late = answer_of(phone, desktop.challenge(phone))
    fault.jump(10)
    assert_refusal(desktop.verify(late), 401, "nonce_invalid")
    # One that was asked for something else, and one of nobody's.
    for nonce in (phone.nonce("device"), "ab" * 32):
        challenge = desktop.challenge(phone) | {"nonce": nonce}
        assert_refusal(desktop.verify(answer_of(phone, challenge)), 401, "nonce_invalid")
    # Nor does one of this purpose serve another.
    assert_refusal(phone.ask_token(nonce=desktop.challenge(phone)["nonce"]), 401, "nonce_invalid")


def test_what_is_signed_has_to_be_all_of_it(gate, phone, desktop):
    cellar = Desktop(gate, "cellar")
    other = cellar.challenge(phone)["desktop_id"]
    for changes in ({"device": str(uuid.uuid4())}, {"desktop": other}, {"nonce": "ab" * 32}, {"key": Key()}):
        reply = desktop.verify(answer_of(phone, desktop.challenge(phone), **changes))
        assert_refusal(reply, 403, "presence_rejected")
    now = int(time.time())
    reply = desktop.verify(answer_of(phone, desktop.challenge(phone)), signed_at=now - 1)
    assert_refusal(reply, 403, "presence_rejected")
    reply = desktop.verify(answer_of(phone, desktop.challenge(phone), at=now - 400))
    assert (reply.status, reply.code) == (400, "clock_skewed")
    assert abs(reply.json["error"]["time"] - now) < 60


def test_who_may_not_be_asked_about(gate, phone):
    desktop = Desktop(gate, "reception", "presence", "--subjects", "b*")
    unknown = {"device_id": str(uuid.uuid4())}
    assert_refusal(desktop.post("/presence/challenge", unknown), 403, "presence_rejected")
    assert_refusal(desktop.post("/presence/challenge", {"device_id": phone.id}), 403, "presence_rejected")
    lost = phone_of(gate, "bert")
    answer = answer_of(lost, desktop.challenge(lost))
    assert gate.command("devices", "revoke", lost.id).returncode == 0
    assert_refusal(desktop.verify(answer), 403, "presence_rejected")
    assert_refusal(desktop.post("/presence/challenge", {"device_id": lost.id}), 403, "presence_rejected")


def test_services_that_are_no_desktops(gate, phone, desktop):
    """A stolen token of another service, one that was rotated away, and none."""
    challenge = desktop.challenge(phone)
    answer = answer_of(phone, challenge)
    other = Desktop(gate, "mud", "approvals,codes")
    assert_refusal(other.post("/presence/challenge", {"device_id": phone.id}), 403, "scope_missing")
    asked = request(gate, other.token)
    assert desktop.verify(answer).status == 200
    stolen = desktop.token
    desktop.token = gate.command("services", "rotate", "reception").stdout.strip()
    # What the old token has brought about is over as well.
    assert_refusal(vote(phone, asked), 403, "presence_required")
    for token in (stolen, None, phone.token):
        for path in ("/presence/challenge", "/presence/verify"):
            assert_refusal(ask(gate, "POST", path, answer, token), 401, "token_rejected")
    assert desktop.verify(answer_of(phone, desktop.challenge(phone))).status == 200
    assert vote(phone, asked).json["state"] == "approved"


def test_a_weak_signal(gate, phone):
    hall = Desktop(gate, "reception", "presence", "--site", "hall")
    for strength in ({}, {"rssi": -71}, {"rssi": 127}):
        reply = hall.verify(answer_of(phone, hall.challenge(phone)), **strength)
        assert_refusal(reply, 403, "presence_rejected")
    assert hall.verify(answer_of(phone, hall.challenge(phone)), rssi=-70).status == 200
    elsewhere = Desktop(gate, "cellar", "presence", "--site", "cellar")
    assert elsewhere.verify(answer_of(phone, elsewhere.challenge(phone))).status == 200


def test_forms(gate, phone, desktop):
    for document in ({}, {"device_id": phone.id.upper()}, {"device_id": 1}):
        assert_refusal(desktop.post("/presence/challenge", document), 400, "bad_request")
    answer = answer_of(phone, desktop.challenge(phone))
    for changes in ({"nonce": answer["nonce"].upper()}, {"signed_at": str(answer["signed_at"])},
                    {"signed_at": -1}, {"signature": "x"}, {"rssi": "-70"}, {"rssi": -70.5}, {"rssi": None},
                    {"rssi": -128}):
        assert_refusal(desktop.verify(answer, **changes), 400, "bad_request")
    for name in answer:
        missing = {key: value for key, value in answer.items() if key != name}
        assert_refusal(desktop.post("/presence/verify", missing), 400, "bad_request")
    # A body that could not be read has used nothing up.
    assert desktop.verify(answer, more={"unknown": [1]}).status == 200
    for path in ("/presence/challenge", "/presence/verify"):
        assert_refusal(ask(gate, "GET", path, token=desktop.token), 405, "method_not_allowed")


def test_it_is_over_with_the_process(gate, phone, desktop, fault):
    asked = request(gate)
    assert desktop.verify(answer_of(phone, desktop.challenge(phone))).status == 200
    fault.heal()
    gate.stop()
    gate.app.close()
    gate.start()
    assert_refusal(vote(phone, asked), 403, "presence_required")


def test_the_audit_says_who_and_where_and_no_more(gate, phone, desktop):
    desktop.verify(answer_of(phone, desktop.challenge(phone)), rssi=-41)
    desktop.verify(answer_of(phone, desktop.challenge(phone), key=Key()), rssi=-41)
    desktop_id = desktop.challenge(phone)["desktop_id"]
    rows = json.loads(gate.command("audit", "list", "--json").stdout)
    passed, refused = [row for row in rows if row.get("service_id") == desktop_id and row["event"] != "service_added"]
    assert (passed["event"], passed["device_id"]) == ("presence_proved", phone.id)
    assert (refused["event"], refused["code"]) == ("refused", "presence_rejected")
    assert refused["step"] == "presence_signature"
    # Not as a value; identifiers may have it within.
    assert not re.search(r"(?<![0-9a-f])-41\b", gate.command("audit", "list", "--json").stdout)
