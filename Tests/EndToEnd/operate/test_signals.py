"""SIGTERM, SIGINT, SIGHUP: what a stop promises to sessions and to the store, and what a reload changes."""

import asyncio
import collections
import http.client
import shutil
import signal
import socket
import threading

import pytest
import websockets

from backend import sink
from clients import UPGRADE, Raw, assert_refusal, head, s_client
from reloading import reload
from waiting import LONG, eventually, eventually_async, patience
from websocket import CLOSE, RawWebSocket, closed_with, connect, played, refusal, until_prompt


async def test_sigterm_under_load(gates, backend, new_device):
    """Forty players in the middle of their games are told 1001, the store is flushed, the status is 0."""
    gate = gates(backend, DRAIN_TIMEOUT="300s")
    devices = [gate.app.register(new_device()) for _ in range(40)]
    gate.app.close()
    counters = {}

    async def play(device):
        nonce = await asyncio.to_thread(gate.app.nonce)
        connection = await connect(gate, device.headers(nonce))
        await until_prompt(connection)
        counters[device.key_id_b64] = device.counter
        try:
            while True:
                await played(connection, "kill rat")
        except websockets.ConnectionClosed:
            return await closed_with(connection)

    players = [asyncio.create_task(play(device)) for device in devices]
    await eventually_async(lambda: len(counters) == 40, "everyone in", 60)
    gate.signal(signal.SIGTERM)
    assert set(await asyncio.gather(*players)) == {1001}
    assert await asyncio.to_thread(gate.wait) == 0
    assert gate.journal_bytes() == b""
    stored = {key: record["signCount"] for key, record in gate.keys().items()}
    assert stored == counters


def draining(gate, fault=None):
    """A gate kept in its drain by a client that does not answer the close, which is waited for a few seconds; with the
    gate's `fault`, for as long as its clocks then stand still."""
    client = RawWebSocket(gate)
    if fault:
        fault.stand_still()
    gate.signal(signal.SIGTERM)
    _, opcode, payload = client.read_frame()
    assert opcode == CLOSE and int.from_bytes(payload[:2], "big") == 1001
    return client


@pytest.fixture
def open_gate(gates, backends, fault):
    return gates(backends(sink), REQUIRE_APP_AUTH="false", DRAIN_TIMEOUT="300s", **fault.environment)


@pytest.mark.quick
def test_while_draining_everything_new_is_503(open_gate, fault):
    kept = Raw(open_gate)
    assert kept.send(head("GET", "/healthz")).reply().status == 200
    client = draining(open_gate, fault)
    for connection in (kept, Raw(open_gate)):
        reply = connection.send(head("GET", "/healthz")).reply()
        assert reply.status == 503
        connection.close()
    with Raw(open_gate) as other:
        assert_refusal(other.send(head("GET", "/", *UPGRADE)).reply(), 503, "shutting_down")
    body = '{"keyId": "x"}'
    fields = ["Content-Type: application/json", f"Content-Length: {len(body)}"]
    with Raw(open_gate) as other:
        assert_refusal(
            other.send(head("POST", "/attest/register", *fields) + body).reply(), 503, "shutting_down"
        )
    fault.heal()
    client.close()
    assert open_gate.wait() == 0


@pytest.mark.quick
def test_what_is_left_at_the_drain_timeout_is_closed(gates, backends, fault):
    gate = gates(backends(sink), REQUIRE_APP_AUTH="false", DRAIN_TIMEOUT="3s", **fault.environment)
    client = draining(gate, fault)
    fault.jump(2.9)
    with Raw(gate) as other:
        assert other.send(head("GET", "/healthz")).reply().status == 503
    # Before the answer to the Close has had its time.
    fault.jump(0.2)
    assert gate.wait() == 0
    client.close()


@pytest.mark.quick
def test_a_second_signal_ends_at_once(gates, backends, device, fault):
    gate = gates(backends(sink), REQUIRE_APP_AUTH="false", DRAIN_TIMEOUT="60s", **fault.environment)
    gate.app.register(device)
    gate.app.close()
    client = draining(gate, fault)
    gate.signal(signal.SIGTERM)
    gate.wait()
    assert device.key_id_b64 in gate.keys()
    assert gate.journal_bytes() == b""
    client.close()


@pytest.mark.quick
def test_who_comes_back_at_once_does_not_keep_a_stopping_gate(gates, backends):
    """Once the drain's time is over nobody is accepted any more: someone is at the door at any moment here."""
    gate = gates(backends(sink), REQUIRE_APP_AUTH="false", DRAIN_TIMEOUT="1s")
    over = threading.Event()

    def come_back():
        held = collections.deque(maxlen=100)
        while not over.is_set():
            try:
                held.append(socket.create_connection((gate.host, gate.port), timeout=LONG))
            except ConnectionRefusedError:
                return
            except OSError:
                pass

    comers = [threading.Thread(target=come_back) for _ in range(4)]
    client = draining(gate)
    for thread in comers:
        thread.start()
    try:
        assert gate.wait(within=60) == 0
    finally:
        over.set()
        for thread in comers:
            thread.join(patience(2 * LONG))
    client.close()


