"""Apps that are older than the operator allows (docs/policies.md, "Classes")."""

import json

from gate import free_port
from handset import Handset

CLASSES = {"classes": [{"name": "staff", "match": {"subject": ["anna"]}, "min_app_version": "2.10"}]}


def test_an_old_app_is_told_to_update(gates, folder):
    (folder / "assurance.json").write_text(json.dumps(CLASSES))
    port = free_port()
    gate = gates(
        port=port,
        DEVICES_PATH=folder / "devices.db",
        PUBLIC_URL=f"https://127.0.0.1:{port}",
        ASSURANCE_POLICY=folder / "assurance.json",
    )
    phone = Handset(gate)
    phone.enroll()
    assert gate.command("devices", "confirm", phone.id, "--subject", "anna").returncode == 0
    for path in ("/device/self", "/approvals"):
        for version, status in (("2.9", 426), ("2.10", 200), ("3", 200), ("x", 426)):
            reply = phone.get(path, phone.token, X_Client_Version=version)
            assert (reply.status, reply.code) == (status, "client_outdated" if status == 426 else None), reply
        assert phone.get(path, phone.token).status == 200
    reply = phone.get("/device/self", phone.token, X_Client_Version="2.9")
    assert reply.header("Upgrade") and reply.header("Sec-WebSocket-Version") is None
