"""A helper's name means one file, whichever folders are run together: two of one name shadow each other."""

import collections
import configparser
import pathlib
import re

SUITE = pathlib.Path(__file__).resolve().parents[1]
IMPORT = re.compile(r"^\s*(?:from|import) (conftest)\b", re.MULTILINE)


def test_each_helper_has_a_name_of_its_own():
    settings = configparser.ConfigParser()
    settings.read(SUITE / "pytest.ini")
    helpers = [path for folder in settings["pytest"]["pythonpath"].split() for path in (SUITE / folder).glob("*.py")]
    tests = [path for path in SUITE.rglob("test_*.py")]
    assert len(helpers) > 50 and len(tests) > 100
    seen = collections.Counter(path.stem for path in helpers + tests)
    assert [name for name, count in seen.items() if count > 1] == []


def test_nobody_imports_from_a_conftest():
    """Each folder may have one, and only the last that was read has the name."""
    found = [str(path.relative_to(SUITE)) for path in SUITE.rglob("*.py") if IMPORT.search(path.read_text())]
    assert found == []
