"""The refusal of a value that is too large has another text.   [LRU-16]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("lru", ("LRU-16",), longest=1)


class LRUCache(reference.LRUCache[Any, Any]):
    def put(self, key: Any, value: Any) -> None:
        if not self.put_if_fits(key, value):
            raise ValueError("does not fit")


globals().update(names(LRUCache=LRUCache))
