"""The view of the contents is in alphabetical order.   [LRU-29]"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("lru", ("LRU-29",), longest=3, level=2)


class LRUCache(reference.LRUCache[Any, Any]):
    @property
    def cache(self) -> Mapping[Any, Any]:
        return dict(sorted(super().cache.items()))


globals().update(names(LRUCache=LRUCache))
