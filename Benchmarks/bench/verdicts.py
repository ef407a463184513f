"""The table: which ratio each row is about, what it must reach and what it aims at."""

import dataclasses
from typing import Callable

GATE = "portcullis"


@dataclasses.dataclass
class Target:
    row: str
    text: str
    value: Callable
    must: float | None
    aim: float | None
    unit: str = "×"
    # Whether more is better; else less.
    at_least: bool = False

    def verdict(self, value):
        if value is None:
            return "not measured"
        if self.aim is not None and self.reaches(value, self.aim):
            return "aim"
        if self.must is None:
            return "-" if self.aim is None else "misses the aim"
        return "must" if self.reaches(value, self.must) else "MISSED"

    def reaches(self, value, bound):
        return value >= bound if self.at_least else value <= bound


def ratio(row, other, mine=GATE, of=None):
    """One median over another."""

    def value(samples):
        above, below = samples.median(row, mine), samples.median(of or row, other)
        # Added latency can come out negative when something else has disturbed the run: that is no ratio.
        return above / below if above is not None and below is not None and above >= 0 and below > 0 else None

    return value


def plain(row, name=GATE):
    return lambda samples: samples.median(row, name)


def difference(row, mine, other):
    def value(samples):
        more, less = samples.median(row, mine), samples.median(row, other)
        return more - less if more is not None and less is not None else None

    return value


def against(row, text, bounds):
    """One line for each contestant of `bounds`: name, must, aim."""
    return [
        Target(row[0], f"{text}, against {name}", ratio(row, name), must, aim) for name, must, aim in bounds
    ]


TARGETS = [
    *against("a", "memory of an idle session", [("haproxy", 1.0, None), ("floor", None, 1.15)]),
    *(
        target
        for mode in ("fixed", "closed")
        for target in against(
            f"b {mode}",
            f"CPU of a message, {mode}",
            [
                ("haproxy", 1.0, None),
                ("nginx", 1.0, None),
                ("node", 0.7, None),
                ("websockify", 0.35, None),
                ("floor", None, 1.05),
            ],
        )
    ),
    *against("c", "CPU of a MB", [("haproxy", 1.0, None), ("nginx", 1.0, None), ("floor", None, 1.1)]),
    *against("d p50", "added latency, p50", [("haproxy", 1.05, 0.95)]),
    *against("d p99", "added latency, p99", [("haproxy", 1.05, 0.95)]),
    *against("e", "CPU of an admission", [("floor", 1 / 0.85, 1 / 0.95)]),
    Target("e", "CPU of a challenge request", plain("e challenge"), None, None, "µs"),
    Target("f", "verifications, distinct keys", ratio("f distinct", "openssl"), 0.75, 0.9, at_least=True),
    Target("f", "verifications, a hot key", ratio("f hot", "openssl"), 0.95, 0.98, at_least=True),
    Target("g", "registrations verified", ratio("g", "floor"), 0.9, 0.95, at_least=True),
    Target("h", "loading 1,000,000 keys", plain("h load"), 3, 1, "s"),
    Target("h", "memory of a key", plain("h memory"), 300, 160, "bytes"),
    Target("h", "share of time in snapshots", plain("h snapshots"), 5, None, "%"),
    Target("h", "p99 of a lookup", plain("h lookup"), 1, None, "µs"),
    Target("h", "commits, 64 in flight against 1", plain("h commits"), 20, None, at_least=True),
    Target("i", "p99 while registrations saturate", ratio("i busy", GATE, of="i quiet"), 1.5, 1.1),
    Target("j", "start to listening, 10,000 keys", plain("j"), 100, 30, "ms"),
    Target("k", "CPU of a message, 9,000 over 100 sessions", ratio("k many", GATE, of="k few"), 1.15, 1.0),
    Target("k", "CPU of an admission, 2 workers over 1", ratio("k two", GATE, of="k one"), 1.15, 1.05),
    Target("l", "stripped binary", plain("l binary"), 22, 16, "MB"),
    Target("l", "resident memory at start", plain("l memory"), 20, 15, "MB"),
    *(
        target
        for mode in ("fixed", "closed")
        for target in (
            Target("m", f"CPU of a text, {mode}, over raw bytes", ratio(f"m {mode}", "raw", "text"), 1.15, None),
            Target("m", f"CPU of an event, {mode}, over raw bytes", ratio(f"m {mode}", "raw", "event"), 2, None),
        )
    ),
    Target("n", "memory of an idle stay, over a raw session", difference("n", "attached", "raw"), 2, None, "KiB"),
    Target("n", "memory of a detached stay", plain("n", "detached"), 3, None, "KiB"),
    Target("o", "CPU of a resume, over a raw admission", ratio("o", "raw", "resume"), 1.2, None),
    Target(
        "o",
        "CPU of a resume by the session's nonce, over one by a challenge",
        ratio("o", "by challenge", "by its nonce"),
        0.7,
        None,
    ),
    Target("o", "10,000 apps come back", plain("o back", GATE), 30, None, "s"),
    Target("p", "decisions a second", plain("p rate"), 4000, None, at_least=True, unit="/s"),
    Target("p", "CPU of a decision", plain("p cpu"), 0.25, None, "ms"),
    Target("p", "p99 of a decision at 2,000 a second", plain("p p99"), 8, None, "ms"),
    Target("p", "players' p99 beside decisions", ratio("p busy", GATE, of="p quiet"), 1.5, 1.1),
    Target("q", "start with 1,000,000 devices, over none", plain("q start"), 50, None, "ms"),
    Target("q", "start that tells the door of all of them", plain("q door"), 1.5, None, "s"),
    Target("q", "memory of a door that knows them, and its registry", plain("q door memory"), 120, None, "MiB"),
    Target("q", "p99 of a look-up of a device", plain("q lookup"), 20, None, "µs"),
    Target("q", "disk of a device", plain("q device"), 450, None, "bytes"),
    Target("q", "disk of an Android device", plain("q android device"), 450, None, "bytes"),
    Target("q", "disk of a row of the audit", plain("q audit"), 320, None, "bytes"),
    Target("q", "changes, 64 in flight against 1", plain("q commits"), 4, None, at_least=True),
    *(
        Target("r", f"CPU of a text, {mode}, with a slot over none", ratio(f"r {mode}", "alone", "kept"), 1.03, None)
        for mode in ("fixed", "closed")
    ),
    Target("r", "exec to serving, 4,096 kept sessions", plain("r serving"), 1, None, "s"),
    Target("r", "exec to 4,096 apps that are back", plain("r back"), 10, None, "s"),
    Target("t", "CPU of an Android chain, over its signature checks", ratio("t", "openssl"), 1.1, None),
    Target("t", "the same, over X509_verify", ratio("t", "floor"), None, None),
    Target("u", "CPU of a scrape, as with 10,000 sessions", plain("u"), 2, None, "ms"),
    Target("v", "players' p99 beside Android evidence", ratio("v busy", GATE, of="v quiet"), 1.5, 1.1),
    Target("v", "players' p99 beside Play tokens", ratio("v play busy", GATE, of="v play quiet"), 1.5, 1.1),
    Target("w", "memory of an idle session, looked at", ratio("w memory", "quiet", "watched"), 1.05, 1.01),
    *(
        Target("w", f"CPU of a message, {mode}, looked at", ratio(f"w {mode}", "quiet", "watched"), 1.1, 1.03)
        for mode in ("fixed", "closed")
    ),
    Target("w", "players' p50, looked at", ratio("w p50", "quiet", "watched"), 1.1, 1.03),
    Target("w", "players' p99, looked at", ratio("w p99", "quiet", "watched"), 1.1, 1.03),
    Target("s", "CPU of a token of Play Integrity, over its cryptography", ratio("s", "floor"), 1.2, None),
]


