"""What a program's help says of its commands."""

import re


def listed(help_text):
    """The subcommands that a help names."""
    # In groups, or not; an empty line ends each.
    sections = re.findall(r"SUBCOMMANDS:\n(.*?)(?:\n\n|\Z)", help_text, re.DOTALL)
    return re.findall(r"^  ([a-z][a-z-]*)(?: |$)", "\n".join(sections), re.MULTILINE)
