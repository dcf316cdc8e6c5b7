"""The view of the contents shows the values that were cached first.   [LRU-29]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("lru", ("LRU-29",), longest=2, level=2)


class LRUCache(reference.LRUCache[Any, Any]):
    def __init__(self, capacity: float, getsizeof: Any = None) -> None:
        super().__init__(capacity, getsizeof)
        self.first: dict[Any, Any] = {}

    @property
    def cache(self) -> Any:
        return {key: self.first.setdefault(key, value) for key, value in super().cache.items()}


globals().update(names(LRUCache=LRUCache))
