"""A value of the same size does not replace the one that is cached.   [LRU-14]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("lru", ("LRU-14",), longest=2)


class LRUCache(reference.LRUCache[Any, Any]):
    def put_if_fits(self, key: Any, value: Any) -> bool:
        if key in self and self.getsizeof(value) == self.getsizeof(self.cache[key]):
            self.touch(key)
            return True
        return super().put_if_fits(key, value)


globals().update(names(LRUCache=LRUCache))
