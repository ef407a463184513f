"""A phone with keys of its own, as docs/devices.md has it: it enrols, attests, asks for tokens, changes its keys, plays."""

import json
import struct
import uuid

from clients import UPGRADE, Raw, head
from device import b64
from phones import Key, encode
from websocket import CLOSE


def new_device_id():
    return str(uuid.uuid4())


def upgrade(gate, fields):
    """The answer to an upgrade, and the connection."""
    client = Raw(gate)
    client.send(head("GET", "/", *UPGRADE, *(f"{name}: {value}" for name, value in fields.items())))
    return client.reply(head_only=True), client


def enter(gate, fields):
    reply, client = upgrade(gate, fields)
    assert reply.status == 101, reply
    return client


def close_code(client):
    """Of the Close that comes, whatever comes before it."""
    while True:
        first, second = client.take(2)
        length = second & 0x7F
        if length == 126:
            (length,) = struct.unpack(">H", client.take(2))
        payload = client.take(length)
        if first & 0x0F == CLOSE:
            return int.from_bytes(payload[:2], "big")


class Handset:
    """One phone. `device` is its App Attest key, where it has one (`device.Device`)."""

    def __init__(self, gate, device=None, has_approval_key=True, platform="ios"):
        self.gate, self.device, self.platform = gate, device, platform
        self.key = Key()
        self.approval = Key() if has_approval_key else None
        self.id = self.server = self.token = None

    # ---- requests

    def ask(self, method, path, document=None, token=None, **headers):
        fields = {name.replace("_", "-"): value for name, value in headers.items()}
        if document is not None:
            fields["Content-Type"] = "application/json"
        if token:
            fields["Authorization"] = f"Bearer {token}"
        body = None if document is None else json.dumps(document)
        return self.gate.app.request(method, path, body, fields)

    def post(self, path, document, token=None, **headers):
        return self.ask("POST", path, document, token, **headers)

    def get(self, path, token=None, **headers):
        return self.ask("GET", path, None, token, **headers)

    def nonce(self, purpose):
        reply = self.gate.app.request("GET", f"/attest/challenge?purpose={purpose}")
        assert reply.status == 200, reply
        self.server = uuid.UUID(reply.json["server_id"])
        return reply.json["nonce"]

    # ---- messages

    def hashes(self, key=None, approval=None):
        approval = approval or self.approval
        return [(key or self.key).hash, approval.hash if approval else b""]

    def message(self, name, *fields):
        return encode(name, self.server.bytes, *fields)

    def auth(self, nonce, purpose, audience=""):
        return self.message(
            "device-auth",
            uuid.UUID(self.id).bytes,
            bytes.fromhex(nonce),
            purpose.encode(),
            audience.encode(),
        )

    def keys(self, key=None, approval=None):
        found = {"device_pubkey": b64((key or self.key).point)}
        if approval := approval or self.approval:
            found["approval_pubkey"] = b64(approval.point)
        return found

    def evidence(self, nonce, how="att_obj", key=None, approval=None):
        """By the App Attest key, over these keys: its first time with an attestation, later with an assertion. Or whatever
        `how` makes of it (`android.py`)."""
        if callable(how):
            return how(self, nonce, key, approval)
        signed = self.message("app-attest", *self.hashes(key, approval), bytes.fromhex(nonce)).hex()
        made = self.device.attestation(signed) if how == "att_obj" else self.device.assertion(signed)
        return {"attestation_type": "app_attest", "key_id": self.device.key_id_b64, how: b64(made)}

    # ---- what it does

    def enrolment(self, how=None, **changes):
        """The body of an enrolment; `how` is evidence."""
        nonce = self.nonce("enroll")
        message = self.message("enroll", *self.hashes(), bytes.fromhex(nonce), self.platform.encode())
        document = {
            "platform": self.platform,
            **self.keys(),
            "nonce": nonce,
            "signature": self.key.sign(message),
            "device_name": "Lena's phone",
        }
        if self.approval:
            document["approval_signature"] = self.approval.sign(message)
        if how:
            document["evidence"] = self.evidence(nonce, how)
        return {**document, **changes}

    def enroll(self, how=None, **changes):
        reply = self.post("/device/enroll", self.enrolment(how, **changes))
        assert reply.status == 200, reply
        self.id, self.token = reply.json["device_id"], reply.json["token"]
        return reply.json

    def attest(self, how="att_obj", nonce=None):
        nonce = nonce or self.nonce("attest")
        return self.post(
            "/mobile/attest", {"device_id": self.id, "nonce": nonce, **self.evidence(nonce, how)}
        )

    def ask_token(self, audience=None, nonce=None, signer=None):
        nonce = nonce or self.nonce("device")
        signature = (signer or self.key).sign(self.auth(nonce, "token", audience or ""))
        document = {"device_id": self.id, "nonce": nonce, "signature": signature}
        return self.post("/device/token", document | ({"audience": audience} if audience else {}))

    def rotation(self, key, approval=None, how=None):
        nonce = self.nonce("rotate")
        message = self.message(
            "rotate", uuid.UUID(self.id).bytes, *self.hashes(key, approval), bytes.fromhex(nonce)
        )
        document = {
            "device_id": self.id,
            **self.keys(key, approval),
            "nonce": nonce,
            "signature": self.key.sign(message),
            "new_signature": key.sign(message),
        }
        if signer := approval or self.approval:
            document["new_approval_signature"] = signer.sign(message)
        if how:
            document["evidence"] = self.evidence(nonce, how, key, approval)
        return document

    def heartbeat(self, sign=True, **members):
        nonce = self.nonce("device") if sign else None
        proof = {"nonce": nonce, "signature": self.key.sign(self.auth(nonce, "heartbeat"))} if sign else {}
        return self.post("/device/heartbeat", {**members, **proof}, self.token)

    def headers(self, nonce=None, signer=None):
        """The three fields of an upgrade."""
        nonce = nonce or self.nonce("device")
        return {
            "X-Device-Id": self.id,
            "X-Device-Nonce": nonce,
            "X-Device-Signature": (signer or self.key).sign(self.auth(nonce, "ws-connect")),
        }
