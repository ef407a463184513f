"""Runs testssl.sh and sslscan against the release binary, and says what of their findings is above LOW.

    tls_audit.py DIRECTORY    where their reports go

Exit status 1 for a finding above LOW, for a test that testssl.sh could not carry out, and for any version but
TLS 1.2 and 1.3 or any suite without AEAD.
"""

import argparse
import collections
import datetime
import json
import pathlib
import re
import subprocess
import time
from xml.etree import ElementTree

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization

from conformity import Unfit, echo_gate, ended_by

HARMLESS = {"OK", "INFO", "LOW"}
# The parts of a whole report; one that is cut short lacks the last of them.
PARTS = {
    "pretest", "protocols", "ciphers", "pfs", "serverPreferences", "serverDefaults", "headerResponse",
    "vulnerabilities", "cipherTests", "browserSimulations",
}
VERSIONS = {"1.2", "1.3"}
AEAD = re.compile(r"GCM|CHACHA20|CCM")


def name_revocations(folder):
    """Issues the development certificate anew, by the same authority and for the same key, with the address
    of a revocation list, as a public authority's has: without one testssl.sh finds fault with it (HIGH).
    Nobody fetches that list here."""
    authority = x509.load_pem_x509_certificate((folder / "ca.pem").read_bytes())
    key = serialization.load_pem_private_key((folder / "ca-key.pem").read_bytes(), None)
    made = x509.load_pem_x509_certificate((folder / "server.pem").read_bytes())
    builder = (
        x509.CertificateBuilder()
        .subject_name(made.subject)
        .issuer_name(authority.subject)
        .public_key(made.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(made.not_valid_before)
        .not_valid_after(made.not_valid_after - datetime.timedelta(days=1))
    )
    for extension in made.extensions:
        builder = builder.add_extension(extension.value, extension.critical)
    address = x509.UniformResourceIdentifier("http://localhost/revoked.crl")
    points = x509.CRLDistributionPoints([x509.DistributionPoint([address], None, None, None)])
    signed = builder.add_extension(points, False).sign(key, hashes.SHA256())
    (folder / "server.pem").write_bytes(signed.public_bytes(serialization.Encoding.PEM))


def run(command, log_path, limit):
    """Runs a tool to its end; its exit status. What it says goes to `log_path`."""
    with open(log_path, "wb") as log:
        try:
            done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, timeout=limit)
        except FileNotFoundError:
            raise Unfit(f"{command[0]} is not installed: apt-get install {command[0]}") from None
        except subprocess.TimeoutExpired:
            raise Unfit(f"{command[0]} did not end within {limit} s: see {log_path}") from None
    return done.returncode


def test_ssl(gate, reports):
    """All findings of testssl.sh."""
    report, log = reports / "testssl.json", reports / "testssl.log"
    report.unlink(missing_ok=True)
    # Not the path `/`, where a gate answers 426; and nobody is asked for names or addresses outside.
    address = ["--ip", gate.host, f"https://localhost:{gate.port}/healthz"]
    options = ["--add-ca", gate.authority, "--nodns", "min", "--warnings", "off", "--quiet", "--color", "0"]
    run(["testssl", *options, "--jsonfile-pretty", report, *address], log, 1200)
    try:
        (scan,) = json.loads(report.read_text())["scanResult"]
    except (OSError, ValueError, KeyError) as error:
        raise Unfit(f"testssl.sh left no report ({error}): see {log}") from None
    if missing := PARTS - set(scan):
        raise Unfit(f"testssl.sh did not come to its end, without {', '.join(sorted(missing))}: see {log}")
    return [finding for part in PARTS for finding in scan[part] if isinstance(finding, dict)]


def judge_test_ssl(gate, reports):
    """How many findings are above LOW, each told."""
    findings = test_ssl(gate, reports)
    counts = collections.Counter(finding["severity"] for finding in findings)
    bad = [finding for finding in findings if finding["severity"] not in HARMLESS]
    for finding in sorted(findings, key=lambda finding: finding["id"]):
        if finding["severity"] not in ("OK", "INFO"):
            print(f"  {finding['severity']:<8} {finding['id']}: {finding['finding']}")
    told = ", ".join(f"{count} {severity}" for severity, count in counts.most_common())
    print(f"testssl.sh: {len(findings)} findings ({told}), {len(bad)} above LOW")
    return len(bad)


def judge_sslscan(gate, reports):
    """How many versions, suites and other things are there that should not be, each told."""
    report, log = reports / "sslscan.xml", reports / "sslscan.log"
    report.unlink(missing_ok=True)
    run(["sslscan", f"--xml={report}", f"{gate.host}:{gate.port}"], log, 120)
    if not report.exists():
        raise Unfit(f"sslscan left no report: see {log}")
    scan = ElementTree.parse(report).find("ssltest")
    versions = {found.get("version") for found in scan.iter("protocol") if found.get("enabled") == "1"}
    suites = [f"{found.get('sslversion')} {found.get('cipher')}" for found in scan.iter("cipher")]
    wrong = [f"TLS {version} is missing" for version in VERSIONS - versions]
    wrong += [f"version {version} is on" for version in versions - VERSIONS]
    wrong += [f"{suite} is no AEAD suite" for suite in suites if not AEAD.search(suite)]
    wrong += ["renegotiation is on"] * (scan.find("renegotiation").get("supported") != "0")
    wrong += ["Heartbleed" for found in scan.iter("heartbleed") if found.get("vulnerable") != "0"]
    wrong += ["no suite at all"] * (not suites)
    for line in wrong:
        print(f"  FAILURE: {line}")
    for suite in suites:
        print(f"  {suite}")
    print(f"sslscan: {', '.join(f'TLS {version}' for version in sorted(versions))}, {len(suites)} suites, "
          f"{len(wrong)} failures")
    return len(wrong)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("directory", type=pathlib.Path)
    reports = parser.parse_args().directory.resolve()
    reports.mkdir(parents=True, exist_ok=True)
    start = time.monotonic()
    with echo_gate(prepare=name_revocations, LOG_LEVEL="notice") as gate:
        print("testssl.sh and sslscan against the release binary; this takes some minutes", flush=True)
        failures = judge_sslscan(gate, reports) + judge_test_ssl(gate, reports)
    print(f"TLS audit: {failures} failures, in {time.monotonic() - start:.0f} s; reports are in {reports}")
    return 1 if failures else 0


if __name__ == "__main__":
    ended_by(main)
