"""`remove_oldest` of an empty cache raises.   [LRU-23]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("lru", ("LRU-23",), longest=1)


class LRUCache(reference.LRUCache[Any, Any]):
    def remove_oldest(self, *, remove_pinned: bool = False) -> None:
        self.popitem(remove_pinned)


globals().update(names(LRUCache=LRUCache))
