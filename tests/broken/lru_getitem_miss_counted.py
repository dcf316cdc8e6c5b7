"""`c[key]` of a key that is not cached counts.   [LRU-06]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("lru", ("LRU-06",), longest=1)


class LRUCache(reference.LRUCache[Any, Any]):
    def __getitem__(self, key: Any, *, update_info: bool = True) -> Any:
        if key not in self:
            self._total += 1
        lookup: Any = super().__getitem__
        return lookup(key, update_info=update_info)


globals().update(names(LRUCache=LRUCache))
