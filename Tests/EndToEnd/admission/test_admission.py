"""Who gets in by App Attest, and every way of cheating that must not: one gate, one backend that counts."""

import asyncio

import cbor2
import pytest
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature, encode_dss_signature

from device import sha256
from waiting import eventually
from websocket import closed_with, connect, refusal, until_prompt

pytestmark = pytest.mark.quick

NONCE_INVALID = (401, "nonce_invalid")
REJECTED = (401, "assertion_rejected")
BAD_REQUEST = (400, "bad_request")


@pytest.fixture(scope="module")
def backend(shared_backends):
    return shared_backends()


@pytest.fixture(scope="module")
def gate(shared_gates, backend):
    return shared_gates(backend)


@pytest.fixture
def known(gate, device):
    """A registered device."""
    return gate.app.register(device)


@pytest.fixture(autouse=True)
def no_refused_byte(backend, gate):
    """A test says how many upgrades it expects to be admitted; the backend must have seen that many."""
    before, admitted = backend.count, [0]
    yield admitted
    # The game's own thread may be a moment behind the 101.
    eventually(lambda: backend.count - before >= admitted[0], "as many visits as admissions")
    assert backend.count - before == admitted[0]


async def enter(gate, headers, admitted):
    """An upgrade that must be admitted."""
    async with connect(gate, headers) as connection:
        await until_prompt(connection)
    admitted[0] += 1


async def test_a_nonce_is_good_once(gate, known, no_refused_byte):
    nonce = gate.app.nonce()
    await enter(gate, known.headers(nonce), no_refused_byte)
    assert await refusal(gate, known.headers(nonce)) == NONCE_INVALID


async def test_a_failed_attempt_consumes_the_nonce(gate, known):
    nonce = gate.app.nonce()
    assert await refusal(gate, known.headers(nonce, signed=lambda data, _: data)) == REJECTED
    assert await refusal(gate, known.headers(nonce)) == NONCE_INVALID


async def test_an_old_assertion_does_not_fit_a_fresh_nonce(gate, known, no_refused_byte):
    nonce = gate.app.nonce()
    assertion = known.assertion(nonce)
    await enter(gate, known.headers(nonce, assertion), no_refused_byte)
    assert await refusal(gate, known.headers(gate.app.nonce(), assertion)) == REJECTED


async def test_an_assertion_is_bound_to_the_nonce_presented(gate, known):
    mine, other = gate.app.nonce(), gate.app.nonce()
    assert await refusal(gate, known.headers(other, known.assertion(mine))) == REJECTED


@pytest.mark.parametrize("difference", [-3, -1, 0])
async def test_a_counter_must_rise(gate, known, no_refused_byte, difference):
    await enter(gate, known.headers(gate.app.nonce(), counter=5), no_refused_byte)
    assert await refusal(gate, known.headers(gate.app.nonce(), counter=5 + difference)) == REJECTED
    assert gate.keys()[known.key_id_b64]["signCount"] == 5
    await enter(gate, known.headers(gate.app.nonce(), counter=6), no_refused_byte)


async def test_counter_zero_is_never_greater(gate, known):
    assert await refusal(gate, known.headers(gate.app.nonce(), counter=0)) == REJECTED


async def test_of_upgrades_racing_with_one_counter_one_wins(gate, known, no_refused_byte):
    tickets = [known.headers(gate.app.nonce(), counter=1) for _ in range(16)]
    outcomes = await asyncio.gather(*(refusal(gate, ticket) for ticket in tickets))
    assert sorted(outcomes, key=str) == sorted([(101, None)] + [REJECTED] * 15, key=str)
    no_refused_byte[0] = 1


async def test_upgrades_racing_with_one_nonce(gate, known, no_refused_byte):
    nonce = gate.app.nonce()
    tickets = [known.headers(nonce) for _ in range(8)]
    outcomes = await asyncio.gather(*(refusal(gate, ticket) for ticket in tickets))
    # Which of them came first decides; a later counter may have lost its nonce to an earlier one.
    assert outcomes.count((101, None)) == 1 and outcomes.count(NONCE_INVALID) == 7
    no_refused_byte[0] = 1


