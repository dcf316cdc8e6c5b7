"""The survivors that are explained: why the oracle need not, or cannot, tell them from the reference."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Final, Literal

import msgspec

from mutants.generate import Name

FILE: Final = Path(__file__).with_name("survivors.toml")
ARROW: Final = " => "
"""Between the line that was changed and what became of it: no Python."""

Kind = Literal["equivalent", "unspoken", "gap"]
"""Nobody can tell it from the reference; no clause speaks of what differs; or one does, and the oracle does
not look yet. Only the first is no loss of score."""


class Explanation(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Why some mutants of a function survive; each is written `line => what became of it`.

    Where a function has several that read alike, ` #2` and so on stands behind the second and later ones.
    """

    module: str
    function: str
    kind: Kind
    why: str
    mutants: tuple[str, ...]

    def names(self) -> Iterable[Name]:
        """The mutants that it speaks of."""
        for written in self.mutants:
            line, arrow, becomes = written.partition(ARROW)
            if not arrow:
                raise ValueError(f"{self.module}:{self.function}: no{ARROW}in {written!r}")
            text, _, nth = becomes.rpartition(" #")
            if text and nth.isdecimal():
                yield Name(self.module, self.function, line, text, int(nth))
            else:
                yield Name(self.module, self.function, line, becomes)


class Exclusion(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Why functions (or classes with all that is in them), or lines with one of these texts, are not mutated:
    the oracle has no say on them."""

    module: str
    why: str
    functions: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()

    def covers(self, name: Name) -> bool:
        """Is the function one of these, or inside one, or the line one of these?"""
        is_inside = any(
            name.function == each or name.function.startswith(f"{each}.") for each in self.functions
        )
        return name.module == self.module and (is_inside or any(each in name.line for each in self.lines))


class Listed(msgspec.Struct, forbid_unknown_fields=True):
    """The whole file."""

    explained: tuple[Explanation, ...] = ()
    excluded: tuple[Exclusion, ...] = ()


def read(path: Path = FILE) -> Listed:
    """The file; `ValueError` for a reason without words."""
    listed = msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), Listed)
    reasons: list[Explanation | Exclusion] = [*listed.explained, *listed.excluded]
    for each in reasons:
        if not each.why.strip():
            raise ValueError(f"{each.module}: no reason is given in {each}")
    return listed


def by_name(listed: Listed) -> dict[Name, Explanation]:
    """Every explained mutant; `ValueError` for one that is explained twice."""
    explained: dict[Name, Explanation] = {}
    for explanation in listed.explained:
        for name in explanation.names():
            if name in explained:
                raise ValueError(f"{name} is explained twice")
            explained[name] = explanation
    return explained
