"""The admin listener (docs/console.md, "Admin listener"): where it is, who reaches it, and peers that do not play along."""

import contextlib
import hashlib
import os
import pathlib
import random
import socket
import ssl
import subprocess
import threading

import pytest

import records
from admin_door import AdminDoor
from clients import tls_context
from gate import free_port
from records import Records
from reloading import Reloadable, reload
from serving_user import give, place_of_nobody, settings_of
from waiting import eventually, patience

CONFIGURATION, UNAVAILABLE = 78, 69
GUARDS = {
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}


@pytest.fixture(scope="session")
def library(pki):
    return records.build(pki.folder)


@pytest.fixture
def door():
    return AdminDoor()


@pytest.fixture
def exposed(gates, backend):
    """A gate whose listener others reach."""
    door = AdminDoor()
    port = {"ADMIN_LISTEN": f"0.0.0.0:{door.port}"}
    gate = gates(backend, **port)
    door.context = tls_context(gate)
    return gate, door


def threads(gate):
    """Names and nicenesses."""
    found = {}
    for task in pathlib.Path(f"/proc/{gate.process.pid}/task").iterdir():
        # Some end while they are listed.
        with contextlib.suppress(OSError):
            found[(task / "comm").read_text().strip()] = int((task / "stat").read_text().split()[-34])
    return found


def over(path, request):
    """All that is answered over a UNIX socket, after which the connection is closed."""
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(patience(60))
        client.connect(str(path))
        client.sendall(request)
        answer = b""
        while data := client.recv(65536):
            answer += data
        return answer.decode()


# ---- where it is


def test_there_is_none_unless_it_is_asked_for(gates, backend, folder):
    gate = gates(backend)
    gate.event(event="listening")
    # The sockets of those who give orders come last.
    assert gate.command("stats").returncode == 0
    assert not [name for name in threads(gate) if name.startswith("admin")]
    assert not [event for event in gate.events() if event.get("event") == "admin_listening"]
    assert not (folder / "admin-tokens.json").exists()


def test_its_threads_are_behind_the_loops(gates, backend, door):
    gate = gates(backend, **door.settings)
    assert gate.event(event="admin_listening")["address"] == door.settings["ADMIN_LISTEN"]
    own = os.nice(0)
    expected = {"loop-0": own, "admin": 10, "admin-work": 10, "admin-checks": own, "store-orders": own,
                "admin-looks": own, "admin-calls": own, "admin-history": 19}  # fmt: skip
    # A thread is named, and gets its niceness, once it runs.
    eventually(lambda: expected.items() <= threads(gate).items(), f"{expected}")


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_every_answer_keeps_other_sites_out(gates, backend, host):
    door = AdminDoor(host)
    gates(backend, **door.settings)
    for path, status in [("/livez", 200), ("/metrics", 200), ("/", 303), ("/api/overview", 401), ("/%2e%2e/livez", 303)]:
        answer = door.reads(path, status)
        for name, value in GUARDS.items():
            assert answer.header(name) == value, (path, name)
        assert answer.header("Content-Security-Policy").startswith("default-src 'none'; script-src 'self';")
    assert door.ask("/metrics").header("Content-Type").startswith("text/plain; version=0.0.4")


def test_by_curl(gates, backend, door):
    gate = gates(backend, **door.settings)
    base = f"http://127.0.0.1:{door.port}"
    done = subprocess.run(
        ["curl", "-sS", "--max-time", "60", "-w", "%{http_code} %{num_connects}\\n", f"{base}/livez", f"{base}/readyz"],
        capture_output=True, text=True, timeout=patience(70),
    )  # fmt: skip
    # The second request goes over the first one's connection.
    assert done.stdout == "ok\n200 1\nok\n200 0\n" or "degraded" in done.stdout, (done, gate.log_tail())


def test_a_unix_socket(gates, backend, folder):
    path = folder / "admin.sock"
    gate = gates(backend, ADMIN_LISTEN=f"unix:{path}")
    assert path.stat().st_mode & 0o777 == 0o600
    answer = over(path, b"GET /livez HTTP/1.0\r\n\r\n")
    assert answer.startswith("HTTP/1.1 200 OK\r\n") and answer.endswith("\r\n\r\nok\n")
    assert over(path, b"GET /metrics HTTP/1.0\r\nHost: localhost\r\n\r\n").startswith("HTTP/1.1 200 ")
    gate.kill()
    # What is left of a gate that died is in nobody's way.
    gate.start()
    assert over(path, b"GET /livez HTTP/1.0\r\n\r\n").endswith("ok\n")
    gate.stop()
    assert not path.exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only the superuser can give a socket to any group")
