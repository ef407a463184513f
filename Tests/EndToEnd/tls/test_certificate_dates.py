"""Certificates that end: the log says so from 21 days before, at the start, after a reload, and daily."""

import datetime
import os

import pytest

from pki import DAY, ExtendedKeyUsageOID, now, pem
from reloading import reload
from waiting import eventually

pytestmark = pytest.mark.quick

SOON = "certificate_expires"
HOUR = datetime.timedelta(hours=1)


class Dated:
    """A gate whose certificate and client authority can be replaced by such as end when a test says."""

    def __init__(self, gates, folder, pki, **changes):
        self.gates, self.folder, self.pki, self.changes = gates, folder, pki, changes
        self.gate = None

    def certificate(self, ends, starts=None):
        """Puts a server certificate in place that ends `ends` from now."""
        issued = self.pki.client_authority.issue(
            "localhost", ExtendedKeyUsageOID.SERVER_AUTH, starts=starts, ends=now() + ends
        )
        for name, item in zip(("tls.pem", "tls.key"), issued):
            self.put(name, pem(item))
        return self

    def put(self, name, content):
        fresh = self.folder / (name + ".new")
        fresh.write_bytes(content)
        os.replace(fresh, self.folder / name)

    def start(self):
        self.gate = self.gates(
            TLS_CERT_PATH=self.folder / "tls.pem", TLS_KEY_PATH=self.folder / "tls.key", **self.changes
        )
        self.gate.event(event="listening")
        return self

    def reload(self):
        return reload(self.gate)

    def said(self):
        """What the log says of certificates so far: (event, which, days)."""
        return [
            (event["event"], event["certificate"], event.get("days"))
            for event in self.gate.events()
            if event.get("event", "").startswith("certificate_")
        ]


@pytest.fixture
def dated(gates, folder, pki, fault):
    def make(**changes):
        return Dated(gates, folder, pki, **fault.environment, **changes)

    return make


def test_at_the_start(dated):
    gate = dated().certificate(ends=21 * DAY - HOUR).start().gate
    line = gate.event(event=SOON)
    assert (line["level"], line["certificate"], line["days"]) == ("warning", "server", "20"), line
    assert line["subject"] == "CN=localhost" and line["notAfter"].endswith("Z"), line


def test_not_before_its_time(dated):
    assert dated().certificate(ends=21 * DAY + HOUR).start().said() == []


def test_at_a_reload(dated):
    gate = dated().certificate(ends=90 * DAY).start()
    gate.certificate(ends=3 * DAY + HOUR)
    assert [event["days"] for event in gate.reload() if event.get("event") == SOON] == ["3"]
    gate.certificate(ends=90 * DAY)
    assert not [event for event in gate.reload() if event.get("event") == SOON]


def test_daily_while_time_passes(dated, fault):
    gate = dated().certificate(ends=30 * DAY + HOUR).start()
    expected = []
    for day, days in [(10, "20"), (11, "19")]:
        fault.realtime_offset = day * 86_400 * 10**9
        expected.append((SOON, "server", days))
        eventually(lambda: gate.said() == expected, f"a line on day {day}: {gate.said()}")
    fault.realtime_offset = 31 * 86_400 * 10**9
    expected.append(("certificate_expired", "server", None))
    eventually(lambda: gate.said() == expected, "that it has expired")
    assert gate.gate.event(event="certificate_expired")["level"] == "error"


def test_of_the_client_authority_too(dated, pki, fault):
    """It ends in 30 days."""
    gate = dated(ALLOW_MTLS_FALLBACK="true", MTLS_CLIENT_CA_PATH=pki.client_ca)
    gate.certificate(ends=90 * DAY).start()
    assert gate.said() == []
    fault.realtime_offset = 12 * 86_400 * 10**9
    eventually(lambda: gate.said() == [(SOON, "client_ca", "17")], f"a line: {gate.said()}")


def test_one_that_has_not_begun(dated):
    gate = dated().certificate(ends=90 * DAY, starts=now() + DAY).start()
    eventually(lambda: gate.said() == [("certificate_not_yet_valid", "server", None)], f"a line: {gate.said()}")
