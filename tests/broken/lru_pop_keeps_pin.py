"""A key that is popped stays pinned.   [LRU-22]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("lru", ("LRU-22",), longest=3)


class LRUCache(reference.LRUCache[Any, Any]):
    def pop(self, key: Any, default: Any = None) -> Any:
        was_pinned = key in self.pinned_items
        value = super().pop(key, default)
        if was_pinned:
            self.pinned_items.add(key)
        return value


globals().update(names(LRUCache=LRUCache))
