"""A real Prometheus scrapes a gate under load: what it has counted is what the clients have (docs/metrics.md)."""

import asyncio
import json
import math
import random
import re

import pytest

import prometheus
from clients import Raw, curl
from gate import free_port
from test_rules import ALERTS, DASHBOARD
from waiting import eventually, patience
from websocket import connect, refusal

PLAYERS, LINES = 24, 40

pytestmark = pytest.mark.skipif(prometheus.missing() is not None, reason=prometheus.missing() or "")


@pytest.fixture
def watched(gates, backends, folder):
    """A gate in front of a game that says again what it hears, and its admin listener."""
    admin = f"127.0.0.1:{free_port()}"
    gate = gates(backends(echoing), ADMIN_LISTEN=admin, WORKERS="4", SESSIONS_PER_KEY="4")
    gate.admin = admin
    return gate


@pytest.fixture
def server(watched, folder):
    made = prometheus.Prometheus(folder, watched.admin)
    yield made
    made.stop()


def echoing(connection):
    while data := connection.read():
        connection.write(data)


class Counts:
    """What the clients have seen themselves."""

    def __init__(self):
        self.admitted = self.refused = self.registered = self.unregistered = 0
        self.codes = {}
        self.sent = self.heard = self.sent_bytes = self.heard_bytes = 0

    def refusal(self, code):
        self.codes[code] = self.codes.get(code, 0) + 1


async def play(gate, device, counts, seed):
    """Lines of random lengths, as fast as they come back."""
    source = random.Random(seed)
    async with connect(gate, device.headers(gate.app.nonce())) as player:
        counts.admitted += 1
        for _ in range(LINES):
            line = bytes(source.randrange(256) for _ in range(source.choice((1, 40, 200, 3000, 20_000))))
            await player.send(line)
            counts.sent += 1
            counts.sent_bytes += len(line)
            missing = len(line)
            while missing:
                heard = await player.recv()
                counts.heard += 1
                counts.heard_bytes += len(heard)
                missing -= len(heard)


def be_refused(gate, new_device, counts):
    """Each for a reason of its own, some on one connection."""

    def note(reply, upgrade=False):
        counts.refusal(reply.code)
        counts.refused += upgrade

    for _ in range(3):
        note(curl(gate, "/"), upgrade=True)  # no upgrade: 426
    for _ in range(2):
        note(curl(gate, "/attest/nothing"))
    note(curl(gate, "/attest/challenge", "-X", "DELETE"))
    for _ in range(4):
        reply = gate.app.post(new_device().registration("00" * 32))
        counts.unregistered += 1
        note(reply)
    reply = gate.app.post("{")
    counts.unregistered += 1
    note(reply)
    with Raw(gate) as client:
        note(client.send("GET /healthz\r\n\r\n").reply())


async def be_refused_upgrades(gate, new_device, counts):
    for _ in range(5):
        _, code = await refusal(gate)
        counts.refusal(code)
        counts.refused += 1
    for _ in range(2):
        _, code = await refusal(gate, new_device().headers(gate.app.nonce()))
        counts.refusal(code)
        counts.refused += 1


def agreed(server, expectations):
    """Once the last scrape has seen all."""

    def compare():
        found = {expression: server.value(f"sum({expression})") for expression in expectations}
        return found if found == expectations else None

    try:
        return eventually(compare, "Prometheus counts as the clients do", within=60)
    except AssertionError:
        found = {expression: server.value(f"sum({expression})") for expression in expectations}
        assert found == expectations
        raise


def without_comparison(expression):
    """The vectors that are compared, of an alert's expression."""
    parts = [part.strip().removeprefix("and ").removeprefix("or ") for part in expression.splitlines()]
    return [re.sub(r"\s+(==|!=|<=?|>=?)\s+[\d.* ]+$", "", part) for part in parts]


def expressions():
    text = ALERTS.read_text()
    for block in re.findall(r"expr: \|-\n((?: {10}.*\n)+)", text):
        for vector in without_comparison(block.strip()):
            yield vector
    board = json.loads(DASHBOARD.read_text())
    for panel in board["panels"]:
        for target in panel.get("targets", []):
            yield target["expr"]
    for annotation in board["annotations"]["list"]:
        yield without_comparison(annotation["expr"])[0]


def test_promtool_finds_nothing_in_a_scrape(watched):
    text, kind = prometheus.scrape(watched.admin)
    assert kind == "text/plain; version=0.0.4; charset=utf-8"
    status, said = prometheus.promtool("check", "metrics", stdin=text)
    assert (status, said) == (0, ""), said
    assert len(prometheus.samples(text)) < 800


