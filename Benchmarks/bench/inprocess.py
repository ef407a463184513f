"""Rows f, g, h, q, s, t and u: what is measured without a network, beside OpenSSL's own speed test and a floor."""

import contextlib
import json
import re
import shutil
import subprocess

from contestants import Portcullis
from machine import CORES, Broken
from programs import GATE_CORES, pinned


def measured(*command, cores=GATE_CORES):
    """The JSON that a program prints, run on the gate's core."""
    words = [str(word) for word in command]
    done = subprocess.run(words, capture_output=True, text=True, preexec_fn=pinned(cores))
    if done.returncode != 0:
        raise Broken(f"{' '.join(words)}: {done.stdout}{done.stderr}")
    return json.loads(done.stdout)


def openssl_verifications(seconds, bits=256):
    """`openssl speed`: verifications a second on P-256 or P-384, with one key that is kept."""
    whole = max(1, round(seconds))
    command = ["openssl", "speed", "-mr", "-seconds", str(whole), f"ecdsap{bits}"]
    done = subprocess.run(command, capture_output=True, text=True, preexec_fn=pinned(GATE_CORES))
    # +F4:<number>:<bits>:<signatures a second>:<verifications a second>
    found = re.search(rf"^\+F4:\d+:{bits}:[\d.]+:([\d.]+)", done.stdout, re.MULTILINE)
    if not found:
        raise Broken(f"openssl speed: {done.stdout}{done.stderr}")
    return float(found.group(1))


def verification_row(setup, samples, rounds):
    """Row f."""
    seconds = setup.lengths.in_process_seconds
    for _ in range(rounds):
        rate = openssl_verifications(seconds)
        for name in ("f distinct", "f hot"):
            samples.add(name, "openssl", rate)
        for kind, tool in setup.tools.items():
            found = measured(tool, "assertions", seconds)
            samples.add("f distinct", kind.name, found["distinct_per_second"])
            samples.add("f hot", kind.name, found["hot_per_second"])


def registration_row(setup, samples, rounds):
    """Row g: the floor verifies the certificates of one of the devices."""
    seconds = setup.lengths.in_process_seconds
    leaf, intermediate = setup.folder / "leaf.der", setup.folder / "intermediate.der"
    for _ in range(rounds):
        for kind, tool in setup.tools.items():
            found = measured(tool, "registrations", seconds, leaf, intermediate)
            samples.add("g", kind.name, found["per_second"])
        floor = measured(setup.programs / "floor-registration", leaf, intermediate, seconds)
        samples.add("g", "floor", floor["per_second"])


def android_key_row(setup, samples, rounds):
    """Row t: beside the sum of a chain's signature checks, and a floor that verifies those of one of the chains."""
    seconds = setup.lengths.in_process_seconds
    chain = [setup.folder / f"{place}.der" for place in range(4)]
    for _ in range(rounds):
        # The leaf's signature is on P-256, those of the two above it on P-384.
        checks = 1 / openssl_verifications(seconds) + 2 / openssl_verifications(seconds, bits=384)
        samples.add("t", "openssl", 1e6 * checks)
        ours = measured(setup.tool, "android-keys", seconds, setup.folder)
        floor = measured(setup.programs / "floor-chain", seconds, *chain)
        samples.add("t", "floor", 1e6 / floor["per_second"])
        samples.add("t", Portcullis.name, 1e6 / ours["per_second"])


def store_row(setup, samples, rounds):
    """Row h, on a disk; once, as it is long."""
    for kind, tool in setup.tools.items():
        with on_disk(setup) as folder:
            measured(tool, "store-make", folder, setup.lengths.store_keys)
            # The snapshot has a thread of its own, which is to have a core when there is one.
            found = measured(tool, "store-measure", folder, setup.lengths.store_seconds, cores=CORES)
        samples.add("h load", kind.name, found["load_seconds"], found)
        samples.add("h memory", kind.name, found["bytes_per_key"])
        samples.add("h lookup", kind.name, found["lookup_p99_us"])
        if found["snapshot_share"] is not None:
            samples.add("h snapshots", kind.name, found["snapshot_share"] * 100)
        else:
            print("row h: not enough snapshots came in time, so their share is not known")
    for _ in range(rounds):
        for kind, tool in setup.tools.items():
            with on_disk(setup) as folder:
                commits = measured(tool, "commits", folder, setup.lengths.in_process_seconds, cores=CORES)
            ratio = commits["many_per_second"] / commits["one_per_second"]
            samples.add("h commits", kind.name, ratio, commits)


@contextlib.contextmanager
def on_disk(setup):
    """An empty folder on a disk, for as long as it is wanted."""
    shutil.rmtree(setup.disk, ignore_errors=True)
    setup.disk.mkdir(parents=True)
    try:
        yield setup.disk
    finally:
        shutil.rmtree(setup.disk, ignore_errors=True)


def registry_row(setup, samples, rounds):
    """Row q, on a disk: made once, as that is long."""
    with on_disk(setup) as folder:
        made = measured(setup.tool, "registry-make", folder, setup.lengths.registry_rows, cores=CORES)
        samples.add("q device", Portcullis.name, made["bytes_per_device"], made)
        samples.add("q android device", Portcullis.name, made["bytes_per_android_device"])
        samples.add("q audit", Portcullis.name, made["bytes_per_audit_row"])
        for _ in range(rounds):
            found = measured(setup.tool, "registry-measure", folder)
            samples.add("q start", Portcullis.name, found["start_seconds"] * 1000, found)
            samples.add("q door", Portcullis.name, found["door_seconds"])
            samples.add("q door memory", Portcullis.name, found["door_bytes"] / (1 << 20))
            samples.add("q lookup", Portcullis.name, found["lookup_p99_us"])
            seconds = setup.lengths.in_process_seconds
            commits = measured(setup.tool, "registry-commits", folder, seconds, cores=CORES)
            ratio = commits["many_per_second"] / commits["one_per_second"]
            samples.add("q commits", Portcullis.name, ratio, commits)


def play_row(setup, samples, rounds):
    """Row s: the floor is the cryptography of the same tokens, in turns with the whole."""
    for _ in range(rounds):
        found = measured(setup.tool, "play", setup.lengths.in_process_seconds)
        samples.add("s", "floor", found["alone_us"])
        samples.add("s", Portcullis.name, found["whole_us"])


def scrape_row(setup, samples, rounds):
    """Row u, in memory: nothing of a scrape is read from the disk."""
    folder = setup.folder / "scrapes"
    for _ in range(rounds):
        folder.mkdir()
        try:
            found = measured(setup.tool, "scrapes", folder, setup.lengths.in_process_seconds)
        finally:
            shutil.rmtree(folder)
        samples.add("u", Portcullis.name, found["milliseconds_each"], found)
