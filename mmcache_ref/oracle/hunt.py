"""The kill matrix: which technique finds which seeded fault, how soon, and in how short a run.

Seeded faults measure the oracle: each is looked for by executing the model's tiny graph (*exhaustive*), by
fuzzing outcomes alone and all that can be observed (*fuzz-L0*, *fuzz-best*), and by searching the model with
the fault's rule switched off (*explore*). What a technique finds follows from its seed; only seconds vary.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import median
from typing import Any, Final, Literal, get_args

import msgspec

from mmcache_ref.oracle.run import Run
from mmcache_ref.oracle.targets import seeded_faults

Technique = Literal["exhaustive", "fuzz-L0", "fuzz-best", "explore"]
TECHNIQUES: Final[tuple[Technique, ...]] = get_args(Technique)

LEAST_TECHNIQUES: Final = 2
"""Each fault must be found by so many."""
LEAST_SHARE: Final = 0.95
"""Fuzzing at the best level must find each fault from this share of its seeds."""
MOST_EXCESS: Final = 2
"""Operations by which a shrunk run may exceed the shortest one that breaks the same clause."""


class Sighting(msgspec.Struct, frozen=True):
    """A technique met a violation of `clause`, after so many operations (*explore*: states) and seconds.

    `length`: the operations of its run, the shortest for *exhaustive* and *explore*, else the shrunk one.
    """

    clause: str
    operations: int
    seconds: float
    length: int
    seed: int | None = None


class Part(msgspec.Struct, frozen=True):
    """What one task did: how often it tried, what it met, the shortest run for each clause."""

    fault: str
    technique: Technique
    tried: int
    sightings: tuple[Sighting, ...] = ()
    runs: Mapping[str, Run] = {}
    reason: str = ""


class Cell(msgspec.Struct, frozen=True):
    """A technique on a fault. `named`: the tries that named a clause of the fault; medians are over the tries
    that found it; `excess`: by how much the longest shrunk run exceeds the shortest of its clause, where one
    is known; `reason`: why nothing was found."""

    technique: Technique
    tried: int
    found: int
    named: int
    operations: float | None = None
    seconds: float | None = None
    length: float | None = None
    longest: int | None = None
    excess: int | None = None
    clauses: Mapping[str, int] = {}
    reason: str = ""


class Row(msgspec.Struct, frozen=True):
    """A fault, with a cell for each technique; `shortest`: the shortest run known for each clause it breaks;
    `run`: the one to keep."""

    fault: str
    title: str
    component: str
    clauses: tuple[str, ...]
    shortest: Mapping[str, int]
    cells: tuple[Cell, ...]
    run: Run | None = None

    def cell(self, technique: Technique) -> Cell:
        """The cell of a technique."""
        return next(cell for cell in self.cells if cell.technique == technique)


class Demand(msgspec.Struct, frozen=True):
    """What must hold of every fault, and the faults of which it does not, each with the figure."""

    says: str
    failures: tuple[str, ...] = ()


class Hunt(msgspec.Struct, frozen=True):
    """The whole matrix."""

    version: str
    seeds: int
    rows: tuple[Row, ...]
    demands: tuple[Demand, ...]

    @property
    def is_kept(self) -> bool:
        """Do all demands hold?"""
        return not any(demand.failures for demand in self.demands)


def hunt(version: str, seeds: int, parts: Iterable[Part]) -> Hunt:
    """The matrix made of the parts, whatever the order in which they came."""
    by_fault: dict[str, list[Part]] = {}
    for part in parts:
        by_fault.setdefault(part.fault, []).append(part)
    rows = tuple(_row(seeded_faults().FAULTS[name], by_fault[name]) for name in sorted(by_fault))
    return Hunt(version, seeds, rows, tuple(_demands(rows)))


def _row(fault: Any, parts: Sequence[Part]) -> Row:
    ordered = sorted(parts, key=_place)
    shortest = _shortest(ordered)
    cells = []
    for technique in TECHNIQUES:
        mine = [part for part in ordered if part.technique == technique]
        cells.append(_cell(fault, technique, mine, shortest))
    return Row(
        fault.name,
        fault.title,
        fault.component,
        fault.clauses,
        dict(sorted(shortest.items())),
        tuple(cells),
        _run_to_keep(fault, ordered),
    )


def _shortest(parts: Sequence[Part]) -> dict[str, int]:
    """For each clause the operations of the shortest run: that of the exhaustive stage or, where it found
    nothing, of any other."""
    executed = [part for part in parts if part.technique == "exhaustive" and part.runs]
    found: dict[str, int] = {}
    for part in executed or parts:
        for clause, run in part.runs.items():
            found[clause] = min(len(run.steps), found.get(clause, len(run.steps)))
    return found


def _place(part: Part) -> tuple[int, int]:
    """Where a part stands among those of its fault: by technique, then by seed."""
    return TECHNIQUES.index(part.technique), min((each.seed or 0 for each in part.sightings), default=0)


def _cell(fault: Any, technique: Technique, parts: Sequence[Part], shortest: Mapping[str, int]) -> Cell:
    sightings = [each for part in parts for each in part.sightings]
    tried = sum(part.tried for part in parts)
    if not sightings:
        return Cell(technique, tried, 0, 0, reason=next((part.reason for part in parts if part.reason), ""))
    known = min(shortest.values(), default=None)
    excess = [
        each.length - least
        for each in sightings
        if (least := shortest.get(each.clause, known)) is not None and technique.startswith("fuzz")
    ]
    named = [each.clause for each in sightings]
    return Cell(
        technique,
        tried,
        found=len(sightings),
        named=sum(clause in fault.clauses for clause in named),
        operations=median(each.operations for each in sightings),
        seconds=round(median(each.seconds for each in sightings), 3),
        length=median(each.length for each in sightings),
        longest=max(each.length for each in sightings),
        excess=max(excess, default=None),
        clauses={clause: named.count(clause) for clause in sorted(set(named))},
    )


def _run_to_keep(fault: Any, parts: Sequence[Part]) -> Run | None:
    """The shortest run of the exhaustive stage, else of fuzzing, that names a clause of the fault: the first
    of the fault's clauses that has one."""
    for techniques in (("exhaustive",), ("fuzz-best", "fuzz-L0")):
        for clause in fault.clauses:
            runs = [
                part.runs[clause] for part in parts if part.technique in techniques and clause in part.runs
            ]
            if runs:
                return min(runs, key=lambda run: len(run.steps))
    return None


def _demands(rows: Sequence[Row]) -> Iterator[Demand]:
    """What the matrix must show; the rows that do not show it."""
    yield Demand(
        f"each fault is found by at least {LEAST_TECHNIQUES} techniques",
        tuple(
            f"{row.fault} by {found}"
            for row in rows
            if (found := sum(cell.found > 0 for cell in row.cells)) < LEAST_TECHNIQUES
        ),
    )
    fuzzed = [(row, row.cell("fuzz-best")) for row in rows]
    yield Demand(
        f"fuzzing at the best level finds each fault from at least {LEAST_SHARE:.0%} of the seeds",
        tuple(
            f"{row.fault} from {cell.found} of {cell.tried}"
            for row, cell in fuzzed
            if cell.found < LEAST_SHARE * cell.tried
        ),
    )
    yield Demand(
        f"no shrunk run of it exceeds the shortest run of its clause by more than {MOST_EXCESS} operations",
        tuple(
            f"{row.fault} by {cell.excess}"
            for row, cell in fuzzed
            if cell.excess is not None and cell.excess > MOST_EXCESS
        ),
    )
