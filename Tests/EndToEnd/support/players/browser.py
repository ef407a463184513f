"""An operator's eyes and hands: Debian's Chromium by Selenium, and axe-core as a judge of what it shows."""

import base64
import contextlib
import os
import pathlib
import shutil
import tempfile

try:
    from selenium import webdriver
    from selenium.common.exceptions import StaleElementReferenceException
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
except ImportError:
    webdriver = None

from gate import ROOT
from waiting import eventually, patience

CHROMIUM, DRIVER = "/usr/bin/chromium", "/usr/bin/chromedriver"
AXE = pathlib.Path(os.environ.get("PORTCULLIS_AXE", ROOT / ".build-conformance" / "axe")) / "axe.min.js"
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
# A phone, and a desk; the first is what WCAG 2.2, 1.4.10 asks for.
WIDTHS = {320: 640, 1280: 800}
SCHEMES = ("light", "dark")
# Nothing but what a test serves is asked for anything.
SWITCHES = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--lang=en-US",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
]
CONTROLS = {
    "link": "a[href]",
    "button": "button, input[type=submit], summary",
    "field": "input:not([type=hidden]):not([type=submit]), textarea, select",
}
# Of the element that has the focus: is it seen, and that it has it?
FOCUS = """
const e = document.activeElement, s = getComputedStyle(e), r = e.getBoundingClientRect();
const ring = (s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) >= 1) || s.boxShadow !== 'none';
const x = Math.min(Math.max(r.left + r.width / 2, 0), innerWidth - 1);
const y = Math.min(Math.max(r.top + r.height / 2, 0), innerHeight - 1);
const there = r.width > 0 && r.height > 0 && r.bottom > 0 && r.top < innerHeight && r.right > 0 && r.left < innerWidth;
const top = there ? document.elementFromPoint(x, y) : null;
return [e.tagName + ' ' + (e.id || e.name || e.textContent.trim().slice(0, 40)), ring, there,
        !!top && (e.contains(top) || top.contains(e)), e];
"""
# Those of these elements that may be called so: what a name is made of has it somewhere.
CALLED = """
const has = text => (text || '').replace(/\\s+/g, ' ').trim() === arguments[1];
return [...document.querySelectorAll(arguments[0])].filter(e => has(e.textContent) || has(e.value) || has(e.title)
  || has(e.getAttribute('aria-label')) || [...(e.labels || [])].some(label => label.textContent.trim().startsWith(arguments[1]))
  || e.getAttribute('aria-labelledby'));
"""
# What stands out to the right, or has to be scrolled sideways in a place of its own.
SIDEWAYS = """
const wide = document.documentElement.clientWidth, out = [];
if (document.documentElement.scrollWidth > wide) out.push('the page: ' + document.documentElement.scrollWidth);
for (const e of document.body.querySelectorAll('*')) {
  const s = getComputedStyle(e);
  // The menu is one row that moves.
  if (e.closest('.menu')) continue;
  if (/auto|scroll/.test(s.overflowX) && e.scrollWidth > e.clientWidth + 1) out.push('scrolls: ' + e.outerHTML.slice(0, 90));
  const r = e.getBoundingClientRect();
  if (s.position !== 'absolute' && r.width > 1 && r.height > 1 && r.right > wide + 1) out.push(r.right + ' ' + e.outerHTML.slice(0, 90));
}
return out.slice(0, 8);
"""
# Words of the program's own that are cut in two by the end of a line.
BROKEN = """
const out = [], walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
for (let node = walk.nextNode(); node; node = walk.nextNode()) {
  if (!node.parentElement.checkVisibility() || node.parentElement.closest('details, dd code, .command')) continue;
  for (const {0: word, index} of node.data.matchAll(/[A-Za-z_]{3,30}|[0-9a-f][0-9a-f.:]{6,38}/g)) {
    if (/[^\\s(“]/.test(node.data[index - 1] ?? ' ') || /[^\\s.,:;)…”]/.test(node.data[index + word.length] ?? ' ')) continue;
    const range = document.createRange();
    range.setStart(node, index);
    range.setEnd(node, index + word.length);
    if (new Set([...range.getClientRects()].map(box => Math.round(box.top))).size > 1) out.push(word);
  }
}
return out.slice(0, 8);
"""
AXE_RUN = """
const [tags, done] = [arguments[0], arguments[1]];
axe.run(document, {runOnly: {type: 'tag', values: tags}, rules: {'target-size': {enabled: true}},
                   resultTypes: ['violations']})
  .then(found => done(found.violations.flatMap(rule => rule.nodes.map(node =>
    rule.id + ': ' + node.target.join(' ') + ': ' + node.html.slice(0, 160) + ' | ' + node.failureSummary))))
  .catch(error => done(['axe itself: ' + error]));
"""


def missing():
    """Why there is no browser here, or None."""
    if webdriver is None:
        return "Selenium is not installed: make test-packages"
    absent = [path for path in (CHROMIUM, DRIVER) if not os.path.exists(path)]
    return f"{absent[0]} is not there: make test-packages" if absent else None


