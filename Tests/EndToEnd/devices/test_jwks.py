"""Device tokens, judged by two JOSE libraries that know nothing of this project: python3-jwcrypto and python3-jwt."""

import base64
import json
import time

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from jwcrypto import jwk, jws
from jwcrypto import jwt as jwcrypto_jwt

from clients import assert_refusal
from handset import Handset

PUBLIC_URL, ELSEWHERE = "https://mud.example", "https://game.example"


@pytest.fixture
def gate(gates, backend, folder):
    return gates(
        backend, DEVICES_PATH=folder / "devices.db", PUBLIC_URL=PUBLIC_URL, TOKEN_AUDIENCES=ELSEWHERE
    )


@pytest.fixture
def handset(gate):
    handset = Handset(gate)
    handset.enroll()
    assert gate.command("devices", "confirm", handset.id).returncode == 0
    return handset


def key_set(gate):
    reply = gate.app.request("GET", "/.well-known/jwks.json")
    assert reply.status == 200 and reply.header("Cache-Control") == "max-age=600", reply
    return reply.json


def judge(gate, token, audience):
    """What both libraries read in it, under the keys that are published."""
    published = key_set(gate)
    first = jwcrypto_jwt.JWT(
        jwt=token,
        key=jwk.JWKSet.from_json(json.dumps(published)),
        algs=["ES256"],
        check_claims={"iss": PUBLIC_URL, "aud": audience},
    )
    keys = {key["kid"]: key for key in published["keys"]}
    key = jwt.PyJWK(keys[jwt.get_unverified_header(token)["kid"]]).key
    second = jwt.decode(token, key, algorithms=["ES256"], audience=audience, issuer=PUBLIC_URL)
    assert json.loads(first.claims) == second
    return second


def test_keys_are_named_by_their_thumbprints(gate):
    keys = key_set(gate)["keys"]
    assert keys
    for key in keys:
        assert (key["kty"], key["crv"], key["alg"], key["use"]) == ("EC", "P-256", "ES256", "sig")
        assert jwk.JWK(**key).thumbprint() == key["kid"] and "d" not in key


@pytest.mark.parametrize("audience, life", [(None, 600), (ELSEWHERE, 300)])
def test_two_libraries_read_our_tokens(gate, handset, audience, life):
    reply = handset.ask_token(audience)
    assert reply.status == 200, reply
    token = reply.json["token"]
    claims = judge(gate, token, audience or PUBLIC_URL)
    assert jwt.get_unverified_header(token)["typ"] == "portcullis-device+jwt"
    assert (claims["sub"], claims["iss"], claims["level"], claims["uv"]) == (handset.id, PUBLIC_URL, "bare", "app")
    assert claims["exp"] - claims["iat"] <= life and claims["exp"] == reply.json["expires_at"]
    assert abs(claims["iat"] - time.time()) < 60 and claims["jti"] and claims["platform"] == "ios"
    x, y = handset.key.point[1:33], handset.key.point[33:]
    own = jwk.JWK(kty="EC", crv="P-256", x=text(x), y=text(y))
    assert claims["cnf"]["jkt"] == own.thumbprint()
    if audience:
        # It is for others, and none here.
        assert_refusal(handset.get("/device/self", token), 401, "token_rejected")


def text(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def parts(token):
    return [json.loads(base64.urlsafe_b64decode(part + "==")) for part in token.split(".")[:2]]


def signed(header, claims, key=None):
    made = jws.JWS(json.dumps(claims))
    made.add_signature(key or jwk.JWK.generate(kty="EC", crv="P-256"), None, json.dumps(header))
    return made.serialize(compact=True)


def test_tokens_that_they_make_are_refused(gate, handset):
    header, claims = parts(handset.token)
    (published,) = [key for key in key_set(gate)["keys"] if key["kid"] == header["kid"]]
    point = json.dumps(published).encode()
    unsigned = ".".join([text(json.dumps({**header, "alg": "none"}).encode()), text(json.dumps(claims).encode()), ""])
    own = jwk.JWK.generate(kty="EC", crv="P-256")
    other = ec.generate_private_key(ec.SECP256R1())
    forged = {
        "another key under our name": signed(header, claims),
        "another key under its own name": signed({**header, "kid": own.thumbprint()}, claims, own),
        "another key beside it": signed(
            {**header, "jwk": json.loads(own.export_public())}, claims, own
        ),
        "no algorithm": unsigned,
        "a MAC under what is public": signed({**header, "alg": "HS256"}, claims, jwk.JWK(kty="oct", k=text(point))),
        "another library's": jwt.encode(claims, other, algorithm="ES256", headers=header),
        "a cut one": handset.token[:-2],
        "a flipped claim": flipped(handset.token),
    }
    for word, token in forged.items():
        reply = handset.get("/device/self", token)
        assert (reply.status, reply.code) == (401, "token_rejected"), word
    assert handset.get("/device/self", handset.token).status == 200


def flipped(token):
    header, claims, signature = token.split(".")
    changed = base64.urlsafe_b64decode(claims + "==").replace(b'"bare"', b'"hard"')
    return ".".join([header, text(changed), signature])


def test_the_keys_outlive_a_restart(gate, handset):
    before = key_set(gate)
    gate.stop()
    gate.start()
    assert key_set(gate) == before
    assert handset.get("/device/self", handset.token).status == 200
