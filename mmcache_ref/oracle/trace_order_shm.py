"""Which events of a log of the caches in shared memory have to be tried in more than one order.

What workers read commutes; P0 learns of it only where it needs room, clears, or repeats a request. So P0 goes
first, and a worker's event comes only when P0's next one asks for it (`trace_needs`), or when P0 is done.
"""

from __future__ import annotations

from typing import Any

from mmcache_ref.model.events import AnyEvent, Took
from mmcache_ref.oracle.trace_lanes import Lanes, is_answered, is_dropped, is_end, is_served
from mmcache_ref.oracle.trace_needs import Needs, handles_in
from mmcache_ref.oracle.trace_search import Head, Order
from mmcache_ref.oracle.trace_step import Failure, Partial, Steps


class ShmOrder(Order):
    """Of a log of `--cache shm`."""

    def __init__(self, lanes: Lanes, steps: Steps) -> None:
        super().__init__(lanes, steps)
        self._p0, self._channel = lanes.lane("p0"), lanes.lane("channel")
        self._workers = {int(name[1:]): lane for lane, name in enumerate(lanes.names) if name[0] == "w"}
        self._needs = Needs(lanes, steps, self._workers)

    def choose(self, partial: Partial) -> tuple[Head, ...]:
        """The channel, where nothing is acknowledged; then P0, and before it what it cannot do without."""
        lost = self.head(partial, self._channel)
        if lost is not None and isinstance(lost.then, Partial) and self._is_silent(partial, lost):
            return (lost,)
        ours = self.head(partial, self._p0)
        if ours is None:
            return self._without_p0(partial)
        if (waits := self.lanes.lagging(ours.place, partial.places)) is not None:
            return self._towards(partial, waits.lane)
        tried = self._unless_death(partial, ours)
        for lane in self._deaths_before(partial, ours):
            tried += tuple([each for each in self._towards(partial, lane) if each not in tried])
        return tried

    def _unless_death(self, partial: Partial, ours: Head) -> tuple[Head, ...]:
        """What has to be tried when no worker dies before P0's next event."""
        if isinstance(ours.then, Failure):
            needed = self._needs.of(partial, ours)
            if needed is None:
                return self._others(partial)
            return self._towards(partial, needed[0].lane) if needed else ()
        if first := self._needs.before(partial, ours.then):
            return self._towards(partial, first[0].lane)
        return (ours,) if self._is_settled(partial, ours) else (ours, *self._others(partial))

    def _is_silent(self, partial: Partial, head: Head) -> bool:
        """Whether an event of the channel lane acknowledges nothing: then nothing is lost when it comes now.

        What ends a message waits for the reads that were served (`Lanes.before`), and a worker's death may
        not come before it.
        """
        assert isinstance(head.then, Partial)
        after = head.then.state
        return head.event.did != "resume" or bool(after.store == partial.state.store and not after.is_dead)

    def _without_p0(self, partial: Partial) -> tuple[Head, ...]:
        """P0 is done: nobody asks any more who has acknowledged what, only deaths have several places."""
        possible = self._others(partial)
        return tuple([each for each in possible if each.event.did != "worker-death"][:1]) or possible

    def _others(self, partial: Partial) -> tuple[Head, ...]:
        """What may come before P0's next event; a read that acknowledges nothing comes at once.

        Nothing, where the next event of some process can never come.
        """
        possible: list[Head] = []
        for head in sorted(self.heads(partial), key=lambda each: each.entry.line):
            if isinstance(head.then, Failure):
                if self.is_hopeless(partial, head):
                    return ()
            elif head.place.lane == self._p0 or self._ends_all(head.then):
                continue
            elif head.event.did == "worker-death":
                if self._outlives(partial, head.place.lane) is None:
                    possible.append(head)
            elif head.event.did == "read" and head.then.state.store == partial.state.store:
                return (head,)
            else:
                possible.append(head)
        return tuple(possible)

    def _ends_all(self, partial: Partial) -> bool:
        """Whether the engine is dead, though the log goes on with more than workers that end, too."""
        if not partial.state.is_dead:
            return False
        left = zip(self.lanes.events, partial.places, strict=True)
        return not all(is_end(event) for events, at in left for _, event in events[at:])

    def _outlives(self, partial: Partial, lane: int) -> int | None:
        """The lane with an event that the death of this worker would make impossible; None if there is none.

        After it nothing under way is served, stripped, aborted, finished or resumed.
        """
        names, state = partial.names, partial.state
        live = [
            name for name, message in zip(names.channel, state.channel, strict=True) if not message.is_release
        ]
        for name in (*live, *names.running):
            for place in self.lanes.left(name, partial.places):
                event = self.lanes.event(place)
                if place.lane in (lane, self._p0) or (event.did == "read" and not is_answered(event.saw)):
                    continue
                return place.lane
        return None

    def _deaths_before(self, partial: Partial, head: Head) -> list[int]:
        """The lanes of the workers that may have died before P0's next event: each reads nothing before that
        is still to be made, and what P0 saw can be seen after a death."""
        lanes = [lane for lane in self._workers.values() if self.lanes.can_end(lane, partial.places)]
        return lanes if lanes and self._needs.can_follow_death(partial, head) else []

    @property
    def _has_deaths(self) -> bool:
        return any(self.lanes.ends[lane] for lane in self._workers.values())

    def _is_settled(self, partial: Partial, head: Head) -> bool:
        """Whether P0's event does the same whatever else workers read before it.

        It does where it freed nothing and refused nothing for want of room; and where it says what the
        segment holds, since that tells which chunks went.
        """
        assert isinstance(head.then, Partial)
        before, after = partial.state.store, head.then.state.store
        stored = {chunk.id for chunk in after.ring.chunks}
        gone = [
            entry.key
            for chunk, entry in zip(before.ring.chunks, before.entries, strict=True)
            if chunk.id not in stored
        ]
        if head.event.did == "clear":
            return True
        if head.event.holds is None:
            return not gone and not self._lacks_room(head.event)
        return not set(gone) & set(head.event.holds)

    @staticmethod
    def _lacks_room(event: AnyEvent) -> bool:
        saw = event.saw if isinstance(event.saw, list) else []
        return event.did != "retry" and any(
            isinstance(each, dict) and each.get("how") == "item" for each in saw
        )

    def _towards(self, partial: Partial, lane: int) -> tuple[Head, ...]:
        """The next event of a lane that must go on before P0 does, or of one for which it waits.

        Nothing, when it waits for P0, or for itself.
        """
        head = self._last_awaited(partial, lane)
        if head is None or self._awaits(partial, head) is not None:
            return ()
        if isinstance(head.then, Partial) and not head.then.state.is_dead:
            return (head,)
        return self._others(partial)

    def _last_awaited(self, partial: Partial, lane: int) -> Head | None:
        """The next event of this lane; or the one that it waits for, or that waits for in turn."""
        asked: set[int] = set()
        head: Head | None = None
        following: int | None = lane
        while following not in (None, self._p0, *asked):
            assert following is not None
            asked.add(following)
            awaited = self.head(partial, following)
            if awaited is None:
                break
            head, following = awaited, self._awaits(partial, awaited)
        return head

    def _awaits(self, partial: Partial, head: Head) -> int | None:
        """The lane with what must come before this event, if it is known."""
        event = head.event
        if event.did == "worker-death":
            return self._outlives(partial, head.place.lane)
        if isinstance(head.then, Partial):
            return None
        if (waits := self.lanes.lagging(head.place, partial.places)) is not None:
            return waits.lane
        if not isinstance(event, Took):
            return None
        if (made := self.lanes.unmade(event, partial.places)) is not None:
            return made.lane
        if event.did in ("finish", "resume") and event.message in partial.names.channel:
            return self._needs.reader(partial, event.message)
        return self._channel if self._waits_for_abort(partial, event) else None

    def any_next(self, partial: Partial) -> Head | None:
        """What does not end the others' work."""
        for head in self.possible(partial):
            assert isinstance(head.then, Partial)
            if head.event.did != "worker-death" and not head.then.state.is_dead:
                return head
        return None

    def culprit(self, partial: Partial) -> Head | None:
        """What P0 waits for, or what that waits for."""
        ours = self.head(partial, self._p0)
        if ours is None or isinstance(ours.then, Partial):
            return None
        if (waits := self.lanes.lagging(ours.place, partial.places)) is not None:
            return self._last_awaited(partial, waits.lane) or ours
        needed = self._needs.of(partial, ours)
        if not needed:
            return ours if needed == () else None
        return self._last_awaited(partial, needed[0].lane) or ours

    def _waits_for_abort(self, partial: Partial, event: AnyEvent) -> bool:
        """Whether a worker dropped what it read of a message that is not aborted yet."""
        return (
            isinstance(event, Took)
            and event.did == "read"
            and is_dropped(event.saw)
            and any(
                self.lanes.event(place).did == "abort"
                for place in self.lanes.left(event.message, partial.places)
            )
        )

    def is_hopeless(self, partial: Partial, head: Head) -> bool:
        """A read whose message is gone, or that saw what no abort, death or lost chunk can bring about."""
        if super().is_hopeless(partial, head):
            return True
        event = head.event
        if not isinstance(event, Took) or event.did != "read" or not isinstance(head.then, Failure):
            return False
        message = self._message(partial, event.message)
        if message is None or self.lanes.lagging(head.place, partial.places) is not None:
            return False
        if head.then.clause.startswith("EV-"):
            return head.then.clause == "EV-04" or message.left[int(event.process[1:])] == 0
        if is_served(event.saw):
            return True
        if is_dropped(event.saw):
            return not (message.is_release or self._waits_for_abort(partial, event) or self._has_deaths)
        return not handles_in(message)

    @staticmethod
    def _message(partial: Partial, name: int) -> Any:
        channel = partial.names.channel
        return partial.state.channel[channel.index(name)] if name in channel else None
