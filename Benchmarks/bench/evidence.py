"""Row v: the players beside Android phones that enrol with their keys' attestations, or show their app by Play."""

import json
import shutil
import ssl
import subprocess
import urllib.request

from admissions import LONG_ROUNDS, registered
from contestants import Portcullis
from machine import Broken
from programs import Load
from traffic import beside, opened, right_of_way

PUBLIC_URL = "https://localhost"
APP = "com.example.mud:" + "5e" * 32
# Each shows its app again and again.
PHONES = 256
# Each waits 40 ms or more for its two turns: so many are more than a gate takes.
AT_ONCE = 64
# A gate takes so many times as many tokens as chains, about.
TOKENS_PER_CHAIN = 3


class Attesting(Portcullis):
    """A gate that takes in whatever Android phone attests its key; its devices lie on the disk."""

    def __init__(self, setup, folder, game_port, **more):
        self.database = setup.disk / "evidence"
        self.revoked = folder / "revoked.json"
        super().__init__(
            setup, folder, game_port, DEVICES_PATH=str(self.database / "devices.db"), PUBLIC_URL=PUBLIC_URL,
            DEVICE_APPROVAL="evidence", ANDROID_APPS=APP, ANDROID_REVOCATION_PATH=str(self.revoked),
            ANDROID_ROOTS_PATH=str(setup.folder / "authority" / "android-root.pem"), **more,
        )

    def command(self):
        self.revoked.write_text('{"entries": {}}')
        shutil.rmtree(self.database, ignore_errors=True)
        self.database.mkdir(parents=True)
        return super().command()

    def server(self):
        """Its id, which evidence names."""
        anything = ssl.create_default_context()
        anything.check_hostname, anything.verify_mode = False, ssl.CERT_NONE
        url = f"https://127.0.0.1:{self.port}/attest/challenge?purpose=enroll"
        with urllib.request.urlopen(url, timeout=20, context=anything) as answer:
            return json.load(answer)["server_id"]

    def stop(self):
        super().stop()
        shutil.rmtree(self.database, ignore_errors=True)


class Showing(Attesting):
    """The same with phones that are there, and show their app by Play; none of them was told of the server's key."""

    def __init__(self, setup, folder, game_port):
        super().__init__(
            setup, folder, game_port, PINS_FORCE="true", DEVICE_RATE="1000000/s",
            PLAY_INTEGRITY_KEYS_PATH=str(setup.folder / "authority" / "play-integrity-keys.json"),
        )

    @property
    def phones(self):
        return self.folder / "phones"

    def command(self):
        command = super().command()
        tool(self.setup, "play-phones", self.database, PHONES, self.phones)
        return command


def tool(setup, *words):
    done = subprocess.run([str(word) for word in (setup.tool, *words)], capture_output=True, text=True)
    if done.returncode != 0:
        raise Broken(f"{words[0]}: {done.stdout}{done.stderr}")


def make_bodies(setup, contestant, poster, count):
    """For challenges that the gate has issued; they are good for two minutes."""
    shows = isinstance(contestant, Showing)
    result = poster.ask(f"challenges {count} {AT_ONCE} {'attest' if shows else 'enroll'}")
    if result["done"] != count:
        raise Broken(f"{result['done']} of {count} challenges")
    nonces, bodies = setup.folder / "nonces", setup.folder / "bodies"
    poster.ask(f"nonces {nonces}")
    start = ("attestations" if shows else "enrollments", setup.folder / "authority", APP, contestant.server())
    tool(setup, *start, *((contestant.phones,) if shows else ()), nonces, bodies)
    return bodies


def evidence_row(setup, samples, rounds):
    """Row v: row d's load in turn beside evidence, each piece of which has to be accepted, and alone."""
    for _ in range(min(rounds, LONG_ROUNDS)):
        beside_evidence(setup, samples, Attesting, "/device/enroll", "v")
        beside_evidence(setup, samples, Showing, "/mobile/attest", "v play")


def beside_evidence(setup, samples, kind, path, row):
    lengths = setup.lengths
    count = lengths.chains * (TOKENS_PER_CHAIN if kind is Showing else 1)
    with setup.running(kind) as (contestant, game):
        with opened(setup, contestant, game, lengths.latency_sessions) as players:
            # It shares a core with the players' load, which must not wait for it.
            poster = Load(setup.programs, "admitted", contestant.port, contestant.keys, behind=True)
            with poster, right_of_way(players, game):
                bodies = make_bodies(setup, contestant, poster, count)
                poster.say(f"posts {bodies} {AT_ONCE} {path}")
                quiet, busy, seconds = beside(lengths, contestant, game, players, poster)
                posted = registered(setup, poster, seconds, row, count)
    for result in quiet:
        samples.add(f"{row} quiet", Portcullis.name, result["p99_us"], result)
    for result in busy:
        samples.add(f"{row} busy", Portcullis.name, result["p99_us"], {**result, "posted": posted})
