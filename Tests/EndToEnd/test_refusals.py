"""Every status of the contract's table that a request alone can cause, with its code, body and headers."""

import pytest

from clients import UPGRADE, Raw, assert_refusal, curl, head

KEY = "dGhlIHNhbXBsZSBub25jZQ=="
JSON = "Content-Type: application/json"


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


def without(name):
    return [field for field in UPGRADE if not field.startswith(name)]


def upgrade(*changed):
    names = [field.partition(":")[0] for field in changed]
    return [field for field in UPGRADE if field.partition(":")[0] not in names] + list(changed)


def post(*fields, target="/attest/register"):
    return head("POST", target, *fields)


# Malformed HTTP, RFC 9112: after each of these the framing is in doubt or the request makes no sense.
BAD_REQUESTS = {
    "no host": head(host=None),
    "two hosts": head("GET", "/healthz", "Host: localhost"),
    "bare LF": "GET /healthz HTTP/1.1\nHost: localhost\n\n",
    "bare CR in a value": head("GET", "/healthz", "X: a\rb"),
    "obs-fold": "GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: a\r\n b\r\n\r\n",
    "space before the colon": head("GET", "/healthz", "X : a"),
    "no colon": head("GET", "/healthz", "nonsense"),
    "empty name": head("GET", "/healthz", ": a"),
    "name with a slash": head("GET", "/healthz", "a/b: c"),
    "NUL in a value": head("GET", "/healthz", "X: a\0b"),
    "8-bit byte in a value": head("GET", "/healthz", "X: caf\xe9"),
    "two spaces in the request line": "GET  /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "no version": "GET /healthz\r\nHost: localhost\r\n\r\n",
    "lower-case protocol": head("GET", "/healthz", version="http/1.1"),
    "method with a colon": head("GE:T", "/healthz"),
    "control byte in the target": head("GET", "/heal\x01thz"),
    "TLS inside TLS": "\x16\x03\x01\x00\x05\x01\x00\x00\x01\x00\r\n\r\n",
    "content length with a plus": post(JSON, "Content-Length: +2"),
    "content length as a list": post(JSON, "Content-Length: 2, 2"),
    "content length in hex": post(JSON, "Content-Length: 0x2"),
    "content length below zero": post(JSON, "Content-Length: -1"),
    "content length empty": post(JSON, "Content-Length: "),
    "content length beyond all numbers": post(JSON, "Content-Length: " + "9" * 40),
    "two content lengths": post(JSON, "Content-Length: 2", "Content-Length: 2"),
    "two content types": post(JSON, JSON, "Content-Length: 2") + "{}",
    "a body on GET": head("GET", "/attest/challenge", "Content-Length: 2") + "{}",
    "length and transfer encoding": post(JSON, "Content-Length: 2", "Transfer-Encoding: chunked"),
}


@pytest.mark.parametrize("what", BAD_REQUESTS)
def test_malformed_requests(gate, what):
    with Raw(gate) as client:
        reply = client.send(BAD_REQUESTS[what]).reply()
        if what == "content length beyond all numbers":
            assert reply.status in (400, 413), reply
        else:
            assert_refusal(reply, 400, "bad_request")


BAD_UPGRADES = {
    "no key": without("Sec-WebSocket-Key"),
    "key of 15 bytes": upgrade("Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAA"),
    "key with spare bits": upgrade("Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZR=="),
    "key not base64": upgrade("Sec-WebSocket-Key: ************************"),
    "two keys": [*UPGRADE, "Sec-WebSocket-Key: " + KEY],
    "two versions": [*UPGRADE, "Sec-WebSocket-Version: 13"],
    "two nonces": [*UPGRADE, *["X-App-Assert-Nonce: " + "ab" * 32] * 2],
}


@pytest.mark.parametrize("what", BAD_UPGRADES)
def test_malformed_upgrades(gate, what):
    with Raw(gate) as client:
        assert_refusal(client.send(head("GET", "/", *BAD_UPGRADES[what])).reply(), 400, "bad_request")


@pytest.mark.parametrize(
    "fields",
    [
        [],
        without("Connection"),
        without("Upgrade"),
        without("Sec-WebSocket-Version"),
        upgrade("Sec-WebSocket-Version: 8"),
        upgrade("Sec-WebSocket-Version: 14"),
        upgrade("Connection: keep-alive"),
        upgrade("Upgrade: h2c"),
    ],
    ids=lambda fields: str(len(fields)) + (fields[-1] if fields else "plain"),
)
def test_no_upgrade_or_another_version(gate, fields):
    with Raw(gate) as client:
        assert_refusal(client.send(head("GET", "/", *fields)).reply(), 426, "upgrade_required")


