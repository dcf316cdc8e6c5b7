"""The search for an order of the events of a log: depth first, and only where the order can matter.

After a partial behaviour each lane has a next event. Most of them may come next without a loss: they commute
with whatever else may come before them, so that an explanation which has them later is one which has them
now. Which those are is decided by the family of caches (`Order`); only where nothing is known all are tried.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Final, Literal, NamedTuple

from mmcache_ref.model.events import AnyEvent, Took
from mmcache_ref.oracle.event_log import Entry
from mmcache_ref.oracle.trace_lanes import Lanes, Place
from mmcache_ref.oracle.trace_step import Failure, Partial, Steps, view
from mmcache_ref.oracle.under_way import QUEUES, SOURCES

MOST: Final = 50_000
"""Partial behaviours that are tried at most."""


class Head(NamedTuple):
    """The next event of a lane: where it stands, and what follows when it is next."""

    place: Place
    entry: Entry
    then: Partial | Failure

    @property
    def event(self) -> AnyEvent:
        """What happened."""
        return self.entry.event


class Explained(NamedTuple):
    """An event in the order that was found, and the model's state after it."""

    entry: Entry
    state: Any


class Found(NamedTuple):
    """What came of a search: the longest behaviour, and what of the log could not follow it."""

    status: Literal["conforms", "violates", "undetermined"]
    order: list[Explained]
    failed: tuple[Entry, Failure] | None = None


class Order(ABC):
    """Which of the next events have to be tried; `lanes` and `steps` of one log."""

    def __init__(self, lanes: Lanes, steps: Steps) -> None:
        self.lanes: Final = lanes
        self.steps: Final = steps
        self.config: Final = steps.config

    @abstractmethod
    def choose(self, partial: Partial) -> tuple[Head, ...]:
        """What is to be tried next, the best first; nothing: the partial behaviour leads nowhere."""

    def is_hopeless(self, partial: Partial, head: Head) -> bool:
        """Whether an event that cannot be the next will never be: the message that it takes is past that.

        A family says of what else it knows that no other event can help.
        """
        event = head.event
        if not isinstance(event, Took) or event.did not in SOURCES:
            return False
        if self.lanes.unmade(event, partial.places) is not None:
            return False
        due = QUEUES.index(SOURCES[event.did])
        return not any(event.message in queue for queue in partial.names[: due + 1])

    def any_next(self, partial: Partial) -> Head | None:
        """An event that can be next, where nothing leads to the end any more; None where none can."""
        return next(iter(self.possible(partial)), None)

    def culprit(self, partial: Partial) -> Head | None:
        """The event for which the others wait, where a family knows it."""
        return None

    def head(self, partial: Partial, lane: int | None) -> Head | None:
        """The next event of a lane; None where there is none, or no such lane."""
        if lane is None or (at := partial.places[lane]) >= len(self.lanes.events[lane]):
            return None
        place, entry = Place(lane, at), self.lanes.events[lane][at]
        waits = self.lanes.lagging(place, partial.places)
        if waits is not None:
            first = self.lanes.event(waits)
            clause = "EV-07" if waits in self.lanes.locked.get(place, ()) else "EV-06"
            says = f"event {first.number} of {first.process}, {first.did}, must come before it"
            return Head(place, entry, Failure(clause, says, is_early=True))
        return Head(place, entry, self.steps.step(partial, lane, entry))

    def heads(self, partial: Partial) -> list[Head]:
        """The next event of each lane."""
        found = [self.head(partial, lane) for lane in range(len(self.lanes.events))]
        return [each for each in found if each is not None]

    def possible(self, partial: Partial) -> tuple[Head, ...]:
        """The events that can be next, the first line first."""
        return tuple(
            [
                each
                for each in sorted(self.heads(partial), key=lambda each: each.entry.line)
                if isinstance(each.then, Partial)
            ]
        )


class _Node:
    """A partial behaviour, and the event by which another one led to it."""

    __slots__ = ("before", "entry", "partial")

    def __init__(self, partial: Partial, entry: Entry | None = None, before: _Node | None = None) -> None:
        self.partial, self.entry, self.before = partial, entry, before

    def order(self) -> list[Explained]:
        """The events that led here, each with the state after it."""
        found: list[Explained] = []
        node: _Node | None = self
        while node is not None and node.entry is not None:
            found.append(Explained(node.entry, node.partial.state))
            node = node.before
        return found[::-1]


def search(order: Order) -> Found:
    """Whether there is an order of all events, the longest one, and what could not follow it.   [EV-06]"""
    first = order.steps.first(len(order.lanes.events))
    waiting, seen = [_Node(first)], {view(first)}
    best: _Node | None = None
    tried = 0
    while waiting:
        node = waiting.pop()
        length = node.partial.length
        if length == order.lanes.count:
            return Found("conforms", node.order())
        tried += 1
        chosen = order.choose(node.partial)
        for head in reversed(chosen):
            assert isinstance(head.then, Partial)
            if (mark := view(head.then)) not in seen:
                seen.add(mark)
                waiting.append(_Node(head.then, head.entry, node))
        if not chosen and (best is None or length > best.partial.length):
            best = node
        if tried >= MOST:
            node = _extended(order, node if best is None else best)
            return Found("undetermined", node.order(), _worst(order, node.partial))
    assert best is not None
    best = _extended(order, best)
    return Found("violates", best.order(), _worst(order, best.partial))


def _extended(order: Order, node: _Node) -> _Node:
    """A behaviour that leads nowhere, as far as it goes: what still waits then waits in vain."""
    while (head := order.any_next(node.partial)) is not None:
        assert isinstance(head.then, Partial)
        node = _Node(head.then, head.entry, node)
    return node


def _worst(order: Order, partial: Partial) -> tuple[Entry, Failure]:
    """Of what could not follow: what is hopeless, then what the others wait for, then the first line."""
    culprit, heads = order.culprit(partial), order.heads(partial)
    ranked = [
        (
            not order.is_hopeless(partial, head),
            culprit is None or head.place != culprit.place,
            head.then.is_early,
            head.entry.line,
            (head.entry, head.then),
        )
        for head in heads
        if isinstance(head.then, Failure)
    ]
    if ranked:
        return min(ranked, key=lambda each: each[:4])[4]
    says = "the engine ends here, and other events are left that cannot come before this"
    return min((head.entry for head in heads), key=lambda entry: entry.line), Failure("EV-06", says)
