"""`update` leaves the keys that are cached as they are.   [LRU-30]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("lru", ("LRU-30",), longest=2)


class LRUCache(reference.LRUCache[Any, Any]):
    def update(self, pairs: Any = (), /, **others: Any) -> None:
        for key, value in pairs:
            if key not in self:
                self[key] = value


globals().update(names(LRUCache=LRUCache))
