"""Which events of a log of the key-replicated pair have to be tried in more than one order.

P0 and P1 share no state but the messages between them, and messages have names. So either goes on as far as
it can, in any order, but for two accidents: a restart of P1 loses whatever was sent before it, and another
front-end uses P1's cache.
"""

from __future__ import annotations

from typing import Final

from mmcache_ref.oracle.trace_lanes import Lanes
from mmcache_ref.oracle.trace_search import Head, Order
from mmcache_ref.oracle.trace_step import Failure, Partial, Steps

NUMBERING: Final = ("clear-p0", "clear-both", "handle-report", "lose-report")
"""What of P0's may change the number of its last clear, from which a restart takes its own."""


class LruOrder(Order):
    """Of a log of `--cache lru`."""

    def __init__(self, lanes: Lanes, steps: Steps) -> None:
        super().__init__(lanes, steps)
        self._p0, self._p1 = lanes.lane("p0"), lanes.lane("p1")
        self._channel = lanes.lane("channel")
        self._uses = [] if self._p0 is None or steps.config.paired else self._places_of("second-front-end")

    def _places_of(self, did: str) -> list[int]:
        assert self._p0 is not None
        return [at for at, (_, event) in enumerate(self.lanes.events[self._p0]) if event.did == did]

    def choose(self, partial: Partial) -> tuple[Head, ...]:
        """The channel, then P1, then P0, as far as each can go; the accidents in every order.

        What happens to a message in the channel waits for nobody: the message is there, and is not taken
        before. P1's event commutes with P0's unless P0's use P1's cache; P0's with P1's unless P1 restarts.
        """
        lost = self.head(partial, self._channel)
        if lost is not None and isinstance(lost.then, Partial):
            return (lost,)
        theirs, ours = self.head(partial, self._p1), self.head(partial, self._p0)
        tried = [each for each in (theirs, ours) if each is not None and isinstance(each.then, Partial)]
        if len(tried) < 2:
            return self._unless_lost(partial, tried)
        assert theirs is not None
        assert ours is not None
        if theirs.event.did == "restart-p1":
            if self._is_lost(partial) or not self._meets_restart(ours):
                return (ours,)
            return (ours, theirs)
        if not self._is_used(partial):
            return (theirs,)
        if ours.event.did == "second-front-end":
            return (theirs, ours)
        return (ours,) if not self._can_restart(partial) else (ours, theirs)

    def _unless_lost(self, partial: Partial, tried: list[Head]) -> tuple[Head, ...]:
        """A restart cannot come where it would lose what the channel lane still speaks of."""
        if tried and tried[0].event.did == "restart-p1" and self._is_lost(partial):
            return ()
        return tuple(tried)

    def _is_lost(self, partial: Partial) -> bool:
        """Whether something is still to happen to a message that a restart now would lose."""
        return any(
            self.lanes.names[place.lane] == "channel"
            for message in partial.names.channel
            for place in self.lanes.left(message, partial.places)
        )

    def _meets_restart(self, head: Head) -> bool:
        """Whether an event of P0 does another thing before a restart than after it."""
        return head.event.made is not None or head.event.did in (*NUMBERING, "second-front-end")

    def _is_used(self, partial: Partial) -> bool:
        """Whether another front-end will use P1's cache."""
        return bool(self._uses) and self._p0 is not None and self._uses[-1] >= partial.places[self._p0]

    def _can_restart(self, partial: Partial) -> bool:
        """Whether P1 could come to a restart without P0."""
        assert self._p1 is not None
        return self.lanes.can_end(self._p1, partial.places)

    def is_hopeless(self, partial: Partial, head: Head) -> bool:
        """What P0 saw wrongly stays so; what P1 saw, where no other front-end can change its cache."""
        if super().is_hopeless(partial, head):
            return True
        if not isinstance(head.then, Failure) or head.then.is_early or head.then.clause == "EV-05":
            return False
        return head.event.process != "p1" or not self._is_used(partial)
