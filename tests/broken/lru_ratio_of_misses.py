"""The hit ratio is that of the misses.   [IT-11]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("lru", ("IT-11",), longest=2)


class CacheInfo(reference.CacheInfo):
    @property
    def hit_ratio(self) -> float:
        return 1 - super().hit_ratio if self.total else 0


class LRUCache(reference.LRUCache[Any, Any]):
    def stat(self, *, delta: bool = False) -> reference.CacheInfo:
        return CacheInfo(*super().stat(delta=delta))


globals().update(names(LRUCache=LRUCache, CacheInfo=CacheInfo))
