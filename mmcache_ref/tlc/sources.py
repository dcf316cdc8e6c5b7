"""What a .cfg and a .tla say of themselves: which properties are checked, and which clauses they serve."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

SECTIONS: Final = {
    "CONSTANT": "constants",
    "CONSTANTS": "constants",
    "INVARIANT": "invariants",
    "INVARIANTS": "invariants",
    "PROPERTY": "properties",
    "PROPERTIES": "properties",
    "SPECIFICATION": "specification",
    "INIT": "init",
    "NEXT": "next",
    "VIEW": "view",
    "SYMMETRY": "symmetry",
    "CONSTRAINT": "constraints",
    "CONSTRAINTS": "constraints",
    "ACTION_CONSTRAINT": "constraints",
    "ACTION_CONSTRAINTS": "constraints",
}
COMMENT: Final = re.compile(r"\\\*[^\n]*|\(\*.*?\*\)", re.DOTALL)
IDENTIFIER: Final = re.compile(r"\[([A-Z]{2,4}-\d\d)\]")
EXTENDS: Final = re.compile(r"^EXTENDS\s+(.*)$", re.MULTILINE)
INSTANCE: Final = re.compile(r"\bINSTANCE\s+(\w+)")
DEFINITION: Final = re.compile(r"^(\w+)(?:\([^)]*\))?\s*==")


def config_sections(path: Path) -> dict[str, list[str]]:
    """The words of each section of a configuration."""
    sections: dict[str, list[str]] = {}
    section = ""
    for word in COMMENT.sub(" ", path.read_text(encoding="utf-8")).split():
        if word in SECTIONS:
            section = SECTIONS[word]
        else:
            sections.setdefault(section, []).append(word)
    return sections


def checked_properties(path: Path) -> list[str]:
    """The invariants and properties that a configuration checks."""
    sections = config_sections(path)
    return sections.get("invariants", []) + sections.get("properties", [])


def clauses_of_definitions(module: Path) -> dict[str, tuple[str, ...]]:
    """For each definition of a module, and of those that it extends, the clauses in the comment directly
    above it."""
    clauses: dict[str, tuple[str, ...]] = {}
    for path in extended(module):
        above: list[str] = []
        for line in path.read_text(encoding="utf-8").splitlines():
            definition = DEFINITION.match(line)
            if line.lstrip().startswith("\\*"):
                above += IDENTIFIER.findall(line)
            elif definition:
                clauses.setdefault(definition[1], tuple(above))
                above = []
            else:
                above = []
    return clauses


def extended(module: Path) -> list[Path]:
    """A module, and those of its folder that it extends or instantiates, the nearest first."""
    found = [module]
    for path in found:
        text = path.read_text(encoding="utf-8")
        names = [name for each in EXTENDS.findall(text) for name in each.replace(",", " ").split()]
        for name in (*names, *INSTANCE.findall(text)):
            other = module.parent / f"{name}.tla"
            if other.is_file() and other not in found:
                found.append(other)
    return found


def clauses_of_config(path: Path) -> tuple[str, ...]:
    """The clauses of the invariants and properties that a configuration `MODULE.what.cfg` checks."""
    clauses = clauses_of_definitions(path.parent / f"{path.name.partition('.')[0]}.tla")
    return tuple(sorted({each for name in checked_properties(path) for each in clauses.get(name, ())}))
