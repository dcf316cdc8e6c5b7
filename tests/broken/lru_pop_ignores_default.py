"""`pop` of a key that is not cached returns None, whatever the default.   [LRU-11]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("lru", ("LRU-11",), longest=1)


class LRUCache(reference.LRUCache[Any, Any]):
    def pop(self, key: Any, default: Any = None) -> Any:
        return super().pop(key)


globals().update(names(LRUCache=LRUCache))
