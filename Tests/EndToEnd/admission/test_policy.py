"""What an operator may demand of genuine devices: apps, environments, launch information; later changes."""

import pytest

from clients import assert_refusal
from websocket import refusal

UNKNOWN = (401, "key_unknown")
REJECTED = (401, "assertion_rejected")
ADMITTED = (101, None)
OTHER_APP = "ABCDEF12K4.org.example.other"
BOTH_APPS = f"ABCDEF12K4.org.example.mudproxy,{OTHER_APP}"


@pytest.mark.parametrize(
    "demand, launch_information, accepted",
    [
        ({"APPATTEST_ALLOWED_CATEGORIES": "4"}, True, True),
        ({"APPATTEST_ALLOWED_CATEGORIES": "1,4,5"}, True, True),
        ({"APPATTEST_ALLOWED_CATEGORIES": "1"}, True, False),
        ({"APPATTEST_ALLOWED_CATEGORIES": "1"}, False, True),
        ({"APPATTEST_ALLOWED_BUNDLE_VERSIONS": "1.0,1.1"}, True, True),
        ({"APPATTEST_ALLOWED_BUNDLE_VERSIONS": "1.1"}, True, False),
        ({"APPATTEST_REQUIRE_LAUNCH_INFO": "true"}, True, True),
        ({"APPATTEST_REQUIRE_LAUNCH_INFO": "true"}, False, False),
    ],
    ids=str,
)
async def test_launch_information(gates, backend, new_device, demand, launch_information, accepted):
    """Asked for at the registration, and again at each upgrade."""
    device = new_device(launch_information=launch_information)
    gate = gates(backend, **demand)
    reply = gate.app.post(device.registration(gate.app.nonce()))
    if accepted:
        assert reply.status == 200
    else:
        assert_refusal(reply, 403, "attestation_rejected")
    gate.app.close()
    gate.stop()
    gate = gates(backend)
    gate.app.register(device)
    gate.app.close()
    gate.stop()
    gate = gates(backend, **demand)
    expected = ADMITTED if accepted else REJECTED
    assert await refusal(gate, device.headers(gate.app.nonce())) == expected


async def test_several_apps(gates, backend, new_device):
    pair = {"APPATTEST_TEAM_ID": None, "APPATTEST_BUNDLE_ID": None}
    gate = gates(backend, APPATTEST_APP_IDS=BOTH_APPS, **pair)
    first, other = gate.app.register(new_device()), gate.app.register(new_device(OTHER_APP))
    assert gate.keys()[other.key_id_b64]["appId"] == OTHER_APP
    for device in (first, other):
        assert await refusal(gate, device.headers(gate.app.nonce())) == ADMITTED
    # A key speaks for the app that it was registered for, and for no other configured one.
    assert await refusal(gate, first.headers(gate.app.nonce(), app_id=OTHER_APP)) == REJECTED
    gate.app.close()
    gate.stop()
    gate = gates(backend)  # the other app is no longer configured
    assert await refusal(gate, other.headers(gate.app.nonce())) == UNKNOWN
    assert await refusal(gate, first.headers(gate.app.nonce())) == ADMITTED


async def test_an_environment_no_longer_allowed(gates, backend, new_device):
    gate = gates(backend, APPATTEST_ENVIRONMENT="both")
    device = gate.app.register(new_device(development=True))
    assert await refusal(gate, device.headers(gate.app.nonce())) == ADMITTED
    gate.app.close()
    gate.stop()
    gate = gates(backend)
    assert await refusal(gate, device.headers(gate.app.nonce())) == UNKNOWN
