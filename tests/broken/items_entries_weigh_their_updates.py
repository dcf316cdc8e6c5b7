"""An entry weighs a byte more than its item.   [IT-15]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("items", ("IT-15",), longest=1)


class MultiModalCache(reference.MultiModalCache):
    @classmethod
    def get_item_size(cls, value: Any, *, debug: bool = False) -> int:
        is_entry = isinstance(value, reference.MultiModalProcessorCacheItem)
        return reference.MultiModalCache.get_item_size(value, debug=debug) + is_entry


globals().update(names(MultiModalCache=MultiModalCache))
