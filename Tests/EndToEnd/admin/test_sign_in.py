"""Signing in to the console: links, cookies, who gets them, and what takes them back."""

import json
import os
import pathlib
import shutil
import socket
import stat
import tempfile

import pytest

from admin_clients import Console, admin_settings, answer_on
from orders import ask_as
from waiting import eventually, patience

pytestmark = pytest.mark.quick

root = pytest.mark.skipif(os.geteuid() != 0, reason="only the superuser can become others")
# Numbers without an account.
ALICE, MALLORY, GROUP = 54_321, 54_323, 54_400
DATA_ERROR, USAGE, CONFIGURATION = 65, 64, 78


@pytest.fixture
def console(gates, backend, folder):
    return Console(gates(backend, **admin_settings(folder)))


@pytest.fixture
def jumping(gates, backend, folder, fault):
    """One whose clock a test moves."""
    fault.stand_still()
    return Console(gates(backend, **admin_settings(folder), **fault.environment))


def test_nobody_sees_the_console(console):
    assert console.get("/").is_signed_out and console.get("/sessions?x=1").is_signed_out
    for answer in [console.get("/api/overview"), console.get("/api/nothing")]:
        assert answer.status == 401 and answer.fields["WWW-Authenticate"].startswith("Bearer"), answer
    how = console.get("/sign-in")
    assert how.status == 200 and "portcullis admin link" in how.text
    assert "Set-Cookie" not in how.fields


def test_a_link_is_good_once_and_for_a_minute(jumping, fault):
    path = jumping.link()
    for _ in range(3):
        seen = jumping.get(path)
        assert seen.status == 200 and "<form" in seen.text and "Set-Cookie" not in seen.fields
    origin = f"http://{jumping.authority}"
    signed = jumping.post(path, Origin=origin)
    assert signed.status == 303, signed
    for again in [jumping.get(path), jumping.post(path, Origin=origin)]:
        assert again.status == 403 and "Set-Cookie" not in again.fields, again

    late = jumping.link()
    fault.jump(59)
    assert jumping.get(late).status == 200
    fault.jump(2)
    assert jumping.get(late).status == 403
    assert jumping.post(late, Origin=origin).status == 403
    assert jumping.listed()["links"] == []


def test_a_cookie_and_its_end(jumping, fault):
    browser = jumping.sign_in()
    assert browser.setting.startswith(f"portcullis-{jumping.port}=")
    for part in ["HttpOnly", "SameSite=Strict", "Path=/", "Max-Age=43200"]:
        assert part in browser.setting.split("; ")
    assert "Secure" not in browser.setting and "Domain" not in browser.setting
    assert not browser.get().is_signed_out
    # Half an hour without use.
    fault.jump(29 * 60)
    assert not browser.get().is_signed_out
    fault.jump(31 * 60)
    assert browser.get().is_signed_out
    # Twelve hours with it.
    browser = jumping.sign_in()
    for _ in range(25):
        assert not browser.get().is_signed_out
        fault.jump(28 * 60)
    assert not browser.get().is_signed_out
    fault.jump(20 * 60 - 1)
    assert not browser.get().is_signed_out
    fault.jump(2)
    assert browser.get().is_signed_out
    assert jumping.listed()["sessions"] == []


def test_signing_out(console):
    browser, other = console.sign_in(), console.sign_in()
    assert browser.send("/sign-out", other.form_token).status == 403
    assert not browser.get().is_signed_out
    out = browser.send("/sign-out", browser.form_token)
    assert out.status == 303 and "Max-Age=0" in out.fields["Set-Cookie"], out
    assert browser.get().is_signed_out and not other.get().is_signed_out
    assert console.get(out.fields["Location"]).status == 200


def test_a_restart_signs_everybody_out(console):
    browser, token = console.sign_in(), console.token("ci")
    console.gate.stop()
    console.gate.start()
    assert browser.get().is_signed_out
    assert console.get("/api/nothing", Authorization=f"Bearer {token}").status == 404


