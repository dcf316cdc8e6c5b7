"""A larger value under a cached key evicts for the difference only.   [LRU-15]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("lru", ("LRU-15", "LRU-17", "LRU-21", "LRU-30"), longest=3)


class LRUCache(reference.LRUCache[Any, Any]):
    def _make_room_to_grow(self, key: Any, size: float) -> Any:
        self._make_room(size - self._entries[key][1])
        return self._entries.get(key)


globals().update(names(LRUCache=LRUCache))
