"""The browser that judges the console: each of its judges finds what is wrong on a page that is wrong on purpose."""

import http.server
import threading

import pytest

import browser
from browser import Keyboard, Mouse

PAGE = """<!doctype html><title>A page</title><body><h1>{title}</h1>
<a href="/other">Elsewhere</a>
<form method="post"><label>Name <input name="name"></label>
<label>Kind <select name="kind"><option>one</option><option>two</option></select></label>
<button>Send</button></form>{more}<p id="told"></p><script>document.getElementById('told').textContent = 'told'</script>"""
WRONG = """<p style="color:#ccc;background:#fff">Pale</p><div style="width:2000px">Wide</div>
<img alt="" src="data:," onerror="document.title = 'run'"><button style="outline:none">Ringless</button>"""


class Pages(http.server.BaseHTTPRequestHandler):
    """`/wrong` is what its name says, under a rule that forbids what it does."""

    def do_GET(self):
        more = WRONG if self.path == "/wrong" else ""
        body = PAGE.format(title=self.path, more=more).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        if more:
            self.send_header("Content-Security-Policy", "script-src 'none'")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_GET

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def site():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_what_is_wrong_is_found(window, site):
    window.open(f"{site}/wrong")
    assert any("Content Security Policy" in text for text in window.complaints())
    assert any("Wide" in text for text in window.sideways())
    window.open(f"{site}/right")
    assert not window.complaints() and not window.sideways()


@pytest.mark.skipif(not browser.AXE.exists(), reason="axe-core is not installed: make axe")
def test_axe_finds_what_is_wrong(window, site):
    window.open(f"{site}/wrong")
    rules = {text.split(":")[0] for text in window.violations()}
    assert {"color-contrast", "html-has-lang"} <= rules


@pytest.mark.parametrize("hands", [Mouse, Keyboard])
def test_hands_do_what_a_page_is_for(window, site, hands):
    operator = hands(window)
    window.open(site)
    operator.fill("Name", "first")
    operator.fill("Name", "second")
    operator.fill("Kind", "two")
    values = "return [...document.querySelectorAll('input, select')].map(e => e.value)"
    assert window.run(values) == ["second", "two"]
    operator.press("Send")
    operator.follow("Elsewhere")
    assert window.heading == "/other"


def test_a_focus_that_is_not_seen_is_found(window, site):
    window.open(f"{site}/wrong")
    with pytest.raises(AssertionError, match="no ring around BUTTON Ringless"):
        Keyboard(window).go("button", "Ringless")
    with pytest.raises(AssertionError, match="no button 'Levitate'"):
        Keyboard(window).go("button", "Levitate")


def test_a_reader_who_has_no_script_and_one_who_looks_elsewhere(window, site):
    with window.without_script():
        window.open(site)
        assert window.one("#told").text == ""
    window.open(site)
    assert window.one("#told").text == "told"
    window.run("document.addEventListener('visibilitychange', () => document.title += document.visibilityState)")
    with window.hidden():
        pass
    assert "hidden" in window.driver.title


def test_screens_are_as_wide_and_as_dark_as_they_are_told(window, site):
    for width, scheme in ((320, "dark"), (1280, "light")):
        window.screen(width, scheme)
        seen = "return [innerWidth, matchMedia('(prefers-color-scheme: dark)').matches]"
        assert window.run(seen) == [width, scheme == "dark"]
