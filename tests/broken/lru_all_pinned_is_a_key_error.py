"""An eviction that finds every key pinned raises `KeyError`.   [LRU-21]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("lru", ("LRU-21",), longest=3)


class LRUCache(reference.LRUCache[Any, Any]):
    def _oldest_unpinned(self) -> Any:
        try:
            return super()._oldest_unpinned()
        except RuntimeError as error:
            raise KeyError(str(error)) from None


globals().update(names(LRUCache=LRUCache))
