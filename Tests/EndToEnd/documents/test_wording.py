"""Plain words in the documents and the help texts (CONTRIBUTING.md, "Words"): what is left of others may only shrink."""

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from documents import pages
from helps import listed
from wording import LONGEST, PHRASES, faults, sentences, words

# Counts by page and by rule, and by command: of sentences that were there before these rules.
LEFT = json.loads((Path(__file__).parent / "wording.json").read_text())
# What has been released, and decided, stays as it was written.
PAGES = {
    page: text
    for page, text in pages().items()
    if page in {"README.md", "CONTRIBUTING.md", "SECURITY.md"} or page.startswith("docs/") and not page.startswith("docs/decisions/")
}


def judge(name, text, left):
    found = list(faults(text))
    counts = Counter(rule for rule, _ in found)
    more = [(rule, sentence) for rule, sentence in found if counts[rule] > left.get(rule, 0)]
    assert not more, f"{name}: say it in other words, as CONTRIBUTING.md has it"
    assert counts == left, f"{name}: fewer than wording.json says; lower its counts, and take out what is 0"


@pytest.mark.parametrize("page", PAGES)
def test_a_page_is_in_plain_words(page):
    judge(page, PAGES[page], LEFT["pages"].get(page, {}))


def test_only_pages_that_are_there_are_excused():
    assert set(LEFT["pages"]) <= set(PAGES)


def spoken(help_text):
    """What a help says, as paragraphs: its overview, and what stands beside each option and command."""
    overview, _, rest = help_text.partition("\nUSAGE:")
    paragraphs = overview.removeprefix("OVERVIEW: ").split("\n\n")
    # Not how it is called.
    for line in re.split(r"(?m)^(?=[A-Z]+:$)", rest, maxsplit=1)[-1].splitlines():
        if match := re.match(r"  (?:\S.{0,22}?) {2,}(\S.*)$", line):
            paragraphs.append(match[1])
        elif re.match(r"  \S|\S", line):
            paragraphs.append("")
        elif line.strip():
            paragraphs[-1] += f" {line.strip()}"
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs if paragraph.strip())


def test_helps_are_in_plain_words(gates):
    gate = gates(start=False)
    seen = set()

    def read(*command):
        said = gate.command(*command, "--help").stdout
        name = " ".join(command)
        seen.add(name)
        judge(f"portcullis {name} --help", spoken(said), LEFT["helps"].get(name, {}))
        for below in listed(said):
            read(*command, below)

    read()
    assert len(seen) >= 60
    assert set(LEFT["helps"]) <= seen


def test_the_reader_itself():
    text = (
        "# Who plays\n\nWhoever asks waits.\nA gate\nis behind a load balancer. It is behind time! `who is told`\n\n"
        "| who asks | nobody |\n|---|---|\n| x | Who has a key is told. |\n\n- [behind](y) 1.\n- Who is there?\n\n```text\nmend\n```\n"
    )
    assert Counter(rule for rule, _ in faults(text)) == {"who as a subject": 2, "behind": 2, "nobody": 1, "is told": 1}
    assert list(sentences("A b. C\nd.\n\n- e\n- f g\n")) == ["A b.", "C d.", "e", "f g"]
    assert len(words("`a b` - c.")) == 3
    long = " ".join(["word"] * (LONGEST + 1))
    assert [rule for rule, _ in faults(f"{long}.")] == ["long"]
    assert not list(faults(f"{long.rpartition(' ')[0]}."))
    assert all(re.compile(pattern) for pattern in PHRASES.values())


def test_the_reader_of_helps_itself():
    said = "OVERVIEW: Do it.\n\nMore of\nit.\n\nUSAGE: x <y>\n\nOPTIONS:\n  --long-option-that-fills <it>\n                          Wraps\n                          on.\n  -h, --help              Show it.\n"
    assert spoken(said) == "Do it.\n\nMore of it.\n\nWraps on.\n\nShow it."
