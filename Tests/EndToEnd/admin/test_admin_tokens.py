"""Tokens of programs: scopes, times, the file that they are kept in, and a disk that fails."""

import errno
import json
import os
import stat

import pytest

from admin_clients import Console, admin_settings, answer_on, raw

DATA_ERROR, USAGE, IO_ERROR, CONFIGURATION = 65, 64, 74, 78


@pytest.fixture
def console(gates, backend, folder):
    return Console(gates(backend, **admin_settings(folder)))


def bearer(token):
    return {"Authorization": f"Bearer {token}"}


def file_of(console):
    return console.gate.store_path.parent / "admin-tokens.json"


@pytest.mark.parametrize(("scopes", "expected"), [("metrics", (200, 403, 403)), ("read", (200, 404, 403)), ("write", (200, 404, 404))])
def test_scopes_of_tokens(gates, backend, folder, scopes, expected):
    """What is let in finds that there is no such page."""
    console = Console(gates(backend, **admin_settings(folder), ADMIN_METRICS_TOKEN="true"))
    token = bearer(console.token("ci", scopes))
    found = (
        console.get("/metrics", **token).status,
        console.get("/api/nothing", **token).status,
        console.post("/nothing", **token).status,
    )
    assert found == expected
    assert console.get("/metrics").status == 401


def test_a_bearer_counts_alone(console):
    browser, token = console.sign_in(), console.token("ci")
    form_token = browser.form_token
    assert browser.send("/nothing", form_token).status == 404
    assert browser.send("/nothing", form_token, **bearer(token)).status == 403
    for bad in ["x", "portcullis_" + "A" * 43, token + "A", token[:-1], "", token + " " + token]:
        assert browser.get("/", Authorization=f"Bearer {bad}").status == 401, bad
    # Another scheme is a proxy's, and none of ours.
    assert not browser.get("/", Authorization="Basic eDp5").is_signed_out
    # It needs no form's token and no origin.
    write = console.token("deploy", "write")
    assert console.post("/nothing", **bearer(write)).status == 404
    assert console.post("/nothing", **bearer(write), Origin="https://evil.example").status == 404


def test_a_token_that_has_ended(gates, backend, folder, fault):
    console = Console(gates(backend, **admin_settings(folder), **fault.environment))
    token = console.token("ci", expires="1d")
    assert console.get("/api/nothing", **bearer(token)).status == 404
    fault.jump(86_401)
    answer = console.get("/api/nothing", **bearer(token))
    assert answer.status == 401 and answer.fields["WWW-Authenticate"].startswith("Bearer")
    assert console.listed()["tokens"][0]["expired"] is True


def test_one_that_is_revoked_in_the_middle_of_a_request(gates, backend, folder, fault):
    """Its head has come, its form has not."""
    fault.stand_still()  # so that neither comes too late
    console = Console(gates(backend, **admin_settings(folder), **fault.environment))
    token = console.token("ci", "write")
    lines = ["POST /nothing HTTP/1.1", f"Host: {console.authority}", f"Authorization: Bearer {token}"]
    with raw(console, *lines, "Content-Type: application/x-www-form-urlencoded", "Content-Length: 3", body=b"a=") as peer:
        assert console.gate.command("admin", "revoke", "ci").returncode == 0
        peer.sendall(b"b")
        assert answer_on(peer).status == 401
    # And on a connection that is kept.
    token = console.token("ci")
    connection = console.connection()
    connection.request("GET", "/api/nothing", headers=bearer(token))
    answer = connection.getresponse()
    answer.read()
    assert answer.status == 404
    assert console.gate.command("admin", "revoke", "ci").returncode == 0
    connection.request("GET", "/api/nothing", headers=bearer(token))
    assert connection.getresponse().status == 401
    connection.close()


@pytest.mark.parametrize("running", [True, False])
def test_names_that_are_none(gates, backend, folder, running):
    gate = gates(backend, start=running, **admin_settings(folder))
    for name in ["", "a b", "-x", ".x", "a/b", "a\nb", "a\r\nSet-Cookie: x=y", "\u202ex", "é", "a" * 65]:
        done = gate.command("admin", "token", f"--name={name}", "--scopes", "read")
        assert done.returncode == USAGE and not done.stdout, (name, done)
    for arguments in [["--expires", "0s"], ["--expires", "367d"], ["--scopes", "admin"], ["--scopes", "read,"]]:
        options = {"--name": "x", "--scopes": "read", "--expires": "1d"} | dict([arguments])
        done = gate.command("admin", "token", *[word for pair in options.items() for word in pair])
        assert done.returncode == USAGE and not done.stdout, (arguments, done)
    # An operator's own.
    assert gate.command("admin", "token", "--name", "root", "--scopes", "read").returncode == DATA_ERROR
    assert gate.command("admin", "token", "--name", "ci", "--scopes", "read").returncode == 0
    assert gate.command("admin", "token", "--name", "ci", "--scopes", "read").returncode == DATA_ERROR


