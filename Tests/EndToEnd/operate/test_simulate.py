"""dev-certs and simulate: the certificates serve a gate, and the program's own device plays through it."""

import concurrent.futures
import itertools
import json
import random
import subprocess
import time

import pytest

from backend import echo
from cutting_proxy import CuttingProxy, Plan
from gate import BINARY, free_port, process_environment
from telnet_game import TelnetGame
from waiting import eventually, patience

REFUSED, UNAVAILABLE = 77, 69


@pytest.fixture
def certificates(gates, folder):
    """The folder that `dev-certs` fills."""
    done = gates(start=False).command("dev-certs")
    assert done.returncode == 0, done.stderr
    return folder / "certs" / "dev"


@pytest.fixture
def gate(gates, backend, certificates):
    """A gate that runs on the development certificates."""
    return gates(
        backend,
        TLS_CERT_PATH=certificates / "server.pem",
        TLS_KEY_PATH=certificates / "server-key.pem",
        APPATTEST_ROOT_CA_PATH=certificates / "attestation-root.pem",
        MTLS_CLIENT_CA_PATH=certificates / "client-ca.pem",
        ALLOW_MTLS_FALLBACK="true",
        APPATTEST_ENVIRONMENT="both",
    )


@pytest.fixture
def simulate(gate):
    def run(command, *arguments, **options):
        fixed = ("--url", f"wss://localhost:{gate.port}/", "--ca", "certs/dev/ca.pem", "--timeout", "60")
        return gate.command("simulate", command, *fixed, *arguments, within=120, **options)

    return run


APP = ("--app-id", "ABCDEF12K4.org.example.mudproxy")


def test_dev_certs_are_private_and_not_overwritten(gates, certificates):
    for path in certificates.iterdir():
        if "key" in path.name or path.suffix == ".p12":
            assert path.stat().st_mode & 0o077 == 0, path
    before = (certificates / "server.pem").read_bytes()
    again = gates(start=False).command("dev-certs")
    assert again.returncode != 0 and "--force" in again.stderr
    assert (certificates / "server.pem").read_bytes() == before


def test_openssl_accepts_what_dev_certs_makes(certificates):
    def openssl(*arguments):
        return subprocess.run(["openssl", *arguments], cwd=certificates, capture_output=True, text=True)

    for ca, leaf, purpose in (
        ("ca.pem", "server.pem", "sslserver"),
        ("client-ca.pem", "client.pem", "sslclient"),
    ):
        verified = openssl("verify", "-x509_strict", "-CAfile", ca, "-purpose", purpose, leaf)
        assert verified.returncode == 0, verified.stderr
    chain = openssl("verify", "-CAfile", "attestation-root.pem", "attestation-intermediate.pem")
    assert chain.returncode == 0, chain.stderr
    opened = openssl("pkcs12", "-in", "client.p12", "-passin", "pass:portcullis", "-nodes")
    assert "PRIVATE KEY" in opened.stdout and "CERTIFICATE" in opened.stdout


@pytest.mark.parametrize("environment", ["production", "development"])
@pytest.mark.parametrize(
    "raw, heard", [(["--raw"], b"look\nquit\n"), ([], b"look\r\nquit\r\n")], ids=["raw", "session"]
)
def test_register_connect_play(simulate, backend, environment, raw, heard):
    registered = simulate("register", *APP, "--environment", environment)
    assert registered.returncode == 0, registered.stderr
    for _ in range(2):
        played = simulate("connect", *raw, "--wait", stdin="look\nquit\n")
        assert played.returncode == 0, played.stderr
        assert "You say: look" in played.stdout and "Goodbye." in played.stdout
    assert bytes(backend.connection().received) == heard


