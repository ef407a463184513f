"""TLS as openssl's own client and sslscan see it: versions, suites, ALPN, tickets, requests, renegotiation."""

import re
import subprocess
from xml.etree import ElementTree

import pytest

from clients import s_client
from waiting import LONG, eventually, patience


@pytest.fixture(scope="module")
def gate(shared_gates, shared_backends):
    return shared_gates(shared_backends())


@pytest.fixture(scope="module")
def fallback(shared_gates, shared_backends, pki, module_folder):
    changes = {
        "ATTESTED_KEYS_PATH": module_folder / "other-keys.json",
        "CONTROL_SOCKET": module_folder / "o.sock",
    }
    return shared_gates(
        shared_backends(), ALLOW_MTLS_FALLBACK="true", MTLS_CLIENT_CA_PATH=pki.client_ca, **changes
    )


def established(text):
    match = re.search(r"New, (TLSv[\d.]+), Cipher is (\S+)", text)
    return match.groups() if match else None


def handshake(
    gate, *arguments, request=b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
):
    """A handshake, one request and its answer, so that tickets that follow the handshake are read."""
    return s_client(gate, "-ign_eof", *arguments, stdin=request)


def test_the_certificate_verifies(gate):
    text = handshake(gate, "-verify_return_error", "-verify_hostname", "localhost")
    assert "Verify return code: 0 (ok)" in text and '{"status":"ok"}' in text


@pytest.mark.parametrize("version", ["-tls1_2", "-tls1_3"])
def test_both_versions(gate, version):
    name, suite = established(handshake(gate, version))
    assert name == {"-tls1_2": "TLSv1.2", "-tls1_3": "TLSv1.3"}[version]
    assert re.search("GCM|CHACHA20", suite)


@pytest.mark.parametrize("version", ["-tls1", "-tls1_1"])
def test_no_older_version(gate, version):
    text = handshake(gate, version, "-cipher", "ALL:@SECLEVEL=0")
    assert established(text) in (None, ("NONE", "(NONE)")) and "Cipher is (NONE)" in text


def suites(selection):
    listed = subprocess.run(["openssl", "ciphers", selection], capture_output=True, text=True, check=True)
    return listed.stdout.strip().split(":")


def test_only_aead_suites(gate):
    everything = suites("ALL:@SECLEVEL=0:!TLSv1.3:!PSK:!SRP:!RSAPSK")
    others = [s for s in everything if not re.search("GCM|CHACHA20|^TLS_|CCM", s)]
    assert "ECDHE-ECDSA-AES128-SHA256" in others
    text = handshake(gate, "-tls1_2", "-cipher", ":".join(others) + ":@SECLEVEL=0")
    assert "Cipher is (NONE)" in text
    assert established(handshake(gate, "-tls1_2", "-cipher", "ECDHE-ECDSA-AES128-GCM-SHA256"))


def test_x25519_first(gate):
    """In TLS 1.3 the client's key share decides first; in 1.2 the server's order shows."""
    assert "Server Temp Key: X25519" in handshake(gate, "-tls1_3")
    assert "Server Temp Key: X25519" in handshake(gate, "-tls1_2", "-curves", "P-384:P-256:X25519")
    assert "prime256v1" in handshake(gate, "-tls1_3", "-curves", "P-256")


def test_alpn(gate):
    assert "ALPN protocol: http/1.1" in handshake(gate, "-alpn", "h2,http/1.1")
    assert "ALPN protocol: http/1.1" in handshake(gate, "-alpn", "http/1.0,http/1.1")
    assert "No ALPN negotiated" in handshake(gate)


def test_the_other_name_of_http_1(gate):
    """What curl --http1.0 offers, and nothing else; nginx takes it too."""
    assert "ALPN protocol: http/1.0" in handshake(gate, "-alpn", "http/1.0")