def judge(samples):
    """A line for each target whose row was measured."""
    lines = []
    for target in TARGETS:
        value = target.value(samples)
        if value is None:
            continue
        lines.append(
            {
                "row": target.row,
                "measure": target.text,
                "value": value,
                "unit": target.unit,
                "must": target.must,
                "aim": target.aim,
                "at_least": target.at_least,
                "verdict": target.verdict(value),
            }
        )
    return lines


def bound(number, line):
    if number is None:
        return ""
    return ("≥ " if line["at_least"] else "≤ ") + f"{number:.3g}"


def print_table(lines):
    print(f"\n{'row':4} {'measure':46} {'value':>13}  {'must':8} {'aim':8} verdict")
    for line in lines:
        value = f"{line['value']:.3g} {line['unit']}"
        must, aim = bound(line["must"], line), bound(line["aim"], line)
        print(f"{line['row']:4} {line['measure']:46} {value:>13}  {must:8} {aim:8} {line['verdict']}")


def print_medians(summary):
    print(f"\n{'row':14} {'contestant':12} {'median':>10} {'lowest':>10} {'highest':>10}  rounds")
    for row, contestants in summary.items():
        for name, entry in contestants.items():
            numbers = " ".join(f"{entry[key]:10.2f}" for key in ("median", "lowest", "highest"))
            disturbed = sum(details.get("disturbed", False) for details in entry["details"])
            note = f", {disturbed} disturbed" if disturbed else ""
            print(f"{row:14} {name:12} {numbers}  {len(entry['values'])}{note}{headroom(entry['details'])}")


def headroom(details):
    """What load and game left of their core, in the round in which that was least."""
    used = [entry["own_share"] + entry["game_share"] for entry in details if "game_share" in entry]
    return f", {max(0.0, 1 - max(used)):.0%} of the load's core to spare" if used else ""