def test_a_unix_socket_for_a_group(gates, backend, folder):
    path = folder / "admin.sock"
    gates(backend, ADMIN_LISTEN=f"unix:{path}", SOCKET_GROUP="daemon")
    eventually(lambda: path.stat().st_mode & 0o777 == 0o660, "the group's socket")
    assert path.group() == "daemon"


def test_a_restart_finds_its_port(gates, backend, door):
    """Though connections of the gate before are not forgotten yet; and each process has its listener to itself."""
    gate = gates(backend, **door.settings)
    for _ in range(3):
        clients = [door.client() for _ in range(8)]
        for client in clients:
            client.request("GET", "/sign-in")
            answer = client.getresponse()
            assert answer.status == 200 and answer.read()
        gate.stop()
        gate.start()
        door.reads("/livez", 200, "ok\n")
        for client in clients:
            client.close()


def test_a_hot_restart_finds_its_port(kept_evenings, door):
    kept = kept_evenings(**door.settings)
    player, _ = kept.seated()
    door.reads("/readyz", 200)
    kept.restart()
    assert door.reads("/readyz", 200)
    kept.back(player)
    kept.kill()
    kept.store.start()
    assert door.reads("/livez", 200)


@pytest.mark.skipif(os.geteuid() != 0, reason="only the superuser can become somebody else")
def test_the_user_of_run_as(gates, backend, pki, authority):
    """A port that only root may have, and a socket in a folder of nobody's, which goes with the gate."""
    with place_of_nobody(pki) as place:
        (place / "store").mkdir(mode=0o700)
        give(place / "store")
        door = AdminDoor()
        while True:
            door.port = random.randint(600, 1023)
            with socket.socket() as probe, contextlib.suppress(OSError):
                probe.bind(("127.0.0.1", door.port))
                break
        gate = gates(backend, **settings_of(place, ADMIN_LISTEN=f"127.0.0.1:{door.port}"))
        assert door.reads("/readyz", 200).text in ("ok\n", "degraded: game\n")
        gate.stop()
        path = place / "store" / "admin.sock"
        gate.environment["ADMIN_LISTEN"] = f"unix:{path}"
        gate.start()
        assert path.owner() == "nobody" and path.stat().st_mode & 0o777 == 0o600
        assert over(path, b"GET /livez HTTP/1.0\r\n\r\n").endswith("ok\n")
        gate.stop()
        assert not path.exists()


def refused(gates, backend, status, **changes):
    gate = gates(backend, start=False, **changes)
    gate.launch()
    assert gate.wait() == status, gate.log_tail()
    return gate.log_text()


def test_where_it_cannot_be(gates, backend, folder):
    port = free_port()
    for changes, word in [
        ({"ADMIN_LISTEN": f"0.0.0.0:{port}", "TLS_CERT_PATH": None, "TLS_KEY_PATH": None}, "no certificate"),
        ({"ADMIN_LISTEN": f"127.0.0.1:{port}", "LISTEN": f"0.0.0.0:{port}"}, "the place of LISTEN"),
        ({"ADMIN_LISTEN": f"unix:{folder}/a.sock", "SOCKET_GROUP": "no-such-group"}, "no group"),
        ({"ADMIN_LISTEN": f"unix:{folder}/control.sock"}, "the socket of CONTROL_SOCKET"),
        ({"ADMIN_HOSTS": "gate.example"}, "without ADMIN_LISTEN"),
    ]:
        said = refused(gates, backend, CONFIGURATION, **changes)
        assert word in said, said
    with socket.create_server(("127.0.0.1", port)):
        said = refused(gates, backend, UNAVAILABLE, ADMIN_LISTEN=f"127.0.0.1:{port}")
        assert "ADMIN_LISTEN" in said
    # Nothing else of the gate is left behind.
    assert not (folder / "control.sock").exists()


def test_what_check_says_of_it(gates, backend, door):
    gate = gates(backend, start=False, **door.settings)

    def said(**changes):
        return [line for line in gate.command("check", **changes).stdout.splitlines() if "admin" in line]

    assert [line for line in said() if "is free" in line], said()
    assert [line for line in said(ADMIN_LISTEN=f"0.0.0.0:{door.port}") if "reached by others" in line]
    with socket.create_server(("127.0.0.1", door.port)):
        assert [line for line in said() if "set ADMIN_LISTEN to another" in line]
    gate.start()
    assert [line for line in said() if "while a gate is running" in line]


