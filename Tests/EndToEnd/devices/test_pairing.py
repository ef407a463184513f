"""A phone is paired by a QR code, whoever stands between, photographs or guesses (docs/devices-messages.md, "Pairing")."""

import json
import signal
import socket
import ssl
import threading
import uuid

import pki
import pytest
from clients import assert_refusal
from cryptography.hazmat.primitives.asymmetric import ec
from gate import free_port
from handset import Handset
from phones import Code, HandPhone, Household, ask, base64url, sha256, spki_hash
from waiting import eventually

pytestmark = pytest.mark.quick

REFUSED, UNAVAILABLE = 77, 69


@pytest.fixture
def device_gate(gates, folder):
    """Makes gates with devices."""

    def make(**changes):
        port = free_port()
        return gates(
            port=port,
            DEVICES_PATH=folder / "devices.db",
            PUBLIC_URL=f"https://127.0.0.1:{port}",
            **{"DEVICE_RATE": "10000/m", **changes},
        )

    return make


@pytest.fixture
def new_home(device_gate):
    """Makes gates with an operator and phones: keywords change the gate's environment."""
    made = []

    def make(**changes):
        made.append(Household(device_gate(**changes)))
        return made[-1]

    yield make
    for household in made:
        household.end()


@pytest.fixture
def home(new_home):
    return new_home()


def test_a_phone_is_let_in_by_its_digits(home):
    standing = home.pair("anna.json", "--name", "Anna's phone")
    assert (standing["status"], standing["subject"]) == ("active", "anna")
    listed = home.devices()
    assert [device["device_id"] for device in listed] == [standing["device_id"]]
    assert (home.gate.folder / "anna.json").stat().st_mode & 0o777 == 0o600


def test_the_name_that_the_operator_gives_counts(home):
    operator = home.operator("--subject", "anna", "--name", "Reception")
    phone = home.scan("anna.json", operator.code.uri(), "--name", "whatever")
    operator.says("type the six digits")
    operator.type(phone.line())
    assert (operator.wait(), phone.wait()) == (0, 0)
    assert home.devices()[0]["device_name"] == "Reception"


def self_signed():
    key = ec.generate_private_key(ec.SECP256R1())
    subject = pki.name("impostor")
    return pki.build(subject, key, subject, key, []), key


class Impostor:
    """Takes TLS connections with a key of its own, and keeps what is said to it, which it answers as told."""

    def __init__(self, folder, answer=None):
        self.heard, self.answer = [], answer
        self.certificate, key = self_signed()
        chain = folder / "impostor.pem"
        chain.write_bytes(pki.pem(self.certificate) + pki.pem(key))
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(chain)
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    @property
    def pin(self):
        return spki_hash(pki.pem(self.certificate))

    def _serve(self):
        while True:
            try:
                plain, _ = self._socket.accept()
            except OSError:
                return
            threading.Thread(target=self._converse, args=(plain,), daemon=True).start()

    def _converse(self, plain):
        try:
            with self._context.wrap_socket(plain, server_side=True) as peer:
                stream = peer.makefile("rwb")
                while line := stream.readline():
                    length = 0
                    while (field := stream.readline().strip()) != b"":
                        if field.lower().startswith(b"content-length:"):
                            length = int(field.split(b":")[1])
                    body = stream.read(length)
                    self.heard.append((line.decode().split()[:2], body))
                    reply = json.dumps(self.answer(line.decode().split()[:2], body)).encode()
                    stream.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(reply), reply))
                    stream.flush()
        except OSError:
            pass

    def close(self):
        self._socket.close()


@pytest.fixture
def impostors(folder):
    made = []

    def make(answer=None):
        made.append(Impostor(folder, answer))
        return made[-1]

    yield make
    for impostor in made:
        impostor.close()


def test_a_proxy_between_phone_and_gate_hears_nothing(home, impostors):
    """The address leads to somebody else: his key is not that of the code."""
    proxy = impostors()
    operator = home.operator("--subject", "anna")
    code = Code(operator.code.uri())
    code.authority = f"127.0.0.1:{proxy.port}"
    phone = home.scan("anna.json", code.uri())
    assert phone.wait() == UNAVAILABLE
    assert "not trusted" in phone.complaints
    assert proxy.heard == [] and phone.lines == []


