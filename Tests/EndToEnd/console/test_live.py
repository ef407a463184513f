"""A page that is looked at stays up to date, and asks for nothing when nobody looks."""

import itertools

import pytest
from browser import Mouse
from consoles import Reader
from waiting import eventually

# The page's questions from now on: the tag that each had, and what came of it.
LISTEN = """window.said = []; const real = window.fetch;
  window.fetch = async (url, options) => {
    const answer = await real(url, options);
    said.push([options.headers["If-None-Match"] ?? null, answer.status, answer.headers.get("ETag")]);
    return answer;
  }"""
# When the questions began that have had an answer.
ASKED = """return performance.getEntriesByType('resource')
  .filter(entry => new URL(entry.name).pathname.startsWith('/api/')).map(entry => entry.startTime)"""


@pytest.fixture
def overview(town, window):
    town.console.sign_in(window)
    window.run("performance.setResourceTimingBufferSize(10000)")
    return window


def now(window):
    return window.run("return performance.now()")


def asked(window, since=0):
    return sum(begun > since for begun in window.run(ASKED))


def asks_on(window):
    begun = now(window)
    eventually(lambda: asked(window, since=begun), "the page asks the gate again")


def is_quiet(window):
    """For more than two of its turns it asks nothing; what it has asked before may still be answered."""
    begun = now(window)
    eventually(lambda: now(window) > begun + 4500, "two turns")
    return not asked(window, since=begun)


def sessions(window):
    return len(window.every("table[data-table=sessions] tbody tr"))


def test_numbers_change_while_the_page_is_open(town, overview):
    origin = overview.run("return performance.timeOrigin")
    Mouse(overview).follow("Sessions")
    before = sessions(overview)
    assert before >= 10
    device = town.gate.app.register(town.new_device())
    town.raw(device.headers(town.gate.app.nonce()))
    eventually(lambda: sessions(overview) == before + 1, "the new session is in the list")
    assert overview.run("return performance.timeOrigin") != origin
    assert device.key_id_b64[:8] in overview.text
    assert not overview.complaints()


def test_the_focus_stays_where_it_is(town, overview):
    Mouse(overview).follow("Sessions")
    overview.run("document.querySelector('tbody a').focus()")
    where = "return document.activeElement.getAttribute('href')"
    href = overview.run(where)
    for _ in range(2):
        town.players[0].line("look")
        town.players[0].drain()
        asks_on(overview)
    assert href and overview.run(where) == href


def test_a_row_stays_itself(town, overview):
    """Whoever is about to click on a row, or has marked a part of it, does not lose it to the next answer."""
    Mouse(overview).follow("Sessions")
    overview.run("window.first = document.querySelector('tbody tr'); window.link = document.querySelector('tbody a')")
    before = sessions(overview)
    device = town.gate.app.register(town.new_device())
    town.raw(device.headers(town.gate.app.nonce()))
    eventually(lambda: sessions(overview) == before + 1, "the new session is in the list")
    assert overview.run("return first.isConnected && link.isConnected")


def test_what_has_ended_says_so(town, overview):
    device = town.gate.app.register(town.new_device())
    town.raw(device.headers(town.gate.app.nonce()))
    Mouse(overview).follow("Sessions")
    eventually(lambda: device.key_id_b64[:8] in overview.text, "the session is in the list")
    path = overview.run(
        "return [...document.querySelectorAll('tbody tr')].at(-1).querySelector('a').getAttribute('href')"
    )
    town.console.open(overview, path)
    asks_on(overview)
    town.gate.command("sessions", "close", device.key_id_b64)
    status = overview.one("[data-state] [role=status]")
    eventually(lambda: "has ended" in status.text, "the page says so")
    assert is_quiet(overview)


def test_pause_stops_it_and_says_so(overview):
    hands = Mouse(overview)
    asks_on(overview)
    hands.touch("button", "Pause")
    assert overview.one("[data-state] [role=status]").text == "Paused"
    assert is_quiet(overview)
    hands.touch("button", "Go on")
    asks_on(overview)


def test_a_page_that_nobody_sees_asks_nothing(town, overview):
    """Another page of the console is in front meanwhile, and asks."""
    asks_on(overview)
    overview.run(
        "window.turns = []; document.addEventListener('visibilitychange', () => turns.push(performance.now()))"
    )
    with overview.hidden():
        town.console.open(overview, "/sessions")
        eventually(lambda: asked(overview) >= 3, "the page in front asks", within=60)
    asks_on(overview)
    (gone, back), starts = overview.run(
        "return [turns, performance.getEntriesByType('resource').map(entry => entry.startTime)]"
    )
    assert back - gone > 4000 and not [start for start in starts if gone < start < back]


def test_what_has_not_changed_is_not_sent_again(town):
    reader = Reader(town.console)
    status, fields, body = reader.ask("/api/drain")
    assert status == 200 and fields["ETag"] and body
    status, again, body = reader.ask("/api/drain", **{"If-None-Match": fields["ETag"]})
    assert (status, body) == (304, b"")
    assert reader.ask("/api/drain", **{"If-None-Match": '"other"'})[0] == 200


