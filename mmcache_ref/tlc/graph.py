"""State graphs with labelled edges, from TLC and from Python, and the first place where two differ."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final, Literal, NamedTuple

from mmcache_ref.tlc.values import Mapped, parse, text, unquoted

Side = Literal["Python", "TLC"]
What = Literal["first state", "state", "step", "outcome", "times"]
ANSWERS: Final = frozenset({"kind", "gives", "served", "missing", "parts"})
"""Fields of `call` that say what a call was answered: a broken model answers otherwise."""


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


@dataclass(frozen=True)
class Difference:
    """The nearest step that only one side makes, or of which the two make different things.

    `way`: a shortest run to the state in which they part, which both sides make. `python`, `tlc`: the step
    from there as each side makes it, or None on the side that does not make it; both where the two make
    different things of the same call, or make it unequally often. First states have neither a way nor a call.
    """

    what: What
    way: list[Edge]
    python: Edge | None
    tlc: Edge | None

    @property
    def side(self) -> Side:
        """Whose step ends the run: Python's, unless TLC alone makes it."""
        return "TLC" if self.python is None else "Python"

    @property
    def run(self) -> list[Edge]:
        """The run that shows it, as `side` makes it; empty where the first states differ."""
        last = self.python or self.tlc
        return [*self.way, last] if last is not None and self.what != "first state" else []

    @property
    def state(self) -> Any:
        """The state that the run ends in."""
        last = self.python or self.tlc
        return None if last is None else last.after


def difference(python: Graph, tlc: Graph) -> Difference | None:
    """The nearest place in which two graphs part, or None: before it they make the same steps."""
    if python.initial != tlc.initial:
        first = [Edge(None, None, each.initial) for each in (python, tlc)]
        return Difference("first state", [], *first)
    for state in python.tree():
        ours, theirs = python.leaving[state], tlc.leaving[state]
        if ours != theirs:
            return _parting(python, tlc, state)
    return None


def _parting(python: Graph, tlc: Graph, state: Any) -> Difference:
    """How two sides part in a state that both have; what they make of the same call comes first."""
    way = python.run(state)
    ours, theirs = python.leaving[state], tlc.leaving[state]
    only_python = [each for each in ours if each not in theirs]
    only_tlc = sorted((each for each in theirs if each not in ours), key=lambda each: text(each[0]))
    for call, after in only_python:
        for other, elsewhere in only_tlc:
            if asked(call) == asked(other):
                return Difference("outcome", way, Edge(state, call, after), Edge(state, other, elsewhere))
    for call, after in only_python:
        what: What = "step" if after in tlc.leaving else "state"
        return Difference(what, way, Edge(state, call, after), None)
    for call, after in only_tlc:
        what = "step" if after in python.leaving else "state"
        return Difference(what, way, None, Edge(state, call, after))
    unequal = next(Edge(state, *each) for each in ours if ours[each] != theirs[each])
    return Difference("times", way, unequal, unequal)


def asked(call: Any) -> Any:
    """A call without what it was answered."""
    if not isinstance(call, Mapped):
        return call
    return frozenset(pair for pair in call.pairs if pair[0] not in ANSWERS)


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