def test_what_is_listed(console):
    console.sign_in()
    link, token = console.link(), console.token("grafana", "read")
    listed = console.listed()
    (session,) = listed["sessions"]
    assert session["user"] == listed["links"][0]["user"] and session["session"] == 1
    assert 0 < listed["links"][0]["secondsLeft"] <= 60
    assert [(row["name"], row["scopes"], row["expired"]) for row in listed["tokens"]] == [("grafana", ["read"], False)]
    text = console.gate.command("admin", "list").stdout
    assert len(text.splitlines()) == 3 and "grafana" in text
    for secret in [link.rpartition("/")[2], token, token.rpartition("_")[2]]:
        assert secret not in text + json.dumps(listed) + console.gate.log_text()


def test_what_is_revoked_ends_at_once(console):
    first, second, token = console.sign_in(), console.sign_in(), console.token("ci")
    link, user = console.link(), console.listed()["links"][0]["user"]
    numbers = [session["session"] for session in console.listed()["sessions"]]
    revoke = ["admin", "revoke"]
    assert console.gate.command(*revoke, "--session", str(numbers[0])).returncode == 0
    assert first.get().is_signed_out and not second.get().is_signed_out
    done = console.gate.command(*revoke, user)
    assert done.returncode == 0 and done.stdout == "revoked: tokens 0, sessions 1, links 1\n"
    assert second.get().is_signed_out and console.get(link).status == 403
    bearer = {"Authorization": f"Bearer {token}"}
    assert console.get("/api/nothing", **bearer).status == 404
    done = console.gate.command(*revoke, "ci", "--json")
    assert json.loads(done.stdout) == {"links": 0, "sessions": 0, "tokens": 1}
    assert console.get("/api/nothing", **bearer).status == 401
    for nothing in [["ci"], ["--session", "99"]]:
        assert console.gate.command(*revoke, *nothing).returncode == DATA_ERROR
    for wrong in [[], ["ci", "--all"], ["--session", "1", "--all"]]:
        assert console.gate.command(*revoke, *wrong).returncode == USAGE
    assert console.gate.command(*revoke, "--all").returncode == 0


def test_addresses_are_printed_as_they_are_reached(console):
    done = console.gate.command("admin", "link")
    assert done.stdout.startswith(f"http://{console.authority}/sign-in/") and not done.stderr
    assert done.stdout.count("\n") == 1
    done = console.gate.command("admin", "link", "--at", "https://console.example.org/", "--json")
    shown = json.loads(done.stdout)
    assert shown["address"].startswith("https://console.example.org/sign-in/") and shown["seconds"] == 60
    for wrong in ["console.example.org", "ftp://x", "http://", "http://x/y", "http://x\ny", "http://a@b"]:
        assert console.gate.command("admin", "link", "--at", wrong).returncode == USAGE, wrong


def test_by_a_socket(gates, backend, folder):
    gate = gates(backend, ADMIN_LISTEN=f"unix:{folder / 'admin.sock'}")
    done = gate.command("admin", "link")
    assert done.returncode == 0 and done.stdout.startswith("http://localhost/sign-in/"), done
    path = done.stdout.strip().removeprefix("http://localhost")
    with socket.socket(socket.AF_UNIX) as peer:
        peer.settimeout(patience(60))
        peer.connect(str(folder / "admin.sock"))
        peer.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        assert answer_on(peer).status == 200


def test_the_log_says_who(console):
    console.sign_in()
    console.token("ci")
    console.gate.command("admin", "revoke", "--all")
    made = console.gate.event(event="admin_link_made")
    assert console.gate.event(event="admin_signed_in", actor=made["actor"])
    assert console.gate.event(event="admin_token_made", actor=made["actor"], token="ci")
    assert console.gate.event(event="admin_revoked", actor=made["actor"])


