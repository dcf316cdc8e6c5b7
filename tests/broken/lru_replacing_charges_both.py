"""A replaced value stays on the account.   [LRU-01, LRU-14]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("lru", ("LRU-01",), longest=2)


class LRUCache(reference.LRUCache[Any, Any]):
    def put_if_fits(self, key: Any, value: Any) -> bool:
        old = self.getsizeof(self.cache[key]) if key in self else 0
        fits = super().put_if_fits(key, value)
        self._currsize += old if fits else 0
        return fits


globals().update(names(LRUCache=LRUCache))
