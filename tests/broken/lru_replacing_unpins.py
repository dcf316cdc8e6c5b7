"""A key whose value is replaced is no longer pinned.   [LRU-22]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("lru", ("LRU-22",), longest=3, level=2)


class LRUCache(reference.LRUCache[Any, Any]):
    def put_if_fits(self, key: Any, value: Any) -> bool:
        fits = super().put_if_fits(key, value)
        if fits:
            self.pinned_items.discard(key)
        return fits


globals().update(names(LRUCache=LRUCache))