def test_the_file_of_tokens(console):
    token = console.token("ci", "read,metrics", "30d")
    path = file_of(console)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    text = path.read_text()
    document = json.loads(text)
    assert token not in text and token.rpartition("_")[2] not in text
    (entry,) = document["tokens"]
    assert set(entry) == {"name", "sha256", "scopes", "createdAt", "expiresAt"}
    # What another has written into it while the gate runs does not count.
    path.write_text(text.replace('"metrics","read"', '"write"'))
    assert console.post("/nothing", **bearer(token)).status == 403
    console.gate.stop()
    for damaged in [text[:-5], text.replace('"scopes"', '"more":1,"scopes"'), text.replace('"read"', '"root"'), "[]", ""]:
        path.write_text(damaged)
        done = console.gate.command("serve")
        assert done.returncode == CONFIGURATION and "ADMIN_TOKENS_PATH" in done.stderr, damaged
        done = console.gate.command("admin", "list")
        assert done.returncode == CONFIGURATION and "ADMIN_TOKENS_PATH" in done.stderr, damaged
    path.write_text(text)
    path.chmod(0o666)
    done = console.gate.command("serve")
    assert done.returncode == CONFIGURATION and "ADMIN_TOKENS_PATH" in done.stderr
    path.chmod(0o600)
    console.gate.start()
    assert console.get("/api/nothing", **bearer(token)).status == 404


def test_by_hand_while_no_gate_runs(console):
    kept = console.token("kept")
    console.gate.stop()
    made = console.token("made", "write")
    assert [row["name"] for row in console.listed()["tokens"]] == ["kept", "made"]
    assert console.gate.command("admin", "revoke", "kept").returncode == 0
    assert console.gate.command("admin", "revoke", "kept").returncode == DATA_ERROR
    assert console.gate.command("admin", "link").returncode == 69
    console.gate.start()
    assert console.get("/api/nothing", **bearer(kept)).status == 401
    assert console.post("/nothing", **bearer(made)).status == 404


def test_a_disk_that_takes_nothing(gates, backend, folder, shim):
    import faults

    fault = faults.Faults(shim, folder / "shim-control", path_part="admin-tokens")
    console = Console(gates(backend, **admin_settings(folder), **fault.environment))
    token = console.token("ci")
    fault.fail_call(1, errno.ENOSPC, sticky=True)
    done = console.gate.command("admin", "token", "--name", "other", "--scopes", "read")
    assert done.returncode == IO_ERROR and not done.stdout, done
    done = console.gate.command("admin", "revoke", "ci")
    assert done.returncode == IO_ERROR and "restart" in done.stderr, done
    # It opens nothing all the same.
    assert console.get("/api/nothing", **bearer(token)).status == 401
    assert console.gate.event(event="admin_tokens_not_written")
    fault.heal()
    assert [row["name"] for row in console.listed()["tokens"]] == []
    assert "ci" in file_of(console).read_text()
    # The next change writes what holds.
    console.token("next")
    assert "\"ci\"" not in file_of(console).read_text()
    assert not list(folder.glob("admin-tokens.json.*"))
    assert os.path.exists(file_of(console))


def test_what_check_says(console, folder):
    console.token("soon", expires="3d")
    console.token("late", expires="300d")
    done = console.gate.command("check")
    assert "2 tokens" in done.stdout and "the token soon ends" in done.stdout, done.stdout
    assert "the token late" not in done.stdout
    file_of(console).write_text("{}")
    done = console.gate.command("check")
    assert done.returncode == CONFIGURATION and "ADMIN_TOKENS_PATH" in done.stdout + done.stderr
    done = console.gate.command("check", ADMIN_OPERATORS="nobody-of-this-name")
    assert done.returncode == CONFIGURATION and "nobody-of-this-name" in done.stdout + done.stderr
