"""One-time codes over HTTPS: typed once, guessed at by many at once, late, at another login, with a stolen token."""

import concurrent.futures
import http.client
import json
import re
import threading
import time

import pytest
from clients import App, assert_refusal
from gate import free_port
from one_time_codes import Phone, Service
from phones import base64url
from waiting import LONG, patience


@pytest.fixture
def new_gate(gates, folder):
    def make(**changes):
        port = free_port()
        settings = {
            "port": port,
            "DEVICES_PATH": folder / "devices.db",
            "PUBLIC_URL": f"https://127.0.0.1:{port}",
            "DEVICE_APPROVAL": "evidence",
            "DEVICE_RATE": "10000/m",
            "SERVICE_RATE": "100000/m",
        }
        return gates(**{**settings, **changes})

    return make


@pytest.fixture
def gate(new_gate, fault):
    return new_gate(**fault.environment)


@pytest.fixture
def service(gate):
    return Service(gate)


@pytest.fixture
def phone(gate, new_device):
    return Phone(gate, new_device())


def another(code, by=1):
    return f"{(int(code) + by) % 1_000_000:06d}"


# ---- the way of a code


@pytest.mark.quick
def test_a_code_from_the_login_to_the_pass(gate, service, phone, fault):
    # Whoever waits does so until there is something to hear.
    fault.stand_still()
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        heard = pool.submit(lambda: Poll(gate, phone).logins("?after=0&wait=25"))
        asked = service.challenge()
        assert 299 < asked.json["expires_at"] - fault.now() <= 301
        (item,) = heard.result()["items"]
    challenge = asked.json["challenge_id"]
    assert item["challenge_id"] == challenge and item["expires_at"] == asked.json["expires_at"]
    assert (item["service"], item["text"]) == ("web", "Telnet login from 192.0.2.7")
    issued = phone.issue(challenge, item["nonce"])
    assert issued.status == 200 and 119 < issued.json["expires_at"] - fault.now() <= 121
    code = issued.json["otp_code"]
    assert len(code) == 6 and code.isdigit()
    passed = service.verify(challenge, code)
    assert passed.json == {"result": "pass", "device_id": phone.id, "level": "app_attested"}
    assert_refusal(service.verify(challenge, code), 403, "code_rejected")
    assert_refusal(phone.issue(challenge, item["nonce"]), 409, "not_pending")
    assert phone.logins()["items"] == []


class Poll(Phone):
    """The same phone over a connection of its own."""

    def __init__(self, gate, phone):
        self.gate = type("Gate", (), {"app": App(gate)})
        self.id, self.token, self.key, self.server = phone.id, phone.token, phone.key, phone.server


@pytest.mark.quick
def test_what_others_may_not(gate, service, phone, new_device):
    challenge = service.challenged()
    code = phone.code(challenge)
    stranger, other = Service(gate, "other"), Phone(gate, new_device(), "sam")
    bounded = Service(gate, "bounded", "codes", "--subjects", "s*")
    assert_refusal(stranger.verify(challenge, code), 404, "not_found")
    assert_refusal(Service(gate, "mud", "approvals").challenge(), 403, "scope_missing")
    assert_refusal(bounded.challenge(), 403, "scope_missing")
    assert_refusal(bounded.challenge(device_id=phone.id), 404, "not_found")
    assert_refusal(service.verify(challenge, code, token=phone.token), 401, "token_rejected")
    assert_refusal(phone.issue(challenge, token=service.token), 401, "token_rejected")
    assert_refusal(other.issue(challenge, "00" * 32), 404, "not_found")
    assert other.logins()["items"] == []
    assert_refusal(service.challenge(subject="nobody"), 409, "no_device")
    assert_refusal(service.challenge(subject="anna", device_id=phone.id), 400, "bad_request")
    assert service.verify(challenge, code).status == 200


@pytest.mark.quick
def test_what_a_phone_signs(service, phone):
    challenge = service.challenged()
    nonce = phone.own_nonce(challenge)
    assert_refusal(phone.issue(challenge, nonce, signer=phone.approval), 401, "signature_rejected")
    assert_refusal(phone.issue(challenge, nonce, signals=b"[]"), 400, "bad_request")
    assert_refusal(phone.issue(challenge, nonce, signals=b'{"tz":null}'), 400, "bad_request")
    assert_refusal(phone.issue(challenge, nonce, signals=b"{" + b" " * 4095 + b"}"), 400, "bad_request")
    # Others than were signed, and a nonce that nobody has given out.
    changed = {"document_changes": {"signals": base64url(b"{}")}}
    assert_refusal(phone.issue(challenge, nonce, **changed), 401, "signature_rejected")
    assert_refusal(phone.issue(challenge, "00" * 32), 401, "nonce_invalid")
    assert phone.issue(challenge, nonce).status == 200
    assert_refusal(phone.issue(challenge, nonce), 401, "nonce_invalid")
    skewed = phone.issue(challenge, signed_at=int(time.time()) - 301)
    assert (skewed.status, skewed.code) == (400, "clock_skewed")
    assert abs(skewed.json["error"]["time"] - time.time()) < 60
    # A challenge that was asked for by itself, once.
    asked = phone.nonce("otp")
    assert_refusal(phone.issue(challenge, phone.nonce("device")), 401, "nonce_invalid")
    assert phone.issue(challenge, asked).status == 200
    assert_refusal(phone.issue(challenge, asked), 401, "nonce_invalid")


