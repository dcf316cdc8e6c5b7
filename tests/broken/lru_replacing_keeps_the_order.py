"""A replaced value does not make its key the most recent one.   [LRU-14]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("lru", ("LRU-14",), longest=3)


class LRUCache(reference.LRUCache[Any, Any]):
    def put_if_fits(self, key: Any, value: Any) -> bool:
        order = list(self.order)
        fits = super().put_if_fits(key, value)
        if fits and key in order:
            for each in order:
                self.touch(each)
        return fits


globals().update(names(LRUCache=LRUCache))
