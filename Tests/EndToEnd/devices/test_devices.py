"""Devices over HTTP: they enrol, attest, get tokens, change their keys, say how they stand; and what each of it refuses."""

import json
import signal
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait

import pytest

from clients import Raw, assert_refusal, head
from device import b64
from handset import Handset, new_device_id
from phones import Key
from waiting import eventually

PUBLIC_URL = "https://mud.example"


@pytest.fixture
def new_gate(gates, backend, folder):
    def make(**changes):
        settings = {"DEVICES_PATH": folder / "devices.db", "PUBLIC_URL": PUBLIC_URL, "DEVICE_RATE": "10000/s"}
        return gates(backend, **{**settings, **changes})

    return make


@pytest.fixture
def gate(new_gate):
    return new_gate()


def confirm(gate, handset, subject="lena"):
    done = gate.command("devices", "confirm", handset.id, "--subject", subject)
    assert done.returncode == 0, done.stderr
    return handset


def active_at(gate):
    handset = Handset(gate)
    handset.enroll()
    return confirm(gate, handset)


@pytest.fixture
def active(gate):
    return active_at(gate)


@pytest.fixture
def timed(new_gate, fault):
    """Active at a gate whose clocks are the test's."""
    return active_at(new_gate(**fault.environment))


def add_service(gate, scopes="approvals,pairings,devices.read", name="game"):
    done = gate.command("services", "add", name, "--scopes", scopes)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


# ---- challenges


def test_a_challenge_for_a_purpose_names_the_gate(gate):
    first = gate.app.request("GET", "/attest/challenge?purpose=enroll").json
    second = gate.app.request("GET", "/attest/challenge").json
    assert set(first) == {"nonce", "expires", "server_id"} and first["server_id"] == second["server_id"]
    for query in ("purpose=presence", "purpose=x", "purpose=", "purpose", "purpose=enroll&x=1"):
        assert_refusal(gate.app.request("GET", f"/attest/challenge?{query}"), 400, "bad_request")
    assert gate.app.request("GET", "/attest/challenge?x=purpose").status == 200


@pytest.mark.parametrize("purpose", ["attest", "rotate", "device", "otp"])
def test_a_challenge_for_something_else_is_unknown(gate, purpose):
    handset = Handset(gate)
    document = handset.enrolment()
    nonce = handset.nonce(purpose)
    message = handset.message("enroll", *handset.hashes(), bytes.fromhex(nonce), b"ios")
    document |= {
        "nonce": nonce,
        "signature": handset.key.sign(message),
        "approval_signature": handset.approval.sign(message),
    }
    assert_refusal(handset.post("/device/enroll", document), 401, "nonce_invalid")


# ---- enrolment


def test_a_device_enrols_and_waits(gate):
    handset = Handset(gate)
    document = handset.enroll()
    assert (document["status"], document["level"], document["uv"]) == ("pending", "bare", "app")
    assert document["server_id"] == str(handset.server) and len(document["pins"]) == 1
    own = handset.get("/device/self", handset.token)
    assert own.status == 200 and own.json["device_id"] == handset.id
    assert_refusal(handset.heartbeat(), 403, "device_pending")
    confirm(gate, handset)
    assert handset.heartbeat().status == 200
    # The same key is the same device.
    assert handset.enroll()["device_id"] == own.json["device_id"]


def test_without_an_approval_key_nobody_is_verified(gate):
    assert Handset(gate, has_approval_key=False).enroll()["uv"] == "none"


@pytest.mark.parametrize(
    "change, status, code",
    [
        (lambda h, d: d.pop("nonce"), 400, "bad_request"),
        (lambda h, d: d.update(nonce=d["nonce"].upper()), 400, "bad_request"),
        (lambda h, d: d.update(platform="web"), 400, "bad_request"),
        (lambda h, d: d.update(device_pubkey=b64(bytes([4]) + bytes(64))), 400, "bad_request"),
        (lambda h, d: d.update(approval_pubkey=d["device_pubkey"]), 400, "bad_request"),
        (lambda h, d: d.update(device_name="a\u202eb"), 400, "bad_request"),
        (lambda h, d: d.update(device_name=None), 400, "bad_request"),
        (lambda h, d: d.update(nonce="00" * 32), 401, "nonce_invalid"),
        (lambda h, d: d.update(signature=Key().sign(b"x")), 401, "signature_rejected"),
        (lambda h, d: d.update(approval_signature=d["signature"]), 401, "signature_rejected"),
        (lambda h, d: d.update(platform="android"), 401, "signature_rejected"),
    ],
)
def test_enrolments_that_are_refused(gate, change, status, code):
    handset = Handset(gate)
    document = handset.enrolment()
    change(handset, document)
    assert_refusal(handset.post("/device/enroll", document), status, code)


