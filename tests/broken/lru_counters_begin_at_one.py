"""The counters of a new cache are not zero.   [LRU-27]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("lru", ("LRU-27",), longest=1)


class LRUCache(reference.LRUCache[Any, Any]):
    def __init__(self, capacity: float, getsizeof: Any = None) -> None:
        super().__init__(capacity, getsizeof)
        self._total = 1


globals().update(names(LRUCache=LRUCache))
