"""Random cuts, seeded: whatever the network does, each player's evening is whole on both sides, exactly once and in order.

Each player has a line of its own that a proxy cuts by a seed, and a game that answers, speaks unasked and sends events.
The players are an app in Python, which is written from the documents alone, and the app's package.
`make cuts CUTS=10000` runs it at length; a seed that failed is run again by CUTS_SEED, of one client by CUTS_CLIENT."""

import collections
import dataclasses
import json
import os
import random
import threading
import time

import pytest

from compression import Compression
from cutting_proxy import CuttingProxy, Plan
from deflating_player import DeflatingPlayer
from package_app import PackageApp, authority
from sessions import Lost, Refused
from telnet_game import GA, GMCP, IAC, WILL, gmcp
from waiting import eventually, patience

CUTS = int(os.environ.get("CUTS", "150"))
# These take longer: the package pauses between its attempts.
PACKAGE_CUTS = int(os.environ.get("CUTS", "60"))
SEED = int(os.environ.get("CUTS_SEED", "20261122"))
PLAYERS = int(os.environ.get("CUTS_PLAYERS", "6"))
CLIENT = os.environ.get("CUTS_CLIENT", "both")
WORDS = ["north", "say ünï", "get 🐉", "я", "look at 日本", "x" * 300, "", "tell Zoë  hello "]


THAT_IS_ALL, LAST = "that is all", "The end.\r\n"


def same_story(heard, told):
    """Says where they part, as both are long."""
    for place, (mine, theirs) in enumerate(zip(heard, told)):
        assert (
            mine == theirs
        ), f"at {place} of {len(told)} was heard {heard[place : place + 3]}, told {told[place : place + 3]}"
    assert len(heard) == len(told)


class Story:
    """What one game said to one player, in the form in which the app tells it."""

    def __init__(self):
        self.told = []

    def text(self, text):
        if self.told and self.told[-1][0] == "text":
            self.told[-1] = ("text", self.told[-1][1] + text.encode())
        else:
            self.told.append(("text", text.encode()))

    def event(self, **event):
        self.told.append(("event", event))


class Fight:
    """The game's side: each line gets an answer of a random shape, by a seed; what it said is kept."""

    def __init__(self, seed, seat):
        self.source = random.Random(seed)
        self.compression = Compression(seat, random.Random(f"{seed} compression"))
        self.story = Story()
        self.turn = 0
        self.lock = threading.Lock()

    def blow(self, seat, why):
        """One or more pieces of text and events, in order, sent in pieces of any size."""
        with self.lock:
            wire = bytearray()
            for _ in range(self.source.randrange(1, 5)):
                self.turn += 1
                kind = self.source.random()
                if kind < 0.6:
                    text = f"{self.turn}: {why} {self.source.choice(WORDS)}\r\n"
                    self.story.text(text)
                    said = text.encode()
                elif kind < 0.8:
                    text = f"{self.turn}> "
                    self.story.text(text)
                    self.story.event(type="prompt")
                    said = text.encode() + bytes([IAC, GA])
                else:
                    self.story.event(type="gmcp", package="Fight.Turn", data=self.turn)
                    said = gmcp("Fight.Turn", self.turn)
                wire += self.compression.wire(said)
            while wire:
                count = self.source.choice([1, 5, 50, 5000])
                if not seat.send(bytes(wire[:count])):
                    return
                del wire[:count]

    def end(self, seat):
        """The last words."""
        with self.lock:
            self.story.text(LAST)
            seat.send(self.compression.wire(LAST.encode()))


