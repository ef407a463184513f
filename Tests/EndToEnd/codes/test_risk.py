"""Policies of risk and databases of addresses: the commands, a start, a reload, files that are damaged, and what a phone
hears."""

import json
import re

import pytest
from clients import assert_refusal
from desktops import Desktop, answer_of
from device import b64
from one_time_codes import Phone, Service
from reloading import reload

CONFIGURATION, DATA_ERROR = 78, 65
POLICY = {
    "weights": {"rooted": 40, "impossible_travel": 60},
    "unknown": {"position_unknown": 5},
    "hours": {"11-13": 3},
    "bands": {"presence": 40, "deny": 100},
    "enforce": True,
}
REQUEST = {
    "name": "a request",
    "kind": "risk",
    "signals": {"tz": "Europe/Vienna", "lat_e1": 482, "lon_e1": 164, "rooted": True},
    "previous": {"at": 1772438400, "lat_e1": 407, "lon_e1": -740},
    "current": {"at": 1772452800, "asn": 64496, "country": "AT", "time_zone": "Europe/Vienna"},
}


def number(count, value):
    return value.to_bytes(count, "big")


def text(value):
    return bytes([0x40 | len(value)]) + value.encode()


def mapping(**members):
    return bytes([0xE0 | len(members)]) + b"".join(text(name) + value for name, value in members.items())


def database(kind="Test-Country", country="AT"):
    """In MaxMind's format: the whole of IPv4 is in one country."""
    record = mapping(country=mapping(iso_code=text(country)))
    tree = number(3, 17) + number(3, 17)
    metadata = mapping(
        binary_format_major_version=b"\xa2" + number(2, 2), binary_format_minor_version=b"\xa2" + number(2, 0),
        build_epoch=b"\x04\x02" + number(4, 1772452800), database_type=text(kind), description=mapping(en=text("x")),
        ip_version=b"\xa2" + number(2, 4), languages=b"\x01\x04" + text("en"), node_count=b"\xc4" + number(4, 1),
        record_size=b"\xa2" + number(2, 24),
    )  # fmt: skip
    return tree + bytes(16) + record + b"\xab\xcd\xefMaxMind.com" + metadata


@pytest.fixture
def risk(gates, folder):
    gate = gates(start=False)
    (folder / "risk.json").write_text(json.dumps(POLICY))
    (folder / "request.json").write_text(json.dumps(REQUEST, indent=2))
    return lambda *arguments, **changes: gate.command(*arguments, **changes)


def test_a_good_policy(risk):
    done = risk("check", "--risk", "risk.json")
    assert done.returncode == 0 and "presence from 40 on, denied from 100 on, enforced" in done.stdout


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        ('{"weights": {"root": 1}}', ["weights.root", "leave it out", "rooted"]),
        ('{"bands": {"presence": 90, "deny": 80}}', ["bands.presence", "90"]),
        ('{"enforce": true, "hours": {"5-5": 1}}', ["hours.5-5", "22-6"]),
        ("{", ["line 1"]),
    ],
)
def test_all_that_is_wrong_is_told(risk, folder, policy, words):
    (folder / "risk.json").write_text(policy)
    done = risk("check", "--risk", "risk.json")
    assert done.returncode == CONFIGURATION and not done.stdout
    assert all(word in done.stderr for word in words), done.stderr


def test_explained(risk):
    done = risk("explain", "risk", "request.json", "--policy", "risk.json")
    assert done.returncode == 0, done.stderr
    lines = [" ".join(line.split()) for line in done.stdout.splitlines()]
    assert lines[0] == '"a request"' and "+40 rooted" in lines and "+60 impossible_travel" in lines
    assert "+3 hours 11-13" in lines and "+0 asn_change unknown" in lines and lines[-1] == "=103 deny"


