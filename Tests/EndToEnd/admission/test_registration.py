"""POST /attest/register: which attestations are taken, which bodies understood, what consumes a challenge."""

import base64
import json

import cbor2
import pytest

from clients import assert_refusal, curl
from device import DEVELOPMENT, AttestationAuthority, Device, b64
from pki import DAY, now
from waiting import eventually

REGISTER = "/attest/register"


@pytest.fixture(scope="module")
def gate(shared_gates, shared_backends):
    return shared_gates(shared_backends())


@pytest.fixture
def rejected(gate):
    """Insists that a registration is refused as a bad attestation and stores no key; the step in the log."""

    def check(document, status=403, code="attestation_rejected"):
        seen = len(gate.events())
        assert_refusal(gate.app.post(document), status, code)
        assert document["keyId"] not in gate.keys()

        def lines():
            return [event for event in gate.events()[seen:] if event.get("code") == code]

        line = eventually(lines, f"a line with {code}")[-1]
        assert line["step"], line
        return line["step"]

    return check


def test_by_curl_with_any_content_type_parameters(gate, device):
    body = json.dumps(device.registration(gate.app.nonce()))
    reply = curl(gate, REGISTER, "-H", "Content-Type: Application/JSON; charset=utf-8; x=1", "-d", body)
    assert (reply.status, reply.json) == (200, {"registered": True})
    assert reply.header("Cache-Control") == "no-store"


def test_nonce_is_another_name_of_client_data(gate, device):
    document = device.registration(gate.app.nonce())
    document["nonce"] = document.pop("clientData")
    assert gate.app.post(document).status == 200


def test_both_names_are_one_too_many(gate, device):
    document = device.registration(gate.app.nonce())
    assert_refusal(gate.app.post({**document, "nonce": document["clientData"]}), 400, "bad_request")
    assert gate.app.post(document).status == 200  # nothing was consumed


def test_unknown_members_are_ignored_and_names_unescaped(gate, device):
    document = device.registration(gate.app.nonce())
    text = json.dumps({**document, "device": {"model": ["iPhone"]}}).replace('"keyId"', '"\\u006beyId"')
    assert gate.app.post(text).status == 200


@pytest.mark.parametrize("member", ["keyId", "attestation", "clientData"])
def test_duplicate_members_are_refused(gate, device, member):
    document = device.registration(gate.app.nonce())
    twice = json.dumps(document)[:-1] + f', "{member}": {json.dumps(document[member])}' + "}"
    assert_refusal(gate.app.post(twice), 400, "bad_request")
    assert gate.app.post(document).status == 200


@pytest.mark.parametrize("padding", [True, False])
def test_base64url(gate, device, padding):
    document = device.registration(gate.app.nonce())
    for name in ("keyId", "attestation"):
        value = base64.urlsafe_b64encode(base64.b64decode(document[name])).decode()
        document[name] = value if padding else value.rstrip("=")
    assert gate.app.post(document).status == 200


MALFORMED = {
    "no json": lambda d: "{",
    "an array": lambda d: json.dumps([d]),
    "trailing bytes": lambda d: json.dumps(d) + "x",
    "no body": lambda d: "",
    "missing keyId": lambda d: json.dumps({**d, "keyId": None}),
    "keyId a number": lambda d: json.dumps({**d, "keyId": 1}),
    "keyId of 31 bytes": lambda d: json.dumps({**d, "keyId": b64(bytes(31))}),
    "keyId of 33 bytes": lambda d: json.dumps({**d, "keyId": b64(bytes(33))}),
    "keyId not base64": lambda d: json.dumps({**d, "keyId": "*" * 44}),
    "attestation not base64": lambda d: json.dumps({**d, "attestation": "*"}),
    "upper-case nonce": lambda d: json.dumps({**d, "clientData": "AB" * 32}),
    "short nonce": lambda d: json.dumps({**d, "clientData": "ab"}),
    "too deep": lambda d: json.dumps(d)[:-1] + ', "x": ' + "[" * 9 + "]" * 9 + "}",
    "not utf-8": lambda d: json.dumps(d).encode()[:-1] + b', "x": "\xff"}',
}


@pytest.mark.parametrize("what", MALFORMED)
def test_malformed_bodies_consume_nothing(gate, device, what):
    document = device.registration(gate.app.nonce())
    assert_refusal(gate.app.post(MALFORMED[what](document)), 400, "bad_request")
    assert gate.app.post(document).status == 200


def test_a_challenge_is_good_for_one_registration(gate, device, new_device):
    nonce = gate.app.nonce()
    assert gate.app.post(device.registration(nonce)).status == 200
    assert_refusal(gate.app.post(new_device().registration(nonce)), 401, "nonce_invalid")