def test_a_proxy_that_has_forged_the_code_cannot_pass_the_phone_on(home, impostors):
    """The code has his key: then the phone's MAC and signatures are over it, and the gate takes them for wrong."""
    operator = home.operator("--subject", "anna")
    forged = Code(operator.code.uri())
    sent = []

    def relay(request, body):
        reply = ask(home.gate, *request, json.loads(body) if body else None)
        sent.append(reply)
        return reply.json

    proxy = impostors(relay)
    forged.pin, forged.authority = proxy.pin, f"127.0.0.1:{proxy.port}"
    phone = home.scan("anna.json", forged.uri())
    phone.wait()
    assert [reply.status for reply in sent][:1] == [410]
    assert phone.lines == []


def test_a_proxy_that_has_forged_the_code_and_answers_himself_has_other_digits(home, impostors):
    """He is the gate for the phone, and a phone for the gate: the digits that the person reads are not the gate's."""
    operator = home.operator("--subject", "anna")
    real, forged = operator.code, Code(operator.code.uri())
    attacker = HandPhone("Anna's phone")
    offered = ask(home.gate, "POST", f"/pair/{real.pairing}", attacker.pair_form(real))
    assert offered.status == 200, offered
    answers = {"POST": offered.json, "GET": {"status": "pending"}}
    proxy = impostors(lambda request, body: answers[request[0]])
    forged.pin, forged.authority = proxy.pin, f"127.0.0.1:{proxy.port}"
    phone = home.scan("anna.json", forged.uri(), "--name", "Anna's phone")
    shown = phone.line()
    revealed = ask(home.gate, "GET", f"/pair/{real.pairing}?reveal={attacker.r.hex()}")
    assert revealed.json["status"] == "pending"
    operator.says("type the six digits")
    assert shown != attacker.digits(real, bytes.fromhex(offered.json["s"]))
    for _ in range(3):
        operator.type(shown)
    assert operator.wait() == 1
    assert home.devices() == []


def test_a_photographed_code_is_of_no_use_afterwards(home):
    operator = home.operator("--subject", "anna")
    phone = home.scan("anna.json", operator.code.uri())
    operator.says("type the six digits")
    late = home.scan("thief.json", operator.code.uri())
    assert late.wait() == REFUSED and late.lines == []
    operator.type(phone.line())
    assert (operator.wait(), phone.wait()) == (0, 0)
    again = home.scan("thief2.json", operator.code.uri())
    assert again.wait() == REFUSED
    assert len(home.devices()) == 1


def test_a_second_phone_that_answers_first_has_other_digits(home):
    operator = home.operator("--subject", "anna")
    thief = home.scan("thief.json", operator.code.uri(), "--name", "Not hers")
    operator.says('"Not hers"')
    phone = home.scan("anna.json", operator.code.uri())
    assert phone.wait() == REFUSED and phone.lines == []
    # Anna has no digits to read out, and what the operator makes up is wrong.
    operator.says("type the six digits")
    wrong = "000000" if thief.line() != "000000" else "000001"
    for _ in range(3):
        operator.type(wrong)
    assert operator.wait() == 1
    assert thief.wait() == REFUSED
    assert home.devices() == []


def test_control_c_ends_it_for_the_phone_too(home):
    operator = home.operator("--subject", "anna")
    phone = home.scan("anna.json", operator.code.uri())
    operator.says("type the six digits")
    operator.signal(signal.SIGINT)
    assert operator.wait() == 128 + signal.SIGINT
    assert phone.wait() == REFUSED
    assert home.devices() == []


