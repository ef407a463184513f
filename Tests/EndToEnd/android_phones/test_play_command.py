"""`portcullis verify play-integrity`: tokens that another implementation makes, opened and judged step by step."""

import base64
import hashlib
import json

import pytest
from jwcrypto import jwe, jwk, jws

PACKAGE = "com.example.mud"
CERTIFICATE = hashlib.sha256(b"a certificate").digest()
# In base64url it begins with a hyphen, as one of 64 does.
NONCE = bytes([0xFB]) + bytes(31)
MADE, JUDGED = 1_772_452_800_000, "2026-03-02T12:00:30Z"
LABELS = ["MEETS_BASIC_INTEGRITY", "MEETS_DEVICE_INTEGRITY"]
BROKEN, DATA_ERROR, USAGE = 1, 65, 64


def base64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def payload(**changes):
    request = {"requestPackageName": PACKAGE, "nonce": base64url(NONCE), "timestampMillis": str(MADE)}
    app = {
        "appRecognitionVerdict": "PLAY_RECOGNIZED",
        "packageName": PACKAGE,
        "certificateSha256Digest": [base64url(CERTIFICATE)],
        "versionCode": "42",
    }
    return {
        "requestDetails": request,
        "appIntegrity": app,
        "deviceIntegrity": {"deviceRecognitionVerdict": LABELS},
        "accountDetails": {"appLicensingVerdict": "LICENSED"},
        **changes,
    }


class PlayConsole:
    """The keys of an app, and Google, who signs and encrypts with them."""

    def __init__(self):
        self.decryption = jwk.JWK.generate(kty="oct", size=256)
        self.signing = jwk.JWK.generate(kty="EC", crv="P-256")

    @property
    def pair(self):
        secret = base64.urlsafe_b64decode(self.decryption.export(as_dict=True)["k"] + "=")
        pem = self.signing.export_to_pem().decode().splitlines()
        return {"decryption_key": base64.b64encode(secret).decode(), "verification_key": "".join(pem[1:-1])}

    def token(self, claims=None, inner=None, outer=None):
        signed = jws.JWS(json.dumps(payload() if claims is None else claims))
        signed.add_signature(self.signing, None, json.dumps(inner or {"alg": "ES256"}))
        header = outer or {"alg": "A256KW", "enc": "A256GCM"}
        sealed = jwe.JWE(signed.serialize(compact=True), json.dumps(header))
        sealed.add_recipient(self.decryption)
        return sealed.serialize(compact=True)


@pytest.fixture
def console():
    return PlayConsole()


@pytest.fixture
def judge(gates, folder, console):
    gate = gates(start=False)

    def run(token, *arguments, keys=None, nonce=NONCE, at=JUDGED, apps=f"{PACKAGE}:{CERTIFICATE.hex()}"):
        (folder / "keys.json").write_text(json.dumps([console.pair] if keys is None else keys))
        (folder / "token").write_text(token + "\n")
        return gate.command(
            *("verify", "--keys", "keys.json", "--apps", apps),
            *("--nonce", base64url(nonce), "--at", at, *arguments, "token"),
        )

    return run


def fails(done):
    """The step that does not hold, once the others are told."""
    assert done.returncode == BROKEN and done.stdout.startswith("reject"), done
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("  fails")]
    assert "not so:" in line
    return line.split()[1]


def test_a_good_token(judge, console):
    done = judge(console.token())
    assert done.returncode == 0 and done.stdout.startswith("accept"), done
    steps = [line.split()[1] for line in done.stdout.splitlines() if line.startswith("  ok")]
    assert (steps[0], steps[-1], len(steps)) == ("size", "level", 28)
    assert '{"appLicensingVerdict":"LICENSED"}' in done.stdout


def test_what_was_found_is_told(judge, console):
    """Also of a token that is refused for what it says."""
    done = judge(console.token(payload(environmentDetails={"x": "a\u202eb"})), nonce=bytes(32))
    assert fails(done) == "nonce"
    assert base64url(NONCE) in done.stdout and r"a\u202eb" in done.stdout
    shut = judge(console.token(), keys=[PlayConsole().pair])
    assert fails(shut) == "jwe_unwrap"
    assert "parts" in shut.stdout and PACKAGE not in shut.stdout and "hint" not in shut.stdout
    signed = judge(".".join(console.token().split(".")[:3]))
    assert signed.returncode == BROKEN and "SafetyNet" in signed.stdout, signed


def test_steps(judge, console):
    assert fails(judge(console.token(), "--level", "strong")) == "level"
    assert fails(judge(console.token(), "--max-age", "29")) == "stale"
    # As old as the gate takes it, unless it is said otherwise.
    late = "2026-03-02T12:03:20Z"
    assert judge(console.token(), at=late).returncode == 0
    assert fails(judge(console.token(), "--max-age", "120", at=late)) == "stale"
    assert fails(judge(console.token(), at="2026-03-02T12:05:01Z")) == "stale"
    assert fails(judge(console.token(), at="2026-03-02T11:58:59Z")) == "future"
    assert fails(judge(console.token(), apps=f"com.example.other:{CERTIFICATE.hex()}")) == "request_package"
    assert fails(judge(console.token(), apps=f"{PACKAGE}:{NONCE.hex()}")) == "cert_digest"
    assert fails(judge(console.token(payload(deviceIntegrity={})))) == "device_verdict"
    assert fails(judge("an opaque token")) == "jwe_parts"
    assert fails(judge(console.token(outer={"alg": "A256KW", "enc": "A256CBC-HS512"}))) == "jwe_enc"
    assert fails(judge(console.token(outer={"alg": "A256GCMKW", "enc": "A256GCM"}))) == "jwe_alg"
    zipped = {"alg": "A256KW", "enc": "A256GCM", "zip": "DEF"}
    assert fails(judge(console.token(outer=zipped))) == "jwe_header"
    other = PlayConsole()
    mixed = {**console.pair, "verification_key": other.pair["verification_key"]}
    assert fails(judge(console.token(), keys=[mixed])) == "jws_signature"
    assert judge(console.token(), keys=[other.pair, console.pair]).returncode == 0


def test_by_its_former_name(judge, console, gates, folder):
    assert judge(console.token()).returncode == 0
    done = gates(start=False).command(
        *("verify", "play-integrity", "--keys", "keys.json", "--apps", f"{PACKAGE}:{CERTIFICATE.hex()}"),
        *("--nonce", base64url(NONCE), "--at", JUDGED, "token"),
    )
    assert done.returncode == 0 and "verify play-integrity is now: portcullis verify" in done.stderr, done
    # What it lacks is named with what the file is.
    done = gates(start=False).command("verify", "token")
    assert done.returncode == USAGE and "a token of Play Integrity: name --keys" in done.stderr, done


def test_mistakes(judge, console):
    done = judge(console.token(), keys=[console.pair, {"decryption_key": "x"}])
    assert done.returncode == DATA_ERROR and "[1]: decryption_key" in done.stderr
    assert console.pair["decryption_key"] not in done.stderr
    assert judge(console.token(), apps="mud").returncode == USAGE
    assert judge(console.token(), nonce=bytes(31)).returncode == USAGE
    assert judge(console.token(), at="yesterday").returncode == USAGE
    assert judge(console.token(), "--level", "best").returncode == USAGE
