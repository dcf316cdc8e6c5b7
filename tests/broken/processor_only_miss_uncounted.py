"""An update without data of a key that is not cached counts nothing.   [PO-03, PO-06]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("processor-only", ("PO-03",), longest=1)


class MultiModalProcessorOnlyCache(reference.MultiModalProcessorOnlyCache):
    def get_and_update_item(self, mm_item: Any, mm_hash: str) -> Any:
        try:
            return super().get_and_update_item(mm_item, mm_hash)
        except AssertionError:
            self._cache._total -= 1
            raise


globals().update(names(MultiModalProcessorOnlyCache=MultiModalProcessorOnlyCache))