def test_a_challenge_counts_once_and_bad_forms_leave_it(gate):
    handset = Handset(gate)
    document = handset.enrolment()
    assert_refusal(handset.post("/device/enroll", {**document, "platform": 1}), 400, "bad_request")
    assert handset.post("/device/enroll", document).status == 200
    assert_refusal(handset.post("/device/enroll", document), 401, "nonce_invalid")


# ---- App Attest


def test_evidence_at_enrolment_makes_it_attested(new_gate, new_device):
    gate = new_gate(DEVICE_APPROVAL="evidence")
    handset = Handset(gate, new_device())
    document = handset.enroll("att_obj")
    assert (document["status"], document["level"]) == ("active", "app_attested")
    # The key is one of the store: it has registered with this.
    assert handset.device.key_id_b64 in gate.keys()


def test_a_player_enrols_with_the_key_that_plays(gate, new_device):
    device = gate.app.register(new_device())
    handset = Handset(gate, device)
    assert_refusal(handset.post("/device/enroll", handset.enrolment("att_obj")), 409, "key_known")
    assert handset.enroll("assertion")["level"] == "app_attested"
    assert gate.keys()[device.key_id_b64]["signCount"] == device.counter
    # One key, one device.
    other = Handset(gate, device)
    assert_refusal(
        other.post("/device/enroll", other.enrolment("assertion")), 403, "attestation_rejected"
    )


def test_attesting_later_raises_the_level(gate, active, new_device):
    active.device = new_device()
    reply = active.attest()
    assert reply.status == 200, reply
    assert (reply.json["verdict"], reply.json["level"]) == ("pass", "app_attested")
    assert active.get("/device/self", reply.json["device_token"]).json["level"] == "app_attested"
    again = active.attest("assertion")
    assert again.status == 200, again
    # The counter stands still for nobody: an assertion is good once.
    active.device.counter -= 1
    assert_refusal(active.attest("assertion"), 403, "attestation_rejected")


def test_evidence_over_other_keys_is_none(gate, active, new_device):
    active.device = new_device()
    nonce = active.nonce("attest")
    wrong = active.evidence(nonce, key=Key())
    reply = active.post("/mobile/attest", {"device_id": active.id, "nonce": nonce, **wrong})
    assert_refusal(reply, 403, "attestation_rejected")
    assert active.device.key_id_b64 not in gate.keys()


def test_a_key_that_is_unknown_or_locked_out_vouches_for_nobody(gate, active, new_device):
    active.device = new_device()
    assert_refusal(active.attest("assertion"), 403, "attestation_rejected")
    gate.app.register(active.device)
    assert gate.command("keys", "revoke", active.device.key_id_b64).returncode == 0
    for how in ("att_obj", "assertion"):
        assert_refusal(active.attest(how), 403, "attestation_rejected")


def test_attestations_of_nobody(gate, active, new_device):
    active.device = new_device()
    active.id = new_device_id()
    assert_refusal(active.attest(), 401, "device_unknown")


def test_a_revoked_app_attest_key_leaves_its_device_bare(new_gate, new_device):
    gate = new_gate(DEVICE_APPROVAL="evidence")
    handset = Handset(gate, new_device())
    handset.enroll("att_obj")
    assert gate.command("keys", "revoke", handset.device.key_id_b64).returncode == 0
    assert_refusal(handset.get("/device/self", handset.token), 401, "token_rejected")
    reply = handset.ask_token()
    assert reply.status == 200, reply
    assert handset.get("/device/self", reply.json["token"]).json["level"] == "bare"


# ---- tokens


