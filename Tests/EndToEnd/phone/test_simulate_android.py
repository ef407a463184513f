"""The program's own phone with Android: keys that its hardware attests, apps that Play Integrity vouches for."""

import json

import pytest
from phones import ask

REFUSED, USAGE = 77, 64
SIGNER = "5e" * 32
APP = ("--android-app", f"com.example.mud:{SIGNER}")
PLAY = (*APP, "--play", "device")
POLICY = {"rules": [{"match": {"operation": "wipe"}, "level": "hardware_attested", "uv": "hardware"}]}


@pytest.fixture
def new_home(development_home, backend, folder):
    """A household at a gate that believes the development authorities of Android."""
    (folder / "approvals.json").write_text(json.dumps(POLICY))
    (folder / "status.json").write_text('{"entries": {}}')
    certificates = development_home.certificates
    settings = {
        "ANDROID_APPS": f"com.example.mud:{SIGNER}",
        "ANDROID_ROOTS_PATH": certificates / "android-root.pem",
        "ANDROID_REVOCATION_PATH": folder / "status.json",
        "PLAY_INTEGRITY_KEYS_PATH": certificates / "play-integrity-keys.json",
        "APPROVAL_POLICY": folder / "approvals.json",
    }
    return lambda **changes: development_home(backend, **{**settings, **changes})


@pytest.fixture
def home(new_home):
    return new_home()


def done(process):
    assert process.returncode == 0, process.stderr
    return process.stdout


def enroll(home, state, *arguments):
    url = f"https://localhost:{home.gate.port}"
    return home.gate.command(
        *(*home.PHONE, "--state", state, "--ca", "certs/dev/ca.pem", "enroll", "--url", url, *arguments)
    )


def refused(home, process, step):
    """The phone learns that it was refused, and the log why."""
    assert process.returncode == REFUSED and "attestation_rejected" in process.stderr, process
    home.gate.event(event="refused", code="attestation_rejected", step=step)


@pytest.mark.parametrize("level", ["tee", "strongbox"])
def test_hardware_vouches_for_both_keys(home, level):
    standing = home.pair("anna.json", *APP, "--security-level", level)
    assert (standing["level"], standing["uv"]) == ("hardware_attested", "hardware")
    assert json.loads((home.gate.folder / "anna.json").read_text())["platform"] == "android"


def test_play_vouches_for_the_app(home):
    assert done(enroll(home, "p", *PLAY)).endswith(": pending, level app_attested, uv app\n")


def test_evidence_alone_makes_a_phone_active(new_home):
    home = new_home(DEVICE_APPROVAL="evidence")
    assert done(enroll(home, "p", *APP)).endswith(": active, level hardware_attested, uv hardware\n")


def test_an_app_shows_itself_again(home):
    assert home.pair("anna.json", "--platform", "android")["level"] == "bare"
    assert done(home.phone("anna.json", "attest", *PLAY)) == "attested: level app_attested, uv app\n"
    assert done(home.phone("anna.json", "attest", *APP, "--play", "strong")) == "attested: level app_attested, uv app\n"


def test_new_keys_need_evidence_of_their_own(home):
    device = home.pair("anna.json", *APP)["device_id"]
    assert done(home.phone("anna.json", "rotate", *APP)) == "rotated: level hardware_attested, uv hardware\n"
    assert done(home.phone("anna.json", "rotate", *PLAY)) == "rotated: level app_attested, uv app\n"
    assert done(home.phone("anna.json", "rotate")) == "rotated: level bare, uv app\n"
    assert home.standing("anna.json")["device_id"] == device


def test_its_vote_counts_where_hardware_is_asked_for(home):
    added = home.gate.command("services", "add", "mud", "--scopes", "approvals")
    token = done(added).strip()
    body = {"operation": "wipe", "target": {}, "text": "", "subject": "anna", "requester": {"id": "saruman"}}
    home.pair("play.json", *PLAY)
    assert ask(home.gate, "POST", "/approvals", body, token).code == "no_device"
    home.pair("anna.json", *APP)
    asked = ask(home.gate, "POST", "/approvals", body, token).json
    vote = ("approvals", "--approve", asked["id"], "--code", asked["match_code"])
    assert done(home.phone("anna.json", *vote)) == "approved\n"
    done(home.phone("anna.json", "heartbeat", "--app-version", "1.2"))


def test_it_comes_in_to_play(new_home):
    home = new_home(GATE_DEVICES="hardware_attested", DEVICE_APPROVAL="evidence")
    done(enroll(home, "p", *APP))
    played = home.gate.command("simulate", "connect", "--phone", "p", "--raw", "--wait", stdin="quit\n")
    assert played.returncode == 0, played.stderr
    home.gate.event(event="admitted", credential="device")
    # What an app vouches for is less than this door wants.
    done(enroll(home, "q", *PLAY))
    assert home.gate.command("simulate", "connect", "--phone", "q", "--raw").returncode == REFUSED
    home.gate.event(event="refused", code="level_too_low")


@pytest.mark.parametrize(
    ("arguments", "step"),
    [
        (("--unlocked",), "device_locked"),
        (("--boot-state", "self-signed"), "boot_state"),
        (("--wrong-challenge",), "challenge"),
        (("--without-user-verification",), "uv"),
        (("--play", "none"), "level"),
        (("--play", "basic"), "level"),
        (("--play", "device", "--wrong-challenge"), "nonce"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else value,
)
def test_a_phone_in_disorder_is_refused(home, arguments, step):
    refused(home, enroll(home, "p", *APP, *arguments), step)


@pytest.mark.parametrize(
    ("app", "extra", "step"),
    [
        (f"com.example.other:{SIGNER}", (), "app_package"),
        (f"com.example.mud:{'00' * 32}", (), "app_digest"),
        (f"com.example.other:{SIGNER}", ("--play", "device"), "request_package"),
        (f"com.example.mud:{'00' * 32}", ("--play", "device"), "cert_digest"),
    ],
)
def test_another_app_is_refused(home, app, extra, step):
    refused(home, enroll(home, "p", "--android-app", app, *extra), step)


def test_another_authority_is_refused(home):
    done(home.gate.command("dev-certs", "--directory", "other"))
    refused(home, enroll(home, "p", *APP, "--authority", "other"), "root")
    refused(home, enroll(home, "q", *PLAY, "--authority", "other"), "jwe_unwrap")


def test_words_that_do_not_go_together(home):
    def wrong(*arguments):
        return enroll(home, "p", *arguments).returncode == USAGE

    assert wrong("--unlocked") and wrong("--play", "device") and wrong("--wrong-challenge")
    assert wrong(*APP, "--app", "a.json", "--app-id", "ABCDEF12K4.org.example.mudproxy")
    assert wrong(*APP, "--platform", "ios") and wrong("--android-app", "com.example.mud")
    # An app that is attested by its hardware alone has nothing to show again.
    assert home.phone("p", "attest", *APP).returncode == USAGE
    assert not (home.gate.folder / "p").exists()
