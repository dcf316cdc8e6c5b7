"""The shortest runs to each case of a model: what a breadth-first search of the tiny graphs meets first."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final, NamedTuple

from mmcache_ref.model.component import Op, tag
from mmcache_ref.oracle.components import COMPONENTS

RUNS_TO_A_CASE: Final = 48
"""So many are kept for each case of a graph, the shortest."""

Case = tuple[str, str]
"""The tag of an operation and the kind of its outcome."""


class ShortRun(NamedTuple):
    """Operations from the initial state of a configuration."""

    config: Any
    operations: tuple[Op, ...]


@lru_cache(maxsize=32)
def short_runs(component_name: str) -> Mapping[Case, tuple[ShortRun, ...]]:
    """For each case, the first runs of each graph that end with it, by the model; the shortest first."""
    found: dict[Case, list[ShortRun]] = {}
    for config in COMPONENTS[component_name].executed_configs:
        for case, runs in _of_graph(COMPONENTS[component_name].model, config).items():
            found.setdefault(case, []).extend(ShortRun(config, run) for run in runs)
    return {case: tuple(sorted(runs, key=_length)) for case, runs in found.items()}


def _length(run: ShortRun) -> int:
    return len(run.operations)


def _of_graph(model: Any, config: Any) -> Mapping[Case, list[tuple[Op, ...]]]:
    """For each case, the first runs of the configuration's graph that end with it."""
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
    return found


def short_runs_for(component_name: str, case: Case, clause: str) -> list[ShortRun]:
    """Runs that end with this case, or with any that the clause decides; the shortest first."""
    rules = COMPONENTS[component_name].model.RULES
    cases = [each for each in short_runs(component_name) if each == case or clause in rules.get(each, ())]
    return sorted((run for each in cases for run in short_runs(component_name)[each]), key=_length)
