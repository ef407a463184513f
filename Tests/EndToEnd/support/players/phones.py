"""Phones: by hand, with messages as docs/devices.md has them, and the program's own; and the operator who pairs them."""

import base64
import hashlib
import hmac
import json
import os
import struct
import subprocess
import threading
import uuid

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from gate import BINARY, free_port, process_environment
from waiting import LONG, eventually, patience


def encode(name, *fields):
    """The bytes of a signed message."""
    parts = [f"portcullis/{name}/v1".encode(), *fields]
    return b"".join(struct.pack(">I", len(part)) + part for part in parts)


def sha256(data):
    return hashlib.sha256(data).digest()


def base64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def base32(data):
    return base64.b32encode(data).rstrip(b"=").decode()


def from_base32(text):
    return base64.b32decode(text + "=" * (-len(text) % 8))


def spki_hash(certificate_pem):
    """What a phone pins of a certificate."""
    key = x509.load_pem_x509_certificate(certificate_pem).public_key()
    return sha256(
        key.public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
    )


class Key:
    """A P-256 key of a phone."""

    def __init__(self):
        self.private = ec.generate_private_key(ec.SECP256R1())
        public = self.private.public_key()
        self.point = public.public_bytes(
            serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint
        )
        self.hash = sha256(
            public.public_bytes(
                serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
            )
        )

    def sign(self, message):
        return base64url(self.private.sign(message, ec.ECDSA(hashes.SHA256())))


class Code:
    """What the QR code of a pairing says."""

    def __init__(self, uri):
        scheme, version, pairing, secret, pin, self.authority = uri.split("/")
        assert (scheme, version) == ("PORTCULLIS:", "1")
        self.pairing = uuid.UUID(bytes=from_base32(pairing))
        self.secret, self.pin = from_base32(secret), from_base32(pin)

    def uri(self):
        parts = [base32(self.pairing.bytes), base32(self.secret), base32(self.pin)]
        return "/".join(["PORTCULLIS:", "1", *parts, self.authority])


class HandPhone:
    """A phone whose messages a test makes, and may break."""

    def __init__(self, name="By hand"):
        self.device, self.approval, self.name = Key(), Key(), name
        self.r = os.urandom(32)

    def pair_message(self, code, pin=None):
        return encode(
            "pair",
            code.pairing.bytes,
            pin or code.pin,
            self.device.hash,
            self.approval.hash,
            sha256(self.r),
            self.name.encode(),
        )

    def pair_form(self, code, pin=None):
        message = self.pair_message(code, pin)
        return {
            "device_pubkey": base64url(self.device.point),
            "approval_pubkey": base64url(self.approval.point),
            "device_name": self.name,
            "commit": sha256(self.r).hex(),
            "mac": hmac.digest(code.secret, message, "sha256").hex(),
            "signature": self.device.sign(message),
            "approval_signature": self.approval.sign(message),
        }

    def digits(self, code, s, pin=None):
        message = encode("pair-sas", sha256(self.pair_message(code, pin)), s, self.r)
        return f"{int.from_bytes(sha256(message)[:8], 'big') % 1_000_000:06d}"


