"""What the next event of P0 cannot do without: reads that must have come before it.

P0 frees the oldest chunks, in order, as far as their references are acknowledged. When an event can only be
explained by chunks that were freed, and no more reads of them are left in the log than are needed, then all
of these came before it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from mmcache_ref.model import shm_store as moves
from mmcache_ref.model.events import AnyEvent, Took
from mmcache_ref.model.shm_reading import request_of
from mmcache_ref.model.shm_requests import Retry
from mmcache_ref.model.shm_sending import in_store
from mmcache_ref.oracle.trace_lanes import Lanes, Place, is_dropped, is_served
from mmcache_ref.oracle.trace_search import Head
from mmcache_ref.oracle.trace_step import Partial, Steps
from mmcache_ref.oracle.under_way import Names


def handles_in(holder: Any) -> Counter[int]:
    """The ids of the chunks of which a message or a running request has handles, and how many."""
    return Counter([each.handle.id for each in holder.features if each.handle is not None])


class Needs:
    """Of the events of one log; `workers` are the lanes of the workers by number."""

    def __init__(self, lanes: Lanes, steps: Steps, workers: Mapping[int, int]) -> None:
        self._lanes, self._steps, self._config = lanes, steps, steps.config
        self._workers = workers

    def before(self, partial: Partial, after: Partial) -> tuple[Place, ...] | None:
        """Reads that were served from chunks which P0's next event takes away; None where there are none."""
        stored = {chunk.id for chunk in after.state.store.ring.chunks}
        gone = {chunk.id for chunk in partial.state.store.ring.chunks} - stored
        if not gone:
            return None
        found = [
            place
            for chunk, place, _ in self._acknowledging(partial)
            if chunk in gone and self._needs_chunk(self._lanes.event(place))
        ]
        return tuple(sorted(found, key=lambda place: place.at)) or None

    def _needs_chunk(self, event: AnyEvent) -> bool:
        """Whether an event saw what only a chunk that is there brings about."""
        if is_dropped(event.saw):
            return not self._config.recovers
        return is_served(event.saw)

    def of(self, partial: Partial, head: Head) -> tuple[Place, ...] | None:
        """The events before which P0's next one cannot come; none: it never can; None: it is not known."""
        event = head.event
        if event.did == "retry":
            return self._of_retry(partial, event)
        if event.did == "clear":
            return self._of_clear(partial)
        if event.did in ("submit", "reject"):
            return self._of_room(partial, head)
        return ()

    def can_follow_death(self, partial: Partial, head: Head) -> bool:
        """Whether P0's next event could be explained if a worker died now, whatever else happens before it.

        With `clear-on-death` nothing is stored then, and all that was under way is to be retried; without,
        P0 learns of a death only where a message or its handles are gone.
        """
        if not self._config.clears_on_death:
            return head.event.made is not None or head.event.did in ("clear", "retry")
        state, names = partial.state, partial.names
        ended = [
            (name, Retry(request_of(each.features), each.children))
            for name, each in (
                *zip(names.channel, state.channel, strict=True),
                *zip(names.running, state.running, strict=True),
            )
        ]
        after = in_store(state, moves.clear(state.store))._replace(
            channel=(), running=(), retries=(*state.retries, *[retry for _, retry in ended])
        )
        given = Names((), (), (*names.retries, *[name for name, _ in ended]), ())
        then = self._steps.step(Partial(partial.places, after, given), head.place.lane, head.entry)
        return isinstance(then, Partial)

    def _of_retry(self, partial: Partial, event: AnyEvent) -> tuple[Place, ...] | None:
        """A request that failed is repeated: every worker has read it."""
        assert isinstance(event, Took)
        names, state = partial.names, partial.state
        if event.message in names.retries:
            return ()
        if event.message in names.channel:
            message = state.channel[names.channel.index(event.message)]
            owing = [worker for worker, left in enumerate(message.left) if left]
            reads = [self._reads(partial, event.message, worker) for worker in owing]
            return tuple([each[-1] for each in reads]) if all(reads) else ()
        if event.message in names.running:
            left = self._lanes.left(event.message, partial.places)
            return tuple([place for place in left if self._lanes.event(place).did == "resume"])
        return ()

    def _of_clear(self, partial: Partial) -> tuple[Place, ...] | None:
        """With `drained-clear` nothing is under way that is not acknowledged: the first that is."""
        if not self._config.drains:
            return ()
        for name, message in zip(partial.names.channel, partial.state.channel, strict=True):
            for worker, left in enumerate(message.left):
                if not left or message.has_read[worker] or not handles_in(message):
                    continue
                if reads := self._reads(partial, name, worker):
                    return (reads[0],)
                if any(self._ends(place) for place in self._lanes.left(name, partial.places)):
                    return None
                return ()
        return ()

    def _ends(self, place: Place) -> bool:
        return self._lanes.event(place).did in ("abort", "strip")

    def _of_room(self, partial: Partial, head: Head) -> tuple[Place, ...] | None:
        """Which chunks were freed, and which reads freed them."""
        store = partial.state.store
        left = list(self._acknowledging(partial))
        ways: list[tuple[Place, ...] | None] = []
        entries = list(store.entries)
        for oldest, entry in enumerate(store.entries):
            whole = entry.references * store.workers
            if entry.acknowledged >= whole:
                continue
            chunk = store.ring.chunks[oldest].id
            counts = [(place, count) for each, place, count in left if each == chunk]
            if entry.acknowledged + sum(count for _, count in counts) < whole:
                break
            entries[oldest] = entry._replace(acknowledged=whole)
            with_room = partial.state._replace(store=store._replace(entries=tuple(entries)))
            then = self._steps.step(partial._replace(state=with_room), head.place.lane, head.entry)
            if isinstance(then, Partial):
                ways.append(self._exactly(partial, entries, left))
        return ways[0] if len(ways) == 1 else None if ways else ()

    @staticmethod
    def _exactly(
        partial: Partial, entries: list[Any], left: list[tuple[int, Place, int]]
    ) -> tuple[Place, ...] | None:
        """The reads by which these entries are acknowledged; None where more are left than are needed."""
        store = partial.state.store
        needed: list[Place] = []
        for chunk, entry, was in zip(store.ring.chunks, entries, store.entries, strict=True):
            if entry == was:
                continue
            reads = [(place, count) for each, place, count in left if each == chunk.id]
            if was.acknowledged + sum(count for _, count in reads) > entry.acknowledged:
                return None
            needed += [place for place, _ in reads]
        return tuple(needed)

    def _acknowledging(self, partial: Partial) -> Iterator[tuple[int, Place, int]]:
        """What the log still has of events that acknowledge: the chunk, the event, and how often."""
        names, state, once = partial.names, partial.state, self._config.acknowledges_once
        for name, message in zip(names.channel, state.channel, strict=True):
            handles = handles_in(message)
            for worker, left in enumerate(message.left):
                reads = self._reads(partial, name, worker)[:left]
                if once:
                    reads = [] if message.has_read[worker] else reads[:1]
                for place in reads:
                    yield from ((chunk, place, count) for chunk, count in handles.items())
            yield from self._resuming(partial, name, handles)
        for name, running in zip(names.running, state.running, strict=True):
            yield from self._resuming(partial, name, handles_in(running))

    def _resuming(
        self, partial: Partial, name: int, handles: Counter[int]
    ) -> Iterator[tuple[int, Place, int]]:
        """Without `handle-until-done` a resume acknowledges once more for every worker."""
        if self._config.keeps_until_done:
            return
        for place in self._lanes.left(name, partial.places):
            if self._lanes.event(place).did == "resume":
                yield from ((chunk, place, count * self._config.workers) for chunk, count in handles.items())

    def _reads(self, partial: Partial, message: int, worker: int) -> list[Place]:
        """The reads of a message that the log still has of this worker."""
        lane = self._workers.get(worker)
        return [
            place
            for place in self._lanes.left(message, partial.places)
            if place.lane == lane and self._lanes.event(place).did == "read"
        ]

    def reader(self, partial: Partial, message: int) -> int | None:
        """The lane of a worker that has yet to read this message, and does."""
        left = partial.state.channel[partial.names.channel.index(message)].left
        return next(
            (
                reads[0].lane
                for worker, due in enumerate(left)
                if due and (reads := self._reads(partial, message, worker))
            ),
            None,
        )
