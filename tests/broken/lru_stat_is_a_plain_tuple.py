"""The counters are a tuple without names.   [LRU-27]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("lru", ("LRU-27",), longest=1)


class LRUCache(reference.LRUCache[Any, Any]):
    def stat(self, *, delta: bool = False) -> Any:
        return tuple(super().stat(delta=delta))


globals().update(names(LRUCache=LRUCache))
