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

Kind = Literal["equivalent", "unspoken"]
"""Nobody can tell it from the reference; or what differs is nothing that a clause speaks of."""


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


class _File(msgspec.Struct, forbid_unknown_fields=True):
    explained: tuple[Explanation, ...] = ()


def load(path: Path = FILE) -> dict[Name, Explanation]:
    """Every explained mutant; `ValueError` for one that is explained twice or without words."""
    explained: dict[Name, Explanation] = {}
    for explanation in msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), _File).explained:
        if not explanation.why.strip():
            raise ValueError(f"{explanation.module}:{explanation.function}: no reason is given")
        for name in explanation.names():
            if name in explained:
                raise ValueError(f"{name} is explained twice")
            explained[name] = explanation
    return explained
