"""`setdefault` of a cached key replaces its value.   [LRU-30]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("lru", ("LRU-30",), longest=2)


class LRUCache(reference.LRUCache[Any, Any]):
    def setdefault(self, key: Any, default: Any = None) -> Any:
        self[key] = default
        return default


globals().update(names(LRUCache=LRUCache))
