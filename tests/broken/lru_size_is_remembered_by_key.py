"""A key is charged what its first value weighed.   [LRU-01]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("lru", ("LRU-01",), longest=2)


class LRUCache(reference.LRUCache[Any, Any]):
    def __init__(self, capacity: float, getsizeof: Any = None) -> None:
        super().__init__(capacity, getsizeof)
        self.sizes: dict[Any, float] = {}

    def put_if_fits(self, key: Any, value: Any) -> bool:
        weigh = self.getsizeof
        self.getsizeof = lambda value: self.sizes.setdefault(key, weigh(value))
        try:
            return weigh(value) <= self.maxsize and super().put_if_fits(key, value)
        finally:
            self.getsizeof = weigh


globals().update(names(LRUCache=LRUCache))
