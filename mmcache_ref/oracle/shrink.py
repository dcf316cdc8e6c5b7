"""Make a run that breaks a clause shorter and simpler."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from mmcache_ref.model.component import Op
from mmcache_ref.oracle.lockstep import Trial
from mmcache_ref.oracle.run import Run

MOST_SECONDS: Final = 5.0
"""Shrinking ends then, with the best run it has."""


def shrink(trial: Trial, run: Run, *, seconds: float = MOST_SECONDS) -> Run:
    """A shorter run that breaks the same clause at its end: no operation of it can be left out, and no member
    of an operation's lists.

    Chunks of operations are tried from half the run down to single ones, then the members. What is left when
    the time is up may be longer.
    """
    assert run.mismatch is not None
    deadline = time.monotonic() + seconds
    best, chunk = run, max(1, len(run.steps) // 2)
    while time.monotonic() < deadline:
        candidates = [_without_chunks(best.operations, chunk), _without_members(best.operations, chunk)]
        shorter = next(filter(None, (_first(trial, best, tries, deadline) for tries in candidates)), None)
        if shorter is not None:
            best = shorter
        elif chunk > 1:
            chunk //= 2
        else:
            break
    return best


def _first(trial: Trial, run: Run, candidates: Iterator[Sequence[Op]], deadline: float) -> Run | None:
    """The first candidate that breaks the same clause."""
    assert run.mismatch is not None
    for operations in candidates:
        if time.monotonic() > deadline:
            break
        tried = trial.run(run.config, operations)
        if tried.mismatch is not None and tried.mismatch.clause == run.mismatch.clause:
            return tried
    return None


def _without_chunks(operations: Sequence[Op], chunk: int) -> Iterator[Sequence[Op]]:
    """The operations with `chunk` consecutive ones left out, but never the last alone."""
    for start in range(0, len(operations) - 1, chunk):
        yield (*operations[:start], *operations[start + chunk :])


def _without_members(operations: Sequence[Op], chunk: int) -> Iterator[Sequence[Op]]:
    """The operations with one member of one list of one operation left out; only when chunks are single."""
    if chunk > 1:
        return
    for place, operation in enumerate(operations):
        for name in operation.__struct_fields__:
            members = getattr(operation, name)
            if isinstance(members, tuple) and not hasattr(members, "_asdict"):
                for index in range(len(members)):
                    fewer = members[:index] + members[index + 1 :]
                    simpler = msgspec.structs.replace(operation, **{name: fewer})
                    yield (*operations[:place], simpler, *operations[place + 1 :])