def test_explained_as_json(risk, folder):
    (folder / "two.jsonl").write_text((json.dumps(REQUEST) + "\n") * 2)
    done = risk("explain", "risk", "two.jsonl", "--json")
    first, second = json.loads(done.stdout)
    assert first == second and first["reasons"] == ["rooted", "impossible_travel"]
    assert (first["score"], first["band"], first["enforced"]) == (0, "allow", False)
    assert abs(first["distance_km"] - first["net_km"] - 16) < 0.01
    enforced = json.loads(risk("explain", "risk", "request.json", "--json", "--policy", "risk.json").stdout)[0]
    assert sum(part["weight"] for part in enforced["parts"]) == enforced["score"] == 103


def test_what_an_iphone_cannot_say_is_not_unknown(risk, folder):
    (folder / "risk.json").write_text(json.dumps({"unknown": {"adb_enabled": 7}}))
    requests = [REQUEST, REQUEST | {"platform": "android"}, REQUEST | {"platform": "ios"}]
    (folder / "three.jsonl").write_text("".join(json.dumps(request) + "\n" for request in requests))
    done = risk("explain", "risk", "three.jsonl", "--json", "--policy", "risk.json")
    assert [found["score"] for found in json.loads(done.stdout)] == [7, 7, 0]
    (folder / "three.jsonl").write_text(json.dumps(REQUEST | {"platform": "symbian"}))
    done = risk("explain", "risk", "three.jsonl", "--json", "--policy", "risk.json")
    assert done.returncode == DATA_ERROR and "platform" in done.stderr


@pytest.mark.parametrize("broken", [b"", b"{}", b'{"kind": "message"}', b"\xff", json.dumps(
    REQUEST | {"signals": {"lat_e1": "x"}}).encode()])  # fmt: skip
def test_what_is_no_request(risk, folder, broken):
    (folder / "request.json").write_bytes(broken)
    done = risk("explain", "risk", "request.json")
    assert done.returncode == DATA_ERROR and done.stderr and not done.stdout


def test_a_line_that_is_no_request(risk, folder):
    """Line and name say which, and the others are explained all the same."""
    bad = [
        (REQUEST | {"name": "lost", "signals": {"lat_e1": "x"}}, "lost: ", "signals"),
        (REQUEST | {"name": "adrift", "current": None}, "adrift: ", "current"),
        ({"kind": "message", "name": "other"}, "other: ", "kind"),
        ("{", "", "JSON"),
    ]
    lines = [json.dumps(REQUEST | {"name": "first"}), ""]
    lines += [each if isinstance(each, str) else json.dumps(each) for each, *_ in bad]
    (folder / "many.jsonl").write_text("\n".join([*lines, json.dumps(REQUEST | {"name": "last"})]))
    done = risk("explain", "risk", "many.jsonl", "--json")
    assert done.returncode == DATA_ERROR
    assert [each["name"] for each in json.loads(done.stdout)] == ["first", "last"]
    told = done.stderr.splitlines()
    assert len(told) == len(bad)
    for line, place, (_, name, why) in zip(told, range(3, 7), bad, strict=True):
        assert f"many.jsonl:{place}: " in line and name in line and why in line, line
    done = risk("explain", "risk", "many.jsonl")
    assert done.returncode == DATA_ERROR and done.stdout.startswith("first\n") and "\nlast\n" in done.stdout


# --- A gate with them


@pytest.fixture
def settings(folder):
    (folder / "risk.json").write_text(json.dumps(POLICY))
    (folder / "risk.json").chmod(0o644)
    (folder / "country.mmdb").write_bytes(database())
    (folder / "gate.env").write_text("")
    return {
        "DEVICES_PATH": folder / "devices.db", "PUBLIC_URL": "https://mud.example",
        "RISK_POLICY": folder / "risk.json", "GEO_COUNTRY_PATH": folder / "country.mmdb",
    }  # fmt: skip


