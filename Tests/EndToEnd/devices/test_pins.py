"""Pins of the server's keys: `portcullis pins`, judged by OpenSSL's own idea of a key."""

import base64
import hashlib
import json

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.x509 import load_pem_x509_certificate

from gate import free_port
from phones import Household
from reloading import reload

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
    first = gate.command("pins", "--make-next", TLS_NEXT_KEY_PATH=path)
    assert first.returncode == 0, first.stderr
    made = path.read_bytes()
    assert path.stat().st_mode & 0o777 == 0o600
    assert first.stdout.strip() == pin(next_key(path).public_key())
    assert gate.command("pins", "--make-next", TLS_NEXT_KEY_PATH=path).stdout == first.stdout
    assert path.read_bytes() == made
    shown = json.loads(gate.command("pins", "--json", TLS_NEXT_KEY_PATH=path).stdout)
    assert shown == [certificate_pin(gate), first.stdout.strip()]


def test_the_public_half_is_enough(gates, backend, folder):
    gate = gates(backend, start=False)
    path, public = folder / "next.pem", folder / "next.pub.pem"
    gate.command("pins", "--make-next", TLS_NEXT_KEY_PATH=path)
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
        (("pins", "--make-next"), {}, "TLS_NEXT_KEY_PATH is not set"),
        (("pins",), {"TLS_CERT_PATH": None, "TLS_KEY_PATH": None}, "TLS_CERT_PATH is not set"),
        (("pins",), {"TLS_CERT_PATH": gate.environment["TLS_KEY_PATH"]}, "name a certificate in PEM"),
    ]:
        done = gate.command(*arguments, **changes)
        assert (done.returncode, done.stdout) == (CONFIGURATION, ""), (arguments, done)
        assert words in done.stderr, done.stderr
    damaged = folder / "damaged.pem"
    damaged.write_text("no key")
    done = gate.command("pins", "--make-next", TLS_NEXT_KEY_PATH=damaged)
    assert done.returncode == CONFIGURATION and "without a pass phrase" in done.stderr, done
    done = gate.command("pins", "--make-next", TLS_NEXT_KEY_PATH=folder / "nowhere" / "next.pem")
    assert done.returncode == IO_ERROR and not (folder / "nowhere").exists(), done


@pytest.fixture
def paired(gates, folder, pki):
    """A gate with its certificate in files of the test, and a phone."""
    port = free_port()
    lay_out(folder, pki.server_certificate, pki.server_key)
    gate = gates(
        port=port,
        DEVICES_PATH=folder / "devices.db",
        PUBLIC_URL=f"https://127.0.0.1:{port}",
        TLS_CERT_PATH=folder / "tls.pem",
        TLS_KEY_PATH=folder / "tls.key",
    )
    household = Household(gate)
    household.pair("anna.json")
    yield gate
    household.end()


def lay_out(folder, certificate, key):
    (folder / "tls.pem").write_bytes(certificate.read_bytes())
    (folder / "tls.key").write_bytes(key.read_bytes())


def test_a_key_that_no_phone_was_told_of_is_refused(paired, folder, pki):
    known, (certificate, key) = certificate_pin(paired), pki.issue_server("second")
    lay_out(folder, certificate, key)
    said = reload(paired, "reload_failed")
    assert any(event["event"] == "reload_problem" and "TLS_NEXT_KEY_PATH" in event["reason"] for event in said)
    paired.stop()
    done = paired.command("serve")
    assert done.returncode == CONFIGURATION, done
    assert known in done.stderr and certificate_pin(paired) in done.stderr, done.stderr
    # Told of before, it is welcome; so is any if the operator insists.
    lay_out(folder, pki.server_certificate, pki.server_key)
    paired.environment["TLS_NEXT_KEY_PATH"] = str(key)
    paired.start().stop()
    lay_out(folder, certificate, key)
    paired.start().stop()
    del paired.environment["TLS_NEXT_KEY_PATH"]
    lay_out(folder, *pki.issue_server("third"))
    assert paired.command("serve").returncode == CONFIGURATION
    paired.environment["PINS_FORCE"] = "true"
    paired.start().stop()
