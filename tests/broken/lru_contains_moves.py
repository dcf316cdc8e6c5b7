"""`key in c` makes the key the most recent one.   [LRU-04]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("lru", ("LRU-04",), longest=3)


class LRUCache(reference.LRUCache[Any, Any]):
    def __contains__(self, key: object) -> bool:
        self.touch(key)
        return key in self._entries


globals().update(names(LRUCache=LRUCache))