def test_an_upgrade_in_other_letters_is_one(gate):
    fields = ["connection: keep-alive, UPGRADE", "UPGRADE: h2c, WebSocket", *UPGRADE[2:]]
    with Raw(gate) as client:
        assert_refusal(client.send(head("GET", "/", *fields)).reply(), 401, "assertion_required")


@pytest.mark.parametrize("path", ["/healthz", "/attest/challenge"])
def test_an_upgrade_on_a_known_endpoint_is_a_plain_request(gate, path):
    with Raw(gate) as client:
        assert client.send(head("GET", path, *UPGRADE)).reply().status == 200


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


@pytest.mark.parametrize("path", ["/", "/healthz", "/attest/challenge"])
def test_head_is_not_allowed(gate, path):
    with Raw(gate) as client:
        reply = client.send(head("HEAD", path)).reply(head_only=True)
        assert (reply.status, reply.code) == (405, "method_not_allowed") and reply.header("Allow")


def test_no_length(gate):
    with Raw(gate) as client:
        assert_refusal(client.send(post(JSON)).reply(), 411, "length_required")


@pytest.mark.parametrize("size", [65537, 10**9, 10**15])
def test_too_long_a_body(gate, size):
    with Raw(gate) as client:
        assert_refusal(client.send(post(JSON, f"Content-Length: {size}")).reply(), 413, "content_too_large")


def test_a_body_of_just_the_limit_is_read(gate):
    body = b'{"x":"' + b"a" * (65536 - 8) + b'"}'
    reply = curl(gate, "/attest/register", "-H", JSON, "-H", "Expect:", "--data-binary", "@-", stdin=body)
    assert_refusal(reply, 400, "bad_request")


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/jsonp", "application/json+x", "multipart/form-data"]
)
def test_other_media_types(gate, kind):
    reply = curl(gate, "/attest/register", "-H", "Content-Type: " + kind, "-d", "{}")
    assert_refusal(reply, 415, "unsupported_media_type")


def test_no_media_type(gate):
    reply = curl(gate, "/attest/register", "-H", "Content-Type:", "-d", "{}")
    assert_refusal(reply, 415, "unsupported_media_type")


def test_a_target_too_long(gate):
    with Raw(gate) as client:
        assert_refusal(client.send(head("GET", "/" + "a" * 9000)).reply(), 414, "uri_too_long")


@pytest.mark.parametrize(
    "fields",
    [["X: " + "a" * 9000], [f"X-{n}: 1" for n in range(70)], [f"X-{n}: " + "a" * 300 for n in range(40)]],
)
def test_a_head_too_large(gate, fields):
    with Raw(gate) as client:
        assert_refusal(client.send(head("GET", "/healthz", *fields)).reply(), 431, "headers_too_large")


def test_sixty_four_fields_are_allowed(gate):
    with Raw(gate) as client:
        fields = [f"X-{n}: 1" for n in range(63)]
        assert client.send(head("GET", "/healthz", *fields)).reply().status == 200


@pytest.mark.parametrize("coding", ["chunked", "gzip, chunked", "identity"])
def test_transfer_encodings(gate, coding):
    with Raw(gate) as client:
        reply = client.send(post(JSON, "Transfer-Encoding: " + coding)).reply()
        assert_refusal(reply, 501, "not_implemented")
        assert client.closed()


@pytest.mark.parametrize("version", ["HTTP/2.0", "HTTP/3.0"])
def test_other_versions(gate, version):
    with Raw(gate) as client:
        assert_refusal(client.send(head("GET", "/", version=version)).reply(), 505, "version_not_supported")


def test_an_upgrade_over_http_1_0(gate):
    with Raw(gate) as client:
        reply = client.send(head("GET", "/", *UPGRADE, version="HTTP/1.0")).reply()
        assert_refusal(reply, 505, "version_not_supported")


def test_another_expectation(gate):
    with Raw(gate) as client:
        reply = client.send(post(JSON, "Content-Length: 2", "Expect: 200-maybe")).reply()
        assert_refusal(reply, 417, "expectation_failed")