def test_a_rejected_attestation_consumes_the_challenge(gate, device, rejected):
    nonce = gate.app.nonce()
    rejected(device.registration(nonce, sign_count=1))
    assert_refusal(gate.app.post(device.registration(nonce)), 401, "nonce_invalid")


def test_a_challenge_nobody_issued(gate, device):
    assert_refusal(gate.app.post(device.registration("cd" * 32)), 401, "nonce_invalid")


def test_a_development_attestation_in_production(gate, device, rejected):
    rejected(device.registration(gate.app.nonce(), aaguid=DEVELOPMENT))


def test_development_where_it_is_allowed(gates, backend, new_device):
    gate = gates(backend, APPATTEST_ENVIRONMENT="both")
    for development in (True, False):
        device = gate.app.register(new_device(development=development))
        listed = gate.keys()[device.key_id_b64]
        assert listed["environment"] == ("development" if development else "production")


def test_a_key_id_of_another_key(gate, device, new_device, rejected):
    rejected({**device.registration(gate.app.nonce()), "keyId": new_device().key_id_b64})


def test_an_attestation_for_another_challenge(gate, device, rejected):
    mine, other = gate.app.nonce(), gate.app.nonce()
    rejected({**device.registration(mine), "clientData": other})


def test_a_root_of_ones_own(gate, rejected, authority):
    """The same names everywhere, but keys that nobody pinned."""
    liar = Device(AttestationAuthority(), "ABCDEF12K4.org.example.mudproxy")
    rejected(liar.registration(gate.app.nonce()))


@pytest.mark.parametrize(
    "changes",
    [
        {"sign_count": 1},
        {"sign_count": 2**32 - 1},
        {"aaguid": bytes(16)},
        {"credential_id": bytes(32)},
        {"credential_id": bytes(31)},
        {"app_id": "ABCDEF12K4.org.example.other"},
        {"leaf_app_id": "ABCDEF12K4.org.example.other"},
        {"fmt": "packed"},
        {"fmt": "none"},
    ],
    ids=lambda changes: "-".join(changes),
)
def test_one_thing_wrong(gate, device, rejected, changes):
    rejected(device.registration(gate.app.nonce(), **changes))


def test_an_expired_leaf(gate, device, rejected, monkeypatch):
    make = device.authority.leaf
    dates = {"starts": now() - 5 * DAY, "ends": now() - 2 * DAY}
    monkeypatch.setattr(device.authority, "leaf", lambda *given: make(*given, **dates))
    rejected(device.registration(gate.app.nonce()))


def reshaped(change):
    def make(device, nonce):
        decoded = cbor2.loads(device.attestation(nonce))
        change(decoded)
        return cbor2.dumps(decoded)

    return make


NOT_ATTESTATIONS = {
    "nothing": lambda device, nonce: b"",
    "one byte": lambda device, nonce: b"\x00",
    "two GiB of array in five bytes": lambda device, nonce: b"\x9a\x10\x00\x00\x00",
    "an assertion": lambda device, nonce: device.assertion(nonce, counter=1),
    "trailing byte": lambda device, nonce: device.attestation(nonce) + b"\x00",
    "truncated": lambda device, nonce: device.attestation(nonce)[:-1],
    "extra member": reshaped(lambda decoded: decoded.update(clientDataHash=bytes(32))),
    "leaf alone": reshaped(lambda decoded: decoded["attStmt"]["x5c"].pop()),
    "chain reversed": reshaped(lambda decoded: decoded["attStmt"]["x5c"].reverse()),
    "no authData": reshaped(lambda decoded: decoded.pop("authData")),
    "tagged": lambda device, nonce: b"\xd9\xd9\xf7" + device.attestation(nonce),
    "nested deeply": lambda device, nonce: b"\x81" * 5000 + b"\x00",
}


@pytest.mark.parametrize("what", NOT_ATTESTATIONS)
def test_what_is_no_attestation_at_all(gate, device, rejected, what):
    nonce = gate.app.nonce()
    document = device.registration(nonce)
    document["attestation"] = b64(NOT_ATTESTATIONS[what](device, nonce))
    rejected(document)


def test_receipts_are_kept_beside(gates, backend, folder, device):
    receipts = folder / "receipts"
    receipts.mkdir()
    gate = gates(backend, RECEIPTS_PATH=receipts)
    gate.app.register(device)
    name = device.key_id.hex()
    assert (receipts / name[:2] / f"{name}.der").read_bytes() == b"synthetic receipt"


def test_the_record_has_what_the_contract_lists(gate, device):
    gate.app.register(device)
    record = gate.keys()[device.key_id_b64]
    assert record["signCount"] == 0 and record["appId"] == "ABCDEF12K4.org.example.mudproxy"
    assert record["environment"] == "production"
    assert record["validationCategory"] == 4 and record["bundleVersion"] == "1.0"
    assert record["registeredAt"].endswith("Z")
