"""Verdicts: for each clause, each component and each target, with the runs that show them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal

import msgspec

from mmcache_ref.oracle.clauses import clause
from mmcache_ref.oracle.run import Run
from mmcache_ref.oracle.sentence import sentence

Status = Literal["conforms", "violates", "undetermined"]
ClauseStatus = Literal["kept", "broken", "not reached"]

EXIT_CODES: dict[Status, int] = {"conforms": 0, "violates": 2, "undetermined": 3}


class ClauseVerdict(msgspec.Struct, frozen=True):
    """One clause on one component: `comparisons` were made for it; `run` breaks it, and `sentence` says how.

    `stage` says who found the run, `shared` that it was stored by an earlier judgement; `seed` is the fuzz
    batch that did. `follows_from` names broken clauses that probably are the reason: `CLAUSE (component)`.
    """

    id: str
    status: ClauseStatus
    comparisons: int
    rule: str
    run: Run | None = None
    stage: Literal["exhaustive", "shared", "walks", "fuzz"] | None = None
    seed: int | None = None
    sentence: str = ""
    follows_from: tuple[str, ...] = ()
    requirement: Literal["MUST", "SHOULD", "MAY"] = "MUST"

    @property
    def is_violated(self) -> bool:
        """Is a MUST broken? What is only recommended may be left out."""
        return self.status == "broken" and self.requirement == "MUST"


class Reached(msgspec.Struct, frozen=True):
    """What one stage reached: operations compared, distinct states of the model, distinct pairs of state and
    operation, cases as `operation: kind`, and the clauses that something was compared for.

    With `is_at_least` counting stopped at a bound: there may be more states and transitions.
    """

    operations: int = 0
    states: int = 0
    transitions: int = 0
    is_at_least: bool = False
    cases: tuple[str, ...] = ()
    clauses: tuple[str, ...] = ()


class Coverage(msgspec.Struct, frozen=True):
    """What was compared, and what was not: nothing here is a claim about what lies outside.

    `states` and `edges` of the model's tiny graph were executed; `graph_states` and `graph_edges` are the
    whole graph. On `silent_edges` the profile says nothing, and what lies only behind the `mismatching_edges`
    is not reached. `cases` are (operation, kind) pairs of the model; `exhaustive` and `fuzz` tell the stages
    apart. Of `all_walked_edges` the walks, if they were asked for, took `walked_edges` and agreed, in
    `walk_steps`. Of the state, the aspects `seen` were compared; the `hidden` ones the target does not show,
    or they lie above the level.
    """

    states: int = 0
    edges: int = 0
    graph_states: int = 0
    graph_edges: int = 0
    silent_edges: int = 0
    is_exhaustive: bool = False
    fuzz_examples: int = 0
    fuzz_operations: int = 0
    cases: int = 0
    all_cases: int = 0
    unreached_cases: tuple[str, ...] = ()
    mismatching_edges: int = 0
    seen: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    exhaustive: Reached = Reached()
    fuzz: Reached = Reached()
    walked_edges: int = 0
    all_walked_edges: int = 0
    walk_steps: int = 0


class ComponentVerdict(msgspec.Struct, frozen=True):
    """One component of one target; `reason` says why nothing could be determined, where that is so."""

    component: str
    status: Status
    level: int = 0
    clauses: tuple[ClauseVerdict, ...] = ()
    coverage: Coverage = Coverage()
    seconds: float = 0.0
    reason: str = ""

    @property
    def broken(self) -> tuple[ClauseVerdict, ...]:
        """The clauses that are broken: those that follow from no other first, then those with short runs.

        What is only recommended comes last.
        """
        found = [each for each in self.clauses if each.status == "broken"]
        length = {each.id: len(each.run.steps) if each.run else 0 for each in found}
        return tuple(
            sorted(
                found,
                key=lambda each: (not each.is_violated, bool(each.follows_from), length[each.id], each.id),
            )
        )


class TargetVerdict(msgspec.Struct, frozen=True):
    """One target under one profile; `command` repeats the judgement."""

    target: str
    profile: str
    seed: int
    seconds: float
    components: tuple[ComponentVerdict, ...]
    command: str = ""

    @property
    def status(self) -> Status:
        """Violates, if any component does; else undetermined, if any is; else conforms."""
        return worst(each.status for each in self.components)


class Report(msgspec.Struct, frozen=True):
    """What `mmcache-ref conform --format json` prints."""

    version: str
    targets: tuple[TargetVerdict, ...]
    status: Status


def worst(statuses: Iterable[Status]) -> Status:
    """The status of several together; none at all is undetermined."""
    found = set(statuses)
    if "violates" in found:
        return "violates"
    return "undetermined" if "undetermined" in found or not found else "conforms"


def report(version: str, targets: Sequence[TargetVerdict]) -> Report:
    """The report over all targets."""
    return Report(version, tuple(targets), worst(each.status for each in targets))


def clause_verdict(
    identifier: str,
    comparisons: int,
    run: Run | None,
    stage: Literal["exhaustive", "shared", "walks", "fuzz"] | None,
    seed: int | None,
) -> ClauseVerdict:
    """A clause is kept only if something was compared for it."""
    status: ClauseStatus = "broken" if run is not None else "kept" if comparisons else "not reached"
    said = sentence(run) if run is not None else ""
    named = clause(identifier)
    return ClauseVerdict(
        identifier,
        status,
        comparisons,
        named.rule,
        run,
        stage,
        seed,
        said,
        requirement=named.level,  # type: ignore[arg-type]
    )


def schema() -> dict[str, Any]:
    """The JSON schema of a report."""
    return msgspec.json.schema(Report)
