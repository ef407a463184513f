"""Android phones: by attestations of their keys and by Play Integrity they enrol, pair, change keys and play; and what
keeps others out, and themselves once their certificates are revoked."""

import json
import os
import tempfile
import time

import pytest

from android import APPS, Maker, PlayStore, der, revocations, tagged
from clients import UPGRADE, Raw, assert_refusal, head, replies_to_all_at_once
from handset import Handset
from phones import Code, HandPhone, Key
from waiting import eventually
from websocket import CLOSE

MAKER, STORE = Maker(), PlayStore()


@pytest.fixture
def files(folder):
    """The operator's: roots, the list of revoked certificates, Play's keys."""
    (folder / "roots.pem").write_bytes(MAKER.root_pem())
    (folder / "revoked.json").write_text(revocations())
    (folder / "play.json").write_text(STORE.keys())
    (folder / "play.json").chmod(0o600)
    return {
        "ANDROID_APPS": APPS,
        "ANDROID_ROOTS_PATH": folder / "roots.pem",
        "ANDROID_REVOCATION_PATH": folder / "revoked.json",
        "PLAY_INTEGRITY_KEYS_PATH": folder / "play.json",
    }


@pytest.fixture
def new_gate(gates, backend, folder, files):
    def make(**changes):
        settings = {
            "DEVICES_PATH": folder / "devices.db",
            "PUBLIC_URL": "https://mud.example",
            "DEVICE_APPROVAL": "evidence",
            "GATE_DEVICES": "hardware_attested",
            "DEVICE_RATE": "10000/s",
            **files,
        }
        return gates(backend, **{**settings, **changes})

    return make


@pytest.fixture
def gate(new_gate):
    return new_gate()


def android(gate, **options):
    return Handset(gate, platform="android", **options)


def upgrade(handset):
    """The answer to an upgrade by the device's own key, and the connection."""
    client = Raw(handset.gate)
    fields = (f"{name}: {value}" for name, value in handset.headers().items())
    client.send(head("GET", "/", *UPGRADE, *fields))
    reply = client.reply(head_only=True)
    if reply.status != 101:
        reply.body = client.take(int(reply.header("Content-Length")))
    return reply, client


def close_code(client):
    """Of the Close that comes behind whatever the game has said."""
    while True:
        first, length = client.take(2)
        if length == 126:
            length = int.from_bytes(client.take(2), "big")
        payload = client.take(length)
        if first & 0x0F == CLOSE:
            return int.from_bytes(payload[:2], "big")


def refused_evidence(gate, how, step, handset=None, chain=None):
    """The phone learns that it is none; the log says why, and of two chains of which."""

    def told():
        found = [event for event in gate.events() if event.get("step") == step]
        return [event for event in found if chain in (None, event.get("chain"))]

    seen = len(told())
    handset = handset or android(gate)
    assert_refusal(handset.post("/device/enroll", handset.enrolment(how)), 403, "attestation_rejected")
    eventually(lambda: len(told()) > seen, f"step={step} chain={chain} in the log: {gate.log_tail(3)}")


def test_who_finds_no_room_for_evidence_sends_the_same_again(new_gate):
    """Two are judged and eight wait for an address at most: what is turned away has used up no challenge, which is in the
    certificates of keys that would have to be made anew."""
    gate = new_gate(WORKERS=1, REGISTER_RATE="10000/s", HTTP_BODY_TIMEOUT="600s")
    requests = []
    for _ in range(32):
        body = json.dumps(android(gate).enrolment(MAKER.vouch()))
        opening = head("POST", "/device/enroll", "Content-Type: application/json", f"Content-Length: {len(body)}")
        requests.append((Raw(gate), opening + body))
    replies = replies_to_all_at_once(gate, requests)
    overloaded = [reply for reply in replies if reply.status != 200]
    assert overloaded and len(overloaded) < 32
    for reply in overloaded:
        assert_refusal(reply, 503, "overloaded")
    for (client, request), reply in zip(requests, replies, strict=True):
        again = client.send(request).reply()
        if reply.status == 503:
            assert again.status == 200, again
        else:
            assert_refusal(again, 401, "nonce_invalid")
        client.close()


# ---- who comes in