@pytest.mark.quick
def test_a_newer_code_and_another_login(service, phone):
    first, second = service.challenged(), service.challenged("login-2")
    older = phone.code(first)
    code = phone.code(first)
    while code == older:
        code = phone.code(first)
    assert_refusal(service.verify(first, older), 403, "code_rejected")
    assert_refusal(service.verify(second, code, "login-2"), 403, "code_rejected")
    assert_refusal(service.verify(first, code, "login-2"), 403, "code_rejected")
    assert service.verify(first, code).status == 200
    assert_refusal(service.verify(second, code, "login-2"), 403, "code_rejected")


@pytest.mark.quick
def test_a_code_that_comes_late(new_gate, new_device, fault):
    gate = new_gate(OTP_TTL="1s", **fault.environment)
    service, phone = Service(gate), Phone(gate, new_device())
    fault.stand_still()
    challenge = service.challenged()
    issued = phone.issue(challenge).json
    # What is over by the phone's clock is so by the gate's.
    fault.jump(issued["expires_at"] + 1.1 - fault.now())
    assert_refusal(service.verify(challenge, issued["otp_code"]), 403, "code_rejected")


def test_an_attestation_that_is_too_old(new_gate, new_device, fault):
    gate = new_gate(OTP_ATTEST_MAX_AGE="1s", **fault.environment)
    service, phone = Service(gate), Phone(gate, new_device())
    fault.stand_still()
    challenge = service.challenged()
    nonce = phone.own_nonce(challenge)
    fault.jump(2.1)
    assert_refusal(phone.issue(challenge, nonce), 401, "attestation_stale")
    reply = phone.attest("assertion")
    assert reply.status == 200, reply
    phone.token = reply.json["device_token"]
    assert phone.issue(challenge, nonce).status == 200


# ---- guesses


def test_fifty_guess_at_once(gate, service, phone):
    """Five tries are counted, whoever makes them; the right code is none any more, and a new one is good."""
    challenge = service.challenged()
    code = phone.code(challenge)
    barrier = threading.Barrier(50)

    def guess(number):
        barrier.wait()
        return service.verify(challenge, another(code, number))

    with concurrent.futures.ThreadPoolExecutor(50) as pool:
        replies = list(pool.map(guess, range(1, 51)))
    assert {(reply.status, reply.code) for reply in replies} == {(403, "code_rejected")}
    assert tries(gate) == [1, 2, 3, 4, 5]
    assert_refusal(service.verify(challenge, code), 403, "code_rejected")
    assert unlock(gate)["wrong_codes"] == 5
    assert service.verify(challenge, phone.code(challenge)).status == 200


def tries(gate):
    """What the audit has of wrong codes, in their order."""
    return [text["count"] for text in audited(gate) if text["event"] == "code_wrong"]


def audited(gate):
    listed = gate.command("audit", "export")
    assert listed.returncode == 0, listed.stderr
    rows = [json.loads(line) for line in listed.stdout.splitlines()]
    return [json.loads(row["text"]) for row in rows if "text" in row]



