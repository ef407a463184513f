"""A gate in full use: everything that its console can show is there once, by those who would have done it."""

import contextlib
import dataclasses
import uuid

from approvers import Approver, add_service, approval_settings, request
from clients import UPGRADE, Raw, head
from consoles import OPERATOR
from orders import order
from phones import Household
from sessions import Player
from waiting import eventually
from websocket import RawWebSocket

POLICY = {
    "rules": [
        {"match": {"operation": "promote"}, "level": "bare", "quorum": 1, "lease": {"ttl_s": 600, "uses": 5}},
        {"match": {"operation": "shutdown"}, "factors": ["operator"]},
        {"match": {"operation": "wipe"}, "factors": ["device", "operator"], "level": "bare"},
    ]
}
# Of documentation alone (RFC 5737, RFC 3849).
HOMES = ["198.51.100.7", "203.0.113.24", "2001:db8:1:2::7", "192.0.2.77", "198.51.100.62"]


@dataclasses.dataclass
class Words:
    """What the peers of the gate call themselves and what they want; `of` makes one name out of a kind and a person."""

    phone: str = "{}’s phone"
    text: str = "{} becomes a wizard."
    target: str = "gandalf"
    requester: str = "saruman"
    requester_name: str = "Saruman the White"
    version: str = "2.4.1"
    client: str = "Lantern"
    certificate: str = "developer"

    def phone_of(self, person):
        return self.phone.format(person)


def settings(folder, pki, **changes):
    """For `Console`: devices, approvals with operators, certificates, addresses as a proxy tells them."""
    return {
        **approval_settings(folder, POLICY),
        "APPROVALS_SOCKET": folder / "approvals.sock",
        "APPROVAL_OPERATORS": OPERATOR,
        "GATE_DEVICES": "bare",
        "ALLOW_MTLS_FALLBACK": "true",
        "MTLS_CLIENT_CA_PATH": pki.client_ca,
        "TRUSTED_PROXIES": "127.0.0.1",
        # Most who play there read nothing, and are to be there all the same when they are looked at.
        "PING_INTERVAL": "1h",
        "PONG_TIMEOUT": "2h",
        **changes,
    }


