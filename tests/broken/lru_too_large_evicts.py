"""A value that is too large empties the cache before it is refused.   [LRU-16, LRU-17]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("lru", ("LRU-16", "LRU-17"), longest=2)


class LRUCache(reference.LRUCache[Any, Any]):
    def put_if_fits(self, key: Any, value: Any) -> bool:
        if self.getsizeof(value) > self.maxsize:
            while self:
                super().popitem(remove_pinned=True)
        return super().put_if_fits(key, value)


globals().update(names(LRUCache=LRUCache))
