"""`Run`: operations, outcomes, and where target and model part. The one counterexample object."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import Any, Literal

import msgspec

from mmcache_ref.model.component import Op

Profile = Literal["upstream", "safe"]
"""Which clauses are judged: the seed ones, or also the stronger ones."""

PRINTED_LIMIT = 200
"""Characters of a foreign value that a run keeps."""


class Mismatch(msgspec.Struct, frozen=True):
    """Where a target leaves the model: after the last step of a run.

    `aspect` is "outcome" or an observable part of the state; `kind` is the case of the model that applied.
    `suspects` are the clauses that may be the broken one: `clause`, and those of the operation's other parts.
    """

    clause: str
    aspect: str
    kind: str
    level: int
    expected: Any
    actual: Any
    suspects: tuple[str, ...] = ()

    def is_explained_by(self, known: Collection[str]) -> bool:
        """May a clause that is known to be broken be the reason?"""
        return self.clause in known or any(each in known for each in self.suspects)


def without_explained(runs: Mapping[str, Run]) -> dict[str, Run]:
    """The runs without those of an operation of several parts that a fault in one part explains."""
    elementary = {
        clause
        for clause, run in runs.items()
        if run.mismatch is not None and set(run.mismatch.suspects) <= {clause}
    }
    return {
        clause: run
        for clause, run in runs.items()
        if clause in elementary or run.mismatch is None or not elementary & set(run.mismatch.suspects)
    }


class Step(msgspec.Struct, frozen=True):
    """One operation and what the model says of it; `actual` is what the target gave, where that is known."""

    operation: Any
    expected: Any = None
    actual: Any = None
    state: dict[str, Any] = {}


class Run(msgspec.Struct, frozen=True):
    """A sequence of operations on one component, and the mismatch it ends with.

    `is_repeatable` is false where the target mismatched once, and not when the run was repeated.
    """

    component: str
    config: Any
    profile: Profile
    steps: tuple[Step, ...]
    mismatch: Mismatch | None = None
    is_repeatable: bool = True

    @property
    def operations(self) -> tuple[Op, ...]:
        """The operations alone."""
        return tuple(step.operation for step in self.steps)


def plain(value: Any) -> Any:
    """`value` as JSON has it; what JSON has no form for becomes a bounded `repr`, also a number like NaN."""

    def fallback(foreign: Any) -> str:
        return repr(foreign)[:PRINTED_LIMIT]

    try:
        built = _finite(msgspec.to_builtins(value, enc_hook=fallback, str_keys=True))
        msgspec.json.encode(built)
    except (TypeError, ValueError, RecursionError):
        # A value that JSON cannot carry at all: a lone surrogate, an int too large, a cycle.
        return ascii(value)[:PRINTED_LIMIT]
    return built


def _finite(value: Any) -> Any:
    """The value with words for the numbers that JSON does not know, which would be read back as nothing."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, dict):
        return {key: _finite(member) for key, member in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(map(_finite, value))
    return value
