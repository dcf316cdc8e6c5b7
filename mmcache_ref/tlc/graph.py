"""State graphs with labelled edges, from TLC and from Python, and the first place where two differ."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal, NamedTuple

from mmcache_ref.tlc.values import parse, unquoted

Side = Literal["Python", "TLC"]


class Edge(NamedTuple):
    """A step from one state to another, in canonical form."""

    before: Any
    call: Any
    after: Any


@dataclass
class Graph:
    """The edges that leave each state, each with how often it was made; the first state has no edge to it
    in the breadth-first tree."""

    initial: Any = None
    leaving: dict[Any, Counter[tuple[Any, Any]]] = field(default_factory=dict)

    @classmethod
    def of(cls, initial: Any, edges: Iterable[Edge]) -> Graph:
        """The graph that these edges make."""
        graph = cls(initial, {initial: Counter()})
        for before, call, after in edges:
            graph.leaving.setdefault(before, Counter())[call, after] += 1
            graph.leaving.setdefault(after, Counter())
        return graph

    @property
    def edges(self) -> int:
        """How many edges, those with the same label and ends counted as often as they were made."""
        return sum(sum(each.values()) for each in self.leaving.values())

    def tree(self) -> dict[Any, Edge | None]:
        """For each state the edge of the breadth-first tree that leads to it."""
        tree: dict[Any, Edge | None] = {self.initial: None}
        queue = deque([self.initial])
        while queue:
            before = queue.popleft()
            for call, after in self.leaving.get(before, ()):
                if after not in tree:
                    tree[after] = Edge(before, call, after)
                    queue.append(after)
        return tree

    def run(self, state: Any) -> list[Edge]:
        """A shortest run to a state."""
        tree = self.tree()
        run: list[Edge] = []
        edge = tree[state]
        while edge is not None:
            run.append(edge)
            edge = tree[edge.before]
        return run[::-1]


class Difference(NamedTuple):
    """The first state, or the first edge, that only one side has, with the run to it on that side."""

    side: Side
    what: Literal["first state", "state", "step"]
    run: list[Edge]
    state: Any


def difference(python: Graph, tlc: Graph) -> Difference | None:
    """The nearest state that only one side has; where the states are the same, the nearest edge; or None."""
    if python.initial != tlc.initial:
        return Difference("TLC", "first state", [], tlc.initial)
    sides: list[tuple[Side, Graph, Graph]] = [("Python", python, tlc), ("TLC", tlc, python)]
    found = [
        Difference(side, "state", run, run[-1].after)
        for side, here, there in sides
        for state in [next((each for each in here.tree() if each not in there.leaving), None)]
        if state is not None
        for run in [here.run(state)]
    ]
    found = found or [
        Difference(side, "step", [*here.run(edge.before), edge], edge.after)
        for side, here, there in sides
        for edge in [_only_here(here, there)]
        if edge is not None
    ]
    return min(found, key=lambda each: len(each.run), default=None)


def _only_here(here: Graph, there: Graph) -> Edge | None:
    """The nearest edge that is made more often here."""
    for state in here.tree():
        for call, after in here.leaving[state] - there.leaving[state]:
            return Edge(state, call, after)
    return None


class EdgeReader:
    """Collects the edges that a model prints through the module Graph."""

    def __init__(self) -> None:
        self.edges: list[Edge] = []
        self._parsed = cache(parse)

    def graph(self) -> Graph:
        """The graph that was written."""
        return Graph.of(self.edges[0].before, self.edges) if self.edges else Graph()

    def line(self, line: str) -> None:
        """A line that the model printed."""
        if not line.startswith('"<<\\"edge\\"'):
            return
        _, before, call, after = parse(unquoted(line))
        self.edges.append(Edge(self._parsed(before), self._parsed(call), self._parsed(after)))