def test_an_answer_that_was_lost_is_given_again(home):
    operator = home.operator("--subject", "anna")
    phone, path = HandPhone(), f"/pair/{operator.code.pairing}"
    first = ask(home.gate, "POST", path, phone.pair_form(operator.code))
    again = ask(home.gate, "POST", path, phone.pair_form(operator.code))
    assert first.status == again.status == 200 and first.json == again.json
    phone.name = "Another"
    assert_refusal(ask(home.gate, "POST", path, phone.pair_form(operator.code)), 410, "pairing_rejected")
    phone.name = "By hand"
    digits = phone.digits(operator.code, bytes.fromhex(first.json["s"]))
    # Until the phone has shown what it committed to, the digits wait.
    operator.says("has scanned the code")
    operator.type(digits)
    assert_refusal(ask(home.gate, "GET", f"{path}?reveal={'00' * 32}"), 410, "pairing_rejected")
    assert ask(home.gate, "GET", f"{path}?reveal={phone.r.hex()}").json["status"] == "pending"
    assert operator.wait() == 0
    assert ask(home.gate, "GET", f"{path}?reveal={phone.r.hex()}").json["status"] == "active"


@pytest.fixture
def vouched(home, new_device):
    """A phone's answer to a code, with evidence of an App Attest key: by its attestation, or by an assertion of one that
    has registered at the door."""

    def make(code, how="att_obj"):
        hand, handset = HandPhone(), Handset(home.gate, new_device())
        handset.key, handset.approval = hand.device, hand.approval
        if how == "assertion":
            home.gate.app.register(handset.device)
        nonce = handset.nonce("enroll")
        return hand.pair_form(code) | {"evidence": handset.evidence(nonce, how) | {"nonce": nonce}}

    return make


@pytest.mark.parametrize("how", ["att_obj", "assertion"])
def test_an_answer_with_evidence_that_was_lost_is_given_again(home, vouched, how):
    operator = home.operator("--subject", "anna")
    path, form = f"/pair/{operator.code.pairing}", vouched(operator.code, how)
    first, again = (ask(home.gate, "POST", path, form) for _ in range(2))
    assert first.status == again.status == 200 and first.json == again.json
    shown = json.loads(home.gate.command("devices", "show", first.json["device_id"], "--json").stdout)
    assert shown["level"] == "app_attested"
    # Another phone's is another message, however good its evidence.
    other = vouched(operator.code)
    assert_refusal(ask(home.gate, "POST", path, other), 410, "pairing_rejected")
    assert len(home.devices()) == 1


def test_evidence_is_looked_at_for_who_knows_the_secret(home, vouched):
    """Whoever has not seen the code has nothing judged, learns nothing, and burns it as without evidence."""
    operator = home.operator("--subject", "anna")
    path, form = f"/pair/{operator.code.pairing}", vouched(operator.code)
    unknown = ask(home.gate, "POST", f"/pair/{uuid.uuid4()}", form)
    assert_refusal(unknown, 410, "pairing_rejected")
    for _ in range(4):
        assert_refusal(ask(home.gate, "POST", path, form | {"mac": "00" * 32}), 410, "pairing_rejected")
    forged = form | {"signature": form["approval_signature"]}
    assert_refusal(ask(home.gate, "POST", path, forged), 401, "signature_rejected")
    # Nobody has spent its challenge, or its key, by that.
    assert ask(home.gate, "POST", path, form).status == 200
    assert_refusal(ask(home.gate, "POST", path, form | {"mac": "00" * 32}), 410, "pairing_rejected")
    assert operator.wait() == 1
    assert_refusal(ask(home.gate, "POST", path, form), 410, "pairing_rejected")


def test_a_challenge_is_good_for_one_look_at_evidence(home, vouched):
    operator = home.operator("--subject", "anna")
    path, form = f"/pair/{operator.code.pairing}", vouched(operator.code)
    other = vouched(operator.code)["evidence"] | {"nonce": form["evidence"]["nonce"]}
    assert_refusal(ask(home.gate, "POST", path, form | {"evidence": other}), 403, "attestation_rejected")
    assert_refusal(ask(home.gate, "POST", path, form), 401, "nonce_invalid")
    assert home.devices() == []


def test_five_wrong_secrets_burn_it(home):
    operator = home.operator("--subject", "anna")
    phone, path = HandPhone(), f"/pair/{operator.code.pairing}"
    for _ in range(5):
        form = phone.pair_form(operator.code) | {"mac": "00" * 32}
        assert_refusal(ask(home.gate, "POST", path, form), 410, "pairing_rejected")
    assert_refusal(ask(home.gate, "POST", path, phone.pair_form(operator.code)), 410, "pairing_rejected")
    assert operator.wait() == 1


