"""HAProxy, as Debian packages it, for a peer on both sides: in front of the gate and between gate and game."""

import contextlib
import json
import shutil
import socket
import subprocess

import pytest

from backend import echo, sink
from clients import UPGRADE, Raw, assert_refusal, head
from gate import free_port
from test_proxies import first_bytes, first_header, ipv4, tlvs
from waiting import eventually, patience
from websocket import RawWebSocket

HAPROXY = shutil.which("haproxy", path="/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin")
pytestmark = pytest.mark.skipif(HAPROXY is None, reason="haproxy is not installed: apt-get install haproxy")

ALONE = "127.0.0.1/32"


class HAProxy:
    """One process with one `listen` section."""

    def __init__(self, folder, bind, server, *lines, mode="tcp", host="127.0.0.1"):
        self.host, self.port = host, free_port(host)
        self.pki = None  # whose certificate the gate behind it shows, for clients that call here instead
        name = f"haproxy-{self.port}"
        configuration = folder / f"{name}.cfg"
        configuration.write_text(
            "\n".join(
                [
                    "global",
                    "  maxconn 100",
                    "defaults",
                    f"  mode {mode}",
                    "  timeout connect 60s",
                    "  timeout client 120s",
                    "  timeout server 120s",
                    f"listen {name}",
                    f"  bind {self.address} {bind}",
                    f"  server next {server}",
                    *(f"  {line}" for line in lines),
                    "",
                ]
            )
        )
        self.log = open(folder / f"{name}.log", "wb")
        self.process = subprocess.Popen(
            [HAPROXY, "-db", "-q", "-f", str(configuration)],
            stdin=subprocess.DEVNULL,
            stdout=self.log,
            stderr=self.log,
        )
        eventually(self._listens, f"{name} listens; see {self.log.name}")

    def _listens(self):
        assert self.process.poll() is None, open(self.log.name, encoding="utf-8").read()
        path = "/proc/net/tcp6" if ":" in self.host else "/proc/net/tcp"
        with open(path, encoding="ascii") as table:
            for row in table.readlines()[1:]:
                fields = row.split()
                if fields[3] == "0A" and int(fields[1].rpartition(":")[2], 16) == self.port:
                    return True
        return False

    @property
    def address(self):
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    def stop(self):
        self.process.terminate()
        self.process.wait(patience(60))
        self.log.close()


@pytest.fixture
def haproxy(folder, pki):
    every = []

    def make(*arguments, **options):
        every.append(HAProxy(folder, *arguments, **options))
        every[-1].pki = pki
        return every[-1]

    yield make
    for process in every:
        process.stop()


def from_address(monkeypatch, source):
    """Lets the suite's clients call from another address of loopback."""
    genuine = socket.socket.connect

    def connect(self, address):
        if self.family == socket.AF_INET:
            self.bind((source, 0))
        return genuine(self, address)

    monkeypatch.setattr(socket.socket, "connect", connect)


SENDERS = ["send-proxy", "send-proxy-v2", "send-proxy-v2 proxy-v2-options ssl,unique-id,crc32c"]


@pytest.mark.parametrize("sender", SENDERS)
def test_in_front_it_names_the_client(gates, backends, haproxy, monkeypatch, sender):
    gate = gates(
        backends(echo),
        TRUSTED_PROXIES=ALONE,
        LISTEN_PROXY_PROTOCOL="true",
        REQUIRE_APP_AUTH="false",
        MAX_CONNECTIONS_PER_ADDRESS="2",
    )
    unique = ["unique-id-format %ci-%cp"] if "unique-id" in sender else []
    front = haproxy("", f"{gate.address} {sender}", *unique)
    from_address(monkeypatch, "127.0.0.77")
    with RawWebSocket(front) as client, RawWebSocket(front) as second:
        client.frame(2, b"hello")
        assert client.read_frame()[2] == b"hello"
        source = "{}:{}".format(*client.socket.getsockname())
        assert gate.event(event="admitted", source=source)
        with Raw(front) as third:
            assert_refusal(third.send(head("GET", "/healthz")).reply(), 429, "rate_limited")
        second.frame(2, b"still here")
        assert second.read_frame()[2] == b"still here"
    assert gate.event(event="session_ended", source=source)


@pytest.mark.parametrize("sender", SENDERS[:2])
def test_in_front_over_ipv6(gates, backends, haproxy, sender):
    gate = gates(backends(echo), TRUSTED_PROXIES=ALONE, LISTEN_PROXY_PROTOCOL="true")
    front = haproxy("", f"{gate.address} {sender}", host="::1")
    with Raw(front) as client:
        assert client.send(head("GET", "/attest/no")).reply().status == 404
        port = client.socket.getsockname()[1]
        assert gate.event(code="not_found", source=f"[::1]:{port}")


