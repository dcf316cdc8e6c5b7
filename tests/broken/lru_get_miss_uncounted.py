"""`get` counts hits only.   [LRU-08]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("lru", ("LRU-08",), longest=1)


class LRUCache(reference.LRUCache[Any, Any]):
    def get(self, key: Any, /, default: Any = None) -> Any:
        return super().get(key, default) if key in self else default


globals().update(names(LRUCache=LRUCache))