def test_a_phone_is_attested_by_its_keys_and_plays(gate, backend):
    phone = android(gate)
    said = phone.enroll(MAKER.vouch())
    assert (said["status"], said["level"], said["uv"]) == ("active", "hardware_attested", "hardware")
    reply, client = upgrade(phone)
    with client:
        assert reply.status == 101, reply
        gate.event(event="admitted", credential="device")
    own = phone.get("/device/self", phone.token).json
    assert own["platform"] == "android" and own["attested_at"] <= time.time() + 5


def test_the_approval_key_needs_a_chain_of_its_own(gate):
    said = android(gate).enroll(MAKER.vouch(approval=False))
    assert (said["level"], said["uv"]) == ("hardware_attested", "app")
    said = android(gate, has_approval_key=False).enroll(MAKER.vouch())
    assert (said["level"], said["uv"]) == ("hardware_attested", "none")


def test_play_vouches_for_the_app(gate):
    phone = android(gate)
    said = phone.enroll(STORE.vouch())
    assert (said["status"], said["level"], said["uv"]) == ("active", "app_attested", "app")
    reply, client = upgrade(phone)
    client.close()
    assert_refusal(reply, 403, "level_too_low")
    said = phone.attest(STORE.vouch())
    assert said.status == 200 and said.json["verdict"] == "pass" and said.json["level"] == "app_attested"
    # It says nothing against hardware.
    strong = android(gate)
    strong.enroll(MAKER.vouch())
    said = strong.attest(STORE.vouch()).json
    assert (said["level"], said["uv"]) == ("hardware_attested", "hardware")


def test_play_is_what_a_class_may_ask_for(new_gate, folder):
    policy = folder / "assurance.json"
    policy.write_text(json.dumps({"classes": [{"name": "all", "match": {"subject": ["*"]}, "play": True}]}))
    policy.chmod(0o600)
    gate = new_gate(ASSURANCE_POLICY=policy)
    phone = android(gate)
    phone.enroll(MAKER.vouch())
    assert phone.heartbeat().json["policy"]["otp_allowed"] is False
    phone.attest(STORE.vouch())
    assert phone.heartbeat().json["policy"]["otp_allowed"] is True


def test_new_keys_come_with_evidence_of_their_own(gate):
    phone = android(gate)
    phone.enroll(MAKER.vouch())
    key, approval = Key(), Key()
    # Of the old keys, shown for the new ones.
    old = MAKER.vouch()
    stolen = phone.rotation(key, approval, lambda handset, nonce, *_: old(handset, nonce))
    assert_refusal(phone.post("/device/rotate", stolen), 403, "attestation_rejected")
    said = phone.post("/device/rotate", phone.rotation(key, approval, MAKER.vouch())).json
    assert (said["level"], said["uv"]) == ("hardware_attested", "hardware")
    phone.key, phone.approval = key, approval
    said = phone.post("/device/rotate", phone.rotation(Key(), Key())).json
    assert (said["level"], said["uv"]) == ("bare", "app")


@pytest.mark.parametrize("vouch, level", [(MAKER.vouch, "hardware_attested"), (STORE.vouch, "app_attested")])
def test_a_phone_is_paired_with_evidence(new_gate, vouch, level):
    gate = new_gate(DEVICE_APPROVAL="operator")
    token = gate.command("services", "add", "game", "--scopes", "pairings").stdout.strip()
    shown = Handset(gate).post("/pair", {"subject": "lena"}, token).json
    code, hand = Code(shown["uri"]), HandPhone()
    phone = android(gate)
    phone.key, phone.approval = hand.device, hand.approval
    nonce = phone.nonce("enroll")
    form = hand.pair_form(code) | {"evidence": vouch()(phone, nonce) | {"nonce": nonce}}
    reply = phone.post(f"/pair/{code.pairing}", form)
    assert reply.status == 200, reply
    # The answer was lost; the challenge is spent, and the key's attestation is over it for good.
    again = phone.post(f"/pair/{code.pairing}", form)
    assert again.status == 200 and again.json == reply.json
    # The platform is that of the evidence.
    device = json.loads(gate.command("devices", "show", reply.json["device_id"], "--json").stdout)
    assert (device["platform"], device["level"]) == ("android", level)
    wrong = hand.pair_form(code) | {"platform": "ios", "evidence": form["evidence"]}
    assert_refusal(phone.post(f"/pair/{code.pairing}", wrong), 400, "bad_request")


