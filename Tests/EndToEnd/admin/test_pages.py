"""The console's pages and changes for programs with a token and for browsers without script: what is there, what is found,
how lists go on, what is changed and by whom, and what is never shown (docs/console.md, "Console")."""

import base64
import contextlib
import hashlib
import html
import http.client
import json
import os
import pwd
import re
import secrets
import signal
import sqlite3
import time
import urllib.parse

import pytest

from approvers import approval_settings
from backend import sink
from clients import Raw, head
from gate import free_port
from handset import Handset
from phones import Household
from sessions import Player
from waiting import eventually, patience
from websocket import CLOSE, RawWebSocket

OPERATOR = pwd.getpwuid(os.geteuid()).pw_name
MARKUP = "<img src=x onerror=alert(1)>\"'&\u202e\u2066x"
POLICY = {"rules": [{"match": {"operation": "shutdown"}, "factors": ["operator"]}]}


class Pages:
    """What a program with a token gets; keywords change the gate's environment."""

    def __init__(self, gates, folder, backend=None, start=True, writer="robot-write", **changes):
        self.port = free_port()
        self.names = {"write": writer, "read": "robot-read"}
        self.tokens = {name: "portcullis_" + secrets.token_urlsafe(32) for name in ("write", "read")}
        path = folder / "admin-tokens.json"
        path.write_text(json.dumps({"version": 1, "tokens": [self.kept(name) for name in self.tokens]}))
        path.chmod(0o600)
        settings = {"ADMIN_LISTEN": f"127.0.0.1:{self.port}", "ADMIN_TOKENS_PATH": path, **changes}
        self.gate = gates(backend, start=start, **settings)

    def kept(self, name):
        digest = hashlib.sha256(base64.urlsafe_b64decode(self.tokens[name].split("_", 1)[1] + "=")).hexdigest()
        times = {"createdAt": "2026-01-01T00:00:00.000Z", "expiresAt": "2100-01-01T00:00:00.000Z"}
        return {"name": self.names[name], "sha256": digest, "scopes": [name], **times}

    def ask(self, method, path, form=None, scope="write", **headers):
        """Status, fields and body."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=patience(60))
        try:
            headers["Authorization"] = f"Bearer {self.tokens[scope]}"
            if form is not None:
                headers["Content-Type"] = "application/x-www-form-urlencoded"
            body = None if form is None else urllib.parse.urlencode(form)
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()
        finally:
            connection.close()

    def page(self, path, status=200):
        found, fields, body = self.ask("GET", path)
        assert found == status, (path, found, body[:500])
        assert fields["Content-Type"].startswith("text/html")
        return body.decode()

    def json(self, path, status=200):
        found, _, body = self.ask("GET", path)
        assert found == status, (path, found, body[:500])
        return json.loads(body)

    def post(self, path, **form):
        return self.ask("POST", path, form)

    def done(self, path, word, **form):
        """The change was made, and leads back."""
        status, fields, body = self.post(path, **form)
        assert status == 303, (status, body[:800])
        assert fields["Location"].endswith(f"done={word}"), fields["Location"]
        page = self.page(fields["Location"])
        assert 'role="status"' in page
        return page

    def wrong(self, path, status, **form):
        """The change was not made; the page again, with the reason."""
        found, _, body = self.post(path, **form)
        assert found == status, (found, body[:800])
        return body.decode()

    def actions(self):
        return [event for event in self.gate.events() if event.get("event") == "operator_action"]

    def acted(self, count):
        """So many actions, and no more, once their lines are in the log."""
        eventually(lambda: len(self.actions()) >= count, f"{count} actions in the log")
        actions = self.actions()
        assert len(actions) == count, actions
        return actions


@pytest.fixture
def pages(gates, backend, folder):
    return Pages(gates, folder, backend)


def devices(folder):
    return approval_settings(folder, POLICY)


def cell(page, text):
    """Whether the page shows this very text."""
    return text in html.unescape(page)


def listed_in(line):
    """A line is a page of rows, or one."""
    value = json.loads(line)
    return value if isinstance(value, list) else [value]


def next_page(page):
    found = re.search(r'href="([^"]*[?&]after=[^"]*|[^"]*amp;after=[^"]*)"', page)
    return html.unescape(found[1]) if found else None


# ---- what is there


def test_each_page_is_there(pages):
    for path in ["/", "/sessions", "/keys", "/refusals", "/configuration", "/drain", "/drain/end"]:
        page = pages.page(path)
        assert page.count("<h1") == 1 and "</html>" in page, path
        assert "style=" not in page and "<script>" not in page, path
    for path in ["overview", "sessions", "keys", "refusals", "configuration", "drain"]:
        assert {"live", "rows", "charts"} <= set(pages.json(f"/api/{path}")), path
    assert len(pages.page("/").encode()) <= 60_000
    assert quickest(pages, "/") <= patience(0.05)
    for path in ["/devices", "/approvals", "/audit"]:
        assert "DEVICES_PATH" in pages.page(path, 404)


def quickest(pages, path):
    """In how many seconds a page is there whole, over a connection that is open: the best of many, as the machine has other
    work too."""
    connection = http.client.HTTPConnection("127.0.0.1", pages.port, timeout=patience(60))
    took = []
    with contextlib.closing(connection):
        for _ in range(20):
            begun = time.perf_counter()
            connection.request("GET", path, headers={"Authorization": f"Bearer {pages.tokens['read']}"})
            answer = connection.getresponse()
            assert answer.status == 200 and answer.read()
            took.append(time.perf_counter() - begun)
    return min(took)


@pytest.mark.parametrize("path", [
    "/nothing", "/sessions/7", "/sessions/x", "/sessions/-1", "/sessions/007", "/sessions/18446744073709551616",
    "/sessions/1/2", "/sessions/", "/sessions/1/end/now", "/keys/short", "/keys/AAAAAAAA", "/keys/%41", "/keys/" + "A" * 43,
    "/keys/../..", "/api", "/api/", "/api/nothing", "/api/keys/AAAAAAAA", "/audit/export", "/configuration/nothing", "//",
])  # fmt: skip
def test_what_is_not_there(pages, path):
    status, _, body = pages.ask("GET", path)
    assert status == 404, (path, status, body[:300])


def test_what_has_not_changed_is_not_sent_again(pages):
    _, fields, _ = pages.ask("GET", "/api/drain")
    assert fields["ETag"]
    status, _, body = pages.ask("GET", "/api/drain", **{"If-None-Match": fields["ETag"]})
    assert (status, body) == (304, b"")


def test_who_may_only_look(pages):
    for path in ["/drain", "/configuration/reload", "/sessions/1/end", "/drain/end", "/keys/AAAAAAAA/revoke"]:
        assert pages.ask("POST", path, {}, scope="read")[0] == 403, path
    assert pages.ask("GET", "/", scope="read")[0] == 200
    assert b'action="/drain"' not in pages.ask("GET", "/drain", scope="read")[2]
    # Whose line would come behind theirs.
    pages.done("/undrain", "drain-ended")
    assert [action["action"] for action in pages.acted(1)] == ["drain_ended"]


# ---- sessions


def test_a_session_is_seen_and_ended(pages, new_device):
    device = pages.gate.app.register(new_device())
    player = Player(pages.gate, device)
    player.connect()
    player.line("look")
    player.until_text("You say: look")
    listed = pages.page("/sessions")
    assert device.key_id_b64[:8] in listed and "127.0.0.1" in listed
    for text in [device.key_id_b64, device.key_id_b64[:8], "127.0.0.1", device.key_id_b64.replace("+", "-").replace("/", "_")]:
        found = pages.json("/api/sessions?" + urllib.parse.urlencode({"text": text}))
        assert len(found["rows"]["sessions"]) == 1, text
    for query in ["text=nobody", "state=detached", "credential=none", "text=%E2%80%AE"]:
        assert not pages.json(f"/api/sessions?{query}")["rows"]["sessions"], query
    shown = pages.page("/sessions/1")
    assert device.key_id_b64 in shown and "portcullis.v1" in shown
    assert 'action="/sessions/1/end"' in pages.page("/sessions/1/end")
    pages.done("/sessions/1/end", "session-ended")
    eventually(lambda: not pages.json("/api/sessions")["rows"]["sessions"], "the session has ended")
    pages.page("/sessions/1", 404)
    assert "has ended already" in pages.wrong("/sessions/1/end", 409)
    [done, refused] = pages.acted(2)
    assert (done["actor"], done["action"], done["result"]) == ("robot-write", "session_ended", "done")
    assert refused["result"] == "refused"


def test_who_plays_is_found_by_pseudonym_and_by_the_phones_name(gates, backends, folder, new_device):
    settings = {"BACKEND_PROXY_PROTOCOL": "v2", "GATE_DEVICES": "bare", **devices(folder)}
    pages = Pages(gates, folder, backends(sink), **settings)
    gate, phone = pages.gate, Handset(pages.gate)
    phone.enroll(device_name="Anna’s Phone")
    assert gate.command("devices", "confirm", phone.id, "--subject", "anna").returncode == 0
    keys = [gate.app.register(new_device()) for _ in range(2)]

    def found(kind, text=""):
        return pages.json(f"/api/{kind}?" + urllib.parse.urlencode({"text": text}))["rows"][kind]

    with contextlib.ExitStack() as stack:
        for who in [*keys, phone]:
            headers = who.headers() if who is phone else who.headers(gate.app.nonce())
            stack.enter_context(RawWebSocket(gate, headers))
        rows = found("sessions")
        by_name = {row["pseudonym"]["code"]: row["session"] for row in rows}
        assert len(by_name) == 3
        for name, session in by_name.items():
            assert [row["session"] for row in found("sessions", name)] == [session]
        of_keys = {gate.keys()[key.key_id_b64]["pseudonym"] for key in keys}
        (of_phone,) = by_name.keys() - of_keys
        for text in ["anna’s ph", "PHONE", phone.id, phone.id[:13]]:
            assert [row["session"] for row in found("sessions", text)] == [by_name[of_phone]], text
        for nobody in ["A" * 22, "Anna's Phone"]:
            assert not found("sessions", nobody), nobody
        for name in of_keys:
            (row,) = found("keys", name)
            assert row["key"][1] == {"code": name}
        # The phone's is none of a key.
        assert not found("keys", of_phone) and not found("keys", "A" * 22)


# ---- keys


def test_a_key_is_revoked_with_a_reason(pages, new_device):
    device = pages.gate.app.register(new_device())
    path = "/keys/" + device.key_id_b64.rstrip("=").replace("+", "-").replace("/", "_")
    short = path[: len("/keys/") + 8]
    assert device.key_id_b64 in pages.page(path) and device.key_id_b64 in pages.page(short)
    for reason in ["x" * 257, "two\nlines", "turned \u202e round"]:
        assert "aria-invalid" in pages.wrong(f"{path}/revoke", 400, reason=reason)
    assert "revokedAt" not in pages.gate.keys()[device.key_id_b64]
    reason = "lost <b>\"on the train\"</b> – α"
    page = pages.done(f"{short}/revoke", "key-revoked", reason=reason)
    assert cell(page, reason) and "<b>" not in page
    assert pages.gate.keys()[device.key_id_b64]["revokedReason"] == reason
    assert [action["action"] for action in pages.acted(1)] == ["key_revoked"]
    assert len(pages.json("/api/keys?state=revoked")["rows"]["keys"]) == 1
    assert not pages.json("/api/keys?state=active")["rows"]["keys"]
    longest, other = "é" * 256, pages.gate.app.register(new_device())
    path = "/keys/" + other.key_id_b64.rstrip("=").replace("+", "-").replace("/", "_")
    assert "aria-invalid" in pages.wrong(f"{path}/revoke", 400, reason=longest + "é")
    pages.done(f"{path}/revoke", "key-revoked", reason=longest)
    assert pages.gate.keys()[other.key_id_b64]["revokedReason"] == longest


def point():
    """Sixty-four bytes in the place of a point, in PEM: nobody verifies by them here."""
    head = bytes.fromhex("3059301306072a8648ce3d020106082a8648ce3d03010703420004")
    text = base64.b64encode(head + os.urandom(64)).decode()
    return f"-----BEGIN PUBLIC KEY-----\n{text[:64]}\n{text[64:]}\n-----END PUBLIC KEY-----\n"


def write_keys(gate, records):
    gate.store_path.write_text(json.dumps(records))
    gate.store_path.chmod(0o600)


def test_ten_thousand_keys_by_cursor(gates, backend, folder):
    pages = Pages(gates, folder, backend, start=False)
    records = {}
    for number in range(10_000):
        name = base64.b64encode(os.urandom(32)).decode()
        day = f"2026-{1 + number % 12:02}-{1 + number % 28:02}T12:00:00.000Z"
        records[name] = {"publicKey": point(), "signCount": number, "registeredAt": "2026-01-01T00:00:00.000Z",
                         "lastUsedAt": day, "appId": f"ABCDE12345.com.example.{number % 3}", "environment": "production"}  # fmt: skip
    write_keys(pages.gate, records)
    pages.gate.start()
    met, path, count = [], "/keys", 0
    while path:
        page = pages.page(path)
        met += re.findall(r'href="/keys/([A-Za-z0-9_-]{43})"', page)
        path, count = next_page(page), count + 1
    assert count == 200
    assert len(met) == len(set(met)) == 10_000
    name, record = next(iter(records.items()))
    for text in [name, name[:6], name[:9], name.replace("+", "-").replace("/", "_").rstrip("=")]:
        rows = pages.json("/api/keys?" + urllib.parse.urlencode({"text": text}))["rows"]["keys"]
        assert 1 <= len(rows) <= 3, text
    for query, wanted in [
        ({"app": "ABCDE12345.com.example.1"}, lambda record: record["appId"].endswith(".1")),
        ({"since": "2026-12-01"}, lambda record: record["lastUsedAt"] >= "2026-12-01"),
        ({"until": "2026-01-02"}, lambda record: record["lastUsedAt"] < "2026-01-03"),
        ({"since": "2026-06-07", "until": "2026-06-07"}, lambda record: record["lastUsedAt"][:10] == "2026-06-07"),
        ({"text": "no such key"}, lambda record: False),
    ]:
        path, found = "/keys?" + urllib.parse.urlencode(query), 0
        while path:
            page = pages.page(path)
            found += len(set(re.findall(r'href="/keys/([A-Za-z0-9_-]{43})"', page)))
            path = next_page(page)
        assert found == sum(wanted(record) for record in records.values()), query
    assert "aria-invalid" in pages.page("/keys?since=yesterday")
    for after in ["x", "-1", "9223372036854775807", "99999999999999999999"]:
        assert pages.ask("GET", f"/keys?after={after}")[0] == 200
    lines = [json.loads(line) for line in pages.ask("GET", "/keys/export")[2].splitlines()]
    assert {line["keyId"]: line["signCount"] for line in lines} == {
        name: record["signCount"] for name, record in records.items()
    }


def test_what_a_key_file_says_is_text(gates, backend, folder):
    pages = Pages(gates, folder, backend, start=False)
    name = base64.b64encode(os.urandom(32)).decode()
    record = {"publicKey": point(), "signCount": 1, "registeredAt": "2026-01-01T00:00:00Z", "appId": MARKUP,
              "bundleVersion": MARKUP, "revokedAt": "2026-01-01T00:00:00Z", "revokedReason": MARKUP}  # fmt: skip
    write_keys(pages.gate, {name: record})
    pages.gate.start()
    link = name.rstrip("=").replace("+", "-").replace("/", "_")
    for path in ["/keys", f"/keys/{link}", f"/keys/{link}/revoke", "/keys?" + urllib.parse.urlencode({"text": MARKUP, "app": MARKUP})]:
        page = pages.page(path)
        assert "<img" not in page and "onerror=alert(1)>\"" not in page, path
        assert "\u202e" not in re.sub(r"<bdi[^>]*>.*?</bdi>", "", page, flags=re.DOTALL), path


# ---- refusals


def test_refusals_by_code_and_step(pages):
    for number in range(60):
        with Raw(pages.gate) as client:
            client.send(head("GET", f"/nowhere/{number}"))
            client.reply()
    page, met = pages.page("/refusals"), 0
    assert "60 refusals" in page and "no_upgrade" in page
    while page:
        met += len(re.findall(r"<td[^>]*>127\.0\.0\.1:\d+", page))
        path = next_page(page)
        page = pages.page(path) if path else None
    assert met == 60
    assert "60" in json.dumps(pages.json("/api/refusals")["rows"]["groups"])
    found = pages.json("/api/refusals?code=upgrade_required&step=no_upgrade")["rows"]
    assert len(found["refusals"]) == 50, found
    for query in ["code=overloaded", "step=" + urllib.parse.quote(MARKUP), "after=1", "code=nonsense&step=nonsense"]:
        assert not pages.json(f"/api/refusals?{query}")["rows"]["refusals"], query
    assert "<img" not in pages.page("/refusals?step=" + urllib.parse.quote(MARKUP))


# ---- configuration


def test_settings_their_origin_and_a_reload(gates, backend, folder):
    pages = Pages(gates, folder, backend, start=False)
    file = folder / "gate.env"
    file.write_text("MAX_PENDING=77\nDRAIN_TIMEOUT=9s\nWS_MAX_MESSAGE_BYTES=1000\n")
    pages.gate.start("--config", str(file))
    # By its control socket, which comes last, `check` knows that it runs.
    assert pages.gate.command("stats").returncode == 0
    page = pages.page("/configuration")
    assert "MAX_PENDING" in page and "file, line 1" in page and str(file) in page
    assert "BEGIN" not in page
    assert "attestation_root" in page and "backend" in page
    # What `check` says, but for what it writes to find out, and for the store, which the gate has itself.
    findings = pages.json("/api/configuration")["rows"]["findings"]
    said = {(row["subject"], row["text"][:500]) for row in findings}
    lines = [line.split("  ", 2) for line in pages.gate.command("check", "--config", str(file)).stdout.splitlines()]
    checked = {(name, text[:500]) for _, name, text in lines}
    assert any(name == "configuration" and "WS_MAX_MESSAGE_BYTES (1000)" in text for name, text in said), said
    assert {name for name, _ in said} >= {"clock", "charset", "kernel", "admin", "certificate", "listen"}
    # Time goes on, each process has a limit of descriptors of its own, and each calls the game.
    differing = {"clock", "configuration", "backend"}
    assert {name for name, _ in checked - said} <= differing | {"store", "disk", "pseudonym_key"}, checked - said
    assert {name for name, _ in said - checked} <= differing, said - checked
    file.write_text("MAX_PENDING=78\n")
    assert "MAX_PENDING" in pages.done("/configuration/reload", "reloaded")
    assert "MAX_PENDING" in pages.gate.event(event="reloaded")["changed"]
    assert len([event for event in pages.gate.events() if event.get("event") == "reloaded"]) == 1
    file.write_text(f"MAX_PENDING=many\nNOT_A_SETTING={MARKUP}\n")
    page = pages.wrong("/configuration/reload", 409)
    assert "MAX_PENDING" in page and "<img" not in page
    # A signal is told of as well, and what was refused has changed nothing.
    file.write_text("MAX_PENDING=78\nWORKERS=3\n")
    pages.gate.signal(signal.SIGHUP)
    eventually(lambda: "next start" in pages.page("/configuration"), "the page tells of the reload")
    assert [action["result"] for action in pages.acted(2)] == ["done", "refused"]


def test_a_reload_that_nobody_reads_does_not_hold_up_a_stop(gates, backends, folder, fault):
    fault.stand_still()  # so that it goes on draining
    settings = {"REQUIRE_APP_AUTH": "false", "DRAIN_TIMEOUT": "60s", **fault.environment}
    pages = Pages(gates, folder, backends(sink), **settings)
    client = RawWebSocket(pages.gate)
    pages.gate.event(event="admin_listening")
    pages.gate.signal(signal.SIGTERM)
    assert client.read_frame()[1] == CLOSE
    # By a clock that stands still nothing would end a wait for the main thread, which does something else.
    pages.wrong("/configuration/reload", 503)
    pages.gate.signal(signal.SIGTERM)
    assert pages.gate.wait() == 0
    client.close()


# ---- drain


def test_a_drain_begun_and_taken_back(pages, new_device):
    device = pages.gate.app.register(new_device())
    player = Player(pages.gate, device)
    player.connect()
    pages.done("/drain", "drain-begun")
    assert pages.gate.app.request("GET", "/healthz").status == 503
    assert "draining" in pages.page("/")
    pages.done("/undrain", "drain-ended")
    assert pages.gate.app.request("GET", "/healthz").status == 200
    pages.done("/drain/end", "all-sessions-ended")
    eventually(lambda: not pages.json("/api/sessions")["rows"]["sessions"], "the session has ended")
    assert [action["action"] for action in pages.acted(3)] == ["drain_begun", "drain_ended", "all_sessions_ended"]
    # Nothing takes that back, and the page has no button for it.
    assert 'action="/undrain"' not in pages.page("/drain")
    pages.wrong("/undrain", 409)


# ---- devices and the audit


def test_a_device_is_confirmed_and_revoked_and_the_audit_names_who(gates, folder):
    pages = Pages(gates, folder, **devices(folder))
    phone = Handset(pages.gate)
    phone.enroll()
    listed = pages.json("/api/devices?state=pending")["rows"]["devices"]
    assert len(listed) == 1
    path = f"/devices/{phone.id}"
    assert phone.id in pages.page(path)
    assert "aria-invalid" in pages.wrong(f"{path}/confirm", 400, subject="no\nsubject")
    # A form that asked for digits, sent when there are none to compare any more.
    assert "Nothing was confirmed" in pages.wrong(f"{path}/confirm", 409, digits="123456")
    assert len(pages.json("/api/devices?state=pending")["rows"]["devices"]) == 1
    pages.done(f"{path}/confirm", "device-confirmed", subject="anna")
    # The second of two clicks.
    pages.done(f"{path}/confirm", "device-confirmed", digits="123456")
    assert pages.json("/api/devices?state=active&subject=anna")["rows"]["devices"]
    pages.done(f"{path}/revoke", "device-revoked")
    assert pages.json("/api/devices?state=revoked&text=" + phone.id[:8])["rows"]["devices"]
    pages.done("/configuration/reload", "reloaded")
    rows = [row for line in pages.gate.command("audit", "list", "--json").stdout.splitlines() for row in listed_in(line)]
    named = {row["event"]: row.get("actor") for row in rows}
    for event in ["device_activated", "device_revoked", "reloaded"]:
        assert named[event] == "robot-write", rows
    assert all("uid" not in row for row in rows if row.get("actor"))
    shown = pages.page("/audit")
    assert "robot-write" in shown and "device_revoked" in shown
    assert "device_activated" not in json.dumps(pages.json("/api/audit?event=device_revoked")["rows"]["audit"])
    assert pages.json("/api/audit?about=robot-WRITE")["rows"]["audit"]
    assert not pages.json("/api/audit?day=2001-01-01")["rows"]["audit"]
    assert "aria-invalid" in pages.page("/audit?day=today")
    assert "broken" not in pages.page("/audit?verify=1")
    exported = pages.ask("GET", "/audit/export")[2].decode()
    assert exported == pages.gate.command("audit", "export").stdout
    assert [action["action"] for action in pages.acted(6)] == [
        "device-confirmed", "device-confirmed", "device-confirmed", "device-confirmed", "device-revoked", "reloaded",
    ]  # fmt: skip


def test_a_chain_that_somebody_has_changed(gates, folder):
    pages = Pages(gates, folder, **devices(folder))
    phone = Handset(pages.gate)
    phone.enroll()
    pages.done(f"/devices/{phone.id}/confirm", "device-confirmed", subject="anna")
    assert "The chain holds" in pages.page("/audit?verify=1")
    pages.gate.app.close()
    pages.gate.stop()
    with contextlib.closing(sqlite3.connect(folder / "devices.db")) as store, store:
        ((changed,),) = store.execute("SELECT seq FROM audit WHERE text LIKE '%device_activated%'").fetchall()
        store.execute("UPDATE audit SET text = replace(text, 'anna', 'olga') WHERE seq = ?", [changed])
    pages.gate.start()
    page = pages.page("/audit?verify=1")
    assert f"The chain is broken at row {changed}: hash" in page and "The chain holds" not in page
    # What is not asked for is not looked at.
    assert "broken" not in pages.page("/audit")


def test_a_phone_comes_in_by_the_digits_that_it_shows(gates, folder):
    pages = Pages(gates, folder, **devices(folder))
    home, name = Household(pages.gate), "Anna’s <b>&\"'"
    try:
        operator = home.operator("--subject", "anna")
        phone = home.scan("anna.json", operator.code.uri(), "--name", name)
        digits = phone.line()
        eventually(lambda: pages.json("/api/devices")["rows"]["pairings"], "the console shows the phone")
        page = pages.page("/devices")
        assert cell(page, name) and "<b>" not in page
        path = re.search(r"/devices/[A-Za-z0-9_-]+/confirm", page)[0]
        assert digits.strip() not in page and digits.strip() not in pages.page(path)
        assert "aria-invalid" in pages.wrong(path, 400, digits="12345")
        assert "aria-invalid" in pages.wrong(path, 400, digits="")
        other = "".join("1" if digit == "0" else "0" if digit.isdigit() else digit for digit in digits)
        # Not what stood there, but what was typed is wrong; and it is said that it has cost a try.
        refused = pages.wrong(path, 400, digits=other)
        assert "aria-invalid" in refused and cell(refused, "One try is used up."), refused
        pages.done(path, "device-confirmed", digits=digits)
        assert phone.wait() == 0 and home.standing("anna.json")["status"] == "active"
        assert not pages.json("/api/devices")["rows"]["pairings"]
        # Wrong digits three times are the end of the phone, not of the console.
        operator, phone = home.operator("--subject", "bert"), None
        phone = home.scan("bert.json", operator.code.uri())
        digits = phone.line()
        eventually(lambda: pages.json("/api/devices")["rows"]["pairings"], "the console shows the phone")
        path = re.search(r"/devices/[A-Za-z0-9_-]+/confirm", pages.page("/devices"))[0]
        other = "".join("1" if digit == "0" else "0" if digit.isdigit() else digit for digit in digits)
        answers = [pages.post(path, digits=other)[0] for _ in range(4)]
        assert answers[:2] == [400, 400] and set(answers[2:]) <= {404, 409}, answers
        assert not pages.json("/api/devices")["rows"]["pairings"]
    finally:
        home.end()


def test_a_token_is_nobody_who_confirms_a_request(gates, folder):
    """Whatever it is called: the rule asks for a user of the host who has not asked himself."""
    sockets = {"APPROVALS_SOCKET": folder / "approvals.sock", "APPROVAL_OPERATORS": f"{OPERATOR},daemon"}
    pages = Pages(gates, folder, writer=OPERATOR, **devices(folder), **sockets)
    text = "Really? <b>&\"'"
    made = pages.gate.command("approvals", "request", "--operation", "shutdown", "--text", text, "--json")
    assert made.returncode == 0, made.stderr
    name = json.loads(made.stdout)["id"]
    page = pages.page(f"/approvals/{name}")
    assert cell(page, text) and "<b>" not in page
    for verb in ["confirm", "refuse"]:
        assert "approval_operator" in pages.wrong(f"/approvals/{name}/{verb}", 409)
    assert len(pages.json("/api/approvals")["rows"]["pending"]) == 1
    assert pages.gate.command("approvals", "cancel", name).returncode == 0
    assert pages.wrong(f"/approvals/{name}/confirm", 409)
    rows = pages.json("/api/approvals")["rows"]
    assert not rows["pending"] and len(rows["decided"]) == 1
    for path in ["/approvals/AAAA/confirm", "/approvals/" + "A" * 22 + "/refuse"]:
        assert pages.post(path)[0] in (400, 404), path