class Contestant(threading.Thread):
    """One player who is cut off so many times, and what they make of it."""

    def __init__(self, evening, number, cuts):
        super().__init__(daemon=True)
        self.evening, self.number, self.cuts = evening, number, cuts
        self.source = random.Random(f"{SEED} {number}")
        deflation = random.Random(f"{SEED} {number} deflation")
        self.player = evening.player(connect=False, kind=DeflatingPlayer, source=deflation)
        self.plan = None
        self.proxy = CuttingProxy(evening.gate, lambda: self.plan)
        self.player.through = self.proxy
        self.typed, self.tries, self.resumed = [], 0, 0
        self.error, self.told_by_the_gate = None, ""

    def run(self):
        try:
            self._play()
        except BaseException as error:
            self.error = error
            key = self.player.device.key_id_b64[:8]
            lines = self.evening.gate.log_text().splitlines()
            self.told_by_the_gate = "\n".join([line for line in lines if key in line][-16:])
        finally:
            self.proxy.stop()

    def _play(self):
        # The first connection is whole, so that there is a session to come back to.
        self.player.connect()
        self.player.line(self._line(f"I am {self.number}"))
        self.player.until_text("hello\r\n", within=60)
        self.seat = next(seat for seat in self.evening.game.seats if seat.lines[:1] == self.typed[:1])
        while self.tries < self.cuts:
            self.plan = Plan.drawn(self.source)
            self._try()
        # In the end a line that lives, on which all that is owed comes.
        self.plan = None
        self._connect()
        self.player.line(self._line(THAT_IS_ALL))
        eventually(lambda: self.seat.answered == len(self.typed), "an answer to each line", within=60)
        fight = self.evening.fights[self.seat]
        fight.end(self.seat)
        self.player.until(lambda: self.player.all_text.endswith(LAST.encode()), "the end", within=60)
        same_story(self.player.story(), fight.story.told)
        self.player.until_handled(within=60)

    def _line(self, text):
        self.typed.append(text)
        return text

    def _try(self):
        """One connection under a plan: played until it is cut, or for some turns and then cut by hand."""
        self.tries += 1
        try:
            self._connect()
            for _ in range(self.source.randrange(1, 12)):
                if self.source.random() < 0.7:
                    text = self._line(f"{len(self.typed)} {self.source.choice(WORDS)}")
                    self.player.line(text)
                if self.source.random() < 0.3:
                    self.evening.fights[self.seat].blow(self.seat, "unasked")
                for _ in range(self.source.randrange(0, 4)):
                    self.player.receive(0.002)
            self.player.lose(self.source.choice(["reset", "fin"]))
        except Lost:
            pass

    def _connect(self):
        deadline = time.monotonic() + patience(60)
        while True:
            try:
                session = self.player.connect()
            except Refused as refused:
                # The gate is busy with the one before; anything else is none of a player's business.
                assert refused.status in (429, 503) and time.monotonic() < deadline, refused
                continue
            except Lost:
                if self.plan is None:
                    assert time.monotonic() < deadline, "no connection"
                    continue
                raise
            assert session["resumed"] or len(self.player.sessions) == 1, f"the session is gone: {session}"
            self.resumed += session["resumed"]
            return


class PackageContestant(threading.Thread):
    """One player whose app is the package: it comes back by itself, and each of its connections is cut by a plan, those
    for challenges as well."""

    def __init__(self, evening, number, cuts, trust, authority, folder):
        super().__init__(daemon=True)
        self.evening, self.number, self.cuts = evening, number, cuts
        self.source, self.plans = random.Random(f"{SEED} {number}"), random.Random(f"{SEED} plans {number}")
        self.cutting = False
        self.proxy = CuttingProxy(evening.gate, lambda: self._plan() if self.cutting else None)
        folder.mkdir()
        self.app = PackageApp(self.proxy.port, trust, authority, folder)
        self.typed, self.error, self.told_by_the_gate = [], None, ""

    def run(self):
        try:
            self._play()
        except BaseException as error:
            self.error = error
            self.told_by_the_gate = "\n".join(self.evening.gate.log_text().splitlines()[-40:])
        finally:
            self.app.stop()
            self.proxy.stop()

    def _plan(self):
        """Half of them leave the way in alone, which has two connections here: for the challenge, and for the rest."""
        plan = Plan.drawn(self.plans)
        return dataclasses.replace(plan, after=plan.after + self.plans.choice([0, 2500]))

    def _play(self):
        # The first connection is whole, so that there is a session to come back to.
        self.app.until_attached()
        self._type(f"I am {self.number}")
        self.app.until(lambda: "hello\r\n" in self.app.text, "a greeting")
        self.seat = next(seat for seat in self.evening.game.seats if seat.lines[:1] == self.typed[:1])
        self.cutting = True
        self.proxy.cut()
        deadline = time.monotonic() + patience(120 + self.cuts * 3)
        while len(self.proxy.performed) < self.cuts:
            assert time.monotonic() < deadline, f"{len(self.proxy.performed)} cuts; the last: {self.app.events[-5:]}"
            self._turn()
        # In the end a line that lives, on which all that is owed comes.
        self.cutting = False
        self.proxy.cut()
        self._type(THAT_IS_ALL)
        eventually(lambda: self.seat.answered == len(self.typed), "an answer to each line", within=90)
        fight = self.evening.fights[self.seat]
        fight.end(self.seat)
        self.app.until(lambda: self.app.last_text.endswith(LAST), "the end", within=90)

    def _type(self, text):
        self.typed.append(text)
        self.app.line(text)

    def _turn(self):
        """Some lines, perhaps a blow unasked; then whatever comes of it, or another network, or a cut by hand."""
        for _ in range(self.source.randrange(0, 3)):
            self._type(f"{len(self.typed)} {self.source.choice(WORDS)}")
        if self.source.random() < 0.3:
            self.evening.fights[self.seat].blow(self.seat, "unasked")
        chance = self.source.random()
        if chance < 0.6:
            self.app.do("path")
        elif chance < 0.62:
            self.app.do("cut")
        elif chance < 0.63:
            self.proxy.cut(self.source.choice(["reset", "close"]))
        time.sleep(self.source.uniform(0, 0.02))


