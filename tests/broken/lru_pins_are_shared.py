"""All caches of the process share their pins.   [IF-19]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("lru", ("IF-19",), longest=1)


PINS: set[Any] = set()


class LRUCache(reference.LRUCache[Any, Any]):
    def __init__(self, capacity: float, getsizeof: Any = None) -> None:
        super().__init__(capacity, getsizeof)
        self.pinned_items = PINS


globals().update(names(LRUCache=LRUCache))