def unlock(gate, subject="anna"):
    done = gate.command("devices", "unlock", subject, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_one_code_typed_fifty_times_at_once(service, phone):
    challenge = service.challenged()
    code = phone.code(challenge)
    barrier = threading.Barrier(50)

    def type_it(_):
        barrier.wait()
        return service.verify(challenge, code).status

    with concurrent.futures.ThreadPoolExecutor(50) as pool:
        statuses = sorted(pool.map(type_it, range(50)))
    assert statuses == [200] + [403] * 49


def restart(gate):
    gate.kill()
    gate.start()
    # Phones come anew as well.
    gate.app = App(gate)


def test_guesses_are_counted_across_kills(gate, service, phone):
    challenge = service.challenged()
    code = phone.code(challenge)
    for number in range(1, 5):
        assert_refusal(service.verify(challenge, another(code, number)), 403, "code_rejected")
        restart(gate)
    assert tries(gate) == [1, 2, 3, 4]
    # The code is good still, for one try.
    assert_refusal(service.verify(challenge, another(code, 5)), 403, "code_rejected")
    assert_refusal(service.verify(challenge, code), 403, "code_rejected")
    code = phone.code(challenge)
    assert service.verify(challenge, code).status == 200
    restart(gate)
    assert_refusal(service.verify(challenge, code), 403, "code_rejected")
    assert unlock(gate)["wrong_codes"] == 0


@pytest.mark.parametrize("answered", [0, 1, 4])
def test_a_kill_while_many_guess(gate, service, phone, answered):
    """What was answered is counted, whatever else was under way; and five are judged, not one more."""
    challenge = service.challenged()
    code = phone.code(challenge)
    told = threading.Semaphore(0)

    def guess(number):
        try:
            reply = service.verify(challenge, another(code, number))
        except (OSError, http.client.HTTPException):
            return None
        told.release()
        return reply

    with concurrent.futures.ThreadPoolExecutor(30) as pool:
        guesses = [pool.submit(guess, number) for number in range(1, 31)]
        for _ in range(answered):
            assert told.acquire(timeout=patience(LONG))
        restart(gate)
    replies = [reply for reply in (guess.result() for guess in guesses) if reply]
    assert {(reply.status, reply.code) for reply in replies} <= {(403, "code_rejected")}
    counted = tries(gate)
    assert min(len(replies), 5) <= len(counted) <= 5
    for number in range(100, 105 - len(counted)):
        assert_refusal(service.verify(challenge, another(code, number)), 403, "code_rejected")
    assert tries(gate) == [1, 2, 3, 4, 5]
    assert_refusal(service.verify(challenge, code), 403, "code_rejected")
    assert service.verify(challenge, phone.code(challenge)).status == 200


def test_no_code_is_on_record(new_gate, new_device):
    """Neither one that was given out nor one that was typed is in the log or the audit, at any level."""
    gate = new_gate(LOG_LEVEL="debug")
    service, phone = Service(gate), Phone(gate, new_device())
    codes = []
    for number in range(3):
        login = f"login-{number}"
        challenge = service.challenged(login)
        code = phone.code(challenge)
        codes += [code, another(code)]
        assert_refusal(service.verify(challenge, another(code), login), 403, "code_rejected")
        assert service.verify(challenge, code, login).status == 200
    audit = "\n".join(json.dumps(text) for text in audited(gate))
    # Then the log is whole.
    gate.stop()
    assert "code_wrong" in audit and "otp_verify" in gate.log_text()
    for said in (audit, gate.log_text()):
        for code in codes:
            assert not re.search(rf"(?<!\w){code}(?!\w)", said), code


def test_a_stolen_service_token_locks_nobody_out(gate, service, phone):
    """Without a code that is good nothing is counted; and more than five logins are not open."""
    challenges = [service.challenged(f"login-{number}") for number in range(5)]
    assert_refusal(service.challenge("login-5"), 429, "too_many_open")
    for number in range(120):
        assert service.verify(challenges[number % 5], f"{number:06d}").code == "code_rejected"
    assert unlock(gate)["wrong_codes"] == 0
    assert service.verify(challenges[0], phone.code(challenges[0]), "login-0").status == 200


def test_a_hundred_wrong_codes_lock_the_subject(gate, service, phone):
    challenge = service.challenged()
    for _ in range(20):
        code = phone.code(challenge)
        for _ in range(5):
            assert service.verify(challenge, another(code)).code == "code_rejected"
    assert_refusal(service.challenge("login-2"), 429, "subject_locked")
    assert phone.logins()["items"] == []
    assert_refusal(phone.issue(challenge, nonce="00" * 32), 429, "subject_locked")
    unknown = gate.command("devices", "unlock", "nobody")
    assert unknown.returncode == 65
    unlocked = unlock(gate)
    assert unlocked == {"was_locked": True, "wrong_codes": 100}
    challenge = service.challenged("login-2")
    assert service.verify(challenge, phone.code(challenge), "login-2").status == 200


# ---- the program's own phone


def test_the_programs_phone_waits_signs_and_shows_the_code(development_home):
    home = development_home()
    home.pair("anna.json")
    service = Service(home.gate)
    # Nothing vouches for a phone that was paired without its app.
    challenge = service.challenged()
    refused = home.phone("anna.json", "otp")
    assert refused.returncode == 77 and "attestation_stale" in refused.stderr
    app = ("--app", "app.json", "--app-id", "ABCDEF12K4.org.example.mudproxy")
    done = home.phone("anna.json", "otp", *app, "--signals", '{"tz":"Europe/Vienna"}')
    assert done.returncode == 0, done.stderr
    assert 'web: "Telnet login from 192.0.2.7"' in done.stderr
    assert service.verify(challenge, done.stdout.strip()).status == 200
    # Now it waits for one that is not there yet.
    waiting = home.start(*home.PHONE, "--state", "anna.json", "otp", "--json")
    challenge = service.challenged("login-2")
    shown = json.loads(waiting.line())
    assert shown["challenge_id"] == challenge and waiting.wait() == 0
    assert service.verify(challenge, shown["otp_code"], "login-2").json["level"] == "app_attested"
    assert home.phone("anna.json", "otp", "--signals", "[]").returncode == 64
