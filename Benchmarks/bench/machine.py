"""What the bench reads off the machine: cores, processor time and memory of processes, versions."""

import contextlib
import os
import pathlib
import platform
import re
import resource
import struct
import subprocess

CORES = sorted(os.sched_getaffinity(0))
# Interrupts tend to go to the first core; the load generator is the one that can bear them.
LOAD_CORE, GATE_CORE = CORES[0], CORES[-1]


@contextlib.contextmanager
def awake():
    """No processor sleeps (`pm_qos`): one that waits for work looks for it all the time."""
    with open("/dev/cpu_dma_latency", "wb", buffering=0) as file:
        file.write(struct.pack("i", 0))
        yield


class Broken(Exception):
    """A measure that cannot be believed: counts that differ, a program that ended, a missing answer."""


def raise_descriptor_limit():
    """As many descriptors as this process may have; children inherit it."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return hard


def family(pid):
    """The process and all its descendants."""
    children = {}
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            stat = (entry / "stat").read_text()
        except OSError:
            continue
        parent = int(stat.rpartition(")")[2].split()[1])
        children.setdefault(parent, []).append(int(entry.name))
    found, waiting = [], [pid]
    while waiting:
        current = waiting.pop()
        found.append(current)
        waiting += children.get(current, [])
    return found


def processor_ns(pids):
    """Time on a processor of all threads, in user and kernel mode, as the scheduler counts it."""
    total = 0
    for pid in pids:
        for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
            try:
                total += int((task / "schedstat").read_text().split()[0])
            except FileNotFoundError:
                continue  # a thread that has just ended
    return total


def resident_bytes(pids):
    """Resident memory; pages that several of the processes share count once (Pss)."""
    field = "Rss:" if len(pids) == 1 else "Pss:"
    total = 0
    for pid in pids:
        for line in pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith(field):
                total += int(line.split()[1]) * 1024
    return total


def core_busy(core):
    """Ticks that a core has spent on anything, and ticks in all."""
    for line in pathlib.Path("/proc/stat").read_text().splitlines():
        if line.startswith(f"cpu{core} "):
            numbers = [int(word) for word in line.split()[1:9]]
            return sum(numbers) - numbers[3] - numbers[4], sum(numbers)
    raise Broken(f"no core {core}")


def first_line(*command):
    """What a program says of its version."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return None
    lines = (done.stdout + done.stderr).strip().splitlines()
    return lines[0] if lines else None


def package_version(name):
    """The version of an installed Debian package; None when it is not installed."""
    done = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", name], capture_output=True, text=True)
    return done.stdout if done.returncode == 0 and done.stdout else None


def description():
    """Where this ran, for the results."""
    text = pathlib.Path("/proc/cpuinfo").read_text()
    model = re.search(r"model name\s*: (.*)", text)
    return {
        "processor": model.group(1) if model else platform.machine(),
        "cores": len(CORES),
        "kernel": platform.release(),
        "openssl": first_line("openssl", "version"),
    }
