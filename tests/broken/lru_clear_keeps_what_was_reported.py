"""A clear does not begin the reports anew.   [LRU-28]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("lru", ("LRU-28",), longest=4, in_tiny=False)


class LRUCache(reference.LRUCache[Any, Any]):
    def clear(self) -> None:
        reported = self._reported
        super().clear()
        self._reported = reported


globals().update(names(LRUCache=LRUCache))