class Town:
    """Who lives at the gate; `stop` sends them home."""

    def __init__(self, console, pki, new_device, words=None, keys=57):
        self.console, self.gate, self.pki = console, console.gate, pki
        self.new_device, self.words = new_device, words or Words()
        self.open = contextlib.ExitStack()
        self.household = Household(self.gate)
        self.open.callback(self.household.end)
        self.keys = [self.gate.app.register(new_device()) for _ in range(keys)]
        self.play()
        self.be_refused()
        self.own_phones()
        self.decide()

    def stop(self):
        self.open.close()

    # ---- where they are in the console

    def session(self, number=1):
        return f"/sessions/{number}"

    def key(self, device=None):
        device = device or self.keys[0]
        return "/keys/" + device.key_id_b64.rstrip("=").replace("+", "-").replace("/", "_")

    def device(self, phone):
        """Of a phone, or by its id."""
        return f"/devices/{getattr(phone, 'id', phone)}"

    def approval(self, name):
        return f"/approvals/{self.approvals[name]['id']}"

    # ---- sessions

    def play(self):
        """Raw and `portcullis.v1`, with and without a connection, by key and by certificate."""
        self.players = []
        for number, device in enumerate(self.keys[:7]):
            client = {"name": self.words.client, "version": self.words.version} if number % 2 else None
            player = Player(self.gate, device, client=client)
            player.connect(extra=[f"X-Forwarded-For: {HOMES[number % len(HOMES)]}"])
            player.line("look")
            player.until_text("You say: look")
            self.players.append(player)
            self.open.callback(lambda wire=player.wire: wire.close())
        for player in self.players[5:]:
            player.lose()
        for device in self.keys[7:9]:
            self.raw(device.headers(self.gate.app.nonce()))
        named = self.pki.client_authority.issue(self.words.certificate, self.pki.client_purpose)
        self.raw({}, certificate=self.pki.pair("client-of-the-town", named))

    def raw(self, headers, **options):
        """A session without a subprotocol, once the game has greeted."""
        client = self.open.enter_context(RawWebSocket(self.gate, headers, **options))
        client.read_frame()
        return client

    # ---- refusals

    def be_refused(self):
        for home in HOMES[:3]:
            for _ in range(2):
                self.refused(401, "/", *UPGRADE, f"X-Forwarded-For: {home}")
        replayed = self.keys[9].headers(self.gate.app.nonce())
        self.raw(replayed)
        self.refused(401, "/", *UPGRADE, *fields(replayed))
        stranger = self.new_device()
        self.refused(401, "/", *UPGRADE, *fields(stranger.headers(self.gate.app.nonce())))
        forged = self.new_device(app_id="ABCDEF12K4.org.example.cheat")
        assert self.gate.app.post(forged.registration(self.gate.app.nonce())).status >= 400
        assert self.gate.app.post("{").status == 400
        for device in self.keys[-3:]:
            done = self.gate.command("keys", "revoke", device.key_id_b64)
            assert done.returncode == 0, done.stderr
        self.refused(403, "/", *UPGRADE, *fields(self.keys[-1].headers(self.gate.app.nonce())))

    def refused(self, status, path, *lines):
        with Raw(self.gate) as client:
            reply = client.send(head("GET", path, *lines)).reply()
            assert reply.status == status, reply

    # ---- devices

    def own_phones(self):
        """Active ones, one that plays, one that waits, one that is gone, and two that show their digits."""
        self.phones = [self.phone(person) for person in ("Anna", "Ben", "Carla")]
        plays = self.phones[1]
        self.raw({**plays.headers(), "X-Forwarded-For": HOMES[1]})
        self.lost = self.phone("Dora")
        done = self.gate.command("devices", "revoke", self.lost.id)
        assert done.returncode == 0, done.stderr
        self.waiting = self.phone("Emil", subject=None)
        self.pairings = [self.pair(person) for person in ("Frida", "Gustav")]

    def phone(self, person, subject=...):
        phone = Approver(self.gate)
        reply = phone.post("/device/enroll", phone.enrolment(device_name=self.words.phone_of(person)))
        assert reply.status == 200, reply
        phone.id, phone.token = reply.json["device_id"], reply.json["token"]
        if subject is not None:
            name = person.lower() if subject is ... else subject
            done = self.gate.command("devices", "confirm", phone.id, "--subject", name)
            assert done.returncode == 0, done.stderr
            assert phone.heartbeat(app_version=self.words.version).status == 200
        return phone

    def pair(self, person):
        """A phone that shows its digits; those. It does so for five minutes."""
        opened = order(self.gate, "pair-open", subject=person.lower())
        state = self.gate.folder / f"{uuid.uuid4()}.json"
        phone = self.household.scan(state, opened["uri"], "--name", self.words.phone_of(person))
        return Pairing(self.gate, opened["pairing_id"], phone)

    # ---- approvals

    def decide(self):
        """Two that are decided, one that waits for a phone, one for an operator, one for both."""
        anna = self.phones[0]
        self.token = add_service(self.gate, "mud", "approvals,codes")
        for person, decision in (("Gandalf", "approve"), ("Wormtongue", "deny")):
            made = self.ask("promote", person)
            (item,) = [item for item in anna.items() if item["id"] == made["id"]]
            code = made["match_code"] if decision == "approve" else ""
            assert anna.vote(item, decision, code).status == 200
        self.approvals = {
            "phone": self.ask("promote", "Radagast"),
            "operator": self.ask("shutdown", "Sauron", text="The game restarts in ten minutes."),
            "both": self.ask("wipe", "Balrog"),
        }

    def ask(self, operation, person, **changes):
        """A request, which waits for five minutes."""
        document = {
            "target": {"player": self.words.target},
            "text": self.words.text.format(person),
            "requester": {"id": f"{self.words.requester}-{person}", "name": self.words.requester_name},
            **changes,
        }
        return request(self.gate, self.token, operation, **document)


class Pairing:
    """A phone that somebody holds and reads from."""

    def __init__(self, gate, identifier, process):
        self.gate, self.id, self.process = gate, identifier, process
        self.digits = process.line()
        status = lambda: order(gate, "pair-status", pairing_id=identifier)  # noqa: E731
        eventually(lambda: status()["status"] == "revealed", "the phone shows its digits")
        self.device = status().get("device_id")


def fields(headers):
    return [f"{name}: {value}" for name, value in headers.items()]
