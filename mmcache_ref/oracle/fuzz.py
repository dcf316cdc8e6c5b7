"""The fuzz stage: Hypothesis drives the component's state machine for a time, and past what it finds."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar, Final

import hypothesis
from hypothesis import HealthCheck, Phase, Verbosity, settings
from hypothesis.errors import Flaky
from hypothesis.stateful import run_state_machine_as_test

from mmcache_ref.model.component import tag
from mmcache_ref.oracle.lockstep import Lockstep, Trial
from mmcache_ref.oracle.machines import LockstepMachine
from mmcache_ref.oracle.quiet import quiet_logs
from mmcache_ref.oracle.run import Mismatch, Run
from mmcache_ref.oracle.shrink import shrink

BATCH: Final = 100
"""Examples in one batch. Each batch has a seed of its own, counted up from the first, and no batch looks at
the clock: the time limit ends it, and does not shape it."""
MOST_HANGS: Final = 20
"""Each one costs the whole bound of the guard. Fewer might end the stage before it meets other faults."""
STEPS: Final = 12
"""Steps of the machine in one example, at most; each is a burst of operations."""


@dataclass
class Fuzzed:
    """What the stage did: examples, and for each clause broken the shrunk run and the seed of its batch.

    `first_operations` and `first_seconds` are what the first violation took, without shrinking its run; 0
    when there was none.
    """

    examples: int = 0
    runs: dict[str, Run] = field(default_factory=dict)
    seeds: dict[str, int] = field(default_factory=dict)
    first_operations: int = 0
    first_seconds: float = 0.0


class Budget:
    """How much a fuzz stage may do: until `deadline` on the monotonic clock, and so many operations."""

    def __init__(self, trial: Trial, seconds: float, operations: int | None) -> None:
        self._tally = trial.tally
        self._deadline = time.monotonic() + seconds
        self._most = sys.maxsize if operations is None else trial.tally.operations + operations

    @property
    def is_spent(self) -> bool:
        """Is it used up?"""
        return self._tally.operations >= self._most or time.monotonic() >= self._deadline


class Spent(BaseException):
    """The budget ended inside a batch. Not an `Exception`: Hypothesis must let it pass."""


def fuzz(
    trial: Trial,
    *,
    seconds: float,
    seed: int,
    known: frozenset[str] = frozenset(),
    max_examples: int | None = None,
    max_operations: int | None = None,
    only_first: bool = False,
    progress: Callable[[int], None] = lambda operations: None,
) -> Fuzzed:
    """Fuzz for `seconds`, or `max_examples`, or `max_operations`, whatever ends first.

    What breaks a `known` clause is passed over, or ends its example quietly. After a new violation the batch
    is repeated with its clause known, so one fault does not hide another; with `only_first` the stage ends
    there. A target that hangs `MOST_HANGS` times is not asked further.
    """
    fuzzed = Fuzzed()
    started, before = time.monotonic(), trial.tally.operations
    limit = max_examples if max_examples is not None else sys.maxsize
    budget = Budget(trial, seconds, max_operations)
    batch, led_to_known = seed, set[tuple[str, str]]()
    # One class for all batches: Hypothesis keeps what it knows of a class for ever.
    machine = _machine(trial, fuzzed, progress, budget)
    with quiet_logs():
        while not budget.is_spent and fuzzed.examples < limit:
            machine.known = known | fuzzed.runs.keys()
            machine.seed, machine.led_to_known = batch, frozenset(led_to_known)
            machine.violation = None
            try:
                run = _batch(machine, min(BATCH, limit - fuzzed.examples), batch)
            except Spent:
                break
            if run is None:
                batch += 1
            elif run.mismatch is not None:
                if not fuzzed.runs:
                    fuzzed.first_operations = trial.tally.operations - before
                    fuzzed.first_seconds = time.monotonic() - started
                shrunk = shrink(trial, run) if run.is_repeatable else run
                assert shrunk.mismatch is not None
                clause_id = shrunk.mismatch.clause
                if clause_id in known or clause_id in fuzzed.runs:
                    # A fault of a part of this operation, which is not looked into again for this clause.
                    led_to_known.add((run.mismatch.clause, tag(run.operations[-1])))
                else:
                    fuzzed.runs[clause_id] = shrunk
                    fuzzed.seeds[clause_id] = batch
                if only_first:
                    break
    return fuzzed


def _batch(machine: type[FuzzMachine], examples: int, seed: int) -> Run | None:
    """Run one batch until its first violation; the run of it, or None."""
    seeded = hypothesis.seed(seed)(machine)
    try:
        run_state_machine_as_test(
            seeded,
            settings=settings(
                max_examples=examples,
                stateful_step_count=STEPS,
                deadline=None,
                database=None,
                # Shrinking is our own: it is bounded by count, and needs no second look at the draws.
                phases=(Phase.generate,),
                suppress_health_check=list(HealthCheck),
                verbosity=Verbosity.quiet,
                print_blob=False,
                report_multiple_bugs=False,
            ),
        )
    except (Met, Flaky):
        # A target that does not repeat itself makes Hypothesis give up; what it did once is on record.
        return machine.violation
    return None


class Met(AssertionError):  # noqa: N818 - reads as what it is
    """A violation was met; the machine has its run."""


class FuzzMachine(LockstepMachine):
    """A machine that keeps the run of its last violation, as it was met."""

    violation: ClassVar[Run | None] = None

    def violated(self, lockstep: Lockstep, mismatch: Mismatch) -> None:
        """Keep the run, and raise it, if it stands without what was passed over."""
        run = self.run_of(lockstep, mismatch)
        if run is not None:
            type(self).violation = run
            raise Met


def _machine(
    trial: Trial, fuzzed: Fuzzed, progress: Callable[[int], None], budget: Budget
) -> type[FuzzMachine]:
    """The component's machine, bound to the trial."""
    this_trial = trial

    class Machine(FuzzMachine):
        component_name = this_trial.component.name
        trial: ClassVar[Trial | None] = this_trial

        def __init__(self) -> None:
            if budget.is_spent or Machine.hangs >= MOST_HANGS:
                raise Spent
            super().__init__()
            fuzzed.examples += 1
            progress(this_trial.tally.operations)

    return Machine
