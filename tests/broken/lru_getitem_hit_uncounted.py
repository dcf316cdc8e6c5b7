"""`c[key]` of a cached key counts nothing.   [LRU-05]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("lru", ("LRU-05",), longest=2)


class LRUCache(reference.LRUCache[Any, Any]):
    def __getitem__(self, key: Any, *, update_info: bool = True) -> Any:
        lookup: Any = super().__getitem__
        return lookup(key, update_info=False)


globals().update(names(LRUCache=LRUCache))
