"""Of two values that weigh the same, the more recent one is evicted.   [LRU-13]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("lru", ("LRU-13", "LRU-23", "LRU-24", "LRU-15", "LRU-30"), longest=3)


class LRUCache(reference.LRUCache[Any, Any]):
    def popitem(self, remove_pinned: bool = False) -> Any:
        free = [key for key in self.order if remove_pinned or key not in self.pinned_items]
        same = [key for key in free if self._entries[key][1] == self._entries[free[0]][1]]
        return (same[-1], self.pop(same[-1])) if same else super().popitem(remove_pinned)


globals().update(names(LRUCache=LRUCache))
