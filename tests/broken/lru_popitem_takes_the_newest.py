"""`popitem` removes the most recent key.   [LRU-24]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("lru", ("LRU-24", "LRU-23", "LRU-13", "LRU-15", "LRU-30"), longest=3)


class LRUCache(reference.LRUCache[Any, Any]):
    def popitem(self, remove_pinned: bool = False) -> Any:
        if len(self) > 1 and not self.pinned_items:
            key = list(self.order)[-1]
            return key, self.pop(key)
        return super().popitem(remove_pinned)


globals().update(names(LRUCache=LRUCache))
