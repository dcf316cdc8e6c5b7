"""Make a run that breaks a clause shorter and simpler."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import Any, Final

from mmcache_ref.model.component import Op, tag
from mmcache_ref.oracle.guard import Guard
from mmcache_ref.oracle.lockstep import INITIAL, Trial
from mmcache_ref.oracle.run import Run
from mmcache_ref.oracle.short_runs import short_runs_for
from mmcache_ref.oracle.simpler import renamed, replaced, simpler, weight, without_members
from mmcache_ref.oracle.whole import is_of_whole

MOST_OPERATIONS: Final = 20_000
"""Operations that shrinking may perform: a count and not a time, so that a seed always ends with one run."""
A_HANG: Final = 2_000
"""What an operation that hangs counts."""
HANG_CPU_SECONDS: Final = 0.25
"""The bound of an operation while a run that hangs is shrunk; its end is confirmed with the usual one."""
ALL_SUBSETS: Final = 9
"""Up to so many operations every way to leave some out is tried."""

NO_QUESTION: Final = (LookupError, TypeError, ValueError, AssertionError)
"""What a model raises that is asked what has no answer, as a batch of nothing; a target's own errors are
results."""

Candidate = tuple[Any, Sequence[Op]]
"""A configuration and operations."""


def shrink(trial: Trial, run: Run, *, operations: int = MOST_OPERATIONS) -> Run:
    """A shorter and simpler run that breaks the same clause at its end.

    The shortest runs of the tiny graph that end where this clause decides are tried first. Then chunks of
    operations are left out, from half the run down to single ones, then any of the few that are left, then
    members of their lists; then values are made smaller, keys earlier ones of the alphabet, and an operation
    one that does the same with less. When an operation with fewer members, or a plainer one, fails at the end
    as well, the run ends with it, and names the clause that this breaks; but where the calls that the last
    operation consists of are right by themselves, they stay right. It begins again until nothing helps,
    or until so many `operations` have been performed: then what is left may be longer than it has to be.
    """
    assert run.mismatch is not None
    if run.mismatch.clause != trial.component.hanging:
        shrinker = Shrinker(trial, run, operations)
        # What goes wrong here may cost the shortness of a run, and never the verdict.
        with contextlib.suppress(Exception):
            shrinker.shrunk()
        return shrinker.best
    quick = Guard(enabled=trial.guard.enabled, seconds=min(trial.guard.seconds, HANG_CPU_SECONDS))
    shrinker = Shrinker(dataclasses.replace(trial, guard=quick), run, operations)
    with contextlib.suppress(Exception):
        shrinker.shrunk()
    best = shrinker.best
    again = trial.run(best.config, best.operations)
    return best if again.mismatch is not None and again.mismatch.clause == trial.component.hanging else run


class Shrinker:
    """The best run so far, and how many operations may still be performed."""

    def __init__(self, trial: Trial, run: Run, operations: int) -> None:
        assert run.mismatch is not None
        self.trial = trial
        self.hanging = trial.component.hanging
        self.best = run
        self.clause = run.mismatch.clause
        self.is_initial = run.mismatch.kind == INITIAL
        self.left = operations
        self.is_of_whole = is_of_whole(trial, run)
        self.may_move = False
        self.plainer: Callable[[Op], Sequence[Op]] = getattr(trial.component.model, "plainer", lambda op: ())

    def shrunk(self) -> Run:
        """Every pass, again and again while one of them helps."""
        passes = (self._without_chunks, self._without_some, self._without_members, self._plainer_ones)
        self._repeat(self._of_tiny_graph)
        improved = True
        while improved and self.left > 0:
            improved = False
            for candidates in (*passes, self._with_another_end, self._smaller_values, self._renamed):
                self.may_move = candidates in (self._plainer_ones, self._without_members)
                improved |= self._repeat(candidates)
        return self.best

    def _repeat(self, candidates: Callable[[], Iterator[Candidate]]) -> bool:
        """Take the first candidate that is accepted, and begin anew with it; was there one?"""
        any_helped = False
        while self.left > 0 and any(self._is_accepted(*each) for each in candidates()):
            any_helped = True
        return any_helped

    def _is_accepted(self, config: Any, operations: Sequence[Op]) -> bool:
        """Does it break the same clause, and is it shorter, or as short and simpler?"""
        if self.left <= 0 or not operations:
            return False
        is_shorter = len(operations) < len(self.best.steps)
        if not is_shorter and not self._weight(config, operations) < self._weight(
            self.best.config, self.best.operations
        ):
            return False
        try:
            run = self.trial.run(config, operations)
        except NO_QUESTION:
            self.left -= len(operations)
            return False
        self.left -= len(run.steps)
        found = run.mismatch
        if found is not None and found.clause == self.hanging:
            self.left -= A_HANG
        if found is None or (found.kind == INITIAL) != self.is_initial:
            return False
        is_plainer_end = self.may_move and run.operations[:-1] == self.best.operations[:-1]
        if found.clause != self.clause and not (is_plainer_end and found.clause != self.hanging):
            return False
        if self._weight(run.config, run.operations) >= self._weight(self.best.config, self.best.operations):
            return False
        if self.is_of_whole and not is_of_whole(self.trial, run):
            return False
        self.best, self.clause = run, found.clause
        return True

    def _weight(self, config: Any, operations: Sequence[Op]) -> tuple[int, int]:
        """Fewer operations first, then less in them."""
        heavier = sum(1 for each in operations if self.plainer(each))
        return len(operations), weight(config) + weight(tuple(operations)) + heavier

    def _of_tiny_graph(self) -> Iterator[Candidate]:
        """Shorter runs of the tiny graphs that end where the same clause decides, the shortest first."""
        mismatch = self.best.mismatch
        if mismatch is None or self.is_initial:
            return
        component = self.trial.component
        case = (tag(self.best.operations[-1]), mismatch.kind)
        for config, operations in short_runs_for(component.name, case, self.clause):
            if len(operations) < len(self.best.steps):
                yield config, operations

    def _without_chunks(self) -> Iterator[Candidate]:
        """The operations with some consecutive ones left out, from half of them down to one; not the last."""
        operations = self.best.operations
        chunk = max(1, len(operations) // 2)
        while chunk:
            for start in range(0, len(operations) - 1, chunk):
                yield self.best.config, (*operations[:start], *operations[start + chunk :])
            chunk //= 2

    def _without_some(self) -> Iterator[Candidate]:
        """Any of few operations left out, the most first; positions count from 0 then, too."""
        operations = self.best.operations
        if not 2 < len(operations) <= ALL_SUBSETS:
            return
        for length in range(1, len(operations)):
            for places in combinations(range(len(operations) - 1), length - 1):
                chosen = [operations[place] for place in (*places, len(operations) - 1)]
                yield self.best.config, chosen
                first = [_first_position(each) for each in chosen]
                if first != chosen:
                    yield self.best.config, first

    def _with_another_end(self) -> Iterator[Candidate]:
        """One or two of the operations, and an operation without arguments at the end instead."""
        config, operations = self.best.config, self.best.operations
        if not 2 < len(operations) <= ALL_SUBSETS:
            return
        model = self.trial.component.model
        state = model.initial(config)
        letters = dict.fromkeys(model.operations(config, state))
        for operation in operations[:-1]:
            state, _ = model.step(config, state, operation)
            letters |= dict.fromkeys(model.operations(config, state))
        ends = sorted((each for each in letters if weight(each) <= 1), key=repr)
        for length in range(1, min(3, len(operations) - 1)):
            for kept in combinations(operations[:-1], length):
                for end in ends:
                    yield config, (*kept, end)

    def _without_members(self) -> Iterator[Candidate]:
        """The operations with one member of a list of one of them left out."""
        return self._with_one_changed(without_members)

    def _plainer_ones(self) -> Iterator[Candidate]:
        """The operations with one that does the same with less, the last one first."""
        operations = self.best.operations
        for plainer in self.plainer(operations[-1]):
            yield self.best.config, (*operations[:-1], plainer)
        yield from self._with_one_changed(lambda operation: iter(self.plainer(operation)))

    def _smaller_values(self) -> Iterator[Candidate]:
        """The run with smaller values in one operation, or with a smaller configuration."""
        yield from self._with_one_changed(simpler)
        # Later: an empty item may need room to become one of a byte.
        for config in simpler(self.best.config):
            yield config, self.best.operations

    def _renamed(self) -> Iterator[Candidate]:
        """The run with the first letters for its keys, in order of appearance."""
        yield self.best.config, renamed(self.best.operations)

    def _with_one_changed(self, changes: Callable[[Op], Iterator[Op]]) -> Iterator[Candidate]:
        config, operations = self.best.config, self.best.operations
        for place, operation in enumerate(operations):
            for changed in changes(operation):
                yield config, (*operations[:place], changed, *operations[place + 1 :])


def _first_position(operation: Op) -> Op:
    """The operation on the first of what it chooses from, if it has a `position`."""
    changed: Op = replaced(operation, position=0) if getattr(operation, "position", 0) else operation
    return changed
