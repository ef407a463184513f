"""Device tokens, judged by two libraries that nobody here wrote, and tokens that those make, judged by the gate."""

import base64
import contextlib
import hashlib
import json
import os
import sqlite3
import uuid

import jwt
import pytest
from clients import Raw, assert_refusal, head
from cryptography.hazmat.primitives.asymmetric import ec
from jwcrypto import jwk, jws
from jwcrypto import jwt as crypto_jwt

from gate import free_port
from phones import Key, ask, base64url, encode

pytestmark = pytest.mark.quick

TYPE = "portcullis-device+jwt"


@pytest.fixture
def gate(gates, folder):
    port = free_port()
    return gates(
        port=port,
        DEVICES_PATH=folder / "devices.db",
        PUBLIC_URL=f"https://127.0.0.1:{port}",
        TOKEN_AUDIENCES="forum",
        DEVICE_RATE="10000/m",
    )


@pytest.fixture
def phone(gate):
    return EnrolledPhone(gate)


class EnrolledPhone:
    """A phone that has enrolled by itself, and that the operator has confirmed."""

    def __init__(self, gate):
        self.gate, self.device, self.approval = gate, Key(), Key()
        nonce, self.server = self.challenge("enroll")
        message = encode("enroll", self.server, self.device.hash, self.approval.hash, nonce, b"ios")
        answer = ask(
            gate,
            "POST",
            "/device/enroll",
            {
                "platform": "ios",
                "device_pubkey": base64url(self.device.point),
                "approval_pubkey": base64url(self.approval.point),
                "nonce": nonce.hex(),
                "signature": self.device.sign(message),
                "approval_signature": self.approval.sign(message),
            },
        )
        assert answer.status == 200, answer
        self.id = answer.json["device_id"]
        done = gate.command("devices", "confirm", self.id, "--subject", "anna")
        assert done.returncode == 0, done.stderr

    def challenge(self, purpose):
        answer = ask(self.gate, "GET", f"/attest/challenge?purpose={purpose}")
        assert answer.status == 200, answer
        return bytes.fromhex(answer.json["nonce"]), uuid.UUID(answer.json["server_id"]).bytes

    def token(self, audience=None):
        nonce, server = self.challenge("device")
        message = encode(
            "device-auth", server, uuid.UUID(self.id).bytes, nonce, b"token", (audience or "").encode()
        )
        form = {"device_id": self.id, "nonce": nonce.hex(), "signature": self.device.sign(message)}
        answer = ask(
            self.gate, "POST", "/device/token", form | ({"audience": audience} if audience else {})
        )
        assert answer.status == 200, answer
        return answer.json["token"]

    def read(self, token):
        return ask(self.gate, "GET", "/device/self", token=token)


def key_set(gate):
    answer = ask(gate, "GET", "/.well-known/jwks.json")
    assert answer.status == 200 and "max-age=600" in answer.header("Cache-Control"), answer
    return answer.json


def thumbprint(key):
    """RFC 7638, by hand."""
    numbers = key.private.public_key().public_numbers()
    members = {
        "crv": "P-256",
        "kty": "EC",
        "x": base64url(numbers.x.to_bytes(32, "big")),
        "y": base64url(numbers.y.to_bytes(32, "big")),
    }
    canonical = json.dumps(members, sort_keys=True, separators=(",", ":")).encode()
    return base64url(hashlib.sha256(canonical).digest())


def test_pyjwt_takes_our_tokens(gate, phone):
    token = phone.token()
    (published,) = key_set(gate)["keys"]
    header = jwt.get_unverified_header(token)
    assert header == {"alg": "ES256", "kid": published["kid"], "typ": TYPE}
    url = gate.environment["PUBLIC_URL"]
    key = jwt.PyJWKSet.from_dict(key_set(gate)).keys[0].key
    claims = jwt.decode(token, key, algorithms=["ES256"], audience=url, issuer=url)
    assert (claims["sub"], claims["level"], claims["uv"]) == (phone.id, "bare", "app")
    assert claims["cnf"] == {"jkt": thumbprint(phone.device)}
    assert claims["exp"] - claims["iat"] == 600
    with pytest.raises(jwt.InvalidSignatureError):
        jwt.decode(token[:-8] + "AAAAAAAA", key, algorithms=["ES256"], audience=url)