@pytest.mark.parametrize("seed", [1, 2, 9])
def test_a_line_that_is_cut_at_random_loses_nothing(gates, certificates, seed):
    """The program's client and its gate, with a proxy between them that cuts at any byte, either way."""

    def answer(seat, line):
        seat.say(f"<{line}>\r\n")
        # Behind its last answer, which a test that looks from outside cannot see leave.
        if line == lines[-1]:
            seat.close()

    game = TelnetGame(lambda seat: seat.say("hello\r\n"), answer)
    gate = gates(
        game,
        TLS_CERT_PATH=certificates / "server.pem",
        TLS_KEY_PATH=certificates / "server-key.pem",
        APPATTEST_ROOT_CA_PATH=certificates / "attestation-root.pem",
        APPATTEST_ENVIRONMENT="both",
        INPUT_RATE="10000/s",
        # While nobody is there a full one would lose what is oldest.
        SESSION_BUFFER="1MiB",
    )
    trust = ("--ca", "certs/dev/ca.pem")
    registered = gate.command("simulate", "register", "--url", f"wss://localhost:{gate.port}/", *trust, *APP)
    assert registered.returncode == 0, registered.stderr
    source = random.Random(seed)
    # The first challenge and the first upgrade go through, so that there is a session to come back to.
    drawn = iter([None, Plan(after=6000), *(Plan.drawn(source) for _ in range(20))])
    proxy = CuttingProxy(gate, lambda: next(drawn, None))
    command = [BINARY, "simulate", "connect", "--wait", "--url", f"wss://localhost:{proxy.port}/", *trust]
    shown, said = gate.folder / "shown", gate.folder / "said"
    with open(shown, "wb") as output, open(said, "wb") as messages:
        player = subprocess.Popen(
            [str(word) for word in command],
            cwd=gate.folder,
            env=process_environment({}),
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=messages,
        )
    # Nothing that compresses well, so that the plans' bytes are reached.
    lines = [f"line {number} {source.randbytes(source.randrange(150)).hex()}" for number in range(400)]
    try:
        player.stdin.write("".join(f"{line}\n" for line in lines).encode())
        player.stdin.close()
        seat = game.seat()
        eventually(lambda: seat.answered == len(lines), "all lines at the game, and its answers", within=120)
        assert player.wait(patience(120)) == 0, said.read_text()
    finally:
        player.kill()
        player.wait()
        proxy.stop()
        game.stop()
    assert seat.lines == lines and game.count == 1
    assert shown.read_bytes().decode() == "hello\r\n" + "".join(f"<{line}>\r\n" for line in lines)
    eventually(lambda: proxy.cuts >= 3, "three cuts that are over")
    assert "back in the game" in said.read_text()


def test_registering_again_uses_the_same_key(simulate, gate):
    for _ in range(2):
        assert simulate("register", *APP).returncode == 0
    assert len(gate.keys()) == 1


def test_an_unregistered_device_is_refused(simulate, gate, backend):
    assert simulate("register", *APP).returncode == 0
    assert gate.command("keys", "revoke", *gate.keys()).returncode == 0
    refused = simulate("connect", stdin="look\n")
    assert refused.returncode == REFUSED and "key_revoked" in refused.stderr
    assert backend.count == 0


def test_another_app_is_refused(simulate):
    refused = simulate("register", "--app-id", "ABCDEF12K4.org.example.other")
    assert refused.returncode == REFUSED and "attestation_rejected" in refused.stderr


def test_the_client_certificate_comes_in_by_the_fallback(simulate):
    pair = ("--client-cert", "certs/dev/client.pem", "--client-key", "certs/dev/client-key.pem")
    played = simulate("connect", "--without-assertion", "--wait", *pair, stdin="quit\n")
    assert played.returncode == 0 and "Goodbye." in played.stdout, played.stderr
    assert simulate("connect", "--without-assertion", stdin="quit\n").returncode == REFUSED


def test_a_gate_that_does_not_allow_sessions(simulate, gate):
    assert simulate("register", *APP).returncode == 0
    gate.stop()
    gate.environment["SUBPROTOCOLS"] = "none,binary"
    gate.start()
    refused = simulate("connect", stdin="look\n")
    assert refused.returncode == REFUSED and "SUBPROTOCOLS" in refused.stderr
    assert simulate("connect", "--raw", "--wait", stdin="quit\n").returncode == 0


def test_no_gate_there(simulate, gate):
    assert simulate("register", *APP).returncode == 0
    url = f"wss://localhost:{free_port()}/"
    done = gate.command("simulate", "connect", "--url", url, "--ca", "certs/dev/ca.pem")
    assert done.returncode == UNAVAILABLE and done.stderr.strip()


def test_subprotocols_are_offered_with_raw_alone(simulate):
    assert simulate("register", *APP).returncode == 0
    offered = ("--subprotocol", "telnet.mudstandards.org")
    refused = simulate("connect", *offered)
    assert refused.returncode == 64 and "--raw" in refused.stderr
    assert simulate("connect", "--raw", "--wait", *offered, stdin="quit\n").returncode == 0


BENCH = (*APP, "--devices", "6", "--sessions", "9", "--concurrency", "3", "--duration", "1")


def bench(simulate, *arguments, **options):
    """`simulate bench`: the exit status and the report."""
    done = simulate("bench", *BENCH, "--json", *arguments, **options)
    assert not done.stderr, done.stderr
    return done.returncode, json.loads(done.stdout)


