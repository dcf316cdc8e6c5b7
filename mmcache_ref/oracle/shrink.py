"""Make a run that breaks a clause shorter by leaving operations out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mmcache_ref.model.component import Op
from mmcache_ref.oracle.lockstep import Trial
from mmcache_ref.oracle.run import Run


def shrink(trial: Trial, config: Any, operations: Sequence[Op], clause_id: str) -> Run:
    """The run of a subsequence from which no chunk can be left out: it still breaks the clause, at its end.

    Chunks are halved from half the run down to single operations, and single ones are tried until none can
    go. A target that does not repeat itself gives back the whole run.
    """
    best = trial.run(config, operations)
    if best.mismatch is None or best.mismatch.clause != clause_id:
        return best
    chunk = max(1, len(best.steps) // 2)
    while True:
        shorter = _without_a_chunk(trial, config, best, chunk, clause_id)
        if shorter is not None:
            best = shorter
        elif chunk > 1:
            chunk //= 2
        else:
            return best


def _without_a_chunk(trial: Trial, config: Any, run: Run, chunk: int, clause_id: str) -> Run | None:
    """A shorter run with some `chunk` consecutive operations left out, or None."""
    operations = run.operations
    for start in range(0, len(operations) - 1, chunk):
        candidate = trial.run(config, operations[:start] + operations[start + chunk :])
        if candidate.mismatch is not None and candidate.mismatch.clause == clause_id:
            return candidate
    return None