def test_check_says_what_they_are(gates, backend, settings):
    done = gates(backend, start=False).command("check", **settings)
    assert "the policy decides" in done.stdout
    assert "GEO_COUNTRY_PATH is Test-Country of 2026-03-02" in done.stdout, done.stdout


def test_a_folder_has_the_databases(gates, backend, settings, folder):
    """And the former name of one of them is told of."""
    gate = gates(backend, start=False)
    done = gate.command("check", **settings)
    assert "GEO_COUNTRY_PATH (environment) is a former name and still holds: write GEO_PATH instead" in done.stdout
    (folder / "country.mmdb").rename(folder / "GeoLite2-Country.mmdb")
    done = gate.command("check", **settings | {"GEO_COUNTRY_PATH": None, "GEO_PATH": folder})
    assert "GEO_PATH: Test-Country of 2026-03-02" in done.stdout and "former" not in done.stdout, done.stdout


def test_check_says_what_is_wrong_with_which(gates, backend, settings, folder):
    """Each problem under its own word, and what to do about it."""
    (folder / "risk.json").write_text("{")
    done = gates(backend, start=False).command("check", **settings | {"GEO_COUNTRY_PATH": "/etc/passwd"})
    told = {line.split()[1] for line in done.stdout.splitlines() if "RISK_POLICY=" in line or "GEO_COUNTRY_PATH=" in line}
    assert told == {"risk", "geo"}, done.stdout
    assert "GEO_COUNTRY_PATH=/etc/passwd is no file in MaxMind's format; name a whole database" in done.stdout
    for command in ("risk", "policy"):
        done = gates(backend, start=False).command(command, "check", "/nonexistent")
        assert done.returncode == CONFIGURATION, done
        assert "/nonexistent cannot be read" in done.stderr and "owner and mode" in done.stderr, done


@pytest.mark.parametrize("damage", [b"", b"MaxMind.com", database()[:-40], database()[40:], database() + b"\xff" * 200000])
def test_a_damaged_database_stops_the_start(gates, backend, settings, folder, damage):
    (folder / "country.mmdb").write_bytes(damage)
    done = gates(backend, start=False).command("serve", **settings)
    assert done.returncode == CONFIGURATION and "GEO_COUNTRY_PATH" in done.stderr, done.stderr


def test_reloads_within_the_sandbox(gates, backend, settings, folder):
    """The database is read again behind the sandbox; one that is written over or damaged leaves the old one in use."""
    gate = gates(backend, start=False, **settings).start("--config", str(folder / "gate.env"))
    (folder / "country.mmdb").write_bytes(database(country="DE"))
    reload(gate)
    (folder / "country.mmdb").write_bytes(b"")
    reload(gate, "reload_failed")
    (folder / "country.mmdb").write_bytes(database())
    (folder / "risk.json").write_text('{"weights": {"x": 1}}')
    reload(gate, "reload_failed")
    (folder / "risk.json").write_text("{}")
    reload(gate)


# --- What a phone hears


