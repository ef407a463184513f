"""Row v: the players beside Android phones that enrol with their keys' attestations."""

import json
import shutil
import ssl
import subprocess
import urllib.request

from admissions import AT_ONCE, LONG_ROUNDS, registered
from contestants import Portcullis
from machine import Broken
from programs import Load
from traffic import beside, opened, right_of_way

PUBLIC_URL = "https://localhost"
APP = "com.example.mud:" + "5e" * 32
PATH = "/device/enroll"


class Attesting(Portcullis):
    """A gate that takes in whatever Android phone attests its key; its devices lie on the disk."""

    def __init__(self, setup, folder, game_port):
        self.database = setup.disk / "evidence"
        self.revoked = folder / "revoked.json"
        super().__init__(
            setup, folder, game_port, DEVICES_PATH=str(self.database / "devices.db"), PUBLIC_URL=PUBLIC_URL,
            DEVICE_APPROVAL="evidence", ANDROID_APPS=APP, ANDROID_REVOCATION_PATH=str(self.revoked),
            ANDROID_ROOTS_PATH=str(setup.folder / "authority" / "android-root.pem"),
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


def make_bodies(setup, contestant, poster, count):
    result = poster.ask(f"challenges {count} {AT_ONCE} enroll")
    if result["done"] != count:
        raise Broken(f"{result['done']} of {count} challenges")
    nonces, bodies = setup.folder / "nonces", setup.folder / "bodies"
    poster.ask(f"nonces {nonces}")
    command = [setup.tool, "enrollments", setup.folder / "authority", APP, contestant.server(), nonces, bodies]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise Broken(f"enrolments could not be made: {done.stdout}{done.stderr}")
    return bodies


def evidence_row(setup, samples, rounds):
    """Row v: row d's load in turn beside enrolments, each of which has to be accepted, and alone."""
    lengths = setup.lengths
    for _ in range(min(rounds, LONG_ROUNDS)):
        with setup.running(Attesting) as (contestant, game):
            with opened(setup, contestant, game, lengths.latency_sessions) as players:
                # It shares a core with the players' load, which must not wait for it.
                poster = Load(setup.programs, "admitted", contestant.port, contestant.keys, behind=True)
                with poster, right_of_way(players, game):
                    # Their challenges are good for two minutes.
                    bodies = make_bodies(setup, contestant, poster, lengths.registrations)
                    poster.say(f"posts {bodies} {AT_ONCE} {PATH}")
                    quiet, busy, seconds = beside(lengths, contestant, game, players, poster)
                    posted = registered(setup, poster, seconds, row="v")
            for result in quiet:
                samples.add("v quiet", Portcullis.name, result["p99_us"], result)
            for result in busy:
                samples.add("v busy", Portcullis.name, result["p99_us"], {**result, "enrolments": posted})
