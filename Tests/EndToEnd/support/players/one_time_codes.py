"""Services that ask for one-time codes at logins, and phones of other makers that give them."""

import json
import threading
import time
import uuid

from clients import App
from handset import Handset
from phones import base64url, sha256

SIGNALS = b'{"tz":"Europe/Vienna","os_patch_level":"2026-10"}'


class Service:
    """Asks for codes; each thread over a connection of its own."""

    def __init__(self, gate, name="web", scopes="codes", *more):
        added = gate.command("services", "add", name, "--scopes", scopes, *more)
        assert added.returncode == 0, added.stderr
        self.gate, self.token, self.own = gate, added.stdout.strip(), threading.local()

    def post(self, path, document, token=None):
        if getattr(self.own, "gate", None) is not self.gate.process:
            self.own.app, self.own.gate = App(self.gate), self.gate.process
        headers = {"Authorization": f"Bearer {token or self.token}", "Content-Type": "application/json"}
        return self.own.app.request("POST", path, json.dumps(document), headers)

    def challenge(self, login="login-1", text="Telnet login from 192.0.2.7", **whom):
        document = {"login_id": login, "text": text, **(whom or {"subject": "anna"})}
        return self.post("/auth/otp/challenge", document)

    def challenged(self, *arguments, **options):
        reply = self.challenge(*arguments, **options)
        assert reply.status == 200, reply
        return reply.json["challenge_id"]

    def verify(self, challenge, code, login="login-1", token=None):
        document = {"challenge_id": challenge, "login_id": login, "otp_code": code}
        return self.post("/auth/otp/verify", document, token)


class Phone(Handset):
    """An attested device of a subject's."""

    def __init__(self, gate, device, subject="anna"):
        super().__init__(gate, device)
        assert self.enroll("att_obj")["level"] == "app_attested"
        done = gate.command("devices", "assign", self.id, subject)
        assert done.returncode == 0, done.stderr

    def logins(self, query=""):
        reply = self.get(f"/auth/otp{query}", self.token)
        assert reply.status == 200, reply
        return reply.json

    def own_nonce(self, challenge):
        (found,) = [item for item in self.logins()["items"] if item["challenge_id"] == challenge]
        return found["nonce"]

    def issue(self, challenge, nonce=None, signals=SIGNALS, token=None, signer=None, signed_at=None, document_changes=None):
        nonce = nonce or self.own_nonce(challenge)
        signed_at = int(time.time()) if signed_at is None else signed_at
        message = self.message(
            "otp-issue",
            uuid.UUID(self.id).bytes,
            uuid.UUID(challenge).bytes,
            bytes.fromhex(nonce),
            signed_at.to_bytes(8, "big"),
            sha256(signals),
        )
        document = {
            "device_id": self.id,
            "challenge_id": challenge,
            "nonce": nonce,
            "signed_at": signed_at,
            "signals": base64url(signals),
            "signature": (signer or self.key).sign(message),
        }
        return self.post("/auth/otp/issue", {**document, **(document_changes or {})}, token or self.token)

    def code(self, challenge):
        reply = self.issue(challenge)
        assert reply.status == 200, reply
        return reply.json["otp_code"]
