"""A software iPhone: the attestations and assertions of Apple's App Attest, made with a test root of our own.

Written from Apple's "Attestation Object Validation Guide" and the WebAuthn layout of authenticator data.
Each part can be made wrong on purpose, one at a time."""

import base64
import datetime
import hashlib
import struct

import cbor2
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID, ObjectIdentifier

from pki import DAY, build, key_usage, now, pem

# The app that every test but those of other apps is about.
TEAM, BUNDLE = "ABCDEF12K4", "org.example.mudproxy"
APP_ID = f"{TEAM}.{BUNDLE}"
PRODUCTION = b"appattest" + bytes(7)
DEVELOPMENT = b"appattestdevelop"
APPLE = "1.2.840.113635.100."


def sha256(data):
    return hashlib.sha256(data).digest()


def b64(data):
    return base64.b64encode(data).decode()


def tlv(tag, content):
    """One DER element with a length below 128 or in one byte; `tag` is the identifier octets."""
    length = bytes([len(content)]) if len(content) < 128 else bytes([0x81, len(content)])
    return tag + length + content


def tagged(number, content):
    """[number] EXPLICIT around `content`."""
    octets = [number & 0x7F]
    while number := number >> 7:
        octets.insert(0, 0x80 | number & 0x7F)
    tag = bytes([0xA0 | octets[0]]) if len(octets) == 1 and octets[0] < 31 else bytes([0xBF, *octets])
    return tlv(tag, content)


def integer(value):
    return tlv(b"\x02", bytes([value]))


def octets(value):
    return tlv(b"\x04", value)


def sequence(*items):
    return tlv(b"\x30", b"".join(items))


def app_id_extension(app_id):
    """1.2.840.113635.100.8.5: what the key may be used for, the app's identifier at [1204]."""
    return sequence(
        tagged(4, integer(10)),
        *(tagged(number, integer(0)) for number in (1200, 1201, 1202, 1203)),
        tagged(1204, octets(app_id.encode())),
        tagged(1206, integer(4)),
        *(tagged(number, integer(0)) for number in (1207, 1209, 1210, 1211)),
    )


def system_extension():
    """1.2.840.113635.100.8.7: the operating system's version and build."""
    return sequence(
        tagged(1400, octets(b"27.0.1")), tagged(1104, integer(2)), tagged(1403, octets(b"24A446"))
    )


def apple_name(common_name):
    return x509.Name(
        [
            x509.NameAttribute(NameOID.COMMON_NAME, common_name),
            x509.NameAttribute(NameOID.ORGANIZATION_NAME, "Apple Inc."),
            x509.NameAttribute(NameOID.STATE_OR_PROVINCE_NAME, "California"),
        ]
    )


class AttestationAuthority:
    """Root and intermediate, both P-384, shaped as Apple's are."""

    def __init__(self):
        root_name = apple_name("Suite App Attestation Root CA")
        self.root_key = ec.generate_private_key(ec.SECP384R1())
        authority = [
            (x509.BasicConstraints(ca=True, path_length=None), True),
            (x509.SubjectKeyIdentifier.from_public_key(self.root_key.public_key()), False),
            (key_usage(key_cert_sign=True, crl_sign=True), True),
        ]
        years = datetime.timedelta(days=3650)
        self.root = build(
            root_name,
            self.root_key,
            root_name,
            self.root_key,
            authority,
            ends=now() + years,
            digest=hashes.SHA384(),
        )
        self.name = apple_name("Suite App Attestation CA 1")
        self.key = ec.generate_private_key(ec.SECP384R1())
        intermediate = [
            (x509.BasicConstraints(ca=True, path_length=0), True),
            (x509.AuthorityKeyIdentifier.from_issuer_public_key(self.root_key.public_key()), False),
            (x509.SubjectKeyIdentifier.from_public_key(self.key.public_key()), False),
            (key_usage(key_cert_sign=True, crl_sign=True), True),
        ]
        self.intermediate = build(
            self.name,
            self.key,
            root_name,
            self.root_key,
            intermediate,
            ends=now() + years,
            digest=hashes.SHA384(),
        )

    def root_pem(self):
        return pem(self.root)

    def leaf(self, device_key, app_id, nonce, starts=None, ends=None):
        """The certificate of a device's key, good for three days as Apple's are."""
        point = device_key.public_key().public_bytes(
            serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint
        )
        subject = x509.Name(
            [
                x509.NameAttribute(NameOID.COMMON_NAME, sha256(point).hex()),
                x509.NameAttribute(NameOID.ORGANIZATIONAL_UNIT_NAME, "AAA Certification"),
                x509.NameAttribute(NameOID.ORGANIZATION_NAME, "Apple Inc."),
                x509.NameAttribute(NameOID.STATE_OR_PROVINCE_NAME, "California"),
            ]
        )

        def own(suffix, content):
            return x509.UnrecognizedExtension(ObjectIdentifier(APPLE + suffix), content), False

        usage = key_usage(
            digital_signature=True, content_commitment=True, key_encipherment=True, data_encipherment=True
        )
        extensions = [
            (x509.BasicConstraints(ca=False, path_length=None), True),
            (usage, True),
            (x509.ExtendedKeyUsage([ObjectIdentifier(APPLE + "4.24")]), False),
            own("8.5", app_id_extension(app_id)),
            own("8.7", system_extension()),
            own("8.2", sequence(tagged(1, octets(nonce)))),
        ]
        starts, ends = starts or now() - DAY, ends or now() + 2 * DAY
        return build(subject, device_key, self.name, self.key, extensions, starts, ends)


