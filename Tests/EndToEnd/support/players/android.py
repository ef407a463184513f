"""What Android phones prove, made here: a maker's attestation keys and chains of certificates, and Google's tokens of
Play Integrity. Nothing of it is the program's own."""

import base64
import datetime
import json
import os
import time

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.keywrap import aes_key_wrap
from cryptography.x509.oid import NameOID

from phones import base64url, sha256

PACKAGE, SIGNER = "com.example.mud", bytes(range(32))
APPS = f"{PACKAGE}:{SIGNER.hex()}"

# ---- DER


def der(tag, *parts):
    """`tag` is one byte, or 256 and the number of a context tag above 30."""
    body = b"".join(parts)
    length = bytes([min(len(body), 127)])
    if len(body) > 127:
        count = (len(body).bit_length() + 7) // 8
        length = bytes([0x80 | count]) + len(body).to_bytes(count, "big")
    head = bytes([tag]) if tag < 256 else b"\xbf" + bytes([0x80 | (tag - 256) >> 7, (tag - 256) & 0x7F])
    return head + length + body


def integer(value, tag=2):
    return der(tag, value.to_bytes(value.bit_length() // 8 + 1, "big"))


def octets(value):
    return der(4, value)


def tagged(number, value):
    return der(0xA0 | number if number < 31 else 256 + number, value)


class Description:
    """Of a key, as `KeyDescription` has it; a test changes what it says."""

    def __init__(self, challenge, needs_person=False):
        self.challenge, self.levels = challenge, (1, 1)
        self.package, self.signers = PACKAGE, [SIGNER]
        self.locked, self.boot_state, self.origin, self.purposes = True, 0, 0, [2]
        self.software_extra = []
        # 504 names the person's finger; without it 503 says that nobody is asked.
        self.person = tagged(504, integer(2)) if needs_person else tagged(503, b"\x05\x00")

    def encoded(self):
        app = der(
            0x30,
            der(0x31, der(0x30, octets(self.package.encode()), integer(7))),
            der(0x31, *map(octets, self.signers)),
        )
        root_of_trust = der(
            0x30,
            octets(bytes(32)),
            der(1, b"\xff" if self.locked else b"\0"),
            integer(self.boot_state, tag=10),
            octets(bytes(32)),
        )
        software = [tagged(709, octets(app)), *self.software_extra]
        hardware = [
            tagged(1, der(0x31, *map(integer, self.purposes))),
            tagged(2, integer(3)),
            tagged(3, integer(256)),
            tagged(10, integer(1)),
            self.person,
            tagged(702, integer(self.origin)),
            tagged(704, root_of_trust),
            tagged(706, integer(202611)),
        ]
        return der(
            0x30,
            integer(200),
            integer(self.levels[0], tag=10),
            integer(200),
            integer(self.levels[1], tag=10),
            octets(self.challenge),
            octets(b""),
            der(0x30, *software),
            der(0x30, *hardware),
        )


class Maker:
    """Who makes phones: a root that the gate is told of, and a key that attests others."""

    EXTENSION = x509.ObjectIdentifier("1.3.6.1.4.1.11129.2.1.17")

    def __init__(self):
        now = datetime.datetime.utcnow()
        self.dates = now - datetime.timedelta(days=30), now + datetime.timedelta(days=3650)
        self.root_key = ec.generate_private_key(ec.SECP384R1())
        self.root = self._certify("a root", self.root_key, "a root", self.root_key, authority=True)
        self.batch_key = ec.generate_private_key(ec.SECP256R1())
        self.batch = self._certify("a batch", self.batch_key, "a root", self.root_key, authority=True)
        self.attestation_key = ec.generate_private_key(ec.SECP256R1())
        self.attestation = self._certify(
            "a phone", self.attestation_key, "a batch", self.batch_key, authority=True
        )

    def new_phone(self):
        """Another attestation key of the same batch."""
        other = object.__new__(Maker)
        other.__dict__ |= self.__dict__
        other.attestation_key = ec.generate_private_key(ec.SECP256R1())
        other.attestation = other._certify(
            "a phone", other.attestation_key, "a batch", self.batch_key, authority=True
        )
        return other

    def _certify(self, subject, key, issuer, issuer_key, authority=False, serial=None, description=None):
        builder = (
            x509.CertificateBuilder()
            .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, subject)]))
            .issuer_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, issuer)]))
            .not_valid_before(self.dates[0])
            .not_valid_after(self.dates[1])
            .serial_number(serial or x509.random_serial_number())
            .public_key(key.public_key())
        )
        if authority:
            builder = builder.add_extension(x509.BasicConstraints(True, None), critical=True)
        if description:
            extension = x509.UnrecognizedExtension(self.EXTENSION, description)
            builder = builder.add_extension(extension, critical=False)
        return builder.sign(issuer_key, hashes.SHA256())

    def root_pem(self):
        return self.root.public_bytes(serialization.Encoding.PEM)

    def chain(self, key, description):
        """Of a `phones.Key`, in DER; phones number their leaves 1."""
        leaf = self._certify(
            "Android Keystore Key",
            key.private,
            "a phone",
            self.attestation_key,
            serial=1,
            description=description.encoded(),
        )
        chain = [leaf, self.attestation, self.batch, self.root]
        return [one.public_bytes(serialization.Encoding.DER) for one in chain]

    def vouch(self, change=None, approval=True, wrong_key=False, other_challenge=False):
        """Evidence for `handset.Handset`: chains of both its keys.

        `change` breaks the description of the device key; of the approval key where `approval` is "change".
        """

        def evidence(handset, nonce, key=None, approval_key=None):
            signed = os.urandom(32).hex() if other_challenge else nonce
            challenge = sha256(handset.message("android-key", bytes.fromhex(signed)))
            description = Description(challenge)
            if change and approval != "change":
                change(description)
            attested = type(handset.key)() if wrong_key else key or handset.key
            found = {
                "attestation_type": "android_key",
                "x5c": [base64url(one) for one in self.chain(attested, description)],
            }
            if approval and (second := approval_key or handset.approval):
                description = Description(challenge, needs_person=True)
                if change and approval == "change":
                    change(description)
                found["approval_x5c"] = [base64url(one) for one in self.chain(second, description)]
            return found

        return evidence