async def test_an_unknown_key(gate, device):
    assert await refusal(gate, device.headers(gate.app.nonce())) == (401, "key_unknown")


async def test_a_key_id_of_another_key(gate, known, new_device):
    other = gate.app.register(new_device())
    assert await refusal(gate, known.headers(gate.app.nonce(), key_id=other.key_id)) == REJECTED


async def test_a_revoked_key_and_its_live_session(gate, known, no_refused_byte):
    connection = await connect(gate, known.headers(gate.app.nonce()))
    await until_prompt(connection)
    no_refused_byte[0] = 1
    revoked = await asyncio.to_thread(gate.command, "keys", "revoke", known.key_id_b64)
    assert revoked.returncode == 0, revoked.stderr
    assert await closed_with(connection) == 1008
    assert await refusal(gate, known.headers(gate.app.nonce())) == (403, "key_revoked")
    assert gate.keys()[known.key_id_b64]["revokedAt"]


async def test_a_revoked_key_cannot_be_registered_again(gate, known):
    assert gate.command("keys", "revoke", known.key_id_b64).returncode == 0
    reply = gate.app.post(known.registration(gate.app.nonce()))
    assert (reply.status, reply.code) == (403, "key_revoked")


async def test_registering_again_keeps_the_counter(gate, known, no_refused_byte):
    await enter(gate, known.headers(gate.app.nonce(), counter=9), no_refused_byte)
    gate.app.register(known)
    assert gate.keys()[known.key_id_b64]["signCount"] == 9
    assert await refusal(gate, known.headers(gate.app.nonce(), counter=9)) == REJECTED


SIGNED = {
    "client data alone": lambda data, digest: digest,
    "authenticator data alone": lambda data, digest: data,
    "the concatenation itself": lambda data, digest: data + digest,
    "the other order": lambda data, digest: sha256(digest + data),
    "another hash": lambda data, digest: sha256(data + bytes(32)),
    "the digest hashed again": lambda data, digest: sha256(sha256(data + digest)),
}


@pytest.mark.parametrize("what", SIGNED)
async def test_only_one_formula_is_signed(gate, known, what):
    assert await refusal(gate, known.headers(gate.app.nonce(), signed=SIGNED[what])) == REJECTED


async def test_the_client_data_itself_signed(gate, known):
    nonce = gate.app.nonce()
    headers = known.headers(nonce, signed=lambda data, digest: bytes.fromhex(nonce))
    assert await refusal(gate, headers) == REJECTED


async def test_a_client_data_hash_in_a_header_is_not_believed(gate, known):
    mine, other = gate.app.nonce(), gate.app.nonce()
    headers = known.headers(other, known.assertion(mine))
    digest = sha256(bytes.fromhex(mine)).hex()
    for name in ("X-App-Assert-ClientDataHash", "X-App-Assert-ClientData", "X-Client-Data-Hash"):
        headers[name] = digest
    assert await refusal(gate, headers) == REJECTED


async def test_unknown_assert_headers_beside_the_three_are_ignored(gate, known, no_refused_byte):
    headers = {**known.headers(gate.app.nonce()), "X-App-Assert-Future": "1"}
    await enter(gate, headers, no_refused_byte)


async def test_a_client_data_hash_inside_the_assertion(gate, known):
    mine, other = gate.app.nonce(), gate.app.nonce()
    extra = {"clientDataHash": sha256(bytes.fromhex(mine))}
    assert await refusal(gate, known.headers(other, known.assertion(mine, extra=extra))) == REJECTED
    assert await refusal(gate, known.headers(gate.app.nonce(), extra=extra)) == REJECTED


