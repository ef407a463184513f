"""What the soak measures of the gate while it runs, and how far the last quarter is from the first."""

import dataclasses
import json
import os
import pathlib
import statistics
import time

ALLOWED = 0.02


@dataclasses.dataclass(frozen=True)
class Measure:
    """A series' name and unit; `floor` is a difference too small to mean anything, for series near zero."""

    name: str
    unit: str
    floor: float = 0.0


MEASURES = (
    Measure("resident memory", "KiB"),
    Measure("descriptors", ""),
    Measure("sessions", ""),
    # A saw's teeth: it is cut at each snapshot, and how soon those come depends on the machine's other work.
    Measure("journal", "bytes", 4096),
    Measure("unadmitted connections", "", 1),
    Measure("lingering connections", "", 1),
    Measure("handshakes and requests waiting", "", 1),
    Measure("registrations waiting", "", 1),
    Measure("bytes waiting for the journal", "bytes", 128),
)


class Samples:
    """Series by name: (seconds since the start, value)."""

    def __init__(self):
        self.start = time.monotonic()
        self.series = {measure.name: [] for measure in MEASURES}

    def add(self, name, value):
        self.series[name].append((time.monotonic() - self.start, value))

    def quarter_mean(self, name, index, length):
        """The mean over one quarter (0 to 3) of `length` seconds."""
        first, last = index * length / 4, (index + 1) * length / 4
        values = [value for moment, value in self.series[name] if first <= moment < last]
        return statistics.fmean(values) if values else 0.0

    def rows(self, length):
        """For each measure: its quarters' means, the drift, and whether that is small enough."""
        for measure in MEASURES:
            means = [self.quarter_mean(measure.name, index, length) for index in range(4)]
            difference = abs(means[3] - means[0])
            drift = difference / means[0] if means[0] else 0.0
            yield measure, means, drift, drift <= ALLOWED or difference <= measure.floor


def resident_kibibytes(process):
    for line in pathlib.Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    raise RuntimeError("the gate is gone")


def descriptors(process):
    return len(os.listdir(f"/proc/{process}/fd"))


def journal_bytes(store):
    """Of all segments together; one that goes away meanwhile holds nothing."""
    total = 0
    for path in store.parent.glob(store.name + ".journal.*"):
        try:
            total += path.stat().st_size
        except FileNotFoundError:
            continue
    return total


def add_statistics(samples, text):
    """From one answer of `portcullis stats --json`."""
    answer = json.loads(text)
    now = answer["now"]
    samples.add("sessions", now["sessions"])
    samples.add("unadmitted connections", now["pending"])
    samples.add("lingering connections", now["lingering"])
    samples.add("handshakes and requests waiting", now["newcomersWaiting"])
    samples.add("registrations waiting", now["registrationsWaiting"])
    samples.add("bytes waiting for the journal", answer["store"]["waitingBytes"])
    return answer


def table(rows):
    """The figures in Markdown."""
    lines = ["| measure | 1st quarter | 2nd | 3rd | last | drift |", "|---|--:|--:|--:|--:|--:|"]
    for measure, means, drift, _ in rows:
        figures = " | ".join(f"{mean:,.1f}" for mean in means)
        name = f"{measure.name} ({measure.unit})" if measure.unit else measure.name
        lines.append(f"| {name} | {figures} | {100 * drift:.2f} % |")
    return "\n".join(lines)