def test_a_code_is_refused_and_told_why(gates, settings, folder, new_device, fault):
    """Rooted is denied; in another country than its address it has to be near; and neither is told on."""
    policy = {
        "weights": {"rooted": 100, "country_mismatch": 40},
        "bands": {"presence": 40, "deny": 100},
        "enforce": True,
    }
    (folder / "risk.json").write_text(json.dumps(policy))
    gate = gates(start=False, DEVICE_APPROVAL="evidence", **settings, **fault.environment)
    gate.start("--config", str(folder / "gate.env"))
    # Whoever is near has ten seconds to say so.
    fault.stand_still()
    service, desktop, phone = Service(gate), Desktop(gate), Phone(gate, new_device())

    def issue(challenge, **signals):
        document = {"mcc_mnc": "23201", "lat_e1": -899, "lon_e1": -1666, **signals}
        return phone.issue(challenge, signals=json.dumps(document).encode())

    def told(**fields):
        return gate.event(event="risk", device=phone.id, **fields)

    challenge = service.challenged()
    assert_refusal(issue(challenge, rooted=True), 403, "risk_denied")
    assert told(band="deny")["reasons"] == "rooted"
    # Germany's, while the address is in Austria.
    assert_refusal(issue(challenge, mcc_mnc="26201"), 403, "presence_required")
    assert told(band="presence")["reasons"] == "country_mismatch"
    assert desktop.verify(answer_of(phone, desktop.challenge(phone))).status == 200
    reply = issue(challenge, mcc_mnc="26201")
    assert reply.status == 200, reply
    assert service.verify(challenge, reply.json["otp_code"]).status == 200
    # Nearness is no way around a denial.
    challenge = service.challenged("login-2")
    assert_refusal(issue(challenge, rooted=True, mcc_mnc="26201"), 403, "risk_denied")
    # Where nothing is enforced, all of it is only told.
    (folder / "risk.json").write_text(json.dumps(policy | {"enforce": False}))
    reload(gate)
    reply = issue(challenge, rooted=True)
    assert reply.status == 200, reply
    assert told(band="deny", enforced="false")["reasons"] == "rooted"
    assert service.verify(challenge, reply.json["otp_code"], "login-2").status == 200

    rows = [json.loads(line) for line in gate.command("audit", "export").stdout.splitlines()]
    audit = "\n".join(row["text"] for row in rows)
    assert "risk_denied" in audit and "country_mismatch" in audit
    for said in (audit, gate.log_text()):
        assert "lat_e1" not in said and "lon_e1" not in said
        assert not re.search(r"[\s\"=:,](-899|-89\.9|-1666|-166\.6)\b", said)


def garbage(phone, signs=True):
    """Evidence that is none, in the phone's name."""
    nonce = phone.nonce("attest")
    document = {"device_id": phone.id, "nonce": nonce, "attestation_type": "app_attest"}
    document |= {"key_id": phone.device.key_id_b64, "assertion": b64(b"\xff")}
    if signs:
        document["signature"] = phone.key.sign(phone.auth(nonce, "token"))
    assert_refusal(phone.post("/mobile/attest", document), 403, "attestation_rejected")


def spent_counter(phone):
    assert phone.attest("assertion").status == 200
    phone.device.counter -= 1
    assert_refusal(phone.attest("assertion"), 403, "attestation_rejected")


@pytest.mark.parametrize("fail", [garbage, spent_counter])
def test_a_failed_attestation_counts_for_a_day(gates, settings, folder, new_device, fault, fail):
    """The phone's own, whatever good evidence comes behind it; what anybody has sent in its name is none of its."""
    policy = {"weights": {"attest_failed": 100}, "bands": {"deny": 100}, "enforce": True}
    (folder / "risk.json").write_text(json.dumps(policy))
    gate = gates(start=False, DEVICE_APPROVAL="evidence", **settings, **fault.environment)
    gate.start("--config", str(folder / "gate.env"))
    fault.stand_still()
    service, phone = Service(gate), Phone(gate, new_device())

    def issue(login):
        return phone.issue(service.challenged(login), signed_at=int(fault.now()))

    def later(seconds):
        """Nobody has held a connection open, and the last attestation is too old for a code."""
        fault.jump(seconds)
        gate.app.close()
        service.own.app.close()
        reply = phone.attest("assertion")
        assert reply.status == 200, reply
        phone.token = reply.json["device_token"]

    garbage(phone, signs=False)
    assert issue("login-1").status == 200
    fail(phone)
    assert phone.attest("assertion").status == 200
    assert_refusal(issue("login-2"), 403, "risk_denied")
    assert gate.event(event="risk", device=phone.id, band="deny")["reasons"] == "position_unknown,attest_failed"
    later(86_399)
    assert_refusal(issue("login-3"), 403, "risk_denied")
    later(1)
    assert issue("login-4").status == 200
