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

from mmcache_ref.oracle.lockstep import Lockstep, Trial
from mmcache_ref.oracle.machines import LockstepMachine, Violation
from mmcache_ref.oracle.run import Mismatch, Run
from mmcache_ref.oracle.shrink import shrink

FIRST_BATCH: Final = 20
"""Examples in the first batch; later ones are sized to take about `BATCH_SECONDS`."""
BATCH_SECONDS: Final = 1.0
"""Time between two looks at the clock. Each batch has a seed of its own, counted up from the first."""
STEPS: Final = 12
"""Steps of the machine in one example, at most; each is a burst of operations."""


@dataclass
class Fuzzed:
    """What the stage did: examples, and for each clause broken the shrunk run and the seed of its batch."""

    examples: int = 0
    runs: dict[str, Run] = field(default_factory=dict)
    seeds: dict[str, int] = field(default_factory=dict)


def fuzz(
    trial: Trial,
    *,
    seconds: float,
    seed: int,
    known: frozenset[str] = frozenset(),
    max_examples: int | None = None,
    progress: Callable[[int], None] = lambda operations: None,
) -> Fuzzed:
    """Fuzz for `seconds` (or `max_examples`); an example that breaks a `known` clause ends quietly.

    After a new violation the batch is repeated with its clause known, so one fault does not hide another.
    """
    fuzzed = Fuzzed()
    started = time.monotonic()
    limit = max_examples if max_examples is not None else sys.maxsize
    batch, examples = seed, FIRST_BATCH
    while (remaining := started + seconds - time.monotonic()) > 0 and fuzzed.examples < limit:
        machine = _machine(trial, known | fuzzed.runs.keys(), fuzzed, progress)
        run = _batch(machine, min(examples, limit - fuzzed.examples), batch)
        if run is None:
            batch += 1
            rate = fuzzed.examples / (time.monotonic() - started)
            examples = max(1, int(rate * min(BATCH_SECONDS, remaining)))
        elif run.mismatch is not None:
            clause_id = run.mismatch.clause
            fuzzed.runs[clause_id] = shrink(trial, run) if run.is_repeatable else run
            fuzzed.seeds[clause_id] = batch
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
                # Shrinking is our own: it is bounded in time, and needs no second look at the draws.
                phases=(Phase.generate,),
                suppress_health_check=list(HealthCheck),
                verbosity=Verbosity.quiet,
                print_blob=False,
                report_multiple_bugs=False,
            ),
        )
    except (Violation, Flaky):
        # A target that does not repeat itself makes Hypothesis give up; what it did once is on record.
        return machine.violation
    return None


class FuzzMachine(LockstepMachine):
    """A machine that keeps the run of its last violation."""

    violation: ClassVar[Run | None] = None

    def violated(self, lockstep: Lockstep, mismatch: Mismatch) -> None:
        """Keep the run that is about to be raised."""
        try:
            super().violated(lockstep, mismatch)
        except Violation as violation:
            type(self).violation = violation.run
            raise


def _machine(
    trial: Trial, known_clauses: frozenset[str], fuzzed: Fuzzed, progress: Callable[[int], None]
) -> type[FuzzMachine]:
    """The component's machine, bound to the trial."""
    this_trial = trial

    class Machine(FuzzMachine):
        component_name = this_trial.component.name
        known = known_clauses
        trial: ClassVar[Trial | None] = this_trial

        def __init__(self) -> None:
            super().__init__()
            fuzzed.examples += 1
            progress(this_trial.tally.operations)

    return Machine
