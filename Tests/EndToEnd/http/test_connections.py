"""HTTP/1.1 over one connection: pipelining, keep-alive, Expect, HTTP/1.0, and what closes it."""

import json

import pytest

from clients import UPGRADE, Raw, assert_refusal, curl, head


# Nobody is cut off here for being slow.
TIMEOUTS = {name: "600s" for name in ("HTTP_HEAD_TIMEOUT", "HTTP_BODY_TIMEOUT", "HTTP_IDLE_TIMEOUT")}


@pytest.fixture(scope="module")
def gate(shared_gates, shared_backends):
    return shared_gates(shared_backends(), **TIMEOUTS)


def registration(gate, device):
    body = json.dumps(device.registration(gate.app.nonce()))
    return (
        head("POST", "/attest/register", "Content-Type: application/json", f"Content-Length: {len(body)}")
        + body
    )


def test_pipelined_requests_are_answered_in_order(gate, device):
    health, challenge = head("GET", "/healthz"), head("GET", "/attest/challenge")
    with Raw(gate) as client:
        client.send(health + registration(gate, device) + challenge + head("GET", "/attest/no") + health)
        answers = [client.reply() for _ in range(5)]
        assert [answer.status for answer in answers] == [200, 200, 200, 404, 200]
        assert answers[0].json == answers[4].json == {"status": "ok"}
        assert answers[1].json == {"registered": True}
        assert len(answers[2].json["nonce"]) == 64


def test_two_hundred_pipelined_requests(gate):
    with Raw(gate) as client:
        client.send(head("GET", "/healthz") * 200)
        assert all(client.reply().status == 200 for _ in range(200))


def test_a_request_may_come_byte_by_byte(gate, device):
    with Raw(gate) as client:
        for byte in registration(gate, device).encode():
            client.send(bytes([byte]))
        assert client.reply().json == {"registered": True}


def test_a_kept_connection_upgrades_in_the_end(gate, device):
    with Raw(gate) as client:
        nonce = client.send(head("GET", "/attest/challenge")).reply().json["nonce"]
        body = json.dumps(device.registration(nonce))
        fields = ["Content-Type: application/json", f"Content-Length: {len(body)}"]
        assert client.send(head("POST", "/attest/register", *fields) + body).reply().status == 200
        nonce = client.send(head("GET", "/attest/challenge")).reply().json["nonce"]
        assertion = [f"{name}: {value}" for name, value in device.headers(nonce).items()]
        assert client.send(head("GET", "/", *UPGRADE, *assertion)).reply().status == 101
        assert client.take(2)[0] == 0x82  # the game's greeting


def test_answers_keep_a_connection(gate):
    with Raw(gate) as client:
        for _ in range(100):
            assert client.send(head("GET", "/healthz")).reply().status == 200


def test_curl_with_http_1_0(gate):
    """With ALPN, where it offers http/1.0, and without."""
    assert curl(gate, "/attest/challenge", "--http1.0").status == 200
    assert curl(gate, "/attest/challenge", "--http1.0", "--no-alpn").status == 200


def test_expect_100_continue(gate, device):
    body = json.dumps(device.registration(gate.app.nonce()))
    with Raw(gate) as client:
        fields = ["Content-Type: application/json", f"Content-Length: {len(body)}", "Expect: 100-continue"]
        client.send(head("POST", "/attest/register", *fields))
        assert client.reply().status == 100
        assert client.send(body).reply().json == {"registered": True}


def test_curl_expects_100_continue(gate, device):
    body = json.dumps(device.registration(gate.app.nonce()))
    fields = ["-H", "Content-Type: application/json", "-H", "Expect: 100-continue"]
    assert curl(gate, "/attest/register", *fields, "-d", body).json == {"registered": True}


def test_an_expectation_is_not_encouraged_when_the_head_is_refused(gate):
    with Raw(gate) as client:
        fields = ["Content-Type: application/json", "Content-Length: 70000", "Expect: 100-continue"]
        assert_refusal(
            client.send(head("POST", "/attest/register", *fields)).reply(), 413, "content_too_large"
        )


def test_close_notify_is_sent(gate):
    """Python raises SSLEOFError on an end without close_notify when told to insist."""
    with Raw(gate) as client:
        client.socket.suppress_ragged_eofs = False
        client.send(head("GET", "/healthz", "Connection: close")).reply()
        assert client.socket.recv(1) == b""
