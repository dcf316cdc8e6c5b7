"""What every cache offers: the interface of both sides, and the loops that are common to all caches."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Generic, TypeAlias, TypeVar

from .features import MultiModalFeatureSpec, ResolvedPromptUpdate, cache_key
from .items import MultiModalKwargsItem
from .lru import CacheInfo, LRUCache
from .sizes import MultiModalProcessorCacheItem
from .tensors import detached

logger = logging.getLogger(__name__)

In = TypeVar("In", contravariant=True)
Out = TypeVar("Out", covariant=True)
V = TypeVar("V")

MultiModalProcessorCacheInItem: TypeAlias = tuple[MultiModalKwargsItem, Sequence[ResolvedPromptUpdate]] | None
"""What P0 gives an update: item and prompt updates, or `None` for what was cached at the check."""

MultiModalProcessorCacheOutItem: TypeAlias = tuple[
    MultiModalKwargsItem | None, Sequence[ResolvedPromptUpdate]
]
"""What P0 gets: the item to send, or `None` when P1 is believed to have it; and the prompt updates."""


class MultiModalCacheMissError(RuntimeError):
    """P1 was sent no data for items that it does not have.   [IF-17]

    Attributes:
        mm_hashes: the missing keys in order, with duplicates.
    """

    def __init__(self, mm_hashes: list[str]) -> None:
        super().__init__(
            f"The receiver has no data for the multi-modal items {mm_hashes}, and none was sent: the caches "
            "of P0 and P1 have drifted apart. The request should be retried with the data attached."
        )
        self.mm_hashes = mm_hashes

    def __reduce__(self) -> tuple[type[MultiModalCacheMissError], tuple[list[str]]]:
        # The default would call the class with the message in place of the hashes.
        return type(self), (self.mm_hashes,)


class BaseMultiModalCache(ABC, Generic[In, Out]):
    """A cache of processed items, on either side."""

    _has_warned = False

    @abstractmethod
    def get_and_update_item(self, mm_item: In, mm_hash: str) -> Out:
        """Look up one item, and insert it when data is given and it is not cached."""

    def get_and_update(self, mm_items: Sequence[In], mm_hashes: list[str]) -> list[Out]:
        """Update item by item, in order.   [IF-01, IF-02]

        Raises `AssertionError` when the two differ in length; nothing changes.
        """
        if len(mm_items) != len(mm_hashes):
            raise AssertionError(f"{len(mm_items)} items do not match {len(mm_hashes)} hashes")
        return [
            self.get_and_update_item(item, mm_hash) for item, mm_hash in zip(mm_items, mm_hashes, strict=True)
        ]

    def cache_if_fits(self, cache: LRUCache[str, V], key: str, value: V) -> bool:
        """Store the value and return True; False, and no change, if it is too large.   [IF-03, IT-20]

        Of a payload that is a view of larger memory a copy is kept. The first value that is too
        large is logged as a warning (IF-04).
        """
        if not cache.put_if_fits(key, value):
            self._warn_once(cache.getsizeof(value), cache.capacity)
            return False
        kept = _kept(value)
        if kept is not value:
            cache.put(key, kept)
        return True

    def _warn_once(self, size: float, capacity: float) -> None:
        """Log the first value that does not fit this cache.   [IF-04]"""
        if not self._has_warned:
            self._has_warned = True
            logger.warning(
                "An item of %d bytes is larger than the whole multi-modal cache of %d bytes and is served "
                "uncached; raise mm_processor_cache_gb to cache items of this size. "
                "Further ones are not reported.",
                size,
                capacity,
            )

    @abstractmethod
    def clear_cache(self) -> None:
        """Empty the cache and set its counters to zero.   [IF-05]"""


class BaseMultiModalProcessorCache(
    BaseMultiModalCache[MultiModalProcessorCacheInItem, MultiModalProcessorCacheOutItem]
):
    """A cache in P0."""

    @abstractmethod
    def is_cached_item(self, mm_hash: str) -> bool:
        """Whether the key is cached; neither order nor counters change.   [IF-06]"""

    def is_cached(self, mm_hashes: list[str]) -> list[bool]:
        """Whether each key is cached, in order.   [IF-06]"""
        return [self.is_cached_item(mm_hash) for mm_hash in mm_hashes]

    @abstractmethod
    def touch_sender_cache_item(self, mm_hash: str) -> None:
        """Make a cached key the most recent one without counting.   [IF-07]"""

    def release_sender_touches(self) -> None:
        """End the touches of the current request; by default there is nothing to end.   [IF-08]"""
        return

    def invalidate(self, mm_hash: str) -> None:
        """Forget a key that P1 reported missing; by default P1 has no cache that could miss.   [IF-08]"""
        return

    def validate_input_item(self, mm_item: MultiModalKwargsItem, mm_hash: str) -> None:
        """Refuse an item that a client may not send; by default every item is welcome.   [IF-08]"""
        return

    @abstractmethod
    def make_stats(self, *, delta: bool = False) -> CacheInfo:
        """Counters since the last clear, or since the last call with `delta`.   [IF-09]"""

    def close(self) -> None:
        """Give back what outlives the process; by default there is nothing.   [IF-08]"""
        return


class BaseMultiModalReceiverCache(BaseMultiModalCache[MultiModalKwargsItem | None, MultiModalKwargsItem]):
    """A cache in P1."""

    @abstractmethod
    def touch_receiver_cache_item(self, mm_hash: str, mm_item: MultiModalKwargsItem | None = None) -> None:
        """Make a cached key the most recent one.   [KR-12]"""

    def get_and_update_features(
        self, mm_features: list[MultiModalFeatureSpec]
    ) -> list[MultiModalFeatureSpec]:
        """Touch the keys of a request, then update each feature in place.   [IF-13, IF-14, IF-15, IF-16]

        Raises `MultiModalCacheMissError` with all missing keys after the last feature was updated.
        """
        for feature in mm_features:
            self.touch_receiver_cache_item(cache_key(feature), feature.data)
        missing: list[str] = []
        for feature in mm_features:
            try:
                feature.data = self.get_and_update_item(feature.data, cache_key(feature))
            except MultiModalCacheMissError as error:
                missing.extend(error.mm_hashes)
        if missing:
            raise MultiModalCacheMissError(missing)
        return mm_features


def _kept(value: V) -> V:
    """What is stored of a value: itself, or the same around compact copies.   [IT-20]"""
    if isinstance(value, MultiModalProcessorCacheItem):
        item = detached(value.item)
        return value if item is value.item else type(value)(item, value.prompt_updates)
    compact: V = detached(value)
    return compact
