"""Operations of several calls: is one of the calls wrong, or how they are put together?"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import msgspec

from mmcache_ref.model.component import Op, tag
from mmcache_ref.oracle.deciding import deciding
from mmcache_ref.oracle.parts import elementary
from mmcache_ref.oracle.run import Mismatch, Run
from mmcache_ref.oracle.tally import Tally

if TYPE_CHECKING:
    from mmcache_ref.oracle.lockstep import Trial

WHOLE: Final = {"features": "IF-14", "update_all": "IF-01"}
"""The clause that says how an operation, by its tag, puts its calls together."""


def is_of_whole(trial: Trial, run: Run) -> bool:
    """Is each call that the last operation consists of right by itself, after the operations before?

    Then what is wrong is how the operation puts them together.
    """
    return run.mismatch is not None and bool(right_apart(trial, run.config, run.operations))


def right_apart(trial: Trial, config: Any, operations: Sequence[Op]) -> frozenset[str]:
    """The clauses that decide the calls of the last operation, if the target keeps them all; else none."""
    calls = elementary(operations[-1]) if operations else ()
    if not calls:
        return frozenset()
    apart = dataclasses.replace(trial, tally=Tally()).start(config)
    kept: set[str] = set()
    for place, operation in enumerate((*operations[:-1], *calls)):
        if apart.perform(operation) is not None or apart.is_silent:
            return frozenset()
        if place >= len(operations) - 1:
            kept |= deciding(apart.model, operation, apart.outcome)
    return frozenset(kept)


def without_innocent(trial: Trial, config: Any, operations: Sequence[Op], mismatch: Mismatch) -> Mismatch:
    """The mismatch of the last operation, with no blame on its calls where they are right apart."""
    whole = WHOLE.get(tag(operations[-1]))
    innocent = right_apart(trial, config, operations) if whole is not None else frozenset()
    if whole is None or not innocent:
        return mismatch
    guilty = whole if mismatch.clause in innocent else mismatch.clause
    suspects = tuple(sorted({guilty, whole, *mismatch.suspects} - innocent))
    return msgspec.structs.replace(mismatch, clause=guilty, suspects=suspects)
