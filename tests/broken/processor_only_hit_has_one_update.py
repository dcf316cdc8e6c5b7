"""A hit returns the first of the prompt updates alone.   [PO-01]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("processor-only", ("PO-01",), longest=2)


class MultiModalProcessorOnlyCache(reference.MultiModalProcessorOnlyCache):
    def get_and_update_item(self, mm_item: Any, mm_hash: str) -> Any:
        item, updates = super().get_and_update_item(mm_item, mm_hash)
        return (item, updates) if mm_item is not None else (item, updates[:1])


globals().update(names(MultiModalProcessorOnlyCache=MultiModalProcessorOnlyCache))
