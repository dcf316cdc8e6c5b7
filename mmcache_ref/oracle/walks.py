"""Walks through a graph that take every edge, each walk from the first state."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

LONGEST_WALK: Final = 2000
"""Steps after which a walk is ended."""


class Way(NamedTuple):
    """An edge between numbered states, with its label."""

    number: int
    before: int
    after: int
    label: Any


class Walks:
    """What is still to be taken of the edges that leave each state, as (label, state). A walk takes an edge
    that no walk has taken, or goes to the nearest state that has one; what was said to be broken is not taken
    again. `states` by their numbers."""

    def __init__(self, initial: Any, edges: Mapping[Any, Iterable[tuple[Any, Any]]]) -> None:
        numbers = {state: number for number, state in enumerate(edges)}
        self.first = numbers[initial]
        self.leaving: list[list[Way]] = []
        self.edges = 0
        for before, leaving in edges.items():
            ways = [
                Way(self.edges + place, numbers[before], numbers[after], label)
                for place, (label, after) in enumerate(leaving)
            ]
            self.edges += len(ways)
            self.leaving.append(ways)
        self.states = list(numbers)
        self.left = [list(ways) for ways in self.leaving]
        self.taken: set[int] = set()
        self.broken: set[int] = set()
        self.steps = 0

    @property
    def has_more(self) -> bool:
        """Is there a way from the first state to an edge that is left?"""
        return bool(self._nearest(self.first))

    def walk(self) -> Iterator[Way]:
        """One walk from the first state; it ends where nothing that is left can be reached."""
        state = self.first
        length = 0
        while length < LONGEST_WALK:
            ways = self._nearest(state)
            if not ways:
                return
            for way in ways:
                self.taken.add(way.number)
                self.steps += 1
                length += 1
                yield way
            state = ways[-1].after

    def _nearest(self, state: int) -> list[Way]:
        """The shortest way from a state along an edge that is left; empty where there is none."""
        came: dict[int, Way | None] = {state: None}
        queue = deque([state])
        while queue:
            before = queue.popleft()
            left = self.left[before]
            while left and left[-1].number in self.taken:
                left.pop()
            if left:
                ways = [left[-1]]
                way = came[before]
                while way is not None:
                    ways.append(way)
                    way = came[way.before]
                return ways[::-1]
            for way in self.leaving[before]:
                if way.after not in came and way.number not in self.broken:
                    came[way.after] = way
                    queue.append(way.after)
        return []