def ask(gate, method, path, body=None, token=None):
    """One request, as JSON where it has a body."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    if body is None:
        return gate.app.request(method, path, headers=headers)
    headers["Content-Type"] = "application/json"
    return gate.app.request(method, path, json.dumps(body), headers)


class Process:
    """A command of the program that goes on while others run, in the gate's environment with these changes."""

    def __init__(self, gate, *arguments, **changes):
        variables = {
            name: value
            for name, value in gate.environment.items()
            if name not in ("LD_PRELOAD", "SHIM_CONTROL")
        }
        self.process = subprocess.Popen(
            [str(BINARY), *map(str, arguments)],
            cwd=gate.folder,
            env=process_environment({**variables, **changes}),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.lines, self.complaints = [], ""
        self._readers = [
            threading.Thread(target=self._read, daemon=True),
            threading.Thread(target=self._complain, daemon=True),
        ]
        for reader in self._readers:
            reader.start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.append(line.rstrip("\n"))

    def _complain(self):
        for line in self.process.stderr:
            self.complaints += line

    def line(self, number=0):
        """A line of standard output, once it is there."""
        eventually(lambda: len(self.lines) > number or self.process.poll() is not None, "a line")
        self._settle_if_ended()
        assert len(self.lines) > number, f"ended with {self.process.poll()}: {self.complaints}"
        return self.lines[number]

    def type(self, text):
        self.process.stdin.write(text + "\n")
        self.process.stdin.flush()

    def says(self, text):
        """Waits for words on standard error."""
        eventually(lambda: text in self.complaints, f"{text!r} in {self.complaints!r}")

    def signal(self, number):
        self.process.send_signal(number)

    def wait(self, within=LONG):
        status = self.process.wait(patience(within))
        self._settle_if_ended()
        return status

    def _settle_if_ended(self):
        if self.process.poll() is not None:
            for reader in self._readers:
                reader.join(patience(LONG))

    def end(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            stream.close()


class Household:
    """The operator and the program's phones at one gate."""

    # A gate that is slow to answer is not one that is away.
    PHONE = ("simulate", "phone", "--timeout", "60")

    def __init__(self, gate):
        self.gate = gate
        self.started = []

    def start(self, *arguments, **changes):
        self.started.append(Process(self.gate, *arguments, **changes))
        return self.started[-1]

    def operator(self, *arguments):
        """`portcullis devices pair`, which has written its code."""
        operator = self.start("devices", "pair", *arguments)
        operator.code = Code(operator.line())
        return operator

    def scan(self, state, uri, *arguments):
        """`simulate phone pair`, on its way."""
        return self.start(*self.PHONE, "--state", state, "pair", *arguments, uri)

    def phone(self, state, *arguments, **options):
        """Another verb of a phone, done."""
        return self.gate.command(*self.PHONE, "--state", str(state), *arguments, **options)

    def pair(self, state, *arguments, subject="anna"):
        """A phone with nobody in between; its standing."""
        operator = self.operator("--subject", subject)
        phone = self.scan(state, operator.code.uri(), *arguments)
        operator.says("type the six digits")
        operator.type(phone.line())
        assert operator.wait() == 0, operator.complaints
        assert phone.wait() == 0, phone.complaints
        return self.standing(state)

    def standing(self, state):
        done = self.phone(state, "self")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def devices(self):
        done = self.gate.command("devices", "list", "--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def end(self):
        for process in self.started:
            process.end()


class Households:
    """Makes gates on the development certificates, whose authorities they believe, each with its household."""

    def __init__(self, gates, folder):
        self.gates, self.folder = gates, folder
        self.certificates = folder / "certs" / "dev"
        self.made = []

    def __call__(self, backend=None, **changes):
        """Keywords change the gate's environment."""
        if not self.certificates.exists():
            assert self.gates(start=False).command("dev-certs").returncode == 0
        port = free_port()
        environment = {
            "TLS_CERT_PATH": self.certificates / "server.pem",
            "TLS_KEY_PATH": self.certificates / "server-key.pem",
            "APPATTEST_ROOT_CA_PATH": self.certificates / "attestation-root.pem",
            "APPATTEST_ENVIRONMENT": "both",
            "DEVICES_PATH": self.folder / "devices.db",
            "PUBLIC_URL": f"https://localhost:{port}",
            "DEVICE_RATE": "10000/m",
            **changes,
        }
        gate = self.gates(backend, port=port, **environment)
        gate.pki = type("PKI", (), {"server_ca": self.certificates / "ca.pem"})
        self.made.append(Household(gate))
        return self.made[-1]

    def finish(self):
        for household in self.made:
            household.end()
