"""`stat(delta=True)` counts from the last clear, not from the last report.   [LRU-28]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("lru", ("LRU-28",), longest=3)


class LRUCache(reference.LRUCache[Any, Any]):
    def stat(self, *, delta: bool = False) -> Any:
        return super().stat(delta=False)


globals().update(names(LRUCache=LRUCache))
