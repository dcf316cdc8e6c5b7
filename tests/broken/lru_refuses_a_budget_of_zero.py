"""A cache with a budget of 0 cannot be made.   [LRU-03]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("lru", ("LRU-03",), longest=1, in_tiny=False)


class LRUCache(reference.LRUCache[Any, Any]):
    def __init__(self, capacity: float, getsizeof: Any = None) -> None:
        if not capacity > 0:
            raise ValueError("the capacity must be positive")
        super().__init__(capacity, getsizeof)


globals().update(names(LRUCache=LRUCache))
