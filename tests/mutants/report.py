"""Score and survivors, and whether survivors and explanations are the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Final

from mutants.generate import Mutant, Name
from mutants.judge import Kill
from mutants.survivors import ARROW, Exclusion, Explanation

LEAST_SCORE: Final = 0.95
"""Killed mutants per mutant that is not equivalent."""


@dataclass(frozen=True)
class Findings:
    """Every mutant with what killed it (`None`: it survived), against the explanations.

    `unexplained` survivors have no explanation; `refuted` mutants have one and were killed; `gone` are
    explained and no mutant at all.
    """

    mutants: Mapping[Name, Mutant]
    kills: Mapping[Name, Kill | None]
    explained: Mapping[Name, Explanation]
    excluded: Mapping[Exclusion, int] = field(default_factory=dict)
    """How many mutants each exclusion leaves out."""

    @property
    def survivors(self) -> list[Name]:
        return [name for name, kill in self.kills.items() if kill is None]

    @property
    def unexplained(self) -> list[Name]:
        return [name for name in self.survivors if name not in self.explained]

    @property
    def refuted(self) -> list[Name]:
        return [name for name in self.explained if self.kills.get(name) is not None]

    @property
    def gone(self) -> list[Name]:
        return [name for name in self.explained if name not in self.mutants]

    @property
    def equivalent(self) -> int:
        return sum(
            name in self.explained and self.explained[name].kind == "equivalent" for name in self.survivors
        )

    @property
    def score(self) -> float:
        """Killed mutants per mutant that is not equivalent."""
        judged = len(self.kills) - self.equivalent
        return (len(self.kills) - len(self.survivors)) / judged if judged else 1.0

    @property
    def is_good(self) -> bool:
        fits = not (self.unexplained or self.refuted or self.gone) and all(self.excluded.values())
        return fits and self.score >= LEAST_SCORE


def describe(findings: Findings, executed_by: Mapping[Name, Collection[str]]) -> str:
    """The report as text: survivors that need work first, the score last."""
    lines: list[str] = []
    for name in findings.unexplained:
        mutant = findings.mutants[name]
        by = ", ".join(executed_by[name]) or "no component"
        lines += [f"SURVIVED, not explained: {name.module}:{name.function}, line {mutant.lineno}"]
        lines += [f"  {mutant.operator}; the statement is executed by {by}"]
        lines += [f"    {line}" for line in mutant.diff.splitlines()]
        lines += [f"  explain: '''{written(name)}'''", ""]
    for name in findings.refuted:
        kill = findings.kills[name]
        assert kill is not None
        lines += [f"KILLED, though explained: {name}", f"  {how(kill)}: {kill.says}", ""]
    for name in findings.gone:
        lines += [f"GONE, though explained: {name}", ""]
    for exclusion, count in findings.excluded.items():
        if not count:
            what = ", ".join((*exclusion.functions, *exclusion.lines))
            lines += [f"GONE, though excluded: {exclusion.module}: {what}", ""]
    return "\n".join([*lines, *_table(findings), *_summary(findings)])


def written(name: Name) -> str:
    """A mutant as survivors.toml has it."""
    return f"{name.line}{ARROW}{name.becomes}" + (f" #{name.nth}" if name.nth > 1 else "")


def how(kill: Kill) -> str:
    """What killed a mutant, in a few words."""
    where = f" of {kill.component}" if kill.component else ""
    clause = f", {kill.clause}, {kill.operations} operations" if kill.clause else ""
    return f"{kill.stage}{where}{clause}"


def _table(findings: Findings) -> list[str]:
    rows = [("module", "mutants", "killed", "equivalent", "unspoken", "gap", "unexplained")]
    for module in sorted({name.module for name in findings.kills}):
        here = [name for name in findings.kills if name.module == module]
        kinds = Counter(
            findings.explained[name].kind if name in findings.explained else "unexplained"
            for name in here
            if findings.kills[name] is None
        )
        killed = len(here) - kinds.total()
        numbers = (len(here), killed, *(kinds[each] for each in rows[0][3:]))
        rows.append((module, *map(str, numbers)))  # type: ignore[arg-type]
    return [f"{row[0]:<28}" + "".join(f"{cell:>13}" for cell in row[1:]) for row in rows]


def _summary(findings: Findings) -> list[str]:
    stages = Counter(kill.stage for kill in findings.kills.values() if kill is not None)
    killed = ", ".join(f"{count:,} by {stage}" for stage, count in stages.most_common())
    survivors = len(findings.survivors)
    return [
        "",
        f"not judged: {sum(findings.excluded.values()):,} mutants that survivors.toml excludes",
        f"killed: {killed or 'none'}",
        f"survived: {survivors}, of which {findings.equivalent} are equivalent; "
        f"not explained: {len(findings.unexplained)}; "
        f"explanations that no longer fit: {len(findings.refuted) + len(findings.gone)}",
        f"mutation score of the oracle: {len(findings.kills) - survivors:,} of "
        f"{len(findings.kills) - findings.equivalent:,} = {100 * findings.score:.1f} % "
        f"(at least {100 * LEAST_SCORE:.0f} % is demanded)",
    ]
