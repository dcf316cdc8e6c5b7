"""Data given for a cached key replaces what is cached.   [PO-01]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("processor-only", ("PO-01", "IF-01", "IF-12"), longest=2)


class MultiModalProcessorOnlyCache(reference.MultiModalProcessorOnlyCache):
    def get_and_update_item(self, mm_item: Any, mm_hash: str) -> Any:
        out = super().get_and_update_item(mm_item, mm_hash)
        return out if mm_item is None else mm_item


globals().update(names(MultiModalProcessorOnlyCache=MultiModalProcessorOnlyCache))
