"""P1: ingests messages in its cache, and reports what it misses."""

from __future__ import annotations

from typing import Any

from .implementation import Implementation
from .messages import Answer, Message
from .work import Work


class Engine:
    """The engine process, as far as the cache is concerned.

    Args:
        protections: of them `epoch` and `recorded-only` live here.
    """

    def __init__(self, implementation: Implementation, protections: frozenset[str], work: Work) -> None:
        self._implementation = implementation
        self._protections = protections
        self._work = work
        self.receiver = implementation.make_receiver()
        self.number = 0
        """The number of the last clear that this side knows of."""

    def ingest(self, message: Message) -> Answer:
        """Take a message: serve it, or say what is missing.   [DR-04, DR-05, DR-15, DR-17]"""
        if message.number > self.number:
            self._learn_of(message.number)
        if self._is_outdated(message) or self._is_unrecorded(message):
            return self.serve_without_cache(message)
        return self.look_up(message)

    def look_up(self, message: Message) -> Answer:
        """Serve a message from its data and the cache.   [IF-13, IF-16]"""
        try:
            served = self.receiver.get_and_update_features(message.features)
        except RuntimeError as error:
            missing = getattr(error, "mm_hashes", None)
            if missing is None:
                raise
            return self._counted(Answer(None, tuple(missing)))
        return Answer(tuple([feature.data for feature in served]))

    def serve_without_cache(self, message: Message) -> Answer:
        """Serve a message from the data it brings itself.   [DR-15, DR-17, DR-21]"""
        self._work.set_aside += 1
        brought: dict[str, Any] = {}
        items: list[Any] = []
        missing: list[str] = []
        for item, feature in zip(message.request, message.features, strict=True):
            if feature.data is not None:
                brought[item.mm_hash] = feature.data
            if item.mm_hash in brought:
                items.append(brought[item.mm_hash])
            else:
                missing.append(item.mm_hash)
        return self._counted(Answer(None, tuple(missing)) if missing else Answer(tuple(items)))

    def clear(self) -> None:
        """Empty the cache, on this side alone.   [DR-15]"""
        self.receiver.clear_cache()
        self.number += 1

    def finish_clear(self, number: int) -> None:
        """Empty the cache as P0 asked, unless this clear was seen before.   [DR-15]"""
        if "epoch" in self._protections and number <= self.number:
            return
        self.receiver.clear_cache()
        self.number = max(self.number, number)

    def restart(self, number: int) -> None:
        """Start again, empty, under a number that neither side ever had.   [DR-15]"""
        self.receiver = self._implementation.make_receiver()
        self.number = number

    def _learn_of(self, number: int) -> None:
        """P0 cleared, and this message is the first to say so.   [DR-15]"""
        self.number = number
        if "epoch" in self._protections:
            self.receiver.clear_cache()

    def _is_outdated(self, message: Message) -> bool:
        """Whether P0 no longer accounts for what this message brings.   [DR-15]"""
        return "epoch" in self._protections and message.number < self.number

    def _is_unrecorded(self, message: Message) -> bool:
        """Whether P0 never accounted for what this message brings.   [DR-17]"""
        return "recorded-only" in self._protections and not message.is_recorded

    def _counted(self, answer: Answer) -> Answer:
        self._work.misses += answer.items is None
        return answer
