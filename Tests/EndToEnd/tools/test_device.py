"""The software device is itself judged: laid out as the vectors are, and true to Apple's formulas."""

import base64
import json
import pathlib

import cbor2
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from device import APP_ID, APPLE, AttestationAuthority, Device, sha256

VECTORS = pathlib.Path(__file__).resolve().parents[4] / "shared" / "vectors"
NONCE = bytes(range(32)).hex()


@pytest.fixture(scope="module")
def device():
    return Device(AttestationAuthority(), APP_ID)


def vector(file_name, name):
    path = VECTORS / file_name
    if not path.exists():
        pytest.skip(f"{path} is not beside this repository")
    for line in path.read_text().splitlines():
        case = json.loads(line)
        if case["name"] == name:
            return case
    raise AssertionError(f"{name} is not in {path}")


def signed_by(certificate, issuer):
    issuer.public_key().verify(
        certificate.signature,
        certificate.tbs_certificate_bytes,
        ec.ECDSA(certificate.signature_hash_algorithm),
    )


def check_attestation(encoded, client_data_hash, key_id, app_id, root):
    """Apple's steps, written as plainly as they read."""
    decoded = cbor2.loads(encoded)
    assert decoded["fmt"] == "apple-appattest"
    leaf, intermediate = (x509.load_der_x509_certificate(der) for der in decoded["attStmt"]["x5c"])
    signed_by(leaf, intermediate)
    signed_by(intermediate, root)
    data = decoded["authData"]
    nonce = leaf.extensions.get_extension_for_oid(x509.ObjectIdentifier(APPLE + "8.2")).value.value
    assert nonce == bytes.fromhex("3024A1220420") + sha256(data + client_data_hash)
    point = leaf.public_key().public_bytes(
        serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint
    )
    assert sha256(point) == key_id
    assert data[:32] == sha256(app_id.encode())
    assert data[33:37] == bytes(4)
    assert data[37:53] == b"appattest" + bytes(7)
    assert data[53:55] == b"\x00\x20" and data[55:87] == key_id
    cose = cbor2.loads(data[87:164])
    assert cose == {1: 2, 3: -7, -1: 1, -2: point[1:33], -3: point[33:]}
    launch = cbor2.loads(data[164:])
    assert launch == {"apple_bundle_version_01": "1.0", "apple_validation_category_01": b"\x04\0\0\0"}


def test_attestation_satisfies_the_steps(device):
    encoded = device.attestation(NONCE)
    check_attestation(encoded, sha256(bytes.fromhex(NONCE)), device.key_id, APP_ID, device.authority.root)


def test_the_same_steps_accept_the_vector():
    case = vector("generated-attestation.jsonl", "att-valid-production")
    root = x509.load_pem_x509_certificate((VECTORS / case["root"]).read_bytes())
    check_attestation(
        base64.b64decode(case["attestation_b64"]),
        sha256(base64.b64decode(case["challenge_b64"])),
        base64.b64decode(case["key_id_b64"]),
        f"{case['team_id']}.{case['bundle_id']}",
        root,
    )


def test_attestation_is_laid_out_as_the_vector_is(device):
    case = vector("generated-attestation.jsonl", "att-valid-production")
    theirs = cbor2.loads(base64.b64decode(case["attestation_b64"]))
    ours = cbor2.loads(device.attestation(NONCE))
    assert list(ours) == list(theirs)
    assert list(ours["attStmt"]) == list(theirs["attStmt"])
    assert len(ours["authData"]) == len(theirs["authData"])
    assert ours["authData"][:55] == theirs["authData"][:55]
    for our_der, their_der in zip(ours["attStmt"]["x5c"], theirs["attStmt"]["x5c"], strict=True):
        our, their = x509.load_der_x509_certificate(our_der), x509.load_der_x509_certificate(their_der)
        assert our.signature_algorithm_oid == their.signature_algorithm_oid
        assert our.version == their.version
        their_extensions = {e.oid.dotted_string: e for e in their.extensions}
        for extension in our.extensions:
            theirs_too = their_extensions[extension.oid.dotted_string]
            assert extension.critical == theirs_too.critical
            if extension.oid.dotted_string in (APPLE + "8.5", APPLE + "8.7"):
                assert extension.value == theirs_too.value


def test_assertion_satisfies_the_formula(device):
    decoded = cbor2.loads(device.assertion(NONCE, counter=7))
    data = decoded["authenticatorData"]
    nonce = sha256(data + sha256(bytes.fromhex(NONCE)))
    device.key.public_key().verify(decoded["signature"], nonce, ec.ECDSA(hashes.SHA256()))
    assert data[:32] == sha256(APP_ID.encode()) and data[33:37] == b"\0\0\0\x07"


def test_assertion_is_laid_out_as_the_vector_is(device):
    case = vector("generated-assertion.jsonl", "asr-valid")
    theirs = cbor2.loads(base64.b64decode(case["assertion_b64"]))
    ours = cbor2.loads(device.assertion(NONCE, counter=1))
    assert list(ours) == list(theirs)
    assert ours["authenticatorData"] == theirs["authenticatorData"]
    public = ec.EllipticCurvePublicKey.from_encoded_point(
        ec.SECP256R1(), base64.b64decode(case["public_key_x963_b64"])
    )
    message = sha256(theirs["authenticatorData"] + sha256(base64.b64decode(case["client_data_b64"])))
    public.verify(theirs["signature"], message, ec.ECDSA(hashes.SHA256()))


def test_an_older_system_sends_no_launch_information():
    old = Device(AttestationAuthority(), APP_ID, launch_information=False)
    data = cbor2.loads(old.assertion(NONCE, counter=1))["authenticatorData"]
    assert len(data) == 37 and data[32] == 0x40
