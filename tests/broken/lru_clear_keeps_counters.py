"""A clear empties the cache and leaves the counters.   [LRU-26]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("lru", ("LRU-26",), longest=2)


class LRUCache(reference.LRUCache[Any, Any]):
    def clear(self) -> None:
        hits, total = self.stat()
        super().clear()
        self._hits, self._total = hits, total


globals().update(names(LRUCache=LRUCache))
