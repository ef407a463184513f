"""The documents as the tests see them: pages, headings with their anchors, links, and code blocks with their fences."""

import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[4]
# What docs/developing.md, "Documents" says of each is what the tests do with it.
FENCES = {"sh", "console", "sh shown", "env", "swift", "kotlin", "json", "python", "text"}


class Block(NamedTuple):
    """A fenced block: what stands behind its fence, its text, and its first line's number in the page."""

    fence: str
    text: str
    line: int


def pages():
    """All Markdown of the repository, by its path in it."""
    found = {}
    for path in sorted(ROOT.rglob("*.md")):
        place = path.relative_to(ROOT)
        if not any(part.startswith(".") for part in place.parts):
            found[str(place)] = path.read_text()
    return found


def blocks(text):
    """The fenced blocks of a page, in their order."""
    found, fence, lines, start = [], None, [], 0
    for number, line in enumerate(text.splitlines(), 1):
        if fence is None and line.startswith("```"):
            fence, lines, start = line[3:].strip(), [], number + 1
        elif line == "```":
            found.append(Block(fence, "\n".join(lines) + "\n", start))
            fence = None
        elif fence is not None:
            lines.append(line)
    assert fence is None, f"a block without an end begins at line {start - 1}"
    return found


def prose(text):
    """A page without its blocks."""
    return re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)


def headings(text):
    """The headings' texts as a reader sees them."""
    for line in prose(text).splitlines():
        if match := re.match(r"#{1,6} +(.*?)\s*$", line):
            yield re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", match[1]).replace("`", "")


def anchors(text):
    """The names by which GitHub lets a link point at each heading."""
    seen = {}
    for heading in headings(text):
        name = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        count = seen.get(name, 0)
        seen[name] = count + 1
        yield f"{name}-{count}" if count else name


def links(text):
    """The targets of links and images."""
    plain = re.sub(r"`[^`\n]*`", "", prose(text))
    yield from re.findall(r"\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)", plain)
    yield from re.findall(r"^\[[^\]]+\]:\s*(\S+)", plain, re.MULTILINE)
