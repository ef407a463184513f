"""A gate whose files can be replaced while it runs, and the ways to break them."""

import hashlib
import json
import os
import signal
import ssl

from clients import UPGRADE, Raw, head
from waiting import eventually

# 12 KiB of head: more than the smaller of the two limits, less than the larger.
LARGE_REQUEST = head("GET", "/healthz", "X: " + "a" * 12_000)


def reload(gate, expected="reloaded"):
    """SIGHUP, and what the log has said since, up to the line that answers it."""
    known = len(gate.events())
    gate.signal(signal.SIGHUP)

    def answer():
        for event in gate.events()[known:]:
            if event.get("event") in ("reloaded", "reload_failed"):
                return event
        return None

    found = eventually(answer, "the answer to SIGHUP")
    assert found["event"] == expected, f"{found}\n{gate.log_tail(5)}"
    return gate.events()[known:]


class Reloadable:
    """A gate whose certificate, client authority and configuration file are its own to be replaced."""

    def __init__(self, gates, folder, pki, backend="echo:", **changes):
        self.folder, self.pki = folder, pki
        self.pairs = [(pki.server_certificate, pki.server_key), pki.issue_server("second")]
        self.authorities = [pki.client_ca, pki.server_ca]
        self.fingerprints = [fingerprint_of(certificate) for certificate, _ in self.pairs]
        self.lay_out(0, 0, HTTP_HEAD_MAX_BYTES="16KiB", LOG_LEVEL="info")
        self.gate = gates(
            backend,
            start=False,
            TLS_CERT_PATH=folder / "tls.pem",
            TLS_KEY_PATH=folder / "tls.key",
            ALLOW_MTLS_FALLBACK="true",
            MTLS_CLIENT_CA_PATH=folder / "clients.pem",
            **changes,
        ).start("--config", str(folder / "portcullis.env"))

    def put(self, name, content):
        """Replaces a file in one step, as an operator's tool does."""
        fresh = self.folder / (name + ".new")
        fresh.write_bytes(content)
        os.replace(fresh, self.folder / name)

    def lay_out(self, pair, authority, **settings):
        certificate, key = self.pairs[pair]
        self.put("tls.pem", certificate.read_bytes())
        self.put("tls.key", key.read_bytes())
        self.put("clients.pem", self.authorities[authority].read_bytes())
        self.put("portcullis.env", "".join(f"{n}={v}\n" for n, v in settings.items()).encode())

    def reload(self, expected="reloaded"):
        return reload(self.gate, expected)

    def shown(self):
        """Which of the two certificates a new handshake shows."""
        with Raw(self.gate) as client:
            shown = client.socket.getpeercert(binary_form=True)
        return self.fingerprints.index(hashlib.sha256(shown).hexdigest())

    def large_request(self):
        with Raw(self.gate) as client:
            return client.send(LARGE_REQUEST).reply().status

    def client_certificate(self):
        """The status of an upgrade with a certificate of the first authority, and no App Attest."""
        with Raw(self.gate, certificate=self.pki.good_client) as client:
            return client.send(head("GET", "/", *UPGRADE)).reply(head_only=True).status

    def connections(self):
        """How many the gate has, by its own count."""
        return json.loads(self.gate.command("stats", "--json").stdout)["now"]["connections"]


def fingerprint_of(path):
    return hashlib.sha256(ssl.PEM_cert_to_DER_cert(path.read_text())).hexdigest()


# What is broken, and the name that the log has to blame.
BLAMED = {
    "garbage certificate": "TLS_CERT_PATH",
    "other key": "TLS_KEY_PATH",
    "missing authority": "MTLS_CLIENT_CA_PATH",
    "bad value": "HTTP_HEAD_MAX_BYTES",
    "unknown name": "HTTP_HEAD_MAXIMUM",
}
DAMAGES = tuple(BLAMED)


def damage(reloadable, kind):
    if kind == "garbage certificate":
        reloadable.put("tls.pem", b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")
    elif kind == "other key":
        reloadable.put("tls.key", reloadable.pki.issue_server("mismatched")[1].read_bytes())
    elif kind == "missing authority":
        (reloadable.folder / "clients.pem").unlink()
    elif kind == "bad value":
        reloadable.put("portcullis.env", b"HTTP_HEAD_MAX_BYTES=banana\n")
    else:
        reloadable.put("portcullis.env", b"HTTP_HEAD_MAXIMUM=8KiB\n")
