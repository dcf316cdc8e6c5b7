"""The exhaustive stage: every edge of the model's tiny graph is executed on the target."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from mmcache_ref.model.component import Op
from mmcache_ref.oracle.lockstep import Lockstep, Trial
from mmcache_ref.oracle.quiet import quiet_logs
from mmcache_ref.oracle.run import Mismatch, Run
from mmcache_ref.oracle.shrink import shrink

MOST_HANGS: Final = 5
"""Each one costs the whole bound of the guard."""


@dataclass
class Exhaustive:
    """What the stage reached: states expanded, edges executed, edges that mismatched, edges on which the
    profile is silent; edges executed until the first mismatch (0: there was none); and the shortest run
    that breaks each clause."""

    states: int = 0
    edges: int = 0
    mismatching_edges: int = 0
    silent_edges: int = 0
    first_edges: int = 0
    is_complete: bool = True
    runs: dict[str, Run] = field(default_factory=dict)


class Node(NamedTuple):
    """A state of the graph and the edge of the breadth-first tree that leads to it."""

    state: Any
    parent: Node | None
    operation: Op | None

    def path(self) -> list[Op]:
        """The operations from the initial state."""
        operations: list[Op] = []
        node: Node = self
        while node.parent is not None and node.operation is not None:
            operations.append(node.operation)
            node = node.parent
        return operations[::-1]


def execute_graph(
    trial: Trial,
    config: Any,
    *,
    only: str | None = None,
    progress: Callable[[int], None] = lambda edges: None,
) -> Exhaustive:
    """Search the graph breadth-first and execute each edge from its state on a fresh target.

    A state is entered by the first edge that agrees, so what lies only behind a mismatch is not reached. As
    edges come in order of depth, the first run that breaks a clause is a shortest one among those that meet
    no other mismatch. With `only` the search ends at the first run that breaks that clause and records no
    other. A target that hangs `MOST_HANGS` times is not asked further.
    """
    found = Exhaustive()
    with quiet_logs():
        _search(trial, config, found, only, progress)
    return found


def execute_graphs(
    trial: Trial, *, only: str | None = None, progress: Callable[[int], None] = lambda edges: None
) -> Exhaustive:
    """Execute every graph of the trial's component, one after the other, and add up what they show."""
    found = Exhaustive()
    with quiet_logs():
        for config in trial.component.executed_configs:
            _search(trial, config, found, only, progress)
    return found


def _search(
    trial: Trial, config: Any, found: Exhaustive, only: str | None, progress: Callable[[int], None]
) -> None:
    """Execute the edges, and record what they show in `found`."""
    model = trial.component.model
    root = Node(model.initial(config), None, None)
    seen = {model.view(root.state)}
    queue = deque([root])
    hangs = 0
    while queue:
        if hangs >= MOST_HANGS or only in found.runs:
            found.is_complete = False
            break
        node = queue.popleft()
        found.states += 1
        path = node.path()
        here = model.view(node.state)
        lockstep: Lockstep | None = None
        for operation in model.operations(config, node.state):
            lockstep = lockstep or trial.replay(config, path)
            mismatch = lockstep.perform(operation)
            found.edges += 1
            if mismatch is not None:
                found.mismatching_edges += 1
                found.first_edges = found.first_edges or found.edges
                hangs += mismatch.clause == trial.component.hanging
                progress(found.edges)
                if only in (None, mismatch.clause):
                    _keep_shortest(found, trial, config, mismatch, [*path, operation], lockstep.performed)
                lockstep = None
                if hangs >= MOST_HANGS:
                    break
                continue
            if lockstep.is_silent:
                found.silent_edges += 1
                lockstep = None
                continue
            there = model.view(lockstep.state)
            if there not in seen:
                seen.add(there)
                queue.append(Node(lockstep.state, node, operation))
            if there != here:
                lockstep = None
        progress(found.edges)


def _keep_shortest(
    found: Exhaustive, trial: Trial, config: Any, mismatch: Mismatch, short: list[Op], performed: list[Op]
) -> None:
    """Record the run for the clause, unless one is known: the short way when it shows the same."""
    if mismatch.is_explained_by(found.runs):
        return
    for operations in (short, performed):
        run = trial.run(config, operations)
        if run.mismatch is not None and run.mismatch.clause == mismatch.clause:
            found.runs[mismatch.clause] = run if operations is short else shrink(trial, run)
            return
    found.runs[mismatch.clause] = trial.recorded(config, performed, mismatch)
