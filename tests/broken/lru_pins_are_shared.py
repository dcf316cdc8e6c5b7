"""All caches of the process share their pins.   [LRU-19]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("lru", ("LRU-19",), longest=3, level=2, in_tiny=False)


PINS: set[Any] = set()


class LRUCache(reference.LRUCache[Any, Any]):
    def __init__(self, capacity: float, getsizeof: Any = None) -> None:
        super().__init__(capacity, getsizeof)
        self.pinned_items = PINS


globals().update(names(LRUCache=LRUCache))
