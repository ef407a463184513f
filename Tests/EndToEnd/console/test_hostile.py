"""Whatever a peer calls itself stands in the console as text: nothing of it is markup, runs, loads, or turns a line around."""

import pytest
from consoles import Reader
from test_looks import PAGES
from town import Words
from waiting import eventually

pytestmark = pytest.mark.quick

# Short enough for every field; each says whose it is, so that what is missing can be told.
ATTACKS = {
    "element": "<b id=hostile>{}</b>",
    "image": '<img src=x onerror="hostile()">{}',
    "attribute": "{}\" onfocus=hostile() autofocus x='",
    "script": "</script><script>hostile()</script>{}",
    "comment": "--><!--{}]]>&amp;&lt;",
    "address": "javascript:hostile()//{}",
}
@pytest.fixture(scope="module")
def town(build_town):
    wild = "{}" + "".join(attack.format("") for attack in ATTACKS.values())
    return build_town(
        Words(
            phone=ATTACKS["image"],
            text=wild,
            target=ATTACKS["element"].format("gandalf"),
            requester=ATTACKS["attribute"].format("saruman"),
            requester_name=ATTACKS["script"].format("Saruman"),
            client=ATTACKS["script"].format("Lantern"),
            certificate=ATTACKS["image"].format("dev"),
        )
    )


TRACES = """
return [document.querySelectorAll('#hostile, [onerror], [onfocus], [autofocus], main img, main script, main b').length,
        typeof window.hostile,
        [...document.querySelectorAll('[href], [src], [action]')].map(e => e.getAttribute('href') || e.getAttribute('src') ||
          e.getAttribute('action')).filter(a => !/^[/#]/.test(a) || a.startsWith('//'))];
"""


def test_nothing_of_it_is_markup(window, town):
    town.console.sign_in(window)
    window.complaints()
    seen = ""
    for name, path in PAGES.items():
        town.console.open(window, path(town))
        assert window.run(TRACES) == [0, "undefined", []], name
        seen += window.run("return document.body.textContent")
        if name != "not-found":
            assert not window.complaints(), name
    words = town.words
    for text in (words.phone_of("Anna"), words.target, words.requester, words.requester_name, words.certificate):
        # In a certificate's subject what is special there is marked (RFC 4514 §2.4).
        assert text in seen.replace("\\", ""), text


def test_nor_when_the_page_writes_it_itself(window, town):
    """As the script does with what has changed."""
    town.console.sign_in(window)
    for path in ("/sessions", "/approvals", "/refusals"):
        town.console.open(window, path)
        window.run("document.querySelectorAll('tbody').forEach(body => body.replaceChildren())")
        eventually(lambda: window.every("tbody tr"), f"the script fills {path}")
        assert window.run(TRACES) == [0, "undefined", []], path
        assert not window.complaints(), path


def test_nor_as_json(town):
    """What is not HTML is not taken for it, whatever is in it."""
    reader = Reader(town.console)
    for path in ("/api/sessions", "/api/approvals", "/api/devices", "/api/audit"):
        status, fields, _ = reader.ask(path)
        assert status == 200 and fields["Content-Type"].startswith("application/json")
        assert fields["X-Content-Type-Options"] == "nosniff"


def test_an_address_that_is_hostile_leads_nowhere(window, town):
    """A link that somebody sends to the operator."""
    town.console.sign_in(window)
    for path in (
        "/sessions?text=<script>hostile()</script>&state=%22%3E%3Cb%20id%3Dhostile%3E",
        "/keys?text=%22%20autofocus%20onfocus=hostile()%20x=%22&since=<b>",
        "/devices/%3Cb%20id=hostile%3E",
        "/audit?about=</textarea><img src=x onerror=hostile()>&event=<b>&day=<b>",
        "/refusals?code=<b>&step=--><img src=x onerror=hostile()>",
        "/?done=<b id=hostile>",
        "/sessions?done=session-ended%3Cb%3E",
        "//127.0.0.1/<b>",
    ):
        town.console.open(window, path)
        assert window.run(TRACES) == [0, "undefined", []], path
        assert not [text for text in window.complaints() if "40" not in text], path
