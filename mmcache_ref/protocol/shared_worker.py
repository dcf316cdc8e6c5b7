"""A worker: reads what messages name, and acknowledges it."""

from __future__ import annotations

from typing import Any

from .shared_implementation import SharedImplementation
from .shared_messages import Reading, SharedMessage, is_handle
from .shared_work import SharedWork


class SharedWorker:
    """A worker process, as far as the cache is concerned.

    Args:
        number: which of the workers it is, from 0.
        protections: of them `one-acknowledgement`, `handle-until-done` and `recoverable-miss` live here.
    """

    def __init__(
        self,
        implementation: SharedImplementation,
        number: int,
        protections: frozenset[str],
        work: SharedWork,
    ) -> None:
        self._implementation = implementation
        self._protections = protections
        self._work = work
        self.number = number
        self.receiver = implementation.make_receiver(number)
        self._kept: dict[int, tuple[Any, ...]] = {}

    def read(self, message: SharedMessage) -> Reading:
        """Read a message for its next child.   [SC-29, SC-39]"""
        kept = self._kept.get(message.name)
        if self.is_acknowledged(message) and kept is not None:
            reading = self._spared(message, kept)
        else:
            reading = self._look_up(message)
        if reading.items is not None:
            self._kept[message.name] = reading.items
        return reading

    def read_again(self, message: SharedMessage) -> Reading:
        """Read a message once more after its request was preempted.   [SC-40]"""
        kept = self._kept.get(message.name)
        if self.keeps_until_done() and kept is not None:
            return self._spared(message, kept)
        return self._look_up(message)

    def finish_reading(self, message: SharedMessage) -> None:
        """Every child has been read: what is kept from now on is for a preempted request."""
        if not self.keeps_until_done():
            self.forget(message)

    def forget(self, message: SharedMessage) -> None:
        """The request of a message is done: nothing of it is needed any more."""
        self._kept.pop(message.name, None)

    def is_acknowledged(self, message: SharedMessage) -> bool:
        """Whether an earlier child of this request has acknowledged for all of them.   [SC-39]"""
        return "one-acknowledgement" in self._protections and not message.is_untouched_by(self.number)

    def keeps_until_done(self) -> bool:
        """Whether what was read is kept until the request is done.   [SC-40]"""
        return "handle-until-done" in self._protections

    def recovers(self) -> bool:
        """Whether a stale handle is a miss, and not the end of this worker.   [SC-42]"""
        return "recoverable-miss" in self._protections

    def _spared(self, message: SharedMessage, kept: tuple[Any, ...]) -> Reading:
        self._work.spared += sum(is_handle(item) for item in message.items)
        return Reading(kept)

    def _look_up(self, message: SharedMessage) -> Reading:
        """What the receiver makes of the items of a message.

        Feature by feature where a stale handle must not keep the others from being acknowledged.
        """
        features = self._features(message)
        if not self.recovers():
            served = self.receiver.get_and_update_features(features)
            self._acknowledge(message, range(len(features)))
            return Reading(tuple([feature.data for feature in served]))
        items: list[Any] = []
        missing: list[str] = []
        for place, feature in enumerate(features):
            try:
                items += [served.data for served in self.receiver.get_and_update_features([feature])]
            except ValueError:
                missing.append(message.request[place].mm_hash)
            else:
                self._acknowledge(message, [place])
        self._work.misses += bool(missing)
        return Reading(None, tuple(missing)) if missing else Reading(tuple(items))

    def _acknowledge(self, message: SharedMessage, places: Any) -> None:
        read = [place for place in places if is_handle(message.items[place])]
        self._work.acknowledgements += len(read)
        self._work.copied_bytes += sum(message.sizes[place] for place in read)

    def _features(self, message: SharedMessage) -> list[Any]:
        """Fresh features: a receiver replaces what is in them."""
        return [
            self._implementation.make_feature(carried, item.modality, item.mm_hash, place)
            for place, (item, carried) in enumerate(zip(message.request, message.items, strict=True))
        ]
