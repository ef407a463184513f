"""`portcullis verify android-key`: chains that another implementation makes, judged step by step."""

import base64
import datetime
import hashlib
import json

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from cryptography.x509.oid import NameOID, ObjectIdentifier

PACKAGE = "com.example.mud"
CERTIFICATE = hashlib.sha256(b"a certificate").digest()
SERVER, NONCE = "11111111-1111-1111-1111-111111111111", bytes(range(32))
JUDGED = "2026-03-02T12:00:00Z"
NOW = datetime.datetime(2026, 3, 2, 12, tzinfo=datetime.timezone.utc)
BROKEN, DATA_ERROR, USAGE = 1, 65, 64
# 1.3.6.1.4.1.11129.2.1.17
DESCRIPTION = ObjectIdentifier("1.3.6.1.4.1.11129.2.1.17")


def challenge(server=SERVER, nonce=NONCE):
    fields = [b"portcullis/android-key/v1", bytes.fromhex(server.replace("-", "")), nonce]
    return hashlib.sha256(b"".join(len(field).to_bytes(4, "big") + field for field in fields)).digest()


def element(tag, *contents):
    content = b"".join(contents)
    count = len(content)
    if count < 128:
        return bytes([tag, count]) + content
    length = count.to_bytes((count.bit_length() + 7) // 8, "big")
    return bytes([tag, 0x80 | len(length)]) + length + content


def integer(value, tag=0x02):
    return element(tag, value.to_bytes(value.bit_length() // 8 + 1, "big"))


def enumerated(value):
    return integer(value, 0x0A)


def entry(number, value):
    """`[number] EXPLICIT`."""
    if number < 31:
        return element(0xA0 | number, value)
    digits = [number & 0x7F]
    while number := number >> 7:
        digits.insert(0, number & 0x7F | 0x80)
    return bytes([0xBF, *digits]) + element(0, value)[1:]


def description(hardware=None, software=None, level=1, **values):
    application = element(
        0x30,
        element(0x31, element(0x30, element(0x04, PACKAGE.encode()), integer(7))),
        element(0x31, element(0x04, CERTIFICATE)),
    )
    root_of_trust = element(0x30, element(0x04, bytes(32)), element(0x01, b"\xff"), enumerated(0))
    hardware = {
        1: element(0x31, integer(2)),
        2: integer(3),
        3: integer(256),
        10: integer(1),
        504: integer(2),
        702: integer(0),
        704: root_of_trust,
        706: integer(202602),
        **(hardware or {}),
    }
    software = {709: element(0x04, application), **(software or {})}
    lists = [
        element(0x30, *(entry(number, value) for number, value in sorted(each.items()) if value is not None))
        for each in (software, hardware)
    ]
    return element(
        0x30,
        integer(300),
        enumerated(level),
        integer(300),
        enumerated(level),
        element(0x04, values.get("challenge", challenge())),
        element(0x04),
        *lists,
    )


class Maker:
    """Google and the maker of a phone: an RSA root, an intermediate on P-384, an attestation key on P-256."""

    def __init__(self, serial_number="f00d"):
        self.root_key = rsa.generate_private_key(65537, 2048)
        self.intermediate_key = ec.generate_private_key(ec.SECP384R1())
        self.attestation_key = ec.generate_private_key(ec.SECP256R1())
        self.key = ec.generate_private_key(ec.SECP256R1())
        factory = [(NameOID.SERIAL_NUMBER, serial_number)] if serial_number else []
        names = {
            "root": [(NameOID.SERIAL_NUMBER, "0123")],
            "intermediate": [(NameOID.TITLE, "TEE"), *factory],
            "attestation": [(NameOID.TITLE, "TEE"), (NameOID.COMMON_NAME, "attestation")],
            "leaf": [(NameOID.COMMON_NAME, "Android Keystore Key")],
        }
        self.names = {
            which: x509.Name([x509.NameAttribute(*attribute) for attribute in attributes])
            for which, attributes in names.items()
        }

    def certificate(self, subject, issuer, key, signer, digest, extension=None, serial=None):
        builder = (
            x509.CertificateBuilder()
            .subject_name(self.names[subject])
            .issuer_name(self.names[issuer])
            .public_key(key.public_key())
            .serial_number(serial or x509.random_serial_number())
            .not_valid_before(NOW - datetime.timedelta(days=30))
            .not_valid_after(NOW + datetime.timedelta(days=30))
        )
        if extension is not None:
            builder = builder.add_extension(x509.UnrecognizedExtension(DESCRIPTION, extension), critical=False)
        else:
            builder = builder.add_extension(x509.BasicConstraints(True, None), critical=True)
        return builder.sign(signer, digest)

    def chain(self, extension=None):
        extension = extension or description()
        return [
            self.certificate(
                "leaf", "attestation", self.key, self.attestation_key, hashes.SHA256(), extension, serial=1
            ),
            self.certificate(
                "attestation", "intermediate", self.attestation_key, self.intermediate_key, hashes.SHA384()
            ),
            self.certificate("intermediate", "root", self.intermediate_key, self.root_key, hashes.SHA512()),
            self.certificate("root", "root", self.root_key, self.root_key, hashes.SHA256()),
        ]


@pytest.fixture(scope="module")
def maker():
    return Maker()


@pytest.fixture
def judge(gates, folder, maker):
    gate = gates(start=False)

    def run(chain, *arguments, roots=None, at=JUDGED, as_json=False, key=None, challenged=None, more=None):
        (folder / "roots.pem").write_bytes((roots or chain[-1]).public_bytes(Encoding.PEM))
        if as_json:
            evidence = {
                name: [base64.b64encode(each.public_bytes(Encoding.DER)).decode() for each in chain]
                for name, chain in {"x5c": chain, **(more or {})}.items()
            }
            (folder / "chain").write_text(json.dumps({"attestation_type": "android_key", **evidence}))
        else:
            (folder / "chain").write_bytes(b"".join(each.public_bytes(Encoding.PEM) for each in chain))
        spki = (key or maker.key).public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
        return gate.command(
            *("verify", "--apps", f"{PACKAGE}:{CERTIFICATE.hex()}", "--roots", "roots.pem"),
            *("--key", base64.b64encode(spki).decode(), "--at", at),
            *(("--server-id", SERVER, "--nonce", NONCE.hex()) if challenged is None else challenged),
            *arguments,
            "chain",
        )

    return run


def fails(done):
    """The step that does not hold, once the others are told."""
    assert done.returncode == BROKEN and done.stdout.startswith("reject"), done
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("  fails")]
    assert "not so:" in line
    return line.split()[1]


def test_a_good_chain(judge, maker):
    for as_json in (False, True):
        done = judge(maker.chain(), "--require-uv", "--patch", "202602", as_json=as_json)
        assert done.returncode == 0 and done.stdout.startswith("accept"), done
        steps = [line.split()[1] for line in done.stdout.splitlines() if line.startswith("  ok")]
        assert (steps[0], steps[-1], len(steps)) == ("chain_length", "key_binding", 31)
        assert PACKAGE in done.stdout and challenge().hex() in done.stdout
    assert judge(maker.chain(), challenged=("--challenge", challenge().hex())).returncode == 0


def test_both_chains_of_evidence(judge, maker, folder):
    """As it was sent: each chain for its own key, and the approval key's with a person."""
    other = Maker()
    other.names, other.attestation_key = maker.names, maker.attestation_key

    def judged(*arguments, key=other, **hardware):
        first, second = maker.chain(), [other.chain(description(**hardware))[0]]
        done = judge(first, *arguments, as_json=True, key=key.key, more={"approval_x5c": second + first[1:]})
        return done

    assert judged("--approval").returncode == 0
    assert judged(key=maker).returncode == 0
    assert fails(judged()) == "key_binding" and fails(judged("--approval", key=maker)) == "key_binding"
    assert fails(judged("--approval", hardware={504: integer(1)})) == "uv"
    assert judged(key=maker, hardware={504: integer(1)}).returncode == 0
    alone = judge(maker.chain(), "--approval", as_json=True)
    assert alone.returncode == DATA_ERROR and "has no approval_x5c" in alone.stderr
    # A file of certificates has one chain, and is judged as the approval key's.
    assert fails(judge(maker.chain(description({504: integer(1)})), "--approval")) == "uv"


def test_signatures(judge, maker):
    """Of all three kinds, and each by another's key."""
    good, other = maker.chain(), Maker().chain()
    for place in range(3):
        mixed = [*good[:place], other[place], *good[place + 1 :]]
        assert fails(judge(mixed)) == "chain_signature"
    assert fails(judge(good, roots=other[-1])) == "root"


def test_steps(judge, maker):
    def judged(*arguments, hardware=None, software=None, **values):
        return judge(maker.chain(description(hardware, software, **values)), *arguments)

    assert fails(judged(challenge=bytes(32))) == "challenge"
    assert fails(judged(level=0)) == "level"
    assert fails(judged("--level", "strongbox")) == "level"
    assert fails(judged(level=2)) == "level_chain"
    assert fails(judged(hardware={702: integer(2)})) == "origin"
    unlocked = element(0x30, element(0x04, bytes(32)), element(0x01, b"\x00"), enumerated(2))
    done = judged(hardware={704: unlocked})
    assert fails(done) == "device_locked" and "unlocked, state 2" in done.stdout
    assert fails(judged(hardware={1: element(0x31, integer(7))})) == "purpose"
    assert fails(judged(software={709: element(0x04, b"\x30\x00")})) == "description_der"
    assert fails(judged("--patch", "202603")) == "os_patch"
    assert fails(judged("--require-uv", hardware={504: integer(1)})) == "uv"
    assert judged(hardware={504: integer(1)}).returncode == 0
    assert fails(judge(maker.chain(), key=Maker().key)) == "key_binding"
    assert fails(judge(maker.chain()[:2])) == "chain_length"


def test_dates(judge, maker):
    """A factory's chain cannot be renewed, others have to be."""
    later = "2027-03-02T12:00:00Z"
    assert judge(maker.chain(), at=later).returncode == 0
    remote = Maker(serial_number=None)
    assert judge(remote.chain(), key=remote.key).returncode == 0
    assert fails(judge(remote.chain(), key=remote.key, at=later)) == "chain_validity"
    assert fails(judge(maker.chain(), at="2026-01-02T12:00:00Z")) == "chain_validity"


def test_revocation(judge, maker, folder):
    chain = maker.chain()
    entries = {f"0{chain[1].serial_number:X}": {"status": "REVOKED", "reason": "KEY_COMPROMISE"}}
    (folder / "status.json").write_text(json.dumps({"entries": entries}))
    assert fails(judge(chain, "--revocation", "status.json")) == "revoked"
    (folder / "status.json").write_text(json.dumps({"entries": {"abc": {"status": "REVOKED"}}}))
    assert judge(chain, "--revocation", "status.json").returncode == 0
    (folder / "status.json").write_text("{}")
    assert judge(chain, "--revocation", "status.json").returncode == DATA_ERROR


def test_mistakes(judge, maker):
    chain = maker.chain()
    assert judge(chain, challenged=()).returncode == USAGE
    assert judge(chain, challenged=("--challenge", "00")).returncode == USAGE
    assert judge(chain, challenged=("--nonce", NONCE.hex())).returncode == USAGE
    assert judge(chain, at="yesterday").returncode == USAGE
    assert judge(chain, "--revocation", "nothing").returncode == DATA_ERROR
    done = judge(chain, "--roots", "chain", as_json=True)
    assert done.returncode == DATA_ERROR and "chain" in done.stderr
