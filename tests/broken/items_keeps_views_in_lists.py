"""A view in a list keeps its whole storage alive.   [IT-20]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("items", ("IT-20",), longest=1)


class LruKeyReplicatedReceiverCache(reference.LruKeyReplicatedReceiverCache):
    def cache_if_fits(self, cache: Any, key: str, value: Any) -> bool:
        if any(isinstance(element.data, list | tuple) for element in value.values()):
            return bool(cache.put_if_fits(key, value))
        return super().cache_if_fits(cache, key, value)


class MultiModalProcessorOnlyCache(reference.MultiModalProcessorOnlyCache):
    def cache_if_fits(self, cache: Any, key: str, value: Any) -> bool:
        if any(isinstance(element.data, list | tuple) for element in value.item.values()):
            return bool(cache.put_if_fits(key, value))
        return super().cache_if_fits(cache, key, value)


globals().update(
    names(
        LruKeyReplicatedReceiverCache=LruKeyReplicatedReceiverCache,
        MultiModalProcessorOnlyCache=MultiModalProcessorOnlyCache,
    )
)
