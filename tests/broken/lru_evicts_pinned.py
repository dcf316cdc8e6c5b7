"""An eviction takes pinned keys too.   [LRU-19, LRU-21]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("lru", ("LRU-19", "LRU-15", "LRU-17", "LRU-21", "LRU-22"), longest=4)


class LRUCache(reference.LRUCache[Any, Any]):
    def _make_room(self, size: float) -> None:
        while self.currsize + size > self.maxsize:
            self.popitem(remove_pinned=True)


globals().update(names(LRUCache=LRUCache))