@pytest.mark.parametrize("version", ["-tls1_2", "-tls1_3"])
@pytest.mark.parametrize("offered", ["h2", "h2,h3,spdy/3.1", "http/0.9", "HTTP/1.1", "http/1"])
def test_no_protocol_in_common_ends_the_handshake(gate, version, offered):
    """RFC 7301 §3.2: a fatal alert, and not a connection on which each side speaks its own protocol."""
    text = handshake(gate, version, "-alpn", offered)
    assert "alert no application protocol" in text and not established(text)


def tickets(text):
    return text.count("Post-Handshake New Session Ticket arrived")


def test_one_ticket(gate):
    assert tickets(handshake(gate, "-tls1_3")) == 1


@pytest.mark.parametrize("version", ["-tls1_2", "-tls1_3"])
def test_resumption(gate, folder, version):
    session = folder / "session.pem"
    assert established(handshake(gate, version, "-sess_out", session))
    text = handshake(gate, version, "-sess_in", session)
    assert "Reused, TLSv" in text and '{"status":"ok"}' in text


@pytest.mark.parametrize("version", ["-tls1_2", "-tls1_3"])
def test_a_ticket_resumes_at_any_worker(gate, folder, version):
    """The loops share their ticket keys: whichever accepts, the session resumes."""
    session = folder / "session.pem"
    handshake(gate, version, "-sess_out", session)
    assert all("Reused, TLSv" in handshake(gate, version, "-sess_in", session) for _ in range(8))


def test_a_ticket_issued_under_other_settings_does_not_resume(gate, fallback, folder):
    session = folder / "session.pem"
    handshake(gate, "-tls1_3", "-sess_out", session)
    text = handshake(fallback, "-tls1_3", "-sess_in", session)
    assert "New, TLSv1.3" in text and "Reused" not in text


@pytest.mark.parametrize("version", ["-tls1_2", "-tls1_3"])
def test_ticket_keys_rotate(gates, backend, folder, fault, version):
    """Every hour: a ticket is good under the key of its time and the one after that, and then no more."""
    gate = gates(backend, WORKERS=1, **fault.environment)
    old, fresh = folder / "old.pem", folder / "fresh.pem"

    def resumes(session):
        return "Reused, TLSv" in handshake(gate, version, "-sess_in", session)

    def rotated():
        """Whether a ticket issued now is under another key than `old`: its name leads (RFC 5077 §4)."""
        handshake(gate, version, "-sess_out", fresh)
        return key_name(fresh) != key_name(old)

    handshake(gate, version, "-sess_out", old)
    assert not rotated() and resumes(old)
    fault.monotonic_offset = 3_601 * 10**9
    eventually(rotated, "the first rotation")
    assert resumes(old)
    fault.monotonic_offset = 7_202 * 10**9
    eventually(lambda: not resumes(old), "the second rotation")
    assert rotated() and resumes(fresh)


def key_name(session):
    """The first 16 bytes of a session's ticket, in hexadecimal."""
    command = ["openssl", "sess_id", "-in", session, "-noout", "-text"]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return re.search(r"TLS session ticket:\s+0000 - ([0-9a-f -]{47})", text)[1]


@pytest.mark.parametrize("version", ["-tls1_2", "-tls1_3"])
def test_a_ticket_is_good_for_two_hours(gates, backend, folder, fault, version):
    """By the wall clock too, whatever key it is under."""
    gate = gates(backend, **fault.environment)
    session = folder / "session.pem"
    handshake(gate, version, "-sess_out", session)
    fault.realtime_offset = 7_100 * 10**9
    assert "Reused" in handshake(gate, version, "-sess_in", session)
    fault.realtime_offset = 7_210 * 10**9
    assert "Reused" not in handshake(gate, version, "-sess_in", session)


def test_no_early_data(gate, folder):
    session = folder / "session.pem"
    text = handshake(gate, "-tls1_3", "-sess_out", session)
    assert "Max Early Data: 0" in text
    early = folder / "early.txt"
    early.write_text("GET /attest/challenge HTTP/1.1\r\nHost: localhost\r\n\r\n")
    text = handshake(gate, "-tls1_3", "-sess_in", session, "-early_data", early)
    assert "Early data was not sent" in text or "Early data was rejected" in text