# ---- who does not


def change(**members):
    return lambda description: description.__dict__.update(members)


def for_all_applications(description):
    description.software_extra = [tagged(600, b"\x05\x00")]


def without_person(description):
    description.person = tagged(503, b"\x05\x00")


def good_for_a_while(description):
    description.person += tagged(505, der(2, b"\x1e"))


def test_key_attestations_that_are_none(gate):
    for how, step in [
        (MAKER.vouch(other_challenge=True), "challenge"),
        (MAKER.vouch(wrong_key=True), "key_binding"),
        (MAKER.vouch(change(locked=False)), "device_locked"),
        (MAKER.vouch(change(boot_state=1)), "boot_state"),
        (MAKER.vouch(change(package="com.example.other")), "app_package"),
        (MAKER.vouch(change(signers=[bytes(32)])), "app_digest"),
        (MAKER.vouch(change(levels=(0, 0))), "level"),
        (MAKER.vouch(change(levels=(1, 0))), "level_mismatch"),
        (MAKER.vouch(change(origin=2)), "origin"),
        (MAKER.vouch(change(purposes=[2, 7])), "purpose"),
        (MAKER.vouch(for_all_applications), "all_applications"),
        (Maker().vouch(), "root"),
    ]:
        refused_evidence(gate, how, step, chain="x5c")
    for how, step in [
        (MAKER.vouch(without_person, approval="change"), "uv"),
        (MAKER.vouch(good_for_a_while, approval="change"), "uv"),
        (MAKER.vouch(change(locked=False), approval="change"), "device_locked"),
    ]:
        refused_evidence(gate, how, step, chain="approval_x5c")
    # Where there is one alone, nobody asks which.
    handset = android(gate, has_approval_key=False)
    refused_evidence(gate, MAKER.vouch(change(origin=3)), "origin", handset)
    assert "chain" not in [event for event in gate.events() if event.get("step") == "origin"][-1]


def verdict(part, **members):
    return lambda verdict: verdict[part].update(members)


def test_tokens_of_play_that_are_none(gate):
    for how, step in [
        (STORE.vouch(verdict("requestDetails", nonce="A" * 43)), "nonce"),
        (STORE.vouch(verdict("requestDetails", requestPackageName="com.example.other")), "request_package"),
        (STORE.vouch(verdict("requestDetails", timestampMillis="1000")), "stale"),
        (STORE.vouch(verdict("appIntegrity", appRecognitionVerdict="UNRECOGNIZED_VERSION")), "app_verdict"),
        (STORE.vouch(verdict("appIntegrity", certificateSha256Digest=["A" * 43])), "cert_digest"),
        (
            STORE.vouch(verdict("deviceIntegrity", deviceRecognitionVerdict=["MEETS_BASIC_INTEGRITY"])),
            "level",
        ),
        (STORE.vouch(verdict("deviceIntegrity", deviceRecognitionVerdict=[])), "level"),
        (PlayStore().vouch(), "jwe_unwrap"),
    ]:
        refused_evidence(gate, how, step)


@pytest.mark.parametrize(
    ("evidence", "status", "code", "word"),
    [
        ({"attestation_type": "safetynet", "jws_token": "a.b.c"}, 400, "bad_request", "SafetyNet"),
        ({"attestation_type": "device_check", "token": "a"}, 400, "bad_request", "DeviceCheck"),
        ({"attestation_type": "play_integrity", "jws_token": "CpsBARCn" * 40}, 403, "attestation_rejected", "classic"),
    ],
)
def test_what_no_gate_can_judge(gate, evidence, status, code, word):
    """The developer who reads the answer learns why, and what would do."""
    phone = android(gate)
    reply = phone.post("/device/enroll", phone.enrolment(lambda *_: evidence))
    assert_refusal(reply, status, code)
    assert word in reply.json["error"]["message"], reply


