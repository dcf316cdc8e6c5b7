"""What is served from a promise counts no hit.   [PO-07]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("processor-only", ("PO-07", "PO-06"), longest=4)


class MultiModalProcessorOnlyCache(reference.MultiModalProcessorOnlyCache):
    def get_and_update_item(self, mm_item: Any, mm_hash: str) -> Any:
        was_cached = mm_hash in self._cache
        result = super().get_and_update_item(mm_item, mm_hash)
        if mm_item is None and not was_cached:
            self._cache._hits -= 1
        return result


globals().update(names(MultiModalProcessorOnlyCache=MultiModalProcessorOnlyCache))