# ---- who reaches it


def test_others_reach_it_by_tls_alone(exposed):
    gate, door = exposed
    door.reads("/livez", 200)
    door.reads("/readyz", 200)
    # What is open on this host is not open there.
    assert door.ask("/metrics").status == 401
    assert door.ask("/metrics", headers={"Host": "evil.example"}).status == 421
    plain = AdminDoor()
    plain.port = door.port
    with pytest.raises((ConnectionError, OSError)):
        plain.ask("/livez")
    door.reads("/livez", 200)


def test_a_reload_brings_its_certificate(gates, folder, pki):
    door = AdminDoor()
    reloadable = Reloadable(gates, folder, pki, ADMIN_LISTEN=f"0.0.0.0:{door.port}")

    def shown():
        der = ssl.PEM_cert_to_DER_cert(ssl.get_server_certificate(("127.0.0.1", door.port), timeout=patience(60)))
        return reloadable.fingerprints.index(hashlib.sha256(der).hexdigest())

    assert shown() == 0
    reloadable.lay_out(1, 0)
    reloadable.reload()
    assert shown() == 1


def test_a_reload_closes_the_numbers(gates, backend, door, folder):
    settings = folder / "gate.env"
    settings.write_text("ADMIN_METRICS_TOKEN=false\n")
    gate = gates(backend, start=False, **door.settings).start("--config", str(settings))
    assert door.ask("/metrics").status == 200
    settings.write_text("ADMIN_METRICS_TOKEN=true\n")
    reload(gate)
    assert door.ask("/metrics").status == 401


# ---- peers that do not play along


def crowd(door, opening, count=64):
    stack = contextlib.ExitStack()
    for _ in range(count):
        stack.enter_context(door.raw()).sendall(opening)
    return stack