def test_the_script_asks_with_the_tag_of_the_answer_before(town, overview):
    town.console.open(overview, "/drain")
    overview.run(LISTEN)
    eventually(lambda: any(status == 304 for _, status, _ in overview.run("return said")), "nothing new", within=60)
    # What has changed comes whole, and the page shows it.
    town.gate.command("drain")
    shown = "return document.querySelector('[data-live=drain]').textContent"
    eventually(lambda: overview.run(shown).startswith("Draining"), "the page shows the drain", within=60)
    town.gate.command("drain", "--off")
    said = overview.run("return said")
    assert {status for _, status, _ in said} == {200, 304}, said
    known = {said[0][0]} - {None}
    for (_, status, tag), (then_with, _, _) in itertools.pairwise(said):
        known |= {tag} if status == 200 else set()
        assert then_with in known, said


def test_times_are_those_of_the_readers_zone(town, overview):
    """Berlin's, by the browser's settings; the exact one is what pointing at it shows."""
    town.console.open(overview, town.key())
    times = overview.run("""return [...document.querySelectorAll('main time')].map(time => [
      time.dateTime, time.title, time.textContent, (Date.now() - Date.parse(time.dateTime)) / 1000])""")
    assert times
    for exact, title, text, seconds in times:
        assert title == exact and exact.endswith("Z")
        # What was today is told by how long ago it was.
        number, unit, _ = text.split()
        assert abs(int(number) * {"s": 1, "min": 60, "h": 3600}[unit] - seconds) <= {"s": 3, "min": 62, "h": 3602}[unit]
    town.console.open(overview, "/")
    ends, text = overview.run("""const time = document.querySelector('table[data-table=certificates] time');
      return [new Date(time.dateTime).toLocaleTimeString('de-DE', {timeZone: 'Europe/Berlin', hour: '2-digit',
        minute: '2-digit'}), time.textContent]""")
    assert ends in text
    assert "Hours are those of Europe/Berlin." in overview.text
    # Where something is to be found on an axis it stands by the clock.
    moments = overview.run("""return [...document.querySelectorAll('time[data-exact]')].map(time => [time.textContent,
      new Date(time.dateTime).toLocaleTimeString('de-DE', {timeZone: 'Europe/Berlin', hour: '2-digit', minute: '2-digit'})])""")
    assert len(moments) >= 2 and all(there in text for text, there in moments), moments
    (right, span), hours = overview.run("""const drawing = document.querySelector('svg[data-span]');
      return [[drawing.dataset.end, Number(drawing.dataset.span)],
        [...drawing.parentElement.querySelectorAll('.hours text')].map(text => text.textContent)]""")
    quarters = overview.run(
        """return [...Array(arguments[1])].map((_, i) => new Date(Date.parse(arguments[0]) - (arguments[1] - i) * 60000))
      .filter(time => time.getUTCMinutes() % 15 === 0).map(time => time.toLocaleTimeString('de-DE',
        {timeZone: 'Europe/Berlin', hour: '2-digit', minute: '2-digit'}))""",
        right, span,
    )  # fmt: skip
    assert span == 60 and hours and set(hours) <= set(quarters)


def test_what_waits_is_counted_while_the_page_is_open(town, overview):
    """In the menu, and on the overview with what it says."""
    shown = "return document.querySelector('[data-live=waiting-approvals]').textContent"
    Mouse(overview).follow("Sessions")
    before = int(overview.run(shown))
    name = town.ask("shutdown", "Alatar")["id"]
    eventually(lambda: overview.run(shown) == str(before + 1), "the menu has one more")
    Mouse(overview).follow("Overview")
    assert f"{before + 1} requests" in overview.one("[data-live=waits]").text
    assert town.gate.command("approvals", "cancel", name).returncode == 0
    eventually(lambda: f"{before} requests" in overview.one("[data-live=waits]").text, "the overview has one less")


def test_the_pointer_reads_a_chart(town, overview):
    drawing = overview.one("svg[data-chart=chart-players]")
    note = "return [...document.querySelector('figure.chart').querySelectorAll('.note')].map(n => [n.hidden, n.textContent])"
    overview.run(
        """const box = arguments[0].getBoundingClientRect();
      arguments[0].dispatchEvent(new PointerEvent('pointermove', {clientX: box.right - 2, clientY: box.top + 9}))""",
        drawing,
    )
    (was_hidden, _), (is_hidden, text) = overview.run(note)
    assert was_hidden and not is_hidden
    clock, players = text.split(": ")
    assert len(clock) == 5 and int(players) >= 1
    overview.run("arguments[0].dispatchEvent(new PointerEvent('pointerleave'))", drawing)
    assert [hidden for hidden, _ in overview.run(note)] == [False, True]


def test_a_gate_that_goes_away_is_told(town, overview):
    """Last: the gate is stopped and started beneath the page."""
    town.gate.stop()
    status = overview.one("[data-state] [role=status]")
    eventually(lambda: "does not answer" in status.text, "the page says so", within=60)
    town.gate.start()
    # Who was signed in is not any more, as sessions are in memory alone.
    eventually(lambda: "signed out" in status.text, "the page says so", within=60)
