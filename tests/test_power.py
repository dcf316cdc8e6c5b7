"""The power of the oracle: every broken implementation is found, by the clause it breaks, in a short run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from types import ModuleType
from typing import ClassVar

import hypothesis
import pytest
from broken import all_broken
from hypothesis import HealthCheck, Phase
from hypothesis.stateful import run_state_machine_as_test

from mmcache_ref.model import lru
from mmcache_ref.oracle import guard as guard_module
from mmcache_ref.oracle.component import Component
from mmcache_ref.oracle.components import COMPONENTS
from mmcache_ref.oracle.exhaustive import execute_graph, execute_graphs
from mmcache_ref.oracle.fuzz import STEPS, fuzz
from mmcache_ref.oracle.guard import hang_guard
from mmcache_ref.oracle.lockstep import BEST_LEVEL, Trial
from mmcache_ref.oracle.machines import LockstepMachine, Violation
from mmcache_ref.oracle.targets import resolve

BROKEN = all_broken()
IN_GRAPH = [name for name, module in BROKEN.items() if module.BREAKS.in_tiny]
SEEN_AT_L0 = [name for name, module in BROKEN.items() if module.BREAKS.level == 0]
SMALL_LRU = lru.Config(budget=2, keys=("a", "b", "c"), sizes=(1, 2, 3))
"""Holds every run of `lru` that the tiny graph holds but for those with empty values; walked in less time."""
EXAMPLES = 300


@pytest.fixture(autouse=True)
def short_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """A target that spins is stopped after half a second of CPU time."""
    monkeypatch.setattr(guard_module, "OPERATION_CPU_SECONDS", 0.5)


@contextmanager
def on_trial(name: str, level: int = BEST_LEVEL) -> Iterator[Trial]:
    component = COMPONENTS[BROKEN[name].BREAKS.component]
    with hang_guard() as guard:
        yield Trial(component, resolve(f"py:broken.{name}"), "safe", level, guard)


def is_found(name: str, level: int, seed: int) -> bool:
    """Whether fuzzing meets a violation within `EXAMPLES` examples; it is not shrunk, which takes longest."""
    with on_trial(name, level) as this_trial:

        class Machine(LockstepMachine):
            component_name = this_trial.component.name
            trial: ClassVar[Trial | None] = this_trial

        try:
            run_state_machine_as_test(
                hypothesis.seed(seed)(Machine),
                settings=hypothesis.settings(
                    max_examples=EXAMPLES,
                    stateful_step_count=STEPS,
                    deadline=None,
                    database=None,
                    phases=(Phase.generate,),
                    suppress_health_check=list(HealthCheck),
                ),
            )
        except Violation:
            return True
    return False


def only_beside(component: Component) -> Component:
    """The component without its largest graph."""
    first, *others = component.beside
    return replace(component, tiny=first, beside=tuple(others))


@pytest.mark.parametrize("name", IN_GRAPH)
def test_the_exhaustive_stage_finds_the_clause_in_a_run_no_longer_than_by_hand(name: str) -> None:
    breaks = BROKEN[name].BREAKS
    clause = breaks.clauses[0]
    with on_trial(name) as trial:
        if breaks.component == "lru":
            found = execute_graph(trial, SMALL_LRU, only=clause)
        elif breaks.in_beside:
            found = execute_graphs(replace(trial, component=only_beside(trial.component)), only=clause)
        else:
            found = execute_graphs(trial, only=clause)
    run = found.runs[clause]
    assert len(run.steps) <= breaks.longest


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("name", BROKEN)
def test_fuzzing_finds_it_at_the_best_level_from_any_seed(name: str, seed: int) -> None:
    assert is_found(name, BEST_LEVEL, seed)


@pytest.mark.slow
@pytest.mark.parametrize("name", SEEN_AT_L0)
def test_fuzzing_finds_it_by_outcomes_alone(name: str) -> None:
    assert is_found(name, 0, 0)


@pytest.mark.slow
@pytest.mark.parametrize("name", BROKEN)
def test_fuzzing_names_the_clause_with_a_run_at_most_two_longer_than_by_hand(name: str) -> None:
    breaks = BROKEN[name].BREAKS
    with on_trial(name) as trial:
        runs = fuzz(trial, seconds=600, seed=0, max_examples=EXAMPLES).runs
    sound = Trial(COMPONENTS[breaks.component], resolve("reference"))
    assert all(sound.run(run.config, run.operations).mismatch is None for run in runs.values())
    named = runs.keys() & set(breaks.clauses)
    assert named, list(runs)
    assert min(len(runs[clause].steps) for clause in named) <= breaks.longest + 2


@pytest.mark.parametrize("module", BROKEN.values(), ids=BROKEN)
def test_each_says_in_its_first_line_which_clause_it_breaks(module: ModuleType) -> None:
    first_line = (module.__doc__ or "").splitlines()[0]
    assert re.search(r"   \[[A-Z]+-\d\d(, [A-Z]+-\d\d)*\]$", first_line)


def test_there_are_enough_of_them() -> None:
    assert len(BROKEN) >= 100
    assert {module.BREAKS.component for module in BROKEN.values()} >= {
        "items",
        "lru",
        "processor-only",
        "sender",
        "receiver",
        "factories",
        "ring-buffer",
    }