def test_what_is_signed_is_the_message(home):
    """Nothing but the pairing's own message passes, under the right secret too."""
    operator = home.operator("--subject", "anna")
    path = f"/pair/{operator.code.pairing}"
    phone, other = HandPhone(), HandPhone()
    for name, value in {
        "signature": other.device.sign(phone.pair_message(operator.code)),
        "approval_signature": phone.device.sign(phone.pair_message(operator.code)),
    }.items():
        form = phone.pair_form(operator.code) | {name: value}
        assert_refusal(ask(home.gate, "POST", path, form), 401, "signature_rejected")
    swapped = phone.pair_form(operator.code) | {"approval_pubkey": base64url(other.approval.point)}
    assert_refusal(ask(home.gate, "POST", path, swapped), 410, "pairing_rejected")
    assert ask(home.gate, "POST", path, phone.pair_form(operator.code)).status == 200


def test_a_code_that_nobody_knows_is_like_a_used_one(home):
    home.operator("--subject", "anna")
    code = Code(home.started[0].code.uri())
    code.pairing = type(code.pairing)(bytes=sha256(b"none")[:16])
    reply = ask(home.gate, "POST", f"/pair/{code.pairing}", HandPhone().pair_form(code))
    assert_refusal(reply, 410, "pairing_rejected")


def test_an_address_answers_ten_times_a_minute(new_home, fault):
    home = new_home(**fault.environment)
    fault.stand_still()
    operator = home.operator("--subject", "anna")
    path = f"/pair/{operator.code.pairing}"
    refused = []

    def tried():
        form = HandPhone().pair_form(operator.code) | {"mac": "00" * 32}
        refused.append(ask(home.gate, "POST", path, form).status)
        return refused[-1] == 429

    eventually(tried, "a refusal for the rate")
    assert refused == [410] * 10 + [429]


def test_five_minutes_are_all_it_has(new_home, fault):
    home = new_home(**fault.environment)
    operator = home.operator("--subject", "anna")
    phone, path = HandPhone(), f"/pair/{operator.code.pairing}"
    assert ask(home.gate, "POST", path, phone.pair_form(operator.code)).status == 200
    fault.jump(301)
    assert operator.wait() == 1
    # Who has answered in time and committed to what he shows hears how it has ended; all others hear one word.
    assert ask(home.gate, "GET", f"{path}?reveal={phone.r.hex()}").json["status"] == "refused"
    assert_refusal(ask(home.gate, "POST", path, phone.pair_form(operator.code)), 410, "pairing_rejected")
    assert home.devices() == []


def test_a_service_pairs_its_own_people(home):
    added = home.gate.command("services", "add", "web", "--scopes", "pairings", "--subjects", "a*")
    other = home.gate.command("services", "add", "mud", "--scopes", "pairings")
    token, stranger = added.stdout.strip(), other.stdout.strip()
    refused = ask(home.gate, "POST", "/pair", {"subject": "bob"}, token)
    assert_refusal(refused, 403, "scope_missing")
    opened = ask(home.gate, "POST", "/pair", {"subject": "anna"}, token).json
    path = f"/pair/{opened['pairing_id']}"
    assert ask(home.gate, "GET", path, token=token).json["status"] == "open"
    assert_refusal(ask(home.gate, "GET", path, token=stranger), 404, "not_found")
    phone = home.scan("anna.json", opened["uri"])
    digits = phone.line()
    eventually(lambda: ask(home.gate, "GET", path, token=token).json["status"] == "revealed", "revealed")
    wrong = "000000" if digits != "000000" else "000001"
    assert_refusal(ask(home.gate, "POST", f"{path}/confirm", {"sas": wrong}, token), 403, "code_rejected")
    assert_refusal(ask(home.gate, "POST", f"{path}/confirm", {"sas": digits}, stranger), 404, "not_found")
    assert ask(home.gate, "POST", f"{path}/confirm", {"sas": digits}, token).json["status"] == "active"
    assert phone.wait() == 0
    assert home.standing("anna.json")["subject"] == "anna"