@pytest.mark.parametrize(
    "opening",
    [b"", b"GET /livez HTTP/1.1\r\nHost: a\r\nX: ", b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n"],
    ids=["silent", "a head", "a body"],
)
def test_probes_beside_those_who_trickle(gates, backend, door, opening):
    gates(backend, **door.settings)
    with crowd(door, opening), crowd(door, opening):
        for _ in range(5):
            door.reads("/livez", 200)


def test_probes_beside_handshakes_that_stop(exposed):
    gate, door = exposed
    with crowd(door, b""), crowd(door, bytes.fromhex("1603010200010001fc0303")):
        for _ in range(5):
            door.reads("/livez", 200)
    assert gate.app.request("GET", "/healthz").status == 200


@pytest.fixture
def still(gates, backend, fault):
    """The same, with a clock that stands still: no deadline closes who is silent."""
    fault.stand_still()
    door = AdminDoor()
    gate = gates(backend, ADMIN_LISTEN=f"0.0.0.0:{door.port}", **fault.environment)
    door.context = tls_context(gate)
    return gate, door


def silent(door, source, stack):
    """A connection from this address that says nothing."""
    peer = stack.enter_context(socket.socket())
    peer.bind((source, 0))
    peer.settimeout(patience(60))
    peer.connect(("127.0.0.1", door.port))
    peer.setblocking(False)
    return peer


def is_closed(peer):
    try:
        return peer.recv(1) == b""
    except BlockingIOError:
        return False
    except ConnectionError:
        return True


def test_an_address_has_eight_places_without_an_answer(still):
    gate, door = still
    with contextlib.ExitStack() as stack:
        other = silent(door, "127.0.2.1", stack)
        crowd = [silent(door, "127.0.1.1", stack) for _ in range(12)]
        eventually(lambda: sum(map(is_closed, crowd)) == 4, "the ninth and those after it take a place each")
        assert all(map(is_closed, crowd[:4])) and not is_closed(other)
        door.reads("/livez", 200)
        assert sum(map(is_closed, crowd)) == 4 and not is_closed(other)
    assert gate.event(event="turned_away", step="admin_places")["source"].startswith("127.0.1.1:")


def test_the_address_with_most_places_makes_room(still):
    _, door = still
    with contextlib.ExitStack() as stack:
        few = [silent(door, f"127.0.2.{number}", stack) for number in range(1, 9)]
        many = [silent(door, f"127.0.1.{1 + number % 7}", stack) for number in range(56)]
        for probes in range(1, 6):
            assert door.ask("/livez").status == 200
            eventually(lambda: sum(map(is_closed, many)) >= 1, "a place for the probe")
            assert sum(map(is_closed, many)) <= probes
        assert not any(map(is_closed, few))


def test_probes_beside_a_flood_of_one_address(still):
    """Thousands of connections a second, none of which says a byte: no probe has to be tried again."""
    _, door = still
    is_over, opened = threading.Event(), []

    def pour():
        while not is_over.is_set():
            with contextlib.ExitStack() as stack, contextlib.suppress(OSError):
                for _ in range(100):
                    silent(door, "127.0.1.1", stack)
                    opened.append(True)

    flood = threading.Thread(target=pour)
    flood.start()
    try:
        eventually(lambda: len(opened) > 200, "a flood")
        for _ in range(40):
            assert door.ask("/livez").status == 200
        # The same beyond what `HANDSHAKE_RATE` lets in at once, which is 600.
        eventually(lambda: len(opened) > 1000, "a flood beyond the rate")
        assert door.ask("/livez").status == 200
    finally:
        is_over.set()
        flood.join()


def test_handshakes_have_a_rate(gates, backend, fault):
    """Apart from that of players, and for each address."""
    fault.stand_still()
    door = AdminDoor()
    settings = {"ADMIN_LISTEN": f"0.0.0.0:{door.port}", "HANDSHAKE_RATE": "1/m"}
    gate = gates(backend, start=False, **settings, **fault.environment).launch()
    context = tls_context(gate)

    def is_answered(source):
        with contextlib.suppress(OSError), contextlib.ExitStack() as stack:
            peer = silent(door, source, stack)
            peer.settimeout(patience(60))
            client = stack.enter_context(context.wrap_socket(peer, server_hostname="localhost"))
            client.sendall(b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n")
            # 503 after a jump: nobody has looked meanwhile.
            return client.recv(100).startswith(b"HTTP/1.1 ")
        return False

    # A try before that could use up the one handshake of the burst.
    gate.event(event="admin_listening")
    assert is_answered("127.0.1.1")
    assert not is_answered("127.0.1.1")
    assert is_answered("127.0.1.2")
    fault.jump(61)
    assert is_answered("127.0.1.1")
    assert gate.event(event="turned_away", step="admin_handshake_rate")["source"].startswith("127.0.1.1:")


def test_key_updates_without_end(exposed, library):
    """As at the door of players: an end, and nobody else's time."""
    gate, door = exposed

    class Place:
        host, port = "127.0.0.1", door.port

    for _ in range(4):
        with Records(library, Place) as client:
            client.key_updates(2000).send()
            assert len(client.everything()) < 4096, "the replies have no bound"
        door.reads("/livez", 200)


def test_what_is_no_http(gates, backend, door):
    gates(backend, **door.settings)
    for opening, status in [
        (b"\x16\x03\x01\x02\x00\x01\x00", b"400"),
        (b"GET /livez\r\n\r\n", b"400"),
        (b"GET /" + b"a" * 9000, b"414"),
        (b"GET / HTTP/1.1\r\nHost: a\r\nX: " + b"a" * 9000, b"431"),
        (b"GET /\x00 HTTP/1.1\r\nHost: a\r\n\r\n", b"400"),
        (b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 65537\r\n\r\n", b"413"),
        (b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", b"501"),
        (b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2;a\r\n", b"400"),
        (b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n10001\r\n", b"413"),
        (b"DELETE / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", b"405"),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"505"),
    ]:
        with door.raw() as client:
            client.sendall(opening)
            answer = b""
            while data := client.recv(65536):
                answer += data
            assert answer.startswith(b"HTTP/1.1 " + status), (opening[:40], answer[:80])
            assert b"\r\nConnection: close\r\n" in answer
    door.reads("/livez", 200)


def test_thousands_at_once(gates, backend, door):
    """One request of each connection in a turn: others come in between."""
    gate = gates(backend, **door.settings)
    one = b"GET /sign-in HTTP/1.1\r\nHost: localhost\r\n\r\n"
    pieces = []
    with door.raw() as flood:

        def read():
            # At once, as an answer that is not taken ends the connection.
            while data := flood.recv(1 << 20):
                pieces.append(data)

        reader = threading.Thread(target=read)
        reader.start()
        flood.sendall(one * 5000)
        for _ in range(5):
            door.reads("/readyz", 200)
        flood.shutdown(socket.SHUT_WR)
        reader.join()
    assert b"".join(pieces).count(b"HTTP/1.1 200 OK\r\n") == 5000
    assert gate.app.request("GET", "/healthz").status == 200
