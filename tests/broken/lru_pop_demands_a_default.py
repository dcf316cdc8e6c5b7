"""`pop` of a key that is not cached raises unless there is a default.   [LRU-11]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("lru", ("LRU-11",), longest=1)


class LRUCache(reference.LRUCache[Any, Any]):
    def pop(self, key: Any, *default: Any) -> Any:
        if key not in self and not default:
            raise KeyError(key)
        return super().pop(key, *default)


globals().update(names(LRUCache=LRUCache))
