"""The shortest runs to each case of a model: what a breadth-first search of the tiny graph meets first."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

from mmcache_ref.model.component import Op, tag
from mmcache_ref.oracle.components import COMPONENTS

RUNS_TO_A_CASE: Final = 48
"""So many are kept for each case, the shortest."""

Case = tuple[str, str]
"""The tag of an operation and the kind of its outcome."""


@lru_cache(maxsize=32)
def short_runs(component_name: str) -> Mapping[Case, tuple[tuple[Op, ...], ...]]:
    """For each case, the first runs that end with it, in order of their length, by the model alone."""
    component = COMPONENTS[component_name]
    model, config = component.model, component.executed_config
    start = model.initial(config)
    paths: dict[Any, tuple[Op, ...]] = {model.view(start): ()}
    waiting = [start]
    found: dict[Case, list[tuple[Op, ...]]] = {}
    for state in waiting:
        path = paths[model.view(state)]
        for operation in model.operations(config, state):
            after, outcome = model.step(config, state, operation)
            runs = found.setdefault((tag(operation), outcome.kind), [])
            if len(runs) < RUNS_TO_A_CASE:
                runs.append((*path, operation))
            there = model.view(after)
            if there not in paths:
                paths[there] = (*path, operation)
                waiting.append(after)
    return {case: tuple(runs) for case, runs in found.items()}


def short_runs_for(component_name: str, case: Case, clause: str) -> list[tuple[Op, ...]]:
    """Runs that end with this case, or with any that the clause decides; the shortest first."""
    rules = COMPONENTS[component_name].model.RULES
    cases = [each for each in short_runs(component_name) if each == case or clause in rules.get(each, ())]
    return sorted((run for each in cases for run in short_runs(component_name)[each]), key=len)
