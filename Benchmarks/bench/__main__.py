"""`make bench`: runs the rows that are asked for, prints the tables, writes results.json, the page's table and the chart."""

import argparse
import contextlib
import json
import pathlib
import sys
import time

import admissions
import chart
import decisions
import evidence
import inprocess
import keeping
import machine
import memory
import stays
import table
import traffic
import verdicts
import watched
from results import Samples
from setup import FULL, SMOKE, Setup

HERE = pathlib.Path(__file__).resolve().parent.parent
ROOT = HERE.parent
ROWS = {
    "a": memory.idle_row,
    "b": traffic.echo_row,
    "c": traffic.bulk_row,
    "d": traffic.latency_row,
    "e": admissions.admission_row,
    "f": inprocess.verification_row,
    "g": inprocess.registration_row,
    "h": inprocess.store_row,
    "i": admissions.registration_row,
    "j": memory.start_row,
    "k": admissions.scaling_row,
    "l": memory.size_row,
    "m": stays.message_row,
    "n": stays.memory_row,
    "o": stays.resume_row,
    "p": decisions.decision_row,
    "q": inprocess.registry_row,
    "r": keeping.keeping_row,
    "t": inprocess.android_key_row,
    "v": evidence.evidence_row,
    "s": inprocess.play_row,
    "u": inprocess.scrape_row,
    "w": watched.watched_row,
}


def arguments():
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("--rows", default="", help="letters of the rows, with blanks between; else all")
    parser.add_argument("--smoke", action="store_true", help="little of everything: is the measure whole?")
    parser.add_argument("--awake", action="store_true", help="let no processor sleep meanwhile; wants root")
    parser.add_argument("--rounds", type=int, help="rounds of each row, instead of 3")
    parser.add_argument("--portcullis", type=pathlib.Path, default=ROOT / ".build/release/portcullis")
    parser.add_argument("--tool", type=pathlib.Path, default=ROOT / ".build/release/portcullis-bench")
    parser.add_argument(
        "--beside", type=pathlib.Path, metavar="PROGRAM",
        help="another build, in place of the peers: ratios of rows a to l, and nothing is written",
    )
    parser.add_argument("--beside-tool", type=pathlib.Path, metavar="PROGRAM", help="its portcullis-bench, for rows f to i")
    parser.add_argument("--programs", type=pathlib.Path, default=ROOT / ".build/bench")
    parser.add_argument("--output", type=pathlib.Path, default=HERE, help="folder of results.json")
    parser.add_argument(
        "--table", action="store_true", help="run nothing: judge what results.json has, and write table and chart anew",
    )
    options = parser.parse_args()
    options.rows = options.rows.split() or list("abcdefghijkl" if options.beside else ROWS)
    unknown = [row for row in options.rows if row not in ROWS]
    if unknown:
        parser.error(f"no such row: {' '.join(unknown)}; there are {' '.join(ROWS)}")
    if options.beside and not options.beside_tool and set(options.rows) & set("fghi"):
        parser.error("rows f to i want --beside-tool: the other build's portcullis-bench (make bench-programs makes it)")
    return options


def run(options, setup, samples):
    rounds = options.rounds or setup.lengths.rounds
    for row in options.rows:
        started = time.monotonic()
        ROWS[row](setup, samples, rounds)
        print(f"row {row}: {time.monotonic() - started:.0f} s", flush=True)
        if options.beside:
            print_ratios(samples.summary(), row)
        elif not options.smoke:
            # What is measured is kept, whatever becomes of the next row.
            write(options.output, gather(options, setup, samples.summary()))


def main():
    options = arguments()
    if options.table:
        write(options.output, json.loads((options.output / "results.json").read_text()))
        return 0
    lengths = SMOKE if options.smoke else FULL
    disk = options.programs / "disk"
    started = time.monotonic()
    setup = Setup(
        options.programs, options.portcullis, options.tool, lengths, disk, options.beside, options.beside_tool
    )
    if machine.LOAD_CORE == machine.GATE_CORE:
        print("there is but one core: load and server share it, and the numbers mean little")
    for name in setup.missing:
        print(f"{name} is not installed: its lines are left out")
    samples = Samples()
    try:
        with machine.awake() if options.awake else contextlib.nullcontext():
            run(options, setup, samples)
    except machine.Broken as broken:
        print(f"\nbroken measure: {broken}", file=sys.stderr)
        return 1
    finally:
        setup.remove()
    if options.smoke:
        print(f"every measure is whole; {time.monotonic() - started:.0f} s in all")
        return 0
    if options.beside:
        print(f"\n{time.monotonic() - started:.0f} s in all")
        return 0
    lines, summary = verdicts.judge(samples), samples.summary()
    verdicts.print_medians(summary)
    verdicts.print_table(lines)
    print(f"\n{time.monotonic() - started:.0f} s in all")
    return 0


def print_ratios(summary, letter):
    """The median of this build over that of the other one, for each measure of the row."""
    for row, contestants in sorted(summary.items()):
        if row.startswith(letter) and "earlier" in contestants and "portcullis" in contestants:
            ours, earlier = contestants["portcullis"]["median"], contestants["earlier"]["median"]
            print(f"{row:14} {ours:10.3f} {earlier:10.3f}  {ours / earlier:.3f}", flush=True)


def gather(options, setup, summary):
    """Rows that were not measured this time keep what an earlier run has written."""
    path = options.output / "results.json"
    earlier = json.loads(path.read_text()) if path.exists() else {"rows": {}}
    versions = {peer.name: peer.version() for peer in setup.peers}
    versions["portcullis"] = machine.first_line(str(options.portcullis), "--version")
    return {"machine": machine.description(), "versions": versions, "rows": {**earlier["rows"], **summary}}


def write(folder, results):
    """The verdicts are always those of the samples that stand beside them."""
    lines = verdicts.judge(Samples.of(results["rows"]))
    results = {
        "machine": results["machine"],
        "versions": results["versions"],
        "verdicts": sorted(lines, key=lambda line: line["row"]),
        "rows": dict(sorted(results["rows"].items())),
    }
    (folder / "results.json").write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n")
    chart.write_chart(results["rows"], folder / "chart.svg")
    # Elsewhere than in the repository there is no page.
    if (folder / "README.md").exists():
        table.write_table(results, folder / "README.md")


if __name__ == "__main__":
    sys.exit(main())
