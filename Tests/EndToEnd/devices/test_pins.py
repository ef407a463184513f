"""Pins of the server's keys: `portcullis pins`, judged by OpenSSL's own idea of a key."""

import base64
import hashlib
import json

from cryptography.hazmat.primitives import serialization
from cryptography.x509 import load_pem_x509_certificate

CONFIGURATION, IO_ERROR = 78, 74


def pin(key):
    """Of a public key, as RFC 7469 §2.4 has it, in base64url."""
    spki = key.public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
    return base64.urlsafe_b64encode(hashlib.sha256(spki).digest()).decode().rstrip("=")


def certificate_pin(gate):
    with open(gate.environment["TLS_CERT_PATH"], "rb") as file:
        return pin(load_pem_x509_certificate(file.read()).public_key())


def next_key(path):
    return serialization.load_pem_private_key(path.read_bytes(), None)


def test_the_key_in_service_has_its_certificates_pin(gates, backend):
    gate = gates(backend, start=False)
    assert gate.command("pins").stdout.split() == ["service", certificate_pin(gate)]
    assert json.loads(gate.command("pins", "--json").stdout) == [certificate_pin(gate)]


def test_the_next_key_is_made_once(gates, backend, folder):
    gate = gates(backend, start=False)
    path = folder / "next.pem"
    first = gate.command("pins", "next", TLS_NEXT_KEY_PATH=path)
    assert first.returncode == 0, first.stderr
    made = path.read_bytes()
    assert path.stat().st_mode & 0o777 == 0o600
    assert first.stdout.strip() == pin(next_key(path).public_key())
    assert gate.command("pins", "next", TLS_NEXT_KEY_PATH=path).stdout == first.stdout
    assert path.read_bytes() == made
    shown = json.loads(gate.command("pins", "--json", TLS_NEXT_KEY_PATH=path).stdout)
    assert shown == [certificate_pin(gate), first.stdout.strip()]


def test_the_public_half_is_enough(gates, backend, folder):
    gate = gates(backend, start=False)
    path, public = folder / "next.pem", folder / "next.pub.pem"
    gate.command("pins", "next", TLS_NEXT_KEY_PATH=path)
    public.write_bytes(
        next_key(path)
        .public_key()
        .public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    )
    lines = gate.command("pins", TLS_NEXT_KEY_PATH=public).stdout.splitlines()
    assert lines[1].split() == ["next", pin(next_key(path).public_key())]


def test_what_cannot_be_said_is_refused(gates, backend, folder):
    gate = gates(backend, start=False)
    for arguments, changes, words in [
        (("pins", "next"), {}, "TLS_NEXT_KEY_PATH is not set"),
        (("pins",), {"TLS_CERT_PATH": None, "TLS_KEY_PATH": None}, "TLS_CERT_PATH is not set"),
        (("pins",), {"TLS_CERT_PATH": gate.environment["TLS_KEY_PATH"]}, "name a certificate in PEM"),
    ]:
        done = gate.command(*arguments, **changes)
        assert (done.returncode, done.stdout) == (CONFIGURATION, ""), (arguments, done)
        assert words in done.stderr, done.stderr
    damaged = folder / "damaged.pem"
    damaged.write_text("no key")
    done = gate.command("pins", "next", TLS_NEXT_KEY_PATH=damaged)
    assert done.returncode == CONFIGURATION and "without a pass phrase" in done.stderr, done
    done = gate.command("pins", "next", TLS_NEXT_KEY_PATH=folder / "nowhere" / "next.pem")
    assert done.returncode == IO_ERROR and not (folder / "nowhere").exists(), done
