"""Desktops that phones come near to, and what a phone answers them."""

import time
import uuid

from approvers import add_service
from phones import ask


class Desktop:
    """A service that phones come near to."""

    def __init__(self, gate, name="reception", scopes="presence", *more):
        self.gate, self.name = gate, name
        self.token = add_service(gate, name, scopes, *more)

    def post(self, path, document):
        return ask(self.gate, "POST", path, document, self.token)

    def challenge(self, phone):
        reply = self.post("/presence/challenge", {"device_id": phone.id})
        assert reply.status == 200, reply
        assert set(reply.json) == {"nonce", "desktop_id", "expires_at"}
        return reply.json

    def verify(self, answer, **changes):
        return self.post("/presence/verify", {**answer, **changes})


def answer_of(phone, challenge, key=None, **changes):
    """What the phone hands to the desktop; `changes` are made to what it signs."""
    fields = {"device": phone.id, "desktop": challenge["desktop_id"], "nonce": challenge["nonce"]}
    fields |= {"at": int(time.time()), **changes}
    message = phone.message(
        "presence",
        uuid.UUID(fields["device"]).bytes,
        uuid.UUID(fields["desktop"]).bytes,
        bytes.fromhex(fields["nonce"]),
        fields["at"].to_bytes(8, "big"),
    )
    return {
        "device_id": phone.id,
        "nonce": challenge["nonce"],
        "signed_at": fields["at"],
        "signature": (key or phone.key).sign(message),
    }
