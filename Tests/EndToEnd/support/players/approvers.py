"""Services that ask for approvals, phones of other makers that vote on them, and a gate with a policy for both."""

import base64
import json
import time
import uuid

from gate import free_port
from handset import Handset
from phones import ask, sha256

DECISIONS = {"approve": b"\x01", "deny": b"\x02", "report": b"\x03"}


def approval_settings(folder, policy, **changes):
    """For `gates`, the port included; no rate is in the way."""
    (folder / "approvals.json").write_text(json.dumps(policy))
    port = free_port()
    return {
        "port": port,
        "DEVICES_PATH": folder / "devices.db",
        "PUBLIC_URL": f"https://127.0.0.1:{port}",
        "APPROVAL_POLICY": folder / "approvals.json",
        "DEVICE_RATE": "10000/m",
        "SERVICE_RATE": "10000/m",
        **changes,
    }


def add_service(gate, name="mud", scopes="approvals", *more):
    done = gate.command("services", "add", name, "--scopes", scopes, *more)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


class Approver(Handset):
    """A phone of somebody's that votes."""

    def decision(self, item, decision="approve", code="", signer=None, **changes):
        """The body of a decision; `changes` are made after it was signed."""
        issued_at = changes.pop("at", int(time.time()))
        summary = base64.urlsafe_b64decode(item["summary"] + "==")
        message = self.message(
            "approval",
            uuid.UUID(item["id"]).bytes,
            uuid.UUID(self.id).bytes,
            DECISIONS[decision],
            sha256(summary),
            code.encode(),
            issued_at.to_bytes(8, "big"),
            item["expires_at"].to_bytes(8, "big"),
        )
        document = {
            "device_id": self.id,
            "decision": decision,
            "issued_at": issued_at,
            "signature": (signer or self.approval).sign(message),
        }
        return {**document, **({"match_code": code} if code else {}), **changes}

    def vote(self, item, *arguments, **changes):
        document = self.decision(item, *arguments, **changes)
        return self.post(f"/approvals/{item['id']}/decision", document, self.token)

    def items(self, query=""):
        reply = self.get(f"/approvals{query}", self.token)
        assert reply.status == 200, reply
        return reply.json["items"]


def phone_of(gate, subject="anna", **options):
    phone = Approver(gate, **options)
    phone.enroll()
    done = gate.command("devices", "confirm", phone.id, "--subject", subject)
    assert done.returncode == 0, done.stderr
    return phone


def body(operation="promote", **changes):
    document = {
        "operation": operation,
        "target": {"player": "gandalf"},
        "text": "Gandalf becomes a wizard.",
        "subject": "anna",
        "requester": {"id": "saruman", "name": "Saruman"},
        **changes,
    }
    return {name: value for name, value in document.items() if value is not ...}


def request(gate, token, *arguments, **changes):
    reply = ask(gate, "POST", "/approvals", body(*arguments, **changes), token)
    assert reply.status == 201, reply
    return reply.json


def result(gate, token, asked, query=""):
    reply = ask(gate, "GET", f"/approvals/{asked['id']}{query}", token=token)
    assert reply.status == 200, reply
    return reply.json
