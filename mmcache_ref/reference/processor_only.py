"""The cache that lives in P0 alone: P1 caches nothing, every item is sent."""

from __future__ import annotations

from typing import Any

from .base import (
    BaseMultiModalProcessorCache,
    MultiModalProcessorCacheInItem,
    MultiModalProcessorCacheOutItem,
)
from .lru import CacheInfo
from .promises import PromisedEntries
from .sizes import MultiModalCache, MultiModalProcessorCacheItem


class MultiModalProcessorOnlyCache(BaseMultiModalProcessorCache):
    """Least recently used items with their prompt updates.   [PO-05, FA-11, IF-19]

    Args:
        model_config: its `get_multimodal_config().mm_processor_cache_gb` is the budget, in units of
            2**30 bytes.
    """

    def __init__(self, model_config: Any) -> None:
        budget_gb: float = model_config.get_multimodal_config().mm_processor_cache_gb
        self._cache = MultiModalCache.get_lru_cache(budget_gb, MultiModalProcessorCacheItem)
        self._promises: PromisedEntries[MultiModalProcessorCacheItem] = PromisedEntries()

    def is_cached_item(self, mm_hash: str) -> bool:
        """Whether the key is cached.   [IF-06, PO-06]"""
        return mm_hash in self._cache

    def get_and_update_item(
        self, mm_item: MultiModalProcessorCacheInItem, mm_hash: str
    ) -> MultiModalProcessorCacheOutItem:
        """The cached pair, or the very input after storing it.   [PO-01, PO-02, PO-03, PO-04, PO-07]

        Raises `AssertionError` when there is neither an entry, nor a promise, nor data.
        """
        self._promises.prepare(self._cache, mm_hash, has_data=mm_item is not None)
        cached = self._cache.get(mm_hash)
        if cached is not None:
            return cached.item, cached.prompt_updates
        if mm_item is None:
            raise AssertionError(f"Expected a cached item for {mm_hash=}")
        self.cache_if_fits(self._cache, mm_hash, MultiModalProcessorCacheItem(*mm_item))
        return mm_item

    def touch_sender_cache_item(self, mm_hash: str) -> None:
        """Make a cached key the most recent one, and promise it to this request.   [IF-07, PO-07]"""
        self._promises.hold(self._cache, mm_hash)
        self._cache.touch(mm_hash)

    def release_sender_touches(self) -> None:
        """End the touches of this request.   [PO-08]"""
        self._promises.end()

    def clear_cache(self) -> None:
        """Empty the cache, forget what was promised, set the counters to zero.   [IF-05, PO-08]"""
        self._cache.clear()
        self._promises.end()

    def make_stats(self, *, delta: bool = False) -> CacheInfo:
        """Counters of the updates.   [IF-09, PO-06]"""
        return self._cache.stat(delta=delta)