def test_jwcrypto_takes_our_tokens(gate, phone):
    keys = jwk.JWKSet.from_json(json.dumps(key_set(gate)))
    (key,) = keys["keys"]
    assert key.thumbprint() == key.export_public(as_dict=True)["kid"]
    taken = crypto_jwt.JWT(
        jwt=phone.token("forum"),
        key=keys,
        algs=["ES256"],
        check_claims={"aud": "forum", "iss": gate.environment["PUBLIC_URL"]},
    )
    claims = json.loads(taken.claims)
    assert claims["exp"] - claims["iat"] == 300
    # The gate itself takes none that is for others.
    assert_refusal(phone.read(taken.serialize()), 401, "token_rejected")


def test_what_the_libraries_can_be_talked_into_is_refused(gate, phone):
    """Our claims unsigned, under a MAC with what is public, under another key, or with a key that the header brings."""
    token = phone.token()
    assert phone.read(token).json["device_id"] == phone.id
    (published,) = key_set(gate)["keys"]
    claims = jwt.decode(token, options={"verify_signature": False})
    public = jwk.JWK(**published)
    other = ec.generate_private_key(ec.SECP256R1())
    header = {"kid": published["kid"], "typ": TYPE}

    def by_jwcrypto(key, protected):
        made = jws.JWS(json.dumps(claims))
        made.add_signature(key, None, json.dumps(protected), None)
        return made.serialize(compact=True)

    forged = [
        jwt.encode(claims, "", algorithm="none", headers=header),
        jwt.encode(claims, other, algorithm="ES256", headers=header),
        jwt.encode(claims, other, algorithm="ES256", headers={"typ": TYPE, "kid": "another"}),
        jwt.encode(claims, other, algorithm="ES256", headers={"typ": TYPE}),
        jwt.encode(claims, published["x"], algorithm="HS256", headers=header),
        # PyJWT refuses a key in PEM as a secret, jwcrypto does not.
        by_jwcrypto(
            jwk.JWK(kty="oct", k=base64url(public.export_to_pem())), {"alg": "HS256", **header}
        ),
    ]
    mine = jwk.JWK.from_pyca(other)
    embedded = mine.export_public(as_dict=True)
    forged += [
        by_jwcrypto(mine, {"alg": "ES256", "jwk": embedded, **header}),
        by_jwcrypto(mine, {"alg": "ES256", "jku": "https://127.0.0.1/keys", **header}),
    ]
    head, body, signature = token.split(".")
    forged += [f"{head}.{body}.", f"{head}.{body}", f"{head}.{body}.{signature}=", f"{body}.{head}.{signature}"]
    raw = base64.urlsafe_b64decode(body + "==")
    forged.append(f"{head}.{base64url(raw.replace(b'bare', b'best'))}.{signature}")
    for text in forged:
        assert_refusal(phone.read(text), 401, "token_rejected")


def test_a_stolen_token_changes_nothing(gate, phone):
    token = phone.token()
    before = phone.read(token).json
    beat = {"rooted": True, "app_version": "9.9"}
    assert ask(gate, "POST", "/device/heartbeat", beat, token=token).status == 200
    assert phone.read(token).json == before
    # Nor by whoever signs for somebody else.
    thief = EnrolledPhone(gate)
    nonce, server = thief.challenge("device")
    message = encode("device-auth", server, uuid.UUID(phone.id).bytes, nonce, b"heartbeat", b"")
    signed = beat | {"nonce": nonce.hex(), "signature": thief.device.sign(message)}
    refused = ask(gate, "POST", "/device/heartbeat", signed, token=token)
    assert_refusal(refused, 401, "signature_rejected")
    assert phone.read(token).json == before


def test_a_token_ends_with_its_device(gate, phone):
    token = phone.token()
    assert phone.read(token).status == 200
    assert gate.command("devices", "revoke", phone.id).returncode == 0
    assert_refusal(phone.read(token), 401, "token_rejected")


