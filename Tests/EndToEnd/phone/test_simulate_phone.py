"""The program's own phone at a real gate: what an app does with its keys, and what it remembers."""

import contextlib
import json
import socket
import threading

import pytest
from phones import ask

UNUSABLE, REFUSED = 65, 77
APP = ("--app", "app.json", "--app-id", "ABCDEF12K4.org.example.mudproxy")
POLICY = {
    "rules": [
        {"match": {"operation": "promote"}, "level": "bare"},
        {"match": {"operation": "wipe"}},
        {"match": {"operation": "look"}, "level": "bare", "match_digits": 0},
    ]
}


@pytest.fixture
def home(development_home, folder):
    (folder / "approvals.json").write_text(json.dumps(POLICY))
    return development_home(
        APPROVAL_POLICY=folder / "approvals.json", TOKEN_AUDIENCES="https://game.example.com"
    )


@pytest.fixture
def service(home):
    """The token of a service that asks for approvals."""
    added = home.gate.command("services", "add", "mud", "--scopes", "approvals,devices.read")
    assert added.returncode == 0, added.stderr
    return added.stdout.strip()


def done(process):
    assert process.returncode == 0, process.stderr
    return process.stdout


def request(home, token, operation="promote", **changes):
    body = {
        "operation": operation,
        "target": {"player": "gandalf"},
        "text": "Gandalf becomes a wizard.",
        "subject": "anna",
        "requester": {"id": "saruman"},
        **changes,
    }
    reply = ask(home.gate, "POST", "/approvals", body, token)
    assert reply.status == 201, reply
    return reply.json


def state(home, token, asked):
    return ask(home.gate, "GET", f"/approvals/{asked['id']}", token=token).json["state"]


def test_enrolling_waits_for_an_operator(home):
    url = f"https://localhost:{home.gate.port}"
    trust = ("--ca", "certs/dev/ca.pem")
    said = done(home.gate.command(*home.PHONE, "--state", "p", *trust, "enroll", "--url", url))
    assert said.endswith(": pending, level bare, uv app\n"), said
    device = said.split()[1].rstrip(":")
    # Under the same keys it is the same device; from now on it knows the gate by its pins.
    assert done(home.phone("p", "enroll")).split()[1].rstrip(":") == device
    waiting = home.phone("p", "approvals")
    assert waiting.returncode == REFUSED and "devices confirm" in waiting.stderr
    done(home.gate.command("devices", "confirm", device, "--subject", "anna"))
    assert home.standing("p")["status"] == "active"


def test_an_app_vouches_for_the_phone(home):
    assert home.pair("anna.json")["level"] == "bare"
    assert done(home.phone("anna.json", "attest", *APP)) == "attested: level app_attested, uv app\n"
    # A key that the gate knows asserts.
    assert done(home.phone("anna.json", "attest", *APP)) == "attested: level app_attested, uv app\n"
    assert home.standing("anna.json")["level"] == "app_attested"


def test_a_pairing_may_carry_the_evidence(home):
    assert home.pair("anna.json", *APP)["level"] == "app_attested"


def test_a_player_who_registered_at_the_door_needs_no_new_key(home):
    done(
        home.gate.command(
            *("simulate", "register", "--url", f"wss://localhost:{home.gate.port}/", "--ca", "certs/dev/ca.pem"),
            *("--app-id", "ABCDEF12K4.org.example.mudproxy", "--state", "app.json", "--timeout", "60"),
        )
    )
    assert home.pair("anna.json", "--app", "app.json")["level"] == "app_attested"


def test_tokens_are_for_the_gate_or_for_those_it_names(home, service):
    home.pair("anna.json")
    token = done(home.phone("anna.json", "token")).strip()
    seen = ask(home.gate, "POST", "/device/introspect", {"token": token}, service).json
    assert seen["active"] is True and seen["subject"] == "anna"
    other = done(home.phone("anna.json", "token", "--audience", "https://game.example.com")).strip()
    assert ask(home.gate, "GET", "/device/self", token=other).status == 401
    assert home.phone("anna.json", "token", "--audience", "https://else.example.com").returncode == REFUSED


def test_a_heartbeat_tells_what_is_expected(home):
    home.pair("anna.json")
    assert "next_heartbeat_s" in json.loads(done(home.phone("anna.json", "heartbeat", "--app-version", "1.2")))["policy"]
    done(home.phone("anna.json", "heartbeat", "--rooted", "true"))


def test_new_keys_take_the_place_of_the_old(home):
    device = home.pair("anna.json", *APP)["device_id"]
    old = (home.gate.folder / "anna.json").read_text()
    assert done(home.phone("anna.json", "rotate", "--app", "app.json")) == "rotated: level app_attested, uv app\n"
    assert home.standing("anna.json")["device_id"] == device
    (home.gate.folder / "old.json").write_text(old.replace('"token"', '"lost"'))
    stale = home.phone("old.json", "self")
    assert stale.returncode == REFUSED
    # New keys come with evidence of their own, or are bare.
    assert done(home.phone("anna.json", "rotate")) == "rotated: level bare, uv app\n"


