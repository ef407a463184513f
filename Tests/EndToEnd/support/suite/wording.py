"""The words of the documents, of help texts too: sentences as a reader counts them, and phrases that are refused (CONTRIBUTING.md)."""

import re

from documents import prose

LONGEST = 35
# Each with what is written instead; CONTRIBUTING.md, "Words" has the rules.
PHRASES = {
    "who as a subject": r"(?:^|[.;:] )(?:and )?[Ww]ho (?=(?:\S+ ){3})(?!.*\?)|\b[Ww]hoever\b",
    "nobody": r"\b[Nn]obody\b",
    "behind": r"\b[Bb]ehind\b(?! (?:(?:a|an|the|one|another|some|that|its|your) )?(?:\w+ )?(?:load )?(?:balancer|proxy|NAT|ssh|firewall)s?\b)",
    "no good": r"\bno good\b",
    "is told": r"\b(?:is|are|was|were|be|been|being) told\b",
    "word of": r"\bwords? of (?!mouth)|\bown word\b",
    "mend": r"\bmend(?:s|ed|ing)?\b",
    "at the door": r"\bat the door\b",
}


def sentences(text):
    """Sentences of paragraphs, items, headings and cells; code counts as one word, a link as its text."""
    plain = re.sub(r"<!--.*?-->", "", prose(text), flags=re.DOTALL)
    parts, lines = [], []

    def end():
        if lines:
            parts.append(" ".join(lines))
            lines.clear()

    for line in plain.splitlines():
        stripped = line.strip()
        if stripped.startswith("|"):
            end()
            if not re.fullmatch(r"[|:\- ]+", stripped):
                parts.extend(cell.strip() for cell in stripped.strip("|").split("|"))
        elif not stripped or stripped.startswith("#"):
            end()
            parts.append(stripped.lstrip("# "))
        else:
            if re.match(r"(?:[-*]|\d+\.) ", stripped):
                end()
                stripped = re.sub(r"^(?:[-*]|\d+\.) +", "", stripped)
            lines.append(stripped)
    end()
    for part in parts:
        part = re.sub(r"`[^`]+`", "Code", part)
        part = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", part)
        part = re.sub(r"[*_]{1,2}", "", part)
        yield from (one for one in re.split(r"(?<=[.!?])[\")]?\s+(?=[\"(A-Z0-9])", part) if one)


def words(sentence):
    return [word for word in sentence.split() if re.search(r"\w", word)]


def faults(text):
    """Each rule that is broken, with the sentence that breaks it."""
    for sentence in sentences(text):
        if len(words(sentence)) > LONGEST:
            yield "long", sentence
        for rule, pattern in PHRASES.items():
            for _ in re.findall(pattern, sentence):
                yield rule, sentence