def test_other_evidence_that_is_none_has_the_sentence_of_its_code(gate):
    sentences = set()
    for token in ["a.b.c.d.e", "short", "!" * 100]:
        evidence = {"attestation_type": "play_integrity", "jws_token": token}
        phone = android(gate)
        reply = phone.post("/device/enroll", phone.enrolment(lambda *_, evidence=evidence: evidence))
        assert_refusal(reply, 403, "attestation_rejected")
        sentences.add(reply.json["error"]["message"])
    assert len(sentences) == 1 and "classic" not in sentences.pop()


def test_strong_integrity_is_asked_for(new_gate):
    refused_evidence(new_gate(PLAY_INTEGRITY_MIN="strong"), STORE.vouch(), "level")


def test_evidence_is_good_once_and_for_its_keys(gate):
    phone = android(gate)
    body = phone.enrolment(MAKER.vouch())
    assert phone.post("/device/enroll", body).status == 200
    assert_refusal(phone.post("/device/enroll", body), 401, "nonce_invalid")
    # A token for one phone's keys, shown by another that has got hold of it.
    victim, thief = android(gate), android(gate)
    nonce = victim.nonce("enroll")
    token = STORE.vouch()(victim, nonce)
    refused_evidence(gate, lambda *_: token, "nonce", thief)


def test_a_phone_has_its_own_makers_evidence(gate, new_device):
    for how in (MAKER.vouch(), STORE.vouch()):
        apple = Handset(gate)
        assert_refusal(apple.post("/device/enroll", apple.enrolment(how)), 400, "bad_request")
    other = Handset(gate, new_device(), platform="android")
    assert_refusal(other.post("/device/enroll", other.enrolment("att_obj")), 400, "bad_request")
    apple = Handset(gate, new_device())
    apple.enroll("att_obj")
    assert_refusal(apple.attest(STORE.vouch()), 400, "bad_request")
    # A key is attested as it is made, and one that does not exist is not.
    phone = android(gate)
    phone.enroll(STORE.vouch())
    assert_refusal(phone.attest(MAKER.vouch()), 400, "bad_request")
    lone = android(gate, has_approval_key=False)
    body = lone.enrolment(MAKER.vouch())
    body["evidence"]["approval_x5c"] = body["evidence"]["x5c"]
    assert_refusal(lone.post("/device/enroll", body), 400, "bad_request")


def test_failures_are_on_record(gate):
    phone = android(gate)
    phone.enroll(STORE.vouch())
    broken = STORE.vouch(verdict("appIntegrity", appRecognitionVerdict="UNEVALUATED"))
    for _ in range(3):
        assert_refusal(phone.attest(broken), 403, "attestation_rejected")
    assert_refusal(phone.attest(STORE.vouch()), 429, "rate_limited")
    audit = gate.command("audit", "list", "--json").stdout
    assert audit.count("attestation_failed") == 3 and "app_verdict" in audit


def test_a_gate_for_android_alone(new_gate):
    """Whoever has no app of Apple's names none: phones come in by keys of their own, and nobody otherwise."""
    gate = new_gate(APPATTEST_TEAM_ID=None, APPATTEST_BUNDLE_ID=None, APPATTEST_APP_IDS=None)
    assert gate.app.request("GET", "/attest/challenge?purpose=enroll").status == 200
    assert_refusal(gate.app.post({"keyId": "x"}), 404, "not_found")
    phone = android(gate)
    assert phone.enroll(MAKER.vouch())["level"] == "hardware_attested"
    reply, client = upgrade(phone)
    client.close()
    assert reply.status == 101
    with Raw(gate) as stranger:
        assert_refusal(stranger.send(head("GET", "/", *UPGRADE)).reply(), 401, "assertion_required")


# ---- revoked certificates


def replace(path, text):
    """As a timer that fetches it should do it."""
    fresh = path.with_suffix(".new")
    fresh.write_text(text)
    fresh.replace(path)