def test_bench_measures_all_three_parts(gate, simulate, backend):
    backend.play = echo
    calls = echoed = 0
    for turn in range(1, 6):
        status, report = bench(simulate, "--message-bytes", "3000")
        assert status == 0 and report["passed"] and not report["failures"], report
        assert report["registrations"]["count"] == 6 and len(gate.keys()) == 6 * turn
        # 40 a second, the default, over one second.
        assert report["admissions"]["count"] <= 41 and report["echo"]["sessions"] == 9
        # What it counted is what the game saw.
        calls += report["admissions"]["count"] + 9
        echoed += report["echo"]["count"] * 3000
        eventually(lambda: backend.count >= calls, "all calls at the game")
        assert (backend.count, backend.byte_count) == (calls, echoed)
        # On a machine that stood still for that second it is taken again.
        if report["admissions"]["count"] >= 10 and report["echo"]["count"] >= 9:
            break
    else:
        raise AssertionError(f"five times next to nothing in a second: {report}")
    for times in (report["admissions"]["admission"], report["echo"]["roundTrip"]):
        assert 0 < times["p50Microseconds"] <= times["p99Microseconds"] <= times["maxMicroseconds"]


def test_bench_says_what_went_wrong(gate, backend, fault):
    """The MUD greets instead of returning what it is sent. By a clock that stands still there is time for each session."""
    fault.monotonic_still = time.monotonic_ns()
    done = subprocess.run(
        [BINARY, "simulate", "bench", "--url", f"wss://localhost:{gate.port}/", "--ca", "certs/dev/ca.pem", *BENCH, "--json"],
        cwd=gate.folder, env=process_environment({**gate.environment, **fault.environment}), capture_output=True,
        timeout=patience(60),
    )  # fmt: skip
    report = json.loads(done.stdout)
    assert done.returncode == UNAVAILABLE and report["failures"] == {"echo_differs": 9} and not report["passed"]
    assert report["admissions"]["count"] == 40


def test_bench_in_words(simulate, backend):
    backend.play = echo
    done = simulate("bench", *BENCH)
    assert done.returncode == 0 and not done.stderr and "\x1b" not in done.stdout
    for word in ("registrations", "admissions", "round trip", "p99", "failures       none"):
        assert word in done.stdout


def test_bench_waits_when_the_gate_says_so(gate, simulate, fault):
    """Sixty registrations at once, and one a second: by a clock that hardly moves, those behind are told to come again."""
    gate.stop()
    gate.environment |= {"REGISTER_RATE": "60/m", **fault.environment}
    gate.start()
    fault.stand_still()

    steps = itertools.count(1)

    def is_throttled():
        # What the gate leaves for a moment has to be done some time; another one may come after a second.
        number = next(steps)
        if number < 900:
            fault.jump(0.001)
        return running.done() or number % 20 == 0 and refusals(gate).get("rate_limited")

    with concurrent.futures.ThreadPoolExecutor() as pool:
        running = pool.submit(bench, simulate, "--sessions", "0", "--devices", "63")
        try:
            eventually(is_throttled, "one who was told to come again", within=120)
            # In steps, so that nothing which is under way becomes late.
            eventually(lambda: fault.jump(0.005) or running.done(), "all are registered", within=120)
        finally:
            fault.heal()
        status, report = running.result()
    assert status == 0, report["failures"]
    assert report["registrations"]["count"] == 63 and "echo" not in report
    assert report["throttled"]["rate_limited"] >= 1


def refusals(gate):
    return json.loads(gate.command("stats", "--json").stdout)["refusals"]


def test_bench_names_refusals(gate, simulate, backend):
    status, report = bench(simulate, "--app-id", "ABCDEF12K4.org.example.other", "--sessions", "0")
    assert status == UNAVAILABLE and report["failures"] == {"attestation_rejected": 6}
    assert report["admissions"]["count"] == 0 and report["admissions"]["admission"] is None
    assert backend.count == 0


@pytest.mark.parametrize(
    "option, beyond",
    [("devices", 1001), ("devices", 0), ("sessions", 1001), ("rate", 10_001), ("duration", 601),
     ("message-bytes", 65_537), ("message-bytes", 0), ("concurrency", 257)],
)  # fmt: skip
def test_bench_is_bounded(gates, option, beyond):
    done = gates(start=False).command("simulate", "bench", *APP, f"--{option}", str(beyond))
    assert done.returncode == 64 and f"--{option} takes" in done.stderr


def test_bench_without_a_gate(simulate, gate):
    gate.stop()
    done = simulate("bench", *BENCH)
    assert done.returncode == UNAVAILABLE and not done.stdout and "cannot connect" in done.stderr
