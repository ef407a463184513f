"""Challenges for the registration of one key: good for a day, on any process with the same secret, and for that key alone."""

import base64
import struct

import pytest

from clients import UPGRADE, Raw, assert_refusal, head

DAY = 86_400
PURPOSE = "/attest/challenge?purpose=register"


def url(data):
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def asked(gate, device):
    """What a challenge for the device's registration says."""
    reply = gate.app.request("GET", f"{PURPOSE}&key={url(device.key_id)}")
    assert reply.status == 200, reply
    assert reply.header("Cache-Control") == "no-store"
    return reply.json


def document(gate, device):
    return device.registration(asked(gate, device)["nonce"])


def registers(gate, document):
    reply = gate.app.post(document)
    return (reply.status, reply.code) if reply.status != 200 else (200, reply.json["registered"])


def upgraded(gate, headers):
    fields = [f"{name}: {value}" for name, value in headers.items()]
    with Raw(gate) as client:
        reply = client.send(head("GET", "/", *UPGRADE, *fields)).reply(head_only=True)
        return reply.status, reply.code


@pytest.fixture
def timed(gates, backend, fault):
    """A gate whose wall clock the test moves."""
    return gates(backend, **fault.environment)


# ---- attacks


def test_another_key_gets_nothing_by_it(gate, device, new_device):
    nonce = asked(gate, device)["nonce"]
    assert registers(gate, new_device().registration(nonce)) == (401, "nonce_invalid")
    assert registers(gate, device.registration(nonce)) == (200, True)


@pytest.mark.parametrize("byte", [0, 7, 8, 15, 16, 31])
def test_one_that_was_changed_is_none(gate, device, byte):
    nonce = bytearray.fromhex(asked(gate, device)["nonce"])
    nonce[byte] ^= 1
    assert registers(gate, device.registration(nonce.hex())) == (401, "nonce_invalid")


@pytest.mark.parametrize("part", [slice(0, 62), slice(0, 32), slice(2, 64)])
def test_one_that_was_cut_is_malformed(gate, device, part):
    good = document(gate, device)
    assert registers(gate, {**good, "clientData": good["clientData"][part]}) == (400, "bad_request")


def test_it_is_no_nonce_of_an_assertion(gate, backend, device):
    gate.app.register(device)
    nonce = asked(gate, device)["nonce"]
    assert upgraded(gate, device.headers(nonce)) == (401, "nonce_invalid")
    assert backend.count == 0


def test_a_rejected_attestation_leaves_it_good(gate, device):
    nonce = asked(gate, device)["nonce"]
    assert registers(gate, device.registration(nonce, sign_count=1)) == (403, "attestation_rejected")
    assert registers(gate, device.registration(nonce)) == (200, True)


def test_it_is_judged_before_the_certificates(gate, device, new_device):
    """A bad attestation by a challenge that does not count is refused for that."""
    nonce = asked(gate, new_device())["nonce"]
    assert registers(gate, device.registration(nonce, sign_count=1)) == (401, "nonce_invalid")


def test_the_same_body_a_hundred_times(gate, device):
    good = document(gate, device)
    assert registers(gate, good) == (200, True)
    headers = device.headers(gate.app.nonce())
    assert upgraded(gate, headers)[0] == 101
    (before,) = gate.keys().values()
    journal = gate.journal_bytes()
    assert before["signCount"] == 1
    for _ in range(100):
        assert registers(gate, good) == (200, True)
    assert list(gate.keys().values()) == [before]
    assert gate.journal_bytes() == journal
    # And its assertion is no good a second time.
    assert upgraded(gate, headers) == (401, "nonce_invalid")


def test_a_revoked_key_stays_revoked(gate, device):
    good = document(gate, device)
    assert registers(gate, good) == (200, True)
    assert gate.command("keys", "revoke", device.key_id_b64).returncode == 0
    assert registers(gate, good) == (403, "key_revoked")


# ---- asking


QUERIES = {
    "no key": "",
    "an empty one": "&key=",
    "31 bytes": f"&key={url(bytes(31))}",
    "33 bytes": f"&key={url(bytes(33))}",
    "no base64": f"&key={'*' * 43}",
    "the other alphabet": f"&key={'+/' * 21}A",
    "twice": f"&key={url(bytes(32))}&key={url(bytes(32))}",
    "another member": f"&key={url(bytes(32))}&x=1",
}


@pytest.mark.parametrize("what", QUERIES)
def test_malformed_queries(gate, what):
    assert_refusal(gate.app.request("GET", PURPOSE + QUERIES[what]), 400, "bad_request")


def test_other_purposes_are_nobodys_business_here(gate, device):
    reply = gate.app.request("GET", f"/attest/challenge?purpose=attest&key={url(device.key_id)}")
    assert reply.status == 200
    assert registers(gate, device.registration(reply.json["nonce"])) == (200, True)


