"""A touch does not make a cached key the most recent one.   [LRU-09]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("lru", ("LRU-09",), longest=3)


class LRUCache(reference.LRUCache[Any, Any]):
    def touch(self, key: Any) -> None:
        return


globals().update(names(LRUCache=LRUCache))
