"""The clauses of `spec/`, read from the text itself."""

from __future__ import annotations

import re
from functools import cache
from importlib import resources
from pathlib import Path

import msgspec

from mmcache_ref.oracle.errors import UnknownClause

HEADING = re.compile(
    r"^### (?P<id>[A-Z]+-\d\d) · (?P<level>MUST|SHOULD|MAY)"
    r" · (?P<origin>seed|stronger: [DS]\d\d(?:, [DS]\d\d)*)$"
)
VIEWS = re.compile(r"^Views: (?P<views>–|[a-z, ]+)$")
IN_LINES = ("|", "- ", "```")
"""How blocks of text begin whose lines mean something."""
NO_VIEWS = "–"
"""Says of a clause that its views are still to come."""


class Clause(msgspec.Struct, frozen=True):
    """One rule of the specification.

    `level` is MUST, SHOULD or MAY; `faults` are the field faults that a stronger clause answers; `views` are
    those that the specification demands of it; `rule` is its sentence and `notes` what explains it.
    """

    id: str
    level: str
    is_stronger: bool
    faults: tuple[str, ...]
    rule: str
    notes: str
    views: tuple[str, ...]
    file: str


def spec_directory() -> Path:
    """The folder `spec/`: inside the installed package, or beside it in a checkout."""
    installed = Path(str(resources.files("mmcache_ref"))) / "spec"
    return installed if installed.is_dir() else installed.parent.parent / "spec"


@cache
def all_clauses() -> dict[str, Clause]:
    """Every clause by id, in reading order."""
    clauses: dict[str, Clause] = {}
    for path in sorted(spec_directory().glob("[0-9][0-9]-*.md")):
        for clause in parse(path.read_text(encoding="utf-8"), path.name):
            if clause.id in clauses:
                raise ValueError(
                    f"{path.name}: clause {clause.id} stands in {clauses[clause.id].file} already"
                )
            clauses[clause.id] = clause
    return clauses


def clause(identifier: str) -> Clause:
    """The clause of that id; `UnknownClause` when there is none."""
    try:
        return all_clauses()[identifier]
    except KeyError:
        raise UnknownClause(f"no clause {identifier!r}: `mmcache-ref clauses` lists them all") from None


def parse(text: str, file: str) -> list[Clause]:
    """The clauses of one file: a heading, a paragraph that is the rule, then notes."""
    head, *sections = re.split(r"^(?=### )", text, flags=re.MULTILINE)
    demanded = _views(head.splitlines()) or ()
    clauses = []
    for section in sections:
        heading, *lines = re.split(r"^(?=## )", section, flags=re.MULTILINE)[0].strip().splitlines()
        match = HEADING.match(heading)
        if match is None:
            raise ValueError(f"{file}: not the heading of a clause: {heading!r}")
        body = "\n".join(line for line in lines if not VIEWS.match(line)).strip()
        rule, _, notes = body.partition("\n\n")
        if not rule:
            raise ValueError(f"{file}: clause {match['id']} has no rule")
        clauses.append(
            Clause(
                id=match["id"],
                level=match["level"],
                is_stronger=match["origin"] != "seed",
                faults=tuple(re.findall(r"[DS]\d\d", match["origin"])),
                rule=" ".join(rule.split()),
                notes="\n\n".join(map(_block, re.split(r"\n\s*\n", notes.strip()))),
                views=demanded if (own := _views(lines)) is None else own,
                file=file,
            )
        )
    return clauses


def _block(text: str) -> str:
    """A paragraph in one line; a table, a list or code as it is."""
    return text if text.startswith(IN_LINES) else " ".join(text.split())


def _views(lines: list[str]) -> tuple[str, ...] | None:
    """The views that the last `Views:` line names; None where there is no such line."""
    named = [match["views"] for line in lines if (match := VIEWS.match(line))]
    if not named:
        return None
    return () if named[-1] == NO_VIEWS else tuple(view.strip() for view in named[-1].split(","))
