"""An event log as lanes, one for each process, and what the log itself says of the order between them.

Some events can only come after certain others, whatever else happened: a message is not taken out of a
channel after it was lost with it. What processes saw tells more: a worker that was served has read before the
request was aborted. Such pairs are found once, and spare a search every order that goes against them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from mmcache_ref.model.events import AnyEvent, Header, Took
from mmcache_ref.oracle.event_log import Entry

ENDS: Final = ("worker-death", "restart-p1")
"""After these a process knows nothing of what was sent to it before."""
TAKES: Final = ("read", "deliver")
"""How a message is taken out of the channel."""


class Place(NamedTuple):
    """An event by its lane and its place there."""

    lane: int
    at: int


class Lanes:
    """The events of a log by process.

    Attributes:
        names: the processes.
        events: for each of them its events, in its order.
        made_at: where the message of each name is made, where it is made first.
        count: of all events.
        about: for each name the places where something is done with that message, in each lane in order.
        before: for a place those that must come before it; `locked`: those of them that the lock tells.
    """

    def __init__(self, header: Header, entries: Iterable[Entry]) -> None:
        lanes: dict[str, list[Entry]] = {}
        for entry in entries:
            lanes.setdefault(entry.event.process, []).append(entry)
        self.names: Final = tuple(lanes)
        self.events: Final = tuple(lanes.values())
        self.count: Final = sum(map(len, self.events))
        self.made_at: Final[dict[int, Place]] = {}
        self.about: Final[dict[int, list[Place]]] = defaultdict(list)
        self.before: Final[dict[Place, list[Place]]] = defaultdict(list)
        self.locked: Final[dict[Place, list[Place]]] = defaultdict(list)
        for lane, events in enumerate(self.events):
            for at, (_, event) in enumerate(events):
                if event.made is not None:
                    self.made_at.setdefault(event.made, Place(lane, at))
                if isinstance(event, Took):
                    self.about[event.message].append(Place(lane, at))
        for places in self.about.values():
            self._order_about(places)
        for lane in range(len(self.events)):
            self._order_ends(lane)
        self._order_locks()
        self.ends: Final = tuple(
            [[at for at, (_, event) in enumerate(events) if event.did in ENDS] for events in self.events]
        )

    def event(self, place: Place) -> AnyEvent:
        """What happened there."""
        return self.events[place.lane][place.at].event

    def lane(self, process: str) -> int | None:
        """The lane of a process; None where it did nothing."""
        return self.names.index(process) if process in self.names else None

    def left(self, message: int, places: tuple[int, ...]) -> list[Place]:
        """What is still to be done with this message when each lane has come so far."""
        return [place for place in self.about.get(message, ()) if place.at >= places[place.lane]]

    def unmade(self, event: AnyEvent, places: tuple[int, ...]) -> Place | None:
        """Where the message that this event takes is still to be made, if it is."""
        made = self.made_at.get(event.message) if isinstance(event, Took) else None
        return made if made is not None and places[made.lane] <= made.at else None

    def can_end(self, lane: int, places: tuple[int, ...]) -> bool:
        """Whether a process could come to its next end by itself: nothing it takes before is unmade."""
        start = places[lane]
        end = next((at for at in self.ends[lane] if at >= start), None)
        return end is not None and all(
            self.unmade(event, places) is None for _, event in self.events[lane][start:end]
        )

    def lagging(self, place: Place, places: tuple[int, ...]) -> Place | None:
        """An event that must come before this one and did not yet."""
        return next((each for each in self.before.get(place, ()) if places[each.lane] <= each.at), None)

    def _order_about(self, places: list[Place]) -> None:
        """A strip comes before every read, what is lost before it is taken, and a read that was served before
        the abort."""
        for place in places:
            did = self.event(place).did
            for other in places:
                event = self.event(other)
                if other.lane == place.lane or event.did not in TAKES:
                    continue
                if did in ("strip", "drop") or (did == "abort" and event.did == "deliver"):
                    self.before[other].append(place)
                elif did == "abort" and is_answered(event.saw):
                    self.before[place].append(other)

    def _order_ends(self, lane: int) -> None:
        """What a process takes after its end was made after its end."""
        end: Place | None = None
        for at, (_, event) in enumerate(self.events[lane]):
            if event.did in ENDS:
                end = Place(lane, at)
            elif end is not None and isinstance(event, Took) and event.did in TAKES:
                made = self.made_at.get(event.message)
                if made is not None and made.lane != lane:
                    self.before[made].append(end)

    def _order_locks(self) -> None:
        """Who gave the lock back before another took it did so before.   [EV-07]"""
        held = sorted(
            (event.lock, Place(lane, at))
            for lane, events in enumerate(self.events)
            for at, (_, event) in enumerate(events)
            if event.lock is not None
        )
        latest: dict[int, Place] = {}
        released: list[tuple[int, Place]] = []
        for (acquired, until), place in held:
            still: list[tuple[int, Place]] = []
            for number, other in released:
                if number < acquired:
                    latest[other.lane] = max(other, latest.get(other.lane, other))
                else:
                    still.append((number, other))
            released = [*still, (until, place)]
            self.locked[place] += [each for name, each in latest.items() if name != place.lane]
            self.before[place] += self.locked[place]


def _tells(saw: Any) -> str:
    """What a read came to: `served`, `missed`, `raised`, or nothing where what was read was dropped."""
    if isinstance(saw, dict):
        return str(saw.get("result", "served"))
    return "served" if saw else ""


def is_dropped(saw: Any) -> bool:
    """Whether a worker got nothing for what it read, as of a release."""
    return not _tells(saw)


def is_answered(saw: Any) -> bool:
    """Whether what a worker read was answered: the items were served, or reported as missing."""
    return _tells(saw) in ("served", "missed")


def is_end(event: AnyEvent) -> bool:
    """Whether a worker ended of what it read, and with it the engine. Another one may, before it hears of
    that."""
    return event.did == "read" and _tells(event.saw) == "raised"


def is_served(saw: Any) -> bool:
    """Whether a worker got the contents of the items."""
    return _tells(saw) == "served"
