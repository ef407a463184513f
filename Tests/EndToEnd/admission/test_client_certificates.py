"""The mTLS fallback: who may come in with a client certificate, and what a certificate never rescues."""

import contextlib
import ssl
import subprocess

import pytest

from clients import UPGRADE, Raw, head
from reloading import Reloadable
from waiting import eventually
from websocket import connect, refusal, until_prompt

VERSIONS = [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3]
REQUIRED = (401, "assertion_required")


@pytest.fixture(scope="module")
def backend(shared_backends):
    return shared_backends()


@pytest.fixture(scope="module")
def fallback(shared_gates, backend, pki):
    """A gate with the fallback on."""
    return shared_gates(backend, ALLOW_MTLS_FALLBACK="true", MTLS_CLIENT_CA_PATH=pki.client_ca)


@pytest.mark.parametrize("version", VERSIONS)
async def test_a_good_certificate_comes_in(fallback, pki, version):
    async with connect(fallback, certificate=pki.good_client, version=version) as connection:
        assert (await until_prompt(connection)).startswith("Welcome")


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("kind", ["foreign_client", "expired_client", "server_purpose_client", None])
async def test_a_bad_certificate_counts_as_none(fallback, backend, pki, version, kind):
    before = backend.count
    certificate = getattr(pki, kind) if kind else None
    assert await refusal(fallback, certificate=certificate, version=version) == REQUIRED
    assert backend.count == before


async def test_a_bad_certificate_is_logged_with_its_reason(fallback, pki):
    await refusal(fallback, certificate=pki.expired_client)

    def reasons():
        return [event for event in fallback.events() if "expired" in str(event).lower()]

    eventually(reasons, f"a line that says expired:\n{fallback.log_tail(5)}")


def test_lines_about_bad_certificates_are_bounded(fallback, pki):
    """As those of other refusals: an owner of any certificate could fill the log."""
    upgrade = head("GET", "/", *UPGRADE)

    def left_out():
        with contextlib.ExitStack() as held:
            clients = [held.enter_context(Raw(fallback, certificate=pki.expired_client)) for _ in range(20)]
            for _ in range(7):
                for client in clients:
                    client.send(upgrade)
                for client in clients:
                    assert client.reply().status == 401
        return [event for event in fallback.events() if event.get("about") == "client_certificate_refused"]

    eventually(left_out, "a line with the count of those left out")


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    "bits, exponent, is_taken",
    [(4096, 65537, True), (4104, 65537, False), (2048, 2**32 - 1, True), (2048, 2**32 + 1, False)],
)
def test_a_key_that_is_dear_to_check_ends_the_handshake(fallback, folder, version, bits, exponent, is_taken):
    """The client's signature is checked before anybody asks whether its certificate is good."""
    pair = folder / "dear.pem", folder / "dear.key"
    # Of four primes, as a key of two takes ten seconds to find.
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa", "-pkeyopt", f"rsa_keygen_bits:{bits}",
         "-pkeyopt", f"rsa_keygen_primes:{4 if bits > 4000 else 2}",
         "-pkeyopt", f"rsa_keygen_pubexp:{exponent}", "-nodes", "-subj", "/CN=dear", "-days", "2",
         "-out", pair[0], "-keyout", pair[1]],
        check=True, capture_output=True,
    )
    known = len(fallback.events())
    if is_taken:
        with Raw(fallback, certificate=pair, version=version) as client:
            assert client.send(head("GET", "/healthz")).reply().status == 200
        return
    handshake_is_refused(fallback, pair, version, known, "certificate verify failed")


@pytest.mark.parametrize("version", VERSIONS)
def test_a_chain_that_is_too_long_ends_the_handshake(fallback, pki, folder, version):
    """8 KiB are enough for a leaf and three more, each with 4,096 bits of RSA; to read many small ones takes time."""
    certificate, key = pki.good_client
    long = folder / "long.pem"
    long.write_bytes(certificate.read_bytes() + pki.client_ca.read_bytes() * 25)
    known = len(fallback.events())
    handshake_is_refused(fallback, (long, key), version, known, "excessive message size")


def handshake_is_refused(gate, certificate, version, known, reason):
    """As the client sees it, in TLS 1.3 only at its first read; and as the log says it."""
    with pytest.raises((ssl.SSLError, ConnectionError, AssertionError)):
        with Raw(gate, certificate=certificate, version=version) as client:
            client.send(head("GET", "/healthz")).reply()
    eventually(
        lambda: [event for event in gate.events()[known:] if event.get("step") == reason],
        f"a line that says {reason}; the log ends:\n{gate.log_tail(3)}",
    )


