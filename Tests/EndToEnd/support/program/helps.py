"""What a program's help says of its commands."""

import re


def listed(help_text):
    """The subcommands that a help names."""
    section = help_text.partition("SUBCOMMANDS:")[2].partition("See '")[0]
    return re.findall(r"^  ([a-z][a-z-]*)(?: |$)", section, re.MULTILINE)