def test_the_audit_says_who(gates, backend, folder):
    devices = {"DEVICES_PATH": folder / "devices.db", "PUBLIC_URL": "https://mud.example"}
    console = Console(gates(backend, **admin_settings(folder), **devices))
    console.sign_in()
    token = console.token("ci")
    assert console.gate.command("admin", "revoke", "ci").returncode == 0
    actor = console.gate.event(event="admin_link_made")["actor"]

    def rows():
        rows = json.loads(console.gate.command("audit", "list", "--json").stdout)
        return [row for row in rows if row["event"].startswith("admin_")]

    eventually(lambda: len(rows()) == 3, "the audit has all that was done")
    signed, made, revoked = rows()
    assert [row["actor"] for row in (signed, made, revoked)] == [actor] * 3
    assert signed["event"] == "admin_signed_in" and signed["session"] >= 1 and signed["uid"] == os.getuid()
    assert made["event"] == "admin_token_made" and made["token"] == "ci"
    assert revoked["event"] == "admin_revoked" and (revoked["tokens"], revoked["sessions"]) == (1, 0)
    assert token not in json.dumps(rows()) and token.removeprefix("portcullis_") not in json.dumps(rows())
    assert json.loads(console.gate.command("audit", "verify", "--json").stdout)["valid"] is True


def test_without_a_console(gates, backend):
    gate = gates(backend)
    for arguments in [["link"], ["list"], ["token", "--name", "x", "--scopes", "read"], ["revoke", "--all"]]:
        done = gate.command("admin", *arguments)
        assert done.returncode == CONFIGURATION and "ADMIN_LISTEN" in done.stderr, (arguments, done)


# ---- users of the host


@pytest.fixture
def place():
    """A folder that everybody may enter."""
    made = pathlib.Path(tempfile.mkdtemp(prefix="operators-", dir="/tmp"))
    made.chmod(0o711)
    yield made
    shutil.rmtree(made)


@root
def test_operators_get_links_and_nothing_else(gates, backend, folder, place):
    gate = gates(
        backend, CONTROL_SOCKET=place / "control.sock", ADMIN_OPERATORS=str(ALICE), SOCKET_GROUP=str(GROUP),
        **admin_settings(folder),
    )  # fmt: skip
    control = gate.environment["CONTROL_SOCKET"]
    status = os.stat(control)
    assert stat.S_IMODE(status.st_mode) == 0o660 and status.st_gid == GROUP
    made = ask_as(ALICE, GROUP, control, {"command": "admin-link"})["result"]
    assert made["user"] == f"uid-{ALICE}"
    console = Console(gate)
    assert console.get(made["path"]).status == 200
    for request in [
        {"command": "health"}, {"command": "sessions-list"}, {"command": "drain"}, {"command": "admin-list"},
        {"command": "admin-token", "name": "x", "scopes": ["write"], "seconds": 60},
        {"command": "admin-revoke", "all": True}, {"command": "keys-prune", "unusedSeconds": 0},
    ]:  # fmt: skip
        assert ask_as(ALICE, GROUP, control, request)["error"]["code"] == "not_permitted", request
    # In the group, and no operator; and nobody who looks like everybody.
    for user in [MALLORY, 65_534]:
        assert ask_as(user, GROUP, control, {"command": "admin-link"})["error"]["code"] == "not_permitted"
    assert ask_as(MALLORY, MALLORY, control, {"command": "admin-link"}) is None


@root
def test_who_is_taken_out_is_out_with_the_reload(gates, backend, folder, place):
    settings = folder / "portcullis.env"
    settings.write_text(f"ADMIN_OPERATORS={ALICE}\n")
    gate = gates(
        backend, start=False, CONTROL_SOCKET=place / "control.sock", SOCKET_GROUP=str(GROUP),
        **admin_settings(folder),
    )  # fmt: skip
    gate.start("--config", str(settings))
    console = Console(gate)
    control = gate.environment["CONTROL_SOCKET"]
    link = ask_as(ALICE, GROUP, control, {"command": "admin-link"})["result"]["path"]
    assert console.get(link).status == 200
    settings.write_text(f"ADMIN_OPERATORS={MALLORY}\n")
    gate.signal(1)
    gate.event(event="reloaded")
    assert console.get(link).status == 403
    assert ask_as(ALICE, GROUP, control, {"command": "admin-link"})["error"]["code"] == "not_permitted"
    assert ask_as(MALLORY, GROUP, control, {"command": "admin-link"})["result"]["user"] == f"uid-{MALLORY}"


def test_operators_that_are_none(gates, backend, folder):
    done = gates(backend, start=False, ADMIN_OPERATORS="nobody-of-this-name", **admin_settings(folder)).command("serve")
    assert done.returncode == CONFIGURATION and "ADMIN_OPERATORS" in done.stderr