async def test_an_assertion_for_another_app(gate, known):
    assert (
        await refusal(gate, known.headers(gate.app.nonce(), app_id="ABCDEF12K4.org.example.other"))
        == REJECTED
    )


async def test_a_signature_by_another_key(gate, known, new_device):
    other = new_device()
    nonce = gate.app.nonce()
    assert await refusal(gate, known.headers(nonce, other.assertion(nonce))) == REJECTED


async def test_garbage_and_an_attestation_for_an_assertion(gate, known):
    for garbage in (b"", b"\x00", b"\xa2", b"not cbor at all", bytes(2048), b"\x9a\x10\x00\x00\x00"):
        assert await refusal(gate, known.headers(gate.app.nonce(), garbage)) == REJECTED, garbage
    nonce = gate.app.nonce()
    assert await refusal(gate, known.headers(nonce, known.attestation(nonce))) == REJECTED


async def test_a_high_s_signature_is_allowed(gate, known, no_refused_byte):
    """ECDSA signatures come in pairs (r, s) and (r, n − s); Apple's hardware makes either."""
    order = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
    for wanted_high in (True, False):
        nonce = gate.app.nonce()
        decoded = cbor2.loads(known.assertion(nonce))
        r, s = decode_dss_signature(decoded["signature"])
        s = max(s, order - s) if wanted_high else min(s, order - s)
        decoded["signature"] = encode_dss_signature(r, s)
        await enter(gate, known.headers(nonce, cbor2.dumps(decoded)), no_refused_byte)


async def test_the_older_form_of_authenticator_data(gate, new_device, no_refused_byte):
    older = gate.app.register(new_device(launch_information=False))
    await enter(gate, older.headers(gate.app.nonce()), no_refused_byte)


async def test_no_headers_at_all(gate):
    assert await refusal(gate) == (401, "assertion_required")


async def test_only_unknown_assert_headers(gate):
    assert await refusal(gate, {"X-App-Assert-Token": "1"}) == (401, "assertion_required")


@pytest.mark.parametrize("missing", ["KeyId", "Data", "Nonce"])
async def test_one_of_the_three_missing(gate, known, missing):
    headers = known.headers(gate.app.nonce())
    del headers["X-App-Assert-" + missing]
    assert await refusal(gate, headers) == BAD_REQUEST


MALFORMED = {
    "key id of 31 bytes": ("KeyId", "A" * 40 + "AA=="),
    "key id not base64": ("KeyId", "!" * 44),
    "key id with spare bits": ("KeyId", "A" * 42 + "B="),
    "data not base64": ("Data", "a*b="),
    "data with both alphabets": ("Data", "ab+/ab-_"),
    "nonce in upper case": ("Nonce", "AB" * 32),
    "nonce too short": ("Nonce", "ab" * 31),
    "nonce too long": ("Nonce", "ab" * 33),
    "nonce not hex": ("Nonce", "zz" * 32),
}


@pytest.mark.parametrize("what", MALFORMED)
async def test_malformed_values_consume_nothing(gate, known, no_refused_byte, what):
    name, value = MALFORMED[what]
    nonce = gate.app.nonce()
    headers = known.headers(nonce)
    assert await refusal(gate, {**headers, "X-App-Assert-" + name: value}) == BAD_REQUEST
    await enter(gate, headers, no_refused_byte)


async def test_base64url_is_as_good(gate, known, no_refused_byte):
    headers = known.headers(gate.app.nonce())
    for name in ("X-App-Assert-KeyId", "X-App-Assert-Data"):
        headers[name] = headers[name].replace("+", "-").replace("/", "_").rstrip("=")
    await enter(gate, headers, no_refused_byte)


async def test_a_nonce_nobody_issued(gate, known):
    assert await refusal(gate, known.headers("ab" * 32)) == NONCE_INVALID
    nonce = gate.app.nonce()
    altered = ("0" if nonce[0] != "0" else "1") + nonce[1:]
    assert await refusal(gate, known.headers(altered)) == NONCE_INVALID
