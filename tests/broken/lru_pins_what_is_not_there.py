"""A key that is not cached is pinned all the same.   [LRU-20]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("lru", ("LRU-20",), longest=1)


class LRUCache(reference.LRUCache[Any, Any]):
    def pin(self, key: Any) -> None:
        self.pinned_items.add(key)


globals().update(names(LRUCache=LRUCache))