def test_tokens(gate, active):
    reply = active.ask_token()
    assert reply.status == 200, reply
    assert active.get("/device/self", reply.json["token"]).status == 200
    assert_refusal(active.ask_token(signer=Key()), 401, "signature_rejected")
    assert_refusal(active.ask_token(audience="https://elsewhere.example"), 400, "bad_request")
    nonce = active.nonce("device")
    assert active.ask_token(nonce=nonce).status == 200
    assert_refusal(active.ask_token(nonce=nonce), 401, "nonce_invalid")


@pytest.mark.parametrize("header", [None, "", "Basic abc", "Bearer", "Bearer a.b.c", "Bearer service", "Bearer  a.b.c"])
def test_who_shows_no_token_is_nobody(gate, active, header):
    fields = {"Authorization": header} if header is not None else {}
    reply = gate.app.request("GET", "/device/self", headers=fields)
    assert_refusal(reply, 401, "token_rejected")
    assert reply.header("WWW-Authenticate") == "Bearer"


def test_a_stolen_token_changes_nothing(gate, active):
    """It reads what the phone reads; whatever changes something is signed as well."""
    thief = Handset(gate)
    thief.id, thief.token, thief.server = active.id, active.token, active.server
    assert thief.get("/device/self", thief.token).status == 200
    assert_refusal(thief.ask_token(), 401, "signature_rejected")
    assert_refusal(thief.heartbeat(rooted=True), 401, "signature_rejected")
    assert thief.heartbeat(sign=False, rooted=True, app_version="1.0").status == 200
    assert "rooted" not in str(gate.command("devices", "show", active.id, "--json").stdout).lower().replace(
        '"rooted": false', ""
    ).replace('"rooted":false', "")
    key, approval = Key(), Key()
    assert_refusal(thief.post("/device/rotate", thief.rotation(key, approval)), 401, "signature_rejected")


# ---- rotation


def test_new_keys_end_the_old_ones(gate, active):
    old_key, old_token = active.key, active.token
    key, approval = Key(), Key()
    reply = active.post("/device/rotate", active.rotation(key, approval))
    assert reply.status == 200, reply
    assert reply.json["device_id"] == active.id
    assert_refusal(active.get("/device/self", old_token), 401, "token_rejected")
    assert_refusal(active.ask_token(signer=old_key), 401, "signature_rejected")
    active.key, active.approval = key, approval
    assert active.ask_token().status == 200


def test_a_level_is_not_carried_over_to_new_keys(new_gate, new_device):
    gate = new_gate(DEVICE_APPROVAL="evidence", DEVICE_MIN_LEVEL="app_attested")
    handset = Handset(gate, new_device())
    handset.enroll("att_obj")
    key, approval = Key(), Key()
    assert_refusal(handset.post("/device/rotate", handset.rotation(key, approval)), 403, "level_too_low")
    assert handset.ask_token().status == 200
    reply = handset.post("/device/rotate", handset.rotation(key, approval, "assertion"))
    assert reply.status == 200 and reply.json["level"] == "app_attested", reply


# ---- what all requests have in common


def test_paths_methods_and_queries(gate, active):
    assert_refusal(gate.app.request("GET", "/device/enroll"), 405, "method_not_allowed")
    assert gate.app.request("PUT", "/approvals").header("Allow") == "GET, POST"
    for path in ("/device/", "/device/x", "/pair/x", "/approvals/x", "/leases/x/use", "/presence/x"):
        assert_refusal(gate.app.request("POST", path), 404, "not_found")
    assert_refusal(active.get("/device/self?x=1", active.token), 400, "bad_request")
    assert_refusal(active.get("/approvals?wait=-1", active.token), 400, "bad_request")
    with Raw(gate) as client:
        client.send(
            head("DELETE", f"/leases/{new_device_id()}", "Authorization: Bearer x", "Content-Length: 2") + "{}"
        )
        assert_refusal(client.reply(), 401, "token_rejected")


def test_without_devices_the_paths_are_the_games(gates, backend):
    gate = gates(backend)
    assert_refusal(gate.app.request("GET", "/device/self"), 426, "upgrade_required")
    assert_refusal(gate.app.request("POST", "/device/enroll"), 405, "method_not_allowed")
    assert "server_id" not in gate.app.request("GET", "/attest/challenge?purpose=enroll").json


