"""The key-replicated pair: the sender in P0 keeps sizes, the receiver in P1 keeps the items."""

from __future__ import annotations

from typing import Any

from .base import (
    BaseMultiModalProcessorCache,
    BaseMultiModalReceiverCache,
    MultiModalCacheMissError,
    MultiModalProcessorCacheInItem,
    MultiModalProcessorCacheOutItem,
)
from .features import MultiModalFeatureSpec, cache_key
from .items import MultiModalKwargsItem
from .lru import CacheInfo
from .promises import PromisedEntries
from .sizes import MultiModalCache, MultiModalProcessorCacheItemMetadata


class LruKeyReplicatedSenderCache(BaseMultiModalProcessorCache):
    """P0's half: what P1 has, by size, and the prompt updates.   [KR-01, FA-11, IF-19]

    Args:
        model_config: its `get_multimodal_config().mm_processor_cache_gb` is the budget, in units of
            2**30 bytes. The receiver must have the same.
    """

    def __init__(self, model_config: Any) -> None:
        budget_gb: float = model_config.get_multimodal_config().mm_processor_cache_gb
        self._cache = MultiModalCache.get_lru_cache(budget_gb, MultiModalProcessorCacheItemMetadata)
        self._promises: PromisedEntries[MultiModalProcessorCacheItemMetadata] = PromisedEntries()

    def is_cached_item(self, mm_hash: str) -> bool:
        """Whether P1 is believed to have the item.   [IF-06, KR-07]"""
        return mm_hash in self._cache

    def get_and_update_item(
        self, mm_item: MultiModalProcessorCacheInItem, mm_hash: str
    ) -> MultiModalProcessorCacheOutItem:
        """Just the prompt updates if P1 has it, else the very input.   [KR-02, KR-03, KR-04, KR-05, KR-13]

        Raises `AssertionError` when there is neither an entry, nor a promise, nor data.
        """
        self._promises.prepare(self._cache, mm_hash, has_data=mm_item is not None)
        cached = self._cache.get(mm_hash)
        if cached is not None:
            return None, cached.prompt_updates
        if mm_item is None:
            raise AssertionError(f"Expected a cached item for {mm_hash=}")
        self.cache_if_fits(self._cache, mm_hash, MultiModalProcessorCacheItemMetadata(*mm_item))
        return mm_item

    def touch_sender_cache_item(self, mm_hash: str) -> None:
        """Make a cached key the most recent one, and promise it to this request.   [IF-07, KR-13]"""
        self._promises.hold(self._cache, mm_hash)
        self._cache.touch(mm_hash)

    def release_sender_touches(self) -> None:
        """End the touches of this request.   [KR-15]"""
        self._promises.end()

    def invalidate(self, mm_hash: str) -> None:
        """Forget a key that P1 reported missing: its data is sent next time.   [KR-06, KR-15]"""
        self._cache.pop(mm_hash)
        self._promises.drop(mm_hash)

    def clear_cache(self) -> None:
        """Empty the cache, forget what was promised, set the counters to zero.   [IF-05, KR-15]"""
        self._cache.clear()
        self._promises.end()

    def make_stats(self, *, delta: bool = False) -> CacheInfo:
        """Counters of the updates.   [IF-09, KR-07]"""
        return self._cache.stat(delta=delta)


class LruKeyReplicatedReceiverCache(BaseMultiModalReceiverCache):
    """P1's half: the items.   [FA-11, IF-19]

    Args:
        model_config: its `get_multimodal_config().mm_processor_cache_gb` is the budget, in units of
            2**30 bytes. The sender must have the same.
    """

    def __init__(self, model_config: Any) -> None:
        budget_gb: float = model_config.get_multimodal_config().mm_processor_cache_gb
        self._cache = MultiModalCache.get_lru_cache(budget_gb, MultiModalKwargsItem)
        self._promises: PromisedEntries[MultiModalKwargsItem] = PromisedEntries()

    def get_and_update_item(self, mm_item: MultiModalKwargsItem | None, mm_hash: str) -> MultiModalKwargsItem:
        """The very input after storing it, or the cached item.   [KR-08, KR-09, KR-10, KR-11, KR-14]

        Raises `MultiModalCacheMissError` when no data was sent and none is cached.
        """
        if mm_item is not None:
            # Before the new one is weighed: one that is too large must not leave the old one behind.
            self._cache.pop(mm_hash)
        self._promises.prepare(self._cache, mm_hash, has_data=mm_item is not None)
        if mm_item is not None:
            self.cache_if_fits(self._cache, mm_hash, mm_item)
            return mm_item
        cached = self._cache.get(mm_hash)
        if cached is None:
            raise MultiModalCacheMissError([mm_hash])
        return cached

    def get_and_update_features(
        self, mm_features: list[MultiModalFeatureSpec]
    ) -> list[MultiModalFeatureSpec]:
        """Ingest a request; what it found cached stays available to it.   [KR-14, KR-15]"""
        for feature in mm_features:
            self._promises.hold(self._cache, cache_key(feature))
        try:
            return super().get_and_update_features(mm_features)
        finally:
            self._promises.end()

    def touch_receiver_cache_item(self, mm_hash: str, mm_item: MultiModalKwargsItem | None = None) -> None:
        """Make a cached key the most recent one.   [KR-12]"""
        self._cache.touch(mm_hash)

    def clear_cache(self) -> None:
        """Empty the cache and set its counters to zero.   [IF-05, KR-15]"""
        self._cache.clear()
        self._promises.end()
