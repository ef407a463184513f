"""Runs the Autobahn|Testsuite over wss against the gate's echo, and says in a few lines what it found.

    websocket_suite.py DIRECTORY          all 517 cases; DIRECTORY is where install-autobahn has put the suite
    websocket_suite.py --quick DIRECTORY  those of QUICK

Exit status 1 when a case is anything but OK or informational, is missing, or the gate did not survive it.
"""

import argparse
import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import time

from conformity import Unfit, echo_gate, ended_by

# Sections 1 to 7 and 10 whole; of the others one case of each subsection, with different sizes and fragments.
QUICK = re.compile(
    r"([1-7]|10)\..*"
    r"|9\.1\.1|9\.2\.2|9\.3\.9|9\.4\.8|9\.5\.6|9\.6\.5|9\.7\.1|9\.8\.2"
    r"|12\.1\.1|12\.2\.2|12\.3\.3|12\.4\.11|12\.5\.12"
    r"|13\.1\.1|13\.2\.2|13\.3\.3|13\.4\.11|13\.5\.12|13\.6\.1|13\.7\.2"
)
GOOD = {"OK", "INFORMATIONAL"}
# The largest messages of section 9.
LARGEST = "16MiB"
SUBJECT = "portcullis"
CATALOGUE = """
import json
from autobahntestsuite.case import CaseCategories, Cases
identifiers = [case.__name__[len("Case"):].replace("_", ".") for case in Cases]
print(json.dumps([identifiers, CaseCategories]))
"""


def in_order(identifier):
    return [int(part) for part in identifier.split(".")]


def catalogue(suite):
    """All the suite's cases in order, and the names of its sections."""
    try:
        listed = subprocess.run([suite / "bin" / "python", "-c", CATALOGUE], capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise Unfit(f"the suite in {suite} does not run ({error}): remove it, and install it again") from None
    identifiers, sections = json.loads(listed.stdout)
    return sorted(identifiers, key=in_order), sections


class Shard:
    """One of the suite's clients, with its share of the cases."""

    def __init__(self, suite, folder, gate, cases):
        folder.mkdir(parents=True)
        self.index, self.log_path = folder / "index.json", folder / "wstest.log"
        server = {"agent": SUBJECT, "url": f"wss://localhost:{gate.port}", "options": {"version": 18}}
        specification = {
            "outdir": str(folder),
            "options": {"failByDrop": False},
            "servers": [server],
            "cases": cases,
            "exclude-cases": [],
            "exclude-agent-cases": {},
        }
        plan = folder / "plan.json"
        plan.write_text(json.dumps(specification))
        with open(self.log_path, "wb") as log:
            self.process = subprocess.Popen(
                [suite / "bin" / "wstest", "--mode", "fuzzingclient", "--spec", plan],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            )

    def begun(self):
        """How many cases it has come to."""
        return self.log_path.read_bytes().count(b"Running test case ID")

    def results(self):
        if self.process.returncode != 0 or not self.index.exists():
            tail = self.log_path.read_text(errors="replace")[-2000:]
            raise Unfit(f"a client of the suite ended with {self.process.returncode}:\n{tail}")
        return json.loads(self.index.read_text()).get(SUBJECT, {})


def watch(shards, total, limit):
    """Returns when all have ended, and says once in a while how far they are."""
    start = said = time.monotonic()
    while any(shard.process.poll() is None for shard in shards):
        now = time.monotonic()
        if now - start > limit:
            raise Unfit(f"the suite did not end within {limit} s")
        if now - said >= 30:
            said = now
            print(f"  {sum(shard.begun() for shard in shards)} of {total} cases begun", flush=True)
        time.sleep(0.05)


def run(suite, reports, cases, jobs, limit):
    """What became of each case, by its number."""
    shutil.rmtree(reports, ignore_errors=True)
    with echo_gate(WS_MAX_FRAME_BYTES=LARGEST, WS_MAX_MESSAGE_BYTES=LARGEST, LOG_LEVEL="notice") as gate:
        shards = []
        try:
            for number in range(jobs):
                shards.append(Shard(suite, reports / str(number + 1), gate, cases[number::jobs]))
            watch(shards, len(cases), limit)
        finally:
            for shard in shards:
                shard.process.kill()
                shard.process.wait()
        found = {}
        for shard in shards:
            found |= shard.results()
    return found


def verdict(result):
    """The case's own verdict, and the one on how the connection was closed."""
    return result["behavior"], result["behaviorClose"]


def summarize(cases, sections, found):
    """A line for each section, and one for every case that is not OK; how many are no good."""
    by_section = collections.defaultdict(collections.Counter)
    others = []
    for case in cases:
        result = found.get(case)
        words = set(verdict(result)) if result else {"MISSING"}
        worst = min(words - {"OK"}, key=lambda word: (word in GOOD, word), default="OK")
        by_section[case.partition(".")[0]][worst] += 1
        if worst != "OK":
            others.append((case, result, words <= GOOD))
    for section, counts in by_section.items():
        told = ", ".join(f"{count} {word.lower()}" for word, count in sorted(counts.items(), reverse=True))
        print(f"  {section:>2}  {sections[section]:<45} {told.replace(' ok', ' OK')}")
    for case, result, is_good in others:
        behavior, close = verdict(result) if result else ("MISSING", "MISSING")
        code = f", close code {result['remoteCloseCode']}" if result else ""
        grade = "note:   " if is_good else "FAILURE:"
        print(f"  {grade} case {case} is {behavior}, its closing {close}{code}")
    return sum(not is_good for _, _, is_good in others)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--jobs", type=int, default=max(1, min(4, os.cpu_count() or 1)))
    parser.add_argument("--limit", type=int, default=3600, help="seconds for the whole run")
    parser.add_argument("directory", type=pathlib.Path)
    options = parser.parse_args()
    suite = options.directory.resolve() / "suite"
    cases, sections = catalogue(suite)
    if options.quick:
        cases = [case for case in cases if QUICK.fullmatch(case)]
    reports = options.directory.resolve() / ("reports-quick" if options.quick else "reports")
    print(f"Autobahn|Testsuite, {len(cases)} cases over wss against BACKEND=echo:", flush=True)
    start = time.monotonic()
    found = run(suite, reports, cases, options.jobs, options.limit)
    failures = summarize(cases, sections, found)
    informational = sum("INFORMATIONAL" in verdict(result) for result in found.values())
    print(
        f"Autobahn|Testsuite: {len(cases)} cases, {failures} failures, {informational} informational, "
        f"in {time.monotonic() - start:.0f} s; each case in {reports}/*/index.html"
    )
    return 1 if failures else 0


if __name__ == "__main__":
    ended_by(main)