def test_a_trace_id_is_logged_and_comes_back(gate, active):
    reply = active.get("/device/self", active.token, X_Trace_Id="abc-123")
    assert reply.header("Portcullis-Trace") == "abc-123"
    refused = active.get("/device/self", "a.b.c", X_Trace_Id="abc-124")
    assert refused.header("Portcullis-Trace") == "abc-124"
    gate.event(event="refused", code="token_rejected", trace="abc-124")
    other = Handset(gate)
    assert other.post("/device/enroll", other.enrolment(), X_Trace_Id="abc-125").status == 200
    gate.event(event="device_request", endpoint="enroll", trace="abc-125")
    made = active.get("/device/self", active.token, X_Trace_Id="not a token").header("Portcullis-Trace")
    assert len(made) == 16
    challenge = active.get("/attest/challenge?purpose=device", X_Trace_Id="abc-125")
    assert challenge.header("Portcullis-Trace") == "abc-125"
    assert gate.app.request("GET", "/healthz").header("Portcullis-Trace") is None


def test_what_only_reads_leaves_no_line(new_gate):
    """At no level: the trace is in the answer alone."""
    gate = new_gate(LOG_LEVEL="debug")
    handset = Handset(gate)
    handset.enroll()
    confirm(gate, handset)
    read = handset.get("/device/self", handset.token, X_Trace_Id="looks-only")
    asked = handset.get("/attest/challenge?purpose=device", X_Trace_Id="asks-only")
    assert [read.header("Portcullis-Trace"), asked.header("Portcullis-Trace")] == ["looks-only", "asks-only"]
    # A line that comes later is there, and so would theirs be.
    handset.get("/device/self", "a.b.c", X_Trace_Id="is-refused")
    gate.event(event="refused", trace="is-refused")
    assert "looks-only" not in gate.log_text() and "asks-only" not in gate.log_text()


def test_rates(new_gate, fault):
    gate = new_gate(DEVICE_RATE="3/m", SERVICE_RATE="3/m", **fault.environment)
    fault.stand_still()
    handset, other = Handset(gate), Handset(gate)
    for phone in (handset, other):
        phone.enroll()
        confirm(gate, phone)
    replies = [handset.get("/device/self", handset.token) for _ in range(4)]
    assert [reply.status for reply in replies[:3]] == [200] * 3
    assert_refusal(replies[3], 429, "rate_limited")
    assert other.get("/device/self", other.token).status == 200
    # Whose another token is nobody knows before it is shown; from then on its device has what it has, and no more.
    for _ in range(3):
        another = handset.ask_token()
        assert another.status == 200, another
        assert handset.get("/device/self", another.json["token"]).status == 200
        assert_refusal(handset.get("/device/self", another.json["token"]), 429, "rate_limited")
    # So it is where it is refused.
    mute = Handset(gate)
    mute.enroll()
    replies = [mute.get("/approvals", mute.token) for _ in range(4)]
    assert [reply.status for reply in replies] == [403] * 3 + [429]
    another = mute.ask_token().json["token"]
    assert_refusal(mute.get("/approvals", another), 403, "device_pending")
    assert_refusal(mute.get("/approvals", another), 429, "rate_limited")
    token = add_service(gate)
    replies = [handset.post("/device/introspect", {"token": "x"}, token) for _ in range(4)]
    assert [reply.status for reply in replies[:3]] == [200] * 3
    assert_refusal(replies[3], 429, "rate_limited")


def test_evidence_that_is_refused_counts_once(gate, new_device):
    """What the loop finds out is told the audit as what the pool does."""
    for _ in range(3):
        # Its key is none that the gate knows.
        stranger = Handset(gate, new_device())
        assert_refusal(stranger.post("/device/enroll", stranger.enrolment("assertion")), 403, "attestation_rejected")
    gate.stop()
    gate.start()
    rows = json.loads(gate.command("audit", "list", "--json").stdout)
    assert [(row["code"], row["count"]) for row in rows if row["event"] == "strangers_refused"] == [
        ("attestation_rejected", 3)
    ]


