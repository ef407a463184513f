"""The alerts as files: promtool finds nothing, each fires as it should, and each says what to do (docs/metrics.md)."""

import json
import pathlib
import re
import shutil

import pytest

import prometheus
from gate import ROOT

ALERTS = ROOT / "config" / "prometheus-alerts.yml"
DASHBOARD = ROOT / "config" / "grafana-dashboard.json"
TESTS = pathlib.Path(__file__).parent / "alerts_test.yml"
PAGE = (ROOT / "docs" / "metrics.md").read_text()

needs_promtool = pytest.mark.skipif(not shutil.which("promtool"), reason="needs Debian's package prometheus")


@needs_promtool
def test_promtool_finds_nothing_in_the_alerts():
    status, said = prometheus.promtool("check", "rules", ALERTS)
    assert status == 0 and "SUCCESS: 11 rules found" in said, said


@needs_promtool
def test_each_alert_fires_when_it_should_and_not_for_less():
    status, said = prometheus.promtool("test", "rules", TESTS)
    assert status == 0, said
    tested = set(re.findall(r"alertname: (\w+)", TESTS.read_text()))
    assert tested == set(re.findall(r"- alert: (\w+)", ALERTS.read_text()))


def test_each_alert_leads_to_its_runbook():
    text = ALERTS.read_text()
    alerts = re.findall(r"- alert: (\w+)", text)
    anchors = {f"docs/metrics.md#runbook-{name.lower()}" for name in re.findall(r"^### Runbook: (\w+)$", PAGE, re.M)}
    assert set(re.findall(r"runbook_url: (\S+)", text)) == anchors
    assert len(alerts) == len(set(alerts)) == len(anchors) == 11
    for name, rest in zip(alerts, text.split("- alert: ")[1:]):
        assert f"#runbook-{name.lower()}\n" in rest
    for runbook in PAGE.split("### Runbook: ")[1:]:
        assert "\n- Look: " in runbook and "\n- Do: " in runbook, runbook.splitlines()[0]


def test_alerts_and_dashboard_name_families_that_there_are():
    families = set(re.findall(r"^\| `((?:portcullis|process)_\w+)", PAGE, re.M))
    named = set()
    for text in (ALERTS.read_text(), DASHBOARD.read_text()):
        named |= set(re.findall(r"\b(?:portcullis|process)_[a-z_]+", text))
    assert {re.sub(r"_bucket$", "", name) for name in named} - families == set()


def test_the_dashboard_is_one():
    board = json.loads(DASHBOARD.read_text())
    identifiers = [panel["id"] for panel in board["panels"]]
    assert len(identifiers) == len(set(identifiers))
    for panel in board["panels"]:
        place = panel["gridPos"]
        assert place["x"] + place["w"] <= 24, panel["title"]
        if panel["type"] != "row":
            assert panel["targets"] and panel["description"].endswith("."), panel["title"]
            assert panel["datasource"]["uid"] == "${datasource}"
