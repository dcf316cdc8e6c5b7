"""A value as large as the whole budget is refused.   [LRU-13]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("lru", ("LRU-13", "LRU-17"), longest=1)


class LRUCache(reference.LRUCache[Any, Any]):
    def put_if_fits(self, key: Any, value: Any) -> bool:
        return self.getsizeof(value) < self.maxsize and super().put_if_fits(key, value)


globals().update(names(LRUCache=LRUCache))
