"""Refusals as curl gets them; strictness.jsonl has everything that curl would not send."""

import pytest

from clients import UPGRADE, assert_refusal, curl

pytestmark = pytest.mark.quick


@pytest.fixture(scope="module")
def backend(shared_backends):
    return shared_backends()


@pytest.fixture(scope="module")
def gate(shared_gates, backend):
    return shared_gates(backend)


@pytest.fixture(autouse=True)
def nothing_reaches_the_game(backend):
    yield
    assert (backend.count, backend.byte_count) == (0, 0)


def test_requests_by_curl(gate):
    assert curl(gate, "/healthz").json == {"status": "ok"}
    assert_refusal(curl(gate, "/"), 426, "upgrade_required")
    assert_refusal(curl(gate, "/attest/other"), 404, "not_found")
    assert_refusal(curl(gate, "/attest/"), 404, "not_found")
    fields = [argument for field in UPGRADE for argument in ("-H", field)]
    assert_refusal(curl(gate, "/mud", *fields), 401, "assertion_required")


@pytest.mark.parametrize(
    "method, path, allowed",
    [
        ("POST", "/", "GET"),
        ("PUT", "/mud", "GET"),
        ("DELETE", "/attest/register", "POST"),
        ("GET", "/attest/register", "POST"),
        ("POST", "/attest/challenge", "GET"),
        ("OPTIONS", "/healthz", "GET"),
        ("BREW", "/", "GET"),
    ],
)
def test_other_methods(gate, method, path, allowed):
    reply = curl(gate, path, "-X", method)
    assert_refusal(reply, 405, "method_not_allowed")
    assert reply.header("Allow") == allowed


def test_a_body_of_just_the_limit_is_read(gate):
    body = b'{"x":"' + b"a" * (65536 - 8) + b'"}'
    fields = ["-H", "Content-Type: application/json", "-H", "Expect:"]
    reply = curl(gate, "/attest/register", *fields, "--data-binary", "@-", stdin=body)
    assert_refusal(reply, 400, "bad_request")


@pytest.mark.parametrize("field", ["Content-Type: text/plain", "Content-Type:"])
def test_other_media_types_and_none(gate, field):
    reply = curl(gate, "/attest/register", "-H", field, "-d", "{}")
    assert_refusal(reply, 415, "unsupported_media_type")