def test_without_app_ids_there_is_nothing_to_register(gates, backend):
    gate = gates(backend, APPATTEST_TEAM_ID=None, APPATTEST_BUNDLE_ID=None, REQUIRE_APP_AUTH="false")
    reply = gate.app.request("GET", f"{PURPOSE}&key={url(bytes(32))}")
    assert_refusal(reply, 404, "not_found")


def test_asking_counts_for_the_rate(gates, backend, device):
    gate = gates(backend, CHALLENGE_RATE="2/m")
    for _ in range(2):
        asked(gate, device)
    reply = gate.app.request("GET", f"{PURPOSE}&key={url(device.key_id)}")
    assert_refusal(reply, 429, "rate_limited")


# ---- time and processes


@pytest.mark.parametrize("passed, expected", [(DAY - 1, (200, True)), (DAY + 1, (401, "nonce_invalid"))])
def test_good_for_a_day(timed, fault, device, passed, expected):
    fault.stand_still()
    challenge = asked(timed, device)
    assert 0 <= fault.now() + DAY - challenge["expires"] / 1000 < 1
    fault.jump(passed)
    assert registers(timed, device.registration(challenge["nonce"])) == expected


def test_its_time_is_a_setting(gates, backend, fault, device):
    gate = gates(backend, REGISTER_CHALLENGE_TTL="1h", **fault.environment)
    fault.stand_still()
    good = document(gate, device)
    fault.jump(3601)
    assert registers(gate, good) == (401, "nonce_invalid")
    assert gate.event(code="nonce_invalid")["step"] == "nonce_expired"


@pytest.mark.parametrize("back, expected", [(58, (200, True)), (120, (401, "nonce_invalid"))])
def test_a_clock_that_was_ahead(timed, fault, device, back, expected):
    """As if another gate had issued it: of one whose clock is too far ahead nothing is taken."""
    fault.stand_still()
    good = document(timed, device)
    fault.realtime_offset -= back * 1_000_000_000
    assert registers(timed, good) == expected


@pytest.mark.parametrize("end", ["stop", "kill"])
def test_it_outlives_the_process(gate, device, new_device, end):
    good, other = document(gate, device), document(gate, new_device())
    assert registers(gate, good) == (200, True)
    assert upgraded(gate, device.headers(gate.app.nonce()))[0] == 101
    gate.app.close()
    getattr(gate, end)()
    gate.start()
    assert registers(gate, other) == (200, True)
    assert registers(gate, good) == (200, True)
    assert gate.keys()[device.key_id_b64]["signCount"] == 1


def test_another_gate_with_the_same_secret_takes_it(gate, gates, backend, device, folder):
    """Each of them has a store of its own."""
    (folder / "other").mkdir()
    other = gates(
        backend,
        ATTESTED_KEYS_PATH=folder / "other" / "attested-keys.json",
        CONTROL_SOCKET=folder / "other" / "control.sock",
        DEVICE_PSEUDONYM_KEY_PATH=folder / "device-pseudonym.key",
    )
    good = document(gate, device)
    assert registers(other, good) == (200, True)
    assert registers(gate, good) == (200, True)


def test_another_secret_knows_none_of_it(gate, device, folder):
    good = document(gate, device)
    gate.app.close()
    gate.stop()
    (folder / "device-pseudonym.key").write_bytes(bytes(range(32)))
    gate.start()
    assert registers(gate, good) == (401, "nonce_invalid")


# ---- what is kept


def ask(gate, count):
    """So many challenges, each for a key of its own, a hundred in a row without waiting."""
    with Raw(gate) as client:
        for start in range(0, count, 100):
            for number in range(start, start + 100):
                key = url(struct.pack(">Q", number) * 4)
                client.send(head("GET", f"{PURPOSE}&key={key}"))
            for _ in range(100):
                assert client.reply().status == 200


def growth(gate, count):
    """By how much the gate's memory grows over so many challenges."""
    before = gate.resident_bytes()
    ask(gate, count)
    return gate.resident_bytes() - before


def test_nothing_is_kept_of_those_that_were_issued(gates, backend):
    """16 bytes of each would be more than this in every round; what the gate needs once may fall into one of them."""
    gate = gates(backend, CHALLENGE_RATE="1000000/s", WORKERS="1")
    rounds = []
    while len(rounds) < 5 and (not rounds or min(rounds) > 64 * 1024):
        rounds.append(growth(gate, 10_000))
    assert min(rounds) <= 64 * 1024, rounds


@pytest.mark.long("a million requests")
def test_nothing_is_kept_of_a_million(gates, backend):
    gate = gates(backend, CHALLENGE_RATE="1000000/s", WORKERS="1")
    ask(gate, 50_000)  # what the gate needs once
    assert growth(gate, 1_000_000) <= 64 * 1024
