"""Executes every edge of a graph of TLC on a target, by covering walks.

After each step the target's outcome and state are compared with the Python model's, and both with TLC's edge.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from mmcache_ref.model.component import Op
from mmcache_ref.oracle.components import COMPONENTS
from mmcache_ref.oracle.guard import hang_guard
from mmcache_ref.oracle.lockstep import Lockstep, Trial
from mmcache_ref.oracle.quiet import quiet_logs
from mmcache_ref.oracle.run import Run
from mmcache_ref.oracle.shrink import shrink
from mmcache_ref.oracle.walks import Walks, Way
from mmcache_ref.tlc.bindings.base import Binding
from mmcache_ref.tlc.graph import Edge, Graph
from mmcache_ref.tlc.values import canonical, text

MOST_MISMATCHES = 20
"""After so many a target is not asked further."""


@dataclass
class Executed:
    """Edges of the graph, those that a target executed and agreed with, the steps of all walks, and the
    shortest run that breaks each clause; `unknown`: edges that are no step of the Python model; `target`: its
    name, where it has one."""

    edges: int = 0
    executed: int = 0
    steps: int = 0
    mismatching: int = 0
    unknown: list[str] = field(default_factory=list)
    runs: dict[str, Run] = field(default_factory=dict)
    target: str = ""

    @property
    def is_complete(self) -> bool:
        """Every edge was executed, and none differed."""
        return self.executed == self.edges and not self.mismatching and not self.unknown


def execute(
    binding: Binding,
    config: Any,
    graph: Graph,
    namespace: Any,
    *,
    component: str | None = None,
    progress: Callable[[int], None] = lambda executed: None,
) -> Executed:
    """Walk until every edge was executed on a target that was made fresh for each walk."""
    with hang_guard() as guard, quiet_logs():
        trial = Trial(COMPONENTS[component or binding.model.NAME], namespace, guard=guard)
        return _Execution(binding, config, graph, trial).run(progress)


def walks_of(graph: Graph) -> Walks:
    """The walks through a graph; each way is labelled with its edge."""
    edges = {
        before: [(Edge(before, call, after), after) for call, after in leaving]
        for before, leaving in graph.leaving.items()
    }
    return Walks(graph.initial, edges)


class _Execution:
    """The moving parts."""

    def __init__(self, binding: Binding, config: Any, graph: Graph, trial: Trial) -> None:
        self.binding, self.config, self.trial = binding, config, trial
        self.walks = walks_of(graph)
        self.found = Executed(self.walks.edges, target=trial.namespace.target)
        self.agreed: set[int] = set()
        self.operations: dict[int, dict[Any, Op]] = {}
        self.states: dict[Any, Any] = {}

    def run(self, progress: Callable[[int], None]) -> Executed:
        """Every walk, one after the other."""
        found = self.found
        while self.walks.has_more and found.mismatching + len(found.unknown) < MOST_MISMATCHES:
            lockstep = self.trial.start(self.config)
            for way in self.walks.walk():
                if not self._step(lockstep, way):
                    self.walks.broken.add(way.number)
                    break
                progress(len(self.agreed))
        found.executed = len(self.agreed)
        found.steps = self.walks.steps
        return found

    def _step(self, lockstep: Lockstep, way: Way) -> bool:
        """Take one edge; is everybody where it leads to?"""
        edge: Edge = way.label
        operation = self._operation(lockstep.state, way)
        if operation is None:
            self.found.unknown.append(f"{text(edge.call)} from {text(edge.before)}")
            return False
        mismatch = lockstep.perform(operation)
        if mismatch is not None:
            self.found.mismatching += 1
            if mismatch.clause not in self.found.runs:
                run = self.trial.run(self.config, lockstep.performed)
                self.found.runs[mismatch.clause] = shrink(self.trial, run) if run.mismatch else run
            return False
        if self._canonical(lockstep.state) != edge.after:
            self.found.unknown.append(f"{text(edge.call)} to {text(edge.after)}")
            return False
        self.agreed.add(way.number)
        return True

    def _canonical(self, state: Any) -> Any:
        """A state of the Python model in the module's terms; its `identity` says which are the same."""
        view = self.binding.identity(state)
        if view not in self.states:
            self.states[view] = canonical(self.binding.state(self.config, state))
        return self.states[view]

    def _operation(self, state: Any, way: Way) -> Op | None:
        """The operation that makes this edge."""
        if way.before not in self.operations:
            self.operations[way.before] = self.binding.operations(self.config, state)
        return self.operations[way.before].get(way.label.call)
