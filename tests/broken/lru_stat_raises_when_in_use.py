"""The counters of a cache with entries cannot be read.   [LRU-27]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("lru", ("LRU-27",), longest=1)


class LRUCache(reference.LRUCache[Any, Any]):
    def stat(self, *, delta: bool = False) -> Any:
        if self:
            raise ZeroDivisionError("division by zero")
        return super().stat(delta=delta)


globals().update(names(LRUCache=LRUCache))