@pytest.mark.parametrize("version", ["-tls1_2", "-tls1_3"])
def test_no_certificate_is_requested_without_the_fallback(gate, version):
    text = handshake(gate, version)
    assert "No client certificate CA names sent" in text
    assert "Client Certificate Types" not in text


@pytest.mark.parametrize("version", ["-tls1_2", "-tls1_3"])
def test_with_the_fallback_a_certificate_is_requested_by_name(fallback, version):
    text = handshake(fallback, version)
    assert "Acceptable client certificate CA names" in text and "CN = Suite Client CA" in text
    assert '{"status":"ok"}' in text


@pytest.mark.parametrize("kind", ["good_client", "foreign_client", "expired_client"])
@pytest.mark.parametrize("version", ["-tls1_2", "-tls1_3"])
def test_no_ticket_for_a_connection_with_a_certificate(fallback, pki, folder, version, kind):
    certificate, key = getattr(pki, kind)
    session = folder / "session.pem"
    text = handshake(fallback, version, "-cert", certificate, "-key", key, "-sess_out", session)
    assert '{"status":"ok"}' in text and tickets(text) == 0
    assert "TLS session ticket:" not in text
    if session.exists():
        assert "Reused" not in handshake(fallback, version, "-sess_in", session)


def test_no_renegotiation(gate):
    """In s_client a line that is just R asks for a renegotiation."""
    command = ["openssl", "s_client", "-connect", f"{gate.host}:{gate.port}", "-tls1_2"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as client:
        lines = []
        for line in client.stdout:
            lines.append(line)
            if "Extended master secret" in line:
                break
        client.stdin.write("R\n")
        client.stdin.flush()
        rest, _ = client.communicate(timeout=patience(LONG))
        assert "RENEGOTIATING" in rest
        assert re.search("no renegotiation|handshake failure|unexpected message|error", rest), rest


def test_no_compression(gate):
    text = handshake(gate, "-tls1_2")
    assert "Compression: NONE" in text


def test_secure_renegotiation_information(gate):
    assert "Secure Renegotiation IS supported" in handshake(gate, "-tls1_2")


# ---- sslscan

def self_signed(folder, *algorithm):
    command = ["openssl", "req", "-x509", "-nodes", "-newkey", *algorithm, "-subj", "/CN=localhost"]
    command += ["-keyout", folder / "own.key", "-out", folder / "own.pem"]
    subprocess.run(command, check=True, capture_output=True)
    return {"TLS_CERT_PATH": folder / "own.pem", "TLS_KEY_PATH": folder / "own.key"}


AEAD = re.compile(
    r"TLS_(AES_128_GCM|AES_256_GCM|CHACHA20_POLY1305)_SHA|ECDHE-(ECDSA|RSA)-(AES\d+-GCM|CHACHA20)"
)


@pytest.mark.parametrize("algorithm", [("ec", "-pkeyopt", "ec_paramgen_curve:P-256"), ("rsa:2048",)])
def test_sslscan_finds_only_aead_suites(gates, backend, folder, algorithm):
    gate = gates(backend, **self_signed(folder, *algorithm))
    report = folder / "sslscan.xml"
    # Of its own it takes three seconds without an answer for a suite that is not offered.
    command = ["sslscan", "--timeout=60", f"--xml={report}", f"{gate.host}:{gate.port}"]
    subprocess.run(command, check=True, capture_output=True, timeout=patience(300))
    found = ElementTree.parse(report).find("ssltest")
    versions = {
        protocol.get("version") for protocol in found.iter("protocol") if protocol.get("enabled") == "1"
    }
    assert versions == {"1.2", "1.3"}
    offered = [cipher.get("cipher") for cipher in found.iter("cipher")]
    assert len(offered) == 6 and all(AEAD.match(suite) for suite in offered), offered
    assert found.find("renegotiation").get("supported") == "0"
    assert all(probe.get("vulnerable") == "0" for probe in found.iter("heartbleed"))
