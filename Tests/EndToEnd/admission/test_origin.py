"""ALLOWED_ORIGINS: a browser's Origin must be listed, exactly; a client without one passes on."""

import pytest

from clients import UPGRADE, Raw, head
from websocket import refusal

FORBIDDEN = (403, "origin_forbidden")
ADMITTED = (101, None)


@pytest.fixture(scope="module")
def gate(shared_gates, shared_backends):
    listed = "https://play.example,http://localhost:5173"
    return shared_gates(shared_backends(), REQUIRE_APP_AUTH="false", ALLOWED_ORIGINS=listed)


@pytest.mark.parametrize(
    "origin, outcome",
    [
        (None, ADMITTED),
        ("https://play.example", ADMITTED),
        ("http://localhost:5173", ADMITTED),
        ("https://play.example:8443", FORBIDDEN),
        ("http://play.example", FORBIDDEN),
        ("https://play.example.evil", FORBIDDEN),
        ("https://evil-play.example", FORBIDDEN),
        ("http://localhost", FORBIDDEN),
        ("null", FORBIDDEN),
        ("*", FORBIDDEN),
    ],
)
async def test_listed_or_forbidden(gate, origin, outcome):
    assert await refusal(gate, {"Origin": origin} if origin else {}) == outcome


def test_two_origins_are_a_bad_request(gate):
    with Raw(gate) as client:
        fields = ["Origin: https://play.example"] * 2
        reply = client.send(head("GET", "/", *UPGRADE, *fields)).reply()
        assert (reply.status, reply.code) == (400, "bad_request")


@pytest.mark.parametrize(
    "listed, null, other",
    [
        ("*", FORBIDDEN, ADMITTED),
        ("null,https://a.example", ADMITTED, FORBIDDEN),
        ("*,null", ADMITTED, ADMITTED),
    ],
)
async def test_star_is_any_origin_and_null_only_if_listed(gates, backend, listed, null, other):
    gate = gates(backend, REQUIRE_APP_AUTH="false", ALLOWED_ORIGINS=listed)
    assert await refusal(gate, {"Origin": "null"}) == null
    assert await refusal(gate, {"Origin": "https://b.example"}) == other


async def test_the_origin_is_judged_before_the_assertion(gates, backend, device):
    gate = gates(backend, ALLOWED_ORIGINS="https://a.example")
    gate.app.register(device)
    headers = device.headers(gate.app.nonce())
    assert await refusal(gate, {**headers, "Origin": "https://b.example"}) == FORBIDDEN
    assert await refusal(gate, {**headers, "Origin": "https://a.example"}) == ADMITTED  # nothing was consumed
