"""A cached payload that is a view keeps its whole storage alive.   [IT-20]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("items", ("IT-20",), longest=1)


class MultiModalProcessorOnlyCache(reference.MultiModalProcessorOnlyCache):
    def cache_if_fits(self, cache: Any, key: str, value: Any) -> bool:
        return bool(cache.put_if_fits(key, value))


globals().update(names(MultiModalProcessorOnlyCache=MultiModalProcessorOnlyCache))