def test_a_scrape_says_what_the_kernel_says(watched):
    found = prometheus.samples(prometheus.scrape(watched.admin)[0])
    pid = watched.process.pid
    with open(f"/proc/{pid}/stat") as stat:
        started = int(stat.read().rpartition(")")[2].split()[19]) / 100
    with open("/proc/uptime") as uptime, open("/proc/stat") as stat:
        booted = int(re.search(r"^btime (\d+)", stat.read(), re.M)[1])
        assert float(uptime.read().split()[0]) > started
    assert abs(found["process_start_time_seconds"] - booted - started) < 2
    assert 0 < found["process_open_fds"] < found["process_max_fds"]
    assert found["process_resident_memory_bytes"] > 1 << 20
    assert found["process_cpu_seconds_total"] > 0
    assert found['portcullis_certificate_expiry_timestamp_seconds{certificate="server"}'] > 1.7e9
    assert found["portcullis_game_up"] == 1


def test_its_counts_are_those_of_the_clients(watched, server, new_device):
    gate, counts = watched, Counts()
    # What is counted before the first scrape is no growth to it.
    eventually(lambda: server.value("portcullis_game_up") is not None, "a scrape before the load", within=60)
    devices = [gate.app.register(new_device()) for _ in range(PLAYERS)]
    counts.registered = PLAYERS

    async def everybody():
        evening = [play(gate, device, counts, number) for number, device in enumerate(devices)]
        await asyncio.gather(*evening, be_refused_upgrades(gate, new_device, counts))

    asyncio.run(asyncio.wait_for(everybody(), patience(120)))
    be_refused(gate, new_device, counts)
    expected = {
        'portcullis_admissions_total{result="admitted"}': counts.admitted,
        'portcullis_admissions_total{result="resumed"}': 0,
        'portcullis_admissions_total{result="refused"}': counts.refused,
        'portcullis_admissions_total{result="left"}': 0,
        "portcullis_admission_duration_seconds_count": counts.admitted,
        'portcullis_registrations_total{result="registered"}': counts.registered,
        'portcullis_registrations_total{result="refused"}': counts.unregistered,
        'portcullis_messages_total{direction="from_player"}': counts.sent,
        'portcullis_messages_total{direction="to_player"}': counts.heard,
        'portcullis_bytes_total{direction="to_game"}': counts.sent_bytes,
        'portcullis_bytes_total{direction="from_game"}': counts.heard_bytes,
        'portcullis_game_connects_total{result="connected"}': counts.admitted,
        'portcullis_keys{state="active"}': counts.registered,
        'portcullis_sessions{state="attached"}': 0,
        "portcullis_queued_bytes": 0,
        "portcullis_refusals_total": sum(counts.codes.values()),
    }
    for code, count in counts.codes.items():
        expected[f'portcullis_refusals_total{{code="{code}"}}'] = count
    assert len(counts.codes) >= 6, counts.codes
    agreed(server, expected)

    # Each expression of alerts and dashboard finds something, once there are a few scrapes behind the load; none does
    # where the last scrape came too late.
    eventually(
        lambda: (server.value("count_over_time(portcullis_game_up[1m])") or 0) >= 4, "some scrapes", within=60
    )
    for expression in expressions():
        # The load is in it, however long ago it was.
        whole = re.sub(r"\[(\$__rate_interval|\d+m)\]", "[1h]", expression).replace("$instance", ".*")
        found = eventually(lambda: server.query(whole), whole)
        if "histogram_quantile" in whole:
            # Nothing but NaN is what an empty histogram has.
            assert any(math.isfinite(value) for _, value in found), (whole, found)


def test_a_session_is_seen_while_it_is_there(watched, new_device):
    gate = watched

    async def evening():
        device = gate.app.register(new_device())
        async with connect(gate, device.headers(gate.app.nonce())) as player:
            await player.send(b"x")
            await player.recv()
            found = prometheus.samples(prometheus.scrape(gate.admin)[0])
            assert found['portcullis_sessions{state="attached",credential="assertion"}'] == 1
            assert found['portcullis_connections{state="session"}'] == 1

    asyncio.run(asyncio.wait_for(evening(), patience(60)))

    def is_over():
        found = prometheus.samples(prometheus.scrape(gate.admin)[0])
        return found['portcullis_sessions{state="attached",credential="assertion"}'] == 0

    eventually(is_over, "the session's end")


def test_no_peer_gets_a_word_into_it(watched, new_device):
    """Whatever a peer sends, the series are those of a gate that nobody has spoken to."""
    before = set(prometheus.samples(prometheus.scrape(watched.admin)[0]))
    evil = 'x"} 1\\nevil 1'
    curl(watched, "/attest/%22%7D%0Aevil", "-A", evil, "-H", f"X-Forwarded-For: {evil}")
    curl(watched, "/", "-H", f"X-App-Assert-KeyId: {evil}", "-H", f"Origin: https://{evil}".replace("\\n", ""))
    with Raw(watched, tls=False) as client:
        client.send("\x16\x03\x01evil\r\n\r\n").closed()
    after = prometheus.samples(prometheus.scrape(watched.admin)[0])
    assert set(after) == before
    assert after["portcullis_refusals_total{code=\"not_found\"}"] >= 1