@pytest.mark.quick
def test_who_is_refused_does_not_prolong_a_drain(gates, backends, fault):
    """Players who are told to come later and do so at once are no sessions: the gate goes when those have ended."""
    gate = gates(backends(sink), REQUIRE_APP_AUTH="false", DRAIN_TIMEOUT="300s", **fault.environment)
    player = draining(gate, fault)
    held = []
    over = threading.Event()

    def come_back():
        while not over.is_set():
            try:
                held.append(Raw(gate))
                assert held[-1].send(head("GET", "/", *UPGRADE)).reply().status == 503
            except (AssertionError, OSError):
                if not gate.running:
                    return

    comers = [threading.Thread(target=come_back) for _ in range(2)]
    for thread in comers:
        thread.start()
    try:
        eventually(lambda: len(held) > 4, "players who come back")
        fault.heal()
        player.close()
        assert gate.wait(within=60) == 0
    finally:
        over.set()
        for thread in comers:
            thread.join(patience(2 * LONG))
    for client in held:
        client.close()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.quick
def test_an_idle_gate_stops_at_once(gates, backend, number):
    gate = gates(backend, DRAIN_TIMEOUT="300s")
    gate.signal(number)
    assert gate.wait() == 0


@pytest.mark.quick
def test_sigpipe_is_ignored(gate):
    gate.signal(signal.SIGPIPE)
    assert gate.app.request("GET", "/healthz").status == 200


def serial(gate):
    text = s_client(gate, "-showcerts", stdin=b"")
    return text[text.index("-----BEGIN CERTIFICATE") : text.index("-----END CERTIFICATE")]


@pytest.fixture
def reloadable(gates, folder, pki):
    """A gate whose certificate files are its own to be replaced."""

    def make(**changes):
        for source, name in ((pki.server_certificate, "tls.pem"), (pki.server_key, "tls.key")):
            shutil.copy(source, folder / name)
        return gates("echo:", TLS_CERT_PATH=folder / "tls.pem", TLS_KEY_PATH=folder / "tls.key", **changes)

    return make


@pytest.mark.quick
async def test_sighup_takes_a_new_certificate_and_drops_no_session(reloadable, folder, pki):
    gate = reloadable(REQUIRE_APP_AUTH="false")
    async with connect(gate) as session:
        before = serial(gate)
        certificate, key = pki.issue_server("renewed")
        shutil.copy(certificate, folder / "tls.pem")
        shutil.copy(key, folder / "tls.key")
        reload(gate)
        assert serial(gate) != before
        await session.send("still here")
        assert await session.recv() == "still here"


@pytest.mark.parametrize("damage", ["garbage", "other key", "missing"])
@pytest.mark.quick
async def test_a_bad_reload_keeps_the_old_and_says_so(reloadable, folder, pki, damage):
    gate = reloadable(REQUIRE_APP_AUTH="false")
    async with connect(gate) as session:
        before = serial(gate)
        if damage == "garbage":
            (folder / "tls.pem").write_text("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")
        elif damage == "other key":
            shutil.copy(pki.issue_server("mismatched")[1], folder / "tls.key")
        else:
            (folder / "tls.key").unlink()
        said = reload(gate, "reload_failed")
        assert [e for e in said if "TLS_" in str(e) or "tls." in str(e) or "ertificate" in str(e)], said
        assert serial(gate) == before
        await session.send("still here")
        assert await session.recv() == "still here"


@pytest.mark.quick
async def test_sighup_reads_the_configuration_file(gates, folder, backend):
    """Limits change for what comes after; a wrong file changes nothing."""
    path = folder / "portcullis.env"
    path.write_text("HTTP_HEAD_MAX_BYTES=8KiB\n")
    gate = gates(backend, start=False).start("--config", str(path))
    request = head("GET", "/healthz", "X: " + "a" * 3000)

    def status():
        with Raw(gate) as client:
            return client.send(request).reply().status

    assert status() == 200
    path.write_text("HTTP_HEAD_MAX_BYTES=1KiB\n")
    reload(gate)
    assert status() == 431
    path.write_text("HTTP_HEAD_MAX_BYTES=banana\n")
    assert "HTTP_HEAD_MAX_BYTES" in str(reload(gate, "reload_failed"))
    assert status() == 431


@pytest.mark.quick
async def test_sighup_takes_a_new_client_authority(gates, folder, pki, backend):
    path = folder / "clients.pem"
    shutil.copy(pki.server_ca, path)
    gate = gates(backend, ALLOW_MTLS_FALLBACK="true", MTLS_CLIENT_CA_PATH=path)
    assert await refusal(gate, certificate=pki.good_client) == (401, "assertion_required")
    shutil.copy(pki.client_ca, path)
    reload(gate)
    assert "Suite Client CA" in s_client(gate, stdin=b"")
    assert await refusal(gate, certificate=pki.good_client) == (101, None)


def test_signals_during_a_burst_of_work(gates, backend, new_device):
    """A clean stop while registrations arrive: each one answered 200 is in the store."""
    gate = gates(backend)
    acknowledged, stop = set(), threading.Event()

    def work():
        while not stop.is_set():
            device = new_device()
            try:
                if gate.app.post(device.registration(gate.app.nonce())).status == 200:
                    acknowledged.add(device.key_id_b64)
            except (AssertionError, OSError, http.client.HTTPException):
                return

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    eventually(lambda: len(acknowledged) > 30, "some registrations", 60)
    gate.signal(signal.SIGTERM)
    assert gate.wait() == 0
    stop.set()
    for thread in threads:
        thread.join(patience(2 * LONG))
    assert acknowledged <= set(gate.keys())
    assert gate.journal_bytes() == b""
    assert gate.store_path.stat().st_mode & 0o777 == 0o600