class Device:
    """One key in one pretended Secure Enclave, with its counter."""

    def __init__(self, authority, app_id, aaguid=PRODUCTION, launch_information=True):
        self.authority = authority
        self.app_id = app_id
        self.aaguid = aaguid
        self.launch_information = launch_information
        self.counter = 0
        self.key = ec.generate_private_key(ec.SECP256R1())
        numbers = self.key.public_key().public_numbers()
        self.x, self.y = numbers.x.to_bytes(32, "big"), numbers.y.to_bytes(32, "big")
        self.key_id = sha256(b"\x04" + self.x + self.y)

    @property
    def key_id_b64(self):
        return b64(self.key_id)

    def extensions(self):
        if not self.launch_information:
            return b""
        category = struct.pack("<I", 4)
        return cbor2.dumps({"apple_bundle_version_01": "1.0", "apple_validation_category_01": category})

    def cose_key(self):
        return cbor2.dumps({1: 2, 3: -7, -1: 1, -2: self.x, -3: self.y})

    def flags(self):
        return 0xC0 if self.launch_information else 0x40

    def attestation_data(self, sign_count=0, aaguid=None, credential_id=None, app_id=None):
        credential_id = self.key_id if credential_id is None else credential_id
        return (
            sha256((app_id or self.app_id).encode())
            + struct.pack(">BI", self.flags(), sign_count)
            + (aaguid or self.aaguid)
            + struct.pack(">H", len(credential_id))
            + credential_id
            + self.cose_key()
            + self.extensions()
        )

    def attestation(self, nonce, fmt="apple-appattest", leaf_app_id=None, **changes):
        """The attestation object for the issued `nonce` (hex); `changes` go to its authenticator data."""
        data = self.attestation_data(**changes)
        bound = sha256(data + sha256(bytes.fromhex(nonce)))
        leaf = self.authority.leaf(self.key, leaf_app_id or self.app_id, bound)
        chain = [c.public_bytes(serialization.Encoding.DER) for c in (leaf, self.authority.intermediate)]
        statement = {"x5c": chain, "receipt": b"synthetic receipt"}
        return cbor2.dumps({"fmt": fmt, "attStmt": statement, "authData": data})

    def registration(self, nonce, **changes):
        """The JSON body of POST /attest/register, as a dictionary."""
        attestation = b64(self.attestation(nonce, **changes))
        return {"keyId": self.key_id_b64, "attestation": attestation, "clientData": nonce}

    def authenticator_data(self, counter, app_id=None):
        return (
            sha256((app_id or self.app_id).encode())
            + struct.pack(">BI", self.flags(), counter)
            + self.extensions()
        )

    def assertion(self, nonce, counter=None, app_id=None, signed=None, extra=None):
        """The assertion for the issued `nonce`, with the next counter unless one is given.

        `signed` makes the signed bytes from (authenticator data, client data hash) in another way;
        `extra` adds members to the map."""
        if counter is None:
            self.counter += 1
            counter = self.counter
        data = self.authenticator_data(counter, app_id)
        client_data_hash = sha256(bytes.fromhex(nonce))
        message = signed(data, client_data_hash) if signed else sha256(data + client_data_hash)
        signature = self.key.sign(message, ec.ECDSA(hashes.SHA256()))
        return cbor2.dumps({"signature": signature, "authenticatorData": data, **(extra or {})})

    def headers(self, nonce, assertion=None, key_id=None, **choices):
        """The three headers of an upgrade."""
        assertion = self.assertion(nonce, **choices) if assertion is None else assertion
        return {
            "X-App-Assert-KeyId": b64(self.key_id if key_id is None else key_id),
            "X-App-Assert-Data": b64(assertion),
            "X-App-Assert-Nonce": nonce,
        }