class Cutter:
    """Passes connections on to the gate; while it cuts, the answer to a long request is lost with its connection.

    TLS hides what is said, but not how much: of what a phone asks, only a rotation has so many bytes.
    """

    LONG = 800

    def __init__(self, port):
        self.target, self.cuts = port, True
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        while True:
            try:
                client, _ = self._socket.accept()
            except OSError:
                return
            gate = socket.create_connection(("127.0.0.1", self.target))
            asked = []
            for source, target, is_answer in ((client, gate, False), (gate, client, True)):
                arguments = (source, target, asked, is_answer)
                threading.Thread(target=self._copy, args=arguments, daemon=True).start()

    def _copy(self, source, target, asked, is_answer):
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                if is_answer:
                    if self.cuts and sum(asked) > self.LONG:
                        break
                    asked.clear()
                else:
                    asked.append(len(data))
                target.sendall(data)
        for end in (source, target):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def close(self):
        self._socket.close()


def test_a_phone_has_a_vote(home, service):
    home.pair("anna.json")
    asked = request(home, service)
    listed = json.loads(done(home.phone("anna.json", "approvals", "--json")))
    assert [item["id"] for item in listed] == [asked["id"]]
    assert listed[0]["summary"]["target"] == {"player": "gandalf"} and listed[0]["match_digits"] == 2
    line = done(home.phone("anna.json", "approvals"))
    assert "promote  player=gandalf  saruman@mud  2  " in line and '"Gandalf becomes a wizard."' in line
    vote = ("approvals", "--approve", asked["id"], "--code")
    wrong = home.phone("anna.json", *vote, "00" if asked["match_code"] != "00" else "01")
    assert wrong.returncode == REFUSED and "not the digits" in wrong.stderr
    assert done(home.phone("anna.json", *vote, asked["match_code"])) == "approved\n"
    assert state(home, service, asked) == "approved"
    assert home.phone("anna.json", *vote, asked["match_code"]).returncode == UNUSABLE


@pytest.mark.parametrize(("verb", "outcome"), [("--deny", "denied"), ("--report", "reported")])
def test_a_phone_says_no(home, service, verb, outcome):
    home.pair("anna.json")
    asked = request(home, service)
    assert done(home.phone("anna.json", "approvals", verb, asked["id"])) == f"{outcome}\n"
    assert state(home, service, asked) == outcome


def test_what_comes_is_told_at_once(home, service):
    home.pair("anna.json")
    watching = home.start(*home.PHONE, "--state", "anna.json", "approvals", "--watch", "--json")
    asked = request(home, service, "look")
    assert json.loads(watching.line())["id"] == asked["id"] and "match_code" not in asked
    assert done(home.phone("anna.json", "approvals", "--approve", asked["id"])) == "approved\n"
    later = request(home, service, "look", requester={"id": "radagast"})
    assert json.loads(watching.line(1))["id"] == later["id"]


def test_a_bare_phone_does_not_decide_what_takes_more(home, service):
    home.pair("anna.json")
    body = {"operation": "wipe", "target": {}, "text": "", "subject": "anna", "requester": {"id": "saruman"}}
    assert ask(home.gate, "POST", "/approvals", body, service).code == "no_device"
    done(home.phone("anna.json", "attest", *APP))
    assert ask(home.gate, "POST", "/approvals", body, service).status == 201


def test_a_revoked_phone_is_told_so(home, service):
    device = home.pair("anna.json")["device_id"]
    done(home.gate.command("devices", "revoke", device))
    told = home.phone("anna.json", "approvals")
    assert told.returncode == REFUSED and "revoked" in told.stderr


def test_a_phone_without_approval_key_has_no_vote(home, service):
    assert home.pair("anna.json", "--without-approval-key")["uv"] == "none"
    body = {"operation": "promote", "target": {}, "text": "", "subject": "anna", "requester": {"id": "saruman"}}
    assert ask(home.gate, "POST", "/approvals", body, service).code == "no_device"
    assert json.loads(done(home.phone("anna.json", "approvals", "--json"))) == []


def test_a_lost_answer_to_a_rotation_is_found_out(home):
    """The gate has the new keys and the phone has not heard it: the next try tells."""
    cutter = Cutter(home.gate.port)
    try:
        home.pair("anna.json")
        path = home.gate.folder / "anna.json"
        path.write_text(path.read_text().replace(f'"port":{home.gate.port}', f'"port":{cutter.port}'))
        keys = json.loads(path.read_text())["device_key"]
        assert home.phone("anna.json", "rotate").returncode != 0
        kept = json.loads(path.read_text())
        assert kept["device_key"] == keys != kept["new_device_key"]
        cutter.cuts = False
        assert done(home.phone("anna.json", "rotate")) == "rotated, as the gate had it already\n"
        assert json.loads(path.read_text())["device_key"] == kept["new_device_key"]
        assert home.standing("anna.json")["status"] == "active"
    finally:
        cutter.close()


def test_a_state_file_of_a_phone_is_not_written_over(home):
    home.pair("anna.json")
    operator = home.operator("--subject", "anna")
    again = home.scan("anna.json", operator.code.uri())
    assert again.wait() == 73 and "already there" in again.complaints
