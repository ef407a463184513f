"""The modules as the rows of Package.swift have them: names, layers, folders and arrows."""

import pathlib
import re
from typing import NamedTuple

ROOT = pathlib.Path(__file__).resolve().parents[1]
ROW = re.compile(r'^  Module\(\s*"([\w-]+)", in: \.(\w+)(?:,\s*\[([^\]]*)\])?([^)]*)', re.MULTILINE)


class Module(NamedTuple):
    """A row: its folder is `Sources/<layer>/<name>`."""

    name: str
    layer: str
    uses: list[str]
    is_program: bool

    @property
    def folder(self):
        return ROOT / "Sources" / self.layer / self.name


class Manifest(NamedTuple):
    """The layers from the lowest to the highest, each with the first comment above its rows, and the modules."""

    layers: dict[str, str]
    modules: list[Module]

    def of(self, layer):
        return [module for module in self.modules if module.layer == layer]


def read(text=None):
    """The manifest as it is, or another text of that form. A row that is not understood is an error."""
    text = (ROOT / "Package.swift").read_text() if text is None else text
    folders = dict(re.findall(r'^  case (\w+) = "(\w+)"$', text, re.MULTILINE))
    layers = dict.fromkeys(folders.values(), "")
    modules = []
    for row in ROW.finditer(text):
        layer = folders[row[2]]
        if not any(module.layer == layer for module in modules):
            layers[layer] = comment_before(text[: row.start()])
        modules.append(Module(row[1], layer, re.findall(r'"([\w-]+)"', row[3] or ""), "isProgram: true" in row[4]))
    if not modules or len(modules) != len(re.findall(r"^ *Module\(", text, re.MULTILINE)):
        raise SystemExit("Package.swift has rows of modules in a form that scripts/manifest.py does not know")
    return Manifest(layers, modules)


def comment_before(text):
    """The first line of the comment that ends right here."""
    lines = []
    for line in reversed(text.splitlines()):
        if not line.startswith("  // "):
            break
        lines.append(line.removeprefix("  // "))
    return lines[-1] if lines else ""
