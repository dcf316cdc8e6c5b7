"""An insertion that evicts, evicts one more key than it has to.   [LRU-13]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("lru", ("LRU-13", "LRU-15", "LRU-30"), longest=3)


class LRUCache(reference.LRUCache[Any, Any]):
    def _make_room(self, size: float) -> None:
        before = len(self)
        super()._make_room(size)
        if len(self) < before and any(key not in self.pinned_items for key in self):
            self.popitem()


globals().update(names(LRUCache=LRUCache))
