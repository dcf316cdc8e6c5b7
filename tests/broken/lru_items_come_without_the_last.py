"""`items()` leaves out the most recent entry.   [LRU-30]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("lru", ("LRU-30",), longest=1)


class LRUCache(reference.LRUCache[Any, Any]):
    def items(self) -> Any:
        return list(super().items())[:-1]


globals().update(names(LRUCache=LRUCache))