def test_revoked_phones_are_out_at_once(gate, folder):
    stolen_batch, other = MAKER.new_phone(), MAKER.new_phone()
    phone, stays = android(gate), android(gate)
    phone.enroll(stolen_batch.vouch())
    stays.enroll(other.vouch())
    (reply, client), (still, other_client) = upgrade(phone), upgrade(stays)
    assert (reply.status, still.status) == (101, 101)
    serial = stolen_batch.attestation.serial_number
    replace(folder / "revoked.json", revocations(serial, 12345))
    assert close_code(client) == 1008
    client.close()
    assert_refusal(phone.get("/device/self", phone.token), 401, "token_rejected")
    reply, client = upgrade(phone)
    client.close()
    assert_refusal(reply, 403, "level_too_low")
    shown = json.loads(gate.command("devices", "show", phone.id, "--json").stdout)
    assert (shown["status"], shown["level"], shown["uv"]) == ("active", "bare", "app")
    audit = gate.command("audit", "list", "--json").stdout
    assert f"{serial:x}" in audit and "device_unattested" in audit
    # Neither it nor another phone comes in by that certificate, and the others have nothing to do with it.
    refused_evidence(gate, stolen_batch.vouch(), "revoked")
    assert stays.get("/device/self", stays.token).json["level"] == "hardware_attested"
    assert len(gate.command("sessions", "list", "--json").stdout.splitlines()) == 1
    other_client.close()
    # What Play says of it counts for what it is.
    assert phone.attest(STORE.vouch()).json["level"] == "app_attested"


def test_what_was_revoked_while_nobody_served(gate, folder):
    maker = MAKER.new_phone()
    phone = android(gate)
    phone.enroll(maker.vouch())
    gate.stop()
    gate.app.close()
    replace(folder / "revoked.json", revocations(maker.attestation.serial_number))
    gate.start()
    reply, client = upgrade(phone)
    client.close()
    assert_refusal(reply, 403, "level_too_low")
    assert_refusal(phone.get("/device/self", phone.token), 401, "token_rejected")


def test_a_list_that_is_stale_or_none_ends_key_attestations(gate, folder, new_device):
    path = folder / "revoked.json"
    kept = android(gate)
    kept.enroll(MAKER.vouch())

    def ends(event):
        gate.event(event=event)
        refused_evidence(gate, MAKER.vouch(), "revocation_stale")

    old = time.time() - 8 * 86_400
    os.utime(path, (old, old))
    ends("revocations_stale")
    replace(path, '{"entries": {')
    ends("revocations_unusable")
    known = len(gate.events())
    path.unlink()
    eventually(
        lambda: any(event.get("event") == "revocations_unusable" for event in gate.events()[known:]),
        "a word about the missing file",
    )
    refused_evidence(gate, MAKER.vouch(), "revocation_stale")
    # Nobody else is kept out, and nobody who is in already.
    assert android(gate).enroll(STORE.vouch())["level"] == "app_attested"
    assert Handset(gate, new_device()).enroll("att_obj")["level"] == "app_attested"
    reply, client = upgrade(kept)
    client.close()
    assert reply.status == 101
    replace(path, revocations(7))
    gate.event(event="revocations_read", certificates="1")
    assert android(gate).enroll(MAKER.vouch())["level"] == "hardware_attested"
    ahead = time.time() + 600
    os.utime(path, (ahead, ahead))
    eventually(
        lambda: (phone := android(gate)).post("/device/enroll", phone.enrolment(MAKER.vouch())).status == 403,
        "a list of a time to come is none",
    )


@pytest.mark.parametrize("seconds", [9_300_000_000_000_000, -9_300_000_000_000_000])
def test_a_list_of_a_time_that_no_calendar_has_is_none(new_gate, seconds):
    # File systems on disks bring such a time back into what they can keep.
    with tempfile.NamedTemporaryFile("w", dir="/dev/shm", suffix=".json") as listed:
        listed.write(revocations())
        listed.flush()
        os.utime(listed.name, (seconds, seconds))
        assert os.stat(listed.name).st_mtime == seconds
        gate = new_gate(ANDROID_REVOCATION_PATH=listed.name)
        refused_evidence(gate, MAKER.vouch(), "revocation_stale")

        def status():
            phone = android(gate)
            return phone.post("/device/enroll", phone.enrolment(MAKER.vouch())).status

        os.utime(listed.name)
        eventually(lambda: status() == 200, "the list is of today")
        os.utime(listed.name, (seconds, seconds))
        eventually(lambda: status() == 403, "it is not any more")
        assert android(gate).enroll(STORE.vouch())["level"] == "app_attested"