def test_its_health_checks_pass(gates, backends, haproxy):
    """They begin with LOCAL, and need the whole of the handshake."""
    gate = gates(backends(echo), TRUSTED_PROXIES=ALONE, LISTEN_PROXY_PROTOCOL="true")
    # One is late after a second; the first, those behind a failure, and those until all is well again come sooner.
    checks = "check check-ssl verify none check-send-proxy inter 1s fastinter 100ms downinter 100ms fall 4 rise 2"
    front = haproxy(
        "",
        f"{gate.address} send-proxy-v2 {checks}",
        "option httpchk GET /healthz HTTP/1.1\\r\\nHost:\\ localhost",
    )

    def handshakes():
        counted = gate.command("stats", "--json")
        assert counted.returncode == 0, counted.stderr
        return json.loads(counted.stdout)["sinceStart"]["handshakes"]

    eventually(lambda: handshakes() >= 3, "three checks")

    def is_up():
        """A gate whose checks fail is marked as down."""
        with contextlib.suppress(OSError), Raw(front) as client:
            return client.send(head("GET", "/healthz")).reply().status == 200

    eventually(is_up, "a gate that is up")
    assert "proxy_header" not in gate.log_text()


def test_in_front_it_terminates_http_and_writes_x_forwarded_for(gates, backends, haproxy, monkeypatch):
    gate = gates(backends(echo), TRUSTED_PROXIES=ALONE, REQUIRE_APP_AUTH="false")
    front = haproxy("", f"{gate.address} ssl verify none", "option forwardfor", mode="http")
    from_address(monkeypatch, "127.0.0.77")
    with Raw(front, tls=False) as client:
        forged = client.send(head("GET", "/attest/no", "X-Forwarded-For: 192.0.2.1")).reply()
        assert forged.status == 404
        assert gate.event(code="not_found", source="127.0.0.77")
        assert client.send(head("GET", "/", *UPGRADE)).reply(head_only=True).status == 101
        assert gate.event(event="admitted", source="127.0.0.77")
        # What the first message says comes back through all of them.
        client.send(b"\x82\x85\0\0\0\0hello")
        assert client.take(7) == b"\x82\x05hello"


@pytest.mark.parametrize("version", ["v1", "v2"])
@pytest.mark.parametrize("by_key", [True, False])
def test_behind_it_accepts_the_gates_header(gates, backends, haproxy, device, version, by_key):
    """It passes on what it understood, by a version 1 header of its own."""
    game = backends(sink)
    middle = haproxy("accept-proxy", f"{game.address} send-proxy")
    gate = gates(middle, BACKEND_PROXY_PROTOCOL=version, REQUIRE_APP_AUTH=str(by_key).lower())
    headers = {}
    if by_key:
        gate.app.register(device)
        headers = device.headers(gate.app.nonce())
    with RawWebSocket(gate, headers) as client:
        client.frame(2, b"play")
        port = client.socket.getsockname()[1]
        expected = f"PROXY TCP4 127.0.0.1 127.0.0.1 {port} {gate.port}\r\n".encode() + b"play"
        assert first_bytes(game, len(expected)) == expected


@pytest.mark.parametrize("version", ["v1", "v2"])
def test_on_both_sides_the_clients_address_comes_through(
    gates, backends, haproxy, monkeypatch, device, version
):
    game = backends(sink)
    middle = haproxy("accept-proxy", f"{game.address} send-proxy-v2")
    gate = gates(middle, BACKEND_PROXY_PROTOCOL=version, TRUSTED_PROXIES=ALONE, LISTEN_PROXY_PROTOCOL="true")
    sender = "send-proxy" if version == "v1" else "send-proxy-v2"
    front = haproxy("", f"{gate.address} {sender}")
    from_address(monkeypatch, "127.0.0.77")
    gate.app.gate = front
    gate.app.register(device)
    with RawWebSocket(front, device.headers(gate.app.nonce())) as client:
        client.frame(2, b"play")
        local = client.socket.getsockname()
        data, length = first_header(game)
        assert data[16:28] == ipv4("127.0.0.77", "127.0.0.1", local[1], front.port)
        # Version 2.6 does not pass on values that it does not know.
        assert 0xE0 not in tlvs(data[28 : 16 + length])
        eventually(lambda: first_bytes(game, 28)[16 + length :] == b"play", "the payload after the header")


@pytest.mark.parametrize("framing", ["chunks", "a length"])
def test_http_2_in_front_of_it(gates, backends, haproxy, folder, pki, device, framing):
    """A body without a length, which HTTP/2 allows, comes as chunks (RFC 9113 §8.1, RFC 9112 §7.1)."""
    gate = gates(backends(echo), TRUSTED_PROXIES=ALONE)
    both = folder / "front.pem"
    both.write_bytes(pki.server_certificate.read_bytes() + pki.server_key.read_bytes())
    front = haproxy(
        f"ssl crt {both} alpn h2,http/1.1", f"{gate.address} ssl verify none", "option forwardfor", mode="http"
    )

    def post(document):
        body = json.dumps(document)
        arguments = ["-X", "POST", "-T", "-"] if framing == "chunks" else ["--data-binary", "@-"]
        done = subprocess.run(
            ["curl", "-sS", "--http2", "-w", "%{http_version} %{http_code}", "--max-time", "60"]
            + ["--cacert", str(pki.server_ca), "--resolve", f"localhost:{front.port}:127.0.0.1"]
            + ["-H", "Content-Type: application/json", *arguments]
            + [f"https://localhost:{front.port}/attest/register"],
            input=body.encode(),
            capture_output=True,
            timeout=patience(70),
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.decode()

    assert post(device.registration(gate.app.nonce())) == '{"registered":true}2 200'
    # What is refused for its body is refused for that alone, through both.
    assert post({"pad": "a" * 70_000}).endswith("2 413")
    assert post([]).endswith("2 400")
    assert "not_implemented" not in gate.log_text()