class PlayStore:
    """Google, as far as it answers classic requests of one app."""

    def __init__(self):
        self.wrapping = os.urandom(32)
        self.signing = ec.generate_private_key(ec.SECP256R1())

    def keys(self):
        """The file of PLAY_INTEGRITY_KEYS_PATH."""
        public = self.signing.public_key().public_bytes(
            serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
        )
        pair = {
            "decryption_key": base64.b64encode(self.wrapping).decode(),
            "verification_key": base64.b64encode(public).decode(),
        }
        return json.dumps([pair])

    def verdict(self, nonce):
        return {
            "requestDetails": {
                "requestPackageName": PACKAGE,
                "nonce": nonce,
                "timestampMillis": str(int(time.time() * 1000)),
            },
            "appIntegrity": {
                "appRecognitionVerdict": "PLAY_RECOGNIZED",
                "packageName": PACKAGE,
                "certificateSha256Digest": [base64url(SIGNER)],
            },
            "deviceIntegrity": {
                "deviceRecognitionVerdict": ["MEETS_BASIC_INTEGRITY", "MEETS_DEVICE_INTEGRITY"]
            },
        }

    def token(self, verdict):
        def part(document):
            return base64url(json.dumps(document).encode())

        signed = part({"alg": "ES256"}) + "." + part(verdict)
        numbers = decode_dss_signature(self.signing.sign(signed.encode(), ec.ECDSA(hashes.SHA256())))
        signature = b"".join(number.to_bytes(32, "big") for number in numbers)
        contents = f"{signed}.{base64url(signature)}".encode()
        head = part({"alg": "A256KW", "enc": "A256GCM"})
        key, vector = os.urandom(32), os.urandom(12)
        sealed = AESGCM(key).encrypt(vector, contents, head.encode())
        parts = [aes_key_wrap(self.wrapping, key), vector, sealed[:-16], sealed[-16:]]
        return ".".join([head, *map(base64url, parts)])

    def vouch(self, change=None):
        """Evidence for `handset.Handset`; `change` breaks the verdict."""

        def evidence(handset, nonce, key=None, approval=None):
            message = handset.message("play-nonce", *handset.hashes(key, approval), bytes.fromhex(nonce))
            verdict = self.verdict(base64url(sha256(message)))
            if change:
                change(verdict)
            return {"attestation_type": "play_integrity", "jws_token": self.token(verdict)}

        return evidence


def revocations(*serials):
    """Google's list, as its file has it."""
    entries = {f"{serial:x}": {"status": "REVOKED", "reason": "KEY_COMPROMISE"} for serial in serials}
    return json.dumps({"entries": entries})