SETTINGS = {
    "GAME_COMPRESSION": "mccp2",
    "SESSION_BUFFER": "8MiB",
    "SESSION_BUFFERS_TOTAL": "256MiB",
    "WORKERS": "3",
    "MAX_CONNECTIONS_PER_ADDRESS": "100000",
    "MAX_PENDING": "100000",
}


def evening_of_fights(evenings, **changes):
    """An evening in whose game every player has a fight."""
    fights = {}

    def greet(seat):
        fights[seat] = Fight(f"{SEED} {len(fights)}", seat)
        seat.tell(WILL, GMCP)

    def answer(seat, line):
        if line.startswith("I am "):
            fights[seat].story.text("hello\r\n")
            seat.say("hello\r\n")
        elif line != THAT_IS_ALL:
            fights[seat].blow(seat, f"you {len(line)}")

    evening = evenings(greet, answer, **{**SETTINGS, **changes})
    evening.fights = fights
    return evening


def shares(cuts):
    """How often each player is cut off."""
    every = [cuts // PLAYERS + (number < cuts % PLAYERS) for number in range(PLAYERS)]
    return [(number, share) for number, share in enumerate(every) if share]


def let_them_play(contestants):
    """To the end of each; the seconds that took."""
    begun = time.monotonic()
    for contestant in contestants:
        contestant.start()
    for contestant in contestants:
        contestant.join(patience(300 + CUTS * 0.5))
        assert not contestant.is_alive(), f"player {contestant.number} of seed {SEED} is stuck"
    failed = [contestant for contestant in contestants if contestant.error]
    if failed:
        told = f"seed {SEED}, player {failed[0].number}; the gate's log of them ends:\n{failed[0].told_by_the_gate}"
        raise AssertionError(told) from failed[0].error
    return time.monotonic() - begun


def tell(client, evening, contestants, ways, seconds, resumed, more=""):
    ways = collections.Counter(ways)
    streams = sum(fight.compression.begun for fight in evening.fights.values())
    print(
        f"{client}: {ways.total()} cuts of {len(contestants)} players, seed {SEED}, {seconds:.1f} s:"
        f" {json.dumps(ways)}, {resumed} resumed, {sum(len(c.typed) for c in contestants)} lines typed,"
        f" {streams} times compressed{more}"
    )


@pytest.mark.skipif(CLIENT == "package", reason="CUTS_CLIENT=package")
@pytest.mark.long("150 cuts, a gate and six games")
def test_nothing_is_lost_doubled_or_out_of_order(evenings):
    evening = evening_of_fights(evenings)
    contestants = [Contestant(evening, number, share) for number, share in shares(CUTS)]
    seconds = let_them_play(contestants)
    # Checked against both ends' own records.
    for contestant in contestants:
        player, seat = contestant.player, contestant.seat
        assert seat.lines == contestant.typed
        same_story(player.story(), evening.fights[seat].story.told)
        assert not player.events("gap") and len([s for s in player.sessions if not s["resumed"]]) == 1
    assert evening.game.count == len(contestants), "no game was called twice"
    eventually(lambda: all(player.handled == player.sent for player in evening.players), "acks for all")
    # One that its player has lost before its plan was due is cut as well.
    plans = [plan for contestant in contestants for plan, *_ in contestant.proxy.told if plan]
    resumed = sum(contestant.resumed for contestant in contestants)
    deflated = sum(contestant.player.deflated for contestant in contestants)
    ways = [plan.how for plan in plans]
    tell("python", evening, contestants, ways, seconds, resumed, f", {deflated} connections deflated")


@pytest.mark.skipif(CLIENT == "python", reason="CUTS_CLIENT=python")
@pytest.mark.long("60 cuts, and the package waits between its attempts")
def test_the_package_loses_nothing(evenings, gates, pki, folder):
    made, trusting = authority(gates)
    evening = evening_of_fights(evenings, **trusting)
    contestants = [
        PackageContestant(evening, number, share, pki.server_ca, made, folder / f"player-{number}")
        for number, share in shares(PACKAGE_CUTS)
    ]
    seconds = let_them_play(contestants)
    for contestant in contestants:
        app, seat = contestant.app, contestant.seat
        assert seat.lines == contestant.typed
        same_story(app.story(), evening.fights[seat].story.told)
        assert not app.all("gap") and not app.all("inputDropped") and not app.all("doubt")
        assert [event["resumed"] for event in app.all("attached")].count(False) == 1
    assert evening.game.count == len(contestants), "no game was called twice"
    resumed = sum(len(contestant.app.all("attached")) - 1 for contestant in contestants)
    ways = [how for contestant in contestants for how in contestant.proxy.performed]
    tell("package", evening, contestants, ways, seconds, resumed)
