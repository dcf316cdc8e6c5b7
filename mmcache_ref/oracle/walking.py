"""The walks stage: long walks take every edge of the model's tiny graphs on a target that is not made anew.

The exhaustive stage comes to each edge on the shortest way, on a fresh target; what a target has lived
through shows only here: what it counts, keeps or forgets beside what the model knows.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Final

from mmcache_ref.model.component import Op, tag
from mmcache_ref.oracle.lockstep import DISABLED, Trial
from mmcache_ref.oracle.quiet import quiet_logs
from mmcache_ref.oracle.run import Run
from mmcache_ref.oracle.shrink import shrink
from mmcache_ref.oracle.walks import Walks

MOST_MISMATCHES: Final = 20
"""After so many a target is not walked on further."""


@dataclass
class Walked:
    """What the stage reached: edges of the graphs, edges taken that agreed, steps of all walks; and the run
    that breaks each clause. `mismatching`: edges that did not agree."""

    edges: int = 0
    agreed: int = 0
    steps: int = 0
    mismatching: int = 0
    runs: dict[str, Run] = field(default_factory=dict)

    @property
    def is_complete(self) -> bool:
        """Every edge was taken, and agreed."""
        return self.agreed == self.edges


def walk_graphs(
    trial: Trial,
    *,
    known: frozenset[str] = frozenset(),
    progress: Callable[[int], None] = lambda steps: None,
) -> Walked:
    """Walk through every graph of the trial's component; of clauses that are `known` to be broken no run is
    recorded."""
    found = Walked()
    with quiet_logs():
        for config in trial.component.walked_configs:
            walks = walks_of(trial.component.model, config)
            found.edges += walks.edges
            _walk(trial, config, walks, found, known, progress)
    return found


def walks_of(model: Any, config: Any) -> Walks:
    """The walks through the graph of a model between what identifies its states; each way is labelled with
    its operation."""
    initial = model.initial(config)
    edges: dict[Any, list[tuple[Any, Any]]] = {}
    waiting = deque([initial])
    seen = {model.view(initial)}
    while waiting:
        state = waiting.popleft()
        leaving = edges.setdefault(model.view(state), [])
        for operation in model.operations(config, state):
            after, outcome = model.step(config, state, operation)
            if outcome.kind == DISABLED:
                continue
            there = model.view(after)
            leaving.append((operation, there))
            if there not in seen:
                seen.add(there)
                waiting.append(after)
    return Walks(model.view(initial), edges)


def _walk(
    trial: Trial,
    config: Any,
    walks: Walks,
    found: Walked,
    known: frozenset[str],
    progress: Callable[[int], None],
) -> None:
    """Every walk through one graph, each on a fresh target."""
    model = trial.component.model
    agreed: set[int] = set()
    hung = False
    while walks.has_more and found.mismatching < MOST_MISMATCHES and not hung:
        lockstep = trial.start(config)
        for way in walks.walk():
            there = walks.states[way.after]
            mismatch = lockstep.perform(_leading(model, config, lockstep.state, way.label, there))
            found.steps += 1
            progress(found.steps)
            if mismatch is not None:
                found.mismatching += 1
                hung = mismatch.clause == trial.component.hanging
                if mismatch.clause not in known and not mismatch.is_explained_by(found.runs):
                    run = trial.run(config, lockstep.performed)
                    found.runs[mismatch.clause] = (
                        shrink(trial, run)
                        if run.mismatch is not None
                        else trial.recorded(config, lockstep.performed, mismatch)
                    )
            if mismatch is not None or lockstep.is_silent or model.view(lockstep.state) != there:
                walks.broken.add(way.number)
                break
            agreed.add(way.number)
    found.agreed += len(agreed)


def _leading(model: Any, config: Any, state: Any, operation: Op, there: Any) -> Op:
    """The operation of an edge, in a state that counts as the one where the edge begins.

    Where states count as one whose workers are exchanged, or whose messages stand in another order, it is the
    operation of that kind that leads where the edge leads.
    """
    alike: Iterator[Op] = (each for each in model.operations(config, state) if tag(each) == tag(operation))
    for each in chain((operation,), alike):
        if model.view(model.step(config, state, each)[0]) == there:
            return each
    return operation