@pytest.mark.parametrize("ways", [["enroll"] * 3, ["rotate"] * 3, ["enroll", "rotate", "attest"]], ids="-".join)
def test_three_failures_by_whichever_way(timed, fault, new_device, ways):
    """Evidence is not judged any more for a while, wherever it comes; what comes without is."""
    phone = Handset(timed.gate, new_device())
    phone.enroll("att_obj")
    confirm(timed.gate, phone)
    key, approval = Key(), Key()

    def come(way, how):
        match way:
            case "enroll":
                return phone.post("/device/enroll", phone.enrolment(how))
            case "rotate":
                return phone.post("/device/rotate", phone.rotation(key, approval, how))
            case "attest":
                return phone.attest(how)

    def broken(phone, nonce, key, approval):
        return phone.evidence("00" * 32, "assertion", key, approval)

    for way in ways:
        assert_refusal(come(way, broken), 403, "attestation_rejected")
    for way in ("enroll", "rotate", "attest"):
        refused = come(way, "assertion")
        assert_refusal(refused, 429, "rate_limited")
        assert 0 < int(refused.header("Retry-After")) <= 900
    assert come("enroll", None).status == 200
    fault.jump(901)
    assert come("rotate", "assertion").status == 200


def test_whoever_is_nobody_pays_by_address(new_gate, fault):
    gate = new_gate(REGISTER_RATE="5/m", **fault.environment)
    fault.stand_still()
    replies = [gate.app.request("POST", "/approvals", "{}", {"Authorization": f"Bearer t{n}"}) for n in range(6)]
    assert [reply.status for reply in replies[:5]] == [401] * 5
    assert_refusal(replies[5], 429, "rate_limited")


# ---- long polls


def test_a_poll_waits_for_something_to_say(timed, fault):
    gate = timed.gate
    token = add_service(gate)
    gate.app.close()
    fault.stand_still()
    with ThreadPoolExecutor(3) as threads:
        polls = [threads.submit(timed.get, "/approvals?wait=25", timed.token) for _ in range(3)]
        # Two of a device may wait: they do once the third is answered.
        answered, waiting = wait(polls, return_when=FIRST_COMPLETED)
        assert (len(answered), len(waiting)) == (1, 2)
        eventually(lambda: pending(gate) == 1, "only whoever was answered counts as pending")
        asked = timed.post(
            "/approvals",
            {"operation": "mud.promote", "target": {"player": "anna"}, "text": "?", "subject": "lena",
             "requester": {"id": "otto"}},
            token,
        )
        # Without a policy nothing is allowed; the polls go on, and a stop answers them.
        assert_refusal(asked, 403, "policy_refused")
        assert not any(poll.done() for poll in waiting)
        gate.signal(signal.SIGTERM)
        for poll in polls:
            assert poll.result().status == 200 and poll.result().json["items"] == []
    fault.heal()
    assert gate.wait() == 0


def pending(gate):
    """How many connections count as unadmitted."""
    return json.loads(gate.command("stats", "--json").stdout)["now"]["pending"]


def test_a_poll_ends_with_its_time_and_is_given_up_with_its_connection(timed, fault):
    gate = timed.gate
    reply = timed.get("/approvals?wait=1", timed.token)
    assert reply.status == 200 and reply.json["items"] == []
    fault.stand_still()
    line = head("GET", "/approvals?wait=25", f"Authorization: Bearer {timed.token}")
    for _ in range(3):
        with Raw(gate) as client:
            client.send(line)
    clients = [Raw(gate).send(line) for _ in range(2)]

    def two_wait():
        """Two of a device may: those that were given up do not count, once the gate has seen that they are."""
        for client in clients:
            if not client.silent_for(0.01):
                assert client.reply().status == 200
                client.send(line)
        third = answered_at_once(gate, line)
        return third and all(client.silent_for(0.2) for client in clients) and third

    assert eventually(two_wait, "two wait, and the third is answered at once").status == 200
    for client in clients:
        client.close()


def answered_at_once(gate, line):
    with Raw(gate) as client:
        client.send(line)
        client.socket.settimeout(0.5)
        try:
            return client.reply()
        except TimeoutError:
            return None
