"""What other sites, other ports and other names can make an operator's browser send to the console."""

import concurrent.futures
import secrets
import shutil
import subprocess

import pytest

from admin_clients import Console, admin_settings
from waiting import patience

MISDIRECTED, FORBIDDEN = 421, 403


@pytest.fixture
def console(gates, backend, folder, fault):
    fault.stand_still()  # so that no link ends before it is tried
    settings = admin_settings(folder, ADMIN_HOSTS="console.example.org")
    return Console(gates(backend, **settings, **fault.environment))


def test_a_name_that_leads_here(console):
    """DNS rebinding: the browser believes that it speaks to the attacker's own site."""
    browser = console.sign_in()
    for host in [
        "evil.example", f"evil.example:{console.port}", f"127.0.0.1.evil.example:{console.port}", "127.1",
        "2130706433", "console.example.org.evil.example",
    ]:  # fmt: skip
        for path in ["/", "/metrics", "/sign-in", "/sign-in/" + "A" * 43, "/api/overview", "/nothing"]:
            assert browser.get(path, Host=host).status == MISDIRECTED, (host, path)
        assert console.post("/sign-out", Host=host, Origin=f"http://{host}").status == MISDIRECTED
        assert console.get("/livez", Host=host).status == 200
    for host in ["localhost", f"LOCALHOST:{console.port}", "[::1]:1", "192.0.2.1", "console.example.org", "Console.Example.Org:444"]:
        assert console.get("/metrics", Host=host).status == 200, host


def attempts(console):
    ours = f"http://{console.authority}"
    return [
        {"Origin": None, "Sec_Fetch_Site": None},
        {"Origin": "https://evil.example", "Sec_Fetch_Site": "cross-site"},
        {"Origin": "https://evil.example", "Sec_Fetch_Site": None},
        {"Origin": "null", "Sec_Fetch_Site": None},
        {"Origin": "null", "Sec_Fetch_Site": "cross-site"},
        {"Origin": ours, "Sec_Fetch_Site": "cross-site"},
        {"Origin": ours, "Sec_Fetch_Site": "same-site"},
        {"Origin": None, "Sec_Fetch_Site": "same-site"},
        {"Origin": None, "Sec_Fetch_Site": "none"},
        # Another port of this host is another origin.
        {"Origin": f"http://127.0.0.1:{console.port + 1}", "Sec_Fetch_Site": None},
        {"Origin": f"{ours}.evil.example", "Sec_Fetch_Site": None},
    ]


def test_a_change_of_another_site(console):
    """Even one that knows the form's token, and has the cookie sent."""
    browser = console.sign_in()
    token = browser.form_token
    for fields in attempts(console):
        assert browser.send("/sign-out", token, **fields).status == FORBIDDEN, fields
    # Nor does a page of ours that lacks the token, or has another's.
    other = console.sign_in().form_token
    for wrong in ["", "x", other, token[:-1], token + "A"]:
        assert browser.send("/sign-out", wrong).status == FORBIDDEN, wrong
    assert not browser.get().is_signed_out
    # As Chromium sends a form under `Referrer-Policy: no-referrer`.
    assert browser.send("/sign-out", token, Origin="null").status == 303


def test_another_site_signs_nobody_in(console):
    path = console.link()
    for fields in attempts(console):
        answer = console.post(path, **fields)
        assert answer.status == FORBIDDEN and "Set-Cookie" not in answer.fields, fields
    # Trying has used nothing up.
    assert console.post(path, Origin=f"http://{console.authority}").status == 303


def test_the_same_with_curl(console):
    """Another implementation writes the requests."""
    curl = shutil.which("curl")
    if curl is None:
        pytest.skip("curl is not here")
    browser = console.sign_in()

    def status(*options):
        command = [curl, "--silent", "--output", "/dev/null", "--write-out", "%{http_code}", "--max-time", "60", *options]
        return subprocess.run(command, capture_output=True, text=True, timeout=patience(70)).stdout

    out = f"http://{console.authority}/sign-out"
    form = ["--cookie", browser.cookie, "--data", f"token={browser.form_token}"]
    assert status(*form, out) == "403"
    assert status(*form, "--header", "Origin: https://evil.example", out) == "403"
    assert status("--header", "Host: evil.example", f"http://{console.authority}/metrics") == "421"
    assert status("--resolve", f"evil.example:{console.port}:127.0.0.1", f"http://evil.example:{console.port}/") == "421"
    assert status("--oauth2-bearer", "portcullis_" + "A" * 43, f"http://{console.authority}/") == "401"
    assert status(*form, "--header", f"Origin: {browser.origin}", out) == "303"


def test_cookies_of_others(console):
    browser = console.sign_in()
    value = browser.cookie.partition("=")[2]
    for cookie in [
        f"portcullis-{console.port + 1}={value}", f"portcullis={value}", f"__Host-portcullis={value}",
        f"PORTCULLIS-{console.port}={value}", f"portcullis-{console.port}={value}A", f"portcullis-{console.port}=",
        # One of the two is not the browser's own.
        f"{browser.cookie}; portcullis-{console.port}=x", f"portcullis-{console.port}=x; {browser.cookie}",
    ]:  # fmt: skip
        assert console.get("/", Cookie=cookie).is_signed_out, cookie
    assert not console.get("/", Cookie=f"a=b; {browser.cookie}; c=d").is_signed_out


def test_guessed_links(console):
    """A thousand of them take nothing from whoever has a link of his own."""
    path = console.link()
    before = console.gate.resident_bytes()
    origin = f"http://{console.authority}"

    def guess(_):
        return console.post("/sign-in/" + secrets.token_urlsafe(32), Origin=origin).status

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert set(pool.map(guess, range(1000))) <= {FORBIDDEN, 503}
    assert console.gate.resident_bytes() - before < 8 << 20
    assert len(console.listed()["links"]) == 1
    assert console.post(path, Origin=origin).status == 303


def test_links_in_a_flood_are_bounded(console):
    paths = [console.link() for _ in range(10)]
    assert len(console.listed()["links"]) == 8
    assert [console.get(path).status for path in paths] == [403] * 2 + [200] * 8