async def test_a_good_certificate_does_not_rescue_a_bad_assertion(fallback, backend, pki, device, new_device):
    before = backend.count
    fallback.app.register(device)
    nonce = fallback.app.nonce()
    cheats = [
        (device.headers("ab" * 32), (401, "nonce_invalid")),
        (device.headers(nonce, signed=lambda data, digest: digest), (401, "assertion_rejected")),
        (new_device().headers(fallback.app.nonce()), (401, "key_unknown")),
        ({"X-App-Assert-KeyId": device.key_id_b64}, (400, "bad_request")),
        ({"X-App-Assert-Other": "1"}, REQUIRED),
    ]
    for headers, expected in cheats:
        assert await refusal(fallback, headers, certificate=pki.good_client) == expected
    assert backend.count == before


async def test_an_assertion_still_works_beside_the_fallback(fallback, pki, device):
    fallback.app.register(device)
    for certificate in (None, pki.good_client, pki.foreign_client):
        headers = device.headers(fallback.app.nonce())
        async with connect(fallback, headers, certificate=certificate) as connection:
            await until_prompt(connection)


@pytest.mark.parametrize("variable", ["PORTCULLIS_ENV", "NODE_ENV"])
@pytest.mark.parametrize("version", VERSIONS)
async def test_production_ignores_the_fallback(gates, backend, pki, variable, version):
    before = backend.count
    production = {variable: "Production", "APPATTEST_ROOT_CA_PATH": None}
    gate = gates(backend, ALLOW_MTLS_FALLBACK="true", MTLS_CLIENT_CA_PATH=pki.client_ca, **production)
    assert await refusal(gate, certificate=pki.good_client, version=version) == REQUIRED
    eventually(lambda: "ALLOW_MTLS_FALLBACK" in gate.log_text(), "a warning")
    assert backend.count == before


async def test_without_the_fallback_a_certificate_means_nothing(gates, backend, pki):
    gate = gates(backend, MTLS_CLIENT_CA_PATH=pki.client_ca)
    assert await refusal(gate, certificate=pki.good_client) == REQUIRED


async def test_dates_are_checked_at_the_upgrade(gates, backend, pki, fault):
    """A connection kept alive past the certificate's end does not carry its good name along."""
    fallback = {"ALLOW_MTLS_FALLBACK": "true", "MTLS_CLIENT_CA_PATH": pki.client_ca}
    gate = gates(backend, **fallback, **fault.environment)
    with Raw(gate, certificate=pki.good_client) as client:
        assert client.send(head("GET", "/healthz")).reply().status == 200
        fault.realtime_offset = 40 * 86400 * 10**9
        reply = client.send(head("GET", "/", *UPGRADE)).reply()
        assert (reply.status, reply.code) == REQUIRED


def test_a_certificate_is_good_under_the_authority_that_judged_it(gates, folder, pki):
    """A client CA that a reload has taken away admits nobody, connections from before included."""
    reloadable = Reloadable(gates, folder, pki)
    with Raw(reloadable.gate, certificate=pki.good_client) as client:
        assert client.send(head("GET", "/healthz")).reply().status == 200
        reloadable.lay_out(0, 1)
        reloadable.reload()
        reply = client.send(head("GET", "/", *UPGRADE)).reply()
        assert (reply.status, reply.code) == REQUIRED
    refused = reloadable.gate.event(event="client_certificate_refused")
    assert "changed" in refused["reason"], refused


def test_a_reload_that_leaves_the_authority_leaves_its_verdicts(gates, folder, pki):
    reloadable = Reloadable(gates, folder, pki)
    with Raw(reloadable.gate, certificate=pki.good_client) as client:
        assert client.send(head("GET", "/healthz")).reply().status == 200
        reloadable.lay_out(1, 0)
        reloadable.reload()
        assert client.send(head("GET", "/", *UPGRADE)).reply(head_only=True).status == 101


async def test_without_app_authentication_everyone_comes_in(gates, backend):
    nothing = {"APPATTEST_TEAM_ID": None, "APPATTEST_BUNDLE_ID": None, "APPATTEST_ROOT_CA_PATH": None}
    gate = gates(backend, REQUIRE_APP_AUTH="false", **nothing)
    async with connect(gate) as connection:
        assert (await until_prompt(connection)).startswith("Welcome")
    async with connect(gate, {"X-App-Assert-KeyId": "nonsense"}) as connection:
        await until_prompt(connection)
    reply = gate.app.request("GET", "/attest/challenge")
    assert (reply.status, reply.code) == (404, "not_found")
