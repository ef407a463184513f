"""The documents' evidence is there: every test that the threat model names exists."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def rows():
    """The rows of the table of attacks, as lists of cells."""
    section = (ROOT / "docs" / "security.md").read_text().split("\n## Attacks\n")[1].split("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def test_every_attack_names_tests_that_exist():
    files = {path.name for path in (ROOT / "Tests").rglob("*Tests.swift")}
    functions = set()
    for path in (ROOT / "Tests" / "EndToEnd").glob("test_*.py"):
        functions |= set(re.findall(r"^(?:async )?def (test_\w+)", path.read_text(), re.MULTILINE))
    table = rows()
    assert len(table) >= 15
    for attack, _, evidence in table:
        names = re.findall(r"`([^`]+)`", evidence)
        assert names, attack
        unknown = [name for name in names if name not in files | functions]
        assert not unknown, (attack, unknown)