# ---- the operator


def test_without_apps_or_keys_nothing_is_attested(new_gate):
    gate = new_gate(
        ANDROID_APPS=None,
        ANDROID_ROOTS_PATH=None,
        ANDROID_REVOCATION_PATH=None,
        PLAY_INTEGRITY_KEYS_PATH=None,
    )
    refused_evidence(gate, MAKER.vouch(), "no_app")
    refused_evidence(gate, STORE.vouch(), "no_app")
    gate.stop()
    gate = new_gate(PLAY_INTEGRITY_KEYS_PATH=None, ANDROID_ROOTS_PATH=None)
    refused_evidence(gate, STORE.vouch(), "no_play_keys")
    refused_evidence(gate, MAKER.vouch(), "root")


def test_what_is_refused_at_the_start(gates, backend, folder, files):
    devices = {"DEVICES_PATH": folder / "devices.db", "PUBLIC_URL": "https://mud.example", **files}

    def said(**changes):
        gate = gates(backend, start=False, **devices)
        done = gate.command("serve", **{name: str(value) for name, value in changes.items()})
        assert done.returncode == 78, (done.returncode, done.stderr)
        return done.stderr

    assert "ANDROID_ROOTS_PATH" in said(PORTCULLIS_ENV="production")
    (folder / "play.json").chmod(0o644)
    assert "mode 0600" in said()
    (folder / "play.json").chmod(0o600)
    (folder / "play.json").write_text('[{"decryption_key": "AAAA"}]')
    text = said()
    assert "PLAY_INTEGRITY_KEYS_PATH" in text and "[0]" in text and "AAAA" not in text
    (folder / "play.json").write_text(STORE.keys())
    (folder / "roots.pem").write_text("nothing")
    assert "ANDROID_ROOTS_PATH" in said()


def test_keys_of_development_are_refused_in_production(gates, backend, folder, files):
    """Whoever has the folder that `dev-certs` has filled makes tokens."""
    devices = {"DEVICES_PATH": folder / "devices.db", "PUBLIC_URL": "https://mud.example", **files}
    production = {"PORTCULLIS_ENV": "production", "APPATTEST_ROOT_CA_PATH": None, "ANDROID_ROOTS_PATH": None}
    maker = gates(start=False)
    assert maker.command("dev-certs").returncode == 0
    made = maker.folder / "certs" / "dev" / "play-integrity-keys.json"
    gate = gates(backend, start=False, **{**devices, "PLAY_INTEGRITY_KEYS_PATH": made})
    gate.start()
    gate.stop()
    done = gates(
        start=False, **{**devices, **production, "PLAY_INTEGRITY_KEYS_PATH": made}
    ).command("serve")
    assert done.returncode == 78, done
    assert "PLAY_INTEGRITY_KEYS_PATH" in done.stderr and "dev-certs" in done.stderr, done.stderr
    # Others are none of this.
    gates(backend, **{**devices, **production})


def test_check_says_how_old_the_list_is(gates, backend, folder, files):
    gate = gates(backend, start=False)
    devices = {"DEVICES_PATH": folder / "devices.db", "PUBLIC_URL": "https://mud.example", **files}
    variables = {name: str(value) for name, value in devices.items()}
    old = time.time() - 3600
    os.utime(folder / "revoked.json", (old, old))
    done = gate.command("check", **variables)
    assert "0 revoked certificates, fetched 36" in done.stdout, done.stdout
    done = gate.command("check", **variables, ANDROID_REVOCATION_MAX_AGE="30m")
    assert "no key attestation is taken" in done.stdout, done.stdout
    (folder / "revoked.json").write_text("[]")
    assert "fetch it again" in gate.command("check", **variables).stdout


def test_a_reload_takes_other_apps_and_keys(new_gate, folder):
    gate = new_gate()
    refused_evidence(gate, PlayStore().vouch(), "jwe_unwrap")
    other = PlayStore()
    (folder / "play.json").write_text(other.keys())
    gate.signal(1)
    gate.event(event="reloaded")
    assert android(gate).enroll(other.vouch())["level"] == "app_attested"
    refused_evidence(gate, STORE.vouch(), "jwe_unwrap")