class Browser:
    """One Chromium, its own profile, one window."""

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="browser-"))
        options = webdriver.ChromeOptions()
        options.binary_location = CHROMIUM
        for switch in [*SWITCHES, f"--user-data-dir={self.folder / 'profile'}"]:
            options.add_argument(switch)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(service=Service(DRIVER), options=options)
        self.driver.set_page_load_timeout(patience(60))
        self.driver.set_script_timeout(patience(60))
        self.command(
            "Browser.setDownloadBehavior", behavior="allow", downloadPath=str(self.downloads), eventsEnabled=False
        )
        self.command("Emulation.setTimezoneOverride", timezoneId="Europe/Berlin")

    def begin(self):
        """Forgets who it was, and what it has seen."""
        self.driver.get("about:blank")
        self.command("Network.clearBrowserCookies")
        self.screen()
        self.complaints()

    def stop(self):
        self.driver.quit()
        shutil.rmtree(self.folder, ignore_errors=True)

    def command(self, name, **parameters):
        return self.driver.execute_cdp_cmd(name, parameters)

    # ---- what it is

    @property
    def downloads(self):
        folder = self.folder / "downloads"
        folder.mkdir(exist_ok=True)
        return folder

    def screen(self, width=1280, scheme="light"):
        self.command(
            "Emulation.setDeviceMetricsOverride", width=width, height=WIDTHS[width], deviceScaleFactor=1, mobile=False
        )
        self.command("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    @contextlib.contextmanager
    def without_script(self):
        """As if the reader had switched it off: what a page brings along is not run; the driver's own still is."""
        self.command("Emulation.setScriptExecutionDisabled", value=True)
        try:
            yield
        finally:
            self.command("Emulation.setScriptExecutionDisabled", value=False)

    @contextlib.contextmanager
    def hidden(self):
        """Another tab is in front meanwhile; nothing can be asked of this one."""
        tab = self.driver.current_window_handle
        self.driver.switch_to.new_window("tab")
        try:
            yield
        finally:
            self.driver.close()
            self.driver.switch_to.window(tab)

    # ---- where it is

    def open(self, address):
        self.driver.get(address)

    @property
    def address(self):
        return self.driver.current_url

    @property
    def heading(self):
        return self.one("h1").text

    @property
    def text(self):
        return self.one("body").text

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def one(self, selector):
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def every(self, selector):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    @contextlib.contextmanager
    def next_page(self):
        """What is done inside leads to another document, which has been loaded whole on the way out."""
        before = self.run("return performance.timeOrigin")
        yield
        eventually(
            lambda: self.run("return performance.timeOrigin !== arguments[0] && document.readyState === 'complete'", before),
            f"another page than {self.address}",
        )

    def control(self, role, name):
        """The control that is called so, as a screen reader has its name."""
        for element in self.run(CALLED, CONTROLS[role], name):
            with contextlib.suppress(StaleElementReferenceException):
                if element.is_displayed() and element.accessible_name.strip() == name:
                    return element
        names = [element.accessible_name for element in self.every(CONTROLS[role])[:60]]
        raise AssertionError(f"no {role} {name!r} on {self.address}, but {names}")

    def is_control(self, element, role):
        return self.run("return arguments[0].matches(arguments[1])", element, CONTROLS[role])

    # ---- judges

    def complaints(self):
        """What the browser has found wrong since it was asked last: errors, refused content, broken answers."""
        return [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] != "INFO"]

    def violations(self):
        """What axe-core finds, one line for each element."""
        if not self.run("return !!window.axe"):
            self.run(AXE.read_text() + ";window.axe = axe;")
        return self.driver.execute_async_script(AXE_RUN, TAGS)

    def sideways(self):
        return self.run(SIDEWAYS)

    def broken_words(self):
        return self.run(BROKEN)

    def picture(self, path):
        """The whole page, however long."""
        shot = self.command("Page.captureScreenshot", format="png", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(shot["data"]))


class Hands:
    """They touch and fill what has a name; what leads to another page is followed or pressed."""

    def __init__(self, browser):
        self.browser = browser

    def follow(self, name):
        with self.browser.next_page():
            self.touch("link", name)

    def press(self, name):
        with self.browser.next_page():
            self.touch("button", name)


class Mouse(Hands):
    """Hands on a mouse."""

    def touch(self, role, name):
        """For what leads nowhere else."""

        def is_touched():
            # Lists are written anew while they are looked at.
            with contextlib.suppress(StaleElementReferenceException):
                self.browser.control(role, name).click()
                return True

        eventually(is_touched, f"the {role} {name!r} to hold still")

    def fill(self, name, text):
        field = self.browser.control("field", name)
        if field.tag_name == "select":
            return field.send_keys(text)
        field.clear()
        field.send_keys(text)


class Keyboard(Hands):
    """Hands on a keyboard, and eyes that want to see where they are."""

    STOPS = 400

    def touch(self, role, name):
        self.go(role, name)
        self.type(Keys.ENTER)

    def fill(self, name, text):
        if self.go("field", name).tag_name != "select":
            keys = webdriver.ActionChains(self.browser.driver)
            keys.key_down(Keys.CONTROL).send_keys("a").key_up(Keys.CONTROL).send_keys(Keys.DELETE).perform()
        self.type(text)

    def type(self, keys):
        """To whatever has the focus."""
        webdriver.ActionChains(self.browser.driver).send_keys(keys).perform()

    def go(self, role, name):
        """By Tab alone, and never without seeing where. A list may be written anew meanwhile."""
        self.browser.control(role, name)
        for _ in range(self.STOPS):
            self.type(Keys.TAB)
            element = self.focused()
            with contextlib.suppress(StaleElementReferenceException):
                if element and element.accessible_name.strip() == name and self.browser.is_control(element, role):
                    return element
        raise AssertionError(f"Tab does not lead to the {role} {name!r} on {self.browser.address}")

    def focused(self):
        """What has the focus, and shows it; None around the window's own controls, which come behind the page's."""
        what, ring, there, uncovered, element = self.browser.run(FOCUS)
        if what.startswith("BODY"):
            return None
        assert ring, f"no ring around {what} on {self.browser.address}"
        assert there and uncovered, f"{what} has the focus out of sight on {self.browser.address}"
        return element