def test_keys_outlive_a_restart(gate, phone):
    token, keys = phone.token(), key_set(gate)
    gate.app.close()
    gate.kill()
    gate.start()
    assert key_set(gate) == keys
    assert phone.read(token).status == 200


def test_invented_tokens_are_paid_for_by_their_address(gates, folder):
    """DEVICE_RATE is for a token, and anybody can invent one after the other."""
    port = free_port()
    gate = gates(
        port=port,
        DEVICES_PATH=folder / "devices.db",
        PUBLIC_URL=f"https://127.0.0.1:{port}",
        CHALLENGE_RATE="20/m",
    )
    # Two challenges, and the first request by its token.
    phone = EnrolledPhone(gate)
    token = phone.token()
    assert phone.read(token).status == 200
    told = []
    # Twenty at once, and one more every three seconds.
    while "rate_limited" not in told and len(told) < 60:
        told.append(phone.read(f"{token}{len(told)}").code)
    assert told.pop() == "rate_limited" and 10 < len(told) and set(told) == {"token_rejected"}, told
    # The phone beside whom somebody guesses is heard all the same.
    assert phone.read(token).status == 200


def kid(token):
    return jwt.get_unverified_header(token)["kid"]


def test_new_keys_by_an_order(gate, phone):
    """At once, and where they are to end, so do all tokens, in introspection and in a long poll as well."""
    first = phone.token()
    done = gate.command("devices", "rotate-token-keys", "--json")
    assert done.returncode == 0, done.stderr
    second = phone.token()
    assert kid(second) == json.loads(done.stdout)["kid"] != kid(first)
    assert {key["kid"] for key in key_set(gate)["keys"]} == {kid(first), kid(second)}
    assert phone.read(first).status == phone.read(second).status == 200
    service = json.loads(
        gate.command("services", "add", "forum", "--scopes", "devices.read", "--json").stdout)["token"]
    introspect = lambda token: ask(gate, "POST", "/device/introspect", {"token": token}, token=service).json  # noqa: E731
    assert introspect(second)["active"] is True
    with Raw(gate) as poll:
        waiting = poll.send(head("GET", "/approvals?wait=25", f"Authorization: Bearer {second}"))
        done = gate.command("devices", "rotate-token-keys", "--now")
        assert done.returncode == 0, done.stderr
        assert_refusal(waiting.reply(), 401, "token_rejected")
    for token in (first, second):
        assert phone.read(token).status == 401 and introspect(token) == {"active": False}
    third = phone.token()
    assert kid(third) in done.stdout and phone.read(third).status == 200
    assert [key["kid"] for key in key_set(gate)["keys"]] == [kid(third)]
    rows = [row for row in json.loads(gate.command("audit", "list", "--json").stdout)
            if row["event"] == "token_keys_changed"]  # fmt: skip
    assert [row["current_key"] for row in rows] == [kid(second), kid(third)]
    assert all(row["uid"] == os.getuid() and row["pid"] > 0 for row in rows) and rows[1]["ended"] == "tokens", rows
    gate.kill()
    gate.start()
    gate.app.close()
    assert phone.read(second).status == 401 and phone.read(third).status == 200


def test_a_backup_signs_nothing_and_a_restored_store_has_new_keys(gate, phone, folder):
    token = phone.token()
    (folder / "backups").mkdir()
    copy = folder / "backups" / "devices.db"
    done = gate.command("devices", "backup", "backups/devices.db")
    assert done.returncode == 0, done.stderr
    gate.stop()
    with contextlib.closing(sqlite3.connect(folder / "devices.db")) as store:
        scalars = [scalar for (scalar,) in store.execute("SELECT scalar FROM token_keys WHERE scalar IS NOT NULL")]
    assert scalars and all(len(scalar) == 32 and scalar not in copy.read_bytes() for scalar in scalars)
    done = gate.command("devices", "restore", str(copy))
    assert done.returncode == 0, done.stderr
    gate.start()
    gate.app.close()
    assert phone.read(token).status == 401
    fresh = phone.token()
    assert kid(fresh) != kid(token) and [key["kid"] for key in key_set(gate)["keys"]] == [kid(fresh)]
